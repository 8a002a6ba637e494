"""Passes: from a Graph to a Graph that computes the same with fewer operations.

    functional   assignments make a new array; nothing is written in place any more
    folded       operations on constants alone are done once, at compile time
    with_real_spectra  filters of real arrays use real transforms
    contracted   sums of products become loops and matrix products (see `contractions`)
    partly_used  decompositions skip what only derivatives need; indexing by argsort becomes sort
    with_composed_values  operations composed of others are replaced by these
    answered     positions of extreme elements, variances and norms become loops (see `decompose`)
    separated    the two results of slogdet are computed separately (see `small_systems`)
    simplified   operations that return their operand unchanged, by IEEE 754, are left out
    shared       equal operations on equal operands are done once (see `moved` for equal elements)
    factored     systems with one matrix have its factors made once (see `factors`)

Results keep value, dtype, shape and kind: a NumPy scalar stays one.
"""

from __future__ import annotations

from functools import cached_property
from hashlib import blake2b
from operator import is_not
from typing import Any

import numpy as np

from ...core.graph import Equation, Graph, Variable
from ...core.kinds import Elementwise
from ...core.primitive import Primitive
from ...primitives.assignment import setitem_p
from ...primitives.creation import adopt_p, like_p
from ...primitives.elementwise import logical_and, logical_not, logical_or
from ...primitives.indexing import getitem_p, scatter_p
from ...primitives.inner_loops import Assumed, Ingredient
from ...primitives.joining import concatenate_p
from ...primitives.keys import count
from ...primitives.selecting import where_p
from ...primitives.shapes import astype_p, broadcast_p, reshape_p, transpose_p
from ..llvm.dtypes import TYPES
from .composed_values import with_composed_values
from .contractions import contracted
from .decompose import answered
from .factors import factored
from .moved import Moved
from .partly_used import partly_used
from .real_spectra import with_real_spectra
from .rewriting import has, opened, rewritten, spec_in
from .small_systems import separated
from .store_forwarding import Writes

FOLDED = 1 << 20  # bytes of a result up to which it is kept as a constant


def optimised(graph: Graph) -> Graph:
    """All passes."""
    graph = with_real_spectra(folded(functional(graph)).pruned())
    apart = decomposed(graph)
    graph = graph if apart is graph else folded(apart)
    while True:
        before = len(graph.equations)
        graph = shared(simplified(graph)).pruned()
        if len(graph.equations) >= 0.98 * before:
            return factored(graph)


def decomposed(graph: Graph) -> Graph:
    """The graph with operations that are done by others replaced by these; itself without any."""
    return separated(answered(contracted(with_composed_values(partly_used(graph)))))


def functional(graph: Graph) -> Graph:
    """Assignments that were recorded as in place make a new array: operands are never changed.

    Without this, sharing two equal arrays of zeros would let one's assignments reach the other.
    One to all of a part is one to the array at that part.
    """

    def rule(e: Equation) -> Equation:
        if e.primitive is not setitem_p:
            return e
        path: Any = e.static["path"]
        key = e.static["key"]
        if len(path) == 1 and path[0][0] is getitem_p and key == (Ellipsis,):
            path, key = (), path[0][1]["key"]
        elif not e.static["donate"]:
            return e
        static = {"path": path, "key": key, "donate": False}
        return Equation(e.primitive, e.inputs, e.outputs, static)

    return rewritten(graph, rule) if has(graph, setitem_p) else graph


