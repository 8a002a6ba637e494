"""Take the examples of a batch apart inside `vmap`, and put them together again.

    examples(x, trace)    from an Array that `trace` maps to one of all its examples, along an axis
    together(x, trace)    back

Each is the transpose of the other: what the i-th example gives has a derivative in the i-th alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.array import Array
from ..core.kinds import Linear
from ..core.spec import Spec
from ..core.storage import current
from .batch import BatchTrace


def mapping(x: Any) -> Any:
    """The youngest trace that maps x; None if none does."""
    while type(x) is Array:
        x = current(x)
        if isinstance(x.within, BatchTrace) and not x.within.ended:
            return x.within
        x = x.payload
    return None


def is_mapped_by(x: Any, trace: Any) -> bool:
    while type(x) is Array:
        x = current(x)
        if x.within is trace:
            return True
        x = x.payload
    return False


def is_inside(x: Any, trace: Any) -> bool:
    """Whether x is mapped by the trace, or differentiated for each of its examples."""
    return type(x) is Array and current(x).within.birth >= trace.birth


class Apart(Linear):
    rearranges = True

    def value(self, x, *, trace):
        return np.broadcast_to(x, (trace.state, *np.shape(x)))

    def spec(self, x, *, trace):
        return Spec((trace.state, *x.shape), x.dtype)

    def of(self, x, static):
        trace = static["trace"]
        if not is_inside(x, trace):
            return self.value(x, trace=trace)
        x = current(x)
        return x.payload if x.within is trace else super().of(x, static)

    def transpose(self, i, xs, out_bar, *, trace):
        return together(out_bar, trace=trace)

    def batch(self, xs, mapped, size, *, trace):
        return np.moveaxis(self(xs[0], trace=trace), 1, 0)


class Together(Linear):
    rearranges = True

    def value(self, x, *, trace):
        return Array(x, trace, None)

    def spec(self, x, *, trace):
        return Spec(x.shape[1:], x.dtype)

    def of(self, x, static):
        trace = static["trace"]
        return super().of(x, static) if is_inside(x, trace) else self.value(x, trace=trace)

    def transpose(self, i, xs, out_bar, *, trace):
        return examples(out_bar, trace=trace)

    def batch(self, xs, mapped, size, *, trace):
        return self(np.moveaxis(xs[0], 0, 1), trace=trace)


examples, together = Apart("examples of a batch"), Together("batch of examples")
