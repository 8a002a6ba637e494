"""A `while` of Python's as one equation: where a recording proves that it goes on as it began.

At the test that ends a `while`, the trace looks at the frame: its locals are the state of the loop,
Arrays of the recording apart from everything else. If between two tests all else stays equal, and
no other question is asked, Python takes the same way again, whatever the Arrays hold. So if the
steps of the recording are the same equations as well, with operands that are invariant, of the same
step, or what the locals held at the test before, they are a `While`, which stands for every number
of steps.

The recording of some steps shows what the loop gives where locals that hold one value in the end
held one when it began (`gives_all`): if not, it is taken to begin a step later, and the tests
before ask their guards. What was recorded of the steps is taken out; variables of it that something
still reads, though no local held them, make the recording void (`lost`), and the next one folds no
loops.

A loop of many steps is not run to its end by Python: once some steps prove it, it goes on as a
`While` on values, Python's Arrays get what it gives, and the test says that it is over (`done`).
"""

from __future__ import annotations

import dis
from functools import cached_property, lru_cache
from itertools import pairwise
from types import CodeType
from typing import Any

import numpy as np

from ...core.array import Array
from ...core.graph import Equation, Graph, Variable
from ...transforms.loops.body import Repeated, example, functional
from ...transforms.loops.while_primitive import While
from ..facts.bytecode import code_of
from ..graph.optimise import frozen, operand_key
from ..loops.find import named
from .frame_state import Visit, is_as_before
from .own_code import may_raise

LEAST, MOST = 2, 4  # steps that are compared
ENOUGH = 8  # tests after which a loop is done without Python, or whenever they have doubled
LOST = "it keeps a value of a `while` loop where the recording cannot follow it"
BETWEEN = ("NOT_TAKEN", "CACHE", "EXTENDED_ARG", "NOP")
FORWARD = ("POP_JUMP_FORWARD_IF_FALSE", "POP_JUMP_IF_FALSE")
ENDS = ("RETURN_VALUE", "RETURN_CONST", "JUMP_FORWARD", "JUMP_BACKWARD", "RERAISE", "RAISE_VARARGS")
READERS = {"locals", "eval", "exec", "vars", "dir", "_getframe", "currentframe"}
GENERATOR = 0x20 | 0x80 | 0x200  # flags of code that can be left and entered again


class Test:
    """A test of a `while`: the loop that it is of, and the locals that may be read after it."""

    __slots__ = ("begin", "is_first", "live")

    def __init__(self, begin: int, is_first: bool, live: frozenset[str] | None) -> None:
        self.begin, self.is_first, self.live = begin, is_first, live


@lru_cache(maxsize=1024)
def tests_in(code: CodeType) -> dict[int, Test]:
    """The tests of `while` loops, before the first step and after each, by what instruction asks.

    No iterator may be under way around the loop: nobody sees how far it is.
    """
    found: dict[int, Test] = {}
    if code.co_flags & GENERATOR:
        return found
    whole = [x for x in dis.get_instructions(code) if x.opname not in BETWEEN]
    alive = live_names(code, whole)
    last: dict[int, int] = {}  # where loops begin, and where they end
    for i, x in enumerate(whole[:-1]):
        following = whole[i + 1]
        if x.opname == "POP_JUMP_BACKWARD_IF_TRUE":
            begin, end = x.argval, following.offset
        elif x.opname == "POP_JUMP_IF_FALSE" and following.opname == "JUMP_BACKWARD":
            begin, end = following.argval, x.argval
        else:
            continue
        if not any(
            y.opname in ("FOR_ITER", "SEND") and y.offset <= begin and y.argval > x.offset
            for y in whole
        ):
            last[begin] = end
            add_test(found, whole, i, Test(begin, False, alive[i] if alive else None))
    for i, x in enumerate(whole[:-1]):
        begin = whole[i + 1].offset
        if x.opname in FORWARD and last.get(begin) == x.argval and begin > x.offset:
            add_test(found, whole, i, Test(begin, True, alive[i] if alive else None))
    return found


def add_test(found: dict[int, Test], whole: list[Any], i: int, test: Test) -> None:
    """Enter the test that a jump makes: the jump asks, or before it TO_BOOL or a comparison."""
    found[whole[i].offset] = test
    for x in whole[max(i - 2, 0) : i]:
        if x.opname in ("TO_BOOL", "COMPARE_OP"):  # Python's numbers answer to a comparison
            found[x.offset] = test


def live_names(code: CodeType, whole: list[Any]) -> list[frozenset[str]] | None:
    """Of each instruction, the locals that may be read after it; None where any may be."""
    if getattr(code, "co_exceptiontable", b"") or not READERS.isdisjoint(code.co_names):
        return None
    places = {x.offset: i for i, x in enumerate(whole)}
    before = [frozenset[str]()] * (len(whole) + 1)
    after = list(before)
    changed = True
    while changed:
        changed = False
        for i in range(len(whole) - 1, -1, -1):
            x = whole[i]
            names = set() if x.opname in ENDS else set(before[i + 1])
            if "JUMP" in x.opname or x.opname in ("FOR_ITER", "SEND"):
                if x.argval not in places:
                    return None
                names |= before[places[x.argval]]
            after[i] = frozenset(names)
            if x.opname == "STORE_FAST":
                names.discard(x.argval)
            elif "_FAST" in x.opname:
                names.update(x.argval if isinstance(x.argval, tuple) else (x.argval,))
            if names != before[i]:
                before[i], changed = frozenset(names), True
    others = frozenset([*code.co_cellvars, *code.co_freevars])
    return [names | others for names in after]


