"""Recording: one call of a function as a graph, with the answers that Python asked for meanwhile.

The function runs on real values. Where Python asks for one (`if x > 0`, `int(n)`, `x.item()`), a
guard is noted: the question, and the answer that it got. The recording stands for every call in
which all guards get the same answers and what the function reads besides its arguments is
unchanged.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import fields, is_dataclass
from importlib import import_module
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from ...core.array import Array
from ...core.graph import Graph, Variable
from ...core.layout import UNORDERED, axes_in_memory, is_writable, placement
from ...core.locked import is_locked, is_read_only, locked_as
from ...core.spec import DOUBLE, NUMERIC, spec_of
from ...core.storage import TALLY, current
from ...core.trace import CONSTANT, derivatives_of, run
from ...core.tree import children, flatten
from ...transforms.call import FunctionCall
from ...transforms.returned import settle
from ..facts.answers import Identity, Moment
from ..facts.bytecode import code_of
from ..facts.call_monitor import Watch
from ..facts.effects import Located, Store
from ..facts.snapshot import handed_by, items_of, lasting, parts_of, roots_of
from ..facts.state import State
from ..facts.warned import makes_errors
from ..lower.geometry import Orders
from .compile_trace import CompileTrace
from .gated import gated
from .guards import QUESTIONS, Guard, Questions
from .own_code import raising_beside
from .while_loops import LOST, lost

UNLIKE_NAMES = {
    "floating", "number", "inexact", "generic", "fsum", "isclose", "dist",
    "sumprod", "hash", "divmod", "round", "hex", "as_integer_ratio", "fabs",
}  # fmt: skip
EMPTY: tuple[()] = ()
UNSEEN = {  # what is done so is not noticed
    "__import__", "array2string", "array_repr", "array_str",
}  # fmt: skip
SETTING = {"seterr", "geterr"}  # who is told how NumPy handles errors
STATIC = (str, bool, int, float, complex, type(None), np.generic, np.dtype, type)


class Source(NamedTuple):
    """Where an output comes from that isn't a new object: the kind of source, and which one.

    An "input" or an earlier "result" by number, the "part" of an input that a graph takes, or the
    "constant" itself.
    """

    kind: str
    what: Any

    def __call__(self, inputs: Sequence[Any], leaves: Sequence[Any]) -> Any:
        match self.kind:
            case "input":
                return inputs[self.what]
            case "result":
                return leaves[self.what]
            case "part":
                return self.what.evaluate(*inputs)[0]
        return self.what


class Recording:
    """What one call did, in a rehearsal.

    values: the leaves of what it returned, in plain arrays.
    graph: outputs, then what was written into arguments, then the values that guards ask about,
        then what nobody needs and what may raise.
    kinds: for each output float or int for Python's, np.generic for a scalar, np.ndarray, Array for
        a constant one, or None for what is not an array of the program.
    sources: for each output that is not a new object what gives it, from the inputs and the leaves
        before it; else None.
    written: the numbers of the arguments that were written into.
    final: what arguments held in the end.
    writable: whether each argument is an array that may be written into, when it is entered.
    layouts: how the arrays among the arguments lie in memory, if anything depends on that.
    orders: in which order their elements lie, if something depends on that.
    axes: the order of their axes in memory, if that of results depends on it, or one of them lies
        in another order than C; None for C order.
    entering: the same of each input of the graph, as it was when it was recorded.
    placed: for each output in another order than C, or with bytes in another order than the
        machine's, (axes in memory, dtype); else None.
    locked: whether each output is an array that NumPy makes read-only.
    identity: whether the code that ran may have asked which arguments are the same object.
    narrow: whether there are numbers of less than double precision.
    refusal: why the recording may not stand for other calls, or None.
    unlike: whether it is wrong, since something in it is not as it is without recording.
    unsure: whether a function may raise for other values that get the same answers.
    numbers: whether Python floats may be inputs in what is recorded next.
    captured: whether it uses Arrays of transformations around it.
    suspends: whether `no_grad` begins or ends on the way.
    locks: whether it made an array read-only that it returns or stores.
    stores: places that it stores to; the outputs are then a pair of the result and the values.
    changes: why what it stored cannot be stored again, or None.
    read: the places that it reads as well as stores to, if that is why.
    full: the same with all outputs computed, for those who have no use for `sources`.
    """

    values: list[Any]
    graph: Graph
    structure: Any
    outputs: list[Any]
    kinds: list[Any]
    sources: list[Source | None]
    guards: list[Guard]
    written: list[int]
    final: list[Any]
    writable: list[bool]
    layouts: list[Any] | None
    orders: list[Any] | None
    axes: list[Any] | None
    entering: list[Any]
    placed: list[Any]
    locked: list[bool]
    identity: bool
    narrow: bool
    state: State
    refusal: str | None
    unlike: bool
    unsure: bool
    numbers: bool
    captured: bool
    suspends: bool
    locks: bool
    stores: Sequence[Store] = ()
    changes: str | None = None
    read: Sequence[Store] = ()
    full: Recording | None = None

    @property
    def for_floats(self) -> bool:
        """Whether it may stand alone for calls that have the same floats somewhere.

        So it is where a solver of SciPy's works on them, or gives as many numbers as it took steps.
        """
        if any(
            isinstance(e.primitive, FunctionCall) and e.primitive.solves
            for e in self.graph.equations
        ):
            return True
        answers = [guard.answer for guard in self.guards if guard.asked not in QUESTIONS]
        return any(np.dtype(dtype).kind in "fc" for _, dtype, _ in answers)

    def lying(self) -> Orders:
        """How inputs and results lie in memory."""
        pairs = zip(self.outputs, self.placed, strict=True)
        outputs = [None if at is None else at[0] for x, at in pairs if isinstance(x, Variable)]
        return Orders(self.entering, outputs)

    def forget(self) -> None:
        """Let go of the values of the call that was recorded."""
        for recording in (self, self.full or self):
            recording.values = recording.final = []


def containers_in(tree: Any) -> list[Any]:
    """The containers and objects of a tree."""
    found: list[Any] = []
    stack = [tree]
    while stack:
        x = stack.pop()
        if x is EMPTY or isinstance(x, (Array, *STATIC, np.ndarray, FunctionType)):
            continue
        found.append(x)
        if type(x) in (tuple, list):
            stack += x
        else:
            stack += x.values() if isinstance(x, dict) else children(x)
    return found


class Number(float):
    """A Python float among the inputs."""


class Inputs:
    """The inputs of a recording: as Arrays, as variables of the graph, and how they lay in memory.

    weak: the variables of Python floats.
    """

    def __init__(self, trace: CompileTrace) -> None:
        self.trace = trace
        self.arrays: list[Array] = []
        self.variables: list[Variable] = []
        self.weak: list[Variable] = []
        self.orders: list[Any] = []
        self.axes: list[Any] = []
        self.layouts: list[Any] = []  # of arrays, as they are entered
        self.entering: list[Any] = []
        self.writable: list[bool] = []

    def enter(self, x: Any) -> Array:
        """The Array that stands for an input."""
        number = type(x) is Number
        x = np.float64(x) if number else x
        variable = Variable(spec_of(x))
        if number:
            self.trace.state.weak.add(variable)
            self.weak.append(variable)
        self.entering.append((axes_in_memory(x) or None) if type(x) is np.ndarray else None)
        self.writable.append(is_writable_array(x))
        if type(x) is np.ndarray:
            self.orders.append(order_in(x))
            self.axes.append(axes_in_memory(x))
            self.layouts.append(layout_of(x))
        self.variables.append(variable)
        self.arrays.append(locked_as(x, Array(x, self.trace, variable)))
        return self.arrays[-1]

    def plain(self) -> list[np.ndarray]:
        """The NumPy arrays among the inputs."""
        return [x.payload for x in self.arrays if type(x.payload) is np.ndarray]


class LayoutQuestions:
    """Notes which decisions have depended on the memory layout of arrays since."""

    def __init__(self) -> None:
        self.before = TALLY.asked, TALLY.layouts, TALLY.views, TALLY.writes
        self.locks, self.copies = TALLY.locks, TALLY.copies

    def asked(self) -> bool:
        """Whether the program asked how an array lies."""
        return TALLY.asked > self.before[0]

    def locked(self) -> bool:
        """Whether the program made an array read-only."""
        return TALLY.locks > self.locks

    def copied(self) -> bool:
        """Whether there is a copy which in another layout is a view."""
        return TALLY.copies > self.copies

    def decided(self) -> bool:
        """Whether an operation asked in which order elements lie, or whether one is a view."""
        _, layouts, views, writes = self.before
        return TALLY.layouts > layouts or (TALLY.views > views and TALLY.writes > writes)


def recorded(
    fun: Callable[..., Any],
    lift: Callable[..., Any],
    watched: Any,
    watch: Watch,
    around: Sequence[Array],
    located: Callable[[], Located],
    heard: bool = False,
) -> Recording:
    """Run fun once and record it. Its other effects are left in place.

    Args:
        lift: from a function on leaves to (args, kwargs) with that function applied to the inputs,
            and perhaps what was put elsewhere.
        watched: other objects that the call depends on, for its state.
        around: the Arrays that the call was given by transformations around it.
        located: what has been stored. Its values are recorded as results are.
        heard: whether the user's code has run already and the watch has heard of it.
    """
    trace = CompileTrace("compile", fun, Questions(watch, bool(around)))
    trace.state.derivatives = max(map(derivatives_of, around), default=0)
    trace.state.located = located
    inputs, out = Inputs(trace), Recording()
    args, kwargs, *put = lift(inputs.enter)
    passed = flatten([args, kwargs, put])
    questions = LayoutQuestions()
    TALLY.recordings += 1
    try:
        with nullcontext() if heard else watch:
            result = run(trace, fun, args, kwargs)
        decided, copied = questions.decided(), questions.copied()
        out.state = state_of(fun, watch, watched)
        stored = located()
        out.stores, out.changes, out.read = stored.stores, stored.why, stored.read
        leaves, out.structure = flatten((result, stored.values) if out.stores else result)
        out.locks = questions.locked() and any(map(is_locked, leaves))
        note_outputs(out, leaves, trace)
        note_graph(out, note_writes(out, inputs), inputs)
        codes = [code_of(code) for code, _ in watch.codes.values()]
        out.identity = any(code.identity for code in codes)
        out.refusal = refusal(watch, trace.state, passed, [args, kwargs, put], out, inputs)
        decided |= copied and np.ndarray in out.kinds
        note_layout(out, inputs, decided, questions.asked())
        note_numbers(out, inputs)
    finally:
        TALLY.recordings -= 1
        trace.end()
    return out


def note_outputs(out: Recording, leaves: list[Any], trace: CompileTrace) -> None:
    """Note each leaf of what was returned and stored: what computes it, its kind, its value."""
    out.outputs, out.kinds, out.values, out.placed = [], [], [], []
    out.locked = [is_read_only(leaf) for leaf in leaves]
    for leaf in [settle(leaf, trace) for leaf in leaves]:
        if type(leaf) is Array and leaf.within is trace:
            out.outputs.append(trace.variable(leaf))
            kind: type = np.generic if isinstance(leaf.payload, np.generic) else np.ndarray
            if leaf.node in trace.state.weak:
                kind = int if leaf.dtype.kind == "i" else float
                trace.state.unlike |= leaf.dtype.kind == "c"
            out.kinds.append(kind)
            out.values.append(as_kind(leaf.payload, out.kinds[-1]))
        else:
            out.outputs.append(leaf.payload if type(leaf) is Array else leaf)
            out.kinds.append(None)
            out.values.append(out.outputs[-1])
        out.placed.append(placement(out.values[-1]) if out.kinds[-1] is np.ndarray else None)
    out.sources = [None] * len(leaves)


def note_writes(out: Recording, inputs: Inputs) -> list[Any]:
    """Note which arguments were written into, and return the outputs with their last contents."""
    trace, final = inputs.trace, []
    out.written = []
    for i, (array, variable) in enumerate(zip(inputs.arrays, inputs.variables, strict=True)):
        x = current(array)
        if x.within is trace and x.node is variable:
            continue
        out.written.append(i)
        final.append(x.payload if x.within is CONSTANT else trace.variable(x))
    out.final = [current(x).payload for x in inputs.arrays]
    out.writable = inputs.writable
    return final


def note_graph(out: Recording, final: list[Any], inputs: Inputs) -> None:
    """Note the graph of outputs, of what was written and of what guards ask about."""
    notes = inputs.trace.state
    guards = different(notes.guards)
    questions = [guard.variable for guard in guards]
    variables = [v for v in out.outputs if isinstance(v, Variable)]
    captured = [v for _, v in notes.captured.values()]
    entering = [*inputs.variables, *captured]
    needed = Graph(entering, gated(notes), [*variables, *final, *questions])
    out.graph = with_raising(needed, notes).pruned()
    out.guards = guards
    out.captured, out.suspends = bool(notes.captured), notes.suspends
    out.narrow = not NARROW.isdisjoint(dtypes_of(out.graph))


def different(guards: list[Guard]) -> list[Guard]:
    """The guards without those that ask a value what it was asked before."""
    found: dict[Any, Guard] = {}
    for guard in guards:
        key = id(guard) if guard.of_loop else (guard.variable, guard.asked)
        found.setdefault(key, guard)
    return list(found.values())


def note_layout(out: Recording, inputs: Inputs, decided: bool, asked: bool) -> None:
    """Note what depends on how the arguments lie in memory.

    decided: whether an operation asked in which order elements lie.
    asked: whether the program asked how an array lies.
    """
    several = any(np.ndim(x) > 1 for x in out.values if type(x) is np.ndarray)
    out.entering = inputs.entering  # machine code reads what lies otherwise from a copy
    several |= any(axes is not None for axes in inputs.entering)
    out.axes = inputs.axes if several and set(inputs.axes) != {UNORDERED} else None
    out.orders = inputs.orders if decided else None
    out.layouts = inputs.layouts if asked else None


def note_numbers(out: Recording, inputs: Inputs) -> None:
    """Note whether Python floats may be inputs, here and in the next recordings."""
    names, notes = out.state.names, inputs.trace.state
    asked = not names.isdisjoint(UNLIKE_NAMES) or {"isinstance", "float64"} <= names
    out.numbers, out.unsure = not asked, notes.unsure
    out.unlike = bool(inputs.weak) and (notes.unlike or asked)
    if notes.limits and not dtypes_of(out.graph) <= WITH_COUNTERS:
        out.unlike = True  # beside these an integer of Python's has another dtype


def as_kind(x: Any, kind: Any) -> Any:
    """A result that nobody else holds, of the kind that it was when it was recorded."""
    if kind is float or kind is int:
        return kind(x)
    if kind is np.generic:
        return x[()] if type(x) is np.ndarray else x
    if kind is Array:
        return Array(np.array(x) if type(x) is np.ndarray else x, CONSTANT, None)
    return np.array(x) if kind is np.ndarray or type(x) is np.ndarray else x


def with_raising(graph: Graph, notes: Questions) -> Graph:
    """The graph with outputs more: what no other output needs, and what may raise."""
    more = dict.fromkeys([*raising_beside(graph), *notes.raising])
    return Graph(graph.inputs, graph.equations, [*graph.outputs, *more])


def share_memory(arrays: list[Any]) -> bool:
    """Whether any two of some arrays may share memory."""
    return any(np.may_share_memory(a, b) for i, a in enumerate(arrays) for b in arrays[:i])


def layout_of(x: np.ndarray) -> Any:
    """The memory layout of an array, as far as a program can ask for it."""
    return x.strides, is_writable(x), x.flags.aligned, x.base is None


def is_writable_array(x: Any) -> bool:
    return type(x) is np.ndarray and is_writable(x)


def order_in(x: np.ndarray) -> Any:
    """The order of an array's elements in memory."""
    flags = x.flags
    return "C" if flags.c_contiguous else "F" if flags.f_contiguous else x.strides


