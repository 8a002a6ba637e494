"""Systems of equations, inverses, determinants and Cholesky factors of small matrices in stacks.

The algorithms are LAPACK's: rows are eliminated with the largest element of the column as pivot
(getrf, getrs); a Cholesky factor is computed row by row of its transpose (potrf). For matrices of
few rows a call costs as much as the arithmetic, so up to LARGEST rows the algorithms are written
out here; for larger matrices NumPy calls LAPACK.

A matrix that NumPy refuses gives NaN. `doubts` are the results to check: if one of them has a NaN,
whatever its cause, the program is run by NumPy, which raises an error or doesn't.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.graph import Equation, Graph, Variable
from ...core.spec import Spec
from ...primitives.elementwise import equal, logical_and
from ...primitives.inner_loops import Assumed, InnerLoop
from ...primitives.linalg import inverse_p, solve_p
from ...primitives.queries import all_p
from ...primitives.shapes import copy_p
from ...primitives.triangular import cholesky_p
from ...transforms.loops.scan_primitive import Scan
from ..graph.factors import ByFactors, ByLapack, factors_p
from ..graph.optimise import decomposed
from ..graph.rewriting import NewEquations, inlined, opened, rewritten
from ..graph.small_systems import SOLVING, fits, log_p, sign_p
from .elements import Value, element, store_element
from .geometry import Strided
from .scan import Rolled
from .text import Matrix, Text, each
from .while_ import Waiting

TRUTH = Spec((), np.dtype(bool))


def doubts(e: Equation, steps: NewEquations) -> list[Variable]:
    """A condition under which the results are NumPy's."""
    if isinstance(e.primitive, InnerLoop | ByLapack):
        if e.primitive.tells is None:
            return []
        out = e.outputs[e.primitive.tells]
    elif isinstance(e.primitive, ByFactors) or (e.primitive in SOLVING and fits(e)):
        (out,) = e.outputs
    else:
        return []
    known = steps.apply(equal, out, out)
    if not out.spec.shape:
        return [known]
    axes = tuple(range(len(out.spec.shape)))
    return [steps.apply(all_p, known, True, axis=axes, keepdims=False)]


def asked(e: Equation, steps: NewEquations) -> tuple[list[Equation], list[Variable]]:
    """What does an equation, and its conditions; a loop becomes one that checks all its steps."""
    if isinstance(e.primitive, Assumed):
        truth, (quick, _) = e.inputs[0], e.primitive.parted(e.inputs)
        if not isinstance(truth, Variable) and not opened(truth):
            return [e], []  # NumPy does it
        known = [truth] if isinstance(truth, Variable) else []
        return [
            Equation(copy_p, (x,), (out,), {"dtype": out.spec.dtype})
            for x, out in zip(quick, e.outputs, strict=True)
        ], known
    loop = telling(e.primitive) if isinstance(e.primitive, Scan) else None
    if loop is None:
        return [e], doubts(e, steps)
    at, n = loop.n_consts + loop.n_carry - 1, loop.n_carry - 1
    well = Variable(TRUTH)
    inputs = (*e.inputs[:at], np.True_, *e.inputs[at:])
    return [Equation(loop, inputs, (*e.outputs[:n], well, *e.outputs[n:]), {})], [well]


def telling(of: Scan) -> Scan | None:
    """Add a last carry to a loop: whether all steps so far were certain.

    None if there is nothing to check.
    """

    def make() -> Scan | None:
        equations: list[Equation] = []
        found: list[Variable] = []
        whole = decomposed(inlined(of.body))  # the condition is checked on the parts only
        for e in whole.equations:
            steps = NewEquations()
            made, flags = asked(e, steps)
            equations += [*made, *steps.equations]
            found += flags
        if not found:
            return None
        steps, before = NewEquations(), Variable(TRUTH)
        last = before
        for flag in found:
            last = steps.apply(logical_and, last, flag)
        at, n = of.n_consts + of.n_carry, of.n_carry
        inputs, outputs = whole.inputs, whole.outputs
        body = Graph(
            [*inputs[:at], before, *inputs[at:]],
            [*equations, *steps.equations],
            [*outputs[:n], last, *outputs[n:]],
        )
        loop = Scan(body, of.n_consts, n + 1, of.length, of.reverse)
        loop.tells = True
        return loop

    return of.derive("telling", make)


