"""Numbers that text made of Arrays shows, and what reads them from text again.

A number that is read from text is a constant. Most text is shown to people, so that nothing is said
unless the program reads a number from it, or returns what nothing else can have led to
(`lost.warn_read_alone`).

Enters: text that was made of an Array (`shown`). While the transformations last that the Array
belongs to, what reads numbers is asked for these; call sites listen to code that isn't rewritten
(`reach.readers`):

    json.loads(f"[{x:.4f}]")            text that shows the number goes in, and a number comes out
    config.getfloat("model", "rate")    a number comes out that such text shows, and none goes in

Both warn. What reads or writes text is not known by name: numbers are compared by their digits, so
that text may be cut, rounded, joined and padded before it's read.
"""

from __future__ import annotations

import io
import re
import sys
import weakref
from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from types import CodeType
from typing import Any

import numpy as np

from .lost import (
    batch_of,
    frame_of_user,
    line_of,
    line_of_user,
    place,
    refuse_percent,
    warn,
    warn_of_untold,
    warn_text,
)
from .mapped_text import mapped_text
from .reach.namespaces import library, takes_part

# What is written, by its text and by the digits of its numbers: its traces, and the line.
TEXTS: dict[Any, tuple[list[weakref.ref[Any]], Any]] = {}
VALUES: list[tuple[float, Any]] = []  # numbers of three digits and more, in order, and their keys
TRACES: set[weakref.ref[Any]] = set()  # all of them
MANY_TEXTS = 4096  # before they are forgotten
MANY_NUMBERS = 1000  # of one text, or of one array
FEW_DIGITS, SEVERAL_DIGITS = 3, 4  # with fewer, a number is not known again if cut; or alone

