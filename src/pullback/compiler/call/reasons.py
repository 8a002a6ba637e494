"""Reasons: what `f.why()` tells about a compiled function's last call and about later calls."""

from __future__ import annotations

import re
import sys
from typing import Any

from ..loops.roll import looped
from ..path import Entry, Path, answering, told_line
from .choose_path import NEW, match

REPLAYED = "Machine code replayed it"
UNCALLED = "The function has not been called."
EARLY = (
    "The function ran in Python: calls of this kind have not taken long enough to record one."
    " To record the first, write `compile(f, wait=True)`."
)
AWAITED = "The function ran in Python, while its machine code is made in the background."
BUSY = "The function ran in Python, while another function is recorded."
PREPARED = "NumPy replayed it, while its machine code is made in the background."
KIND = "The function runs in Python for arguments of this kind."
HEARD = (
    "The function ran in Python: NumPy's errors are to be raised here, or other code hears of what"
    " it does."
)
RAISED_OTHER = "The function ran in Python: an operation raised an exception for another example."
INSIDE = "The function ran in Python: it was called by itself, or there is a profiler."
SHARED_IT = "its arguments share memory, and it returns or writes into one"
SHARED = f"The function ran in Python: {SHARED_IT}."
# Why a recording is not kept, where that refuses nothing yet.
UNKEPT = "its recording doesn't stand for it"
RAISED = "it raised an exception"
OTHER_CODE = "other code ran than was known to"
FORBIDDEN = "some code that it might reach can't be undone, and is told from what ran only now"
CAPTURED = "it computes with an Array of a transformation around it"
UNFOLDED = "what it computes with constants is computed in each replay from now on"
DISTURBED = "another thread changed what it reads"
CARRIED = "what it changes is an input of recordings from now on"
WEAK = "its Python numbers are constants of recordings from now on"
NO_PROGRAM = "Ask outside of transformations, with arrays, numbers and containers of them."


LEFT_OUT = "To have it compiled, leave this out of it, and pass what it gives as an argument."
# What to write instead, by how a reason begins.
CURES = {
    "it returns what a clock says": LEFT_OUT,
    "it raised": (
        "Recording passes Arrays in place of the arguments: call code that takes none through"
        " `pullback.primitive(f)`."
    ),
    "recording returned": (
        "Something that it computes with changes between calls, as random numbers, counters and the"
        " order of sets do, or is of another class for an Array. Pass it as an argument."
    ),
    "it runs": "To have it compiled, call that by its name, or outside of it.",
    "it returns": "To have it compiled, return numbers, arrays and containers of them.",
    "it changes what it reads": (
        "To have it compiled, pass this as an argument, and return what it becomes."
    ),
    "it reads too much": (
        "To have it compiled, look up what it needs of that outside, and pass it as an argument."
    ),
    "": LEFT_OUT,
}
CALLED = re.compile(r"it (?:calls|may call) `((\w+)\.[\w.]+)`")
KNOWN = sys.stdlib_module_names | {"numpy", "scipy"}  # of whose functions we know what they do


def cure_of(why: str) -> str:
    """Suggest what to write instead of the code that makes a function fall back to Python."""
    call = CALLED.match(why)
    if call and call[2] not in KNOWN:
        return (
            f"If its results depend on its arguments alone, call `pullback.primitive({call[1]})` in"
            f" its place, or declare `pullback.pure({call[1]})` where its arguments are constants;"
            " else leave it out, and pass what it gives as an argument."
        )
    return next(cure for begin, cure in CURES.items() if why.startswith(begin))


def early(entry: Entry) -> str:
    """Why a call ran in Python before there is a path."""
    return EARLY if entry.early.awaited is None else AWAITED


def unkept(entry: Entry) -> str:
    """Why the last call of a kind was recorded, and that recording not kept."""
    return f"The function ran in Python, and the next call is recorded anew: {entry.unkept}."


def slower(path: Path) -> str:
    return f"Running the function is faster, and so it runs: {path.trial}."


def of_last(compiled: Any) -> str:
    """Why the last call ran as it did."""
    record = int(compiled.counter[1])
    if not record:
        if compiled.early is not None and compiled.early.calls:  # it wasn't looked at
            return EARLY
        early = any(entry.early.calls for entry in compiled.entries.values())
        if compiled.last_miss is UNCALLED and early:
            return str(compiled.last_way or EARLY)
        return str(compiled.last_way or compiled.last_miss)
    ways = [w for w in compiled.replay[1] if int(w.record.ctypes.data) == record]
    if ways and ways[0].path.slow:
        return slower(ways[0].path)
    return f"{REPLAYED}: its arguments, what it reads and the answers to its guards are known."


def of_call(compiled: Any, args: Any, kwargs: Any) -> str:
    """What a call with these arguments would do. Nothing is recorded, the function does not run."""
    call = compiled.arrange(args, kwargs)
    if call is None:
        return KIND
    entry = compiled.known(call, args, kwargs)
    if entry is None:
        return NEW
    if not entry.paths and entry.early.calls:
        return early(entry)
    if entry.python:
        return KIND
    if not entry.paths:
        return unkept(entry) if entry.unkept else NEW
    last, compiled.last_miss = compiled.last_miss, ""
    found = match(compiled, entry, call.arrays, call.numbers)
    told, compiled.last_miss = compiled.last_miss, last
    if found is None:
        return str(told)
    return slower(found[0]) if found[0].slow else "Machine code would replay it."


def listing(path: Path) -> str:
    """The program of a path as text, after all passes and with its loops rolled, and its guards."""
    program = path.program
    graph = looped(answering(path.recording)) if program is None else program.run.whole
    lines = str(graph).splitlines()
    n = path.n_results + len(path.recording.written)
    names = [name for name in lines[-1].removeprefix("  return ").split(", ") if name.strip()]
    guards = [
        f"  guard {guard.asked} of {name}{told_line(guard.line)}"
        for guard, name in zip(path.guards, names[n:], strict=False)  # then what may raise
    ]
    return "\n".join([*lines[:-1], *guards, "  return " + ", ".join(names[:n])])
