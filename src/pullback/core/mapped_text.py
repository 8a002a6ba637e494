"""Text made from a mapped Array, which shows all examples at once.

Such text may be shown, logged, stored and joined with other text. While its transformation runs, it
refuses any question that a program could use to decide, look something up or read a number, because
each example would have its own text and perhaps its own answer. Afterwards it's ordinary text.

C code joins text without asking its class. So everything that makes text is followed where a
program calls it: the fields of f-strings, `str` and similar functions, and, while `vmap` runs,
functions of the standard library, methods of text and of patterns, and reading from streams. Text
that's lost in some other way warns (`core.lost`).
"""

from __future__ import annotations

import sys
import weakref
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np

from .errors import ConversionError
from .reach.namespaces import package


class MappedText(str):
    """Text that knows which trace maps what it was made of."""

    __slots__ = ("within",)
    within: Any
    __complex__: Any  # set below

    def __str__(self) -> str:
        return self

    def __copy__(self) -> str:
        return self

    def __deepcopy__(self, memo: Any) -> str:
        return self

    def __reduce__(self) -> Any:
        return str, (unmarked(self),)

    def __bool__(self) -> bool:
        return str.__len__(self) > 0

    def __radd__(self, other: Any) -> Any:
        both = str.__add__(other, self) if isinstance(other, str) else NotImplemented
        return mapped_text(both, self.within)


MADE = [0]  # how often such text was made


def mapped_text(text: Any, trace: Any) -> Any:
    """Text that was made of an Array which a trace maps; what is no text is itself."""
    if not isinstance(text, str):
        return text
    out = MappedText(text)
    out.within = trace
    MADE[0] += 1
    WRITTEN.append((unmarked(out).splitlines(), weakref.ref(trace)))
    LATEST[0] = weakref.ref(trace)
    return out


LATEST: list[Any] = [lambda: None]  # the trace of the latest


def unmarked(text: str) -> str:
    return str.__str__(text)


class Joins:
    """`joins[parts]`: the text of an f-string that has parts."""

    def __getitem__(self, parts: tuple[str, ...]) -> str:
        out = "".join(parts)
        if MADE[0] and MappedText in map(type, parts):
            for part in parts:
                if type(part) is MappedText:
                    return mapped_text(out, part.within)
        return out


JOINS = Joins()


# How many calls of vmap run; only meanwhile is there anything to follow.
MAPPING = [0]
ATOMS = frozenset({int, float, str, bool, np.float64, MappedText})  # of which the text is known


class FieldHook:
    """`fields[x]`: what a field of an f-string formats, whose own text C would put together."""

    def __getitem__(self, x: Any) -> Any:
        if not MAPPING[0] or type(x) in ATOMS or hasattr(x, "within"):
            return x
        return Field(x)


class Field:
    """An object such as a list: its text is mapped if something in it is."""

    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.x = x

    def __format__(self, spec: str) -> str:
        return showing(format, self.x, spec)

    def __str__(self) -> str:
        return showing(str, self.x)

    def __repr__(self) -> str:
        return showing(repr, self.x)


FIELDS = FieldHook()


class InsideHook:
    """`insides[s]` stands for s in `s in "text"`, where C looks for it."""

    def __getitem__(self, x: Any) -> Any:
        if type(x) is MappedText:
            refuse(x, "in")
        return x


INSIDES = InsideHook()


