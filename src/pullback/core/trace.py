"""Trace, birth, bind: which active transformation interprets an operation.

A transformation runs the user's function on Arrays of a trace of its own.
The youngest trace among the operands interprets an operation; an older Array is a constant to it.
"Young" is decided by birth, a number that no two traces share:
there is no depth counter to leak when an exception flies, and none to race between threads.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from typing import Any

import numpy as np

from .array import Array, peel, stop
from .errors import ConversionError, EscapedError, MissingRuleError, name_of, reached
from .foreign import raised_next, translate
from .lost import line_of_user, warn_decided, warn_read_alone, warn_searched
from .narrowing import START, Narrowing
from .reach.calls import call, unreached
from .reach.namespaces import asker, package, shows
from .reach.private_arrays import CONSTANTS
from .reach.readers import DERIVING
from .spec import PYTHON, is_inexact, spec_of
from .storage import current, touch

PLAIN_COPY = (
    "An array `a` from outside is plain, and so is `a * 0`: to assign `x` into one, write"
    " `np.array(a)`"
)
# What to write for a conversion that would lose a derivative.
INSTEAD: dict[str | None, str] = {
    "numpy.asarray(x)": "Write `np.stack([x, y])` for `np.array([x, y])`, `x` itself for"
    " `np.asarray(x)`, and NumPy's functions for those of other libraries.\n"
    f"  {PLAIN_COPY}",
    "float(x)": "Write `np.sin(x)` for `math.sin(x)`, `np.stack([x, y])` for storing `x` and `y` in"
    " a plain array, and `x` itself for `float(x)`. A class derived from `float` holds a plain"
    " number: let it keep `self.value = x` instead.\n"
    f"  {PLAIN_COPY}",
    "complex(x)": "Write `x + 1j * y` for `complex(x, y)`, and `np.exp(z)` for `cmath.exp(z)`",
    "x.data": "Write `x` itself: libraries that read `.data` would lose the derivative",
    "x.as_integer_ratio()": "Write `x` itself for `Fraction(x)`: a fraction has no derivative",
    None: "Compute with NumPy's functions and operators instead",
}
# The same where SciPy asked, of an Array with `.grad`.
BY_SCIPY = (
    "SciPy's functions take Arrays in a function that `pullback.grad` or another transformation"
    " runs; elsewhere write `from pullback.scipy import optimize`, and so for its other modules"
)
BY_PANDAS = (
    "Tables of pandas take Arrays in a function that `pullback.grad` or another transformation runs"
)


class Trace:
    """One running transformation: it gives the operations on its Arrays their meaning.

    Subclasses say what `process` does with a primitive, and may shorten the way of elementwise
    operations on one and two operands, the hot path of the library (`unary`, `binary`).
    What they keep beside is in `state`, so that all have one layout and a trace can end by
    changing its class: no operation pays for asking whether its trace still runs.
    """

    __slots__ = (
        "__weakref__", "awaited", "birth", "comparison", "decisions", "fun", "inner", "leaves",
        "narrowing", "outer", "state", "turning", "verb", "written",
    )  # fmt: skip
    births = itertools.count(1)
    live = True  # converting an Array of this trace to a plain number would lose something
    # The node of an Array says how it depends on what is differentiated; how many times so.
    differentiates: int = False
    eager = False  # has leaves with `.grad`
    shares_copies = False  # `state` holds copies of plain arrays, see `copied`
    writes_back = False  # the node of an Array is a `Node`
    writes_steps = False  # it keeps all operations, and what they gave
    writes_nodes = False  # nodes of operations are also written by `Recorders`
    leaves_values = False  # what its Arrays were stored into has their values when it has ended
    leaves_nodes = False  # it has their nodes then
    captures = False  # Arrays of older traces are noted: code must not close over them
    transparent = False  # Arrays look like the values that they have
    compared = False  # what runs under it is compared with a plain run
    maps = False  # values have an axis that the user's function does not see
    weighs = False  # which numbers are Python's the trace knows, where values do not say it
    unread = False  # Arrays become those of another trace when they are read, see `read`
    ended = False

    def __init__(self, verb: str, fun: Any = None, state: Any = None) -> None:
        self.birth = next(Trace.births)
        self.verb = verb
        self.fun = fun
        self.state = state
        self.leaves: Any = None  # the session, and how many stores were noted before
        self.comparison: Any = None  # where an Array was compared, or made an integer, first
        self.written: Any = None  # the line where one was turned into text first
        self.decisions = 0  # answers that are constant between jumps: comparisons, `sign`, `int`
        self.narrowing: Narrowing | None = None  # what the decisions compare, from a few on
        self.awaited: float = START  # the number of the decision that is looked at next
        self.turning: Any = None  # the line of the one with the number FEW
        self.inner: Trace | None = None  # the eager trace of this transformation, born when needed
        self.outer: Trace | None = None  # the transformation around this one, while it runs

    @property
    def name(self) -> str:
        """How messages call this trace: `grad(loss)`."""
        return f"{self.verb}({name_of(self.fun)})" if self.fun is not None else self.verb

    def process(self, primitive: Any, xs: tuple[Any, ...], static: dict[str, Any]) -> Any:
        """Interpret `primitive(*xs, **static)`; at least one of xs is an Array of this trace."""
        raise AssertionError("a trace defines process")

    def takes(self, x: Array) -> None:
        """An Array of an older trace is about to become one of this trace, by an assignment."""

    def slope(self, seeds: Any) -> float:
        """How fast a number changes with the arguments, at most; its seeds as in `narrowing`."""
        return 1.0

    def unary(self, primitive: Any, x: Array) -> Any:
        if x.storage is not None:
            touch(x)
        return x.within.process(primitive, (x,), {})

    def single(self, primitive: Any, x: Array, static: dict[str, Any]) -> Any:
        """primitive(x, **static), where x is the one operand."""
        if x.storage is not None:
            touch(x)
        return x.within.process(primitive, (x,), static)

    def binary(self, primitive: Any, x: Any, y: Any) -> Any:
        trace = youngest((x, y)) or self
        return trace.process(primitive, (x, y), {})

    def beside(self, primitive: Any, i: int, x: Array, plain: Any) -> Any:
        """`binary` of an Array of this trace, operand i, and a float, an int or a plain array."""
        return self.binary(primitive, plain, x) if i else self.binary(primitive, x, plain)

    def pair(self, primitive: Any, x: Array, y: Array) -> Any:
        """`binary` of two Arrays of this trace."""
        return self.binary(primitive, x, y)

    def item(self, primitive: Any, x: Array, key: Any) -> Any:
        """x[key] by integers and slices, the hot path of element loops."""
        key = key if type(key) is tuple else (key,)
        return current(x).within.process(primitive, (x,), {"key": key})

    def gather(
        self, primitive: Any, x: Array, key: Any, arrays: Any, reorders: bool = False
    ) -> Any:
        """x[key] by plain arrays of integers that nobody writes to; key is their template.

        reorders: each element is read once, by one array.
        """
        return primitive(x, *arrays, key=key)

    def put(self, primitive: Any, x: Array, key: Any, v: Any) -> bool:
        """The short way of x[key] = v for one number; False says that it was not taken.

        x is written in place; the key is an int, or a tuple.
        """
        return False

    def spec(self, x: Array) -> Any:
        """The spec that the user's function sees."""
        return spec_of(x.payload)

    def shape(self, x: Array) -> tuple[int, ...]:
        value = x.payload
        return () if type(value) in PYTHON else value.shape

    def length(self, x: Array) -> int:
        """The length of the first axis."""
        return self.shape(x)[0]

    def read(self, x: Array) -> Array:
        """x, as the Array that it becomes."""
        return x

    def primal(self, x: Array) -> Any:
        """What x is without this trace: its value."""
        return x.payload

    def detached(self, x: Array) -> Any:
        """x without derivatives, in this trace and all older ones."""
        return stop(x.payload)

    def refusal(self, x: Array, asked: str) -> str:
        """Why x does not become a plain number or array."""
        by = asker()
        instead = INSTEAD.get(asked, INSTEAD[None])
        if shows():
            instead = "Pass `x.numpy()`: what is shown needs no derivative"
        elif self.eager and "`scipy." in by:
            instead = BY_SCIPY
        elif self.eager and "`pandas." in by:
            instead = BY_PANDAS
        return (
            f"`{asked}` was asked of an Array {self.spec(x)} of `{self.name}`{by}; the result"
            " would have lost its derivative.\n"
            f"  {instead}.\n"
            "  Or detach on purpose with `x.numpy()` or `pullback.stop_gradient(x)`." + unreached()
        )

    def foresee(self, error: ConversionError, frame: Any) -> None:
        """Hear that a conversion is refused, which was asked for in this frame."""
        if self.leaves is not None:  # it counts in other threads, where its error may be the end
            self.leaves[0].hear(error, False)
        raised_next(error, frame)

    def concrete(self, x: Array, asked: str) -> Any:
        """The value of x, for a question (`bool`, `int`) that Python itself must have answered."""
        return x.payload

    def told(self, x: Array, asked: str) -> Any:
        """The value of x, which leaves the program."""
        return x.payload

    def number(self, x: Array) -> Array:
        """x as one of Python's numbers, which is finite where its operands are."""
        value = x.payload
        if type(value) is Array:
            value = value.within.number(value)
        elif not np.ndim(value) and isinstance(value, (np.ndarray, np.inexact)):
            value = value.item()
        return Array(value, self, x.node)

    def python_class(self, x: Array) -> type | None:
        """The class of the Python number that x stands for, where its value does not say it."""
        return None

    def of_numpy(self, x: Array) -> Array:
        """x, which stands for a number of Python's, as one of NumPy's; asked where it weighs."""
        return x

    def asked(self, x: Array) -> None:
        """Hear that the program asks x for an attribute by a computed name."""

    def failed(self, x: Array, what: str) -> None:
        """Hear that something was raised for the value of x, which the program may catch."""
        if type(x.payload) is Array:
            x.payload.within.failed(x.payload, what)

    def notice(self) -> None:
        """Hear that an Array is compared, or asked for its truth or its integer.

        By the program, that is: rules compare too, and an inner transformation asks for the values
        of its own Arrays.
        """
        if self.eager or not self.leaves_values:
            self.comparison = ()
        elif RUNNING.get() is self and package(sys._getframe(2).f_globals) != "pullback":
            self.comparison = line_of_user() or ()

    def made_integers(self) -> None:
        """Hear of a cast to integers, made by the program or by a function of ours for it."""
        if RUNNING.get() is self and self.leaves_values and not self.eager and not in_rule():
            self.comparison = line_of_user() or ()

    def decided(self, primitive: Any, x: Any, y: Any = None) -> bool:
        """Hear of an operation that is constant between jumps."""
        self.decisions += 1
        if self.decisions >= self.awaited:
            self.watch(primitive, x, y)
        if self.decisions >= FEW and self.turning is None:
            self.turn()
        return primitive.constant

    def watch(self, primitive: Any, x: Any, y: Any = None) -> None:
        """Look at a decision, if it is one of the program."""
        narrowing = self.narrowing
        if narrowing is None:
            if not self.leaves_values or self.eager or not runs(self):
                self.awaited = self.decisions + FEW
                return
            narrowing = self.narrowing = Narrowing(self.fun)
        self.awaited = narrowing.hear(self, primitive, x, y)

    def turn(self) -> None:
        """Note the line of the program; rules, and transformations within, do not count."""
        if runs(self) and not in_rule():
            self.turning = line_of_user()
        else:
            self.decisions = 0

    def repeated(self, decisions: int, line: Any) -> None:
        """Hear of decisions that machine code made, and the line of the first branch that they
        chose: None without branches, () if it is not known."""
        self.decisions += decisions
        if self.decisions >= FEW and self.turning is None:
            self.turn()
        if line is not None and self.comparison is None:
            self.comparison = (line or line_of_user() or ()) if self.leaves_values else ()

    def led(self, outs: Any, reached: bool) -> None:
        """Warn where decisions or text alone led to floating results; reached: not so."""
        if reached or not any(map(is_floating, outs)):
            return
        if self.comparison:
            warn_searched(self)
        elif self.many_decisions(False):
            warn_decided(self)
        elif self.written:
            warn_read_alone(self)

    def many_decisions(self, beside: bool) -> bool:
        """Whether so many were made that the function may search; beside: a way back is there."""
        if self.decisions < (MANY if beside else FEW):
            return False
        return bool(self.turning or self.comparison)

    def led_beside(self, weights: Any, primals: Any, derivatives: Any) -> bool:
        """Warn where there is a way back, but all derivatives are zero, as of `x * 0 + found`.

        So they are where a function has its minimum as well: this is asked after many decisions.
        """
        zero = not any(map(nonzero, derivatives))
        if zero and any(map(nonzero, primals)) and all(map(full, weights)):
            warn_decided(self)
        return zero

    def suspended(self) -> bool:
        """Whether recording is left out here (`no_grad`)."""
        return False

    def converts(self, x: Array, asked: str) -> bool:
        """Whether x may become a plain array: nothing would be lost."""
        return not self.live

    def shared(self, x: Array) -> Any:
        """The integer that each example of a batch has in x; None if they differ, or x is other."""
        return None

    def peels(self, x: Array) -> bool:
        """Whether `x.item()` takes this trace off: no derivative of a transformation is lost."""
        return not self.live

    def end(self) -> None:
        """From now on every operation on an Array of this trace raises."""
        if self.leaves is not None:
            session, first = self.leaves
            self.leaves = None
            if session.notes is not None:
                session.leave(self, first)
        if self.inner is not None:
            self.inner.end()
            self.inner = None
        self.state = self.narrowing = None
        self.__class__ = EndedBatch if self.maps else Ended


