"""Forward mode: the trace that carries tangents along; jvp and linearize."""

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
from ..core.node import Kept, keep, new
from ..core.primitive import Primitive
from ..core.quiet import SILENT, STATE
from ..core.rules import match
from ..core.spec import DOUBLE, PYTHON, carries, full, hardened, spec_of, zeros
from ..core.storage import current, touch
from ..core.trace import CONSTANT, Trace, bind, run
from ..core.tree import flatten, is_static, unflatten
from ..core.usage import usage
from ..primitives.arguments import wrapped
from .batch import over_rows
from .common import (
    Lifted,
    branches,
    check_function,
    check_output,
    conform,
    fresh,
    holds_numbers,
    needs_arguments,
    settle,
)
from .lifted import primals_of
from .meeting import is_double, moves, writes_number
from .searched import judge_steps, judge_tangents


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
        return ForwardTrace.pair(self, primitive, x, y)

    def beside(self, primitive: Any, i: int, x: Array, plain: Any) -> Any:
        """x as operand i beside what has no tangent."""
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


class LinearizeTrace(Trace):
    """Computes values, and writes down for each operation how tangents will go through it.

    `state` is the list of steps (primitive, out, xs, static, sources, slot of the result); the node
    of an Array is the number of its tangent.
    """

    differentiates = True
    leaves_values = writes_steps = True
    __slots__ = ()

    def process(self, primitive: Primitive, xs: tuple[Any, ...], static: dict[str, Any]) -> Any:
        primals, sources = split(self, primitive, xs)
        if primitive.facing is not None and sources[0] is not None:
            direction = direction_outside(primals[0])
            if direction is not None:
                given = [direction, *[None] * (len(primals) - 1)]
                primals, _ = primitive.facing(primals, given)
                sources = [sources[0], *[None] * (len(primals) - 1)]
        out = primitive(*primals, **static)
        if primitive.decides and self.decided(primitive, *xs[:2]):
            return out
        if primitive.n_out is None and not moves(out, primals):
            return out
        steps = self.state
        if sources.count(None) == len(sources):
            return wrap(out, lambda o, i: Array(o, self, None))
        kept = tuple(
            [x if s is not None else keep(x) for x, s in zip(primals, sources, strict=True)]
        )
        steps.append((primitive, out, kept, static, tuple(sources)))
        step = len(steps)
        if primitive.n_out is None:
            return Array(out, self, (step, 0))
        return wrap(out, lambda o, i: Array(o, self, (step, i)) if carries(o) else o)


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
        unknown |= isinstance(trace, LinearizeTrace) and x.node is not None
        if trace.shape(x) != x.payload.shape:
            maps.append(trace)
        x = x.payload
    return full(spec, np.nan) if unknown else None


def nested(out: Any) -> bool:
    """Whether an operation had several results in another transformation."""
    return type(out) is tuple and any(type(o) is Array for o in out)


def wrap(out: Any, f: Callable[[Any, int], Any]) -> Any:
    return tuple([f(o, i) for i, o in enumerate(out)]) if type(out) is tuple else f(out, 0)


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


def named_each(name: str, n: int) -> str:
    """Arguments in messages: `v`, or `v0, v1`."""
    return name if n == 1 else ", ".join(f"{name}{i}" for i in range(n))


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


