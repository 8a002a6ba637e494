"""Let functions stand for pandas' own, where an argument carries a derivative."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..core.array import Array, peel
from ..core.reach.namespaces import STANDS
from ..core.storage import lend
from ..core.trace import is_live
from .columns import Live
from .reductions import plain


def carries(x: Any) -> bool:
    """Whether an argument carries a derivative into a table that may not do so."""
    kind = type(x)
    if kind is Array:
        return is_live(x)
    if kind is Live:
        return is_live(x.inner)
    if kind in (pd.Series, pd.DataFrame):
        return held(x)
    if kind in (list, tuple):
        return any(map(carries, x))
    return any(map(carries, x.values())) if kind is dict else False


def held(x: Any) -> bool:
    """Whether a Series or a DataFrame has a column that carries a derivative."""
    return any(type(block.values) is Live for block in x._mgr.blocks)


def stands_for(owner: Any, name: str) -> Any:
    """Let a function stand for `owner.name`, which is its first argument."""
    original = vars(owner).get(name)
    original = getattr(original, "__func__", original)

    def enter(f: Any) -> Any:
        if original is not None:
            STANDS[id(original)] = lambda *args, **options: f(original, *args, **options)
        return f

    return enter


def shared(x: Array) -> Any:
    """The values of an Array without a derivative, which pandas keeps if `copy=False`."""
    copy = np.array(peel(x))
    lend(x, copy, "pandas.Series(x, copy=False)")
    return copy if copy.ndim else copy[()]


def plain_array(x: Any) -> Any:
    return shared(x) if type(x) is Array and not is_live(x) else x


def plain_number(x: Any) -> Any:
    return (plain(x) if x.ndim else float(plain(x))) if type(x) is Array else x


def options_of(options: Any) -> Any:
    return {name: plain_number(x) for name, x in options.items()}


def stands_for_compiled(original: Any, ours: Any) -> None:
    """Let a function stand for a compiled one where an argument carries a derivative."""

    def call(*args: Any, **options: Any) -> Any:
        given = [*args, *options.values()]
        if any(map(carries, given)):
            return ours(*map(plain_array, args), **options)
        return original(*map(plain_array, args), **{k: plain_array(x) for k, x in options.items()})

    if original is not None:
        STANDS[id(original)] = call
