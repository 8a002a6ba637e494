"""Bytecode: what a function's instructions tell about it before it runs."""

from __future__ import annotations

import dis
import itertools
import re
import sys
import zlib
from collections.abc import Iterator
from types import CodeType
from typing import Any

from ...core.reach.bytecode import HAS_ARGUMENT, decoded
from ...core.reach.code_tables import SUPPORTED, with_nested
from ...core.reach.namespaces import names_of
from ...core.reach.of_code import once_for_code

STORES = {
    "STORE_ATTR", "DELETE_ATTR", "STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE", "STORE_GLOBAL",
    "DELETE_GLOBAL",
}  # fmt: skip
# Methods of containers that change them, and functions that do as an instruction does.
CHANGING = {
    "append", "extend", "insert", "pop", "popitem", "popleft", "appendleft", "extendleft",
    "rotate", "remove", "discard", "clear", "update", "setdefault", "add", "sort", "reverse",
    "difference_update", "intersection_update", "symmetric_difference_update", "move_to_end",
    "subtract", "setattr", "delattr", "__setattr__", "__delattr__", "__setitem__", "__delitem__",
    "setitem", "delitem", "__init__", "__ior__", "__iand__", "__ixor__", "__isub__", "__iadd__",
    "__imul__", "ior", "iand", "ixor", "isub", "iadd", "imul", "iconcat", "methodcaller",
}  # fmt: skip
GLOBALS = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
ATTRIBUTES = {"LOAD_ATTR", "LOAD_SUPER_ATTR"}
CALLS = {"CALL", "CALL_KW", "KW_NAMES", "PRECALL"}
SILENT = ("EXTENDED_ARG", "CACHE")
# Among the names of code: it may ask for attributes whose names it computes.
COMPUTED_NAMES = "*"
DEEP = "*all"  # and something is copied, with all that its objects hold
SWEEPS = "*modules"  # and it may go through all modules in `sys.modules`
TEXTS = "*text"  # and it may make text of what it has, classes among it
# Who asks for attributes by computed names, or whose names are not in the code.
REFLECTION = {
    "attrgetter", "methodcaller", "__getattribute__", "__reduce__", "__reduce_ex__",
    "__getstate__", "__match_args__",
}  # fmt: skip
# The same, but reported to a recording: what is looked into, or the names.
REPORTED = {"vars", "dir", "__dict__"}
# Who binds attributes and globals by names that are not in the instructions.
BINDING = {
    "setattr", "delattr", "__setattr__", "__delattr__", "__dict__", "vars", "globals", "__set__",
    "__delete__", "cell_contents", "methodcaller", "__setstate__", "__getstate__", "__reduce__",
    "__reduce_ex__", "__globals__",
}  # fmt: skip
# Who reads what functions hold, and what they read.
SIGNATURES = {"signature", "getfullargspec", "unwrap"}
HELD = {"__annotations__", "__defaults__", "__kwdefaults__", "__signature__", "__wrapped__"}
ASKING = {"getattr", "hasattr", "vars", "dir"}
LOOKS = {"IS_OP", "LOAD_ATTR", "LOAD_METHOD"}  # what they take is not called
CLASS_QUESTIONS = {"isinstance", "issubclass"}
SIMPLE = ("LOAD_FAST", "LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CONST", "LOAD_ATTR")
CONSTANTS = ("LOAD_CONST", "LOAD_SMALL_INT")
CHAINED = {"LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR"}
# Steps with a name that load nothing from outside the function.
NO_LOADS = (
    "STORE_", "LOAD_FAST", "DELETE_FAST", "LOAD_CLOSURE", "MAKE_CELL", "LOAD_CONST", "KW_NAMES",
    "COMPARE_OP", "BINARY_OP", "CALL_INTRINSIC", "FORMAT_", "CONTAINS_OP", "IS_OP",
)  # fmt: skip
IDENTITY = {"id", "is_", "is_not", "index", "count", "remove", "may_share_memory", "shares_memory"}
CONTAINERS = ("LOAD_FAST", "LOAD_GLOBAL", "LOAD_DEREF", "LOAD_NAME", "LOAD_CONST")
TEXT = {"str", "repr", "format", "int", "ascii"}
POWERS = {"pow", "factorial", "comb", "perm", "lshift", "from_bytes", "prod"}
FIELD = re.compile(r"\{([^:!}]*)")  # of a format
MANY = 2000  # bits of integers of which Python may refuse to make text
SINGLE = (type(None), bool, type(Ellipsis))


