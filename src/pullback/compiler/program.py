"""Program: a graph as machine code. `build(graph)(*leaves)` returns what `graph.evaluate` does.

    program = build(graph)
    outs = program(*leaves)     plain arrays and scalars, fresh and writable
    print(program.listing)      the plan, in words
    print(program.ir)           LLVM's text

Operations without machine code are done by NumPy between two segments of machine code, so that
every graph compiles. Each run takes its own memory from a pool: threads and recursive calls don't
share any.

Arithmetic, comparisons and selections give the same bits as NumPy. Functions are within 4 ulp
(logaddexp: of the largest of operands and result, since NumPy computes it as a sum).
Sums are done in the tree that `reduction_tree` describes. Errors that NumPy only warns about
(overflow, division by zero) are not reported.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..core.errors import ArgumentTypeError
from ..core.graph import Equation, Graph, Variable, letters
from ..core.layout import is_writable
from ..core.spec import spec_of
from .entry import native_records, object_layout, python_calls
from .entry.object_layout import address
from .graph.optimise import kinds
from .graph.rewriting import opened
from .llvm import array_memory
from .llvm.binding import BEST, WORKER, compiled
from .llvm.dtypes import TYPES
from .lower.driver import driver
from .lower.geometry import Orders, Strided, contiguous
from .lower.scan import Rolled
from .lower.while_ import Waiting
from .pipeline import Lowered


def build(
    graph: Graph,
    level: int = 3,
    known: int | None = None,
    needed: int | None = None,
    orders: Orders | None = None,
) -> Program:
    """Compile a graph, with LLVM's optimisation level from 0 to 3.

    Outputs from number `known` on may lie in other places, which `run.asked` tells; those from
    number `needed` on nobody reads: what computes them may raise, and they may be left out.
    `orders` says how inputs and outputs lie in memory; inputs that lie otherwise are copied.

    >>> import numpy as np
    >>> from pullback.testing import staged
    >>> graph, _ = staged(lambda x: np.sin(x).sum(), [np.zeros(3)])
    >>> build(graph)(np.zeros(3))
    (np.float64(0.0),)
    """
    return Program(graph, level, known=known, needed=needed, orders=orders)


class Program:
    """A compiled graph: leaves in, results out."""

    def __init__(
        self,
        graph: Graph,
        level: int = 3,
        native: bool = True,
        known: int | None = None,
        needed: int | None = None,
        orders: Orders | None = None,
    ) -> None:
        self.begin(Run(graph, level, known, needed, native, orders), native)

    def begin(self, run: Run, native: bool = True) -> None:
        self.run, self.level = run, run.level
        found = native_records.program(run) if native else None
        # Called straight: `program.entry(*leaves)` saves the call of a Python function.
        self.entry = run if found is None else found

    @classmethod
    def of(cls, run: Run) -> Program:
        """The program of a run that is ready."""
        program = cls.__new__(cls)
        program.begin(run)
        return program

    def __call__(self, *leaves: Any) -> tuple[Any, ...]:
        return self.entry(*leaves)

    def improve(self, level: int = BEST) -> None:
        """Compile the same again at a higher level; calls that come later use it.

        May run in another thread, while the program is called.
        """
        if level > self.level:
            self.run.compile(level)
            self.level = self.run.level

    def improve_later(self, level: int = BEST) -> None:
        """Do so in the background, after what else is waiting."""
        mine = weakref.ref(self)

        def job() -> None:
            program = mine()
            if program is None:
                return
            if program.native:
                object_layout.improve(level)
            program.improve(level)

        WORKER.do(job)

    @property
    def native(self) -> bool:
        """Whether calls go straight to machine code."""
        return self.entry is not self.run

    @property
    def simple(self) -> bool:
        """Whether all of it is machine code, which is called straight."""
        return self.native and not self.run.calls

    @property
    def ir(self) -> str:
        """The program in LLVM's language, before it was optimised."""
        return str(self.run.module.text)

    @property
    def listing(self) -> str:
        """What is done, step by step: loops, numbers, products, calls of NumPy."""
        return listed(self.run)

    def __reduce__(self) -> Any:
        raise TypeError(
            "A compiled program cannot be pickled.\n  Pickle what it was compiled from."
        )


