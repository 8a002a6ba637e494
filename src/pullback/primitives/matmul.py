"""The matrix product, with its rules written for BLAS."""

from __future__ import annotations

from math import prod

import numpy as np
from numpy import ndarray

from ..core.cotangent import Cotangent, Masked, dense, folded
from ..core.errors import ArgumentError, ShapeError
from ..core.primitive import align
from ..core.rows import hastily, somewhere
from ..core.spec import Spec
from .einsum import of_vectors
from .partly import Contraction


def swap(x):
    return np.swapaxes(x, -1, -2)


def product(x, y):
    """x @ y, for matrices; an outer product is faster as a broadcast one."""
    return x * y if x.shape[-1] == 1 else x @ y


def times(x, y):
    """x @ y, of at most two axes each; of plain arrays, `dot` is the quicker way to BLAS."""
    return x.dot(y) if type(x) is ndarray is type(y) else x @ y


def compact(x):
    """x in memory of its own where it was broadcast: BLAS takes no stride of 0."""
    return x.copy() if type(x) is ndarray and 0 in x.strides else x


class Products(Cotangent):
    """A sum of products a.T @ b, which are made as one when the sum is complete.

    A matrix that is applied to one vector after another has an outer product from each: without
    this, each would be a matrix to write and to add. What is collected stays of the matrix's size.
    """

    __slots__ = ("base", "dtype", "pairs", "rank", "shape")
    lazy = True

    def __init__(self, a, b):
        self.pairs, self.rank, self.base = [(a, b)], a.shape[0], None
        self.shape, self.dtype = (a.shape[1], b.shape[1]), a.dtype

    def dense(self):
        """The sum, which is made once, however often it is asked for."""
        if self.pairs:
            if len(self.pairs) == 1:
                ((a, b),) = self.pairs
            else:
                a, b = [np.concatenate(parts) for parts in zip(*self.pairs, strict=True)]
            out = product(a.T, b)
            self.base = out if self.base is None else dense(self.base) + out
            self.pairs, self.rank = [], 0
        return dense(self.base)

    def __add__(self, other):
        out = object.__new__(Products)
        out.shape, out.dtype, out.base = self.shape, self.dtype, self.base
        out.pairs, out.rank = list(self.pairs), self.rank
        out += other
        return out

    __radd__ = __add__

    def __iadd__(self, other):
        if type(other) is Products:
            self.pairs += other.pairs
            self.rank += other.rank
            other = other.base
        if other is not None:
            self.base = other if self.base is None else self.base + other
        if self.rank > min(self.shape):
            self.dense()
        return self

    def __mul__(self, partial):
        return self.dense() * partial

    __rmul__ = __mul__

    def __truediv__(self, divisor):
        return self.dense() / divisor

    def __neg__(self):
        return -self.dense()


ARRAYS = {np.ndarray, np.float64}  # of vectors, the product is a number
PLAIN = {np.ndarray, Spec}


class Matmul(Contraction):
    """Matrix product of stacks: (..., m, k) @ (..., k, n) -> (..., m, n).

    A vector stands for a row on the left and for a column on the right, as in NumPy. Its rules are
    written out where BLAS has a call for it.
    """

    lower = "matmul"
    without_axes = "scalar"

    def value(self, x, y):
        return np.matmul(x, y)

    def spec(self, x, y):
        stack = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
        columns = y.shape[-1:] if y.ndim > 1 else ()
        return Spec((*stack, *x.shape[-2:-1], *columns), np.result_type(x.dtype, y.dtype))

    def pull(self, out_bar, residual, wanted):
        """Plain arrays of one dtype, the usual case, have cotangents that need not be fitted."""
        x, y = residual.xs
        whole = type(out_bar) is not Masked
        bar, pull = (out_bar, pull_plain) if whole else (out_bar.dense(), pull_product)
        if type(bar) in ARRAYS and type(x) in PLAIN and type(y) in PLAIN:
            dtype = bar.dtype
            if x.dtype is dtype and y.dtype is dtype:
                bar = compact(bar)
                x_bar = None if wanted[0] is None else pull(0, x, y, bar)
                y_bar = None if wanted[1] is None else pull(1, x, y, bar)
                if whole or hastily():
                    return x_bar, y_bar
        return super().pull(out_bar, residual, wanted)

    def transpose(self, i, xs, out_bar):
        return pull_product(i, *xs, compact(out_bar))

    def read_for(self, i, mask, xs, static):
        """Rows of x for rows, columns of y for columns."""
        own, other = xs[i], xs[1 - i]
        if own.ndim == 1:
            return somewhere(mask)
        axis = -2 if i else -1
        met = np.expand_dims(mask, axis) if other.ndim == 1 else somewhere(mask, (axis,))
        kept = (1, own.shape[-1]) if i else (own.shape[-2], 1)
        return folded(np.any, met, (*own.shape[:-2], *kept))

    def batch(self, xs, mapped, size):
        x, y = xs
        ranks = [np.ndim(z) - is_mapped for z, is_mapped in zip(xs, mapped, strict=True)]
        match ranks:
            case (0, _) | (_, 0):
                raise ArgumentError(
                    "`numpy.matmul` does not take operands without dimensions.\n  Write `x * y`."
                )
            case 1, 1:
                if all(mapped):
                    check_lengths(x, y)
                    return of_vectors(x, y)
                if is_quick(size, x.shape[-1]):
                    return of_vectors(*align(xs, mapped))
                return self(x, y) if mapped[0] else self(y, x)
            case 1, rank if mapped[0] and (mapped[1] or rank > 2):
                x, y = align((row(x), y), mapped)
                out = self(x, y)
                return np.reshape(out, (*out.shape[:-2], out.shape[-1]))
            case 2, 1 if not mapped[0] and not is_quick(size, prod(x.shape)):
                return self(y, swap(x))
            case 1, 2 if not mapped[1] and is_quick(size, prod(y.shape)):
                out = self(row(x), y)
                return np.reshape(out, (size, y.shape[1]))
            case _, 1 if mapped[1]:
                x, y = align((x, column(y)), mapped)
                out = self(x, y)
                return np.reshape(out, out.shape[:-1])
            case (1, _) | (_, 1):
                return self(x, y)
        return self(*align(xs, mapped))


