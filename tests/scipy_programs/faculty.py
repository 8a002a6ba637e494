"""A faculty's scripts: statisticians, physiologists, engineers and physicists at work."""
# ruff: noqa: RUF059  # names as they are often written

import argparse
import math
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from scipy import linalg, stats
from scipy import special as sp
from scipy.integrate import cumulative_trapezoid, dblquad, odeint, quad, simpson, solve_ivp
from scipy.interpolate import interp1d
from scipy.linalg import cho_factor, cho_solve, cholesky, expm, solve_triangular
from scipy.optimize import brentq, curve_fit, minimize, minimize_scalar
from scipy.spatial.distance import cdist
from scipy.stats import beta as beta_law
from scipy.stats import gaussian_kde, multivariate_normal, norm

# Filters and processes.


@dataclass
class Belief:
    mean: np.ndarray
    cov: np.ndarray
    loglik: float = 0.0
    history: list = field(default_factory=list)


class RangeTracker:
    """An extended filter of a body that is seen from two beacons by its ranges."""

    BEACONS = np.array([[0.0, 0.0], [10.0, 2.0]])

    def __init__(self, q, r, dt=0.5):
        self.F = np.kron(np.array([[1.0, dt], [0.0, 1.0]]), np.eye(2))
        g = np.array([[dt**3 / 3, dt**2 / 2], [dt**2 / 2, dt]])
        self.Q = q * np.kron(g, np.eye(2))
        self.R = r**2 * np.eye(2)

    def predict(self, b):
        b.mean = self.F @ b.mean
        b.cov = self.F @ b.cov @ self.F.T + self.Q

    def update(self, b, z):
        diff = b.mean[:2] - self.BEACONS
        d = np.sqrt((diff**2).sum(axis=1))
        H = np.hstack([diff / d[:, None], np.zeros((2, 2))])
        S = H @ b.cov @ H.T + self.R
        K = cho_solve(cho_factor(S), H @ b.cov).T
        b.loglik += multivariate_normal.logpdf(z, mean=d, cov=S)
        b.mean = b.mean + K @ (z - d)
        b.cov = (np.eye(4) - K @ H) @ b.cov
        b.history.append(b.mean[:2])


def beacon_track(q, r, ranges):
    belief = Belief(np.array([3.0, 1.0, 0.5, 0.2]), np.eye(4))
    tracker = RangeTracker(q, r)
    for z in ranges:
        tracker.predict(belief)
        tracker.update(belief, z)
    return belief.loglik, np.array(belief.history)[-1], np.trace(belief.cov)


@dataclass(frozen=True)
class SquaredExponential:
    amplitude: float
    lengthscale: float

    def __call__(self, a, b):
        return self.amplitude**2 * np.exp(
            -0.5 * cdist(a / self.lengthscale, b / self.lengthscale, "sqeuclidean")
        )


class Regressor:
    def __init__(self, kernel, noise):
        self.kernel, self.noise = kernel, noise

    def fit(self, X, y):
        self.X_ = X
        K = self.kernel(X, X)
        K[np.diag_indices_from(K)] += self.noise**2
        self.L_ = cholesky(K, lower=True)
        self.alpha_ = cho_solve((self.L_, True), y)
        self.lml_ = -0.5 * y @ self.alpha_ - np.log(np.diag(self.L_)).sum()
        self.lml_ -= len(y) / 2 * math.log(2 * math.pi)
        return self

    def predict(self, X, return_std=False):
        Ks = self.kernel(X, self.X_)
        mean = Ks @ self.alpha_
        if not return_std:
            return mean
        v = solve_triangular(self.L_, Ks.T, lower=True)
        return mean, np.sqrt(np.diag(self.kernel(X, X)) - np.sum(v * v, axis=0))


