"""Differences between releases of SciPy: names of private modules, and details of results."""

from contextlib import suppress
from importlib import import_module
from typing import Any

import scipy

__all__ = ["SINCE_1_18", "private"]

SINCE_1_18 = tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 18)


def private(*names: str) -> Any:
    """The first of some modules that the installed SciPy has; the newest name comes first.

    Raises:
        ModuleNotFoundError: it has none of them.
    """
    for name in names[:-1]:
        with suppress(ModuleNotFoundError):
            return import_module(name)
    return import_module(names[-1])
