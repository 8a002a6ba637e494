# ruff: noqa: E501  # one distribution a line
"""The continuous distributions of scipy.stats, as mpmath computes them from their formulas.

DENSITIES has the logarithm of each density in its standard form, PROBABILITIES the distribution
function where it has a closed form. POINTS are shapes beyond SciPy's own examples: degenerate,
large, small. MASSES are the discrete ones.
"""

import mpmath as mp

PI, LOG, EXP, SQRT = mp.pi, mp.log, mp.exp, mp.sqrt


def log_normal(x):
    return -x * x / 2 - LOG(2 * PI) / 2


def phi(x):
    return mp.erfc(-x / SQRT(mp.mpf(2))) / 2


def log_beta(a, b):
    return mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)


def log_gamma(x, a):
    return (a - 1) * LOG(x) - x - mp.loggamma(a)


def log_t(x, v):
    return (
        mp.loggamma((v + 1) / 2)
        - mp.loggamma(v / 2)
        - LOG(v * PI) / 2
        - (v + 1) / 2 * mp.log1p(x * x / v)
    )


def crystal(x, b, m):
    norm = m / b / (m - 1) * EXP(-b * b / 2) + SQRT(2 * PI) * phi(b)
    if x > -b:
        return -x * x / 2 - LOG(norm)
    return m * LOG(m / b) - b * b / 2 - m * LOG(m / b - b - x) - LOG(norm)


def log_mills(x):
    """The logarithm of sf over pdf of the normal distribution."""
    return LOG(phi(-x)) - log_normal(x)


def log_jf_skew_t(x, a, b):
    s = SQRT(a + b + x * x)
    return (
        (a + 0.5) * LOG(1 + x / s)
        + (b + 0.5) * LOG(1 - x / s)
        - (a + b - 1) * LOG(mp.mpf(2))
        - log_beta(a, b)
        - LOG(a + b) / 2
    )


def log_nct(x, v, c):
    """By the integral over the variable of the denominator."""
    y = mp.quad(
        lambda s: EXP(v * LOG(s) - v * s * s / 2 - (x * s - c) ** 2 / 2 + LOG(s) * 0),
        [0, 0.5, 1, 1.5, 2, 4],
    )
    return LOG(y) + LOG(mp.mpf(2)) + v / 2 * LOG(v / 2) - mp.loggamma(v / 2) - LOG(2 * PI) / 2


def log_ncx2(x, v, c):
    return (
        -LOG(mp.mpf(2))
        - (x + c) / 2
        + (v / 4 - 0.5) * LOG(x / c)
        + LOG(mp.besseli(v / 2 - 1, SQRT(c * x)))
    )


def log_ncf(x, n, d, c):
    return (
        n / 2 * LOG(n)
        + d / 2 * LOG(d)
        + (n / 2 - 1) * LOG(x)
        - (n + d) / 2 * LOG(d + n * x)
        - log_beta(n / 2, d / 2)
        - c / 2
        + LOG(mp.hyp1f1((n + d) / 2, n / 2, c * n * x / 2 / (d + n * x)))
    )


def log_pearson3(x, s):
    beta, alpha = 2 / s, 4 / (s * s)
    return LOG(abs(beta)) + log_gamma(beta * (x + beta), alpha)


def log_kappa4(x, h, k):
    return (1 / k - 1) * LOG(1 - k * x) + (1 / h - 1) * LOG(1 - h * (1 - k * x) ** (1 / k))


def argus_norm(c):
    return phi(c) - c * EXP(log_normal(c)) - mp.mpf(1) / 2


def log_trapezoid(x, c, d):
    top = 2 / (d - c + 1)
    return LOG(top * x / c if x < c else top if x <= d else top * (1 - x) / (1 - d))


def log_gausshyper(x, a, b, c, z):
    return (
        (a - 1) * LOG(x)
        + (b - 1) * LOG(1 - x)
        - c * LOG(1 + z * x)
        - log_beta(a, b)
        - LOG(mp.hyp2f1(c, a, a + b, -z))
    )


