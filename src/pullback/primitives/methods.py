"""Give Array its operators and ndarray's methods and attributes; nothing else adds any."""

from __future__ import annotations

import copyreg
import math
import operator
from functools import partial
from importlib import import_module
from inspect import signature

import numpy as np
from numpy import ndarray

from ..core.array import Array, class_of_number, is_number, peel, rank, stop, told
from ..core.errors import ArgumentTypeError, ConversionError, MissingRuleError
from ..core.layout import asked_base, asked_layout
from ..core.locked import flags_of, setflags
from ..core.operands import PLAIN, binary
from ..core.operators import COMPARISONS, INFIX, PREFIX
from ..core.refusals import refuse_as_numpy
from ..core.registry import FUNCTIONS, LOADERS, UFUNCS
from ..core.scalars import is_python
from ..core.spec import dtype_of
from ..core.storage import current
from ..core.trace import CONSTANT
from ..core.usage import refuse_keywords
from ..core.written_numbers import shown
from . import (  # noqa: F401  # each declares its primitives
    assigned_attributes,
    assignment,
    contractions,
    elementwise,
    indexing,
    load,
    matmul,
    parts,
    predicates,
    reading,
    reductions,
    selecting,
    shapes,
    strided,
    views,
)
from .arguments import as_whole, surely
from .elementwise import stopped
from .infix import infix, shortcut
from .items import item, tolist
from .operands import KNOWN, beside, beside_on_the_left, compared_with, factor, takes_over
from .special import python_round_p

LOADERS.append(load)

# Operators: straight to the primitive.


def comparison(ufunc, operation):
    """`x < y`: what infix does, and the trace hears where it was compared first."""
    primitive = UFUNCS[ufunc]
    apply = partial(binary, primitive)

    def forward(self, other):
        trace, kind = self.within, type(other)
        if trace.comparison is None:
            trace.notice()
        if kind is float or kind is int:
            return trace.beside(primitive, 0, self, other)
        if kind is Array:
            if other.within.comparison is None:
                other.within.notice()
        elif kind not in PLAIN:
            return compared_with(operation, apply, self, other)
        return binary(primitive, self, other)

    return forward


def prefix(ufunc):
    primitive = UFUNCS[ufunc]
    return shortcut(primitive, lambda self: self.within.unary(primitive, self), 1)


OPERATORS = {**INFIX, "lshift": np.left_shift, "rshift": np.right_shift}

for name, ufunc in OPERATORS.items():
    forward, reflected = infix(ufunc, getattr(operator, f"__{name}__"))
    setattr(Array, f"__{name}__", forward)
    setattr(Array, f"__r{name}__", reflected)
for name, ufunc in COMPARISONS.items():
    setattr(Array, f"__{name}__", comparison(ufunc, getattr(operator, name)))
for name in PREFIX:
    setattr(Array, f"__{name}__", prefix(PREFIX[name]))

power, power_reflected = infix(np.power, operator.pow)


def power_of(self, other, modulo=None):
    if modulo is not None:
        raise ArgumentTypeError("`pow` of an Array takes two arguments, not three.")
    return power(self, other)


Array.__pow__, Array.__rpow__ = power_of, power_reflected


def are_python(*xs):
    """Whether all are numbers or truth values of Python's."""
    return all(type(x) is bool or is_python(x) for x in xs)


def divmod_of(self, other):
    if are_python(self, other):
        return self // other, self % other  # as Python has it: it may raise
    if type(other) in KNOWN:
        return np.divmod(self, other)
    return beside(divmod, np.divmod, self, other)


def divmod_reflected(self, other):
    if are_python(self, other):
        return other // self, other % self
    return beside_on_the_left(divmod, np.divmod, self, other)


Array.__divmod__, Array.__rdivmod__ = divmod_of, divmod_reflected


def matmul_of(self, other):
    if type(other) not in KNOWN:
        if takes_over(self, other):
            return np.matmul(self, other)
        other = factor(self, other)
        if other is NotImplemented:
            return other
    try:
        return matmul.matmul_p(self, other)
    except ValueError:
        if is_scalar(self) and is_scalar(other):  # `np.matmul` of them is a ValueError
            raise TypeError("unsupported operand type(s) for @: numbers without axes") from None
        raise


def is_scalar(x):
    return is_number(x) if type(x) is Array else not isinstance(x, ndarray)


Array.__matmul__ = matmul_of
Array.__rmatmul__ = lambda self, other: beside_on_the_left(operator.matmul, np.matmul, self, other)


