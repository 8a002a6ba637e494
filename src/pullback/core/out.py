"""Results that are written into an array: `np.add(x, y, out=a)`, and `a += x`, the same call."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from .errors import ArgumentError, ArgumentTypeError, kind_of

# Functions whose last step is a ufunc's, which broadcasts its result to `out`.
WRITTEN_BY_UFUNCS = {
    np.round, np.around, np.clip, np.fix, np.isneginf, np.isposinf, np.outer, np.einsum,
    np.quantile, np.percentile, np.nanquantile, np.nanpercentile, np.nanmedian,
}  # fmt: skip
# Sums, products and methods of ufuncs that heed the dtype of `out`, unless `dtype` is given; and
# where that stands by position.
COMPUTED_IN_OUT = dict.fromkeys(
    ["sum", "prod", "mean", "cumsum", "cumprod", "nansum", "nanprod", "nanmean", "nancumsum",
     "nancumprod", "var", "std"], 2
) | {"trace": 4, "cumulative_sum": 9, "cumulative_prod": 9, "einsum": 99}  # fmt: skip
METHODS_COMPUTED_IN_OUT = frozenset({"reduce", "accumulate", "reduceat"})
# How a program writes what is done in place.
OPERATORS = {
    np.add: "+", np.subtract: "-", np.multiply: "*", np.true_divide: "/", np.floor_divide: "//",
    np.power: "**", np.remainder: "%", np.matmul: "@",
}  # fmt: skip


def computed_in(function: Any, args: Any, kwargs: dict[str, Any], out: Any) -> dict[str, Any]:
    """The keywords of a call into `out=`: NumPy adds up in what holds the array's dtype and its.

    function: one of NumPy's, or the name of a method of a ufunc.
    """
    if out is None or kwargs.get("dtype") is not None:
        return kwargs
    given = [x.dtype for x in args if hasattr(x, "dtype")]
    if not given or np.result_type(out.dtype, *given) == np.result_type(*given):
        return kwargs
    if function not in METHODS_COMPUTED_IN_OUT:
        place = COMPUTED_IN_OUT.get(getattr(function, "__name__", ""), -1)
        known = place >= 0 and getattr(np, function.__name__, None) is function
        if not known or (len(args) > place and args[place] is not None):
            return kwargs
        if function in (np.mean, np.var, np.std) and given[0] == np.float16:
            return kwargs | {"dtype": np.dtype(np.float32)}
        if function in (np.var, np.std):  # only the last sum of them is written
            return kwargs
    return kwargs | {"dtype": np.result_type(out.dtype, *given)}


def refuse_out(ufunc: Any, method: str, first: Any, plain: Any) -> NoReturn:
    """Nothing traced is written into a plain array, which the error holds as `array`.

    method, first: of the ufunc's call, the name of the method and the first operand.
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
    error = ArgumentError(
        f"`numpy.{ufunc.__name__}` was asked to write a traced Array into a plain ndarray ({how}),"
        f" and the derivative would be lost.\n  Write `a = {instead}`, or before it"
        " `a = np.array(a)` inside the function."
    )
    error.array = plain
    raise error
