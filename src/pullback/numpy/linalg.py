"""The names of `numpy.linalg`; see `pullback.numpy`."""

from numpy import linalg as _real

from . import creation as _creation  # noqa: F401  # enters what it has
from . import linalg_ufuncs as _ufuncs  # noqa: F401  # enters what it has
from .wrapping import mirror as _mirror

__all__ = list(_real.__all__)
__getattr__, __dir__ = _mirror(globals(), _real)