def folded(graph: Graph) -> Graph:
    """Operations on constants alone are done now; their warnings belong to each run and are lost.

    One that raises, or whose result is large, stays.
    """

    def rule(e: Equation) -> Any:
        moving = all(type(x) is Variable for x in e.inputs)
        if moving and type(e.primitive) is Elementwise and e.outputs[0].spec.size:
            return e  # as most are
        inputs = tuple([x if type(x) is Variable else compact(x) for x in e.inputs])
        if any(map(is_not, inputs, e.inputs)):
            e = Equation(e.primitive, inputs, e.outputs, e.static)
        if not any(out.spec.size for out in e.outputs) and is_held(e):
            return tuple([np.zeros(out.spec.shape, out.spec.dtype) for out in e.outputs])
        if e.primitive is concatenate_p and e.outputs[0].spec.size:
            kept = tuple([x for x in inputs if spec_in(x).size])
            # One without elements may still decide the dtype of the result.
            same = np.result_type(*[spec_in(x).dtype for x in kept]) == e.outputs[0].spec.dtype
            if len(kept) < len(inputs) and same:
                inputs, e = kept, Equation(e.primitive, kept, e.outputs, e.static)
        if e.primitive is scatter_p:
            e, inputs = without_empty_parts(e)
        if e.primitive is adopt_p and not isinstance(inputs[1], Variable):
            return (compact(np.array(opened(inputs[1]))),)
        if e.primitive is like_p and e.static["make"] in NUMBERS:
            spec = e.outputs[0].spec
            return (np.broadcast_to(NUMBERS[e.static["make"]](spec), spec.shape),)
        if any(isinstance(x, Variable) for x in inputs) or not declared(e.primitive):
            return e
        if e.primitive is broadcast_p:
            return (np.broadcast_to(opened(inputs[0]), e.outputs[0].spec.shape),)
        if sum([out.spec.size * out.spec.dtype.itemsize for out in e.outputs]) > FOLDED:
            return e
        try:
            with np.errstate(all="ignore"):
                out = e.primitive(*[opened(x) for x in e.inputs], **e.static)
        except Exception:
            return e
        return tuple([compact(x) for x in (out if e.primitive.n_out is not None else (out,))])

    return rewritten(graph, rule)


def without_empty_parts(e: Equation) -> tuple[Equation, tuple[Any, ...]]:
    """A scatter without parts that have no elements; one at least stays. And its operands."""
    keys = e.static["keys"]
    parts, arrays = e.inputs[: len(keys)], list(e.inputs[len(keys) :])
    if all(spec_in(x).size for x in parts) or not any(spec_in(x).size for x in parts):
        return e, e.inputs
    kept, places = [], list[Any]()
    for key, part in zip(keys, parts, strict=True):
        own, arrays = arrays[: count(key)], arrays[count(key) :]
        if spec_in(part).size:
            kept.append((key, part))
            places += own
    inputs = (*[part for _, part in kept], *places)
    static = {**e.static, "keys": tuple([key for key, _ in kept])}
    return Equation(e.primitive, inputs, e.outputs, static), inputs


def is_held(e: Equation) -> bool:
    """Whether an operation is declared, and its results are of dtypes that machine code has."""
    return declared(e.primitive) and all(out.spec.dtype in TYPES for out in e.outputs)


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
    everything = Primitive.everything
    if len(DECLARED) != len(everything) or id(everything[-1]) not in DECLARED:
        DECLARED.clear()
        DECLARED.update(map(id, everything))
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
    if e.primitive is getitem_p:
        return "array" if Ellipsis in e.static["key"] else "scalar"
    kind = e.primitive.without_axes
    if kind == "operand":
        x = e.inputs[0]
        if isinstance(x, Variable):
            return found[x] if not x.spec.shape else "array"
        return "array" if isinstance(opened(x), np.ndarray) else "scalar"
    return kind or out


def is_number(x: Any, *values: float) -> bool:
    """Whether an operand is a constant real number among some, the sign of zero too."""
    if isinstance(x, np.ndarray) and x.size and not any(x.strides):
        x = x[(0,) * x.ndim]  # broadcast
    if isinstance(x, Variable) or not isinstance(x, (int, float, np.generic)):
        return False
    if isinstance(x, np.generic) and x.dtype.kind not in "biuf":
        return False
    return any(x == v and np.signbit(x) == np.signbit(v) for v in values)


def is_truth(x: Any, value: bool) -> bool:
    """Whether an operand is a constant truth value, or an array of one."""
    x = np.asarray(x) if isinstance(x, np.bool) else x
    if not isinstance(x, np.ndarray) or x.dtype != bool or not x.size or any(x.strides):
        return False
    return bool(x[(0,) * x.ndim]) is value


