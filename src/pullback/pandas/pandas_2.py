"""What pandas 2.2 does otherwise than pandas 3, where a column carries a derivative."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from pandas.core import apply, sorting
from pandas.core.groupby import GroupBy
from pandas.core.reshape import reshape

from ..core.array import Array
from ..core.errors import MissingRuleError
from ..core.reach.calls import call_inside
from ..core.trace import is_live
from .columns import Live, numbers
from .entries import original_table
from .levels import at_level, group_quantile
from .reductions import plain
from .stand_ins import carries, held, plain_array, stands_for


def by_values(x: Any) -> Any:
    """A column or a Series as the plain numbers that decide its order."""
    if isinstance(x, Live):
        return plain(x.inner)
    if isinstance(x, pd.Series) and held(x):
        return pd.Series(plain(numbers(x)), x.index, name=x.name)
    return x


def series_agg(original: Any, self: Any) -> Any:
    """`series.agg(f)`: f of each number, or of the whole if it raises for a Python float."""
    x, function = self.obj, self.func
    if not (callable(function) and held(x)):
        return original(self)
    try:
        for value in plain(numbers(x)).tolist():
            call_inside(function, (value, *self.args), self.kwargs)
    except (ValueError, AttributeError, TypeError):
        return call_inside(function, (x, *self.args), self.kwargs)
    return original(self)


def sorted_by_several(original: Any, keys: Any, *args: Any, **options: Any) -> Any:
    """Places of rows in the order of several columns."""
    return original(list(map(by_values, keys)), *args, **options)


def unstacked(original: Any, self: Any, values: Any, *args: Any, **options: Any) -> Any:
    """Compiled code writes into views of these as another dtype, which Arrays do not allow."""
    for name, x in list(vars(self).items()):
        if type(x) is Array and not is_live(x):
            setattr(self, name, plain_array(x))
    return original(self, plain_array(values), *args, **options)


def quantile_of_groups(
    original: Any, self: Any, q: Any = 0.5, interpolation: str = "linear", *args: Any,
    **options: Any,
) -> Any:  # fmt: skip
    """Compiled code writes the quantiles into a plain array."""
    if carries(q) or not carries(self._selected_obj):
        return group_quantile(original, self, q, interpolation, *args, **options)
    if np.ndim(q) or args or options:
        raise MissingRuleError(
            "`groupby(...).quantile` was asked for several levels, or with `numeric_only=`, of"
            " columns that carry a derivative, which needs pandas 3.\n"
            "  Pick the columns first, and ask for one level at a time:"
            " `[table.groupby(key)[columns].quantile(q) for q in levels]`."
        )
    return self.agg(lambda x: at_level(x, plain_array(q), interpolation))


def duplicated(original: Any, self: Any, *args: Any, **options: Any) -> Any:
    """Rows that stand in a table before: by their values."""
    if held(self):
        manager = self._mgr
        columns = [manager.iget_values(i) for i in range(len(self.columns))]
        made = original_table(list(map(by_values, columns)), self.index, self.columns)
        self = self._constructor_from_mgr(made, made.axes)
    return original(self, *args, **options)


if int(pd.__version__.partition(".")[0]) < 3:
    stands_for(apply.SeriesApply, "agg")(series_agg)
    stands_for(sorting, "lexsort_indexer")(sorted_by_several)
    stands_for(reshape._Unstacker, "get_new_values")(unstacked)
    stands_for(GroupBy, "quantile")(quantile_of_groups)
    stands_for(pd.DataFrame, "duplicated")(duplicated)
