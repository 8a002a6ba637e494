"""Trial: measure once for each path whether its machine code is faster than the function.

Once a path has its best machine code, its calls alternate between the two and are timed, at most
eight each. The faster way is kept: machine code, unless the function is clearly faster. A
trial ends early if one way takes over eight times as long as the other, or if recording has already
shown that the function takes that long. With `wait=True` there are no trials, since they depend on
the clock. Then the function is run in Python only in clear cases: comparing the arrays that it
reads costs more than all its work, its work is almost only SciPy calls that would take longer, none
of its operations has machine code, or what machine code calls in Python calls more functions than
the function itself does.
"""

from __future__ import annotations

import dis
import gc
import math
import sys
from collections.abc import Callable, Iterator
from time import get_clock_info, perf_counter, process_time
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from ...core.graph import Graph, Variable
from ...core.reach.namespaces import library
from ...core.reach.of_code import once_for_code
from ...transforms.call import FunctionCall
from ...transforms.loops.while_primitive import While
from ...transforms.transformation import Transformation
from ..entry.native_records import MISS, Way
from ..graph.rewriting import opened
from ..llvm.binding import BEST
from ..path import Call, Path, share_with
from ..ways import plain_way
from .budget import is_timed
from .choose_path import match

TURNS = 8  # calls of each way
FAR, LONG = 8.0, 0.05  # not tried: so many times slower, and so many seconds, when recorded
LARGE = 1 << 15  # bytes of an array from which comparing it counts
RATIO, SLACK = 1.03, 3e-7  # by which machine code may be slower: to call the function costs 0.2 us
# By which it must be faster where it does nothing: in turns, the function finds less at hand than
# in a loop of its own.
BARE = 0.85


class Stopwatch:
    """The time since a call began, by the clock and by the processor.

    A call that was interrupted by another process takes longer by the clock, and one that several
    threads work on takes longer by the processor.
    """

    FINE = get_clock_info("process_time").resolution < 1e-6

    def __init__(self) -> None:
        self.processor = process_time() if self.FINE else float("-inf")
        self.clock = perf_counter()

    def passed(self) -> float:
        """The seconds since, without those in which another process had the processor."""
        clock = perf_counter() - self.clock
        return min(clock, process_time() - self.processor)


class Trial:
    """What calls of one path took, in seconds: as they are, and by machine code.

    bare: whether NumPy does everything, called from Python
    """

    def __init__(self, recorded: float, bare: bool = False) -> None:
        self.recorded, self.bare = recorded, bare  # what the function took when it was recorded
        self.plain: list[float] = []
        self.compiled: list[float] = []

    @property
    def is_plain_next(self) -> bool:
        return len(self.plain) < len(self.compiled)

    @property
    def is_over(self) -> bool:
        if self.compiled and not self.plain:
            return self.recorded > FAR * min(self.compiled) + LONG
        if self.plain and self.plain[-1] > FAR * min(self.compiled):
            return True
        if len(self.plain) >= 2 and min(self.compiled) > FAR * min(self.plain):
            return True
        return len(self.plain) >= TURNS

    @property
    def is_slower(self) -> bool:
        """Whether machine code lost."""
        if not self.plain:
            return False
        plain, compiled = min(self.plain), min(self.compiled)
        return compiled > BARE * plain if self.bare else compiled > RATIO * plain + SLACK

    def __str__(self) -> str:
        plain, compiled = [1e6 * min(times) for times in (self.plain, self.compiled)]
        return f"in a trial the function took {plain:.3g} us, and machine code {compiled:.3g} us"


