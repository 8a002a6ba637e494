"""A pass: skip rows that are structurally zero.

In a forward-mode Jacobian each tangent has a row for each input, and most rows are products with
the zeros of the initial identity matrix. This pass replaces an array with many zero rows by its
other rows, each a separate variable; operations that treat all rows alike are done on these. At the
first operation that doesn't, the rows are joined again, with zeros between them.

Zero times infinity is NaN, so the numbers multiplied by the zeros must be finite. The pass lists
them, and if one isn't finite, the original graph is used for the call. The rows don't tell the sign
of a zero, so they must end in an addition of 0.0, as Jacobians do; otherwise the graph stays
unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import prod
from typing import Any

import numpy as np

from ...core.graph import Equation, Graph, Variable
from ...core.spec import Spec
from ...primitives.elementwise import (
    add,
    divide,
    isfinite,
    logical_and,
    multiply,
    negative,
    positive,
    subtract,
)
from ...primitives.indexing import getitem_p
from ...primitives.joining import concatenate_p, stack_p
from ...primitives.matmul import matmul_p
from ...primitives.queries import all_p
from ...primitives.reductions import sum_p
from ...primitives.selecting import where_p
from ...primitives.shapes import reshape_p, transpose_p
from .contractions import multiply_add_p
from .optimise import is_number, shared, simplified
from .rewriting import NewEquations, opened, spec_in

MANY = 8  # rows of which most may be zero
LARGE = 100_000  # operations on elements from which it is worth to compile more
MOST = 8_000  # equations of rows

Rows = dict[int, Any]  # those that may not be zero, by number


def without_zero_rows(graph: Graph) -> tuple[Graph, bool]:
    """The graph by rows where that pays, with one output more: whether what met zeros is finite.

    Returns as well whether it was changed so.
    """
    if not any(is_seed(x) for e in graph.equations for x in e.inputs):
        return graph, False
    work = ByRows(graph)
    work.go_through()
    pays = work.before >= LARGE and work.after <= work.before / 2 and work.steps <= MOST
    if not (pays and work.exact and work.finite):
        return graph, False
    return shared(simplified(work.graph())).pruned(), True


def is_seed(x: Any) -> bool:
    """Whether a constant is an array of floats, half of its rows zero and some not."""
    a = opened(x) if not isinstance(x, Variable) else None
    if not isinstance(a, np.ndarray) or a.ndim == 0 or a.dtype.kind != "f" or len(a) < MANY:
        return False
    return bool(a.size and any(a.strides) and 0 < np.sum(rows_with(a)) <= len(a) / 2)


def rows_with(a: np.ndarray) -> np.ndarray:
    """Which rows of an array are not all zeros."""
    return np.any(a.reshape(len(a), -1) != 0, axis=1)


class ByRows(NewEquations):
    """A graph, gone through equation by equation."""

    def __init__(self, old: Graph) -> None:
        super().__init__()
        self.old = old
        self.rows: dict[Any, Rows] = {}  # of variables, and of constants by their identity
        self.held: list[Any] = []  # these constants
        self.single: dict[Any, Any] = {}  # rows that were taken of whole arrays, and of which
        self.together: set[Variable] = set()  # put together again
        self.positive: set[Variable] = set()  # those of which the zeros are +0.0
        self.exact = True  # whether the signs of all zeros are as they were
        self.finite: dict[int, Any] = {}
        self.inverse: dict[int, tuple[Any, Variable]] = {}  # of what zeros were divided by
        self.before = self.after = self.steps = 0  # operations on elements, and equations of rows

    def go_through(self) -> None:
        for e in self.old.equations:
            rule = RULES.get(e.primitive)
            found = None
            if rule is not None and any(self.of(x) is not None for x in e.inputs):
                begun = len(self.equations)
                found = rule(self, e)
                if found is None:
                    del self.equations[begun:]
            if found is None:
                self.whole(e.inputs)
                self.equations.append(e)
                continue
            (out,) = e.outputs
            self.rows[out] = found
            if adds_zero(e) or (e.primitive in VIEWS and e.inputs[0] in self.positive):
                self.positive.add(out)
            self.before += out.spec.size * depth(e)
            self.after += out.spec.size // out.spec.shape[0] * depth(e) * len(found)
            self.steps += len(self.equations) - begun
        self.whole(self.old.outputs)

    def graph(self) -> Graph:
        """What was made, and as the last output whether all that had to be finite was."""
        flag: Any = None
        for x in self.finite.values():
            one = self.apply(isfinite, x)
            if one.spec.shape:
                axes = tuple(range(one.spec.ndim))
                one = self.apply(all_p, one, True, axis=axes, keepdims=False)
            flag = one if flag is None else self.apply(logical_and, flag, one)
        return Graph(self.old.inputs, self.equations, [*self.old.outputs, flag])

    def whole(self, xs: Iterable[Any]) -> None:
        """Put the rows of variables together, for what reads them as they are."""
        for x in xs:
            if isinstance(x, Variable) and x in self.rows and x not in self.together:
                self.together.add(x)
                self.exact &= x in self.positive
                zero = np.broadcast_to(x.spec.dtype.type(0), x.spec.shape[1:])
                parts = [self.rows[x].get(j, zero) for j in range(x.spec.shape[0])]
                self.equations.append(Equation(stack_p, tuple(parts), (x,), {"axis": 0}))

    # What is known of operands.

    def of(self, x: Any) -> Rows | None:
        """The rows of an operand that may not be zero, if it is known by rows."""
        if isinstance(x, Variable):
            return self.rows.get(x)
        if id(x) not in self.rows and is_seed(x):
            a = opened(x)
            self.rows[id(x)] = {int(j): a[j] for j in np.flatnonzero(rows_with(a))}
            self.held.append(x)
        return self.rows.get(id(x))

    def row(self, x: Any, j: int, ndim: int) -> Any:
        """What row j of a result of so many axes takes of an operand; None where that is zero."""
        rows, spec = self.of(x), spec_in(x)
        if is_number(opened(x), 0.0, -0.0):
            return None
        if spec.ndim < ndim:
            return x
        if rows is not None:
            return rows.get(j)
        at = j if spec.shape[0] > 1 else 0
        if (id(x), at) not in self.single:
            one = opened(x)[at] if not isinstance(x, Variable) else self.apply(
                getitem_p, x, key=(at,)
            )  # fmt: skip
            self.single[id(x), at] = x, one
        return self.single[id(x), at][1]

    def are_finite(self, *xs: Any) -> None:
        for x in xs:
            if x is not None and not is_finite(x):
                self.finite[id(x)] = x

    def step(self, e: Equation, *xs: Any, primitive: Any = None, **static: Any) -> Variable:
        """One row of the result of an equation."""
        spec = e.outputs[0].spec
        out = Variable(Spec(spec.shape[1:], spec.dtype))
        self.equations.append(Equation(primitive or e.primitive, xs, (out,), static))
        return out

    def spread(self, e: Equation, x: Any) -> Any:
        """A row that has to have the spec of the result's."""
        spec = e.outputs[0].spec
        if x is None or (spec_in(x).shape == spec.shape[1:] and spec_in(x).dtype == spec.dtype):
            return x
        return self.step(e, x, e.outputs[0].spec.dtype.type(0), primitive=add)

    # Operations on elements and on matrices. Rules return None for what they do not know.

    def each(self, e: Equation, rule: Callable[..., Any]) -> Rows | None:
        """Apply a rule on the operands' rows to each row of the result."""
        shape = e.outputs[0].spec.shape
        apart = [x for x in e.inputs if self.of(x) is not None]
        if any(spec_in(x).ndim != len(shape) or spec_in(x).shape[0] != shape[0] for x in apart):
            return None
        found = {
            j: rule(self, e, *[self.row(x, j, len(shape)) for x in e.inputs])
            for j in range(shape[0])
        }
        return {j: x for j, x in found.items() if x is not None}

    def product(self, e: Equation, x: Any, y: Any) -> Any:
        if x is None or y is None:
            return self.are_finite(x, y)
        return self.step(e, x, y)

    def product_sum(self, e: Equation, x: Any, y: Any, z: Any) -> Any:
        if x is None or y is None:
            self.are_finite(x, y)
            return self.spread(e, z)
        return self.step(e, x, y, e.outputs[0].spec.dtype.type(0) if z is None else z)

    def total(self, e: Equation, x: Any, y: Any) -> Any:
        if y is None and adds_zero(e) and x is not None:
            return self.step(e, x, e.inputs[1])
        if x is None or y is None:
            return self.spread(e, x if y is None else y)
        return self.step(e, x, y)

    def difference(self, e: Equation, x: Any, y: Any) -> Any:
        if x is None and y is not None:
            return self.spread(e, self.step(e, y, primitive=negative))
        return self.spread(e, x) if y is None else self.step(e, x, y)

    def quotients(self, e: Equation) -> Rows | None:
        y = e.inputs[1]
        if self.of(y) is not None or is_number(opened(y), 0.0, -0.0):
            return None
        return self.each(e, ByRows.quotient)

    def quotient(self, e: Equation, x: Any, y: Any) -> Any:
        """Zero divided by zero is NaN as well: there the inverse is not finite."""
        if x is not None:
            return self.step(e, x, y)
        if id(y) not in self.inverse:
            self.inverse[id(y)] = y, self.apply(divide, e.outputs[0].spec.dtype.type(1), y)
        return self.are_finite(self.inverse[id(y)][1])

    def choice(self, e: Equation, condition: Any, x: Any, y: Any) -> Any:
        if condition is None:  # it is the constant False
            return self.spread(e, y)
        if x is None and y is None:
            return None
        zero = e.outputs[0].spec.dtype.type(0)
        return self.step(e, condition, zero if x is None else x, zero if y is None else y)

    def alone(self, e: Equation, x: Any) -> Any:
        return None if x is None else self.step(e, x)

    def matrices(self, e: Equation) -> Rows | None:
        if e.outputs[0].spec.ndim < 3 or min(spec_in(x).ndim for x in e.inputs) < 2:
            return None
        return self.each(e, ByRows.product)

    # Views and joins.

    def taken(self, e: Equation) -> Rows | None:
        key = e.static["key"]
        if len(e.inputs) > 1 or not key or key[0] != slice(None):
            return None
        rows = self.of(e.inputs[0]) or {}
        return {j: self.step(e, x, key=key[1:]) if key[1:] else x for j, x in rows.items()}

    def reshaped(self, e: Equation) -> Rows | None:
        shape = e.outputs[0].spec.shape
        if not shape or shape[0] != spec_in(e.inputs[0]).shape[0] or not prod(shape):
            return None
        rows = self.of(e.inputs[0]) or {}
        return {j: self.step(e, x, shape=shape[1:]) for j, x in rows.items()}

    def turned(self, e: Equation) -> Rows | None:
        first, *rest = e.static["axes"]
        if first:
            return None
        axes = tuple([axis - 1 for axis in rest])
        return {j: self.step(e, x, axes=axes) for j, x in (self.of(e.inputs[0]) or {}).items()}

    def summed(self, e: Equation) -> Rows | None:
        axes = e.static["axis"]
        if len(e.inputs) > 1 or not all(axis > 0 for axis in axes):
            return None
        static = {**e.static, "axis": tuple([axis - 1 for axis in axes])}
        return {j: self.step(e, x, **static) for j, x in (self.of(e.inputs[0]) or {}).items()}

    def joined(self, e: Equation) -> Rows | None:
        """Parts beside each other in each row; those that are zero there are zeros."""
        axis = e.static["axis"]
        if axis <= 0 or e.outputs[0].spec.ndim < 2:
            return None
        dtype, found = e.outputs[0].spec.dtype, {}
        for j in range(e.outputs[0].spec.shape[0]):
            parts = [self.row(x, j, spec_in(x).ndim) for x in e.inputs]
            if any(x is not None for x in parts):
                zeros = [np.broadcast_to(dtype.type(0), spec_in(x).shape[1:]) for x in e.inputs]
                both = zip(parts, zeros, strict=True)
                filled = [zero[()] if x is None else x for x, zero in both]
                found[j] = self.step(e, *filled, axis=axis - 1)
        return found


