"""The names of NumPy, for programs that are differentiated.

>>> import pullback.numpy as np
>>> x = np.zeros(3)
>>> x[1] = 2.0
>>> np.array([x[1], 1.0]) * np.pi
Array([6.28318531, 3.14159265], float64[2], constant)

Every public name of the installed NumPy is here. Functions that create arrays create Arrays:
constants that can be assigned into and convert freely to NumPy's arrays. Functions that take arrays
take Arrays, also in lists and in arguments that NumPy's protocols don't look at. All other names
are NumPy's own.
"""

from importlib import import_module as _import_module
from typing import Any as _Any

import numpy as _numpy

from . import creation as _creation  # noqa: F401  # enters what it has
from . import iterating as _iterating  # noqa: F401  # enters what it has
from . import looping as _looping  # noqa: F401  # enters what it has
from . import methods as _methods  # noqa: F401  # enters what it has
from . import scalars as _scalars  # noqa: F401  # enters what it has
from .wrapping import member as _member

__all__ = list(_numpy.__all__)
__version__ = _numpy.__version__

_SUBMODULES = frozenset({"fft", "linalg", "polynomial", "random"})
_NAMES = frozenset({*__all__, "__array_namespace_info__", "__array_api_version__"})


def __getattr__(name: str) -> _Any:
    """The name as NumPy has it; it is looked up once."""
    if name in _SUBMODULES:
        return _import_module(f"{__name__}.{name}")
    if name.startswith("_") and name not in _NAMES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    value = globals()[name] = _member(getattr(_numpy, name))
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_SUBMODULES})