def told(graph: Graph) -> Graph:
    """Let loops check their steps where nothing else does: uncertain results become NaN."""
    return rewritten(graph, lambda e: asked(e, NewEquations())[0])


def solves(graphs: Sequence[Graph]) -> bool:
    """Whether a loop's steps compute something uncertain that nothing checks."""
    for e in (e for graph in graphs for e in graph.equations):
        p = e.primitive
        if p in SOLVING or isinstance(p, ByFactors):
            return True
        if isinstance(p, InnerLoop | ByLapack) and p.tells is not None:
            return True
        if isinstance(p, (Rolled, Waiting)) and solves(p.bodies):
            return True
    return False


def written(e: Equation, views: list[Strided], declared: set[str]) -> str:
    """LLVM text of a function that takes pointers to the operands and to the result."""
    if isinstance(e.primitive, ByFactors):
        return written_by_factors(e, views, declared)
    *ins, out = views
    text = Text(out.dtype, declared)
    axes = 2 if e.primitive in (solve_p, inverse_p, cholesky_p, factors_p) else 0
    stack, ins, n = stacked(ins, out, axes)
    work = Matrix(text, text.room(n * n), n, 1)
    pivot, largest = text.room(1, "i64"), text.room(1)
    with each(text, stack, [*ins, out]) as starts:
        a = Matrix(text, starts[0], *ins[0].strides[-2:])
        if e.primitive is cholesky_p:
            x = Matrix(text, starts[-1], *out.strides[-2:])
            root(text, n, a, work, x, e.static["upper"])
        elif e.primitive is factors_p:
            x = Matrix(text, starts[-1], *out.strides[-2:])
            copied(text, n, n, a, x)
            eliminated(text, n, 0, x, None, pivot, largest, kept=True)
        else:
            copied(text, n, n, a, work)
            x, m = None, 0
            if axes:
                x, m = Matrix(text, starts[-1], *out.strides[-2:]), out.shape[-1]
                if e.primitive is solve_p:
                    copied(text, n, m, Matrix(text, starts[1], *ins[1].strides[-2:]), x)
                else:
                    identity(text, n, x)
            sign = eliminated(text, n, m, work, x, pivot, largest)
            if x is not None:
                substituted(text, n, m, work, x)
            else:
                store_element(text, starts[-1], product(text, n, work, sign, e.primitive))
    return text.finished(*[f"%x{i}" for i in range(len(ins))])


def stacked(
    ins: list[Strided], out: Strided, axes: int
) -> tuple[tuple[int, ...], list[Strided], int]:
    """The stack of matrices, the operands with that shape in front, and the rows of a matrix.

    axes: how many axes a result of one matrix has
    """
    stack = tuple(out.shape[: len(out.shape) - axes])
    ins = [x.broadcast((*stack, *x.shape[-2:])) for x in ins]
    return stack, ins, ins[0].shape[-1]


def written_by_factors(e: Equation, views: list[Strided], declared: set[str]) -> str:
    """The same of an operation by factors, which come first; the matrix itself is not read."""
    *ins, out = views
    by, text = e.primitive, Text(out.dtype, declared)
    axes = 2 if by.of in (solve_p, inverse_p) else 0
    stack, ins, n = stacked(ins, out, axes)
    with each(text, stack, [*ins, out]) as starts:
        a = Matrix(text, starts[0], *ins[0].strides[-2:])
        if axes:
            x, m = Matrix(text, starts[-1], *out.strides[-2:]), out.shape[-1]
            if by.of is solve_p:
                copied(text, n, m, Matrix(text, starts[2], *ins[2].strides[-2:]), x)
            else:
                identity(text, n, x)
            (solved_transposed if by.transposed else solved)(text, n, m, a, x)
        else:
            store_element(text, starts[-1], product(text, n, a, sign_of(text, n, a), by.of))
    return text.finished(*[f"%x{i}" for i in range(len(ins))])


def exchanged(text: Text, m: int, n: int, a: Matrix, x: Matrix, k: str) -> None:
    """Exchange row k of x with the row that the factors name."""
    p = text.cast(a[n, k], np.dtype(np.int64)).name
    with text.when(Value(text.whole("icmp ne i64 {}, {}", p, k), np.dtype(bool))):
        swapped(text, m, x, k, p)


