"""Compiled functions inside transformations: a call is one operation, whose rules are compiled.

The values of the operands choose the path, as in a plain call. The path's graph is a primitive:
its jvp, vjp and batch are graphs, staged when they are first needed, and primitives themselves.
So every order and every nesting is machine code.

Under a batch the first example answers what Python asked, if the answer cannot depend on the
example. Where no path stands for a call, the function runs in Python.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from time import thread_time
from typing import Any

import numpy as np

from ...core.array import Array, arrayed, current, is_number
from ...core.cotangent import Cotangent, Masked, dense, fit, masked
from ...core.graph import Graph, Variable
from ...core.node import constant_node
from ...core.primitive import Primitive, match
from ...core.reach import call_inside
from ...core.spec import is_inexact, spec_of
from ...core.trace import CONSTANT, STARTS, run, running
from ...core.tree import flatten, unflatten
from ...primitives.shapes import astype_p
from ...transforms.backward import backward
from ...transforms.batch import BatchTrace
from ...transforms.common import settle
from ...transforms.eager import EagerTrace
from ...transforms.forward import ForwardTrace, LinearizeTrace
from ...transforms.reverse import ReverseTrace
from ..facts.call_monitor import WATCHING, Watch
from ..fall_back import attempted
from ..first_call import Faster, faster
from ..loops.roll import rolled
from ..path import SECOND, Call, Path, raising
from ..program import SpecChangedError, build
from ..record.compile_trace import CompileTrace, Questions
from ..record.recording import as_kind, share_memory
from ..record.verify import example
from . import reasons
from .record_call import record_call
from .trial import is_timed

__all__ = ["composed"]

RULES = 64  # of one primitive, before they are forgotten


def composed(compiled: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Call a compiled function on Arrays, or inside a transformation."""
    quick = compiled.quick_node
    if quick is not None and not kwargs:
        fitting = quick.fits(args)
        if fitting is not None:
            compiled.hits += 1
            return quick.node.alone(args, fitting)
    begun = thread_time()
    refused = compiled.refusal is not None or WATCHING.get() or raising() or compiled.carried
    try:
        call = None if refused else arranged(compiled, args, kwargs)
    except RecursionError:  # a list that holds itself, or one in many others
        call = None
    if call is None:
        return call_inside(compiled.fun, args, kwargs)
    entry, timed = compiled.entry(call.key), is_timed(compiled)
    if timed and entry.paths and entry.paths[0].is_awaited():
        compiled.last_way = reasons.AWAITED
        return call_inside(compiled.fun, args, kwargs)
    found = compiled.match(entry, call.arrays, call.numbers) if entry.paths else None
    if found is not None:
        path, values = found
        if path.node is None:
            path.node = PathNode(path, compiled.__name__)
        xs = [*[call.leaves[i] for i in call.inputs], *call.numbers]
        if path.node.stands_for(xs):
            compiled.hits += 1
            compiled.quick_node = QuickNode.of(path, args, kwargs, xs)
            if not any(map(batched, xs)):
                return path.node(xs, values)
            try:
                return path.node(xs, values)
            except Exception:  # for another example than the first: the function may catch it
                pass
        return call_inside(compiled.fun, args, kwargs)
    if entry.python or compiled.refusal is not None:
        return call_inside(compiled.fun, args, kwargs)
    if timed and not entry.early.is_over:
        compiled.last_way = reasons.EARLY
        return entry.early.run(begun, call_inside, (compiled.fun, args, kwargs), {})
    compiled.misses += 1
    if share_memory(call.arrays):
        return call_inside(compiled.fun, args, kwargs)
    return record_call(compiled, entry, call, args, kwargs)


def arranged(compiled: Any, args: Any, kwargs: dict[str, Any]) -> Call | None:
    """The arguments as for a plain call, Arrays by their values; None if there are no Arrays.

    The leaves are the Arrays. What is live and what is constant are calls of another kind, since
    what may be converted differs.
    """
    leaves, structure = flatten([list(args), kwargs])
    plain, marks, values = list(leaves), [], {}
    for i, x in enumerate(leaves):
        if type(x) is Array:
            value = example(x)
            if value is None or value.dtype.kind not in "biufc":
                return None
            marks.append((i, is_number(x), x.within is CONSTANT))
            values[i] = value
            plain[i] = np.asarray(value)
    if not marks:
        return None
    plain_args, plain_kwargs = unflatten(structure, plain)
    call = compiled.arrange(plain_args, plain_kwargs)
    if call is None:
        return None
    return call._replace(
        leaves=leaves,
        key=(call.key, tuple(marks)),
        arrays=[values.get(i, leaves[i]) for i in call.inputs],
    )


