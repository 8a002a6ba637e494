"""`pullback.numpy`: every name of NumPy, right on plain arguments and on Arrays of every trace."""

import doctest
import functools
import inspect
import pickle
import subprocess
import sys

import numpy as np
import pytest

import pullback as pb
import pullback.numpy as pnp
from pullback.core.tree import flatten, unflatten
from pullback.numpy.drawing import DRAWING
from pullback.numpy.wrapping import member
from pullback.testing import Problem
from tests.contexts import exact_type
from tests.namespaces import assert_same, check
from tests.samples import collect

V = np.array([0.5, 1.5, 2.5])


def public(module):
    return [name for name in dir(module) if not name.startswith("_")]


def text_before_notes(function):
    """The docstring with its parameters and results, as far as it is NumPy's alone."""
    text = inspect.getdoc(function) or ""
    return text.partition("\nNotes\n")[0].partition("\nReferences\n")[0]


class TestNames:
    """The namespace is complete, and its things look like NumPy's."""

    @pytest.mark.parametrize("path", ["", "linalg", "fft", "random", "polynomial"])
    def test_every_public_name_is_there(self, path):
        ours, theirs = (getattr(m, path) if path else m for m in (pnp, np))
        assert set(theirs.__all__) <= set(dir(ours)) == set(dir(ours)) & set(dir(theirs))
        for name in [*theirs.__all__, *public(theirs)]:
            assert hasattr(ours, name), name

    def test_polynomial(self):
        assert set(np.polynomial.polynomial.__all__) == set(dir(pnp.polynomial.polynomial))
        assert pnp.polynomial.chebyshev is np.polynomial.chebyshev

    def test_its_own_text(self):
        text = doctest.DocTestParser().get_doctest(pnp.__doc__, {}, "pullback.numpy", None, None)
        assert doctest.DocTestRunner().run(text).failed == 0

    def test_star_import(self):
        space = {}
        exec("from pullback.numpy import *", space)
        assert set(np.__all__) <= set(space)

    def test_import_of_submodules(self):
        import pullback.numpy.fft
        import pullback.numpy.linalg
        import pullback.numpy.polynomial.polynomial
        from pullback.numpy.linalg import norm
        from pullback.numpy.random import default_rng

        assert pullback.numpy.linalg.norm is norm
        assert pullback.numpy.random.default_rng is default_rng
        assert pullback.numpy.fft is pnp.fft

    def test_what_is_not_there(self):
        for module in (pnp, pnp.linalg, pnp.fft, pnp.random):
            for name in ("no_such_name", "_private", "__wrapped__"):
                with pytest.raises(AttributeError, match=name):
                    getattr(module, name)

    def test_constants_dtypes_and_classes_are_numpys(self):
        names = ("pi", "inf", "newaxis", "dtype", "ndarray", "generic", "floating", "errstate",
                 "matrix", "memmap", "ma", "lib", "exceptions", "s_", "index_exp",
                 "finfo", "iinfo", "True_", "flatiter")  # fmt: skip
        for name in names:
            assert getattr(pnp, name) is getattr(np, name)
        assert pnp.linalg.LinAlgError is np.linalg.LinAlgError
        assert np.isnan(pnp.nan)

    def test_other_names_of_a_thing_are_the_same_thing(self):
        assert pnp.abs is pnp.absolute
        assert pnp.concat is pnp.concatenate
        assert pnp.double is pnp.float64

    @pytest.mark.parametrize("path", ["", "linalg", "fft"])
    def test_signature_name_and_text(self, path):
        ours, theirs = (getattr(m, path) if path else m for m in (pnp, np))
        for name in theirs.__all__:
            mine, real = getattr(ours, name), getattr(theirs, name)
            if mine is real or not callable(real):
                continue
            assert mine.__name__ == real.__name__
            # SciPy, when it is imported, adds to the notes of some of NumPy's functions.
            assert text_before_notes(mine) == text_before_notes(real), name
            try:
                signature = inspect.signature(real)
            except ValueError:
                continue
            if not isinstance(real, type):
                assert inspect.signature(mine) == signature, name

    @pytest.mark.parametrize(
        "name", ["sin", "add", "sum", "zeros", "array", "float64", "bool", "vectorize"]
    )
    def test_pickle(self, name):
        thing = getattr(pnp, name)
        assert pickle.loads(pickle.dumps(thing)) is thing

    def test_it_is_lazy(self):
        script = (
            "import sys, pullback; assert 'pullback.numpy' not in sys.modules;"
            "assert pullback.numpy.zeros(3).sum() == 0; assert 'pullback.numpy' in sys.modules;"
            "assert 'numpy.random' not in sys.modules or 'pullback.numpy.random' not in sys.modules"
        )
        subprocess.check_call([sys.executable, "-c", script])


