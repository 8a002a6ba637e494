"""A logbook: filters, flights, tanks, growth and decay, noted where they were needed."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce

import numpy as np
import scipy.linalg
from scipy import constants, integrate, optimize, special, stats
from scipy.integrate import dblquad, odeint, quad, romb, solve_ivp, trapezoid
from scipy.linalg import (
    LinAlgError,
    block_diag,
    cho_solve,
    eigh,
    expm,
    lu_factor,
    lu_solve,
    qr,
    solve_discrete_are,
    solve_discrete_lyapunov,
    sqrtm,
)
from scipy.optimize import (
    bisect,
    curve_fit,
    fixed_point,
    least_squares,
    lsq_linear,
    minimize,
    minimize_scalar,
    newton,
    root,
)
from scipy.special import ellipk, erfcx, gammainc, hyp2f1, j0, jn_zeros, lambertw, loggamma

TIGHT = {"rtol": 1e-9, "atol": 1e-10}
t_obs = np.linspace(0.5, 4.0, 8)
masses = np.array([1.0, 1.6, 2.5, 3.7, 5.0, 6.1, 6.9, 7.4])


@dataclass(frozen=True)
class Belief:
    mean: np.ndarray
    cov: np.ndarray

    def predict(self, F, Q):
        return replace(self, mean=F @ self.mean, cov=F @ self.cov @ F.T + Q)

    def update(self, z, H, R):
        S = H @ self.cov @ H.T + R
        lu = lu_factor(S)
        K = lu_solve(lu, H @ self.cov, trans=1).T
        r = z - H @ self.mean
        logp = -0.5 * (r @ lu_solve(lu, r) + np.linalg.slogdet(2 * np.pi * S)[1])
        return Belief(self.mean + K @ r, self.cov - K @ S @ K.T), logp


def tracked(q, r):
    """An object-free Kalman filter: a fold over measurements."""
    F, H = np.array([[1, 0.5], [0, 1.0]]), np.eye(2)
    zs = np.stack([masses / 3, np.gradient(masses)], axis=1)

    def step(state, z):
        belief, total = state
        belief, logp = belief.predict(F, q * np.eye(2)).update(z, H, r * np.diag([1, 2.0]))
        return belief, total + logp

    belief, total = reduce(step, zs, (Belief(np.zeros(2), 5 * np.eye(2)), 0.0))
    return belief.mean, np.diag(belief.cov), total


def unscented(q):
    """Sigma points by sqrtm through a turn."""
    m, P = np.array([1.0, 0.5]), np.array([[0.3, 0.1], [0.1, 0.2]])
    L = sqrtm(2 * P).real
    points = np.vstack([m, m + L.T, m - L.T])
    turned = np.array([[p[0] * np.cos(p[1]), p[0] * np.sin(q * p[1])] for p in points])
    w = np.array([0.0] + [0.25] * 4)
    mean = w @ turned
    d = turned - mean
    return mean, (d.T * w) @ d


def steady_filter(q):
    F, H = np.array([[1, 0.1], [0, 0.9]]), np.array([[1.0, 0.0]])
    P = solve_discrete_are(F.T, H.T, q * np.eye(2), np.array([[0.5]]))
    K = P @ H.T / (H @ P @ H.T + 0.5)
    return K.ravel(), solve_discrete_lyapunov((np.eye(2) - K @ H) @ F, np.eye(2))[0, 0]


def finite_horizon(r):
    """Riccati's recursion backwards, then forwards with the gains."""
    A, B = expm(0.2 * np.array([[0, 1.0], [-1, -0.2]])), np.array([[0.02], [0.2]])
    P, gains = np.eye(2), []
    for _ in range(6):
        K = np.linalg.solve(r + B.T @ P @ B, B.T @ P @ A)
        P = A.T @ P @ (A - B @ K) + np.eye(2)
        gains.append(K)
    x = np.array([1.0, 0.0])
    for K in reversed(gains):
        x = A @ x - B @ (K @ x)
    return x, P


def logistic_fit(y):
    model = lambda t, k, r, n0: k / (1 + (k / n0 - 1) * np.exp(-r * t))
    p, _ = curve_fit(model, t_obs, y, p0=(8, 1, 1), bounds=(0, [20, 5, 5]), xtol=1e-14)
    return p[:2], model(5.0, *p)


def gompertz_by_ode(r, k):
    sol = odeint(lambda n, t: r * n * np.log(k / n), 1.0, np.append(0.0, t_obs), **TIGHT)
    return np.sum((sol[1:, 0] - masses) ** 2)


