"""Keys of all kinds, and functions that read at indices; primitives/test_indexing.py has more."""

import numpy as np

from pullback.core.errors import UnsupportedKeywordError
from pullback.testing import ErrorSample, Sample

random = np.random.default_rng(15)


def real(*shape, dtype=float):
    return random.uniform(-1, 1, shape).astype(dtype)


def cplx(*shape):
    return real(*shape) + 1j * real(*shape)


def read(x, key):
    return x[key]


I, J = np.array([[0], [2]]), np.array([1, 1, 0])
MASK = np.array([[True, False, True], [False, True, True]])
windows = np.lib.stride_tricks.sliding_window_view

KEYS = [
    0,
    -1,
    (1, -1, 0),
    slice(1, None),
    (slice(None, None, -2), 1),
    (..., 0),
    (..., None, slice(0, 2)),
    (None, 1, None),
    (),
    (slice(2, 2), 0),
    np.array(1),
    [0, 2, 0],
    (J, J),
    (I, slice(None), J - 1),
    (slice(None), I, J),
    (0, slice(None), J),
    (1, [2, 2], 0),
    (J, ..., 1),
    np.array([True, False, True]),
    (slice(None), np.array([True, False, True])),
    (MASK[:, :1].repeat(3, 1).T[:, [0, 1, 0]],),
    (slice(None), False),
    (True, 1),
    np.zeros((2, 0), int),
    ((0, 0, 2),),
    ((1, 1), slice(None), (0, 1)),
    (slice(1, 2), (0, 0), -1),
    (((0, 1), (1, 1)), 0),
]

SAMPLES = [
    *[Sample(read, (real(3, 3, 2), key), name=f"x[...] ({i})") for i, key in enumerate(KEYS)],
    Sample(read, (real(3, dtype="f4"), 1)),
    Sample(read, (real(3, dtype="f2"), [1, 1])),
    Sample(read, (cplx(3), slice(1, 3))),
    Sample(read, (real(6)[::-2], [0, 2])),
    Sample(read, (2.0, ())),
    Sample(read, (2.0, None)),
    Sample(read, (np.array(2.0), ...)),
    Sample(lambda x: x[np.array([True, False, True])] ** 2, real(3), name="x[mask]"),
    Sample(lambda x: x[0] * x[1] + x[0] ** 2 * np.sum(x) + x[1:][0], real(3), name="elements"),
    Sample(lambda x: [row[1] * row[0] for row in x], real(2, 2), name="rows"),
    Sample(lambda x: (lambda a, b, c: a * b - c)(*x), real(3), name="unpacking"),
    Sample(lambda x: np.sin(x)[1:] * np.cos(x)[:-1], real(4), name="neighbours"),
    Sample(lambda x: (x[2:] - 2 * x[1:-1] + x[:-2]) ** 2, real(6), name="second differences"),
    Sample(lambda x: np.exp(x)[[0, 0, 1]][1:][0], real(3), name="index of an index"),
    Sample(
        lambda x: x[np.argmax(x)] * np.take(x, np.argsort(x)),
        np.array([2.0, 1.0, 3.0]),
        name="x[argmax]",
    ),
    Sample(np.take, (real(4), [0, -1, 0])),
    Sample(np.take, (real(2, 3), 4)),
    Sample(np.take, (real(2, 3), [[0, 1], [2, 2]]), {"axis": 1}),
    Sample(np.take, (real(2, 3), [-1, 5]), {"axis": 1, "mode": "wrap"}),
    Sample(np.take, (real(2, 3), [-1, 5]), {"axis": -1, "mode": "clip"}),
    Sample(np.take, (real(3), [])),
    Sample(np.take, (real(3), [True, False])),
    Sample(np.take, (2.0, [0, 0])),
    Sample(lambda x: x.take([0, 1], axis=0), real(2, 2), name="x.take"),
    Sample(np.take_along_axis, (real(2, 3), np.array([[0, 2], [1, 1]])), {"axis": 1}),
    Sample(np.take_along_axis, (real(2, 3), np.array([[1, -1, 0]])), {"axis": 0}),
    Sample(np.take_along_axis, (real(2, 3), np.array([4, 0])), {"axis": None}),
    Sample(np.choose, ([0, 1, 1], [real(3), real(3)])),
    Sample(np.choose, ([[0], [1]], [real(3), 2.0])),
    Sample(np.choose, (MASK, [real(1, 3), cplx(2, 1)])),
    Sample(np.choose, (1, real(2, 3))),
    Sample(lambda x: np.choose([0, 1], [x, 1]), np.float32([1, 2]), name="choose float32 or 1"),
    Sample(np.choose, ([3, -1], [real(2), real(2)]), {"mode": "wrap"}),
    Sample(np.choose, ([3, -1], [real(2), real(2)]), {"mode": "clip"}),
    Sample(
        lambda x: np.choose([0, 1], [np.sqrt(x), x]),
        np.array([1.0, 0.0]),
        name="choose",
    ),
    Sample(np.compress, ([True, False, True], real(3))),
    Sample(np.compress, ([0, 1], real(2, 3)), {"axis": 0}),
    Sample(np.compress, ([False, True, True, True], real(2, 3))),
    Sample(np.extract, (MASK, real(2, 3))),
    Sample(np.diagonal, real(3, 3)),
    Sample(np.diagonal, (real(2, 3), 1)),
    Sample(np.diagonal, real(2, 3, 4), {"offset": -1, "axis1": 2, "axis2": 0}),
    Sample(np.diagonal, (real(2, 2), 5)),
    Sample(np.trace, real(3, 3)),
    Sample(np.trace, real(2, 3, 4), {"offset": 1, "axis1": 1, "axis2": 2}),
    Sample(np.trace, real(2, 2, dtype="f4"), {"dtype": float}),
    Sample(windows, (real(5), 3)),
    Sample(windows, (real(3, 4), (2, 2))),
    Sample(windows, (real(3, 4), 2), {"axis": 1}),
    Sample(windows, (real(5), (2, 2)), {"axis": (0, 0)}),
]

