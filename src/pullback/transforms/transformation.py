"""Transformed functions, and what can be transformed: functions whose body runs when called."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any, NoReturn, Self, cast

import numpy as np

from ..core.errors import ArgumentTypeError, ConversionError, kind_of, name_of
from ..core.reach.instrument import Context
from ..core.reach.walk import OURS
from ..core.temporary import Within
from ..core.usage import USAGE, listing

PACKAGE = __name__.partition(".")[0] + "."


class OfOneCall:
    """What holds the numbers of one call, and nothing that changes: a copy is the same."""

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        raise ConversionError(
            f"{self!r} cannot be pickled: it holds what one call computed.\n"
            "  Pickle the function and its arguments, and repeat the call."
        )


class Transformation:
    """A transformed function. It shows the function that it transforms as `.fun`."""

    verb = "transformation"
    __dir__ = listing("fun")

    def __init_subclass__(cls) -> None:
        if cls.__module__.startswith(PACKAGE):
            OURS.add(cls)

    def __init__(self, fun: Callable[..., Any]) -> None:
        check_function(fun, self.verb)
        self.fun = self.__wrapped__ = fun
        self.__name__ = getattr(fun, "__name__", type(fun).__name__)
        self.__qualname__ = f"{self.verb}({name_of(fun)})"
        self.__doc__ = getattr(fun, "__doc__", None)
        self.__module__ = getattr(fun, "__module__", __name__)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(cast(Any, self), instance)

    def __repr__(self) -> str:
        return f"<{self.__qualname__}>"


class Decorating(Within, metaclass=Context):
    """A context manager without arguments that also decorates functions."""

    def __call__(self, fun: Callable[..., Any]) -> Callable[..., Any]:
        context = type(self)
        check_function(fun, context.__name__)

        @functools.wraps(fun)
        def call(*args: Any, **kwargs: Any) -> Any:
            with context():
                return fun(*args, **kwargs)

        return call


PROMPT = frozenset({np.ufunc, type(np.sum), types.BuiltinFunctionType})  # whose body runs at once
# What turns a function into an attribute of a class.
DESCRIPTORS = (staticmethod, classmethod, property, functools.cached_property)
DEFERRING = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_GENERATOR


def check_function(fun: Any, verb: str) -> None:
    if isinstance(fun, DESCRIPTORS):
        name = type(fun).__name__
        raise ArgumentTypeError(
            f"`{verb}` takes a function, but got {kind_of(fun)}, which must be applied last.\n"
            f"  Write `@{name}` above `@pullback.{verb}`."
        )
    if not callable(fun):
        raise ArgumentTypeError(
            f"`{verb}` takes a function, but got {kind_of(fun)}.\n"
            f"  Write `{USAGE.get(verb, f'{verb}(f)(x)')}`, with the function itself and not its"
            " result."
        )
    if type(fun) is types.FunctionType:
        if not fun.__code__.co_flags & DEFERRING:
            return
    elif type(fun) in PROMPT or isinstance(fun, Transformation):
        return
    for kind, test in (
        ("a coroutine function", inspect.iscoroutinefunction),
        ("an asynchronous generator", inspect.isasyncgenfunction),
        ("a generator function", inspect.isgeneratorfunction),
    ):
        if test(fun) or test(getattr(fun, "__call__", None)):  # noqa: B004  # the method itself
            raise ArgumentTypeError(
                f"`{verb}` was given `{name_of(fun)}`, {kind}, whose body runs after the"
                f" transformation has ended.\n  {instead_of_waiting(kind, verb, fun)}"
            )


def instead_of_waiting(kind: str, verb: str, fun: Any) -> str:
    """What to write for a function whose body runs later."""
    call = "f" if "<" in name_of(fun) else name_of(fun)
    if kind == "a generator function":
        return f"Add up what it yields, `{verb}(lambda x: sum({call}(x)))`, or return a list of it."
    if kind == "a coroutine function":
        return (
            f"Wait for its result, `{verb}(lambda x: asyncio.run({call}(x)))`, or write it as an"
            " ordinary function, which coroutines may call."
        )
    return "Write it as an ordinary function, which coroutines may call."
