"""Record a call: rehearse it, undo that, run the function, keep the recording if it is valid.

Enters: a call without a matching path. Leaves: its result, as the function itself returns it. A
path is kept only if the run agreed with its rehearsal and didn't change anything that the path
reads. Only one thread at a time records, since undoing would revert what other threads did. The
second half of a recording may be postponed (`postponed`).
"""

from __future__ import annotations

import os
import threading
from time import thread_time
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.array import Array, is_number
from ...core.reach.calls import call_inside
from ...core.scalars import is_python
from ...core.temporary import acquired
from ...core.trace import RECORDINGS, running
from ..entry import object_layout
from ..entry.native_records import MISS
from ..facts.allowance import Allowance, bounded, granted
from ..facts.call_monitor import is_profiled
from ..facts.snapshot import is_lock
from ..facts.state import State
from ..first_call import Early, Faster, faster, imported, seldom_collected
from ..llvm.binding import WORKER
from ..path import Call, Entry, Path, share_memory
from ..record.recording import Recording
from ..record.verify import note_identity, verdict
from . import reasons
from .budget import is_timed
from .choose_path import match
from .postponed import TURN, PostponedRecording, may_be_copied, may_postpone
from .rehearsal import Rehearsal, carry_changed, changed, observe, rehearse

if TYPE_CHECKING:
    from .compiled import Compiled

BRANCHES = "Pass arrays that are indexed as arguments, and write `np.where` for `if`."
FLOATS = "What works on numbers as they are, such as SciPy's solvers, may call compiled functions."
PATHS = 64  # ways of one entry, before the function falls back to Python

# Of all entries, and to record: who holds the second may take the first, and never the other way
# round. A process does not fork while another thread holds them.
LOCK = threading.RLock()
if hasattr(os, "register_at_fork"):
    for lock in (LOCK, TURN):  # the last is taken first
        os.register_at_fork(
            before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release
        )


def record_call(
    compiled: Compiled,
    entry: Entry,
    call: Call,
    args: Any,
    kwargs: Any,
    known: list[Path] | None = None,
    at_once: bool = False,
) -> Any:
    """Rehearse the call, undo that, and run the function; keep the recording if it may be kept.

    Nobody else records or runs it meanwhile, since undoing would revert what they did; if somebody
    does, this call runs in Python, where the clock may decide that.

    Args:
        known: the paths that have been tried; another thread may have found more.
        at_once: whether somebody waits for the path.
    """
    calls_itself = compiled.recorder == threading.get_ident()
    if calls_itself or is_profiled():  # a profiler would not be told of calls again
        compiled.last_way = reasons.INSIDE
        return call_inside(compiled.fun, args, kwargs)
    reads = granted(is_timed(compiled) and not at_once, entry.early.seconds)
    with acquired(TURN, waits=at_once or not is_timed(compiled)) as mine:
        if not mine:
            compiled.misses, compiled.last_way = compiled.misses - 1, reasons.BUSY
            return call_inside(compiled.fun, args, kwargs)
        if known is not None and entry.paths is not known and running() is None:
            found = match(compiled, entry, call.arrays, call.numbers)
            if found is not None:
                compiled.misses, compiled.hits = compiled.misses - 1, compiled.hits + 1
                compiled.last_way = f"{reasons.REPLAYED}."
                return found[0].results(found[1], call.arrays)
            if compiled.refusal is not None:
                return call_inside(compiled.fun, args, kwargs)
        compiled.recorder, before, entry.unkept = threading.get_ident(), entry.paths, reasons.UNKEPT
        try:
            with WORKER.held(), seldom_collected():
                result = recorded_run(compiled, entry, call, args, kwargs, reads, at_once)
        except Exception:
            entry.unkept = reasons.RAISED
            raise
        finally:
            compiled.recorder = None
            kept = entry.paths is not before or entry.early.awaited is not None
            entry.unkept = "" if kept else entry.unkept
            compiled.last_way = "" if kept else reasons.unkept(entry)
    if result is not MISS:
        return result
    if compiled.ran is None or compiled.refusal is not None:
        return call_inside(compiled.fun, args, kwargs)
    return observe(compiled, entry, call, args, kwargs, reads)


def recorded_run(
    compiled: Compiled, entry: Entry, call: Call, args: Any, kwargs: Any, reads: Allowance,
    at_once: bool,
) -> Any:  # fmt: skip
    """The result of a call that is recorded as well; MISS where there was no rehearsal."""
    object_layout.prepare()
    imported()
    loops, begun = entry.early.loops, thread_time()
    postpones = may_postpone(compiled, entry) and not at_once
    with bounded(reads):
        rehearsal = rehearse(compiled, entry, call, loops, postpones)
    if rehearsal is None:
        return MISS
    ready = thread_time()
    with faster(loops):
        result = call_inside(compiled.fun, args, kwargs)
    ran = thread_time()
    before = entry.paths
    if rehearsal.postponed is not None:
        postpone(compiled, entry, call, result, rehearsal, loops, ran - ready)
    else:
        keep(compiled, entry, call, result, [args, kwargs], rehearsal)
    if entry.paths is not before:
        entry.paths[0].took, entry.early = ran - ready, Early()
        if is_timed(compiled):
            entry.paths[0].is_awaited()
    compiled.budget.account(ran - ready, thread_time() - ran + ready - begun)
    why = compiled.budget.why(compiled.hits + int(compiled.counter[0]))
    if why is not None and compiled.refusal is None:
        compiled.refuse(why, BRANCHES)
    return result


