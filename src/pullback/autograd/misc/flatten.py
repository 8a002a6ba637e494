"""A tree of arrays and numbers as one vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.reach.calls import call_inside
from ..core import make_vjp

__all__ = ["flatten", "flatten_func"]


def flatten(value: Any) -> tuple[Any, Callable[[Any], Any]]:
    """A nest of tuples, lists and dicts (by sorted keys) as one vector, and the way back.

    >>> vector, unflatten = flatten({"w": np.ones(2), "b": 3.0})
    >>> vector
    array([3., 1., 1.])
    >>> unflatten(vector)["w"]
    array([1., 1.])
    """
    unflatten, vector = make_vjp(joined, value)
    return vector, unflatten


def joined(value: Any) -> Any:
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value)]
    if isinstance(value, (list, tuple)):
        parts = [joined(part) for part in value]
        return np.concatenate(parts) if parts else np.zeros(0)
    return np.ravel(value)


def flatten_func(
    func: Callable[..., Any], example: Any
) -> tuple[Callable[..., Any], Callable[[Any], Any], Any]:
    """`func` from vector to vector, the way back from a vector, and the vector of the example."""
    vector, unflatten = flatten(example)

    def of_vector(x: Any, *args: Any) -> Any:
        return flatten(call_inside(func, (unflatten(x), *args), {}))[0]

    return of_vector, unflatten, vector
