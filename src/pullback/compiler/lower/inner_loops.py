"""Call NumPy's inner loops and sorting functions from machine code.

A loop takes pointers to its operands and results, the lengths of its axes and their strides in
bytes. So it works with any layout, and results are NumPy's, bit for bit. Loops of elementwise
ufuncs run over all elements; loops of ufuncs of matrices or rows run over the last axis of a stack,
inside loops over its other axes. Sorting functions sort one row at a time, in place.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from ...core.graph import Equation
from ...core.kinds import Elementwise
from ...primitives.inner_loops import InnerLoop, Ordering
from ...primitives.lapack_routines import LapackRoutine
from ..graph.factors import ByLapack
from ..graph.rewriting import opened, spec_in
from ..llvm import lapack, numpy_loops, routines
from ..llvm.binding import SCALAR
from ..llvm.dtypes import TYPES
from ..llvm.pen import Routine
from .geometry import Strided


def served(e: Equation) -> bool:
    """Whether one of NumPy's inner loops computes an equation."""
    return not SCALAR.get() and symbol_of(e) is not None


def symbol_of(e: Equation) -> Any:
    """The names of its function and of the function's data; None if it has none."""
    specs, outs = [spec_in(x) for x in e.inputs], [x.spec for x in e.outputs]
    if any(s.dtype not in TYPES or not s.size or not s.dtype.isnative for s in (*specs, *outs)):
        return None
    primitive = e.primitive
    if isinstance(primitive, ByLapack):
        return lapack.routines(specs[0].dtype)
    if isinstance(primitive, LapackRoutine):
        return routines.symbol(primitive.name)
    if isinstance(primitive, Ordering):
        name = numpy_loops.sorting(specs[0].dtype.char, primitive.indices, primitive.how)
        return None if name is None else (name, None)
    if isinstance(primitive, InnerLoop):
        number = primitive.type_number([s.dtype for s in specs])
        return None if number is None else numpy_loops.loop(primitive.ufunc, number)
    dtypes = operand_dtypes(e)
    if dtypes is None:
        return None
    ufunc, n = ufunc_of(primitive), len(specs)
    row = "->".join(["".join([d.char for d in side]) for side in (dtypes[:n], dtypes[n:])])
    return numpy_loops.loop(ufunc, ufunc.types.index(row)) if row in ufunc.types else None


def ufunc_of(primitive: Any) -> Any:
    """The ufunc that computes its results element by element; None if there is no such."""
    ufunc = primitive.ufunc if isinstance(primitive, Elementwise) else primitive.by_loop
    return ufunc if isinstance(ufunc, np.ufunc) and ufunc.signature is None else None


def operand_dtypes(e: Equation) -> list[np.dtype] | None:
    """The dtypes that a ufunc's loop takes for its operands, and those of its results."""
    ufunc, outs = ufunc_of(e.primitive), [x.spec.dtype for x in e.outputs]
    if ufunc is None or e.static or ufunc.nout != len(outs):
        return None
    if any(dtype.kind in e.primitive.raises_for for dtype in outs):
        return None
    given = [s.weak or s.dtype for s in map(spec_in, e.inputs)]
    try:
        found = list(ufunc.resolve_dtypes((*given, *(None,) * len(outs))))
    except TypeError:
        return None
    if found[len(given) :] != outs or any(dtype not in TYPES for dtype in found):
        return None
    pairs = zip(e.inputs, found, strict=False)
    return found if all(holds(x, dtype) for x, dtype in pairs) else None


def holds(x: Any, dtype: np.dtype) -> bool:
    """Whether an operand fits a dtype: some of Python's integers are too large."""
    if spec_in(x).weak is not int:
        return True
    limits = np.iinfo(dtype) if dtype.kind in "iu" else None
    return limits is None or limits.min <= opened(x) <= limits.max


def is_row(e: Equation, view: Strided) -> bool:
    """Whether an operand has the memory layout that an equation's function takes."""
    rows = isinstance(e.primitive, Ordering)
    return not rows or view.shape[-1] == 1 or view.strides[-1] == 1


