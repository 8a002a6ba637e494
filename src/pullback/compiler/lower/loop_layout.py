"""Placing loops: those of a program, and the inner loops of NumPy's functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.graph import Equation, Variable
from .gather import may_miss, within
from .geometry import Strided
from .inner_loops import is_row, operand_dtypes
from .role import spec_in
from .scan import Rolled
from .schedule import PlanItem
from .small_matrices import solves

if TYPE_CHECKING:
    from .plan import Plan


def inner(plan: Plan, e: Equation) -> None:
    """An inner loop of NumPy's takes operands of its dtypes, at any strides.

    What it changes is a copy of the first operand, which is the first result.
    """
    primitive, outputs = e.primitive, e.outputs
    changes, dtypes = getattr(primitive, "changes", False), operand_dtypes(e)
    for out in outputs:
        plan.geometry[out] = plan.fresh(out.spec)
    inputs = list(e.inputs)
    if changes:
        begun = plan.part(e.inputs[0], plan.geometry[outputs[0]])
        inputs[0] = begun.equation.outputs[0]
    for k, x in enumerate(inputs):
        if dtypes is not None and spec_in(x).dtype != dtypes[k]:
            inputs[k] = plan.copied(x, dtypes[k])
        elif not is_row(e, plan.where(x)):
            inputs[k] = plan.copied(x)
    called = Equation(primitive, tuple(inputs), outputs, e.static)
    item = PlanItem(called, "inner", None, len(plan.items))
    plan.depend(item, inputs)
    for out in outputs:
        plan.writers.setdefault(plan.geometry[out].buffer, []).append(item)
    plan.items.append(item)


def loop(plan: Plan, e: Equation) -> None:
    """A loop reads its constants and carries whole, and contiguous rows."""
    rolled = e.primitive
    bodies = [plan.body(body, kept) for body, kept in zip(rolled.bodies, rolled.kept, strict=True)]
    # What each step has to check: indices that the body computes, and linear systems.
    asked = not within(e) if isinstance(rolled, Rolled) else any(map(may_miss, rolled.bodies))
    asked |= not getattr(rolled, "tells", False) and solves(rolled.bodies)
    if asked or any(piece.role == "call" for body in bodies for piece in body.pieces):
        plan.call(e)
        return
    inputs, steps = [], []
    for i, x in enumerate(e.inputs):
        view = plan.where(x)
        if i < rolled.whole:
            inputs.append(x if view.is_contiguous() else plan.copied(x))
            continue
        spec = rolled.bodies[0].inputs[i].spec
        row = Strided(view.buffer, view.offset, view.shape[1:], view.strides[1:], view.dtype)
        step = view.strides[0]
        if not row.is_contiguous() and not step:  # the same in all steps
            x = Variable(spec)
            plan.geometry[x] = row
            x = plan.copied(x)
        elif not row.is_contiguous():
            x = plan.copied(x)
            step = spec.size
        inputs.append(x)
        steps.append(step * spec.dtype.itemsize)
    e = Equation(rolled, tuple(inputs), e.outputs, {"steps": steps})
    plan.bodies[rolled] = bodies
    item = PlanItem(e, "loop", None, len(plan.items))
    for out in e.outputs:
        plan.geometry[out] = plan.fresh(out.spec)
        plan.writers[plan.geometry[out].buffer] = [item]
    plan.depend(item, inputs)
    plan.items.append(item)
