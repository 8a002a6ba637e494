"""An agency of statistics and a laboratory: prices, risks, surveys, reactions, light, signals."""
# ruff: noqa: RUF059  # names and pairs as they are often written

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
import scipy.spatial.distance
from scipy import constants, linalg, special, stats
from scipy.integrate import fixed_quad, nquad, odeint, quad, quad_vec, romb, solve_ivp
from scipy.linalg import cholesky, eigh, lstsq, solve, solve_triangular, toeplitz
from scipy.optimize import (
    LinearConstraint,
    NonlinearConstraint,
    brentq,
    curve_fit,
    least_squares,
    linprog,
    minimize,
    minimize_scalar,
    nnls,
    root,
    root_scalar,
    toms748,
)
from scipy.special import expit, gammaln, log_ndtr, logit, logsumexp, ndtr, ndtri, softmax, xlogy

# Prices and households.


@dataclass
class Bond:
    """A bond with coupons; what is derived from its yield is kept."""

    rate: float
    face: float = 100.0
    years: int = 7

    def price(self, y):
        k = np.arange(1, self.years + 1)
        return np.sum(self.rate * self.face * np.exp(-y * k)) + self.face * np.exp(-y * self.years)

    @cached_property
    def par(self):
        return brentq(lambda y: self.price(y) - self.face, -0.5, 1.0, xtol=1e-14)


def bond_desk(rate, spread):
    bond = Bond(rate)
    y = toms748(lambda y: bond.price(y + spread) - 95.0, -0.2, 0.5, xtol=1e-14)
    duration = -(bond.price(y + 1e-3) - bond.price(y - 1e-3)) / 2e-3 / bond.price(y)
    return bond.par, y, duration


def svensson(b1, tau):
    """A curve of rates by four factors, fitted by linear least squares once the decay is given."""
    t = np.array([0.25, 0.5, 1, 2, 3, 5, 7, 10, 20, 30.0])
    f1 = -np.expm1(-t / tau) / (t / tau)
    X = np.column_stack([np.ones_like(t), f1, f1 - np.exp(-t / tau)])
    y = 0.03 + b1 * np.exp(-t / 3) + 0.001 * np.sin(t)
    beta, res, rank, s = lstsq(X, y)
    return beta, res, X[3] @ beta


def barrier_option(sigma, barrier):
    """A down-and-out call by reflection, with the normal distribution by hand."""
    s, k, r, t = 100.0, 95.0, 0.03, 0.75
    N = lambda x: 0.5 * special.erfc(-x / math.sqrt(2))

    def call(spot):
        d = (np.log(spot / k) + (r + sigma**2 / 2) * t) / (sigma * np.sqrt(t))
        return spot * N(d) - k * np.exp(-r * t) * N(d - sigma * np.sqrt(t))

    return call(s) - (barrier / s) ** (2 * r / sigma**2 - 1) * call(barrier**2 / s)


def variance_gamma(theta, nu):
    """The density by a Bessel function of second kind, and a call as an integral of it."""
    t, sigma = 1.0, 0.2

    def density(x):
        z = x - 0.02
        a = np.sqrt(2 * sigma**2 / nu + theta**2)
        order = t / nu - 0.5
        front = (
            2
            * np.exp(theta * z / sigma**2)
            / (nu ** (t / nu) * np.sqrt(2 * np.pi) * sigma * special.gamma(t / nu))
        )
        return front * (np.abs(z) / a) ** order * special.kv(order, np.abs(z) * a / sigma**2)

    value, _ = quad(lambda x: (np.exp(x) - 1) * density(x), 0.02, 2.0)
    return density(np.array([-0.3, 0.1])), value


def exchange_margrabe(sigmas, rho):
    s1, s2 = 100.0, 96.0
    sigma = np.sqrt(sigmas[0] ** 2 + sigmas[1] ** 2 - 2 * rho * sigmas[0] * sigmas[1])
    d = (np.log(s1 / s2) + 0.5 * sigma**2) / sigma
    joint = stats.multivariate_normal(cov=[[1.0, rho], [rho, 1.0]]).cdf([0.3, -0.2])
    return s1 * ndtr(d) - s2 * ndtr(d - sigma), joint


