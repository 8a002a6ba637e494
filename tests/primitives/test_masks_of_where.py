"""What `where=` takes for a mask, and what it refuses, as NumPy does."""

import numpy as np
import pytest

import pullback as pb

X = np.array([[1.0, 2.0, -3.0], [4.0, -5.0, 0.5]])
MASKS = [
    np.array([1, 0, 1]), [1, 0, 1], np.array([1.0, 0.0, 1.0]), np.array([True, False, True]),
    np.int64(1), 1, 0, 1.0, np.array(1), np.array(True), np.array([1, 0, 1], np.uint8),
    np.array([True, False, True], object), "a", None, np.array(["a", "b", "c"]), np.True_,
    np.float64(1.0), [1.0, 0.0, 2.0], [np.int64(1), np.int64(0), np.int64(1)], [None, 1, "a"],
    np.array([1j, 0, 1]),
]  # fmt: skip
SUMS = "sum prod mean var std any all nansum nanprod nanmean nanvar nanstd".split()
EXTREMES = "max min nanmax nanmin".split()
UFUNCS = "add multiply logical_and logical_or maximum minimum fmax fmin".split()
BEGIN = {"initial": 0.5}


def reduction(name, options):
    return lambda x, where: getattr(np, name)(x, axis=0, where=where, **options)


def of_ufunc(name, options):
    return lambda x, where: getattr(np, name).reduce(x, axis=0, where=where, **options)


def copied(x, where):
    x = x * 1.0
    np.copyto(x, 2 * x, where=where)
    return x


FUNCTIONS = {
    **{name: reduction(name, {}) for name in SUMS},
    **{name: reduction(name, BEGIN) for name in EXTREMES},
    **{f"{name}.reduce": of_ufunc(name, {} if name in UFUNCS[:4] else BEGIN) for name in UFUNCS},
    "all axes": lambda x, where: np.prod(x, where=where),
    "x.prod": lambda x, where: x.prod(where=where),
    "add": lambda x, where: np.add(x, x, out=np.zeros_like(x), where=where),
    "copyto": copied,
}
MODES = {
    "vjp": lambda f: pb.vjp(f, X)[0],
    "vmap": lambda f: pb.vmap(f)(np.stack([X, X]))[1],
    "compiled": lambda f: pb.compile(lambda x: pb.vjp(f, x)[0])(X),
}


def outcome(call):
    with np.errstate(all="ignore"):
        try:
            return np.asarray(call())
        except (TypeError, ValueError) as error:
            return error


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_masks_are_taken_and_refused_as_in_numpy(name, mode):
    """A mean, which NumPy divides by the sum of numbers that are no truth values, refuses these."""
    f, differing = FUNCTIONS[name], []
    for where in MASKS:
        expected = outcome(lambda where=where: f(X, where))
        found = outcome(lambda where=where: MODES[mode](lambda x: f(x, where)))
        if isinstance(expected, Exception):
            same = isinstance(found, type(expected))
        elif isinstance(found, Exception):
            odd = type(where) in (int, float) or where == [1.0, 0.0, 2.0]
            same = odd and name in ("mean", "var", "std")
        else:
            same = np.allclose(expected, found, equal_nan=True)
        if not same:
            differing.append((where, expected, found))
    assert not differing


@pytest.mark.parametrize("name", ["sum", "prod", "nanmax", "mean"])
def test_a_count_is_a_mask_and_an_array_of_counts_is_none(name):
    f = reduction(name, BEGIN if name == "nanmax" else {})
    expected = f(X, np.sum(X > 0) != 0)
    np.testing.assert_array_equal(pb.vjp(lambda x: f(x, np.sum(x > 0) != 0), X)[0], expected)
    with pytest.raises(TypeError):
        f(X, np.sum(X > 0, axis=0))
    with pytest.raises(TypeError):
        pb.vjp(lambda x: f(x, np.sum(x > 0, axis=0)), X)
