"""A ward and its laboratory: doses, reactions, populations and equilibria."""

from collections import namedtuple
from functools import cache, partial
from typing import ClassVar

import numpy as np
import scipy.integrate as spi
import scipy.optimize as opt
from scipy import integrate, linalg, optimize, special
from scipy.integrate import cumulative_trapezoid, odeint, quad, simpson, solve_ivp
from scipy.interpolate import CubicSpline, PchipInterpolator
from scipy.optimize import brentq, fsolve, least_squares, root, root_scalar
from scipy.special import expit, lambertw, xlogy

from tests.scipy_programs import kit
from tests.scipy_programs.kit import PRECISE, root_between, trajectory

hours = np.array([0.25, 0.5, 1.0, 2.0, 4.0, 6.0, 8.0, 12.0])
levels = np.array([1.9, 3.1, 4.2, 4.1, 2.9, 1.9, 1.3, 0.55])
counts = np.array([[1.0, 1.35, 1.7, 1.6, 1.1], [0.6, 0.7, 1.05, 1.5, 1.45]])

Patient = namedtuple("Patient", "weight clearance")


def absorption(ka, cl, v):
    """One compartment, oral dose, misfit of measured levels."""
    ke = cl / v
    c = 100 * ka / (v * (ka - ke)) * (np.exp(-ke * hours) - np.exp(-ka * hours))
    resid = (levels - c) / (0.1 + 0.1 * c)
    return np.sum(resid**2), np.trapezoid(c, hours)


def second_dose(ke, threshold):
    """The next dose is given when the level has fallen to a threshold."""
    low = lambda t, y: y[0] - threshold
    low.terminal, low.direction = True, -1
    first = solve_ivp(lambda t, y: -ke * y, (0, 50), [10.0], events=low, **PRECISE)
    again = first.t_events[0][0]
    start = first.y_events[0][0] + np.array([5.0])
    second = solve_ivp(lambda t, y: -ke * y, (0.0, 3.0), start, t_eval=[1.0, 3.0], **PRECISE)
    return again, second.y[0]


def infusion_stopped(rate, ke):
    """Rate during two hours, then none, in two calls joined by hand."""

    def body(t, c, r):
        return r - ke * c / (1 + 0.1 * c)

    on = odeint(body, 0.0, [0, 1, 2.0], args=(rate,), tfirst=True, **PRECISE)
    off = odeint(body, on[-1], [2, 3, 5.0], args=(0.0,), tfirst=True, **PRECISE)
    return np.vstack([on, off[1:]]).ravel()


class TargetMediated:
    """Drug, target and complex: stiff."""

    y0: ClassVar = [2.0, 1.0, 0.0]

    def __init__(self, kon, koff, kint):
        self.kon, self.koff, self.kint = kon, koff, kint

    def rhs(self, t, y):
        drug, target, both = y
        bind = self.kon * drug * target - self.koff * both
        return np.array([-0.2 * drug - bind, 0.3 - 0.3 * target - bind, bind - self.kint * both])

    def jac(self, t, y):
        drug, target, _ = y
        kon, koff = self.kon, self.koff
        return np.array(
            [
                [-0.2 - kon * target, -kon * drug, koff],
                [-kon * target, -0.3 - kon * drug, koff],
                [kon * target, kon * drug, -koff - self.kint],
            ]
        )

    def solve(self, times, method):
        return integrate.solve_ivp(
            self.rhs, (0, times[-1]), self.y0, method, times, jac=self.jac, **PRECISE
        )


def target_mediated(kon, koff):
    return TargetMediated(kon, koff, 0.4).solve([0.5, 2.0, 5.0], "BDF").y[:, 1:].ravel()


def target_by_radau(kon):
    free = TargetMediated(kon, 0.1, 0.4).solve([1.0, 4.0], method="Radau").y[1]
    return free.min() / free.max()


