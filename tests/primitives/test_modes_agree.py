"""Forward and reverse agree at special points: infinities, poles, zeros of both signs, overflow.

Random compositions of what selects (`where`, `clip`, `maximum`), of functions with poles and of
functions that overflow. Where one mode has a finite derivative, the other has the same; NaN and
infinity may differ, as they say that there is none.
"""

import warnings

import numpy as np
import pytest

import pullback as pb

POINTS = [0.0, -0.0, np.inf, -np.inf, 800.0, -800.0, -1.0, 1.0, 0.5]
SELECTING = {
    "where >": lambda x, y: np.where(y > 0, x, 0.0),
    "where <": lambda x, y: np.where(y < 0, 2.0, x),
    "where >= 0 else 1": lambda x, y: np.where(y >= 0, x, 1.0),
    "maximum 0": lambda x, y: np.maximum(x, 0.0),
    "minimum 1": lambda x, y: np.minimum(1.0, x),
    "clip": lambda x, y: np.clip(x, 0.0, 2.0),
    "fmax": lambda x, y: np.fmax(x, 0.5),
    "select": lambda x, y: np.select([y > 0, y < -1], [x, 3.0 * x], 0.25),
    "nan_to_num": lambda x, y: np.nan_to_num(x),
    "choose branch": lambda x, y: np.where(np.isfinite(y), x, 0.0),
}
AFTER = {
    "sqrt": np.sqrt, "log": np.log, "log1p": np.log1p, "reciprocal": np.reciprocal,
    "1 / x": lambda x: 1.0 / x, "x ** 0.5": lambda x: x**0.5, "x ** -1": lambda x: x**-1.0,
    "cbrt": np.cbrt, "arcsin": np.arcsin, "arctanh": np.arctanh, "arccosh": np.arccosh,
    "log10": np.log10, "exp": np.exp, "reshape": lambda x: np.reshape(np.reshape(x, (1,)), ()),
    "negative": np.negative, "times 2": lambda x: 2.0 * x, "plus 0": lambda x: x + 0.0,
}  # fmt: skip
LAST = {
    "same": lambda x: x, "square": np.square, "exp": np.exp, "tanh": np.tanh, "abs": np.abs,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}  # fmt: skip


def program(random):
    """Functions that run one after another: something selects, then something has a pole."""
    first, last = str(random.choice(list(SELECTING))), str(random.choice(list(LAST)))
    after = [str(name) for name in random.choice(list(AFTER), size=random.integers(1, 3))]

    def f(x):
        y = SELECTING[first](x, x)
        for name in after:
            y = AFTER[name](y)
        return LAST[last](y)

    return (first, *after, last), f


def derivatives(f, x):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, of odd numbers
        reverse = pb.grad(lambda x: np.sum(f(x)))(x)
        _, forward = pb.jvp(f, (x,), (np.ones_like(x),))
        linear = pb.linearize(f, x)[1](np.ones_like(x))
    return {"reverse": reverse, "forward": forward, "linearize": linear}


def disagreeing(count, begin=0):
    found = []
    for seed in range(begin, begin + count):
        names, f = program(np.random.default_rng(seed))
        for x in POINTS:
            with np.errstate(all="ignore"):
                if not np.isfinite(f(np.float64(x))):
                    continue  # there is no derivative
            at = {k: float(v) for k, v in derivatives(f, np.float64(x)).items()}
            finite = [v for v in at.values() if np.isfinite(v)]
            if finite and not np.allclose(list(at.values()), finite[0], rtol=1e-8):
                found.append((names, x, at))
    return found


@pytest.mark.share(2)
@pytest.mark.parametrize("begin", range(0, 600, 100))
def test_random_compositions(begin):
    """5,400 compositions and points."""
    assert not disagreeing(100, begin)


class TestStructuralZeros:
    """What was not picked has no derivative, in forward mode as in reverse."""

    X = np.array([-1.0, 4.0, 0.25])

    @pytest.mark.parametrize("name", SELECTING)
    def test_arrays_and_second_order(self, name):
        def f(x):
            return np.sqrt(np.where(x > 0, SELECTING[name](x, x), 0.0))

        with np.errstate(all="ignore"):
            reverse, (_, forward) = (
                pb.vjp(f, self.X)[1](np.ones(3))[0],
                pb.jvp(f, (self.X,), (np.ones(3),)),
            )
            np.testing.assert_allclose(reverse, forward)
            mapped = pb.vmap(lambda x: pb.jvp(f, (x,), (1.0,))[1])(self.X)
            np.testing.assert_allclose(mapped, forward)
            second = pb.jvp(lambda x: pb.jvp(f, (x,), (np.ones(3),))[1], (self.X,), (np.ones(3),))
            np.testing.assert_allclose(second[1], pb.hvp(lambda x: f(x).sum())(self.X, np.ones(3)))

    def test_through_what_rearranges(self):
        f = lambda x: np.sqrt(np.reshape(np.where(x > 0, x, 0.0), (3, 1)).T)
        with np.errstate(all="ignore"):
            _, dot = pb.jvp(f, (self.X,), (np.ones(3),))
        np.testing.assert_allclose(dot, [[0.0, 0.25, 1.0]])

    def test_a_pole_that_was_picked_stays_loud(self):
        with np.errstate(all="ignore"):
            assert pb.jvp(lambda x: np.sqrt(np.where(x >= 0, x, 0.0)), (0.0,), (1.0,))[1] == np.inf


class TestOverflow:
    """A power of what has overflowed has a slope that does not overflow again in forward mode."""

    OVERFLOWING = (np.exp, np.cosh, np.sinh, np.exp2, np.expm1)
    POWERS = (
        np.square, lambda u: u**2, lambda u: u**3, lambda u: u**2.5, lambda u: (u**2) ** 2,
        lambda u: 1 + u**2, lambda u: np.square(np.square(u)) - 1,
    )  # fmt: skip
    DECREASING = (
        lambda u: 1 / (1 + u), np.tanh, np.arctan, lambda u: np.exp(-u), lambda u: u**-2.0,
        lambda u: 1 / np.sqrt(1 + u),
    )  # fmt: skip

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_powers(self, dtype):
        """210 compositions at three points, of arrays and of numbers."""
        points = np.array([2000.0, np.inf, 1.0], dtype)
        for overflowing in self.OVERFLOWING:
            for power in self.POWERS:
                for decreasing in self.DECREASING:
                    f = lambda x, a=overflowing, b=power, c=decreasing: c(b(a(x)))
                    for x in (points, *points):
                        at = derivatives(f, x)
                        for found in at.values():
                            assert np.all(np.isfinite(found)), at
                            np.testing.assert_allclose(found, at["reverse"], rtol=1e-5)
