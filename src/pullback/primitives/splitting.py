"""Parts of arrays along an axis: split and its kin."""

from __future__ import annotations

import operator
from functools import lru_cache
from itertools import pairwise

import numpy as np

from ..core.array import Array
from ..core.registry import replaces
from .arguments import agreed, axis_of, rows
from .joining import part
from .keys import WHOLE, known
from .shapes import ghost


@replaces(np.array_split)
def array_split(ary, indices_or_sections, axis=0):
    axis = axis_of(axis, ary.ndim)
    if type(indices_or_sections) is not int and np.ndim(indices_or_sections):
        points = [0, *[operator.index(i) for i in indices_or_sections], ary.shape[axis]]
    else:
        points = sections_of(ary.shape[axis], int(indices_or_sections))
    return [part(ary, axis, i, j) for i, j in pairwise(points)]


def sections_of(n, sections):
    """Where to split an axis of length n into so many sections."""
    if sections <= 0:
        raise ValueError("number sections must be larger than 0.")
    each, extra = divmod(n, sections)
    return [i * each + min(i, extra) for i in range(sections + 1)]


SPLIT = "numpy.split(x, indices)"


def places(indices_or_sections):
    """Where to split, as NumPy takes it: an Array that holds it is one number, or plain ones.

    Examples of a batch may differ in what it was computed from, but all have to split alike.
    """
    x = indices_or_sections
    if type(x) is not Array:
        return x
    if not rows(x)[1]:
        return known(x, SPLIT)[()]
    return [agreed(i, SPLIT) for i in x] if x.ndim else agreed(x, SPLIT)


@lru_cache(maxsize=1024, typed=True)
def checked(function, shape, sections, *axis):
    """NumPy checks the arguments of one of its functions that split evenly, on a ghost."""
    function(ghost(shape), sections, *axis)


def check(function, ary, where, *axis):
    usual = {type(where), *map(type, axis)} == {int}
    (checked if usual else checked.__wrapped__)(function, ary.shape, where, *axis)


def splits(function, axis_for):
    """One of the functions that split evenly."""

    def implementation(ary, indices_or_sections):
        indices_or_sections = places(indices_or_sections)
        check(function, ary, indices_or_sections)
        return array_split(ary, indices_or_sections, axis_for(ary))

    return replaces(function)(implementation)


@replaces(np.split)
def split(ary, indices_or_sections, axis=0):
    indices_or_sections = places(indices_or_sections)
    check(np.split, ary, indices_or_sections, axis)
    return array_split(ary, indices_or_sections, axis)


hsplit = splits(np.hsplit, lambda ary: 1 if ary.ndim > 1 else 0)
vsplit = splits(np.vsplit, lambda ary: 0)
dsplit = splits(np.dsplit, lambda ary: 2)


def unstack(x, /, *, axis=0):
    if x.ndim == 0:
        raise ValueError("Input array must be at least 1-d.")
    axis = axis_of(axis, x.ndim)
    return tuple([x[(WHOLE,) * axis + (i,)] for i in range(x.shape[axis])])


if hasattr(np, "unstack"):  # NumPy 2.1
    replaces(np.unstack)(unstack)
