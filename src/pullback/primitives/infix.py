"""Fast paths for Python's operators on Arrays, and for calls of ufuncs.

Enter: a ufunc and Python's operation. Leave: the methods that give Array the operator, such as
`__add__` and `__radd__`, or what a call site calls for `np.add(x, y)`. They handle the most
frequent case directly, node included: an operation of a reverse trace on operands that need no
cast. In all other cases they call the trace's `unary`, `pair` and `beside`, which give the same
result and the same node.
"""

from __future__ import annotations

from functools import partial
from textwrap import dedent, indent
from typing import Any

import numpy as np
from numpy import ndarray

from ..core.array import Array
from ..core.dispatch import by_elements
from ..core.node import COPIED_ONCE, NODE, Node, new
from ..core.operands import PLAIN, binary
from ..core.registry import UFUNCS
from ..core.rule_forms import SHORTCUTS
from ..core.rules import folds, held_by
from ..core.spec import DOUBLE, ObjectArrayError
from ..core.spec import NUMBERS as ARRAYS
from ..core.templates import from_template, later
from .operands import beside, beside_on_the_left

NUMBERS = frozenset({float, np.float64})
NUMPYS = frozenset({ndarray, np.float64})
FORWARD = """
def forward(self, other):
    trace, kind = self.within, type(other)
    if kind is Array:
        second = other.within
        if trace is second:
            {pair}
            return trace.pair(primitive, self, other)
        return (trace if trace.birth > second.birth else second).binary(primitive, self, other)
    if kind is float or kind is int or kind is ndarray:
        {beside}
        try:
            return trace.beside(primitive, 0, self, other)
        except ObjectArrayError:
            return by_elements(ufunc, self, other)
    if kind in PLAIN:
        return binary(primitive, self, other)
    return beside(operation, apply, self, other)
"""
REFLECTED = """
def reflected(self, other):
    trace, kind = self.within, type(other)
    if kind is float or kind is int or kind is ndarray:
        {beside}
        try:
            return trace.beside(primitive, 1, self, other)
        except ObjectArrayError:
            return by_elements(ufunc, other, self)
    if kind in PLAIN:
        return binary(primitive, other, self)
    return beside_on_the_left(operation, apply, self, other)
"""
# Two operands of one trace, of one shape or of shapes that broadcast. Where an outer trace has
# noted its operation by the same rule, its values met without a cast, and so do those of the inner
# one.
PAIR = """
            if trace.writes_nodes and self.storage is None and other.storage is None:
                x0, x1 = self.payload, other.payload
                first = type(x0)
                if first is type(x1):
                    if first is Array:
                        outer = x0.within
                        if outer is x1.within and outer.writes_nodes:
                            out = forward(x0, x1)
                            if type(out) is Array and out.within is outer and out.node.rule is rule:
                                {node}
                            return trace.joined(primitive, self, other, out)
                    elif (
                        x0.dtype is x1.dtype and x0.shape == x1.shape
                        if first is ndarray
                        else first in NUMBERS
                    ):
                        out = primitive.value(x0, x1)
                        {node}
                if first in NUMPYS and type(x1) in NUMPYS and x0.dtype is x1.dtype:
                    out = primitive.value(x0, x1)
                    fold0, fold1 = folds(x0.shape, x1.shape)
                    {folding}
"""
# An Array beside one of Python's numbers, or beside a small plain array that meets it.
BESIDE = """
        if trace.writes_nodes and self.storage is None:
            {x}, {y} = self.payload, other
            first = type({x})
            if kind is not ndarray:
                meets = first is ndarray or first in NUMBERS
                {converted}
            else:
                meets = first in NUMPYS and {x}.dtype is {y}.dtype{small}
            if meets:
                out = primitive.value(x0, x1)
                {kept}
                if kind is ndarray and {x}.shape != {y}.shape:
                    fold, _ = folds({x}.shape, {y}.shape)
                    {folding}
                {node}
"""
# Of one operand, and of two in a call by name, which is `call` where it is none of these.
ONE = """
def shortcut(x):
    if type(x) is Array:
        trace, x0 = x.within, x.payload
        if type(x0) is ndarray and trace.writes_nodes and x.storage is None:
            out = primitive.value(x0)
            {node}
        if type(x0) is Array and trace.writes_nodes and x.storage is None:
            outer = x0.within
            if type(x0.payload) is ndarray and outer.writes_nodes and x0.storage is None:
                out = shortcut(x0)
                {node}
    return call(x)
"""
TWO = """
def shortcut(x, y):
    one, kind, self, other = type(x), type(y), x, y
    if one is Array and type(x.payload) is ndarray:
        trace = x.within
        if kind is Array and trace is y.within and type(y.payload) is ndarray:
            {pair}
        elif kind is float or kind is int or kind is ndarray:
            {first}
    elif kind is Array and (one is float or one is int or one is ndarray):
        trace, kind, self, other = y.within, one, y, x
        if type(self.payload) is ndarray:
            {second}
    return call(x, y)
"""
CONVERTED = "if first is ndarray and {x}.dtype is DOUBLE: {y} = ARRAYS[{y}]"
KEPT = "if kind is ndarray: {y} = {y}.copy()"


