"""Run first calls in Python at once, and later ones like the previous one.

Enters: a call that comes too early to be recorded, or whose machine code isn't ready. Leaves: the
result, or MISS if the call is of another kind than the one before or needs a decision. Comparing
kinds takes a fifth of the time of arranging arguments; the first calls, as long as they're short,
aren't looked at at all, whatever their kind.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from time import perf_counter
from typing import Any

import numpy as np

from ...core.spec import NUMERIC
from ...core.trace import RUNNING, STARTS, running
from ...transforms.loops.scan_primitive import FASTER
from ..entry.native_records import MISS
from ..entry.object_layout import error_handling, errors_variable
from ..first_call import Early
from ..path import Entry
from . import reasons
from .arguments import NUMBERS
from .budget import CLOCK

PLAIN = {int, bool, str, type(None)}  # known by their values


class CallKind:
    """The kind of a call, and its cache entry.

    NumPy makes a new object whenever its error handling changes; the object kept here stands for
    one handling. A kind of first calls has no entry until a call is looked at.

    Raises:
        NoKind: some argument needs more than a look.
    """

    def __init__(self, entry: Entry | None, args: Any, kwargs: Any) -> None:
        self.entry: Any = entry
        self.types = tuple(map(type, args))
        self.flat, self.arrays, self.places, self.values = not kwargs, [], [], []
        for i, kind in enumerate(self.types):
            if kind is np.ndarray:
                self.arrays.append((i, args[i].shape, args[i].dtype))
            elif kind in PLAIN:
                self.places.append(i)
                self.values.append(args[i])
            elif kind not in NUMBERS:
                self.flat = False
        self.kinds = None if self.flat else kind_of([*args, kwargs], set())
        self.variable, self.handling = errors_variable(), error_handling()
        self.errors = self.variable.get()

    def run(self, compiled: Any, args: Any, kwargs: Any) -> Any:
        """The result of a call; MISS where more must be asked."""
        if not self.is_like(args, kwargs) or (RUNNING.get() is not None and running() is not None):
            return MISS
        if self.variable.get() is not self.errors or STARTS.get() is not None:
            return MISS
        entry, fun = self.entry, compiled.fun
        early = entry.early
        if early.short and early.untimed and not entry.paths:
            compiled.last_way = reasons.EARLY
            if compiled.replay[1]:
                compiled.counter[1] = 0
            early.untimed -= 1
            early.calls += 1
            self.spare(compiled)
            return fun(*args, **kwargs)
        if not entry.paths and not early.is_over:
            compiled.counter[1], compiled.last_way = 0, reasons.early(entry)
            out = early.run(fun, args, kwargs)
            self.spare(compiled)
            return out
        if entry.paths and entry.paths[0].is_awaited():
            compiled.counter[1], compiled.last_way = 0, reasons.AWAITED
            compiled.pass_on()
            return fun(*args, **kwargs)
        return MISS

    def spare(self, compiled: Any) -> None:
        """Make the next calls that need not be timed without a look, if no other kind has come."""
        early = self.entry.early
        if early.short and early.untimed and len(compiled.entries) < 2 and not compiled.replay[1]:
            compiled.replay = unlooked(compiled.fun, early, early.spare()), []

    def is_like(self, args: Any, kwargs: Any) -> bool:
        """Whether a call is of this kind; it may be, and be told apart."""
        if not self.flat:
            with suppress(NoKind):
                return bool(kind_of([*args, kwargs], set()) == self.kinds)
            return False
        if kwargs or tuple(map(type, args)) != self.types:
            return False
        for i, shape, dtype in self.arrays:
            x = args[i]
            if x.shape != shape or x.dtype != dtype:
                return False
        return not self.places or [args[i] for i in self.places] == self.values

    def is_met(self, args: Any, kwargs: Any) -> bool:
        """The same, under equal handling of errors."""
        return self.is_like(args, kwargs) and self.handling == error_handling()


def unlooked(fun: Any, early: Early, left: int = 0) -> Callable[..., Any]:
    """Make calls that nobody looks at, whatever their kind; MISS once they are made.

    To tell the kind of a call takes as long as a short function does. They are the first call, and
    the next few if it is short; then what an earlier process left is sought when the function is
    compiled, since it may spare a call that is long. Later there are so many that are not timed.
    """

    def run(*args: Any, **kwargs: Any) -> Any:
        nonlocal left
        if RUNNING.get() is not None or STARTS.get() is not None:
            return MISS
        if left > 0:
            left -= 1
            return fun(*args, **kwargs)
        if early.calls or not CLOCK[0]:
            return MISS
        before, begun = FASTER.get(), perf_counter()
        try:
            early.calls = 1
            FASTER.set(early.loops)
            return fun(*args, **kwargs)
        finally:
            took = perf_counter() - begun
            FASTER.set(before)
            left = early.begin(took)
            if not left:
                with suppress(NoKind):
                    early.kind = CallKind(None, args, kwargs)

    return run


class NoKind(Exception):
    """An argument is neither a number nor an array nor a plain container of them."""


def first_run(compiled: Any, args: Any, kwargs: Any) -> Any:
    """Run the first call that is looked at before its arguments are arranged.

    MISS where it must be, or is later. Its kind has an entry, which is kept under its key once a
    call is arranged.
    """
    early = compiled.early  # another thread may take it
    if early is None or compiled.carried:
        return MISS
    if compiled.static_argnums or compiled.static_argnames:
        return MISS
    kind = early.kind
    if not counts(early, args, kwargs):
        return MISS
    with suppress(NoKind):
        if kind is None or kind.variable.get() is not kind.errors:
            kind = CallKind(None, args, kwargs)
        if kind.flat and all(dtype.char in NUMERIC for _, _, dtype in kind.arrays):
            kind.entry, compiled.early, early.kind = Entry(early), None, None
            compiled.first = compiled.last_kind = kind
            return kind.run(compiled, args, kwargs)
    return MISS


def first_entry(compiled: Any, args: Any, kwargs: Any) -> Entry | None:
    """The entry of the first calls, for a call of their kind that gives it its key."""
    first, early = compiled.first, compiled.early
    if first is not None and first.is_met(args, kwargs):
        compiled.first = None
        return first.entry
    if early is None or not counts(early, args, kwargs):
        return None
    compiled.early = None
    return Entry(early)


def counts(early: Early, args: Any, kwargs: Any) -> bool:
    """Whether the first calls count for this kind: they do for any where nobody has looked."""
    return early.kind is None or early.kind.is_like(args, kwargs)


def kind_of(x: Any, held: set[int]) -> Any:
    """held: ids of the lists and dicts met so far; a call that passes one twice has no kind."""
    kind = type(x)
    if kind is np.ndarray:
        return x.shape, x.dtype
    if kind in NUMBERS:
        return kind
    if kind in PLAIN:
        return kind, x
    if kind is tuple:
        return kind, [kind_of(y, held) for y in x]
    if kind not in (list, dict) or id(x) in held or not (kind is list or all_text(x)):
        raise NoKind
    held.add(id(x))
    return kind, [*x] if kind is dict else None, [kind_of(y, held) for y in values(x)]


def all_text(x: Any) -> bool:
    return {str}.issuperset(map(type, x))


def values(x: Any) -> Any:
    return x.values() if type(x) is dict else x
