"""The native entry: machine code that Python calls instead of a recorded function.

Python calls `way` with a table of records, one for each path; the first record that matches gives
the result, and `MISS` is returned if none does. `program` has only one record. `@attempt` runs a
record if its conditions hold: it allocates memory for the arena and the results, does the work,
checks the guards, and makes the results.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from ..llvm.pen import Fields, Routine, declared, external
from . import conditions, python_calls
from .conditions import COPIED, GIVEN, OUT, PLACED, RECORD, SCALAR, WRITTEN

CALLED = {
    "PyObject_Vectorcall": "ptr (ptr, ptr, i64, ptr)",
    "PyMem_RawMalloc": "ptr (i64)",
    "PyErr_NoMemory": "ptr ()",
    "PyErr_Occurred": "ptr ()",
    "PyEval_SaveThread": "ptr ()",
    "PyEval_RestoreThread": "void (ptr)",
    "PyErr_ExceptionMatches": "i32 (ptr)",
    "PyTuple_New": "ptr (i64)",
    "PyFloat_FromDouble": "ptr (double)",
    "PyLong_FromLongLong": "ptr (i64)",
    "PyDict_GetItemWithError": "ptr (ptr, ptr)",
    "PyDict_Next": "i32 (ptr, ptr, ptr, ptr)",
    "PyFunction_GetCode": "ptr (ptr)",
    "PyFunction_GetDefaults": "ptr (ptr)",
    "PyFunction_GetKwDefaults": "ptr (ptr)",
    "PyObject_GetAttr": "ptr (ptr, ptr)",
    "PyObject_CallNoArgs": "ptr (ptr)",
    "PyObject_RichCompareBool": "i32 (ptr, ptr, i32)",
    "PyContextVar_Get": "i32 (ptr, ptr, ptr)",
    "PyContextVar_Set": "ptr (ptr, ptr)",
    "PyContextVar_Reset": "i32 (ptr, ptr)",
    "PyObject_GenericGetDict": "ptr (ptr, ptr)",
    "PyErr_Clear": "void ()",
    "Py_IncRef": "void (ptr)",
    "Py_DecRef": "void (ptr)",
}

# What differs from process to process: NumPy's functions and, without a type, its type of arrays,
# `MISS`, and the variable that holds what is done about floating-point errors, with what it holds
# to ignore them.
PLACES = {
    "pullback_array_type": "",
    "pullback_to_scalar": "ptr (ptr, ptr, ptr)",
    "pullback_empty": "ptr (i32, ptr, ptr, i32)",
    "pullback_from_descr": "ptr (ptr, ptr, i32, ptr, ptr, ptr, i32, ptr)",
    "pullback_copy": "ptr (ptr, i32)",
    "pullback_copy_into": "i32 (ptr, ptr)",
    "pullback_set_base": "i32 (ptr, ptr)",
    "pullback_miss": "",
    "pullback_errors_variable": "",
    "pullback_errors_ignored": "",
    "PyExc_Exception": "",
    "PyTuple_Type": "",
}

MISS = "@pullback_miss"
ENTERED = "ptr %self, ptr %args, i64 %nargs, ptr %kwnames"
PASSED = "ptr %args", "i64 %nargs", "ptr %kwnames"


def text(offsets: dict[str, int]) -> str:
    """The whole LLVM text, with the offsets of fields filled in."""
    o = SimpleNamespace(**offsets)
    parts = [conditions.text(o), counted(), attempt(o), way(o), program(o), python_calls.text(o)]
    functions = {name: kind for name, kind in (CALLED | PLACES).items() if kind}
    functions["memcmp"] = "i32 (ptr, ptr, i64)"
    things = external([name for name, kind in PLACES.items() if not kind])
    return "".join([*parts, declared(functions), things])


def attempt(o: Any) -> str:
    """Replay a record if its conditions hold; else return `MISS`."""
    pen = Routine(f"define internal ptr @attempt(ptr %record, {', '.join(PASSED)}) noinline")
    record = Fields(pen, RECORD, "%record")
    pen.need(pen.ask("i1", "@holds", "ptr %record"), "miss")
    n_rows, n_in, n_out = record["n_rows"], record["n_in"], record["n_out"]
    n = pen.op("add i64", n_in, n_out)
    table = pen.room("ptr", pen.op("add i64", n, 1), 16)
    made, numbers = pen.room("ptr", n_out, 16), pen.room("i128", n_out, 16)
    places, n_made = pen.room("ptr", n_rows, 16), pen.room("i64")
    given = [*PASSED, f"ptr {places}", f"ptr {table}"]
    pen.need(pen.ask("i1", "@opens", "ptr %record", *given), "miss")
    pen.need(pen.ask("i1", "@apart", "ptr %record", f"ptr {table}"), "miss")
    left = pen.op("sub i64", record["left"], 1)
    pen.store("i64", left, record.place("left"))
    pen.unless(pen.test("eq i64", left, 0), "miss")
    # Calling the function itself is faster.
    pen.unless(pen.test("eq i64", record["form"], 3), "leave")

    block, small = arena(pen, record, o)
    pen.store("i64", "0", n_made)
    copies, n_copies = copied(pen, record, places, table, o)
    rows = record.pointer("outs")
    with pen.loop(n_out) as j:
        row = Fields.row(pen, OUT, rows, j)
        pen.put(table, pen.op("add i64", n_in, j), result_memory(pen, row, j, made, numbers, o))
    failed = pen.place(table, n)
    pen.store("ptr", "null", failed)
    pen.store("i64", n_out, n_made)
    work = pen.load("ptr", record.pointer("segment"))
    operands = [f"ptr {x}" for x in (block, table, record.pointer("constants"))]
    perform(pen, record["release"], lambda: pen.do(work, *operands), places, n_rows)
    pen.branch(pen.is_null(pen.load("ptr", failed)), "agree", "differs")
    pen.label("agree")
    agreed = pen.ask("i1", "@agrees", "ptr %record", f"ptr {table}")
    pen.need(agreed, "differs")
    write(pen, record, places, made)
    results(pen, record, rows, made, numbers, places, o)

    pen.label("failing")
    pen.store("i64", j, n_made)
    pen.jump("raised")
    for name, value in (("raised", "null"), ("differs", MISS)):
        pen.label(name)
        pen.give("undo", value)
    pen.label("undo")
    value = pen.given("ptr")
    pen.do("@pullback_let_go", f"ptr {made}", f"i64 {pen.load('i64', n_made)}")
    pen.do("@pullback_let_go", f"ptr {copies}", f"i64 {pen.load('i64', n_copies)}")
    give_back(pen, record, block, small)
    finish(pen, record, value)
    pen.label("miss")
    pen.ret("ptr", MISS)
    pen.label("leave")
    pen.ask("ptr", "@count", "ptr %record")
    itself = record.pointer("finish")
    pen.ret("ptr", pen.ask("ptr", "@PyObject_Vectorcall", f"ptr {itself}", *PASSED))
    return pen.text()


def arena(pen: Routine, record: Fields, o: Any) -> tuple[str, str]:
    """Memory for intermediate values, and whether it is on the stack."""
    size, spare = record["arena"], record.place("spare")
    small = pen.test("sle i64", size, o.STACK)
    pen.branch(small, "stack", "heap")
    pen.label("stack")
    pen.give("begin", pen.room("i8", size, 64))
    pen.label("heap")
    head = pen.load("ptr", spare)
    pen.branch(pen.is_null(head), "fresh", "reuse")
    pen.label("fresh")
    raw = pen.ask("ptr", "@PyMem_RawMalloc", f"i64 {pen.op('add i64', size, 128)}")
    pen.unless(pen.is_null(raw), "full")
    aligned = pen.pointer(pen.op("and i64", pen.op("add i64", pen.address(raw), 127), -64))
    pen.put(aligned, -1, raw)
    pen.give("begin", aligned)
    pen.label("full")
    pen.ask("ptr", "@PyErr_NoMemory")
    pen.ret("ptr", "null")
    pen.label("reuse")
    pen.store("ptr", pen.load("ptr", head), spare)
    pen.give("begin", head)
    pen.label("begin")
    return pen.given("ptr"), small


def give_back(pen: Routine, record: Fields, block: str, small: str) -> None:
    """Keep memory for intermediate values for the next call, if it isn't on the stack."""
    pen.unless(small, "over")
    pen.store("ptr", pen.load("ptr", record.place("spare")), block)
    pen.store("ptr", block, record.place("spare"))
    pen.label("over")


