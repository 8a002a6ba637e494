"""Judge calls: whether the result and the effects of a call depend on its arguments alone.

The object that is called decides, under whatever name it was found, by its own module and name.
Allowed calls are listed; an unknown call may not be repeated. The user's functions need no
judgement, since the calls that they make are seen.

    may_repeat(callee, args)   why a call cannot be repeated, or None
    pure(callee)               the user's word that it can
"""

from __future__ import annotations

import datetime
import decimal
import inspect
import io
import random
import re
import sys
import weakref
from collections.abc import Callable
from itertools import product
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    CodeType,
    FunctionType,
    MethodDescriptorType,
    WrapperDescriptorType,
)
from typing import Any, TypeVar

import numpy as np

from ...core.errors import ArgumentTypeError, kind_of, public_module
from ...core.reach.bytecode import original
from ...core.reach.namespaces import apart
from ...core.usage import usage
from .classes import of_library, of_python

F = TypeVar("F")

# Modules of the standard library whose functions depend on their arguments alone.
PURE = frozenset(
    {
        "_abc", "_bisect", "_collections", "_collections_abc", "_functools", "_heapq", "_operator",
        "_typing", "_weakrefset", "abc", "bisect", "builtins", "cmath", "collections", "contextlib",
        "copy", "copyreg", "dataclasses", "enum", "fractions", "functools", "heapq", "itertools",
        "keyword",
        "math", "numbers", "operator", "re", "reprlib", "string", "types", "typing", "warnings",
        "numpy", "pullback", "optree", "statistics", "_statistics", "_struct", "struct",
        "importlib", "_imp", "inspect", "json", "_json", "decimal", "_decimal", "datetime",
        "hashlib", "_hashlib", "_blake2", "_md5", "_sha1", "_sha2", "_sha256", "_sha3", "_sha512",
        "textwrap", "base64", "binascii", "unicodedata", "ast", "_ast", "array", "colorsys",
    }
)  # fmt: skip
SCIPY = (
    "scipy.special", "scipy.linalg", "scipy.fft", "scipy.ndimage", "scipy.signal", "scipy.sparse",
    "scipy.interpolate", "scipy.spatial", "scipy.cluster", "scipy._lib._sparse", "scipy.stats",
    "scipy._lib._bunch", "scipy.optimize._constraints", "scipy.optimize._hessian_update_strategy",
)  # fmt: skip
# Modules of those that sample.
SAMPLING = (
    "scipy.stats._qmc", "scipy.stats._sobol", "scipy.stats.qmc", "scipy.stats._sampling",
    "scipy.stats.sampling", "scipy.stats._unuran",
)  # fmt: skip
SOURCES = "random", "scipy.stats._qmc"  # modules with Python code of objects that draw
# Of those, what draws random numbers; and what reads or writes files, or changes how SciPy works.
DRAWING = frozenset(
    {"random", "random_array", "rand", "kmeans", "kmeans2", "rvs", "resample", "sample"}
)
OF_SCIPY = DRAWING | {
    "save_npz", "load_npz", "use_solver", "set_backend", "set_global_backend", "register_backend",
    "skip_backend", "set_workers", "seed", "set_bandwidth", "reset_cache",
}  # fmt: skip
# Parameters by which functions of SciPy's draw random numbers, or plot.
SEEDS = frozenset({"rng", "random_state", "seed"})
DRAWS = SEEDS | {"n_resamples"}
PLOTS, START = "plot", "v0"  # where an iteration begins, if not at random
# Of those, what does more: of builtins and others.
DENIED = frozenset(
    {
        "print", "input", "open", "exec", "eval", "compile", "globals", "locals", "vars", "id",
        "breakpoint", "setattr", "delattr", "warn", "setrecursionlimit",
        "__import__", "import_module", "reload", "samples", "help", "exit", "quit",
        "copyright", "credits", "license", "localcontext", "setcontext", "getcontext", "now",
        "today", "utcnow", "fromtimestamp", "timestamp", "astimezone", "strftime", "strptime",
        "ctime", "file_digest", "load", "dump", "main", "test", "aiter", "anext", "_abc_register",
        "_reset_registry", "__subclasses__", "cache_clear", "cache_info", "get_overloads",
        "clear_overloads",
    }
)  # fmt: skip
# Functions of NumPy that read or write files, or change how NumPy works.
OUTSIDE = frozenset(
    {
        "load", "loadtxt", "genfromtxt", "fromfile", "fromregex", "save",
        "savez", "savez_compressed", "savetxt", "memmap", "open_memmap", "tofile", "dump",
        "set_printoptions", "printoptions", "setbufsize", "seterrcall", "geterrcall",
        "set_default_printstyle", "set_string_function",
    }
)  # fmt: skip
REFUSED = OUTSIDE | {
    "DataSource", "NpzFile", "Tester", "add_docstring", "add_newdoc",
    "array_function_dispatch", "from_dlpack", "get_include",
    "info", "jiffies", "load_library", "measure", "memusage", "opt_func_info", "run_threaded",
    "rundocs", "runstring", "set_module", "show_config", "show_runtime", "tempdir", "temppath",
    "test",
}  # fmt: skip
# What of `inspect` looks at types and signatures; other functions read files, or frames.
INSPECTING = frozenset(
    {
        "getfullargspec",
        "getmro",
        "isabstract",
        "isbuiltin",
        "isclass",
        "iscoroutinefunction",
        "isfunction",
        "isgenerator",
        "isgeneratorfunction",
        "ismethod",
        "ismethoddescriptor",
        "ismodule",
        "isroutine",
        "signature",
        "unwrap",
        "annotation",
        "apply_defaults",
        "args",
        "arguments",
        "bind",
        "bind_partial",
        "default",
        "kind",
        "kwargs",
        "name",
        "parameters",
        "return_annotation",
    }
)
# What of `pathlib` computes with names of files alone.
OF_PATHS = (
    "Path PurePath PosixPath PurePosixPath __new__ __init__ __truediv__ __rtruediv__ __str__"
    " __fspath__ __repr__ __eq__ __hash__ __lt__ __le__ __gt__ __ge__ __bytes__ name stem suffix"
    " suffixes parent parents parts anchor drive root joinpath with_name with_stem with_suffix"
    " as_posix relative_to is_relative_to is_absolute match __getitem__ __len__"
)
# Functions of other modules: on text, on the thread that runs, and on locks (who holds one is a
# fact).
ALSO_PURE = {
    "bottleneck.reduce": "allnan anynan median nanargmax nanargmin nanmax nanmean nanmedian nanmin"
    " nanstd nansum nanvar ss",
    "bottleneck.move": "move_max move_mean move_min move_std move_sum move_var",
    "posixpath": "join split splitext basename dirname normpath isabs commonprefix normcase",
    "ntpath": "join split splitext basename dirname normpath isabs commonprefix normcase",
    "scipy.signal._signaltools": "resample",  # by a Fourier transform, and not at random
    "scipy.stats._qmc": "scale discrepancy geometric_discrepancy",
    "os": "getenv fspath __getitem__ __iter__ __len__ encode decode",
    "posix": "fspath",
    "sys": "intern",
    "_thread": "get_ident allocate_lock lock RLock acquire release __enter__ __exit__ locked",
    "threading": "RLock",
    "weakref": "KeyedRef WeakKeyDictionary WeakValueDictionary get items keys values copy"
    " setdefault __init__ __new__ __contains__ __getitem__ __setitem__ __iter__ __len__",
    "_contextvars": "get set reset name",
    "_csv": "reader",
    "csv": "DictReader fieldnames __init__ __iter__ __next__",
    "configparser": "ConfigParser RawConfigParser SectionProxy ConverterMapping BasicInterpolation"
    " ExtendedInterpolation get getint getfloat getboolean _get_conv _options items keys values"
    " sections options has_section has_option defaults __getitem__ __contains__ __iter__ __len__",
} | dict.fromkeys(("pathlib", "pathlib._local", "pathlib._abc"), OF_PATHS)
# Classes of other modules that only keep what they are given; Python tells of calls of no class.
HOLDERS = {
    id(cls): cls
    for cls in (
        datetime.date, datetime.time, datetime.datetime, datetime.timedelta, datetime.timezone,
        datetime.tzinfo, decimal.Decimal, inspect.Parameter, inspect.Signature, inspect._empty,
        weakref.ref, io.StringIO, io.BytesIO, random.Random,
    )
}  # fmt: skip
# Of these, classes whose objects change. One that lives outside of the call cannot be read, so what
# a method is called of was made in the call.
BUFFERS = (io.StringIO, io.BytesIO)
CLOCK = {"now", "today"}  # NumPy reads them as the time, wherever it makes a date of text
DATES = (np.datetime64, np.array, np.asarray, np.asanyarray, np.full)
DTYPE_OF_DATES = re.compile(r"[<>=|]?M8(\[.*\])?|datetime64(\[.*\])?", re.ASCII)
METHODS = (MethodDescriptorType, ClassMethodDescriptorType, WrapperDescriptorType)
C_FUNCTIONS = (BuiltinFunctionType, MethodDescriptorType)
DECLARED: dict[int, Any] = {}  # by the user, by their ids
CODES: dict[int, CodeType] = {}  # and the code of functions written in Python


