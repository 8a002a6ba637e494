"""Where a recorded integrand may jump: its operations that are constant between jumps.

    x < k        its answer is a level, constant between jumps; x - k is its surface, 0 at the jump
    x // k       likewise; the surface is how far x / k is from an integer

Each operation declares both (`Traits.surface`, `Traits.level`). What calls, compiled programs and
loops do inside of an integrand is looked into. Of a loop with very many steps, or of which only the
values say how many, it is known where it jumps, and not how that moves.

An integral inside of an integrand goes over all of its own jumps, and jumps itself where they do
not depend on what it goes over; its derivatives jump where one comes in at a limit. Both show in
what its integrand does at the limits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...compiler.graph.rewriting import inlined, rewritten
from ...core.graph import Equation, Graph, Variable
from ...core.kinds import Elementwise
from ...core.rules import ZERO
from ...core.spec import zeros
from ...transforms.batch import vmap
from ...transforms.call import FunctionCall
from ...transforms.loops.body import recorded
from ...transforms.loops.scan_primitive import Scan
from ...transforms.loops.while_primitive import While, moved
from ..solving.branches import LEARNED, KnownBranch
from ..solving.motion import Described
from .edges import edges_along

# What a rule decides by these values is no jump: it is right with either answer.
aside = Elementwise(lambda x: np.array(x)[()], ZERO, name="aside", lower="same")
LONGEST = 100_000  # operations of a loop, all steps together, that are looked into
GROWTH = 3.0  # from a place to one a hundred times as near: what is no more than that is bounded


def what_it_does(e: Equation) -> Graph | None:
    """The operations of a call, a compiled program or a loop; None for one operation."""
    for name in ("program", "graph"):
        found = getattr(e.primitive, name, None)
        if isinstance(found, Graph):
            return found
    if isinstance(e.primitive, Described) and e.primitive.n_out is None:
        graph = written(lambda *xs: e.primitive.program(*xs, **e.static), e)
        return graph if any(map(levels_of, inlined(graph, what_it_does).equations)) else None
    return of_loop(e) if isinstance(e.primitive, (Scan, While)) else None


def may_hold_more(e: Equation) -> bool:
    """Whether there's more in an operation than itself, told quickly."""
    if isinstance(e.primitive, Elementwise):
        return False
    held = [getattr(e.primitive, name, None) for name in ("program", "graph")]
    kinds = (Described, Scan, While, OverRange)
    return isinstance(e.primitive, kinds) or any(isinstance(x, Graph) for x in held)


def written(program: Callable[..., Any], e: Equation) -> Graph:
    """The graph of a program that does what an operation does."""
    examples = [zeros(x.spec) if type(x) is Variable else x for x in e.inputs]
    return recorded(program, examples)


def of_loop(e: Equation) -> Graph | None:
    """The steps of a loop one after the other, if any may jump; or it, and whether they do."""
    loop = e.primitive
    if isinstance(loop, Telling):
        return None
    body = inlined(loop.body, what_it_does)
    if not any(map(levels_of, body.equations)):
        return None
    if isinstance(loop, Scan) and len(body.equations) * loop.length <= LONGEST:
        return written(lambda *xs: loop.unrolled(xs), e)
    return written(telling(loop, body).with_levels, e)


class Telling:
    """A loop with one more carry, which is another where some of its steps jump."""

    def with_levels(self, *xs: Any) -> tuple[Any, ...]:
        """The results of the loop; where it jumps, its last equation gives another integer."""
        loop: Any = self
        n = loop.n_carry - 1
        at = loop.n_consts + n
        outs = list(loop(*xs[:at], np.float64(1.0), *xs[at:]))
        if getattr(loop, "capacity", 0):
            del outs[2 * n + 2]  # the rows of the carry
        told = np.astype(np.rint(outs.pop(n) * 2.0**40), np.int64)
        return (outs[0] + 0 * told, *outs[1:])


class TellingScan(Telling, Scan):
    pass


class TellingWhile(Telling, While):
    pass


