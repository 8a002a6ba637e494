"""The names of `scipy.linalg`; see `pullback.scipy`."""

from scipy import linalg as _real

from ..numpy.wrapping import mirror as _mirror
from . import linear_algebra as _linear_algebra  # noqa: F401  # enters what it has

__all__ = list(_real.__all__)
__getattr__, __dir__ = _mirror(globals(), _real, traced=True)
