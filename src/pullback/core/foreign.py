"""Translate errors that other code raises when it's given an Array.

Code that doesn't take part in a transformation, such as `json.dumps`, `Decimal` or C extensions,
complains about an Array in its own words: "required argument is not a float", or "incorrect type
(expected numpy.ndarray, got Array)". Such an error is recognized by where it was raised: below the
last line of the program that takes part, in a call that was given an Array. Until an error is
raised, this costs nothing.
"""

from __future__ import annotations

import ast
import dis
import linecache
import re
import sys
import textwrap
from importlib.machinery import EXTENSION_SUFFIXES
from types import CodeType, FunctionType, ModuleType, TracebackType
from typing import Any

from .array import Array
from .errors import ConversionError, PullbackError, public_module
from .lost import place
from .reach.namespaces import library, package, stays, takes_part
from .reach.readers import READING

# Of what Python brings along, the modules that want plain numbers.
WANTING = frozenset(
    {"json", "decimal", "_decimal", "struct", "_struct", "datetime", "_datetime", "array", "ctypes",
     "_ctypes", "pickle", "_pickle", "marshal", "csv", "_csv", "plistlib", "sqlite3"}
)  # fmt: skip
# And those that answer a plain number as they answer an Array.
ALIKE = frozenset(
    {"builtins", "math", "cmath", "itertools", "_operator", "operator", "bisect", "_bisect", "copy",
     "abc", "typing", "re"}
)  # fmt: skip
INTERFACES = ("__array_interface__", "__array_struct__")
BUFFERS = (memoryview, bytes, bytearray)
# How Python says that a call does not fit a function, or that what is called is none.
UNFITTING = re.compile(
    r"\(\) (got (an unexpected|multiple values)|missing \d|takes .*positional)|is not callable$"
)
RAISES = frozenset({"RAISE_VARARGS", "RERAISE"})
PLAIN = (
    "It takes plain numbers. To report `x`, pass `x.numpy().tolist()`, which leaves the derivative"
    " behind; to compute with it, use NumPy's functions."
)
MEMORY = PLAIN.replace("plain numbers", "memory").replace(".tolist()", "")


def cause_of(error: BaseException) -> PullbackError | None:
    """Our error behind another one, if there is one."""
    seen: BaseException | None = error
    while seen is not None and not isinstance(seen, PullbackError):
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
    return seen


def translate(error: BaseException) -> None:
    """Raise ours for what foreign code raised because it was given an Array."""
    if isinstance(error, PullbackError):
        return
    if isinstance(error, AttributeError) and error.name in INTERFACES and type(error.obj) is Array:
        raise ConversionError(
            f"`x.{error.name}` was asked of an Array {whose(error.obj)}, which does not show its"
            " memory.\n  Give the function that asks for it a rule with `pullback.primitive`, or"
            " pass it the plain value, `x.numpy()`."
        ) from error
    steps: list[TracebackType] = []
    step = error.__traceback__
    while step is not None:
        steps.append(step)
        step = step.tb_next
    mine = [i for i, s in enumerate(steps) if takes_part(s.tb_frame.f_globals)]
    if not mine:
        return
    lines = [(steps[i].tb_frame.f_code.co_filename, steps[i].tb_lineno) for i in mine]
    last, below = steps[mine[-1]], steps[mine[-1] + 1 :]
    below = [each for each in below if each.tb_frame.f_code is not READING]
    if steps[-1].tb_frame.f_code is Array.__index__.__code__:
        below = [each for each in below if package(each.tb_frame.f_globals) != "pullback"]
    if made_of_text(error):
        line = ([line for line in lines if line[0] != "<string>"] or lines)[-1]
        raise ConversionError(
            f"Text made from an Array was evaluated, in {place(line)}\n"
            "  A number that is read from text has no derivative: write a name in the text, and"
            " pass the Array under that name, as in `eval('2 * x', {'x': x})`."
        ) from error
    if below and package(below[0].tb_frame.f_globals) == "pullback":
        if isinstance(error.__cause__, PullbackError):  # NumPy, called by a stand-in, hides it
            raise error.__cause__ from error
        return
    if not below and operation(last) in RAISES and not library(last.tb_frame.f_globals):
        return  # the program's own
    ours = cause_of(error)
    if ours is not None:
        raise ours from error
    if isinstance(error, TypeError) and UNFITTING.search(str(error)):
        return
    name, lives = entered(below[0], error) if below else called(last, error)
    if lives:
        buffer = name in [each.__name__ for each in BUFFERS]
        memory = buffer or re.search("bytes-like|buffer", str(error))
        cure = MEMORY if memory else PLAIN
        raise ConversionError(
            f"`{name}` was given an Array {whose(lives[0])}, and raised {type(error).__name__}:"
            f" {error}; in {place(lines[-1])}\n  {cure}"
        ) from error


