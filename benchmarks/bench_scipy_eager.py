"""Eager gradients through SciPy: ours and autograd's, interleaved in one process.

Each row is the gradient of a sum of ten results on 10 numbers; what is given is the time of one, of
which the sum and the addition take about 10 us of ours and 30 of autograd's. The bar is 0.7 of
autograd. Rows that autograd has no function for have no ratio.

    python benchmarks/bench_scipy_eager.py                 every row
    python benchmarks/bench_scipy_eager.py logpdf solve    rows whose names contain one of these
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import autograd
import autograd.numpy as anp
import autograd.scipy.linalg as asl
import autograd.scipy.special as asp
import autograd.scipy.stats as ast
import numpy as np
import scipy.linalg as sl
import scipy.special as sp
import scipy.stats as st
from common import interleaved, table

import pullback as pb

REPEATS = 10
rng = np.random.default_rng(0)
x = np.linspace(0.2, 0.9, 10)
k = np.arange(10.0)
A = np.eye(4) * 2 + 0.3 * rng.normal(size=(4, 4))
S = A @ A.T + 4 * np.eye(4)


def near(matrix: Any) -> Callable[..., Any]:
    return lambda np, x: matrix + np.outer(x[:4], x[:4])


a, s = near(A), near(S)

# A step by NumPy, scipy.stats, scipy.special, scipy.linalg and x.
# fmt: off
ROWS: dict[str, Callable[..., Any]] = {
    "norm.logpdf": lambda np, st, sp, sl, x: st.norm.logpdf(x, 0.1, 1.3),
    "norm.logpdf(x, x, x)": lambda np, st, sp, sl, x: st.norm.logpdf(x, x * 0.5, x),
    "norm.pdf": lambda np, st, sp, sl, x: st.norm.pdf(x, 0.1, 1.3),
    "norm.cdf": lambda np, st, sp, sl, x: st.norm.cdf(x, 0.1, 1.3),
    "norm.logcdf": lambda np, st, sp, sl, x: st.norm.logcdf(x, 0.1, 1.3),
    "norm.logsf": lambda np, st, sp, sl, x: st.norm.logsf(x, 0.1, 1.3),
    "t.logpdf": lambda np, st, sp, sl, x: st.t.logpdf(x, x + 3),
    "t.pdf": lambda np, st, sp, sl, x: st.t.pdf(x, 3.0, x),
    "t.cdf": lambda np, st, sp, sl, x: st.t.cdf(x, 3.0, x),
    "beta.logpdf": lambda np, st, sp, sl, x: st.beta.logpdf(x, x + 1, 2.0),
    "beta.pdf": lambda np, st, sp, sl, x: st.beta.pdf(x, x + 1, 2.0),
    "beta.cdf": lambda np, st, sp, sl, x: st.beta.cdf(x, 1.5, 2.0),
    "gamma.logpdf": lambda np, st, sp, sl, x: st.gamma.logpdf(x, x + 1),
    "gamma.pdf": lambda np, st, sp, sl, x: st.gamma.pdf(x, 2.0),
    "gamma.cdf": lambda np, st, sp, sl, x: st.gamma.cdf(x, 2.0),
    "chi2.cdf": lambda np, st, sp, sl, x: st.chi2.cdf(x, 2.5),
    "poisson.logpmf": lambda np, st, sp, sl, x: st.poisson.logpmf(k, x),
    "poisson.pmf": lambda np, st, sp, sl, x: st.poisson.pmf(k, x),
    "poisson.cdf": lambda np, st, sp, sl, x: st.poisson.cdf(k, x),
    "dirichlet.logpdf": lambda np, st, sp, sl, x: st.dirichlet.logpdf(x / np.sum(x), x),
    "multivariate_normal.logpdf":
        lambda np, st, sp, sl, x: st.multivariate_normal.logpdf(x[:4], np.zeros(4), S),
    "multivariate_normal.logpdf, covariance":
        lambda np, st, sp, sl, x: st.multivariate_normal.logpdf(x[:4], np.zeros(4), s(np, x)),
    "expon.logpdf": lambda np, st, sp, sl, x: st.expon.logpdf(x, 0, x + 1),
    "lognorm.logpdf": lambda np, st, sp, sl, x: st.lognorm.logpdf(x, x + 1),
    "binom.logpmf": lambda np, st, sp, sl, x: st.binom.logpmf(k, 20, x),
    "gammaln": lambda np, st, sp, sl, x: sp.gammaln(x),
    "polygamma": lambda np, st, sp, sl, x: sp.polygamma(1, x),
    "beta": lambda np, st, sp, sl, x: sp.beta(x, 2.5),
    "betaln": lambda np, st, sp, sl, x: sp.betaln(x, 2.5),
    "betainc": lambda np, st, sp, sl, x: sp.betainc(1.5, 2.5, x),
    "gammainc": lambda np, st, sp, sl, x: sp.gammainc(1.5, x),
    "multigammaln": lambda np, st, sp, sl, x: sp.multigammaln(x[0] + 5, 3),
    "erf": lambda np, st, sp, sl, x: sp.erf(x),
    "expit": lambda np, st, sp, sl, x: sp.expit(x),
    "iv": lambda np, st, sp, sl, x: sp.iv(2, x),
    "logsumexp": lambda np, st, sp, sl, x: sp.logsumexp(x),
    "logsumexp over an axis":
        lambda np, st, sp, sl, x: sp.logsumexp(np.reshape(x, (2, 5)), axis=1),
    "softmax": lambda np, st, sp, sl, x: sp.softmax(x),
    "solve": lambda np, st, sp, sl, x: sl.solve(a(np, x), x[:4]),
    "cholesky": lambda np, st, sp, sl, x: sl.cholesky(s(np, x), lower=True),
    "expm": lambda np, st, sp, sl, x: sl.expm(a(np, x)),
    "sqrtm": lambda np, st, sp, sl, x: sl.sqrtm(s(np, x)),
    "solve_triangular": lambda np, st, sp, sl, x: sl.solve_triangular(a(np, x), x[:4], lower=True),
    "solve_sylvester": lambda np, st, sp, sl, x: sl.solve_sylvester(A, a(np, x), A),
}
# fmt: on


def program(step: Callable[..., Any], np: Any, *modules: Any) -> Callable[[Any], Any]:
    def total(x: Any) -> Any:
        out = 0.0
        for _ in range(REPEATS):
            out = out + np.sum(step(np, *modules, x))
        return out

    return total


def runs(step: Callable[..., Any]) -> dict[str, Callable[[], Any]]:
    """The gradient by ours and by autograd, and the value by SciPy itself."""
    plain = program(step, np, st, sp, sl)
    ours = pb.grad(plain)
    theirs = autograd.grad(program(step, anp, ast, asp, asl))
    calls = {"ours": lambda: ours(x), "SciPy": lambda: plain(x)}
    try:
        np.testing.assert_allclose(ours(x), theirs(x), rtol=1e-7, atol=1e-9)
        calls["autograd"] = lambda: theirs(x)
    except (NotImplementedError, AttributeError, TypeError):  # it has no such function
        pass
    return calls


def main(words: list[str]) -> None:
    rows = [["us", "ours", "autograd", "SciPy's value", "/autograd"]]
    for name, step in ROWS.items():
        if words and not any(word in name for word in words):
            continue
        times = interleaved(runs(step), 15, time.process_time)
        cells = [
            f"{times[p] / REPEATS * 1e6:.1f}" if p in times else ""
            for p in ("ours", "autograd", "SciPy")
        ]
        ratio = f"{times['ours'] / times['autograd']:.2f}" if "autograd" in times else ""
        rows.append([name, *cells, ratio])
    print(table(rows))


if __name__ == "__main__":
    main(sys.argv[1:])
