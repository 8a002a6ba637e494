"""What one operation of each kind costs, forward and backward, on 10 numbers or a 4 by 4 matrix.

Each row is a step x -> x, taken many times inside one gradient; ours, autograd's and PyTorch's runs
are interleaved in one process. Whole transformations are called 20 times in a turn, so that none
is timed with what the others left in the processor's caches. The bars are ratios: the geometric
mean at most 0.4 of autograd and 0.8 of PyTorch, no row above 1.0 of autograd. Where NumPy itself
takes most of the time, a row has its forward and backward written by hand in NumPy, and the bar is
1.3 of that.

    python benchmarks/bench_kinds.py              every row
    python benchmarks/bench_kinds.py sum solve    rows whose names contain one of these words
    python benchmarks/bench_kinds.py --json FILE  the medians as JSON as well
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any

import autograd
import autograd.numpy as anp
import numpy as np
from common import interleaved, table

import pullback as pb

try:
    import torch
except ImportError:  # its column stays empty
    torch = None
else:
    torch.set_num_threads(1)
STEPS = 50  # in one gradient
CALLS = 20  # of a whole transformation, in a turn
rng = np.random.default_rng(0)

PLAIN = {
    "a": rng.normal(size=10),
    "b": rng.uniform(0.5, 1.5, 10),
    "p": rng.uniform(0.8, 1.0, 10),
    "A": np.eye(4) * 2 + 0.3 * rng.normal(size=(4, 4)),
    "R": np.linalg.qr(rng.normal(size=(10, 10)))[0],
    "r": rng.normal(size=4),
    "i": np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3]),
    "m": np.arange(10) % 3 > 0,
    "o": np.argsort(rng.normal(size=(4, 4)), axis=1),
    "t": np.linspace(0.0, 2.0, 5),
    "E": np.diag([1.0, 2.0, 3.0, 4.0]),
}
OURS = SimpleNamespace(**PLAIN)
TORCH = SimpleNamespace(**{key: torch.tensor(x) for key, x in PLAIN.items()}) if torch else None
STARTS = {
    "number": 0.5,
    "vector": np.linspace(0.7, 1.6, 10),
    "matrix": np.linspace(0.3, 1.2, 16).reshape(4, 4) + 0.5 * np.eye(4),
}


@dataclass
class Row:
    """A step x -> x by NumPy's functions `np` and constants `c`, and the same for PyTorch.

    by_hand: for a step bound by NumPy's own time, (x, c) -> out, and (out_bar, x, out, c) -> x_bar.
    """

    name: str
    start: str
    step: Callable[..., Any]
    torch: Callable[..., Any] | None = None
    by_hand: tuple[Callable[..., Any], Callable[..., Any]] | None = None
    issued: bool = True  # whether it is one of the 29 kinds that the bars were set for


def solve_back(bar: Any, x: Any, out: Any, c: Any) -> Any:
    return -(np.linalg.solve(x.T, bar) @ out.T)


def inverse_back(bar: Any, x: Any, out: Any, c: Any) -> Any:
    return -(out.T @ bar @ out.T)


def softmax(np: Any, x: Any, c: Any) -> Any:
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


def softmax_torch(t: Any, x: Any, c: Any) -> Any:
    e = t.exp(x - t.max(x))
    return e / t.sum(e)


# fmt: off
ROWS = [
    Row("x + array", "vector", lambda np, x, c: x + c.a),
    Row("tanh", "vector", lambda np, x, c: np.tanh(x)),
    Row("sin * 1.01 of a number", "number", lambda np, x, c: np.sin(x) * 1.01),
    Row("x[::-1]", "vector", lambda np, x, c: x[::-1], lambda t, x, c: t.flip(x, (0,))),
    Row("x[index]", "vector", lambda np, x, c: x[c.i]),
    Row("reshape twice", "vector",
        lambda np, x, c: np.reshape(np.reshape(x, (2, 5)), (10,))),
    Row("x.T", "matrix", lambda np, x, c: x.T),
    Row("x * x[3]", "vector", lambda np, x, c: x * x[3]),
    Row("x + x[0] of a matrix", "matrix", lambda np, x, c: x + x[0]),
    Row("two slices joined", "vector", lambda np, x, c: np.concatenate((x[5:], x[:5])),
        lambda t, x, c: t.concatenate((x[5:], x[:5]))),
    Row("where", "vector", lambda np, x, c: np.where(c.m, x, c.a)),
    Row("maximum with a number", "vector", lambda np, x, c: np.maximum(x, 0.85),
        lambda t, x, c: t.clamp(x, min=0.85)),
    Row("sum and scale", "vector", lambda np, x, c: x / np.sum(x)),
    Row("mean", "vector", lambda np, x, c: x - np.mean(x)),
    Row("max", "vector", lambda np, x, c: x - np.max(x)),
    Row("outer", "vector", lambda np, x, c: np.outer(x, c.b) @ c.b * 0.1),
    Row("solve", "matrix", lambda np, x, c: np.linalg.solve(x, c.A),
        by_hand=(lambda x, c: np.linalg.solve(x, c.A), solve_back)),
    Row("sort", "vector", lambda np, x, c: np.sort(x), lambda t, x, c: t.sort(x)[0]),
    Row("cumsum", "vector", lambda np, x, c: 0.2 * np.cumsum(x),
        lambda t, x, c: 0.2 * t.cumsum(x, 0)),
    Row("norm", "vector", lambda np, x, c: x / np.linalg.norm(x)),
    Row("dot", "vector", lambda np, x, c: np.dot(x, c.b) * c.b * 0.1,
        lambda t, x, c: t.dot(x, c.b) * c.b * 0.1),
    Row("matmul", "vector", lambda np, x, c: c.R @ x),
    Row("exp", "vector", lambda np, x, c: np.exp(-x)),
    Row("division", "vector", lambda np, x, c: c.b / x),
    Row("power", "vector", lambda np, x, c: 0.5 + 0.4 * x**2),
    Row("clip", "vector", lambda np, x, c: np.clip(x, 0.85, 1.25),
        lambda t, x, c: t.clamp(x, 0.85, 1.25)),
    Row("stack", "vector", lambda np, x, c: np.stack((x, c.a))[0],
        lambda t, x, c: t.stack((x, c.a))[0]),
    Row("concatenate", "vector", lambda np, x, c: np.concatenate((x, c.a))[:10]),
    Row("prod", "vector", lambda np, x, c: x * (0.5 + 0.1 * np.prod(x))),
    # More kinds than the bars were set for.
    Row("var", "vector", lambda np, x, c: x * (0.9 + np.var(x)),
        lambda t, x, c: x * (0.9 + t.var(x, unbiased=False)), issued=False),
    Row("std", "vector", lambda np, x, c: x * (0.9 + 0.1 * np.std(x)),
        lambda t, x, c: x * (0.9 + 0.1 * t.std(x, unbiased=False)), issued=False),
    Row("min", "vector", lambda np, x, c: x * (0.9 + 0.1 * np.min(x)), issued=False),
    Row("abs", "vector", lambda np, x, c: np.abs(x), issued=False),
    Row("log", "vector", lambda np, x, c: np.log(x + 1.5), issued=False),
    Row("sqrt", "vector", lambda np, x, c: np.sqrt(x), issued=False),
    Row("negative", "vector", lambda np, x, c: -x, issued=False),
    Row("x * x", "vector", lambda np, x, c: 0.5 + 0.4 * (x * x), issued=False),
    Row("x ** array", "vector", lambda np, x, c: x**c.p, issued=False),
    Row("arctan2", "vector", lambda np, x, c: np.arctan2(x, c.b), issued=False),
    Row("logaddexp", "vector", lambda np, x, c: np.logaddexp(x, c.a) * 0.9, issued=False),
    Row("maximum of arrays", "vector", lambda np, x, c: np.maximum(x, c.a), issued=False),
    Row("where on a comparison", "vector", lambda np, x, c: np.where(x > 1.055, x, 1.01 * x),
        issued=False),
    Row("softmax", "vector", softmax, softmax_torch, issued=False),
    Row("number + array", "vector", lambda np, x, c: x[0] + c.a, issued=False),
    Row("matrix + row", "matrix", lambda np, x, c: x + c.r, issued=False),
    Row("row by column", "matrix", lambda np, x, c: x * (x[0] * 0.1 + 0.9)[:, None], issued=False),
    Row("sum over an axis", "matrix",
        lambda np, x, c: x - 0.1 * np.sum(x, axis=1, keepdims=True),
        lambda t, x, c: x - 0.1 * t.sum(x, dim=1, keepdim=True), issued=False),
    Row("method sum over an axis", "matrix", lambda np, x, c: x + 0.1 * x.sum(axis=0),
        lambda t, x, c: x + 0.1 * x.sum(dim=0), issued=False),
    Row("mean over an axis", "matrix", lambda np, x, c: x - 0.1 * np.mean(x, axis=0),
        lambda t, x, c: x - 0.1 * t.mean(x, dim=0), issued=False),
    Row("max over an axis", "matrix", lambda np, x, c: x - 0.1 * np.max(x, axis=0),
        lambda t, x, c: x - 0.1 * t.amax(x, dim=0), issued=False),
    Row("matrix @ matrix", "matrix", lambda np, x, c: x @ c.A * 0.4, issued=False),
    Row("x @ x", "matrix", lambda np, x, c: 0.5 * x + 0.05 * (x @ x), issued=False),
    Row("dot of matrix and vector", "vector", lambda np, x, c: np.dot(c.R, x),
        lambda t, x, c: t.mv(c.R, x), issued=False),
    Row("x @ x of vectors", "vector", lambda np, x, c: x * (0.5 + 0.02 * (x @ x)), issued=False),
    Row("einsum", "matrix", lambda np, x, c: np.einsum("ij,jk->ik", x, c.A) * 0.4, issued=False),
    Row("tensordot", "matrix", lambda np, x, c: np.tensordot(x, c.A, 1) * 0.4, issued=False),
    Row("trace", "matrix", lambda np, x, c: x * (0.9 + 0.01 * np.trace(x)), issued=False),
    Row("inv", "matrix", lambda np, x, c: np.linalg.inv(x),
        by_hand=(lambda x, c: np.linalg.inv(x), inverse_back), issued=False),
    Row("det", "matrix", lambda np, x, c: x * (0.9 + 0.01 * np.linalg.det(x)), issued=False),
    Row("cholesky", "matrix", lambda np, x, c: np.linalg.cholesky(c.A @ c.A.T + 0.1 * x),
        lambda t, x, c: t.linalg.cholesky(c.A @ c.A.T + 0.1 * x), issued=False),
    Row("transpose", "matrix", lambda np, x, c: np.transpose(x, (1, 0)),
        lambda t, x, c: t.permute(x, (1, 0)), issued=False),
    Row("swapaxes", "matrix", lambda np, x, c: np.swapaxes(x, 0, 1), issued=False),
    Row("ravel and back", "matrix", lambda np, x, c: np.reshape(np.ravel(x), (4, 4)), issued=False),
    Row("x[:, None] squeezed", "vector", lambda np, x, c: np.squeeze(x[:, None]), issued=False),
    Row("expand_dims and sum", "vector", lambda np, x, c: np.sum(np.expand_dims(x, 0), axis=0),
        lambda t, x, c: t.sum(t.unsqueeze(x, 0), dim=0), issued=False),
    Row("flip", "vector", lambda np, x, c: np.flip(x), lambda t, x, c: t.flip(x, (0,)),
        issued=False),
    Row("roll", "vector", lambda np, x, c: np.roll(x, 3), issued=False),
    Row("x[1:] - x[:-1], padded", "vector",
        lambda np, x, c: np.concatenate((x[1:] - 0.5 * x[:-1], x[:1])), issued=False),
    Row("diff", "vector", lambda np, x, c: np.concatenate((x[:1], 0.5 * np.diff(x))), issued=False),
    Row("x[mask]", "vector", lambda np, x, c: x * (0.9 + 0.01 * np.sum(x[c.m])), issued=False),
    Row("take", "vector", lambda np, x, c: np.take(x, c.i), issued=False),
    Row("column of a matrix", "matrix", lambda np, x, c: x - 0.1 * x[:, 1], issued=False),
    Row("element of a matrix", "matrix", lambda np, x, c: x * (0.9 + 0.1 * x[1, 2]), issued=False),
    Row("stack of numbers", "vector",
        lambda np, x, c: np.stack([x[i] for i in range(10)]), issued=False),
    Row("broadcast_to", "vector",
        lambda np, x, c: np.broadcast_to(x[None], (3, 10))[1], issued=False),
    Row("tile", "vector", lambda np, x, c: np.tile(x, (2,))[:10], issued=False),
    Row("repeat", "vector", lambda np, x, c: np.repeat(x, 2)[:10],
        lambda t, x, c: t.repeat_interleave(x, 2)[:10], issued=False),
    Row("hstack", "vector", lambda np, x, c: np.hstack((x, c.a))[:10], issued=False),
    Row("vstack", "vector", lambda np, x, c: np.vstack((x, c.a))[0], issued=False),
    Row("cumprod", "vector", lambda np, x, c: 0.5 + 0.1 * np.cumprod(x),
        lambda t, x, c: 0.5 + 0.1 * t.cumprod(x, 0), issued=False),
    Row("number * number", "number", lambda np, x, c: x * x * 0.9, issued=False),
    Row("exp of a number", "number", lambda np, x, c: np.exp(-x), issued=False),
    # Kinds that were looked at last; PyTorch has no function of the same name for most.
    Row("pad", "vector", lambda np, x, c: np.pad(x, 2, mode="constant")[2:-2], issued=False),
    Row("diag of a matrix", "matrix", lambda np, x, c: x * np.diag(x), issued=False),
    Row("triu", "matrix", lambda np, x, c: np.triu(x), issued=False),
    Row("hypot", "vector", lambda np, x, c: np.hypot(x, c.a) * 0.9, issued=False),
    Row("log1p", "vector", lambda np, x, c: np.log1p(x), issued=False),
    Row("take_along_axis", "matrix", lambda np, x, c: np.take_along_axis(x, c.o, axis=1),
        issued=False),
    Row("x[rows, columns]", "matrix", lambda np, x, c: x + 0.1 * x[[0, 1, 2, 3], [1, 2, 3, 0]],
        issued=False),
    Row("fliplr", "matrix", lambda np, x, c: np.fliplr(x), issued=False),
    Row("rot90", "matrix", lambda np, x, c: np.rot90(x), issued=False),
    Row("moveaxis", "matrix", lambda np, x, c: np.moveaxis(x, 0, 1), issued=False),
    Row("kron", "matrix", lambda np, x, c: np.kron(x[0], c.r)[:4] * x, issued=False),
    Row("cross", "matrix", lambda np, x, c: x + 0.1 * np.sum(np.cross(x[:, :3], c.r[:3])),
        issued=False),
    Row("interp", "vector", lambda np, x, c: 0.5 * np.interp(x, c.t, c.t**2), issued=False),
    Row("fft", "vector", lambda np, x, c: x + 0.1 * np.abs(np.fft.fft(x)), issued=False),
    Row("abs of complex numbers", "vector", lambda np, x, c: np.abs(x + 1j * c.a), issued=False),
    Row("real part", "vector", lambda np, x, c: np.real(x * (1 + 2j)), issued=False),
    Row("norm over an axis", "matrix", lambda np, x, c: x / np.linalg.norm(x, axis=1),
        issued=False),
    Row("solve of a vector", "matrix", lambda np, x, c: x + 0.1 * np.linalg.solve(c.A, x[0]),
        issued=False),
    Row("slogdet", "matrix",
        lambda np, x, c: x * (1 + 0.01 * np.linalg.slogdet(x @ x.T + c.E)[1]), issued=False),
    Row("eigh", "matrix",
        lambda np, x, c: x * (0.9 + 0.001 * np.linalg.eigh(x @ x.T + c.E)[0]), issued=False),
    Row("svd", "matrix",
        lambda np, x, c: x * (0.9 + 0.001 * np.linalg.svd(c.A + 0.1 * x, compute_uv=False)),
        issued=False),
    Row("nan_to_num", "vector", lambda np, x, c: np.nan_to_num(x), issued=False),
    Row("sinc", "vector", lambda np, x, c: np.sinc(x) + x, issued=False),
    Row("remainder", "vector", lambda np, x, c: np.mod(x, 0.9) + 0.3, issued=False),
    Row("prod over an axis", "matrix", lambda np, x, c: x * (0.5 + 0.1 * np.prod(x, axis=0)),
        issued=False),
    Row("array of elements", "vector", lambda np, x, c: np.array([x[i] for i in range(10)]),
        issued=False),
    Row("split", "vector", lambda np, x, c: np.concatenate(np.split(x, 2)), issued=False),
    Row("atleast_2d", "vector", lambda np, x, c: np.atleast_2d(x)[0], issued=False),
]
# fmt: on


def chain(step: Any, np: Any, x: Any, c: Any) -> Any:
    for _ in range(STEPS):
        x = step(np, x, c)
    return np.sum(x)


def by_hand(row: Row) -> Callable[[], Any]:
    """A gradient of the row's chain as a person would write it in NumPy."""
    assert row.by_hand is not None
    forward, back = row.by_hand

    def run() -> Any:
        x, kept = STARTS[row.start], []
        for _ in range(STEPS):
            out = forward(x, OURS)
            kept.append((x, out))
            x = out
        bar = np.ones_like(x)
        for x, out in reversed(kept):
            bar = back(bar, x, out, OURS)
        return bar

    return run


