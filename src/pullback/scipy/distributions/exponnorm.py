"""The sum of a normal and an exponential variable, whose terms nearly cancel far on the left."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special as sp


def exponnorm_log(x: Any, k: Any) -> Any:
    gap = 1 / k - x
    far = gap > 0
    left = -x * x / 2 + np.log(sp.erfcx(np.where(far, gap, 1.0) / np.sqrt(2)) / 2)
    right = tail(x, k, np.where(far, -1.0, gap))
    return np.where(far, left, right) - np.log(k)


def tail(x: Any, k: Any, gap: Any) -> Any:
    """log(k) and the logarithm of the density."""
    return 1 / (2 * k * k) - x / k + sp.log_ndtr(-gap)


def exponnorm_below(x: Any, k: Any) -> Any:
    """On the left both terms have the factor exp(-x^2 / 2), and without it few digits are lost."""
    far = x < 0
    t = np.where(far, -x, 1.0)
    left = np.exp(-t * t / 2) * (sp.erfcx(t / np.sqrt(2)) - sp.erfcx((t + 1 / k) / np.sqrt(2))) / 2
    at = np.where(far, 1.0, x)
    return np.where(far, left, sp.ndtr(at) - np.exp(tail(at, k, 1 / k - at)))


def exponnorm_above(x: Any, k: Any) -> Any:
    return sp.ndtr(-x) + np.exp(tail(x, k, 1 / k - x))
