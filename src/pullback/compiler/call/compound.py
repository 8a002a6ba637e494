"""A graph as one primitive, whose rules are machine code.

Its jvp, vjp and batch rules are graphs too, traced when first needed, and become such primitives
themselves. So derivatives of any order and nesting run as machine code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.array import Array
from ...core.cotangent import Cotangent, Masked, dense, fit, masked
from ...core.graph import Graph, Variable
from ...core.node import constant_node
from ...core.primitive import Primitive
from ...core.rules import match
from ...core.spec import is_inexact, spec_of
from ...core.storage import current
from ...core.trace import CONSTANT, run
from ...core.tree import flatten, unflatten
from ...transforms.backward import backward
from ...transforms.batch import BatchTrace, batch_trace
from ...transforms.forward import ForwardTrace
from ...transforms.returned import settle
from ...transforms.reverse import ReverseTrace
from ..entry.python_calls import SpecChangedError
from ..facts.call_monitor import Watch, is_profiled
from ..facts.halting import Halt, HandledAgain
from ..fall_back import attempted
from ..first_call import Faster, faster
from ..path import SECOND
from ..program import build
from ..record.compile_trace import CompileTrace
from ..record.guards import Questions
from ..record.verify import example

RULES = 64  # of one primitive, before they are forgotten


def batched(x: Any) -> bool:
    while type(x) is Array:
        if isinstance(x.within, BatchTrace):
            return True
        x = x.payload
    return False


def examples(xs: Sequence[Any]) -> list[Any] | None:
    """The plain values of operands, of mapped ones of the first example; None if one has none."""
    values = [example(x) if type(x) is Array else x for x in xs]
    return None if any(x is None for x in values) else values


class Ready:
    """Results that have been computed already; they are used once."""

    __slots__ = ("outs",)

    def __init__(self, outs: Any) -> None:
        self.outs = outs

    def take(self) -> Any:
        outs, self.outs = self.outs, None
        return outs


class Compound(Primitive):
    """A graph as one primitive. Its rules are graphs that are staged when they are needed.

    Structure is kept: what has no derivative is None, and what is present in a part only is masked,
    as it would be if each operation were a node of its own.
    """

    reads = "xs"
    structured = True
    made_of = ("name", "graph")

    def __init__(self, name: str, graph: Graph) -> None:  # it is not entered among the primitives
        self.name, self.graph = name, graph
        n = len(graph.outputs)
        self.n_out = None if n == 1 else n
        self.specs = tuple(
            [spec_of(x) if not isinstance(x, Variable) else x.spec for x in graph.outputs]
        )
        self.nondiff = tuple(
            [i for i, x in enumerate(graph.inputs) if not is_inexact(x.spec.dtype)]
        )
        self.arrays: Sequence[int] = ()
        self.rules: dict[Any, Any] = {}
        self.compute: Callable[..., Any] = graph.evaluate
        self.program: Any = None
        self.runs = 0

    def value(self, *xs: Any, ready: Ready | None = None) -> Any:
        outs = None if ready is None else ready.take()
        if outs is None:
            self.prepare()
            try:
                outs = self.compute(*xs)
            except SpecChangedError:
                outs = self.graph.evaluate(*xs)
        if self.arrays:
            outs = tuple([np.array(x) if i in self.arrays else x for i, x in enumerate(outs)])
        return outs if self.n_out is not None else outs[0]

    @property
    def is_prepared(self) -> bool:
        """Whether `compute` is machine code, which will be no other."""
        return self.runs > SECOND and self.program is not None and self.program.native

    def prepare(self, level: int = 0) -> None:
        """Make machine code, and better machine code once there were enough runs."""
        if self.runs > SECOND:
            return
        if self.program is None:
            self.program = attempted(lambda: build(self.graph, level), self.name)
            if self.program is None:
                self.runs = SECOND + 1  # it is not tried again
                return
            self.compute = self.program.entry
        self.runs += 1
        if self.runs == SECOND:
            self.program.improve_later()

    def spec(self, *xs: Any, ready: Any = None) -> Any:
        return self.specs if self.n_out is not None else self.specs[0]

    def jvp(self, out: Any, xs: Any, x_dots: Any, ready: Any = None) -> Any:
        moving = tuple([dot is not None for dot in x_dots])

        def push(*leaves: Any) -> list[Any]:
            return pushed(self.graph, leaves, moving)

        dots = [dot for dot in x_dots if dot is not None]
        out_dots = self.apply(("jvp", moving), push, [*xs, *dots])
        return tuple(out_dots) if self.n_out is not None else out_dots[0]

    def pull(self, out_bar: Any, residual: Any, wanted: Any) -> Any:
        n = self.n_out
        bars = [out_bar] if n is None else [out_bar.bars.get(i) for i in range(n)]
        leaves: list[Any] = []
        forms: list[str | None] = []
        for bar, spec in zip(bars, self.specs, strict=True):
            if issubclass(type(bar), Cotangent):
                bar = bar.present() if bar.lazy else bar
            if issubclass(type(bar), Cotangent):
                bar = masked(bar, True)
                if bar.mask is True:
                    bar = bar.value
            if bar is None:
                forms.append(None)
            elif type(bar) is Masked:
                forms.append("masked")
                leaves += [bar.mask, fit(bar.value, spec)]
            else:
                forms.append("dense")
                leaves.append(fit(bar, spec))
        mask = tuple([parent is not None for parent in wanted])

        def back(*leaves: Any) -> list[Any]:
            return pulled(self.graph, leaves, mask, forms)

        xs = residual.opened().xs
        found = self.apply(("vjp", mask, tuple(forms)), back, [*xs, *leaves])
        return [
            match(Masked(*x_bar) if type(x_bar) is tuple else x_bar, x, "vjp", self.name)
            for x_bar, x in zip(found, xs, strict=True)
        ]

    def batch(self, xs: Any, mapped: Any, size: int, ready: Any = None) -> Any:
        def spread(*leaves: Any) -> list[Any]:
            return mapped_over(self.graph, leaves, mapped, size)

        outs = self.apply(("batch", mapped, size), spread, xs)
        return tuple(outs) if self.n_out is not None else outs[0]

    def apply(self, key: Any, rule: Callable[..., Any], xs: Sequence[Any]) -> Any:
        """The results of a rule, which are a tree of arrays, by its graph."""
        found = self.rules.get(key)
        if found is None:
            found = derived(f"{key[0]} of {self.name}", rule, xs)
            if len(self.rules) >= RULES:
                self.rules.clear()
            self.rules[key] = found
        if found == "plain":
            return rule(*xs)
        structure, leaves, at, compound = found
        if compound is None:
            return unflatten(structure, leaves)
        outs = compound(*xs)
        leaves = list(leaves)
        for i, out in zip(at, outs if compound.n_out is not None else (outs,), strict=True):
            leaves[i] = out
        return unflatten(structure, leaves)


class StagedRule(NamedTuple):
    """A rule that was run on examples, and the operations that it was made of."""

    inputs: list[Variable]
    notes: Questions
    structure: Any
    leaves: list[Any]  # of its results; None where a variable is
    variables: list[Variable]
    at: list[int]  # which leaves they are


def staged(rule: Callable[..., Any], values: Sequence[Any]) -> StagedRule | None:
    """Run a rule on examples; None if it's about to run the user's code, or has effects."""
    watch = Watch(expected=())
    trace = CompileTrace("compile", rule, Questions(watch, traced=True))
    notes = trace.state
    inputs = [Variable(spec_of(x)) for x in values]
    arrays = [Array(x, trace, v) for x, v in zip(values, inputs, strict=True)]
    with HandledAgain():
        try:
            with faster(Faster()), watch, np.errstate(all="ignore"):
                out = run(trace, rule, arrays, {})
            leaves, structure = flatten(out)
            leaves = [settle(leaf, trace) for leaf in leaves]
            at = [i for i, leaf in enumerate(leaves) if type(leaf) is Array]
            variables = [trace.variable(leaves[i]) for i in at]
        except Halt:
            variables = None
        finally:
            trace.end()
    if variables is None:
        return None
    kept = [None if type(leaf) is Array else leaf for leaf in leaves]
    if notes.captured or watch.effects:
        return None
    return StagedRule(inputs, notes, structure, kept, variables, at)


def derived(name: str, rule: Callable[..., Any], xs: Sequence[Any]) -> Any:
    """A rule as a primitive: (structure of the results, leaves, which of them it computes, it).

    "plain" if the rule does not always do the same, or runs code of the user's.
    """
    values = examples(xs)
    if values is None or is_profiled():
        return "plain"
    found = staged(rule, values)
    if found is None or found.notes.guards:
        return "plain"
    graph = Graph(found.inputs, found.notes.equations, found.variables).pruned()
    compound = Compound(name, graph) if found.variables else None
    return found.structure, found.leaves, found.at, compound


def pushed(graph: Graph, leaves: Sequence[Any], moving: Sequence[bool]) -> list[Any]:
    """The tangents of a graph's results; None for zero."""
    n = len(graph.inputs)
    dots = iter(leaves[n:])
    trace = ForwardTrace("jvp")
    try:
        outs = graph.evaluate(
            *[Array(x, trace, next(dots)) if m else x for x, m in zip(leaves, moving, strict=False)]
        )
        return [
            stripped(dense(x.node), trace)
            if type(x) is Array and current(x).within is trace
            else None
            for x in outs
        ]
    finally:
        trace.end()


