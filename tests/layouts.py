"""Ways in which an array can lie in memory, and what NumPy lets a program see of them."""

from itertools import pairwise

import numpy as np

__all__ = ["LAYOUTS", "lay", "memory_of", "seen"]


def in_order(axes):
    """Lay out the trailing axes of a stack of examples in another order."""

    def place(x, n):
        order = (*range(x.ndim - n), *[x.ndim - n + axis for axis in axes(n)])
        return np.array(x.transpose(order), order="C").transpose(np.argsort(order))

    return place


def steps(step):
    """Lay out the trailing axes with a stride of `step` elements, within an array of their own."""

    def place(x, n):
        lead = x.ndim - n
        room = np.zeros((*x.shape[:lead], *[abs(step) * k for k in x.shape[lead:]]), x.dtype)
        out = room[(..., *[slice(None, None, step)] * n)]
        out[...] = x
        return out

    return place


def repeated(x, n):
    """The first entry along the first axis, repeated without copies."""
    key = (*[slice(None)] * (x.ndim - n), slice(0, 1))
    return np.broadcast_to(x[key].copy(), x.shape) if n and x.shape[-n] else x.copy()


def swapped(x, n):
    return x.astype(x.dtype.newbyteorder(">" if np.little_endian else "<"))


# Each takes an array and the number of its trailing axes to be laid out.
LAYOUTS = {
    "C": in_order(lambda n: range(n)),
    "F": in_order(lambda n: range(n)[::-1]),
    "rolled": in_order(lambda n: (*range(n)[1:], *range(n)[:1])),
    "negative": steps(-1),
    "spread": steps(2),
    "broadcast": repeated,
    "swapped": swapped,
}


def lay(x, layout, batch=0):
    """An array laid out anew, or each example of a batch of arrays; numbers stay what they are."""
    if not isinstance(x, np.ndarray) or x.ndim <= batch or x.dtype.kind not in "biufc":
        return x
    return LAYOUTS[layout](x, x.ndim - batch)


def seen(x):
    """What decides between views and copies, and in which order elements are read.

    Strides alone say too much: an axis of length 1 may have any, and a copy may lie closer
    together than what it was made from.
    """
    c, f = x.flags.c_contiguous, x.flags.f_contiguous
    if not x.size:
        return x.dtype, c, f
    axes = [(n, s) for n, s in zip(x.shape, x.strides, strict=True) if n > 1]
    order = sorted(range(len(axes)), key=lambda i: -abs(axes[i][1]))
    signs = [np.sign(s) for _, s in axes]
    dense = [s == n * t for (_, s), (n, t) in pairwise(axes)]
    return x.dtype, c, f, order, signs, dense


def memory_of(x):
    """The dtype of a result, and the order of its axes in memory, without its gaps."""
    if not x.size:
        return x.dtype, None
    axes = sorted([i for i in range(x.ndim) if x.shape[i] > 1], key=lambda i: -abs(x.strides[i]))
    return x.dtype, axes
