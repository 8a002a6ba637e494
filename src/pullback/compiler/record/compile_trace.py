"""The trace that records for `compile`.

When Python asks for a value (`if x > 0`, `int(n)`, `x.item()`), the trace answers, and notes the
question and the answer as a guard. It also notes operations that may raise for other values, and
operations where Python numbers would behave differently from NumPy's.
"""

from __future__ import annotations

from functools import partial
from sys import getprofile, setprofile
from typing import Any

import numpy as np

from ...core.array import PYTHONS, Array
from ...core.graph import Equation, Variable
from ...core.kinds import Linear, Multilinear
from ...core.lost import frame_of_user, line_of
from ...core.node import keep
from ...core.primitive import Primitive
from ...core.spec import DOUBLE, DOUBLES, is_inexact, spec_of
from ...primitives.elementwise import divide, equal, positive
from ...primitives.shapes import astype_p
from ...transforms.call import FunctionCall
from ...transforms.eager import SUSPENDED
from ...transforms.mapped_numbers import operands_beside
from ...transforms.stage import STOP, StageTrace
from ..facts.call_monitor import unwatched
from ..facts.warned import hears_numpy
from .caught import can_be_asked, question, raises_p
from .guards import QUESTIONS, Guard
from .own_code import QUICK, is_ours
from .python_numbers import SMOOTH, of_numbers

UNLIKE_ANSWERS = {"repr(x)", "x as an index", "values"}
PLAIN_NUMBERS = (int, float, bool, complex, str)
new = object.__new__
# What has no methods of the user's that NumPy could call.
NUMBERS = {float, int, bool, complex, *np.sctypeDict.values()} - {np.object_, np.void}
PARAMETERS = {int, bool, str, tuple, type(None), float, np.dtype, type}
PLAIN = {np.ndarray, np.float64}
REAL = {*PLAIN, float, int}
OPERANDS = {*REAL, complex, bool}


def silent(primitive: Primitive, xs: tuple[Any, ...], static: dict[str, Any]) -> bool:
    """Whether an operation runs no code of the user's."""
    if not is_ours(primitive):
        return False
    for x in xs:
        value = x.payload if type(x) is Array else x
        if type(value) is np.ndarray:
            if value.dtype.hasobject:
                return False
        elif type(value) not in NUMBERS:
            return False
    return not static or PARAMETERS.issuperset(map(type, static.values()))


def variables_of(e: Equation) -> list[Variable]:
    return [x for x in e.inputs if type(x) is Variable]


