"""SciPy's value of a result, with the derivative of the same result computed by other functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.array import Array
from ...core.primitive import Primitive
from ...core.spec import Spec
from ...primitives.shapes import copy_p
from .implicit import constant

__all__ = ["exact"]


class Exact(Primitive):
    """SciPy's value of what was computed with other functions, bit for bit."""

    nondiff = (0,)
    reads = ""

    def value(self, found, computed):
        return np.array(found)[()]

    def spec(self, found, computed):
        return Spec(found.shape, found.dtype)

    def jvp(self, out, xs, x_dots):
        return x_dots[1]

    def vjp(self, out_bar, residual, wanted):
        return None, out_bar

    def taken_apart(self, apply, found, computed):
        """Machine code has no use for what was computed again, and does not compute it."""
        apply(copy_p, found, dtype=getattr(found, "spec", found).dtype)
        return True

    def batch(self, xs, mapped, size):
        found, computed = xs
        return self(found if mapped[0] else np.broadcast_to(found, (size, *found.shape)), computed)


exact_p = Exact("exact")


def exact(found: Any, computed: Any) -> Any:
    """SciPy's value with the derivative of what was computed again."""
    return exact_p(found, computed) if type(computed) is Array else constant(found)
