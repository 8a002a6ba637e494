"""scipy.stats: rules for methods whose own code iterates or is compiled.

Formulas and moments are Python code on top of `scipy.special`; they take part as the user's code
does.

    choices         SciPy's own helper for formulas that differ by a condition
    methods         pdf, cdf, sf, pmf and their logarithms; frozen distributions
    continuous      ppf, isf: the inverse of the distribution function; fit: maximum likelihood
    shapes          shape parameters whose derivatives have no formula
    checks          SciPy's checks of arguments, with plain values
    densities       densities with known slopes, as one operation each
    scores          the slopes of their logarithms
    found           methods as SciPy computes them, as one operation
    exponnorm       the formulas of a normal plus an exponential variable
    formulas        formulas to differentiate where SciPy's would cancel
    multivariate    the normal distribution of vectors
    dirichlet       the Dirichlet distribution
    kernels         gaussian_kde
    compiled        distributions whose functions SciPy computes in compiled code
    ranks           the distributions of rank statistics
    objects         distributions as objects
    boxes           multivariate_normal.cdf, multivariate_t.cdf
    trials          counts of trials with unequal probabilities, and of weighted draws
    statistics      repeated medians, weighted ranks, the test of normality
    discrepancies   how evenly points are spread
    deviations      deviations of samples, also where all values are equal
    steps           distribution functions of discrete distributions without a formula
"""

from importlib import import_module
from types import FunctionType

from scipy import stats
from scipy.stats import _distn_infrastructure as infrastructure

from ..solving.by_example import apart
from ..solving.serving import by_values

FAMILIES = (
    "choices", "methods", "continuous", "shapes", "checks", "multivariate", "dirichlet", "kernels",
    "ranks", "steps", "compiled", "objects", "statistics",
    "boxes", "trials", "discrepancies", "deviations",
)  # fmt: skip

for family in FAMILIES:
    import_module(f"{__name__}.{family}")

# Statistics that count ranks, or choose their method, by values.
by_values(
    stats.kendalltau, stats.somersd, stats.wilcoxon, stats.ansari, stats.fligner, stats.kstest,
    stats.ks_2samp, stats.page_trend_test, stats.sigmaclip, stats.boxcox_normmax,
    stats.binned_statistic, stats.binned_statistic_2d, stats.binned_statistic_dd,
    stats.multiscale_graphcorr, stats.poisson_means_test, stats.quantile,
    stats.trim1, stats.weightedtau, infrastructure.rv_generic.entropy,
    infrastructure.rv_discrete.expect, stats.qmc.geometric_discrepancy, stats.anderson_ksamp,
    stats.brunnermunzel, stats.cramervonmises, stats.quantile_test, stats.siegelslopes,
    stats.tmax, stats.tmin, stats.yeojohnson, stats.yeojohnson_normmax,
)  # fmt: skip

# Masked arrays hold values of one example.
by_values(
    *[f for name in stats.mstats.__all__ if type(f := getattr(stats.mstats, name)) is FunctionType],
    call=apart,
)
