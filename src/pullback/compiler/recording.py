"""Recording: one call of a function as a graph, with the answers that Python asked for on the way.

The function runs on real values. Where Python asks for one (`if x > 0`, `int(n)`, `x.item()`), a
guard is noted: the question, and the answer that it got. The record stands for every call in which
all guards get the same answers and what the function reads beside its arguments has not changed.
"""

from __future__ import annotations

import dis
from collections.abc import Callable
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ..core.array import Array, current
from ..core.graph import Graph, Variable
from ..core.namespaces import library, names_of
from ..core.primitive import Primitive
from ..core.spec import spec_of
from ..core.trace import run
from ..core.tree import flatten
from ..transforms.common import settle
from ..transforms.record import line_of_user
from ..transforms.stage import Notes, StageTrace
from .state import State, contents, loads
from .watch import Watch

__all__ = ["TYPES", "Guard", "Number", "Recording", "as_kind", "asked_in_advance", "recorded"]

QUESTIONS = {"bool(x)": bool, "int(x)": int, "x as an index": int}
ARITHMETIC = {
    "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "power", "negative",
    "positive", "absolute",
}  # fmt: skip
DIVISIONS = {"divide", "floor_divide", "remainder"}
TYPES = {"type", "__class__"}  # an Array tells another
UNSEEN = {"__dict__", "__setattr__", "errstate", "seterr", *TYPES}  # what is done so is not noticed
STORES = {"STORE_ATTR", "DELETE_ATTR"}  # items are stored into what `State` calls mutable
STATIC = (str, bool, int, float, complex, type(None), np.generic, np.dtype, type)


class Guard:
    """A question about a value of the program, and the answer that the record depends on."""

    __slots__ = ("answer", "asked", "line", "variable")

    def __init__(self, variable: Variable, asked: str, answer: Any, line: Any) -> None:
        self.variable, self.asked, self.answer, self.line = variable, asked, answer, line

    def ask(self, value: Any) -> Any:
        """The answer for a value."""
        question = QUESTIONS.get(self.asked)
        if question is not None:
            return question(value)
        x = np.asarray(value)
        return x.shape, x.dtype.str, x.tobytes()


class Questions(Notes):
    """What a trace that compiles writes down: guards as well, and whether something was raised."""

    def __init__(self) -> None:
        super().__init__()
        self.guards: list[Guard] = []
        self.raised: str | None = None
        # Numbers that are Python's where nothing is recorded: they divide by zero with an error,
        # and what is made of them alone is Python's again.
        self.weak: set[Variable] = set()


class CompileTrace(StageTrace):
    """A stage trace of which Python may ask values."""

    __slots__ = ()
    transparent = True

    def process(self, primitive: Primitive, xs: tuple[Any, ...], static: dict[str, Any]) -> Any:
        notes = self.state
        weak = bool(notes.weak) and primitive.name in ARITHMETIC and all(map(self.is_weak, xs))
        try:
            if weak and primitive.name in DIVISIONS and bool(xs[1] == 0):
                raise ZeroDivisionError("division by zero")
            if weak and primitive.name == "power" and bool(xs[0] <= 0):
                notes.raised = "a power of a negative Python float may be complex"
            out = StageTrace.process(self, primitive, xs, static)
            if weak:
                notes.weak.add(out.node)
            return out
        except Exception as error:
            # The program may catch it; other values might not raise.
            self.state.raised = f"`{primitive.name}` raised {type(error).__name__}"
            raise

    def number(self, x: Array) -> None:
        self.state.weak.add(x.node)
        bool(np.isfinite(x).all())  # else `math` raises

    def is_weak(self, x: Any) -> bool:
        if type(x) is Array:
            return x.within is self and x.node in self.state.weak
        return type(x) in (int, float, bool)

    def detached(self, x: Array) -> Any:
        return x

    def converts(self, x: Array, asked: str) -> bool:
        return True

    def told(self, x: Array, asked: str) -> Any:
        self.note(x, asked)
        return x.value

    def concrete(self, x: Array, asked: str) -> Any:
        self.note(x, asked if asked in QUESTIONS else "values")
        return x.value

    def note(self, x: Array, asked: str) -> None:
        guard = Guard(self.variable(x), asked, None, line_of_user())
        guard.answer = guard.ask(x.value)
        self.state.guards.append(guard)


