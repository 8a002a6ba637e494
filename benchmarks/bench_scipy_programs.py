"""Gradients of 24 programs over SciPy: eager beside autograd, compiled beside `jax.jit`.

The programs are written once, for whichever NumPy and SciPy they are given, and each call has other
numbers; where a peer lacks a function that a program calls, it has no time. JAX computes in 64
bits. The bars: eager at most 0.7 of autograd's time, compiled at most 1.0 of JAX's. `--accuracy`
compares derivatives at extreme arguments instead, with the tables of the tests.

    python benchmarks/bench_scipy_programs.py                every program
    python benchmarks/bench_scipy_programs.py kalman probit  those whose names contain one of these
    python benchmarks/bench_scipy_programs.py --accuracy
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import autograd
import autograd.numpy as anp
import autograd.scipy.linalg
import autograd.scipy.special
import autograd.scipy.stats
import jax
import jax.numpy as jnp
import jax.scipy as jsp
import numpy as np
import scipy.linalg
import scipy.special
import scipy.stats
from common import interleaved, settled, turning

import pullback as pb

jax.config.update("jax_enable_x64", True)
OURS = np, scipy.stats, scipy.special, scipy.linalg
AUTOGRAD = anp, autograd.scipy.stats, autograd.scipy.special, autograd.scipy.linalg
JAX = jnp, jsp.stats, jsp.special, jsp.linalg
MISSING = (AttributeError, NotImplementedError, TypeError, ValueError)

rng = np.random.default_rng(0)
X = rng.normal(size=(100, 3))
Y = X @ np.array([0.5, -1.0, 0.3]) + 0.1 * rng.normal(size=100)
POSITIVE = rng.gamma(2.0, 1.5, size=100)
COUNTS = rng.poisson(3.0, size=100).astype(float)
TRUTH = (Y > 0).astype(float)
UNIT = rng.beta(2.0, 3.0, size=100)
PLACES, MORE_PLACES = np.linspace(0.0, 3.0, 20), np.linspace(0.0, 9.0, 60)
PROGRAMS: dict[str, tuple[Callable[..., Any], Any]] = {}


def program(*start: float) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def enter(fun: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[fun.__name__] = fun, np.array(start)
        return fun

    return enter


@program(0.4, -0.9, 0.2, 0.5)
def normal_regression(np: Any, st: Any, sp: Any, sl: Any, p: Any) -> Any:
    return -np.sum(st.norm.logpdf(Y, X @ p[:3], np.exp(p[3])))


@program(0.4, -0.9, 0.2, 0.5)
def robust_regression(np: Any, st: Any, sp: Any, sl: Any, p: Any) -> Any:
    return -np.sum(st.t.logpdf(Y, 4.0, X @ p[:3], np.exp(p[3])))


@program(0.4, -0.9, 0.2)
def logistic_regression(np: Any, st: Any, sp: Any, sl: Any, p: Any) -> Any:
    q = sp.expit(X @ p)
    return -np.sum(TRUTH * np.log(q) + (1 - TRUTH) * np.log1p(-q))


@program(0.4, -0.9, 0.2)
def probit_regression(np: Any, st: Any, sp: Any, sl: Any, p: Any) -> Any:
    sign = 2 * TRUTH - 1
    return -np.sum(st.norm.logcdf(sign * (X @ p)))


@program(0.1, 0.2, 0.1)
def poisson_regression(np: Any, st: Any, sp: Any, sl: Any, p: Any) -> Any:
    rate = np.exp(X @ p)
    return np.sum(rate - COUNTS * np.log(rate) + sp.gammaln(COUNTS + 1.0))


@program(0.5, 0.8)
def gamma_likelihood(np: Any, st: Any, sp: Any, sl: Any, p: Any) -> Any:
    a, s = np.exp(p[0]), np.exp(p[1])
    return -np.sum(st.gamma.logpdf(POSITIVE / s, a) - np.log(s))


@program(0.5, 0.8)
def beta_likelihood(np: Any, st: Any, sp: Any, sl: Any, p: Any) -> Any:
    return -np.sum(st.beta.logpdf(UNIT, np.exp(p[0]), np.exp(p[1])))


@program(0.5, 0.8)
def negative_binomial(np: Any, st: Any, sp: Any, sl: Any, p: Any) -> Any:
    r, q = np.exp(p[0]), sp.expit(p[1])
    log = sp.gammaln(COUNTS + r) - sp.gammaln(r) + r * np.log(q) + COUNTS * np.log(1 - q)
    return -np.sum(log)


@program(0.5, 0.8)
def weibull_survival(np: Any, st: Any, sp: Any, sl: Any, p: Any) -> Any:
    k, scale = np.exp(p[0]), np.exp(p[1])
    z = POSITIVE / scale
    return np.sum(z**k - TRUTH * (np.log(k / scale) + (k - 1) * np.log(z)))


@program(0.3, -0.5, 0.2, -1.0, 0.1, 1.0)
def mixture(np: Any, st: Any, sp: Any, sl: Any, p: Any) -> Any:
    parts = st.norm.logpdf(Y[:, None], p[3:], np.exp(p[:3]))
    return -np.sum(sp.logsumexp(parts, axis=1))


def kernel(np: Any, p: Any, places: Any) -> Any:
    gap = (places[:, None] - places[None]) ** 2
    return np.exp(p[0] - gap * np.exp(p[1])) + np.exp(p[2]) * np.eye(len(places))


@program(0.1, 0.2, -1.0)
def gaussian_process(np: Any, st: Any, sp: Any, sl: Any, p: Any) -> Any:
    L = np.linalg.cholesky(kernel(np, p, PLACES))
    z = sl.solve_triangular(L, np.sin(PLACES), lower=True)
    return 0.5 * np.sum(z**2) + np.sum(np.log(np.diagonal(L)))


@program(0.1, 0.2, 0.3)
def normal_vectors(np: Any, st: Any, sp: Any, sl: Any, p: Any) -> Any:
    cov = np.outer(p, p) + np.eye(3)
    return -np.sum(st.multivariate_normal.logpdf(X, p, cov))


@program(0.1, 0.2, -1.0)
def process_density(np: Any, st: Any, sp: Any, sl: Any, p: Any) -> Any:
    return -st.multivariate_normal.logpdf(np.sin(PLACES), np.zeros(20), kernel(np, p, PLACES))


@program(0.1, 0.2, -1.0)
def process_density_of_60(np: Any, st: Any, sp: Any, sl: Any, p: Any) -> Any:
    K = kernel(np, p, MORE_PLACES)
    return -st.multivariate_normal.logpdf(np.sin(MORE_PLACES), np.zeros(60), K)


@program(0.1, 0.2, -1.0)
def process_by_solve(np: Any, st: Any, sp: Any, sl: Any, p: Any) -> Any:
    K, y = kernel(np, p, PLACES), np.sin(PLACES)
    return 0.5 * y @ np.linalg.solve(K, y) + 0.5 * np.linalg.slogdet(K)[1]


@program(0.1, 0.2, -1.0)
def process_by_cho_solve(np: Any, st: Any, sp: Any, sl: Any, p: Any) -> Any:
    y = np.sin(PLACES)
    factor = sl.cho_factor(kernel(np, p, PLACES), lower=True)
    return 0.5 * y @ sl.cho_solve(factor, y) + np.sum(np.log(np.diagonal(factor[0])))


@program(0.3, 0.4, 0.2)
def markov_chain(np: Any, st: Any, sp: Any, sl: Any, p: Any) -> Any:
    Q = np.outer(p, np.array([1.0, 0.5, 2.0]))
    Q = Q - np.diag(np.sum(Q, axis=1))
    return sl.expm(Q)[0, 2]


@program(0.2, 0.1)
def kalman(np: Any, st: Any, sp: Any, sl: Any, p: Any) -> Any:
    F, H = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[1.0, 0.0]])
    x, P, total = np.zeros(2), np.eye(2), 0.0
    for y in Y[:20]:
        x, P = F @ x, F @ P @ F.T + np.exp(p[0]) * np.eye(2)
        S = H @ P @ H.T + np.exp(p[1]) * np.eye(1)
        gap = y - H @ x
        K = np.linalg.solve(S, H @ P).T
        total = total + np.sum(gap**2 / S) + np.log(S[0, 0])
        x, P = x + K @ gap, P - K @ H @ P
    return total


@program(0.3, 0.2, 0.05)
def option_prices(np: Any, st: Any, sp: Any, sl: Any, p: Any) -> Any:
    strikes, t = np.linspace(80.0, 120.0, 40), 0.5
    vol = p[0] * np.sqrt(t)
    d = (np.log(100.0 / strikes) + (p[2] + p[0] ** 2 / 2) * t) / vol
    price = 100.0 * st.norm.cdf(d) - strikes * np.exp(-p[2] * t) * st.norm.cdf(d - vol)
    return np.sum(price) * p[1]


@program(0.5, 0.3, 0.2, 0.4)
def predator_prey(np: Any, st: Any, sp: Any, sl: Any, p: Any) -> Any:
    def slope(y: Any) -> Any:
        return np.stack([y[0] * (p[0] - p[1] * y[1]), y[1] * (p[2] * y[0] - p[3])])

    y, h = np.array([1.0, 0.5]), 0.1
    for _ in range(30):
        a = slope(y)
        b = slope(y + h / 2 * a)
        c = slope(y + h / 2 * b)
        y = y + h / 6 * (a + 2 * b + 2 * c + slope(y + h * c))
    return np.sum(y**2)


@program(0.5, 0.8, 1.2)
def dirichlet(np: Any, st: Any, sp: Any, sl: Any, p: Any) -> Any:
    a, x = np.exp(p), np.array([0.2, 0.3, 0.5])
    return sp.gammaln(np.sum(a)) - np.sum(sp.gammaln(a)) + np.sum((a - 1) * np.log(x))


@program(0.5, 0.8)
def failure_times(np: Any, st: Any, sp: Any, sl: Any, p: Any) -> Any:
    a, rate = np.exp(p[0]), np.exp(p[1])
    return -np.sum(np.log(sp.gammaincc(a, rate * POSITIVE)))


@program(*np.linspace(-1, 1, 12))
def cross_entropy(np: Any, st: Any, sp: Any, sl: Any, p: Any) -> Any:
    scores = X @ np.reshape(p, (3, 4))
    picked = scores[np.arange(100), np.arange(100) % 4]
    return np.sum(sp.logsumexp(scores, axis=1) - picked)


@program(0.3, 1.2)
def diffusion(np: Any, st: Any, sp: Any, sl: Any, p: Any) -> Any:
    return np.sum(sp.erfc(PLACES / (2 * np.sqrt(p[0])))) * p[1]


def of(fun: Callable[..., Any], np: Any, st: Any, sp: Any, sl: Any) -> Callable[[Any], Any]:
    return lambda p: fun(np, st, sp, sl, p)


def gradients(
    fun: Callable[..., Any], start: Any, fast: Callable[[Any], Any]
) -> dict[str, Callable[[Any], Any]]:
    """The gradient by each of the four, where it has one; all must agree with ours."""
    ours = pb.grad(of(fun, *OURS))
    calls = {"eager": ours, "compiled": fast}
    expected = ours(start)
    theirs = autograd.grad(of(fun, *AUTOGRAD))
    jitted = jax.jit(jax.grad(of(fun, *JAX)))
    peers = {"autograd": theirs, "jax.jit": lambda p: np.asarray(jitted(p))}
    for name, call in {**peers, "compiled": calls["compiled"]}.items():
        try:
            found = call(start)
        except MISSING as error:
            print(f"{fun.__name__}: {name} raises {type(error).__name__}", file=sys.stderr)
            continue
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8, err_msg=name)
        calls[name] = call
    return calls


def speed(words: list[str]) -> None:
    heads = ["eager", "autograd", "ratio", "compiled", "jax.jit", "ratio"]
    widths = max(map(len, PROGRAMS)) + 2
    print("us".ljust(widths) + "".join(head.rjust(10) for head in heads))
    chosen = [name for name in PROGRAMS if not words or any(word in name for word in words)]
    # Recorded before jax runs: it waits for the end of each array that it reads, and a function
    # that reads such an array isn't recorded.
    recorded = {name: pb.compile(pb.grad(of(PROGRAMS[name][0], *OURS))) for name in chosen}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some fall back to Python
        for name, fast in recorded.items():
            settled(fast, PROGRAMS[name][1])
    for name, fast in recorded.items():
        fun, start = PROGRAMS[name]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # as before
            calls = gradients(fun, start, fast)
            # Each with its peer: threads of JAX's go on for a while after its calls.
            pairs = [("eager", "autograd"), ("compiled", "jax.jit")]
            times = {}
            for pair in pairs:
                both = {name: turning(calls[name], start) for name in pair if name in calls}
                clock = time.thread_time if pair[0] == "eager" else time.process_time
                times |= interleaved(both, 41, clock, warm=True)
        cells = {k: f"{t * 1e6:.1f}" for k, t in times.items()}
        ratio = {
            peer: f"{times[ours] / times[peer]:.2f}" if peer in times else ""
            for ours, peer in pairs
        }
        row = [cells["eager"], cells.get("autograd", ""), ratio["autograd"]]
        row += [cells["compiled"], cells.get("jax.jit", ""), ratio["jax.jit"]]
        print(name.ljust(widths) + "".join(c.rjust(10) for c in row), flush=True)


if __name__ == "__main__":
    if "--accuracy" in sys.argv:
        from scipy_accuracy import main

        main()
    else:
        speed(sys.argv[1:])
