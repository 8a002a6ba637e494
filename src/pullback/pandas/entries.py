"""Where Arrays enter pandas and leave it: constructors, assignments, `to_numpy`, arguments.

Each function here stands for one of pandas' own while a transformation runs; without Arrays it
calls that. Missing names (another release of pandas) are left out.
"""

from __future__ import annotations

import sys
from types import FunctionType
from typing import Any

import numpy as np
import pandas as pd
from pandas.core import apply, construction, indexing
from pandas.core.internals import construction as managers
from pandas.core.internals.managers import (
    BaseBlockManager,
    BlockManager,
    SingleBlockManager,
    create_block_manager_from_column_arrays,
)

from ..core.array import Array
from ..core.errors import MissingRuleError
from ..core.leftover import HOLDS, SETTLING
from ..core.operands import HELD, as_array, holds_arrays
from ..core.reach.calls import call_inside
from ..core.trace import is_live
from ..primitives.arguments import cast
from .columns import Live, LiveDtype, column, number, numbers
from .reductions import plain
from .stand_ins import carries, held, plain_array, shared, stands_for

# Columns and tables that are made.

NUMBERS = (int, float, complex, np.number)


def of_items(x: Any) -> Any:
    """A list or an array of objects in which Arrays are, as a column, if all are numbers."""
    if type(x) in (list, tuple):
        if not holds_arrays(x):
            return x
    elif type(x) is not np.ndarray or x.dtype != object or x.ndim != 1:
        return x
    found = list(map(number, x))
    if Array not in map(type, found) or any(np.ndim(y) for y in found):
        return x
    if not all(type(y) is Array or isinstance(y, NUMBERS) for y in found):
        return x
    return column(as_array(found))


def of_data(x: Any, length: int | None = None, dtype: Any = None) -> Any:
    """What a column is made of: Arrays, alone or in a list, as `Live`."""
    if type(x) is Array:
        if not is_live(x):
            return shared(x)
        if not x.ndim and length is not None:
            x = np.broadcast_to(x, (length,)) + 0.0
        x = column(x)
    else:
        x = of_items(x)
    if type(x) is Live and dtype is not None and not isinstance(dtype, LiveDtype):
        numeric = getattr(dtype, "kind", "O") in "biuf" or getattr(dtype, "_is_numeric", False)
        kind = getattr(dtype, "numpy_dtype", dtype)
        x = x.astype(kind) if numeric and getattr(kind, "kind", "f") != "f" else x
    return x


@stands_for(construction, "sanitize_array")
def sanitize_array(
    original: Any, data: Any, index: Any, dtype: Any = None, copy: bool = False, **options: Any
) -> Any:
    made = of_data(data, None if index is None else len(index), dtype)
    if type(made) is Live:
        if index is not None and len(made) == 1 and len(index) != 1:
            return made.take(np.zeros(len(index), int))
        return made.copy() if copy else made
    return original(made, index, dtype, copy, **options)


@stands_for(indexing, "infer_and_maybe_downcast")
def like_column(original: Any, array: Any, values: Any, *args: Any, **options: Any) -> Any:
    """What is appended to a column, of a dtype that can hold it."""
    made = of_data(values)
    return made if type(made) is Live else original(array, values, *args, **options)


def has_axes(x: Any) -> bool:
    return isinstance(x, (list, tuple)) or np.ndim(x) > 0


@stands_for(managers, "dict_to_mgr")
def dict_to_mgr(original: Any, data: Any, index: Any, columns: Any, **options: Any) -> Any:
    if isinstance(data, dict) and any(type(x) in (Array, list, tuple) for x in data.values()):
        lengths = [len(x) for x in data.values() if hasattr(x, "__len__") and has_axes(x)]
        length = len(index) if index is not None else lengths[0] if lengths else None
        data = {name: of_data(x, length) for name, x in data.items()}
    return original(data, index, columns, **options)


@stands_for(managers, "ndarray_to_mgr")
def ndarray_to_mgr(
    original: Any, values: Any, index: Any, columns: Any, dtype: Any, copy: bool, **options: Any
) -> Any:
    if not is_live(values):
        return original(of_data(values), index, columns, dtype, copy, **options)
    if copy:
        values = values.copy()
    if values.ndim == 1:
        values = values.reshape(-1, 1)
    if not values.ndim:
        values = values * np.ones((len(index), len(columns)))
    arrays = [column(values[:, j]) for j in range(values.shape[1])]
    index, columns = managers._get_axes(len(values), len(arrays), index, columns)
    return original_table(arrays, index, columns)


