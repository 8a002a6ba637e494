"""Users' control over reach: a switch, and two names from when classes had to be declared."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import FunctionType, MethodType, ModuleType
from typing import Any, NoReturn, TypeVar

from ..errors import ArgumentTypeError, kind_of
from ..messages import check_flag
from ..temporary import Within, during
from ..usage import usage
from . import resolve  # noqa: F401  # says what call sites call
from .session import OFF, SESSION, SWITCHED_OFF

T = TypeVar("T")


@usage("instrument(cls)")
def instrument(thing: T) -> T:
    """Say that a class, a module or a function is meant to be differentiated. It does nothing.

    >>> @instrument
    ... class Spring:
    ...     def force(self, x):
    ...         return -2.0 * x

    Whatever is written in Python and called under a transformation takes part: functions and
    methods, of your modules and of installed ones. Earlier versions had to be told of classes.

    Args:
        thing: a class, a module or a function; it is returned.
    """
    if not isinstance(thing, (type, ModuleType, FunctionType)):
        raise ArgumentTypeError(
            f"`instrument` takes a module, a class or a function, but got {kind_of(thing)}.\n"
            "  Leave it out: methods of objects take part by themselves."
        )
    return thing


@usage("uninstrument(cls)")
def uninstrument(thing: T) -> T:
    """Return the class, module or function. It does nothing, as `instrument` does.

    >>> uninstrument(instrument(int))
    <class 'int'>

    Args:
        thing: a class, a module or a function; it is returned.
    """
    return thing


class Context(type):
    """The class of context managers that are called first: `with pb.no_grad():`."""

    def __enter__(cls) -> NoReturn:
        given = "False" if cls is rebinding else ""
        raise ArgumentTypeError(
            f"`with` was given the class `{cls.__name__}`, not an instance.\n"
            f"  Write `with pullback.{cls.__name__}({given}):`."
        )

    def __exit__(cls, *exception: Any) -> None: ...


class rebinding(Within, metaclass=Context):  # a context manager, named like `no_grad`
    """Say whether transformations that begin here reach what they call; a context or a decorator.

    >>> import numpy as np
    >>> from pullback import grad
    >>> with rebinding(False):
    ...     grad(np.sin)(0.0)
    np.float64(1.0)

    Without it, NumPy's own protocols alone serve: what they do not reach, such as
    `np.array([x, y])` or `math.sin(x)`, raises. A decorated function always runs with NumPy itself.
    For a whole process set the environment variable `PULLBACK_REBINDING=0`.
    """

    @usage("with pullback.rebinding(False)", "rebinding")
    def __init__(self, enabled: bool) -> None:
        check_flag(enabled, "enabled", "rebinding")
        self.enabled = enabled

    def block(self) -> AbstractContextManager[None]:
        session = SESSION.get()
        if not self.enabled:
            session = OFF
        elif session is OFF and not SWITCHED_OFF:
            session = None
        return during(SESSION, session)

    def __call__(self, fun: Callable[..., Any]) -> Callable[..., Any]:
        return Switched(fun, self.enabled)


class Switched:
    """A function that decides for itself."""

    def __init__(self, fun: Callable[..., Any], enabled: bool) -> None:
        functools.update_wrapper(self, fun)
        self.fun, self.enabled = fun, enabled

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        with rebinding(self.enabled):
            return self.fun(*args, **kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else MethodType(self, instance)
