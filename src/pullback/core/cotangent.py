"""Structured cotangents: dense, masked, or scattered by an index.

An element that `where`, a mask or an index didn't pick has no derivative, whatever its partial is:
the gradient of `where(x > 0, sqrt(x), 0)` at a negative x is 0, not 0 * nan.
So a cotangent keeps its mask or index. Multiplying it by a partial touches only the elements that
are present, and only `dense` fills the rest with zeros.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy import float64, ndarray

from .array import Array, snapshot
from .errors import ShapeError
from .plain_numpy import count_nonzero
from .spec import DOUBLE, Spec, is_inexact, spec_of
from .sums import stack_of, sums
from .trace import CONSTANT
from .writes import reach

DENSE = frozenset({np.ndarray, np.float64, Array})  # what a cotangent is that is an array


ARRAY = np.ndarray
PLAIN = frozenset({np.ndarray, np.float64})


class Cotangent:
    """A cotangent that is not an array. `+` adds, `*` multiplies by the partial."""

    __slots__ = ()
    __array_ufunc__ = None  # `array * cotangent` comes to __rmul__
    lazy = False  # a sum that is put off: rules do not see it as it is

    def dense(self) -> Any:
        raise AssertionError("a structured cotangent defines dense")

    def present(self) -> Any:
        """Of a lazy one, what rules see."""
        return self.dense()

    def __add__(self, other: Any) -> Any:
        return self.dense() + dense(other)

    def __radd__(self, other: Any) -> Any:
        return other + self.dense()


class Masked(Cotangent):
    """Present where mask is True. Elsewhere value may hold anything, NaN included.

    clean: it holds zeros there, and is what `dense` gives.
    """

    __slots__ = ("clean", "mask", "value")

    def __init__(self, mask: Any, value: Any, clean: bool = False) -> None:
        self.mask, self.value, self.clean = mask, value, clean

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    @property
    def dtype(self) -> Any:
        return self.value.dtype

    def dense(self) -> Any:
        mask, value = self.mask, self.value
        if self.clean:
            return value
        if type(mask) is ndarray is type(value) and mask.shape == value.shape:
            out = np.zeros(value.shape, value.dtype)
            np.putmask(out, mask, value)
            return out
        return np.where(mask, value, 0)[()]

    def __mul__(self, partial: Any) -> Masked:
        return Masked(self.mask, self.value * partial)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Masked:
        return Masked(self.mask, self.value / divisor)

    def __neg__(self) -> Masked:
        return Masked(self.mask, -self.value)

    def __add__(self, other: Any) -> Any:
        if type(other) in (Scattered, Buffer):
            return other + self
        if type(other) is not Masked:
            return self.dense() + other
        mask, more, value, term = self.mask, other.mask, self.value, other.value
        if more is mask:
            return Masked(mask, value + term, self.clean and other.clean)
        plain = type(mask) is ARRAY is type(more) and type(value) is ARRAY is type(term)
        if not (plain and mask.shape == more.shape == value.shape and value.dtype is term.dtype):
            return Masked(np.logical_or(mask, more), self.dense() + other.dense(), True)
        total = value.copy() if self.clean else self.dense()
        return Masked(mask | more, np.add(total, term, total, where=more), True)

    def __iadd__(self, other: Any) -> Any:
        """The sum in the memory of this value, where that can be."""
        if type(other) is not Masked or not self.clean or other.mask is self.mask:
            return self + other
        more, value, term = other.mask, self.value, other.value
        if not (type(more) is ARRAY is type(term) and type(value) is ARRAY is type(self.mask)):
            return self + other
        if not (more.shape == self.mask.shape == value.shape and value.dtype is term.dtype):
            return self + other
        return Masked(self.mask | more, np.add(value, term, value, where=more), True)


def add_to(x: np.ndarray, key: Any, part: Any) -> None:
    """x[key] += part for a key without arrays, where x[key] is memory of x or a number."""
    view = x[key]
    if type(view) is ndarray:
        view += part
    else:
        x[key] = view + part


class Scattered(Cotangent):
    """Present at the given indices of an array of zeros; several parts may meet and add.

    Parts are kept side by side: n elements read one by one cost n, not n times the size.
    A part is (index, value), and its value may itself be masked. What else was added, an array or
    a masked one, waits in `base`, so that reads between other uses do not cost the size each.
    Once they have been brought together, or are many for the size, the parts go into `base`: a
    cotangent on its way back through `u = u + g(u[1:])` meets every step, and would else carry the
    parts of all steps to each of them.
    `scatter(spec, parts)` makes the array; it comes with the indexing primitive.
    """

    __slots__ = ("base", "parts", "scatter", "spec")

    def __init__(self, spec: Spec, parts: list[Any], scatter: Any, base: Any = None) -> None:
        self.spec, self.parts, self.scatter, self.base = spec, parts, scatter, base

    @property
    def shape(self) -> tuple[int, ...]:
        return self.spec.shape

    @property
    def dtype(self) -> Any:
        return self.spec.dtype

    def alone(self) -> Any:
        """(key, whether indices may come again, value) if there is one part, of plain numbers."""
        if self.base is not None or len(self.parts) != 1 or not self.spec.shape:
            return None
        (((key, arrays), value),) = self.parts
        if type(value) not in PLAIN:
            return None
        if not arrays:
            return key, False, value
        for index in arrays:
            if type(index) is not ndarray:
                return None
        return self.filled(key, arrays), True, value

    def dense(self) -> Any:
        alone = self.alone()
        if alone is not None:
            return self.placed(alone)
        if not self.parts or not (self.base is None or type(self.base) is Masked):
            return dense(self.settled())
        out = self.scatter(self.spec, self.parts)
        return out if self.base is None else self.base.dense() + out

    def placed(self, alone: Any) -> np.ndarray:
        key, repeated, value = alone
        out = np.zeros(self.spec.shape, self.spec.dtype)
        if repeated:
            self.scatter.add_at(out, key, value)
        else:
            out[key] = value
        return out

    def masked(self) -> Masked:
        """The same with an explicit mask, for a pull that works element by element."""
        alone = self.alone()
        if alone is not None:
            mask = np.zeros(self.spec.shape, bool)
            mask[alone[0]] = True
            return Masked(mask, self.placed(alone))
        if self.base is None and len(self.parts) == 1 and self.spec.shape:
            (((key, arrays), part),) = self.parts
            if not arrays and type(part) is Masked and type(part.mask) is type(part.value) is ARRAY:
                spec = self.spec
                mask, value = np.zeros(spec.shape, bool), np.zeros(spec.shape, spec.dtype)
                mask[key], value[key] = part.mask, part.value
                return Masked(mask, value)
        base = self.settled()
        return base if type(base) is Masked else Masked(np.ones_like(base, dtype=bool), base)

    def resolved(self) -> Any:
        """What rules work on: an array where every element is present, as after both halves."""
        value, mask = self.added(), None
        if value is not None:
            mask = np.zeros(self.spec.shape, bool)
            for (key, _), _ in self.parts:
                mask[key] = True
        else:
            base = self.settled()
            if type(base) is not Masked or type(base.mask) is not ndarray:
                return base
            mask, value = base.mask, base.value
        return value if count_nonzero(mask) == mask.size else Masked(mask, value)

    def added(self) -> np.ndarray | None:
        """The sum of some plain parts without index arrays, zero elsewhere; None of others."""
        if self.base is not None or not self.spec.shape or len(self.parts) > 8:
            return None
        value = np.zeros(self.spec.shape, self.spec.dtype)
        for (key, arrays), part in self.parts:
            if arrays or type(part) not in PLAIN:
                return None
            add_to(value, key, part)
        return value

    def settled(self) -> Any:
        """The parts brought together in `base`, which is an array or masked."""
        if self.parts:
            parts, base = self.parts, self.base
            value = self.scatter(self.spec, parts)
            if base is None or type(base) is Masked:
                touched = [(i, part.mask if type(part) is Masked else True) for i, part in parts]
                mask = self.scatter(Spec(self.shape, bool), touched)
                if base is not None:
                    mask, value = np.logical_or(mask, base.mask), base.dense() + value
                self.base = Masked(mask, value)
            else:
                self.base = dense(base) + value
            self.parts = []
        return self.base

    def __mul__(self, partial: Any) -> Any:
        alone, kind = self.alone(), type(partial)
        if alone is not None:
            if kind is float or kind is float64:
                return self.replaced(alone[2] * partial)
            if kind is ndarray and partial.shape == self.spec.shape:
                return self.replaced(alone[2] * partial[alone[0]])
        return self.masked() * partial

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Any:
        alone = self.alone()
        if alone is not None and type(divisor) is ndarray and divisor.shape == self.spec.shape:
            return self.replaced(alone[2] / divisor[alone[0]])
        return self.masked() / divisor

    def replaced(self, value: Any) -> Scattered:
        """The one part with another value."""
        spec, ((index, _),) = self.spec, self.parts
        if value.dtype is not spec.dtype:
            spec = Spec(spec.shape, value.dtype)
        return Scattered(spec, [(index, value)], self.scatter)

    def __neg__(self) -> Scattered:
        parts = [(index, -value) for index, value in self.parts]
        return Scattered(self.spec, parts, self.scatter, None if self.base is None else -self.base)

    def filled(self, key: Any, arrays: Any) -> Any:
        """A key with its arrays."""
        return self.scatter.filled(key, arrays)

    def __add__(self, other: Any) -> Any:
        if type(other) is Buffer:
            return other + self
        parts = list(self.parts)
        if type(other) is Scattered and self.base is None is other.base and len(parts) < 32:
            parts += other.parts
            return Scattered(self.spec, parts, self.scatter)
        out = Scattered(self.spec, parts, self.scatter, self.base)
        out += other
        return out

    __radd__ = __add__

    def into(self, bar: np.ndarray) -> np.ndarray:
        """The sum with an array, which is written to, where there is one part (`alone`)."""
        key, repeated, value = self.alone()
        if bar.dtype is not self.spec.dtype:
            return bar + self.dense()
        if repeated:
            self.scatter.add_at(bar, key, value)
        else:
            add_to(bar, key, value)
        return bar

    def __iadd__(self, other: Any) -> Any:
        if type(other) is Buffer:
            return other + self
        if type(other) is Scattered:
            self.parts.extend(other.parts)
            other = other.base
        if other is not None:
            self.base = other if self.base is None else self.base + other
        if len(self.parts) > 64 + self.spec.size // 16:
            self.settled()
        return self


class Buffer(Cotangent):
    """A dense cotangent on memory of its own, from which parts are taken and zeroed in place.

    What went into an array by assignment comes back through it: n assignments cost n, not n times
    the size. What was taken is present no longer: what was overwritten has no derivative.
    It has one holder at a time, so that `+` works in place.
    """

    __slots__ = ("mask", "value")
    lazy = True

    def __init__(self, bar: Any) -> None:
        if isinstance(bar, Cotangent):
            bar = masked(bar, True)
            self.mask = writable(np.broadcast_to(bar.mask, bar.shape))
            self.value = writable(bar.dense())  # zero where nothing is present
        else:
            self.mask, self.value = np.ones(bar.shape, bool), writable(bar)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    @property
    def dtype(self) -> Any:
        return self.value.dtype

    def present(self) -> Any:
        """The same on memory that is not written to any more."""
        value = np.copy(self.value)
        if type(self.mask) is ndarray and self.mask.all():
            return value
        return Masked(np.copy(self.mask), value)

    def dense(self) -> Any:
        return np.copy(self.value)

    def take(self, path: Any, key: Any) -> Any:
        """The part of a view at a key, None if it is absent; it is absent from now on."""
        if holds_array(key):
            self.trace()
        sign = 1
        for primitive, _ in path:
            sign = primitive.sign or sign
        value, at = reach(self.value, path, key)
        part = kept(value[at])
        value[at] = 0
        if path and path[0][0].sign:  # the other part of the number stays
            path = path[1:]
            mask, at = reach(self.mask, path, key)
            there = mask[at]
        else:
            mask, at = reach(self.mask, path, key)
            there = kept(mask[at])
            mask[at] = False
        part = part if sign > 0 else -part
        if type(there) is not Array:
            if there.all():
                return part
            if not there.any():
                return None
        return Masked(there, part)

    def take_number(self, key: Any) -> Any:
        value, mask = self.value, self.mask
        if type(value) is Array or type(mask) is Array:
            return self.take((), key)
        part, there = value[key], mask[key]
        value[key], mask[key] = 0, False
        return part if there else None

    def trace(self) -> None:
        """Make Arrays of the parts, to be assigned Arrays or indexed by them."""
        if type(self.value) is not Array:
            self.value = Array(self.value, CONSTANT, None)
        if type(self.mask) is not Array:
            self.mask = Array(self.mask, CONSTANT, None)

    def __mul__(self, partial: Any) -> Any:
        return self.present() * partial

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Any:
        return self.present() / divisor

    def __neg__(self) -> Any:
        return -self.present()

    def __add__(self, other: Any) -> Buffer:
        if type(other) is Buffer:
            other = other.present()
        if type(other) is not Scattered or other.base is not None:
            return self.add(other)
        for (key, arrays), part in other.parts:
            if type(part) is float64 and not arrays and type(self.value) is ndarray:
                self.value[key] += part
                self.mask[key] = True
                continue
            bar, there = dense(part), part.mask if type(part) is Masked else True
            traced = any(type(x) is Array for x in (bar, there, *arrays))
            if not arrays:
                if traced:
                    self.trace()
                self.value[key] += bar
                self.mask[key] |= there
            elif traced or type(self.value) is Array or type(self.mask) is Array:
                self.add(Scattered(other.spec, [((key, arrays), part)], other.scatter).masked())
            else:
                key = other.filled(key, arrays)
                np.add.at(self.value, key, bar)
                np.logical_or.at(self.mask, key, there)
        return self

    def add(self, other: Any) -> Buffer:
        mask = masked(other, True).mask if isinstance(other, Cotangent) else True
        self.value = writable(self.value + dense(other))
        self.mask = writable(np.logical_or(self.mask, mask))
        return self

    __radd__ = __iadd__ = __add__


def added(x_bar: Any, more: Any) -> Any:
    """The sum of two cotangents, of which None is zero."""
    return more if x_bar is None else x_bar if more is None else x_bar + more


def writable(x: Any) -> Any:
    """x as an array to be written to."""
    if type(x) is Array:
        x = np.copy(x)
        return x if x.shape else np.reshape(np.reshape(x, 1), ())  # a scalar is not an array
    return np.array(x)


def kept(x: Any) -> Any:
    """x where it may change from now on: what is kept of it stays."""
    if type(x) is Array:
        return snapshot(x)
    return x.copy() if type(x) is ndarray else x


def holds_array(key: Any) -> bool:
    return type(key) is tuple and any(type(k) is Array for k in key)


class Slots(Cotangent):
    """The cotangents of an operation with several outputs, by position; None where none came."""

    __slots__ = ("bars",)

    def __init__(self, bars: dict[int, Any]) -> None:
        self.bars = bars

    def __add__(self, other: Any) -> Slots:
        bars = dict(self.bars)
        for i, bar in other.bars.items():
            bars[i] = bars[i] + bar if i in bars else bar
        return Slots(bars)


def dense(bar: Any) -> Any:
    """The cotangent as an array, with exact zeros where nothing was present."""
    kind = type(bar)  # an Array would be asked for its class
    return bar if kind in DENSE or not issubclass(kind, Cotangent) else bar.dense()


def masked(bar: Any, mask: Any) -> Masked:
    """The part of a cotangent where the mask holds as well."""
    kind = type(bar)
    if kind in DENSE:
        return Masked(mask, bar)
    if kind is Scattered:
        bar = bar.masked()
    elif kind is not Masked:
        return Masked(mask, dense(bar))
    return bar if mask is True else Masked(np.logical_and(bar.mask, mask), bar.value)


def fit(x: Any, spec: Spec, what: str = "a rule") -> Any:
    """x with the dtype of spec: complex to real takes the real part. Another shape is an error."""
    if x.shape != spec.shape:
        raise ShapeError(
            f"{what} returned an array of shape {x.shape} where {spec.shape} was expected.\n"
            "  Return one number for each element; where an argument was broadcast, sum over the"
            " new axes, as in `np.sum(x_bar, axis=0)`."
        )
    dtype = x.dtype
    if dtype == spec.dtype:
        return x
    if isinstance(x, Masked):
        return Masked(x.mask, fit(x.value, Spec(x.shape, spec.dtype), what))
    x = dense(x)
    if dtype.kind == "c" and spec.dtype.kind != "c":
        x = np.real(x)
    return x.astype(spec.dtype) if is_inexact(spec.dtype) else x


def unbroadcast(x_bar: Any, x: Any) -> Any:
    """Sum a cotangent over the axes along which its primal x was broadcast; x may be a Spec.

    Broadcasting copies, and the pullback of copying is summing. Without this, a bias of shape (3,)
    added to a batch of shape (8, 3) would receive a cotangent of shape (8, 3).
    Its dtype becomes that of x as well: a real operand of a complex product has a real cotangent.
    What nobody picked of all the copies stays without a derivative.
    """
    spec = x if type(x) is Spec else spec_of(x)
    if x_bar.shape == spec.shape and x_bar.dtype is spec.dtype:
        return x_bar
    if x_bar.shape != spec.shape:
        if isinstance(x_bar, Cotangent):
            alone = x_bar.alone() if type(x_bar) is Scattered and not spec.shape else None
            if alone is not None and alone[2].size:  # of one number
                return fit(np.add.reduce(alone[2], axis=None), spec)
            bar = masked(x_bar, True)
            mask = folded(np.any, bar.mask, spec.shape)
            return Masked(mask, fit(folded(np.sum, bar.dense(), spec.shape), spec))
        x_bar = folded(np.sum, x_bar, spec.shape)
    return fit(x_bar, spec)


REDUCTIONS: dict[Any, Any] = {np.sum: np.add.reduce, np.any: np.logical_or.reduce}


def folded(reduce: Callable[..., Any], x: Any, shape: tuple[int, ...]) -> Any:
    """x reduced over the axes along which an array of this shape was broadcast."""
    if type(x) is ndarray:
        reduce = REDUCTIONS.get(reduce, reduce)  # past NumPy's checks of arguments
    if not shape:
        return reduce(x, axis=None)
    axes = repeated_axes(x.shape, shape)
    if reduce is np.add.reduce and x.dtype is DOUBLE and x.flags.c_contiguous:
        stack = stack_of(x.shape, axes)
        if stack is not None:
            return sums(x, stack).reshape(shape)
    return reduce(x, axis=axes).reshape(shape) if axes else x


@lru_cache(maxsize=1024)
def repeated_axes(whole: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """The axes along which an array of a shape is broadcast to the whole one."""
    lead = len(whole) - len(shape)
    return tuple([i for i, n in enumerate(whole) if i < lead or (shape[i - lead] == 1 and n != 1)])
