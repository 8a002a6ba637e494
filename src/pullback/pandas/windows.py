"""Moving windows: what `pandas._libs.window.aggregations` computes in compiled code.

Each takes the numbers, where each window starts and ends, and how many numbers that are not NaN it
takes at least; each gives one number for each window.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..core.reach.call_tables import CALLS
from ..core.reach.calls import call_inside
from .columns import column
from .reductions import NAN, kurt, plain, quantiles, skew, spread

MOST = 1 << 22  # numbers that are gathered at once


def windows_of(x: Any, start: Any, end: Any) -> tuple[Any, Any]:
    """The numbers of each window as a row, and which of them there are; others are zero."""
    start, end = np.asarray(start), np.asarray(end)
    longest = int(np.max(end - start, initial=1)) or 1
    places = start[:, None] + np.arange(longest)
    inside = places < end[:, None]
    places = np.where(inside, places, 0)
    there = inside & ~np.isnan(plain(x))[places]
    return np.where(there, x[places], 0.0), there


def in_parts(f: Any, of_none: float = NAN) -> Any:
    """A function of windows, of as many at once as memory should take; and its value of none."""

    def moving(x: Any, start: Any, end: Any, minp: Any, *args: Any, **options: Any) -> Any:
        start, end = np.asarray(start), np.asarray(end)
        if not len(x):
            return np.full(len(start), NAN)
        longest = int(np.max(end - start, initial=1)) or 1
        step = max(MOST // longest, 1)
        parts = []
        for i in range(0, max(len(start), 1), step):
            rows, there = windows_of(x, start[i : i + step], end[i : i + step])
            n = np.sum(there, axis=1)
            with np.errstate(all="ignore"):
                out = f(rows, there, n, *args, **options)
            empty = NAN if minp else of_none
            parts.append(np.where(n >= max(minp or 0, 1), out, empty))
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    return moving


def mean_of(rows: Any, n: Any) -> Any:
    return np.sum(rows, axis=1) / np.maximum(n, 1)


def squares(rows: Any, there: Any, n: Any, power: int = 2) -> Any:
    """Sums of powers of the distances from the mean."""
    return np.sum(np.where(there, rows - mean_of(rows, n)[:, None], 0.0) ** power, axis=1)


def total(rows: Any, there: Any, n: Any) -> Any:
    return np.sum(rows, axis=1)


def mean(rows: Any, there: Any, n: Any) -> Any:
    return mean_of(rows, n)


def var(rows: Any, there: Any, n: Any, ddof: int = 1) -> Any:
    return np.where(n > ddof, squares(rows, there, n) / np.maximum(n - ddof, 1), NAN)


def extreme(best: Any, worst: float) -> Any:
    def of_rows(rows: Any, there: Any, n: Any) -> Any:
        return best(np.where(there, rows, worst), axis=1)

    return of_rows


def first(rows: Any, there: Any, n: Any) -> Any:
    return rows[np.arange(len(n)), np.argmax(there, axis=1)]


def last(rows: Any, there: Any, n: Any) -> Any:
    return rows[np.arange(len(n)), there.shape[1] - 1 - np.argmax(there[:, ::-1], axis=1)]


def by_row(f: Any, least: int) -> Any:
    """A function of the numbers of one window, for windows of which some are NaN."""

    def of_rows(rows: Any, there: Any, n: Any, *args: Any, **options: Any) -> Any:
        out = []
        for row, mask, count in zip(rows, there, n, strict=True):
            numbers = row if count == len(mask) else row[np.flatnonzero(mask)]
            out.append(f(numbers, *args, **options) if count >= least else NAN)
        return np.stack(out)

    return of_rows


def quantile(x: Any, quantile: Any, interpolation: str) -> Any:
    return quantiles(x, np.stack([quantile]), interpolation)[0]


def counted(x: Any) -> float:
    return float(len(np.unique(plain(x))))


WINDOWS = {
    "roll_sum": in_parts(total, 0.0),
    "roll_mean": in_parts(mean),
    "roll_var": in_parts(var),
    "roll_skew": in_parts(by_row(skew, 3)),
    "roll_kurt": in_parts(by_row(kurt, 4)),
    "roll_median_c": in_parts(by_row(np.median, 1)),
    "roll_max": in_parts(extreme(np.max, -np.inf)),
    "roll_min": in_parts(extreme(np.min, np.inf)),
    "roll_first": in_parts(first),
    "roll_last": in_parts(last),
    "roll_quantile": in_parts(by_row(quantile, 1)),
    "roll_nunique": in_parts(by_row(counted, 1), 0.0),
}


def apply_windows(
    x: Any, start: Any, end: Any, minp: int, function: Any, raw: bool, args: Any, kwargs: Any
) -> Any:
    """`rolling(n).apply(f)`: the user's function is called with each window."""
    numbers = x if raw else x.to_numpy()
    known = np.concatenate([[0], np.cumsum(np.isfinite(plain(numbers)))])
    out = []
    for a, b in zip(start.tolist(), end.tolist(), strict=True):
        if known[b] - known[a] < minp:
            out.append(NAN)
        else:
            window = x[a:b] if raw else CALLS[x.iloc[a:b].copy]()
            out.append(call_inside(function, (window, *args), kwargs))
    return np.stack(out) if out else np.zeros(0)


