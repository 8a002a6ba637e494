"""Node: one operation of a reverse trace, and what it keeps for its rule, safe from changes."""

from __future__ import annotations

from functools import cache, partial
from typing import Any
from weakref import ref as ref_to

import numpy as np
from numpy import ndarray

from .array import Array, snapshot
from .cotangent import Slots
from .errors import ArgumentError
from .spec import DOUBLE, DOUBLES, Spec, carries, spec_of
from .templates import from_template

# Bytes up to which a plain array is copied; a larger one is watched. A copy takes less time than to
# watch, but memory: little beside a result that is no smaller, and little for an argument, which is
# there once.
COPIED, COPIED_BESIDE, COPIED_ARGUMENT = 1 << 15, 1 << 18, 1 << 23
# Bytes from which a copy that has been made before is looked for: to compare takes as long as to
# copy, but new memory, which the system has to give page by page, several times as long.
COPIED_ONCE, COPIES = 1 << 13, 8


class Node:
    """One operation: rule(out_bar, residual, wanted) gives one cotangent for each parent.

    The rule is a function fixed when the primitive was declared; there are no closures, and so no
    cells and no reference cycles. A parent is None where an operand was a constant.
    `seen`, `pending` and `bar` belong to the backward pass that is under way. There is no
    `__init__`, which would cost more than all else: `node_of` makes one.
    """

    __slots__ = ("__weakref__", "bar", "parents", "pending", "residual", "rule", "seen")
    parents: tuple[Any, ...]
    rule: Any
    residual: Any
    bar: Any
    pending: int
    seen: Any


def node_of(parents: tuple[Any, ...], rule: Any, residual: Any) -> Node:
    node = Node()
    node.parents, node.rule, node.residual = parents, rule, residual
    node.seen = None
    return node


new = object.__new__


def noted(out: Any, trace: Any, parents: tuple[Any, ...], rule: Any, residual: Any) -> Array:
    """The result of an operation: an Array of a trace, with a node.

    As `Array(out, trace, node_of(parents, rule, residual))`, in two thirds of its time. It assigns
    three at most in one line: for more of them Python makes a tuple, and takes it apart again.
    """
    node = Node()
    node.parents, node.rule, node.residual = parents, rule, residual
    node.seen = None
    x = new(Array)
    x.payload, x.within, x.node = out, trace, node
    x.storage = None
    return x


def constant_node() -> Node:
    """For an Array that depends on nothing: a float whose derivative is zero."""
    node = Node()
    node.parents, node.rule, node.residual, node.seen = (), None, None, None
    return node


def slot_rule(out_bar: Any, i: int, wanted: Any) -> tuple[Slots]:
    return (Slots({i: out_bar}),)


def slots(out: tuple[Any, ...], trace: Any, node: Node) -> tuple[Any, ...]:
    """The results of an operation that has several: one node, and a slot of it for each result.

    One without a derivative, such as the exponents of `frexp`, is the program's to write into; the
    rule keeps its own.
    """
    parents = (node,)
    return tuple(
        [
            noted(o, trace, parents, slot_rule, i)
            if (type(o) is ndarray and o.dtype is DOUBLE) or carries(o)
            else (o.copy("K") if type(o) is ndarray else o)
            for i, o in enumerate(out)
        ]
    )


def rebuild(rule: Any, residual: Any, node: Node, trace: Any) -> Any:
    """The residual with Arrays for values, so that the work of the rule is recorded as well."""
    if isinstance(residual, Residual):
        spread = getattr(rule, "spread", None)
        return residual.rebuild(node, trace, spread(*node.parents) if spread else node.parents)
    if rule is slot_rule:
        return residual
    return rule.rebuild(residual, node, trace)


class Residual:
    """`.out`, `.xs` (values where the primitive reads them, specs elsewhere) and `.static`.

    There is no `__init__`, which would take half of its time: `residual_of` makes one.
    """

    __slots__ = ("out", "primitive", "static", "xs")
    primitive: Any
    out: Any
    xs: Any
    static: Any

    def opened(self) -> Residual:
        """The same with watched arrays checked and given back."""
        return self

    def rebuild(self, node: Node, trace: Any, parents: tuple[Any, ...]) -> Residual:
        """With Arrays for values; parents: one for each operand, or None."""
        out = self.out
        if type(out) is tuple:
            out = slots(out, trace, node)
        elif out is not None:
            out = Array(out, trace, node)
        xs = tuple(
            [
                x if parent is None or type(x) is Spec else Array(x, trace, parent)
                for x, parent in zip(self.xs, parents, strict=True)
            ]
        )
        return residual_of(self.primitive, out, xs, self.static, type(self))


