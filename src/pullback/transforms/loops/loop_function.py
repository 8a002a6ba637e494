"""One step of a loop: call its function, check what it returns, record it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.array import Array
from ...core.errors import (
    ArgumentError,
    ArgumentTypeError,
    DtypeError,
    ShapeError,
    kind_of,
    name_of,
)
from ...core.graph import Graph, Variable
from ...core.messages import describe
from ...core.trace import RECORDINGS, running
from ...core.tree import flatten, unflatten
from ..seeds import shown
from ..stage import StageTrace, capture
from .body import BodyTrace, Unstaged
from .sameness import same_program

NUMBERS = (int, float, complex)  # weak: they take the dtype of what they meet


def is_number(x: Any) -> bool:
    """Whether a leaf of a carry is a number or an array."""
    return hasattr(x, "dtype") or isinstance(x, NUMBERS)


def is_plain(x: Any) -> bool:
    return type(x) is np.ndarray or isinstance(x, np.generic) or type(x) in NUMBERS


class Enter:
    """A leaf that becomes an input of the body."""

    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.x = x


class LoopFunction:
    """A function of a carry, which is a tree, and of a row of each of n_rows arrays."""

    def __init__(
        self, fun: Any, verb: str, structure: Any, rows_structure: Any, n_rows: int
    ) -> None:
        self.fun, self.verb = fun, verb
        self.name = f"`{verb}({name_of(fun)})`"
        self.structure, self.rows_structure, self.n_rows = structure, rows_structure, n_rows

    def arguments(self, carry: list[Any], row: list[Any]) -> Any:
        carry = unflatten(self.structure, carry)
        if self.verb == "while_loop":
            return (carry,)
        x = unflatten(self.rows_structure, row) if self.n_rows else None
        if self.verb == "scan":
            return carry, x
        return x, carry

    def split(self, out: Any) -> tuple[list[Any], list[Any], Any]:
        """What the body returned, as leaves of the carry and of y, and the structure of y."""
        y = None
        if self.verb == "scan":
            if not isinstance(out, tuple) or len(out) != 2:
                raise ArgumentTypeError(
                    f"{self.name} needs a function that returns a pair (carry, y), but it returned"
                    f" {describe(out)}.\n  Return `carry, None` if y isn't needed."
                )
            out, y = out
        leaves, structure = flatten(out)
        if structure != self.structure:
            got = shown(structure) or describe(out)
            had = shown(self.structure) or "one array"
            raise ArgumentTypeError(
                f"{self.name} began with {had} as its carry, but its function returned {got}.\n"
                "  Return a carry that is the same tree as init."
            )
        return leaves, *flatten(y)

    def quick(self, out: Any, structure: Any) -> Any:
        """What `split` gives, if out is of plain values and the trees are as before."""
        try:
            tree, y = out if self.verb == "scan" else (out, None)
            leaves = [tree] if self.structure is None else self.structure.flatten_up_to(tree)
            ys = [y] if structure is None else structure.flatten_up_to(y)
        except (TypeError, ValueError):
            return None
        return (leaves, ys, structure) if all(map(is_plain, (*leaves, *ys))) else None

    def check(self, before: Any, after: Any) -> None:
        """The carry of one step and of the next have one spec."""
        if before is None or after is None or before == after:
            return
        if before.shape != after.shape:
            raise ShapeError(
                f"{self.name} has a carry {before}, but its function returned {after}.\n"
                f"  A carry keeps its shape: begin with `np.zeros({after.shape})` or the like, or"
                " return what changes as y."
            )
        raise DtypeError(
            f"{self.name} has a carry {before}, but its function returned {after}.\n"
            f"  A carry keeps its dtype: begin with one of {after.dtype}, or write"
            f' `.astype("{before.dtype}")` in the function.'
        )

    # Its recording.

    def record(self, carry: list[Any], row: list[Any]) -> tuple[Graph, list[Array], Any]:
        """The body, written down by running it on one row, what it closes over, y's structure."""
        structure, graph, captured = self.written(carry, row)
        out = unflatten(structure, list(graph.outputs))
        leaves, y, y_structure = self.split(out)
        for x in y:
            if not isinstance(x, Variable) and not is_number(x):
                refuse_y(x, self.name)
        return Graph(graph.inputs, graph.equations, [*leaves, *y]), captured, y_structure

    def recorded_twice(self, carry: list[Any], row: list[Any]) -> list[Any]:
        """The body, written down twice.

        A compiled function that was recorded meanwhile is one operation from then on, so that what
        was written down before is another program.
        """
        made = RECORDINGS[0]
        runs = [self.record(carry, row) for _ in range(2)]
        if RECORDINGS[0] != made:
            runs = [runs[1], self.record(carry, row)]
        return runs

    def written(
        self,
        carry: list[Any],
        row: list[Any],
        kind: type[StageTrace] = BodyTrace,
        enters: bool = True,
    ) -> tuple[Any, Graph, list[Array]]:
        """A function of carry and x as a graph, with what it closes over."""

        def lift(enter: Any) -> Any:
            entered = [enter(x.x) if type(x) is Enter else x for x in carry]
            return self.arguments(entered, [enter(x) if enters else x for x in row])

        with np.errstate(all="ignore"):
            structure, graph, captured, _ = capture(self.fun, {}, self.verb, lift, kind)
        return structure, graph, captured

    # A function that is run again and again, by a recording or from an attempt on, must be one.

    def compare(self, first: Any, second: Any) -> None:
        """Raise unless two recordings (graph, captured, structure) of a function are the same."""
        (a, captured, structure), (b, captured_again, structure_again) = first, second
        if structure == structure_again and same_program(a, b, captured, captured_again):
            return
        self.refuse("a second run recorded another program: it")

    def refuse(self, what: str) -> None:
        """Raise for a function that is none, unless the results are compared with a plain run."""
        outer = running()
        if outer is not None and outer.compared:
            raise Unstaged("another state")
        raise ArgumentError(
            f"{self.name} runs `{name_of(self.fun)}` for all steps from one recording under a"
            f" transformation, but {what} counts its calls, draws random numbers, or changes what"
            " it reads.\n"
            "  Keep what changes in the carry, pass numbers drawn before the loop as rows, or"
            " write a `for` loop."
        )


def refuse_y(x: Any, name: str) -> None:
    raise ArgumentTypeError(
        f"{name} stacks the y of all steps, but a leaf of y is {kind_of(x)}.\n"
        "  Return numbers and arrays as y."
    )