def made_of_text(error: BaseException) -> bool:
    """Whether text was evaluated that shows an Array, as `Array(1.5, float64, grad(f))` is one."""
    if isinstance(error, SyntaxError):
        return f"{Array.__name__}(" in (error.text or "")
    return isinstance(error, NameError) and error.name == Array.__name__


def is_of_class(error: BaseException) -> bool:
    """Whether it says that something was an Array, as in "a real number is required, not Array"."""
    return (
        isinstance(error, TypeError) and re.search(rf"\b{Array.__name__}\b", str(error)) is not None
    )


def operation(step: TracebackType) -> str:
    return dis.opname[step.tb_frame.f_code.co_code[step.tb_lasti]]


def whose(x: Array) -> str:
    """Shape and dtype of an Array, and where it belongs."""
    return f"{x.within.spec(x)} " + (f"of `{x.within.name}`" if x.within.live else "made there")


def arrays_in(x: Any, depth: int = 3, constant: bool = False) -> list[Array]:
    """The Arrays with a derivative in an argument, and in containers there.

    constant: whether those without one count as well.
    """
    if type(x) is Array:
        return [x] if constant or x.within.live else []
    if not depth or type(x) not in (list, tuple, dict, set):
        return []
    inner = list(x.values() if type(x) is dict else x)[:64]
    return [found for y in inner for found in arrays_in(y, depth - 1, constant)]


def wants(module: str, error: BaseException) -> bool:
    """Whether a module of the standard library raised an error because it wants plain numbers."""
    top = module.partition(".")[0]
    standard = top in sys.stdlib_module_names and top not in ALIKE
    return top in WANTING or (standard and isinstance(error, TypeError))


def entered(step: TracebackType, error: BaseException) -> tuple[str, list[Array]]:
    """A Python function that does not take part: its name, and Arrays that it was given."""
    frame = step.tb_frame
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + 2]
    given = [frame.f_locals[name] for name in names if name in frame.f_locals]
    if library(frame.f_globals) == 2 and not wants(package(frame.f_globals), error):
        return "", []
    module = str(frame.f_globals.get("__name__"))
    return f"{public_module(module, code.co_qualname)}.{code.co_qualname}", arrays_in(given)


def called(step: TracebackType, error: BaseException) -> tuple[str, list[Array]]:
    """A call of C code, as the program writes it: its name, and Arrays that it was given.

    An error that names the class comes of that, whoever was called and with which Array.
    """
    certain = is_of_class(error)
    call = call_at(step)
    if call is None:
        return "", []
    frame = step.tb_frame
    callee = meant(call.func, frame)
    home = getattr(callee, "__module__", None) or type(callee).__module__
    buffer = any(callee is x for x in BUFFERS)  # an array would compare its elements
    if home == "builtins" and not buffer:
        owner = getattr(callee, "__self__", None)
        if owner is not None:
            home = (owner if isinstance(owner, type) else type(owner)).__module__
    plain = not buffer and not certain
    if plain and stays(home) and not wants(str(home), error):
        return "", []
    given = [x for x in ast.walk(call) if isinstance(x, ast.Name) and x is not call.func]
    lives = [y for x in given for y in arrays_in(meant(x, frame), constant=certain)]
    name = ast.unparse(call.func)
    return name, lives


