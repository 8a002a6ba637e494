"""A program as two processes run it, one after the other, and what the later one has otherwise.

The table is text. Of `compile_stored.txt` a line is a name and a program that defines `f(x)`; then

    state       text in it, and what stands there in the later process
    arguments   those of one process, and of the other
    results     a question about a result
    sets        nothing: what comes in the order of a set is not kept
"""

import builtins
import pathlib
import sys
import types

import numpy as np

from pullback.compiler.call.compiled import compile
from pullback.compiler.disk import records

HEAD = """
import collections, dataclasses, enum, functools, itertools, math, operator, types, typing
import numpy as np
import pullback as pb
X = np.array([0.5, 1.0, 2.0])
class NS: pass
class K:
    def __init__(self, n): self.n = n
    def __repr__(self): return "K"
    def __hash__(self): return 1
    def __eq__(self, other): return self.n == other.n
    def __lt__(self, other): return self.n < other.n
A, B = K(1.0), K(2.0)
def part(k):
    @dataclasses.dataclass
    class Part:
        a: float
        def of(self): return self.a * k
    return Part
PARTS = [part(2.0), part(3.0)]
"""


def module(text, name="program"):
    """What a fresh process has of a program."""
    made = types.ModuleType(name)
    made.__file__ = f"/nowhere/{name}.py"
    sys.modules[name] = made
    code = builtins.compile(text, f"<{name}>", "exec") if isinstance(text, str) else text
    exec(code, vars(made))
    return made


def compiled_later(fun):
    """Compile as a later process does, which finds what earlier ones have written."""
    records.WRITTEN = set()
    return compile(fun)


def kept(f):
    """Whether a later process may find anything of it."""
    return any(path.stored for entry in f.entries.values() for path in entry.paths)


def marks(f):
    """What each path stands for, of those that a later process finds; no two for the same calls."""
    paths = [path for entry in f.entries.values() for path in entry.paths if path.stored]
    found = [records.mark_of(path.stored) for path in paths]
    for entry in f.entries.values():
        mine = [records.mark_of(path.stored) for path in entry.paths if path.stored]
        assert len({*mine}) == len(mine)
    return {*found}


def table(kind):
    """The rows of a block of the table, by their names."""
    text = (pathlib.Path(__file__).parent / "compile_stored.txt").read_text()
    block = text.split(f"# {kind}\n")[1].split("\n# ")[0]
    rows = [line.replace("\\n", "\n").split(" ¦ ") for line in block.splitlines()]
    return {name: row for name, *row in rows}


def different(text, old, new):
    """The text of the later process."""
    assert old in text, text
    return text.replace(old, new)


def numbers(x):
    """All that can be seen of a result."""
    if isinstance(x, (tuple, list)):
        return [type(x).__name__, *map(numbers, x)]
    if isinstance(x, dict):
        return [type(x).__name__, *[(repr(k), numbers(y)) for k, y in x.items()]]
    if hasattr(x, "__dataclass_fields__"):
        return [type(x).__name__, *[(k, numbers(y)) for k, y in sorted(vars(x).items())]]
    return type(x).__name__, np.asarray(x).dtype.str, repr(x)
