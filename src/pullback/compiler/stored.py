"""Records on disk: what an earlier process learnt of a function, without running it again.

A path that has been repeated is written down beside its machine code: what the function reads and
a digest of it, the questions and answers on the way, and the program. Another process finds it by
the code of the function and the kind of the arguments; it stands for a call there where all that is
read has the same digest. Then the function need not run to be known, and neither LLVM nor any pass
is needed.

Not written down are paths of which `portable` has no description, and those that hold functions of
the user's or return what was there before.
"""

from __future__ import annotations

import copyreg
import enum
import functools
import importlib.util
import io
import os
import pickle
import sys
import types
import zlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from optree import PyTreeSpec

from ..core.dispatch import CREATION, FUNCTIONS, UFUNCS
from ..core.primitive import Primitive
from ..core.tree import SEEN, see
from . import blas, gemm, llvm, records, threads
from . import cache as disk
from .passes import declared, opened
from .paths import Call, Entry, Path
from .plan import Plan
from .portable import Portable, Unportable, place_of, reading, said, thing_at, tree
from .program import Module, Program, Run
from .recording import Guard, Recording
from .state import State, Unprovable, of

if TYPE_CHECKING:
    from .compiled import Compiled

__all__ = ["find", "keep"]

FORM = "1"  # raised when files are to be written in another way
MOST = 16  # paths of one kind of arguments
WRITTEN: set[str] = set()  # by this process, which does not look for them
# Classes of which pickles may hold instances; of others, those that this process has loaded.
TRUSTED = ("pullback", "numpy", "optree", "builtins", "collections", "_codecs", "copyreg")


# What a path is found by.


@functools.cache
def circumstances() -> tuple[str, ...]:
    """What decides beside the function and its arguments: this library, and those it stands on."""
    found = [FORM, np.__version__]
    (top,) = sys.modules[__name__.partition(".")[0]].__path__
    for folder, _, names in os.walk(top):
        for name in sorted(names):
            if name.endswith(".py"):
                about = os.stat(os.path.join(folder, name))
                found.append(f"{name} {about.st_size} {about.st_mtime_ns}")
    for name in ("numpy", "scipy", "optree"):
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin and os.path.exists(spec.origin):
            found.append(f"{spec.origin} {os.stat(spec.origin).st_mtime_ns}")
            # What the installer calls it holds its version.
            beside = os.listdir(os.path.dirname(os.path.dirname(spec.origin)))
            found += [x for x in beside if x.startswith(f"{name}-")]
    return *sorted(found), *llvm.circumstances()


def key_of(compiled: Compiled, call: Call) -> str:
    """The name of the file for a kind of calls.

    Raises:
        Unportable: it cannot be told in another process.
    """
    reader = Portable(State([compiled.fun], ()))
    static = compiled.static_argnums, compiled.static_argnames
    structure, order = call.key
    whole, leaves, errors = structure
    parts = [said(reader.read(compiled.fun)), static, tree(whole), said(leaves), errors, order]
    return disk.key_of("record", repr(parts), *circumstances())


def place_of_root(root: Any, compiled: Compiled, call: Call) -> Any:
    """How another process finds where a state begins."""
    if type(root) is tuple:
        scope, name = root
        if scope is sys.modules:
            return "modules", "", name
        home = scope.get("__name__")
        if type(home) is str and vars(sys.modules.get(home, types)) is scope:
            return "global", home, name
        raise Unportable("globals of no module")
    if root is compiled.fun:
        return ("function",)
    raise Unportable("an argument of another call")


def fixed(root: Any) -> bool:
    """Whether it is what it is in every process: a number of another call, say."""
    return type(root) in (int, float, bool, str, type(None)) or of(root, np.generic)


def statics(call: Call) -> dict[Any, Any]:
    """The arguments that are no inputs, by their places; one may be there twice."""
    passed = {*call.inputs, *call.floats}
    leaves = enumerate(call.leaves)
    return {("leaf", i): x for i, x in leaves if i not in passed and not fixed(x)}


def tree_of(structure: Any) -> list[Any]:
    """What a structure holds beside leaves: classes, keys, static fields.

    Raises:
        Unportable: a function of the user's makes its objects.
    """
    nodes = [] if structure is None else list(structure.__getstate__()[0])
    for node in nodes:
        cls = node[4]
        if cls is not None and cls not in SEEN:
            raise Unportable(f"a tree of {cls.__module__}.{cls.__qualname__}")
    return nodes


def plain(x: Any) -> bool:
    """Whether a copy of it is as good as itself."""
    if type(x) in (tuple, list, dict):
        return all(map(plain, x))  # of a dict the keys; it has no values here
    return x is None or isinstance(x, (str, int, float, type, enum.Enum))


