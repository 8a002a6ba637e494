"""Stores into containers that a function has made itself, which nobody sees once it has returned.

    out = np.empty(2)
    out[0] = y[1]          # out is the function's own, whatever y is
    out += buffer          # so this stores nothing outside, as `buffer += out` does

A variable is the function's own if all that it is bound to is new: a display such as [], a number,
what an operator makes, or what `np.empty` and its like and ufuncs return. What an instruction
stores into is what lies on the stack at its place, as far as no branch comes between. What is
stored outside begins with a variable of an enclosing function or a global, as in
`counts["calls"] += 1`, or may be anything.
"""

from __future__ import annotations

import dis
import functools
import re
import sys
from collections.abc import Iterator
from types import CodeType, ModuleType
from typing import Any

import numpy as np

from ...compiler.facts.bytecode import CHANGING, STORES

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
    "setfield", "resize", "partition", "shuffle", "heappush", "heappop", "heapify",
    "heapreplace", "heappushpop", "insort", "insort_left", "insort_right", "pack_into", "dump",
    "savetxt", "exec", "eval",
}  # fmt: skip
TARGETS = {"out", "file"}  # arguments that results are written into
# Where on the stack lies what an instruction changes, and that of which it gives a part.
INTO = {
    "STORE_SUBSCR": 1, "DELETE_SUBSCR": 1, "STORE_SLICE": 2, "STORE_ATTR": 0, "DELETE_ATTR": 0,
}  # fmt: skip
CALLS = {"CALL": 1, "CALL_KW": 2}  # by how much more than arguments the stack shrinks
FUNCTION_LAST = sys.version_info < (3, 13)  # the function is put on it after the object or NULL
READING = {"LOAD_ATTR", "LOAD_METHOD"}
DEPTHS = {**INTO, **dict.fromkeys(READING, 0), "BINARY_SUBSCR": 1, "BINARY_SLICE": 2}
# What puts a result on the stack, and what changes nothing there.
RESULTS = (
    "LOAD_", "BINARY_", "BUILD_", "CALL", "COMPARE_", "CONTAINS_OP", "FORMAT_", "IS_OP",
    "MAKE_FUNCTION", "PUSH_NULL", "SET_FUNCTION_ATTRIBUTE", "TO_BOOL", "UNARY_",
)  # fmt: skip
SILENT = {"KW_NAMES", "NOP", "PRECALL", "SWAP"}
GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME", "IMPORT_", "LOAD_SUPER")
NAMED = ("LOAD_DEREF", "LOAD_GLOBAL")
TWO_IN_ONE = re.compile("((?:LOAD|STORE)_FAST(?:_BORROW)?)_((?:LOAD|STORE)_FAST(?:_BORROW)?)")
OPERANDS = {"LOAD_ATTR": 1, "LOAD_METHOD": 1, "LOAD_SUPER_ATTR": 3, "LOAD_GLOBAL": 0}


class StackStep:
    """An instruction; of those that are two in one, one half.

    effect: by how much the stack grows; results: how much of it is new
    """

    def __init__(self, found: dis.Instruction, opname: str, argval: Any, first: bool = True):
        self.opname, self.arg, self.argval, self.argrepr = (
            opname,
            found.arg or 0,
            argval,
            found.argrepr,
        )
        self.is_target = found.is_jump_target and first
        if opname in CALLS:
            self.effect = -self.arg - CALLS[opname]
        else:
            self.effect = dis.stack_effect(dis.opmap[opname], found.arg, jump=False)
        self.results = self.effect + OPERANDS.get(opname, 1 - self.effect)


def steps_of(code: CodeType) -> Iterator[StackStep]:
    for found in dis.get_instructions(code):
        if halves := TWO_IN_ONE.fullmatch(found.opname):
            first, second = found.argval
            yield StackStep(found, halves[1], first)
            yield StackStep(found, halves[2], second, first=False)
        elif found.opname != "CACHE":
            yield StackStep(found, found.opname, found.argval)


