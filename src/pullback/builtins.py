"""Built-in functions as transformed programs call them.

>>> from pullback import grad
>>> grad(lambda x: float(x) ** 2)(3.0)
np.float64(6.0)

`float(x)` and `complex(x)` of an Array that carries a derivative are the number with its
derivative; `type(x)` is the type that NumPy would have there; `isinstance(x, Iterable)` and
`hasattr(x, "__len__")` answer as they do of what NumPy would have, of a number and of an array;
`eval` and `exec` run code that takes part; a recording is told what `getattr` and `globals()` are
asked for, and answers for `id`; `sum` of Python's floats keeps, from Python 3.12 on, what each
addition rounds away; text of a list that holds mapped Arrays is known as such. The names `float`
and `type` themselves are never replaced: it is the call that is looked at.
"""

from __future__ import annotations

import abc
import builtins as real
import re
import sys
from types import CodeType, FunctionType, UnionType
from typing import Any, Protocol, Union

import numpy as np

from .core.array import Array, class_of_number, is_number, snapshot, stop, without_axes
from .core.errors import ArgumentTypeError
from .core.in_place import SHOWN
from .core.instances import INNER, Instance, above, in_classes
from .core.instances import example as example_of
from .core.mapped_text import MAPPING, MappedText, followed, putting_together, refuse, showing
from .core.reach.matching import asked_for_id
from .core.reach.namespaces import BOUND, library
from .core.reach.session import ANSWERS, ASKED, LOOKUPS, active
from .core.reach.walk import other_form
from .core.storage import current
from .core.written_numbers import TEXTS, warn_given, warn_read_in
from .primitives.exact import exact
from .primitives.parts import of_parts_p

__all__ = [
    "bytes", "compile", "complex", "dir", "eval", "exec", "float", "format", "getattr", "globals",
    "hasattr", "id", "isinstance", "repr", "str", "super", "type", "vars",
]  # fmt: skip


def number(x: Any, asked: real.str, dtype: Any) -> Any:
    """An Array of one element as a Python number of a dtype; None if it simply converts."""
    x = current(x)
    if x.within.peels(x) and not x.within.live:
        x.within.converts(x, asked)
        return None
    x = without_axes(x)
    if x.dtype.kind in "mM":
        raise ArgumentTypeError(
            f"`{asked}` was asked of an Array {x.within.spec(x)}, and a date or a time is no number"
            " to Python.\n  Divide a time by its unit, as in `x / np.timedelta64(1, 's')`."
        )
    out = snapshot(x) if x.dtype == dtype else x.astype(dtype)
    return out.within.number(out)


def float(*args: Any) -> Any:
    if len(args) == 1 and real.type(args[0]) is Instance and not own_float(args[0]):
        args = (INNER.__get__(args[0]),)
    if len(args) == 1 and real.type(args[0]) is Array and args[0].dtype.kind != "c":
        out = number(args[0], "float(x)", np.float64)
        if out is not None:
            return out
    own = real.getattr(real.type(args[0]), "__float__", None) if len(args) == 1 else None
    if real.isinstance(own, FunctionType):
        out = own(args[0])  # of a class of the user's: what it returns may be an Array
        return float(out) if real.type(out) is Array else real.float(out)
    if TEXTS and len(args) == 1:
        warn_read_in(args[0], "float(text)")
    return real.float(*args)


def own_float(x: Any) -> bool:
    """Whether the class of an Instance says itself what number it is."""
    found = in_classes(x.__class__.__mro__, "__float__")
    return real.isinstance(found, FunctionType)


