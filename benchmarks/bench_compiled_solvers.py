"""SciPy's solvers, integrals and quantiles in compiled functions, with other numbers in each call.

Values beside the functions themselves, and gradients beside eager ones, with `wait=True` or (with
`--trial`) after a trial. Calls take turns; medians, in microseconds of this thread.
Run with `python benchmarks/bench_compiled_solvers.py [--trial] [words]` in the repository.
"""

from __future__ import annotations

import statistics
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from common import table
from scipy import integrate, optimize, stats

import pullback as pb

BAR, SLACK, GRADIENT = 1.05, 1e-6, 0.7
SETTLING, ROUNDS, LONGEST = 2.0, 60, 2.5  # seconds, calls of each, seconds
AT = np.linspace(0.1, 3.0, 60)
SEEN = 2.0 * np.exp(-0.7 * AT) + 0.05 * np.sin(7 * AT)
DRAWN = np.random.default_rng(0).gamma(2.0, 1.5, 60)
TIMES = np.linspace(0.0, 1.0, 5)


def heston(v: Any) -> Any:
    def part(u: Any) -> Any:
        d = np.sqrt((0.6 * u - 1.5) ** 2 * v + u * u * 0.3 + 1.0)
        g = (1.5 - d) / (1.5 + d)
        return np.exp(-0.5 * v * u * u) * np.cos(u * 0.1) * (1 - g * np.exp(-d)) / (1 + u * u)

    return integrate.quad(part, 0.0, 50.0)[0]


def volatility(price: Any) -> Any:
    gap = lambda s: 100 * (stats.norm.cdf(s / 2) - stats.norm.cdf(-s / 2)) - 9 - price
    return optimize.brentq(gap, 0.01, 3.0)


def equilibrium(a: Any) -> Any:
    def gaps(x: Any) -> Any:
        return np.array([x[0] ** 3 + x[1] - a, x[0] + np.exp(x[1]) - a * 1.1, x[2] - x[0] * x[1]])

    return np.sum(optimize.root(gaps, np.ones(3)).x)


def calibration(a: Any) -> Any:
    gap = lambda p: p[0] * np.exp(-p[1] * AT) + p[2] - a * np.exp(-0.5 * AT) - 0.1 * np.sin(AT)
    found = optimize.least_squares(gap, np.array([1.0, 1.0, 0.0]))
    return np.sum(found.x**2) * a + found.cost


def likelihood(a: Any) -> Any:
    def loss(p: Any) -> Any:
        return -np.sum(stats.gamma.logpdf(DRAWN * a, np.exp(p[0]), scale=np.exp(p[1])))

    return np.sum(optimize.minimize(loss, np.zeros(2)).x)


def nested(a: Any) -> Any:
    inner = lambda b: integrate.quad(lambda x: np.exp(-b * x), 0, 1)[0]
    return optimize.brentq(lambda b: inner(b) - 1 / (2 + a), 0.01, 50.0)


def fitted(a: Any) -> Any:
    curve = lambda x, p, q: p * np.exp(-q * x)
    return np.sum(optimize.curve_fit(curve, AT[:12], a * SEEN[:12], p0=np.ones(2))[0])


def flow(a: Any) -> Any:
    rates = lambda t, y: -a * y
    found = integrate.solve_ivp(rates, (0.0, 1.0), np.ones(2), method="BDF", t_eval=TIMES)
    return found.y[0, -1]


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "Heston by quad": heston,
    "implied volatility": volatility,
    "equilibrium by root": equilibrium,
    "calibration by least_squares": calibration,
    "likelihood by minimize": likelihood,
    "brentq": lambda a: optimize.brentq(lambda x: x**3 + x - a, 0.0, 2 * a),
    "newton of an array": lambda a: np.sum(
        optimize.newton(lambda x: x**3 + x - a * AT, np.ones(60))
    ),
    "quad to infinity": lambda a: integrate.quad(lambda x: np.exp(-a * x), 0, np.inf)[0],
    "dblquad": lambda a: integrate.dblquad(lambda y, x: np.exp(-a * x * y), 0, 1, 0, 1)[0],
    "brentq of a quad": nested,
    "beta.ppf": lambda a: stats.beta.ppf(0.3, a, 3.0),
    "gamma.ppf": lambda a: stats.gamma.ppf(0.3, a),
    "curve_fit": fitted,
    "minimize_scalar": lambda a: optimize.minimize_scalar(lambda x: (x - a) ** 2 + np.cos(x)).x,
    "odeint": lambda a: np.sum(integrate.odeint(lambda y, t: -a * y, np.ones(2), TIMES)[-1]),
    "solve_ivp, BDF": flow,
    "integrand that chooses": lambda a: integrate.quad(
        lambda x: a * x if x > 0.3 else np.exp(-a * x), 0, 1
    )[0],
}


def measured(fun: Callable[[Any], Any], wait: bool) -> tuple[float, float, str]:
    """Seconds of the function and of the compiled one, and what the last call did."""
    fast = pb.compile(fun, wait=wait)
    start, n = time.thread_time(), 0
    while n < 300 and time.thread_time() - start < SETTLING:
        fast(np.float64(2 + 0.0007 * n))
        n += 1
    times: list[list[float]] = [[], []]
    start = time.thread_time()
    while len(times[0]) < ROUNDS and time.thread_time() - start < LONGEST:
        x = np.float64(2.3 + 0.0011 * len(times[0]))
        for call, spent in zip((fast, fun), times, strict=True):
            begun = time.thread_time()
            call(x)
            spent.append(time.thread_time() - begun)
    compiled, plain = map(statistics.median, times)
    return plain, compiled, fast.why().partition(":")[0].rstrip(".")


def main() -> None:
    warnings.simplefilter("ignore")  # some fall back to Python
    words = [word for word in sys.argv[1:] if word != "--trial"]
    rows = [["program", "itself", "ratio", "", "eager gradient", "ratio", ""]]
    slower, quick = [], 0
    for name, fun in PROGRAMS.items():
        if words and not any(word in name for word in words):
            continue
        row = [name]
        for kind, call in (("value", fun), ("gradient", pb.grad(fun))):
            plain, compiled, why = measured(call, "--trial" not in sys.argv)
            row += [f"{plain * 1e6:.0f}", f"{compiled / plain:.2f}", why[:24]]
            if compiled > BAR * plain + SLACK:
                slower.append(f"{name}, {kind}: {compiled / plain:.2f}")
            quick += kind == "gradient" and compiled <= GRADIENT * plain
        rows.append(row)
    print(table(rows))
    print(f"gradients within {GRADIENT} of eager ones: {quick} of {len(rows) - 1}")
    print(f"above {BAR} of the function itself and a microsecond: {slower or 'none'}")


if __name__ == "__main__":
    main()