def dose_for_peak(target, ka):
    """The dose that reaches a peak, by brentq on a simulation."""

    def peak(dose):
        t = np.log(ka / 0.3) / (ka - 0.3)
        return dose * ka / (ka - 0.3) * (np.exp(-0.3 * t) - np.exp(-ka * t)) - target

    return root_between(peak, 0.1, 100)


def receptor(kd, total):
    """Ligand depletion: a quadratic solved by root_scalar with derivatives."""
    f = lambda x: (x - 2.0) * (x - total) - kd * x
    sol = root_scalar(f, x0=0.3, fprime=lambda x: 2 * x - 2.0 - total - kd, method="newton")
    assert sol.converged
    return sol.root / total


def emax_fit(y):
    """Hill's curve by least_squares; its prediction at a new dose."""
    dose = np.array([0.5, 1.0, 2.0, 4.0, 8.0, 16.0])

    def curve(p, d):
        return p[0] * d ** p[2] / (p[1] ** p[2] + d ** p[2])

    fit = least_squares(
        lambda p: curve(p, dose) - y, [8.0, 2.0, 1.0], xtol=1e-14, ftol=1e-14, gtol=1e-13
    )
    return curve(fit.x, 3.0), fit.cost


def michaelis_by_lambert(vmax, km):
    """The closed form of the substrate's course."""
    s0, t = 5.0, np.linspace(0.1, 4, 6)
    return km * lambertw(s0 / km * np.exp((s0 - vmax * t) / km)).real


def auc_of_spline(c):
    spline = CubicSpline(hours, c, bc_type="natural")
    return spline.integrate(0.25, 12.0), spline(3.0), spline(3.0, 1)


def auc_log_trapezoid(c):
    up = np.diff(c) >= 0
    dt = np.diff(hours)
    linear = dt * (c[1:] + c[:-1]) / 2
    with np.errstate(all="ignore"):
        logs = dt * (c[:-1] - c[1:]) / np.log(c[:-1] / c[1:])
    terminal = np.polyfit(hours[-3:], np.log(c[-3:]), 1)[0]
    return np.where(up, linear, logs).sum() + c[-1] / -terminal


def predators_misfit(pars):
    return 0.5 * np.sum((trajectory(pars, np.linspace(0, 4, 5)) - counts) ** 2)


def predators_two_ways(pars):
    t = np.linspace(0, 3, 4)
    return kit.by_odeint(pars, t)[:, 1:].ravel(), trajectory(pars, t, method="DOP853")[:, -1]


def rosenzweig(k, m):
    """Holling's second type: the equilibrium by fsolve, its stability by eigenvalues."""

    def rhs(z):
        n, p = z
        eaten = n / (1 + 0.5 * n) * p
        return [n * (1 - n / k) - eaten, 0.8 * eaten - m * p]

    n, p = fsolve(rhs, [0.8, 0.7], xtol=1e-13)
    J = np.array(
        [
            [1 - 2 * n / k - p / (1 + 0.5 * n) ** 2, -n / (1 + 0.5 * n)],
            [0.8 * p / (1 + 0.5 * n) ** 2, 0.8 * n / (1 + 0.5 * n) - m],
        ]
    )
    return n, p, linalg.eigvals(J).real.max()


def chain_of_food(r):
    """Three levels, integrated by LSODA with dense output."""

    def rhs(t, u):
        x, y, z = u
        return np.array([x * (r - x - y), y * (x - 0.3 - z), z * (y - 0.2)])

    sol = solve_ivp(rhs, (0, 6), [0.8, 0.4, 0.3], method="LSODA", dense_output=True, **PRECISE)
    return sol.sol(np.array([1.5, 3.3, 6.0])).ravel()


def vaccination(beta, v):
    """SIR with shots; the peak by event, and the final size."""

    def rhs(t, y, beta, v):
        s, i = y
        return beta * -s * i - v * s, beta * s * i - 0.4 * i

    top = lambda t, y, beta, v: beta * y[0] - 0.4
    sol = spi.solve_ivp(rhs, (0, 30), (0.99, 0.01), args=(beta, v), events=[top], **PRECISE)
    return sol.t_events[0], sol.y_events[0][0, 1], sol.y[0, -1]


