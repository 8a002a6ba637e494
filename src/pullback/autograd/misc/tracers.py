"""Graphs under autograd's names."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ...core.reach.calls import call_inside
from ...transforms.record import record

__all__ = ["const_graph", "full_graph"]


def const_graph(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """`fun` with its first arguments given.

    autograd repeats the operations of the first call here. `pullback.compile` does that, and looks
    at what the function decided by its values as well.
    """
    return functools.update_wrapper(functools.partial(fun, *args, **kwargs), fun)


def full_graph(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The record of a call: its entries are the operations, in order."""
    return record(lambda args: call_inside(fun, args, kwargs))(args)
