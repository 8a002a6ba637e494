"""Methods of distributions as SciPy computes them, without a derivative, as one operation.

A rule takes its value from here and its derivative from a formula. It asks for no values, so it can
be recorded, mapped, and integrated again by a rule of `quad`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.array import peel
from ...core.operands import as_array
from ...core.primitive import Primitive, align
from ...core.reach.session import call_outside
from ...core.spec import DOUBLE, Spec
from ...core.trace import is_live


class FoundByScipy(Primitive):
    """A method of a distribution, elementwise; the method is one of its class."""

    inert = True
    reads = ""

    def value(self, *xs, dist, method):
        out = call_outside(getattr(type(dist), method), (dist, *xs), {})
        return np.asarray(out, float)[()]

    def spec(self, *xs, **_):
        return Spec(np.broadcast_shapes(*[x.shape for x in xs]), DOUBLE)

    def jvp(self, out, xs, x_dots, **_):
        return None

    def vjp(self, out_bar, residual, wanted):
        return [None] * len(wanted)

    def batch(self, xs, mapped, size, **static):
        return self(*align(xs, mapped), **static)


found_p = FoundByScipy("a method of a distribution")


def found(method: Callable[..., Any], dist: Any, *xs: Any) -> Any:
    """method(dist, *xs), as SciPy computes it."""
    if not any(map(is_live, xs)):
        return call_outside(method, (dist, *map(peel, xs)), {})
    return found_p(*map(as_array, xs), dist=dist, method=method.__name__)
