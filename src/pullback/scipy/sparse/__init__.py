"""The names of `scipy.sparse`; see `pullback.scipy`."""

from scipy import sparse as _real

from ...numpy.wrapping import mirror as _mirror
from .. import sparse_arrays as _sparse_arrays  # noqa: F401  # enters what it has

__all__ = list(_real.__all__)
__getattr__, __dir__ = _mirror(globals(), _real, traced=True)
