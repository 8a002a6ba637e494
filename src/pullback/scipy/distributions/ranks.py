"""Ranks: their distributions, which are step functions, and values selected by their order.

SciPy keeps the numbers behind these step functions from one call to the next.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import mstats
from scipy.stats._mannwhitneyu import _MWU

from ...core.operands import as_array
from ...core.reach.session import call_outside
from ...core.registry import refuse
from ...core.trace import is_live
from ...primitives.arguments import known
from ..solving.plain import solve
from ..solving.serving import serves_method

set_shapes_of_scipy, sf_of_scipy = _MWU.set_shapes, _MWU.sf


@serves_method(_MWU.set_shapes)
def set_shapes(self: Any, n1: Any, n2: Any) -> None:
    call_outside(set_shapes_of_scipy, (self, n1, n2), {})


@serves_method(_MWU.sf)
def sf(self: Any, k: Any) -> Any:
    """With plain values: an Array that is kept would outlive its transformation."""
    return solve(lambda values: sf_of_scipy(self, values.tree(k))).of(np.asarray)[()]


quantiles_of_scipy = mstats.mquantiles


@serves_method(quantiles_of_scipy)
def mquantiles(
    a: Any,
    prob: Any = (0.25, 0.5, 0.75),
    alphap: Any = 0.4,
    betap: Any = 0.4,
    axis: int | None = None,
    limit: Any = (),
) -> Any:
    """Of arrays in which nothing is masked."""
    if not any(map(is_live, (a, prob, alphap, betap))):
        return quantiles_of_scipy(a, prob, alphap, betap, axis, limit)
    refuse("scipy.stats.mstats.mquantiles", limit=tuple(limit) or None)
    a, p = as_array(a), np.atleast_1d(as_array(prob))
    if a.ndim > 2:
        raise TypeError("Array should be 2D at most !")
    x = np.sort(np.ravel(a) if axis is None else np.moveaxis(a, axis, 0), axis=0)
    n = x.shape[0]
    place = n * p + (alphap + p * (1.0 - alphap - betap))
    below = np.floor(np.clip(known(place), 1, max(n - 1, 1))).astype(int)
    share = np.reshape(np.clip(place - below, 0, 1), p.shape + (1,) * (x.ndim - 1))
    out = (1.0 - share) * x[below - 1] + share * x[np.minimum(below, n - 1)]
    return out if axis is None else np.moveaxis(out, 0, axis)
