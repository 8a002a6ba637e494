"""The names of `numpy.polynomial`: `Polynomial`, and `polynomial.polynomial`, take Arrays."""

from importlib import import_module as _import_module
from typing import Any as _Any

from numpy import polynomial as _real

from ..wrapping import member as _member
from . import classes as _classes  # noqa: F401  # enters what it has

__all__ = list(_real.__all__)


def __getattr__(name: str) -> _Any:
    if name == "polynomial":
        return _import_module(f"{__name__}.{name}")
    return _member(getattr(_real, name))


def __dir__() -> list[str]:
    return sorted(__all__)
