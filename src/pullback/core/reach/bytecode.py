"""Rewriting instructions: code in which each call site asks an object what is to be called.

    f(x)                    ->  calls[f](x)
    self.total = y          ->  stores[self] = y; self.total = y
    a[i] = y                ->  (a if holds[y] is None else stored[a, y])[i] = y
    def g(t): ...           ->  g = made[function]
    match x: case [a, b]:   ->  matches[x] is asked whether x is a sequence
    f"{x} m"                ->  joins[f"{fields[x]}", " m"]
    s in "text"             ->  insides[s] in "text"
    x is y                  ->  identical[x, y]
    import m                ->  imports["m", 0, None]; import m
    super().f               ->  calls[super](__class__, self).f

`rewritten(code, hooks)` gives a code object that does what `code` does, with the same names, lines,
columns and exception handlers, and with those questions put in. This is the only module that
reads or writes instructions; it knows those of Python 3.11, 3.12 and 3.13, and `SUPPORTED` says
whether it knows the ones at hand. Where something about a code object is not as expected, the code
is left as it is: a site that does not ask is plain Python.
"""

from __future__ import annotations

import dis
from collections.abc import Callable
from types import CodeType
from typing import Any, NamedTuple

from .code_tables import (
    CACHES,
    EXTENDED_ARG,
    LENGTHS,
    PADDING,
    VERSION,
    extend,
    handlers,
    high_first,
    length,
    location,
)

NULL_FIRST = VERSION < (3, 13)  # whether the empty slot of a call lies below the callee


class Hooks(NamedTuple):
    """What rewritten code asks: objects with `__getitem__` and `__setitem__`.

    `matches[x]` is an object that is a sequence to `match` if x counts as one; None: x itself is.
    `joins[parts]` is the text of an f-string, of which each field formats `fields[x]`; `insides[s]`
    is looked for in text that is a constant; `identical[x, y]` says whether `x is y`; None: those
    are done without asking.
    `harmless(name)` and `harmless(name, attribute)` say that a global, or an attribute of one, may
    be called without asking; `quick(...)` that `direct` is asked for it, a dict of callees, which
    Python reads without a call; `indexed(name)` that an object is asked for where it is only read.
    `containers` is (holds, stored): unless `holds[y]` is None, `stored[a, y]` is what y is stored
    into as an item of a; None: into a itself.
    `counted` has (calls, direct) for calls with exactly 1, 2... arguments, all by position.
    """

    calls: Any
    made: Any
    stores: Any
    imports: Any
    harmless: Callable[..., bool]
    indexed: frozenset[str]
    direct: Any = None
    quick: Callable[..., bool] = lambda *names: False
    counted: tuple[tuple[Any, Any], ...] = ()
    matches: Any = None
    joins: Any = None
    fields: Any = None
    insides: Any = None
    containers: Any = None
    identical: Any = None


class Original:
    """A constant of rewritten code that holds the code it was made from."""

    __slots__ = ("code",)

    def __init__(self, code: CodeType) -> None:
        self.code = code

    def __reduce__(self) -> Any:
        return Original, (None,)


def original(code: CodeType) -> CodeType:
    """The code that was rewritten, or the code itself."""
    last = code.co_consts[-1] if code.co_consts else None
    return last.code if type(last) is Original and last.code is not None else code


class Unexpected(Exception):
    """Code is not as this module knows it."""


# The instructions at hand.

