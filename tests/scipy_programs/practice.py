"""An office of engineers and analysts: plants, patients, markets and skies."""
# ruff: noqa: B007, RUF059  # names as they are often written

from dataclasses import dataclass
from math import sqrt

import numpy as np
import scipy.linalg as sla
from scipy import fft, integrate, optimize, special, stats
from scipy.integrate import quad, simpson, solve_bvp, solve_ivp
from scipy.optimize import fminbound, fsolve, leastsq, newton, root_scalar
from scipy.spatial.transform import Rotation

TIGHT = {"rtol": 1e-9, "atol": 1e-11}


# Chemical engineering.


def stirred_tank(heat, flow):
    """A cooled reactor to its steady state: how hot it gets, and when it is hottest."""

    def balance(t, s):
        c, temp = s
        rate = 0.9 * np.exp(4 * (1 - 1 / temp)) * c
        return [flow * (1 - c) - rate, flow * (1 - temp) + heat * rate - 0.3 * (temp - 0.9)]

    hottest = lambda t, s: balance(t, s)[1]
    hottest.direction = -1
    sol = solve_ivp(balance, [0, 12], [1.0, 0.8], method="DOP853", events=hottest, **TIGHT)
    assert sol.success, sol.message
    c, temp = sol.y
    return c[-1], temp[-1], sol.t_events[0][0], sol.y_events[0][0][1]


def distillation(alpha, reflux, feed=0.5):
    """McCabe and Thiele: a few stages down from the top, then what is left."""
    x, y = [], 0.95
    for _ in range(6):
        x.append(y / (alpha - (alpha - 1) * y))
        y = reflux / (reflux + 1) * x[-1] + 0.95 / (reflux + 1)
    fewest = np.log(0.95 / 0.05 * 0.95 / 0.05) / np.log(alpha)
    theta = root_scalar(
        lambda th: alpha * feed / (alpha - th) + (1 - feed) / (1 - th) - 0.2,
        bracket=[1.01, alpha - 0.01],
    ).root
    return np.array(x), fewest, theta


def peng_robinson(temp, pressure):
    """The vapour's compressibility and fugacity by the cubic's largest root."""
    tr = temp / 304.2
    kappa = 0.37464 + 1.54226 * 0.225 - 0.26992 * 0.225**2
    a = 0.45724 * (1 + kappa * (1 - np.sqrt(tr))) ** 2 * pressure / 73.8 / tr**2
    b = 0.0778 * pressure / 73.8 / tr
    z = np.roots([1, b - 1, a - 3 * b**2 - 2 * b, -(a * b - b**2 - b**3)])
    z = max(z[abs(z.imag) < 1e-9].real)
    lnphi = (
        z
        - 1
        - np.log(z - b)
        - a / (2 * sqrt(2) * b) * np.log((z + (1 + sqrt(2)) * b) / (z + (1 - sqrt(2)) * b))
    )
    return z, np.exp(lnphi)


def tubular_dispersion(peclet, damkohler):
    """Danckwerts' conditions by solve_bvp, conversion at the outlet."""
    x = np.linspace(0, 1, 11)

    def rhs(x, s):
        return np.array([s[1], peclet * (s[1] + damkohler * s[0] ** 2)])

    def ends(a, b):
        return np.array([a[0] - a[1] / peclet - 1, b[1]])

    sol = solve_bvp(rhs, ends, x, np.vstack([np.ones(11), np.zeros(11)]), tol=1e-9, max_nodes=20000)
    if sol.status != 0:
        raise RuntimeError(sol.message)
    return 1 - sol.y[0, -1], sol.sol(0.5)[0], sol.y[1, 0]


def polymer_moments(k, r):
    """Method of moments by BDF without times asked for; polydispersity at the end."""

    def rhs(t, m):
        a, m0, m1, m2 = m
        return np.array(
            [-k * a * m0, -r * m0 * m0 / 2, k * a * m0, k * a * (m0 + 2 * m1) + r * m1 * m1]
        )

    sol = solve_ivp(rhs, (0, 3), np.array([1.0, 0.1, 0.1, 0.1]), method="BDF", **TIGHT)
    m = sol.y[:, -1]
    return m[2] / m[1], m[3] * m[1] / m[2] ** 2


