"""Dense programs compiled: beside plain NumPy, `jax.jit`, and C++ for determinants by minors.

Small matrices one by one and in stacks, chains of poses, iterations of decompositions, sums over
axes, stencils, gathers, transcendental functions, and `model_programs`. All run in one thread, in
turn; medians of seconds of the process. JAX takes part where it is installed, C++ where there is a
compiler.
Run with `python benchmarks/bench_dense.py [words]`.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ.setdefault("PULLBACK_THREADS", "1")

import numpy as np
from common import interleaved, table
from model_programs import PROGRAMS as MODELS

import pullback as pb

RANDOM = np.random.default_rng(1)
THREE, MATRIX = RANDOM.normal(size=3), RANDOM.normal(size=(3, 3)) + 3 * np.eye(3)
STACK, ROWS = RANDOM.normal(size=(200, 3, 3)) + 3 * np.eye(3), RANDOM.normal(size=(200, 3))
LINE, IMAGE = RANDOM.normal(size=10_000), RANDOM.normal(size=(300, 200))
POINTS, PLACES = RANDOM.normal(size=(500, 2)), RANDOM.integers(0, 500, 2000)
MEANS, WEIGHTS = RANDOM.normal(size=(12, 2)), np.abs(RANDOM.normal(size=12)) + 0.1


def poses(xp: Any, angles: Any) -> Any:
    """Frames composed along a chain."""
    frame = xp.eye(4)
    for k in range(8):
        c, s = xp.cos(angles[k]), xp.sin(angles[k])
        z, o = 0 * c, 0 * c + 1
        rows = [[c, -s, z, o], [s, c, z, 0.1 * o], [z, z, o, z], [z, z, z, o]]
        frame = frame @ xp.stack([xp.stack(row) for row in rows])
    return frame[:3, 3]


def mixture(xp: Any, x: Any, means: Any, weights: Any) -> Any:
    """The logarithm of the density of a mixture of normal distributions."""
    away = x[:, None, :] - means[None]
    logs = -0.5 * xp.sum(away * away, -1) + xp.log(weights)
    most = xp.max(logs, 1, keepdims=True)
    return xp.sum(most[:, 0] + xp.log(xp.sum(xp.exp(logs - most), 1)))


def runge_kutta(xp: Any, y: Any) -> Any:
    def slope(y: Any) -> Any:
        return xp.sin(y) - 0.1 * y

    for _ in range(5):
        a = slope(y)
        b = slope(y + 0.05 * a)
        c = slope(y + 0.05 * b)
        d = slope(y + 0.1 * c)
        y = y + 0.1 / 6 * (a + 2 * b + 2 * c + d)
    return y


def iterated(xp: Any, a: Any) -> Any:
    """Eigenvalues by repeated factors."""
    for _ in range(30):
        q, r = xp.linalg.qr(a)
        a = r @ q
    return xp.diagonal(a)


def smoothed(xp: Any, a: Any) -> Any:
    inner = a[1:-1, 1:-1]
    around = a[2:, 1:-1] + a[:-2, 1:-1] + a[1:-1, 2:] + a[1:-1, :-2]
    return xp.sum((around - 4 * inner) ** 2)


def minors(xp: Any, a: Any) -> Any:
    """The determinant, by the first row."""
    if len(a) == 1:
        return a[0, 0]
    rest = [xp.concatenate([a[1:, :j], a[1:, j + 1 :]], axis=1) for j in range(len(a))]
    return sum((-1) ** j * a[0, j] * minors(xp, x) for j, x in enumerate(rest))


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "solve 3 by 3": (lambda xp, a, b: xp.linalg.solve(a, b), (MATRIX, THREE)),
    "inverse 3 by 3": (lambda xp, a: xp.linalg.inv(a), (MATRIX,)),
    "200 systems": (lambda xp, a, b: xp.linalg.solve(a, b[..., None]), (STACK, ROWS)),
    "200 determinants": (lambda xp, a: xp.linalg.det(a), (STACK,)),
    "200 spectra": (lambda xp, a: xp.linalg.eigh(a + xp.swapaxes(a, 1, 2))[0], (STACK,)),
    "qr": (lambda xp, a: xp.linalg.qr(a)[0] @ xp.ones(3), (MATRIX,)),
    "qr iterated": (iterated, (MATRIX @ MATRIX.T,)),
    "poses": (poses, (RANDOM.normal(size=8),)),
    "mixture": (mixture, (POINTS, MEANS, WEIGHTS)),
    "Runge-Kutta": (runge_kutta, (LINE,)),
    "stencil": (smoothed, (IMAGE,)),
    "layer norm": (lambda xp, a: (a - a.mean(1)[:, None]) / a.std(1)[:, None], (IMAGE,)),
    "norms": (lambda xp, a: xp.sqrt(xp.sum(a * a, 0)), (IMAGE,)),
    "log of sum of exp": (lambda xp, a: xp.log(xp.sum(xp.exp(a), axis=(0, 1))), (IMAGE,)),
    "cumulative": (lambda xp, a: xp.cumsum(a, 1), (IMAGE,)),
    "cumulative product": (lambda xp, x: xp.cumprod(1 + x * 1e-3), (LINE,)),
    "gather": (lambda xp, p: xp.sum((p[PLACES] - p[PLACES[::-1]]) ** 2), (POINTS,)),
    "powers": (lambda xp, x: xp.abs(x) ** 1.7, (LINE,)),
    "tanh, exp, log": (lambda xp, x: xp.tanh(x) * xp.exp(-x * x) + xp.log1p(x * x), (LINE,)),
    "sort": (lambda xp, x: xp.sum(xp.sort(x) * xp.arange(10_000)), (LINE,)),
    "fft": (lambda xp, x: xp.sum(xp.abs(xp.fft.rfft(x)) ** 2), (LINE[:4096],)),
    "logistic": (lambda xp, a, w: xp.mean(xp.log1p(xp.exp(-(a @ w)))), (IMAGE, LINE[:200])),
    "minors, 5": (minors, (RANDOM.normal(size=(5, 5)),)),
    "minors, 6": (minors, (RANDOM.normal(size=(6, 6)),)),
}  # fmt: skip

# The gradient of the determinant by minors, as it is written by hand.
SOURCE = """
static double walk(const double *a, int n, double *g, double w, double *room) {
  if (n == 1) { g[0] += w; return a[0]; }
  int k = (n - 1) * (n - 1);
  double *m = room, *mg = room + k, total = 0;
  for (int j = 0; j < n; j++) {
    double sign = j % 2 ? -1 : 1;
    for (int r = 1; r < n; r++)
      for (int c = 0, at = 0; c < n; c++)
        if (c != j) m[(r - 1) * (n - 1) + at++] = a[r * n + c];
    for (int i = 0; i < k; i++) mg[i] = 0;
    double d = walk(m, n - 1, mg, w * sign * a[j], room + 2 * k);
    total += sign * a[j] * d;
    g[j] += w * sign * d;
    for (int r = 1; r < n; r++)
      for (int c = 0, at = 0; c < n; c++)
        if (c != j) g[r * n + c] += mg[(r - 1) * (n - 1) + at++];
  }
  return total;
}
extern "C" double minors_gradient(const double *a, int n, double *g) {
  double room[1024];
  for (int i = 0; i < n * n; i++) g[i] = 0;
  return walk(a, n, g, 1, room);
}
"""


def by_hand(name: str, args: Any) -> Callable[[], object] | None:
    """The gradient in C++, for determinants by minors."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None or not name.startswith("minors"):
        return None
    folder = Path(tempfile.mkdtemp())
    (folder / "minors.cpp").write_text(SOURCE)
    made = [compiler, "-O3", "-march=native", "-shared", "-fPIC", "minors.cpp", "-o", "minors.so"]
    subprocess.run(made, cwd=folder, check=True)
    call = ctypes.CDLL(str(folder / "minors.so")).minors_gradient
    (a,) = args
    g = np.zeros_like(a)
    given = ctypes.c_void_p(a.ctypes.data), len(a), ctypes.c_void_p(g.ctypes.data)
    return lambda: (call(*given), g)


