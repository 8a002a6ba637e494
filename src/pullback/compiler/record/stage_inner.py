"""Staging: functions that are differentiated inside a recording are recorded first, and rolled.

A direct recording of a gradient would contain the backward pass, in which each operation of each
step of a loop appears again in its own form. Instead, the function itself is recorded without
derivatives; in that recording loops are easily found, and the transformation differentiates them by
the rules of `Scan`. The guards of the function become guards on the loops.

If a recording consists of a single transformation, transforming its function's graph runs none of
the user's code, and can be done after the call (`PostponedCall`).
"""

from __future__ import annotations

import dis
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

from ...core.array import Array
from ...core.graph import Equation, Graph, Variable
from ...core.leftover import StoredArrays
from ...core.primitive import Primitive
from ...core.reach.bytecode import original
from ...core.reach.calls import call_inside
from ...core.spec import Spec, is_inexact, spec_of
from ...core.storage import adopt, current
from ...core.temporary import during
from ...core.trace import CONSTANT, derivatives_of, run
from ...core.tree import flatten, unflatten
from ...primitives.assignment import setitem_p
from ...primitives.elementwise import stopped
from ...primitives.indexing import getitem_p
from ...transforms.batch import BatchTrace
from ...transforms.eager import EagerTrace
from ...transforms.loops.body import example
from ...transforms.returned import settle
from ...transforms.reverse import STAGED
from ..facts.call_monitor import Watch, unwatched
from ..loops.roll import packed, rolled
from .compile_trace import CompileTrace
from .gated import gated
from .guards import Guard, Questions
from .own_code import is_ours
from .recording import LayoutQuestions, with_raising
from .while_loops import LOST, lost

# Straight code that calls no other of the user's, and does so few operations, has no loop to find:
# from its second call on it is recorded by the transformations around it, in half of the time.
BRIEF = 12
CHANGED = "it changes a container that was passed to it"
Stage = Callable[[str, Callable[..., Any]], Callable[..., Any]]  # from a verb and a function


def staging(stage: Stage | None = None) -> AbstractContextManager[None]:
    """Functions that are differentiated in this block are recorded first, or as `stage` decides."""
    return during(STAGED, stage or Staged)


class LiveVariables(Questions):
    """The notes of a trace, with the variables that have derivatives to lose.

    taken: Arrays around that the function wrote into without being given them, and what they were.
    """

    def __init__(self, watch: Watch) -> None:
        super().__init__(watch)
        self.live: set[Variable] = set()
        self.taken: list[tuple[Array, Array]] = []


class ValueTrace(CompileTrace):
    """Records a function on plain values."""

    __slots__ = ()

    def at_length(self, primitive: Primitive, xs: tuple[Any, ...], static: dict[str, Any]) -> Any:
        out = CompileTrace.at_length(self, primitive, xs, static)
        if any(self.is_live(x) for x in xs if type(x) is Array):
            for x in out if type(out) is tuple else (out,):
                if type(x) is Array and x.payload.dtype.kind in "fc":
                    self.state.live.add(x.node)
        return out

    def number(self, x: Array) -> Array:
        out = CompileTrace.number(self, x)
        if self.is_live(x):
            self.state.live.add(out.node)
        return out

    def is_live(self, x: Array) -> bool:
        """Whether the transformations around would lose a derivative with x."""
        return x.node in self.state.live if x.within is self else is_differentiated(x)

    def foreign(self, x: Array) -> Any:
        return example(x)

    def takes(self, x: Array) -> None:
        self.state.taken.append((x, Array(x.payload, x.within, x.node)))

    def converts(self, x: Array, asked: str) -> bool:
        return not self.is_live(x)

    def peels(self, x: Array) -> bool:
        return not self.is_live(x)

    def detached(self, x: Array) -> Any:
        if not self.is_live(x):
            return x
        out = stopped(x)
        self.state.live.discard(out.node)
        return out