def original_table(arrays: Any, index: Any, columns: Any) -> Any:
    for given, n, what in ((columns, len(arrays), "columns"), (index, len(arrays[0]), "rows")):
        if len(given) != n:
            raise ValueError(f"Shape of passed values has {n} {what}, indices imply {len(given)}")
    return create_block_manager_from_column_arrays(
        arrays, [columns, index], consolidate=False, refs=[None] * len(arrays)
    )


@stands_for(managers, "arrays_to_mgr")
def arrays_to_mgr(original: Any, arrays: Any, columns: Any, index: Any, **options: Any) -> Any:
    arrays = [of_data(x, None if index is None else len(index)) for x in arrays]
    return original(arrays, columns, index, **options)


@stands_for(managers, "nested_data_to_arrays")
def nested_data_to_arrays(original: Any, data: Any, *args: Any, **options: Any) -> Any:
    """A list of rows, each of which may be an Array."""
    rows = [list(x) if type(x) is Array and is_live(x) else plain_array(x) for x in data]
    arrays, columns, index = original(rows, *args, **options)
    return [of_items(x) for x in arrays], columns, index


@stands_for(sys.modules["pandas._libs.lib"], "maybe_convert_objects")
def maybe_convert_objects(original: Any, objects: Any, *args: Any, **options: Any) -> Any:
    """Results of a user's function, one for each group or row."""
    made = of_items(objects)
    return made if type(made) is Live else original(objects, *args, **options)


# What is written into plain tables, or computed with one.


def lively(manager: Any, integers: bool = False, only: Any = None) -> Any:
    """The same table with columns that may carry a derivative in place of plain numbers."""
    kinds = "iufc" if integers else "fc"

    def of(i: int, x: Any) -> Any:
        takes = type(x) is np.ndarray and x.dtype.kind in kinds and only in (None, i)
        return Live(np.array(x, dtype=np.result_type(x, np.float32))) if takes else x

    if isinstance(manager, SingleBlockManager):
        return SingleBlockManager.from_array(of(0, manager.array), manager.index)
    arrays = [of(i, manager.iget_values(i)) for i in range(len(manager.items))]
    return create_block_manager_from_column_arrays(
        arrays, manager.axes, consolidate=False, refs=[None] * len(arrays)
    )


def become(manager: Any, other: Any) -> None:
    """Let a manager, which a table holds, have the columns of another."""
    manager.blocks = other.blocks
    if isinstance(manager, BlockManager):
        manager._rebuild_blknos_and_blklocs()


def of_manager(name: str, in_place: bool = False, integers: bool = False) -> None:
    for owner in {*SingleBlockManager.__mro__, *BlockManager.__mro__}:
        if type(vars(owner).get(name)) is not FunctionType:
            continue

        @stands_for(owner, name)
        def call(original: Any, self: Any, *args: Any, **options: Any) -> Any:
            if carries(args) or carries(options):
                only = args[0] if name == "column_setitem" and type(args[0]) is int else None
                live = lively(self, integers, only)
                if in_place:
                    become(self, live)
                else:
                    self = live
            options = {key: plain_or_live(x) for key, x in options.items()}
            return original(self, *map(plain_or_live, args), **options)


@stands_for(BaseBlockManager, "setitem")
def setitem(original: Any, self: Any, indexer: Any, value: Any) -> Any:
    """What is written into rows and columns of a table, or into a Series."""
    if not carries(value):
        return original(self, indexer, plain_or_live(value))
    live = lively(self)
    if isinstance(self, SingleBlockManager):
        return original(live, indexer, plain_or_live(value))
    rows, columns = indexer if type(indexer) is tuple else (indexer, slice(None))
    shape = np.broadcast_to(0, self.shape[::-1])[rows, columns].shape
    rows = np.ravel(rows) if isinstance(rows, np.ndarray) else rows
    found = np.arange(len(self.items))[columns]
    value = numbers(value) if np.ndim(value) else value
    value = np.broadcast_to(value, shape) if np.ndim(value) else value
    for j, place in enumerate(np.ravel(found).tolist()):
        part = value[..., j] if np.ndim(value) and np.ndim(found) else value
        live.column_setitem(place, rows, plain_or_live(part))
    return live


