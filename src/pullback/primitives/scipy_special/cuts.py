"""Branch cuts of functions of complex numbers, most of them along a part of the real axis."""

import numpy as np
from scipy import special as sp

from ...core.registry import FUNCTIONS, UFUNCS
from ..elementwise import across_real

CUTS = [  # where the last operand crosses the axis, and the functions that jump there
    (
        lambda x: x < 0,
        "jv yv iv kv jve yve ive kve hankel1 hankel2 hankel1e hankel2e xlogy loggamma exp1 expi"
        " spence eval_sh_chebyt eval_sh_chebyu eval_sh_legendre",
    ),
    (lambda x: x < -1, "log1p xlog1py eval_chebyt eval_chebyu eval_legendre"),
    (lambda x: x < -2, "eval_chebyc eval_chebys"),
    (lambda x: x > 1, "hyp2f1"),
]
for beyond, names in CUTS:
    for name in names.split():
        ufunc = getattr(sp, name)
        (UFUNCS.get(ufunc) or FUNCTIONS[ufunc]).declare(cut=across_real(beyond, -1))


def below(z):
    """Whether a number is beyond the negative real axis, seen from above."""
    return (np.imag(z) < 0) & (np.real(z) < 0)


def of_either(x, y):
    """The surface of cuts that x or y crosses, as the other does not if it is real."""
    x, y = np.imag(x), np.imag(y)
    return np.where(y == 0, x, np.where(x == 0, y, x * y))


elliprc, wrightomega, log_ndtr = [
    UFUNCS[ufunc] for ufunc in (sp.elliprc, sp.wrightomega, sp.log_ndtr)
]
elliprc.declare(cut=(of_either, lambda x, y: below(x) * 1 + below(y) * 2))
wrightomega.declare(  # on two rays
    cut=(
        lambda z: np.abs(np.imag(z)) - np.pi,
        lambda z: (np.abs(np.imag(z)) > np.pi) & (np.real(z) < -1),
    )
)
log_ndtr.declare(cut=(lambda z: np.imag(sp.ndtr(z)), lambda z: below(sp.ndtr(z))))
