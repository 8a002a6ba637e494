"""Containers of compiled code keep the Arrays that they are given.

Compiled code gets a constant Array as the plain array that it is. A container computes nothing: of
`d = OrderedDict(k=a)` and then `a[0] = x` a program expects that `d["k"]` is `a`.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable
from typing import Any

from ..array import Array

KEEPERS = dict, list, tuple, set, frozenset, deque, functools.partial


def keeping(cls: Any, given: Callable[[Any], Any]) -> Any:
    """A class of containers, called with all but Arrays as `given` has it."""

    def kept(x: Any) -> Any:
        return x if type(x) is Array else given(x)

    def call(*args: Any, **kwargs: Any) -> Any:
        return cls(*map(kept, args), **{name: kept(x) for name, x in kwargs.items()})

    return call
