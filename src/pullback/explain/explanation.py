"""Explanation: a call, its reverse pass and on request its tangents, as one list of nodes.

Nothing is computed here. `record` has the engine run the function and its reverse pass, and notes
what happened; an Explanation adds names, counts and lines of text.
"""

from __future__ import annotations

import linecache
import os
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..core.array import Array
from ..core.errors import ArgumentError, ArgumentTypeError, kind_of, name_of
from ..core.spec import Spec, is_inexact, spec_of
from ..core.usage import listing
from ..transforms.forward import jvp
from ..transforms.record import Departure, Record, RecordedOperation, record
from ..transforms.transformation import OfOneCall
from . import drawing, words
from .data import data
from .page import page
from .reading import Keeper, add, has_inf, has_nan, names_of, plain_tree, seeds, tangent_of

ENOUGH = 1 << 28  # bytes of cotangents that are kept whole; beyond, samples of them are


class Received:
    """A cotangent that arrived at a node: from which node, as the how manieth, and the sum then."""

    __slots__ = ("count", "source", "total", "value")

    def __init__(self, source: int, value: Any, count: int, total: Any) -> None:
        self.source, self.value, self.count, self.total = source, value, count, total


class ProgramNode:
    """An input or an operation of the program that is explained.

    Attributes:
        index: its place in the program; inputs come first.
        label: how formulas refer to it: by the variable of the program that holds it, `y`, by
            `y#4` if several nodes have that name, or by `#4` if none is known.
        kind: "input" or "operation".
        name: the operation, or the name of the input.
        operands: for each operand the index of a node, or a constant in words.
        parents: the indices of the nodes that its derivative goes back to, by operand.
        value: an array, or a tuple of them for an operation with several results.
        tangent: the same in forward mode, if that was asked for; None is zero.
        cotangent: the derivative of the output by this value; None if none arrived.
        uses: how many cotangents it receives.
        received: those, in the order in which they came.
        line: (file, line number) in the user's program, or None.
        marks: of "missed", "nan", "inf", "first nan", "first inf", "nan cotangent" and
            "first nan cotangent", what is to be seen at this node.
    """

    __dir__ = listing(
        "index", "label", "kind", "name", "operands", "parents", "value", "tangent", "cotangent",
        "uses", "received", "line", "marks", "spec", "formula", "rule",
    )  # fmt: skip

    def __init__(
        self, index: int, kind: str, name: str, value: Any, entry: RecordedOperation | None
    ) -> None:
        self.index, self.kind, self.name, self.value, self.entry = index, kind, name, value, entry
        self.label = f"#{index}"
        self.labels: list[str] = []  # of the operands
        self.operands: list[int | str] = []
        self.parents: list[int] = []
        self.tangent: Any = None
        self.cotangent: Any = None
        self.uses = 0
        self.received: list[Received] = []
        self.line = None if entry is None else entry.line
        self.marks: list[str] = []

    @property
    def spec(self) -> Spec:
        return spec_of(self.value[0] if type(self.value) is tuple else self.value)

    @property
    def differentiable(self) -> bool:
        """Whether the value can carry a derivative: it is not an index, count or truth value."""
        return is_inexact(self.spec.dtype)

    @property
    def sources(self) -> list[int]:
        """The nodes among the operands."""
        return [x for x in self.operands if type(x) is int]

    @property
    def formula(self) -> str:
        """The operation on its operands: `x * y`, or `sin(#1)` where an operand has no name."""
        if self.entry is None:
            return self.name
        texts = [(text, words.ATOM) for text in self.labels]
        return words.call(self.entry.primitive, texts, self.entry.static)[0]

    @cached_property
    def rule(self) -> str:
        """The local derivative in words, `d sin(x) = cos(x) dx`."""
        if self.entry is None:
            return ""
        outs = self.entry.outs
        out = outs[0] if self.entry.primitive.n_out is None else outs
        return words.rule(self.entry.primitive, self.entry.inputs, out, self.entry.static)

    @property
    def source(self) -> str:
        """The line of the program."""
        return "" if self.line is None else linecache.getline(*self.line).strip()

    def __repr__(self) -> str:
        return f"<#{self.index} {self.formula}>"


