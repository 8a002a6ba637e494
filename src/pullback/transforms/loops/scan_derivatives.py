"""The derivatives and batches of a loop: they're loops, with bodies recorded from its body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.graph import Graph, Variable
from ...core.spec import spec_of
from ..batch import vmap
from ..forward import jvp
from ..reverse import vjp
from .body import recorded
from .element_residuals import picked

if TYPE_CHECKING:
    from .scan_primitive import Scan


class Derived:
    """A loop made from another: it takes the operands named in `kept` of those that it is given.

    saved: values of the parent's body that are its last operands.
    """

    def __init__(
        self,
        body: Graph,
        counts: tuple[int, int],
        parent: Scan,
        reverse: bool,
        examples: Any,
        saved: Sequence[Variable] = (),
    ) -> None:
        self.saved = saved
        n_consts, n_carry = counts
        used = body.read()
        self.kept = [
            i for i, x in enumerate(body.inputs) if x in used or n_consts <= i < n_consts + n_carry
        ]
        n_consts = sum([i < n_consts for i in self.kept])
        body = Graph([body.inputs[i] for i in self.kept], body.equations, body.outputs)
        examples = [examples[i] for i in self.kept]
        self.scan = type(parent)(body, n_consts, n_carry, parent.length, reverse, examples)

    def __call__(self, xs: Sequence[Any]) -> Any:
        return self.scan(*[xs[i] for i in self.kept])


def forward_loop(scan: Scan, moves: list[bool], outs_move: list[bool]) -> Derived:
    """The loop that carries tangents along; after each part of its results are their tangents."""
    counts = [len(part) for part in scan.parts(moves)]
    moving = [sum(part) for part in scan.parts(moves)]
    n = scan.n_carry
    carry_moves = moves[scan.n_consts : scan.n_consts + n]

    def body(*inputs: Any) -> Any:
        xs: list[Any] = []
        dots: list[Any] = []
        rest = list(inputs)
        for k, m, part in zip(counts, moving, scan.parts(moves), strict=True):
            xs += rest[:k]
            some = iter(rest[k : k + m])
            dots += [next(some) if x else None for x in part]
            rest = rest[k + m :]
        outs, out_dots = jvp(scan.body.evaluate, tuple(xs), tuple(dots))
        carry_dots = [dot for dot, m in zip(out_dots[:n], carry_moves, strict=True) if m]
        y_dots = [dot for dot, m in zip(out_dots[n:], outs_move[n:], strict=True) if m]
        return (*outs[:n], *carry_dots, *outs[n:], *y_dots)

    examples: list[Any] = []
    for part, move in zip(scan.parts(scan.examples), scan.parts(moves), strict=True):
        examples += part
        examples += [np.zeros_like(x)[()] for x, m in zip(part, move, strict=True) if m]
    sizes = (counts[0] + moving[0], counts[1] + moving[1])
    return Derived(recorded(body, examples), sizes, scan, scan.reverse, examples)


def bar_inputs(scan: Scan, moves: Sequence[bool]) -> list[int]:
    """The inputs of the body whose cotangents are the carry of the backward loop."""
    n_consts, n = scan.n_consts, scan.n_carry
    return [i for i in range(n_consts, n_consts + n) if moves[i]] + [
        i for i in range(n_consts) if moves[i]
    ]


def backward_loop(scan: Scan, moves: Sequence[bool], given: Sequence[bool]) -> Derived | None:
    """The loop that carries cotangents back; None if there is nothing to carry."""
    n_consts, n = scan.n_consts, scan.n_carry
    _, outs_move = scan.reached(moves, "derivative")
    carried = bar_inputs(scan, moves)
    n_bars = len([i for i in carried if i >= n_consts])
    rows = [i for i in range(n_consts + n, len(moves)) if moves[i]]
    at = [i for i, m in enumerate(moves) if m]
    # Outputs with a cotangent: of the moving carries those that depend on something.
    bar_of = {i - n_consts: k for k, i in enumerate(carried) if i >= n_consts}
    y_at = [i for i in range(n, scan.n_out) if given[i] and outs_move[i]]
    ends = [i for i in range(n) if outs_move[i] and i in bar_of] + y_at
    if not at or not ends:
        return None

    def body(*inputs: Any) -> Any:
        rest = list(inputs)
        consts, rest = rest[:n_consts], rest[n_consts:]
        c_bars, rest = rest[: len(carried)], rest[len(carried) :]
        primals = consts + rest[: len(moves) - n_consts]
        y_bars = rest[len(moves) - n_consts :]

        def forward(*moving: Any) -> Any:
            whole = list(primals)
            for i, x in zip(at, moving, strict=True):
                whole[i] = x
            outs = scan.body.evaluate(*whole)
            return tuple([outs[i] for i in ends])

        _, pullback = vjp(forward, *[primals[i] for i in at])
        bars = [c_bars[bar_of[i]] for i in ends if i < n] + y_bars
        found = dict(zip(at, pullback(tuple(bars)), strict=True))
        new = [found[i] for i in carried[:n_bars]]
        sums = [bar + found[i] for i, bar in zip(carried, c_bars, strict=True) if i < n_consts]
        return (*new, *sums, *[found[i] for i in rows])

    outs = spec_examples(scan)
    examples = [
        *scan.examples[:n_consts],
        *[np.zeros_like(scan.examples[i])[()] for i in carried],
        *scan.examples[n_consts:],
        *[outs[i] for i in y_at],
    ]
    graph = recorded(body, examples)
    first = n_consts + len(carried)
    entered = [*graph.inputs[:n_consts], *graph.inputs[first : first + len(moves) - n_consts]]
    primals = dict(zip(entered, scan.body.inputs, strict=True))
    carries = graph.inputs[first : first + n]
    graph, saved = picked(graph, carries, primals, scan.body, scan.saved)
    if saved:
        values = Graph(scan.body.inputs, scan.body.equations, saved)
        with np.errstate(all="ignore"):
            examples = [*examples, *values.evaluate(*scan.examples)]
    counts = n_consts, len(carried)
    return Derived(graph, counts, scan, not scan.reverse, examples, saved)


def batched_loop(scan: Scan, ins: list[bool], outs: list[bool], size: int) -> Scan:
    """The loop on batches: of its body's inputs and outputs those that are marked are mapped."""
    in_axes = tuple([0 if m else None for m in ins])
    out_axes = tuple([0 if m else None for m in outs])
    body = vmap(scan.body.evaluate, in_axes=in_axes, out_axes=out_axes)
    examples = [
        np.broadcast_to(x, (size, *np.shape(x))) if m else x
        for x, m in zip(scan.examples, ins, strict=True)
    ]
    graph = recorded(body, examples)
    return type(scan)(graph, scan.n_consts, scan.n_carry, scan.length, scan.reverse, examples)


def spec_examples(scan: Scan) -> list[Any]:
    """Zeros like the outputs of the body."""
    specs = [x.spec if isinstance(x, Variable) else spec_of(x) for x in scan.body.outputs]
    return [np.zeros(spec.shape, spec.dtype)[()] for spec in specs]
