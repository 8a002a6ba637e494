"""A `numpy.matrix` of numbers with derivatives, the result of sums of sparse matrices.

Its operations are those of `numpy.matrix`: `*` multiplies matrices, and all results have two
dimensions. Other operations are refused; `np.asarray(m)` is the array.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import linalg as ssl
from scipy.sparse._base import _spbase
from scipy.sparse._compressed import _cs_matrix
from scipy.sparse._dia import _dia_base

from ...core.array import Array
from ...core.errors import ConversionError, MissingRuleError
from ...core.operands import DEFERS, as_array
from ...core.reach.call_tables import CALLS
from ...core.reach.session import call_outside
from ...core.tree import RESULTS
from ...numpy.creation import AS_ARRAY
from ...primitives.statistics import root
from ..solving.serving import serves, serves_method, traced
from .kept_zeros import moves
from .patterns import is_live

OF_ALL = np.ravel, np.shape, np.ndim, np.size


def array_of(x: Any) -> Any:
    return x.array if type(x) is TracedMatrix else x


def two(x: Any) -> Any:
    """An operand as a matrix has it: a vector is a row."""
    x = as_array(array_of(x))
    return x if x.ndim == 2 else np.reshape(x, (1, -1))


class TracedMatrix:
    """A `numpy.matrix` of an Array: it has two axes, and `*` multiplies matrices."""

    def __init__(self, array: Any) -> None:
        self.array = two(array)

    __class__ = property(lambda self: np.matrix)  # as SciPy asks

    A = property(lambda self: self.array)
    A1 = flat = property(lambda self: np.ravel(self.array))
    T = property(lambda self: TracedMatrix(np.transpose(self.array)))
    shape = property(lambda self: self.array.shape)
    ndim = property(lambda self: 2)
    size = property(lambda self: self.array.size)
    dtype = property(lambda self: self.array.dtype)

    def getA(self) -> Any:
        return self.A

    def getA1(self) -> Any:
        return self.A1

    def transpose(self) -> TracedMatrix:
        return self.T

    def flatten(self, order: Any = "C") -> TracedMatrix:
        return TracedMatrix(self.array.flatten(order))

    def ravel(self, order: Any = "C") -> TracedMatrix:
        return TracedMatrix(np.ravel(self.array, order))

    def squeeze(self, axis: Any = None) -> TracedMatrix:
        return TracedMatrix(np.squeeze(self.array, axis))  # a vector is a row

    def reshape(self, *shape: Any, order: Any = "C") -> TracedMatrix:
        return TracedMatrix(self.array.reshape(*shape, order=order))

    def astype(self, dtype: Any, **options: Any) -> TracedMatrix:
        return TracedMatrix(self.array.astype(dtype, **options))

    def copy(self) -> TracedMatrix:
        return TracedMatrix(self.array.copy())

    def item(self, *at: Any) -> Any:
        return self.array.item(*at)

    def sum(self, axis: Any = None) -> Any:
        return self.reduced(np.sum, axis)

    def mean(self, axis: Any = None) -> Any:
        return self.reduced(np.mean, axis)

    def max(self, axis: Any = None) -> Any:
        return self.reduced(np.max, axis)

    def min(self, axis: Any = None) -> Any:
        return self.reduced(np.min, axis)

    def reduced(self, reduction: Any, axis: Any) -> Any:
        if axis is None:
            return reduction(self.array)
        return TracedMatrix(reduction(self.array, axis=axis, keepdims=True))

    def __len__(self) -> int:
        return int(self.array.shape[0])

    def __getitem__(self, key: Any) -> Any:
        part = self.array[key]
        if np.ndim(part) == 0:
            return part
        column = type(key) is tuple and len(key) == 2 and np.ndim(part) == 1 and key[0] is not None
        column = column and isinstance(key[1], (int, np.integer))
        return TracedMatrix(np.reshape(part, (-1, 1)) if column else part)

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __neg__(self) -> TracedMatrix:
        return TracedMatrix(-self.array)

    def __add__(self, other: Any) -> TracedMatrix:
        return TracedMatrix(self.array + two(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> TracedMatrix:
        return TracedMatrix(self.array - two(other))

    def __rsub__(self, other: Any) -> TracedMatrix:
        return TracedMatrix(two(other) - self.array)

    def __mul__(self, other: Any) -> Any:
        if np.ndim(array_of(other)) == 0:
            return TracedMatrix(self.array * other)
        return TracedMatrix(self.array @ two(other))

    def __rmul__(self, other: Any) -> Any:
        if np.ndim(array_of(other)) == 0:
            return TracedMatrix(other * self.array)
        return TracedMatrix(two(other) @ self.array)

    def __pow__(self, power: Any) -> Any:
        return refuse("**")

    __matmul__, __rmatmul__ = __mul__, __rmul__

    def __truediv__(self, other: Any) -> TracedMatrix:
        return TracedMatrix(self.array / two(other))

    def __rtruediv__(self, other: Any) -> TracedMatrix:
        return TracedMatrix(two(other) / self.array)

    def __array__(self, *args: Any, **options: Any) -> Any:
        if is_live(self.array):
            raise ConversionError(
                "A `numpy.matrix` that is differentiated was converted by code that cannot keep"
                " its derivative.\n  Write `np.asarray(m)` for it in the function that is"
                " differentiated."
            )
        return np.asarray(self.array, *args, **options)

    def __array_ufunc__(self, ufunc: Any, method: str, *xs: Any, **options: Any) -> Any:
        if method != "__call__" or options or ufunc is np.matmul:
            refuse(f"numpy.{ufunc.__name__}")
        if ufunc is np.multiply:  # `x * m` comes this way as well, and is a product of matrices
            return (
                xs[0] * self if xs[1] is self and type(xs[0]) is not TracedMatrix else refuse("*")
            )
        return TracedMatrix(ufunc(*[two(x) if np.ndim(array_of(x)) else x for x in xs]))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function not in OF_ALL or type(args[0]) is not TracedMatrix:
            refuse(f"numpy.{function.__name__}")
        return function(args[0].array, *args[1:], **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(np.matrix, name):
            raise AttributeError(f"'matrix' object has no attribute '{name}'")
        return refuse(f"matrix.{name}")


def refuse(what: str) -> Any:
    raise MissingRuleError(
        f"`{what}` of a `numpy.matrix` has no derivative rule.\n"
        "  Write `np.asarray(m)` for the matrix, or use arrays such as `scipy.sparse.csr_array`."
    )


DEFERS.add(TracedMatrix)
RESULTS[TracedMatrix] = array_of
AS_ARRAY[TracedMatrix] = array_of


def dense_result(name: str, copies: bool) -> None:
    """How SciPy makes a dense result: an array, or a matrix of what is a sparse matrix."""
    of_scipy = getattr(_spbase, name).__func__
    plain = traced(of_scipy)

    @serves_method(of_scipy)
    def container(cls: Any, X: Any, **options: Any) -> Any:
        if issubclass(cls, sparse.sparray) or type(X) is not Array:
            return plain(cls, array_of(X), **options)
        X = X.astype(options.get("dtype") or X.dtype)
        return TracedMatrix(X.copy() if copies and options.get("copy") is not False else X)


dense_result("_ascontainer", False)
dense_result("_container", True)


# Sums, which SciPy writes into a matrix of zeros.


def summed(of_scipy: Any) -> None:
    plain = traced(of_scipy)

    @serves_method(of_scipy)
    def total(self: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        if not isinstance(self, sparse.spmatrix):
            return plain(self, axis, dtype, out)
        if not moves(self) and type(self.tocsr().data) is not Array:
            return call_outside(of_scipy, (self, axis, dtype, out), {})
        if out is not None:
            refuse("sum(out=...)")
        rows = self.tocsr()
        if axis is None:
            return np.sum(rows.data, dtype=dtype)
        axis = operator.index(axis[0] if type(axis) is tuple else axis) % 2
        ones = np.ones(rows.shape[axis], rows.dtype)
        sums = (rows.T @ ones if axis == 0 else rows @ ones).astype(dtype or rows.dtype)
        return TracedMatrix(sums if axis == 0 else np.reshape(sums, (-1, 1)))


for kind in (_spbase, _cs_matrix, _dia_base):
    summed(kind.sum)


# Norms of rows and columns, which have a kink where all entries are zero.

norm_of_scipy = traced(ssl.norm)


@serves(ssl.norm)
def norm(x: Any, ord: Any = None, axis: Any = None) -> Any:
    axes = axis if isinstance(axis, tuple) else (axis,)
    if ord not in (None, 2) or axis is None or len(axes) > 1 or not sparse.issparse(x):
        return norm_of_scipy(x, ord, axis)
    total = CALLS[abs(x).power(2).sum](axis=operator.index(axes[0]))
    return root(np.ravel(as_array(array_of(total))))
