"""Lower equations on single elements to one function without loops."""

from __future__ import annotations

from typing import Any

from ...core.graph import Variable
from ..llvm.pen import Pen
from .addresses import Addresses
from .elements import Value, element, store_element
from .emit import Emit
from .gather import Indexed, at_places, gather_p, place_add_p, read_at, write_at
from .partials import single
from .plan import Plan
from .role import REDUCTIONS, emitted, given, number
from .schedule import Piece


def scalars(piece: Piece, plan: Plan, pen: Pen, addresses: Addresses, declared: set[str]) -> None:
    """Write the equations of a piece; only what later pieces read is stored."""
    emit = Emit(1, pen, declared)
    results: dict[Any, Value] = {}

    def operand(x: Any, e: Any) -> Value:
        if isinstance(x, Variable) and x in results:
            return results[x]
        if not isinstance(x, Variable) and number(x) is not None:
            return given(x, emit)
        view = plan.where(x)
        if e.primitive is gather_p and x is e.inputs[0]:
            return Value(addresses(view), view.dtype)
        key = (view.buffer, view.offset)
        if key not in results:
            results[key] = element(emit, addresses(view), view.dtype)
        return results[key]

    for item in piece.items:
        e, out = item.equation, item.equation.outputs[0]
        reducing = e.primitive.lower in REDUCTIONS
        xs = [operand(x, e) for x in (e.inputs[:1] if reducing else e.inputs)]
        if isinstance(e.primitive, Indexed):
            far = at_places(emit, xs[1:], e.static)
            if e.primitive is not gather_p:
                first, adding = addresses(plan.geometry[out]), e.primitive is place_add_p
                write_at(emit, first, 0, far, xs[0], 1, adding)
                continue
            results[out] = found = read_at(emit, xs[0], 0, far, 1)
        else:
            found = single(e, emit, xs[0]) if reducing else emitted(e, emit, xs)
            if item.role == "element" and item.target is None:
                results[out] = found
        if plan.is_stored(item):
            store_element(emit, addresses(plan.geometry[out]), found)
