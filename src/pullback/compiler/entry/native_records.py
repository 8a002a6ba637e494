"""Records: the tables that the native entries of `entry` read, and builtin functions that use them.

`program(run)` is a run as a builtin function. A `way` adds the checks of a compiled function: state
besides the arguments is unchanged, arguments are nested in tuples, lists and dicts as recorded, and
guards get the recorded answers. `first_of` tries several ways in turn, and returns `MISS` if none
matches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.array_utils import byte_bounds

from ...core.layout import is_writable
from ..llvm.dtypes import TYPES
from ..lower.geometry import contiguous
from . import conditions
from .conditions import AREA, ARRAY, CHECK, COPIED, GIVEN, OUT, PLACED, RECORD, ROW, SCALAR, WRITTEN
from .object_layout import MISS, WRITEABLE, NativeRecord, builtin, shared, told, usable

RELEASED = 50_000  # from so many elementwise operations on, other threads may run meanwhile
MOST = 1 << 14  # arguments and results
CALL = 5_000  # a call of NumPy costs as much as so many elementwise operations
TUPLE, ONE, FINISHED, ITSELF = range(4)  # forms of ways
ARGUMENT, OF_TUPLE, OF_LIST, OF_DICT = range(4)  # where an argument lies
ORDERED, ANY, EXACT = range(3)  # how the elements of an array may lie in memory
VERY, LEAF, SIZED, DICT, EQUAL = range(5)  # what it must be


def native(run: Any) -> bool:
    """Whether a run is all machine code, with numbers and results that entries can handle."""
    if run.code is None or not (run.performs or len(run.steps) == 1) or not usable():
        return False
    if len(run.results) + run.n_in > MOST:
        return False
    for x, how in zip(run.outputs, run.results, strict=True):
        if how not in ("out", "object") and not (how == "place" and not x.spec.size):
            return False
    dtypes = [x.spec.dtype for x in (*run.inputs, *run.outputs)]
    return all(dtype in TYPES and dtype is np.dtype(dtype.type) for dtype in dtypes)


class Numbers:
    """Keeps alive what records point to.

    kept: arrays of numbers, by the record itself.
    held: objects, by who holds the record: an array is not a place where cycles are found.
    """

    def __init__(self) -> None:
        self.kept: list[Any] = []
        self.held: list[Any] = []

    def address(self, numbers: Sequence[int]) -> int:
        self.kept.append(np.array([*numbers, 0], np.int64))
        return int(self.kept[-1].ctypes.data)

    def bytes(self, x: bytes) -> int:
        self.kept.append(np.frombuffer(x, np.uint8))
        return int(self.kept[-1].ctypes.data)

    def of(self, x: Any) -> int:
        """The address of an object."""
        self.held.append(x)
        return id(x)


def flat(numbers: Numbers, rows: Sequence[dict[str, int]], names: Sequence[str]) -> int:
    return numbers.address([row.get(name, 0) for row in rows for name in names])


def layout(numbers: Numbers, x: np.ndarray, axes: Any, asked: bool) -> dict[str, int]:
    """An argument's memory layout, and the layout that the program needs if that differs.

    asked: whether the program has asked for its layout.
    """
    if x.flags.c_contiguous and x.flags.aligned and axes is None and not asked:
        return {"layout": ORDERED}
    wanted = [x.itemsize * s for s in contiguous(None, x.shape, x.dtype, axes).strides]
    long = [n > 1 for n in x.shape]
    alike = all(s == t for s, t, n in zip(x.strides, wanted, long, strict=True) if n)
    how = {"layout": EXACT, "strides": numbers.address(x.strides)}
    if asked:
        how["told"] = told(x)
    if alike and x.flags.aligned:
        return how
    return {**how, "copied": 1, "wanted": 0 if axes is None else numbers.address(wanted)}


def arguments(
    numbers: Numbers, args: Any, kwargs: Any, indices: Any, slots: dict[int, int], equal: bool,
    orders: Sequence[Any] | None = None, asked: bool = False,
) -> list[dict[str, int]]:  # fmt: skip
    """Describe where a call's arguments are, as rows.

    An argument is a leaf among the inputs, a container that is opened, a float of the same bits (if
    that is enough, for `equal`), or the very object.

    Raises:
        Unopened: there is a container of another kind.

    Args:
        indices: the tree [args, kwargs] with the number of each leaf in its place.
        slots: the numbers of those that are inputs, and which.
        orders: how the work wants each input to lie in memory; None: in any way.
        asked: whether the program has asked how they lie.
    """
    rows: list[dict[str, int]] = []
    containers: list[tuple[int, Any, Any]] = []

    def add(x: Any, index: Any, **where: int) -> None:
        kind = type(x)
        if type(index) is int and index in slots:
            what = {"test": LEAF, "slot": slots[index], "first": id(kind), "second": id(kind)}
            if kind is np.ndarray:
                what |= {"first": 0, "second": 0, "dtype": numbers.of(x.dtype), "axes": x.ndim}
                what["shape"] = numbers.address(x.shape)
                if orders is not None:
                    what |= layout(numbers, x, orders[slots[index]], asked)
        elif kind in (tuple, list, dict) and type(index) is kind:
            test = DICT if kind is dict else SIZED
            what = {"test": test, "first": id(kind), "axes": len(x)}
            containers.append((len(rows), x, index))
        elif equal and type(index) is int and kind in (float, np.float64):
            bits = int(np.float64(x).view(np.int64))
            what = {"test": EQUAL, "first": id(kind), "second": bits}
        elif type(index) is int or x is None:
            what = {"test": VERY, "first": numbers.of(x)}
        else:
            raise Unopened
        rows.append({**where, **what})

    for i, (x, index) in enumerate(zip(args, indices[0], strict=True)):
        add(x, index, how=ARGUMENT, position=i)
    for i, (name, x) in enumerate(kwargs.items()):
        add(x, indices[1][name], how=ARGUMENT, position=len(args) + i)
    for parent, x, index in containers:  # the list grows: items are appended after their containers
        how = OF_DICT if type(x) is dict else OF_LIST if type(x) is list else OF_TUPLE
        pairs = x.items() if how == OF_DICT else enumerate(x)
        for position, (key, item) in enumerate(pairs):
            name = numbers.of(key) if how == OF_DICT else 0
            add(item, index[key], parent=parent, how=how, position=position, key=name)
    return rows


class Result(NamedTuple):
    """A computed result: its kind, and its place in the tuple of results.

    axes: for a PLACED one, from the outermost in memory to the innermost.
    """

    kind: int
    place: int
    axes: tuple[int, ...] = ()

    def row(self, numbers: Numbers, spec: Any) -> dict[str, int]:
        fields = {"kind": self.kind, "place": self.place}
        if self.kind == PLACED:
            strides = contiguous(None, spec.shape, spec.dtype, self.axes).strides
            fields["strides"] = numbers.address([spec.dtype.itemsize * s for s in strides])
        return fields


def always(numbers: Numbers, x: Any) -> dict[str, int]:
    """A result that is the same in every call; an array is returned as a copy."""
    how = conditions.COPY if type(x) is np.ndarray else conditions.SAME
    return {"object": numbers.of(x), "how": how}


def part(numbers: Numbers, view: np.ndarray, x: np.ndarray, row: int) -> dict[str, int]:
    """A result that is a view of argument x, with the recorded layout."""
    return {
        "object": row,
        "how": conditions.PART,
        "dtype": numbers.of(view.dtype),
        "axes": view.ndim,
        "shape": numbers.address(view.shape),
        "strides": numbers.address(view.strides),
        "offset": view.ctypes.data - x.ctypes.data,
        "flags": WRITEABLE * is_writable(view),
    }


def areas(arguments: Sequence[Any], read: Sequence[np.ndarray]) -> list[dict[str, int]]:
    """The memory of array arguments, by slot, and of other arrays that are read."""
    found = []
    for slot, x in [*enumerate(arguments), *[(-1, x) for x in read]]:
        if type(x) is np.ndarray and x.size:
            first, end = byte_bounds(x)
            start = first - x.ctypes.data if slot >= 0 else first
            found.append({"slot": slot, "start": start, "bytes": end - first})
    return found


def record(
    run: Any,
    numbers: Numbers,
    rows: list[dict[str, int]],
    results: Sequence[Result] | None,
    answers: Sequence[bytes | None] = (),
    **given: int,
) -> NativeRecord:
    """Make a record of the arguments, results and answers of a path.

    results: those that the run computes; the outputs after them are what guards look at. None: the
        run is not performed.
    answers: what these must be; None of those that are written into arguments.
    """
    outs: list[dict[str, int]] = []
    performed, results = results is not None, results or ()
    for i, x in enumerate(run.outputs if performed else ()):
        row = {"dtype": numbers.of(x.spec.dtype), "axes": x.spec.ndim}
        row["shape"] = numbers.address(x.spec.shape)
        if i < len(results):
            row |= results[i].row(numbers, x.spec)
        else:
            answer = answers[i - len(results)]
            known = b"" if answer is None else answer
            kind = ARRAY if x.spec.shape or answer is None else SCALAR
            row |= {"kind": kind, "bytes": len(known), "expected": numbers.bytes(known)}
        outs.append(row)
    copied = [
        {"row": i, "slot": row["slot"], "strides": row["wanted"]}
        for i, row in enumerate(rows)
        if row.get("copied")
    ]
    fields = {
        "n_rows": len(rows),
        "rows": flat(numbers, rows, ROW),
        "n_in": run.n_in if performed else len(rows),
        "n_out": len(outs),
        "n_results": len(results),
        "n_copied": len(copied),
        "copied": flat(numbers, copied, COPIED),
        "outs": flat(numbers, outs, OUT),
        "segment": int(run.segment.ctypes.data),
        "constants": int(run.constant_table.ctypes.data),
        "arena": run.arena_size,
        "release": 3 if run.performs else 2 if run.waits else int(run.work[0] > RELEASED),
        **given,
    }
    if "hits" not in fields:
        fields["hits"] = numbers.address([0, 0])
    out = np.array([fields.get(name, 0) for name in RECORD], np.int64).view(NativeRecord)
    out.kept, out.first = [run, numbers.kept, shared()], True
    return out


def program(run: Any) -> Any:
    """A builtin function that does the same as `run`; None if the program needs Python."""
    if not run.results or not native(run):
        return None
    numbers = Numbers()
    rows, results = [], list[Result]()
    for i, spec in enumerate(run.specs):
        scalar = id(spec.dtype.type) if not spec.shape else 0
        python = id(float) if scalar and spec.dtype == np.float64 else scalar
        what = {
            "how": ARGUMENT,
            "test": LEAF,
            "position": i,
            "slot": i,
            "first": scalar,
            "second": python,
        }
        what |= {"dtype": numbers.of(spec.dtype), "axes": spec.ndim}
        axes = run.orders.inputs[i]
        if axes is not None:
            strides = contiguous(None, spec.shape, spec.dtype, axes).strides
            wanted = numbers.address([spec.dtype.itemsize * s for s in strides])
            what |= {"layout": EXACT, "strides": wanted}
        rows.append({**what, "shape": numbers.address(spec.shape)})
    for x in run.outputs[: run.n_out - len(run.answers)]:
        kind = "array" if x.spec.shape else run.kinds.get(x, "scalar")
        if not isinstance(kind, str):
            return None  # as an argument is, which may differ from call to call
        axes = run.orders.outputs[len(results)]
        form = SCALAR if kind == "scalar" else ARRAY if axes is None else PLACED
        results.append(Result(form, len(results), axes or ()))
    fields = {"n_args": run.n_in, "finish": id(run)}
    out = record(run, numbers, rows, results, run.answers, **fields)
    out.kept.append(numbers.held)
    return builtin(out, False)


class Unopened(Exception):
    """A container whose items machine code can't read."""


