"""debug_nans: raise an error at the operation that produces a NaN, forward or backward.

While it's on, every new trace has a class that checks the results of its operations. While it's
off, nothing is checked, and operations cost nothing more.
"""

from __future__ import annotations

import linecache
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from ..core.array import Array, peel
from ..core.cotangent import Slots, dense
from ..core.errors import NanError
from ..core.lost import line_of_user
from ..core.node import Node
from ..core.spec import spec_of
from ..core.temporary import during
from ..core.trace import STARTS, Trace
from ..core.usage import usage
from .eager import GROUND
from .transformation import Decorating


class debug_nans(Decorating):  # a context manager, named as the field names it
    """Raise NanError at the operation that makes a NaN; a context manager and a decorator.

    >>> import numpy as np
    >>> import pullback as pb
    >>> with debug_nans(), np.errstate(invalid="ignore"):
    ...     try:
    ...         pb.grad(lambda x: np.sqrt(x - 2.0))(1.0)
    ...     except pb.NanError as error:
    ...         print(str(error).partition(" in ")[0])
    `sqrt` made a NaN from x = -1.0

    It looks at values, at tangents and at what rules give in a backward pass, in transformations
    and in the eager style, in this thread or task. An operation that is given a NaN may pass it on.
    Each operation is checked, so that programs run slower.
    """

    @usage("with pullback.debug_nans()", "debug_nans")
    def __init__(self) -> None:
        super().__init__()

    def block(self) -> AbstractContextManager[None]:
        watch(GROUND)  # which looks at nothing but within
        return during(STARTS, watch)


def watch(trace: Trace) -> None:
    """Let a trace that begins look at what its operations give."""
    if not hasattr(type(trace), "watched"):
        trace.__class__ = watched(getattr(type(trace), "guarded", type(trace)))


WATCHED: dict[type, type] = {}


def watched(cls: type[Trace]) -> type[Trace]:
    """A class of traces that look at what their operations give."""
    if cls in WATCHED:
        return WATCHED[cls]

    def examined(method: str) -> Callable[..., Any]:
        plain = getattr(cls, method)

        def call(self: Trace, primitive: Any, *xs: Any) -> Any:
            out = plain(self, primitive, *xs)
            if STARTS.get() is watch:  # other threads share the ground
                examine(self, primitive, xs if method != "process" else xs[0], out)
            return out

        return call

    ways = {method: examined(method) for method in ("process", "unary", "binary")}
    # Short ways that go past these go by them here.
    longer = {name: getattr(Trace, name) for name in ("beside", "item", "pair", "put", "single")}
    longer["writes_nodes"] = False
    out = type(cls.__name__, (cls,), {"__slots__": (), "watched": cls, **ways, **longer})
    return WATCHED.setdefault(cls, out)


def examine(trace: Trace, primitive: Any, xs: Any, out: Any) -> None:
    """Raise if a value or a tangent is the first that is NaN, and have the rule watched."""
    if any(has_nan(peel(x)) for x in xs):
        return
    for part in out if type(out) is tuple else (out,):
        if has_nan(peel(part)):
            raise NanError(
                f"`{primitive.name}` made a NaN from {operands(xs)} {place()}.\n{ADVICE}"
            )
        if type(part) is not Array or part.within is not trace:
            continue
        if type(part.node) is Node:
            node = part.node.parents[0] if primitive.n_out is not None else part.node
            if node.parents and type(node.rule) is not NanWatch:
                node.rule = NanWatch(node.rule, primitive.name, operands(xs), place())
        elif has_nan(peel(dense(part.node))) and not any(
            has_nan(peel(dense(x.node))) for x in xs if type(x) is Array and x.within is trace
        ):
            raise NanError(
                f"The derivative of `{primitive.name}` in forward mode is NaN at {operands(xs)}"
                f" {place()}.\n{ADVICE}"
            )


class NanWatch:
    """A rule that raises if it makes a NaN."""

    __slots__ = ("at", "name", "place", "rule")

    def __init__(self, rule: Any, name: str, at: str, place: str) -> None:
        self.rule, self.name, self.at, self.place = rule, name, at, place

    def __call__(self, out_bar: Any, residual: Any, wanted: Any) -> Any:
        given = list(out_bar.bars.values()) if type(out_bar) is Slots else [out_bar]
        had = any(has_nan(peel(dense(bar))) for bar in given)
        try:
            x_bars = self.rule(out_bar, residual, wanted)
        except NanError as error:  # of an outer transformation, which the rule runs under
            raise self.error() from error
        if not had and any(bar is not None and has_nan(peel(dense(bar))) for bar in x_bars):
            raise self.error()
        return x_bars

    def error(self) -> NanError:
        return NanError(
            f"The derivative of `{self.name}` in reverse mode is NaN at {self.at}"
            f" {self.place}.\n{ADVICE}"
        )

    def __getattr__(self, name: str) -> Any:
        if name == "partial":  # large cotangents are not to go past this
            raise AttributeError(name)
        return getattr(self.rule, name)


ADVICE = (
    "  Keep the operand where the operation is defined and smooth, for example with"
    " `np.where(ok, x, 1.0)` before the operation."
)


def has_nan(x: Any) -> bool:
    x = np.asarray(x) if x is not None else None
    return x is not None and x.dtype.kind in "fc" and bool(np.isnan(x).any())


def operands(xs: Any) -> str:
    """What an operation was given: numbers as they are, arrays by their range."""
    names = ["x", "y"] if len(xs) <= 2 else [f"x{i}" for i in range(len(xs))]
    return ", ".join([f"{name} = {told(peel(x))}" for name, x in zip(names, xs, strict=False)])


def told(x: Any) -> str:
    x = np.asarray(x)
    if not x.shape:
        return str(x)
    if x.size and x.dtype.kind in "iuf":
        return f"{spec_of(x)} between {np.nanmin(x):.5g} and {np.nanmax(x):.5g}"
    return str(spec_of(x))


def place() -> str:
    """Where in the user's program this is: `in model.py:12 (y = np.sqrt(x))`."""
    line = line_of_user()
    if line is None:
        return "in code of the library"
    text = linecache.getline(*line).strip()
    return f"in {os.path.basename(line[0])}:{line[1]}" + (f" ({text})" if text else "")