class WhileLoops:
    """The loops that are under way in one recording."""

    def __init__(self) -> None:
        self.open: dict[Any, tuple[Any, list[Visit]]] = {}
        self.gone: set[Variable] = set()

    def asked(self, trace: Any, frame: Any, x: Array, flag: Any, answer: Any) -> bool:
        """Note a question before its guard; whether it was the last of a loop that is folded.

        frame: of the program. x, flag: what is asked, and its variable; the answer to a loop that
        has been done is False.
        """
        if not trace.state.watch.folds:
            return False
        test = None if frame is None else tests_in(frame.f_code).get(frame.f_lasti)
        if test is None:
            return False
        key = id(frame), test.begin
        if test.is_first:
            self.open.pop(key, None)
            if not answer:
                return False
        _, visits = self.open.setdefault(key, (frame, []))
        visits.append(Visit(trace.state, flag, frame, trace, test.live))
        for visit in visits[-2:-1]:
            visit.holders = []  # values of earlier steps are not kept
        n = len(visits)
        if not answer:
            del self.open[key]
        elif n < ENOUGH or n & (n - 1):
            return False
        loop = FoundWhile.of(trace, visits)
        if loop is None or (answer and not loop.done(trace, x, visits[-1])):
            return False
        self.open.pop(key, None)
        self.gone |= loop.put(trace.state)
        return True


def line(e: Equation) -> Any:
    specs = [(x.spec.shape, x.spec.dtype) for x in e.outputs]
    return named(e.primitive), frozen(e.static) if e.static else None, specs, len(e.inputs)


class FoundWhile:
    """The steps of a loop from one test on, as one equation.

    steps: of each step its equations. nodes: what the locals hold at each test.
    """

    def __init__(self, trace: Any, visits: list[Visit]) -> None:
        notes = trace.state
        self.begin, self.start = visits[0], list[Any]()
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

    @classmethod
    def of(cls, trace: Any, visits: list[Visit]) -> FoundWhile | None:
        """The longest end of some steps that is a loop; None if there is none."""
        last, first = visits[-1], len(visits) - 1
        if last.state is None or last.flag.spec.dtype != bool or last.flag.spec.shape:
            return None
        size = last.equations - visits[-2].equations
        codes = [code_of(code) for code, _ in trace.state.watch.codes.values()]
        strict = any(code.identity for code in codes)
        while first > 0:
            a, b = visits[first - 1], visits[first]
            alike = b.guards - a.guards == 1 and b.equations - a.equations == size
            if a.state != last.state or not alike or not a.same_objects(last, strict):
                break
            first -= 1
        # The last steps are compared; since the state is the same, those before are like them.
        seen = visits[max(first, len(visits) - 1 - MOST) :]
        if len(seen) <= LEAST:
            return None
        try:
            loop = cls(trace, seen)
            lines = [[line(e) for e in step] for step in loop.steps]
        except TypeError:  # a parameter that cannot be compared
            return None
        if any(own != lines[0] for own in lines) or any(map(raises, loop.steps[0])):
            return None
        if None in loop.sources or None in loop.operands or not loop.is_settled():
            return None
        equations = trace.state.equations
        made = {x: i for i, e in enumerate(equations) for x in e.outputs}
        early = first and loop.starts(visits[first - 1], visits[first], last, equations)
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
            return ("all", xs[0]) if all(key == keys[0] for key in keys) else None
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

    @cached_property
    def loop(self) -> tuple[While, list[Variable]]:
        """The loop, and the variables that it reads and that stay as they are."""
        consts: dict[Variable, Variable] = {}
        carry = [Variable(x.spec) for x in self.nodes[0]]
        made: list[Variable] = []

        def read(source: Any) -> Any:
            kind, what = source
            if kind == "step":
                return made[what]
            if kind == "local":
                return carry[what]
            known = not isinstance(what, Variable)
            return what if known else consts.setdefault(what, Variable(what.spec))

        operands, equations = iter(self.operands), []
        for e in self.steps[-1]:
            inputs = tuple([read(next(operands)) for _ in e.inputs])
            outputs = tuple([Variable(x.spec) for x in e.outputs])
            made += outputs
            equations.append(Equation(e.primitive, inputs, outputs, e.static))
        results = [read(source) for source in self.sources]
        body = functional(Graph([*consts.values(), *carry], equations, results))
        state = [Variable(x.spec) for x in body.inputs]
        cond = Graph(state, [], [state[-1]])
        examples = [np.ones(x.spec.shape, x.spec.dtype)[()] for x in body.inputs]
        return While(cond, body, len(consts), examples), list(consts)

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
            results = loop.value(*[values[v] for v in (*consts, *self.nodes[-1])])
        except Exception:  # Python will hear of it
            return False
        taken = trace.state.equations[self.begin.equations :]
        gone = {v for e in taken for v in e.outputs}
        for array, v, result in zip(arrays, self.nodes[-1], results, strict=False):
            if v in gone:
                array.payload = result if type(array.payload) is np.ndarray else result[()]
        return True

    def put(self, notes: Any) -> set[Variable]:
        """Write the loop in the place of its steps; the variables that are no more."""
        loop, consts = self.loop
        taken = notes.equations[self.begin.equations :]
        gone = {x for e in taken for x in e.outputs}
        outs: list[Variable] = []
        for x in self.nodes[-1]:
            outs.append(x if x in gone and x not in outs else Variable(x.spec))
        del notes.equations[self.begin.equations :], notes.guards[self.begin.guards :]
        count = Variable(loop.spec()[self.n])
        e = Equation(loop, (*consts, *self.start), (*outs, count), {})
        notes.equations.append(e)
        return gone.difference(outs)


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
