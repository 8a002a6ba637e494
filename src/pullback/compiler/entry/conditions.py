"""Conditions of the native entry, as machine code: what must hold before a path is replayed.

    @holds   is everything that's read besides the arguments unchanged?
    @opens   are the arguments of the recorded kind? Their addresses go into `table`
    @apart   do the arguments share no memory with each other, or with what is read, if it matters?
    @agrees  did the guards get the answers that were recorded?

Each takes a record, whose fields are named here, and returns a flag. `object_layout` defines and
tests the memory layout of objects; `o` has the offsets.
"""

from __future__ import annotations

from typing import Any

from ..llvm.pen import Fields, Routine

# All fields are 8 bytes long.
RECORD = (
    "n_checks", "checks", "n_rows", "rows", "n_args", "n_names", "names", "n_in", "n_out",
    "n_results", "outs", "segment", "constants", "arena", "spare", "release", "form", "finish",
    "left", "hits", "n_areas", "areas", "n_copied", "copied", "n_given", "given", "n_written",
    "written",
)  # fmt: skip
# A value read besides the arguments: `kind` says where to look and what must be there.
CHECK = ("kind", "at", "name", "expected")
# An argument, or an item of an earlier one: where it is, what it must be, its table slot.
ROW = (
    "parent", "how", "position", "key", "test", "slot", "first", "second", "dtype", "axes", "shape",
    "layout", "strides", "copied", "told",
)  # fmt: skip
# A result: of which kind, at which place of a tuple, with which strides. Or what a guard looks at.
ARRAY, PLACED, SCALAR, FLOAT, INT = range(5)
OUT = ("dtype", "axes", "shape", "kind", "expected", "bytes", "place", "strides")
# Memory: an argument's, by its slot, or memory at an address.
AREA = ("slot", "start", "bytes")
# An argument that is copied first: its row, its slot, and the strides if not C order's.
COPIED = ("row", "slot", "strides")
# A result that is not computed: an object, or an array of which a copy is given; the argument of a
# row, or a part of its memory; the result at an earlier place.
SAME, COPY, ARGUMENT, PART, EARLIER = range(5)
GIVEN = ("object", "place", "how", "dtype", "axes", "shape", "strides", "offset", "flags")
# An argument that is written into: its row, and the result that goes there.
WRITTEN = ("row", "out")

# What `ends` is told: types that end in silence, the dtype of arrays that do, whom to ask about
# others, and False, which is the answer.
SILENT, FLOATS, ASKED, NOT = range(3), 3, 4, 5

# The kinds of checks, by number.
KINDS = (
    "item", "field", "code", "defaults", "context", "errors", "own", "content", "map", "attribute",
    "keywords", "digest", "ambient", "ended_item", "ended_field",
)  # fmt: skip


def text(o: Any) -> str:
    """LLVM text of the functions, with the offsets of fields filled in."""
    return "".join([holds(o), maps(o), opens(o), apart(), agrees()])


def answered(pen: Routine) -> str:
    """Text of a check function: 1 at the end, 0 where it went to `no`."""
    pen.ret("i1", "true")
    pen.label("no")
    pen.ret("i1", "false")
    return pen.text()


def holds(o: Any) -> str:
    pen = Routine("define internal i1 @holds(ptr %record)")
    record = Fields(pen, RECORD, "%record")
    found, rows = pen.room("ptr"), record.pointer("checks")
    with pen.loop(record["n_checks"]) as i:
        check = Fields.row(pen, CHECK, rows, i)
        thing, name, expected = check.pointer("at"), check["name"], check["expected"]
        word, wanted = pen.pointer(name), pen.pointer(expected)
        pen.switch(check["kind"], KINDS, "no")
        passed(pen, thing, name, word, wanted)
        ends(pen, thing, name, word, wanted, o)
        for kind in ("item", "field", "code", "defaults", "keywords"):
            pen.label(kind)
            pen.give("compare", borrowed(pen, kind, thing, name, word))
        for kind in ("context", "errors"):
            pen.label(kind)
            pen.ask("i32", "@PyContextVar_Get", f"ptr {thing}", "ptr null", f"ptr {found}")
            there = pen.load("ptr", found)
            kept = there if kind == "context" else error_settings(pen, there, o)
            pen.do("@Py_DecRef", f"ptr {there}")
            pen.give("compare", kept)
        for kind in ("own", "attribute"):
            pen.label(kind)
            own = "@PyObject_GenericGetDict", f"ptr {thing}", "ptr null"
            attribute = "@PyObject_GetAttr", f"ptr {thing}", f"ptr {word}"
            got = pen.ask("ptr", *(own if kind == "own" else attribute))
            pen.unless(pen.is_null(got), "clear")
            pen.do("@Py_DecRef", f"ptr {got}")
            pen.give("compare", got)
        pen.label("compare")
        pen.branch(pen.test("eq i64", pen.address(pen.given("ptr")), expected), "same", "no")
        pen.label("clear")
        pen.do("@PyErr_Clear")
        pen.jump("no")
        pen.label("same")
    return answered(pen)


