"""Loops that count their steps: scan, fori_loop.

Outside of transformations they are loops of Python's. Inside, the body is written down once and
the loop is one operation, `Scan`, however many steps it has. A body that asks for a value (`if`)
cannot be written down once for all steps; then the loop runs as one of Python's, under the
transformation.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from math import isqrt
from typing import Any

import numpy as np

from ..core.array import Array, current, snapshot
from ..core.errors import (
    ArgumentError,
    ArgumentTypeError,
    DtypeError,
    ShapeError,
    kind_of,
    name_of,
)
from ..core.graph import Equation, Graph, Variable
from ..core.spec import Spec, promoted, spec_of
from ..core.trace import CONSTANT, running
from ..core.tree import flatten, is_static, unflatten
from .bodies import BodyTrace, Unstaged, example, functional
from .common import check_function, describe, shown
from .counters import by_rows
from .scans import Scan
from .stage import capture

__all__ = ["Loop", "fori_loop", "scan"]

NUMBERS = (int, float, complex)  # weak: they take the dtype of what they meet


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
    return Loop(fun, init, xs, length, reverse, checkpoint, "scan").run()


def fori_loop(
    lower: Any, upper: Any, body: Callable[..., Any], init: Any, checkpoint: bool | int = False
) -> Any:
    """Run carry = body(i, carry) for i from lower to upper - 1; return the last carry.

    >>> fori_loop(0, 5, lambda i, total: total + i, 0)
    np.int64(10)

    Under a transformation i is an Array of integers; index an Array with it, which
    `pullback.array(table)` makes of a plain table. The rest is as in `scan`.
    """
    check_function(body, "fori_loop")
    first, last = whole(lower, "lower"), whole(upper, "upper")
    numbers = np.arange(first, max(first, last))
    loop = Loop(body, init, numbers, None, False, checkpoint, "fori_loop")
    return loop.run()[0]


def whole(x: Any, name: str) -> int:
    try:
        return operator.index(x)
    except TypeError:
        raise ArgumentTypeError(
            f"`fori_loop` counts with integers, but {name} is {describe(x)}.\n"
            f"  Write `int({name})`, which says how it is rounded."
        ) from None


def is_number(x: Any) -> bool:
    """Whether a leaf of a carry is a number or an array."""
    return hasattr(x, "dtype") or isinstance(x, NUMBERS)


def is_plain(x: Any) -> bool:
    return type(x) is np.ndarray or isinstance(x, np.generic) or type(x) in NUMBERS


def is_live(x: Any) -> bool:
    return type(x) is Array and current(x).within is not CONSTANT


def plain(x: Any, dtype: Any = None) -> Any:
    """A number as one of NumPy's; arrays as they are."""
    if hasattr(x, "dtype"):
        return x if dtype is None or x.dtype == dtype else x.astype(dtype)
    return np.asarray(x, dtype)[()]


def spec_now(x: Any) -> Any:
    """The spec of a leaf; of what is no number the leaf itself stands in."""
    return spec_of(x) if is_number(x) else None


