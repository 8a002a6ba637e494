"""The dtypes that machine code computes with, under LLVM's names."""

import numpy as np

TYPES = {
    **{np.dtype(t): name for t, name in ((np.float64, "double"), (np.float32, "float"))},
    **{np.dtype(f"{kind}{size}"): f"i{8 * size}" for kind in "iu" for size in (1, 2, 4, 8)},
    np.dtype(bool): "i1",
    # In memory; in registers the parts are apart.
    **{
        np.dtype(t): f"<2 x {part}>"
        for t, part in ((np.complex128, "double"), (np.complex64, "float"))
    },
}


def part_of(dtype: np.dtype) -> np.dtype:
    """The dtype of the real and imaginary parts of complex numbers."""
    return np.dtype(f"f{dtype.itemsize // 2}")
