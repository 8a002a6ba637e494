"""What users say about rebinding: instrument, uninstrument, and the switch."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextvars import Token
from types import FunctionType, MethodType, ModuleType
from typing import Any, TypeVar

from .errors import ArgumentTypeError, kind_of
from .namespaces import INSTRUMENTED, VERDICTS, functions_of
from .rebind import OFF, SESSION, Entry, switch

__all__ = ["instrument", "rebinding", "uninstrument"]

T = TypeVar("T")
ASYNCHRONOUS = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR  # asked for by flags of the code


def copied(fn: Any) -> Any:
    out: Any = FunctionType(
        fn.__code__, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__
    )
    out.__kwdefaults__, out.__qualname__ = fn.__kwdefaults__, fn.__qualname__
    out.__module__, out.__doc__ = fn.__module__, fn.__doc__
    return out


def entry_of(fn: Any) -> Entry | None:
    return next((x for x in fn.__code__.co_consts if type(x) is Entry), None)


def functions_in(thing: Any) -> list[Any]:
    if isinstance(thing, ModuleType):
        mine = [x for x in vars(thing).values() if getattr(x, "__module__", None) == thing.__name__]
        return [fn for x in mine for fn in functions_of(x)]
    if not isinstance(thing, (type, FunctionType)):
        raise ArgumentTypeError(
            f"`instrument` takes a module, a class or a function, but got {kind_of(thing)}.\n"
            "  Write `pullback.instrument(type(x))` for the methods of an object."
        )
    return list(functions_of(thing))


def instrument(thing: T) -> T:
    """Have the methods of a class, or all functions of a module, rebound wherever they are called.

    >>> @instrument
    ... class Spring:
    ...     def force(self, x):
    ...         return -2.0 * x

    Under a transformation a function and what it reaches by name run with `pullback.numpy` for
    `numpy`; methods do not, because classes are never copied. This exchanges the code of their
    functions for a switch: plain NumPy when no transformation runs, rebound under one. Functions
    and classes stay the objects that they are; `uninstrument` undoes it.

    Args:
        thing: a class, a module (with the classes in it) or a function; it is returned.
    """
    for fn in functions_in(thing):
        if entry_of(fn) is None and not fn.__code__.co_flags & ASYNCHRONOUS:
            entry = Entry(copied(fn))
            fn.__dict__.setdefault("__wrapped__", entry.fun)  # whose signature is shown
            fn.__code__ = switch(fn, entry)
            INSTRUMENTED.add(fn)
    VERDICTS.clear()
    return thing


def uninstrument(thing: T) -> T:
    """Undo `instrument`.

    >>> class Spring:
    ...     def force(self, x):
    ...         return -2.0 * x
    >>> code = Spring.force.__code__
    >>> uninstrument(instrument(Spring)).force.__code__ is code
    True
    """
    for fn in functions_in(thing):
        entry = entry_of(fn)
        if entry is not None:
            fn.__code__ = entry.fun.__code__
            INSTRUMENTED.discard(fn)
            if fn.__dict__.get("__wrapped__") is entry.fun:
                del fn.__dict__["__wrapped__"]
    VERDICTS.clear()
    return thing


class rebinding:  # a context manager, named like `no_grad`
    """Say whether transformations that begin here rebind; a context manager and a decorator.

    >>> import numpy as np
    >>> from pullback import grad
    >>> with rebinding(False):
    ...     grad(np.sin)(0.0)
    np.float64(1.0)

    Without rebinding, NumPy's own protocols alone serve: what they do not reach, such as
    `np.array([x, y])` or `math.sin(x)`, raises. A decorated function always runs with NumPy itself.
    For a whole process set the environment variable `PULLBACK_REBINDING=0`.
    """

    def __init__(self, enabled: bool) -> None:
        self.enabled = enabled
        self.tokens: list[Token[Any]] = []

    def __enter__(self) -> rebinding:
        session = SESSION.get()
        if not self.enabled:
            session = OFF
        elif session is OFF:
            session = None
        self.tokens.append(SESSION.set(session))
        return self

    def __exit__(self, *exception: Any) -> None:
        SESSION.reset(self.tokens.pop())

    def __call__(self, fun: Callable[..., Any]) -> Callable[..., Any]:
        return Switched(fun, self.enabled)


class Switched:
    """A function that decides for itself; it is an object, and so it is not rebound."""

    def __init__(self, fun: Callable[..., Any], enabled: bool) -> None:
        functools.update_wrapper(self, fun)
        self.fun, self.enabled = fun, enabled

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        with rebinding(self.enabled):
            return self.fun(*args, **kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else MethodType(self, instance)
