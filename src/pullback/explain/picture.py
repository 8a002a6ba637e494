"""The picture of an explanation: boxes, folded so that they can be seen at once, and their edges.

The text, SVG, Mermaid and DOT forms and the page are all drawn from it.
"""

from __future__ import annotations

import os
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.spec import spec_of
from .fold import Fold, fold
from .layout import Drawing, layout
from .reading import Sampled, extent, has_inf, has_nan

if TYPE_CHECKING:
    from .explanation import Explanation, ProgramNode

CHARACTER, LINE, PADDING = 7.3, 17.0, 10.0  # of the boxes, in pixels
LABEL = 34  # characters


class PictureBox:
    """A node, or a fold of several, with its number among the boxes."""

    def __init__(
        self, id: int, node: ProgramNode | None, fold: Fold | None, nodes: list[ProgramNode]
    ) -> None:
        self.id, self.node, self.fold, self.nodes = id, node, fold, nodes

    @property
    def name(self) -> str:
        return self.node.name if self.node is not None else self.text

    @cached_property
    def text(self) -> str:
        """What a fold holds: `40 times 3 operations: sin, multiply, add`."""
        if self.fold is None:
            return ""
        counts = Counter([node.name for node in self.nodes if node.kind == "operation"])
        kinds = ", ".join([name for name, _ in counts.most_common(4)])
        kinds += ", ..." if len(counts) > 4 else ""
        times, n = self.fold.times, len(self.nodes)
        what = "operation" if counts else "input"
        if times == 1:
            return f"{n} {what}s: {kinds}" if kinds else f"{n} {what}s"
        each = n // times
        turns = f"{times} times {each} {what}{'s' if each > 1 else ''}"
        return f"{turns}: {kinds}" if kinds else turns

    @cached_property
    def label(self) -> list[str]:
        """The lines of text in the box."""
        node = self.node
        if node is None:
            return [clip(self.text, LABEL), f"#{self.nodes[0].index} to #{self.nodes[-1].index}"]
        name = node.formula if node.kind == "input" else f"#{node.index} = {node.formula}"
        lines = [clip(name, LABEL), f"value {short(node.value)}"]
        if node.cotangent is not None:
            lines.append(f"cotangent {short(node.cotangent)}")
        return lines

    @property
    def size(self) -> tuple[float, float]:
        widest = max(map(len, self.label))
        return widest * CHARACTER + 2 * PADDING, len(self.label) * LINE + PADDING

    @property
    def marks(self) -> list[str]:
        """Those of the node; of a fold those of all its nodes, but missed only if all are."""
        if self.node is not None:
            return self.node.marks
        found = {mark for node in self.nodes for mark in node.marks}
        if not all("missed" in node.marks for node in self.nodes):
            found.discard("missed")
        return sorted(found)


class Picture:
    """Boxes in the order of the program, and edges (from, to, whether a derivative goes back)."""

    def __init__(self, explanation: Explanation, limit: int) -> None:
        self.explanation = explanation
        nodes = explanation.nodes
        keys = [(n.kind, stem(n), n.line, getattr(n.value, "shape", None)) for n in nodes]
        self.boxes: list[PictureBox] = []
        self.place: dict[int, int] = {}  # index of a node -> its box
        for item in fold(keys, limit):
            inside = item.indices() if type(item) is Fold else [item]
            held = [nodes[i] for i in inside]
            for i in inside:
                self.place[i] = len(self.boxes)
            alone = type(item) is not Fold
            box = PictureBox(
                len(self.boxes), held[0] if alone else None, None if alone else item, held
            )
            self.boxes.append(box)
        pulled = set(explanation.backward)
        gave = {node.index: {r.source for r in node.received} for node in nodes}
        live: dict[tuple[int, int], bool] = {}
        for node in nodes:
            to = self.place[node.index]
            for i in node.sources:
                if self.place[i] != to:
                    edge = self.place[i], to
                    if node.index in pulled:
                        carries = node.index in gave.get(i, ())
                    else:
                        carries = i in node.parents
                    live[edge] = live.get(edge, False) or carries
        self.edges = [(a, b, is_live) for (a, b), is_live in sorted(live.items())]

    @cached_property
    def layout(self) -> Drawing:
        return layout([box.size for box in self.boxes], [(a, b) for a, b, _ in self.edges])


def stem(node: ProgramNode) -> str:
    """The name without the place in a container: inputs of one list are alike."""
    return node.name.partition("[")[0]


def clip(text: str, n: int) -> str:
    return text if len(text) <= n else text[: n - 1] + "…"


def short(x: Any) -> str:
    """A value in a few characters: a number as it is, an array by shape and range."""
    if isinstance(x, tuple):
        return ", ".join(map(short, x))
    if isinstance(x, dict):
        return ", ".join([f"{i}: {short(part)}" for i, part in x.items()])
    if isinstance(x, Sampled):
        low, high, spec = x.low, x.high, f"{x.dtype}{list(x.shape)}"
    else:
        x = np.asarray(x)
        if not x.shape:
            return number(x[()])
        if x.size <= 3 and x.ndim == 1:
            return f"[{' '.join(map(number, x))}]"
        spec = str(spec_of(x))
        low, high = extent(x) if x.dtype.kind in "fc" else (x.min(initial=0), x.max(initial=0))
    if x.dtype.kind == "b" or not x.shape or 0 in x.shape:
        return spec
    wrong = [kind for kind, test in (("nan", has_nan), ("inf", has_inf)) if test(x)]
    span = [] if low is None else [number(low) + ("" if low == high else f" to {number(high)}")]
    return f"{spec} {', '.join(span + wrong)}"


def number(x: Any) -> str:
    if isinstance(x, (complex, np.complexfloating)):
        return f"{complex(x):.4g}"
    return f"{float(x):.5g}" if isinstance(x, (float, np.floating)) else str(x)


def where(line: tuple[str, int] | None) -> str:
    """`model.py:12`; a cell of a notebook is a file with a number for its name."""
    if line is None:
        return ""
    name = "cell" if "ipykernel" in line[0] else os.path.basename(line[0])
    return f"{name}:{line[1]}"
