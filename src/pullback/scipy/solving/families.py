"""Solutions that are one of a family, as minima of models that have more parameters than they need.

    p = softmax(z)     is the same for z + c, so a fit by p alone has a line of minima

The Jacobian of the equations is singular there. What is the same for the whole family has a
derivative all the same: the value at the minimum, or p. It is that of any way in which the solution
may go along; the shortest is taken. What tells one solution of the family from another has none: it
raises in reverse mode, and is NaN in forward mode.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import SolverError
from ...primitives.arguments import somewhere
from ...transforms.call import floating
from ...transforms.forward import jvp
from ...transforms.reverse import vjp
from .implicit import NEWTON, NOTHING, Equations

# Beside the largest singular value of the Jacobian: what is less is 0, and has to be less than
# NOTHING, so that it isn't taken for a problem that is merely ill-conditioned.
RANK = 1e-7
LOOSE = 1e-6  # of a unit vector: what leads along the family
ROUNDING = 1e-13  # beside the Jacobian: parts of second derivatives that cancel leave as much
CHANGE = 1e-8  # of a result: as much may it change, where z moves as far along as it is large


class OneOfMany(Equations):
    """Equations with a family of solutions; results that don't tell which have derivatives."""

    def inverse(self, slope: Any) -> Any:
        return np.linalg.pinv(slope, rcond=RANK)

    def linear(self, matrix: Any, right: Any) -> Any:
        """The shortest solution; there is none where it depends on a place in the family."""
        found = self.inverse(matrix) @ right
        missed = np.linalg.norm(matrix @ found - right)
        least = ROUNDING * np.linalg.norm(matrix)
        if somewhere(missed > LOOSE * np.linalg.norm(right) + least):
            raise SolverError(self.singular())
        return found

    def along(self, slope: Any) -> Any:
        """The projection to directions along the family."""
        return np.eye(slope.shape[0]) - self.inverse(slope) @ slope

    def telling(self, result: Any, z: Any, theta: Any, given: Any, slope: Any) -> Any:
        """For each number of a further result, whether it changes along the family."""
        n = z.shape[0]
        way = self.along(slope) @ np.cos(np.arange(1.0, n + 1))
        value, change = jvp(lambda z: result(z, theta, given), (z,), (way,))
        near = 1 + np.linalg.norm(z)
        size = np.abs(value) + np.linalg.norm(slope) * near**2
        return np.abs(change) * near > CHANGE * size

    def push(self, z: Any, theta: Any, given: Any, theta_dots: Any) -> tuple[Any, ...]:
        z_dot, *outs = super().push(z, theta, given, theta_dots)
        if z_dot is None:
            return (z_dot, *outs)
        slope = self.slope(z, theta, given)
        loose = np.linalg.norm(self.along(slope), axis=-1) > LOOSE
        found = [np.where(loose, np.nan, z_dot)]
        for (_, result), out in zip(self.further, outs, strict=True):
            if out is not None:
                out = np.where(self.telling(result, z, theta, given, slope), np.nan, out)
            found.append(out)
        return tuple(found)

    def pull(self, z: Any, theta: Any, given: Any, bars: Any) -> list[Any]:
        """As of other equations, if the family stays one as theta moves."""
        at = floating(theta)

        def of_moving(*moving: Any) -> Any:
            whole = list(theta)
            for i, x in zip(at, moving, strict=True):
                whole[i] = x
            return self.residual(z, whole, given)

        slope = self.slope(z, theta, given)
        some = np.cos(np.arange(1.0, z.shape[0] + 1))
        _, pullback = vjp(of_moving, *[theta[i] for i in at])
        moved = [
            sum(np.sum(np.abs(part) ** 2) for part in pullback(way))
            for way in (some - slope @ (self.inverse(slope) @ some), some)
        ]
        if somewhere(moved[0] > LOOSE**2 * moved[1]):
            raise SolverError(self.singular())
        return super().pull(z, theta, given, bars)

    def settled(self, z_bar: Any, z: Any, theta: Any, given: Any) -> Any:
        """A result that tells no place in the family is flat along it, but for rounding."""
        slope = self.slope(z, theta, given)
        flat = z_bar - self.along(slope) @ z_bar
        near = 1 + np.linalg.norm(z)
        rest = np.linalg.norm(z_bar - flat)
        if somewhere(rest > LOOSE * np.linalg.norm(z_bar) + CHANGE * np.linalg.norm(slope) * near):
            raise SolverError(self.singular())
        return flat

    def refined(self, z: Any, theta: Any, given: Any) -> tuple[Any, str | None]:
        """A point of the family closer to it than z; or z, and why there is no derivative."""
        found, near = z, 1 + np.linalg.norm(z)
        size: Any = np.inf
        for _ in range(NEWTON):
            error, slope = self.linearised(z, theta, given)
            if not (np.isfinite(slope).all() and np.isfinite(error).all()):
                return found, self.unsolved()
            step, last = self.inverse(slope) @ error, size
            size = np.linalg.norm(step)
            if size <= 1e-12 * near or size > 0.5 * last:
                break
            z = z - step
        sizes = np.linalg.svd(slope, compute_uv=False)
        rest = sizes[sizes <= RANK * sizes[0]]
        missed = np.linalg.norm(error - slope @ step)
        if (
            size > 1e-5 * near
            or np.linalg.norm(z - found) > self.far * near
            or not 0 < len(rest) < len(sizes)
            or rest[0] > NOTHING * sizes[0]
            or missed > NOTHING * sizes[0] * near
        ):
            return found, self.unsolved()
        return z, None