def log_breit_wigner(x, r):
    k = 2 * SQRT(2 * r**2 * (1 + r**2)) / (PI * SQRT(r**2 + SQRT(r**2 * (1 + r**2)))) * r
    k = 2 * SQRT(mp.mpf(2)) * r**2 * SQRT(1 + r**2) / (PI * SQRT(r**2 + r * SQRT(1 + r**2)))
    return LOG(k) - LOG((x * x - r * r) ** 2 + r * r)


def log_skew_cauchy(x, a):
    return -LOG(PI * (x * x / (a * mp.sign(x) + 1) ** 2 + 1))


def log_hyperbolic(x, p, a, b):
    s = SQRT(a * a - b * b)
    return (
        p * LOG(s)
        - LOG(2 * PI) / 2
        - (p - 0.5) * LOG(a)
        - LOG(mp.besselk(p, s))
        + LOG(mp.besselk(p - mp.mpf(1) / 2, a * SQRT(1 + x * x)))
        + b * x
        + (p - mp.mpf(1) / 2) / 2 * LOG(1 + x * x)
    )


def log_dpareto(x, u, s, a, b):
    z = (LOG(x) - u) / s
    return (
        LOG(a * b / (a + b))
        - LOG(x)
        + log_normal(z)
        + LOG(EXP(log_mills(a * s - z)) + EXP(log_mills(b * s + z)))
    )


