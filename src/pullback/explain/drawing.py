"""Pictures as text: a table for the terminal, SVG, Mermaid and DOT."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from .picture import Picture, PictureBox, clip, short, where

if TYPE_CHECKING:
    from .explanation import Explanation, ProgramNode

HEADER = ("#", "operation", "value", "tangent", "cotangent", "received", "line", "program")
WIDEST = (7, 34, 30, 30, 30, 9, 24, 40)


def table(explanation: Explanation, limit: int) -> str:
    """One line for each node, or fold of nodes."""
    forward = any(node.tangent is not None for node in explanation.nodes)
    rows: list[tuple[str, ...]] = [HEADER]
    folds: dict[int, str] = {}
    picture = Picture(explanation, limit)
    for box in picture.boxes:
        node = box.node
        if node is None:
            folds[len(rows)] = box.text
            rows.append((f"{box.nodes[0].index}..", *[""] * 7))
            continue
        cotangent = "" if node.cotangent is None else short(node.cotangent)
        if node.cotangent is None and "missed" in node.marks:
            cotangent = "none arrives"
        received = f"{len(node.received)} of {node.uses}" if node.uses else ""
        rows.append(
            (
                str(node.index),
                node.formula if named(node) is None else f"{named(node)} = {node.formula}",
                short(node.value),
                "" if node.tangent is None else short(node.tangent),
                cotangent,
                received,
                where(node.line),
                node.source,
            )
        )
    shown = [i for i, name in enumerate(HEADER) if forward or name != "tangent"]
    texts = [tuple([clip(row[i], WIDEST[i]) for i in shown]) for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    lines = [
        "  ".join([x.ljust(n) for x, n in zip(row, widths, strict=True)]).rstrip() for row in texts
    ]
    for i, text in folds.items():
        lines[i] = f"{texts[i][0].ljust(widths[0])}  {text}"
    lines.insert(1, "  ".join(["-" * n for n in widths]))
    return "\n".join([explanation.title, "", *lines, *summary(explanation)])


def named(node: ProgramNode) -> str | None:
    """The label of an operation that has one beside its number."""
    return None if node.entry is None or node.label.startswith("#") else node.label


def summary(explanation: Explanation) -> list[str]:
    """Notes: problems of rules, and assumptions."""
    nodes = explanation.nodes
    lines = []
    for mark, text in (
        ("first nan", "NaN first arises in the forward pass at"),
        ("first inf", "Infinity first arises in the forward pass at"),
        ("first nan cotangent", "NaN first arises in the backward pass, in the rule of"),
    ):
        for node in nodes:
            if mark in node.marks:
                at = f" ({where(node.line)})" if node.line else ""
                lines.append(f"{text} #{node.index} = {node.formula}{at}.")
    missed = [node for node in nodes if "missed" in node.marks]
    n = len(missed)
    if n:
        shown = ", ".join([f"#{node.index}" for node in missed[:8]])
        more = ", ..." if n > 8 else ""
        verb = "node is" if n == 1 else "nodes are"
        lines.append(f"{n} {verb} not reached by the backward pass: {shown}{more}.")
    lines += [f"A value left: {each}" for each in explanation.departures[:8]]
    lines += explanation.notes
    return ["", *lines] if lines else []


STYLE = """
.pb-box rect { fill: #ffffff; stroke: #8a94a6; }
.pb-input rect { fill: #eef4ff; stroke: #3867d6; }
.pb-output rect { stroke-width: 2.5; stroke: #1f7a4d; }
.pb-fold rect { fill: #f4f1e8; stroke-dasharray: 5 3; }
.pb-missed rect { stroke-dasharray: 2 3; }
.pb-missed text { opacity: 0.75; }
.pb-wrong rect { stroke: #c0392b; stroke-width: 2.5; }
.pb-box text { fill: #1b2330; font: 12px ui-monospace, SFMono-Regular, Menlo, monospace; }
.pb-box text.pb-back { fill: #a1480c; }
.pb-edge { fill: none; stroke: #5b6780; stroke-width: 1.3; }
.pb-tip { fill: #5b6780; }
.pb-dead { stroke-dasharray: 3 4; opacity: 0.6; }
@media (prefers-color-scheme: dark) {
.pb-box rect { fill: #1d2430; stroke: #77829a; }
.pb-input rect { fill: #1c2a47; stroke: #7aa2f7; }
.pb-output rect { stroke: #57c28a; }
.pb-fold rect { fill: #2b2820; }
.pb-wrong rect { stroke: #ff7b72; }
.pb-box text { fill: #e6eaf2; }
.pb-box text.pb-back { fill: #f0a35e; }
.pb-edge { stroke: #98a3bb; }
.pb-tip { fill: #98a3bb; }
}
"""


def svg(explanation: Explanation, limit: int) -> str:
    """A picture by the layered layout."""
    picture = Picture(explanation, limit)
    at = picture.layout
    w, h = f"{at.width:.0f}", f"{at.height:.0f}"
    n = len(explanation.nodes)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}"'
        f' role="img" aria-label="{escape(explanation.title)}: {n} nodes">',
        f"<style>{STYLE}</style>",
        '<defs><marker id="pb-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7"'
        ' markerHeight="7" orient="auto"><path class="pb-tip" d="M0 0 L8 4 L0 8 z"/></marker>',
        "</defs>",
    ]
    for (_, _, live), points in zip(picture.edges, at.points, strict=True):
        kind = "pb-edge" if live else "pb-edge pb-dead"
        parts.append(f'<path class="{kind}" marker-end="url(#pb-arrow)" d="{curve(points)}"/>')
    for box, (x, y) in zip(picture.boxes, at.corners, strict=True):
        parts += drawn(box, x, y, set(explanation.outputs))
    return "\n".join([*parts, "</svg>"])


def curve(points: list[tuple[float, float]]) -> str:
    """A path through points, straight down at each of them."""
    (x, y), *rest = points
    text = f"M{x:.1f} {y:.1f}"
    for a, b in rest:
        middle = (y + b) / 2
        text += f" C{x:.1f} {middle:.1f} {a:.1f} {middle:.1f} {a:.1f} {b:.1f}"
        x, y = a, b
    return text


def drawn(box: PictureBox, x: float, y: float, outputs: set[int]) -> list[str]:
    width, height = box.size
    kinds = ["pb-box", "pb-fold" if box.node is None else f"pb-{box.node.kind}"]
    marks = box.marks
    if box.node is not None and box.node.index in outputs:
        kinds.append("pb-output")
    if "missed" in marks:
        kinds.append("pb-missed")
    if any("nan" in mark or "inf" in mark for mark in marks):
        kinds.append("pb-wrong")
    lines = [
        f'<g class="{" ".join(kinds)}"><title>{escape(hover(box))}</title>',
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="6"/>',
    ]
    for i, text in enumerate(box.label):
        back = ' class="pb-back"' if text.startswith("cotangent ") else ""
        lines.append(
            f'<text{back} x="{x + 10:.1f}" y="{y + 17 * (i + 1):.1f}">{escape(text)}</text>'
        )
    return [*lines, "</g>"]


def hover(box: PictureBox) -> str:
    """The text shown for a box in addition to its label."""
    node = box.node
    if node is None:
        return box.text
    lines = [node.formula, node.rule, f"{where(node.line)}  {node.source}" if node.line else ""]
    lines.append(f"received {len(node.received)} of {node.uses}" if node.uses else "")
    return "\n".join([line for line in [*lines, ", ".join(node.marks)] if line])


def mermaid(explanation: Explanation, limit: int) -> str:
    """A flowchart in Mermaid's language."""
    picture = Picture(explanation, limit)
    lines = ["flowchart TD"]
    for box in picture.boxes:
        text = "<br/>".join([entities(line) for line in box.label])
        left, right = ("([", "])") if box.node and box.node.kind == "input" else ("[", "]")
        lines.append(f'  n{box.id}{left}"{text}"{right}')
    for a, b, live in picture.edges:
        lines.append(f"  n{a} {'-->' if live else '-.->'} n{b}")
    return "\n".join(lines)


def entities(text: str) -> str:
    """Text for Mermaid, which reads its own marks in labels."""
    safe = "".join([c if c.isalnum() or c in " .,+-=/" else f"#{ord(c)};" for c in text])
    return safe


def dot(explanation: Explanation, limit: int) -> str:
    """A digraph in Graphviz' language."""
    picture = Picture(explanation, limit)
    lines = ["digraph {", '  node [shape=box, fontname="monospace"];']
    for box in picture.boxes:
        text = "\\l".join([line.replace("\\", "\\\\").replace('"', '\\"') for line in box.label])
        style = ", style=rounded" if box.node and box.node.kind == "input" else ""
        lines.append(f'  n{box.id} [label="{text}\\l"{style}];')
    for a, b, live in picture.edges:
        lines.append(f"  n{a} -> n{b}{'' if live else ' [style=dashed]'};")
    return "\n".join([*lines, "}"])