def copied(pen: Routine, record: Fields, places: str, table: str, o: Any) -> tuple[str, str]:
    """Replace arguments by copies where the program expects another memory layout."""
    n = record["n_copied"]
    copies, done = pen.room("ptr", n, 16), pen.room("i64")
    pen.store("i64", "0", done)
    with pen.loop(n) as c:
        row = Fields.row(pen, COPIED, record.pointer("copied"), c)
        x, strides = pen.at(places, row["row"]), row.pointer("strides")
        pen.branch(pen.is_null(strides), "in_order", "ordered")
        pen.label("in_order")
        pen.give("copy", pen.ask("ptr", "@pullback_copy", f"ptr {x}", "i32 0"))
        pen.label("ordered")
        shape, axes = pen.field(x, o.SHAPE), pen.field(x, o.AXES, "i32")
        room = lying(pen, pen.field(x, o.DTYPE), axes, shape, strides)
        pen.unless(pen.is_null(room), "raised")
        pen.ask("i32", "@pullback_copy_into", f"ptr {room}", f"ptr {x}")
        pen.give("copy", room)
        pen.label("copy")
        copy = pen.given("ptr")
        pen.unless(pen.is_null(copy), "raised")
        pen.put(copies, c, copy)
        pen.store("i64", pen.op("add i64", c, 1), done)
        pen.put(table, row["slot"], pen.field(copy, o.DATA))
    return copies, done