def refusal(
    watch: Watch, notes: Questions, before: Any, passed: Any, out: Recording, inputs: Inputs
) -> str | None:
    """Why a recording isn't valid for other calls."""
    if any(x.shape != v.spec.shape for x, v in zip(inputs.arrays, inputs.variables, strict=True)):
        return "it assigns to the shape of an argument"
    if watch.effects:
        return watch.effects[0]
    if notes.raised is not None:
        return notes.raised
    if lost(notes, out.graph):
        return LOST
    if out.locks:
        return "it returns or stores an array that it has made read-only"
    if out.captured:
        return "it uses Arrays of another transformation"
    for name in sorted(UNSEEN & out.state.names):
        return f"it uses `{name}`"
    after = flatten(passed)
    if before[1] != after[1] or any(x is not y for x, y in zip(before[0], after[0], strict=True)):
        return "it changes a container that was passed to it"
    for x in containers_in(passed):
        if is_dataclass(x) and set(getattr(x, "__dict__", ())) - {f.name for f in fields(x)}:
            return "it changes a container that was passed to it"
    for x in out.outputs:
        if isinstance(x, (Moment, Identity)):
            return f"it returns what {'a clock' if type(x) is Moment else '`id`'} says"
        known = isinstance(x, (Variable, np.ndarray, *STATIC)) and type(x) is not Array
        if not known or (isinstance(x, np.ndarray) and x.dtype.hasobject):
            return f"it returns an object of type `{type(x).__name__}`"
    for x, value in zip(out.outputs, out.values, strict=True):
        if isinstance(x, Variable) and getattr(value, "dtype", DOUBLE).char not in NUMERIC:
            return f"it returns numbers of type `{value.dtype.type.__name__}`"
    if out.written and share_memory(inputs.plain()):
        return "it writes into arguments that may share memory"
    return None


