"""Where code decides whether a loop continues: tests of a `while`, and those that leave a `for`.

A test of a `for` is a condition in its body where one answer leaves the loop for good. The loop
must run over `range(n)`, and read its variable only in comparisons with constants: once the
variable is beyond these constants, Python takes the same branches in each step.
"""

from __future__ import annotations

import dis
from functools import lru_cache
from types import CodeType
from typing import Any

BETWEEN = ("NOT_TAKEN", "CACHE", "EXTENDED_ARG", "NOP")
FORWARD = ("POP_JUMP_FORWARD_IF_FALSE", "POP_JUMP_IF_FALSE")
ENDS = ("RETURN_VALUE", "RETURN_CONST", "JUMP_FORWARD", "JUMP_BACKWARD", "RERAISE", "RAISE_VARARGS")
READERS = {"locals", "eval", "exec", "vars", "dir", "_getframe", "currentframe"}
GENERATOR = 0x20 | 0x80 | 0x200  # flags of code that can be left and entered again


class Counter:
    """The variable of a `for` over `range(limit)`, and the largest number it is compared with.

    limit: an int, or the name of the local that holds it
    """

    __slots__ = ("beyond", "limit", "name")

    def __init__(self, name: str, limit: int | str, beyond: int) -> None:
        self.name, self.limit, self.beyond = name, limit, beyond


class Test:
    """A test of a loop: where that begins, and the locals that may be read after it.

    goes_on: the answer with which the loop goes on
    counter: of a `for`
    """

    __slots__ = ("begin", "counter", "goes_on", "is_first", "live")

    def __init__(
        self,
        begin: int,
        is_first: bool,
        live: frozenset[str] | None,
        goes_on: bool = True,
        counter: Counter | None = None,
    ) -> None:
        self.begin, self.is_first, self.live = begin, is_first, live
        self.goes_on, self.counter = goes_on, counter


@lru_cache(maxsize=1024)
def tests_in(code: CodeType) -> dict[int, Test]:
    """The tests of loops, those of a `while` before the first step and after each, by what asks.

    Around a `while` no iterator may be under way: nobody sees how far it is.
    """
    found: dict[int, Test] = {}
    if code.co_flags & GENERATOR:
        return found
    whole, places = listed(code)
    alive = live_names(code, whole, places)
    last: dict[int, int] = {}  # where loops begin, and where they end
    for i, x in enumerate(whole[:-1]):
        following = whole[i + 1]
        if x.opname == "POP_JUMP_BACKWARD_IF_TRUE":
            begin, end = x.argval, following.offset
        elif x.opname == "POP_JUMP_IF_FALSE" and following.opname == "JUMP_BACKWARD":
            begin, end = following.argval, x.argval
        else:
            continue
        if not any(
            y.opname in ("FOR_ITER", "SEND") and y.offset <= begin and y.argval > x.offset
            for y in whole
        ):
            last[begin] = end
            add_test(found, whole, i, Test(begin, False, alive[i] if alive else None))
    for i, x in enumerate(whole[:-1]):
        begin = whole[i + 1].offset
        if x.opname in FORWARD and last.get(begin) == x.argval and begin > x.offset:
            add_test(found, whole, i, Test(begin, True, alive[i] if alive else None))
    if alive:
        add_tests_of_for(found, whole, places, alive)
    return found


def listed(code: CodeType) -> tuple[list[Any], dict[int, int]]:
    """The instructions without prefixes, and for each offset which of them comes there."""
    whole: list[Any] = []
    places: dict[int, int] = {}
    for x in dis.get_instructions(code):
        places[x.offset] = len(whole)
        if x.opname not in BETWEEN:
            whole.append(x)
    return whole, places


def add_test(found: dict[int, Test], whole: list[Any], i: int, test: Test) -> None:
    """Enter the test that a jump makes: the jump asks, or before it TO_BOOL or a comparison."""
    found[whole[i].offset] = test
    for x in whole[max(i - 2, 0) : i]:
        if x.opname in ("TO_BOOL", "COMPARE_OP"):  # Python's numbers answer to a comparison
            found[x.offset] = test


