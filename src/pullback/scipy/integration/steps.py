"""Steps of a method on Arrays, with fixed step sizes.

SciPy's call has chosen the steps; here they're taken once more, on Arrays with derivatives. So the
derivative is exactly that of the numbers that were computed, in both modes and of any order, and
the right-hand side takes the same branches. Steps of an explicit method are plain arithmetic; those
of an implicit method solve the equations of Radau IIA, differentiated by the implicit function
theorem.

Under `vmap` each example has its own steps; an example with fewer steps repeats its last time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import integrate

from ...core.array import Array
from ...core.kinds import Linear
from ...core.spec import Spec
from ...primitives.joining import spread
from ...transforms.call import stop_gradient
from ...transforms.forward import jvp
from ..optimization.roots import root_of


class Combination(Linear):
    """The sum of arrays of one shape by weights."""

    def value(self, *xs: Any, weights: tuple[float, ...]) -> Any:
        rows = np.array(xs)  # added one after the other: a batch is rounded as its examples are
        column = row_of(weights).reshape(-1, *[1] * (rows.ndim - 1))
        return np.add.reduce(rows * column, axis=0)

    def composed(self, *xs: Any, weights: tuple[float, ...]) -> Any:
        return sum([weight * x for x, weight in zip(xs, weights, strict=True)])

    def spec(self, *xs: Any, weights: tuple[float, ...]) -> Spec:
        return Spec(xs[0].shape, np.result_type(float, *[x.dtype for x in xs]))

    def jvp(self, out: Any, xs: Any, x_dots: Any, **static: Any) -> Any:
        moving = [i for i, x_dot in enumerate(x_dots) if x_dot is not None]
        weights = tuple([static["weights"][i] for i in moving])
        return self(*[x_dots[i] for i in moving], weights=weights)

    def transpose(self, i: int, xs: Any, out_bar: Any, *, weights: tuple[float, ...]) -> Any:
        return weights[i] * out_bar

    def batch(self, xs: Any, mapped: Any, size: int, *, weights: tuple[float, ...]) -> Any:
        return self(*spread(xs, mapped, size), weights=weights)


combination = Combination("combination")
row_of = lru_cache(np.array)


def advanced(y: Any, h: Any, slopes: list[Any], weights: Any) -> Any:
    """y + h times the sum of the slopes by weights."""
    if type(h) is Array:
        used = [(x, float(w)) for x, w in zip(slopes, weights, strict=True) if w]
        return y + h * combination(*[x for x, _ in used], weights=tuple([w for _, w in used]))
    used = [(x, float(h * w)) for x, w in zip(slopes, weights, strict=True) if w]
    return combination(y, *[x for x, _ in used], weights=(1.0, *[w for _, w in used]))


class Explicit:
    """A Runge-Kutta method of SciPy's, and the polynomial between its points."""

    def __init__(self, method: type) -> None:
        self.method: Any = method
        self.extra = method is integrate.DOP853 or issubclass(method, integrate.DOP853)

    def step(self, fun: Any, t: Any, y: Any, h: Any, first: Any, guess: Any) -> tuple[Any, Any]:
        """y at t + h, and what the polynomial is made of; `first` is the slope at t."""
        m, slopes = self.method, [fun(t, y) if first is None else first]
        for a, c in zip(m.A[1:], m.C[1:], strict=True):
            slopes.append(fun(t + c * h, advanced(y, h, slopes, a[: len(slopes)])))
        new = advanced(y, h, slopes, m.B)
        slopes.append(fun(t + h, new))
        return new, (slopes, new)

    def slope(self, state: Any) -> Any:
        """The slope at the end of a step, with which the next one begins."""
        return state[0][-1]

    def polynomial(self, fun: Any, t: Any, y: Any, h: Any, state: Any) -> Any:
        slopes, new = state
        m = self.method
        if not self.extra:
            return np.dot(np.stack(slopes).T, m.P)
        slopes = list(slopes)
        for a, c in zip(m.A_EXTRA, m.C_EXTRA, strict=True):
            slopes.append(fun(t + c * h, advanced(y, h, slopes, a[: len(slopes)])))
        change, first, last = new - y, slopes[0], slopes[m.n_stages]
        rows = [change, h * first - change, 2 * change - h * (last + first)]
        higher = h * np.dot(m.D, np.stack(slopes))
        return np.concatenate([np.stack(rows), higher])

    def at(self, y: Any, h: Any, polynomial: Any, x: Any) -> Any:
        """The solution where x of the step is done."""
        if not self.extra:
            powers = np.cumprod(np.stack([x] * polynomial.shape[-1]))
            return h * np.dot(polynomial, powers) + y
        factors = [(x, 1 - x)[i % 2] for i in range(polynomial.shape[0])]
        return np.dot(np.cumprod(np.stack(factors)), polynomial) + y


