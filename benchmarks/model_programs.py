"""Models and simulations as NumPy code that JAX runs as well, for `bench_dense.py`.

Each takes the namespace first. Small ones are bound by calls, those of 10,000 elements and more by
arithmetic and memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

RANDOM = np.random.default_rng(3)


def normal(*shape: int) -> Any:
    return RANDOM.normal(size=shape)


def network(xp: Any, x: Any, w: Any, b: Any, v: Any) -> Any:
    return xp.mean((xp.tanh(x @ w + b) @ v) ** 2)


def attention(xp: Any, q: Any, k: Any, v: Any) -> Any:
    scores = q @ k.T / 8.0
    weights = xp.exp(scores - xp.max(scores, 1, keepdims=True))
    return (weights / xp.sum(weights, 1, keepdims=True)) @ v


def convolution(xp: Any, image: Any, kernel: Any) -> Any:
    out = 0.0
    for i in range(3):
        for j in range(3):
            out = out + kernel[i, j] * image[i : i + 98, j : j + 98]
    return xp.maximum(out, 0)


def log_sum_exp(xp: Any, x: Any) -> Any:
    most = xp.max(x, 1)
    return most + xp.log(xp.sum(xp.exp(x - most[:, None]), 1))


def likelihood(xp: Any, a: Any, y: Any) -> Any:
    """Of a Gaussian process."""
    low = xp.linalg.cholesky(a @ a.T + 50 * xp.eye(50))
    z = xp.linalg.solve(low, y)
    return z @ z + 2 * xp.sum(xp.log(xp.diagonal(low)))


def kalman(xp: Any, x: Any, p: Any, f: Any, h: Any, z: Any) -> Any:
    x, p = f @ x, f @ p @ f.T + 0.1 * xp.eye(4)
    s = h @ p @ h.T + 0.2 * xp.eye(2)
    gain = xp.linalg.solve(s, h @ p).T
    return xp.concatenate([x + gain @ (z - h @ x), (p - gain @ h @ p).reshape(-1)])


def energy(xp: Any, x: Any) -> Any:
    """Of bodies that attract each other."""
    away = x[:, None] - x[None]
    return -xp.sum(1 / xp.sqrt(xp.sum(away * away, -1) + 0.1))


def heat(xp: Any, u: Any) -> Any:
    for _ in range(20):
        u = u + 0.1 * (xp.roll(u, 1) + xp.roll(u, -1) - 2 * u)
    return u


def lstm(xp: Any, xs: Any, w: Any, h: Any, c: Any) -> Any:
    sigmoid = lambda x: 1 / (1 + xp.exp(-x))
    for t in range(8):
        z = xp.concatenate([xs[t], h]) @ w
        i, f, o, g = [z[16 * k : 16 * k + 16] for k in range(4)]
        c = sigmoid(f) * c + sigmoid(i) * xp.tanh(g)
        h = sigmoid(o) * xp.tanh(c)
    return h


def pendulum(xp: Any, y: Any, length: Any) -> Any:
    slope = lambda y: xp.stack([y[1], -9.81 / length * xp.sin(y[0])])
    for _ in range(20):
        a = slope(y)
        b = slope(y + 0.005 * a)
        c = slope(y + 0.005 * b)
        y = y + 0.01 / 6 * (a + 2 * b + 2 * c + slope(y + 0.01 * c))
    return y


def filtered(xp: Any, x: Any, response: Any) -> Any:
    return xp.fft.irfft(xp.fft.rfft(x) * response, 4096)


def transport(xp: Any, x: Any, y: Any) -> Any:
    return xp.sum((xp.sort(x) - xp.sort(y)) ** 2)


def layer(xp: Any, x: Any, w: Any) -> Any:
    mean = xp.mean(x, 1, keepdims=True)
    var = xp.mean((x - mean) ** 2, 1, keepdims=True)
    x = (x - mean) / xp.sqrt(var + 1e-5)
    return 0.5 * x * (1 + xp.tanh(0.79788 * (x + 0.044715 * x**3))) * w


def cross_entropy(xp: Any, x: Any, w: Any, one_hot: Any) -> Any:
    z = x @ w
    z = z - xp.max(z, 1, keepdims=True)
    return -xp.mean(xp.sum(one_hot * (z - xp.log(xp.sum(xp.exp(z), 1, keepdims=True))), 1))


def kernel_matrix(xp: Any, x: Any) -> Any:
    square = xp.sum(x * x, 1)
    return xp.exp(-0.5 * (square[:, None] + square[None] - 2 * x @ x.T))


def poisson(xp: Any, x: Any, w: Any, counts: Any) -> Any:
    eta = x @ w
    return xp.sum(xp.exp(eta) - counts * eta)


def student(xp: Any, x: Any, place: Any, scale: Any) -> Any:
    z = (x - place) / scale
    return xp.sum(2.5 * xp.log1p(z * z / 4) + xp.log(scale))


def bundle(xp: Any, cameras: Any, points: Any) -> Any:
    """Points seen by turned cameras."""
    c, s = xp.cos(cameras[:, 0]), xp.sin(cameras[:, 0])
    x = c * points[:, 0] - s * points[:, 1] + cameras[:, 1]
    y = s * points[:, 0] + c * points[:, 1] + cameras[:, 2]
    z = points[:, 2] + cameras[:, 3]
    return xp.sum((x / z) ** 2 + (y / z) ** 2)


def autoregression(xp: Any, x: Any, w: Any) -> Any:
    guess = sum(w[k] * x[5 - k : len(x) - 1 - k] for k in range(5))
    return xp.mean((x[6:] - guess[: len(x) - 6]) ** 2)


def wave(xp: Any, u: Any, before: Any) -> Any:
    for _ in range(5):
        around = xp.roll(u, 1, 0) + xp.roll(u, -1, 0) + xp.roll(u, 1, 1) + xp.roll(u, -1, 1)
        u, before = 2 * u - before + 0.2 * (around - 4 * u), u
    return xp.sum(u * u)


def ising(xp: Any, s: Any, j: Any) -> Any:
    field = j @ s
    return xp.sum(xp.log(2 * xp.cosh(field))) - 0.5 * s @ field


def pooled(xp: Any, x: Any) -> Any:
    return xp.max(x.reshape(50, 4, 50, 4), axis=(1, 3))


def whitened(xp: Any, x: Any) -> Any:
    x = x - xp.mean(x, 0)
    return xp.linalg.eigh(x.T @ x / len(x))[0]


def moments(xp: Any, x: Any) -> Any:
    z = (x - xp.mean(x)) / xp.std(x)
    return xp.mean(z**3) + xp.mean(z**4)


def softmax(xp: Any, x: Any) -> Any:
    e = xp.exp(x - xp.max(x))
    return e / xp.sum(e)


def softmax_of_rows(xp: Any, x: Any) -> Any:
    e = xp.exp(x - xp.max(x, -1, keepdims=True))
    return e / xp.sum(e, -1, keepdims=True)


def hand(xp: Any, angles: Any, vertices: Any, weights: Any) -> Any:
    """Points of a hand, moved by the poses of 22 bones that are composed along a tree."""
    eye = xp.eye(4)
    poses: list[Any] = [eye]
    for bone in range(22):
        finger, joint = divmod(bone, 4) if bone < 20 else (bone - 20, -1)
        a, b = angles[bone], angles[22 + bone % 6]
        ca, sa, cb, sb, z, o = xp.cos(a), xp.sin(a), xp.cos(b), xp.sin(b), 0 * a, 0 * a + 1
        rows = [
            [ca, -sa * cb, sa * sb, 0.1 * finger * o],
            [sa, ca * cb, -ca * sb, (0.3 + 0.2 * joint) * o],
            [z, sb, cb, z],
            [z, z, z, o],
        ]
        local = xp.stack([xp.stack(row) for row in rows])
        poses.append(poses[0 if joint <= 0 else bone] @ local)
    moved = 0.0
    for bone in range(22):
        moved = moved + (poses[bone + 1][:3] @ vertices) * weights[bone]
    return moved.reshape(-1)


def systems(xp: Any, a: Any, b: Any, c: Any) -> Any:
    """Four systems of one matrix, the last two with results of those before."""
    a = a + 60 * xp.eye(60)
    z = xp.linalg.solve(a, xp.linalg.solve(a, b) + xp.linalg.solve(a, c))
    return z @ xp.linalg.solve(a, z)


def relaxation(xp: Any, u: Any) -> Any:
    """Steps of Laplace's equation, with the edge repeated around."""
    for _ in range(3):
        inner = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u = xp.pad(inner, 1, mode="edge")
    return xp.sum(u * u)


