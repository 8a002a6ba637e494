"""Recording: one call of a function as a graph, with the answers that Python asked for on the way.

The function runs on real values. Where Python asks for one (`if x > 0`, `int(n)`, `x.item()`), a
guard is noted: the question, and the answer that it got. The record stands for every call in which
all guards get the same answers and what the function reads beside its arguments has not changed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from importlib import import_module
from sys import getprofile, setprofile
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ...core.array import TALLY, Array, current
from ...core.bytecode import original
from ...core.dispatch import UFUNCS
from ...core.graph import Equation, Graph, Variable
from ...core.layout import UNORDERED, axes_in_memory, placement
from ...core.lost import line_of_user
from ...core.namespaces import apart
from ...core.primitive import Elementwise, Linear, Multilinear, Primitive
from ...core.spec import is_inexact, spec_of
from ...core.trace import CONSTANT, run
from ...core.tree import flatten
from ...primitives.elementwise import power
from ...transforms.call import Call
from ...transforms.common import settle
from ...transforms.eager import SUSPENDED
from ...transforms.stage import STOP, Notes, StageTrace
from ..facts.bytecode import code_of
from ..facts.call_monitor import Watch, unwatched
from ..facts.effects import Located, Store
from ..facts.places import contents, dict_of, of
from ..facts.reader import INNER, WRAPPED
from ..facts.snapshot import parts_of, roots_of
from ..facts.state import State
from ..graph.optimise import declared

__all__ = [
    "Guard", "Number", "Recording", "as_kind", "asked_in_advance",
    "containers_in", "layout_of", "order_in", "recorded", "share_memory",
    "state_of", "with_raising",
]  # fmt: skip

QUESTIONS = {"bool(x)": bool, "int(x)": int, "x as an index": int}
UNLIKE_ANSWERS = {"repr(x)", "x as an index", "values"}
UNLIKE_NAMES = {
    "hasattr", "getattr", "floating", "number", "inexact", "generic", "fsum", "isclose", "dist",
    "sumprod", "hash", "divmod", "round", "imag", "hex", "as_integer_ratio", "fabs",
    "true_divide", "mod",
    *[ufunc.__name__ for ufunc, p in UFUNCS.items() if p and (p.arithmetic or p.comparison)],
}  # fmt: skip
PYTHONIC = {  # they give Python's numbers, and NumPy's where they are recorded
    "array_equal", "array_equiv", "allclose", "fsum", "dist", "sumprod",
}  # fmt: skip
EMPTY: tuple[()] = ()
PLAIN_NUMBERS = (int, float, bool, complex, str)
UNSEEN = {  # what is done so is not noticed
    "__dict__", "__import__", "import_module", "seterr", "array2string", "array_repr", "array_str",
}  # fmt: skip
LAYOUT = {"flags", "strides", "base", "data", "ctypes", "isfortran", "require"}
STATIC = (str, bool, int, float, complex, type(None), np.generic, np.dtype, type)


class Guard:
    """A question about a value of the program, and the answer that the record depends on."""

    __slots__ = ("answer", "asked", "line", "variable")

    def __init__(self, variable: Any, asked: str, answer: Any, line: Any) -> None:
        self.variable, self.asked, self.answer, self.line = variable, asked, answer, line

    def ask(self, value: Any) -> Any:
        """The answer for a value."""
        question = QUESTIONS.get(self.asked)
        if question is not None:
            return question(value)
        x = np.asarray(value)
        return x.shape, x.dtype.str, x.tobytes()


# What has no methods of the user's that NumPy could call.
NUMBERS = {float, int, bool, complex, *np.sctypeDict.values()} - {np.object_, np.void}
PARAMETERS = {int, bool, str, tuple, type(None), float, np.dtype, type}
OURS = ("pullback.primitives.", "pullback.nn")
SILENT: dict[Primitive, bool] = {}


def silent(primitive: Primitive, xs: tuple[Any, ...], static: dict[str, Any]) -> bool:
    """Whether an operation runs no code of the user's."""
    if not is_ours(primitive):
        return False
    for x in xs:
        value = x.value if type(x) is Array else x
        if type(value) is np.ndarray:
            if value.dtype.hasobject:
                return False
        elif type(value) not in NUMBERS:
            return False
    return not static or PARAMETERS.issuperset(map(type, static.values()))


def is_ours(primitive: Primitive) -> bool:
    """Whether the code of a primitive is all of this package."""
    known = SILENT.get(primitive)
    if known is not None or not declared(primitive):  # a single call, or a function of the user's
        return known is True
    ours = type(primitive).__module__.startswith(OURS)
    if isinstance(primitive, Elementwise):
        ours = ours or UFUNCS.get(primitive.ufunc) is primitive
    SILENT[primitive] = ours
    return ours


