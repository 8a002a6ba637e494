"""SciPy's own call on plain values.

A solver receives plain numbers, and the user's functions return plain numbers to it, so it runs as
SciPy always does. A batch is solved example by example:

    vmap(lambda a: brentq(lambda x: x**3 - a, 0, 9))(a)     # one call of brentq for each a

Enter: a function of `PlainValues` that calls SciPy. Leave: its results, for each example.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from itertools import product
from types import MemberDescriptorType as Slot
from typing import Any

import numpy as np

from ...core.array import Array
from ...core.errors import ArgumentError, ConversionError
from ...core.reach.session import SESSION, call_outside
from ...core.storage import current
from ...core.trace import CONSTANT, Trace
from ...transforms.batch import BatchTrace
from ...transforms.stage import StageTrace
from . import by_example
from .draws import RepeatedDraws, is_drawing
from .lent import BORROWER, borrowed, is_lent
from .repeated_stores import begun_again, solved

# How solvers are called here, where a program is recorded to be repeated. None: each call is to
# become an operation. "asked": the call is under way, of which it is not known whether it solves.
# "plain": it is made with plain values of all that it depends on. "itself": as it is.
SOLVING: ContextVar[str | None] = ContextVar("solving", default=None)


class Remembered:
    """The results of solvers in a call, for the same call with numbers that carry derivatives."""

    def __init__(self, of_plain: bool = False) -> None:
        self.results: list[Any] = []
        self.noting = self.usable = True
        self.of_plain = of_plain  # whether all that the call depends on is known to be plain

    def again(self) -> Remembered:
        """The same for another call, which takes one result after the other."""
        other = Remembered()
        other.results, other.noting = list(self.results), False
        return other


MEMORY: ContextVar[Remembered | None] = ContextVar("memory", default=None)

# Functions that rules stand for, of those that a function of the user's calls; None: nobody asks.
SERVED: ContextVar[list[Any] | None] = ContextVar("served", default=None)


signature = functools.cache(inspect.signature)  # of SciPy's functions

# Objects of SciPy's that hold functions and arrays of the user's.
DESCRIPTIONS = ("Bounds", "LinearConstraint", "NonlinearConstraint")


class Mapped(BaseException):
    """A value differs between the examples of a batch that is not known of yet.

    No Exception: it passes through SciPy and the user's own `except`.
    """

    def __init__(self, trace: BatchTrace) -> None:
        self.trace = trace


class Solves(BaseException):
    """A call of a rule solves: it becomes one operation, and is made once more.

    by_values: whether it has asked for values itself, and not for those that a solver wants
    """

    by_values = False


class ReadsValues(Solves):
    by_values = True


class Unlifted(BaseException):
    """A call of a solver depends on something that isn't among its arguments."""


def met(x: Any, kind: type[Trace]) -> bool:
    """Whether a trace of this kind has x."""
    while type(x) is Array:
        if isinstance(x.within, kind):
            return True
        x = x.payload
    return False


def about_to_read(x: Any) -> None:
    """Called before a rule reads numbers of a recording, which differ in each replay."""
    solving = SOLVING.get()
    if solving in ("asked", "plain") and x.dtype.kind in "fc" and met(x, StageTrace):
        raise ReadsValues if solving == "asked" else Unlifted


def shallow(x: Any) -> Any:
    """A copy of an object that shares what it holds.

    `copy.copy` asks functions that anybody may register, which a recording would have to compare.
    """
    kind: Any = type(x)
    out = kind.__new__(kind)
    if isinstance(x, dict):
        out.update(x)
    slots = [y for base in kind.__mro__ for y in vars(base).values() if type(y) is Slot]
    for slot in slots:
        if hasattr(x, slot.__name__):
            setattr(out, slot.__name__, getattr(x, slot.__name__))
    if hasattr(x, "__dict__"):
        vars(out).update(vars(x))
    return out


def through(x: Any, change: Callable[[Any], Any]) -> Any:
    """Replace the items of lists, tuples, dicts and constraints."""
    kind = type(x)
    if kind in (list, tuple):
        return kind([through(item, change) for item in x])
    if kind is dict:
        return {key: through(item, change) for key, item in x.items()}
    if kind.__name__ in DESCRIPTIONS and kind.__module__.startswith("scipy."):
        x = shallow(x)
        vars(x).update({name: through(part, change) for name, part in vars(x).items()})
        return x
    return change(x)


def number(x: Any) -> Any:
    """A number or an array that SciPy has given, as NumPy has it."""
    return x if type(x) is Array else np.asarray(x)[()]


class PlainValues:
    """Plain values of Arrays; of those of a batch, the values of one example.

    met_live: whether there has been an Array whose derivative or batch the caller looks after.
    asked: whether a call wanted to know, and does something else then.
    """

    def __init__(self, example: dict[Any, int], draws: RepeatedDraws | None = None) -> None:
        self.example, self.met_live, self.asked = example, False, False
        self.draws = draws
        self.session = SESSION.get()

    @property
    def live(self) -> bool:
        self.asked = True
        return self.met_live

    def meets(self) -> None:
        """Note an Array that carries a derivative, is mapped or is recorded."""
        self.met_live = True
        if SOLVING.get() == "plain":
            raise Unlifted

    def of(self, x: Any) -> Any:
        """The plain value of one Array; anything else is returned as it is."""
        while type(x) is Array:
            x = current(x)
            x = borrowed(x, BORROWER.get()) if is_lent(x) else x
            trace: Any = x.within
            if trace is not CONSTANT:
                self.meets()
            if isinstance(trace, BatchTrace):
                if trace not in self.example:
                    raise Mapped(trace)
                x = x.payload[self.example[trace]]
            else:
                x = trace.concrete(x, "a value for a solver")
        return x

    def tree(self, x: Any) -> Any:
        """The same for lists, tuples, dicts and constraints; functions return plain values."""
        return through(x, self.leaf)

    def leaf(self, x: Any) -> Any:
        if type(x) is Array:
            return self.of(x)
        if callable(x) and not isinstance(x, type):
            return x.plainly(self.of) if hasattr(x, "plainly") else Plain(x, self)
        if self.draws is not None and is_drawing(x):
            self.draws.meets(x)
        return x


