"""A plant's notebooks: control, kinetics, equilibria, reliability, queues and fields."""

import numpy as np
import scipy.linalg as la
from scipy import constants, integrate, optimize, signal, special, stats
from scipy.integrate import solve_bvp, solve_ivp
from scipy.linalg import expm, solve_continuous_are, solve_continuous_lyapunov
from scipy.optimize import curve_fit, least_squares, root
from scipy.spatial.distance import cdist
from scipy.special import ellipk, gammainc, jn_zeros, jv, kv

R_GAS = constants.R
rng = np.random.default_rng(11)
SITES = rng.uniform(0, 3, size=(10, 2))
HEIGHTS = np.sin(SITES[:, 0]) + 0.2 * SITES[:, 1]
LIVES = np.array([105.0, 230.0, 310.0, 480.0, 720.0])


# Control.


class Pendulum:
    def __init__(self, m, l, b):
        self.m, self.l, self.b = m, l, b

    def linear(self):
        g = constants.g
        A = np.array([[0.0, 1.0], [g / self.l, -self.b / (self.m * self.l**2)]])
        return A, np.array([[0.0], [1 / (self.m * self.l**2)]])

    def simulate(self, K, x0):
        def f(t, x):
            u = -(K @ x)[0]
            acc = constants.g / self.l * np.sin(x[0]) + (u - self.b * x[1]) / (self.m * self.l**2)
            return np.array([x[1], acc])

        return solve_ivp(f, (0, 2), x0, rtol=1e-8, atol=1e-10, t_eval=np.linspace(0, 2, 9)).y


def upright(m, l, q):
    p = Pendulum(m, l, 0.1)
    A, B = p.linear()
    P = solve_continuous_are(A, B, np.diag([q, 1.0]), np.eye(1))
    K = B.T @ P
    path = p.simulate(K, [0.2, 0.0])
    return np.sum(path**2), la.eigvals(A - B @ K).real.max()


def lqg_cost(q, r):
    A = np.array([[1.0, 0.1], [0.0, 0.95]])
    B, C = np.array([[0.0], [0.1]]), np.array([[1.0, 0.0]])
    P = la.solve_discrete_are(A, B, np.eye(2), r * np.eye(1))
    S = la.solve_discrete_are(A.T, C.T, q * np.eye(2), np.eye(1))
    L = S @ C.T @ la.inv(C @ S @ C.T + np.eye(1))
    return np.trace(P @ (q * np.eye(2))) + np.trace(L @ L.T)


def balanced_truncation(k):
    A = np.array([[-1.0, k, 0.0], [-k, -2.0, 0.5], [0.0, 0.3, -4.0]])
    B, C = np.array([[1.0], [0.5], [0.2]]), np.array([[1.0, 0.0, 0.4]])
    Wc = solve_continuous_lyapunov(A, -B @ B.T)
    Wo = solve_continuous_lyapunov(A.T, -C.T @ C)
    hankel = np.sqrt(np.sort(la.eigvals(Wc @ Wo).real)[::-1])
    return hankel, 2 * hankel[2]


def zero_order_hold(a, dt):
    A, B = np.array([[0.0, 1.0], [-a, -0.4]]), np.array([[0.0], [1.0]])
    M = np.zeros((3, 3))
    M[:2, :2], M[:2, 2:] = A, B
    E = expm(M * dt)
    x = np.zeros(2)
    for _ in range(6):
        x = E[:2, :2] @ x + E[:2, 2]
    return x, signal.cont2discrete((A, B, np.eye(2), np.zeros((2, 1))), dt)[1][:, 0]


def margin(k, T):
    """The phase margin at the crossover, found by a root."""
    loop = lambda w: k / (1j * w * (1j * w * T + 1) * (1j * w + 1))
    w = optimize.brentq(lambda w: np.abs(loop(w)) - 1, 1e-2, 10, xtol=1e-14)
    return w, np.pi + np.angle(loop(w))


def extended_filter(q, r):
    """An extended Kalman filter on a pendulum's angles."""
    x, P, ll = np.array([0.5, 0.0]), np.eye(2), 0.0
    for z in 0.5 * np.cos(3 * 0.1 * np.arange(1, 9)):
        F = np.array([[1.0, 0.1], [-0.98 * np.cos(x[0]), 1.0]])
        x = np.array([x[0] + 0.1 * x[1], x[1] - 0.98 * np.sin(x[0])])
        P = F @ P @ F.T + q * np.eye(2)
        S = P[0, 0] + r
        K, v = P[:, 0] / S, z - x[0]
        ll = ll + stats.norm.logpdf(v, 0, np.sqrt(S))
        x = x + K * v
        P = (np.eye(2) - np.outer(K, [1.0, 0.0])) @ P
    return ll, x


# Kinetics and equilibria.