def batched(x: Any) -> bool:
    while type(x) is Array:
        if isinstance(x.within, BatchTrace):
            return True
        x = x.value
    return False


class QuickNode:
    """The path of a call whose arguments are Arrays of values alone, as they were in the last."""

    __slots__ = ("node", "path", "specs", "strict")

    def __init__(self, path: Path, xs: Sequence[Any]) -> None:
        self.path, self.node = path, path.node
        values = [example(x) for x in xs]
        self.specs = [(type(x), x.dtype, x.shape) for x in values]
        self.strict = np.geterr()

    @classmethod
    def of(cls, path: Path, args: Any, kwargs: Any, xs: Sequence[Any]) -> QuickNode | None:
        alone = not kwargs and len(xs) == len(args) and all(map(operator.is_, args, xs))
        ready = path.improving and path.program.simple and path.numbers is None
        ready = ready and path.recording.orders is None
        return cls(path, xs) if alone and ready and all(map(followed, xs)) else None

    def fits(self, args: Any) -> Any:
        """The results for the values of the arguments; None if this path may be the wrong one."""
        if len(args) != len(self.specs):
            return None
        values = []
        for x, (kind, dtype, shape) in zip(args, self.specs):  # noqa: B905  # hot
            if type(x) is not Array:
                return None
            while type(x) is Array:
                if x.storage is not None or type(x.within) not in FOLLOWED:
                    return None
                x = x.value
            if type(x) is not kind or x.dtype is not dtype or x.shape != shape:
                return None
            values.append(x)
        path = self.path
        if WATCHING.get() or STARTS.get() is not None or np.geterr() != self.strict:
            return None
        if not path.state.holds(path.token):
            return None
        try:
            outs, answers = path.computed(values)
            return outs if answers == path.answers else None
        except Exception:  # the program itself says what it does about it
            return None


FOLLOWED = (ReverseTrace, ForwardTrace, LinearizeTrace, EagerTrace)


def followed(x: Any) -> bool:
    """Whether x is an Array with a value, which no assignment has changed."""
    if type(x) is not Array:
        return False
    while type(x) is Array:
        if x.storage is not None or type(x.within) not in FOLLOWED:
            return False
        x = x.value
    return True


class Ready:
    """Results that have been computed already; they are used once."""

    __slots__ = ("outs",)

    def __init__(self, outs: Any) -> None:
        self.outs = outs

    def take(self) -> Any:
        outs, self.outs = self.outs, None
        return outs