OP = dis.opmap
CALLS = {OP[name] for name in ("CALL", "CALL_KW") if name in OP}
EX, CALL_KW = OP["CALL_FUNCTION_EX"], OP.get("CALL_KW", -1)
PRECALL, KW_NAMES = OP.get("PRECALL", -1), OP.get("KW_NAMES", -1)
TAKES_ARGUMENTS = {PRECALL} if PRECALL >= 0 else CALLS  # at which the stack is as a call finds it
PUSH_NULL, LOAD_CONST, LOAD_GLOBAL = OP["PUSH_NULL"], OP["LOAD_CONST"], OP["LOAD_GLOBAL"]
LOAD_ATTR = OP["LOAD_ATTR"]
LOAD_METHOD = OP["LOAD_METHOD"] if VERSION == (3, 11) else -1
LOAD_SUPER_ATTR = OP.get("LOAD_SUPER_ATTR", -1)
MAKE_FUNCTION, POP_TOP, IMPORT_NAME = OP["MAKE_FUNCTION"], OP["POP_TOP"], OP["IMPORT_NAME"]
SET_FUNCTION_ATTRIBUTE = OP.get("SET_FUNCTION_ATTRIBUTE", -1)
COPY, SWAP, SUBSCR = OP["COPY"], OP["SWAP"], OP["BINARY_SUBSCR"]
STORE_ATTR, STORE_SUBSCR = OP["STORE_ATTR"], OP["STORE_SUBSCR"]
STORE_SLICE = OP.get("STORE_SLICE", -1)
STORE_GLOBAL, STORE_DEREF = OP["STORE_GLOBAL"], OP["STORE_DEREF"]
STORE_NAME = OP["STORE_NAME"]
LOAD_CELL = OP["LOAD_FAST"] if VERSION >= (3, 13) else OP["LOAD_CLOSURE"]
MATCH_SEQUENCE = OP["MATCH_SEQUENCE"]
JUMP_IF_NONE = OP["POP_JUMP_FORWARD_IF_NONE" if VERSION == (3, 11) else "POP_JUMP_IF_NONE"]
CONTAINS_OP, IS_OP, UNARY_NOT = OP["CONTAINS_OP"], OP["IS_OP"], OP["UNARY_NOT"]
# What formats a field: FORMAT_VALUE with a specification if it has FIELD_SPEC, later one of three.
FORMAT_VALUE, FIELD_SPEC = OP.get("FORMAT_VALUE", -1), 4
CONVERT_VALUE, FORMAT_WITH_SPEC = OP.get("CONVERT_VALUE", -1), OP.get("FORMAT_WITH_SPEC", -1)
FORMATS = {OP[name] for name in ("FORMAT_VALUE", "FORMAT_SIMPLE", "FORMAT_WITH_SPEC",
                                 "CONVERT_VALUE") if name in OP}  # fmt: skip
