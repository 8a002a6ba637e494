"""Loops whose number of steps is known when they end: While, and the way back through one.

    While        (*consts, *carry) -> (*carry, count, *rows)
    WhilePull    (*consts, *bars, count, *rows) -> (*bars)

The values decide how often a `While` runs, so its recording stands for every number of steps.
Shapes are fixed all the same: some of the carries are kept as rows (see `checkpoints`), and
`WhilePull` computes the others again.

Where a second backward pass goes back through the first, the steps are counted, and a `Scan` of so
many is differentiated: its residuals have a row for each step, which a recording that stands for
every number of steps can't have; see `second_way_back` for how it does without. For one backward
pass rows take less time and memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.array import Array
from ...core.graph import Graph, Variable
from ...core.spec import Spec, is_inexact, spec_of, zeros
from ...core.trace import bind, youngest
from ..batch import BatchTrace, vmap
from ..forward import jvp
from ..reverse import ReverseTrace
from .body import Exemplified, GraphRunner, Repeated, Unstaged, recorded
from .checkpoints import History, back, capacity_of, stepped
from .kink_questions import asking_body, meets_kink, with_flag_unread
from .scan import segmented
from .scan_derivatives import Derived, bar_inputs, forward_loop
from .scan_primitive import FASTER, Scan, owned
from .second_way_back import is_recorded, is_symmetric, second_way_back

COUNT = Spec((), np.dtype(np.int64))


def whole(loop: Derived, specs: Sequence[Any]) -> Graph:
    """The body of a loop made from another, with the inputs that it does not read."""
    inputs = [Variable(spec_of(x)) for x in specs]
    for i, x in zip(loop.kept, loop.scan.body.inputs, strict=True):
        inputs[i] = x
    return Graph(inputs, loop.scan.body.equations, loop.scan.body.outputs)


def moved(graph: Graph, examples: Sequence[Any], places: Sequence[int]) -> Graph:
    """The graph with other inputs, like the examples; its own are at these places."""
    inputs = [Variable(spec_of(x)) for x in examples]
    for i, x in zip(places, graph.inputs, strict=True):
        inputs[i] = x
    return Graph(inputs, graph.equations, graph.outputs)


def once(trace: ReverseTrace, xs: Sequence[Any]) -> bool:
    """Whether `trace` alone goes back through these operands."""
    for x in xs:
        while type(x) is Array:
            if isinstance(x.within, ReverseTrace) and x.within is not trace:
                return False
            x = x.payload
    return True


class While(Repeated):
    """Runs carry = body(carry) as long as cond(carry) holds.

    An instance for each loop, as `Scan`. cond and body are graphs on (*consts, *carry). `rows` of
    carries are among the results where there is a capacity.
    """

    name = "while"
    made_of = ("cond", "body", "n_consts", "keep", "capacity")
    reads = "out xs"
    n_out: int

    def __init__(
        self,
        cond: Graph,
        body: Graph,
        n_consts: int,
        examples: Sequence[Any],
        keep: Any = False,
        capacity: int = 0,
    ) -> None:
        # Not entered among the primitives, as `Scan`.
        self.cond, self.body, self.n_consts, self.n_carry = cond, body, n_consts, len(body.outputs)
        self.examples, self.keep, self.capacity = list(examples), keep, capacity
        self.step = Scan(body, n_consts, self.n_carry, 1, False, examples)
        self.step.saved = {}  # the way back has the carries, and needs no more of them
        self.nondiff = self.step.nondiff
        self.specs = [x.spec for x in body.inputs[n_consts:]]
        self.n_out = self.n_carry + 1 + (self.n_carry if capacity else 0)
        self.trips = Trips(self)
        self.ready: tuple[GraphRunner, GraphRunner] | None = None

    def __call__(self, *xs: Any) -> Any:
        trace = youngest(xs)
        try:
            if not self.capacity and meets_kink(self, xs):
                return self.unrolled(xs)
            if isinstance(trace, ReverseTrace):
                if self.capacity and is_recorded(xs) and is_symmetric(self.body):
                    return bind(self, xs, {})
                if self.capacity or not once(trace, xs):
                    return self.counted(xs)
                loop = self.storing()
                loop.way_back([x if type(x) is Array and x.within is trace else None for x in xs])
                return bind(loop, xs, {})[: self.n_out]
            return bind(self, xs, {})
        except Unstaged:  # a rule asked for a value
            if self.capacity:
                raise
            return self.unrolled(xs)

    def unrolled(self, xs: Sequence[Any]) -> tuple[Any, ...]:
        """The loop step by step, on Arrays."""
        scan, operands, count = self.with_trips(xs)
        return (*scan.unrolled(operands), count)

    def value(self, *xs: Any) -> tuple[Any, ...]:
        faster = FASTER.get()
        found = self.looped(xs) if faster is None else faster.wait(self, xs)
        assert found is not None
        return found

    def looped(self, xs: Sequence[Any], most: int | None = None) -> tuple[Any, ...] | None:
        """The results; None if there are more steps than `most`."""
        if self.ready is None:
            self.ready = GraphRunner(self.cond), GraphRunner(self.body)
        cond, body = self.ready
        for_cond, for_body = cond.opened(), body.opened()
        consts, carry = list(xs[: self.n_consts]), list(xs[self.n_consts :])
        history = History(self.specs, self.capacity) if self.capacity else None
        found = stepped(
            lambda carry: cond(consts + carry, for_cond)[0],
            lambda carry: body(consts + carry, for_body),
            carry,
            history,
            most,
        )
        if found is None:
            return None
        carry, count = found
        return (
            *[owned(np.asarray(x), xs) for x in carry],
            np.int64(count),
            *(history.rows if history is not None else ()),
        )

    def sampled(self, xs: Sequence[Any]) -> tuple[Any, ...]:
        """Values like the results; the loop might not end for these operands."""
        carry = xs[self.n_consts :]
        return (*carry, np.int64(0), *[spread(x, self.capacity) for x in carry if self.capacity])

    def spec(self, *xs: Any) -> tuple[Spec, ...]:
        rows = [Spec((self.capacity, *x.shape), x.dtype) for x in self.specs if self.capacity]
        return (*self.specs, COUNT, *rows)

    def derive(self, key: Any, make: Callable[[], Any]) -> Any:
        return self.step.derive(("while", key, self.capacity), make)

    def asking(self, marked: Sequence[bool]) -> While | None:
        """The loop that also says whether a second derivative is taken at a kink, if it has any."""
        found = asking_body(self.step, marked)
        if found is None:
            return None
        body, examples = found
        return While(with_flag_unread(self.cond), body, self.n_consts, examples)

    # Forward mode.

    def jvp(self, out: Any, xs: Any, x_dots: Any) -> Any:
        out_dots, _, row_dots = self.pushed_with_rows(xs, x_dots)
        return (*out_dots, None, *row_dots)

    def pushed_with_rows(self, xs: Any, x_dots: Any) -> tuple[list[Any], list[Any], list[Any]]:
        """The tangents of the results, and where there is a capacity the rows and theirs."""
        n, n_consts = self.n_carry, self.n_consts
        given = tuple([dot is not None for dot in x_dots])
        moves, _ = self.step.reached(given, "derivative")
        loop = self.derive(("jvp", given), lambda: self.pushed(given))
        results = loop(*interleaved(xs, x_dots, moves, n_consts))
        m = sum(moves[n_consts:])
        dots, rows = iter(results[n : n + m]), iter(results[n + m + 1 + n :])
        carry_moves = moves[n_consts:]
        out_dots = [next(dots) if move else None for move in carry_moves]
        row_dots = [next(rows) if move else None for move in carry_moves if self.capacity]
        return out_dots, list(results[n + m + 1 : n + m + 1 + n]), row_dots

    def pushed(self, given: tuple[bool, ...]) -> While:
        moves, outs_move = self.step.reached(given, "derivative")
        examples, places = self.doubled(moves)
        loop = self.step.derive(("jvp", given), lambda: forward_loop(self.step, moves, outs_move))
        body, cond = whole(loop, examples), moved(self.cond, examples, places)
        n_consts = self.n_consts + sum(moves[: self.n_consts])
        return While(cond, body, n_consts, examples, self.keep, self.capacity)

    def doubled(self, moves: Sequence[bool]) -> tuple[list[Any], list[int]]:
        """Examples of the operands with tangents, and the places of those without."""
        zeros = [np.zeros_like(x)[()] for x in self.examples]
        examples = interleaved(self.examples, zeros, moves, self.n_consts)
        first = self.n_consts + sum(moves[: self.n_consts])
        n = self.n_carry
        return examples, [*range(self.n_consts), *range(first, first + n)]

    # Reverse mode.

    def storing(self) -> While:
        """The same loop with rows of its carries."""
        capacity = capacity_of(self.specs)

        def make() -> While:
            return While(self.cond, self.body, self.n_consts, self.examples, self.keep, capacity)

        return self.step.derive("storing while", make)

    def vjp(self, out_bar: Any, residual: Any, wanted: Any) -> Any:
        xs, out, n, n_consts = residual.xs, residual.out, self.n_carry, self.n_consts
        moves, loop = self.way_back(wanted)
        x_bars: list[Any] = [None] * len(xs)
        for i in range(n):
            if moves[n_consts + i]:
                x_bars[n_consts + i] = out_bar[i]
        carried = bar_inputs(self.step, moves)
        bars = [zeros(spec_of(xs[i])) if x_bars[i] is None else x_bars[i] for i in carried]
        results = loop(*xs[:n_consts], *bars, out[n], *out[n + 1 :])
        for i, bar in zip(carried, results, strict=True):
            x_bars[i] = bar
        for i, bar in enumerate(out_bar[n + 1 :], n_consts):  # of rows, only the first has one
            if bar is not None and wanted[i] is not None:
                x_bars[i] = bar[0] if x_bars[i] is None else x_bars[i] + bar[0]
        return x_bars

    def way_back(self, wanted: Sequence[Any]) -> tuple[tuple[bool, ...], WhilePull]:
        """Which operands move, if these are wanted, and the way back. What cond reads has none."""
        at = {*read(self.body, self.n_consts), *range(self.n_consts, len(wanted))}
        marked = [want is not None and i in at for i, want in enumerate(wanted)]
        moves = tuple(self.step.reached(marked, "derivative")[0])
        return moves, self.derive(("pull", moves), lambda: self.pulled(moves))

    def pulled(self, moves: tuple[bool, ...]) -> WhilePull:
        _, outs_move = self.step.reached(moves, "derivative")
        loop = self.step.backward(moves, tuple(outs_move))
        consts, carry = self.examples[: self.n_consts], self.examples[self.n_consts :]
        bars = [np.zeros_like(self.examples[i])[()] for i in bar_inputs(self.step, moves)]
        specs = [*consts, *bars, *carry]
        if loop is None:  # what a step makes of its carry has no derivative
            pull = Graph([Variable(spec_of(x)) for x in specs], [], bars)
        else:
            pull = whole(loop, specs)
        back = WhilePull(self.cond, self.body, pull, self.n_consts, self.examples, self.capacity)
        if loop is not None and is_symmetric(self.body):
            back.moving = moves
        return back

    # With the number of steps.

    def counted(self, xs: Sequence[Any]) -> tuple[Any, ...]:
        """The loop as a `Scan`; of rows, only the first is there."""
        scan, operands, count = self.with_trips(xs)
        outs = segmented(scan, operands, False if largest(count)[1] else self.keep)
        rows = [spread(x, self.capacity) for x in xs[self.n_consts :] if self.capacity]
        return (*outs, count, *rows)

    def with_trips(self, xs: Sequence[Any]) -> tuple[Scan, list[Any], Any]:
        """The loop as a `Scan`, its operands, and the number of its steps."""
        count = self.trips(*xs)
        steps, mapped = largest(count)
        body = self.masked() if mapped else self.body
        at = [*read(body, self.n_consts), *range(self.n_consts, len(xs))]
        body = Graph([body.inputs[i] for i in at], body.equations, body.outputs)
        n_consts, examples = len(at) - self.n_carry, [self.examples[i] for i in at]
        scan = Scan(body, n_consts, self.n_carry, steps, False, examples)
        return scan, [xs[i] for i in at], count

    def masked(self) -> Graph:
        """The body, which leaves a carry for which cond does not hold."""

        def step(*xs: Any) -> tuple[Any, ...]:
            (flag,) = self.cond.evaluate(*xs)
            new, old = self.body.evaluate(*xs), xs[self.n_consts :]
            return tuple([np.where(flag, x, y) for x, y in zip(new, old, strict=True)])

        return self.step.derive("masked", lambda: recorded(step, self.examples))

    # Batches.

    def batch(self, xs: Any, mapped: Any, size: int) -> Any:
        loop, ins = self.derive(("batch", mapped, size), lambda: self.batched(mapped, size))
        xs = [
            np.broadcast_to(x, (size, *np.shape(x))) if m and not was else x
            for x, m, was in zip(xs, ins, mapped, strict=True)
        ]
        results = loop(*xs)
        n, moved = self.n_carry, ins[self.n_consts :]
        carry = [x if m else spread(x, size) for x, m in zip(results[:n], moved, strict=True)]
        rows = [
            np.swapaxes(x, 0, 1) if m else spread(x, size)
            for x, m in zip(results[n + 1 :], moved if self.capacity else (), strict=True)
        ]
        return (*carry, spread(results[n], size), *rows)

    def batched(self, mapped: Sequence[bool], size: int) -> tuple[While, list[bool]]:
        """The loop for all examples at once, and which of its operands are mapped."""
        ins, _ = self.step.reached(mapped, "batch")
        asked = reach(self.cond, ins)
        if asked:  # each example has its own number of steps
            ins = [*ins[: self.n_consts], *[True] * self.n_carry]
        return self.spread(ins, size, asked), ins

    def spread(self, ins: Sequence[bool], size: int, asked: bool) -> While:
        n_consts = self.n_consts
        examples = [spread(x, size) if m else x for x, m in zip(self.examples, ins, strict=True)]
        axes = tuple([0 if m else None for m in ins])
        if asked:
            flags = vmap(self.cond.evaluate, in_axes=axes, out_axes=(0,))
            cond = recorded(lambda *xs: (np.any(flags(*xs)[0]),), examples)
            step = self.masked()
        else:
            read = {id(x) for e in self.cond.equations for x in e.inputs}
            read |= {id(x) for x in self.cond.outputs}
            given = zip(self.cond.inputs, examples, strict=True)
            inputs = [x if id(x) in read else Variable(spec_of(a)) for x, a in given]
            cond = Graph(inputs, self.cond.equations, self.cond.outputs)
            step = self.body
        out_axes = axes[n_consts:]
        body = recorded(vmap(step.evaluate, in_axes=axes, out_axes=out_axes), examples)
        specs = [x.spec for x in body.inputs[n_consts:]]
        capacity = min(self.capacity, capacity_of(specs))  # all examples together
        return While(cond, body, n_consts, examples, self.keep, capacity)


class Trips(Exemplified):
    """How many steps a loop has."""

    name = "trips"
    made_of = ("loop",)
    constant = True

    def __init__(self, loop: While) -> None:
        self.loop = loop

    def value(self, *xs: Any) -> Any:
        with np.errstate(all="ignore"):  # the loop itself will warn
            return self.loop.value(*xs)[self.loop.n_carry]

    def sampled(self, xs: Sequence[Any]) -> Any:
        return np.int64(0)

    def spec(self, *xs: Any) -> Spec:
        return COUNT

    def batch(self, xs: Any, mapped: Any, size: int) -> Any:
        loop = self.loop
        batched, ins = loop.derive(("batch", mapped, size), lambda: loop.batched(mapped, size))
        xs = [
            spread(x, size) if m and not was else x
            for x, m, was in zip(xs, ins, mapped, strict=True)
        ]
        return spread(batched.trips(*xs), size)


class WhilePull(Repeated):
    """The way back through a `While`: bars = pull(bars, carry), from the last step to the first.

    pull is a graph on (*consts, *bars, *carry). A second way back is that of a `Scan`, or where the
    number of steps must stay open that of `second_way_back`.
    """

    name = "while_pull"
    reads = "xs"
    made_of = ("cond", "body", "pull_graph", "n_consts", "capacity")
    n_out: int
    moving: tuple[bool, ...] | None = None  # the operands that pull is the whole derivative for

    def __init__(
        self,
        cond: Graph,
        body: Graph,
        pull: Graph,
        n_consts: int,
        examples: Sequence[Any],
        capacity: int,
    ) -> None:
        self.cond, self.body, self.pull_graph, self.n_consts = cond, body, pull, n_consts
        self.examples, self.capacity = list(examples), capacity
        self.n_carry, self.n_bars = len(body.outputs), len(pull.outputs)
        self.n_out = self.n_bars
        self.step = Scan(body, n_consts, self.n_carry, 1, False, examples)
        places = [
            *body.inputs[:n_consts],
            *pull.inputs[n_consts : n_consts + self.n_bars],
            Variable(COUNT),
            *body.inputs[n_consts:],
        ]
        self.nondiff = tuple([i for i, x in enumerate(places) if not is_inexact(x.spec.dtype)])
        self.ready: tuple[GraphRunner, GraphRunner] | None = None

    def __call__(self, *xs: Any) -> Any:
        if isinstance(youngest(xs), ReverseTrace) and (self.moving is None or not is_recorded(xs)):
            return self.counted(xs)
        return bind(self, xs, {})

    def parts(self, xs: Sequence[Any]) -> tuple[list[Any], list[Any], Any, list[Any]]:
        """Operands as (consts, bars, count, rows)."""
        a, b = self.n_consts, self.n_consts + self.n_bars
        return list(xs[:a]), list(xs[a:b]), xs[b], list(xs[b + 1 :])

    def value(self, *xs: Any) -> tuple[Any, ...]:
        faster = FASTER.get()
        return self.looped(xs) if faster is None else faster.back(self, xs)

    def looped(self, xs: Sequence[Any]) -> tuple[Any, ...]:
        if self.ready is None:
            self.ready = GraphRunner(self.body), GraphRunner(self.pull_graph)
        body, pull = self.ready
        for_body, for_pull = body.opened(), pull.opened()
        consts, bars, count, rows = self.parts(xs)
        bars = back(
            int(count),
            self.capacity,
            rows,
            bars,
            lambda carry: body(consts + carry, for_body),
            lambda bars, carry: pull(consts + bars + carry, for_pull),
        )
        return tuple([owned(np.asarray(x), xs) for x in bars])

    def sampled(self, xs: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(self.parts(xs)[1])

    def spec(self, *xs: Any) -> tuple[Spec, ...]:
        return tuple([x.spec for x in self.parts(self.pull_graph.inputs)[1]])

    def pull_examples(self) -> list[Any]:
        """Values like the inputs of pull."""
        a, n = self.n_consts, self.n_bars
        bars = [np.zeros(x.spec.shape, x.spec.dtype)[()] for x in self.pull_graph.inputs[a : a + n]]
        return [*self.examples[:a], *bars, *self.examples[a:]]

    # Forward mode.

    def jvp(self, out: Any, xs: Any, x_dots: Any) -> Any:
        consts, bars, count, rows = self.parts(xs)
        const_dots, bar_dots, _, row_dots = self.parts(x_dots)
        given = tuple([dot is not None for dot in (*const_dots, *row_dots)])
        moves, _ = self.step.reached(given, "derivative")
        loop = self.step.derive(("back", "jvp", given), lambda: self.pushed(given))
        start = self.n_consts
        doubled = interleaved([*consts, *rows], [*const_dots, *row_dots], moves, start)
        cut = start + sum(moves[:start])
        bar_dots = [
            zeros(spec_of(x)) if dot is None else dot for x, dot in zip(bars, bar_dots, strict=True)
        ]
        return tuple(loop(*doubled[:cut], *bars, *bar_dots, count, *doubled[cut:])[self.n_bars :])

    def pushed(self, given: tuple[bool, ...]) -> WhilePull:
        loop = While(self.cond, self.body, self.n_consts, self.examples)
        moves, _ = self.step.reached(given, "derivative")
        forward = loop.pushed(given)
        n_consts, n_bars = self.n_consts, self.n_bars
        whole = self.pull_examples()
        bars = whole[n_consts : n_consts + n_bars]
        first = forward.n_consts

        def pull(*inputs: Any) -> Any:
            dots: list[Any] = []
            places = iter(inputs[n_consts:first])
            dots += [next(places) if m else None for m in moves[:n_consts]]
            dots += inputs[first + n_bars : first + 2 * n_bars]
            start = first + 2 * n_bars
            places = iter(inputs[start + self.n_carry :])
            dots += [next(places) if m else None for m in moves[n_consts:]]
            carry = inputs[start : start + self.n_carry]
            xs = (*inputs[:n_consts], *inputs[first : first + n_bars], *carry)
            outs, out_dots = jvp(self.pull_graph.evaluate, xs, tuple(dots))
            return (*outs, *out_dots)

        examples = [*forward.examples[:first], *bars, *bars, *forward.examples[first:]]
        graph = recorded(pull, examples)
        return WhilePull(forward.cond, forward.body, graph, first, forward.examples, self.capacity)

    def vjp(self, out_bar: Any, residual: Any, wanted: Any) -> Any:
        assert self.moving is not None
        make = lambda: While(
            self.cond, self.body, self.n_consts, self.examples, False, self.capacity
        )
        loop = self.step.derive(("back", "loop"), make)
        want_consts, _, _, want_rows = self.parts(wanted)
        parts = self.parts(residual.xs)
        return second_way_back(loop, self.moving, parts, out_bar, [*want_consts, *want_rows])

    # With the number of steps.

    def counted(self, xs: Sequence[Any]) -> tuple[Any, ...]:
        """As a `Scan` that computes all carries again, and one that goes back."""
        consts, bars, count, rows = self.parts(xs)
        steps, mapped = largest(count)
        body, pull = self.masked() if mapped else (self.body, self.pull_graph)
        n, n_consts = self.n_carry, self.n_consts
        history = Graph(body.inputs, body.equations, [*body.outputs, *body.inputs[n_consts:]])
        forward = Scan(history, n_consts, n, steps, False, self.examples)
        carries = forward(*consts, *[x[0] for x in rows])[n:]
        backward = Scan(pull, n_consts, self.n_bars, steps, True, self.pull_examples())
        return tuple(backward(*consts, *bars, *carries))

    def masked(self) -> tuple[Graph, Graph]:
        """body and pull, which do nothing for a carry for which cond does not hold."""
        a, b = self.n_consts, self.n_consts + self.n_bars

        def pull(*xs: Any) -> tuple[Any, ...]:
            (flag,) = self.cond.evaluate(*xs[:a], *xs[b:])
            pairs = zip(self.pull_graph.evaluate(*xs), xs[a:b], strict=True)
            return tuple([np.where(flag, x, y) for x, y in pairs])

        loop = While(self.cond, self.body, a, self.examples)
        make = lambda: (loop.masked(), recorded(pull, self.pull_examples()))
        return self.step.derive(("back", "masked"), make)

    # Batches.

    def batch(self, xs: Any, mapped: Any, size: int) -> Any:
        consts, bars, count, rows = self.parts(xs)
        on_consts, on_bars, on_count, on_rows = self.parts(mapped)
        capacity = rows[0].shape[on_rows[0]] if rows else self.capacity
        key = ("back", "batch", tuple(on_consts), size, capacity)
        loop = self.step.derive(key, lambda: self.batched(on_consts, size, capacity))
        bars = [x if m else spread(x, size) for x, m in zip(bars, on_bars, strict=True)]
        rows = [
            np.swapaxes(x if m else spread(x, size), 0, 1)
            for x, m in zip(rows, on_rows, strict=True)
        ]
        if on_count:  # the same for all
            count = count[0] if size else np.int64(0)
        return tuple(loop(*consts, *bars, count, *rows))

    def batched(self, on_consts: Sequence[bool], size: int, capacity: int) -> WhilePull:
        n_consts = self.n_consts
        ins = [*on_consts, *[True] * self.n_carry]
        loop = While(self.cond, self.body, n_consts, self.examples)
        forward = loop.spread(ins, size, True)
        _, pull = self.masked()
        axes = tuple([0 if m else None for m in on_consts]) + (0,) * (self.n_bars + self.n_carry)
        examples = [
            spread(x, size) if axis == 0 else x
            for x, axis in zip(self.pull_examples(), axes, strict=True)
        ]
        graph = recorded(vmap(pull.evaluate, in_axes=axes), examples)
        return WhilePull(forward.cond, forward.body, graph, n_consts, forward.examples, capacity)


def interleaved(xs: Sequence[Any], dots: Any, moves: Sequence[bool], n_consts: int) -> list[Any]:
    """Operands with tangents: consts, those that move, the rest, those that move."""
    both: list[Any] = []
    for part in (slice(None, n_consts), slice(n_consts, None)):
        both += xs[part]
        both += [
            zeros(spec_of(x)) if dot is None else dot
            for x, dot, move in zip(xs[part], dots[part], moves[part], strict=True)
            if move
        ]
    return both


def read(graph: Graph, n: int) -> list[int]:
    """Which of the first n inputs a graph reads."""
    used = graph.read()
    return [i for i in range(n) if graph.inputs[i] in used]


def reach(graph: Graph, marked: Sequence[bool]) -> bool:
    """Whether the output of a graph depends on the inputs marked."""
    found = {x for x, m in zip(graph.inputs, marked, strict=True) if m}
    for e in graph.equations:
        if any(isinstance(x, Variable) and x in found for x in e.inputs):
            found.update(e.outputs)
    return any(isinstance(x, Variable) and x in found for x in graph.outputs)


def spread(x: Any, size: int) -> Any:
    return np.broadcast_to(x, (size, *np.shape(x)))


def largest(n: Any) -> tuple[int, bool]:
    """The largest number of steps, and whether examples of a batch differ in it."""
    mapped = False
    while type(n) is Array and isinstance(n.within, BatchTrace):
        n, mapped = n.payload, True
    if n.ndim:
        n = np.max(n) if n.size else 0
    return int(n), mapped
