"""A Python loop as one equation, if a recording proves that all its steps are alike.

At the test that ends a loop (see `loop_tests`), the trace looks at the frame: its locals are the
state of the loop, Arrays of the recording and everything else. If between two tests everything else
stays equal, and Python asks for no other value, it takes the same branches again, whatever the
Arrays hold. So if the recorded steps also consist of the same equations, whose operands are
invariant, from the same step, or held by locals at the test before, they become a `While`, which is
valid for any number of steps.

If Python asks for other values in the steps, it must get the same answers in each step, and a `for`
must not reach its end. The loop stops where that fails, and a guard after it checks whether its own
test ended it.

The recorded steps show the results of the loop if locals that share one value at the end shared one
when it began (`gives_all`). If not, the loop is taken to begin a step later, and the tests before
become guards. The recorded steps are removed. If something still reads a variable of them that no
local held, the recording is invalid (`lost`), and the next one folds no loops.

Python doesn't run a loop of many steps to its end: once some steps prove it, it continues as a
`While` on values, Python's Arrays receive its results, and the test reports that it's over
(`done`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from ...core.array import Array
from ...core.graph import Equation, Graph, Variable
from ...core.spec import Spec
from ...primitives.elementwise import add, less, logical_and, logical_not
from ...transforms.loops.body import Repeated, example, functional
from ...transforms.loops.while_primitive import While
from ..facts.bytecode import code_of
from ..graph.optimise import frozen, operand_key
from ..graph.rewriting import spec_in
from ..loops.find import named
from .frame_state import Visit, is_as_before
from .loop_tests import Test, tests_in
from .own_code import may_raise

FLAG, NUMBER = Spec((), np.dtype(bool)), Spec((), np.dtype(np.int64))
LEAST, MOST = 2, 4  # steps that are compared
ENOUGH = 8  # tests after which a loop is done without Python, or whenever they have doubled
LOST = "it keeps a value of a `while` loop where the recording cannot follow it"


class WhileLoops:
    """The loops that are under way in one recording."""

    def __init__(self) -> None:
        self.open: dict[Any, tuple[Any, list[Visit]]] = {}
        self.gone: set[Variable] = set()

    def asked(self, trace: Any, frame: Any, x: Array, guard: Any) -> bool:
        """Note a question before its guard; whether it was the last of a loop that is folded.

        frame: of the program. x: what is asked; the answer to a loop that has been done is the
        one that ends it.
        """
        if not trace.state.watch.folds:
            return False
        test = None if frame is None else tests_in(frame.f_code).get(frame.f_lasti)
        if test is None:
            return False
        ends = guard.answer != test.goes_on
        key = id(frame), test.begin
        if test.is_first:
            self.open.pop(key, None)
            if ends:
                return False
        _, visits = self.open.setdefault(key, (frame, []))
        visit = Visit(trace.state, guard.variable, frame, trace, test.live)
        if test.counter is not None:
            visit.number = frame.f_locals.get(test.counter.name)
            if visits and not visits[-1].number < visit.number:  # it is gone through once more
                visits.clear()
        visits.append(visit)
        for visit in visits[-2:-1]:
            visit.holders = []  # values of earlier steps are not kept
        n = len(visits)
        if ends:
            del self.open[key]
        elif n < ENOUGH or n & (n - 1):
            return False
        loop = FoundWhile.of(trace, visits, test, frame)
        if loop is None or (not ends and not loop.done(trace, x, visits[-1])):
            return False
        self.open.pop(key, None)
        self.gone |= loop.put(trace.state, guard)
        return True


def last_number(test: Test, frame: Any) -> int | None:
    """The number of the last step of a `for`, if it can be told."""
    assert test.counter is not None
    limit = test.counter.limit
    n = frame.f_locals.get(limit) if isinstance(limit, str) else limit
    builtin = frame.f_globals.get("range", range) is range
    return n - 1 if builtin and type(n) is int else None


def line(e: Equation) -> Any:
    specs = [(x.spec.shape, x.spec.dtype) for x in e.outputs]
    return named(e.primitive), frozen(e.static) if e.static else None, specs, len(e.inputs)


class FoundWhile:
    """The steps of a loop from one test on, as one equation.

    steps: of each step its equations. nodes: what the locals hold at each test.
    asked: the other questions of a step, by where what they ask comes from, and their answers.
    last: the number of the last step of a `for`; None of a `while`.
    """

    def __init__(
        self, trace: Any, visits: list[Visit], goes_on: bool = True, last: int | None = None
    ) -> None:
        notes = trace.state
        self.begin, self.start = visits[0], list[Any]()
        self.goes_on, self.last = goes_on, last
        self.steps = [notes.equations[a.equations : b.equations] for a, b in pairwise(visits)]
        self.nodes = [[*visit.nodes, visit.flag] for visit in visits]
        self.slots = [
            {x: i for i, x in enumerate([x for e in step for x in e.outputs])}
            for step in self.steps
        ]
        self.n = len(self.nodes[0])
        self.sources = [self.source([nodes[i] for nodes in self.nodes[1:]]) for i in range(self.n)]
        operands = [[x for e in step for x in e.inputs] for step in self.steps]
        self.operands = [self.source(list(xs)) for xs in zip(*operands, strict=True)]
        others = [notes.guards[a.guards + 1 : b.guards] for a, b in pairwise(visits)]
        questions = [[guard.variable for guard in guards] for guards in others]
        self.asked = [
            (self.source(list(xs)), guard.answer)
            for xs, guard in zip(zip(*questions, strict=True), others[-1], strict=True)
        ]

    @classmethod
    def of(cls, trace: Any, visits: list[Visit], test: Test, frame: Any) -> FoundWhile | None:
        """The longest end of some steps that is a loop; None if there is none."""
        last, first = visits[-1], len(visits) - 1
        if last.state is None or not is_flag(last.flag) or first < LEAST:
            return None
        counter, end = test.counter, None
        if counter is not None:
            end = last_number(test, frame)
            if end is None:
                return None
        size = last.equations - visits[-2].equations
        questions = asked_between(trace, visits[-2], last)
        if questions is None:
            return None
        codes = [code_of(code) for code, _ in trace.state.watch.codes.values()]
        strict = any(code.identity for code in codes)
        while first > 0:
            a, b = visits[first - 1], visits[first]
            alike = b.equations - a.equations == size and asked_between(trace, a, b) == questions
            if a.state != last.state or not alike or not a.same_objects(last, strict):
                break
            if counter is not None and a.number <= counter.beyond:
                break
            first -= 1
        # The last steps are compared; since the state is the same, those before are like them.
        seen = visits[max(first, len(visits) - 1 - MOST) :]
        if len(seen) <= LEAST:
            return None
        try:
            loop = cls(trace, seen, test.goes_on, end)
            lines = [[line(e) for e in step] for step in loop.steps]
        except TypeError:  # a parameter that cannot be compared
            return None
        if any(own != lines[0] for own in lines) or any(map(raises, loop.steps[0])):
            return None
        known = [*loop.sources, *loop.operands, *[source for source, _ in loop.asked]]
        if None in known or not loop.is_settled():
            return None
        equations = trace.state.equations
        made = {x: i for i, e in enumerate(equations) for x in e.outputs}
        early = (
            first
            and not loop.extra
            and loop.starts(visits[first - 1], visits[first], last, equations)
        )
        if early and loop.gives_all(made) and is_as_before(trace):
            return loop
        for visit in visits[first : len(visits) - LEAST][:MOST]:
            loop.begin, loop.start = visit, [*visit.nodes, visit.flag]
            if loop.gives_all(made) and is_as_before(trace):
                return loop
        return None

    def starts(self, a: Visit, b: Visit, last: Visit, equations: list[Equation]) -> bool:
        """Begin with a test at which something is a constant as yet, if a step follows."""
        start = a.started(last) if b.guards - a.guards == 1 else None
        if start is None or not a.same_objects(last, False):
            return False
        self.begin, self.start = a, [*start, a.flag]
        return self.is_step(equations[a.equations : b.equations], [*b.nodes, b.flag])

    def gives_all(self, made: dict[Variable, int]) -> bool:
        """Whether all that is read of the steps is what the loop gives, after any number of them.

        made: by which equation a variable is made, if it is.
        """
        begin = self.begin.equations
        gone = {x for x, i in made.items() if i >= begin}
        if any(kind == "all" and in_set(x, gone) for kind, x in (*self.sources, *self.operands)):
            return False
        of_value: dict[Variable, int] = {}
        for i, (x, begun) in enumerate(zip(self.nodes[-1], self.start, strict=True)):
            j = of_value.setdefault(x, i)
            if begun is not self.start[j]:
                return False  # they have become the same
            if x in gone:
                passed = isinstance(begun, Variable) and begun not in made
                if self.sources[i] != self.sources[j] or (passed and begun.spec.shape):
                    return False  # without a step it is the very object that was passed
            elif begun is not x or not self.stays(i):
                return False
        return True

    def stays(self, i: int) -> bool:
        """Whether the last value of a local is handed on to it as it is."""
        (kind, what), x = self.sources[i], self.nodes[-1][i]
        return (what if kind == "all" else self.nodes[-1][what] if kind == "local" else None) is x

    def is_step(self, equations: list[Equation], after: list[Any]) -> bool:
        """Whether a step, which began with constants in some places, is like the others."""
        try:
            if [line(e) for e in equations] != [line(e) for e in self.steps[-1]]:
                return False
        except TypeError:
            return False
        made = [x for e in equations for x in e.outputs]
        known = {"step": made, "local": self.start}
        operands = [x for e in equations for x in e.inputs]
        return all(
            same(x, what if kind == "all" else known[kind][what])
            for x, (kind, what) in zip(
                [*operands, *after], [*self.operands, *self.sources], strict=True
            )
        )

    def source(self, xs: list[Any]) -> Any:
        """Where a value of each step comes from: ("step", slot), ("local", number), ("all", x)."""
        if not isinstance(xs[0], Variable):
            keys = [None if isinstance(x, Variable) else (type(x), operand_key(x)) for x in xs]
            alike = all(key == keys[0] for key in keys)
            alike = alike or (type(xs[0]) is np.ndarray and all(same(x, xs[0]) for x in xs))
            return ("all", xs[0]) if alike else None
        if not all(isinstance(x, Variable) for x in xs):
            return None
        own = {slots.get(x) for slots, x in zip(self.slots, xs, strict=True)}
        if own != {None}:
            (slot, *others) = own
            return None if others else ("step", slot)
        for i in range(self.n):
            if all(nodes[i] is x for nodes, x in zip(self.nodes, xs, strict=False)):
                return "local", i
        inside = any(xs[0] in slots for slots in self.slots)
        return ("all", xs[0]) if all(x is xs[0] for x in xs) and not inside else None

    def is_settled(self) -> bool:
        """Whether what locals have had in common until the last test they still have after it.

        Otherwise there are several places that a value may have come from, as where values that
        began alike are handed on from local to local.
        """
        before = [tuple([id(nodes[i]) for nodes in self.nodes[:-1]]) for i in range(self.n)]
        after = [id(x) for x in self.nodes[-1]]
        same: dict[Any, Any] = {}
        for history, now in zip(before, after, strict=True):
            if same.setdefault(history, now) != now:
                return False
            if len(set(history)) == 1 and now != history[0]:
                return False
        return True

    @property
    def extra(self) -> bool:
        """Whether something else than its test may end it."""
        return bool(self.asked) or self.last is not None

    @cached_property
    def moving(self) -> list[int]:
        """The nodes that a step changes; the flag is the last of them."""
        last = zip(self.sources, self.start, self.nodes[-1], strict=True)
        still = [source == ("local", i) and a is b for i, (source, a, b) in enumerate(last)]
        return [i for i in range(self.n) if not still[i] or i == self.n - 1]

    @cached_property
    def loop(self) -> tuple[While, list[Variable]]:
        """The loop, and the variables that it reads and that stay as they are."""
        consts: dict[Variable, Variable] = {}
        carry = [Variable(self.nodes[0][i].spec) for i in self.moving]
        own = dict(zip(self.moving, carry, strict=True))
        made: list[Variable] = []

        def read(source: Any) -> Any:
            kind, what = source
            if kind == "step":
                return made[what]
            if kind == "local" and what in own:
                return own[what]
            what = self.start[what] if kind == "local" else what
            known = not isinstance(what, Variable)
            return what if known else consts.setdefault(what, Variable(what.spec))

        operands, equations = iter(self.operands), []
        for e in self.steps[-1]:
            inputs = tuple([read(next(operands)) for _ in e.inputs])
            outputs = tuple([Variable(x.spec) for x in e.outputs])
            made += outputs
            equations.append(Equation(e.primitive, inputs, outputs, e.static))
        results = [read(self.sources[i]) for i in self.moving]
        if self.extra:
            answers = [(read(source), answer) for source, answer in self.asked]
            carry += [Variable(FLAG), Variable(NUMBER)]
            results += [all_of(answers, equations), applied(add, equations, carry[-1], np.int64(1))]
        body = functional(Graph([*consts.values(), *carry], equations, results))
        examples = [np.ones(x.spec.shape, x.spec.dtype)[()] for x in body.inputs]
        return While(self.condition(body), body, len(consts), examples), list(consts)

    def condition(self, body: Graph) -> Graph:
        """Whether another step follows."""
        state, equations = [Variable(x.spec) for x in body.inputs], list[Equation]()
        if not self.extra:
            return Graph(state, equations, [all_of([(state[-1], self.goes_on)], equations)])
        *_, flag, alike, number = state
        flags = [(flag, self.goes_on), (alike, True)]
        if self.last is not None:
            flags.append((applied(less, equations, number, np.int64(self.last)), True))
        return Graph(state, equations, [all_of(flags, equations)])

    def begun(self, nodes: Sequence[Any], number: int) -> list[Any]:
        """What the loop begins with: what locals hold, and that nothing was answered otherwise."""
        moving = [nodes[i] for i in self.moving]
        return [*moving, *((np.True_, np.int64(number)) if self.extra else ())]

    def done(self, trace: Any, x: Array, last: Visit) -> bool:
        """Go on with the values of the last test until the loop is over; whether that can be done.

        All Arrays that Python will read, x included, then hold what they would hold. What the steps
        read from elsewhere must be known by value as well.
        """
        arrays = [*last.holders, x]
        values = dict(zip(self.nodes[-1], [array.payload for array in arrays], strict=True))
        for array, variable in trace.state.captured.values():
            values.setdefault(variable, example(array))
        loop, consts = self.loop
        if not values.keys() >= set(consts) or not all(map(simple, arrays)):
            return False
        try:
            begun = self.begun([values[v] for v in self.nodes[-1]], last.number)
            results = loop.value(*[values[v] for v in consts], *begun)
        except Exception:  # Python will hear of it
            return False
        n = len(self.moving)
        if self.extra and (bool(results[n - 1]) == self.goes_on or not results[n]):
            return False
        taken = trace.state.equations[self.begin.equations :]
        gone = {v for e in taken for v in e.outputs}
        for i, result in zip(self.moving, results, strict=False):
            array = arrays[i]
            if self.nodes[-1][i] in gone:
                array.payload = result if type(array.payload) is np.ndarray else result[()]
        return True

    def put(self, notes: Any, guard: Any) -> set[Variable]:
        """Write the loop in the place of its steps; the variables that are no more.

        guard: that of the test, which the answer of the loop itself takes the place of
        """
        loop, consts = self.loop
        taken = notes.equations[self.begin.equations :]
        gone = {x for e in taken for x in e.outputs}
        outs: list[Variable] = []
        for x in [self.nodes[-1][i] for i in self.moving]:
            outs.append(x if x in gone and x not in outs else Variable(x.spec))
        del notes.equations[self.begin.equations :], notes.guards[self.begin.guards :]
        more = [Variable(spec) for spec in loop.spec()[len(outs) :]]
        start = self.begun(self.start, self.begin.number)
        notes.equations.append(Equation(loop, (*consts, *start), (*outs, *more), {}))
        if self.extra:
            ended = all_of([(outs[-1], not self.goes_on), (more[0], True)], notes.equations)
            at = len(notes.equations)
            notes.guards.append(type(guard)(ended, "bool(x)", True, guard.line, at, True))
        return gone.difference(outs)


def applied(primitive: Any, equations: list[Equation], *xs: Any) -> Variable:
    """The result of an operation on numbers, written down."""
    out = Variable(primitive.spec(*map(spec_in, xs)))
    equations.append(Equation(primitive, xs, (out,), {}))
    return out


def all_of(flags: Sequence[tuple[Any, bool]], equations: list[Equation]) -> Any:
    """Whether all flags are what is asked of each."""
    found: Any = np.True_
    for k, (flag, wanted) in enumerate(flags):
        holds = flag if wanted else applied(logical_not, equations, flag)
        found = applied(logical_and, equations, found, holds) if k else holds
    return found


def is_flag(x: Variable) -> bool:
    return x.spec.dtype == bool and not x.spec.shape


def asked_between(trace: Any, a: Visit, b: Visit) -> list[bool] | None:
    """The answers that a step got to other questions; None if not all of them are truth values."""
    guards = trace.state.guards[a.guards + 1 : b.guards]
    plain = all(guard.asked == "bool(x)" and is_flag(guard.variable) for guard in guards)
    return [guard.answer for guard in guards] if plain else None


def simple(x: Array) -> bool:
    """Whether the value of an Array is all that there is to it: no memory of others, by rows."""
    value = x.payload
    whole = type(value) is np.ndarray and value.flags.c_contiguous
    return x.storage is None and (whole or isinstance(value, np.generic))


def in_set(x: Any, variables: set[Variable]) -> bool:
    return isinstance(x, Variable) and x in variables


def same(x: Any, y: Any) -> bool:
    """Whether two operands are the same variable, or constants of which no bit differs."""
    if isinstance(x, Variable) or isinstance(y, Variable):
        return x is y
    x, y = [np.asarray(c.opened() if hasattr(c, "opened") else c) for c in (x, y)]
    return bool(x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes())


def raises(e: Equation) -> bool:
    """Whether an operation of a step may raise for other values."""
    if not isinstance(e.primitive, Repeated):
        return may_raise(e)
    parts = [getattr(e.primitive, name) for name in e.primitive.made_of]
    return any(raises(f) for graph in parts if isinstance(graph, Graph) for f in graph.equations)


def lost(notes: Any, graph: Graph) -> bool:
    """Whether a graph reads what a loop has taken out; the next recording is then made without."""
    gone = notes.loops.gone
    used = [x for e in graph.equations for x in e.inputs] + list(graph.outputs) if gone else []
    found = any(in_set(x, gone) for x in used)
    notes.watch.lost |= found
    return found
