"""Threads for large loops: a pool in machine code.

    parallel(work, given, parts)    calls work(given, i) for each i from 0 to parts - 1

The caller takes parts too, and returns when all are done. The threads start with the first large
loop, sleep in between, know nothing of Python, and end with the process. A caller that finds the
pool busy does all parts itself. Results depend neither on which thread does a part nor on the
number of threads.

The number of threads is PULLBACK_THREADS, or the number of processors that the process may use.
"""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Sequence
from functools import cache
from typing import Any

from ...core.errors import ArgumentError
from .binding import LOCK, MachineCode, add_symbol, compiled, known
from .pen import Routine, declared

SYMBOL = "pullback_parallel"
DECLARED = f"declare void @{SYMBOL}(ptr, ptr, i64)"
WORK = "ptr %work", "ptr %given", "i64 %parts"  # what a job is
MUTEX, WAKE, DONE = "ptr @mutex", "ptr @wake", "ptr @done"

# A job is open while @parts is not 0. A thread joins each round at most once, and the caller waits
# for those that have joined; one that wakes up too late goes back to sleep.
STATE = "".join([
    f"@{name} = internal global {kind}\n"
    for name, kind in {
        "mutex": "[32 x i64] zeroinitializer, align 64",
        "wake": "[32 x i64] zeroinitializer, align 64",
        "done": "[32 x i64] zeroinitializer, align 64",
        "next": "[8 x i64] zeroinitializer, align 64",
        "busy": "i32 0, align 64",
        "most": "i64 1",
        "started": "i64 0", "joined": "i64 0", "round": "i64 0", "parts": "i64 0",
        "work": "ptr null", "given": "ptr null",
    }.items()
])  # fmt: skip
CALLED = {
    "llvm.memset.p0.i64": "void (ptr, i8, i64, i1)",
    "pthread_create": "i32 (ptr, ptr, ptr, ptr)",
    "pthread_detach": "i32 (i64)",
    "pthread_sigmask": "i32 (i32, ptr, ptr)",
    "pthread_mutex_init": "i32 (ptr, ptr)",
    "pthread_mutex_lock": "i32 (ptr)",
    "pthread_mutex_unlock": "i32 (ptr)",
    "pthread_cond_init": "i32 (ptr, ptr)",
    "pthread_cond_wait": "i32 (ptr, ptr)",
    "pthread_cond_signal": "i32 (ptr)",
    "pthread_cond_broadcast": "i32 (ptr)",
}
POSIX = [name for name in CALLED if name.startswith("pthread")]


def text(threads: bool) -> str:
    """The pool; where there are no threads, what does all parts alone."""
    if not threads:
        return "".join([alone("alone"), alone("parallel"), limiting(False), resetting(False)])
    functions = [alone("alone"), limiting(True), resetting(True), taking(), working(), starting()]
    return "".join([STATE, *functions, sharing(), declared(CALLED)])


def pthread(pen: Routine, name: str, *operands: str) -> str:
    return pen.ask("i32", f"@pthread_{name}", *operands)


def alone(name: str) -> str:
    """Do all parts here."""
    pen = Routine(f"define void @{name}({', '.join(WORK)})")
    with pen.loop("%parts") as i:
        pen.do("%work", "ptr %given", f"i64 {i}")
    pen.ret()
    return pen.text()


def limiting(threads: bool) -> str:
    pen = Routine("define void @limit(i64 %n)")
    if threads:
        pen.add("store atomic i64 %n, ptr @most monotonic, align 8")
    pen.ret()
    return pen.text()


def most(pen: Routine) -> str:
    """How many threads may be at work."""
    return pen.line("load atomic i64, ptr @most monotonic, align 8")


def free(pen: Routine) -> None:
    """Let other callers in."""
    pen.add("store atomic i32 0, ptr @busy release, align 4")


def resetting(threads: bool) -> str:
    """Begin anew, without threads, as after a fork."""
    pen = Routine("define void @reset()")
    if threads:
        pthread(pen, "mutex_init", MUTEX, "ptr null")
        for place in (WAKE, DONE):
            pthread(pen, "cond_init", place, "ptr null")
        for name in ("started", "joined", "parts"):
            pen.store("i64", "0", f"@{name}")
        free(pen)
    pen.ret()
    return pen.text()


def taking() -> str:
    """Do one part after the other that nobody has taken."""
    pen = Routine(f"define internal void @take({', '.join(WORK)})")
    pen.label("again")
    i = pen.line("atomicrmw add ptr @next, i64 1 monotonic")
    pen.need(pen.test("slt i64", i, "%parts"), "return")
    pen.do("%work", "ptr %given", f"i64 {i}")
    pen.jump("again")
    pen.label("return")
    pen.ret()
    return pen.text()


def working() -> str:
    """What a thread does: it sleeps until there is a job that it has not seen."""
    pen = Routine("define internal ptr @worker(ptr %none)")
    seen = pen.room("i64")
    pen.store("i64", "0", seen)
    pthread(pen, "mutex_lock", MUTEX)
    pen.label("look")
    parts, round_, joined = [pen.load("i64", f"@{name}") for name in ("parts", "round", "joined")]
    more = pen.op("add i64", joined, 1)
    pen.need(pen.test("ne i64", parts, 0), "sleep")
    pen.need(pen.test("ne i64", round_, pen.load("i64", seen)), "sleep")
    pen.need(pen.test("slt i64", more, most(pen)), "sleep")
    pen.store("i64", more, "@joined")
    pen.store("i64", round_, seen)
    work, given = pen.load("ptr", "@work"), pen.load("ptr", "@given")
    pthread(pen, "mutex_unlock", MUTEX)
    pen.do("@take", f"ptr {work}", f"ptr {given}", f"i64 {parts}")
    pthread(pen, "mutex_lock", MUTEX)
    fewer = pen.op("sub i64", pen.load("i64", "@joined"), 1)
    pen.store("i64", fewer, "@joined")
    with pen.when(pen.test("eq i64", fewer, 0)):
        pthread(pen, "cond_signal", DONE)
    pen.jump("look")
    pen.label("sleep")
    pthread(pen, "cond_wait", WAKE, MUTEX)
    pen.jump("look")
    return pen.text()


