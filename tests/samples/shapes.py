"""Another shape, axes or elements in another order, repeated elements, another dtype."""

import numpy as np

from pullback.core.errors import ArgumentTypeError
from pullback.testing import ErrorSample, Sample
from tests.samples import since

random = np.random.default_rng(11)


def real(*shape, dtype=float):
    return random.uniform(-1, 1, shape).astype(dtype)


def cplx(*shape):
    return real(*shape) + 1j * real(*shape)


def backward_of(*shape):
    """An array with negative and larger strides."""
    return real(*[2 * n for n in shape])[tuple([slice(None, None, -2)] * len(shape))]


SAMPLES = [
    Sample(np.reshape, (real(2, 3), (3, 2))),
    Sample(np.reshape, (real(2, 3), -1)),
    Sample(np.reshape, (real(2, 3), (-1, 2)), {"order": "F"}),
    Sample(lambda x: np.reshape(x.T, 6, order="A"), real(2, 3), name="reshape(x.T, A)"),
    Sample(np.reshape, (real(2, 3), 6), {"order": "A"}),
    *since(
        "2.1.0",
        Sample(np.reshape, (real(2, 3), (6,)), {"copy": True}),
        Sample(np.reshape, (real(2, 3), (6,)), {"copy": False}),
    ),
    Sample(np.reshape, (2.0, (1, 1))),
    Sample(np.reshape, (real(0, 3), (3, -1))),
    Sample(np.reshape, (real(1, dtype="f4"), ())),
    Sample(np.reshape, (cplx(4), [2, 2])),
    Sample(lambda x: x.reshape(3, 2) * x.reshape((3, -1)), real(2, 3), name="x.reshape"),
    Sample(np.ravel, real(2, 3)),
    Sample(np.ravel, real(2, 3), {"order": "F"}),
    Sample(lambda x: np.ravel(x.T, order="A"), real(2, 3), name="ravel(x.T, A)"),
    Sample(lambda x: np.ravel(x.T, order="K"), real(2, 3), name="ravel(x.T, K)"),
    Sample(np.ravel, 3.0),
    Sample(np.squeeze, real(1, 3, 1)),
    Sample(np.squeeze, real(1, 3, 1), {"axis": -1}),
    Sample(np.squeeze, real(1, 3, 1), {"axis": (0, 2)}),
    Sample(np.squeeze, real(1, 1, dtype="f2")),
    Sample(np.expand_dims, real(3), {"axis": 0}),
    Sample(np.expand_dims, real(3), {"axis": (0, -1)}),
    Sample(np.expand_dims, 1.0, {"axis": 0}),
    Sample(np.atleast_1d, 2.0),
    Sample(np.atleast_1d, (2.0, real(2), real(1, 2))),
    Sample(np.atleast_2d, (2.0, real(2), real(1, 2))),
    Sample(np.atleast_3d, (2.0, real(2), real(1, 2), real(1, 1, 2, 1))),
    Sample(np.transpose, real(2, 3)),
    Sample(np.transpose, backward_of(2, 3)),
    Sample(np.transpose, real(2, 3, 4), {"axes": (1, -1, 0)}),
    Sample(np.transpose, 1.0),
    Sample(np.transpose, real(0, 3)),
    Sample(np.permute_dims, (real(2, 3, 1), (2, 0, 1))),
    Sample(np.swapaxes, (real(2, 3, 1), 0, -1)),
    Sample(np.moveaxis, (real(2, 3, 1), 0, -1)),
    Sample(np.moveaxis, (real(2, 3, 1), (0, 1), (-1, 0))),
    Sample(np.rollaxis, (real(2, 3, 1), 2)),
    Sample(np.rollaxis, (real(2, 3, 1), 0, 3)),
    Sample(np.matrix_transpose, cplx(2, 2, 3)),
    Sample(np.flip, real(2, 3)),
    Sample(np.flip, real(2, 3), {"axis": 1}),
    Sample(np.flip, real(2, 3), {"axis": (0, -1)}),
    Sample(np.flip, 1.0),
    Sample(np.flip, backward_of(4)),
    Sample(np.fliplr, real(2, 3)),
    Sample(np.flipud, real(3)),
    *[Sample(np.rot90, (real(2, 3), k)) for k in range(5)],
    Sample(np.rot90, (real(2, 3, 2), -1, (2, 1))),
    Sample(np.broadcast_to, (real(3), (2, 3))),
    Sample(np.broadcast_to, (real(2, 1, dtype="f4"), (4, 2, 3))),
    Sample(np.broadcast_to, (1.0, 3)),
    Sample(np.broadcast_to, (cplx(1), (0,))),
    Sample(np.broadcast_to, (real(2), (2,))),
    Sample(np.broadcast_arrays, (real(3), real(2, 1), 1.0)),
    Sample(np.astype, (real(3), "f4")),
    Sample(np.astype, (real(3, dtype="f4"), float)),
    Sample(np.astype, (real(3), complex)),
    Sample(np.astype, (real(3), float)),
    Sample(np.astype, (real(3), float), {"copy": False}),
    Sample(np.astype, (real(3, dtype="f2"), "f4")),
    Sample(lambda x: x.astype(int), 3 * real(3), smooth=False, name="x.astype(int)"),
    Sample(lambda x: np.imag(x * 1j).astype("f4"), cplx(2), name="astype of imag"),
    Sample(np.copy, real(2, 3)),
    Sample(lambda x: x.copy() * x.flatten("F").reshape(2, 2), real(2, 2), name="copies"),
    Sample(np.shape, real(2, 3)),
    Sample(np.ndim, real(2, 3)),
    Sample(np.size, real(2, 3)),
    Sample(np.size, real(2, 3), {"axis": 1}),
    Sample(lambda x: np.sqrt(x).reshape(2, 2).T[:, ::-1][1, 0], real(4) + 2, name="a way to one"),
    Sample(
        lambda x: np.where(x > 0, np.flip(x.T, 0).T, 0) ** 2, real(2, 2), name="masked, flipped"
    ),
]

