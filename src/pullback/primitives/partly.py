"""Sums of products where only part of the cotangent is present: the rest stays out of the sum.

The gradient of `nansum(A @ x)` reads only the rows of A whose results were added. Setting the
cotangent of the other rows to zero would not do, since a NaN in such a row times zero is NaN.
"""

from __future__ import annotations

import numpy as np

from ..core.cotangent import Cotangent, dense, masked
from ..core.kinds import Multilinear
from ..core.rows import hastily, present_part
from .arguments import somewhere


def has_infinite(bars):
    """Whether cotangents have infinite elements or NaN: then so is their sum, or else too large."""
    total = sum(np.sum(x) for x in bars if x is not None and not isinstance(x, Cotangent))
    return somewhere(total - total != 0)


class Contraction(Multilinear):
    """Sums of products of one element of each operand, each with the coefficient 1."""

    def pull_part(self, out_bar, xs, wanted, static):
        bar = masked(out_bar, True)
        x_bars = self.pull_whole(bar.dense(), xs, wanted, static)
        if hastily():
            return x_bars
        if has_infinite(x_bars):
            x_bars = [
                self.of_present(i, x_bar, bar, xs, static) if want else None
                for i, (x_bar, want) in enumerate(zip(x_bars, wanted, strict=True))
            ]
        return present_part(self, bar, x_bars, xs, static, clean=True)

    def read_for(self, i, mask, xs, static):
        """What meets an element of the result that is there, whatever it is multiplied by."""
        ones = [np.ones(x.shape) for x in xs]
        return dense(self.transpose(i, ones, mask.astype(float), **static)) > 0.5

    def of_present(self, i, x_bar, bar, xs, static):
        """x_bar where something present met a number that is not finite; elsewhere without it."""
        others = [j for j in range(len(xs)) if j != i]
        finite = {j: np.isfinite(xs[j]) for j in others}
        clean = [np.where(finite[j], xs[j], 0) if j in finite else x for j, x in enumerate(xs)]
        met = 0
        for j in others:
            flags = [np.ones_like(x) if k in finite else x for k, x in enumerate(xs)]
            flags[j] = np.where(finite[j], 0, np.ones_like(xs[j]))
            met = met + self.transpose(i, flags, bar.mask.astype(bar.dtype), **static)
        return np.where(np.real(met) > 0.5, x_bar, self.transpose(i, clean, bar.dense(), **static))
