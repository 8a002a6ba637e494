"""Give what is computed by several operations the rounding of NumPy's own function."""

from __future__ import annotations

import numpy as np

from ..core.array import Array
from ..core.primitive import Primitive


class Rounded(Primitive):
    """What NumPy's function gives for xs, with the derivative of `found`, equal up to rounding.

    function: of xs; `how` holds pairs of keywords. A recording keeps `found`, whose operations it
    knows, and a batch does so too.
    """

    reads = ""

    def value(self, found, *xs, function, how):
        return function(*xs, **dict(how))

    def composed(self, found, *xs, function, how):
        return found

    def spec(self, found, *xs, function, how):
        return found

    def jvp(self, out, xs, x_dots, *, function, how):
        return x_dots[0] if x_dots[0] is not None else np.zeros_like(out)

    def vjp(self, out_bar, residual, wanted):
        return (out_bar, *[None] * (len(residual.xs) - 1))

    def batch(self, xs, mapped, size, *, function, how):
        return xs[0]


rounded_p = Rounded("rounded")


def rounded(found, function, *xs, **how):
    """`found` with the last bits of function(*xs, **how); what carries no derivative is that."""
    if type(found) is not Array:
        return found
    return rounded_p(found, *xs, function=function, how=tuple(sorted(how.items())))
