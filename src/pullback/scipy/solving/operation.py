"""A call of SciPy's that solves, as one operation of what is recorded to be repeated.

`compile` repeats what a function did with other numbers. What SciPy does in between is not recorded
step by step: its call is one operation, and in each repetition SciPy makes it.

    brentq(lambda x: x**3 - a, 0, b)   ->   brentq of the operands (b, a), with x**3 - a a program

The derivatives of the operation are operations of the same kind: they do what the rule of SciPy's
function does with numbers that carry a derivative.

A function of which no program can be written (an `if` that asks for x) is recorded step by step;
such a recording stands for calls with the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import BuiltinFunctionType
from typing import Any

import numpy as np

from ...core.array import TALLY, Array, arrayed, peel
from ...core.reach import active
from ...core.reach import call as begin
from ...core.spec import NUMERIC
from ...core.trace import Trace, is_live
from ...transforms.batch import BatchTrace
from ...transforms.call import FunctionCall, along, as_numpy, floating
from ...transforms.forward import jvp
from ...transforms.loops.body import Unstaged, example
from ...transforms.reverse import vjp
from ...transforms.stage import StageTrace
from .plain import MEMORY, SOLVING, Remembered, Solves, Unlifted, through
from .programs import Changed, ClosedProgram, Learner, LiftedArrays
from .watching import unnoted


def as_recorded(
    function: Callable[..., Any],
    args: Any,
    kwargs: Any,
    of_method: bool = False,
    amplifies: bool = False,
) -> Any:
    """What a rule gives for SciPy's function; one operation where that solves and is recorded.

    of_method: whether the first argument is the object that has it.
    amplifies: whether the last bits of the user's functions count, as where differences are taken.
    """
    if not TALLY.recordings or SOLVING.get() is not None:
        return function(*args, **kwargs)
    token = SOLVING.set("asked")
    try:
        return function(*args, **kwargs)
    except Solves:
        SOLVING.set("plain")
        try:
            return SolverCall(function, args, kwargs, of_method, amplifies).result()
        except (Unstaged, Unlifted):
            SOLVING.set("itself")
            return function(*args, **kwargs)
    finally:
        SOLVING.reset(token)


class Operand:
    """Where a number stands among the arguments of a call."""

    def __init__(self, place: int) -> None:
        self.place = place


class SolverCall:
    """A call of a function that solves, from arrays to arrays."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: Any,
        kwargs: Any,
        of_method: bool,
        amplifies: bool,
    ) -> None:
        self.function, self.name, self.exact = function, function.__name__, amplifies
        self.owner, args = args[:of_method], args[of_method:]
        self.operands = LiftedArrays()
        self.given = through((args, kwargs), self.lifted)
        self.form: Any = None  # of the result
        # The last operands, and what SciPy gave for them.
        self.last: tuple[Any, Remembered] | None = None

    def lifted(self, x: Any) -> Any:
        if is_live(x):
            return Operand(self.operands.place(x))
        if type(x) in (Array, np.ndarray):
            return np.array(peel(x))  # the program may write into it later
        return Learner(x, self.operands, self.exact) if is_function(x) else x

    def result(self) -> Any:
        """The result of the call, as the transformations around it have it."""
        found = self.called(self.operands.values)
        if not self.operands.arrays:
            return found
        if not any(met(x, StageTrace) for x in self.operands.arrays):
            raise Unlifted  # nothing of it is going to be repeated
        results: list[Any] = []
        self.form = form_of(found, results)
        outs = operation(self.name, self.run, self.operands.arrays, results)
        return made(self.form, iter(outs))

    def called(self, xs: Sequence[Any]) -> Any:
        def fill(x: Any) -> Any:
            if type(x) is Operand:
                return xs[x.place]
            return ClosedProgram(x, xs) if type(x) is Learner else x

        args, kwargs = through(self.given, fill)
        args = *self.owner, *args
        with unnoted():
            if not active() and any(type(x) is Array for x in xs):
                return begin(self.function, args, kwargs)
            return self.function(*args, **kwargs)

    def run(self, *xs: Any) -> tuple[Any, ...]:
        memory = self.memory(xs)
        solving, remembered = SOLVING.set("itself"), MEMORY.set(memory)
        try:
            found = self.called(xs)
        finally:
            MEMORY.reset(remembered)
            SOLVING.reset(solving)
        if memory is not None and memory.noting:
            memory.noting, self.last = False, (xs, memory) if memory.usable else None
        results: list[Any] = []
        fit(self.form, found, results)
        return tuple(results)

    def memory(self, xs: Sequence[Any]) -> Remembered | None:
        """Derivatives that are taken after a call need not solve again; None: they must."""
        if Array not in map(type, xs):
            return Remembered()
        last, self.last = self.last, None
        if last is None or any(met(x, BatchTrace) for x in xs):
            return None
        return last[1] if all(map(same, last[0], map(peel, xs))) else None


