"""What STYLE and CONTRIBUTING say of sizes and names holds for all of `src/pullback`, and of what
linters are told to pass over, for all code.
"""

import ast
import re
import textwrap
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.statements import statements
from tools.count_code import code_lines

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src" / "pullback"
FILE, CLASS, FUNCTION = 600, 300, 60
KINDS = ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
IGNORED = re.compile(
    r"(?<!`)# (?:noqa|type: ignore)(?:: [A-Z0-9]+(?:, ?[A-Z0-9]+)*|\[[a-z, -]+\])?(?P<why>.*)$",
    re.M,
)
ALL_IGNORED = re.compile(r"\b(?:simplefilter|filterwarnings)\(['\"]ignore['\"]\)(?P<why>.*)$", re.M)
INSIDE = r"(?:[^()]|\((?:[^()]|\([^()]*\))*\))*"  # of brackets, two deep
LEFT_OUT = re.compile(rf"\bmark\.(?:skip|skipif|xfail)\({INSIDE}\)")
# A name that autograd gives to a class of its interface.
SHARED = {"Node": ["autograd/tracer.py", "core/node.py"]}


class Definition(NamedTuple):
    name: str
    is_class: bool
    lines: int  # of code, without docstrings and comments; of short ones all lines


@cache
def sources():
    """The name of each file, how many lines it has, and its definitions."""
    found = []
    for path in sorted(SRC.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        nodes = [node for node in statements(ast.parse(text)) if isinstance(node, KINDS)]
        made = [Definition(x.name, isinstance(x, ast.ClassDef), length(x, text)) for x in nodes]
        found.append((path.relative_to(SRC).as_posix(), text.count("\n"), made))
    return found


def length(node, text):
    n = node.end_lineno - node.lineno + 1
    if n <= FUNCTION:
        return n
    lines = text.splitlines()[node.lineno - 1 : node.end_lineno]
    return code_lines(textwrap.dedent("\n".join(lines)))


def too_long(is_class, limit):
    """The name of each definition that has more lines of code than the limit."""
    return [
        f"{name} {x.name}"
        for name, _, made in sources()
        for x in made
        if x.is_class == is_class and x.lines > limit
    ]


def test_files():
    assert [name for name, lines, _ in sources() if lines > FILE] == []


def test_classes():
    assert too_long(True, CLASS) == []


def test_functions():
    assert too_long(False, FUNCTION) == []


def test_a_class_name_is_said_once():
    found = defaultdict(list)
    for name, _, made in sources():
        for x in made:
            if x.is_class:
                found[x.name].append(name)
    assert {key: names for key, names in found.items() if len(names) > 1} == SHARED


def test_what_is_ignored_says_why():
    """`# noqa: E501  # a table`, and likewise for the type checker, for tests left out, and where
    all warnings are ignored.
    """
    bare = []
    for folder in ("src", "tests", "tools", "benchmarks", "examples"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            ignored = [*IGNORED.finditer(text), *ALL_IGNORED.finditer(text)]
            silent = [m.start() for m in ignored if not m["why"].startswith("  # ")]
            silent += [m.start() for m in LEFT_OUT.finditer(text) if "reason=" not in m[0]]
            lines = [text.count("\n", 0, at) + 1 for at in silent]
            bare += [f"{path.relative_to(ROOT)}:{line}" for line in lines]
    assert bare == []
