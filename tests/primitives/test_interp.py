"""`numpy.interp` of points that aren't sorted, where NumPy's result depends on its search."""

import numpy as np
import pytest

import pullback as pb


def points(kind, n, rng):
    xp = np.sort(rng.uniform(0, 1, n))
    if kind == "descending":
        return xp[::-1].copy()
    if kind == "one astray":
        xp[rng.integers(0, n)] = rng.uniform()
    if kind == "mixed":
        rng.shuffle(xp)
    return xp


@pytest.mark.parametrize("kind", ["descending", "one astray", "mixed"])
def test_unsorted_points(kind):
    rng, compiled = np.random.default_rng(6), pb.compile(np.interp, wait=True)
    for _ in range(40):
        n, k = rng.integers(2, 30), rng.integers(1, 9)
        xp, fp, x = points(kind, n, rng), rng.normal(size=n), rng.uniform(-0.1, 1.1, k)
        x[0] = rng.choice([np.nan, x[0]])
        expected = np.interp(x, xp, fp)
        found = [
            pb.vjp(np.interp, x, xp, fp)[0],
            pb.jvp(lambda x, xp=xp, fp=fp: np.interp(x, xp, fp), (x,), (x,))[0],
            pb.vmap(lambda x, xp=xp, fp=fp: np.interp(x, xp, fp))(np.stack([x[::-1], x]))[1],
            pb.vmap(np.interp)(*[np.stack([v, v]) for v in (x, xp, fp)])[1],
            compiled(x, xp, fp),
        ]
        for out in found:
            np.testing.assert_allclose(out, expected, rtol=1e-13, atol=1e-15)


def test_their_derivatives():
    xp, fp, x = np.array([0.6, 0.1, 0.9, 0.4, 0.7]), np.array([1.0, 3.0, 2.0, 5.0, 4.0]), 0.65
    by = 1e-6
    for i, args in enumerate([(x, xp, fp)] * 3):
        slope = pb.grad(np.interp, i)(*args)
        for at in np.ndindex(np.shape(args[i])):
            step = np.zeros(np.shape(args[i]))
            step[at] = by
            ends = [np.interp(*args[:i], args[i] + s * step, *args[i + 1 :]) for s in (1, -1)]
            assert np.asarray(slope)[at] == pytest.approx((ends[0] - ends[1]) / (2 * by), abs=1e-6)


NUMBERS = [0.0, 0.5, 1.0, 1.7, 2.0, 3.0, np.inf, -np.inf]


@pytest.mark.parametrize("odd", [False, True])
def test_values_to_the_bit(odd):
    """At points, between them, at the last one, and with `odd` among infinite and equal ones."""
    rng, fast = np.random.default_rng(9), pb.compile(np.interp, wait=True)
    for _ in range(150):
        if odd:
            xp, fp = np.sort(rng.choice(NUMBERS, 5)), rng.choice([*NUMBERS, np.nan], 5)
            xp = np.arange(5.0) if rng.uniform() < 0.3 else xp
        else:
            xp, fp = np.sort(rng.normal(size=5)), rng.normal(size=5)
        x = np.concatenate([xp, rng.choice([*NUMBERS, np.nan], 3), rng.normal(size=3)])
        with np.errstate(all="ignore"):
            right = np.interp(x, xp, fp)
            found = pb.vjp(np.interp, x, xp, fp)[0]
            mapped = pb.vmap(np.interp)(x[None], xp[None], fp[None])[0]
            compiled = fast(x, xp, fp)
        np.testing.assert_array_equal(found, right)
        np.testing.assert_array_equal(mapped, right)
        np.testing.assert_allclose(compiled, right, 1e-14, 1e-14)


def test_slopes_at_the_last_point():
    """That of the line that ends there, as before it."""
    xp, fp = np.array([0.0, 1.0, 3.0]), np.array([1.0, 2.0, 8.0])
    assert pb.grad(np.interp)(3.0, xp, fp) == 3.0
    np.testing.assert_array_equal(pb.grad(np.interp, 2)(3.0, xp, fp), [0.0, 0.0, 1.0])
