"""Arrays like another one, between end points, with a diagonal."""

import numpy as np

from pullback.testing import ErrorSample, Sample

random = np.random.default_rng(14)


def real(*shape, dtype=float):
    return random.uniform(-1, 1, shape).astype(dtype)


def cplx(*shape):
    return real(*shape) + 1j * real(*shape)


def created(make, x):
    """What `make` creates like x, beside x itself."""
    return make(x), x * 2


CREATORS = [
    lambda x: np.zeros(3, like=x),
    lambda x: np.ones((2, 1), np.float32, like=x),
    lambda x: np.empty((0, 2), like=x),
    lambda x: np.full(2, 7.0, like=x),
    lambda x: np.full((2, 3), x.sum(), like=x),
    lambda x: np.full(2, x.sum(), "f4", like=x),
    lambda x: np.arange(3.0, like=x),
    lambda x: np.arange(3, like=x),
    lambda x: np.eye(2, like=x),
    lambda x: np.eye(2, M=3, k=1, like=x),
    lambda x: np.identity(2, like=x),
    lambda x: np.tri(2, like=x),
    lambda x: np.fromfunction(lambda i: i * 2, (3,), like=x),
    lambda x: np.fromiter([1.0, 2.0], float, like=x),
    lambda x: np.array([1.0, 2.0], like=x),
    lambda x: np.array(3.0, like=x),
    lambda x: np.array([x[0], 3.0, x[1] * 2], like=x),
    lambda x: np.array([[x[0], 3], [x[1], x[0] ** 2]], like=x),
    lambda x: np.array([x, [1, 2]], dtype="f4", like=x),
    lambda x: np.array((x, x), like=x),
    lambda x: np.array(x, like=x),
    lambda x: np.array(x, copy=False, ndmin=3, like=x),
    lambda x: np.asarray(x, like=x),
    lambda x: np.asarray([x[1], x[0]], dtype=np.float32, like=x),
    lambda x: np.asanyarray([1, 2], like=x),
    lambda x: np.ascontiguousarray(x[0], like=x),
    lambda x: np.asfortranarray([[1.0, x[0]]], like=x),
    lambda x: np.require([x[0], 1.0], like=x),
]

