"""Type tests in programs go the way that they go without pullback, wherever an Array is met."""

import functools
import numbers

import numpy as np
import pytest

import pullback as pb
from tests.contexts import UNMAPPED, everywhere, exact_type, under_grad, under_vmap
from tests.programs import kinds

PROGRAMS = {fun.__name__: (fun, args) for fun, args in kinds.PROGRAMS}
# The eager door has no rebinding, and NumPy's `asarray` and `array` do not hand on.
CONVERTING = {"made_an_array", "numpy_scalar_1d", "parts", "nested"}
each = pytest.mark.parametrize("name", PROGRAMS)


def both(args):
    """A batch of two: the arguments, and others beside them."""
    return [np.stack([x, 1.1 * x]) for x in args]


class TestPrograms:
    """What `tests/test_programs.py` does not do with the programs of kinds."""

    @each
    def test_vmap(self, name):
        fun, args = PROGRAMS[name]
        expected = [fun(*example) for example in zip(*both(args), strict=True)]
        np.testing.assert_allclose(pb.vmap(fun)(*both(args)), expected, rtol=1e-14)

    @each
    def test_gradients_of_a_batch(self, name):
        fun, args = PROGRAMS[name]
        n = tuple(range(len(args)))
        gradient = pb.grad(lambda *xs: np.sum(fun(*xs)), n)
        expected = [gradient(*example) for example in zip(*both(args), strict=True)]
        batches = [np.stack(parts) for parts in zip(*expected, strict=True)]
        inside = pb.vmap(gradient)(*both(args))
        outside = pb.grad(lambda *xs: np.sum(pb.vmap(fun)(*xs)), n)(*both(args))
        for bars in (inside, outside):
            for bar, right in zip(bars, batches, strict=True):
                np.testing.assert_allclose(bar, right, rtol=1e-12)

    @each
    def test_eager(self, name):
        fun, args = PROGRAMS[name]
        xs = [pb.array(x, requires_grad=True) for x in args]
        if name in CONVERTING:
            with pytest.raises(pb.ConversionError):
                fun(*xs)
            return
        out = fun(*xs)
        out.sum().backward()
        np.testing.assert_allclose(out.numpy(), fun(*args), rtol=1e-14)
        gradient = pb.grad(lambda *xs: np.sum(fun(*xs)), tuple(range(len(args))))
        for x, bar in zip(xs, gradient(*args), strict=True):
            np.testing.assert_allclose(x.grad, bar, rtol=1e-12)

    @each
    def test_hessian(self, name):
        fun, args = PROGRAMS[name]
        total = lambda *xs: np.sum(fun(*xs))
        gradient = pb.grad(total)
        x, rest, h = np.asarray(args[0]), args[1:], 1e-5
        directions = h * np.eye(x.size).reshape(x.size, *x.shape)
        columns = [
            (gradient((x + dot)[()], *rest) - gradient((x - dot)[()], *rest)) / (2 * h)
            for dot in directions
        ]
        expected = np.stack(columns, axis=-1).reshape(x.shape * 2)
        np.testing.assert_allclose(pb.hessian(total)(*args), expected, rtol=1e-6, atol=1e-8)


# Where a plain program has this, an Array inside has the same class.
EXPRESSIONS = {
    "itself": lambda x: x,
    "twice": lambda x: 2 * x,
    "negative": lambda x: -x,
    "sine": np.sin,
    "comparison": lambda x: x == x,
    "sum": np.sum,
    "method": lambda x: x.max(),
    "single": lambda x: x.astype(np.float32) if x.dtype.kind == "f" else x.astype(np.complex64),
    "complex": lambda x: x + 1j,
    "real part": lambda x: x.real,
    "where": lambda x: np.where(x == x, x, 0.0),
    "empty key": lambda x: x[()],
    "ellipsis": lambda x: x[...],
    "new axis": lambda x: x[None],
    "new axis and back": lambda x: x[None][0],
    "copy": lambda x: x.copy(),
    "np.copy": np.copy,
    "zeros": np.zeros_like,
    "ravel": np.ravel,
    "element": lambda x: np.ravel(x)[0],
    "flat": lambda x: x.flat[0],
    "norm": lambda x: np.linalg.norm(x),
    "squeeze": np.squeeze,
    "reduce": lambda x: np.add.reduce(np.ravel(x)),
    "element, as an array": lambda x: np.ravel(x)[0, ...],
    "product": lambda x: np.dot(x, x),
}
VALUES = {
    "float": 1.5,
    "float64": np.float64(1.5),
    "float32": np.float32(1.5),
    "vector": np.array([1.5, 2.5]),
    "matrix": np.array([[1.5, 2.5], [3.5, 4.5]]),
}


def classes(x):
    return {name: f(x).__class__ for name, f in EXPRESSIONS.items()}


