"""A Python float argument behaves as one: weak dtypes, ZeroDivisionError, complex powers.

Random expressions of a Python float, of arrays and scalars of all precisions, by operators and by
functions of NumPy and `math`. Under each transformation they give what they give without one: the
same numbers, of the same class and dtype, or the same error.
"""

import math
import operator
import warnings
from itertools import pairwise

import numpy as np
import pytest

import pullback as pb
from pullback.core.array import Array, peel

OTHERS = {
    "2": 2, "0.5": 0.5, "0.0": 0.0, "-3": -3, "1e300": 1e300,
    "f32": np.array([0.5, 1.5, 2.5], np.float32), "f16": np.float16(1.5),
    "f32 scalar": np.float32(0.25), "f64 scalar": np.float64(0.75), "ints": np.arange(1, 4),
    "f64": np.array([0.1, 0.2, 0.3]), "c64": np.complex64(1 + 1j),
}  # fmt: skip
BINARY = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "/": lambda a, b: a / b, "**": lambda a, b: a**b, "//": lambda a, b: a // b,
    "%": lambda a, b: a % b, "np.add": np.add, "np.divide": np.divide, "np.power": np.power,
    "np.maximum": np.maximum, "np.hypot": np.hypot,
    "np.where": lambda a, b: np.where(np.array([True, False, True]), a, b),
    "divmod": lambda a, b: divmod(a, b)[1], "np.divmod": lambda a, b: np.divmod(a, b)[0],
    "np.dot": np.dot, "np.inner": np.inner, "np.outer": np.outer, "np.append": np.append,
    "np.choose": lambda a, b: np.choose([1, 0, 1], [a, b]),
    "np.select": lambda a, b: np.select([np.array([True, False, True])], [a], b),
    "np.linspace": lambda a, b: np.linspace(a, b, 3)[1], "np.copysign": np.copysign,
    "np.quantile": lambda a, b: np.quantile(OTHERS["f32"], a % 1),
}  # fmt: skip
UNARY = {
    "neg": lambda a: -a, "abs": abs, "np.negative": np.negative, "np.absolute": np.absolute,
    "np.sin": np.sin, "np.exp": np.exp, "np.sqrt": np.sqrt, "math.sin": math.sin,
    "math.exp": math.exp, "math.sqrt": math.sqrt, "same": lambda a: a, "item": lambda a: a.item(),
}  # fmt: skip
POINTS = [0.0, 2.0, -4.0, 0.3, 1e200]


def expression(seed):
    """Text that says what is done, and the function."""
    random = np.random.default_rng(seed)
    steps = []
    for _ in range(random.integers(1, 5)):
        if random.random() < 0.25:
            steps.append((str(random.choice(list(UNARY))), None, False))
        else:
            other = str(random.choice([*OTHERS, "x", "x"]))
            steps.append((str(random.choice(list(BINARY))), other, bool(random.random() < 0.5)))

    def f(x):
        y = x
        for name, other, reflected in steps:
            if other is None:
                y = UNARY[name](y)
                continue
            z = x if other == "x" else OTHERS[other]
            y = BINARY[name](z, y) if reflected else BINARY[name](y, z)
        return y

    return steps, f


def outcome(call):
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy's, of odd numbers
            out = call()
    except (ZeroDivisionError, OverflowError, ValueError, TypeError, AttributeError) as error:
        return type(error)
    out = peel(out) if type(out) is Array else out
    return type(out), np.asarray(out).dtype, np.asarray(out)


def same(a, b):
    if isinstance(a, type) or isinstance(b, type):
        return isinstance(a, type) and isinstance(b, type) and issubclass(a, b)
    with np.errstate(all="ignore"):
        return a[:2] == b[:2] and np.allclose(a[2], b[2], rtol=2e-3, equal_nan=True)


def under(transform, f, x):
    """What f gives inside of a transformation."""
    found = []

    def inside(x):
        found.append(outcome(lambda: f(x)))
        return x

    transform(inside, x)
    return found[0]


MODES = {
    "grad": lambda f, x: pb.grad(f)(x),
    "jvp": lambda f, x: pb.jvp(f, (x,), (1.0,)),
    "linearize": lambda f, x: pb.linearize(f, x),
    "hessian": lambda f, x: pb.hessian(f)(x),
    "grad of a tree": lambda f, x: pb.grad(lambda tree: f(tree["x"]))({"x": x}),
}


@pytest.mark.share(2)
@pytest.mark.parametrize("mode", MODES)
def test_it_is_as_without_a_transformation(mode):
    """3,000 expressions at five points."""
    wrong = []
    for seed in range(600):
        steps, f = expression(seed)
        for x in POINTS:
            plain = outcome(lambda x=x, f=f: f(x))
            if plain is AttributeError:
                continue  # a Python float has no `item`
            if not same(under(MODES[mode], f, x), plain):
                wrong.append((steps, x, plain, under(MODES[mode], f, x)))
    assert not wrong


