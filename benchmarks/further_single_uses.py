"""Further programs that use an operation once, as users write them, for `bench_single_uses.py`.

The rows were written down before any was timed. A program is a function of a NumPy namespace and an
argument; of PyTorch's where it has another spelling, the third entry.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

rng = numpy.random.default_rng(1)
uniform = lambda *shape: rng.uniform(0.2, 1.5, shape)
V, W, LONG, M, N, BIG = (
    uniform(8), uniform(8), uniform(3000), uniform(5, 5), uniform(6, 4), uniform(60, 80),
)  # fmt: skip
S = N.T @ N + numpy.eye(4)  # symmetric and positive definite
CUBE, Z = uniform(3, 4, 5), uniform(8) + 1j * uniform(8)
ROWS, COLUMNS = numpy.array([0, 2, 4, 2]), numpy.array([1, 1, 3, 0])
TRUTHS, LABELS = LONG > 0.9, rng.integers(0, 5, 60)
KNOTS = numpy.linspace(0, 2, 12)
EIGHTH = numpy.arange(8) / 8

Program = Callable[[Any, Any], Any]
PROGRAMS: dict[str, tuple[Any, ...]] = {
    # einsum and its like
    "einsum trace": (M, lambda np, x: np.einsum("ii->", x)),
    "einsum diagonal": (M, lambda np, x: np.sum(np.einsum("ii->i", x) ** 2)),
    "einsum batch": (CUBE, lambda np, x: np.sum(np.einsum("bij,bkj->bik", x, x))),
    "einsum bilinear": (V, lambda np, x: np.einsum("i,ij,j->", x, W8, x)),
    "einsum outer": (V, lambda np, x: np.sum(np.einsum("i,j->ij", x, W))),
    "vdot": (V, lambda np, x: np.vdot(x, W)),
    "inner of rows": (N, lambda np, x: np.sum(np.inner(x, x))),
    "chain of products": (M, lambda np, x: np.sum(x @ x @ x)),
    "matrix and vector": (BIG, lambda np, x: np.sum(np.matmul(x, LONG[:80]) ** 2)),
    # linear algebra
    "slogdet": (S, lambda np, x: np.linalg.slogdet(x)[1]),
    "matrix power": (M, lambda np, x: np.sum(np.linalg.matrix_power(x, 3))),
    "pinv": (N, lambda np, x: np.sum(np.linalg.pinv(x))),
    "qr": (N, lambda np, x: np.sum(np.abs(np.linalg.qr(x)[1]))),
    "svd values": (N, lambda np, x: np.sum(np.linalg.svd(x, compute_uv=False))),
    "largest eigenvalue": (S, lambda np, x: np.linalg.eigh(x)[0][-1]),
    "norm of rows": (N, lambda np, x: np.sum(np.linalg.norm(x, axis=1))),
    "Frobenius norm": (N, lambda np, x: np.linalg.norm(x)),
    "norm of order 1": (V, lambda np, x: np.linalg.norm(x, 1)),
    "solve with a matrix": (S, lambda np, x: np.sum(np.linalg.solve(x, N.T))),
    "inverse quadratic form": (S, lambda np, x: V[:4] @ np.linalg.inv(x) @ V[:4]),
    # places
    "pairs of places": (M, lambda np, x: np.sum(x[ROWS, COLUMNS] ** 2)),
    "rows by a list": (N, lambda np, x: np.sum(x[[3, 1, 0]])),
    "truths of the values": (LONG, lambda np, x: np.sum(x[x > 0.7])),
    "truths of rows": (N, lambda np, x: np.sum(x[x[:, 0] > 0.5])),
    "last element": (V, lambda np, x: x[-1] ** 2),
    "reversed": (V, lambda np, x: np.sum(x[::-1] * W)),
    "ellipsis": (CUBE, lambda np, x: np.sum(x[..., 1] * x[..., 2])),
    "new axes": (V, lambda np, x: np.sum(np.exp(-((x[:, None] - W[None, :]) ** 2)))),
    "take along labels": (BIG, lambda np, x: np.sum(x[numpy.arange(60), LABELS])),
    "corner": (BIG, lambda np, x: np.sum(x[:10, -10:])),
    "interior": (BIG, lambda np, x: np.sum(x[1:-1, 1:-1] - x[:-2, 1:-1])),
    # choices
    "where chain": (
        LONG, lambda np, x: np.sum(np.where(x < 0.5, x, np.where(x < 1.0, x**2, 1.0)))
    ),
    "where of two": (LONG, lambda np, x: np.sum(np.where(TRUTHS, np.sin(x), np.cos(x)))),
    "minimum of two": (V, lambda np, x: np.sum(np.minimum(x, W))),
    "relu": (LONG, lambda np, x: np.sum(np.maximum(0, x - 0.8))),
    "leaky": (LONG, lambda np, x: np.sum(np.where(x > 0.8, x, 0.1 * x))),
    "abs": (LONG, lambda np, x: np.sum(np.abs(x - 0.8))),
    "sign": (V, lambda np, x: np.sum(np.sign(x) * x)),
    "hinge": (V, lambda np, x: np.mean(np.maximum(0.0, 1 - x * W))),
    # along axes
    "mean of rows, kept": (N, lambda np, x: np.sum(x / np.mean(x, axis=1, keepdims=True))),
    "softmax": (
        N, lambda np, x: np.sum((lambda e: e / np.sum(e, axis=1, keepdims=True))(np.exp(x))[:, 0])
    ),
    "log of a sum of exponentials": (
        V, lambda np, x: np.log(np.sum(np.exp(x - np.max(x)))) + np.max(x)
    ),
    "variance of columns": (N, lambda np, x: np.sum(np.var(x, axis=0))),
    "sum of two axes": (CUBE, lambda np, x: np.sum(np.sum(x, axis=(0, 2)) ** 2)),
    "cumulative sum of columns": (N, lambda np, x: np.sum(np.cumsum(x, axis=0) ** 2)),
    "standardised": (LONG, lambda np, x: np.sum(((x - np.mean(x)) / np.std(x)) ** 3)),
    "min of all": (BIG, lambda np, x: np.min(x)),
    "product of rows": (N, lambda np, x: np.sum(np.prod(x, axis=1))),
    # shapes
    "roll": (V, lambda np, x: np.sum(np.roll(x, 1) * x)),
    "pad": (V, lambda np, x: np.sum(np.pad(x, 1, mode="constant") ** 2)),
    "repeat": (V, lambda np, x: np.sum(np.repeat(x, 3) ** 2)),
    "tiled": (V, lambda np, x: np.sum(np.tile(x, (2, 2)) ** 2)),
    "hstack": (V, lambda np, x: np.sum(np.hstack([x, W]) ** 2)),
    "vstack": (V, lambda np, x: np.sum(np.vstack([x, 2 * x]) ** 2)),
    "column stack": (V, lambda np, x: np.sum(np.column_stack([x, W]) @ M[:2, :2])),
    "split": (V, lambda np, x: np.sum(np.split(x, 2)[0] * np.split(x, 2)[1])),
    "flatten": (N, lambda np, x: np.sum(x.flatten() ** 2)),
    "expand and squeeze": (V, lambda np, x: np.sum(np.squeeze(np.expand_dims(x, 0)) ** 2)),
    "swap axes": (CUBE, lambda np, x: np.sum(np.swapaxes(x, 0, 1) ** 3)),
    "flip": (N, lambda np, x: np.sum(np.fliplr(x) * x)),
    "lower triangle": (M, lambda np, x: np.sum(np.tril(x) @ np.tril(x).T)),
    "diagonal matrix": (V, lambda np, x: np.sum(np.diag(x) @ W8)),
    "broadcast": (V, lambda np, x: np.sum(np.broadcast_to(x, (4, 8)) ** 2)),
    # numbers and lists
    "a list of numbers": (0.7, lambda np, x: np.sum(np.array([x, x**2, 1.0]) * numpy.ones(3))),
    "polynomial": (0.7, lambda np, x: 1 + 2 * x - 3 * x**2 + x**3),
    "Horner's rule": (V, lambda np, x: np.sum(horner([1.0, -2.0, 0.5, 3.0], x))),
    "loop over rows": (N, lambda np, x: sum([np.dot(row, row) for row in x])),
    "quotient of numbers": (0.7, lambda np, x: (x - 1) / (x + 1)),
    "logarithm of a number": (0.7, lambda np, x: np.log(1 + np.exp(x))),
    "distance": (V, lambda np, x: np.sqrt(np.sum((x - W) ** 2))),
    "a dict of weights": (
        V, lambda np, x: np.sum({"a": x * 2.0, "b": x + 1.0}["a"] * {"a": W, "b": V}["b"])
    ),
    # complex numbers and others
    "real part": (V, lambda np, x: np.sum(np.real(np.exp(1j * x)))),
    "modulus of a product": (V, lambda np, x: np.sum(np.abs(x * Z))),
    "angle": (V, lambda np, x: np.sum(np.angle(x + 1j * W))),
    "real transform": (V, lambda np, x: np.sum(np.abs(np.fft.rfft(x)) ** 2)),
    "power of two arrays": (V, lambda np, x: np.sum(x**W)),
    "arctan2": (V, lambda np, x: np.sum(np.arctan2(x, W))),
    "sinc": (V, lambda np, x: np.sum(np.sinc(x))),
    "sorted gaps": (LONG, lambda np, x: np.sum(np.diff(np.sort(x)) ** 2)),
    "second differences": (LONG, lambda np, x: np.sum(np.diff(x, 2) ** 2)),
    "gradient of a grid": (V, lambda np, x: np.sum(np.gradient(x) ** 2)),
    "cross product": (N[:, :3], lambda np, x: np.sum(np.cross(x, W[:3]) ** 2)),
    "cosine similarity": (
        V, lambda np, x: np.dot(x, W) / (np.sqrt(np.dot(x, x)) * math.sqrt(float(W @ W)))
    ),
}  # fmt: skip
W8 = uniform(8, 8)


def horner(coefficients: list[float], x: Any) -> Any:
    out: Any = 0.0
    for c in coefficients:
        out = out * x + c
    return out