def lying(pen: Routine, dtype: str, axes: str, shape: str, strides: str) -> str:
    """A new uninitialised array with these strides."""
    pen.do("@Py_IncRef", f"ptr {dtype}")
    head = "ptr @pullback_array_type", f"ptr {dtype}", f"i32 {axes}"
    rest = f"ptr {shape}", f"ptr {strides}", "ptr null", "i32 0", "ptr null"
    return pen.ask("ptr", "@pullback_from_descr", *head, *rest)


def result_memory(pen: Routine, row: Fields, j: str, made: str, numbers: str, o: Any) -> str:
    """Where result j goes: into a new array, which is `made`, or to the numbers."""
    pen.branch(pen.test("sge i64", row["kind"], SCALAR), "slot", "create")
    pen.label("slot")
    pen.put(made, j, "null")
    pen.give("placed", pen.place(numbers, j, "i128"))
    pen.label("create")
    dtype, axes = row.pointer("dtype"), pen.line(f"trunc i64 {row['axes']} to i32")
    shape = row.pointer("shape")
    pen.branch(pen.test("eq i64", row["kind"], PLACED), "laid", "plain")
    pen.label("laid")
    pen.give("made", lying(pen, dtype, axes, shape, row.pointer("strides")))
    pen.label("plain")
    pen.do("@Py_IncRef", f"ptr {dtype}")
    given = f"i32 {axes}", f"ptr {shape}", f"ptr {dtype}", "i32 0"
    pen.give("made", pen.ask("ptr", "@pullback_empty", *given))
    pen.label("made")
    array = pen.given("ptr")
    pen.put(made, j, array)
    pen.unless(pen.is_null(array), "failing")
    pen.give("placed", pen.field(array, o.DATA))
    pen.label("placed")
    return pen.given("ptr")


def perform(pen: Routine, release: str, work: Callable[[], None], places: str, n_rows: str) -> None:
    """Run the program and go to `agree` or `raised`; fall through where it may miss.

    release: 0 for short work; else arguments are held meanwhile, and what is no call of NumPy (3)
        lets other threads run. From 2 on it may have been interrupted.
    """
    pen.branch(pen.test("eq i64", release, 0), "short", "long")
    pen.label("short")
    work()
    pen.jump("agree")
    pen.label("long")
    with pen.loop(n_rows) as h:
        pen.do("@Py_IncRef", f"ptr {pen.at(places, h)}")
    pen.branch(pen.test("eq i64", release, 3), "attended", "unattended")
    pen.label("attended")
    work()
    pen.jump("worked")
    pen.label("unattended")
    thread = pen.ask("ptr", "@PyEval_SaveThread")
    work()
    pen.do("@PyEval_RestoreThread", f"ptr {thread}")
    pen.label("worked")
    pen.do("@pullback_let_go", f"ptr {places}", f"i64 {n_rows}")
    pen.need(pen.test("sge i64", release, 2), "agree")
    pen.need(pen.is_null(pen.ask("ptr", "@PyErr_Occurred")), "raised")


