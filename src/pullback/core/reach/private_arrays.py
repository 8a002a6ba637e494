"""Plain arrays that nobody else can see become Arrays when something traced is assigned into them.

    def f(x):
        a = START * 0.5      # a plain array: nothing traced has made it
        a[0] = x             # from here on `a` is an Array, as if `np.zeros` had made it
        a += x               # likewise

An array is private if each of its references is known: local variables of the functions that run in
the transformation, and the lists, dicts and objects that these hold. Then each of them gets the
Array, and no program can tell. An argument, a global, what a view shows or what C code keeps has
other references, and stays what it is: the assignment is refused.

Nothing is asked before an assignment would be refused, so what works anyway costs nothing.
"""

from __future__ import annotations

import operator
import sys
import weakref
from collections.abc import Iterator
from functools import cache
from types import CodeType, FrameType
from typing import Any

import numpy as np

from ..array import Array
from ..out import refuse_out
from .bytecode import OP, original
from .class_members import BORING, dict_of
from .namespaces import UNWATCHED, package

SESSIONS: list[Any] = []  # gives the running session; None if none runs
CONSTANTS: list[Any] = []  # what makes a constant Array of an array
OUTERMOST: set[CodeType] = set()  # of the function that begins a session
CO_OPTIMIZED = 1
COPIES = sys.version_info < (3, 13)  # whether `frame.f_locals` is a copy, written back by a call
DEPTH, MOST = 3, 2000  # how far objects are searched
IN_PLACE = {
    np.add: operator.iadd, np.subtract: operator.isub, np.multiply: operator.imul,
    np.true_divide: operator.itruediv, np.floor_divide: operator.ifloordiv,
    np.power: operator.ipow, np.remainder: operator.imod, np.matmul: operator.imatmul,
}  # fmt: skip
FIRST_IN_PLACE = 13  # the argument of BINARY_OP for `+=`; those of `+` and its kin are lower


class HeldBy:
    """Where an array is held: local variables by frame, and containers with their keys."""

    def __init__(self) -> None:
        self.names: list[tuple[FrameType, list[str]]] = []
        self.items: list[tuple[Any, Any, Any]] = []  # container, key, whose dict it is
        self.seen: set[int] = set()  # of objects that were looked into
        self.count = 0

    def look_in(self, frame: FrameType, box: Any) -> list[Any]:
        """Note the local variables that hold the array; what objects the others hold."""
        code, scope = frame.f_code, frame.f_locals
        own = {*code.co_varnames, *code.co_cellvars}
        found = [name for name, x in scope.items() if x is box[0]]
        held = [x for x in scope.values() if type(x) not in BORING]
        del scope
        copy = let_go(frame)
        if copy is not None:  # changes with them
            self.count += len(found)
            self.seen.add(id(copy))
        found = [name for name in found if name in own]
        if found:
            self.names.append((frame, found))
            self.count += len(found)
        return held

    def look_behind(self, objects: list[Any], box: Any) -> None:
        """Note the lists, dicts and objects that hold the array, in and behind these."""
        seen = self.seen
        for _ in range(DEPTH):
            behind: list[Any] = []
            for x in objects:
                if id(x) in seen or len(seen) > MOST:
                    continue
                seen.add(id(x))
                kind = type(x)
                inside: Any = x if kind is dict or kind is list else dict_of(x)
                if inside is None or (inside is not x and id(inside) in seen):
                    continue
                seen.add(id(inside))
                keys = range(len(inside)) if kind is list else list(inside)
                for key in keys:
                    if inside[key] is box[0]:
                        self.items.append((inside, key, x))
                        self.count += 1
                    elif type(inside[key]) not in BORING:
                        behind.append(inside[key])
            objects = behind

    def give(self, new: Array, note: Any) -> None:
        """Put an Array where the array was."""
        for frame, names in self.names:
            scope = frame.f_locals
            for name in names:
                scope[name] = new
            if COPIES:
                written_back()(frame)
                del scope
                let_go(frame)
        for inside, key, owner in self.items:
            inside[key] = new
            note(owner)


def let_go(frame: FrameType) -> Any:
    """Empty the copy of a frame's variables, which would hold them; or the copy, if it is kept."""
    if COPIES:
        scope, code = frame.f_locals, frame.f_code
        if sys.getrefcount(scope) > 3:  # the frame, this name, the call
            return scope
        for name in (*code.co_varnames, *code.co_cellvars, *code.co_freevars):
            scope.pop(name, None)  # not what `exec` has put there
    return None


def may_be_read(frame: FrameType) -> bool:
    """Whether to read a frame's variables changes nothing: not what was written to `locals()`."""
    code = frame.f_code
    if not code.co_flags & CO_OPTIMIZED:
        return False
    return not COPIES or ("locals" not in code.co_names and "vars" not in code.co_names)


class Unobserved:
    """Without whoever watches calls, and the copies of variables that Python makes for them."""

    def __enter__(self) -> None:
        self.inner = UNWATCHED[-1]()
        self.inner.__enter__()
        self.watching = sys.gettrace(), sys.getprofile()
        if COPIES and any(self.watching):
            sys.settrace(None)
            sys.setprofile(None)
        frame: Any = sys._getframe(1)
        while COPIES and frame is not None and frame.f_code not in OUTERMOST:
            if may_be_read(frame):
                let_go(frame)
            frame = frame.f_back

    def __exit__(self, *exception: Any) -> None:
        if COPIES and any(self.watching):
            sys.setprofile(self.watching[1])
            sys.settrace(self.watching[0])
        self.inner.__exit__(*exception)