def runs(row: Row) -> dict[str, Callable[[], Any]]:
    """The gradient of a row's chain by each library."""
    start, step = STARTS[row.start], row.step
    torch_step = row.torch or step
    ours = pb.grad(lambda x: chain(step, np, x, OURS))
    theirs = autograd.grad(lambda x: chain(step, anp, x, OURS))

    def with_torch() -> Any:
        x = torch.tensor(start, dtype=torch.float64, requires_grad=True)
        chain(torch_step, torch, x, TORCH).backward()
        return x.grad.numpy()

    calls = {"ours": lambda: ours(start), "autograd": lambda: theirs(start)}
    if torch:
        calls["torch"] = with_torch
    for peer, without in (
        ("autograd", (NotImplementedError, AttributeError, TypeError, ValueError)),
        ("torch", (TypeError, AttributeError, RuntimeError, ValueError)),
    ):
        try:
            if peer in calls:
                calls[peer]()
        except without:  # it has no rule, or no function of this name
            del calls[peer]
    if row.by_hand is not None:
        calls["NumPy"] = by_hand(row)
    return calls


def inner(np: Any, y: Any) -> Any:
    """Four operations."""
    return np.sum(np.sin(y) * y + y)


def nested_runs() -> dict[str, Callable[[], Any]]:
    """A gradient inside a differentiated loop: steepest descent, 353 steps, differentiated."""

    def descend(np: Any, gradient: Any) -> Any:
        def run(x: Any) -> Any:
            for _ in range(353):
                x = x - 0.01 * gradient(x)
            return np.sum(x)

        return run

    start = STARTS["vector"]
    ours = pb.grad(descend(np, pb.grad(lambda y: inner(np, y))))
    theirs = autograd.grad(descend(anp, autograd.grad(lambda y: inner(anp, y))))
    return {"ours": lambda: ours(start), "autograd": lambda: theirs(start)}


