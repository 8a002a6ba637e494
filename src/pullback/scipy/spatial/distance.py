"""The names of `scipy.spatial.distance`; see `pullback.scipy`."""

from scipy.spatial import distance as _real

from ...numpy.wrapping import mirror as _mirror

__all__ = list(_real.__all__)
__getattr__, __dir__ = _mirror(globals(), _real, traced=True)
