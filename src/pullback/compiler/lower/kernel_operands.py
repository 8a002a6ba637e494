"""What a kernel reads and writes, and what decides its text, so that it is written once.

A program of many alike steps has the same loop over and over, on other arrays. To find that out by
the text costs as much as writing it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.graph import Equation, Variable
from ..graph.optimise import frozen, operand_key
from ..graph.rewriting import opened, spec_in
from .gather import gather_p
from .geometry import Strided
from .role import REDUCTIONS, number


class KernelOperands:
    """Equations on elements of one shape, and where they read and write.

    views: where the operands that are computed elsewhere lie.
    stored: for each variable that others need, the view to store it to.
    results: those of them that have an element for each of the shape, and are not reduced.
    inside: all that is computed here, numbered.
    loads: the views that are read, by what tells them apart; sources: which of them an operand is.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        equations: Sequence[Equation],
        views: Callable[[Any], Strided],
        stored: dict[Variable, Strided],
    ) -> None:
        self.shape, self.equations, self.stored = shape, equations, stored
        self.reducing = [e for e in equations if e.primitive.lower in REDUCTIONS]
        reduced = {out for e in self.reducing for out in e.outputs}
        self.results = [v for v in stored if v.spec.shape == shape and v not in reduced]
        outputs = [out for e in equations for out in e.outputs]
        self.inside = {out: i for i, out in enumerate(outputs)}
        self.loads: dict[Any, Strided] = {}
        self.sources: dict[int, Any] = {}
        for e in equations:
            for x in e.inputs[:1] if e in self.reducing else e.inputs:
                if x in self.inside if type(x) is Variable else number(x) is not None:
                    continue
                view = views(x).broadcast(shape)
                key: Any = (id(view.buffer), view.offset, view.strides, view.dtype)
                if e.primitive is gather_p and x is e.inputs[0]:
                    key = ("at", *key)
                self.loads.setdefault(key, view)
                self.sources[id(x)] = key

    def pointers(self, scratch: Sequence[int]) -> list[Strided | int]:
        """What the kernel's parameters point to, in order: views, and memory of so many bytes.

        scratch: for each reduction the bytes for its partial results, 0 where it needs none.
        """
        found: list[Strided | int] = [self.stored[v] for v in self.results]
        for e, size in zip(self.reducing, scratch, strict=True):
            found += [self.stored[e.outputs[0]], size] if size else [self.stored[e.outputs[0]]]
        return [*found, *self.loads.values()]

    def key(self) -> Any:
        """Equal for kernels of the same text; None where that cannot be told.

        Primitives and constants count by identity: whoever keeps the key keeps the graph.
        """
        order = {key: i for i, key in enumerate(self.loads)}
        read = {id(view.buffer) for view in self.loads.values()}
        try:
            lines = [
                (
                    id(e.primitive), frozen(e.static) if e.static else None, len(e.inputs),
                    *[self.operand(x, order) for x in e.inputs],
                    *[(x.spec.shape, x.spec.dtype) for x in e.outputs],
                )
                for e in self.equations
            ]  # fmt: skip
        except TypeError:  # a parameter that is no key of a dict
            return None
        loads = [(key[0] == "at", x.strides, x.dtype) for key, x in self.loads.items()]
        stores = [
            (self.inside[v], x.shape, x.strides, x.dtype, id(x.buffer) in read)
            for v, x in self.stored.items()
        ]
        return self.shape, tuple(lines), tuple(loads), tuple(stores)

    def operand(self, x: Any, order: dict[Any, int]) -> Any:
        """What the text has of an operand: a result by number, a load, or a constant."""
        spec = spec_in(x)
        place: Any = self.inside.get(x) if type(x) is Variable else None
        if place is None:
            found = self.sources.get(id(x))
            place = (operand_key(opened(x)),) if found is None else ("load", order[found])
        return place, spec.shape, spec.dtype, spec.weak
