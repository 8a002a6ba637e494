"""`Live`: the column of pandas in which numbers are that carry a derivative.

It is an extension array of pandas': Series and DataFrames hold it, pick from it, align, group, fill
and join it through the methods below, which compute with an Array. Its numbers count as those of
NumPy's dtype: `select_dtypes`, `describe` and `numeric_only=` find them.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray, ExtensionDtype
from pandas.api.indexers import check_array_indexer
from pandas.core.arrays.base import ExtensionOpsMixin

from ..core.array import Array, snapshot, told
from ..core.errors import ArgumentTypeError, MissingRuleError
from ..core.operands import as_array, holds_arrays
from ..core.reach.namespaces import caller
from ..core.storage import current
from ..core.trace import CONSTANT, is_live
from ..core.written_numbers import shown
from ..primitives.arguments import cast
from .reductions import accumulated, grouped, plain, quantiles, reduced


class LiveDtype(ExtensionDtype):
    """The dtype of a column that carries a derivative: NumPy's, by name, kind and type."""

    _metadata = ("numpy_dtype",)
    _is_numeric = True
    na_value = np.nan

    def __init__(self, numpy_dtype: Any = np.float64) -> None:
        self.numpy_dtype = np.dtype(numpy_dtype)

    @property
    def name(self) -> str:
        return self.numpy_dtype.name

    @property
    def type(self) -> Any:
        return self.numpy_dtype.type

    @property
    def kind(self) -> str:
        return self.numpy_dtype.kind

    @property
    def itemsize(self) -> int:
        return self.numpy_dtype.itemsize

    def __eq__(self, other: object) -> bool:
        """NumPy's dtype for the program; pandas tells columns from arrays by their dtypes."""
        if isinstance(other, LiveDtype):
            return self.numpy_dtype == other.numpy_dtype
        asked_by = str(caller().f_globals.get("__name__"))
        if asked_by.startswith("pandas.") and not asked_by.startswith("pandas.core.ops"):
            return False
        return isinstance(other, (str, type, np.dtype)) and self.numpy_dtype == other

    def __hash__(self) -> int:
        return hash(self.numpy_dtype)

    def __repr__(self) -> str:
        return repr(self.numpy_dtype)

    @classmethod
    def construct_array_type(cls) -> Any:
        return Live

    @classmethod
    def construct_from_string(cls, string: str) -> Self:
        raise TypeError(f"Cannot construct a '{cls.__name__}' from '{string}'")

    def _get_common_dtype(self, dtypes: list[Any]) -> Any:
        found = [x.numpy_dtype if isinstance(x, LiveDtype) else x for x in dtypes]
        if not all(isinstance(x, np.dtype) and x.kind in "biufc" for x in found):
            return None
        return LiveDtype(np.result_type(np.float32, *found))


def number(x: Any) -> Any:
    """One number of a column: what pandas has for a missing one is NaN."""
    return np.nan if x is None or x is pd.NA or x is pd.NaT else x


def numbers(x: Any) -> Any:
    """Numbers as an array or an Array: of a column, a Series, a list, an array of objects."""
    if type(x) is Array:
        return x
    if isinstance(x, (pd.Series, pd.Index)):
        x = x._values
    if isinstance(x, Live):
        return x.inner
    if isinstance(x, ExtensionArray):
        return x.to_numpy(float, na_value=np.nan)
    if isinstance(x, np.ndarray) and x.dtype != object:
        return x
    x = list(map(number, x))
    return as_array(x) if holds_arrays(x) else np.asarray(x, float)


def column(x: Any) -> Any:
    """What was computed as a column: numbers are `Live`, truth values and integers plain."""
    if type(x) is tuple:
        return tuple(map(column, x))
    if type(x) is not Array or x.ndim != 1:
        return x
    return Live(x) if x.dtype.kind in "fc" else plain(x)


def column_of_results(values: Any) -> Any:
    """Results of a function, one for each row, as a column; None if they carry no derivative."""
    if holds_arrays(values) and all(np.ndim(x) == 0 for x in values):
        return column(as_array(values))
    return None