class WatchedResidual(Residual):
    """A residual with large arrays of the user's among its xs (`Kept`)."""

    __slots__ = ()

    def opened(self) -> Residual:
        xs = tuple([x.opened() if type(x) is Kept else x for x in self.xs])
        return residual_of(self.primitive, self.out, xs, self.static)


def residual_of(
    primitive: Any, out: Any, xs: Any, static: Any, kind: type[Residual] = Residual
) -> Residual:
    residual = kind()
    residual.primitive, residual.out = primitive, out
    residual.xs, residual.static = xs, static
    return residual


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
    kind = type(x)
    if kind is Array:
        return snapshot(x)
    if kind is not ndarray and not isinstance(x, ndarray):
        return x
    if x.nbytes <= COPIED or x.dtype.kind not in "fc":
        return x.copy()
    return Kept(x)


def keep_in(x: Any, trace: Any) -> Any:
    """`keep` for a trace, where one copy serves all nodes; to watch an array takes longer."""
    if type(x) is ndarray and COPIED < x.nbytes <= COPIED_BESIDE and x.flags.c_contiguous:
        return copied(x, trace)
    return keep(x)


def keep_layout(x: Any) -> Any:
    """x as a recording may keep it: as `keep`, in the order that its elements have in memory.

    The last bits of products of matrices go by that.
    """
    other = type(x) is ndarray and x.flags.fnc and x.nbytes <= COPIED
    return x.copy("F") if other else keep(x)


def copied(x: ndarray, trace: Any) -> ndarray:
    """A copy of a plain array, which a trace keeps and nobody writes to.

    A loop has the same array in each of its steps: as long as it holds the same bits, one copy
    serves all nodes.
    """
    usual = trace.shares_copies and x.dtype.kind in "fciu" and x.flags.c_contiguous
    if x.nbytes < COPIED_ONCE or x.nbytes % 8 or not usual:
        return x.copy()
    known = trace.state
    if known is None:
        known = trace.state = {}
    elif found := known.get(id(x)):
        ref, copy = found
        alike = ref() is x and copy.dtype == x.dtype and copy.shape == x.shape
        if alike and (words(copy) == words(x)).all():
            return copy
        if len(known) >= COPIES:
            known.clear()
    copy = x.copy()
    known[id(x)] = ref_to(x), copy
    return copy


def words(x: ndarray) -> ndarray:
    """The bits of a contiguous array, which tell -0.0 from 0.0, and NaN from no other."""
    return x.reshape(-1).view(np.uint64)


# How an operand is kept, by its way: as it is, as its spec, or as one of the user's.
WAYS = {
    None: "{x}",
    spec_of: "DOUBLES[{x}.shape] if type({x}) is ndarray and {x}.dtype is DOUBLE else spec_of({x})",
    keep: "{x}.copy() if type({x}) is ndarray and {x}.nbytes <= COPIED else {keep}",
}
# The result of an operation with its node, in the texts of functions that end with it.
NODE = (
    "node = Node(); node.parents, node.rule, node.residual = {parents}, {rule}, {held};"
    " node.seen = None; x = new(Array); x.payload, x.within, x.node = out, trace, node;"
    " x.storage = None; return x"
)
PACK = """
def pack(primitive, out, xs, static):
    {names}, = xs
    {kept}, = {held},
    residual = {kind}()
    residual.primitive, residual.static, residual.out = primitive, static, {out}
    residual.xs = ({kept},)
    return residual
"""
# An operation on plain arrays and on Arrays of one trace that hold plain arrays of float64; MISSED
# where it is another one, and nothing has been done.
RECORD = """
def record(primitive, static, {names}):
    trace = {first}.within
    if not trace.writes_nodes{others}:
        return MISSED
    {unread}
    {values}
    if {unplain}:
        return MISSED
    out = primitive.value({operands}, **static) if static else primitive.value({operands})
    if (type(out) is not ndarray or out.dtype is not DOUBLE) and type(out) is not float64:
        return trace.recorded(primitive, out, [{operands}], [{parents}], {pattern}, static)
    {kept}, = {held},
    residual = {kind}()
    residual.primitive, residual.static, residual.out = primitive, static, {out}
    residual.xs = ({kept},)
    {node}
"""
# An operand that is, or is a view of, what has been assigned into is read again first.
UNREAD = """
    storage = {x}.storage
    if storage is not None and (storage.root is None or storage.root.storage is not None):
        return MISSED
""".strip()
WRITTEN_OUT = 4  # up to how many operands
MISSED = object()


@cache
def packing(keeps_out: bool, ways: tuple[Any, ...]) -> Any:
    """pack(primitive, out, xs, static) -> Residual, by one way for each operand.

    A way is `spec_of`, `keep` for one of the user's, or None for the value as it is. This is done
    for every operation that is recorded, so the function is written out for its operands.
    """
    if len(ways) > WRITTEN_OUT:
        return partial(pack_all, keeps_out, ways)
    operands = [f"x{i}" for i in range(len(ways))]
    return from_template(PACK, SCOPE, **blanks(keeps_out, ways, operands))


