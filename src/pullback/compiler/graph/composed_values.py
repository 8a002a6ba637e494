"""A pass: replace operations that declare a composition by the operations they're composed of.

The trait `composed` of a primitive is a function written like a rule, which computes, for example,
a pseudoinverse from singular values. It's traced, and its operations replace the primitive.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.graph import Equation, Graph, Variable
from ...core.primitive import Primitive
from ...core.spec import Spec, spec_of
from ...primitives.inner_loops import Ingredient
from ...primitives.shapes import copy_p
from ...transforms.stage import StageTrace, capture
from ..llvm.binding import SCALAR
from ..llvm.dtypes import TYPES
from .partly_used import partly_used
from .rewriting import rewritten, spec_in
from .small_systems import fits


class Sketch(StageTrace):
    """Writes operations down; values are ones of their specs."""

    __slots__ = ()
    plain_truth = captures = False

    def computed(self, primitive: Primitive, values: list[Any], static: dict[str, Any]) -> Any:
        if primitive.spec is None:
            return super().computed(primitive, values, static)
        out = primitive.spec(*map(spec_of, values), **static)
        return stand_in(out) if primitive.n_out is None else tuple(map(stand_in, out))


def stand_in(spec: Spec) -> Any:
    return np.ones(spec.shape, spec.dtype) if spec.shape else spec.dtype.type(1)


def with_composed_values(graph: Graph) -> Graph:
    """The graph with operations that are composed of others done by these."""
    composed = any(getattr(e.primitive, "composed", None) is not None for e in graph.equations)
    return rewritten(graph, parts_of) if composed else graph


def parts_of(e: Equation) -> Any:
    if not says(e.primitive) or not may(e):
        return e
    found = sketched(e)
    if found is None or (SCALAR.get() and any(map(is_ingredient, found.equations))):
        return e
    equations: list[Equation] = []
    for f in instead(e, partly_used(found)):
        made = parts_of(f)
        equations += [made] if isinstance(made, Equation) else made
    return equations


def is_ingredient(e: Equation) -> bool:
    """Whether NumPy has the code of an operation, which a program without Python cannot call."""
    return isinstance(e.primitive, Ingredient)


def says(primitive: Any) -> bool:
    """Whether a primitive says what it is composed of, and is not another value of such a one."""
    if getattr(primitive, "composed", None) is None:
        return False
    homes = [vars(primitive), *map(vars, type(primitive).__mro__)]
    first = next(home for home in homes if "composed" in home or "value" in home)
    return "composed" in first


def may(e: Equation) -> bool:
    """Whether machine code has its dtypes, and does not do it in a way of its own."""
    if fits(e):
        return False
    if not any(isinstance(x, Variable) for x in e.inputs):
        return False
    specs = [*map(spec_in, e.inputs), *[x.spec for x in e.outputs]]
    return all(s.dtype in TYPES for s in specs) and any(x.spec.size for x in e.outputs)


def sketched(e: Equation) -> Graph | None:
    """What an equation is composed of, with operands such as these."""

    def run(*xs: Any) -> Any:
        out = e.primitive.composed(*xs, **e.static)
        return () if out is NotImplemented else out

    stand_ins = [np.ones(s.shape, s.dtype) for s in map(spec_in, e.inputs)]
    with np.errstate(all="ignore"):
        _, graph, captured, _ = capture(
            run, {}, "stage", lambda enter: [enter(x) for x in stand_ins], Sketch
        )
    specs = [spec_in(x) for x in graph.outputs]
    return graph if specs == [x.spec for x in e.outputs] and not captured else None


def instead(e: Equation, found: Graph) -> list[Equation]:
    """The equations of a graph on the operands of an equation, and with its results."""
    names: dict[Any, Any] = dict(zip(found.inputs, e.inputs, strict=True))
    taken: dict[Any, Variable] = {}
    copies = []
    made = {x for f in found.equations for x in f.outputs}
    for x, out in zip(found.outputs, e.outputs, strict=True):
        if isinstance(x, Variable) and x in made and x not in taken:
            taken[x] = out
        else:
            copies.append((x, out))
    names.update(taken)

    def read(x: Any) -> Any:
        return names[x] if isinstance(x, Variable) else x

    equations = []
    for f in found.equations:
        outputs = tuple([names.setdefault(x, Variable(x.spec)) for x in f.outputs])
        equations.append(Equation(f.primitive, tuple(map(read, f.inputs)), outputs, f.static))
    for x, out in copies:
        dtype = {"dtype": out.spec.dtype}
        equations.append(Equation(copy_p, (read(x),), (out,), dtype))
    return equations