class TestClasses:
    """`x.__class__`, which `isinstance`, `singledispatch` and `match` ask for."""

    @everywhere
    @pytest.mark.parametrize("value", VALUES.values(), ids=list(VALUES))
    def test_they_are_those_of_the_plain_program(self, value, within):
        plain = np.asarray(value)[()]
        found = {}
        within(lambda x: found.update(classes(x)), plain)
        assert found == classes(plain)

    @pytest.mark.parametrize(
        "value", [np.complex128(1.5 + 1j), np.complex64(1.5), np.array([1j, 2.0])]
    )
    def test_of_complex_numbers_too(self, value):
        found = {}
        pb.vjp(lambda z: found.update(classes(z)) or z, value)
        assert found == classes(value)

    @pytest.mark.parametrize("within", UNMAPPED.values(), ids=list(UNMAPPED))
    def test_an_array_without_axes_is_an_array(self, within):
        value = np.array(1.5)
        eager = within in (UNMAPPED["eager leaf"], UNMAPPED["eager result"])

        def body(x):
            # `pb.array` makes a number of it, as every operation of NumPy's does.
            assert isinstance(x, np.ndarray) is not eager
            assert isinstance(x, float) is eager
            assert isinstance(2 * x, float)
            assert isinstance(np.array(2.0) * x, np.float64)
            assert isinstance(np.where(x > 0, x, 0.0), np.ndarray)

        within(body, value)

    def test_the_type_is_ours_all_the_same(self):
        """`type(x) is float` is false: only what asks for the class is answered."""

        def body(x):
            assert exact_type(x) is pb.Array
            assert isinstance(x, pb.Array)
            assert not issubclass(pb.Array, (float, np.ndarray, np.generic))

        under_grad(body, 1.5)
        under_vmap(body, np.float64(1.5))

    def test_where_it_is_rebound(self):
        """NumPy's types inside are equal to those outside, and so are the classes of Arrays."""

        def f(x):
            assert x.__class__ == np.float64
            assert isinstance(x, np.float64)
            assert isinstance(x, (np.float32, np.float64))
            assert not isinstance(x, np.float32)
            assert not isinstance(x, np.ndarray)
            assert {np.float64: 1, np.ndarray: 2}[x.__class__] == 1
            match x:
                case np.float32() | np.ndarray():
                    return x
                case np.float64():
                    return 3 * x

        assert pb.grad(f)(np.float64(1.5)) == 3.0
        with pb.rebinding(False):
            assert pb.grad(f)(np.float64(1.5)) == 3.0

    @pytest.mark.parametrize("rebound", [True, False])
    def test_a_python_float_is_one(self, rebound):
        def f(x):
            assert x.__class__ is float
            assert isinstance(x, float)
            assert not isinstance(x, (np.float64, np.ndarray))
            match x:
                case np.float64() | np.ndarray():
                    return x
                case float():
                    return 3 * x

        with pb.rebinding(rebound):
            assert pb.grad(f)(1.5) == 3.0

    def test_numbers(self):
        """The abstract classes of `numbers` know NumPy's scalars, and so ours."""
        names = ("Number", "Complex", "Real", "Rational", "Integral")

        def answers(x):
            return [isinstance(x, getattr(numbers, name)) for name in names]

        for value in (1.5, np.float32(1.5), np.complex128(1j), np.ones(2)):
            seen = []
            pb.vjp(lambda x, seen=seen: seen.append(answers(x)) or x, value)
            assert seen == [answers(value)]
        pb.vmap(lambda n: seen.append(answers(n)) or n)(np.arange(3))
        assert seen[-1] == answers(np.int64(3))
        pb.vmap(lambda x: seen.append(isinstance(x > 0, np.bool_)) or x)(np.ones(2))
        assert seen[-1]

    def test_integers_and_truth_values_of_a_batch_are_mapped(self):
        """A number of a batch is no static leaf, whatever its class is."""
        out = pb.vmap(lambda x: {"positive": x > 0, "n": np.argmax([x, 1 - x])})(
            np.array([2.0, -1.0])
        )
        np.testing.assert_array_equal(out["positive"], [True, False])
        np.testing.assert_array_equal(out["n"], [0, 1])

    def test_an_integer_counts_as_a_float(self):
        """SEMANTICS: a Python int that is differentiated counts as float, also for its class."""
        assert pb.grad(lambda n: 2 * n if isinstance(n, float) else n)(3) == 2.0


class TestLibraries:
    """Type tests in modules that are not rebound: of the standard library, and of NumPy."""

    def test_fractions(self):
        from fractions import Fraction

        half = Fraction(1, 2)
        for f in (lambda x: half * x + x / half, lambda x: half**x - half, lambda x: x % half):
            h = 1e-6
            expected = (f(1.3 + h) - f(1.3 - h)) / (2 * h)
            assert pb.grad(f)(1.3) == pytest.approx(expected, rel=1e-7)

    @pytest.mark.parametrize("rebound", [True, False])
    def test_polynomials_of_numpy(self, rebound):
        """They ask whether what they are given is a number or a list."""
        p = np.polynomial.Chebyshev([1.0, 2.0, 3.0])
        with pb.rebinding(rebound):
            if rebound:
                assert pb.grad(lambda x: p(x))(0.5) == pytest.approx(p.deriv()(0.5))
            if rebound or np.lib.NumpyVersion(np.__version__) >= "2.1.0":  # all became arrays
                x = np.float64(0.5)
                assert pb.grad(lambda x: p(x))(x) == pytest.approx(p.deriv()(x))
            assert pb.grad(lambda x: (np.poly1d([1.0, 2.0]) / x)(3.0))(2.0) == -1.25

    def test_vectorized_functions(self):
        def positive(v):
            return v**2 if isinstance(v, float) else 0 * v

        x = np.array([1.0, 2.0])
        whole = lambda x: np.sum(np.vectorize(positive)(x))
        np.testing.assert_array_equal(pb.grad(whole)(x), 2 * x)
        np.testing.assert_array_equal(pb.vmap(np.vectorize(positive))(x), x**2)
        np.testing.assert_array_equal(pb.vmap(pb.grad(whole))(x), 2 * x)

    def test_partial_dispatch(self):
        """A registry that is made inside, and one outside whose functions are rebound."""

        def f(x):
            @functools.singledispatch
            def rule(v):
                return 100 * v

            rule.register(float, lambda v: np.array([v, 2 * v]).sum())
            return rule(x)

        assert pb.grad(f)(1.3) == 3.0