DENSITIES = {
    "alpha": lambda x, a: -2 * LOG(x) + log_normal(a - 1 / x) - LOG(phi(a)),
    "anglit": lambda x: LOG(mp.cos(2 * x)),
    "arcsine": lambda x: -LOG(PI * SQRT(x * (1 - x))),
    "argus": lambda x, c: 3 * LOG(c) - LOG(2 * PI) / 2 - LOG(argus_norm(c)) + LOG(x) + LOG(1 - x * x) / 2 - c * c * (1 - x * x) / 2,
    "beta": lambda x, a, b: (a - 1) * LOG(x) + (b - 1) * mp.log1p(-x) - log_beta(a, b),
    "betaprime": lambda x, a, b: (a - 1) * LOG(x) - (a + b) * mp.log1p(x) - log_beta(a, b),
    "bradford": lambda x, c: LOG(c / mp.log1p(c) / (1 + c * x)),
    "burr": lambda x, c, d: LOG(c * d) - (c + 1) * LOG(x) - (d + 1) * mp.log1p(x**-c),
    "burr12": lambda x, c, d: LOG(c * d) + (c - 1) * LOG(x) - (d + 1) * mp.log1p(x**c),
    "cauchy": lambda x: -LOG(PI * (1 + x * x)),
    "chi": lambda x, v: (1 - v / 2) * LOG(mp.mpf(2)) - mp.loggamma(v / 2) + (v - 1) * LOG(x) - x * x / 2,
    "chi2": lambda x, v: log_gamma(x / 2, v / 2) - LOG(mp.mpf(2)),
    "cosine": lambda x: LOG((1 + mp.cos(x)) / (2 * PI)),
    "crystalball": crystal,
    "dgamma": lambda x, a: log_gamma(abs(x), a) - LOG(mp.mpf(2)),
    "dpareto_lognorm": log_dpareto,
    "dweibull": lambda x, c: LOG(c / 2) + (c - 1) * LOG(abs(x)) - abs(x) ** c,
    "expon": lambda x: -x,
    "exponnorm": lambda x, k: 1 / (2 * k * k) - x / k - LOG(k) + LOG(phi(x - 1 / k)),
    "exponpow": lambda x, b: 1 + LOG(b) + (b - 1) * LOG(x) + x**b - EXP(x**b),
    "exponweib": lambda x, a, c: LOG(a * c) + (a - 1) * LOG(-mp.expm1(-(x**c))) - x**c + (c - 1) * LOG(x),
    "f": lambda x, n, d: n / 2 * LOG(n) + d / 2 * LOG(d) + (n / 2 - 1) * LOG(x) - (n + d) / 2 * LOG(d + n * x) - log_beta(n / 2, d / 2),
    "fatiguelife": lambda x, c: LOG((x + 1) / (2 * c * SQRT(2 * PI * x**3))) - (x - 1) ** 2 / (2 * x * c * c),
    "fisk": lambda x, c: LOG(c) + (c - 1) * LOG(x) - 2 * mp.log1p(x**c),
    "foldcauchy": lambda x, c: LOG((1 / (1 + (x - c) ** 2) + 1 / (1 + (x + c) ** 2)) / PI),
    "foldnorm": lambda x, c: LOG(EXP(log_normal(x + c)) + EXP(log_normal(x - c))),
    "gamma": log_gamma,
    "gausshyper": log_gausshyper,
    "genexpon": lambda x, a, b, c: LOG(a - b * mp.expm1(-c * x)) - (a + b) * x - b * mp.expm1(-c * x) / c,
    "genextreme": lambda x, c: (1 / c - 1) * mp.log1p(-c * x) - (1 - c * x) ** (1 / c),
    "gengamma": lambda x, a, c: LOG(abs(c)) + (c * a - 1) * LOG(x) - x**c - mp.loggamma(a),
    "genhalflogistic": lambda x, c: LOG(mp.mpf(2)) + (1 / c - 1) * mp.log1p(-c * x) - 2 * mp.log1p((1 - c * x) ** (1 / c)),
    "genhyperbolic": log_hyperbolic,
    "geninvgauss": lambda x, p, b: (p - 1) * LOG(x) - b * (x + 1 / x) / 2 - LOG(2 * mp.besselk(p, b)),
    "genlogistic": lambda x, c: LOG(c) - x - (c + 1) * mp.log1p(EXP(-x)),
    "gennorm": lambda x, b: LOG(b / 2) - mp.loggamma(1 / b) - abs(x) ** b,
    "genpareto": lambda x, c: -(1 + 1 / c) * mp.log1p(c * x),
    "gibrat": lambda x: log_normal(LOG(x)) - LOG(x),
    "gompertz": lambda x, c: LOG(c) + x - c * mp.expm1(x),
    "gumbel_l": lambda x: x - EXP(x),
    "gumbel_r": lambda x: -x - EXP(-x),
    "halfcauchy": lambda x: LOG(2 / PI / (1 + x * x)),
    "halfgennorm": lambda x, b: LOG(b) - mp.loggamma(1 / b) - x**b,
    "halflogistic": lambda x: LOG(mp.mpf(2)) - x - 2 * mp.log1p(EXP(-x)),
    "halfnorm": lambda x: LOG(2 / PI) / 2 - x * x / 2,
    "hypsecant": lambda x: -LOG(PI * mp.cosh(x)),
    "invgamma": lambda x, a: -(a + 1) * LOG(x) - mp.loggamma(a) - 1 / x,
    "invgauss": lambda x, m: -LOG(2 * PI * x**3) / 2 - (x / m - 1) ** 2 / (2 * x),
    "invweibull": lambda x, c: LOG(c) - (c + 1) * LOG(x) - x**-c,
    "jf_skew_t": log_jf_skew_t,
    "johnsonsb": lambda x, a, b: LOG(b / (x * (1 - x))) + log_normal(a + b * LOG(x / (1 - x))),
    "johnsonsu": lambda x, a, b: LOG(b / SQRT(x * x + 1)) + log_normal(a + b * mp.asinh(x)),
    "kappa3": lambda x, a: LOG(a) - (1 + 1 / a) * LOG(a + x**a),
    "kappa4": log_kappa4,
    "laplace": lambda x: -abs(x) - LOG(mp.mpf(2)),
    "laplace_asymmetric": lambda x, k: (-x * k if x >= 0 else x / k) - LOG(k + 1 / k),
    "levy": lambda x: -LOG(2 * PI * x**3) / 2 - 1 / (2 * x),
    "levy_l": lambda x: -LOG(2 * PI * (-x) ** 3) / 2 + 1 / (2 * x),
    "loggamma": lambda x, c: c * x - EXP(x) - mp.loggamma(c),
    "logistic": lambda x: -x - 2 * mp.log1p(EXP(-x)),
    "loglaplace": lambda x, c: LOG(c / 2) + (c - 1 if x < 1 else -c - 1) * LOG(x),
    "lognorm": lambda x, s: log_normal(LOG(x) / s) - LOG(s * x),
    "loguniform": lambda x, a, b: -LOG(x * LOG(b / a)),
    "lomax": lambda x, c: LOG(c) - (c + 1) * mp.log1p(x),
    "maxwell": lambda x: LOG(2 / PI) / 2 + 2 * LOG(x) - x * x / 2,
    "mielke": lambda x, k, s: LOG(k) + (k - 1) * LOG(x) - (1 + k / s) * mp.log1p(x**s),
    "moyal": lambda x: -(x + EXP(-x)) / 2 - LOG(2 * PI) / 2,
    "nakagami": lambda x, v: LOG(mp.mpf(2)) + v * LOG(v) - mp.loggamma(v) + (2 * v - 1) * LOG(x) - v * x * x,
    "ncf": log_ncf,
    "nct": log_nct,
    "ncx2": log_ncx2,
    "norm": log_normal,
    "norminvgauss": lambda x, a, b: LOG(a / PI) + SQRT(a * a - b * b) + b * x - LOG(1 + x * x) / 2 + LOG(mp.besselk(1, a * SQRT(1 + x * x))),
    "pareto": lambda x, b: LOG(b) - (b + 1) * LOG(x),
    "pearson3": log_pearson3,
    "powerlaw": lambda x, a: LOG(a) + (a - 1) * LOG(x),
    "powerlognorm": lambda x, c, s: LOG(c / (x * s)) + log_normal(LOG(x) / s) + (c - 1) * LOG(phi(-LOG(x) / s)),
    "powernorm": lambda x, c: LOG(c) + log_normal(x) + (c - 1) * LOG(phi(-x)),
    "rayleigh": lambda x: LOG(x) - x * x / 2,
    "rdist": lambda x, c: (c / 2 - 1) * LOG(1 - x * x) - log_beta(mp.mpf(1) / 2, c / 2),
    "recipinvgauss": lambda x, m: -LOG(2 * PI * x) / 2 - (1 - m * x) ** 2 / (2 * x * m * m),
    "rel_breitwigner": log_breit_wigner,
    "rice": lambda x, b: LOG(x) - (x * x + b * b) / 2 + LOG(mp.besseli(0, x * b)),
    "semicircular": lambda x: LOG(2 / PI * SQRT(1 - x * x)),
    "skewcauchy": log_skew_cauchy,
    "skewnorm": lambda x, a: LOG(mp.mpf(2)) + log_normal(x) + LOG(phi(a * x)),
    "t": log_t,
    "trapezoid": log_trapezoid,
    "triang": lambda x, c: LOG(2 * x / c if x < c else 2 * (1 - x) / (1 - c)),
    "truncexpon": lambda x, b: -x - LOG(-mp.expm1(-b)),
    "truncnorm": lambda x, a, b: log_normal(x) - LOG(phi(b) - phi(a) if a < 0 else phi(-a) - phi(-b)),
    "truncpareto": lambda x, b, c: LOG(b / (1 - c**-b)) - (b + 1) * LOG(x),
    "truncweibull_min": lambda x, c, a, b: LOG(c) + (c - 1) * LOG(x) - x**c - LOG(EXP(-(a**c)) - EXP(-(b**c))),
    "uniform": lambda x: x * 0,
    "vonmises_line": lambda x, k: k * mp.cos(x) - LOG(2 * PI * mp.besseli(0, k)),
    "wald": lambda x: -LOG(2 * PI * x**3) / 2 - (x - 1) ** 2 / (2 * x),
    "weibull_max": lambda x, c: LOG(c) + (c - 1) * LOG(-x) - (-x) ** c,
    "weibull_min": lambda x, c: LOG(c) + (c - 1) * LOG(x) - x**c,
    "wrapcauchy": lambda x, c: LOG((1 - c * c) / (2 * PI * (1 + c * c - 2 * c * mp.cos(x)))),
}  # fmt: skip