class Recording:
    """What one call did.

    value: what it returned, in plain arrays.
    graph: outputs, then what was written into arguments, then the values that guards ask about.
    kinds: for each output float for a Python float, np.generic for a scalar, np.ndarray, or None
        for what is no array of the program.
    written: the numbers of the arguments that were written into.
    stores: whether the code that ran could bind names and attributes that it reads anew.
    narrow: whether there are numbers of less than double precision.
    refusal: why the record may not stand for other calls, or None.
    """

    value: Any
    graph: Graph
    structure: Any
    outputs: list[Any]
    kinds: list[Any]
    guards: list[Guard]
    written: list[int]
    stores: bool
    narrow: bool
    state: State
    refusal: str | None


class Number(float):
    """A Python float among the inputs."""


def recorded(fun: Callable[..., Any], lift: Callable[..., Any], watched: Any) -> Recording:
    """Run fun once and record it.

    Args:
        lift: from a function on leaves to (args, kwargs) with that function applied to the inputs.
        watched: other objects that the call depends on, for its state.
    """
    trace = CompileTrace("compile", fun, Questions())
    arrays: list[Array] = []
    inputs: list[Variable] = []
    before: list[Any] = []

    def enter(x: Any) -> Array:
        weak = type(x) is Number
        x = np.float64(x) if weak else x
        inputs.append(Variable(spec_of(x)))
        if weak:
            trace.state.weak.add(inputs[-1])
        arrays.append(Array(x, trace, inputs[-1]))
        before.append(x)
        return arrays[-1]

    out = Recording()
    notes = trace.state
    args, kwargs = lift(enter)
    containers = flatten([args, kwargs])
    watch = Watch()
    try:
        with watch:
            result = run(trace, fun, args, kwargs)
        leaves, out.structure = flatten(result)
        leaves = [settle(leaf, trace) for leaf in leaves]
        out.outputs, out.kinds, values = [], [], []
        for leaf in leaves:
            if type(leaf) is Array and leaf.within is trace:
                out.outputs.append(trace.variable(leaf))
                weak = leaf.node in notes.weak
                scalar = isinstance(leaf.value, np.generic)
                out.kinds.append(float if weak else np.generic if scalar else np.ndarray)
                values.append(as_kind(leaf.value, out.kinds[-1]))
            else:
                plain = leaf.value if type(leaf) is Array else leaf
                out.outputs.append(plain)
                out.kinds.append(None)
                values.append(as_kind(plain, None))
        out.written = []
        final: list[Any] = []
        for i, (x, variable) in enumerate(zip(arrays, inputs, strict=True)):
            x = current(x)
            if x.within is trace and x.node is variable:
                continue
            out.written.append(i)
            final.append(trace.variable(x) if x.within is trace else x.value)
            before[i][...] = x.value
        questions = [guard.variable for guard in notes.guards]
        variables = [v for v in out.outputs if isinstance(v, Variable)]
        out.graph = Graph(
            [*inputs, *[v for _, v in notes.captured.values()]],
            notes.equations,
            [*variables, *final, *questions],
        ).pruned()
        out.guards = notes.guards
        out.value = values
        out.refusal = refusal(watch, notes, containers, flatten([args, kwargs]), out, arrays)
        out.state = state_of(fun, watch, watched)
        out.stores = any(map(stores, watch.codes))
        out.narrow = any(map(is_narrow, specs_of(out.graph)))
    finally:
        trace.end()
    return out


def as_kind(x: Any, kind: Any) -> Any:
    """A result that nobody else holds, of the kind that it was when it was recorded."""
    if kind is float:
        return float(x)
    if kind is np.generic:
        return x[()] if type(x) is np.ndarray else x
    return np.array(x) if kind is np.ndarray or type(x) is np.ndarray else x