def euler_consumption(beta, gamma_):
    """Two periods with risk: saving by an Euler equation with Gauss and Hermite's nodes."""
    x, w = special.roots_hermitenorm(7)
    w = w / w.sum()
    income = np.exp(0.15 * x - 0.5 * 0.15**2)

    def euler(s):
        return (1.5 - s) ** -gamma_ - beta * 1.03 * w @ (1.03 * s + income) ** -gamma_

    sol = root_scalar(euler, bracket=(-0.5, 1.4), method="brentq", xtol=1e-14)
    welfare = ((1.5 - sol.root) ** (1 - gamma_)) / (1 - gamma_)
    return sol.root, welfare


def growth_path(alpha, delta):
    """Ramsey's economy: saddle path by its linear part, capital by an equation from there."""
    rho, theta = 0.04, 2.0
    k = ((rho + delta) / alpha) ** (1 / (alpha - 1))
    c = k**alpha - delta * k
    J = np.array([[rho, -1.0], [c / theta * alpha * (alpha - 1) * k ** (alpha - 2), 0.0]])
    w = np.linalg.eigvals(J)
    stable = np.min(np.real(w))
    rhs = lambda k_, t: k_**alpha - delta * k_ - (c + (rho - stable) * (k_ - k))
    path = odeint(rhs, 0.8 * k, [0.0, 5.0, 15.0], rtol=1e-10, atol=1e-10)
    return stable, path[1:, 0] / k


def blp_share(price, sigma):
    """Shares with tastes that differ, and delta by a contraction so that they fit."""
    x = np.array([1.0, 1.5, 0.7])
    p = price * np.array([1.0, 1.3, 0.8])
    nodes, w = np.polynomial.hermite_e.hermegauss(5)
    w = w / np.sqrt(2 * np.pi)
    seen = np.array([0.25, 0.3, 0.15])

    def shares(delta):
        u = delta + sigma * np.outer(nodes, x) - 0.3 * p
        top = np.exp(u)
        return w @ (top / (1 + top.sum(axis=1, keepdims=True)))

    delta = np.zeros(3)
    for _ in range(60):
        delta = delta + np.log(seen) - np.log(shares(delta))
    return delta, shares(delta + 0.1)


def transport(cost, supply):
    """The prices of a linear programme, and its value."""
    c = np.array([4.0, 6.0, 9.0, 5.0, 3.0, 8.0]) + np.array([cost, 0, 0, 0, cost, 0])
    A_eq = np.kron(np.ones((1, 2)), np.eye(3))
    A_ub = np.kron(np.eye(2), np.ones((1, 3)))
    res = linprog(c, A_ub=A_ub, b_ub=[supply, 50.0], A_eq=A_eq, b_eq=[20.0, 25.0, 15.0])
    return res.fun, res.x


def risk_budget(scale, rho):
    """Shares with equal contributions to risk, as a convex problem."""
    vol = np.array([0.1, 0.2, 0.3]) * np.array([1.0, scale, 1.0])
    C = np.outer(vol, vol) * toeplitz([1.0, rho, rho**2])
    fun = lambda x: 0.5 * x @ C @ x - np.log(x).sum() / 3
    jac = lambda x: C @ x - 1 / (3 * x)
    res = minimize(fun, np.full(3, 2.0), jac=jac, method="BFGS", options={"gtol": 1e-11})
    return res.x / res.x.sum()


def max_entropy_weights(target, spread):
    """A prior bent to two moments with constraints by SLSQP."""
    x = np.linspace(-1, 2, 6)
    q = softmax(-(x**2))
    cons = [
        {"type": "eq", "fun": lambda p: p.sum() - 1},
        {"type": "eq", "fun": lambda p: p @ x - target},
        {"type": "eq", "fun": lambda p: p @ x**2 - spread},
    ]
    res = minimize(
        lambda p: special.rel_entr(p, q).sum(), q, constraints=cons, method="SLSQP",
        options={"ftol": 1e-14},
    )  # fmt: skip
    return res.x, res.fun


