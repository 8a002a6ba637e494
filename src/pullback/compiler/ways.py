"""Ways: replay a path in machine code alone, including the checks, for calls of the same kind.

Enters: a path whose program is machine code as a whole, and a call that it replayed. Leaves: a way
that `entry` runs without Python, or None if machine code can't make a result, unpack an argument or
check what the function reads. Results may be computed, the same in each call, arguments, or views
of their memory. If the function writes into its arguments, the new values are written at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core.array import Array
from ..core.graph import Variable
from ..core.tree import flatten, unflatten
from .entry import conditions, native_records, object_layout
from .entry.native_records import NONE, Result, Way
from .entry.state_checks import checks_aside, checks_of
from .path import IMMUTABLE, SECOND, Call, Path, answers_of, foreign, last_steps
from .record.recording import Recording, Source

AREAS = 16  # pieces of memory of which machine code compares each pair


def known_answers(path: Path) -> list[bytes]:
    """The bytes of all outputs that are no results; none of what is there since it may raise."""
    run, asked = path.program.run, answers_of(path)
    n = len(run.outputs) - len(run.answers)
    return [asked.get(i, b"") for i in range(path.n_known, n)] + run.answers


KINDS = {
    float: conditions.FLOAT,
    int: conditions.INT,
    np.generic: conditions.SCALAR,
    np.ndarray: conditions.ARRAY,
}


def results_of(recording: Recording, whole: bool) -> list[Result]:
    """The results that machine code computes, of which kind and where in what is returned.

    whole: whether that holds all results, and not those alone that are computed.
    """
    found = list[Result]()
    outputs = zip(recording.outputs, recording.kinds, recording.placed, strict=True)
    for place, (x, kind, placed) in enumerate(outputs):
        if isinstance(x, Variable):
            moved = placed is not None and placed[0] is not None and not foreign(placed)
            kind, axes = (conditions.PLACED, placed[0]) if moved else (KINDS[kind], ())
            place = place if whole else len(found)
            found.append(Result(kind, place, axes))
    return found


def form_of(recording: Recording) -> int:
    """What machine code returns: the one result, a tuple, or what Python makes of a tuple."""
    structure, outputs = recording.structure, recording.outputs
    if any(last_steps(recording)):
        return native_records.FINISHED
    alone = isinstance(outputs[0], (Variable, np.ndarray)) if outputs else False
    if structure is None and (alone or recording.sources[0] is not None):
        return native_records.ONE
    tuples = structure == flatten((0.0,) * len(outputs))[1]
    return native_records.TUPLE if tuples and is_whole(recording) else native_records.FINISHED


def is_whole(recording: Recording) -> bool:
    """Whether machine code has each result: it computes it, or it is there."""
    pairs = zip(recording.outputs, recording.sources, strict=True)
    kinds = {*IMMUTABLE, np.ndarray}
    return all(isinstance(x, Variable) or s is not None or type(x) in kinds for x, s in pairs)


class Unserved(Exception):
    """Something that machine code does not do."""


class Served:
    """What a record says of the results and arguments of a path, for calls like one.

    Raises:
        Unserved: machine code does not make some result, or does not write into some argument.
    """

    def __init__(
        self, path: Path, call: Call, numbers: native_records.Numbers, rows: list[dict[str, int]]
    ) -> None:
        self.path, self.call, self.numbers = path, call, numbers
        self.recording = path.recording
        leaf = native_records.LEAF
        self.rows = {row["slot"]: (i, row) for i, row in enumerate(rows) if row["test"] == leaf}
        self.form = form_of(self.recording)
        shares = any(source is not None for source in self.recording.sources)
        if shares and (
            Array in self.recording.kinds
            or any(last_steps(self.recording))
            or not is_whole(self.recording)
        ):
            raise Unserved
        self.whole = shares or self.form != native_records.FINISHED
        self.there = list(self.not_computed()) if self.whole else []
        self.written = [
            {"row": self.row_of(i), "out": n}
            for n, i in enumerate(self.recording.written, path.n_results)
        ]

    def row_of(self, slot: int) -> int:
        """The row of an argument that lives as long as the call: its caller holds it."""
        i, row = self.rows[slot]
        if row["how"] != native_records.ARGUMENT and self.path.program.run.performs:
            raise Unserved  # what NumPy calls may take it out of its container
        return i

    def not_computed(self) -> Iterator[dict[str, int]]:
        """The results that are there already."""
        outputs = zip(self.recording.outputs, self.recording.sources, strict=True)
        for place, (x, source) in enumerate(outputs):
            if source is not None:
                yield {"place": place, **self.row_from(source)}
            elif not isinstance(x, Variable):
                yield {"place": place, **native_records.always(self.numbers, x)}

    def row_from(self, source: Source) -> dict[str, int]:
        numbers, arrays = self.numbers, self.call.arrays
        match source.kind:
            case "constant":
                return {"object": numbers.of(source.what), "how": conditions.SAME}
            case "result":
                return {"object": source.what, "how": conditions.EARLIER}
            case "input":
                return {"object": self.row_of(source.what), "how": conditions.ARGUMENT}
        view = source(arrays, ())
        slots = [i for i, x in enumerate(arrays) if np.may_share_memory(view, x)]
        if len(slots) != 1 or self.recording.layouts is None:
            raise Unserved
        return native_records.part(numbers, view, arrays[slots[0]], self.row_of(slots[0]))

    def finisher(self) -> Callable[[Any], Any] | None:
        """What makes the output of the results, where Python does."""
        if self.form != native_records.FINISHED:
            return None
        finished = self.path.finished
        return (lambda values: finished(list(values))) if self.whole else self.path.finisher()


def way_of(
    path: Path, call: Call, args: Any, kwargs: Any, counter: np.ndarray, equal: bool
) -> Way | None:
    """How machine code replays a path for calls like this one, or None if it cannot.

    equal: whether floats that are not inputs may be others that are equal.
    """
    recording, token = path.recording, path.token
    if path.program is None or not native_records.native(path.program.run):
        return None
    if Array in recording.kinds:
        return None
    numbers = native_records.Numbers()
    checks = checks_of(token, numbers)
    if checks is None:
        return None
    passed = [*call.inputs, *(call.floats if path.numbers is None else [])]
    indices = unflatten(call.structure, list(range(len(call.leaves))))
    slots = {index: slot for slot, index in enumerate(passed)}
    writes = bool(recording.written)
    try:
        orders = path.program.run.orders.inputs
        asked = recording.layouts is not None or writes
        rows = native_records.arguments(numbers, args, kwargs, indices, slots, equal, orders, asked)
        served = Served(path, call, numbers, rows)
    except (native_records.Unopened, Unserved):
        return None
    apart = recording.identity or writes
    areas = native_records.areas(call.arrays, path.state.arrays) if apart else []
    if len(areas) > AREAS:
        return None
    finisher = served.finisher()
    return native_records.Way(
        path,
        path.program.run,
        numbers,
        checks,
        rows,
        kwargs,
        results_of(recording, served.whole),
        [*[None for _ in recording.written], *known_answers(path)],
        served.there,
        areas,
        served.written,
        form=served.form,
        finish=0 if finisher is None else numbers.of(finisher),
        hits=int(counter.ctypes.data),
        left=NONE if path.trial is not None and path.trial.is_over else SECOND,
    )


def plain_way(
    path: Path, call: Call, args: Any, kwargs: Any, fun: Any, counter: np.ndarray
) -> Way | None:
    """How machine code calls the function itself for calls like this one; None if it cannot.

    args: without what is carried.
    """
    run, passed = path.program.run, [*call.inputs, *call.floats]
    if not object_layout.usable():
        return None
    numbers = native_records.Numbers()
    checks = checks_aside(numbers)
    indices = unflatten(call.structure, list(range(len(call.leaves))))
    slots = {index: slot for slot, index in enumerate(passed)}
    indices = [indices[0][: len(args)], indices[1]]
    try:
        rows = native_records.arguments(numbers, args, kwargs, indices, slots, False)
        for row in rows:
            row["layout"] = native_records.ANY
    except native_records.Unopened:
        return None
    way = native_records.Way(
        path,
        run,
        numbers,
        checks,
        rows,
        kwargs,
        form=native_records.ITSELF,
        finish=numbers.of(fun),
        hits=int(counter.ctypes.data),
    )
    way.work = 0  # none is done in vain
    return way
