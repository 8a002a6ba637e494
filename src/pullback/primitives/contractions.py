"""Products of arrays: matmul, dot, tensordot and others, all built on `matmul_p` and `einsum_p`."""

from __future__ import annotations

import operator
from functools import lru_cache
from math import prod

import numpy as np

from ..core.dispatch import cast
from ..core.errors import ShapeError
from ..core.operands import binary
from ..core.out import into_out
from ..core.registry import UFUNCS, refuse, replaces
from ..core.scalars import of_numpy
from .arguments import as_array, axis_of
from .einsum import of_vectors
from .matmul import check_lengths, column, matmul_p, row
from .shapes import laid, reshape_p, transpose_p


def flat(x):
    return x if x.ndim == 1 else x.reshape((x.size,))


def conjugate(x):
    return np.conjugate(x) if x.dtype.kind == "c" else x


def gufunc(ufunc, core, product):
    """Let product(x1, x2), on the last axes, answer for a ufunc with these numbers of core axes."""
    name = f"numpy.{ufunc.__name__}"

    @replaces(ufunc)
    def implementation(
        x1, x2, /, *, axes=None, axis=None, keepdims=False, dtype=None, casting="same_kind",
        signature=None,
    ):  # fmt: skip
        xs = [as_array(x1), as_array(x2)]
        if dtype is not None:
            signature = (None, None, np.dtype(dtype))
        if signature is not None:
            dtypes = loop(ufunc, xs, signature, casting)
            xs = [cast(x, d, casting, ufunc) for x, d in zip(xs, dtypes, strict=True)]
        if axes is None and axis is None and keepdims is False:
            return product(*xs)
        counts = [min(n, x.ndim) for n, x in zip(core, xs, strict=True)]
        counts.append(sum(counts) - 2)
        if core == (1, 1):
            counts[2] = int(keepdims)
            if axes is None:
                axes = [-1 if axis is None else axis] * 3
        axes = axes_of(axes, counts, name)
        xs = [np.moveaxis(x, at, last(at)) for x, at in zip(xs, axes[:2], strict=True)]
        out = column(product(*xs)) if keepdims else product(*xs)
        return np.moveaxis(out, last(axes[2]), axes[2])

    implementation.plain = product  # of two arrays, without keywords
    return implementation


def loop(ufunc, xs, signature, casting):
    """The dtypes in which a loop takes its operands."""
    if isinstance(signature, str):
        signature = tuple([np.dtype(code) for code in signature.replace("->", "")])
    given = (*[x.dtype for x in xs], None)
    *dtypes, _ = ufunc.resolve_dtypes(given, signature=signature, casting=casting)
    return dtypes


def last(axes):
    return tuple(range(-len(axes), 0))


def axes_of(axes, counts, name):
    """The argument `axes` as one tuple for each operand and one for the result."""
    axes = [tuple(at) if np.ndim(at) else (operator.index(at),) for at in axes]
    if len(axes) == 2 and name == "numpy.vecdot":
        axes.append((-1,))
    if counts[2] == 0:
        axes[2:] = [()]
    return axes


def vectors(x1, x2):
    if x1.ndim == x2.ndim == 1:
        return matmul_p(conjugate(x1), x2)
    if x1.ndim and x2.ndim:
        check_lengths(x1, x2)
    return of_vectors(conjugate(x1), x2)


def check_axes(x, n, name):
    """Raise for an operand of a ufunc of whole arrays that has fewer axes than it takes."""
    if x.ndim < n:
        raise ShapeError(f"`numpy.{name}` takes an operand of {n} axes or more, but got {x.shape}.")


def matrix_vector(x1, x2):
    check_axes(x1, 2, "matvec")
    check_axes(x2, 1, "matvec")
    if x2.ndim == 1:
        return matmul_p(x1, x2)
    out = matmul_p(x1, column(x2))
    return np.reshape(out, out.shape[:-1])


def vector_matrix(x1, x2):
    check_axes(x1, 1, "vecmat")
    check_axes(x2, 2, "vecmat")
    x1 = conjugate(x1)
    if x1.ndim == 1:
        return matmul_p(x1, x2)
    out = matmul_p(row(x1), x2)
    return np.reshape(out, (*out.shape[:-2], out.shape[-1]))


matmul = gufunc(np.matmul, (2, 2), matmul_p)
vecdot = gufunc(np.vecdot, (1, 1), vectors)
if hasattr(np, "matvec"):  # NumPy 2.2
    matvec = gufunc(np.matvec, (2, 1), matrix_vector)
    vecmat = gufunc(np.vecmat, (1, 2), vector_matrix)


@replaces(np.linalg.matmul)
def linalg_matmul(x1, x2, /):
    return matmul(x1, x2)


@replaces(np.linalg.vecdot)
def linalg_vecdot(x1, x2, /, *, axis=-1):
    return vecdot(x1, x2, axis=axis)


@replaces(np.dot)
def dot(a, b, out=None):
    if out is not None:
        refuse("numpy.dot", out=out)
    a, b = [of_numpy(as_array(x)) for x in (a, b)]
    n, m = a.ndim, b.ndim
    if n == 0 or m == 0:
        return laid(a * b, "C")
    if n == 1 or m < 3:
        return matmul_p(a, b)
    axes = (n - 1,), (m - 2,)
    check_contracted(a, b, *axes)
    return contracted(a, b, *axes)


@replaces(np.vdot)
def vdot(a, b, /):
    return matmul_p(flat(conjugate(as_array(a))), flat(as_array(b)))


