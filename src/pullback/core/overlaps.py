"""An array that is written into itself, where NumPy reads again what it has just overwritten.

NumPy puts a source aside that overlaps what it is written to, but not everywhere: in
`x[mask] = x[:3]` later elements are those that earlier ones have replaced. An Array is always
written to as if the source had been copied before. So a call in which that makes a difference
raises; it is tried out on the numbers of the elements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .array import Array
from .errors import ArgumentError
from .layout import example, laid_like
from .storage import root_of


def refuse_overwritten(
    asked: str, cure: str, x: Array, sources: Iterable[Any], write: Callable[..., Any] | None
) -> None:
    """Raise where NumPy would read elements of x that it has already overwritten.

    asked, cure: the call, and what to write instead.
    sources: what is written into x; of these, views of it or of what x is a view of may overlap it.
    write: does the same to plain arrays; None if that depends on values that are not known.
    """
    root, sources = root_of(x), list(sources)
    overlapping = [type(v) is Array and root_of(v) is root for v in sources]
    if not any(overlapping):
        return
    if write is not None:
        results = []
        for take in np.asarray, np.copy:
            numbers = numbered(root)
            parts = [
                take(view_of(numbers, v)) if overlaps else np.zeros(np.shape(v), numbers.dtype)
                for v, overlaps in zip(sources, overlapping, strict=True)
            ]
            write(view_of(numbers, x), *parts)
            results.append(numbers)
        if np.array_equal(results[0], results[1]):
            return
    raise ArgumentError(
        f"`{asked}` reads a view of the array that it writes to: NumPy would read elements that it"
        f" has already overwritten.\n  Write `{cure}`."
    )


def refuse_overlap(function: Any, args: Any, kwargs: dict[str, Any], out: Array) -> None:
    """Raise where a function of a list of arrays reads what it has already written to `out=`."""
    arrays, *place = args if args else [kwargs["arrays"]]
    axis = place[0] if place else kwargs.get("axis", 0)
    call = f"numpy.{function.__name__}(xs, out=a)"
    refuse_overwritten(
        call,
        call.replace("xs", "[x.copy() for x in xs]"),
        out,
        arrays,
        lambda a, *xs: function(xs, axis=axis, out=a),
    )


def numbered(root: Array) -> np.ndarray:
    """The numbers of a root's elements, in an array that lies in memory as it does."""
    value = example(root)
    complexes = value.dtype.kind == "c"
    out = laid_like(value, dtype=np.dtype(complex if complexes else int))
    out[...] = np.arange(value.size).reshape(value.shape)
    if complexes:
        out.imag = out.real + 0.5
    return out


def view_of(numbers: np.ndarray, v: Array) -> Any:
    """What v, a view of a root, sees of an array that lies in memory as the root does."""
    steps = []
    while v.storage is not None and v.storage.root is not None:
        if not v.storage.copies:  # `x.flat` stands for x
            steps.append(v.storage)
        v = v.storage.base
    for storage in reversed(steps):
        numbers = storage.read(numbers)
    return numbers
