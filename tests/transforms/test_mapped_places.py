"""Under `vmap`, places that differ between examples are written to, and counts that agree count."""

import math

import numpy as np
import pytest

import pullback as pb


def at(ufunc):
    def f(x, places):
        y = np.linspace(0.5, 1.0, 4)
        ufunc.at(y, places, *[x] * (ufunc.nin - 1))
        return y

    return f


def flat_written(x, places):
    y = np.zeros((2, 2))
    y.flat[places] = x
    return y


def flat_repeated(x, places):
    y = np.ones((2, 2))
    y.flat[places] = x[:2]
    return y * x[0]


def flat_added(x, places):
    y = np.ones((2, 2))
    y.flat[places[0]] += x[0]
    y.flat[places] *= 2.0
    return y


PLACES = {
    **{
        f"{name}.at": at(getattr(np, name))
        for name in ("add", "maximum", "minimum", "multiply", "divide", "negative", "logaddexp")
    },
    "flat": flat_written,
    "flat, repeated": flat_repeated,
    "flat, changed": flat_added,
    "tril": lambda x, places: np.tril(np.outer(x, x), places[0] - 1),
}
COUNTS = {
    "pad": lambda x, n: np.pad(x, n),
    "pad beside": lambda x, n: np.pad(x, (n, 1), mode="edge"),
    "tile": lambda x, n: np.tile(x, (n, 2)),
    "eye": lambda x, n: np.eye(n) * x[0],
    "tri": lambda x, n: np.tri(n) * x[0],
    "indices": lambda x, n: np.indices((n, 2))[0] * x[0],
    "hanning": lambda x, n: np.hanning(n + 1) * x[0],
    "window": lambda x, n: np.lib.stride_tricks.sliding_window_view(x, n) * 1.0,
    "split": lambda x, n: np.array_split(x, n)[0],
    "split evenly": lambda x, n: np.hsplit(x[:2], n)[1],
    "split at": lambda x, n: np.split(x, np.arange(2) + n - 1)[1],
    "piecewise": lambda x, n: np.piecewise(x[:1], [n > 0], [lambda v: v * v]),
}
X = np.array([[0.5, 1.5, 2.5], [3.5, 0.75, 1.25]])
ALIKE = np.array([[0.5, 1.25, 2.5], [0.75, 1.5, 1.25]])
INTEGERS = {
    **dict.fromkeys(PLACES, np.array([[0, 2, 1], [1, 3, 1]])),
    **dict.fromkeys(COUNTS, np.array([2, 2])),
}
MODES = {
    "vmap": pb.vmap,
    "twice": lambda f: lambda x, k: pb.vmap(pb.vmap(f))(x[None], k[None])[0],
    "compiled": lambda f: pb.compile(pb.vmap(f), wait=True),
    "checkpointed": lambda f: pb.vmap(pb.checkpoint(f)),
    "of a compiled one": lambda f: pb.vmap(pb.compile(f, wait=True)),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # some fall back to Python
@pytest.mark.parametrize("name", INTEGERS)
def test_as_example_by_example(name):
    f, integers = {**PLACES, **COUNTS}[name], INTEGERS[name]
    slope = pb.grad(lambda x, k: np.sum(f(x, k) ** 2))
    for fun in (f, slope):
        expected = np.stack([fun(x, k) for x, k in zip(X, integers, strict=True)])
        for mode in MODES.values():
            np.testing.assert_allclose(mode(fun)(X, integers), expected, rtol=1e-14)


# Integers of floating numbers, on which the examples agree.
WHOLES = {
    "index": lambda x: x[int(x[0] * 0.1)] * x,
    "steps": lambda x: sum(x[k] for k in range(int(x[1] + 1.3))),
    "trunc": lambda x: math.trunc(x[2] / 4) * x + x,
    "text": lambda x: x * "abc".index("abc"[int(x[0] / 9)]),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", WHOLES)
def test_whole_numbers_that_agree(name):
    f = WHOLES[name]
    slope = pb.grad(lambda x: np.sum(f(x) ** 2))
    for mapped in (pb.vmap(slope), pb.compile(pb.vmap(slope), wait=True)):
        for _ in range(2):
            np.testing.assert_allclose(mapped(ALIKE), [slope(x) for x in ALIKE], rtol=1e-14)


def test_whole_numbers_that_differ():
    for row in ([0.5, 12.0, 0.0], [np.nan, 1.0, 1.0]):
        with pytest.raises(pb.ConversionError, match="`int\\(x\\)` was asked"):
            pb.vmap(lambda x: x * int(x[0] + x[1]))(np.stack([row, ALIKE[0]]))


@pytest.mark.parametrize("name", sorted(COUNTS.keys() - {"tile", "eye", "piecewise"}))
def test_counts_that_differ(name):
    with pytest.raises(pb.ConversionError, match="mapped by"):
        pb.vmap(COUNTS[name])(X, np.array([1, 2]))
