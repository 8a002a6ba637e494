"""What is known before a transformation begins: what replaces what, and whose code takes part.

`STANDS` has what stands for functions and modules, by their ids: ours for NumPy's. `takes_part`
says of a module's globals whether its code is exchanged: that of programs and installed packages
is, and some that NumPy and SciPy have written in Python; the standard library's and ours is not.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from functools import cache
from itertools import chain
from types import CodeType, ModuleType
from typing import Any

import numpy as np

from ..errors import public_module
from ..shutdown import rest
from .code_tables import named, with_nested
from .of_code import once_for_code

# What stands for what: `numpy.zeros` -> `pullback.numpy.zeros`.

# Module x is mirrored by pullback.x.
MIRRORED = (
    "numpy", "math", "cmath", "statistics", "functools", "scipy", "builtins", "importlib",
    "bottleneck", "numexpr",
)  # fmt: skip
# Modules in which ours enters what stands for functions of theirs, once they are imported.
SERVED = {
    "pandas": "pullback.pandas",
    "scipy.linalg.interpolative": "pullback.scipy.linear_algebra.interpolative",
}
JOINING: set[int] = set()  # ids of functions of ours that let SciPy's own take part, and no more
BOUND: dict[type, Any] = {}  # type of an object -> what is called for a compiled method of it
STANDS: dict[int, Any] = {}  # id of a function or module -> what stands for it
BEHIND: dict[int, Any] = {}  # id of what stands for something -> that
SCANNED: dict[str, list[Any]] = {}  # modules that were looked at, and ours that mirror them
KEPT: list[Any] = []  # what was entered by its id, which stays its own
UNWATCHED: list[Any] = [nullcontext]  # makes a context in which recordings hear of no calls
SCANNING = threading.RLock()
LOADED = [0]  # how many modules there were when they were looked at last
DATA = (int, float, complex, str, bytes, bool, tuple, dict, list, type(None), np.generic)


def scan() -> None:
    """Enter what our namespaces mirror, of the modules that have been imported by now.

    A recording that stops at unexpected code would break off an import in the middle.
    """
    with SCANNING, UNWATCHED[-1]():
        if halfway(AWAITED[0]):
            return  # in the middle of an import; later calls look again
        names = [
            name
            for name, module in sys.modules.copy().items()
            if name.partition(".")[0] in MIRRORED and is_genuine(name, file_of(module))
        ]
        for name in filter(halfway, names):
            AWAITED[0] = name
            return
        for name in SERVED.keys() & sys.modules.keys() - SCANNED.keys():
            if not halfway(name):
                SCANNED[name] = []
                with suppress(ImportError):  # a release that has other names is called as it is
                    importlib.import_module(SERVED[name])
        for name in sorted(names):  # a package comes before what it holds
            parent = name.rpartition(".")[0]
            if name in SCANNED or "._" in name or (parent and not SCANNED.get(parent)):
                continue
            rest()
            inside = not parent or hasattr(SCANNED[parent][1], "__path__")  # a package may have it
            if not inside or importlib.util.find_spec(f"pullback.{name}") is None:
                SCANNED[name] = []
            else:
                enter(sys.modules[name], importlib.import_module(f"pullback.{name}"))
        LOADED[0] = len(sys.modules)


AWAITED = [""]  # a module that was being imported when they were looked at


def halfway(name: str) -> bool:
    """Whether a module is being imported at this moment, and does not have all its names yet."""
    spec = getattr(sys.modules.get(name), "__spec__", None)
    return getattr(spec, "_initializing", False)


def enter(real: ModuleType, mirror: ModuleType) -> None:
    names = [name for name in dir(mirror) if not name.startswith("_") and name in vars(real)]
    things = [(real, mirror), *[(vars(real)[name], getattr(mirror, name)) for name in names]]
    if real is np:  # a package may have put functions of its own in their places, and keep NumPy's
        own = vars(importlib.import_module("numpy._core"))
        things += [(own[name], getattr(mirror, name)) for name in names if name in own]
    SCANNED[real.__name__] = [real, mirror]
    KEPT.append(things)
    for theirs, ours in things:
        if theirs is not ours and not isinstance(theirs, DATA) and id(ours) not in JOINING:
            if STANDS.get(id(theirs), theirs) is theirs:
                STANDS[id(theirs)] = ours
            BEHIND.setdefault(id(ours), theirs)


# What is known of a code object.

LOADS = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})
STORES = frozenset({"STORE_GLOBAL", "DELETE_GLOBAL"})


class Names:
    """What code, with the functions and classes nested in it, reads and stores outside itself."""

    __slots__ = ("assigned", "home", "loads", "stores")

    def __init__(self, code: CodeType) -> None:
        self.loads: set[str] = set()
        self.stores: set[str] = set()
        self.assigned: set[str] = set()  # variables of an enclosing function that it assigns to
        self.home = code.co_qualname.partition(".")[0]  # a class, if it is a method
        self.read(code)

    def read(self, code: CodeType) -> None:
        for operation, name in chain.from_iterable(map(named, with_nested(code))):
            if operation in LOADS:
                self.loads.add(name)
            elif operation in STORES:
                self.stores.add(name)
            else:
                self.assigned.add(name)


names_of = once_for_code(Names)


# Whose code it is, and whether it takes part.

# Of what Python brings along, the modules whose functions take part: they compute with numbers, or
# call functions of the user's.
OPEN = frozenset(
    {"collections", "colorsys", "contextlib", "fractions", "functools", "heapq", "numbers",
     "random", "statistics"}
)  # fmt: skip
# Packages that we mirror in part: their own code takes part as well. And spectra of a package that
# shows numbers.
WRITTEN_IN_PYTHON = ("scipy", "numpy.polynomial", "matplotlib.mlab")
# Modules of NumPy, written in Python, that no function of ours replaces: classes of arrays, and
# private functions that packages call.
NUMPY_IN_PYTHON = (
    "numpy.matrixlib", "numpy.ma", "numpy.lib._", "numpy.linalg._linalg", "numpy._core.",
)  # fmt: skip
HOME = os.path.dirname(os.__file__) + os.sep
INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
RANKS: dict[tuple[Any, Any], int] = {}


def takes_part(scope: dict[str, Any]) -> bool:
    """Whether functions with these globals take part in transformations."""
    key = scope.get("__name__"), scope.get("__file__")
    known = PARTS.get(key)
    if known is None:
        top = package(scope)
        name = str(key[0])
        of_numpy = name.startswith(NUMPY_IN_PYTHON) and not name.startswith(OF_MEMORY)
        known = PARTS[key] = (
            name.startswith(WRITTEN_IN_PYTHON)
            or of_numpy
            or (top not in CLOSED and (library(scope) < 2 or top in OPEN) and not keeps(scope))
        )
    return known


def stays(module: Any) -> bool:
    """Whether what is compiled in a module is called as it is, whatever its arguments are."""
    top = str(module).partition(".")[0]
    if str(module).startswith(WRITTEN_IN_PYTHON):
        return False
    return (top in sys.stdlib_module_names and top not in OPEN) or top in CLOSED


# What computes nothing that has a derivative: NumPy and ourselves; what reads code to compile it;
# what shows numbers, or tests; and what stands in for functions of `typing`.
CLOSED = frozenset(
    {"numpy", "pullback", "optree", "llvmlite", "numba", "matplotlib", "IPython", "pytest",
     "_pytest", "pluggy", "hypothesis", "typing_extensions"}
)  # fmt: skip
OF_MEMORY = ("numpy.lib._stride_tricks", "numpy.lib._npyio", "numpy.lib._format")
# Packages within packages that keep arrays in compiled objects, which take NumPy's alone. They are
# called as what is compiled: with plain arrays for those without a derivative.
KEEPING = ("pandas.core.internals", "pandas.core.array_algos", "pandas.core.reshape.tile")
PARTS: dict[Any, bool] = {}


def makes_text(scope: dict[str, Any]) -> bool:
    """Whether functions with these globals, which take no part, may make text or read it."""
    return library(scope) == 2 and package(scope) not in SHOWN_BY and not takes_part(scope)


# Of the standard library and of ours, what only shows text, or has nothing to do with it.
SHOWN_BY = frozenset({"pullback", "logging", "warnings", "traceback", "unittest", "threading"})


def keeps(scope: dict[str, Any]) -> bool:
    return str(scope.get("__name__")).startswith(KEEPING)


def package(scope: dict[str, Any]) -> str:
    return str(scope.get("__name__")).partition(".")[0]


def library(scope: dict[str, Any]) -> int:
    """Whether globals are of a library: 0 no, 1 an installed package, 2 what is never rebound."""
    key = scope.get("__name__"), scope.get("__file__")
    known = RANKS.get(key)
    if known is None:
        top, file = package(scope), str(key[1] or "")
        standard = file.startswith(HOME) if file else top in sys.stdlib_module_names
        known = 1 if file and is_installed(file, str(key[0])) else 2 if standard else 0
        if top in ("pullback", *MIRRORED) and is_genuine(str(key[0]), file):
            known = 2
        RANKS[key] = known
    return known


def is_genuine(name: str, file: str) -> bool:
    """Whether a module is what its name says, and no file of the user's that is named likewise."""
    top = name.partition(".")[0]
    if not file:
        return True
    if top in sys.stdlib_module_names:  # a program that was packed has its own folder for these
        return file.startswith(HOME) or not os.path.exists(f"{HOME}{top}.py")
    if top in ("numpy", "scipy", "pullback"):
        root = file_of(sys.modules.get(top))
        return bool(root) and file.startswith(os.path.dirname(root) + os.sep)
    return is_installed(file, name)