def numpy_samples():
    """Samples of a function of NumPy's that is another one here."""
    for _, sample in collect("SAMPLES"):
        module = getattr(sample.fun, "__module__", None) or "numpy"
        if module.startswith("numpy") and not hasattr(sample.fun, "__self__"):
            yield from [sample] if member(sample.fun) is not sample.fun else []


NUMPY_SAMPLES = list(numpy_samples())


class TestTheSampleDatabase:
    """All samples of NumPy's functions, called through the namespace."""

    def test_there_are_many(self):
        assert len(NUMPY_SAMPLES) > 1000

    @pytest.mark.filterwarnings("ignore")  # NumPy's, of odd numbers
    def test_plain_arguments(self):
        for sample in NUMPY_SAMPLES:
            out = member(sample.fun)(*sample.args, **sample.kwargs)
            assert_same(out, sample.fun(*sample.args, **sample.kwargs))

    @pytest.mark.share(2)
    @pytest.mark.filterwarnings("ignore")  # NumPy's, of odd numbers
    def test_arrays(self):
        """Values and cotangents are those of NumPy's function with Arrays."""
        for sample in NUMPY_SAMPLES:
            problem = Problem(sample)
            if not problem.xs:
                continue

            def call(fun, *xs, sample=sample, problem=problem):
                leaves = list(problem.leaves)
                for i, x in zip(problem.positions, xs, strict=True):
                    leaves[i] = x
                out = flatten(fun(*unflatten(problem.structure, leaves), **sample.kwargs))[0]
                return [y for y in out if hasattr(y, "dtype") and y.dtype.kind in "fc"]

            results = []
            for fun in (sample.fun, member(sample.fun)):
                out, pullback = pb.vjp(functools.partial(call, fun), *problem.xs)
                results.append((out, pullback([np.ones_like(y) for y in out])))
            assert_same(*results)


