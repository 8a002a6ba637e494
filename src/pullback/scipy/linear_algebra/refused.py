"""Functions without a derivative here, and what to write instead."""

from __future__ import annotations

from scipy import linalg as sl

from ..solving.serving import refuses

refuses(
    "multiplies with a random matrix in compiled code",
    "Multiply with a random matrix that NumPy draws",
    sl.clarkson_woodruff_transform,
)
