"""Recording: one call of a function as a graph, with the answers that Python asked for on the way.

The function runs on real values. Where Python asks for one (`if x > 0`, `int(n)`, `x.item()`), a
guard is noted: the question, and the answer that it got. The record stands for every call in which
all guards get the same answers and what the function reads beside its arguments has not changed.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ..core.array import Array, current, is_number, peel, stop
from ..core.cotangent import own
from ..core.errors import PullbackError
from ..core.graph import Equation, Graph, Variable
from ..core.namespaces import library, names_of
from ..core.primitive import Primitive
from ..core.spec import is_inexact, spec_of
from ..core.trace import CONSTANT, run
from ..core.tree import flatten
from ..transforms.call import Call
from ..transforms.common import settle
from ..transforms.eager import SUSPENDED
from ..transforms.record import line_of_user
from ..transforms.stage import STOP, Notes, StageTrace
from .state import INNER, State, contents, loads, replace
from .watch import Watch, passed_on

__all__ = [
    "TYPES", "Guard", "Number", "Recording", "Unlike", "as_kind", "asked_in_advance",
    "containers_in", "recorded",
]  # fmt: skip

QUESTIONS = {"bool(x)": bool, "int(x)": int, "x as an index": int}
ARITHMETIC = {
    "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "power", "negative",
    "positive", "absolute",
}  # fmt: skip
DIVISIONS = {"divide", "floor_divide", "remainder"}
COMPARISONS = {"less", "less_equal", "greater", "greater_equal", "equal", "not_equal"}
# Of Python floats they are not what they are of NumPy's.
UNLIKE = {"divmod", "round", "copy", "like", "where", "hypot", "choose", "select"}
UNLIKE_ANSWERS = {"repr(x)", "x as an index", "values"}
UNLIKE_NAMES = {
    "hasattr", "getattr", "floating", "number", "inexact", "generic", "fsum", "isclose", "dist",
    "sumprod", "hash", "divmod", "round", "imag", "hex", "as_integer_ratio", "absolute", "fabs",
    "add", "subtract", "multiply", "divide", "true_divide", "floor_divide", "remainder", "mod",
    "power", "negative", "positive", *COMPARISONS,
}  # fmt: skip
PYTHONIC = {  # they give Python's numbers, and NumPy's where they are recorded
    "array_equal", "array_equiv", "allclose", "fsum", "dist", "sumprod",
}  # fmt: skip
EMPTY: tuple[()] = ()
PLAIN_NUMBERS = (int, float, bool, complex, str)
TYPES = {"type", "__class__"}  # an Array tells another
UNSEEN = {  # what is done so is not noticed
    "__dict__", "__setattr__", "__import__", "import_module", "errstate", "seterr",
    "array2string", "array_repr", "array_str", *TYPES,
}  # fmt: skip
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
        x = np.asarray(peel(value))
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
        self.unlike = False  # whether something was done with them that Python does otherwise
        self.outside = SUSPENDED.here()
        self.suspends = False  # whether `no_grad` begins or ends on the way


class CompileTrace(StageTrace):
    """A stage trace of which Python may ask values.

    The values may be Arrays of transformations around it: then the call that is recorded has
    their derivatives, and what is asked or stopped is asked and stopped there as well.
    """

    __slots__ = ()
    transparent = True

    def process(self, primitive: Primitive, xs: tuple[Any, ...], static: dict[str, Any]) -> Any:
        notes = self.state
        notes.suspends |= SUSPENDED.here() is not notes.outside
        if type(primitive) is Call and primitive.results is not None:  # it has run on this trace
            primitive.results = tuple(
                [x.value if type(x) is Array and x.within is self else x for x in primitive.results]
            )
        weak = bool(notes.weak) and all(map(self.is_weak, xs)) and len(xs) > 0
        name = primitive.name
        if weak and (name in UNLIKE or any(type(x) is complex for x in xs)):
            notes.unlike = True
        try:
            if weak and name in DIVISIONS and bool(xs[1] == 0):
                raise ZeroDivisionError("division by zero")
            if weak and name == "power" and bool(xs[0] <= 0):
                notes.unlike = True  # it may be complex
            out = StageTrace.process(self, primitive, xs, static)
            if weak and name == "power" and not bool(np.isfinite(out)):
                notes.unlike = True  # an OverflowError
            if weak and name in COMPARISONS:
                return bool(out)  # True or False, and neither of NumPy's
            if weak and name in ARITHMETIC and out.dtype.kind != "c":
                notes.weak.add(out.node)
            return out
        except Exception as error:
            # The program may catch it; other values might not raise.
            self.state.raised = f"`{primitive.name}` raised {type(error).__name__}"
            raise

    def foreign(self, x: Array) -> Any:
        return x

    def number(self, x: Array) -> None:
        if type(x.value) is Array:
            return
        self.state.weak.add(x.node)
        if not bool(np.isfinite(x).all()):  # `math` may raise
            self.state.unlike = True

    def is_weak(self, x: Any) -> bool:
        if type(x) is Array:
            return x.within is self and x.node in self.state.weak
        return type(x) in PLAIN_NUMBERS

    def detached(self, x: Array) -> Any:
        if type(x.value) is not Array:
            return x
        value = stop(x.value)
        if not is_inexact(x.dtype):
            return Array(value, self, x.node)
        stopped = Variable(spec_of(x))
        self.state.equations.append(Equation(STOP, (x.node,), (stopped,), {}))
        return Array(value, self, stopped)

    def converts(self, x: Array, asked: str) -> bool:
        value = x.value
        return type(value) is not Array or current(value).within.converts(value, asked)

    def told(self, x: Array, asked: str) -> Any:
        self.note(x, asked)
        return x.value

    def concrete(self, x: Array, asked: str) -> Any:
        self.note(x, asked if asked in QUESTIONS else "values")
        return x.value

    def note(self, x: Array, asked: str) -> None:
        if asked in UNLIKE_ANSWERS and self.is_weak(x):
            self.state.unlike = True
        guard = Guard(self.variable(x), asked, None, line_of_user())
        try:
            guard.answer = guard.ask(x.value)
        except Exception as error:  # `int(x)` of NaN
            self.state.raised = f"`{asked}` raised {type(error).__name__}"
            raise
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
    unlike: whether it is wrong, since something in it is not as it is without recording.
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
    unlike: bool
    before: list[Any]
    arrays: list[Any]
    again: bool  # whether it is to run as it is, since what it did reached none but copies
    numbers: bool  # whether Python floats may be inputs in what is recorded next
    captured: bool  # whether it uses Arrays that it was not given
    suspends: bool
    result: Any
    containers: list[Any]

    def write(self) -> None:
        """What was assigned to arguments arrives there."""
        for x, array in zip(self.before, self.arrays, strict=True):
            if type(x) in (np.ndarray, Array) and array.value is not x:
                x[...] = array.value

    def forget(self) -> None:
        """Let go of the values of the call that was recorded."""
        self.value = self.before = self.arrays = self.containers = []
        self.result = None

    def entangled(self, written: list[np.ndarray], passed: Any) -> str | None:
        """Why the result is not what it would be, where no effect forbids to run once more."""
        if self.refusal is not None and self.again:
            return self.refusal
        captured, kept = self.state.met()
        if any(np.may_share_memory(a, b) for a in captured for b in written):
            return "it writes into an argument that it reads in another way as well"
        mine = {id(x) for x in containers_in(self.result)}
        mine |= {id(x) for x in self.outputs if type(x) is np.ndarray}
        if not mine.isdisjoint({id(x) for x in [*kept, *containers_in(passed)]}):
            return "it returns something that it reads"
        if not mine.isdisjoint({id(x) for x in self.containers}):
            return "it returns a container that was passed to it"
        return None


def containers_in(tree: Any) -> list[Any]:
    """The lists, dicts and objects of a tree."""
    found: list[Any] = []
    stack = [tree]
    while stack:
        x = stack.pop()
        if type(x) in (tuple, list):
            stack += x
        elif isinstance(x, dict):
            stack += x.values()
        if x is not EMPTY and not isinstance(x, (Array, *STATIC, np.ndarray, FunctionType)):
            found.append(x)
    return found


class Unlike(Exception):
    """A recording raised what the function itself may not raise."""


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
    weak_inputs: list[Variable] = []
    before: list[Any] = []

    def enter(x: Any) -> Array:
        weak = type(x) is Number
        x = np.float64(x) if weak else x
        inputs.append(Variable(spec_of(x)))
        if weak:
            trace.state.weak.add(inputs[-1])
            weak_inputs.append(inputs[-1])
        arrays.append(Array(x, trace, inputs[-1]))
        before.append(x)
        return arrays[-1]

    out = Recording()
    notes = trace.state
    args, kwargs = lift(enter)
    containers = flatten([args, kwargs])
    watch = Watch()
    try:
        try:
            with watch:
                result = run(trace, fun, args, kwargs)
        except Exception as error:
            own = isinstance(error, (PullbackError, TypeError, AttributeError))
            # What has had effects does not run once more.
            own = own or bool(weak_inputs)
            own = own and not any(changes(code) for code, _ in watch.codes.values())
            if own and not raised_by_user(error):
                raise Unlike from error
            for x, array in zip(before, map(current, arrays), strict=True):
                if type(x) in (np.ndarray, Array) and array.value is not x:
                    x[...] = array.value
            error.args = tuple([peel(x) for x in error.args])
            raise
        finally:
            out.state = state_of(fun, watch, watched)
            settle_state(out.state, trace, arrays, before)
        leaves, out.structure = flatten(result)
        out.result, out.containers = result, containers_in([args, kwargs])[1:]
        made = [type(leaf) is Array for leaf in leaves]
        traced = any(type(x) is Array for x in before)
        try:
            leaves = [settle(leaf, trace) for leaf in leaves]
        except PullbackError as error:
            raise Unlike from error
        out.outputs, out.kinds, values = [], [], []
        for leaf, was_array in zip(leaves, made, strict=True):
            if type(leaf) is Array and leaf.within is trace:
                out.outputs.append(trace.variable(leaf))
                weak = leaf.node in notes.weak
                inner = type(leaf.value) is Array
                scalar = is_number(leaf) if inner else isinstance(leaf.value, np.generic)
                out.kinds.append(float if weak else np.generic if scalar else np.ndarray)
                values.append(as_kind(leaf.value, out.kinds[-1]))
            else:
                out.outputs.append(leaf)
                constant = traced and was_array and type(leaf) is not Array
                out.kinds.append(Array if constant else None)
                values.append(as_kind(leaf, out.kinds[-1]))
        out.written = []
        final: list[Any] = []
        for i, (x, variable) in enumerate(zip(arrays, inputs, strict=True)):
            x = current(x)
            if x.within is trace and x.node is variable:
                continue
            out.written.append(i)
            final.append(trace.variable(x) if x.within is trace else x.value)
        out.before, out.arrays = before, [current(x) for x in arrays]
        questions = [guard.variable for guard in notes.guards]
        variables = [v for v in out.outputs if isinstance(v, Variable)]
        out.graph = Graph(
            [*inputs, *[v for _, v in notes.captured.values()]],
            notes.equations,
            [*variables, *final, *questions],
        ).pruned()
        out.guards = notes.guards
        out.captured = bool(notes.captured) or any(type(x) is Array for x in out.outputs)
        out.suspends = notes.suspends
        out.value = values
        objects = [x for x in leaves if not isinstance(x, (Array, np.ndarray, *STATIC))]
        if objects:  # they may hold Arrays
            settle_state(State(objects, out.state.names), trace, arrays, before)
        out.refusal = refusal(watch, notes, containers, flatten([args, kwargs]), out, arrays)
        changed = (out.refusal or "").startswith("it changes a container")
        out.again = changed and not watch.effects
        out.stores = any(stores(code) for code, _ in watch.codes.values())
        out.narrow = any(map(is_narrow, specs_of(out.graph)))
        names = out.state.names
        asked = not names.isdisjoint(UNLIKE_NAMES) or {"isinstance", "float64"} <= names
        changing = any(changes(code) for code, _ in watch.codes.values())
        out.numbers = not asked and not changing
        out.unlike = bool(weak_inputs) and (notes.unlike or asked) and not changing
        if np.generic in out.kinds and not names.isdisjoint(PYTHONIC):
            out.unlike = True
    finally:
        trace.end()
    return out


def as_kind(x: Any, kind: Any) -> Any:
    """A result that nobody else holds, of the kind that it was when it was recorded."""
    if type(x) is Array:  # of the transformation around
        single = kind is np.ndarray and is_number(x)
        return own(x) if single else x
    if kind is Array:
        return Array(x.copy(), CONSTANT, None)
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
    if out.captured:
        return "it uses Arrays of another transformation"
    for code, scope in watch.codes.values():
        for name in attributes_in(code) & UNSEEN:
            return f"it uses `{name}`"
        handed = passed_on(code, scope)
        if handed is not None:
            return f"it passes `{handed}` on"
    if before[1] != after[1] or any(x is not y for x, y in zip(before[0], after[0], strict=True)):
        return "it changes a container that was passed to it"
    for x in out.containers:
        if is_dataclass(x) and set(getattr(x, "__dict__", ())) - {f.name for f in fields(x)}:
            return "it changes a container that was passed to it"
    for x in out.outputs:
        if not isinstance(x, (Variable, np.ndarray, *STATIC)):
            return f"it returns an object of {type(x).__name__}"
    if out.written:
        plain = [x.value for x in arrays if type(x.value) is np.ndarray]
        if any(np.may_share_memory(a, b) for i, a in enumerate(plain) for b in plain[:i]):
            return "it writes into arguments that may share memory"
    return None


def raised_by_user(error: BaseException) -> bool:
    """Whether `raise` in code of the user's is where it comes from."""
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    if at is None or library(at.tb_frame.f_globals):
        return False
    return dis.opname[at.tb_frame.f_code.co_code[at.tb_lasti]] in ("RAISE_VARARGS", "RERAISE")


