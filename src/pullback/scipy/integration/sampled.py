"""tanhsinh and cubature, whose own points stay where a jump of the integrand moves.

They are differentiated as the sums that they are. Where the integrand decides something by what is
differentiated (a comparison, `floor`, `sign`), its derivative says nothing of the jump: `tanhsinh`
takes the rule of `quad` then, with the same value, and `cubature` refuses. So it is with a kink
where second derivatives may be taken: in two transformations, or of a program that is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from scipy import integrate

from ...core.array import Array
from ...core.errors import MissingRuleError
from ...core.graph import Graph
from ...core.lost import line_of_user, place
from ...core.primitive import Primitive
from ...core.reach.call_tables import CALLS
from ...core.storage import TALLY
from ...core.trace import derivatives_of, enclosing, is_live
from ...primitives.exact import exact
from ...primitives.kinks import gathered
from ...transforms.call import floating
from ...transforms.forward import jvp
from ...transforms.loops.body import Unstaged, example, recorded
from ...transforms.stage import StageTrace
from ..solving.branches import BranchingFunction, bare
from ..solving.plain import met
from ..solving.serving import serves, traced
from .jumps import replaced
from .noted import OTHER, NotingTrace
from .quadrature import Integral, Vector
from .surfaces import may_jump


class AnyDecision:
    """Whether anything was decided by x and by what is differentiated; by_x: x is."""

    def __init__(self, by_x: bool) -> None:
        self.by_x, self.made = by_x, False

    def enter(self, values: Any) -> None:
        self.made |= self.by_x or any(map(differentiated, values))


class SurfaceTrace(NotingTrace):
    """Computes values by x, and notes whether there are decisions that move."""

    __slots__ = ()

    def note(
        self, primitive: Primitive, out: Any, values: Any, static: dict[str, Any], moves: bool
    ) -> Any:
        kinds = [getattr(x, "dtype", OTHER).kind for x in values]
        jumps = primitive.steps or primitive.level is not None
        jumps |= primitive.cut is not None and "c" in kinds
        if (jumps or getattr(out, "dtype", OTHER).kind in "biu") and not {*"fc"}.isdisjoint(kinds):
            self.state.enter(values)

    def concrete(self, x: Array, asked: str) -> Any:
        self.state.enter([x.payload])
        return x.payload


class WatchedIntegrand:
    """An integrand, of which the points of one call are kept, to ask what it decides there.

    of_one: what takes the points and arguments of a call to some of them
    twice: whether derivatives of its derivative may be taken
    """

    def __init__(self, fun: Callable[..., Any], of_one: Callable[..., Any]) -> None:
        self.fun, self.of_one = fun, of_one
        self.first: tuple[Any, ...] = ()
        self.order = sum(int(t.differentiates) for t in enclosing())
        self.twice = TALLY.recordings > 0 or self.order > 1

    def __call__(self, *xs: Any) -> Any:
        self.first = self.first or xs
        return CALLS[self.fun](*xs)

    def decides(self, x: Any, args: Any) -> bool:
        """Whether it, or its slope if that is differentiated, decides by what moves."""
        decided = AnyDecision(differentiated(x))
        x = Array(x, SurfaceTrace("integral", None, decided), True)
        fun = lambda x: CALLS[self.fun](x, *args)
        with np.errstate(all="ignore"), gathered([]):
            if self.twice:
                jvp(fun, (x,), (np.ones(np.shape(x)),))
            else:
                fun(x)
        return decided.made

    def moves(self, out: Any, jumps: bool) -> bool:
        """Whether what it decides by x moves; jumps: and it is another beside such a place.

        out: the integral
        """
        if not (self.first and (self.twice or self.order or is_live(out))):
            return False
        x, args = self.of_one(*self.first)
        if not self.decides(x, args):
            return False
        program = BranchingFunction(lambda x: CALLS[self.fun](x, *args), bare(x))
        theta, branch = program.theta, program.branches[0]
        at = [i for i, n in enumerate(branch.theta) if differentiated(theta[n])]
        groups = [[0]] if differentiated(x) else [[0], [1 + i for i in at]]
        given = [bare(x), *[example(theta[n]) for n in branch.theta]]
        if not at and len(groups) > 1:
            return False
        graphs = self.graphs(branch.graph, given)
        return not jumps or any(may_jump(graph, groups, given) for graph in graphs)

    def graphs(self, graph: Graph, given: Any) -> Iterator[Graph]:
        """What it does; and what its derivative does, if that is differentiated."""
        yield graph
        if self.twice:
            at, generator = floating(given), np.random.default_rng(0)
            dots = [generator.uniform(0.5, 1.5, np.shape(given[i])) for i in at]

            def tangent(*xs: Any) -> Any:
                of = lambda *moving: list(graph.evaluate(*replaced(xs, at, moving)))
                return jvp(of, [xs[i] for i in at], dots)[1]

            with gathered([]):
                yield recorded(tangent, given)


def differentiated(x: Any) -> bool:
    """Whether derivatives by x are taken, or may be: of a recording."""
    return derivatives_of(x) > 0 or met(x, StageTrace)


def of_first(*xs: Any) -> tuple[Any, list[Any]]:
    """The first of all points, and its arguments."""
    x, *args = [np.ravel(x)[:1] for x in xs]
    return x, args


def refused(name: str, instead: str) -> MissingRuleError:
    return MissingRuleError(
        f"The integrand of `{name}` jumps, or has a kink of which two derivatives are taken, at a"
        f" place that moves with what is differentiated, in {place(line_of_user())}\n  {instead}"
    )


SPLIT = (
    "Split the integral there, so that the place is a limit of both parts, or use"
    " `scipy.integrate.quad`, which finds it."
)
tanhsinh_itself, cubature_itself = traced(integrate.tanhsinh), traced(integrate.cubature)


def by_position(f: Any, many: int, names: Iterable[str]) -> Any:
    """An integrand of arguments by name, as one that takes them after its others, of which many."""
    return lambda x, *xs: CALLS[f](x, *xs[:many], **dict(zip(names, xs[many:], strict=True)))


@serves(integrate.tanhsinh)
def tanhsinh(
    f: Any, a: Any, b: Any, *, args: Any = (), kwargs: Any = None, **options: Any
) -> Any:  # from SciPy 1.18 on, integrands take arguments by name, too
    if kwargs:
        args = args if np.iterable(args) else (args,)
        f, args = by_position(f, len(args), kwargs), (*args, *kwargs.values())
    watched = WatchedIntegrand(f, of_first) if callable(f) else f
    found = tanhsinh_itself(watched, a, b, args=args, **options)
    try:
        if options.get("log") or options.get("preserve_shape"):
            watched.of_one = lambda x, *args: (x, args)
            if watched.moves(found.integral, jumps=True):
                raise refused("tanhsinh", SPLIT)
        elif watched.moves(found.integral, jumps=False):
            args = args if np.iterable(args) else (args,)
            found.integral = exact(found.integral, by_quad(f, a, b, args))
    except Unstaged:
        raise refused("tanhsinh", SPLIT) from None
    return found


def by_quad(f: Any, a: Any, b: Any, args: Any) -> Any:
    """The integrals by the rule of `quad`: each by its limits and arguments."""
    elements = np.broadcast_arrays(a, b, *args)
    shape = np.shape(elements[0])
    given = [np.ravel(x) for x in elements]

    def one(i: int) -> Any:
        low, high, *more = [x[i] * 1.0 for x in given[:2]] + [x[i : i + 1] for x in given[2:]]
        fun = lambda x: CALLS[f](np.reshape(x, (1,)), *more)[0] * 1.0
        return Integral("tanhsinh", fun, low, high, Vector({})).result(None)[0]

    return np.reshape(np.stack([one(i) for i in range(np.size(given[0]))]), shape)


@serves(integrate.cubature)
def cubature(f: Any, a: Any, b: Any, **options: Any) -> Any:
    watched = WatchedIntegrand(f, lambda x, *args: (x[:1], args)) if callable(f) else f
    found = cubature_itself(watched, a, b, **options)
    try:
        if watched.moves(found.estimate, jumps=True):
            raise refused("cubature", SPLIT)
    except Unstaged:
        raise refused("cubature", SPLIT) from None
    return found
