"""The names of `numpy.fft`; see `pullback.numpy`."""

from typing import Any as _Any

from numpy import fft as _real

from . import creation as _creation  # noqa: F401  # enters what it has
from .wrapping import member as _member

__all__ = list(_real.__all__)


def __getattr__(name: str) -> _Any:
    """The name as NumPy has it; it is looked up once."""
    if name.startswith("_"):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    value = globals()[name] = _member(getattr(_real, name))
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
