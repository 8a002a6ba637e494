"""Rehearsal: record a call and undo it, so that the call itself can be made afterwards.

The state that the code may touch is found before it runs (`facts.snapshot.foresee`), and restored
afterwards. If code within reach might do something that can't be undone, the call is only observed.
The next call is rehearsed on the assumption that the same code runs, and stops where other code
begins.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.array import Array
from ...core.errors import ArgumentError, name_of
from ...core.reach.calls import call_inside
from ...core.reach.lru_caches import forgotten
from ...core.scalars import is_python
from ...core.trace import is_differentiated, running
from ...core.tree import unflatten
from ..facts.allowance import Allowance, TooMuch, bounded, current
from ..facts.call_monitor import Watch
from ..facts.classes import Unprovable
from ..facts.effects import Located, Store, holders, split
from ..facts.ends import Released
from ..facts.foreseen import Foreseen, older_objects_kept
from ..facts.halting import Halt, HandledAgain
from ..facts.instance_reader import Foreign
from ..facts.observer import Observer
from ..facts.places import of
from ..facts.snapshot import Codes, Scout, Snapshot, foresee, lasting
from ..facts.state import Token
from ..first_call import Faster, faster
from ..path import Call, Entry, share_memory, share_with
from ..record.asked_names import asked_in_advance
from ..record.recording import SETTING, UNLIKE_NAMES, Number, Recording, recorded, state_of
from ..record.stage_inner import Postponed, PostponedCall, staging
from . import reasons
from .budget import is_timed

if TYPE_CHECKING:
    from .compiled import Compiled

TRIES = 4  # recordings that found the state changed, before the function falls back to Python
NAMES = 64  # computed by code, for which calls are rehearsed again


def rehearse(
    compiled: Compiled, entry: Entry, call: Call, loops: Faster, postpones: bool = False,
    found: Codes | None = None,
) -> Rehearsal | None:  # fmt: skip
    """Rehearse a call; None if the rehearsal left traces or may not be kept.

    postpones: whether what a transformation does with its function may wait.
    found: the code that a rehearsal just before this one has found.
    """
    try:
        asked_by(compiled)  # a function that calls itself reads itself, and must not seem to change
    except Exception as error:
        return compiled.refuse(unreadable(error))
    first = entry.early.numbers and not (entry.paths or entry.weak)
    if first and call.floats and is_timed(compiled):  # one recording for all numbers
        entry.floats = UNLIKE_NAMES.isdisjoint(asked_by(compiled))
    scout = foreseen(compiled, call.statics(entry.floats), found)
    if scout is None:
        entry.unkept = reasons.FORBIDDEN
        return None
    rehearsal = Rehearsal(compiled, entry, call, scout)
    rehearsal.run(loops, postpones)
    rehearsal.insist_undone()
    if rehearsal.snapshot.disturbed:
        entry.unkept = reasons.DISTURBED
        return None
    if surprise := rehearsal.watch.surprise:
        return compiled.refuse(f"it runs `{surprise}`, which is not found by the names in its code")
    if rehearsal.is_stopped():
        entry.unkept = reasons.OTHER_CODE
        if compiled.ran is not None or len(compiled.asked) >= NAMES:
            return None
        return rehearse(compiled, entry, call, loops, postpones, scout.found)
    if rehearsal.is_barred() or rehearsal.is_stale():
        return None
    if not rehearsal.snapshot.holds():
        entry.unkept = reasons.DISTURBED
        return None
    del scout
    rehearsal.let_go()
    if any(ending() for ending in rehearsal.endings()):
        return compiled.refuse("it lets go of an object, and code hears when that ends")
    return rehearsal


class Rehearsal:
    """One call that is recorded and undone, and what that showed.

    recording: what was recorded; None where the function raised, which `failure` tells, or where
        its second half waits, which is `postponed`.
    known: names by which code may ask and find nothing that was not read before.
    seen, other: what the code that ran reads, and whether code that was not expected was stopped.
    state, token: what the function reads on all ways seen so far, and its token now.
    """

    def __init__(self, compiled: Compiled, entry: Entry, call: Call, scout: Scout) -> None:
        self.compiled, self.entry, self.call = compiled, entry, call
        self.statics = call.statics(entry.floats)
        self.around = [x for x in call.leaves if type(x) is Array]
        self.snapshot = Snapshot(scout)
        self.known = compiled.asked | scout.state.covered()
        self.watch = Watch(compiled.ran, self.known)
        self.watch.casts, compiled.cast = compiled.casts, False
        self.watch.folds, self.watch.unseen = compiled.folds, scout.unseen
        if compiled.ran is None:
            self.watch.foreseen = Foreseen(scout.found, self.snapshot.things)
        self.watch.dicts, self.watch.known = scout.dicts, compiled.whole
        self.watch.sets = {id(x) for x in scout.kept if of(x, set)}
        self.recording: Recording | None = None
        self.postponed: PostponedCall | None = None
        self.failure = ""
        self.refused: Any = None  # the plain array that was to be written into, if that failed
        self.stand_ins = compiled.carried.stand_ins()

    def lift(self, enter: Callable[[Any], Array]) -> Any:
        """The arguments, with `enter` applied to the inputs; carried values go to their places."""
        call = self.call
        lifted, given = list(call.leaves), dict(zip(call.inputs, call.arrays, strict=True))
        for i in call.passed(self.entry.floats):
            x = given.get(i, lifted[i])
            python = type(x) is float or (type(x) is np.float64 and is_python(lifted[i]))
            entered = enter(Number(x) if python else x)
            if is_differentiated(lifted[i]):
                entered.within.state.carrying.add(entered.node)
            lifted[i] = entered
        return self.stand_ins.enter(*unflatten(call.structure, lifted))

    def located(self) -> Located:
        """What has been stored, by this run."""
        known = self.entry.known
        earlier = known.codes if known is not None else frozenset()
        codes = {*earlier, *[code for code, _ in self.watch.codes.values()]}
        out = self.snapshot.located(codes, self.stand_ins)
        if out.why is None and self.watch.warned:
            warned = [Store("call", x, None) for x in self.watch.warned]
            out = out._replace(
                stores=[*out.stores, *warned], values=[*out.values, *[True] * len(warned)]
            )
        return out

    def run(self, loops: Faster, postpones: bool) -> None:
        """Record the call, and put back what it changed; context variables stay as they are."""
        compiled, watch = self.compiled, self.watch
        # What asks how NumPy handles errors is told how it does in this call.
        postpones &= SETTING.isdisjoint(asked_by(compiled))
        with HandledAgain(), older_objects_kept():
            try:
                self.snapshot.filled.prepare()
                watch.located = self.located
                stage = Postponed if postpones else None
                self.recording = copy_context().run(self.recorded, loops, stage)
            except PostponedCall as postponed:
                self.postponed = postponed.with_traceback(None)  # which holds the user's frames
            except Exception as error:
                self.failure, self.refused = told_of(error), getattr(error, "array", None)
            except Halt as halt:
                self.failure = str(halt)
            finally:
                watch.located = None
                self.snapshot.restore([code for code, _ in watch.codes.values()])
                self.stand_ins.restore()
        self.seen = state_of(compiled.fun, watch, self.statics)
        self.other = not lasting(watch) <= self.known
        self.other |= compiled.ran is not None and not (
            watch.codes.keys() <= compiled.ran.keys()
            and watch.asked <= self.known
            and watch.whole.keys() <= compiled.whole.keys()
        )

    def recorded(self, loops: Faster, stage: Any) -> Recording:
        fun, watch = self.compiled.fun, self.watch
        with self.quiet(), faster(loops), staging(stage), forgotten():
            return recorded(fun, self.lift, self.statics, watch, self.around, self.located)

    def finished(self, loops: Faster, call: Call) -> Recording | None:
        """The recording whose second half was postponed; None if it is none to be kept as it is.

        call: equal to the one that was rehearsed, and nobody else's.
        """
        assert self.postponed is not None
        self.call, fun, watch = call, self.compiled.fun, self.watch
        with np.errstate(all="ignore"), faster(loops), staging(self.postponed.stage):
            out = recorded(fun, self.lift, self.statics, watch, [], nothing_stored, heard=True)
        barred = out.refusal or out.changes or watch.effects or watch.cast or watch.lost
        barred = barred or out.unlike or out.unsure or out.captured or out.suspends
        return None if barred or out.written or out.stores or out.identity else out

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """NumPy gives no warnings, and its handling of errors is put back.

        Code that asks how NumPy handles errors gets the answer that holds outside.
        """
        before, asks = np.geterr(), not SETTING.isdisjoint(asked_by(self.compiled))
        settings = before if asks else dict.fromkeys(before, "ignore")
        with np.errstate(**settings), warnings.catch_warnings() if asks else nullcontext():
            if asks:
                warnings.simplefilter("ignore", RuntimeWarning)
            yield
            if np.geterr() != settings:
                self.watch.effects.append("it leaves NumPy's handling of errors changed")

    def insist_undone(self) -> None:
        """Refuse the function if it changed something that can't be restored.

        Raises:
            ArgumentError: it did, so that this call cannot be made either.
        """
        compiled, snapshot = self.compiled, self.snapshot
        if snapshot.disturbed:
            return
        with bounded(Allowance()):  # this must be known, whatever it takes
            undone = snapshot.restored()
            undone = undone and (self.other or not snapshot.misses(self.seen, self.watch))
        if undone:
            return
        if snapshot.is_changed_since():
            snapshot.disturbed = True
            return
        compiled.refuse("it changes something that cannot be found before it runs")
        raise ArgumentError(
            f"`compile({name_of(compiled.fun)})` recorded this call, which changed something that"
            " cannot be put back.\n  Call the function as it is, without `compile`."
        )

    def is_stopped(self) -> bool:
        """Whether unexpected code ran; from now on it is expected too."""
        compiled, watch = self.compiled, self.watch
        if not self.other:
            return False
        if compiled.ran is None:
            if len(compiled.asked) >= NAMES:
                changed(compiled, self.entry, "each call runs other code")
            compiled.asked |= lasting(watch)
            return True
        compiled.ran |= watch.codes
        more = len(watch.asked - compiled.asked) + len(watch.whole.keys() - compiled.whole.keys())
        many = len(compiled.asked) + len(compiled.whole) >= NAMES
        compiled.asked |= watch.asked
        compiled.whole |= watch.whole
        if many or not more:  # calls that do not ask tell no names, until one is rehearsed
            changed(compiled, self.entry, "each call runs other code")
        return True

    def is_barred(self) -> bool:
        """Whether the run showed something that forbids to keep it, or any run of the function."""
        compiled, entry, watch, recording = self.compiled, self.entry, self.watch, self.recording
        if recording is not None and recording.captured and running() is not None:
            entry.unkept = reasons.CAPTURED  # it may be called with nothing of the kind later
            return True
        if watch.imports:
            changed(compiled, entry, "it imports modules each time")  # this run does so
            return True
        names = {name for code, _ in watch.codes.values() for name in code.co_names}
        if not SETTING.isdisjoint(names) and SETTING.isdisjoint(asked_by(compiled)):
            asked_by(compiled).update(SETTING)
            entry.unkept = reasons.OTHER_CODE
            return True
        if watch.effects:
            compiled.refuse(watch.effects[0])
            return True
        if self.postponed is not None:
            return False
        if watch.cast and (recording is None or recording.refusal or recording.unlike):
            # Something needs a float of Python's own: one recording for each.
            compiled.casts, entry.unkept = False, reasons.WEAK
            return True
        if watch.lost:
            compiled.folds, entry.unkept = False, reasons.UNFOLDED
            return True
        compiled.cast = watch.cast
        if recording is None:
            found = holders(self.snapshot.places, [] if self.refused is None else [self.refused])
            entry.unkept = reasons.CARRIED
            return carry(compiled, found)
        if (recording.written or recording.identity) and share_memory(self.call.arrays):
            entry.apart, entry.unkept = True, reasons.SHARED_IT
        elif recording.refusal is not None:
            compiled.refuse(recording.refusal)
        elif recording.changes is not None:
            entry.unkept = reasons.CARRIED
            if not carry(compiled, recording.read):
                changed(compiled, entry, recording.changes)
        elif self.around and recording.stores:
            entry.python = True  # Arrays of a transformation would be stored
        elif recording.stores and self.snapshot.caches():
            compiled.refuse("it stores something, perhaps in a function behind `lru_cache`")
        else:
            return False
        return True

    def is_stale(self) -> bool:
        """Whether nobody can tell if what the run read changes; else note what it read."""
        recording = self.recording
        self.state = self.seen.merged(self.entry.known)
        if recording is not None:
            places, filled = split(recording.stores, self.snapshot.filled)
            self.state.without([*places, *self.compiled.carried.places()], filled)
            self.state.settings += tuple(self.endings())
        try:
            self.token = self.state.token()
        except Unprovable as error:
            self.compiled.refuse(unproved(error))
            return True
        if recording is None or not recording.identity:
            return False
        if not share_with(self.state.arrays, self.call.arrays):
            return False
        changed(self.compiled, self.entry, "it may ask whether an argument is what it reads")
        return True

    def endings(self) -> list[Released]:
        """What tells whether the stores end something that code hears of."""
        stores = self.recording.stores if self.recording is not None else ()
        given = {store.place() for store in self.compiled.carried.stores}
        ends = [store for store in stores if store.kind not in ("append", "call")]
        return [Released(store, store.place() in given) for store in ends]

    def let_go(self) -> None:
        """Hold nothing but what the recording reads: what the call ends must end in time."""
        del self.snapshot
        self.stand_ins.was, self.watch.dicts, self.watch.foreseen = [], {}, None


def nothing_stored() -> Located:
    return Located([], [], None)


def carry(compiled: Compiled, stores: Sequence[Store]) -> bool:
    """Pass the values of these places to recordings from now on; False if that can't be."""
    more = bool(stores) and compiled.carried.add(stores)
    if more:
        compiled.forget()
    return more


