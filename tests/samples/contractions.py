"""Products of arrays: matmul, dot, einsum and their kin."""

import numpy as np

from pullback.core.errors import (
    ShapeError,
    UnsupportedKeywordError,
)
from pullback.testing import ErrorSample, Sample

random = np.random.default_rng(5)


def real(*shape, dtype=float):
    return random.uniform(-1, 1, shape).astype(dtype)


def cplx(*shape, dtype=complex):
    return (random.uniform(-1, 1, shape) + 1j * random.uniform(-1, 1, shape)).astype(dtype)


def stacked(fun, *pairs, **kwargs):
    """A sample for each pair of shapes."""
    return [Sample(fun, (real(*x), real(*y)), kwargs) for x, y in pairs]


def operators(x, y):
    return x @ y


def own(x):
    """Both operands are the same array."""
    return np.matmul(x, x.T)


def iterated(a, v, n):
    """A matrix on one vector after another: its cotangent is collected."""
    for _ in range(n):
        v = a @ v + (v @ a) * 0.5
    return v


def recurrent(w, x, v):
    """Few rows at a time; two matrices, one of them also read otherwise."""
    for i in range(2):
        x = np.tanh(x @ w + DATA[i] @ v)
    return x, np.sum(w * v) + w[0, 1], (v.T @ x[0])


def left(a, x):
    """Few columns, from the left; the matrix is a part and a product of others."""
    b = -a[:8] * 0.25 + a[1:] / 3.0
    for _ in range(3):
        x = b @ x + np.concatenate([b, b]).T @ np.concatenate([x, x])
    return x


DATA = [real(1, 8), real(8)]
WEIGHTS = real(4, 2)
SHIFTED = real(6, 8)[::-1, 1::2].T  # (4, 6), strides of both signs