def complex(*args: Any, **kwargs: Any) -> Any:
    if not any(real.type(x) is Array for x in (*args, *kwargs.values())):
        if TEXTS and len(args) == 1:
            warn_read_in(args[0], "complex(text)")
        if len(args) == 1 and real.type(args[0]) is MappedText:
            return args[0].__complex__()  # Python reads it as it is
        return real.complex(*args, **kwargs)
    parts = dict(zip(("real", "imag"), args, strict=False)) | kwargs
    if "imag" not in parts:
        out = number(parts["real"], "complex(x)", np.complex128)
        return real.complex(parts["real"]) if out is None else out
    re, minus = pair(parts.get("real", 0))
    im, plus = pair(parts["imag"])
    out = of_parts_p(re if plus is None else re - plus, im if minus is None else im + minus)
    return out.within.number(out)


def pair(x: Any) -> tuple[Any, Any]:
    """The real and the imaginary part of a number, as float64; None if it has no imaginary one."""
    if real.type(x) is not Array:
        z = real.complex(x)
        return np.float64(z.real), np.float64(z.imag) if real.isinstance(x, real.complex) else None
    if x.dtype.kind == "c":
        return np.real(x), np.imag(x)
    out = number(x, "complex(x)", np.float64)
    return np.float64(real.float(x)) if out is None else out, None


SHOWN.update((Array, Instance))


def type(*args: Any, **kwargs: Any) -> Any:
    if len(args) == 1 and real.type(args[0]) in SHOWN:
        x = args[0]
        return class_of_number(x) if real.type(x) is Array and is_number(x) else x.__class__
    return real.type(*args, **kwargs)


def super(*args: Any) -> Any:
    return above(*args)


# What is asked of the structure of an object is asked of one like what NumPy would have.
# A class may have a test of its own, which is asked of the Array.
STRUCTURAL = {abc.ABCMeta.__instancecheck__, real.type(Protocol).__instancecheck__}
CLASS = frozenset({real.type})
UNIONS = (UnionType, real.type(Union[int, real.str]))  # noqa: UP007  # the other kind of union
EXAMPLES: dict[Any, Any] = {real.float: 0.0, real.complex: 0j, int: 0, bool: False}
NAMES = frozenset(
    name
    for kind in (np.ndarray, np.generic, np.float64, real.float, real.complex, real.bool)
    for name in dir(kind)
)  # a name that is in none of them is one of ours, such as `backward`
# Attributes of an Array for pullback alone: `getattr(x, "node", x)` is x, as of an array.
INTERNAL = frozenset(
    name for name in (*Array.__slots__, "primal", "tangent") if not name.startswith("_")
)


def example(x: Array) -> Any:
    """An object of the class that NumPy, or Python, would have in place of an Array."""
    if not is_number(x):
        return np.empty((1,) * x.ndim)
    kind = class_of_number(x)
    known = EXAMPLES.get(kind)
    if known is None:
        known = EXAMPLES[kind] = np.zeros((), x.dtype)[()]
    return known


def isinstance(x: Any, kinds: Any, /) -> bool:
    kind = real.type(x)
    if kind is not Array:
        return real.isinstance(example_of(x) if kind is Instance else x, kinds)
    form = real.type(kinds)
    if form is real.type:
        return real.isinstance(x, kinds)
    if form is tuple or form in UNIONS:
        each = kinds if form is tuple else kinds.__args__
        if CLASS.issuperset(map(real.type, each)):  # Array has a type of its own
            return issubclass(x.__class__, each)  # the class is asked for once
        return any(isinstance(x, kind) for kind in each)
    a_class = real.isinstance(kinds, real.type)  # or an alias, such as `typing.Iterable`
    if not a_class or form.__instancecheck__ in STRUCTURAL:
        return real.isinstance(example(x), kinds)
    return real.isinstance(x, kinds)


def getattr(*args: Any) -> Any:
    if ASKED and len(args) > 1:
        asked(*args[:2])
    if MAPPING[0] and real.type(args[1]) is MappedText:
        refuse(args[1], "getattr(x, text)")
    if len(args) == 3 and real.type(args[0]) is Array:
        if not has(args[0], args[1], sys._getframe(1).f_globals):
            return args[2]
        if args[1] == "__array_priority__":  # an Array's own is for NumPy alone
            return real.getattr(example(args[0]), *args[1:])
    elif len(args) == 2 and real.type(args[0]) is Array and args[1] in INTERNAL:
        return real.getattr(example(args[0]), args[1])
    return real.getattr(*args)


