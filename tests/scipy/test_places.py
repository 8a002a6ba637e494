"""Images at places: the program that has the derivatives rounds as SciPy's code does.

So machine code computes values by it, in all orders and modes, and gives the same bits.
"""

import numpy as np
import pytest
from scipy import ndimage

import pullback as pb
from pullback.scipy.images.edges import WRAP
from pullback.scipy.images.interpolation import interpolated, transformed
from tests.budgets import LONG

SHAPES = [(1,), (2,), (7,), (1, 3), (5, 6), (9, 2), (3, 4, 5)]
SPECIAL = [0.0, -0.0, -1e-16, -1e-15, 1e-16, -0.25, -0.5, -1.0, -1.5, 1e6, -1e6, 1e10, -1e10]
SPECIAL += [np.nan, np.inf, -np.inf]
COUNT = 400 if LONG else 40


def places(random, shape):
    """Inside and outside, on pixels and between them, at the edges and next to them."""
    edges = [np.array([n - 1.0, n - 0.5, n, np.nextafter(n - 1.0, n)]) for n in shape]
    parts = [
        random.uniform(-30, 30, (len(shape), COUNT)),
        random.uniform(-2, 8, (len(shape), COUNT)),
        random.integers(-30, 30, (len(shape), COUNT)).astype(float),
        np.array([random.choice([*SPECIAL, *edge], 2 * COUNT) for edge in edges]),
    ]
    return np.concatenate(parts, axis=1)


@pytest.mark.parametrize("mode", range(7))
def test_the_program_gives_the_bits_of_scipy(mode):
    random = np.random.default_rng(mode)
    for order in range(6):
        for shape in SHAPES:
            x = (10 * random.normal(size=shape)).astype(random.choice(["f8", "f4", "i4"]))
            at, npad = places(random, shape), int(random.choice([0, 12]))
            if order == 0 and mode == WRAP:
                at = at[:, ~np.any(at == np.inf, axis=0)]  # SciPy reads any pixel
            settings = 0.7, order, mode, npad
            of_scipy = transformed(
                at.shape[1:], np.float64, x, None, at, None, None, order, mode, 0.7, npad
            )
            with np.errstate(all="ignore"):
                out = interpolated(x, list(at), *settings)
            np.testing.assert_array_equal(out, of_scipy, err_msg=f"{order} {mode} {shape}")
            zeros = of_scipy == 0
            assert np.all(np.signbit(out[zeros]) == np.signbit(of_scipy[zeros]))


MODES = ["reflect", "grid-constant"]
MODES += ["constant", "nearest", "mirror", "wrap", "grid-wrap"] if LONG else []


@pytest.mark.share(2)
@pytest.mark.parametrize("mode", MODES)
def test_machine_code_gives_the_bits_of_scipy(mode):
    random = np.random.default_rng(len(mode))
    order = int(random.integers(4))
    at = places(random, (5, 6))
    at = at[:, ~np.any(at == np.inf, axis=0)]

    def both(x, at, matrix):
        how = {"order": order, "mode": mode}
        out = ndimage.map_coordinates(x, at, cval=0.7, **how)
        return out, ndimage.affine_transform(x, matrix, [0.3, -1.2], **how)

    x = random.normal(size=(5, 6)).astype(random.choice(["f8", "f4"]))
    xs = x, at, random.normal(size=(2, 2))
    fast = pb.compile(both, wait=True)
    fast(*xs)
    assert "transform" not in str(fast.graph(*xs))
    with np.errstate(all="ignore"):
        for out, of_scipy in zip(fast(*xs), both(*xs), strict=True):
            np.testing.assert_array_equal(out, of_scipy)


def test_a_place_just_below_zero_has_its_slope():
    """SciPy reflects what is nearer to zero than 1e-15 as -1e-15."""
    x = np.sin(np.arange(8.0))

    def at(place):
        return ndimage.map_coordinates(x, [[place]], order=3, mode="reflect")[0]

    slopes = [pb.grad(at)(place) for place in (-1e-16, -2e-15)]
    np.testing.assert_allclose(slopes, pb.grad(at)(0.0), rtol=1e-12)
    np.testing.assert_allclose(pb.grad(at)(-0.3), (at(-0.3 + 1e-6) - at(-0.3 - 1e-6)) / 2e-6)