class Pushforward:
    """x_dot -> out_dot, from one run of the function; it may be called again and again."""

    def __init__(self, trace: Trace, out: Any, lifted: Any, steps: Any) -> None:
        self.fun = trace.fun
        self.lifted, self.steps = lifted, steps
        outs, self.structure = flatten(out)
        self.outs = [
            (x.payload, x.node) if type(x) is Array and x.within is trace else (x, None)
            for x in outs
        ]

    @property
    def name(self) -> str:
        return name_of(self.fun)

    @property
    def degenerate(self) -> bool:
        """Whether it has no second derivative in several directions at once; see `spectra`."""
        for primitive, out, *_ in self.steps:
            if primitive.facing is not None and nested(out) and primitive.degenerate(out):
                return True
        return False

    def over_rows(self, push: Callable[[Any], Any], directions: Any) -> Any:
        """`push`, which calls this, of each row, all at once."""
        ours = all(step[0].ours for step in self.steps)  # none reaches functions of the user's
        return over_rows(push, directions, ours)

    def __call__(self, *tangents: Any) -> Any:
        """Args: tangents: one for each primal, like it; None is zero."""
        if len(tangents) != len(self.lifted):
            raise ArgumentError(
                f"The pushforward of `{self.name}` takes {count(self.lifted, 'tangent')}, one for"
                f" each primal, but got {len(tangents)}.\n"
                f"  Write `pushforward({named_each('v', len(self.lifted))})`, with None for a"
                " tangent that is zero."
            )
        asker = lambda: f"The pushforward of `{self.name}`"
        dots: dict[Any, Any] = {}  # (step, slot) -> tangent; step 0 are the inputs
        n = 0
        for lifted, tangent in zip(self.lifted, tangents, strict=True):
            given = (
                [None] * len(lifted.differentiated)
                if tangent is None
                else directions(lifted, tangent, "a tangent", asker)
            )
            for dot in given:
                dots[0, n] = dot
                n += 1
        before = STATE.get()
        try:
            STATE.set(SILENT)
            self.push(dots)
        finally:
            STATE.set(before)
        results = []
        for value, source in self.outs:
            dot = dots.get(source)
            if dot is None:
                results.append(zeros_of(value))
            else:
                results.append(like_value(fit(dense(dot), spec_of(value)), value))
        return unflatten(self.structure, results)

    def push(self, dots: dict[Any, Any]) -> None:
        """Enter the tangents of all results beside those of the inputs."""
        for step, (primitive, out, xs, static, sources) in enumerate(self.steps, 1):
            x_dots = [dots.get(source) for source in sources]
            for dot in x_dots:
                if dot is not None:
                    break
            else:
                continue
            if Kept in map(type, xs):
                xs = tuple([x.opened() if type(x) is Kept else x for x in xs])
            out_dot = primitive.push(out, xs, x_dots, static, structured=True)
            for i, dot in enumerate(out_dot if type(out) is tuple else (out_dot,)):
                dots[step, i] = dot

    def __repr__(self) -> str:
        return f"<pushforward of {self.name}>"


@usage("linearize(f, x)")
def linearize(fun: Callable[..., Any], *primals: Any) -> tuple[Any, Pushforward]:
    """Return fun(*primals) and its pushforward there, a linear function of the tangents.

    >>> import numpy as np
    >>> out, pushforward = linearize(np.sin, 0.0)
    >>> pushforward(2.0)
    np.float64(2.0)

    fun runs once; each call of the pushforward goes through the recorded operations only, and gives
    J @ x_dot, of the shape of the output.

    Args:
        fun: a function of arrays, numbers, or trees of them.
        primals: arrays, numbers or trees of them.

    Raises:
        ArgumentTypeError: there are no primals, though fun needs arguments.
    """
    if not primals and callable(fun) and needs_arguments(fun):
        raise ArgumentTypeError(
            f"`linearize({name_of(fun)})` was given no arguments at which to linearize.\n"
            "  Write `linearize(f, x)`, which gives the output and the pushforward there."
        )
    return linearized(fun, primals, "linearize")


def linearized(fun: Any, primals: Sequence[Any], verb: str) -> tuple[Any, Pushforward]:
    """linearize, for messages of `verb`."""
    check_function(fun, verb)
    trace = LinearizeTrace(verb, fun, [])
    args, lifted, n = [], [], 0

    def number(primal: Any) -> Array:
        nonlocal n
        n += 1
        return locked_as(primal, Array(primal, trace, (0, n - 1)))

    for position, primal in enumerate(primals):
        arg = Lifted(primal, verb, fun, position)
        lifted.append(arg)
        args.append(arg.map(number))
    try:
        out = run(trace, fun, args, {})
        outs, structure = flatten(out)
        check_output(out, outs, verb, fun)
        settled = [settle(x, trace) for x in outs]
        mine = [x for x in settled if type(x) is Array and x.within is trace]
        trace.led(settled, bool(mine))
        if not trace.state and trace.many_decisions(False):
            trace.led(settled, False)
        pushforward = Pushforward(trace, unflatten(structure, settled), lifted, trace.state)
        if mine and trace.narrowing is not None and trace.narrowing.narrows:
            judge_steps(trace, pushforward, primals_of(lifted))
        values = [
            fresh(x.payload) if type(x) is Array and x.within is trace else x for x in settled
        ]
    finally:
        trace.end()
    return unflatten(structure, values), pushforward
