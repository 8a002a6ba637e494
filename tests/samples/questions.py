"""Truth values, integers and positions: functions whose results carry no derivative."""

import numpy as np

from pullback.testing import Sample

X = np.array([[0.5, -1.0, 2.0], [3.0, 0.0, 1.0]])
Y = np.array([1.0, -1.0, 3.0])
ODD = np.array([np.nan, np.inf, -np.inf, 0.5])


def of(function, program, *args):
    """A sample of a function, by a program that returns what it returned."""

    def call(*xs):
        return program(*xs)

    call.about = function
    return Sample(call, args, smooth=False, name=f"{function.__name__} in a program")


def bits(ufunc, *others):
    """A ufunc of integers, which are made of numbers that are differentiated."""
    return of(ufunc, lambda x: ufunc(np.rint(np.abs(x)).astype(int), *others), X)


def order(x):
    return np.argsort(x, axis=-1, stable=True)


SAMPLES = [
    *[
        Sample(ufunc, (X, Y), smooth=False)
        for ufunc in (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal)
    ],
    Sample(np.less, (0.5, 1.5)),
    Sample(np.equal, (X + 1j, Y), smooth=False),
    *[
        Sample(ufunc, (X, Y), smooth=False)
        for ufunc in (np.logical_and, np.logical_or, np.logical_xor)
    ],
    Sample(np.logical_not, X, smooth=False),
    *[Sample(ufunc, ODD, smooth=False) for ufunc in (np.isfinite, np.isinf, np.isnan, np.signbit)],
    Sample(np.isfinite, 0.5),
    *[
        bits(ufunc, 3)
        for ufunc in (np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.left_shift, np.right_shift, np.gcd, np.lcm)
    ],
    bits(np.invert),
    bits(np.bitwise_count),
    Sample(np.diag_indices_from, X[:, :2]),
    Sample(np.tril_indices_from, X),
    Sample(np.triu_indices_from, X, {"k": 1}),
    of(np.ix_, lambda x: np.ix_(order(x), [0, 2]), Y),
    of(np.unravel_index, lambda x: np.unravel_index(order(x), (2, 3)), Y),
    of(np.ravel_multi_index, lambda x: np.ravel_multi_index((order(x), [0, 1, 1]), (3, 2)), Y),
    of(np.einsum_path, lambda x: np.einsum_path("ij,jk", x, x.T)[0][1], X),
    Sample(lambda x: x[x > 0.7], X, name="x[mask]"),
    of(np.compress, lambda x: np.compress(x[0] > 0.7, x, axis=1), X),
    of(np.extract, lambda x: np.extract(x > 0.7, x), X),
    of(np.repeat, lambda x: np.repeat(x, (x > 0.7).astype(int)), X.ravel()),
    of(np.iscomplexobj, lambda x: x[0] < np.iscomplexobj(x), X),
    of(np.isrealobj, lambda x: x[0].real < np.isrealobj(x), X + 1j),
]  # fmt: skip

# How many there are is a question to the values, which examples near X answer differently.
UNMAPPED = [
    Sample(np.nonzero, X, smooth=False),
    Sample(np.flatnonzero, X, smooth=False),
    Sample(np.argwhere, X, smooth=False),
    of(np.repeat, lambda x: np.repeat(x, (x != 0.5).astype(int)), X.ravel()),
]
