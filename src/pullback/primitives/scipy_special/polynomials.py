"""Orthogonal polynomials: eval_*(n, ..., x). For real n they are hypergeometric functions."""

from __future__ import annotations

import numpy as np
import scipy.special as sp

from .kinds import refused, row, whole
from .slopes import curve

ORDER = "Its degree is an integer: keep it out of what is differentiated"


def below(n):
    """The degree below, and 0 for 0."""
    return np.where(n == 0, n, n - 1)


def step(factor, f):
    """The derivative factor(n, ...) f(n - 1, ..., x), which is zero for degree zero."""

    def partial(out, n, *xs):
        return np.where(n == 0, 0, factor(n, *xs) * f(below(n), *xs))

    return partial


def polynomial(ufunc, factor, f):
    by_x = step(factor, f)
    *by_parameters, _ = curve(ufunc, formulas={ufunc.nin - 1: by_x})
    row(ufunc, *by_parameters, by_x)


def counted(ufunc, factor):
    """One that takes integers for its degree."""

    def by_x(out, n, x):
        n = whole(n)
        return factor(n) * ufunc(whole(below(n)), x)

    row(ufunc, refused(ufunc.__name__, "n", ORDER), by_x, reads="x0 x1")


def gegenbauer(order, inner=lambda x: x):
    return lambda n, x: sp.eval_gegenbauer(n, order, inner(x))


def shifted(x):
    return 2 * x - 1


# fmt: off
polynomial(sp.eval_chebyt,    lambda n, x: n,   sp.eval_chebyu)
polynomial(sp.eval_chebyu,    lambda n, x: 2,   gegenbauer(2.0))
polynomial(sp.eval_chebyc,    lambda n, x: n,   lambda n, x: sp.eval_chebyu(n, x / 2))
polynomial(sp.eval_chebys,    lambda n, x: 1,   gegenbauer(2.0, lambda x: x / 2))
polynomial(sp.eval_legendre,  lambda n, x: 1,   gegenbauer(1.5))
polynomial(sp.eval_sh_chebyt, lambda n, x: 2 * n, lambda n, x: sp.eval_chebyu(n, shifted(x)))
polynomial(sp.eval_sh_chebyu, lambda n, x: 4,   gegenbauer(2.0, shifted))
polynomial(sp.eval_sh_legendre, lambda n, x: 2, gegenbauer(1.5, shifted))
polynomial(sp.eval_laguerre,  lambda n, x: -1,  lambda n, x: sp.eval_genlaguerre(n, 1.0, x))
polynomial(sp.eval_genlaguerre, lambda n, a, x: -1,
           lambda n, a, x: sp.eval_genlaguerre(n, a + 1.0, x))
polynomial(sp.eval_gegenbauer, lambda n, a, x: 2 * a,
           lambda n, a, x: sp.eval_gegenbauer(n, a + 1.0, x))
polynomial(sp.eval_jacobi,    lambda n, a, b, x: (n + a + b + 1) / 2,
           lambda n, a, b, x: sp.eval_jacobi(n, a + 1.0, b + 1.0, x))
polynomial(sp.eval_sh_jacobi, lambda n, p, q, x: n,
           lambda n, p, q, x: sp.eval_sh_jacobi(n, p + 2.0, q + 1.0, x))
counted(sp.eval_hermite,      lambda n: 2 * n)
counted(sp.eval_hermitenorm,  lambda n: n)
# fmt: on


def lpmv_x(out, m, v, x):
    """(1 - x^2) P' = (v + m) P_(v-1) - v x P_v."""
    return ((v + m) * sp.lpmv(m, v - 1.0, x) - v * x * out) / ((1 - x) * (1 + x))


_, lpmv_v, _ = curve(sp.lpmv, bounds={1: (0, np.inf)}, formulas={2: lpmv_x})
row(sp.lpmv, refused("lpmv", "m", ORDER), lpmv_v, lpmv_x)
