"""Passes: from a Graph to a Graph that computes the same with fewer operations.

    functional   assignments make a new array; nothing is written in place any more
    folded       operations on constants alone are done once, now
    contracted   sums of products become loops and products of matrices (see `contractions`)
    answered     positions of extreme elements, variances and norms become loops (see `answers`)
    separated    the two results of slogdet are computed on their own (see `solving`)
    simplified   operations that give back their operand, exactly as IEEE has it, are left out
    shared       equal operations on equal operands are done once

Results keep value, dtype, shape and kind: a NumPy scalar stays one.
"""

from __future__ import annotations

import warnings
from operator import is_not
from typing import Any

import numpy as np

from ..core.graph import Equation, Graph, Variable
from ..core.primitive import Elementwise, Primitive
from ..primitives.elementwise import logical_not
from ..primitives.shapes import broadcast_p, reshape_p, transpose_p
from .answers import answered
from .contractions import contracted
from .rewriting import opened, rewritten, spec_in
from .solving import separated

__all__ = [
    "declared",
    "folded",
    "forwarded",
    "functional",
    "kinds",
    "opened",
    "optimised",
    "shared",
    "simplified",
]

FOLDED = 1 << 20  # bytes of a result up to which it is kept as a constant


def optimised(graph: Graph) -> Graph:
    """All passes."""
    graph = folded(separated(answered(contracted(folded(functional(graph))))))
    while True:
        before = len(graph.equations)
        graph = shared(simplified(graph)).pruned()
        if len(graph.equations) >= 0.98 * before:
            return graph


def functional(graph: Graph) -> Graph:
    """Assignments that were recorded as in place make a new array: operands are never changed.

    Without this, sharing two equal arrays of zeros would let one's assignments reach the other.
    """

    def rule(e: Equation) -> Equation:
        if e.static.get("donate"):
            return Equation(e.primitive, e.inputs, e.outputs, {**e.static, "donate": False})
        return e

    return rewritten(graph, rule)


def folded(graph: Graph) -> Graph:
    """Operations on constants alone are done now; their warnings belong to each run and are lost.

    One that raises, or whose result is large, stays.
    """

    def rule(e: Equation) -> Any:
        inputs = tuple([x if type(x) is Variable else compact(x) for x in e.inputs])
        if any(map(is_not, inputs, e.inputs)):
            e = Equation(e.primitive, inputs, e.outputs, e.static)
        if e.primitive.name == "adopt" and not isinstance(inputs[1], Variable):
            return (compact(np.array(opened(inputs[1]))),)
        if e.primitive.name == "like" and e.static["make"] in NUMBERS:
            spec = e.outputs[0].spec
            return (np.broadcast_to(NUMBERS[e.static["make"]](spec), spec.shape),)
        if any(isinstance(x, Variable) for x in inputs) or not declared(e.primitive):
            return e
        if e.primitive is broadcast_p:
            return (np.broadcast_to(opened(inputs[0]), e.outputs[0].spec.shape),)
        if sum([out.spec.size * out.spec.dtype.itemsize for out in e.outputs]) > FOLDED:
            return e
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                out = e.primitive(*[opened(x) for x in e.inputs], **e.static)
        except Exception:
            return e
        return tuple([compact(x) for x in (out if e.primitive.n_out is not None else (out,))])

    return rewritten(graph, rule)


# What `like` makes, as a number.
NUMBERS = {
    np.zeros_like: lambda spec: spec.dtype.type(0),
    np.ones_like: lambda spec: spec.dtype.type(1),
}


def compact(x: Any) -> Any:
    """A constant array of one number as that number, broadcast."""
    if not isinstance(opened(x), np.ndarray):
        return x
    a = opened(x)
    if a.size < 2 or a.dtype.kind not in "fiub" or not any(a.strides):
        return x
    first = a[(0,) * a.ndim]
    word = np.dtype(f"u{a.dtype.itemsize}") if a.dtype.itemsize <= 8 else None
    if word is None or a[(-1,) * a.ndim].tobytes() != first.tobytes():
        return x
    return np.broadcast_to(first, a.shape) if np.all(a.view(word) == first.view(word)) else x


