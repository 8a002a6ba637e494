"""Calls of NumPy from machine code, without the compiler's Python in between.

A program that calls NumPy between its segments is still one function of machine code: `@perform`
turns the operands into arrays and numbers, calls the site's function and checks the result. New
arrays of the recorded specs are used directly; any other result goes through `settle`, which
copies, converts or refuses it.

A site is a row of numbers, named in SITE; it lists its operands and results. Results live in `held`
until the program ends. Floating-point errors are ignored meanwhile, as in all compiled code. If a
call fails, the program ends: the exception is cleared, unless it's one like KeyboardInterrupt, and
the flag after the table of addresses is set.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...core.errors import ShapeError
from ...core.graph import Equation, Variable
from ...core.kinds import Elementwise
from ...core.spec import spec_of
from ..graph.rewriting import opened
from ..llvm.dtypes import TYPES
from ..llvm.pen import Fields, Routine
from ..lower.scan import Rolled
from ..lower.while_ import Waiting

SITE = ("fun", "settle", "n_ops", "ops", "n_results", "results", "first", "place", "many")
OPERAND = ("how", "base", "index", "offset", "descr", "axes", "shape", "strides")
RESULT = ("descr", "axes", "shape", "bytes", "scalar")
OBJECT, KEPT, ARRAY, NUMBER = range(4)  # how an operand is made
BASES = {"arena": 0, "in": 1, "out": 1, "object": 1, "const": 2}  # where it lies

# What modules call by name.
PERFORMED = ("pullback_perform", "pullback_let_go", "pullback_quiet", "pullback_loud")

GIVEN = "ptr %site, ptr %arena, ptr %table, ptr %constants, ptr %held"
ROOM = -9223372036854775808  # vectorcall's flag: there is a free slot before the operands


def text(o: Any) -> str:
    """LLVM text of the functions that modules call, with the offsets of fields filled in."""
    return "".join([elements(o), performed(o), let_go(), quiet(), loud()])


def performed(o: Any) -> str:
    """Make a call site's operands, call its function, and keep the results."""
    pen = Routine(f"define i1 @pullback_perform({GIVEN})")
    site = Fields(pen, SITE, "%site")
    n_ops = site["n_ops"]
    operands = pen.place(pen.room("ptr", pen.op("add i64", n_ops, 2), 16), 2)
    rows, first = site.pointer("ops"), site["first"]
    with pen.loop(n_ops) as i:
        row = Fields.row(pen, OPERAND, rows, i)
        pen.put(operands, i, made(pen, row, i, o))
    many = f"i64 {pen.op('or i64', n_ops, ROOM)}"
    called = f"ptr {site.pointer('fun')}"
    out = pen.ask("ptr", "@PyObject_Vectorcall", called, f"ptr {operands}", many, "ptr null")
    pen.branch(pen.is_null(out), "failing", "look")
    pen.label("look")
    results, place = site.pointer("results"), site["place"]
    pen.branch(pen.test("eq i64", site["many"], 0), "alone", "several")
    pen.label("alone")
    value = fitting(pen, results, out)
    pen.put("%held", first, out)
    pen.put("%table", place, value)
    pen.jump("fine")
    pen.label("several")
    keep_items(pen, site, operands, out, o)
    pen.do("@Py_DecRef", f"ptr {out}")
    pen.jump("fine")
    pen.label("settle")
    settle(pen, site, operands, out, o)
    pen.label("fine")
    pen.do("@pullback_let_go", f"ptr {operands}", f"i64 {n_ops}")
    pen.ret("i1", "true")
    pen.label("failing")
    pen.give("failed", n_ops)
    pen.label("lacking")
    pen.give("failed", i)
    pen.label("failed")
    n_made = pen.given("i64")
    error = pen.load("ptr", "@PyExc_Exception")
    usual = pen.ask("i32", "@PyErr_ExceptionMatches", f"ptr {error}")
    with pen.when(pen.test("ne i32", usual, 0)):
        pen.do("@PyErr_Clear")
    pen.do("@pullback_let_go", f"ptr {operands}", f"i64 {n_made}")
    pen.ret("i1", "false")
    return pen.text()


def made(pen: Routine, row: Fields, i: str, o: Any) -> str:
    """An operand as an object; go to `lacking` if it can't be made."""
    how, index = row["how"], row["index"]
    pen.switch(how, ("object", "kept"), "memory")
    for name in ("object", "kept"):
        pen.label(name)
        there = pen.pointer(index) if name == "object" else pen.at("%held", index)
        pen.do("@Py_IncRef", f"ptr {there}")
        pen.give("passed", there)
    pen.label("memory")
    base = row["base"]
    table = pen.select(pen.test("eq i64", base, BASES["in"]), "ptr", "%table", "%constants")
    listed, in_arena = pen.at(table, index), pen.test("eq i64", base, BASES["arena"])
    buffer = pen.select(in_arena, "ptr", "%arena", listed)
    data, dtype = pen.place(buffer, row["offset"], "i8"), row.pointer("descr")
    pen.branch(pen.test("eq i64", how, NUMBER), "number", "array")
    pen.label("number")
    scalar = pen.ask("ptr", "@pullback_to_scalar", f"ptr {data}", f"ptr {dtype}", "ptr null")
    pen.give("made", scalar)
    pen.label("array")
    pen.do("@Py_IncRef", f"ptr {dtype}")
    axes = pen.line(f"trunc i64 {row['axes']} to i32")
    about = [f"ptr {x}" for x in (row.pointer("shape"), row.pointer("strides"), data)]
    head = "ptr @pullback_array_type", f"ptr {dtype}", f"i32 {axes}"
    view = pen.ask(
        "ptr", "@pullback_from_descr", *head, *about, f"i32 {o.WRITEABLE_ALIGNED}", "ptr null"
    )
    pen.give("made", view)
    pen.label("made")
    fresh = pen.given("ptr")
    pen.unless(pen.is_null(fresh), "lacking")
    pen.give("passed", fresh)
    pen.label("passed")
    return pen.given("ptr")