def series(ratio):
    """1 + ratio(0) + ratio(0) ratio(1) + ..., of positive terms."""
    total = term = mp.mpf(1)
    for n in range(10**5):
        term *= ratio(n)
        total += term
        if term < total * mp.eps:
            return total
    raise ArithmeticError("too many terms")


def lower(a, x):
    return EXP(a * LOG(x) - x - mp.loggamma(a + 1)) * series(lambda n: x / (a + 1 + n))


def betainc(a, b, x):
    if x > mp.mpf(1) / 2:
        return 1 - betainc(b, a, 1 - x)
    front = EXP(a * LOG(x) + b * LOG(1 - x) - log_beta(a, b)) / a
    return front * series(lambda n: x * (a + b + n) / (a + 1 + n))


def folded(cdf):
    """The distribution function of a density that is even, from that above 0."""
    return lambda x, *shapes: (1 + cdf(x, *shapes)) / 2 if x > 0 else (1 - cdf(-x, *shapes)) / 2


def cdf_of_t(x, v):
    tail = betainc(v / 2, mp.mpf(1) / 2, v / (v + x * x)) / 2
    return 1 - tail if x > 0 else tail


def cdf_of_f(x, n, d):
    return betainc(n / 2, d / 2, n * x / (n * x + d))


def cdf_of_invgauss(x, m):
    return phi((x / m - 1) / SQRT(x)) + EXP(2 / m) * phi(-(x / m + 1) / SQRT(x))