DECLARED: set[int] = set()


def declared(primitive: Any) -> bool:
    """Whether a primitive is one of the library or of a user, and no single recorded call."""
    if len(DECLARED) != len(Primitive.everything):
        DECLARED.clear()
        DECLARED.update(map(id, Primitive.everything))
    return id(primitive) in DECLARED


def kinds(graph: Graph) -> dict[Variable, Any]:
    """Of each result without axes: "scalar", "array", or the variable whose kind it has.

    NumPy answers with a scalar in most places and with an array without axes in some. What is
    computed by a primitive not named here has the kind that comes out of it.
    """
    found: dict[Variable, Any] = {}
    for x in graph.inputs:
        found[x] = x if not x.spec.shape else "array"
    for e in graph.equations:
        for out in e.outputs:
            found[out] = "array" if out.spec.shape else kind_of(e, out, found)
    return found


def kind_of(e: Equation, out: Variable, found: dict[Variable, Any]) -> Any:
    name = e.primitive.name
    if isinstance(e.primitive, Elementwise) or name in SCALAR:
        return "scalar"
    if name in ("broadcast_to", "like", "adopt"):
        return "array"
    if name == "getitem":
        return "array" if Ellipsis in e.static["key"] else "scalar"
    if name in ("reshape", "transpose", "astype", "copy"):
        x = e.inputs[0]
        if isinstance(x, Variable):
            return found[x] if not x.spec.shape else "array"
        return "array" if isinstance(opened(x), np.ndarray) else "scalar"
    return out


SCALAR = frozenset(
    [
        "flip",
        "where",
        "sum",
        "mean",
        "max",
        "min",
        "any",
        "all",
        "matmul",
        "scatter",
        "prod",
        "scan",
        "while",
        "while_pull",
        "trips",
        "det",
        "sign of det",
        "log of det",
        "searchsorted",
    ]
)


def is_number(x: Any, *values: float) -> bool:
    """Whether an operand is a constant number without axes among some, the sign of zero too."""
    if isinstance(x, np.ndarray) and x.size and not any(x.strides):
        x = x[(0,) * x.ndim]  # broadcast
    if isinstance(x, Variable) or not isinstance(x, (int, float, np.generic)):
        return False
    return any(x == v and np.signbit(x) == np.signbit(v) for v in values)


def is_truth(x: Any, value: bool) -> bool:
    """Whether an operand is a constant array of one truth value."""
    if not isinstance(x, np.ndarray) or x.dtype != bool or not x.size or any(x.strides):
        return False
    return bool(x[(0,) * x.ndim]) is value


