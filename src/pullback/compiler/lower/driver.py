"""The driver: one function that runs all segments of a program, and calls NumPy between them.

    whole(arena, table, constants)

It can be added to a module's text if the functions that it calls exist: see `entry/python_calls`.
Results of NumPy calls are objects, which it holds until it's done. If a call fails, the flag after
the table is set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.graph import Variable
from ..llvm.pen import COPY, Pen

if TYPE_CHECKING:
    from .module import Module

ALONE = 50_000  # operations on elements, between calls of NumPy, during which others may run
CLEAR = "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)"
# What calls NumPy, and what is around such calls: see `entry/python_calls`.
PERFORMED = (
    "declare i1 @pullback_perform(ptr, ptr, ptr, ptr, ptr)",
    "declare void @pullback_let_go(ptr, i64)",
    "declare ptr @pullback_quiet()",
    "declare void @pullback_loud(ptr)",
    "declare ptr @PyEval_SaveThread()",
    "declare void @PyEval_RestoreThread(ptr)",
)


def driver(module: Module) -> str:
    """Return the text of the function `whole` of a module, with its declarations."""
    plan, n = module.plan, module.n_in + module.n_out
    m = len(plan.objects)
    pen = Pen(["entry:"])
    pen.add(f"%places = alloca ptr, i64 {n + m}", f"%held = alloca ptr, i64 {m + 1}")
    pen.copy("%places", "%table", 8 * n)
    pen.add(f"call void @llvm.memset.p0.i64(ptr %held, i8 0, i64 {8 * (m + 1)}, i1 false)")
    pen.add("%token = call ptr @pullback_quiet()")
    site = len(plan.constants)
    for k, (step, work) in enumerate(zip(module.segments, module.work, strict=True)):
        if isinstance(step, str):
            thread = pen.line("call ptr @PyEval_SaveThread()") if work > ALONE else None
            pen.add(f"call void @{step}(ptr %arena, ptr %places, ptr %constants)")
            if thread is not None:
                pen.add(f"call void @PyEval_RestoreThread(ptr {thread})")
            continue
        call = pen.entry("%constants", site)
        fine = pen.line(
            f"call i1 @pullback_perform(ptr {call}, ptr %arena, ptr %places, ptr %constants,"
            " ptr %held)"
        )
        pen.branch(fine, f"after{k}", "failed")
        pen.label(f"after{k}")
        site += 1
    for i, x in enumerate(plan.outputs):
        if isinstance(x, Variable) and x in plan.objects:
            source = pen.entry("%places", n + plan.objects[x])
            target = pen.entry("%places", module.n_in + i)
            pen.copy(target, source, x.spec.size * x.spec.dtype.itemsize)
    pen.jump("over")
    pen.label("failed")
    flag = pen.line(f"getelementptr ptr, ptr %table, i64 {n}")
    pen.add(f"store ptr %table, ptr {flag}")
    pen.jump("over")
    pen.label("over")
    pen.add(
        f"call void @pullback_let_go(ptr %held, i64 {m})", "call void @pullback_loud(ptr %token)"
    )
    declared = [d for d in (COPY, CLEAR, *PERFORMED) if d not in module.declared]
    text = pen.function("whole", "ptr %arena, ptr %table, ptr %constants")
    return "\n".join(["", text, *declared, ""])
