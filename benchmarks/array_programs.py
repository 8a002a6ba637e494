"""Small NumPy programs of many kinds and sizes, for `bench_never_slower.py`.

Reductions along each axis of arrays of 1,000 to 1,000,000 elements, products of matrices, captured
matrices, sorting and searching, masks, strided views, transforms, stencils: what ordinary array
code consists of, one idea to a row. None of them is in the tests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

RNG = np.random.default_rng(7)
X10, Y10 = RNG.standard_normal((2, 10))
X1K, Y1K = RNG.standard_normal((2, 1000))
X100K = RNG.standard_normal(100_000)
X1M = RNG.standard_normal(1_000_000)
M4 = RNG.standard_normal((4, 4)) + 4 * np.eye(4)
M50 = RNG.standard_normal((50, 50)) + 10 * np.eye(50)
S50 = M50 @ M50.T
M100 = RNG.standard_normal((100, 100))
M300 = RNG.standard_normal((300, 300))
M1000 = RNG.standard_normal((1000, 1000))
TALL, WIDE = RNG.standard_normal((5000, 8)), RNG.standard_normal((8, 5000))
CUBE = RNG.standard_normal((20, 30, 40))
STACK = RNG.standard_normal((64, 6, 6)) + 6 * np.eye(6)
GRID = RNG.standard_normal((64, 64))
POINTS = RNG.standard_normal((60, 3))
P40, Q40, ROWS, X5K = (
    RNG.standard_normal((40, 5)), RNG.standard_normal((40, 30)), RNG.standard_normal((64, 6)),
    X100K[:5000].copy(),
)  # fmt: skip
PLACES = RNG.integers(0, 1000, 500)
COUNTS = RNG.integers(0, 50, 1000)
F1K = X1K.astype(np.float32)
F100K = X100K.astype(np.float32)
N1K = RNG.integers(-50, 50, 1000)
Z1K = X1K + 1j * Y1K
TABLE_X, TABLE_Y = np.linspace(-4, 4, 50), np.sin(np.linspace(-4, 4, 50))
EDGES = np.linspace(-3, 3, 21)


def heat(u: Any) -> Any:
    for _ in range(10):
        u = u.copy()
        u[1:-1, 1:-1] += 0.1 * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        )
    return u


def life(board: Any) -> Any:
    n = sum(
        np.roll(board, (i, j), axis=(0, 1))
        for i in (-1, 0, 1)
        for j in (-1, 0, 1)
        if (i, j) != (0, 0)
    )
    return ((n == 3) | ((board == 1) & (n == 2))).astype(int)


def forward_solve(low: Any, b: Any) -> Any:
    x = np.zeros_like(b)
    for i in range(len(b)):
        x[i] = (b[i] - low[i, :i] @ x[:i]) / low[i, i]
    return x


def nearest(points: Any) -> Any:
    d = np.sum((points[:, None] - points[None]) ** 2, axis=-1)
    np.fill_diagonal(d, np.inf)
    return np.unravel_index(np.argmin(d), d.shape)


def pagerank(links: Any) -> Any:
    p = np.full(len(links), 1 / len(links))
    for _ in range(20):
        p = 0.85 * links @ p + 0.15 / len(links)
        p = p / p.sum()
    return p


def moving_mean(x: Any) -> Any:
    c = np.cumsum(np.concatenate([[0.0], x]))
    return (c[20:] - c[:-20]) / 20


def clusters(points: Any) -> Any:
    centres = points[:4]
    for _ in range(3):
        label = np.argmin(np.sum((points[:, None] - centres) ** 2, axis=-1), axis=1)
        centres = np.stack([points[label == k].mean(axis=0) for k in range(4)])
    return centres


def laplacian(u: Any) -> Any:
    sides = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
    return sides - 4 * u[1:-1, 1:-1]


def trapezoid(x: Any, y: Any) -> Any:
    return np.sum((x[1:] - x[:-1]) * (y[1:] + y[:-1])) / 2


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


windows = np.lib.stride_tricks.sliding_window_view

# fmt: off
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    # reductions
    "sum of 1,000": (np.sum, (X1K,)),
    "sum of 1,000,000": (np.sum, (X1M,)),
    "sum of columns, 1000 by 1000": (lambda a: a.sum(axis=0), (M1000,)),
    "sum of rows, 1000 by 1000": (lambda a: a.sum(axis=1), (M1000,)),
    "sum along the middle": (lambda a: a.sum(axis=1), (CUBE,)),
    "sum along first and last": (lambda a: a.sum(axis=(0, 2)), (CUBE,)),
    "max of 100,000": (np.max, (X100K,)),
    "max of columns": (lambda a: a.max(axis=0), (M300,)),
    "min of rows": (lambda a: a.min(axis=1), (M300,)),
    "argmax of 1,000": (np.argmax, (X1K,)),
    "argmax of 100,000": (np.argmax, (X100K,)),
    "argmin of columns": (lambda a: a.argmin(axis=0), (M300,)),
    "argmax of rows": (lambda a: a.argmax(axis=1), (M300,)),
    "argmax of float32": (np.argmax, (F100K,)),
    "argmax of integers": (np.argmax, (N1K,)),
    "any and all": (lambda x: (x > 5).any() | (x > -9).all(), (X100K,)),
    "count above": (lambda x: np.sum(x > 0), (X100K,)),
    "count_nonzero": (lambda x: np.count_nonzero(x > 0), (X100K,)),
    "mean and std of columns": (lambda a: (a.mean(axis=0), a.std(axis=0)), (TALL,)),
    "mean of tall rows": (lambda a: a.mean(axis=1), (TALL,)),
    "var of wide rows": (lambda a: a.var(axis=1), (WIDE,)),
    "product": (np.prod, (1 + X1K * 1e-3,)),
    "nansum": (np.nansum, (X1K,)),
    "nanmax": (np.nanmax, (X100K,)),
    "ptp": (np.ptp, (X1K,)),
    "norms of rows": (lambda a: np.linalg.norm(a, axis=1), (TALL,)),
    "norm of 100,000": (np.linalg.norm, (X100K,)),
    "log-sum-exp": (lambda x: np.log(np.sum(np.exp(x - x.max()))) + x.max(), (X1K,)),
    "float32 sum": (np.sum, (F100K,)),
    "integer sum": (np.sum, (N1K,)),
    # products
    "matrix by vector, 4": (lambda a, x: a @ x, (M4, X10[:4].copy())),
    "matrix by vector, 50": (lambda a, x: a @ x, (M50, X1K[:50].copy())),
    "matrix by vector, 300": (lambda a, x: a @ x, (M300, X1K[:300].copy())),
    "vector by matrix, 300": (lambda a, x: x @ a, (M300, X1K[:300].copy())),
    "captured matrix by vector, 100": (lambda x: M100 @ x, (X1K[:100].copy(),)),
    "captured matrix by vector, 300": (lambda x: M300 @ x, (X1K[:300].copy(),)),
    "captured matrix by vector, 1000": (lambda x: M1000 @ x, (X1K,)),
    "captured matrix, one row": (lambda x: M1000[3] @ x, (X1K,)),
    "captured vector added": (lambda x: x + X100K[:1000], (X1K,)),
    "captured large vector": (lambda x: x * X100K, (X100K,)),
    "captured small vector": (lambda x: x @ Y10, (X10,)),
    "captured table looked up": (lambda n: X100K[n], (PLACES,)),
    "matrix by matrix, 4": (lambda a, b: a @ b, (M4, M4)),
    "matrix by matrix, 50": (lambda a, b: a @ b, (M50, S50)),
    "matrix by matrix, 300": (lambda a, b: a @ b, (M300, M300)),
    "matrix by its transpose": (lambda a: a @ a.T, (M100,)),
    "gram matrix of tall": (lambda a: a.T @ a, (TALL,)),
    "stack of products": (lambda a: a @ a, (STACK,)),
    "dot of 1,000": (np.dot, (X1K, Y1K)),
    "dot of 100,000": (np.dot, (X100K, X100K)),
    "outer of 300": (np.outer, (X1K[:300].copy(), Y1K[:300].copy())),
    "quadratic form": (lambda a, x: x @ a @ x, (M50, X1K[:50].copy())),
    "einsum bij,bj->bi": (lambda a, x: np.einsum("bij,bj->bi", a, x), (STACK, ROWS)),
    "einsum trace": (lambda a: np.einsum("ii", a), (M100,)),
    "einsum ijk,kl": (lambda a, b: np.einsum("ijk,kl->ijl", a, b), (CUBE, P40)),
    "einsum diagonal of a product": (lambda a, b: np.einsum("ij,ij->i", a, b), (TALL, TALL)),
    "tensordot": (lambda a, b: np.tensordot(a, b, axes=([2, 1], [0, 1])), (CUBE, Q40)),
    "matrix power": (lambda a: np.linalg.matrix_power(a, 5), (M50 / 20,)),
    "kron": (np.kron, (M4, M4)),
    "multi_dot": (lambda a, x: np.linalg.multi_dot([a, a, x]), (M50, X1K[:50].copy())),
    "trace and diagonal": (lambda a: np.trace(a) + np.diag(a).sum(), (M100,)),
    # linear algebra
    "solve, 50": (np.linalg.solve, (M50, X1K[:50].copy())),
    "solve, 4": (np.linalg.solve, (M4, X10[:4].copy())),
    "inv, 50": (np.linalg.inv, (M50,)),
    "inv, 4": (np.linalg.inv, (M4,)),
    "det, 50": (np.linalg.det, (M50,)),
    "cholesky, 50": (np.linalg.cholesky, (S50,)),
    "cholesky of a stack": (lambda a: np.linalg.cholesky(a @ np.swapaxes(a, 1, 2)), (STACK,)),
    "solve of a stack": (np.linalg.solve, (STACK, STACK[:, :, :1].copy())),
    "eigh, 50": (lambda a: np.linalg.eigh(a)[0], (S50,)),
    "svd, 50": (lambda a: np.linalg.svd(a, compute_uv=False), (M50,)),
    "qr, 50": (lambda a: np.linalg.qr(a)[1], (M50,)),
    "lstsq, tall": (lambda a, b: np.linalg.lstsq(a, b, rcond=None)[0], (TALL, X5K)),
    "pinv, 50": (np.linalg.pinv, (M50,)),
    "normal equations": (lambda a, b: np.linalg.solve(a.T @ a, a.T @ b), (TALL, X5K)),
    "forward substitution": (forward_solve, (np.tril(M50), X1K[:50].copy())),
    "power iteration": (pagerank, (np.abs(M50) / np.abs(M50).sum(axis=0),)),
    "slogdet of covariance": (lambda a: np.linalg.slogdet(np.cov(a.T))[1], (TALL,)),
    # sorting and searching
    "sort of 1,000": (np.sort, (X1K,)),
    "argsort of 1,000": (np.argsort, (X1K,)),
    "sort of rows": (lambda a: np.sort(a, axis=1), (M100,)),
    "sort of columns": (lambda a: np.sort(a, axis=0), (M100,)),
    "largest ten": (lambda x: np.sort(x)[-10:], (X1K,)),
    "partition": (lambda x: np.partition(x, 10)[:10], (X1K,)),
    "median of 1,000": (np.median, (X1K,)),
    "median of rows": (lambda a: np.median(a, axis=1), (M100,)),
    "percentiles": (lambda x: np.percentile(x, [25, 50, 75]), (X1K,)),
    "unique integers": (np.unique, (N1K,)),
    "unique with counts": (lambda n: np.unique(n, return_counts=True), (COUNTS,)),
    "histogram": (lambda x: np.histogram(x, bins=20)[0], (X1K,)),
    "histogram of edges": (lambda x: np.histogram(x, bins=EDGES)[0], (X1K,)),
    "bincount": (np.bincount, (COUNTS,)),
    "bincount of weights": (lambda n, w: np.bincount(n, weights=w), (COUNTS, X1K)),
    "searchsorted": (lambda x: np.searchsorted(EDGES, x), (X1K,)),
    "digitize": (lambda x: np.digitize(x, EDGES), (X1K,)),
    "interp": (lambda x: np.interp(x, TABLE_X, TABLE_Y), (X1K,)),
    "take_along_axis": (lambda a: np.take_along_axis(a, np.argsort(a, axis=1), axis=1), (M100,)),
    "ranks": (lambda x: np.argsort(np.argsort(x)), (X1K,)),
    "isin": (lambda n: np.isin(n, [1, 5, 9]), (N1K,)),
    "lexsort": (lambda x, y: np.lexsort((x, y)), (X1K, Y1K)),
    "nearest pair": (nearest, (POINTS,)),
    "k-means": (clusters, (POINTS,)),
    # masks and choices
    "mask of 1,000": (lambda x: x[x > 0], (X1K,)),
    "mask of 100,000": (lambda x: x[x > 0], (X100K,)),
    "mask of rows": (lambda a: a[a[:, 0] > 0], (TALL,)),
    "sum where": (lambda x: np.sum(x, where=x > 0), (X1K,)),
    "where": (lambda x: np.where(x > 0, x, 0.1 * x), (X100K,)),
    "select": (lambda x: np.select([x < -1, x < 1], [-1.0, x], 1.0), (X1K,)),
    "clip": (lambda x: np.clip(x, -1, 1), (X100K,)),
    "choose": (lambda x: np.choose((x > 0).astype(int), [x, 2 * x]), (X1K,)),
    "assignment through a mask": (lambda x: setmask(x), (X1K,)),
    "nonzero": (lambda x: np.nonzero(x > 1)[0], (X1K,)),
    "argwhere": (lambda a: np.argwhere(a > 2), (M100,)),
    "extract and count": (lambda x: (x[np.abs(x) < 1].mean(), np.sum(np.abs(x) < 1)), (X1K,)),
    # views and moves
    "fancy rows": (lambda a: a[PLACES], (M1000,)),
    "fancy elements": (lambda x, n: x[n], (X1K, PLACES)),
    "fancy columns": (lambda a: a[:, PLACES[:50]], (M1000[:100].copy(),)),
    "scattered sum": (lambda x, n: scattered(x, n), (X1K[:500].copy(), PLACES)),
    "transpose copied": (lambda a: a.T.copy(), (M1000,)),
    "transpose added": (lambda a: a + a.T, (M1000,)),
    "transpose of three axes": (lambda a: a.transpose(2, 0, 1) * 2.0, (CUBE,)),
    "strided view": (lambda x: x[::3] + x[1::3][: len(x[::3])], (X100K[:99_999].copy(),)),
    "reversed": (lambda x: x[::-1] * x, (X100K,)),
    "a view alone": (lambda x: x[10:20], (X1K,)),
    "roll": (lambda x: np.roll(x, 3) - x, (X1K,)),
    "concatenate": (lambda x, y: np.concatenate([x, y, x]), (X1K, Y1K)),
    "stack and sum": (lambda x, y: np.stack([x, y]).sum(axis=0), (X1K, Y1K)),
    "pad": (lambda a: np.pad(a, 2), (GRID,)),
    "pad by reflection": (lambda a: np.pad(a, 2, mode="reflect"), (GRID,)),
    "tile and repeat": (lambda x: np.tile(x, 3) + np.repeat(x, 3), (X1K,)),
    "meshgrid": (lambda x, y: np.hypot(*np.meshgrid(x, y)), (X1K[:100].copy(), Y1K[:100].copy())),
    "flip and rot90": (lambda a: np.rot90(a) + np.flip(a), (GRID,)),
    "moving windows": (lambda x: windows(x, 20).mean(axis=1), (X1K,)),
    "moving maximum": (lambda x: windows(x, 20).max(axis=1), (X1K,)),
    "moving mean": (moving_mean, (X1K,)),
    "swapped axes": (lambda a: np.moveaxis(a, 0, -1).sum(axis=0), (CUBE,)),
    "zeros and filled": (lambda x: filled(x), (X1K,)),
    # cumulative, signals, polynomials
    "cumsum of 1,000": (np.cumsum, (X1K,)),
    "cumsum of 1,000,000": (np.cumsum, (X1M,)),
    "cumsum of columns": (lambda a: np.cumsum(a, axis=0), (M300,)),
    "cumprod": (lambda x: np.cumprod(1 + 1e-3 * x), (X1K,)),
    "running maximum": (np.maximum.accumulate, (X1K,)),
    "diff twice": (lambda x: np.diff(x, 2), (X1K,)),
    "trapezoid": (trapezoid, (np.sort(X1K), Y1K)),
    "gradient": (lambda x: np.gradient(x, 0.1), (X1K,)),
    "convolve, 1000 by 10": (np.convolve, (X1K, X10)),
    "convolve, 1000 by 500": (lambda x, y: np.convolve(x, y, "same"), (X1K, Y1K[:500].copy())),
    "correlate": (lambda x, y: np.correlate(x, y, "full"), (X1K[:200].copy(), Y1K[:200].copy())),
    "fft of 1,000": (np.fft.fft, (X1K,)),
    "rfft of 1,024": (np.fft.rfft, (X100K[:1024].copy(),)),
    "low pass": (lambda x: np.fft.irfft(np.fft.rfft(x) * (np.arange(501) < 50)), (X1K,)),
    "fft2": (lambda a: np.abs(np.fft.fft2(a)), (GRID,)),
    "polyval of 1,000": (lambda x: np.polyval([1.0, -2.0, 3.0, 0.5], x), (X1K,)),
    "polyfit": (lambda x, y: np.polyfit(x, y, 3), (X1K, Y1K)),
    "vander": (lambda x: np.vander(x, 4), (X1K,)),
    "complex modulus": (np.abs, (Z1K,)),
    "complex product": (lambda z: z * np.conj(z), (Z1K,)),
    "complex exponential": (lambda x: np.exp(1j * x), (X1K,)),
    # elementwise
    "sine of 100,000": (np.sin, (X100K,)),
    "exp of 1,000": (np.exp, (X1K,)),
    "tanh of 1,000": (np.tanh, (X1K,)),
    "sum of squares, 1,000,000": (lambda x: np.sum(x * x), (X1M,)),
    "added, 1,000,000": (lambda x: x + 1.0, (X1M,)),
    "float32 arithmetic": (lambda x: x * 2 + 1, (F100K,)),
    "float32 exp": (np.exp, (F100K,)),
    "integer arithmetic": (lambda n: n * 3 + n // 7 - n % 5, (N1K,)),
    "integer power and mask": (lambda n: (n**2) & 255, (N1K,)),
    "power": (lambda x: np.abs(x) ** 1.7, (X1K,)),
    "square root": (lambda x: np.sqrt(np.abs(x)), (X100K,)),
    "round": (lambda x: np.round(x, 2), (X1K,)),
    "sign and floor": (lambda x: np.sign(x) * np.floor(np.abs(x)), (X1K,)),
    "arctan2": (np.arctan2, (X1K, Y1K)),
    "scalar arithmetic": (lambda x: (x * 2.0 + 1.0) / (x * x + 1.0), (0.7,)),
    "scalar by math": (lambda x: np.float64(x) ** 3 - np.sqrt(x), (0.7,)),
    "comparison": (lambda x, y: x < y, (X100K, X100K[::-1].copy())),
    "dtype cast": (lambda x: x.astype(int), (X100K,)),
    # broadcasting and stencils
    "distances": (lambda p: np.sqrt(((p[:, None] - p[None]) ** 2).sum(axis=-1)), (POINTS,)),
    "centred and scaled": (lambda a: (a - a.mean(axis=0)) / a.std(axis=0), (TALL,)),
    "softmax of rows": (softmax, (M300,)),
    "column by row": (lambda x, y: x[:, None] * y, (X1K, Y1K)),
    "heat on a grid": (heat, (GRID,)),
    "laplacian": (laplacian, (GRID,)),
    "game of life": (life, ((GRID > 0).astype(int),)),
    "mean of blocks": (lambda a: a.reshape(16, 4, 16, 4).mean(axis=(1, 3)), (GRID,)),
    "correlation": (lambda a: np.corrcoef(a.T), (TALL,)),
    "cross of stacks": (np.cross, (POINTS, POINTS[::-1].copy())),
    "one-hot": (lambda n: np.eye(50)[n], (COUNTS,)),
}  # fmt: skip


def setmask(x: Any) -> Any:
    x = x.copy()
    x[x < 0] = 0.0
    return x


def scattered(x: Any, n: Any) -> Any:
    out = np.zeros(1000)
    np.add.at(out, n, x)
    return out


def filled(x: Any) -> Any:
    out = np.zeros((len(x), 3))
    out[:, 0] = 1.0
    out[:, 1] = x
    out[:, 2] = x * x
    return out
