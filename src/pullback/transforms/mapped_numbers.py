"""Python numbers under `vmap`: the result of `float(x)` for a mapped x.

Such an Array holds the numbers of all examples; its node is their class, such as `float`. An
operation on Python numbers gives a Python number; combined with an array they take its dtype.
If Python would raise an error for some examples, or give a number of another class, the examples
have no common answer, and the operation is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.array import PYTHONS, Array, class_of_number, is_number
from ..core.errors import ConversionError
from ..core.kinds import Elementwise
from ..core.primitive import Primitive
from ..core.spec import spec_of
from ..primitives.arguments import somewhere
from ..primitives.elementwise import power

EXACT = 2.0**62  # integers of Python's below it are integers of 64 bits, and so are their sums


def kind_of_python(x: Any) -> type | None:
    """The class of a number of Python's, mapped or not; None of everything else."""
    if type(x) is Array:
        kind = class_of_number(x) if is_number(x) else None
        return kind if kind in PYTHONS.values() else None
    return type(x) if type(x) in PYTHONS.values() else None


def stored(value: Any, kind: type) -> Any:
    """Numbers of a class of Python's, each as NumPy stores it; one for all examples is Python's."""
    if isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic):
        return kind(value)
    dtype = np.dtype(kind)
    if value.dtype == dtype:
        return value
    if kind is int and value.dtype.kind == "u" and somewhere(value >= EXACT):
        raise too_large("int(x)")
    return value.astype(dtype)


def operands_beside(primitive: Primitive, xs: Any, kinds: Any) -> tuple[Any, ...]:
    """Operands of which some are arrays: a number of Python's takes the dtype that they ask for."""
    if not primitive.takes_python:
        return tuple(xs)
    wanted = dtypes_beside(primitive, xs, kinds)
    fit = [
        x if kind is None or type(x) is not Array else fitted(primitive, x, kind, dtype)
        for x, kind, dtype in zip(xs, kinds, wanted, strict=True)
    ]
    return tuple(fit)


def dtypes_beside(primitive: Primitive, xs: Any, kinds: Any) -> list[np.dtype]:
    """The dtypes in which NumPy takes operands of which some are Python's numbers."""
    given = [
        np.dtype(bool) if kind is bool else kind or spec_of(x).dtype
        for x, kind in zip(xs, kinds, strict=True)
    ]
    if isinstance(primitive, Elementwise) and isinstance(primitive.ufunc, np.ufunc):
        nothing = [None] * primitive.ufunc.nout
        return list(primitive.ufunc.resolve_dtypes((*given, *nothing))[: len(xs)])
    return [np.result_type(*[x(0) if isinstance(x, type) else x for x in given])] * len(xs)


def fitted(primitive: Primitive, x: Any, kind: type, dtype: np.dtype) -> Any:
    if kind is bool or x.dtype == dtype:
        return x
    if kind is int and dtype.kind in "iu":
        if primitive.comparison:
            return x  # NumPy compares integers of all sizes
        limits = np.iinfo(dtype)
        if somewhere((x < limits.min) | (x > limits.max)):
            raise ConversionError(
                f"`{primitive.name}` was given mapped Python integers beside an array of"
                f" {dtype}, which cannot hold some of them.\n"
                "  Convert the array first, as in `x.astype(int)`."
            )
    return x.astype(dtype)


def refuse_unlike(primitive: Primitive, values: Any, kinds: Any, compute: Any) -> None:
    """Raise where Python's numbers would do something else than NumPy's, in any example."""
    if primitive.divides and somewhere(values[1] == 0):
        raise unlike(primitive, "raise ZeroDivisionError")
    if not primitive.arithmetic:
        return
    if all(kind in (int, bool) for kind in kinds):
        if isinstance(primitive, Elementwise) and primitive.ufunc in OF_BITS:
            refuse_shift(primitive, *values)
        elif not primitive.divides and somewhere(np.abs(compute(map(doubles, values))) >= EXACT):
            raise too_large(primitive.name)
    elif primitive is power:
        finite = np.isfinite(values[0]) & np.isfinite(values[1])
        pole = (values[0] == 0) & (np.imag(values[1]) != 0)  # where NumPy gives 0
        if somewhere(pole | (finite & ~np.isfinite(compute(values)))):
            what = "raise OverflowError or ZeroDivisionError, or give a complex number"
            raise unlike(primitive, what)


OF_BITS = {np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift, np.right_shift}


def refuse_shift(primitive: Any, x: Any, places: Any = 0) -> None:
    """Raise where Python's integers of any size would be shifted otherwise than NumPy's."""
    if primitive.ufunc not in (np.left_shift, np.right_shift):
        return
    if somewhere(places < 0):
        raise unlike(primitive, "raise ValueError")
    large = np.abs(doubles(x)) * 2.0 ** np.minimum(doubles(places), 1100.0) >= EXACT
    if primitive.ufunc is np.left_shift and somewhere(large):
        raise too_large(primitive.name)


def doubles(x: Any) -> Any:
    return x.astype(float) if hasattr(x, "astype") else float(x)


def unlike(primitive: Primitive, what: str) -> ConversionError:
    return ConversionError(
        f"`{primitive.name}` was asked of mapped Python numbers, such as `float(x)`; for some"
        f" examples Python would {what}.\n"
        "  Compute with NumPy's functions on `x` itself, or choose with"
        " `np.where(condition, a, b)`."
    )


def too_large(name: str) -> ConversionError:
    return ConversionError(
        f"`{name}` was asked of mapped Python integers, and for some examples the result may not"
        " fit into 64 bits.\n  Compute with floating-point numbers, as in `x * 1.0`."
    )