class Code:
    """What the instructions of a code object, and of those nested in it, tell about it.

    names: attributes that it may ask for; `getattr(x, "rate")` has them as text. COMPUTED_NAMES is
        among them if there may be others.
    reflects: whether there may be others than those that `getattr`, `hasattr` and `format` are
        asked for where they are called by their names, of which a recording is told.
    handed: names of globals and attributes that it reads otherwise than to call them.
    tested: those that are only looked at, as by `isinstance`.
    imports: level and name of what it imports.
    stores: whether it binds or changes anything besides variables of its own.
    stored: names of the attributes, globals and variables of functions around it that it binds;
        None: it may bind others, by names that it computes.
    fills: whether it may change what containers hold.
    loads: names of globals, attributes and variables of functions around it that it loads.
    uses: what becomes of what it loads by a name: "append", "store" (an item of it), or "other".
    strings: text among its constants.
    key: what tells it from other code, in later processes as well.
    digits: whether it may make text of integers of hundreds of digits, or the reverse.
    compares: whether it asks whether things are equal.
    identity: whether it may ask whether two things are the same object, or the same memory.
    chains: what it loads by names that follow each other, such as ("np", "linalg", "norm").
    import_chains: the same of modules that it imports: level, name, and then attributes.
    """

    def __init__(self, code: CodeType) -> None:
        self.key = code.co_qualname, zlib.crc32(code.co_code)
        self.names = names_in(code)
        self.handed: set[str] = set()
        self.tested: set[str] = set()
        self.imports: list[tuple[int, str]] = []
        self.stored: set[str] | None = set(names_of(code).assigned & set(code.co_freevars))
        self.fills = not CHANGING.isdisjoint(code.co_names)
        self.stores = bool(self.stored) or self.fills
        self.identity = not IDENTITY.isdisjoint(code.co_names)
        self.compares = not {"eq", "ne", "__eq__", "__ne__"}.isdisjoint(code.co_names)
        self.reflects = False
        self.strings: set[str] = set()
        self.texts = not TEXT.isdisjoint(code.co_names)
        self.powers = not POWERS.isdisjoint(code.co_names)
        self.loads: set[str] = set()
        self.uses: dict[str, set[str]] = {}
        self.chains: set[tuple[str, ...]] = set()
        self.import_chains: set[tuple[Any, ...]] = set()
        steps = list(instructions(code))
        swept = computes = False
        for i, step in enumerate(steps):
            name = step.opname
            if name in READ:
                self.read(step, steps[max(i - 6, 0) : i])
            if type(step.argval) is str and not name.startswith(NO_LOADS):
                self.load(step, steps[i + 1 : i + 3])
                swept |= sweeps(steps, i)
                computes |= computes_name(steps, i)
        for name, is_tested in handed(steps):
            (self.tested if is_tested else self.handed).add(name)
        self.follow(steps)
        for x in code.co_consts:
            if isinstance(x, CodeType):
                self.include(code_of(x))
            texts = texts_in(x)
            self.powers |= type(x) is int and x.bit_length() > MANY
            self.strings.update(texts)
            self.loads.update(texts)
        if "modules" in self.strings or swept:
            self.names.add(SWEEPS)
        if self.texts:
            self.names.add(TEXTS)
        if "add_note" in self.names:  # a method of C's, of exceptions
            self.names.add("__notes__")
        self.reflects |= bool(REFLECTION & self.names or ASKING & self.handed)
        self.reflects |= "__dict__" in self.strings
        if self.reflects or REPORTED & self.names or computes:
            self.names.add(COMPUTED_NAMES)
        if not BINDING.isdisjoint(self.names):
            self.stored = None

    def include(self, inner: Code) -> None:
        """Add what code nested in it tells."""
        self.names |= inner.names
        self.handed |= inner.handed
        self.tested |= inner.tested
        self.imports += inner.imports
        self.chains |= inner.chains
        self.import_chains |= inner.import_chains
        self.loads |= inner.loads
        self.strings |= inner.strings
        self.texts |= inner.texts
        self.powers |= inner.powers
        for name, uses in inner.uses.items():
            self.uses.setdefault(name, set()).update(uses)
        self.stores |= inner.stores
        self.fills |= inner.fills
        both = self.stored is not None and inner.stored is not None
        self.stored = {*(self.stored or ()), *(inner.stored or ())} if both else None
        self.identity |= inner.identity
        self.compares |= inner.compares
        self.reflects |= inner.reflects

    def asked(self, reported: bool) -> set[str]:
        """Its names; reported: without those that are reported to a recording."""
        if not reported:
            return self.names
        return self.names - ({SWEEPS} if self.reflects else {COMPUTED_NAMES, SWEEPS})

    def read(self, step: Any, before: list[Any]) -> None:
        name = step.opname
        if name in STORES:
            self.stores = True
            self.fills |= name.endswith(("_SUBSCR", "_SLICE"))
            if self.stored is not None and type(step.argval) is str:
                self.stored.add(step.argval)
            self.reflects |= step.argval == "__dict__"
        elif name == "MATCH_CLASS":
            self.names.add("__match_args__")  # `case Point(x)` has names that are not in the code
        elif name == "COMPARE_OP":
            self.compares |= step.argrepr.strip("bol()") in ("==", "!=")
        elif name == "CONTAINS_OP":
            self.identity |= not looks_up_constant(before)
        elif name.startswith(("FORMAT_", "CONVERT_VALUE")):
            self.texts = True
        elif name == "BINARY_OP" and step.argrepr.startswith(("**", "<<")):
            last = before[-1].argval if before[-1].opname == "LOAD_CONST" else MANY
            self.powers |= type(last) not in (int, float) or last > 100
        elif name == "IS_OP":
            last = before[-1]
            self.identity |= not (last.opname == "LOAD_CONST" and type(last.argval) in SINGLE)
        elif name == "IMPORT_NAME":
            levels = [s.argval for s in before if type(s.argval) is int]
            self.imports.append((levels[-1] if levels else 0, step.argval))

    def load(self, step: Any, then: list[Any]) -> None:
        """What a step loads by a name, and what the next ones do with it."""
        self.loads.add(step.argval)
        use = "other"
        if then and then[0].opname in ("LOAD_METHOD", "LOAD_ATTR") and then[0].argval == "append":
            use = "append"
        elif len(then) == 2 and then[1].opname == "STORE_SUBSCR":
            use = "store" if then[0].opname in ("LOAD_CONST", "LOAD_FAST") else "other"
        self.uses.setdefault(step.argval, set()).add(use)

    def follow(self, steps: list[Any]) -> None:
        """Note the attributes that are asked for of what a name stands for, one after the other."""
        variables = imported_variables(steps)
        for i, step in enumerate(steps):
            if step.opname in GLOBALS:
                self.chains.add((step.argval, *attributes_after(steps, i)))
            elif step.opname.startswith("LOAD_FAST") and step.argval in variables:
                for module in variables[step.argval]:
                    self.import_chains.add((*module, *attributes_after(steps, i)))
            elif step.opname == "IMPORT_NAME":
                self.import_chains |= set(asked_of_import(steps, i, variables))

    @property
    def digits(self) -> bool:
        return self.texts and self.powers

    def imported(self, scope: dict[str, Any]) -> set[str]:
        """The full names of modules that it imports when it runs."""
        full = {full_name(scope, level, name) for level, name in self.imports}
        return full | {name.partition(".")[0] for name in full}


