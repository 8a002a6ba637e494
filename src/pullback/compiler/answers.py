"""A pass: places of extreme elements, variances, norms, by loops that there are already."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..core.graph import Equation, Graph, Variable
from ..primitives.elementwise import (
    bitwise_or,
    divide,
    equal,
    isnan,
    multiply,
    sqrt,
    subtract,
)
from ..primitives.norms import norm_p
from ..primitives.queries import argmax_p, argmin_p
from ..primitives.reductions import max_p, mean_p, min_p, sum_p
from ..primitives.selecting import where_p
from ..primitives.statistics import var_p
from .emit import TYPES
from .rewriting import Steps, rewritten, spec_in

__all__ = ["answered"]


def answered(graph: Graph) -> Graph:
    """The graph with argmax, argmin, var and Euclidean norms taken apart."""

    def rule(e: Equation) -> Any:
        if e.primitive not in (argmax_p, argmin_p, var_p, norm_p):
            return e
        x = spec_in(e.inputs[0])
        if x.dtype not in TYPES or not x.size or not isinstance(e.inputs[0], Variable):
            return e
        if e.primitive is norm_p:
            euclidean = e.static["ord"] == 2 and x.dtype.kind == "f"
            return length(e) if euclidean else e
        if e.primitive is not var_p:
            return position(e)
        return variance(e) if x.dtype == e.outputs[0].spec.dtype else e

    return rewritten(graph, rule)


def position(e: Equation) -> list[Equation]:
    """The first place of what is equal to the extreme element, or of a NaN, which is extreme."""
    (x,), (axis, keepdims) = e.inputs, (e.static["axis"], e.static["keepdims"])
    steps, n = Steps(), spec_in(x).shape[e.static["axis"]]
    extreme = max_p if e.primitive is argmax_p else min_p
    out = steps.apply(extreme, x, True, axis=(axis,), keepdims=True, bounded=False)
    found = steps.apply(equal, x, out)
    if spec_in(x).dtype.kind == "f":
        found = steps.apply(bitwise_or, found, steps.apply(isnan, x))
    places = np.arange(n).reshape((n,) + (1,) * (len(spec_in(x).shape) - axis - 1))
    place = steps.apply(where_p, found, places, np.int64(n))
    steps.apply(min_p, place, True, axis=(axis,), keepdims=keepdims, bounded=False)
    return steps.ending(e)


def length(e: Equation) -> list[Equation]:
    (x,), steps = e.inputs, Steps()
    square = steps.apply(multiply, x, x)
    total = steps.apply(sum_p, square, axis=e.static["axis"], dtype=None, keepdims=False)
    steps.apply(sqrt, total)
    return steps.ending(e)


def variance(e: Equation) -> list[Equation]:
    (x,), axis = e.inputs, e.static["axis"]
    spec, steps = spec_in(x), Steps()
    freedom = max(prod([spec.shape[i] for i in axis]) - e.static["correction"], 0)
    mean = steps.apply(mean_p, x, axis=axis, dtype=None, keepdims=True)
    away = steps.apply(subtract, x, mean)
    square = steps.apply(multiply, away, away)
    total = steps.apply(sum_p, square, axis=axis, dtype=None, keepdims=e.static["keepdims"])
    steps.apply(divide, total, spec.dtype.type(freedom))
    return steps.ending(e)
