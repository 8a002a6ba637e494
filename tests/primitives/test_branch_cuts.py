"""Complex functions with branch cuts: the derivative is of the side that the value is of."""

import itertools

import numpy as np

import pullback as pb

FUNCTIONS = [
    np.arcsin, np.arccos, np.arctan, np.arcsinh, np.arccosh, np.arctanh, np.sqrt, np.log, np.log1p,
]  # fmt: skip
PARTS = (2.5, -2.5, 0.3, -0.3, 0.0, -0.0)
H = 1e-6


def moved(z, t, along):
    """z with t added to one of its parts; the sign of zero of the other stays."""
    return np.complex128(complex(z.real + t, z.imag) if along == 1 else complex(z.real, z.imag + t))


def test_the_sign_of_zero_chooses_the_side():
    wrong = []
    for fun, re, im, along in itertools.product(FUNCTIONS, PARTS, PARTS, (1.0, 1j)):
        z = complex(re, im)
        if (re if along == 1 else im) == 0:
            continue  # it would move across the cut
        with np.errstate(all="ignore"):
            expected = (fun(moved(z, H, along)) - fun(moved(z, -H, along))) / (2 * H)
            _, forward = pb.jvp(fun, (np.complex128(z),), (np.complex128(along),))
            (reverse,) = pb.vjp(fun, np.complex128(z))[1](np.complex128(1.0))
        if np.isfinite(expected) and abs(expected) < 1e3:
            actual = np.array([forward, reverse * along])
            if not (abs(actual - expected) <= 1e-5 * max(1, abs(expected))).all():
                wrong.append((fun.__name__, z, along, actual, expected))
    assert not wrong


def test_compiled_emath_leaves_and_enters_the_real_domain():
    gradient = pb.compile(pb.grad(lambda x: np.abs(np.emath.sqrt(x)) * x))
    for _ in range(3):
        for x in (2.0, -2.0, 3.0, -0.5):
            np.testing.assert_allclose(gradient(x), 1.5 * abs(x) ** 0.5, rtol=1e-14)