def sweeps(steps: list[Any], i: int) -> bool:
    """Whether step i, which loads a name, is `sys.modules` for several, `"torch" in sys.modules`.

    `sys.modules["torch"]` and `sys.modules.get("torch")` have the name in the code as well.
    """
    if steps[i].argval != "modules":
        return False
    then = [step for step in steps[i + 1 : i + 4] if step.opname != "PUSH_NULL"]
    if then and then[0].opname == "CONTAINS_OP":
        return False
    if len(then) > 1 and then[0].argval == "get" and then[1].opname == "LOAD_CONST":
        return False
    constant = len(then) > 1 and then[0].opname == "LOAD_CONST"
    return not (constant and then[1].opname == "BINARY_SUBSCR")


def computes_name(steps: list[Any], i: int) -> bool:
    """Whether step i, which loads a name, may look up an attribute by a computed name."""
    step = steps[i]
    if step.opname in GLOBALS and step.argval in ASKING:
        return not asks_by_constant(steps, i)
    if step.argval not in ("format", "format_map"):
        return False
    text = steps[i - 1].argval if i and steps[i - 1].opname == "LOAD_CONST" else None
    return type(text) is not str or any("." in x or "[" in x for x in FIELD.findall(text))


def after(steps: list[Any], i: int) -> Iterator[Any]:
    """The steps that follow step i. A slice would copy all of them, in each step of a long code."""
    return map(steps.__getitem__, range(i + 1, len(steps)))


