"""The gradient of losses dominated by matrix products, against their forward passes in NumPy.

Run alone for a table; `time_*` are read by asv.
"""

from __future__ import annotations

import numpy as np
from common import interleaved, table

import pullback as pb

random = np.random.default_rng(0)
BAR = 3.2


def matrix(*shape):
    return random.standard_normal(shape) / np.sqrt(shape[-1])


def network(x, *weights):
    """Three layers of 512 units on 512 examples."""
    for w in weights:
        x = np.tanh(x @ w)
    return np.mean(x * x)


def bare(x, *weights):
    """The same without nonlinearities: products and nothing else."""
    for w in weights:
        x = x @ w
    return np.sum(x)


def iterated(a, v):
    """A matrix on a vector, again and again."""
    for _ in range(10):
        v = a @ v
    return v @ v


def recurrent(w, h, *xs):
    """Few rows on a large matrix, again and again."""
    for x in xs:
        h = np.tanh(h @ w + x)
    return np.sum(h)


def attention(q, k, v):
    """Stacks of matrices; k and v are shared by the first axis of q."""
    return np.sum((q @ np.swapaxes(k, -1, -2)) @ v)


def contracted(a, b, c):
    return np.einsum("ij,jk,kl->il", a, b, c, optimize=True).sum()


LAYERS = [matrix(512, 512) for _ in range(4)]
CASES = {
    "network 512, weights": (network, LAYERS, (1, 2, 3)),
    "network 512, weights and inputs": (network, LAYERS, (0, 1, 2, 3)),
    "products 512, weights": (bare, LAYERS, (1, 2, 3)),
    "products 512, weights and inputs": (bare, LAYERS, (0, 1, 2, 3)),
    "matrix 1000 on vector": (iterated, [matrix(1000, 1000), matrix(1000)], (0, 1)),
    "recurrent 32 x 512, 20 steps": (
        recurrent,
        [matrix(512, 512), *[matrix(32, 512) for _ in range(21)]],
        (0, 1),
    ),
    "stacks of 128": (
        attention,
        [matrix(16, 4, 128, 128), matrix(4, 128, 128), matrix(4, 128, 128)],
        (0, 1, 2),
    ),
    "einsum 512": (contracted, LAYERS[:3], (0, 1, 2)),
}


def time_network():
    pb.grad(network, (1, 2, 3))(*LAYERS)


def time_products():
    pb.grad(bare, (0, 1, 2, 3))(*LAYERS)


def main() -> None:
    rows = [["loss", "forward", "gradient", "ratio", "bar"]]
    for name, (loss, xs, argnums) in CASES.items():
        gradient = pb.grad(loss, argnums)
        medians = interleaved({"forward": lambda: loss(*xs), "gradient": lambda: gradient(*xs)})
        ratio = medians["gradient"] / medians["forward"]
        times = [f"{seconds * 1e3:.2f} ms" for seconds in medians.values()]
        rows.append([name, *times, f"{ratio:.2f}", f"{BAR:.1f}"])
    print(table(rows))


if __name__ == "__main__":
    main()
