"""What pullback raises.

    PullbackError(Exception)
    ├── ConversionError, EscapedError, SolverError (RuntimeError)
    ├── NonScalarOutputError, ShapeError, ArgumentError (ValueError)
    ├── DtypeError, ArgumentTypeError (TypeError)
    ├── MissingRuleError, UnsupportedKeywordError (NotImplementedError)
    ├── MissingExtraError (ImportError)
    ├── UnknownNameError (AttributeError)
    ├── UnknownImportError (ImportError)
    └── NanError (FloatingPointError)

`LostDerivativeWarning` is a RuntimeWarning.
Each class also derives from the builtin that a caller would have caught.
`ConversionError` is a RuntimeError because SciPy's optimizers rewrap TypeError and ValueError.
A message says what was asked, what is wrong, and what to write instead.
"""

import inspect
import os
import sys
import types
from functools import partial
from typing import Any

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "ConversionError",
    "DtypeError",
    "EscapedError",
    "LostDerivativeWarning",
    "MissingExtraError",
    "MissingRuleError",
    "NanError",
    "NonScalarOutputError",
    "PullbackError",
    "ShapeError",
    "SolverError",
    "UnknownImportError",
    "UnknownNameError",
    "UnsupportedKeywordError",
]


class PullbackError(Exception):
    """The base of every error that pullback raises on purpose."""

    array: Any = None  # the plain array that was to be written into, if that was refused


class ConversionError(PullbackError, RuntimeError):
    """A traced Array was asked for a plain number or array, which would drop its derivative."""


class EscapedError(PullbackError, RuntimeError):
    """An Array was used after the transformation that it belongs to had ended."""


class SolverError(PullbackError, RuntimeError):
    """A derivative was asked of a solution that a solver did not find, or that is degenerate."""


class NonScalarOutputError(PullbackError, ValueError):
    """A gradient was asked of something that is not one real number."""


class ShapeError(PullbackError, ValueError):
    """A shape does not fit: of a cotangent, a tangent, an axis or a batch."""


class ArgumentError(PullbackError, ValueError):
    """An argument has a value that makes no sense here."""


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument has a type that makes no sense here."""


class DtypeError(PullbackError, TypeError):
    """A dtype cannot be differentiated, or does not fit."""


class MissingRuleError(PullbackError, NotImplementedError):
    """A function or primitive lacks the rule that was needed."""


class UnsupportedKeywordError(PullbackError, NotImplementedError):
    """A rule does not handle a keyword, and refuses it rather than ignore it."""


class MissingExtraError(PullbackError, ImportError):
    """An optional dependency is needed and not installed."""


class UnknownNameError(PullbackError, AttributeError):
    """A name of another library was asked for, which has another one here."""


class UnknownImportError(PullbackError, ImportError):
    """A name of another library was imported from pullback, which has another one."""


class NanError(PullbackError, FloatingPointError):
    """An operation made a NaN while `debug_nans` was in force."""


class LostDerivativeWarning(RuntimeWarning):
    """A value went on as text, or as the result of comparisons, and its derivative did not."""


def kind_of(x: object) -> str:
    """What x is, in messages: `a list`, `an object`, `None`."""
    name = type(x).__name__
    vowel = name[0].lower() in "aeiou" or name == "ndarray"
    return "None" if x is None else f"{'an' if vowel else 'a'} {name}"


def check_callable(fun: Any, verb: str, given: str) -> None:
    """Raise for what isn't a function; one would be called with (given)."""
    if not callable(fun):
        raise ArgumentTypeError(
            f"`{verb}` takes a function, but got {kind_of(fun)}.\n  Write `lambda {given}: ...`."
        )


def check_parameters(fun: Any, verb: str, *given: str, keywords: bool = False) -> None:
    """Raise for what can't be called with these positional arguments.

    keywords: whether it's given others by name, so that it may have more parameters.
    """
    check_callable(fun, verb, ", ".join(given))
    if type(fun) is not types.FunctionType:
        return
    code, n = fun.__code__, len(given)
    most = n if code.co_flags & inspect.CO_VARARGS else code.co_argcount
    least = 0 if keywords else code.co_argcount - len(fun.__defaults__ or ())
    if least <= n <= most:
        return
    raise ArgumentTypeError(
        f"`{verb}` calls `{name_of(fun)}` with ({', '.join(given)}),"
        f" but it takes {code.co_argcount} argument{'s' if code.co_argcount != 1 else ''}.\n"
        f"  Write `lambda {', '.join(given)}:` or `def step({', '.join(given)}):`."
    )


def check_functions(functions: tuple[object, ...], verb: str) -> None:
    """Refuse what is no function of NumPy's but, say, its name."""
    for function in functions:
        if not callable(function):
            raise ArgumentTypeError(
                f"`{verb}` takes NumPy functions, but got {function!r}.\n"
                f"  Write `@pullback.{verb}(np.sin)`, with the function itself and not its name."
            )


def reached(error: BaseException, fun: object) -> None:
    """Note on a missing rule while differentiating which function it was needed."""
    code = getattr(fun, "__code__", None)
    place = f" ({os.path.basename(code.co_filename)}:{code.co_firstlineno})" if code else ""
    error.add_note(f"It was reached while differentiating `{name_of(fun)}`{place}.")


def name_of(f: object) -> str:
    """The name of a function in messages: `loss`, `Model.loss`, `partial(loss)`."""
    name = getattr(f, "__qualname__", None) or getattr(f, "__name__", None)
    if isinstance(name, str):
        return name.rsplit("<locals>.", 1)[-1]
    return f"partial({name_of(f.func)})" if isinstance(f, partial) else type(f).__name__


def public_module(module: str, name: str) -> str:
    """The module by which users know what a library defines: `scipy.optimize`, not `._milp`."""
    first, parts = name.partition(".")[0], module.split(".")
    homes = [".".join(parts[: i + 1]) for i in range(len(parts))]
    found = [vars(sys.modules[home]).get(first) if home in sys.modules else None for home in homes]
    return next(
        (home for home, x in zip(homes, found, strict=True) if x is found[-1] is not None), module
    )