def is_function(x: Any) -> bool:
    """Whether an argument is called with numbers; what C has made takes them as they are.

    An operator is asked for products.
    """
    made_by_c = isinstance(x, (type, BuiltinFunctionType)) or type(x).__module__ == "ctypes"
    return callable(x) and not (made_by_c or hasattr(x, "matvec"))


def same(x: Any, y: Any) -> bool:
    """Whether two operands have the same bits."""
    x, y = np.asarray(x), np.asarray(y)
    return x.shape == y.shape and x.dtype == y.dtype and x.tobytes() == y.tobytes()


# The operation, and its derivatives.


def operation(
    name: str, run: Callable[..., Any], xs: Sequence[Any], results: Sequence[Any] | None = None
) -> Any:
    """run(*xs) as one operation; results: those for plain values like the operands."""
    if not any(type(x) is Array for x in xs):
        return run(*xs)
    if results is None:
        results = run(*map(example, xs))
    n = len(xs)

    def push(xs: Any, outs: Any, x_dots: Any) -> Any:
        at = [i for i, dot in enumerate(x_dots) if dot is not None]
        moving = floating(outs)

        def ahead(*operands: Any) -> Any:
            whole, dots = operands[:n], operands[n:]
            of = along(among(run, moving), whole, at)
            return jvp(of, tuple([whole[i] for i in at]), tuple(dots))[1]

        dots = operation(f"{name}, forward", ahead, [*xs, *[x_dots[i] for i in at]])
        return spread(dots, moving, len(outs))

    def pull(xs: Any, outs: Any, out_bars: Any) -> Any:
        at, moving = [i for i, bar in enumerate(out_bars) if bar is not None], floating(xs)

        def back(*operands: Any) -> Any:
            whole, bars = operands[:n], operands[n:]
            of = along(among(run, at), whole, moving)
            return vjp(of, *[whole[i] for i in moving])[1](tuple(bars))

        bars = operation(f"{name}, backward", back, [*xs, *[out_bars[i] for i in at]])
        return spread(bars, moving, n)

    call = FunctionCall(name, run, push, pull, xs, results)
    call.solves = True
    if any(met(x, BatchTrace) for x in xs):
        call.results = None  # they are those of one example
    return call(*xs)


def among(run: Callable[..., Any], at: Sequence[int]) -> Callable[..., Any]:
    """A function with some of its results."""

    def some(*xs: Any) -> tuple[Any, ...]:
        outs = run(*xs)
        return tuple([outs[i] for i in at])

    return some


def spread(parts: Sequence[Any], at: Sequence[int], n: int) -> list[Any]:
    whole: list[Any] = [None] * n
    for i, part in zip(at, parts, strict=True):
        whole[i] = part
    return whole


def met(x: Any, kind: type[Trace]) -> bool:
    """Whether a trace of this kind has x."""
    while type(x) is Array:
        if isinstance(x.within, kind):
            return True
        x = x.payload
    return False


# Results of SciPy's as arrays: their form, and back.


