"""Polynomials: fits, and locally constant groups of roots that count as one."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.signal import _filter_design, _polyutils, _signaltools

from ...core.errors import ArgumentError, ConversionError
from ...primitives.arguments import as_array
from ..solving.following import Following
from ..solving.leaves import leaf
from ..solving.plain import solve
from ..solving.serving import serves_method

MEANS: dict[str, Any] = {
    "max": np.max, "maximum": np.max, "min": np.min, "minimum": np.min, "avg": np.mean,
    "mean": np.mean,
}  # fmt: skip


@leaf(_signaltools.unique_roots, solves=True)
def unique_roots(p, tol=1e-3, rtype="min"):
    if rtype not in MEANS:
        raise ArgumentError(f"`rtype` must be one of {set(MEANS)}, and is {rtype!r}.")
    p = as_array(p)
    found = solve(lambda values: grouped(values.of(p), values.of(tol)))
    if found.traces:
        raise ConversionError(
            "`scipy.signal.unique_roots` was asked which of several roots are one, of roots that"
            f" are mapped by `{found.traces[0].name}`: the examples may answer differently.\n"
            "  Call it outside of `vmap`, or for one example after the other."
        )
    groups = found.first
    count = np.array([len(group) for group in groups], dtype=int)
    return np.stack([MEANS[rtype](p[group]) for group in groups]) if groups else p, count


def grouped(p, tol):
    """Group roots: each with those near it that aren't in an earlier group."""
    left, groups = list(range(len(p))), []
    while left:
        groups.append([i for i in left if abs(p[i] - p[left[0]]) <= tol])
        left = [i for i in left if i not in groups[-1]]
    return groups


# SciPy's coefficients are rounded differently from NumPy's.
coefficients = Following(
    "polyfit",
    lambda x, y, *, deg, rcond: _polyutils.polyfit(x, y, deg, xp=np, rcond=rcond),
    lambda x, y, *, deg, rcond: np.polyfit(x, y, deg, rcond=rcond),
    lambda x, y, *, deg, rcond: (deg + 1, *y.shape[1:]),
)


@leaf(_polyutils.polyfit)
def polyfit(x, y, deg, *, xp=None, rcond=None):
    return coefficients(as_array(x), as_array(y), deg=int(deg), rcond=rcond)


@serves_method(_filter_design.findfreqs)
def findfreqs(num, den, N, kind="ba"):
    """Frequencies between two powers of ten that stay the same for small changes."""
    return solve(lambda values: _filter_design.findfreqs(*values.tree((num, den, N)), kind)).of(
        np.asarray
    )