def basic_number(beta):
    """Next generation matrix of three ages."""
    contact = np.array([[3.0, 1.0, 0.5], [1.0, 2.0, 0.7], [0.5, 0.7, 1.0]])
    w = linalg.eigvals(beta[:, None] * contact / 4.0)
    return np.abs(w).max()


def growth_rate(m):
    """Euler and Lotka: r of a life table by brentq, and the generation's length."""
    age = np.arange(1, 6)
    l = np.exp(-0.3 * age)
    r = brentq(lambda r: np.sum(np.exp(-r * age) * l * m) - 1, -1, 3, xtol=1e-14)
    return r, np.sum(age * np.exp(-r * age) * l * m)


def leslie(fecundity, survival):
    L = np.zeros((4, 4))
    L[0] = fecundity
    L[np.arange(1, 4), np.arange(3)] = survival
    w, v = linalg.eig(L)
    k = np.argmax(w.real)
    stable = np.abs(v[:, k].real)
    return w[k].real, stable / stable.sum()


def buffer(pka, conc):
    """Charge balance on a logarithmic scale by brentq."""

    def charge(ph):
        h = 10.0**-ph
        ka = 10.0**-pka
        return h + 0.05 - 1e-14 / h - np.sum(conc * ka / (ka + h))

    return brentq(charge, 0, 14, xtol=1e-13)


def complexation(logk):
    """Metal and two ligands: root with hybr in logarithms, then lm."""
    total = np.array([1e-3, 2e-3, 1e-3])

    def residual(u):
        m, a, b = np.exp(u)
        ma, mb = 10 ** logk[0] * m * a, 10 ** logk[1] * m * b
        return np.array([m + ma + mb, a + ma, b + mb]) / total - 1

    first = root(residual, np.log(total) - 1, method="hybr", tol=1e-13)
    second = root(residual, first.x, method="lm", options={"xtol": 1e-14, "ftol": 1e-14})
    return first.x, second.x.sum()


def flame(tau):
    """Ignition: quad of a reciprocal rate."""
    return quad(lambda x: 1 / (x**2 * (1 - x) + tau), 0.05, 0.95, epsabs=1e-12, epsrel=1e-12)[0]


def diffusion_column(k, n=12):
    """Method of lines with a banded Jacobian."""
    dx = 1 / (n + 1)

    def rhs(t, u):
        padded = np.concatenate(([1.0], u, [0.0]))
        return k * np.diff(padded, 2) / dx**2

    return solve_ivp(
        rhs, [0, 0.3], np.zeros(n), "LSODA", [0.1, 0.3], lband=1, uband=1, **PRECISE
    ).y.T[-1]


def thiele(phi):
    """A catalyst's pellet by solve_bvp."""
    x = np.linspace(0, 1, 21)

    def fun(x, y):
        return np.vstack((y[1], phi**2 * y[0] ** 1.5))

    sol = integrate.solve_bvp(
        fun, lambda a, b: np.array([a[1], b[0] - 1]), x, np.ones((2, 21)), tol=1e-8
    )
    return sol.sol(1.0)[1] / phi**2, sol.sol(0.0)[0]


def gas_exchange(p):
    """Severinghaus' curve inverted by Newton, then its mean by simpson."""
    sat = lambda o: 1 / (23400 / (o**3 + 150 * o) + 1)
    half = optimize.newton(lambda o: sat(o) - 0.5 * p, 25.0, tol=1e-12)
    o = np.linspace(20, 100, 41)
    return half, simpson(sat(o * p), x=o)


@cache
def nodes(n):
    return special.roots_laguerre(n)


def mean_exposure(a, b):
    """A mean over gamma distributed clearances by Gauss' rule."""
    x, w = nodes(20)
    return np.sum(w * x ** (a - 1) * np.exp(-b * x / (1 + x))) / special.gamma(a)


