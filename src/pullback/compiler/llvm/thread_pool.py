"""Threads for large loops: a pool in machine code.

    parallel(work, given, parts)    calls work(given, i) for each i from 0 to parts - 1

The caller takes parts too, and returns when all are done. The threads start with the first large
loop, sleep in between, know nothing of Python, and end with the process. Who finds the pool at work
for another thread does its parts alone. Which thread does a part decides nothing: results do not
depend on their number.

The number of threads is PULLBACK_THREADS, or that of the processors that the process may use.
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

__all__ = ["DECLARED", "SYMBOL", "in_parts", "limit", "number", "ready"]

SYMBOL = "pullback_parallel"
DECLARED = f"declare void @{SYMBOL}(ptr, ptr, i64)"
POSIX = ["pthread_create", "pthread_detach", "pthread_sigmask", "pthread_mutex_init",
         "pthread_mutex_lock", "pthread_mutex_unlock", "pthread_cond_init", "pthread_cond_wait",
         "pthread_cond_signal", "pthread_cond_broadcast"]  # fmt: skip

ALONE = """
define void @alone(ptr %work, ptr %given, i64 %parts) {
entry:
  %some = icmp sgt i64 %parts, 0
  br i1 %some, label %loop, label %return
loop:
  %i = phi i64 [0, %entry], [%in, %loop]
  call void %work(ptr %given, i64 %i)
  %in = add i64 %i, 1
  %more = icmp slt i64 %in, %parts
  br i1 %more, label %loop, label %return
return:
  ret void
}
"""

SERIAL = """
define void @parallel(ptr %work, ptr %given, i64 %parts) {
  call void @alone(ptr %work, ptr %given, i64 %parts)
  ret void
}
define void @reset() {
  ret void
}
define void @limit(i64 %n) {
  ret void
}
"""

# A job is open while @parts is not 0. A thread joins each round at most once, and the caller waits
# for those that have joined; one that wakes up too late goes back to sleep.
POOL = """
@mutex = internal global [32 x i64] zeroinitializer, align 64
@wake = internal global [32 x i64] zeroinitializer, align 64
@done = internal global [32 x i64] zeroinitializer, align 64
@next = internal global [8 x i64] zeroinitializer, align 64
@busy = internal global i32 0, align 64
@most = internal global i64 1
@started = internal global i64 0
@joined = internal global i64 0
@round = internal global i64 0
@work = internal global ptr null
@given = internal global ptr null
@parts = internal global i64 0

define void @limit(i64 %n) {{
  store atomic i64 %n, ptr @most monotonic, align 8
  ret void
}}

define void @reset() {{
  %m = call i32 @pthread_mutex_init(ptr @mutex, ptr null)
  %w = call i32 @pthread_cond_init(ptr @wake, ptr null)
  %d = call i32 @pthread_cond_init(ptr @done, ptr null)
  store i64 0, ptr @started
  store i64 0, ptr @joined
  store i64 0, ptr @parts
  store atomic i32 0, ptr @busy release, align 4
  ret void
}}

define internal void @take(ptr %work, ptr %given, i64 %parts) {{
entry:
  br label %loop
loop:
  %i = atomicrmw add ptr @next, i64 1 monotonic
  %more = icmp slt i64 %i, %parts
  br i1 %more, label %part, label %return
part:
  call void %work(ptr %given, i64 %i)
  br label %loop
return:
  ret void
}}

define internal ptr @worker(ptr %none) {{
entry:
  %l = call i32 @pthread_mutex_lock(ptr @mutex)
  br label %look
look:
  %seen = phi i64 [0, %entry], [%seen, %sleep], [%round, %left]
  %parts = load i64, ptr @parts
  %open = icmp ne i64 %parts, 0
  %round = load i64, ptr @round
  %new = icmp ne i64 %round, %seen
  %joined = load i64, ptr @joined
  %more = add i64 %joined, 1
  %most = load atomic i64, ptr @most monotonic, align 8
  %room = icmp slt i64 %more, %most
  %both = and i1 %open, %new
  %join = and i1 %both, %room
  br i1 %join, label %enter, label %sleep
sleep:
  %s = call i32 @pthread_cond_wait(ptr @wake, ptr @mutex)
  br label %look
enter:
  store i64 %more, ptr @joined
  %work = load ptr, ptr @work
  %given = load ptr, ptr @given
  %u = call i32 @pthread_mutex_unlock(ptr @mutex)
  call void @take(ptr %work, ptr %given, i64 %parts)
  %l2 = call i32 @pthread_mutex_lock(ptr @mutex)
  %now = load i64, ptr @joined
  %fewer = sub i64 %now, 1
  store i64 %fewer, ptr @joined
  %last = icmp eq i64 %fewer, 0
  br i1 %last, label %tell, label %left
tell:
  %t = call i32 @pthread_cond_signal(ptr @done)
  br label %left
left:
  br label %look
}}

