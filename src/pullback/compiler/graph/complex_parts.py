"""Products of complex matrices, as four of real ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.graph import Variable
from ...core.spec import Spec
from ...core.traits import Traits
from ...primitives.elementwise import add, subtract
from ...primitives.parts import imag_p, real_p
from .rewriting import NewEquations, spec_in


class Joined(Traits):
    """Complex numbers of their real and imaginary parts."""

    n_out = None
    without_axes = "scalar"
    lower = "joined"

    def __repr__(self) -> str:
        return "joined"

    def spec(self, re: Spec, im: Spec) -> Spec:
        return Spec(re.shape, np.result_type(re.dtype, np.complex64))

    def __call__(self, re: Any, im: Any) -> Any:
        out = np.empty(np.shape(re), np.result_type(re.dtype, np.complex64))
        out.real, out.imag = re, im
        return out[()]


joined_p = Joined()


def product_by_parts(
    steps: NewEquations, primitive: Any, x: Any, y: Any, **static: Any
) -> Variable:
    """A product that is linear in each of two operands; of complex ones by their parts."""
    if spec_in(x).dtype.kind != "c":
        return steps.apply(primitive, x, y, **static)
    (a, b), (c, d) = [[steps.apply(part, z) for part in (real_p, imag_p)] for z in (x, y)]

    def product(u: Any, v: Any) -> Variable:
        return steps.apply(primitive, u, v, **static)

    re = steps.apply(subtract, product(a, c), product(b, d))
    im = steps.apply(add, product(a, d), product(b, c))
    return steps.apply(joined_p, re, im)
