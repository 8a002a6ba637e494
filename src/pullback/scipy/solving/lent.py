"""Traces that lend their Arrays: another trace writes down what is computed of them.

A function that is recorded closes over Arrays of older traces, and what it computes of these alone
is theirs: of `exp(-k * k) * x` the record has x, and the number that `k` gave. When the function is
run once more, for a value that leads elsewhere, an older trace may have ended, or its operand has
another value by now. Then its Arrays are lent: `k * k` is written down as well, with k as operand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

from ...core.array import Array
from ...core.primitive import Primitive
from ...core.spec import spec_of
from ...core.temporary import during
from ...core.trace import CONSTANT, Trace

# The trace that Arrays are lent to, in this thread or task.
BORROWER: ContextVar[Any] = ContextVar("borrower", default=None)


class Lending(Trace):
    """What a trace is meanwhile; where nobody borrows, in other threads, it does as it did."""

    __slots__ = ()
    ended = False
    writes_nodes = leaves_values = False  # `process` is asked of each operation
    weighs = True

    def process(self, primitive: Primitive, xs: tuple[Any, ...], static: dict[str, Any]) -> Any:
        borrower = BORROWER.get()
        if borrower is None:
            return super().process(primitive, xs, static)
        return borrower.process(primitive, xs, static)

    def spec(self, x: Array) -> Any:
        borrower = BORROWER.get()
        return super().spec(x) if borrower is None else spec_of(borrower.foreign(x))

    def shape(self, x: Array) -> tuple[int, ...]:
        return super().shape(x) if BORROWER.get() is None else self.spec(x).shape

    def length(self, x: Array) -> int:
        return self.shape(x)[0]

    def notice(self) -> None:
        if BORROWER.get() is None:
            super().notice()

    def of_numpy(self, x: Array) -> Array:
        borrower = BORROWER.get()
        return super().of_numpy(x) if borrower is None else borrowed(x, borrower)


def answer(name: str) -> Any:
    """What a trace says of one of its Arrays, or of one that is lent to it."""

    def of(self: Any, x: Array, *args: Any) -> Any:
        borrower = BORROWER.get()
        if borrower is None:
            return getattr(super(Lending, self), name)(x, *args)
        return getattr(borrower, name)(borrowed(x, borrower), *args)

    return of


def shortcut(name: str) -> Any:
    """A short way of operations, which is none while somebody borrows."""

    def of(self: Any, *args: Any, **kwargs: Any) -> Any:
        if BORROWER.get() is None:
            return getattr(super(Lending, self), name)(*args, **kwargs)
        return getattr(Trace, name)(self, *args, **kwargs)

    return of


for name in ("concrete", "told", "number", "converts", "peels", "primal", "detached", "failed"):
    setattr(Lending, name, answer(name))
for name in ("unary", "single", "binary", "beside", "pair", "item", "gather", "put"):
    setattr(Lending, name, shortcut(name))


@cache
def lending(kind: Any) -> type[Trace]:
    """The class of a trace of this kind while its Arrays are lent."""
    return type(f"Lending{kind.__name__}", (Lending, kind), {"__slots__": ()})


def is_lent(x: Array) -> bool:
    """Whether what is computed of x is written down here by a trace that borrows it."""
    return isinstance(x.within, Lending) and BORROWER.get() is not None


def borrowed(x: Any, borrower: Any) -> Any:
    """An Array as one of the trace that it is lent to."""
    if type(x) is not Array or x.within in (borrower, CONSTANT):
        return x
    return Array(borrower.foreign(x), borrower, borrower.variable(x))


@contextmanager
def lent(traces: Iterable[Trace], borrower: Trace) -> Iterator[None]:
    """Let a trace write down what is computed of Arrays of these."""
    kinds: dict[Trace, Any] = {trace: trace.__class__ for trace in traces}
    try:
        for trace, kind in kinds.items():
            if not issubclass(kind, Lending):
                trace.__class__ = lending(kind)
        with during(BORROWER, borrower):
            yield
    finally:
        for trace, kind in kinds.items():
            if issubclass(trace.__class__, Lending):  # it has not ended meanwhile
                trace.__class__ = kind
