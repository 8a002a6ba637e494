"""Reductions without a derivative: all, any, count_nonzero, argmax, argmin."""

from __future__ import annotations

import numpy as np

from ..core.primitive import Primitive, align
from ..core.registry import refuse, replaces
from ..core.spec import Spec
from .arguments import as_array, kept, kept_loosely, one_axis, reduced_axes
from .reductions import broadcastable, reduced

none = np._NoValue


class Answer(Primitive):
    """all, any or count_nonzero of the elements that take part: no derivative."""

    constant = total = True

    def __init__(self, function, dtype):
        super().__init__(function.__name__)
        self.function, self.dtype = function, np.dtype(dtype)
        self.lower = self.name

    def value(self, x, where, *, axis, keepdims):
        if where is True:
            return self.function(x, axis=axis, keepdims=keepdims)
        return self.function(x, axis=axis, keepdims=keepdims, where=where)

    def spec(self, x, where, *, axis, keepdims):
        return Spec(reduced(x.shape, axis, keepdims), self.dtype)

    def batch(self, xs, mapped, size, *, axis, keepdims):
        x, where = align(xs, mapped)
        if not mapped[0]:
            x = np.broadcast_to(x, (size, *x.shape))
        return self(x, where, axis=tuple([i + 1 for i in axis]), keepdims=keepdims)


all_p = Answer(np.all, bool).declare(without_axes="scalar")
any_p = Answer(np.any, bool).declare(without_axes="scalar")
count_p = Answer(np.count_nonzero, np.intp)


def answer(primitive, a, axis, out, keepdims, where):
    refuse(f"numpy.{primitive.name}", out=out)
    a = as_array(a)
    where = True if where is none else broadcastable(where, a)
    return primitive(a, where, axis=reduced_axes(axis, a.ndim), keepdims=kept(keepdims))


@replaces(np.all)
def all(a, axis=None, out=None, keepdims=none, *, where=none):
    return answer(all_p, a, axis, out, keepdims, where)


@replaces(np.any)
def any(a, axis=None, out=None, keepdims=none, *, where=none):
    return answer(any_p, a, axis, out, keepdims, where)


@replaces(np.count_nonzero)
def count_nonzero(a, axis=None, *, keepdims=False):
    return answer(count_p, a, axis, None, keepdims, none)


class Position(Primitive):
    """Where along an axis the extreme element stands: an index, no derivative."""

    constant = True

    def __init__(self, function, lower=None):
        super().__init__(function.__name__)
        self.function, self.lower = function, lower

    def value(self, x, *, axis, keepdims):
        return self.function(x, axis=axis, keepdims=keepdims)

    def spec(self, x, *, axis, keepdims):
        return Spec(reduced(x.shape, (axis,), keepdims), np.intp)

    def surface(self, x, *, axis, keepdims):
        """By how much the extreme element stands out."""
        if x.shape[axis] == 1:
            return np.ones(reduced(x.shape, (axis,), keepdims))
        rising = np.moveaxis(np.sort(x, axis=axis), axis, 0)
        most = self.function in (np.argmax, np.nanargmax)
        gap = rising[-1] - rising[-2] if most else rising[1] - rising[0]
        return np.expand_dims(gap, axis) if keepdims else gap

    def batch(self, xs, mapped, size, *, axis, keepdims):
        return self(xs[0], axis=axis + 1, keepdims=keepdims)


argmax_p = Position(np.argmax, lower="extreme_place")
argmin_p = Position(np.argmin, lower="extreme_place")
nanargmax_p = Position(np.nanargmax)
nanargmin_p = Position(np.nanargmin)


def position(primitive):
    def implementation(a, axis=None, out=None, *, keepdims=none):
        refuse(f"numpy.{primitive.name}", out=out)
        a = as_array(a)
        axis = one_axis(axis, a.ndim)
        if axis is not None:
            return primitive(a, axis=axis, keepdims=kept_loosely(keepdims))
        index = primitive(a.reshape(-1), axis=0, keepdims=False)
        return index.reshape((1,) * a.ndim) if kept_loosely(keepdims) else index

    return replaces(primitive.function)(implementation)


argmax = position(argmax_p)
argmin = position(argmin_p)
nanargmax = position(nanargmax_p)
nanargmin = position(nanargmin_p)
