"""Differentiated arguments: which they are, their leaves as values, and why one is refused.

Enter the arguments of a call and `argnums`. Leaves a `Lifted` for each that is differentiated: its
leaves as values that nobody else writes to, and the way to put them together again.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import is_dataclass
from typing import Any, NoReturn

import numpy as np
from numpy import ndarray

from ..core.array import Array, snapshot
from ..core.errors import (
    ArgumentError,
    ArgumentTypeError,
    DtypeError,
    EscapedError,
    kind_of,
    name_of,
)
from ..core.layout import WRITEABLE, duplicate
from ..core.locked import locked_as, locked_copy
from ..core.messages import brief
from ..core.node import COPIED_ARGUMENT, Kept
from ..core.spec import DOUBLE, is_inexact, spec_of
from ..core.storage import current
from ..core.trace import CONSTANT
from ..core.tree import flatten, is_static, paths, unflatten
from ..core.usage import USAGE
from .conversions import named, users_class, way_to_array, way_to_numbers


def meant_by(argnums: Any, verb: str) -> str:
    """What to write where argnums is no position."""
    if verb == "jacobian" and isinstance(argnums, str) and argnums in ("forward", "reverse"):
        return f"Write `{verb}(f, mode={argnums!r})`."
    several = argnums if isinstance(argnums, (tuple, list)) else (argnums,)
    if all(n is None or isinstance(n, (str, int)) for n in several):
        return f"Arguments are counted from 0: write `{verb}(f, argnums=0)` for the first."
    apart = f"The arguments come in a call of their own: `{USAGE[verb]}`"
    if isinstance(argnums, float) and argnums.is_integer():
        return f"{apart}; a position is an int, `{verb}(f, argnums={int(argnums)})`."
    return f"{apart}."


class Selection:
    """The arguments that `argnums` selects, checked once when the transformation is made."""

    def __init__(self, argnums: int | Sequence[int], verb: str) -> None:
        self.verb = verb
        several = tuple(argnums) if isinstance(argnums, (tuple, list, range)) else None
        self.single = several is None
        numbers: tuple[Any, ...] = (argnums,) if several is None else several
        if not all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in numbers):
            raise ArgumentTypeError(
                f"`{verb}` takes an int or a tuple of ints as argnums, but got {brief(argnums)}.\n"
                f"  {meant_by(argnums, verb)}"
            )
        self.numbers, self.argnums = numbers, argnums
        # How many arguments there must be for the numbers to be positions as they are.
        plain = all(n >= 0 for n in numbers) and len(set(numbers)) == len(numbers)
        self.needs = max(numbers, default=-1) + 1 if plain else None

    def positions(self, fun: Any, args: Any, kwargs: dict[str, Any]) -> Sequence[int]:
        """Where the selected arguments stand in args."""
        n = len(args)
        if self.needs is not None and n >= self.needs:
            for position in self.numbers:
                if type(args[position]) not in LEAVES:
                    break
            else:
                return self.numbers
        positions = [i + n if i < 0 else i for i in self.numbers]
        for number, position in zip(self.numbers, positions, strict=True):
            if not 0 <= position < n:
                self.absent(fun, number, n, kwargs)
        if len(set(positions)) != len(positions):
            raise ArgumentError(
                f"`{self.verb}({name_of(fun)})` was given argnums={self.argnums}, which selects an"
                " argument twice.\n  Name each argument once:"
                f" `argnums={tuple(dict.fromkeys(positions))}`."
            )
        for position in positions:
            arg = args[position]
            another = arg is None and could_be_meant(args)
            if another or (type(arg) is not ndarray and is_static(arg)):
                raise ArgumentTypeError(
                    f"`{self.verb}({name_of(fun)})` differentiates argument {position}, which is"
                    f" {kind_of(arg)}; only numbers, arrays and trees of them can be"
                    f" differentiated.\n  {self.suggested(arg, args)}"
                )
        return positions

    def suggested(self, arg: Any, args: Any) -> str:
        """What to write for an argument that cannot be differentiated."""
        if others := could_be_meant(args):
            return f"Select another argument with `argnums={others[0]}`."
        way = None if arg is None else way_to_array(arg)
        return f"Pass `{way}`." if way else "Pass a number or an array."

    def absent(self, fun: Any, number: int, n: int, kwargs: dict[str, Any]) -> None:
        names = parameters(fun)
        name = names[number] if -len(names) <= number < len(names) else None
        if name in kwargs:
            raise ArgumentTypeError(
                f"`{self.verb}({name_of(fun)})` differentiates argument {number}, `{name}`, which"
                f" was passed by keyword.\n  Pass it by position: `{self.verb}(f)({name})`."
            )
        raise ArgumentTypeError(
            f"`{self.verb}({name_of(fun)})` differentiates argument {number}, but was called with"
            f" {n} positional argument{'s' if n != 1 else ''}.\n"
            f"  Pass it by position, or change argnums={self.argnums}"
            + (f": the last argument has `argnums={n - 1}`." if n else ".")
        )

    def pick(self, results: Sequence[Any]) -> Any:
        """One result for an int, a tuple for a tuple."""
        return results[0] if self.single else tuple(results)


def refuse_ended(x: Array, asked: str) -> None:
    """Raise for an Array that outlived its transformation."""
    if current(x).within.ended:
        raise EscapedError(
            f"{asked} an Array of `{x.within.name}`, which has ended.\n"
            "  Use `x.numpy()` for its value."
        )


def as_primal(
    leaf: Any,
    verb: str,
    fun: Any,
    position: int,
    watched: list[Kept] | None,
    within: tuple[Any, int] | None = None,
) -> Any:
    """A leaf of a differentiated argument as a value that nobody else writes to.

    A Python number counts as a float; an ndarray is copied, or if it is large and there is a
    list for that, watched: the caller checks at the end that it has not changed.
    within: of a leaf of a tree, that and its number there.
    """
    kind = type(leaf)
    if kind is float or kind is complex:
        return leaf  # as long as Python's operators alone touch it, it is as without pullback
    if kind is ndarray and leaf.dtype.kind in "fc":
        if watched is None or leaf.nbytes <= COPIED_ARGUMENT:
            copy = leaf.copy("K")
            if copy.strides != leaf.strides:
                copy = duplicate(leaf)
            return copy if leaf.flags.num & WRITEABLE else locked_copy(copy, leaf)
        watched.append(Kept(leaf))
        return leaf
    if kind is Array:
        trace = (leaf if leaf.storage is None else current(leaf)).within
        if trace.ended:
            refuse_ended(leaf, f"`{verb}({name_of(fun)})` was given")
        value = leaf.payload
        if (type(value) is ndarray and value.dtype is DOUBLE) or is_inexact(leaf.dtype):
            copy = snapshot(leaf)
            leaf = copy if leaf.storage is None else locked_as(leaf, copy)
            if leaf.within is not CONSTANT:
                return leaf
            value = leaf.payload
            return value if leaf.storage is None else locked_copy(value.copy(), value)
    if isinstance(leaf, np.generic) and leaf.dtype.kind in "fc":
        return leaf
    if isinstance(leaf, (float, complex)):
        return np.asarray(leaf)[()]
    if kind is int and within is None:
        return float(leaf)
    if kind is np.memmap and leaf.dtype.kind in "fc":
        return duplicate(np.asarray(leaf))
    refuse_leaf(leaf, f"`{verb}({name_of(fun)})`", fun, position, within)


def refuse_leaf(
    leaf: Any, what: str, fun: Any, position: int, within: tuple[Any, int] | None
) -> NoReturn:
    """Say why a leaf of an argument cannot be differentiated; what: the transformation."""
    if within is not None and is_dataclass(within[0]) and hasattr(within[0], "__array__"):
        leaf, within = within[0], None
    kind = type(leaf)
    if isinstance(leaf, np.ma.MaskedArray):
        raise ArgumentTypeError(
            f"{what} was given a masked array for argument {position}.\n"
            "  Pass the data and the mask separately, and select with `np.where(mask, x, 0)`."
        )
    where = f"argument {position}"
    if within is not None:
        where = f"`{path_of(*within, fun, position)}`, a leaf of argument {position}"
    leave = "leave it out of argnums" if within is None else "pass it as an argument of its own"
    if isinstance(leaf, (int, ndarray, np.generic)) and np.asarray(leaf).dtype.kind not in "fc":
        write = "x.astype(float)`, `float(n)"
        if within is not None and isinstance(within[0], (list, tuple)):
            write = way_to_array(within[0]) or write
        if isinstance(leaf, ndarray) and leaf.dtype.kind in "OVSU":
            write = way_to_numbers(leaf) or write
        raise DtypeError(
            f"{what} differentiates {where}, which is {spec_of(leaf)};"
            " a derivative needs real or complex floating numbers.\n"
            f"  Write `{write}`, or {leave}."
        )
    if isinstance(leaf, ndarray) and kind not in (Array, ndarray, np.memmap):
        raise ArgumentTypeError(
            f"{what} was given {kind_of(leaf)} for argument {position}, whose"
            " operations differ from an ndarray's.\n"
            "  Pass `np.asarray(x)`."
        )
    if hasattr(leaf, "tocsr") and kind.__module__.startswith("scipy."):
        raise ArgumentTypeError(
            f"{what} was given {kind_of(leaf)} for argument {position}, which stores its numbers in"
            " lists or a dict.\n  Pass `A.tocsr()`, whose gradient is a sparse array, too."
        )
    way = way_to_array(leaf)
    if way is None and users_class(leaf) and parameters(fun)[: position + 1] == ["self"]:
        verb, owner = what.strip("`").partition("(")[0], type(leaf).__name__
        raise ArgumentTypeError(
            f"{what} differentiates argument 0, which is `self`, {named(leaf)}.\n"
            f"  Write `pullback.{verb}(model.{getattr(fun, '__name__', 'loss')})(x)` without the"
            f" decorator, or make `{owner}` a tree:"
            f" `pullback.register_tree({owner}, flatten, unflatten)`."
        )
    if way is None and users_class(leaf):
        way = f"pullback.register_tree({type(leaf).__name__}, flatten, unflatten)"
    raise ArgumentTypeError(
        f"{what} differentiates {where}, which is {named(leaf)};"
        " only numbers, NumPy arrays and trees of them can be differentiated.\n"
        + (f"  Write `{way}`, or {leave}." if way else f"  {leave[0].upper() + leave[1:]}.")
    )


def path_of(arg: Any, number: int, fun: Any, position: int) -> str:
    """A leaf of an argument as a program would write it: `params["w"][0]`."""
    names = parameters(fun)
    return paths(arg, names[position] if position < len(names) else f"args[{position}]")[number]


def parameters(fun: Any) -> list[str]:
    """The names of a function's parameters; none where it does not tell."""
    try:
        return list(inspect.signature(fun).parameters)
    except (TypeError, ValueError):
        return []


