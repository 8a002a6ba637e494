"""Finance, biology, physics: integrals, differential equations, roots and fits inside of others."""

import numpy as np
import scipy.integrate as si
from scipy import integrate, optimize, special
from scipy.integrate import odeint, quad, solve_bvp, solve_ivp
from scipy.optimize import brentq, curve_fit, least_squares, minimize, root
from scipy.special import ndtr
from scipy.stats import norm

from tests.scipy_programs import helpers
from tests.scipy_programs.helpers import Dose, implied, simulate

TIMES = np.linspace(0.0, 3.0, 5)
FINE = {"rtol": 1e-9, "atol": 1e-10}


def black_scholes(spot, strike, sigma, t=0.5, rate=0.02):
    d1 = (np.log(spot / strike) + (rate + sigma**2 / 2) * t) / (sigma * np.sqrt(t))
    return spot * ndtr(d1) - strike * np.exp(-rate * t) * ndtr(d1 - sigma * np.sqrt(t))


def implied_volatility(price, strike):
    return implied(price, lambda v: black_scholes(1.0, strike, v))


def heston(v0, kappa, theta, xi, rho):
    """The price of a call by Gil-Pelaez: two integrals of the characteristic function."""
    spot, strike, t = 1.0, 1.05, 0.7

    def phi(u):
        d = np.sqrt((rho * xi * u * 1j - kappa) ** 2 + xi**2 * (u * 1j + u**2))
        m = kappa - rho * xi * u * 1j - d
        g = m / (kappa - rho * xi * u * 1j + d)
        e = np.exp(-d * t)
        C = kappa * theta / xi**2 * (m * t - 2 * np.log((1 - g * e) / (1 - g)))
        return np.exp(C + m / xi**2 * (1 - e) / (1 - g * e) * v0 + 1j * u * np.log(spot))

    def probability(shift, scale):
        f = lambda u: np.real(
            np.exp(-1j * u * np.log(strike)) * phi(u - shift * 1j) / (1j * u * scale)
        )
        return 0.5 + quad(f, 1e-9, 80.0, limit=200, epsabs=1e-11)[0] / np.pi

    return spot * probability(1, spot) - strike * probability(0, 1)


def yield_of_bond(price, coupon):
    flows = np.array([coupon] * 4 + [1.0 + coupon])
    years = np.arange(1.0, 6.0)
    return optimize.newton(lambda y: np.sum(flows / (1 + y) ** years) - price, 0.05, tol=1e-13)


def nelson_siegel(b, tau):
    def discount(t):
        rate = lambda s: b[0] + b[1] * np.exp(-s / tau) + b[2] * s / tau * np.exp(-s / tau)
        return np.exp(-quad(rate, 0, t)[0])

    return sum(discount(t) for t in (1.0, 2.0, 5.0))


def frontier(mu, risk):
    """Markowitz's weights, with none below zero."""
    S = np.array([[0.1, 0.02, 0.01], [0.02, 0.08, 0.03], [0.01, 0.03, 0.15]])
    found = minimize(
        lambda w: risk * w @ S @ w - mu @ w,
        np.ones(3) / 3,
        jac=lambda w: 2 * risk * S @ w - mu,
        method="SLSQP",
        bounds=[(0, 1)] * 3,
        tol=1e-13,
        constraints={"type": "eq", "fun": lambda w: np.sum(w) - 1},
    )
    return found.x


def predators(rates):
    return simulate(rates, TIMES)


def predators_by_odeint(y0, a):
    slope = lambda y, t: np.array([a * y[0] - y[0] * y[1], 0.6 * y[0] * y[1] - 0.8 * y[1]])
    return odeint(slope, y0, TIMES, rtol=1e-10, atol=1e-10)


def misfit_of_predators(rates):
    seen = np.array([[2.0, 1.6, 1.0, 0.9, 1.2], [1.0, 1.4, 1.3, 0.9, 0.6]])
    return np.sum((helpers.simulate(rates, TIMES) - seen) ** 2)


def time_of_peak(ka, ke):
    """When the concentration in blood is highest."""
    dose = Dose(10.0, ka, ke)

    def peak(t, y):
        return dose.slope(t, y)[1]

    peak.direction = -1
    return dose.run(12.0, events=peak).t_events[0][0]


def exposure(ka, ke):
    """The area under the curve up to 8 hours."""
    sol = Dose(10.0, ka, ke).run(9.0)
    t = np.linspace(0, 8, 21)
    return integrate.simpson(sol.sol(t)[1], x=t)


def doses(rate, amount):
    """Three doses, one after the other."""
    y = np.array([amount, 0.0])
    for _ in range(3):
        sol = solve_ivp(
            lambda t, y: [-1.1 * y[0], 1.1 * y[0] - rate * y[1]],
            (0, 4.0),
            y,
            method="DOP853",
            **FINE,
        )
        y = sol.y[:, -1] + np.array([amount, 0.0])
    return y


def bounce(height, restitution):
    """The time of the second impact of a ball."""

    def ground(t, y):
        return y[0]

    ground.terminal, ground.direction = True, -1
    fall = lambda t, y: [y[1], -9.81]
    first = solve_ivp(fall, (0, 5), [height, 0.0], events=ground, **FINE)
    speed = -restitution * first.y_events[0][0][1]
    second = solve_ivp(fall, (0, 5), [1e-12, speed], events=ground, **FINE)
    return first.t_events[0][0] + second.t_events[0][-1]


def epidemic(beta, gamma):
    def slope(t, y):
        s, i, _ = y
        return np.array([-beta * s * i, beta * s * i - gamma * i, gamma * i])

    sol = solve_ivp(
        slope, [0, 20], np.array([0.99, 0.01, 0.0]), method="LSODA", t_eval=[10, 20], **FINE
    )
    return sol.y[2]