class Questions(Notes):
    """What a trace that compiles writes down: guards as well, and whether something was raised."""

    def __init__(self, watch: Watch, traced: bool = False) -> None:
        super().__init__()
        self.watch = watch
        self.traced = traced  # whether the call that is recorded is in a transformation
        self.guards: list[Guard] = []
        self.raised: str | None = None
        self.raising: list[Variable] = []  # of functions within: what may raise for other values
        # Numbers that are Python's where nothing is recorded: they divide by zero with an error,
        # and what is made of them alone is Python's again.
        self.weak: set[Variable] = set()
        self.unsure = False  # whether other values that get the same answers may raise
        self.unlike = False  # whether something was done with them that Python does otherwise
        self.outside = SUSPENDED.here()
        self.suspends = False  # whether `no_grad` begins or ends on the way


class CompileTrace(StageTrace):
    """A stage trace of which Python may ask values.

    What `stop_gradient` stops is noted where the record is for a call in a transformation.
    """

    __slots__ = ()
    transparent = repeats = compared = True

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

    def noted(self, primitive: Primitive, xs: tuple[Any, ...], static: dict[str, Any]) -> Any:
        notes = self.state
        if notes.watch.silences and not {"warn", "ignore"}.issuperset(np.geterr().values()):
            notes.raised = "it has floating-point errors raised"
        if (SUSPENDED.anywhere or notes.outside) and SUSPENDED.here() is not notes.outside:
            notes.suspends = True
        if type(primitive) is Call and primitive.results is not None:  # it has run on this trace
            primitive.results = tuple(
                [x.value if type(x) is Array and x.within is self else x for x in primitive.results]
            )
        try:
            if str in map(type, xs):  # no number is equal to text, whatever it is
                values = [x.value if type(x) is Array and x.within is self else x for x in xs]
                out = self.computed(primitive, values, static)
                return bool(out) if all(map(self.is_weak, xs)) else out
            if notes.weak and xs and all(map(self.is_weak, xs)):
                return self.of_numbers(primitive, xs, static)
            return StageTrace.process(self, primitive, xs, static)
        except Exception as error:
            # The program may catch it; other values might not raise.
            self.state.raised = f"`{primitive.name}` raised {type(error).__name__}"
            raise

    def of_numbers(self, primitive: Primitive, xs: tuple[Any, ...], static: dict[str, Any]) -> Any:
        """An operation of which all operands are Python's numbers where nothing is recorded."""
        notes = self.state
        if primitive.python_differs or any(type(x) is complex for x in xs):
            notes.unlike = True
        if primitive.divides and bool(xs[1] == 0):
            raise ZeroDivisionError("division by zero")
        if primitive is power and bool(xs[0] <= 0):
            notes.unlike = True  # it may be complex
        out = StageTrace.process(self, primitive, xs, static)
        if primitive is power and not bool(np.isfinite(out)):
            notes.unlike = True  # an OverflowError
        if primitive.comparison:
            return bool(out)  # True or False, and neither of NumPy's
        if primitive.arithmetic and out.dtype.kind != "c":
            notes.weak.add(out.node)
        return out

    def computed(self, primitive: Primitive, values: list[Any], static: dict[str, Any]) -> Any:
        """On plain operands it is said at once that nobody else interprets the operation."""
        if Array in map(type, values) or not is_ours(primitive):
            return primitive(*values, **static)
        out = primitive.value(*values, **static)
        return np.complex128(out) if type(out) is complex else out

    def class_asked(self) -> None:
        self.state.raised = "it asks for the type of a number, and would see that of an Array"

    def number(self, x: Array) -> None:
        self.state.weak.add(x.node)
        if not bool(np.isfinite(x).all()):  # for other values of this kind `math` may raise
            self.state.unlike = self.state.unsure = True

    def failed(self, x: Array, what: str) -> None:
        self.state.raised = what  # other values might not raise

    def is_weak(self, x: Any) -> bool:
        if type(x) is Array:
            return x.within is self and x.node in self.state.weak
        return type(x) in PLAIN_NUMBERS

    def detached(self, x: Array) -> Any:
        if not self.state.traced or not is_inexact(x.dtype):
            return x
        stopped = Variable(spec_of(x))
        self.state.equations.append(Equation(STOP, (x.node,), (stopped,), {}))
        return Array(x.value, self, stopped)

    def converts(self, x: Array, asked: str) -> bool:
        return True

    def peels(self, x: Array) -> bool:
        if self.state.traced:
            return False
        watch = self.state.watch
        if not watch.casts or x.dtype.kind not in "fiu":
            return True
        watch.cast = True
        return False

    def told(self, x: Array, asked: str) -> Any:
        self.note(x, asked)
        return x.value

    def concrete(self, x: Array, asked: str) -> Any:
        self.note(x, asked if asked in QUESTIONS else "values")
        return x.value

    def note(self, x: Array, asked: str) -> None:
        with unwatched():
            self.guard(x, asked)

    def guard(self, x: Array, asked: str) -> None:
        if asked in UNLIKE_ANSWERS and self.is_weak(x):
            self.state.unlike = True
        guard = Guard(self.variable(x), asked, None, line_of_user())
        try:
            guard.answer = guard.ask(x.value)
        except Exception as error:
            if x.size == 1:  # `int(x)` of NaN; what is not one number raises whatever it holds
                self.state.raised = f"`{asked}` raised {type(error).__name__}"
            raise
        self.state.guards.append(guard)