class PathNode:
    """What a path is in a transformation."""

    def __init__(self, path: Path, name: str) -> None:
        recording = path.recording
        graph, n = recording.graph, path.n_results
        self.recording, self.name = recording, name
        self.n = len(graph.inputs)
        outputs = graph.outputs[:n]
        self.graph = rolled(Graph(graph.inputs, graph.equations, outputs).pruned())
        reached = origins(graph)
        self.origins = [reached[x] for x in outputs]
        moving = origins(graph, moving=True)
        self.moving = [moving[x] for x in outputs]
        self.asked = 0
        for x in graph.outputs[n:]:
            self.asked |= reached[x] if isinstance(x, Variable) else 0
        kinds = [
            kind
            for x, kind in zip(recording.outputs, recording.kinds, strict=True)
            if isinstance(x, Variable)
        ]
        self.arrays = {  # results without axes that are arrays and no scalars
            j
            for j, x in enumerate(self.graph.outputs)
            if kinds[j] is np.ndarray and not x.spec.shape
        }
        self.plain = not (recording.written or recording.suspends or recording.stores)
        self.plans: dict[Any, Any] = {}
        # The operation, where its result is all that there is, and needs no more than to be bound.
        self.sole: Compound | None = None
        alone = recording.structure is None and recording.placed == [None] and len(kinds) == 1
        if alone and not self.arrays and is_inexact(self.graph.outputs[0].spec.dtype):
            ((compound, _, inputs),) = self.plan([0] * self.n) or [(None, None, ())]
            self.sole = compound if len(inputs) == self.n else None

    def stands_for(self, xs: Sequence[Any]) -> bool:
        """Whether the path is what the function does on these Arrays."""
        if not self.plain or not self.asked:
            return self.plain
        return not any(self.asked >> i & 1 and batched(xs[i]) for i in range(self.n))

    def alone(self, xs: Sequence[Any], values: Sequence[Any]) -> Any:
        """The same for Arrays none of which is mapped; the short way for one result of them all."""
        trace = xs[0].within
        if self.sole is None or any([x.within is not trace for x in xs]):  # noqa: C419  # hot
            return self(xs, values)
        return trace.process(self.sole, xs, {"ready": Ready(values[:1])})

    def __call__(self, xs: Sequence[Any], values: Sequence[Any]) -> Any:
        """The output tree; `values` are the results for the plain values of xs."""
        xs = xs[: self.n]
        births = [current(x).within.birth if type(x) is Array else -1 for x in xs]
        ages = sorted({-1, *births})
        ranks = tuple([ages.index(birth) for birth in births])
        plan = self.plans.get(ranks)
        if plan is None:
            plan = self.plans[ranks] = self.plan(births)
        results: list[Any] = list(values)
        ready = not any(map(batched, xs))
        traced = set()
        for compound, at, inputs in plan:
            static = {"ready": Ready(tuple([values[j] for j in at]))} if ready else {}
            outs = compound(*[xs[i] for i in inputs], **static)
            for j, out in zip(at, outs if compound.n_out is not None else (outs,), strict=True):
                results[j] = out
                traced.add(j)
        inside = running() is not None
        leaves, k = [], 0
        recording = self.recording
        for x, kind, placed in zip(
            recording.outputs, recording.kinds, recording.placed, strict=True
        ):
            if not isinstance(x, Variable):
                out = as_kind(x, kind)
            else:
                out = results[k]
                if type(out) is not Array:
                    out = as_kind(out, kind)
                elif kind is np.ndarray and not out.shape:
                    out = arrayed(out)
                k += 1
            if placed is not None and kind is np.ndarray and out.shape:
                axes, dtype = placed
                axes = tuple(range(out.ndim)) if axes is None else axes
                out = astype_p(out, dtype=dtype, order=axes)
            if inside and type(out) is np.ndarray:
                out = Array(out, CONSTANT, None)  # it may be assigned to
            leaves.append(out)
        return unflatten(self.recording.structure, leaves)

    def plan(self, births: Sequence[int]) -> list[Any]:
        """The results by the youngest trace that they depend on, and their operands."""
        groups: dict[Any, list[int]] = {}
        for j, origin in enumerate(self.origins):
            youngest = max([b for i, b in enumerate(births) if origin >> i & 1], default=-1)
            if youngest >= 0:
                still = not any(b >= 0 and self.moving[j] >> i & 1 for i, b in enumerate(births))
                groups.setdefault((youngest, still), []).append(j)
        plan = []
        for at in groups.values():
            needed = moving = 0
            for j in at:
                needed |= self.origins[j]
                moving |= self.moving[j]
            inputs = [i for i in range(self.n) if needed >> i & 1]
            graph = Graph(
                [self.graph.inputs[i] for i in inputs],
                self.graph.equations,
                [self.graph.outputs[j] for j in at],
            ).pruned()
            compound = Compound(self.name, graph)
            compound.nondiff = tuple([k for k, i in enumerate(inputs) if not moving >> i & 1])
            compound.arrays = [k for k, j in enumerate(at) if j in self.arrays]
            plan.append((compound, at, inputs))
        return plan


def origins(graph: Graph, moving: bool = False) -> dict[Any, int]:
    """For each variable the inputs that it depends on, or moves with, as bits."""
    found = {x: 1 << i for i, x in enumerate(graph.inputs)}
    if moving:
        found = {x: bit if is_inexact(x.spec.dtype) else 0 for x, bit in found.items()}
    for equation in graph.equations:
        primitive, bits = equation.primitive, 0
        if not moving or not (primitive.inert or primitive.constant):
            for i, x in enumerate(equation.inputs):
                if isinstance(x, Variable) and not (moving and i in primitive.nondiff):
                    bits |= found[x]
        for x in equation.outputs:
            found[x] = bits if not moving or is_inexact(x.spec.dtype) else 0
    return found


