"""Fieldwork: what notebooks of surveys, laboratories and trading desks compute with SciPy."""

import functools
import math

import numpy as np
import scipy
import scipy.integrate
import scipy.linalg as sl
import scipy.optimize as so
import scipy.special as ss
import scipy.stats as st
from scipy.integrate import quad, simpson, solve_ivp
from scipy.linalg import block_diag, cho_factor, cho_solve, eigh, eigvals, expm, inv, solve
from scipy.optimize import brentq, curve_fit, fsolve, least_squares, minimize, root
from scipy.special import beta as B
from scipy.special import erf, erfc, expit, gammainc, gammaln, iv, jv, kn, logit, ndtr, ndtri
from scipy.stats import beta, binom, chi2, expon, gamma, gumbel_r, lognorm, norm, poisson, t

rng = np.random.default_rng(2024)
X = rng.normal(size=(20, 3))
y = X @ [1.0, -0.5, 0.2] + rng.normal(size=20) * 0.3
hits = (y > 0).astype(float)
times = np.linspace(0, 5, 11)
obs = 3 * np.exp(-0.4 * times) + 0.05 * rng.normal(size=11)


def sabr(alpha, rho, nu):
    """Hagan's volatilities of five strikes."""
    f, k, T, b = 1.0, np.array([0.8, 0.9, 1.001, 1.1, 1.2]), 1.0, 0.5
    z = nu / alpha * (f * k) ** ((1 - b) / 2) * np.log(f / k)
    x = np.log((np.sqrt(1 - 2 * rho * z + z * z) + z - rho) / (1 - rho))
    corr = 1 + T * (rho * b * nu * alpha / 4 + (2 - 3 * rho**2) * nu**2 / 24)
    vols = alpha * z / x * corr
    d1 = (np.log(f / k) + 0.5 * vols**2 * T) / vols
    return vols, f * norm.cdf(d1) - k * norm.cdf(d1 - vols)


def barrier(s, v, r):
    k, h, T = 1.0, 0.8, 1.0
    lam = (r + v * v / 2) / v**2
    yy = math.log(h * h / (s * k)) / (v * math.sqrt(T)) + lam * v * math.sqrt(T)
    d = math.log(s / k) / (v * math.sqrt(T)) + lam * v * math.sqrt(T)
    call = s * ndtr(d) - k * math.exp(-r * T) * ndtr(d - v * math.sqrt(T))
    back = s * (h / s) ** (2 * lam) * ndtr(yy) - k * math.exp(-r * T) * (h / s) ** (
        2 * lam - 2
    ) * ndtr(yy - v * math.sqrt(T))
    return call - back


def asian_by_moments(sigma):
    T = np.linspace(0.1, 1, 10)
    m2 = np.mean(np.exp(sigma**2 * np.minimum(T[:, None], T[None])))
    v = np.sqrt(np.log(m2))
    return lognorm(s=v, scale=np.exp(-v * v / 2)).sf(1.0), lognorm.expect(
        lambda x: max(x - 1, 0), (v,), lb=1.0
    )


def vasicek_curve(kappa, theta, sigma):
    tau = np.array([1.0, 5.0, 10.0])
    b = -np.expm1(-kappa * tau) / kappa
    a = (theta - sigma**2 / (2 * kappa**2)) * (b - tau) - sigma**2 * b**2 / (4 * kappa)
    return -(a - b * 0.03) / tau


def cds_hazard(spread, recovery):
    """The hazard that prices a swap."""
    pay = np.arange(0.25, 5.25, 0.25)

    def par(h):
        q = np.exp(-h * pay)
        d = np.exp(-0.02 * pay)
        prem = 0.25 * np.sum(d * q)
        prot = (1 - recovery) * np.sum(d * -np.diff(q, prepend=1.0))
        return prot / prem - spread

    return brentq(par, 1e-6, 1.0)


def credit_portfolio(rho, pd):
    """Vasicek's loss by quadrature over the common factor."""

    def conditional(z):
        return ndtr((ndtri(pd) - np.sqrt(rho) * z) / np.sqrt(1 - rho))

    tail = quad(lambda z: binom.sf(3, 20, conditional(z)) * norm.pdf(z), -8, 8)[0]
    return tail, norm.cdf((norm.ppf(pd) + np.sqrt(rho) * norm.ppf(0.999)) / np.sqrt(1 - rho))


