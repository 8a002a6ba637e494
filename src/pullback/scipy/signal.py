"""The names of `scipy.signal`; see `pullback.scipy`."""

from scipy import signal as _real

from ..numpy.wrapping import mirror as _mirror
from . import signals as _signals  # noqa: F401  # enters what it has

__all__ = list(_real.__all__)
__getattr__, __dir__ = _mirror(globals(), _real, traced=True)