def telling(loop: Any, body: Graph) -> Telling:
    """The loop with that carry; body: what it does."""
    inside, n, n_consts = Surfaces(body, [range(len(body.inputs))]), loop.n_carry, loop.n_consts
    at = n_consts + n

    def step(*xs: Any) -> tuple[Any, ...]:
        given, told = [*xs[:at], *xs[at + 1 :]], xs[at]
        levels, outs = inside.levels(*given), body.evaluate(*given)
        told = np.cos(3 * told + np.sum(np.cos(levels * (1.0 + np.arange(len(levels))))))
        return (*outs[:n], np.where(told == told, told, 0.5), *outs[n:])

    examples = [zeros(x.spec) for x in body.inputs] if loop.examples is None else loop.examples
    examples = [*examples[:at], np.float64(1.0), *examples[at:]]
    body = recorded(step, examples)
    if isinstance(loop, Scan):
        return TellingScan(body, n_consts, n + 1, loop.length, loop.reverse, examples)
    cond = moved(loop.cond, examples, range(at))
    return TellingWhile(cond, body, n_consts, examples, loop.keep, loop.capacity)


def opened(graph: Graph) -> Graph:
    """The graph with what calls, programs and loops do in their place.

    Beside integrals there is what their integrands do at the limits.
    """
    if not any(map(may_hold_more, graph.equations)):
        return graph
    graph = inlined(graph, what_it_does)

    def rule(e: Equation) -> Any:
        if not isinstance(e.primitive, OverRange) or not e.primitive.jumps_inside:
            return e
        return [e, *beside(opened(written(e.primitive.at_limits, e)), e.inputs)]

    return rewritten(graph, rule)


def beside(graph: Graph, inputs: Sequence[Any]) -> list[Equation]:
    """The equations of a graph for these inputs."""
    names: dict[Any, Any] = dict(zip(graph.inputs, inputs, strict=True))
    found = []
    for e in graph.equations:
        xs = [names[x] if type(x) is Variable else x for x in e.inputs]
        outputs = tuple([Variable(x.spec) for x in e.outputs])
        found.append(Equation(e.primitive, tuple(xs), outputs, e.static))
        names.update(zip(e.outputs, outputs, strict=True))
    return found


def with_edges_of(graph: Graph, of_derivative: bool) -> Graph:
    """The graph, which asks as well where its operations are of their edges: see `edges`.

    They are asked as functions of its first input. A continuous integrand needs them where it is a
    derivative; and one that divides may jump.
    """
    reached, asking, divides = {graph.inputs[0]}, list[Equation](), False
    for e in graph.equations:
        if not reached.isdisjoint([x for x in e.inputs if type(x) is Variable]):
            reached.update(e.outputs)
            has_pole = tells(e, e.primitive.pole)
            if has_pole or tells(e, e.primitive.edge):
                asking.append(e)
                divides |= has_pole
    if not (divides or (asking and of_derivative)):
        return graph
    inside = Graph(graph.inputs, graph.equations, [x for e in asking for x in e.outputs]).pruned()

    def ask(x: Any, *others: Any) -> Any:
        return tuple(edges_along(lambda x: inside.evaluate(x, *others), x))

    asked = recorded(ask, [zeros(x.spec) + x.spec.dtype.type(0.5) for x in graph.inputs])
    return Graph(graph.inputs, [*graph.equations, *beside(asked, graph.inputs)], graph.outputs)


def tells(e: Equation, number: Any) -> bool:
    """Whether an operation has a place where this number is 0, for operands such as these."""
    if number is None:
        return False
    operands = [
        zeros(x.spec) if type(x) is Variable else x.opened() if hasattr(x, "opened") else x
        for x in e.inputs
    ]
    with np.errstate(all="ignore"):
        return number(*operands, **e.static) is not None


def jump_of(e: Equation) -> tuple[Any, Any]:
    """The surface and the level that an operation declares for its operands."""
    p = e.primitive
    crosses = p.cut is not None and any(
        type(x) is Variable and x.spec.dtype.kind == "c" for x in e.inputs
    )
    return p.cut if crosses else (p.surface, p.level)