FEW, MANY = 8, 12  # decisions in one call: a search by hand makes more than what has a few kinks


GOES_BACK = ("pullback.transforms.backward", "Pushforward.__call__")  # a module, and a method


def in_rule() -> bool:
    """Whether an operation is one of a rule: derivatives are computed, and not the program."""
    frame: Any = sys._getframe(2)
    while frame is not None and package(frame.f_globals) in ("pullback", "numpy"):
        if frame.f_globals.get("__name__") in GOES_BACK or frame.f_code.co_qualname in GOES_BACK:
            return True
        frame = frame.f_back
    return False


def runs(trace: Any) -> bool:
    """Whether a transformation is the innermost that runs, but for what maps within it."""
    innermost = RUNNING.get()
    while innermost is not None and innermost is not trace and innermost.maps:
        innermost = innermost.outer
    return innermost is trace


def nonzero(x: Any) -> bool:
    """Whether numbers are other than zero somewhere; None is zero."""
    x = peel(x)
    return x is not None and bool(np.any(x != 0))


def full(x: Any) -> bool:
    return bool(np.all(peel(x) != 0))


def is_floating(x: Any) -> bool:
    return isinstance(x, (float, complex)) or is_inexact(getattr(x, "dtype", np.dtype(int)))


def is_differentiated(x: Any) -> bool:
    """Whether a trace that computes derivatives has x; what only records or maps does not count."""
    while type(x) is Array:
        if x.within.differentiates and x.node is not None:
            return True
        x = x.payload
    return False


