"""Programs as repositories hold them: small classes, state, and formulas spread over them."""

from collections import defaultdict
from math import exp, factorial

import numpy as np


class Value:
    """A number that remembers what it was computed from, as engines for learners have it."""

    def __init__(self, data, parents=(), push=None):
        self.data, self.grad, self.parents = data, 0.0, parents
        self.push = push or (lambda: None)

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data + other.data, (self, other))

        def push():
            self.grad += out.grad
            other.grad += out.grad

        out.push = push
        return out

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data * other.data, (self, other))

        def push():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out.push = push
        return out

    def tanh(self):
        t = (exp(2 * self.data) - 1) / (exp(2 * self.data) + 1)
        out = Value(t, (self,))

        def push():
            self.grad += (1 - t**2) * out.grad

        out.push = push
        return out

    def relu(self):
        out = Value(0 if self.data < 0 else self.data, (self,))

        def push():
            self.grad += (out.data > 0) * out.grad

        out.push = push
        return out

    def backward(self):
        order, visited = [], set()

        def visit(v):
            if v not in visited:
                visited.add(v)
                for parent in v.parents:
                    visit(parent)
                order.append(v)

        visit(self)
        self.grad = 1
        for v in reversed(order):
            v.push()


def steps_of_an_engine(weights, x, rate):
    values = [Value(w) for w in weights]
    for _ in range(2):
        halves = values[:2], values[2:]
        neurons = [sum((w * v for w, v in zip(ws, x, strict=True)), Value(0.1)) for ws in halves]
        out = neurons[0].tanh() * neurons[1].relu() + neurons[0] + -1.0
        loss = out * out
        for v in values:
            v.grad = 0.0
        loss.backward()
        for v in values:
            v.data += -rate * v.grad
    return np.array([v.data for v in values] + [loss.data])


class Adam:
    def __init__(self, params, betas=(0.9, 0.999)):
        self.params, self.betas, self.t = params, betas, 0
        self.state = {k: {"m": np.zeros_like(v), "v": np.zeros_like(v)} for k, v in params.items()}

    def step(self, grads, lr):
        self.t += 1
        b1, b2 = self.betas
        for k, g in grads.items():
            s = self.state[k]
            s["m"][...] = b1 * s["m"] + (1 - b1) * g
            s["v"][...] = b2 * s["v"] + (1 - b2) * g * g
            m, v = s["m"] / (1 - b1**self.t), s["v"] / (1 - b2**self.t)
            self.params[k] = self.params[k] - lr * m / (np.sqrt(v) + 1e-8)


def variational_steps(data, lr):
    params = {"mu": np.zeros(2), "rho": np.full(2, -1.0)}
    optimizer = Adam(params)
    draws = np.random.default_rng(7)
    for rate in (lr / (1 + i) for i in range(3)):
        eps = draws.normal(size=(3, 2))
        sd = np.log1p(np.exp(params["rho"]))
        z = params["mu"] + sd * eps
        slope = (data[None, :, None] - z[:, None, :]).sum(1) - z
        inner = 1 / (1 + np.exp(-params["rho"]))
        grads = {"mu": -slope.mean(0), "rho": -((slope * eps).mean(0) + 1 / sd) * inner}
        optimizer.step(grads, rate)
    return np.concatenate([*params.values()])


def log_sum_exp(*args):
    m = max(args)
    if m == -np.inf:
        return m
    return m + np.log(sum(np.exp(a - m) for a in args))


def alignment_loss(logits):
    """The loss of connectionist temporal classification."""
    labels, blank = [1, 2, 1], 0
    n, largest = len(logits), logits.max(1, keepdims=True)
    logp = logits - largest - np.log(np.sum(np.exp(logits - largest), axis=1, keepdims=True))
    extended = [blank]
    for label in labels:
        extended += [label, blank]
    alpha = np.full((n, len(extended)), -np.inf)
    alpha[0, 0] = logp[0, blank]
    alpha[0, 1] = logp[0, extended[1]]
    for t in range(1, n):
        for s, label in enumerate(extended):
            terms = [alpha[t - 1, s]]
            if s >= 1:
                terms.append(alpha[t - 1, s - 1])
            if s >= 2 and label not in (blank, extended[s - 2]):
                terms.append(alpha[t - 1, s - 2])
            alpha[t, s] = log_sum_exp(*terms) + logp[t, label]
    return -log_sum_exp(alpha[-1, -1], alpha[-1, -2])


