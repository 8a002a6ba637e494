"""Stores into containers that a function has made itself, which nobody sees once it has returned.

    out = np.empty(2)
    out[0] = y[1]          # out is the function's own, whatever y is
    out += buffer          # so this stores nothing outside, as `buffer += out` does

A variable is the function's own if all that it is bound to is new: a display such as [], a number,
what an operator makes, or what `np.empty` and its like and ufuncs return. Where its source begins
tells what an instruction stores into; where Python has forgotten that, nothing is known to be a
function's own. What is stored outside begins with a variable of an enclosing function or a global,
as in `counts["calls"] += 1`, or may be anything.
"""

from __future__ import annotations

import dis
import functools
import itertools
from types import CodeType, ModuleType
from typing import Any

import numpy as np

from ...compiler.facts.bytecode import CHANGING, STORES, extent

MAKING = {
    "empty", "zeros", "ones", "full", "empty_like", "zeros_like", "ones_like", "full_like",
    "arange", "linspace", "eye", "identity",
}  # fmt: skip
MAKING |= {name for name, x in vars(np).items() if isinstance(x, np.ufunc)}
DISPLAYS = {"BUILD_LIST", "BUILD_MAP", "BUILD_SET", "BUILD_CONST_KEY_MAP", "LIST_EXTEND"}
NEW = DISPLAYS | {"BINARY_OP", "LOAD_CONST", "LOAD_SMALL_INT", "COMPARE_OP", "UNARY_NEGATIVE"}
LOCALS = ("LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK")
# Methods and functions that change arrays, files in memory and the like, beside those of CHANGING.
FILLING = {
    "fill", "put", "place", "copyto", "putmask", "put_along_axis", "fill_diagonal", "at", "write",
    "writelines", "truncate", "fromlist", "frombytes", "fromunicode", "byteswap", "readinto",
}  # fmt: skip
INTO = {"STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE", "STORE_ATTR", "DELETE_ATTR"}
READING = {"LOAD_ATTR", "LOAD_METHOD"}
CALLING = {"PRECALL", "CALL", "CALL_KW", "KW_NAMES", "PUSH_NULL"}
GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME", "IMPORT_", "LOAD_SUPER")
NAMED = ("LOAD_DEREF", "LOAD_GLOBAL")
UNKNOWN = (0, 0)