@usage("pure(f)")
def pure(callee: F) -> F:
    """Declare that the result of a library's function depends on its arguments alone.

    `compile` falls back to Python where an unknown function is called: one of an extension module,
    say. Declared pure, such a function is called while a call is recorded, and replays use the
    result that it gave then. It must not read files, clocks or random numbers, and must not change
    anything.

    >>> import zlib
    >>> pure(zlib.crc32) is zlib.crc32
    True

    Functions of the user's need no declaration. The declaration is for the object, whatever its
    name.

    Args:
        callee: the function; it is returned.

    Raises:
        ArgumentTypeError: callee is no function.
    """
    if not callable(callee):
        raise ArgumentTypeError(
            f"`pure` takes a function, but got {kind_of(callee)}.\n"
            "  Write `pure(f)`, with the function itself and not its result."
        )
    DECLARED[id(callee)] = callee
    if isinstance(callee, FunctionType):
        code = original(callee.__code__)
        CODES[id(code)] = code
    return callee


def declared_pure(x: Any) -> bool:
    """Whether a function, or this code of one, has been declared to be pure."""
    return id(x) in DECLARED or id(x) in CODES


# Functions of SciPy's, written in Python, that compute of their arguments and nothing else. What
# the object of a method holds is a fact as that of other objects is.
COMPUTING = {
    "scipy._lib._util": {"_RichResult": "__getattr__"},
    "scipy.integrate._ivp.common": {"OdeSolution": "__call__"},
    "scipy.integrate._quadrature": {
        "": "trapezoid simpson cumulative_trapezoid cumulative_simpson romb"
        " fixed_quad newton_cotes",
    },
    "scipy.integrate._lebedev": {"": "lebedev_rule"},
    "scipy.integrate._cubature": {"": "cubature"},
}


