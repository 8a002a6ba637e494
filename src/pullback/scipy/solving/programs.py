"""The user's function as a program: recorded once, and called by SciPy many times.

    learner = Learner(lambda x: x**3 - a, operands)     a is an Array of what is recorded
    ClosedProgram(learner, [8.0])(1.0)                  -7.0, the program with a = 8

One program is recorded for each kind of arguments, and for each sequence of answers to conditions
on them (`if x > 0`). Arrays that the function closes over become operands. If it asks for a
floating-point value (`float(x)`), `Unstaged` is raised. SciPy's compiled code passes Python
numbers, for which `1 / x` may raise and `x**0.5` may be complex. Programs compute with NumPy's
numbers, and raise `Changed` where Python would have behaved differently.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import cache, update_wrapper
from importlib import import_module
from inspect import Parameter, Signature, signature
from typing import Any

import numpy as np

from ...core.array import Array, peel
from ...core.errors import ArgumentTypeError
from ...core.graph import Graph, Variable
from ...core.primitive import Primitive
from ...core.reach.session import SESSION
from ...core.spec import hardened
from ...core.storage import TALLY
from ...core.temporary import during
from ...core.tree import flatten, unflatten
from ...primitives.elementwise import isfinite, logical_and, not_equal, power
from ...transforms.call import FunctionCall
from ...transforms.loops.body import BodyTrace, GraphRunner, Unstaged, example, functional
from ...transforms.mapped_numbers import kind_of_python
from ...transforms.stage import StageTrace, capture
from .plain import SERVED, SOLVING
from .questions import QuestionTrace, answers_of
from .watching import noted


class Changed(Exception):
    """A replay differs in kind from the call that was recorded, so the recording isn't valid."""


def key_of(x: Array) -> Any:
    """What is the same for Arrays that hold the same."""
    return id(x.payload), id(x.within), id(x.node)


class LiftedArrays:
    """The Arrays that a call depends on, each once, and plain values like theirs."""

    def __init__(self) -> None:
        self.arrays: list[Array] = []
        self.values: list[Any] = []
        self.places: dict[Any, int] = {}

    def place(self, x: Array) -> int:
        """The number of an Array among the operands, from now on."""
        key = key_of(x)
        if key not in self.places:
            self.places[key] = len(self.arrays)
            self.arrays.append(x)
            self.values.append(example(x))
        return self.places[key]

    def __getstate__(self) -> dict[str, Any]:
        """For an artifact on disk, to which no more are added; the places go by addresses."""
        return {**vars(self), "places": {}}


class ProgramTrace(QuestionTrace):
    """Writes down what a function does with numbers, some of which are Python's."""

    __slots__ = ()

    def process(self, primitive: Primitive, xs: tuple[Any, ...], static: dict[str, Any]) -> Any:
        out = QuestionTrace.process(self, primitive, xs, static)
        if self.state.weak and None not in map(kind_of_python, xs):
            if primitive.divides:
                self.insist(not_equal, xs[1], 0.0)
            elif primitive is power:
                self.insist(isfinite, out)
            elif primitive.python_differs:
                raise Unstaged("a number of Python's")
        return out

    def number(self, x: Array) -> Array:
        self.insist(isfinite, x)
        return QuestionTrace.number(self, x)

    def insist(self, primitive: Primitive, *xs: Any) -> None:
        """Let the program say where Python's numbers do as NumPy's, of those that are traced."""
        if type(xs[0]) is Array:
            holds = StageTrace.process(self, primitive, xs, {})
            if type(self.fun.holds) is Array:
                holds = StageTrace.process(self, logical_and, (self.fun.holds, holds), {})
            self.fun.holds = holds


@cache
def one_and(n: int) -> Any:
    """The structure of one result, of whether Python's numbers do as NumPy's, and n questions."""
    return flatten((0.0, True, [0.0] * n))[1]


MOST = 8  # programs of a function for arguments of one kind


class OtherAnswers(Exception):
    """A program isn't valid for these arguments, but another one may be."""