def fitting(pen: Routine, row: str, out: str) -> str:
    """The address of a result's elements if it is as recorded; else go to `settle`."""
    value = pen.ask("ptr", "@pullback_elements", f"ptr {row}", f"ptr {out}")
    pen.unless(pen.is_null(value), "settle")
    return value


def keep_items(pen: Routine, site: Fields, operands: str, out: str, o: Any) -> None:
    """Keep the items of a tuple of results, all of them new; else go to `settle`."""
    n, n_ops = site["n_results"], site["n_ops"]
    pen.need(pen.test("eq ptr", pen.field(out, o.TYPE), "@PyTuple_Type"), "settle")
    pen.need(pen.test("eq i64", pen.field(out, o.LENGTH, "i64"), n), "settle")
    items, results, place = pen.place(out, o.ITEMS, "i8"), site.pointer("results"), site["place"]
    with pen.loop(n) as k:
        item = pen.at(items, k)
        with pen.loop(n_ops) as i:
            pen.unless(pen.test("eq ptr", item, pen.at(operands, i)), "settle")
        row = pen.place(results, pen.op("mul i64", k, len(RESULT)), "i64")
        pen.put("%table", pen.op("add i64", place, k), fitting(pen, row, item))
    with pen.loop(n) as k:
        item = pen.at(items, k)
        pen.do("@Py_IncRef", f"ptr {item}")
        pen.put("%held", pen.op("add i64", site["first"], k), item)


def elements(o: Any) -> str:
    """The address of a result's elements if it is as recorded, else null.

    An array has memory of its own, or it is a view of one that nobody else holds, as `x[()]` is.
    """
    pen = Routine("define ptr @pullback_elements(ptr %row, ptr %out)")
    row, out = Fields(pen, RESULT, "%row"), "%out"
    kind = pen.field(out, o.TYPE)
    pen.branch(pen.test("eq ptr", kind, "@pullback_array_type"), "own", "other")
    pen.label("other")
    pen.need(pen.test("eq ptr", kind, row.pointer("scalar")), "differs")
    pen.give("keep", pen.place(out, o.NUMBER, "i8"))
    pen.label("own")
    flags = pen.field(out, o.FLAGS, "i32")
    owned = pen.test("eq i32", pen.op("and i32", flags, o.OWNED), o.OWNED)
    pen.branch(owned, "alone", "view")
    pen.label("view")
    usable = o.CONTIGUOUS_ALIGNED | o.WRITEABLE
    pen.need(pen.test("eq i32", pen.op("and i32", flags, usable), usable), "differs")
    base = pen.field(out, o.BASE)
    pen.unless(pen.is_null(base), "differs")
    pen.need(pen.test("eq ptr", pen.field(base, o.TYPE), "@pullback_array_type"), "differs")
    pen.need(pen.test("eq i32", pen.field(base, o.COUNT, "i32"), 1), "differs")
    whole = pen.op("and i32", pen.field(base, o.FLAGS, "i32"), o.OWNED)
    pen.need(pen.test("eq i32", whole, o.OWNED), "differs")
    pen.label("alone")
    pen.need(pen.test("eq i64", pen.field(out, o.DTYPE, "i64"), row["descr"]), "differs")
    axes = pen.line(f"sext i32 {pen.field(out, o.AXES, 'i32')} to i64")
    pen.need(pen.test("eq i64", axes, row["axes"]), "differs")
    shapes = f"ptr {pen.field(out, o.SHAPE)}", f"ptr {row.pointer('shape')}", f"i64 {row['bytes']}"
    pen.need(pen.test("eq i32", pen.ask("i32", "@memcmp", *shapes), 0), "differs")
    pen.give("keep", pen.field(out, o.DATA))
    pen.label("keep")
    found = pen.given("ptr")
    pen.ret("ptr", found)
    pen.label("differs")
    pen.ret("ptr", "null")
    return pen.text()


