"""Complex programs compiled, side by side with plain NumPy and jax.jit: values and gradients.

Medians of calls that take turns in one process: `taskset -c 0 python benchmarks/bench_complex.py`.
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


def signal(np: Any, z: Any, w: Any) -> Any:
    return np.sum(np.abs(z * np.conj(w) + z / w) ** 2)


def waves(np: Any, z: Any, w: Any) -> Any:
    return np.sum((np.exp(1j * z.real) * w).real)


def mandelbrot(np: Any, z: Any, w: Any) -> Any:
    x = 0.1 * z
    for _ in range(8):
        x = x * x + 0.1 * w
    return np.sum(np.abs(x))


def phases(np: Any, z: Any, w: Any) -> Any:
    return np.sum(np.angle(z) * np.abs(w))


def functions(np: Any, z: Any, w: Any) -> Any:
    return np.sum(np.abs(np.log(z) + np.sqrt(w)))


def filters(np: Any, z: Any, w: Any) -> Any:
    s = 1j * z.real
    h = (s + 2) / (s**2 + 0.5 * s + 4)
    return np.sum(h.real**2 + h.imag**2)


def products(np: Any, z: Any, w: Any) -> Any:
    n = 3 if z.size < 100 else 30
    a, b = z[: n * n].reshape(n, n), w[: n * n].reshape(n, n)
    return np.sum(np.abs(a @ b - b @ a) ** 2)


ROWS = (signal, waves, mandelbrot, phases, functions, filters, products)


def main(names: list[str]) -> None:
    random, rows = np.random.default_rng(0), []
    for f in ROWS:
        for n in (10, 1000, 100_000):
            if names and f.__name__ not in names:
                continue
            z, w = [random.normal(size=n) + 1j * random.normal(size=n) for _ in "zw"]

            def plain(z: Any, w: Any, f: Any = f) -> Any:
                return f(np, z, w)

            gradient = pb.grad(plain)
            value, slope = pb.compile(plain), pb.compile(gradient)
            settled(value, z, w)
            settled(slope, z, w)
            np.testing.assert_allclose(value(z, w), plain(z, w), rtol=1e-10)
            np.testing.assert_allclose(slope(z, w), gradient(z, w), rtol=1e-8, atol=1e-8)
            calls = {
                "value": lambda value=value, z=z, w=w: value(z, w),
                "plain": lambda plain=plain, z=z, w=w: plain(z, w),
                "gradient": lambda slope=slope, z=z, w=w: slope(z, w),
                "eager": lambda gradient=gradient, z=z, w=w: gradient(z, w),
            }
            if jax:

                def traced(z: Any, w: Any, f: Any = f) -> Any:
                    return f(jnp, z, w)

                one, other = jax.jit(traced), jax.jit(jax.grad(traced))
                calls["jax value"] = lambda one=one, z=z, w=w: np.asarray(one(z, w))
                calls["jax gradient"] = lambda other=other, z=z, w=w: np.asarray(other(z, w))
            times = interleaved(calls, 7 if n > 1000 else 51)
            row = [f.__name__, str(n)]
            row += [
                f"{times['value'] / times[k]:.2f}" if k in times else ""
                for k in ("plain", "jax value")
            ]
            row += [
                f"{times['gradient'] / times[k]:.2f}" if k in times else ""
                for k in ("eager", "jax gradient")
            ]
            rows.append([*row, *[f"{seconds * 1e6:.1f}" for seconds in times.values()]])
    head = [
        "",
        "n",
        "value/plain",
        "/jax",
        "gradient/eager",
        "/jax",
        "us: value",
        "plain",
        "gradient",
        "eager",
    ]
    print(table([head + (["jax value", "jax gradient"] if jax else []), *rows]))


if __name__ == "__main__":
    main(sys.argv[1:])