def call_at(step: TracebackType) -> ast.Call | None:
    """The call that a traceback is at, read from the line of the program."""
    code: CodeType = step.tb_frame.f_code
    position = list(code.co_positions())[step.tb_lasti // 2]
    first, last, column, end = position
    if first is None or last is None or column is None or end is None:
        return None
    lines = [linecache.getline(code.co_filename, i).encode() for i in range(first, last + 1)]
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][column:]
    try:
        tree = ast.parse(textwrap.dedent(b"".join(lines).decode()), mode="eval").body
    except (SyntaxError, ValueError):
        return None
    return tree if isinstance(tree, ast.Call) else None


def meant(expression: ast.expr, frame: Any) -> Any:
    """What a name, or an attribute of a module, stands for in a frame; None if it is neither."""
    if isinstance(expression, ast.Name):
        for scope in (frame.f_locals, frame.f_globals, frame.f_builtins):
            if expression.id in scope:
                return scope[expression.id]
    elif isinstance(expression, ast.Attribute):
        owner = meant(expression.value, frame)
        if type(owner) is ModuleType:
            return vars(owner).get(expression.attr)
        if isinstance(owner, type):
            return getattr(owner, expression.attr, None)
        own = getattr(owner, "__dict__", {})
        if expression.attr in own:  # a function of a library that `ctypes` has loaded
            return own[expression.attr]
        if owner is not None and hasattr(type(owner), expression.attr):
            return getattr(owner, expression.attr, None)
    return None


def name_of_compiled(f: Any) -> str:
    module = getattr(f, "__module__", None)
    name = getattr(f, "__qualname__", None) or getattr(f, "__name__", None) or type(f).__name__
    return f"{module + '.' if module else ''}{name}"


COMPILED = tuple(EXTENSION_SUFFIXES)
FOR_COMPILED = (
    "  Give it a rule with `pullback.primitive`, or detach on purpose with"
    " `pullback.stop_gradient(x)`."
)


def asked(f: Any, error: ConversionError) -> None:
    """Raise for compiled code that asked an Array for its value; not for what it called back."""
    step = error.__traceback__
    while step is not None:
        scope = step.tb_frame.f_globals
        of_cython = str(scope.get("__file__")).endswith(COMPILED)  # its frames are only shown
        if package(scope) != "pullback" and not of_cython:
            return
        step = step.tb_next
    text = str(error).partition("\n")[0]
    raise ConversionError(
        f"`{name_of_compiled(f)}` is compiled code, and needs plain values: {text}\n{FOR_COMPILED}"
    ) from error


def refused(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], error: BaseException) -> None:
    """Raise our error for one of compiled code that was given an Array, or called back."""
    ours = cause_of(error)
    if ours is not None:
        raise ours from error
    makers = getattr(f, "__init__", None), getattr(f, "__new__", None)
    if makers == (object.__init__, object.__new__):
        return  # a class that takes no arguments, as Python says
    given = [*args, *kwargs.values()]
    inside = [x for each in given for x in getattr(each, "__dict__", {}).values()]
    lives = arrays_in(given) or arrays_in(inside)  # a linear operator holds its matrix
    if lives:
        x = lives[0]
        raise ConversionError(
            f"`{name_of_compiled(f)}` is compiled code, and was called with an"
            f" Array {x.within.spec(x)} of `{x.within.name}`. It needs the plain value, and"
            f" the result would lose its derivative: {error}\n{FOR_COMPILED}"
        ) from error


def raised_next(error: BaseException, frame: Any) -> None:
    """Have the next call of the program's function raise the error as well.

    The C code of `scipy.optimize.brentq` and its kin asks for `float(f(x))`, does not look whether
    that raised, and calls f again with the exception set: the program would end in a SystemError.
    """
    if frame.f_globals.get("__name__") != "scipy.optimize._zeros_py":
        return
    wrapped = frame.f_locals.get("f")
    if not isinstance(wrapped, FunctionType) or wrapped.__code__.co_freevars.count("f") != 1:
        return

    def again(*args: Any) -> Any:
        raise error

    cell = (wrapped.__closure__ or ())[wrapped.__code__.co_freevars.index("f")]
    cell.cell_contents = again  # SciPy makes the wrapper for this one solution