def write(pen: Routine, record: Fields, places: str, made: str) -> None:
    """Write results into the arguments that they belong to."""
    rows = record.pointer("written")
    with pen.loop(record["n_written"]) as w:
        row = Fields.row(pen, WRITTEN, rows, w)
        pair = f"ptr {pen.at(places, row['row'])}", f"ptr {pen.at(made, row['out'])}"
        failed = pen.test("slt i32", pen.ask("i32", "@pullback_copy_into", *pair), 0)
        pen.unless(failed, "raised")


def results(
    pen: Routine, record: Fields, rows: str, made: str, numbers: str, places: str, o: Any
) -> None:
    """Pass the result, or a tuple of results, to `undo`; what is passed on is no longer `made`.

    The slots of a new tuple are empty, so they are written directly.
    """
    one, n, more = pen.test("eq i64", record["form"], 1), record["n_results"], record["n_given"]
    pen.branch(one, "single", "several")
    pen.label("single")
    pen.give("fill", "null")
    pen.label("several")
    wrapped = pen.ask("ptr", "@PyTuple_New", f"i64 {pen.op('add i64', n, more)}")
    pen.unless(pen.is_null(wrapped), "raised")
    pen.give("fill", wrapped)
    pen.label("fill")
    into = pen.given("ptr")
    with pen.loop(n) as k:
        row = Fields.row(pen, OUT, rows, k)
        thing = result(pen, row, k, made, numbers)
        pen.put(made, k, "null")
        pen.branch(one, "itself", "item")
        pen.label("itself")
        pen.give("filled", thing)
        pen.label("item")
        pen.put(pen.place(into, o.ITEMS, "i8"), row["place"], thing)
    given = record.pointer("given")
    with pen.loop(more) as c:
        row = Fields.row(pen, GIVEN, given, c)
        thing = not_computed(pen, row, places, into, o)
        pen.branch(one, "alone", "beside")
        pen.label("alone")
        pen.give("filled", thing)
        pen.label("beside")
        pen.put(pen.place(into, o.ITEMS, "i8"), row["place"], thing)
    pen.give("filled", into)
    pen.label("filled")
    whole = pen.given("ptr")
    pen.ask("ptr", "@count", "ptr %record")
    pen.give("undo", whole)
    pen.label("drop")
    pen.do("@Py_DecRef", f"ptr {into}")
    pen.jump("raised")


def not_computed(pen: Routine, row: Fields, places: str, into: str, o: Any) -> str:
    """A result that isn't computed; go to `drop` if it can't be made."""
    thing, number = row.pointer("object"), row["object"]
    pen.switch(row["how"], ("same", "duplicate", "argument", "part", "earlier"), "same")
    pen.label("same")
    pen.give("held", thing)
    pen.label("argument")
    pen.give("held", pen.at(places, number))
    pen.label("earlier")
    pen.give("held", pen.at(pen.place(into, o.ITEMS, "i8"), number))
    pen.label("held")
    held = pen.given("ptr")
    pen.do("@Py_IncRef", f"ptr {held}")
    pen.give("there", held)
    pen.label("duplicate")
    copy = pen.ask("ptr", "@pullback_copy", f"ptr {thing}", "i32 2")  # in the same order
    pen.unless(pen.is_null(copy), "drop")
    pen.give("there", copy)
    pen.label("part")
    part_of(pen, row, pen.at(places, number), o)
    pen.label("there")
    return pen.given("ptr")


def part_of(pen: Routine, row: Fields, whole: str, o: Any) -> None:
    """A view of an argument; as in NumPy, its base is the array that owns the memory."""
    dtype, axes = row.pointer("dtype"), pen.line(f"trunc i64 {row['axes']} to i32")
    first = pen.place(pen.field(whole, o.DATA), row["offset"], "i8")
    flags = pen.line(f"trunc i64 {row['flags']} to i32")
    pen.do("@Py_IncRef", f"ptr {dtype}")
    head = "ptr @pullback_array_type", f"ptr {dtype}", f"i32 {axes}"
    about = [f"ptr {x}" for x in (row.pointer("shape"), row.pointer("strides"), first)]
    made = "@pullback_from_descr", *head, *about, f"i32 {flags}", "ptr null"
    part = pen.ask("ptr", *made)
    pen.unless(pen.is_null(part), "drop")
    pen.do("@Py_IncRef", f"ptr {whole}")
    known = pen.ask("i32", "@pullback_set_base", f"ptr {part}", f"ptr {whole}")
    pen.need(pen.test("slt i32", known, 0), "there_part")
    pen.do("@Py_DecRef", f"ptr {part}")
    pen.jump("drop")
    pen.label("there_part")
    pen.give("there", part)


