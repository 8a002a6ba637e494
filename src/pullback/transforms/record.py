"""record: a list of the operations that a function did, for tests and explanations."""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from ..core.array import Array
from ..core.cotangent import Slots, dense
from ..core.lost import frame_of_user, place
from ..core.node import Node, constant_node
from ..core.primitive import Primitive
from ..core.trace import Trace
from ..core.tree import flatten
from .arguments import Lifted, Selection
from .backward import backward
from .returned import settle_tree
from .reverse import ReverseTrace, run
from .transformation import Transformation

Made = dict[int, tuple[str, int] | None]  # by the id of an Array's node, the line that made it


class RecordedOperation:
    """One operation: primitive(*inputs, **static) gave `outs`, called from `line` of the program.

    inputs and outs are Arrays of the record's trace, with value and node; constants are plain.
    names: for each input the local variable of the program that held it, or None.
    """

    __slots__ = ("inputs", "line", "names", "outs", "primitive", "static")

    def __init__(self, primitive: Any, inputs: Any, static: Any, outs: Any, made: Made) -> None:
        frame = frame_of_user()
        self.primitive, self.static = primitive, static
        self.line = None if frame is None else (frame.f_code.co_filename, frame.f_lineno)
        self.names = [None] * len(inputs) if frame is None else names_in(frame, inputs, made)
        # As they are now: an assignment makes another of the same Array.
        self.inputs, self.outs = [tuple([now(x) for x in xs]) for xs in (inputs, outs)]
        made.update([(id(node), self.line) for node in self.nodes])

    @property
    def nodes(self) -> list[Node]:
        """The nodes of the results that carry a derivative."""
        return [out.node for out in self.outs if type(out) is Array]

    @property
    def node(self) -> Node | None:
        """The node that holds the rule; of several results it is that behind their nodes."""
        if not self.nodes:
            return None
        node = self.nodes[0]
        behind = self.primitive.n_out is not None and node.parents
        return node.parents[0] if behind else node

    @property
    def residual(self) -> dict[str, Any]:
        """What the rule will read, by name: "out", "x0", "x1"..."""
        node = self.node
        held = None if node is None else node.residual
        if node is None or held is None:
            return {}
        if hasattr(held, "xs"):
            named = {f"x{i}": x for i, x in enumerate(held.xs)} | {"out": held.out}
        else:
            out, *xs = node.rule.unpack(held)
            named = {f"x{i}": x for i, x in enumerate(xs)} | {"out": out}
        return {key: x for key, x in named.items() if x is not None}

    def __repr__(self) -> str:
        where = f"{self.line[0]}:{self.line[1]}" if self.line else "?"
        return f"<{self.primitive.name} at {where}>"


class Departure:
    """A value that left the program's Arrays: what was asked, `format(x)`, and on which line."""

    __slots__ = ("formula", "line")

    def __init__(self, x: Array, asked: str, made: Made) -> None:
        frame = frame_of_user()
        self.line = None if frame is None else (frame.f_code.co_filename, frame.f_lineno)
        name = None if frame is None else names_in(frame, (x,), made)[0]
        self.formula = re.sub(r"\bx\b", name or "x", asked)

    def __str__(self) -> str:
        return f"`{self.formula}` in {place(self.line)}"

    def __repr__(self) -> str:
        return f"<{self.formula} at {place(self.line).partition(': ')[0]}>"


def now(x: Any) -> Any:
    return Array(x.payload, x.within, x.node) if type(x) is Array else x


class Pull:
    """A rule at work in a backward pass: given out_bar, it gave x_bars, one for each parent.

    Cotangents are arrays, as they were then; None is zero. out_bar is a dict by position for an
    operation with several results.
    """

    __slots__ = ("entry", "out_bar", "x_bars")

    def __init__(self, entry: RecordedOperation, out_bar: Any, x_bars: list[Any]) -> None:
        self.entry, self.out_bar, self.x_bars = entry, out_bar, x_bars


class Watched:
    """The rule of a node, and a log of its calls."""

    __slots__ = ("entry", "keep", "log", "rule")

    def __init__(
        self, rule: Any, entry: RecordedOperation, log: list[Pull], keep: Callable[[Any], Any]
    ):
        self.rule, self.entry, self.log, self.keep = rule, entry, log, keep

    def __call__(self, out_bar: Any, residual: Any, wanted: Any) -> Any:
        if type(out_bar) is Slots:
            seen: Any = {i: self.keep(dense(bar)) for i, bar in out_bar.bars.items()}
        else:
            seen = self.keep(dense(out_bar))
        x_bars = self.rule(out_bar, residual, wanted)
        kept = [None if bar is None else self.keep(dense(bar)) for bar in x_bars]
        self.log.append(Pull(self.entry, seen, kept))
        return x_bars


class Record:
    """The inputs (Arrays), the entries in order, and the output of a recorded call.

    positions: which argument each input is of.
    ends: the Arrays among the leaves of the output.
    departures: where values left for text, plain copies and numbers, in order.
    """

    def __init__(
        self,
        inputs: list[Array],
        positions: list[int],
        entries: list[RecordedOperation],
        ends: list[Array],
        out: Any,
        departures: list[Departure],
    ) -> None:
        self.inputs, self.positions = inputs, positions
        self.entries, self.ends, self.out = entries, ends, out
        self.departures = departures

    def pull(
        self, seeds: Sequence[tuple[Node, Any]], keep: Callable[[Any], Any] = np.array
    ) -> list[Pull]:
        """Send cotangents back from nodes of the output; what each rule did, in order.

        keep: what is written down of a cotangent, which the pass goes on to add to.
        """
        log: list[Pull] = []
        nodes = [(entry.node, entry) for entry in self.entries if entry.node is not None]
        rules = [node.rule for node, _ in nodes]
        try:
            for node, entry in nodes:
                if node.parents:
                    node.rule = Watched(node.rule, entry, log, keep)
            backward(seeds, retain=True)
        finally:
            for (node, _), rule in zip(nodes, rules, strict=True):
                node.rule = rule
        return log


