"""What SciPy's manual shows of functions that are seldom called, with numbers that vary."""
# ruff: noqa: E501  # several functions on a line

import numpy as np
import scipy.linalg
from scipy import integrate, optimize, special, stats
from scipy.integrate import complex_ode, cubature, lebedev_rule, nsum, qmc_quad
from scipy.linalg import cdf2rdf, coshm, diagsvd, fiedler_companion, helmert, rsf2csf, sinhm, tanm
from scipy.optimize import anderson, approx_fprime, broyden1, brute, dual_annealing, shgo
from scipy.special import (
    assoc_laguerre,
    bdtri,
    chdtri,
    diric,
    eval_chebyc,
    eval_sh_chebyt,
    factorial2,
    fdtr,
    gdtrc,
    hankel2,
    it2struve0,
    iti0k0,
    lqn,
    mathieu_modcem1,
    nbdtr,
    ncfdtr,
    nctdtr,
    obl_ang1,
    pbvv,
    pbwa,
    pdtri,
    pro_ang1,
    pro_rad1,
    riccati_jn,
    sindg,
    stdtridf,
    tandg,
    tklmbda,
    wright_bessel,
    yve,
    yvp,
)
from scipy.stats import (
    binned_statistic,
    crystalball,
    differential_entropy,
    expectile,
    genhyperbolic,
    geninvgauss,
    gennorm,
    jf_skew_t,
    johnsonsb,
    kappa4,
    lomax,
    make_distribution,
    matrix_t,
    mielke,
    moyal,
    norminvgauss,
    obrientransform,
    poisson_binom,
    rv_histogram,
    tukeylambda,
    weightedtau,
    yeojohnson_normmax,
    zmap,
)

rng = np.random.default_rng(1234)
SAMPLE = rng.gamma(2.0, 1.5, 18)
OTHER = rng.normal(0.4, 1.1, 15)
GROUPS = [rng.normal(m, 1.0, 6) for m in (0.0, 0.4, 1.1)]
TRIANGULAR = np.array([[2.0, -1.0, 3.0], [0.5, 2.5, 1.0], [0.0, 0.7, 1.0]])


# Special functions.


def tails_by_their_cephes_names(x, df):
    return (
        fdtr(3, df, x),
        gdtrc(1.2, df, x),
        nbdtr(2, 5, x / 4),
        special.chdtr(df, x),
        tklmbda(x / 9, 0.3),
    )


def inverses_by_their_cephes_names(p, y):
    return (bdtri(2, 10, p), pdtri(3, p), chdtri(y, p), special.btdtria(p, y, 0.4),
            special.gdtrix(1.5, y, p), stdtridf(p, -y))  # fmt: skip


def noncentral(x, nc):
    return (
        ncfdtr(3, 12, nc, x),
        nctdtr(7.0, nc, x),
        special.chndtr(x, 4.0, nc),
        special.chndtrix(0.6, 4.0, nc),
    )


def orthogonal_by_evaluation(x, n):
    return (eval_chebyc(3, x), eval_sh_chebyt(4, x), special.eval_chebys(2, x),
            special.eval_sh_jacobi(3, 2.5, 1.5, x), special.eval_laguerre(n, x),
            special.eval_gegenbauer(n, 1.5, x))  # fmt: skip


def orthogonal_by_objects(x, a):
    P = special.gegenbauer(3, 1.5)
    L = special.genlaguerre(2, 0.5)
    return P(x), L(a) * P.deriv()(x), assoc_laguerre(x, 3, a), special.sh_legendre(2)(x * a)


def rules_of_gauss(alpha, s):
    x, w = special.roots_gegenbauer(6, alpha)
    y, v = special.roots_laguerre(5)
    z, u = special.roots_chebyc(4)
    return w @ np.exp(s * x), v @ np.cos(s * y), u @ z**2 * s, special.roots_genlaguerre(4, s)[0]


def waves(x, v):
    h = hankel2(1.0, x)
    return h.real, h.imag, yve(v, x), yvp(2, x, 2), special.jvp(v, x), special.kve(v, x)


def radial_equations(x, c):
    j, dj = riccati_jn(3, x)
    q, dq = lqn(3, x / 9)
    return j, dj[2], q, dq[1], pro_rad1(1, 2, c, 1.0 + x)[0], obl_ang1(0, 1, c, x / 9)[0]


