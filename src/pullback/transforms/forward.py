"""Forward mode: the trace that carries tangents along; jvp and linearize."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.array import Array, current
from ..core.cotangent import fit
from ..core.errors import ArgumentError, ArgumentTypeError, name_of
from ..core.node import keep
from ..core.primitive import Primitive
from ..core.spec import carries, spec_of, zeros
from ..core.trace import CONSTANT, Trace, run
from ..core.tree import flatten, unflatten
from .common import Lifted, branches, check_function, conform, fresh, settle
from .reverse import writes_number

__all__ = ["ForwardTrace", "jvp", "linearize"]


class ForwardTrace(Trace):
    """The node of an Array is its tangent; None is a tangent that is zero."""

    __slots__ = ()

    def item(self, primitive: Any, x: Array, key: Any) -> Any:
        if current(x).within is self and type(x.value) is np.ndarray:
            if x.node is None:
                return Array(x.value[key], self, None)
            if type(x.node) is np.ndarray:
                return Array(x.value[key], self, x.node[key])
        return Trace.item(self, primitive, x, key)

    def put(self, primitive: Any, x: Array, key: Any, v: Any) -> bool:
        dot: Any = 0.0
        if type(v) is Array:
            if v.within is not self or v.storage is not None:
                return False
            v, dot = v.value, 0.0 if v.node is None else v.node
        if not writes_number(x.value, key, v) or not writes_number(x.node, key, dot):
            return False
        x.value[key], x.node[key] = v, dot
        return True

    def process(self, primitive: Primitive, xs: tuple[Any, ...], static: dict[str, Any]) -> Any:
        primals, dots = split(self, primitive, xs)
        out = primitive(*primals, **static)
        if primitive.constant or (primitive.n_out is None and not carries(out.dtype)):
            return out
        if all(dot is None for dot in dots):
            out_dot: Any = None if primitive.n_out is None else (None,) * primitive.n_out
        else:
            with np.errstate(all="ignore"):  # the value has warned, as NumPy does
                out_dot = primitive.push(out, tuple(primals), dots, static)
        if primitive.n_out is None:
            return Array(out, self, out_dot)
        return tuple(
            [
                Array(o, self, dot) if carries(o.dtype) else o
                for o, dot in zip(out, out_dot, strict=True)
            ]
        )


class LinearizeTrace(Trace):
    """Computes values, and writes down for each operation how tangents will go through it.

    `state` is the list of steps (primitive, out, xs, static, sources, slot of the result); the node
    of an Array is the number of its tangent.
    """

    __slots__ = ()

    def process(self, primitive: Primitive, xs: tuple[Any, ...], static: dict[str, Any]) -> Any:
        primals, sources = split(self, primitive, xs)
        out = primitive(*primals, **static)
        if primitive.constant or (primitive.n_out is None and not carries(out.dtype)):
            return out
        steps = self.state
        if all(source is None for source in sources):
            return wrap(out, lambda o, i: Array(o, self, None))
        kept = tuple(
            [x if s is not None else keep(x) for x, s in zip(primals, sources, strict=True)]
        )
        steps.append((primitive, out, kept, static, tuple(sources)))
        step = len(steps)
        return wrap(out, lambda o, i: Array(o, self, (step, i)) if carries(o.dtype) else o)


def split(trace: Trace, primitive: Primitive, xs: Any) -> tuple[list[Any], list[Any]]:
    """The values of xs, and what the trace keeps beside those that are its own."""
    primals, marks = [], []
    for x in xs:
        mine = type(x) is Array and x.within is trace
        primals.append(x.value if mine or (type(x) is Array and x.within is CONSTANT) else x)
        marks.append(x.node if mine else None)
    for i in primitive.nondiff:
        marks[i] = None
    return primals, marks


def wrap(out: Any, f: Callable[[Any, int], Any]) -> Any:
    return tuple([f(o, i) for i, o in enumerate(out)]) if type(out) is tuple else f(out, 0)


def jvp(
    fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[Any, Any]:
    """Return fun(*primals) and its derivative in the direction of the tangents.

    >>> import numpy as np
    >>> jvp(np.sin, (np.zeros(2),), (np.array([1.0, 3.0]),))
    (array([0., 0.]), array([1., 3.]))

    Args:
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
    args = []
    for position, (primal, tangent) in enumerate(zip(primals, tangents, strict=True)):
        if tangent is None:
            args.append(primal)
            continue
        lifted = Lifted(primal, verb, shown, position)
        dots = iter(directions(lifted, tangent, what, f"`{verb}({name_of(shown)})`"))
        args.append(lifted.map(lambda x, dots=dots: Array(x, trace, next(dots))))  # type: ignore[misc]
    try:
        out = run(trace, fun, args, {})
        outs, structure = flatten(out)
        pairs = [primal_and_tangent(settle(x, trace), trace) for x in outs]
    finally:
        trace.end()
    return (
        unflatten(structure, [value for value, _ in pairs]),
        unflatten(structure, [dot for _, dot in pairs]),
    )


