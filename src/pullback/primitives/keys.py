"""Parse the keys of x[...]: basic, integer and boolean ones.

A key is static except for its arrays of integers, which are operands: the template of a key has
`INDEX` in their places. A boolean mask becomes the integer indices at which it's True.
"""

from __future__ import annotations

import enum
import operator

import numpy as np
from numpy import ndarray

from ..core.array import Array
from ..core.errors import ConversionError
from ..core.node import copied
from ..core.operands import peeled
from ..core.primitive import align
from ..core.storage import current
from ..core.trace import CONSTANT
from .arguments import as_array, rows, wrapped
from .shapes import ghost


class KeyPart(enum.Enum):
    INDEX = "INDEX"

    def __repr__(self):
        return self.value


INDEX = KeyPart.INDEX
ONE_INDEX = (INDEX,)
WHOLE = slice(None)
BOUNDS = frozenset({int, type(None)})
WRITTEN, LISTS = frozenset({int, bool}), frozenset({list, tuple})
ENTRIES = frozenset({int, type(None), type(Ellipsis)})
BASIC = ENTRIES | {slice}


def basic(key):
    """Whether a key is made of Python's own ints, slices, None and Ellipsis.

    A tuple within a tuple is none of these: it is an array of integers.
    """
    for k in key if type(key) is tuple else (key,):
        kind = type(k)
        if kind is slice:
            if type(k.start) not in BOUNDS or type(k.stop) not in BOUNDS:
                return False
            if type(k.step) not in BOUNDS:
                return False
        elif kind not in ENTRIES:
            return False
    return True


def parse(shape, key):
    """(template, arrays of integers, axes to be added to x first) for x[key], x of this shape.

    Anything that can't be a key raises NumPy's own error.
    """
    entries = [entry(k) for k in key] if type(key) is tuple else [entry(key)]
    if any(k is NotImplemented for k in entries):
        invalid(shape, key)
    consumed = sum([rank(k) for k in entries])
    if sum([k is Ellipsis for k in entries]) > 1 or consumed > len(shape):
        invalid(shape, key)
    advanced = any(map(is_array, entries))
    template, arrays, new, axis = [], [], [], 0
    for k in entries:
        if k is Ellipsis:  # beside arrays it is written out; without axes it still separates them
            width = len(shape) - consumed
            template += [WHOLE] * width if advanced and width else [Ellipsis]
            axis += width
            continue
        found = [k]
        if is_array(k) and k.dtype.kind == "b":
            if k.shape != tuple(shape[axis : axis + k.ndim]):
                invalid(shape, key)
            if k.ndim:
                found = nonzero(k, "x[mask]")
            else:  # a truth value picks all or nothing along a new axis
                new.append(axis + len(new))
                found = [np.zeros(int(k), np.intp)]
        for index in found:
            advances = is_array(index)
            template.append(INDEX if advances else index)
            if advances:
                arrays.append(index)
        axis += rank(k)
    return tuple(template), arrays, tuple(new)


def of_plain(shape, key, trace):
    """`parse` in short for the usual keys with arrays: (template, arrays of integers), or None.

    These are constant arrays, lists and tuples of integers or truth values, beside slices, integers
    and an Ellipsis. The arrays are the caller's no more, but copies that the trace keeps.
    """
    if type(key) is ndarray and key.ndim and key.dtype.kind in "iu":
        return ONE_INDEX, (copied(key, trace),)
    template, arrays, axis = [], [], 0
    keys = key if type(key) is tuple else (key,)
    for k in keys:
        kind = type(k)
        if kind is int or (kind is slice and basic(k)):
            template.append(k)
            axis += 1
            continue
        if k is Ellipsis and (width := len(shape) - sum(map(rank, keys))) > 0:
            template += [WHOLE] * width
            axis += width
            continue
        if kind in LISTS and is_written(k):
            k = np.array(k)
        elif kind is Array and k.within is CONSTANT:  # made in the program, as by `np.arange`
            k, kind = current(k).payload, ndarray
            if type(k) is not ndarray:
                return None
        elif kind is not ndarray:
            return None
        if k.dtype.kind == "b":
            if not k.ndim or k.shape != shape[axis : axis + k.ndim]:
                return None
            arrays += k.nonzero()
        elif k.dtype.kind in "iu" and k.ndim:
            arrays.append(copied(k, trace) if kind is ndarray else k)
        else:
            return None
        found = len(arrays) - template.count(INDEX)
        template += [INDEX] * found
        axis += found
    return (tuple(template), tuple(arrays)) if arrays and axis <= len(shape) else None


def of_truth(key):
    """The basic key that picks the same as one with True among slices and integers; None of others.

    True adds an axis, at its place if all integers are next to it.
    """
    entries = key if type(key) is tuple else (key,)
    truths = [i for i, k in enumerate(entries) if type(k) is bool or type(k) is np.bool]
    if len(truths) != 1 or not entries[truths[0]]:
        return None
    beside = truths + [i for i, k in enumerate(entries) if type(k) is int]
    if max(beside) - min(beside) + 1 != len(beside):
        return None
    found = (*entries[: truths[0]], None, *entries[truths[0] + 1 :])
    return found if basic(found) else None


def is_written(k):
    """Whether a list holds integers or truth values as Python writes them, or such lists."""
    kinds = {*map(type, k)}
    return len(kinds) == 1 and (kinds <= WRITTEN or (kinds <= LISTS and all(map(is_written, k))))