class OwnContainers:
    """The variables of code that are bound to new containers alone.

    makers: for each, the names of modules that have to be NumPy for that
    """

    def __init__(self, code: CodeType, steps: list[StackStep]) -> None:
        self.steps = steps
        self.makers: dict[str, set[str]] = {}
        given = code.co_argcount + code.co_kwonlyargcount
        given += sum(bool(code.co_flags & flag) for flag in (4, 8))  # *args, **kwargs
        others = {*code.co_varnames[:given], *code.co_cellvars, *code.co_freevars}
        if code.co_name == "__init__" and code.co_argcount:
            others.discard(code.co_varnames[0])
            self.makers[code.co_varnames[0]] = set()
        for i, step in enumerate(steps):
            if step.opname.startswith("STORE_FAST") and not in_place(steps[i - 1]):
                made = None if step.is_target else self.made(i - 1)
                if made is None or step.opname != "STORE_FAST":
                    others.add(step.argval)
                else:
                    self.makers.setdefault(step.argval, set()).update(made)
        for name in others:
            self.makers.pop(name, None)

    def source(self, i: int, depth: int) -> int | None:
        """The step that has made what lies so deep on the stack before step i; None if unknown.

        What lies in another branch is not looked for.
        """
        while i > 0 and not self.steps[i].is_target:
            i -= 1
            step = self.steps[i]
            if step.opname == "SWAP" and depth in (0, step.arg - 1):
                depth = step.arg - 1 - depth
            elif step.opname == "COPY":
                depth = step.arg - 1 if depth == 0 else depth - 1
            elif step.opname.startswith(RESULTS):
                if depth < step.results:
                    return i
                depth -= step.effect
            elif step.opname not in SILENT:
                return None
        return None

    def called(self, i: int) -> int | None:
        """The step that has put the function on the stack which a step calls."""
        step = self.steps[i]
        if step.opname not in CALLS:
            return None
        return self.source(i, step.arg + CALLS[step.opname] - FUNCTION_LAST)

    def made(self, i: int) -> set[str] | None:
        """The modules that have to be NumPy for a result to be new; None: it may be old."""
        if self.steps[i].opname in NEW:
            return set()
        function = self.called(i)
        if function is None or self.steps[function].opname not in READING:
            return None
        module = self.source(function, 0)
        if module is None or self.steps[module].opname != "LOAD_GLOBAL":
            return None
        return {self.steps[module].argval} if self.steps[function].argval in MAKING else None

    def at(self, i: int, depth: int) -> set[str] | None:
        """The same of what lies so deep on the stack."""
        source = self.source(i, depth)
        if source is None or self.steps[source].opname not in LOCALS:
            return None
        return self.makers.get(self.steps[source].argval)

    def added_to(self, i: int, code: CodeType) -> set[str] | None:
        """The same of an operator such as `+=`, by where its result goes.

        What it stores in parts of something, and in what isn't a variable of code, says so itself.
        """
        step = self.steps[i + 1]
        if step.opname == "STORE_FAST":
            return self.makers.get(step.argval)
        says_so = step.opname in ("SWAP", "STORE_GLOBAL") or step.argval in code.co_freevars
        return set() if says_so else None

    def of_step(self, i: int, code: CodeType) -> set[str] | None:
        """The modules that have to be NumPy for a step to change nothing else; None: it may."""
        step = self.steps[i]
        name = step.argval
        if step.opname in INTO:
            return self.at(i, INTO[step.opname])
        if in_place(step):
            return self.added_to(i, code)
        if step.opname in ("KW_NAMES", "LOAD_CONST"):
            names = code.co_consts[step.arg]  # of arguments, if it is a tuple
            return None if type(names) is tuple and not TARGETS.isdisjoint(names) else set()
        if step.opname in STORES or (step.opname == "STORE_DEREF" and name in code.co_freevars):
            return None
        if type(name) is not str or not (name in CHANGING or name in FILLING):
            return set()
        if step.opname == "LOAD_SUPER_ATTR" or (step.opname in READING and self.of_super(i)):
            return set() if name == code.co_name == "__init__" else None
        if step.opname in READING:
            return self.at(i, 0)
        return None if step.opname.startswith(GLOBALS) else set()

    def root(self, i: int) -> tuple[str, str] | None:
        """By which name the program reaches what a step stores into; None if that isn't known.

        `LOAD_DEREF` says that it is a variable of an enclosing function, `LOAD_GLOBAL` a global.
        With `STORE_GLOBAL` the name itself is bound to something else.
        """
        first = self.steps[i]
        if first.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            return "STORE_GLOBAL", first.argval
        if first.opname in ("STORE_DEREF", "DELETE_DEREF"):
            return "LOAD_DEREF", first.argval
        if first.opname not in INTO and first.opname not in READING:
            return None
        while first.opname in DEPTHS:
            source = self.source(i, DEPTHS[first.opname])
            if source is None:
                return None
            i, first = source, self.steps[source]
        return (first.opname, first.argval) if first.opname in NAMED else None

    def of_super(self, i: int) -> bool:
        """Whether a step reads what `super()` has."""
        call = self.source(i, 0)
        called = None if call is None else self.called(call)
        return called is not None and self.steps[called].argval == "super"


def in_place(step: StackStep) -> bool:
    return step.opname == "BINARY_OP" and step.argrepr.endswith("=")


@functools.lru_cache(4096)
def stored_outside(code: CodeType) -> tuple[Roots, frozenset[str]]:
    """Where code may store into what isn't its own, and the modules that have to be NumPy."""
    own = OwnContainers(code, list(steps_of(code)))
    modules, roots = set[str](), set[tuple[str, str]]()
    for i in range(len(own.steps)):
        needed = own.of_step(i, code)
        if needed is not None:
            modules |= needed
            continue
        root = own.root(i)
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
