"""The names of `functools`, for programs that are differentiated: caches take Arrays.

>>> import pullback.functools as functools
>>> from pullback import grad
>>> def fibonacci(n, x):
...     @functools.cache
...     def at(n, x):
...         return x if n < 2 else at(n - 1, x) + at(n - 2, x)
...     return at(n, x)
>>> grad(lambda x: fibonacci(30, x))(1.0)
np.float64(1346269.0)

A NumPy scalar is looked up by its value. An Array that stands for one is looked up by identity: of
equal numbers each has a derivative of its own. Arrays with axes are refused, as ndarrays are.
"""

from __future__ import annotations

import functools as real
from collections.abc import Callable
from typing import Any

from .core.array import Array, is_number
from .core.reach.namespaces import rest_of

__all__ = list(real.__all__)


class Key:
    """An Array as a key: itself and no other."""

    __slots__ = ("x",)

    def __init__(self, x: Array) -> None:
        self.x = x

    def __hash__(self) -> int:
        return id(self.x)

    def __eq__(self, other: object) -> bool:
        return type(other) is Key and other.x is self.x


def key(x: Any) -> Any:
    """An argument as a cache looks it up."""
    if type(x) is Array:
        return Key(x) if is_number(x) else x
    return tuple(map(key, x)) if type(x) is tuple else x


def argument(x: Any) -> Any:
    """What a key stands for."""
    if type(x) is Key:
        return x.x
    return tuple(map(argument, x)) if type(x) is tuple else x


def cached(fun: Callable[..., Any], decorator: Callable[..., Any]) -> Any:
    def called(*args: Any, **kwargs: Any) -> Any:
        return fun(*map(argument, args), **{name: argument(x) for name, x in kwargs.items()})

    results = decorator(called)

    def call(*args: Any, **kwargs: Any) -> Any:
        return results(*map(key, args), **{name: key(x) for name, x in kwargs.items()})

    for name in ("cache_info", "cache_clear", "cache_parameters"):
        setattr(call, name, getattr(results, name))
    return real.update_wrapper(call, fun)


def lru_cache(maxsize: Any = 128, typed: bool = False) -> Any:
    if callable(maxsize):  # `@lru_cache` without parentheses
        return cached(maxsize, real.lru_cache(128, typed))
    decorator = real.lru_cache(maxsize, typed)
    return lambda fun: cached(fun, decorator)


def cache(user_function: Callable[..., Any], /) -> Any:
    return cached(user_function, real.cache)


__getattr__, __dir__ = rest_of(real, __all__, __name__)