class Recording:
    """What one call did, in a rehearsal.

    values: the leaves of what it returned, in plain arrays.
    graph: outputs, then what was written into arguments, then the values that guards ask about,
        then what nobody needs and what may raise.
    kinds: for each output float for a Python float, np.generic for a scalar, np.ndarray, Array for
        a constant one, or None for what is no array of the program.
    sources: for each output that is no new object what gives it, from the inputs and the leaves
        before it; else None.
    written: the numbers of the arguments that were written into.
    final: what arguments held in the end.
    layouts: how the arrays among the arguments lie in memory, if anything depends on that.
    orders: in which order their elements lie, if something depends on that.
    axes: the order of their axes in memory, if that of results depends on it; None for C order.
    placed: for each output in another order than C, or with bytes in another order than the
        machine's, (axes in memory, dtype); else None.
    identity: whether the code that ran may have asked which arguments are the same object.
    narrow: whether there are numbers of less than double precision.
    refusal: why the record may not stand for other calls, or None.
    unlike: whether it is wrong, since something in it is not as it is without recording.
    unsure: whether a function may raise for other values that get the same answers.
    numbers: whether Python floats may be inputs in what is recorded next.
    captured: whether it uses Arrays of transformations around it.
    suspends: whether `no_grad` begins or ends on the way.
    stores: places that it stores to; the outputs are then a pair of the result and the values.
    changes: why what it stored cannot be stored again, or None.
    full: the same with all outputs computed, for those who have no use for `sources`.
    """

    values: list[Any]
    graph: Graph
    structure: Any
    outputs: list[Any]
    kinds: list[Any]
    sources: list[Any]
    guards: list[Guard]
    written: list[int]
    final: list[Any]
    layouts: list[Any] | None
    orders: list[Any] | None
    axes: list[Any] | None
    placed: list[Any]
    identity: bool
    narrow: bool
    state: State
    refusal: str | None
    unlike: bool
    unsure: bool
    numbers: bool
    captured: bool
    suspends: bool
    stores: Sequence[Store] = ()
    changes: str | None = None
    full: Recording | None = None

    def forget(self) -> None:
        """Let go of the values of the call that was recorded."""
        self.values = self.final = []


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


class Number(float):
    """A Python float among the inputs."""


