"""The backward pass of reverse mode: cotangents go from the outputs of a graph to its leaves.

Enters: nodes with their cotangents. Leaves: the leaf nodes, each with what it received in `bar`,
which `harvest` turns into a gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy import float64, ndarray

from ..core.array import Array, bottom, is_number, snapshot
from ..core.cotangent import Cotangent, Scattered, dense, fit
from ..core.errors import MissingRuleError, PullbackError, reached
from ..core.layout import OWNDATA, WRITEABLE
from ..core.node import Node, rebuild
from ..core.quiet import SILENT, STATE
from ..core.rows import UNDER_WAY, HastyPass, Pass, is_finite
from ..core.spec import spec_of, zeros
from ..core.trace import CONSTANT, Trace
from .returned import fresh

AT_ONCE = frozenset({Array, float64})  # cotangents to which a rule is applied as they are
SMALL = 1 << 12  # bytes up to which a sum is made in new memory, whoever has that of the terms
FREE = OWNDATA | WRITEABLE  # flags of an array that may be given away
LARGE = 1 << 18  # bytes from which a cotangent's buffer is worth using again


def spent(out_bar: Any, residual: Any, wanted: Any) -> Any:
    raise PullbackError(
        "A backward pass went through this graph before, and its values have been freed.\n"
        "  Write `.backward(retain_graph=True)` in the first call, or compute the output again."
    )


spent.rebuild = lambda residual, node, trace: None  # type: ignore[attr-defined]  # of a function


def spend(node: Node) -> None:
    node.rule, node.residual = spent, None


def backward(
    seeds: Sequence[tuple[Node, Any]],
    retain: bool = False,
    record: Trace | None = None,
    fun: Any = None,
    plain: bool = False,
) -> list[Node]:
    """Carry cotangents back from the seeds; return the leaves, each with its cotangent in `bar`.

    One walk counts the uses of each node; then a node is applied once all its uses have arrived.
    Linear in edges, without recursion. Unless `retain`, values are freed; on the way, where the
    pass does not have to go again (see `core/rows.py`).
    With `record`, the rules work on Arrays of that trace, so that the result has derivatives again.
    `fun` is what is differentiated, for messages. `plain`: the outputs are plain numbers.
    """
    outer, before = UNDER_WAY.now, STATE.get()
    mark = HastyPass() if plain and outer is None and record is None else Pass()
    applied: list[Node] = []
    try:
        try:
            try:
                STATE.set(SILENT)
                UNDER_WAY.now = mark
                after = None if retain else applied.append if mark.hasty else spend
                leaves = walk(mark, seeds, record, after)
                if not mark.left_out or all(map(is_settled, leaves)):
                    return noted(mark, leaves) if mark.notes else leaves
            except Exception:  # also of a rule that does not take NaN
                if not mark.left_out:
                    raise
            mark.active = False
            mark = UNDER_WAY.now = Pass()
            return noted(mark, walk(mark, seeds))
        except MissingRuleError as error:
            if fun is not None:
                reached(error, fun)
            raise
        finally:
            UNDER_WAY.now = outer  # twice, since an exception may come before any line
    finally:
        STATE.set(before)
        UNDER_WAY.now, mark.active = outer, False
        for node in applied:
            spend(node)


def noted(mark: Pass, leaves: list[Node]) -> list[Node]:
    """The leaves of a pass that counts, after what was put off until that is known."""
    for note in mark.notes:
        note()
    return leaves


def is_settled(leaf: Node) -> bool:
    """Whether what has reached a leaf is finite."""
    leaf.bar = dense(leaf.bar)
    return is_finite(leaf.bar)


def walk(
    mark: Pass,
    seeds: Any,
    record: Trace | None = None,
    after: Callable[[Node], None] | None = None,
) -> list[Node]:
    """One pass; `after` is told of each node once its rule has been applied."""
    leaves, ready = counted(mark, seeds)
    owned: set[Node] = set()  # nodes whose cotangent is in a buffer that this pass made for it
    # What a rule is applied to as it is; all else, and all that is recorded, has a way of its own.
    at_once, small = (AT_ONCE, LARGE) if record is None else (frozenset(), -1)
    while ready:
        node = ready.pop()
        while parents := node.parents:  # along a chain
            bar = node.bar
            node.bar = None
            kind = type(bar)
            if bar.nbytes <= small if kind is ndarray else kind in at_once:
                bars = node.rule(bar, node.residual, parents)
            else:
                bars = apply(mark, node, bar, record, owned)
            if after is not None:
                after(node)
            if len(parents) == 1:  # mostly, and then that parent has no other use
                (node,), (bar,) = parents, bars
                old = node.bar
                if old is None:
                    node.bar = bar
                elif type(bar) is ndarray is type(old) and bar.nbytes <= SMALL:
                    node.bar = old + bar
                elif type(bar) is Array:
                    node.bar = bar + old if type(old) is ndarray else old + bar
                elif bar is not None:
                    collect(node, bar, owned)
                if node.pending == 1:
                    continue
                node.pending -= 1
                break
            i = 0  # counted by hand: a zip would cost as much as the rest of the loop
            for parent in parents:
                bar = bars[i]
                i += 1
                if parent is None:
                    continue
                if bar is not None:
                    old = parent.bar
                    if old is None:
                        parent.bar = bar
                    elif type(bar) is ndarray is type(old) and bar.nbytes <= SMALL:
                        parent.bar = old + bar
                    elif type(bar) is Array:  # its own operator is called, and not NumPy's
                        parent.bar = bar + old if type(old) is ndarray else old + bar
                    else:
                        collect(parent, bar, owned)
                if parent.pending == 1:
                    ready.append(parent)
                else:
                    parent.pending -= 1
            break
    return leaves


def apply(mark: Pass, node: Node, bar: Any, record: Trace | None, owned: set[Node]) -> Any:
    """Apply a rule to what is recorded, large, absent, or present in part."""
    if bar is None or record is not None:
        return recorded(node, bar, record)
    if type(bar) is ndarray:
        return apply_large(node, bar, owned)
    if type(bar) is Scattered and (bar.base is not None or bar.parts[1:]):
        whole = bar.added() if mark.hasty else None
        mark.left_out = mark.left_out or whole is not None
        bar = bar.resolved() if whole is None else whole
    return node.rule(bar, node.residual, node.parents)


def recorded(node: Node, bar: Any, record: Trace | None) -> Any:
    """Apply a rule to Arrays, on which it is recorded; nothing comes of nothing."""
    if bar is None:
        return (None,) * len(node.parents)
    return node.rule(bar, rebuild(node.rule, node.residual, node, record), node.parents)


def counted(mark: Pass, seeds: Any) -> tuple[list[Node], list[Node]]:
    """The leaves behind the seeds, and the seeds that wait for nothing; all uses are counted."""
    leaves, stack = [], []
    for node, bar in seeds:
        if node.seen is mark:
            node.bar = node.bar + bar
            continue
        if node.seen is not None and node.seen.active:
            raise_reentered()
        node.seen, node.pending, node.bar = mark, 0, bar
        stack.append(node)
        if not node.parents:
            leaves.append(node)
    ready = stack[:]
    while stack:
        parents = stack.pop().parents
        while len(parents) == 1:  # along a chain
            (parent,) = parents
            if parent.seen is not None:
                break
            parent.seen, parent.pending, parent.bar = mark, 1, None
            parents = parent.parents
            if not parents:
                leaves.append(parent)
        for parent in parents:
            if parent is None:
                continue
            seen = parent.seen
            if seen is not None:
                if seen is mark:
                    parent.pending += 1
                    continue
                if seen.active:
                    raise_reentered()
            parent.seen, parent.pending, parent.bar = mark, 1, None
            if parent.parents:
                stack.append(parent)
            else:
                leaves.append(parent)
    if len(ready) > 1:
        ready = [node for node in ready if not node.pending]
    return leaves, ready


def collect(parent: Node, bar: Any, owned: set[Node]) -> None:
    """Add a cotangent to what has reached the parent before, in place where that is the pass's."""
    old, kind = parent.bar, type(bar)
    if kind is float64:
        parent.bar = old + bar
        return
    mine = parent in owned
    owned.add(parent)
    if type(old) is ndarray:
        if kind is ndarray:
            if mine:
                old += bar
            else:
                parent.bar = old + bar
            return
        if kind is Scattered and bar.alone() is not None:
            parent.bar = bar.into(old if mine else old.copy())
            return
    elif type(old) is Scattered and kind is ndarray and old.alone() is not None:
        parent.bar = old.into(bar.copy())
        return
    if mine and issubclass(type(old), Cotangent):  # an Array would be asked for its class
        parent.bar += bar
    else:
        parent.bar = old + bar


