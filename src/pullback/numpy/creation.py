"""Functions that create arrays: they return constant Arrays, which Arrays can be assigned into."""

from __future__ import annotations

import itertools
import math
import operator
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from ..core.array import Array, is_number, peel
from ..core.errors import ArgumentTypeError
from ..core.instances import INNER, KIND, Instance, viewed
from ..core.operands import HELD, as_array, holds_arrays, leaves
from ..core.reach.namespaces import BEHIND, STANDS
from ..core.reach.twins import with_given_arrays
from ..core.registry import FUNCTIONS
from ..core.scalars import is_python
from ..core.trace import is_live
from ..core.written_numbers import TEXTS, is_numeric, warn_read_as, warn_read_in
from ..primitives import creation
from ..primitives.arguments import common_dtype, known_value, plainly_everywhere, somewhere
from ..primitives.objects import objects_of
from .fresh import is_fresh, made
from .wrapping import FRESH, OWN, answers_for, member

# type that holds an Array -> a function that gives it
AS_ARRAY: dict[type, Any] = {Instance: INNER.__get__, np.poly1d: np.poly1d.coeffs.__get__}

NUMBERS = (bool, int, float, complex)  # they adapt their dtype
KNOWN = frozenset({*NUMBERS, Array, np.float64, np.float32, np.int64})


# What takes no Array that could carry a derivative.


