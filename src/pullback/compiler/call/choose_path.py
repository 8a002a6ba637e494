"""Choose the path for a call: the one whose state and guards hold, found by computing it.

A path's program answers its own guards. Where it gives another answer than the path has, a path
that begins with the answers so far is tried next, and what was computed is discarded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..fall_back import REPORT, unmade
from ..path import Call, Entry, Path, same_bits, shared, told_line
from .budget import is_timed

if TYPE_CHECKING:
    from .compiled import Compiled

NEW = "There is no recording for arguments of this kind."
OTHERS = "The recordings for arguments of this kind are for other numbers."


def match(compiled: Compiled, entry: Entry, arrays: list[Any], numbers: list[Any]) -> Any:
    """A path whose state and guards hold, with what it computed; or None."""
    paths = [p for p in entry.paths if p.numbers is None]
    found = follow(compiled, paths, [*arrays, *numbers]) if paths else None
    if found is None and len(paths) < len(entry.paths):  # some are for certain numbers
        same = [p for p in entry.paths if p.numbers is not None and same_bits(p.numbers, numbers)]
        if same:
            found = follow(compiled, same, arrays)
        elif not paths:
            compiled.last_miss = OTHERS
    if found is None:
        return None
    path = found[0]
    if entry.paths[0] is not path:
        with compiled.lock:
            entry.paths = [path, *[p for p in entry.paths if p is not path]]
    return found


def follow(compiled: Compiled, paths: list[Path], inputs: list[Any]) -> Any:
    """Choose, from paths with the same guards, the one whose answers these inputs give.

    Where a loop has ended otherwise than in one path, others may ask something else.
    """
    answers: list[Any] = []
    tried: list[Path] = []
    while True:
        n = len(answers)
        same = [p for p in paths if p not in tried and p.lies(inputs)]
        same = [p for p in same if p.answers[:n] == answers] or (
            [p for p in same if p.of_loops] if any(p.of_loops for p in tried) else []
        )
        path = next((p for p in same if p.state.holds(p.token)), None)
        if path is None or shared(path, inputs):
            compiled.last_miss = missed(paths, answers)
            return None
        try:
            path.warm(compiled.wait, is_timed(compiled))
        except Exception as error:  # a mistake of ours
            return compiled.refuse(unmade(error), REPORT)
        try:
            with np.errstate(all="ignore"):
                values, found = path.computed(inputs)
        except Exception:  # the program itself says what it does about it
            compiled.last_miss = "An operation raised an exception."
            return None
        if found == path.answers:
            return path, values
        answers = found
        tried.append(path)


def path_of(compiled: Compiled, call: Call | None) -> Path | None:
    """The path for a call; a path whose numbers are inputs comes first."""
    entry = None if call is None else compiled.entries.get(call.key)
    if call is None or entry is None:
        return None
    general = [p for p in entry.paths if p.numbers is None]
    found = follow(compiled, general, [*call.arrays, *call.numbers])
    found = found or match(compiled, entry, call.arrays, call.numbers)
    return None if found is None else found[0]


def missed(paths: Sequence[Path], answers: Sequence[Any]) -> str:
    """Why no path matched a call that gave these answers to guards."""
    if not paths:
        return NEW
    if not answers:
        return "Something that the function reads besides its arguments has changed."
    longest = max(paths, key=lambda p: len(p.guards))
    guard = longest.guards[min(len(answers), len(longest.guards)) - 1]
    return f"`{guard.asked}`{told_line(guard.line)} gave an answer that no recording has."
