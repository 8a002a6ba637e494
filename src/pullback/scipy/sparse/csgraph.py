"""The names of `scipy.sparse.csgraph`; see `pullback.scipy`."""

from scipy.sparse import csgraph as _real

from ...numpy.wrapping import mirror as _mirror
from ..sparse_arrays import graphs as _graphs  # noqa: F401  # enters what it has

__all__ = list(_real.__all__)
__getattr__, __dir__ = _mirror(globals(), _real, traced=True)