def entry(k):
    """An entry of a key: an int, slice, None, Ellipsis, mask or integers; else NotImplemented."""
    if type(k) in BASIC:
        if type(k) is slice and not basic(k):
            bounds = [None if n is None else operator.index(n) for n in (k.start, k.stop, k.step)]
            return slice(*bounds)
        return k
    if type(k) is not Array and isinstance(k, (list, tuple, range)):
        k = as_array(k)
        k = k if k.size else k.astype(np.intp)  # NumPy takes lists of nothing for integers
    if type(k) is Array:
        if k.dtype.kind == "b":
            return k if k.ndim and mapped(k) else known(k, "x[mask]")
        return k if k.dtype.kind in "iu" else NotImplemented
    if isinstance(k, (bool, np.bool_)):
        return np.asarray(k)
    if not isinstance(k, ndarray):
        try:
            return operator.index(k)
        except (TypeError, ValueError):  # which arrays of other libraries raise, such as Dask's
            k = np.asarray(k)
    if k.dtype.kind in "iu":
        return k if k.ndim else int(k)
    return k if k.dtype.kind == "b" else NotImplemented


def is_array(k):
    return type(k) is Array or isinstance(k, ndarray)


def rank(k):
    """How many axes of x an entry of a key takes."""
    if k is None or k is Ellipsis:
        return 0
    return k.ndim if is_array(k) and k.dtype.kind == "b" else 1


def invalid(shape, key):
    """Raise what NumPy raises for x[key]."""
    ghost(shape)[tuple(peeled(key)) if type(key) is tuple else peeled(key)]
    raise IndexError(f"{key!r} is not an index of an array of shape {shape}")


def known(x, asked):
    """The plain values of x, for a result whose shape depends on them: not under vmap."""
    while type(x) is Array:
        try:
            x = current(x).within.concrete(x, asked)
        except ConversionError as error:
            raise differing(x, asked) from error
    return np.asarray(x)


def positions_of(obj, asked):
    """Positions, or a mask, as a plain array; a list of none holds integers."""
    found = known(obj, asked)
    return found.astype(int) if isinstance(obj, (list, tuple)) and not found.size else found


def differing(x, asked):
    return ConversionError(
        f"The shape of `{asked}` depends on values that are mapped by `{x.within.name}`:"
        " the examples of the batch would give different shapes.\n"
        "  Write `np.where(mask, x, 0)`, which keeps the shape, or do this outside of vmap."
    )


def mapped(x):
    """Whether x has a value for each example of a batch."""
    return type(x) is Array and bool(rows(x)[1])


def nonzero(mask, asked):
    """The indices at which a mask holds, one array for each axis.

    Under vmap those of each example, if all have equally many.
    """
    values, traces = rows(mask)
    if not traces:
        return known(mask, asked).nonzero()
    if values.ndim == len(traces):
        np.nonzero(values.reshape(-1)[0])  # raises
    selected = numbers(values, traces)
    if not all_equal(selected):
        raise differing(mask, asked)
    shape = (*selected.shape, selected.max(initial=0))
    return tuple([wrapped(np.reshape(i, shape), traces) for i in values.nonzero()[len(traces) :]])


def numbers(values, traces):
    """How many elements each example selects, from the values of a mask for all of them."""
    return np.count_nonzero(values, axis=tuple(range(len(traces), values.ndim)), keepdims=False)


def all_equal(selected):
    return selected.size == 0 or bool((selected == selected.flat[0]).all())


def fill(key, arrays):
    """The key with its arrays."""
    if not arrays:
        return key
    rest = iter(arrays)
    return tuple([next(rest) if k is INDEX else k for k in key])


def count(key):
    """How many arrays a template takes."""
    return key.count(INDEX) if type(key) is tuple else 0


def block(key):
    """Where NumPy puts the axes of the arrays in the result: (position, whether contiguous).

    Integers beside arrays count as arrays. If slices stand between them, the axes go to the front.
    """
    places = [i for i, k in enumerate(key) if k is INDEX or type(k) is int]
    if places[-1] - places[0] + 1 == len(places):
        return places[0] - key[: places[0]].count(Ellipsis), True
    return 0, False


def batched(key, arrays, mapped, size):
    """A key for x with a batch axis in front: (key, arrays, source, destination).

    In the result the axes `source` are to be moved to `destination`, and the batch axis is first.
    """
    if type(key) is not tuple:
        key = (key,)
    if not arrays:
        return (WHOLE, *key), arrays, (), ()
    n = max([np.ndim(x) - m for x, m in zip(arrays, mapped, strict=True)])
    position, contiguous = block(key)
    if not any(mapped):
        return (WHOLE, *key), arrays, () if contiguous else (n,), () if contiguous else (0,)
    rows = np.reshape(np.arange(size), (size,) + (1,) * n)
    source = tuple(range(1, 1 + n)) if contiguous and position else ()
    destination = tuple([axis + position for axis in source])
    arrays = [in_order(x) for x in align(arrays, mapped)]
    return (INDEX, *key), [rows, *arrays], source, destination


def in_order(x):
    """x as it is read from its first number to its last.

    NumPy writes at several arrays of indices in the order of memory, at one in that of the array;
    of what is written twice to a place, the last stays.
    """
    return x if type(x) is not ndarray or x.flags.c_contiguous else np.ascontiguousarray(x)