def plain_or_live(x: Any) -> Any:
    """An argument: without a derivative the plain array that it is, else a column."""
    return of_data(x) if type(x) is Array and (x.ndim == 1 or not is_live(x)) else x


for name in ("setitem_inplace", "column_setitem"):
    of_manager(name, in_place=True)
for name in ("fillna", "shift", "reindex_indexer", "unstack", "replace", "replace_list"):
    of_manager(name)
for name in ("where", "putmask", "apply"):
    of_manager(name, integers=True)


# Numbers that leave.


@stands_for(BlockManager, "as_array")
def as_matrix(
    original: Any, self: Any, dtype: Any = None, copy: bool = False, na_value: Any = None
) -> Any:
    """The numbers of a table, as `frame.to_numpy()` gives them."""
    if not any(type(block.values) is Live for block in self.blocks):
        return (
            original(self, dtype, copy)
            if na_value is None
            else original(self, dtype, copy, na_value)
        )
    arrays = [self.iget_values(i) for i in range(len(self.items))]
    if any(type(x) is not Live and getattr(x.dtype, "kind", "O") not in "biufc" for x in arrays):
        return original(self, dtype, copy)
    out = np.stack([x.inner if type(x) is Live else np.asarray(x) for x in arrays])
    return cast(out, dtype or out.dtype).T


@stands_for(SingleBlockManager, "external_values")
def external_values(original: Any, self: Any) -> Any:
    """`series.values`."""
    values = self._block.values
    return values.inner if type(values) is Live else original(self)


def inside(x: Any) -> Any:
    """The Array of a column, Series or DataFrame, or None where it has only plain numbers."""
    if type(x) is Live:
        return x.inner
    if not held(x):
        return None
    if isinstance(x, pd.Series):
        return x._mgr._block.values.inner
    return as_matrix(BlockManager.as_array, x._mgr)


HELD.update({Live: inside, pd.Series: inside, pd.DataFrame: inside})


@stands_for(apply.FrameColumnApply, "_make_ea_row_builder")
def row_builder(original: Any, arrays: Any, dtype: Any, cls: Any) -> Any:
    """What gives a row of a table, which a function is applied to."""
    if cls is not Live:
        return original(arrays, dtype, cls)
    return lambda i: column(np.stack([x[i] for x in arrays]))


@stands_for(apply.Apply, "transform_str_or_callable")
def transform(original: Any, self: Any, function: Any) -> Any:
    """`series.transform(f)`: f of each number, or of the whole if it raises for a Python float.

    An Array has NumPy's methods: `v - v.mean()` of a number is 0, and does not raise.
    """
    x = self.obj
    if callable(function) and isinstance(x, pd.Series) and held(x):
        try:
            expected = [
                plain(call_inside(function, (value, *self.args), self.kwargs))
                for value in plain(numbers(x)).tolist()
            ]
        except Exception:
            return call_inside(function, (x, *self.args), self.kwargs)
        out = original(self, function)
        if held(out) and not np.allclose(plain(numbers(out)), expected, 1e-6, 1e-9, equal_nan=True):
            raise MissingRuleError(
                "`Series.transform` calls its function twice where a column carries a derivative,"
                " and the second results differ, as of a function that draws random numbers.\n"
                "  Write `series.map(f)`, which calls it once."
            )
        return out
    return original(self, function)


# What a transformation leaves behind.


def settled(x: Any, exchanged: Any) -> Any:
    """A Series or DataFrame that was stored: its columns get the values that they have then."""
    if not held(x):
        return x
    manager = x._mgr
    single = isinstance(manager, SingleBlockManager)
    arrays = [manager.array] if single else [manager.iget_values(i) for i in range(len(x.columns))]
    values = [exchanged(y.inner) if type(y) is Live else y for y in arrays]
    values = [column(y) if type(y) is Array else y for y in values]
    if single:
        manager = SingleBlockManager.from_array(values[0], manager.index)
    else:
        manager = original_table(values, x.index, x.columns)
    object.__setattr__(x, "_mgr", manager)
    return x


for cls in (pd.Series, pd.DataFrame):
    HOLDS.add(cls)
    SETTLING[cls] = settled
