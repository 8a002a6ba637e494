"""Which operations may run the user's code, and which may raise for other values."""

from __future__ import annotations

import numpy as np

from ...core.graph import Equation, Graph, Variable
from ...core.kinds import Elementwise, Linear, Multilinear
from ...core.primitive import Primitive
from ...core.registry import UFUNCS
from ..graph.optimise import declared

OURS = ("pullback.primitives.", "pullback.nn")
SILENT: dict[Primitive, bool] = {}
QUICK: set[Primitive] = set()  # of those that are silent, what has one result


def is_ours(primitive: Primitive) -> bool:
    """Whether the code of a primitive is all of this package."""
    known = SILENT.get(primitive)
    if known is not None or not declared(primitive):  # a single call, or a function of the user's
        return known is True
    ours = type(primitive).__module__.startswith(OURS)
    if isinstance(primitive, Elementwise):
        ours = ours or UFUNCS.get(primitive.ufunc) is primitive
    SILENT[primitive] = ours
    if ours and primitive.n_out is None:
        QUICK.add(primitive)
    return ours


def may_raise(e: Equation) -> bool:
    """Whether values decide if an operation raises."""
    primitive, xs = e.primitive, e.inputs
    if primitive.total or (len(xs) == 1 and primitive in QUICK and isinstance(primitive, Linear)):
        return False
    if isinstance(primitive, Elementwise):
        of_user = primitive.lower is None and not isinstance(primitive.ufunc, np.ufunc)
        if not of_user and e.outputs[0].spec.dtype.kind not in primitive.raises_for:
            return False
    elif isinstance(primitive, (Linear, Multilinear)) and is_ours(primitive):
        return any(type(v) is Variable and v.spec.dtype.kind in "iu" for v in xs[1:])
    elif e.static.get("singular", "raise") != "raise":
        return False
    return any(type(v) is Variable for v in xs)


def raising_beside(graph: Graph) -> list[Variable]:
    """A result of each operation that may raise and that no output of a graph needs."""
    raising = [e for e in graph.equations if may_raise(e)]
    if not raising:
        return []
    met = {id(e) for e in graph.pruned().equations}
    return [e.outputs[0] for e in raising if id(e) not in met]