def probability_of_improvement(amplitude, lengthscale, y):
    """A surrogate fitted to six experiments; the chance that the next one is better."""
    X = np.linspace(0, 2.5, 6)[:, None]
    gp = Regressor(SquaredExponential(amplitude, lengthscale), noise=0.1).fit(X, y)
    mu, sd = gp.predict(np.array([[0.8], [1.2]]), return_std=True)
    z = (mu - y.max()) / sd
    return gp.lml_, norm.cdf(z), sd * (z * norm.cdf(z) + norm.pdf(z))


def volatile_regimes(p_stay, mu, sigma):
    """Two regimes of a market by Hamilton's filter with logs."""
    returns = np.array([0.2, -0.4, 1.5, -1.8, 0.3, 0.1, 2.2])
    P = np.array([[p_stay, 1 - p_stay], [1 - 0.8, 0.8]])
    laws = [norm(mu, sigma), norm(-mu, 3 * sigma)]
    logf = np.log(np.array([0.6, 0.4]))
    total = 0.0
    for i, r in enumerate(returns):
        if i > 0:
            logf = sp.logsumexp(logf[:, None] + np.log(P), axis=0)
        logf = logf + np.array([law.logpdf(r) for law in laws])
        total += (c := sp.logsumexp(logf))
        logf -= c
    return total, np.exp(logf)


def mean_reverting_loglik(kappa, theta, sigma):
    """Exact likelihood of an Ornstein and Uhlenbeck process, its half life and bridge."""
    x = np.array([0.1, 0.3, 0.25, 0.6, 0.5, 0.7])
    dt = 0.25
    decay = np.exp(-kappa * dt)
    sd = sigma * np.sqrt(-np.expm1(-2 * kappa * dt) / (2 * kappa))
    ll = stats.norm.logpdf(x[1:], loc=theta + (x[:-1] - theta) * decay, scale=sd).sum()
    stationary = stats.norm(loc=theta, scale=sigma / np.sqrt(2 * kappa))
    return ll, np.log(2) / kappa, stationary.interval(0.9)[1], stationary.sf(1.0)


# Survival and reliability.


def censored_weibull_aft(intercept, slope, log_shape):
    """A regression of lives with marks for those still alive."""
    t = np.array([1.2, 3.4, 0.7, 5.0, 2.2, 5.0])
    event = np.array([1, 1, 1, 0, 1, 0], dtype=bool)
    x = np.array([0.5, -0.3, 1.1, -0.8, 0.0, -1.0])
    scale = np.exp(intercept + slope * x)
    law = stats.weibull_min(np.exp(log_shape), scale=scale)
    ll = np.where(event, law.logpdf(t), law.logsf(t)).sum()
    return ll, law.median(), stats.weibull_min.mean(np.exp(log_shape), scale=scale[0])


def bridge_of_components(rates, mission):
    """Reliability of a bridge network of five parts, and how long it lives on average."""

    def reliability(t):
        a, b, c, d, e = (stats.expon.sf(t, scale=1 / r) for r in rates)
        with_e = (1 - (1 - a) * (1 - b)) * (1 - (1 - c) * (1 - d))
        without = 1 - (1 - a * c) * (1 - b * d)
        return e * with_e + (1 - e) * without

    mttf, _ = quad(reliability, 0, np.inf)
    b10 = brentq(lambda t: reliability(t) - 0.9, 1e-6, 10.0, xtol=1e-13)
    return reliability(mission), mttf, b10


def disability_states(onset, recovery, frailty):
    """A multi-state model of illness: years in health by a matrix exponential."""

    def generator(age):
        m = 0.02 * np.exp(0.09 * (age - 60))
        Q = np.zeros((3, 3))
        Q[0, 1], Q[1, 0] = onset * np.exp(0.05 * (age - 60)), recovery
        Q[0, 2], Q[1, 2] = m, frailty * m
        np.fill_diagonal(Q, -Q.sum(axis=1))
        return Q

    p = np.array([1.0, 0.0, 0.0])
    years = np.zeros(3)
    for age in range(60, 90, 5):
        p_next = p @ expm(5 * generator(age + 2.5))
        years = years + 2.5 * (p + p_next)
        p = p_next
    return years[:2], p[2]


