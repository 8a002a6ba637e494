"""Whole small programs as users write them: a loss and its gradient, once for each call.

Where the other lists repeat one kind of step, here entering a gradient, containers, methods and
loops count as they do in a program: a Kalman filter, a recurrent network, the residual of a
differential equation. Each was written once for NumPy, autograd and PyTorch, before any was timed.
`--json FILE` keeps the medians, words choose rows. The bars here: a row at most 0.6 of autograd and
1.0 of PyTorch.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import autograd
import autograd.numpy as anp
import numpy
from bench_kinds import CALLS, checked, geometric_mean, several, torch
from common import interleaved, table

import pullback as pb

rng = numpy.random.default_rng(7)
normal = rng.normal
PROGRAMS: dict[str, Any] = {}


def program(*args: Any) -> Callable[[Any], Any]:
    """Enter f(np, *args), which is differentiated by all of its arguments."""

    def enter(f: Any) -> Any:
        PROGRAMS[f.__name__.replace("_", " ")] = f, args
        return f

    return enter


X, Y = normal(size=(8, 3)), (normal(size=8) > 0) * 1.0
LABELS = numpy.eye(4)[rng.integers(4, size=8)]
T = numpy.linspace(0.1, 2.0, 12)
SERIES = normal(size=12)
A3 = 0.3 * normal(size=(3, 3))
SPD = A3 @ A3.T + numpy.eye(3)
ADJACENCY = (rng.uniform(size=(5, 5)) > 0.5) * 1.0
RATINGS = rng.uniform(size=(4, 5))
GRID = numpy.linspace(0.0, 1.0, 9)


def data(np: Any, x: Any) -> Any:
    return torch.as_tensor(x) if np is torch else x


@program(normal(size=3), 0.1)
def logistic_regression(np: Any, w: Any, b: Any) -> Any:
    z = data(np, X) @ w + b
    return np.mean(np.log(1.0 + np.exp(-z * data(np, 2.0 * Y - 1.0)))) + 0.01 * np.sum(w * w)


@program(0.3 * normal(size=(3, 4)), normal(size=4))
def softmax_classifier(np: Any, w: Any, b: Any) -> Any:
    logits = data(np, X) @ w + b
    log_norm = np.log(np.sum(np.exp(logits), 1))
    return np.mean(log_norm - np.sum(logits * data(np, LABELS), 1))


@program(0.3 * normal(size=(4, 4)), 0.3 * normal(size=(4, 1)), normal(size=4))
def recurrent_network(np: Any, w: Any, u: Any, h: Any) -> Any:
    loss = 0.0
    for t in range(6):
        h = np.tanh(w @ h + u[:, 0] * SERIES[t])
        loss = loss + (h[0] - SERIES[t + 1]) ** 2
    return loss


@program(numpy.array([0.5, 0.2]), 0.3)
def kalman_filter(np: Any, m: Any, q: Any) -> Any:
    p, loss = 1.0, 0.0
    mean = m[0]
    for y in SERIES[:6]:
        mean, p = m[1] * mean, m[1] * p * m[1] + q * q
        s = p + 0.5
        gain = p / s
        loss = loss + 0.5 * (y - mean) ** 2 / s + 0.5 * np.log(s)
        mean, p = mean + gain * (y - mean), (1.0 - gain) * p
    return loss


@program(0.2 * normal(size=9))
def poisson_residual(np: Any, u: Any) -> Any:
    h = GRID[1] - GRID[0]
    residual = (u[2:] - 2.0 * u[1:-1] + u[:-2]) / h**2 + data(np, numpy.sin(3.0 * GRID[1:-1]))
    return np.sum(residual**2) + u[0] ** 2 + u[-1] ** 2


@program(normal(size=6))
def cubic_spline_penalty(np: Any, c: Any) -> Any:
    basis = data(np, numpy.vander(T / 2.0, 6))
    second = c[2:] - 2.0 * c[1:-1] + c[:-2]
    return np.sum((basis @ c - data(np, SERIES)) ** 2) + 0.1 * np.sum(second**2)


@program({"w": 0.5 * normal(size=(3, 5)), "b": normal(size=5), "v": normal(size=5)})
def network_in_a_dict(np: Any, p: Any) -> Any:
    hidden = np.tanh(data(np, X) @ p["w"] + p["b"])
    return np.mean((hidden @ p["v"] - data(np, Y)) ** 2)


@program([(0.5 * normal(size=(3, 4)), normal(size=4)), (0.5 * normal(size=(4, 1)), normal(size=1))])
def network_in_a_list(np: Any, layers: Any) -> Any:
    x = data(np, X)
    for w, b in layers[:-1]:
        x = np.maximum(x @ w + b, data(np, numpy.zeros(())))
    w, b = layers[-1]
    return np.mean(((x @ w + b)[:, 0] - data(np, Y)) ** 2)


class Oscillator:
    def __init__(self, k: Any, damping: Any) -> None:
        self.k, self.damping = k, damping

    def force(self, x: Any, v: Any) -> Any:
        return -self.k * x - self.damping * v

    def run(self, steps: int) -> Any:
        x, v = 1.0, 0.0
        for _ in range(steps):
            v = v + 0.05 * self.force(x, v)
            x = x + 0.05 * v
        return x


@program(1.5, 0.2)
def oscillator_class(np: Any, k: Any, damping: Any) -> Any:
    return Oscillator(k, damping).run(12) ** 2


@program(numpy.array([0.5, 1.0]), numpy.array([1.0, 0.2]))
def two_bodies(np: Any, position: Any, velocity: Any) -> Any:
    for _ in range(5):
        r = np.sqrt(np.sum(position**2) + 0.01)
        velocity = velocity - 0.1 * position / r**3
        position = position + 0.1 * velocity
    return np.sum(position**2) + np.sum(velocity**2)


@program(normal(size=(5, 2)))
def lennard_jones(np: Any, x: Any) -> Any:
    energy = 0.0
    for i in range(5):
        for j in range(i):
            d2 = np.sum((x[i] - x[j]) ** 2) + 0.5
            inverse = 1.0 / d2**3
            energy = energy + inverse * inverse - inverse
    return energy


@program(normal(size=3), 0.1 * normal(size=(3, 3)))
def gaussian_log_likelihood(np: Any, mean: Any, root: Any) -> Any:
    cov = root @ root.T + data(np, numpy.eye(3))
    centred = data(np, X) - mean
    solved = np.linalg.solve(cov, centred.T)
    return 0.5 * np.sum(centred.T * solved) + 4.0 * np.linalg.slogdet(cov)[1]


@program(0.5, 0.3)
def gaussian_process(np: Any, scale: Any, noise: Any) -> Any:
    d = data(np, T[:6, None] - T[None, :6])
    k = np.exp(-0.5 * (d / scale) ** 2) + (noise * noise + 0.01) * data(np, numpy.eye(6))
    y = data(np, SERIES[:6])
    return 0.5 * y @ np.linalg.solve(k, y) + 0.5 * np.linalg.slogdet(k)[1]


@program(numpy.array([0.2, -0.3, 0.5]), numpy.array([0.1, 0.2, -0.1]))
def gaussian_mixture(np: Any, means: Any, log_weights: Any) -> Any:
    z = data(np, SERIES)[:, None] - means[None, :]
    terms = np.exp(log_weights - 0.5 * z * z)
    return -np.sum(np.log(np.sum(terms, 1))) + 12.0 * np.log(np.sum(np.exp(log_weights)))


@program(0.3 * normal(size=(5, 3)), 0.3 * normal(size=(3, 2)))
def graph_convolution(np: Any, x: Any, w: Any) -> Any:
    a = data(np, ADJACENCY / (ADJACENCY.sum(1, keepdims=True) + 1.0))
    return np.sum(np.tanh(a @ np.tanh(a @ x @ w)) ** 2)


@program(0.3 * normal(size=(4, 3)), 0.3 * normal(size=(5, 3)))
def matrix_factorisation(np: Any, u: Any, v: Any) -> Any:
    seen = data(np, (RATINGS > 0.4) * 1.0)
    return np.sum(seen * (u @ v.T - data(np, RATINGS)) ** 2) + 0.1 * (np.sum(u**2) + np.sum(v**2))


@program(numpy.array([1.0, 0.5, -0.2]))
def black_scholes(np: Any, p: Any) -> Any:
    spot, sigma, rate = np.exp(p[0]), np.exp(p[1]), 0.1 * p[2]
    total = 0.0
    for strike in (1.5, 2.5, 3.5):
        d1 = (np.log(spot / strike) + (rate + 0.5 * sigma**2)) / sigma
        total = total + spot * gate(np, d1) - strike * np.exp(-rate) * gate(np, d1 - sigma)
    return total


def gate(np: Any, x: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-1.702 * x))


@program(0.1 * normal(size=6))
def robot_arm(np: Any, angles: Any) -> Any:
    total = np.cumsum(angles, 0)
    x, y = np.sum(np.cos(total)), np.sum(np.sin(total))
    return (x - 3.0) ** 2 + (y - 2.0) ** 2


@program(numpy.array([0.3, 0.2, -0.4]), numpy.array([0.1, 0.0, 0.3]))
def rotation_of_points(np: Any, angles: Any, shift: Any) -> Any:
    c, s = np.cos(angles), np.sin(angles)
    one, zero = c[0] * 0.0 + 1.0, c[0] * 0.0
    first = np.stack((c[0], -s[0], zero, s[0], c[0], zero, zero, zero, one)).reshape(3, 3)
    second = np.stack((c[1], zero, s[1], zero, one, zero, -s[1], zero, c[1])).reshape(3, 3)
    return np.sum((data(np, X) @ (first @ second).T + shift - 1.0) ** 2)


@program(0.3 * normal(size=(6, 4)), 0.3 * normal(size=(4, 4)))
def attention_head(np: Any, x: Any, w: Any) -> Any:
    scores = (x @ w) @ x.T / 2.0
    e = np.exp(scores)
    return np.sum(((e / np.sum(e, 1)[:, None]) @ x) ** 2)


@program(0.3 * normal(size=3), 1.0)
def convolution_by_slices(np: Any, k: Any, bias: Any) -> Any:
    x = data(np, SERIES)
    out = sum([k[i] * x[i : i + 10] for i in range(3)]) + bias
    return np.mean(np.where(out > 0, out, 0.1 * out) ** 2)


@program(0.2 * normal(size=(4, 4)))
def markov_chain(np: Any, logits: Any) -> Any:
    e = np.exp(logits)
    p = e / np.sum(e, 1)[:, None]
    state = data(np, numpy.array([1.0, 0.0, 0.0, 0.0]))
    for _ in range(5):
        state = state @ p
    return -np.log(state[3])


@program(0.5 * normal(size=(3, 3)), 0.2 * normal(size=3))
def hidden_markov(np: Any, logits: Any, means: Any) -> Any:
    e = np.exp(logits)
    p = e / np.sum(e, 1)[:, None]
    alpha, loss = np.exp(-0.5 * (SERIES[0] - means) ** 2), 0.0
    for y in SERIES[1:6]:
        alpha = (alpha @ p) * np.exp(-0.5 * (y - means) ** 2)
        total = np.sum(alpha)
        alpha, loss = alpha / total, loss - np.log(total)
    return loss


@program(numpy.array([1.1, 0.4]), numpy.array([0.1, 0.4]))
def predator_prey(np: Any, growth: Any, coupling: Any) -> Any:
    x, y, loss = 10.0, 5.0, 0.0
    for target in (9.0, 8.0, 7.5, 7.0, 6.5):
        dx = growth[0] * x - coupling[0] * x * y
        dy = coupling[0] * 0.25 * x * y - coupling[1] * y
        x, y = x + 0.05 * dx, y + 0.05 * dy
        loss = loss + (x - target) ** 2
    return loss


@program(0.3 * normal(size=(3, 3)), normal(size=3))
def newton_step(np: Any, root: Any, x: Any) -> Any:
    hessian = root @ root.T + data(np, numpy.eye(3)) + 0.1 * np.diag(x * x)
    return np.sum((x - np.linalg.solve(hessian, np.sin(x))) ** 2)


@program(0.2 * normal(size=(6, 2)))
def stress_of_embedding(np: Any, x: Any) -> Any:
    difference = x[:, None, :] - x[None, :, :]
    distance = np.sqrt(np.sum(difference**2, -1) + 0.01)
    return np.sum((distance - data(np, numpy.abs(numpy.subtract.outer(T[:6], T[:6])))) ** 2)


@program(0.3 * normal(size=5), 0.3)
def poisson_regression(np: Any, w: Any, b: Any) -> Any:
    rate = np.exp(data(np, ADJACENCY) @ w + b)
    return np.sum(rate - data(np, numpy.arange(5.0)) * np.log(rate))


@program(numpy.array([2.0, 1.0, 0.3]))
def curve_fit(np: Any, p: Any) -> Any:
    model = p[0] * np.exp(-p[1] * data(np, T)) + p[2]
    r = model - data(np, SERIES)
    return np.sum(np.sqrt(1.0 + r * r) - 1.0)


@program(0.1 * normal(size=8))
def optimal_control(np: Any, u: Any) -> Any:
    x, v, cost = 1.0, 0.0, 0.0
    for t in range(8):
        v = v + 0.2 * (u[t] - np.sin(x + 0.0 * u[t]))
        x = x + 0.2 * v
        cost = cost + x * x + 0.1 * u[t] ** 2
    return cost + 10.0 * v * v


@program(numpy.array(0.4), numpy.array(1.3), numpy.array(-0.7))
def formula_of_numbers(np: Any, a: Any, b: Any, c: Any) -> Any:
    d = np.sqrt(b * b - 4.0 * a * c)
    return (-b + d) / (2.0 * a) + np.exp(-a * b) * np.sin(c)


def mapped(f: Any, tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: mapped(f, x) for key, x in tree.items()}
    if isinstance(tree, (list, tuple)):
        return type(tree)([mapped(f, x) for x in tree])
    return f(tree)


def leaves(tree: Any) -> list[Any]:
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, (list, tuple)):
        return [leaf for member in tree for leaf in leaves(member)]
    return [tree]


def flat(tree: Any) -> Any:
    return numpy.concatenate([numpy.ravel(leaf) for leaf in leaves(tree)])


def runs(f: Any, args: Any) -> dict[str, Callable[[], Any]]:
    argnums = tuple(range(len(args)))
    ours = pb.grad(lambda *xs: f(numpy, *xs), argnums)
    theirs = autograd.grad(lambda *xs: f(anp, *xs), argnums)

    def with_torch() -> Any:
        leaf = lambda x: torch.tensor(x, dtype=torch.float64, requires_grad=True)
        xs = mapped(leaf, args)
        f(torch, *xs).backward()
        return mapped(lambda x: x.grad.numpy(), xs)

    calls = {"ours": lambda: ours(*args), "autograd": lambda: theirs(*args)}
    if torch:
        calls["torch"] = with_torch
    return calls


def main(words: list[str]) -> None:
    path, rounds = None, 11
    if "--json" in words:
        i = words.index("--json")
        path, words = words[i + 1], words[:i] + words[i + 2 :]
    rows = [["us", "ours", "autograd", "PyTorch", "/autograd", "/PyTorch"]]
    medians: dict[str, dict[str, float]] = {}
    for name, found in PROGRAMS.items():
        if words and not any(word in name for word in words):
            continue
        calls = runs(*found)
        checked({peer: lambda call=call: flat(call()) for peer, call in calls.items()}, name)
        timed = {peer: partial(several, call) for peer, call in calls.items()}
        times = interleaved(timed, rounds, time.process_time)
        medians[name] = {peer: seconds / CALLS for peer, seconds in times.items()}
        own = medians[name]["ours"]
        cells = [f"{medians[name][p] * 1e6:.0f}" if p in times else "" for p in PEERS]
        ratios = [f"{own / medians[name][p]:.2f}" if p in times else "" for p in PEERS[1:]]
        rows.append([name, *cells, *ratios])
    print(table(rows))
    for peer in PEERS[1:]:
        ratios = [times["ours"] / times[peer] for times in medians.values() if peer in times]
        if ratios:
            print(f"geometric mean: {geometric_mean(ratios):.3f} of {peer}, {len(ratios)} programs")
    if path is not None:
        with open(path, "w") as file:
            json.dump(medians, file, indent=1)


PEERS = ("ours", "autograd", "torch")

if __name__ == "__main__":
    main(sys.argv[1:])