class Staged:
    """A function to be differentiated: called on Arrays, it is recorded, and then replayed."""

    postpones = False

    def __init__(self, verb: str, fun: Callable[..., Any]) -> None:
        self.verb, self.fun = verb, fun

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        leaves, _ = flatten([list(args), kwargs])
        base = around([x for x in leaves if type(x) is Array])
        if base is None:
            return call_inside(self.fun, args, kwargs)
        if code_of(self.fun) in base.state.watch.brief:
            return self.at_once(base, args, kwargs)
        try:
            return InnerCall(self.verb, self.fun, base).outcome(args, kwargs, self.postpones)
        except AsksExamples:
            return call_inside(self.fun, args, kwargs)

    def at_once(self, base: CompileTrace, args: Any, kwargs: Any) -> Any:
        """The result of a function that was brief when it was called before; if it still is."""
        equations = base.state.equations
        before = len(equations)
        out = call_inside(self.fun, args, kwargs)
        if len(equations) > before + BRIEF:
            base.state.watch.brief.discard(code_of(self.fun))
        return out


class Postponed(Staged):
    """The same, but its replay waits if it can: then `PostponedCall` is raised."""

    postpones = True


class AsksExamples(BaseException):
    """A function asks for values that differ between the examples of a batch.

    One recording can't answer for all of them. The function is recorded by the transformations
    around it, under which it asks as it does eagerly. It has left nothing behind, so it may run
    again.
    """


def code_of(fun: Any) -> Any:
    """The code of a function, the same for all its closures; None for other callables."""
    return original(fun.__code__) if type(fun) is FunctionType else None


@lru_cache(4096)
def is_straight(code: CodeType) -> bool:
    """Whether code does each of its instructions once at most, and has no other code in it."""
    names = [step.opname for step in dis.get_instructions(code)]
    loops = any(name == "FOR_ITER" or name.startswith("JUMP_BACKWARD") for name in names)
    return not loops and not any(isinstance(x, CodeType) for x in code.co_consts)


def around(arrays: list[Array]) -> CompileTrace | None:
    """The trace that records these Arrays; None if values alone do not stand for them."""
    found: CompileTrace | None = None
    for x in arrays:
        while type(x) is Array and x.within is not CONSTANT:
            trace = x.within
            if x.storage is not None or trace.ended or isinstance(trace, EagerTrace):
                return None
            if isinstance(trace, CompileTrace) and (found is None or trace.birth > found.birth):
                found = trace
            x = x.payload
    return found


def is_differentiated(x: Array) -> bool:
    """Whether an Array of an outer trace has a derivative to lose."""
    if type(x.within) is ValueTrace:
        return x.within.is_live(x)
    return is_inexact(x.dtype) and x.within is not CONSTANT and type(x.within) is not CompileTrace


def recorded(x: Any, asked: str | None = None) -> Array | None:
    """The recording trace's Array of a value; a mapped one refuses to be asked."""
    while type(x) is Array and not isinstance(x.within, CompileTrace):
        if asked is not None and isinstance(x.within, BatchTrace):
            x.within.concrete(x, asked)
        x = x.payload
    return x if type(x) is Array else None


def is_mapped(x: Any) -> bool:
    """Whether x differs between the examples of a batch inside the recording."""
    while type(x) is Array and not isinstance(x.within, CompileTrace):
        if isinstance(x.within, BatchTrace):
            return True
        x = x.payload
    return False


@dataclass(slots=True)
class InnerRecord:
    """What one call of a function has left: its result, and the graph that computes it.

    leaves: of the result; those in the places `at` are variables.
    assigned: the Arrays around that were written into, each with what it holds in the end.
    stored: Arrays that were stored elsewhere, and how many.
    captured: Arrays around that were read, beside arguments.
    """

    leaves: list[Any]
    structure: Any
    at: list[int]
    assigned: list[tuple[Array, Any]]
    stored: StoredArrays
    n_stored: int
    captured: list[Array]
    graph: Graph

    @property
    def n_results(self) -> int:
        return len(self.at) + len(self.assigned) + self.n_stored


