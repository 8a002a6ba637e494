"""Functions of `math` compute in doubles, and parts of Python's numbers are Python's numbers."""

import math
import warnings

import numpy as np
import pytest

import pullback as pb

NARROW = [np.float16(0.3), np.float32(0.3), np.longdouble("0.3"), np.float64(0.3), 0.3, 3, True,
          np.int8(3), np.array(0.3, np.float32), np.bool_(True)]  # fmt: skip
ARGUMENTS = [float, np.float32, np.float16, np.float64, np.longdouble, np.array]
OF_TWO = {
    "pow": math.pow,
    "pow, reflected": lambda x, y: math.pow(y, x),
    "hypot": math.hypot,
    "hypot of three": lambda x, y: math.hypot(y, x, 0.7),
    "fmod": math.fmod,
    "atan2": math.atan2,
    "atan2, reflected": lambda x, y: math.atan2(y, x),
    "copysign": lambda x, y: math.copysign(y, x) * x,
    "remainder": math.remainder,
    "nextafter": lambda x, y: math.nextafter(x, 2.0) * float(y),
    "log": lambda x, y: math.log(x, y + 1),
    "dist": lambda x, y: math.dist([x, y], [y * 2, 1.0]),
    "fsum": lambda x, y: math.fsum([x, y]),
    "prod": lambda x, y: math.prod([x, y]),
    "isclose": lambda x, y: x if math.isclose(x, np.float32(x)) else -x * float(y),
    "sum of functions": lambda x, y: math.sin(x) * math.exp(y) + math.tanh(x),
}


@pytest.mark.parametrize("name", OF_TWO)
def test_functions_of_math_compute_in_doubles(name):
    f, wrong = OF_TWO[name], []
    for y in NARROW:
        for make in ARGUMENTS:
            x = make(0.7)
            expected = f(x, y)
            out, slope = pb.jvp(lambda x, f=f, y=y: f(x, y), (x,), (make(1.0),))
            if np.result_type(out) != np.result_type(expected) or not np.isclose(
                out, expected, 1e-15, 0.0
            ):
                wrong.append((type(y).__name__, make.__name__, out, expected))
            step, double = 1e-4, float(x)
            if np.result_type(f(double, y)) == np.float64 and name != "isclose":
                near = (f(double + step, y) - f(double - step, y)) / (2 * step)
                if not np.isclose(slope, near, rtol=3e-3 if make is np.float16 else 1e-5):
                    wrong.append((type(y).__name__, make.__name__, "slope", slope, near))
    assert not wrong


@pytest.mark.filterwarnings("ignore")  # NumPy's complex numbers count with their real parts
def test_complex_numbers_of_numpy_count_with_their_real_parts():
    z = np.complex64(1 + 2j)
    programs = [
        lambda x: math.log1p(z + x),
        lambda x: math.hypot(-x, z * np.complex64(x)),
        lambda x: math.floor(z * x) * x,
        lambda x: math.atan2(x, z),
        lambda x: math.pow(np.complex128(x), 2.0),
        lambda x: math.trunc(np.array(2.0) * 1.5) * x,
    ]
    for f in programs:
        out, _ = pb.jvp(f, (0.7,), (1.0,))
        assert out.dtype == np.float64
        np.testing.assert_allclose(out, f(0.7), 1e-15)


NUMBERS = {
    "imaginary part": lambda x: np.imag(x),
    "x.imag": lambda x: x.imag,
    "x.real": lambda x: x.real,
    "real part": lambda x: np.real(x),
    "of a complex number": lambda x: complex(x).real,
    "imaginary of one": lambda x: (complex(x) * 1j).imag,
    "of a conjugate": lambda x: np.real(complex(x, 2.0).conjugate()),
    "of a power": lambda x: (complex(x, 1.0) ** 2).imag,
    "modulus": lambda x: abs(complex(x, 1.0)),
    "conjugate": lambda x: x.conjugate(),
}


@pytest.mark.parametrize("beside", [np.float32(0.25), np.float16(0.25), np.ones(2, np.float32)])
@pytest.mark.parametrize("name", NUMBERS)
def test_parts_of_pythons_numbers_take_the_dtype_of_what_is_beside_them(name, beside):
    part = NUMBERS[name]
    for make in (float, np.float64, np.float32):
        f = lambda x: part(x) + beside
        x = make(0.7)
        expected = f(x)
        out, slope = pb.jvp(f, (x,), (make(1.0),))
        assert out.dtype == slope.dtype == expected.dtype
        np.testing.assert_array_equal(out, expected)
        if make is not float:
            batch = pb.vmap(f)(np.array([x, x]))
            assert batch.dtype == expected.dtype
            np.testing.assert_allclose(batch[1], expected, rtol=1e-3)


@pytest.mark.parametrize("truth", [True, False])
def test_truth_values_beside_mapped_numbers(truth):
    programs = [
        lambda x: float(x) * truth,
        lambda x: truth + float(x),
        lambda x: truth - float(x) * truth,
        lambda x: truth / (float(x) + 2),
        lambda x: float(x) ** truth,
        lambda x: max(truth, 2) * float(x),
    ]
    xs = np.array([0.7, 1.2])
    for f in programs:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            np.testing.assert_array_equal(pb.vmap(f)(xs), [f(x) for x in xs])