def solved(text: Text, n: int, m: int, a: Matrix, x: Matrix) -> None:
    """Solve a system in place, by the factors of its matrix."""
    with text.loop(n) as k:
        exchanged(text, m, n, a, x, k)
    with text.loop(n) as k, text.loop(n, text.whole("add i64 {}, 1", k)) as i:
        lessened(text, 0, m, x, i, k, a[i, k])
    substituted(text, n, m, a, x)


def solved_transposed(text: Text, n: int, m: int, a: Matrix, x: Matrix) -> None:
    """Solve a system in place, by the factors of the transpose of its matrix."""
    with text.loop(n) as k:
        divided(text, m, x, k, a[k, k])
        with text.loop(n, text.whole("add i64 {}, 1", k)) as i:
            lessened(text, 0, m, x, i, k, a[k, i])
    with text.loop(n) as back:
        k = text.whole("sub i64 {}, {}", n - 1, back)
        with text.loop(k) as i:
            lessened(text, 0, m, x, i, k, a[k, i])
    with text.loop(n) as back:
        exchanged(text, m, n, a, x, text.whole("sub i64 {}, {}", n - 1, back))


def divided(text: Text, m: int, x: Matrix, k: str, pivot: Value) -> None:
    """Divide row k of x by a pivot; by zero all is NaN."""
    zero = text.equal(pivot, text.number(0.0))
    pivot = text.where(zero, text.number(np.nan), pivot)
    with text.loop(m) as j:
        x[k, j] = text.div(x[k, j], pivot)


def sign_of(text: Text, n: int, a: Matrix) -> str:
    """Where the sign is kept that the exchanges of rows give the determinant."""
    sign = text.room(1)
    store_element(text, sign, text.number(1.0))
    with text.loop(n) as k:
        p = text.cast(a[n, k], np.dtype(np.int64)).name
        with text.when(Value(text.whole("icmp ne i64 {}, {}", p, k), np.dtype(bool))):
            store_element(text, sign, text.neg(element(text, sign, text.dtype)))
    return sign


def copied(text: Text, n: int, m: int, x: Matrix, y: Matrix) -> None:
    with text.loop(n) as i, text.loop(m) as j:
        y[i, j] = x[i, j]


def identity(text: Text, n: int, x: Matrix) -> None:
    with text.loop(n) as i, text.loop(n) as j:
        same = Value(text.whole("icmp eq i64 {}, {}", i, j), np.dtype(bool))
        x[i, j] = text.where(same, text.number(1.0), text.number(0.0))


def swapped(text: Text, m: int, x: Matrix, i: str, j: str) -> None:
    with text.loop(m) as k:
        one, other = x[i, k], x[j, k]
        x[i, k] = other
        x[j, k] = one


def lessened(text: Text, start: Any, m: int, x: Matrix, i: str, k: str, factor: Value) -> None:
    """Subtract a multiple of row k from row i of x, from a column on."""
    with text.loop(m, start) as j:
        x[i, j] = text.sub(x[i, j], text.mul(factor, x[k, j]))


def eliminated(
    text: Text,
    n: int,
    m: int,
    a: Matrix,
    x: Matrix | None,
    pivot: str,
    largest: str,
    kept: bool = False,
) -> str:
    """Reduce a to upper triangular form and apply the same to x; return where the sign is kept.

    kept: whether the factors are written below the diagonal, and the pivots' rows below a.
    """
    sign = text.room(1)
    store_element(text, sign, text.number(1.0))
    with text.loop(n) as k:
        text.lines.append(f"  store i64 {k}, ptr {pivot}")
        store_element(text, largest, text.absolute(a[k, k]))
        below = text.whole("add i64 {}, 1", k)
        with text.loop(n, below) as i:
            size = text.absolute(a[i, k])
            with text.when(text.greater(size, element(text, largest, text.dtype))):
                store_element(text, largest, size)
                text.lines.append(f"  store i64 {i}, ptr {pivot}")
        p = text.line(f"load i64, ptr {pivot}")
        with text.when(Value(text.whole("icmp ne i64 {}, {}", p, k), np.dtype(bool))):
            swapped(text, n, a, k, p)
            if x is not None:
                swapped(text, m, x, k, p)
            store_element(text, sign, text.neg(element(text, sign, text.dtype)))
        first = a[k, k]
        if kept:
            a[n, k] = text.cast(Value(p, np.dtype(np.int64)), text.dtype)
        with text.loop(n, below) as i:
            factor = text.div(a[i, k], first)
            lessened(text, below, n, a, i, k, factor)
            if kept:
                a[i, k] = factor
            if x is not None:
                lessened(text, 0, m, x, i, k, factor)
    return sign