def arrhenius_fit(ea, log_a):
    """Rates at three temperatures, fitted by `curve_fit` on their logarithms."""
    T = np.array([300.0, 330.0, 360.0, 400.0])
    k = np.exp(log_a - ea * 1e3 / (R_GAS * T)) * (1 + 0.05 * np.cos(T))
    p, cov = curve_fit(lambda x, a, b: a - b * x, 1000 / T, np.log(k))
    return p, np.sqrt(np.diag(cov))


def stirred_tank(da, b):
    """The steady states of an exothermic reactor, from two starting points."""
    f = lambda x: -x + da * (1 - x) * np.exp(b * x / (1 + 0.05 * b * x))
    return np.array([optimize.brentq(f, lo, hi, xtol=1e-15) for lo, hi in ((0, 0.3), (0.7, 1.0))])


def plug_flow(k, ea):
    def rhs(z, u):
        c, T = u
        rate = k * c * np.exp(-ea * (1 / T - 1))
        return [-rate, 0.5 * rate - 0.8 * (T - 0.9)]

    s = solve_ivp(rhs, (0, 2), [1.0, 1.0], method="Radau", rtol=1e-9, atol=1e-11, dense_output=True)
    hot = s.sol(np.linspace(0, 2, 11))[1]
    return s.y[0, -1], hot.max(), hot[4]


def autocatalysis(k):
    s = solve_ivp(lambda t, y: [-k[0] * y[0] * y[1], k[0] * y[0] * y[1] - k[1] * y[1]], (0, 6),
                  [1.0, 0.05], method="BDF", t_eval=[1.0, 3.0, 6.0], rtol=1e-9, atol=1e-12
                  )  # fmt: skip
    return s.y[1]


def flash(K, z):
    """Rachford and Rice, and the phases' compositions."""
    z = z / z.sum()
    v = optimize.brentq(lambda v: np.sum(z * (K - 1) / (1 + v * (K - 1))), 0.0, 1.0, xtol=1e-15)
    x = z / (1 + v * (K - 1))
    return v, x, K * x


def bubble_point(x, a):
    """Margules' liquid: the temperature at which the pressures sum to one."""
    g = np.exp(a * np.array([1 - x, x]) ** 2)
    sat = lambda T: 10 ** (np.array([4.02, 4.13]) - np.array([1064.0, 1235.0]) / (T - 44.0))
    T = optimize.newton(lambda T: np.array([x, 1 - x]) @ (g * sat(T)) - 1.0, 340.0, tol=1e-12)
    return T, x * g[0] * sat(T)[0]


def acid_base(pka, c):
    """The pH of a weak polyprotic acid."""
    ka = 10.0**-pka

    def charge(ph):
        h = 10.0**-ph
        terms = np.array([h * h, ka[0] * h, ka[0] * ka[1]])
        frac = terms / terms.sum()
        return h - 1e-14 / h - c * (frac[1] + 2 * frac[2])

    return optimize.brentq(charge, 0, 14, xtol=1e-14)


def van_der_waals(T, a):
    """The saturation pressure by Maxwell's equal areas."""
    p = lambda v: 8 * T / (3 * v - 1) - a / v**2
    area = lambda v: 8 * T / 3 * np.log(3 * v - 1) + a / v

    def eqs(u):
        vl, vg = u
        return [p(vl) - p(vg), area(vg) - area(vl) - p(vl) * (vg - vl)]

    sol = root(eqs, [0.6, 2.3], tol=1e-13)
    return sol.x, p(sol.x[0])


def langmuir_two_sites(q):
    x = np.array([0.1, 0.4, 1.0, 2.5, 6.0])
    y = q[0] * x / (1 + x) + q[1] * x / (5 + x) + 0.01 * np.sin(5 * x)
    r = least_squares(lambda p: p[0] * x / (p[1] + x) - y, [1.0, 1.0], method="lm", xtol=1e-14,
                      ftol=1e-14)  # fmt: skip
    return r.x, 2 * r.cost


# Reliability and queues.


def bathtub(a, b):
    H = lambda t: (t / b[0]) ** a[0] + (t / b[1]) ** a[1]
    S = lambda t: np.exp(-H(t))
    mttf = integrate.quad(S, 0, np.inf)[0]
    b10 = optimize.brentq(lambda t: S(t) - 0.9, 1e-6, 10, xtol=1e-14)
    return mttf, b10


def k_of_n(lam, k_over):
    p = np.exp(-lam * 2.0)
    return stats.binom.sf(1, 4, p), special.bdtrc(2, 5, p), special.betainc(2, 3, p) * k_over


def warranty(shape, scale):
    """The expected renewals by a discretised renewal equation."""
    F = stats.weibull_min.cdf(np.linspace(0, 1.5, 31), shape, scale=scale)
    f = np.diff(F)
    m = [0.0]
    for i in range(1, 31):
        m.append(F[i] + np.sum(f[:i] * np.array(m[:i])[::-1]))
    return m[-1]


