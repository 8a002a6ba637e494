"""Complex functions with branch cuts: the derivative is of the side that the value is of."""

import cmath
import itertools

import numpy as np
import pytest

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


INTO_COMPLEX = {
    "x + 1j": lambda x: x + 1j, "1j * x": lambda x: 1j * x, "(-x) ** 0.5": lambda x: (-x) ** 0.5,
    "complex(x, 1)": lambda x: complex(x, 1.0),
}  # fmt: skip
OF_COMPLEX = {
    "z ** 3": lambda z: z**3, "z ** 2": lambda z: z**2, "z ** 2.5": lambda z: z**2.5,
    "z ** -1": lambda z: z**-1, "z ** (1 + 1j)": lambda z: z ** (1 + 1j), "2 ** z": lambda z: 2**z,
    "z ** z": lambda z: z**z, "1 / z": lambda z: 1 / z, "abs": abs, "z.real": lambda z: z.real,
    "conjugate": lambda z: z.conjugate(), "exp": cmath.exp, "sqrt": cmath.sqrt, "log": cmath.log,
}  # fmt: skip


@pytest.mark.parametrize("made", INTO_COMPLEX)
def test_complex_numbers_of_python(made):
    """Values to the bit, and derivatives of both orders in all modes by differences."""
    wrong, x = [], 1.3
    for name, g in OF_COMPLEX.items():

        def f(x, g=g):
            return abs(g(INTO_COMPLEX[made](x)) * (0.3 + 1j) + 0.2j)

        def central(h, f=f):
            return (f(x + h) - f(x - h)) / (2 * h), (f(x + h) - 2 * f(x) + f(x - h)) / h**2

        (a, c), (b, d) = central(1e-3), central(2e-3)
        first, second = (4 * a - b) / 3, (4 * c - d) / 3
        value, slope = pb.value_and_grad(f)(x)
        slopes = [slope, pb.jvp(f, (x,), (1.0,))[1]]
        curvatures = [
            pb.grad(pb.grad(f))(x),
            pb.jvp(pb.grad(f), (x,), (1.0,))[1],
            pb.grad(lambda x, f=f: pb.jvp(f, (x,), (1.0,))[1])(x),
        ]
        close = np.allclose(slopes, first, 1e-6, 1e-8) and np.allclose(
            curvatures, second, 1e-4, 1e-6
        )
        if value != f(x) or not close:
            wrong.append((name, value, slopes, first, curvatures, second))
    assert not wrong


def test_a_complex_number_of_python_adapts_as_numpy_has_it():
    a = np.ones(2, np.float32)
    for f in (lambda z: a * z, lambda z: z - np.float32(1), lambda z: z**2 * a, np.exp):
        out = pb.vjp(f, 1.5 - 0.5j)[0]
        assert out.dtype == f(1.5 - 0.5j).dtype
        np.testing.assert_array_equal(out, f(1.5 - 0.5j))