def spectrum(xp: Any, a: Any) -> Any:
    """The log power of an image."""
    return xp.sum(xp.log(1 + xp.abs(xp.fft.fft2(a)) ** 2))


ONE_HOT = np.eye(10)[RANDOM.integers(0, 10, 256)]
VERTICES = np.concatenate([normal(3, 544), np.ones((1, 544))])
WEIGHTS = np.abs(normal(22, 544)) / 22

PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "network, 64": (network, (normal(64, 32), normal(32, 16), normal(16), normal(16, 1))),
    "network, 512": (network, (normal(512, 256), normal(256, 128), normal(128), normal(128, 10))),
    "attention": (attention, (normal(64, 64), normal(64, 64), normal(64, 64))),
    "convolution": (convolution, (normal(100, 100), normal(3, 3))),
    "log-sum-exp of rows": (log_sum_exp, (normal(300, 100),)),
    "Gaussian process, 50": (likelihood, (normal(50, 50), normal(50))),
    "Kalman filter": (kalman, (normal(4), np.eye(4), normal(4, 4), normal(2, 4), normal(2))),
    "n bodies": (energy, (normal(60, 3),)),
    "heat, 10,000": (heat, (normal(10_000),)),
    "LSTM": (lstm, (normal(8, 16), normal(32, 64) / 5, normal(16), normal(16))),
    "pendulum": (pendulum, (np.array([1.0, 0.0]), np.float64(1.3))),
    "filter by FFT": (filtered, (normal(4096), np.linspace(1, 0, 2049))),
    "transport by sorting": (transport, (normal(3000), normal(3000))),
    "layer, 256 by 256": (layer, (normal(256, 256), normal(256))),
    "cross-entropy": (cross_entropy, (normal(256, 64), normal(64, 10), ONE_HOT)),
    "kernel matrix": (kernel_matrix, (normal(150, 5),)),
    "Poisson regression": (poisson, (normal(2000, 20) / 5, normal(20), np.abs(normal(2000)))),
    "Student likelihood, 1,000,000": (student, (normal(1_000_000), *np.array([0.1, 1.2]))),
    "bundle": (bundle, (normal(5000, 4), normal(5000, 3) + 5)),
    "autoregression": (autoregression, (normal(10_000), normal(5))),
    "wave, 100 by 100": (wave, (normal(100, 100), normal(100, 100))),
    "mean field": (ising, (normal(200), normal(200, 200) / 20)),
    "pooling": (pooled, (normal(200, 200),)),
    "whitened": (whitened, (normal(500, 6),)),
    "moments, 100,000": (moments, (normal(100_000),)),
    "softmax, 1,000": (softmax, (normal(1000),)),
    "softmax of rows": (softmax_of_rows, (normal(300, 300),)),
    "four systems of a matrix": (systems, (normal(60, 60), normal(60), normal(60))),
    "relaxation, 100 by 100": (relaxation, (normal(100, 100),)),
    "spectrum of an image": (spectrum, (normal(64, 64),)),
    "hand": (hand, (normal(28), VERTICES, WEIGHTS)),
}  # fmt: skip
