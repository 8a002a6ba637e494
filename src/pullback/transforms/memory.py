"""The memory of a function that is recorded and then counts as one operation.

    @pb.checkpoint
    def halves(a):
        a[0] = 0.0                  # seen by the caller
        y = a * 2.0
        return y[:2], y[2:], a      # two parts of one array, and the argument itself

The recording computes numbers; this module remembers which array they're in. If results or stored
values shared memory, they're views of one array again afterwards, and what was written into an
argument is written into it again.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..core.array import Array
from ..core.errors import ArgumentError, name_of
from ..core.leftover import StoredArrays
from ..core.storage import along, current, root_of
from ..core.trace import CONSTANT, Trace
from .returned import settle


class EnteredArguments:
    """The arguments of one recording: what they are outside, and inside."""

    def __init__(self) -> None:
        self.entered: list[tuple[Array, Array, Any]] = []  # outside, inside, its first variable

    def enter(self, outside: Array, inside: Array) -> None:
        self.entered.append((outside, inside, inside.node))

    def changed(self) -> list[tuple[Array, Array]]:
        """The arguments that the function wrote into."""
        return [
            (outside, inside)
            for outside, inside, node in self.entered
            if current(inside).node is not node
        ]

    def arranged(self, trace: Trace, leaves: list[Any]) -> list[Any]:
        """What the recording computes: the leaves of the result."""
        return leaves


class SharedMemory(EnteredArguments):
    """Arguments, results and stored Arrays of one recording, and which memory they share.

    enter: each argument, when it is replaced by an Array of the recording.
    arranged: the arrays to compute, when the function has run.
    returned: the results, from those arrays.
    """

    def __init__(self) -> None:
        super().__init__()
        self.plan: list[tuple[Any, Any]] = []  # an Array outside or a number of an output, a path
        self.written: list[Array] = []

    def arranged(self, trace: Trace, leaves: list[Any]) -> list[Any]:
        """What the recording computes, so that `returned` can tell the leaves of the result."""
        self.n, self.stored = len(leaves), StoredArrays(trace)
        kept = [x if constant(x) else settle(x, trace) for x in leaves] + self.stored.arrays
        outside = {id(inside): x for x, inside, _ in self.entered}
        places = [place(x) if type(x) is Array else (x, ()) for x in kept]
        uses = Counter(id(root) for root, _ in places)
        outputs: list[Any] = []
        numbers: dict[int, int] = {}
        for x, (root, path) in zip(kept, places, strict=True):
            if id(root) in outside:
                self.plan.append((outside[id(root)], path))
                continue
            if type(x) is Array and x.within is not trace and not constant(x):
                self.plan.append((x, ()))  # of a transformation around
                continue
            if uses[id(root)] == 1:
                root, path = x, ()
            if id(root) not in numbers:
                numbers[id(root)] = len(outputs)
                outputs.append(root)
            self.plan.append((numbers[id(root)], path))
        changed = self.changed()
        self.written = [x for x, _ in changed]
        self.refuse_overlap(trace)
        return outputs + [inside for _, inside in changed]

    def refuse_overlap(self, trace: Trace) -> None:
        roots = [id(root_of(x)) for x in {id(x): x for x, _, _ in self.entered}.values()]
        for x in self.written:
            if roots.count(id(root_of(x))) > 1:
                raise ArgumentError(
                    f"`{name_of(trace.fun)}` writes into an argument of `{trace.name}` that shares"
                    " memory with another argument.\n"
                    "  Copy one of them first, or write into a copy."
                )

    def returned(self, values: list[Any]) -> list[Any]:
        """The leaves of the result; what the function stored is put in its place."""
        for x, value in zip(self.written, values[len(values) - len(self.written) :], strict=True):
            x[...] = value
        found = [along(values[x] if type(x) is int else x, path) for x, path in self.plan]
        self.stored.replace(found[self.n :])
        return found[: self.n]


def constant(x: Any) -> bool:
    return type(x) is Array and current(x).within is CONSTANT


def place(x: Array) -> tuple[Array, Any]:
    """The array in whose memory x lies, and the way from there; x itself if it is read only."""
    storage = current(x).storage
    path = () if storage is None or storage.root is None else storage.path
    return (x, ()) if path is None else (root_of(x), path)
