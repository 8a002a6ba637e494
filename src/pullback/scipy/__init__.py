"""The names of SciPy, for programs that are differentiated.

>>> import pullback as pb
>>> from pullback.scipy import optimize
>>> round(pb.grad(lambda a: optimize.brentq(lambda x: x**3 - a, 0.0, 9.0))(8.0), 6)
np.float64(0.083333)

Functions that take arrays take Arrays, also in lists; all other names are SciPy's own. SciPy is
imported here, not by `import pullback`.
"""

from importlib import import_module as _import_module
from typing import Any as _Any

import scipy as _scipy

from ..core.errors import MissingExtraError as _MissingExtraError

__all__ = [
    "cluster",
    "fft",
    "integrate",
    "interpolate",
    "linalg",
    "ndimage",
    "optimize",
    "signal",
    "sparse",
    "spatial",
    "special",
    "stats",
]
__version__ = _scipy.__version__
_OLDEST = 1, 17

if tuple(map(int, __version__.split(".")[:2])) < _OLDEST:
    raise _MissingExtraError(
        f"`pullback.scipy` differentiates SciPy 1.17 and later, but SciPy {__version__} is"
        " installed, whose private functions differ.\n"
        "  Install a later one: pip install 'scipy>=1.17'."
    )


def __getattr__(name: str) -> _Any:
    """Modules that are mirrored are imported when they are first used; the rest is SciPy's."""
    if name in __all__:
        return _import_module(f"{__name__}.{name}")
    if name.startswith("_"):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(_scipy, name)


def __dir__() -> list[str]:
    return sorted(__all__)