define internal void @start(i64 %wanted) noinline {{
entry:
  %all = alloca [32 x i64], align 16
  %old = alloca [32 x i64], align 16
  %thread = alloca i64, align 16
  call void @llvm.memset.p0.i64(ptr %all, i8 -1, i64 256, i1 false)
  br label %look
look:
  %n = load i64, ptr @started
  %lacks = icmp slt i64 %n, %wanted
  br i1 %lacks, label %create, label %return
create:
  %b = call i32 @pthread_sigmask(i32 {mask}, ptr %all, ptr %old)
  %failed = call i32 @pthread_create(ptr %thread, ptr null, ptr @worker, ptr null)
  %a = call i32 @pthread_sigmask(i32 {mask}, ptr %old, ptr null)
  %good = icmp eq i32 %failed, 0
  br i1 %good, label %created, label %return
created:
  %id = load i64, ptr %thread
  %d = call i32 @pthread_detach(i64 %id)
  %n1 = add i64 %n, 1
  store i64 %n1, ptr @started
  br label %look
return:
  ret void
}}

define void @parallel(ptr %work, ptr %given, i64 %parts) {{
entry:
  %most = load atomic i64, ptr @most monotonic, align 8
  %fewer = icmp slt i64 %parts, %most
  %wanted = select i1 %fewer, i64 %parts, i64 %most
  %several = icmp sgt i64 %wanted, 1
  br i1 %several, label %ask, label %alone
ask:
  %pair = cmpxchg ptr @busy, i32 0, i32 1 acquire monotonic
  %mine = extractvalue {{ i32, i1 }} %pair, 1
  br i1 %mine, label %open, label %alone
alone:
  call void @alone(ptr %work, ptr %given, i64 %parts)
  ret void
open:
  %others = sub i64 %wanted, 1
  call void @start(i64 %others)
  %l = call i32 @pthread_mutex_lock(ptr @mutex)
  store ptr %work, ptr @work
  store ptr %given, ptr @given
  store i64 0, ptr @next
  %round = load i64, ptr @round
  %following = add i64 %round, 1
  store i64 %following, ptr @round
  store i64 %parts, ptr @parts
  %w = call i32 @pthread_cond_broadcast(ptr @wake)
  %u = call i32 @pthread_mutex_unlock(ptr @mutex)
  call void @take(ptr %work, ptr %given, i64 %parts)
  %l2 = call i32 @pthread_mutex_lock(ptr @mutex)
  store i64 0, ptr @parts
  br label %look
look:
  %joined = load i64, ptr @joined
  %left = icmp sgt i64 %joined, 0
  br i1 %left, label %wait, label %close
wait:
  %s = call i32 @pthread_cond_wait(ptr @done, ptr @mutex)
  br label %look
close:
  %u2 = call i32 @pthread_mutex_unlock(ptr @mutex)
  store atomic i32 0, ptr @busy release, align 4
  ret void
}}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_detach(i64)
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i32 @pthread_mutex_init(ptr, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_init(ptr, ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_signal(ptr)
declare i32 @pthread_cond_broadcast(ptr)
"""


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
    threads = all(known(name) for name in POSIX)
    text = POOL.format(mask=int(signal.SIG_SETMASK)) if threads else SERIAL
    code = compiled(ALONE + text, 2)
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
    symbol = ready()
    given = ", ".join([f"ptr {p}" for p in pointers])
    places = [f"  %g{i} = getelementptr ptr, ptr %given, i64 {i}" for i in range(len(pointers))]
    lines = [
        f"define internal void @{name}_part(ptr %given, i64 %i) {{",
        *places,
        *[f"  {p} = load ptr, ptr %g{i}" for i, p in enumerate(pointers)],
        f"  %from = mul i64 %i, {part}",
        f"  %end = add i64 %from, {part}",
        f"  %final = icmp eq i64 %i, {parts - 1}",
        f"  %to = select i1 %final, i64 {length}, i64 %end",
        f"  call void @{name}_loop({given}, i64 %from, i64 %to)",
        "  ret void",
        "}",
        f"define internal void @{name}({given}) noinline {{",
        "entry:",
        f"  %given = alloca [{len(pointers)} x ptr]",
        *places,
        *[f"  store ptr {p}, ptr %g{i}" for i, p in enumerate(pointers)],
        f"  call void @{symbol}(ptr @{name}_part, ptr %given, i64 {parts})",
        "  br label %exit",
        "exit:",
        *after,
        "  ret void",
        "}",
    ]
    return "\n".join(lines)


def limit(n: int) -> None:
    """Let large loops use n threads from now on."""
    pool().function("limit", 1)(n)
