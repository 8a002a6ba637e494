"""Built-in functions as transformed programs call them.

>>> from pullback import grad
>>> grad(lambda x: float(x) ** 2)(3.0)
np.float64(6.0)

`float(x)` and `complex(x)` of an Array that carries a derivative are the number with its
derivative; `type(x)` is the type that NumPy would have there, and `hasattr(x, "__len__")` tells
what that has; `eval` and `exec` run code that takes part; a recording is told what `getattr` is
asked for. The names `float` and `type` themselves are never replaced: it is the call that is looked
at.
"""

from __future__ import annotations

import builtins as real
import sys
from operator import attrgetter
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from .core.array import Array, current, snapshot, without_axes
from .core.reach import ASKED, other_form

__all__ = ["complex", "eval", "exec", "float", "getattr", "hasattr", "type"]


def number(x: Any, asked: str, dtype: Any) -> Any:
    """An Array of one element as a Python number of a dtype; None if it simply converts."""
    x = current(x)
    if x.within.peels(x):
        x.within.converts(x, asked)
        return None
    x = without_axes(x)
    out = snapshot(x) if x.dtype == dtype else x.astype(dtype)
    out.within.number(out)
    return out


def float(*args: Any) -> Any:
    if len(args) == 1 and real.type(args[0]) is Array and args[0].dtype.kind != "c":
        out = number(args[0], "float(x)", np.float64)
        if out is not None:
            return out
    if len(args) == 1 and isinstance(
        real.getattr(real.type(args[0]), "__float__", None), FunctionType
    ):
        out = args[0].__float__()  # of a class of the user's: what it returns may be an Array
        return float(out) if real.type(out) is Array else real.float(out)
    return real.float(*args)


def complex(*args: Any, **kwargs: Any) -> Any:
    if not any(real.type(x) is Array for x in (*args, *kwargs.values())):
        return real.complex(*args, **kwargs)
    parts = dict(zip(("real", "imag"), args, strict=False)) | kwargs
    outs = []
    for x in parts.values():
        out = number(x, "complex(x)", np.complex128) if real.type(x) is Array else None
        outs.append(real.complex(x) if out is None else out)
    return outs[0] if len(outs) == 1 else outs[0] + outs[1] * 1j


def type(*args: Any, **kwargs: Any) -> Any:
    if len(args) == 1 and real.type(args[0]) is Array:
        return args[0].__class__
    return real.type(*args, **kwargs)


def getattr(*args: Any) -> Any:
    if ASKED and len(args) > 1:
        ASKED[-1](args[1])
    return real.getattr(*args)


def hasattr(x: Any, name: Any, /) -> bool:
    if ASKED:
        ASKED[-1](name)
    if real.type(x) is Array and name in OF_NUMPY:
        # A recording is told only where it matters whether a number is Python's or NumPy's.
        kind = x.__class__ if name in OF_NUMPY_ALONE else CLASS_OF(x)
        if not real.hasattr(kind, name):
            return False
    return real.hasattr(x, name)


# Names of which NumPy's numbers and arrays, and Python's, have some and not others.
OF_NUMPY = {name for kind in (np.ndarray, np.float64, np.complex128) for name in dir(kind)}
OF_NUMPY_ALONE = {name for name in OF_NUMPY if not real.hasattr(real.complex, name)}
OF_NUMPY_ALONE &= {*dir(np.float64), *dir(np.complex128)}
CLASS_OF = attrgetter("__class__")


def run(how: str, source: Any, scope: Any, local: Any, kwargs: dict[str, Any]) -> Any:
    """`eval` or `exec` in the caller's namespaces, of code that asks what to call."""
    frame = sys._getframe(2)
    if scope is None:
        scope = frame.f_globals
        local = frame.f_locals if local is None else local
    local = scope if local is None else local
    if not isinstance(source, CodeType):
        text = source.lstrip(" \t") if how == "eval" and isinstance(source, str) else source
        flags = frame.f_code.co_flags & FUTURE
        source = compile(text, "<string>", how, flags=flags, dont_inherit=True)
    if "__builtins__" not in scope:
        scope["__builtins__"] = real
    return real.getattr(real, how)(other_form(source, scope), scope, local, **kwargs)


FUTURE = 0x1FF0000  # flags of a code object that say what it has imported from `__future__`


def eval(source: Any, globals: Any = None, locals: Any = None, /) -> Any:
    return run("eval", source, globals, locals, {})


def exec(source: Any, globals: Any = None, locals: Any = None, /, **kwargs: Any) -> None:
    run("exec", source, globals, locals, kwargs)
