"""Forward mode: the trace that carries tangents along, and jvp."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy import ndarray

from ..core.array import Array, bottom
from ..core.cotangent import DENSE, dense, fit
from ..core.errors import ArgumentError, ArgumentTypeError, name_of
from ..core.locked import locked_as
from ..core.messages import describe
from ..core.narrowing import element
from ..core.node import new
from ..core.primitive import Primitive
from ..core.quiet import SILENT, STATE
from ..core.rules import match
from ..core.spec import DOUBLE, PYTHON, carries, full, hardened, spec_of, zeros
from ..core.storage import current, touch
from ..core.trace import CONSTANT, Trace, bind, run
from ..core.tree import flatten, is_static, unflatten
from ..core.usage import usage
from ..primitives.arguments import wrapped
from .arguments import Lifted
from .meeting import is_double, widened, writes_number
from .returned import check_output, fresh, holds_numbers, settle
from .searched import judge_tangents
from .seeds import branches, conform
from .transformation import check_function


class ForwardTrace(Trace):
    """The node of an Array is its tangent; None is a tangent that is zero."""

    differentiates = True
    leaves_values = True
    __slots__ = ()

    def __init__(self, verb: str, fun: Any = None) -> None:
        super().__init__(verb, fun, STATE.get())

    def loud(self, token: Any) -> None:
        """Let NumPy warn as before, after an exception: it may have come before the token."""
        STATE.set(self.state) if token is None else STATE.reset(token)

    def item(self, primitive: Any, x: Array, key: Any) -> Any:
        if current(x).within is self and type(x.payload) is np.ndarray:
            if x.node is None:
                return Array(x.payload[key], self, None)
            if type(x.node) is np.ndarray:
                return Array(x.payload[key], self, x.node[key])
        return Trace.item(self, primitive, x, key)

    def put(self, primitive: Any, x: Array, key: Any, v: Any) -> bool:
        dot: Any = 0.0
        if type(v) is Array:
            if v.within is not self or v.storage is not None:
                return False
            v, dot = v.payload, 0.0 if v.node is None else v.node
        if not writes_number(x.payload, key, v) or not writes_number(x.node, key, dot):
            return False
        x.payload[key], x.node[key] = v, dot
        return True

    def unary(self, primitive: Any, x: Array) -> Any:
        """By the rule of a reverse node: a tangent is scaled as a cotangent is."""
        if x.storage is not None:
            touch(x)
            if x.within is not self:
                return bind(primitive, (x,), {})
        a, dot = x.payload, x.node
        out = primitive.value(a)
        if primitive.decides and self.decided(primitive, x):
            return out
        if dot is None:
            return Array(out, self, None)
        return self.scaled(primitive, out, dot, primitive.rule, primitive.pack(out, a))

    def binary(self, primitive: Any, x: Any, y: Any) -> Any:
        """The short ways: beside a number or a plain array, and two operands of this trace."""
        if type(x) is not Array:
            return ForwardTrace.beside(self, primitive, 1, y, x)
        if type(y) is not Array:
            return ForwardTrace.beside(self, primitive, 0, x, y)
        if y.within is CONSTANT and y.storage is None:
            return ForwardTrace.beside(self, primitive, 0, x, y.payload)
        if x.within is CONSTANT and x.storage is None:
            return ForwardTrace.beside(self, primitive, 1, y, x.payload)
        return ForwardTrace.pair(self, primitive, x, y)

    def beside(self, primitive: Any, i: int, x: Array, plain: Any) -> Any:
        """x as operand i beside what has no tangent."""
        if type(plain) is ndarray is type(x.payload) and plain.dtype is not x.payload.dtype:
            wide = widened(primitive, x.payload, plain)
            plain = plain if wide is None else wide
        operands = (plain, x.payload) if i else (x.payload, plain)
        usual = x.within is self and x.storage is None and x.node is not None
        if not usual or not meets(x.payload, plain):
            return Trace.binary(self, primitive, *((plain, x) if i else (x, plain)))
        out = primitive.value(*operands)
        if primitive.decides and self.decided(primitive, *((plain, x) if i else (x, plain))):
            return out
        held = primitive.packs[i](out, *operands)
        return self.scaled(primitive, out, x.node, primitive.rules[i], held)

    def pair(self, primitive: Any, x: Array, y: Array) -> Any:
        """Two Arrays, mostly of this trace."""
        mine = x.within is self is y.within and x.storage is None is y.storage
        if not mine or x.node is None or y.node is None:
            return Trace.binary(self, primitive, x, y)
        a, b = x.payload, y.payload
        if type(a) in PYTHON or type(b) in PYTHON or a.dtype is not b.dtype:
            return Trace.binary(self, primitive, x, y)
        if a.shape != b.shape and ((a.shape and b.shape) or primitive.decides):
            return Trace.binary(self, primitive, x, y)
        out = primitive.value(a, b)
        if primitive.decides and self.decided(primitive, x, y):
            return out
        held, token = primitive.pack(out, a, b), None
        try:
            token = STATE.set(SILENT)
            first, last = primitive.pairs(x.node, y.node, held)
            out_dot = last if first is None else first if last is None else first + last
        except BaseException:
            self.loud(token)
            raise
        STATE.reset(token)
        if a.shape != b.shape and type(out_dot) is not np.ndarray:
            return Trace.binary(self, primitive, x, y)
        return moved(out, self, out_dot, primitive)

    def single(self, primitive: Any, x: Array, static: dict[str, Any]) -> Any:
        if x.storage is not None:
            touch(x)
        moving = x.within is self and x.node is not None and type(x.payload) not in PYTHON
        if not primitive.own_jvp or not moving or type(x.node) not in DENSE:
            return x.within.process(primitive, (x,), static)
        a, dot = x.payload, x.node
        out = primitive.value(a, **static) if type(a) is ndarray else primitive.of(a, static)
        if out.dtype is not DOUBLE and not carries(out):
            return out
        if primitive.rearranges:  # nothing is computed
            return moved(out, self, primitive.of(dot, static), primitive)
        token = None
        try:
            token = STATE.set(SILENT)
            plain = type(dot) is ndarray
            out_dot = primitive.value(dot, **static) if plain else primitive.of(dot, static)
        except BaseException:
            self.loud(token)
            raise
        STATE.reset(token)
        return moved(out, self, out_dot, primitive)

    def scaled(self, primitive: Any, out: Any, dot: Any, rule: Any, held: Any) -> Array:
        token = None
        try:
            token = STATE.set(SILENT)
            (out_dot,) = rule(dot, held, None)
        except BaseException:
            self.loud(token)
            raise
        STATE.reset(token)
        return moved(out, self, out_dot, primitive)

    def process(self, primitive: Primitive, xs: tuple[Any, ...], static: dict[str, Any]) -> Any:
        primals, dots = split(self, primitive, xs)
        if primitive.facing is not None and direction_outside(primals[0]) is not None:
            primals, dots = primitive.facing(primals, dots)
        out = primitive(*primals, **static)
        if primitive.decides and self.decided(primitive, *xs[:2]):
            return out
        if primitive.n_out is None and not carries(out, primals):
            return out
        if all(dot is None for dot in dots):
            out_dot: Any = None if primitive.n_out is None else (None,) * primitive.n_out
        else:
            token = None
            try:
                token = STATE.set(SILENT)
                out_dot = primitive.push(out, tuple(primals), dots, static, structured=True)
            except BaseException:
                self.loud(token)
                raise
            STATE.reset(token)
        if primitive.n_out is None:
            return Array(out, self, out_dot)
        return tuple(
            [Array(o, self, dot) if carries(o) else o for o, dot in zip(out, out_dot, strict=True)]
        )

    def slope(self, seeds: Any) -> float:
        return abs(sum(map(element, seeds)))

    def pushed(self, primitive: Any, xs: Any, static: Any, dots: Any, out: Array) -> Any:
        """The part of a tangent that comes from some tangents of the operands."""
        primals, _ = split(self, primitive, xs)
        with np.errstate(all="ignore"):
            return primitive.push(out.payload, tuple(primals), dots, static, structured=True)


def moved(out: Any, trace: Trace, dot: Any, primitive: Any) -> Array:
    """The result of an operation with its tangent, of its shape and dtype."""
    alike = type(out) is ndarray is type(dot) and out.dtype is dot.dtype and out.shape == dot.shape
    x = new(Array)
    x.payload, x.within = out, trace
    x.node = dot if alike else match(dot, out, "jvp", primitive.name)
    x.storage = None
    return x


def meets(a: Any, plain: Any) -> bool:
    """Whether something plain is a number, or an array of the shape and dtype of a plain array."""
    kind = type(plain)
    if kind is not np.ndarray:
        return kind is float or kind is int
    return type(a) is kind and a.dtype is plain.dtype and a.shape == plain.shape


def split(trace: Trace, primitive: Primitive, xs: Any) -> tuple[list[Any], list[Any]]:
    """The values of xs, and what the trace keeps beside those that are its own."""
    primals, marks = [], []
    for x in xs:
        mine = type(x) is Array and x.within is trace
        marks.append(x.node if mine else None)
        if mine or (type(x) is Array and x.within is CONSTANT):
            x = x.payload
            if type(x) in PYTHON and not primitive.takes_python:
                x = hardened(x)
        primals.append(x)
    for i in primitive.nondiff:
        marks[i] = None
    return primals, marks


def direction_outside(x: Any) -> Any:
    """The direction in which an outer forward mode looks at x; NaN if it is not known yet.

    None if there is no such mode.
    """
    unknown, spec, maps = False, spec_of(x), list[Trace]()
    while type(x) is Array:
        trace = current(x).within
        if isinstance(trace, ForwardTrace) and x.node is not None:
            return wrapped(dense(x.node), maps)
        unknown |= trace.writes_steps and x.node is not None
        if trace.shape(x) != x.payload.shape:
            maps.append(trace)
        x = x.payload
    return full(spec, np.nan) if unknown else None


@usage("jvp(f, (x,), (x_dot,))")
def jvp(
    fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[Any, Any]:
    """Return fun(*primals) and its derivative in the direction of the tangents.

    >>> import numpy as np
    >>> jvp(np.sin, (np.zeros(2),), (np.array([1.0, 3.0]),))
    (array([0., 0.]), array([1., 3.]))

    Args:
        fun: a function of arrays, numbers, or trees of them.
        primals: a tuple of arrays, numbers or trees of them.
        tangents: a tuple of the same length, each like its primal; None is zero.

    Returns:
        The output, and its tangent J(x) x_dot, a tree like it. Outputs that carry no derivative
        (truth values, integers) have tangents of zeros.

    Raises:
        ShapeError: a tangent has another shape than its primal; nothing is broadcast.
    """
    check_function(fun, "jvp")
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise ArgumentTypeError(
            f"`jvp({name_of(fun)})` takes a tuple of primals and a tuple of tangents.\n"
            "  Write `jvp(f, (x,), (x_dot,))`."
        )
    if len(primals) != len(tangents):
        raise ArgumentError(
            f"`jvp({name_of(fun)})` was given {count(primals, 'primal')} and"
            f" {count(tangents, 'tangent')}.\n"
            "  Give one for each, or None for a tangent that is zero."
        )
    return along(fun, primals, tangents, "a tangent", "jvp", fun)


def along(
    fun: Callable[..., Any], primals: Any, tangents: Any, what: str, verb: str, shown: Any
) -> tuple[Any, Any]:
    """jvp of fun, for messages `verb(shown)`, which was given `what`."""
    trace = ForwardTrace(verb, shown)
    asker = lambda: f"`{verb}({name_of(shown)})`"
    args = []
    for position, (primal, tangent) in enumerate(zip(primals, tangents, strict=True)):
        if tangent is None:
            args.append(primal)
            continue
        lifted = Lifted(primal, verb, shown, position)
        if lifted.leaf:
            (value,), (dot,) = lifted.primals, directions(lifted, tangent, what, asker)
            args.append(locked_as(value, Array(value, trace, dot)))
            continue
        dots = iter(directions(lifted, tangent, what, asker))
        lift = lambda x: locked_as(x, Array(x, trace, next(dots)))  # noqa: B023  # called in this turn
        args.append(lifted.map(lift))
    try:
        out = run(trace, fun, args, {})
        mine = type(out) is Array and out.within is trace and out.storage is None
        few = trace.narrowing is None and not trace.many_decisions(True)
        if mine and is_double(bottom(out)) and few:  # as it mostly is
            return primal_and_tangent(out, trace)
        outs, structure = flatten(out)
        check_output(out, outs, verb, shown)
        settled = [settle(x, trace) for x in outs]
        pairs = [primal_and_tangent(x, trace) for x in settled]
        own = [x for x in settled if type(x) is Array and x.within is trace]
        trace.led(settled, bool(own))
        zero = False
        if own and trace.many_decisions(any(x.node is not None for x in own)):
            weights = [x.node for x in flatten(args)[0] if type(x) is Array and x.within is trace]
            zero = trace.led_beside(weights, flatten(primals)[0], [dot for _, dot in pairs])
        if own and not zero and trace.narrowing is not None and trace.narrowing.narrows:
            judge_tangents(trace, flatten(primals)[0], own)
    finally:
        trace.end()
    return (
        unflatten(structure, [value for value, _ in pairs]),
        unflatten(structure, [dot for _, dot in pairs]),
    )


def directions(lifted: Lifted, tangent: Any, what: str, asker: Callable[[], str]) -> list[Any]:
    """The tangents of the differentiated leaves of one argument; None is zero."""
    if lifted.leaf:
        return [conform(tangent, spec_of(lifted.primals[0]), what, asker)]
    dots = branches(tangent, lifted.structure, what, asker)
    for dot, x, static in zip(dots, lifted.primals, lifted.static, strict=True):
        if static and dot is not None and not is_static(dot):
            raise ArgumentTypeError(
                f"{asker()} takes no tangent for {describe(x)}, which has no derivative.\n"
                "  Give None there; of a truth value that counts as a number pass `float(x)`."
            )
    return [
        None if dot is None else conform(dot, spec_of(x), what, asker)
        for dot, x, static in zip(dots, lifted.primals, lifted.static, strict=True)
        if not static
    ]


def count(things: Any, what: str) -> str:
    """`1 tangent`, `2 tangents`."""
    return f"{len(things)} {what}{'' if len(things) == 1 else 's'}"


def primal_and_tangent(x: Any, trace: Trace) -> tuple[Any, Any]:
    """The value of a result and its tangent, of one shape and kind."""
    if type(x) is not Array or x.within is not trace:
        return x, zeros_of(x)
    value, dot = fresh(x.payload), x.node
    if dot is None:
        return value, zeros_of(value)
    plain = type(dot) is ndarray is type(value) and dot.dtype is value.dtype
    if plain and dot.shape == value.shape:
        return value, dot.copy("K")
    dot = fit(dense(x.node), spec_of(value))
    while type(dot) is Array and (dot.within is trace or dot.within is CONSTANT):
        dot = dot.payload  # of a rule that closes over an Array
    return value, like_value(dot, value)


def like_value(dot: Any, value: Any) -> Any:
    """A tangent as the kind of thing that its value is, on memory of its own."""
    if type(dot) is Array:
        return fresh(dot)
    return np.array(dot) if type(value) is np.ndarray or dot.ndim else dot[()]


def zeros_of(x: Any) -> Any:
    if not holds_numbers(x):
        return None
    spec = spec_of(x)
    if spec.dtype.kind not in "biufc":
        return None  # text and dates have no tangents
    out = zeros(spec)
    return out if type(x) is not Array and isinstance(x, np.ndarray) else out[()]
