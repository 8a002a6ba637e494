"""`dtype=`, and the dtype of `out=`, say in which numbers results and derivatives are computed."""

import warnings

import numpy as np
import pytest

import pullback as pb

FUNCTIONS = ["sum", "prod", "mean", "cumsum", "cumprod", "nansum", "nanprod", "nanmean",
             "nancumsum", "nancumprod", "cumulative_sum", "cumulative_prod"]  # fmt: skip
DTYPES = ["f2", "f4", "f8", "g", "c8", "c16"]


def running(name, axis):
    return lambda x, **kwargs: getattr(np, name)(x, axis=axis, **kwargs)


PROGRAMS = {
    f"{name} {axis}": running(name, axis)
    for name in FUNCTIONS
    for axis in (None, 0, 1)
    if hasattr(np, name) and not (axis is None and name.startswith("cumulative"))
} | {
    f"{ufunc.__name__}.{method}": lambda x, ufunc=ufunc, method=method, more=more, **kwargs: (
        getattr(ufunc, method)(x, *more, axis=1, **kwargs)
    )
    for ufunc in (np.add, np.multiply, np.hypot)
    for method, more in (("reduce", ()), ("accumulate", ()), ("reduceat", ([0, 2, 1],)))
}
WIDE = {"f2": 40.0, "f4": 1e13}  # factors whose product has no place in their own dtype


def numbers(source, target, rng):
    large = WIDE.get(source, 1.0) if target not in ("f2", "f4", "c8") else 1.0
    x = rng.uniform(0.6, 1.4, (2, 3)) * large
    if np.dtype(source).kind == "c":
        x = x + 1j * rng.uniform(0.1, 0.5, (2, 3))
    return x.astype(source)


def cast(x, dtype):
    """In a dtype, as `dtype=` takes it: without the imaginary part, if it has none."""
    real = x.dtype.kind == "c" and dtype.kind != "c"
    return (np.real(x) if real else x).astype(dtype)


def total(out):
    return np.sum(np.real(out)) + 0.5 * np.sum(np.imag(out))


@pytest.mark.parametrize("target", DTYPES)
def test_it_is_as_if_the_array_were_cast_before(target):
    dtype, rng, wrong, tried = np.dtype(target), np.random.default_rng(5), [], 0
    for name, f in PROGRAMS.items():
        for source in DTYPES:
            x = numbers(source, target, rng)
            x_dot = x * np.asarray(rng.uniform(-1, 1, (2, 3)), x.real.dtype)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # complex numbers are cast
                try:
                    expected = f(x, dtype=dtype)
                except TypeError:
                    continue  # there is no `hypot` of complex numbers
                out, out_dot = pb.jvp(lambda y, f=f: f(y, dtype=dtype), (x,), (x_dot,))
                _, like = pb.jvp(lambda y, f=f: f(cast(y, dtype)), (x,), (x_dot,))
                x_bar = pb.grad(lambda y, f=f: total(f(y, dtype=dtype)))(x)
                like_bar = pb.grad(lambda y, f=f: total(f(cast(y, dtype))))(x)
            precision = float(max(np.finfo(source).eps, np.finfo(dtype).eps))
            close = {"rtol": 100 * precision, "atol": 0.0}
            tried += 1
            if out.dtype != expected.dtype or not np.allclose(out, expected, **close):
                wrong.append((name, source, "value", out, expected))
            if out_dot.dtype != expected.dtype or not same(out_dot, like, precision):
                wrong.append((name, source, "tangent", out_dot, like))
            if x_bar.dtype != x.dtype or not same(x_bar, like_bar, precision):
                wrong.append((name, source, "gradient", x_bar, like_bar))
    assert tried > 200
    assert not wrong


