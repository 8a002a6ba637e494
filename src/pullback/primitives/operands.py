"""The operators of an Array with an operand of a type that NumPy doesn't know.

The left operand decides, as in NumPy. A Python number leaves the operation to any operand that
isn't a number. An ndarray does so only if the other operand asks for it, by
`__array_ufunc__ = None` or a higher `__array_priority__`; it treats any other sequence as an array,
and combines any other object with its elements one by one.
"""

from __future__ import annotations

import datetime
import operator
from array import array
from collections import deque
from collections.abc import Mapping
from numbers import Number
from typing import Any

import numpy as np
from numpy import ndarray

from ..core.array import Array, is_number
from ..core.cotangent import Cotangent
from ..core.errors import ArgumentTypeError, kind_of
from ..core.operands import DEFERS, PLAIN, answers_ufuncs, as_array, check_class, operand
from ..core.operators import COMPARISONS, INFIX
from ..core.reach.walk import reach_instance
from ..core.scalars import is_python
from ..core.spec import spec_of

KNOWN = PLAIN | {Array}  # what operators take without a question
NUMERIC = (Number, np.ndarray, np.generic, Array)


def numeric(x, other):
    """Convert other for an operator of an Array; NotImplemented if other isn't numeric."""
    if isinstance(other, np.generic):
        return other
    if is_python(x) and not isinstance(other, NUMERIC):
        return NotImplemented
    if defers(other) or answers_ufuncs(other):
        return NotImplemented
    if isinstance(other, (list, tuple)) and is_number(x) and x.dtype.kind in "SUT":
        return NotImplemented  # a text is Python's, which no list equals
    known = operand(other)
    listed = known is NotImplemented and is_sequence(other) and not isinstance(other, ndarray)
    return as_array(list(other)) if listed else known


def is_ours(x):
    return type(x) in DEFERS or isinstance(x, Cotangent)


def defers(other):
    """Whether an ndarray leaves an operator to this operand on its right."""
    kind = type(other)
    if is_ours(other) or (isinstance(other, ndarray) and check_class(kind, other)):
        return True
    if hasattr(kind, "__array_ufunc__"):
        return kind.__array_ufunc__ is None
    return getattr(kind, "__array_priority__", 0.0) > 0.0


def takes_over(x, other):
    """Whether an ndarray asks the class of other what the operation is, by its ufunc."""
    return answers_ufuncs(other) and not (is_python(x) or is_ours(other))


def is_sequence(x):
    """Whether NumPy would make an array of the parts of x."""
    if isinstance(x, (str, bytes, set, frozenset, Mapping, type)):
        return False
    return hasattr(x, "__len__") and hasattr(x, "__getitem__")


def beside(operation, apply, x, other):
    """`x + other` of an Array, where other is neither an Array nor a plain number or ndarray."""
    known = numeric(x, other)
    if operation is operator.mul and repeats(x, other):
        return NotImplemented
    if known is not NotImplemented:
        return apply(x, known)
    reach_instance(other)  # its operators are called by Python
    if SHORT_POWERS and operation is operator.pow and is_short_power(x, other):
        return apply(x, other.item())
    if takes_over(x, other):
        return UFUNCS_OF[operation](x, other)
    if isinstance(other, ndarray) and is_number(x) and not is_python(x) and operation in SCALARS:
        return SCALARS[operation](x, other)
    if is_number(x) or defers(other):
        return NotImplemented
    return np.reshape(as_array([operation(element, other) for element in np.ravel(x)]), x.shape)


# By Python's operators, the ufuncs that NumPy does them by.
UFUNCS_OF: dict[Any, Any] = {
    getattr(operator, f"__{name}__"): ufunc for name, ufunc in {**INFIX, **COMPARISONS}.items()
}
UFUNCS_OF |= {
    operator.pow: np.power, operator.matmul: np.matmul, divmod: np.divmod,
    operator.lshift: np.left_shift, operator.rshift: np.right_shift,
}  # fmt: skip
# A scalar of NumPy's does not leave operations with arrays to the classes of these.
SCALARS = {
    operator.add: np.add, operator.sub: np.subtract, operator.mul: np.multiply,
    operator.truediv: np.divide, operator.floordiv: np.floor_divide, operator.mod: np.remainder,
    operator.pow: np.power,
}  # fmt: skip


