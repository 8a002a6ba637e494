"""Verdicts: whether a rehearsal did what the function itself then did.

The function runs in Python after its rehearsal. If the two differ, the recording is dropped. If
the result is an object that existed before, or shares memory with one, then so does the result of a
replay.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...core.array import Array, is_number
from ...core.graph import Graph, Variable
from ...core.layout import is_writable
from ...core.scalars import is_python
from ...core.spec import hardened
from ...core.storage import current, root_of
from ...core.trace import CONSTANT, running
from ...core.tree import flatten
from ...primitives.indexing import getitem_p
from ...transforms.batch import BatchTrace
from ..facts.state import State
from .own_code import raising_beside
from .recording import Recording, Source, containers_in, is_writable_array, layout_of

NEGLIGIBLE = 2.0**-100  # of the largest result
NUMBERS = frozenset([float, np.float64])
DIGITS = {2: 1e-2, 4: 1e-4, 8: 1e-8}  # by bytes of a real number


def verdict(
    recording: Recording, result: Any, arrays: list[np.ndarray], passed: Any, state: State
) -> str | None:
    """Why a recording isn't valid for the function, or None; notes which results are shared.

    Args:
        result: what the function returned when it ran in Python.
        arrays: the arrays among its arguments, which it may have written into.
        passed: all arguments.
    """
    leaves, structure = flatten(result)
    if structure != recording.structure or len(leaves) != len(recording.values):
        return "recording returned a different result"
    traced = running() is not None or any(type(x) is Array for x in flatten(passed)[0])
    bound = rounding_beside(leaves)
    for k, (ours, leaf) in enumerate(zip(recording.values, leaves, strict=True)):
        if type(leaf) is Array and leaf.within is CONSTANT and type(leaf.payload) is not Array:
            recording.kinds[k], leaf = Array, leaf.payload
        if traced and recording.kinds[k] is float and not is_python(leaf):
            recording.kinds[k] = np.generic
        leaf = example(leaf) if traced else leaf
        single = isinstance(ours, (np.ndarray, np.generic)) and ours.shape == ()
        if (
            single
            and isinstance(recording.outputs[k], Variable)
            and recording.kinds[k] is not Array
        ):
            # A number or an array without axes, as the function itself gives it.
            if type(leaf) is np.ndarray:
                recording.kinds[k], ours = np.ndarray, np.asarray(ours)
            elif isinstance(leaf, np.generic):
                recording.kinds[k], ours = np.generic, np.asarray(ours)[()]
        if type(ours) is type(leaf) in NUMBERS and abs(ours) <= bound >= abs(leaf):
            continue
        if not (same_value if traced else alike)(ours, leaf):
            return "recording returned a different result"
    if traced:  # in a transformation nothing is written; see `note_identity`
        return None
    for ours, x in zip(recording.final, arrays, strict=False):
        if not alike(ours, x):
            return "recording wrote something else into an argument"
    if any(w != is_writable_array(x) for w, x in zip(recording.writable, arrays, strict=False)):
        return "it sets flags of an argument"
    written = [arrays[i] for i in recording.written]
    if overlap(state.arrays, written):
        return "it writes into an argument that it also reads by another name"
    mine = [id(x) for x in containers_in(result) if type(x) is not tuple]
    others = {id(x) for x in [*containers_in(passed), *state.things]}
    if len(set(mine)) < len(mine) or not others.isdisjoint(mine):
        return "it returns a container that it also keeps elsewhere"
    return share(recording, leaves, arrays, state)


def share(
    recording: Recording, leaves: list[Any], arrays: list[np.ndarray], state: State
) -> str | None:
    """Enter into a recording which of its results share memory."""
    fresh: list[np.ndarray] = []
    first = {id(x): i for i, x in reversed(list(enumerate(arrays)))}
    earlier: dict[int, int] = {}
    for k, (leaf, output) in enumerate(zip(leaves, recording.outputs, strict=True)):
        if type(leaf) is not np.ndarray:
            continue
        if id(leaf) in earlier:
            recording.sources[k] = Source("result", earlier[id(leaf)])
            continue
        earlier[id(leaf)] = k
        if id(leaf) in first:
            recording.sources[k] = Source("input", first[id(leaf)])
        elif leaf is output:
            recording.sources[k] = Source("constant", leaf)
        elif isinstance(output, Variable) and not recording.written:
            moved = chain(recording.graph, output, len(arrays), overlap([leaf], arrays))
            view: Any = None if moved is None else moved.evaluate(*arrays)[0]
            within = view is not None and overlap([view], arrays) and same_place(view, leaf)
            if view is not None and (within or not leaf.size):
                recording.sources[k] = Source("part", moved)
                continue
        if recording.sources[k] is None:
            if overlap([leaf], [*arrays, *state.arrays]):
                return "it returns a part of an array that it reads"
            if overlap([leaf], fresh):
                return "its results share memory"
            fresh.append(leaf)
    for leaf, x, source in zip(leaves, recording.outputs, recording.sources, strict=True):
        known = type(leaf) is np.ndarray and isinstance(x, Variable)
        if known and (source is not None or is_moved(recording, x, arrays)):
            recording.layouts = [layout_of(x) for x in arrays]
    n = sum([isinstance(x, Variable) for x in recording.outputs])
    recording.full = copy.copy(recording)
    recording.outputs = [
        x if source is None else None
        for x, source in zip(recording.outputs, recording.sources, strict=True)
    ]
    computed = [x for x in recording.outputs if isinstance(x, Variable)]
    graph = recording.graph
    if len(computed) < n:
        left = Graph(graph.inputs, graph.equations, [*computed, *graph.outputs[n:]])
        outputs = [*left.outputs, *raising_beside(left)]  # what made it may still raise
        recording.graph = Graph(graph.inputs, graph.equations, outputs).pruned()
    return None


def note_identity(recording: Recording, result: Any, inputs: Sequence[Any], state: State) -> bool:
    """Note which results of a call in a transformation are arguments, or the same object.

    False where results share memory otherwise: a replay would make new ones.
    """
    earlier: list[tuple[Any, Source | None]] = [
        *[(x, Source("input", i)) for i, x in enumerate(inputs)],
        *[(x, None) for x in state.arrays],
    ]
    leaves, _ = flatten(result)
    for k, leaf in enumerate(leaves[: len(recording.values)]):
        if type(leaf) is not np.ndarray and (type(leaf) is not Array or is_number(leaf)):
            continue
        if leaf is recording.outputs[k]:
            recording.sources[k] = Source("constant", leaf)
            continue
        for x, source in earlier:
            if x is leaf and source is not None:
                recording.sources[k] = source
                break
            if in_one_memory(x, leaf):
                return False
        earlier.append((leaf, Source("result", k)))
    return True


def in_one_memory(x: Any, y: Any) -> bool:
    if type(x) is Array and type(y) is Array:
        return root_of(x) is root_of(y)
    return type(x) is type(y) is np.ndarray and bool(np.may_share_memory(x, y))


def chain(graph: Graph, output: Variable, n: int, shared: bool) -> Graph | None:
    """How NumPy derives a result from one of n arguments, if it can do so without a copy."""
    maker = next((e for e in reversed(graph.equations) if output in e.outputs), None)
    if maker is not None and not (shared or maker.primitive.moves):
        return None
    alone = Graph(graph.inputs[:n], graph.equations, [output]).pruned()
    if not shared and any(e.primitive is getitem_p and len(e.inputs) > 1 for e in alone.equations):
        return None  # by arrays of places NumPy always copies
    inside = {id(v) for e in alone.equations for v in e.outputs} | {id(v) for v in alone.inputs}
    used = [v for e in alone.equations for v in (*e.inputs, output) if isinstance(v, Variable)]
    if not all(id(v) in inside for v in (*used, output)):
        return None  # it is of a number as well
    moved = shared or all(e.primitive.moves for e in alone.equations)
    return alone if moved else None


def is_moved(recording: Recording, output: Variable, arrays: list[np.ndarray]) -> bool:
    """Whether a result may be the memory of an argument where that lies otherwise."""
    return chain(recording.graph, output, len(arrays), False) is not None


def same_place(x: Any, y: np.ndarray) -> bool:
    """Whether two views are of the same elements, and as one may write into them."""
    if is_writable(x) != is_writable(y):
        return False
    steps = [[s for s, n in zip(z.strides, z.shape, strict=True) if n > 1] for z in (x, y)]
    return bool(x.ctypes.data == y.ctypes.data) and steps[0] == steps[1]


def overlap(xs: Iterable[np.ndarray], ys: list[np.ndarray]) -> bool:
    return any(np.may_share_memory(x, y, 1000) for x in xs for y in ys)  # type: ignore[arg-type]  # any number is taken


def same_value(a: Any, b: Any) -> bool:
    """The same if one side may be a number and the other an array without axes."""
    if isinstance(a, (np.ndarray, np.generic, float, complex)):
        return alike(np.asarray(a), np.asarray(b))
    return alike(a, b)


def rounding_beside(results: Sequence[Any]) -> float:
    """How large a number may be that rounding has left of zero beside other results.

    So is a derivative by where an iteration begins that has converged.
    """
    sizes = [abs(float(y)) for y in results if type(y) in NUMBERS]
    return NEGLIGIBLE * max([y for y in sizes if y < np.inf], default=0.0)


def alike(a: Any, b: Any) -> bool:
    """Whether two results are of one kind and equal, up to rounding in another order."""
    if type(a) is not type(b):
        return False
    if not isinstance(a, (np.ndarray, np.generic, float, complex)):
        return a is b or bool(a == b)
    x, y = np.asarray(a), np.asarray(b)
    if x.shape != y.shape or x.dtype != y.dtype or x.dtype.char != y.dtype.char:
        return False
    if x.dtype.kind not in "fc":
        return bool(np.array_equal(x, y))
    if np.array_equal(x, y, equal_nan=True):
        return True
    with np.errstate(all="ignore"):
        digits = DIGITS.get(x.real.itemsize, 1e-8)
        finite = np.abs(y[np.isfinite(y)])
        scale = float(finite.max()) if finite.size else 0.0
        return bool(np.allclose(x, y, rtol=digits, atol=digits * scale, equal_nan=True))


def example(x: Any) -> Any:
    """The plain value of an Array, or of the first example; None if there is none."""
    depth = 0
    while type(x) is Array:
        trace = current(x).within
        if trace.ended:
            return None
        depth += isinstance(trace, BatchTrace)
        x = x.payload
    if not depth:
        return hardened(x)
    return x[(0,) * depth] if all(x.shape[:depth]) else None
