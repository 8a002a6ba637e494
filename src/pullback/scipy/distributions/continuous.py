"""Continuous distributions: quantiles as roots of the distribution function, fits as minima.

Entropies are integrals whose derivatives use the logarithm of the density, because the slope of
p log(p) is NaN where the density underflows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special, stats

from ...core.array import stop
from ...core.operands import as_array
from ...core.reach.calls import call_inside
from ...core.spec import is_inexact
from ...core.trace import is_live
from ...primitives.arguments import everywhere
from ...primitives.elementwise import stopped
from ...primitives.exact import constant, exact
from ..integration.quadrature import quad
from ..optimization.conditions import Minimum, minimum
from ..solving.implicit import DiagonalEquations, RecordedFunction, solution
from ..solving.plain import solve
from ..solving.serving import serves_method, traced
from .choices import vectors
from .formulas import FORMULAS
from .methods import ask, holds_values, plainly

# Their median is the middle whatever the shape is, also where the density there is zero.
CENTRED = {type(stats.dgamma), type(stats.dweibull)}


def inverse(original: Any, function: str) -> None:
    """A quantile: where `_cdf` or `_sf` of the standardised variable is q."""

    @serves_method(original)
    def quantile(self: Any, q: Any, *args: Any, **kwds: Any) -> Any:
        if holds_values(self):
            _, loc, scale = self._parse_args(*args, **kwds)
            q = as_array(q)
            middle = ask(self, "_ppf", q if function == "_cdf" else 1 - q)
            return np.where((q >= 0) & (q <= 1), middle * scale + loc, np.nan)[()]
        found = solve(
            lambda values: original(
                plainly(values, self), *values.tree((q, *args)), **values.tree(kwds)
            )
        )
        if not found.live:
            return found.first
        shapes, loc, scale = self._parse_args(*args, **kwds)
        ask(self, "_argcheck", *shapes)  # refuses shapes of which the derivative is not known
        x, q = found.of(as_array), as_array(q)
        q = q if is_inexact(q.dtype) else q.astype(float)
        shapes = [np.broadcast_to(as_array(s), x.shape) for s in shapes]
        z, at = (x - stop(as_array(loc))) / stop(as_array(scale)), stop(q)
        z = np.where((at > 0) & (at < 1) & np.isfinite(z), z, np.nan)
        inside = np.isfinite(z)
        if type(self) in CENTRED and not is_live(q):
            inside = np.logical_and(inside, z != 0)
        middle = np.where(inside, z, 0.0)
        z = fixed(self, function, middle, inside, np.broadcast_to(q, x.shape), shapes)
        out = np.where(inside, loc + scale * z, 0.0)
        if not all(np.all(r) for r in solve(lambda values: values.of(inside)).results):
            # The ends of the support, where they are finite, move with it.
            low, high = self._get_support(*shapes)
            first, last = (low, high) if function == "_cdf" else (high, low)
            for at, end in ((0, first), (1, last)):
                here = (q == at) & np.isfinite(end)
                out = np.where(here, np.where(here, end, 0.0) * scale + loc, out)
        return exact(x[()], out[()])


def fixed(self: Any, function: str, z: Any, inside: Any, q: Any, shapes: Any) -> Any:
    """z where the function is q; the others stay."""
    size, formula = z.shape, FORMULAS.get((type(self), function))

    def gap(z: Any, inside: Any) -> Any:
        xs = vectors(z, *shapes)
        value = ask(self, function, *xs) if formula is None else formula(*xs)
        return np.where(inside, np.reshape(value, size) - q, 0.0)

    program = RecordedFunction(gap, z, inside)
    if not program.theta:
        return z

    def residual(z: Any, theta: Any, given: Any) -> Any:
        mask, start = given
        out = np.ravel(program([np.reshape(z, size), np.reshape(mask, size)], theta))
        return np.where(mask, out, z - start)

    flat = np.ravel(z)
    name = "ppf" if function == "_cdf" else "isf"
    iterates = getattr(type(self), f"_{name}") is getattr(stats.rv_continuous, f"_{name}")
    equations = DiagonalEquations(name, residual, closed=not iterates)
    (out,) = solution(equations, flat, program.theta, [np.ravel(inside), flat])
    return np.reshape(out, size)


inverse(stats.rv_continuous.ppf, "_cdf")
inverse(stats.rv_continuous.isf, "_sf")

entropy_of_scipy: Any = stats.rv_continuous._entropy


def gamma_entropy(skew: Any) -> Any:
    """The entropy of Pearson's third distribution, which is a gamma distribution."""
    alpha = 4 / skew**2
    standard = alpha + special.gammaln(alpha) + (1 - alpha) * special.digamma(alpha)
    return standard + np.log(np.abs(skew) / 2)


