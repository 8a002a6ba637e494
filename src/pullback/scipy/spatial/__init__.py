"""The names of `scipy.spatial`; see `pullback.scipy`."""

from scipy import spatial as _real

from ...numpy.wrapping import mirror as _mirror
from .. import geometry as _geometry  # noqa: F401  # enters what it has

__all__ = list(_real.__all__)
__getattr__, __dir__ = _mirror(globals(), _real, traced=True)