def given_back(e: Equation) -> Any:
    """The operand that an operation gives back whatever it holds, None if there is none."""
    primitive, xs = e.primitive, e.inputs
    if primitive.gives_back:
        return xs[0]
    if e.outputs[0].spec.dtype.kind != "c":  # 1 + 0j turns inf into NaN, and some -0.0 into 0.0
        for x, neutral, other in zip(xs, primitive.neutral, xs[::-1], strict=False):
            if neutral is not None and is_number(x, neutral):
                return other
    if primitive is where_p and (is_truth(xs[0], True) or is_truth(xs[0], False)):
        return xs[1] if is_truth(xs[0], True) else xs[2]
    if isinstance(primitive, Assumed):
        return xs[1] if is_truth(xs[0], True) else None
    if primitive is getitem_p and len(xs) == 1:
        return xs[0] if all(k is Ellipsis or k == slice(None) for k in e.static["key"]) else None
    if primitive is setitem_p and len(xs) == 2 and not e.static["path"] and e.outputs[0].spec.shape:
        return xs[1] if all(k is Ellipsis or k == slice(None) for k in e.static["key"]) else None
    if primitive is transpose_p:
        return xs[0] if e.static["axes"] == tuple(range(len(e.static["axes"]))) else None
    return xs[0] if primitive in (reshape_p, broadcast_p, astype_p) else None


def simplified(graph: Graph) -> Graph:
    """x * 1, x / 1, x - 0, --x, a view of a view, a rearrangement that changes nothing.

    x + 0 stays: it turns -0.0 into 0.0. So does x * 0, which may be NaN.
    """
    return rewritten(graph, Simplifier(graph).rule)


class Simplifier:
    """What is known of the operands, as far as a graph has been gone through."""

    def __init__(self, graph: Graph) -> None:
        self.sources: dict[Variable, Equation] = {}
        self.writes, self.kind = Writes(), kinds(graph)

    def rule(self, e: Equation) -> Any:
        if len(e.outputs) != 1 or not e.inputs:
            return e
        x = self.given_back(e)
        if isinstance(x, Equation):
            return x
        if x is not None:
            return (x,)
        e = self.merged(e)
        self.sources[e.outputs[0]] = e
        self.writes.note(e)
        return e

    def source(self, x: Any, primitive: Any) -> Any:
        """The operand of the equation of some primitive that computed x."""
        e = self.sources.get(x) if isinstance(x, Variable) else None
        return e.inputs[0] if e is not None and e.primitive is primitive else None

    def given_back(self, e: Equation) -> Any:
        """What has the result of an equation already, or a simpler equation; else None."""
        (out,), primitive, spec = e.outputs, e.primitive, e.outputs[0].spec
        if primitive is getitem_p and len(e.inputs) == 1:
            found = self.writes.read(e, self.sources, self.kind)
            if found is not None:
                return found
        if primitive is logical_or or primitive is logical_and:
            return self.chosen_truth(e)
        x = given_back(e)
        if x is None and primitive.involution:
            x = self.source(e.inputs[0], primitive)
        if isinstance(x, Variable) and x.spec == spec:
            return x if spec.shape or self.kind.get(x) == self.kind.get(out) else None
        return None

    def chosen_truth(self, e: Equation) -> Any:
        """x or x, x or True, x or not x: masks of cotangents are full of them."""
        (out,), (x, y) = e.outputs, e.inputs
        wins = e.primitive is logical_or
        if not out.spec.shape or any(
            s.dtype != bool or s.shape != out.spec.shape for s in specs(e)
        ):
            return None
        if x is y:
            return x
        opposite = self.source(x, logical_not) is y or self.source(y, logical_not) is x
        if is_truth(x, wins) or is_truth(y, wins) or opposite:
            return np.broadcast_to(np.bool_(wins), out.spec.shape)
        for a, b in ((x, y), (y, x)):
            if is_truth(a, not wins) and isinstance(b, Variable):
                return b
        return None

    def merged(self, e: Equation) -> Equation:
        """A view of a view as one."""
        x = e.inputs[0]
        inner = self.source(x, e.primitive)
        if inner is None or not isinstance(inner, Variable) or not e.outputs[0].spec.shape:
            return e
        if e.primitive is reshape_p or e.primitive is broadcast_p:
            return Equation(e.primitive, (inner,), e.outputs, e.static)
        if e.primitive is transpose_p:
            first = self.sources[x].static["axes"]
            axes = tuple([first[axis] for axis in e.static["axes"]])
            return Equation(e.primitive, (inner,), e.outputs, {"axes": axes})
        return e


