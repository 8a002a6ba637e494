"""Methods of ufuncs with a dtype: what NumPy refuses is refused, everything else has its value."""

import itertools
import warnings

import numpy as np
import pytest

import pullback as pb
from pullback.transforms.record import record

from ..budgets import asked

UFUNCS = [x for x in vars(np).values() if isinstance(x, np.ufunc) and x.signature is None]
BINARY = sorted({x.__name__ for x in UFUNCS if (x.nin, x.nout) == (2, 1)})
DTYPES = [bool, np.int8, np.int64, np.float16, np.float32, float, complex, None]
ARRAYS = [
    np.array([-0.3, 0.4, 0.7]),
    np.array([-1.3]),
    np.ones((2, 0)),
    np.eye(2, dtype=np.float32) + 2,
]
# With AVX-512, NumPy 2.4 forgets steps here; the last that `accumulate` gives is right.
NO_FOLDS = {("arctan2", "reduce"), ("power", "reduce")}
CASES = list(itertools.product(BINARY, ["reduce", "accumulate", "reduceat"], DTYPES, range(4)))


def outcome(fun):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of overflow and of casts; values alone are asked
        try:
            return np.asarray(fun())
        except (TypeError, ValueError, IndexError, pb.PullbackError) as error:
            return error


def differ(plain, mapped):
    if isinstance(plain, Exception) or isinstance(mapped, Exception):
        return isinstance(plain, Exception) != isinstance(mapped, Exception)
    same = plain.dtype == mapped.dtype and plain.shape == mapped.shape
    plain, mapped = plain.astype(complex), mapped.astype(complex)
    return not (same and np.allclose(plain, mapped, rtol=1e-3, equal_nan=True))


def test_methods_along_an_axis():
    for name, method, dtype, i in asked(CASES, 8):
        along = getattr(getattr(np, name), method)
        starts = [[0, 0, max(len(ARRAYS[i]) - 1, 0)]] if method == "reduceat" else []
        f = lambda x, along=along, starts=starts, dtype=dtype: along(
            x, *starts, axis=0, dtype=dtype
        )
        x = ARRAYS[i]
        mapped = outcome(lambda f=f, x=x: pb.vmap(f)(x[None])[0])
        if (name, method) in NO_FOLDS:
            f = lambda x, name=name, dtype=dtype: getattr(np, name).accumulate(x, 0, dtype)[-1]
        assert not differ(outcome(lambda f=f, x=x: f(x)), mapped), (name, method, dtype, x)


@pytest.mark.parametrize("ufunc", [np.logical_and, np.logical_or, np.logical_xor])
def test_runs_of_one_element_are_truths(ufunc):
    x = np.array([0.3, 0.4, 0.0])
    for f in (lambda x: ufunc.reduceat(x, [1, 0, 2]), ufunc.accumulate):
        mapped = pb.vmap(f)(x[None])[0]
        assert mapped.dtype == bool
        np.testing.assert_array_equal(mapped, f(x))


@pytest.mark.parametrize("ufunc", [np.add, np.hypot, np.maximum, np.logaddexp])
def test_no_initial_is_no_identity(ufunc):
    for x, given in ((np.ones(2), {"where": np.array([True, False])}), (np.ones(0), {})):
        with pytest.raises(ValueError, match="identity"):
            pb.vmap(lambda x, given=given: ufunc.reduce(x, initial=None, **given))(x[None])


def test_an_identity_makes_one_element_positive():
    for initial in (np._NoValue, None, 2.0):
        f = lambda x, initial=initial: np.hypot.reduce(x, initial=initial)
        assert pb.vmap(f)(np.array([[-0.5]]))[0] == f(np.array([-0.5]))
    f = lambda x: np.hypot.reduceat(x, [0], dtype=float)
    assert pb.vmap(f)(np.array([[-0.5]]))[0] == f(np.array([-0.5]))


def test_quantiles_by_a_table_along_two_axes_are_refused():
    f = lambda x: np.nanquantile(x, [[0.1], [0.5]], axis=(0, 1))
    with pytest.raises(pb.ArgumentError, match="along one axis or all"):
        pb.vmap(f)(np.ones((1, 3, 2, 2)))


MASKS = [None, 0, 1, False, True, [1, 0, 1], np.array([0, 1, 1]), np.array([True, False, True]), ""]