# Where the integral has no slope: an end moves with the shape, and the density has a pole there.
CLOSED: dict[Any, Callable[..., Any]] = {type(stats.pearson3): gamma_entropy}
LEAST = -700.0  # logarithms of densities that count


@serves_method(entropy_of_scipy)
def entropy(self: Any, *shapes: Any) -> Any:
    found = solve(lambda values: entropy_of_scipy(plainly(values, self), *values.tree(shapes)))
    if not found.live:
        return found.first

    formula = CLOSED.get(type(self))
    if formula is not None:
        return exact(found.of(np.float64), np.reshape(formula(*map(as_array, shapes)), ()))

    def surprise(x: Any) -> Any:
        log = np.reshape(ask(self, "_logpdf", *vectors(*map(as_array, (x, *shapes)))), ())
        counts = np.abs(log) < -LEAST  # a density may also have a pole at an end
        log = np.where(counts, log, 0.0)
        return np.where(counts, -log * np.exp(log), 0.0)

    low, high = ask(self, "_get_support", *shapes)
    return exact(found.of(np.float64), quad(surprise, low, high, full_output=1)[0])


moment_of_scipy: Any = stats.rv_continuous._mom1_sc
LARGEST = 2.0**960  # of powers: times a chance of 0 they are 0


@serves_method(moment_of_scipy)
def moment(self: Any, m: Any, *shapes: Any) -> Any:
    """SciPy integrates powers of the quantile, which is a root; here the tails are integrated.

    With any point p, E x^m = p^m + the integral of m x^(m-1) sf above p, less that of cdf below.
    Where the distribution function is an integral of its own, x^m times the density is.
    """
    found = solve(lambda values: moment_of_scipy(plainly(values, self), *values.tree((m, *shapes))))
    if not found.live:
        return found.first

    def weighted(x: Any, method: str, power: Any) -> Any:
        chance = np.reshape(ask(self, method, *vectors(*map(as_array, (x, *shapes)))), ())
        return np.clip(power, -LARGEST, LARGEST) * chance

    low, high = ask(self, "_get_support", *shapes)
    if type(self)._cdf is stats.rv_continuous._cdf:
        by_density = quad(lambda x: weighted(x, "_pdf", x**m), low, high, full_output=1)[0]
        return exact(found.of(np.float64), by_density)
    p = stopped(np.reshape(ask(self, "_ppf", *vectors(np.array(0.5), *map(as_array, shapes))), ()))
    above = quad(lambda x: weighted(x, "_sf", m * x ** (m - 1)), p, high, full_output=1)[0]
    below = quad(lambda x: weighted(x, "_cdf", m * x ** (m - 1)), low, p, full_output=1)[0]
    return exact(found.of(np.float64), p**m + above - below)


expect_of_scipy: Any = stats.rv_continuous.expect
expectation = traced(expect_of_scipy)


@serves_method(expect_of_scipy)
def expect(
    self: Any, func: Any = None, args: Any = (), loc: Any = 0, scale: Any = 1, lb: Any = None,
    ub: Any = None, conditional: Any = False, **kwds: Any,
) -> Any:  # fmt: skip
    """SciPy integrates from `loc + scale * low`, which has no slope where the end is infinite."""
    ends = ask(self, "_get_support", *args)
    lb, ub = [
        moved(end, loc, scale) if x is None else x for end, x in zip(ends, (lb, ub), strict=True)
    ]
    return expectation(self, func, args, loc, scale, lb, ub, conditional, **kwds)