def same(x, y, precision):
    """Up to rounding, with respect to the largest: derivatives may cancel."""
    x, y = np.atleast_1d(x, y)
    finite = np.isfinite(y)
    scale = np.max(np.abs(y[finite]), initial=0.0)
    near = np.abs(x[finite] - y[finite]) <= 300 * precision * scale
    return bool(np.all(near))


@pytest.mark.parametrize("source", ["f2", "f4", "f8", "c8"])
def test_what_is_written_is_computed_in_the_dtype_of_out(source):
    wrong, rng = [], np.random.default_rng(6)
    programs = PROGRAMS | {
        "trace": np.trace,
        "variance (like a mean)": lambda x, **kwargs: np.var(x, axis=1, **kwargs),
        "deviation (like a mean)": lambda x, **kwargs: np.std(x, axis=0, **kwargs),
        "einsum": lambda x, **kwargs: np.einsum("ij->j", x, **kwargs),
    }
    for name, f in programs.items():
        for target in DTYPES:
            x = numbers(source, source, rng)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # complex numbers are cast
                try:
                    expected = f(x, out=np.zeros(np.shape(f(x)), target))
                except TypeError:
                    continue

                def written(y, f=f, target=target):
                    return f(y, out=np.zeros(np.shape(f(y)), target))

                try:
                    found = {
                        "jvp": pb.jvp(written, (x,), (np.ones_like(x),))[0],
                        "vjp": pb.vjp(written, x)[0],
                    }
                except pb.DtypeError:
                    assert (source, np.dtype(target).kind) == ("c8", "f")
                    continue
            for mode, out in found.items():
                # NumPy adds up half numbers in float32, and squares in the dtype of the array.
                loose = source if "variance" in name or "deviation" in name else out.dtype
                if source == "f2" and name.startswith(("mean", "nanmean")):
                    loose = np.float32
                precision = float(max(np.finfo(out.dtype).eps, np.finfo(loose).eps))
                rounds = 8 * precision if "mean" in name else 0.0
                if out.dtype != expected.dtype or not np.allclose(out, expected, rounds, 0.0):
                    wrong.append((name, target, mode, out, expected))
    assert not wrong


@pytest.mark.parametrize("target", ["c8", "c16"])
@pytest.mark.parametrize("name", ["var", "std"])
def test_a_variance_in_a_complex_dtype_is_complex(name, target):
    rng = np.random.default_rng(7)
    for source in ("f4", "f8", "c8", "c16"):
        x = numbers(source, target, rng)
        f = lambda x, name=name: getattr(np, name)(x, axis=1, dtype=target)
        out, slopes = pb.jvp(f, (x,), (np.ones_like(x),))
        assert out.dtype == slopes.dtype == f(x).dtype
        np.testing.assert_allclose(out, f(x), rtol=1e-5)


COMPARING = [np.less, np.less_equal, np.equal, np.not_equal, np.greater, np.greater_equal]


@pytest.mark.filterwarnings("ignore:.*(invalid value|falls back):RuntimeWarning")
@pytest.mark.parametrize("asked", [{"dtype": object}, {"signature": "OO->O"}])
@pytest.mark.parametrize("ufunc", COMPARING)
def test_comparisons_give_the_objects_that_they_are_asked_for(ufunc, asked):
    x, y = np.array([[1.0, np.nan, 2.0]]), np.array([[1.0], [3.0]])
    for a, b in ((x, y), (x, 2.0), (2.0, y), (x[0, 0], 1.0)):
        expected, found = ufunc(a, b, **asked), []

        def f(a, b=b, found=found):
            found.append(ufunc(a, b, **asked))
            return np.sum(a)

        pb.grad(f)(a)
        found.append(ufunc(pb.array(a), b, **asked))
        found.append(pb.compile(lambda a, b=b: ufunc(a, b, **asked))(a))
        for out in found:
            assert type(out) is type(expected)
            assert np.array_equal(out, expected)
            if isinstance(out, np.ndarray):
                assert out.dtype == object
                assert set(map(type, out.flat)) == {bool}