def levels_of(e: Equation) -> tuple[Variable, ...]:
    """The results of an operation on numbers that are constant between jumps."""
    floats = any(type(x) is Variable and x.spec.dtype.kind in "fc" for x in e.inputs)
    if not floats or isinstance(e.primitive, KnownBranch):
        return ()
    if e.primitive.steps or jump_of(e)[1] is not None:
        return e.outputs
    return tuple([x for x in e.outputs if x.spec.dtype.kind in "biu"])


class OverRange(FunctionCall):
    """A call on (*theta, a, b) that goes over x from a to b.

    surfaces: those of the integrand; axes: how its operands are mapped, in batches of batches
    searches: whether it looks for jumps, which a derivative does
    """

    surfaces: SurfacesOf | None = None
    axes: Sequence[Any] = ()
    searches = False

    @property
    def jumps_inside(self) -> bool:
        """Whether its integrand may jump somewhere."""
        return self.surfaces is not None and self.surfaces.decide

    def at_limits(self, *xs: Any) -> Any:
        """What the integrand does at both limits."""
        assert self.surfaces is not None
        fun = self.surfaces.at_limits
        for axes in self.axes:
            fun = vmap(fun, in_axes=axes)
        return fun(*xs)

    def tell_batch(self, call: Any, axes: Any) -> None:
        call.surfaces, call.axes = self.surfaces, (*self.axes, axes)


class Surfaces:
    """The operations of a graph that jump, and depend on inputs of each of these groups.

    Calls, compiled programs and loops of the graph are replaced by what they do. What depends on
    searches for jumps of inner integrals is left out: see `Jumps.insist_alike`.
    """

    def __init__(self, graph: Graph, groups: Sequence[Sequence[int]]) -> None:
        reached = [{graph.inputs[i] for i in group} for group in groups]
        self.equations, found_by_search = list[Equation](), set[Any]()
        self.searches = list[Equation]()
        for e in graph.equations:
            read = {x for x in e.inputs if type(x) is Variable and e.primitive is not aside}
            by = [not found.isdisjoint(read) for found in reached]
            for found, depends in zip(reached, by, strict=True):
                found.update(e.outputs if depends else ())
            searches = isinstance(e.primitive, OverRange) and e.primitive.searches
            if searches or not found_by_search.isdisjoint(read):
                found_by_search.update(e.outputs)
                if searches and all(by):
                    self.searches.append(e)
            elif all(by) and levels_of(e):
                self.equations.append(e)
        self.graph = self.searching = Graph(graph.inputs, [], [])
        if not (self.equations or self.searches):
            return
        wanted = [x for e in self.equations for x in (*e.outputs, *e.inputs)]
        self.graph = Graph(graph.inputs, graph.equations, wanted).pruned()
        tables = [x for e in self.searches for x in e.outputs]
        self.searching = Graph(graph.inputs, graph.equations, tables).pruned()

    def parts(self, xs: Sequence[Any]) -> list[tuple[Equation, list[Any], list[Any]]]:
        """Each operation, its results that are levels or one like the level, and its operands."""
        found, parts = iter(self.graph.evaluate(*xs)), []
        for e in self.equations:
            counted = e.outputs[:1] if jump_of(e)[1] is not None else levels_of(e)
            outs = [(x in counted, next(found)) for x in e.outputs]
            operands = [next(found) for _ in e.inputs]
            parts.append((e, [out for counts, out in outs if counts], operands))
        return parts

    def levels(self, *xs: Any) -> Any:
        """What is constant between jumps, all in one vector."""
        return levels_among(self.parts(xs))

    def heights(self, *xs: Any) -> Any:
        """The surfaces, in the places of the levels; NaN where nothing is known of one."""
        return heights_among(self.parts(xs))

    def both(self, *xs: Any) -> Any:
        """The levels, and the surfaces: two rows."""
        parts = self.parts(xs)
        return np.stack([levels_among(parts), heights_among(parts)])


