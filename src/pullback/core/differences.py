"""Central differences of fourth order, and how close two results are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .spec import is_inexact

# The step of central differences and what they are worth, by the dtype of the results.
STEPS = {8: (1e-4, 2e-7), 4: (2e-2, 5e-3), 2: (1e-1, 1e-1)}


def difference(f: Callable[..., Any], xs: Any, dots: Any) -> tuple[list[Any], float]:
    """The derivative of f along dots by central differences of fourth order, and its worth."""

    def at(t: float) -> list[Any]:
        return [
            np.asarray(out) for out in f(*[x + t * dot for x, dot in zip(xs, dots, strict=True)])
        ]

    h, worth = STEPS[8]
    ahead = at(h)
    size = min([x.dtype.itemsize // (2 if x.dtype.kind == "c" else 1) for x in ahead], default=8)
    if size < 8:
        h, worth = STEPS[size]
        ahead = at(h)
    near = [subtracted(a, b) for a, b in zip(ahead, at(-h), strict=True)]
    far = [subtracted(a, b) for a, b in zip(at(2 * h), at(-2 * h), strict=True)]
    return [(8 * a - b) / (12 * h) for a, b in zip(near, far, strict=True)], worth


def subtracted(a: Any, b: Any) -> Any:
    wide = np.result_type(a, np.float64)
    return a.astype(wide) - b.astype(wide)


def precision(*trees: Any) -> float:
    """The machine epsilon of the coarsest floating dtype among arrays."""
    return max(
        [float(np.finfo(x.dtype).eps) for tree in trees for x in tree if is_inexact(x.dtype)],
        default=2.2e-16,
    )


def pair(bars: Any, dots: Any) -> float:
    """<bars, dots>: bilinear, without conjugation."""
    total = 0.0
    for bar, dot in zip(bars, dots, strict=True):
        wide = np.result_type(bar.dtype, np.float64)
        total += float(np.real(np.sum(np.asarray(bar).astype(wide) * np.asarray(dot))))
    return total


def size_of(bars: Any, dots: Any) -> float:
    """The sum of magnitudes in a pairing, by which its rounding is judged."""
    return 1e-300 + sum(
        float(np.sum(np.abs(np.asarray(bar)).astype(float) * np.abs(dot)))
        for bar, dot in zip(bars, dots, strict=True)
    )


def close(actual: Any, expected: Any, tolerance: float, what: str) -> None:
    """Elementwise closeness, relative to the largest finite entry."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape, f"{what}: shape {actual.shape}, not {expected.shape}"
    if np.array_equal(actual, expected):
        return
    finite = np.abs(expected[np.isfinite(expected)])
    scale = max(1.0, float(finite.max())) if finite.size else 1.0
    np.testing.assert_allclose(
        actual, expected, rtol=tolerance, atol=tolerance * scale, err_msg=what
    )
