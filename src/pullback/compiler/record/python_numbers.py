"""Operations of Python's numbers in a recording: they do what Python does, not what NumPy does.

A recording computes with NumPy's numbers where the program has Python's. Sums and products of
floats are the same. Elsewhere Python raises, gives a complex number, or has other last bits, and
its integers have no largest one: where that may matter, the recording is noted as unlike.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.array import Array
from ...core.graph import Variable
from ...core.primitive import Primitive
from ...primitives.elementwise import (
    absolute,
    add,
    floor_divide,
    multiply,
    negative,
    positive,
    power,
    remainder,
    subtract,
)
from ...primitives.parts import conjugate_p, imag_p, real_p
from ...transforms.stage import StageTrace

if TYPE_CHECKING:
    from .compile_trace import CompileTrace

MOST_PRODUCTS = 100  # Python multiplies for powers up to this one
LARGE = 1 << 63  # integers of 64 bits are less
# How large a result is at most, by the sizes of its operands.
LIMITS: dict[Primitive, Callable[..., int]] = {
    add: lambda a, b: a + b,
    subtract: lambda a, b: a + b,
    multiply: lambda a, b: a * b,
    remainder: lambda a, b: b,
    floor_divide: lambda a, b: max(a, 1),
    negative: lambda a: a,
    positive: lambda a: a,
    absolute: lambda a: a,
}
# What floats of Python's do as NumPy's do, and give one of them.
SMOOTH = {add, subtract, multiply, negative}
# And complex ones: quotients and powers have other last bits. (From Python 3.14 on, a sum or
# product with a real number has other signs of zero.)
PARTS = {real_p, imag_p, conjugate_p}
COMPLEX = {*SMOOTH, positive} if sys.version_info < (3, 14) else set()


def of_numbers(
    trace: CompileTrace, primitive: Primitive, xs: tuple[Any, ...], static: dict[str, Any]
) -> Any:
    """An operation whose operands would all be Python numbers if nothing were recorded."""
    notes = trace.state
    is_complex = any(np.iscomplexobj(x) for x in xs)
    if is_complex and primitive is power and type(xs[1]) is int and 0 < xs[1] <= MOST_PRODUCTS:
        return product(trace, xs[0], xs[1])
    operates = is_complex and primitive.arithmetic and primitive not in COMPLEX
    if primitive.python_differs or operates:
        notes.unlike = True
    if primitive.divides and trace.is_zero(xs[1]):
        raise ZeroDivisionError("division by zero")
    counts = primitive is power and type(xs[1]) is int and xs[1] >= 0
    if primitive is power and not counts and bool(xs[0] <= 0):
        notes.unlike = True  # it may be complex
    out = StageTrace.process(trace, primitive, xs, static)
    if primitive is power and not bool(np.isfinite(out)):
        notes.unlike = True  # an OverflowError
    if primitive.comparison:
        return bool(out)  # True or False, and neither of NumPy's
    if primitive.arithmetic and out.dtype.kind == "i":
        limit = largest(notes.limits, primitive, xs)
        notes.counts(out.node, limit)
        notes.unlike |= limit >= LARGE
    elif primitive in PARTS or (
        primitive.arithmetic and (out.dtype.kind != "c" or primitive in COMPLEX)
    ):
        notes.weak.add(out.node)
    return out


def product(trace: CompileTrace, z: Any, n: int) -> Any:
    """A complex number to an integer power, multiplied as Python does."""
    out: Any = 1 + 0j
    while n:
        out, n = (out * z if n & 1 else out), n >> 1
        z = z * z if n else z
    if not bool(np.isfinite(out)):
        trace.state.unlike = True  # an OverflowError
    return out


def largest(known: dict[Variable, int], primitive: Primitive, xs: tuple[Any, ...]) -> int:
    """How large an integer is at most that Python makes of integers; `known`: of variables."""
    limits = [known.get(x.node, LARGE) if type(x) is Array else abs(int(x)) for x in xs]
    if primitive is power and type(xs[1]) is int and xs[1] < 64:
        return max(limits[0], 1) ** int(xs[1])
    return LIMITS[primitive](*limits) if primitive in LIMITS else LARGE