class Activation:
    """The memory of one run, and arrays for the operands of calls that lie in it."""

    def __init__(self, run: Run) -> None:
        self.arena = np.empty(run.arena_size + 64, np.uint8)
        start = -self.arena.ctypes.data % 64
        self.arena = self.arena[start:]
        self.address = self.arena.ctypes.data
        self.table = np.zeros(run.n_table, np.uintp)
        self.table_address = self.table.ctypes.data
        self.views: dict[Any, np.ndarray] = {}

    def view(self, x: Variable, v: Strided) -> np.ndarray:
        """The array of a value in the arena."""
        found = self.views.get(x)
        if found is None:
            found = self.views[x] = placed(self.arena, v, v.buffer.index)
        return found


def placed(base: np.ndarray, v: Strided, skip: int = 0) -> np.ndarray:
    """A view as an array."""
    size = v.dtype.itemsize
    return np.ndarray(v.shape, v.dtype, base, skip + v.offset * size, [s * size for s in v.strides])


def lying(axes: tuple[int, ...]) -> Callable[[tuple[int, ...], np.dtype], np.ndarray]:
    """What makes an array without values with its axes in an order of memory."""

    def made(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        step = dtype.itemsize
        strides = [step * s for s in contiguous(None, shape, dtype, axes).strides]
        return np.ndarray(shape, dtype, strides=strides)

    return made


class Bodies:
    """The bodies of loops that are done from Python, as programs of their own."""

    def __init__(self, level: int) -> None:
        self.level = level
        self.made: dict[Any, list[Program]] = {}

    def of(self, rolled: Any) -> list[Any]:
        if rolled not in self.made:
            self.made[rolled] = [Program(body, self.level) for body in rolled.bodies]
        return [body.entry for body in self.made[rolled]]


class Run:
    """One call, done from Python: conversions, segments by ctypes, calls of NumPy."""

    def __init__(
        self,
        graph: Graph,
        level: int,
        known: int | None = None,
        needed: int | None = None,
        native: bool = True,
        orders: Orders | None = None,
    ) -> None:
        parts = Lowered(graph, known, needed, orders)
        self.whole, self.unchecked, self.asked = parts.whole, parts.unchecked, parts.asked
        self.raising, self.answers = parts.raising, parts.answers
        self.graph, self.plan, self.module = parts.graph, parts.plan, parts.module
        self.kinds = kinds(self.graph)
        for x, out in zip(self.graph.outputs, self.plan.outputs, strict=True):
            if x is not out:  # a constant, or what NumPy gave, written where results are
                self.kinds[out] = "array" if isinstance(opened(x), np.ndarray) else "scalar"
        self.inputs, self.outputs = self.graph.inputs, self.plan.outputs
        self.orders = self.plan.orders
        self.objects, self.constants = self.plan.objects, self.plan.constants
        self.text = self.module.text if self.module.functions else None
        self.segments, self.work = self.module.segments, self.module.work
        self.arena_size, self.waits = self.module.arena_size, self.module.waits
        self.results = [self.result_of(i, x) for i, x in enumerate(self.outputs)]
        self.begin(level, native)

    def begin(self, level: int, native: bool = True) -> None:
        """Make ready to run what has been planned."""
        self.level = level
        self.bodies = Bodies(level)
        self.specs = [x.spec for x in self.inputs]
        dtypes = [spec.dtype for spec in self.specs]
        self.natives = [x if x.isnative else x.newbyteorder("=") for x in dtypes]
        self.n_in, self.n_out = len(self.inputs), len(self.outputs)
        self.n_table = self.n_in + self.n_out + len(self.objects)
        self.calls = [step for step in self.segments if isinstance(step, Equation)]
        usable = native and object_layout.usable()
        self.performs = bool(usable and self.calls and python_calls.performable(self))
        self.sites = native_records.Numbers()
        sites = python_calls.sites(self, self.sites) if self.performs else []
        # Kept alive, with their addresses.
        addresses = [*[a.ctypes.data for a in self.constants], *sites, 0]
        self.constant_table = np.array(addresses, np.uintp)
        self.segment = np.zeros(1, np.int64)  # where native entries find the code
        self.codes: list[Any] = []  # all that was made: a call under way may still be in it
        self.compile(level)
        self.out_specs = [
            (i, x.spec) for i, x in enumerate(self.outputs) if self.results[i] == "out"
        ]
        self.empty = partial(array_memory.empty, object_layout.creates()) if usable else np.empty
        self.free: deque[Activation] = deque()  # its append and pop are atomic

    def compile(self, level: int) -> None:
        text = self.text
        if self.performs:
            object_layout.shared()  # it is called by name
            text = (text or "") + driver(self.module)
        code = None if text is None else compiled(text, level)
        steps: list[Any] = []
        for step, work in zip(self.segments, self.work, strict=True):
            if isinstance(step, Equation):
                steps.append(step)
            else:
                assert code is not None
                release = work > native_records.RELEASED and not self.waits
                steps.append(code.function(step, 3, release=release))
        # At once for runs that begin now; those under way hold the functions that they began with.
        self.code, self.steps = code, steps
        self.level = level if code is None else code.level  # better than asked where at hand
        if code is not None:
            self.codes.append(code)
            first = next((x for x in self.segments if type(x) is str), "")
            self.segment[0] = code.address("whole" if self.performs else first)

    def result_of(self, i: int, x: Any) -> str:
        """Where output number i comes from."""
        if not isinstance(x, Variable):
            return "constant"
        if x in self.objects:
            return "object"
        return "out" if x.spec.dtype in TYPES and x.spec.size else "place"

    def leaf(self, i: int, x: Any) -> Any:
        """Argument number i as an array or NumPy scalar of its spec."""
        spec = self.specs[i]
        if type(x) is np.ndarray and x.dtype is spec.dtype and x.shape == spec.shape:
            return x
        if type(x) in (bool, int, float, complex) and not spec.shape:
            x = np.asarray(x, spec.dtype)[()]
        elif not isinstance(x, np.generic):
            x = np.asarray(x)
        if x.shape != spec.shape or x.dtype != spec.dtype:
            raise ArgumentTypeError(
                f"A program compiled for {spec} as argument {i} was given {spec_of(x)}."
            )
        return x

    def __call__(self, *leaves: Any) -> tuple[Any, ...]:
        if len(leaves) != self.n_in:
            raise ArgumentTypeError(
                f"A program compiled for {self.n_in} arguments was given {len(leaves)}."
            )
        leaves = tuple([self.leaf(i, x) for i, x in enumerate(leaves)])
        act = self.memory()
        try:
            outs = self.perform(act, leaves)
        except Exception:
            if not self.answers:
                raise
            outs = (False,)
        finally:
            self.free.append(act)
        if not self.answers:
            return outs
        return outs[:-1] if outs[-1] else self.evaluated(leaves)

    def memory(self) -> Activation:
        """Memory that no other run uses meanwhile."""
        try:
            return self.free.pop()
        except IndexError:
            return Activation(self)

    def evaluated(self, leaves: tuple[Any, ...]) -> tuple[Any, ...]:
        """What NumPy does, which mostly raises; each result has memory of its own."""
        if len(self.whole.outputs) > len(self.unchecked.outputs):
            self.whole.evaluate(*leaves)
        outs = self.unchecked.evaluate(*leaves)
        return tuple([np.array(x) if type(x) is np.ndarray else x for x in outs])

    def perform(self, act: Activation, leaves: tuple[Any, ...]) -> tuple[Any, ...]:
        """Run the segments in turn, and what NumPy does between them.

        No graph is interpreted here: the equations are in the segments, but for those of NumPy.
        """
        bases: dict[int, Any] = {}  # by number in the table, in C order
        outs: dict[int, np.ndarray] = {}
        for i, x in enumerate(leaves):
            back = self.orders.inputs[i]
            x = x if back is None else x.transpose(back)
            bases[i] = base = readable(x, self.natives[i])
            act.table[i] = address(base)
        for i, spec in self.out_specs:
            axes = self.orders.outputs[i]
            outs[i] = out = (self.empty if axes is None else lying(axes))(spec.shape, spec.dtype)
            bases[self.n_in + i] = out if axes is None else out.transpose(axes)
            act.table[self.n_in + i] = address(out)
        found: dict[Variable, Any] = dict(zip(self.inputs, leaves, strict=True))
        constants = address(self.constant_table)
        for step in self.steps:
            if isinstance(step, Equation):
                self.call(step, act, bases, found)
            else:
                step(act.address, act.table_address, constants)
        return tuple([self.result(i, act, bases, found, outs) for i in range(self.n_out)])

    def call(self, e: Equation, act: Activation, bases: Any, found: Any) -> None:
        """One operation by NumPy."""
        xs = [
            self.read(x, act, bases, found) if isinstance(x, Variable) else opened(x)
            for x in e.inputs
        ]
        if isinstance(e.primitive, (Rolled, Waiting)):
            out: Any = e.primitive.stepwise(self.bodies.of(e.primitive), xs)
        else:
            out = e.primitive(*xs, **e.static)
        outs = out if e.primitive.n_out is not None else (out,)
        for v, o in zip(e.outputs, outs, strict=True):
            found[v] = o = python_calls.unshared(e, v, o, xs)
            if v.spec.dtype in TYPES:
                k = self.n_in + self.n_out + self.objects[v]
                bases[k] = base = readable(o, v.spec.dtype)
                act.table[k] = address(base)

    def read(self, x: Variable, act: Activation, bases: Any, found: Any) -> Any:
        """The value of a variable, as what NumPy would have there."""
        if x in found:
            return found[x]
        v = self.plan.geometry[x]
        if v.buffer.kind == "arena":
            array = act.view(x, v)
        elif v.buffer.kind == "const":
            array = placed(self.constants[v.buffer.index], v)
        else:
            array = placed(bases[self.module.place(v.buffer)], v)
        return array if x.spec.shape else self.as_kind(x, array, found)

    def as_kind(self, x: Variable, array: np.ndarray, found: Any) -> Any:
        """A result without axes: a scalar or an array, as NumPy has it."""
        kind = self.kinds.get(x, "scalar")
        if isinstance(kind, Variable):
            like = found.get(kind)
            kind = "array" if isinstance(like, np.ndarray) else "scalar"
        return array if kind == "array" else array[()]

    def result(self, i: int, act: Activation, bases: Any, found: Any, outs: Any) -> Any:
        x, how = self.outputs[i], self.results[i]
        if how == "constant":
            x = opened(x)
            return x.copy() if isinstance(x, np.ndarray) else x
        if how == "out":
            array = outs[i]
            return array if x.spec.shape else self.as_kind(x, array, found)
        value = self.read(x, act, bases, found)
        if not isinstance(value, np.ndarray):
            return value
        first = next(j for j, other in enumerate(self.outputs) if other is x)
        owned = how == "object" and value.base is None and is_writable(value) and first == i
        return value if owned else value.copy()


def readable(x: Any, dtype: np.dtype) -> np.ndarray:
    """An array as machine code reads it: contiguous, aligned, in the machine's order of bytes."""
    if type(x) is np.ndarray and x.dtype is dtype:
        flags = x.flags
        return x if flags.c_contiguous and flags.aligned else x.copy()
    if isinstance(x, np.generic):
        return np.asarray(x, dtype)
    return np.require(x, dtype, ["C", "A"])


def listed(run: Run) -> str:
    """The plan in words."""
    names: dict[Variable, str] = {}

    def name(x: Any) -> str:
        if isinstance(x, Variable):
            return names.setdefault(x, letters(len(names)))
        x = opened(x)
        return str(spec_of(x)) if np.ndim(x) else repr(x)

    def line(e: Equation) -> str:
        left = ", ".join([f"{name(v)}: {v.spec}" for v in e.outputs])
        static = "".join([f" {key}={value}" for key, value in e.static.items()])
        return f"{left} = {e.primitive}{static} " + " ".join(map(name, e.inputs))

    lines = ["(" + ", ".join([f"{name(x)}: {x.spec}" for x in run.graph.inputs]) + ") ->"]
    words = {"call": "by NumPy", "matmul": "product", "solve": "system of equations"}
    words |= {"convolve": "convolution", "search": "search"}
    for piece in run.plan.pieces:
        what = words.get(piece.role)
        if piece.role == "loop":
            loop = piece.items[0].equation.primitive
            what = f"{loop.length} steps" if isinstance(loop, Rolled) else str(loop)
        if what is None:
            what = f"loop over {list(piece.shape)}" if piece.shape else "numbers"
        lines.append(f"  {what}:")
        for item in piece.items:
            where = ""
            if item.role != "call" and run.plan.is_stored(item):
                view = run.plan.geometry[item.equation.outputs[0]]
                where = f"    -> {view.buffer.kind} {view.buffer.index}"
            lines.append(f"    {line(item.equation)}{where}")
    lines.append("  return " + ", ".join(map(name, run.plan.outputs)))
    return "\n".join(lines)
