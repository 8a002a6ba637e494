"""Finish a recording after its call: deferred differentiation of the function it recorded.

Enters: a call of `compile(grad(f))` and the like, in which f was recorded and the transformation
ran in Python. Leaves: a path, made by the background thread; f doesn't run again. Only the plainest
case is handled. In any other case no path is made, and the next recording is made in one piece,
within its call, and reports the reason.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context
from time import thread_time
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.layout import duplicate
from ...core.lost import REPEATS
from ...core.reach.walk import OURS
from ...core.trace import running
from ...core.tree import flatten, unflatten
from ..first_call import Faster, seldom_collected
from ..llvm.binding import WORKER
from ..path import Call, Entry, share_memory, share_with
from ..record.recording import Recording
from ..record.verify import verdict
from .budget import is_timed
from .rehearsal import Rehearsal

if TYPE_CHECKING:
    from .compiled import Compiled

TURN = threading.RLock()  # to record, which one thread at a time does
SIMPLE = {np.ndarray, np.float64, float, int, bool, str, type(None)}


class PostponedRecording:
    """The second half of a recording, with all that it needs of its call.

    call, result: copies, which nobody else writes into.
    enter: makes a path of a recording; returns why there is none.
    """

    def __init__(
        self,
        compiled: Compiled,
        entry: Entry,
        call: Call,
        result: Any,
        rehearsal: Rehearsal,
        loops: Faster,
        took: float,
        enter: Callable[[Recording], str | None],
    ) -> None:
        self.compiled, self.entry, self.rehearsal = compiled, entry, rehearsal
        self.call, self.result = copied(call), copy_of(result)
        self.passed = list(call.args)  # whose containers are no results
        self.loops, self.took, self.enter = loops, took, enter
        self.paths, self.floats, self.context = entry.paths, entry.floats, copy_context()
        self.is_over = False

    def ask(self) -> None:
        """Have the background thread do it."""
        WORKER.do(self.run, soon=True)

    def run(self) -> None:
        """Make the path, unless another thread has; this one waits for it."""
        with TURN, seldom_collected():
            if self.is_over:
                return
            begun = thread_time()
            try:
                kept = self.context.run(self.finish)
            except Exception:  # made in one piece, it is found out why
                kept = False
            self.end(kept, thread_time() - begun)

    def end(self, kept: bool, seconds: float) -> None:
        entry, early = self.entry, self.entry.early
        self.compiled.budget.more(seconds)
        self.is_over, entry.postpones = True, kept
        if kept:
            entry.paths[0].took, entry.early = self.took, type(early)()
            entry.paths[0].is_awaited()
        elif early.awaited is self:
            early.awaited = None

    def finish(self) -> bool:
        """Whether there is a path now."""
        entry, rehearsal = self.entry, self.rehearsal
        REPEATS.set(True)  # in the context of this recording alone
        recording = rehearsal.finished(self.loops, self.call)
        if recording is None:
            return False
        why = verdict(recording, self.result, self.call.arrays, self.passed, rehearsal.state)
        if why is not None or entry.paths is not self.paths or entry.floats is not self.floats:
            return False
        if self.compiled.refusal is not None or (entry.floats and recording.narrow):
            return False
        return self.enter(recording) is None


def may_postpone(compiled: Compiled, entry: Entry) -> bool:
    """Whether the clock may decide when a recording is finished, and all but a function is ours."""
    return (
        is_timed(compiled)
        and entry.postpones
        and type(compiled.fun) in OURS
        and not compiled.carried
        and running() is None
    )


def may_be_copied(rehearsal: Rehearsal, call: Call, result: Any) -> bool:
    """Whether the second half may be done with copies: the result is simple, and new."""
    leaves, _ = flatten(result)
    if not SIMPLE.issuperset(map(type, leaves)):
        return False
    new = [x for x in leaves if type(x) is np.ndarray]
    read = [x for x in rehearsal.state.arrays if type(x) is np.ndarray]
    shared = share_memory([*call.arrays, *new]) or share_with(new, read)
    return not shared and not share_with(call.arrays, read)


def copied(call: Call) -> Call:
    """The same call on arrays of our own."""
    leaves = list(call.leaves)
    for i in call.inputs:
        leaves[i] = duplicate(leaves[i])
    return call._replace(leaves=leaves, arrays=[leaves[i] for i in call.inputs])


def copy_of(result: Any) -> Any:
    leaves, structure = flatten(result)
    copies = [duplicate(x) if type(x) is np.ndarray else x for x in leaves]
    return unflatten(structure, copies)