def apply_large(node: Node, bar: np.ndarray, owned: set[Node]) -> Any:
    """Apply a rule to a large cotangent, whose cost is memory traffic.

    A product with a partial is made in place where the buffer is the pass's own. What is made here
    belongs to the parent, unless something else has arrived there before.
    """
    partial = getattr(node.rule, "partial", None)
    if partial is None:
        return node.rule(bar, node.residual, node.parents)
    factor = partial(node.residual)
    like_bar = type(factor) is ndarray and factor.shape == bar.shape and factor.dtype == bar.dtype
    if node in owned and (like_bar or type(factor) in (float, int)):
        bar = np.multiply(bar, factor, out=bar)
    else:
        bar = bar * factor
    (parent,) = node.parents
    if parent.bar is None:
        owned.add(parent)
    return (bar,)


def raise_reentered() -> None:
    raise PullbackError(
        "A backward pass was started inside a rule that another backward pass of the same graph"
        " is running.\n  Compute what the rule needs with operations of its own."
    )


def harvest(leaf: Node, primal: Any, taken: set[int], trace: Trace | None = None) -> Any:
    """The cotangent that a leaf received: of its primal's shape, dtype and kind, fresh, writable.

    taken: the ids of arrays that are somebody's already; they are copied.
    trace: the trace that has been gone through. A rule that closes over an Array of it gives a
    cotangent of it, which is taken off: the trace ends, or has been asked for a plain gradient.
    """
    bar: Any = getattr(leaf, "bar", None)
    leaf.bar = None
    kind = type(primal)
    if type(bar) is float64 and (kind is float64 or kind is float):
        return bar  # numbers cannot be written to
    if type(bar) is ndarray is kind and bar.dtype is primal.dtype and bar.shape == primal.shape:
        if bar.flags.num & FREE == FREE and not taken:  # `owned`, without a call for it
            taken.add(id(bar))
            return bar
        return owned(bar, taken)
    if type(bar) is Array is kind and bar.within is not trace and bar.within is not CONSTANT:
        x, y = bar.payload, primal.payload
        if not type(x) is ndarray is type(y) or bar.within.maps or primal.within.maps:
            x, y = bottom(bar), bottom(primal)
        if type(x) is ndarray is type(y) and x.dtype is y.dtype and x.shape == y.shape:
            return snapshot(bar)
    spec = spec_of(primal)
    if bar is None:
        bar = zeros(spec)
    bar = fit(dense(bar), spec)
    while type(bar) is Array and (bar.within is trace or bar.within is CONSTANT):
        bar = bar.payload
    if type(bar) is Array:
        bar = fresh(bar)
        number = is_number(primal) if type(primal) is Array else type(primal) is not ndarray
        return bar[()] if number and not (spec.shape or is_number(bar)) else bar
    if type(primal) is ndarray or spec.shape:
        return owned(np.asarray(bar), taken)
    return bar[()]


def owned(bar: np.ndarray, taken: set[int]) -> np.ndarray:
    """The array itself where its memory is writable and nobody else's, else a copy.

    The copy lies as the array does, so that the order of a gradient does not hang on who owns it.
    """
    if bar.flags.num & FREE != FREE or id(bar) in taken:
        bar = bar.copy("K")
    taken.add(id(bar))
    return bar