def steiner_point(px, py):
    """The point of least total distance with a constraint that it lies in a disc."""
    towns = np.array([[0.0, 0.0], [3.0, 0.5], [1.0, 2.5]])
    towns = np.vstack([towns, [px, py]])
    total = lambda z: np.sum(np.sqrt(np.sum((towns - z) ** 2, axis=1) + 1e-6))
    disc = NonlinearConstraint(lambda z: z @ z, -np.inf, 1.0)
    line = LinearConstraint([[1.0, -1.0]], -1.0, 1.0)
    res = minimize(total, [0.5, 0.5], method="trust-constr", constraints=[disc, line],
                   options={"gtol": 1e-10, "xtol": 1e-12, "barrier_tol": 1e-10})  # fmt: skip
    return res.x, res.fun


# Surveys, tests, lives.


def small_area(between, slope):
    """Fay and Herriot's estimates: weights by variances, and the likelihood that is restricted."""
    y, v = np.array([1.2, 0.7, 1.9, 1.1, 1.5]), np.array([0.1, 0.3, 0.2, 0.15, 0.4])
    X = np.vander(np.linspace(0, 1, 5), 2)
    W = np.diag(1 / (v + between))
    info = X.T @ W @ X
    beta = solve(info, X.T @ W @ y, assume_a="pos") + np.array([slope, 0.0])
    r = y - X @ beta
    return -0.5 * (np.linalg.slogdet(info)[1] + r @ W @ r), between / (between + v) * r + X @ beta


def graded_items(discrimination, cut):
    """Samejima's items integrated over ability with normal nodes."""
    nodes, w = np.polynomial.hermite_e.hermegauss(11)
    w = w / w.sum()
    cuts = np.array([-1.0, 0.0, 1.2]) + cut
    above = expit(discrimination * (nodes[:, None] - cuts))
    p = -np.diff(np.hstack([np.ones((11, 1)), above, np.zeros((11, 1))]), axis=1)
    logs = np.log(p[:, [0, 2, 3]]).sum(axis=1)
    return logsumexp(logs, b=w), softmax(logs + np.log(w)) @ nodes


def tetrachoric(a, rho):
    """The likelihood of a table by bivariate probabilities, and its correlation found."""
    t1, t2 = a, -0.2
    both = lambda r: stats.multivariate_normal.cdf([t1, t2], cov=[[1.0, r], [r, 1.0]])
    share = both(rho)
    back = brentq(lambda r: both(r) - share * 0.95, -0.9, 0.9)
    return share, back


def stopping_boundary(drift, spend):
    """A sequential trial: two looks with alpha spent, power by a double integral."""
    z1 = ndtri(1 - spend / 2)
    rho = np.sqrt(0.5)
    after = lambda z2: 1 - special.ndtr((z2 - rho * 0.0) / 1.0)
    z2 = brentq(lambda z: after(z) - (0.025 - spend / 4), 0.5, 5)
    inner = lambda x: (
        stats.norm.pdf(x - drift * rho)
        * stats.norm.sf(z2, loc=drift + rho * (x - drift * rho), scale=np.sqrt(1 - rho**2))
    )
    late, _ = quad(inner, -8, z1)
    return z1, stats.norm.sf(z1 - drift * rho) + late


def zero_inflated(pi, mu):
    y = np.array([0, 0, 0, 1, 2, 0, 5, 1])
    r = 1.4
    logp = stats.nbinom.logpmf(y, r, r / (r + mu))
    mix = np.where(y == 0, np.logaddexp(np.log(pi), np.log1p(-pi) + logp), np.log1p(-pi) + logp)
    return mix.sum(), (1 - pi) * mu


class Tweedie:
    """Dunn and Smyth's series for sums of gamma claims."""

    def __init__(self, power):
        self.p, self.a = power, (2 - power) / (1 - power)

    def logpdf(self, y, mu, phi):
        j = np.arange(1, 40)
        logz = (
            -self.a * np.log(y) + self.a * np.log(self.p - 1) - (1 - self.a) * np.log(phi)
            - np.log(2 - self.p)
        )  # fmt: skip
        series = logsumexp(j * logz - gammaln(1 + j) - gammaln(-self.a * j))
        canonical = y * mu ** (1 - self.p) / (1 - self.p) - mu ** (2 - self.p) / (2 - self.p)
        return canonical / phi + series - np.log(y)


def tweedie(power, mu):
    law = Tweedie(power)
    return sum(law.logpdf(y, mu, 0.8) for y in (0.5, 1.7, 3.2)), np.exp(-(mu ** (2 - power)))


