"""Branch cuts of functions of complex numbers, all along a part of the real axis."""

from scipy import special as sp

from ...core.dispatch import FUNCTIONS, UFUNCS
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