def borrowed(pen: Routine, kind: str, thing: str, name: str, word: str) -> str:
    """Load an attribute as a borrowed reference."""
    match kind:
        case "item":
            item = pen.ask("ptr", "@PyDict_GetItemWithError", f"ptr {thing}", f"ptr {word}")
            with pen.when(pen.is_null(item)):
                pen.do("@PyErr_Clear")  # comparing a key may run the user's code, which may raise
            return item
        case "field":
            return pen.load("ptr", pen.place(thing, name, "i8"))
    function = {"code": "Code", "defaults": "Defaults", "keywords": "KwDefaults"}[kind]
    return pen.ask("ptr", f"@PyFunction_Get{function}", f"ptr {thing}")


def error_settings(pen: Routine, capsule: str, o: Any) -> str:
    """NumPy's floating-point error settings and buffer size as one number."""
    inside = pen.field(capsule, o.CAPSULE)
    mask = pen.line(f"zext i32 {pen.load('i32', inside)} to i64")
    return pen.pointer(pen.op("or i64", pen.op("shl i64", pen.field(inside, 8, "i64"), 32), mask))


def passed(pen: Routine, thing: str, name: str, word: str, wanted: str) -> None:
    """The checks that compare more than one address; they go to `same`, `no` or `clear`."""
    pen.label("ambient")
    told = pen.ask("ptr", "@PyObject_CallNoArgs", f"ptr {thing}")
    pen.unless(pen.is_null(told), "clear")
    answer = pen.ask("i32", "@PyObject_RichCompareBool", f"ptr {told}", f"ptr {wanted}", "i32 2")
    pen.do("@Py_DecRef", f"ptr {told}")
    pen.unless(pen.test("slt i32", answer, 0), "clear")
    pen.branch(pen.test("eq i32", answer, 1), "same", "no")
    pen.label("digest")
    hashed = pen.ask("i64", pen.at(wanted, 1), f"ptr {thing}", f"i64 {name}")
    pen.branch(pen.test("eq i64", hashed, pen.load("i64", wanted)), "same", "no")
    pen.label("map")
    pen.branch(pen.ask("i1", "@maps", f"ptr {thing}", f"ptr {word}"), "same", "no")
    pen.label("content")
    length, copy = pen.load("i64", wanted), pen.place(wanted, 1, "i64")
    differs = pen.ask("i32", "@memcmp", f"ptr {thing}", f"ptr {copy}", f"i64 {length}")
    pen.branch(pen.test("eq i32", differs, 0), "same", "no")


def ends(pen: Routine, thing: str, name: str, word: str, wanted: str, o: Any) -> None:
    """The check that nobody hears of the end of what is there, by `facts.ends.Released`.

    Machine code knows it of numbers, of None, and of arrays that nothing refers to weakly.
    """
    for kind in ("item", "field"):
        pen.label(f"ended_{kind}")
        pen.give("ending", borrowed(pen, kind, thing, name, word))
    pen.label("ending")
    held = pen.given("ptr")
    pen.unless(pen.is_null(held), "same")
    known = pen.field(held, o.TYPE)
    pen.unless(pen.test("eq ptr", known, "@pullback_array_type"), "ending_array")
    for i in SILENT:
        pen.unless(pen.test("eq ptr", known, pen.at(wanted, i)), "same")
    pen.jump("inquire")
    pen.label("ending_array")
    for offset in (o.WEAK, o.BASE):
        pen.need(pen.is_null(pen.field(held, offset)), "inquire")
    floats = pen.test("eq ptr", pen.field(held, o.DTYPE), pen.at(wanted, FLOATS))
    pen.branch(floats, "same", "inquire")
    pen.label("inquire")
    told = pen.ask("ptr", "@PyObject_CallNoArgs", f"ptr {pen.at(wanted, ASKED)}")
    pen.unless(pen.is_null(told), "clear")
    pen.do("@Py_DecRef", f"ptr {told}")
    pen.branch(pen.test("eq ptr", told, pen.at(wanted, NOT)), "same", "no")