def recorded(
    fun: Callable[..., Any],
    lift: Callable[..., Any],
    watched: Any,
    watch: Watch,
    traced: bool,
    located: Callable[[], Located],
) -> Recording:
    """Run fun once and record it. What it changes besides is left as it is then.

    Args:
        lift: from a function on leaves to (args, kwargs) with that function applied to the inputs.
        watched: other objects that the call depends on, for its state.
        located: what has been stored. Its values are recorded as results are.
    """
    trace = CompileTrace("compile", fun, Questions(watch, traced))
    arrays: list[Array] = []
    inputs: list[Variable] = []
    weak_inputs: list[Variable] = []

    def enter(x: Any) -> Array:
        weak = type(x) is Number
        x = np.float64(x) if weak else x
        inputs.append(Variable(spec_of(x)))
        if weak:
            trace.state.weak.add(inputs[-1])
            weak_inputs.append(inputs[-1])
        arrays.append(Array(x, trace, inputs[-1]))
        return arrays[-1]

    out = Recording()
    notes = trace.state
    args, kwargs = lift(enter)
    passed = flatten([args, kwargs])
    layouts, views, writes = TALLY.layouts, TALLY.views, TALLY.writes
    TALLY.recordings += 1
    plain = [x.value for x in arrays if type(x.value) is np.ndarray]
    orders, axes = [order_in(x) for x in plain], [axes_in_memory(x) for x in plain]
    try:
        with watch:
            result = run(trace, fun, args, kwargs)
        decided = TALLY.layouts > layouts or (TALLY.views > views and TALLY.writes > writes)
        out.state = state_of(fun, watch, watched)
        stored = located()
        out.stores, out.changes = stored.stores, stored.why
        leaves, out.structure = flatten((result, stored.values) if out.stores else result)
        leaves = [settle(leaf, trace) for leaf in leaves]
        out.outputs, out.kinds, out.values, out.placed = [], [], [], []
        for leaf in leaves:
            if type(leaf) is Array and leaf.within is trace:
                out.outputs.append(trace.variable(leaf))
                weak = leaf.node in notes.weak
                scalar = isinstance(leaf.value, np.generic)
                out.kinds.append(float if weak else np.generic if scalar else np.ndarray)
                out.values.append(as_kind(leaf.value, out.kinds[-1]))
            else:
                out.outputs.append(leaf.value if type(leaf) is Array else leaf)
                out.kinds.append(None)
                out.values.append(out.outputs[-1])
            out.placed.append(placement(out.values[-1]) if out.kinds[-1] is np.ndarray else None)
        out.sources = [None] * len(leaves)
        out.written = []
        final: list[Any] = []
        for i, (x, variable) in enumerate(zip(arrays, inputs, strict=True)):
            x = current(x)
            if x.within is trace and x.node is variable:
                continue
            out.written.append(i)
            final.append(trace.variable(x) if x.within is trace else x.value)
        out.final = [current(x).value for x in arrays]
        questions = [guard.variable for guard in notes.guards]
        variables = [v for v in out.outputs if isinstance(v, Variable)]
        captured = [v for _, v in notes.captured.values()]
        needed = Graph([*inputs, *captured], notes.equations, [*variables, *final, *questions])
        out.graph = with_raising(needed, notes).pruned()
        out.guards = notes.guards
        codes = [code_of(code) for code, _ in watch.codes.values()]
        out.identity = any(code.identity for code in codes)
        out.captured, out.suspends = bool(notes.captured), notes.suspends
        out.narrow = any(map(is_narrow, specs_of(out.graph)))
        out.refusal = refusal(watch, notes, passed, [args, kwargs], out, arrays)
        if any(x.shape != v.spec.shape for x, v in zip(arrays, inputs, strict=True)):
            out.refusal = "it assigns to the shape of an argument"
        names = out.state.names
        out.layouts = out.orders = None
        if decided:
            out.orders = orders
        several = any(np.ndim(x) > 1 for x in out.values if type(x) is np.ndarray)
        out.axes = axes if several and set(axes) != {UNORDERED} else None
        if not names.isdisjoint(LAYOUT):
            out.layouts = [layout_of(x.value) for x in arrays if type(x.value) is np.ndarray]
        asked = not names.isdisjoint(UNLIKE_NAMES) or {"isinstance", "float64"} <= names
        out.numbers, out.unsure = not asked, notes.unsure
        out.unlike = bool(weak_inputs) and (notes.unlike or asked)
        if np.generic in out.kinds and not names.isdisjoint(PYTHONIC):
            out.unlike = True
    finally:
        TALLY.recordings -= 1
        trace.end()
    return out


def as_kind(x: Any, kind: Any) -> Any:
    """A result that nobody else holds, of the kind that it was when it was recorded."""
    if kind is float:
        return float(x)
    if kind is np.generic:
        return x[()] if type(x) is np.ndarray else x
    if kind is Array:
        return Array(np.array(x) if type(x) is np.ndarray else x, CONSTANT, None)
    return np.array(x) if kind is np.ndarray or type(x) is np.ndarray else x


def with_raising(graph: Graph, notes: Questions) -> Graph:
    """The graph with outputs more: what no other output needs, and what may raise."""
    met = {id(e) for e in graph.pruned().equations}
    raising = [e.outputs[0] for e in graph.equations if id(e) not in met and may_raise(e)]
    more = dict.fromkeys([*raising, *notes.raising])
    return Graph(graph.inputs, graph.equations, [*graph.outputs, *more])


