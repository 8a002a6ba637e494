"""How the time of a gradient grows, as docs/images/growth.svg.

Operations, elements, order of derivative, batch and trip count, each alone: with pullback as it is,
compiled, and compiled with JAX where that takes less than a few minutes. Run with
`python benchmarks/plot_growth.py`; it takes some minutes and 6 GB of memory.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from common import interleaved, settled

import pullback as pb

matplotlib.use("svg")
import matplotlib.pyplot as plt

try:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
except ImportError:
    jax = None

TARGET = Path(__file__).resolve().parent.parent / "docs" / "images" / "growth.svg"
COLOURS = {"pullback": "#4464ad", "pullback, compiled": "#c8553d", "jax.jit": "#8f8f8f"}
X, POINT = np.linspace(0.1, 1.0, 10), np.array(0.7)


def compiled(f: Any) -> Any:
    """f compiled; it is called until its best machine code is there."""

    def ready(*args: Any) -> Any:
        settled(fast, *args)
        return lambda: fast(*args)

    fast = pb.compile(f)
    return ready


def jitted(f: Any) -> Any:
    def ready(*args: Any) -> Any:
        run = jax.jit(f)
        return lambda: jax.tree.map(np.asarray, run(*args))

    return ready


def plain(f: Any) -> Any:
    return lambda *args: lambda: f(*args)


def chain(np: Any, n: int) -> Callable[[Any], Any]:
    """Of operations whose derivatives stay numbers of ordinary size, however many there are."""

    def f(x: Any) -> Any:
        for _ in range(n // 2):
            x = np.arctan(np.tan(x))
        return np.sum(x)

    return f


def operations(n: int) -> dict[str, Any]:
    calls = {"pullback": plain(pb.grad(chain(np, n)))(X)}
    calls["pullback, compiled"] = compiled(pb.grad(chain(np, n)))(X)
    if jax and n <= 1_000:  # minutes beyond
        calls["jax.jit"] = jitted(jax.grad(chain(jnp, n)))(X)
    return calls


def sizes(n: int) -> dict[str, Any]:
    x = np.linspace(0.1, 1.0, n)
    calls = {"pullback": plain(pb.grad(chain(np, 10)))(x)}
    calls["pullback, compiled"] = compiled(pb.grad(chain(np, 10)))(x)
    if jax:
        calls["jax.jit"] = jitted(jax.grad(chain(jnp, 10)))(x)
    return calls


def nested(grad: Any, np: Any, order: int) -> Any:
    f = lambda x: np.sin(x) * np.exp(-x * x) / (1 + x * x)
    for _ in range(order):
        f = grad(f)
    return f


def orders(n: int) -> dict[str, Any]:
    calls = {"pullback": plain(nested(pb.grad, np, n))(POINT)}
    calls["pullback, compiled"] = compiled(nested(pb.grad, np, n))(POINT)
    if jax:
        calls["jax.jit"] = jitted(nested(jax.grad, jnp, n))(POINT)
    return calls


def batches(n: int) -> dict[str, Any]:
    xs = np.linspace(0.1, 1.0, 10 * n).reshape(n, 10)
    calls = {"pullback": plain(pb.vmap(pb.grad(chain(np, 10))))(xs)}
    calls["pullback, compiled"] = compiled(pb.vmap(pb.grad(chain(np, 10))))(xs)
    if jax:
        calls["jax.jit"] = jitted(jax.vmap(jax.grad(chain(jnp, 10))))(xs)
    return calls


def trips(n: int) -> dict[str, Any]:
    def steps(np: Any, fori_loop: Any) -> Any:
        return lambda x: np.sum(fori_loop(0, n, lambda i, x: x + np.sin(x) * 1e-6, x))

    calls = {"pullback": plain(pb.grad(steps(np, pb.fori_loop)))(X)}
    calls["pullback, compiled"] = compiled(pb.grad(steps(np, pb.fori_loop)))(X)
    if jax:
        calls["jax.jit"] = jitted(jax.grad(steps(jnp, jax.lax.fori_loop)))(X)
    return calls


PANELS: dict[str, tuple[Any, list[int]]] = {
    "operations on 10 numbers": (operations, [10**k for k in range(1, 7)]),
    "elements, 10 operations": (sizes, [10**k for k in range(9)]),
    "order of derivative": (orders, list(range(1, 7))),
    "batch of 10 numbers, 10 operations": (batches, [10**k for k in range(6)]),
    "steps of a fori_loop on 10 numbers": (trips, [10**k for k in range(1, 6)]),
}


def main() -> None:
    figure, axes = plt.subplots(2, 3, figsize=(11, 6.4))
    for axis, (title, (make, ns)) in zip(axes.flat, PANELS.items(), strict=False):
        lines: dict[str, tuple[list[int], list[float]]] = {}
        for n in ns:
            calls = make(n)
            for name, seconds in interleaved(calls, 3 if n >= 100_000 else 9).items():
                at, found = lines.setdefault(name, ([], []))
                at.append(n)
                found.append(seconds)
                print(f"{title}: {n} {name} {seconds * 1e6:.2f} us", flush=True)
        for name, (at, found) in lines.items():
            axis.plot(at, found, "o-", markersize=3, color=COLOURS[name], label=name)
        axis.set(title=title, yscale="log", ylabel="seconds of a gradient")
        if ns != list(range(1, 7)):
            axis.set_xscale("log")
        axis.grid(alpha=0.3)
    axes.flat[5].axis("off")
    axes.flat[5].legend(*axes.flat[0].get_legend_handles_labels(), loc="center", frameon=False)
    figure.tight_layout()
    figure.savefig(TARGET, metadata={"Date": None})


if __name__ == "__main__":
    sys.exit(main())
