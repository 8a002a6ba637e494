"""FITPACK's smoothing of data on a grid.

With X and Y the values of the B-splines along each axis, and D, E their jumps at inner knots, the
coefficients C and a weight u of the jumps solve

    (X^T X + u D^T D) C (Y^T Y + u E^T E) = X^T Z Y    with    |Z - X C Y^T|^2 = s.

FITPACK stops when the equation for u holds to a thousandth of s. The derivative is that of the
surface it returned, with the ratio of its distance to s kept constant.

Dierckx, Curve and surface fitting with splines (1993), chapter 5.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..sparse_arrays.patterns import fixed
from .basis import bspline
from .smoothing import Weighted, even_jumps


class Axis:
    """The B-splines along one axis: their values at the data, squares of these and of jumps."""

    def __init__(self, x: Any, t: Any, k: int) -> None:
        jumps = even_jumps(t, k)
        self.basis = bspline(t, np.eye(t.shape[0] - k - 1), k, x)
        self.square = np.swapaxes(self.basis, 0, 1) @ self.basis
        self.rough = np.swapaxes(jumps, 0, 1) @ jumps

    def fixed(self) -> Axis:
        plain = object.__new__(Axis)
        vars(plain).update({name: fixed(x) for name, x in vars(self).items()})
        return plain


class SmoothSurface(Weighted):
    """The equations of a fit to z[i, j] at x[i], y[j]."""

    def __init__(self, along_x: Axis, along_y: Axis, z: Any) -> None:
        self.x, self.y, self.z = along_x, along_y, z
        self.right = np.swapaxes(along_x.basis, 0, 1) @ z @ along_y.basis

    def between(self, u: Any, middle: Any) -> Any:
        """Mx^-1 middle My^-1 with the matrices M = square + u rough."""
        left = np.linalg.solve(self.x.square + u * self.x.rough, middle)
        both = np.linalg.solve(self.y.square + u * self.y.rough, np.swapaxes(left, 0, 1))
        return np.swapaxes(both, 0, 1)

    def at_data(self, c: Any) -> Any:
        return self.x.basis @ c @ np.swapaxes(self.y.basis, 0, 1)

    def coefficients(self, u: Any) -> Any:
        return self.between(u, self.right)

    def newton(self, u: Any, distance: Any) -> Any:
        c = self.coefficients(u)
        turn = self.x.rough @ c @ (self.y.square + u * self.y.rough)
        turn = turn + (self.x.square + u * self.x.rough) @ c @ self.y.rough
        gap = self.at_data(c) - self.z
        slope = -2 * np.sum(gap * self.at_data(self.between(u, turn)))
        return u - (np.sum(gap**2) - distance) / slope

    def weight_of(self, c: Any) -> float | None:
        """The plain weight for which c solves the equations, which are quadratic in it."""
        plain = SmoothSurface(self.x.fixed(), self.y.fixed(), fixed(self.z))
        x, y = plain.x, plain.y
        constant = x.square @ c @ y.square - plain.right
        linear = x.rough @ c @ y.square + x.square @ c @ y.rough
        quadratic = x.rough @ c @ y.rough
        u = 0.0
        for _ in range(50):
            slope = linear + 2 * u * quadratic
            u -= float(np.sum((constant + u * linear + u**2 * quadratic) * slope)) / float(
                np.sum(slope**2)
            )
        near = np.allclose(plain.coefficients(u), c, rtol=0, atol=1e-6 * np.max(np.abs(c)))
        return u if u > 0 and near else None
