"""What pandas computes in compiled code, where an Array is among the arguments."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..core.array import Array
from ..primitives.arguments import cast
from .columns import numbers
from .reductions import plain
from .stand_ins import options_of, plain_array, plain_number, stands_for, stands_for_compiled
from .windows import OF_TWO, OF_WEIGHTS, OTHERS, WINDOWS, apply_windows, nancorr, root

# What is asked of values alone: an order, equality.
BY_ORDER = (
    "algos.kth_smallest", "algos.rank_1d", "algos.rank_2d", "algos.nancorr_spearman",
    "window.aggregations.roll_rank", "hashtable.duplicated", "hashtable.ismember",
    "hashtable.mode", "algos.is_monotonic",
)  # fmt: skip


def lib(name: str) -> Any:
    """A compiled function of pandas', if this release has it."""
    module, _, name = name.rpartition(".")
    return getattr(sys.modules.get(f"pandas._libs.{module}"), name, None)


def by_order(original: Any) -> None:
    def ours(*args: Any, **options: Any) -> Any:
        return original(*[plain(x) if type(x) is Array else x for x in args], **options)

    stands_for_compiled(original, ours)


def window_apply(original: Any, x: Any, *args: Any, **options: Any) -> Any:
    """A user's function of each window, to which Arrays may come from elsewhere."""
    out = apply_windows(plain_array(x), *args, **options)
    return out if type(out) is Array else np.asarray(out, float)


stands_for(sys.modules["pandas._libs.window.aggregations"], "roll_apply")(window_apply)


def exact(original: Any, ours: Any) -> Any:
    """A function of windows that is 0 or NaN where pandas' is.

    Equal numbers have a variance of 0 there, by a count of them; here it may be a rounding error,
    and a correlation divides by it.
    """

    def call(*args: Any, **options: Any) -> Any:
        out = ours(*args, **options)
        theirs = original(*map(plain_number, args), **options_of(options))
        if type(out) is not Array:
            return theirs
        zero = (theirs == 0) & np.isfinite(plain(out))
        out = out - np.where(zero, plain(out), 0.0) if zero.any() else out
        return np.where(np.isnan(theirs), np.nan, out)

    return call


def floats(x: Any) -> Any:
    return cast(numbers(x), np.dtype(float))


for name, ours in {**WINDOWS, **OF_TWO, **OF_WEIGHTS, **OTHERS}.items():
    original = lib(f"window.aggregations.{name}")
    stands_for_compiled(original, exact(original, ours))
stands_for_compiled(lib("algos.nancorr"), exact(lib("algos.nancorr"), nancorr))
stands_for_compiled(lib("algos.ensure_float64"), floats)
for name in BY_ORDER:
    by_order(lib(name))
for name in ("common", "rolling", "ewm"):
    stands_for_compiled(getattr(sys.modules.get(f"pandas.core.window.{name}"), "zsqrt", None), root)
