"""Functions in cached artifacts: a library's by their place, closures of ours by their parts.

    brentq of `pullback.scipy.optimize`       the module, and the name there
    a function made inside one of ours        where its code is, and what its cells hold
    SciPy's own code of one that has a rule   the module, and the name there

A later process has the same files of this library, of which `circumstances` tells; so code that is
found at the same place there is the same code.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from inspect import unwrap
from typing import Any

import numpy as np

from ...core.array import Array
from ...core.reach.bytecode import original
from ...core.reach.code_tables import with_nested
from ...core.reach.twins import copied
from ...core.registry import FUNCTIONS as RULES
from ...core.registry import UFUNCS
from ...core.trace import Trace
from ..facts.classes import foreign_function
from ..facts.places import of
from .portable import Unportable, at, is_found, place_in_library, thing_at

# Where functions and classes are that artifacts may name: ours, and what SciPy computes with.
OURS = ("pullback.scipy.", "pullback.transforms.", "pullback.primitives.", "pullback.core.")
NUMPY = ("numpy", "numpy.linalg", "numpy.fft")
COMPUTING = (
    "scipy.optimize.", "scipy.integrate.", "scipy.special.", "scipy.stats.", "scipy.sparse.",
    "scipy.linalg.",
)  # fmt: skip
FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, type(np.sum))
CELLS = "<locals>"
GONE = Trace("a recording of an earlier process")
GONE.end()


def may_name(module: str, name: str) -> bool:
    """Whether artifacts may name something: ours, SciPy's, or NumPy's with a rule of ours."""
    if f"{module}.".startswith((*OURS, *COMPUTING)):
        return True
    return module in NUMPY and has_rule(at(sys.modules.get(module), name))


def is_function(x: Any) -> bool:
    """Whether x is a function, of Python's or of an extension module's."""
    return of(x, FUNCTIONS) or foreign_function(x)


def has_rule(x: Any) -> bool:
    try:
        return x is not None and (x in RULES or x in UFUNCS)
    except TypeError:  # it can't be hashed
        return False


def named_function(x: Any) -> tuple[str, str, str] | None:
    """The place of a function that a library has under its name; None if it has no such place."""
    module, name = str(getattr(x, "__module__", None)), str(x.__qualname__)
    home = sys.modules.get(module)
    found = at(home, name) if type(home) is types.ModuleType and may_name(module, name) else None
    if found is x:
        return (module, name, "function") if is_found(x) or has_rule(x) else None
    serves = module.startswith("pullback.") and getattr(found, "serves", None) is x
    if found is not None and serves:
        return module, f"{name}.serves", "function"
    return named_answer(x)


def named_answer(x: Any) -> tuple[str, str, str] | None:
    """The place of a function of ours that another has made for several of SciPy's: its module, and
    the module and the name of what it answers for.
    """
    answers = getattr(x, "answers", None) if of(x, types.FunctionType) else None
    if answers is None or not str(x.__module__).startswith(OURS):
        return None
    place = x.__module__, f"{answers.__module__} {answers.__qualname__}", "answer"
    return place if thing_at(*place) is x else None


def named_class(x: type) -> tuple[str, str, str] | None:
    """The place of a class of SciPy's: of a result, of bounds, of a method that integrates."""
    known = f"{x.__module__}.".startswith(COMPUTING) and is_found(x) and not runs_text(x)
    return (x.__module__, x.__qualname__, "function") if known else None


def runs_text(x: Any) -> bool:
    """Whether it is a class of distributions, which run text that is in the state of one."""
    sets = getattr(x, "__setstate__", None) if of(x, type) else None
    return str(getattr(sets, "__module__", "")).startswith("scipy.stats.")


