"""A variable of the context with another value for a while.

Where each operation would pay for it, the same is written out: see `quiet`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any


@contextmanager
def during(variable: ContextVar[Any], value: Any) -> Iterator[None]:
    """Give a variable another value within, and set it back whenever an exception comes."""
    before = variable.get()
    try:
        variable.set(value)
        yield
    finally:
        variable.set(before)
