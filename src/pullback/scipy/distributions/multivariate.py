"""The multivariate normal distribution, by solving a linear system with its covariance.

The inverse Wishart distribution of matrices is here, too. It's computed by solving systems with
their factors, where SciPy calls BLAS.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np
from scipy import stats
from scipy.linalg import lapack
from scipy.stats import _multivariate as multivariate
from scipy.stats._multivariate import _PSD

from ...core.array import Array, peel
from ...core.cotangent import unbroadcast
from ...core.errors import MissingRuleError
from ...core.operands import as_array, holds_arrays
from ...core.primitive import Primitive, one_by_one
from ...core.reach.session import call_outside
from ...core.reach.walk import called_by_name
from ...core.spec import DOUBLE, Spec
from ...core.trace import is_live
from ...primitives.exact import exact
from ...primitives.inner_loops import Assumed
from ...primitives.scipy_special.functions import multigammaln
from ...primitives.spectra import from_triangle
from ..solving.plain import solve
from ..solving.serving import serves_method, traced

SINGULAR = (
    "`multivariate_normal` has no derivative with respect to a singular covariance.\n"
    "  Take the density of the variables that vary, with a regular covariance."
)
LEAST = 1e6 * np.finfo(float).eps  # times the largest eigenvalue: SciPy takes less for zero
LOG_2PI = np.log(2 * np.pi)
FEW = 16  # variables, of which `inv` is as fast as the inverse by a Cholesky factor
NORMAL: Any = type(stats.multivariate_normal)
GENERIC = multivariate.multi_rv_generic
called_by_name(GENERIC, *[type(x) for x in vars(multivariate).values() if isinstance(x, GENERIC)])


class LogDensity(Primitive):
    """SciPy's logarithm of the density: x has vectors along its last axis.

    The covariance is symmetric: SciPy reads its lower triangle (`from_triangle`).
    With P the inverse of the covariance and z = P (x - mean), it moves by -z . (dx - dmean) and by
    (z . dcov z - trace(P dcov)) / 2; P is not taken to be symmetric, for second derivatives.
    """

    reads = "xs"

    def value(self, x, mean, cov, *, allow_singular):
        return call_plainly(x, mean, cov, allow_singular)

    def composed(self, x, mean, cov, *, allow_singular):
        """By a Cholesky factor and the inverse, where SciPy takes no eigenvalue for zero.

        With Frobenius norms, no eigenvalue is below 1 / |P| and none above |cov|.
        """
        if any(part.dtype != DOUBLE for part in (x, mean, cov)):
            return NotImplemented
        factor = np.linalg.cholesky(cov)
        inverse = np.linalg.inv(cov)
        sizes = [np.sqrt(np.sum(a * a)) for a in (inverse, cov)]
        regular = sizes[0] * 2 * LEAST * sizes[1] < 1
        gap = x - mean
        square = np.sum((gap @ inverse) * gap, axis=-1)
        log_det = 2 * np.sum(np.log(np.diagonal(factor)))
        out = -0.5 * (cov.shape[0] * LOG_2PI + log_det + square)
        return BY_EIGENVALUES[allow_singular](regular, out, x, mean, cov)

    def spec(self, x, mean, cov, **_):
        return Spec(x.shape[:-1], np.float64)

    def jvp(self, out, xs, x_dots, **_):
        x, mean, cov = xs
        x_dot, mean_dot, cov_dot = x_dots
        inverse, left, right = solutions(x - mean, cov)
        total = 0.0
        if x_dot is not None:
            total = -0.5 * np.sum((left + right) * x_dot, axis=-1)
        if mean_dot is not None:
            total = total + 0.5 * np.sum((left + right) * mean_dot, axis=-1)
        if cov_dot is not None:
            square = np.sum((left @ cov_dot) * right, axis=-1)
            total = total + 0.5 * (square - np.sum(np.swapaxes(inverse, 0, 1) * cov_dot))
        return total

    def vjp(self, out_bar, residual, wanted):
        x, mean, cov = residual.xs
        inverse, left, right = solutions(x - mean, cov)
        bars = out_bar[..., None]
        x_bar = -0.5 * bars * (left + right)
        mean_bar = cov_bar = None
        if wanted[1]:
            mean_bar = -unbroadcast(x_bar, mean)
        if wanted[2]:
            n = cov.shape[0]
            if len(x.shape) == 1:
                outer = (0.5 * out_bar * left)[:, None] * right
            else:
                rows = np.reshape(0.5 * bars * left, (-1, n))
                outer = np.swapaxes(rows, 0, 1) @ np.reshape(right, (-1, n))
            cov_bar = outer - (0.5 * np.sum(out_bar)) * np.swapaxes(inverse, 0, 1)
        return x_bar, mean_bar, cov_bar

    def batch(self, xs, mapped, size, **static):
        if tuple(mapped) == (True, False, False):
            return self(*xs, **static)
        return one_by_one(self, xs, mapped, size, static)


def call_plainly(x: Any, mean: Any, cov: Any, allow_singular: bool) -> Any:
    return call_outside(plainly, (x, mean, cov, allow_singular), {})


def plainly(x: Any, mean: Any, cov: Any, allow_singular: bool) -> Any:
    """SciPy's value."""
    root, log_det = factor(cov) or factor_of_scipy(cov, allow_singular)
    rows = x if x.ndim > 1 else x[None]  # one vector is a matrix to BLAS, as to SciPy
    square = np.square((rows - mean) @ root).sum(-1)
    out = -0.5 * (len(cov) * LOG_2PI + log_det + square)
    return out if x.ndim > 1 else out[0]