def state_of(fun: Any, watch: Watch, watched: Any) -> State:
    """The state that the code that ran reads besides its arguments."""
    roots: list[Any] = []
    names: set[str] = set()
    for code, scope in watch.codes.values():
        roots += roots_of(code, scope)
        names |= code_of(code).asked(watch.expected is not None)
    names |= watch.asked if watch.expected is not None else lasting(watch)
    roots += items_of(names)
    codes = [code for code, _ in watch.codes.values()]
    settings: list[Any] = [*watch.answers]
    if any(code_of(x).digits for x in codes):
        settings.append(sys.get_int_max_str_digits)
    if not SETTING.isdisjoint([name for code in codes for name in code_of(code).names]):
        settings.append(np.geterr)
    if watch.warned:
        settings.append(makes_errors)
    if watch.prints:
        settings.append(print_options())
    state = State([*roots, fun, *watched, *watch.loggers], names, codes, settings)
    state.reported = watch.expected is not None
    state.handed = handed_by(codes) | watch.asked
    state.parts, state.whole = parts_of(watch.codes.values()), dict(watch.whole)
    state.ran = frozenset([code_of(code).key for code in codes])
    return state


def print_options() -> Any:
    """The function that returns NumPy's print options."""
    with suppress(ImportError, AttributeError):
        return import_module("numpy._core.printoptions").format_options.get
    return np.get_printoptions


NARROW = frozenset("efF")
WITH_COUNTERS = {"?", "l", "d", "D"} if np.dtype(np.int64).char == "l" else {"?", "q", "d", "D"}


def dtypes_of(graph: Graph) -> set[str]:
    """The dtypes of all values and constants of a graph, as characters."""
    made = [x for e in graph.equations for x in e.outputs]
    read = [x for e in graph.equations for x in e.inputs if type(x) is not Variable]
    specs = {id(x.spec): x.spec for x in [*graph.inputs, *made]}  # few objects, mostly
    constants = [x.dtype for x in [*read, *graph.outputs] if hasattr(x, "dtype")]
    return {x.char for x in [*[spec.dtype for spec in specs.values()], *constants]}
