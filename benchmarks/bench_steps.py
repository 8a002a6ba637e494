"""A fourth list of kinds: steps of whole programs on small arrays, as users write them.

A layer, attention, a filter, a rotation, a spline: each row is some operations that are written
together often. They were written down before any was timed; four were changed then, so that all
libraries run the same program. PyTorch has softmax and cross entropy as single operations, and its
users take them. The options and the table are those of `bench_kinds.py`. The bars here: a row at
most 0.6 of autograd and 1.0 of PyTorch.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy
from bench_kinds import OURS, TORCH, Row, main, torch

rng = numpy.random.default_rng(1)
MORE = {
    "W": 0.3 * rng.normal(size=(4, 4)),
    "V": 0.3 * rng.normal(size=(10, 10)),
    "w": 0.2 * rng.normal(size=(4, 16)),
    "u": 0.2 * rng.normal(size=(4, 16)),
    "q": rng.normal(size=16),
    "k": numpy.array([0.25, 0.5, 0.25]),
    "knots": numpy.linspace(0.0, 3.0, 11),
    "values": rng.normal(size=11),
    "onehot": numpy.eye(4)[[0, 2, 1, 3]],
    "seen": rng.uniform(size=(4, 4)) > 0.3,
    "mean": rng.normal(size=(3, 4)),
    "groups": numpy.array([0, 1, 0, 2, 1, 2, 0, 1, 2, 0]),
    "L": numpy.tril(0.2 * rng.normal(size=(4, 4))) + numpy.eye(4),
}
for name, x in MORE.items():
    setattr(OURS, name, x)
    if torch:
        setattr(TORCH, name, torch.tensor(x))


def softmax(np: Any, x: Any) -> Any:
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def layer(np: Any, x: Any, c: Any) -> Any:
    return softmax(np, x @ c.W + c.r) + 0.5 * x


def layer_torch(t: Any, x: Any, c: Any) -> Any:
    return t.softmax(x @ c.W + c.r, -1) + 0.5 * x


def batch_norm(np: Any, x: Any, c: Any) -> Any:
    centred = x - np.mean(x, axis=0)
    return c.r * centred / np.sqrt(np.mean(centred**2, axis=0) + 1e-3) + 0.1 * x


def batch_norm_torch(t: Any, x: Any, c: Any) -> Any:
    centred = x - t.mean(x, 0)
    return c.r * centred / t.sqrt(t.mean(centred**2, 0) + 1e-3) + 0.1 * x


def variance_norm(np: Any, x: Any, c: Any) -> Any:
    return (x - x.mean(axis=1, keepdims=True)) / (x.std(axis=1, keepdims=True) + 0.1) + 0.1 * x


def variance_norm_torch(t: Any, x: Any, c: Any) -> Any:
    deviation = t.std(x, 1, correction=0, keepdim=True)
    return (x - x.mean(1, keepdim=True)) / (deviation + 0.1) + 0.1 * x


def attention(np: Any, x: Any, c: Any) -> Any:
    q, k, v = x @ c.W, x @ c.A * 0.1, x
    return softmax(np, q @ k.T / 2.0) @ v


def attention_torch(t: Any, x: Any, c: Any) -> Any:
    q, k, v = x @ c.W, x @ c.A * 0.1, x
    return t.softmax(q @ k.T / 2.0, -1) @ v


def sigmoid(np: Any, x: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-x))


def lstm(np: Any, x: Any, c: Any) -> Any:
    h, s = x[0], x[1]
    z = c.r @ c.w + h @ c.u + c.q
    i, f, o, g = z[:4], z[4:8], z[8:12], z[12:]
    s = sigmoid(np, f) * s + sigmoid(np, i) * np.tanh(g)
    return np.stack((sigmoid(np, o) * np.tanh(s), s, h, x[2]))


def lstm_torch(t: Any, x: Any, c: Any) -> Any:
    h, s = x[0], x[1]
    i, f, o, g = t.split(c.r @ c.w + h @ c.u + c.q, 4)
    s = t.sigmoid(f) * s + t.sigmoid(i) * t.tanh(g)
    return t.stack((t.sigmoid(o) * t.tanh(s), s, h, x[2]))


def convolution(np: Any, x: Any, c: Any) -> Any:
    padded = np.concatenate((x[-1:], x, x[:1]))
    return sum([c.k[i] * padded[i : i + 10] for i in range(3)])


def k_means(np: Any, x: Any, c: Any) -> Any:
    distance = np.sum((x[:, None, :] - c.mean[None, :, :]) ** 2, axis=-1)
    weight = np.exp(-distance)
    weight = weight / np.sum(weight, axis=1, keepdims=True)
    return 0.9 * x + 0.1 * weight @ c.mean


def kalman(np: Any, x: Any, c: Any) -> Any:
    predicted = c.W @ x @ c.W.T + c.E
    gain = np.linalg.solve(predicted + c.E, predicted).T
    return predicted - gain @ predicted


def rotation(np: Any, x: Any, c: Any) -> Any:
    a, b = np.cos(x[0, 0]), np.sin(x[0, 0])
    turn = np.stack((a, -b, b, a)).reshape(2, 2)
    return np.concatenate((turn @ x[:2], x[2:]))


def rotation_listed(np: Any, x: Any, c: Any) -> Any:
    a, b = np.cos(x[0, 1]), np.sin(x[0, 1])
    return np.concatenate((np.array([[a, -b], [b, a]]) @ x[:2], x[2:]))


def rotation_listed_torch(t: Any, x: Any, c: Any) -> Any:
    a, b = t.cos(x[0, 1]), t.sin(x[0, 1])
    return t.concatenate((t.stack((t.stack((a, -b)), t.stack((b, a)))) @ x[:2], x[2:]))


def spline(np: Any, x: Any, c: Any) -> Any:
    """Cubic Hermite between knots of which the slopes are the differences."""
    i = numpy.minimum(numpy.searchsorted(c.knots, plain(x)) - 1, 8)
    u = (x - c.knots[i]) / 0.3
    first, second = c.values[i], c.values[i + 1]
    return 1.0 + 0.2 * (first + u * u * (3.0 - 2.0 * u) * (second - first))


def plain(x: Any) -> Any:
    """The numbers of an Array, or of autograd's box."""
    return x.numpy() if hasattr(x, "numpy") else getattr(x, "_value", x)