class Estimate:
    """What stands in place of a trial where nothing may be timed.

    In nanoseconds: of the function, a call of NumPy and an operation on an element, at the least;
    of machine code, a byte of an array that is compared with what it was, and what it does around a
    call that is made in Python; of both, any function that Python calls.
    """

    CALL, OPERATION, BYTE, AROUND, CALLED = 500.0, 0.1, 0.03, 500.0, 150.0
    SMALL = 10_000  # elements of arrays up to which functions that are called count
    is_over = True

    def __init__(self, path: Path) -> None:
        self.path, self.calls_more = path, False
        graph, run = path.recording.graph, path.program.run
        constants = [opened(x) for e in graph.equations for x in e.inputs]
        self.large = {id(x): x for x in constants if type(x) is np.ndarray and x.nbytes > LARGE}
        read = [x for x in path.state.arrays if x.nbytes > LARGE]
        self.derived = not all(share_with([x], read) for x in self.large.values())
        self.bare = run.code is None
        self.calls = bool(run.calls) or any(isinstance(e.primitive, While) for e in graph.equations)
        self.plain = self.CALL * len(graph.equations) + self.OPERATION * sum(run.work)
        self.compared = self.BYTE * sum(x.nbytes for x in read)
        # Calls of SciPy's that solve, with functions of the user's.
        calls = [e.primitive for e in graph.equations if isinstance(e.primitive, FunctionCall)]
        costs = [call.costs for call in calls if call.costs is not None]
        self.solves = bool(calls) and len(costs) == len(calls)
        if self.solves:
            self.plain += sum([plain for plain, _ in costs])
            self.compared += sum([compiled for _, compiled in costs])

    @property
    def is_slower(self) -> bool:
        """Whether comparing, or SciPy's calls, are most of what is done, and nothing else is saved.

        So it is too where NumPy does everything, such as float16, from Python.
        What was computed of the arrays once and for all may be worth any comparison.
        """
        if self.bare or self.calls_more:
            return True
        return self.compared > self.plain and (self.solves or not (self.derived or self.calls))

    def ask(self, function: Callable[[], Any], replay: Callable[[], Any]) -> None:
        """Count what both call, where NumPy or SciPy does part of a small program in Python.

        Each runs once more, so that nothing of what it does may be seen.
        """
        recording, run = self.path.recording, self.path.program.run
        passed = len(run.calls)
        if not passed or recording.written or recording.stores:
            return
        if any(isinstance(e.primitive, FunctionCall) for e in run.calls):
            return
        if sum(sizes(run.whole)) > self.SMALL:
            return
        plain, compiled = calls_in(function), calls_in(replay)
        if plain is not None and compiled is not None:
            # Of a library's function, equations say how it is written here, and not what it costs.
            n = min(len(run.whole.equations) - passed, plain.operations)
            saved = self.CALL * n + self.OPERATION * sum(run.work)
            more = self.CALLED * (compiled.calls - plain.calls) + self.AROUND * passed
            self.calls_more = more > saved

    def __str__(self) -> str:
        if self.bare:
            return "none of what it does has machine code"
        if self.calls_more:
            return "machine code would call more functions in Python than it does"
        if self.solves:
            return "what SciPy calls is short"
        return "to compare the arrays that it reads takes longer"


def sizes(graph: Graph) -> Iterator[int]:
    """How many elements the operands and results of its equations have."""
    for e in graph.equations:
        for x in (*e.inputs, *e.outputs):
            yield x.spec.size if isinstance(x, Variable) else np.size(opened(x))


class Heard(NamedTuple):
    """What Python hears of a run: functions that are called; and what it doesn't hear.

    operations: operators, and calls of ufuncs, in the program's own functions, as they stand in the
    code of those that ran; infinite where one has a loop
    """

    calls: int
    operations: float


def calls_in(run: Callable[[], Any]) -> Heard | None:
    """What is heard of a run; None where another profiler hears it."""
    n, operations, before, collects = 0, 0.0, sys.getprofile(), gc.isenabled()
    if before is not None:
        return None

    def note(frame: Any, event: str, about: Any) -> None:
        nonlocal n, operations
        if event not in ("call", "c_call"):
            return
        n += 1
        by = frame.f_back if event == "call" else frame
        if event == "call" and library(frame.f_globals) < 2:
            operations += operations_in(frame.f_code)
        if by is not None and library(by.f_globals) < 2:
            operations -= 1  # this call, which is heard

    gc.disable()  # what is called when an object ends, its run would call at other times
    try:
        sys.setprofile(note)
        missed = run() is MISS
        sys.setprofile(None)
    finally:
        sys.setprofile(before)
        if collects:
            gc.enable()
    return None if missed else Heard(n, max(operations, 0))


