"""Loops with a known number of steps: scan, fori_loop.

Outside of transformations they're Python loops. Inside, the body is recorded once, and the loop is
one operation, `Scan`, however many steps it has. A body that asks for a value (`if`) can't be
recorded once for all steps; such a loop runs as a Python loop under the transformation.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from math import isqrt
from typing import Any

import numpy as np

from ...core.array import Array, snapshot
from ...core.cotangent import kept
from ...core.errors import (
    ArgumentError,
    ArgumentTypeError,
    ShapeError,
    check_parameters,
)
from ...core.graph import Equation, Graph, Variable
from ...core.messages import check_flag, describe
from ...core.spec import Spec, promoted, spec_of
from ...core.trace import CONSTANT, is_live, running
from ...core.tree import flatten, is_static, unflatten
from ...core.usage import usage
from ..stage import StageTrace
from ..transformation import check_function
from .body import Unstaged, example, functional
from .loop_function import NUMBERS, Enter, LoopFunction, is_number, refuse_y
from .memory import memory_of
from .scan_primitive import Scan
from .tables import by_rows


@usage("scan(f, init, xs)")
def scan(
    fun: Callable[..., Any],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    checkpoint: bool | int = False,
) -> tuple[Any, Any]:
    """Run (carry, y) = fun(carry, x) for each row x of xs; return the last carry and all y.

    >>> import numpy as np
    >>> scan(lambda total, x: (total + x, total), 0.0, np.array([1.0, 2.0, 3.0]))
    (np.float64(6.0), array([0., 1., 3.]))

    Under a transformation fun is written down once, and the loop is one operation of it, with
    derivatives that are loops as well: time to record and to compile does not grow with the steps.
    fun must not count its calls there, or draw random numbers. If it asks for a value
    (`if carry > 0`), it runs step by step.

    Args:
        fun: carry and y are trees. The carry keeps its tree, shapes and dtypes; a Python number in
            init takes the dtype that fun gives it.
        xs: a tree of arrays, which run along their first axis; None needs a length.
        reverse: begin with the last row. Row i of ys belongs to row i of xs all the same.
        checkpoint: which carries are kept for the backward pass. False keeps all; k keeps every
            k-th and computes the others again; True keeps about the square root of their number.

    Raises:
        ShapeError, DtypeError: fun changes the shape or dtype of the carry.
    """
    check_function(fun, "scan")
    check_parameters(fun, "scan", "carry", "x")
    check_flag(reverse, "reverse", "scan")
    return Loop(fun, init, xs, length, reverse, checkpoint, "scan").run()


@usage("fori_loop(lower, upper, body, init)")
def fori_loop(
    lower: Any,
    upper: Any,
    body: Callable[..., Any],
    init: Any,
    checkpoint: bool | int = False,
) -> Any:
    """Run carry = body(i, carry) for i from lower to upper - 1; return the last carry.

    >>> fori_loop(0, 5, lambda i, total: total + i, 0)
    np.int64(10)

    Under a transformation i is an Array of integers; index an Array with it, which
    `pullback.array(table)` makes of a plain table. The carry keeps its shapes.

    Args:
        lower, upper: integers.
        body: a function of i and the carry that returns a carry.
        init: the carry to begin with, a tree of arrays and numbers.
        checkpoint: as in `scan`.

    Raises:
        ArgumentError: the carry changes its tree, shapes or dtypes; or a bound is no integer.
    """
    check_function(body, "fori_loop")
    check_parameters(body, "fori_loop", "i", "carry")
    first, last = whole(lower, "lower"), whole(upper, "upper")
    numbers = np.arange(first, max(first, last))
    loop = Loop(body, init, numbers, None, False, checkpoint, "fori_loop")
    return loop.run()[0]


def whole(x: Any, name: str, verb: str = "fori_loop") -> int:
    try:
        return operator.index(x)
    except TypeError:
        raise ArgumentTypeError(
            f"`{verb}` counts with integers, but {name} is {describe(x)}.\n"
            f"  Write `int({name})`, which says how it is rounded."
        ) from None


def with_dtype(x: Any, dtype: Any = None) -> Any:
    """A number as one of NumPy's; arrays as they are."""
    if hasattr(x, "dtype"):
        return x if dtype is None or x.dtype == dtype else x.astype(dtype)
    return np.asarray(x, dtype)[()]


def spec_now(x: Any) -> Any:
    """The spec of a leaf; of what is not a number the leaf itself stands in."""
    return spec_of(x) if is_number(x) else None


def native(x: Any) -> Any:
    """x with its bytes in the order of this machine, which results have."""
    dtype = getattr(x, "dtype", None)
    return x if dtype is None or dtype.isnative else x.astype(dtype.newbyteorder("="))


