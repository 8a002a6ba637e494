"""SciPy's checks of arguments, which raise errors or return their arguments.

They run on plain values where these are known, and aren't traced: where a check returns an argument
unchanged, the result is the caller's Array. If a check returns something else, such as a vector
with its last entry added, its code is traced.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

from scipy.stats import _multivariate as multivariate

from ...core.array import Array
from ...core.reach.session import call_outside
from ...primitives.arguments import known_value
from ..solving.serving import serves_method, traced

MISSING = object()


def served(original: FunctionType) -> None:
    own = traced(original)

    @serves_method(original)
    def check(*args: Any) -> Any:
        if not any(type(x) is Array for x in args):
            return own(*args)
        values = [known_value(x) for x in args]
        if any(value is None and x is not None for value, x in zip(values, args, strict=True)):
            return own(*args)
        out = call_outside(original, values, {})
        parts = out if type(out) is tuple else (out,)
        found = [given_back(part, values, args) for part in parts]
        if any(part is MISSING for part in found):
            return own(*args)
        return tuple(found) if type(out) is tuple else found[0]


def given_back(part: Any, values: Any, args: Any) -> Any:
    """The argument that a part of a check's result is identical to."""
    if part is None:
        return None
    for value, x in zip(values, args, strict=True):
        if value is part:
            return x
    return MISSING


for name, function in vars(multivariate).items():
    if "_check_" in name and type(function) is FunctionType:
        served(function)