def derivatives_of(x: Any) -> int:
    """How many traces that compute derivatives have x."""
    count = 0
    while type(x) is Array:
        if x.node is not None:
            count += x.within.differentiates
        x = x.payload
    return count


class Ended(Trace):
    """What a trace becomes when its transformation has returned."""

    __slots__ = ()
    ended = True

    def process(self, primitive: Any, xs: tuple[Any, ...], static: dict[str, Any]) -> Any:
        raise EscapedError(
            f"`{primitive.name}` met an Array of `{self.name}`, which has ended.\n"
            "  An Array lives as long as the transformation that made it: return what is needed"
            " from the function, or log numbers with `x.numpy()`."
        )

    def concrete(self, x: Array, asked: str) -> Any:
        raise EscapedError(
            f"`{asked}` was asked of an Array of `{self.name}`, which has ended; write `x.numpy()`"
            " for its value."
        )


class EndedBatch(Ended):
    """One whose Arrays hold a value for each example."""

    __slots__ = ()
    maps = weighs = True


class Constant(Trace):
    """The oldest trace: Arrays that carry no derivative, such as `pullback.array([1.0, 2.0])`."""

    __slots__ = ()
    live = False

    def process(self, primitive: Any, xs: tuple[Any, ...], static: dict[str, Any]) -> Any:
        out = primitive(*[x.payload if type(x) is Array else x for x in xs], **static)
        if type(out) is tuple:
            return tuple([self.result(part) for part in out])
        if (static or len(xs) > 2) and type(out) is np.ndarray and out.dtype.kind not in NUMBERS:
            return out  # what was picked of text, dates or objects
        return self.result(out)

    def result(self, out: Any) -> Any:
        """A number that counts or answers stays NumPy's: it may become an index or a key.

        An Array that an array of objects held is itself.
        """
        kind = type(out)
        if kind is Array:
            return out
        if kind not in USUAL and isinstance(out, np.generic) and out.dtype.kind in "biu":
            return out
        return Array(out, self, None)


