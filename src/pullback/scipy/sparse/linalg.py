"""The names of `scipy.sparse.linalg`; see `pullback.scipy`."""

from scipy.sparse import linalg as _real

from ...numpy.wrapping import mirror as _mirror
from ..solving.by_example import apart as _apart
from ..solving.serving import by_values as _by_values
from ..sparse_arrays import iterations as _iterations  # noqa: F401  # enters what it has
from ..sparse_arrays import spectra as _spectra  # noqa: F401  # enters what it has
from ..sparse_arrays import systems as _systems  # noqa: F401  # enters what it has

__all__ = list(_real.__all__)
__getattr__, __dir__ = _mirror(globals(), _real, traced=True)

_by_values(_real.expm, _real.expm_multiply, _real.spilu, _real.splu)
_by_values(_real.lobpcg, call=_apart)
