"""When arrays of indices name a place several times: which of the numbers written to it stays."""

import numpy as np

from ..core.array import Array
from ..core.cotangent import masked
from ..core.layout import layout
from ..core.primitive import Primitive, align
from ..core.spec import Spec, spec_of
from .indexing import getitem_p
from .keys import INDEX, block


class Latest(Primitive):
    """Where a place is written to for the last time, of all places that arrays of indices name."""

    constant = True

    def value(self, *arrays, dims):
        arrays = np.broadcast_arrays(*[i % n for i, n in zip(arrays, dims, strict=True)])
        places = np.ravel_multi_index(arrays, dims).ravel()
        mask = np.zeros(places.size, bool)
        mask[places.size - 1 - np.unique(places[::-1], return_index=True)[1]] = True
        return mask.reshape(arrays[0].shape)

    def spec(self, *arrays, dims):
        return Spec(np.broadcast_shapes(*[i.shape for i in arrays]), bool)

    def batch(self, arrays, mapped, size, *, dims):
        arrays = align(arrays, mapped)
        rows = np.reshape(np.arange(size), (size,) + (1,) * (max([i.ndim for i in arrays]) - 1))
        return self(rows, *arrays, dims=(size, *dims))


latest_p = Latest("latest")


def latest(spec, key, arrays):
    """Of what is written at a key with arrays, the mask of what stays: an index may come again."""
    if all(i.size == 1 for i in arrays):
        return True
    dims, axis = [], 0
    for k in key:
        if k is INDEX:
            dims.append(spec.shape[axis])
        axis += k is not None and k is not Ellipsis
    mask = latest_p(*arrays, dims=tuple(dims))
    if type(mask) is np.ndarray and mask.all():
        return True
    position, _ = block(key)
    n = len(getitem_p.spec(spec, *map(spec_of, arrays), key=key).shape)
    return np.reshape(mask, mask.shape + (1,) * (n - position - mask.ndim))


def picked(bar, mask):
    """The part of a cotangent at a mask."""
    return bar if mask is True else masked(bar, np.broadcast_to(mask, bar.shape))


def by_rows(arrays, v):
    """Arrays of indices and what is written at them, turned where all of them lie by columns.

    So NumPy goes through them, and of what is written twice to a place, the last stays.
    """
    if not arrays or not isinstance(v, (Array, np.ndarray)):
        return arrays, v
    n = v.ndim
    if n < 2 or any(type(i) is not np.ndarray or i.ndim != n or by_row(i) for i in arrays):
        return arrays, v
    if by_row(layout(v)):
        return arrays, v
    axes = tuple(range(n))[::-1]
    return [np.transpose(i, axes) for i in arrays], np.transpose(v, axes)


def by_row(x):
    """Whether x does not lie by columns, or by both."""
    return x.flags.c_contiguous or not x.flags.f_contiguous