def lives_by_spline(level, bend):
    """A log hazard by a cubic in logarithms: expected life and its variance by quadrature."""
    hazard = lambda t: np.exp(level + bend * np.log1p(t) + 0.03 * t)
    survival = lambda t: np.exp(-fixed_quad(lambda s: hazard(s), 0.0, t, n=9)[0])
    life = quad(survival, 0, 60, limit=200)[0]
    return life, quad(lambda t: 2 * t * survival(t), 0, 60, limit=200)[0] - life**2


def copula_mixture(theta, weight):
    """Two copulas mixed; Spearman's rho as an integral over the square."""
    clayton = lambda u, v: (u**-theta + v**-theta - 1) ** (-1 / theta)
    C = lambda u, v: weight * clayton(u, v) + (1 - weight) * u * v
    rho, _ = nquad(lambda u, v: 12 * C(u, v) - 3, [[1e-6, 1], [1e-6, 1]], opts={"epsabs": 1e-9})
    return rho, C(0.3, 0.6)


def beta_rasch(a, b):
    """Agreement of judges: a beta law's quantiles, and the overlap of two such laws."""
    q = special.betaincinv(a, b, [0.1, 0.5, 0.9])
    overlap = quad(lambda x: np.sqrt(stats.beta.pdf(x, a, b) * stats.beta.pdf(x, b, a)), 0, 1)[0]
    return q, overlap, np.exp(special.betaln((a + b) / 2, (a + b) / 2) - special.betaln(a, b))


def bayes_t_test(effect, scale):
    """The JZS Bayes factor as an integral over the prior of the effect."""
    n = 20
    t = effect * np.sqrt(n)
    alt = quad(lambda d: stats.nct.pdf(t, n - 1, d * np.sqrt(n)) * stats.cauchy.pdf(d, scale=scale),
               -3, 3)[0]  # fmt: skip
    return np.log(alt / stats.t.pdf(t, n - 1))


# Reactions, light and heat.


def titration(ka, kb):
    """The pH of a mixture over volumes, each by a root in the logarithm."""
    kw = 1e-14

    def charge(ph, volume):
        h = 10.0**-ph
        acid = 0.1 * 25 / (25 + volume) * ka / (ka + h)
        base = 0.1 * volume / (25 + volume) * h / (h + kw / kb)
        return h + base - kw / h - acid

    curve = [brentq(charge, 0, 14, args=(v,), xtol=1e-13) for v in (5.0, 20.0, 25.0, 30.0)]
    return np.array(curve)


def wilson_bubble(a12, a21):
    """Wilson's activities: the boiling point of a mixture by secants."""
    x = np.array([0.4, 0.6])
    log_gamma = lambda x: np.array(
        [
            -np.log(x[0] + a12 * x[1])
            + x[1] * (a12 / (x[0] + a12 * x[1]) - a21 / (a21 * x[0] + x[1])),
            -np.log(x[1] + a21 * x[0])
            - x[0] * (a12 / (x[0] + a12 * x[1]) - a21 / (a21 * x[0] + x[1])),
        ]
    )
    A, B, C = np.array([8.1, 8.07]), np.array([1580.0, 1730.0]), np.array([240.0, 233.0])
    psat = lambda T: 10 ** (A - B / (C + T))
    p = lambda T: x * np.exp(log_gamma(x)) * psat(T)
    T = root_scalar(lambda T: p(T).sum() - 760, x0=80.0, x1=85.0, xtol=1e-12).root
    return T, p(T) / 760


def enzyme_chain(k1, km):
    """Two enzymes in a row with a stiff method, its yield, and when the middle peaks."""

    def rhs(t, y):
        v1, v2 = k1 * y[0] / (km + y[0]), 3.0 * y[1] / (0.2 + y[1])
        return [-v1, v1 - v2, v2]

    flat = lambda t, y: rhs(t, y)[1]
    flat.direction, flat.terminal = -1, True
    out = solve_ivp(rhs, (0, 8), [2.0, 0.0, 0.0], "Radau", events=flat, rtol=1e-8, atol=1e-10)
    return out.t_events[0][0], out.y[1, -1]


