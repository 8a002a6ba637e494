"""Write the parts of joined, assigned and scattered arrays directly to their places; gathering.

Each part is written by the item that computes it.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.graph import Equation, Variable
from ...core.spec import Spec
from ...primitives.elementwise import add
from ...primitives.indexing import getitem_p
from ...primitives.joining import stack_p
from ...primitives.keys import count
from ...primitives.shapes import astype_p
from .gather import Places, gather_p, indexes, place_add_p, place_p, places_of
from .geometry import VIEWS, Strided, contiguous, transposed, view_of
from .role import role, spec_in
from .schedule import PlanItem

if TYPE_CHECKING:
    from .plan import Plan


def indexed(plan: Plan, x: Strided, key: Any, arrays: Any) -> tuple[Places, list[Any]] | None:
    """Describe x[key] and its index arrays as operands; None if it is left to NumPy."""
    places = places_of(x, key, arrays, plan.where)
    if places is None:
        return None
    plan.held.append(places)
    return places, [plan.at(i) if isinstance(i, Strided) else i for i in places.arrays]


def gather(plan: Plan, e: Equation) -> None:
    x, *arrays = e.inputs
    found = indexed(plan, plan.where(x), e.static["key"], arrays)
    if found is None:
        plan.call(e)
        return
    places, arrays = found
    inputs = (plan.at(places.base), *arrays)
    plan.compute(Equation(gather_p, inputs, e.outputs, places.static))


def turned(plan: Plan, x: Any, e: Equation) -> bool:
    """Gather x in the order of its transpose, which alone is read; whether that is done.

    So what is computed with the transpose, element by element, shares the loop, and x is never
    stored.
    """
    item = plan.made.get(x) if isinstance(x, Variable) else None
    if item is None or item.equation.primitive is not gather_p:
        return False
    known = [isinstance(i, Variable) and i not in plan.made for i in item.equation.inputs]
    if not all(known):  # its indices are computed in its loop
        return False
    (out,), axes = e.outputs, e.static["axes"]
    users = [u for u in plan.graph.equations if any(i is out for i in u.inputs)]
    alike = [role(u) == "element" and u.outputs[0].spec.shape == out.spec.shape for u in users]
    if not users or not all(alike):
        return False
    inputs = tuple([plan.at(transposed(plan.where(i), axes)) for i in item.equation.inputs])
    item.equation = Equation(gather_p, inputs, (out,), item.equation.static)
    item.shape = out.spec.shape
    del plan.made[x]
    plan.made[out] = item
    plan.geometry[out] = plan.fresh(out.spec, plan.lying.get(out))
    plan.writers[plan.geometry[out].buffer] = [item]
    return True


def placed(plan: Plan, x: Any, target: Strided, found: Any, primitive: Any = None) -> PlanItem:
    """Write an operand to a view, or to indexed elements of it."""
    if found is None:
        return plan.part(x, target)
    places, arrays = found
    if spec_in(x).shape != target.shape:
        x = plan.shaped(x, target.shape)
    v = Variable(Spec(target.shape, target.dtype))
    plan.compute(Equation(astype_p, (x,), (v,), {"dtype": target.dtype}))
    out = Variable(v.spec)
    equation = Equation(primitive or place_p, (v, *arrays), (out,), places.static)
    return plan.compute(equation, "element", target)


def join(plan: Plan, e: Equation) -> None:
    (out,) = e.outputs
    whole = plan.fresh(out.spec)
    axis = e.static["axis"]
    start = 0
    for x in e.inputs:
        lead = (slice(None),) * axis
        if e.primitive is stack_p:
            target = view_of(getitem_p, whole, {"key": (*lead, start)})
            start += 1
        else:
            n = spec_in(x).shape[axis]
            target = view_of(getitem_p, whole, {"key": (*lead, slice(start, start + n))})
            start += n
        assert target is not None
        plan.part(x, target)
    plan.geometry[out] = whole


def put(plan: Plan, e: Equation) -> None:
    x, v, *arrays = e.inputs
    (out,) = e.outputs
    key = e.static["key"]
    key = key if type(key) is tuple else (key,)
    cast = np.can_cast(spec_in(v).dtype, out.spec.dtype, "same_kind")
    part = along(contiguous(None, out.spec.shape, out.spec.dtype), e.static["path"])
    if part is None or not cast or (arrays and not indexes(key, arrays, part.shape)):
        plan.call(e)
        return
    view = plan.where(x)
    alone = isinstance(x, Variable) and plan.uses.get(id(x)) == 1 and x not in plan.viewed
    free = alone and view.buffer.kind == "arena" and x not in plan.made
    if view.buffer in plan.readers or (free and view.is_contiguous()):
        whole = view  # nothing else reads x from here on
        before = [*plan.writers.get(view.buffer, ()), *plan.readers.get(view.buffer, ())]
    else:
        whole = plan.fresh(out.spec)
        before = [plan.part(x, whole)]
    part = along(whole, e.static["path"])
    assert part is not None
    found = indexed(plan, part, key, arrays) if arrays else None
    target = found[0].base if found else view_of(getitem_p, part, {"key": key})
    assert target is not None
    if prod(target.shape):
        item = placed(plan, v, target, found)
        for other in before:
            # Numbers are stored in the order of the program, one loop after the other.
            numbers = not item.shape and not other.shape and other.role == "element"
            if other is not item:
                plan.after(item, other, 0 if numbers else 1)
        plan.writers[whole.buffer] = [item]  # it comes after the earlier ones
    plan.geometry[out] = whole


def along(x: Strided, path: Any) -> Strided | None:
    """The view that a path of views leads to from x; None if a step isn't a view here."""
    found: Strided | None = x
    for primitive, static in path:
        if found is None or primitive not in VIEWS:
            return None
        found = view_of(primitive, found, static)
    return found


