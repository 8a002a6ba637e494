"""Values of another library, with the derivatives of a NumPy program that computes the same.

The results of SciPy and Python are returned bit for bit; the NumPy program serves only for their
derivatives.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.array import Array
from ..core.primitive import Primitive
from ..core.spec import Spec, is_inexact
from ..core.trace import CONSTANT, running
from .shapes import copy_p


class Exact(Primitive):
    """Another library's value, bit for bit, of a result that a NumPy program computes again."""

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


def constant(x: Any) -> Any:
    """A floating result that does not move, as it stands inside a transformation."""
    if type(x) is Array or running() is None or not hasattr(x, "dtype"):
        return x
    return Array(x, CONSTANT, None) if is_inexact(x.dtype) else x


def like(found: Any, x: Any) -> Any:
    """A result as the Python number that was found elsewhere, if it was one."""
    if type(found) is not float:
        return x
    if type(x) is Array:
        return x.within.number(x)
    return float(x) if type(x) is np.float64 else x


def exact(found: Any, computed: Any) -> Any:
    """A value found elsewhere, with the derivative of what was computed again."""
    if type(computed) is not Array:
        return constant(found)
    return like(found, exact_p(np.float64(found) if type(found) is float else found, computed))
