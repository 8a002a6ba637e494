"""Distributions as objects, `scipy.stats.Normal(mu=m)`: where SciPy looks up numbers in dicts.

Their Python takes part, but no Array can be a key: which moment is wanted is a plain number, and a
class is made without derivatives, whose parameters come later.
"""

from __future__ import annotations

from typing import Any

from scipy.stats import _distribution_infrastructure as infrastructure

from ...core.reach import call_outside
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