def mean_residual(shape, scale):
    """A log-logistic life (fisk): hazard, its largest, and the mean that remains."""
    law = stats.fisk(shape, scale=scale)
    hazard = lambda t: law.pdf(t) / law.sf(t)
    top = minimize_scalar(
        lambda t: -hazard(t), bounds=(0.1, 5), method="bounded", options={"xatol": 1e-10}
    )
    grid = np.linspace(1.0, 60.0, 801)
    left = simpson(law.sf(grid), x=grid) / law.sf(1.0)
    return hazard(1.5), top.x, left


# Estimates.


def ab_test(a_hits, b_hits, prior=1.0):
    """The chance that B beats A, the expected loss of choosing it, an interval of A."""
    A = beta_law(prior + a_hits, prior + 40 - a_hits)
    B = beta_law(prior + b_hits, prior + 40 - b_hits)
    better = quad(lambda x: B.pdf(x) * A.cdf(x), 0, 1)[0]
    loss = dblquad(lambda a, b: (a - b) * A.pdf(a) * B.pdf(b), 0, 1, lambda b: b, 1)[0]
    return better, loss, A.ppf([0.025, 0.975])


def irls_poisson(y):
    """A Poisson regression with Newton steps until the deviance stays."""
    X = np.column_stack([np.ones(6), np.arange(6) / 5.0])
    beta = np.array([np.log(y.mean()), 0.0])
    old = np.inf
    for _ in range(50):
        mu = np.exp(X @ beta)
        dev = 2 * np.sum(sp.xlogy(y, y / mu) - (y - mu))
        if abs(old - dev) < 1e-13 * (abs(dev) + 0.1):
            break
        old = dev
        W = mu[:, None]
        beta = beta + linalg.solve(X.T @ (W * X), X.T @ (y - mu), assume_a="pos")
    se = np.sqrt(np.diag(linalg.inv(X.T @ (mu[:, None] * X))))
    return beta, dev, 2 * norm.sf(np.abs(beta / se))


def beta_regressed(b0, b1, phi):
    """A regression of proportions, its score and a quantile at a new place."""
    x = np.array([0.1, 0.4, 0.9, 1.5])
    y = np.array([0.22, 0.35, 0.41, 0.7])
    mu = sp.expit(b0 + b1 * x)
    a, b = mu * phi, (1 - mu) * phi
    ll = np.sum((a - 1) * np.log(y) + (b - 1) * np.log1p(-y) - sp.betaln(a, b))
    new = sp.expit(b0 + b1 * 1.2)
    return ll, sp.betaincinv(new * phi, (1 - new) * phi, 0.9), sp.digamma(phi)


def psychometric(rates, chance=0.5):
    """A threshold and slope by curve_fit, with standard errors."""
    levels = np.array([0.5, 1.0, 1.5, 2.0, 2.5, 3.0])

    def curve(x, alpha, beta):
        return chance + (1 - chance - 0.02) * 0.5 * (1 + sp.erf((x - alpha) / (beta * np.sqrt(2))))

    popt, pcov = curve_fit(curve, levels, rates, p0=[1.5, 0.6], sigma=np.full(6, 0.02), ftol=1e-13)
    return popt, np.sqrt(np.diag(pcov)), curve(1.7, *popt)


def negative_binomial_fit(counts):
    """Mean and dispersion by a simplex, and the chance of an outbreak."""

    def nll(theta):
        r, mu = np.exp(theta)
        return -stats.nbinom.logpmf(np.array([0, 1, 2, 3, 5]), r, r / (r + mu)) @ counts

    best = minimize(
        nll, x0=[0.0, 0.5], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}
    )
    r, mu = np.exp(best.x)
    return r, mu, stats.nbinom.sf(6, r, r / (r + mu)), best.fun


def jackknifed_skewness(x):
    """A statistic with its bias taken away, leaving out each once."""
    n = len(x)
    theta = stats.skew(x, bias=False)
    parts = np.array([stats.skew(np.delete(x, i), bias=False) for i in range(n)])
    bias = (n - 1) * (parts.mean() - theta)
    return theta - bias, np.sqrt((n - 1) / n * np.sum((parts - parts.mean()) ** 2))