class FilledColumn(ExtensionArray):
    """How the missing numbers of a `Live` column are filled, and chosen ones replaced."""

    inner: Any

    def fillna(
        self, value: Any = None, method: Any = None, limit: int | None = None, copy: bool = True
    ) -> Any:
        if method is not None:  # before pandas 3
            return self._pad_or_backfill(method=method, limit=limit)
        missing = self.isna()
        if limit is not None:
            missing = missing & (np.cumsum(missing) <= limit)
        return type(self)(np.where(missing, numbers_or_number(value), self.inner))

    def _pad_or_backfill(
        self, *, method: Any, limit: Any = None, limit_area: Any = None, copy: bool = True
    ) -> Any:
        places = pd.Series(np.where(self.isna(), np.nan, np.arange(len(self))))
        places = getattr(places, "bfill" if method in ("bfill", "backfill") else "ffill")(
            limit=limit, limit_area=limit_area
        )
        return self.take(places.fillna(-1).to_numpy(int), allow_fill=True)

    def interpolate(
        self, *, method: Any, axis: int, index: Any, limit: Any, limit_direction: Any,
        limit_area: Any, copy: bool, **options: Any,
    ) -> Any:  # fmt: skip
        if method not in ("linear", "index", "values", "time") or options:
            raise MissingRuleError(
                f"`interpolate(method={method!r})` of pandas has no derivative rule.\n"
                "  Write `interpolate()`, or use `scipy.interpolate` with `x.to_numpy()`."
            )
        at = np.arange(len(self)) if method == "linear" else np.asarray(index)
        at = at.astype("int64").astype(float) if at.dtype.kind in "mM" else at.astype(float)
        missing = self.isna()
        if not missing.any() or missing.all():
            return self.copy()
        known = np.flatnonzero(~missing)
        inside = pd.Series(np.where(missing, np.nan, 0.0)).interpolate(
            limit=limit, limit_direction=limit_direction or "forward", limit_area=limit_area
        )
        filled = np.where(missing, np.interp(at, at[known], self.inner[known]), self.inner)
        return type(self)(np.where(inside.isna().to_numpy(), np.nan, filled))

    def _where(self, mask: Any, value: Any) -> Any:
        return type(self)(np.where(np.asarray(mask), self.inner, numbers_or_number(value)))

    def _putmask(self, mask: Any, value: Any) -> None:
        self.inner[...] = np.where(np.asarray(mask), numbers_or_number(value), self.inner)


class GroupedColumn(ExtensionArray):
    """What `groupby` computes of a `Live` column."""

    inner: Any

    def _groupby_op(
        self, *, how: str, has_dropped_na: bool, min_count: int, ngroups: int, ids: Any,
        **options: Any,
    ) -> Any:  # fmt: skip
        if how in OF_VALUES:
            of_values = pd.Series(plain(self.inner)).groupby(np.where(ids < 0, np.nan, ids))
            return getattr(of_values, how)(**OF_VALUES[how](options)).to_numpy()
        if how == "ohlc":
            parts = [grouped(each, self.inner, ids, ngroups) for each in OHLC]
            return np.stack(parts, axis=1)
        out = grouped(how, self.inner, ids, ngroups, min_count, **options)
        if how == "cumsum" and np.isinf(plain(self.inner)).any():  # what follows may be NaN
            theirs = pd.Series(plain(self.inner)).groupby(np.where(ids < 0, np.nan, ids)).cumsum()
            out = np.where(theirs.isna(), np.nan, out)
        return column_or_plain(out)

    def _groupby_quantile(
        self, *, qs: Any, interpolation: str, ids: Any, ngroups: int, starts: Any, ends: Any
    ) -> Any:
        slices = zip(starts.tolist(), ends.tolist(), strict=True)  # of sorted groups
        parts = [quantiles(self.inner[a:b], qs, interpolation) for a, b in slices]
        return column_or_plain(np.concatenate(parts))


