"""SciPy's functions of arrays.

Following   SciPy's value, differentiated as a NumPy program of the same operands
Chosen      indices, which are locally constant
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.primitive import Primitive, one_by_one
from ...core.reach.session import call_outside
from ...core.spec import Spec
from .motion import Described


class Following(Described):
    """found(*xs, **static) is SciPy's value, program(*xs, **static) the same written with NumPy.

    Of the program only the derivative counts; shape(*xs, **static) is the shape of the result.
    """

    made_of = ("found", "program")

    def spec(self, *xs, **static):
        dtype = np.result_type(*[x.dtype for x in xs])
        return Spec(self.shape(*xs, **static), dtype if dtype.kind in "fc" else np.float64)

    def value(self, *xs, **static):
        return np.array(call_outside(self.found, xs, static))[()]


def in_doubles(*xs: Any, **_: Any) -> bool:
    """Whether all operands are real numbers in double precision, which SciPy computes with."""
    return all(x.dtype == np.float64 for x in xs)


class Chosen(Primitive):
    """Indices that SciPy's call found(*xs, **static) finds; shape(*specs, **static) is theirs."""

    constant = True
    reads = ""
    made_of = ("found",)

    def __init__(self, name: str, found: Callable[..., Any], shape: Callable[..., Any]) -> None:
        self.found, self.shape = found, shape
        super().__init__(name)

    def spec(self, *xs, **static):
        return Spec(self.shape(*xs, **static), np.intp)

    def batch(self, xs, mapped, size, **static):
        return one_by_one(self, xs, mapped, size, static)

    def value(self, *xs, **static):
        return np.array(call_outside(self.found, xs, static), np.intp)[()]

    def jvp(self, out, xs, x_dots, **static):
        return None

    def vjp(self, out_bar, residual, wanted):
        return [None] * len(wanted)
