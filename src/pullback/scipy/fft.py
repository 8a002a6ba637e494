"""The names of `scipy.fft`; see `pullback.scipy`."""

from scipy import fft as _real

from ..numpy.wrapping import mirror as _mirror
from . import fourier as _fourier  # noqa: F401  # enters what it has

__all__ = list(_real.__all__)
__getattr__, __dir__ = _mirror(globals(), _real, traced=True)
