"""Library code that begins to run while a call is recorded: whether a replay can do without it.

Modules whose code is judged by what it's asked stand in `BY_MODULE`; all other code is judged by
its module and name. What a watch has to know of it (questions that each replay repeats, names that
the code asks for, an effect) is told to the watch.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable
from functools import lru_cache
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ...core.reach.bytecode import original
from ...core.reach.namespaces import apart, package
from .ambient import copiers
from .answers import Again
from .bytecode import DEEP, names_in
from .classes import ASKED_BY_LIBRARIES, IN_VARIABLES
from .frames import collects, outside, through_followed
from .judge import (
    DRAWING,
    SOURCES,
    acts,
    declare_computing,
    declared_pure,
    effectful,
    home_of,
    may_act,
    repeats_draws,
)
from .loggers import is_quiet
from .quick_profile import HARMLESS
from .reader import BEGINS

if TYPE_CHECKING:
    from .call_monitor import Watch

# Functions of `warnings` that change its filters, by name: one of them is `catch_warnings`.
FILTERING = {"filterwarnings", "simplefilter", "resetwarnings", "__enter__"}
# Questions to the file system, by the module of their code.
FILES: dict[str, tuple[Any, tuple[str, ...]]] = {
    "genericpath": (os.path, ("exists", "isfile", "isdir")),
    **{  # a module of pathlib's own from Python 3.13 on
        getattr(pathlib.Path, name).__module__: (pathlib.Path, ("exists", "is_file", "is_dir"))
        for name in ("exists", "is_file", "is_dir")
    },
}
PATHS = (str, bytes, type(pathlib.Path()))
CHECKS = {"__instancecheck__", "__subclasscheck__", "_proto_hook", "__subclasshook__"}
REFLECTING = frozenset([fun.__code__ for fun in BEGINS])
# What `isinstance` and `issubclass` run for a protocol: it asks for the attributes of that.
STRUCTURAL = frozenset(
    {
        y.__code__
        for y in (*vars(type(Protocol)).values(), *vars(Protocol).values())
        for y in [getattr(y, "__func__", y)]
        if isinstance(y, FunctionType) and y.__name__ in CHECKS
    }
)


def begins(watch: Watch, code: CodeType, frame: Any) -> None:
    """Code of a library begins to run that is not known to be harmless."""
    name, module = code.co_name, str(frame.f_globals.get("__name__"))
    settles = BY_MODULE.get(module)
    if settles is not None and settles(watch, frame):
        return
    declare_computing(module)
    if reflects(watch, code, frame):
        return
    asked = asked_of_classes(code) if package(frame.f_globals) != "pullback" else frozenset()
    if asked:
        watch.ask_for(asked)
    if name in DRAWING and repeats_draws(frame, watch.is_seeded):
        return
    has_effect = not declared_pure(code) and effectful(module, name)
    if not (has_effect or may_act(code) or asked or "print" in code.co_names):
        HARMLESS.add(code)
        return
    if acts(frame, watch.is_seeded):
        watch.forbid(f"it calls `{module}.{name}`")
    # Of what does more, nothing is harmless for ever: a decorator's code decorates others too.
    if has_effect and not decorates_pure(frame) and is_called_by_program(frame):
        watch.forbid(f"it calls `{public_home(module, frame, name)}.{name}`")


def is_called_by_program(frame: Any) -> bool:
    """Whether the program itself called this code: what libraries call is theirs to judge."""
    caller = through_followed(frame.f_back)
    if package(frame.f_globals) == "numpy":  # which ours stands for, between it and the program
        caller = outside(caller)
    return caller is not None and not apart(caller.f_globals) and not collects(frame)


def public_home(module: str, frame: Any, name: str) -> str:
    """The module by which a program calls a function: ours stand for NumPy's."""
    home = package(frame.f_globals)
    if home not in ("numpy", "pullback"):
        return module
    return "numpy" if name in vars(np) else home


def reflects(watch: Watch, code: CodeType, frame: Any) -> bool:
    """Whether code asks for attributes whose names no code of the program has."""
    if code in REFLECTING:
        watch.answers.add(copiers)
        watch.ask(DEEP)
    elif code in STRUCTURAL:
        names = attributes_of(frame.f_locals["cls"])
        watch.of_protocols |= names
        watch.ask_for(names)
    else:
        return False
    return True


def attributes_of(protocol: type) -> frozenset[str]:
    """The attributes that an object must have to conform to a protocol."""
    bases = [base for base in protocol.__mro__ if vars(base).get("_is_protocol")]
    return frozenset().union(*[{*vars(x), *vars(x).get("__annotations__", ())} for x in bases])


@lru_cache(4096)
def asked_of_classes(code: CodeType) -> frozenset[str]:
    """What code of Python's own library asks classes for, beside their methods."""
    return ASKED_BY_LIBRARIES & {IN_VARIABLES.get(name, name) for name in names_in(code)}


def decorates_pure(frame: Any) -> bool:
    """Whether a decorator's code stands for a function that computes of its arguments alone.

    SciPy's linear algebra of stacks of matrices is decorated by a private module of SciPy's.
    """
    free = [frame.f_locals.get(name) for name in frame.f_code.co_freevars]
    held = [x for x in free if type(x) is FunctionType]
    return len(held) == 1 and not effectful(*home_of(held[0]))


# Modules whose code is judged by what it's asked: each function returns whether nothing is left
# to judge.


def makes_text(watch: Watch, frame: Any) -> bool:
    """NumPy's code that makes text of arrays: the options by which it does are a fact then."""
    watch.prints = True
    return True


def filters(watch: Watch, frame: Any) -> bool:
    """Whether code of `warnings` changes the filters, which are put back."""
    changes = original(frame.f_code).co_name in FILTERING
    if changes:
        watch.will_filter()
    return changes


def is_seeded(watch: Watch, frame: Any) -> bool:
    """Whether the method is of a generator that this call made from a seed."""
    return watch.is_seeded(frame.f_locals.get("self"))


def asks_files(watch: Watch, frame: Any) -> bool:
    """Whether code asks the file system something that each replay can ask again."""
    code = frame.f_code
    owner, names = FILES[frame.f_globals["__name__"]]
    about = frame.f_locals.get(code.co_varnames[0])
    if code.co_name not in names or type(about) not in PATHS:
        return False
    if apart(through_followed(frame.f_back).f_globals):
        return False  # what libraries ask is theirs to judge
    watch.answers.add(Again(getattr(owner, code.co_name), about))
    return True


BY_MODULE: dict[str, Callable[[Watch, Any], bool]] = {
    "numpy._core.arrayprint": makes_text,
    "warnings": filters,
    "_py_warnings": filters,
    "logging": is_quiet,
    **dict.fromkeys(SOURCES, is_seeded),
    **dict.fromkeys(FILES, asks_files),
}
