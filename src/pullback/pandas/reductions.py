"""What pandas computes of one column: sums, moments, running sums, the same within groups.

Numbers that are NaN are left out, as pandas does it (`skipna`). Where they are is asked of plain
values: so is an order, or the place of a maximum. What follows are NumPy's functions of Arrays.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from ..core.array import Array
from ..core.errors import ConversionError, MissingRuleError
from ..core.storage import current

NAN = float("nan")


def plain(x: Any) -> Any:
    """The plain values of an Array, to compare them; `vmap` refuses."""
    while type(x) is Array:
        x = current(x)
        try:
            x = x.within.concrete(x, "numpy.isnan(x)")
        except ConversionError as error:
            raise ConversionError(
                "pandas looks at the single values of a column, but an Array"
                f" {x.within.spec(x)} of `{x.within.name}` holds those of all examples.\n"
                "  Write a loop, `np.stack([f(x) for x in xs])`, or pandas' own functions of many"
                " columns instead of `vmap`."
            ) from error
    return np.asarray(x)


def reduced(
    name: str, x: Any, skipna: bool = True, min_count: int = 0, ddof: int = 1, **options: Any
) -> Any:
    """`series.name()` of the numbers of a column."""
    missing = np.isnan(plain(x))
    if missing.any():
        if not skipna and name not in ("any", "all"):
            return NAN
        x = x[np.flatnonzero(~missing)]
    if name in ("any", "all"):
        return bool(getattr(np, name)(plain(x)))
    n = len(x)
    if n < max(min_count, LEAST.get(name, 1)) or (name in SPREAD and n <= ddof):
        return NAN
    if name in SPREAD:
        return spread(name, np.sum((x - np.mean(x)) ** 2) / (n - ddof), n)
    return REDUCTIONS[name](x)


def spread(name: str, variance: Any, n: Any) -> Any:
    """What is asked of a variance; its root has derivative 0 where it is 0, as `np.std` has it."""
    if name == "var":
        return variance
    zero = plain(variance) == 0
    root = np.where(zero, 0.0, np.sqrt(np.where(zero, 1.0, variance)))
    return root if name == "std" else root / np.sqrt(n)


def skew(x: Any) -> Any:
    """The adjusted Fisher-Pearson coefficient."""
    if alike(x):
        return OF_ALIKE["skew"]
    n, d = len(x), x - np.mean(x)
    return n * (n - 1) ** 0.5 / (n - 2) * np.sum(d**3) / np.sum(d**2) ** 1.5


def kurt(x: Any) -> Any:
    """The excess kurtosis without bias."""
    if alike(x):
        return OF_ALIKE["kurt"]
    n, d = len(x), x - np.mean(x)
    scale = n * (n + 1) * (n - 1) / ((n - 2) * (n - 3))
    return scale * np.sum(d**4) / np.sum(d**2) ** 2 - 3 * (n - 1) ** 2 / ((n - 2) * (n - 3))


def alike(x: Any) -> bool:
    """Whether numbers are equal but for rounding, so that they have no spread to divide by."""
    values = plain(x)
    mean = np.mean(values)
    return bool(np.mean((values - mean) ** 2) <= (np.finfo(float).eps * mean) ** 2)


# What this release of pandas says of equal numbers: 0 before 3.0, NaN since.
OF_ALIKE = {how: getattr(pd.Series([2.0] * 4), how)() for how in ("skew", "kurt")}
SPREAD = frozenset({"var", "std", "sem"})
LEAST = {"sum": 0, "prod": 0, "skew": 3, "kurt": 4}  # how many numbers it takes
REDUCTIONS: dict[str, Any] = {
    "sum": np.sum, "prod": np.prod, "mean": np.mean, "median": np.median, "max": np.max,
    "min": np.min, "skew": skew, "kurt": kurt, "first": lambda x: x[0], "last": lambda x: x[-1],
}  # fmt: skip


def quantiles(x: Any, qs: Any, interpolation: str) -> Any:
    """One number for each of several quantiles."""
    x = x[np.flatnonzero(~np.isnan(plain(x)))]
    if not len(x):
        return np.full(len(qs), NAN)
    method: Any = interpolation
    return np.quantile(x, qs if type(qs) is Array else np.asarray(qs), method=method)


def accumulated(name: str, x: Any, skipna: bool = True) -> Any:
    """`series.cumsum()` and its kin; NaN stays where it is."""
    missing = np.isnan(plain(x))
    if missing.any() and not skipna:
        missing = np.maximum.accumulate(missing)
    if name in ("cummax", "cummin"):
        values = plain(x) if name == "cummax" else -plain(x)
        values = np.where(missing, -np.inf, values)
        before = np.concatenate([[-np.inf], np.maximum.accumulate(values)[:-1]])
        places = np.where(values > before, np.arange(len(values)), 0)
        out = x[np.maximum.accumulate(places)]
    else:
        neutral = 0.0 if name == "cumsum" else 1.0
        filled = np.where(missing, neutral, x) if missing.any() else x
        out = (np.cumsum if name == "cumsum" else np.cumprod)(filled)
    return np.where(missing, NAN, out) if missing.any() else out


# Groups.


def groups(ids: Any, n: int) -> list[Any]:
    """The places of each group; -1 is none."""
    order = np.argsort(ids, kind="stable")
    bounds = np.searchsorted(ids[order], np.arange(n + 1))
    return [order[a:b] for a, b in pairwise(bounds)]


def grouped(how: str, x: Any, ids: Any, n: int, min_count: int = 0, **options: Any) -> Any:
    """What `groupby` computes: one number for each of n groups, or for `cumsum` each element."""
    ids = np.asarray(ids)
    if how in ("cumsum", "cumprod", "cummax", "cummin"):
        return accumulated_in_groups(how, x, ids, n, options.get("skipna", True))
    if how not in REDUCTIONS and how not in SPREAD:
        raise MissingRuleError(
            f"`groupby(...).{how}` of pandas has no derivative rule.\n"
            "  Write `groupby(...).apply(f)` with a function of one group."
        )
    if how in ("sum", "mean", *SPREAD) and options.get("skipna", True):
        return sums_of_groups(how, x, ids, n, min_count, options.get("ddof", 1))
    given = {name: options[name] for name in ("skipna", "ddof") if name in options}
    parts = [reduced(how, x[g], min_count=max(min_count, 0), **given) for g in groups(ids, n)]
    return np.stack(parts) if parts else np.zeros(0)


def sums_of_groups(how: str, x: Any, ids: Any, n: int, min_count: int, ddof: int) -> Any:
    """Those that are made of sums, for all groups at once."""
    places = np.flatnonzero((ids >= 0) & ~np.isnan(plain(x)))
    x, ids = x[places], ids[places]
    counts = np.bincount(ids, minlength=n)
    total = np.bincount(ids, weights=x, minlength=n)
    if how == "sum":
        return np.where(counts >= min_count, total, NAN) if min_count > 0 else total
    mean = np.where(counts > 0, total / np.maximum(counts, 1), NAN)
    if how == "mean":
        return mean
    squares = np.bincount(ids, weights=(x - mean[ids]) ** 2, minlength=n)
    variance = squares / np.maximum(counts - ddof, 1)
    return np.where(counts > ddof, spread(how, variance, np.maximum(counts, 1)), NAN)


def accumulated_in_groups(how: str, x: Any, ids: Any, n: int, skipna: bool) -> Any:
    members = groups(ids, n)
    dropped = np.flatnonzero(ids < 0)
    parts = [np.full(len(dropped), NAN), *[accumulated(how, x[g], skipna) for g in members]]
    return np.concatenate(parts)[np.argsort(np.concatenate([dropped, *members]))]
