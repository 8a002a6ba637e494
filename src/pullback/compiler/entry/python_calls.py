"""Calls of NumPy from machine code, without the compiler's Python in between.

A program that calls NumPy between its segments is still one function of machine code: `@perform`
makes arrays and numbers of the operands, calls what the site names and checks the result. A fresh
array of the recorded spec is used as it is; any other result goes through `settle`, which copies,
converts or refuses it.

A site is a row of numbers, as SITE names them; it lists its operands and results. Results live in
`held` until the program ends. Floating-point errors are ignored meanwhile, as in all compiled code.
Where a call fails, the program ends: the exception is cleared, unless it is one like
KeyboardInterrupt, and the flag after the table of addresses is set.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...core.errors import ShapeError
from ...core.graph import Equation, Variable
from ...core.primitive import Elementwise
from ...core.spec import spec_of
from ..graph.rewriting import opened
from ..llvm.dtypes import TYPES
from ..lower.scan import Rolled
from ..lower.while_ import Waiting
from .conditions import fields

__all__ = ["PERFORMED", "SpecChangedError", "performable", "sites"]

SITE = ("fun", "settle", "n_ops", "ops", "n_results", "results", "first", "place", "many")
OPERAND = ("how", "base", "index", "offset", "descr", "axes", "shape", "strides")
RESULT = ("descr", "axes", "shape", "bytes", "scalar")
OBJECT, KEPT, ARRAY, NUMBER = range(4)  # how an operand is made
BASES = {"arena": 0, "in": 1, "out": 1, "object": 1, "const": 2}  # where it lies

# What modules call by name.
PERFORMED = ("pullback_perform", "pullback_let_go", "pullback_quiet", "pullback_loud")

PERFORM = """
define i1 @pullback_perform(ptr %site, ptr %arena, ptr %table, ptr %constants, ptr %held) {{
start:
  {site_fields}
  %n1 = add i64 %n_ops, 2
  %given = alloca ptr, i64 %n1, align 16
  %rest = getelementptr ptr, ptr %given, i64 2
  %opsrows = inttoptr i64 %ops to ptr
  %resultrows = inttoptr i64 %results to ptr
  br label %operands
operands:
  %i = phi i64 [0, %start], [%in, %passed]
  %more = icmp slt i64 %i, %n_ops
  br i1 %more, label %operand, label %ready
operand:
  %rowi = mul i64 %i, {operand_size}
  %row = getelementptr i64, ptr %opsrows, i64 %rowi
  {operand_fields}
  switch i64 %how, label %memory [
    i64 0, label %object
    i64 1, label %kept
  ]
object:
  %same = inttoptr i64 %index to ptr
  call void @Py_IncRef(ptr %same)
  br label %passed
kept:
  %keptp = getelementptr ptr, ptr %held, i64 %index
  %earlier = load ptr, ptr %keptp
  call void @Py_IncRef(ptr %earlier)
  br label %passed
memory:
  %intable = icmp eq i64 %base, 1
  %list = select i1 %intable, ptr %table, ptr %constants
  %entryp = getelementptr ptr, ptr %list, i64 %index
  %listed = load ptr, ptr %entryp
  %inarena = icmp eq i64 %base, 0
  %buffer = select i1 %inarena, ptr %arena, ptr %listed
  %data = getelementptr i8, ptr %buffer, i64 %offset
  %dtype = inttoptr i64 %descr to ptr
  %isnumber = icmp eq i64 %how, 3
  br i1 %isnumber, label %number, label %array
number:
  %scalar = call ptr @pullback_to_scalar(ptr %data, ptr %dtype, ptr null)
  br label %made
array:
  call void @Py_IncRef(ptr %dtype)
  %axes32 = trunc i64 %axes to i32
  %extents = inttoptr i64 %shape to ptr
  %steps = inttoptr i64 %strides to ptr
  %view = call ptr @pullback_from_descr(ptr @pullback_array_type, ptr %dtype, i32 %axes32,
    ptr %extents, ptr %steps, ptr %data, i32 {WRITEABLE_ALIGNED}, ptr null)
  br label %made
made:
  %fresh = phi ptr [%scalar, %number], [%view, %array]
  %lacks = icmp eq ptr %fresh, null
  br i1 %lacks, label %failed, label %passed
passed:
  %x = phi ptr [%same, %object], [%earlier, %kept], [%fresh, %made]
  %xp = getelementptr ptr, ptr %rest, i64 %i
  store ptr %x, ptr %xp
  %in = add i64 %i, 1
  br label %operands

ready:
  %called = inttoptr i64 %fun to ptr
  %withroom = or i64 %n_ops, -9223372036854775808
  %out = call ptr @PyObject_Vectorcall(ptr %called, ptr %rest, i64 %withroom, ptr null)
  %raised = icmp eq ptr %out, null
  br i1 %raised, label %failed, label %look
look:
  %several = icmp ne i64 %many, 0
  br i1 %several, label %settling, label %single
single:
  %out_dtypep = getelementptr i64, ptr %resultrows, i64 0
  %out_descr = load i64, ptr %out_dtypep
  %out_axesp = getelementptr i64, ptr %resultrows, i64 1
  %out_axes = load i64, ptr %out_axesp
  %out_shapep = getelementptr i64, ptr %resultrows, i64 2
  %out_shape = load ptr, ptr %out_shapep
  %out_bytesp = getelementptr i64, ptr %resultrows, i64 3
  %out_bytes = load i64, ptr %out_bytesp
  %out_scalarp = getelementptr i64, ptr %resultrows, i64 4
  %out_scalar = load ptr, ptr %out_scalarp
  %kindp = getelementptr i8, ptr %out, i64 {TYPE}
  %kind = load ptr, ptr %kindp
  %isarray = icmp eq ptr %kind, @pullback_array_type
  br i1 %isarray, label %own, label %notarray
notarray:
  %isscalar = icmp eq ptr %kind, %out_scalar
  br i1 %isscalar, label %boxed, label %settling
boxed:
  %inside = getelementptr i8, ptr %out, i64 {NUMBER}
  br label %keep
own:
  %flagsp = getelementptr i8, ptr %out, i64 {FLAGS}
  %flags = load i32, ptr %flagsp
  %owning = and i32 %flags, {OWNED}
  %owned = icmp eq i32 %owning, {OWNED}
  br i1 %owned, label %alike, label %settling
alike:
  %hasp = getelementptr i8, ptr %out, i64 {DTYPE}
  %has = load i64, ptr %hasp
  %samedtype = icmp eq i64 %has, %out_descr
  %ndp = getelementptr i8, ptr %out, i64 {AXES}
  %nd32 = load i32, ptr %ndp
  %nd = sext i32 %nd32 to i64
  %samerank = icmp eq i64 %nd, %out_axes
  %maybe = and i1 %samedtype, %samerank
  br i1 %maybe, label %shapes, label %settling
shapes:
  %dimsp = getelementptr i8, ptr %out, i64 {SHAPE}
  %dims = load ptr, ptr %dimsp
  %differs = call i32 @memcmp(ptr %dims, ptr %out_shape, i64 %out_bytes)
  %agrees = icmp eq i32 %differs, 0
  br i1 %agrees, label %fitting, label %settling
fitting:
  %outdatap = getelementptr i8, ptr %out, i64 {DATA}
  %outdata = load ptr, ptr %outdatap
  br label %keep
keep:
  %value = phi ptr [%inside, %boxed], [%outdata, %fitting]
  %slotp = getelementptr ptr, ptr %held, i64 %first
  store ptr %out, ptr %slotp
  %addressp = getelementptr ptr, ptr %table, i64 %place
  store ptr %value, ptr %addressp
  br label %fine

settling:
  %settler = inttoptr i64 %settle to ptr
  %before = getelementptr ptr, ptr %rest, i64 -1
  store ptr %out, ptr %before
  %n_all = add i64 %n_ops, 1
  %allroom = or i64 %n_all, -9223372036854775808
  %settled = call ptr @PyObject_Vectorcall(ptr %settler, ptr %before, i64 %allroom, ptr null)
  call void @Py_DecRef(ptr %out)
  %unsettled = icmp eq ptr %settled, null
  br i1 %unsettled, label %failed, label %each
each:
  %k = phi i64 [0, %settling], [%kn, %took]
  %onemore = icmp slt i64 %k, %n_results
  br i1 %onemore, label %take, label %taken
take:
  %itemp0 = getelementptr i8, ptr %settled, i64 {ITEMS}
  %itemp = getelementptr ptr, ptr %itemp0, i64 %k
  %item = load ptr, ptr %itemp
  call void @Py_IncRef(ptr %item)
  %at = add i64 %first, %k
  %heldp = getelementptr ptr, ptr %held, i64 %at
  store ptr %item, ptr %heldp
  %ikindp = getelementptr i8, ptr %item, i64 {TYPE}
  %ikind = load ptr, ptr %ikindp
  %itemisarray = icmp eq ptr %ikind, @pullback_array_type
  br i1 %itemisarray, label %itemarray, label %itemscalar
itemarray:
  %itemdatap = getelementptr i8, ptr %item, i64 {DATA}
  %itemdata = load ptr, ptr %itemdatap
  br label %took
itemscalar:
  %iteminside = getelementptr i8, ptr %item, i64 {NUMBER}
  br label %took
took:
  %itemvalue = phi ptr [%itemdata, %itemarray], [%iteminside, %itemscalar]
  %there = add i64 %place, %k
  %therep = getelementptr ptr, ptr %table, i64 %there
  store ptr %itemvalue, ptr %therep
  %kn = add i64 %k, 1
  br label %each
taken:
  call void @Py_DecRef(ptr %settled)
  br label %fine

fine:
  br label %release
failed:
  %n_made = phi i64 [%i, %made], [%n_ops, %ready], [%n_ops, %settling]
  %error = load ptr, ptr @PyExc_Exception
  %usual = call i32 @PyErr_ExceptionMatches(ptr %error)
  %clears = icmp ne i32 %usual, 0
  br i1 %clears, label %clear, label %release
clear:
  call void @PyErr_Clear()
  br label %release
release:
  %good = phi i1 [true, %fine], [false, %failed], [false, %clear]
  %count = phi i64 [%n_ops, %fine], [%n_made, %failed], [%n_made, %clear]
  call void @pullback_let_go(ptr %rest, i64 %count)
  ret i1 %good
}}
define void @pullback_let_go(ptr %held, i64 %n) {{
start:
  br label %each
each:
  %i = phi i64 [0, %start], [%in, %one]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %one, label %done
one:
  %xp = getelementptr ptr, ptr %held, i64 %i
  %x = load ptr, ptr %xp
  call void @Py_DecRef(ptr %x)
  %in = add i64 %i, 1
  br label %each
done:
  ret void
}}
define ptr @pullback_quiet() {{
  %token = call ptr @PyContextVar_Set(ptr @pullback_errors_variable, ptr @pullback_errors_ignored)
  ret ptr %token
}}
define void @pullback_loud(ptr %token) {{
  %reset = call i32 @PyContextVar_Reset(ptr @pullback_errors_variable, ptr %token)
  call void @Py_DecRef(ptr %token)
  ret void
}}
"""


def text(offsets: dict[str, int]) -> str:
    return PERFORM.format(
        site_fields=fields(SITE, "%site"),
        operand_fields=fields(OPERAND, "%row"),
        operand_size=len(OPERAND),
        **offsets,
    )


class SpecChangedError(ShapeError):
    """An operation gave another shape or dtype than when it was recorded."""


def performable(run: Any) -> bool:
    """Whether all that NumPy does in a run may be called by machine code."""
    if run.waits:
        return False
    for e in run.calls:
        if not (isinstance(e.primitive, (Rolled, Waiting)) or getattr(e.primitive, "ours", False)):
            return False
        values = [*e.outputs, *[x for x in e.inputs if isinstance(x, Variable)]]
        if any(x.spec.dtype not in TYPES for x in values):
            return False
    return True


def sites(run: Any, numbers: Any) -> list[int]:
    """The addresses of the sites of a run, in the order of its calls.

    numbers: keeps alive what they point to.
    """
    return [site(run, e, numbers) for e in run.calls]


def site(run: Any, e: Equation, numbers: Any) -> int:
    many = e.primitive.n_out is not None
    rows: list[dict[str, int]] = [operand(run, x, numbers) for x in e.inputs]
    first = run.objects[e.outputs[0]] if e.outputs else 0
    results = []
    for out in e.outputs:
        spec = out.spec
        scalar = numbers.of(spec.dtype.type) if not spec.shape else 0
        about = {"descr": numbers.of(spec.dtype), "axes": len(spec.shape), "scalar": scalar}
        about |= {"shape": numbers.address(spec.shape), "bytes": 8 * len(spec.shape)}
        results.append(about)
    about = {
        "fun": numbers.of(called(run, e)),
        "settle": numbers.of(settled(e)),
        "n_ops": len(rows),
        "ops": numbers.address([row.get(name, 0) for row in rows for name in OPERAND]),
        "n_results": len(results),
        "results": numbers.address([row[name] for row in results for name in RESULT]),
        "first": first,
        "place": run.n_in + run.n_out + first,
        "many": int(many),
    }
    address: int = numbers.address([about[name] for name in SITE])
    return address


def operand(run: Any, x: Any, numbers: Any) -> dict[str, int]:
    if not isinstance(x, Variable):
        return {"how": OBJECT, "index": numbers.of(opened(x))}
    if x in run.objects:
        return {"how": KEPT, "index": run.objects[x]}
    view, spec = run.plan.geometry[x], x.spec
    size, buffer = spec.dtype.itemsize, view.buffer
    offset = view.offset * size + (buffer.index if buffer.kind == "arena" else 0)
    number = not spec.shape and run.kinds.get(x, "scalar") != "array"
    return {
        "how": NUMBER if number else ARRAY,
        "base": BASES[buffer.kind],
        "index": 0 if buffer.kind == "arena" else run.module.place(buffer),
        "offset": offset,
        "descr": numbers.of(spec.dtype),
        "axes": len(view.shape),
        "shape": numbers.address(view.shape),
        "strides": numbers.address([s * size for s in view.strides]),
    }


def called(run: Any, e: Equation) -> Callable[..., Any]:
    """What is called with the operands alone."""
    if isinstance(e.primitive, (Rolled, Waiting)):
        bodies = run.bodies  # and not the run: a cycle of references would outlive it
        return lambda *xs: e.primitive.stepwise(bodies.of(e.primitive), list(xs))
    if isinstance(e.primitive, Elementwise) and isinstance(e.primitive.fast, np.ufunc):
        return e.primitive.fast
    fun = e.primitive.value if getattr(e.primitive, "direct", False) else e.primitive
    fun = partial(fun, **e.static) if e.static else fun
    return shorter(e, fun) or fun


LARGE = 100_000  # elements from which Python around a loop does not count


def shorter(e: Equation, fun: Callable[..., Any]) -> Callable[..., Any] | None:
    """A way to the same results with less Python, if there is one that proves right here."""
    specs = [spec_of(x) if not isinstance(x, Variable) else x.spec for x in e.inputs]
    if getattr(e.primitive, "shortcut", None) is None or sum(x.size for x in specs) > LARGE:
        return None
    try:
        found: Callable[..., Any] | None = e.primitive.shortcut(*specs, **e.static)
        if found is None:
            return None
        xs = [np.cos(np.arange(x.size)).astype(x.dtype).reshape(x.shape) for x in specs]
        with np.errstate(all="ignore"):
            results = [out if isinstance(out, tuple) else (out,) for out in (found(*xs), fun(*xs))]
        same = all(
            (x.shape, x.dtype, x.tobytes()) == (y.shape, y.dtype, y.tobytes())
            for x, y in zip(*results, strict=True)
        )
    except Exception:  # another NumPy may have other loops
        return None
    return found if same else None


def settled(e: Equation) -> Callable[..., tuple[Any, ...]]:
    """What makes the results of a call arrays of their own, in the order of memory.

    Raises:
        SpecChangedError: they have not the specs that were recorded.
    """

    expected = [(v.spec.shape, v.spec.dtype) for v in e.outputs]

    def settle(out: Any, *xs: Any) -> tuple[Any, ...]:
        outs = out if e.primitive.n_out is not None else (out,)
        new = type(outs) is tuple and not any(o is x for o in outs for x in xs)
        if new and all(map(is_own, outs, expected)):
            return outs
        return tuple([own(e, v, o, xs) for v, o in zip(e.outputs, outs, strict=True)])

    return settle


def is_own(o: Any, expected: tuple[tuple[int, ...], Any]) -> bool:
    """Whether a result is an array of the recorded spec and has memory that it alone has."""
    if type(o) is not np.ndarray or o.base is not None or o.shape != expected[0]:
        return False
    flags = o.flags
    return bool(o.dtype is expected[1] and flags.carray and flags.owndata)


def own(e: Equation, v: Variable, o: Any, xs: Sequence[Any]) -> Any:
    """A result as an array or NumPy scalar that shares no memory with operands."""
    if type(o) is not np.ndarray and not isinstance(o, np.generic):
        o = np.asarray(o)[()] if not hasattr(o, "dtype") else o
    if o.shape != v.spec.shape or o.dtype != v.spec.dtype:
        raise SpecChangedError(
            f"`{e.primitive.name}` gave {spec_of(o)} where {v.spec} was recorded."
        )
    alone = type(o) is np.ndarray and o.flags.owndata and o.flags.carray
    if type(o) is np.ndarray and (not alone or any(o is x for x in xs)):
        if any(np.may_share_memory(o, x) for x in xs):
            return o.copy()
        return np.require(o, v.spec.dtype, ["C", "A"])
    return o