SAMPLES = [
    Sample(np.matmul, (real(2, 2), real(2)), {"signature": "FF->F", "casting": "unsafe"}),
    Sample(np.matmul, (real(2, 2, dtype="f4"), real(2)), {"signature": ("d", "d", "d")}),
    Sample(np.vecdot, (real(2), real(2, dtype="f4")), {"signature": (None, None, complex)}),
    *stacked(
        np.matmul,
        ((2, 3), (3, 4)),
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((3,), (3, 2)),
        ((4, 2, 3), (3,)),
        ((3,), (4, 3, 2)),
        ((4, 2, 3), (3, 2)),
        ((2, 3), (4, 3, 2)),
        ((4, 2, 3), (4, 3, 2)),
        ((4, 1, 2, 3), (3, 3, 2)),
        ((2, 1, 2, 3), (1, 2, 3, 2)),
        ((1, 2, 3), (2, 2, 3, 1)),
        ((2, 3, 1, 2, 2), (2, 1, 3, 2, 1)),
        ((2, 0), (0, 3)),
        ((0, 3), (3,)),
        ((0, 2, 3), (3, 2)),
        ((2, 3), (0, 3, 2)),
        ((1, 1), (1, 1)),
    ),
    Sample(np.matmul, (cplx(2, 3), cplx(3, 2))),
    Sample(np.matmul, (real(2, 3), cplx(2, 3, 2))),
    Sample(np.matmul, (cplx(3), real(3))),
    Sample(np.matmul, (real(2, 3, dtype="f4"), real(3, 2, dtype="f4"))),
    Sample(np.matmul, (real(2, 3, dtype="f4"), real(2, 3, 2))),
    Sample(np.matmul, (real(2, 3, dtype="f2"), real(3, dtype="f2"))),
    Sample(np.matmul, (SHIFTED, real(6, 3).T.copy().T)),
    Sample(np.matmul, (np.broadcast_to(real(3), (2, 3)), SHIFTED[:3])),
    Sample(np.matmul, (real(2, 3), np.arange(6).reshape(3, 2))),
    Sample(np.matmul, (real(4, 2), real(3, 4)), {"axes": [(1, 0), (1, 0), (1, 0)]}),
    Sample(np.matmul, (real(2, 3, 4), real(3)), {"axes": [(2, 1), 0, 0]}),
    Sample(np.matmul, (real(3), real(3)), {"axes": [0, (0,), ()]}),
    Sample(np.matmul, (real(2, 3, dtype="f4"), real(3, 2, dtype="f4")), {"dtype": float}),
    Sample(np.linalg.matmul, (real(2, 3), real(3, 2))),
    Sample(operators, (real(2, 3), real(3, 2))),
    Sample(lambda x: WEIGHTS @ x, real(2, 3), name="plain @ x"),
    Sample(lambda x: x @ WEIGHTS, real(3, 4), name="x @ plain"),
    Sample(lambda x: x @ [[1.0], [2.0]], real(3, 2), name="x @ list"),
    Sample(lambda x: [[1.0, 2.0]] @ x, real(2, 3), name="list @ x"),
    Sample(lambda x: np.matmul(x, [x[0, 1], 1.0]), real(3, 2), name="matmul with a list"),
    Sample(own, real(2, 3)),
    Sample(iterated, (real(3, 3), real(3), 1)),
    Sample(iterated, (real(3, 3), real(3), 4)),
    Sample(iterated, (real(3, 3, dtype="f4"), real(3, dtype="f4"), 2)),
    Sample(iterated, (cplx(3, 3), cplx(3), 2)),
    Sample(
        lambda a, v: np.maximum(a, 0) @ v, (real(3, 3), real(3)), name="matmul of what was picked"
    ),
    Sample(recurrent, (real(8, 8), real(2, 8), real(8, 8))),
    Sample(left, (real(9, 8) / 4, real(8, 2))),
    *stacked(
        np.dot,
        ((), ()),
        ((), (2, 3)),
        ((3,), ()),
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((3,), (3, 2)),
        ((2, 3), (3, 2)),
        ((2, 2, 3), (3,)),
        ((2, 2, 3), (3, 2)),
        ((3,), (2, 3, 2)),
        ((2, 3), (2, 3, 2)),
        ((2, 1, 3), (2, 3, 2)),
        ((2, 0), (2, 0, 2)),
    ),
    Sample(np.dot, (0.5, real(3))),
    Sample(np.dot, (real(3, dtype="f4"), 2.0)),
    Sample(np.dot, (real(2, 3), cplx(3))),
    Sample(np.dot, (real(2, 3), [1, 2, 3])),
    *stacked(np.vdot, ((3,), (3,)), ((2, 3), (3, 2)), ((2, 3), (6,)), ((), ()), ((0,), (0,))),
    Sample(np.vdot, (cplx(2, 3), cplx(2, 3))),
    Sample(np.vdot, (cplx(3), real(3))),
    Sample(np.vdot, (real(3), cplx(3))),
    Sample(np.vdot, (0.5 + 1j, 2.0 - 1j)),
    *stacked(
        np.inner,
        ((), (3,)),
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((3,), (2, 3)),
        ((2, 3), (4, 3)),
        ((2, 3), (2, 2, 3)),
        ((2, 0), (3, 0)),
    ),
    Sample(np.inner, (cplx(2, 3), real(3))),
    *stacked(np.outer, ((2,), (3,)), ((), (3,)), ((2, 2), (1, 3)), ((0,), (3,))),
    Sample(np.outer, (cplx(2), real(3))),
    Sample(np.outer, (SHIFTED, 2.0)),
    Sample(np.linalg.outer, (real(2), real(3))),
    *stacked(
        np.vecdot,
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((2, 1, 3), (4, 3)),
        ((2, 0), (2, 0)),
        ((0, 3), (3,)),
    ),
    Sample(np.vecdot, (cplx(2, 3), cplx(2, 3))),
    Sample(np.vecdot, (cplx(3), real(2, 3))),
    Sample(np.vecdot, (real(2, 3), cplx(3))),
    Sample(np.vecdot, (real(3, 2), real(3, 2)), {"axis": 0}),
    Sample(np.vecdot, (real(3, 2), real(3, 2)), {"axis": 0, "keepdims": True}),
    Sample(np.vecdot, (real(3, 2), real(2, 3)), {"axes": [0, 1, ()]}),
    Sample(np.vecdot, (real(3, 2), real(3, 2)), {"axes": [0, (0,)], "keepdims": True}),
    Sample(np.vecdot, (real(3, 2), real(2, 3)), {"axes": [0, 1, 0], "keepdims": True}),
    Sample(np.vecdot, (real(2, 3), real(3)), {"dtype": complex}),
    Sample(np.linalg.vecdot, (cplx(3, 2), cplx(3, 2)), {"axis": 0}),
    *stacked(
        np.tensordot,
        ((2, 3, 2), (3, 2, 4)),
        ((2, 3), (2, 3)),
        ((2, 0, 1), (0, 1, 3)),
    )[::2],
    Sample(np.tensordot, (real(2, 3), real(3, 2)), {"axes": 1}),
    Sample(np.tensordot, (real(2), real(3)), {"axes": 0}),
    Sample(np.tensordot, (real(2, 3), real(2, 3)), {"axes": 2}),
    Sample(np.tensordot, (real(2, 3), real(4, 3)), {"axes": (-1, 1)}),
    Sample(np.tensordot, (real(2, 3, 4), real(4, 2, 3)), {"axes": ([0, -1], [1, 0])}),
    Sample(np.tensordot, (real(2, 3, 4), real(4, 2)), {"axes": [(-1,), (0,)]}),
    Sample(np.tensordot, (real(2, 3), real(4)), {"axes": ((), ())}),
    Sample(np.tensordot, (cplx(2, 3), real(3)), {"axes": 1}),
    Sample(np.linalg.tensordot, (real(2, 3), real(3, 2)), {"axes": 1}),
    *stacked(
        np.kron,
        ((2,), (3,)),
        ((2, 3), (2, 2)),
        ((2,), (2, 2)),
        ((2, 2, 1), (2,)),
        ((), (2, 2)),
        ((2, 0), (2, 2)),
    ),
    Sample(np.kron, (cplx(2, 2), real(2))),
    Sample(np.kron, (2.0, real(2))),
    Sample(np.linalg.multi_dot, ([real(2, 3), real(3, 2)],)),
    Sample(np.linalg.multi_dot, ([real(2, 5), real(5, 1), real(1, 4)],)),
    Sample(np.linalg.multi_dot, ([real(2), real(2, 3), real(3, 2), real(2, 4)],)),
    Sample(np.linalg.multi_dot, ([real(3), real(3, 2), real(2)],)),
    Sample(np.linalg.multi_dot, ([real(3), real(3)],)),
]