def substituted(text: Text, n: int, m: int, a: Matrix, x: Matrix) -> None:
    """Solve the triangular system in place; with a zero pivot all is NaN."""
    with text.loop(n) as back:
        k = text.whole("sub i64 {}, {}", n - 1, back)
        divided(text, m, x, k, a[k, k])
        with text.loop(k) as i:
            lessened(text, 0, m, x, i, k, a[i, k])


def product(text: Text, n: int, a: Matrix, sign: str, primitive: Any) -> Value:
    """The determinant, its sign or its logarithm, from the triangular form.

    Where a product on the way leaves the range of numbers in which it is exact up to rounding, the
    determinant is computed from its logarithm, as NumPy computes all.
    """
    first = element(text, sign, text.dtype)
    signs = lambda: folded(text, n, a, first, lambda old, x: text.mul(old, text.sign(x)))
    add = lambda old, x: text.add(old, text.log(text.absolute(x)))
    logarithm = lambda: folded(text, n, a, text.number(0.0), add)
    if primitive is log_p:
        return logarithm()
    if primitive is sign_p:
        return signs()
    least, most, out = text.room(1), text.room(1), text.room(1)
    for place in least, most:
        store_element(text, place, text.number(1.0))

    def times(old: Value, x: Value) -> Value:
        new = text.mul(old, x)
        size = text.absolute(new)
        store_element(text, least, text.minimum(element(text, least, text.dtype), size))
        store_element(text, most, text.maximum(element(text, most, text.dtype), size))
        return new

    store_element(text, out, folded(text, n, a, first, times))
    limits = np.finfo(text.dtype)
    low = text.greater(text.number(float(limits.tiny)), element(text, least, text.dtype))
    high = text.greater(element(text, most, text.dtype), text.number(float(limits.max)))
    with text.when(text.logical_or(low, high)):
        whole = text.add(signs(), text.number(0.0))  # no -0.0
        store_element(text, out, text.mul(whole, text.exp(logarithm())))
    return element(text, out, text.dtype)


def folded(
    text: Text, n: int, a: Matrix, first: Value, step: Callable[[Value, Value], Value]
) -> Value:
    """What a step makes of one diagonal element after the other."""
    total = text.room(1)
    store_element(text, total, first)
    with text.loop(n) as k:
        store_element(text, total, step(element(text, total, text.dtype), a[k, k]))
    return element(text, total, text.dtype)


def root(text: Text, n: int, a: Matrix, u: Matrix, x: Matrix, upper: bool) -> None:
    """a = u^T u, with u or its transpose in x; NaN where a is not positive definite."""
    with text.loop(n) as i, text.loop(n, i) as j:
        u[i, j] = a[i, j] if upper else a[j, i]
    with text.loop(n) as k:
        first = u[k, k]
        positive = text.greater(first, text.number(0.0))
        first = text.sqrt(text.where(positive, first, text.number(np.nan)))
        u[k, k] = first
        below = text.whole("add i64 {}, 1", k)
        with text.loop(n, below) as j:
            u[k, j] = text.div(u[k, j], first)
        with text.loop(n, below) as i:
            factor = u[k, i]
            lessened(text, i, n, u, i, k, factor)
    with text.loop(n) as i, text.loop(n) as j:
        above = Value(text.whole("icmp sle i64 {}, {}", i, j), np.dtype(bool))
        with text.when(above):
            found = u[i, j]
            row, column = (i, j) if upper else (j, i)
            x[row, column] = found
        with text.when(Value(text.whole("icmp slt i64 {}, {}", j, i), np.dtype(bool))):
            row, column = (i, j) if upper else (j, i)
            x[row, column] = text.number(0.0)
