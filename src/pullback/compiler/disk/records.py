"""Cached artifacts: paths that an earlier process recorded, for later ones.

A path that has been replayed is written beside its machine code: what the function reads and a
digest of it, the guards with their answers, and the program. A later process looks it up by the
function's code and the kind of call, and uses it if everything it reads has the same digest. Then
the function doesn't have to run first, and neither LLVM nor any pass is needed.

Paths are left out if `portable` cannot describe them, if they hold the user's functions, or if they
return objects that existed before. A solver's call holds the programs of the user's functions.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import importlib.util
import os
import sys
import types
import zlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import optree

from ...core.graph import Variable
from ...core.registry import CREATION, FUNCTIONS, UFUNCS
from ...core.tree import NAMESPACE, meet, unflatten
from ...transforms.transformation import Transformation
from ..entry import native_records
from ..facts.ambient import copiers
from ..facts.classes import Unprovable, of_library
from ..facts.places import of
from ..facts.state import State
from ..llvm import binding, lapack, numpy_loops, routines, thread_pool
from ..llvm import disk_cache as disk
from ..lower import blas, gemm
from ..lower.module import Module
from ..lower.plan import Plan
from ..path import Call, Entry, Path
from ..program import Program, Run
from ..record.guards import Guard
from ..record.recording import Recording, containers_in, print_options
from .pickles import loaded, written
from .portable import (
    Portable,
    Unportable,
    at,
    reading,
    said,
)

if TYPE_CHECKING:
    from ..call.compiled import Compiled

FORM = "4"  # raised when files are to be written in another way
MOST = 16  # paths of one kind of arguments
WRITTEN: set[str] = set()  # by this process, which does not look for them
KINDS = ("container", "class")  # places of classes, which a state in a process leaves out
BESIDE: dict[str, list[bytes]] = {}  # what it wrote, also of other functions of the same key
VALUES = (bool, int, float, complex, str, bytes, type(None))


# What a path is found by.


@functools.cache
def circumstances() -> tuple[str, ...]:
    """What decides besides the function and its arguments: this library, and those it stands on."""
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
    return *sorted(found), binding.surroundings()


def key_of(compiled: Compiled, call: Call) -> str:
    """The name of the file for a kind of calls.

    Raises:
        Unportable: it cannot be told in another process.
    """
    reader = Portable(State([compiled.fun], ()))
    static = compiled.static_argnums, compiled.static_argnames
    structure, order = call.key
    tree, leaves, errors = structure
    parts = [said(reader.read(compiled.fun)), static, repr(tree), said(leaves), errors, order]
    parts.append(options())
    return disk.key_of("record", repr(parts), surroundings())


@functools.cache
def surroundings() -> str:
    """All circumstances as one text."""
    return disk.key_of(*circumstances())


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
    if of(root, type):
        classes = containers_of(call)
        if root in classes:
            return "container", classes.index(root)
        if at(sys.modules.get(root.__module__), root.__qualname__) is root:
            return "class", root.__module__, root.__qualname__
    raise Unportable("an argument of another call")


def statics(call: Call) -> dict[Any, Any]:
    """The arguments that are not inputs, by their places; one may be there twice."""
    passed = {*call.inputs, *call.floats}
    leaves = enumerate(call.leaves)
    return {("leaf", i): x for i, x in leaves if i not in passed and not fixed(x)}


def nodes_of(structure: Any) -> list[Any]:
    """What a structure holds beside leaves: classes, keys, static fields."""
    return [] if structure is None else list(structure.__getstate__()[0])


def is_value(x: Any) -> bool:
    """Whether a copy of it is as good as itself."""
    if type(x) in (tuple, list, dict):
        return all(map(is_value, x))  # of a dict the keys; it has no values here
    return type(x) in VALUES or isinstance(x, (type, enum.Enum))


def containers_of(call: Call) -> list[type]:
    """The user's classes of the containers among the arguments.

    Raises:
        Unportable: a key of a dict has more to it than its text.
    """
    found: dict[type, None] = {}
    for x in containers_in(unflatten(call.structure, call.leaves)):
        if not of_library(type(x)):
            found[type(x)] = None
        if of(x, dict) and not all(map(is_plain, x)):
            raise Unportable("a dict with objects as keys")
    return list(found)


def is_plain(key: Any) -> bool:
    return type(key) in VALUES or (type(key) is tuple and all(map(is_plain, key)))


def is_numpy(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "numpy"


def options() -> str:
    """What decides about the text of arrays and integers."""
    return repr((np.get_printoptions(), np.getbufsize(), sys.get_int_max_str_digits()))


def is_new(cls: type) -> bool:
    """Whether it is a dataclass that nobody has registered as a tree."""
    known = optree.register_pytree_node.get(cls, namespace=NAMESPACE)
    return dataclasses.is_dataclass(cls) and known is None


SETTINGS: dict[str, Callable[[], Any]] = {"copiers": copiers}  # which another process can compare


def settings_by(names: Sequence[str]) -> list[Any]:
    return [SETTINGS[name] for name in names]


def fixed(root: Any) -> bool:
    """Whether it is what it is in every process: a number of another call, say."""
    return type(root) in (int, float, bool, str, type(None)) or of(root, np.generic)


def root_at(place: Any, compiled: Compiled, call: Call) -> Any:
    """Where a state begins that another process has written down."""
    kind = place[0]
    if kind == "function":
        return compiled.fun
    if kind == "leaf":
        return call.leaves[place[1]]
    if kind == "container":
        return containers_of(call)[place[1]]
    if kind == "class":
        return at(sys.modules[place[1]], place[2])
    return (sys.modules if kind == "modules" else vars(sys.modules[place[1]])), place[2]


# Runs and recordings whose graphs are unpickled only when somebody asks for them.


FIELDS = (
    "inputs", "outputs", "constants", "text", "segments", "work", "arena_size", "waits", "results",
    "answers", "asked", "raising", "orders",
)  # fmt: skip
ABOUT = (
    "structure", "outputs", "kinds", "written", "layouts", "orders", "axes", "placed", "locked",
    "identity", "narrow", "unlike", "unsure", "numbers", "captured", "suspends",
)  # fmt: skip


class StoredRun(Run):
    """A run that is all machine code: it calls nothing else."""

    def __init__(self, about: dict[str, Any], graphs: bytes) -> None:
        vars(self).update(about, packed=graphs, objects={})
        provide(about["text"])
        self.begin(0)

    def __getattr__(self, name: str) -> Any:
        if name in ("whole", "unchecked", "graph"):
            self.whole, self.unchecked, self.graph = loaded(zlib.decompress(self.packed))
        elif name == "plan":
            self.plan = Plan(self.graph, orders=self.orders)
        elif name == "module":
            self.module = Module(self.plan)
        else:
            raise AttributeError(name)
        return vars(self)[name]


def provide(text: str) -> None:
    """Make the functions that a module calls by name; without a plan nobody else does."""
    if f"@{thread_pool.SYMBOL}(" in text:
        thread_pool.ready()
    for dtype, (letter, _) in blas.LETTERS.items():
        if f"@{gemm.name_of(dtype)}(" in text:
            gemm.symbol(dtype)
        if f"@pullback_{letter}g" in text and not blas.available():
            raise Unportable("there is no SciPy here")
    if not numpy_loops.provide(text):
        raise Unportable("this NumPy has other loops")
    if not lapack.provide(text) or not routines.provide(text):
        raise Unportable("LAPACK's routines are not found here")


class StoredRecording(Recording):
    """A recording whose graph is that of its program: optimised, with loops rolled."""

    def __init__(self, about: dict[str, Any], guards: Sequence[Any], program: Program) -> None:
        vars(self).update(about)
        self.program = program
        self.guards = [Guard(None, *guard) for guard in guards]
        self.sources = [None] * len(self.outputs)
        self.values = self.final = []

    @property
    def graph(self) -> Any:  # type: ignore[override]  # a field there
        return self.program.run.whole


def extended() -> bool:
    """Whether the user has said what stands for functions of NumPy."""
    rules = [*FUNCTIONS.values(), *CREATION.values(), *UFUNCS.values()]
    places = {home(x) for x in rules if x not in (None, type(None))}
    return any(place.partition(".")[0] != "pullback" for place in places)


def home(rule: Any) -> str:
    """The module in which a rule was written, whatever function it stands for."""
    while of(rule, functools.partial):
        rule = rule.func
    if of(rule, types.FunctionType):
        return str(rule.__globals__["__name__"])
    return str((rule if of(rule, type) else type(rule)).__module__)


def sign_of(compiled: Compiled) -> str:
    """The name of the file that marks that artifacts exist for a function of this name."""
    fun = compiled.fun
    while isinstance(fun, Transformation):
        fun = fun.fun
    name = getattr(fun, "__qualname__", type(fun).__qualname__)
    return disk.key_of("function", str(getattr(fun, "__module__", "")), str(name))


def is_likely(compiled: Compiled) -> bool:
    """Whether an earlier process may have left artifacts of a function: cheap to ask, no proof."""
    try:
        return disk.has(sign_of(compiled))
    except Exception:  # of an object that does not answer as others do
        return False


def keep(compiled: Compiled, entry: Entry, path: Path, call: Call) -> None:
    """Write a path for later processes, with what else is known of calls of this kind."""
    path.stored = False
    if disk.folder() is None or entry.sought != options() or extended():
        return
    try:
        path.stored = described(compiled, path, call)
        key = key_of(compiled, call)
        known = [x.stored for x in entry.paths if x.stored] + entry.elsewhere
        distinct: dict[str, bytes] = {}
        for x in (*known, *BESIDE.get(key, ())):
            distinct.setdefault(mark_of(x), x)
        BESIDE[key] = content = [*distinct.values()][:MOST]
        WRITTEN.add(key)
        disk.write(key, written(((entry.floats, entry.weak, entry.apart), content)))
        if not is_likely(compiled):
            disk.write(sign_of(compiled), b"")
    except Exception:  # of an object that does not answer as others do: then it is not kept
        path.stored = False


def described(compiled: Compiled, path: Path, call: Call) -> bytes:
    """A path, with what it depends on, as bytes."""
    recording, run = path.recording, path.program.run
    if recording.captured or any(source is not None for source in recording.sources):
        raise Unportable("it returns what was there before")
    if recording.stores or compiled.carried:
        raise Unportable("it stores its results")
    in_name = {print_options(), sys.get_int_max_str_digits}  # of the record, by `options`
    asked = {*path.state.settings} - in_name
    if asked - {*SETTINGS.values()}:
        raise Unportable("it depends on settings of the process, or on files")
    settings = [name for name, setting in SETTINGS.items() if setting in asked]
    if path.state.whole:
        raise Unportable("it looks into objects by names that are not in the code")
    state = path.state
    for x in recording.outputs:
        if not (of(x, (Variable, type, enum.Enum)) or type(x) in VALUES or is_numpy(type(x))):
            raise Unportable(f"it returns an object of type `{type(x).__name__}`")
    guards = [(guard.asked, guard.answer, guard.line, 0, guard.of_loop) for guard in path.guards]
    about = {name: getattr(recording, name) for name in ABOUT}
    native = path.program.native and not run.calls and native_records.native(run)
    fields = {name: getattr(run, name) for name in FIELDS} if native else None
    if fields is not None:
        fields["kinds"] = {x: run.kinds[x] for x in run.outputs if x in run.kinds}
        fields["n_in"], fields["n_out"] = run.n_in, run.n_out
    graphs = zlib.compress(written((run.whole, run.unchecked, run.graph)), 1)
    needed = path.n_known, path.n_known + len(path.guards)
    classes: dict[type, None] = {}
    lying = run.orders
    rest = written((path.numbers, guards, about, fields, graphs, needed, lying), classes)
    if not is_value(nodes_of(recording.structure)):
        raise Unportable("it returns an object of the user's")
    mine = statics(call)
    given = {id(x) for x in mine.values()} - {id(compiled.fun)}
    roots = [root for root in state.roots if not fixed(root) and id(root) not in given]
    known = {id(root) for root in (*roots, *mine.values())}
    kinds = dict.fromkeys([*containers_of(call), *classes])
    roots += [cls for cls in kinds if id(cls) not in known]
    places = [*[place_of_root(root, compiled, call) for root in roots], *mine]
    roots += [*mine.values(), nodes_of(call.structure)]
    limits = state.limits()
    state_now = State(roots, state.names, state.codes, settings_by(settings)).limited(limits)
    digest = reading(state_now)
    if not state.holds(path.token):
        raise Unportable("what it reads has changed meanwhile")
    about_state = places, sorted(state.names), limits, settings, state_now.identity
    return written((about_state, digest, rest))


def mark_of(content: bytes) -> str:
    """What two paths share that stand for the same calls, such as those of two functions that are
    made alike.
    """
    (places, *_), digest, rest = loaded(content)
    numbers, guards, about = loaded(rest)[:3]
    same = numbers and [x.tobytes() for x in numbers]
    return repr((places, digest, same, guards, [about[x] for x in ("layouts", "orders", "axes")]))


def find(compiled: Compiled, entry: Entry, call: Call) -> None:
    """Enter the paths that an earlier process has written, and that stand for calls here."""
    if disk.folder() is None:
        entry.sought = "nothing is kept"
        return
    entry.sought = options()
    try:
        key = key_of(compiled, call)
        content = None if key in WRITTEN else disk.read(key)
        if content is None or extended():
            return
        (floats, weak, apart), stored = loaded(content)
        found = [(x, restored(compiled, x, call)) for x in stored]
    except Exception:  # it is not what it says: then it is not there
        return
    paths = [path for _, path in found if path is not None]
    entry.elsewhere = [x for x, path in found if path is None]
    if paths:
        entry.floats, entry.weak, entry.apart = floats, weak, apart
        for path in paths:
            entry.known = path.state.merged(entry.known)
        entry.paths = paths


def drop(compiled: Compiled, call: Call) -> None:
    """Forget the paths that were found on disk: they have programs, but no recordings."""
    entry = compiled.entry(call.key)
    entry.sought = options()
    compiled.know([])  # machine code may replay it
    entry.paths = [path for path in entry.paths if type(path.recording) is Recording]


def restored(compiled: Compiled, content: bytes, call: Call) -> Path | None:
    """A path that was written; None if what it reads is something else here."""
    (places, names, limits, settings, identity), digest, rest = loaded(content)
    told = settings_by(settings)
    try:
        roots = [root_at(place, compiled, call) for place in places]
        known = State([*roots, nodes_of(call.structure)], names, (), told).limited(limits)
        known.identity = identity
        if reading(known) != digest:
            return None
        mine = [x for x, place in zip(roots, places, strict=True) if place[0] not in KINDS]
        meet({x for x in roots if of(x, type) and is_new(x)})
        state = State(mine, names, (), told).limited(limits)
        state.identity = identity
        token = state.token()
    except (Unportable, Unprovable, LookupError):
        return None
    numbers, guards, about, fields, graphs, needed, orders = loaded(rest)
    if numbers is not None and [type(x) for x in numbers] != [np.float64] * len(call.numbers):
        return None
    if fields is not None:
        program = Program.of(StoredRun(fields, graphs))
    else:
        whole, (known, answered) = loaded(zlib.decompress(graphs))[0], needed
        program = Program(whole, 0, known=known, needed=answered, orders=orders)
    recording = StoredRecording(about, guards, program)
    path = Path(recording, state, token, numbers, program)
    path.stored = content
    return path