def root_at(place: Any, compiled: Compiled, call: Call) -> Any:
    """Where a state begins that another process has written down."""
    kind = place[0]
    if kind == "function":
        return compiled.fun
    if kind == "leaf":
        return call.leaves[place[1]]
    return (sys.modules if kind == "modules" else vars(sys.modules[place[1]])), place[2]


# Pickles.


# What primitives of their own have made on the way, and make again.
NONE = type(None)
BEGUN: dict[str, Callable[[], Any]] = {
    "derived": dict, "rules": dict, "ready": NONE, "program": NONE, "runs": int,
}  # fmt: skip


class Writer(pickle.Pickler):
    """Pickles programs: primitives of the library by their place, no functions of others."""

    classes = False

    def persistent_id(self, x: Any) -> Any:
        if of(x, Primitive) and declared(x):
            return place_of(x)
        return None

    def reducer_override(self, x: Any) -> Any:
        if of(x, types.FunctionType) and x.__module__.partition(".")[0] not in TRUSTED:
            raise Unportable(f"a function of {x.__module__}")
        if of(x, type) and not (self.classes or x.__module__.partition(".")[0] in TRUSTED):
            raise Unportable(f"a class of {x.__module__}")
        if of(x, PyTreeSpec):
            return structure_of, (dataclasses_in(x), pickle.dumps(x))
        if of(x, Primitive):  # one of its own, for a loop or a call
            state = dict(vars(x))
            state |= {name: make() for name, make in BEGUN.items() if name in state}
            if "compute" in state:
                state["compute"] = state["graph"].evaluate
            return copyreg.__newobj__, (type(x),), state  # type: ignore[attr-defined]
        if of(x, np.dtype) and x is np.dtype(x.type):
            return np.dtype, (x.type,)  # it is known by identity
        if hasattr(x, "opened") and not of(x, type):
            return np.array, (opened(x),)
        return NotImplemented


def dataclasses_in(structure: Any) -> list[type]:
    inner = [cls for x in structure.children() for cls in dataclasses_in(x)]
    return [*inner, structure.type] if structure.type in SEEN else inner


def structure_of(classes: list[type], content: bytes) -> Any:
    """The structure of a tree, whose dataclasses may be seen for the first time."""
    for cls in classes:
        see(cls)
    return loaded(content)


class Loader(pickle.Unpickler):
    def persistent_load(self, place: Any) -> Any:
        importlib.import_module(place[0])
        return thing_at(*place)

    def find_class(self, module: str, name: str) -> Any:
        if module.partition(".")[0] not in TRUSTED and module not in sys.modules:
            raise pickle.UnpicklingError(f"{module} has not been imported")
        return super().find_class(module, name)


def written(x: Any, classes: bool = False) -> bytes:
    """Bytes that are read by `loaded`; whether classes of the user's are among it."""
    out = io.BytesIO()
    writer = Writer(out, pickle.HIGHEST_PROTOCOL)
    writer.classes = classes
    writer.dump(x)
    return out.getvalue()


def loaded(content: bytes) -> Any:
    return Loader(io.BytesIO(content)).load()


# Runs and recordings of which the graphs are looked at where somebody asks for them.


FIELDS = (
    "inputs", "outputs", "constants", "text", "segments", "work", "arena_size", "waits", "results",
    "answers", "asked", "raising",
)  # fmt: skip
ABOUT = (
    "structure", "outputs", "kinds", "written", "layouts", "identity", "narrow", "unlike", "unsure",
    "numbers", "captured", "suspends",
)  # fmt: skip


class StoredRun(Run):
    """A run of which all that is called is machine code."""

    def __init__(self, about: dict[str, Any], graphs: bytes) -> None:
        vars(self).update(about, packed=graphs, objects={})
        provide(about["text"])
        self.begin(0)

    def __getattr__(self, name: str) -> Any:
        if name in ("whole", "unchecked", "graph"):
            self.whole, self.unchecked, self.graph = loaded(zlib.decompress(self.packed))
        elif name == "plan":
            self.plan = Plan(self.graph)
        elif name == "module":
            self.module = Module(self.plan)
        else:
            raise AttributeError(name)
        return vars(self)[name]


def provide(text: str) -> None:
    """Make what a module calls by name: its plan does so otherwise."""
    if f"@{threads.SYMBOL}(" in text:
        threads.ready()
    for dtype, (letter, _) in blas.LETTERS.items():
        if f"@{gemm.name_of(dtype)}(" in text:
            gemm.symbol(dtype)
        if f"@pullback_{letter}g" in text and not blas.available():
            raise Unportable("there is no SciPy here")