def putting_together(f: Any) -> Any:
    """`join` or `format` of text: with a part that is mapped, all of it is."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if f.__name__ == "join" and len(args) == 1 and not isinstance(args[0], str):
            args = (list(args[0]),)
        given = args[0] if f.__name__ == "join" and args else (*args, *kwargs.values())
        for part in given:
            if type(part) is MappedText:
                return mapped_text(f(*args, **kwargs), part.within)
        return showing(f, *args, **kwargs)

    return call


def showing(f: Any, *args: Any, **kwargs: Any) -> Any:
    """f(*args, **kwargs), text which is mapped if something in it is, as in `str([x])`."""
    before = MADE[0]
    out = f(*args, **kwargs)
    if MADE[0] == before or not isinstance(out, str) or type(out) is MappedText:
        return out
    return mapped_text(out, LATEST[0]())


def followed(f: Any) -> Any:
    """f, which is not ours: of mapped text it may make other text, and gives no other answer."""

    def follow(*args: Any, **kwargs: Any) -> Any:
        out = showing(f, *args, **kwargs)
        if not MADE[0] or type(out) is MappedText:
            return out
        for x in parts((*args, *kwargs.values())):
            if type(x) is MappedText and not x.within.ended:
                if not isinstance(out, str):
                    refuse(x, f"{getattr(f, '__qualname__', f)}(text)")
                return mapped_text(out, x.within)
        return out

    return follow


def parts(args: Any) -> Iterator[Any]:
    for x in args:
        yield x
        if type(x) in (list, tuple):
            yield from x
        elif type(x) is dict:
            yield from x.values()


def read_back(f: Any) -> Any:
    """What a stream in memory gives: text in which there is text of a mapped Array is mapped."""

    def read(*args: Any, **kwargs: Any) -> Any:
        out = f(*args, **kwargs)
        return [*map(known_again, out)] if isinstance(out, list) else known_again(out)

    return read


def known_again(out: Any) -> Any:
    for text, ref in WRITTEN if isinstance(out, str) else ():
        trace = ref()
        if trace is not None and not trace.ended and any(map(out.__contains__, text)):
            return mapped_text(out, trace)
    return out


def without_texts(x: np.ndarray) -> np.ndarray:
    """An array of no numbers, in which no text of a mapped Array may be."""
    if MAPPING[0] and x.dtype.kind == "U":
        for text in map(known_again, x.flat):
            if type(text) is MappedText:
                refuse(text, "np.array(text)")
    return x


# The lines of the latest such texts, and their traces.
WRITTEN: deque[tuple[list[str], Any]] = deque(maxlen=256)


def of_stream(f: Any) -> Any:
    return read_back(f) if MAPPING[0] and f.__name__ in READS else f


def of_pattern(f: Any) -> Any:
    return followed(f) if MAPPING[0] else f


READS = frozenset({"getvalue", "read", "readline", "readlines", "__next__"})


def refuse(text: MappedText, asked: str) -> None:
    if not text.within.ended and not is_logged():
        raise refused(asked, text.within)


def refused(asked: str, trace: Any) -> ConversionError:
    return ConversionError(
        f"`{asked}` was asked of text that was made of an Array mapped by `{trace.name}`: it shows"
        " the values of all examples, which may answer differently.\n"
        "  Ask the Array itself, as in `np.where(np.round(x, 1) == 0.5, a, b)`, or map by a loop:"
        " `np.stack([f(x) for x in xs])`."
    )


# What answers, by the name of the method, and how a message calls it.
ANSWERS = {
    "__eq__": "==", "__ne__": "!=", "__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">=",
    "__contains__": "in", "__len__": "len(text)", "__getitem__": "text[i]",
    "__iter__": "iter(text)", "__hash__": "hash(text)", "__getnewargs__": "copy.copy(text)",
}  # fmt: skip
# What gives other text, by which nothing is told yet.
REWRITES = {
    "__add__", "__mul__", "__rmul__", "__mod__", "__format__", "capitalize", "casefold", "center",
    "expandtabs", "format", "format_map", "join", "ljust", "lower", "lstrip", "removeprefix",
    "removesuffix", "replace", "rjust", "rstrip", "strip", "swapcase", "title", "translate",
    "upper", "zfill",
}  # fmt: skip


LAYING_OUT = frozenset({"reprlib", "pprint", "textwrap", "traceback", "asyncio"})


def is_logged() -> bool:
    """Whether it is `logging` that asks, or a handler of its, which only shows the text.

    So do modules that lay out text; what they make of it is followed.
    """
    frame: Any = sys._getframe(3)
    if package(frame.f_globals) in LAYING_OUT:
        return True
    while frame is not None and package(frame.f_globals) != "pullback":
        if package(frame.f_globals) == "logging":
            return True
        frame = frame.f_back
    return False


def asking(asked: str, method: Any) -> Any:
    def ask(self: Any, *args: Any, **kwargs: Any) -> Any:
        refuse(self, asked)
        return method(self, *args, **kwargs)

    return ask


def rewriting(method: Any) -> Any:
    def rewrite(self: Any, *args: Any, **kwargs: Any) -> Any:
        return mapped_text(method(self, *args, **kwargs), self.within)

    return rewrite


def reading(kind: Any) -> Any:
    """`float(text)` and its kin, which ask text for nothing, but a class derived from it."""
    return asking(f"{kind.__name__}(text)", lambda self: kind(unmarked(self)))


for name, method in vars(str).items():
    if name in REWRITES:
        setattr(MappedText, name, rewriting(method))
    elif name in ANSWERS or not (name.startswith("__") or name == "maketrans"):
        setattr(MappedText, name, asking(ANSWERS.get(name, f"text.{name}()"), method))
for kind in (float, int, complex):
    setattr(MappedText, f"__{kind.__name__}__", reading(kind))
