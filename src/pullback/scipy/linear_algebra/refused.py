"""Functions without a derivative here, and what to write instead."""

from __future__ import annotations

from scipy import linalg as sl

from ..solving.serving import refuses

__all__ = []

refuses(
    "gives the angles and factors of a decomposition with no rule",
    "Use `scipy.linalg.subspace_angles`, or the singular values of the blocks",
    sl.cossin,
)
refuses(
    "multiplies with a random matrix in compiled code",
    "Multiply with a random matrix that NumPy draws",
    sl.clarkson_woodruff_transform,
)
refuses(
    "updates given factors in compiled code",
    "Factorise the changed matrix, `scipy.linalg.qr(q @ r + np.outer(u, v))`",
    sl.qr_delete,
    sl.qr_insert,
    sl.qr_update,
)
