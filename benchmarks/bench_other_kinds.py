"""A third list of kinds, beside those of `bench_kinds.py` and `bench_more_kinds.py`.

Functions, methods and keywords that neither of those measures; its rows were written down before
any was timed. The options, the table and the bars are those of `bench_kinds.py`.
"""

from __future__ import annotations

import sys
from typing import Any

from bench_kinds import Row, main


def leaky(np: Any, x: Any, c: Any) -> Any:
    return np.where(x > 1.0, x, 0.99 * x) + 0.001 * np.abs(x - c.a)


def rotated(np: Any, x: Any, c: Any) -> Any:
    a = 0.01 * x[0, 0]
    turn = np.stack((np.stack((np.cos(a), -np.sin(a))), np.stack((np.sin(a), np.cos(a)))))
    return np.concatenate((turn @ x[:2], x[2:]))


def centred(np: Any, x: Any, c: Any) -> Any:
    y = x - np.mean(x, axis=0)
    return x + 0.01 * (y.T @ y)


# fmt: off
ROWS = [
    # Elementwise.
    Row("log2", "vector", lambda np, x, c: 0.9 * x + 0.1 * np.log2(x + 1.0)),
    Row("cbrt", "vector", lambda np, x, c: np.cbrt(x)),
    Row("sinh and cosh", "vector", lambda np, x, c: 0.3 * np.sinh(x) + 0.3 * np.cosh(x)),
    Row("tan", "vector", lambda np, x, c: x - 0.01 * np.tan(0.5 * x)),
    Row("arcsinh", "vector", lambda np, x, c: 0.5 * x + 0.5 * np.arcsinh(x)),
    Row("sigmoid", "vector", lambda np, x, c: 1.0 / (1.0 + np.exp(-x))),
    Row("relu", "vector", lambda np, x, c: x + 0.01 * np.maximum(0.0, x - 1.0)),
    Row("leaky", "vector", leaky),
    Row("fmin of an array", "vector", lambda np, x, c: np.fmin(x, c.b + 0.5)),
    Row("number - x", "vector", lambda np, x, c: 2.0 - x),
    Row("array / number", "vector", lambda np, x, c: (x + 0.1) / 1.1),
    Row("polynomial by Horner", "vector", lambda np, x, c: 0.5 + x * (0.2 + x * (0.1 - x * 0.05))),
    Row("x * x + 1", "vector", lambda np, x, c: (x * x + 1.0) * 0.4),
    Row("logistic map of a number", "number", lambda np, x, c: 3.2 * x * (1.0 - x)),
    Row("distance of a number", "number", lambda np, x, c: np.sqrt(x * x + 0.1) * 0.9),
    Row("angle of complex numbers", "vector", lambda np, x, c: np.angle(x + 1j * c.b) + 0.5 * x),
    # Reductions.
    Row("method sum", "vector", lambda np, x, c: x * (0.9 + 0.001 * x.sum())),
    Row("method max", "vector", lambda np, x, c: x - 0.1 * x.max()),
    Row("method dot", "vector", lambda np, x, c: x + 0.001 * x.dot(c.b)),
    Row("average with weights", "vector",
        lambda np, x, c: x * (0.9 + 0.1 * np.average(x, weights=c.b))),
    Row("median", "vector", lambda np, x, c: x * (0.9 + 0.1 * np.median(x))),
    Row("cov", "matrix", lambda np, x, c: x + 0.01 * np.cov(x)),
    Row("nansum", "vector", lambda np, x, c: x * (0.9 + 0.01 * np.nansum(x))),
    Row("ptp", "vector", lambda np, x, c: x * (0.9 + 0.1 * np.ptp(x))),
    Row("log-sum-exp over rows", "matrix",
        lambda np, x, c: x - 0.1 * np.log(np.sum(np.exp(x), axis=1, keepdims=True))),
    Row("centred", "matrix", centred),
    # Shapes and indices.
    Row("x[..., None] and sum", "vector",
        lambda np, x, c: np.sum(x[..., None] * c.b, axis=1) * 0.1),
    Row("flatten", "matrix", lambda np, x, c: x.flatten().reshape(4, 4)),
    Row("append", "vector", lambda np, x, c: np.append(x[:9], x[9])),
    Row("column_stack", "vector", lambda np, x, c: np.column_stack((x, c.a))[:, 0]),
    Row("array_split", "vector", lambda np, x, c: np.concatenate(np.array_split(x, 3))),
    Row("swap of rows", "matrix", lambda np, x, c: x[[1, 0, 3, 2]]),
    Row("diagonal by index", "matrix", lambda np, x, c: x + 0.1 * x[range(4), range(4)]),
    Row("roll over two axes", "matrix", lambda np, x, c: np.roll(x, (1, 1), axis=(0, 1))),
    Row("gradient", "vector", lambda np, x, c: x + 0.01 * np.gradient(x)),
    Row("partition", "vector", lambda np, x, c: np.partition(x, 4)),
    # Products.
    Row("outer of two moving", "vector", lambda np, x, c: x + 0.001 * np.outer(x, x) @ c.b),
    Row("vdot", "vector", lambda np, x, c: x * (0.9 + 0.01 * np.vdot(x, c.b))),
    Row("rotated", "matrix", rotated),
    Row("einsum of two sums", "matrix",
        lambda np, x, c: x * (0.9 + 0.001 * np.einsum("ij,ij->", x, c.A))),
    Row("convolve", "vector", lambda np, x, c: 0.9 * x + 0.01 * np.convolve(x, c.r)[:10]),
    Row("matrix power by hand", "matrix", lambda np, x, c: 0.5 * x + 0.01 * (x @ x @ x)),
]
# fmt: on


if __name__ == "__main__":
    main(sys.argv[1:], ROWS, {})