def chromatogram(width, tail):
    """A peak that tails: the exponentially modified normal one, its fit to a noisy trace."""
    t = np.linspace(0, 6, 31)
    peak = lambda t, m, s, tau: stats.exponnorm.pdf(t, tau / s, m, s)
    trace = peak(t, 2.0, width, tail) + 0.01 * np.sin(9 * t)
    p, _ = curve_fit(peak, t, trace, p0=(1.9, 0.4, 0.6), xtol=1e-13, ftol=1e-13)
    return p, romb(trace[:17], dx=0.2)


def spectrum_unmixed(a, shift):
    """Non-negative amounts of three lines in a spectrum."""
    x = np.linspace(-3, 3, 25)
    lines = np.stack([special.voigt_profile(x - c, 0.4, 0.2) for c in (-1.0, 0.2, 1.1)], axis=1)
    seen = lines @ np.array([a, 0.5, 0.0]) + shift * np.exp(-(x**2)) - 0.02
    amounts, rest = nnls(lines, seen)
    return amounts, rest


def waveguide(index, width):
    """Modes of a slab: even ones by a bracket that ends at poles, powers by an integral."""
    k, clad = 2 * np.pi / 1.55, 1.444
    limit = k * np.sqrt(index**2 - clad**2)
    even = lambda kx: np.tan(kx * width / 2) - np.sqrt(limit**2 - kx**2) / kx
    top = min(limit, np.pi / width) * (1 - 1e-9)
    kx = brentq(even, 1e-6, top, xtol=1e-14)
    inside = quad(lambda x: np.cos(kx * x) ** 2, -width / 2, width / 2)[0]
    decay = np.sqrt(limit**2 - kx**2)
    return np.sqrt(index**2 - (kx / k) ** 2), inside / (
        inside + np.cos(kx * width / 2) ** 2 / decay
    )


def multilayer(thickness, index):
    """The reflectance of coatings by products of matrices."""
    lam = np.array([450.0, 550.0, 650.0])

    def layer(n, d):
        phase = 2 * np.pi * n * d / lam
        m = np.empty((3, 2, 2), complex)
        m[:, 0, 0] = m[:, 1, 1] = np.cos(phase)
        m[:, 0, 1], m[:, 1, 0] = 1j * np.sin(phase) / n, 1j * n * np.sin(phase)
        return m

    M = np.linalg.multi_dot([layer(index, thickness)[0], layer(1.38, 100.0)[0]])
    total = layer(index, thickness) @ layer(1.38, 100.0)
    B, C = total[..., 0, 0] + total[..., 0, 1] * 1.52, total[..., 1, 0] + total[..., 1, 1] * 1.52
    r = (B - C) / (B + C)
    return np.abs(r) ** 2, np.real(M[0, 0])


def mie_like(size, index):
    """Scattering by spherical Bessel functions of a small sphere: four orders."""
    n = np.arange(1, 5)
    x, mx = size, index * size
    j, jm = special.spherical_jn(n, x), special.spherical_jn(n, mx)
    y = special.spherical_yn(n, x)
    dj = x * special.spherical_jn(n, x, True) + j
    djm = mx * special.spherical_jn(n, mx, derivative=True) + jm
    dy = x * special.spherical_yn(n, x, True) + y
    top = index**2 * jm * dj - j * djm
    h = index**2 * jm * dy - y * djm
    a = top**2 / (top**2 + h**2)
    return 2 / x**2 * np.sum((2 * n + 1) * a)


def radiating_fin(emissivity, length):
    """Heat from a fin that radiates, shooting for the temperature of its tip."""
    rhs = lambda x, y: [y[1], emissivity * (y[0] ** 4 - 0.3**4)]

    def residual(tip):
        sol = solve_ivp(rhs, (length, 0), [tip[0], 0.0], rtol=1e-9, atol=1e-11)
        return [sol.y[0, -1] - 1.0]

    tip = root(residual, [0.8], tol=1e-11).x[0]
    base = solve_ivp(rhs, (length, 0), [tip, 0.0], rtol=1e-9, atol=1e-11).y[1, -1]
    return tip, -base


