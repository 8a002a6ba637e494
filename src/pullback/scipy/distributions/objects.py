"""Distributions as objects, such as `scipy.stats.Normal(mu=m)`.

Their Python code takes part, but SciPy looks up numbers in dicts, and no Array can be a key. So the
order of a moment is a plain number, and a class is created without derivatives; its parameters come
later. The values of a density or a distribution function at infinity don't depend on parameters.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import _distribution_infrastructure as infrastructure

from ...core.array import Array
from ...core.reach.session import call_outside
from ...primitives.arguments import everywhere
from ...primitives.elementwise import stopped
from ...primitives.sorting import concrete
from ..solving.serving import serves_method, traced

class_of_scipy = infrastructure.make_distribution
OBJECT = infrastructure.UnivariateDistribution


@serves_method(class_of_scipy)
def make_distribution(dist: Any) -> Any:
    return call_outside(class_of_scipy, (dist,), {})


def of_plain_order(original: Any) -> None:
    own = traced(original)

    @serves_method(original)
    def call(self: Any, order: Any, *args: Any, **kwargs: Any) -> Any:
        return own(self, concrete(order, "the order of a moment"), *args, **kwargs)


for name in ("raw", "central", "standardized"):
    of_plain_order(getattr(OBJECT, f"_moment_{name}_dispatch"))


def constant_at_infinity(original: Any) -> None:
    """Where x is infinite, it and the parameters enter without derivatives.

    Two logarithms of probabilities are subtracted at the ends of the support, and there the
    weight zero of the one meets its infinite slope.
    """
    own = traced(original)

    @serves_method(original)
    def call(self: Any, x: Any, *args: Any, **params: Any) -> Any:
        inside = np.isfinite(x)
        if everywhere(inside):
            return own(self, x, *args, **params)

        def still(p: Any) -> Any:
            return np.where(inside, p, stopped(p)) if type(p) is Array else p

        return own(self, still(x), *args, **{name: still(p) for name, p in params.items()})


for name in ("pdf", "logpdf", "cdf", "logcdf", "ccdf", "logccdf"):
    constant_at_infinity(getattr(OBJECT, f"_{name}_dispatch"))
