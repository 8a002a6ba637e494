"""SciPy's results as a form and the arrays in it, and back.

form_of   a result -> its form, and the numbers in it
fit       another result of the same form -> the numbers in it, with what is known of each
checked   the same numbers, if each has the same shape as the recorded one
made      numbers -> a result of the form
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np

from ...core.array import Array, arrayed, peel
from ...core.spec import NUMERIC
from ...core.trace import is_live
from ...transforms.batch import BatchTrace
from ...transforms.call import as_numpy
from ...transforms.stage import StageTrace
from .plain import Unlifted
from .programs import Changed


class LeafOfResult:
    """A number or an array in a result; a Python number stays finite, as `math` requires.

    varies: what has other lengths in other calls, as those that vary by the same name do; or None
    """

    def __init__(self, x: Any, varies: str | None = None) -> None:
        self.varies = varies
        self.kind, plain = type(x), np.asarray(x)
        self.shape, self.dtype = plain.shape, plain.dtype
        self.is_number = self.kind in (int, float, complex)
        self.is_finite = self.is_number and bool(np.isfinite(plain))


NONE: Mapping[str, str] = {}


class Branch:
    """A container of results."""

    def __init__(self, kind: type, keys: Any, parts: list[Any]) -> None:
        self.kind, self.keys, self.parts = kind, keys, parts


class OfThatCall:
    """A message or an object in a result, such as `hess_inv`: each call has its own."""

    def refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise Changed("a message or an object in a result")

    __call__ = __getitem__ = __iter__ = __len__ = __array__ = __matmul__ = __bool__ = refuse
    __str__ = __repr__ = __format__ = __contains__ = __eq__ = __ne__ = __hash__ = refuse

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.refuse()


class CallableOfThatCall(OfThatCall):
    """A function in a result, such as `sol`: what it gives is found by solving again."""

    def __init__(self, at: Any = None) -> None:
        self.at = at

    def __call__(self, t: Any) -> Any:
        return self.at(t)


def items_of(x: Any) -> tuple[Any, list[Any]] | None:
    """Keys and items of a container; None of what is none."""
    if isinstance(x, dict):
        return tuple(x), list(x.values())
    if type(x) in (tuple, list) or (isinstance(x, tuple) and hasattr(x, "_fields")):
        return None, list(x)
    return None


def form_of(
    x: Any, leaves: list[Any], varying: Mapping[str, str] = NONE, varies: str | None = None
) -> Any:
    """The form of a result, whose numbers are put into `leaves`.

    varying: what varies in length, by the keys of the arrays; varies: that of x
    """
    found = items_of(x)
    if found is not None:
        keys, items = found
        parts = [
            OfThatCall()
            if key == "message"
            else form_of(item, leaves, varying, varying.get(key, varies))
            for key, item in zip(keys or [None] * len(items), items, strict=True)
        ]
        return Branch(type(x), keys, parts)
    if type(x) is Array and not is_live(x):
        x = x.payload
    numeric = isinstance(x, (np.number, np.ndarray)) and x.dtype.char in NUMERIC
    if type(x) in (int, float, complex) or numeric:
        leaves.append(np.asarray(x)[()] if type(x) is not np.ndarray else x)
        return LeafOfResult(x, varies if np.ndim(x) else None)
    if is_live(x):
        raise Unlifted
    if x is None or isinstance(x, (bool, np.bool_, str)):
        return x
    return CallableOfThatCall() if callable(x) else OfThatCall()


def holds_objects(form: Any) -> bool:
    """Whether a result holds more than numbers, such as a sparse array."""
    parts = form.parts if type(form) is Branch else [form]
    return any(isinstance(x, OfThatCall) or (type(x) is Branch and holds_objects(x)) for x in parts)


def equivalent(kind: type, other: type) -> bool:
    """Whether two container classes are equivalent; SciPy makes new named tuples in each call."""
    return kind is other or getattr(kind, "_fields", 0) == getattr(other, "_fields", 1)


def fit(form: Any, x: Any) -> list[tuple[LeafOfResult, Any]]:
    """The numbers of another result, which is to be of this form but for their shapes.

    Raises:
        Changed: it is of another form.
    """
    if type(form) is Branch:
        keys, items = items_of(x) or (None, [])
        if not equivalent(type(x), form.kind) or keys != form.keys or len(items) != len(form.parts):
            raise Changed("a result of another form")
        pairs = zip(form.parts, items, strict=True)
        return [leaf for part, item in pairs for leaf in fit(part, item)]
    if type(form) is LeafOfResult:
        return [(form, x)]
    if isinstance(form, OfThatCall) or np.all(peel(x) == form):
        return []
    raise Changed("another message")


def checked(leaves: list[tuple[LeafOfResult, Any]]) -> list[Any]:
    """The numbers that `fit` has found.

    Raises:
        Changed: one is of another shape, or not finite while Python's number was.
    """
    found = []
    for form, x in leaves:
        if type(x) is float and form.kind is float and form.is_finite and isfinite(x):
            found.append(np.float64(x))
            continue
        x = as_numpy(x)
        if x.shape != form.shape or x.dtype != form.dtype:
            raise Changed("a result of another shape")
        if form.is_finite and not np.all(np.isfinite(peel(x))):
            raise Changed("a result that is not finite")
        found.append(x)
    return found


def made(form: Any, outs: Any, of_python: bool = True) -> Any:
    """A result of this form; of_python: Python's numbers in it are such again."""
    if type(form) is Branch:
        parts = [made(part, outs, of_python) for part in form.parts]
        if form.keys is not None:
            whole: Any = form.kind.__new__(form.kind)  # type: ignore[call-overload]  # any class
            whole.update(zip(form.keys, parts, strict=True))
            return whole
        return form.kind(*parts) if hasattr(form.kind, "_fields") else form.kind(parts)
    if type(form) is not LeafOfResult:
        return form
    out = next(outs)
    if form.is_number and of_python:
        return as_number(out) if type(out) is Array else form.kind(out)
    return arrayed(out) if form.kind is np.ndarray and not form.shape else out


def as_number(x: Array) -> Array:
    """x as one of Python's numbers, of which no question is asked."""
    trace = x.within
    if isinstance(trace, StageTrace):
        trace.state.weak.add(x.node)
        return x
    if isinstance(trace, BatchTrace) or type(x.payload) is not Array:
        return trace.number(x)
    return Array(as_number(x.payload), trace, x.node)
