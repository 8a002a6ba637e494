"""Where a recorded integrand may jump: its operations that are constant between jumps.

    x < k        its answer is a level, constant between jumps; x - k is its surface, 0 at the jump
    x // k       likewise; the surface is how far x / k is from an integer

Each operation declares both (`Traits.surface`, `Traits.level`). What calls, compiled programs and
loops do inside of an integrand is looked into.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...compiler.graph.rewriting import inlined
from ...core.graph import Equation, Graph, Variable
from ...core.spec import zeros
from ...transforms.call import FunctionCall
from ...transforms.loops.body import recorded
from ...transforms.loops.scan_primitive import Scan

LONGEST = 100_000  # operations of a loop, all steps together, that are looked into


def what_it_does(e: Equation) -> Graph | None:
    """The operations of a call, a compiled program or a loop; None for one operation."""
    for name in ("program", "graph"):
        found = getattr(e.primitive, name, None)
        if isinstance(found, Graph):
            return found
    return unrolled(e) if isinstance(e.primitive, Scan) else None


def unrolled(e: Equation) -> Graph | None:
    """The steps of a loop one after the other, if any may jump."""
    loop = e.primitive
    body = inlined(loop.body, what_it_does)
    if not any(map(levels_of, body.equations)) or len(body.equations) * loop.length > LONGEST:
        return None
    examples = [zeros(x.spec) if type(x) is Variable else x for x in e.inputs]
    return recorded(lambda *xs: loop.unrolled(xs), examples)


def levels_of(e: Equation) -> tuple[Variable, ...]:
    """The results of an operation on numbers that are constant between jumps."""
    if not any(type(x) is Variable and x.spec.dtype.kind in "fc" for x in e.inputs):
        return ()
    if e.primitive.steps or e.primitive.level is not None:
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
            if e.primitive.level is not None:
                yield e, [e.primitive.level(*operands, **e.static)], operands
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
            surface = e.primitive.surface
            height = np.nan if surface is None else surface(*operands, **e.static) * 1.0
            found += [np.ravel(np.broadcast_to(height, np.shape(level))) for level in levels]
        return np.concatenate(found) if found else np.zeros(0)


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
