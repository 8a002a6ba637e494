"""The lines where a derivative was lost, on purpose or unnoticed, and warnings about them.

Text, comparisons and functions that detach use an Array's value and drop its derivative. That's
what the program asked for, so nothing raises an error. Two cases warn, once per line: a
hand-written search returns plain numbers that depend on the argument only through comparisons, and
a number that is written as text and read again is a constant (`written_numbers`). A second
derivative at a kink warns, too.
"""

from __future__ import annotations

import dis
import linecache
import os
import sys
import threading
import warnings
from contextvars import ContextVar
from typing import Any

from .errors import ArgumentError, ConversionError, LostDerivativeWarning
from .reach.bytecode import callee, original
from .reach.namespaces import package, takes_part


class TruthOrInteger:
    """What decides where the program asks for the truth or the integer of a number."""

    constant = by_elements = True
    comparison = False


QUESTION = TruthOrInteger()
REGISTRY: dict[Any, Any] = {}  # for `warnings`: what was said, by text and line


def frame_of_user() -> Any:
    """The innermost frame outside this package and NumPy; None in a thread without one."""
    frame: Any = sys._getframe(2)
    while frame is not None:
        scope = frame.f_globals
        if id(scope) not in PASSED:
            if package(scope) not in ("pullback", "numpy", "threading"):
                return frame
            PASSED[id(scope)] = scope
        frame = frame.f_back
    return None


PASSED: dict[int, Any] = {}  # globals of this package and of NumPy that were met, by id


def line_of_user() -> tuple[str, int] | None:
    """File and line of the innermost frame outside this package and NumPy."""
    return line_of(frame_of_user())


def line_of(frame: Any) -> tuple[str, int] | None:
    return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def place(line: tuple[str, int] | None) -> str:
    """A line in messages: `model.py:12: while hi - lo > tol:`."""
    if line is None:
        return "a line that is not known"
    source = linecache.getline(*line).strip()
    return f"{os.path.basename(line[0])}:{line[1]}{': ' if source else ''}{source}"


# What a warning of a zero derivative begins with, for programs that filter it by another
# library's words.
ZERO: ContextVar[str] = ContextVar("zero", default="")


# Whether what runs repeats a call that has given its warnings.
REPEATS: ContextVar[bool] = ContextVar("repeats", default=False)
# Whether a derivative that is lost raises. A filter of warnings would be one for all threads.
STRICT: ContextVar[bool] = ContextVar("strict", default=False)


def warn(message: str, line: tuple[str, int] | None) -> None:
    if REPEATS.get():
        return
    if STRICT.get():
        raise LostDerivativeWarning(message)
    file, number = line or ("<unknown>", 0)
    warnings.warn_explicit(message, LostDerivativeWarning, file, number, registry=REGISTRY)


INSTEAD = (
    "its derivative is missing: find the root with `scipy.optimize.brentq`, or end with one Newton"
    " step, `r = r - f(r) / slope`, which carries the derivative."
)


def warn_searched(trace: Any) -> None:
    """Of a trace whose function was led by comparisons, and whose result has no way back."""
    warn(
        f"{ZERO.get()}`{trace.name}` is zero: no operation with a derivative leads from the"
        " argument to the result, but the argument was compared, or made an integer, first in"
        f" {place(trace.comparison)}\n"
        f"  If comparisons led to the result, as in a bisection, {INSTEAD} If it was found in a"
        " cache, by an equal number of an earlier call, empty the cache before. If it was computed"
        " from integers, stay with floating numbers. If the result does not depend on what was"
        " compared, or is piecewise constant, zero is right.",
        trace.comparison,
    )


def warn_decided(trace: Any) -> None:
    """Of a trace whose function made many decisions, and whose derivative is zero everywhere."""
    line = trace.turning or trace.comparison
    warn(
        f"{ZERO.get()}`{trace.name}` is zero, and operations that are constant between jumps (a"
        " comparison, `sign`, `copysign`, `floor`, `int`, `argmin`) were made of the argument again"
        f" and again, as in {place(line)}\n"
        f"  If they led to the result, as in a search by halves, {INSTEAD} If the result is"
        " piecewise constant, zero is right.",
        line,
    )


def warn_narrowed(trace: Any, line: Any) -> None:
    """Of a search whose result has another path to the argument, so that nothing is zero."""
    warn(
        f"{ZERO.get()}`{trace.name}` is incomplete: numbers were compared that came nearer and"
        " nearer to each other, and their derivatives did not, as in a search by comparisons, in"
        f" {place(line)}\n"
        "  No derivative leads to what comparisons find. If the result depends on it,"
        f" {INSTEAD} If the result is piecewise constant in what was found, nothing is missing.",
        line,
    )


def warn_trimmed(name: str) -> None:
    """Of coefficients that are 0 and carry a derivative, which a polynomial leaves out."""
    line = line_of_user()
    warn(
        f"`{name}` left out coefficients that are 0, as NumPy does, and with them the derivative"
        f" with respect to them, in {place(line)}\n"
        "  Where coefficients begin at 0, evaluate with `numpy.polyval` or"
        " `numpy.polynomial.polynomial.polyval`, which keep all of them.",
        line,
    )


def warn_swapped(name: str) -> None:
    """Of a function with aux of which the output has no derivative, but aux has."""
    line = line_of_user()
    warn(
        f"{ZERO.get()}`{name}` is zero: of the pair that the function returned, (output, aux), aux"
        f" depends on the argument, and the output doesn't, in {place(line)}\n"
        "  Write `return output, aux`, in this order.",
        line,
    )


