"""The normal distribution of vectors, by the solution of a linear system with its covariance.

And the inverse Wishart distribution of matrices, by solutions with their factors: SciPy calls BLAS.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import stats

from ...core.dispatch import as_array
from ...core.errors import MissingRuleError
from ...primitives.scipy_special.functions import multigammaln
from ..solving.exact import exact
from ..solving.plain import solve
from ..solving.serving import serves_method

__all__ = []

NORMAL: Any = type(stats.multivariate_normal)


def density(x: Any, mean: Any, cov: Any) -> Any:
    """The logarithm of the density."""
    x, cov = as_array(x), as_array(cov)
    n = cov.shape[-1] if cov.ndim else mean_size(x, mean)
    cov = np.eye(n) * cov if cov.ndim < 2 else cov
    if x.ndim == 0:
        x = np.reshape(x, (1,))
    elif x.ndim == 1 and n == 1:
        x = x[:, None]
    gap = x if mean is None else x - np.ravel(as_array(mean))
    constant = n * math.log(2 * math.pi) + np.linalg.slogdet(cov)[1]
    if gap.ndim == 1:
        return -0.5 * (gap @ np.linalg.solve(cov, gap) + constant)
    flat = np.reshape(gap, (-1, n))
    square = np.sum(flat * np.swapaxes(np.linalg.solve(cov, np.swapaxes(flat, 0, 1)), 0, 1), axis=1)
    return np.reshape(-0.5 * (square + constant), gap.shape[:-1])


def mean_size(x: Any, mean: Any) -> int:
    return as_array(mean).size if mean is not None else (x.shape[-1] if x.ndim else 1)


def served(original: Any, of: Any) -> None:
    @serves_method(original)
    def call(
        self: Any, x: Any, mean: Any = None, cov: Any = 1, allow_singular: bool = False
    ) -> Any:
        found = solve(lambda values: original(self, *values.tree((x, mean, cov)), allow_singular))
        if not found.live:
            return found.first
        if allow_singular or isinstance(cov, stats.Covariance):
            raise MissingRuleError(
                "`multivariate_normal` has derivatives by a covariance that is a regular matrix.\n"
                "  Pass it as an array, without `allow_singular=True`."
            )
        return exact(found.of(np.asarray)[()], of(density(x, mean, cov)))


served(NORMAL.logpdf, lambda x: x)
served(NORMAL.pdf, np.exp)

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
