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
from ...core.trace import Trace, is_live
from ...transforms.batch import BatchTrace
from ...transforms.call import FunctionCall, along, as_numpy, floating
from ...transforms.forward import jvp
from ...transforms.loops.body import Unstaged, example
from ...transforms.reverse import vjp
from ...transforms.stage import StageTrace
from .plain import SOLVING, Solves, Unlifted, through
from .programs import Changed, Learner, Operands, Program
from .watching import unnoted


def as_recorded(
    function: Callable[..., Any], args: Any, kwargs: Any, of_method: bool = False
) -> Any:
    """What a rule gives for SciPy's function; one operation where that solves and is recorded.

    of_method: whether the first argument is the object that has it.
    """
    if not TALLY.recordings or SOLVING.get() is not None:
        return function(*args, **kwargs)
    token = SOLVING.set("asked")
    try:
        return function(*args, **kwargs)
    except Solves:
        SOLVING.set("plain")
        try:
            return Solved(function, args, kwargs, of_method).result()
        except (Unstaged, Unlifted):
            SOLVING.set("itself")
            return function(*args, **kwargs)
    finally:
        SOLVING.reset(token)


class Operand:
    """Where a number stands among the arguments of a call."""

    def __init__(self, place: int) -> None:
        self.place = place


class Solved:
    """A call of a function that solves, from arrays to arrays."""

    def __init__(
        self, function: Callable[..., Any], args: Any, kwargs: Any, of_method: bool
    ) -> None:
        self.function, self.name = function, function.__name__
        self.owner, args = args[:of_method], args[of_method:]
        self.operands = Operands()
        self.given = through((args, kwargs), self.lifted)
        self.form: Any = None  # of the result

    def lifted(self, x: Any) -> Any:
        if type(x) is Array:
            return Operand(self.operands.place(x)) if is_live(x) else x
        return Learner(x, self.operands) if is_function(x) else x

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
            return Program(x, xs) if type(x) is Learner else x

        args, kwargs = through(self.given, fill)
        args = *self.owner, *args
        with unnoted():
            if not active() and any(type(x) is Array for x in xs):
                return begin(self.function, args, kwargs)
            return self.function(*args, **kwargs)

    def run(self, *xs: Any) -> tuple[Any, ...]:
        token = SOLVING.set("itself")
        try:
            found = self.called(xs)
        finally:
            SOLVING.reset(token)
        results: list[Any] = []
        fit(self.form, found, results)
        return tuple(results)


def is_function(x: Any) -> bool:
    """Whether an argument is called with numbers; what C has made takes them as they are."""
    made_by_c = isinstance(x, (type, BuiltinFunctionType)) or type(x).__module__ == "ctypes"
    return callable(x) and not made_by_c


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
        x = x.value
    return False


# Results of SciPy's as arrays: their form, and back.


class Leaf:
    """A number or an array in a result."""

    def __init__(self, x: Any) -> None:
        self.kind, plain = type(x), np.asarray(x)
        self.shape, self.dtype = plain.shape, plain.dtype


class Branch:
    """A container of results."""

    def __init__(self, kind: type, keys: Any, parts: list[Any]) -> None:
        self.kind, self.keys, self.parts = kind, keys, parts


class OfThatCall:
    """An object in a result, such as `hess_inv`: each call has its own, and this is of none."""

    def refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise Changed("an object in a result")

    __call__ = __getitem__ = __iter__ = __len__ = __array__ = __matmul__ = refuse

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
        return Branch(type(x), found[0], [form_of(item, leaves) for item in found[1]])
    if type(x) is Array and not is_live(x):
        x = x.value
    if type(x) in (int, float, complex) or isinstance(x, (np.number, np.ndarray)):
        leaves.append(np.asarray(x)[()] if type(x) is not np.ndarray else x)
        return Leaf(x)
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
    elif type(form) is Leaf:
        x = as_numpy(x)
        if x.shape != form.shape or x.dtype != form.dtype:
            raise Changed("a result of another shape")
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
    if type(form) is not Leaf:
        return form
    out = next(outs)
    if form.kind in (int, float, complex):
        return out.within.number(out) if type(out) is Array else form.kind(out)
    return arrayed(out) if form.kind is np.ndarray and not form.shape else out