MAKERS = {
    "zeros": lambda np: np.zeros((2, 3), dtype="f4"),
    "zeros of an int": lambda np: np.zeros(3, int),
    "ones": lambda np: np.ones(3, order="F"),
    "full": lambda np: np.full((2, 2), 1 + 2j),
    "eye": lambda np: np.eye(2, 3, 1),
    "identity": lambda np: np.identity(2),
    "tri": lambda np: np.tri(3),
    "arange": lambda np: np.arange(3),
    "arange of floats": lambda np: np.arange(0.0, 1.0, 0.25),
    "linspace": lambda np: np.linspace(0, 1, 5),
    "logspace": lambda np: np.logspace(0, 1, 5),
    "geomspace": lambda np: np.geomspace(1, 8, 4),
    "indices": lambda np: np.indices((2, 2)),
    "meshgrid": lambda np: np.meshgrid(V, [1.0, 2.0])[1],
    "array of a list": lambda np: np.array([[1, 2], [3, 4]]),
    "array of nested tuples": lambda np: np.array(((1.0,), (2.0,)), ndmin=3),
    "array of an array": lambda np: np.array(V),
    "array of a number": lambda np: np.array(2.0),
    "asarray of a list": lambda np: np.asarray([1.0, 2.0]),
    "asarray of a number": lambda np: np.asarray(2),
    "asarray with a dtype": lambda np: np.asarray(V, dtype="f4"),
    "asanyarray": lambda np: np.asanyarray([1.0]),
    "ascontiguousarray": lambda np: np.ascontiguousarray(np.ones((2, 2))[:, :1]),
    "asfortranarray": lambda np: np.asfortranarray([[1.0, 2.0]]),
    "require": lambda np: np.require([1.0], "f4"),
    "fromiter": lambda np: np.fromiter((i * i for i in range(4)), float, 3),
    "fromfunction": lambda np: np.fromfunction(lambda i, j: i + j, (2, 2)),
    "fromstring": lambda np: np.fromstring("1 2", sep=" "),
    "zeros_like": lambda np: np.zeros_like(V),
    "full_like": lambda np: np.full_like(V, 2),
    "empty_like": lambda np: np.empty_like(V) * 0,
    "copy": lambda np: np.copy(V),
    "diag": lambda np: np.diag(V),
    "tril": lambda np: np.tril(np.ones((3, 3))),
    "concatenate": lambda np: np.concatenate([V, [1.0]]),
    "stack": lambda np: np.stack([V, V]),
    "block": lambda np: np.block([[V, V], [V, V]]),
    "tile": lambda np: np.tile(V, 2),
    "pad": lambda np: np.pad(V, 1),
    "hanning": lambda np: np.hanning(4),
    "fftfreq": lambda np: np.fft.fftfreq(4),
    "r_": lambda np: np.r_[1:3, 0.5, V],
    "c_": lambda np: np.c_[V, V],
    "mgrid": lambda np: np.mgrid[0:2, 0:1:3j],
    "ogrid": lambda np: np.ogrid[0:2, 0:3][1],
    "random": lambda np: np.random.default_rng(3).normal(size=3),
    "rand": lambda np: [np.random.seed(3), np.random.rand(2)][1],
    "from_dlpack": lambda np: np.copy(np.from_dlpack(np.ones(2))),
}