def starting() -> str:
    """Start threads until there are as many as are wanted; signals go to others."""
    pen = Routine("define internal void @start(i64 %wanted) noinline")
    all_, old, thread = pen.room("i64", "32", 16), pen.room("i64", "32", 16), pen.room("i64")
    pen.do("@llvm.memset.p0.i64", f"ptr {all_}", "i8 -1", "i64 256", "i1 false")
    how = f"i32 {int(signal.SIG_SETMASK)}"
    pen.label("look")
    n = pen.load("i64", "@started")
    pen.need(pen.test("slt i64", n, "%wanted"), "return")
    pthread(pen, "sigmask", how, f"ptr {all_}", f"ptr {old}")
    failed = pthread(pen, "create", f"ptr {thread}", "ptr null", "ptr @worker", "ptr null")
    pthread(pen, "sigmask", how, f"ptr {old}", "ptr null")
    pen.need(pen.test("eq i32", failed, 0), "return")
    pthread(pen, "detach", f"i64 {pen.load('i64', thread)}")
    pen.store("i64", pen.op("add i64", n, 1), "@started")
    pen.jump("look")
    pen.label("return")
    pen.ret()
    return pen.text()


def sharing() -> str:
    """Open a job, take part, and wait for those that have joined."""
    pen = Routine(f"define void @parallel({', '.join(WORK)})")
    limit = most(pen)
    wanted = pen.select(pen.test("slt i64", "%parts", limit), "i64", "%parts", limit)
    pen.need(pen.test("sgt i64", wanted, 1), "alone")
    pair = pen.line("cmpxchg ptr @busy, i32 0, i32 1 acquire monotonic")
    pen.need(pen.line(f"extractvalue {{ i32, i1 }} {pair}, 1"), "alone")
    pen.do("@start", f"i64 {pen.op('sub i64', wanted, 1)}")
    pthread(pen, "mutex_lock", MUTEX)
    pen.store("ptr", "%work", "@work")
    pen.store("ptr", "%given", "@given")
    pen.store("i64", "0", "@next")
    pen.store("i64", pen.op("add i64", pen.load("i64", "@round"), 1), "@round")
    pen.store("i64", "%parts", "@parts")
    pthread(pen, "cond_broadcast", WAKE)
    pthread(pen, "mutex_unlock", MUTEX)
    pen.do("@take", *WORK)
    pthread(pen, "mutex_lock", MUTEX)
    pen.store("i64", "0", "@parts")
    pen.label("look")
    pen.need(pen.test("sgt i64", pen.load("i64", "@joined"), 0), "close")
    pthread(pen, "cond_wait", DONE, MUTEX)
    pen.jump("look")
    pen.label("close")
    pthread(pen, "mutex_unlock", MUTEX)
    free(pen)
    pen.ret()
    pen.label("alone")
    pen.do("@alone", *WORK)
    pen.ret()
    return pen.text()


def number() -> int:
    """How many threads a large loop may use.

    >>> number() >= 1
    True
    """
    asked = os.environ.get("PULLBACK_THREADS", "").strip()
    if asked:
        if not asked.isdecimal() or int(asked) < 1:
            raise ArgumentError(
                f"The environment variable PULLBACK_THREADS is {asked!r}, which is not a number of"
                " threads.\n  Set it to 1 or more, or leave it unset for one thread a processor."
            )
        return int(asked)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def pool() -> MachineCode:
    """The machine code of the pool. It is never freed: threads sleep in it."""
    code = compiled(text(threads=all(known(name) for name in POSIX)), 2)
    IMMORTAL.append(code)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(code))
    code.function("reset", 0)()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=code.function("reset", 0))
    add_symbol(SYMBOL, code.address("parallel"))
    return code


IMMORTAL: list[Any] = []


def ready() -> str:
    """The name of the function that programs call, once there is one."""
    with LOCK:
        if not IMMORTAL:
            wanted = number()
            pool()
            limit(wanted)
        return SYMBOL


def in_parts(
    name: str, pointers: Sequence[str], length: int, part: int, parts: int, after: Sequence[str]
) -> str:
    """A function of pointers that calls `name`_loop(pointers, from, to) for parts of a length.

    The last part ends where the length does; the lines `after` are done when all are done.
    """
    given = [f"ptr {p}" for p in pointers]
    pen = Routine(f"define internal void @{name}_part(ptr %given, i64 %i)")
    mine = [f"ptr {pen.at('%given', i)}" for i in range(len(pointers))]
    start = pen.op("mul i64", "%i", part)
    final, end = pen.test("eq i64", "%i", parts - 1), pen.op("add i64", start, part)
    stop = pen.select(final, "i64", length, end)
    pen.do(f"@{name}_loop", *mine, f"i64 {start}", f"i64 {stop}")
    pen.ret()
    whole = Routine(f"define internal void @{name}({', '.join(given)}) noinline", "g")
    table = whole.room("ptr", str(len(pointers)))
    for i, p in enumerate(pointers):
        whole.put(table, i, p)
    whole.do(f"@{ready()}", f"ptr @{name}_part", f"ptr {table}", f"i64 {parts}")
    whole.label("exit")
    whole.lines += after
    whole.ret()
    return pen.text() + whole.text()


def limit(n: int) -> None:
    """Let large loops use n threads from now on."""
    pool().function("limit", 1)(n)
