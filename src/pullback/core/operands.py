"""Operands: what may stand beside an Array, or hold some, and how an operation takes it."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import chain
from numbers import Rational
from typing import Any

import numpy as np
from numpy import ndarray

from .array import Array, is_number, peel
from .cotangent import Cotangent
from .errors import ArgumentTypeError
from .kinds import Elementwise
from .reach.session import active
from .reach.twins import array_of, gives_array
from .registry import FUNCTIONS
from .scalars import of_numpy
from .spec import PYTHON
from .trace import is_live

CLASSES: dict[str, Any] = {}  # what is done beside objects of users' classes: `core.instances`
HOLDERS: set[type] = {Array}  # types of ours that are, or hold, an Array
# Types of other packages whose objects may hold an Array, and what gives it, or None.
HELD: dict[type, Any] = {}
DEFERS: set[type] = set()  # types whose own operators and functions take over from an Array's


def unary(primitive: Elementwise, x: Any) -> Any:
    return x.within.unary(primitive, x) if type(x) is Array else primitive.value(x)


def binary(primitive: Elementwise, x: Any, y: Any) -> Any:
    """Apply a primitive of two operands; the younger trace interprets."""
    if type(x) is Array:
        trace = x.within
        if type(y) is Array:
            if y.within.birth > trace.birth:
                trace = y.within
        elif type(y) not in PLAIN:
            y = beside_array(y)
    elif type(y) is Array:
        trace = y.within
        if type(x) not in PLAIN:
            x = beside_array(x)
    else:
        return primitive.value(x, y)
    if x is NotImplemented or y is NotImplemented:
        return NotImplemented
    return trace.binary(primitive, x, y)


PLAIN = frozenset({float, int, complex, bool, np.ndarray, np.float64, np.float32})


def check_class(cls: type, *values: Any) -> bool:
    """Whether a class derives from ndarray and answers for itself.

    Others, whose operations mean something else, are refused; so are masked arrays and matrices
    where no transformation runs. A masked array in which nothing is masked counts as its data.
    """
    if issubclass(cls, ndarray) and cls not in (ndarray, np.memmap):
        if CLASSES["derives"](cls):
            return True
        if issubclass(cls, np.ma.MaskedArray) and values and not masks(values):
            return False
        instead = (
            "Pass the data and the mask apart, and select with `np.where(mask, x, 0)`."
            if issubclass(cls, np.ma.MaskedArray)
            else "Write `np.asarray(...)` around it."
        )
        raise ArgumentTypeError(
            f"An operation on an Array met a {cls.__name__}, which pullback does not trace.\n"
            f"  {instead}"
        )
    return False


def masks(x: Any) -> bool:
    """Whether x holds a masked array of which something is masked."""
    if isinstance(x, (list, tuple)):
        return any(map(masks, x))
    return isinstance(x, np.ma.MaskedArray) and bool(np.ma.is_masked(x))


def operand(x: Any) -> Any:
    """A plain operand as NumPy would take it; NotImplemented leaves the operation to x."""
    if type(x) in DEFERS:
        return NotImplemented
    if isinstance(x, ndarray):
        return NotImplemented if check_class(type(x), x) else np.asarray(x)
    if isinstance(x, np.generic):
        return x
    if isinstance(x, Cotangent) or getattr(type(x), "__array_ufunc__", False) is None:
        return NotImplemented
    if isinstance(x, (list, tuple)):
        return as_array(x)
    if type(x) in (float, int, complex, bool):
        return x
    if isinstance(x, Rational) and not isinstance(x, int):
        return float(x)
    if np.isscalar(x):
        return x
    if isinstance(x, np.poly1d):  # which may hold an Array
        return x.coeffs
    return as_array(x) if hasattr(x, "__array__") else NotImplemented


def beside_array(x: Any) -> Any:
    """A plain operand of an operator or ufunc, which NumPy leaves to a class that has its own."""
    return NotImplemented if answers_ufuncs(x) else operand(x)


def answers_ufuncs(x: Any) -> bool:
    """Whether an object that is no array has its own way of computing ufuncs, and takes part."""
    own = getattr(type(x), "__array_ufunc__", None) is not None
    return own and not isinstance(x, (ndarray, np.generic)) and active()


def as_array(x: Any) -> Any:
    """An argument that may be a list or a number, as an array; nested lists may hold Arrays."""
    if type(x) is ndarray:
        return x
    if type(x) is Array:
        value = x.payload
        return of_numpy(x) if type(value) in PYTHON or type(value) is Array else x
    if holds_arrays(x):
        items = [as_array(item) for item in x]
        try:
            return FUNCTIONS[np.stack](items)
        except ValueError:
            np.array([np.empty(item.shape) for item in items])  # says what NumPy says of shapes
            raise
    if type(x) in HOLDERS:
        return CLASSES["array"](x)
    return as_array(array_of(x)) if gives_array(x) else np.asarray(x)


class Sequences(dict[type, bool]):
    """class -> whether NumPy makes an array of what its objects hold: lists, tuples, deques..."""

    of_one_kind = str, bytes, bytearray, memoryview, range, array  # they hold no Array
    limit = 1000

    def __missing__(self, kind: type) -> bool:
        if len(self) == self.limit:  # of programs that make classes again and again
            self.clear()
        self[kind] = issubclass(kind, Sequence) and not issubclass(kind, self.of_one_kind)
        return self[kind]


SEQUENCES = Sequences()


def holds_arrays(x: Any) -> bool:
    """Whether x is a list, a tuple or their like in which, however deep, an Array stands."""
    if not (isinstance(x, (list, tuple)) or SEQUENCES[type(x)]):
        return False
    kinds = set(map(type, x))
    if not HOLDERS.isdisjoint(kinds):
        return True
    for kind in kinds:
        if SEQUENCES[kind]:
            return any(map(holds_arrays, x))
    return False


ARRAYS = frozenset({Array, np.ndarray})


def as_mask(where: Any) -> Any:
    """`where=` as NumPy takes it: an array of truth values, of anything else the truth values."""
    if type(where) in ARRAYS or isinstance(where, ndarray):
        if where.dtype.kind == "b":
            return where
        if type(where) is Array and is_number(where):
            return where != 0
        raise TypeError(f"A mask `where` of {where.dtype} was given where bool is asked for.")
    return as_array(where) if holds_arrays(where) else np.asarray(where, bool)


def holds_live(x: Any) -> bool:
    """Whether an Array in x carries a derivative."""
    return any(map(is_live, leaves(x)))


def leaves(x: Any) -> Iterable[Any]:
    """What lists, tuples (named ones too) and their like hold, however deep."""
    kind = type(x)
    if (kind is list or kind is tuple) and LEAVES.issuperset(map(type, x)):
        return x  # as most are
    # An Array is asked for its class.
    if kind not in ARRAYS and (isinstance(x, (list, tuple)) or SEQUENCES[kind]):
        return chain.from_iterable(map(leaves, x))
    return (x,)


LEAVES = PLAIN | {Array, str, type(None)}


def peeled(x: Any) -> Any:
    if type(x) is not tuple and SEQUENCES[type(x)]:
        return [peeled(item) for item in x]
    return tuple(map(peeled, x)) if type(x) is tuple else peel(x)
