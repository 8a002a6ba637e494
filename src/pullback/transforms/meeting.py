"""For one operation: which operands combine without a cast, and which results have a derivative."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import complex128, float64, ndarray

from ..core.array import Array, bottom
from ..core.node import COPIED_BESIDE, copied, noted
from ..core.operands import binary
from ..core.rules import mixed_folds
from ..core.spec import DOUBLE, PYTHON, carries

NUMBERS = frozenset({float, float64})
COMPLEX = np.dtype(complex)
OF_NUMBERS = {float64: DOUBLE, complex128: COMPLEX, complex: COMPLEX}
LESSER = frozenset("?bBhHiIlLqQef")  # dtypes that are float64 beside it


def is_double(x: Any) -> bool:
    """Whether a number of float64 beside x changes neither its dtype nor its shape."""
    return type(x) is float or (type(x) not in PYTHON and x.dtype is DOUBLE)


def meet(p: Any, q: Any) -> bool:
    """Whether two values meet without a cast: of one dtype, or a number of float64 beside it."""
    if type(p) in NUMBERS:
        return type(q) in NUMBERS or is_double(q)
    if type(q) in NUMBERS:
        return is_double(p)
    return type(p) not in PYTHON and type(q) not in PYTHON and p.dtype is q.dtype


def widened(primitive: Any, p: Any, plain: ndarray) -> ndarray | None:
    """A plain array as float64, if NumPy makes it that beside p; None if it doesn't."""
    if p.dtype is not DOUBLE or plain.dtype.char not in LESSER or not primitive.converts:
        return None
    return plain.astype(DOUBLE)


def mixed(trace: Any, primitive: Any, x: Any, y: Any) -> Any:
    """The result for a float64 and a complex128 operand of which nothing else is to be asked.

    None for others. The cotangent of the real one is folded to its real part.
    """
    parents, values = [], []
    for z in (x, y):
        parent = None
        if type(z) is Array:
            if z.within is not trace or z.storage is not None:
                return None
            parent, z = z.node, z.payload
        parents.append(parent)
        values.append(z)
    a, b = values
    p, q = [z.dtype if type(z) is ndarray else OF_NUMBERS.get(type(z)) for z in values]
    if not ((p is DOUBLE and q is COMPLEX) or (p is COMPLEX and q is DOUBLE)):
        return None
    fold = mixed_folds(np.shape(a), np.shape(b), int(q is DOUBLE))
    if None not in parents:
        out = primitive.value(a, b)
        held = primitive.pack(out, a, b), *fold
        return noted(out, trace, tuple(parents), primitive.folding, held)
    i = int(parents[0] is None)
    if type(values[1 - i]) is ndarray and primitive.reads_other[i]:
        if values[1 - i].nbytes > COPIED_BESIDE:
            return None
        values[1 - i] = copied(values[1 - i], trace)
    out = primitive.value(a, b)
    held = primitive.packs[i](out, *values)
    if fold[i] is None:
        return noted(out, trace, (parents[i],), primitive.rules[i], held)
    return noted(out, trace, (parents[i],), primitive.foldings[i], (held, fold[i]))


def applied(primitive: Any, a: Any, b: Any) -> Any:
    """An operation of a trace within, past NumPy's way of asking for it."""
    if type(a) is Array:
        if type(b) is not Array or a.within is b.within:
            return a.within.binary(primitive, a, b)
        return binary(primitive, a, b)
    return primitive.value(a, b) if type(b) is not Array else b.within.binary(primitive, a, b)


def moves(out: Any, xs: Any) -> bool:
    """Whether a result of xs has a derivative; most are arrays of float64."""
    inner = out if type(out) is not Array else bottom(out)
    kind = type(inner)
    if kind is float64 or (kind is ndarray and inner.dtype is DOUBLE):
        return True
    return carries(out, xs)


def writes_number(a: Any, key: Any, v: Any) -> bool:
    """Whether a[key] = v is one number put into a plain array of float64."""
    if type(a) is not ndarray or a.dtype is not DOUBLE:
        return False
    if type(v) is not float64 and type(v) is not float and type(v) is not int:
        return False
    if type(key) is int:
        return a.ndim == 1
    return len(key) == a.ndim and all(type(k) is int for k in key)