def may_raise(e: Equation) -> bool:
    """Whether values decide if an operation raises."""
    primitive, indices = e.primitive, [v for v in e.inputs[1:] if isinstance(v, Variable)]
    if primitive.total or not (indices or any(isinstance(v, Variable) for v in e.inputs[:1])):
        return False
    if isinstance(primitive, Elementwise):
        if primitive.lower is None and not isinstance(primitive.ufunc, np.ufunc):
            return True  # a function of the user's
        return e.outputs[0].spec.dtype.kind in primitive.raises_for
    if isinstance(primitive, (Linear, Multilinear)) and is_ours(primitive):
        return any(v.spec.dtype.kind in "iu" for v in indices)
    return e.static.get("singular", "raise") == "raise"


def share_memory(arrays: list[Any]) -> bool:
    """Whether two of some arrays may lie in the same memory."""
    return any(np.may_share_memory(a, b) for i, a in enumerate(arrays) for b in arrays[:i])


def layout_of(x: np.ndarray) -> Any:
    """How an array lies in memory, as far as a program can ask for it."""
    return x.strides, x.flags.writeable, x.flags.aligned, x.base is None


def order_in(x: np.ndarray) -> Any:
    """In which order the elements of an array lie in memory."""
    flags = x.flags
    return "C" if flags.c_contiguous else "F" if flags.f_contiguous else x.strides


def refusal(
    watch: Watch, notes: Questions, before: Any, passed: Any, out: Recording, arrays: list[Array]
) -> str | None:
    """Why a recording may not stand for other calls."""
    if watch.effects:
        return watch.effects[0]
    if notes.raised is not None:
        return notes.raised
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
        known = isinstance(x, (Variable, np.ndarray, *STATIC)) and type(x) is not Array
        if not known or (isinstance(x, np.ndarray) and x.dtype.hasobject):
            return f"it returns an object of {type(x).__name__}"
    if out.written:
        plain = [x.value for x in arrays if type(x.value) is np.ndarray]
        if share_memory(plain):
            return "it writes into arguments that may share memory"
    return None


def state_of(fun: Any, watch: Watch, watched: Any) -> State:
    """What the code that ran reads beside its arguments."""
    roots: list[Any] = []
    names: set[str] = set()
    for code, scope in watch.codes.values():
        roots += roots_of(code, scope)
        names |= code_of(code).asked(watch.expected is not None)
    if watch.expected is not None:
        names |= watch.asked
    codes = [code for code, _ in watch.codes.values()]
    settings: list[Any] = [*watch.quiet]
    if any(code_of(x).digits for x in codes):
        settings.append(sys.get_int_max_str_digits)
    if watch.prints:
        settings.append(print_options())
    state = State([*roots, fun, *watched], names, codes, settings)
    state.parts = parts_of(watch.codes.values())
    state.ran = frozenset([code_of(code).key for code in codes])
    return state


def print_options() -> Any:
    """What tells NumPy's options for the text of arrays."""
    with suppress(ImportError, AttributeError):
        return import_module("numpy._core.printoptions").format_options.get
    return np.get_printoptions


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
        if of(x, FunctionType) and not apart(x.__globals__):
            mine = code_of(original(x.__code__)).names
            names |= mine
            stack += [x.__globals__[name] for name in mine if name in x.__globals__]
            stack += [contents(cell) for cell in x.__closure__ or ()]
            stack += list(vars(x).values())
        elif of(x, type):
            if not apart({"__name__": x.__module__}):
                classes.append(x)
        elif of(x, MethodType):
            stack += [x.__func__, type(x.__self__)]
        elif dict_of(x) is not None and not of(x, ModuleType):
            stack += [type(x), *(dict_of(x) or {}).values()]
        elif of(x, (list, tuple)):
            stack += list(x)[:100]
        elif of(x, dict):
            stack += list(x.values())[:100]
        if not stack:  # methods by the names that were asked for, and those that Python calls
            for cls in classes:
                for base in cls.__mro__:
                    stack += [y for name, y in vars(base).items() if called(name, names)]
            stack = [unwrapped(y) for y in stack if id(unwrapped(y)) not in met]
    return names


MOST = 5000  # things that are looked at

SELDOM = {
    "__eq__", "__repr__", "__str__", "__hash__", "__reduce__", "__format__", "__setattr__",
    "__delattr__",
}  # fmt: skip


def called(name: str, names: Iterable[str]) -> bool:
    """Whether a method may be called: by its name, or by Python."""
    return name in names or (name.startswith("__") and name not in SELDOM)


def unwrapped(x: Any) -> Any:
    """The function in a property, a static or a class method."""
    if not of(x, (*WRAPPED, FunctionType, MethodType)):
        return x
    return next((getattr(x, name) for name in INNER if hasattr(x, name)), x)


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
