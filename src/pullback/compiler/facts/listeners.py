"""Call sites reported to a recording, and what it answers there.

WATCHING    the monitor of the call that is recorded in this context, if any
is_asked    names of attributes that code looks up dynamically
looked_up   classes that are called, and dicts of names that code looks into
warns       calls of `warnings.warn`
Draws       generators of random numbers
Answers     clocks, and `id`
"""

from __future__ import annotations

import random
import sys
import weakref
from collections.abc import Iterator, MutableMapping
from contextvars import ContextVar
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.reach.namespaces import apart
from ...core.reach.session import ITEM
from .answers import Identity, Moment
from .bytecode import SWEEPS
from .classes import foreign_function
from .judge import may_repeat
from .warned import setup, warning_of

if TYPE_CHECKING:
    from .call_monitor import Watch

WATCHING: ContextVar[Watch | None] = ContextVar("watching", default=None)


def is_asked(name: Any) -> None:
    watch = WATCHING.get()
    if watch is not None and type(name) is str:
        watch.ask(name)


def identified(x: Any, y: Any) -> None:
    """Code asks whether two numbers or texts are one object; for replays equal ones are.

    Small integers are the same everywhere.
    """
    watch = WATCHING.get()
    small = type(x) is int and x is y and -5 <= x <= 256
    if watch is not None and watch.records and not small:
        watch.forbid("it asks by `is` or `id` whether two numbers or texts are one object")


def looked_up(x: Any) -> Any:
    """Code that asks is about to call a class, or looks into attributes; gives what to use."""
    watch, frame = WATCHING.get(), sys._getframe(2)
    if watch is None:
        return x
    if x is sys.modules:
        return Modules(x)
    if x is frame.f_globals and watch.records:
        return Globals(x)
    if type(x) is dict or type(x) is MappingProxyType:
        watch.looks_into(x)
    elif x is np.datetime64:
        return date
    elif any(x is kind for kind in LISTENING):
        return partial(listens, x)
    elif apart(frame.f_globals):
        pass
    elif any(x is kind for kind in SEEDS):
        return partial(Draws.made, x)
    elif is_sampler(x):
        return partial(Draws.sampler, x)
    elif foreign_function(x) or (isinstance(x, type) and watch.profile is not None):
        watch.calls(x, (), frame)
    return x


def date(*args: Any, **kwargs: Any) -> Any:
    """`np.datetime64`, which reads the time where the text says so."""
    why = may_repeat(np.datetime64, args)
    if why is not None:
        forbid(why)
    return np.datetime64(*args, **kwargs)


LISTENING = weakref.ref, weakref.WeakMethod, weakref.finalize


def listens(kind: Any, *args: Any, **kwargs: Any) -> Any:
    """A weak reference. Whether what a replay does not make ends, nobody would hear."""
    if kind is weakref.finalize or len(args) > 1 or kwargs:
        forbid(f"it asks to hear when an object ends, by `weakref.{kind.__name__}`")
    return kind(*args, **kwargs)


SEEDS = (  # what generators of random numbers are made of
    np.random.SeedSequence, np.random.MT19937, np.random.PCG64, np.random.PCG64DXSM,
    np.random.Philox, np.random.SFC64, random.Random,
)  # fmt: skip


def is_sampler(x: Any) -> bool:
    """Whether x is a class of SciPy's that makes quasi-random numbers of a seed."""
    home = sys.modules.get("scipy.stats._qmc")
    if home is None or not isinstance(x, type) or x.__module__ != home.__name__:
        return False
    return issubclass(x, (home.QMCEngine, home.MultivariateNormalQMC, home.MultinomialQMC))


def warns(frame: Any, *args: Any, **kwargs: Any) -> bool:
    """Whether a rehearsal notes what `warnings.warn` is called with, so that a replay warns."""
    watch = WATCHING.get()
    if watch is None or not watch.records or apart(frame.f_globals):
        return False
    found = warning_of(watch.warning_setup or setup(), frame, *args, **kwargs)
    if type(found) is str:
        watch.forbid(found)
    if found is not None:
        watch.warned.append(found)
    return found is not None