# Two columns.


def pairs(x: Any, y: Any, start: Any, end: Any) -> Any:
    """Windows of two columns in which both have numbers, from their means: (x, y, n)."""
    (xs, a), (ys, b) = windows_of(x, start, end), windows_of(y, start, end)
    both = a & b
    n = np.sum(both, axis=1)
    xs, ys = np.where(both, xs, 0.0), np.where(both, ys, 0.0)
    xs = np.where(both, xs - mean_of(xs, n)[:, None], 0.0)
    return xs, np.where(both, ys - mean_of(ys, n)[:, None], 0.0), n


def cov(x: Any, y: Any, start: Any, end: Any, minp: int, ddof: int = 1) -> Any:
    xs, ys, n = pairs(x, y, start, end)
    enough = (n >= max(minp, 1)) & (n > ddof)
    return np.where(enough, np.sum(xs * ys, axis=1) / np.maximum(n - ddof, 1), NAN)


def corr(x: Any, y: Any, start: Any, end: Any, minp: int) -> Any:
    xs, ys, n = pairs(x, y, start, end)
    scale = np.sum(xs**2, axis=1) * np.sum(ys**2, axis=1)
    known = (n >= max(minp, 1)) & (plain(scale) > 0)
    out = np.sum(xs * ys, axis=1) / np.sqrt(np.where(known, scale, 1.0))
    return np.where(known, out, NAN)


OF_TWO = {"roll_cov": cov, "roll_corr": corr}


# Windows with weights.


def weighted(x: Any, weights: Any, minp: int, ddof: int | None = None, total: bool = False) -> Any:
    """Windows that end at each number, of which each place has its weight.

    For a variance, pandas gives each number one weight for all windows, `weights[i % size]`, and
    takes all windows for full where it corrects for the mean.
    """
    ends = np.arange(1, len(x) + 1)
    starts = ends - len(weights)
    rows, there = windows_of(np.concatenate([np.full(len(weights), NAN), x]),
                             starts + len(weights), ends + len(weights))  # fmt: skip
    places = np.arange(len(weights)) + (0 if ddof is None else starts[:, None])
    w = np.where(there, weights[places % len(weights)], 0.0)
    n, sums = np.sum(there, axis=1), np.sum(w, axis=1)
    enough = n >= max(minp, 1)
    if total:
        return np.where(enough, np.sum(rows * w, axis=1), NAN)
    safe = np.where(sums == 0, 1.0, sums)
    mean = np.sum(rows * w, axis=1) / safe
    if ddof is None:
        return np.where(enough, mean, NAN)
    distances = np.where(there, rows - mean[:, None], 0.0)
    size = len(weights)
    scale = size / (safe * max(size - ddof, 1))
    return np.where(enough & (n > ddof), np.sum(w * distances**2, axis=1) * scale, NAN)