def moved(end: Any, loc: Any, scale: Any) -> Any:
    """An end of the support with location and scale; an infinite one stays where it is."""
    if everywhere(as_array(end) == 0):
        return loc
    finite = np.isfinite(end)
    if everywhere(~finite):
        return stopped(as_array(end))[()]
    return np.where(finite, loc + scale * np.where(finite, end, 0.0), stopped(as_array(end)))[()]


def distance_of_moments(
    self: Any, data: Any, shapes: Any, loc: Any, scale: Any, n: int
) -> Any:  # fmt: skip
    """The quantity that SciPy minimises to match the first n moments."""
    powers = range(1, n + 1)
    wanted = np.stack([np.mean(np.ravel(data) ** k) for k in powers])
    given = {"loc": loc, "scale": scale}
    moments = [call_inside(moments_of_scipy, (self, k, *shapes), given) for k in powers]
    found = np.stack([np.reshape(x, ()) for x in moments])
    return np.sum(((wanted - found) / np.maximum(np.abs(wanted), 1e-8)) ** 2)


moments_of_scipy = stats.rv_continuous.moment
fit_of_scipy = stats.rv_continuous.fit
CENSORED = "uncensored", "left", "right", "interval"


@serves_method(stats.rv_continuous.fit)
def fit(self: Any, data: Any, *args: Any, **kwds: Any) -> Any:
    """Fit parameters by maximum likelihood, or by moments as close as possible to the data's."""

    def call(values: Any) -> Any:
        given = {key: values.of(part) for key, part in zip(CENSORED, sample, strict=False)}
        plain = stats.CensoredData(**given) if censored else given["uncensored"]
        return fit_of_scipy(plainly(values, self), plain, *values.tree(args), **values.tree(kwds))

    censored = isinstance(data, stats.CensoredData)
    sample = [getattr(data, f"_{key}") for key in CENSORED] if censored else [as_array(data)]
    found = solve(call)
    if not found.live:
        return found.first
    by_moments = kwds.get("method", "MLE").lower() == "mm"
    names = self.shapes.replace(",", " ").split() if self.shapes else []
    keys = [(f"f{i}", f"f{name}", f"fix_{name}") for i, name in enumerate(names)]
    given: dict[int, Any] = {}
    for i, several in enumerate([*keys, ("floc",), ("fscale",)]):
        for key in several:
            if kwds.get(key) is not None:
                given[i] = kwds[key]
    n = len(names) + 2
    free = [i for i in range(n) if i not in given]
    values = found.of(lambda r: np.array([float(p) for p in r]))

    def record(p: Any) -> Any:
        whole = [given[i] if i in given else p[free.index(i)] for i in range(n)]
        *shapes, loc, scale = whole
        if by_moments:
            return distance_of_moments(self, sample[0], shapes, loc, scale, len(free)), [], []

        def of(method: str, x: Any) -> Any:
            return ask(self, method, (x - loc) / scale, *shapes)

        seen, *hidden = sample
        total = np.size(seen) * np.log(scale) - np.sum(of("_logpdf", np.ravel(seen)))
        if hidden:
            left, right, between = hidden
            inside = of("_cdf", between[:, 1]) - of("_cdf", between[:, 0])
            total = total - np.sum(of("_logcdf", left)) - np.sum(of("_logsf", right))
            total = total - np.sum(np.log(inside))
        return total, [], []

    problem = Minimum(record, lambda what: what, values[np.array(free)])
    if not problem.theta:
        return tuple([constant(values[i]) for i in range(n)])
    p, _ = minimum("fit", problem, values[np.array(free)], None)
    fitted = {i: p[j] for j, i in enumerate(free)}
    return tuple([fitted[i] if i in fitted else given[i] for i in range(n)])