def kelly(p, odds):
    res = so.minimize_scalar(
        lambda f: -(p * np.log1p(f * odds) + (1 - p) * np.log1p(-f)),
        bounds=(0, 0.99),
        method="bounded",
        options={"xatol": 1e-11},
    )
    return res.x, -res.fun


def black_litterman(tau, view):
    S = np.cov(X.T)
    pi, P, Om = S @ [0.3, 0.3, 0.4] * 2.5, np.array([[1.0, -1.0, 0.0]]), np.array([[0.1]])
    M = inv(inv(tau * S) + P.T @ inv(Om) @ P)
    mu = M @ (inv(tau * S) @ pi + P.T @ inv(Om) @ np.array([view]))
    w = so.minimize(
        lambda w: 1.25 * w @ (S + M) @ w - mu @ w,
        np.ones(3) / 3,
        constraints={"type": "eq", "fun": lambda w: np.sum(w) - 1},
        tol=1e-14,
    ).x
    return mu, w


def logit_standard_errors(c):
    res = minimize(
        lambda b: np.sum(np.logaddexp(0, X @ b) - hits * (X @ b)) + c * b @ b,
        np.zeros(3),
        method="BFGS",
        options={"gtol": 1e-10},
    )
    p = expit(X @ res.x)
    cov = np.linalg.inv((X * (p * (1 - p))[:, None]).T @ X + 2 * c * np.eye(3))
    z = res.x / np.sqrt(np.diag(cov))
    return z, 2 * norm.sf(np.abs(z))


def heckman(gam, rho):
    idx = X @ gam
    lam = norm.pdf(idx) / norm.cdf(idx)
    Z = np.column_stack([X, rho * lam])
    coef, _res, _rank, sv = sl.lstsq(Z, y)
    return coef, sv[0]


def ordered_probit(b, cut):
    cuts = np.r_[-np.inf, cut[0], cut[0] + np.exp(cut[1]), np.inf]
    k = np.digitize(y, [-0.5, 0.5])
    p = norm.cdf(cuts[k + 1] - X @ b) - norm.cdf(cuts[k] - X @ b)
    return np.log(p).sum()


def gamma_glm(b):
    mu = np.exp(X @ b)
    return gamma.logpdf(np.exp(y), a=2.5, scale=mu / 2.5).sum(), st.invgauss.logpdf(
        np.exp(y), mu / 3, scale=3
    ).sum()


def spline_smoother(lam):
    D = np.diff(np.eye(20), n=2, axis=0)
    order = np.argsort(X[:, 0])
    ab = np.zeros((3, 20))
    M = np.eye(20) + lam * D.T @ D
    for i in range(3):
        ab[2 - i, i:] = np.diag(M, i)
    fit = sl.solveh_banded(ab, y[order])
    edf = np.trace(sl.inv(M))
    return np.mean((y[order] - fit) ** 2) / (1 - edf / 20) ** 2


def mcnemar(x):
    b, c = 8 * x, 3.0
    return chi2.sf((abs(b - c) - 1) ** 2 / (b + c), 1), binom.cdf(3, 11, 0.5 * x)


def equivalence(delta):
    a, b = (
        st.ttest_1samp(y, -delta, alternative="greater"),
        st.ttest_1samp(y, delta, alternative="less"),
    )
    return max(a.pvalue, b.pvalue), a.confidence_interval(0.9).low


def sample_size(effect):
    def power(n):
        crit = t.isf(0.025, 2 * n - 2)
        return st.nct.sf(crit, 2 * n - 2, effect * np.sqrt(n / 2))

    return so.brentq(lambda n: power(n) - 0.8, 3, 1000)


def beta_posterior(a, b):
    post = beta(a + 7, b + 3)
    lo, hi = post.interval(0.95)
    better = quad(lambda p: post.pdf(p) * beta(4, 6).cdf(p), 0, 1)[0]
    return lo, hi, better, post.stats("mv")[1], st.betabinom(5, a + 7, b + 3).pmf(3)