def refusal(
    watch: Watch, notes: Questions, before: Any, after: Any, out: Recording, arrays: list[Array]
) -> str | None:
    """Why a recording may not stand for other calls."""
    if watch.effects:
        return f"it calls {', '.join([f'`{name}`' for name in watch.effects[:3]])}"
    if notes.raised is not None:
        return notes.raised
    if notes.captured:
        return "it uses Arrays of another transformation"
    for code in watch.codes:
        for name in attributes_in(code) & UNSEEN:
            return f"it uses `{name}`"
    if before[1] != after[1] or any(x is not y for x, y in zip(before[0], after[0], strict=True)):
        return "it changes a container that was passed to it"
    for x in out.outputs:
        if not isinstance(x, (Variable, np.ndarray, *STATIC)) or type(x) is Array:
            return f"it returns an object of {type(x).__name__}"
    if out.written:
        plain = [x.value for x in arrays if type(x.value) is np.ndarray]
        if any(np.may_share_memory(a, b) for i, a in enumerate(plain) for b in plain[:i]):
            return "it writes into arguments that may share memory"
    return None


def state_of(fun: Any, watch: Watch, watched: Any) -> State:
    """What the code that ran reads beside its arguments."""
    roots: list[Any] = []
    names: set[str] = set()
    for code, scope in watch.codes.items():
        roots += [(scope, name) for name in sorted(loads(code))]
        names.update(attributes_in(code))
    return State([*roots, fun, *watched], names, ())


def asked_in_advance(fun: Any) -> set[str]:
    """Names that the code of a function asks for, and of those that it can be seen to call."""
    names: set[str] = set()
    stack: list[Any] = [fun]
    classes: list[type] = []
    met: set[int] = set()
    while stack and len(met) < MOST:
        x = stack.pop()
        if id(x) in met:
            continue
        met.add(id(x))
        if isinstance(x, FunctionType) and not library(x.__globals__):
            mine = attributes_in(x.__code__)
            names |= mine
            stack += [x.__globals__[name] for name in mine if name in x.__globals__]
            stack += [contents(cell) for cell in x.__closure__ or ()]
            stack += list(vars(x).values())
        elif isinstance(x, type):
            if not library({"__name__": x.__module__}):
                classes.append(x)
        elif isinstance(x, MethodType):
            stack += [x.__func__, type(x.__self__)]
        elif hasattr(x, "__dict__") and not isinstance(x, ModuleType):
            stack += [type(x), *vars(x).values()]
        elif isinstance(x, (list, tuple)):
            stack += list(x)[:100]
        if not stack:  # methods by the names that were asked for, and those that Python calls
            for cls in classes:
                for base in cls.__mro__:
                    stack += [y for name, y in vars(base).items() if called(name, names)]
            stack = [unwrapped(y) for y in stack if id(unwrapped(y)) not in met]
    return names


MOST = 5000  # things that are looked at
SELDOM = {"__eq__", "__repr__", "__str__", "__hash__", "__reduce__", "__format__", "__setattr__"}


def called(name: str, names: set[str]) -> bool:
    return name in names or (name.startswith("__") and name not in SELDOM)


def unwrapped(x: Any) -> Any:
    """The function in a property, a static or a class method."""
    for name in ("__func__", "fget", "func"):
        if hasattr(x, name):
            return getattr(x, name)
    return x


def stores(code: Any) -> bool:
    """Whether code, nested code included, binds names or attributes beside its own variables."""
    names = names_of(code)
    if names.stores or names.assigned & set(code.co_freevars):
        return True
    codes = [code]
    while codes:
        code = codes.pop()
        if any(step.opname in STORES for step in dis.get_instructions(code)):
            return True
        codes += [x for x in code.co_consts if hasattr(x, "co_code")]
    return False


def specs_of(graph: Graph) -> Any:
    yield from [x for x in graph.outputs if hasattr(x, "dtype")]
    for equation in graph.equations:
        for x in (*equation.inputs, *equation.outputs):
            if isinstance(x, Variable):
                yield x.spec
            elif hasattr(x, "dtype"):
                yield x


def is_narrow(x: Any) -> bool:
    return x.dtype.char in "efF"


def attributes_in(code: Any) -> set[str]:
    """Names of attributes that code may ask for; `getattr(x, "rate")` has them as text."""
    found = set(code.co_names)
    for x in code.co_consts:
        if hasattr(x, "co_names"):
            found |= attributes_in(x)
        found.update([y for y in (x if type(x) is tuple else (x,)) if type(y) is str])
    return found