def file_of(module: Any) -> str:
    return str(getattr(module, "__file__", None) or "")


def standard_module(name: str) -> ModuleType:
    """A module of the standard library, also where a file of the user's has its name."""
    module = importlib.import_module(name)
    if is_genuine(name, file_of(module)):
        return module
    spec = importlib.util.spec_from_file_location(name, f"{HOME}{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_installed(file: str, name: str) -> bool:
    """Whether an installer put the file of a module there, under whatever folder.

    `pip install --target` and archives for cloud functions have no `site-packages`.
    """
    if any(folder in file for folder in INSTALLED):
        return True
    folder = os.path.dirname(file)
    for _ in range(name.count(".") + os.path.basename(file).startswith("__init__.")):
        folder = os.path.dirname(folder)
    return name.partition(".")[0] in installed_in(folder)


@cache
def installed_in(folder: str) -> frozenset[str]:
    """The packages and modules that installers noted down in a folder when they wrote them."""
    names: set[str] = set()
    entries = os.listdir(folder) if os.path.isdir(folder) else []  # it may be an archive
    for entry in [entry for entry in entries if entry.endswith(".dist-info")]:
        with (
            suppress(OSError),
            open(os.path.join(folder, entry, "RECORD"), encoding="utf-8") as record,
        ):
            names |= {re.split("[/.,]", line, maxsplit=1)[0] for line in record}
    return frozenset(names)


def apart(scope: dict[str, Any]) -> bool:
    """Whether globals are of what is not read as the program is: NumPy, what Python brings along.

    Installed packages that are written in Python are programs as the user's are.
    """
    known = library(scope)
    computes = str(scope.get("__name__")).startswith(WRITTEN_IN_PYTHON)
    return known == 2 or (known == 1 and package(scope) in CLOSED and not computes)


def caller() -> Any:
    """The innermost frame outside of ours."""
    frame: Any = sys._getframe(1)
    while frame.f_back is not None and package(frame.f_globals) == "pullback":
        frame = frame.f_back
    return frame


def asker() -> str:
    """For messages: which function of a library asked, where it was not the user's own line.

    It is the innermost library, by the function through which it was entered.
    """
    frame = caller()
    if package(frame.f_globals) == "pullback" or not library(frame.f_globals):
        return ""
    top, entry = package(frame.f_globals), frame
    while frame is not None and package(frame.f_globals) == top:
        entry, frame = frame, frame.f_back
    module = entry.f_globals["__name__"]
    name = entry.f_code.co_qualname.removesuffix(".__new__")
    owner = entry.f_locals.get(next(iter(entry.f_code.co_varnames), ""))
    if "._" in name:  # an operator, `__init__`: of the library's class, not of one derived from it
        made = [c for c in type(owner).__mro__ if c.__module__.partition(".")[0] == top]
        module, name = (made[0].__module__, made[0].__qualname__) if made else (module, name)
    hidden = "<" in name or name.startswith("_") or name.rpartition(".")[2].startswith("_")
    if hidden:
        return f", by a function of `{module}`"
    return f", by `{public_module(module, name)}.{name}`"


SHOWING = frozenset({"matplotlib", "seaborn", "plotly", "PIL", "imageio", "logging", "rich"})


def shows() -> bool:
    """For messages: whether the value was asked for to be shown, by a library for that."""
    frame: Any = sys._getframe(1)
    while frame is not None and package(frame.f_globals) not in SHOWING:
        frame = frame.f_back
    return frame is not None


def rest_of(
    real: ModuleType, names: Sequence[str], ours: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of the module named `ours`: further names are the real ones.

    >>> import math
    >>> get, names = rest_of(math, ["pi"], "here")
    >>> get("pi"), names()
    (3.141592653589793, ['pi'])
    >>> get("e")
    Traceback (most recent call last):
    AttributeError: module 'here' has no attribute 'e'
    """

    def get(name: str) -> Any:
        if name in names:
            return getattr(real, name)
        raise AttributeError(f"module '{ours}' has no attribute '{name}'")

    return get, lambda: list(names)