def factor(cov: Any) -> Any:
    """What SciPy makes of a regular covariance, P = U U' and log(det), without its questions."""
    if cov.dtype is not DOUBLE or not cov.size or not np.isfinite(cov).all():
        return None
    lwork, liwork = workspace(len(cov))
    values, vectors, *_, info = lapack.dsyevr(cov, lower=1, lwork=lwork, liwork=liwork)
    size = np.abs(values).max()
    if info or not values.min() > LEAST * size:
        return None
    return vectors * np.sqrt(1 / values), np.log(values).sum()


@cache
def workspace(n: int) -> tuple[int, int]:
    *sizes, _ = lapack.dsyevr_lwork(n, lower=1)
    work, iwork = map(int, sizes)
    return work, iwork


def factor_of_scipy(cov: Any, allow_singular: bool) -> Any:
    psd = _PSD(cov, allow_singular=allow_singular)
    if psd.rank < len(cov):
        raise MissingRuleError(SINGULAR)
    return psd.U, psd.log_pdet


BY_EIGENVALUES = {
    singular: Assumed(
        f"density by eigenvalues{', singular ones' * singular}",
        partial(call_plainly, allow_singular=singular),
    )
    for singular in (False, True)
}


def solutions(gap: Any, cov: Any) -> Any:
    """The inverse P of the covariance, P' gap and P gap."""
    if type(cov) is np.ndarray and cov.dtype is DOUBLE and len(cov) >= FEW:
        inverse = inverse_of_symmetric(cov)
        if inverse is not None:
            left = gap @ inverse
            return inverse, left, left
    inverse = np.linalg.inv(cov)
    return inverse, gap @ inverse, gap @ np.swapaxes(inverse, 0, 1)


def inverse_of_symmetric(cov: Any) -> Any:
    """The inverse by a Cholesky factor, in half the time of `inv`; None if there is none."""
    if not (cov == cov.T).all():
        return None
    lower, info = lapack.dpotrf(cov.T, lower=1, clean=1)  # LAPACK's order: it need not be copied
    if info:
        return None
    half, info = lapack.dpotri(lower, lower=1, overwrite_c=1)
    if info:
        return None
    inverse = half + half.T
    np.fill_diagonal(inverse, half.diagonal())
    return inverse


log_density_p = LogDensity("multivariate_normal.logpdf")


def log_density(x: Any, mean: Any, cov: Any, allow_singular: bool) -> Any:
    """The logarithm of the density, of arguments as SciPy takes them."""
    x, cov = as_array(x), as_array(cov)
    size = x.shape[-1] if x.ndim else 1
    if mean is None:
        mean = np.zeros(cov.shape[-1] if cov.ndim else size)
    mean = as_array(mean)
    mean = mean if mean.ndim == 1 else np.ravel(mean)
    n = cov.shape[-1] if cov.ndim else mean.shape[0]
    if cov.ndim < 2:
        cov = np.eye(n) * cov
    elif type(cov) is Array:
        cov = from_triangle(cov)
    if x.ndim == 0:
        x = np.reshape(x, (1,))
    elif x.ndim == 1 and n == 1:
        x = x[:, None]
    if not cov.shape == (n, n) == 2 * mean.shape:  # SciPy says what is wrong
        alike = stats.multivariate_normal, np.zeros(mean.shape), np.zeros(cov.shape)
        call_outside(NORMAL._process_parameters, alike, {})
    out = log_density_p(x, mean, cov, allow_singular=bool(allow_singular))
    return np.squeeze(out)[()] if 1 in out.shape else out


log_density_of_scipy, density_of_scipy = NORMAL.logpdf, NORMAL.pdf


