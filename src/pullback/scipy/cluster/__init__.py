"""The names of `scipy.cluster`; see `pullback.scipy`."""

from scipy import cluster as _real

from ...numpy.wrapping import mirror as _mirror
from ..geometry import clusters as _clusters  # noqa: F401  # enters what it has

__all__ = list(_real.__all__)
__getattr__, __dir__ = _mirror(globals(), _real, traced=True)