def called(e: Equation, views: list[Strided], declared: set[str]) -> str:
    """LLVM text of a function that takes pointers to operands and results.

    If the first operand is changed in place, it is a result, and `views` lists it once.
    """
    pen = Routine("(" + ", ".join([f"ptr %x{k}" for k in range(len(views))]) + ")")
    function, data = symbol_of(e)
    if isinstance(e.primitive, Ordering):
        ordered(pen, function, views, declared)
        return pen.text()
    cores: list[list[str]] = [[] for _ in views]  # the core axes of each, of which ufuncs have none
    if isinstance(e.primitive, InnerLoop):
        ins, outs = e.primitive.cores()
        cores = [*ins, *outs]
    ranks = [len(view.shape) - len(core) for view, core in zip(views, cores, strict=True)]
    stack = np.broadcast_shapes(*[v.shape[:r] for v, r in zip(views, ranks, strict=True)])
    views = [
        view.broadcast((*stack, *view.shape[r:])) for view, r in zip(views, ranks, strict=True)
    ]
    lengths, along = merged(stack, views)
    sizes: dict[str, int] = {}
    steps: list[int] = [a[-1] if a else 0 for a in along]
    for view, core in zip(views, cores, strict=True):
        here = range(len(view.shape) - len(core), len(view.shape))
        sizes.update(zip(core, [view.shape[axis] for axis in here], strict=True))
        steps += [view.strides[axis] * view.dtype.itemsize for axis in here]
    counts = [lengths[-1] if lengths else 1, *sizes.values()]
    declared.add(f"declare void @{function}(ptr, ptr, ptr, ptr)")
    if data is not None:
        declared.add(f"@{data} = external global i8")
    pointers = pen.room("ptr", str(len(views)))
    tables = [pen.room("i64", str(len(row))) for row in (counts, steps)]
    for table, row in zip(tables, (counts, steps), strict=True):
        for k, n in enumerate(row):
            pen.put(table, k, str(n), "i64")
    with each_of(pen, lengths[:-1], along) as starts:
        for k, start in enumerate(starts):
            pen.put(pointers, k, start)
        given = [f"ptr {x}" for x in (pointers, *tables, "null" if data is None else f"@{data}")]
        pen.do(f"@{function}", *given)
    pen.ret()
    return pen.text()


def merged(stack: tuple[int, ...], views: list[Strided]) -> tuple[list[int], list[list[int]]]:
    """The axes of a stack, merged where all views can be walked as one; strides in bytes."""
    lengths: list[int] = []
    along: list[list[int]] = [[] for _ in views]
    for axis, n in enumerate(stack):
        if n == 1:
            continue
        steps = [view.strides[axis] * view.dtype.itemsize for view in views]
        if lengths and all(a[-1] == n * s for a, s in zip(along, steps, strict=True)):
            lengths[-1] *= n
            for a, s in zip(along, steps, strict=True):
                a[-1] = s
            continue
        lengths.append(n)
        for a, s in zip(along, steps, strict=True):
            a.append(s)
    return lengths, along


@contextmanager
def each_of(pen: Routine, lengths: list[int], along: list[list[int]]) -> Iterator[list[str]]:
    """Loops over a stack; where the operands begin in each step."""
    with ExitStack() as loops:
        starts = [f"%x{k}" for k in range(len(along))]
        for axis, count in enumerate(lengths):
            i = loops.enter_context(pen.loop(count))
            for k, steps in enumerate(along):
                starts[k] = pen.place(starts[k], pen.op("mul i64", i, steps[axis]), "i8")
        yield starts


def ordered(pen: Routine, function: str, views: list[Strided], declared: set[str]) -> None:
    """Sort the rows of the last view; with two views, by the elements of the first."""
    declared.add(f"declare i32 @{function}({', '.join(['ptr'] * len(views))}, i64, ptr)")
    n = views[-1].shape[-1]
    stack, along = merged(
        views[-1].shape[:-1],
        [Strided(v.buffer, v.offset, v.shape[:-1], v.strides[:-1], v.dtype) for v in views],
    )
    with each_of(pen, stack, along) as starts:
        if len(views) > 1:
            with pen.loop(n) as j:
                pen.put(starts[1], j, j, "i64")
        pen.ask("i32", f"@{function}", *[f"ptr {x}" for x in starts], f"i64 {n}", "ptr null")
    pen.ret()
