"""Operators, and ndarray's methods and attributes, on Array: the one place that puts them there."""

from __future__ import annotations

import builtins
import copyreg
import math
from functools import partial
from importlib import import_module

import numpy as np

from ..core.array import Array, current, is_number, peel, stop, told
from ..core.dispatch import LOADERS, UFUNCS, binary, operand
from ..core.errors import ArgumentTypeError, ConversionError, MissingRuleError
from ..core.trace import CONSTANT
from . import (  # noqa: F401  # each declares its primitives
    assignment,
    contractions,
    elementwise,
    indexing,
    load,
    matmul,
    parts,
    predicates,
    reductions,
    selecting,
    shapes,
)
from .arguments import surely

__all__ = []

LOADERS.append(load)

# Operators: straight to the primitive.


def infix(ufunc):
    """`x + y` and `y + x`, the shortest way to the primitive of a ufunc."""
    primitive = UFUNCS[ufunc]

    def forward(self, other):
        kind = type(other)
        if kind is float or kind is int:
            return self.within.binary(primitive, self, other)
        if kind is Array:
            trace = self.within
            if other.within.birth > trace.birth:
                trace = other.within
            return trace.binary(primitive, self, other)
        return binary(primitive, self, other)

    def reflected(self, other):
        return binary(primitive, other, self)

    return forward, reflected


def prefix(ufunc):
    primitive = UFUNCS[ufunc]
    return lambda self: self.within.unary(primitive, self)


def through(function):
    """An operator that NumPy's function stands for."""
    return lambda self, other: NotImplemented if operand_refuses(other) else function(self, other)


def operand_refuses(other):
    return type(other) is not Array and operand(other) is NotImplemented


INFIX = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "lshift": np.left_shift,
    "rshift": np.right_shift,
}
COMPARISONS = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}
PREFIX = {"neg": np.negative, "pos": np.positive, "abs": np.absolute, "invert": np.invert}

for name, ufunc in INFIX.items():
    forward, reflected = infix(ufunc)
    setattr(Array, f"__{name}__", forward)
    setattr(Array, f"__r{name}__", reflected)
for name, ufunc in COMPARISONS.items():
    setattr(Array, f"__{name}__", infix(ufunc)[0])
for name in PREFIX:
    setattr(Array, f"__{name}__", prefix(PREFIX[name]))

power, power_reflected = infix(np.power)


def power_of(self, other, modulo=None):
    if modulo is not None:
        raise ArgumentTypeError("`pow` of an Array takes two arguments, not three.")
    return power(self, other)


Array.__pow__, Array.__rpow__ = power_of, power_reflected
Array.__divmod__ = through(np.divmod)
Array.__rdivmod__ = lambda self, other: np.divmod(other, self)


def matmul_of(self, other):
    if type(other) is not Array and type(other) is not np.ndarray:
        other = operand(other)
        if other is NotImplemented:
            return NotImplemented
    return matmul.matmul_p(self, other)


Array.__matmul__ = matmul_of
Array.__rmatmul__ = lambda self, other: np.matmul(other, self)


def rounded(self, ndigits=None):
    """`round(x, n)`; without n a number becomes an integer, as NumPy's scalars do."""
    out = np.round(self, ndigits or 0)
    if ndigits is None and not self.shape and surely(np.logical_not(np.isfinite(out))):
        int(peel(out))  # raises what it raises for a number
    return out.astype(int) if ndigits is None and not self.shape and out.dtype.kind == "f" else out


Array.__round__ = rounded


for name in (*INFIX, "pow", "matmul"):
    setattr(Array, f"__i{name}__", assignment.in_place(getattr(Array, f"__{name}__")))


Array.__getitem__ = assignment.getitem
Array.__setitem__ = assignment.setitem  # type: ignore[index]
Array.__len__ = indexing.length
Array.__iter__ = indexing.iterate


# Methods that are NumPy's function of the same name.

# fmt: off
FUNCTIONS = [
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "choose", "cumprod",
    "cumsum", "diagonal", "dot", "max", "mean", "min", "nonzero", "prod", "ravel", "repeat",
    "round", "searchsorted", "squeeze", "std", "sum", "swapaxes", "take", "trace", "var",
]
# fmt: on


def method(function):
    def call(self, *args, **kwargs):
        return function(self, *args, **kwargs)

    call.__name__ = function.__name__
    call.__qualname__ = f"Array.{function.__name__}"
    call.__doc__ = f"`numpy.{function.__name__}(x, ...)`."
    return call


