"""A workshop's files: quality, materials, power, sound, machines, queues at a counter, tests."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import NamedTuple

import numpy as np
import scipy.integrate as sint
import scipy.linalg
import scipy.optimize
import scipy.special
import scipy.stats as sps
from numpy.linalg import norm as length
from scipy import optimize, special
from scipy.linalg import (
    cho_factor,
    cho_solve,
    companion,
    eigh_tridiagonal,
    eigvals_banded,
    expm,
    leslie,
    lu_factor,
    lu_solve,
    null_space,
    solve_banded,
    solve_sylvester,
    toeplitz,
)
from scipy.optimize import (
    Bounds,
    LinearConstraint,
    curve_fit,
    isotonic_regression,
    linprog,
    lsq_linear,
    minimize,
    nnls,
)
from scipy.stats import (
    ecdf,
    fatiguelife,
    foldnorm,
    johnsonsu,
    maxwell,
    pearson3,
    powerlaw,
    wrapcauchy,
)

from . import toolbox
from .toolbox import Link, lagged

draws = np.random.default_rng(7)
SIZES = 10 + 0.1 * draws.standard_t(6, 20)
CYCLES = np.exp(draws.normal(5.0, 0.4, 10))
LOADS = np.linspace(1.0, 2.2, 10)
RATINGS = (draws.random((7, 5)) < 0.6).astype(float)
RAIN = draws.gamma(1.8, 12.0, 15)
SERIES = np.cumsum(draws.normal(size=40)) * 0.2
CATCH = np.array([90.0, 113.0, 155.0, 175.0, 144.0, 120.0])
EFFORT = np.array([10.0, 12.0, 20.0, 31.0, 28.0, 22.0])


# Quality.


class Chart(NamedTuple):
    centre: float
    sigma: float
    width: float = 3.0

    def alarm(self, shift, n=5, law=sps.norm):
        c = self.width
        return law.sf(c - shift * np.sqrt(n)) + law.cdf(-c - shift * np.sqrt(n))


def run_length(shift, width):
    """An average run length, its spread, and an EWMA chart's by a Markov chain."""
    p = Chart(10.0, 0.1, width).alarm(shift)
    edges = np.linspace(-0.8, 0.8, 8) * width / 3
    mid = (edges[1:] + edges[:-1]) / 2
    z = lambda e: (e[None, :] - 0.8 * mid[:, None]) / 0.2 - shift
    Q = sps.norm.cdf(z(edges[1:])) - sps.norm.cdf(z(edges[:-1]))
    arl = scipy.linalg.solve(np.eye(7) - Q, np.ones(7))
    return 1 / p, np.sqrt(1 - p) / p, arl[3]


def capability(lo, hi):
    """Cpk with Johnson's curve, and percentages outside by its quantiles."""
    d = johnsonsu(a=-0.1, b=1.5, loc=9.98, scale=0.15)
    q = d.ppf([0.00135, 0.5, 0.99865])
    return (
        np.minimum((hi - q[1]) / (q[2] - q[1]), (q[1] - lo) / (q[1] - q[0])),
        d.sf(hi) + d.cdf(lo),
        foldnorm.mean(hi - 9.0, scale=lo),
    )


def tolerance_factor(cover, conf):
    """One-sided and two-sided factors from a noncentral t and a chi-square."""
    n = 12
    k1 = sps.nct.ppf(conf, n - 1, sps.norm.ppf(cover) * np.sqrt(n)) / np.sqrt(n)
    k2 = sps.norm.isf((1 - cover) / 2) * np.sqrt((n - 1) * (1 + 1 / n) / sps.chi2.ppf(1 - conf, 11))
    return k1, k2


def double_sampling(p, n):
    first = sps.binom.cdf(1, 20, p)
    second = sum(sps.binom.pmf(k, 20, p) * sps.binom.cdf(3 - k, 30, p) for k in (2, 3))
    asn = 20 + 30 * (sps.binom.cdf(3, 20, p) - first)
    return first + second, asn, special.bdtr(2, 20, p), special.pdtrc(2, n * p)


def grubbs_and_dixon(level):
    """A critical value of Grubbs' test, and trimmed, winsorised and robust centres."""
    n = 20
    t = sps.t.isf(level / (2 * n), n - 2)
    g = (n - 1) / np.sqrt(n) * np.sqrt(t**2 / (n - 2 + t**2))
    x = SIZES * level
    return g, sps.trim_mean(x, 0.1), sps.siegelslopes(x, np.arange(20.0) * level).slope