def carry_changed(compiled: Compiled, token: Token) -> bool:
    """Do so with the arrays that a call has changed in place, from what it read."""
    return carry(compiled, compiled.carried.changed(token))


def changed(compiled: Compiled, entry: Entry, why: str) -> None:
    """A recording stands for nothing, since the call changed what the next one reads."""
    entry.tries, entry.unkept = entry.tries + 1, why
    if entry.tries >= TRIES:
        compiled.refuse(why)


def told_of(error: BaseException) -> str:
    """An error's class and the first line of its message, which a user's class may fail to give."""
    message = ""
    with suppress(Exception):
        message = str(error).partition("\n")[0]
    return f"{type(error).__name__}{f' ({message})' if message else ''}"


def asked_by(compiled: Compiled) -> set[str]:
    """Names in the code that can be told in advance; looked for once."""
    if compiled.in_advance is None:
        compiled.in_advance = asked_in_advance(compiled.fun)
    return compiled.in_advance


def unproved(error: Unprovable) -> str:
    """Why what it reads cannot be compared."""
    return f"it reads {error}" + ", which may change between calls" * (type(error) is not TooMuch)


def unreadable(error: Exception) -> str:
    """Why an object that does not answer as others do cannot be read."""
    return f"something that it reads raises {type(error).__name__} when it is looked at"