class Explanation(OfOneCall):
    """What a call and its derivatives did, node by node.

    Attributes:
        fun: the function.
        value: what it returned, as plain arrays.
        nodes: inputs and operations, in the order of the program.
        inputs, outputs: the indices of nodes.
        backward: the indices of the operations in the order of the backward pass.
        departures: where values left for text, plain copies and numbers, in order.
        notes: sentences about what was assumed.
    """

    __dir__ = listing(
        "fun", "value", "nodes", "inputs", "outputs", "backward", "departures", "notes",
        "text", "svg", "dot", "mermaid", "save", "data", "gradient",
    )  # fmt: skip

    def __init__(
        self,
        fun: Any,
        args: Any,
        kwargs: Any,
        argnums: int | Sequence[int] | None = None,
        out_bar: Any = None,
        tangents: Any = None,
    ) -> None:
        self.fun = fun
        self.notes: list[str] = []
        run = record(fun, argnums, "explain")(*args, **kwargs)
        self.nodes, self.places = nodes_of(run, names_of(fun, args, run.positions))
        self.inputs = list(range(len(run.inputs)))
        self.outputs = [self.places[id(x.node)] for x in run.ends]
        self.value = plain_tree(run.out)
        self.backward: list[int] = []
        if run.ends:
            self.go_back(run, run.ends, seeds(self, run.ends, out_bar))
        if tangents is not None:
            self.go_forward(args, kwargs, argnums, run, tangents)
        self.departures = run.departures
        self.mark()

    def go_back(self, run: Record, ends: list[Array], bars: list[Any]) -> None:
        """Let the engine carry cotangents back, and note what each node gave and received."""
        with np.errstate(all="ignore"):
            pulls = run.pull(
                [(x.node, bar) for x, bar in zip(ends, bars, strict=True)], Keeper(ENOUGH)
            )
        nodes, keep, found = self.nodes, Keeper(ENOUGH), False
        # By node: of an operation with several results each has one.
        given: dict[int, Any] = {}
        totals: dict[int, Any] = {}
        for x, bar in zip(ends, bars, strict=True):
            node = nodes[self.places[id(x.node)]]
            given[id(x.node)] = add(given.get(id(x.node)), keep(bar), keep)
            node.cotangent = given[id(x.node)]
        for pull in pulls:
            assert pull.entry.node is not None
            source = self.places[id(pull.entry.node)]
            self.backward.append(source)
            nodes[source].cotangent = pull.out_bar
            for parent, bar in zip(pull.entry.node.parents, pull.x_bars, strict=False):
                if parent is None:
                    continue
                to = nodes[self.places[id(parent)]]
                to.uses += 1
                if bar is None:
                    continue
                if has_nan(bar) and "nan cotangent" not in to.marks:
                    to.marks.append("nan cotangent")
                    if not (found or has_nan(pull.out_bar)):
                        found = True
                        nodes[source].marks.append("first nan cotangent")
                total = totals[id(parent)] = add(totals.get(id(parent)), bar, keep)
                to.received.append(Received(source, bar, len(to.received) + 1, total))
        for node in nodes:
            if node.cotangent is None and node.received:
                node.cotangent = node.received[-1].total

    def go_forward(self, args: Any, kwargs: Any, argnums: Any, run: Record, tangents: Any) -> None:
        """Run the function once more under forward mode, for the tangent of each node."""
        if type(tangents) is not tuple or len(tangents) != len(set(run.positions)):
            raise ArgumentTypeError(
                f"`explain({name_of(self.fun)})` takes a tuple with a tangent for each"
                f" differentiated argument, {len(set(run.positions))} of them."
            )
        positions = sorted(set(run.positions))
        seen: list[Any] = []

        def again(*primals: Any) -> Any:
            full = list(args)
            for position, primal in zip(positions, primals, strict=True):
                full[position] = primal
            second = record(self.fun, tuple(positions), "explain")(*full, **kwargs)
            seen.extend([*second.inputs, *[entry.outs for entry in second.entries]])
            return 0.0

        jvp(again, tuple([args[i] for i in positions]), tangents)
        if len(seen) != len(self.nodes):
            self.notes.append("The function took another way when it ran again for the tangents.")
            return
        for node, x in zip(self.nodes, seen, strict=True):
            parts = [tangent_of(part) for part in (x if type(x) is tuple else (x,))]
            node.tangent = tuple(parts) if type(node.value) is tuple else parts[0]

    def mark(self) -> None:
        """Find what no cotangent reached, and where NaN and infinity first arose."""
        for kind, test in (("nan", has_nan), ("inf", has_inf)):
            first = True
            for node in self.nodes:
                if test(node.value):
                    node.marks.append(kind)
                    if first and not any(test(self.nodes[i].value) for i in node.sources):
                        node.marks.append(f"first {kind}")
                        first = False
        for node in self.nodes:
            if node.cotangent is None and node.differentiable and self.outputs:
                node.marks.append("missed")

    @property
    def gradient(self) -> tuple[Any, ...]:
        """The cotangent of each input, zeros where none arrived."""
        zero = lambda node: np.zeros(node.spec.shape, node.spec.dtype)
        nodes = [self.nodes[i] for i in self.inputs]
        return tuple([zero(n) if n.cotangent is None else n.cotangent for n in nodes])

    @property
    def missed(self) -> list[ProgramNode | Departure]:
        """What the gradient would miss: nodes that no cotangent reached, and where values left.

        Where no cotangent reached an input, the comparisons and counts among the nodes as well.
        """
        reached = any(self.nodes[i].cotangent is not None for i in self.inputs)
        found: list[ProgramNode | Departure] = [
            node
            for node in self.nodes
            if "missed" in node.marks or not (reached or node.entry is None or node.differentiable)
        ]
        return found + self.departures

    @property
    def title(self) -> str:
        return f"explain({name_of(self.fun)})"

    def __repr__(self) -> str:
        return f"<{self.title}: {len(self.nodes)} nodes>"

    def __str__(self) -> str:
        return self.text()

    # To be seen. Where there are more nodes than `limit`, repetitions are folded.

    def text(self, limit: int = 200) -> str:
        """A table for the terminal."""
        return drawing.table(self, limit)

    def svg(self, limit: int = 60) -> str:
        """A picture; the same for the same program."""
        return drawing.svg(self, limit)

    def mermaid(self, limit: int = 60) -> str:
        """A flowchart for Mermaid."""
        return drawing.mermaid(self, limit)

    def dot(self, limit: int = 60) -> str:
        """A digraph for Graphviz."""
        return drawing.dot(self, limit)

    def data(self, limit: int = 200) -> dict[str, Any]:
        """What the page shows, as plain JSON."""
        return data(self, limit)

    def save(self, path: str | os.PathLike[str], limit: int = 200) -> None:
        """Write a page on which the two passes can be stepped through; it needs no network.

        With a name that ends in `.svg`, the picture is written instead.
        """
        if not isinstance(path, (str, os.PathLike)):  # open() takes an int for a descriptor
            raise ArgumentTypeError(
                f"`save` takes the name of a file, but got {kind_of(path)}.\n"
                '  Write `save("page.html")`.'
            )
        suffix = os.path.splitext(path)[1].lower()
        if suffix not in ("", ".html", ".htm", ".svg"):
            raise ArgumentError(
                f"`save` was given the name {os.fspath(path)!r}, and writes pages and pictures.\n"
                '  Write `save("page.html")`, or `save("picture.svg")` for the picture alone.'
            )
        text = self.svg() if suffix == ".svg" else page(self.data(limit))
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def _repr_html_(self) -> str:
        return f'<div style="overflow: auto">{self.svg()}</div>'