def compared_groups(a, b):
    """What a paper reports: t, effect size, correlation, a regression line."""
    t, p = stats.ttest_ind(a, b, equal_var=False)
    pooled = np.sqrt((np.var(a, ddof=1) + np.var(b, ddof=1)) / 2)
    r, p_r = stats.pearsonr(a, b)
    line = stats.linregress(a, b)
    ci = stats.t.interval(0.95, len(a) - 1, loc=np.mean(a), scale=stats.sem(a))
    return t, p, (a.mean() - b.mean()) / pooled, r, p_r, line.slope, line.stderr, ci[0]


def smoothed_sample(x, bandwidth):
    """A kernel density: entropy on a grid, mass in a window, a mode."""
    kde = gaussian_kde(x, bw_method=bandwidth)
    grid = np.linspace(-4, 6, 201)
    p = kde(grid)
    h = -np.trapezoid(sp.xlogy(p, p), grid)
    mode = grid[np.argmax(p)]
    return h, kde.integrate_box_1d(0.0, 1.5), p.max(), kde.logpdf(mode)[0]


def elliptical_loglik(scatter, df):
    """A multivariate t against a normal, on returns of three assets."""
    x = np.array([[0.1, -0.2, 0.3], [0.8, 0.5, -0.1], [-1.2, -0.4, 0.2], [0.4, 0.1, 0.9]])
    S = np.eye(3) * 0.7 + scatter * np.ones((3, 3))
    t = stats.multivariate_t(loc=np.zeros(3), shape=S, df=df)
    g = multivariate_normal(np.zeros(3), S * df / (df - 2))
    return t.logpdf(x).sum(), g.logpdf(x).sum() - t.logpdf(x).sum(), g.entropy()


def variance_components(y, options=("reml",)):
    """A random intercept by restricted likelihood; the option as a command line has it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("method", choices=["ml", "reml"])
    parser.add_argument("--groups", type=int, default=3)
    args = parser.parse_args(list(options))
    n = y.size
    Z = np.kron(np.eye(args.groups), np.ones((n // args.groups, 1)))
    X = np.ones((n, 1))

    def objective(ratio):
        V = np.eye(n) + ratio * Z @ Z.T
        c = cho_factor(V, lower=True)
        XtVX = X.T @ cho_solve(c, X)
        b = np.linalg.solve(XtVX, X.T @ cho_solve(c, y))
        r = y - X @ b
        dof = n - 1 if args.method == "reml" else n
        s2 = r @ cho_solve(c, r) / dof
        f = dof * np.log(s2) + 2 * np.log(np.diag(c[0])).sum()
        return (f + np.linalg.slogdet(XtVX)[1] if args.method == "reml" else f), s2, b

    best = minimize_scalar(
        lambda u: objective(np.exp(u))[0], bracket=(-1, 1), tol=1e-12, method="brent"
    )
    ratio = np.exp(best.x)
    _, s2, b = objective(ratio)
    return ratio, s2, b[0], ratio / (1 + ratio)


# Physiology and pharmacology.


@dataclass
class SEIRS:
    beta: float
    sigma: float = 0.2
    gamma: float = 0.1
    waning: float = 0.01

    def rhs(self, t, y):
        s, e, i, r = y
        b = self.beta * (1 + 0.2 * np.cos(2 * np.pi * t / 60))
        return np.array(
            [
                -b * s * i + self.waning * r,
                b * s * i - self.sigma * e,
                self.sigma * e - self.gamma * i,
                self.gamma * i - self.waning * r,
            ]
        )

    def run(self, y0, t):
        sol = solve_ivp(self.rhs, (t[0], t[-1]), y0, t_eval=t, rtol=1e-8, atol=1e-10)
        if not sol.success:
            raise RuntimeError(sol.message)
        return sol.y


def epidemic_by_week(beta, i0):
    weeks = np.arange(0.0, 85.0, 7.0)
    model = SEIRS(beta=beta)
    s, e, i, r = model.run([1 - i0, 0.0, i0, 0.0], weeks)
    cases = -np.diff(s + 0.0 * e)
    observed = np.array([0.01, 0.02, 0.03, 0.06, 0.09, 0.12, 0.13, 0.12, 0.09, 0.06, 0.04, 0.03])
    return i.max(), stats.norm.logpdf(observed, cases, 0.02).sum(), cumulative_trapezoid(i, weeks)


def minimal_glucose(sensitivity, effectiveness):
    """Bergman's minimal model of glucose, insulin from a table by interpolation."""
    t_i = np.array([0.0, 2, 4, 8, 19, 30, 60, 120, 182])
    insulin = interp1d(t_i, [11.0, 85, 60, 45, 30, 27, 18, 9, 7], fill_value="extrapolate")

    def ode(y, t, si, sg, p2, gb, ib):
        g, x = y
        return [-(sg + x) * g + sg * gb, -p2 * x + p2 * si * (insulin(t) - ib)]

    t = np.array([0.0, 4.0, 19.0, 60.0, 120.0, 180.0])
    y = odeint(
        ode,
        [280.0, 0.0],
        t,
        args=(sensitivity * 1e-4, effectiveness, 0.02, 90.0, 7.0),
        rtol=1e-9,
        atol=1e-9,
        hmax=1.0,
    )
    return y[1:, 0], y[:, 1].max() * 1e3


