"""Discrete distributions without a formula for the sum of their masses, under `vmap`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from ..solving.plain import solve
from ..solving.serving import serves_method, traced
from .methods import ask

sum_of_masses: Any = stats.rv_discrete._cdf_single
of_one_example = traced(sum_of_masses)


@serves_method(sum_of_masses)
def cdf(self: Any, k: Any, *shapes: Any) -> Any:
    """SciPy sums from the first place to k; here from the first to the last of all examples."""
    low, _ = ask(self, "_get_support", *shapes)
    ends = solve(lambda values: values.tree((low, k))).results
    if len(ends) == 1:
        return of_one_example(self, k, *shapes)
    places = np.arange(min(int(a) for a, _ in ends), max(int(b) for _, b in ends) + 1)
    counts = (places >= low) & (places <= k)
    masses = ask(self, "_pmf", np.where(counts, places, low), *shapes)
    return np.sum(np.where(counts, masses, 0.0), axis=0)