def maps(o: Any) -> str:
    """Check that a dict has exactly these keys in this order, and these values; 0 allows any."""
    pen = Routine("define internal i1 @maps(ptr %dict, ptr %expected)")
    items = DictItems(pen, "%dict")
    n = pen.load("i64", "%expected")
    pen.need(pen.test("eq i64", pen.field("%dict", o.USED, "i64"), n), "no")
    with pen.loop(n) as i:
        pen.need(items.next(), "no")
        pair = pen.place("%expected", pen.op("shl i64", i, 1), "i64")
        key, value = pen.at(pair, 1, "i64"), pen.at(pair, 2, "i64")
        pen.need(pen.test("eq i64", pen.load("i64", items.key), key), "no")
        same = pen.test("eq i64", pen.load("i64", items.value), value)
        pen.need(pen.op("or i1", same, pen.test("eq i64", value, 0)), "no")
    return answered(pen)


class DictItems:
    """Iterate over a dict; `key` and `value` are the addresses of its current item."""

    def __init__(self, pen: Routine, thing: str = "") -> None:
        self.pen, self.thing = pen, thing
        self.cursor, self.key, self.value = pen.room("i64"), pen.room("ptr"), pen.room("ptr")
        self.rewind()

    def rewind(self) -> None:
        self.pen.store("i64", "0", self.cursor)

    def next(self, thing: str = "") -> str:
        """Advance; return whether there was another item."""
        given = [f"ptr {x}" for x in (thing or self.thing, self.cursor, self.key, self.value)]
        return self.pen.test("ne i32", self.pen.ask("i32", "@PyDict_Next", *given), 0)


def opens(o: Any) -> str:
    pen = Routine(
        "define internal i1 @opens("
        "ptr %record, ptr %args, i64 %nargs, ptr %kwnames, ptr %places, ptr %table)"
    )
    record = Fields(pen, RECORD, "%record")
    items = DictItems(pen)
    pen.need(pen.test("eq i64", "%nargs", record["n_args"]), "no")
    n_names = record["n_names"]
    pen.branch(pen.is_null("%kwnames"), "unnamed", "named")
    pen.label("named")
    pen.need(pen.test("eq i64", pen.field("%kwnames", o.LENGTH, "i64"), n_names), "no")
    words, names = pen.place("%kwnames", o.ITEMS, "i8"), record.pointer("names")
    with pen.loop(n_names) as w:
        pen.need(pen.test("eq i64", pen.at(words, w, "i64"), pen.at(names, w, "i64")), "no")
    pen.jump("rows")
    pen.label("unnamed")
    pen.need(pen.test("eq i64", n_names, 0), "no")
    pen.label("rows")
    rows = record.pointer("rows")
    with pen.loop(record["n_rows"]) as i:
        row = Fields.row(pen, ROW, rows, i)
        x = pen.load("ptr", taken(pen, row, items, o))
        pen.put("%places", i, x)
        fitting(pen, row, x, o)
    return answered(pen)


def taken(pen: Routine, row: Fields, items: DictItems, o: Any) -> str:
    """Find an argument, or an item of an earlier container; go to `no` if it isn't there."""
    position, parent = row["position"], row["parent"]
    pen.switch(row["how"], ("given", "in_tuple", "in_list", "in_dict"), "given")
    pen.label("given")
    pen.give("take", pen.place("%args", position))
    pen.label("in_tuple")
    start = pen.place(pen.at("%places", parent), o.ITEMS, "i8")
    pen.give("take", pen.place(start, position))
    pen.label("in_list")
    pen.give("take", pen.place(pen.field(pen.at("%places", parent), o.ITEMS), position))
    pen.label("in_dict")
    outer = pen.at("%places", parent)
    with pen.when(pen.test("eq i64", position, 0)):
        items.rewind()
    pen.need(items.next(outer), "no")
    pen.need(pen.test("eq i64", pen.load("i64", items.key), row["key"]), "no")
    pen.give("take", items.value)
    pen.label("take")
    return pen.given("ptr")


