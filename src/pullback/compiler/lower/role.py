"""How each equation is lowered: elementwise code, a reduction, a view or a NumPy call.

A primitive's `lower` decides. It's the name of a method of Emit, or a function `lower(emit, *xs)`,
for elementwise operations; "view" for operations that move no memory, unless an array is a key;
"sum", "max" and similar names for reductions; or a name in STRUCTURAL for operations that the plan
handles itself. Without `lower`, NumPy is called.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from ...core.graph import Equation, Variable
from ...core.kinds import Elementwise
from ...core.spec import Spec
from ...primitives.selecting import where_p
from ..graph.factors import has_code
from ..graph.rewriting import opened, spec_in
from ..llvm.dtypes import TYPES
from ..llvm.pen import Pen
from .complex_numbers import ComplexEmit, over
from .convolve_search import convolves, searches
from .cumulative import recurs
from .elements import Value
from .emit import Emit, Refused
from .extreme_places import has_long_rows
from .geometry import VIEWS
from .inner_loops import served
from .scan import Rolled
from .sparse_rows import adds_rows
from .while_ import Waiting

# Kinds that the plan handles, and those that become a function of their own where they fit.
STRUCTURAL = frozenset({"view", "join", "scatter", "put", "matmul", "einsum", "cumulate"})
FITTING = {
    "solve": has_code,
    "convolve": convolves,
    "search": searches,
    "recur": recurs,
    "extreme_place": has_long_rows,
    "row_sums": adds_rows,
    "run_sums": adds_rows,
}
ROUNDED = frozenset({"matmul", "einsum", "solve", "convolve", "recur"})  # in another way than NumPy
REAL = frozenset({"matmul", "einsum", "cumulate"})  # for complex numbers NumPy computes them
# How partial results are combined, and the neutral element.
REDUCTIONS: dict[str, tuple[str, Any]] = {
    "sum": (
        "add",
        {"f": 0.0, "i": 0, "u": 0, "c": 0.0},
    ),  # NumPy's sums start from 0.0, so none is -0.0
    "mean": ("add", {"f": 0.0, "c": 0.0}),
    "prod": ("mul", {"f": 1.0, "i": 1, "u": 1}),  # 1 * x is not x for complex numbers
    "max": ("maximum", {"f": -np.inf, "i": None, "u": 0, "b": False}),
    "min": ("minimum", {"f": np.inf, "i": None, "u": None, "b": True}),
    "any": ("bitwise_or", {"b": False}),
    "all": ("bitwise_and", {"b": True}),
    "count_nonzero": ("add", {"i": 0}),
}


def is_exact(primitive: Any, dtype: Any = float) -> bool:
    """Whether its machine code gives the rules' results for a dtype, bit for bit."""
    lower = primitive.lower
    if getattr(primitive, "alone", False):
        return False  # LAPACK computes values alone in another way than rules, with vectors
    if lower in REDUCTIONS:
        return REDUCTIONS[lower][0] not in ("add", "mul")
    if not isinstance(lower, str) or lower in STRUCTURAL or lower in FITTING:
        return lower not in ROUNDED
    real = hasattr(Emit, lower) and np.dtype(dtype).kind != "c"
    return not getattr(getattr(Emit if real else ComplexEmit, lower, None), "ulp", 0)


def role(e: Equation) -> str:
    """How an equation is lowered: "element", "reduce", "call" for NumPy, or a kind of the plan's.

    "inner" is a call of one of NumPy's inner loops.
    """
    found = role_of_code(e)
    return "inner" if found == "call" and served(e) else found


def role_of_code(e: Equation) -> str:
    lower = e.primitive.lower
    if isinstance(e.primitive, (Rolled, Waiting)):
        return "loop" if e.primitive.fits else "call"
    if lower in (None, "inner") or e.primitive.n_out is not None:
        return "call"
    specs = [spec_in(x) for x in e.inputs]
    (out,) = e.outputs
    if not out.spec.size or not all(s.size for s in specs) or out.spec.dtype not in TYPES:
        return "call"
    if not all(s.dtype.isnative for s in (*specs, out.spec)):
        return "call"
    if lower in FITTING:
        return lower if FITTING[lower](e) else "call"
    if lower == "view":
        if e.primitive not in VIEWS or specs[0].dtype != out.spec.dtype:
            return "call"
        return "view" if len(e.inputs) == 1 else "gather"
    if lower in STRUCTURAL:
        if not all(s.dtype in TYPES for s in specs):
            return "call"
        return "call" if lower in REAL and out.spec.dtype.kind == "c" else lower
    try:
        if isinstance(lower, str) and lower in REDUCTIONS:
            return "reduce" if reducible(e, specs) else "call"
        key = trial(e, specs)
        if key not in TRIED:
            emitted(e, Emit(1, Pen(), set()), [Value.named("%x", s.dtype) for s in specs])
            TRIED.add(key)
    except (Refused, OverflowError, KeyError):
        return "call"
    return "element"


