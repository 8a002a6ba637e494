"""Errors for names that an Array or pullback doesn't have but other libraries do.

People come from PyTorch, JAX, autograd and micrograd, and write `x.exp()`, `x.at[0].set(1)`,
`pullback.jit(f)` or `from pullback import jit`. The error says what to write instead; the words are
in `names_elsewhere`. An unknown attribute is an AttributeError, so that `hasattr` and
`getattr(x, name, default)` answer as ever, and an unknown import an ImportError.
"""

from __future__ import annotations

import inspect
import opcode
import sys
from collections.abc import Iterable
from types import FrameType
from typing import Any, NoReturn

import numpy as np

from .array import Array
from .errors import UnknownImportError, UnknownNameError
from .names_elsewhere import ATTRIBUTES, LAYERS, NAMES
from .usage import advice, nearest

# What NumPy calls the first parameter of a function of one array.
ARRAYS = frozenset({"a", "x", "m", "arr", "ary", "array", "ar", "A", "M", "v", "x1", "ar1", "a1"})
IMPORT_FROM = opcode.opmap["IMPORT_FROM"]


def numpys(name: str) -> tuple[str, Any] | None:
    """What NumPy has under a public name, with the text that names it."""
    for home, path in ((np, "np"), (np.linalg, "np.linalg")):
        if name in vars(home) and not name.startswith("_"):
            return f"{path}.{name}", vars(home)[name]
    return None


def call_of(path: str, function: Any) -> str | None:
    """The call of a NumPy function of arrays that stands for `x.name()`."""
    if isinstance(function, type) or not callable(function):
        return None
    if isinstance(function, np.ufunc):
        return f"`{path}({', '.join('xyz'[: function.nin])})`"
    try:
        parameters = [*inspect.signature(function).parameters.values()]
    except (TypeError, ValueError):
        return None
    if not parameters or parameters[0].name not in ARRAYS:
        return None
    names = [p.name for p in parameters[1:] if p.default is p.empty and p.kind < p.VAR_POSITIONAL]
    return f"`{path}({', '.join(['x', *names])})`"


class OtherName:
    """A name that an Array does not have: `x.name` raises. Asking for others costs nothing more."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, x: Any, owner: Any = None) -> NoReturn:
        instead = ATTRIBUTES.get(self.name)
        if instead is None and (found := numpys(self.name)):
            instead = call_of(*found)
        if x is None or instead is None:
            kind = "type object 'Array'" if x is None else "'Array' object"
            raise AttributeError(f"{kind} has no attribute '{self.name}'", name=self.name, obj=x)
        memory = hasattr(np.ndarray, self.name)
        known = "does not show its memory" if memory else "has the attributes of NumPy's arrays"
        error = UnknownNameError(
            f"`x.{self.name}` was asked of an Array, which {known}.\n  {advice(instead)}"
        )
        error.name, error.obj = self.name, x
        raise error


OF_ARRAYS = ("backward", "detach", "grad", "numpy", "requires_grad", "retain_grad", "zero_grad")


def names_of_arrays(self: Array) -> list[str]:
    """`dir(x)`: what NumPy's numbers or arrays have, as `x.__class__` tells, and our own."""
    names = [name for name in object.__dir__(self) if hasattr(Array, name) and name not in OTHERS]
    return [*names, *OF_ARRAYS]


def enter_names() -> None:
    """Give Array the names of the table, and of NumPy's functions, that it does not have."""
    functions = {
        name
        for name, function in {**vars(np.linalg), **vars(np)}.items()
        if callable(function) and not isinstance(function, type) and not name.startswith("_")
    }
    for name in {*ATTRIBUTES, *(functions - {*dir(np.ndarray)})} - {*dir(Array)}:
        OTHERS.add(name)
        setattr(Array, name, OtherName(name))
    Array.__dir__ = names_of_arrays  # type: ignore[method-assign, assignment]  # of `object`, whose signature it has


OTHERS: set[str] = set()


def name_elsewhere(name: str, known: Iterable[str], module: str = "pullback") -> str | None:
    """What to write for `pullback.name`, or for that of a module of it."""
    names = LAYERS if module == "pullback.nn" else NAMES
    if name in names:
        return names[name].format(name)
    if module == "pullback.nn" and name[:1].isupper():
        return LAYERS["Linear"]
    if module != "pullback" and name in sys.modules["pullback"].__all__:
        return f"`pullback.{name}`"
    if found := numpys(name):
        return f"`{found[0]}`: NumPy itself is differentiated"
    close = None if name.startswith("_") else nearest(name, known)
    return None if close is None else f"`{module}.{close}`"


def is_import(frame: FrameType) -> bool:
    """Whether a frame is at a `from ... import`, which answers an AttributeError in its own way."""
    return frame.f_code.co_code[frame.f_lasti] == IMPORT_FROM


def refuse_name(name: str, known: Iterable[str], module: str = "pullback") -> NoReturn:
    """Raise for `pullback.name`, of which the caller's `__getattr__` was asked."""
    instead = name_elsewhere(name, known, module)
    if instead is None:
        raise AttributeError(f"module '{module}' has no attribute '{name}'")
    if is_import(sys._getframe(2)):
        raise UnknownImportError(
            f"`{name}` was imported from {module}, which has no such name.\n  {advice(instead)}",
            name=f"{module}.{name}",
        )
    raise UnknownNameError(
        f"`{module}.{name}` was asked for, and {module} has no such name.\n  {advice(instead)}"
    )
