"""Further array programs, for `bench_never_slower`: recurrences, structure of matrices, transforms.

Each is (function, arguments), as in `array_programs`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["PROGRAMS"]

RANDOM = np.random.default_rng(23)


def normal(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape)


X, Y, SHORT = normal(400), normal(400), normal(12)
A, B, SKEW = normal(30, 30), normal(30, 30), normal(7, 11)
WIDE, TALL, CUBE = normal(50, 400), normal(600, 5), normal(8, 12, 10)
POSITIVE, ANGLES = RANDOM.random(300) + 0.1, RANDOM.random(300) * 6
WHOLE, BITS = RANDOM.integers(1, 1000, 600), RANDOM.integers(0, 2, 640).astype(bool)
LABELS = RANDOM.integers(0, 12, 600)
SINGLE, BATCH = normal(16, 24).astype(np.float32), normal(4, 16, 24).astype(np.float32)
SIGNAL, PICTURE = normal(1024), RANDOM.random((48, 60))
WAVES = normal(256) + 1j * normal(256)
HOLES = np.where(RANDOM.random(500) < 0.1, np.nan, normal(500))
BITES = RANDOM.integers(0, 256, 2000).astype(np.uint8)


def in_turn(step: Callable[..., Any], n: int) -> Callable[..., Any]:
    def repeated(x: Any) -> Any:
        for _ in range(n):
            x = step(x)
        return x

    return repeated


def thomas(a: Any) -> Any:
    """A tridiagonal system, with ones beside the diagonal."""
    n, d, r = len(a), [a[0] + 4.0], [a[0]]
    for i in range(1, n):
        w = 1.0 / d[-1]
        d.append(a[i] + 4.0 - w)
        r.append(a[i] - w * r[-1])
    x = [r[-1] / d[-1]]
    for i in range(n - 2, -1, -1):
        x.append((r[i] - x[-1]) / d[i])
    return np.array(x[::-1])


def haar(x: Any) -> Any:
    parts = []
    while len(x) > 1:
        parts.append(x[::2] - x[1::2])
        x = x[::2] + x[1::2]
    return np.concatenate([x, *parts[::-1]])


def attention(q: Any) -> Any:
    scores = q @ q.T / np.float32(5)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ q


def layer_norm(a: Any) -> Any:
    centred = a - a.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + np.float32(1e-5))


def dtw(x: Any, y: Any) -> Any:
    """Dynamic time warping, row by row of a table."""
    table = np.full((len(x) + 1, len(y) + 1), 1e9)
    table[0, 0] = 0.0
    for i in range(len(x)):
        for j in range(len(y)):
            near = min(table[i, j], table[i, j + 1], table[i + 1, j])
            table[i + 1, j + 1] = abs(x[i] - y[j]) + near
    return table[-1, -1]


def gram_schmidt(a: Any) -> Any:
    rows: list[Any] = []
    for v in a:
        for u in rows:
            v = v - (u @ v) * u
        rows.append(v / np.sqrt(v @ v))
    return np.array(rows)


def rows_in_a_loop(a: Any) -> Any:
    return np.array([row[row.argmax()] - row.mean() for row in a])


def chunks(x: Any) -> Any:
    return [part.sum() for part in np.split(x, 8)]


def filled(x: Any) -> Any:
    out = np.empty((len(x), len(x)))
    out[:] = x
    out[np.diag_indices(len(x))] = 0.0
    return out


def bounced(x: Any) -> Any:
    x = x.copy()
    x[x < 0] *= -0.5
    x[1:-1] += 0.1 * (x[2:] - x[:-2])
    return x


def power_spectrum(x: Any) -> Any:
    return np.abs(np.fft.rfft(x * np.hanning(len(x)))) ** 2


def boxes(a: Any) -> Any:
    total = np.cumsum(np.cumsum(a, axis=0), axis=1)
    return total[4:, 4:] - total[:-4, 4:] - total[4:, :-4] + total[:-4, :-4]


def weighted_quantile(x: Any, w: Any) -> Any:
    order = np.argsort(x)
    share = np.cumsum(w[order]) / np.sum(w)
    return x[order][np.searchsorted(share, 0.5)]


def series(a: Any) -> Any:
    total = term = a
    for k in range(2, 6):
        term = term @ a / k
        total = total + term
    return total


def in_pieces(x: Any) -> Any:
    return np.piecewise(x, [x < 0, x >= 0], [lambda t: t * 2, lambda t: t**2])


def rank_one(a: Any, x: Any) -> Any:
    return a - np.outer(a @ x, x @ a) / (1.0 + x @ a @ x)


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    # Recurrences and loops of Python's.
    "thomas": (thomas, (X[:60],)),
    "haar": (haar, (SIGNAL[:256],)),
    "time warping": (dtw, (SHORT, SHORT[::-1].copy())),
    "gram-schmidt": (gram_schmidt, (SKEW,)),
    "rows in a loop": (rows_in_a_loop, (SKEW,)),
    "chunks": (chunks, (X,)),
    "diffusion": (in_turn(lambda x: x + 0.1 * (np.roll(x, 1) - 2 * x + np.roll(x, -1)), 20), (X,)),
    "babylonian": (in_turn(lambda x: 0.5 * (x + 2.0 / x), 6), (POSITIVE,)),
    "matrix squared on": (in_turn(lambda a: a @ a / 30, 4), (A,)),
    "sorted again": (in_turn(lambda x: np.sort(x) - 0.1 * x, 3), (X,)),
    "clipped steps": (in_turn(lambda x: np.clip(x * 1.3, -1, 1), 10), (X,)),
    "logistic": (in_turn(lambda x: 3.7 * x * (1 - x), 25), (POSITIVE / 2,)),
    # Structure of matrices.
    "upper triangle": (lambda a: a[np.triu_indices(len(a), 1)], (A,)),
    "lower and upper": (lambda a: np.tril(a) @ np.triu(a), (A,)),
    "symmetric part": (lambda a: 0.5 * (a + a.T), (A,)),
    "commutator": (lambda a, b: a @ b - b @ a, (A, B)),
    "filled and diagonal": (filled, (X[:40],)),
    "diagonal scaled": (lambda a, x: x[:, None] * a * x, (A, X[:30])),
    "rank one": (rank_one, (A, X[:30])),
    "block": (lambda a, b: np.block([[a, b], [b, a]]), (A, B)),
    "toeplitz": (lambda x: x[np.abs(np.subtract.outer(np.arange(50), np.arange(50)))], (X,)),
    "hankel": (lambda x: np.lib.stride_tricks.sliding_window_view(x, 20) @ x[:20], (X,)),
    "companion": (lambda x: np.vstack([x, np.eye(11, 12)]), (SHORT,)),
    "permuted": (lambda a: a[::-1][:, ::-1] + a, (A,)),
    "quarter turns": (lambda a: np.rot90(a) - np.rot90(a, 3), (A,)),
    "rows by norms": (lambda a: a / np.linalg.norm(a, axis=1)[:, None], (WIDE,)),
    "frobenius": (lambda a: np.linalg.norm(a), (WIDE,)),
    "columns exchanged": (lambda a: np.take(a, np.arange(30)[::-1], axis=1), (A,)),
    "trace of a product": (lambda a, b: np.trace(a @ b), (A, B)),
    "hadamard": (lambda a, b: (a * b).sum(axis=0), (A, B)),
    "matrix exponential": (series, (A,)),
    "tensor by vectors": (lambda c, x: c @ x[:10] @ x[:12], (CUBE, X)),
    "einsum of three": (lambda c, a: np.einsum("ijk,jl->ilk", c, a[:12]), (CUBE, A)),
    "outer sums": (lambda x: np.add.outer(x, x).max(axis=0), (X[:80],)),
    # Statistics.
    "z-scores": (lambda a: (a - a.mean(axis=0)) / a.std(axis=0), (TALL,)),
    "covariance": (lambda a: np.cov(a, rowvar=False), (TALL,)),
    "skewness": (lambda x: np.mean((x - x.mean()) ** 3) / np.std(x) ** 3, (X,)),
    "weighted quantile": (weighted_quantile, (X, POSITIVE[0] + np.abs(Y))),
    "winsorised": (lambda x: np.clip(x, *np.quantile(x, [0.05, 0.95])), (X,)),
    "without holes": (lambda x: np.nanmean(x) + np.nanstd(x), (HOLES,)),
    "holes filled": (lambda x: np.nan_to_num(x, nan=0.5), (HOLES,)),
    "holes counted": (lambda x: np.isnan(x).sum(), (HOLES,)),
    "mean absolute": (lambda x: np.abs(x - np.median(x)).mean(), (X,)),
    "autocorrelation": (lambda x: np.array([x[k:] @ x[: len(x) - k] for k in range(10)]), (X,)),
    "exponential mean": (lambda x: (x[::-1] * 0.9 ** np.arange(len(x))).sum(), (X,)),
    "sums by label": (lambda w: np.bincount(LABELS, w, 12), (normal(600),)),
    "counts by label": (lambda n: np.bincount(n), (LABELS,)),
    "unique of labels": (lambda n: np.unique(n), (LABELS,)),
    "largest of groups": (lambda x: x.reshape(-1, 8).max(axis=1), (X,)),
    "histogram of two": (lambda x, y: np.histogram2d(x, y, 6)[0], (X, Y)),
    "argmax and value": (lambda a: a[np.arange(len(a)), a.argmax(axis=1)], (WIDE,)),
    "second largest": (lambda a: np.partition(a, -2, axis=1)[:, -2], (WIDE,)),
    "argpartition": (lambda x: x[np.argpartition(x, 5)[:5]].sum(), (X,)),
    "max less min": (lambda a: np.ptp(a, axis=1), (WIDE,)),
    "min and its place": (lambda x: (x.min(), x.argmin()), (X,)),
    "argmin of rows": (lambda a: a.argmin(axis=1), (WIDE,)),
    "argmax of columns": (lambda a: a.argmax(axis=0), (WIDE,)),
    # Functions of elements.
    "piecewise": (in_pieces, (X,)),
    "select": (lambda x: np.select([x < -1, x < 1], [x * 0, x * x], x), (X,)),
    "wrapped angles": (lambda x: (x + np.pi) % (2 * np.pi) - np.pi, (ANGLES,)),
    "unwrapped": (lambda x: np.unwrap(x), (ANGLES,)),
    "polar": (lambda r, t: np.stack([r * np.cos(t), r * np.sin(t)]), (POSITIVE, ANGLES)),
    "log and exp": (lambda x: np.exp(np.log(x) * 0.3), (POSITIVE,)),
    "log1p expm1": (lambda x: np.log1p(np.expm1(x)), (POSITIVE,)),
    "cube root": (lambda x: np.cbrt(x) + np.sign(x), (X,)),
    "hypot": (lambda x, y: np.hypot(x, y), (X, Y)),
    "copysign": (lambda x, y: np.copysign(x, y), (X, Y)),
    "logaddexp": (lambda x, y: np.logaddexp(x, y), (X, Y)),
    "modf": (lambda x: np.modf(x)[0], (X,)),
    "frexp": (lambda x: np.frexp(x)[0], (X,)),
    "heaviside": (lambda x: np.heaviside(x, 0.5) * x, (X,)),
    "rounded to two": (lambda x: np.round(x, 2), (X,)),
    "fmax": (lambda x, y: np.fmax(x, y) - np.fmin(x, y), (X, Y)),
    "hyperbolic": (lambda x: np.arcsinh(np.sinh(x)) + np.arctanh(np.tanh(x) * 0.5), (X,)),
    "polynomial": (lambda x: ((0.3 * x + 1) * x - 2) * x + 1, (X,)),
    "chebyshev": (lambda x: np.polynomial.chebyshev.chebval(x, [1.0, 2.0, 0.5]), (X,)),
    "derivative of coefficients": (lambda x: np.polyder(x), (SHORT,)),
    "product of polynomials": (lambda x: np.polymul(x, x), (SHORT,)),
    # Integers and flags.
    "remainders": (lambda n: (n * 7919) % 104729, (WHOLE,)),
    "divisors": (lambda n: np.gcd(n, 60) + np.lcm(n, 4), (WHOLE,)),
    "collatz": (in_turn(lambda n: np.where(n % 2 == 0, n // 2, 3 * n + 1), 10), (WHOLE,)),
    "bits packed": (lambda b: np.packbits(b), (BITS,)),
    "flags counted": (lambda b: np.cumsum(b)[-1] - np.count_nonzero(~b), (BITS,)),
    "parity": (lambda n: np.bitwise_xor.reduce(n), (WHOLE,)),
    "sums of bytes": (lambda n: n.sum(dtype=np.int64), (BITES,)),
    "table of bytes": (lambda n: np.arange(256, dtype=np.uint8)[::-1][n], (BITES,)),
    "differences of bytes": (lambda n: np.diff(n.astype(np.int16)), (BITES,)),
    "flags to places": (lambda b: np.flatnonzero(b), (BITS,)),
    "in a set": (lambda n: np.isin(n, [3, 5, 7]), (LABELS,)),
    "sorted integers": (lambda n: np.sort(n)[::-1], (WHOLE,)),
    # Signals, pictures, narrow dtypes.
    "power spectrum": (power_spectrum, (SIGNAL,)),
    "filtered": (lambda x: np.convolve(x, np.ones(9) / 9, mode="same"), (SIGNAL,)),
    "hilbert": (lambda x: np.fft.ifft(np.fft.fft(x) * (np.arange(1024) < 512)), (SIGNAL,)),
    "shifted phases": (lambda z: z * np.exp(-2j * np.pi * np.arange(256) / 8), (WAVES,)),
    "phases": (lambda z: np.angle(z * np.conj(z[0])), (WAVES,)),
    "interpolated": (lambda x: np.interp(np.linspace(0, 399, 777), np.arange(400), x), (X,)),
    "boxes": (boxes, (PICTURE,)),
    "mirrored pad": (lambda a: np.pad(a, 3, mode="reflect"), (PICTURE,)),
    "tiles": (lambda a: a.reshape(12, 4, 15, 4).mean(axis=(1, 3)), (PICTURE,)),
    "slopes": (lambda a: np.hypot(*np.gradient(a)), (PICTURE,)),
    "bounced": (bounced, (X,)),
    "attention": (attention, (SINGLE,)),
    "layer norm": (layer_norm, (BATCH,)),
    "batched products": (lambda a: a @ a.transpose(0, 2, 1), (BATCH,)),
    "gelu": (lambda a: 0.5 * a * (1 + np.tanh(0.8 * (a + 0.04 * a**3))), (SINGLE,)),
    "one element added": (lambda x: x[3] + x, (X,)),
    "two by two": (lambda a: a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0], (A[:2, :2].copy(),)),
    "meshed": (lambda x, y: np.sum(np.sin(x)[:, None] * np.cos(y)), (X[:50], Y[:60])),
}  # fmt: skip