def spline_torch(t: Any, x: Any, c: Any) -> Any:
    i = t.clamp(t.searchsorted(c.knots, x.detach()) - 1, max=8)
    u = (x - c.knots[i]) / 0.3
    first, second = c.values[i], c.values[i + 1]
    return 1.0 + 0.2 * (first + u * u * (3.0 - 2.0 * u) * (second - first))


def returns(np: Any, x: Any, c: Any) -> Any:
    return np.cumprod(1.0 + 0.01 * x) - 1.0 + 0.5 * x


def discounted(np: Any, x: Any, c: Any) -> Any:
    return np.cumsum(x * c.p)[::-1] * 0.2


def masked_loss(np: Any, x: Any, c: Any) -> Any:
    loss = np.where(c.seen, (x - c.A) ** 2, 0.0)
    return x * (1.0 - 0.001 * np.sum(loss) / 10.0)


def cross_entropy(np: Any, x: Any, c: Any) -> Any:
    shifted = x - np.max(x, axis=1, keepdims=True)
    log_p = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return x + 0.01 * np.mean(np.sum(c.onehot * log_p, axis=1))


def cross_entropy_torch(t: Any, x: Any, c: Any) -> Any:
    log_p = t.log_softmax(x, 1)
    return x + 0.01 * t.mean(t.sum(c.onehot * log_p, 1))


def gather(np: Any, x: Any, c: Any) -> Any:
    return 0.5 * x[c.i] + 0.5 * x[c.i[::-1]]


def gather_torch(t: Any, x: Any, c: Any) -> Any:
    return 0.5 * x[c.i] + 0.5 * x[t.flip(c.i, (0,))]


def scatter(np: Any, x: Any, c: Any) -> Any:
    return x - 0.1 * np.bincount(c.groups, x)[c.groups]


def scatter_torch(t: Any, x: Any, c: Any) -> Any:
    sums = t.zeros(3, dtype=t.float64).index_add(0, c.groups, x)
    return x - 0.1 * sums[c.groups]


def logsumexp(np: Any, x: Any, c: Any) -> Any:
    m = np.max(x)
    return x - 0.1 * (m + np.log(np.sum(np.exp(x - m))))


