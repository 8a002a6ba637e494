"""How messages show what a function was given or has returned, and those of options."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from .array import Array
from .errors import ArgumentTypeError, kind_of
from .graph import Variable
from .spec import spec_of
from .usage import USAGE

LONGEST = 60  # characters of a value that is shown as it's written
MEANING_FALSE = frozenset({"", "0", "f", "false", "n", "no", "none", "off"})


def describe(out: Any) -> str:
    """What a result or an argument is: the spec of an array, the length of a list, a class."""
    if type(out) is Array or isinstance(out, (ndarray, np.generic)):
        return str(spec_of(out))
    if type(out) is Variable:  # of a program that is being recorded
        return str(out.spec)
    if isinstance(out, (tuple, list)):
        return f"a {type(out).__name__} of {len(out)}"
    return kind_of(out)


def brief(setting: Any) -> str:
    """A setting as it is written; what is long is described."""
    text = repr(setting)
    return text if len(text) <= LONGEST and "\n" not in text else describe(setting)


def check_flag(value: Any, name: str, verb: str) -> None:
    """Raise for an option that isn't True or False, such as the array in `grad(f, 0, x)`.

    Text is refused, since `wait="no"` would count as True.
    """
    if isinstance(value, (int, np.bool_)):
        return
    if isinstance(value, str):
        meant = value.strip().lower() not in MEANING_FALSE
        cure = f"Write `{name}={meant}`, without quotes."
    elif ")(" in USAGE.get(verb, ""):
        cure = f"The arguments come in a call of their own: write `{USAGE[verb]}`."
    else:
        cure = f"Write `{name}=True`."
    raise ArgumentTypeError(
        f"`{verb}` takes `{name}=True` or `{name}=False`, but got {brief(value)}.\n  {cure}"
    )