class Compound(Primitive):
    """A graph as one primitive. Its rules are graphs that are staged when they are needed.

    Structure is kept: what has no derivative is None, and what is present in a part only is masked,
    as it would be if each operation were a node of its own.
    """

    reads = "xs"
    structured = True
    made_of = ("name", "graph")

    def __init__(self, name: str, graph: Graph) -> None:  # it is not entered among the primitives
        self.name, self.graph = name, graph
        n = len(graph.outputs)
        self.n_out = None if n == 1 else n
        self.specs = tuple(
            [spec_of(x) if not isinstance(x, Variable) else x.spec for x in graph.outputs]
        )
        self.nondiff = tuple(
            [i for i, x in enumerate(graph.inputs) if not is_inexact(x.spec.dtype)]
        )
        self.arrays: Sequence[int] = ()
        self.rules: dict[Any, Any] = {}
        self.compute: Callable[..., Any] = graph.evaluate
        self.program: Any = None
        self.runs = 0

    def value(self, *xs: Any, ready: Ready | None = None) -> Any:
        outs = None if ready is None else ready.take()
        if outs is None:
            if self.runs <= SECOND:
                self.warm()
            try:
                outs = self.compute(*xs)
            except SpecChangedError:
                outs = self.graph.evaluate(*xs)
        if self.arrays:
            outs = tuple([np.array(x) if i in self.arrays else x for i, x in enumerate(outs)])
        return outs if self.n_out is not None else outs[0]

    def warm(self) -> None:
        """Make machine code, and better machine code once there were enough runs."""
        if self.program is None:
            self.program = attempted(lambda: build(self.graph, 0), self.name)
            if self.program is None:
                self.runs = SECOND + 1  # it is not tried again
                return
            self.compute = self.program.entry
        self.runs += 1
        if self.runs == SECOND:
            self.program.improve_later()

    def spec(self, *xs: Any, ready: Any = None) -> Any:
        return self.specs if self.n_out is not None else self.specs[0]

    def jvp(self, out: Any, xs: Any, x_dots: Any, ready: Any = None) -> Any:
        moving = tuple([dot is not None for dot in x_dots])

        def push(*leaves: Any) -> list[Any]:
            return pushed(self.graph, leaves, moving)

        dots = [dot for dot in x_dots if dot is not None]
        out_dots = self.apply(("jvp", moving), push, [*xs, *dots])
        return tuple(out_dots) if self.n_out is not None else out_dots[0]

    def pull(self, out_bar: Any, residual: Any, wanted: Any) -> Any:
        n = self.n_out
        bars = [out_bar] if n is None else [out_bar.bars.get(i) for i in range(n)]
        leaves: list[Any] = []
        forms: list[str | None] = []
        for bar, spec in zip(bars, self.specs, strict=True):
            if issubclass(type(bar), Cotangent):
                bar = bar.present() if bar.lazy else bar
            if issubclass(type(bar), Cotangent):
                bar = masked(bar, True)
                if bar.mask is True:
                    bar = bar.value
            if bar is None:
                forms.append(None)
            elif type(bar) is Masked:
                forms.append("masked")
                leaves += [bar.mask, fit(bar.value, spec)]
            else:
                forms.append("dense")
                leaves.append(fit(bar, spec))
        mask = tuple([parent is not None for parent in wanted])

        def back(*leaves: Any) -> list[Any]:
            return pulled(self.graph, leaves, mask, forms)

        xs = residual.opened().xs
        found = self.apply(("vjp", mask, tuple(forms)), back, [*xs, *leaves])
        return [
            match(Masked(*x_bar) if type(x_bar) is tuple else x_bar, x, "vjp", self.name)
            for x_bar, x in zip(found, xs, strict=True)
        ]

    def batch(self, xs: Any, mapped: Any, size: int, ready: Any = None) -> Any:
        def spread(*leaves: Any) -> list[Any]:
            return mapped_over(self.graph, leaves, mapped, size)

        outs = self.apply(("batch", mapped, size), spread, xs)
        return tuple(outs) if self.n_out is not None else outs[0]

    def apply(self, key: Any, rule: Callable[..., Any], xs: Sequence[Any]) -> Any:
        """The results of a rule, which are a tree of arrays, by its graph."""
        found = self.rules.get(key)
        if found is None:
            found = derived(f"{key[0]} of {self.name}", rule, xs)
            if len(self.rules) >= RULES:
                self.rules.clear()
            self.rules[key] = found
        if found == "plain":
            return rule(*xs)
        structure, leaves, at, compound = found
        if compound is None:
            return unflatten(structure, leaves)
        outs = compound(*xs)
        leaves = list(leaves)
        for i, out in zip(at, outs if compound.n_out is not None else (outs,), strict=True):
            leaves[i] = out
        return unflatten(structure, leaves)


