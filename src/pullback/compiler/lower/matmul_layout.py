"""The memory layout of matrix products: operands, results, and which of them must be copied."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...core.graph import Equation, Variable
from ...core.spec import Spec
from ...primitives.matmul import matmul_p
from ...primitives.shapes import transpose_p
from ..graph.contractions import is_product, known, labels
from .blas import by_blas, operand
from .geometry import view_of
from .matmul_axes import arranged, contiguous_in, order_for_sum, order_of_result
from .role import spec_in

if TYPE_CHECKING:
    from .plan import Plan


def multiply(plan: Plan, e: Equation) -> None:
    """A product of matrices, in stacks or by labels, of floating numbers of one dtype."""
    specs, (out,) = [spec_in(x) for x in e.inputs], e.outputs
    if out.spec.dtype.kind != "f" or any(s.dtype != out.spec.dtype for s in specs):
        plan.call(e)
        return
    if e.primitive is matmul_p and by_blas(*specs):
        xs = [x if operand(plan.where(x)) else plan.copied(x) for x in e.inputs]
        plan.compute(Equation(e.primitive, tuple(xs), e.outputs, e.static), "matmul")
        return
    if e.primitive is not matmul_p and not (known(e) and is_product(e)):
        plan.call(e)
        return
    ins, result = labels(e)
    while True:
        x, y = map(plan.where, e.inputs)
        found = order_for_sum(x, y, ins, result)
        if found is None:
            break
        i, order = found
        xs = [laid(plan, x, ins[i], order) if i == j else x for j, x in enumerate(e.inputs)]
        e = Equation(e.primitive, tuple(xs), e.outputs, e.static)
    buffer = plan.fresh(out.spec).buffer
    for order in (result, order_of_result(x, y, ins, result)):
        target = contiguous_in(buffer, order, result, out.spec.shape, out.spec.dtype)
        product = arranged(x, y, target, ins, result)
        if product is not None:
            plan.products[out] = product
            plan.compute(e, "matmul", target)
            return
    raise AssertionError(f"{ins} {result}")


def laid(plan: Plan, x: Any, term: str, order: str) -> Variable:
    """x copied to where its axes lie in some order of their labels."""
    spec = spec_in(x)
    axes = tuple([term.index(label) for label in order])
    turned = Variable(Spec(tuple([spec.shape[axis] for axis in axes]), spec.dtype))
    view = view_of(transpose_p, plan.where(x), {"axes": axes})
    assert view is not None
    plan.geometry[turned] = view
    back = tuple([order.index(label) for label in term])
    out = Variable(Spec(spec.shape, spec.dtype))
    view = view_of(transpose_p, plan.geometry[plan.copied(turned)], {"axes": back})
    assert view is not None
    plan.geometry[out] = view
    return out
