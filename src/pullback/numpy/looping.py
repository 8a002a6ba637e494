"""Functions that call a Python function, and iterators over elements."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core.array import Array, class_of_number
from ..core.errors import ArgumentTypeError
from ..core.layout import example
from ..core.operands import as_array, holds_arrays, masks
from ..core.reach.compiled_code import standing
from ..core.reach.readers import reading
from ..core.reach.session import call_outside
from ..core.reach.twins import masked_alone
from ..core.registry import FUNCTIONS
from ..core.storage import current
from ..core.writes import unravel
from ..core.written_numbers import TEXTS, shown
from ..primitives.arguments import settled
from ..primitives.keys import known
from ..primitives.shapes import laid
from .wrapping import OWN, StandIn, answers_for


def refuse_masked(xs: Any) -> None:
    """Raise for masked arrays, because a loop would see their masked elements."""
    if "numpy.ma" in sys.modules and masks(list(xs)):  # it takes long to import
        raise ArgumentTypeError(
            "A function that loops over elements or rows met a masked array, and would compute with"
            " what is masked.\n"
            "  Pass the data and the mask separately, and select with `np.where(mask, x, 0)`."
        )


def caller(original: Any) -> None:
    """A function of NumPy's that calls one of the user's, which may close over Arrays."""

    @answers_for(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        if masked_alone((*args, *kwargs.values())):
            return call_outside(original, args, kwargs)
        refuse_masked(args)
        return FUNCTIONS[original](*args, **kwargs)


for function in (np.apply_along_axis, np.apply_over_axes, np.piecewise):
    caller(function)


@answers_for(np.fromfunction)
def fromfunction(function: Any, shape: Any, *, dtype: Any = float, **kwargs: Any) -> Any:
    if kwargs.get("like") is not None:
        return np.fromfunction(function, shape, dtype=dtype, **kwargs)
    kwargs.pop("like", None)
    return function(*OWN[np.indices](shape, dtype=dtype), **kwargs)


@answers_for(np.vectorize)
class vectorize(np.vectorize, metaclass=StandIn):  # named as NumPy's
    __doc__ = np.vectorize.__doc__
    real = np.vectorize
    cache: bool
    otypes: Any
    signature: Any

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not callable(self.pyfunc):  # a decorator with keywords
            return super().__call__(*args, **kwargs)
        names = [name for name in kwargs if name not in self.excluded]
        places = [i for i in range(len(args)) if i not in self.excluded]

        def call(xs: Any) -> Any:
            given, named = list(args), dict(kwargs)
            for i, x in zip(places, xs, strict=False):
                given[i] = x
            named.update(zip(names, xs[len(places) :], strict=True))
            return self.pyfunc(*given, **named)

        xs = [args[i] for i in places] + [kwargs[name] for name in names]
        refuse_masked(xs)
        if self.signature is not None:
            return self.by_signature(call, xs)
        return self.by_element(call, xs) if xs else call(xs)

    def by_element(self, call: Any, xs: list[Any]) -> Any:
        """The results for all elements, which come as Python numbers or Arrays of no axes."""
        objects = list(map(elements, xs))
        operands = np.broadcast_arrays(*objects)
        rows = list(zip(*[x.flat for x in operands], strict=True))
        results, first = [], None
        if self.otypes is None:
            if not rows:
                raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
            # NumPy asks for the dtype of a first result, of NumPy's numbers, and calls again.
            first = call([np.reshape(as_array(x), -1)[0] for x in xs])
            results = [first] if self.cache else []
        results += [call(row) for row in rows[len(results) :]]
        n_out = len(results[0]) if results and isinstance(results[0], tuple) else None
        if self.otypes is not None:
            n_out = len(self.otypes) if len(self.otypes) > 1 else None
        out = self.collected(results, operands[0].shape, n_out, first)
        if operands[0].ndim < 2:
            return out
        strides = np.frompyfunc(lambda *_: None, len(xs), 1)(*objects).strides
        axes = tuple(sorted(range(operands[0].ndim), key=lambda axis: -strides[axis]))
        return laid(out, axes) if n_out is None else tuple([laid(o, axes) for o in out])

    def by_signature(self, call: Any, xs: list[Any]) -> Any:
        """Each array ends in core dimensions; those before them are looped over."""
        inputs, outputs = [
            [re.findall(r"\w+", core) for core in re.findall(r"\((.*?)\)", side)]
            for side in self.signature.split("->")
        ]
        if len(inputs) != len(xs):
            raise TypeError(
                f"wrong number of positional arguments: expected {len(inputs)!r}, got {len(xs)!r}"
            )
        xs, loops = [as_array(x) for x in xs], []
        sizes: dict[str, int] = {}
        for x, core in zip(xs, inputs, strict=True):
            n = x.ndim - len(core)
            if n < 0:
                raise ValueError(
                    f"{x.ndim}-dimensional argument does not have enough dimensions for all core"
                    f" dimensions {tuple(core)!r}"
                )
            loops.append(x.shape[:n])
            for name, size in zip(core, x.shape[n:], strict=True):
                if sizes.setdefault(name, size) != size:
                    raise ValueError(
                        f"inconsistent size for core dimension {name!r}: {size!r} vs"
                        f" {sizes[name]!r}"
                    )
        shape = np.broadcast_shapes(*loops)
        xs = [
            np.broadcast_to(x, shape + x.shape[len(loop) :])
            for x, loop in zip(xs, loops, strict=True)
        ]
        results = [call([x[index] for x in xs]) for index in np.ndindex(shape)]
        n_out = None if len(outputs) == 1 else len(outputs)
        given = len(results[0]) if results and isinstance(results[0], tuple) else 1
        if results and given != len(outputs):
            raise ValueError(
                f"wrong number of outputs from pyfunc: expected {len(outputs)!r}, got {given!r}"
            )
        if not results:
            shapes = [shape + tuple([sizes[name] for name in core]) for core in outputs]
            outs = tuple([OWN[np.zeros](s, t) for s, t in zip(shapes, self.otypes, strict=True)])
            return outs[0] if n_out is None else outs
        return self.collected(results, shape, n_out, results[0])

    def collected(
        self, results: list[Any], shape: tuple[int, ...], n_out: int | None, first: Any
    ) -> Any:
        """The results of all calls as one array, or as a tuple of them."""
        columns = [results] if n_out is None else [[r[i] for r in results] for i in range(n_out)]
        firsts = [first] if n_out is None else first
        outs = []
        for i, column in enumerate(columns):
            # As asked for, or as the first one has it; the width of strings depends on all.
            kind = as_array(firsts[i]).dtype if self.otypes is None else np.dtype(self.otypes[i])
            narrows = self.otypes is not None and kind.kind in "iuf" and self.signature is None
            if narrows and any(map(np.iscomplexobj, column)):
                raise TypeError(f"`np.vectorize` was asked for {kind}, but results are complex.")
            if kind.kind == "O":  # any results, one by one
                out = np.empty(len(column), object)
                for place, result in enumerate(column):
                    out[place] = result
            else:
                if kind.kind in "iu":
                    refuse_large(column, kind)
                out = OWN[np.array](column, dtype=kind.char if kind.kind in "SU" else kind)
            outs.append(np.reshape(out, shape + out.shape[1:]))
        return outs[0] if n_out is None else tuple(outs)


def refuse_large(column: list[Any], dtype: Any) -> None:
    """Raise for mapped integers of Python's that a dtype can't hold, as NumPy does for one."""
    limits = np.iinfo(dtype)
    for x in column:
        if type(x) is Array and x.dtype.kind in "iu" and class_of_number(x) is int:
            values = settled(x)
            outside = values[(values < limits.min) | (values > limits.max)]
            if outside.size:
                raise OverflowError(f"Python integer {outside[0]} out of bounds for {dtype}")


class FromFunction:
    """What `np.frompyfunc` makes: a ufunc of a Python function, which may be given Arrays.

    Where NumPy has an array of objects, the numbers that were computed from Arrays are one Array.
    """

    __class__: Any = np.ufunc

    def __init__(self, ufunc: np.ufunc) -> None:
        self.ufunc = ufunc

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        n = self.ufunc.nin
        if holds_arrays(args):
            args = (*map(elements, args[:n]), *args[n:])
        out = (reading(self.ufunc) if TEXTS else self.ufunc)(*args, **kwargs)
        return tuple(map(gathered, out)) if type(out) is tuple else gathered(out)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.ufunc, name)

    def __repr__(self) -> str:
        return repr(self.ufunc)


def elements(x: Any) -> np.ndarray:
    """An array of objects: Arrays of no axes, or the Python numbers of a plain array."""
    array: Any = as_array(x) if holds_arrays(x) else x
    if type(array) is not Array:
        return np.asarray(array, dtype=object)
    x, out = array, np.empty_like(example(array), dtype=object)
    for index in np.ndindex(out.shape):
        out[index] = pythons(x[index])
    return out


def pythons(x: Any) -> Any:
    """An element as NumPy hands it to Python: numbers that fit into Python's own are that."""
    if type(x) is Array and x.dtype.kind in "biu":
        return x.item()
    if type(x) is not Array or x.dtype.char not in "efdFD" or x.within.peels(x):
        return x
    x = x.astype(float if x.dtype.kind == "f" else complex, copy=False)
    return x.within.number(x)


