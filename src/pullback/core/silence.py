"""Silence about the warnings of one thread.

`warnings.catch_warnings` keeps the filters of all threads and puts them back: while it runs, other
threads are not warned either, and two threads that do so at once may leave warnings off for good.
Here one filter is added that ignores warnings of this thread alone, and it alone is taken out.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

from .temporary import during

SILENT: ContextVar[tuple[type[Warning], ...]] = ContextVar("silent", default=())


class OfThisThread(type):
    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, SILENT.get())


class Silenced(metaclass=OfThisThread):
    """The kinds of warnings that are not given in this thread now."""


OWN = ("ignore", None, Silenced, None, 0)


@contextmanager
def without_warnings(kind: type[Warning] = Warning) -> Iterator[None]:
    """What runs in it gives no warnings of this kind, in this thread."""
    filters: Any = warnings.filters  # a list, if typed otherwise
    with during(SILENT, (*SILENT.get(), kind)):
        filters.insert(0, OWN)
        try:
            yield
        finally:
            take_out(filters)
            if warnings.filters is not filters:  # somebody has put a copy there
                take_out(warnings.filters)


def take_out(filters: Any) -> None:
    with suppress(ValueError):  # `warnings.resetwarnings` takes out all
        filters.remove(OWN)
