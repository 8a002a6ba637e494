"""What a module of ours has from the module that it stands in for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any


def rest_of(
    real: ModuleType, names: Sequence[str], ours: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of the module named `ours`: further names are the real ones.

    >>> import math
    >>> get, names = rest_of(math, ["pi"], "here")
    >>> get("pi"), names()
    (3.141592653589793, ['pi'])
    >>> get("e")
    Traceback (most recent call last):
    AttributeError: module 'here' has no attribute 'e'
    """

    def get(name: str) -> Any:
        if name in names:
            return getattr(real, name)
        raise AttributeError(f"module '{ours}' has no attribute '{name}'")

    return get, lambda: list(names)