def final_size(r0):
    """The root of the equation for those who were never infected."""
    return 1 - optimize.root_scalar(lambda s: np.log(s) - r0 * (s - 1), bracket=(1e-9, 0.9)).root


def reaction(k):
    """Robertson's stiff reaction, for a short time."""

    def slope(t, y):
        a, b = k[0] * y[0], k[1] * y[1] * y[2]
        c = k[2] * y[1] ** 2
        return np.array([-a + b, a - b - c, c])

    sol = solve_ivp(slope, (0, 0.3), [1.0, 0.0, 0.0], method="Radau", rtol=1e-8, atol=1e-10)
    return sol.y[2, -1]


def period_of_pendulum(amplitude, length):
    m = np.sin(amplitude / 2) ** 2
    return 4 * np.sqrt(length / 9.81) * special.ellipk(m)


def arc(a, b):
    return si.quad(lambda t: np.sqrt((a * np.sin(t)) ** 2 + (b * np.cos(t)) ** 2), 0, 2 * np.pi)[0]


def blackbody(temperature):
    """The share of radiation that is visible."""
    planck = lambda x: x**3 / np.expm1(x)
    low, high = 14387.8 / 0.7 / temperature, 14387.8 / 0.4 / temperature
    return quad(planck, low, high)[0] * 15 / np.pi**4


def double_integral(a, b):
    return integrate.dblquad(lambda y, x: np.exp(-a * x**2 - b * y**2), 0, 1, 0, lambda x: x)[0]


def hanging_chain(weight):
    slope = lambda x, y: np.vstack([y[1], weight * np.sqrt(1 + y[1] ** 2)])
    ends = lambda a, b: np.array([a[0] - 1, b[0] - 1])
    x = np.linspace(0, 1, 11)
    sol = solve_bvp(slope, ends, x, np.vstack([np.ones(11), np.zeros(11)]), tol=1e-8)
    return sol.sol(0.5)[0]


def market(a, elasticity):
    """Prices at which two goods are sold out."""

    def excess(p):
        demand = a * p**-elasticity + 0.2 * p[::-1]
        return demand - np.array([1.0, 1.5]) * p

    return root(excess, np.ones(2), tol=1e-12).x


def nash(cost):
    """Cournot's quantities, each the best answer to the other."""

    def answer(q):
        return np.maximum((10.0 - cost - q[::-1]) / 2, 0)

    return optimize.fixed_point(answer, np.array([1.0, 1.0]), xtol=1e-12)


def equilibrium(ka, total):
    """The concentration of protons in a solution of a weak acid."""
    return brentq(lambda h: h - 1e-3 / h - ka * total / (h + ka), 1e-6, 10.0, xtol=1e-14)


def calibrated(prices):
    """A smile of volatility is fitted, and its fit priced."""
    strikes = np.array([0.9, 1.0, 1.1, 1.2])
    smile = lambda p, k: p[0] + p[1] * (k - 1) + p[2] * (k - 1) ** 2

    def residuals(p):
        return black_scholes(1.0, strikes, smile(p, strikes)) - prices

    p = least_squares(residuals, [0.2, 0.0, 0.1], xtol=1e-15, ftol=1e-15, gtol=1e-15).x
    return black_scholes(1.0, 1.05, smile(p, 1.05))


def decay_rate(y):
    (a, k), _ = curve_fit(lambda t, a, k: a * np.exp(-k * t), TIMES, y, p0=(1.0, 1.0))
    return k, a


def option_on_maximum(sigma, rho):
    """A second integral over the first."""
    inner = lambda x: ndtr((0.1 - rho * x) / np.sqrt(1 - rho**2))
    return quad(
        lambda x: np.maximum(np.exp(sigma * x) - 0.8, 0) * inner(x) * norm.pdf(x),
        np.log(0.8) / sigma,
        8,
    )[0]


PROGRAMS = [
    (black_scholes, (1.0, 1.1, 0.25)),
    (implied_volatility, (0.08, 1.02)),
    (heston, (0.05, 1.5, 0.06, 0.5, -0.6)),
    (yield_of_bond, (0.97, 0.04)),
    (nelson_siegel, (np.array([0.03, -0.01, 0.02]), 1.7)),
    (frontier, (np.array([0.08, 0.1, 0.03]), 1.5)),
    (predators, (np.array([1.0, 0.8, 0.5, 0.9]),)),
    (predators_by_odeint, (np.array([1.5, 1.0]), 1.1)),
    (misfit_of_predators, (np.array([1.0, 0.8, 0.5, 0.9]),)),
    (time_of_peak, (1.2, 0.3)),
    (exposure, (1.2, 0.3)),
    (doses, (0.3, 5.0)),
    (bounce, (2.0, 0.8)),
    (epidemic, (0.9, 0.3)),
    (final_size, (1.8,)),
    (reaction, (np.array([0.04, 1e2, 3e3]),)),
    (period_of_pendulum, (1.1, 0.7)),
    (arc, (1.0, 0.6)),
    (blackbody, (5800.0,)),
    (double_integral, (0.7, 1.2)),
    (hanging_chain, (1.3,)),
    (market, (np.array([1.0, 2.0]), 0.8)),
    (nash, (np.array([1.0, 2.0]),)),
    (equilibrium, (0.02, 0.5)),
    (calibrated, (np.array([0.132, 0.07, 0.033, 0.013]),)),
    (decay_rate, (np.array([1.3, 0.8, 0.45, 0.3, 0.17]),)),
    (option_on_maximum, (0.3, 0.4)),
]  # fmt: skip
