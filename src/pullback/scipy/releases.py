"""Private modules of SciPy whose names changed with a release."""

from contextlib import suppress
from importlib import import_module
from typing import Any

__all__ = ["private"]


def private(*names: str) -> Any:
    """The first of some modules that the installed SciPy has; the newest name comes first.

    Raises:
        ModuleNotFoundError: it has none of them.
    """
    for name in names[:-1]:
        with suppress(ModuleNotFoundError):
            return import_module(name)
    return import_module(names[-1])