class Loop:
    """A call of one of the three functions."""

    def __init__(
        self, fun: Any, init: Any, xs: Any, length: Any, reverse: bool, keep: Any, verb: str
    ) -> None:
        carry, structure = flatten(init)
        self.carry = list(map(native, carry))
        self.rows, rows_structure = flatten(xs)
        self.function = LoopFunction(fun, verb, structure, rows_structure, len(self.rows))
        self.fun, self.name, self.structure = fun, self.function.name, structure
        self.verb, self.reverse, self.keep = verb, reverse, keep
        self.length = self.row_count(length)
        if not isinstance(keep, (bool, int, np.integer)) or (keep is not False and keep < 1):
            raise ArgumentError(
                f"{self.name} has checkpoint={keep!r}.\n"
                "  Write `checkpoint=True`, or the number of steps after which a carry is kept."
            )

    def row_count(self, length: Any) -> int:
        """How many rows there are."""
        given = None if length is None else whole(length, "length", self.verb)
        if given is not None and given < 0:
            raise ArgumentError(
                f"{self.name} has length={given}, which is negative.\n"
                "  Write `length=0` for no steps, `reverse=True` to begin with the last."
            )
        found = given
        for x in self.rows:
            shape = x.shape if hasattr(x, "shape") else ()
            if not shape:
                raise ArgumentTypeError(
                    f"{self.name} iterates over the rows of xs, but a leaf of xs is {describe(x)},"
                    " which has none.\n  Write `np.array(...)` around a list of numbers."
                )
            if found is not None and shape[0] != found:
                raise ShapeError(
                    f"{self.name} has {found} steps by {'xs' if given is None else 'length'}, but"
                    f" a leaf of xs has {shape[0]} rows.\n"
                    "  Give all leaves of xs the same number of rows, and leave length out."
                )
            found = shape[0]
        if found is None:
            raise ArgumentError(
                f"{self.name} was given neither xs nor a length.\n"
                "  Write `length=n` for a loop without rows."
            )
        return found

    # Running.

    def run(self) -> tuple[Any, Any]:
        inside = running() is not None
        if self.length == 0:
            return self.nothing()
        if inside or any(map(is_live, (*self.carry, *self.rows))):
            try:
                return self.as_one(inside)
            except Unstaged:
                self.compare_steps()
                return self.by_python(inside)
        return self.by_python(False)

    def by_python(self, inside: bool) -> tuple[Any, Any]:
        """A loop of Python's, on plain values or on Arrays."""
        carry, structure = list(map(kept, self.carry)), None
        rows = [x.copy() if type(x) is np.ndarray else x for x in self.rows]
        specs = [None if type(x) in NUMBERS else spec_now(x) for x in carry]
        weak = [type(x) in NUMBERS for x in carry]
        columns: list[Any] = []
        n = self.length
        for step, t in enumerate(range(n - 1, -1, -1) if self.reverse else range(n)):
            row = [x[t] for x in rows]
            if self.verb == "fori_loop":
                row = [int(row[0])]
            out = self.fun(*self.function.arguments(carry, row))
            found = self.function.quick(out, structure) if step and not inside else None
            carry, y, y_structure = found or self.function.split(out)
            if step == 0:
                if not inside and any(map(is_live, (*carry, *y))):
                    return self.closed_over()
                structure = y_structure
                columns = [Column(n) for _ in y]
                for i, x in enumerate(carry):
                    new = spec_now(x)
                    if weak[i] and new is not None and type(x) not in NUMBERS:
                        self.function.check(Spec((), promoted(spec_of(self.carry[i]), new)), new)
                    else:
                        self.function.check(specs[i], new)
                    specs[i] = new
            else:
                if y_structure != structure or len(y) != len(columns):
                    raise ArgumentTypeError(
                        f"{self.name} returned a y whose tree differs from the first step's.\n"
                        "  Return the same tree in every step."
                    )
                for i, x in enumerate(carry):
                    spec = specs[i]
                    if spec is not None and not same(x, spec):
                        new = spec_now(x)
                        if type(x) not in NUMBERS and spec.weak is None:
                            self.function.check(spec, new)
                        specs[i] = new
            for column, x in zip(columns, y, strict=True):
                column.put(t, x, self.name)
        carry = [with_dtype(x) if is_number(x) else x for x in carry]
        return (
            unflatten(self.structure, carry),
            unflatten(structure, [column.whole() for column in columns]),
        )

    def closed_over(self) -> tuple[Any, Any]:
        """The function closes over eager arrays that require a gradient."""
        try:
            return self.as_one(True)
        except Unstaged:
            self.compare_steps()
            return self.by_python(True)

    def nothing(self) -> tuple[Any, Any]:
        """No steps: the carry as it is, and ys without rows."""
        row = [np.ones(x.shape[1:], x.dtype)[()] for x in self.rows]
        with np.errstate(all="ignore"):
            out = self.fun(*self.function.arguments(list(map(kept, self.carry)), row))
        after, y, structure = self.function.split(out)
        carry = []
        for x, new in zip(self.carry, after, strict=True):
            if type(x) in NUMBERS and hasattr(new, "dtype"):
                carry.append(with_dtype(x, promoted(spec_of(x), spec_of(new))))
            elif hasattr(x, "dtype"):
                carry.append(kept(x))
            else:
                carry.append(with_dtype(x) if is_number(x) else x)
        specs = [spec_of(x) for x in y]
        ys = [np.zeros((0, *spec.shape), spec.dtype) for spec in specs]
        return unflatten(self.structure, carry), unflatten(structure, ys)

    # The loop as one operation.

    def as_one(self, inside: bool) -> tuple[Any, Any]:
        loop, operands, structure = self.staged()
        outs = segmented(loop, operands, self.keep)
        if inside and running() is not None:
            outs = [x if type(x) is Array else Array(x, CONSTANT, None) for x in outs]
        n = len(self.carry)
        return unflatten(self.structure, list(outs[:n])), unflatten(structure, list(outs[n:]))

    def staged(self) -> tuple[Scan, list[Any], Any]:
        """The loop, its operands, and the structure of y."""
        if any(not is_number(x) for x in (*self.carry, *self.rows)):
            raise Unstaged("values")
        if any(is_static(x) and not isinstance(x, (bool, np.bool_)) for x in self.carry):
            raise Unstaged("values")
        carry = list(self.carry)
        t = self.length - 1 if self.reverse else 0
        row = [np.copy(example(x)[t])[()] for x in self.rows]  # keeps no table alive
        if any(type(x) in NUMBERS for x in carry):
            # What becomes of Python's numbers decides their dtype.
            given = [x if type(x) in NUMBERS else Enter(x) for x in carry]
            first, again = self.function.recorded_twice(given, row)
            self.function.compare(first, again)
            graph = first[0]
            for i, x in enumerate(carry):
                new = graph.outputs[i]
                if type(x) in NUMBERS:
                    spec = new.spec if isinstance(new, Variable) else spec_of(new)
                    weak = type(new) in NUMBERS
                    carry[i] = with_dtype(x, promoted(spec_of(x), spec) if not weak else None)
        carry = [with_dtype(x) for x in carry]
        lifted = [Enter(x) for x in carry]
        before = memory_of(self.fun)
        first, again = self.function.recorded_twice(lifted, row)
        self.function.compare(first, again)
        graph, captured, structure = first
        if memory_of(self.fun) != before:
            self.compare_all(lifted, first)
        n, m = len(carry), len(self.rows)
        for x, new in zip(carry, graph.outputs, strict=False):
            self.function.check(spec_of(x), new.spec if isinstance(new, Variable) else spec_of(new))
        rows, consts = list(self.rows), dict(zip(graph.inputs[n + m :], captured, strict=True))
        if self.verb == "fori_loop":
            graph, picked = by_rows(graph, graph.inputs[n], rows[0], consts)
            rows += [table[at : at + self.length] for table, at in picked]
            row += [np.copy(example(table)[at])[()] for table, at in picked]
        outputs = [x if isinstance(x, Variable) else with_dtype(x) for x in graph.outputs]
        read = {x for e in graph.equations for x in e.inputs if isinstance(x, Variable)}
        read |= {x for x in outputs if isinstance(x, Variable)}
        kept = [x for x in consts if x in read]
        moving = [x for x in graph.inputs[n:] if x not in consts]
        at = [i for i, x in enumerate(moving) if x in read]
        inputs = [*kept, *graph.inputs[:n], *[moving[i] for i in at]]
        body = functional(Graph(inputs, graph.equations, outputs))
        operands = [*[consts[x] for x in kept], *carry]
        examples = [*map(example, operands), *[row[i] for i in at]]
        loop = Scan(body, len(kept), n, self.length, self.reverse, examples)
        return loop, [*operands, *[rows[i] for i in at]], structure

    # The function again and again: it must be one.

    def compare_all(self, lifted: list[Any], first: Any) -> None:
        """Compare the recordings of all steps, of a body that remembers something of its calls."""
        for t in range(self.length):
            row = [np.copy(example(x)[t])[()] for x in self.rows]
            self.function.compare(first, self.function.record(lifted, row))

    def compare_steps(self) -> None:
        """Compare two recordings of a body that asked for a value, and was left in mid-run.

        It will run step by step, and so must not remember that it ran before. Where the results are
        compared with a plain run, that run says so.
        """
        outer = running()
        if outer is not None and outer.compared:
            return
        if any(not is_number(x) for x in (*self.carry, *self.rows)):
            return
        t = self.length - 1 if self.reverse else 0
        carry = [example(x) if type(x) is Array else x for x in self.carry]
        row = [np.copy(example(x)[t])[()] for x in self.rows]
        before = memory_of(self.fun)
        first, second = [self.step_record(carry, row) for _ in range(2)]
        if first is not None and second is not None:
            self.function.compare(first, second)
        if memory_of(self.fun) != before:
            self.function.refuse("it")

    def step_record(self, carry: list[Any], row: list[Any]) -> Any:
        """One step on values, as a recording; None if it raises, as the loop itself then will."""
        if self.verb == "fori_loop":
            row = [int(row[0])]
        lifted = [Enter(kept(x)) for x in carry]
        try:
            structure, graph, captured = self.function.written(
                lifted, row, StageTrace, enters=self.verb != "fori_loop"
            )
        except Exception:
            return None
        return graph, captured, structure


