"""The names of `scipy.stats`; see `pullback.scipy`."""

from scipy import stats as _real

from ..numpy.wrapping import mirror as _mirror
from . import distributions as _distributions  # noqa: F401  # enters what it has

__all__ = list(_real.__all__)
__getattr__, __dir__ = _mirror(globals(), _real, traced=True)