OF_WEIGHTS = {
    "roll_weighted_sum": lambda x, weights, minp: weighted(x, weights, minp, total=True),
    "roll_weighted_mean": lambda x, weights, minp: weighted(x, weights, minp),
    "roll_weighted_var": lambda x, weights, minp, ddof: weighted(x, weights, minp, ddof),
}


# Weights that decay.

TOGETHER = 32


def decayed_sums(x: Any, decay: Any) -> Any:
    """y[t] = decay[t] * y[t - 1] + x[t]: within blocks by a matrix, then from block to block."""
    n = len(decay)
    if n <= 1:
        return x
    blocks = -(-n // TOGETHER)
    rest = blocks * TOGETHER - n
    decay = np.concatenate([decay, np.ones(rest)]).reshape(blocks, TOGETHER)
    x = np.concatenate([x, np.zeros(rest)]).reshape(blocks, TOGETHER)
    weights = np.zeros((blocks, TOGETHER, TOGETHER), like=decay)
    for i in range(TOGETHER):
        if i:
            weights[:, i, :] = decay[:, i, None] * weights[:, i - 1, :]
        weights[:, i, i] = 1.0
    y = np.einsum("bij,bj->bi", weights, x)
    if blocks > 1:
        passed = np.cumprod(decay, axis=1)
        ends = decayed_sums(y[:, -1], passed[:, -1])
        carried = np.concatenate([np.zeros(1), ends[:-1]])
        y = y + passed * carried[:, None]
    return y.reshape(-1)[:n]


def gaps(known: Any, start: Any, end: Any, ignore_na: bool, steps: Any = None) -> tuple[Any, Any]:
    """How far each number is from the one before it in its window, and which ones are the first."""
    steps = np.ones(len(known)) if steps is None else np.concatenate([[0.0], steps])
    passed = np.cumsum(np.where(known | (not ignore_na), steps, 0.0))
    gap, first = np.zeros(len(known)), np.zeros(len(known), bool)
    for a, b in zip(start.tolist(), end.tolist(), strict=True):
        places = a + np.flatnonzero(known[a:b])
        first[places[:1]] = True
        gap[places[1:]] = np.diff(passed[places])
    return gap, first


def decays(
    known: Any, start: Any, end: Any, com: Any, adjust: bool, ignore_na: bool, steps: Any = None
) -> Any:
    """How much of the mean before, and of each number, the next mean has: (decay, share).

    After a gap, the numbers before weigh (1 - alpha)**gap of what they weighed: their sum if the
    weights are adjusted for it, else 1.
    """
    alpha = 1 / (1 + com)
    gap, first = gaps(known, start, end, ignore_na, steps)
    old = np.where(known & ~first, (1 - alpha) ** gap, 0.0)
    if adjust:
        total = decayed_sums(np.where(known, 1.0, 0.0), np.where(known, old, 1.0))
        share, decay = 1 / np.where(known, total, 1.0), np.where(known, old, 0.0)
        decay = decay * np.concatenate([np.zeros(1), total[:-1]]) * share
    else:
        share = np.where(first, 1.0, alpha / (old + alpha))
        decay = old / (old + alpha)
    return np.where(known, decay, 1.0), np.where(known, share, 0.0)


def counts(known: Any, start: Any, end: Any) -> Any:
    """How many numbers there have been in the window of each place."""
    out = np.zeros(len(known), int)
    for a, b in zip(start.tolist(), end.tolist(), strict=True):
        out[a:b] = np.cumsum(known[a:b])
    return out


def ewm(
    vals: Any, start: Any, end: Any, minp: int, com: float, adjust: bool, ignore_na: bool,
    deltas: Any = None, normalize: bool = True,
) -> Any:  # fmt: skip
    """Exponentially weighted means, or sums."""
    known = ~np.isnan(plain(vals))
    x = np.where(known, vals, 0.0)
    if normalize:
        decay, share = decays(known, start, end, com, adjust, ignore_na, deltas)
        out = decayed_sums(share * x, decay)
    else:
        decay = np.where(known | (not ignore_na), 1 - 1 / (1 + com), 1.0)
        decay[np.asarray(start)[np.asarray(start) < len(decay)]] = 0.0
        out = decayed_sums(x, decay)
    n = counts(known, start, end)
    return np.where((n >= minp) & (n > 0), out, NAN)


def ewmcov(
    input_x: Any, start: Any, end: Any, minp: int, input_y: Any, com: float, adjust: bool,
    ignore_na: bool, bias: bool,
) -> Any:  # fmt: skip
    """Exponentially weighted variances and covariances."""
    known = ~np.isnan(plain(input_x)) & ~np.isnan(plain(input_y))
    decay, share = decays(known, start, end, com, adjust, ignore_na)
    x, y = np.where(known, input_x, 0.0), np.where(known, input_y, 0.0)
    x_mean, y_mean = decayed_sums(share * x, decay), decayed_sums(share * y, decay)
    before = np.maximum(np.arange(len(known)) - 1, 0)
    moved = (x_mean[before] - x_mean) * (y_mean[before] - y_mean)
    u = np.where(known, decay * moved + share * (x - x_mean) * (y - y_mean), 0.0)
    out = decayed_sums(u, decay)
    n = counts(known, start, end)
    enough = (n >= minp) & (n > 0)
    if bias:
        return np.where(enough, out, NAN)
    scale = unbiased(known, start, end, com, adjust, ignore_na)
    return np.where(enough & ~np.isnan(scale), out * np.where(np.isnan(scale), 0.0, scale), NAN)


def unbiased(known: Any, start: Any, end: Any, com: Any, adjust: bool, ignore_na: bool) -> Any:
    """By what a variance is multiplied, since the mean was estimated as well.

    It is total**2 / (total**2 - squared) for the sum of the weights and that of their squares.
    """
    alpha = 1 / (1 + com)
    gap, first = gaps(known, start, end, ignore_na)
    old = np.where(known & ~first, (1 - alpha) ** gap, 0.0)
    new = np.where(first, 1.0, 1.0 if adjust else alpha / (old + alpha))
    old = old if adjust else old / (old + alpha)
    old, new = np.where(known, old, 1.0), np.where(known, new, 0.0)
    total, squared = decayed_sums(new, old), decayed_sums(new**2, old**2)
    rest = total**2 - squared
    enough = plain(rest) > 0
    return np.where(enough, total**2 / np.where(enough, rest, 1.0), NAN)


def root(x: Any) -> Any:
    """Roots of variances, of a Series or a table too: zero where rounding made them negative."""
    if isinstance(x, pd.DataFrame):
        return x.apply(root)
    if isinstance(x, pd.Series):
        return pd.Series(column(root(x.to_numpy())), x.index, name=x.name)
    values = plain(x)
    known = np.where(values <= 0, np.nan, x)
    return np.where(values <= 0, 0.0, spread("std", known, 1))


def nancorr(mat: Any, cov: bool = False, minp: int | None = None) -> Any:
    """Correlations of the columns of a matrix, each pair over the rows in which both are finite."""
    known = np.isfinite(plain(mat))
    k = mat.shape[1]
    rows = []
    for i in range(k):
        row = []
        for j in range(k):
            both = np.flatnonzero(known[:, i] & known[:, j])
            n = len(both)
            if n < max(minp or 1, 1):
                row.append(NAN)
                continue
            x, y = mat[both, i], mat[both, j]
            x, y = x - np.mean(x), y - np.mean(y)
            scale = n - 1 if cov else np.sqrt(np.sum(x * x) * np.sum(y * y))
            row.append(np.sum(x * y) / scale if plain(scale) > 0 else NAN)
        rows.append(np.stack(row))
    return np.stack(rows)


OTHERS = {"ewm": ewm, "ewmcov": ewmcov}