def same(x: Any, spec: Spec) -> bool:
    """Whether a leaf has a spec; the hot path of loops of Python's."""
    if type(x) is np.ndarray or type(x) is np.float64 or hasattr(x, "dtype"):
        return x.shape == spec.shape and x.dtype == spec.dtype
    return spec_now(x) == spec


class Column:
    """The rows of one leaf of y."""

    __slots__ = ("n", "rows")

    def __init__(self, n: int) -> None:
        self.n = n
        self.rows: Any = None

    def put(self, t: int, x: Any, name: str) -> None:
        if type(x) is np.ndarray:
            if self.rows is None:
                self.rows = np.empty((self.n, *x.shape), x.dtype)
            rows = self.rows
            if type(rows) is np.ndarray and rows.shape[1:] == x.shape and rows.dtype == x.dtype:
                rows[t] = x
                return
        if not is_number(x):
            refuse_y(x, name)
        if self.rows is None:
            self.rows = {}
        if type(self.rows) is np.ndarray:
            self.rows = dict(enumerate(self.rows))
        self.rows[t] = snapshot(x) if type(x) is Array else x

    def whole(self) -> Any:
        if type(self.rows) is np.ndarray:
            return self.rows
        rows = [self.rows[t] for t in range(self.n)]
        return np.stack(rows) if any(type(x) is Array for x in rows) else np.array(rows)