def declare_computing(module: str) -> None:
    """Declare those of a module, which has been imported, to be pure."""
    for owner, names in COMPUTING.pop(module, {}).items():
        for home, name in product(homes_in(sys.modules[module], owner), names.split()):
            fn = getattr(home.get(name), "__wrapped__", home.get(name))
            for x in (home.get(name), fn):
                if isinstance(x, FunctionType):
                    pure(x)


def homes_in(module: Any, owner: str) -> list[Any]:
    """The names of a module, of one of its classes, or of each of them."""
    if owner != "*":
        return [vars(getattr(module, owner) if owner else module)]
    mine = [x for x in vars(module).values() if isinstance(x, type)]
    return [vars(x) for x in mine if x.__module__ == module.__name__]


def may_repeat(callee: Any, args: tuple[Any, ...] = ()) -> str | None:
    """Why a call cannot be replayed; None if it can, or if its own calls are seen."""
    callee = getattr(callee, "__func__", callee)
    if declared_pure(callee) or id(callee) in HOLDERS:
        return None
    if type(getattr(callee, "__self__", None)) in BUFFERS:
        return None
    if isinstance(callee, FunctionType) and not apart(callee.__globals__):
        return None
    if isinstance(callee, type):
        if issubclass(callee, BaseException):
            return None
        if not of_library(callee):
            return compiled_base(callee)
    elif not isinstance(callee, C_FUNCTIONS) and not hasattr(callee, "__qualname__"):
        return None  # an object: what is called of it is judged where it is called
    if any(callee is x for x in DATES):
        for x in args:
            if tells_time(x):
                return f"it calls `numpy.{callee.__name__}({x!r})`"
    module, name = home_of(callee)
    mine = str(callee.__globals__.get("__name__")) if isinstance(callee, FunctionType) else module
    if effectful(module, name) and effectful(mine, name):  # a decorator may have changed it
        shown = public_module(module, name)
        return f"it calls `{name if shown in ('builtins', 'numpy') else f'{shown}.{name}'}`"
    return None


def tells_time(x: Any) -> bool:
    """Whether NumPy reads x as the time, wherever it makes a date of it."""
    text = x[()] if isinstance(x, np.ndarray) and not x.ndim and x.dtype.kind in "US" else x
    text = text.decode("latin-1") if isinstance(text, bytes) else text
    return isinstance(text, str) and text.casefold() in CLOCK