def cdf_of_crystal(x, b, m):
    norm = m / b / (m - 1) * EXP(-b * b / 2) + SQRT(2 * PI) * phi(b)
    if x > -b:
        return 1 - SQRT(2 * PI) * phi(-x) / norm
    return (m / b) ** m * EXP(-b * b / 2) * (m / b - b - x) ** (1 - m) / (m - 1) / norm


def cdf_of_trapezoid(x, c, d):
    top = 2 / (d - c + 1)
    return (
        top * x * x / c / 2
        if x < c
        else top * (x - c / 2)
        if x <= d
        else 1 - top * (1 - x) ** 2 / (1 - d) / 2
    )


def cdf_of_pearson3(x, s):
    below = lower(4 / s**2, 2 / s * (x + 2 / s))
    return below if s > 0 else 1 - below


def cdf_of_skew_cauchy(x, a):
    side = 1 - a if x <= 0 else 1 + a
    return (1 - a) / 2 + side / PI * mp.atan(x / side)


# Distribution functions that are known in closed form; the others are not looked at.
PROBABILITIES = {
    "alpha": lambda x, a: phi(a - 1 / x) / phi(a),
    "anglit": lambda x: mp.sin(x + PI / 4) ** 2,
    "arcsine": lambda x: 2 / PI * mp.asin(SQRT(x)),
    "argus": lambda x, c: 1 - argus_norm(c * SQRT(1 - x * x)) / argus_norm(c),
    "beta": lambda x, a, b: betainc(a, b, x),
    "betaprime": lambda x, a, b: betainc(a, b, x / (1 + x)),
    "bradford": lambda x, c: mp.log1p(c * x) / mp.log1p(c),
    "burr": lambda x, c, d: (1 + x**-c) ** -d,
    "burr12": lambda x, c, d: 1 - (1 + x**c) ** -d,
    "cauchy": lambda x: mp.mpf(1) / 2 + mp.atan(x) / PI,
    "chi": lambda x, v: lower(v / 2, x * x / 2),
    "chi2": lambda x, v: lower(v / 2, x / 2),
    "cosine": lambda x: (PI + x + mp.sin(x)) / (2 * PI),
    "crystalball": cdf_of_crystal,
    "dgamma": folded(lambda x, a: lower(a, x)),
    "dweibull": folded(lambda x, c: 1 - EXP(-(x**c))),
    "expon": lambda x: 1 - EXP(-x),
    "exponnorm": lambda x, k: phi(x) - EXP(1 / (2 * k * k) - x / k) * phi(x - 1 / k),
    "exponpow": lambda x, b: 1 - EXP(1 - EXP(x**b)),
    "exponweib": lambda x, a, c: (1 - EXP(-(x**c))) ** a,
    "f": cdf_of_f,
    "fatiguelife": lambda x, c: phi((SQRT(x) - 1 / SQRT(x)) / c),
    "fisk": lambda x, c: 1 / (1 + x**-c),
    "foldcauchy": lambda x, c: (mp.atan(x - c) + mp.atan(x + c)) / PI,
    "foldnorm": lambda x, c: phi(x - c) - phi(-x - c),
    "gamma": lambda x, a: lower(a, x),
    "genexpon": lambda x, a, b, c: 1 - EXP(-(a + b) * x + b * (1 - EXP(-c * x)) / c),
    "genextreme": lambda x, c: EXP(-((1 - c * x) ** (1 / c))),
    "gengamma": lambda x, a, c: lower(a, x**c) if c > 0 else 1 - lower(a, x**c),
    "genhalflogistic": lambda x, c: (1 - (1 - c * x) ** (1 / c)) / (1 + (1 - c * x) ** (1 / c)),
    "genlogistic": lambda x, c: (1 + EXP(-x)) ** -c,
    "gennorm": folded(lambda x, b: lower(1 / b, x**b)),
    "genpareto": lambda x, c: 1 - (1 + c * x) ** (-1 / c),
    "gibrat": lambda x: phi(LOG(x)),
    "gompertz": lambda x, c: 1 - EXP(-c * (EXP(x) - 1)),
    "gumbel_l": lambda x: 1 - EXP(-EXP(x)),
    "gumbel_r": lambda x: EXP(-EXP(-x)),
    "halfcauchy": lambda x: 2 / PI * mp.atan(x),
    "halfgennorm": lambda x, b: lower(1 / b, x**b),
    "halflogistic": lambda x: mp.tanh(x / 2),
    "halfnorm": lambda x: mp.erf(x / SQRT(mp.mpf(2))),
    "hypsecant": lambda x: 2 / PI * mp.atan(EXP(x)),
    "invgamma": lambda x, a: 1 - lower(a, 1 / x),
    "invgauss": cdf_of_invgauss,
    "invweibull": lambda x, c: EXP(-(x**-c)),
    "jf_skew_t": lambda x, a, b: betainc(a, b, (1 + x / SQRT(a + b + x * x)) / 2),
    "johnsonsb": lambda x, a, b: phi(a + b * LOG(x / (1 - x))),
    "johnsonsu": lambda x, a, b: phi(a + b * mp.asinh(x)),
    "kappa3": lambda x, a: x * (a + x**a) ** (-1 / a),
    "kappa4": lambda x, h, k: (1 - h * (1 - k * x) ** (1 / k)) ** (1 / h),
    "laplace": folded(lambda x: 1 - EXP(-x)),
    "laplace_asymmetric": lambda x, k: 1 - EXP(-x * k) / (k * k + 1) if x >= 0 else EXP(x / k) * k * k / (1 + k * k),
    "levy": lambda x: mp.erfc(1 / SQRT(2 * x)),
    "levy_l": lambda x: 1 - mp.erfc(1 / SQRT(-2 * x)),
    "loggamma": lambda x, c: lower(c, EXP(x)),
    "logistic": lambda x: 1 / (1 + EXP(-x)),
    "loglaplace": lambda x, c: x**c / 2 if x < 1 else 1 - x**-c / 2,
    "lognorm": lambda x, s: phi(LOG(x) / s),
    "loguniform": lambda x, a, b: LOG(x / a) / LOG(b / a),
    "lomax": lambda x, c: 1 - (1 + x) ** -c,
    "maxwell": lambda x: lower(mp.mpf(3) / 2, x * x / 2),
    "mielke": lambda x, k, s: x**k / (1 + x**s) ** (k / s),
    "moyal": lambda x: mp.erfc(EXP(-x / 2) / SQRT(mp.mpf(2))),
    "nakagami": lambda x, v: lower(v, v * x * x),
    "norm": phi,
    "pareto": lambda x, b: 1 - x**-b,
    "pearson3": cdf_of_pearson3,
    "powerlaw": lambda x, a: x**a,
    "powerlognorm": lambda x, c, s: 1 - phi(-LOG(x) / s) ** c,
    "powernorm": lambda x, c: 1 - phi(-x) ** c,
    "rayleigh": lambda x: 1 - EXP(-x * x / 2),
    "rdist": lambda x, c: betainc(c / 2, c / 2, (1 + x) / 2),
    "recipinvgauss": lambda x, m: 1 - cdf_of_invgauss(1 / x, m),
    "semicircular": lambda x: mp.mpf(1) / 2 + (x * SQRT(1 - x * x) + mp.asin(x)) / PI,
    "skewcauchy": cdf_of_skew_cauchy,
    "t": cdf_of_t,
    "trapezoid": cdf_of_trapezoid,
    "triang": lambda x, c: x * x / c if x < c else 1 - (1 - x) ** 2 / (1 - c),
    "truncexpon": lambda x, b: (1 - EXP(-x)) / (1 - EXP(-b)),
    "truncnorm": lambda x, a, b: (phi(x) - phi(a)) / (phi(b) - phi(a)),
    "truncpareto": lambda x, b, c: (1 - x**-b) / (1 - c**-b),
    "truncweibull_min": lambda x, c, a, b: (EXP(-(a**c)) - EXP(-(x**c))) / (EXP(-(a**c)) - EXP(-(b**c))),
    "uniform": lambda x: x,
    "wald": lambda x: cdf_of_invgauss(x, mp.mpf(1)),
    "weibull_max": lambda x, c: EXP(-((-x) ** c)),
    "weibull_min": lambda x, c: 1 - EXP(-(x**c)),
    "wrapcauchy": lambda x, c: mp.atan((1 + c) / (1 - c) * mp.tan(x / 2)) / PI + (1 if x > PI else 0),
}  # fmt: skip


