"""The decisions of a function at a point: operations whose results are constant between jumps.

Enter: a function of (t, y), run at plain values or Arrays. Leave: its results, and for each
decision (a comparison, `floor`, `sign`, `int(t)`) its level, which is constant between jumps, and
its surface, which is 0 at the jump (`Traits.level`, `Traits.surface`). A decision's key is its
instruction and how often that ran before, because branches of a function may differ.
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
ROUNDING = 1e-12  # a slope below this part of its number counts as 0


def is_beyond(x: Any, size: Any) -> Any:
    """Whether x is negative by more than the rounding of a number of this size."""
    return x < -ROUNDING * abs(size)


# Asks on which side of an edge an operation is: see `edges`.
beyond = Elementwise(is_beyond, ZERO, ZERO, name="beyond").declare(surface=lambda x, _: x)
beyond.constant = True
NONE: Mapping[Key, np.ndarray] = {}


class Decision(NamedTuple):
    """level: plain values; surface: a function without arguments, None if it isn't known.

    result: of the operation, plain; None where it has several
    """

    level: np.ndarray
    surface: Callable[[], Any] | None
    result: Any = None


class DecisionTrace(Trace):
    """Compute values and collect decisions; values to impose replace their results.

    The node of an Array says whether it moves with the arguments: everything does except time.
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
        """One result, or the one to impose on this decision."""
        other = self.note(primitive, out, values, static, moves)
        if other is not None:
            out = other.astype(out.dtype)[()]
        return self.result(out, moves)

    def converts(self, x: Array, asked: str) -> bool:
        """Only time may become a plain number: decisions by time don't move."""
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
        """Truth values and integers stay plain, as under `grad`."""
        floats = type(out) in PYTHON or is_inexact(getattr(out, "dtype", OTHER))
        return Array(out, self, moves) if floats else out

    def note(
        self, primitive: Primitive, out: Any, values: Any, static: dict[str, Any], moves: bool
    ) -> Any:
        if not any(is_inexact(getattr(x, "dtype", OTHER)) for x in values):
            return None
        level = out
        if primitive.level is not None:
            level = primitive.level(*values, **static)
        elif not primitive.steps and getattr(out, "dtype", OTHER).kind not in "biu":
            return None
        found, shape = primitive.surface, np.shape(level)
        surface = lambda: np.broadcast_to(found(*values, **static) * 1.0, shape)
        of_edge = primitive is beyond
        return self.state.enter(level, None if found is None else surface, moves, of_edge, out)

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


class PointDecisions:
    """The decisions of one run that depend on what moves, by key.

    made: whether there were any decisions, also by time alone
    others: results to impose on decisions, by key
    """

    def __init__(self, others: Mapping[Key, np.ndarray]) -> None:
        self.others = others
        self.found, self.counts, self.made = dict[Key, Decision](), Counter[Any](), False
        self.caller: Any = sys._getframe(2)

    def place(self) -> tuple[Any, int]:
        """Line and instruction of the user's program; none if only our caller's code runs."""
        frame, outside = frame_of_user(), self.caller
        while outside is not None and outside is not frame:
            outside = outside.f_back
        return (None, 0) if outside is frame else (line_of(frame), frame.f_lasti)

    def enter(
        self,
        level: Any,
        surface: Callable[[], Any] | None,
        moves: bool,
        of_edge: bool = False,
        result: Any = None,
    ) -> Any:
        """Store a decision; return the result to impose on it, or None."""
        self.made = True
        if not moves:
            return None
        place = self.place()
        key = *place, self.counts[place], of_edge
        self.counts[place] += 1
        level = np.asarray(peel(level), float)
        level = np.where(level == level, level, 0.5)
        self.found[key] = Decision(level, surface, peel(result))
        return self.others.get(key)

    def keys(self, among: Any) -> set[Key]:
        """Those of these decisions that are made."""
        return self.found.keys() & among

    def on_its_way(self, changed: list[tuple[Key, int]]) -> list[tuple[Key, int]]:
        """Those of these changes that lie on the path of this run."""
        return changed

    def changed(self, other: PointDecisions, among: Any = None) -> list[tuple[Key, int]]:
        """The decisions whose level differs in another run, with the index of each such element.

        among: the decisions that count; None for all
        """
        out = []
        for key, (level, *_) in self.found.items():
            if key not in other.found or (among is not None and key not in among):
                continue
            then = other.found[key].level
            if then.shape != level.shape:
                out.append((key, 0))
            else:
                out += [(key, int(i)) for i in np.flatnonzero(then != level)]
        return out


def decisions_at(
    fun: Callable[..., Any], t: Any, y: Any, others: Mapping[Key, np.ndarray] = NONE
) -> tuple[Any, PointDecisions]:
    """fun(t, y) and its decisions; t and y may be Arrays. others: see `PointDecisions`."""
    decisions = PointDecisions(others)
    trace = DecisionTrace("solve_ivp", None, decisions)
    with during(REPEATS, True), np.errstate(all="ignore"):  # the derivatives here are nobody's
        t = Array(np.float64(t) if type(t) is float else t, trace, False)
        return fun(t, Array(y, trace, True)), decisions
