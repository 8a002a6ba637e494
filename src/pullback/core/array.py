"""Array: a value in flight through a transformation, and the eager array.

An Array is a payload, its value one level below, and the trace that gives operations on it their
meaning. What memory it shares with others is in its `storage`.
"""

from __future__ import annotations

import _collections_abc
import operator
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from .errors import ArgumentTypeError, ConversionError
from .lost import QUESTION, formats_text, refuse_mask
from .reach.bytecode import original
from .reach.namespaces import package
from .storage import current, is_flat, lend, root_storage, touch
from .written_numbers import shown

if TYPE_CHECKING:
    from collections.abc import Iterator


class Disguised(type):
    """The class of `Array`: abstract classes that ask what methods a class has find none.

    `isinstance(x, Iterable)` asks `x.__class__`, and then the type of x as well. The first is what
    NumPy would have there, and right: an array is iterable, a number is not.
    """

    @property
    def __mro__(cls) -> tuple[type, ...]:
        asked_by = original(sys._getframe(1).f_code)
        return () if asked_by is STRUCTURE else type.__dict__["__mro__"].__get__(cls)


# What reads `C.__mro__` for abstract classes: `Iterable.__subclasshook__` and its kin.
STRUCTURE = _collections_abc._check_methods.__code__  # type: ignore[attr-defined]  # private