class CompileTrace(StageTrace):
    """A stage trace that Python may ask for values.

    Recordings for calls inside transformations note what `stop_gradient` stops.
    """

    __slots__ = ()
    transparent = compared = weighs = True
    plain_truth = captures = False

    @property
    def differentiates(self) -> int:  # type: ignore[override]  # a constant elsewhere
        """How many derivatives of what is recorded are taken around it: at kinks rules ask."""
        return self.state.derivatives

    def process(self, primitive: Primitive, xs: tuple[Any, ...], static: dict[str, Any]) -> Any:
        watch = self.state.watch
        if watch.profile is None or watch.is_sorted or getprofile() is None:
            return self.noted(primitive, xs, static)
        setprofile(None)
        try:
            if silent(primitive, xs, static):
                return self.noted(primitive, xs, static)
        finally:
            watch.resume()
        return self.noted(primitive, xs, static)

    # What most operations need: plain operands, and no more than a line in the graph.

    def is_brief(self, primitive: Primitive) -> bool:
        """Whether an operation on plain values is only computed and written down."""
        notes = self.state
        silenced = notes.outside or notes.watch.silences or SUSPENDED.anywhere
        return primitive in QUICK and not silenced

    def is_straight(self, primitive: Primitive) -> bool:
        """Whether that is so, and nobody is told of calls on the way.

        `is_brief` is written out, since this is asked for most operations.
        """
        notes = self.state
        watch = notes.watch
        if primitive not in QUICK or (watch.profile is not None and not watch.is_sorted):
            return False
        return not (notes.outside or watch.silences or SUSPENDED.anywhere)

    def unary(self, primitive: Primitive, x: Array) -> Any:
        return self.single(primitive, x, {})

    def single(self, primitive: Primitive, x: Array, static: dict[str, Any]) -> Any:
        plain = x.storage is None and type(x.payload) in PLAIN and x.node not in self.state.weak
        if plain and self.is_straight(primitive):
            return self.quick(primitive, (x.payload,), (x.node,), static)
        return StageTrace.single(self, primitive, x, static)

    def item(self, primitive: Primitive, x: Array, key: Any) -> Any:
        if x.storage is not None:  # which stays the owner of its memory
            return StageTrace.item(self, primitive, x, key)
        return self.single(primitive, x, {"key": key if type(key) is tuple else (key,)})

    def beside(self, primitive: Primitive, i: int, x: Array, plain: Any) -> Any:
        value, node = x.payload, x.node
        weak = node in self.state.weak
        brief = x.storage is None and type(value) in PLAIN and type(plain) in REAL
        brief = brief and not (weak and type(plain) in PLAIN)
        if not brief or (weak and primitive not in SMOOTH) or not self.is_straight(primitive):
            return StageTrace.beside(self, primitive, i, x, plain)
        kept = keep(plain) if type(plain) is np.ndarray else plain
        if i:
            out = self.quick(primitive, (plain, value), (kept, node), {})
        else:
            out = self.quick(primitive, (value, plain), (node, kept), {})
        if weak:
            self.state.weak.add(out.node)
        return out

    def pair(self, primitive: Primitive, x: Array, y: Array) -> Any:
        a, b, numbers = x.payload, y.payload, self.state.weak
        weak = x.node in numbers
        brief = x.storage is None and y.storage is None and type(a) in PLAIN and type(b) in PLAIN
        brief = brief and weak is (y.node in numbers)  # both are Python's, or neither
        if not brief or (weak and primitive not in SMOOTH) or not self.is_straight(primitive):
            return StageTrace.pair(self, primitive, x, y)
        out = self.quick(primitive, (a, b), (x.node, y.node), {})
        if weak:
            numbers.add(out.node)
        return out

    def quick(
        self,
        primitive: Primitive,
        values: tuple[Any, ...],
        inputs: tuple[Any, ...],
        static: dict[str, Any],
    ) -> Array:
        """An operation of ours with one result, on plain values: what `StageTrace` does.

        Objects are made without their `__init__`, which takes a third of the time.
        """
        try:
            out = primitive.value(*values, **static) if static else primitive.value(*values)
        except Exception as error:
            self.raised(primitive, values, inputs, static, error)
            raise
        if type(out) is complex:
            out = np.complex128(out)
        notes, variable, equation, array = self.state, new(Variable), new(Equation), new(Array)
        plain = type(out) in PLAIN and out.dtype is DOUBLE
        variable.spec = DOUBLES[out.shape] if plain else spec_of(out)
        equation.primitive, equation.inputs = primitive, inputs
        equation.outputs, equation.static = (variable,), static
        notes.equations.append(equation)
        array.payload, array.within, array.node, array.storage = out, self, variable, None
        live = notes.live
        if live is not None:
            for x in inputs:
                if type(x) is Variable and x in live:
                    if out.dtype.kind in "fc":
                        live.add(variable)
                    break
        return array

    def noted(self, primitive: Primitive, xs: tuple[Any, ...], static: dict[str, Any]) -> Any:
        if self.is_brief(primitive):
            values, inputs, weak = [], [], self.state.weak
            numbers, some = bool(weak), False  # whether all of them would be Python's; some Arrays
            for x in xs:
                if type(x) is Array and x.within is self and type(x.payload) in PLAIN:
                    values.append(x.payload)
                    inputs.append(x.node)
                    numbers, some = numbers and x.node in weak, some or x.node in weak
                elif type(x) in OPERANDS:
                    values.append(x)
                    inputs.append(keep(x))
                    numbers = numbers and type(x) in PLAIN_NUMBERS
                else:
                    break
            else:
                if not (numbers or some):
                    return self.quick(primitive, tuple(values), tuple(inputs), static)
                smooth = numbers and (primitive in SMOOTH or primitive is divide)
                if smooth and complex not in map(type, xs):
                    if primitive is divide and self.is_zero(xs[1]):
                        return self.at_length(primitive, xs, static)
                    out = self.quick(primitive, tuple(values), tuple(inputs), static)
                    weak.add(out.node)
                    return out
        return self.at_length(primitive, xs, static)

    def at_length(self, primitive: Primitive, xs: tuple[Any, ...], static: dict[str, Any]) -> Any:
        notes = self.state
        if notes.watch.silences:
            notes.raised = notes.raised or hears_of_errors(notes.watch)
        if (SUSPENDED.anywhere or notes.outside) and SUSPENDED.here() is not notes.outside:
            notes.suspends = True
        # It has run on this trace.
        if type(primitive) is FunctionCall and primitive.results is not None:
            primitive.results = tuple(
                x.payload if type(x) is Array and x.within is self else x for x in primitive.results
            )
        try:
            if str in map(type, xs):  # no number is equal to text, whatever it is
                values = [x.payload if type(x) is Array and x.within is self else x for x in xs]
                out = self.computed(primitive, values, static)
                return bool(out) if all(map(self.is_weak, xs)) else out
            if notes.weak and xs and all(map(self.is_weak, xs)):
                return of_numbers(self, primitive, xs, static)
            if notes.weak and any(map(partial(StageTrace.is_weak, self), xs)):
                kinds = [self.kind_of_python(x) for x in xs]
                xs = tuple(operands_beside(primitive, xs, kinds))
            return StageTrace.process(self, primitive, xs, static)
        except Exception as error:
            mine = [type(x) is Array and x.within is self for x in xs]
            values = [x.payload if known else x for x, known in zip(xs, mine, strict=True)]
            inputs = [x.node if known else keep(x) for x, known in zip(xs, mine, strict=True)]
            self.raised(primitive, values, inputs, static, error)
            raise

    def kind_of_python(self, x: Any) -> Any:
        """The class of the number of Python's that x would be without a recording, or None."""
        if type(x) is not Array:
            return type(x) if type(x) in PYTHONS.values() else None
        return PYTHONS[x.dtype.kind] if self.is_weak(x) else None

    def is_zero(self, x: Any) -> bool:
        """Whether a divisor is zero; the answer is noted as a guard."""
        if type(x) is not Array or type(x.payload) not in PLAIN:
            return bool(x == 0)
        with unwatched():
            flag = self.quick(equal, (x.payload, 0), (x.node, 0), {})
            return self.guarded(flag)

    def guarded(self, flag: Array) -> bool:
        """The answer to a question that the trace asks itself."""
        answer, line = bool(flag.payload), line_of(frame_of_user())
        self.state.guards.append(
            Guard(flag.node, "bool(x)", answer, line, len(self.state.equations))
        )
        return answer

    def computed(self, primitive: Primitive, values: list[Any], static: dict[str, Any]) -> Any:
        """On plain operands it is said at once that nobody else interprets the operation."""
        if Array in map(type, values) or not is_ours(primitive):
            return primitive(*values, **static)
        out = primitive.value(*values, **static)
        return np.complex128(out) if type(out) is complex else out

    def raised(
        self, primitive: Primitive, values: Any, inputs: Any, static: Any, error: Exception
    ) -> None:
        """Note an error that other values might not raise, since the program may catch it."""
        shapes_decide = isinstance(primitive, (Linear, Multilinear)) and is_ours(primitive)
        if shapes_decide and all(spec_of(x).dtype.kind not in "iu" for x in values[1:]):
            return
        if can_be_asked(primitive, values):
            with unwatched():
                asked = question(primitive, static, error)
                if self.guarded(self.quick(raises_p, tuple(values), tuple(inputs), asked)):
                    return
        self.state.raised = f"`{primitive.name}` raised {type(error).__name__}"

    def number(self, x: Array) -> Any:
        if x.dtype.kind == "b":
            return bool(x)  # True or False, and neither of NumPy's
        if x.dtype.char in "gG":  # whose `item()` are NumPy's
            return x
        if not bool(np.isfinite(x).all()):  # for other values of this kind `math` may raise
            self.state.unlike = self.state.unsure = True
        if not self.is_weak(x):
            # x itself stays one of NumPy's; Python's have 64 bits.
            if x.dtype == np.uint64 and not bool((x <= np.uint64(2**63 - 1)).all()):
                self.state.unlike = True  # Python's go on
            dtype = np.dtype(PYTHONS[x.dtype.kind])
            copied = (positive, {}) if x.dtype == dtype else (astype_p, {"dtype": dtype})
            x = StageTrace.process(self, copied[0], (x,), copied[1])
        self.state.weak.add(x.node)
        return x

    def of_numpy(self, x: Array) -> Array:
        """A Python number as a ufunc called by name takes it: all that is made of it is NumPy's."""
        return StageTrace.process(self, positive, (x,), {}) if self.is_weak(x) else x

    def asked(self, x: Array) -> None:
        self.state.unlike |= self.is_weak(x)

    def failed(self, x: Array, what: str) -> None:
        self.state.raised = what  # other values might not raise

    def is_weak(self, x: Any) -> bool:
        return StageTrace.is_weak(self, x) if type(x) is Array else type(x) in PLAIN_NUMBERS

    def detached(self, x: Array) -> Any:
        if not self.state.traced or not is_inexact(x.dtype):
            return x
        stopped = Variable(spec_of(x))
        self.state.equations.append(Equation(STOP, (x.node,), (stopped,), {}))
        return Array(x.payload, self, stopped)

    def converts(self, x: Array, asked: str) -> bool:
        return not self.carries(x)

    def carries(self, x: Array) -> bool:
        """Whether a transformation around would lose a derivative with x."""
        notes = self.state
        if notes.carrying:
            n, last = notes.followed
            if last is not None and last not in notes.equations[n - 1 : n]:
                n = 0
            for e in notes.equations[n:]:
                if e.primitive is not STOP and not notes.carrying.isdisjoint(variables_of(e)):
                    notes.carrying.update([v for v in e.outputs if is_inexact(v.spec.dtype)])
            notes.followed = len(notes.equations), (notes.equations or [None])[-1]
        return x.node in notes.carrying

    def peels(self, x: Array) -> bool:
        if self.state.traced:
            return False
        watch = self.state.watch
        if not watch.casts or x.dtype.kind not in "fiuc":
            return True
        watch.cast = True
        return False

    def told(self, x: Array, asked: str) -> Any:
        self.note(x, asked)
        return x.payload

    def concrete(self, x: Array, asked: str) -> Any:
        self.note(x, asked if asked in QUESTIONS else "values")
        return x.payload

    def note(self, x: Array, asked: str) -> None:
        with unwatched():
            self.guard(x, asked)

    def guard(self, x: Array, asked: str) -> None:
        as_counted = asked == "x as an index" and x.node in self.state.limits
        if asked in UNLIKE_ANSWERS and self.is_weak(x) and not as_counted:
            self.state.unlike = True
        frame = frame_of_user()
        guard = Guard(self.variable(x), asked, None, line_of(frame), len(self.state.equations))
        try:
            guard.answer = guard.ask(x.payload)
        except Exception as error:
            if x.size == 1 and asked != "x as an index":  # `int(x)` of NaN; others always raise
                self.state.raised = f"`{asked}` raised {type(error).__name__}"
            raise
        if asked == "bool(x)" and self.state.loops.asked(self, frame, x, guard):
            return
        self.state.guards.append(guard)


def hears_of_errors(watch: Any) -> str | None:
    """How code hears of floating-point errors, of which a replay doesn't tell."""
    if not {"warn", "ignore"}.issuperset(np.geterr().values()):
        return "it asks NumPy to raise floating-point errors"
    return None if watch.warning_setup is None else hears_numpy(watch.warning_setup)