class KnownPlain(PlainValues):
    """Values of which all are known to be plain, as are those that functions return.

    Only the object whose method is called may hold constants: `gaussian_kde(data)` computes some.
    """

    def tree(self, x: Any) -> Any:
        return x


class Plain:
    """A function of the user's that returns plain values."""

    def __init__(self, fun: Callable[..., Any], values: PlainValues) -> None:
        functools.update_wrapper(self, fun)  # SciPy reads signatures
        self.fun, self.values = fun, values

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        before = SESSION.get()
        try:
            SESSION.set(self.values.session)
            return self.values.tree(self.fun(*args, **kwargs))
        finally:
            SESSION.set(before)


class Examples:
    """What a solver returned, for each example of the batches (one if there are none)."""

    def __init__(self, traces: Sequence[Any], results: list[Any], live: bool) -> None:
        self.traces, self.results, self.live = traces, results, live

    @property
    def first(self) -> Any:
        return self.results[0]

    def of(self, read: Callable[[Any], Any]) -> Any:
        """What `read` finds in the results, plain, or mapped as the batches are."""
        return self.stacked([read(result) for result in self.results])

    def results_with(self, others: Sequence[Any]) -> list[tuple[Any, Any]]:
        """Each result with one of the others."""
        return list(zip(self.results, others, strict=True))

    def number(self) -> Any:
        """The place in `results` of each example's own."""
        return self.stacked([np.int64(i) for i in range(len(self.results))])

    def part(self, *way: Any) -> Any:
        """What is in the results at these keys, of all examples; dictionaries have the same keys.

        Text and objects that differ between the examples stay apart.
        """

        def read(result: Any) -> Any:
            return functools.reduce(lambda x, key: x[key], way, result)

        first = read(self.first)
        if isinstance(first, dict):
            return {key: self.part(*way, key) for key in first}
        if not self.traces:
            return first
        if isinstance(first, (int, float, np.generic, np.ndarray)):
            return self.of(read)
        return self.together([read(result) for result in self.results], self.traces)

    def together(self, parts: list[Any], traces: Sequence[Any]) -> Any:
        """Parts of any kind, those of the oldest batch first, as `stacked` has numbers."""
        if not traces:
            return parts[0]
        n = traces[-1].state
        return by_example.stacked(
            [self.together(parts[i::n], traces[:-1]) for i in range(n)], traces[-1]
        )

    def item(self, key: Any) -> Any:
        """The same for an item of each result."""
        return self.stacked([result[key] for result in self.results])

    def stacked(self, parts: list[Any]) -> Any:
        if not self.traces:
            return parts[0]
        parts = [np.asarray(part) for part in parts]
        shapes = {part.shape for part in parts}
        if len(shapes) > 1:
            raise ConversionError(
                f"Under `vmap` a solver returned results of different shapes: {sorted(shapes)}.\n"
                "  Ask for results of one shape: give `t_eval` to `solve_ivp`, for instance."
            )
        # The axes of older batches come first in memory, as an older Array is inside a younger.
        x: Any = np.stack(parts).reshape([t.state for t in self.traces] + list(parts[0].shape))
        for trace in self.traces:
            x = Array(x, trace, None)
        return x


def solve(call: Callable[[PlainValues], Any]) -> Examples:
    """The results of `call` for each example of the batches whose values it meets."""
    if SOLVING.get() == "asked":
        raise Solves
    memory = MEMORY.get()
    if memory is not None and not memory.noting and memory.results:
        return Examples((), [memory.results.pop(0)], True)
    if memory is not None and memory.noting and memory.of_plain:
        given = KnownPlain({})
        memory.results.append(call_outside(call, (given,), {}))
        memory.usable &= not given.asked
        return Examples((), memory.results[-1:], False)
    traces: list[Any] = []
    draws = RepeatedDraws()
    while True:
        for trace in traces:
            if not trace.state:
                raise ArgumentError(
                    "A solver was called under `vmap` on an empty batch: it runs once for each"
                    " example, and without one the shapes of its results are unknown.\n"
                    "  Give `vmap` at least one example."
                )
        results, live, asked = [], False, False
        try:
            for example in product(*[range(trace.state) for trace in traces]):
                draws.rewind()
                values = PlainValues(dict(zip(traces, example, strict=True)), draws)
                results.append(call_outside(call, (values,), {}))
                draws.ended()
                live, asked = live or values.met_live, asked or values.asked
        except Mapped as found:
            traces = sorted([*traces, found.trace], key=lambda trace: trace.birth)
            begun_again()
        else:
            if memory is not None and memory.noting:
                memory.results += results
                memory.usable &= not asked
            draws.settle()
            solved(len(results) if traces else 0, draws.bits)
            return Examples(traces, results, live)
