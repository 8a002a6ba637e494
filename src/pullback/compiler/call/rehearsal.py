"""Rehearsal: a call that is recorded and then undone, so that the call itself can be made after it.

What the code that may run reads is found before it runs (`facts.snapshot.foresee`), and put back
afterwards. Where all code that can be reached would forbid that, the call is only observed; the
next one is rehearsed for the code that ran, and stops where other code begins.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.array import Array
from ...core.errors import ArgumentError, name_of
from ...core.reach import call_inside
from ...core.trace import running
from ...core.tree import unflatten
from ..facts.call_monitor import Halt, Observer, Watch
from ..facts.effects import Located, holders, split
from ..facts.reader import Foreign, Unprovable
from ..facts.snapshot import Scout, Snapshot, foresee
from ..first_call import Faster, faster
from ..path import Call, Entry, share_memory, share_with
from ..record.asked_names import asked_in_advance
from ..record.recording import UNLIKE_NAMES, Number, recorded, state_of
from ..record.stage_inner import staging
from .trial import is_timed

if TYPE_CHECKING:
    from .compiled import Compiled

__all__ = ["observe", "rehearse"]

NAMES = 64  # computed by code, for which calls are rehearsed again


def rehearse(compiled: Compiled, entry: Entry, call: Call, loops: Faster) -> Any:
    """A recording that left nothing behind, with what it read; None if there is none."""
    if "seterr" in asked_by(compiled):
        return compiled.refuse("it uses `seterr`")
    first = entry.early.numbers and not (entry.paths or entry.weak)
    if first and call.floats and is_timed(compiled):  # one recording for all numbers
        entry.floats = UNLIKE_NAMES.isdisjoint(asked_by(compiled))
    leaves, structure = call.leaves, call.structure
    passed, statics = call.passed(entry.floats), call.statics(entry.floats)
    given = dict(zip(call.inputs, call.arrays, strict=True))
    traced = any(type(x) is Array for x in leaves)

    carried = compiled.carried.stand_ins()

    def lift(enter: Callable[[Any], Array]) -> Any:
        lifted = list(leaves)
        for i in passed:
            x = given.get(i, leaves[i])
            lifted[i] = enter(Number(x) if type(x) is float else x)
        return carried.enter(*unflatten(structure, lifted))

    scout = foreseen(compiled, statics)
    if scout is None:
        return None
    snapshot = Snapshot(scout)
    watch = Watch(compiled.ran, compiled.asked)
    watch.casts, compiled.cast = compiled.casts, False
    earlier = entry.known.codes if entry.known is not None else frozenset()

    def located() -> Located:
        return snapshot.located({*earlier, *[code for code, _ in watch.codes.values()]}, carried)

    recording, failure, refused = None, "", None
    try:
        snapshot.filled.prepare()
        with np.errstate(all="ignore"), faster(loops), staging():
            recording = recorded(compiled.fun, lift, statics, watch, traced, located)
    except Exception as error:
        failure, refused = type(error).__name__, getattr(error, "array", None)
    except Halt as halt:
        failure = str(halt)
    finally:
        snapshot.restore()
        carried.restore()
    seen = state_of(compiled.fun, watch, statics)
    # Other code than what is expected was stopped before it began.
    other = compiled.ran is not None and not (
        watch.codes.keys() <= compiled.ran.keys() and watch.asked <= compiled.asked
    )
    if not snapshot.restored() or (not other and snapshot.misses(seen, watch)):
        compiled.refuse("it changes something that is not found before it runs")
        raise ArgumentError(
            f"`compile({name_of(compiled.fun)})` recorded this call, which changed something that"
            " cannot be put back.\n  Call the function as it is, without `compile`."
        )
    if compiled.ran is not None and other:
        compiled.ran |= watch.codes
        if not watch.asked <= compiled.asked and len(compiled.asked) < NAMES:
            compiled.asked |= watch.asked
            return None  # calls that do not ask what to call tell no names, until one is rehearsed
        compiled.asked |= watch.asked
        return compiled.changed(entry, "other code runs in each call")
    if recording is not None and recording.captured and running() is not None:
        return None  # it may be called with nothing of the kind at another time
    if watch.imports:
        return compiled.changed(entry, "it imports modules each time")  # this run does so
    if watch.effects:
        return compiled.refuse(watch.effects[0])
    if watch.cast and (recording is None or recording.refusal or recording.unlike):
        compiled.casts = False  # something needs a float of Python's own: one record for each value
        return None
    compiled.cast = watch.cast
    if refused is not None and compiled.carry(holders(scout.places, [refused])):
        return None
    bound = recording is not None and (recording.written or recording.identity)
    if bound and share_memory(call.arrays):
        entry.apart = True
        return None
    if recording is not None and recording.refusal is not None:
        return compiled.refuse(recording.refusal)
    if recording is not None and (recording.changes or (traced and recording.stores)):
        if recording.changes is None:
            entry.python = True  # Arrays of a transformation would be stored
        elif not compiled.carry(recording.read):
            compiled.changed(entry, recording.changes)
        return None
    if recording is not None and recording.stores and snapshot.caches():
        return compiled.refuse("it stores something, perhaps in a function behind `lru_cache`")
    state = seen.merged(entry.known)
    if recording is not None:
        places, filled = split(recording.stores, snapshot.filled)
        state.without([*places, *compiled.carried.places()], filled)
    try:
        token = state.token()
    except Unprovable as error:
        return compiled.refuse(f"it reads {error}, which may change between calls")
    if recording is not None and recording.identity and share_with(state.arrays, call.arrays):
        return None  # it may ask whether an argument is something that it reads
    return recording, failure, state, token


def asked_by(compiled: Compiled) -> set[str]:
    """Names in the code that can be told in advance; looked for once."""
    if compiled.in_advance is None:
        compiled.in_advance = asked_in_advance(compiled.fun)
    return compiled.in_advance


def foreseen(compiled: Compiled, statics: list[Any]) -> Scout | None:
    """What a rehearsal will read; None if there is none.

    Where code that can be reached forbids one, it may not run at all: the call is observed.
    """
    try:
        scout, why = foresee(compiled.fun, statics, compiled.ran, compiled.asked)
    except Exception as error:  # of an object that does not answer as others do
        return compiled.refuse(f"what it reads cannot be looked at ({type(error).__name__})")
    if isinstance(scout.unprovable, Foreign) and running() is not None:
        return None  # at another time there may be none
    if why is None and scout.unprovable is not None:
        why = f"it reads {scout.unprovable}, which may change between calls"
    if why is None:
        return scout
    if compiled.ran is not None:
        return compiled.refuse(why)
    compiled.ran = {}
    return None


def observe(compiled: Compiled, entry: Entry, call: Call, args: Any, kwargs: Any) -> Any:
    """Run the function as it is, and note which code runs; what that reads may forbid more."""
    with Observer() as observer:
        try:
            result = call_inside(compiled.fun, args, kwargs)
        finally:
            compiled.ran = (compiled.ran or {}) | observer.codes
            compiled.asked |= observer.asked
    if compiled.refusal is None:
        foreseen(compiled, call.statics(entry.floats))
    return result