ERRORS = [
    ErrorSample(read, (real(3), 1.0), raises=IndexError, match="only integers"),
    ErrorSample(read, (real(3), np.zeros(2)), raises=IndexError, match="integer"),
    ErrorSample(read, (real(3), "name"), raises=IndexError, match="only integers"),
    ErrorSample(read, (real(3), 3), raises=IndexError, match="out of bounds"),
    ErrorSample(read, (real(3), (0, 0)), raises=IndexError, match="too many indices"),
    ErrorSample(read, (real(3), [True, False]), raises=IndexError, match="boolean index did not"),
    ErrorSample(read, (real(3), (..., ...)), raises=IndexError, match="single ellipsis"),
    ErrorSample(np.take, (real(3), [3]), raises=IndexError, match="out of bounds"),
    ErrorSample(np.take, (real(3), [1.5]), raises=TypeError, match="Cannot cast"),
    ErrorSample(np.take, (real(3), [1]), {"mode": "bounce"}, ValueError, "clipmode"),
    ErrorSample(np.take, (real(3), [1]), {"out": np.zeros(1)}, UnsupportedKeywordError, "out="),
    ErrorSample(np.take_along_axis, (real(3), np.zeros(2)), {"axis": 0}, IndexError, "integer"),
    ErrorSample(np.take_along_axis, (real(3), MASK * 1), {"axis": 0}, ValueError, "dimension"),
    ErrorSample(np.take_along_axis, (real(3), MASK * 1), {"axis": None}, ValueError, "single dim"),
    ErrorSample(np.choose, ([2], [real(1), real(1)]), raises=ValueError, match="invalid entry"),
    ErrorSample(np.choose, ([0], [real(1)]), {"out": np.zeros(1)}, UnsupportedKeywordError, "out="),
    ErrorSample(np.compress, ([[True]], real(3)), raises=ValueError, match="1-d"),
    ErrorSample(np.diagonal, (real(3),), raises=ValueError, match="two dimensions"),
    ErrorSample(np.diagonal, (real(2, 2), 0, 1, 1), raises=ValueError, match="same"),
    ErrorSample(windows, (real(2), 3), raises=ValueError, match="window"),
]