def whole_runs() -> dict[str, dict[str, Callable[[], Any]]]:
    """Whole transformations of small functions: what is measured is the way in and out."""
    x, v = STARTS["vector"], np.ones(10)

    def torch_sum() -> Any:
        y = torch.tensor(x, requires_grad=True)
        torch.sum(y).backward()
        return y.grad.numpy()

    def cubes(np: Any) -> Any:
        return lambda x: np.sum(x**3)

    sum_ours, sum_theirs = pb.grad(lambda x: np.sum(x)), autograd.grad(lambda x: anp.sum(x))
    jacobian, their_jacobian = pb.jacobian(np.sin), autograd.jacobian(anp.sin)
    hvp, their_hvp = pb.hvp(cubes(np)), autograd.hessian_vector_product(cubes(anp))
    square, their_square = pb.grad(lambda x: x * x), autograd.grad(lambda x: x * x)
    value, their_value = (
        pb.value_and_grad(lambda x: np.sum(np.sin(x))),
        autograd.value_and_grad(lambda x: anp.sum(anp.sin(x))),
    )
    return {
        "gradient of np.sum(x) alone": {
            "ours": lambda: sum_ours(x), "autograd": lambda: sum_theirs(x),
            **({"torch": torch_sum} if torch else {}),
        },
        "gradient of x * x, a number": {
            "ours": lambda: square(0.5), "autograd": lambda: their_square(0.5),
        },
        "value and gradient of np.sum(np.sin(x))": {
            "ours": lambda: value(x)[1], "autograd": lambda: their_value(x)[1],
        },
        "jacobian of sin on 10": {
            "ours": lambda: jacobian(x), "autograd": lambda: their_jacobian(x),
        },
        "hvp": {"ours": lambda: hvp(x, v), "autograd": lambda: their_hvp(x, v)},
        "gradient in each of 353 steps": nested_runs(),
    }  # fmt: skip


