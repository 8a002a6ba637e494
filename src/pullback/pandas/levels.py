"""Quantiles whose level carries a derivative, and numbers that are sorted into bins.

Without a derivative in the level pandas' own functions are called.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from pandas.core.groupby import GroupBy
from pandas.core.reshape import tile
from pandas.util._validators import validate_percentile

from ..core.errors import MissingRuleError
from ..core.operands import as_array
from .columns import column, numbers
from .entries import original_table
from .reductions import plain, quantiles
from .stand_ins import carries, plain_array, stands_for


def at_level(x: Any, q: Any, interpolation: str) -> Any:
    """One quantile of a column, or several."""
    levels = as_array(q)
    out = quantiles(numbers(x), np.reshape(levels, -1), interpolation)
    return np.reshape(out, levels.shape)[()]


@stands_for(pd.Series, "quantile")
def series_quantile(original: Any, self: Any, q: Any = 0.5, interpolation: str = "linear") -> Any:
    if not carries(q):
        return original(self, plain_array(q), interpolation)
    levels = validate_percentile(plain(as_array(q)))
    out = at_level(self, q, interpolation)
    return pd.Series(column(out), levels, name=self.name) if out.ndim else out


@stands_for(pd.DataFrame, "quantile")
def frame_quantile(
    original: Any, self: Any, q: Any = 0.5, axis: Any = 0, numeric_only: bool = False,
    interpolation: str = "linear", method: str = "single",
) -> Any:  # fmt: skip
    if not carries(q):
        return original(self, plain_array(q), axis, numeric_only, interpolation, method)
    if method != "single":
        raise MissingRuleError(
            "`DataFrame.quantile` was asked for whole rows, `method='table'`, at a level that"
            " carries a derivative.\n"
            "  A row jumps where the level moves: leave out `method=`, or detach the level with"
            " `pullback.stop_gradient(q)`."
        )
    table = self if axis in (0, "index") else self.T
    table = table.select_dtypes("number") if numeric_only else table
    levels = validate_percentile(plain(as_array(q)))
    columns = [at_level(x, q, interpolation) for _, x in table.items()]
    if levels.ndim:
        made = original_table(list(map(column, columns)), pd.Index(levels), table.columns)
        return self._constructor_from_mgr(made, made.axes)
    return pd.Series(column(np.stack(columns)), table.columns, name=float(levels))


@stands_for(GroupBy, "quantile")
def group_quantile(
    original: Any, self: Any, q: Any = 0.5, interpolation: str = "linear", *args: Any,
    **options: Any,
) -> Any:  # fmt: skip
    if not carries(q):
        return original(self, plain_array(q), interpolation, *args, **options)
    if np.ndim(as_array(q)) or args or options:
        raise MissingRuleError(
            "`groupby(...).quantile` was asked for several levels, or with `numeric_only=`, and a"
            " level carries a derivative.\n"
            "  Pick the columns first, and ask for one level at a time:"
            " `[table.groupby(key)[columns].quantile(q) for q in levels]`."
        )
    return self.agg(lambda x: at_level(x, q, interpolation))


def of_bins(original: Any, x: Any, bins: Any, *args: Any, **options: Any) -> Any:
    """`pd.cut` and `pd.qcut`: to which bin a number belongs is locally constant, an edge is not."""
    if not carries(x):
        return original(plain_array(x), plain_array(bins), *args, **options)
    if options.get("retbins") or not (options.get("labels") is False or np.ndim(bins)):
        raise MissingRuleError(
            f"`pandas.{original.__name__}` was asked for bins of numbers that carry a derivative,"
            " and for the edges of these bins.\n"
            "  Write `labels=False` for the numbers of the bins, or give the edges as a list."
        )
    values = pd.Series(plain(numbers(x)), getattr(x, "index", None))
    return original(values if isinstance(x, pd.Series) else values.array, bins, *args, **options)


for name in ("cut", "qcut"):
    stands_for(tile, name)(of_bins)