class CompiledGraph:
    """A graph as machine code, which is made when it is first run; results may be constants."""

    def __init__(self, name: str, structure: Any, graph: Graph) -> None:
        self.name, self.structure = name, structure
        self.leaves = list(graph.outputs)
        self.at = [i for i, x in enumerate(graph.outputs) if isinstance(x, Variable)]
        self.graph = Graph(graph.inputs, graph.equations, [self.leaves[i] for i in self.at])
        self.primitive: Any = None

    def outs(self, xs: Sequence[Any], are_plain: bool) -> Sequence[Any]:
        """The results that are no constants."""
        if not self.at:
            return ()
        primitive = self.primitive or self.made()
        found = primitive.value(*xs) if are_plain else primitive(*xs)
        return found if primitive.n_out is not None else (found,)

    def made(self) -> Any:
        rules = import_module("pullback.compiler.call.compound")
        self.primitive = rules.Compound(self.name, self.graph)
        return self.primitive

    def program(self, level: int = 0) -> Any:
        """The machine code; None if it cannot be made."""
        primitive = self.primitive or self.made()
        primitive.prepare(level)
        return primitive.program

    def __getstate__(self) -> dict[str, Any]:
        """What is written to disk; machine code is made again."""
        state = {**vars(self), **dict.fromkeys(vars(self).keys() & {"primitive", "runner"})}
        return {**state, "places": deque()} if "places" in state else state

    def whole(self, outs: Sequence[Any]) -> Any:
        """All results, in their structure."""
        leaves = list(self.leaves)
        for i, out in zip(self.at, outs, strict=True):
            leaves[i] = out
        return unflatten(self.structure, leaves)


class WrittenFunction(CompiledGraph):
    """A function of plain arrays that calls no code of the user's; it runs once to be written."""

    def __init__(self, name: str, fun: Callable[..., Any], examples: Sequence[Any]) -> None:
        lift = lambda enter: [enter(x) for x in examples]
        structure, graph, captured, _ = capture(fun, {}, "solver", lift, BodyTrace)
        if captured:
            raise Unstaged("an array that it closes over")
        super().__init__(name, structure, functional(graph))

    def __call__(self, *xs: Any) -> Any:
        recorded = TALLY.recordings  # machine code is made behind
        return self.whole(self.graph.evaluate(*xs) if recorded else self.outs(xs, are_plain=True))

    def prepare(self, level: int) -> None:
        if self.at:
            self.program(level)


class WrittenProgram(CompiledGraph):
    """One program of the user's: a graph of the arguments and of operands by their numbers.

    exact: whether it gives NumPy's bits to SciPy, and not those of machine code
    answers: to what it asks
    """

    def __init__(
        self, structure: Any, graph: Graph, theta: list[int], exact: bool, answers: list[Any]
    ) -> None:
        super().__init__("a function that SciPy calls", structure, graph)
        self.theta, self.exact, self.answers = theta, exact, answers
        # Whether it gives one number or array; then what the other results are to be.
        of_one = structure == one_and(len(answers)) and list not in map(type, answers)
        self.is_one = of_one and 0 in self.at
        expected = [None, True, *answers]
        self.expected = tuple([expected[i] for i in self.at[1:]]) if self.is_one else ()
        self.runner: GraphRunner | None = None
        self.places: deque[Any] = deque()  # its append and pop are atomic

    def result(self, outs: Sequence[Any]) -> Any:
        """What the function gives, of the outputs of the graph."""
        out, holds, questions = self.whole(outs)
        if answers_of(questions) != self.answers:
            raise OtherAnswers
        if not (np.all(peel(holds)) if type(holds) is Array else holds):
            raise Changed("a number of Python's")
        return out

    def of_plain(self, xs: Sequence[Any]) -> Any:
        """The result for values none of which is an Array."""
        if not (self.exact or TALLY.recordings):
            return self.result(self.outs(xs, are_plain=True))
        if self.runner is None:
            self.runner = GraphRunner(self.graph)
        return self.result(self.runner([*map(as_numpy, xs)], self.runner.opened()))

    def costs(self, by_c: bool) -> tuple[float, float] | None:
        """About how many nanoseconds a call of the function takes, and one of the program.

        None where the function calls functions of SciPy's that take much Python.
        """
        is_number = self.is_one and not self.graph.outputs[0].spec.shape
        entered = IN_C if by_c else ENTERED
        plain, compiled = CALL, entered if is_number and not self.exact else EXACTLY
        for e in self.graph.equations:
            if isinstance(e.primitive, FunctionCall):
                inner = getattr(e.primitive, "costs", None)
                if inner is None:
                    return None
                plain, compiled = plain + inner[0], compiled + inner[1]
                continue
            size = sum([x.spec.size for x in e.outputs])
            of_numbers = e.primitive.arithmetic or e.primitive.comparison
            if e.outputs[0].spec.shape:
                cost = OF_NUMPY + ELEMENT * size
            else:
                cost = OF_NUMBERS if of_numbers else FUNCTION
            plain, compiled = plain + cost, compiled + cost * self.exact
        return plain, compiled

    def is_quick(self) -> bool:
        """Whether it is one number or array of machine code, called without looking at it again.

        The machine code looks at its arguments.
        """
        done = self.primitive is not None and self.primitive.is_prepared
        return bool(done and self.is_one and not (self.exact or TALLY.recordings))

    def quickly(self, xs: Sequence[Any]) -> Any:
        """The result for plain values that its machine code looks at."""
        out, *others = self.primitive.compute(*xs)
        return out if (*others,) == self.expected else self.result((out, *others))

    def of_any(self, xs: Sequence[Any]) -> Any:
        if TALLY.recordings:
            return self.result(self.graph.evaluate(*xs))
        return self.result(self.outs(xs, are_plain=False))