LEAVES = frozenset({"int(x)", "x as an index"})  # plain numbers; a truth value is a comparison


class RecordTrace(ReverseTrace):
    """A reverse trace that also writes down every operation, and where values leave.

    `state` is the list of entries, that of departures, and on which line Arrays were made.
    """

    __slots__ = ()
    writes_nodes = shares_copies = False

    def process(self, primitive: Primitive, xs: tuple[Any, ...], static: dict[str, Any]) -> Any:
        if static.get("donate"):  # entries keep what was there before an assignment
            static = {**static, "donate": False}
        out = ReverseTrace.process(self, primitive, xs, static)
        outs = out if type(out) is tuple else (out,)
        self.state[0].append(RecordedOperation(primitive, xs, static, outs, self.state[2]))
        return out

    def unary(self, primitive: Any, x: Array) -> Any:
        out = ReverseTrace.unary(self, primitive, x)
        self.state[0].append(RecordedOperation(primitive, (x,), {}, (out,), self.state[2]))
        return out

    def told(self, x: Array, asked: str) -> Any:
        self.state[1].append(Departure(x, asked, self.state[2]))
        return ReverseTrace.told(self, x, asked)

    def concrete(self, x: Array, asked: str) -> Any:
        if asked in LEAVES:
            self.state[1].append(Departure(x, asked, self.state[2]))
        return ReverseTrace.concrete(self, x, asked)

    def detached(self, x: Array) -> Any:
        self.state[1].append(Departure(x, "stop_gradient(x)", self.state[2]))
        return ReverseTrace.detached(self, x)

    item, put, single, gather = Trace.item, Trace.put, Trace.single, Trace.gather

    beside, pair = Trace.beside, Trace.pair

    def binary(self, primitive: Any, x: Any, y: Any) -> Any:
        n = len(self.state[0])
        out = ReverseTrace.binary(self, primitive, x, y)
        if len(self.state[0]) == n:  # else `process` was taken, which wrote it down
            self.state[0].append(RecordedOperation(primitive, (x, y), {}, (out,), self.state[2]))
        return out


WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")


def names_in(frame: Any, xs: Sequence[Any], made: Made) -> list[str | None]:
    """The variables of a frame that hold these Arrays: one of its line, else any; outer ones first.

    A program may have thousands of variables, and as many operations. So all of them are looked
    through only for what was not made on the line itself, as what stands between two operators is.
    """
    line = frame.f_code.co_filename, frame.f_lineno
    words = WORD.findall(linecache.getline(*line))
    words = [*(word for word in frame.f_code.co_freevars if word in words), *words]
    local, names = frame.f_locals, list[str | None]()
    for x in xs:
        name = None
        if type(x) is Array:
            name = next((word for word in words if local.get(word) is x), None)
            if name is None and made.get(id(x.node)) != line:
                outer = ((each, local.get(each)) for each in frame.f_code.co_freevars)
                every = chain(outer, local.items())
                name = next((each for each, held in every if held is x), None)
        names.append(name)
    return names


class Recorded(Transformation):
    def __init__(self, fun: Any, argnums: int | Sequence[int] | None, verb: str) -> None:
        self.verb = verb
        super().__init__(fun)
        self.selection = None if argnums is None else Selection(argnums, verb)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Record:
        trace = RecordTrace(self.verb, self.fun, ([], [], {}))
        inputs: list[Array] = []
        positions: list[int] = []
        if self.selection is None:
            selected = [i for i, arg in enumerate(args) if is_floating(arg)]
            selected = selected or list(range(len(args)))
        else:
            selected = list(self.selection.positions(self.fun, args, kwargs))

        def enter(primal: Any) -> Array:
            inputs.append(Array(primal, trace, constant_node()))
            positions.append(position)
            return inputs[-1]

        (entries, departures, _), lifted = trace.state, list(args)
        try:
            for position in selected:
                lifted[position] = Lifted(args[position], self.verb, self.fun, position).map(enter)
            out = run(trace, self.fun, lifted, kwargs)
            ends = [now(x) for x in flatten(out)[0] if type(x) is Array and x.within is trace]
            out = settle_tree(out, trace)
        finally:
            trace.end()
        return Record(inputs, positions, entries, ends, out, departures)


def is_floating(arg: Any) -> bool:
    """Whether an argument is, or holds, floating numbers."""
    kinds = {getattr(getattr(x, "dtype", None), "kind", type(x)) for x in flatten(arg)[0]}
    return not kinds.isdisjoint({"f", "c", float, complex}) and kinds.isdisjoint({"i", "u", int})


def record(
    fun: Callable[..., Any], argnums: int | Sequence[int] | None = None, verb: str = "record"
) -> Callable[..., Record]:
    """Return a function that runs fun under reverse mode and shows what it did.

    >>> import numpy as np
    >>> [entry.primitive.name for entry in record(lambda x: np.sin(x) * x)(1.0).entries]
    ['sin', 'multiply']

    Args:
        argnums: which arguments are differentiated; None stands for all that consist of floating
            numbers, or for all where there are none.
        verb: how messages call it.
    """
    return Recorded(fun, argnums, verb)