def gathered(items: Any) -> Any:
    """What was computed for each element, as one Array if there are Arrays among it."""
    if type(items) is not np.ndarray or not any(type(x) is Array for x in items.flat):
        return items
    parts = [as_array(x) for x in items.flat]
    return laid(np.reshape(np.stack(parts), items.shape + parts[0].shape), "K", items)


@answers_for(np.frompyfunc)
def frompyfunc(func: Any, /, *args: Any, **kwargs: Any) -> Any:
    return FromFunction(np.frompyfunc(standing(func), *args, **kwargs))


@answers_for(np.ndenumerate)
class ndenumerate(np.ndenumerate, metaclass=StandIn):  # named as NumPy's
    __doc__ = np.ndenumerate.__doc__
    real = np.ndenumerate

    def __new__(cls, arr: Any) -> Any:
        if type(arr) is not Array and not holds_arrays(arr):
            return np.ndenumerate(arr)
        x = as_array(arr)
        return ((index, x[index]) for index in np.ndindex(x.shape))


@answers_for(np.broadcast)
class broadcast(metaclass=StandIn):  # named as NumPy's; of Arrays: their shape and elements
    __doc__ = np.broadcast.__doc__
    real = np.broadcast
    __class__: Any = np.broadcast

    def __new__(cls, *args: Any) -> Any:
        return super().__new__(cls) if holds_arrays(args) else np.broadcast(*args)

    def __init__(self, *args: Any) -> None:
        self.arrays = np.broadcast_arrays(*map(as_array, args))
        self.shape = self.arrays[0].shape
        self.ndim = self.nd = len(self.shape)
        self.size, self.numiter, self.index = self.arrays[0].size, len(args), 0

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self.index >= self.size:
            raise StopIteration
        place = unravel(self.index, self.shape)
        self.index += 1
        return tuple([x[place] for x in self.arrays])

    def reset(self) -> None:
        self.index = 0


# What is asked of a single thing.

OWN[np.isscalar] = np.isscalar  # it asks for the class, which an Array answers


@answers_for(np.iterable)
def iterable(y: Any) -> bool:
    return bool(y.ndim) if type(y) is Array else np.iterable(y)


def printer(original: Any) -> None:
    @answers_for(original)
    def call(x: Any, *args: Any, **kwargs: Any) -> Any:
        if type(x) is not Array:
            return original(x, *args, **kwargs)
        asked = f"numpy.{original.__name__}(x)"
        return shown(current(x), original(known(x, asked)[()], *args, **kwargs), asked)


printer(np.format_float_positional)
printer(np.format_float_scientific)
