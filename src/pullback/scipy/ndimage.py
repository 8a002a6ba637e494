"""The names of `scipy.ndimage`; see `pullback.scipy`."""

from scipy import ndimage as _real

from ..numpy.wrapping import mirror as _mirror
from . import images as _images  # noqa: F401  # enters what it has

__all__ = list(_real.__all__)
__getattr__, __dir__ = _mirror(globals(), _real, traced=True)
