"""NumPy under autograd's name: the same functions, which pullback differentiates as they are.

A few differ, as autograd's do: `concatenate`, `stack` and their kin take iterators, `where` takes
keywords, and `make_diagonal` is added.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from typing import Any

import numpy
from numpy import *

from ...core.array import Array
from ...core.reach.calls import call_inside
from . import fft, linalg, random  # noqa: F401  # submodules, as autograd has them


def __getattr__(name: str) -> Any:
    return getattr(numpy, name)


def vstack(tup: Iterable[Any], **keywords: Any) -> Any:
    """`numpy.vstack`, of iterators as well."""
    return numpy.vstack(list(tup), **keywords)


def stack(arrays: Iterable[Any], axis: int = 0, **keywords: Any) -> Any:
    """`numpy.stack`, of iterators as well."""
    return numpy.stack(list(arrays), axis, **keywords)


def dstack(tup: Iterable[Any]) -> Any:
    """`numpy.dstack`, of iterators as well."""
    return numpy.dstack(list(tup))


def hstack(tup: Iterable[Any], **keywords: Any) -> Any:
    """`numpy.hstack`, of iterators as well."""
    return numpy.hstack(list(tup), **keywords)


def column_stack(tup: Iterable[Any]) -> Any:
    """`numpy.column_stack`, of iterators as well."""
    return numpy.column_stack(list(tup))


def concatenate(arr_list: Iterable[Any], axis: int | None = 0, **keywords: Any) -> Any:
    """`numpy.concatenate`, of iterators as well."""
    return numpy.concatenate(list(arr_list), axis, **keywords)


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """`numpy.where`, with keywords; of Python's numbers and lists it gives Python's."""
    if x is None and y is None:
        return numpy.where(condition)
    out = call_inside(numpy.where, (condition, x, y), {})
    return out if builtins.any(map(of_numpy, (condition, x, y))) else out.tolist()


def of_numpy(x: Any) -> builtins.bool:
    """Whether x is NumPy's or in flight, or a list or tuple with such a thing in it."""
    if isinstance(x, (list, tuple)):
        return builtins.any(map(of_numpy, x))
    return isinstance(x, (numpy.ndarray, numpy.generic, Array))


def make_diagonal(D: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The inverse of `diagonal` over the last two axes: (..., n) as diagonals of (..., n, n).

    >>> make_diagonal(numpy.array([1.0, 2.0]), axis1=-1, axis2=-2)
    array([[1., 0.],
           [0., 2.]])
    """
    if offset or axis1 != -1 or axis2 != -2:
        raise ValueError("`make_diagonal` works with offset=0, axis1=-1 and axis2=-2 only.")
    return D[..., None] * numpy.eye(numpy.shape(D)[-1])