class Calling:
    """The function while it is written down."""

    def __init__(self, fun: Any, args: Any, kwargs: Any) -> None:
        self.fun, self.args, self.kwargs = fun, args, kwargs
        self.holds: Any = True  # whether Python's numbers do as NumPy's
        self.asked: list[Array] = []

    def __call__(self, *xs: Any) -> Any:
        given = iter(xs)
        args, kwargs = (filled(x, given) for x in (self.args, self.kwargs))
        return self.fun(*args, **kwargs), self.holds, self.asked


# Nanoseconds of Python's: a call, an operation of numbers, a function of one, an operation of
# arrays, an element.
CALL, OF_NUMBERS, FUNCTION, OF_NUMPY, ELEMENT = 60.0, 20.0, 110.0, 450.0, 1.0
# Of programs that give a number, called by C or by Python; of arrays, or NumPy's bits.
IN_C, ENTERED, EXACTLY = 50.0, 500.0, 1000.0


class FunctionLook:
    """The properties of a function that can be seen from outside."""


def parameters_of(fun: Any) -> list[Any] | None:
    """Name and kind of each parameter, and whether it has a default; None: that is not known."""
    try:
        found = signature(fun).parameters.values()
    except (TypeError, ValueError):  # of compiled code
        return None
    return [(x.name, int(x.kind), x.default is not x.empty) for x in found]


def shown_by(name: str, parameters: list[Any] | None) -> dict[str, Any]:
    """What SciPy sees of a function with such parameters; of defaults only that they are there."""
    shown: dict[str, Any] = {"__name__": name}
    if parameters is not None:
        kinds: Any = list(type(Parameter.KEYWORD_ONLY))  # type: ignore[call-overload]  # an enum
        shown["__signature__"] = Signature(
            [
                Parameter(name, kinds[kind], default=... if optional else Parameter.empty)
                for name, kind, optional in parameters
            ]
        )
    return shown