# NumPy before 2.3 takes these powers of an array by other ufuncs, and doesn't ask the exponent's
# class.
SHORT_POWERS = np.lib.NumpyVersion(np.__version__) < "2.3.0"


def is_short_power(x, other):
    """Whether `x**other` is, say, a square, where other is an array without axes of some class."""
    is_array = isinstance(other, ndarray) and other.ndim == 0 and not is_number(x)
    return is_array and other.dtype.kind in "iuf" and other.item() in (-1.0, 0.0, 0.5, 1.0, 2.0)


def repeats(x, other):
    """Whether Python takes `x * other` as a repetition, for which a float is not a count."""
    return is_number(x) and isinstance(other, (list, tuple, deque, str, bytes, array))


def factor(x, other):
    """What stands to the right of `x @` in the same case: an object is not a matrix to NumPy."""
    known = numeric(x, other)
    if known is NotImplemented and not (is_python(x) or defers(other) or answers_ufuncs(other)):
        raise ArgumentTypeError(
            f"`x @ y` of an Array {spec_of(x)} was given {kind_of(other)}, which is not a matrix to"
            " NumPy.\n  Give its class `__array_ufunc__ = None`, and its own `@` is called."
        )
    return known


def beside_on_the_left(operation, apply, x, other):
    """`other + x` in the same case, where other has left it to x."""
    known = numeric(x, other)
    if operation is operator.mul and repeats(x, other):
        return NotImplemented
    if known is NotImplemented:
        return UFUNCS_OF[operation](other, x) if takes_over(x, other) else known
    return apply(known, x)


def compared_with(operation, apply, x, other):
    """`x < other` in the same case; what NumPy can't compare, as a number and a text, differs."""
    known = numeric(x, other)
    if known is NotImplemented and isinstance(other, TIMES):
        known = numpys(other, x.dtype)
    if known is NotImplemented:
        if takes_over(x, other):
            return UFUNCS_OF[operation](x, other)
        if is_number(x) or defers(other):
            return NotImplemented
        answers = [bool(operation(element, other)) for element in np.ravel(x)]
        return np.reshape(np.array(answers, bool), x.shape)
    if operation in (operator.eq, operator.ne) and not is_comparable(x, known):
        shape = np.broadcast_shapes(x.shape, np.shape(known))
        return np.full(shape, operation is operator.ne)[()]
    return apply(x, known)


TIMES = datetime.date, datetime.timedelta


def numpys(time, dtype):
    """A date or time of Python's as NumPy's, if elements of this dtype are such to Python."""
    kind = type(np.zeros((), dtype).item()) if dtype.kind in "mM" else None
    if kind is datetime.timedelta and isinstance(time, kind):
        return np.timedelta64(time)
    if kind is datetime.datetime and isinstance(time, kind) and time.tzinfo is None:
        return np.datetime64(time)
    if kind is datetime.date and isinstance(time, kind) and not isinstance(time, datetime.datetime):
        return np.datetime64(time)
    return NotImplemented


def is_comparable(x, y):
    """Whether NumPy has a loop for `x == y`, as for two texts or two dates."""
    kinds = [(z if hasattr(z, "dtype") else np.asarray(z)).dtype.kind for z in (x, y)]
    if not NO_NUMBERS.intersection(kinds):
        return True
    return kinds[0] == kinds[1] or set(kinds) == {"U", "T"}


NO_NUMBERS = frozenset("SUTMmV")


def check_written(x, other):
    """Refuse `x += other` where NumPy would make objects, which have no place in the array x."""
    if (
        not (is_number(x) or is_ours(other) or takes_over(x, other))
        and numeric(x, other) is NotImplemented
    ):
        raise ArgumentTypeError(
            f"`x += y` would change an array {spec_of(x)} in place, but y is {kind_of(other)},"
            " which NumPy doesn't treat as a number.\n  Write `x = x + y` instead of `x += y`."
        )
