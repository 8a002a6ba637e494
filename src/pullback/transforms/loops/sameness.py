"""Whether two recordings of one function are the same program.

A loop records its body once and runs the recording in every step. That is right only if the body is
a function: called again with the same arguments, it does the same. So the body is recorded twice,
and the two recordings must agree in everything that they hold: operations, operands, constants and
static parameters, down to the programs inside of operations (an inner loop, a checkpoint, a custom
rule).

    def body(c, x):
        k[0] += 1
        return c + w[k[0] - 1] * x, None    # w[0] in one recording, w[1] in the other
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from types import CellType, FunctionType, MethodType
from typing import Any

import numpy as np

from ...core.array import Array
from ...core.graph import Equation, Graph, Variable
from ...core.node import Node
from ...core.primitive import Primitive
from ...core.reach.bytecode import original
from ...core.storage import current

NUMBERS = (int, float, complex)


def same_program(
    a: Graph, b: Graph, captured: Sequence[Array] = (), captured_again: Sequence[Array] = ()
) -> bool:
    """Whether two graphs are the same program, whatever their variables are called.

    captured: the Arrays of older traces that each closes over. `w[0]` of an older `w` is computed
    anew in each run of the body, and is the same if it was computed alike.
    """
    if len(captured) != len(captured_again):
        return False
    comparison = Comparison()
    pairs = zip(captured, captured_again, strict=True)
    return all(comparison.arrays(x, y) for x, y in pairs) and comparison.graphs(a, b)


class Comparison:
    """Compares what recordings hold. What it does not understand is the same only if it is one."""

    def __init__(self) -> None:
        self.names: dict[Variable, Variable] = {}
        self.pairs: set[tuple[int, int]] = set()  # objects under comparison, which may be cyclic
        self.definitions: dict[Variable, tuple[Equation, int]] = {}  # of older recordings

    def graphs(self, a: Graph, b: Graph) -> bool:
        if len(a.inputs) != len(b.inputs) or len(a.equations) != len(b.equations):
            return False
        if any(x.spec != y.spec for x, y in zip(a.inputs, b.inputs, strict=True)):
            return False
        self.names.update(zip(a.inputs, b.inputs, strict=True))
        for e, f in zip(a.equations, b.equations, strict=True):
            same = self.same(e.primitive, f.primitive) and self.same(e.inputs, f.inputs)
            if not same or not self.same(e.static, f.static) or len(e.outputs) != len(f.outputs):
                return False
            self.names.update(zip(e.outputs, f.outputs, strict=True))
        return self.same(a.outputs, b.outputs)

    def same(self, x: Any, y: Any) -> bool:
        if isinstance(x, Variable):
            return self.names.get(x, x) is y or self.defined_alike(x, y)
        if x is y:
            return True
        x, y = [z.opened() if hasattr(z, "opened") else z for z in (x, y)]
        if type(x) is not type(y):
            return False
        if type(x) is Array:
            return self.arrays(x, y)
        if isinstance(x, (np.ndarray, np.generic)):
            return same_arrays(x, y)
        if isinstance(x, NUMBERS):
            return repr(x) == repr(y)  # 0.0 is not -0.0, and NaN is NaN
        pair = id(x), id(y)
        if pair in self.pairs:
            return True
        self.pairs.add(pair)
        parts = parts_of(x)
        if parts is None:
            return self.equal(x, y)
        others: Any = parts_of(y)
        return len(parts) == len(others) and all(map(self.same, parts, others))

    # Arrays of older traces.

    def arrays(self, x: Array, y: Array) -> bool:
        x, y = current(x), current(y)
        if x.within is not y.within or not self.same(x.payload, y.payload):
            return False
        state = x.within.state
        if isinstance(x.node, Variable) and x.node not in self.definitions:
            for equation in state.equations:
                for i, out in enumerate(equation.outputs):
                    self.definitions[out] = equation, i
        if type(x.node) is tuple and x.node != y.node:  # of `linearize`: the number of a step
            return self.steps(state, x.node, y.node)
        return self.same(x.node, y.node)

    def steps(self, state: Any, x: Any, y: Any) -> bool:
        """Whether two tangents of `linearize` come from operations that are the same."""
        if x == y or x is None or y is None:
            return bool(x == y)
        (a, i), (b, j) = x, y
        if i != j or not a or not b:
            return False
        *first, sources = state[a - 1]
        *second, others = state[b - 1]
        pairs = zip(sources, others, strict=False)
        return self.same(first, second) and all(self.steps(state, *pair) for pair in pairs)

    def defined_alike(self, x: Variable, y: Any) -> bool:
        """Whether two variables of an older recording are results of the same operation."""
        (e, i), (f, j) = [self.definitions.get(z, (None, 0)) for z in (x, y)]
        if e is None or f is None or i != j or not self.same(e.primitive, f.primitive):
            return False
        return self.same(e.inputs, f.inputs) and self.same(e.static, f.static)

    def equal(self, x: Any, y: Any) -> bool:
        if isinstance(x, Graph):
            return self.graphs(x, y)
        try:
            return bool(x == y)
        except Exception:  # what cannot be compared is not the same
            return False


def same_arrays(x: Any, y: Any) -> bool:
    if x.dtype != y.dtype or x.shape != y.shape or x.dtype.hasobject:
        return False
    return np.asarray(x).tobytes() == np.asarray(y).tobytes()


def parts_of(x: Any) -> list[Any] | None:
    """What makes an object what it is; None if that is for `==` to say."""
    if isinstance(x, (tuple, list)):
        return list(x)
    if isinstance(x, dict):
        return [*x.keys(), *x.values()]
    if isinstance(x, slice):
        return [x.start, x.stop, x.step]
    if isinstance(x, FunctionType):  # made anew in each run of the body
        return [original(x.__code__), x.__defaults__, x.__kwdefaults__, x.__closure__]
    if isinstance(x, CellType):
        return [] if x == CellType() else [x.cell_contents]
    if isinstance(x, MethodType):
        return [x.__func__, x.__self__]
    if isinstance(x, partial):
        return [x.func, x.args, x.keywords]
    if isinstance(x, Primitive):
        return [getattr(x, name) for name in x.made_of] if x.made_of else None
    if type(x).__module__.startswith("pullback.") and not isinstance(x, Graph):
        return fields(x)
    return None


def fields(x: Any) -> list[Any]:
    """The attributes of an object of ours, in order of their names."""
    if type(x) is Node:
        return [x.rule, x.residual, x.parents] if x.parents else [id(x)]
    names = set(getattr(x, "__dict__", ()))
    for cls in type(x).__mro__:
        slots = getattr(cls, "__slots__", ())
        names.update([slots] if isinstance(slots, str) else slots)
    names -= {"__weakref__", "__dict__"}
    return [part for name in sorted(names) for part in (name, getattr(x, name, None))]
