"""What the samples cannot say of the elementwise functions."""

import inspect
import itertools
import warnings
from fractions import Fraction

import numpy as np
import pytest

import pullback as pb
from pullback import grad, jacobian, jvp, vjp, vmap
from pullback.core.array import Array
from pullback.core.errors import ArgumentError, ConversionError, UnsupportedKeywordError
from pullback.core.registry import FUNCTIONS, UFUNCS
from pullback.primitives.special import bessel_p, sinc_p

UNDATED = {np.isnat}  # of dates only
REPLACED = [
    np.allclose, np.angle, np.around, np.array_equal, np.array_equiv, np.clip, np.fix, np.i0,
    np.imag, np.isclose, np.iscomplex, np.iscomplexobj, np.isneginf, np.isposinf, np.isreal,
    np.isrealobj, np.nan_to_num, np.piecewise, np.real, np.real_if_close, np.round, np.select,
    np.sinc,
]  # fmt: skip


class TestCompleteness:
    """NumPy's functions are all there, as NumPy has them."""

    def test_every_ufunc(self):
        """Each ufunc of NumPy's namespace has a primitive or a composition."""
        ufuncs = {f for f in vars(np).values() if isinstance(f, np.ufunc)} - UNDATED
        assert {f.__name__ for f in ufuncs if f not in UFUNCS and f not in FUNCTIONS} == set()

    @pytest.mark.parametrize("function", REPLACED)
    def test_signatures(self, function):
        """The names and kinds of parameters are NumPy's."""
        if function is np.clip and np.lib.NumpyVersion(np.__version__) < "2.1.0":
            pytest.skip("NumPy 2.1 has given it new ones")
        assert str(inspect.signature(FUNCTIONS[function])) == str(inspect.signature(function))


