"""Change something for the length of a `with`: a context variable, an entry of a list, a lock.

Where each operation would pay for a `with`, the same is written out: see `quiet`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any


@contextmanager
def during(variable: ContextVar[Any], value: Any) -> Iterator[None]:
    """Set a context variable within, and set it back even if an exception comes in between.

    Where KeyboardInterrupt comes as `with` is left, the block ends when its object is dropped. An
    outer block may have ended by then, and has set the variable back for both; but not where it has
    ended in another context, of which this one is a copy.
    """
    if variable not in BLOCKS:
        BLOCKS[variable] = ContextVar(f"blocks of {variable.name}", default=None)
    blocks = BLOCKS[variable]
    before, outer = variable.get(), blocks.get()
    block = Block(outer)
    try:
        blocks.set(block)
        variable.set(value)
        yield
    finally:
        while outer is not None and not outer.ended:
            outer = outer.outer
        if outer is None or block.is_under_way(blocks.get()):
            variable.set(before)  # the first call, after which an exception may come
            block.ended = True
            blocks.set(block.outer)


class Block:
    """A block of `during`, and the one around it that sets the same variable."""

    __slots__ = ("ended", "outer")

    def __init__(self, outer: Block | None) -> None:
        self.outer, self.ended = outer, False

    def is_under_way(self, innermost: Block | None) -> bool:
        """Whether it is the innermost block of this context, or around that."""
        while innermost is not None and innermost is not self:
            innermost = innermost.outer
        return innermost is self


BLOCKS: dict[Any, ContextVar[Block | None]] = {}  # the innermost one under way, by variable


@contextmanager
def listed(entries: list[Any], entry: Any) -> Iterator[None]:
    """Append an entry to a list within, and remove it afterwards."""
    try:
        entries.append(entry)
        yield
    finally:
        entries.remove(entry)


@contextmanager
def acquired(lock: Any, waits: bool) -> Iterator[bool]:
    """Hold a lock within, and give whether it is held: not if it isn't free and nobody waits."""
    held = lock.acquire(blocking=waits)
    try:
        yield held
    finally:
        if held:
            lock.release()


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