def reduced(x: types.FunctionType) -> Any:
    """How a closure of ours is made again.

    Raises:
        Unportable: it is not ours, or its code isn't found from the module.
    """
    module, name = str(x.__module__), x.__qualname__
    if may_name(module, name) and is_copy(x, at(sys.modules.get(module), name)):
        return copy_of, (module, name)
    outer = name.partition(f".{CELLS}")[0]
    if not module.startswith(OURS) or outer == x.__qualname__:
        raise Unportable(f"the function `{x.__qualname__}` of {module}")
    for i, code in enumerate(codes_in(module, outer)):
        if code is x.__code__:
            state = x.__defaults__, x.__kwdefaults__, contents(x), x.__qualname__
            return made, (module, outer, i), state, None, None, filled
    raise Unportable(f"the function `{x.__qualname__}` of {module}")


def is_copy(x: types.FunctionType, found: Any) -> bool:
    """Whether x is SciPy's own code of a function that a rule stands for; see `serving.traced`."""
    own = unwrap(found) if callable(found) else found
    return (
        of(own, types.FunctionType)
        and original(x.__code__) is original(own.__code__)
        and x.__globals__ is own.__globals__
        and x.__closure__ is own.__closure__
    )


def copy_of(module: str, name: str) -> types.FunctionType:
    """The same copy in a later process."""
    found = at(sys.modules.get(module), name)
    if not may_name(module, name) or not callable(found):
        raise Unportable(f"a function of {module}")
    return copied(unwrap(found))


def codes_in(module: str, outer: str) -> Iterator[types.CodeType]:
    """The code that a function contains, at any depth."""
    home = at(sys.modules.get(module), outer)
    home = getattr(home, "serves", home)
    home = getattr(home, "__func__", getattr(home, "fget", None) or home)
    while hasattr(home, "__wrapped__"):
        home = home.__wrapped__
    if of(home, types.FunctionType):
        yield from with_nested(home.__code__)


def contents(x: types.FunctionType) -> list[Any]:
    """What the cells of a closure hold, each in a tuple; an empty one holds nothing."""
    found: list[Any] = []
    for cell in x.__closure__ or ():
        try:
            found.append((cell.cell_contents,))
        except ValueError:
            found.append(())
    return found


def made(module: str, outer: str, i: int) -> types.FunctionType:
    """A closure whose cells are empty yet; what they hold may refer to it."""
    if not module.startswith(OURS):
        raise Unportable(f"a function of {module}")
    home = import_module(module)
    code = list(codes_in(module, outer))[i]
    cells = tuple([types.CellType() for _ in code.co_freevars])
    return types.FunctionType(code, vars(home), code.co_name, None, cells)


def filled(x: types.FunctionType, state: Any) -> None:
    """Give a closure that was made its defaults, its name, and what its cells hold."""
    x.__defaults__, x.__kwdefaults__, held, x.__qualname__ = state
    for cell, content in zip(x.__closure__ or (), held, strict=True):
        if content:
            (cell.cell_contents,) = content


def partly(function: Any, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """A partial application, such as one of a rule to the function that it stands for."""
    return partial(function, *given, **named)


def of_ended(x: Any) -> Array:
    """An Array of a trace that has ended, as all are that a recording leaves in closures."""
    return Array(x, GONE, object())  # no two are taken for the same


def twin_of(x: Any) -> Any:
    """How a distribution of SciPy's is made again that freezing one has made; None: by its parts.

    `norm(0, 1)` has a copy of `norm`, made of what tells one object of this class from another.
    """
    home = sys.modules.get(type(x).__module__)
    original: Any = getattr(home, str(getattr(x, "name", None)), None)
    if type(original) is not type(x) or not hasattr(x, "_updated_ctor_param"):
        return None
    mine, theirs = x._updated_ctor_param(), original._updated_ctor_param()
    place = place_in_library(original)
    return (twin, place) if place is not None and repr(mine) == repr(theirs) else None


def twin(module: str, name: str) -> Any:
    """A copy of a distribution that SciPy has under a name, as freezing it makes one."""
    original = at(sys.modules.get(module), name)
    return type(original)(**original._updated_ctor_param())


def bound(x: Any, name: str) -> Any:
    """A method of an object of ours."""
    method = getattr(type(x), name)
    if type(x).__module__.partition(".")[0] != "pullback" or not of(method, types.FunctionType):
        raise Unportable(f"the method `{name}` of a `{type(x).__qualname__}`")
    return types.MethodType(method, x)
