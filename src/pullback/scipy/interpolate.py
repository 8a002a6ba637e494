"""The names of `scipy.interpolate`; see `pullback.scipy`."""

from scipy import interpolate as _real

from ..numpy.wrapping import mirror as _mirror
from . import interpolation as _interpolation  # noqa: F401  # enters what it has

__all__ = list(_real.__all__)
__getattr__, __dir__ = _mirror(globals(), _real, traced=True)