def stefan(stefan_number, ratio):
    """Melting with two phases by a transcendental equation."""
    f = lambda z: stefan_number / (np.exp(z * z) * special.erf(z)) - ratio / (
        np.exp(z * z) * special.erfc(z)
    ) - z * np.sqrt(np.pi)  # fmt: skip
    z = brentq(f, 1e-3, 3, xtol=1e-14)
    return z, special.erf(0.5 * z) / special.erf(z)


# Signals, machines, learning.


def kernel_ridge(length, noise):
    """A process with automatic lengths: leave-one-out errors by a triangular solve."""
    X = np.array([[0.0, 0.3], [0.5, 0.1], [1.0, 0.9], [1.4, 0.2], [2.0, 0.7]])
    y = np.sin(X[:, 0]) + X[:, 1]
    d = scipy.spatial.distance.cdist(X / length, X / length, "sqeuclidean")
    K = np.exp(-d / 2) + noise * np.eye(5)
    L = cholesky(K, lower=True)
    half = solve_triangular(L, np.eye(5), lower=True)
    inv = half.T @ half
    return (inv @ y / np.diag(inv)), -0.5 * y @ inv @ y - np.log(np.diag(L)).sum()


def canonical_correlation(a, b):
    """The first canonical pair by a generalised eigenproblem."""
    t = np.linspace(0, 1, 12)
    X = np.column_stack([t, np.sin(5 * t) * a])
    Y = np.column_stack([t**2, np.cos(4 * t) + b * t])
    X, Y = X - X.mean(0), Y - Y.mean(0)
    Sxx, Syy, Sxy = X.T @ X, Y.T @ Y, X.T @ Y
    w = eigh(Sxy @ np.linalg.solve(Syy, Sxy.T), Sxx + 1e-3 * np.eye(2), eigvals_only=True)
    return np.sqrt(w[::-1])


def robust_scatter(df, scale):
    """Tyler-like iterations of a scatter with weights of Student's law."""
    X = np.array([[0.2, 0.1], [1.0, -0.4], [-0.7, 0.9], [2.5, 2.0], [-0.3, -1.1], [0.6, 0.5]])
    S = np.eye(2)
    for _ in range(30):
        d = np.einsum("ij,jk,ik->i", X, np.linalg.inv(S), X) / scale
        w = (df + 2) / (df + d)
        S = (X * w[:, None]).T @ X / len(X)
    return linalg.sqrtm(S).real, stats.multivariate_t(shape=S, df=df).logpdf(X).sum()


def pid_tuned(kp, ki):
    """The cost of a step of a controlled plant by Lyapunov's equation, with its margin."""
    A = np.array([[0.0, 1.0, 0.0], [-1.0, -1.4, 1.0], [-ki, 0.0, 0.0]])
    A = A + np.array([[0, 0, 0], [-kp, 0, 0], [0, 0, 0]])
    X = linalg.solve_continuous_lyapunov(A, -np.diag([1.0, 0.1, 0.0]) - 1e-2 * np.eye(3))
    gain = lambda w: np.abs(np.linalg.inv(1j * w * np.eye(3) - A)[0, 2])
    return np.trace(X), gain(0.7)


def ziv_capacity(power, noise):
    """Water filled into channels: the level is a root of a sum of parts."""
    n = np.array([0.1, 0.25, 0.5, 1.1]) * noise
    level = brentq(lambda mu: np.maximum(mu - n, 0).sum() - power, 0.0, power + n.max(), xtol=1e-14)
    share = np.maximum(level - n, 0)
    return share, np.log2(1 + share / n).sum()


def rician_outage(k, threshold):
    """A fading link: Marcum's function as a non-central law, its mean capacity by quad_vec."""
    cdf = stats.ncx2.cdf(2 * (1 + k) * threshold, 2, 2 * k)
    pdf = lambda g: (1 + k) * np.exp(-k - (1 + k) * g) * special.i0(2 * np.sqrt(k * (1 + k) * g))
    cap = quad_vec(lambda g: pdf(g) * np.log2(1 + np.array([1.0, 10.0]) * g), 0, 12)[0]
    return cdf, cap


def standby(rate, switch):
    """Reliability with a cold spare, its mean life and the best time between inspections."""
    R = lambda t: np.exp(-rate * t) * (1 + switch * rate * t)
    mean, _ = quad(R, 0, np.inf)
    cost = lambda T: (2 + 30 * (1 - R(T))) / quad(R, 0, T)[0]
    best = minimize_scalar(cost, bounds=(0.05, 20), method="bounded", options={"xatol": 1e-10})
    return mean, best.x, best.fun