def rounded(self, ndigits=None):
    """`round(x, n)`; without n a number becomes an integer, as NumPy's scalars do."""
    if ndigits is not None and is_number(self) and class_of_number(self) is float:
        out = python_round_p(self, decimals=operator.index(ndigits))
        return out.within.number(out) if type(out) is Array else out
    kind = class_of_number(self) if is_number(self) else np.ndarray
    if self.dtype.kind == "c" or kind is np.bool_:
        name = "numpy.ndarray" if kind is np.ndarray else kind.__name__
        raise TypeError(f"type {name} doesn't define __round__ method")
    if ndigits is None and self.dtype.kind in "iu" and kind is not np.ndarray:
        return self.within.number(self)
    out = np.round(self, ndigits or 0)
    if ndigits is None and not self.shape and surely(np.logical_not(np.isfinite(out))):
        int(peel(out))  # raises what it raises for a number
    if ndigits is None and not self.shape and out.dtype.kind == "f":
        value = peel(out)
        if not np.ndim(value) and abs(value) >= 2.0**63:  # more than NumPy's integers hold
            return int(out)
        out = as_whole(out)
        if type(out) is Array and is_number(self):
            return out.within.number(out)
        return int(out) if is_number(self) else out
    if parts.of_python(self) and type(out) is Array:
        return out.within.number(out)
    return out


Array.__round__ = rounded


for name in (*OPERATORS, "pow", "matmul"):
    setattr(Array, f"__i{name}__", assignment.in_place(getattr(Array, f"__{name}__")))


Array.__getitem__ = reading.getitem
Array.__setitem__ = assignment.setitem
Array.__len__ = indexing.length
Array.__iter__ = indexing.iterate


# Methods that are NumPy's function of the same name.

# fmt: off
SAME_NAME = [
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "choose", "cumprod",
    "cumsum", "diagonal", "dot", "max", "mean", "min", "nonzero", "prod", "ravel", "repeat",
    "round", "searchsorted", "squeeze", "std", "sum", "swapaxes", "take", "trace", "var",
]
# fmt: on


# Arguments that NumPy's dispatch would not look at.
SURE = frozenset({Array, np.ndarray, int, float, tuple, str, type(None), bool, type, np.dtype})


def method(function):
    def call(self, *args, **kwargs):
        if args or kwargs:
            kinds = {*map(type, args), *map(type, kwargs.values())}
            if not kinds <= SURE or "out" in kwargs:
                return function(self, *args, **kwargs)
        try:
            return FUNCTIONS[function](self, *args, **kwargs)
        except Exception as error:
            unknown = kwargs.keys() - signature(function).parameters
            if unknown and isinstance(error, TypeError):
                given = {name: kwargs[name] for name in kwargs if name in unknown}
                refuse_keywords(function, given, f"x.{function.__name__}")
            refuse_as_numpy(of_arrays, (self, *args), kwargs, error)
            raise

    def of_arrays(x, *args, **kwargs):
        return getattr(x, function.__name__)(*args, **kwargs)

    call.__name__ = function.__name__
    call.__qualname__ = f"Array.{function.__name__}"
    call.__doc__ = f"`numpy.{function.__name__}(x, ...)`."
    return call


for name in SAME_NAME:
    setattr(Array, name, method(getattr(np, name)))

# These methods have other parameters than the functions.
Array.compress = lambda self, condition, axis=None, out=None: np.compress(
    condition, self, axis=axis, out=out
)
Array.clip = lambda self, min=None, max=None, out=None, **keywords: np.clip(
    self, min, max, out=out, **keywords
)
# Of what is not complex, NumPy's method gives the array itself, and its function a copy.
Array.conj = Array.conjugate = lambda self: (
    parts.part_of(self, np.conjugate(self)) if self.dtype.kind == "c" else self
)


def reshape(self, *shape, order="C", copy=None):
    """The same elements in another shape, given as one tuple or as several ints."""
    shape = shape[0] if len(shape) == 1 else shape
    if order == "C" and copy is None:
        return shapes.reshape(self, shape)
    return np.reshape(self, shape, order=order, **({} if copy is None else {"copy": copy}))


def transpose(self, *axes):
    """The axes in another order: reversed, or as given, as one tuple or as several ints."""
    if not axes or (axes[0] is None and len(axes) == 1):
        return shapes.transpose(self)
    return shapes.transpose(self, axes[0] if len(axes) == 1 and not np.isscalar(axes[0]) else axes)


def flatten(self, order="C"):
    """A copy in one dimension."""
    return np.copy(shapes.ravel(self, order))


def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
    """The same numbers in another dtype."""
    dtype = np.dtype(dtype)
    if not np.can_cast(self.dtype, dtype, casting):
        raise ArgumentTypeError(
            f"`astype` cannot cast {self.dtype} to {dtype} with casting={casting!r}."
        )
    if order == "K" or is_number(self) or dtype.kind not in "biufc":
        return np.astype(self, dtype, copy=copy)
    if order == "A":  # also of what is not copied
        order = "F" if shapes.layout(self).flags.fnc else "C"
    return shapes.converted(self, dtype, order, copy)


Array.reshape, Array.transpose, Array.flatten = reshape, transpose, flatten
Array.astype, Array.view = astype, views.view
# The copy of a NumPy scalar is one.
Array.copy = lambda self, order="C": (
    np.astype(self, self.dtype)
    if is_number(self)
    else np.copy(self, order="C" if order is None else order)
)


# Attributes.


def attribute(name, get):
    setattr(Array, name, property(get))


