"""Rolling: turn the repeated steps that a Python `for` left in a recording back into one loop.

    rolled(graph)      the same program, with `scan` equations where it repeats itself
    refusals(graph)    why stretches that repeat stay as they are

A stretch of the recording that repeats is a loop if each operand is, in every step, one of these:

    the same          an operand of all steps, or a constant
    of this step      computed by an earlier line
    of steps before   a carry; from two steps back, a chain of two carries
    from outside      different in each step: a row of a stacked array, or read along an array
    part of an array  that is carried: read or written at the indices in a row of integers

A value of a step that is read after the loop becomes a row of the loop's results. Values that are
the same in all steps are computed once, before the loop. An array that is only written, one element
or row in each step, is assigned to once, after the loop. Values stay the same: only the form
changes.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from ...core.graph import Equation, Graph, Variable
from ...core.spec import Spec, spec_of
from ...primitives.assignment import setitem_p
from ...primitives.elementwise import add
from ...primitives.indexing import getitem_p
from ...primitives.shapes import broadcast_p
from ...transforms.loops.scan_primitive import Scan
from ..graph.optimise import forwarded, functional, opened, optimised
from .find import BACK, Numbered, Stretch, cut, named, stretches, structure, weight
from .loop_steps import LoopSteps
from .stack_rows import Rows, indices, row_of, source_of, tidied

PERIODS = 8  # a loop has at least so many steps
EQUATIONS = 400  # and so many equations in all, below which it is done faster one after the other
LESS = 2  # times smaller is a graph that is rolled with arrays that its loops change
TRIES = 3  # first steps that are left out to see whether the rest is a loop


class NoLoop(Exception):
    """A stretch that repeats is not a loop; the message says why, and `refusals` shows it."""


def rolled(graph: Graph) -> Graph:
    """The graph with what repeats as loops, inner ones first; the graph itself if nothing does."""
    if not any(e.primitive is setitem_p for e in graph.equations):
        return repeated(graph) or graph
    # What is read where it was assigned to is a value, which is best: tables that are filled row
    # by row are up to 1.3 times faster so. But an array that is assigned to again and again may be
    # a loop as it was written only: bubble sort, pairs of forces are up to 42 times smaller so.
    result = repeated(forwarded(graph))
    if size(result or graph) >= EQUATIONS:
        written = repeated(functional(graph))
        if written is not None and LESS * size(written) <= size(result or graph):
            result = written
    return graph if result is None else functional(result)


def refusals(graph: Graph) -> list[str]:
    """Why stretches of a graph that repeat stay as they are; [] if all of them become loops.

    >>> from functools import reduce
    >>> from pullback.testing import staged
    >>> graph, _ = staged(lambda x: reduce(lambda y, i: y**i, range(2, 500), x), [1.0])
    >>> print(*refusals(graph))
    498 steps of 1 equation, from a `power` on: the numbers in `power` differ, and cannot be rows.
    """
    if size(graph) < EQUATIONS:
        return [f"It has {size(graph)} operations in all, and loops begin at {EQUATIONS}."]
    whole = Rolling()
    found = repeated(graph, whole)
    return list(dict.fromkeys([*whole.refused, *(unlike(graph) if found is None else [])]))


def unlike(graph: Graph) -> list[str]:
    """Why no stretch repeats: by what the steps of the longest one of like operations differ."""
    numbers: dict[Any, int] = {}
    names = [numbers.setdefault(named(e.primitive), len(numbers)) for e in graph.equations]
    found = list(stretches(np.array(names, np.int64), PERIODS))
    if not found:
        return [f"No operations come again in the same order {PERIODS} times."]
    p, begin, end = max(found, key=lambda stretch: stretch[2] - stretch[1])
    tokens, equations = Numbered(graph).tokens, graph.equations
    differing = np.flatnonzero(tokens[begin : end - p] != tokens[begin + p : end])
    if not len(differing):
        return []
    at = begin + int(differing[0])
    one, other = [[x.spec for x in e.outputs] for e in (equations[at], equations[at + p])]
    how = "has another operand or parameter in the next step"
    if one != other:
        how = f"gives {listed(one)} in one step and {listed(other)} in the next"
    why = f"`{equations[at].primitive}` {how}"
    return [stretch_of(graph, p, begin, (end - begin) // p, why)]


def listed(specs: list[Spec]) -> str:
    return ", ".join(map(str, specs))


def stretch_of(graph: Graph, p: int, at: int, count: int, why: str) -> str:
    lines = f"{p} equation{'s' if p > 1 else ''}"
    return f"{count} steps of {lines}, from a `{graph.equations[at].primitive}` on: {why}."


def repeated(graph: Graph, whole: Rolling | None = None) -> Graph | None:
    """The graph with the loops that are found, None if there are none."""
    whole, result = whole or Rolling(), graph
    while len(result.equations) >= EQUATIONS or size(result) >= EQUATIONS:
        again = whole.once(result)
        if again is None:
            break
        result = tidied(again.pruned())
    return None if result is graph else result


def size(graph: Graph) -> int:
    return sum(map(weight, graph.equations))


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

    def __init__(self) -> None:
        self.scans: dict[Any, Scan] = {}  # equal loops are one primitive, so that they compare
        self.refused: list[str] = []  # why stretches stay as they are

    def once(self, graph: Graph) -> Graph | None:
        """The graph with the innermost loops that are found; None if there is none."""
        numbered = Numbered(graph)
        found: list[FoundLoop] = []
        short: list[tuple[int, int, int]] = []
        taken = np.zeros(len(graph.equations), bool)
        for p, begin, end in stretches(numbered.tokens, PERIODS):
            if taken[begin:end].any():
                continue
            if numbered.cost(begin, end) < EQUATIONS:
                short.append((p, begin, end))
            else:
                for loop in self.loops(numbered, p, begin, end):
                    taken[loop.at : loop.end] = True
                    found.append(loop)
        self.refuse_short(numbered, [s for s in short if not taken[s[1] : s[2]].any()])
        if not found:
            return None
        found = sorted(opened_up(found), key=lambda loop: loop.at)
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

    def refuse(self, numbered: Numbered, p: int, at: int, count: int, why: str) -> None:
        self.refused.append(stretch_of(numbered.graph, p, at, count, why))

    def refuse_short(self, numbered: Numbered, short: list[tuple[int, int, int]]) -> None:
        """Note the longest of some stretches that are too short, and how many others there are."""
        if not short:
            return
        p, begin, end = max(short, key=lambda stretch: numbered.cost(*stretch[1:]))
        why, others = f"these are fewer than {EQUATIONS} operations", len(short) - 1
        if others:
            why += f", and so are {others} shorter stretch{'es' if others > 1 else ''}"
        self.refuse(numbered, p, begin, (end - begin) // p, why)

    def loops(self, numbered: Numbered, p: int, begin: int, end: int) -> list[FoundLoop]:
        """The loops in a stretch that repeats after p equations."""
        begin += cut(numbered, p, begin, end, PERIODS)
        steps = Stretch(numbered, p, begin, (end - begin) // p)
        found: list[FoundLoop] = []
        first = tries = 0
        while steps.count - first >= PERIODS:
            last = steps.extent(first)
            cost = numbered.cost(begin + first * p, begin + last * p)
            if last - first >= PERIODS and cost >= EQUATIONS:
                try:
                    found.append(FoundLoop(self, steps, first, last))
                except NoLoop as error:
                    self.refuse(numbered, p, begin + first * p, last - first, str(error))
                    break
                first, tries = last, 0
            elif tries < TRIES:
                first, tries = first + 1, tries + 1
            else:
                first, tries = max(last, first + 1), 0
        else:
            if not found:
                why = f"operands follow no pattern for {PERIODS} steps and {EQUATIONS} operations"
                self.refuse(numbered, p, begin, steps.count, why)
        return found


class FoundLoop(LoopSteps):
    """The steps as equations: what is needed before, the loop, what comes after.

    same: results that are the same in each step, and the one that is left of them.
    """

    def __init__(
        self, whole: Rolling, steps: Stretch, first: int, last: int, lifted: Any = (set(), {})
    ) -> None:
        super().__init__(steps, first, last, lifted)
        self.whole = whole
        self.after: list[Equation] = []
        self.same: dict[Variable, Variable] = {}
        self.local: dict[int, Any] = {}  # results of the body in the body
        self.consts: dict[Any, Variable] = {}  # by the operand, or the name of its integers
        self.places: dict[Any, np.ndarray] = {}  # integers by name
        self.rows: dict[Any, tuple[Variable, Any]] = {}
        self.carries: list[tuple[int, tuple[int, ...], list[Variable]]] = []
        self.puts: list[Any] = []
        self.body: list[Equation] = []
        numbered = steps.numbered  # and not self, which would be a circle
        self.stack = Rows(lambda x: source_of(numbered.maker(x)))
        self.equations = self.built()
        if not self.body or len(self.equations) >= self.end - self.at:
            raise NoLoop("as a loop it would have as many equations")  # it only picks values

    # Operands.

    def outer(self, column: int) -> Any:
        """An operand that is the same in all steps, outside of the loop."""
        if self.inside[column]:
            return self.once[self.slot[column]]
        return self.known(int(self.operands[0, column]))

    def read(self, column: int, e: Equation, position: int) -> Any:
        """An operand in the body."""
        if self.is_same(column):
            x = self.outer(column)
            row = self.stack.of([x], e, position) if column in self.lifted else None
            return self.const(x) if row is None else self.index(row)
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
            self.consts[x] = strong(x)
        return self.consts[x]

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
        return [strong(self.known(number)) for number in inits[::-1]]

    def row(self, column: int, e: Equation, position: int) -> Variable:
        numbers = self.operands[:, column]
        key = numbers.tobytes()
        if key not in self.rows:
            xs = [self.known(i) for i in numbers.tolist()]
            whole = self.stack.of(xs, e, position)
            if whole is None:
                raise NoLoop(f"the numbers in `{e.primitive}` differ, and cannot be rows")
            self.rows[key] = self.row_of(whole)
        return self.rows[key][0]

    def row_of(self, whole: Any) -> tuple[Variable, Any]:
        spec = whole.spec if isinstance(whole, Variable) else spec_of(whole)
        return Variable(Spec(spec.shape[1:], spec.dtype)), whole

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
                self.moving(e, columns, slots, key, self.lifted_keys.get(j, set()))
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

    def moving(
        self, e: Equation, columns: Any, slots: Any, keys: list[Any], lifted: set[int]
    ) -> None:
        if len(e.inputs) > (2 if e.primitive is setitem_p else 1) or e.static.get("path"):
            raise NoLoop(f"the key of `{e.primitive}` differs, and has arrays or is that of a view")
        if e.primitive is setitem_p:
            if not self.put(e, columns, slots[0], keys):
                self.indexed(e, columns, slots, keys, lifted)
            return
        (column,) = columns
        if not self.is_same(column):
            self.indexed(e, columns, slots, keys, lifted)
            return
        x = self.outer(column)
        whole = self.stack.read(x, keys, e.outputs[0].spec)
        self.local[slots[0]], _ = self.rows[len(self.rows)] = self.row_of(whole)

    def indexed(
        self, e: Equation, columns: Any, slots: Any, keys: list[Any], lifted: set[int]
    ) -> None:
        """A part of an array that the loop changes, at places that are rows of integers."""
        found = indices(e.inputs[0].spec.shape, keys, lifted)
        if found is None:
            raise NoLoop(f"slices in the key of `{e.primitive}` differ in length, or several do")
        key, pairs = found
        inputs = [self.read(c, e, i) for i, c in enumerate(columns)]
        for starts, reach in pairs:
            inputs.append(self.index(starts))
            if reach is not None:
                whole = Variable(spec_of(reach))
                self.body.append(Equation(add, (inputs[-1], reach), (whole,), {}))
                inputs[-1] = whole
        self.write(e, tuple(inputs), slots, {**e.static, "key": key})

    def index(self, numbers: np.ndarray) -> Variable:
        """Numbers that are known, as an input: an outer loop may have others in each step."""
        first = numbers[0]
        if len(numbers) == 1 or (numbers == first).all():
            name: Any = first.tobytes(), spec_of(first)
            if name not in self.consts:
                self.consts[name] = Variable(spec_of(first))
                self.places[name] = first
            return self.consts[name]
        name = numbers.tobytes(), numbers.shape
        if name not in self.rows:
            self.rows[name] = self.row_of(numbers)
        return self.rows[name][0]

    def put(self, e: Equation, columns: Any, slot: int, keys: list[Any]) -> bool:
        """Whether one part of an array is written in each step, and nobody reads it meanwhile."""
        x, v = columns
        alone = self.inside[x] and self.back[x] == 1 and self.slot[x] == slot
        alone = alone and int(np.sum(self.inside & (self.slot == slot))) == 1
        alone = alone and self.outside.get(slot, [self.count - 1]) == [self.count - 1]
        key = self.stack.place(e.outputs[0].spec, keys) if alone else None
        if key is None:
            return False
        target = getitem_p.spec(e.outputs[0].spec, key=keys[0])
        given = e.inputs[1]
        spec = given.spec if isinstance(given, Variable) else spec_of(opened(given))
        if len(spec.shape) > len(target.shape):
            return False
        value = self.read(v, e, 1)
        if spec.shape != target.shape or not isinstance(value, Variable):
            row = Variable(Spec(target.shape, spec.dtype))
            static = {"shape": target.shape}
            self.body.append(Equation(broadcast_p, (value,), (row,), static))
            value = row
        self.outside.pop(slot, None)
        self.puts.append((self.known(int(self.operands[0, x])), value, key, slot))
        return True

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
                x = strong(out)
                carried.append((zero, x, out, self.variable(steps[0], slot)))
                continue
            y = Variable(Spec((self.count, *out.spec.shape), out.spec.dtype))
            ys.append((out, y))
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
        consts = [(self.places.get(y, y), x) for y, x in self.consts.items() if x in used]
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

    def scan(self, body: Graph, n_consts: int, n_carry: int) -> Scan:
        key: Any = object()  # equal to no other
        with suppress(TypeError):
            key = (self.count, n_consts, n_carry, *structure(body))
        if key not in self.whole.scans:
            self.whole.scans[key] = Scan(body, n_consts, n_carry, self.count, False)
        return self.whole.scans[key]


def opened_up(loops: list[FoundLoop]) -> list[FoundLoop]:
    """The loops; those that differ in constants alone take them as operands, and are one body.

    So an outer loop, in each step of which they are others, can be found.
    """
    groups: dict[Any, list[FoundLoop]] = {}
    for loop in loops:
        p, tokens = loop.steps.p, loop.numbered.tokens
        line = p, loop.count, tokens[loop.at : loop.at + p].tobytes()
        groups.setdefault(line, []).append(loop)
    found = []
    for group in groups.values():
        if len(group) >= PERIODS:
            lifted = differences([loop.constants() for loop in group])
            if any(lifted):
                with suppress(NoLoop):
                    group = [
                        FoundLoop(loop.whole, loop.steps, loop.first, loop.last, lifted)
                        for loop in group
                    ]
        found += group
    return found


def differences(constants: list[Any]) -> tuple[set[int], dict[int, set[int]]]:
    """Columns at which all have constants, and equations with keys, that are not all the same."""
    parts = []
    for dicts in zip(*constants, strict=True):
        common = set(dicts[0]).intersection(*dicts[1:])
        parts.append([i for i in common if any(d[i] != dicts[0][i] for d in dicts)])
    keys = [k for _, k in constants]
    places = {
        j: {i for i, k in enumerate(keys[0][j]) if any(other[j][i] != k for other in keys)}
        for j in parts[1]
    }
    return set(parts[0]), places


def strong(x: Variable) -> Variable:
    """An input of a body that has values like x."""
    return Variable(Spec(x.spec.shape, x.spec.dtype))


def renamed(graph: Graph, same: dict[Variable, Variable]) -> Graph:
    """The graph that reads other variables in place of some."""

    def read(x: Any) -> Any:
        return same.get(x, x) if isinstance(x, Variable) else x

    equations = [
        Equation(e.primitive, tuple(map(read, e.inputs)), e.outputs, e.static)
        for e in graph.equations
    ]
    return Graph(graph.inputs, equations, [read(x) for x in graph.outputs])
