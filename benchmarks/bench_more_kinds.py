"""A second list of kinds, beside that of `bench_kinds.py`: what its rows do not measure.

Steps with other functions, axes, keywords and shapes, and whole transformations of other forms
(trees of arguments, values beside gradients, forward mode, batches, derivatives of derivatives).
The options and the table are those of `bench_kinds.py`, and so are the bars.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import autograd
import autograd.numpy as anp
import numpy as np
from autograd.differential_operators import make_jvp as forward_of
from bench_kinds import STARTS, Row, main

import pullback as pb


def in_place(np: Any, x: Any, c: Any) -> Any:
    y = np.array(x)
    y[2:5] += 0.1 * x[5:8]
    return y


def in_place_torch(t: Any, x: Any, c: Any) -> Any:
    y = x.clone()
    y[2:5] += 0.1 * x[5:8]
    return y


def of_lists(np: Any, x: Any, c: Any) -> Any:
    return np.stack([1.01 * x[i] for i in range(10)])


def cut(np: Any, x: Any, c: Any) -> Any:
    a, b, d = x[:3], x[3:6], x[6:]
    return np.concatenate((b * 1.01, a, d))


# fmt: off
ROWS = [
    # Elementwise, of arrays and of numbers.
    Row("exp2", "vector", lambda np, x, c: 1.2 * x + 0.3 * np.exp2(-x)),
    Row("logaddexp of two moving", "vector",
        lambda np, x, c: 0.9 * x + 0.1 * np.logaddexp(x, 0.5 * x)),
    Row("minimum of two moving", "vector", lambda np, x, c: np.minimum(x, 2.0 - x)),
    Row("square", "vector", lambda np, x, c: 0.5 + 0.2 * np.square(x)),
    Row("reciprocal", "vector", lambda np, x, c: np.reciprocal(x),
        lambda t, x, c: t.reciprocal(x)),
    Row("arctan", "vector", lambda np, x, c: np.arctan(x)),
    Row("expm1", "vector", lambda np, x, c: 1.1 * x + 0.1 * np.expm1(-x)),
    Row("sign times abs", "vector", lambda np, x, c: np.sign(x) * np.abs(x)),
    Row("number ** x", "vector", lambda np, x, c: 1.2 * x + 0.3 * 0.5**x),
    Row("x / y of two moving", "vector", lambda np, x, c: x / (x + 0.3) + 0.5 * x),
    Row("column times row", "vector", lambda np, x, c: x + 0.01 * (x[:, None] * x[None, :])[0]),
    Row("power of a number", "number", lambda np, x, c: 0.8 * x + 0.2 * x**3),
    Row("tanh and quotient of a number", "number", lambda np, x, c: x + np.tanh(x) / (1.0 + x * x)),
    Row("number beside an array", "number", lambda np, x, c: x + np.sum(c.a * x) * 0.01),
    # Choices and bounds.
    Row("clip by an array", "vector", lambda np, x, c: np.clip(x, 0.9 * c.p, 1.2)),
    Row("where of three moving", "vector", lambda np, x, c: np.where(x > x[4], x, 1.01 * x)),
    Row("where with a number", "vector", lambda np, x, c: np.where(c.m, x, 0.9)),
    Row("maximum over a matrix and its row", "matrix", lambda np, x, c: np.maximum(x, c.r)),
    # Reductions.
    Row("sum with two axes", "matrix", lambda np, x, c: x * (0.9 + 0.001 * np.sum(x, axis=(0, 1))),
        lambda t, x, c: x * (0.9 + 0.001 * t.sum(x, dim=(0, 1)))),
    Row("var over an axis", "matrix", lambda np, x, c: x * (0.9 + 0.1 * np.var(x, axis=0)),
        lambda t, x, c: x * (0.9 + 0.1 * t.var(x, dim=0, unbiased=False))),
    Row("std over an axis, kept", "matrix",
        lambda np, x, c: x * (0.9 + 0.1 * np.std(x, axis=1, keepdims=True)),
        lambda t, x, c: x * (0.9 + 0.1 * t.std(x, dim=1, keepdim=True, unbiased=False))),
    Row("min over an axis, kept", "matrix",
        lambda np, x, c: x - 0.1 * np.min(x, axis=1, keepdims=True),
        lambda t, x, c: x - 0.1 * t.amin(x, dim=1, keepdim=True)),
    Row("mean of a matrix", "matrix", lambda np, x, c: x - 0.1 * np.mean(x)),
    Row("method mean over an axis", "matrix", lambda np, x, c: x - 0.1 * x.mean(axis=0),
        lambda t, x, c: x - 0.1 * x.mean(dim=0)),
    Row("softmax over rows", "matrix",
        lambda np, x, c: (lambda e: 0.9 * x + e / np.sum(e, axis=1, keepdims=True))(
            np.exp(x - np.max(x, axis=1, keepdims=True))),
        lambda t, x, c: (lambda e: 0.9 * x + e / t.sum(e, dim=1, keepdim=True))(
            t.exp(x - t.amax(x, dim=1, keepdim=True)))),
    Row("cumsum over an axis", "matrix", lambda np, x, c: x + 0.01 * np.cumsum(x, axis=1),
        lambda t, x, c: x + 0.01 * t.cumsum(x, 1)),
    Row("norm over rows, kept", "matrix",
        lambda np, x, c: x / np.sqrt(np.sum(x**2, axis=1, keepdims=True)),
        lambda t, x, c: x / t.sqrt(t.sum(x**2, dim=1, keepdim=True))),
    Row("norm of a matrix", "matrix", lambda np, x, c: x / np.linalg.norm(x)),
    # Indices.
    Row("x[..., 1]", "matrix", lambda np, x, c: x - 0.1 * x[..., 1]),
    Row("x[:, index]", "matrix", lambda np, x, c: x[:, [1, 0, 3, 2]]),
    Row("x[1:3, 2:]", "matrix", lambda np, x, c: x * (0.9 + 0.01 * np.sum(x[1:3, 2:]))),
    Row("x[mask of two axes]", "matrix", lambda np, x, c: x + 0.01 * np.sum(x[c.A > 1])),
    Row("a step through a loop of elements", "vector", of_lists),
    Row("three slices joined", "vector", cut),
    Row("y[2:5] += x[5:8]", "vector", in_place, in_place_torch),
    Row("x[::2] and x[1::2] joined", "vector",
        lambda np, x, c: np.concatenate((x[::2], x[1::2]))),
    # Shapes.
    Row("stack along axis 1", "vector", lambda np, x, c: np.stack((x, c.a), axis=1)[:, 0],
        lambda t, x, c: t.stack((x, c.a), dim=1)[:, 0]),
    Row("concatenate along axis 1", "matrix",
        lambda np, x, c: np.concatenate((x[:, 2:], x[:, :2]), axis=1)),
    Row("roll over an axis", "matrix", lambda np, x, c: np.roll(x, 1, axis=1),
        lambda t, x, c: t.roll(x, 1, 1)),
    Row("method reshape and back", "matrix", lambda np, x, c: x.reshape(-1).reshape(4, 4)),
    Row("method transpose", "matrix", lambda np, x, c: x.transpose(1, 0),
        lambda t, x, c: x.permute(1, 0)),
    Row("tril", "matrix", lambda np, x, c: x + 0.01 * np.tril(x)),
    Row("diag of a vector", "vector", lambda np, x, c: x + 0.01 * np.diag(x) @ c.b),
    Row("repeat over an axis", "matrix", lambda np, x, c: np.repeat(x, 2, axis=0)[:4],
        lambda t, x, c: t.repeat_interleave(x, 2, 0)[:4]),
    Row("tile of a matrix", "matrix", lambda np, x, c: np.tile(x, (2, 1))[:4]),
    Row("pad of a matrix", "matrix", lambda np, x, c: np.pad(x, 1, mode="constant")[1:5, 1:5]),
    Row("diff over an axis", "matrix",
        lambda np, x, c: x + 0.01 * np.concatenate((x[:, :1], np.diff(x, axis=1)), axis=1),
        lambda t, x, c: x + 0.01 * t.concatenate((x[:, :1], t.diff(x, dim=1)), 1)),
    # Products.
    Row("matmul of stacks", "matrix",
        lambda np, x, c: x + 0.01 * np.matmul(np.reshape(x, (4, 2, 2)),
                                   np.reshape(c.A, (4, 2, 2))).reshape(4, 4)),
    Row("einsum of vectors", "vector",
        lambda np, x, c: x + 0.001 * np.einsum("i,i->", x, c.b)),
    Row("einsum of a matrix and a vector", "vector",
        lambda np, x, c: np.einsum("ij,j->i", c.R, x)),
    Row("inner", "vector", lambda np, x, c: x + 0.001 * np.inner(x, c.b)),
    Row("dot of two moving", "vector", lambda np, x, c: x / np.sqrt(np.dot(x, x))),
    Row("a quadratic form", "vector", lambda np, x, c: x * (0.9 + 0.01 * (x @ c.R @ x))),
    Row("x.T @ x", "matrix", lambda np, x, c: x + 0.001 * (x.T @ x)),
    Row("a layer of a network", "vector", lambda np, x, c: 0.5 * x + np.tanh(c.R @ x + c.b)),
    Row("polyval", "vector",
        lambda np, x, c: x - 0.01 * (x * (x * (x * 0.1 - 0.2) + 0.3) - 0.5)),
    # Linear algebra.
    Row("solve with both moving", "matrix", lambda np, x, c: x + 0.1 * np.linalg.solve(x + c.A, x)),
    Row("inv of a stack", "matrix",
        lambda np, x, c: x + 0.01 * np.sum(np.linalg.inv(np.stack((x + c.E, c.A))))),
    Row("cholesky of a product", "matrix",
        lambda np, x, c: np.linalg.cholesky(x @ x.T + c.E)),
    Row("eigh, values and vectors", "matrix",
        lambda np, x, c: (lambda w, v: x + 0.001 * (v * w) @ v.T)(
            *np.linalg.eigh(x @ x.T + c.E))),
    Row("fft and back", "vector",
        lambda np, x, c: np.real(np.fft.ifft(np.fft.fft(x) * np.exp(0.1j))) + 0.01 * x),
    Row("complex product", "vector",
        lambda np, x, c: x + 0.01 * np.real((x + 1j * c.a) * (x - 0.3j))),
]
# fmt: on


def whole_runs() -> dict[str, dict[str, Callable[[], Any]]]:
    """Whole transformations of small functions."""
    x, v = STARTS["vector"], np.ones(10)
    w = np.linspace(-0.5, 0.5, 40).reshape(4, 10)
    b = np.zeros(4)

    def loss(np: Any) -> Any:
        return lambda p: np.sum(np.tanh(p["w"] @ x + p["b"]) ** 2)

    def rosenbrock(np: Any) -> Any:
        return lambda x: np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    def of_two(np: Any) -> Any:
        return lambda w, b: np.sum(np.tanh(w @ x + b))

    def waves(x: Any) -> Any:
        return np.sin(x) * np.cos(x)

    def their_waves(x: Any) -> Any:
        return anp.sin(x) * anp.cos(x)

    def twice(grad: Any, np: Any) -> Any:
        inner = grad(lambda x: np.sum(np.sin(x) * x))
        return grad(lambda x: np.sum(inner(x) ** 2))

    def five(grad: Any, np: Any) -> Any:
        inner = grad(lambda y: np.sum(y**2))

        def run(x: Any) -> Any:
            for _ in range(5):
                x = x - 0.1 * inner(x)
            return np.sum(x)

        return grad(run)

    p = {"w": w, "b": b}
    ours, theirs = pb.grad(loss(np)), autograd.grad(loss(anp))
    calls: dict[str, tuple[Any, Any]] = {
        "gradient with a dict": (
            lambda: ours(p)["w"], lambda: theirs(p)["w"]),
        "gradient with two arguments": of(
            lambda f: f(w, b)[0], pb.grad(of_two(np), (0, 1)), autograd.grad(of_two(anp), (0, 1))),
        "gradient of rosenbrock": of(
            lambda f: f(x), pb.grad(rosenbrock(np)), autograd.grad(rosenbrock(anp))),
        "value and gradient of rosenbrock": of(
            lambda f: f(x)[1],
            pb.value_and_grad(rosenbrock(np)), autograd.value_and_grad(rosenbrock(anp))),
        "gradient of a number's polynomial": of(
            lambda f: f(0.5), *[g(lambda x: x**3 - 2.0 * x) for g in (pb.grad, autograd.grad)]),
        "gradient of x @ x": of(
            lambda f: f(x), pb.grad(lambda x: x @ x), autograd.grad(lambda x: anp.dot(x, x))),
        "tangent of sin * cos": (
            lambda: pb.jvp(waves, (x,), (v,))[1],
            lambda: forward_of(their_waves)(x)(v)[1]),
        "cotangent of sin * cos": (
            lambda: pb.vjp(waves, x)[1](v)[0],
            lambda: autograd.make_vjp(their_waves)(x)[0](v)),
        "jacobian of sin * cos": of(
            lambda f: f(x), pb.jacobian(waves), autograd.jacobian(their_waves)),
        "hessian of rosenbrock": of(
            lambda f: f(x), pb.hessian(rosenbrock(np)), autograd.hessian(rosenbrock(anp))),
        "hvp of rosenbrock": of(
            lambda f: f(x, v),
            pb.hvp(rosenbrock(np)), autograd.hessian_vector_product(rosenbrock(anp))),
        "gradient of a gradient": of(
            lambda f: f(x), twice(pb.grad, np), twice(autograd.grad, anp)),
        "second derivative of a number": of(
            lambda f: f(0.5),
            *[g(g(lambda x, n=n: n.sin(x) * x)) for g, n in ((pb.grad, np), (autograd.grad, anp))]),
        "five steps of descent, differentiated": of(
            lambda f: f(x), five(pb.grad, np), five(autograd.grad, anp)),
    }  # fmt: skip
    found = {name: {"ours": ours, "autograd": theirs} for name, (ours, theirs) in calls.items()}
    # Beside what one would write for autograd: it has no batches and no results beside.
    several = np.stack([x] * 8)
    batch = pb.vmap(pb.grad(rosenbrock(np)))
    single = autograd.grad(rosenbrock(anp))
    found["gradients of a batch of 8"] = {
        "ours": lambda: batch(several),
        "autograd": lambda: np.stack([single(x) for x in several]),
    }
    aside = pb.grad(lambda x: (np.sum(np.sin(x)), math.pi), has_aux=True)
    plain = autograd.grad(lambda x: anp.sum(anp.sin(x)))
    found["gradient with a result beside"] = {
        "ours": lambda: aside(x)[0],
        "autograd": lambda: plain(x),
    }
    return found


def of(call: Any, ours: Any, theirs: Any) -> tuple[Any, Any]:
    return lambda: call(ours), lambda: call(theirs)


if __name__ == "__main__":
    main(sys.argv[1:], ROWS, whole_runs())
