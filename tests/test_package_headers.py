"""The header of a package that lists its modules lists all of them, each with what it holds."""

import ast
import re
from pathlib import Path

SRC = Path(__file__).resolve().parent.parent / "src" / "pullback"
INSIDE = "core", "primitives", "transforms", "compiler"  # rooms whose files nobody else names
ROW = re.compile(r" *((?:\w+, )*\w+) {2,}\S")


def listed(header):
    """The names that begin the rows of a header: `name    what it holds`."""
    rows = [ROW.match(line) for line in header.splitlines()]
    return [name for row in rows if row for name in row[1].split(", ")]


def modules(folder):
    """The modules and packages directly in a package."""
    names = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    return names | {path.parent.name for path in folder.glob("*/__init__.py")}


def headers(src):
    """Map each package that has a list of its modules to the names in it."""
    out = {}
    for path in sorted(src.rglob("__init__.py")):
        names = listed(ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "")
        if modules(path.parent) & set(names):
            out[path.parent] = names
    return out


def test_a_row_names_one_module_or_several():
    assert listed("Rooms:\n\n    a   one\n    b, c  two\n\nWhat is left.") == ["a", "b", "c"]


def test_headers_list_all_modules():
    found = headers(SRC)
    wrong = {
        str(folder.relative_to(SRC)): sorted(modules(folder) ^ set(names))
        for folder, names in found.items()
        if modules(folder) != set(names) or len(set(names)) < len(names)
    }
    assert wrong == {}
    inside = {path.parent for room in INSIDE for path in (SRC / room).rglob("__init__.py")}
    assert inside <= found.keys()