@pytest.mark.usefixtures("protocols_alone")
class TestResults:
    """What carries no derivative is plain, what is floating is an Array."""

    def test_truth_values_are_plain(self):
        """Comparisons, predicates and exponents are plain under grad and jvp."""

        def f(x):
            for plain in (x > 0, x == 1, np.isnan(x), np.signbit(x), np.isclose(x, 1)):
                assert type(plain) is np.ndarray
                assert plain.dtype == bool
            assert type(np.allclose(x, x)) is bool
            assert type(np.array_equal(x, x)) is bool
            assert type(np.iscomplexobj(x)) is bool
            mantissa, exponent = np.frexp(x)
            assert type(mantissa) is Array
            assert type(exponent) is np.ndarray
            return x.sum()

        grad(f)(np.ones(2))
        jvp(f, (np.ones(2),), (np.ones(2),))

    def test_steps_are_arrays(self):
        """floor, sign, round and // are locally constant, and Arrays."""

        def f(x):
            for out in (np.floor(x), np.sign(x), np.round(x, 1), x // 2, np.modf(x)[1], np.fix(x)):
                assert type(out) is Array
            return x.sum()

        grad(f)(np.ones(2))

    def test_where_of_one_argument(self):
        """where(condition) gives the plain indices."""
        np.testing.assert_array_equal(
            grad(lambda x: x[np.where(x > 1)].sum())(np.array([0.5, 2.0, 3.0])), [0, 1, 1]
        )

    def test_real_if_close(self):
        """It asks for values, so that vmap refuses it where the answers differ."""
        z = np.array([[1.0 + 1e-20j], [2.0]])
        assert vjp(np.real_if_close, z)[0].dtype == np.float64
        assert vjp(np.real_if_close, z + 1j)[0].dtype == np.complex128
        with pytest.raises(ConversionError, match="mapped"):
            vmap(np.real_if_close)(z + 1j * np.array([[0.0], [1.0]]))
        assert vmap(np.real_if_close)(z).dtype == np.float64


class TestPrecision:
    """A partial is as precise as the result, whatever an operand was read in."""

    @pytest.mark.parametrize("fun", [np.power, np.hypot, np.arctan2, np.logaddexp, np.divide])
    def test_of_mixed_operands(self, fun):
        """A float32 operand counts as float64 beside another."""
        x, y = np.array([0.7, 1.3], np.float32), np.array([1.1, 0.4])
        for a, b in ((x, y), (x[0], y[0])):
            for f in (fun, lambda a, b: fun(b, a)):
                rough, exact = [
                    grad(lambda b, a=a, f=f: np.sum(f(a, b)))(b) for a in (a, np.float64(a))
                ]
                np.testing.assert_allclose(rough, exact, rtol=1e-14)


class TestIntegersUnderVmap:
    """Integer and boolean Arrays occur under vmap, and are computed with as NumPy does it."""

    N = np.array([1, 5, 12])

    @pytest.mark.parametrize(
        "f",
        [
            lambda n: n + 1,
            lambda n: n / 2,
            lambda n: n // 2 + n % 5,
            lambda n: n**2,
            lambda n: np.sqrt(n),
            lambda n: np.gcd(n, 10) + np.lcm(n, 2),
            lambda n: (n << 2) | (n >> 1) ^ 3 & n,
            lambda n: ~n,
            lambda n: np.bitwise_count(n),
            lambda n: np.sign(n) * abs(-n),
            lambda n: np.maximum(n, 4),
            lambda n: np.clip(n, 2, 6),
            lambda n: np.where(n > 2, n, 0),
            lambda n: np.logical_and(n > 2, n < 7),
            lambda n: np.round(n, 1),
            lambda n: np.ldexp(1.5, n),
            lambda n: divmod(n, 4)[1],
            lambda n: np.sinc(n),
            lambda n: np.i0(n),
            lambda n: np.nan_to_num(n),
            lambda n: np.isclose(n, 5),
            lambda n: np.select([n > 5, n > 2], [n, -n], 7),
            lambda n: np.piecewise(n, [n > 2], [lambda n: 2 * n, 0]),
            lambda n: np.conj(n) + np.real(n) + np.imag(n),
            lambda n: np.heaviside(n, 1),
            lambda n: np.float_power(n, 2),
            lambda n: np.allclose(n, 5),
        ],
    )
    def test_like_numpy(self, f):
        """One call for the batch is a loop over its elements."""
        out, expected = vmap(f)(self.N), np.array([f(n) for n in self.N])
        np.testing.assert_allclose(out, expected)
        assert out.dtype == expected.dtype


class TestOperands:
    def test_fractions_are_numbers(self):
        third = Fraction(1, 3)
        for f in (lambda x: third * x, lambda x: x * third, lambda x: x - third + third / 3 * x):
            assert vjp(f, 2.0)[0] == f(2.0)
        assert grad(lambda x: third * x)(2.0) == 1 / 3
        np.testing.assert_allclose(grad(lambda x: np.multiply(x, third) ** third)(24.0), 1 / 36)


class TestRefusals:
    """What cannot be done says why, and what to write."""

    def test_where_without_out(self):
        """A mask without a target leaves elements undefined, which truth values cannot show."""
        with pytest.raises(UnsupportedKeywordError) as caught:
            grad(lambda x: (np.greater(x, 1, where=x > 2) * x).sum())(np.ones(2))
        assert str(caught.value) == (
            "`numpy.greater` was given `where=`, which without `out=` leaves the elements"
            " outside the mask undefined; of integers and truth values none can say so."
            "\n  Write `numpy.where(mask, numpy.greater(...), other)` instead."
        )

    def test_where_that_leaves_nothing_out(self):
        """Then nothing is undefined."""
        f = lambda x: (np.greater(x, 1, where=x > 0) * x).sum()
        np.testing.assert_array_equal(grad(f)(np.array([0.5, 2.0])), [0.0, 1.0])
        assert jvp(f, (2.0,), (1.0,))[1] == 1.0

    def test_where_without_out_of_floats(self):
        """What is undefined is NaN, and a program that leaves it out has its derivative."""

        def f(x):
            angle = np.arctan(np.divide(1.0, x, where=x != 0))
            whole, part = np.divmod(x, 1.5, where=x > 1)
            return np.where(x != 0, angle, 0.0).sum() + part[1] * whole[2]

        x = np.array([0.0, 2.0, 4.0])
        np.testing.assert_allclose(grad(f)(x), [0, -1 / 5 + 2, -1 / 17])
        np.testing.assert_allclose(pb.compile(grad(f))(x), grad(f)(x))
        np.testing.assert_allclose(jacobian(lambda x: np.sqrt(x, where=x > 3))(x)[2, 2], 0.25)
        np.testing.assert_array_equal(
            vmap(lambda x: np.sqrt(x, where=x > 3))(x), [np.nan] * 2 + [2]
        )

    def test_where_with_out_warns_of_nothing_else(self):
        """What the mask leaves out is not computed, as far as anybody sees."""

        def f(x):
            return np.divide(1.0, x, out=np.zeros_like(x), where=x != 0)

        np.testing.assert_array_equal(jacobian(f)(np.array([0.0, 2.0])), [[0, 0], [0, -0.25]])

    @pytest.mark.parametrize("ufunc", [np.modf, np.divmod])
    def test_results_beside_out_have_its_shape(self, ufunc):
        """All results of a ufunc have one shape, that of the largest `out=` as well."""
        xs = np.array([[0.7, 1.6, 2.2], [3.1, 0.2, 1.4]])
        for given, shape in itertools.product((0, 1), ((3,), (2, 3), (4, 1, 3))):

            def f(x, given=given, shape=shape):
                outs = [None, None]
                outs[given] = np.ones(shape)
                a, b = ufunc(*(x, 0.5)[: ufunc.nin], out=tuple(outs))
                return np.stack([a, b * b])

            for x in xs:
                value, pull = pb.vjp(f, x)
                assert value.shape == f(x).shape
                np.testing.assert_array_equal(value, f(x))
                slope = pull(np.ones_like(value))[0]  # whole numbers have none
                rest = np.sum(2 * np.sqrt(value[1]).reshape(-1, 3), 0)
                whole = np.full(3, np.prod(shape) / 3)
                np.testing.assert_allclose(slope, rest if ufunc is np.divmod else whole)
            np.testing.assert_array_equal(vmap(f)(xs), [f(x) for x in xs])
            np.testing.assert_array_equal(pb.compile(f, wait=True)(xs[0]), f(xs[0]))

    def test_at(self):
        """ufunc.at is an assignment: nothing is written into a plain array."""
        plain = np.ones(2)
        with pytest.raises(ArgumentError, match=r"`numpy.add.at` was asked to write"):
            grad(lambda x: np.add.at(plain, 0, x))(1.0)


class TestFamilies:
    """Functions whose derivatives are a family of their own."""

    def test_bessel(self):
        """I_n is accurate to rounding, for small and large x."""
        special = pytest.importorskip("scipy.special")
        x = np.array([0.0, 1e-8, 0.01, -1.0, 7.9, 8.1, -30.0, 100.0, 600.0])
        for n in range(5):
            np.testing.assert_allclose(bessel_p(x, order=n), special.iv(n, x), rtol=3e-15)

    def test_sinc(self):
        """The series and the recurrence meet where one follows the other."""
        for n in range(1, 6):
            near = (n + 1) / np.pi + np.array([-1e-9, 1e-9])
            low, high = sinc_p(near, order=n)
            np.testing.assert_allclose(low, high, atol=1e-6 * np.pi**n)
            slope = sinc_p(near.mean(), order=n + 1)
            np.testing.assert_allclose(high - low, 2e-9 * slope, atol=1e-13 * np.pi**n)


def test_infinities_that_are_close_do_not_warn():
    """NumPy takes their difference in silence; so does each transformation."""
    x = np.array([np.inf, 1.0, -np.inf])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isclose(x, x).all()
        pb.vjp(lambda x: x * np.isclose(x, x) * np.allclose(x, [np.inf, 1, -np.inf]), x)
        pb.vmap(lambda x: np.isclose(x, x))(np.stack([x, x]))
        pb.compile(lambda x: np.isclose(x, x))(x)
