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
from itertools import islice
from numbers import Integral, Number
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
VALUES: list[tuple[float, Any]] = []  # the numbers, in order, and their keys
TRACES: set[weakref.ref[Any]] = set()  # all of them
UNREAD: list[tuple[str, Any]] = []  # texts whose numbers nobody has asked for yet
UNRELATED = set[str]()  # texts that were read and show none of the numbers
MANY_TEXTS = 4096  # before they are forgotten
MANY_NUMBERS = 1000  # of one text, or of one array
FEW_DIGITS, SEVERAL_DIGITS = 3, 4  # with fewer, a number is not known again if cut; or alone
IF_CUT = 1.1 * 10.0 ** (1 - FEW_DIGITS)  # how far a number is at most from one that is cut to it
CHANCE, CHANCE_IF_CUT = 0.5, 0.05  # that unrelated numbers agree; above it, no warning
SHORT_TEXT = 1000  # characters of texts that are known again as a whole
LONG_TEXT = 64  # numbers; from here on, most are ruled out by one search for all

NUMBERS = re.compile(r"[-+]?(?<![\w.])(?:(?!0[xX])\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,9})?")
GROUPED = re.compile(r"[,_](?<=\d.)(?=\d{3})")  # 1,234.5 and 1_234.5


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
    """Enter a text."""
    if len(TEXTS) >= MANY_TEXTS or not last():
        forget()
    TRACES.update(traces)
    origin = TEXTS[text.strip()] = traces, line
    UNREAD.append((text, origin))
    UNRELATED.clear()


def enter_numbers() -> None:
    """Enter the numbers of the texts, when something may read them: most are only shown."""
    found = dict[Any, Any]()
    for text, origin in reversed(UNREAD):
        if len(found) >= MANY_TEXTS:
            break
        for number in islice(numbers_of(text), MANY_NUMBERS):
            found.setdefault(key_of(*digits(number)), (abs(float(number)), origin))
    UNREAD.clear()
    for key, (value, origin) in found.items():
        if key not in TEXTS:
            insort(VALUES, (value, key))
        TEXTS[key] = origin


def forget() -> None:
    TEXTS.clear()
    VALUES.clear()
    TRACES.clear()
    UNREAD.clear()
    UNRELATED.clear()


def last() -> bool:
    """Whether a transformation still runs of whose Arrays text was made."""
    for each in TRACES:
        trace = each()
        if trace is not None and not trace.ended:
            return True
    return False


def running_of(traces: Iterable[weakref.ref[Any]]) -> list[Any]:
    """Those that have not ended, the youngest first."""
    found = [each() for each in traces]
    return [trace for trace in found if trace is not None and not trace.ended]


# Text that is read.


def written(number: str, among: int) -> Any:
    """The key of a number that text shows, with as many digits or more; None if there's none.

    Numbers may agree by chance. The more numbers are shown, and the more are read at once (among),
    the more digits must agree: the `0.5` of a settings file needn't come from an array that shows
    `0.5`, nor one of a thousand prices from a loss that begins with the same digits.
    """
    value = abs(float(number))
    at = bisect_left(VALUES, (value,))
    beside = VALUES[at - 1 if at else 0 : at + 1]
    if not beside or min([abs(near - value) for near, _ in beside]) > IF_CUT * value:
        return None
    shown, exponent = digits(number)
    unit = float(f"1e{exponent - len(shown)}")
    away = unit + 1e-15 * value  # floats of the same digits are close, too
    close = VALUES[bisect_left(VALUES, (value - away,)) : bisect_left(VALUES, (value + away,))]
    if not close:
        return None
    of_its_size = bisect_left(VALUES, (2 * value,)) - bisect_left(VALUES, (value / 2,))
    pairs = among * max(of_its_size, len(close))
    key = key_of(shown, exponent)
    if key in TEXTS:
        return key if pairs <= 1 or pairs * unit < CHANCE * value else None
    if len(shown) < FEW_DIGITS or pairs * unit >= CHANCE_IF_CUT * value:
        return None
    return next((longer for _, longer in close if len(longer[0]) > len(shown)), None)