@once_for_code
def operations_in(code: CodeType) -> float:
    """How many calls, operators and subscripts stand in code; infinite where it has a loop."""
    names = [x.opname for x in dis.get_instructions(code)]
    if any(name.startswith(LOOPS) for name in names):
        return math.inf
    return sum(name.startswith(OPERATIONS) for name in names)


LOOPS = ("FOR_ITER", "JUMP_BACKWARD")
OPERATIONS = ("BINARY_", "CALL", "COMPARE_", "STORE_SUBSCR", "UNARY_")


def is_to_try(compiled: Any, path: Path) -> bool:
    """Whether a call helps to find out which way of a path is faster."""
    if not is_timed(compiled) or path.slow or not path.learnt:
        return False
    if path.program is None or path.program.level < BEST:
        return False
    if path.trial is None:
        path.trial = Trial(path.took, path.program.run.code is None)
    return not path.trial.is_over


def once(compiled: Any, args: Any, kwargs: Any) -> Any:
    """A call by a path that stands for it, entered from Python."""
    call = compiled.arrange(args, kwargs)
    found = match(compiled, compiled.entry(call.key), call.arrays, call.numbers)
    if found is None:  # what it reads has changed meanwhile
        return compiled.fun(*args, **kwargs)
    return found[0].results(found[1], call.arrays)


def tried(compiled: Any, path: Path, call: Call, args: Any, kwargs: Any) -> Any:
    """The result of a call by the way whose turn it is; after the last one, the choice is made."""
    trial = path.trial
    way = next((way for way in compiled.replay[1] if way.path is path), None)
    # Each is timed as it is in a loop, where its code is at hand; twice the same does no harm.
    pure = not (path.recording.written or path.recording.stores)
    if trial.is_plain_next:
        if pure:
            compiled.fun(*args, **kwargs)
        begun = Stopwatch()
        out = compiled.fun(*args, **kwargs)
        trial.plain.append(begun.passed())
    else:
        out, begun = MISS, Stopwatch()
        if way is not None:
            way.pass_after(0)
            if pure:
                compiled.replay[0](*args, **kwargs)
            begun = Stopwatch()
            out = compiled.replay[0](*args, **kwargs)
        if out is MISS:
            out = once(compiled, args, kwargs)
        trial.compiled.append(begun.passed())
    if way is not None:
        way.pass_after(0 if trial.is_over else 1)
    if trial.is_over:
        decided(compiled, path, call, args, kwargs)
    return out


def decided(compiled: Any, path: Path, call: Call, args: Any, kwargs: Any) -> None:
    """Let calls like this one go the way that won."""
    if path.trial.is_slower:
        leave(compiled, path, call, args, kwargs)


def estimated(compiled: Any, path: Path, call: Call, args: Any, kwargs: Any) -> None:
    """Let calls like this one go as they are, without a trial, where that is clearly faster."""
    if not compiled.wait or isinstance(compiled.fun, Transformation):
        return
    estimate, count = Estimate(path), compiled.counter.copy()
    if not estimate.is_slower:
        replay, _ = compiled.replay
        estimate.ask(lambda: compiled.fun(*args, **kwargs), lambda: replay(*args, **kwargs))
        compiled.counter[:] = count
    if estimate.is_slower:
        path.trial = estimate
        leave(compiled, path, call, args, kwargs)


def leave(compiled: Any, path: Path, call: Call, args: Any, kwargs: Any) -> None:
    """Let calls like this one run the function itself."""
    path.slow = True
    way = plain_way(path, call, args, kwargs, compiled.fun, compiled.counter)
    others: list[Way] = [other for other in compiled.replay[1] if other.path is not path]
    compiled.know([way, *others] if way is not None else others)
