"""Where functions of real numbers have kinks, infinite slopes and poles: see `Traits.edge`, `pole`.

Each row has a number that is 0 there, and the functions for which that holds. A pole serves as an
edge, too, so that one number is enough; of functions that stay bounded it is an edge, of which
less is asked.
"""

import numpy as np
from scipy import special as sp
from scipy.special import _ufuncs

from ...core.array import Array
from ...core.registry import FUNCTIONS, UFUNCS
from ..elementwise import off_integer


def is_whole(n):
    """Whether a plain number is an integer, for which polynomials and Bessel functions are entire.

    Of an array, or of what may be another number later, that isn't known.
    """
    return type(n) is not Array and not np.ndim(n) and n == np.rint(n)


def off_poles(x):
    """0 at the poles of gamma."""
    x = np.real(x)
    return np.where(x < 0.5, np.sin(np.pi * x), 1.0)


def operand(k, start=0.0, sign=1.0):
    """How far operand k is from where the domain begins, or ends."""
    return lambda *xs: sign * (xs[k] - start)


def share(k):
    """0 where operand k is 0 or 1, as a probability."""
    return lambda *xs: xs[k] * (1 - xs[k])


def product(*numbers):
    """0 where one of these is, which are functions of all operands or the numbers of operands."""

    def number(*xs):
        found = 1.0
        for part in numbers:
            found = found * (xs[part] if isinstance(part, int) else part(*xs))
        return found

    return number


def of_order(number):
    """The same, unless the order, which comes first, is an integer."""
    return lambda n, *xs: None if is_whole(n) else number(n, *xs)


def of_positive_order(number):
    """The same where the order may be negative, or isn't known."""

    def pole(v, *xs):
        positive = type(v) is not Array and not np.ndim(v) and v >= 0
        return None if positive or is_whole(v) else number(v, *xs)

    return pole


def two_of(x, y, z, *_):
    """0 where two positive numbers are."""
    return x * y + y * z + z * x


def amplitude(phi, m):
    """The integrand of elliptic integrals up to phi, where it is least, in its square."""
    return 1 - m * np.sin(np.minimum(np.abs(phi), np.pi / 2)) ** 2


def gegenbauer(n, a, x):
    return off_poles(n + 2 * a) * (1 + x)


def jacobi(n, a, b, x):
    return off_poles(n + a + 1) * (1 + x)


def shifted_jacobi(n, p, q, x):
    return off_poles(n + p - q + 1) * off_poles(n + 1) * off_poles(n + p) * x