def close_to_written(numbers: list[str]) -> list[str]:
    """Those of many numbers that `written` may know; the others differ in too many digits."""
    if len(numbers) < LONG_TEXT:
        return numbers
    values, known = np.abs([*map(float, numbers)]), np.array([value for value, _ in VALUES])
    with np.errstate(all="ignore"):
        after = np.searchsorted(known, values)
        gaps = [np.abs(known.take(at, mode="clip") - values) for at in (after - 1, after)]
        close = np.minimum(*gaps) <= CHANCE / len(numbers) * values
    return [numbers[i] for i in np.flatnonzero(close)]


def warn_read(keys: Iterable[Any], asked: str) -> bool:
    """Of what is read from text, once, if any of it was made of an Array."""
    read = [TEXTS.pop(key) for key in keys if key in TEXTS]
    for traces, line in read:
        for trace in running_of(traces)[:1]:
            reader, trace.written = line_of_user(), None  # it is told here
            warn(
                f"`{asked}` read a number from text that was made of an Array of `{trace.name}`, in"
                f" {place(reader)}\n"
                f"  The text was made in {place(line)}\n"
                "  What is read from text is a constant, and its derivative is missing: compute"
                " with the Array itself, or with `pullback.stop_gradient(x)` if no derivative is"
                " meant.",
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
    texts = [x] if type(x) is str else list(texts_in(x))
    if not texts:
        return False
    if not last():
        forget()
        return False
    if UNREAD:
        enter_numbers()
    if len(texts) == 1 and texts[0] in UNRELATED:
        return False
    numbers = [number for text in texts for number in numbers_of(text)]
    keys = [written(number, len(numbers)) for number in close_to_written(numbers)]
    if any(map(TEXTS.__contains__, [*map(str.strip, texts), *keys])):
        return warn_read([*map(str.strip, texts), *keys], asked)
    if len(texts) == 1 and len(texts[0]) < SHORT_TEXT and len(UNRELATED) < MANY_TEXTS:
        UNRELATED.add(texts[0])
    return False


def warn_read_as(dtype: Any, x: Any, asked: str) -> None:
    """The same where numbers of a dtype are made of it; none is made if it's None."""
    if dtype is not None and is_numeric(np.dtype(dtype)):
        warn_read_in(x, asked)


def is_numeric(dtype: Any) -> bool:
    """Whether elements are numbers, or some of their fields are."""
    return dtype.kind in "biufc" or any(is_numeric(x[0]) for x in (dtype.fields or {}).values())


HOLDING_NONE = frozenset({int, str, bytes, bool, type(None)})


def numbers_in(x: Any) -> Iterator[Any]:
    """Numbers that an object is or holds, except integers, which have no derivative."""
    kind = type(x)
    if kind in (list, tuple, dict):
        for item in x.values() if kind is dict else x:
            if type(item) is float:
                yield item
            elif type(item) not in HOLDING_NONE:
                yield from numbers_in(item)
    elif kind in HOLDING_NONE:
        return
    elif isinstance(x, (float, complex, np.inexact)):
        yield x
    elif kind is CodeType:
        yield from numbers_in(x.co_consts)
    elif isinstance(x, Number) and not isinstance(x, Integral):  # a fraction, a decimal
        yield x
    elif isinstance(x, np.ndarray) and x.dtype.kind in "fcO":
        yield from numbers_in(list(islice(x.flat, MANY_NUMBERS)))


def warn_given(x: Any, asked: str) -> None:
    """The same of what holds a number of several digits that text shows."""
    if UNREAD:
        enter_numbers()
    keys = list[Any]()
    for number in numbers_in(x):
        for part in (number.real, number.imag) if isinstance(number, complex) else (number,):
            value = abs(float(part))
            for near, key in VALUES[bisect_left(VALUES, (value,)) :][:1]:
                if near == value and len(key[0]) >= SEVERAL_DIGITS:
                    keys.append(key)
    warn_read(keys, asked)
