"""One self-contained page that steps through an explanation.

The page has four parts: its structure from `page.html`, its style from `page.css`, its behaviour
from the files in `SCRIPTS`, and the data of the explanation as JSON. It loads nothing from the
network: its content security policy forbids that, and admits the script and the style only by their
hashes, so that no text in the data can become either.
"""

import base64
import hashlib
import html
import json
import re
import string
from importlib.resources import files
from typing import Any

SCRIPTS = ("page_arrays.js", "page_steps.js", "page_picture.js", "page_panel.js", "page.js")
# What the arrays may take up in the page, in characters. They are most of it.
ROOM = 600_000
# Arrays of up to this many elements are shown as numbers and keep all their digits.
NUMBERS = 48
# Levels of colour, from the negative ones over zero to the positive ones, and what has none.
LEVELS = string.digits + string.ascii_uppercase + string.ascii_lowercase + "_"
SPECIAL = {"nan": "!", "inf": "+", "-inf": "-"}


def page(data: dict[str, Any]) -> str:
    """Return the text of an HTML page that steps through `data`, what `Explanation.data` gives.

    The same data give the same text. The page stays below one megabyte for some two hundred
    nodes, whatever the size of their arrays: where there are many large ones, it holds a coarser
    sample of each.
    """
    style = text_of("page.css")
    script = '(() => {\n"use strict";\n' + "".join(map(text_of, SCRIPTS)) + "})();\n"
    parts = {
        "title": html.escape(data["title"]),
        "policy": f"default-src 'none'; img-src data:; script-src '{digest(script)}'; "
        f"style-src '{digest(style)}'; base-uri 'none'; form-action 'none'",
        "style": style,
        "script": script,
        "data": embedded(with_table_of_arrays(data)),
    }
    # In one pass, so that a title such as "{{data}}" remains a title.
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], text_of("page.html"))


def text_of(name: str) -> str:
    return files("pullback.explain").joinpath(name).read_text(encoding="utf-8")


def digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def embedded(data: Any) -> str:
    """Return JSON that's safe inside a script element: nothing in it ends the element.

    >>> embedded("</script>")
    '"\\\\u003c/script>"'
    """
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def with_table_of_arrays(data: dict[str, Any]) -> dict[str, Any]:
    """Return the data with each array replaced by its place in a table, `arrays`.

    An array that occurs several times, as a cotangent that is passed on unchanged, is in the
    table once.
    """
    table: list[dict[str, Any]] = []
    places: dict[str, int] = {}

    def place(array):
        if array is None:
            return None
        key = json.dumps(array)
        if key not in places:
            places[key] = len(table)
            table.append(array)
        return places[key]

    nodes = [
        node | {role: place(node[role]) for role in ("value", "tangent", "cotangent")}
        for node in data["nodes"]
    ]
    backward = [
        step
        | {
            "gives": [
                give | {"value": place(give["value"]), "total": place(give["total"])}
                for give in bounded(step["gives"])
            ]
        }
        for step in data["backward"]
    ]
    value = place(data["value"])
    room = ROOM // max(len(table), 1)
    arrays = [fitted(array, room) for array in table]
    return data | {
        "nodes": nodes,
        "backward": backward,
        "value": value,
        "arrays": arrays,
        "levels": LEVELS,
    }


def bounded(gives: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the first and the last of the many cotangents that a fold gives to one node."""
    groups: dict[int, list[dict[str, Any]]] = {}
    for give in gives:
        groups.setdefault(give["to"], []).append(give)
    for to, group in groups.items():
        if len(group) > 5:
            groups[to] = [group[0], group[1] | {"skipped": len(group) - 4}, *group[-2:]]
    return [give for group in groups.values() for give in group]


def fitted(array: dict[str, Any], room: int) -> dict[str, Any]:
    """Return the array with its cells and its text cut to some `room` characters.

    Many cells are there for their colours: they get four digits, then a letter for a level of
    colour, and only then are they thinned out.
    """
    text, cells = array["text"], array["cells"]
    array = dict(array)
    if len(text) > max(room // 2, 40):
        array["text"] = text[: max(room // 2, 40)] + " …"
    if len(cells) <= NUMBERS:
        return array
    cells = [cell if isinstance(cell, str) else float(f"{cell:.4g}") for cell in cells]
    array["cells"] = cells
    if len(json.dumps(cells)) <= room // 2:
        return array
    while len(array["cells"]) > max(room // 2, 16):
        array |= thinned(array)
    full = max(abs(array["low"] or 0.0), abs(array["high"] or 0.0)) or 1.0
    array["levels"] = "".join([level(cell, full) for cell in array.pop("cells")])
    return array


def level(cell: float | str, full: float) -> str:
    """Return a letter for the place of a cell between -full and full."""
    if isinstance(cell, str):
        return SPECIAL[cell]
    zero = len(LEVELS) // 2
    return LEVELS[zero + round(zero * max(-1.0, min(1.0, cell / full)))]


def thinned(array: dict[str, Any]) -> dict[str, Any]:
    """Return every second row and column, as far as there are several."""
    columns = array["columns"]
    grid = [array["cells"][i : i + columns] for i in range(0, len(array["cells"]), columns)]
    step = 2 if columns > 1 else 1
    grid = [row[::step] for row in grid[:: 2 if len(grid) > 1 else 1]]
    cells = [cell for row in grid for cell in row]
    return {"rows": len(grid), "columns": len(grid[0]), "cells": cells, "sampled": True}