ERRORS = [
    ErrorSample(np.reshape, (real(6), (4, 2)), raises=ValueError, match="cannot reshape"),
    ErrorSample(np.reshape, (real(6), -1), {"order": "X"}, ValueError, "order"),
    ErrorSample(np.reshape, (real(6)[::2], (3, 1)), {"order": "K"}, ValueError, "order"),
    ErrorSample(np.transpose, (real(2, 3), (0, 0)), raises=ValueError, match="repeated axis"),
    ErrorSample(np.transpose, (real(2, 3), (0,)), raises=ValueError, match="axes don't match"),
    ErrorSample(np.swapaxes, (real(2), 0, 1), raises=np.exceptions.AxisError, match="axis2"),
    ErrorSample(np.moveaxis, (real(2), 0, (0, 0)), raises=ValueError, match="repeated axis"),
    ErrorSample(np.matrix_transpose, (real(2),), raises=ValueError, match="at least 2"),
    ErrorSample(np.squeeze, (real(2),), {"axis": 0}, ValueError, "not equal to one"),
    ErrorSample(np.expand_dims, (real(2),), {"axis": 3}, np.exceptions.AxisError, "axis 3"),
    ErrorSample(np.flip, (real(2),), {"axis": 1}, np.exceptions.AxisError, "axis 1"),
    ErrorSample(np.fliplr, (real(2),), raises=ValueError, match="2-d"),
    ErrorSample(np.rot90, (real(2),), raises=ValueError, match="[Aa]xes"),
    ErrorSample(np.broadcast_to, (real(2), (3,)), raises=ValueError, match="broadcast"),
    ErrorSample(np.broadcast_arrays, (real(2), real(3)), raises=ValueError, match="mismatch"),
    ErrorSample(np.astype, (real(2), str), raises=ArgumentTypeError, match="not a number"),
]
