"""Scan: a loop as one operation.

    (*consts, *carry, *xs) -> (*carry, *ys)

The body is a Graph on (*consts, *carry, *x) that gives (*carry, *y); x runs through the rows of
xs, and the rows y make ys. Every derivative of a loop is a loop: the bodies of those are recorded
from the body, once for each choice of operands, whatever the number of steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from ..core.array import Array
from ..core.graph import Graph, Variable
from ..core.primitive import Primitive
from ..core.spec import Spec, is_inexact, spec_of, zeros
from ..core.trace import bind, youngest
from .batch import vmap
from .bodies import Steps, Unstaged, example, recorded
from .forward import jvp
from .residuals import picked
from .reverse import ReverseTrace, vjp

__all__ = ["FASTER", "Scan"]


# Runs loops in place of `Scan.value`, and makes others from them, where a compiler is at work.
FASTER: ContextVar[Any] = ContextVar("faster", default=None)


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
        used = {id(x) for e in body.equations for x in e.inputs} | {id(x) for x in body.outputs}
        self.kept = [
            i
            for i, x in enumerate(body.inputs)
            if id(x) in used or n_consts <= i < n_consts + n_carry
        ]
        n_consts = sum([i < n_consts for i in self.kept])
        body = Graph([body.inputs[i] for i in self.kept], body.equations, body.outputs)
        examples = [examples[i] for i in self.kept]
        self.scan = Scan(body, n_consts, n_carry, parent.length, reverse, examples)

    def __call__(self, xs: Sequence[Any]) -> Any:
        return self.scan(*[xs[i] for i in self.kept])


class Scan(Primitive):
    """A loop: `length` runs of `body`, which see the rows of xs in order or from the last on.

    An instance for each loop that is recorded. `examples` are plain values of the body's inputs,
    on which the bodies of its derivatives are recorded; None: those of the first call. In reverse
    mode it is bound with rows of `history`, the carries before each step that the backward loop
    reads, among its ys.
    """

    name = "scan"
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
        # Not entered among the primitives, as `Call`.
        self.body, self.n_consts, self.n_carry = body, n_consts, n_carry
        self.length, self.reverse = length, reverse
        self.examples: Any = None if examples is None else list(examples)
        self.n_out = len(body.outputs)
        self.nondiff = tuple([i for i, x in enumerate(body.inputs) if not is_inexact(x.spec.dtype)])
        self.history: dict[int, int] = {}  # which output holds the rows of which carry
        self.saved: dict[Variable, int] | None = None  # and of which values of the body
        self.derived: dict[Any, Any] = {}
        self.ready: Steps | None = None

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
            outs = self.body.evaluate(*consts, *carry, *[x[t] for x in rows])
            carry, ys[t] = list(outs[:n]), outs[n:]
        return (*carry, *[np.stack(y) for y in zip(*[ys[t] for t in steps], strict=True)])

    def value(self, *xs: Any) -> tuple[Any, ...]:
        faster = FASTER.get()
        if faster is not None:
            return faster.run(self, xs)
        return self.looped(xs, self.length)

    def looped(self, xs: Sequence[Any], length: int) -> tuple[Any, ...]:
        if self.ready is None:
            self.ready = Steps(self.body)
        constants = self.ready.opened()
        consts, carry, rows = self.parts(xs)
        n, ys = self.n_carry, [blank(x, length) for x in self.body.outputs[self.n_carry :]]
        for t in range(length - 1, -1, -1) if self.reverse else range(length):
            outs = self.ready(consts + carry + [x[t] for x in rows], constants)
            carry = outs[:n]
            for y, row in zip(ys, outs[n:], strict=True):
                y[t] = row
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

    # Forward mode.

    def jvp(self, out: Any, xs: Any, x_dots: Any) -> Any:
        given = tuple([dot is not None for dot in x_dots])
        moves, outs_move = self.reached(given, "derivative")
        loop = self.derive(("jvp", given), lambda: self.pushed(moves, outs_move))
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

    def pushed(self, moves: list[bool], outs_move: list[bool]) -> Derived:
        counts = [len(part) for part in self.parts(moves)]
        moving = [sum(part) for part in self.parts(moves)]
        n = self.n_carry
        carry_moves = moves[self.n_consts : self.n_consts + n]

        def body(*inputs: Any) -> Any:
            xs: list[Any] = []
            dots: list[Any] = []
            rest = list(inputs)
            for k, m, part in zip(counts, moving, self.parts(moves), strict=True):
                xs += rest[:k]
                some = iter(rest[k : k + m])
                dots += [next(some) if x else None for x in part]
                rest = rest[k + m :]
            outs, out_dots = jvp(self.body.evaluate, tuple(xs), tuple(dots))
            carry_dots = [dot for dot, m in zip(out_dots[:n], carry_moves, strict=True) if m]
            y_dots = [dot for dot, m in zip(out_dots[n:], outs_move[n:], strict=True) if m]
            return (*outs[:n], *carry_dots, *outs[n:], *y_dots)

        examples: list[Any] = []
        for part, move in zip(self.parts(self.examples), self.parts(moves), strict=True):
            examples += part
            examples += [np.zeros_like(x)[()] for x, m in zip(part, move, strict=True) if m]
        sizes = (counts[0] + moving[0], counts[1] + moving[1])
        return Derived(recorded(body, examples), sizes, self, self.reverse, examples)

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
        first = self.n_consts + len(self.bars(moves, outs_move))
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

    def bars(self, moves: Sequence[bool], outs_move: Sequence[bool]) -> list[int]:
        """The inputs of the body whose cotangents are the carry of the backward loop."""
        n_consts, n = self.n_consts, self.n_carry
        return [i for i in range(n_consts, n_consts + n) if moves[i]] + [
            i for i in range(n_consts) if moves[i]
        ]

    def backward(self, moves: tuple[bool, ...], given: tuple[bool, ...]) -> Derived | None:
        """The loop that carries cotangents back; None if there is nothing to carry.

        given: for which outputs of the body there are cotangents: of carries all that move.
        """
        key = ("backward", moves, given)
        return self.derive(key, lambda: self.pulled(moves, given))

    def pulled(self, moves: Sequence[bool], given: Sequence[bool]) -> Derived | None:
        n_consts, n = self.n_consts, self.n_carry
        _, outs_move = self.reached(moves, "derivative")
        carried = self.bars(moves, outs_move)
        n_bars = len([i for i in carried if i >= n_consts])
        rows = [i for i in range(n_consts + n, len(moves)) if moves[i]]
        at = [i for i, m in enumerate(moves) if m]
        # Outputs with a cotangent: of the moving carries those that depend on something.
        bar_of = {i - n_consts: k for k, i in enumerate(carried) if i >= n_consts}
        y_at = [i for i in range(n, self.n_out) if given[i] and outs_move[i]]
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
                outs = self.body.evaluate(*whole)
                return tuple([outs[i] for i in ends])

            _, pullback = vjp(forward, *[primals[i] for i in at])
            bars = [c_bars[bar_of[i]] for i in ends if i < n] + y_bars
            found = dict(zip(at, pullback(tuple(bars)), strict=True))
            new = [found[i] for i in carried[:n_bars]]
            sums = [bar + found[i] for i, bar in zip(carried, c_bars, strict=True) if i < n_consts]
            return (*new, *sums, *[found[i] for i in rows])

        outs = spec_examples(self)
        examples = [
            *self.examples[:n_consts],
            *[np.zeros_like(self.examples[i])[()] for i in carried],
            *self.examples[n_consts:],
            *[outs[i] for i in y_at],
        ]
        graph = recorded(body, examples)
        first = n_consts + len(carried)
        entered = [*graph.inputs[:n_consts], *graph.inputs[first : first + len(moves) - n_consts]]
        primals = dict(zip(entered, self.body.inputs, strict=True))
        carries = graph.inputs[first : first + n]
        graph, saved = picked(graph, carries, primals, self.body, self.saved)
        if saved:
            values = Graph(self.body.inputs, self.body.equations, saved)
            with np.errstate(all="ignore"):
                examples = [*examples, *values.evaluate(*self.examples)]
        counts = n_consts, len(carried)
        return Derived(graph, counts, self, not self.reverse, examples, saved)

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
        carried = self.bars(moves, outs_move)
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
        scan = self.derive(("batch", tuple(mapped), size), lambda: self.batched(ins, outs, size))
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

    def batched(self, ins: list[bool], outs: list[bool], size: int) -> Scan:
        in_axes = tuple([0 if m else None for m in ins])
        out_axes = tuple([0 if m else None for m in outs])
        body = vmap(self.body.evaluate, in_axes=in_axes, out_axes=out_axes)
        examples = [
            np.broadcast_to(x, (size, *np.shape(x))) if m else x
            for x, m in zip(self.examples, ins, strict=True)
        ]
        graph = recorded(body, examples)
        return Scan(graph, self.n_consts, self.n_carry, self.length, self.reverse, examples)


def blank(x: Any, length: int) -> Any:
    """Memory for the rows of an output of the body."""
    spec = x.spec if isinstance(x, Variable) else spec_of(x)
    return np.empty((length, *spec.shape), spec.dtype)


def owned(x: Any, xs: Sequence[Any]) -> Any:
    """A result that is none of the operands; one without axes is a scalar."""
    if not x.shape:
        return x[()]
    return x.copy() if type(x) is np.ndarray and any(x is other for other in xs) else x


def spec_examples(scan: Scan) -> list[Any]:
    """Zeros like the outputs of the body."""
    specs = [x.spec if isinstance(x, Variable) else spec_of(x) for x in scan.body.outputs]
    return [np.zeros(spec.shape, spec.dtype)[()] for spec in specs]
