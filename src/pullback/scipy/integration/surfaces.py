"""Where a recorded integrand may jump: its operations that are constant between jumps.

    x < k        its answer is a level, constant between jumps; x - k is its surface, 0 at the jump
    x // k       likewise; the surface is how far x / k is from an integer

Each operation declares both (`Traits.surface`, `Traits.level`). What calls, compiled programs and
loops do inside of an integrand is looked into.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...compiler.graph.rewriting import inlined
from ...core.graph import Equation, Graph, Variable
from ...core.spec import zeros
from ...transforms.call import FunctionCall
from ...transforms.loops.body import recorded
from ...transforms.loops.scan_primitive import Scan
from ..solving.motion import Described

LONGEST = 100_000  # operations of a loop, all steps together, that are looked into


def what_it_does(e: Equation) -> Graph | None:
    """The operations of a call, a compiled program or a loop; None for one operation."""
    for name in ("program", "graph"):
        found = getattr(e.primitive, name, None)
        if isinstance(found, Graph):
            return found
    if isinstance(e.primitive, Described) and e.primitive.n_out is None:
        graph = written(lambda *xs: e.primitive.program(*xs, **e.static), e)
        return graph if any(map(levels_of, inlined(graph, what_it_does).equations)) else None
    return unrolled(e) if isinstance(e.primitive, Scan) else None


def written(program: Callable[..., Any], e: Equation) -> Graph:
    """The graph of a program that does what an operation does."""
    examples = [zeros(x.spec) if type(x) is Variable else x for x in e.inputs]
    return recorded(program, examples)


def unrolled(e: Equation) -> Graph | None:
    """The steps of a loop one after the other, if any may jump."""
    loop = e.primitive
    body = inlined(loop.body, what_it_does)
    if not any(map(levels_of, body.equations)) or len(body.equations) * loop.length > LONGEST:
        return None
    return written(lambda *xs: loop.unrolled(xs), e)


def jump_of(e: Equation) -> tuple[Any, Any]:
    """The surface and the level that an operation declares for its operands."""
    p = e.primitive
    crosses = p.cut is not None and any(
        type(x) is Variable and x.spec.dtype.kind == "c" for x in e.inputs
    )
    return p.cut if crosses else (p.surface, p.level)


def levels_of(e: Equation) -> tuple[Variable, ...]:
    """The results of an operation on numbers that are constant between jumps."""
    if not any(type(x) is Variable and x.spec.dtype.kind in "fc" for x in e.inputs):
        return ()
    if e.primitive.steps or jump_of(e)[1] is not None:
        return e.outputs
    return tuple([x for x in e.outputs if x.spec.dtype.kind in "biu"])


class OverRange(FunctionCall):
    """A call on (*theta, a, b) that goes over x from a to b."""


class Surfaces:
    """The operations of a graph that jump, and depend on inputs of each of these groups.

    Calls, compiled programs and loops of the graph are replaced by what they do.
    """

    def __init__(self, graph: Graph, groups: Sequence[Sequence[int]]) -> None:
        reached = [{graph.inputs[i] for i in group} for group in groups]
        self.equations: list[Equation] = []
        for e in graph.equations:
            read = {x for x in e.inputs if type(x) is Variable}
            by = [not found.isdisjoint(read) for found in reached]
            for found, depends in zip(reached, by, strict=True):
                found.update(e.outputs if depends else ())
            if all(by) and levels_of(e):
                self.equations.append(e)
        wanted = [x for e in self.equations for x in (*e.outputs, *e.inputs)]
        self.graph = Graph(graph.inputs, graph.equations, wanted).pruned()

    def parts(self, xs: Sequence[Any]) -> Iterator[tuple[Equation, list[Any], list[Any]]]:
        """Each operation, what of it is constant between jumps, and its operands."""
        found = iter(self.graph.evaluate(*xs))
        for e in self.equations:
            counted = levels_of(e)
            outs = [(x in counted, next(found)) for x in e.outputs]
            operands = [next(found) for _ in e.inputs]
            level = jump_of(e)[1]
            if level is not None:
                yield e, [level(*operands, **e.static)], operands
            else:
                yield e, [out for counts, out in outs if counts], operands

    def levels(self, *xs: Any) -> Any:
        """What is constant between jumps, all in one vector."""
        found = [np.ravel(x) * 1.0 for _, levels, _ in self.parts(xs) for x in levels]
        whole = np.concatenate(found) if found else np.zeros(0)
        return np.where(whole == whole, whole, 0.5)  # NaN is a level like others

    def heights(self, *xs: Any) -> Any:
        """The surfaces, in the places of the levels; NaN where nothing is known of one."""
        found = []
        for e, levels, operands in self.parts(xs):
            surface, _ = jump_of(e)
            height = np.nan if surface is None else surface(*operands, **e.static) * 1.0
            found += [np.ravel(np.broadcast_to(height, np.shape(level))) for level in levels]
        return np.concatenate(found) if found else np.zeros(0)


def may_jump(graph: Graph, groups: Sequence[Sequence[int]], xs: Sequence[Any]) -> bool:
    """Whether a graph of real numbers jumps at its surfaces, as random places on them show.

    xs: plain values of the inputs, of which the first two are varied
    """
    graph, generator = inlined(graph, what_it_does), np.random.default_rng(0)
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
    sides = [np.concatenate([np.ravel(x) for x in graph.evaluate(*at(b + by))])
             for by in (-1e-6, 1e-6)]  # fmt: skip
    size = np.max(np.abs(sides))
    return bool(np.max(np.abs(sides[1] - sides[0])) > 1e-3 * size) if np.isfinite(size) else None


class SurfacesOf:
    """The surfaces of a recorded integrand, made once for its value and all its rules.

    An integrand that integrates itself has none: to look for jumps takes an inner integral for each
    of a thousand places, and what its rules compare is no jump of its own.
    """

    def __init__(self, program: Any) -> None:
        self.program, self.graphs = program, list[Graph]()
        self.made = dict[tuple[int, ...] | None, ProgramSurfaces]()

    def moving(self, operands: tuple[int, ...] | None = None) -> ProgramSurfaces:
        """Those that depend on x and on some of these operands; None: on any or none."""
        branches = self.program.branches
        for branch in branches[len(self.graphs) :]:  # a rule may go a way that is new
            self.graphs.append(inlined(branch.graph, what_it_does))
            self.made.clear()
        if operands not in self.made:
            equations = [e for graph in self.graphs for e in graph.equations]
            nests = any(isinstance(e.primitive, OverRange) for e in equations)
            thetas = [] if nests else [branch.theta for branch in branches]
            self.made[operands] = ProgramSurfaces(self.graphs, thetas, operands)
        return self.made[operands]


class ProgramSurfaces:
    """Those of all branches of a recorded integrand: functions of x and theta."""

    def __init__(self, graphs: Any, thetas: Any, moving: tuple[int, ...] | None) -> None:
        self.branches = list[tuple[Surfaces, list[int]]]()
        for graph, theta in zip(graphs, thetas, strict=False):
            groups = [[0]]
            if moving is not None:
                groups.append([1 + i for i, n in enumerate(theta) if n in moving])
            found = Surfaces(graph, groups)
            if found.equations:
                self.branches.append((found, theta))

    def __bool__(self) -> bool:
        return bool(self.branches)

    def levels(self, x: Any, theta: Sequence[Any]) -> Any:
        found = [each.levels(x, *[theta[i] for i in at]) for each, at in self.branches]
        return np.concatenate(found) if found else np.zeros(0)

    def heights(self, x: Any, theta: Sequence[Any]) -> Any:
        return np.concatenate(
            [each.heights(x, *[theta[i] for i in at]) for each, at in self.branches]
        )