class TestCreation:
    """What makes an array makes a constant Array, with NumPy's aliasing."""

    @pytest.mark.parametrize("make", MAKERS.values(), ids=list(MAKERS))
    def test_constants(self, make):
        out, real = make(pnp), make(np)
        assert exact_type(out) is pb.Array
        assert isinstance(out, np.ndarray)
        assert_same(out, real)
        assert_same(np.asarray(out), real)
        if real.dtype.kind == "f":

            def f(x):
                z = make(pnp)
                z[...] = x
                return np.sum(z)

            assert pb.grad(f)(2.0) == real.size

    def test_other_arrays_stay_numpys(self):
        for make in (
            lambda np: np.array(["a", "b"]),
            lambda np: np.array([None, 1]),
            lambda np: np.zeros(2, object),
            lambda np: np.array("2020-01-01", dtype="datetime64[D]"),
            lambda np: np.zeros(2, [("x", float)]),
        ):
            assert type(make(pnp)) is np.ndarray
            np.testing.assert_array_equal(make(pnp), make(np))

    def test_what_is_not_copied_stays_the_callers(self):
        """A plain array is not written into; NumPy's aliasing is kept, or it is loud."""
        for look in (
            pnp.asarray,
            pnp.asanyarray,
            pnp.ascontiguousarray,
            lambda x: pnp.array(x, copy=None),
            lambda x: pnp.asarray(x, dtype=float),
            lambda x: pnp.atleast_1d(x),
        ):
            assert look(V) is V
        square = np.ones((2, 2))
        assert np.shares_memory(pnp.diag(square), square)
        assert np.shares_memory(pnp.meshgrid(V, V, copy=False)[1], V)
        assert exact_type(pnp.asfortranarray(square)) is pb.Array
        assert np.shares_memory(pnp.frombuffer(square), square)

    def test_arrays_pass_through(self):
        x = pb.array(V)
        assert pnp.asarray(x) is x
        assert pnp.asarray(x, dtype=float) is x
        assert pnp.array(x) is not x
        copy = pnp.array(x, ndmin=2)
        copy[0, 0] = 7.0
        assert x[0] == 0.5

    def test_like_is_numpys(self):
        x = pb.array(V, requires_grad=True)
        assert pnp.zeros(2, like=x).within is x.within
        assert pnp.full(2, x[0], like=x).within is x.within
        assert exact_type(pnp.zeros(2, like=V)) is pb.Array

    def test_errors_are_numpys(self):
        for call in (
            lambda np: np.zeros(-1),
            lambda np: np.array([[1.0], [1.0, 2.0]]),
            lambda np: np.zeros(),
            lambda np: np.arange(),
            lambda np: np.array([1.0], copy=False),
            lambda np: np.ones(2, no_such_keyword=1),
        ):
            with pytest.raises((ValueError, TypeError)) as real:
                call(np)
            with pytest.raises(real.type, match=None) as ours:
                call(pnp)
            assert str(ours.value) == str(real.value)

    def test_sizes_may_be_arrays(self):
        n = pb.array(2)
        for make in (
            lambda np, n: np.zeros(n),
            lambda np, n: np.zeros((n, 3)),
            lambda np, n: np.full((n,), 1.0),
            lambda np, n: np.arange(n),
            lambda np, n: np.linspace(0, 1, n),
            lambda np, n: np.eye(n),
            lambda np, n: np.reshape(np.ones(4), (n, -1)),
            lambda np, n: np.reshape(V[:2], (n, 1)),
            lambda np, n: np.tile(V, (n, 1)),
            lambda np, n: np.repeat(V, n),
            lambda np, n: np.sum(np.ones((2, 2, 2)), axis=n),
        ):
            assert_same(make(pnp, n), make(np, 2))


TYPES = [np.dtype(code).type for code in "?bhilqBHILQefdgFDG"]


class TestScalarTypes:
    """`np.float64` is what it was, but called with an Array it keeps the derivative."""

    @pytest.mark.parametrize("real", TYPES)
    def test_it_is_numpys_type(self, real):
        kind = member(real)
        assert kind == real
        assert real == kind
        assert {real: 1}[kind] == 1
        assert isinstance(real(1), kind)
        assert type(kind(1)) is real
        assert issubclass(kind, np.generic)
        assert issubclass(real, kind)
        assert np.dtype(kind) == np.dtype(real)
        assert np.zeros(1, real).dtype == kind
        assert np.zeros(1, kind).dtype == real
        assert np.issubdtype(real, kind)
        assert np.issubdtype(kind, real)
        assert np.isdtype(np.dtype(real), kind)
        assert np.can_cast(kind, np.complex128) == np.can_cast(real, np.complex128)
        assert np.result_type(kind, np.float32) == np.result_type(real, np.float32)
        assert repr(kind) == repr(real)
        assert np.dtype([("a", kind)]) == np.dtype([("a", real)])

    def test_not_another_type(self):
        assert pnp.float64 != np.float32
        assert not isinstance(np.float32(1), pnp.float64)
        assert isinstance(np.float64(1), pnp.floating)
        assert np.finfo(pnp.float32).bits == 32
        assert np.iinfo(pnp.int8).max == 127

    def test_match(self):
        match np.float64(2.0):
            case pnp.float32():
                raise AssertionError
            case pnp.float64():
                pass

    def test_classes_that_derive_from_it(self):
        class Metre(pnp.float64):
            pass

        assert type(Metre(2.0)) is Metre
        assert isinstance(Metre(2.0), pnp.float64)
        assert not isinstance(np.float64(2.0), Metre)
        assert Metre != np.float64

    def test_calls(self):
        check(lambda np, x: np.float64(x[0]) * x, V)
        check(lambda np, x: np.complex128(x) ** 2, V)
        check(lambda np, x: np.longdouble(x[1]).astype(float), V)
        assert pb.grad(lambda x: pnp.float32(x) * 3)(2.0) == 3.0
        assert pb.grad(lambda x: pnp.int64(x) * x)(2.5) == 2.0
        assert pb.grad(lambda x: pnp.bool(x) * x)(2.5) == 1.0
        np.testing.assert_array_equal(pb.vmap(pnp.int64)(V), [0, 1, 2])
        assert pnp.float64("2.5") == 2.5
        assert pnp.complex128(1, 2) == 1 + 2j