def postpone(
    compiled: Compiled, entry: Entry, call: Call, result: Any, rehearsal: Rehearsal, loops: Faster,
    took: float,
) -> None:  # fmt: skip
    """Have the second half of a recording done later, if what the function reads is unchanged."""
    state, token = rehearsal.state, rehearsal.token
    if not may_be_copied(rehearsal, call, result):
        entry.postpones = False
        return
    entry.known = state
    if not is_unchanged(compiled, entry, state, token):
        return
    floats = [call.leaves[i] for i in call.floats]
    enter = lambda recording: entered(compiled, entry, floats, recording, state, token)
    entry.early = Early()
    entry.early.awaited = PostponedRecording(
        compiled, entry, call, result, rehearsal, loops, took, enter
    )
    entry.early.awaited.ask()


def is_unchanged(compiled: Compiled, entry: Entry, state: State, token: Any) -> bool:
    """Whether the run left alone what the function reads; else that is noted."""
    if state.holds(token):
        return True
    if carry_changed(compiled, token):
        entry.unkept = reasons.CARRIED
    else:
        changed(compiled, entry, "it changes what it reads")
    return False


def entered(
    compiled: Compiled, entry: Entry, floats: list[float], recording: Recording, state: State,
    token: Any,
) -> str | None:  # fmt: skip
    """Make a path of a recording; returns why there are too many."""
    hits = compiled.hits + int(compiled.counter[0])
    if len(entry.paths) >= PATHS or entry.in_vain(hits, recording.for_floats):
        last = compiled.last_miss.rstrip(".")
        return f"it has taken {len(entry.paths)} paths; the last time {last}"
    numbers = None if entry.floats else [np.float64(x) for x in floats]
    recording.forget()
    with LOCK:
        entry.paths = [Path(recording, state, token, numbers or None), *entry.paths]
        RECORDINGS[0] += 1
    # From now on numbers are inputs. As such they are NumPy's, and no longer weak.
    entry.floats = recording.numbers and not (recording.written or recording.narrow or entry.weak)
    return None


def keep(
    compiled: Compiled, entry: Entry, call: Call, result: Any, passed: Any, rehearsal: Rehearsal
) -> None:
    """Keep a recording if it stands for the function, which has run in Python meanwhile."""
    recording, state, token = rehearsal.recording, rehearsal.state, rehearsal.token
    floats, traced = [call.leaves[i] for i in call.floats], Array in map(type, call.leaves)
    if traced and recording is not None:
        # A Python number may raise, become complex, or take the precision of what it meets.
        numbers = [x for x in call.leaves if type(x) is Array and is_number(x) and is_python(x)]
        if recording.unlike or (recording.narrow and numbers):
            entry.python = True
            return
    if recording is None:
        why: str | None = f"it raised {rehearsal.failure} when it was recorded"
    elif recording.unlike:
        why = "its result is Python's number, and would be NumPy's"
    else:
        if recording.stores:
            result = result, [store.now() for store in recording.stores]
        why = verdict(recording, result, call.arrays, passed, state)
    if why is None and compiled.carried and any(map(is_lock, token.places)):
        why = "it reads and changes something while it holds a lock"  # a replay takes no lock
    if why is not None and compiled.cast:
        compiled.casts, entry.unkept = False, reasons.WEAK
        return
    if recording is None and carry_changed(compiled, token):
        entry.unkept = reasons.CARRIED
        return
    if recording is None or why is not None:
        entry.unkept = str(why)
        if not entry.without_floats():
            compiled.refuse(str(why))
        return
    if traced:
        inputs = [call.leaves[i] for i in call.inputs]
        if not note_identity(recording, result, inputs, state):
            entry.python = True
            return
    if recording.unsure:
        entry.unkept = reasons.WEAK
        entry.early.numbers = False  # the first path may be for these numbers alone
        entry.floats &= bool(entry.paths)
        return
    if any(source is not None for source in recording.sources) and share_memory(call.arrays):
        entry.apart, entry.unkept = True, reasons.SHARED_IT  # it may be another that is returned
        return
    # What is read on the ways seen so far. This run must have left all of it alone.
    entry.known = state
    if not is_unchanged(compiled, entry, state, token):
        return
    if entry.floats and recording.narrow and floats and not recording.written:
        entry.without_floats()
        entry.unkept = reasons.WEAK
        return
    full = entered(compiled, entry, floats, recording, state, token)
    if full is not None:
        compiled.refuse(full, FLOATS if recording.for_floats else BRANCHES)