def dtype(self):
    value = self.payload
    return value.dtype if type(value) is ndarray else dtype_of(value)


def shape(self):
    value, trace = self.payload, self.within
    return value.shape if type(value) is ndarray and not trace.maps else trace.shape(self)


Array.shape = property(shape, assigned_attributes.set_shape)
if hasattr(np.ndarray, "_set_shape"):  # by which newer classes of NumPy's assign it
    Array._set_shape = assigned_attributes.set_shape


attribute("dtype", dtype)
attribute("ndim", rank)
attribute("size", lambda self: math.prod(self.within.shape(self)))
attribute("itemsize", lambda self: self.dtype.itemsize)
attribute("nbytes", lambda self: math.prod(self.within.shape(self)) * self.dtype.itemsize)
attribute("T", shapes.transpose)
attribute("mT", lambda self: np.matrix_transpose(self))
Array.real = property(lambda self: np.real(self), assigned_attributes.set_real)
Array.imag = property(lambda self: np.imag(self), assigned_attributes.set_imag)
Array.flat = property(assigned_attributes.flat, assigned_attributes.set_flat)
Array.index = property(assigned_attributes.index_of_flat)
Array.coords = property(assigned_attributes.coords_of_flat)
attribute("flags", flags_of)
attribute("strides", lambda self: asked_layout(self).strides)
attribute("base", asked_base)
attribute("device", lambda self: "cpu")


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


def detach(self):
    """The values without derivatives, as a constant Array; a mapped Array stays mapped."""
    value = stop(self)
    if type(value) is not Array:
        return Array(value, CONSTANT, None)
    return stopped(self) if is_captured(self) else value


def is_captured(x):
    """Whether a trace writes down what a function closes over, which this value is not."""
    while type(x) is Array and not x.within.captures:
        x = x.payload
    return type(x) is Array


Array.numpy, Array.detach = numpy, detach


Array.item, Array.tolist = item, tolist


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


def hexadecimal(self):
    value = told(self, "x.hex()")
    texts = [float(x).hex() for x in np.ravel(value)]
    out = f"[{', '.join(texts)}]" if np.ndim(value) else texts[0]  # of all examples
    return shown(current(self), out, "x.hex()")


Array.hex = of_numbers(hexadecimal)
Array.is_integer, Array.as_integer_ratio = of_numbers(is_integer), of_numbers(as_integer_ratio)


# What Python asks for, and gets from the values.


def text(self):
    return shown(current(self), str(told(self, "str(x)")), "str(x)")


def formatted(self, spec):
    value = told(self, "format(x)")
    if np.shape(value) != self.shape and spec:  # a mapped number: the values of all examples
        out = f"[{', '.join([format(x, spec) for x in np.ravel(value)])}]"
    else:
        out = format(value, spec)
    return shown(current(self), out, "format(x)")


Array.__str__, Array.__format__ = text, formatted

Array.__copy__ = lambda self: self.copy("K")


def contains(self, x):
    if is_number(self):
        raise TypeError(f"argument of type '{self.__class__.__name__}' is not iterable")
    return bool(np.any(self == x))


Array.__contains__ = contains


def constant(value):
    """Rebuild a pickled Array, as a constant."""
    return Array(value, CONSTANT, None)


def reduced(self):
    if current(self).within.live:
        raise ConversionError(
            f"An Array {self.within.spec(self)} of `{self.within.name}` cannot be pickled: what it"
            " was computed from would be lost.\n  Pickle `x.numpy()`. A pool of processes pickles"
            " arguments: under a transformation use threads, `ThreadPoolExecutor()`."
        )
    return constant, (told(self, "pickle"),)


copyreg.pickle(Array, reduced)
Array.__getstate__ = lambda self: reduced(self)[1][0]


# Conversions to raw bytes work for constants, as `numpy.asarray` does.


def raw(name):
    def call(self, *args, **kwargs):
        return getattr(np.asarray(self.converted(f"x.{name}()")), name)(*args, **kwargs)

    call.__name__ = name
    call.__code__ = call.__code__.replace(co_name=name)  # by which a recording knows what it does
    return call


for name in ("tobytes", "tofile", "dump", "dumps"):
    setattr(Array, name, raw(name))


Array.fill, Array.sort, Array.partition = (
    assigned_attributes.fill_with,
    assigned_attributes.sort,
    assigned_attributes.partition,
)
Array.put = method(np.put)
Array.setflags = setflags


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
}
for name, instead in REFUSED.items():
    setattr(Array, name, refused(name, instead))


def whole_field(self, dtype, offset):
    """Whether a field of the elements is all of them."""
    return offset == 0 and np.dtype(dtype) == self.dtype


def getfield(self, dtype, offset=0):
    if whole_field(self, dtype, offset):
        return self.view()
    return refused("getfield", REFUSED["getfield"])(self)


def setfield(self, value, dtype, offset=0):
    if not whole_field(self, dtype, offset):
        refused("setfield", REFUSED["setfield"])(self)
    self[...] = value


Array.getfield, Array.setfield = getfield, setfield