def levels_among(parts: Any) -> Any:
    found = []
    for e, outs, operands in parts:
        level = jump_of(e)[1]
        outs = outs if level is None else [level(*operands, **e.static)]
        found += [np.ravel(x) * 1.0 for x in outs]
    whole = np.concatenate(found) if found else np.zeros(0)
    return np.where(whole == whole, whole, 0.5)  # NaN is a level like others


def heights_among(parts: Any) -> Any:
    found = []
    for e, outs, operands in parts:
        surface, _ = jump_of(e)
        height = np.nan if surface is None else surface(*operands, **e.static) * 1.0
        found += [np.ravel(np.broadcast_to(height, np.shape(out))) for out in outs]
    return np.concatenate(found) if found else np.zeros(0)


def may_jump(graph: Graph, groups: Sequence[Sequence[int]], xs: Sequence[Any]) -> bool:
    """Whether a graph of real numbers jumps at its surfaces, as random places on them show.

    xs: plain values of the inputs, of which the first two are varied
    """
    graph, generator = opened(graph), np.random.default_rng(0)
    surfaces = Surfaces(graph, groups)
    if not surfaces.equations:
        return False
    xs = [np.asarray(x, float) if np.asarray(x).dtype.kind == "f" else x for x in xs]
    with np.errstate(all="ignore"):
        for i in range(len(surfaces.heights(*xs))):
            found = [jump_nearby(graph, surfaces, i, xs, generator) for _ in range(6)]
            if any(x is True for x in found) or found.count(False) < 2:
                return True
    return False


def jump_nearby(graph: Graph, surfaces: Surfaces, i: int, xs: Any, generator: Any) -> bool | None:
    """Whether the graph jumps where a surface is 0 on a random way; None if that is not found."""
    at = place_on(surfaces, i, xs, generator)
    if at is None:
        return None
    values = Beside.of(graph, at)
    return values.jump if values.are_finite else None


def place_on(
    surfaces: Surfaces, i: int, xs: Any, generator: Any
) -> Callable[[float], list[Any]] | None:
    """What goes through a place where a surface is 0, on a random way, at 0; None if not found."""
    vary = lambda x, by: x + generator.normal(0, by, np.shape(x)) * (0.1 + np.abs(x))
    start = [vary(x, 0.3) if np.asarray(x).dtype.kind == "f" else x for x in xs]
    way = [generator.normal(0, 1, np.shape(x)) * (0.1 + np.abs(x)) for x in start[:2]]
    at = lambda s: [*[x + s * d for x, d in zip(start, way, strict=False)], *start[2:]]
    height = lambda s: float(surfaces.heights(*at(s))[i])
    a, b = 0.0, 0.01
    ha, hb = height(a), height(b)
    for _ in range(40):
        if not np.isfinite(hb) or ha == hb:
            break
        a, b, ha = b, b - hb * (b - a) / (hb - ha), hb
        hb = height(b)
    if not (np.isfinite(hb) and abs(hb) < 1e-9):
        return None
    return lambda s: at(b + s)


class Beside(NamedTuple):
    """All values of a graph on both sides of a place, near to it and a hundred times as far."""

    near: np.ndarray
    far: np.ndarray

    @classmethod
    def of(cls, graph: Graph, at: Callable[[float], list[Any]]) -> Beside:
        def values(side: float) -> np.ndarray:
            return np.concatenate([np.ravel(x) for x in graph.evaluate(*at(side))])

        with np.errstate(all="ignore"):
            return cls(*[np.stack([values(-by), values(by)]) for by in (1e-7, 1e-5)])

    @property
    def size(self) -> Any:
        return np.max(np.abs([self.near, self.far]), initial=0.0)

    @property
    def are_finite(self) -> bool:
        return bool(np.isfinite(self.size))

    @property
    def jump(self) -> bool:
        gap, later = [np.max(np.abs(x[1] - x[0]), initial=0.0) for x in self]
        return bool(gap > 1e-8 * self.size and gap > 0.3 * later)  # 0.01 or 0.1 of it at a kink

    @property
    def grow(self) -> bool:
        """Whether they are infinite in between, as a small root of the distance or its inverse."""
        near, far = [np.max(np.abs(x), axis=0) for x in self]
        return bool(np.any((near > GROWTH * far) & (near > 1e-8 * self.size)))


