"""A pass: lower functions that existing loops can express."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...core.graph import Equation, Graph, Variable
from ...core.spec import Spec
from ...primitives.cumulative import diff_p
from ...primitives.elementwise import (
    add,
    bitwise_or,
    divide,
    equal,
    isnan,
    multiply,
    sqrt,
    subtract,
)
from ...primitives.indexing import getitem_p
from ...primitives.joining import repeated_p, stack_p
from ...primitives.norms import norm_p
from ...primitives.parts import imag_p, real_p
from ...primitives.products import cross_p
from ...primitives.queries import argmax_p, argmin_p
from ...primitives.reductions import max_p, mean_p, min_p, sum_p
from ...primitives.selecting import clip_p, maximum, minimum, where_p
from ...primitives.shapes import broadcast_p, reshape_p
from ...primitives.statistics import var_p
from ..llvm.dtypes import TYPES
from .rewriting import NewEquations, rewritten, spec_in

LONG_ROW = 128  # elements from which a row is searched block by block


def answered(graph: Graph) -> Graph:
    """The graph with argmax, var, norms, diff, cross, clip, repeats and their kin taken apart.

    A primitive of an extra says itself how: `taken_apart(apply, *xs, **static)` applies others, the
    last of which gives the result; False if it stays as it is.
    """

    def rule(e: Equation) -> Any:
        if not may_be_apart(e):
            return e
        own = getattr(e.primitive, "taken_apart", None)
        (out,), specs = e.outputs, [spec_in(x) for x in e.inputs]
        if any(s.dtype not in TYPES or not s.size for s in (*specs, out.spec)):
            return e
        if not any(isinstance(x, Variable) for x in e.inputs):
            return e
        if own is not None:
            steps = NewEquations()
            return steps.ending(e) if own(steps.apply, *e.inputs, **e.static) else e
        kind, may = APART[e.primitive]
        return kind(e) if may(e, specs[0], out.spec) else e

    return rewritten(graph, rule) if any(map(may_be_apart, graph.equations)) else graph


def may_be_apart(e: Equation) -> bool:
    """Whether an operation is one of those, for some operands."""
    return e.primitive in APART or getattr(e.primitive, "taken_apart", None) is not None


def position(e: Equation) -> list[Equation]:
    """The first place of what is equal to the extreme element, or of a NaN, which is extreme."""
    (x,), (axis, keepdims) = e.inputs, (e.static["axis"], e.static["keepdims"])
    steps, n = NewEquations(), spec_in(x).shape[e.static["axis"]]
    extreme = max_p if e.primitive is argmax_p else min_p
    out = steps.apply(extreme, x, True, axis=(axis,), keepdims=True, bounded=False)
    found = steps.apply(equal, x, out)
    if spec_in(x).dtype.kind == "f":
        found = steps.apply(bitwise_or, found, steps.apply(isnan, x))
    places = np.arange(n).reshape((n,) + (1,) * (len(spec_in(x).shape) - axis - 1))
    place = steps.apply(where_p, found, places, np.int64(n))
    steps.apply(min_p, place, True, axis=(axis,), keepdims=keepdims, bounded=False)
    return steps.ending(e)


def unmasked(e: Equation) -> list[Equation]:
    """The extreme of the elements under a mask; the others become the reduction's first value."""
    (x, there), steps = e.inputs, NewEquations()
    bound = e.primitive.bound(spec_in(x).dtype)
    steps.apply(
        e.primitive, steps.apply(where_p, there, x, spec_in(x).dtype.type(bound)), True, **e.static
    )
    return steps.ending(e)


def length(e: Equation) -> list[Equation]:
    (x,), steps = e.inputs, NewEquations()
    square = squared_size(steps, x)
    total = steps.apply(sum_p, square, axis=e.static["axis"], dtype=None, keepdims=False)
    steps.apply(sqrt, total)
    return steps.ending(e)


def squared_size(steps: NewEquations, x: Any) -> Any:
    """x squared; of complex numbers their size."""
    if spec_in(x).dtype.kind != "c":
        return steps.apply(multiply, x, x)
    re, im = [steps.apply(part, x) for part in (real_p, imag_p)]
    return steps.apply(add, steps.apply(multiply, re, re), steps.apply(multiply, im, im))


