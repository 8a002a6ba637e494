"""Python code of NumPy and SciPy that takes part as the user's code does, also in eager code.

In eager code, outside transformations, it takes part if it's given Arrays that require a gradient.
If the result is an object, such as a spline, its methods must take part as well, so the caller gets
it wrapped as an `Outside`.
"""

from __future__ import annotations

import operator
from functools import update_wrapper
from types import FunctionType
from typing import Any

from ..core.operands import DEFERS, holds_arrays
from ..core.reach.call_tables import CALLS
from ..core.reach.calls import call
from ..core.reach.class_members import BORING
from ..core.reach.namespaces import JOINING
from ..core.reach.session import active
from ..core.reach.walk import OURS

LIBRARIES = "scipy.", "pullback.scipy."  # whose objects are given as an `Outside`


def joined(fun: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Call code that takes part, also from eager code if it's given Arrays."""
    given = (*args, *kwargs.values())
    args, kwargs = tuple(map(inside, args)), {name: inside(x) for name, x in kwargs.items()}
    if active():
        return call(fun, args, kwargs)
    if holds_arrays(given) or any(type(x) is Outside for x in given):
        return outside(call(fun, args, kwargs))
    return fun(*args, **kwargs)


def joining(fun: Any) -> Any:
    """A function whose code takes part as the user's does in a transformation."""

    def join(*args: Any, **kwargs: Any) -> Any:
        return joined(fun, args, kwargs)

    JOINING.add(id(join))  # which the namespace keeps
    return update_wrapper(join, fun)


def taking_part(original: Any) -> Any:
    """What stands for something of SciPy's that is called and takes part; None for the rest."""
    if type(original) is FunctionType:
        return joining(original)
    kind = original if isinstance(original, type) else type(original)
    own = kind.__module__.startswith("scipy.") and callable(original)
    return Joining(original) if own and not issubclass(kind, Exception) else None


class Joining:
    """What stands for a class of SciPy's, with the same instances, or for a distribution."""

    def __init__(self, real: Any) -> None:
        self.real = self.__wrapped__ = real
        self.__doc__ = real.__doc__
        JOINING.add(id(self))  # which the namespace keeps

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return joined(self.real, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.real, name)
        return joining(found) if callable(found) and not name.startswith("__") else found

    @property  # type: ignore[misc]  # for `isinstance`
    def __class__(self) -> Any:
        return type(self.real)

    def __reduce__(self) -> Any:
        return inside, (self.real,)

    def __mro_entries__(self, bases: Any) -> tuple[type]:
        return (self.real,)

    def __instancecheck__(self, x: Any) -> bool:
        return isinstance(x, self.real)

    def __subclasscheck__(self, cls: Any) -> bool:
        return issubclass(inside(cls), self.real)

    def __eq__(self, other: object) -> bool:
        return self.real is (other.real if type(other) is Joining else other)

    def __hash__(self) -> int:
        return hash(self.real)

    def __repr__(self) -> str:
        return repr(self.real)


class Outside:
    """An object that holds Arrays which require a gradient, outside of transformations."""

    __slots__ = ("inner",)
    __array_ufunc__ = None  # `array @ object` comes to its operators

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    @property  # type: ignore[misc]  # for `isinstance`
    def __class__(self) -> Any:
        return type(self.inner)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # which Python asks of a copy before it holds anything
            raise AttributeError(name)
        return joined(getattr, (self, name), {})

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return joined(called, (self, *args), kwargs)

    def __len__(self) -> int:
        return len(self.inner)

    def __repr__(self) -> str:
        return repr(self.inner)


def called(f: Any, *args: Any, **kwargs: Any) -> Any:
    return CALLS[f](*args, **kwargs)


def inside(x: Any) -> Any:
    """What an argument stands for."""
    kind = type(x)
    if kind is Outside:
        return x.inner
    if kind is Joining:
        return x.real
    return of_each(inside, x) if kind in (list, tuple) else x


def outside(x: Any) -> Any:
    """A result of code that took part, for code that does not."""
    kind = type(x)
    if kind in (list, tuple):
        return of_each(outside, x)
    if isinstance(x, (type, dict, tuple)):
        return x
    return Outside(x) if callable(x) or kind.__module__.startswith(LIBRARIES) else x


def of_each(change: Any, x: Any) -> Any:
    new = list(map(change, x))
    return x if all(a is b for a, b in zip(new, x, strict=True)) else type(x)(new)


def operate(name: str, reflected: bool = False) -> Any:
    function = getattr(operator, name)

    def method(self: Any, *others: Any) -> Any:
        return joined(function, (*others, self) if reflected else (self, *others), {})

    return method


INFIX = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
OTHERS = ("neg", "pos", "abs", "getitem", "setitem", "eq", "ne", "lt", "le", "gt", "ge")
for name in (*INFIX, *OTHERS):
    setattr(Outside, f"__{name}__", operate(f"__{name}__"))
for name in INFIX:
    setattr(Outside, f"__r{name}__", operate(f"__{name}__", reflected=True))

OURS.add(Joining)
DEFERS.add(Outside)
BORING.add(Outside)