def layer_norm(x, g, b, eps: float = 1e-5):
    mean, variance = np.mean(x, axis=-1, keepdims=True), np.var(x, axis=-1, keepdims=True)
    return g * (x - mean) / np.sqrt(variance + eps) + b


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def heads_of_attention(x, c_attn, c_proj, n_head):
    qkv = np.split(x @ c_attn["w"] + c_attn["b"], 3, axis=-1)
    q, k, v = [np.split(x, n_head, axis=-1) for x in qkv]
    mask = (1 - np.tri(x.shape[0], dtype=x.dtype)) * -1e10
    heads = [
        softmax(a @ b.T / np.sqrt(a.shape[-1]) + mask) @ c for a, b, c in zip(q, k, v, strict=True)
    ]
    return np.hstack(heads) @ c_proj["w"] + c_proj["b"]


def small_language_model(wte, wqkv):
    ids, d = [0, 2, 1, 3], wte.shape[1]
    block = {
        "attn": {
            "c_attn": {"w": wqkv, "b": np.zeros(3 * d)},
            "c_proj": {"w": np.eye(d), "b": 0.1 * np.ones(d)},
        },
        "ln_1": {"g": np.ones(d), "b": np.zeros(d)},
    }
    x = wte[ids] + np.sin(np.arange(len(ids)))[:, None]
    x = x + heads_of_attention(layer_norm(x, **block["ln_1"]), **block["attn"], n_head=2)
    p = softmax(x @ wte.T)
    return -np.mean(np.log(p[np.arange(3), ids[1:]]))


def systematic(weights, u0):
    n = len(weights)
    positions, cumulative = (u0 + np.arange(n)) / n, np.cumsum(weights)
    chosen, i, j = np.zeros(n, dtype=int), 0, 0
    while i < n:
        if positions[i] < cumulative[j] or j == n - 1:
            chosen[i] = j
            i += 1
        else:
            j += 1
    return chosen


def particle_filter(ys, log_q, log_r):
    draws = np.random.default_rng(42)
    n, total = 8, 0.0
    x = draws.normal(size=n)
    for y in ys:
        x = 0.9 * x + np.exp(log_q) * draws.standard_normal(n)
        logw = -0.5 * ((y - x) / np.exp(log_r)) ** 2 - log_r
        w = np.exp(logw - logw.max())
        total += logw.max() + np.log(w.mean())
        w /= w.sum()
        if 1 / np.sum(w**2) < n / 2:
            x = x[systematic(w, draws.random())]
    return total


def partial_likelihood(beta, covariates):
    """Of proportional hazards, by Efron's rule for ties."""
    times = np.array([5.0, 3, 3, 2, 6, 1, 4, 3])
    died = np.array([1, 1, 1, 0, 1, 1, 0, 1], dtype=bool)
    order = np.argsort(-times, kind="stable")
    total, at_risk, ties = 0.0, 0.0, []
    for i, k in enumerate(order):
        ties.append((died[k], covariates[k], np.exp(covariates[k] @ beta)))
        if i + 1 < len(order) and times[order[i + 1]] == times[k]:
            continue
        at_risk += sum(risk for _, _, risk in ties)
        deaths = [(x, risk) for dead, x, risk in ties if dead]
        tied = sum(risk for _, risk in deaths)
        for j, (x, _) in enumerate(deaths):
            total += x @ beta - np.log(at_risk - j / len(deaths) * tied)
        ties.clear()
    return total - 0.05 * beta @ beta


def loopy_beliefs(unary, coupling):
    n = len(unary)
    edges = [(i, (i + 1) % n) for i in range(n)]
    pair = np.exp(coupling * np.array([[1.0, -1.0], [-1.0, 1.0]]))
    messages = {(i, j): np.ones(2) / 2 for a, b in edges for i, j in ((a, b), (b, a))}
    neighbours = defaultdict(set)
    for i, j in messages:
        neighbours[j].add(i)
    phi = np.exp(np.stack([unary, -unary], 1))
    for _ in range(3):
        new = {}
        for (i, j), old in messages.items():
            product = phi[i].copy()
            for k in neighbours[i] - {j}:
                product *= messages[k, i]
            m = pair.T @ product
            new[i, j] = 0.5 * old + 0.5 * m / m.sum()
        messages.update(new)
    belief = np.array(
        [
            phi[j] * np.prod([messages[i, j] for i in sorted(neighbours[j])], axis=0)
            for j in range(n)
        ]
    )
    return (belief / belief.sum(1, keepdims=True))[:, 0]