def log_binomial(n, k):
    return mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1)


# Logarithms of masses of discrete distributions, and shapes of which the whole ones are counts.
MASSES = {
    "bernoulli": (lambda k, p: LOG(p if k == 1 else 1 - p), [(0.3,), (1e-12,)]),
    "betabinom": (lambda k, n, a, b: log_binomial(n, k) + log_beta(k + a, n - k + b) - log_beta(a, b), [(10, 2.3, 0.6), (40, 1e-3, 5.0), (30, 1e6, 2e6)]),
    "betanbinom": (lambda k, n, a, b: mp.loggamma(n + k) - mp.loggamma(n) - mp.loggamma(k + 1) + log_beta(a + n, b + k) - log_beta(a, b), [(5, 9.3, 1.0), (3, 200.0, 0.1)]),
    "binom": (lambda k, n, p: log_binomial(n, k) + k * LOG(p) + (n - k) * mp.log1p(-p), [(10, 0.3), (500, 1e-3), (100, 0.999)]),
    "boltzmann": (lambda k, l, n: LOG((1 - EXP(-l)) / (1 - EXP(-l * n))) - l * k, [(1.4, 19), (1e-6, 50)]),
    "dlaplace": (lambda k, a: LOG(mp.tanh(a / 2)) - a * abs(k), [(0.8,), (3.0,)]),
    "geom": (lambda k, p: (k - 1) * mp.log1p(-p) + LOG(p), [(0.5,), (0.02,), (0.999,)]),
    "logser": (lambda k, p: k * LOG(p) - LOG(k) - LOG(-mp.log1p(-p)), [(0.6,), (1e-6,), (0.98,)]),
    "nbinom": (lambda k, n, p: mp.loggamma(n + k) - mp.loggamma(n) - mp.loggamma(k + 1) + n * LOG(p) + k * mp.log1p(-p), [(5.0, 0.5), (0.01, 0.3), (1e8, 1 - 1e-8)]),
    "planck": (lambda k, l: LOG(-mp.expm1(-l)) - l * k, [(0.51,), (0.05,), (30.0,)]),
    "poisson": (lambda k, m: k * LOG(m) - m - mp.loggamma(k + 1), [(0.6,), (150.0,), (1e-9,)]),
    "yulesimon": (lambda k, a: LOG(a) + log_beta(k, a + 1), [(11.0,), (40.0,)]),
    "zipf": (lambda k, a: -a * LOG(k) - LOG(mp.zeta(a)), [(6.6,), (12.0,)]),
    "zipfian": (lambda k, a, n: -a * LOG(k) - LOG(sum(mp.mpf(j) ** -a for j in range(1, int(n) + 1))), [(1.25, 10), (6.5, 30)]),
}  # fmt: skip

