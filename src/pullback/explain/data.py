"""An explanation as plain JSON, the data of the page."""

from __future__ import annotations

import linecache
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.spec import spec_of
from .picture import Picture, PictureBox
from .reading import CELLS, Sampled, extent

if TYPE_CHECKING:
    from .explanation import Explanation, ProgramNode, Received

AROUND = 3  # lines shown around a line of the program that did something
EXACT = 48  # cells of an array that are given with all digits
LONGEST = 2000  # characters of the text of an array


def data(explanation: Explanation, limit: int) -> dict[str, Any]:
    picture = Picture(explanation, limit)
    at = picture.layout
    files = sorted({n.line[0] for box in picture.boxes for n in box.nodes if n.line is not None})
    boxes = [
        {
            **described(box, picture, files),
            "x": round(corner[0], 1),
            "y": round(corner[1], 1),
            "width": round(box.size[0], 1),
            "height": round(box.size[1], 1),
        }
        for box, corner in zip(picture.boxes, at.corners, strict=True)
    ]
    place = picture.place
    return {
        "title": explanation.title,
        "value": array(leaf(explanation.value)),
        "inputs": unique([place[i] for i in explanation.inputs]),
        "outputs": unique([place[i] for i in explanation.outputs]),
        "nodes": boxes,
        "edges": [
            {"from": a, "to": b, "live": live, "points": [[round(x, 1), round(y, 1)] for x, y in p]}
            for (a, b, live), p in zip(picture.edges, at.points, strict=True)
        ],
        "forward": list(range(len(boxes))),
        "backward": backward(explanation, picture),
        "sources": [source(file, lines_of(explanation, file)) for file in files],
        "width": round(at.width, 1),
        "height": round(at.height, 1),
        "notes": explanation.notes,
    }


def described(box: PictureBox, picture: Picture, files: list[str]) -> dict[str, Any]:
    """The description of a box, except for its position."""
    node, first = box.node, box.nodes[0]
    line = first.line if node is None else node.line
    told: dict[str, Any] = {
        "id": box.id,
        "kind": "fold" if node is None else node.kind,
        "name": box.name,
        "label": box.label,
        "index": None if node is None else node.index,
        "formula": box.text if node is None else node.formula,
        "inputs": [] if node is None else operands(node, picture),
        "shape": None,
        "dtype": None,
        "value": None,
        "tangent": None,
        "cotangent": None,
        "uses": len(arriving(box, picture)),
        "rule": "" if node is None else node.rule,
        "file": None if line is None else files.index(line[0]),
        "line": None if line is None else line[1],
        "marks": box.marks,
        "fold": None,
    }
    if node is None:
        assert box.fold is not None
        told["fold"] = {"operations": len(box.nodes), "times": box.fold.times, "text": box.text}
        return told
    spec = node.spec
    return told | {
        "shape": list(spec.shape),
        "dtype": str(spec.dtype),
        "value": array(leaf(node.value)),
        "tangent": array(leaf(node.tangent)),
        "cotangent": array(leaf(node.cotangent)),
        "uses": len(node.received),
    }


def operands(node: ProgramNode, picture: Picture) -> list[dict[str, Any]]:
    return [{"node": picture.place[x]} if type(x) is int else {"text": x} for x in node.operands]


def arriving(box: PictureBox, picture: Picture) -> list[tuple[ProgramNode, Received]]:
    """The cotangents that come to a box from outside of it."""
    return [
        (node, r) for node in box.nodes for r in node.received if picture.place[r.source] != box.id
    ]


def backward(explanation: Explanation, picture: Picture) -> list[dict[str, Any]]:
    """The steps of the backward pass: one for each box, when the last of its rules has run."""
    turn = {index: t for t, index in enumerate(explanation.backward)}
    last: dict[int, int] = {}  # box -> the turn of the last of its rules
    for index, t in turn.items():
        last[picture.place[index]] = t  # turns rise
    gives: dict[int, list[tuple[int, int, Received]]] = {}
    count = {}
    for box in picture.boxes:
        arrives = arriving(box, picture)
        count[box.id] = len(arrives)
        for _, r in arrives:
            gives.setdefault(picture.place[r.source], []).append((turn[r.source], box.id, r))
    received = dict.fromkeys(count, 0)
    steps = []
    for source in sorted(last, key=lambda i: last[i]):
        parts = []
        for _, to, r in sorted(gives.get(source, []), key=lambda part: part[0]):
            received[to] += 1
            parts.append(
                {
                    "to": to,
                    "value": array(leaf(r.value)),
                    "received": received[to],
                    "of": count[to],
                    "total": array(leaf(r.total)),
                }
            )
        steps.append({"node": source, "gives": parts})
    return steps


def array(x: Any) -> dict[str, Any] | None:
    """An array in numbers, or a sample of a larger one."""
    if x is None:
        return None
    if isinstance(x, Sampled):
        cells, sampled = x.cells, True
        rows, columns = 1, len(cells)
        low, high = x.low, x.high
        text = f"{x.dtype}{list(x.shape)}"
    else:
        x = np.asarray(x)
        if x.dtype.kind not in "biufc":
            return None
        grid = x.reshape(-1, x.shape[-1]) if x.ndim > 1 else x.reshape(1, -1)
        side = int(CELLS**0.5)
        rows, columns = grid.shape
        if x.size > CELLS:
            down, along = (1, CELLS) if rows == 1 else (side, side)
            grid = grid[:: max(1, -(-rows // down)), :: max(1, -(-columns // along))]
        sampled, (rows, columns) = grid.size < x.size, grid.shape
        cells = grid.reshape(-1)
        low, high = extent(x) if x.dtype.kind in "fc" else extent(x.astype(float))
        text = np.array2string(x, precision=8, threshold=64, separator=" ") if x.shape else str(x)
        text = text if len(text) <= LONGEST else str(spec_of(x))
    return {
        "shape": list(x.shape),
        "dtype": str(x.dtype),
        "text": text,
        "rows": rows,
        "columns": columns,
        "cells": [cell(c, 17 if len(cells) <= EXACT else 6) for c in cells],
        "sampled": sampled,
        "low": None if low is None else cell(low),
        "high": None if high is None else cell(high),
    }


def cell(x: Any, digits: int = 17) -> float | str:
    """A number as JSON has it; of complex ones the magnitude."""
    x = float(abs(x)) if isinstance(x, np.complexfloating) else float(x)
    if np.isfinite(x):
        return float(f"{x:.{digits}g}")
    return "nan" if np.isnan(x) else "inf" if x > 0 else "-inf"


def leaf(x: Any) -> Any:
    """One array: of several results the first."""
    if isinstance(x, dict):
        x = tuple(x.values())
    while isinstance(x, (tuple, list)):
        x = next((part for part in x if part is not None), None)
    return x


def lines_of(explanation: Explanation, file: str) -> list[int]:
    lines = [node.line for node in explanation.nodes if node.line is not None]
    return sorted({n for name, n in lines if name == file})


def source(file: str, used: list[int]) -> dict[str, Any]:
    """The part of a file from the first to the last line that did something."""
    lines = [line.rstrip("\n") for line in linecache.getlines(file)]
    first = max(1, used[0] - AROUND)
    last = min(len(lines), used[-1] + AROUND, first + 400)
    return {"file": os.path.basename(file), "first": first, "lines": lines[first - 1 : last]}


def unique(xs: list[int]) -> list[int]:
    return list(dict.fromkeys(xs))
