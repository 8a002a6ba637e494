"""What STYLE and CONTRIBUTING say of sizes and names holds for all of `src/pullback`, and of what
linters are told to pass over, for all code.
"""

import ast
import re
import textwrap
from collections import defaultdict
from functools import cache
from pathlib import Path

from tools.count_code import code_lines

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src" / "pullback"
FILE, CLASS, FUNCTION = 600, 300, 60
IGNORED = re.compile(
    r"(?<!`)# (?:noqa|type: ignore)(?:: [A-Z0-9]+(?:, ?[A-Z0-9]+)*|\[[a-z, -]+\])?(?P<why>.*)$",
    re.M,
)
ALL_IGNORED = re.compile(r"\b(?:simplefilter|filterwarnings)\(['\"]ignore['\"]\)(?P<why>.*)$", re.M)
INSIDE = r"(?:[^()]|\((?:[^()]|\([^()]*\))*\))*"  # of brackets, two deep
LEFT_OUT = re.compile(rf"\bmark\.(?:skip|skipif|xfail)\({INSIDE}\)")
# A name that autograd gives to a class of its interface.
SHARED = {"Node": ["autograd/tracer.py", "core/node.py"]}


@cache
def parsed():
    """The name of each file, its text and its tree."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(SRC.rglob("*.py"))}
    return [
        (path.relative_to(SRC).as_posix(), text, ast.parse(text)) for path, text in texts.items()
    ]


def length(node, text):
    """Count the lines of code of a definition, without docstrings and comments."""
    lines = text.splitlines()[node.lineno - 1 : node.end_lineno]
    return code_lines(textwrap.dedent("\n".join(lines)))


def definitions(kinds, limit):
    """Yield the name of each definition that has more lines of code than the limit."""
    for name, text, tree in parsed():
        for node in ast.walk(tree):
            long = isinstance(node, kinds) and node.end_lineno - node.lineno >= limit
            if long and length(node, text) > limit:
                yield f"{name} {node.name}"


def test_files():
    assert [name for name, text, _ in parsed() if text.count("\n") > FILE] == []


def test_classes():
    assert list(definitions(ast.ClassDef, CLASS)) == []


def test_functions():
    assert list(definitions((ast.FunctionDef, ast.AsyncFunctionDef), FUNCTION)) == []


def test_a_class_name_is_said_once():
    found = defaultdict(list)
    for name, _, tree in parsed():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(name)
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
