"""Scan: a loop as one operation.

    (*consts, *carry, *xs) -> (*carry, *ys)

The body is a Graph on (*consts, *carry, *x) that gives (*carry, *y); x runs through the rows of
xs, and the rows y make ys. Every derivative of a loop is a loop too: its body is recorded from this
one, once for each choice of differentiated operands, however many steps there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from ...core.array import Array
from ...core.graph import Graph, Variable
from ...core.spec import Spec, is_inexact, spec_of, zeros
from ...core.trace import bind, youngest
from ..reverse import ReverseTrace
from .body import GraphRunner, Repeated, Unstaged, example
from .kink_questions import asking_body, meets_kink, run_step
from .scan_derivatives import Derived, backward_loop, bar_inputs, batched_loop, forward_loop

# Runs loops in place of `Scan.value`, and makes others from them, where a compiler is at work.
FASTER: ContextVar[Any] = ContextVar("faster", default=None)


class Scan(Repeated):
    """A loop: `length` runs of `body`, which see the rows of xs in order or from the last on.

    An instance for each loop that is recorded. `examples` are plain values of the body's inputs,
    on which the bodies of its derivatives are recorded; None: those of the first call. In reverse
    mode it is bound with rows of `history`, the carries before each step that the backward loop
    reads, among its ys.
    """

    name = "scan"
    made_of = ("body", "n_consts", "n_carry", "length", "reverse")
    reads = "out xs"
    n_out: int
    tells = False  # whether its last carry is that no system of equations was singular

    def __init__(
        self,
        body: Graph,
        n_consts: int,
        n_carry: int,
        length: int,
        reverse: bool,
        examples: Sequence[Any] | None = None,
    ) -> None:
        # Not entered among the primitives, as with `FunctionCall`.
        self.body, self.n_consts, self.n_carry = body, n_consts, n_carry
        self.length, self.reverse = length, reverse
        self.examples: Any = None if examples is None else list(examples)
        self.n_out = len(body.outputs)
        self.nondiff = tuple([i for i, x in enumerate(body.inputs) if not is_inexact(x.spec.dtype)])
        self.history: dict[int, int] = {}  # which output holds the rows of which carry
        self.saved: dict[Variable, int] | None = None  # and of which values of the body
        self.derived: dict[Any, Any] = {}
        self.ready: GraphRunner | None = None

    def __repr__(self) -> str:
        return f"scan[{self.length}]"

    def parts(self, xs: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        """Operands, or what is said of them, as (consts, carry, xs)."""
        a, b = self.n_consts, self.n_consts + self.n_carry
        return list(xs[:a]), list(xs[a:b]), list(xs[b:])

    def __call__(self, *xs: Any) -> Any:
        trace = youngest(xs)
        if self.examples is None and trace is not None:
            consts, carry, rows = self.parts(list(map(example, xs)))
            t = self.length - 1 if self.reverse else 0
            self.examples = [*consts, *carry, *[np.copy(x[t])[()] for x in rows]]
        try:
            if meets_kink(self, xs):
                return self.unrolled(xs)
            if isinstance(trace, ReverseTrace):
                wanted = tuple([type(x) is Array and x.within is trace for x in xs])
                return bind(self.storing(wanted), xs, {})[: self.n_out]
            return bind(self, xs, {})
        except Unstaged:  # a rule asked for a value
            return self.unrolled(xs)

    def unrolled(self, xs: Sequence[Any]) -> tuple[Any, ...]:
        """The loop step by step, on Arrays."""
        consts, carry, rows = self.parts(xs)
        n, steps = self.n_carry, range(self.length)
        ys: dict[int, Any] = {}
        for t in reversed(steps) if self.reverse else steps:
            outs = run_step(self.body, *consts, *carry, *[x[t] for x in rows])
            carry, ys[t] = list(outs[:n]), outs[n:]
        return (*carry, *[np.stack(y) for y in zip(*[ys[t] for t in steps], strict=True)])

    def value(self, *xs: Any) -> tuple[Any, ...]:
        faster = FASTER.get()
        if faster is not None:
            return faster.run(self, xs)
        return self.looped(xs, self.length)

    def looped(self, xs: Sequence[Any], length: int) -> tuple[Any, ...]:
        if self.ready is None:
            self.ready = GraphRunner(self.body)
        ready, constants = self.ready, self.ready.opened()
        ys = [blank(x, length) for x in self.body.outputs[self.n_carry :]]
        order = range(length - 1, -1, -1) if self.reverse else range(length)
        carry = stepped_rows(lambda inputs: ready(inputs, constants), *self.parts(xs), ys, order)
        return (*[owned(x, xs) for x in carry], *ys)

    def sampled(self, xs: Sequence[Any]) -> tuple[Any, ...]:
        """Values like the results, from one step."""
        if not self.length:
            return self.looped(xs, 0)
        consts, carry, rows = self.parts(xs)
        one = self.looped([*consts, *carry, *[x[:1] for x in rows]], 1)
        ys = [np.broadcast_to(y, (self.length, *y.shape[1:])) for y in one[self.n_carry :]]
        return (*one[: self.n_carry], *ys)

    def spec(self, *xs: Any) -> tuple[Spec, ...]:
        specs = [spec_of(x) if not isinstance(x, Variable) else x.spec for x in self.body.outputs]
        rows = [Spec((self.length, *y.shape), y.dtype) for y in specs[self.n_carry :]]
        return (*specs[: self.n_carry], *rows)

    # Which values depend on which operands.

    def reached(self, marked: Sequence[bool], mode: str) -> tuple[list[bool], list[bool]]:
        """The inputs and outputs of the body that depend on the operands marked.

        mode "batch" takes every way; "derivative" those that a derivative takes.
        """
        moving = mode == "derivative"
        inputs = list(marked)
        if moving:
            inputs = [m and i not in self.nondiff for i, m in enumerate(inputs)]
        while True:
            found = {x for x, m in zip(self.body.inputs, inputs, strict=True) if m}
            for e in self.body.equations:
                if moving and (e.primitive.constant or e.primitive.inert):
                    continue
                if any(isinstance(x, Variable) and x in found for x in e.inputs):
                    found.update([x for x in e.outputs if not moving or is_inexact(x.spec.dtype)])
            outputs = [isinstance(x, Variable) and x in found for x in self.body.outputs]
            again = False
            for i in range(self.n_carry):
                again |= outputs[i] and not inputs[self.n_consts + i]
                inputs[self.n_consts + i] |= outputs[i]
            if not again:
                return inputs, outputs

    def derive(self, key: Any, make: Callable[[], Any]) -> Any:
        if key not in self.derived:
            faster = FASTER.get()
            self.derived[key] = make() if faster is None else faster.make(make)
        return self.derived[key]

    def asking(self, marked: Sequence[bool]) -> Scan | None:
        """The loop that also says whether a second derivative is taken at a kink, if it has any."""
        found = asking_body(self, marked)
        if found is None:
            return None
        body, examples = found
        return Scan(body, self.n_consts, self.n_carry + 1, self.length, self.reverse, examples)

    # Forward mode.

    def jvp(self, out: Any, xs: Any, x_dots: Any) -> Any:
        given = tuple([dot is not None for dot in x_dots])
        moves, outs_move = self.reached(given, "derivative")
        loop = self.derive(("jvp", given), lambda: forward_loop(self, moves, outs_move))
        whole = []
        for part, dots, move in zip(*map(self.parts, (xs, x_dots, moves)), strict=True):
            whole += part
            whole += [
                zeros(spec_of(x)) if dot is None else dot
                for x, dot, m in zip(part, dots, move, strict=True)
                if m
            ]
        results = loop(whole)
        # Behind the carry and behind the ys are the tangents.
        n, n_moving = self.n_carry, sum(moves[self.n_consts : self.n_consts + self.n_carry])
        carry_dots = iter(results[n : n + n_moving])
        y_dots = iter(results[self.n_out + n_moving :])
        carry_moves = moves[self.n_consts : self.n_consts + n]
        return tuple(
            [next(carry_dots) if m else None for m in carry_moves]
            + [next(y_dots) if m else None for m in outs_move[n:]]
        )

    # Reverse mode.

    def storing(self, wanted: tuple[bool, ...]) -> Scan:
        """The same loop with the carries that its backward loop reads among the ys."""
        return self.derive(("storing", wanted), lambda: self.stored(wanted))

    def stored(self, wanted: tuple[bool, ...]) -> Scan:
        moves, outs_move = self.reached(wanted, "derivative")
        loop = self.backward(tuple(moves), tuple(outs_move))
        if loop is None:
            return self
        # Operands of the backward loop: consts, cotangents, carries, rows, cotangents of rows.
        first = self.n_consts + len(bar_inputs(self, moves))
        read = [i - first for i in loop.kept if first <= i < first + self.n_carry]
        body = self.body
        carry = body.inputs[self.n_consts : self.n_consts + self.n_carry]
        rows = [*[carry[i] for i in read], *loop.saved]
        whole = Graph(body.inputs, body.equations, [*body.outputs, *rows])
        n_carry = self.n_carry
        scan = Scan(whole, self.n_consts, n_carry, self.length, self.reverse, self.examples)
        scan.history = {i: self.n_out + k for k, i in enumerate(read)}
        scan.saved = {x: self.n_out + k for k, x in enumerate(loop.saved, len(read))}
        return scan

    def backward(self, moves: tuple[bool, ...], given: tuple[bool, ...]) -> Derived | None:
        """The loop that carries cotangents back; None if there is nothing to carry.

        given: for which outputs of the body there are cotangents: of carries all that move.
        """
        key = ("backward", moves, given)
        return self.derive(key, lambda: backward_loop(self, moves, given))

    def vjp(self, out_bar: Any, residual: Any, wanted: Any) -> Any:
        xs, outs, n = residual.xs, residual.out, self.n_carry
        marked = tuple([want is not None and want is not False for want in wanted])
        moves, outs_move = self.reached(marked, "derivative")
        given = tuple(
            [
                m and (i < n or bar is not None)
                for i, (m, bar) in enumerate(zip(outs_move, out_bar, strict=True))
            ]
        )
        loop = self.backward(tuple(moves), given)
        x_bars: list[Any] = [None] * len(xs)
        n_consts = self.n_consts
        for i in range(n):
            if moves[n_consts + i]:
                x_bars[n_consts + i] = out_bar[i]
        if loop is None:
            return x_bars if not self.length else [None] * len(xs)
        carried = bar_inputs(self, moves)
        first = [x_bars[i] for i in carried]
        history: list[Any] = [
            outs[self.history[i]] if i in self.history else None for i in range(n)
        ]
        results = loop(
            [
                *xs[:n_consts],
                *[zeros(spec_of(xs[i])) if bar is None else bar
                  for i, bar in zip(carried, first, strict=True)],
                *history,
                *xs[n_consts + n :],
                *[out_bar[i] for i in range(n, self.n_out) if given[i]],
                *[outs[(self.saved or {})[x]] for x in loop.saved],
            ]
        )  # fmt: skip
        rows = [i for i in range(n_consts + n, len(xs)) if moves[i]]
        for i, bar in zip([*carried, *rows], results, strict=True):
            x_bars[i] = bar
        return x_bars

    # Batches.

    def batch(self, xs: Any, mapped: Any, size: int) -> Any:
        ins, outs = self.reached(mapped, "batch")
        # A carry that begins mapped may stay the same, or be made anew.
        outs[: self.n_carry] = ins[self.n_consts : self.n_consts + self.n_carry]
        scan = self.derive(
            ("batch", tuple(mapped), size), lambda: batched_loop(self, ins, outs, size)
        )
        consts, carry, rows = self.parts(xs)
        start = self.n_consts
        carry = [
            np.broadcast_to(x, (size, *np.shape(x))) if ins[start + i] and not mapped[start + i]
            else x
            for i, x in enumerate(carry)
        ]  # fmt: skip
        first = start + self.n_carry
        rows = [np.swapaxes(x, 0, 1) if ins[first + i] else x for i, x in enumerate(rows)]
        results = scan(*consts, *carry, *rows)
        return tuple(
            [
                np.broadcast_to(x, (size, *x.shape)) if not m
                else x if i < self.n_carry
                else np.swapaxes(x, 0, 1)
                for i, (x, m) in enumerate(zip(results, outs, strict=True))
            ]
        )  # fmt: skip


def stepped_rows(
    step: Callable[[list[Any]], Any],
    consts: list[Any],
    carry: Any,
    rows: Sequence[Any],
    ys: Sequence[np.ndarray],
    order: Sequence[int],
) -> Any:
    """The last carry of a loop through rows, whose other results are written into ys."""
    n = len(carry)
    for t in order:
        outs = step([*consts, *carry, *[x[t] for x in rows]])
        carry = outs[:n]
        for y, row in zip(ys, outs[n:], strict=True):
            y[t] = row
    return carry


def blank(x: Any, length: int) -> Any:
    """Memory for the rows of an output of the body."""
    spec = x.spec if isinstance(x, Variable) else spec_of(x)
    return np.empty((length, *spec.shape), spec.dtype)


def owned(x: Any, xs: Sequence[Any]) -> Any:
    """A result that is none of the operands; one without axes is a scalar."""
    if not x.shape:
        return x[()]
    return x.copy() if type(x) is np.ndarray and any(x is other for other in xs) else x