def sound_absorber(resistivity, depth):
    """Miki's porous layer over a wall, in complex numbers, and its mean over a band."""
    f = np.array([250.0, 500.0, 1000.0, 2000.0])
    X = f / resistivity
    Zc = 1 + 0.0699 * X**-0.632 - 1j * 0.107 * X**-0.632
    k = 2 * np.pi * f / 343 * (1 + 0.109 * X**-0.618 - 1j * 0.160 * X**-0.618)
    Z = -1j * Zc / np.tan(k * depth)
    R = (Z - 1) / (Z + 1)
    return 1 - np.abs(R) ** 2


def thermistor(a, b):
    """A calibration within a loss: Steinhart and Hart's curve with a robust loss."""
    T = constants.zero_Celsius + np.array([0.0, 15, 25, 40, 60])
    R = np.exp(a + b / T * 1000) * (1 + 0.01 * np.array([0, 1, -1, 0.5, 0]))
    model = lambda p: 1000 / (p[0] + p[1] * np.log(R) + p[2] * np.log(R) ** 3 * 1e-3)
    res = least_squares(lambda p: model(p) - T, [1.0, 0.25, 0.1], loss="soft_l1", x_scale="jac",
                        xtol=1e-14, ftol=1e-14, gtol=1e-14, max_nfev=500)  # fmt: skip
    return res.x, model(res.x)[2]


STEPS: dict[str, Callable] = {
    "logit": logit,
    "probit": ndtri,
    "cloglog": lambda p: np.log(-np.log1p(-p)),
}


def links(p, slope):
    """A table of links, each applied and inverted where it has one."""
    x = np.array([p, p / 2])
    out = {name: slope * link(x) for name, link in STEPS.items()}
    return *out.values(), expit(out["logit"]), log_ndtr(out["probit"]), -xlogy(x, x).sum()


SELDOM = [
    (bond_desk, (0.05, 0.004)),
    (svensson, (-0.015, 1.8)),
    (barrier_option, (0.25, 82.0)),
    (variance_gamma, (-0.1, 0.3)),
    (exchange_margrabe, (np.array([0.25, 0.3]), 0.4)),
    (euler_consumption, (0.95, 2.5)),
    (growth_path, (0.33, 0.06)),
    (blp_share, (1.5, 0.8)),
    (transport, (0.7, 35.0)),
    (risk_budget, (1.2, 0.3)),
    (max_entropy_weights, (0.4, 0.9)),
    (steiner_point, (2.0, 2.2)),
    (small_area, (0.2, 0.1)),
    (graded_items, (1.4, 0.2)),
    (tetrachoric, (0.3, 0.35)),
    (stopping_boundary, (2.4, 0.01)),
    (zero_inflated, (0.3, 1.8)),
    (tweedie, (1.5, 1.6)),
    (lives_by_spline, (-3.5, 0.4)),
    (copula_mixture, (1.5, 0.6)),
    (beta_rasch, (2.2, 3.4)),
    (bayes_t_test, (0.5, 0.7)),
    (titration, (1.8e-5, 1.8e-5)),
    (wilson_bubble, (0.3, 0.7)),
    (enzyme_chain, (1.2, 0.4)),
    (chromatogram, (0.35, 0.7)),
    (spectrum_unmixed, (1.4, 0.2)),
    (waveguide, (1.48, 2.0)),
    (multilayer, (60.0, 2.1)),
    (mie_like, (0.9, 1.5)),
    (radiating_fin, (0.8, 1.2)),
    (stefan, (0.6, 0.3)),
    (kernel_ridge, (np.array([0.8, 1.5]), 0.1)),
    (canonical_correlation, (0.6, 0.4)),
    (robust_scatter, (4.0, 1.3)),
    (pid_tuned, (2.0, 0.8)),
    (ziv_capacity, (1.2, 0.7)),
    (rician_outage, (3.0, 0.4)),
    (standby, (0.3, 0.9)),
    (sound_absorber, (15000.0, 0.05)),
    (thermistor, (-4.5, 3.6)),
    (links, (0.3, 1.2)),
]