NUMBERS = re.compile(r"[-+]?(?<![\w.])(?:(?!0[xX])\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
GROUPED = re.compile(r"(?<=\d)[,_](?=\d{3})")  # 1,234.5 and 1_234.5


def numbers_of(text: str) -> list[str]:
    """The numbers in a text, as they stand there."""
    found = NUMBERS.findall(text)
    if GROUPED.search(text):
        found += NUMBERS.findall(GROUPED.sub("", text))
    return found


def digits(number: str) -> tuple[str, int]:
    """The digits of a number without its sign, and its exponent: 0.digits * 10**exponent."""
    mantissa, _, power = number.lower().lstrip("+-").partition("e")
    whole, _, part = mantissa.partition(".")
    shown = (whole + part).lstrip("0")
    return shown, len(shown) - len(part) + int(power or 0)


def key_of(shown: str, exponent: int) -> Any:
    shown = shown.rstrip("0")
    return shown, exponent if shown else 0


# Text that is made.


def shown(x: Any, text: str, asked: str) -> str:
    """Text that was made of an Array. If a package's code asked for it, that warns.

    Of several traces the youngest notes the line, as with comparisons: what is linear, and shown,
    has a second derivative of zero.
    """
    maps = batch_of(x)
    if maps is not None:
        refuse_percent(maps)
        text = mapped_text(text, maps)
        warn_of_untold(maps, sys._getframe(1))
    if x.within.converts(x, asked):
        return text
    frame = frame_of_user()
    if frame is not None and library(frame.f_globals) == 1 and takes_part(frame.f_globals):
        warn_text(x.within, frame)
        return text
    traces = []
    while hasattr(x, "within"):  # an Array, which this module is too deep down to know
        if x.within.differentiates and not x.within.eager and x.node is not None:
            traces.append(x.within)
        x = x.payload
    if traces:
        line, youngest = line_of(frame), traces[0]
        youngest.written = youngest.written or line
        if maps is None:
            write(text, list(map(weakref.ref, traces)), line)
    return text


def write(text: str, traces: list[weakref.ref[Any]], line: Any) -> None:
    """Enter a text and its numbers."""
    if len(TEXTS) >= MANY_TEXTS or not last():
        forget()
    TRACES.update(traces)
    TEXTS[text.strip()] = traces, line
    for number in islice(numbers_of(text), MANY_NUMBERS):
        each, exponent = digits(number)
        key = key_of(each, exponent)
        if key not in TEXTS and len(each) >= FEW_DIGITS:
            insort(VALUES, (abs(float(number)), key))
        TEXTS[key] = traces, line


def forget() -> None:
    TEXTS.clear()
    VALUES.clear()
    TRACES.clear()


def last() -> bool:
    """Whether a transformation still runs of whose Arrays text was made."""
    return bool(running_of(TRACES))


def running_of(traces: Iterable[weakref.ref[Any]]) -> list[Any]:
    """Those that have not ended, the youngest first."""
    found = [each() for each in traces]
    return [trace for trace in found if trace is not None and not trace.ended]


# Text that is read.


def written(number: str) -> Any:
    """The key of a number that text shows, with as many digits or more; None if there's none."""
    shown, exponent = digits(number)
    key = key_of(shown, exponent)
    if key in TEXTS or len(shown) < FEW_DIGITS:
        return key
    value, unit = abs(float(number)), 10.0 ** (exponent - len(shown))
    at = bisect_left(VALUES, (value,))
    for near, key in VALUES[max(at - 1, 0) : at + 1]:
        if abs(near - value) < unit and len(key[0]) > len(shown):
            return key
    return None


def warn_read(key: Any, asked: str) -> bool:
    """Of a number that is read from text, if that was made of an Array."""
    traces, line = TEXTS.pop(key, ([], None))
    for trace in running_of(traces)[:1]:
        reader, trace.written = line_of_user(), None  # it is told here
        warn(
            f"`{asked}` read a number from text that was made of an Array of `{trace.name}`, in"
            f" {place(reader)}\n"
            f"  The text was made in {place(line)}\n"
            "  What is read from text is a constant, and its derivative is missing: compute with"
            " the Array itself, or with `pullback.stop_gradient(x)` if no derivative is meant.",
            reader,
        )
        return True
    return False


NO_TEXT = frozenset({bool, int, float, complex, np.float64})


def texts_in(x: Any) -> Iterator[str]:
    """The text that an object holds: itself, texts in a list or an array, or in memory."""
    if isinstance(x, str):
        yield x
    elif isinstance(x, bytes):
        yield x.decode("latin-1")
    elif type(x) in (list, tuple, dict):
        items = x.values() if type(x) is dict else x
        if not NO_TEXT.issuperset(map(type, items)):
            for item in items:
                yield from texts_in(item)
    elif type(x) is io.StringIO:
        yield x.getvalue()
    elif isinstance(x, np.ndarray) and x.dtype.kind in "SUO":
        yield from texts_in(list(x.flat))


def warn_read_in(x: Any, asked: str) -> bool:
    """The same of what is read from a text, its numbers, texts in a list or an array, or a file."""
    found = [False]
    for text in texts_in(x):
        found += [warn_read(text.strip(), asked)]
        found += [warn_read(written(number), asked) for number in numbers_of(text)]
    return any(found)


def warn_read_as(dtype: Any, x: Any, asked: str) -> None:
    """The same where numbers of a dtype are made of it; none is made if it's None."""
    if dtype is not None and is_numeric(np.dtype(dtype)):
        warn_read_in(x, asked)


def is_numeric(dtype: Any) -> bool:
    """Whether elements are numbers, or some of their fields are."""
    return dtype.kind in "biufc" or any(is_numeric(x[0]) for x in (dtype.fields or {}).values())


def numbers_in(x: Any) -> Iterator[Any]:
    """Numbers that an object is or holds, except integers, which have no derivative."""
    if isinstance(x, (float, complex, np.inexact, Decimal, Fraction)):
        yield x
    elif type(x) in (list, tuple, dict):
        for item in x.values() if type(x) is dict else x:
            yield from numbers_in(item)
    elif type(x) is CodeType:
        yield from numbers_in(x.co_consts)
    elif isinstance(x, np.ndarray) and x.dtype.kind in "fcO":
        yield from numbers_in(list(islice(x.flat, MANY_NUMBERS)))


def warn_given(x: Any, asked: str) -> None:
    """The same of what holds a number of several digits that text shows."""
    for number in numbers_in(x):
        for part in (number.real, number.imag) if isinstance(number, complex) else (number,):
            value = abs(float(part))
            for near, key in VALUES[bisect_left(VALUES, (value,)) :][:1]:
                if near == value and len(key[0]) >= SEVERAL_DIGITS:
                    warn_read(key, asked)