@cache
def written_back() -> Any:
    """What writes the copy of a frame's local variables back."""
    import ctypes

    function = ctypes.pythonapi.PyFrame_LocalsToFast
    function.argtypes, function.restype = (ctypes.py_object, ctypes.c_int), None
    return lambda frame: function(frame, 0)


def frames() -> Iterator[FrameType]:
    """Those of the program in this session, the innermost first."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code not in OUTERMOST:
        if may_be_read(frame) and original(frame.f_code) is not frame.f_code:
            yield frame
        frame = frame.f_back


def owns_memory(box: Any) -> bool:
    """Whether nothing else shows the memory of an array that has no other references."""
    array = box[0]
    if type(array) is not np.ndarray or array.dtype.kind not in "biufc":
        return False
    if not array.flags.writeable or weakref.getweakrefcount(array):
        return False
    base = array.base
    if base is None:
        return array.flags.owndata
    if type(base) is not np.ndarray or not base.flags.owndata or weakref.getweakrefcount(base):
        return False
    return sys.getrefcount(base) <= 3  # the array holds it, this name does, and the call


def claimed(box: Any, others: int, note: Any) -> Array | None:
    """The Array that takes the place of a private array everywhere; None if it is not private.

    box: a list or tuple, its first item the array: how many references a call has, Python decides.
    others: how many references are no variables of the program, with that of the call that counts.
    note: is told of objects and containers that hold an Array now.
    """
    if not owns_memory(box):
        return None
    with Unobserved():
        places, objects = HeldBy(), []
        for frame in frames():
            objects += places.look_in(frame, box)
            if places.count == sys.getrefcount(box[0]) - others:
                break
        else:
            places.look_behind(objects, box)
            if places.count != sys.getrefcount(box[0]) - others:
                return None
        new = CONSTANTS[0](box[0])
        places.give(new, note)
        return new


# `a += x`: NumPy calls the ufunc of Arrays, and holds `a` in ways of its own.

PROBES: dict[int, int] = {}  # id -> references to an array that is written to for this count
# id of an Array in a view's place -> the Array, and the id of the array whose memory it shows. Each
# store takes its own entry out: other threads, and signal handlers, may stand between theirs.
VIEWS: dict[int, tuple[weakref.ref[Array], int]] = {}


class Counted(Exception):
    """Ends the operator on an array that is written to for the count of its references alone."""


def in_place(ufunc: Any, method: str, inputs: Any, outs: Any) -> Array:
    """What is written to where a ufunc's `out=` is a plain array; raises unless it is private.

    How many references NumPy has is seen by an array that is known to have one more.
    """
    array = next(o for o in outs if o is not None and type(o) is not Array)
    if id(array) in PROBES:
        PROBES[id(array)] = sys.getrefcount(array)
        raise Counted
    is_operator = method == "__call__" and ufunc in IN_PLACE and inputs[0] is array
    step, session = in_place_step(sys._getframe(1)) if is_operator else None, SESSIONS[0]()
    if step is None or session is None or type(array) is not np.ndarray:
        refuse_out(ufunc, method, inputs[0], array, session)
    with Unobserved():
        now, probe = sys.getrefcount(array), np.zeros_like(array)
        PROBES[id(probe)] = 0
        try:
            IN_PLACE[ufunc](probe, inputs[1])
        except Counted:
            then = PROBES[id(probe)]
        finally:
            del PROBES[id(probe)]
    references = now - then + 1  # and one is on the stack, as that of the probe
    if not references and is_item(step):  # `a[i] += x` stores it
        new = CONSTANTS[0](array.copy())
        if array.base is not None:
            VIEWS[id(new)] = weakref.ref(new), id(array.base)
        return new
    mine = claimed([array], now + 1 - references, session.note)  # the box holds it as well
    return refuse_out(ufunc, method, inputs[0], array, session) if mine is None else mine


def in_place_step(frame: Any) -> tuple[CodeType, int] | None:
    """The instruction at which the program stands, if that is an operator in place."""
    while frame is not None and package(frame.f_globals) == "pullback":
        frame = frame.f_back
    if frame is not None and original(frame.f_code) is not frame.f_code:
        code, at = frame.f_code, frame.f_lasti
        if code.co_code[at] == OP["BINARY_OP"] and code.co_code[at + 1] >= FIRST_IN_PLACE:
            return code, at
    return None


NONE_SHOWN: Any = (lambda: None), 0


def stores_elsewhere(where: Any, value: Any) -> bool:
    """Whether what `a[i] += x` gives is stored in something that does not show what `a[i]` did.

    Then `a` is an object whose methods give and take items: only its writer knows what becomes of
    the memory that the operator would have written to.
    """
    shown, memory = VIEWS.pop(id(value), NONE_SHOWN)
    if shown() is not value or memory == id(where):
        return False
    return type(where) is not np.ndarray or memory != id(where.base)


def is_item(step: tuple[CodeType, int]) -> bool:
    """Whether what an operator in place gives is stored as an item: `a[i] += x`."""
    code, at = step
    raw, at = code.co_code, at + 2
    while raw[at] == OP["CACHE"]:
        at += 2
    return raw[at] == OP["SWAP"] and raw[at + 1] > 2