SCOPE = {
    "ARRAYS": ARRAYS, "Array": Array, "COPIED_ONCE": COPIED_ONCE, "DOUBLE": DOUBLE,
    "NUMBERS": NUMBERS, "NUMPYS": NUMPYS, "Node": Node, "folds": folds, "ndarray": ndarray,
    "new": new,
}  # fmt: skip


def infix(ufunc: Any, operation: Any) -> tuple[Any, Any]:
    """`x + y` and `y + x`, the shortest way to the primitive of a ufunc."""
    primitive = UFUNCS[ufunc]
    scope = SCOPE | {
        "ObjectArrayError": ObjectArrayError, "PLAIN": PLAIN, "apply": partial(binary, primitive),
        "beside": beside, "beside_on_the_left": beside_on_the_left, "binary": binary,
        "by_elements": by_elements, "operation": operation, "primitive": primitive, "ufunc": ufunc,
    }  # fmt: skip
    if is_short(primitive, 2):
        scope |= rules_of(primitive)
        texts = partial(forms, primitive, 8)
    else:
        texts = lambda: ("pass", "pass", "pass")

    def forward(space: dict[str, Any]) -> Any:
        pair, first, _ = texts()
        return from_template(FORWARD, scope, space, pair=pair, beside=first)

    def reflected(space: dict[str, Any]) -> Any:
        return from_template(REFLECTED, scope, space, beside=texts()[-1])

    primitive.reflected = later(REFLECTED, reflected)
    return later(FORWARD, forward), primitive.reflected


def shortcut(primitive: Any, call: Any, n: int) -> Any:
    """`call` with a fast path: a primitive of n operands, all given by position."""
    if not is_short(primitive, n):
        return call
    scope = SCOPE | rules_of(primitive) | {"call": call, "forward": call, "primitive": primitive}

    def one(space: dict[str, Any]) -> Any:
        node = NODE.format(parents="(x.node,)", rule="rule", held=held_by(primitive, (0,)))
        return from_template(ONE, scope, space, node=node)

    def two(space: dict[str, Any]) -> Any:
        pair, first, second = forms(primitive, 12)
        return from_template(TWO, scope, space, pair=pair, first=first, second=second)

    return later(ONE, one) if n == 1 else later(TWO, two)


SHORTCUTS.append(shortcut)


def is_short(primitive: Any, n: int) -> bool:
    """Whether an operation of n operands has a node, and nothing else is to be noted."""
    return primitive is not None and len(primitive.partials) == n and not primitive.decides


def rules_of(primitive: Any) -> dict[str, Any]:
    rules = {"rule": primitive.rule}
    if len(primitive.partials) == 2:
        rules |= {"rule0": primitive.rules[0], "rule1": primitive.rules[1]}
        rules |= {"folding": primitive.folding, "folding0": primitive.foldings[0]}
        rules["folding1"] = primitive.foldings[1]
    return rules


def forms(primitive: Any, column: int) -> tuple[str, str, str]:
    """The texts for two operands of one trace, and for one beside a plain operand, at a column."""
    held, nodes = held_by(primitive, (0, 1)), "(self.node, other.node)"
    node = NODE.format(parents=nodes, rule="rule", held=held)
    folding = NODE.format(parents=nodes, rule="folding", held=f"({held}, fold0, fold1)")
    first, second = beside_plain(primitive, 0), beside_plain(primitive, 1)
    return at(12, PAIR.format(node=node, folding=folding)), at(column, first), at(column, second)


def at(column: int, text: str) -> str:
    """A text of several lines for a blank in this column."""
    return indent(dedent(text).strip(), " " * column).lstrip()


def beside_plain(primitive: Any, i: int) -> str:
    """`BESIDE` with the Array as operand i."""
    names = {"x": f"x{i}", "y": f"x{1 - i}"}
    held = held_by(primitive, (i,))
    node = NODE.format(parents="(self.node,)", rule=f"rule{i}", held=held)
    folding = NODE.format(parents="(self.node,)", rule=f"folding{i}", held=f"({held}, fold)")
    converted = CONVERTED.format(**names) if primitive.converts else "pass"
    reads = primitive.reads_other[i]
    kept = KEPT.format(**names) if reads else "pass"
    small = f" and {names['y']}.nbytes < COPIED_ONCE" if reads else ""
    return BESIDE.format(
        converted=converted, kept=kept, small=small, node=node, folding=folding, **names
    )
