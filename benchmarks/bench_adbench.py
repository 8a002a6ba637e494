"""ADBench's problems side by side with jax.jit: gradients of a Gaussian mixture, Jacobian blocks
of bundle adjustment.

The objectives are those of the ADBench suite (Srajer, Kukelova, Fitzgibbon, "A benchmark of
selected algorithmic differentiation tools on some problems in computer vision and machine
learning", 2018); the data come from a seed. Run with
`python benchmarks/bench_adbench.py [gmm] [ba]`.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from common import interleaved, settled, table

import pullback as pb

try:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
except ImportError:
    jax = None

ROWS: list[list[str]] = []


def report(name: str, calls: dict[str, Any], rounds: int) -> None:
    times = interleaved(calls, rounds)
    mine = times["pullback"]
    for key, seconds in times.items():
        ROWS.append([name, key, f"{seconds * 1e3:.3f} ms", f"{mine / seconds:.2f}"])


def mixture(np: Any, place: Any, alphas: Any, means: Any, icf: Any, x: Any) -> Any:
    """Logarithm of the likelihood of a Gaussian mixture, with a Wishart prior (gamma 1, m 0).

    place(d, values): matrices (K, d, d) with the values below the diagonal.
    """
    n, d = x.shape
    k = alphas.shape[0]
    q = icf[:, :d]
    sums = np.sum(q, axis=1)
    lower = place(d, icf[:, d:])
    centred = x[:, None, :] - means[None, :, :]
    mapped = np.einsum("kij,nkj->nki", lower, centred) + np.exp(q)[None] * centred
    inner = alphas + sums - 0.5 * np.sum(mapped * mapped, axis=2)
    top = np.max(inner, axis=1, keepdims=True)
    likely = np.sum(top[:, 0] + np.log(np.sum(np.exp(inner - top), axis=1)))
    high = np.max(alphas)
    norm = n * (high + np.log(np.sum(np.exp(alphas - high))))
    squares = np.sum(np.exp(2 * q)) + np.sum(icf[:, d:] ** 2)
    prior = 0.5 * squares
    return likely - norm + prior - n * d * 0.5 * 1.8378770664093453 - k * d


def gmm_of(d: int, k: int, n: int) -> tuple[Any, Any, Any]:
    """The gradient, its arguments, and the same for jax.jit."""
    random = np.random.default_rng(0)
    alphas, means = random.standard_normal(k), random.random((k, d))
    icf, x = random.standard_normal((k, d * (d + 1) // 2)) * 0.3, random.standard_normal((n, d))
    rows, columns = np.tril_indices(d, -1)

    def place(d: int, values: Any) -> Any:
        out = np.zeros((values.shape[0], d, d))
        out[:, rows, columns] = values
        return out

    def loss(alphas: Any, means: Any, icf: Any) -> Any:
        return mixture(np, place, alphas, means, icf, x)

    def jplace(d: int, values: Any) -> Any:
        return jnp.zeros((values.shape[0], d, d)).at[:, rows, columns].set(values)

    def jloss(alphas: Any, means: Any, icf: Any) -> Any:
        return mixture(jnp, jplace, alphas, means, icf, x)

    theirs = jax and jax.value_and_grad(jloss, argnums=(0, 1, 2))
    return pb.value_and_grad(loss, argnums=(0, 1, 2)), (alphas, means, icf), theirs


def gmm(d: int, k: int, n: int) -> None:
    gradient, args, theirs = gmm_of(d, k, n)
    fast = pb.compile(gradient)
    settled(fast, *args)
    calls = {"pullback": lambda: fast(*args)}
    if theirs:
        run = jax.jit(theirs)
        for a, b in zip(fast(*args)[1], run(*args)[1], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8)
        calls["jax.jit"] = lambda: [np.asarray(v) for v in jax.tree.leaves(run(*args))]
    calls["pullback eager"] = lambda: gradient(*args)
    report(f"GMM d={d} K={k}", calls, 5)


def project(np: Any, camera: Any, point: Any) -> Any:
    """Where a camera (rotation 3, centre 3, focal 1, principal point 2, distortion 2) sees it."""
    rotation, moved = camera[:3], point - camera[3:6]
    square = np.sum(rotation * rotation)
    theta = np.sqrt(square)
    axis = rotation / theta
    cosine, sine = np.cos(theta), np.sin(theta)
    crossed = np.stack(
        [
            axis[1] * moved[2] - axis[2] * moved[1],
            axis[2] * moved[0] - axis[0] * moved[2],
            axis[0] * moved[1] - axis[1] * moved[0],
        ]
    )
    turned = moved * cosine + crossed * sine + axis * (np.sum(axis * moved) * (1 - cosine))
    flat = turned[:2] / turned[2]
    r2 = np.sum(flat * flat)
    return flat * (1 + camera[9] * r2 + camera[10] * r2 * r2) * camera[6] + camera[7:9]


def ba_of(n: int) -> tuple[Any, Any, Any]:
    """The Jacobian blocks, their arguments, and the same for jax.jit."""
    random = np.random.default_rng(0)
    cameras = random.standard_normal((n, 11)) * 0.1 + 0.5
    points = random.standard_normal((n, 3)) * 0.1 + np.array([0.0, 0.0, 4.0])
    weights, seen = random.random(n), random.random((n, 2))

    def residual(camera: Any, point: Any, weight: Any, seen: Any) -> Any:
        return weight * (project(np, camera, point) - seen)

    def jresidual(camera: Any, point: Any, weight: Any, seen: Any) -> Any:
        return weight * (project(jnp, camera, point) - seen)

    theirs = jax and jax.vmap(jax.jacrev(jresidual, argnums=(0, 1, 2)))
    blocks = pb.vmap(pb.jacobian(residual, argnums=(0, 1, 2)))
    return blocks, (cameras, points, weights, seen), theirs


def ba(n: int) -> None:
    blocks, args, theirs = ba_of(n)
    fast = pb.compile(blocks)
    settled(fast, *args)
    calls = {"pullback": lambda: fast(*args)}
    if theirs:
        run = jax.jit(theirs)
        for a, b in zip(fast(*args), run(*args), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8)
        calls["jax.jit"] = lambda: [np.asarray(v) for v in jax.tree.leaves(run(*args))]
    report(f"bundle adjustment, {n}", calls, 5)


WORK = {
    "gmm": lambda: [gmm(*size, 1000) for size in ((2, 5), (10, 25), (64, 100))],
    "ba": lambda: ba(225_911),
}

if __name__ == "__main__":
    for name in sys.argv[1:] or WORK:
        WORK[name]()
    print(table([["work", "who", "median", "pullback / it"], *ROWS]))
