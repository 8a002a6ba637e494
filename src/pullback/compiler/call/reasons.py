"""Reasons: what `f.why()` says of a compiled function's last call, and of calls to come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..path import Path, told_line

__all__ = [
    "AWAITED", "EARLY", "NEW", "PREPARED", "REPEATED", "listing", "missed", "of_call", "of_last",
    "slower",
]  # fmt: skip

NEW = "There is no record for arguments of this kind."
REPEATED = "It was repeated by machine code"
EARLY = "The function ran as it is: calls of this kind have not taken long enough to record one."
AWAITED = "The function ran as it is, while its machine code is made in the background."
PREPARED = "It was repeated by NumPy, while its machine code is made in the background."


def missed(paths: Sequence[Path], answers: Sequence[Any]) -> str:
    """Why none of some paths stood for a call that gave these answers to guards."""
    if not paths:
        return NEW
    if not answers:
        return "Something that the function reads beside its arguments has changed."
    longest = max(paths, key=lambda p: len(p.guards))
    guard = longest.guards[min(len(answers), len(longest.guards)) - 1]
    return f"`{guard.asked}`{told_line(guard.line)} had an answer that was new."


def slower(path: Path) -> str:
    return f"Running the function is faster, and so it runs: in a trial {path.trial}."


def of_last(compiled: Any) -> str:
    """Why the last call took the way that it took."""
    record = int(compiled.counter[1])
    if not record:
        return str(compiled.last_way or compiled.last_miss)
    ways = [w for w in compiled.repeat[1] if int(w.record.ctypes.data) == record]
    if ways and ways[0].path.slow:
        return slower(ways[0].path)
    return f"{REPEATED}: its arguments, what it reads and the answers to its guards are known."


def of_call(compiled: Any, args: Any, kwargs: Any) -> str:
    """What a call with these arguments would do. Nothing is recorded, the function does not run."""
    call = compiled.arrange(args, kwargs)
    if call is None:
        return "Arguments of this kind are passed to the function as it is."
    entry = compiled.entries.get(call.key)
    if entry is None:
        return NEW
    if not entry.paths and entry.early.calls:
        return EARLY
    last, compiled.last_miss = compiled.last_miss, ""
    found = compiled.match(entry, call.arrays, call.numbers)
    told, compiled.last_miss = compiled.last_miss, last
    if found is None:
        return str(told)
    return slower(found[0]) if found[0].slow else "It would be repeated."


def listing(path: Path) -> str:
    """The recorded program as text, with its guards."""
    lines = str(path.recording.graph).splitlines()
    n = path.n_results + len(path.recording.written)
    names = [name for name in lines[-1].removeprefix("  return ").split(", ") if name.strip()]
    guards = [
        f"  guard {guard.asked} of {name}{told_line(guard.line)}"
        for guard, name in zip(path.guards, names[n:], strict=False)  # then what may raise
    ]
    return "\n".join([*lines[:-1], *guards, "  return " + ", ".join(names[:n])])