def steady_dosing(clearance, volume, ka):
    """Oral doses superposed; peak, trough and accumulation, with a search for the peak."""
    ke = clearance / volume

    def conc(t, doses=8, tau=12.0):
        t = np.asarray(t, dtype=float)
        c = np.zeros_like(t)
        for k in range(doses):
            dt = np.maximum(t - k * tau, 0.0)
            c = c + 100 * ka / (volume * (ka - ke)) * (np.exp(-ke * dt) - np.exp(-ka * dt))
        return c

    peak = minimize_scalar(lambda t: -conc(t), bounds=(84, 96), method="bounded")
    auc = quad(conc, 84, 96, epsabs=1e-10)[0]
    return -peak.fun, conc(96.0), auc / 12


def spiking_cable(current, g_na):
    """A nerve's membrane by Hodgkin and Huxley's equations, LSODA."""
    alpha_n = lambda v: 0.01 * (10 - v) / np.expm1((10 - v) / 10)
    beta_n = lambda v: 0.125 * np.exp(-v / 80)
    alpha_m = lambda v: 0.1 * (25 - v) / np.expm1((25 - v) / 10)
    beta_m = lambda v: 4 * np.exp(-v / 18)
    alpha_h = lambda v: 0.07 * np.exp(-v / 20)
    beta_h = lambda v: 1 / (np.exp((30 - v) / 10) + 1)

    def rhs(t, y):
        v, n, m, h = y
        i_na = g_na * m**3 * h * (v - 115)
        i_k = 36 * n**4 * (v + 12)
        i_l = 0.3 * (v - 10.6)
        return (
            current - i_na - i_k - i_l,
            alpha_n(v) * (1 - n) - beta_n(v) * n,
            alpha_m(v) * (1 - m) - beta_m(v) * m,
            alpha_h(v) * (1 - h) - beta_h(v) * h,
        )

    sol = solve_ivp(
        rhs,
        [0, 6],
        [0.0, 0.32, 0.05, 0.6],
        method="LSODA",
        dense_output=True,
        rtol=1e-9,
        atol=1e-11,
    )
    return sol.y[:, -1], sol.sol(2.0)[0]


# Physics and engineering.


