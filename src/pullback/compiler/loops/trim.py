"""Prepare loops for machine code: optimise their bodies and remove unused results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.graph import Equation, Graph, Variable
from ...core.spec import spec_of
from ...primitives.shapes import astype_p
from ...transforms.loops.scan_primitive import Scan
from ...transforms.loops.while_primitive import Trips, While, WhilePull
from ..graph.optimise import opened, optimised
from ..graph.rewriting import inlined
from ..lower.scan import Rolled
from ..lower.while_ import RolledPull, RolledWhile
from .accumulate import accumulated
from .hoist import hoisted


def prepared(graph: Graph) -> Graph:
    """The graph with its loops made ready; what no output needs is left out of their bodies."""
    if not any(type(e.primitive) in TRIMMED for e in graph.equations):
        return graph
    needed = {x for x in graph.outputs if isinstance(x, Variable)}
    equations = []
    for old in reversed(graph.equations):
        if not any(x in needed for x in old.outputs):
            continue
        trim = TRIMMED.get(type(old.primitive))
        made = [old] if trim is None else trim(old, needed)
        equations += made[::-1]
        needed.update([x for e in made for x in e.inputs if isinstance(x, Variable)])
    return Graph(graph.inputs, equations[::-1], graph.outputs)


def scan(e: Equation, needed: set[Variable]) -> list[Equation]:
    """A loop with the carries, rows and results that are needed, and what is done before it."""
    of = e.primitive
    body = of.derive("optimised", lambda: accumulated(optimised(inlined(of.body))))
    n_consts, n = of.n_consts, of.n_carry
    carries = body.inputs[n_consts : n_consts + n]
    kept = {i for i, x in enumerate(e.outputs) if x in needed}
    while True:
        part = prepared(Graph(body.inputs, body.equations, [body.outputs[i] for i in sorted(kept)]))
        part = part.pruned()
        read = {x for f in part.equations for x in f.inputs if isinstance(x, Variable)}
        read |= {x for x in part.outputs if isinstance(x, Variable)}
        more = {i for i, x in enumerate(carries) if x in read} - kept
        if not more:
            break
        kept |= more
    at = sorted(kept)
    inputs = [
        i
        for i, x in enumerate(body.inputs)
        if (i - n_consts in kept if n_consts <= i < n_consts + n else x in read)
    ]
    whole = Graph([body.inputs[i] for i in inputs], part.equations, part.outputs)
    counts = sum([i < n_consts for i in inputs]), sum([i < n for i in at])
    outputs, xs = tuple([e.outputs[i] for i in at]), [e.inputs[i] for i in inputs]
    n_same, n_carry = counts
    before, whole, new = hoisted(whole, n_same, xs)
    rolled = Rolled(computed(whole), n_same + len(new), n_carry, of)
    xs[n_same:n_same] = new
    return [*before, Equation(rolled, tuple(xs), outputs, {})]


def awaited(e: Equation, needed: set[Variable]) -> list[Equation]:
    """A `While` with the carries and rows that are needed."""
    of = e.primitive
    n_consts, n = of.n_consts, of.n_carry
    kept = {i for i, x in enumerate(e.outputs[:n]) if x in needed}
    rows = [i for i, x in enumerate(e.outputs[n + 1 :]) if x in needed]
    return waiting(of, e.inputs, e.outputs, kept | set(rows), rows, n_consts, n)


def counted(e: Equation, needed: set[Variable]) -> list[Equation]:
    """`Trips`: a `While` of which the number of steps is needed."""
    of = e.primitive.loop
    unread = [Variable(x) for x in of.specs]
    return waiting(of, e.inputs, [*unread, *e.outputs], set(), [], of.n_consts, of.n_carry)


def waiting(
    of: While, xs: Any, outs: Any, kept: set[int], rows: list[int], n_consts: int, n: int
) -> list[Equation]:
    cond, body = optimised(inlined(of.cond)), optimised(inlined(of.body))
    asked = closed(cond, [*cond.outputs])
    kept |= carries_of(asked, n_consts)
    body = narrowed(body, kept, n_consts)
    at = sorted(kept)
    read = inputs_of(asked) | inputs_of(body)
    inputs = [i for i in range(n_consts) if i in read] + [n_consts + i for i in at]
    n_same, operands = len(inputs) - len(at), [xs[i] for i in inputs]
    before, body, new = hoisted(picked(body, inputs), n_same, operands)
    asked, more = (
        picked(asked, inputs),
        [Variable(x.spec) for x in body.inputs[n_same:][: len(new)]],
    )
    first, rest = asked.inputs[:n_same], asked.inputs[n_same:]
    asked = Graph([*first, *more, *rest], asked.equations, asked.outputs)
    operands[n_same:n_same] = new
    rolled = RolledWhile(
        computed(asked),
        computed(body),
        n_same + len(new),
        [at.index(i) for i in rows],
        of.capacity,
    )
    outputs = [*[outs[i] for i in at], outs[n], *[outs[n + 1 + i] for i in rows]]
    return [*before, Equation(rolled, tuple(operands), tuple(outputs), {})]


def pulled(e: Equation, needed: set[Variable]) -> list[Equation]:
    """A `WhilePull` with the cotangents that are needed, and the carries that those are of."""
    of = e.primitive
    n_consts, n_bars = of.n_consts, of.n_bars
    pull = optimised(inlined(of.pull_graph))
    bars = {i for i, x in enumerate(e.outputs) if x in needed}
    while True:
        part = closed(pull, [pull.outputs[i] for i in sorted(bars)])
        read = inputs_of(part)
        more = {i for i in range(n_bars) if n_consts + i in read} - bars
        if not more:
            break
        bars |= more
    kept = {i - n_consts - n_bars for i in read if i >= n_consts + n_bars}
    body = narrowed(optimised(inlined(of.body)), kept, n_consts)
    consts = sorted({i for i in read | inputs_of(body) if i < n_consts})
    b, c = sorted(bars), sorted(kept)
    carry = [n_consts + i for i in c]
    moving = [n_consts + i for i in b]
    rolled = RolledPull(
        computed(picked(body, [*consts, *carry])),
        computed(picked(part, [*consts, *moving, *[n_bars + i for i in carry]])),
        len(consts),
        of.capacity,
    )
    places = [*consts, *moving, n_consts + n_bars, *[n_bars + 1 + i for i in carry]]
    outputs = tuple([e.outputs[i] for i in b])
    return [Equation(rolled, tuple([e.inputs[i] for i in places]), outputs, {})]


def closed(graph: Graph, outputs: Sequence[Any]) -> Graph:
    """The part of a graph that gives these outputs, its loops made ready."""
    return prepared(Graph(graph.inputs, graph.equations, outputs)).pruned()


def narrowed(body: Graph, kept: set[int], n_consts: int) -> Graph:
    """The body for these carries, and those that they are made of, which are added to `kept`."""
    while True:
        part = closed(body, [body.outputs[i] for i in sorted(kept)])
        more = carries_of(part, n_consts) - kept
        if not more:
            return part
        kept |= more


def inputs_of(graph: Graph) -> set[int]:
    """Which inputs a graph reads."""
    read = {x for e in graph.equations for x in e.inputs if isinstance(x, Variable)}
    read |= {x for x in graph.outputs if isinstance(x, Variable)}
    return {i for i, x in enumerate(graph.inputs) if x in read}


def carries_of(graph: Graph, n_consts: int) -> set[int]:
    return {i - n_consts for i in inputs_of(graph) if i >= n_consts}


def picked(graph: Graph, at: Sequence[int]) -> Graph:
    return Graph([graph.inputs[i] for i in at], graph.equations, graph.outputs)


def computed(graph: Graph) -> Graph:
    """The graph with constants among its outputs written by equations."""
    equations, outputs = list(graph.equations), []
    for x in graph.outputs:
        if not isinstance(x, Variable):
            value = np.asarray(opened(x))
            x = Variable(spec_of(value))
            equations.append(Equation(astype_p, (value,), (x,), {"dtype": value.dtype}))
        outputs.append(x)
    return Graph(graph.inputs, equations, outputs)


TRIMMED = {Scan: scan, While: awaited, Trips: counted, WhilePull: pulled}