def gamma_poisson(shape, rate):
    post = gamma(shape + 17, scale=1 / (rate + 5))
    pred = st.nbinom(shape + 17, (rate + 5) / (rate + 6))
    return post.ppf([0.05, 0.95]), pred.pmf(np.arange(4)), pred.logcdf(2), post.entropy()


def metropolis_target(theta):
    mu, ls = theta
    return (
        norm(mu, np.exp(ls)).logpdf(y).sum()
        + st.cauchy.logpdf(mu, 0, 2.5)
        + st.halfcauchy.logpdf(np.exp(ls), scale=1)
        + ls
    )


def laplace_evidence(tau):
    f = lambda b: (
        0.5 * np.sum((y - X @ b) ** 2) + 0.5 * tau * np.sum(b**2) + 0.1 * np.sum(np.cosh(b))
    )
    res = minimize(f, np.zeros(3), tol=1e-12)
    H = X.T @ X + tau * np.eye(3) + 0.1 * np.diag(np.cosh(res.x))
    return -res.fun + 1.5 * np.log(2 * np.pi) - 0.5 * np.linalg.slogdet(H)[1]


def variogram(sill, length):
    h = sl.norm(X[:, None, :2] - X[None, :, :2], axis=-1)
    G = sill * (1 - np.exp(-h / length)) + 0.1 * (h > 0)
    K = np.block([[G, np.ones((20, 1))], [np.ones((1, 20)), np.zeros((1, 1))]])
    g = np.r_[sill * (1 - np.exp(-sl.norm(X[:, :2], axis=1) / length)) + 0.1, 1.0]
    w = sl.solve(K, g, assume_a="sym")
    return w[:20] @ y, w @ g


def wells(T, S):
    tm = np.array([0.1, 0.5, 1.0, 2.0])
    u = 50.0**2 * S / (4 * T * tm)
    s = 0.02 / (4 * np.pi * T) * ss.exp1(u)
    slope = np.polyfit(np.log(tm), s, 1)[0]
    return s, slope, ss.k0(50 / np.sqrt(T))


def rain(k, scale, loc):
    g = st.genextreme(-k, loc=loc, scale=scale)
    level = g.isf(1 / np.array([2.0, 10.0, 100.0]))
    return level, g.logpdf(y * 10 + 40).sum(), g.support()[0], g.mean()


def dose_response(ec50, slope):
    d = np.array([0.1, 1, 10, 100.0])
    p = expit(slope * (np.log(d) - np.log(ec50)))
    inv_p = brentq(lambda x: expit(slope * (np.log(x) - np.log(ec50))) - 0.9, 1e-3, 1e5)
    return binom.logpmf([1, 3, 8, 10], 10, p).sum(), inv_p, np.exp(logit(0.1) / slope) * ec50


def enzyme(vmax, km):
    s = np.array([0.5, 1, 2, 4, 8.0])
    fit, cov = curve_fit(
        lambda s, a, b: a * s / (b + s),
        s,
        vmax * s / (km + s) * (1 + 0.02 * np.cos(9 * s)),
        p0=[1, 1],
        ftol=1e-14,
        xtol=1e-14,
    )
    sub = 3.0
    left = km * ss.lambertw(sub / km * np.exp((sub - vmax * 0.7) / km)).real
    return fit, np.sqrt(np.diag(cov)), left


def sir_fit(b, g):
    sol = solve_ivp(
        lambda t, z: [-b * z[0] * z[1], b * z[0] * z[1] - g * z[1], g * z[1]],
        (0, 20),
        [0.99, 0.01, 0],
        t_eval=[5, 10, 20.0],
        rtol=1e-9,
        atol=1e-11,
        vectorized=False,
    )
    final = brentq(lambda r: 1 - r - 0.99 * np.exp(-b / g * r), 1e-3, 1 - 1e-9)
    return sol.y[1], sol.y[2, -1], final


def peak_of_epidemic(b):
    peak = lambda t, z: b * z[0] - 0.3
    peak.terminal = True
    sol = solve_ivp(
        lambda t, z: (-b * z[0] * z[1], (b * z[0] - 0.3) * z[1]),
        (0, 99),
        (0.99, 0.01),
        events=peak,
        rtol=1e-9,
        atol=1e-12,
    )
    return sol.t[-1], sol.y[1, -1], sol.status * b