def gauge(sd):
    """Repeatability: variance components by mean squares, a ratio's interval by F."""
    y = SIZES.reshape(5, 4) + sd * np.cos(np.arange(20)).reshape(5, 4)
    between = 4 * y.mean(1).var(ddof=1)
    within = y.var(axis=1, ddof=1).mean()
    f = between / within
    return (
        f,
        sps.f.sf(f, 4, 15),
        f / sps.f.ppf(0.975, 4, 15),
        sps.ttest_ind_from_stats(
            y[0].mean(), y[0].std(ddof=1), 4, y[1].mean(), y[1].std(ddof=1), 4, equal_var=False
        ).statistic,
    )


def birnbaum_saunders(c, scale):
    d = fatiguelife(c, scale=scale)
    return (
        d.logpdf(CYCLES / 100).sum(),
        d.ppf(0.1),
        d.var(),
        toolbox.score("exponpow", CYCLES / 400, c, scale=scale),
    )


def basquin(p):
    """An S-N curve through curve_fit with absolute errors, and a design life from it."""
    n = CYCLES * np.exp(-p[0] * np.log(LOADS))
    (a, b), cov = curve_fit(lambda s, a, b: a * s**b, LOADS, n, p0=[150.0, -2.0], method="lm",
                            sigma=10 + LOADS, absolute_sigma=True, xtol=1e-14, ftol=1e-14
                            )  # fmt: skip
    return a * 1.7**b, b, np.sqrt(cov[1, 1]) * p[1]


def paris_law(c, m):
    """Cycles until a crack is critical, and its size after some of them."""
    dk = lambda a: 1.12 * 90.0 * np.sqrt(np.pi * a)
    n = sint.quad(lambda a: 1 / (c * 1e-9 * dk(a) ** m), 0.001, 0.02)[0]
    s = sint.solve_ivp(lambda t, a: c * 1e-9 * dk(a) ** m, (0, 1e4), [0.001], method="Radau",
                       rtol=1e-9, atol=1e-13)  # fmt: skip
    return n * 1e-5, s.y[0, -1] * 1e3


def wear_out(beta, eta):
    """The best age for replacement: cost rate by an integral, minimum by golden section."""
    R = lambda t: np.exp(-((t / eta) ** beta))

    def rate(T):
        return (1 * R(T) + 5 * (1 - R(T))) / sint.quad(R, 0, T)[0]

    T = optimize.minimize_scalar(rate, bracket=(0.2, 0.6, 2.0), method="golden", tol=1e-9).x
    return T, rate(T)


# Power, heat, sound.


@dataclass
class Cell:
    """A battery's equivalent circuit with two time constants."""

    r0: float
    r1: float
    c1: float
    ocv: Callable = field(default=lambda s: 3.2 + 0.9 * s - 0.1 * np.log(1 - s + 1e-3))

    def matrices(self):
        return np.diag([-1 / (self.r1 * self.c1), 0.0]), np.array([1 / self.c1, -1 / 3600.0])

    def discharge(self, current, seconds):
        A, B = self.matrices()
        M = np.block([[A, B[:, None]], [np.zeros((1, 3))]])
        Phi = expm(M * seconds / 6)
        x, volts = np.array([0.0, 0.9]), []
        for i in current:
            x = Phi[:2, :2] @ x + Phi[:2, 2] * i
            volts.append(self.ocv(x[1]) - x[0] - self.r0 * i)
        return np.array(volts)


def battery(r0, r1, c1):
    v = Cell(r0, r1, c1).discharge([1.0, 2.0, 0.5, 0.0, 1.0, 1.0], 300.0)
    return v, sint.trapezoid(v, dx=300.0) / 1500