BUILD_STRING, BUILD_TUPLE = OP["BUILD_STRING"], OP["BUILD_TUPLE"]
NOTED = {STORE_ATTR, STORE_SUBSCR, STORE_SLICE, STORE_GLOBAL, STORE_NAME, STORE_DEREF}
# Not of a decorator, whatever lies below the arguments of a call.
UNASKED = {
    OP[name]
    for name in ("LOAD_ASSERTION_ERROR", "BEFORE_WITH", "BEFORE_ASYNC_WITH", "LOAD_BUILD_CLASS")
    if name in OP
}
JUMPS = frozenset(dis.hasjrel)
BACKWARD = {op for op in JUMPS if "BACKWARD" in dis.opname[op]}
ENDS = ("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "INTERPRETER_EXIT")
LEAVING = {OP[name] for name in ENDS if name in OP}
LOADING = {  # what computes a callee without a choice
    OP[name]
    for name in ("LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_DEREF", "LOAD_NAME", "LOAD_GLOBAL",
                 "LOAD_ATTR", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF", "LOAD_CONST")
    if name in OP
}  # fmt: skip
UNCONDITIONAL = {op for name, op in OP.items() if name.startswith(("JUMP_FORWARD", "JUMP_BACKW"))}
POPPING = {op for name, op in OP.items() if name.startswith(("STORE_", "POP_", "DELETE_"))}
POPPING |= JUMPS - {OP[name] for name in ("FOR_ITER", "SEND") if name in OP}
# What another instruction may take the place of, wherever it stands.
CHANGED = {
    LOAD_GLOBAL, LOAD_METHOD, LOAD_ATTR, LOAD_SUPER_ATTR, PUSH_NULL, MAKE_FUNCTION,
    SET_FUNCTION_ATTRIBUTE, IMPORT_NAME, MATCH_SEQUENCE, BUILD_STRING, CONTAINS_OP, KW_NAMES,
    PRECALL, EX, IS_OP, *FORMATS, *NOTED, *CALLS,
}  # fmt: skip
HAS_ARGUMENT = frozenset(
    getattr(dis, "hasarg", None) or [op for op in OP.values() if op >= dis.HAVE_ARGUMENT]
)
NULL_BIT, TWO_BIT = 1, 2  # the latter: `super` is called with the two, and not without arguments
ATTR_SHIFT = 0 if LOAD_METHOD >= 0 else 1


class Step:
    """An instruction, with where it stood (in units of two bytes) and where it jumps."""

    __slots__ = ("arg", "at", "begin", "jump", "op", "target")

    def __init__(self, op: int, arg: int, begin: int, at: int) -> None:
        self.op, self.arg, self.begin, self.at = op, arg, begin, at
        self.target: int | None = None  # the unit that it jumps to, or the number of a step
        self.jump = op in JUMPS


def decoded(code: CodeType) -> list[Step]:
    raw, steps, i, begin, high = code.co_code, [], 0, 0, 0
    n = len(raw)
    while i < n:
        op, arg = raw[i], raw[i + 1] | high
        i += 2
        if op == EXTENDED_ARG:
            high = arg << 8
            continue
        step = Step(op, arg, begin, i // 2 - 1)
        i += 2 * CACHES[op]
        begin, high = i // 2, 0
        if step.jump:
            step.target = begin - arg if op in BACKWARD else begin + arg
        steps.append(step)
    return steps


# What lies below the arguments of each call.


def sources(steps: list[Step], index: dict[int, int], table: Any) -> dict[int, tuple[int, int]]:
    """For each call that is reached, the steps that pushed its two slots, the lower one first.

    One holds the callee, the other nothing; or the upper one holds the first argument of the lower.
    """
    n = len(steps)
    found: dict[int, tuple[int, int]] = {}
    seen = [False] * n
    covers: list[Any] = [None] * n
    for start, end, target, depth, pushes in table:
        i = index.get(start)
        while i is not None and i < n and steps[i].begin < end:
            covers[i] = index[target], depth, pushes
            i += 1
    work: list[tuple[int, list[int]]] = [(0, [])]
    while work:
        i, stack = work.pop()
        while i < n and not seen[i]:
            seen[i] = True
            step = steps[i]
            op = step.op
            cover = covers[i]
            if cover is not None and not seen[cover[0]]:
                work.append((cover[0], stack[: cover[1]] + [i] * (1 + cover[2])))
            arg = step.arg if op in HAS_ARGUMENT else None
            if op in TAKES_ARGUMENTS or op == EX:
                given = 1 + (step.arg & 1) if op == EX else step.arg + (op == CALL_KW)
                lower = len(stack) - given - 2
                if lower < 0:
                    raise Unexpected("a call without a callee")
                found[i] = stack[lower], stack[lower + 1]
            if step.target is not None:
                branch = moved(stack, dis.stack_effect(op, arg, jump=True), i, step)
                if not seen[step.target]:
                    work.append((step.target, branch))
                if op in UNCONDITIONAL:
                    break
            stack = moved(stack, dis.stack_effect(op, arg, jump=False), i, step)
            if op in LEAVING:
                break
            i += 1
    return found


def moved(stack: list[int], effect: int, i: int, step: Step) -> list[int]:
    """The stack after a step: who pushed what."""
    out = stack[: len(stack) + effect] if effect < 0 else stack + [i] * effect
    if out and step.op not in POPPING:
        out[-1] = i
        if pushes_two(step) and len(out) > 1:
            out[-2] = i
    return out


def pushes_two(step: Step) -> bool:
    """Whether a step pushes a callee together with what stands beside it, which may be nothing."""
    op = step.op
    if op == LOAD_ATTR:
        return ATTR_SHIFT == 1 and bool(step.arg & NULL_BIT)
    return op == LOAD_METHOD or (op in (LOAD_GLOBAL, LOAD_SUPER_ATTR) and bool(step.arg & NULL_BIT))


def callee(code: CodeType, offset: int) -> str | None:
    """By which name the call at an offset finds its callee; "" by none, None if it is no call."""
    steps = decoded(code)
    index = {step.begin: i for i, step in enumerate(steps)}
    index[len(code.co_code) // 2] = len(steps)
    for step in steps:
        step.target = None if step.target is None else index[step.target]
    call = next((i for i, step in enumerate(steps) if 2 * step.at == offset), -1)
    if call < 0 or steps[call].op not in CALLS | {EX}:
        return None
    found = sources(steps, index, handlers(code))
    for slot in found.get(call, found.get(call - 1, ())):
        for step in reversed(steps[max(0, slot - 4) : slot + 1]):  # before the question, if any
            if step.op in (LOAD_ATTR, LOAD_METHOD):
                return str(code.co_names[step.arg >> ATTR_SHIFT])
            if step.op == LOAD_GLOBAL:
                return str(code.co_names[step.arg >> 1])
    return ""


# Rewriting.


def rewritten(code: CodeType, hooks: Hooks) -> CodeType:
    """The code with its questions; the code itself where it is not understood."""
    try:
        return Rewriting(code, hooks).result()
    except (Unexpected, KeyError, IndexError, ValueError):
        return code


INNER = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")  # they never outlive their line


class Rewriting:
    """One code object on its way: its steps, and those that take their place."""

    def __init__(self, code: CodeType, hooks: Hooks) -> None:
        self.code, self.hooks = code, hooks
        self.steps = decoded(code)
        self.index = {step.begin: i for i, step in enumerate(self.steps)}
        self.index[len(code.co_code) // 2] = len(self.steps)
        self.table = handlers(code)
        for step in self.steps:
            if step.target is not None:
                step.target = self.index[step.target]
        self.targets = {step.target for step in self.steps}
        self.slots = sources(self.steps, self.index, self.table)
        n = len(code.co_consts)
        pairs = (hooks.calls, hooks.direct), *hooks.counted
        self.hooked = [*hooks[1:4], *[x for pair in pairs for x in pair]]
        loads = [(LOAD_CONST, n + k) for k in range(len(self.hooked))]
        self.make, self.store, self.load, self.ask = loads[:4]
        self.asks = [*zip(loads[3::2], loads[4::2], strict=True)]  # by the number of arguments
        self.counts = self.counted()
        self.more: list[Any] = []  # constants: what imports are asked for, and `matches`, `joins`
        self.asked: set[int] = set()  # steps that push a callee, which is asked for at once
        self.exchanged: dict[int, int] = {}  # calls where it is asked for, and how deep it lies
        for call in self.slots:
            self.place(call)
        # The numbers of the variables of enclosing functions.
        own = set(code.co_varnames)
        cells = [name for name in code.co_cellvars if name not in own]
        self.free = code.co_nlocals + len(cells)

    def result(self) -> CodeType:
        code, hooks = self.code, self.hooks
        consts = [rewritten(x, hooks) if type(x) is CodeType else x for x in code.co_consts]
        groups = [
            self.replacement(i) if step.op in CHANGED or i in self.asked else [(step.op, step.arg)]
            for i, step in enumerate(self.steps)
        ]
        raw, table, lines = self.encoded(groups)
        return code.replace(
            co_code=raw,
            co_consts=(*consts, *self.hooked, *self.more, Original(code)),
            co_stacksize=code.co_stacksize + 4,
            co_exceptiontable=table,
            co_linetable=lines,
        )

    def counted(self) -> dict[int, int]:
        """For steps that push a callee, how many arguments it has, if they come by position.

        0 where it is not known, or there are more than is told apart.
        """
        counts: dict[int, int] = {}
        for call, slots in self.slots.items():
            step = self.steps[call]
            plain = step.op in TAKES_ARGUMENTS and step.op != CALL_KW
            named = bool(call) and self.steps[call - 1].op == KW_NAMES
            n = step.arg if plain and not named and step.arg < len(self.asks) else 0
            for i in slots:
                counts[i] = n if counts.get(i, n) == n else 0
        return counts

    def replacement(self, i: int) -> list[tuple[int, int]]:
        """The instructions for a step; the one that is the step itself keeps its jump."""
        step = self.steps[i]
        op, arg = step.op, step.arg
        loads = i - 1 if op == PUSH_NULL else i
        ask = self.asks[self.counts.get(i, 0)][self.named(loads, self.hooks.quick)]
        through = [ask, (SWAP, 2), (SUBSCR, 0)]  # the top of the stack, asked for
        finish = [(PUSH_NULL, 0), (SWAP, 2)] if NULL_FIRST else [(PUSH_NULL, 0)]
        names = self.code.co_names
        if op == LOAD_GLOBAL and arg & NULL_BIT and i in self.asked:
            asked = [ask, (op, arg & ~NULL_BIT), (SUBSCR, 0)]
            return [(PUSH_NULL, 0), *asked] if NULL_FIRST else [*asked, (PUSH_NULL, 0)]
        if i in self.asked:
            return [(op, arg), *through]
        if op == LOAD_GLOBAL:
            indexed = names[arg >> 1] in self.hooks.indexed
            return [(op, arg), *through] if indexed and not arg & NULL_BIT else [(op, arg)]
        if op == LOAD_METHOD or (op == LOAD_ATTR and ATTR_SHIFT and arg & NULL_BIT):
            if self.is_harmless(i):
                return [(op, arg)]
            return [(LOAD_ATTR, arg & ~NULL_BIT if ATTR_SHIFT else arg), *through, *finish]
        if op == LOAD_ATTR and names[arg >> ATTR_SHIFT] in self.hooks.indexed:
            return [(op, arg), *through]
        if op == LOAD_SUPER_ATTR:  # calls `super`, which lies below a class and an object
            above = [*self.exchange(3), (op, arg & ~NULL_BIT | TWO_BIT)]
            return [*above, *through, *finish] if arg & NULL_BIT else above
        if op == PUSH_NULL and not NULL_FIRST:
            asks = self.steps[i - 1].op not in UNASKED and not self.is_harmless(i - 1)
            return [*through, (op, arg)] if asks else [(op, arg)]
        if op in (MAKE_FUNCTION, SET_FUNCTION_ATTRIBUTE):
            return self.function(i)
        if op == IMPORT_NAME:
            return self.imported(i)
        if op == MATCH_SEQUENCE and self.hooks.matches is not None:
            ask = self.constant(self.hooks.matches)
            return [(COPY, 1), ask, (SWAP, 2), (SUBSCR, 0), (op, arg), (SWAP, 2), (POP_TOP, 0)]
        if op == BUILD_STRING and self.hooks.joins is not None:
            return [(BUILD_TUPLE, arg), self.constant(self.hooks.joins), (SWAP, 2), (SUBSCR, 0)]
        if op in FORMATS and self.hooks.fields is not None:
            with_spec = op == FORMAT_WITH_SPEC or (op == FORMAT_VALUE and arg & FIELD_SPEC)
            return [*self.through(self.hooks.fields, below=bool(with_spec)), (op, arg)]
        if op == CONTAINS_OP and self.hooks.insides is not None and self.beside(i, str):
            return [*self.through(self.hooks.insides, below=True), (op, arg)]
        if op == IS_OP and self.hooks.identical is not None and not self.beside(i, type(None)):
            asked = [(BUILD_TUPLE, 2), *self.through(self.hooks.identical, below=False)]
            return [*asked, (UNARY_NOT, 0)] if arg else asked
        if op in NOTED:
            return self.noted(op, arg)
        return self.called(i)

    def beside(self, i: int, kind: type) -> bool:
        """Whether what is right of `in` or `is` is a constant of some type, on every way there."""
        step = self.steps[i - 1]
        constant = step.op == LOAD_CONST and type(self.code.co_consts[step.arg]) is kind
        return constant and i not in self.targets

    def through(self, hook: Any, below: bool) -> list[tuple[int, int]]:
        """The top of the stack, or what lies below it, exchanged for `hook[x]`."""
        ask = [self.constant(hook), (SWAP, 2), (SUBSCR, 0)]
        return [(SWAP, 2), *ask, (SWAP, 2)] if below else ask

    def function(self, i: int) -> list[tuple[int, int]]:
        """After a function is made: it is asked for once it has its cells and defaults."""
        step = self.steps[i]
        if i + 1 < len(self.steps) and self.steps[i + 1].op == SET_FUNCTION_ATTRIBUTE:
            return [(step.op, step.arg)]
        while self.steps[i].op == SET_FUNCTION_ATTRIBUTE:
            i -= 1
        before = self.steps[i - 1]
        inner = self.code.co_consts[before.arg] if before.op == LOAD_CONST else None
        if type(inner) is CodeType and inner.co_name in INNER:
            return [(step.op, step.arg)]
        return [(step.op, step.arg), self.make, (SWAP, 2), (SUBSCR, 0)]

    def imported(self, i: int) -> list[tuple[int, int]]:
        """Before an import: what is imported, as (name, level, names in `from`), is asked for."""
        step, (level, names) = self.steps[i], self.steps[i - 2 : i]
        if level.op != LOAD_CONST or names.op != LOAD_CONST:
            return [(step.op, step.arg)]
        consts = self.code.co_consts
        key = self.code.co_names[step.arg], consts[level.arg], consts[names.arg]
        return [self.load, self.constant(key), (SUBSCR, 0), (POP_TOP, 0), (step.op, step.arg)]

    def constant(self, x: Any) -> tuple[int, int]:
        """The instruction that loads one more constant."""
        self.more.append(x)
        return LOAD_CONST, len(self.code.co_consts) + len(self.hooked) + len(self.more) - 1

    def place(self, call: int) -> None:
        """Decide where the callee of a call is asked for."""
        lower, upper = self.slots[call]
        step, low = self.steps[call], self.steps[lower]
        n = 1 + (step.arg & 1) if step.op == EX else step.arg
        with_null = low.op == LOAD_GLOBAL and pushes_two(low)
        if with_null and lower == upper:
            if not self.is_harmless(lower):
                self.asked.add(lower)
        elif low.op == PUSH_NULL or with_null:
            if any(step.op not in LOADING for step in self.steps[lower + 1 : upper + 1]):
                self.exchanged[call] = n + 1
            elif not self.is_harmless(upper):
                self.asked.add(upper)
        elif self.steps[upper].op == PUSH_NULL:
            pass  # it is asked for there
        elif not (n or low.op in UNASKED or pushes_two(low) or self.is_inner(lower)):
            self.exchanged[call] = n + 2  # a decorator

    def is_harmless(self, i: int) -> bool:
        """Whether a step loads what may be called without asking."""
        return self.named(i, self.hooks.harmless)

    def named(self, i: int, claim: Callable[..., bool]) -> bool:
        """Whether a claim holds of the global, or the attribute of one, that a step loads."""
        step, names = self.steps[i], self.code.co_names
        if step.op == LOAD_GLOBAL:
            return claim(names[step.arg >> 1])
        before = self.steps[i - 1]
        if step.op in (LOAD_ATTR, LOAD_METHOD) and before.op == LOAD_GLOBAL:
            return claim(names[before.arg >> 1], names[step.arg >> ATTR_SHIFT])
        return False

    def called(self, i: int) -> list[tuple[int, int]]:
        """At a call: its callee, below the arguments, asked for."""
        step = self.steps[i]
        plain = [(step.op, step.arg)]
        if step.op not in CALLS and step.op not in (KW_NAMES, PRECALL, EX):
            return plain
        if i and self.steps[i - 1].op in (KW_NAMES, PRECALL):
            return plain  # it was done before those
        call = i
        while self.steps[call].op == KW_NAMES:
            call += 1
        depth = self.exchanged.get(call)
        return plain if depth is None else [*self.exchange(depth), *plain]

    def is_inner(self, i: int) -> bool:
        """Whether a step makes the function of a comprehension, which is called at once."""
        while i and self.steps[i].op not in (MAKE_FUNCTION, LOAD_CONST):
            if self.steps[i].op != SET_FUNCTION_ATTRIBUTE:
                return False
            i -= 1
        return self.steps[i].op == MAKE_FUNCTION

    def exchange(self, depth: int) -> list[tuple[int, int]]:
        return [self.ask, (COPY, depth + 1), (SUBSCR, 0), (SWAP, depth + 1), (POP_TOP, 0)]

    def noted(self, op: int, arg: int) -> list[tuple[int, int]]:
        """Before a store: `stores[where] = value`, or what a value is stored into is asked for."""
        if op == STORE_ATTR:  # value, object
            before = [(COPY, 2), self.store, (COPY, 3)]
        elif op in (STORE_SUBSCR, STORE_SLICE):
            depth = 2 if op == STORE_SUBSCR else 3  # value, container, key; or start and stop
            before = [(COPY, depth + 1), self.store, (COPY, depth + 2)]
            if self.hooks.containers is not None:
                value, swap = (COPY, depth + 2), (SWAP, depth)
                holds, ask = map(self.constant, self.hooks.containers)
                given = [swap, ask, (SWAP, 2), value, (BUILD_TUPLE, 2), (SUBSCR, 0), swap]
                plain = JUMP_IF_NONE, sum(length(*each) for each in given)
                return [holds, value, (SUBSCR, 0), plain, *given, (op, arg)]
        elif op in (STORE_GLOBAL, STORE_NAME):
            before = [(COPY, 1), self.store, self.store]
        elif arg >= self.free:  # of an enclosing function
            before = [(COPY, 1), self.store, (LOAD_CELL, arg)]
        else:
            return [(op, arg)]
        return [*before, (STORE_SUBSCR, 0), (op, arg)]

    # Instructions and tables again.

    def encoded(self, groups: list[list[tuple[int, int]]]) -> tuple[bytes, bytes, bytes]:
        steps, n = self.steps, len(self.steps)
        jumps = [i for i in range(n) if steps[i].jump]
        args = {i: steps[i].arg for i in jumps}
        while True:  # a longer way may need a longer argument
            starts, at = [], 0
            for i, group in enumerate(groups):
                starts.append(at)
                if i in args:
                    at += length(group[0][0], args[i])
                elif len(group) == 1 and group[0][1] < 256:
                    at += LENGTHS[group[0][0]]
                else:
                    for op, arg in group:
                        at += length(op, arg)
            starts.append(at)
            changed = False
            for i in jumps:
                target = steps[i].target
                assert target is not None
                way = starts[target] - starts[i + 1]
                way = -way if steps[i].op in BACKWARD else way
                if way < 0:
                    raise Unexpected("a jump has changed its direction")
                if length(steps[i].op, way) > length(steps[i].op, args[i]):
                    changed = True
                if length(steps[i].op, way) >= length(steps[i].op, args[i]):
                    args[i] = way
                elif args[i] != way:
                    raise Unexpected("a jump has become shorter")
            if not changed and all(args[i] == abs(self.way(starts, i)) for i in jumps):
                break
        raw = bytearray()
        lines = bytearray()
        before = self.code.co_firstlineno
        positions = list(self.code.co_positions())
        for i, group in enumerate(groups):
            if i in args:
                group = [(group[0][0], args[i])]
            for op, arg in group:
                if arg > 255:
                    extend(raw, arg)
                raw.append(op)
                raw.append(arg & 255)
                if CACHES[op]:
                    raw += PADDING[op]
            line, end, column, end_column = positions[steps[i].at]
            units = starts[i + 1] - starts[i]
            if line is None:
                lines += location(None, None, None, None, units)
                continue
            height = None if end is None else end - line
            lines += location(line - before, height, column, end_column, units)
            before = line
        return bytes(raw), self.encoded_table(starts), bytes(lines)

    def way(self, starts: list[int], i: int) -> int:
        target = self.steps[i].target
        assert target is not None
        return starts[target] - starts[i + 1]

    def encoded_table(self, starts: list[int]) -> bytes:
        out = bytearray()
        for start, end, target, depth, pushes in self.table:
            begin, stop = starts[self.index[start]], starts[self.index[end]]
            out += high_first(begin, 128) + high_first(stop - begin)
            out += high_first(starts[self.index[target]]) + high_first(depth << 1 | pushes)
        return bytes(out)