def segmented(loop: Scan, operands: list[Any], keep: Any) -> list[Any]:
    """Run a loop; with `keep`, as a loop over segments, of which the first carries are kept."""
    n, k = loop.length, isqrt(loop.length) if keep is True else int(keep)
    if keep is False or k <= 1 or k >= n:
        return list(loop(*operands))
    m = n // k
    consts, carry, rows = loop.parts(operands)
    inner = Scan(loop.body, loop.n_consts, loop.n_carry, k, loop.reverse, loop.examples)
    specs = [x.spec for x in loop.body.inputs]
    first = loop.n_consts + loop.n_carry
    inputs = [Variable(x) for x in specs[:first]]
    inputs += [Variable(Spec((k, *x.shape), x.dtype)) for x in specs[first:]]
    outputs = tuple([Variable(spec) for spec in inner.spec()])
    body = Graph(inputs, [Equation(inner, tuple(inputs), outputs, {})], outputs)
    examples = loop.examples[:first]
    examples += [np.broadcast_to(x, (k, *np.shape(x))) for x in loop.examples[first:]]
    outer = Scan(body, loop.n_consts, loop.n_carry, m, loop.reverse, examples)
    rest = Scan(loop.body, loop.n_consts, loop.n_carry, n - m * k, loop.reverse, loop.examples)
    whole = [np.reshape(x[: m * k], (m, k, *x.shape[1:])) for x in rows]
    # In order: what is left over comes last, and first if the loop begins at the end.
    left: list[Any] = []
    if rest.length and loop.reverse:
        left = rest(*consts, *carry, *[x[m * k :] for x in rows])
        carry = left[: loop.n_carry]
    outs = outer(*consts, *carry, *whole)
    carry = outs[: loop.n_carry]
    if rest.length and not loop.reverse:
        left = rest(*consts, *carry, *[x[m * k :] for x in rows])
        carry = left[: loop.n_carry]
    ys = [np.reshape(y, (m * k, *y.shape[2:])) for y in outs[loop.n_carry :]]
    if rest.length:
        pairs = zip(ys, left[loop.n_carry :], strict=True)
        ys = [np.concatenate(pair) for pair in pairs]
    return [*carry, *ys]