def glucose(p):
    """Bergman's minimal model, inputs by a table."""

    def rhs(t, s):
        ins = np.interp(t, [0, 2, 4, 10, 60], [10, 60, 50, 30, 12.0])
        return [-(p[0] + s[1]) * s[0] + p[0] * 90.0, -p[1] * s[1] + p[2] * (ins - 10)]

    sol = solve_ivp(rhs, (0, 60), [250.0, 0.0], max_step=2.0, t_eval=[10, 30, 60], rtol=1e-8)
    return sol.y[0]


def heat_of_rod(k):
    n = 8
    A = k * n * n * (np.eye(n, k=1) - 2 * np.eye(n) + np.eye(n, k=-1))
    u = expm(A * 0.01) @ np.sin(np.pi * np.arange(1, n + 1) / (n + 1))
    sol = solve_ivp(lambda t, u: A @ u, (0, 0.01), u, method="BDF", jac=A, rtol=1e-9, atol=1e-11)
    return u, sol.y[:, -1]


def pendulum_period(a):
    exact = 4 * ss.ellipk(np.sin(a / 2) ** 2)
    by_quad = quad(lambda x: 4 / np.sqrt(1 - np.sin(a / 2) ** 2 * np.sin(x) ** 2), 0, np.pi / 2)[0]
    return exact, by_quad


def double_pendulum(l):
    def f(t, s):
        a, b, p, q = s
        d = a - b
        M = np.array([[2.0, l * np.cos(d)], [np.cos(d), l]])
        r = np.array(
            [-l * q * q * np.sin(d) - 2 * 9.8 * np.sin(a), p * p * np.sin(d) - 9.8 * np.sin(b)]
        )
        return np.concatenate([[p, q], np.linalg.solve(M, r)])

    return scipy.integrate.odeint(
        f, [0.5, 0.2, 0, 0], [0, 0.5, 1.0], tfirst=True, rtol=1e-10, atol=1e-10
    )[-1]


def orbit_elements(e, M):
    E = so.newton(lambda E: E - e * np.sin(E) - M, M, fprime=lambda E: 1 - e * np.cos(E))
    nu = 2 * np.arctan(np.sqrt((1 + e) / (1 - e)) * np.tan(E / 2))
    return nu, (1 - e * e) / (1 + e * np.cos(nu)), fsolve(lambda E: E - e * np.sin(E) - M, M)[0]


def lambert_problem(r2, dt):
    """The semi-latus parameter by shooting."""

    def miss(v):
        s = solve_ivp(
            lambda t, s: np.r_[s[2:], -s[:2] / (s[0] ** 2 + s[1] ** 2) ** 1.5],
            (0, dt),
            np.r_[1.0, 0.0, v],
            rtol=1e-9,
            atol=1e-10,
        )
        return s.y[:2, -1] - np.array([0.0, r2])

    return root(miss, [0.1, 1.1], tol=1e-10).x


def antenna(k):
    th = np.linspace(0.1, np.pi - 0.1, 41)
    F = (np.cos(k * np.cos(th)) - np.cos(k)) / np.sin(th)
    return simpson(F**2 * np.sin(th), x=th), ss.sici(2 * k)[1], ss.jve(1, k)


def fibre_splice(w1, w2):
    f = quad(lambda r: np.exp(-(r**2) / w1**2 - r**2 / w2**2) * r, 0, np.inf)[0]
    return 4 * f**2 / (w1 * w2) ** 2 * 4, jv(0, w1) * kn(1, w2), iv(1.5, w1)


def point_spread(a):
    r = np.linspace(0.1, 6, 12)
    airy = (2 * jv(1, a * r) / (a * r)) ** 2
    return airy, 1 - jv(0, a) ** 2 - jv(1, a) ** 2


def dopant(D, t):
    x = np.linspace(0, 2, 5)
    prof = erfc(x / (2 * np.sqrt(D * t)))
    depth = brentq(lambda x: erfc(x / (2 * np.sqrt(D * t))) - 0.01, 0, 10)
    return prof, depth, ss.erfcinv(0.01) * 2 * np.sqrt(D * t)