FIRST, SECOND, THIRD = operand(0), operand(1), operand(2)
EDGES = [
    (FIRST, "cbrt entr i0e i1e exp1 spence boxcox keip"),
    (SECOND, "xlogy gammainc gammaincc expn chdtr chdtrc"),
    (operand(0, -1.0), "boxcox1p"),
    (operand(0, 1.0, -1.0), "ellipe"),
    (operand(1, -1.0), "xlog1py"),
    (product(0, 1), "rel_entr kl_div agm"),
    (of_order(SECOND), "jv jve iv struve modstruve"),
    (SECOND, "ive"),
    (share(2), "betainc betaincc"),
    (FIRST, "chndtr stdtr nctdtr"),
    (product(0, 2), "gdtr gdtrc"),
    (product(0, 1, 2), "fdtr fdtrc elliprf elliprj"),
    (product(0, 1, 2, 3), "ncfdtr"),
    (two_of, "elliprg"),
    (amplitude, "ellipeinc"),
    (lambda n, d: off_integer(np.floor(n) * d), "smirnov"),
]
POLES = [
    (off_poles, "gamma gammaln loggamma psi"),
    (lambda a, b: off_poles(a) * off_poles(b), "beta"),
    (lambda a, b: off_poles(a) * off_poles(b) * off_poles(a + b), "betaln"),
    (lambda n, k: off_poles(n + 1), "binom"),
    (lambda a, m: off_poles(a + m), "poch"),
    (sp.sindg, "cotdg"),
    (sp.cosdg, "tandg"),
    (FIRST, "expi k0 k0e k1 k1e ker kerp y0 y1 ellipkm1 ndtri_exp powm1"),
    (SECOND, "kn kv kve yn yv yve"),
    (of_positive_order(SECOND), "jv jve iv ive struve modstruve"),
    (THIRD, "hyperu"),
    (operand(0, 1.0), "zetac ellipk"),
    (operand(0, -1.0), "log1p"),
    (share(0), "ndtri logit kolmogi chndtrix nrdtrimn"),
    (share(1), "chdtri gammaincinv gammainccinv pdtri"),
    (share(2), "betaincinv betainccinv fdtri bdtri nbdtri"),
    (product(share(1), 0), "stdtrit"),
    (product(share(1), lambda n, p: off_integer(np.floor(n) * sp.smirnovi(n, p))), "smirnovi"),
    (product(share(2), 0), "nctdtrit"),
    (share(3), "ncfdtri"),
    (product(share(0), 1), "chdtriv"),
    (product(share(0), 2), "gdtria"),
    (product(share(1), 0, 2), "gdtrib"),
    (product(share(2), 0), "gdtrix"),
    (product(share(0), share(2)), "btdtria"),
    (product(share(1), share(2)), "btdtrib bdtrin nbdtrin"),
    # Where the search for an inverse ends: a count at 0, a parameter at 0 or at infinity.
    (product(share(0), share(2), lambda p, n, q: p - (1 - q) ** n), "bdtrik"),
    (product(share(0), share(2), lambda p, n, q: p - q**n), "nbdtrik"),
    (product(share(0), lambda p, m: p - np.exp(-m)), "pdtrik"),
    (product(share(1), 0, lambda x, p, nc: p - sp.chndtr(x, 1e-100, nc)), "chndtridf"),
    (product(share(2), 0, lambda x, df, p: p - sp.chdtr(df, x)), "chndtrinc"),
    (product(share(0), 1, lambda p, t: (p - 0.5) * (p - sp.ndtr(t))), "stdtridf"),
    (lambda p, *_: 1 - p * p, "erfinv"),
    (lambda p, *_: p * (2 - p), "erfcinv"),
    (lambda m, v, x: 1 - x * x, "lpmv"),
    (lambda mean, p, x: p * (1 - p) * (p - 0.5), "nrdtrisd"),
    (amplitude, "ellipkinc"),
    (product(0, 1), "elliprc"),
    (product(0, 1, 2), "elliprd"),
    (two_of, "elliprf"),
    (operand(3), "elliprj"),
    (lambda y, l: 1 + l * y, "inv_boxcox inv_boxcox1p"),
    (lambda x, l: 1 - (l * x) ** 2, "tklmbda"),
    (of_order(operand(1, -1.0)), "eval_chebyt eval_chebyu eval_legendre"),
    (of_order(operand(1, -2.0)), "eval_chebyc eval_chebys"),
    (of_order(SECOND), "eval_sh_chebyt eval_sh_chebyu eval_sh_legendre"),
    (of_order(gegenbauer), "eval_gegenbauer"),
    (of_order(lambda n, a, x: off_poles(n + a + 1) * off_poles(a + 1)), "eval_genlaguerre"),
    (of_order(jacobi), "eval_jacobi"),
    (of_order(shifted_jacobi), "eval_sh_jacobi"),
    (lambda b, z: off_poles(b), "hyp0f1"),
    (lambda a, b, z: off_poles(b), "hyp1f1"),
    (lambda a, b, c, z: off_poles(c) * (1 - z), "hyp2f1"),
    (lambda a, order, v: a * off_poles((order + v + 1) / 2), "besselpoly"),
    (lambda a, b, x: a + b, "log_wright_bessel"),
    (product(1, 2), "voigt_profile"),
]

for trait, rows in (("edge", EDGES), ("pole", POLES)):
    for number, names in rows:
        for name in names.split():
            ufunc = getattr(sp, name, None) or getattr(_ufuncs, name)
            primitive = UFUNCS.get(ufunc) or FUNCTIONS[ufunc]
            assert getattr(primitive, trait) is None, name
            primitive.declare(**{trait: number})