class InnerCall:
    """One call of a function, recorded on values."""

    def __init__(self, verb: str, fun: Callable[..., Any], base: CompileTrace) -> None:
        self.fun, self.base, self.notes = fun, base, LiveVariables(base.state.watch)
        self.notes.located = base.state.located
        self.trace = ValueTrace(verb, fun, self.notes)
        self.inputs: dict[int, tuple[Array, Array, Variable]] = {}
        self.questions, self.begun = LayoutQuestions(), base.state.watch.begun

    def outcome(self, args: Any, kwargs: dict[str, Any], postpones: bool) -> Any:
        args = [self.lifted(x) for x in args]
        kwargs = {name: self.lifted(x) for name, x in kwargs.items()}
        leaves, structure = flatten([args, kwargs])
        try:
            result = run(self.trace, self.fun, args, kwargs)
            after, structure_after = flatten([args, kwargs])
            if structure != structure_after or any(map(is_not, leaves, after)):
                self.notes.raised = self.notes.raised or CHANGED
            written = self.written(result)
            if postpones and self.can_wait(written):
                raise PostponedCall(self, written)
            if self.is_brief():
                self.notes.watch.brief.add(code_of(self.fun))
            return self.repeated(written)
        finally:
            self.tell()
            self.trace.end()

    def is_brief(self) -> bool:
        code, notes = code_of(self.fun), self.notes
        alone = notes.watch.begun <= self.begun + 1 and not notes.guards
        return alone and len(notes.equations) <= BRIEF and code is not None and is_straight(code)

    def tell(self) -> None:
        """Note in the outer recording why it can't be kept."""
        notes = self.base.state
        notes.raised = notes.raised or self.notes.raised
        notes.unlike |= self.notes.unlike
        notes.suspends |= self.notes.suspends

    def can_wait(self, written: InnerRecord) -> bool:
        """Whether what is left to do runs none of the user's code and touches nothing of his."""
        notes, watch = self.notes, self.notes.watch
        if self.questions.asked() or self.questions.decided():
            return False
        if written.captured or watch.warned or watch.imports or watch.cast or watch.lost:
            return False
        for x in (notes, self.base.state):
            if x.raised or x.unlike or x.unsure or x.suspends or x.captured:
                return False
        if notes.guards and any(map(is_mapped, [x for x, _, _ in self.inputs.values()])):
            return False
        return not self.stores(written) and is_all_ours(written.graph)

    def stores(self, written: InnerRecord) -> bool:
        """Whether the call has left something behind, beside its result."""
        located = None if self.notes.located is None else self.notes.located()
        elsewhere = located is not None and (located.stores or located.why is not None)
        within = written.assigned or written.n_stored or self.notes.watch.effects
        return bool(elsewhere or within)

    def lifted(self, x: Any) -> Any:
        """An argument with its Arrays replaced; what holds none stays the object that it is."""
        leaves, structure = flatten(x)
        if Array not in map(type, leaves):
            return x
        return unflatten(structure, [self.enter(leaf) for leaf in leaves])

    def enter(self, x: Any) -> Any:
        if type(x) is not Array or x.within is CONSTANT:
            return x
        if id(x) not in self.inputs:
            value, below = example(x), recorded(x)
            node = Variable(spec_of(value))
            if below is not None and below.node in below.within.state.weak:
                self.notes.weak.add(node)
            if is_differentiated(x):
                self.notes.live.add(node)
            self.notes.derivatives = max(self.notes.derivatives, derivatives_of(x))
            self.inputs[id(x)] = x, Array(value, self.trace, node), node
        return self.inputs[id(x)][1]

    def written(self, result: Any) -> InnerRecord:
        """What the call has left, once the function has run."""
        notes, trace = self.notes, self.trace
        leaves, structure = flatten(result)
        at = []
        for i, x in enumerate(leaves):
            if type(x) is Array and current(x).within is not CONSTANT:
                leaves[i] = trace.variable(settle(x, trace))
                at.append(i)
        assigned = [
            (outer, trace.variable(current(inner)))
            for outer, inner, node in self.inputs.values()
            if current(inner).node is not node
        ]
        for outer, before in notes.taken:
            assigned.append((outer, trace.variable(current(outer))))
            adopt(outer, before)
        stored = StoredArrays(trace)
        left = [trace.variable(current(x)) for x in stored.arrays]
        captured = list(notes.captured.values())
        graph = Graph(
            [*[node for _, _, node in self.inputs.values()], *[node for _, node in captured]],
            gated(notes),
            [*[leaves[i] for i in at], *[x for _, x in assigned], *left]
            + [guard.variable for guard in notes.guards],
        )
        arrays = [x for x, _ in captured]
        return InnerRecord(leaves, structure, at, assigned, stored, len(left), arrays, graph)

    def repeated(self, written: InnerRecord) -> Any:
        """The result, computed on the Arrays with which the function was called."""
        with unwatched():
            graph = with_raising(written.graph, self.notes)
            if lost(self.notes, graph):
                self.base.state.raised = self.base.state.raised or LOST
            graph, places = packed(rolled(graph.pruned()), written.n_results)
            graph = donating(graph)
        outs = graph.evaluate(*[outer for outer, _, _ in self.inputs.values()], *written.captured)
        n_guards = len(self.notes.guards)
        if any(is_mapped(outs[i]) for i, _ in places[:n_guards]) and not self.stores(written):
            raise AsksExamples
        with unwatched():
            self.ask(outs, places[:n_guards])
            for i in {i for i, _ in places[n_guards:]}:
                x = recorded(outs[i])
                if x is not None:
                    x.within.state.raising.append(x.node)
        n, assigned = len(written.at), written.assigned
        for (outer, _), x in zip(assigned, outs[n:], strict=False):
            outer[...] = x
        leaves = list(written.leaves)
        for i, x in zip(written.at, outs, strict=False):
            leaves[i] = x
        written.stored.replace(outs[n + len(assigned) :][: written.n_stored])
        return unflatten(written.structure, leaves)

    def ask(self, outs: Any, places: list[tuple[int, int | None]]) -> None:
        """Note the guards of the function in the outer recording."""
        for guard, (i, row) in zip(self.notes.guards, places, strict=True):
            x = recorded(outs[i], guard.asked)
            if x is None:
                continue
            notes, variable = x.within.state, x.node
            if row is not None:
                variable = Variable(Spec(x.shape[1:], x.dtype))
                notes.equations.append(Equation(getitem_p, (x.node,), (variable,), {"key": (row,)}))
            at = len(notes.equations)
            asked = guard.asked, guard.answer, guard.line, at, guard.of_loop
            notes.guards.append(Guard(variable, *asked))