def served(original: Any, of: Any) -> None:
    own = traced(original)

    @serves_method(original)
    def call(
        self: Any, x: Any, mean: Any = None, cov: Any = 1, allow_singular: bool = False
    ) -> Any:
        if isinstance(cov, stats.Covariance):
            return own(self, x, mean, cov, allow_singular)
        if Array not in (type(x), type(mean), type(cov)) and not holds_arrays((x, mean, cov)):
            return call_outside(original, (self, x, mean, cov, allow_singular), {})
        return of(x, mean, cov, allow_singular)


def density(x: Any, mean: Any, cov: Any, allow_singular: bool) -> Any:
    return np.exp(log_density(x, mean, cov, allow_singular))


served(log_density_of_scipy, log_density)
served(density_of_scipy, density)

entropy_of_scipy = NORMAL.entropy


@serves_method(entropy_of_scipy)
def entropy(self: Any, mean: Any = None, cov: Any = 1) -> Any:
    """Half of the logarithm of the determinant, and a constant."""
    if isinstance(cov, stats.Covariance):
        return entropy_by_scipy(self, mean, cov)
    found = solve(lambda values: entropy_of_scipy(self, *values.tree((mean, cov))))
    if not found.live or type(cov) is not Array or cov.ndim != 2:
        return entropy_by_scipy(self, mean, cov)
    return exact(found.of(np.float64), 0.5 * np.linalg.slogdet(from_triangle(cov))[1])


entropy_by_scipy = traced(entropy_of_scipy)

# A covariance as SciPy keeps it: P = U U' is its inverse. U is determined up to a rotation, so
# that it may be taken to move by -P dcov U / 2, also where eigenvalues are equal.


class Halves(Primitive):
    """U of SciPy's object for a covariance, and the logarithm of the determinant."""

    n_out = 2
    reads = "out xs"

    def value(self, cov, *, made):
        psd = call_outside(_PSD, (cov,), dict(made))
        if psd.rank < len(cov):
            raise MissingRuleError(SINGULAR)
        return np.asarray(psd.U), np.float64(psd.log_pdet)

    def spec(self, cov, *, made):
        return Spec(cov.shape, np.float64), Spec((), np.float64)

    def jvp(self, out, xs, x_dots, **_):
        u, (cov_dot,) = out[0], x_dots
        turned = np.swapaxes(u, 0, 1) @ cov_dot @ u
        return u @ turned / -2, np.trace(turned)

    def vjp(self, bars, residual, wanted):
        u = residual.out[0]
        inner = 0.0 if bars[0] is None else np.swapaxes(u, 0, 1) @ bars[0] / -2
        if bars[1] is not None:
            inner = inner + bars[1] * np.eye(u.shape[0])
        return (u @ np.broadcast_to(inner, u.shape) @ np.swapaxes(u, 0, 1),)

    def batch(self, xs, mapped, size, **static):
        return one_by_one(self, xs, mapped, size, static)


halves_p = Halves("covariance")


@serves_method(_PSD)
def prepared(M: Any, *args: Any, **kwargs: Any) -> Any:
    names = ("cond", "rcond", "lower", "check_finite", "allow_singular")
    made = {**dict(zip(names, args, strict=False)), **kwargs}
    if not is_live(M):
        return call_outside(_PSD, (peel(M),), made)
    psd = object.__new__(_PSD)
    psd._M, psd._pinv = M, None
    seen = from_triangle(as_array(M), upper=not made.get("lower", True))
    psd.U, psd.log_pdet = halves_p(seen, made=tuple(made.items()))
    psd.rank = M.shape[0]
    psd.V, psd.eps = np.zeros((psd.rank, 0)), np.inf  # all vectors are in the support
    return psd


inverse_wishart = type(stats.invwishart)._logpdf


@serves_method(inverse_wishart)
def logpdf(self: Any, x: Any, dim: int, df: Any, log_det: Any, factor: Any) -> Any:
    """The matrices lie along the last axis of x; `factor` is the Cholesky factor of the scale."""
    found = solve(lambda values: inverse_wishart(self, *values.tree((x, dim, df, log_det, factor))))
    if not found.live:
        return found.first
    factors = [np.linalg.cholesky(x[:, :, i]) for i in range(x.shape[-1])]
    turned = [np.linalg.solve(part, factor) for part in factors]
    trace = np.stack([np.sum(a * a) for a in turned])
    log_det_x = np.stack([2 * np.sum(np.log(np.diagonal(part))) for part in factors])
    constant = df / 2 * (log_det - dim * np.log(2)) - multigammaln(df / 2, dim)
    return exact(found.of(np.asarray), constant - trace / 2 - (df + dim + 1) / 2 * log_det_x)