def mean_values(demands, think, customers):
    """Of a closed network of queues: throughput, and how many wait at each."""
    waiting = [0.0] * len(demands)
    for n in range(1, customers + 1):
        residence = [d * (1 + q) for d, q in zip(demands, waiting, strict=True)]
        throughput = n / (think + sum(residence))
        waiting = [throughput * r for r in residence]
    return throughput, dict(enumerate(waiting))


def call_centre(demands, think):
    throughput, waiting = mean_values(list(demands), think, 4)
    load = throughput * demands[0]
    inner = sum([load**k / factorial(k) for k in range(3)])
    top = load**3 / factorial(3) * 3 / (3 - load)
    return np.array([throughput, top / (inner + top), *[waiting[k] for k in sorted(waiting)]])


def mesh_curvature(vertices):
    """By the cotangent Laplacian of an octahedron, whose faces the function makes."""
    faces = np.array([[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 1]])
    faces = np.vstack([faces, 5 - faces[:, [0, 2, 1]]])
    n = len(vertices)
    laplacian, area = np.zeros((n, n)), np.zeros(n)
    for k in range(3):
        i, j, o = faces[:, k], faces[:, (k + 1) % 3], faces[:, (k + 2) % 3]
        a, b = vertices[i] - vertices[o], vertices[j] - vertices[o]
        twice = np.linalg.norm(np.cross(a, b), axis=1)
        cotangent = np.sum(a * b, axis=1) / twice
        np.add.at(laplacian, (i, j), 0.5 * cotangent)
        np.add.at(laplacian, (j, i), 0.5 * cotangent)
        area += np.bincount(o, weights=twice / 6, minlength=n)
    laplacian[np.diag_indices(n)] = -laplacian.sum(1)
    return np.linalg.norm(laplacian @ vertices, axis=1) / (2 * area)


class Chebyshev:
    def __init__(self, coefficients):
        self.coefficients = coefficients

    @classmethod
    def fit(cls, f, n):
        x = np.cos(np.pi * (np.arange(n) + 0.5) / n)
        y, turns = f(x), np.arccos(x)
        coefficients = 2 / n * np.array([np.sum(y * np.cos(j * turns)) for j in range(n)])
        coefficients[0] /= 2
        return cls(coefficients)

    def __call__(self, x):
        return np.polynomial.chebyshev.chebval(x, self.coefficients)

    def __mul__(self, other):
        return Chebyshev(np.polynomial.chebyshev.chebmul(self.coefficients, other.coefficients))

    def derivative(self):
        return Chebyshev(np.polynomial.chebyshev.chebder(self.coefficients))


def approximated(rate, shift):
    f = Chebyshev.fit(lambda x: np.exp(rate * x) * np.cos(3 * x + shift), 7)
    g = f.derivative() * f
    x, w = np.polynomial.legendre.leggauss(4)
    return np.sum(w * f(x)) + g(0.3)


rng = np.random.default_rng(0)
OCTAHEDRON = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0], [0, 0, -1.0]])

PROGRAMS = [
    (steps_of_an_engine, (np.array([0.3, -0.4, 0.8, 0.5]), np.array([1.0, 0.7]), 0.1)),
    (variational_steps, (np.array([0.5, 1.0, 0.7]), 0.3)),
    (alignment_loss, (rng.normal(size=(5, 3)),)),
    (small_language_model, (rng.normal(size=(4, 4)), 0.4 * rng.normal(size=(4, 12)))),
    (particle_filter, (np.array([0.3, -0.5, 1.2]), -0.5, -0.3)),
    (partial_likelihood, (np.array([0.3, -0.2]), rng.normal(size=(8, 2)))),
    (loopy_beliefs, (np.array([0.3, -0.2, 0.5]), 0.4)),
    (call_centre, (np.array([0.4, 0.25, 0.31]), 1.5)),
    (mesh_curvature, (OCTAHEDRON + 0.1 * rng.normal(size=(6, 3)),)),
    (approximated, (0.8, 0.3)),
]