def flash_drum(k_values, z):
    """Rachford and Rice by newton with both derivatives."""
    f = lambda v: np.sum(z * (k_values - 1) / (1 + v * (k_values - 1)))
    fp = lambda v: -np.sum(z * (k_values - 1) ** 2 / (1 + v * (k_values - 1)) ** 2)
    fpp = lambda v: 2 * np.sum(z * (k_values - 1) ** 3 / (1 + v * (k_values - 1)) ** 3)
    v = newton(f, 0.4, fprime=fp, fprime2=fpp, tol=1e-13)
    liquid = z / (1 + v * (k_values - 1))
    return v, liquid, k_values * liquid


def pipe_friction(re, rough):
    """Colebrook by fsolve, and closed by lambertw."""
    cole = lambda f: 1 / np.sqrt(f) + 2 * np.log10(rough / 3.7 + 2.51 / (re * np.sqrt(f)))
    (f,) = fsolve(cole, 0.02, xtol=1e-13)
    c = np.log(10) / 2
    w = special.lambertw(c * re / 2.51 * 10 ** (rough * re / (3.7 * 2.51) / 2)).real
    return f, w


# Pharmacology.


@dataclass
class Regimen:
    every: float
    dose: float

    def simulate(self, ka, ke, n=4):
        gut, blood, highs = 0.0, 0.0, []
        for _ in range(n):
            sol = solve_ivp(
                lambda t, q: (-ka * q[0], ka * q[0] - ke * q[1]),
                (0, self.every),
                (gut + self.dose, blood),
                **TIGHT,
            )
            gut, blood = sol.y[0][-1], sol.y[1][-1]
            highs.append(blood)
        return highs


def accumulation(ka, ke):
    """Troughs of a repeated dose; the ratio of the last to the first."""
    highs = Regimen(6.0, 2.0).simulate(ka, ke)
    return np.array(highs), highs[-1] / highs[0]


def time_above(mic, ke):
    """How long a level stays above a threshold, between two events."""
    level = lambda t, y: y[1] - mic
    sol = solve_ivp(
        lambda t, y: [-1.5 * y[0], 1.5 * y[0] - ke * y[1]],
        (0, 24),
        [3.0, 0.0],
        events=(level,),
        **TIGHT,
    )
    up, down = sol.t_events[0]
    return down - up


def auc_by_simpson(cl, v):
    """A thin simulation and Simpson's rule on its own times."""
    sol = solve_ivp(
        lambda t, y: -cl / v * y / (1 + y), (0, 10), [4.0], t_eval=np.linspace(0, 10, 41), **TIGHT
    )
    moment = simpson(sol.t * sol.y[0], x=sol.t)
    return simpson(sol.y[0], x=sol.t), moment


def peak_of_two(a, b):
    """The area under a curve, and what is left of it."""
    sol = solve_ivp(
        lambda t, y: [-a * y[0], a * y[0] - b * y[1]],
        (0.0, 9.0),
        [1.0, 0.1],
        t_eval=np.linspace(0, 9, 60),
        **TIGHT,
    )
    return np.trapezoid(sol.y[1], sol.t), sol.y[1, -1] / sol.y[0, 0]


def logistic_potency(doses, slope):
    """ED50 by leastsq on counts, its covariance from the Jacobian."""
    x = np.log(np.array([0.5, 1.0, 2.0, 4.0, 8.0]))

    def gap(p):
        return special.expit(p[1] * (x - p[0])) - doses

    p, cov, info, _, ok = leastsq(gap, [0.5, slope], full_output=True, xtol=1e-14, ftol=1e-14)
    return np.exp(p[0]), p[1]


# Finance.


def compound_option(strike, vol):
    """Geske: a call on a call, by the bivariate normal's cdf."""
    s, k2, r, t1, t2 = 100.0, 100.0, 0.03, 0.5, 1.2

    def call(x):
        d = (np.log(x / k2) + (r + vol**2 / 2) * (t2 - t1)) / (vol * np.sqrt(t2 - t1))
        return x * special.ndtr(d) - k2 * np.exp(-r * (t2 - t1)) * special.ndtr(
            d - vol * np.sqrt(t2 - t1)
        )

    critical = optimize.brentq(lambda x: call(x) - strike, 20.0, 300.0, xtol=1e-12)
    a = (np.log(s / critical) + (r - vol**2 / 2) * t1) / (vol * np.sqrt(t1))
    b = (np.log(s / k2) + (r - vol**2 / 2) * t2) / (vol * np.sqrt(t2))
    rho = np.sqrt(t1 / t2)
    both = stats.multivariate_normal([0, 0], [[1, rho], [rho, 1]])
    up = both.cdf([a + vol * np.sqrt(t1), b + vol * np.sqrt(t2)])
    return (
        s * up
        - k2 * np.exp(-r * t2) * both.cdf([a, b])
        - strike * np.exp(-r * t1) * special.ndtr(a)
    )