def add_tests_of_for(
    found: dict[int, Test],
    whole: list[Any],
    places: dict[int, int],
    alive: list[frozenset[str]],
) -> None:
    heads = [i for i, x in enumerate(whole) if x.opname in ("FOR_ITER", "SEND")]
    around = {i: [h for h in heads if h < i < places[whole[h].argval]] for i in range(len(whole))}
    for i, x in enumerate(whole[:-1]):
        if not x.opname.startswith("POP_JUMP") or len(around[i]) != 1 or x.opname.endswith("NONE"):
            continue
        (head,) = around[i]
        counter = counter_of(whole, head, places[whole[head].argval])
        back = [returns(whole, places, j, head) for j in (i + 1, places[x.argval])]
        if counter is None or back[0] == back[1]:
            continue
        goes_on = back[1] == x.opname.endswith("TRUE")
        test = Test(x.offset, False, alive[i] - {counter.name}, goes_on, counter)
        add_test(found, whole, i, test)


def returns(whole: list[Any], places: dict[int, int], start: int, head: int) -> bool:
    """Whether code that continues from an instruction can reach the head of a loop."""
    seen, stack = set[int](), [start]
    while stack:
        i = stack.pop()
        if i in seen or i >= len(whole):
            continue
        seen.add(i)
        x = whole[i]
        if "JUMP" in x.opname or x.opname in ("FOR_ITER", "SEND"):
            stack.append(places[x.argval])
        if x.opname not in ENDS:
            stack.append(i + 1)
    return head in seen


def counter_of(whole: list[Any], head: int, end: int) -> Counter | None:
    """The variable of a `for` over `range(n)`, if it may be left out of the state of the loop."""
    before = [x for x in whole[max(head - 6, 0) : head] if x.opname != "PRECALL"][-4:]
    if [x.opname for x in before][2:] != ["CALL", "GET_ITER"] or before[0].argval != "range":
        return None
    asked, store = before[1], whole[head + 1]
    if before[0].opname != "LOAD_GLOBAL" or before[2].arg != 1 or store.opname != "STORE_FAST":
        return None
    named = asked.opname in ("LOAD_FAST", "LOAD_FAST_BORROW")
    if not (named or (asked.opname.startswith("LOAD_") and type(asked.argval) is int)):
        return None
    beyond = -1
    for i, x in enumerate(whole):
        names = x.argval if isinstance(x.argval, tuple) else (x.argval,)
        if "_FAST" not in x.opname:
            continue
        if named and asked.argval in names and "STORE" in x.opname and head < i < end:
            return None
        if store.argval not in names or i == head + 1:
            continue
        constant, compared = whole[i + 1 : i + 3]
        known = compared.opname == "COMPARE_OP" and type(constant.argval) is int
        if not (known and x.opname.startswith("LOAD_FAST") and len(names) == 1):
            return None
        beyond = max(beyond, constant.argval)
    return Counter(store.argval, asked.argval, beyond)


def live_names(
    code: CodeType, whole: list[Any], places: dict[int, int]
) -> list[frozenset[str]] | None:
    """Of each instruction, the locals that may be read after it; None where any may be."""
    if getattr(code, "co_exceptiontable", b"") or not READERS.isdisjoint(code.co_names):
        return None
    before = [frozenset[str]()] * (len(whole) + 1)
    after = list(before)
    changed = True
    while changed:
        changed = False
        for i in range(len(whole) - 1, -1, -1):
            x = whole[i]
            names = set() if x.opname in ENDS else set(before[i + 1])
            if "JUMP" in x.opname or x.opname in ("FOR_ITER", "SEND"):
                names |= before[places[x.argval]]
            after[i] = frozenset(names)
            if x.opname == "STORE_FAST":
                names.discard(x.argval)
            elif "_FAST" in x.opname:
                names.update(x.argval if isinstance(x.argval, tuple) else (x.argval,))
            if names != before[i]:
                before[i], changed = frozenset(names), True
    others = frozenset([*code.co_cellvars, *code.co_freevars])
    return [names | others for names in after]
