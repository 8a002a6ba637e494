"""What is otherwise for a while: a variable of the context, or a list.

Where each operation would pay for it, the same is written out: see `quiet`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
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


@contextmanager
def listed(entries: list[Any], entry: Any) -> Iterator[None]:
    """Have an entry at the end of a list within."""
    try:
        entries.append(entry)
        yield
    finally:
        entries.remove(entry)


class Within:
    """The `with` of a class whose `block` says, as a context manager, what holds within.

    The block is kept before it begins, and is dropped with the object: an exception between two
    instructions, such as KeyboardInterrupt, ends it wherever it comes.
    """

    blocks: list[AbstractContextManager[Any]]

    @abstractmethod
    def block(self) -> AbstractContextManager[Any]:
        """What holds within, which begins where this is entered."""

    def __enter__(self) -> Any:
        block = self.block()
        self.blocks = [*getattr(self, "blocks", ()), block]
        block.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        self.blocks.pop().__exit__(*exception)
