"""Samples of assignment: programs that write into an array that they have made."""

import numpy as np

from pullback import DtypeError, ShapeError
from pullback.testing import ErrorSample, Sample

RNG = np.random.default_rng(17)
X = RNG.uniform(-1, 1, (3, 4))
V = RNG.uniform(-1, 1, 4)
W = RNG.uniform(-1, 1, (2, 4))
C = RNG.uniform(-1, 1, (3, 4)) + 1j * RNG.uniform(-1, 1, (3, 4))


def put_at(*key):
    """A program that writes v at a key of a copy of x, after x was used."""
    key = key[0] if len(key) == 1 else key

    def write(x, v):
        z = np.sin(x + nothing(v, x))
        before = np.cos(z)
        z[key] = v
        return before * z

    write.__qualname__ = f"z[{key}] = v".replace("\n", " ")
    return write


def nothing(v, x):
    """Zero as a function of v, in the dtype of x: what is made of it is an Array if v is one."""
    return np.real(0.0 * np.sum(v)).astype(x.dtype)


def rows(x):
    z = np.zeros_like(x)
    for i in range(3):
        row = z[i]
        for j in range(4):
            row[j] = x[i, j] ** 2 + (row[j - 1] if j else 0.0)
    return z


def views(x):
    z = x * 1.0
    z[1:][:, ::2][0] = np.sin(z[0, ::2])
    z.T[1] *= 2.0
    z.reshape(-1)[5:7] += z[0, :2]
    y = z.ravel()
    z[2, 2] = 0.5
    return y * np.flip(z, 0).ravel()


def accumulated(x, v):
    z = np.exp(x + nothing(v, x))
    w = z
    z += v
    z[z > 1.5] = 0.5
    z -= z[0]
    w /= 2.0
    return z * w


def functions(x, v):
    z = x + nothing(v, x)
    np.copyto(z, v, where=np.array([True, False, True, False]))
    np.put(z, [0, 5, 11], v[:2])
    np.putmask(z, np.eye(3, 4, dtype=bool), v)
    np.place(z, np.eye(3, 4, 1, dtype=bool), v * 2)
    np.fill_diagonal(z, v[:3])
    np.put_along_axis(z, np.array([[1], [2], [0]]), v[3], 1)
    return z * z


def ufunc_at(x, v):
    z = x + nothing(v, x)
    np.add.at(z, ([0, 0, 1], [1, 1, 2]), v[:3])
    np.multiply.at(z, ([0, 0, 1], [1, 1, 2]), v[:3])
    np.negative.at(z, (2, [0, 1, 1]))
    return z


def with_out(x, v):
    z = np.zeros_like(x + nothing(v, x))
    np.multiply(x, v, out=z)
    np.sum(z, axis=0, out=z[1])
    np.sqrt(x * x + 1, out=z, where=np.array([True, False, False, True]))
    return z * z


def sorted_in_place(x):
    z = x * 1.0
    z.sort(axis=0)
    z[0].fill(0.25)
    return z * x


SAMPLES = [
    Sample(put_at(1, 2), (X, 0.5)),
    Sample(put_at(1), (X, V)),
    Sample(put_at(-1), (X, 0.25)),
    Sample(put_at(slice(None), 1), (X, V[:3])),
    Sample(put_at(slice(0, 2)), (X, W)),
    Sample(put_at(slice(0, 2)), (X, V)),
    Sample(put_at(slice(None, None, -2)), (X, W[None])),
    Sample(put_at(Ellipsis, 0), (X, V[:3])),
    Sample(put_at(Ellipsis), (X, V)),
    Sample(put_at(None, 1), (X, V)),
    Sample(put_at(np.array([0, 2])), (X, W)),
    Sample(put_at(np.array([0, 2]), np.array([1, 3])), (X, V[:2])),
    Sample(put_at((0, 2), (1, 1)), (X, V[:2])),
    Sample(put_at((0, 2), slice(1, 3)), (X, V[:2])),
    Sample(put_at(slice(None), np.array([[0], [2]])), (X, V[:2].reshape(2, 1))),
    Sample(put_at(np.array([0, 2]), slice(None), None), (X, 0.5)),
    Sample(put_at(X > 0), (X, 0.5)),
    Sample(put_at(np.array([True, False, True])), (X, W)),
    Sample(put_at([]), (X, 0.5)),
    Sample(put_at(slice(0, 0)), (X, V)),
    Sample(put_at(0), (X.astype(np.float32), V.astype(np.float32))),
    Sample(put_at(0), (X.astype(np.float32), V)),
    Sample(put_at(0), (C, V)),
    Sample(put_at(0), (C, C[1])),
    Sample(rows, (X,)),
    Sample(views, (X,)),
    Sample(accumulated, (X, V)),
    Sample(functions, (X, V)),
    Sample(ufunc_at, (X, V)),
    Sample(with_out, (X, V)),
    Sample(sorted_in_place, (X,)),
]

ERRORS = [
    ErrorSample(put_at(3), (X, 0.5), raises=IndexError, match="out of bounds"),
    ErrorSample(put_at(0), (X, W), raises=ValueError, match="broadcast"),
    ErrorSample(put_at("a"), (X, 0.5), raises=IndexError, match="only integers"),
    ErrorSample(
        lambda x: np.add(x, np.ones((2, 3, 4)), out=x * 1.0),
        (X,),
        raises=ShapeError,
        match=r"shape \(2, 3, 4\) into an `out` of shape \(3, 4\)",
    ),
    ErrorSample(
        lambda x: np.multiply(x, 1j, out=x * 1.0), (X,), raises=DtypeError, match="complex128"
    ),
    ErrorSample(
        lambda x: np.add(x, 1.0, out=np.zeros((3, 4))),
        (X,),
        raises=ValueError,
        match="into a plain ndarray",
    ),
]