class OwnContainers:
    """The variables of code that are bound to new containers alone.

    makers: for each, the names of modules that have to be NumPy for that
    """

    def __init__(self, code: CodeType, steps: list[dis.Instruction]) -> None:
        self.at: dict[tuple[int, int], list[Any]] = {}  # the steps whose source begins there
        self.makers: dict[str, set[str]] = {}
        for step in steps:
            self.at.setdefault(extent(step)[0], []).append(step)
        given = code.co_argcount + code.co_kwonlyargcount
        given += sum(bool(code.co_flags & flag) for flag in (4, 8))  # *args, **kwargs
        others = {*code.co_varnames[:given], *code.co_cellvars, *code.co_freevars}
        if code.co_name == "__init__" and code.co_argcount:
            others.discard(code.co_varnames[0])
            self.makers[code.co_varnames[0]] = set()
        for before, step in itertools.pairwise(steps):
            if step.opname.startswith("STORE_FAST") and not in_place(before):
                names = [step.argval] if type(step.argval) is str else list(step.argval)
                made = None if step.is_jump_target else self.made(before)
                if made is None or step.opname not in ("STORE_FAST", "STORE_FAST_LOAD_FAST"):
                    others.update(names)
                else:
                    self.makers.setdefault(names[0], set()).update(made)
        for name in others:
            self.makers.pop(name, None)

    def made(self, step: Any) -> set[str] | None:
        """The modules that have to be NumPy for a result to be new; None: it may be old."""
        if step.opname in NEW:
            return set()
        begin, _ = extent(step)
        if step.opname not in CALLING or begin == UNKNOWN:
            return None
        first, *rest = [x for x in self.at[begin] if x.opname != "PUSH_NULL"]
        reads = [
            x.opname in READING and x.argval in MAKING for x in rest if x.opname not in CALLING
        ]
        calls = {extent(x) for x in rest if x.opname in CALLING}
        if first.opname != "LOAD_GLOBAL" or reads != [True] or calls != {extent(step)}:
            return None
        return {first.argval}

    def changed(self, step: Any) -> set[str] | None:
        """The same of what a step stores into, or reads a method of."""
        begin, end = extent(step)
        if begin == UNKNOWN:
            return None
        loads = {(x.opname, x.argval) for x in self.at[begin] if extent(x)[1] < end}
        if len(loads) != 1:
            return None
        opname, name = loads.pop()
        return self.makers.get(name) if opname in LOCALS else None

    def added_to(self, step: Any) -> set[str] | None:
        """The same of an operator such as `+=`; what it stores in other places says so itself."""
        begin, _ = extent(step)
        if begin == UNKNOWN:
            return None
        first = self.at[begin][0]
        if first.opname not in LOCALS and not first.opname.startswith("LOAD_FAST"):
            return set()
        name = first.argval if type(first.argval) is str else first.argval[0]
        return self.makers.get(name)

    def of_step(self, step: Any, code: CodeType) -> set[str] | None:
        """The modules that have to be NumPy for a step to change nothing else; None: it may."""
        name = step.argval
        if step.opname in INTO:
            return self.changed(step)
        if in_place(step):
            return self.added_to(step)
        if type(name) is tuple and "out" in name and step.opname in ("KW_NAMES", "LOAD_CONST"):
            return None
        if step.opname in STORES or (step.opname == "STORE_DEREF" and name in code.co_freevars):
            return None
        if type(name) is not str or not (name in CHANGING or name in FILLING):
            return set()
        if name == code.co_name == "__init__" and self.begins_with_super(step):
            return set()
        if step.opname in READING:
            return self.changed(step)
        return None if step.opname.startswith(GLOBALS) else set()

    def root(self, step: Any, code: CodeType) -> tuple[str, str] | None:
        """By which name the program reaches what a step stores into; None if that isn't known.

        `LOAD_DEREF` says that it is a variable of an enclosing function, `LOAD_GLOBAL` a global.
        With `STORE_GLOBAL` the name itself is bound to something else.
        """
        if step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            return "STORE_GLOBAL", step.argval
        if step.opname in ("STORE_DEREF", "DELETE_DEREF"):
            return "LOAD_DEREF", step.argval
        begin, _ = extent(step)
        if begin == UNKNOWN or step.opname not in (*INTO, *READING):
            return None
        first = next(x for x in self.at[begin] if x.opname != "PUSH_NULL")
        return (first.opname, first.argval) if first.opname in NAMED else None

    def begins_with_super(self, step: Any) -> bool:
        begin, _ = extent(step)
        return begin != UNKNOWN and any(x.argval == "super" for x in self.at[begin])


def in_place(step: Any) -> bool:
    return step.opname == "BINARY_OP" and step.argrepr.endswith("=")


@functools.lru_cache(4096)
def stored_outside(code: CodeType) -> tuple[Roots, frozenset[str]]:
    """Where code may store into what isn't its own, and the modules that have to be NumPy."""
    steps = [step for step in dis.get_instructions(code) if step.opname != "CACHE"]
    own, modules, roots = OwnContainers(code, steps), set[str](), set[tuple[str, str]]()
    for step in steps:
        needed = own.of_step(step, code)
        if needed is not None:
            modules |= needed
            continue
        root = own.root(step, code)
        if root is None:
            return None, frozenset()
        roots.add(root)
    return frozenset(roots), frozenset(modules)


# Names by which programs reach what they store into; None: anything may be stored into.
Roots = frozenset[tuple[str, str]] | None


def roots_of_stores(code: CodeType, scope: dict[str, Any]) -> Roots:
    """The names by which code with these globals reaches what it stores into, see `root`."""
    roots, modules = stored_outside(code)
    return roots if all(is_numpy(scope.get(name)) for name in modules) else None


def is_numpy(x: Any) -> bool:
    return type(x) is ModuleType and x.__name__ in ("numpy", "pullback.numpy")
