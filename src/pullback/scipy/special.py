"""The names of `scipy.special`; see `pullback.scipy`."""

from scipy import special as _real

from ..numpy.taking_part import taking_part as _taking_part
from ..numpy.wrapping import OWN as _OWN
from ..numpy.wrapping import mirror as _mirror
from ..numpy.wrapping import seeking as _seeking

__all__ = list(_real.__all__)
__getattr__, __dir__ = _mirror(globals(), _real)

# Legendre functions and spherical harmonics are callable objects of SciPy's.
for _name in __all__:
    _function = getattr(_real, _name)
    if type(_function).__name__ == "MultiUFunc":
        _OWN.setdefault(_function, _seeking(_function))

# Polynomials whose weight functions have parameters: SciPy's own code, over nodes of our own rule.
for _function in (_real.jacobi, _real.genlaguerre, _real.sh_jacobi):
    _OWN[_function] = _taking_part(_function)