def is_quick(size, n):
    """Whether to multiply each example with n numbers that all share by a call of BLAS of its own.

    These have the bits of a loop over the examples, which one product of the whole batch has not:
    what a solver makes of other last bits can be as large as its tolerance. A call costs as much as
    the product of about 256 numbers; larger batches would take two to six times as long.
    """
    return size * (n + 256) <= 2**17


def pull_plain(i, x, y, out_bar):
    bar = collected(i, x, y, out_bar) if prod((y if i else x).shape) > FEW else None
    return pull_product(i, x, y, out_bar) if bar is None else bar


def pull_product(i, x, y, out_bar):
    """The cotangent of x or y for one of their product, by the calls that BLAS has."""
    match x.ndim, y.ndim:
        case 2, 2:
            return times(out_bar, y.T) if i == 0 else times(x.T, out_bar)
        case 1, 1:
            return out_bar * (x if i else y)
        case 2, 1:
            return column(out_bar) * y if i == 0 else times(out_bar, x)
        case 1, 2:
            return times(y, out_bar) if i == 0 else column(x) * out_bar
    return pull_stack(i, x, y, out_bar)


FEW = 512  # elements: sums of products that are no larger are added as they come


def collected(i, x, y, out_bar):
    """The cotangent of a matrix that met vectors or few of them, None where it is not so."""
    match x.ndim, y.ndim:
        case 2, 1 if i == 0:
            return Products(out_bar[None], y[None])
        case 1, 2 if i == 1:
            return Products(x[None], out_bar[None])
        case 2, 2:
            (m, k), n = x.shape, y.shape[1]
            if i == 0 and 4 * n <= m and 4 * n <= k:
                return Products(out_bar.T, y.T)
            if i == 1 and 4 * m <= k and 4 * m <= n:
                return Products(x, out_bar)
    return None


def row(x):
    return x.reshape((*x.shape[:-1], 1, x.shape[-1]))


def column(x):
    return x.reshape((*x.shape, 1))


def check_lengths(x, y):
    """Raise where einsum, but no product of vectors, would broadcast."""
    if x.shape[-1] != y.shape[-1]:
        raise ShapeError(
            f"A product of vectors needs equal lengths, but got {x.shape[-1]} and {y.shape[-1]}."
        )


def pull_stack(i, x, y, out_bar):
    """The cotangent of operand i of a matrix product of stacks.

    Stack axes along which the operand was broadcast join the contracted axis, so that the sum over
    them is a part of the matrix product, and no stack is made that would have to be summed.
    """
    matrices = [x.shape, y.shape]
    if x.ndim == 1:
        out_bar, matrices[0] = row(out_bar), (1, *x.shape)
    if y.ndim == 1:
        out_bar, matrices[1] = column(out_bar), (*y.shape, 1)
    ndim = out_bar.ndim
    own, others = [(1,) * (ndim - len(shape)) + shape for shape in matrices][:: -1 if i else 1]
    other = np.reshape((y, x)[i], others)
    reduced = [axis for axis in range(ndim - 2) if own[axis] == 1 != out_bar.shape[axis]]
    if i == 0:
        x_bar = product(join(out_bar, reduced, ndim - 1), swap(join(other, reduced, ndim - 1)))
    else:
        x_bar = product(swap(join(other, reduced, ndim - 2)), join(out_bar, reduced, ndim - 2))
    return np.reshape(x_bar, (x, y)[i].shape)


def join(x, axes, into):
    """x with some axes of the stack merged into one of the two axes of its matrices."""
    if not axes:
        return x
    n = x.ndim
    order = [axis for axis in range(n) if axis not in axes]
    at = len(order) - n + into
    order[at:at] = axes
    shape = [x.shape[axis] for axis in order]
    shape[at : at + len(axes) + 1] = [prod(shape[at : at + len(axes) + 1])]
    return np.reshape(x if order == list(range(n)) else np.transpose(x, order), tuple(shape))


matmul_p = Matmul("matmul")