def bermudan_by_tree(vol, strike):
    """A binomial tree, rolled back with early exercise at each node."""
    n, r, t = 12, 0.05, 1.0
    dt = t / n
    u = np.exp(vol * np.sqrt(dt))
    p = (np.exp(r * dt) - 1 / u) / (u - 1 / u)
    prices = 100 * u ** (2 * np.arange(n + 1) - n)
    value = np.maximum(strike - prices, 0)
    for i in range(n - 1, -1, -1):
        prices = prices[1:] / u
        value = np.maximum(
            np.exp(-r * dt) * (p * value[1:] + (1 - p) * value[:-1]), strike - prices
        )
    return value[0]


def nelson_siegel(yields, tau):
    """A curve's factors by lstsq, discount factors at other times."""
    at = np.array([0.5, 1.0, 2.0, 5.0, 10.0, 30.0])

    def loadings(m):
        f = -np.expm1(-m / tau) / (m / tau)
        return np.column_stack([np.ones_like(m), f, f - np.exp(-m / tau)])

    beta, res, rank, sv = sla.lstsq(loadings(at), yields)
    new = np.array([3.0, 7.0])
    return np.exp(-new * (loadings(new) @ beta)), beta[0]


def carr_madan(sigma, nu):
    """Variance gamma calls by a real FFT of the characteristic function."""
    n, eta, alpha = 128, 0.25, 1.5
    v = eta * np.arange(n)
    u = v - 1j * (alpha + 1)
    omega = np.log(1 + 0.1 * nu - sigma**2 * nu / 2) / nu
    phi = np.exp(1j * u * omega) * (1 + 0.1j * nu * u + sigma**2 * nu * u**2 / 2) ** (-1 / nu)
    psi = phi / (alpha**2 + alpha - v**2 + 1j * (2 * alpha + 1) * v)
    weight = eta / 3 * (3 + (-1) ** np.arange(1, n + 1) - (np.arange(n) == 0))
    lam = 2 * np.pi / (n * eta)
    k = -n * lam / 2 + lam * np.arange(n)
    calls = (
        np.exp(-alpha * k) / np.pi * np.real(fft.fft(np.exp(1j * n * lam / 2 * v) * psi * weight))
    )
    return np.interp([-0.05, 0.0, 0.08], k, calls)


def cds_bootstrap(spreads):
    """Hazards one after the other, each by brentq given those before."""
    hazards, t = [], [1.0, 3.0, 5.0]

    def survival(s, hs):
        ends = [0.0, *t]
        total = 0.0
        for h, a, b in zip(hs, ends, ends[1:], strict=False):
            total = total + h * (min(s, b) - min(s, a))
        return np.exp(-total)

    for end, spread in zip(t, spreads, strict=True):
        quarters = np.arange(0.5, end + 0.25, 0.5)

        def gap(h, quarters=quarters, spread=spread):
            q = np.array([survival(s, [*hazards, h]) for s in quarters])
            before = np.concatenate([[1.0], q[:-1]])
            d = np.exp(-0.02 * quarters)
            return 0.6 * np.sum(d * (before - q)) - spread * 0.5 * np.sum(d * q)

        hazards.append(optimize.brentq(gap, 1e-5, 0.5, xtol=1e-14))
    return np.array(hazards)


def utility_of_mix(wealth, risk):
    """The best share by fminbound, then its certainty equivalent by Gauss' rule."""
    x, w = np.polynomial.hermite_e.hermegauss(12)
    w = w / w.sum()

    def cost(share):
        return -np.sum(w * (wealth * (1.02 + share * (0.04 + risk * x))) ** (-2)) * -1

    share = fminbound(cost, 0.05, 0.95, xtol=1e-10)
    return share, cost(share) ** (-1 / 2)


# Astronomy.


def true_anomaly(e, mean):
    """Kepler by Halley's root_scalar, then the place in the sky by a rotation."""
    f = lambda E: (E - e * np.sin(E) - mean, 1 - e * np.cos(E), e * np.sin(E))
    E = root_scalar(f, x0=mean, fprime=True, fprime2=True, method="halley").root
    nu = 2 * np.arctan2(np.sqrt(1 + e) * np.sin(E / 2), np.sqrt(1 - e) * np.cos(E / 2))
    r = 1 - e * np.cos(E)
    turn = Rotation.from_euler("zxz", [0.3, 0.4, 1.1])
    return turn.apply(np.array([r * np.cos(nu), r * np.sin(nu), 0.0]))


