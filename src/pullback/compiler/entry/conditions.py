"""Conditions of the native entry, in LLVM's language: what must be so for a way to be repeated.

    @holds   is what is read beside the arguments as it was?
    @opens   are the arguments as they were? Their addresses go into `table`
    @agrees  did the guards get the answers that were recorded?

Where objects lie in memory is said in `machine`, and tested there.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["AGREES", "CHECK", "HOLDS", "MAPS", "OPENS", "OUT", "RECORD", "ROW", "fields"]

# Fields of 8 bytes each.
RECORD = (
    "n_checks", "checks", "n_rows", "rows", "n_args", "n_names", "names", "n_in", "n_out",
    "n_results", "outs", "segment", "constants", "arena", "spare", "release", "form", "finish",
    "left", "hits",
)  # fmt: skip
# What is read beside the arguments: `kind` says where to look, and what must be there.
CHECK = ("kind", "at", "name", "expected")
# An argument, or an item of one before it: where it is, what it must be, its place in the table.
ROW = (
    "parent", "how", "position", "key", "test", "slot", "first", "second", "dtype", "axes", "shape",
    "layout",
)  # fmt: skip
# A result (an array, a number of NumPy's, a float of Python's), or what a guard looks at.
OUT = ("dtype", "axes", "shape", "kind", "expected", "bytes")


def fields(names: Sequence[str], start: str) -> str:
    """Loads of all fields of a record, each under its own name."""
    lines = []
    for i, name in enumerate(names):
        lines.append(f"%{name}p = getelementptr i64, ptr {start}, i64 {i}")
        lines.append(f"%{name} = load i64, ptr %{name}p")
    return "\n  ".join(lines)


HOLDS = """
define internal i1 @holds(ptr %record) {{
start:
  {record_fields}
  %list = inttoptr i64 %checks to ptr
  %found = alloca ptr
  %some = icmp sgt i64 %n_checks, 0
  br i1 %some, label %check, label %yes
check:
  %i = phi i64 [0, %start], [%in, %same]
  %rowi = mul i64 %i, {check_size}
  %row = getelementptr i64, ptr %list, i64 %rowi
  {check_fields}
  %object = inttoptr i64 %at to ptr
  %word = inttoptr i64 %name to ptr
  switch i64 %kind, label %no [
    i64 0, label %item
    i64 1, label %field
    i64 2, label %code
    i64 3, label %defaults
    i64 4, label %context
    i64 5, label %errors
    i64 6, label %own
    i64 7, label %content
    i64 8, label %map
    i64 9, label %attribute
    i64 10, label %keywords
    i64 11, label %digest
    i64 12, label %ambient
  ]
ambient:
  %told = call ptr @PyObject_CallNoArgs(ptr %object)
  %silent = icmp eq ptr %told, null
  br i1 %silent, label %clear, label %ask
ask:
  %wanted12 = inttoptr i64 %expected to ptr
  %answer = call i32 @PyObject_RichCompareBool(ptr %told, ptr %wanted12, i32 2)
  call void @Py_DecRef(ptr %told)
  %failed = icmp slt i32 %answer, 0
  br i1 %failed, label %clear, label %tell
tell:
  %agrees = icmp eq i32 %answer, 1
  br i1 %agrees, label %same, label %no
digest:
  %wantp = inttoptr i64 %expected to ptr
  %want = load i64, ptr %wantp
  %hashp = getelementptr i64, ptr %wantp, i64 1
  %hasher = load ptr, ptr %hashp
  %hash = call i64 %hasher(ptr %object, i64 %name)
  %unchanged = icmp eq i64 %hash, %want
  br i1 %unchanged, label %same, label %no
map:
  %mapped = call i1 @maps(ptr %object, ptr %word)
  br i1 %mapped, label %same, label %no
attribute:
  %got9 = call ptr @PyObject_GetAttr(ptr %object, ptr %word)
  %lacking = icmp eq ptr %got9, null
  br i1 %lacking, label %clear, label %drop9
drop9:
  call void @Py_DecRef(ptr %got9)
  br label %compare
keywords:
  %got10 = call ptr @PyFunction_GetKwDefaults(ptr %object)
  br label %compare
item:
  %got0 = call ptr @PyDict_GetItem(ptr %object, ptr %word)
  br label %compare
field:
  %place = getelementptr i8, ptr %object, i64 %name
  %got1 = load ptr, ptr %place
  br label %compare
code:
  %got2 = call ptr @PyFunction_GetCode(ptr %object)
  br label %compare
defaults:
  %got3 = call ptr @PyFunction_GetDefaults(ptr %object)
  br label %compare
context:
  %ok4 = call i32 @PyContextVar_Get(ptr %object, ptr null, ptr %found)
  %got4 = load ptr, ptr %found
  call void @Py_DecRef(ptr %got4)
  br label %compare
errors:
  %ok5 = call i32 @PyContextVar_Get(ptr %object, ptr null, ptr %found)
  %capsule = load ptr, ptr %found
  %insidep = getelementptr i8, ptr %capsule, i64 {CAPSULE}
  %inside = load ptr, ptr %insidep
  %mask = load i32, ptr %inside
  call void @Py_DecRef(ptr %capsule)
  %mask64 = zext i32 %mask to i64
  %bufferp = getelementptr i8, ptr %inside, i64 8
  %buffer = load i64, ptr %bufferp
  %sized = shl i64 %buffer, 32
  %settings = or i64 %sized, %mask64
  %got5 = inttoptr i64 %settings to ptr
  br label %compare
own:
  %got6 = call ptr @PyObject_GenericGetDict(ptr %object, ptr null)
  %lost = icmp eq ptr %got6, null
  br i1 %lost, label %clear, label %drop
clear:
  call void @PyErr_Clear()
  br label %no
drop:
  call void @Py_DecRef(ptr %got6)
  br label %compare
content:
  %copyp = inttoptr i64 %expected to ptr
  %length = load i64, ptr %copyp
  %copy = getelementptr i64, ptr %copyp, i64 1
  %differs = call i32 @memcmp(ptr %object, ptr %copy, i64 %length)
  %equal = icmp eq i32 %differs, 0
  br i1 %equal, label %same, label %no
compare:
  %got = phi ptr [%got0, %item], [%got1, %field], [%got2, %code], [%got3, %defaults],
    [%got4, %context], [%got5, %errors], [%got6, %drop], [%got9, %drop9], [%got10, %keywords]
  %number = ptrtoint ptr %got to i64
  %right = icmp eq i64 %number, %expected
  br i1 %right, label %same, label %no
same:
  %in = add i64 %i, 1
  %more = icmp slt i64 %in, %n_checks
  br i1 %more, label %check, label %yes
yes:
  ret i1 true
no:
  ret i1 false
}}
"""

# A dict holds so many items, of these keys in this order, and these values; 0 stands for any.
MAPS = """
define internal i1 @maps(ptr %dict, ptr %expected) {{
start:
  %cursor = alloca i64
  %key_ = alloca ptr
  %value_ = alloca ptr
  store i64 0, ptr %cursor
  %n = load i64, ptr %expected
  %usedp = getelementptr i8, ptr %dict, i64 {USED}
  %used = load i64, ptr %usedp
  %asmany = icmp eq i64 %used, %n
  br i1 %asmany, label %each, label %no
each:
  %i = phi i64 [0, %start], [%in, %right]
  %go = icmp slt i64 %i, %n
  br i1 %go, label %item, label %yes
item:
  %there = call i32 @PyDict_Next(ptr %dict, ptr %cursor, ptr %key_, ptr %value_)
  %in = add i64 %i, 1
  %first = shl i64 %i, 1
  %keyp = getelementptr i64, ptr %expected, i64 %first
  %keyp1 = getelementptr i64, ptr %keyp, i64 1
  %valuep = getelementptr i64, ptr %keyp, i64 2
  %key = load i64, ptr %keyp1
  %value = load i64, ptr %valuep
  %haskey = load i64, ptr %key_
  %hasvalue = load i64, ptr %value_
  %ok1 = icmp eq i64 %key, %haskey
  %ok2 = icmp eq i64 %value, %hasvalue
  %any = icmp eq i64 %value, 0
  %ok3 = or i1 %ok2, %any
  %ok = and i1 %ok1, %ok3
  %is = icmp ne i32 %there, 0
  %both = and i1 %is, %ok
  br i1 %both, label %right, label %no
right:
  br label %each
yes:
  ret i1 true
no:
  ret i1 false
}}
"""

OPENS = """
define internal i1 @opens(
  ptr %record, ptr %args, i64 %nargs, ptr %kwnames, ptr %places, ptr %table
) {{
start:
  {record_fields}
  %cursor = alloca i64
  %key_ = alloca ptr
  %value_ = alloca ptr
  %named = icmp ne ptr %kwnames, null
  %right = icmp eq i64 %nargs, %n_args
  br i1 %right, label %words, label %no
words:
  br i1 %named, label %count, label %unnamed
unnamed:
  %nonames = icmp eq i64 %n_names, 0
  br i1 %nonames, label %begin, label %no
count:
  %sizep = getelementptr i8, ptr %kwnames, i64 {LENGTH}
  %size = load i64, ptr %sizep
  %fits = icmp eq i64 %size, %n_names
  br i1 %fits, label %word, label %no
word:
  %w = phi i64 [0, %count], [%wn, %known]
  %over = icmp sge i64 %w, %n_names
  br i1 %over, label %begin, label %spelled
spelled:
  %wordsp = getelementptr i8, ptr %kwnames, i64 {ITEMS}
  %wordp = getelementptr ptr, ptr %wordsp, i64 %w
  %wordis = load i64, ptr %wordp
  %namesp_ = inttoptr i64 %names to ptr
  %namep = getelementptr i64, ptr %namesp_, i64 %w
  %nameis = load i64, ptr %namep
  %wn = add i64 %w, 1
  %agree = icmp eq i64 %wordis, %nameis
  br i1 %agree, label %known, label %no
known:
  br label %word
begin:
  %list = inttoptr i64 %rows to ptr
  %some = icmp sgt i64 %n_rows, 0
  br i1 %some, label %check, label %yes
check:
  %i = phi i64 [0, %begin], [%in, %good]
  %rowi = mul i64 %i, {row_size}
  %row = getelementptr i64, ptr %list, i64 %rowi
  {row_fields}
  %outerp = getelementptr ptr, ptr %places, i64 %parent
  switch i64 %how, label %given [
    i64 1, label %intuple
    i64 2, label %inlist
    i64 3, label %indict
  ]
given:
  %givenp = getelementptr ptr, ptr %args, i64 %position
  br label %take
intuple:
  %tuple = load ptr, ptr %outerp
  %tupleitems = getelementptr i8, ptr %tuple, i64 {ITEMS}
  %tuplep = getelementptr ptr, ptr %tupleitems, i64 %position
  br label %take
inlist:
  %alist = load ptr, ptr %outerp
  %itemsp = getelementptr i8, ptr %alist, i64 {ITEMS}
  %items = load ptr, ptr %itemsp
  %listp = getelementptr ptr, ptr %items, i64 %position
  br label %take
indict:
  %dict = load ptr, ptr %outerp
  %isfirst = icmp eq i64 %position, 0
  br i1 %isfirst, label %rewind, label %step
rewind:
  store i64 0, ptr %cursor
  br label %step
step:
  %there = call i32 @PyDict_Next(ptr %dict, ptr %cursor, ptr %key_, ptr %value_)
  %lacks = icmp eq i32 %there, 0
  %haskey = load i64, ptr %key_
  %iskey = icmp eq i64 %haskey, %key
  %notlacks = xor i1 %lacks, true
  %found = and i1 %iskey, %notlacks
  br i1 %found, label %take, label %no
take:
  %wherep = phi ptr [%givenp, %given], [%tuplep, %intuple], [%listp, %inlist], [%value_, %step]
  %x = load ptr, ptr %wherep
  %keepp = getelementptr ptr, ptr %places, i64 %i
  store ptr %x, ptr %keepp
  %typep = getelementptr i8, ptr %x, i64 {TYPE}
  %type = load i64, ptr %typep
  switch i64 %test, label %no [
    i64 0, label %very
    i64 1, label %leaf
    i64 2, label %sized
    i64 3, label %dictsize
    i64 4, label %equal
  ]
equal:
  %kind4 = icmp eq i64 %type, %first
  %bitsp = getelementptr i8, ptr %x, i64 {NUMBER}
  br i1 %kind4, label %bits, label %no
bits:
  %hasbits = load i64, ptr %bitsp
  %samebits = icmp eq i64 %hasbits, %second
  br i1 %samebits, label %good, label %no
very:
  %address0 = ptrtoint ptr %x to i64
  %isit = icmp eq i64 %address0, %first
  br i1 %isit, label %good, label %no
sized:
  %kind = icmp eq i64 %type, %first
  br i1 %kind, label %long, label %no
long:
  %lengthp = getelementptr i8, ptr %x, i64 {LENGTH}
  %length = load i64, ptr %lengthp
  %aslong = icmp eq i64 %length, %axes
  br i1 %aslong, label %good, label %no
dictsize:
  %kind3 = icmp eq i64 %type, %first
  br i1 %kind3, label %used, label %no
used:
  %usedp = getelementptr i8, ptr %x, i64 {USED}
  %used3 = load i64, ptr %usedp
  %asmany = icmp eq i64 %used3, %axes
  br i1 %asmany, label %good, label %no
leaf:
  %isarray = icmp eq i64 %type, ptrtoint (ptr @pullback_array_type to i64)
  br i1 %isarray, label %array, label %number
number:
  %is1 = icmp eq i64 %type, %first
  %is2 = icmp eq i64 %type, %second
  %is = or i1 %is1, %is2
  %numberp = getelementptr i8, ptr %x, i64 {NUMBER}
  br i1 %is, label %enter, label %no
array:
  %descrp = getelementptr i8, ptr %x, i64 {DTYPE}
  %descr = load i64, ptr %descrp
  %ok1 = icmp eq i64 %descr, %dtype
  %flagsp = getelementptr i8, ptr %x, i64 {FLAGS}
  %flags = load i32, ptr %flagsp
  %both = and i32 %flags, {CONTIGUOUS_ALIGNED}
  %lies = icmp eq i32 %both, {CONTIGUOUS_ALIGNED}
  %any = icmp eq i64 %layout, 1
  %ok2 = or i1 %lies, %any
  %ndp = getelementptr i8, ptr %x, i64 {AXES}
  %nd = load i32, ptr %ndp
  %nd64 = sext i32 %nd to i64
  %ok3 = icmp eq i64 %nd64, %axes
  %ok12 = and i1 %ok1, %ok2
  %ok = and i1 %ok12, %ok3
  br i1 %ok, label %measure, label %no
measure:
  %shapesp = getelementptr i8, ptr %x, i64 {SHAPE}
  %shapes = load ptr, ptr %shapesp
  %wanted = inttoptr i64 %shape to ptr
  %datap = getelementptr i8, ptr %x, i64 {DATA}
  %data = load ptr, ptr %datap
  br label %axis
axis:
  %a = phi i64 [0, %measure], [%an, %next]
  %inside = icmp slt i64 %a, %nd64
  br i1 %inside, label %extent, label %enter
extent:
  %hasp = getelementptr i64, ptr %shapes, i64 %a
  %has = load i64, ptr %hasp
  %shouldp = getelementptr i64, ptr %wanted, i64 %a
  %should = load i64, ptr %shouldp
  %an = add i64 %a, 1
  %same = icmp eq i64 %has, %should
  br i1 %same, label %next, label %no
next:
  br label %axis
enter:
  %address = phi ptr [%numberp, %number], [%data, %axis]
  %slotp_ = getelementptr ptr, ptr %table, i64 %slot
  store ptr %address, ptr %slotp_
  br label %good
good:
  %in = add i64 %i, 1
  %more = icmp slt i64 %in, %n_rows
  br i1 %more, label %check, label %yes
yes:
  ret i1 true
no:
  ret i1 false
}}
"""

AGREES = """
define internal i1 @agrees(ptr %record, ptr %table) {{
start:
  {record_fields}
  %list = inttoptr i64 %outs to ptr
  br label %each
each:
  %k = phi i64 [%n_results, %start], [%kn, %asked]
  %go = icmp slt i64 %k, %n_out
  br i1 %go, label %asks, label %yes
asks:
  %rowi = mul i64 %k, {out_size}
  %row = getelementptr i64, ptr %list, i64 %rowi
  {out_fields}
  %at = add i64 %n_in, %k
  %foundp = getelementptr ptr, ptr %table, i64 %at
  %found = load ptr, ptr %foundp
  %wanted = inttoptr i64 %expected to ptr
  %differs = call i32 @memcmp(ptr %found, ptr %wanted, i64 %bytes)
  br label %asked
asked:
  %kn = add i64 %k, 1
  %equal = icmp eq i32 %differs, 0
  br i1 %equal, label %each, label %no
yes:
  ret i1 true
no:
  ret i1 false
}}
"""