def power_flow(load):
    """Three buses: voltages by `root` with hybr and a Jacobian by finite differences."""
    Y = np.array([[3.0, -2.0, -1.0], [-2.0, 3.5, -1.5], [-1.0, -1.5, 2.5]])

    def mismatch(x):
        th, v = np.r_[0.0, x[:2]], np.array([1.0, 1.02, x[2]])
        d = th[:, None] - th[None, :]
        p = np.sum(v[:, None] * v * Y * np.sin(d), axis=1)
        q = np.sum(v[:, None] * v * -Y * np.cos(d), axis=1)
        return np.array([p[1] + 0.5, p[2] - load[0], q[2] + load[1]])

    sol = optimize.root(mismatch, [0.0, 0.0, 1.0], method="hybr", tol=1e-13)
    return sol.x


def economic_dispatch(a, demand):
    """Unit commitment without ramps: `minimize` with objects for constraints."""
    cost = lambda p: np.sum(a * p**2 + np.array([10.0, 12.0, 9.0]) * p)
    r = minimize(cost, [30.0, 30.0, 30.0], method="SLSQP",
                 bounds=Bounds([5, 5, 5], [60, 60, 40]),
                 constraints=LinearConstraint(np.ones((1, 3)), demand, demand),
                 options={"ftol": 1e-14})  # fmt: skip
    return r.x


def merit_order(price, need):
    r = linprog(price, A_eq=[[1.0, 1.0, 1.0]], b_eq=[need], bounds=[(0, 30), (0, 25), (0, 60)],
                A_ub=[[1.0, -1.0, 0.0]], b_ub=[12.0], method="highs-ds")  # fmt: skip
    return r.fun, r.x, r.eqlin.marginals


def fin_array(h, k):
    """A rod in a tridiagonal system, and its slowest modes from a band."""
    n = 12
    ab = np.zeros((3, n))
    ab[0, 1:], ab[2, :-1] = -k, -k
    ab[1] = 2 * k + h
    T = solve_banded((1, 1), ab, np.r_[100.0 * k, np.zeros(n - 1)])
    w = eigvals_banded(np.stack([np.full(n, 2 * k + h), np.full(n, -k)]), lower=True)
    _w2, V = eigh_tridiagonal(np.full(n, 2 * k + h), np.full(n - 1, -k), select="i",
                             select_range=(0, 1))  # fmt: skip
    return T[[0, 5]], w[:2], V[0] ** 2


def cooling_tower(c, n):
    """Merkel's number by Chebyshev's four points, and by an integral."""
    hs = lambda t: 4.7 + 2.5 * t + 0.01 * c * t**2.2
    pts = 20 + 15 * np.array([0.1, 0.4, 0.6, 0.9])
    ha = lambda t: 30 + n * (t - 20)
    four = 15 / 4 * np.sum(1 / (hs(pts) - ha(pts)))
    return four, sint.quad(lambda t: 1 / (hs(t) - ha(t)), 20, 35)[0]


def room_modes(dims, absorption):
    """Resonances below a limit, an Eyring time, and a horn's radiation by Struve and Bessel."""
    n = np.array([x for x in itertools.product(range(3), repeat=3) if any(x)])
    f = 171.5 * np.sqrt(((n / dims) ** 2).sum(1))
    V, S = dims.prod(), 2 * (dims[0] * dims[1] + dims[1] * dims[2] + dims[0] * dims[2])
    x = 2 * absorption * 3
    return (
        np.sort(f)[:5],
        0.161 * V / (-S * np.log1p(-absorption)),
        1 - 2 * special.j1(x) / x,
        2 * special.struve(1, x) / x,
    )


def string_instrument(stiff, tension):
    """Partials of a stiff string, and the beats of a bar by the roots of its equation."""
    bar = lambda x: np.cosh(x) * np.cos(x) - 1
    roots = [optimize.bisect(bar, lo, lo + 1.5, xtol=1e-13) for lo in (4.0, 7.0, 10.3)]
    n = np.arange(1, 5)
    return n * np.sqrt(tension) * np.sqrt(1 + stiff * n**2), np.array(roots) ** 2 * stiff


def muffler(lengths, area):
    """A chain of four-poles with complex entries."""
    k = 2.3

    def pole(l, s):
        return np.array(
            [[np.cos(k * l), 1j * np.sin(k * l) / s], [1j * s * np.sin(k * l), np.cos(k * l)]]
        )

    T = reduce(np.matmul, [pole(l, s) for l, s in zip(lengths, [1.0, area, 1.0], strict=True)])
    return 20 * np.log10(np.abs(T[0, 0] + T[0, 1] + T[1, 0] + T[1, 1]) / 2)