USUAL = frozenset({np.ndarray, np.float64, np.float32, np.complex128})
NUMBERS = frozenset("fcbiu")


CONSTANT = Constant("constant")
CONSTANT.birth = 0
CONSTANTS.append(lambda x: Array(x, CONSTANT, None))


def youngest(xs: Any) -> Trace | None:
    """The youngest trace among xs, or None if all are plain; they are about to be read."""
    found = None
    for x in xs:
        if type(x) is Array:
            if x.storage is not None:
                touch(x)
            trace = x.within
            if found is None or trace.birth > found.birth:
                found = trace
    return found


def bind(primitive: Any, xs: tuple[Any, ...], static: dict[str, Any]) -> Any:
    """Apply a primitive: the youngest trace among its operands interprets it."""
    trace = youngest(xs)
    if trace is None:
        return primitive.value(*xs, **static)
    return trace.process(primitive, xs, static)


RUNNING: ContextVar[Trace | None] = ContextVar("running", default=None)
STARTS: ContextVar[Any] = ContextVar("starts", default=None)  # is told of each trace that begins
RECORDINGS = [0]  # how many compiled functions have made: they are one operation from then on


def is_live(x: Any) -> bool:
    """Whether x is an Array that carries a derivative, which a plain number would lose."""
    return type(x) is Array and current(x).within.live


