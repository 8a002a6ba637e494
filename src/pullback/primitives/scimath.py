"""`numpy.emath`: roots, logarithms and powers that become complex outside their real domain.

As in NumPy, the values decide whether they do, for the whole array at once.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ..core.registry import replaces
from .arguments import as_array

SINGLE = frozenset("fbhBHF")  # codes of dtypes that NumPy makes complex64, float16 not among them


def widened(x, outside):
    """x, as complex numbers if a function of real numbers is not defined at one of its elements."""
    x = as_array(x)
    if x.dtype.kind != "c" and np.any(outside(x)):
        return x.astype(np.complex64 if x.dtype.char in SINGLE else np.complex128)
    return x


def negative(x):
    return x < 0


def beyond_one(x):
    return np.abs(x) > 1


def extended(real, outside, x):
    return real(widened(x, outside))


for real in (np.sqrt, np.log, np.log2, np.log10):
    replaces(getattr(np.emath, real.__name__))(partial(extended, real, negative))
for real in (np.arccos, np.arcsin, np.arctanh):
    replaces(getattr(np.emath, real.__name__))(partial(extended, real, beyond_one))


@replaces(np.emath.logn)
def logn(n, x):
    return np.log(widened(x, negative)) / np.log(widened(n, negative))


@replaces(np.emath.power)
def power(x, p):
    x, p = widened(x, negative), as_array(p)
    if p.dtype.kind in "bi" and np.any(p < 0):
        p = np.multiply(p, 1.0)
    return np.power(x, p)
