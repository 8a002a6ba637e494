"""The names of `scipy.cluster.hierarchy`; see `pullback.scipy`."""

from scipy.cluster import hierarchy as _real

from ...numpy.wrapping import mirror as _mirror

__all__ = list(_real.__all__)
__getattr__, __dir__ = _mirror(globals(), _real, traced=True)