class Live(FilledColumn, GroupedColumn, ExtensionOpsMixin):
    """A column of numbers that carry a derivative: `inner` is an Array of one axis."""

    __array_priority__ = 1000

    def __init__(self, inner: Any) -> None:
        self.inner: Any = inner if type(inner) is Array else Array(inner, CONSTANT, None)

    # Making.

    @classmethod
    def _from_sequence(cls, scalars: Any, *, dtype: Any = None, copy: bool = False) -> Live:
        x = numbers(scalars)
        if x.dtype.kind not in "fc":
            x = x.astype(float)
        if isinstance(dtype, LiveDtype) and x.dtype != dtype.numpy_dtype:
            x = x.astype(dtype.numpy_dtype)
        return cls(snapshot(x) if type(x) is Array else np.array(x))

    @classmethod
    def _from_factorized(cls, values: Any, original: Live) -> Live:
        return original.take(values)

    @classmethod
    def _concat_same_type(cls, to_concat: Any) -> Live:
        return cls(np.concatenate([numbers(x) for x in to_concat]))

    @classmethod
    def _empty(cls, shape: Any, dtype: Any) -> Live:
        return cls(np.full(shape, np.nan, dtype.numpy_dtype))

    def _cast_pointwise_result(self, values: Any) -> Any:
        values = list(map(number, values))
        made = column_of_results(values)
        return super()._cast_pointwise_result(values) if made is None else made

    # What it is.

    @property
    def dtype(self) -> LiveDtype:
        return LiveDtype(self.inner.dtype)

    @property
    def nbytes(self) -> int:
        return int(self.inner.nbytes)

    def __len__(self) -> int:
        return len(self.inner)

    def isna(self) -> Any:
        return np.isnan(plain(self.inner))

    def copy(self) -> Live:
        return Live(snapshot(self.inner))

    def view(self, dtype: Any = None) -> Any:
        return Live(self.inner)

    # Parts of it.

    def key(self, item: Any) -> Any:
        if type(item) is tuple:
            item = [x for x in item if x is not Ellipsis]
            item = item[0] if item else slice(None)
        if item is Ellipsis:
            return slice(None)
        return check_array_indexer(self, item)

    def __getitem__(self, item: Any) -> Any:
        out = self.inner[self.key(item)]
        return Live(out) if out.ndim else out

    def __setitem__(self, item: Any, value: Any) -> None:
        listed = pd.api.types.is_list_like(value)
        self.inner[self.key(item)] = numbers(value) if listed else number(value)

    def __iter__(self) -> Any:
        return iter(self.inner)

    def take(self, indices: Any, *, allow_fill: bool = False, fill_value: Any = None) -> Live:
        indices = np.asarray(indices, dtype=np.intp)
        n = len(self)
        if not allow_fill:
            if not n and len(indices):
                raise IndexError("cannot do a non-empty take")
            return Live(self.inner[indices])
        if (indices < -1).any():
            raise ValueError("indices must all be >= -1")
        missing = indices == -1
        if (indices >= n).any():
            raise IndexError("out of bounds value in 'indices'.")
        fill = number(fill_value)
        if not n:
            return Live(np.full(len(indices), 1.0) * fill)
        if not missing.any():
            return Live(self.inner[indices])
        picked = self.inner[np.where(missing, 0, indices)]
        return Live(np.where(missing, fill, picked))

    # As something else.

    def to_numpy(self, dtype: Any = None, copy: bool = False, na_value: Any = None) -> Any:
        if dtype is not None and np.dtype(dtype) == object:
            return np.asarray(self, dtype=object)
        x = snapshot(self.inner) if copy else self.inner
        if na_value is not None and not np.isscalar(na_value) and na_value is not pd.NA:
            na_value = None  # pandas' "no default"
        if na_value is not None and na_value is not pd.NA and self.isna().any():
            x = np.where(self.isna(), na_value, x)
        return x if dtype is None else cast(x, np.dtype(dtype))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if dtype is not None and np.dtype(dtype) == object:
            out = np.empty(len(self), object)
            for i, x in enumerate(self.inner):
                out[i] = x
            return out
        return self.inner.__array__(dtype)

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        dtype = pd.api.types.pandas_dtype(dtype)
        if isinstance(dtype, LiveDtype):
            dtype = dtype.numpy_dtype
        if isinstance(dtype, np.dtype) and dtype.kind in "biufc":
            if dtype.kind in "iu":
                pd.Series(plain(self.inner)).astype(dtype)  # which refuses NaN
            return column(cast(snapshot(self.inner), dtype))
        if getattr(dtype, "kind", None) == "O" and isinstance(dtype, np.dtype):
            return np.asarray(self, dtype=object)
        return super().astype(dtype, copy=copy)

    def map(self, mapper: Any, na_action: Any = None) -> Any:
        out = super().map(mapper, na_action=na_action)
        of_objects = type(out) is np.ndarray and out.dtype == object
        made = column_of_results(list(map(number, out))) if of_objects else None
        return out if made is None else made

    def value_counts(self, dropna: bool = True) -> Any:
        raise MissingRuleError(
            "`value_counts` counts equal numbers of a column that carries a derivative, and has"
            " these numbers as its index, which holds plain numbers.\n"
            "  Detach them with `pullback.stop_gradient(x)`, or bin them:"
            " `pd.cut(s, edges, labels=False).value_counts()`."
        )

    def _values_for_json(self) -> Any:
        values = np.asarray(told(self.inner, "to_json"))
        shown(current(self.inner), str(values), "to_json")
        return values

    def tolist(self) -> list[Any]:
        return list(self.inner)

    # Order and equality, by the values.

    def isin(self, values: Any) -> Any:
        if isinstance(values, Live) or holds_arrays(values):
            values = plain(numbers(values))
        return pd.Series(plain(self.inner)).isin(values).to_numpy()

    def _values_for_argsort(self) -> Any:
        return plain(self.inner)

    def _values_for_factorize(self) -> Any:
        return plain(self.inner), np.nan

    def _hash_pandas_object(self, **options: Any) -> Any:
        """Refused, as `hash(x)` is: what is kept by its hash belongs to another derivative."""
        if is_live(self.inner):
            raise ArgumentTypeError(
                "A column that carries a derivative has no hash: a cache would give what was"
                " computed for equal numbers, without the derivative.\n"
                "  Call the function beneath the cache."
            )
        return super()._hash_pandas_object(**options)

    def factorize(self, use_na_sentinel: bool = True) -> Any:
        codes, uniques = pd.factorize(plain(self.inner), use_na_sentinel=use_na_sentinel)
        first = np.full(len(uniques), -1)
        places = np.flatnonzero(codes >= 0)[::-1]
        first[codes[places]] = places
        return codes, self.take(first)

    def unique(self) -> Any:
        return self.factorize(use_na_sentinel=False)[1]

    def equals(self, other: Any) -> bool:
        if not isinstance(other, Live):
            return False
        return bool(np.array_equal(plain(self.inner), plain(other.inner), equal_nan=True))

    def searchsorted(self, value: Any, side: Any = "left", sorter: Any = None) -> Any:
        return np.searchsorted(plain(self.inner), plain(numbers_or_number(value)), side, sorter)

    # Computing.

    def round(self, decimals: int = 0, *args: Any, **options: Any) -> Live:
        return Live(np.round(self.inner, decimals))

    def _reduce(
        self, name: str, *, skipna: bool = True, keepdims: bool = False, **options: Any
    ) -> Any:
        out = reduced(name, self.inner, skipna, **options)
        if not keepdims:
            return out
        return column(np.reshape(out, (1,))) if type(out) is Array else np.array([out])

    def _accumulate(self, name: str, *, skipna: bool = True, **options: Any) -> Live:
        return Live(accumulated(name, self.inner, skipna))

    def shift(self, periods: int = 1, fill_value: Any = None) -> Live:
        places = np.arange(len(self)) - periods
        inside = (places >= 0) & (places < len(self))
        fill = np.nan if fill_value is None or pd.isna(plain(fill_value)) else number(fill_value)
        return Live(np.where(inside, self.inner[np.where(inside, places, 0)], fill))

    def _quantile(self, qs: Any, interpolation: str) -> Live:
        return Live(quantiles(self.inner, qs, interpolation))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if any(isinstance(x, (pd.Series, pd.Index, pd.DataFrame)) for x in inputs):
            return NotImplemented
        inputs = tuple([numbers_or_number(x) for x in inputs])
        return column(getattr(ufunc, method)(*inputs, **options))

    @classmethod
    def _create_arithmetic_method(cls, op: Any) -> Any:
        def compute(self: Live, other: Any) -> Any:
            if isinstance(other, (pd.Series, pd.Index, pd.DataFrame)):
                return NotImplemented
            other = numbers_or_number(other)
            if np.ndim(other) == 1 and len(other) != len(self):
                raise ValueError(f"Lengths must match: {len(self)} and {len(other)}")
            return column(op(self.inner, other))

        compute.__name__ = f"__{op.__name__}__"
        return compute

    _create_comparison_method = _create_arithmetic_method

    def __neg__(self) -> Live:
        return Live(-self.inner)

    def __pos__(self) -> Live:
        return self.copy()

    def __abs__(self) -> Live:
        return Live(abs(self.inner))


Live._add_arithmetic_ops()
Live._add_comparison_ops()

OHLC = ("first", "max", "min", "last")
# What `groupby` computes of values alone, and what pandas' own function is given for it.
OF_VALUES: dict[str, Any] = {
    "any": lambda options: {"skipna": options.get("skipna", True)},
    "all": lambda options: {"skipna": options.get("skipna", True)},
    "idxmin": lambda options: {"skipna": options.get("skipna", True)},
    "idxmax": lambda options: {"skipna": options.get("skipna", True)},
    "rank": lambda options: {
        "method": options.get("ties_method", "average"),
        **{k: options[k] for k in ("ascending", "na_option", "pct") if k in options},
    },
}


def numbers_or_number(x: Any) -> Any:
    return numbers(x) if pd.api.types.is_list_like(x) and np.ndim(x) else number(x)


def column_or_plain(x: Any) -> Any:
    return column(x) if type(x) is Array else np.asarray(x)
