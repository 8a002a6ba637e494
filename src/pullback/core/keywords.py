"""Keywords that a function of ours does not have: `grad(f, argnum=1)`.

Such a function takes `**unknown: Never`, so that a type checker refuses them, and hands on what it
was given to `refuse_keywords`. The words are in `names_elsewhere`; else a near name is meant.
"""

from __future__ import annotations

import difflib
import inspect
import reprlib
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import numpy as np

from .errors import ArgumentTypeError
from .names_elsewhere import KEYWORDS, RENAMED

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


def advice(instead: str) -> str:
    """The sentence that says what to write, given code in backticks or words."""
    return f"{'Write' if instead.startswith('`') else 'Instead,'} {instead}."


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The one of the known names that was meant, if one is near."""
    plain = {each.lower().replace("_", ""): each for each in known}
    close = difflib.get_close_matches(name.lower().replace("_", ""), plain, 1, 0.75)
    return plain[close[0]] if close else None


def keyword_elsewhere(name: str, value: Any, known: list[str], optional: list[str]) -> str:
    """What to write for the keyword name=value of a function that has others."""
    own = RENAMED.get(name)
    own = own if own in known else nearest(name, known) if name not in KEYWORDS else None
    if own == "argnums" and not isinstance(value, (int, tuple)):
        return "`argnums=0`, the position of the argument, counted from 0"
    if own is not None:
        shown = repr(value) if isinstance(value, (bool, int, float, str, tuple)) else own
        return f"`{own}={shown if len(shown) < 40 else own}`"
    if name in KEYWORDS:
        return KEYWORDS[name]
    if not optional:
        return "leave it out"
    return f"leave it out, or choose among {', '.join(f'`{each}`' for each in optional)}"


def refuse_keywords(
    function: Callable[..., Any], unknown: dict[str, Any], asked: str | None = None
) -> NoReturn:
    """Raise for the keywords that a function was given and does not have."""
    parameters = inspect.signature(function).parameters.values()
    named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    known, optional = [p.name for p in named], [p.name for p in named if p.default is not p.empty]
    name, value = next(iter(unknown.items()))
    raise ArgumentTypeError(
        f"`{asked or function.__name__}` was called with `{name}={reprlib.repr(value)}`, and has no"
        f" such keyword.\n  {advice(keyword_elsewhere(name, value, known, optional))}"
    )