def directions(lifted: Lifted, tangent: Any, what: str, asker: str) -> list[Any]:
    """The tangents of the differentiated leaves of one argument; None is zero."""
    dots = branches(tangent, lifted.structure, what, asker)
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
    value = fresh(x.value)
    if x.node is None:
        return value, zeros_of(value)
    dot = fit(x.node, spec_of(value))
    while type(dot) is Array and (dot.within is trace or dot.within is CONSTANT):
        dot = dot.value  # of a rule that closes over an Array
    return value, like_value(dot, value)


def like_value(dot: Any, value: Any) -> Any:
    """A tangent as the kind of thing that its value is, on memory of its own."""
    if type(dot) is Array:
        return fresh(dot)
    return np.array(dot) if type(value) is np.ndarray or dot.ndim else dot[()]


def zeros_of(x: Any) -> Any:
    if not hasattr(x, "dtype") and not isinstance(x, (int, float, complex)):
        return None
    spec = spec_of(x)
    out = zeros(spec)
    return out if type(x) is not Array and isinstance(x, np.ndarray) else out[()]


class Pushforward:
    """x_dot -> out_dot, from one run of the function; it may be called again and again."""

    def __init__(self, trace: Trace, out: Any, lifted: Any, steps: Any) -> None:
        self.name = name_of(trace.fun)
        self.lifted, self.steps = lifted, steps
        outs, self.structure = flatten(out)
        self.outs = [
            (x.value, x.node) if type(x) is Array and x.within is trace else (x, None) for x in outs
        ]

    def __call__(self, *tangents: Any) -> Any:
        """Args: tangents: one for each primal, like it; None is zero."""
        if len(tangents) != len(self.lifted):
            raise ArgumentError(
                f"The pushforward of `{self.name}` takes {count(self.lifted, 'tangent')}, one for"
                f" each primal, but got {len(tangents)}."
            )
        dots: dict[Any, Any] = {}  # (step, slot) -> tangent; step 0 are the inputs
        n = 0
        for lifted, tangent in zip(self.lifted, tangents, strict=True):
            given = (
                [None] * len(lifted.differentiated)
                if tangent is None
                else directions(lifted, tangent, "a tangent", f"The pushforward of `{self.name}`")
            )
            for dot in given:
                dots[0, n] = dot
                n += 1
        for step, (primitive, out, xs, static, sources) in enumerate(self.steps, 1):
            x_dots = [dots.get(source) for source in sources]
            if all(dot is None for dot in x_dots):
                continue
            xs = tuple([x.opened() if hasattr(x, "opened") else x for x in xs])
            with np.errstate(all="ignore"):
                out_dot = primitive.push(out, xs, x_dots, static)
            for i, dot in enumerate(out_dot if type(out) is tuple else (out_dot,)):
                dots[step, i] = dot
        results = []
        for value, source in self.outs:
            dot = dots.get(source)
            if dot is None:
                results.append(zeros_of(value))
            else:
                results.append(like_value(fit(dot, spec_of(value)), value))
        return unflatten(self.structure, results)

    def __repr__(self) -> str:
        return f"<pushforward of {self.name}>"


def linearize(fun: Callable[..., Any], *primals: Any) -> tuple[Any, Pushforward]:
    """Return fun(*primals) and its pushforward there, a linear function of the tangents.

    >>> import numpy as np
    >>> out, pushforward = linearize(np.sin, 0.0)
    >>> pushforward(2.0)
    np.float64(2.0)

    fun runs once; each call of the pushforward goes through the recorded operations only.

    Args:
        primals: arrays, numbers or trees of them.
    """
    check_function(fun, "linearize")
    trace = LinearizeTrace("linearize", fun, [])
    args, lifted, n = [], [], 0

    def number(primal: Any) -> Array:
        nonlocal n
        n += 1
        return Array(primal, trace, (0, n - 1))

    for position, primal in enumerate(primals):
        arg = Lifted(primal, "linearize", fun, position)
        lifted.append(arg)
        args.append(arg.map(number))
    try:
        out = run(trace, fun, args, {})
        outs, structure = flatten(out)
        settled = [settle(x, trace) for x in outs]
        pushforward = Pushforward(trace, unflatten(structure, settled), lifted, trace.state)
        values = [fresh(x.value) if type(x) is Array and x.within is trace else x for x in settled]
    finally:
        trace.end()
    return unflatten(structure, values), pushforward