@replaces(np.inner)
def inner(a, b, /):
    a, b = [of_numpy(as_array(x)) for x in (a, b)]
    if a.ndim == 0 or b.ndim == 0:
        return laid(a * b, "C")
    if b.ndim == 1:
        return matmul_p(a, b)
    return matmul_p(a, b.T) if b.ndim == 2 else tensordot(a, b, ((-1,), (-1,)))


@replaces(np.outer)
@into_out(broadcasts=True)
def outer(a, b, out=None):
    if out is not None:
        refuse("numpy.outer", out=out)
    a, b = flat(as_array(a)), flat(as_array(b))
    return binary(UFUNCS[np.multiply], column(a), b)


@replaces(np.linalg.outer)
def linalg_outer(x1, x2, /):
    x1, x2 = as_array(x1), as_array(x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ShapeError(
            f"`numpy.linalg.outer` takes two vectors, but got shapes {x1.shape} and {x2.shape}.\n"
            "  `numpy.outer` flattens its operands."
        )
    return outer(x1, x2)


@replaces(np.tensordot, np.linalg.tensordot)
def tensordot(a, b, axes=2):
    a, b = as_array(a), as_array(b)
    return contracted(a, b, *contracted_axes(axes, a, b))


def contracted(a, b, axes_a, axes_b):
    """A matrix product, of a with the contracted axes last and b with them first."""
    steps_a, steps_b, shape = contraction(a.shape, b.shape, axes_a, axes_b)
    for primitive, static in steps_a:
        a = primitive.of(a, static)
    for primitive, static in steps_b:
        b = primitive.of(b, static)
    return reshape_p.of(matmul_p(a, b), shape)


@lru_cache(maxsize=1024)
def contraction(shape_a, shape_b, axes_a, axes_b):
    """The steps that make matrices (or vectors) of two operands, and the shape of the result."""
    kept_a = tuple([axis for axis in range(len(shape_a)) if axis not in axes_a])
    kept_b = tuple([axis for axis in range(len(shape_b)) if axis not in axes_b])
    shape = tuple([shape_a[axis] for axis in kept_a] + [shape_b[axis] for axis in kept_b])
    return steps(shape_a, kept_a, axes_a), steps(shape_b, axes_b, kept_b), {"shape": shape}


def steps(shape, rows, columns):
    """The operations, with their static arguments, that make a matrix."""
    order, n, found = (*rows, *columns), len(rows), []
    if order != tuple(range(len(shape))):
        found.append((transpose_p, {"axes": order}))
    lengths = [shape[axis] for axis in order]
    if not n == 1 == len(order) - 1:
        found.append((reshape_p, {"shape": (prod(lengths[:n]), prod(lengths[n:]))}))
    return found


def contracted_axes(axes, a, b):
    try:
        axes_a, axes_b = axes
    except TypeError:
        axes_a, axes_b = range(a.ndim - axes, a.ndim), range(axes)
    both = []
    for x, own in ((a, axes_a), (b, axes_b)):
        own = own if hasattr(own, "__len__") else (own,)
        both.append(tuple([axis_of(int(i), x.ndim) for i in own]))
    check_contracted(a, b, *both)
    return both


def check_contracted(a, b, axes_a, axes_b):
    if [a.shape[i] for i in axes_a] != [b.shape[i] for i in axes_b]:
        raise ShapeError(
            f"`numpy.tensordot` was asked to contract axes {[*axes_a]} of shape {a.shape} with axes"
            f" {[*axes_b]} of shape {b.shape}, which differ in length."
        )


@replaces(np.kron)
def kron(a, b):
    a, b = as_array(a), as_array(b)
    ndim = max(a.ndim, b.ndim)
    shapes = [(1,) * (ndim - x.ndim) + x.shape for x in (a, b)]
    x = np.reshape(a, [n for size in shapes[0] for n in (size, 1)])
    y = np.reshape(b, [n for size in shapes[1] for n in (1, size)])
    return np.reshape(x * y, tuple([n * m for n, m in zip(*shapes, strict=True)]))


@replaces(np.linalg.multi_dot)
def multi_dot(arrays, *, out=None):
    """The products in the order that takes the fewest multiplications."""
    refuse("numpy.linalg.multi_dot", out=out)
    xs = [as_array(x) for x in arrays]
    if len(xs) < 2 or any(x.ndim != 2 for x in xs[1:-1]) or not {xs[0].ndim, xs[-1].ndim} <= {1, 2}:
        raise ShapeError(
            "`numpy.linalg.multi_dot` takes two or more matrices, of which the first and the last"
            f" may be vectors, but got shapes {[x.shape for x in xs]}."
        )
    rows = [1 if x.ndim == 1 else x.shape[0] for x in xs[:1]] + [x.shape[0] for x in xs[1:]]
    return multiply(
        xs, best_splits([*rows, 1 if xs[-1].ndim == 1 else xs[-1].shape[1]]), 0, len(xs)
    )


def best_splits(sizes):
    """For each part of a chain of matrices, sizes[i] by sizes[i + 1], where to split it."""
    n = len(sizes) - 1
    best = {(i, i + 1): (0, i) for i in range(n)}
    for width in range(2, n + 1):
        for i in range(n - width + 1):
            j = i + width
            best[i, j] = min(
                (best[i, k][0] + best[k, j][0] + sizes[i] * sizes[k] * sizes[j], k)
                for k in range(i + 1, j)
            )
    return {part: split for part, (_, split) in best.items()}


def multiply(xs, splits, i, j):
    if j == i + 1:
        return xs[i]
    k = splits[i, j]
    return matmul_p(multiply(xs, splits, i, k), multiply(xs, splits, k, j))
