"""Node: one operation of a reverse trace; and what it keeps for its rule, safe from changes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .array import Array, snapshot
from .cotangent import Slots
from .errors import ArgumentError
from .spec import Spec, carries

__all__ = ["COPIED", "Kept", "Node", "Residual", "constant_node", "keep", "rebuild", "slots"]

COPIED = 32 * 1024  # bytes up to which a plain array is copied; a larger one is watched


class Node:
    """One operation: rule(out_bar, residual, wanted) gives one cotangent for each parent.

    The rule is a function fixed when the primitive was declared; there are no closures, and so no
    cells and no reference cycles. A parent is None where an operand was a constant.
    `seen`, `pending` and `bar` belong to the backward pass that is under way.
    """

    __slots__ = ("__weakref__", "bar", "parents", "pending", "residual", "rule", "seen")
    bar: Any
    pending: int
    seen: Any

    def __init__(self, parents: tuple[Any, ...], rule: Any, residual: Any) -> None:
        self.parents = parents
        self.rule = rule
        self.residual = residual
        self.seen = None


def constant_node() -> Node:
    """For an Array that depends on nothing: a float whose derivative is zero."""
    return Node((), None, None)


def slot_rule(out_bar: Any, i: int, wanted: Any) -> tuple[Slots]:
    return (Slots({i: out_bar}),)


def slots(out: tuple[Any, ...], trace: Any, node: Node) -> tuple[Any, ...]:
    """The results of an operation that has several: one node, and a slot of it for each result."""
    return tuple(
        [
            Array(o, trace, Node((node,), slot_rule, i)) if carries(o.dtype) else o
            for i, o in enumerate(out)
        ]
    )


def rebuild(rule: Any, residual: Any, node: Node, trace: Any) -> Any:
    """The residual with Arrays for values, so that the work of the rule is recorded as well."""
    if type(residual) is Residual:
        return residual.rebuild(node, trace)
    if rule is slot_rule:
        return residual
    return rule.rebuild(residual, node, trace)


class Residual:
    """`.out`, `.xs` (values where the primitive reads them, specs elsewhere) and `.static`."""

    __slots__ = ("out", "primitive", "static", "xs")

    def __init__(self, primitive: Any, out: Any, xs: tuple[Any, ...], static: Any) -> None:
        self.primitive, self.out, self.xs, self.static = primitive, out, xs, static

    def opened(self) -> Residual:
        """The same with watched arrays checked and given back."""
        for x in self.xs:
            if type(x) is Kept:
                xs = tuple([x.opened() if type(x) is Kept else x for x in self.xs])
                return Residual(self.primitive, self.out, xs, self.static)
        return self

    def rebuild(self, node: Node, trace: Any) -> Residual:
        out = self.out
        if type(out) is tuple:
            out = slots(out, trace, node)
        elif out is not None:
            out = Array(out, trace, node)
        xs = tuple(
            [
                x if parent is None or type(x) is Spec else Array(x, trace, parent)
                for x, parent in zip(self.xs, node.parents, strict=True)
            ]
        )
        return Residual(self.primitive, out, xs, self.static)


class Kept:
    """A large array of the user's, kept by reference with a checksum taken when it was kept."""

    __slots__ = ("checksum", "x")

    def __init__(self, x: np.ndarray) -> None:
        self.x, self.checksum = x, checksum(x)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.x.shape

    @property
    def dtype(self) -> np.dtype:
        return self.x.dtype

    def opened(self) -> np.ndarray:
        if checksum(self.x) != self.checksum:
            raise ArgumentError(
                f"An array {self.x.dtype}{list(self.x.shape)} that the function used was changed"
                " between the forward and the backward pass, which needs its old values.\n"
                "  Pass a copy (`x.copy()`) to the operation, or change the array after the"
                " backward pass."
            )
        return self.x


def keep(x: Any) -> Any:
    """x as a rule may keep it: a small array, an index or a mask is copied, a large one watched."""
    if type(x) is Array:
        return snapshot(x)
    if not isinstance(x, np.ndarray):
        return x
    if x.nbytes <= COPIED or x.dtype.kind not in "fc":
        return x.copy()
    return Kept(x)


def checksum(x: np.ndarray) -> int:
    """A number that changes when the array does; it reads memory twice and writes almost none.

    Sums of the array's words along rows and along columns tell changed and exchanged elements; the
    odd width lets a changed sign in all elements of a row tell as well.
    """
    if not (x.flags.c_contiguous or x.flags.f_contiguous):
        x = np.ascontiguousarray(x)
    raw = x.reshape(-1, order="A").view(np.uint8)
    words = raw[: raw.size // 8 * 8].view(np.uint64)
    width = 1023
    table = words[: words.size // width * width].reshape(-1, width)
    rest = raw[table.size * 8 :]
    return hash((table.sum(axis=1).tobytes(), table.sum(axis=0).tobytes(), rest.tobytes()))