class Draws:
    """Random numbers of a generator that the same call made from a seed are constants."""

    @staticmethod
    def made(cls: Any, *args: Any, **kwargs: Any) -> Any:
        made = cls(*args, **kwargs)
        Draws.seeded(made, *args, **kwargs)
        return made

    @staticmethod
    def seeded(made: Any, seed: Any = None, *args: Any, **kwargs: Any) -> None:
        watch = WATCHING.get()
        if watch is None:
            return
        seed = kwargs.get("seed", kwargs.get("entropy", seed))
        numbers = seed if type(seed) in (list, tuple) else [seed]
        plain = all(isinstance(x, (int, np.integer, np.ndarray, str, bytes)) for x in numbers)
        if plain or watch.is_seeded(seed):
            watch.seeded.append(made)
        elif isinstance(made, SEEDS):  # what it holds may be looked at
            watch.forbid(f"it makes `{type(made).__name__}` without a seed")

    @staticmethod
    def sampler(cls: Any, *args: Any, **kwargs: Any) -> Any:
        """An object that makes quasi-random numbers; of a seed they are the same each time."""
        watch = WATCHING.get()
        seed = kwargs.get("rng", kwargs.get("seed"))
        if watch is None or not (isinstance(seed, (int, np.integer)) or watch.is_seeded(seed)):
            forbid(f"it makes `{cls.__name__}` without a seed")
            return cls(*args, **kwargs)
        with watch.drawing():
            made = cls(*args, **kwargs)
        watch.seeded.append(made)
        return made

    @staticmethod
    def draws(source: Any, name: str) -> None:
        watch = WATCHING.get()
        if watch is not None and not watch.is_seeded(source):
            watch.forbid(f"it draws random numbers (`{name}`)")


class Answers:
    """What a recording answers of which the answer is another in each call."""

    @staticmethod
    def clock(clock: Any) -> Any:
        watch = WATCHING.get()
        return clock() if watch is None or not watch.records else Moment(watch.forbid)

    @staticmethod
    def identity(x: Any) -> int:
        watch = WATCHING.get()
        if watch is None or not watch.records:
            return id(x)
        return watch.identities.setdefault(id(x), (x, Identity.of(watch.forbid)))[1]


class Reported(MutableMapping[str, Any]):
    """A dict of names while a call is recorded: it reports which ones code looks up."""

    def __init__(self, held: dict[str, Any]) -> None:
        self.held = held

    def reports(self, name: object) -> None:
        """Tell the recording of a name."""

    def changes(self) -> None:
        """Code puts something there, or takes it away."""

    def __contains__(self, name: object) -> bool:
        self.reports(name)
        return name in self.held

    def __getitem__(self, name: str) -> Any:
        self.reports(name)
        return self.held[name]

    def __setitem__(self, name: str, x: Any) -> None:
        self.changes()
        self.held[name] = x

    def __delitem__(self, name: str) -> None:
        self.changes()
        del self.held[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.held)

    def __len__(self) -> int:
        return len(self.held)


class Globals(Reported):
    """What `globals()` gives."""

    def reports(self, name: object) -> None:
        home = self.held.get("__name__")
        if vars(sys.modules.get(str(home), sys)) is not self.held:
            forbid("it calls `globals`, in a module that cannot be found")
        is_asked(f"{ITEM}:{home}:{name}")

    def changes(self) -> None:
        forbid("it stores into `globals()`")

    def __iter__(self) -> Iterator[str]:
        forbid("it goes through all that `globals()` gives")
        return super().__iter__()

    def __len__(self) -> int:
        forbid("it counts what `globals()` gives")
        return super().__len__()


class Modules(Reported):
    """`sys.modules`."""

    def reports(self, name: object) -> None:
        is_asked(name)

    def changes(self) -> None:
        forbid("it changes `sys.modules`")

    def __iter__(self) -> Iterator[str]:
        is_asked(SWEEPS)
        return super().__iter__()

    def __len__(self) -> int:
        is_asked(SWEEPS)
        return super().__len__()


def forbid(why: str) -> None:
    watch = WATCHING.get()
    if watch is not None:
        watch.forbid(why)