@pytest.mark.parametrize("mask", MASKS, ids=repr)
@pytest.mark.parametrize("ufunc", [np.sin, np.add, np.multiply])
def test_masks_of_results_that_are_written_are_those_of_numpy(ufunc, mask):
    """`where=None` is a mask that is false, as in NumPy."""

    def f(x):
        out = np.ones(3)
        ufunc(*[x] * ufunc.nin, out=out, where=mask)
        return out

    x = np.array([0.3, 1.4, 0.2])
    if type(mask) is np.ndarray and mask.dtype != bool:
        with pytest.raises(TypeError):
            f(x)
        with pytest.raises(TypeError):
            pb.jvp(f, (x,), (x,))
        return
    np.testing.assert_array_equal(pb.jvp(f, (x,), (x,))[0], f(x))
    slope = (f(x + 1e-6 * x) - f(x - 1e-6 * x)) / 2e-6
    np.testing.assert_allclose(pb.jvp(f, (x,), (x,))[1], slope, rtol=1e-6, atol=1e-9)


def of_kinks(f, *xs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pb.LostDerivativeWarning)
        return f(*xs)


PICKED = [
    np.array([0.3, -0.2, 0.7, 0.5, 1.1, 0.9]),  # each is picked alone
    np.array([1.0, 1.0, 0.5, 2.0, 2.0, 1.0]),  # ties share
    np.array([0.0, -0.0, 0.5, 0.0, -1.0, -1.0]),
    np.array([0.5, np.nan, 0.7, 0.9, -1.0, 2.0]),
    np.array([[0.3, 0.8], [0.5, -0.2], [0.1, 0.9]]),
    np.array([[0.3, 0.8, 0.8], [0.3, -0.2, 0.9]]),
]


@pytest.mark.parametrize("pick", [np.maximum, np.minimum, np.fmax, np.fmin])
@pytest.mark.parametrize("x", PICKED, ids=range(len(PICKED)))
@pytest.mark.parametrize("axis", [0, -1])
def test_running_picks_are_those_of_one_element_after_another(pick, x, axis):
    def one_by_one(x):
        rows = np.moveaxis(x, axis, 0)
        outs = [rows[0]]
        for row in rows[1:]:
            outs.append(pick(outs[-1], row))
        return np.stack(outs, axis=axis) ** 2

    at_once = lambda x: pick.accumulate(x, axis=axis) ** 2
    x_dot, bar = np.cos(x.size + np.arange(x.size)).reshape(x.shape), np.linspace(1, 2, x.size)
    for transformed in (
        lambda f: pb.vjp(f, x)[1](bar.reshape(x.shape))[0],
        lambda f: pb.jvp(f, (x,), (x_dot,))[1],
        lambda f: pb.vmap(pb.grad(lambda x: np.sum(f(x))))(np.stack([x, 2 * x])),
        lambda f: of_kinks(pb.hvp(lambda x: np.sum(f(x))), x, x_dot),
    ):
        np.testing.assert_allclose(transformed(at_once), transformed(one_by_one), rtol=1e-14)


@pytest.mark.parametrize("pick", [np.maximum, np.fmin])
def test_compiled_running_picks_go_by_the_values_of_each_call(pick):
    f = lambda x: np.sum(pick.accumulate(2 * x) ** 2)
    for derive in (
        pb.grad,
        pb.hessian,
        lambda f: lambda x: pb.vjp(f, x)[1](1.0)[0],
        lambda f: lambda x: pb.jvp(f, (x,), (x,))[1],
        lambda f: pb.grad(lambda x: pb.jvp(f, (x,), (x,))[1]),
    ):
        compiled = pb.compile(derive(f), wait=True)
        for x in np.cos(np.arange(24.0)).reshape(6, 4):
            np.testing.assert_allclose(compiled(x), derive(f)(x), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("dtype", ["e", "f", "g", ">e", ">f", ">d"])
def test_running_picks_have_numpys_dtype(dtype):
    """Also of arrays in the other order of bytes, of which no element is left out."""
    for pick, x in itertools.product([np.maximum, np.fmin], PICKED):
        x, f = x.astype(dtype), lambda x, pick=pick: pick.accumulate(x)
        for out in pb.vjp(f, x)[0], pb.jvp(f, (x,), (x,))[0]:
            np.testing.assert_array_equal(out, f(x), strict=True)


def test_running_maxima_take_few_steps():
    """The operations do not grow with the array, where no elements are equal."""
    for x in PICKED[0], np.sin(np.arange(500.0)):
        recorded = record(lambda x: np.maximum.accumulate(x))(x)
        assert len(recorded.entries) < 3
