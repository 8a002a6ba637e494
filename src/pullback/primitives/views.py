"""`x.view`: the same memory as another class, as another dtype, or as pairs of real numbers.

A view of complex numbers as real ones, or of pairs as complex numbers, is a copy. NumPy's would
share its memory, so neither may be assigned into while the program holds the other.
"""

from __future__ import annotations

import builtins

import numpy as np
from numpy import ndarray

from ..core.array import Array
from ..core.errors import ArgumentTypeError, MissingRuleError, name_of
from ..core.instances import derives, viewed
from ..core.storage import lend, root_of
from .masked import without_mask
from .parts import of_parts_p

REALS = {np.dtype(complex): np.dtype(float), np.dtype("c8"): np.dtype("f4")}


def view(self, dtype=None, type=None, *sizes):
    """A view of all; other dtypes than those of parts would read its bits, without a derivative."""
    if isinstance(dtype, builtins.type) and issubclass(dtype, ndarray):
        dtype, type = None, dtype  # given by position
    if sizes or isinstance(dtype, (int, np.integer)):  # as PyTorch's `x.view(3, -1)`
        shape = [str(size) for size in (dtype, type, *sizes) if size is not None]
        raise ArgumentTypeError(
            f"`x.view` takes a dtype, but got {len(shape)} numbers.\n"
            f"  Write `x.reshape({', '.join(shape)})`."
        )
    if not without_mask(self, type) or (dtype is not None and np.dtype(dtype) != self.dtype):
        if derives(type, ndarray) and dtype in (None, self.dtype):
            return viewed(self[...], type, self)
        if not self.within.live:
            copy = np.asarray(self)
            lend(self, copy, "x.view(dtype)")
            out = copy.view(*[x for x in (dtype, type) if x is not None])
            out.flags.writeable = False  # the Array would not hear of what is written here
            return out
        if type in (None, ndarray) and pairs(self.dtype, np.dtype(dtype)):
            return as_parts(self, np.dtype(dtype))
        raise MissingRuleError(
            f"`x.view({name_of(type)})` has no derivative.\n  Let the class keep `self.value = x`."
            if type not in (None, ndarray)
            else "`x.view` to another dtype reads the bits, and has no derivative.\n"
            "  Write `x.astype(dtype)` to convert the numbers, or `x.real` and `x.imag` for parts."
        )
    return self[...]


def pairs(dtype, other):
    """Whether one dtype is of complex numbers, and the other of their parts."""
    return (dtype in REALS and REALS[dtype] == other) or (other in REALS and REALS[other] == dtype)


def as_parts(x, dtype):
    """Complex numbers as real ones, the real part before the imaginary one; or the other way."""
    np.empty(x.shape[-1:], x.dtype).view(dtype)  # NumPy's own error
    if dtype.kind == "c":
        out = np.astype(of_parts_p(x[..., ::2], x[..., 1::2]), dtype)
    else:
        parts = np.stack([x.real, x.imag], axis=-1)
        out = np.copy(np.reshape(parts, (*x.shape[:-1], 2 * x.shape[-1])))
    if builtins.type(out) is Array:
        lend(x, out, "x.view(dtype)")
        lend(out, root_of(x), "x.view(dtype)")
    return out