def cylinders(x, a):
    return (
        pbvv(0.8, x)[0],
        pbwa(a, x)[0],
        mathieu_modcem1(1, a, x / 4)[0],
        pro_ang1(1, 1, a, x / 9)[1],
    )


def integrals_of_bessel(x):
    return (
        *iti0k0(x),
        *special.it2j0y0(x),
        it2struve0(x),
        special.itmodstruve0(x),
        special.besselpoly(x, 1.0, 1.5),
    )


def in_degrees(angle, n):
    return (
        sindg(angle),
        tandg(angle / 3),
        special.cosdg(n),
        special.radian(angle, 20.0, n),
        special.cotdg(angle),
    )


def combinatorial(x, y):
    return (diric(x, 7), special.binom(x + 5, y), special.poch(x, y), special.beta(x, y),
            factorial2(7) * x, wright_bessel(1.0, y, x), special.softplus(x))  # fmt: skip


# Statistics.


def one_of_each_law(x, s):
    return (gennorm.logpdf(x, s), johnsonsb.cdf(x / 5, 0.5, s), lomax.ppf(0.3 * x, s),
            mielke.logsf(x, 1.1, s), moyal.pdf(x, scale=s), crystalball.logpdf(-x, s, 2.5))  # fmt: skip


def heavy_tails(a, b):
    nig = norminvgauss(a, b, loc=0.1)
    gh = genhyperbolic(-0.5, a, b)
    return nig.logpdf(OTHER).sum(), gh.mean(), gh.var(), nig.cdf(0.5), *nig.stats("mvsk")


def inverse_gaussian_kin(p, b):
    d = geninvgauss(p, b)
    return (
        d.logpdf(SAMPLE).sum(),
        d.mean(),
        stats.recipinvgauss.logsf(1.5, b),
        stats.wald.ppf(0.4, scale=b),
    )


def four_shapes(h, k):
    d = kappa4(h, k)
    return (
        d.ppf([0.1, 0.5, 0.9]),
        d.logpdf(0.3),
        stats.kappa3.cdf(1.1, h + 1),
        jf_skew_t.cdf(0.4, 2 + h, 3 + k),
    )


def symmetric_lambda(lam):
    return (
        tukeylambda.ppf([0.2, 0.7], lam),
        tukeylambda.var(lam),
        stats.laplace_asymmetric.logpdf(OTHER, lam + 1).sum(),
        stats.dweibull.sf(-0.5, lam + 1),
        stats.dgamma.logcdf(0.4, lam + 1),
    )


def landau_and_levy(mu, c):
    return (stats.landau.pdf(0.5, mu, c), stats.landau.sf(3.0, mu, c), stats.levy.logpdf(2.0, 0, c),
            stats.levy_l.cdf(-1.0, mu, c), stats.foldcauchy.cdf(1.0, c), stats.loglaplace.ppf(0.8, c))  # fmt: skip


def from_a_class(loc, scale):
    """A distribution of the new kind, made from an old one, then shifted and scaled."""
    Logistic = make_distribution(stats.logistic)
    X = Logistic() * scale + loc
    return X.logpdf(0.4), X.icdf(0.9), X.entropy(), X.moment(2), X.logccdf(2.0)


def of_the_new_kind(mu, sigma):
    X = stats.Normal(mu=mu, sigma=sigma)
    Y = stats.exp(X)
    return (
        Y.pdf(1.3),
        Y.cdf(0.8),
        stats.truncate(X, lb=0.0, ub=2.0).mean(),
        stats.order_statistic(X, n=5, r=2).pdf(0.2),
    )


def histogram_as_a_law(heights, x):
    d = rv_histogram((heights, np.linspace(0, 5, 6)), density=True)
    return d.pdf(x), d.cdf(x), d.ppf(0.37), d.mean(), d.var()


def matrices_at_random(scale):
    scale = (scale + scale.T) / 2
    X = np.arange(6.0).reshape(2, 3) / 5
    return (matrix_t.logpdf(X, row_spread=scale, col_spread=np.eye(3), df=5.0),
            stats.matrix_normal(rowcov=scale, colcov=np.eye(3)).logpdf(X), stats.wishart.entropy(5, scale))  # fmt: skip


def sums_of_trials(p):
    d = poisson_binom(p)
    return d.pmf([0, 1, 2]), d.cdf(1), d.mean(), d.var(), d.entropy()


