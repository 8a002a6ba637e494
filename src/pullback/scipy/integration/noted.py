"""What a function decides at a point: its operations that are constant between jumps.

Enter: a function of (t, y), run at plain values or Arrays. Leave: its results, and for each
decision (a comparison, `floor`, `sign`, `int(t)`) the level, constant between jumps, and the
surface, which is 0 at the jump (`Traits.level`, `Traits.surface`). A decision is known again by its
instruction and by how often that ran before: the branches of a function may differ.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ...core.array import Array, peel
from ...core.graph import Graph
from ...core.kinds import Elementwise
from ...core.lost import REPEATS, frame_of_user, line_of
from ...core.primitive import Primitive
from ...core.rules import ZERO
from ...core.spec import PYTHON, hardened, is_inexact
from ...core.temporary import during
from ...core.trace import CONSTANT, Trace
from ...primitives.elementwise import off_integer
from ...transforms.loops.scan_primitive import Scan
from ...transforms.loops.while_primitive import While

Key = tuple[Any, ...]
ROUNDING = 1e-12  # times a number: a slope that is less is that of a constant


def is_beyond(x: Any, size: Any) -> Any:
    """Whether x is negative, and not by rounding beside a number of this size."""
    return x < -ROUNDING * abs(size)


# Asks on which side of an edge an operation is: see `edges`.
beyond = Elementwise(is_beyond, ZERO, ZERO, name="beyond").declare(surface=lambda x, _: x)
beyond.constant = True
NONE: Mapping[Key, np.ndarray] = {}


class Decision(NamedTuple):
    """level: plain; surface: None where it is not known, else a function without arguments."""

    level: np.ndarray
    surface: Callable[[], Any] | None


class NotingTrace(Trace):
    """Computes values, and notes decisions; what is decided by other values stays the same.

    The node of an Array says whether it moves with what is differentiated: all does but time.
    """

    __slots__ = ()

    def process(self, primitive: Primitive, xs: tuple[Any, ...], static: dict[str, Any]) -> Any:
        if isinstance(primitive, (Scan, While)):
            return primitive.unrolled(xs)
        for name in ("program", "graph"):
            inner = getattr(primitive, name, None)
            if isinstance(inner, Graph):
                outs = tuple(inner.evaluate(*xs))
                return outs[0] if primitive.n_out is None else outs
        values = [self.value(primitive, x) for x in xs]
        moves = any(map(self.moves, xs))
        out = primitive(*values, **static)
        if type(out) is tuple:
            return tuple([self.taken(primitive, x, values, static, moves) for x in out])
        return self.taken(primitive, out, values, static, moves)

    def taken(
        self, primitive: Primitive, out: Any, values: Any, static: dict[str, Any], moves: bool
    ) -> Any:
        """One result; another where it is a decision that is to be another."""
        other = self.note(primitive, out, values, static, moves)
        if other is not None and primitive.level is None:
            out = other.astype(out.dtype)[()]
        return self.result(out, moves)

    def converts(self, x: Array, asked: str) -> bool:
        """Time alone may become a plain number: what it decides does not move."""
        return not x.node

    def moves(self, x: Any) -> bool:
        return type(x) is Array and (x.node if x.within is self else x.within is not CONSTANT)

    def value(self, primitive: Primitive, x: Any) -> Any:
        if type(x) is Array and (x.within is self or x.within is CONSTANT):
            x = x.payload
            if type(x) in PYTHON and not primitive.takes_python:
                x = hardened(x)
        return x

    def result(self, out: Any, moves: bool) -> Any:
        """Answers and counts stay plain, as in a derivative."""
        floats = type(out) in PYTHON or is_inexact(getattr(out, "dtype", OTHER))
        return Array(out, self, moves) if floats else out

    def note(
        self, primitive: Primitive, out: Any, values: Any, static: dict[str, Any], moves: bool
    ) -> Any:
        level = out
        if primitive.level is not None:
            level = primitive.level(*values, **static)
        elif not primitive.steps and getattr(out, "dtype", OTHER).kind not in "biu":
            return None
        if not any(is_inexact(getattr(x, "dtype", OTHER)) for x in values):
            return None
        found, shape = primitive.surface, np.shape(level)
        surface = lambda: np.broadcast_to(found(*values, **static) * 1.0, shape)
        of_edge = primitive is beyond
        return self.state.enter(level, None if found is None else surface, moves, of_edge)

    def concrete(self, x: Array, asked: str) -> Any:
        if is_inexact(x.dtype):
            value = x.payload
            plain = peel(value)
            if asked == "bool(x)":
                self.state.enter(plain != 0, lambda: value, x.node)
            else:  # an integer, by `int` or `math.floor`
                self.state.enter(np.floor(plain), lambda: off_integer(value), x.node)
        return x.payload


OTHER = np.dtype(object)


class Decided:
    """The decisions of one run by what moves, by their keys; made: whether there were any.

    others: the levels of decisions that are to be made otherwise
    """

    def __init__(self, others: Mapping[Key, np.ndarray]) -> None:
        self.others = others
        self.found, self.counts, self.made = dict[Key, Decision](), Counter[Any](), False
        self.caller: Any = sys._getframe(2)

    def place(self) -> tuple[Any, int]:
        """Line and instruction of the program; none of machine code, whoever has called it."""
        frame, outside = frame_of_user(), self.caller
        while outside is not None and outside is not frame:
            outside = outside.f_back
        return (None, 0) if outside is frame else (line_of(frame), frame.f_lasti)

    def enter(
        self, level: Any, surface: Callable[[], Any] | None, moves: bool, of_edge: bool = False
    ) -> Any:
        """Note a decision; its level, if it is to be another."""
        self.made = True
        if not moves:
            return None
        place = self.place()
        key = *place, self.counts[place], of_edge
        self.counts[place] += 1
        level = np.asarray(peel(level), float)
        self.found[key] = Decision(np.where(level == level, level, 0.5), surface)
        return self.others.get(key)

    def on_its_way(self, changed: list[tuple[Key, int]]) -> list[tuple[Key, int]]:
        """Those of these decisions that this run has made."""
        return changed

    def changed(self, other: Decided, among: Any = None) -> list[tuple[Key, int]]:
        """The decisions with another level, each with the place of an element of it that changes.

        among: those that count; None: all
        """
        out = []
        for key, (level, _) in self.found.items():
            if key not in other.found or (among is not None and key not in among):
                continue
            then = other.found[key].level
            if then.shape != level.shape:
                out.append((key, 0))
            else:
                out += [(key, int(i)) for i in np.flatnonzero(then != level)]
        return out


def noted(
    fun: Callable[..., Any], t: Any, y: Any, others: Mapping[Key, np.ndarray] = NONE
) -> tuple[Any, Decided]:
    """fun(t, y), and what it decides; t and y may be Arrays. others: see `Decided`."""
    decisions = Decided(others)
    trace = NotingTrace("solve_ivp", None, decisions)
    with during(REPEATS, True), np.errstate(all="ignore"):  # the derivatives here are nobody's
        t = Array(np.float64(t) if type(t) is float else t, trace, False)
        return fun(t, Array(y, trace, True)), decisions