class Learner:
    """A function of the user's, and the programs recorded from it."""

    def __init__(self, fun: Any, operands: LiftedArrays, exact: bool) -> None:
        self.fun, self.operands, self.exact = fun, operands, exact
        self.session = SESSION.get()
        look: Any = FunctionLook()
        self.shown = vars(update_wrapper(look, fun))  # SciPy reads signatures
        self.programs: dict[Any, list[WrittenProgram]] = {}
        self.calls, self.served = 0, list[Any]()
        self.by_c = False  # whether compiled code of SciPy's calls it as a function of C
        self.by_columns: bool | None = None  # whether columns of arrays don't depend on each other
        # Those for arguments of one kind as one, and of how many it is made; None: they are not.
        self.wholes: dict[Any, tuple[int, WrittenProgram | None]] = {}

    def whole(self, key: Any) -> WrittenProgram | None:
        """The programs for arguments of a kind as one that asks nothing; None if that is none."""
        several = self.programs.get(key, ())
        if len(several) == 1 and several[0].is_one and not several[0].answers:
            return several[0]
        n, found = self.wholes.get(key, (0, None))
        if n < len(several):
            found = import_module(f"{__package__}.merged").merged(several)
            self.wholes[key] = len(several), found
        return found

    def costs(self) -> tuple[float, float] | None:
        """Those of all calls that there were, by the most costly kind of arguments."""
        if self.served:
            return None
        most = 0.0, 0.0
        for key, several in self.programs.items():
            known = [
                costs for written in several if (costs := written.costs(self.by_c)) is not None
            ]
            if len(known) < len(several):
                return None
            # Which way a call goes is not known; programs that are not one are tried in turn.
            plain, compiled = (sum(parts) / len(known) for parts in zip(*known, strict=True))
            compiled *= 1 if self.whole(key) is not None else len(known)
            most = max(most[0], plain), max(most[1], compiled)
        return self.calls * most[0], self.calls * most[1]

    def __getstate__(self) -> dict[str, Any]:
        """For an artifact on disk: the programs, without the function that they stand for."""
        shown = getattr(self.fun, "__name__", ""), parameters_of(self.fun)
        return {**vars(self), "fun": None, "session": None, "served": [], "shown": shown}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, shown=shown_by(*state["shown"]))

    def each(self) -> list[WrittenProgram]:
        return [written for several in self.programs.values() for written in several]

    def prepare(self, level: int) -> None:
        for written in [*self.each(), *filter(None, map(self.whole, self.programs))]:
            if written.at and not written.exact:
                written.program(level)

    def write(self, args: Any, kwargs: Any) -> WrittenProgram:
        if not TALLY.recordings or self.fun is None:  # one of an earlier process has none
            raise Changed("other arguments")
        calling = Calling(self.fun, args, kwargs)
        leaves: list[Any] = []
        kind_of((args, kwargs), leaves)

        def lift(enter: Any) -> list[Array]:
            arrays = [
                enter(hardened(example(x)) if type(x) is Array else as_numpy(x)) for x in leaves
            ]
            for x, array in zip(leaves, arrays, strict=True):
                if type(x) is float:
                    array.within.state.weak.add(array.node)
            return arrays

        with (
            during(SOLVING, None),
            during(SESSION, self.session),
            during(SERVED, self.served),
            noted(),
            np.errstate(all="ignore"),
        ):
            structure, graph, captured, _ = capture(calling, {}, "solver", lift, ProgramTrace)
        theta = [self.operands.place(x) for x in captured]
        answers = answers_of([x.payload for x in calling.asked])
        return WrittenProgram(structure, functional(graph), theta, self.exact, answers)