def fermi(mu, T):
    n = quad(lambda e: np.sqrt(e) * expit(-(e - mu) / T), 0, np.inf)[0]
    level = brentq(
        lambda m: quad(lambda e: np.sqrt(e) * expit(-(e - m) / T), 0, np.inf)[0] - 0.7, 0.1, 3
    )
    return n, level


def partition(b, J):
    T = np.exp(b * J * np.array([[1.0, -1], [-1, 1]]) + b * 0.1 * np.array([[1, 0], [0, -1.0]]))
    w = eigvals(T)
    free = -np.log(np.max(w.real)) / b
    return free, ss.logsumexp(-b * np.array([0.0, 1, 1, 3])), np.log(ss.iv(0, b * J))


def chem(K1, K2):
    def eq(v):
        a, b = v
        return [a * (a + b) - K1 * (1 - a), b * (a + b) - K2 * (1 - b)]

    sol = fsolve(eq, [0.5, 0.5], xtol=1e-13)
    low = least_squares(
        lambda v: eq(v), [0.5, 0.5], bounds=(0, 1), xtol=1e-15, ftol=1e-15, gtol=1e-15
    )
    return sol, low.x


def vapour(T, a):
    def z(v):
        return T / (v - 1 / 3) * 8 / 3 * 1 / 3 - a / v**2

    area = lambda p, lo, hi: quad(z, lo, hi)[0] - p * (hi - lo)

    def saturation(p):
        r = np.sort(np.roots([3 * p, -(p + 8 * T / 3), 3 * a, -a]).real)
        return area(p, r[0], r[2])

    return z(0.8), quad(z, 0.5, 2.0)[0]


def quantum_well(V):
    n = 40
    x = np.linspace(-4, 4, n)
    H = np.diag(np.full(n, 1 / (x[1] - x[0]) ** 2) - V / np.cosh(x) ** 2) - 0.5 / (
        x[1] - x[0]
    ) ** 2 * (np.eye(n, k=1) + np.eye(n, k=-1))
    w, v = eigh(H, subset_by_index=[0, 1])
    return w, np.abs(v[:, 0]) @ x**2


def kalman_gain(q, r):
    A, C = np.array([[1, 0.1], [0, 1.0]]), np.array([[1.0, 0.0]])
    P = sl.solve_discrete_are(A.T, C.T, q * np.eye(2), np.array([[r]]))
    K = P @ C.T @ inv(C @ P @ C.T + r)
    return K.ravel(), np.sort(np.abs(eigvals(A - A @ K @ C)))


def robust_gain(g):
    A, Bm = np.array([[0, 1.0], [2.0, -0.3]]), np.array([[0.0], [1.0]])
    K = solve(np.eye(1), Bm.T @ sl.solve_continuous_are(A, Bm, block_diag(g, 1.0), np.eye(1)))
    Ac = A - Bm @ K
    W = sl.solve_continuous_lyapunov(Ac, -np.eye(2))
    return K, np.trace(W), sl.svdvals(sl.inv(0.5j * np.eye(2) - Ac))[0]


def shapes(t):
    P, Q = X[:6, :2], X[6:12, :2] + t * X[:6, 1:]
    R, s = sl.orthogonal_procrustes(P - P.mean(0), Q - Q.mean(0))
    return (
        s,
        np.linalg.norm((P - P.mean(0)) @ R - (Q - Q.mean(0))),
        scipy.linalg.polar(R * t + np.eye(2))[1],
    )


def factor_model(load):
    L = np.outer([1.0, 0.5, -0.3], load) + 0.1
    S = L @ L.T + np.eye(3)
    c = cho_factor(S)
    return (
        -0.5 * np.sum(X * cho_solve(c, X.T).T) - 10 * np.log(np.prod(np.diag(c[0])) ** 2),
        sl.sqrtm(S)[0],
        sl.ldl(S)[1].diagonal(),
    )