def fitting(pen: Routine, row: Fields, x: str, o: Any) -> None:
    """Go to `no` unless an object is as recorded; put a leaf's address into the table."""
    kind, first = pen.field(x, o.TYPE, "i64"), row["first"]
    pen.switch(row["test"], ("very", "leaf", "sized", "in_all", "equal"), "no")
    pen.label("very")
    pen.branch(pen.test("eq i64", pen.address(x), first), "good", "no")
    for name, offset, number in (
        ("sized", o.LENGTH, "axes"), ("in_all", o.USED, "axes"), ("equal", o.NUMBER, "second")
    ):  # fmt: skip
        pen.label(name)
        pen.need(pen.test("eq i64", kind, first), "no")
        pen.branch(pen.test("eq i64", pen.field(x, offset, "i64"), row[number]), "good", "no")
    pen.label("leaf")
    pen.branch(pen.test("eq ptr", pen.pointer(kind), "@pullback_array_type"), "array", "number")
    pen.label("number")
    either = pen.test("eq i64", kind, first), pen.test("eq i64", kind, row["second"])
    pen.need(pen.op("or i1", *either), "no")
    pen.give("enter", pen.place(x, o.NUMBER, "i8"))
    pen.label("array")
    pen.need(pen.test("eq i64", pen.field(x, o.DTYPE, "i64"), row["dtype"]), "no")
    flags = pen.op("and i32", pen.field(x, o.FLAGS, "i32"), o.CONTIGUOUS_ALIGNED)
    lies = pen.test("eq i32", flags, o.CONTIGUOUS_ALIGNED)
    pen.need(pen.op("or i1", lies, pen.test("ne i64", row["layout"], 0)), "no")
    axes = pen.line(f"sext i32 {pen.field(x, o.AXES, 'i32')} to i64")
    pen.need(pen.test("eq i64", axes, row["axes"]), "no")
    equal(pen, pen.field(x, o.SHAPE), row.pointer("shape"), axes)
    pen.branch(pen.test("eq i64", row["layout"], 2), "exact", "located")
    pen.label("exact")
    even = pen.test("ne i32", pen.op("and i32", flags, o.ALIGNED), 0)
    pen.need(pen.op("or i1", even, pen.test("ne i64", row["copied"], 0)), "no")
    equal(pen, pen.field(x, o.STRIDES), row.pointer("strides"), axes)
    pen.branch(pen.test("eq i64", row["told"], 0), "located", "asked")
    pen.label("asked")
    bits = pen.op("and i32", pen.field(x, o.FLAGS, "i32"), o.WRITEABLE_ALIGNED)
    own = pen.select(pen.is_null(pen.field(x, o.BASE)), "i32", o.OWN, 0)
    told = pen.line(f"zext i32 {pen.op('or i32', pen.op('or i32', bits, own), o.TOLD)} to i64")
    pen.branch(pen.test("eq i64", told, row["told"]), "located", "no")
    pen.label("located")
    pen.give("enter", pen.field(x, o.DATA))
    pen.label("enter")
    pen.put("%table", row["slot"], pen.given("ptr"))
    pen.jump("good")
    pen.label("good")


def equal(pen: Routine, found: str, wanted: str, n: str) -> None:
    """Go to `no` unless n numbers are equal."""
    with pen.loop(n) as a:
        pen.need(pen.test("eq i64", pen.at(found, a, "i64"), pen.at(wanted, a, "i64")), "no")


def apart() -> str:
    pen = Routine("define internal i1 @apart(ptr %record, ptr %table)")
    record = Fields(pen, RECORD, "%record")
    areas = record.pointer("areas")

    def ends(i: str) -> tuple[str, str, str]:
        area = Fields.row(pen, AREA, areas, i)
        fixed = pen.test("slt i64", area["slot"], 0)
        slot = pen.select(fixed, "i64", 0, area["slot"])
        start = pen.select(fixed, "i64", area["start"], pen.at("%table", slot, "i64"))
        return fixed, start, pen.op("add i64", start, area["bytes"])

    with pen.loop(record["n_areas"]) as i:
        fixed, start, end = ends(i)
        with pen.loop(i) as k:
            both, first, last = ends(k)
            beside = pen.test("ule i64", end, first), pen.test("ule i64", last, start)
            fine = pen.op("or i1", pen.op("or i1", *beside), pen.op("and i1", fixed, both))
            pen.need(fine, "no")
    return answered(pen)


def agrees() -> str:
    pen = Routine("define internal i1 @agrees(ptr %record, ptr %table)")
    record = Fields(pen, RECORD, "%record")
    outs, n_in = record.pointer("outs"), record["n_in"]
    with pen.loop(record["n_out"], record["n_results"]) as k:
        row = Fields.row(pen, OUT, outs, k)
        found = pen.at("%table", pen.op("add i64", n_in, k))
        given = f"ptr {found}", f"ptr {row.pointer('expected')}", f"i64 {row['bytes']}"
        pen.need(pen.test("eq i32", pen.ask("i32", "@memcmp", *given), 0), "no")
    return answered(pen)
