"""First calls: run the function in Python until recording pays, with its long loops compiled.

Recording a call costs about a millisecond, plus several times what the function takes. So calls of
one kind first run in Python: a few of them, and more until together they have taken at least as
long as a recording takes; only one call if the function takes long. Then one call is recorded,
machine code is made in the background, and until it's ready calls run in Python again. A call
without a matching path begins again from the start, so recordings take only a part of the total
time.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from time import thread_time
from typing import Any

from ..core.graph import Equation, Graph, Variable
from ..core.reach.calls import learn
from ..core.reach.session import OFF, SESSION
from ..core.spec import Spec, spec_of
from ..core.temporary import during
from ..primitives import load
from ..transforms.loops.scan_primitive import FASTER, Scan
from ..transforms.loops.while_primitive import While, WhilePull
from ..transforms.reverse import STAGED
from .entry import object_layout
from .facts import quick_profile
from .facts.call_monitor import unwatched
from .fall_back import attempted
from .llvm.binding import WORKER
from .loops.find import structure
from .program import Program

# What calls of a kind take before one is recorded: FEW calls and ENOUGH seconds, OFTEN calls, or
# MUCH time, which is as good as many calls.
# A recording takes one to two milliseconds, 3 to 10 microseconds an operation, and some calls:
# after this much time, all calls together have hardly taken 2.5 times as long. A call that runs in
# Python takes half a microsecond more than the function, so that OFTEN of them count as much.
FEW, OFTEN, ENOUGH, MUCH = 10, 8192, 2.5e-2, 0.1
AGAIN = 20  # early calls after which a recording that is awaited is asked for again
SAMPLED = 32  # of later calls, one in so many is timed
SHORT = 2e-5  # seconds of a call in which there is no long loop
BRIEF = 1e-3  # of a first call in which there is none: its machine code takes longer to make
LONG = 2000  # equations done in a loop from which machine code pays
SELDOM = 100  # full garbage collections run so many times less often
MOST = 2**31 - 1  # what `gc.set_threshold` takes
BEFORE: dict[tuple[int, ...], tuple[int, int, int]] = {}  # what it was, by what is set now


def imported() -> None:
    """Import what a recording needs, before anybody looks at what the recording may change."""
    load(everything=False)
    if SESSION.get() is not OFF:
        learn()


class Preparation:
    """What the first recording of a process needs: modules, LLVM, machine code that watches calls.

    To get it takes many times as long as a recording. So the background thread is asked for it by
    the first call that would be recorded, and until it is there calls run in Python.
    """

    def __init__(self) -> None:
        self.asked = self.done = False

    def is_done(self) -> bool:
        """Whether it is there; the first who asks that has it made."""
        if not self.asked:
            self.asked = True
            WORKER.do(self.make, soon=True)
        return self.done

    def make(self) -> None:
        try:
            with suppress(Exception):  # a recording that misses it says so
                if object_layout.usable():
                    object_layout.shared()
                quick_profile.prepare()
                imported()
        finally:
            self.done = True

    def forked(self) -> None:
        """In a new process nobody has been asked."""
        self.asked = self.done


PREPARATION = Preparation()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=PREPARATION.forked)


def faster(loops: Faster) -> AbstractContextManager[None]:
    """Run long loops in machine code."""
    return during(FASTER, loops)


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Run full garbage collections less often: a recording makes many objects, all in use.

    Young objects are collected as ever. One thread at a time is in here. What was set by a call
    that was broken off may be put back only when the next one has begun.
    """
    found = gc.get_threshold()
    often = BEFORE.get(found, found)
    seldom = (*often[:2], min(often[2] * SELDOM, MOST))  # one recording may hold others
    try:
        BEFORE[seldom] = often
        gc.set_threshold(*seldom)
        yield
    finally:
        if gc.get_threshold() == seldom:  # nobody else has set it meanwhile
            gc.set_threshold(*often)
        BEFORE.pop(seldom, None)