def simplified(graph: Graph) -> Graph:
    """x * 1, x / 1, x - 0, --x, a view of a view, a rearrangement that changes nothing.

    x + 0 stays: it turns -0.0 into 0.0. So does x * 0, which may be NaN.
    """
    sources: dict[Variable, Equation] = {}
    puts: dict[Variable, Any] = {}
    kind = kinds(graph)

    def source(x: Any, primitive: Any) -> Any:
        """The operand of the equation of some primitive that computed x."""
        e = sources.get(x) if isinstance(x, Variable) else None
        return e.inputs[0] if e is not None and e.primitive is primitive else None

    def gives_back(e: Equation) -> Any:
        (out,), name, spec = e.outputs, e.primitive.name, e.outputs[0].spec
        x, *rest = e.inputs
        match name:
            case "multiply" | "add" if is_number(x, 1 if name == "multiply" else -0.0):
                x, rest = rest[0], [x]
        match name:
            case "multiply" | "divide" | "power":
                same = is_number(rest[0], 1)
            case "subtract":
                same = is_number(rest[0], 0.0)
            case "add":
                same = is_number(rest[0], -0.0) and spec.dtype.kind != "i"
            case "negative":
                inner = source(x, e.primitive)
                x, same = (inner, True) if inner is not None else (x, False)
            case "positive" | "stopped" | "copy":
                same = True
            case "getitem" if len(e.inputs) == 1:
                found = written(e, sources, puts, kind)
                if found is not None:
                    return found
                same = all(k is Ellipsis or k == slice(None) for k in e.static["key"])
            case "logical_or" | "logical_and":
                return chosen_truth(e, source)
            case "logical_not":
                inner = source(x, e.primitive)
                x, same = (inner, True) if inner is not None else (x, False)
            case "where" if is_truth(x, True) or is_truth(x, False):
                x, same = rest[0] if is_truth(x, True) else rest[1], True
            case "reshape" | "transpose" | "broadcast_to" | "astype":
                identity = tuple(range(len(spec.shape)))
                same = e.static.get("axes", identity) == identity
            case _:
                same = False
        if same and isinstance(x, Variable) and x.spec == spec:
            return x if spec.shape or kind.get(x) == kind.get(out) else None
        return None

    def chosen_truth(e: Equation, source: Any) -> Any:
        """x or x, x or True, x or not x: masks of cotangents are full of them."""
        (out,), (x, y) = e.outputs, e.inputs
        wins = e.primitive.name == "logical_or"
        if not out.spec.shape or any(
            s.dtype != bool or s.shape != out.spec.shape for s in specs(e)
        ):
            return None
        if x is y:
            return x
        negation = logical_not
        if (
            is_truth(x, wins)
            or is_truth(y, wins)
            or source(x, negation) is y
            or (source(y, negation) is x)
        ):
            return np.broadcast_to(np.bool_(wins), out.spec.shape)
        for a, b in ((x, y), (y, x)):
            if is_truth(a, not wins) and isinstance(b, Variable):
                return b
        return None

    def rule(e: Equation) -> Any:
        if len(e.outputs) == 1 and e.inputs:
            x = gives_back(e)
            if isinstance(x, Equation):
                return x
            if x is not None:
                return (x,)
            e = merged(e)
            sources[e.outputs[0]] = e
            put = numbers_put(e)
            if put is not None:
                puts[e.outputs[0]] = put
        return e

    def merged(e: Equation) -> Equation:
        x = e.inputs[0]
        inner = source(x, e.primitive)
        if inner is None or not isinstance(inner, Variable) or not e.outputs[0].spec.shape:
            return e
        if e.primitive is reshape_p or e.primitive is broadcast_p:
            return Equation(e.primitive, (inner,), e.outputs, e.static)
        if e.primitive is transpose_p:
            first = sources[x].static["axes"]
            axes = tuple([first[axis] for axis in e.static["axes"]])
            return Equation(e.primitive, (inner,), e.outputs, {"axes": axes})
        return e

    return rewritten(graph, rule)


def forwarded(graph: Graph) -> Graph:
    """What is read of an array where it was just assigned to is what was assigned."""
    sources: dict[Variable, Equation] = {}
    puts: dict[Variable, Any] = {}
    kind = kinds(graph)

    def rule(e: Equation) -> Any:
        if e.primitive.name == "getitem" and len(e.inputs) == 1:
            found = written(e, sources, puts, kind)
            if found is not None and not isinstance(found, Equation):
                return (found,)
            e = e if found is None else found
        put = numbers_put(e)
        if put is not None:
            puts[e.outputs[0]] = put
        sources.update(dict.fromkeys(e.outputs, e))
        return e

    return rewritten(functional(graph), rule)


WALK = 1000  # assignments that are looked through for what an element was


