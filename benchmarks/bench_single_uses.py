"""Gradients of programs that use an operation once, beside autograd's.

In `bench_kinds.py` a step is taken many times inside one gradient. Here entering the gradient, what
a program reads and what it makes inside count as they do in short programs: arrays of integers and
truths, `np.ones` and its like, 10 to 10,000 elements. The rows were written down before any was
timed; the bar is 1.0 of autograd.

    python benchmarks/bench_single_uses.py             every row
    python benchmarks/bench_single_uses.py --further   those of `further_single_uses.py`
    python benchmarks/bench_single_uses.py eye trace   rows whose names contain one of these words

Rows that PyTorch has under the same names are timed with it as well; the bar is 0.8 of it in the
geometric mean.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import Any

import autograd
import autograd.numpy as anp
import numpy
from common import interleaved, table
from further_single_uses import PROGRAMS as FURTHER

import pullback as pb

try:
    import torch

    torch.set_num_threads(1)
except ImportError:
    torch = None  # type: ignore[assignment]  # its type is that of the module

rng = numpy.random.default_rng(0)
uniform = lambda *shape: rng.uniform(0.2, 1.5, shape)
FEW, MANY, SMALL, LARGE = uniform(10), uniform(10_000), uniform(4, 4), uniform(100, 100)
CUBE, SINGLE = rng.normal(size=(5, 6, 7)), uniform(10).astype(numpy.float32)
COMPLEX = FEW + 1j * FEW[::-1]
# What programs read.
WEIGHTS, BIAS, WIDE = rng.normal(size=(4, 3)), rng.normal(size=3), rng.normal(size=(100, 50))
MASK, PLACES, COUNTS = MANY > 0.8, rng.integers(0, 10_000, 5000), numpy.arange(10)
OTHERS = uniform(10_000)

Program = Callable[[Any, Any], Any]
PROGRAMS: dict[str, tuple[Any, Program]] = {
    "sum": (FEW, lambda np, x: np.sum(x)),
    # what is made inside
    "ones": (FEW, lambda np, x: np.sum(x + np.ones(10))),
    "zeros": (FEW, lambda np, x: np.sum(x + np.zeros(10))),
    "full": (FEW, lambda np, x: np.sum(x * np.full(10, 2.0))),
    "eye": (SMALL, lambda np, x: np.sum(x + 2 * np.eye(4))),
    "linspace": (FEW, lambda np, x: np.sum(x * np.linspace(0, 1, 10))),
    "arange": (FEW, lambda np, x: np.sum(x * np.arange(10))),
    "array": (FEW, lambda np, x: np.sum(x[:3] * np.array([1.0, 2.0, 3.0]))),
    "array of elements": (FEW, lambda np, x: np.sum(np.array([x[0], x[1] * 2]))),
    "nested array": (FEW, lambda np, x: np.sum(np.array([[x[0], 1.0], [0.0, x[1]]]))),
    # what is read
    "integers": (FEW, lambda np, x: np.sum(x * (COUNTS % 3))),
    "truths": (MANY, lambda np, x: np.sum(x * MASK)),
    "dot with 10,000": (MANY, lambda np, x: np.dot(x, OTHERS)),
    "times 10,000": (MANY, lambda np, x: np.sum(x * OTHERS)),
    "layer": (SMALL, lambda np, x: np.sum(np.tanh(np.dot(x, WEIGHTS) + BIAS))),
    "product with 100 by 50": (LARGE, lambda np, x: np.sum(np.dot(x, WIDE))),
    "quadratic form": (FEW, lambda np, x: np.dot(x, np.dot(LARGE[:10, :10], x))),
    # places
    "mask": (MANY, lambda np, x: np.sum(x[MASK])),
    "where": (MANY, lambda np, x: np.sum(np.where(MASK, x, 0.0))),
    "where x > 0.5": (MANY, lambda np, x: np.sum(np.where(x > 0.5, x, x * x))),
    "5,000 places": (MANY, lambda np, x: np.sum(x[PLACES])),
    "list of places": (FEW, lambda np, x: np.sum(x[[3, 1]])),
    "column": (LARGE, lambda np, x: np.sum(x[:, 3])),
    "every other": (LARGE, lambda np, x: np.sum(x[::2, ::2])),
    "two elements": (FEW, lambda np, x: x[0] * x[1]),
    "loop over elements": (FEW, lambda np, x: sum([x[i] ** 2 for i in range(10)])),
    "pairs of elements": (FEW, lambda np, x: sum(a * b for a, b in zip(x, x[::-1], strict=True))),
    # element by element
    "square": (MANY, lambda np, x: np.sum(x**2)),
    "power": (MANY, lambda np, x: np.sum(x**1.5)),
    "exp": (MANY, lambda np, x: np.sum(np.exp(x))),
    "tanh": (MANY, lambda np, x: np.sum(np.tanh(x))),
    "quotient": (MANY, lambda np, x: np.sum(x / (1 + x))),
    "sigmoid": (MANY, lambda np, x: np.sum(1 / (1 + np.exp(-x)))),
    "clip": (MANY, lambda np, x: np.sum(np.clip(x, 0.4, 1.0))),
    "maximum": (MANY, lambda np, x: np.sum(np.maximum(x, 0.5))),
    "logaddexp": (MANY, lambda np, x: np.sum(np.logaddexp(0.0, x))),
    "float32": (SINGLE, lambda np, x: np.sum(np.exp(x) * x)),
    "complex": (COMPLEX, lambda np, x: np.sum(np.abs(x * x) ** 2)),
    "a number": (0.7, lambda np, x: np.sin(x) * np.exp(-x)),
    # along axes
    "mean": (MANY, lambda np, x: np.mean(x)),
    "std": (FEW, lambda np, x: np.std(x)),
    "max of rows": (LARGE, lambda np, x: np.sum(np.max(x, axis=1))),
    "centred": (LARGE, lambda np, x: np.sum((x - np.mean(x, axis=0)) ** 2)),
    "sort": (MANY, lambda np, x: np.sum(np.sort(x) * OTHERS)),
    "cumsum": (MANY, lambda np, x: np.sum(np.cumsum(x))),
    "diff": (MANY, lambda np, x: np.sum(np.diff(x) ** 2)),
    "prod": (FEW, lambda np, x: np.prod(x)),
    # shapes
    "transpose": (LARGE, lambda np, x: np.sum(x.T * LARGE)),
    "reshape": (LARGE, lambda np, x: np.sum(x.reshape(50, 200) ** 2)),
    "concatenate": (LARGE, lambda np, x: np.sum(np.concatenate([x, x * 2], axis=0))),
    "stack": (FEW, lambda np, x: np.sum(np.stack([x, x * 2]))),
    "differences": (FEW, lambda np, x: np.sum((x[:, None] - x[None, :]) ** 2)),
    "moveaxis": (CUBE, lambda np, x: np.sum(np.moveaxis(x, 0, 2) ** 2)),
    "tile": (FEW, lambda np, x: np.sum(np.tile(x, 3))),
    "diag": (SMALL, lambda np, x: np.sum(np.diag(x) ** 3)),
    "triu": (SMALL, lambda np, x: np.sum(np.triu(x, 1))),
    # linear algebra
    "outer": (FEW, lambda np, x: np.sum(np.outer(x, x))),
    "einsum": (CUBE, lambda np, x: np.sum(np.einsum("ijk,ijl->kl", x, x))),
    "tensordot": (CUBE, lambda np, x: np.sum(np.tensordot(x, x, axes=([0, 1], [0, 1])))),
    "kron": (SMALL, lambda np, x: np.sum(np.kron(x, x))),
    "trace": (SMALL, lambda np, x: np.trace(x)),
    "det": (SMALL, lambda np, x: np.linalg.det(x)),
    "inv": (SMALL, lambda np, x: np.sum(np.linalg.inv(x))),
    "solve": (SMALL, lambda np, x: np.sum(np.linalg.solve(x, x[0]))),
    "cholesky": (SMALL, lambda np, x: np.sum(np.linalg.cholesky(np.dot(x, x.T) + np.eye(4)))),
    "eigh": (SMALL, lambda np, x: np.sum(np.linalg.eigh(x + x.T)[0])),
    "norm": (FEW, lambda np, x: np.linalg.norm(x)),
    "fft": (FEW, lambda np, x: np.sum(np.abs(np.fft.fft(x)))),
}  # fmt: skip
CALLS = 10  # of each in one turn


def repeated(gradient: Callable[[Any], Any], x: Any) -> Callable[[], None]:
    def run() -> None:
        for _ in range(CALLS):
            gradient(x)

    return run


def by_torch(f: Program, x: Any) -> Callable[[Any], Any] | None:
    """The gradient by PyTorch, for programs that it takes as they are."""

    def gradient(x: Any) -> Any:
        leaf = torch.tensor(x, requires_grad=True)
        f(torch, leaf).backward()
        return leaf.grad.numpy()

    try:
        gradient(x)
    except (AttributeError, TypeError, RuntimeError, ValueError, IndexError):
        return None
    return gradient


def mean(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def main(arguments: list[str]) -> None:
    words = [word for word in arguments if not word.startswith("--")]
    rows, torch_ratios = [], []
    for name, (x, f) in (FURTHER if "--further" in arguments else PROGRAMS).items():
        if words and not any(word in name for word in words):
            continue
        ours = pb.grad(lambda x, f=f: f(numpy, x))
        theirs = autograd.grad(lambda x, f=f: f(anp, x))
        calls = {"ours": repeated(ours, x)}
        found = numpy.asarray(ours(x))
        try:
            expected = numpy.asarray(theirs(x))
        except (AssertionError, NotImplementedError, ValueError) as error:
            print(f"{name}: autograd raises {type(error).__name__}")
        else:
            if name != "complex":  # autograd gives the conjugate
                numpy.testing.assert_allclose(found, expected, 1e-4, 1e-6, err_msg=name)
            calls["autograd"] = repeated(theirs, x)
        tensors = by_torch(f, x) if torch else None
        if tensors is not None:
            calls["torch"] = repeated(tensors, x)
        times = interleaved(calls, 31, time.thread_time)
        ratio = times["ours"] / times.get("autograd", math.inf)
        if "torch" in times:
            torch_ratios.append(times["ours"] / times["torch"])
        rows.append((ratio, name, times))
    lines = [["us a gradient", "ours", "autograd", "PyTorch", "of autograd", "of PyTorch"]]
    for ratio, name, times in sorted(rows, key=lambda row: row[:2], reverse=True):
        each = [times.get(who) for who in ("ours", "autograd", "torch")]
        cells = ["" if t is None else f"{t / CALLS * 1e6:.1f}" for t in each]
        of_torch = f"{times['ours'] / times['torch']:.2f}" if "torch" in times else ""
        lines.append([name, *cells, f"{ratio:.2f}" if ratio else "", of_torch])
    print(table(lines))
    ratios = [row[0] for row in rows if row[0]]
    above = sum([ratio > 1 for ratio in ratios])
    print(f"{len(ratios)} rows: geometric mean {mean(ratios):.3f} of autograd, {above} above 1.0")
    if torch_ratios:
        print(f"{len(torch_ratios)} rows: geometric mean {mean(torch_ratios):.3f} of PyTorch")


if __name__ == "__main__":
    main(sys.argv[1:])