def maximum_likelihood_weibull(times):
    """The shape from its score equation."""
    t = np.asarray(times)
    score = lambda k: 1 / k + np.log(t).mean() - np.sum(t**k * np.log(t)) / np.sum(t**k)
    k = optimize.root_scalar(score, bracket=[0.2, 20], method="toms748", xtol=1e-14).root
    return k, np.mean(t**k) ** (1 / k)


def erlang_c(rate, mu):
    c, a = 5, rate / mu
    terms = np.exp(np.arange(c) * np.log(a) - special.gammaln(np.arange(c) + 1))
    top = np.exp(c * np.log(a) - special.gammaln(c + 1)) * c / (c - a)
    wait = top / (terms.sum() + top)
    return wait, wait / (c * mu - rate), special.gammaincc(c, a)


def phase_type_queue(rate, mu):
    """Waiting in a queue of which the service has three phases: a generator's null space."""
    Q = np.diag(np.full(3, rate), 1) - np.diag([rate, rate + mu, rate + mu, mu])
    Q = Q + np.diag(np.full(3, mu), -1)
    pi = la.lstsq(np.vstack([Q.T, np.ones(4)]), np.array([0.0, 0, 0, 0, 1]))[0]
    return pi, pi @ np.arange(4)


def rate_matrix(lam, mu):
    """A quasi-birth-death process: the matrix R by iteration."""
    A0, A1 = lam * np.eye(2), np.array([[-lam - mu, 0.3], [0.2, -lam - 2 * mu]])
    A1 = A1 - np.diag([0.3, 0.2])
    A2 = np.diag([mu, 2 * mu])
    R = np.zeros((2, 2))
    inv = la.inv(-A1)
    for _ in range(60):
        R = (A0 + R @ R @ A2) @ inv
    return R, np.abs(la.eigvals(R)).max()


# Fields and shapes.


def kriged(length, nugget):
    """Universal kriging with a Matern covariance."""
    d = cdist(SITES, SITES) + 1e-9
    s = np.sqrt(5) * d / length
    K = 2.0 ** (1 - 2.5) / special.gamma(2.5) * s**2.5 * kv(2.5, s)
    K = np.where(np.eye(10, dtype=bool), 1 + nugget, K)
    F = np.column_stack([np.ones(10), SITES])
    c = la.cho_factor(K)
    b = la.solve(F.T @ la.cho_solve(c, F), F.T @ la.cho_solve(c, HEIGHTS), assume_a="pos")
    res = HEIGHTS - F @ b
    return b, res @ la.cho_solve(c, res) + 2 * np.sum(np.log(np.diag(c[0])))


def fin(m, tip):
    def rhs(x, y):
        return np.vstack((y[1], m**2 * y[0] * (1 + 0.1 * y[0])))

    def bc(ya, yb):
        return np.array([ya[0] - 1, yb[1] + tip * yb[0]])

    x = np.linspace(0, 1, 11)
    sol = solve_bvp(rhs, bc, x, np.ones((2, 11)), tol=1e-9)
    return -sol.sol(0.0)[1], sol.sol(1.0)[0]


def membrane(r, t):
    """A drum that was struck: a series of Bessel functions."""
    z = jn_zeros(0, 6)
    c = 2 * jv(1, 0.3 * z) / (z * jv(1, z) ** 2)
    return np.sum(c * jv(0, z * r) * np.cos(z * t)), ellipk(r**2), gammainc(1.5, t)


PROGRAMS = [
    (k_of_n, (0.2, 1.1)),
    (erlang_c, (3.6, 1.0)),
    (membrane, (0.4, 0.7)),
]

# Asked with a large budget.
SELDOM = [
    (upright, (0.5, 0.8, 2.0)),
    (lqg_cost, (0.2, 0.5)),
    (balanced_truncation, (1.5,)),
    (zero_order_hold, (2.0, 0.3)),
    (margin, (1.2, 0.4)),
    (extended_filter, (0.01, 0.05)),
    (arrhenius_fit, (45.0, 12.0)),
    (stirred_tank, (0.012, 12.0)),
    (plug_flow, (1.3, 6.0)),
    (autocatalysis, (np.array([3.0, 0.4]),)),
    (flash, (np.array([2.5, 1.2, 0.3]), np.array([0.4, 0.3, 0.3]))),
    (bubble_point, (0.4, 0.7)),
    (acid_base, (np.array([2.1, 7.2]), 0.1)),
    (van_der_waals, (0.9, 3.0)),
    (langmuir_two_sites, (np.array([1.2, 0.5]),)),
    (bathtub, (np.array([0.7, 4.0]), np.array([3.0, 2.0]))),
    (warranty, (1.8, 1.1)),
    (maximum_likelihood_weibull, (LIVES / 100,)),
    (phase_type_queue, (0.8, 1.2)),
    (rate_matrix, (0.6, 0.9)),
    (kriged, (1.5, 0.1)),
    (fin, (1.4, 0.2)),
]