def is_finite(x: Any) -> bool:
    """Whether an operand is a constant without infinities."""
    return not isinstance(x, Variable) and bool(np.all(np.isfinite(opened(x))))


def adds_zero(e: Equation) -> bool:
    return e.primitive is add and is_number(opened(e.inputs[1]), 0.0)


def depth(e: Equation) -> int:
    return int(spec_in(e.inputs[0]).shape[-1]) if e.primitive is matmul_p else 1


def by_rows(rule: Callable[..., Any]) -> Callable[[ByRows, Equation], Rows | None]:
    return lambda work, e: work.each(e, rule)


VIEWS = {getitem_p, reshape_p, transpose_p}
RULES: dict[Any, Callable[[ByRows, Equation], Rows | None]] = {
    multiply: by_rows(ByRows.product),
    multiply_add_p: by_rows(ByRows.product_sum),
    add: by_rows(ByRows.total),
    subtract: by_rows(ByRows.difference),
    divide: ByRows.quotients,
    where_p: by_rows(ByRows.choice),
    sum_p: ByRows.summed,
    negative: by_rows(ByRows.alone),
    positive: by_rows(ByRows.alone),
    matmul_p: ByRows.matrices,
    getitem_p: ByRows.taken,
    reshape_p: ByRows.reshaped,
    transpose_p: ByRows.turned,
    stack_p: ByRows.joined,
    concatenate_p: ByRows.joined,
}
