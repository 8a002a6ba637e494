"""The names of `numpy.random`; see `pullback.numpy`."""

from numpy import random as _real

from . import drawing as _drawing  # noqa: F401  # enters what it has
from .wrapping import mirror as _mirror

__all__ = list(_real.__all__)
__getattr__, __dir__ = _mirror(globals(), _real)