class Loop:
    """A call of one of the three functions."""

    def __init__(
        self, fun: Any, init: Any, xs: Any, length: Any, reverse: bool, keep: Any, verb: str
    ) -> None:
        self.fun, self.verb, self.reverse, self.keep = fun, verb, reverse, keep
        self.name = f"`{verb}({name_of(fun)})`"
        self.carry, self.structure = flatten(init)
        self.rows, self.rows_structure = flatten(xs)
        self.length = self.steps(length)
        if not isinstance(keep, (bool, int, np.integer)) or (keep is not False and keep < 1):
            raise ArgumentError(
                f"{self.name} has checkpoint={keep!r}.\n"
                "  Give True, False, or after how many steps a carry is kept."
            )

    def steps(self, length: Any) -> int:
        """How many rows there are."""
        given = None if length is None else operator.index(length)
        if given is not None and given < 0:
            raise ArgumentError(f"{self.name} has length={given}, which is negative.")
        found = given
        for x in self.rows:
            shape = x.shape if hasattr(x, "shape") else ()
            if not shape:
                raise ArgumentTypeError(
                    f"{self.name} goes through the rows of xs, but a leaf of xs is {describe(x)},"
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

    # The body, called as the three functions call it.

    def arguments(self, carry: list[Any], row: list[Any]) -> Any:
        carry = unflatten(self.structure, carry)
        x = unflatten(self.rows_structure, row) if self.rows else None
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
                    f" {describe(out)}.\n  Return `carry, None` if there is no y."
                )
            out, y = out
        leaves, structure = flatten(out)
        if structure != self.structure:
            got = shown(structure) or describe(out)
            had = shown(self.structure) or "one array"
            raise ArgumentTypeError(
                f"{self.name} has a carry {had}, and its function made it {got}.\n"
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
                f"{self.name} has a carry {before}, which its function made {after}.\n"
                f"  A carry keeps its shape: begin with `np.zeros({after.shape})` or the like, or"
                " return what changes as y."
            )
        raise DtypeError(
            f"{self.name} has a carry {before}, which its function made {after}.\n"
            f"  A carry keeps its dtype: begin with one of {after.dtype}, or write"
            f' `.astype("{before.dtype}")` in the function.'
        )

    # Running.

    def run(self) -> tuple[Any, Any]:
        inside = running() is not None
        if self.length == 0:
            return self.nothing()
        if inside or any(map(is_live, (*self.carry, *self.rows))):
            try:
                return self.as_one(inside)
            except Unstaged:
                return self.by_python(inside)
        return self.by_python(False)

    def by_python(self, inside: bool) -> tuple[Any, Any]:
        """A loop of Python's, on plain values or on Arrays."""
        carry, structure = list(map(own, self.carry)), None
        rows = [x.copy() if type(x) is np.ndarray else x for x in self.rows]
        specs = [None if type(x) in NUMBERS else spec_now(x) for x in carry]
        weak = [type(x) in NUMBERS for x in carry]
        columns: list[Any] = []
        n = self.length
        for step, t in enumerate(range(n - 1, -1, -1) if self.reverse else range(n)):
            row = [x[t] for x in rows]
            if self.verb == "fori_loop":
                row = [int(row[0])]
            out = self.fun(*self.arguments(carry, row))
            found = self.quick(out, structure) if step and not inside else None
            carry, y, y_structure = found or self.split(out)
            if step == 0:
                if not inside and any(map(is_live, (*carry, *y))):
                    return self.closed_over()
                structure = y_structure
                columns = [Column(n) for _ in y]
                for i, x in enumerate(carry):
                    new = spec_now(x)
                    if weak[i] and new is not None and type(x) not in NUMBERS:
                        self.check(Spec((), promoted(spec_of(self.carry[i]), new)), new)
                    else:
                        self.check(specs[i], new)
                    specs[i] = new
            else:
                if y_structure != structure or len(y) != len(columns):
                    raise ArgumentTypeError(
                        f"{self.name} made a y that is another tree than before.\n"
                        "  Return the same tree in every step."
                    )
                for i, x in enumerate(carry):
                    spec = specs[i]
                    if spec is not None and not same(x, spec):
                        new = spec_now(x)
                        if type(x) not in NUMBERS and spec.weak is None:
                            self.check(spec, new)
                        specs[i] = new
            for column, x in zip(columns, y, strict=True):
                column.put(t, x, self.name)
        carry = [plain(x) if is_number(x) else x for x in carry]
        return (
            unflatten(self.structure, carry),
            unflatten(structure, [column.whole() for column in columns]),
        )

    def closed_over(self) -> tuple[Any, Any]:
        """The function closes over eager arrays that require a gradient."""
        try:
            return self.as_one(True)
        except Unstaged:
            return self.by_python(True)

    def nothing(self) -> tuple[Any, Any]:
        """No steps: the carry as it is, and ys without rows."""
        row = [np.ones(x.shape[1:], x.dtype)[()] for x in self.rows]
        with np.errstate(all="ignore"):
            out = self.fun(*self.arguments(list(map(own, self.carry)), row))
        after, y, structure = self.split(out)
        carry = []
        for x, new in zip(self.carry, after, strict=True):
            if type(x) in NUMBERS and hasattr(new, "dtype"):
                carry.append(plain(x, promoted(spec_of(x), spec_of(new))))
            else:
                carry.append(own(x) if hasattr(x, "dtype") else plain(x) if is_number(x) else x)
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
            graph, _, _ = self.body([x if type(x) in NUMBERS else Enter(x) for x in carry], row)
            for i, x in enumerate(carry):
                new = graph.outputs[i]
                if type(x) in NUMBERS:
                    spec = new.spec if isinstance(new, Variable) else spec_of(new)
                    weak = type(new) in NUMBERS
                    carry[i] = plain(x, promoted(spec_of(x), spec) if not weak else None)
        carry = [plain(x) for x in carry]
        lifted = [Enter(x) for x in carry]
        graph, captured, structure = self.body(lifted, row)
        again, captured_again, _ = self.body(lifted, row)
        if len(captured) != len(captured_again) or not alike(graph, again):
            raise Unstaged("another state")  # it counts its calls, or draws random numbers
        n, m = len(carry), len(self.rows)
        for x, new in zip(carry, graph.outputs, strict=False):
            self.check(spec_of(x), new.spec if isinstance(new, Variable) else spec_of(new))
        rows, consts = list(self.rows), dict(zip(graph.inputs[n + m :], captured, strict=True))
        if self.verb == "fori_loop":
            graph, picked = by_rows(graph, graph.inputs[n], rows[0], consts)
            rows += [table[at : at + self.length] for table, at in picked]
            row += [np.copy(example(table)[at])[()] for table, at in picked]
        outputs = [x if isinstance(x, Variable) else plain(x) for x in graph.outputs]
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

    def body(self, carry: list[Any], row: list[Any]) -> tuple[Graph, list[Array], Any]:
        """The body, written down by running it on one row, what it closes over, y's structure."""
        structure, graph, captured = self.written(self.fun, carry, row)
        out = unflatten(structure, list(graph.outputs))
        leaves, y, y_structure = self.split(out)
        for x in y:
            if not isinstance(x, Variable) and not is_number(x):
                refuse_y(x, self.name)
        return Graph(graph.inputs, graph.equations, [*leaves, *y]), captured, y_structure

    def written(self, fun: Any, carry: list[Any], row: list[Any]) -> tuple[Any, Graph, list[Array]]:
        """A function of carry and x as a graph, with what it closes over."""

        def lift(enter: Any) -> Any:
            entered = [enter(x.x) if type(x) is Enter else x for x in carry]
            return self.arguments(entered, [enter(x) for x in row])

        with np.errstate(all="ignore"):
            structure, graph, captured, _ = capture(fun, (), {}, self.verb, lift, BodyTrace)
        return structure, graph, captured