def settle_state(state: State, trace: Any, arrays: list[Array], before: list[Any]) -> None:
    """Where the function stored Arrays, plain arrays are put."""
    made = {id(array): x for array, x in zip(arrays, before, strict=True)}
    weak = trace.state.weak

    def plain(x: Any) -> Any:
        if type(x) is Array and current(x).within is trace:
            if id(x) not in made:
                kind = float if x.node in weak else None
                made[id(x)] = as_kind(x.value, kind)
                kept.append(x)
            return made[id(x)]
        if isinstance(x, tuple) and any(plain(y) is not y for y in x):
            values = [plain(y) for y in x]
            return type(x)(*values) if hasattr(x, "_fields") else type(x)(values)
        return x

    kept: list[Array] = []
    replace(state, plain)


def state_of(fun: Any, watch: Watch, watched: Any) -> State:
    """What the code that ran reads beside its arguments."""
    roots: list[Any] = []
    names: set[str] = set()
    for code, scope in watch.codes.values():
        roots += [(scope, name) for name in sorted(loads(code))]
        roots += [(sys.modules, name) for name in sorted(imported(code, scope))]
        names.update(attributes_in(code))
    return State([*roots, fun, *watched], names)


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
SELDOM = {
    "__eq__",
    "__repr__",
    "__str__",
    "__hash__",
    "__reduce__",
    "__format__",
    "__setattr__",
    "__delattr__",
}