def many_tests(s):
    z = y * s
    return (
        st.wilcoxon(z + 0.3).statistic * s,
        st.kstest(z, "norm", args=(0.1, 1.2)).statistic,
        st.shapiro(z).statistic,
        st.spearmanr(z, X[:, 0]).statistic * s,
        st.kruskal(z, X[:, 1]).statistic * s,
        st.bartlett(z, X[:, 1]).pvalue,
        st.gmean(np.exp(z)),
        st.trim_mean(z, 0.1),
        st.sem(z),
        st.zscore(z, ddof=1)[0],
        st.iqr(z),
        st.median_abs_deviation(z, scale="normal"),
    )


def several_laws(a):
    return (
        poisson.logpmf([0, 3], 2 * a).sum(),
        st.geom.pmf(3, 0.3 * a),
        st.hypergeom.pmf(2, 20, 7, 6) * a,
        st.zipf.pmf(2, 1 + a),
        st.skellam.pmf(1, 2 * a, 1.5),
        st.rice.logpdf(1.2, a),
        st.triang.ppf(0.3, 0.4 * a),
        st.truncnorm.logpdf(0.3, -a, 2 * a),
        st.truncnorm(-a, np.inf, loc=0.2).mean(),
        st.burr12.sf(1.1, a, 2.0),
        st.fisk.isf(0.2, 2 + a),
        st.levy.cdf(1.3, scale=a),
        st.loguniform.pdf(0.5, 0.1 * a, 2),
        st.multinomial.logpmf([1, 2, 1], 4, np.array([0.2, 0.5, 0.3])) * a,
        gumbel_r.entropy(scale=a),
        expon.moment(3, scale=a),
    )


def memoised(x):
    @functools.cache
    def moment(n):
        return 1.0 if n == 0 else n * moment(n - 1)

    return gammainc(x, 2.0) * moment(3) + B(x, 2) * gammaln(x) + erf(x)


MORE = [
    (sabr, (0.2, -0.3, 0.4)),
    (barrier, (1.05, 0.25, 0.03)),
    (asian_by_moments, (0.3,)),
    (vasicek_curve, (0.3, 0.04, 0.02)),
    (cds_hazard, (0.012, 0.4)),
    (credit_portfolio, (0.2, 0.05)),
    (kelly, (0.6, 1.2)),
    (black_litterman, (0.1, 0.2)),
    (logit_standard_errors, (0.5,)),
    (heckman, (np.array([0.3, 0.2, -0.4]), 0.8)),
    (ordered_probit, (np.array([0.8, -0.4, 0.1]), np.array([-0.6, 0.1]))),
    (gamma_glm, (np.array([0.5, -0.2, 0.1]),)),
    (spline_smoother, (2.0,)),
    (mcnemar, (1.1,)),
    (equivalence, (0.7,)),
    (sample_size, (0.5,)),
    (beta_posterior, (1.5, 2.0)),
    (gamma_poisson, (2.0, 0.7)),
    (metropolis_target, (np.array([0.1, -0.2]),)),
    (laplace_evidence, (0.8,)),
    (variogram, (1.2, 0.8)),
    (wells, (0.01, 1e-4)),
    (rain, (0.15, 12.0, 40.0)),
    (dose_response, (5.0, 1.2)),
    (enzyme, (2.0, 1.5)),
    (sir_fit, (0.9, 0.3)),
    (peak_of_epidemic, (0.9,)),
    (glucose, (np.array([0.03, 0.02, 1e-5]),)),
    (heat_of_rod, (0.6,)),
    (pendulum_period, (1.1,)),
    (double_pendulum, (0.8,)),
    (orbit_elements, (0.3, 1.1)),
    (lambert_problem, (1.3, 1.9)),
    (antenna, (1.4,)),
    (fibre_splice, (1.1, 1.4)),
    (point_spread, (1.7,)),
    (dopant, (0.1, 1.5)),
    (fermi, (0.8, 0.2)),
    (partition, (0.7, 1.1)),
    (chem, (0.4, 0.2)),
    (vapour, (1.1, 3.0)),
    (quantum_well, (1.6,)),
    (kalman_gain, (0.2, 0.5)),
    (robust_gain, (1.5,)),
    (shapes, (0.4,)),
    (factor_model, (np.array([0.8, 0.3]),)),
    (many_tests, (1.2,)),
    (several_laws, (0.9,)),
    (memoised, (1.4,)),
]
