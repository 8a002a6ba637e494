"""NumPy's conventions for arguments: axes, shapes, dtypes, lists as arrays, missing arguments."""

from __future__ import annotations

import operator

import numpy as np
from numpy import ndarray

from ..core.array import Array, class_of_number, peel
from ..core.errors import ArgumentTypeError, ConversionError
from ..core.operands import as_array
from ..core.scalars import is_python
from ..core.spec import promoted, spec_of
from ..core.storage import current
from ..core.trace import CONSTANT

none = np._NoValue
INTS = frozenset({int})
REDUCED_BY = {  # what `ufunc.reduce` is by another name
    np.add: np.sum,
    np.multiply: np.prod,
    np.maximum: np.max,
    np.minimum: np.min,
    np.logical_and: np.all,
    np.logical_or: np.any,
}


def given(argument):
    return argument is not none and argument is not None


def kept(keepdims):
    """`keepdims=` as True or False; ufuncs, which reduce, take an integer alone."""
    return keepdims is not none and bool(operator.index(keepdims))


def kept_loosely(keepdims):
    """`keepdims=` of functions that NumPy has in Python, which take any truth value."""
    return keepdims is not none and bool(keepdims)


def arrays_of(xs):
    """Turn operands, which may be lists and numbers, into Arrays and plain arrays."""
    return [as_array(x) for x in xs]


def common_dtype(xs):
    """The dtype in which NumPy brings operands together; Python numbers adapt to the others."""
    return promoted(*map(spec_beside, xs))


def spec_beside(x):
    """The spec of one of several operands; a Python number adapts to the dtypes of the others."""
    if type(x) is Array and is_python(x):
        return spec_of(class_of_number(x)(0))
    return spec_of(x if is_python(x) else as_array(x))


def as_whole(x):
    """Whole floating-point numbers as 64-bit integers; numbers that don't fit are refused."""
    if somewhere(np.abs(x) >= 2.0**63):
        raise ConversionError(
            "Mapped numbers were rounded to integers, and some of these do not fit into 64 bits.\n"
            "  Stay with floating-point numbers, as in `np.floor(x)`."
        )
    return np.astype(x, np.dtype(int))


def whole(n):
    """An integer, as NumPy's functions in C take it: a truth value is none."""
    if isinstance(n, (bool, np.bool)):
        raise ArgumentTypeError(f"An integer is required, but got {n!r}.")
    return operator.index(n)


