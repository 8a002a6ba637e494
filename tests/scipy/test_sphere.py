"""Smoothing on a sphere, against differences of SciPy's own fits."""

import numpy as np
import pytest
from scipy.interpolate import SmoothSphereBivariateSpline

import pullback as pb

RANDOM = np.random.default_rng(0)
N = 120
DATA = [RANDOM.uniform(0.05, 3.1, N), RANDOM.uniform(0.05, 6.2, N), None, RANDOM.uniform(0.5, 2, N)]
DATA[2] = np.cos(DATA[0]) + np.sin(DATA[0]) ** 2 * np.sin(2 * DATA[1]) + 0.1 * RANDOM.normal(size=N)
PLACES = np.array([0.02, 1.0, 2.2]), np.array([0.3, 3.3, 6.0])


def fit(theta, phi, r, w, s):
    return SmoothSphereBivariateSpline(theta, phi, r, w, s=s)


def program(*args):
    return np.sum(np.sin(fit(*args).ev(*PLACES)))


def by_distance(args):
    """The derivative by the distance that the fit has; FITPACK stops within a thousandth of s."""
    return pb.grad(program, argnums=4)(*args) * args[4] / fit(*args).get_residual()


def difference(args, i, dot, h):
    """A difference of SciPy's values, moved to the distance in the middle."""
    values, distance = [], fit(*args).get_residual()
    for step in (h, -h):
        moved = [*args[:i], args[i] + step * dot, *args[i + 1 :]]
        away = distance - fit(*moved).get_residual()
        values.append(program(*moved) + away * (by_distance(args) + by_distance(moved)) / 2)
    return (values[0] - values[1]) / (2 * h)


@pytest.mark.share(2)
def test_knots_that_follow_the_data():
    """With few inner knots, and with more in both directions."""
    wrong = []
    for s, knots in ((6.0, (11, 13)), (2.0, (12, 15))):
        args = [*DATA, s]
        assert tuple(map(len, fit(*args).tck[:2])) == knots
        for i in range(4):
            dot = np.cos(i + 1.7 * np.arange(N))
            coarse, fine = [difference(args, i, dot, h) for h in (1e-3, 5e-4)]
            expected = (4 * fine - coarse) / 3

            def line(x, args=args, i=i):
                return program(*args[:i], x, *args[i + 1 :])

            forward = pb.jvp(line, (args[i],), (dot,))[1]
            back = np.sum(dot * pb.grad(line)(args[i]))
            if max(abs(forward - expected), abs(back - expected)) > 1e-5 * abs(expected):
                wrong.append((s, i, forward, back, expected))
        near = [*DATA, s * 1.02]
        by_s = (program(*near) - program(*args)) / np.diff(
            [fit(*x).get_residual() for x in (args, near)]
        )
        if abs(by_s[0] - (by_distance(args) + by_distance(near)) / 2) > 1e-3 * abs(by_s[0]):
            wrong.append((s, "by s", by_s))
    assert wrong == []


def test_second_order_and_batches():
    args = [*DATA, 6.0]
    stack = np.stack([DATA[2], 1.1 * DATA[2]])

    def of(r):
        return program(*DATA[:2], r, DATA[3], 6.0)

    dot = np.cos(np.arange(N))
    bend = pb.jvp(lambda r: np.sum(dot * pb.grad(of)(r)), (DATA[2],), (dot,))[1]
    again = pb.jvp(lambda r: pb.jvp(of, (r,), (dot,))[1], (DATA[2],), (dot,))[1]
    slopes = [np.sum(dot * pb.grad(of)(DATA[2] + h * dot)) for h in (0.01, -0.01)]
    np.testing.assert_allclose(bend, again, rtol=1e-9)
    np.testing.assert_allclose(bend, (slopes[0] - slopes[1]) / 0.02, rtol=2e-2)
    each = [pb.grad(of)(r) for r in stack]
    np.testing.assert_allclose(pb.vmap(pb.grad(of))(stack), each, rtol=1e-12)
    assert np.isfinite(pb.compile(pb.grad(program, argnums=2))(*args)).all()
