"""Apply one path inside a transformation, as operations that return its results.

Its graph is divided by the youngest trace that each result depends on, and each part is one
operation. Under a batch the first example answers the guards whose answers can't depend on the
example. The trace is told what it would have seen of the function itself: the decisions of a search
that has no derivative.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.array import Array, arrayed
from ...core.graph import Graph, Variable
from ...core.locked import lock
from ...core.spec import is_inexact
from ...core.storage import current
from ...core.trace import CONSTANT, FEW, running
from ...core.tree import unflatten
from ...primitives.shapes import astype_p
from ...transforms.loops.while_primitive import While
from ..loops.roll import rolled
from ..path import Path
from ..record.guards import QUESTIONS
from ..record.recording import as_kind
from .compound import Compound, Ready, batched
from .second_derivatives import Kinks


def is_nested(x: Any) -> bool:
    """Whether x belongs to several transformations."""
    return type(x) is Array and type(x.payload) is Array


class PathNode:
    """A path in a transformation."""

    def __init__(self, path: Path, name: str) -> None:
        recording = path.recording
        graph, n = recording.graph, path.n_results
        self.recording, self.name = recording, name
        self.n = len(graph.inputs)
        outputs = graph.outputs[:n]
        program = Graph(graph.inputs, graph.equations, outputs).pruned()
        self.graph, self.kinks = rolled(program), Kinks(name, program)
        reached = origins(graph)
        self.origins = [reached[x] for x in outputs]
        moving = origins(graph, moving=True)
        self.moving = [moving[x] for x in outputs]
        self.asked = 0
        for x in graph.outputs[n:]:
            self.asked |= reached[x] if isinstance(x, Variable) else 0
        kinds = [
            kind
            for x, kind in zip(recording.outputs, recording.kinds, strict=True)
            if isinstance(x, Variable)
        ]
        self.arrays = {  # results without axes that are arrays and no scalars
            j
            for j, x in enumerate(self.graph.outputs)
            if kinds[j] is np.ndarray and not x.spec.shape
        }
        self.plain = not (recording.written or recording.suspends or recording.stores)
        # Whether a batch runs a rule of the user's: the way back would run it a second time.
        self.ruled = any("batch" in vars(e.primitive) for e in program.equations)
        self.decisions, self.line = decisions(path, reached)
        self.plans: dict[Any, Any] = {}
        # The operation, where its result is all that there is, and needs no more than to be bound.
        self.sole: Compound | None = None
        alone = recording.structure is None and recording.placed == [None] and len(kinds) == 1
        alone = alone and recording.sources == [None] and recording.locked == [False]
        alone = alone and kinds != [float]
        if alone and not self.arrays and is_inexact(self.graph.outputs[0].spec.dtype):
            ((compound, _, inputs),) = self.plan([0] * self.n) or [(None, None, ())]
            self.sole = compound if len(inputs) == self.n else None

    def stands_for(self, xs: Sequence[Any]) -> bool:
        """Whether the function would take this path on these Arrays."""
        if not self.plain or (any(map(is_nested, xs)) and self.kinks.met(xs)):
            return False
        asked = (1 << self.n) - 1 if self.ruled else self.asked
        return not any(asked >> i & 1 and batched(xs[i]) for i in range(self.n))

    def alone(self, xs: Sequence[Any], values: Sequence[Any]) -> Any:
        """The same for Arrays none of which is mapped; the short way for one result of them all."""
        trace = xs[0].within
        if self.sole is None or any([x.within is not trace for x in xs]):  # noqa: C419  # hot
            return self(xs, values)
        if self.decisions:
            trace.repeated(self.decisions, self.line)
        return trace.process(self.sole, xs, {"ready": Ready(values[:1])})

    def __call__(self, xs: Sequence[Any], values: Sequence[Any]) -> Any:
        """The output tree; `values` are the results for the plain values of xs."""
        xs = xs[: self.n]
        if self.decisions:
            for trace in {current(x).within for x in xs if type(x) is Array}:
                trace.repeated(self.decisions, self.line)
        births = [current(x).within.birth if type(x) is Array else -1 for x in xs]
        ages = sorted({-1, *births})
        ranks = tuple([ages.index(birth) for birth in births])
        plan = self.plans.get(ranks)
        if plan is None:
            plan = self.plans[ranks] = self.plan(births)
        results: list[Any] = list(values)
        ready = not any(map(batched, xs))
        traced = set()
        for compound, at, inputs in plan:
            static = {"ready": Ready(tuple([values[j] for j in at]))} if ready else {}
            outs = compound(*[xs[i] for i in inputs], **static)
            for j, out in zip(at, outs if compound.n_out is not None else (outs,), strict=True):
                results[j] = out
                traced.add(j)
        inside = running() is not None
        leaves: list[Any] = []
        k, recording = 0, self.recording
        about = recording.kinds, recording.placed, recording.locked, recording.sources
        for x, kind, placed, locked, source in zip(recording.outputs, *about, strict=True):
            if source is not None:
                leaves.append(source(xs, leaves))
                k += isinstance(x, Variable)
                continue
            if not isinstance(x, Variable):
                out = as_kind(x, kind)
            else:
                out = results[k]
                if type(out) is not Array:
                    out = as_kind(out, kind)
                elif kind is float:
                    out = out.within.number(out)
                elif kind is np.ndarray and not out.shape:
                    out = arrayed(out)
                k += 1
            if placed is not None and kind is np.ndarray and out.shape:
                axes, dtype = placed
                axes = tuple(range(out.ndim)) if axes is None else axes
                out = astype_p(out, dtype=dtype, order=axes)
            if inside and type(out) is np.ndarray:
                out = Array(out, CONSTANT, None)  # it may be assigned to
            if locked and type(out) is Array:
                lock(out)
            leaves.append(out)
        return unflatten(self.recording.structure, leaves)

    def plan(self, births: Sequence[int]) -> list[Any]:
        """The results by the youngest trace that they depend on, and their operands."""
        groups: dict[Any, list[int]] = {}
        for j, origin in enumerate(self.origins):
            youngest = max([b for i, b in enumerate(births) if origin >> i & 1], default=-1)
            if youngest >= 0:
                still = not any(b >= 0 and self.moving[j] >> i & 1 for i, b in enumerate(births))
                groups.setdefault((youngest, still), []).append(j)
        plan = []
        for at in groups.values():
            needed = moving = 0
            for j in at:
                needed |= self.origins[j]
                moving |= self.moving[j]
            inputs = [i for i in range(self.n) if needed >> i & 1]
            graph = Graph(
                [self.graph.inputs[i] for i in inputs],
                self.graph.equations,
                [self.graph.outputs[j] for j in at],
            ).pruned()
            compound = Compound(self.name, graph)
            compound.nondiff = tuple([k for k, i in enumerate(inputs) if not moving >> i & 1])
            compound.arrays = [k for k, j in enumerate(at) if j in self.arrays]
            plan.append((compound, at, inputs))
        return plan


def decisions(path: Path, reached: dict[Any, int]) -> tuple[int, Any]:
    """What a trace would have heard of the function itself, which a path does not say again.

    How many decisions were made of floating inputs, and the line of the first branch that they
    chose, or of the first `int(x)`: None without either, () of the test of a loop and of a cast to
    integers. Of a loop, whose steps are not counted, a trace would have heard a few times.
    """
    graph = path.recording.graph
    floating = sum([1 << i for i, x in enumerate(graph.inputs) if is_inexact(x.spec.dtype)])

    def moves(x: Any) -> bool:
        return isinstance(x, Variable) and bool(reached[x] & floating)

    count, line = 0, None
    for equation in graph.equations:
        if any(map(moves, equation.inputs)):
            loop = isinstance(equation.primitive, While)
            count += FEW if loop else equation.primitive.decides
            cast = equation.primitive is astype_p and equation.outputs[0].spec.dtype.kind in "biu"
            count += cast
            line = () if loop or cast else line
    if any(map(moves, graph.outputs[path.n_results :])):
        asked = [guard for guard in path.guards if guard.asked in QUESTIONS]
        branches = [guard.line for guard in asked if guard.asked in ("bool(x)", "int(x)")]
        count, line = count + len(asked), branches[0] if branches else line
    return count, line


def origins(graph: Graph, moving: bool = False) -> dict[Any, int]:
    """For each variable the inputs that it depends on, or moves with, as bits."""
    found = {x: 1 << i for i, x in enumerate(graph.inputs)}
    if moving:
        found = {x: bit if is_inexact(x.spec.dtype) else 0 for x, bit in found.items()}
    for equation in graph.equations:
        primitive, bits = equation.primitive, 0
        if not moving or not (primitive.inert or primitive.constant):
            for i, x in enumerate(equation.inputs):
                if isinstance(x, Variable) and not (moving and i in primitive.nondiff):
                    bits |= found[x]
        for x in equation.outputs:
            found[x] = bits if not moving or is_inexact(x.spec.dtype) else 0
    return found
