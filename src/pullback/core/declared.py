"""Errors of primitives that users declare: a rule that is missing, a partial that doesn't fit.

Partials are checked once, when an `Elementwise` is declared. One that can't be called with
(out, *xs), or that reads what a node doesn't keep for it, would otherwise fail in the middle of a
backward pass, far from the line that is wrong.
"""

from __future__ import annotations

import dis
import re
from types import FunctionType
from typing import Any, NoReturn

import numpy as np

from .errors import ArgumentError, ArgumentTypeError, MissingRuleError, kind_of, name_of

READABLE = re.compile(r"out|xs|x\d+")
PACKAGE, CORE = __name__.partition(".")[0] + ".", __name__.rpartition(".")[0] + "."


def missing(primitive: Any, rule: str) -> MissingRuleError:
    other, mode = {
        "jvp": (primitive.vjp, "reverse mode (`grad`, `vjp`)"),
        "vjp": (primitive.jvp, 'forward mode (`jvp`, `jacobian(mode="forward")`)'),
    }.get(rule, (None, ""))
    instead = "" if other is None else f", or use {mode}, which it has a rule for"
    kind = type(primitive).__name__
    where = f"its class `{kind}`"
    if type(primitive).__module__.startswith(CORE):  # one of the kinds, and no class of its own
        where = f"a class derived from `pullback.{kind}`"
    return MissingRuleError(
        f"`{primitive.name}` has no {rule} rule.\n  Define `{rule}` in {where}{instead}."
    )


def check_name(primitive: Any, name: Any) -> None:
    """Raise for what isn't a name, such as the function in `Linear(f)`."""
    if name is None or isinstance(name, str):
        return
    kind = next(c for c in type(primitive).__mro__ if c.__module__.startswith(PACKAGE)).__name__
    raise ArgumentTypeError(
        f"`{kind}` takes a name, but got {kind_of(name)}.\n"
        f"  Its rules are methods: derive a class, `class Mine(pullback.{kind}):`, and call it,"
        " `mine = Mine()`."
    )


def check_elementwise(function: Any, partials: tuple[Any, ...], reads: Any) -> None:
    """Raise for partials that don't fit a function, or that read what `reads` doesn't name."""
    if not callable(function):
        raise ArgumentTypeError(
            f"`Elementwise` takes a function, but got {kind_of(function)}.\n"
            "  Write `pullback.Elementwise(f, lambda out, x0: ..., reads='x0')`."
        )
    if all((getattr(p, "__module__", "") or "").startswith(PACKAGE) for p in partials):
        return
    name, n = name_of(function), len(partials)
    operands = [f"x{i}" for i in range(n)]
    head = f"lambda {', '.join(['out', *operands])}:"
    takes = operands_of(function)
    if takes is not None and takes != n:
        raise ArgumentError(
            f"`Elementwise` takes one partial for each operand of `{name}`, which has {takes}, but"
            f" got {n}.\n  Give them in the order of the operands; where the derivative is zero,"
            " write `lambda out, *xs: 0.0`."
        )
    for partial in partials:
        check_partial(partial, name, operands, head)
    named = (reads,) * n if isinstance(reads, str) else tuple(reads)
    if len(named) != n:
        raise ArgumentError(
            f"`Elementwise` of `{name}` was given {len(named)} texts as reads for {n} partials.\n"
            "  Give one for each, or a single text for all: `reads='xs'`."
        )
    for partial, text in zip(partials, named, strict=True):
        check_reads(partial, name, text, operands)


def refuse_operands(name: str, n: int, xs: tuple[Any, ...], static: dict[str, Any]) -> NoReturn:
    """Raise for a call of an elementwise function of n operands with another number of them."""
    given = "and was called " + ("by keyword" if static and not xs else f"with {len(xs)}")
    raise ArgumentTypeError(
        f"`{name}` was declared as `Elementwise` with {n} partial{'s' if n != 1 else ''},"
        f" {given}.\n"
        f"  Write `{name}({', '.join([f'x{i}' for i in range(n)])})`: operands by position, one for"
        " each partial."
    )


def refuse_derivative(name: str) -> NoReturn:
    """Raise for the derivative of an elementwise function that was declared without partials."""
    raise MissingRuleError(
        f"`{name}` was declared as `Elementwise` without partials, so it has no derivative.\n"
        f"  Write `pullback.Elementwise({name}, lambda out, x0: ..., reads='x0')`, with one partial"
        " for each operand; where the derivative is zero, `lambda out, *xs: 0.0`."
    )


def check_partial(partial: Any, name: str, operands: list[str], head: str) -> None:
    """Raise for what can't be called as a partial is."""
    if not callable(partial):
        raise ArgumentTypeError(
            f"`Elementwise` of `{name}` takes functions as partials, but got"
            f" {kind_of(partial)}.\n  Write `{head} {partial}`."
        )
    takes, called = operands_of(partial), name_of(partial)
    if takes is None or takes == 1 + len(operands):
        return
    write = f"`{head}`"
    if takes == len(operands) and "<" not in called:
        called = f"np.{called}" if isinstance(partial, np.ufunc) else called
        write = f"`{head} {called}({', '.join(operands)})`, with `reads='xs'`"
    raise ArgumentTypeError(
        f"`Elementwise` calls a partial of `{name}` with ({', '.join(['out', *operands])}), but"
        f" `{name_of(partial)}` takes {takes} argument{'s' if takes != 1 else ''}.\n"
        f"  Write {write}."
    )


def check_reads(partial: Any, name: str, reads: str, operands: list[str]) -> None:
    """Raise where `reads` names what isn't there, or leaves out what a partial reads."""
    words = set(reads.replace("xs", " ".join(operands)).split())
    for word in reads.split():
        if not READABLE.fullmatch(word):
            raise ArgumentError(
                f"`Elementwise` of `{name}` was given reads={reads!r}, but a partial reads"
                f" `out` and the operands by their place, not {word!r}.\n"
                f"  Write `reads='{' '.join(operands)}'`, or of these what the partial uses."
            )
    used = read_by(partial, ["out", *operands])
    if missing := [word for word in used if word not in words]:
        raise ArgumentError(
            f"A partial of `{name}` reads {', '.join([f'`{word}`' for word in missing])}, which"
            f" reads={reads!r} does not name.\n"
            f"  Write `reads='{' '.join(used)}'`: what is not named is not kept."
        )


def operands_of(function: Any) -> int | None:
    """How many positional arguments a function takes; None where that isn't one number."""
    if isinstance(function, np.ufunc):
        return function.nin
    if type(function) is not FunctionType:
        return None
    code = function.__code__
    if code.co_flags & 4 or function.__defaults__:  # *args
        return None
    return code.co_argcount


def read_by(partial: Any, names: list[str]) -> list[str]:
    """Those of (out, *xs) that the code of a partial loads."""
    if operands_of(partial) != len(names) or type(partial) is not FunctionType:
        return []
    loaded: set[str] = set(partial.__code__.co_cellvars)
    for step in dis.get_instructions(partial):
        if step.opname.startswith("LOAD_FAST"):  # two names in one step, from Python 3.13
            loaded.update(step.argval if isinstance(step.argval, tuple) else (step.argval,))
    parameters = partial.__code__.co_varnames[: len(names)]
    return [name for name, own in zip(names, parameters, strict=True) if own in loaded]
