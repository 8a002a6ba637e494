"""bottleneck's functions for programs that are differentiated, written with NumPy's.

pandas, xarray and others call them in place of NumPy's where bottleneck is installed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .core.operands import as_array
from .core.reach.call_tables import CALLS

__all__ = [
    "allnan", "anynan", "median", "move_max", "move_mean", "move_min", "move_std", "move_sum",
    "move_var", "nanargmax", "nanargmin", "nanmax", "nanmean", "nanmedian", "nanmin", "nanstd",
    "nansum", "nanvar", "ss",
]  # fmt: skip


def reducing(name: str) -> Any:
    """A function of all elements, or of those along an axis."""

    def reduce(a: Any, axis: Any = None) -> Any:
        return CALLS[getattr(np, name)](a, axis=axis)

    reduce.__name__ = reduce.__qualname__ = name
    return reduce


def spreading(name: str) -> Any:
    """A function with a number of degrees of freedom."""

    def spread(a: Any, axis: Any = None, ddof: int = 0) -> Any:
        return CALLS[getattr(np, name)](a, axis=axis, ddof=ddof)

    spread.__name__ = spread.__qualname__ = name
    return spread


nansum, nanmean, nanmin, nanmax = map(reducing, ("nansum", "nanmean", "nanmin", "nanmax"))
median, nanmedian = map(reducing, ("median", "nanmedian"))
nanargmin, nanargmax = map(reducing, ("nanargmin", "nanargmax"))
nanstd, nanvar = map(spreading, ("nanstd", "nanvar"))


def anynan(a: Any, axis: Any = None) -> Any:
    return np.any(np.isnan(a), axis=axis)


def allnan(a: Any, axis: Any = None) -> Any:
    return np.all(np.isnan(a), axis=axis)


def ss(a: Any, axis: Any = None) -> Any:
    """The sum of squares."""
    return np.sum(np.square(a), axis=axis)


def moving(name: str) -> Any:
    """A function of windows that end at each element, of which some may be NaN."""
    spread = name in ("nanstd", "nanvar")

    def move(a: Any, window: int, min_count: Any = None, axis: int = -1, ddof: int = 0) -> Any:
        x = np.moveaxis(as_array(a) * 1.0, axis, -1)
        before = np.full((*x.shape[:-1], window - 1), np.nan)
        windows = np.lib.stride_tricks.sliding_window_view(
            CALLS[np.concatenate]([before, x], axis=-1), window, axis=-1
        )
        found = np.sum(~np.isnan(windows), axis=-1)
        enough = found >= max(window if min_count is None else min_count, 1)
        known = CALLS[np.where](enough[..., None], windows, 0.0)
        options = {"ddof": ddof} if spread else {}
        out = CALLS[getattr(np, name)](known, axis=-1, **options)
        return np.moveaxis(CALLS[np.where](enough, out, np.nan), -1, axis)

    move.__name__ = move.__qualname__ = name.replace("nan", "move_")
    return move


move_sum, move_mean, move_min = map(moving, ("nansum", "nanmean", "nanmin"))
move_max, move_std, move_var = map(moving, ("nanmax", "nanstd", "nanvar"))
