"""Rules for SciPy code that can't be traced, from a NumPy program that computes the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.cotangent import Cotangent, masked
from ...core.primitive import Primitive, one_by_one
from ...core.reach.session import call_outside
from ...core.rows import present_part
from ...core.spec import spec_of
from ...transforms.of_program import pulled, pushed


def scalars(out: Any) -> Any:
    """Results in which arrays without axes are NumPy's numbers."""
    if type(out) is tuple:
        return tuple([x if x.ndim else x[()] for x in out])
    return out if out.ndim else out[()]


class Described(Primitive):
    """The result of SciPy's compiled code, with rules from a NumPy program that computes the same.

    found(*xs, **static)     SciPy's result, an array or a tuple of n_out arrays
    program(*xs, **static)   the same to rounding; of several results those that are floating,
                             which come first
    shape(*specs, **static)  the spec of the result, or a tuple of specs
    linear                   the operands in which it is linear together, if there are such
    rows                     the operands whose lines along `axis`, a static argument, are
                             independent; a batch of these is one call
    same_bits(*xs, **static) whether the program rounds as SciPy does and is worth machine code,
                             which then computes the result by it; never, if there is none
    """

    reads = "xs"
    structured = True

    def __init__(
        self,
        name: str,
        found: Callable[..., Any],
        program: Callable[..., Any],
        shape: Callable[..., Any],
        n_out: int | None = None,
        nondiff: tuple[int, ...] = (),
        linear: tuple[int, ...] = (),
        rows: tuple[int, ...] = (),
        same_bits: Callable[..., bool] | None = None,
    ) -> None:
        self.found, self.program, self.shape = found, program, shape
        self.n_out, self.nondiff, self.linear, self.rows = n_out, nondiff, linear, rows
        self.same_bits: Any = same_bits
        self.composed = self.by_program if same_bits else None
        super().__init__(name)

    def value(self, *xs, **static):
        # Compiled code may read memory as it lies, and SciPy's Python gave it as it should.
        return scalars(call_outside(self.found, [np.asarray(x, order="C") for x in xs], static))

    def by_program(self, *xs, **static):
        """`composed`, where the program rounds as SciPy does."""
        if not self.same_bits(*xs, **static):
            return NotImplemented
        out, spec = self.program(*xs, **static), self.spec(*map(spec_of, xs), **static)
        if type(out) is tuple:
            return tuple([x.astype(s.dtype) for x, s in zip(out, spec, strict=True)])
        return out.astype(spec.dtype)

    def spec(self, *xs, **static):
        return self.shape(*xs, **static)

    def jvp(self, out, xs, x_dots, **static):
        moving = [i for i, dot in enumerate(x_dots) if dot is not None]
        if set(moving) <= set(self.linear):
            dots = [
                np.zeros_like(x) if i in self.linear and dot is None else x if dot is None else dot
                for i, (x, dot) in enumerate(zip(xs, x_dots, strict=True))
            ]
            return self(*dots, **static)
        program = lambda *moving: self.program(*moving, **static)
        return pushed(program, xs, x_dots, self.n_out)

    def vjp(self, out_bar, residual, wanted):
        xs, static = residual.xs, residual.static
        program = lambda *moving: self.program(*moving, **static)
        if not isinstance(out_bar, Cotangent):
            return pulled(program, xs, wanted, out_bar)
        bar = masked(out_bar, True)
        present = lambda *moving: np.where(bar.mask, program(*moving), 0)
        return present_part(self, bar, pulled(present, xs, wanted, bar.dense()), xs, static)

    def read_for(self, i, mask, xs, static):
        if i in self.rows:
            return np.any(mask, axis=static["axis"], keepdims=True)
        return super().read_for(i, mask, xs, static)

    def batch(self, xs, mapped, size, **static):
        if self.rows and self.rows == tuple([i for i, m in enumerate(mapped) if m]):
            return self(*xs, **{**static, "axis": static["axis"] + 1})
        return one_by_one(self, xs, mapped, size, static)