ROOT6 = 6**0.5


class Radau:
    """Radau IIA of order 5."""

    A = np.array(
        [
            [(88 - 7 * ROOT6) / 360, (296 - 169 * ROOT6) / 1800, (-2 + 3 * ROOT6) / 225],
            [(296 + 169 * ROOT6) / 1800, (88 + 7 * ROOT6) / 360, (-2 - 3 * ROOT6) / 225],
            [(16 - ROOT6) / 36, (16 + ROOT6) / 36, 1 / 9],
        ]
    )
    C = np.array([(4 - ROOT6) / 10, (4 + ROOT6) / 10, 1.0])
    # From the stages to the coefficients of x, x**2 and x**3.
    P = np.linalg.inv(C[:, None] ** np.arange(1, 4)).T

    def step(self, fun: Any, t: Any, y: Any, h: Any, first: Any, guess: Any) -> tuple[Any, Any]:
        def equations(stages: Any) -> Any:
            slopes = [fun(t + c * h, y + stages[i]) for i, c in enumerate(self.C)]
            return stages - h * (self.A @ np.stack(slopes))

        stages, _ = root_of("an implicit step", equations, (), guess, None)
        return y + stages[2], stages

    def slope(self, state: Any) -> Any:
        return None

    def polynomial(self, fun: Any, t: Any, y: Any, h: Any, state: Any) -> Any:
        return np.dot(state.T, self.P)

    def at(self, y: Any, h: Any, polynomial: Any, x: Any) -> Any:
        return np.dot(polynomial, np.stack([x, x**2, x**3])) + y


NEAR = 1e-3  # relative difference between the slopes of a polynomial and of the equation


class Trajectory:
    """The steps from ts[0] to ts[-1], and the solution between them.

    rtol: the relative tolerance with which they were chosen
    """

    def __init__(
        self, method: Any, fun: Callable[..., Any], ts: Any, y: Any, guess: Any, rtol: float
    ) -> None:
        self.method, self.fun, self.ts, self.rtol = method, fun, ts, rtol
        self.ys, self.states = [y], []
        slope = None
        for i in range(len(ts) - 1):
            h = ts[i + 1] - ts[i]
            stages = None if guess is None else guess(i)
            y, state = method.step(fun, ts[i], self.ys[-1], h, slope, stages)
            slope = method.slope(state)
            self.ys.append(y)
            self.states.append(state)
        self.pieces: dict[int, Any] = {}

    def piece(self, i: int) -> Any:
        if i not in self.pieces:
            t, y, h = self.ts[i], self.ys[i], self.ts[i + 1] - self.ts[i]
            self.pieces[i] = t, y, h, self.method.polynomial(self.fun, t, y, h, self.states[i])
        return self.pieces[i]

    def at(self, i: Any, t: Any) -> Any:
        """The solution at time t of step i; under `vmap` each example may be in another step."""
        if type(i) is Array:
            several = [self.piece(k) for k in range(len(self.states))]
            start, y, h, polynomial = [np.stack(column)[i] for column in zip(*several, strict=True)]
        else:
            start, y, h, polynomial = self.piece(int(i))
        return self.method.at(y, h, polynomial, (t - start) / h)

    def moving_at(self, i: Any, t: Any) -> Any:
        """The same for a time that moves, with the second derivatives by t that the equation has.

        Those of the polynomial between the steps are off by as much as a hundredth. Where its slope
        isn't that of the equation, a jump is near, and its derivatives are those from inside.
        """
        still = stop_gradient(t)
        y, slope = jvp(lambda t: self.at(i, t), (still,), (np.ones_like(still),))
        h = t - still  # zero, and moves
        slopes = [self.fun(still, y)]
        for part in (0.5, 0.5, 1.0):
            slopes.append(self.fun(still + part * h, y + part * h * slopes[-1]))
        first, *between, last = slopes
        mean = (first + 2 * between[0] + 2 * between[1] + last) / 6
        ours, theirs = stop_gradient(slope), stop_gradient(first)
        size = np.max(np.abs(ours) + np.abs(theirs))
        is_smooth = np.all(np.abs(ours - theirs) <= NEAR * size)
        return np.where(is_smooth, y + h * mean, self.at(i, t))
