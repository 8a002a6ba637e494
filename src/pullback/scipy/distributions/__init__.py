"""scipy.stats: the methods whose own code iterates or is compiled.

Formulas and moments are Python over `scipy.special`, and take part as the user's code does.

    choices         SciPy's own helper for formulas that differ by a condition
    methods         pdf, cdf, sf, pmf and their logarithms; frozen distributions
    continuous      ppf, isf: the inverse of the distribution function; fit: the likeliest
    shapes          where a shape has no derivative
    checks          SciPy's checks of arguments, with plain values
    densities       densities of which the slopes are known, as one operation
    scores          the slopes of their logarithms
    formulas        what is differentiated where SciPy's formula cancels
    multivariate    the normal distribution of vectors
    dirichlet       the Dirichlet distribution
    kernels         gaussian_kde
    compiled        distributions whose functions SciPy computes in compiled code
    ranks           the distribution of a statistic of ranks
    objects         distributions as objects
    boxes           multivariate_normal.cdf, multivariate_t.cdf
    trials          counts of unlike trials, and of draws by odds
    statistics      repeated medians, weighted ranks, the test of normality
    discrepancies   how evenly points are spread
    deviations      deviations of samples without a spread
    steps           the distribution function of discrete ones without a formula
"""

from importlib import import_module

from scipy import stats
from scipy.stats import _distn_infrastructure as infrastructure

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
    stats.ks_2samp, stats.page_trend_test, stats.sigmaclip, stats.binned_statistic,
    stats.binned_statistic_2d, stats.binned_statistic_dd, stats.multiscale_graphcorr,
    infrastructure.rv_generic.entropy,
)  # fmt: skip