def turbine(k, c):
    """Wind: Weibull's energy, a capacity by a power curve, a wake by Jensen."""
    d = sps.weibull_min(k, scale=c)
    energy = 0.5 * d.moment(3)
    curve = lambda v: np.clip((v**3 - 27) / (1728 - 27), 0, 1)
    cf = d.expect(curve, lb=3, ub=25, points=[12.0])
    return energy, cf, c * special.gamma(1 + 1 / k), d.sf(25) + d.cdf(3)


# Structures and machines.


def truss(area, load):
    """Bars between five nodes; forces from equilibrium, a compliance from stiffness."""
    X = np.array([[0, 0], [1, 0], [2, 0], [0.5, 0.9], [1.5, 0.9]])
    bars = [(0, 1), (1, 2), (3, 4), (0, 3), (1, 3), (1, 4), (2, 4)]
    K = np.zeros((10, 10))
    for a, (i, j) in zip(area, bars, strict=True):
        d = X[j] - X[i]
        e = np.r_[-d, d] / length(d)
        idx = np.r_[2 * i, 2 * i + 1, 2 * j, 2 * j + 1]
        K[np.ix_(idx, idx)] += a / length(d) * np.outer(e, e)
    free = [2, 3, 4, 6, 7, 8, 9]
    f = np.zeros(10)
    f[3] = -load
    u = lu_solve(lu_factor(K[np.ix_(free, free)]), f[free])
    return f[free] @ u, u[1]


def rotor(speed, damp):
    """A quadratic eigenproblem through its companion form, and a response."""
    M, K = np.diag([1.0, 0.6]), np.array([[3.0, -1.0], [-1.0, 2.0]])
    G = speed * np.array([[0.0, 0.4], [-0.4, 0.0]]) + damp * np.eye(2)
    A = np.block(
        [[np.zeros((2, 2)), np.eye(2)], [-scipy.linalg.solve(M, K), -scipy.linalg.solve(M, G)]]
    )
    w = scipy.linalg.eig(A, right=False)
    h = scipy.linalg.solve(K + 1j * speed * G - speed**2 * M, np.array([1.0, 0.0]))
    return np.sort(np.abs(w)), np.abs(h)


def cam(points):
    """A four-bar linkage's closure by `fsolve` for each angle, warm started."""
    a, b, c, d = points
    out, guess = [], [0.7, 1.4]
    for th in (0.3, 0.8, 1.3):
        f = lambda u: [
            a * np.cos(th) + b * np.cos(u[0]) - c * np.cos(u[1]) - d,
            a * np.sin(th) + b * np.sin(u[0]) - c * np.sin(u[1]),
        ]
        guess = optimize.fsolve(f, guess, xtol=1e-13)
        out.append(guess[1])
    return np.array(out)


def belt(mu, wrap):
    return np.exp(mu * wrap), optimize.newton(lambda a: np.tan(a) - a - 0.1 * mu, 0.7, tol=1e-14,
                                             fprime=lambda a: np.tan(a) ** 2)  # fmt: skip


def hertz(load, ratio):
    """Contact of two bodies: the ellipse's shape by a root with elliptic integrals."""

    def gap(k):
        m = 1 - 1 / k**2
        E, K = special.ellipe(m), special.ellipk(m)
        return (k**2 * E - K) / (K - E) - ratio

    k = optimize.brentq(gap, 1.01, 40, xtol=1e-14)
    E = special.ellipe(1 - 1 / k**2)
    return k, (6 * k**2 * E * load / np.pi) ** (1 / 3), special.elliprf(1.0, k, k**2)


def vibration_fatigue(m0, m2, m4):
    """Dirlik's moments: a narrow-band damage by a gamma function, peaks by Rice."""
    nu = np.sqrt(m2 / m0)
    irr = m2 / np.sqrt(m0 * m4)
    x = 1.4
    rice = np.sqrt(1 - irr**2) * sps.norm.pdf(x / np.sqrt(1 - irr**2)) + irr * x * np.exp(
        -(x**2) / 2
    ) * special.ndtr(irr * x / np.sqrt(1 - irr**2))
    return nu * (2 * np.sqrt(2 * m0)) ** 5 * special.gamma(3.5), rice, maxwell.sf(x, scale=irr)


# Forests, fish, people.