def competition(a12, a21):
    """Two species, and where they would end: root beside solve_ivp."""
    grow = lambda t, n: n * (1 - n - np.array([a12, a21]) * n[::-1])
    sol = solve_ivp(grow, (0, 5), np.array([0.1, 0.2]), t_eval=(1.0, 5.0), **TIGHT)
    rest = root(partial(grow, 0.0), [0.6, 0.6], jac=False, tol=1e-12)
    return sol.y, rest.x


class Tank:
    """A tank that drains: time to empty by an event, height by a closed form's inverse."""

    g = constants.g

    def __init__(self, hole):
        self.hole = hole

    def outflow(self, t, h):
        return -self.hole * np.sqrt(2 * self.g * np.maximum(h, 1e-12))

    def low(self, t, h):
        return h[0] - 0.5

    low.terminal = True

    def time(self):
        return solve_ivp(self.outflow, (0, 100), [2.0], events=self.low, **TIGHT).t_events[0][0]


def drained(hole):
    return Tank(hole).time()


def shot(v, k):
    """Range with drag: the angle that goes furthest, by minimize_scalar within brackets."""

    def reach(angle):
        tf = 2 * v * np.sin(angle) / 9.81
        return v * np.cos(angle) / k * (1 - np.exp(-k * tf))

    best = minimize_scalar(
        lambda a: -reach(a), bounds=(0.1, 1.5), method="bounded", options={"xatol": 1e-10}
    )
    return reach(best.x)


def pendulum(amplitude):
    return 4 * ellipk(np.sin(amplitude / 2) ** 2) / np.sqrt(9.81), bisect(
        lambda a: ellipk(np.sin(a / 2) ** 2) - 1.1 * ellipk(np.sin(amplitude / 2) ** 2),
        0.1,
        3,
        xtol=1e-13,
    )


def colebrook(re, rough):
    x = fixed_point(lambda x: -2 * np.log10(rough / 3.7 + 2.51 * x / re), 8.0, xtol=1e-13)
    return 1 / x**2


def saha(temp):
    """Ionisation by newton with a second derivative."""
    s = np.exp(-1.0 / temp) * temp**1.5
    f = lambda x: x**2 / (1 - x) - s
    d = lambda x: (2 * x - x**2) / (1 - x) ** 2
    dd = lambda x: 2 / (1 - x) ** 3
    return newton(f, 0.4, fprime=d, fprime2=dd, tol=1e-13)


def cooling(params: Sequence[float]):
    """Stefan's cooling by an implicit method, with a jump of the surroundings handled in parts."""
    k, h = params
    rhs = lambda t, T, around: -k * (T**4 - around**4) - h * (T - around)
    first = solve_ivp(rhs, (0, 1), [3.0], method="BDF", args=(1.0,), t_eval=[1.0], **TIGHT)
    second = solve_ivp(rhs, (1, 2), first.y[:, -1], method="BDF", args=(1.5,), t_eval=[2], **TIGHT)
    return first.y[0, 0], second.y[0, 0]


def drum(a):
    modes = jn_zeros(0, 3) / a
    r = np.linspace(0, a, 17)
    return modes, romb(j0(modes[0] * r) ** 2 * r, dx=a / 16)


def plate(a, b):
    out, _ = dblquad(lambda y, x: np.exp(-a * x * y) * np.cos(b * y), 0, 1, 0, lambda x: 1 - x * x)
    return out


def decay_chain(rates):
    """Bateman's chain by a matrix exponential, and its integral by an augmented one."""
    l1, l2 = rates
    A = np.array([[-l1, 0, 0], [l1, -l2, 0], [0, l2, 0]])
    big = block_diag(A, np.zeros((3, 3)))
    big[:3, 3:] = np.eye(3)
    E = expm(1.5 * big)
    return E[:3, 0], E[:3, 3]


def spectrum_fit(y):
    """Non-negative amounts by lsq_linear, of Gaussians' shapes."""
    x = np.linspace(-2, 2, 8)
    shapes = stats.norm.pdf(x[:, None], loc=[-1.0, 0.0, 1.0], scale=0.6)
    res = lsq_linear(shapes, y, bounds=(0, np.inf), tol=1e-14)
    return res.x, res.cost


def variational_oscillator(lam):
    """Ritz: generalised eigenvalues of small matrices, their gap."""
    n = np.arange(5)
    S = 1 / (2.0 * (n[:, None] + n) + 3)
    H = np.outer(n + 1, n + 1) / (n[:, None] + n + 1) + lam * S
    w = eigh(H, S, eigvals_only=True)
    return w[:2], w[1] - w[0]


