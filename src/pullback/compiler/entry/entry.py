"""The text of the native entry, in LLVM's language.

Python calls `way` with a table of records, one for each way that a program has taken; the first
that fits answers, and where none does `MISS` is returned. `program` has one record alone.
`@attempt` does what a record says where its conditions hold: memory for the arena and the results,
the work, the guards, the results.
"""

from __future__ import annotations

from . import python_calls
from .conditions import AGREES, CHECK, HOLDS, MAPS, OPENS, OUT, RECORD, ROW, fields

__all__ = ["CALLED", "PLACES", "text"]

CALLED = {
    "PyObject_Vectorcall": "ptr (ptr, ptr, i64, ptr)",
    "PyMem_RawMalloc": "ptr (i64)",
    "PyErr_NoMemory": "ptr ()",
    "PyErr_Occurred": "ptr ()",
    "PyEval_SaveThread": "ptr ()",
    "PyEval_RestoreThread": "void (ptr)",
    "PyErr_ExceptionMatches": "i32 (ptr)",
    "PyTuple_New": "ptr (i64)",
    "PyTuple_SetItem": "i32 (ptr, i64, ptr)",
    "PyFloat_FromDouble": "ptr (double)",
    "PyDict_GetItem": "ptr (ptr, ptr)",
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

# What differs from process to process: NumPy's type of arrays and its functions, `MISS`, and the
# variable that holds what is done about floating-point errors, with what it holds to ignore them.
PLACES = {
    "pullback_array_type": "external global i8",
    "pullback_to_scalar": "ptr (ptr, ptr, ptr)",
    "pullback_empty": "ptr (i32, ptr, ptr, i32)",
    "pullback_from_descr": "ptr (ptr, ptr, i32, ptr, ptr, ptr, i32, ptr)",
    "pullback_miss": "external global i8",
    "pullback_errors_variable": "external global i8",
    "pullback_errors_ignored": "external global i8",
    "PyExc_Exception": "external global ptr",
}

ATTEMPT = """
define internal ptr @attempt(ptr %record, ptr %args, i64 %nargs, ptr %kwnames) noinline {{
start:
  {record_fields}
  %holding = call i1 @holds(ptr %record)
  br i1 %holding, label %prepare, label %miss
miss:
  ret ptr @pullback_miss
prepare:
  %n = add i64 %n_in, %n_out
  %n1 = add i64 %n, 1
  %table = alloca ptr, i64 %n1, align 16
  %made = alloca ptr, i64 %n_out, align 16
  %numbers = alloca i128, i64 %n_out, align 16
  %places = alloca ptr, i64 %n_rows, align 16
  %opened = call i1 @opens(
    ptr %record, ptr %args, i64 %nargs, ptr %kwnames, ptr %places, ptr %table
  )
  br i1 %opened, label %spend, label %miss
spend:
  %left1 = sub i64 %left, 1
  store i64 %left1, ptr %leftp
  %spent = icmp eq i64 %left1, 0
  br i1 %spent, label %miss, label %aside
aside:
  %plainly = icmp eq i64 %form, 3  ; the function itself is faster
  br i1 %plainly, label %leave, label %memory
leave:
  %taken = call ptr @count(ptr %record)
  %itself = inttoptr i64 %finish to ptr
  %asitis = call ptr @PyObject_Vectorcall(ptr %itself, ptr %args, i64 %nargs, ptr %kwnames)
  ret ptr %asitis
memory:
  %outsp_ = inttoptr i64 %outs to ptr
  %small = icmp sle i64 %arena, {STACK}
  br i1 %small, label %stack, label %heap
stack:
  %local = alloca i8, i64 %arena, align 64
  br label %results
heap:
  %head = load ptr, ptr %sparep
  %none = icmp eq ptr %head, null
  br i1 %none, label %fresh, label %reuse
fresh:
  %size = add i64 %arena, 128
  %raw = call ptr @PyMem_RawMalloc(i64 %size)
  %failed = icmp eq ptr %raw, null
  br i1 %failed, label %full, label %align
align:
  %rawi = ptrtoint ptr %raw to i64
  %up = add i64 %rawi, 127
  %down = and i64 %up, -64
  %aligned = inttoptr i64 %down to ptr
  %keep = getelementptr i8, ptr %aligned, i64 -8
  store ptr %raw, ptr %keep
  br label %results
full:
  %nomemory = call ptr @PyErr_NoMemory()
  ret ptr null
reuse:
  %following = load ptr, ptr %head
  store ptr %following, ptr %sparep
  br label %results

results:
  %block = phi ptr [%local, %stack], [%aligned, %align], [%head, %reuse]
  br label %begin
begin:
  %j = phi i64 [0, %results], [%jn, %placed]
  %jmore = icmp slt i64 %j, %n_out
  br i1 %jmore, label %make, label %perform
make:
  %rowi = mul i64 %j, {out_size}
  %row = getelementptr i64, ptr %outsp_, i64 %rowi
  {out_fields}
  %descr = inttoptr i64 %dtype to ptr
  %extents = inttoptr i64 %shape to ptr
  %madep = getelementptr ptr, ptr %made, i64 %j
  %isnumber = icmp sge i64 %kind, 1
  br i1 %isnumber, label %slot, label %create
slot:
  %slotp = getelementptr i128, ptr %numbers, i64 %j
  store ptr null, ptr %madep
  br label %placed
create:
  call void @Py_IncRef(ptr %descr)
  %axes32 = trunc i64 %axes to i32
  %created = call ptr @pullback_empty(i32 %axes32, ptr %extents, ptr %descr, i32 0)
  store ptr %created, ptr %madep
  %bad = icmp eq ptr %created, null
  br i1 %bad, label %undo, label %created1
created1:
  %cdatap = getelementptr i8, ptr %created, i64 {DATA}
  %cdata = load ptr, ptr %cdatap
  br label %placed
placed:
  %odata = phi ptr [%slotp, %slot], [%cdata, %created1]
  %oplace = add i64 %n_in, %j
  %oplacep = getelementptr ptr, ptr %table, i64 %oplace
  store ptr %odata, ptr %oplacep
  %jn = add i64 %j, 1
  br label %begin

perform:
  %failedp = getelementptr ptr, ptr %table, i64 %n
  store ptr null, ptr %failedp
  %workp = inttoptr i64 %segment to ptr
  %work = load ptr, ptr %workp
  %constantsp_ = inttoptr i64 %constants to ptr
  %long = icmp ne i64 %release, 0  ; 2: it may have been interrupted; 3: it calls NumPy
  br i1 %long, label %hold, label %short
hold:
  %h = phi i64 [0, %perform], [%hn, %holding1]
  %hmore = icmp slt i64 %h, %n_rows
  br i1 %hmore, label %holding1, label %alone
holding1:
  %hp = getelementptr ptr, ptr %places, i64 %h
  %held = load ptr, ptr %hp
  call void @Py_IncRef(ptr %held)
  %hn = add i64 %h, 1
  br label %hold
alone:
  %calling = icmp eq i64 %release, 3
  br i1 %calling, label %attended, label %unattended
attended:
  call void %work(ptr %block, ptr %table, ptr %constantsp_)
  br label %letgo
unattended:
  %thread = call ptr @PyEval_SaveThread()
  call void %work(ptr %block, ptr %table, ptr %constantsp_)
  call void @PyEval_RestoreThread(ptr %thread)
  br label %letgo
letgo:
  %l = phi i64 [0, %attended], [0, %unattended], [%ln, %letting]
  %lmore = icmp slt i64 %l, %n_rows
  br i1 %lmore, label %letting, label %guard
letting:
  %lp = getelementptr ptr, ptr %places, i64 %l
  %let = load ptr, ptr %lp
  call void @Py_DecRef(ptr %let)
  %ln = add i64 %l, 1
  br label %letgo
short:
  call void %work(ptr %block, ptr %table, ptr %constantsp_)
  br label %guard
guard:
  %waits = icmp sge i64 %release, 2
  br i1 %waits, label %asking, label %agree
asking:
  %error = call ptr @PyErr_Occurred()
  %raised = icmp ne ptr %error, null
  br i1 %raised, label %undo, label %succeeded
succeeded:
  %failure = load ptr, ptr %failedp
  %went = icmp eq ptr %failure, null
  br i1 %went, label %agree, label %undo
agree:
  %agreed = call i1 @agrees(ptr %record, ptr %table)
  br i1 %agreed, label %finished, label %undo
finished:
  %one = icmp eq i64 %form, 1
  br i1 %one, label %fill, label %wrap
wrap:
  %tuple = call ptr @PyTuple_New(i64 %n_results)
  %notuple = icmp eq ptr %tuple, null
  br i1 %notuple, label %undo, label %fill
fill:
  %into = phi ptr [null, %finished], [%tuple, %wrap]
  br label %next
next:
  %k = phi i64 [0, %fill], [%kn, %put]
  %kmore = icmp slt i64 %k, %n_results
  br i1 %kmore, label %result, label %filled
result:
  %kmadep = getelementptr ptr, ptr %made, i64 %k
  %kmade = load ptr, ptr %kmadep
  %lacks = icmp eq ptr %kmade, null
  br i1 %lacks, label %box, label %item
box:
  %krowi = mul i64 %k, {out_size}
  %krow = getelementptr i64, ptr %outsp_, i64 %krowi
  %kdescr = load ptr, ptr %krow
  %kkindp = getelementptr i64, ptr %krow, i64 3
  %kkind = load i64, ptr %kkindp
  %knumber = getelementptr i128, ptr %numbers, i64 %k
  %isfloat = icmp eq i64 %kkind, 2
  br i1 %isfloat, label %python, label %scalar
python:
  %double = load double, ptr %knumber
  %asfloat = call ptr @PyFloat_FromDouble(double %double)
  br label %boxed
scalar:
  %asscalar = call ptr @pullback_to_scalar(ptr %knumber, ptr %kdescr, ptr null)
  br label %boxed
boxed:
  %wrapped = phi ptr [%asfloat, %python], [%asscalar, %scalar]
  %unwrapped = icmp eq ptr %wrapped, null
  br i1 %unwrapped, label %drop, label %item
item:
  %object = phi ptr [%kmade, %result], [%wrapped, %boxed]
  store ptr null, ptr %kmadep
  br i1 %one, label %filled, label %put
put:
  %set = call i32 @PyTuple_SetItem(ptr %into, i64 %k, ptr %object)
  %kn = add i64 %k, 1
  br label %next
drop:
  call void @Py_DecRef(ptr %into)
  br label %undo
filled:
  %whole = phi ptr [%into, %next], [%object, %item]
  %counted = call ptr @count(ptr %record)
  br label %undo

undo:
  %count = phi i64 [%j, %create], [%n_out, %agree], [%n_out, %asking], [%n_out, %succeeded],
    [%n_out, %wrap], [%n_out, %drop], [%n_out, %filled]
  %value = phi ptr [null, %create], [@pullback_miss, %agree], [null, %asking],
    [@pullback_miss, %succeeded], [null, %wrap], [null, %drop], [%whole, %filled]
  br label %each
each:
  %u = phi i64 [0, %undo], [%un, %give]
  %goes = icmp slt i64 %u, %count
  br i1 %goes, label %give, label %return
give:
  %umadep = getelementptr ptr, ptr %made, i64 %u
  %umade = load ptr, ptr %umadep
  call void @Py_DecRef(ptr %umade)
  %un = add i64 %u, 1
  br label %each
return:
  br i1 %small, label %over, label %back
back:
  %head1 = load ptr, ptr %sparep
  store ptr %head1, ptr %block
  store ptr %block, ptr %sparep
  br label %over
over:
  %right = icmp ne ptr %value, null
  %missed = icmp eq ptr %value, @pullback_miss
  %unmissed = xor i1 %missed, true
  %calls = icmp eq i64 %form, 2
  %shape0 = and i1 %right, %unmissed
  %shaped = and i1 %shape0, %calls
  br i1 %shaped, label %finishing, label %done
finishing:
  %finisher = inttoptr i64 %finish to ptr
  %given = alloca ptr
  store ptr %value, ptr %given
  %answer = call ptr @PyObject_Vectorcall(ptr %finisher, ptr %given, i64 1, ptr null)
  call void @Py_DecRef(ptr %value)
  ret ptr %answer
done:
  ret ptr %value
}}
"""

# A repetition: how many there were, and which record was the last.
COUNT = """
define internal ptr @count(ptr %record) {{
  {record_fields}
  %hitsp_ = inttoptr i64 %hits to ptr
  %hits1 = load i64, ptr %hitsp_
  %hits2 = add i64 %hits1, 1
  store i64 %hits2, ptr %hitsp_
  %lastp = getelementptr i64, ptr %hitsp_, i64 1
  store ptr %record, ptr %lastp
  ret ptr %lastp
}}
"""

ENTRIES = """
define ptr @way(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {{
start:
  %datap = getelementptr i8, ptr %self, i64 {DATA}
  %list = load ptr, ptr %datap
  %n = load i64, ptr %list
  br label %each
each:
  %i = phi i64 [0, %start], [%in, %try]
  %in = add i64 %i, 1
  %go = icmp slt i64 %i, %n
  br i1 %go, label %try, label %miss
try:
  %recordp = getelementptr ptr, ptr %list, i64 %in
  %record = load ptr, ptr %recordp
  %out = call ptr @attempt(ptr %record, ptr %args, i64 %nargs, ptr %kwnames)
  %missed = icmp eq ptr %out, @pullback_miss
  br i1 %missed, label %each, label %done
done:
  ret ptr %out
miss:
  call void @Py_IncRef(ptr @pullback_miss)
  ret ptr @pullback_miss
}}
define ptr @program(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {{
  %datap = getelementptr i8, ptr %self, i64 {DATA}
  %record = load ptr, ptr %datap
  {record_fields}
  %out = call ptr @attempt(ptr %record, ptr %args, i64 %nargs, ptr %kwnames)
  %missed = icmp eq ptr %out, @pullback_miss
  br i1 %missed, label %slow, label %done
slow:
  %slower = inttoptr i64 %finish to ptr
  %answer = call ptr @PyObject_Vectorcall(ptr %slower, ptr %args, i64 %nargs, ptr %kwnames)
  ret ptr %answer
done:
  ret ptr %out
}}
declare i32 @memcmp(ptr, ptr, i64)
"""


def text(offsets: dict[str, int]) -> str:
    """All of it, with the offsets of fields."""
    parts = "".join([HOLDS, MAPS, OPENS, AGREES, COUNT, ATTEMPT, ENTRIES]).format(
        record_fields=fields(RECORD, "%record"),
        check_fields=fields(CHECK, "%row"),
        row_fields=fields(ROW, "%row"),
        out_fields=fields(OUT, "%row"),
        check_size=len(CHECK),
        row_size=len(ROW),
        out_size=len(OUT),
        **offsets,
    )
    parts += python_calls.text(offsets)
    for name, kind in (CALLED | PLACES).items():
        result, _, arguments = kind.partition(" ")
        if result == "external":
            parts += f"@{name} = {kind}\n"
        else:
            parts += f"declare {result} @{name}{arguments}\n"
    return parts
