"""tanhsinh, cubature and qmc_quad, whose own points stay where a jump of the integrand moves.

They are differentiated as the sums that they are. Where the integrand decides something by what is
differentiated (a comparison, `floor`, `sign`), its derivative says nothing of the jump: `tanhsinh`
takes the rule of `quad` then, with the same value, and the others refuse. So it is with a kink
where second derivatives may be taken: in two transformations, or of a program that is recorded.
What jumps, or has an infinite slope, without a decision is told by its edges (see `crossed_edges`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

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
from ...transforms.batch import BatchTrace
from ...transforms.call import floating
from ...transforms.forward import jvp
from ...transforms.loops.body import Unstaged, example
from ...transforms.stage import StageTrace
from ..solving.branches import BranchingFunction, bare, example_at
from ..solving.plain import met
from ..solving.repeated_stores import solved as stored
from ..solving.serving import serves, traced
from .crossed_edges import Edges, Points, slope_of
from .decisions import OTHER, DecisionTrace
from .level_changes import Batches
from .quadrature import Integral, Vector
from .surfaces import may_jump


class AnyDecision:
    """Whether anything was decided by x and by what is differentiated; by_x: x is.

    edges: whether an operation on x has an edge
    """

    def __init__(self, by_x: bool) -> None:
        self.by_x, self.made, self.edges = by_x, False, False

    def enter(self, values: Any) -> None:
        self.made |= self.by_x or any(map(differentiated, values))


class SurfaceTrace(DecisionTrace):
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
        self.state.edges |= moves and (primitive.edge is not None or primitive.pole is not None)

    def concrete(self, x: Array, asked: str) -> Any:
        self.state.enter([x.payload])
        return x.payload


class WatchedIntegrand:
    """An integrand, of which the points of all calls are kept, to ask what it decides there.

    how: how it is called
    twice: whether derivatives of its derivative may be taken
    """

    def __init__(self, fun: Callable[..., Any], how: Called) -> None:
        self.fun, self.how = fun, how
        self.calls = list[tuple[Any, ...]]()
        self.order = sum(int(t.differentiates) for t in enclosing())
        self.recording = TALLY.recordings > 0
        self.twice = self.recording or self.order > 1

    def __call__(self, *xs: Any) -> Any:
        self.calls.append(xs)
        return CALLS[self.fun](*xs)

    def decides(self, x: Any, args: Any) -> AnyDecision:
        """What it, or its slope if that is differentiated, decides by what moves."""
        decided = AnyDecision(differentiated(x))
        x = Array(x, SurfaceTrace("integral", None, decided), True)
        fun = lambda x: CALLS[self.fun](x, *args)
        with np.errstate(all="ignore"), gathered([]):
            if self.twice:
                jvp(fun, (x,), (np.ones(np.shape(x)),))
            else:
                fun(x)
        return decided

    def moves(self, out: Any, jumps: bool) -> bool:
        """Whether what it decides by x moves; jumps: and it is another beside such a place.

        So do edges, if it jumps there or its slope is infinite. out: the integral
        """
        if not (self.calls and (self.twice or self.order or is_live(out))):
            return False
        x, args = self.how.one(*self.calls[0])
        decided = self.decides(x, args)
        if not (decided.made or decided.edges):
            return False
        entered = args if self.how.takes_rows else ()
        call = lambda x, *xs: CALLS[self.fun](x, *(xs if self.how.takes_rows else args))
        program = BranchingFunction(call, bare(x), *map(bare, entered))
        theta, branch = program.theta, program.branches[0]
        operands = [*entered, *[theta[n] for n in branch.theta]]
        moving = [1 + i for i, y in enumerate(operands) if differentiated(y)]
        groups = [[0]] if differentiated(x) else [[0], moving]
        given = [bare(x), *map(example, operands)]
        if not all(groups):
            return False
        if decided.made:
            graphs = self.graphs(branch.graph, given)
            if not jumps or any(may_jump(graph, groups, given) for graph in graphs):
                return True
        if not decided.edges:
            return False
        along = groups[0] + moving if differentiated(x) else moving
        edges = Edges(branch.graph, groups, given, along, self.twice)
        return self.meets(edges, operands, given)

    def graphs(self, graph: Graph, given: Any) -> Iterator[Graph]:
        """What it does; and what its derivative does, if that is differentiated."""
        yield graph
        if self.twice:
            yield slope_of(graph, given, floating(given))

    def meets(self, edges: Edges, operands: Any, given: Any) -> bool:
        """Whether one of these edges counts; operands: of the integrand after x; given: plain."""
        if not edges.are_some:
            return False
        if self.recording or self.how.rows is None or any(met(y, StageTrace) for y in operands):
            return edges.may_meet(given)
        theta = operands[len(self.calls[0]) - 1 if self.how.takes_rows else 0 :]
        batches = Batches([*theta, *[x for xs in self.calls for x in xs if type(x) is Array]])
        for at in np.ndindex(*batches.sizes):
            places = dict(zip(batches.traces, at, strict=True))
            plain = lambda x, places=places: example_at(bare(x), places)
            calls = [tuple(map(plain, xs if self.how.takes_rows else xs[:1])) for xs in self.calls]
            values = list(map(plain, theta))
            if any(edges.met(points, values) for points in self.how.rows(calls)):
                return True
        return False


class Called(NamedTuple):
    """How an integrand is called.

    one: what takes the points and arguments of a call to some of them
    rows: what takes all calls, of plain values, to rows of such points; None: not known
    takes_rows: whether each row has arguments of its own
    """

    one: Callable[..., tuple[Any, Any]]
    rows: Callable[[Any], Iterable[Points]] | None
    takes_rows: bool = False


def of_elements(calls: Any) -> Iterator[Points]:
    """A row of points for each integral, in each call that has several."""
    for x, *args in calls:
        if np.ndim(x) == 2:
            yield Points(x[..., None], tuple([np.reshape(y, (len(x), 1)) for y in args]))


def of_points(calls: Any) -> list[Points]:
    return [Points(np.concatenate([x for x, *_ in calls])[None, :, None])]


def of_columns(calls: Any) -> list[Points]:
    return [Points(np.concatenate([np.reshape(x.T, (-1, len(x))) for x, *_ in calls])[None])]


def of_first(*xs: Any) -> tuple[Any, list[Any]]:
    """The first of all points, and its arguments."""
    x, *args = [np.ravel(x)[:1] for x in xs]
    return x, args


EACH = Called(of_first, of_elements, takes_rows=True)
WHOLE = Called(lambda x, *args: (x, args), None)
POINTS = Called(lambda x, *args: (x[:1], args), of_points)
COLUMNS = Called(lambda x: (x, ()), of_columns)


def differentiated(x: Any) -> bool:
    """Whether derivatives by x are taken, or may be: of a recording."""
    return derivatives_of(x) > 0 or met(x, StageTrace)


def refused(name: str, instead: str) -> MissingRuleError:
    return MissingRuleError(
        f"The integrand of `{name}` jumps, or has a kink of which two derivatives are taken, at a"
        f" place that moves with what is differentiated, in {place(line_of_user())}\n  {instead}"
    )


SPLIT = (
    "Split the integral there, so that the place is a limit of both parts, or use"
    " `scipy.integrate.quad`, which finds it."
)
tanhsinh_itself = traced(integrate.tanhsinh)


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
    watched = WatchedIntegrand(f, EACH) if callable(f) else f
    found = tanhsinh_itself(watched, a, b, args=args, **options)
    summed(found.integral)
    if options.get("log") or options.get("preserve_shape"):
        watched.how = WHOLE
        refuse_jumps("tanhsinh", watched, found.integral)
        return found
    try:
        if watched.moves(found.integral, jumps=False):
            args = args if np.iterable(args) else (args,)
            found.integral = exact(found.integral, by_quad(f, a, b, args))
    except Unstaged:
        raise refused("tanhsinh", SPLIT) from None
    return found


def summed(out: Any) -> None:
    """SciPy has called the integrand for the last time, for all examples at once.

    out: the integral
    """
    stored(2 if met(out, BatchTrace) else 0)


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
    return without_jumps("cubature", "estimate", POINTS, f, a, b, options)


@serves(integrate.qmc_quad)
def qmc_quad(func: Any, a: Any, b: Any, **options: Any) -> Any:
    return without_jumps("qmc_quad", "integral", COLUMNS, func, a, b, options)


SUMMED = {name: traced(getattr(integrate, name)) for name in ("cubature", "qmc_quad")}


def without_jumps(
    name: str, result: str, how: Called, fun: Any, a: Any, b: Any, options: dict[str, Any]
) -> Any:
    """What SciPy's function of that name gives; result: the attribute in which the integral is."""
    watched = WatchedIntegrand(fun, how) if callable(fun) else fun
    found = SUMMED[name](watched, a, b, **options)
    summed(getattr(found, result))
    refuse_jumps(name, watched, getattr(found, result))
    return found


def refuse_jumps(name: str, watched: WatchedIntegrand, out: Any) -> None:
    """Raise if an integral that is summed is not differentiated by that; out: it."""
    try:
        jumps = watched.moves(out, jumps=True)
    except Unstaged:
        raise refused(name, SPLIT) from None
    if jumps:
        raise refused(name, SPLIT)