def enclosing() -> list[Trace]:
    """All running transformations of this thread or task, with their eager traces."""
    found, trace = list[Trace](), running()
    while trace is not None:
        found += [trace] if trace.inner is None else [trace, trace.inner]
        trace = trace.outer
    return found


def is_deriving() -> bool:
    """Whether one of them takes derivatives."""
    trace = running()
    while trace is not None:
        if trace.differentiates or (trace.inner is not None and trace.inner.differentiates):
            return True
        trace = trace.outer
    return False


DERIVING.append(is_deriving)


@contextmanager
def unsearched() -> Iterator[None]:
    """What is compared meanwhile is no search: the result has a derivative of its own."""
    before = [(trace, trace.awaited) for trace in enclosing()]
    try:
        for trace, _ in before:
            trace.awaited = inf
        yield
    finally:
        for trace, awaited in before:
            trace.awaited = awaited


def running() -> Trace | None:
    """The innermost running transformation of this thread or task.

    One that has ended may still be noted: in a task that began within it, or if an exception came
    before the line that takes it back. Machine code that is to run outside of all looks for none.
    """
    trace = RUNNING.get()
    if trace is None or not trace.ended:
        return trace
    while trace is not None and trace.ended:
        trace = trace.outer
    RUNNING.set(trace)
    return trace


def run(trace: Trace, fun: Any, args: Any, kwargs: dict[str, Any], ours: bool = False) -> Any:
    """Call the user's function as a part of a transformation.

    ours: it is one of ours that calls none of the user's, and is called as it is.
    """
    outer = RUNNING.get()
    if outer is not None and outer.ended:
        outer = running()
    trace.outer = outer
    try:
        RUNNING.set(trace)
        told = STARTS.get()
        if told is not None:
            told(trace)
        return fun(*args, **kwargs) if ours else call(fun, args, kwargs, trace)
    except MissingRuleError as error:
        reached(error, fun)
        raise
    except Exception as error:
        translate(error)
        raise
    finally:
        RUNNING.set(outer)
        trace.outer = None
