"""Register rules for compiled code inside SciPy; the SciPy Python code above it is traced as usual.

`scipy.ndimage.gaussian_filter` is Python down to `_nd_image.correlate1d`, which computes lines of
an image into an array that it is given. The rule stands for that function:

    @leaf(_nd_image.correlate1d)
    def correlate1d(input, weights, axis, output, mode, cval, origin):
        output[...] = stencil_p(input, weights, cval, ...)

It's called if one of the arguments carries a derivative or a batch, or is recorded; otherwise
SciPy's function gets the plain arrays, and its results are constants that can be assigned into.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, update_wrapper
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from ...core.array import Array
from ...core.errors import ArgumentError
from ...core.reach.calls import call
from ...core.reach.compiled_code import foreign
from ...core.reach.namespaces import BEHIND, STANDS
from ...core.registry import replaces
from ...core.trace import is_live
from ...numpy.wrapping import OWN, made, member, seeking
from .operation import as_recorded
from .plain import solve

CALLED = FunctionType, MethodType
take = member(np.take)  # of plain arrays at indices that are mapped, which NumPy would convert
KEPT: list[Any] = []  # what ids in STANDS are of


def for_all(condition: Any) -> bool:
    """Whether it holds for all numbers, asked as SciPy's code asks.

    Where examples that are mapped answer differently, the call is made for each.
    """
    return bool(np.all(condition))


def leaf(*originals: Any, solves: bool = False) -> Callable[[Any], Any]:
    """Let a function answer for compiled ones inside SciPy, wherever SciPy's Python calls them.

    It is called with a function of the user's as well, since what that closes over is not seen.

    solves: whether it asks SciPy for what goes by values and writes into no argument, so that it
        is one operation in a recording.
    """

    def enter(rule: Any) -> Any:
        called = recorded(rule) if solves else rule
        for original in originals:
            stand_in = asking(original, called)
            STANDS[id(original)] = stand_in
            BEHIND[id(stand_in)] = original
            KEPT.append(original)
        return rule

    return enter


def recorded(rule: Any) -> Any:
    return update_wrapper(lambda *args, **kwargs: as_recorded(rule, args, kwargs), rule)


def asking(original: Any, rule: Any) -> Any:
    plain = foreign(original)

    def call_leaf(*args: Any, **kwargs: Any) -> Any:
        if any(is_live(x) or type(x) in CALLED for x in each((*args, *kwargs.values()))):
            return rule(*args, **kwargs)
        return made(plain(*args, **kwargs))

    return update_wrapper(call_leaf, original)


def each(args: Any) -> Any:
    """The arguments, and what is in tuples of them."""
    for x in args:
        yield from x if type(x) is tuple else (x,)


def choice(original: Any, *at: int) -> None:
    """Register compiled code that finds indices, labels or truth values: see `chosen`."""
    leaf(original)(chosen(original, *at))


def chosen(original: Any, *at: int) -> Callable[..., Any]:
    """A rule for compiled code whose results carry no derivative.

    at: which arguments it writes results into, where it is given arrays for them.
    """

    def rule(*args: Any) -> Any:
        written = [i for i in at if args[i] is not None]

        def run(values: Any) -> Any:
            plain = [in_order(x) for x in values.tree(args)]
            for i in written:
                plain[i] = np.array(plain[i])
            return original(*plain), [plain[i] for i in written]

        found = solve(run)
        for k, i in enumerate(written):
            store(args[i], found.of(partial(written_by, k)))
        return found.of(lambda result: result[0])

    return rule


def in_order(x: Any) -> Any:
    """An array as it lies in memory where SciPy's Python made it."""
    return np.asarray(x, order="C") if type(x) is np.ndarray else x


def store(output: Any, value: Any) -> None:
    """Write a result where compiled code would have written it."""
    if type(output) is np.ndarray and type(value) is Array:
        raise ArgumentError(
            "A function of SciPy's was given an array to write into, which is plain and cannot"
            " hold a derivative.\n  Use the array that the function returns without `output=`."
        )
    output[...] = value


def python_of(original: Any, python: Callable[..., Any]) -> None:
    """Replace a function that compiled code dispatches by SciPy's Python code behind it."""
    replaces(original)(lambda *args, **kwargs: call(python, args, kwargs))
    ask = seeking(original)
    OWN[original] = update_wrapper(lambda *args, **kwargs: made(ask(*args, **kwargs)), original)


def written_by(k: int, result: Any) -> Any:
    return result[1][k]
