"""Arrays put together from others and taken apart."""

import warnings

import numpy as np

from pullback.core.errors import UnsupportedKeywordError
from pullback.testing import ErrorSample, Sample
from tests.samples import since

random = np.random.default_rng(12)


def real(*shape, dtype=float):
    return random.uniform(-1, 1, shape).astype(dtype)


def cplx(*shape):
    return real(*shape) + 1j * real(*shape)


def row_stack(*args, **kwargs):
    """The old name of vstack, which warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return getattr(np, "row_stack", np.vstack)(*args, **kwargs)


row_stack.about = getattr(np, "row_stack", np.vstack)


SAMPLES = [
    Sample(np.concatenate, ([real(2), real(3)],)),
    Sample(np.concatenate, ([real(2, 1), real(2, 3)],), {"axis": -1}),
    Sample(np.concatenate, ([real(2, 1), real(3)],), {"axis": None}),
    Sample(
        lambda x: np.concatenate([x, 2, 0.5], axis=None),
        real(2, dtype="f4"),
        name="concatenate numbers",
    ),
    Sample(np.concatenate, ([real(2), cplx(1), real(2, dtype="f4")],)),
    Sample(np.concatenate, ([real(2), real(0)],)),
    Sample(np.concatenate, ([real(2), [1, 2]],)),
    Sample(np.concatenate, ([real(2), real(1)],), {"dtype": "f4"}),
    Sample(np.concatenate, ([real(2), real(1)],), {"dtype": complex, "casting": "safe"}),
    Sample(np.concatenate, real(3, 2)),
    Sample(np.concat, ((real(2), real(3, dtype="f4")),)),
    Sample(lambda x: np.concatenate([x, x]), real(2), name="concatenate the same"),
    Sample(lambda x: np.concatenate([x, x[:1] ** 2])[1:], real(2), name="concatenate, sliced"),
    Sample(np.stack, ([real(2), real(2)],)),
    Sample(np.stack, ([real(2), real(2), cplx(2)],), {"axis": 1}),
    Sample(np.stack, ([1.0, 2.0, np.float32(3)],)),
    Sample(np.stack, ([real(2, 1), real(2, 1)],), {"axis": -1, "dtype": "f4"}),
    Sample(np.stack, real(3, 2), {"axis": 1}),
    Sample(np.stack, ([real(2, 3), real(2, 3)],)),
    Sample(lambda x, y: np.sin(np.stack([x, y, 1.0, x])[1:]), (0.5, 0.7), name="stack of numbers"),
    Sample(np.vstack, ([real(3), real(2, 3)],)),
    Sample(np.vstack, ([1.0, 2.0],), {"dtype": "f4"}),
    Sample(row_stack, ([real(3), real(2, 3)],), {"dtype": "f4"}),
    Sample(np.hstack, ([real(3), real(2)],)),
    Sample(np.hstack, ([real(2, 1), real(2, 3)],)),
    Sample(np.hstack, ([1.0, 2.0],)),
    Sample(np.dstack, ([real(2), real(2)],)),
    Sample(np.dstack, ([real(1, 2), real(1, 2, 3)],)),
    Sample(np.column_stack, ([real(3), real(3, 2)],)),
    Sample(np.column_stack, ([1.0, 2.0],)),
    Sample(np.block, ([real(2), 1.0],)),
    Sample(np.block, ([[real(2, 2), real(2, 1)], [real(1, 2), real(1, 1)]],)),
    Sample(np.block, ([[[real(1, 2, 1)]], [[real(2, 1)]]],)),
    Sample(np.block, ([[1.0, 2.0], [3.0, 4.0]],)),
    Sample(np.block, real(2)),
    Sample(np.append, (real(2, 2), real(3))),
    Sample(np.append, (real(2, 2), real(1, 2)), {"axis": 0}),
    Sample(np.append, (real(2), 3.0)),
    Sample(np.insert, (real(3), 1, 2.0)),
    Sample(np.insert, (real(3), -1, real(2))),
    Sample(np.insert, (real(3), [0, 2], real(2))),
    Sample(np.insert, (real(3), [1], real(2))),
    # Before, a mask was taken for integers.
    *since("2.2.0", Sample(np.insert, (real(3), np.array([True, False, True]), 2.0))),
    Sample(np.insert, (real(3), slice(1, 3), real(2, dtype="f4"))),
    Sample(np.insert, (real(2, 3), 1, real(2)), {"axis": 1}),
    Sample(np.insert, (real(2, 3), [1, 1], real(2, 2)), {"axis": 1}),
    Sample(np.insert, (real(2, 3), 1, real(3)), {"axis": 0}),
    Sample(np.insert, (real(2, 2), 1, 5.0)),
    Sample(np.insert, (np.zeros(2), [0, 0, 2], real(3))),
    Sample(np.delete, (real(4), 1)),
    Sample(np.delete, (real(4), [0, -1])),
    Sample(np.delete, (real(4), slice(None, None, 2))),
    Sample(np.delete, (real(2, 3), np.array([True, False, True])), {"axis": 1}),
    Sample(np.delete, (real(2, 3), 1)),
    Sample(np.array_split, (real(5), 3)),
    Sample(np.array_split, (real(2, 5), [1, -1, 9]), {"axis": 1}),
    Sample(np.array_split, (real(2), [2, 1])),
    Sample(np.split, (real(6), 3)),
    Sample(np.split, (real(2, 4), [1, 3]), {"axis": -1}),
    Sample(lambda x: np.split(x, 3)[1] * np.split(x, 3)[2], real(6), name="parts of a split"),
    Sample(np.hsplit, (real(2, 4), 2)),
    Sample(np.hsplit, (real(4), [1])),
    Sample(np.vsplit, (real(4, 1), 2)),
    Sample(np.dsplit, (real(1, 2, 4), 2)),
    Sample(np.tile, (real(2), 3)),
    Sample(np.tile, (real(2, 3), (2, 1))),
    Sample(np.tile, (real(2), (2, 1, 2))),
    Sample(np.tile, (real(2, 1), 2)),
    Sample(np.tile, (2.0, 3)),
    Sample(np.tile, (real(2), 0)),
    Sample(np.repeat, (real(3), 2)),
    Sample(np.repeat, (real(2, 3), 2)),
    Sample(np.repeat, (real(2, 3), 2), {"axis": 1}),
    Sample(np.repeat, (real(2, 3), [0, 1, 3]), {"axis": -1}),
    Sample(np.repeat, (2.0, 3)),
    Sample(np.repeat, (real(2), 0)),
    Sample(np.roll, (real(4), 1)),
    Sample(np.roll, (real(2, 3), -4)),
    Sample(np.roll, (real(2, 3), 1), {"axis": 1}),
    Sample(np.roll, (real(2, 3), (1, -1)), {"axis": (0, 1)}),
    Sample(np.roll, (real(2, 3), 1), {"axis": (0, 1)}),
    Sample(np.roll, (real(3), [1, 1]), {"axis": 0}),
    Sample(np.roll, (real(3), 3)),
    Sample(np.roll, (real(0), 3)),
    Sample(np.resize, (real(3), (2, 4))),
    Sample(np.resize, (real(2, 2), 3)),
    Sample(np.resize, (real(0), 2)),
]

if hasattr(np, "unstack"):  # NumPy 2.1
    SAMPLES += [
        Sample(np.unstack, real(3, 2)),
        Sample(np.unstack, real(3, 2), {"axis": -1}),
    ]

ERRORS = [
    ErrorSample(np.concatenate, ([real(2), real(2, 2)],), raises=ValueError, match="dimension"),
    ErrorSample(np.concatenate, ([1.0, 2.0],), raises=ValueError, match="zero-dimensional"),
    ErrorSample(np.concatenate, ([real(2)],), {"axis": 1}, np.exceptions.AxisError, "axis 1"),
    ErrorSample(np.concatenate, ([real(2)],), {"dtype": int}, TypeError, "Cannot cast"),
    ErrorSample(
        np.concatenate, ([real(2), real(2)],), {"out": np.zeros(4)}, UnsupportedKeywordError, "out="
    ),
    ErrorSample(np.stack, ([real(2), real(3)],), raises=ValueError, match="same shape"),
    ErrorSample(np.stack, ([real(2)],), {"axis": 2}, np.exceptions.AxisError, "axis 2"),
    ErrorSample(np.stack, ([real(2)],), {"out": np.zeros((1, 2))}, UnsupportedKeywordError, "out="),
    ErrorSample(np.block, ([[real(2)], real(2)],), raises=ValueError, match="mismatched"),
    ErrorSample(np.block, ([(real(2),)],), raises=TypeError, match="tuple"),
    ErrorSample(np.block, ([[real(2)], []],), raises=ValueError, match="empty"),
    ErrorSample(np.split, (real(5), 2), raises=ValueError, match="equal division"),
    ErrorSample(np.array_split, (real(5), 0), raises=ValueError, match="larger than 0"),
    ErrorSample(np.dsplit, (real(2, 2), 2), raises=ValueError, match="3 or more"),
    ErrorSample(np.delete, (real(3), 5), raises=IndexError, match="out of bounds"),
    ErrorSample(np.insert, (real(3), 5, 1.0), raises=IndexError, match="out of bounds"),
    ErrorSample(np.repeat, (real(3), -1), raises=ValueError, match="negative"),
    ErrorSample(np.repeat, (real(3), [1, 2]), raises=ValueError, match="broadcast"),
    ErrorSample(np.repeat, (real(3), 1j), raises=TypeError, match=""),
    ErrorSample(np.tile, (real(3), -1), raises=ValueError, match="negative"),
    ErrorSample(np.resize, (real(3), -1), raises=ValueError, match="non-negative"),
]