class Faster:
    """What a `Scan` asks for while a function is recorded, and then runs: the same loops twice."""

    def __init__(self) -> None:
        self.programs: dict[Any, tuple[Scan, Any]] = {}  # each with a loop that has its key

    def run(self, scan: Scan, xs: Sequence[Any]) -> Any:
        """The results of a loop on plain operands."""
        if scan.length * work(scan.body) < LONG:
            return scan.looped(xs, scan.length)
        found = scan.derive("program", lambda: attempted(lambda: self.program(scan), "scan"))
        return scan.looped(xs, scan.length) if found is None else alone(found, xs)

    def program(self, scan: Scan) -> Any:
        key: Any = scan
        with suppress(TypeError):  # a parameter that is no key of a dict
            counts = scan.length, scan.reverse, scan.n_consts, scan.n_carry
            key = (*counts, *structure(scan.body))
        if key not in self.programs:
            self.programs[key] = scan, program(scan)
        return self.programs[key][1]

    def wait(self, loop: While, xs: Sequence[Any]) -> Any:
        """The results of a loop that may turn out to be long."""
        found = loop.looped(xs, LONG // max(1, work(loop.cond) + work(loop.body)))
        if found is not None:
            return found
        make = lambda: program_of(loop, loop.body.inputs)
        program = loop.derive("program", lambda: attempted(make, "while_loop"))
        return loop.looped(xs) if program is None else alone(program, xs)

    def back(self, loop: WhilePull, xs: Sequence[Any]) -> Any:
        """The results of a way back."""
        if int(loop.parts(xs)[2]) * work(loop.pull_graph) < LONG:
            return loop.looped(xs)
        make = lambda: program_of(loop, [Variable(spec_of(x)) for x in xs])
        program = loop.step.derive("back program", lambda: attempted(make, "while_loop"))
        return loop.looped(xs) if program is None else alone(program, xs)

    def make(self, make: Callable[[], Any]) -> Any:
        """Call `make`, which runs none of the user's code, without watching it."""
        with during(STAGED, None), unwatched():
            return make()


def alone(program: Any, xs: Sequence[Any]) -> Any:
    """What a program gives. Where it is in doubt NumPy does the loop, and must not ask for it."""
    before = FASTER.get()
    try:
        FASTER.set(None)
        return program(*xs)
    finally:
        FASTER.set(before)


class Early:
    """The calls of one kind that ran in Python since the last path was recorded.

    numbers: whether their Python floats may be inputs of the first recording.
    untimed: how many calls need not be timed, and `weight`: for how many the next one counts.
    took: what the last one that was timed took.
    short: whether these may go on without `run`, since the last one took no time for a long loop.
    loops: what long `pb.scan` loops in them were compiled to, for the recording as well.
    awaited: the recording that is being finished in the background, if one is.
    kind: of the first call, where that took long enough to look at its arguments.
    """

    def __init__(self) -> None:
        self.calls, self.seconds, self.numbers = 0, 0.0, True
        self.untimed, self.weight, self.short = 0, 1, False
        self.took = 0.0
        self.loops = Faster()
        self.awaited: Any = None
        self.kind: Any = None

    @property
    def comes_again(self) -> bool:
        """Whether this is likely to be recorded some time."""
        return self.calls >= FEW or self.seconds >= MUCH

    @property
    def is_due(self) -> bool:
        """Whether recording pays."""
        if self.calls < FEW:
            return self.seconds >= MUCH
        return self.seconds >= ENOUGH or self.calls >= OFTEN

    @property
    def is_over(self) -> bool:
        """Whether the next call is recorded; where one takes long, nothing is waited for."""
        if self.awaited is not None or not self.is_due:
            return False
        return self.calls < FEW or PREPARATION.is_done()

    def begin(self, took: float) -> int:
        """Note what the first call of all took; returns how many need not be looked at now.

        These count at once. The clock may have gone on for others: a brief call is brief indeed,
        and FEW of them are far from ENOUGH.
        """
        self.seconds, self.took, self.short = took, took, took < BRIEF
        if not self.short or FEW < 2:
            return 0
        self.calls = self.weight = FEW - 1
        return FEW - 2

    def run(self, fun: Any, args: Any, kwargs: Any, begun: float | None = None) -> Any:
        """The result of a call that runs in Python; its time counts from `begun` on.

        Where that is not known, and FEW calls have been made or the last one was short, one call in
        SAMPLED is timed for all: asking for the time takes as long as a short function does. The
        others count as the shorter of two that were timed, lest one that was held up counts often.
        """
        self.calls += 1
        if self.awaited is not None and self.calls % AGAIN == 0:
            self.awaited.ask()  # in a process that was forked nobody else does it
        weight = 1
        if begun is None:
            if self.untimed:
                self.untimed, weight = self.untimed - 1, 0
            else:
                begun, weight = thread_time(), self.weight
        before = FASTER.get()
        try:
            FASTER.set(self.loops)  # as `faster` does, which would cost a tenth of such a call
            return fun(*args, **kwargs)
        finally:
            FASTER.set(before)
            if weight and begun is not None:
                self.count(thread_time() - begun, weight)

    def spare(self) -> int:
        """How many calls need not be timed now; they count at once."""
        n, self.untimed = self.untimed, 0
        self.calls += n
        return n

    def count(self, took: float, weight: int) -> None:
        """Note what a call took that counts for so many, and how many need not be timed now."""
        self.seconds += took + (weight - 1) * min(took, self.took)
        self.took = took
        self.short = took < SHORT and self.awaited is None
        if self.calls >= FEW:
            self.untimed = 0 if self.is_over else SAMPLED - 1
        else:
            self.untimed = max(FEW - self.calls - 1, 0) if took < BRIEF else 0
        self.weight = self.untimed + 1


def work(body: Graph) -> int:
    """How many equations a step does."""
    return sum(
        [
            e.primitive.length * work(e.primitive.body) if isinstance(e.primitive, Scan) else 1
            for e in body.equations
        ]
    )


def program(scan: Scan) -> Any:
    inputs = [Variable(x.spec) for x in scan.body.inputs]
    first = scan.n_consts + scan.n_carry
    rows = [Spec((scan.length, *x.spec.shape), x.spec.dtype) for x in inputs[first:]]
    inputs[first:] = map(Variable, rows)
    return program_of(scan, inputs)


def program_of(loop: Any, inputs: Sequence[Variable]) -> Any:
    """One loop as a program."""
    outputs = tuple([Variable(spec) for spec in loop.spec()])
    graph = Graph(inputs, [Equation(loop, tuple(inputs), outputs, {})], outputs)
    return Program(graph, 0, native=False)  # it is run once or twice
