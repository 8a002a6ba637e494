"""FITPACK's smoothing: a spline as smooth as its distance from the data allows.

With B the values of the B-splines at the data, and D the jumps of their k-th derivatives at the
inner knots, the coefficients c and a weight u of the jumps solve

    minimise |w (y - B c)|^2 + u |D c|^2    with    |w (y - B c)|^2 = s.

The inner knots are positions of data points, and remain at those points. FITPACK stops when the
equation for u holds to a thousandth of s. The derivative is that of the spline it returned, with
the ratio of its distance to s kept constant.

Dierckx, Curve and surface fitting with splines (1993), chapter 5.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import factorial
from typing import Any

import numpy as np

from ..sparse_arrays.patterns import fixed
from .basis import bspline


def data_at(x: Any, inner: Any) -> Any:
    """The places of data that FITPACK took as inner knots; None if they are not."""
    plain = fixed(x)
    where = np.minimum(np.searchsorted(plain, inner), len(plain) - 1)
    return x[where] if np.array_equal(plain[where], inner) else None


def jumps_of(t: Any, k: int) -> Any:
    """What each B-spline adds to the jumps of the k-th derivative at the inner knots."""
    middle = (t[k : -k - 1] + t[k + 1 : -k or None]) / 2
    slopes = bspline(t, np.eye(t.shape[0] - k - 1), k, middle, k)
    return slopes[1:] - slopes[:-1]


def even_jumps(t: Any, k: int) -> Any:
    """The same divided by k! and by powers of the mean width of an interval, as in surfaces."""
    width = (t[-k - 1] - t[k]) / (t.shape[0] - 2 * k - 1)
    return jumps_of(t, k) * width**k / factorial(k)


def around(ring: Any, k: int) -> tuple[Any, Any]:
    """Knots of closed splines whose pieces end at the ring's, and their coefficients' pattern.

    The pattern takes one coefficient for each piece to those of all B-splines.
    """
    pieces = ring.shape[0] - 1
    turns, place = np.divmod(np.arange(-k, pieces + k + 1), pieces)
    spread = np.eye(pieces)[np.arange(pieces + k) % pieces]
    return ring[place] + turns * (ring[-1] - ring[0]), spread


class Weighted(ABC):
    """The equations of a fit; its distance from the data decides the weight u of its jumps."""

    @abstractmethod
    def coefficients(self, u: Any) -> Any:
        """Those that a weight gives."""

    @abstractmethod
    def newton(self, u: Any, distance: Any) -> Any:
        """The weight after a step to where the distance is the one that is asked."""

    def solved(self, u: float, distance: Any) -> Any:
        """The coefficients, from the plain weight; two steps have its first three derivatives."""
        for _ in range(2):
            u = self.newton(u, distance)
        return self.coefficients(u)


class Smoothing(Weighted):
    """The equations of a fit: basis @ c is near to what is wanted, and jumps @ c is small."""

    def __init__(self, basis: Any, wanted: Any, jumps: Any) -> None:
        self.basis, self.wanted = basis, wanted
        self.square = np.swapaxes(basis, 0, 1) @ basis
        self.rough = np.swapaxes(jumps, 0, 1) @ jumps
        self.right = np.swapaxes(basis, 0, 1) @ wanted

    def coefficients(self, u: Any) -> Any:
        return np.linalg.solve(self.square + u * self.rough, self.right)

    def newton(self, u: Any, distance: Any) -> Any:
        matrix = self.square + u * self.rough
        c = np.linalg.solve(matrix, self.right)
        gap = self.basis @ c - self.wanted
        slope = -2 * np.sum(gap * (self.basis @ np.linalg.solve(matrix, self.rough @ c)))
        return u - (np.sum(gap**2) - distance) / slope

    def weight_of(self, c: Any, distance: float) -> float | None:
        """The plain weight for which c solves the equations: 0 for least squares; None if none."""
        square, rough, right = [fixed(x) for x in (self.square, self.rough, self.right)]
        short, bend = right - square @ c, rough @ c
        if np.max(np.abs(short)) <= 1e-9 * np.max(np.abs(square) @ np.abs(c)):
            return 0.0
        plain = object.__new__(Smoothing)
        plain.square, plain.rough, plain.right = square, rough, right
        plain.basis, plain.wanted = fixed(self.basis), fixed(self.wanted)
        u = float(np.sum(bend * short) / np.sum(bend * bend))
        for _ in range(5):
            u = float(plain.newton(u, distance))
        near = np.allclose(plain.coefficients(u), c, rtol=0, atol=1e-6 * np.max(np.abs(c)))
        return u if u > 0 and near else None


def smoothing(x: Any, y: Any, w: Any, t: Any, k: int, spread: Any = None) -> Smoothing:
    """The equations of a fit to y[i] or y[i, column] at x[i] with knots t.

    spread: the coefficients of all B-splines from those that are free; None if all are.
    """
    jumps, wanted = jumps_of(t, k), y if y.ndim == 2 else y[:, None]
    basis = bspline(t, np.eye(t.shape[0] - k - 1), k, x)
    if spread is not None:
        jumps, basis = jumps @ spread, basis @ spread
    if w is not None:
        basis, wanted = basis * w[:, None], wanted * w[:, None]
    return Smoothing(basis, wanted, jumps)