def may_jump_or_search(graph: Graph) -> bool:
    """Whether an operation has levels, or looks for jumps."""
    return any(levels_of(e) or getattr(e.primitive, "searches", False) for e in graph.equations)


class SurfacesOf:
    """The surfaces of a recorded integrand, made once for its value and all its rules.

    moves: whether derivatives of the integral are taken
    of_derivative: whether the integrand is a derivative itself
    """

    def __init__(self, program: Any, moves: bool = False, of_derivative: bool = False) -> None:
        self.program, self.graphs = program, list[Graph]()
        self.moves, self.of_derivative = moves, of_derivative
        self.made = dict[tuple[int, ...] | None, ProgramSurfaces]()
        self.jumping = False  # whether a branch may jump, or looks for jumps
        self.learned = LEARNED[0]

    def opened(self) -> list[Graph]:
        """What each branch does."""
        if self.learned != LEARNED[0]:  # integrals inside may have further branches
            self.learned, self.graphs, self.jumping = LEARNED[0], [], False
            self.made.clear()
        for branch in self.program.branches[len(self.graphs) :]:  # a rule may go one that is new
            graph = opened(branch.graph)
            self.graphs.append(with_edges_of(graph, self.of_derivative) if self.moves else graph)
            self.jumping = self.jumping or may_jump_or_search(self.graphs[-1])
            self.made.clear()
        return self.graphs

    def moving(self, operands: tuple[int, ...] | None = None) -> ProgramSurfaces:
        """Those that depend on x and on some of these operands; None: on any or none."""
        graphs = self.opened()
        if not self.jumping:
            return NONE
        if operands not in self.made:
            thetas = [branch.theta for branch in self.program.branches]
            self.made[operands] = ProgramSurfaces(graphs, thetas, operands)
        return self.made[operands]

    @property
    def decide(self) -> bool:
        graphs = self.opened()
        return self.jumping and any(levels_of(e) for graph in graphs for e in graph.equations)

    def at_limits(self, *xs: Any) -> list[Any]:
        """All that the integrand computes at both limits."""
        *theta, a, b = xs
        return [
            np.asarray(out) if type(out) is np.bool_ else out
            for branch in self.program.branches
            for x in (a, b)
            for out in branch.graph.evaluate(x, *[theta[i] for i in branch.theta])
        ]


class ProgramSurfaces:
    """Those of all branches of a recorded integrand: functions of x and theta."""

    def __init__(self, graphs: Any, thetas: Any, moving: tuple[int, ...] | None) -> None:
        self.branches = list[tuple[Surfaces, list[int]]]()
        for graph, theta in zip(graphs, thetas, strict=False):
            groups = [[0]]
            if moving is not None:
                groups.append([1 + i for i, n in enumerate(theta) if n in moving])
            found = Surfaces(graph, groups)
            if found.equations or (found.searches and moving is not None):
                self.branches.append((found, theta))

    def __bool__(self) -> bool:
        return bool(self.branches)

    def searched(self, x: Any, theta: Sequence[Any]) -> list[Any]:
        """What searches for jumps of inner integrals find."""
        return [
            found
            for each, at in self.branches
            for found in each.searching.evaluate(x, *[theta[i] for i in at])
        ]

    def levels(self, x: Any, theta: Sequence[Any]) -> Any:
        found = [each.levels(x, *[theta[i] for i in at]) for each, at in self.branches]
        return np.concatenate(found) if found else np.zeros(0)

    def both(self, x: Any, theta: Sequence[Any]) -> Any:
        found = [each.both(x, *[theta[i] for i in at]) for each, at in self.branches]
        return np.concatenate(found, axis=1) if found else np.zeros((2, 0))

    def heights(self, x: Any, theta: Sequence[Any]) -> Any:
        return np.concatenate(
            [each.heights(x, *[theta[i] for i in at]) for each, at in self.branches]
        )


NONE = ProgramSurfaces((), (), None)