for name in FUNCTIONS:
    setattr(Array, name, method(getattr(np, name)))

# These methods have other parameters than the functions.
Array.compress = lambda self, condition, axis=None, out=None: np.compress(
    condition, self, axis=axis, out=out
)
Array.clip = lambda self, min=None, max=None, out=None, **keywords: np.clip(
    self, min, max, out=out, **keywords
)
Array.conj = Array.conjugate = lambda self: np.conjugate(self)


def reshape(self, *shape, order="C", copy=None):
    """The same elements in another shape, given as one tuple or as several ints."""
    return np.reshape(self, shape[0] if len(shape) == 1 else shape, order=order)


def transpose(self, *axes):
    """The axes in another order: reversed, or as given, as one tuple or as several ints."""
    if not axes or axes == (None,):
        return np.transpose(self)
    return np.transpose(self, axes[0] if len(axes) == 1 and not np.isscalar(axes[0]) else axes)


def flatten(self, order="C"):
    """A copy in one dimension."""
    return np.copy(np.ravel(self, order=order))


def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
    """The same numbers in another dtype."""
    if not np.can_cast(self.dtype, dtype, casting):
        raise ArgumentTypeError(
            f"`astype` cannot cast {self.dtype} to {np.dtype(dtype)} with casting={casting!r}."
        )
    return np.astype(self, np.dtype(dtype), copy=copy)


def view(self, dtype=None, type=None):
    """A view of all; another dtype would read its bits, which has no derivative."""
    if isinstance(dtype, builtins.type) and issubclass(dtype, np.ndarray):
        dtype, type = None, dtype  # given by position
    if type not in (None, np.ndarray) or (dtype is not None and np.dtype(dtype) != self.dtype):
        if not self.within.live:
            out = np.asarray(self).view(*[x for x in (dtype, type) if x is not None])
            out.flags.writeable = False  # what is written here would not be seen in the Array
            return out
        raise MissingRuleError(
            f"`x.view` to another dtype or type reads the bits of {self.within.spec(self)},"
            " and has no derivative.\n  Write `x.astype(dtype)` to convert the numbers, or `x.real`"
            " and `x.imag` for the parts of complex ones."
        )
    return self[...]


Array.reshape, Array.transpose, Array.flatten = reshape, transpose, flatten
Array.astype, Array.view = astype, view
# The copy of a NumPy scalar is one.
Array.copy = lambda self, order="C": (
    np.astype(self, self.dtype) if is_number(self) else np.copy(self, order=order)
)


# Attributes.


def attribute(name, get):
    setattr(Array, name, property(get))


attribute("shape", lambda self: self.within.shape(self))
attribute("dtype", lambda self: self.value.dtype)
attribute("ndim", lambda self: len(self.within.shape(self)))
attribute("size", lambda self: math.prod(self.within.shape(self)))
attribute("itemsize", lambda self: self.value.dtype.itemsize)
attribute("nbytes", lambda self: math.prod(self.within.shape(self)) * self.value.dtype.itemsize)
attribute("T", lambda self: np.transpose(self))
attribute("mT", lambda self: np.matrix_transpose(self))
Array.real = property(lambda self: np.real(self), assignment.set_real)
Array.imag = property(lambda self: np.imag(self), assignment.set_imag)
Array.flat = property(assignment.flat, assignment.set_flat)
attribute("flags", lambda self: np.asarray(peel(self)).flags)
attribute("strides", lambda self: np.asarray(peel(self)).strides[-self.ndim :] if self.ndim else ())
attribute("base", lambda self: None if self.storage is None else self.storage.base)
attribute("device", lambda self: "cpu")
Array.__dir__ = lambda self: sorted(
    set(object.__dir__(self)) - {"node", "storage", "value", "within"}
)


# The array API standard.


def array_namespace(self, *, api_version=None):
    """`pullback.numpy`, found by name: it lies below."""
    np.empty(0).__array_namespace__(api_version=api_version)  # raises for what NumPy does not have
    return import_module("pullback.numpy")


def to_device(self, device, /, *, stream=None):
    """The Array itself: there is one device, "cpu"."""
    np.empty(0).to_device(device, stream=stream)
    return self