def rainfall_index(q):
    """A standardised index: gamma with dry days, through normal quantiles; Pearson's third."""
    d = sps.gamma(q[0], scale=q[1])
    h = 0.1 + 0.9 * d.cdf(RAIN)
    z = sps.norm.ppf(h)
    flood = pearson3.ppf(0.99, q[0] - 1, loc=30, scale=q[1])
    return z[:4], flood, sps.lmoment(RAIN * q[0], order=[1, 2])


def catch_per_effort(r, k):
    """A surplus production model, fitted for its catchability within."""
    b, _sse = k, 0.0
    biomass = []
    for c in CATCH:
        biomass.append(b)
        b = np.maximum(b + r * b * (1 - b / k) - c, 1.0)
    q = np.exp(np.mean(np.log(CATCH / EFFORT) - np.log(np.array(biomass))))
    resid = np.log(CATCH / EFFORT) - np.log(q * np.array(biomass))
    return sps.norm.logpdf(resid, scale=resid.std()).sum(), r * k / 4, q * 1e3


def projection(f, s):
    """Leslie's matrix: growth, ages, reproductive values and sensitivities."""
    L = leslie(f, s)
    w, vl, vr = scipy.linalg.eig(L, left=True, right=True)
    i = np.argmax(w.real)
    u, v = np.abs(vr[:, i]), np.abs(vl[:, i])
    sens = np.outer(v, u) / (v @ u)
    return w[i].real, u / u.sum(), sens[0]


def rasch(theta, b):
    """A joint likelihood of items, an information, and a score's conditional by a recursion."""
    p = special.expit(theta[:, None] - b)
    ll = np.where(RATINGS[:3] > 0, special.log_expit(theta[:, None] - b),
                  special.log_expit(b - theta[:, None]))  # fmt: skip
    e = np.array([1.0, 0, 0, 0, 0, 0])
    for x in np.exp(-b):
        e = e + x * np.r_[0.0, e[:-1]]
    return ll.sum(), np.sum(p * (1 - p), axis=1), np.log(e[3])


def learning_curve(w):
    """A monotone regression, its calibration by Brier, and a link by name."""
    y = np.array([0.2, 0.1, 0.4, 0.35, 0.6, 0.9])
    fit = isotonic_regression(y * w, weights=np.arange(1.0, 7)).x
    link = Link("cloglog")
    return fit, link(np.clip(fit, 0.05, 0.95)), Link("probit").inverse(w - 1)


def autoregression(series):
    """An autoregression by least squares, its roots and spectrum; a unit root's statistic."""
    X = lagged(series, [1, 0, 2])
    b = scipy.linalg.lstsq(X[:, :2], X[:, 2])[0]
    roots = scipy.linalg.eigvals(companion(np.r_[1.0, -b]))
    f = 0.1
    spec = 1 / np.abs(1 - b[0] * np.exp(-2j * np.pi * f) - b[1] * np.exp(-4j * np.pi * f)) ** 2
    return b, np.sort(np.abs(roots)), spec


def mixing_paints(K, target):
    """Pigments by `nnls`, and with bounds by `lsq_linear`, both near a colour."""
    x, r = nnls(K, target)
    y = lsq_linear(K, target, bounds=(0.1, 0.6), method="bvls", tol=1e-14).x
    return x, r, y


def angles_of_grain(c, loc):
    th = np.array([0.3, 0.5, 1.2, 2.0, 5.5])
    return (
        wrapcauchy.logpdf(th - loc, c).sum(),
        sps.vonmises_line.logpdf(th - 3, 2 * c).sum(),
        sps.circmean(th * c),
        powerlaw.logcdf(c, loc * 9),
    )


def censored_detection(mu, sigma):
    """Readings below a limit: SciPy's censored data in a likelihood, an ECDF beside it."""
    low, seen = np.array([0.5, 0.5]), np.array([0.8, 1.4, 2.2, 0.9])
    ll = sps.lognorm.logpdf(seen, sigma, scale=np.exp(mu)).sum()
    ll = ll + sps.lognorm.logcdf(low, sigma, scale=np.exp(mu)).sum()
    return ll, ecdf(seen).cdf.probabilities @ sps.lognorm.sf(seen, sigma, scale=np.exp(mu))