def numbers_put(e: Equation) -> tuple[Any, tuple[int, ...], Any] | None:
    """(x, i, v) of an assignment x[i] = v to one element, or to what integers pick."""
    if e.primitive.name != "setitem" or len(e.inputs) != 2 or e.static["path"]:
        return None
    x, key = e.inputs[0], e.static["key"]
    key = key if type(key) is tuple else (key,)
    if not isinstance(x, Variable) or set(map(type, key)) - {int}:
        return None
    return x, tuple([k % n for k, n in zip(key, x.spec.shape, strict=False)]), e.inputs[1]


def written(
    e: Equation, sources: dict[Variable, Equation], puts: dict[Variable, Any], kind: Any
) -> Any:
    """What x[i] is where x[i] = v was assigned, or where x was stacked from parts.

    So a loop that fills an array and reads what it wrote does not wait for the whole array, and
    nobody but the next assignment reads the one before.
    """
    (x,), (out,), key = e.inputs, e.outputs, e.static["key"]
    if not isinstance(x, Variable) or not key or set(map(type, key)) - {int}:
        return None
    at = tuple([k % n for k, n in zip(key, x.spec.shape, strict=False)])
    last = sources.get(x)
    if last is not None and last.primitive.name == "stack" and len(at) == 1:
        return None if last.static["axis"] else value_of(last.inputs[at[0]], out, kind)
    for _ in range(WALK):
        put = puts.get(x)
        if put is None:
            break
        before, other, v = put
        if at[: len(other)] == other[: len(at)]:
            return value_of(v, out, kind) if len(other) == len(at) else None
        x = before
    if x is e.inputs[0]:
        return None
    return Equation(e.primitive, (x,), e.outputs, {"key": at})


def value_of(v: Any, out: Variable, kind: Any) -> Any:
    """What was assigned, where it is of the spec and kind of what is read."""
    shape = out.spec.shape
    if isinstance(v, Variable):
        return v if v.spec == out.spec and (shape or kind.get(v) == "scalar") else None
    v = opened(v)
    if shape:
        return v if isinstance(v, np.ndarray) and spec_in(v) == out.spec else None
    return out.spec.dtype.type(v) if isinstance(v, (bool, int, float, np.generic)) else None


def shared(graph: Graph) -> Graph:
    """Equal operations on equal operands are done once."""
    seen: dict[Any, tuple[Variable, ...]] = {}

    def rule(e: Equation) -> Any:
        if not declared(e.primitive):
            return e
        try:
            parts = [id(x) if type(x) is Variable else operand_key(x) for x in e.inputs]
            key = (id(e.primitive), frozen(e.static) if e.static else None, *parts)
            found = seen.get(key)
        except TypeError:
            return e
        if found is None:
            seen[key] = e.outputs
            return e
        return found

    return rewritten(graph, rule)


def operand_key(x: Any) -> Any:
    """What two operands have in common when they are equal, NaN and the sign of zero included."""
    if isinstance(x, Variable):
        return id(x)
    if isinstance(x, (np.ndarray, np.generic)):
        if isinstance(x, np.ndarray) and x.size and not any(x.strides):
            return "all", x.dtype, x.shape, x[(0,) * x.ndim].tobytes()
        if x.dtype.kind == "O" or x.nbytes > 4096:
            return id(x)
        return type(x), x.dtype, x.shape, x.tobytes()
    if isinstance(x, (bool, int, float, complex)):
        return type(x), repr(x)
    return id(x)


def frozen(x: Any) -> Any:
    """Static parameters as what can be a key of a dict."""
    if isinstance(x, dict):
        return tuple([(key, frozen(value)) for key, value in sorted(x.items())])
    if type(x) in (tuple, list):
        return type(x), *[frozen(part) for part in x]
    if type(x) is slice:
        return slice, frozen((x.start, x.stop, x.step))
    if isinstance(x, np.ndarray):
        return operand_key(x)
    hash(x)
    return type(x), x


def specs(e: Equation) -> list[Any]:
    return [spec_in(x) for x in e.inputs]