def restricted_three_body(mu, x0):
    """An orbit about the moon until it crosses the axis again."""

    def rhs(t, s):
        x, y, u, v = s
        a, b = hypot_cubed(x + mu, y), hypot_cubed(x - 1 + mu, y)
        return [
            u,
            v,
            x + 2 * v - (1 - mu) * (x + mu) / a - mu * (x - 1 + mu) / b,
            y - 2 * u - (1 - mu) * y / a - mu * y / b,
        ]

    crossing = lambda t, s: s[1]
    crossing.terminal, crossing.direction = True, -1
    sol = solve_ivp(rhs, (0, 10), [x0, 0, 0, 0.55], events=crossing, max_step=0.2, **TIGHT)
    return sol.t[-1], sol.y[0, -1], sol.y[3, -1]


def hypot_cubed(x, y):
    return (x * x + y * y) ** 1.5


def lane_emden(n):
    """The first zero of a polytrope, from a series near the centre."""
    eps = 1e-3
    start = [1 - eps**2 / 6 + n * eps**4 / 120, -eps / 3 + n * eps**3 / 30]
    edge = lambda x, s: s[0]
    edge.terminal = True
    sol = solve_ivp(
        lambda x, s: [s[1], -2 / x * s[1] - np.maximum(s[0], 0) ** n],
        (eps, 12),
        start,
        events=edge,
        **TIGHT,
    )
    xi = sol.t_events[0][0]
    slope = sol.y_events[0][0, 1]
    return xi, -(xi**2) * slope


def distance_modulus(om, w):
    """Luminosity distances by quad for each redshift; a supernova's misfit."""
    z = np.array([0.1, 0.4, 0.9])
    e = lambda x: np.sqrt(om * (1 + x) ** 3 + (1 - om) * (1 + x) ** (3 * (1 + w)))
    d = np.array([quad(lambda x: 1 / e(x), 0, zi, epsabs=1e-12)[0] for zi in z])
    mu = 5 * np.log10((1 + z) * d) + 43.1
    return mu, np.sum((mu - np.array([38.2, 41.6, 43.9])) ** 2)


def sersic_light(n, re):
    """The exact b_n by gammaincinv, light within two apertures and their concentration."""
    b = special.gammaincinv(2 * n, 0.5)
    within = lambda r: special.gammainc(2 * n, b * (r / re) ** (1 / n))
    return b, within(1.0), within(3.0), 5 * np.log10(within(3.0) / within(1.0))


def planck_band(temp, width):
    """Radiance in a band, and the color as a ratio of two bands by fixed_quad."""
    b = lambda x: 1 / (x**5 * np.expm1(1.44 / (x * temp)))
    blue, _ = integrate.fixed_quad(b, 0.4, 0.4 + width, n=9)
    red, _ = integrate.fixed_quad(b, 0.6, 0.6 + width, n=9)
    peak = special.lambertw(-5 * np.exp(-5)).real + 5
    return blue, red / blue, 1.44 / (peak * temp)


SELDOM = [
    (stirred_tank, (0.35, 0.6)),
    (distillation, (2.4, 1.8)),
    (peng_robinson, (330.0, 20.0)),
    (tubular_dispersion, (3.0, 1.2)),
    (polymer_moments, (1.4, 0.6)),
    (flash_drum, (np.array([2.3, 1.1, 0.4]), np.array([0.4, 0.3, 0.3]))),
    (pipe_friction, (5.0, 0.002)),
    (accumulation, (0.9, 0.2)),
    (time_above, (0.8, 0.15)),
    (auc_by_simpson, (1.1, 3.0)),
    (peak_of_two, (1.2, 0.4)),
    (logistic_potency, (np.array([0.12, 0.27, 0.52, 0.74, 0.9]), 1.1)),
    (compound_option, (6.0, 0.25)),
    (bermudan_by_tree, (0.3, 104.0)),
    (nelson_siegel, (np.array([0.021, 0.024, 0.027, 0.031, 0.034, 0.036]), 1.7)),
    (carr_madan, (0.25, 0.4)),
    (cds_bootstrap, (np.array([0.01, 0.014, 0.017]),)),
    (utility_of_mix, (1.3, 0.18)),
    (true_anomaly, (0.3, 1.1)),
    (restricted_three_body, (0.1, 0.7)),
    (lane_emden, (1.5,)),
    (distance_modulus, (0.3, -0.9)),
    (sersic_light, (2.3, 1.4)),
    (planck_band, (0.55, 0.12)),
]
