"""Spec(shape, dtype): what is known of an array before it has values."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
from numpy import float64, ndarray

from .errors import ArgumentTypeError, kind_of

REQUIRED: Any = object()  # which NumPy refuses as a dtype


class Spec:
    """The shape and dtype of an array. Arrays, NumPy scalars and Python numbers have one.

    `weak` is the type of a Python number, which adapts its dtype to that of the other operands.

    >>> spec_of(np.ones((2, 3), dtype=np.float32))
    float32[2,3]
    """

    __slots__ = ("dtype", "shape", "weak")

    def __init__(
        self, shape: tuple[int, ...], dtype: Any = REQUIRED, weak: type | None = None
    ) -> None:
        try:
            self.shape = tuple(shape)
            self.dtype = np.dtype(dtype)
        except TypeError:
            got = kind_of(shape) + ("" if dtype is REQUIRED else f" and {kind_of(dtype)}")
            raise ArgumentTypeError(
                f"`Spec` takes a shape, a tuple of ints, and a dtype, but got {got}.\n"
                "  Write `Spec(x.shape, x.dtype)`."
            ) from None
        self.weak = weak

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return prod(self.shape)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Spec) and self.shape == other.shape and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))

    def __repr__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.shape))}]" if self.shape else str(self.dtype)


# Of equal dtypes NumPy's own: others are what pickles and swapped bytes come with.
OWN = {dtype: np.dtype(dtype.str) for dtype in map(np.dtype, "?bhilqBHILQefdgFDG")}
# The characters of their dtypes. `long long` is another type than a `long` of the same size, and
# has none of these, though the dtypes of both are equal.
NUMERIC = frozenset({dtype.char for dtype in OWN.values()})


@lru_cache(maxsize=4096)
def known_spec(shape: tuple[int, ...], dtype: Any) -> Spec:
    """The Spec that all arrays of this shape and of equal dtypes share; nobody writes to it."""
    return Spec(shape, OWN.get(dtype, dtype))


class SpecsOfDoubles(dict[tuple[int, ...], Spec]):
    """The Specs of float64 arrays by their shapes: `known_spec` in half of its time."""

    def __missing__(self, shape: tuple[int, ...]) -> Spec:
        if len(self) >= 4096:
            self.clear()
        spec = self[shape] = known_spec(shape, DOUBLE)
        return spec


DOUBLE, SINGLE = np.dtype(float), np.dtype(np.float32)
DOUBLES = SpecsOfDoubles()


class Ones(dict[tuple[int, ...], np.ndarray]):
    """Small arrays of ones by their shapes, which nobody can write into.

    The cotangent of what a loss adds up is one of them: it can be told from others at a glance, and
    a product with it is the other factor.
    """

    def __missing__(self, shape: tuple[int, ...]) -> np.ndarray:
        if len(self) >= 1024:
            self.clear()
        ones = self[shape] = np.ones(shape)
        ones.flags.writeable = False
        return ones


ONES = Ones()


class NumberArrays(dict[Any, np.ndarray]):
    """Python numbers as arrays of float64 without axes, which nobody can write into.

    NumPy and rules take these in half of the time, and a program multiplies by the same few.
    """

    def __missing__(self, x: float) -> np.ndarray:
        out = np.array(x, DOUBLE)
        out.flags.writeable = False
        if x != 0:  # of which there are two
            if len(self) >= 1024:
                self.clear()
            self[x] = out
        return out


NUMBERS = NumberArrays()

PYTHON = {float: np.dtype(float), complex: np.dtype(complex)}  # numbers that Arrays may hold
WEAK = {kind: Spec((), dtype, kind) for kind, dtype in PYTHON.items()}


def spec_of(x: Any) -> Spec:
    """The spec of an Array, ndarray, NumPy scalar or Python number; a Spec is its own."""
    kind = type(x)
    if kind is ndarray or kind is float64:
        return DOUBLES[x.shape] if x.dtype is DOUBLE else known_spec(x.shape, x.dtype)
    if kind is Spec:
        return x
    if kind in PYTHON:
        return WEAK[kind]
    try:
        return Spec(x.shape, x.dtype)
    except AttributeError:
        weak = int if kind is int else None
        x = np.asarray(x)
        return Spec(x.shape, x.dtype, weak)


def hardened(x: Any) -> Any:
    """A Python number as one of NumPy's: it no longer adapts its dtype, and divides by zero."""
    kind = type(x)
    return PYTHON[kind].type(x) if kind in PYTHON else x


def dtype_of(x: Any) -> np.dtype:
    """The dtype of a value that an Array holds."""
    dtype = PYTHON.get(type(x))
    return x.dtype if dtype is None else dtype


def promoted(*specs: Spec) -> np.dtype:
    """The dtype in which NumPy brings operands of these specs together."""
    return np.result_type(*[x.dtype if x.weak is None else x.weak(0) for x in specs])


def is_inexact(dtype: Any) -> bool:
    """Whether a dtype can carry a derivative: real or complex floating."""
    return dtype.kind in "fc"


class ObjectArrayError(ArgumentTypeError):
    """An operation on an Array met an array of objects; operators go on element by element."""


def carries(out: Any, xs: Any = ()) -> bool:
    """Whether a result has a derivative; one of Python objects would hide it.

    xs: the operands; of an array of objects a Python number may come.
    """
    try:
        dtype = dtype_of(out)
    except AttributeError:
        kind = type(out)
        raise ObjectArrayError(
            "An operation on an Array and another library's number gave a"
            f" `{kind.__module__}.{kind.__qualname__}`, which is not traced.\n"
            "  Write `float(y)` for that number y: `x * float(y)`."
        ) from None
    if dtype.kind == "O" or (type(out) in PYTHON and any(map(holds_objects, xs))):
        raise ObjectArrayError(
            "An operation on an Array met an array of Python objects, which are not traced.\n"
            "  Write `a.astype(float)` for an array of numbers, and `np.stack(list(a))` for one"
            " that holds Arrays."
        )
    return is_inexact(dtype)


def holds_objects(x: Any) -> bool:
    return isinstance(x, ndarray) and x.dtype.kind == "O"


# Rules create arrays only through these, and through NumPy's functions that follow an operand
# (zeros_like, full_like, broadcast_to).


def zeros(spec: Spec) -> Any:
    return np.zeros(spec.shape, spec.dtype)


def full(spec: Spec, fill: Any) -> Any:
    return np.full(spec.shape, fill, spec.dtype)