def individual(eta, omega):
    """A patient's posterior mode by a nested minimisation."""
    patient = Patient(70.0, 2.0)

    def objective(e, scale):
        c = 10 * np.exp(-patient.clearance * np.exp(e) / 20 * hours)
        return np.sum((np.log(c) - np.log(levels) - eta) ** 2) + (e / scale) ** 2

    best = opt.minimize_scalar(partial(objective, scale=omega), bracket=(-1, 1), tol=1e-10)
    return best.x


def washout(k):
    flow = PchipInterpolator([0, 1, 2, 4], np.array([0.5, 1.0, 0.8, 0.3]) * k)
    t = np.linspace(0, 4, 30)
    fallen = np.exp(-cumulative_trapezoid(flow(t), t, initial=0))
    return fallen[[7, 15, -1]], flow.antiderivative()(4.0)


def information_of_design(theta):
    """D-optimality of a sampling design, the matrix by closed slopes."""
    f = expit(theta[0] + theta[1] * np.array([-2.0, -1.0, 0.5, 1.5]))
    rows = np.stack([np.ones(4), np.array([-2.0, -1.0, 0.5, 1.5])])
    M = (rows * f * (1 - f)) @ rows.T
    return linalg.det(M), -np.sum(xlogy(f, f))


def bouncing_dose(f, n=3):
    """Boluses by events that a loop restarts."""
    state, t, seen = np.array([4.0, 0.0]), 0.0, []

    def rhs(t, y):
        return [-f * y[0], f * y[0] - 0.3 * y[1]]

    def filled(t, y):
        return y[1] - 1.5

    filled.terminal = True
    filled.direction = -1.0
    for _ in range(n):
        sol = solve_ivp(rhs, [t, t + 40], state, events=filled, **PRECISE)
        t, state = sol.t[-1], sol.y[:, -1]
        seen.append(t)
        state = state + np.array([3.0, 0.0])
    return np.array(seen)


SELDOM = [
    (absorption, (1.1, 3.5, 18.0)),
    (second_dose, (0.3, 2.0)),
    (infusion_stopped, (2.0, 0.6)),
    (target_mediated, (3.0, 0.1)),
    (target_by_radau, (3.0,)),
    (dose_for_peak, (5.0, 1.2)),
    (receptor, (0.4, 1.1)),
    (emax_fit, (np.array([1.7, 2.8, 4.6, 6.2, 7.6, 8.3]),)),
    (michaelis_by_lambert, (1.3, 0.9)),
    (auc_of_spline, (levels,)),
    (auc_log_trapezoid, (levels,)),
    (predators_misfit, (np.array([0.9, 0.8, 0.7, 0.6]),)),
    (predators_two_ways, (np.array([0.9, 0.8, 0.7, 0.6]),)),
    (rosenzweig, (3.0, 0.5)),
    (chain_of_food, (1.4,)),
    (vaccination, (1.3, 0.01)),
    (basic_number, (np.array([1.2, 0.9, 0.7]),)),
    (growth_rate, (np.array([0.0, 0.8, 1.2, 0.9, 0.3]),)),
    (leslie, (np.array([0.0, 1.2, 1.6, 0.4]), np.array([0.5, 0.6, 0.4]))),
    (buffer, (np.array([2.1, 7.2, 12.3]), np.array([0.03, 0.04, 0.03]))),
    (complexation, (np.array([4.1, 3.2]),)),
    (flame, (0.02,)),
    (diffusion_column, (0.7,)),
    (thiele, (1.3,)),
    (gas_exchange, (1.05,)),
    (mean_exposure, (2.3, 0.8)),
    (individual, (0.1, 0.3)),
    (washout, (np.array([1.1, 0.9, 1.0, 1.2]),)),
    (information_of_design, (np.array([0.2, 1.1]),)),
    (bouncing_dose, (0.9,)),
]