def sounding_rocket(thrust, burn):
    """Up with a burning engine, then until it turns: two integrations and an event."""
    rho = lambda h: 1.2 * np.exp(-h / 8.0)

    def flight(t, y, on):
        h, v, m = y
        force = thrust if on else 0.0
        return [v, (force - 0.02 * rho(h) * v * np.abs(v)) / m - 0.0981, -0.3 * on]

    def apex(t, y, on):
        return y[1]

    apex.terminal = True
    apex.direction = -1
    kw = {"rtol": 1e-9, "atol": 1e-10}
    up = solve_ivp(flight, [0, burn], [0.0, 0.0, 1.0], args=(1,), **kw)
    coast = solve_ivp(flight, [burn, 300], up.y[:, -1], args=(0,), events=apex, **kw)
    return up.y[0, -1], coast.t_events[0][0], coast.y_events[0][0][0]


def thermostat(leak, power):
    """A heater that switches at two temperatures, followed through five switchings."""
    on, t, temp, used = True, 0.0, 15.0, 0.0
    for _ in range(5):
        limit = 21.0 if on else 19.0
        hit = lambda s, y, limit=limit: y[0] - limit
        hit.terminal = True
        rhs = lambda s, y, on=on: [-leak * (y[0] - 5.0) + power * on]
        sol = solve_ivp(rhs, (t, t + 100.0), [temp], events=hit, rtol=1e-9, atol=1e-11)
        if on:
            used = used + sol.t[-1] - t
        t, temp, on = sol.t[-1], sol.y[0, -1], not on
    return t, used


def oblate_orbit(a, e, j2=1.08e-3):
    """A satellite about a flattened planet for half a turn: energy kept, node moved."""

    def acc(t, s):
        r, v = s[:3], s[3:]
        d = linalg.norm(r)
        z2 = 5 * r[2] ** 2 / d**2
        f = -1.5 * j2 / d**5
        return np.concatenate([v, -r / d**3 + f * r * np.array([1 - z2, 1 - z2, 3 - z2])])

    rp = a * (1 - e)
    vp = np.sqrt((1 + e) / rp)
    inc = np.radians(50.0)
    s0 = np.array([rp, 0, 0, 0, vp * np.cos(inc), vp * np.sin(inc)])
    sol = solve_ivp(acc, (0, np.pi * a**1.5), s0, method="DOP853", rtol=1e-11, atol=1e-12)
    r, v = sol.y[:3, -1], sol.y[3:, -1]
    h = np.cross(r, v)
    return r, np.arctan2(h[0], -h[1]), v @ v / 2 - 1 / np.sqrt(r @ r)