NONE = -1  # what is left where no call is passed to Python: it never becomes 0


class Way:
    """A path of a compiled function that machine code can replay.

    Args:
        path: what it replays.
        checks: what is read beside the arguments.
        rows: how the arguments lie; the last of them are those by name.
        results, there: of a call, those that are computed and those that are there already.
        areas: pieces of memory that must not overlap.
        written: the arguments that are written into.
        given: `form`: a TUPLE of results is returned, or ONE as it is, or `finish` makes it of a
            tuple (FINISHED), or is called instead of all (ITSELF); `hits`, where calls are counted;
            `left`, after so many calls one is passed to Python, that it may compile anew.
    """

    __slots__ = ("held", "path", "record", "work")

    def __init__(
        self,
        path: Any,
        run: Any,
        numbers: Numbers,
        checks: list[dict[str, int]],
        rows: list[dict[str, int]],
        names: Sequence[str],
        results: Sequence[Result] | None = None,
        answers: Sequence[bytes | None] = (),
        there: Sequence[dict[str, int]] = (),
        areas: Sequence[dict[str, int]] = (),
        written: Sequence[dict[str, int]] = (),
        **given: int,
    ) -> None:
        arguments = sum([row["how"] == ARGUMENT for row in rows])
        fields = {
            "n_given": len(there),
            "given": flat(numbers, there, GIVEN),
            "n_written": len(written),
            "written": flat(numbers, written, WRITTEN),
            "n_areas": len(areas),
            "areas": flat(numbers, areas, AREA),
            "n_checks": len(checks),
            "checks": flat(numbers, checks, CHECK),
            "n_args": arguments - len(names),
            "n_names": len(names),
            "names": numbers.address([numbers.of(name) for name in names]),
            **given,
        }
        self.record = record(run, numbers, rows, results, answers, **fields)
        self.path, self.held = path, numbers.held
        self.work = sum(run.work) + CALL * len(run.calls)

    def pass_after(self, n: int) -> None:
        """Pass the n-th call from now to Python; 0 means none."""
        self.record[RECORD.index("left")] = n or NONE

    def spent(self) -> bool:
        """Whether it was replayed so often that optimising further pays off.

        If not, a call that it did not replay does not fit it.
        """
        return bool(self.record[RECORD.index("left")] == 0)


def first_of(ways: Sequence[Way]) -> Any:
    """A builtin function that replays the first fitting path, or returns MISS."""
    addresses = [int(way.record.ctypes.data) for way in ways]
    state = np.array([len(ways), *addresses], np.int64).view(NativeRecord)
    state.kept = [way.record for way in ways]
    return builtin(state, True)


def first_with_state(ways: Sequence[Way], values: Callable[[], Any]) -> Any:
    """The same of ways that take one argument more, which is asked for in each call.

    Those that run the function itself take the arguments alone.
    """
    plain = [way for way in ways if way.path.slow]
    others = [way for way in ways if not way.path.slow]
    quick = first_of(plain) if plain else missed
    if not others:
        return quick
    repeat = first_of(others)

    def entry(*args: Any, **kwargs: Any) -> Any:
        out = repeat(*args, values(), **kwargs)
        return quick(*args, **kwargs) if out is MISS else out

    return entry if plain else lambda *args, **kwargs: repeat(*args, values(), **kwargs)


def missed(*args: Any, **kwargs: Any) -> Any:
    """What is called while there is no path to replay."""
    return MISS