def asks_by_constant(steps: list[Any], i: int) -> bool:
    """Whether what follows step i is `(x.y, "name")`, or the same with a default."""
    known = (*SIMPLE, "PUSH_NULL")
    given = list(itertools.takewhile(lambda step: step.opname in known, after(steps, i)))
    n = i + 1 + len(given)
    loads = [step for step in given if step.opname not in ("LOAD_ATTR", "PUSH_NULL")]
    calls = [step for step in steps[n : n + 2] if step.opname == "CALL"]
    if not calls or len(loads) != calls[0].arg or len(loads) < 2:
        return False
    return loads[1].opname == "LOAD_CONST" and type(loads[1].argval) is str


def attributes_after(steps: list[Any], i: int) -> tuple[str, ...]:
    """The attributes for which steps ask one after the other, of what step i loads."""
    found = []
    for step in after(steps, i):
        if step.opname not in CHAINED:
            break
        found.append(step.argval)
        if step.opname not in ("LOAD_ATTR", "LOAD_METHOD"):
            break
    return tuple(found)


def imported_by(steps: list[Any], i: int) -> tuple[int, str, bool]:
    """Level and name of the module that step i imports, and whether it is `from` that module."""
    before = [step for step in steps[max(i - 6, 0) : i] if step.opname in CONSTANTS]
    level, names = (step.argval for step in before[-2:])
    return level, steps[i].argval, names is not None


def asked_of_import(steps: list[Any], i: int, variables: Any) -> Iterator[tuple[Any, ...]]:
    """What an import asks for: chains that are empty where what was imported goes elsewhere."""
    level, name, some = imported_by(steps, i)
    then = steps[i + 1]
    if some:
        for step in after(steps, i):
            if step.opname == "IMPORT_FROM":
                yield level, name, step.argval
            elif not step.opname.startswith("STORE_"):
                break
    elif then.opname == "IMPORT_FROM":  # `import a.b as c`
        outermost, *parts = name.split(".")
        yield level, outermost, *parts
        yield level, name
    elif then.opname != "STORE_FAST" or then.argval not in variables:
        yield level, name.partition(".")[0]
        yield level, name