def warn_rounded(decimals: int) -> None:
    """Of a result to which numbers have led that were rounded to so many decimals."""
    line = line_of_user()
    warn(
        f"Numbers that were rounded to {decimals} decimals, as by `round(x, {decimals})`, lead to"
        f" the result that is differentiated in {place(line)}, and their derivative is zero\n"
        "  If the rounding only tidies up, take it out, or round to 8 decimals or more, which"
        " counts as a rounding error. If the steps are meant, zero is right.",
        line,
    )


def warn_bent(name: str, where: str) -> None:
    """Of a second derivative at a kink, where the first is a choice."""
    line = line_of_user()
    warn(
        f"`{name}` has a kink where {where}, and no second derivative there; that is where it was"
        f" differentiated twice, in {place(line)}\n"
        "  The first derivative is an element of the generalised gradient, and the second takes it"
        " for a constant. That is wrong where kinks cancel: `abs(x)**2` at 0 is as smooth as `x*x`."
        " Write the smooth form (`x*x`, `np.var(x)` for `np.std(x)**2`, `x @ x` for a squared norm,"
        " `a * b` for `maximum(a, b) * minimum(a, b)`). Where the kink is a constant's, which adds"
        " nothing to the result, the second derivative is right.",
        line,
    )


class Refusal:
    """An error of ours that the caller of a transformation may miss, and where it was raised."""

    def __init__(self, error: BaseException, warns: bool) -> None:
        self.error, self.warns = error, warns
        self.line, self.thread = line_of_user(), threading.get_ident()


def formats_text(frame: Any) -> bool:
    """Whether a frame is at an operator `%`, which asks for what it writes into text."""
    code, at = frame.f_code.co_code, frame.f_lasti
    return code[at] == BINARY_OP and code[at + 1] in REMAINDERS


def refuse_mask(mask: Any, frame: Any) -> None:
    """Raise for a mask without elements of a plain array, which NumPy would take for integers."""
    code, at = frame.f_code.co_code, frame.f_lasti
    if code[at] in SUBSCRIPTS or (code[at] == BINARY_OP and code[at + 1] == SUBSCRIPT):
        raise ArgumentError(
            f"A plain array was indexed by a mask of shape {mask.shape} that is an Array, and NumPy"
            " takes an Array without elements for integers.\n"
            "  Write `x[mask.numpy()]`, or make x an Array: `pullback.array(x)[mask]`."
        )


SUBSCRIPTS = {dis.opmap.get(name) for name in ("BINARY_SUBSCR", "STORE_SUBSCR", "DELETE_SUBSCR")}
SUBSCRIPT = 26  # `x[i]` among the operators of BINARY_OP, from Python 3.14 on
BINARY_OP = dis.opmap["BINARY_OP"]
REMAINDERS = (6, 19)  # % and %=


def refuse_percent(maps: Any) -> None:
    """Raise where `%` writes a mapped Array into text, which could be asked anything."""
    frame = frame_of_user()
    if frame is not None and formats_text(frame) and package(frame.f_globals) != "logging":
        raise ConversionError(
            f"`text % x` was asked of an Array mapped by `{maps.name}`: the text would show the"
            " values of all examples, and programs could take it for that of one.\n"
            "  To show it, write an f-string, as in `f'{x}'`."
        )


def batch_of(x: Any) -> Any:
    """The youngest trace that maps an Array and has not ended; None if none does."""
    while hasattr(x, "within"):
        if x.within.maps and not x.within.ended:
            return x.within
        x = x.payload
    return None


def warn_of_untold(trace: Any, frame: Any) -> None:
    """Of text of a mapped Array that compiled code asks for, of which it may make other text.

    frame: that of the method that was asked. What ours asks for is followed, and so is what is
    shown: printed, logged, or in the message of an exception.
    """
    frame = frame.f_back
    if frame is not None and package(frame.f_globals) == "pullback":
        return
    while frame is not None and not takes_part(frame.f_globals):
        if package(frame.f_globals) in ("pullback", "logging", "warnings", "traceback"):
            return
        frame = frame.f_back
    if frame is None or original(frame.f_code) is frame.f_code:  # or its code does not ask
        return
    name = callee(frame.f_code, frame.f_lasti)
    if name is not None and name not in KEEPING_IT:
        line = line_of(frame)
        warn(
            f"Compiled code made text of an Array mapped by `{trace.name}`, in {place(line)}\n"
            "  It shows the values of all examples. Where it is shown, all is well; a comparison of"
            " it, or a key made of it, decides for all of them. Write `str(x)` or `f'{x}'`, which"
            " raises when it is asked.",
            line,
        )


# What shows text, or keeps it where it is known again; and what gives the text of an Array itself.
KEEPING_IT = frozenset(
    {"print", "write", "writerow", "writerows", "writelines", "__str__", "__repr__", "__format__"}
)


def warn_text(trace: Any, frame: Any) -> None:
    """Of an Array with a derivative that a package's code turns into text."""
    line = line_of(frame)
    warn(
        f"`{package(frame.f_globals)}` turned an Array of `{trace.name}` into text, in"
        f" {place(line)}\n"
        "  A number that is read from the text again, as in `float(f'{x}')`, is a constant: if the"
        " result is computed from it, its derivative is missing.",
        line,
    )


def warn_read_alone(trace: Any) -> None:
    """Of a trace whose Arrays were turned into text, and whose result has no way back."""
    warn(
        f"{ZERO.get()}`{trace.name}` is zero: no operation with a derivative leads from the"
        " argument to the result, but the argument was turned into text, as in"
        f" {place(trace.written)}\n"
        "  If the result was read from text again, compute with the Array itself; what a cache"
        " finds by text is plain: begin with an empty one. If the result does not depend on the"
        " argument, zero is right.",
        trace.written,
    )