class TestUfuncs:
    """Ufuncs have all that NumPy's have."""

    def test_it_is_numpys_ufunc(self):
        assert isinstance(pnp.sin, np.ufunc)
        assert isinstance(pnp.sin, pnp.ufunc)
        assert pnp.sin == np.sin
        assert {np.sin: 1}[pnp.sin] == 1
        assert (pnp.add.nin, pnp.add.nout, pnp.add.identity) == (2, 1, 0)
        assert repr(pnp.sin) == "<ufunc 'sin'>"
        assert pnp.sin != np.cos
        assert callable(pnp.add)

    def test_plain_arguments(self):
        out = np.empty(3)
        assert pnp.sin(V, out) is out
        np.testing.assert_array_equal(out, np.sin(V))
        assert pnp.add(V, 1.0, out=out) is out
        np.testing.assert_array_equal(pnp.sin(V, where=V > 1, out=np.zeros(3))[0], 0.0)
        assert pnp.add(1, 2, dtype=float) == 3.0
        assert type(pnp.sin(1.0)) is np.float64
        assert pnp.add([1, 2], 3).tolist() == [4, 5]
        assert pnp.divmod(7, 2) == (3, 1)
        with pytest.raises(TypeError):
            pnp.sin()
        with pytest.raises(TypeError):
            pnp.sin("word")

    def test_arrays(self):
        check(lambda np, x: np.sin(x), V)
        check(lambda np, x: np.add(x, x[0]) * np.power(2.0, x), V)
        check(lambda np, x: np.modf(x)[0] * x, V)
        check(lambda np, x: np.divmod(x, 0.7)[1], V)
        check(lambda np, x: np.add.reduce(x) * np.multiply.accumulate(x), V)
        check(lambda np, x: np.add.reduceat(x, [0, 1]) ** 2, V)
        check(lambda np, x: np.sin(x, dtype=float), V)

    def test_in_place(self):
        def f(x):
            z = pnp.zeros(3)
            pnp.multiply(x, x, out=z)
            pnp.add.at(z, [0, 0], x[0])
            return pnp.sum(z)

        np.testing.assert_array_equal(pb.grad(f)(V), 2 * V + [2, 0, 0])

    def test_as_an_argument(self):
        assert functools.reduce(pnp.add, [1, 2, 3]) == 6
        assert pb.grad(pnp.sin)(0.0) == 1.0
        np.testing.assert_array_equal(pb.vmap(pnp.add)(V, V), 2 * V)
        assert pb.elementwise_grad(pnp.exp)(0.0) == 1.0

    def test_cupy_like_operands_are_left_to_themselves(self):
        class Foreign:
            __array_ufunc__ = None

            def __radd__(self, other):
                return "foreign"

        assert pb.array(1.0) + Foreign() == "foreign"
        with pytest.raises(TypeError):
            pnp.add(pb.array(1.0), Foreign())


