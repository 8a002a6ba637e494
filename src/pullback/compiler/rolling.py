"""Rolling: what a `for` of Python's left in a record becomes one loop again.

    rolled(graph)    the same program, with `scan` equations where it repeats itself

A stretch of the record that repeats is a loop if each operand is, in every step, one of these:

    the same          an operand of all steps, or a constant
    of this step      computed by an earlier line
    of steps before   a carry; two steps back it is a chain of two
    from outside      another in each step: a row of what is stacked, or read along an array

What is read of a step after the loop becomes a row of its results. What is the same in all steps
is computed once, before the loop. An array that only takes one element or row in each step is
assigned to once, after the loop. Values stay the same: only the form changes.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from ..core.graph import Equation, Graph, Variable
from ..core.spec import Spec, spec_of
from ..primitives.assignment import setitem_p
from ..primitives.indexing import getitem_p
from ..primitives.shapes import broadcast_p
from ..transforms.scans import Scan
from .passes import forwarded, frozen, functional, opened, operand_key, optimised
from .periods import Numbered, stretches, weight
from .rows import Rows, row_of, source_of, tidied

__all__ = ["looped", "packed", "rolled", "structure"]

PERIODS = 8  # a loop has at least so many steps
EQUATIONS = 400  # and so many equations in all, below which it is done faster one after the other
BACK = 8  # steps back that a carry may come from
TRIES = 3  # first steps that are left out to see whether the rest is a loop


class NoLoop(Exception):
    """A stretch that repeats is no loop."""


def rolled(graph: Graph, values: dict[Variable, Any] | None = None) -> Graph:
    """The graph with what repeats as loops, inner ones first; the graph itself if nothing does.

    Args:
        values: what variables were when this was recorded, on which derivatives of the loops are
            recorded.
    """
    whole = Rolling({} if values is None else values)
    result = start = graph
    if any(e.primitive is setitem_p for e in graph.equations):
        result = start = forwarded(graph)
    while len(result.equations) >= EQUATIONS or sum(map(weight, result.equations)) >= EQUATIONS:
        again = whole.once(result)
        if again is None:
            break
        result = tidied(again.pruned())
    return graph if result is start else functional(result)


def looped(graph: Graph) -> Graph:
    """The graph after all passes, with what repeats as loops.

    Loops are looked for in what was recorded, which has the same lines in each step and is then
    short for the other passes, and once more in what these have left.
    """
    graph = optimised(rolled(graph))
    again = rolled(graph)
    return graph if again is graph else optimised(again)


def packed(graph: Graph, known: int | None) -> tuple[Graph, list[tuple[int, int | None]]]:
    """The graph with outputs from number `known` on that are the rows of an array as that array.

    Returns as well where each of them is now: the number of an output, and of a row or None.
    """
    if known is None:
        return graph, []
    made = {e.outputs[0]: e for e in graph.equations if e.primitive is getitem_p}
    rows = [row_of(x, made) for x in graph.outputs[known:]]
    read: dict[Variable, set[int]] = {}
    for row in rows:
        if row is not None:
            read.setdefault(row[0], set()).add(row[1])
    outputs, places = list(graph.outputs[:known]), list[tuple[int, int | None]]()
    numbers: dict[Variable, int] = {}
    for x, row in zip(graph.outputs[known:], rows, strict=True):
        if row is None or len(read[row[0]]) < row[0].spec.shape[0]:
            places.append((len(outputs), None))
            outputs.append(x)
            continue
        source, i = row
        if source not in numbers:
            numbers[source] = len(outputs)
            outputs.append(source)
        places.append((numbers[source], i))
    return Graph(graph.inputs, graph.equations, outputs).pruned(), places


class Rolling:
    """The loops of one graph."""

    def __init__(self, values: dict[Variable, Any]) -> None:
        self.values = values
        self.scans: dict[Any, Scan] = {}  # equal loops are one primitive, so that they compare

    def example(self, x: Any) -> Any:
        """A plain value of an operand."""
        if not isinstance(x, Variable):
            return opened(x)
        found = self.values.get(x)
        if callable(found):
            found = self.values[x] = found()
        return np.ones(x.spec.shape, x.spec.dtype)[()] if found is None else found

    def once(self, graph: Graph) -> Graph | None:
        """The graph with the innermost loops that are found; None if there is none."""
        numbered = Numbered(graph)
        found: list[Loop] = []
        taken = np.zeros(len(graph.equations), bool)
        for p, begin, end in stretches(numbered.tokens, PERIODS):
            if numbered.cost(begin, end) >= EQUATIONS and not taken[begin:end].any():
                for loop in self.loops(numbered, p, begin, end):
                    taken[loop.at : loop.end] = True
                    found.append(loop)
        if not found:
            return None
        found.sort(key=lambda loop: loop.at)
        equations: list[Equation] = []
        same: dict[Variable, Variable] = {}
        at = 0
        for loop in found:
            equations += graph.equations[at : loop.at] + loop.equations
            same.update(loop.same)
            at = loop.end
        equations += graph.equations[at:]
        result = Graph(graph.inputs, equations, graph.outputs)
        return renamed(result, same) if same else result

    def loops(self, numbered: Numbered, p: int, begin: int, end: int) -> list[Loop]:
        """The loops in a stretch that repeats after p equations."""
        begin += cut(numbered, p, begin, end)
        steps = Steps(numbered, p, begin, (end - begin) // p)
        found: list[Loop] = []
        first = tries = 0
        while steps.count - first >= PERIODS:
            last = steps.extent(first)
            cost = numbered.cost(begin + first * p, begin + last * p)
            if last - first >= PERIODS and cost >= EQUATIONS:
                try:
                    found.append(Loop(self, steps, first, last))
                except NoLoop:
                    break
                first, tries = last, 0
            elif tries < TRIES:
                first, tries = first + 1, tries + 1
            else:
                first, tries = max(last, first + 1), 0
        return found


def cut(numbered: Numbered, p: int, begin: int, end: int) -> int:
    """Where a step begins best, after the first equation: where the fewest values are carried."""
    middle = begin + (end - begin) // (2 * p) * p
    middle = min(middle, end - p)
    change = np.zeros(2 * p + 1)  # of what lives over the gap before an equation
    a, b = numbered.start[middle], numbered.start[middle + p]
    readers = np.repeat(
        np.arange(middle, middle + p), np.diff(numbered.start[middle : middle + p + 1])
    )
    numbers = numbered.operands[a:b]
    inside = numbers >= numbered.first[begin]
    makers = np.searchsorted(numbered.first, numbers[inside], "right") - 1
    longest: dict[int, tuple[int, int]] = {}  # of each value of a step, the last that reads it
    for number, maker, reader in zip(
        numbers[inside].tolist(), makers, readers[inside], strict=True
    ):
        distance = int(reader - maker)
        name = (int(maker) - begin) % p * 64 + number - int(numbered.first[maker])
        if distance <= 3 * p and distance > longest.get(name, (0, 0))[0]:
            longest[name] = distance, number
    for name, (distance, number) in longest.items():
        rest = distance % p
        size = 1 + numbered.variables[number].spec.size
        after = name // 64 + 1
        change[after] += size
        change[after + rest] -= size
    live = np.cumsum(change)
    live = live[:p] + live[p : 2 * p]
    return int(np.argmin(live[: max(1, min(p, end - begin - p * PERIODS + 1))]))


class Steps:
    """The operands of a stretch, a row for each step.

    back: how many steps before the operand was computed. slot: by which result of the body.
    """

    FAR = 1 << 40  # before the stretch

    def __init__(self, numbered: Numbered, p: int, at: int, count: int) -> None:
        self.numbered, self.p, self.at, self.count = numbered, p, at, count
        first, start = numbered.first, numbered.start
        self.base = int(first[at])
        self.results = int(first[at + p]) - self.base
        width = int(start[at + p] - start[at])
        begin = int(start[at])
        self.operands = numbered.operands[begin : begin + count * width].reshape(count, width)
        step, self.slot = np.divmod(self.operands - self.base, self.results)
        self.back = np.arange(count)[:, None] - step
        self.back[self.operands < self.base] = self.FAR

    def extent(self, first: int) -> int:
        """The step before which a loop that begins at a step must end."""
        back, slot = self.back[first:], self.slot[first:]
        k = np.arange(len(back))[:, None]
        inside = back <= k
        code = np.where(inside, back * self.results + slot, -1)
        begins = (code[:-1] == -1) & (back[1:] == k[1:])  # a carry, once its first value is used
        wrong = (code[1:] != code[:-1]) & ~begins | (inside & (back > BACK))[1:]
        rows = np.flatnonzero(wrong.any(axis=1))
        return first + (int(rows[0]) + 1 if len(rows) else len(back))


class Loop:
    """Steps `first` to `last` as equations: what is needed before, the loop, what comes after.

    same: results that are the same in each step, and the one that is left of them.
    """

    def __init__(self, whole: Rolling, steps: Steps, first: int, last: int) -> None:
        self.whole, self.steps, self.numbered = whole, steps, steps.numbered
        p = steps.p
        self.at, self.end = steps.at + first * p, steps.at + last * p
        self.count = last - first
        self.base = int(self.numbered.first[self.at])
        self.n = steps.results
        self.operands = steps.operands[first:last]
        back = steps.back[last - 1]
        self.inside = back < self.count  # columns that read what the loop computes
        self.back, self.slot = back, steps.slot[last - 1]
        self.after: list[Equation] = []
        self.same: dict[Variable, Variable] = {}
        self.once: dict[int, Any] = {}  # results of the body that are the same in all steps
        self.local: dict[int, Any] = {}  # results of the body in the body
        self.consts: dict[Variable, Variable] = {}
        self.rows: dict[Any, tuple[Variable, Any]] = {}
        self.examples: dict[Variable, Callable[[], Any]] = {}
        self.carries: list[tuple[int, tuple[int, ...], list[Variable]]] = []
        self.puts: list[Any] = []
        self.body: list[Equation] = []
        numbered = self.numbered
        self.stack = Rows(lambda x: source_of(numbered.maker(x)))
        self.outside = self.read_outside()
        self.equations = self.built()
        if not self.body or len(self.equations) >= self.end - self.at:
            raise NoLoop  # nothing but values that are picked

    def variable(self, step: int, slot: int) -> Variable:
        return self.numbered.variables[self.base + step * self.n + slot]

    def read_outside(self) -> dict[int, list[int]]:
        """For each result of the body the steps of which it is read after the loop."""
        last = self.numbered.last[self.base : self.base + self.count * self.n]
        found: dict[int, list[int]] = {}
        for i in np.flatnonzero(last >= self.end).tolist():
            found.setdefault(i % self.n, []).append(i // self.n)
        return found

    # Operands.

    def is_same(self, column: int) -> bool:
        """Whether an operand is the same in all steps."""
        if self.inside[column]:
            return self.back[column] == 0 and self.slot[column] in self.once
        numbers = self.operands[:, column]
        return bool((numbers == numbers[0]).all())

    def outer(self, column: int) -> Any:
        """An operand that is the same in all steps, outside of the loop."""
        if self.inside[column]:
            return self.once[self.slot[column]]
        return self.known(int(self.operands[0, column]))

    def known(self, number: int) -> Any:
        if number < 0:
            return self.numbered.constants[-1 - number]
        return self.numbered.variables[number]

    def read(self, column: int, e: Equation, position: int) -> Any:
        """An operand in the body."""
        if self.is_same(column):
            return self.const(self.outer(column))
        if not self.inside[column]:
            return self.row(column, e, position)
        back, slot = int(self.back[column]), int(self.slot[column])
        if back == 0:
            return self.local[slot]
        inits = tuple(self.operands[:back, column].tolist())
        return self.carry(slot, inits)

    def const(self, x: Any) -> Any:
        if not isinstance(x, Variable):
            return x
        if x not in self.consts:
            self.consts[x] = self.input(x.spec, partial(self.whole.example, x))
        return self.consts[x]

    def input(self, spec: Spec, example: Callable[[], Any]) -> Variable:
        x = Variable(Spec(spec.shape, spec.dtype))
        self.examples[x] = example
        return x

    def carry(self, slot: int, inits: tuple[int, ...]) -> Variable:
        """What a result was some steps before; at first the values with these numbers."""
        for at, (other, known, chain) in enumerate(self.carries):
            if other == slot and known[-len(inits) :] == inits:
                return chain[len(inits) - 1]
            if other == slot and inits[-len(known) :] == known:
                chain = chain + self.chain(inits[: -len(known)])
                self.carries[at] = slot, inits, chain
                return chain[-1]
        self.carries.append((slot, inits, self.chain(inits)))
        return self.carries[-1][2][-1]

    def chain(self, inits: tuple[int, ...]) -> list[Variable]:
        """Inputs of the body for the values one step back, two steps back, ..."""
        xs = [self.known(number) for number in inits[::-1]]
        return [self.input(x.spec, partial(self.whole.example, x)) for x in xs]

    def row(self, column: int, e: Equation, position: int) -> Variable:
        numbers = self.operands[:, column]
        key = numbers.tobytes()
        if key not in self.rows:
            xs = [self.known(i) for i in numbers.tolist()]
            whole = self.stack.of(xs, e, position)
            if whole is None:
                raise NoLoop
            self.rows[key] = self.row_of(whole, xs[0])
        return self.rows[key][0]

    def row_of(self, whole: Any, first: Any) -> tuple[Variable, Any]:
        spec = whole.spec if isinstance(whole, Variable) else spec_of(whole)
        first = first if isinstance(whole, Variable) else whole[0]
        example = partial(self.whole.example, first)
        return self.input(Spec(spec.shape[1:], spec.dtype), example), whole

    # Equations.

    def built(self) -> list[Equation]:
        graph, p = self.numbered.graph, self.steps.p
        template = graph.equations[self.at : self.at + p]
        column = slot = 0
        for j, e in enumerate(template):
            columns = range(column, column + len(e.inputs))
            slots = range(slot, slot + len(e.outputs))
            column, slot = columns.stop, slots.stop
            key = self.keys(j) if e.primitive in (getitem_p, setitem_p) else None
            if key is not None:
                self.moving(e, columns, slots, key)
            elif all(map(self.is_same, columns)) and not isinstance(e.primitive, Scan):
                self.hoist(e, columns, slots)
            else:
                inputs = tuple([self.read(c, e, i) for i, c in enumerate(columns)])
                self.write(e, inputs, slots, e.static)
        return self.finished()

    def write(self, e: Equation, inputs: Any, slots: Any, static: Any) -> None:
        outputs = tuple([Variable(x.spec) for x in e.outputs])
        self.local.update(zip(slots, outputs, strict=True))
        self.body.append(Equation(e.primitive, inputs, outputs, static))

    def hoist(self, e: Equation, columns: Any, slots: Any) -> None:
        """Once, before the loop; all steps have what the first has."""
        inputs = tuple([self.outer(c) for c in columns])
        self.stack.equations.append(Equation(e.primitive, inputs, e.outputs, e.static))
        for slot, x in zip(slots, e.outputs, strict=True):
            self.once[slot] = x
            self.local[slot] = self.const(x)
            for step in self.outside.pop(slot, ()):
                if step:
                    self.same[self.variable(step, slot)] = x

    # Keys of indexing that move from step to step.

    def keys(self, j: int) -> list[Any] | None:
        """The keys of an equation of the body in all steps; None if they are the same."""
        p, equations = self.steps.p, self.numbered.graph.equations
        keys = [equations[i].static["key"] for i in range(self.at + j, self.end, p)]
        return None if all(key == keys[0] for key in keys) else keys

    def moving(self, e: Equation, columns: Any, slots: Any, keys: list[Any]) -> None:
        if len(e.inputs) > (2 if e.primitive is setitem_p else 1):
            raise NoLoop
        if e.primitive is setitem_p:
            self.put(e, columns, slots[0], keys)
            return
        (column,) = columns
        if not self.is_same(column):
            raise NoLoop
        x = self.outer(column)
        whole = self.stack.read(x, keys, e.outputs[0].spec)
        self.local[slots[0]], _ = self.rows[len(self.rows)] = self.row_of(whole, e.outputs[0])

    def put(self, e: Equation, columns: Any, slot: int, keys: list[Any]) -> None:
        """An array that one part is written to in each step, and that nobody reads meanwhile."""
        x, v = columns
        alone = self.inside[x] and self.back[x] == 1 and self.slot[x] == slot
        alone = alone and int(np.sum(self.inside & (self.slot == slot))) == 1
        alone = alone and self.outside.get(slot, [self.count - 1]) == [self.count - 1]
        if not alone or e.static["path"]:
            raise NoLoop
        key = self.stack.place(e.outputs[0].spec, keys)
        if key is None:
            raise NoLoop
        value = self.read(v, e, 1)
        target = getitem_p.spec(e.outputs[0].spec, key=keys[0])
        spec = value.spec if isinstance(value, Variable) else spec_of(opened(value))
        if spec.shape != target.shape or not isinstance(value, Variable):
            row = Variable(Spec(target.shape, spec.dtype))
            extra = len(spec.shape) - len(target.shape)
            if extra > 0:
                raise NoLoop
            static = {"shape": target.shape}
            self.body.append(Equation(broadcast_p, (value,), (row,), static))
            value = row
        self.outside.pop(slot, None)
        self.puts.append((self.known(int(self.operands[0, x])), value, key, slot))

    # The loop itself.

    def finished(self) -> list[Equation]:
        carried: list[tuple[Any, Any, Variable, Variable]] = []  # init, input, output, result
        for slot, inits, chain in self.carries:
            xs = [self.known(number) for number in inits[::-1]]
            outs = [self.local[slot], *chain]
            for i, (init, x) in enumerate(zip(xs, chain, strict=True)):
                carried.append((init, x, outs[i], self.final(slot, self.count - 1 - i)))
        ys: list[tuple[Variable, Variable]] = []
        for slot, steps in self.outside.items():
            out = self.local[slot]
            if steps == [self.count - 1]:
                zero = np.zeros(out.spec.shape, out.spec.dtype)[()]
                x = self.input(out.spec, partial(self.whole.example, zero))
                carried.append((zero, x, out, self.variable(steps[0], slot)))
                continue
            y = Variable(Spec((self.count, *out.spec.shape), out.spec.dtype))
            ys.append((out, y))
            self.remember(y, slot)
            for step in steps:
                x = self.variable(step, slot)
                self.after.append(Equation(getitem_p, (y,), (x,), {"key": (step,)}))
        for init, value, key, slot in self.puts:
            y = Variable(Spec((self.count, *value.spec.shape), value.spec.dtype))
            ys.append((value, y))
            out = self.variable(self.count - 1, slot)
            self.after += self.stack.put(init, y, key, out)
        inputs = [x for _, x, _, _ in carried]
        outputs = [out for _, _, out, _ in carried] + [out for out, _ in ys]
        used = {x for e in self.body for x in e.inputs if isinstance(x, Variable)} | set(outputs)
        consts = [(outer, x) for outer, x in self.consts.items() if x in used]
        rows = [(outer, x) for x, outer in self.rows.values() if x in used]
        whole = [x for _, x in consts] + inputs + [x for _, x in rows]
        body = Graph(whole, self.body, outputs).pruned()
        scan = self.scan(body, len(consts), len(inputs))
        operands = [x for x, _ in consts] + [x for x, _, _, _ in carried] + [x for x, _ in rows]
        results = [x for _, _, _, x in carried] + [y for _, y in ys]
        e = Equation(scan, tuple(operands), tuple(results), {})
        return [*self.stack.equations, e, *self.after]

    def final(self, slot: int, step: int) -> Variable:
        """What a carry is at the end, under its name if it is read there."""
        x = self.variable(step, slot)
        if slot in self.once or step not in self.outside.get(slot, ()):
            return Variable(x.spec)
        if len(self.outside[slot]) > BACK:  # it is among the rows
            return Variable(x.spec)
        self.outside[slot].remove(step)
        if not self.outside[slot]:
            del self.outside[slot]
        return x

    def remember(self, y: Variable, slot: int) -> None:
        """How the rows of a result are found, if they become an operand of an outer loop."""
        whole = self.whole
        xs = [self.variable(step, slot) for step in range(self.count)]
        if whole.values and xs[0] in whole.values:
            whole.values[y] = lambda: np.stack([whole.example(x) for x in xs])

    def scan(self, body: Graph, n_consts: int, n_carry: int) -> Scan:
        key: Any = object()  # equal to no other
        with suppress(TypeError):
            key = (self.count, n_consts, n_carry, *structure(body))
        if key not in self.whole.scans:
            examples = [self.examples[x]() for x in body.inputs]
            self.whole.scans[key] = Scan(body, n_consts, n_carry, self.count, False, examples)
        return self.whole.scans[key]


def structure(graph: Graph) -> list[Any]:
    """What two graphs have in common that are the same program."""
    numbers: dict[Variable, int] = {x: i for i, x in enumerate(graph.inputs)}
    found: list[Any] = [(x.spec.shape, x.spec.dtype) for x in graph.inputs]

    def part(x: Any) -> Any:
        return numbers[x] if isinstance(x, Variable) else (operand_key(x),)

    for e in graph.equations:
        found.append((id(e.primitive), frozen(e.static), *map(part, e.inputs)))
        for x in e.outputs:
            numbers[x] = len(numbers)
    found.append(tuple(map(part, graph.outputs)))
    return found


def renamed(graph: Graph, same: dict[Variable, Variable]) -> Graph:
    """The graph that reads other variables in place of some."""

    def read(x: Any) -> Any:
        return same.get(x, x) if isinstance(x, Variable) else x

    equations = [
        Equation(e.primitive, tuple(map(read, e.inputs)), e.outputs, e.static)
        for e in graph.equations
    ]
    return Graph(graph.inputs, equations, [read(x) for x in graph.outputs])