def forwarded(graph: Graph) -> Graph:
    """What is read of an array where it was just assigned to is what was assigned."""
    sources: dict[Variable, Equation] = {}
    writes, kind = Writes(), kinds(graph)

    def rule(e: Equation) -> Any:
        if e.primitive is getitem_p and len(e.inputs) == 1:
            found = writes.read(e, sources, kind)
            if found is not None and not isinstance(found, Equation):
                return (found,)
            e = e if found is None else found
        writes.note(e)
        sources.update(dict.fromkeys(e.outputs, e))
        return e

    return rewritten(functional(graph), rule)


def shared(graph: Graph) -> Graph:
    """Equal operations on equal operands are done once, and equal elements are moved once."""
    return rewritten(graph, Sharing(graph).rule)


class Sharing:
    """What has been computed, as far as a graph has been gone through."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.seen: dict[Any, tuple[Variable, ...]] = {}
        self.moved = Moved()

    @cached_property
    def kind(self) -> dict[Variable, Any]:
        return kinds(self.graph)

    def rule(self, e: Equation) -> Any:
        is_declared = declared(e.primitive)
        if not is_declared and not isinstance(e.primitive, Ingredient):
            return e
        numbers = self.moved.follow(e) if is_declared else None
        if numbers is not None and (numbers.ndim or is_element(e)):
            return self.once(e, numbers)
        try:
            parts = [id(x) if type(x) is Variable else operand_key(x) for x in e.inputs]
            key = (id(e.primitive), frozen(e.static) if e.static else None, *parts)
            found = self.seen.get(key)
        except TypeError:
            return e
        if found is None:
            self.seen[key] = e.outputs
            return e
        return found

    def once(self, e: Equation, numbers: np.ndarray) -> Any:
        """An array of elements that were moved, made once; a single one is read at its source."""
        key = e.outputs[0].spec, numbers.tobytes()
        found = self.seen.get(key)
        if found is not None:
            return found
        if not numbers.ndim:
            source, at = self.moved.place(int(numbers))
            if source.spec.shape:
                e = Equation(getitem_p, (source,), e.outputs, {"key": at})
            elif self.kind.get(source) == "scalar":
                return (source,)
        self.seen[key] = e.outputs
        return e


def is_element(e: Equation) -> bool:
    """Whether an equation reads one element, as a scalar."""
    return e.primitive is getitem_p and Ellipsis not in e.static["key"]


def operand_key(x: Any) -> Any:
    """What two operands have in common when they are equal, NaN and the sign of zero included."""
    if isinstance(x, Variable):
        return id(x)
    if isinstance(x, (np.ndarray, np.generic)):
        if isinstance(x, np.ndarray) and x.size and not any(x.strides):
            return "all", x.dtype, x.shape, x[(0,) * x.ndim].tobytes()
        if x.dtype.kind == "O" or x.nbytes > FOLDED:
            return id(x)
        content = x.tobytes()
        content = content if len(content) <= 4096 else blake2b(content).digest()
        return type(x), x.dtype, x.shape, content
    if isinstance(x, (bool, int, float, complex)):
        return type(x), repr(x)
    return id(x)


def frozen(x: Any) -> Any:
    """Static parameters in a hashable form, to be the key of a dict; numbers as operands are."""
    if isinstance(x, dict):
        return tuple([(key, frozen(value)) for key, value in sorted(x.items())])
    if isinstance(x, (tuple, list)):
        return type(x), *[frozen(part) for part in x]
    if type(x) is slice:
        return slice, frozen((x.start, x.stop, x.step))
    if isinstance(x, (np.ndarray, np.generic, float, complex)):
        return operand_key(x)
    hash(x)
    return type(x), x


def specs(e: Equation) -> list[Any]:
    return [spec_in(x) for x in e.inputs]