def derived(name: str, rule: Callable[..., Any], xs: Sequence[Any]) -> Any:
    """A rule as a primitive: (structure of the results, leaves, which of them it computes, it).

    "plain" if the rule does not always do the same, or runs code of the user's.
    """
    values = [example(x) if type(x) is Array else x for x in xs]
    if any(x is None for x in values):
        return "plain"
    watch = Watch()
    trace = CompileTrace("compile", rule, Questions(watch, traced=True))
    notes = trace.state
    inputs = [Variable(spec_of(x)) for x in values]
    arrays = [Array(x, trace, v) for x, v in zip(values, inputs, strict=True)]
    try:
        with faster(Faster()), watch, np.errstate(all="ignore"):
            out = run(trace, rule, arrays, {})
        leaves, structure = flatten(out)
        leaves = [settle(leaf, trace) for leaf in leaves]
        at, outputs = [], []
        for i, leaf in enumerate(leaves):
            if type(leaf) is Array:
                at.append(i)
                outputs.append(trace.variable(leaf))
        if notes.guards or notes.captured or watch.codes or watch.effects:
            return "plain"
        graph = Graph(inputs, notes.equations, outputs).pruned()
    finally:
        trace.end()
    kept = [None if type(leaf) is Array else leaf for leaf in leaves]
    return structure, kept, at, Compound(name, graph) if outputs else None


def pushed(graph: Graph, leaves: Sequence[Any], moving: Sequence[bool]) -> list[Any]:
    """The tangents of a graph's results; None for zero."""
    n = len(graph.inputs)
    dots = iter(leaves[n:])
    trace = ForwardTrace("jvp")
    try:
        outs = graph.evaluate(
            *[Array(x, trace, next(dots)) if m else x for x, m in zip(leaves, moving, strict=False)]
        )
        return [
            stripped(dense(x.node), trace)
            if type(x) is Array and current(x).within is trace
            else None
            for x in outs
        ]
    finally:
        trace.end()


def pulled(
    graph: Graph, leaves: Sequence[Any], wanted: Sequence[bool], forms: Sequence[Any]
) -> list[Any]:
    """The cotangents of a graph's inputs: None, an array, or (mask, array)."""
    n = len(graph.inputs)
    rest = iter(leaves[n:])
    trace = ReverseTrace("vjp")
    nodes = [constant_node() if want else None for want in wanted]
    try:
        outs = graph.evaluate(
            *[
                x if node is None else Array(x, trace, node)
                for x, node in zip(leaves, nodes, strict=False)
            ]
        )
        seeds = []
        for out, form in zip(outs, forms, strict=True):
            if form is None:
                continue
            bar = next(rest) if form == "dense" else Masked(next(rest), next(rest))
            if type(out) is Array and current(out).within is trace:
                seeds.append((out.node, bar))
        backward(seeds)
        return [None if node is None else parted(node, trace) for node in nodes]
    finally:
        trace.end()


def parted(node: Any, trace: Any) -> Any:
    bar: Any = getattr(node, "bar", None)
    node.bar = None
    if issubclass(type(bar), Cotangent) and bar.lazy:
        bar = bar.present()
    if issubclass(type(bar), Cotangent):
        bar = masked(bar, True)
        if bar.mask is not True:
            return stripped(bar.mask, trace), stripped(bar.value, trace)
        bar = bar.value
    return stripped(bar, trace)


def stripped(x: Any, trace: Any) -> Any:
    """What a rule that closes over an Array of a trace has given, without the trace."""
    while type(x) is Array and (current(x).within is trace or x.within is CONSTANT):
        x = x.value
    return x


def mapped_over(
    graph: Graph, leaves: Sequence[Any], mapped: Sequence[bool], size: int
) -> list[Any]:
    """The results for all examples, the batch axis in front."""
    trace = BatchTrace("vmap", None, size)
    try:
        outs = graph.evaluate(
            *[Array(x, trace, None) if m else x for x, m in zip(leaves, mapped, strict=True)]
        )
        return [
            x.value
            if type(x) is Array and current(x).within is trace
            else np.broadcast_to(x, (size, *x.shape))
            for x in outs
        ]
    finally:
        trace.end()