def asked(x: Any, name: Any) -> None:
    """A recording is told which attribute is asked for, and of which number."""
    ASKED[-1](name)
    while real.type(x) is Array:
        x.within.asked(x)
        x = x.payload


def has(x: Array, name: Any, scope: dict[real.str, Any]) -> bool:
    """Whether what NumPy would have in place of an Array has an attribute.

    To code that knows this package, an Array has names of its own as well. To other packages it
    has not: by `hasattr(x, "detach")` they tell another library's tensors, and take their values.
    """
    own = name not in NAMES and name not in INTERNAL and knows_arrays(scope)
    return real.hasattr(x if own else example(x), name)


def knows_arrays(scope: dict[real.str, Any]) -> bool:
    """Whether globals are of the user's, or of a package that uses this one."""
    return library(scope) != 1 or any(
        real.str(real.getattr(x, name, "")).partition(".")[0] == "pullback"
        for x in real.list(scope.values())
        for name in ("__name__", "__module__")
    )


def hasattr(x: Any, name: Any, /) -> bool:
    if ASKED:
        asked(x, name)
    if real.type(x) is not Array:
        return real.hasattr(x, name)
    return has(x, name, sys._getframe(1).f_globals)


def vars(*args: Any) -> Any:
    if not args:
        return sys._getframe(1).f_locals
    held = real.vars(*args)
    return LOOKUPS[-1](held) if LOOKUPS else held


def globals() -> Any:
    scope = sys._getframe(1).f_globals
    return LOOKUPS[-1](scope) if LOOKUPS else scope


def id(x: Any, /) -> Any:
    x = asked_for_id(x)
    return ANSWERS[-1].identity(x) if ANSWERS else real.id(x)


def dir(*args: Any) -> Any:
    if not args:
        return sorted(sys._getframe(1).f_locals)
    if LOOKUPS:
        x = args[0]
        for each in [x, *(x if real.isinstance(x, real.type) else real.type(x)).__mro__]:
            if real.hasattr(each, "__dict__"):
                LOOKUPS[-1](each.__dict__)
    return real.dir(*args)


# Of others than Arrays they do what Python's do.
getattr.direct = hasattr.direct = isinstance.direct = True  # type: ignore[attr-defined]  # of functions


def compile(
    source: Any, filename: Any, mode: Any, flags: int = 0, dont_inherit: bool = False, *args: Any,
    **kwargs: Any,
) -> Any:  # fmt: skip
    if not dont_inherit:
        flags |= sys._getframe(1).f_code.co_flags & FUTURE
    out = real.compile(source, filename, mode, flags, True, *args, **kwargs)
    if TEXTS:
        warn_read_in(source, "compile(text)")
    return out


def run(how: real.str, source: Any, scope: Any, local: Any, kwargs: dict[real.str, Any]) -> Any:
    """`eval` or `exec` in the caller's namespaces, of code that asks what to call."""
    frame = sys._getframe(2)
    if scope is None:
        scope = frame.f_globals
        local = frame.f_locals if local is None else local
    local = scope if local is None else local
    given = source
    if not real.isinstance(source, CodeType):
        text = (
            source.lstrip(" \t") if how == "eval" and real.isinstance(source, real.str) else source
        )
        flags = frame.f_code.co_flags & FUTURE
        source = real.compile(text, "<string>", how, flags=flags, dont_inherit=True)
    if "__builtins__" not in scope:
        scope["__builtins__"] = real
    out = real.getattr(real, how)(other_form(source, scope), scope, local, **kwargs)
    if TEXTS:
        by_code = real.isinstance(given, CodeType)
        (warn_given if by_code else warn_read_in)(given, f"{how}(text)")
    return out