class ClosedProgram:
    """A function of the user's as its programs, with values of the operands."""

    def __init__(self, learner: Learner, values: Sequence[Any]) -> None:
        vars(self).update(learner.shown)
        self.learner, self.values = learner, values
        self.gives_plain = Array not in map(type, values)
        self.closed: dict[Any, list[Any]] = {}  # what each program closes over
        # What is called with plain numbers and arrays, by the classes of the arguments.
        self.quick: dict[Any, tuple[WrittenProgram, list[Any]]] = {}

    def __getstate__(self) -> Any:
        return self.learner, self.values

    def __setstate__(self, state: Any) -> None:
        self.__init__(*state)  # type: ignore[misc]  # as a new one

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not kwargs:
            written, closed = self.quick.get((*map(type, args),), NOTHING)
            if written is not None:
                try:
                    return written.quickly((*args, *closed))
                except Changed:  # of a whole: as the one says that the answers lead to
                    pass
                except ArgumentTypeError:  # arrays of another shape or dtype
                    self.quick.clear()
        self.learner.calls += 1
        leaves: Sequence[Any] = args
        key: Any = None if kwargs else tuple(map(spec_or_none, args))
        if key is None or None in key:
            found: list[Any] = []
            leaves, key = found, kind_of((args, kwargs), found)
        are_plain = self.gives_plain and Array not in map(type, leaves)
        held = None if are_plain else HELD.get()
        if held is not None and len(self.learner.programs.get(key, ())) > 1:
            return self.of_whole(key, leaves, held)
        for k in range(MOST):
            written, closed = self.program(key, k, args, kwargs)
            try:
                if not are_plain:
                    return written.of_any([*map(as_numpy, leaves), *closed])
                out = written.of_plain((*leaves, *closed))
                if leaves is args and written.is_quick():
                    self.hasten((*map(type, args),), key)
                return out
            except OtherAnswers:
                continue
        raise Unstaged("a question to its arguments")

    def of_whole(self, key: Any, leaves: Sequence[Any], held: list[Any]) -> Any:
        """The result without a question; whether it holds is noted."""
        whole = self.learner.whole(key)
        if whole is None:
            raise Unstaged("a question to its arguments")
        xs = [*map(as_numpy, leaves), *self.operands(whole)]
        out, holds, _ = whole.whole(list(whole.graph.evaluate(*xs)))
        held.append(holds)
        return out

    def hasten(self, kinds: Any, key: Any) -> None:
        """Let the program for arguments of a kind be called without looking at them again."""
        whole = self.learner.whole(key)
        if whole is None:
            return
        whole.program()
        if whole.is_quick():
            self.quick[kinds] = whole, self.operands(whole)

    def operands(self, written: WrittenProgram) -> list[Any]:
        return [self.values[i] for i in written.theta]

    def of_numbers(self, args: Sequence[Any], n: int) -> tuple[WrittenProgram | None, list[Any]]:
        """The program of n numbers and args, and its other operands; None if it has another form.

        It has one where SciPy is to be given the bits of NumPy, and while a call is recorded.
        """
        key = (REAL,) * n + tuple(map(spec_or_none, args))
        if TALLY.recordings or not self.gives_plain or key not in self.learner.programs:
            return None, []
        written = self.learner.whole(key)
        if written is None or written.exact:
            return None, []
        return written, [*args, *self.operands(written)]

    def plainly(self, of: Callable[[Any], Any]) -> ClosedProgram:
        """The same with plain values of the operands."""
        return self if self.gives_plain else ClosedProgram(self.learner, list(map(of, self.values)))

    def program(self, key: Any, k: int, args: Any, kwargs: Any) -> tuple[WrittenProgram, list[Any]]:
        """Program k for arguments of a kind, and what it closes over."""
        several = self.learner.programs.setdefault(key, [])
        if k == len(several):
            several.append(self.learner.write(args, kwargs))
        closed = self.closed.get((key, k))
        if closed is None:
            closed = self.closed[key, k] = self.operands(several[k])
        return several[k], closed


NOTHING: Any = (None, ())
# Where functions that choose are to note whether their results hold; None: they may ask.
HELD: ContextVar[list[Any] | None] = ContextVar("held", default=None)
SCALARS = {float, np.float64}
REAL = (), np.dtype(float)


def spec_or_none(x: Any) -> Any:
    """Shape and dtype of a number or an array."""
    if type(x) in SCALARS:
        return REAL
    return (x.shape, x.dtype) if hasattr(x, "dtype") else None


def kind_of(x: Any, leaves: list[Any]) -> Any:
    """What decides which program stands for arguments; their numbers are put into `leaves`."""
    kind = type(x)
    if kind is tuple or kind is list:
        return (kind, *[kind_of(item, leaves) for item in x])
    if kind is dict:
        return (kind, *[(key, kind_of(item, leaves)) for key, item in x.items()])
    spec = spec_or_none(x)
    if spec is not None:
        leaves.append(x)
        return spec
    if kind in (int, bool, str, complex) or x is None:
        return kind, x
    raise Unstaged("an argument")


def filled(x: Any, given: Any) -> Any:
    """Arguments with others in place of the numbers that `kind_of` finds."""
    kind = type(x)
    if kind is tuple or kind is list:
        return kind([filled(item, given) for item in x])
    if kind is dict:
        return {key: filled(item, given) for key, item in x.items()}
    return next(given) if kind is float or hasattr(x, "dtype") else x


def as_numpy(x: Any) -> Any:
    return np.float64(x) if type(x) is float else x