def pulled(
    graph: Graph, leaves: Sequence[Any], wanted: Sequence[bool], forms: Sequence[Any]
) -> list[Any]:
    """The cotangents of a graph's inputs: None, an array, or (mask, array)."""
    n = len(graph.inputs)
    rest = iter(leaves[n:])
    trace = ReverseTrace("vjp")
    nodes = [constant_node() if want else None for want in wanted]
    try:
        outs = graph.evaluate(
            *[
                x if node is None else Array(x, trace, node)
                for x, node in zip(leaves, nodes, strict=False)
            ]
        )
        seeds = []
        for out, form in zip(outs, forms, strict=True):
            if form is None:
                continue
            bar = next(rest) if form == "dense" else Masked(next(rest), next(rest))
            if type(out) is Array and current(out).within is trace:
                seeds.append((out.node, bar))
        backward(seeds)
        return [None if node is None else parted(node, trace) for node in nodes]
    finally:
        trace.end()


def parted(node: Any, trace: Any) -> Any:
    bar: Any = getattr(node, "bar", None)
    node.bar = None
    if issubclass(type(bar), Cotangent) and bar.lazy:
        bar = bar.present()
    if issubclass(type(bar), Cotangent):
        bar = masked(bar, True)
        if bar.mask is not True:
            return stripped(bar.mask, trace), stripped(bar.value, trace)
        bar = bar.value
    return stripped(bar, trace)


def stripped(x: Any, trace: Any) -> Any:
    """The result of a rule that closes over an Array of a trace, without the trace."""
    while type(x) is Array and (current(x).within is trace or x.within is CONSTANT):
        x = x.payload
    return x


def mapped_over(
    graph: Graph, leaves: Sequence[Any], mapped: Sequence[bool], size: int
) -> list[Any]:
    """The results for all examples, the batch axis in front."""
    trace = batch_trace(None, size)
    try:
        outs = graph.evaluate(
            *[Array(x, trace, None) if m else x for x, m in zip(leaves, mapped, strict=True)]
        )
        return [
            x.payload
            if type(x) is Array and current(x).within is trace
            else np.broadcast_to(x, (size, *x.shape))
            for x in outs
        ]
    finally:
        trace.end()