DRAWS = {
    "choice": (5,), "dirichlet": ([1.0, 2.0],), "multinomial": (5, [0.5, 0.5]),
    "multivariate_normal": (np.zeros(2), np.eye(2)), "permutation": (V,),
    "integers": (9,), "randint": (9,), "random_integers": (9,), "hypergeometric": (5, 5, 3),
    "binomial": (9, 0.5), "negative_binomial": (9, 0.5), "geometric": (0.5,),
    "logseries": (0.5,), "triangular": (0, 1, 2), "uniform": (1, 2), "gamma": (2.0,),
    "permuted": (V,), "multivariate_hypergeometric": ([3, 4], 2), "beta": (2, 3),
    "noncentral_chisquare": (3, 1), "noncentral_f": (3, 4, 1), "wald": (1, 2),
    "f": (3, 4), "vonmises": (0, 1), "zipf": (3.0,), "rand": (3,), "randn": (3,),
    "chisquare": (2.0,), "pareto": (2.0,), "power": (2.0,), "standard_gamma": (2.0,),
    "standard_t": (2.0,), "weibull": (2.0,),
}  # fmt: skip


class TestRandom:
    """The numbers are NumPy's; what they fill are Arrays."""

    @pytest.mark.filterwarnings("ignore::DeprecationWarning")
    @pytest.mark.parametrize("kind", ["module", "RandomState", "default_rng"])
    def test_the_same_numbers(self, kind):
        count = 0
        for name in sorted(DRAWING - {"shuffle"}):
            sources = [pnp.random, np.random]
            if kind != "module":
                sources = [getattr(source, kind)(3) for source in sources]
            if not hasattr(sources[1], name):
                continue
            for extra in ({}, {"size": 4}):
                args = DRAWS.get(name, ())
                if extra and name in ("permutation", "permuted", "rand", "randn"):
                    continue
                results = []
                for source in sources:
                    if kind == "module":
                        source.seed(3)
                    results.append(getattr(source, name)(*args, **extra))
                ours, theirs = results
                if isinstance(theirs, np.ndarray):
                    assert exact_type(ours) is pb.Array, name
                assert_same(ours, theirs)
                count += 1
        assert count > 60

    def test_generators(self):
        rng = pnp.random.default_rng(1)
        assert isinstance(rng, np.random.Generator)
        assert isinstance(np.random.default_rng(1), pnp.random.Generator)
        assert isinstance(pnp.random.RandomState(1), np.random.RandomState)
        assert pnp.random.default_rng(rng) is rng
        copy = pickle.loads(pickle.dumps(rng))
        assert copy.random() == rng.random()
        assert isinstance(rng.bit_generator, pnp.random.PCG64)

    @pytest.mark.parametrize("kind", ["default_rng", "RandomState"])
    def test_picking_from_arrays(self, kind):
        """Permutations and choices are those of NumPy, and keep the derivative."""

        def f(np, x):
            rng = getattr(np.random, kind)(5)
            y = np.array(x)
            rng.shuffle(y)
            picked = rng.choice(x, 4), rng.choice(x, 2, replace=False), rng.permutation(x)
            return np.concatenate([y, *picked]) ** 2

        check(f, np.linspace(0.5, 2.5, 6))
        rows = np.arange(12.0).reshape(4, 3)
        for name in ("permutation", "choice"):
            ours, theirs = (getattr(m.random, kind)(7) for m in (pnp, np))
            if kind == "default_rng" or name == "permutation":
                assert_same(getattr(ours, name)(pb.array(rows)), getattr(theirs, name)(rows))
        ours, theirs = (getattr(m.random, kind)(7) for m in (pnp, np))
        mine, plain = pnp.array(rows), np.array(rows)
        ours.shuffle(mine)
        theirs.shuffle(plain)
        assert_same(mine, plain)

    def test_parameters_of_whole_numbers_are_refused(self):
        """Those of densities move what is drawn; see `tests/numpy/test_draws.py`."""

        def f(x):
            with pytest.raises(pb.ConversionError, match=r"`poisson`.*integers"):
                pnp.random.poisson(x)
            with pytest.raises(pb.ConversionError, match="`binomial`"):
                pnp.random.default_rng(0).binomial(5, p=x / 2)
            return x

        pb.grad(f)(1.0)
        assert_same(
            pnp.random.default_rng(0).normal(pb.array(1.0)), np.random.default_rng(0).normal(1.0)
        )