def imported_variables(steps: list[Any]) -> dict[str, set[tuple[int, str]]]:
    """Variables that hold modules and nothing else: `import numpy as np` in a function."""
    found: dict[str, set[tuple[int, str]]] = {}
    others: set[str] = set()
    if not any(step.opname == "IMPORT_NAME" for step in steps):
        return found
    for i, step in enumerate(steps):
        if "_FAST" not in step.opname or step.opname in ("LOAD_FAST", "LOAD_FAST_CHECK"):
            continue
        if step.opname == "STORE_FAST" and i and steps[i - 1].opname == "IMPORT_NAME":
            level, name, _ = imported_by(steps, i - 1)
            found.setdefault(step.argval, set()).add((level, name.partition(".")[0]))
        else:  # of two variables, in some versions of Python
            others.update([step.argval] if type(step.argval) is str else step.argval)
    return {name: modules for name, modules in found.items() if name not in others}


def full_name(scope: dict[str, Any], level: int, name: str) -> str:
    """The name of a module that code with these globals imports."""
    package = str(scope.get("__package__") or scope.get("__name__"))
    parent = package.rsplit(".", level - 1)[0] if level else ""
    return ".".join([part for part in (parent, name) if part])


def looks_up_constant(before: list[Any]) -> bool:
    """Whether `in` comes after a constant and a name with attributes: `"key" in self.table`."""
    rest = [step for step in before if step.opname != "LOAD_ATTR"][-2:]
    simple = len(rest) == 2 and rest[1].opname in CONTAINERS and rest[0].opname == "LOAD_CONST"
    return simple and type(rest[0].argval) in (str, int, float, bytes, *SINGLE)


def handed(steps: list[Any]) -> Iterator[tuple[str, bool]]:
    """Names of globals and attributes that are read otherwise than to be called.

    Each with whether it is only looked at: by `isinstance`, by `is`, for an attribute.

    The instruction says it by a bit, but not for attributes of a module that a file imports. There
    an expression tells by where it ends: `np.sin(x)` begins with `np.sin`, and is a call.
    """
    begun: dict[tuple[int, int], list[tuple[tuple[int, int], bool]]] = {}
    asking, before = questions(steps), None  # the step after, since it goes backwards
    for step in reversed(steps):
        name, low, (start, end) = step.opname, (step.arg or 0) & 1, extent(step)
        if name in ATTRIBUTES or name in GLOBALS or name == "IMPORT_FROM":
            longer = [call for last, call in begun.get(start, ()) if last > end]
            by_bit = low and (name == "LOAD_GLOBAL" or (name in ATTRIBUTES and BIT_IN_ATTRIBUTES))
            called = by_bit or (name in ATTRIBUTES and longer and longer[-1])
            if not called:
                looked_at = before is not None and before.opname in LOOKS
                yield step.argval, looked_at or is_asked_for(asking, start, end)
        before = step
        if start < end and name != "LOAD_CONST":  # names of keywords lie where the call does
            begun.setdefault(start, []).append((end, name in CALLS))


Extent = tuple[tuple[int, int], tuple[int, int]]


def questions(steps: list[Any]) -> list[tuple[Extent, bool]]:
    """Where calls stand in the source, the short ones first, and whether they ask for a class."""
    asks = [x for x in steps if x.opname in GLOBALS and x.argval in CLASS_QUESTIONS]
    begins = {extent(step)[0] for step in asks}
    calls = {extent(step) for step in steps if step.opname in CALLS}
    if not begins or (0, 0) in begins:
        return []
    found = [(where, where[0] in begins) for where in calls]
    return sorted(found, key=lambda x: (x[0][1][0] - x[0][0][0], x[0][1][1] - x[0][0][1]))


def is_asked_for(calls: list[tuple[Extent, bool]], start: Any, end: Any) -> bool:
    """Whether an expression is an argument of `isinstance`, and of no other call inside that."""
    for (begin, last), asks in calls:
        if begin < start and end < last:
            return asks
    return False


def extent(step: Any) -> tuple[tuple[int, int], tuple[int, int]]:
    """Where the source of an instruction begins and ends: line and column, zeros if unknown."""
    line, last, column, after = step.positions
    return (line or 0, column or 0), (last or 0, after or 0)