FUTURE = 0x1FF0000  # flags of a code object that say what it has imported from `__future__`


def eval(source: Any, globals: Any = None, locals: Any = None, /) -> Any:
    return run("eval", source, globals, locals, {})


def exec(source: Any, globals: Any = None, locals: Any = None, /, **kwargs: Any) -> None:
    run("exec", source, globals, locals, kwargs)


def of_text(f: Any) -> Any:
    """A method of text: `format` asks for the attributes that its fields name."""
    if f.__name__ not in TOGETHER:
        return followed(f) if MAPPING[0] else f
    if ASKED and f.__name__ != "join":
        for field in FIELD.findall(f.__self__):
            for name in PART.findall(field):
                ASKED[-1](name)
    return putting_together(f) if active() else f


TOGETHER = frozenset({"format", "format_map", "join"})


# Text of what holds Arrays, such as a list.


def str(*args: Any, **kwargs: Any) -> Any:
    if kwargs or len(args) != 1 or real.type(args[0]) in ATOMS:
        return real.str(*args, **kwargs)
    return showing(real.str, *args)


ATOMS = frozenset({int, real.float, real.str, bool, np.float64})


def repr(x: Any, /) -> Any:
    return showing(real.repr, x)


def format(*args: Any) -> Any:
    return showing(real.format, *args)


def bytes(*args: Any, **kwargs: Any) -> Any:
    if MAPPING[0] and args and real.type(args[0]) is MappedText:
        refuse(args[0], "bytes(text)")
    return real.bytes(*args, **kwargs)


FIELD, PART = re.compile(r"\{([^{}:!]*)"), re.compile(r"[.\[]([^.\[\]]+)")
BOUND[real.str] = of_text


# Sums. From Python 3.12 on, `sum` of floats adds what was rounded away at the end (Neumaier 1974).


class Total:
    """A sum of Python's floats so far: as its additions are differentiated, and its value."""

    def __init__(self, start: Any) -> None:
        self.naive, self.high, self.low = start, numpys(start), 0.0

    def add(self, x: Any) -> None:
        self.naive, x = self.naive + x, numpys(x)
        total = self.high + x
        if real.type(x) is int:
            pass  # Python does not look at what is lost here
        elif real.type(total) is Array:
            larger = abs(self.high) >= abs(x)
            self.low += np.where(larger, (self.high - total) + x, (x - total) + self.high)
        elif abs(self.high) >= abs(x):
            self.low += (self.high - total) + x
        else:
            self.low += (x - total) + self.high
        self.high = total

    def result(self) -> Any:
        """The value that Python gives, with the derivative of a sum."""
        low = self.low * np.isfinite(self.low)
        if real.type(low) is not Array and (low == 0 or low != low):
            return self.naive
        found = self.high + low
        if real.type(self.naive) is not Array:
            return real.float(found)
        out = exact(found, self.naive)
        return out.within.number(out)


ONE: Any = np.float64(1.0)


def numpys(x: Any) -> Any:
    """x without its derivative; an Array as a number of NumPy's, whose comparisons are arrays."""
    x = stop(x)
    return x * ONE if real.type(x) is Array else x


def is_float(x: Any) -> bool:
    kind = real.type(x)
    return kind is real.float or (kind is Array and class_of_number(x) is real.float)


def compensated_sum(iterable: Any, /, start: Any = 0) -> Any:
    xs = list(iterable)
    if Array not in map(real.type, xs):
        return real.sum(xs, start)
    total: Any = start
    running: Total | None = None
    for x in xs:
        if running is not None and (real.type(x) is int or is_float(x)):
            running.add(x)
        else:
            total = (total if running is None else running.result()) + x
            running = Total(total) if is_float(total) else None
    return total if running is None else running.result()


if sys.version_info >= (3, 12):
    sum = compensated_sum