def scatter(plan: Plan, e: Equation) -> None:
    """Add parts to zeros; what goes to the same element is added up before it is written."""
    keys, (out,) = e.static["keys"], e.outputs
    keys = [key if type(key) is tuple else (key,) for key in keys]
    values, arrays = e.inputs[: len(keys)], list(e.inputs[len(keys) :])
    taken = []
    for key in keys:
        n = count(key)
        taken.append(arrays[:n])
        arrays = arrays[n:]
    pairs = list(zip(keys, taken, strict=True))
    right = all(not i or indexes(key, i, out.spec.shape) for key, i in pairs)
    if not right or any(spec_in(x).dtype != out.spec.dtype for x in values):
        plan.call(e)
        return
    whole = plan.fresh(out.spec)
    parts = []
    for (key, own), x in zip(pairs, values, strict=True):
        found = indexed(plan, whole, key, own) if own else None
        target = found[0].base if found else view_of(getitem_p, whole, {"key": key})
        assert target is not None
        parts.append((target, x, found))
    zero = out.spec.dtype.type(0)
    numbers: dict[int, Any] = {}
    areas = [(target, x) for target, x, found in parts if target.shape or found]
    for target, x, found in parts:
        if not target.shape and not found:
            at = target.offset
            numbers[at] = added(plan, numbers.get(at, zero), x, Spec((), out.spec.dtype))
    if len(areas) > 1 or (areas and numbers) or any(found for _, _, found in parts):
        overlaid(plan, e, whole, parts, zero)
        return
    covered = sum([prod(target.shape) for target, _ in areas]) or len(numbers)
    before = [] if covered == out.spec.size else [plan.part(zero, whole)]
    if areas:
        numbers[-1] = areas[0][1]
    for at, x in numbers.items():
        target = areas[0][0] if at < 0 else Strided(whole.buffer, at, (), (), whole.dtype)
        item = plan.part(x, target)
        for other in before:
            plan.after(item, other, 1)
    plan.geometry[out] = whole


def added(plan: Plan, x: Any, y: Any, spec: Spec) -> Variable:
    out = Variable(spec)
    plan.compute(Equation(add, (x, y), (out,), {}))
    return out


def overlaid(plan: Plan, e: Equation, whole: Strided, parts: Any, zero: Any) -> None:
    """Parts that may overlap are added one after another; numbers come last, as in NumPy."""
    blank = last = plan.part(zero, whole)
    for target, x, found in sorted(parts, key=lambda part: not part[0].shape and not part[2]):
        if found:
            item = placed(plan, x, target, found, place_add_p)
        elif last is blank and target.shape:
            item = plan.part(x, target)
        else:
            spec = Spec(target.shape, target.dtype)
            old = Variable(spec)
            plan.geometry[old] = target
            if spec_in(x).shape != target.shape:
                x = plan.shaped(x, target.shape)
            item = plan.compute(Equation(add, (old, x), (Variable(spec),), {}), "element", target)
        plan.after(item, last, 1)
        plan.writers[whole.buffer] = [item]
        last = item
    plan.geometry[e.outputs[0]] = whole