if hasattr(np, "matvec"):  # NumPy 2.2
    SAMPLES += [
        *stacked(
            np.matvec, ((2, 3), (3,)), ((2, 3), (4, 3)), ((4, 1, 2, 3), (2, 3)), ((0, 3), (3,))
        ),
        Sample(np.matvec, (cplx(2, 3), cplx(3))),
        Sample(np.matvec, (real(3, 2), real(3, 4)), {"axes": [(1, 0), 0, 0]}),
        *stacked(
            np.vecmat, ((3,), (3, 2)), ((4, 3), (3, 2)), ((2, 3), (4, 1, 3, 2)), ((3,), (3, 0))
        ),
        Sample(np.vecmat, (cplx(3), cplx(3, 2))),
        Sample(np.vecmat, (cplx(2, 3), real(3, 2))),
    ]

ERRORS = [
    ErrorSample(np.matmul, (real(2, 3), real(2, 3)), raises=ValueError, match="mismatch"),
    ErrorSample(np.matmul, (real(3), 2.0), raises=ValueError, match="dimension"),
    ErrorSample(operators, (real(3), 2.0), raises=ValueError, match="dimension"),
    ErrorSample(operators, (real(3), "text"), raises=TypeError),
    ErrorSample(
        np.matmul, (real(2, 2), real(2, 2)), {"axis": 0}, TypeError, "axis can only be used"
    ),
    ErrorSample(
        np.matmul,
        (real(2, 2), real(2, 2)),
        {"keepdims": True},
        TypeError,
        "does not support keepdims",
    ),
    ErrorSample(
        np.matmul,
        (real(2, 2), real(2, 2)),
        {"axes": [(0, 1)]},
        ValueError,
        "for all 3 inputs and outputs",
    ),
    ErrorSample(
        np.matmul,
        (real(2, 2), real(2, 2)),
        {"dtype": "f4", "casting": "safe"},
        TypeError,
        "Cannot cast",
    ),
    ErrorSample(np.vecdot, (real(2, 3), real(1)), raises=ShapeError, match="but got 3 and 1"),
    ErrorSample(np.vecdot, (2.0, real(1)), raises=ShapeError),
    ErrorSample(np.dot, (real(2, 3), real(2)), raises=ValueError),
    ErrorSample(
        np.dot, (real(3), real(3)), {"out": np.zeros(())}, UnsupportedKeywordError, "Write"
    ),
    ErrorSample(np.linalg.outer, (real(2, 2), real(2)), raises=ShapeError, match="two vectors"),
    ErrorSample(
        np.tensordot, (real(2, 3), real(2, 3)), {"axes": 1}, ShapeError, "differ in length"
    ),
    ErrorSample(np.tensordot, (real(2, 3), real(3)), {"axes": (2, 0)}, ValueError, "out of bounds"),
    ErrorSample(
        lambda x: np.linalg.multi_dot([x]), (real(2, 2),), raises=ShapeError, match="two or more"
    ),
]
