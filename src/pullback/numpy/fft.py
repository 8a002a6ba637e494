"""The names of `numpy.fft`; see `pullback.numpy`."""

from numpy import fft as _real

from . import creation as _creation  # noqa: F401  # enters what it has
from .wrapping import mirror as _mirror

__all__ = list(_real.__all__)
__getattr__, __dir__ = _mirror(globals(), _real)