def foreseen(compiled: Compiled, statics: list[Any], found: Codes | None = None) -> Scout | None:
    """What a rehearsal will read; None if there is none.

    Where code that can be reached forbids one, it may not run at all: the call is observed.
    """
    try:
        return permitted(compiled, statics, found)
    except TooMuch as error:  # the code that runs may read less than all that can be reached
        if compiled.ran is not None:
            return compiled.refuse(unproved(error))
        compiled.ran = {}
        return None


def permitted(compiled: Compiled, statics: list[Any], found: Codes | None = None) -> Scout | None:
    """What a rehearsal will read, if nothing forbids it.

    Raises:
        TooMuch: that is more than may be read.
    """
    try:
        with current().running():
            scout, why = foresee(
                compiled.fun, statics, compiled.ran, compiled.asked, compiled.whole, found
            )
    except TooMuch:
        raise
    except Exception as error:
        return compiled.refuse(unreadable(error))
    if isinstance(scout.unprovable, Foreign) and running() is not None:
        return None  # at another time there may be none
    if why is None and scout.unprovable is not None:
        why = unproved(scout.unprovable)
    if why is None:
        return scout
    if compiled.ran is not None:
        return compiled.refuse(why)
    compiled.ran = {}
    return None


def observe(
    compiled: Compiled, entry: Entry, call: Call, args: Any, kwargs: Any, reads: Allowance
) -> Any:
    """Run the function in Python, and note which code runs; what it reads may forbid more.

    If there's no time left to read that, the next rehearsal has time of its own.
    """
    first = not compiled.ran  # later the next rehearsal asks
    with Observer() as observer:
        try:
            result = call_inside(compiled.fun, args, kwargs)
        finally:
            compiled.ran = (compiled.ran or {}) | observer.codes
            compiled.asked |= observer.asked
    if first and compiled.refusal is None:
        try:
            with bounded(reads):
                permitted(compiled, call.statics(entry.floats))
        except TooMuch as error:
            if reads.seconds > 0:
                compiled.refuse(unproved(error))
    return result