def variance(e: Equation) -> list[Equation]:
    (x,), axis = e.inputs, e.static["axis"]
    spec, steps = spec_in(x), NewEquations()
    freedom = max(prod([spec.shape[i] for i in axis]) - e.static["correction"], 0)
    mean = steps.apply(mean_p, x, axis=axis, dtype=None, keepdims=True)
    away = steps.apply(subtract, x, mean)
    square = squared_size(steps, away)
    total = steps.apply(sum_p, square, axis=axis, dtype=None, keepdims=e.static["keepdims"])
    steps.apply(divide, total, e.outputs[0].spec.dtype.type(freedom))
    return steps.ending(e)


def differences(e: Equation) -> list[Equation]:
    (x,), before, steps = e.inputs, (slice(None),) * e.static["axis"], NewEquations()
    later = steps.apply(getitem_p, x, key=(*before, slice(1, None, None)))
    earlier = steps.apply(getitem_p, x, key=(*before, slice(None, -1, None)))
    steps.apply(subtract, later, earlier)
    return steps.ending(e)


def crossed(e: Equation) -> list[Equation]:
    steps, parts = NewEquations(), []
    x, y = [[steps.apply(getitem_p, x, key=(*whole(x), i)) for i in range(3)] for x in e.inputs]
    for i, j in ((1, 2), (2, 0), (0, 1)):
        first, second = steps.apply(multiply, x[i], y[j]), steps.apply(multiply, x[j], y[i])
        parts.append(steps.apply(subtract, first, second))
    steps.apply(stack_p, *parts, axis=len(e.outputs[0].spec.shape) - 1)
    return steps.ending(e)


def clipped(e: Equation) -> list[Equation]:
    (x,), steps = e.inputs, NewEquations()
    raised = steps.apply(maximum, e.static["low"], x)
    steps.apply(minimum, e.static["high"], raised)
    return steps.ending(e)


def spread(e: Equation) -> list[Equation]:
    (x,), static, steps = e.inputs, e.static, NewEquations()
    apart = steps.apply(reshape_p, x, shape=static["apart"])
    whole = steps.apply(broadcast_p, apart, shape=static["whole"])
    steps.apply(reshape_p, whole, shape=static["shape"])
    return steps.ending(e)


def whole(x: Any) -> tuple[slice, ...]:
    """The key of all axes but the last."""
    return (slice(None),) * (len(spec_in(x).shape) - 1)


def of_one_dtype(e: Equation, x: Spec, out: Spec) -> bool:
    return out.dtype != bool and all(spec_in(y).dtype == out.dtype for y in e.inputs)


def of_floats(e: Equation, x: Spec, out: Spec) -> bool:
    return x.dtype.type(0).real.dtype == out.dtype and out.dtype.kind == "f"


def is_euclidean(e: Equation, x: Spec, out: Spec) -> bool:
    return e.static["ord"] == 2 and x.dtype.kind in "fc"


def has_order(e: Equation, x: Spec, out: Spec) -> bool:
    return x.dtype.kind != "c"


def is_searched_by_blocks(e: Equation, x: Spec) -> bool:
    """Whether argmax or argmin searches its rows block by block; see `lower.extreme_places`."""
    last = e.static["axis"] == len(x.shape) - 1
    return last and x.shape[-1] >= LONG_ROW and x.dtype.kind in "fiu" and x.dtype in TYPES


def is_reduced(e: Equation, x: Spec, out: Spec) -> bool:
    return has_order(e, x, out) and not is_searched_by_blocks(e, x)


def is_masked(e: Equation, x: Spec, out: Spec) -> bool:
    return has_order(e, x, out) and isinstance(e.inputs[1], Variable)


def always(e: Equation, x: Spec, out: Spec) -> bool:
    return True


# How each is taken apart, and where.
APART: dict[Any, tuple[Any, Any]] = {
    argmax_p: (position, is_reduced),
    argmin_p: (position, is_reduced),
    max_p: (unmasked, is_masked),
    min_p: (unmasked, is_masked),
    var_p: (variance, of_floats),
    norm_p: (length, is_euclidean),
    diff_p: (differences, of_one_dtype),
    cross_p: (crossed, of_one_dtype),
    clip_p: (clipped, has_order),
    repeated_p: (spread, always),
}