class StoredRecording(Recording):
    """A recording of which the graph is what has become of it, with its loops rolled."""

    def __init__(self, about: dict[str, Any], guards: Sequence[Any], program: Program) -> None:
        vars(self).update(about)
        self.program = program
        self.guards = [Guard(None, *guard) for guard in guards]
        self.sources = [None] * len(self.outputs)
        self.values = self.final = []

    @property
    def graph(self) -> Any:  # type: ignore[override]
        return self.program.run.whole


def extended() -> bool:
    """Whether the user has said what stands for functions of NumPy."""
    rules = [*FUNCTIONS.values(), *CREATION.values(), *map(type, UFUNCS.values())]
    places = {str(x.__module__) for x in rules if x not in (None, NONE)}
    return any(place.partition(".")[0] != "pullback" for place in places)


def keep(compiled: Compiled, entry: Entry, path: Path, call: Call) -> None:
    """Write a path for later processes, with what else is known of calls of this kind."""
    path.stored = False
    if disk.folder() is None or extended():
        return
    try:
        path.stored = described(compiled, path, call)
        key = key_of(compiled, call)
        content = [x.stored for x in entry.paths if x.stored] + entry.elsewhere
        WRITTEN.add(key)
        disk.write(key, written(((entry.floats, entry.weak, entry.apart), content[:MOST])))
    except Exception:  # of an object that does not answer as others do: then it is not kept
        path.stored = False


def described(compiled: Compiled, path: Path, call: Call) -> bytes:
    """A path, with what it depends on, as bytes."""
    recording, run = path.recording, path.program.run
    if recording.captured or any(source is not None for source in recording.sources):
        raise Unportable("it returns what was there before")
    state = path.state
    mine = statics(call)
    given = {id(x) for x in mine.values()} - {id(compiled.fun)}
    roots = [root for root in state.roots if not fixed(root) and id(root) not in given]
    places = [place_of_root(root, compiled, call) for root in roots]
    places, roots = [*places, *mine], [*roots, *mine.values()]
    trees = [tree_of(call.structure), tree_of(recording.structure)]
    if not plain(trees[1]):
        raise Unportable("it returns an object of the user's")
    digest = reading(State([*roots, *trees], state.names, state.codes))
    if not state.holds(path.token):
        raise Unportable("what it reads has changed meanwhile")
    guards = [(guard.asked, guard.answer, guard.line) for guard in path.guards]
    about = {name: getattr(recording, name) for name in ABOUT}
    native = path.program.native and records.native(run)
    fields = {name: getattr(run, name) for name in FIELDS} if native else None
    if fields is not None:
        fields["kinds"] = {x: run.kinds[x] for x in run.outputs if x in run.kinds}
        fields["n_in"], fields["n_out"] = run.n_in, run.n_out
    graphs = zlib.compress(written((run.whole, run.unchecked, run.graph)), 1)
    needed = path.n_known, path.n_known + len(path.guards)
    return written((
        places, sorted(state.names), digest,
        path.numbers, guards, about, tree(recording.structure), fields, graphs, needed,
    ), classes=True)  # fmt: skip


def find(compiled: Compiled, entry: Entry, call: Call) -> None:
    """Enter the paths that an earlier process has written, and that stand for calls here."""
    entry.sought = True
    if disk.folder() is None or extended():
        return
    try:
        key = key_of(compiled, call)
        content = None if key in WRITTEN else disk.read(key)
        if content is None:
            return
        flags, stored = loaded(content)
        found = [(x, restored(compiled, x, call)) for x in stored]
    except Exception:  # it is not what it says: then it is not there
        return
    paths = [path for _, path in found if path is not None]
    entry.elsewhere = [x for x, path in found if path is None]
    if paths:
        entry.floats, entry.weak, entry.apart = flags
        for path in paths:
            entry.known = path.state.merged(entry.known)
        entry.paths = paths


def drop(entry: Entry) -> None:
    """Forget what was found on disk: of it the program is known, and not the record."""
    entry.sought = True
    entry.paths = [path for path in entry.paths if type(path.recording) is Recording]


def restored(compiled: Compiled, content: bytes, call: Call) -> Path | None:
    """A path that was written; None if what it reads is something else here."""
    places, names, digest, numbers, guards, about, shape, fields, graphs, needed = loaded(content)
    try:
        state = State([root_at(place, compiled, call) for place in places], names)
        trees = [tree_of(call.structure), tree_of(about["structure"])]
        if (
            reading(State([*state.roots, *trees], names)) != digest
            or tree(about["structure"]) != shape
        ):
            return None
        token = state.token()
    except (Unportable, Unprovable, KeyError):
        return None
    if fields is not None:
        program = Program.of(StoredRun(fields, graphs))
    else:
        whole = loaded(zlib.decompress(graphs))[0]
        program = Program(whole, 0, known=needed[0], needed=needed[1])
    recording = StoredRecording(about, guards, program)
    path = Path(recording, state, token, numbers, program)
    path.stored = content
    return path