# Shapes beside SciPy's own examples.
POINTS = {
    "alpha": [(0.1,), (30.0,)],
    "argus": [(0.05,), (20.0,)],
    "beta": [(1e-3, 2.0), (0.5, 0.5), (1e4, 2e4), (1.0, 1e6)],
    "betaprime": [(0.1, 30.0), (500.0, 600.0)],
    "bradford": [(1e-6,), (1e6,)],
    "burr": [(0.1, 5.0), (30.0, 0.3)],
    "burr12": [(0.1, 5.0), (30.0, 0.3)],
    "chi": [(0.01,), (1e5,)],
    "chi2": [(0.01,), (1e6,)],
    "crystalball": [(0.1, 1.01), (5.0, 30.0)],
    "dgamma": [(0.1,), (1e3,)],
    "dweibull": [(0.2,), (30.0,)],
    "exponnorm": [(1e-3,), (1e3,)],
    "exponweib": [(0.1, 3.0), (50.0, 0.3)],
    "f": [(1.0, 1e8), (0.3, 0.5), (2e4, 3e4)],
    "fatiguelife": [(1e-3,), (50.0,)],
    "fisk": [(0.1,), (100.0,)],
    "foldcauchy": [(0.0,), (1e4,)],
    "foldnorm": [(0.0,), (30.0,)],
    "gamma": [(1e-3,), (1.0,), (1e6,)],
    "genextreme": [(1e-9,), (-1e-6,), (-2.0,), (3.0,)],
    "gengamma": [(2.0, -0.5), (100.0, 3.0)],
    "genhalflogistic": [(1e-3,), (20.0,)],
    "geninvgauss": [(-0.5, 1e-2), (0.5, 200.0)],
    "genlogistic": [(1e-2,), (1e4,)],
    "gennorm": [(0.3,), (2.0,), (50.0,)],
    "genpareto": [(1e-9,), (-1e-6,), (-2.0,), (10.0,)],
    "gompertz": [(1e-9,), (1e3,)],
    "halfgennorm": [(0.3,), (50.0,)],
    "invgamma": [(0.01,), (1e4,)],
    "invgauss": [(1e-3,), (1e3,)],
    "invweibull": [(0.1,), (300.0,)],
    "jf_skew_t": [(0.5, 20.0), (100.0, 100.0)],
    "johnsonsb": [(-5.0, 0.2), (0.0, 20.0)],
    "johnsonsu": [(-5.0, 0.2), (0.0, 20.0)],
    "kappa3": [(0.05,), (50.0,)],
    "kappa4": [(1e-6, 0.5), (-2.0, 1e-6)],
    "laplace_asymmetric": [(0.01,), (50.0,)],
    "loggamma": [(1e-3,), (1e5,)],
    "loglaplace": [(0.05,), (100.0,)],
    "lognorm": [(1e-3,), (20.0,)],
    "lomax": [(1e-3,), (1e6,)],
    "mielke": [(0.1, 5.0), (30.0, 0.3)],
    "nakagami": [(0.1,), (1e5,)],
    "ncx2": [(0.5, 1e-3), (200.0, 300.0)],
    "norminvgauss": [(0.01, 0.0), (100.0, 99.0)],
    "pareto": [(1e-3,), (1e6,)],
    "pearson3": [(1e-6,), (-3.0,), (0.02,)],
    "powerlaw": [(1e-3,), (1e5,)],
    "powerlognorm": [(100.0, 0.1), (0.01, 3.0)],
    "powernorm": [(1e-3,), (1e6,)],
    "rdist": [(0.1,), (1e4,)],
    "recipinvgauss": [(1e-2,), (100.0,)],
    "rel_breitwigner": [(0.01,), (1e3,)],
    "rice": [(1e-6,), (40.0,)],
    "skewcauchy": [(0.0,), (-0.999,)],
    "skewnorm": [(1e-6,), (-50.0,), (1e4,)],
    "t": [(0.1,), (1.0,), (1e3,), (1e8,)],
    "trapezoid": [(0.01, 0.99)],
    "triang": [(1e-6,), (0.999,)],
    "truncexpon": [(1e-6,), (800.0,)],
    "truncnorm": [(-1.0, 1e3), (10.0, 12.0), (-40.0, -38.0), (-mp.inf, 0.5), (0.5, mp.inf)],
    "truncpareto": [(1e-6, 3.0), (100.0, 50.0)],
    "truncweibull_min": [(0.5, 0.0, 3.0), (20.0, 0.5, 1.5)],
    "vonmises_line": [(1e-3,), (500.0,)],
    "weibull_max": [(0.1,), (300.0,)],
    "weibull_min": [(0.1,), (300.0,)],
    "wrapcauchy": [(1e-3,), (0.999,)],
}  # fmt: skip