def urns_with_odds(odds):
    return (
        stats.nchypergeom_fisher.pmf(3, 20, 8, 6, odds),
        stats.nchypergeom_wallenius.mean(20, 8, 6, odds),
        stats.betanbinom.logpmf(2, 3, odds, 2.0),
        stats.yulesimon.logpmf(2, odds),
    )


def asymmetric_means(x, alpha):
    return (
        expectile(x, alpha),
        stats.pmean(x, 2 * alpha),
        stats.gzscore(x)[:3],
        stats.tsem(x),
        stats.gstd(x),
    )


def nonparametric_entropy(x):
    return (
        differential_entropy(x, method="ebrahimi"),
        differential_entropy(x, window_length=3),
        zmap([1.0, 2.0], x),
        stats.kstat(x, 3),
    )


def transforms_of_data(x):
    return (
        obrientransform(x[:9], x[9:]).sum(1),
        yeojohnson_normmax(x),
        stats.boxcox_normmax(np.abs(x) + 0.1, method="mle"),
        stats.sigmaclip(x, 3, 3)[1],
    )


def tests_of_location(x, shift):
    r = stats.ttest_1samp(x, shift)
    w = stats.alexandergovern(x[:9] + shift, x[9:])
    f = stats.f_oneway(*[g + shift * x[0] for g in GROUPS], equal_var=False)
    return r.statistic, r.pvalue, *r.confidence_interval(0.9), w.statistic, f.statistic


def distances_of_samples(x, w):
    return (stats.wasserstein_distance(x, OTHER, u_weights=w), stats.energy_distance(x, OTHER),
            stats.epps_singleton_2samp(x, OTHER).statistic, stats.anderson(x).statistic)  # fmt: skip


def binned(x, y):
    edges = np.array([0.0, 2.0, 4.0, 15.0])
    m = binned_statistic(x, y, "mean", bins=edges).statistic
    s = binned_statistic(x, y, "std", bins=edges).statistic
    return m, s, weightedtau(x, y).statistic, *stats.probplot(y)[1][:2]


def resampled_density(x, w):
    k = stats.gaussian_kde(x, bw_method="silverman", weights=w)
    return (
        k(np.array([1.0, 3.0])),
        k.integrate_box_1d(0, 2),
        k.integrate_gaussian(1.0, 0.5),
        k.integrate_kde(k),
    )


def quasi_sum(a):
    z = nsum(lambda k, a: 1 / (k**2 + a), 1, np.inf, args=(a,)).sum
    return z, integrate.tanhsinh(lambda x, a: np.exp(-a * x * x), 0, np.inf, args=(a,)).integral


# Integrals.


def over_a_box(a):
    f = lambda x, a: np.cos(a[0] * x[:, 0]) * np.exp(-a[1] * x[:, 1])
    return cubature(f, [0, 0], [1, 2], args=(a,), rtol=1e-10).estimate


def over_a_sphere(k):
    x, w = lebedev_rule(7)
    return w @ np.exp(k @ x) / (4 * np.pi), w @ (k @ x) ** 2


def by_low_discrepancy(s):
    q = stats.qmc.Halton(d=2, rng=np.random.default_rng(5))
    return qmc_quad(
        lambda x: np.exp(-s * (x**2).sum(axis=0)), [0, 0], [1, 1], n_points=64, qrng=q
    ).integral


def rotating_phase(omega, decay):
    r = complex_ode(lambda t, y: [(1j * omega - decay) * y[0]]).set_integrator(
        "dopri5", rtol=1e-10, atol=1e-12
    )
    r.set_initial_value([1.0 + 0.5j], 0.0)
    y = r.integrate(1.2)
    return y.real, y.imag


# Matrices.


def functions_of_matrices(A):
    return (
        sinhm(A),
        coshm(A / 2)[0],
        tanm(A / 4)[1],
        scipy.linalg.sinm(A)[2],
        scipy.linalg.logm(A @ A.T + np.eye(3))[0],
    )


def real_and_complex_schur(A):
    T, Z = scipy.linalg.schur(A)
    Tc, Zc = rsf2csf(T, Z)
    w, v = scipy.linalg.eig(A)
    wr, vr = cdf2rdf(w, v)
    return np.abs(np.diag(Tc)), np.abs(Zc[:, 0]), np.linalg.norm(wr), vr @ wr @ np.linalg.inv(vr)


