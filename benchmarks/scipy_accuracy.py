"""Derivatives at ordinary, extreme and degenerate arguments: ours, autograd's and JAX's.

Of `scipy.special` by `tests/special_references.py`, of densities and distribution functions by the
table of `tests/distribution_derivatives.py`, each tenth place. A derivative is right to 1e-9, or to
ten times what SciPy's value is wrong by at the place.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import autograd
import autograd.scipy.special
import autograd.scipy.stats
import jax
import jax.scipy as jsp
import mpmath as mp
import numpy as np
import scipy.special
import scipy.stats
from common import table

import pullback as pb

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.distribution_derivatives import places_by_name, slopes
from tests.special_derivatives import exact
from tests.special_references import REAL

METHODS = ("logpdf", "pdf", "cdf", "logcdf", "sf", "logsf")


def special_places() -> Any:
    """(function, arguments, which argument, derivative, SciPy's own error)"""
    for name, (reference, points) in REAL.items():
        function = getattr(scipy.special, name, None)
        for point in points:
            if function is None or any(type(x) is int for x in point):
                continue
            key, xs = f"{name}{point}", [mp.mpmathify(x) for x in point]
            value = exact(key, reference, xs)
            own = float(abs(function(*point) - value) / abs(value)) if value else 0.0
            for i in range(len(point)):
                yield name, point, i, float(mp.re(exact(key, reference, xs, i, 1))), own


def density_places() -> Any:
    """The same of the methods of distributions."""
    for name, places in places_by_name().items():
        for shapes, x, rows in places:
            if not all(map(np.isfinite, shapes)):
                continue
            for method, (own, derivatives) in slopes(name, shapes, x, rows).items():
                for i, right in enumerate(derivatives):
                    if right is not None and np.isfinite(own):
                        yield (name, method), (x, *shapes), i, float(right), own


def right(found: Any, expected: float, own: float) -> bool:
    limit = max(1e-9, 10 * own) * abs(expected) + 1e-290
    return bool(abs(float(found) - expected) <= limit)


def score(function: Any, gradient: Any, places: Any) -> dict[Any, list[int]]:
    """name -> right, wrong, refused of those derivatives."""
    counts: dict[Any, list[int]] = {}
    for name, point, i, expected, own in places:
        f = function(name)
        if f is None:
            continue
        count = counts.setdefault(name, [0, 0, 0])
        try:
            found = gradient(f, i)(*map(float, point))
        except Exception:
            count[2] += 1
        else:
            count[0 if right(found, expected, own) else 1] += 1
    return counts


def members(special: Any, stats: Any) -> Any:
    def find(name: Any) -> Any:
        if type(name) is str:
            return getattr(special, name, None)
        return getattr(getattr(stats, name[0], None), name[1], None)

    return find


def main() -> None:
    warnings.simplefilter("ignore")  # of places far out
    np.seterr(all="ignore")
    both = {"special": list(special_places()), "stats": list(density_places())[::10]}
    sides = {
        "pullback": (members(scipy.special, scipy.stats), pb.grad),
        "autograd": (members(autograd.scipy.special, autograd.scipy.stats), autograd.grad),
        "JAX": (members(jsp.special, jsp.stats), jax.grad),
    }
    rows = [["", "functions", "derivatives", "right", "wrong", "refused"]]
    failing: dict[str, list[str]] = {}
    for which, places in both.items():
        for side, (find, gradient) in sides.items():
            counts = score(find, gradient, places)
            sums = np.sum(list(counts.values()), axis=0)
            rows.append([f"{which}, {side}", *map(str, (len(counts), sums.sum(), *sums))])
            failing[f"{which}, {side}"] = [
                f"{name if type(name) is str else '.'.join(name)} {bad}"
                for name, (_, bad, _) in counts.items()
                if bad
            ]
    print(table(rows))
    for side, names in failing.items():
        print(f"\n{side}: wrong at so many places: " + ", ".join(names))
