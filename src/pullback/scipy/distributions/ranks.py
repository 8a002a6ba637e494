"""Distributions of ranks: steps, of which SciPy keeps the numbers from one call to the next."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats._mannwhitneyu import _MWU

from ...core.reach import call_outside
from ..solving.plain import solve
from ..solving.serving import serves_method

__all__ = []

set_shapes_of_scipy, sf_of_scipy = _MWU.set_shapes, _MWU.sf


@serves_method(_MWU.set_shapes)
def set_shapes(self: Any, n1: Any, n2: Any) -> None:
    call_outside(set_shapes_of_scipy, (self, n1, n2), {})


@serves_method(_MWU.sf)
def sf(self: Any, k: Any) -> Any:
    """With plain values: an Array that is kept would outlive its transformation."""
    return solve(lambda values: sf_of_scipy(self, values.tree(k))).of(np.asarray)[()]
