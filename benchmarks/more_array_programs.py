"""Array programs of other kinds, for `bench_never_slower`: images, orders of memory, narrow dtypes.

Each is (function, arguments), as in `array_programs`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["PROGRAMS"]

RANDOM = np.random.default_rng(7)


def normal(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape)


IMAGE, GREY = RANDOM.random((64, 96, 3)), RANDOM.random((128, 128))
BYTES = (IMAGE * 255).astype(np.uint8)
SMALL, LONG, LARGE = normal(8), normal(2000), normal(200_000)
NARROW, HALF = normal(50).astype(np.float32), normal(1000).astype(np.float16)
SINGLES = normal(300, 200).astype(np.float32)
SQUARE, FORTRAN, TALL = normal(120, 120), np.asfortranarray(normal(120, 120)), normal(4000, 6)
CUBE = normal(20, 30, 40)
COMPLEX, GRID = normal(500) + 1j * normal(500), normal(40, 40) + 1j * normal(40, 40)
WHOLE, COUNTS = RANDOM.integers(-50, 50, 1000), RANDOM.integers(0, 20, 500)
MATRIX = RANDOM.integers(0, 9, (60, 60))
FLAGS = RANDOM.random(2000) > 0.5
PLACES, ROWS = RANDOM.integers(0, 2000, 300), RANDOM.integers(0, 4000, 100)
POINTS, CENTRES = normal(300, 3), normal(5, 3)
STRIDED = normal(2000, 40)[::2, ::4]


def sobel(a: Any) -> Any:
    across = a[:-2, 2:] + 2 * a[1:-1, 2:] + a[2:, 2:] - a[:-2, :-2] - 2 * a[1:-1, :-2] - a[2:, :-2]
    down = a[2:, :-2] + 2 * a[2:, 1:-1] + a[2:, 2:] - a[:-2, :-2] - 2 * a[:-2, 1:-1] - a[:-2, 2:]
    return np.hypot(across, down)


def equalised(a: Any) -> Any:
    counts, edges = np.histogram(a, 32, (0, 1))
    return np.interp(a.ravel(), edges[1:], np.cumsum(counts) / a.size).reshape(a.shape)


def dilated(a: Any) -> Any:
    p = np.pad(a, 1, mode="edge")
    n, m = a.shape
    shifted = [p[i : i + n, j : j + m] for i in range(3) for j in range(3)]
    return np.maximum.reduce(shifted)


def bilinear(a: Any) -> Any:
    """The image at twice the size."""
    wide = np.repeat(a, 2, axis=1)
    wide = 0.5 * (wide[:, 1:] + wide[:, :-1])
    tall = np.repeat(wide, 2, axis=0)
    return 0.5 * (tall[1:] + tall[:-1])


def ranked(x: Any) -> Any:
    out = np.empty(len(x))
    out[np.argsort(x)] = np.arange(len(x))
    return out


def grouped(x: Any, keys: Any) -> Any:
    order = np.argsort(keys, kind="stable")
    keys, x = keys[order], x[order]
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    return np.add.reduceat(x, starts)


def smooth(x: Any) -> Any:
    """Exponential smoothing."""
    out, last = np.empty_like(x), x[0]
    for i in range(len(x)):
        last = 0.9 * last + 0.1 * x[i]
        out[i] = last
    return out


def bollinger(x: Any) -> Any:
    windows = np.lib.stride_tricks.sliding_window_view(x, 20)
    mean, spread = windows.mean(axis=1), windows.std(axis=1)
    return np.stack([mean - 2 * spread, mean, mean + 2 * spread])


def runs(flags: Any) -> Any:
    """The lengths of runs of equal flags."""
    change = np.flatnonzero(flags[1:] != flags[:-1])
    return np.diff(np.concatenate([[-1], change, [len(flags) - 1]]))


def whitened(a: Any) -> Any:
    centred = a - a.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred / len(a))
    return centred @ vectors / np.sqrt(values)


def drawdown(x: Any) -> Any:
    level = np.cumsum(x)
    return np.max(np.maximum.accumulate(level) - level)


def mandelbrot(c: Any) -> Any:
    z, n = np.zeros_like(c), np.zeros(c.shape, int)
    for _ in range(10):
        z = np.where(np.abs(z) <= 2, z * z + c, z)
        n = n + (np.abs(z) <= 2)
    return n


def hamming(a: Any) -> Any:
    return np.sum(a[:, None, :] != a[None, :, :], axis=2)


def crc(x: Any) -> Any:
    for shift in (1, 2, 4):
        x = x ^ (x >> shift) & 0xFF
    return x


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    # Images.
    "grey of colour": (lambda a: a @ np.array([0.3, 0.6, 0.1]), (IMAGE,)),
    "grey of bytes": (lambda a: a.mean(axis=2), (BYTES,)),
    "channels first": (lambda a: np.moveaxis(a, -1, 0) * 2.0, (IMAGE,)),
    "channels normalised": (lambda a: (a - a.mean((0, 1))) / a.std((0, 1)), (IMAGE,)),
    "bytes to floats": (lambda a: a.astype(np.float32) / 255, (BYTES,)),
    "floats to bytes": (lambda a: np.clip(a * 255, 0, 255).astype(np.uint8), (IMAGE,)),
    "inverted bytes": (lambda a: 255 - a, (BYTES,)),
    "gamma": (lambda a: a**2.2, (GREY,)),
    "sobel": (sobel, (GREY,)),
    "histogram equalised": (equalised, (GREY,)),
    "dilated": (dilated, (GREY,)),
    "bilinear": (bilinear, (GREY,)),
    "mirrored": (lambda a: a[:, ::-1] * 1.0, (IMAGE,)),
    "turned": (lambda a: np.rot90(a) + 0.0, (GREY,)),
    "cropped": (lambda a: a[10:50, 20:70].copy(), (IMAGE,)),
    "pooled": (lambda a: a.reshape(32, 4, 32, 4).max(axis=(1, 3)), (GREY,)),
    "thresholded": (lambda a: np.where(a > a.mean(), 1.0, 0.0), (GREY,)),
    "integral image": (lambda a: a.cumsum(0).cumsum(1), (GREY,)),
    "brightest channel": (lambda a: a.max(axis=2), (IMAGE,)),
    "which channel": (lambda a: a.argmax(axis=2), (IMAGE,)),
    "blended": (lambda a, b: 0.3 * a + 0.7 * b, (GREY, GREY.T)),
    # Orders of memory, and strides.
    "transpose scaled": (lambda a: a.T * 2.0, (SQUARE,)),
    "Fortran scaled": (lambda a: a * 2.0 + 1.0, (FORTRAN,)),
    "Fortran and C": (lambda a, b: a + b, (FORTRAN, SQUARE)),
    "Fortran by vector": (lambda a, x: a @ x, (FORTRAN, normal(120))),
    "Fortran, sums of rows": (lambda a: a.sum(axis=1), (FORTRAN,)),
    "Fortran, means of columns": (lambda a: a.mean(axis=0), (FORTRAN,)),
    "axes rolled": (lambda a: a.transpose(2, 0, 1) - 1.0, (CUBE,)),
    "axes reversed, exp": (lambda a: np.exp(a.T), (CUBE,)),
    "middle axis last": (lambda a: np.swapaxes(a, 1, 2).sum(-1), (CUBE,)),
    "strided argument": (lambda a: a * 3.0, (STRIDED,)),
    "strided sum": (lambda a: a.sum(axis=0), (STRIDED,)),
    "column": (lambda a: a[:, 3] * 2.0, (TALL,)),
    "columns swapped": (lambda a: a[:, ::-1] * 1.0, (TALL,)),
    "big stride": (lambda x: x[::16] * 2.0, (LARGE,)),
    "even minus odd": (lambda x: x[::2] - x[1::2], (LARGE,)),
    "diagonals": (lambda a: np.diagonal(a) * np.diagonal(a, 0, 1, 0), (SQUARE,)),
    "broadcast row": (lambda a: a - a[0], (TALL,)),
    "broadcast column": (lambda a: a / a[:, :1], (TALL,)),
    "triangle": (lambda a: np.tril(a) - np.triu(a, 1), (SQUARE,)),
    # Sorting and choosing.
    "sort descending": (lambda x: np.sort(x)[::-1] * 1.0, (LONG,)),
    "sort of float32": (lambda x: np.sort(x), (SINGLES.ravel()[:2000].copy(),)),
    "sort of integers": (lambda x: np.sort(x), (WHOLE,)),
    "ranks by assignment": (ranked, (LONG,)),
    "sorted by key": (lambda x, y: x[np.argsort(y)], (LONG, LONG[::-1].copy())),
    "median of columns": (lambda a: np.median(a, axis=0), (TALL,)),
    "quartiles": (lambda x: np.quantile(x, [0.25, 0.5, 0.75]), (LONG,)),
    "trimmed mean": (lambda x: np.sort(x)[100:-100].mean(), (LONG,)),
    "sums of groups": (grouped, (normal(500), COUNTS)),
    "top of rows": (lambda a: np.sort(a, axis=1)[:, -3:].sum(1), (SQUARE,)),
    "searchsorted twice": (lambda x, y: np.searchsorted(np.sort(x), y), (LONG, SMALL)),
    "argmin of distances": (
        lambda p, c: np.argmin(((p[:, None] - c) ** 2).sum(-1), 1),
        (POINTS, CENTRES),
    ),
    # Strings of reductions.
    "moments": (lambda x: (x.mean(), x.var(), ((x - x.mean()) ** 3).mean()), (LONG,)),
    "range scaled": (lambda a: (a - a.min(0)) / (a.max(0) - a.min(0)), (TALL,)),
    "rms of rows": (lambda a: np.sqrt((a * a).mean(axis=1)), (SINGLES,)),
    "cosines": (
        lambda a: a @ a.T / np.outer(np.linalg.norm(a, axis=1), np.linalg.norm(a, axis=1)),
        (POINTS,),
    ),
    "softmax small": (lambda x: np.exp(x - x.max()) / np.exp(x - x.max()).sum(), (SMALL,)),
    "entropy": (lambda x: -np.sum(np.abs(x) * np.log(np.abs(x) + 1e-9)), (LONG,)),
    "weighted mean": (lambda x: np.average(x, weights=np.abs(x)), (LONG,)),
    "sum over two of three": (lambda a: (a * a).sum(axis=(0, 2)), (CUBE,)),
    "max then sum": (lambda a: a.max(axis=0).sum(axis=1), (CUBE,)),
    "covariance": (lambda a: np.cov(a.T), (TALL,)),
    "correlation": (lambda a: np.corrcoef(a, rowvar=False), (TALL,)),
    "whitened": (whitened, (TALL,)),
    "prod of small": (lambda x: np.prod(1 + 0.1 * x), (SMALL,)),
    # Cumulative.
    "cumsum of integers": (np.cumsum, (WHOLE,)),
    "cumsum over rows": (lambda a: np.cumsum(a, axis=1), (SQUARE,)),
    "drawdown": (drawdown, (LONG,)),
    "smoothed": (smooth, (LONG[:200].copy(),)),
    "bands": (bollinger, (LONG,)),
    "returns": (lambda x: np.diff(np.log(np.abs(x) + 1)), (LONG,)),
    "cumulative minimum": (np.minimum.accumulate, (LONG,)),
    # Complex.
    "complex scaled": (lambda z: z * (2 - 1j) + 1, (COMPLEX,)),
    "complex quotient": (lambda z: z / (z + 2), (COMPLEX,)),
    "magnitude and phase": (lambda z: np.abs(z) + np.angle(z), (COMPLEX,)),
    "power spectrum": (lambda x: np.abs(np.fft.rfft(x)) ** 2, (LONG,)),
    "complex sqrt": (np.sqrt, (COMPLEX,)),
    "complex product": (lambda z: z @ z.conj().T, (GRID,)),
    "mandelbrot": (mandelbrot, (GRID,)),
    "real parts": (lambda z: z.real**2 + z.imag**2, (COMPLEX,)),
    "complex sum": (lambda z: z.sum() / len(z), (COMPLEX,)),
    # Integers and booleans.
    "modular": (lambda n: (n * 17 + 5) % 31, (WHOLE,)),
    "bits": (crc, (WHOLE,)),
    "integer product": (lambda a: a @ a, (MATRIX,)),
    "integer mean": (lambda n: n.mean(), (WHOLE,)),
    "Hamming distances": (hamming, (MATRIX[:20].copy(),)),
    "counts of values": (lambda n: np.bincount(n, minlength=20), (COUNTS,)),
    "gcd": (lambda n: np.gcd(n, 12), (WHOLE,)),
    "divmod": (lambda n: n // 7 * 10 + n % 7, (WHOLE,)),
    "flags and": (lambda f: f[1:] & ~f[:-1], (FLAGS,)),
    "count of flags": (lambda f: f.sum(), (FLAGS,)),
    "any of rows": (lambda a: (a > 2).any(axis=1), (SQUARE,)),
    "runs": (runs, (FLAGS,)),
    "mask and mean": (lambda x, f: x[f].mean(), (LONG, FLAGS)),
    "mask assigned": (lambda x, f: np.where(f, x, -x), (LONG, FLAGS)),
    "logical chain": (lambda x: (x > -1) & (x < 1) | (x > 2), (LONG,)),
    # Indices.
    "taken": (lambda x, i: x[i] * 2.0, (LONG, PLACES)),
    "rows taken": (lambda a, i: a[i].sum(axis=0), (TALL, ROWS)),
    "taken and put": (lambda x, i: np.bincount(i, x[i], 2000), (LONG, PLACES)),
    "two indices": (lambda a: a[np.arange(120), np.arange(120)[::-1]], (SQUARE,)),
    "np.take along columns": (lambda a: np.take(a, [3, 0, 1], axis=1), (TALL,)),
    "np.ix_": (lambda a: a[np.ix_([3, 1, 2], [0, 5])], (SQUARE,)),
    # Narrow dtypes.
    "float32, short": (lambda x: np.tanh(x) * x + 1, (NARROW,)),
    "float32 by number": (lambda x: x * 1.5 - 0.5, (SINGLES,)),
    "float32 sums": (lambda a: a.sum(axis=0), (SINGLES,)),
    "float32 product": (lambda a: a.T @ a, (SINGLES,)),
    "float32 transposed": (lambda a: a.T * 2, (SINGLES,)),
    "float32 and float64": (lambda a, x: a + x, (SINGLES, normal(200))),
    "float16": (lambda x: x * np.float16(2) + np.float16(1), (HALF,)),
    "float16 sum": (lambda x: x.sum(), (HALF,)),
    "float16 to float32": (lambda x: np.exp(x.astype(np.float32)), (HALF,)),
    "int8": (lambda x: x + np.int8(1), (WHOLE.astype(np.int8),)),
    "uint16": (lambda x: x >> 2, (COUNTS.astype(np.uint16),)),
}  # fmt: skip