TRIED: set[Any] = set()  # known to have machine code


def trial(e: Equation, specs: list[Spec]) -> Any:
    """What determines whether an elementwise equation has machine code."""
    out = e.outputs[0].spec
    powers = out.dtype.kind == "c" and e.primitive.lower == "power"  # only some have machine code
    given = [
        (s.dtype, s.weak)
        if isinstance(x, Variable)
        else (s.dtype, s.weak, (powers or s.weak is int) and number(x))
        for x, s in zip(e.inputs, specs, strict=True)
    ]
    return e.primitive, out.dtype, powers and not out.shape, *given


def reducible(e: Equation, specs: list[Spec]) -> bool:
    if len(e.inputs) > 1 and opened(e.inputs[1]) is not True:
        return False
    if specs[0].dtype not in TYPES:
        return False
    identity(e)
    wide = accumulator(e)
    emit = Emit(1, Pen(), set())
    emit.cast(Value.named("%x", specs[0].dtype), wide)
    return True


def accumulator(e: Equation) -> np.dtype:
    """The dtype in which a reduction accumulates: its result's."""
    return e.outputs[0].spec.dtype


def identity(e: Equation) -> Any:
    dtype = accumulator(e)
    found = REDUCTIONS[e.primitive.lower][1]
    if dtype.kind not in found:
        raise Refused(str(e.primitive))
    neutral = found[dtype.kind]
    if neutral is None:
        limits = np.iinfo(dtype)
        neutral = limits.min if e.primitive.lower == "max" else limits.max
    return neutral


def loop_dtypes(e: Equation) -> list[np.dtype]:
    """The dtypes in which NumPy computes: each operand's and the result's."""
    specs, primitive = [spec_in(x) for x in e.inputs], e.primitive
    out = e.outputs[0].spec.dtype
    if primitive is where_p:
        return [specs[0].dtype, out, out, out]
    if isinstance(primitive, Elementwise) and isinstance(primitive.ufunc, np.ufunc):
        given = [s.weak or s.dtype for s in specs]
        return list(resolved_dtypes(primitive.ufunc, *given))
    real = out.kind != "c"  # as of the real part of a complex number
    strong = [s.weak is None or (real and s.dtype.kind == "c") for s in specs]
    return [s.dtype if own else out for s, own in zip(specs, strong, strict=True)] + [out]


@lru_cache(4096, typed=True)
def resolved_dtypes(ufunc: np.ufunc, *given: Any) -> tuple[np.dtype, ...]:
    """The dtypes in which a ufunc computes, resolved as NumPy does."""
    return ufunc.resolve_dtypes((*given, None))


def emitted(e: Equation, emit: Emit, xs: list[Value]) -> Value:
    """Emit an elementwise equation for its loaded operands; return the result."""
    lower = e.primitive.lower
    *dtypes, out = loop_dtypes(e)
    if lower == "cast":
        return emit.cast(xs[0], e.outputs[0].spec.dtype)
    if e.static and not isinstance(lower, str):
        raise Refused("static parameters")
    numbers = [None if isinstance(x, Variable) else number(x) for x in e.inputs]
    operands = []
    for x, n, dtype in zip(xs, numbers, dtypes, strict=True):
        if dtype not in TYPES:
            raise Refused(str(dtype))
        if n is None:
            operands.append(emit.cast(x, dtype))
            continue
        cast = np.asarray(n).astype(dtype) if hasattr(n, "dtype") else np.asarray(n, dtype)
        operands.append(emit.constant(cast[()], dtype))
    if not isinstance(lower, str):
        return lower(emit, *operands)
    single = not e.outputs[0].spec.shape
    facade = over(emit, *dtypes, out, fused=not single)
    method = getattr(facade, lower, None)
    if method is None or any(dtype.kind not in method.kinds for dtype in dtypes):
        raise Refused(f"{lower} of {dtypes}")
    if lower == "power" and numbers[1] is not None:
        short = facade.power_of(operands[0], numbers[1])
        if short is not None:
            return short
    result = method(*operands)
    return emit.cast(result, out) if result.dtype != out else result


def number(x: Any) -> Any:
    """The number that a constant operand consists of; None for other operands."""
    x = opened(x)
    if not isinstance(x, np.ndarray):
        return x if isinstance(x, (bool, int, float, complex, np.generic)) else None
    if x.size == 1 or (x.size and not any(x.strides)):
        return x[(0,) * x.ndim]
    return None


def given(x: Any, emit: Emit) -> Value:
    """A constant operand of one number. `emitted` reads a weak one itself, which may be huge."""
    dtype = spec_in(x).dtype
    return emit.constant(number(x), dtype) if dtype in TYPES else Value("poison", dtype)


def reduced_count(e: Equation) -> int:
    shape = spec_in(e.inputs[0]).shape
    return prod([shape[axis] for axis in e.static["axis"]])
