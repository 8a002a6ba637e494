"""The folder tree is the architecture: who may import whom."""

import ast
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.statements import BODIES, inside

SRC = Path(__file__).resolve().parent.parent / "src"
LAYERS = [  # a module imports from its own row, without cycles, and from the rows above
    "core",
    "primitives",
    "transforms",
    "compiler",
    "numpy math cmath statistics functools builtins importlib bottleneck numexpr pandas scipy",
    "explain testing autograd sparse implicit ode optimize control nn optim cluster",
    "cli __init__ __main__",
]
ROOMS = [  # the same within `compiler`, in the order of its pipeline
    "fall_back",
    "llvm",
    "facts",
    "graph",
    "lower",
    "loops",
    "record",
    "entry",
    "pipeline",
    "program",
    "first_call path",
    "ways",
    "disk",
    "call",
]
TYPES_ONLY = {"TYPE_CHECKING", "typing.TYPE_CHECKING"}
ROW = {name: row for row, names in enumerate(LAYERS) for name in names.split()}
ROOM = {name: row for row, names in enumerate(ROOMS) for name in names.split()}


def modules(src):
    """Map the dotted name of each module to its file."""
    names = {path: path.relative_to(src).with_suffix("").parts for path in src.rglob("*.py")}
    return {
        ".".join(parts[:-1] if parts[-1] == "__init__" else parts): path
        for path, parts in names.items()
    }


def imports(node, package):
    """Yield (module, name or None) of each import under node, save those for type checkers only."""
    if isinstance(node, ast.Import):
        yield from ((alias.name, None) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = package.rsplit(".", node.level - 1)[0] if node.level else ""
        module = ".".join(filter(None, (base, node.module)))
        yield from ((module, alias.name) for alias in node.names)
    types_only = isinstance(node, ast.If) and ast.unparse(node.test) in TYPES_ONLY
    for child in inside(node, ("orelse",) if types_only else BODIES):
        yield from imports(child, package)


def imported_modules(name, known):
    """Return the modules of ours that the module of that name imports."""
    path = known[name]
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    for module, attribute in imports(ast.parse(path.read_text(encoding="utf-8")), package):
        submodule = f"{module}.{attribute}"
        found.add(submodule if submodule in known else module)
    return found & known.keys()


def layer(name):
    """Return the file or folder directly in src/pullback that holds a module."""
    return name.split(".")[1] if "." in name else "__init__"


def edges(src):
    """Map each module to the modules of ours that it imports."""
    known = modules(src)
    return {name: imported_modules(name, known) for name in known}


@cache
def ours():
    """The graph of `src/pullback`."""
    return edges(SRC)


def wrong_edges(graph):
    """List the imports that go down, as sentences."""
    return [
        f"{name} imports {other}, which lies below it."
        for name, others in sorted(graph.items())
        for other in sorted(others)
        if ROW[layer(other)] > ROW[layer(name)]
    ]


def room(name):
    """Return the file or folder directly in `compiler` that holds a module; None for others."""
    parts = name.split(".")
    return parts[2] if parts[1:2] == ["compiler"] and len(parts) > 2 else None


def wrong_doors(graph):
    """List the imports within `compiler` that go down the pipeline, as sentences."""
    return [
        f"{name} imports {other}, which lies below it."
        for name, others in sorted(graph.items())
        for other in sorted(others)
        if room(name) and room(other) and ROOM[room(other)] > ROOM[room(name)]
    ]


def test_every_module_has_a_layer():
    """A new folder takes its place in the list above."""
    assert {layer(name) for name in ours()} <= ROW.keys()


def test_imports_go_up():
    """No module imports from a layer below its own."""
    assert wrong_edges(ours()) == []


def test_every_module_of_the_compiler_has_a_room():
    """A new folder takes its place in the list of rooms."""
    assert {room(name) for name in ours()} - {None} <= ROOM.keys()


def test_imports_within_the_compiler_go_up():
    """No module imports from a room that comes later in the pipeline."""
    assert wrong_doors(ours()) == []


def test_imports_have_no_cycles():
    """Modules can be put in one order in which each imports only earlier ones."""
    try:
        TopologicalSorter(ours()).prepare()
    except CycleError as error:
        pytest.fail("These modules import each other: " + " -> ".join(error.args[1]))


def test_only_what_users_import_from_has_a_list_of_its_names():
    """Elsewhere imports say what others use; a list by hand beside them was wrong by a sixth."""
    listed = [
        name
        for name, path in modules(SRC).items()
        if layer(name) in {"core", "primitives", "transforms", "compiler", "pandas"}
        if re.search("^__all__", path.read_text(encoding="utf-8"), re.M)
    ]
    assert listed == ["pullback.core.errors"]


PEN = "pullback.compiler.llvm.pen"
END = r"(br (i1|label)|ret (void|i\d|ptr)|switch i64)"  # of a block of LLVM's
ENDS = re.compile(rf"^\s*{END}", re.M)


def test_one_pen_writes_the_blocks_of_machine_code():
    """No other module has text of LLVM's that goes from block to block."""
    texts = {name: path.read_text(encoding="utf-8") for name, path in modules(SRC).items()}
    assert re.search(END, texts[PEN])
    found = [
        f"{name}, line {node.lineno}"
        for name, text in texts.items()
        if name != PEN and re.search(END, text)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and ENDS.search(node.value)
    ]
    assert found == []


class TestTheWalkItself:
    """The walk sees relative, nested and conditional imports."""

    def write(self, folder, **files):
        for name, text in files.items():
            path = folder / "pullback" / (name.replace("__", "/") + ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return edges(folder)

    def test_import_down(self, tmp_path):
        """A function-level relative import of a lower layer is found."""
        inner = "def f():\n    from ..transforms import reverse\n"
        graph = self.write(tmp_path, core__array=inner, transforms__reverse="")
        expected = "pullback.core.array imports pullback.transforms.reverse, which lies below it."
        assert wrong_edges(graph) == [expected]

    def test_import_down_the_pipeline(self, tmp_path):
        """An import of a later room is found."""
        inner = "def f():\n    from ..call import path\n"
        graph = self.write(tmp_path, compiler__graph__a=inner, compiler__call__path="")
        expected = "pullback.compiler.graph.a imports pullback.compiler.call.path, which lies below"
        assert wrong_doors(graph) == [f"{expected} it."]

    def test_type_checking(self, tmp_path):
        """An import for type checkers only is not counted, its `else` is."""
        text = (
            "from typing import TYPE_CHECKING\n"
            "if TYPE_CHECKING:\n    import pullback.cli\n"
            "else:\n    from pullback.explain import show\n"
        )
        graph = self.write(tmp_path, core__array=text, cli="", explain="")
        assert graph["pullback.core.array"] == {"pullback.explain"}

    def test_cycle(self, tmp_path):
        """Two modules of one layer that import each other are found."""
        graph = self.write(
            tmp_path, core__a="from . import b", core__b="from pullback.core import a"
        )
        with pytest.raises(CycleError):
            TopologicalSorter(graph).prepare()