SAMPLES = [
    *[
        Sample(created, (make, real(2) + 2), name=f"like=x ({i})")
        for i, make in enumerate(CREATORS)
    ],
    *[
        Sample(
            created,
            (lambda x, f=f, kwargs=kwargs: f(x, **kwargs), real(2, 3)),
            name=f"{f.__name__} {kwargs}",
        )
        for f in (np.zeros_like, np.ones_like)
        for kwargs in ({}, {"dtype": "f4"}, {"shape": (2,)}, {"shape": 3}, {"dtype": int})
    ],
    Sample(created, (lambda x: 0 * np.empty_like(x), real(2)), name="empty_like"),
    Sample(created, (np.zeros_like, 2.0)),
    Sample(created, (np.ones_like, cplx(2))),
    Sample(lambda x: np.full_like(x, 2.0) * x, real(2, 3), name="full_like"),
    Sample(lambda x: np.full_like(x, x[0]), real(2, 3), name="full_like of an Array"),
    Sample(
        lambda x: np.full_like(x, x[0].astype(float)), real(2, dtype="f4"), name="full_like, cast"
    ),
    Sample(lambda x: np.full_like(x, x[0], dtype=complex), real(2), name="full_like, complex"),
    Sample(lambda x: np.full_like(x, x, shape=(3, 2)), real(2), name="full_like with a shape"),
    Sample(lambda x: np.full_like(x, x * x), 2.0, name="full_like of a number"),
    Sample(np.linspace, (0.5, 2.0, 4)),
    Sample(np.linspace, (0.5, 2.0, 4), {"endpoint": False}),
    Sample(np.linspace, (0.5, 2.0, 4), {"retstep": True}),
    Sample(np.linspace, (0.5, real(2), 3)),
    Sample(np.linspace, (real(2, 1), real(3), 3), {"axis": -1}),
    Sample(np.linspace, (real(2), 1, 3), {"axis": 1, "dtype": "f4"}),
    Sample(np.linspace, (cplx(2), 1.0, 3)),
    Sample(np.linspace, (np.float32(1), np.float32(2), 3)),
    Sample(lambda x: np.linspace(x, 2, 3), np.float32(1), name="linspace float32 and a number"),
    Sample(lambda x: np.linspace(x, [2, 3], 3), np.float32(1), name="linspace and a list"),
    Sample(np.linspace, (0.5, 2.0, 1)),
    Sample(np.linspace, (0.5, 2.0, 0)),
    Sample(np.linspace, (0.5, 7.7, 4), {"dtype": int}, smooth=False),
    Sample(np.linspace, (real(2), real(2))),
    Sample(np.logspace, (0.5, 1.0, 4)),
    Sample(np.logspace, (0.5, real(2), 3), {"base": 2.0, "endpoint": False}),
    Sample(lambda a, b: np.logspace(a, 1.0, 3, base=b), (0.5, 2.5), name="logspace by base"),
    Sample(
        lambda a, b: np.logspace(a, 1.0, 3, base=b), (0.5, real(2) + 2), name="logspace by bases"
    ),
    Sample(np.logspace, (0.5, 1.0, 3), {"dtype": "f4"}),
    Sample(lambda x: np.logspace(x, 2, 3), np.float32(1), name="logspace float32 and a number"),
    Sample(np.geomspace, (0.5, 8.0, 4)),
    Sample(np.geomspace, (-0.5, -8.0, 4), {"endpoint": False}),
    Sample(np.geomspace, (real(2) + 2, 8.0, 3), {"axis": 1}),
    Sample(np.geomspace, (1.0 + 0.5j, 8.0 - 1j, 4)),
    Sample(np.geomspace, (0.5, 8.0, 3), {"dtype": "f4"}),
    Sample(np.geomspace, (0.5, 8.0, 1)),
    Sample(np.meshgrid, (real(2), real(3))),
    Sample(np.meshgrid, (real(2), real(3), 2.0), {"indexing": "ij"}),
    Sample(np.meshgrid, (real(2), real(3)), {"sparse": True, "copy": False}),
    Sample(np.meshgrid, (real(2), real(3)), {"copy": False}),
    Sample(np.meshgrid, real(2)),
    Sample(np.diag, real(3)),
    Sample(np.diag, real(2, dtype="f4"), {"k": 1}),
    Sample(np.diag, cplx(2), {"k": -2}),
    Sample(np.diag, real(0)),
    Sample(np.diag, real(3, 3)),
    Sample(np.diag, real(2, 4), {"k": 1}),
    Sample(np.diagflat, real(2, 2)),
    Sample(np.diagflat, 2.0, {"k": 1}),
    Sample(np.tril, real(3, 3)),
    Sample(np.tril, real(2, 3, 4), {"k": 1}),
    Sample(np.tril, real(3)),
    Sample(np.triu, real(3, 3)),
    Sample(np.triu, cplx(4, 3), {"k": -1}),
    Sample(
        lambda x: np.tril(np.sqrt(x))[0], np.array([[1.0, 2.0], [3.0, 4.0]]), name="part of tril"
    ),
]

ERRORS = [
    ErrorSample(np.linspace, (0.5, 2.0, -1), raises=ValueError, match="non-negative"),
    ErrorSample(np.linspace, (0.5, 2.0, 3.5), raises=TypeError, match="integer"),
    ErrorSample(np.meshgrid, (real(2), real(3)), {"indexing": "yx"}, ValueError, "'xy' and 'ij'"),
    ErrorSample(np.diag, (real(1, 1, 1),), raises=ValueError, match="1- or 2-d"),
    ErrorSample(lambda x: np.full_like(x, x[:2]), (real(3),), raises=ValueError, match="broadcast"),
    ErrorSample(
        lambda x: np.array([x, x[0]], like=x), (real(2),), raises=ValueError, match="shape"
    ),
    ErrorSample(lambda x: np.zeros(-1, like=x), (real(2),), raises=ValueError, match="negative"),
]