def line_profile(sigma, gam):
    x = np.linspace(-1, 2, 5)
    z = (x + 1j * gam) / (sigma * np.sqrt(2))
    return (
        special.wofz(z).real / sigma,
        erfcx(gam / sigma),
        trapezoid(special.voigt_profile(x, sigma, gam), x),
    )


def hypergeometric_orbit(e):
    """The circumference of an ellipse, and Kepler's equation over several anomalies."""
    around = np.pi * 2 * hyp2f1(0.5, -0.5, 1, e**2)
    E = [
        newton(lambda E, M=M: E - e * np.sin(E) - M, M, lambda E: 1 - e * np.cos(E), tol=1e-14)
        for M in (0.4, 1.3)
    ]
    return around, np.array(E)


def saturation(i0, n):
    """A diode with series resistance by Lambert's W, compared with least squares."""
    v = np.array([0.3, 0.4, 0.5])
    current = n * 0.026 / 2.0 * lambertw(2 * i0 / (n * 0.026) * np.exp(v / (n * 0.026))).real
    fit = least_squares(lambda p: p[0] + p[1] * v - np.log(current), [0, 1.0], xtol=1e-15)
    return current, fit.x


def phase(z):
    return np.imag(loggamma(0.5 + 1j * z)), gammainc(z, 1.2)


def regularised(y):
    """A discrepancy principle: the weight by brentq over QR solutions."""
    A = np.vander(np.linspace(0, 1, 8), 5)
    Q, R = qr(A, mode="economic")

    def fitted(lam):
        return scipy.linalg.solve(R.T @ R + lam * np.eye(5), R.T @ (Q.T @ y), assume_a="pos")

    misfit = lambda loglam: np.sum((A @ fitted(np.exp(loglam)) - y) ** 2) - 2.5
    lam = optimize.brentq(misfit, -15, 5, xtol=1e-12)
    return np.exp(lam), fitted(np.exp(lam))


def pairs_of_stars(pos):
    """Energies over pairs, a minimum of the potential near the middle by Newton-CG."""
    pts = pos.reshape(3, 2)
    energy = sum(-1 / np.hypot(*(a - b)) for a, b in itertools.combinations(pts, 2))

    def potential(x):
        return np.sum((x - pts) ** 2) + np.sum(np.exp(-np.sum((x - pts) ** 2, axis=1)))

    def slope(x):
        d = x - pts
        return 2 * d.sum(0) - 2 * np.exp(-np.sum(d**2, 1)) @ d

    at = minimize(potential, pts.mean(0), jac=slope, method="Newton-CG", options={"xtol": 1e-12})
    return energy, at.x


def safe_inverse(a):
    """Falls back on a pseudo-inverse where a matrix cannot be factored."""
    M = np.array([[2.0, a], [a, 1.0]])
    try:
        c = scipy.linalg.cho_factor(M)
    except LinAlgError:
        return scipy.linalg.pinvh(M)[0, 0]
    return cho_solve(c, np.ones(2)) @ np.ones(2)


def discounted(rate):
    return integrate.quad_vec(lambda t: np.exp(-rate * t) * np.array([1.0, t]), 0, np.inf)[0], quad(
        lambda t: np.exp(-rate * t) * t**0.5, 0, np.inf, epsabs=1e-12
    )[0]


SELDOM = [
    (tracked, (0.2, 0.4)),
    (unscented, (1.1,)),
    (steady_filter, (0.3,)),
    (finite_horizon, (0.5,)),
    (logistic_fit, (masses,)),
    (gompertz_by_ode, (0.7, 9.0)),
    (competition, (0.5, 0.6)),
    (drained, (0.03,)),
    (shot, (20.0, 0.1)),
    (pendulum, (1.2,)),
    (colebrook, (1e5, 1e-3)),
    (saha, (0.7,)),
    (cooling, (np.array([0.02, 0.3]),)),
    (drum, (1.3,)),
    (plate, (0.7, 1.2)),
    (decay_chain, (np.array([0.8, 0.5]),)),
    (spectrum_fit, (np.array([0.1, 0.4, 0.9, 1.2, 1.1, 0.8, 0.4, 0.1]),)),
    (variational_oscillator, (0.6,)),
    (line_profile, (0.5, 0.3)),
    (hypergeometric_orbit, (0.4,)),
    (saturation, (1e-8, 1.3)),
    (phase, (0.9,)),
    (regularised, (np.array([0.1, 0.8, 0.3, -0.9, 0.2, 1.4, 0.4, 0.9]),)),
    (pairs_of_stars, (np.array([0.0, 0.1, 1.1, 0.2, 0.4, 1.3]),)),
    (safe_inverse, (0.6,)),
    (discounted, (0.4,)),
]
