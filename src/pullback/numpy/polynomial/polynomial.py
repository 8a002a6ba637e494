"""The names of `numpy.polynomial.polynomial`; see `pullback.numpy`."""

from numpy.polynomial import polynomial as _real

from ..wrapping import mirror as _mirror
from . import classes as _classes  # noqa: F401  # enters what it has

__all__ = list(_real.__all__)
__getattr__, __dir__ = _mirror(globals(), _real)
