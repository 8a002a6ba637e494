"""The registry: NumPy function -> implementation.

`UFUNCS` holds elementwise primitives; `FUNCTIONS` holds all other functions.
Both are filled where a primitive is declared (`register`, `replaces`) and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from .errors import UnsupportedKeywordError, check_callable, check_functions
from .kinds import Elementwise
from .scalars import OF_NUMPY, rounding
from .usage import usage

LOADERS: list[Callable[[], None]] = []  # import what has not been needed so far


class Registry(dict[Any, Any]):
    """A dict that imports the remaining families before it answers that a key is missing.

    What was looked up in vain holds None from then on, and still isn't in it.
    """

    def __missing__(self, key: Any) -> Any:
        for load in LOADERS:
            load()
        return self.setdefault(key, None)

    def __contains__(self, key: object) -> bool:
        return self.get(key) is not None


UFUNCS: dict[Any, Any] = Registry()  # ufunc -> primitive of one or two operands
FUNCTIONS: dict[Any, Any] = Registry()  # function, or ufunc of another form -> implementation
CREATION: dict[Any, Any] = Registry()  # function -> implementation(x, *args) for `like=x`
METHODS: dict[str, Any] = Registry()  # "reduce", "outer"... -> implementation(ufunc, *args)
REFUSED: dict[Any, tuple[str, str]] = {}  # function -> why it has no rule, and what to do instead


def register(primitive: Elementwise) -> Elementwise:
    """Enter an elementwise primitive under its ufunc."""
    UFUNCS[primitive.ufunc] = primitive
    primitive.value = primitive.fast  # type: ignore[method-assign]  # the ufunc itself
    primitive.converts = not primitive.by_number and takes_floats(primitive.ufunc)
    primitive.arrays = frozenset({ndarray}) if primitive.by_number else OF_NUMPY
    primitive.of_numbers = rounding(primitive)
    return primitive


def takes_floats(ufunc: Any) -> bool:
    """Whether a number beside a float is one as well: no loop is for an integer beside a float."""
    kinds = [{*loop.partition("->")[0]} for loop in ufunc.types]
    return {"d"} in kinds and not any("d" in kind and kind & {*"ilqp"} for kind in kinds)


@usage("replaces(np.sin)")
def replaces(*functions: Any) -> Callable[[Any], Any]:
    """Let a function answer for NumPy functions whenever an Array is among their arguments.

    >>> replaces()(abs) is abs
    True

    It has the signature of the original: it brings lists, axes and defaults into the form of a
    primitive, or composes other functions. What it does not handle it hands to `refuse`.
    Raises:
        ArgumentTypeError: what is no function.
    """
    check_functions(functions, "replaces")

    def enter(implementation: Any) -> Any:
        check_callable(implementation, "replaces(...)", "*args, **kwargs")
        FUNCTIONS.update(dict.fromkeys(functions, implementation))
        return implementation

    return enter


def creates(*functions: Any) -> Callable[[Any], Any]:
    """Let a function answer for NumPy functions that ask an Array only through `like=x`.

    NumPy takes `like` out of the arguments; the implementation has x for its first parameter.
    """

    def enter(implementation: Any) -> Any:
        for function in functions:
            CREATION[function] = implementation
        return implementation

    return enter


def refuse(name: str, **keywords: Any) -> None:
    """Raise for each keyword that was given: not None, and not NumPy's <no value>.

    Implementations on the short way ask for `out` themselves before they call this.
    """
    for keyword, value in keywords.items():
        if value is None or value is np._NoValue:
            continue
        if keyword == "out":
            raise UnsupportedKeywordError(
                f"`{name}` was given `out=`, and writing a traced result into an existing array is"
                f" not supported here.\n  Write `a = {name}(...)` instead."
            )
        raise UnsupportedKeywordError(
            f"`{name}` does not support the keyword `{keyword}={value!r}` on traced Arrays.\n"
            "  Leave it out, or compute the same with other functions."
        )