def nodes_of(run: Record, names: list[str]) -> tuple[list[ProgramNode], dict[int, int]]:
    """The nodes of a recorded call, and the index of each by the id of the engine's node."""
    nodes: list[ProgramNode] = []
    places: dict[int, int] = {}
    for x, name in zip(run.inputs, names, strict=True):
        places[id(x.node)] = len(nodes)
        nodes.append(ProgramNode(len(nodes), "input", name, x.payload, None))
    for entry in run.entries:
        values = [x.payload if type(x) is Array else x for x in entry.outs]
        value = values[0] if entry.primitive.n_out is None else tuple(values)
        node = ProgramNode(len(nodes), "operation", entry.primitive.name, value, entry)
        for x in entry.inputs:
            place = places.get(id(x.node)) if type(x) is Array else None
            node.operands.append(words.literal(x) if place is None else place)
        behind = entry.node
        if behind is not None:
            node.parents = [places[id(p)] for p in behind.parents if p is not None]
            for engine_node in [behind, *entry.nodes]:
                places[id(engine_node)] = node.index
        nodes.append(node)
    name_nodes(nodes)
    return nodes, places


def name_nodes(nodes: list[ProgramNode]) -> None:
    """Give each node the label by which formulas refer to it."""
    used: set[str] = set()
    for node in nodes:
        if node.entry is None:
            node.label = node.name
        else:
            for x, name in zip(node.operands, node.entry.names, strict=True):
                if name is not None and type(x) is int and nodes[x].label == f"#{x}":
                    nodes[x].label = name
    for node in nodes:
        if node.label in used:
            node.label = f"{node.label}#{node.index}"
        used.add(node.label)
    for node in nodes:
        node.labels = [nodes[x].label if type(x) is int else str(x) for x in node.operands]
