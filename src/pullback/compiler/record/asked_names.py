"""Names that the code of a function may ask for, found before it runs."""

from __future__ import annotations

from collections.abc import Iterable
from types import FunctionType, MethodType, ModuleType
from typing import Any

from ...core.reach.bytecode import original
from ...core.reach.namespaces import apart
from ..facts.allowance import current
from ..facts.bytecode import code_of
from ..facts.code_reader import INNER, WRAPPED
from ..facts.places import contents, dict_of, of

MOST = 5000  # objects that are visited
SELDOM = {
    "__eq__", "__repr__", "__str__", "__hash__", "__reduce__", "__format__", "__setattr__",
    "__delattr__",
}  # fmt: skip


def asked_in_advance(fun: Any) -> set[str]:
    """Names that the code of a function, and of the functions that it visibly calls, asks for."""
    with current().running():
        return names_from(fun)


def names_from(fun: Any) -> set[str]:
    """Those that are found while there is time to look for them."""
    names: set[str] = set()
    stack: list[Any] = [fun]
    classes: list[type] = []
    met: set[int] = set()
    spent = current().is_spent
    while stack and len(met) < MOST and not spent():
        x = stack.pop()
        if id(x) in met:
            continue
        met.add(id(x))
        if of(x, FunctionType) and not apart(x.__globals__):
            mine = code_of(original(x.__code__)).names
            names |= mine
            stack += [x.__globals__[name] for name in mine if name in x.__globals__]
            stack += [contents(cell) for cell in x.__closure__ or ()]
            stack += list(vars(x).values())
        elif of(x, type):
            if not apart({"__name__": x.__module__}):
                classes.append(x)
        elif of(x, MethodType):
            stack += [x.__func__, type(x.__self__)]
        elif dict_of(x) is not None and not of(x, ModuleType):
            stack += [type(x), *(dict_of(x) or {}).values()]
        elif of(x, (list, tuple)):
            stack += list(x)[:100]
        elif of(x, dict):
            stack += list(x.values())[:100]
        if not stack:  # methods by the names that were asked for, and those that Python calls
            for cls in classes:
                for base in cls.__mro__:
                    stack += [y for name, y in vars(base).items() if called(name, names)]
            stack = [unwrapped(y) for y in stack if id(unwrapped(y)) not in met]
    return names


def called(name: str, names: Iterable[str]) -> bool:
    """Whether a method may be called: by its name, or by Python."""
    return name in names or (name.startswith("__") and name not in SELDOM)


def unwrapped(x: Any) -> Any:
    """The function in a property, a static or a class method."""
    if not of(x, (*WRAPPED, FunctionType, MethodType)):
        return x
    return next((getattr(x, name) for name in INNER if hasattr(x, name)), x)
