"""Functions of lists of numbers that Python computes exactly and rounds once.

`math.fsum`, `math.sumprod` and the functions of `statistics` add fractions, or split numbers so
that no sum is rounded; therefore large numbers may cancel. Each is one operation here: its value is
Python's own, and its partials are the textbook formulas. See `pullback.statistics`.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.kinds import Elementwise
from ..core.primitive import Primitive, one_by_one
from ..core.reach.namespaces import standard_module
from ..core.rules import ONE
from ..core.spec import Spec
from .statistics import half_inverse

statistics = standard_module("statistics")


class Summary(Primitive):
    """One number for a list, and perhaps for a second one or for a center.

    partials[i](out, *xs) -> d out / d xs[i], of the shape of xs[i]
    """

    made_of = ("python", "partials")

    def __init__(self, python: Callable[..., Any], *partials: Callable[..., Any]) -> None:
        super().__init__(python.__name__ + ("" if len(partials) == 1 else f"_{len(partials)}"))
        self.python, self.partials = python, partials

    def value(self, *xs):
        return xs[0].dtype.type(self.python(*[x.tolist() for x in xs]))

    def spec(self, *xs):
        return Spec((), xs[0].dtype)

    def jvp(self, out, xs, x_dots):
        moving = [i for i, dot in enumerate(x_dots) if dot is not None]
        return functools.reduce(operator.add, [self.part(i, out, xs, x_dots[i]) for i in moving])

    def part(self, i, out, xs, x_dot):
        of = self.partials[i]
        return np.sum(x_dot if of is ones else of(out, *xs) * x_dot)

    def vjp(self, out_bar, residual, wanted):
        out, xs = residual.out, residual.xs
        return [
            out_bar * of(out, *xs) if each else None
            for of, each in zip(self.partials, wanted, strict=True)
        ]

    def batch(self, xs, mapped, size):
        return one_by_one(self, xs, mapped, size, {})


def centered(x: Any, center: Any) -> Any:
    return x - (np.mean(x) if center is None else center)


def ones(out: Any, x: Any) -> Any:
    return np.ones_like(x)


def harmonic_by_data(out: Any, x: Any, weights: Any = None) -> Any:
    share = 1 / len(x) if weights is None else weights / np.sum(weights)
    return share * np.square(out / x)


def harmonic_by_weights(out: Any, x: Any, weights: Any) -> Any:
    return out / np.sum(weights) * (1 - out / x)


SUMMARIES: dict[tuple[str, int], Summary] = {}  # by name and number of operands


def enter(python: Callable[..., Any], *partials: Callable[..., Any]) -> None:
    SUMMARIES[python.__name__, len(partials)] = Summary(python, *partials)


def enter_spread(python: Callable[..., Any], fewer: int, is_root: bool) -> None:
    """A variance or its root: about the mean, and about a center that is given.

    The sum of squared deviations is divided by n - fewer.
    """

    def slope(out: Any) -> Any:
        return half_inverse(out, None) if is_root else 1.0

    def by_data(out: Any, x: Any, center: Any = None) -> Any:
        return slope(out) * (2 / (len(x) - fewer)) * centered(x, center)

    def by_center(out: Any, x: Any, center: Any) -> Any:
        return -np.sum(by_data(out, x, center))

    enter(python, by_data)
    enter(python, by_data, by_center)


enter(math.fsum, ones)
if hasattr(math, "sumprod"):  # since Python 3.12
    enter(math.sumprod, lambda out, p, q: q, lambda out, p, q: p)
enter(statistics.mean, lambda out, x: np.ones_like(x) / len(x))
enter(statistics.harmonic_mean, harmonic_by_data)
enter(statistics.harmonic_mean, harmonic_by_data, harmonic_by_weights)
enter_spread(statistics.variance, 1, is_root=False)
enter_spread(statistics.pvariance, 0, is_root=False)
enter_spread(statistics.stdev, 1, is_root=True)
enter_spread(statistics.pstdev, 0, is_root=True)


# The quantile of a normal distribution, as `statistics.NormalDist.inv_cdf` computes it.


def standard(out: Any, mu: Any, sigma: Any) -> Any:
    return np.divide(out - mu, sigma)


def by_probability(out: Any, p: Any, mu: Any, sigma: Any) -> Any:
    return sigma * math.sqrt(2 * math.pi) * np.exp(np.square(standard(out, mu, sigma)) / 2)


quantile: Any = np.frompyfunc(statistics._normal_dist_inv_cdf, 3, 1)
normal_quantile_p = Elementwise(
    lambda p, mu, sigma: np.asarray(quantile(p, mu, sigma), dtype=float)[()],
    by_probability,
    ONE,
    lambda out, p, mu, sigma: standard(out, mu, sigma),
    reads=("out x1 x2", "", "out x1 x2"),
    name="normal_quantile",
)