def settle(pen: Routine, site: Fields, operands: str, out: str, o: Any) -> None:
    """Let Python make the results of what was called, and keep all of them."""
    n_ops, before = site["n_ops"], pen.place(operands, -1)
    pen.store("ptr", out, before)
    many = pen.op("or i64", pen.op("add i64", n_ops, 1), ROOM)
    given = f"ptr {site.pointer('settle')}", f"ptr {before}", f"i64 {many}", "ptr null"
    settled = pen.ask("ptr", "@PyObject_Vectorcall", *given)
    pen.do("@Py_DecRef", f"ptr {out}")
    pen.unless(pen.is_null(settled), "failing")
    items = pen.place(settled, o.ITEMS, "i8")
    first, place = site["first"], site["place"]
    with pen.loop(site["n_results"]) as k:
        item = pen.at(items, k)
        pen.do("@Py_IncRef", f"ptr {item}")
        pen.put("%held", pen.op("add i64", first, k), item)
        is_array = pen.test("eq ptr", pen.field(item, o.TYPE), "@pullback_array_type")
        pen.branch(is_array, "item_array", "item_scalar")
        pen.label("item_array")
        pen.give("took", pen.field(item, o.DATA))
        pen.label("item_scalar")
        pen.give("took", pen.place(item, o.NUMBER, "i8"))
        pen.label("took")
        pen.put("%table", pen.op("add i64", place, k), pen.given("ptr"))
    pen.do("@Py_DecRef", f"ptr {settled}")


def let_go() -> str:
    """Release objects that were held."""
    pen = Routine("define void @pullback_let_go(ptr %held, i64 %n)")
    with pen.loop("%n") as i:
        pen.do("@Py_DecRef", f"ptr {pen.at('%held', i)}")
    pen.ret()
    return pen.text()


def quiet() -> str:
    """Ignore floating-point errors from here on; the returned value restores the settings."""
    pen = Routine("define ptr @pullback_quiet()")
    given = "ptr @pullback_errors_variable", "ptr @pullback_errors_ignored"
    pen.ret("ptr", pen.ask("ptr", "@PyContextVar_Set", *given))
    return pen.text()


def loud() -> str:
    pen = Routine("define void @pullback_loud(ptr %token)")
    pen.ask("i32", "@PyContextVar_Reset", "ptr @pullback_errors_variable", "ptr %token")
    pen.do("@Py_DecRef", "ptr %token")
    pen.ret()
    return pen.text()


class SpecChangedError(ShapeError):
    """An operation returned another shape or dtype than in the recording."""


def performable(run: Any) -> bool:
    """Whether machine code may make all of a run's calls of NumPy."""
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
    """The addresses of a run's call sites, in the order of the calls.

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
    """The function that is called with the operands alone."""
    if isinstance(e.primitive, (Rolled, Waiting)):
        bodies = run.bodies  # and not the run: a cycle of references would outlive it
        return lambda *xs: e.primitive.stepwise(bodies.of(e.primitive), list(xs))
    if isinstance(e.primitive, Elementwise) and isinstance(e.primitive.fast, np.ufunc):
        return e.primitive.fast
    fun = e.primitive.value if getattr(e.primitive, "direct", False) else e.primitive
    return partial(fun, **e.static) if e.static else fun


def settled(e: Equation) -> Callable[..., tuple[Any, ...]]:
    """A function that turns a call's results into arrays with memory of their own.

    Raises:
        SpecChangedError: they have not the specs that were recorded.
    """

    expected = [(v.spec.shape, v.spec.dtype) for v in e.outputs]

    def settle(out: Any, *xs: Any) -> tuple[Any, ...]:
        outs = out if e.primitive.n_out is not None else (out,)
        new = type(outs) is tuple and len(outs) == len(expected)
        new = new and not any(o is x for o in outs for x in xs)
        if new and all(map(is_own, outs, expected)):
            return outs
        return tuple([unshared(e, v, o, xs) for v, o in zip(e.outputs, outs, strict=True)])

    return settle


def is_own(o: Any, expected: tuple[tuple[int, ...], Any]) -> bool:
    """Whether a result has the recorded spec, and an array owns its memory alone."""
    if type(o) is not np.ndarray:
        return isinstance(o, np.generic) and expected[0] == () and o.dtype is expected[1]
    if o.base is not None or o.shape != expected[0]:
        return False
    flags = o.flags
    return bool(o.dtype is expected[1] and flags.carray and flags.owndata)


def unshared(e: Equation, v: Variable, o: Any, xs: Sequence[Any]) -> Any:
    """A result as an array or NumPy scalar that shares no memory with operands."""
    if type(o) is not np.ndarray and not isinstance(o, np.generic):
        o = np.asarray(o)[()] if not hasattr(o, "dtype") else o
    if o.shape != v.spec.shape or o.dtype != v.spec.dtype:
        raise SpecChangedError(
            f"`{e.primitive.name}` gave {spec_of(o)} where {v.spec} was recorded."
        )
    if type(o) is np.ndarray and not is_alone(o, xs):
        return o.copy()
    return o


def is_alone(o: np.ndarray, xs: Sequence[Any]) -> bool:
    """Whether a result is laid out as it has to be, and shares no memory with operands."""
    flags = o.flags
    if not flags.carray:  # copied anyway
        return False
    if flags.owndata:
        return not any(o is x for x in xs)
    return not any(np.may_share_memory(o, x) for x in xs)