@cache
def recording(keeps_out: bool, ways: tuple[Any, ...], pattern: int) -> Any:
    """record(primitive, static, *xs): an operation with its node, in one function.

    pattern: a 1, and one bit for each operand: whether it is an Array; at least one is.
    """
    traced = [bit == "1" for bit in f"{pattern:b}"[1:]]
    operands = [f"{'v' if is_traced else 'x'}{i}" for i, is_traced in enumerate(traced)]
    parents = ", ".join([f"x{i}.node" if bit else "None" for i, bit in enumerate(traced)])
    first, *others = [i for i, is_traced in enumerate(traced) if is_traced]
    nodes, rule = f"({parents},)", "primitive.pull"
    if not others:  # one parent, and a rule for it
        nodes, rule = f"(x{first}.node,)", f"primitive.alone[{first}, {len(ways)}]"
    return from_template(
        RECORD, SCOPE, operands=", ".join(operands), parents=parents, pattern=pattern,
        node=NODE.format(parents=nodes, rule=rule, held="residual"),
        first=f"x{first}", others="".join([f" or x{i}.within is not trace" for i in others]),
        unread="\n    ".join([UNREAD.format(x=f"x{i}") for i in (first, *others)]),
        values="; ".join([f"v{i} = x{i}.payload" for i in (first, *others)]),
        unplain=" or ".join([f"type(v{i}) is not ndarray" for i in (first, *others)]),
        **blanks(keeps_out, ways, operands, "keep_in({x}, trace)"),
    )  # fmt: skip


class Recorders(dict[tuple[type, ...], Any]):
    """By the types of operands, what applies a primitive to them: `recording`, or `plainly`.

    None where more is to be asked than a node holds: several results, decisions, indices, views.
    """

    def __init__(self, primitive: Any) -> None:
        self.primitive = primitive

    def __missing__(self, kinds: tuple[type, ...]) -> Any:
        primitive, traced = self.primitive, [kind is Array for kind in kinds]
        asks = primitive.decides or primitive.n_out is not None or not primitive.direct
        found = None if any(traced) else plainly
        asks = asks or primitive.views or any(traced[i] for i in primitive.nondiff)
        if any(traced) and len(kinds) <= WRITTEN_OUT and not asks:
            pattern = int("1" + "".join([str(int(is_traced)) for is_traced in traced]), 2)
            found = recording(*primitive.ways(pattern, len(kinds)), pattern)
        if len(self) < KINDS:
            self[kinds] = found
        return found


KINDS = 256  # choices of types for which this is kept: there may be types without end


def plainly(primitive: Any, static: dict[str, Any], *xs: Any) -> Any:
    return primitive.value(*xs, **static)


def blanks(
    keeps_out: bool, ways: tuple[Any, ...], operands: list[str], large: str = "keep({x})"
) -> dict[str, Any]:
    """What fills the texts: how the operands are kept; large: one of the user's that is."""
    held = [
        f"({WAYS[way].format(x=x, keep=large.format(x=x))})"
        for x, way in zip(operands, ways, strict=True)
    ]
    kept = [f"kept{i}" for i in range(len(ways))]
    plain = [f"type({x}) is Kept" for x, way in zip(kept, ways, strict=True) if way is keep]
    kind = f"(WatchedResidual if {' or '.join(plain)} else Residual)" if plain else "Residual"
    names = ", ".join([f"x{i}" for i in range(len(ways))])
    out = "out" if keeps_out else "None"
    return {
        "names": names, "held": ", ".join(held), "kept": ", ".join(kept), "kind": kind, "out": out,
    }  # fmt: skip


def pack_all(keeps_out: bool, ways: Any, primitive: Any, out: Any, xs: Any, static: Any) -> Any:
    """`pack` of many operands."""
    held = tuple([x if way is None else way(x) for way, x in zip(ways, xs, strict=True)])
    kind = WatchedResidual if Kept in map(type, held) else Residual
    return residual_of(primitive, out if keeps_out else None, held, static, kind)


# What the texts name.
SCOPE = {
    "Array": Array, "COPIED": COPIED, "DOUBLE": DOUBLE, "DOUBLES": DOUBLES, "Kept": Kept,
    "MISSED": MISSED,
    "Node": Node, "Residual": Residual, "WatchedResidual": WatchedResidual, "float64": np.float64,
    "keep": keep, "keep_in": keep_in, "ndarray": ndarray, "new": new, "spec_of": spec_of,
}  # fmt: skip


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
