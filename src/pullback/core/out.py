"""Results that are written into an array: `np.add(x, y, out=a)`, and `a += x`, the same call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import numpy as np

from .errors import ArgumentError, ArgumentTypeError, kind_of
from .lost import frame_of_user, line_of, place
from .reach.namespaces import library

METHODS_COMPUTED_IN_OUT = frozenset({"reduce", "accumulate", "reduceat"})
# How a program writes what is done in place.
OPERATORS = {
    np.add: "+", np.subtract: "-", np.multiply: "*", np.true_divide: "/", np.floor_divide: "//",
    np.power: "**", np.remainder: "%", np.matmul: "@",
}  # fmt: skip


class IntoOut(NamedTuple):
    """What a function does with `out=`, declared beside what answers for it.

    adds: it computes in a dtype that holds the array's and that of `out`, unless `dtype` is given.
    halves: it computes with half precision in single precision.
    broadcasts: its last step is a ufunc's, which broadcasts the result to `out`.
    reads_on: it reads its list of arrays while it writes, also where they overlap `out`.
    place: where `dtype` stands by position, if it may.
    """

    adds: bool = False
    halves: bool = False
    broadcasts: bool = False
    reads_on: bool = False
    place: int | None = None


NOTHING = IntoOut()


def into_out(**claims: bool) -> Callable[[Any], Any]:
    """Declare what a function does with `out=`; the claims are those of `IntoOut`."""

    def declare(implementation: Any) -> Any:
        code = implementation.__code__
        names = code.co_varnames[: code.co_argcount]
        place = names.index("dtype") if "dtype" in names else None
        implementation.into_out = IntoOut(**claims, place=place)
        return implementation

    return declare


def into_out_of(implementation: Any) -> IntoOut:
    """What was declared of a function; nothing of others."""
    return getattr(implementation, "into_out", NOTHING)


def computed_in(function: Any, args: Any, kwargs: dict[str, Any], out: Any) -> dict[str, Any]:
    """The keywords of a call into `out=`: NumPy adds up in what holds the array's dtype and its.

    function: what answers for one of NumPy's, or the name of a method of a ufunc.
    """
    if out is None or kwargs.get("dtype") is not None:
        return kwargs
    given = [x.dtype for x in args if hasattr(x, "dtype")]
    if not given or np.result_type(out.dtype, *given) == np.result_type(*given):
        return kwargs
    how = into_out_of(function)
    adds, place = how.adds, how.place
    if isinstance(function, str):
        adds = function in METHODS_COMPUTED_IN_OUT
    elif place is not None and len(args) > place and args[place] is not None:
        return kwargs
    if how.halves and given[0] == np.float16:
        return kwargs | {"dtype": np.dtype(np.float32)}
    return kwargs | {"dtype": np.result_type(out.dtype, *given)} if adds else kwargs


def as_wide(result: Any, outs: Any) -> Any:
    """A result beside others that have an `out=`: a ufunc gives all of them one shape."""
    shape = np.broadcast_shapes(np.shape(result), *[o.shape for o in outs if o is not None])
    return result if np.shape(result) == shape else np.copy(np.broadcast_to(result, shape), "C")


def refuse_out(ufunc: Any, method: str, first: Any, plain: Any, session: Any = None) -> NoReturn:
    """Nothing traced is written into a plain array, which the error holds as `array`.

    method, first: of the ufunc's call, the name of the method and the first operand.
    session: which hears of it, lest the program catches the error.
    """
    called = method == "__call__"
    name = ufunc.__name__ + ("" if called else f".{method}")
    if not isinstance(plain, np.ndarray):
        raise ArgumentTypeError(
            f"`numpy.{ufunc.__name__}` was asked to write its result into {kind_of(plain)}.\n"
            "  What `out=` names must be an array, as NumPy has it; for several results, a tuple of"
            " arrays."
        )
    operator = OPERATORS.get(ufunc) if called and first is plain else None
    instead = f"np.{name}({', '.join('xyzw'[: ufunc.nin if called else 1])})"
    how = "`out=a`"
    if operator:
        instead, how = f"a {operator} x", f"`a {operator}= x`, or `out=a`"
    cure = f"Write `a = {instead}`, or before it `a = np.array(a)` inside the function."
    frame = frame_of_user()
    if frame is not None and library(frame.f_globals):  # no line that the user can change
        cure = (
            f"A library does so, in {place(line_of(frame))}\n"
            "  Pass it the plain value, `x.numpy()`, which leaves the derivative behind."
        )
    error = ArgumentError(
        f"`numpy.{ufunc.__name__}` was asked to write a traced Array into a plain ndarray ({how}),"
        f" and the derivative would be lost.\n  {cure}"
    )
    error.array = plain
    if session is not None:
        session.hear(error)
    raise error
