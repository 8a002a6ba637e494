"""Norms, and functions based on them: condition numbers and ranks."""

from __future__ import annotations

import math

import numpy as np

from ..core.array import Array
from ..core.errors import ArgumentError, ArgumentTypeError
from ..core.primitive import Primitive
from ..core.registry import replaces
from ..core.spec import DOUBLE, Spec, is_inexact
from .arguments import as_array, known, somewhere, strict_axes
from .elementwise import finite
from .kinks import at_kink
from .linalg import inverse_p
from .selecting import chosen
from .spectra import conj, real_of


class Norm(Primitive):
    """(sum |x|^ord)^(1/ord) over some axes; over several for ord 2 only.

    The gradient is x / out for ord 2. At zero, where the norm has a kink, it is 0.

    whole: over all axes of an example, which `numpy.linalg.norm` adds by BLAS.
    """

    lines, total = "axis", True

    def value(self, x, *, ord, axis, whole=False):
        if whole:
            if len(axis) < x.ndim:
                return norms_of_whole(x, axis)
            if type(x) is np.ndarray and x.dtype is DOUBLE:  # as NumPy has it, in half of the time
                x = x.ravel("K")
                return np.sqrt(x.dot(x))
            return np.linalg.norm(x)
        if len(axis) == 1:
            return np.linalg.norm(x, ord, axis[0])
        return np.linalg.norm(x, "fro", axis)

    def composed(self, x, *, ord, axis, whole=False):
        if ord == 2:  # it is taken apart as it is
            return NotImplemented
        total = np.sum(np.abs(x) ** ord, axis=axis)
        return total ** np.reciprocal(total.dtype.type(ord))

    def spec(self, x, *, ord, axis, whole=False):
        return Spec([n for i, n in enumerate(x.shape) if i not in axis], real_of(x.dtype))

    def jvp(self, out, xs, x_dots, *, ord, axis, whole=False):
        slope = self.slope(out, xs[0], ord, axis)[0]
        return np.sum(np.real(slope * x_dots[0]), axis=axis)

    def vjp(self, out_bar, residual, wanted):
        (x,), static, out = residual.xs, residual.static, residual.out
        if static["ord"] == 2 and x.dtype.kind == "f":
            if type(out) is np.float64 and 0 < out < math.inf:
                return (x / out * out_bar,)
            if type(out) is np.ndarray and out.size and out.min() > 0 and out.max() < math.inf:
                kept = tuple([1 if i in static["axis"] else n for i, n in enumerate(x.shape)])
                return (x / out.reshape(kept) * out_bar.reshape(kept),)
        slope, kept = self.slope(out, x, **static)
        return (np.reshape(out_bar, kept) * slope,)

    def slope(self, out, x, ord, axis, whole=False):
        """The partials, and the shape of out with the axes kept."""
        kept = tuple([1 if i in axis else n for i, n in enumerate(x.shape)])
        out = np.reshape(out, kept)
        if type(x) is np.ndarray is type(out) and x.dtype.kind == "f" and x.size:
            size = np.abs(x)
            if size.min() > 0 and out.min() > 0 and out.max() < math.inf:
                return x / size * (size / out) ** (ord - 1), kept
        zero = out == 0
        if type(x) is Array:
            at_kink("numpy.linalg.norm", "all elements are 0", zero, x)
        x, out = finite(x), np.where(zero, 1, finite(out))
        if ord == 2:
            return np.where(zero, 0, conj(x) / out), kept
        size = np.abs(x)
        zero = np.logical_or(zero, size == 0)
        size = np.where(zero, 1, size)
        return np.where(zero, 0, conj(x) / size * (size / out) ** (ord - 1)), kept

    def edge(self, x, *, ord, axis, whole=False):
        return np.sum(np.real(x * conj(x)), axis=axis)

    def batch(self, xs, mapped, size, *, ord, axis, whole=False):
        return self(xs[0], ord=ord, axis=tuple([i + 1 for i in axis]), whole=whole)


norm_p = Norm("norm")


def norms_of_whole(x, axis):
    """`norm(part)` for each part along the last axes: BLAS's sum of squares, in memory's order."""
    n = x.ndim - len(axis)
    last = sorted(range(n, x.ndim), key=lambda i: -abs(x.strides[i]))
    rows = np.transpose(x, (*range(n), *last)).reshape((*x.shape[:n], math.prod(x.shape[n:])))
    if x.dtype.kind == "c":
        return np.sqrt(np.vecdot(rows.real, rows.real) + np.vecdot(rows.imag, rows.imag))
    return np.sqrt(np.vecdot(rows, rows))


@replaces(np.linalg.norm)
def norm(x, ord=None, axis=None, keepdims=False):
    """`numpy.linalg.norm`. At a kink the gradient is an element of the generalised gradient."""
    x = as_array(x)
    if x.dtype.kind not in "fc":
        x = x.astype(float)
    ndim = x.ndim
    if axis is None and (
        ord is None
        or (ord in ("f", "fro") and ndim == 2)
        or (ndim == 1 and type(ord) is not Array and ord == 2)
    ):
        out = norm_p(x, ord=2, axis=tuple(range(ndim)), whole=True)
        return np.reshape(out, (1,) * ndim) if keepdims else out
    try:
        axes = strict_axes(int(axis) if isinstance(axis, (float, np.floating)) else axis, ndim)
    except TypeError as error:
        raise ArgumentTypeError(
            f"`numpy.linalg.norm` takes None, an int or a tuple of ints as axis, but got {axis!r}."
        ) from error
    if len(axes) == 1:
        out = vector_norm_of(x, ord, axes)
    elif len(axes) == 2:
        out = matrix_norm_of(x, ord, *axes)
    else:
        raise ArgumentError(
            f"`numpy.linalg.norm` takes one or two axes, but got {axis!r} of an array of {ndim}"
            " dimensions."
        )
    if keepdims:
        out = np.reshape(out, [1 if i in axes else n for i, n in enumerate(x.shape)])
    return out