class LeafOfResult:
    """A number or an array in a result; one of Python's stays finite, as `math` insists on it."""

    def __init__(self, x: Any) -> None:
        self.kind, plain = type(x), np.asarray(x)
        self.shape, self.dtype = plain.shape, plain.dtype
        self.is_number = self.kind in (int, float, complex)
        self.is_finite = self.is_number and bool(np.isfinite(plain))


class Branch:
    """A container of results."""

    def __init__(self, kind: type, keys: Any, parts: list[Any]) -> None:
        self.kind, self.keys, self.parts = kind, keys, parts


class OfThatCall:
    """A message or an object in a result, such as `hess_inv`: each call has its own."""

    def refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise Changed("a message or an object in a result")

    __call__ = __getitem__ = __iter__ = __len__ = __array__ = __matmul__ = __bool__ = refuse
    __str__ = __repr__ = __format__ = __contains__ = __eq__ = __ne__ = __hash__ = refuse

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.refuse()


def items_of(x: Any) -> tuple[Any, list[Any]] | None:
    """Keys and items of a container; None of what is none."""
    if isinstance(x, dict):
        return tuple(x), list(x.values())
    if type(x) in (tuple, list) or (isinstance(x, tuple) and hasattr(x, "_fields")):
        return None, list(x)
    return None


def form_of(x: Any, leaves: list[Any]) -> Any:
    """The form of a result, whose numbers are put into `leaves`."""
    found = items_of(x)
    if found is not None:
        keys, items = found
        parts = [
            OfThatCall() if key == "message" else form_of(item, leaves)
            for key, item in zip(keys or [None] * len(items), items, strict=True)
        ]
        return Branch(type(x), keys, parts)
    if type(x) is Array and not is_live(x):
        x = x.payload
    numeric = isinstance(x, (np.number, np.ndarray)) and x.dtype.char in NUMERIC
    if type(x) in (int, float, complex) or numeric:
        leaves.append(np.asarray(x)[()] if type(x) is not np.ndarray else x)
        return LeafOfResult(x)
    if is_live(x):
        raise Unlifted
    return x if x is None or isinstance(x, (bool, np.bool_, str)) else OfThatCall()


def fit(form: Any, x: Any, leaves: list[Any]) -> None:
    """Put the numbers of another result of this form into `leaves`.

    Raises:
        Changed: it is of another form.
    """
    if type(form) is Branch:
        keys, items = items_of(x) or (None, [])
        if type(x) is not form.kind or keys != form.keys or len(items) != len(form.parts):
            raise Changed("a result of another form")
        for part, item in zip(form.parts, items, strict=True):
            fit(part, item, leaves)
    elif type(form) is LeafOfResult:
        x = as_numpy(x)
        if x.shape != form.shape or x.dtype != form.dtype:
            raise Changed("a result of another shape")
        if form.is_finite and not np.all(np.isfinite(peel(x))):
            raise Changed("a result that is not finite")
        leaves.append(x)
    elif type(form) is not OfThatCall and not (
        np.all(peel(x) == form) if type(x) is Array else x == form
    ):
        raise Changed("another message")


def made(form: Any, outs: Any) -> Any:
    """A result of this form."""
    if type(form) is Branch:
        parts = [made(part, outs) for part in form.parts]
        if form.keys is not None:
            whole: Any = form.kind.__new__(form.kind)  # type: ignore[call-overload]
            whole.update(zip(form.keys, parts, strict=True))
            return whole
        return form.kind(*parts) if hasattr(form.kind, "_fields") else form.kind(parts)
    if type(form) is not LeafOfResult:
        return form
    out = next(outs)
    if form.is_number:
        return as_number(out) if type(out) is Array else form.kind(out)
    return arrayed(out) if form.kind is np.ndarray and not form.shape else out


def as_number(x: Array) -> Array:
    """x as one of Python's numbers, of which no question is asked."""
    trace = x.within
    if isinstance(trace, StageTrace):
        trace.state.weak.add(x.node)
        return x
    if isinstance(trace, BatchTrace) or type(x.payload) is not Array:
        return trace.number(x)
    return Array(as_number(x.payload), trace, x.node)