BIT_IN_ATTRIBUTES = "LOAD_METHOD" not in dis.opmap  # one instruction for both, with a bit


def names_in(code: CodeType) -> set[str]:
    """The attributes that code, or what is nested in it, may ask for; text may be a name."""
    names = names_written(code)
    return names if SIGNATURES.isdisjoint(names) else names | HELD


def names_written(code: CodeType) -> set[str]:
    """The names and texts in code, and in what is nested in it."""
    names = set[str]()
    for part in with_nested(code):
        names.update(part.co_names, *map(texts_in, part.co_consts))
    return names


def texts_in(constant: Any) -> list[str]:
    return [x for x in (constant if type(constant) is tuple else (constant,)) if type(x) is str]


class Instruction:
    """One of `dis`, with what is asked of it here; positions: lines and columns, as it has them."""

    __slots__ = ("arg", "argrepr", "argval", "opname", "positions")

    def __init__(self, opname: str, arg: int | None, argval: Any, argrepr: str, where: Any) -> None:
        self.opname, self.arg, self.argval, self.argrepr = opname, arg, argval, argrepr
        self.positions = where


def instructions(code: CodeType) -> Iterator[Instruction]:
    """The instructions of code but for SILENT ones, in less time than `dis.get_instructions` takes.

    Where it is not known how arguments lie in this version of Python, `dis` says it.
    """
    if not SUPPORTED:
        for x in dis.get_instructions(code):
            if x.opname in SILENT:
                continue
            where = x.positions or (None,) * 4
            yield Instruction(x.opname, x.arg, x.argval, x.argrepr, where)
        return
    consts, names, local = code.co_consts, code.co_names, code._varname_from_oparg  # type: ignore[attr-defined]  # private
    places = list(code.co_positions())
    for step in decoded(code):
        op, arg = step.op, step.arg
        kind, argrepr = HOW[op], ""
        argval: Any = arg
        if kind == "local":
            argval = local(arg)
        elif kind == "const":
            argval = consts[arg]
        elif kind == "name":
            argval = names[arg >> SHIFTS.get(op, 0)]
        elif kind == "two":
            argval = local(arg >> 4), local(arg & 15)
        elif kind == "compare":
            argval = argrepr = dis.cmp_op[arg >> COMPARE_SHIFT]
        elif kind == "binary":
            argrepr = BINARY[arg]
        elif kind == "":
            yield Instruction(dis.opname[op], None, None, "", places[step.at])
            continue
        yield Instruction(dis.opname[op], arg, argval, argrepr, places[step.at])


def kind_of(op: int) -> str:
    """What the argument of an instruction is the number of; empty where it has none."""
    name = dis.opname[op]
    if op not in HAS_ARGUMENT:
        return ""
    if "_FAST_" in name and name.count("_FAST") == 2:
        return "two"
    if op in dis.haslocal or op in dis.hasfree:
        return "local"
    named = {"COMPARE_OP": "compare", "BINARY_OP": "binary"}.get(name)
    return named or ("const" if op in dis.hasconst else "name" if op in dis.hasname else "number")


HOW = [kind_of(op) for op in range(256)]
SHIFTS = {
    dis.opmap[name]: by
    for name, by, since in (
        ("LOAD_GLOBAL", 1, (3, 11)), ("LOAD_ATTR", 1, (3, 12)), ("LOAD_SUPER_ATTR", 2, (3, 12))
    )
    if name in dis.opmap and sys.version_info[:2] >= since
}  # fmt: skip
COMPARE_SHIFT = {(3, 11): 0, (3, 12): 4}.get(sys.version_info[:2], 5)
BINARY = [row[1] for row in getattr(dis, "_nb_ops", [])]
READ = {
    *STORES, "MATCH_CLASS", "COMPARE_OP", "CONTAINS_OP", "BINARY_OP", "IS_OP", "IMPORT_NAME",
    *[name for name in dis.opmap if name.startswith(("FORMAT_", "CONVERT_VALUE"))],
}  # fmt: skip


code_of = once_for_code(Code)
