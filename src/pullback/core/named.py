"""Turn positional arguments into keyword arguments, with the names that NumPy's function has."""

from __future__ import annotations

from inspect import Parameter, signature
from typing import Any

import numpy as np

BY_PLACE = Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD


def named_out(function: Any, args: Any) -> dict[str, Any]:
    """`out` and what comes after it, by their names, if the arguments reach as far."""
    try:
        parameters = signature(function).parameters
    except ValueError:  # written in C
        return {}
    names = [name for name, parameter in parameters.items() if parameter.kind in BY_PLACE]
    place = names.index("out") if "out" in names else len(args)
    if all(x is None or x is np._NoValue for x in args[place : place + 1]):
        return {}
    return dict(zip(names[place:], args[place:], strict=False))