class Enter:
    """A leaf that becomes an input of the body."""

    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.x = x


def own(x: Any) -> Any:
    """A leaf of init that the body may write to."""
    if type(x) is Array:
        return snapshot(x)
    return x.copy() if type(x) is np.ndarray else x


def same(x: Any, spec: Spec) -> bool:
    """Whether a leaf has a spec; the hot path of loops of Python's."""
    if type(x) is np.ndarray or type(x) is np.float64 or hasattr(x, "dtype"):
        return x.shape == spec.shape and x.dtype == spec.dtype
    return spec_now(x) == spec


def refuse_y(x: Any, name: str) -> None:
    raise ArgumentTypeError(
        f"{name} stacks the y of all steps, but a leaf of y is {kind_of(x)}.\n"
        "  Return numbers and arrays as y."
    )


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


def alike(a: Graph, b: Graph) -> bool:
    """Whether two records of one body are the same program."""
    if len(a.equations) != len(b.equations) or len(a.outputs) != len(b.outputs):
        return False
    names = dict(zip(a.inputs, b.inputs, strict=True))

    def equal(x: Any, y: Any) -> bool:
        if isinstance(x, Variable):
            return names.get(x) is y
        x, y = [z.opened() if hasattr(z, "opened") else z for z in (x, y)]
        if hasattr(x, "dtype") and hasattr(y, "dtype"):
            if x is y:
                return True
            return x.dtype == y.dtype and np.asarray(x).tobytes() == np.asarray(y).tobytes()
        return type(x) is type(y) and (not isinstance(x, NUMBERS) or repr(x) == repr(y))

    for e, f in zip(a.equations, b.equations, strict=True):
        if e.primitive.name != f.primitive.name or len(e.inputs) != len(f.inputs):
            return False
        if not all(map(equal, e.inputs, f.inputs)):
            return False
        names.update(zip(e.outputs, f.outputs, strict=True))
    return all(map(equal, a.outputs, b.outputs))


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
