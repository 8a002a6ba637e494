"""Arguments: which leaves of a call are inputs, and the key of its cache entry."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import cache
from inspect import Parameter
from typing import Any

import numpy as np

from ...core.array import Array
from ...core.errors import ArgumentError, ArgumentTypeError, name_of
from ...core.messages import brief
from ...core.spec import NUMERIC
from ...core.trace import STARTS
from ...core.tree import flatten
from ..entry.object_layout import error_handling
from ..path import WIDE, Call, order_of, static_key
from ..record.recording import containers_in

CALM = {"warn", "ignore"}


def raising() -> bool:
    """Whether overflow, division by zero or NaN must be reported: by an error, or to a watcher."""
    return STARTS.get() is not None or not CALM.issuperset(error_handling())


def static_of(argnums: Any, argnames: Any) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The static arguments by position and by name, as `compile` was given them."""
    numbers = argnums if isinstance(argnums, (tuple, list)) else (argnums,)
    names = argnames if isinstance(argnames, (tuple, list)) else (argnames,)
    kind: tuple[type, ...]
    for option, other, given, kind in (
        ("static_argnums", "static_argnames", numbers, (int, np.integer)),
        ("static_argnames", "static_argnums", names, (str,)),
    ):
        for x in given:
            if not isinstance(x, kind):
                right = f"{other}={x!r}" if isinstance(x, (int, str)) else "static_argnums=0"
                raise ArgumentTypeError(
                    f"`compile` takes {'names' if str in kind else 'positions'} as {option}, but"
                    f" got {brief(x)}.\n"
                    f"  Write `{right}`."
                )
    return tuple(numbers), tuple(names)


def check_static(fun: Any, numbers: Sequence[int], names: Sequence[str]) -> None:
    """Raise if a function doesn't have one of the static arguments."""
    if not numbers and not names:
        return
    try:
        known = inspect.signature(fun).parameters.values()
    except (TypeError, ValueError):  # it does not tell
        return
    of_kind = lambda *kinds: [p.name for p in known if p.kind in kinds]
    n = len(of_kind(Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD))
    keywords = of_kind(Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    wrong: list[Any] = []
    if not of_kind(Parameter.VAR_POSITIONAL):
        wrong += [i for i in numbers if not -n <= i < n]
    if not of_kind(Parameter.VAR_KEYWORD):
        wrong += [name for name in names if name not in keywords]
    if wrong:
        listed = ", ".join(f"`{p.name!r}`" for p in known)
        raise ArgumentError(
            f"`compile({name_of(fun)})` was asked to take the argument {wrong[0]!r} as static,"
            f" which `{name_of(fun)}` does not have.\n  Name one of {listed}, or its position."
        )


def arranged(
    args: Any, kwargs: Any, static_argnums: Sequence[int], static_argnames: Sequence[str],
    beside: tuple[Any, ...] = (),
) -> Call | None:  # fmt: skip
    """The arguments as inputs and static values; None if they are of kinds that are not compiled.

    beside: what is passed after those by position.
    """
    statics: set[int] = set()  # ids of leaves
    if static_argnums or static_argnames:
        static = [args[i] for i in static_argnums if -len(args) <= i < len(args)]
        static += [kwargs[name] for name in static_argnames if name in kwargs]
        statics = {id(x) for arg in static for x in flatten(arg)[0]}
    args = (*args, *beside)
    if not kwargs and NUMBERS.issuperset(map(type, args)):
        leaves, structure = list(args), of_numbers(len(args))
    else:
        leaves, structure = flatten([list(args), kwargs])
    inputs, floats = [], []
    for i, leaf in enumerate(leaves):
        kind = type(leaf)
        if id(leaf) in statics:
            continue
        if kind is np.ndarray:
            if leaf.dtype.char not in NUMERIC:
                return None
            inputs.append(i)
        elif kind is float or kind is np.float64:
            floats.append(i)
        elif kind is Array:
            return None
    if not all(leaves[i].dtype in WIDE for i in inputs):
        floats = []  # a Python float beside float32 is float32
    order: Any = ()
    if kwargs or len(leaves) != len(args):
        order = [order_of(args), order_of(kwargs)]
        held = [id(x) for x in containers_in([args, kwargs]) if type(x) in (list, dict)]
        if len(set(held)) < len(held):  # one list twice
            return None
    key = key_of(leaves, structure, {*inputs, *floats}), repr(order)
    hash(key)
    return Call(
        leaves,
        structure,
        inputs,
        floats,
        key,
        [leaves[i] for i in inputs],
        [np.float64(leaves[i]) for i in floats],
        args,
    )


NUMBERS = {np.ndarray, np.float64, float}


@cache
def of_numbers(n: int) -> Any:
    """The structure of n arguments that are arrays and floats."""
    return flatten([[0.0] * n, {}])[1]


def key_of(leaves: list[Any], structure: Any, at: set[int]) -> Any:
    parts = tuple(
        [
            (x.shape, x.dtype) if i in at and type(x) is np.ndarray
            else (type(x),) if i in at
            else static_key(x)
            for i, x in enumerate(leaves)
        ]
    )  # fmt: skip
    return structure, parts, error_handling()