def called(name: str, names: set[str]) -> bool:
    return name in names or (name.startswith("__") and name not in SELDOM)


def unwrapped(x: Any) -> Any:
    """The function in a property, a static or a class method."""
    return next((getattr(x, name) for name in INNER if hasattr(x, name)), x)


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


def imported(code: Any, scope: dict[str, Any]) -> set[str]:
    """The full names of modules that code imports when it runs."""
    found = set()
    steps = list(dis.get_instructions(code))
    for i, step in enumerate(steps):
        if step.opname == "IMPORT_NAME":
            levels = [s.argval for s in steps[max(i - 6, 0) : i] if type(s.argval) is int]
            level = levels[-1] if levels else 0
            package = str(scope.get("__package__") or scope.get("__name__"))
            parent = package.rsplit(".", level - 1)[0] if level else ""
            full = ".".join([part for part in (parent, step.argval) if part])
            found |= {full, full.partition(".")[0]}
    for x in code.co_consts:
        if hasattr(x, "co_code"):
            found |= imported(x, scope)
    return found


CHANGING = {
    "append", "extend", "insert", "pop", "popitem", "popleft", "appendleft", "rotate", "remove",
    "discard", "clear", "update", "setdefault", "add", "sort", "reverse", "setattr",
}  # fmt: skip


def changes(code: Any) -> bool:
    """Whether code may change something that was there before."""
    return stores(code) or not CHANGING.isdisjoint(code.co_names)


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


MATCH_CLASS = dis.opmap["MATCH_CLASS"]


def attributes_in(code: Any) -> set[str]:
    """Names of attributes that code may ask for; `getattr(x, "rate")` has them as text."""
    found = set(code.co_names)
    if MATCH_CLASS in code.co_code[::2]:
        found.add("__match_args__")  # `case Point(x)` has names that are not in the code
    for x in code.co_consts:
        if hasattr(x, "co_names"):
            found |= attributes_in(x)
        found.update([y for y in (x if type(x) is tuple else (x,)) if type(y) is str])
    return found