def kernel(np: Any, x: Any, c: Any) -> Any:
    difference = x[:, None] - x[None, :]
    return 0.1 * np.sum(np.exp(-(difference**2)), axis=1) + 0.5 * x


def pairwise(np: Any, x: Any, c: Any) -> Any:
    difference = x[:, None, :] - x[None, :, :]
    force = difference / (np.sum(difference**2, axis=-1, keepdims=True) + 0.1) ** 1.5
    return x + 0.01 * np.sum(force, axis=1)


def running_max(np: Any, x: Any, c: Any) -> Any:
    top, out = x[0], [x[0]]
    for i in range(1, 4):
        top = np.maximum(top, x[i])
        out.append(top)
    return 0.5 * np.stack(out) + 0.5 * x


def running_max_torch(t: Any, x: Any, c: Any) -> Any:
    top, out = x[0], [x[0]]
    for i in range(1, 4):
        top = t.maximum(top, x[i])
        out.append(top)
    return 0.5 * t.stack(out) + 0.5 * x


def triangular(np: Any, x: Any, c: Any) -> Any:
    """Forward substitution."""
    y = []
    for i in range(4):
        row = x[i]
        for j in range(i):
            row = row - c.L[i, j] * y[j]
        y.append(row / c.L[i, i])
    return np.stack(y)


def unit_rows(np: Any, x: Any, c: Any) -> Any:
    return x / np.linalg.norm(x, axis=1, keepdims=True) + 0.1 * x


def unit_rows_torch(t: Any, x: Any, c: Any) -> Any:
    return x / t.linalg.norm(x, dim=1, keepdim=True) + 0.1 * x


def unit_by_hand(np: Any, x: Any, c: Any) -> Any:
    return x / np.sqrt(np.sum(x * x, axis=1, keepdims=True)) + 0.1 * x


def clipped(np: Any, x: Any, c: Any) -> Any:
    return np.clip(1.01 * x, 0.2, 1.4) + 0.05 * x


def joined(np: Any, x: Any, c: Any) -> Any:
    a, b = np.split(x, 2)
    return np.concatenate((a * 0.5 + b * 0.4, b - 0.1 * a))


def joined_torch(t: Any, x: Any, c: Any) -> Any:
    a, b = t.split(x, 5)
    return t.concatenate((a * 0.5 + b * 0.4, b - 0.1 * a))


def wave(np: Any, x: Any, c: Any) -> Any:
    return x + 0.1 * (np.roll(x, 1) - 2.0 * x + np.roll(x, -1))


def stencil(np: Any, x: Any, c: Any) -> Any:
    inside = x[1:-1] + 0.1 * (x[2:] - 2.0 * x[1:-1] + x[:-2])
    return np.concatenate((x[:1], inside, x[-1:]))


def runge_kutta(np: Any, x: Any, c: Any) -> Any:
    f = lambda x: np.sin(x) - 0.1 * x
    k1 = f(x)
    k2 = f(x + 0.05 * k1)
    k3 = f(x + 0.05 * k2)
    k4 = f(x + 0.1 * k3)
    return x + 0.1 / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


def lotka_volterra(np: Any, x: Any, c: Any) -> Any:
    a, b = x[0], x[1]
    change = np.stack((a * (1.0 - 0.1 * b), b * (0.1 * a - 1.0)))
    return np.concatenate((x[:2] + 0.01 * change, x[2:]))


def gaussian(np: Any, x: Any, c: Any) -> Any:
    log_density = -0.5 * np.sum((x - c.a) ** 2) - 5.0 * numpy.log(2.0 * numpy.pi)
    return x + 1e-4 * log_density


def quadratic_form(np: Any, x: Any, c: Any) -> Any:
    return x * (1.0 - 0.001 * (x @ c.V @ x))


def mlp(np: Any, x: Any, c: Any) -> Any:
    hidden = np.tanh(np.dot(c.V, x) + c.b)
    return np.dot(c.V, hidden) + x


def mlp_torch(t: Any, x: Any, c: Any) -> Any:
    return c.V @ t.tanh(c.V @ x + c.b) + x


def filled(np: Any, x: Any, c: Any) -> Any:
    return np.where(np.isnan(x), 0.0, x) * 0.99


