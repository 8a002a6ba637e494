"""The names of `scipy.optimize`; see `pullback.scipy`."""

from scipy import optimize as _real

from ..numpy.wrapping import mirror as _mirror
from . import optimization as _optimization  # noqa: F401  # enters what it has

__all__ = list(_real.__all__)
__getattr__, __dir__ = _mirror(globals(), _real)
