"""Results that differ between processes: hash order, addresses, random seeds.

Line numbers count as well, since a file may change between processes.
"""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Iterable

from ..facts.bytecode import code_of, extent

ASKED = {
    "hash", "id", "set", "frozenset", "__hash__",
    "ctypes", "__array_interface__", "__array_struct__", "byte_bounds",
    "__code__", "__traceback__", "tb_lineno", "f_lineno", "gi_frame", "gi_code", "cr_frame",
    "get_printoptions", "getbufsize", "__subclasses__", "get_type_hints", "get_annotations",
}  # fmt: skip
MEMORY = {"base", "may_share_memory", "shares_memory"}  # of arrays that are read
SETS = {"BUILD_SET", "SET_ADD", "SET_UPDATE"}
OF_SETS = {"&", "|", "^", "-", "&=", "|=", "^=", "-="}  # of sets, and of `d.keys()`
ALGEBRA = {
    "union", "intersection", "difference", "symmetric_difference", "copy", "deepcopy", "pop",
    "and_", "or_", "xor", "sub", "iand", "ior", "ixor", "isub", "__and__", "__or__", "__xor__",
    "__sub__", "__rand__", "__ror__", "__rxor__", "__rsub__",
}  # fmt: skip
OF_VIEWS = ALGEBRA - {"union", "intersection", "difference", "copy", "deepcopy", "pop"}
VIEWS = {"keys", "items"}
# What takes the items of a view one after the other.
TAKING = {
    "list", "tuple", "sorted", "dict", "len", "enumerate", "zip", "iter", "reversed", "sum", "min",
    "max", "any", "all", "map", "filter",
}  # fmt: skip
OF_KINDS = ("BUILD_TUPLE", "BINARY_OP")  # `(str, bytes)` and `str | bytes`
TEXT = {"repr", "str", "ascii", "format", "format_map", "__repr__", "__str__", "__format__"}
ENDS = ("STORE_", "RETURN_", "JUMP", "POP_JUMP", "FOR_ITER", "YIELD", "POP_TOP")


def chance(codes: Iterable[types.CodeType], sets: bool, nameless: bool, arrays: bool) -> str | None:
    """What of code may be another in another process, or None.

    Args:
        sets: whether sets are read.
        nameless: whether objects are read whose texts hold their addresses.
        arrays: whether arrays are read.
    """
    codes = list(codes)
    names = frozenset().union(*[code_of(code).names for code in codes])
    for name in sorted(names & (ASKED | MEMORY if arrays else ASKED)):
        return f"it asks for `{name}`"
    views = any(map(hands_on_views, codes))
    mixing = (sets and not names.isdisjoint(ALGEBRA)) or (views and not names.isdisjoint(OF_VIEWS))
    for code in codes:
        if makes_sets(code) or ((sets or views) and combines(code)):
            mixing = True
        if nameless and writes(code):
            return f"`{code.co_qualname}` may write down addresses"
    return "something may come in the order of a set" if mixing else None


@functools.lru_cache(4096)
def steps_of(code: types.CodeType) -> list[dis.Instruction]:
    return [step for step in dis.get_instructions(code) if step.opname not in ("PRECALL", "CACHE")]


def makes_sets(code: types.CodeType) -> bool:
    steps = steps_of(code)
    for step, then in zip(steps, [*steps[1:], None], strict=True):
        if step.opname in SETS:
            return True
        constant = step.opname.startswith("LOAD_CONST") and type(step.argval) is frozenset
        if constant and (then is None or then.opname != "CONTAINS_OP"):
            return True
    return False


def combines(code: types.CodeType) -> bool:
    """Whether there is an operator that makes a set of two."""
    return any(step.argrepr in OF_SETS for step in steps_of(code) if step.opname == "BINARY_OP")


def hands_on_views(code: types.CodeType) -> bool:
    """Whether views of dicts are used otherwise than to go through them."""
    names = code_of(code).names
    if VIEWS.isdisjoint(names):
        return False
    if VIEWS.isdisjoint(code.co_names):
        return "getattr" in names
    steps = steps_of(code)
    for i, step in enumerate(steps):
        if step.argval in VIEWS and step.opname in ("LOAD_METHOD", "LOAD_ATTR"):
            call, then = (*steps[i + 1 : i + 3], None, None)[:2]
            if call is None or then is None or call.opname != "CALL" or call.arg:
                return True
            through = then.opname in ("GET_ITER", "LIST_EXTEND", "CONTAINS_OP")
            if not through and not is_taken(call, steps, TAKING):
                return True
    return False


def is_taken(
    step: dis.Instruction, steps: list[dis.Instruction], by: set[str], within: Iterable[str] = ()
) -> bool:
    """Whether something is an argument of a builtin function, within at most such steps."""
    start, end = extent(step)
    around = [(s, extent(s)) for s in steps if s.opname not in ("RESUME", *within)]
    around = [
        (s, (a, b)) for s, (a, b) in around if a <= start and end <= b and (a, b) != (start, end)
    ]
    if not around or start == (0, 0):
        return False
    inner = max([place for _, place in around], key=lambda x: (x[0], (-x[1][0], -x[1][1])))
    calls = any(place == inner and s.opname == "CALL" for s, place in around)
    names = [s.argval for s in steps if s.opname == "LOAD_GLOBAL" and extent(s)[0] == inner[0]]
    return calls and not by.isdisjoint(names)


def writes(code: types.CodeType) -> bool:
    """Whether it may make text of objects, other than for an error that it raises."""
    steps = steps_of(code)
    asked = code_of(code).names & TEXT
    kinds = [step for step in steps if step.argval == "str" and step.opname == "LOAD_GLOBAL"]
    only = asked == {"str"} and "str" in code.co_names
    if asked and not (
        only and all(is_taken(step, steps, {"isinstance"}, OF_KINDS) for step in kinds)
    ):
        return True
    fields = any(type(x) is str and "%" in x for x in code.co_consts)
    for i, step in enumerate(steps):
        if step.opname.startswith(("FORMAT_", "CONVERT_VALUE")) and not raised(steps[i:]):
            return True
        if fields and step.opname == "BINARY_OP" and step.argrepr.startswith("%"):
            return True
    return False


def raised(steps: list[dis.Instruction]) -> bool:
    """Whether all that comes of the first step is an error."""
    for step in steps:
        if step.opname == "RAISE_VARARGS":
            return True
        if step.opname.startswith(ENDS):
            return False
    return False