WHOLE_BARS = {
    "gradient of np.sum(x) alone": 0.7,
    "jacobian of sin on 10": 0.7,
    "hvp": 0.7,
    "gradient in each of 353 steps": 0.2,
}


def checked(calls: dict[str, Callable[[], Any]], name: str) -> dict[str, Callable[[], Any]]:
    """The calls, after their results have been compared."""
    expected = calls["ours"]()
    for peer, call in calls.items():
        np.testing.assert_allclose(
            call(), expected, rtol=1e-6, atol=1e-9, err_msg=f"{name}: {peer}"
        )
    return calls


def several(call: Callable[[], Any]) -> None:
    for _ in range(CALLS):
        call()


def geometric_mean(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def measure(
    words: list[str], rounds: int, listed: list[Row], whole: dict[str, Any]
) -> dict[str, dict[str, float]]:
    """The median seconds of a step of each row, and of each whole transformation."""
    medians = {}
    for name, calls, steps, turns in [
        *((row.name, partial(runs, row), STEPS, rounds) for row in listed),
        *((name, calls, 1, rounds) for name, calls in whole.items()),
    ]:
        if words and not any(word in name for word in words):
            continue
        calls = calls if isinstance(calls, dict) else calls()
        calls = checked(calls, name)
        if name in whole and "353" not in name:
            steps = CALLS
            calls = {peer: partial(several, call) for peer, call in calls.items()}
        times = interleaved(calls, turns, time.process_time)
        medians[name] = {peer: seconds / steps for peer, seconds in times.items()}
    return medians


def report(medians: dict[str, dict[str, float]], listed: list[Row]) -> None:
    rows = [["us", "ours", "autograd", "PyTorch", "/autograd", "/PyTorch", "/NumPy", ""]]
    issued = {row.name for row in listed if row.issued}
    known = {row.name for row in listed}
    for name, times in medians.items():
        cells = [name, *[f"{times[p] * 1e6:.1f}" if p in times else "" for p in PEERS]]
        ratios = {peer: times["ours"] / seconds for peer, seconds in times.items()}
        cells += [f"{ratios[p]:.2f}" if p in ratios else "" for p in ("autograd", "torch", "NumPy")]
        bar = WHOLE_BARS.get(name, 1.0)
        over = ratios["NumPy"] > 1.3 if "NumPy" in ratios else ratios.get("autograd", 0) > bar
        rows.append([*cells, f"above {1.3 if 'NumPy' in ratios else bar}" if over else ""])
    print(table(rows))
    for title, names in (("the kinds of the bars", issued), ("all kinds", known)):
        chosen = [times for name, times in medians.items() if name in names]
        if chosen:
            means = []
            for peer, called, bar in (("autograd", "autograd", 0.4), ("torch", "PyTorch", 0.8)):
                ratios = [t["ours"] / t[peer] for t in chosen if peer in t]
                if ratios:
                    means.append(f"{geometric_mean(ratios):.3f} of {called} (bar {bar})")
            print(f"geometric mean of {title} ({len(chosen)}): {', '.join(means)}")


PEERS = ("ours", "autograd", "torch")


def main(arguments: list[str], listed: list[Row], whole: dict[str, Any]) -> None:
    path, rounds = None, 15
    if "--json" in arguments:
        i = arguments.index("--json")
        path, arguments = arguments[i + 1], arguments[:i] + arguments[i + 2 :]
    if "--rounds" in arguments:
        i = arguments.index("--rounds")
        rounds, arguments = int(arguments[i + 1]), arguments[:i] + arguments[i + 2 :]
    medians = measure(arguments, rounds, listed, whole)
    report(medians, listed)
    if path is not None:
        with open(path, "w") as file:
            json.dump(medians, file, indent=1)


if __name__ == "__main__":
    main(sys.argv[1:], ROWS, whole_runs())