def huber(np: Any, x: Any, c: Any) -> Any:
    r = np.abs(x - c.a)
    return x - 0.01 * np.where(r < 1.0, 0.5 * r * r, r - 0.5)


def einsum(np: Any, x: Any, c: Any) -> Any:
    return np.einsum("ij,jk,kl->il", c.W, x, c.A) * 0.5 + 0.5 * x


def bilinear(np: Any, x: Any, c: Any) -> Any:
    return np.tensordot(c.W, x, axes=1) + 0.5 * np.tensordot(x, c.W, axes=([1], [0]))


def bilinear_torch(t: Any, x: Any, c: Any) -> Any:
    return t.tensordot(c.W, x, 1) + 0.5 * t.tensordot(x, c.W, ([1], [0]))


def softplus(np: Any, x: Any, c: Any) -> Any:
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0.0)


def softplus_torch(t: Any, x: Any, c: Any) -> Any:
    return t.log1p(t.exp(-t.abs(x))) + t.clamp(x, min=0.0)


def blocks(np: Any, x: Any, c: Any) -> Any:
    top = np.hstack((x[:2, :2], 0.5 * x[:2, 2:]))
    return np.vstack((top, x[2:]))


def trace_step(np: Any, x: Any, c: Any) -> Any:
    return x * (1.0 - 0.001 * np.trace(x @ c.A))


# fmt: off
ROWS = [
    Row("a layer with softmax", "matrix", layer, layer_torch),
    Row("batch norm", "matrix", batch_norm, batch_norm_torch),
    Row("norm of rows by std", "matrix", variance_norm, variance_norm_torch),
    Row("attention", "matrix", attention, attention_torch),
    Row("LSTM cell", "matrix", lstm, lstm_torch),
    Row("convolution by slices", "vector", convolution),
    Row("k-means step", "matrix", k_means),
    Row("Kalman update", "matrix", kalman),
    Row("rotation by stack", "matrix", rotation),
    Row("rotation by array", "matrix", rotation_listed, rotation_listed_torch),
    Row("spline", "vector", spline, spline_torch),
    Row("cumulative returns", "vector", returns,
        lambda t, x, c: t.cumprod(1.0 + 0.01 * x, 0) - 1.0 + 0.5 * x),
    Row("discounted sums", "vector", discounted,
        lambda t, x, c: t.flip(t.cumsum(x * c.p, 0), (0,)) * 0.2),
    Row("masked loss", "matrix", masked_loss),
    Row("cross entropy", "matrix", cross_entropy, cross_entropy_torch),
    Row("gather twice", "vector", gather, gather_torch),
    Row("group sums", "vector", scatter, scatter_torch),
    Row("log-sum-exp of all", "vector", logsumexp),
    Row("kernel by outer difference", "vector", kernel),
    Row("forces of pairs", "matrix", pairwise),
    Row("running max of rows", "matrix", running_max, running_max_torch),
    Row("forward substitution", "matrix", triangular),
    Row("unit rows by norm", "matrix", unit_rows, unit_rows_torch),
    Row("unit rows by hand", "matrix", unit_by_hand),
    Row("clip", "vector", clipped, lambda t, x, c: t.clamp(1.01 * x, 0.2, 1.4) + 0.05 * x),
    Row("split and join", "vector", joined, joined_torch),
    Row("wave by roll", "vector", wave),
    Row("stencil by slices", "vector", stencil),
    Row("Runge-Kutta", "vector", runge_kutta),
    Row("Lotka-Volterra", "vector", lotka_volterra),
    Row("density of a Gaussian", "vector", gaussian),
    Row("quadratic form", "vector", quadratic_form),
    Row("network of two layers", "vector", mlp, mlp_torch),
    Row("NaN filled", "vector", filled),
    Row("Huber", "vector", huber),
    Row("einsum of three matrices", "matrix", einsum),
    Row("tensordot twice", "matrix", bilinear, bilinear_torch),
    Row("softplus", "vector", softplus, softplus_torch),
    Row("blocks", "matrix", blocks),
    Row("trace of a product", "matrix", trace_step),
]
# fmt: on

if __name__ == "__main__":
    main(sys.argv[1:], ROWS, {})