def in_jax(fun: Callable[..., Any], args: Any, what: str) -> Callable[[], object] | None:
    try:
        import jax
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)
    xp = jax.numpy
    there = [xp.asarray(x) for x in args]
    value = lambda *xs: fun(xp, *xs)
    taken = {
        "value": value,
        "gradient": jax.grad(lambda *xs: xp.sum(value(*xs))),
        "jacobian": jax.jacfwd(value),
    }
    fast = jax.jit(taken[what])
    return lambda: jax.block_until_ready(fast(*there))


def repeated(call: Callable[[], object]) -> tuple[Callable[[], object], int]:
    """Many calls, which take some milliseconds; results are dropped."""
    for _ in range(3):
        call()
    start = time.perf_counter()
    call()
    n = max(1, min(1000, int(2e-3 / (time.perf_counter() - start))))

    def many() -> None:
        for _ in range(n):
            call()

    return many, n


def row(name: str, fun: Callable[..., Any], args: Any, what: str) -> list[str]:
    value = lambda *xs: fun(np, *xs)
    plain = {
        "value": value,
        "gradient": pb.grad(lambda *xs: np.sum(value(*xs))),
        "jacobian": pb.jacobian(value, mode="forward"),
    }[what]
    fast = pb.compile(plain, wait=True)
    calls = {"plain": lambda: plain(*args), "ours": lambda: fast(*args)}
    native = by_hand(name, args) if what == "gradient" else None
    others = {"jax": in_jax(fun, args, what), "C++": native}
    calls |= {key: call for key, call in others.items() if call is not None}
    many = {key: repeated(call) for key, call in calls.items()}
    times = interleaved({key: call for key, (call, _) in many.items()}, 9, time.process_time)
    us = {key: times[key] / n * 1e6 for key, (_, n) in many.items()}
    shown = [f"{us[key]:.1f}" if key in us else "" for key in ("plain", "ours", "jax", "C++")]
    ratios = [f"{us['ours'] / us[key]:.2f}" if key in us else "" for key in ("plain", "jax", "C++")]
    return [f"{name}, {what}", *shown, *ratios]


def main(words: list[str]) -> None:
    lines = [["us", "plain", "compiled", "jax.jit", "C++", "of plain", "of jax.jit", "of C++"]]
    for name, (fun, args) in (PROGRAMS | MODELS).items():
        if not words or any(word in name for word in words):
            derivative = "jacobian" if name == "hand" else "gradient"
            lines += [row(name, fun, args, what) for what in ("value", derivative)]
            print(table(lines[-2:]), file=sys.stderr)
    print(table(lines))


if __name__ == "__main__":
    main(sys.argv[1:])
