"""linearize: run a function once, and push tangents through what it did as often as needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.array import Array
from ..core.cotangent import dense, fit
from ..core.errors import ArgumentError, ArgumentTypeError, name_of
from ..core.locked import locked_as
from ..core.node import Kept, keep
from ..core.primitive import Primitive
from ..core.quiet import SILENT, STATE
from ..core.spec import carries, spec_of
from ..core.trace import Trace, run
from ..core.tree import flatten, unflatten
from ..core.usage import listing, usage
from .arguments import Lifted, needs_arguments
from .batch import over_rows
from .forward import count, direction_outside, directions, like_value, split, zeros_of
from .lifted import primals_of
from .meeting import moves
from .returned import check_output, fresh, settle
from .searched import judge_steps
from .transformation import check_function


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


def nested(out: Any) -> bool:
    """Whether an operation had several results in another transformation."""
    return type(out) is tuple and any(type(o) is Array for o in out)


def wrap(out: Any, f: Callable[[Any, int], Any]) -> Any:
    return tuple([f(o, i) for i, o in enumerate(out)]) if type(out) is tuple else f(out, 0)


def named_each(name: str, n: int) -> str:
    """Arguments in messages: `v`, or `v0, v1`."""
    return name if n == 1 else ", ".join(f"{name}{i}" for i in range(n))


class Pushforward:
    """x_dot -> out_dot, from one run of the function; it may be called again and again."""

    __dir__ = listing("fun")

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
