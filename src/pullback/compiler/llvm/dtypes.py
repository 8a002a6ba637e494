"""The dtypes that machine code computes with, under LLVM's names, and those that it only holds."""

import numpy as np

__all__ = ["HELD", "TYPES"]

TYPES = {
    **{np.dtype(t): name for t, name in ((np.float64, "double"), (np.float32, "float"))},
    **{np.dtype(f"{kind}{size}"): f"i{8 * size}" for kind in "iu" for size in (1, 2, 4, 8)},
    np.dtype(bool): "i1",
}
HELD = frozenset([*TYPES, np.dtype(np.complex64), np.dtype(np.complex128)])
