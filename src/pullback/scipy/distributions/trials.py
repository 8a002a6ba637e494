"""Counts whose probabilities are compiled: trials with unequal probabilities, weighted draws."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import special
from scipy.stats import _discrete_distns

from ...primitives.arguments import known
from ...primitives.exact import exact
from ...primitives.scipy_special.functions import logsumexp
from ..integration.subdivision import gauss
from ..solving.leaves import leaf
from ..solving.plain import solve
from ..solving.serving import serves_method

# Until SciPy 1.17 one function, with trials along the first axis; since 1.18 two, along the last.
UNLIKE: Any = getattr(_discrete_distns, "_poisson_binom", None)
UNLIKE_BY_KIND: dict[str, Any] = {
    kind: getattr(_discrete_distns, f"_poisson_binom_{kind}", None) for kind in ("pmf", "cdf")
}


def of_unlike_trials(found: Any, k: Any, p: Any, kind: str) -> Any:
    """The number of successes if each trial has its own probability, along axis 0 of p.

    One trial after another: p times what came before, moved by one, and 1 - p times it.
    """
    mass = np.ones((*p.shape[1:], 1))
    for chance in p:
        chance = chance[..., None]
        nothing = np.zeros((*mass.shape[:-1], 1))
        before = np.concatenate([mass, nothing], axis=-1)
        after = np.concatenate([nothing, mass], axis=-1)
        mass = before * (1 - chance) + after * chance
    if kind == "cdf":
        mass = np.cumsum(mass, axis=-1)
    counts = np.clip(k, 0, p.shape[0])
    return exact(found, np.take_along_axis(mass, counts[..., None], axis=-1)[..., 0])


def first_axis(k: Any, p: Any, kind: str) -> Any:
    found = solve(lambda values: UNLIKE(*values.tree((k, p)), kind)).of(np.asarray)
    return of_unlike_trials(found, k, p, kind)


def last_axis(kind: str) -> Any:
    native = UNLIKE_BY_KIND[kind]

    def of_trials(k: Any, p: Any) -> Any:
        found = solve(lambda values: native(*values.tree((k, p)))).of(np.asarray)
        return of_unlike_trials(found, k, np.moveaxis(p, -1, 0), kind)

    return of_trials


if UNLIKE is not None:
    leaf(UNLIKE)(first_axis)
for kind, native in UNLIKE_BY_KIND.items():
    if native is not None:
        serves_method(native)(last_axis(kind))


def log_choices(x: Any, M: Any, n: Any, N: Any) -> Any:
    """The logarithm of the number of ways to draw N of M objects with x of the n marked ones."""
    both = ((n, x), (M - n, N - x))
    return sum(
        special.gammaln(a + 1) - special.gammaln(b + 1) - special.gammaln(a - b + 1)
        for a, b in both
    )


def at_once(x: Any, M: Any, n: Any, N: Any, odds: Any) -> Any:
    """Fisher's: each way counts as often as the odds say."""
    low, high = max(0, N - (M - n)), min(n, N)
    every = np.arange(low, high + 1)
    size = log_choices(every, M, n, N) + every * np.log(odds)
    return np.exp(log_choices(x, M, n, N) + x * np.log(odds) - logsumexp(size))


INTERVALS, POINTS = 60, 24  # each half of the next towards 0; Gauss points in each


def one_by_one(x: Any, M: Any, n: Any, N: Any, odds: Any) -> Any:
    """Wallenius': choices times the integral over t in (0, 1) of

    (1 - t^(odds/d))^x (1 - t^(1/d))^(N-x),  d = odds (n - x) + M - n - (N - x),

    with t = s^d: where all are drawn d is zero, and the probability is one.
    """
    d = odds * (n - x) + (M - n - (N - x))
    nodes, weights = gauss(POINTS)
    ends = np.concatenate([[0.0], 2.0 ** -np.arange(INTERVALS, -1, -1)])
    s = np.ravel(ends[:-1, None] + np.diff(ends)[:, None] * nodes)
    w = np.ravel(np.diff(ends)[:, None] * weights)
    log_s = np.log(s)
    parts = special.xlog1py(x, -np.exp(odds * log_s)) + special.xlog1py(N - x, -s)
    return np.exp(log_choices(x, M, n, N)) * np.sum(w * d * np.exp(parts + (d - 1) * log_s))


KINDS = {
    _discrete_distns.nchypergeom_fisher_gen: at_once,
    _discrete_distns.nchypergeom_wallenius_gen: one_by_one,
}
GENERIC: Any = _discrete_distns._nchypergeom_gen
mass_of_scipy, moments_of_scipy = GENERIC._pmf, GENERIC._stats


@serves_method(mass_of_scipy)
def masses(self: Any, x: Any, M: Any, n: Any, N: Any, odds: Any) -> Any:
    """Of draws by odds; they move with the odds."""
    found = solve(lambda values: mass_of_scipy(self, *values.tree((x, M, n, N, odds))))
    if not found.live:
        return found.first
    rows = one_after_another(x, M, n, N, odds)
    each = np.stack([KINDS[type(self)](*row) for row in rows])
    out = found.of(np.asarray)
    return exact(out, np.reshape(each, out.shape))


@serves_method(moments_of_scipy)
def moments(self: Any, M: Any, n: Any, N: Any, odds: Any, moments: str = "mv") -> Any:
    given = M, n, N, odds
    found = solve(lambda values: moments_of_scipy(self, *values.tree(given), moments=moments))
    if not found.live or found.first[0] is None:
        return found.first
    both = [sums_of_powers(KINDS[type(self)], *row) for row in one_after_another(*given)]
    outs = [found.of(partial(moment, k)) for k in range(2)]
    columns = zip(*both, strict=True)
    moved = [np.reshape(np.stack(x), out.shape) for x, out in zip(columns, outs, strict=True)]
    return exact(outs[0], moved[0]), exact(outs[1], moved[1]), None, None


def moment(k: int, result: Any) -> Any:
    return np.asarray(result[k])


def one_after_another(*args: Any) -> Any:
    """Counts, as integers, and the odds that stand beside them."""
    *counts, odds = np.broadcast_arrays(*args)
    whole = [[int(k) for k in np.ravel(known(count))] for count in counts]
    odds = np.ravel(odds)
    return list(zip(*whole, [odds[i] for i in range(odds.shape[0])], strict=True))


def sums_of_powers(formula: Any, M: int, n: int, N: int, odds: Any) -> tuple[Any, Any]:
    """Mean and variance."""
    places = np.arange(max(0, N - (M - n)), min(n, N) + 1)
    mass = np.stack([formula(int(k), M, n, N, odds) for k in places])
    mean = np.sum(mass * places)
    return mean, np.sum(mass * (places - mean) ** 2)