class Array(metaclass=Disguised):
    """An array in flight: its payload, the trace that it belongs to, and its place there.

    It has NumPy's operators, methods and attributes, and NumPy's functions take it.
    The payload is its value one level below: plain, or an Array of a trace around this one.
    It is no `value`, since programs ask other libraries' objects for theirs.
    What `node` is, its trace decides: a node of a reverse trace, the tangent in a forward one.
    Operators and methods are added by `pullback.primitives.methods`.
    """

    # `storage` is None as long as the Array takes no part in views or assignment; see Storage.
    __slots__ = ("__weakref__", "node", "payload", "storage", "within")

    @property  # type: ignore[misc]  # it differs from array to array
    def __class__(self) -> type:
        """The class of what NumPy would have here: of a scalar its own, otherwise ndarray.

        So type checks in users' code (`isinstance(x, float)`, `singledispatch`, `match`) go the way
        that they go without pullback. Our own code asks `type(x) is Array`.
        """
        if type(self.payload) is ndarray and self.storage is None and not self.within.maps:
            return ndarray  # as it mostly is
        if not is_number(self):
            return np.flatiter if is_flat(self) else ndarray
        return class_of_number(self)

    def __init__(
        self, payload: Any, trace: Any = None, node: Any = None, requires_grad: Any = None
    ) -> None:
        if trace is None:
            raise ArgumentTypeError(
                "`Array` is the type of values in flight, which operations make.\n"
                "  Write `pullback.array(x)`, or `pullback.array(x, requires_grad=True)`, a leaf."
            )
        self.payload = payload
        self.within = trace
        self.node = node
        self.storage: Any = None  # a Storage

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...
        def __getitem__(self, key: Any) -> Any: ...
        def __setitem__(self, key: Any, value: Any) -> None: ...
        def __iter__(self) -> Iterator[Any]: ...
        def __eq__(self, other: object) -> Any: ...
        def __ne__(self, other: object) -> Any: ...
        def applied(self, *others: Any) -> Any: ...

        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = applied
        __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = applied
        __pow__ = __rpow__ = __matmul__ = __rmatmul__ = __divmod__ = __rdivmod__ = applied
        __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = applied
        __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = applied
        __neg__ = __pos__ = __invert__ = __abs__ = __lt__ = __le__ = __gt__ = __ge__ = applied

    __array_priority__ = 1000.0

    # What Python asks: a plain answer from a live trace would drop the derivative in silence.

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        out = np.array(self.converted("numpy.asarray(x)"), dtype=dtype)
        if not copy and out.dtype == self.dtype and is_others(sys._getframe(1)):
            lend(self, out, "numpy.asarray(x)")
        if not out.size and out.ndim > 1 and out.dtype == bool:
            refuse_mask(out, sys._getframe(1))
        return out

    def __array_wrap__(self, x: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return x

    def __float__(self) -> float:
        return float(self.converted("float(x)"))

    def __complex__(self) -> complex:
        return complex(self.converted("complex(x)"))

    def __bool__(self) -> bool:
        trace = current(self).within
        if trace.comparison is None:
            trace.notice()
        trace.decided(QUESTION, self)
        return bool(trace.concrete(self, "bool(x)"))

    def __int__(self) -> int:
        trace = current(self).within
        if trace.comparison is None:
            trace.notice()
        trace.decided(QUESTION, self)
        return int(trace.concrete(self, "int(x)"))

    def __index__(self) -> int:
        return operator.index(current(self).within.concrete(self, "x as an index"))

    def __hash__(self) -> int:
        """That of a constant number; equal numbers with derivatives are not the same."""
        x = current(self)
        if not is_number(x):
            raise TypeError(f"unhashable type: '{x.__class__.__name__}'")
        if x.within.live:
            raise ArgumentTypeError(
                f"`hash(x)` was asked of an Array {x.within.spec(x)} of `{x.within.name}`, which is"
                " unhashable: a dict, a set or a cache would find an entry by its value, and the"
                " derivative would be lost.\n"
                "  Use the plain number as the key, `x.numpy().tolist()`, or keep pairs in a list."
            )
        return hash(x.payload)

    def converted(self, asked: str) -> Any:
        """The plain value of a constant; an error for an Array that may carry a derivative."""
        if not current(self).within.converts(self, asked):
            shared = current(self).within.shared(self)
            if shared is not None:
                return shared.converted(asked) if type(shared) is Array else shared
            if asked == "float(x)" and self.ndim == 0 and formats_text(sys._getframe(2)):
                value = told(self, "format(x)")
                shown(current(self), str(value), "format(x)")  # Python formats it
                if np.ndim(value) == 0:  # not mapped
                    return value
            error = ConversionError(self.within.refusal(self, asked))
            self.within.foresee(error, sys._getframe(2))
            raise error
        return told(self, asked)

    def __repr__(self) -> str:
        value = told(self, "repr(x)")
        if current(self).within.transparent:
            return shown(current(self), repr(value), "repr(x)")
        text = np.array2string(np.asarray(value), separator=", ", prefix="Array(")
        text = f"Array({text}, {self.within.spec(self)}, {self.within.name})"
        return shown(current(self), text, "repr(x)")


new = object.__new__


def raw(x: Any) -> Any:
    """The plain value inside an Array, which may be to be read again: it tells how that lies."""
    while type(x) is Array:
        x = x.payload
    return x


def is_others(frame: Any) -> bool:
    """Whether code is not this package's own, which knows what it does with a copy."""
    return package(frame.f_globals) != "pullback"


def is_number(x: Array) -> bool:
    """Whether NumPy would have a scalar here: `x += 1` binds the name anew."""
    if x.storage is not None:
        return False
    value = x.payload
    if type(value) is ndarray and not x.within.maps:
        return False
    if type(value) is Array:
        value = peel(value)
    return not isinstance(value, ndarray) or (value.ndim > 0 and not x.within.shape(x))


def arrayed(x: Any) -> Any:
    """A fresh result as an array, where NumPy gives one without axes and no scalar.

    What is written into `z = np.array(x[0])` is seen under each of its names.
    """
    if type(x) is Array and is_number(x):
        x.storage = root_storage()
    return x


def without_axes(x: Any) -> Any:
    """An Array that is to become one number; where it has axes, NumPy raises or warns."""
    if not x.shape:
        return x
    float(np.ones(x.shape))
    return np.reshape(x, ())


def peel(x: Any) -> Any:
    """The plain value inside an Array, whatever traces it belongs to."""
    while type(x) is Array:
        x = x.payload if x.storage is None else current(x).payload
    return x


def bottom(x: Any) -> Any:
    """What tells dtype and shape of a value: the innermost one, unless a batch has other axes."""
    while type(x) is Array and not x.within.maps:
        x = x.payload
    return x


def rank(x: Array) -> int:
    """How many axes the user's function sees: `x.ndim`, past the property."""
    value: Any = x
    while type(value) is Array and not value.within.maps:  # `bottom`, without a call for it
        value = value.payload
    return value.ndim if type(value) is ndarray else len(x.shape)


def told(x: Any, asked: str) -> Any:
    """The plain value inside an Array for the user's own eyes: a trace that records notes it."""
    while type(x) is Array:
        x = current(x)
        x = x.within.told(x, asked)
    return x


PYTHONS: dict[str, type] = {"f": float, "c": complex, "i": int, "u": int, "b": bool}


def class_of_number(x: Any) -> type:
    """The class of the number that x stands for: Python's, or NumPy's."""
    value = x
    while type(value) is Array:
        value = current(value)
        kind = value.within.python_class(value)
        if kind is not None:
            return kind
        value = value.payload
    return type(value) if type(value) in (float, complex) else value.dtype.type


def snapshot(x: Array) -> Array:
    """x as it is now: what is assigned into x later does not reach it."""
    if x.storage is not None:
        touch(x)
    y = new(Array)
    y.payload, y.within, y.node = x.payload, x.within, x.node
    y.storage = None
    return y


def stop(x: Any) -> Any:
    """x without its derivatives: what older traces than a batch hold is peeled as well."""
    if type(x) is not Array:
        return x
    if x.storage is not None:
        touch(x)
    return x.within.detached(x)