def special_matrices(c, s):
    F = fiedler_companion(c)
    S = diagsvd(s, 3, 4)
    return (
        np.sort(np.abs(scipy.linalg.eigvals(F))),
        helmert(4) @ S.T @ s,
        scipy.linalg.fiedler(s).sum(0),
    )


# Optimisation.


def broydens(c):
    f = lambda x: np.cos(x) * c[0] + x[::-1] * c[1] - 0.4
    return broyden1(f, np.array([1.0, 1.2]), f_tol=1e-11), anderson(
        f, np.array([1.0, 1.2]), f_tol=1e-11
    )


def global_minima(a, b):
    f = lambda x: (x[0] ** 2 - a) ** 2 + (x[1] - b * x[0]) ** 2 + 0.3 * x[0]
    r = shgo(f, [(-2, 2), (-2, 2)])
    s = dual_annealing(f, [(-2, 2), (-2, 2)], rng=1, maxiter=80)
    return r.x, s.fun


def by_a_grid(z, w):
    f = lambda x, z, w: (x[0] - z) ** 2 + w * np.cos(x[1]) + 0.1 * x[1] ** 2
    x, v, *_ = brute(f, (slice(-2, 2, 0.5), slice(0, 6, 0.5)), args=(z, w), full_output=True)
    return v, x[0] * z


def slopes_by_differences(x, k):
    return approx_fprime(x, lambda x: np.sum(np.sin(k * x)), 1e-6), optimize.rosen_hess(x)


PROGRAMS = [
    (tails_by_their_cephes_names, (1.4, 5.0)),
    (orthogonal_by_evaluation, (0.45, 2.3)),
    (in_degrees, (32.0, 12.0)),
    (one_of_each_law, (1.2, 1.6)),
    (nonparametric_entropy, (SAMPLE,)),
    (special_matrices, (np.array([1.0, -2.0, 0.5, 0.7]), np.array([3.0, 2.0, 0.6]))),
]

# Asked with a large budget.
SELDOM = [
    (inverses_by_their_cephes_names, (0.35, 2.5)),
    (noncentral, (1.6, 0.9)),
    (orthogonal_by_objects, (0.6, 0.4)),
    (rules_of_gauss, (1.3, 0.7)),
    (waves, (2.2, 1.3)),
    (radial_equations, (1.9, 0.8)),
    (cylinders, (1.2, 0.7)),
    (integrals_of_bessel, (1.7,)),
    (combinatorial, (0.9, 1.7)),
    (heavy_tails, (1.8, 0.5)),
    (inverse_gaussian_kin, (0.8, 1.4)),
    (four_shapes, (0.2, 0.3)),
    (symmetric_lambda, (0.4,)),
    (landau_and_levy, (0.1, 1.3)),
    (from_a_class, (0.3, 1.2)),
    (of_the_new_kind, (0.2, 0.9)),
    (histogram_as_a_law, (np.array([1.0, 3.0, 4.0, 2.0, 1.0]), 2.3)),
    (matrices_at_random, (np.array([[1.5, 0.3], [0.3, 0.9]]),)),
    (sums_of_trials, (np.array([0.2, 0.5, 0.7, 0.35]),)),
    (urns_with_odds, (1.7,)),
    (asymmetric_means, (SAMPLE, 0.7)),
    (transforms_of_data, (SAMPLE,)),
    (tests_of_location, (SAMPLE, 0.5)),
    (distances_of_samples, (SAMPLE, np.linspace(0.5, 1.5, 18))),
    (binned, (SAMPLE, np.sqrt(SAMPLE) + 0.1 * np.cos(7 * SAMPLE))),
    (resampled_density, (SAMPLE, np.linspace(0.5, 1.5, 18))),
    (quasi_sum, (1.6,)),
    (over_a_box, (np.array([1.2, 0.8]),)),
    (over_a_sphere, (np.array([0.3, -0.5, 0.8]),)),
    (by_low_discrepancy, (0.7,)),
    (rotating_phase, (2.0, 0.3)),
    (functions_of_matrices, (TRIANGULAR / 3,)),
    (real_and_complex_schur, (TRIANGULAR,)),
    (broydens, (np.array([0.3, 0.5]),)),
    (global_minima, (1.1, 0.4)),
    (by_a_grid, (0.4, 1.2)),
    (slopes_by_differences, (np.array([0.7, 1.2, -0.4]), 1.1)),
]  # fmt: skip
