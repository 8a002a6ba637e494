"""What a recording notes while SciPy solves.

The state that SciPy's own code reads doesn't have to be checked, since that code runs again in each
replay. The state that the user's function reads is checked, as in the rest of the program. The
user's function must not change anything, since it's recorded once and SciPy calls it many times.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ...compiler.facts.listeners import WATCHING
from ...core.reach.namespaces import package
from ...core.temporary import during

# What the functions of the user's have asked for, of all that runs while SciPy solves.
KEPT: ContextVar[tuple[set[Any], set[str]] | None] = ContextVar("kept", default=None)


@contextmanager
def unnoted() -> Iterator[None]:
    """Forget what SciPy's code reads meanwhile, but for what is `noted`."""
    watch = WATCHING.get()
    if watch is None:
        yield
        return
    codes, asked, kept = set(watch.codes), set(watch.asked), (set[Any](), set[str]())
    with during(KEPT, kept):
        yield
    for key in watch.codes.keys() - codes - kept[0]:
        if package(watch.codes[key][1]) == "scipy":
            del watch.codes[key]
    watch.asked &= asked | kept[1]


@contextmanager
def noted() -> Iterator[None]:
    """Note what a function of the user's reads, and refuse the recording if it changes anything."""
    watch, kept = WATCHING.get(), KEPT.get()
    if watch is None or kept is None:
        yield
        return
    codes, asked, before = set(watch.codes), set(watch.asked), stored(watch)
    yield
    kept[0].update(watch.codes.keys() - codes)
    kept[1].update(watch.asked - asked)
    if stored(watch) != before:
        watch.effects.append("it changes something in a function that SciPy calls")


def stored(watch: Any) -> Any:
    """What the call has stored so far, to be compared."""
    if watch.located is None:
        return None
    found = watch.located()
    return [store.place() for store in found.stores], list(map(id, found.values)), found.why
