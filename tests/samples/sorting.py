"""Sorted and partitioned arrays, their indices, distinct elements."""

import numpy as np

from pullback.core.errors import ArgumentError
from pullback.testing import ErrorSample, Sample
from tests.samples import since

random = np.random.default_rng(5)


def apart(*shape, dtype=float):
    """Numbers with gaps between them, so that small steps do not change their order."""
    n = int(np.prod(shape))
    return ((random.permutation(n) + random.uniform(-0.2, 0.2, n)) / 4).reshape(shape).astype(dtype)


def real(*shape):
    return random.uniform(-1, 1, shape)


SAMPLES = [
    Sample(np.sort, apart(5)),
    Sample(np.sort, apart(2, 3)),
    Sample(np.sort, apart(2, 3), {"axis": None}),
    Sample(np.sort, apart(2, 3), {"axis": 0, "kind": "stable"}),
    Sample(np.sort, apart(2, 3, 2), {"axis": 1, "stable": True}),
    Sample(np.sort, apart(8, 3)[::-2, ::-1].T, {"axis": -1}),
    Sample(np.sort, apart(4, dtype=np.float32), {"kind": "heapsort"}),
    Sample(np.sort, apart(4, dtype=np.float16)),
    Sample(np.sort, apart(4) + 1j * real(4)),
    Sample(np.sort, apart(0)),
    Sample(np.sort, np.array([2.0, 1.0, 2.0, 1.0, 1.0]), {"stable": True}, smooth=False),
    Sample(np.sort, np.array([2.0, np.nan, -np.inf, 1.0]), smooth=False),
    Sample(np.argsort, apart(2, 3)),
    Sample(np.argsort, apart(2, 3), {"axis": None, "kind": "stable"}),
    Sample(
        lambda x: np.take_along_axis(x, np.argsort(x * x, axis=0), 0), apart(3, 2), name="argsort"
    ),
    # Only the places asked for are NumPy's business; the rest is in no order.
    Sample(lambda x: np.partition(x, 2)[2], apart(5), name="partition"),
    Sample(
        lambda x: np.partition(x, (0, -1), axis=0)[[0, -1]], apart(5, 2), name="partition(axis=0)"
    ),
    Sample(lambda x: np.partition(x, 1)[:, 1], apart(2, 3), name="partition of rows"),
    Sample(lambda x: np.partition(x, 1), apart(3, 2), name="partition of pairs"),
    Sample(
        lambda x: np.sort(np.partition(x, 2, axis=None)), apart(2, 3), name="partition(axis=None)"
    ),
    Sample(lambda x: np.take(x, np.argpartition(x, 3)[3]), apart(5), name="argpartition"),
    Sample(np.lexsort, ((apart(4), np.array([1.0, 0.0, 1.0, 0.0])),)),
    Sample(np.lexsort, apart(2, 4)),
    Sample(np.lexsort, ((apart(2, 3), apart(2, 3)),), {"axis": 0}),
    Sample(np.sort_complex, apart(4)),
    Sample(np.sort_complex, apart(4) + 1j * real(4)),
]

SAMPLES += [
    Sample(np.unique, apart(2, 3)),
    Sample(
        np.unique,
        apart(2, 3),
        {"return_index": True, "return_inverse": True, "return_counts": True},
    ),
    Sample(np.unique, np.array([1.0, np.nan, np.nan]), {"equal_nan": False}, smooth=False),
    Sample(np.unique, np.array([1.0, np.nan, np.nan]), smooth=False),
    *[Sample(f, apart(4)) for f in (np.unique_all, np.unique_counts, np.unique_inverse)],
]

# How many distinct elements there are is a question to the values, so these are not mapped.
TIES = np.array([[2.0, 1.0, 2.0], [1.0, 3.0, 0.5]])
UNMAPPED = [
    Sample(np.unique, TIES, smooth=False),
    Sample(
        np.unique,
        TIES,
        {"return_index": True, "return_inverse": True, "return_counts": True},
        smooth=False,
    ),
    Sample(np.unique, TIES, {"return_inverse": True}, smooth=False),
    Sample(np.unique, TIES[:, [0, 1, 0]], {"axis": 1, "return_counts": True}, smooth=False),
    Sample(np.unique_all, TIES, smooth=False),
    Sample(np.unique_counts, TIES, smooth=False),
    Sample(np.unique_inverse, TIES, smooth=False),
    Sample(lambda x: np.sort(np.unique_values(x)), TIES, smooth=False, name="unique_values"),
]

ERRORS = [
    ErrorSample(np.sort, (2.0,), {}, np.exceptions.AxisError, "axis -1 is out of bounds"),
    ErrorSample(np.sort, (apart(3),), {"order": "x"}, ArgumentError, "`numpy.sort` takes `order="),
    ErrorSample(np.partition, (apart(3),), {"kth": 3}, ValueError, "kth"),
    ErrorSample(np.argpartition, (apart(3),), {"kth": 7}, ValueError, "kth"),
]

SAMPLES += since(
    "2.5.0",
    Sample(np.sort, apart(2, 3), {"descending": True}),
    Sample(np.sort, apart(3, 2), {"axis": 0, "descending": False}),
    Sample(np.sort, np.array([2.0, np.nan, -np.inf, 1.0]), {"descending": True}, smooth=False),
    Sample(np.argsort, apart(2, 3), {"axis": None, "stable": True, "descending": True}),
)