def order_of(order, usual):
    """An order of memory as NumPy takes it: a letter of either case, or None for the usual one."""
    if order is None:
        return usual
    if isinstance(order, bytes):
        order = order.decode("latin-1")
    if not isinstance(order, str):
        raise TypeError(f"order must be str, not {type(order).__name__}")
    if order.upper() not in ("C", "F", "A", "K"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    return order.upper()


def dims(shape):
    """A shape as a tuple of ints."""
    if type(shape) is tuple and INTS.issuperset(map(type, shape)):
        return shape
    many = isinstance(shape, (tuple, list)) or np.ndim(shape)
    return tuple(map(whole, shape)) if many else (whole(shape),)


def axis_of(axis, ndim):
    """An axis as a number from 0."""
    if type(axis) is int and 0 <= axis < ndim:
        return axis
    return np.lib.array_utils.normalize_axis_index(operator.index(axis), ndim)


ALL_AXES = [tuple(range(n)) for n in range(65)]  # NumPy's arrays have no more


def axes_of(axis, ndim):
    """The axes as a tuple of numbers from 0; None is all of them."""
    if axis is None:
        return ALL_AXES[ndim]
    if type(axis) is int and -ndim <= axis < ndim:
        return (axis if axis >= 0 else axis + ndim,)
    return np.lib.array_utils.normalize_axis_tuple(axis, ndim, "axis")


def strict_axes(axis, ndim):
    """The axes of a reduction: None, an integer or a tuple; NumPy takes no lists here."""
    if axis is None:
        return ALL_AXES[ndim]
    if type(axis) is int and -ndim <= axis < ndim:
        return (axis if axis >= 0 else axis + ndim,)
    return np.lib.array_utils.normalize_axis_tuple(whole_axes(axis), ndim, "axis")


def whole_axes(axis):
    """The axes that were given, as a tuple of integers."""
    axes = axis if isinstance(axis, tuple) else (axis,)
    if any(isinstance(each, (bool, np.bool)) for each in axes):
        raise ArgumentTypeError(f"An axis is an integer, but got {axis!r}.")
    return tuple(map(operator.index, axes))


def reduced_axes(axis, ndim):
    """The axes of a reduction, which takes a number as if it had one."""
    if (
        not ndim
        and not (axis is None or isinstance(axis, tuple))
        and whole_axes(axis) in ((0,), (-1,))
    ):
        return ()
    return strict_axes(axis, ndim)


def one_axis(axis, ndim):
    """The one axis that a function goes along; None for all, and for a number's."""
    if axis is None or (type(axis) is int and -ndim <= axis < ndim):
        return axis if axis is None or axis >= 0 else axis + ndim
    if isinstance(axis, tuple):
        raise ArgumentTypeError(f"The axis here is one integer, but got {axis!r}.")
    return (reduced_axes(axis, ndim) or (None,))[0]


def dtype_of(dtype):
    return None if dtype is None else np.dtype(dtype)


def cast(x, dtype):
    """x in a dtype; itself if that is its own, for NumPy's astype copies."""
    return x if x.dtype == dtype else x.astype(dtype)


def multiplied_in(dtype, x):
    """The factors of a product with `dtype=`, or their derivatives, in that dtype; None: theirs.

    It may have more range than the array, and none of its imaginary parts.
    """
    if dtype is None or dtype == x.dtype:
        return x
    return cast(np.real(x) if x.dtype.kind == "c" and np.dtype(dtype).kind != "c" else x, dtype)


def in_bytes_of(out, dtype):
    """A result in the byte order that was asked for; operations themselves give the machine's."""
    return out if dtype is None or np.dtype(dtype).isnative else out.astype(dtype)


def surely(condition):
    """Whether the condition is known, which it is not under vmap, and holds somewhere.

    What is compiled asks again in each call.
    """
    known = type(condition) is not Array or current(condition).within.transparent
    return known and bool(np.any(condition))


def in_any_example(condition):
    """Whether the condition is known and holds somewhere, in any example where it is mapped.

    By this a call is refused, of which NumPy refuses one example. What is compiled asks again in
    each call.
    """
    while type(condition) is Array and condition.within.maps:
        condition = current(condition).payload
    return surely(condition)


def somewhere(condition):
    """Whether the condition holds somewhere, in any example where it is mapped.

    What is compiled asks again in each call.
    """
    while type(condition) is Array and condition.within.maps:
        condition = current(condition).payload
    known = type(condition) is not Array or current(condition).within.transparent
    return bool(np.any(condition if known else np.asarray(peel(condition))))


def everywhere(condition):
    """Whether the condition is known, which it is not under vmap, and holds everywhere.

    What is compiled asks again in each call.
    """
    if type(condition) is not Array:
        return plainly_everywhere(condition)
    return current(condition).within.transparent and bool(np.all(condition))


def plainly_everywhere(condition):
    """Whether the condition holds everywhere, told without asking: it is a plain array.

    So it is where values are computed, and in a rule, but not in what is mapped or recorded.
    """
    if type(condition) is ndarray:  # counting takes a third of the time of `np.all`
        return np.count_nonzero(condition) == condition.size
    return type(condition) is not Array and bool(np.all(condition))


def plainly_nowhere(condition):
    """Whether the condition holds nowhere, told without asking: it is a plain array."""
    if type(condition) is ndarray:
        return not np.count_nonzero(condition)
    return type(condition) is not Array and not np.any(condition)


def known_value(x):
    """The plain value of x; None where it is mapped, or where what is recorded has to ask again."""
    while type(x) is Array:
        x = current(x)
        if not x.within.leaves_values and x.within is not CONSTANT:
            return None
        x = x.payload
    return x


def known(x):
    """The plain value of x; x itself where that is mapped, or has to be asked again."""
    value = known_value(x)
    return x if value is None else value


def is_count(x):
    """Whether NumPy takes the whole part of x for a count: of numbers, not of an array of them."""
    return type(x) is not ndarray and not (type(x) is Array and x.shape)


def unsure(condition):
    """Whether the condition holds somewhere, as far as is known."""
    return type(condition) is Array or bool(np.any(condition))


def rows(x):
    """(the plain values of x, the traces that map it): those of all examples, the youngest first.

    The axes of the examples are in front, that of the oldest trace the first.
    """
    traces = []
    while type(x) is Array:
        if current(x).within.shape(x) != np.shape(x.payload):
            traces.append(x.within)
            x = x.payload
        else:
            x = x.within.concrete(x, "a question to the values")
    return np.asarray(x), traces


def wrapped(values, traces):
    """The values of all examples as an Array of the traces that map them."""
    for trace in reversed(traces):
        values = Array(values, trace, None)
    return values


def settled(x):
    """The plain values of x, those of all examples where it is mapped."""
    return rows(x)[0]


def agreed(x, asked):
    """The answer that x gives, on which a shape depends: all examples must give the same."""
    answers = settled(x)
    if not answers.ndim:
        return answers.item()
    answers = np.unique(answers)
    if answers.size != 1:
        raise ConversionError(
            f"The shape of `{asked}` depends on values that are mapped by"
            f" `{x.within.name}`, and the examples of the batch would give different shapes.\n"
            "  Do this outside of vmap, one example at a time."
        )
    return answers[0].item()