def result(pen: Routine, row: Fields, k: str, made: str, numbers: str) -> str:
    """Result k as an object; go to `drop` if it can't be made."""
    array = pen.at(made, k)
    pen.branch(pen.is_null(array), "box", "array")
    pen.label("array")
    pen.give("object", array)
    pen.label("box")
    number = pen.place(numbers, k, "i128")
    kind = pen.op("sub i64", row["kind"], SCALAR)
    pen.switch(kind, ("scalar", "python_float", "python_int"), "scalar")
    pen.label("python_float")
    double = pen.load("double", number)
    pen.give("boxed", pen.ask("ptr", "@PyFloat_FromDouble", f"double {double}"))
    pen.label("python_int")
    whole = pen.load("i64", number)
    pen.give("boxed", pen.ask("ptr", "@PyLong_FromLongLong", f"i64 {whole}"))
    pen.label("scalar")
    given = f"ptr {number}", f"ptr {row.pointer('dtype')}", "ptr null"
    pen.give("boxed", pen.ask("ptr", "@pullback_to_scalar", *given))
    pen.label("boxed")
    boxed = pen.given("ptr")
    pen.unless(pen.is_null(boxed), "drop")
    pen.give("object", boxed)
    pen.label("object")
    return pen.given("ptr")


def finish(pen: Routine, record: Fields, value: str) -> None:
    """Return a value, or the result that Python code makes from it."""
    calls = pen.test("eq i64", record["form"], 2)
    good = pen.op("and i1", pen.test("ne ptr", value, "null"), pen.test("ne ptr", value, MISS))
    pen.need(pen.op("and i1", calls, good), "done")
    finisher, given = record.pointer("finish"), pen.room("ptr")
    pen.store("ptr", value, given)
    operands = f"ptr {finisher}", f"ptr {given}", "i64 1", "ptr null"
    answer = pen.ask("ptr", "@PyObject_Vectorcall", *operands)
    pen.do("@Py_DecRef", f"ptr {value}")
    pen.ret("ptr", answer)
    pen.label("done")
    pen.ret("ptr", value)


def counted() -> str:
    """Count a replay, and note which record it was."""
    pen = Routine("define internal ptr @count(ptr %record)")
    hits = Fields(pen, RECORD, "%record").pointer("hits")
    pen.store("i64", pen.op("add i64", pen.load("i64", hits), 1), hits)
    pen.put(hits, 1, "%record")
    pen.ret("ptr", hits)
    return pen.text()


def way(o: Any) -> str:
    """The entry that tries records one after another."""
    pen = Routine(f"define ptr @way({ENTERED})")
    records = pen.field("%self", o.DATA)
    with pen.loop(pen.load("i64", records)) as i:
        record = pen.at(records, pen.op("add i64", i, 1))
        out = pen.ask("ptr", "@attempt", f"ptr {record}", *PASSED)
        pen.need(pen.test("eq ptr", out, MISS), "done")
    pen.do("@Py_IncRef", f"ptr {MISS}")
    pen.ret("ptr", MISS)
    pen.label("done")
    pen.ret("ptr", out)
    return pen.text()


def program(o: Any) -> str:
    """The entry of one record, which calls the record's fallback if the record doesn't fit."""
    pen = Routine(f"define ptr @program({ENTERED})")
    start = pen.field("%self", o.DATA)
    out = pen.ask("ptr", "@attempt", f"ptr {start}", *PASSED)
    pen.need(pen.test("eq ptr", out, MISS), "done")
    slower = Fields(pen, RECORD, start).pointer("finish")
    pen.ret("ptr", pen.ask("ptr", "@PyObject_Vectorcall", f"ptr {slower}", *PASSED))
    pen.label("done")
    pen.ret("ptr", out)
    return pen.text()