def dlpack(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    """The values of a constant for other libraries; an error for what carries a derivative."""
    keywords = {"max_version": max_version, "dl_device": dl_device, "copy": copy}
    given = {name: value for name, value in keywords.items() if value is not None}
    return np.asarray(self.converted("x.__dlpack__()")).__dlpack__(stream=stream, **given)


Array.__array_namespace__, Array.to_device, Array.__dlpack__ = array_namespace, to_device, dlpack
Array.__dlpack_device__ = lambda self: np.empty(0).__dlpack_device__()


# Values without derivatives: these say in their names that they detach.


def numpy(self):
    """A plain copy of the values."""
    return np.array(told(self, "x.numpy()"))


def item(self, *args):
    """One value as a Python number."""
    value = np.asarray(told(self, "x.item()"))
    if value.shape != self.shape:
        current(self).within.concrete(self, "x.item()")  # of mapped values there are many
    return value.item(*args)


def tolist(self):
    """The values as nested lists of Python numbers."""
    return np.asarray(told(self, "x.tolist()")).tolist()


def detach(self):
    """The values without derivatives, as a constant Array; what is mapped stays mapped."""
    value = stop(self)
    return value if type(value) is Array else Array(value, CONSTANT, None)


Array.numpy, Array.item, Array.tolist, Array.detach = numpy, item, tolist, detach


# What Python's numbers have, and NumPy's scalars with them.


def of_numbers(method):
    def get(self):
        if self.shape or self.dtype.kind != "f":
            raise AttributeError(f"'numpy.ndarray' object has no attribute '{method.__name__}'")
        return partial(method, self)

    return property(get, doc=method.__doc__)


def is_integer(self):
    """Whether a number has no fraction."""
    return bool(np.isfinite(self) & (self == np.floor(self)))


def as_integer_ratio(self):
    """The ratio that a constant is; `statistics` and `fractions` ask for it."""
    return float(self.converted("x.as_integer_ratio()")).as_integer_ratio()


Array.is_integer, Array.as_integer_ratio = of_numbers(is_integer), of_numbers(as_integer_ratio)


# What Python asks for, and gets from the values.


def text(self):
    return str(told(self, "str(x)"))


def formatted(self, spec):
    value = told(self, "format(x)")
    if np.shape(value) != self.shape and spec:  # a mapped number: the values of all examples
        return f"[{', '.join([format(x, spec) for x in np.ravel(value)])}]"
    return format(value, spec)


Array.__str__, Array.__format__ = text, formatted

Array.__copy__ = lambda self: self.copy()
Array.__deepcopy__ = lambda self, memo: self.copy()
Array.__contains__ = lambda self, x: bool(np.any(self == x))


def constant(value):
    """How a pickled Array comes back."""
    return Array(value, CONSTANT, None)


def reduced(self):
    if current(self).within.live:
        raise ConversionError(
            f"An Array {self.within.spec(self)} of `{self.within.name}` cannot be pickled: what it"
            " was computed from would be lost.\n  Pickle `x.numpy()`."
        )
    return constant, (told(self, "pickle"),)


copyreg.pickle(Array, reduced)


# Conversions to raw bytes work for constants, as `numpy.asarray` does.


def raw(name):
    def call(self, *args, **kwargs):
        return getattr(np.asarray(self.converted(f"x.{name}()")), name)(*args, **kwargs)

    call.__name__ = name
    return call


for name in ("tobytes", "tofile", "dump", "dumps"):
    setattr(Array, name, raw(name))


Array.fill, Array.sort, Array.partition = (
    assignment.fill_with,
    assignment.sort,
    assignment.partition,
)
Array.put = method(np.put)


# What reads an array's bits, or changes its shape in place.


def refused(name, instead):
    def call(self, *args, **kwargs):
        raise MissingRuleError(
            f"`x.{name}` changes an Array {self.within.spec(self)} in place or reads its bits,"
            f" which is not supported.\n  {instead}"
        )

    call.__name__ = name
    return call


REFUSED = {
    "__delitem__": "Write `np.delete(x, index)`.",
    "resize": "Write `np.resize(x, shape)`.",
    "byteswap": "Write `x.numpy().byteswap()`.",
    "getfield": "Write `x.astype(dtype)`.",
    "setfield": "Write `np.where(mask, value, x)`.",
    "setflags": "Arrays manage their own memory.",
}
for name, instead in REFUSED.items():
    setattr(Array, name, refused(name, instead))