def two_line_balance(rates):
    """A closed chain of machines: its stationary law from a null space, and a Sylvester term."""
    Q = np.diag(rates[:3], 1) + np.diag(rates[3:], -1)
    Q = Q - np.diag(Q.sum(1))
    v = null_space(Q.T)[:, 0]
    pi = v / v.sum()
    S = solve_sylvester(Q - 2 * np.eye(4), Q.T, np.outer(pi, pi))
    return pi, np.trace(S)


def smoothed_spectrum(lam, noise):
    """Whittaker's smoothing with a banded Cholesky; a GP's evidence in a state of its own."""
    D = np.diff(np.eye(40), 2, axis=0)
    c = cho_factor(np.eye(40) + lam * D.T @ D)
    z = cho_solve(c, SERIES)
    K = toeplitz(np.exp(-0.1 * np.arange(40) * lam)) + noise * np.eye(40)
    f = cho_factor(K, lower=True, check_finite=False)
    ev = -0.5 * SERIES @ cho_solve(f, SERIES) - np.log(np.diag(f[0])).sum()
    return z[[3, 20]], ev


def partial_by_hand(power, base):
    """Closures, a partial and a dict of functions; a sum over an infinite series."""
    scale = {"sqrt": np.sqrt, "cbrt": special.cbrt, "log": special.log1p, "exp": special.exp2}
    step = partial(scipy.special.powm1, base)
    lost = lambda x, lmbda=power: special.boxcox1p(x, lmbda)
    total = sum(f(power) for f in scale.values())
    return total, step(power), lost(base), special.inv_boxcox(base, power), special.agm(base, power)


PROGRAMS = [
    (double_sampling, (0.06, 40.0)),
    (room_modes, (np.array([5.0, 4.1, 2.6]), 0.25)),
    (catch_per_effort, (0.45, 1000.0)),
    (rasch, (np.array([0.3, -0.4, 1.0]), np.array([-0.5, 0.0, 0.2, 0.7, 1.1]))),
    (autoregression, (SERIES,)),
    (angles_of_grain, (0.4, 0.1)),
]

# Asked with a large budget.
SELDOM = [
    (run_length, (0.6, 2.8)),
    (capability, (9.6, 10.5)),
    (tolerance_factor, (0.95, 0.9)),
    (grubbs_and_dixon, (0.05,)),
    (gauge, (0.1,)),
    (birnbaum_saunders, (0.6, 1.3)),
    (basquin, (np.array([0.8, 1.2]),)),
    (paris_law, (0.3, 2.1)),
    (wear_out, (2.4, 1.0)),
    (battery, (0.02, 0.015, 2400.0)),
    (power_flow, (np.array([0.3, 0.2]),)),
    (economic_dispatch, (np.array([0.05, 0.04, 0.09]), 110.0)),
    (merit_order, (np.array([12.0, 20.0, 31.0]), 70.0)),
    (fin_array, (0.2, 1.5)),
    (cooling_tower, (1.1, 1.4)),
    (string_instrument, (0.002, 4.0)),
    (muffler, (np.array([0.3, 0.55, 0.2]), 6.0)),
    (turbine, (2.1, 8.5)),
    (truss, (np.array([1.0, 1.2, 0.9, 1.5, 1.1, 1.3, 1.0]), 2.0)),
    (rotor, (0.8, 0.1)),
    (cam, (np.array([1.0, 2.5, 2.0, 2.4]),)),
    (belt, (0.35, 2.6)),
    (hertz, (1.7, 3.0)),
    (vibration_fatigue, (1.2, 0.8, 1.1)),
    (rainfall_index, (np.array([1.8, 12.0]),)),
    (projection, (np.array([0.1, 1.4, 1.1]), np.array([0.5, 0.7]))),
    (learning_curve, (1.1,)),
    (mixing_paints, (np.array([[1.0, 0.2, 0.1], [0.1, 0.9, 0.3], [0.2, 0.1, 1.1], [0.4, 0.4, 0.4]]),
                     np.array([0.5, 0.3, 0.7, 0.45]))),
    (censored_detection, (0.1, 0.7)),
    (two_line_balance, (np.array([1.0, 0.8, 0.5, 0.9, 1.1, 1.3]),)),
    (smoothed_spectrum, (2.0, 0.3)),
    (partial_by_hand, (0.7, 1.6)),
]  # fmt: skip