def creator(function: Any) -> Any:
    @answers_for(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if TEXTS:
            warn_of_text(function, args, kwargs)
        return made(function(*args, **kwargs))

    return call


for name in (
    "zeros",
    "ones",
    "empty",
    "eye",
    "identity",
    "fromstring",
    "loadtxt",
    "genfromtxt",
    "fromregex",
    "bartlett",
    "blackman",
    "hamming",
    "hanning",
):
    creator(getattr(np, name))


def warn_of_text(function: Any, args: Any, kwargs: dict[str, Any]) -> None:
    """Warn where a function is given text that was made of an Array, by whatever name."""
    given = args[0] if args else [kwargs.get(name) for name in ("object", "a", "fname", "string")]
    warn_read_in(given, f"numpy.{function.__name__}(text)")


def counting(function: Any) -> Any:
    """What NumPy counts with `arange`, of which a count that is an Array would make floats."""

    @answers_for(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        args = tuple([tuple(map(plain_count, x)) if type(x) is tuple else x for x in args])
        args = tuple(map(plain_count, args))
        return made(function(*args, **{key: plain_count(x) for key, x in kwargs.items()}))

    return call


def plain_count(x: Any) -> Any:
    return operator.index(x) if type(x) is Array and not x.ndim and x.dtype.kind in "iu" else x


counting(np.tri)
counting(np.indices)


@answers_for(np.fromfile)
def fromfile(*args: Any, **kwargs: Any) -> Any:
    """By this name a recording knows that a file is read: the function itself is written in C."""
    return made(np.fromfile(*args, **kwargs))


def ndarray(shape: Any, dtype: Any = float, *memory: Any, **options: Any) -> Any:
    """`np.ndarray(shape, dtype)`, which makes an array as `np.empty` does."""
    buffer = memory[0] if memory else options.get("buffer")
    if (
        type(buffer) is Array
        and buffer.dtype == np.dtype(dtype)
        and len(memory) + len(options) == 1
    ):
        return buffer.reshape(-1)[: math.prod(np.atleast_1d(shape))].reshape(shape)
    if memory or options.keys() - {"order"}:
        return np.ndarray(shape, dtype, *memory, **options)
    return made(np.ndarray(shape, dtype, **options))


STANDS[id(np.ndarray)] = ndarray
creator(np.fft.fftfreq)
creator(np.fft.rfftfreq)


@answers_for(np.kaiser)
def kaiser(M: Any, beta: Any) -> Any:
    return made((FUNCTIONS[np.kaiser] if type(beta) is Array else np.kaiser)(M, beta))


# What NumPy dispatches, and makes of plain arguments.
FRESH.update(
    {np.zeros_like, np.ones_like, np.empty_like, np.full_like, np.copy, np.linspace, np.logspace,
     np.geomspace, np.meshgrid, np.diag, np.diagflat, np.tril, np.triu, np.vander, np.concatenate,
     np.stack, np.hstack, np.vstack, np.dstack, np.column_stack, np.block, np.append, np.insert,
     np.delete, np.pad, np.tile, np.repeat, np.resize, np.roll, np.where, np.select, np.choose,
     np.sort, np.cumsum, np.cumprod, np.diff, np.gradient, np.outer, np.kron, np.nan_to_num}
)  # fmt: skip


# From numbers, lists and arrays.


def converter(function: Any, implementation: Any, lists: bool = False, gives: bool = False) -> None:
    """A function that makes an array from its first argument, which may be or hold Arrays.

    lists: of a list of numbers, with nothing else asked, it makes what `as_array` does
    gives: it gives an array back, with nothing else asked
    """

    @answers_for(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs:
            (x,) = args
            kind = type(x)
            if gives and (
                (kind is np.ndarray and x.dtype.kind != "O")
                or (kind is Array and type(x.payload) is np.ndarray and not x.within.maps)
            ):
                return x
            if lists and kind is list:
                kinds = {*map(type, x)}
                if Array in kinds and KNOWN.issuperset(kinds):
                    return as_array(x)
        if kwargs and kwargs.get("like") is not None:
            return function(*args, **kwargs)
        x = args[0] if args else kwargs.get("object", kwargs.get("a"))
        if type(x) is np.ndarray and x.dtype.kind == "O" and holds_arrays(x.ravel().tolist()):
            return of_objects(function, x, args, kwargs)
        if type(x) is Array or holds_arrays(x):
            kwargs.pop("like", None)
            dtype = kwargs.get("dtype", (*args, None, None)[1])
            if is_of_objects(function, x, dtype):
                return function(objects_of(x), *args[1:], **without_first(kwargs))
            if (
                dtype is not None
                and np.dtype(dtype).kind == "f"
                and any(y is None for y in leaves(x))
            ):
                return call(without_none(x), *args[1:], **without_first(kwargs))
            return implementation(x, *args, **kwargs)
        held = AS_ARRAY.get(type(x))
        if type(x) in HELD:
            inner = HELD[type(x)](x)
            if inner is not None and kwargs.get("dtype", (*args, None, None)[1]) is not object:
                return call(inner, *args[1:], **kwargs)
        if type(x) is Instance and (function is np.asanyarray or kwargs.get("subok")):
            dtype = kwargs.get("dtype", (*args, None, None)[1])
            copy = kwargs.get("copy", function is not np.asanyarray)
            return of_its_class(x, dtype, copy, kwargs.get("ndmin", 0))
        if held is not None:
            return call(held(x), *args[1:], **kwargs)
        return with_given_arrays(convert, function, args, kwargs)

    def convert(function: Any, args: Any, kwargs: Any) -> Any:
        out = function(*args, **kwargs)
        if TEXTS and is_numeric(out.dtype):
            warn_of_text(function, args, kwargs)
        return made(out) if is_fresh(out, args[0] if args else None) else out


def of_objects(function: Any, x: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """An array of objects, Arrays among them, as another: of numbers, or of the same objects."""
    dtype = kwargs.get("dtype", (*args, None, None)[1])
    if dtype is None or np.dtype(dtype).kind == "O":
        return function(*args, **kwargs)
    return OWN[function](x.tolist(), *args[1:], **without_first(kwargs))


def without_none(x: Any) -> Any:
    """Nested lists with NaN in place of None, as in NumPy's arrays of floats."""
    if type(x) in (list, tuple):
        return [without_none(item) for item in x]
    return np.nan if x is None else x


def without_first(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Keyword arguments without what may name the first argument."""
    return {name: x for name, x in kwargs.items() if name not in ("object", "a")}


def of_its_class(x: Instance, dtype: Any, copy: Any, ndmin: int) -> Any:
    """An object of a class that derives from ndarray as one of that class, `subok=True`."""
    if dtype is not None and np.dtype(dtype) != x.dtype:
        x = x.astype(dtype)
    elif copy:
        x = x.copy()
    if x.ndim >= ndmin:
        return x
    inner = INNER.__get__(x)
    return viewed(inner.reshape((1,) * (ndmin - inner.ndim) + inner.shape), KIND.__get__(x), x)


def is_of_objects(function: Any, x: Any, dtype: Any) -> bool:
    """Whether an array that holds Arrays is one of objects, such as None beside them.

    One of records or texts is refused.
    """
    if dtype is not None:
        kinds = [np.dtype(dtype)]
    else:
        kinds = [as_array(y).dtype for y in leaves(x) if type(y) not in KNOWN]
    if any(kind.kind == "O" for kind in kinds):
        return True
    for kind in kinds:
        if kind.kind not in "biufc":
            raise ArgumentTypeError(
                f"`numpy.{function.__name__}` was asked to make an array of {kind} of Arrays, which"
                " hold numbers.\n"
                "  Keep Arrays in a list, or write `x.numpy()` for values without derivatives."
            )
    return False


converter(np.array, creation.array, lists=True)
converter(np.asarray, creation.asarray, lists=True, gives=True)
converter(np.asanyarray, creation.asarray, lists=True, gives=True)
converter(np.ascontiguousarray, creation.ascontiguousarray)
converter(np.asfortranarray, creation.asfortranarray)
converter(np.require, creation.require)


def array_of_array(x: Any, dtype: Any = None, copy: Any = None) -> Any:
    """`x.__array__()` in code that takes part, where an ndarray gives itself."""
    return (OWN[np.array] if copy else OWN[np.asarray])(x, dtype=dtype)


STANDS[id(Array.__array__)] = array_of_array


# Polynomials, which hold an array of coefficients.


def poly1d(c_or_r: Any, r: bool = False, variable: str | None = None) -> Any:
    """`numpy.poly1d` of numbers, or of roots, that may be Arrays."""
    if type(c_or_r) is Array or holds_arrays(c_or_r):
        c_or_r = as_array(c_or_r)
        c_or_r = c_or_r if c_or_r.ndim else np.reshape(c_or_r, -1)
    return np.poly1d(c_or_r, r, variable)


STANDS[id(np.poly1d)] = poly1d
BEHIND[id(poly1d)] = np.poly1d


def of_polynomials(function: Any) -> None:
    """A function of polynomials, which may be some that hold an Array."""
    usual = member(function)

    @answers_for(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        held = [type(x) is np.poly1d and type(x.coeffs) is Array for x in args]
        return (FUNCTIONS[function] if any(held) else usual)(*args, **kwargs)


for each in (np.polyval, np.polyadd, np.polysub, np.polymul, np.polydiv, np.polyder, np.polyint,
             np.roots):  # fmt: skip
    of_polynomials(each)


@answers_for(np.asarray_chkfinite)
def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> Any:
    asked = {} if dtype is order is None else {"dtype": dtype, "order": order}
    x = OWN[np.asarray](a, **asked)
    known = known_value(x)
    finite = np.isfinite(x if known is None else known) if x.dtype.kind in "fc" else True
    if not plainly_everywhere(finite) and somewhere(np.logical_not(finite)):
        raise ValueError("array must not contain infs or NaNs")
    return x


@answers_for(np.from_dlpack)
def from_dlpack(x: Any, /, *args: Any, **kwargs: Any) -> Any:
    if type(x) is not Array:
        return np.from_dlpack(x, *args, **kwargs)
    if not x.dtype.isnative:
        raise BufferError("DLPack only supports native byte order.")
    array: Any = x
    return np.copy(x) if kwargs.get("copy") or is_number(x) else array[...]


@answers_for(np.frombuffer)
def frombuffer(buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0, **kw: Any) -> Any:
    if type(buffer) is not Array:
        return np.frombuffer(buffer, dtype, count, offset, **kw)
    plain = np.empty(buffer.shape, buffer.dtype)
    if not peel(buffer).flags.c_contiguous:
        plain = np.empty((*buffer.shape, 2), buffer.dtype)[..., 0]
    like = np.frombuffer(plain, dtype, count, offset)  # raises what NumPy raises
    flat, size = np.reshape(buffer, -1), buffer.dtype.itemsize
    if like.dtype == buffer.dtype and not offset % size:
        return flat[offset // size :][: like.size]
    return flat.view(np.uint8)[offset:][: like.nbytes].view(like.dtype)


@answers_for(np.full)
def full(shape: Any, fill_value: Any, *args: Any, **kwargs: Any) -> Any:
    if kwargs.get("like") is None and (type(fill_value) is Array or holds_arrays(fill_value)):
        kwargs.pop("like", None)
        dtype = kwargs.get("dtype", (*args, None)[0])
        if dtype is not None and np.dtype(dtype).kind == "O":
            return np.broadcast_to(objects_of(fill_value), shape).copy()
        fill = as_array(fill_value)
        return np.copy(creation.full(fill, shape, fill, *args, **kwargs))
    if TEXTS:
        warn_read_as(kwargs.get("dtype", (*args, None)[0]), fill_value, "numpy.full(shape, text)")
    return made(np.full(shape, fill_value, *args, **kwargs))


@answers_for(np.arange)
def arange(*args: Any, **kwargs: Any) -> Any:
    found = [x for x in (*args, *kwargs.values()) if type(x) is Array and x.within.live]
    if found and kwargs.get("like") is None:
        kwargs.pop("like", None)
        return creation.arange(found[0], *args, **kwargs)
    return made(np.arange(*args, **kwargs))


@answers_for(np.fromiter)
def fromiter(iter: Any, dtype: Any, count: int = -1, **kwargs: Any) -> Any:
    items = list(iter if count < 0 else itertools.islice(iter, count))
    if np.dtype(dtype).hasobject:
        return np.fromiter(items, dtype, len(items), **kwargs)
    if any(type(x) is Array for x in items):
        whole, element = np.dtype(dtype), np.dtype(dtype).base
        if whole.shape and any(np.shape(x) != whole.shape for x in items):
            return np.fromiter([peel(x) for x in items], dtype, **kwargs)  # raises
        return OWN[np.array](items, dtype=element)
    if TEXTS:
        warn_read_as(dtype, items, "numpy.fromiter(texts)")
    return made(np.fromiter(items, dtype, count, **kwargs))


# `np.r_[a, 1:4, x]` and `np.mgrid[0:1:5j]`.


class MadeByIndex(ABC):
    """An object of NumPy's that makes arrays when it is indexed; `live` makes those that carry
    derivatives.
    """

    def __init__(self, real: Any) -> None:
        self.real = real
        OWN[real] = self

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    def __getitem__(self, key: Any) -> Any:
        return self.live(key) if is_live_key(key) else made(self.real[without_arrays(key)])

    @abstractmethod
    def live(self, key: Any) -> Any:
        """The array, if the key holds what carries derivatives."""


class Concatenator(MadeByIndex):
    """`np.r_` and `np.c_`: slices are ranges, numbers and arrays are joined along an axis."""

    def __init__(self, real: Any, axis: int = 0, ndim: int = 1, lead: int = -1) -> None:
        super().__init__(real)
        self.axis, self.ndim, self.lead = axis, ndim, lead

    def live(self, key: Any) -> Any:
        axis, ndim, lead = self.axis, self.ndim, self.lead
        entries = list(key) if type(key) is tuple else [key]
        if type(entries[0]) is str:
            directive = entries.pop(0)
            if directive in ("r", "c"):
                raise ArgumentTypeError(
                    f"`numpy.r_[{directive!r}, ...]` makes a matrix, which pullback does not"
                    " trace.\n  Write `np.atleast_2d(...)`, or `np.c_[...]` for a column."
                )
            given = [int(n) for n in directive.split(",")]
            axis, ndim, lead = [*given, ndim, lead][:3] if len(given) != 1 else (*given, ndim, lead)
        parts = [span(x) if type(x) is slice else as_array(x) for x in entries]
        numbers = map(is_python, entries)
        dtype = common_dtype(
            [x if n else p for x, p, n in zip(entries, parts, numbers, strict=True)]
        )
        joined = [placed(part, ndim, lead).astype(dtype) for part in parts]
        return np.concatenate(joined, axis=axis)


def placed(x: Any, ndim: int, lead: int) -> Any:
    """x with axes of length 1 added up to ndim: its own axes begin at `lead`, -1 for the end."""
    n = x.ndim
    if n >= ndim:
        return x
    before = ndim - n if lead == -1 else lead if lead >= 0 else ndim - n + lead + 1
    return np.reshape(x, (1,) * before + x.shape + (1,) * (ndim - n - before))


def span(s: slice) -> Any:
    """The numbers that a slice stands for: by steps, or, with an imaginary step, so many."""
    start = 0 if s.start is None else s.start
    step = 1 if s.step is None else s.step
    if isinstance(step, complex):
        return np.linspace(start, s.stop, int(abs(step)))
    return OWN[np.arange](start, s.stop, step)


def numbers_of(s: slice) -> tuple[Any, Any, Any]:
    """Start, stop and step of a slice; an imaginary step is a number of points."""
    step = 1 if s.step is None else s.step
    start = 0 if s.start is None else s.start
    return start, s.stop, abs(step) if isinstance(step, complex) else step


def counted_span(s: slice, dtype: Any) -> Any:
    """The same as steps counted from the start, as a grid has them: the last may not be the end."""
    start, stop, step = numbers_of(s)
    if isinstance(s.step, complex):
        n = int(step)
        step = 1 if n == 1 else (stop - start) / float(n - 1)
    else:
        n = len(span(s))
    return np.arange(n, dtype=dtype) * step + start


class Grid(MadeByIndex):
    """`np.mgrid` and `np.ogrid`."""

    def __init__(self, real: Any, sparse: bool) -> None:
        super().__init__(real)
        self.sparse = sparse

    def live(self, key: Any) -> Any:
        if type(key) is slice:
            if not isinstance(key.step, complex):
                return span(key)
            return counted_span(key, np.result_type(*numbers_of(key)))
        dtype = np.result_type(0, *[x for s in key for x in numbers_of(s)])
        axes = [counted_span(s, dtype) for s in key]
        if self.sparse:
            return tuple(np.meshgrid(*axes, indexing="ij", sparse=True, copy=False))
        return np.stack(np.meshgrid(*[x.astype(dtype) for x in axes], indexing="ij", copy=False))


def parts_of(key: Any) -> list[Any]:
    entries = key if type(key) is tuple else (key,)
    return [y for x in entries for y in ((x.start, x.stop, x.step) if type(x) is slice else (x,))]


def is_live_key(key: Any) -> bool:
    return any(is_live(x) or holds_arrays(x) for x in parts_of(key))


def without_arrays(key: Any) -> Any:
    """A key with constants as the plain arrays and numbers that they are."""
    if type(key) is tuple:
        return tuple(map(without_arrays, key))
    if type(key) is slice:
        return slice(*map(peel, (key.start, key.stop, key.step)))
    return peel(key)


Concatenator(np.r_)
Concatenator(np.c_, axis=-1, ndim=2, lead=0)
Grid(np.mgrid, sparse=False)
Grid(np.ogrid, sparse=True)