class PostponedCall(BaseException):
    """Leaves a transformation when its function has been recorded; what is left can wait.

    Called instead of the function when the transformation runs again on equal arguments, it gives
    what the function would have given.
    """

    def __init__(self, call: InnerCall, written: InnerRecord) -> None:
        self.call, self.written = call, written
        self.done = False

    def stage(self, verb: str, fun: Callable[..., Any]) -> Callable[..., Any]:
        """Stand for the one function that has been recorded.

        Raises:
            AssertionError: there is another one.
        """
        assert not self.done, "a second function is differentiated"
        self.done = True
        return self.result

    def result(self, /, *args: Any, **kwargs: Any) -> Any:
        call, trees = self.call, (*args, *kwargs.values())
        arrays = [x for tree in trees for x in flatten(tree)[0] if type(x) is Array]
        outers = {id(x): x for x in arrays if x.within is not CONSTANT}
        base = around(list(outers.values()))
        assert base is not None, "the transformation was given other arguments"
        call.base = base
        call.inputs = {
            key: (outer, inner, node)
            for (key, outer), (_, inner, node) in zip(
                outers.items(), call.inputs.values(), strict=True
            )
        }
        call.tell()
        return call.repeated(self.written)


def is_all_ours(graph: Graph) -> bool:
    """Whether neither the operations of a graph nor their rules are the user's."""
    return all(is_ours(e.primitive) for e in graph.equations)


def is_not(x: Any, y: Any) -> bool:
    return x is not y


def donating(graph: Graph) -> Graph:
    """The graph with assignments in place where nothing can have kept what was there before."""
    uses: dict[Variable, int] = {}
    for x in [x for e in graph.equations for x in e.inputs] + list(graph.outputs):
        if isinstance(x, Variable):
            uses[x] = uses.get(x, 0) + 1
    fresh: set[Variable] = set()
    equations = []
    for e in graph.equations:
        if e.primitive is setitem_p:
            x = e.inputs[0]
            donate = isinstance(x, Variable) and x in fresh and uses[x] == 1
            e = Equation(e.primitive, e.inputs, e.outputs, {**e.static, "donate": donate})
            fresh.add(e.outputs[0])
        equations.append(e)
    return Graph(graph.inputs, equations, graph.outputs)
