"""Arrays as sets: the values decide which elements are common, distinct or missing.

The result consists of the elements themselves; of equal elements it has the first, as in `unique`.
"""

from __future__ import annotations

import numpy as np

from ..core.array import arrayed
from ..core.operands import as_array
from ..core.primitive import Primitive
from ..core.registry import replaces
from ..core.spec import Spec
from .arguments import arrays_of
from .keys import known


class Isin(Primitive):
    """For each element whether it is among others. A batch of these is gone through one by one."""

    constant = True

    def value(self, x, among, **how):
        return np.isin(x, among, **how)

    def spec(self, x, among, **how):
        return Spec(x.shape, bool)

    def batch(self, xs, mapped, size, **how):
        x, among = xs
        if not mapped[1]:
            return self(x, among, **how)
        x = x if mapped[0] else np.broadcast_to(x, (size, *x.shape))
        rows = [self(x[i], among[i], **how) for i in range(size)]
        return np.stack(rows) if rows else np.zeros_like(x, bool)


isin_p = Isin()


@replaces(np.isin)
def isin(element, test_elements, assume_unique=False, invert=False, *, kind=None):
    how = {"assume_unique": bool(assume_unique), "invert": bool(invert), "kind": kind}
    return arrayed(isin_p(*arrays_of((element, test_elements)), **how))


if hasattr(np, "in1d"):  # until NumPy 2.3

    @replaces(np.in1d)
    def in1d(ar1, ar2, assume_unique=False, invert=False, *, kind=None):
        ar1, ar2 = [np.ravel(x) for x in arrays_of((ar1, ar2))]
        return isin(ar1, ar2, assume_unique, invert, kind=kind)


def both(ar1, ar2, name):
    """Both arrays in one vector, and the plain values of each."""
    ar1, ar2 = [np.ravel(x) for x in arrays_of((ar1, ar2))]
    return np.concatenate([ar1, ar2]), known(ar1, name), known(ar2, name)


def distinct(values, assume_unique):
    """Where the elements that count are: all, or the first of those that are equal."""
    if assume_unique:
        return np.arange(values.size)
    return np.unique(values, return_index=True)[1]


@replaces(np.union1d)
def union1d(ar1, ar2):
    for x in arrays_of((ar1, ar2)):
        known(x, "numpy.union1d(x, y)")  # refuses mapped values
    weak = int, float, complex  # numbers take the dtype of the other
    xs = [x if isinstance(x, weak) else as_array(x) for x in (ar1, ar2)]
    return np.unique(np.concatenate(xs, axis=None))


@replaces(np.intersect1d)
def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    x, *values = both(ar1, ar2, "numpy.intersect1d(x, y)")
    _, index1, index2 = np.intersect1d(*values, bool(assume_unique), return_indices=True)
    out = np.take(x, index1)
    return (out, index1, index2) if return_indices else out


@replaces(np.setxor1d)
def setxor1d(ar1, ar2, assume_unique=False):
    x, values1, values2 = both(ar1, ar2, "numpy.setxor1d(x, y)")
    index = np.concatenate(
        [distinct(values1, assume_unique), values1.size + distinct(values2, assume_unique)]
    )
    values = np.concatenate([values1, values2])[index]
    order = np.argsort(values, kind="stable")
    new = np.concatenate([[True], values[order][1:] != values[order][:-1], [True]])
    alone = (new[1:] & new[:-1])[: values.size]
    return np.take(x, index[order][alone])


@replaces(np.setdiff1d)
def setdiff1d(ar1, ar2, assume_unique=False):
    x, values1, values2 = both(ar1, ar2, "numpy.setdiff1d(x, y)")
    index = distinct(values1, assume_unique)
    index = index[np.isin(values1[index], values2, invert=True)]
    if values1.dtype.kind not in "fc":
        return np.take(np.ravel(as_array(ar1)), index)
    own = np.take(x[: values1.size], index)  # which elements there are, both arrays decide
    own = np.real(own) if values1.dtype.kind == "f" else own
    return own.astype(values1.dtype, copy=False)