def of_dates(x: Any) -> str | None:
    """Why what makes dates of text by x, a dtype or its name, cannot be repeated.

    The text may be computed, as `"n" + "ow"` is, of which nobody hears.
    """
    known = type(x) is str and DTYPE_OF_DATES.fullmatch(x)
    if known or (isinstance(x, np.dtype) and x.kind == "M"):
        return f"it makes dates by the dtype `{x}`, and NumPy reads some text as the time"
    return None


def compiled_base(cls: type) -> str | None:
    """Why objects of a class cannot be made again, if it derives from a compiled one."""
    for base in cls.__mro__:
        if not of_python(base) and effectful(*home_of(base)):
            return f"it makes objects of `{base.__module__}.{base.__qualname__}`"
    return None


# Of code of SciPy's that may draw random numbers, whether it draws none for arguments by name.
UNDRAWN: dict[CodeType, Callable[[dict[str, Any]], bool]] = {}


def acts(frame: Any, is_seeded: Callable[[Any], bool]) -> bool:
    """Whether code of SciPy's, which begins, draws random numbers or plots, whoever calls it.

    It has a parameter for that. A constructor keeps what it draws from. A sequence is a range of
    percentages, or the whole of a seed. From a number as a seed it draws the same each time.
    """
    code, module = frame.f_code, str(frame.f_globals.get("__name__"))
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    if not module.startswith("scipy.") or module.startswith("scipy._lib"):
        return False
    if PLOTS in names and frame.f_locals[PLOTS] is not None:
        return True
    if code.co_name.startswith("__") or code.co_name == "random_state":  # sets it
        return False
    if START in names and frame.f_locals[START] is not None:
        return False
    known = UNDRAWN.get(original(code))
    if known is not None and known(frame.f_locals):
        return False
    given = {name: type(frame.f_locals[name]) for name in DRAWS & {*names}}
    if all(kind in (tuple, list) for kind in given.values()):
        return False
    return not repeats_draws(frame, is_seeded)


def repeats_draws(frame: Any, is_seeded: Callable[[Any], bool]) -> bool:
    """Whether code of SciPy's draws the same numbers in each call of the user's function.

    A number is its seed, or that of the function of SciPy's or ours that calls it; or the user's
    function has made the generator of a seed, or the object whose method it is.
    """
    inner = True
    while frame is not None and apart(frame.f_globals):
        given = seeds_given(frame)
        if any(type(x) is int or (inner and is_seeded(x)) for x in given):
            return True
        frame, inner = frame.f_back, False
    return False


def seeds_given(frame: Any) -> list[Any]:
    """What a function was given to draw from, and the object whose method it is."""
    code, held = frame.f_code, frame.f_locals
    n = code.co_argcount + code.co_kwonlyargcount
    more = (
        held.get(code.co_varnames[n + bool(code.co_flags & inspect.CO_VARARGS)], {})
        if (code.co_flags & inspect.CO_VARKEYWORDS)
        else {}
    )
    own = [held[name] for name in (SEEDS | {"self", "qrng"}) & {*code.co_varnames[:n]} & {*held}]
    return own + [more[name] for name in SEEDS & {*more}]


def may_act(code: CodeType) -> bool:
    """Whether `acts` depends on how the code is called."""
    return not {PLOTS, *DRAWS}.isdisjoint(code.co_varnames)


def home_of(x: Any) -> tuple[str, str]:
    """The module that a function is of, or the class that it is a method of; and its name."""
    module, name = getattr(x, "__module__", None), getattr(x, "__name__", "?")
    if module is None:
        owner = getattr(x, "__self__", None)
        owner = getattr(x, "__objclass__", None) if owner is None else owner
        classes = [*(owner.__mro__ if isinstance(owner, type) else ()), *type(owner).__mro__]
        made = [cls for cls in classes if isinstance(vars(cls).get(name), METHODS)]
        module = (made or classes)[0].__module__
    return str(module), name


def effectful(module: str, name: str) -> bool:
    """Whether a function has an effect, or an answer that its arguments do not decide."""
    if module.startswith("pullback."):  # what stands for functions and classes of others
        if module in ("pullback.builtins", "pullback.importlib"):
            return False
        return name in DENIED or name in OUTSIDE
    if module == "weakref" and name == "remove":  # called where a thing dies, by whom it may be
        return False
    top = module.partition(".")[0]
    if name in ALSO_PURE.get(module, "").split():
        return False
    if top == "inspect":
        return name not in INSPECTING
    pure = top in PURE or (module.startswith(SCIPY) and not module.startswith(SAMPLING))
    refused = {"numpy": REFUSED, "scipy": OUTSIDE | OF_SCIPY}.get(top, OUTSIDE)
    return not pure or name in DENIED or "random" in module or name in refused
