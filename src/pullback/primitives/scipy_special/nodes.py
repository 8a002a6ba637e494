"""Nodes and weights of Gaussian quadrature rules whose weight functions have parameters.

    x, w = roots_jacobi(8, alpha, beta)

The nodes are the eigenvalues of the symmetric tridiagonal matrix of the three-term recurrence, and
the weights are the squares of its eigenvectors' first entries (Golub and Welsch). The values are
SciPy's; their derivatives are those of this eigenvalue problem.
"""

from __future__ import annotations

import math
import operator

import numpy as np
import scipy.special as sp

from ...core.primitive import Primitive, align
from ...core.reach.calls import call
from ...core.reach.session import call_outside
from ...core.registry import replaces
from ...core.spec import Spec
from ..arguments import as_array
from ..exact import exact


class GaussRule(Primitive):
    """Nodes, weights and their sum as SciPy finds them, without a derivative."""

    inert = True
    reads = ""
    n_out = 3

    def value(self, *parameters, function, n):
        parameters = np.broadcast_arrays(*parameters)
        shape, rules = parameters[0].shape, zip(*map(np.ravel, parameters), strict=True)
        rows = [call_outside(function, (n, *one), {"mu": True}) for one in rules]
        sizes = (n,), (n,), ()
        return tuple(
            [np.reshape([row[i] for row in rows], shape + size)[()] for i, size in enumerate(sizes)]
        )

    def spec(self, *parameters, function, n):
        stack = np.broadcast_shapes(*[x.shape for x in parameters])
        return tuple([Spec(stack + size, np.dtype(float)) for size in ((n,), (n,), ())])

    def jvp(self, out, xs, x_dots, **static):
        return None, None, None

    def vjp(self, out_bar, residual, wanted):
        return [None] * len(wanted)

    def batch(self, xs, mapped, size, **static):
        return self(*align(xs, mapped), **static)


gauss_p = GaussRule("Gauss' rule")


def rule(function, n, mu, parameters, recurrence):
    """SciPy's result; recurrence(k, *parameters) -> diagonal, squares beside it, sum of weights."""
    n = operator.index(n)
    parameters = [as_array(x).astype(float) for x in parameters]
    x, w, total = gauss_p(*parameters, function=function, n=n)
    diagonal, beside, size = recurrence(np.arange(n), *parameters)
    off = np.sqrt(beside[1:])[:, None] * np.eye(n, k=1)[:-1]
    off = np.concatenate([off, np.zeros((1, n))])
    nodes, vectors = np.linalg.eigh(diagonal[:, None] * np.eye(n) + off + off.T)
    x, w = exact(x, nodes), exact(w, size * vectors[0] ** 2)
    return (x, w, exact(total, size)) if mu else (x, w)


def of_laguerre(k, alpha):
    return 2 * k + alpha + 1, k * (k + alpha), sp.gamma(alpha + 1)


def of_jacobi(k, alpha, beta):
    """The first two rows have factors in common above and below, which may be zero."""
    both = alpha + beta
    later, last = np.maximum(k, 1), np.maximum(k, 2)
    diagonal = (beta - alpha) * both / ((2 * later + both) * (2 * later + both + 2))
    diagonal = np.where(k == 0, (beta - alpha) / (both + 2), diagonal)
    beside = last * (last + alpha) * (last + beta) * (last + both)
    beside = 4 * beside / ((2 * last + both) ** 2 * (2 * last + both + 1) * (2 * last + both - 1))
    second = 4 * (1 + alpha) * (1 + beta) / ((2 + both) ** 2 * (3 + both))
    size = np.exp((both + 1) * math.log(2.0) + sp.betaln(alpha + 1, beta + 1))
    return diagonal, np.where(k <= 1, second, beside), size


def of_gegenbauer(k, alpha):
    return of_jacobi(k, alpha - 0.5, alpha - 0.5)


def of_shifted_jacobi(k, p, q):
    """On the interval from 0 to 1."""
    diagonal, beside, size = of_jacobi(k, p - q, q - 1)
    return (diagonal + 1) / 2, beside / 4, size / 2**p


@replaces(sp.roots_genlaguerre)
def roots_genlaguerre(n, alpha, mu=False):
    return rule(sp.roots_genlaguerre, n, mu, [alpha], of_laguerre)


@replaces(sp.roots_jacobi)
def roots_jacobi(n, alpha, beta, mu=False):
    return rule(sp.roots_jacobi, n, mu, [alpha, beta], of_jacobi)


@replaces(sp.roots_gegenbauer)
def roots_gegenbauer(n, alpha, mu=False):
    return rule(sp.roots_gegenbauer, n, mu, [alpha], of_gegenbauer)


@replaces(sp.roots_sh_jacobi)
def roots_sh_jacobi(n, p1, q1, mu=False):
    return rule(sp.roots_sh_jacobi, n, mu, [p1, q1], of_shifted_jacobi)


@replaces(sp.gegenbauer)
def gegenbauer(n, alpha, monic=False):
    """SciPy's, which leaves its factor out, and its derivative with it, where that is 1."""
    if not np.isfinite(alpha) or alpha <= -0.5:
        raise ValueError("`alpha` must be a finite number greater than -1/2")
    base = call(sp.jacobi, (n, alpha - 0.5, alpha - 0.5), {"monic": monic})
    if monic or n == 0:
        return base
    factor = sp.gamma(2 * alpha + n) * sp.gamma(alpha + 0.5) / sp.gamma(2 * alpha)
    factor = factor / sp.gamma(alpha + 0.5 + n)
    base._coeffs = base._coeffs * factor
    base.normcoef = base.normcoef * factor
    base.__dict__["_eval_func"] = lambda x: sp.eval_gegenbauer(float(n), alpha, x)
    return base