def vector_norm_of(x, ord, axes):
    (axis,) = axes
    order, moves = known(ord), type(ord) is Array and is_inexact(ord.dtype)
    if moves and not somewhere(np.logical_or(np.isinf(order), order == 0)):
        return np.sum(np.abs(x) ** ord, axis=axis) ** (1 / ord)  # no formula of one order alone
    ord = order  # what is asked of a plain number is no search for a result
    if isinstance(ord, str):
        raise ArgumentError(f"`numpy.linalg.norm` has no order {ord!r} for vectors.")
    if ord is None or ord == 2:
        return norm_p(x, ord=2, axis=axes)
    if ord == math.inf:
        return np.max(np.abs(x), axis=axis, initial=0)
    if ord == -math.inf:
        return np.min(np.abs(x), axis=axis)
    if ord == 0:
        size = np.abs(x)
        return np.sum(np.where(x != 0, np.ones_like(size), np.zeros_like(size)), axis=axis)
    if ord == 1:
        return np.sum(np.abs(x), axis=axis)
    return norm_p(x, ord=float(ord), axis=axes)


def matrix_norm_of(x, ord, first, second):
    if ord in (None, "fro", "f"):
        return norm_p(x, ord=2, axis=(first, second))
    if ord in (1, -1, math.inf, -math.inf):
        if abs(ord) == math.inf:
            first, second = second, first
        sums = np.sum(np.abs(x), axis=first)
        axis = second - (second > first)
        return np.max(sums, axis=axis, initial=0) if ord > 0 else np.min(sums, axis=axis)
    if ord in (2, -2, "nuc"):
        order = [*[i for i in range(x.ndim) if i not in (first, second)], first, second]
        x = x if order == sorted(order) else np.transpose(x, order)
        s = np.linalg.svd(x, compute_uv=False)
        if ord == "nuc":
            return np.sum(s, axis=-1)
        return np.max(s, axis=-1, initial=0) if ord == 2 else np.min(s, axis=-1)
    raise ArgumentError(f"`numpy.linalg.norm` has no order {ord!r} for matrices.")


@replaces(np.linalg.matrix_norm)
def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    return norm(x, ord, (-2, -1), keepdims)


@replaces(np.linalg.vector_norm)
def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """`numpy.linalg.vector_norm`: several axes, or all, count as one long axis."""
    x = as_array(x)
    if isinstance(axis, (float, np.floating)):
        axis = int(axis)
    axes = strict_axes(axis, x.ndim)
    if len(axes) == 1:
        return norm(x, ord, axes[0], keepdims)
    rest = [i for i in range(x.ndim) if i not in axes]
    shape = [x.shape[i] for i in rest]
    out = norm(np.reshape(np.transpose(x, [*axes, *rest]), (-1, *shape)), ord, 0)
    return (
        np.reshape(out, [1 if i in axes else n for i, n in enumerate(x.shape)]) if keepdims else out
    )


@replaces(np.linalg.cond)
def cond(x, p=None):
    """`numpy.linalg.cond`: infinite for a singular matrix."""
    x = as_array(x)
    if 0 in x.shape[-2:]:
        raise np.linalg.LinAlgError("`numpy.linalg.cond` is not defined on empty arrays.")
    with np.errstate(all="ignore"):
        if p is None or p in (2, -2):
            s = np.linalg.svd(x, compute_uv=False)
            first, last = s[..., 0], s[..., -1]
            out = last / first if p == -2 else first / last
        else:
            out = norm(x, p, (-2, -1)) * norm(inverse_p(x, singular="nan"), p, (-2, -1))
        given = np.any(np.isnan(x), axis=(-2, -1))
        return chosen(np.logical_and(np.isnan(out), np.logical_not(given)), np.inf, out)


@replaces(np.linalg.matrix_rank)
def matrix_rank(A, tol=None, hermitian=False, *, rtol=None):
    """`numpy.linalg.matrix_rank`: a count, without derivative."""
    if rtol is not None and tol is not None:
        raise ArgumentError("`numpy.linalg.matrix_rank` takes `tol` or `rtol`, not both.")
    A = as_array(A)
    if A.ndim < 2:
        some = np.any(A != 0)
        return some.astype(int) if type(some) is Array else int(some)
    s = np.linalg.svd(A, compute_uv=False, hermitian=hermitian)
    if tol is None:
        rtol = max(A.shape[-2:]) * np.finfo(s.dtype).eps if rtol is None else last_axis(rtol)
        tol = np.max(s, axis=-1, keepdims=True, initial=0) * rtol
    else:
        tol = last_axis(tol)
    return np.count_nonzero(s > tol, axis=-1)


def last_axis(x):
    return as_array(x)[..., None]