# Python's powers of a float that is negative, by one that is no whole number.
COMPLEX = {
    "abs": lambda x: abs((-x) ** 0.5),
    "real part": lambda x: ((-x) ** 2.5 * (1 + 2j)).real,
    "imaginary part": lambda x: ((-x) ** -0.5).imag,
    "third root": lambda x: ((-x) ** (1 / 3)).real,
    "exponent": lambda x: ((-2.0) ** x).real,
    "size by exponent": lambda x: abs((-2.0) ** (x * 1.5 + 0.2)),
    "both": lambda x: ((-x) ** x).imag,
    "power of a power": lambda x: abs(((-x) ** 0.5 + 1) ** 1.5),
    "complex base": lambda x: (((-x) ** 0.5) ** 0.3).imag,
}


class TestDerivatives:
    @pytest.mark.parametrize("catch", [ZeroDivisionError, OverflowError])
    def test_what_is_caught(self, catch):
        def f(x):
            try:
                return 1.0 / x + (x + 1e200) ** 2
            except catch:
                return 7.0 * x

        x = 0.0 if catch is ZeroDivisionError else 1.0
        assert pb.grad(f)(x) == 7.0
        assert pb.jvp(f, (x,), (1.0,))[1] == 7.0
        assert pb.linearize(f, x)[1](1.0) == 7.0
        assert pb.jacobian(f)(x) == 7.0

    def test_powers_that_are_complex(self):
        f = lambda x: ((x**0.5) * (1 + 1j)).imag
        for mode in (pb.grad(f)(-4.0), pb.jvp(f, (-4.0,), (1.0,))[1]):
            np.testing.assert_allclose(mode, -0.25)

    @pytest.mark.parametrize("name", COMPLEX)
    def test_powers_that_are_complex_in_all_modes(self, name):
        """In each mode, of order one to three: those of the same function of complex numbers."""
        f, wrong = COMPLEX[name], []
        slope = lambda f: lambda x: pb.jvp(f, (x,), (1.0,))[1]
        modes = {
            "grad": pb.grad(f), "jvp": slope(f), "checkpoint": pb.grad(pb.checkpoint(f)),
            "vjp": lambda x: pb.vjp(f, x)[1](1.0)[0],
        }  # fmt: skip
        second = {
            "hessian": pb.hessian(f), "grad of grad": pb.grad(pb.grad(f)),
            "jvp of jvp": slope(slope(f)), "jvp of grad": slope(pb.grad(f)),
            "grad of jvp": pb.grad(slope(f)),
            "grad of checkpoint": pb.grad(pb.grad(pb.checkpoint(f))),
        }  # fmt: skip
        for x in (2.3, 0.7):
            h = 1e-5
            for order, table in ((f, modes), (modes["grad"], second)):
                near = order(x - 2 * h) - order(x + 2 * h) + 8 * (order(x + h) - order(x - h))
                for mode, found in table.items():
                    if not np.isclose(found(x), near / (12 * h), rtol=1e-6, atol=1e-6):
                        wrong.append((x, mode, found(x), near / (12 * h)))
        assert not wrong

    def test_gradients_are_of_double_precision(self):
        g = pb.grad(lambda x: (x * np.ones(3, np.float32)).sum())(2.0)
        assert (type(g), g) == (np.float64, 3.0)

    def test_results_are_numpys(self):
        value, slope = pb.value_and_grad(lambda x: x * x)(3.0)
        assert type(value) is type(slope) is np.float64
        out, aux = pb.grad(lambda x: (x * x, 2 * x), has_aux=True)(3.0)
        assert type(out) is type(aux) is np.float64
        assert type(pb.vjp(lambda x: x + 1, 3.0)[0]) is np.float64

    def test_a_cast_is_compiled_for_all_values(self):
        """`float(x)` is an operation, and makes no record for each value."""

        def f(x):
            return float(np.sum(x)) * 2.0 + 1.0

        compiled = pb.compile(f)
        for x in np.arange(12.0).reshape(6, 2):
            assert compiled(x) == f(x)
            assert type(compiled(x)) is float
        assert compiled.cache_info().paths == 1

    def test_functions_of_math_give_python_floats(self):
        seen = []
        narrow = np.ones(3, np.float32)
        pb.grad(lambda x: [seen.append((math.sin(x) * narrow).dtype), x][1])(1.0)
        assert seen == [np.float32]


@pytest.mark.parametrize("kind", [np.complex128, np.complex64, complex])
def test_complex_numbers_round_as_the_function_that_was_called(kind):
    """`abs(z)` and `z * w` of a number round otherwise than `np.abs(z)` and `np.multiply(z, w)`."""
    numbers = [kind(complex(np.sin(k), np.cos(k * k))) for k in range(1, 80)]
    for f in (abs, np.abs, np.exp, np.sqrt, np.conj, np.angle):
        for z in numbers:
            out, _ = pb.vjp(f, z)
            assert out == f(z), (f, z)
            assert type(out) is type(f(z)) or kind is complex
    for f in (operator.mul, np.multiply, operator.truediv, np.divide, np.power, np.add):
        for z, w in pairwise(numbers):
            assert pb.vjp(f, z, w)[0] == pb.vjp(lambda z, f=f, w=w: f(z, w), z)[0] == f(z, w), f