def needs_arguments(fun: Any) -> bool:
    """Whether a function cannot be called with nothing."""
    try:
        inspect.signature(fun).bind()
    except TypeError:
        return True
    except ValueError:  # it does not tell
        return False
    return False


LEAF_STATIC = (False,)
LEAVES = frozenset({Array, np.ndarray, np.float64, np.float32, float})  # told at a glance


class Lifted:
    """A differentiated argument: its leaves as values, and how to put a tree together again."""

    static: Sequence[bool]

    def __init__(
        self, arg: Any, verb: str, fun: Any, position: int, watched: list[Kept] | None = None
    ) -> None:
        self.leaf = type(arg) in LEAVES
        if self.leaf:
            self.structure, self.static = None, LEAF_STATIC
            self.primals = [as_primal(arg, verb, fun, position, watched)]
            return
        leaves, self.structure = flatten(arg)
        alone = self.structure is None
        if alone and not is_static(arg):
            self.static = [False]
            self.primals = [as_primal(arg, verb, fun, position, watched)]
        else:
            alone = len(leaves) == 1 and leaves[0] is arg
            self.static = [is_static(leaf) for leaf in leaves]
            self.primals = [
                leaf
                if static
                else as_primal(leaf, verb, fun, position, watched, None if alone else (arg, i))
                for i, (leaf, static) in enumerate(zip(leaves, self.static, strict=True))
            ]

    def map(self, f: Callable[[Any], Any], static: Any = None) -> Any:
        """The tree with f(primal) for each leaf; static leaves stay, or are None if so asked."""
        if self.leaf:
            return f(self.primals[0])
        return unflatten(
            self.structure,
            [
                (None if static == "none" else x) if is_static else f(x)
                for x, is_static in zip(self.primals, self.static, strict=True)
            ],
        )

    @property
    def differentiated(self) -> list[Any]:
        return [x for x, static in zip(self.primals, self.static, strict=True) if not static]


def could_be_meant(args: Any) -> list[int]:
    """The places of arguments with numbers to differentiate by."""
    return [i for i, arg in enumerate(args) if not (arg is None or is_static(arg))]