def polytrope_mass(n, rho_c):
    """A star by integrating outward on a fixed grid with a written Runge and Kutta step."""

    def f(xi, y):
        theta, phi = y
        return np.array([-phi / xi**2, xi**2 * np.maximum(theta, 0.0) ** n])

    h, xi = 0.05, 0.05
    y = np.array([1 - xi**2 / 6, xi**3 / 3])
    while xi < 2.0:
        k1 = f(xi, y)
        k2 = f(xi + h / 2, y + h / 2 * k1)
        k3 = f(xi + h / 2, y + h / 2 * k2)
        k4 = f(xi + h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        xi += h
    return y[0], 4 * np.pi * rho_c * y[1]


def synchrotron_critical(x, order=5 / 3):
    """Synchrotron's function by an integral of a Bessel function, and its asymptote."""
    inner = partial(sp.kv, order)
    full = np.array([xi * quad(inner, xi, np.inf)[0] for xi in x])
    return full, full / (4 * np.pi / (np.sqrt(3) * sp.gamma(1 / 3)) * (x / 2) ** (1 / 3))


def coax_impedance(freq, radius):
    """The inner impedance of a round wire by complex Bessel functions."""
    mu, sigma = 4e-7 * np.pi, 5.8e7
    k = (1 - 1j) * np.sqrt(np.pi * freq * mu * sigma)
    ka = k * radius
    z = k / (2 * np.pi * radius * sigma) * sp.jv(0, ka) / sp.jv(1, ka)
    dc = 1 / (np.pi * radius**2 * sigma)
    return z.real / dc, z.imag / dc, np.abs(z) / dc


def clamped_beam_modes(stiffness, tip_mass):
    """Frequencies of a beam with a mass at its tip, by a list of brackets."""

    def characteristic(b):
        c = np.cos(b) * np.cosh(b)
        return 1 + c - b * tip_mass * (np.sin(b) * np.cosh(b) - np.cos(b) * np.sinh(b))

    grid = np.linspace(0.5, 9, 60)
    values = [characteristic(g) for g in grid]
    roots = []
    for lo, hi, f_lo, f_hi in zip(grid[:-1], grid[1:], values[:-1], values[1:], strict=True):
        if f_lo * f_hi < 0:
            roots.append(brentq(characteristic, lo, hi, xtol=1e-13))
    return np.sqrt(stiffness) * np.array(roots) ** 2 / (2 * np.pi)


def flutter_speed(mass_ratio, offset):
    """Where a wing's eigenvalues cross: the real parts' largest as a function of speed."""

    def growth(u):
        M = np.array([[1.0, offset], [offset, 0.25]]) + np.eye(2) / mass_ratio
        K = np.diag([0.25, 0.3]) + u**2 / mass_ratio * np.array([[0.0, 2.0], [0.0, -0.8]])
        C = u / mass_ratio * np.array([[2.0, 0.5], [-0.8, 0.6]])
        A = np.block([[np.zeros((2, 2)), np.eye(2)], [-linalg.solve(M, K), -linalg.solve(M, C)]])
        return linalg.eigvals(A).real.max()

    return np.array([growth(u) for u in (0.4, 0.8, 1.2)])


SELDOM = [
    (
        beacon_track,
        (0.3, 0.4, np.array([[3.3, 6.6], [3.9, 6.2], [4.3, 6.0], [4.6, 5.3]])),
    ),
    (probability_of_improvement, (1.2, 0.7, np.array([0.1, 0.5, 1.1, 0.9, 0.4, 0.2]))),
    (volatile_regimes, (0.9, 0.2, 0.6)),
    (mean_reverting_loglik, (1.3, 0.5, 0.4)),
    (censored_weibull_aft, (1.1, 0.3, 0.4)),
    (bridge_of_components, (np.array([0.2, 0.3, 0.25, 0.15, 0.4]), 1.4)),
    (disability_states, (0.03, 0.1, 2.5)),
    (mean_residual, (2.6, 1.7)),
    (ab_test, (11.0, 15.0)),
    (irls_poisson, (np.array([1.0, 2.0, 2.0, 4.0, 7.0, 9.0]),)),
    (beta_regressed, (-1.0, 1.1, 12.0)),
    (psychometric, (np.array([0.52, 0.58, 0.71, 0.86, 0.95, 0.97]),)),
    (negative_binomial_fit, (np.array([10.0, 7.0, 6.0, 3.0, 2.0]),)),
    (jackknifed_skewness, (np.array([0.2, 1.4, 0.9, 3.3, 2.1, 0.4]),)),
    (
        compared_groups,
        (np.array([5.1, 4.8, 6.0, 5.5, 5.9]), np.array([4.2, 4.4, 5.0, 4.1, 5.2])),
    ),
    (smoothed_sample, (np.array([-0.4, 0.2, 0.9, 1.1, 2.4]), 0.5)),
    (elliptical_loglik, (0.2, 5.5)),
    (variance_components, (np.array([1.2, 1.0, 1.4, 2.3, 2.0, 2.6, 0.2, 0.9, 0.5]),)),
    (epidemic_by_week, (0.45, 0.004)),
    (minimal_glucose, (5.0, 0.026)),
    (steady_dosing, (4.2, 40.0, 1.1)),
    (spiking_cable, (9.0, 120.0)),
    (sounding_rocket, (0.9, 1.6)),
    (thermostat, (0.11, 3.0)),
    (oblate_orbit, (1.4, 0.1)),
    (polytrope_mass, (1.5, 2.0)),
    (synchrotron_critical, (np.array([0.05, 0.3, 1.2]),)),
    (coax_impedance, (3e5, 4e-4)),
    (clamped_beam_modes, (1.4, 0.25)),
    (flutter_speed, (9.0, 0.12)),
]
