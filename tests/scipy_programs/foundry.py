"""A foundry and an observatory: the sky, machines, materials, nerves."""
# ruff: noqa: B905, RUF059  # names and pairs as they are often written

from dataclasses import dataclass, field

import numpy as np
import scipy.constants as const
import scipy.optimize as opt
from numpy import cos, sin
from scipy import integrate
from scipy.integrate import cumulative_trapezoid, quad, solve_ivp
from scipy.optimize import brentq, curve_fit, fsolve, least_squares, minimize
from scipy.special import erfc, erfcx, gamma

from tests.scipy_programs.bench import Material, horner, rk4

# The sky.


def structure_growth(omega_m, w):
    """Growth of perturbations with dark energy, by an equation in the scale factor and a check."""
    E2 = lambda a: omega_m * a**-3 + (1 - omega_m) * a ** (-3 * (1 + w))

    def rhs(lna, y):
        a = np.exp(lna)
        dlnE = (-3 * omega_m * a**-3 - 3 * (1 + w) * (1 - omega_m) * a ** (-3 * (1 + w))) / (
            2 * E2(a)
        )
        return [y[1], -(2 + dlnE) * y[1] + 1.5 * omega_m * a**-3 / E2(a) * y[0]]

    a0 = 1e-2
    out = solve_ivp(rhs, [np.log(a0), 0], [a0, a0], rtol=1e-7, atol=1e-9)
    integral = quad(lambda a: (a * np.sqrt(E2(a))) ** -3, 1e-6, 1)[0]
    return out.y[0, -1], out.y[1, -1] / out.y[0, -1], 2.5 * omega_m * integral


def halo_counts(sigma8, n):
    """Press and Schechter's abundance over masses, and the fraction that has collapsed."""
    M = np.logspace(12, 15, 7)
    sigma = sigma8 * (M / 1e14) ** (-(n + 3) / 6)
    nu = 1.686 / sigma
    dlns = -(n + 3) / 6
    dndm = np.sqrt(2 / np.pi) * nu * np.abs(dlns) * np.exp(-(nu**2) / 2) / M**2 * 1e11
    return np.log(dndm), erfc(nu / np.sqrt(2))


def dispersion_of_stars(concentration, anisotropy):
    """The velocity dispersion of a halo by an integral of the enclosed mass."""
    m = lambda x: np.log(1 + x) - x / (1 + x)
    rho = lambda x: 1 / (x * (1 + x) ** 2)

    def sigma2(r):
        f = lambda s: s ** (2 * anisotropy - 2) * rho(s) * m(s) / m(concentration)
        val, err = quad(f, r, np.inf)
        return val / (r ** (2 * anisotropy) * rho(r))

    return np.sqrt([sigma2(r) for r in (0.1, 0.5, 2.0)])


def lagrange_points(mu):
    """The collinear points of two masses, and the value of the potential there."""

    def force(x):
        r1, r2 = np.abs(x + mu), np.abs(x - 1 + mu)
        return x - (1 - mu) * (x + mu) / r1**3 - mu * (x - 1 + mu) / r2**3

    eps = 1e-3
    brackets = [(-mu + 0.1, 1 - mu - eps), (1 - mu + eps, 2), (-2, -mu - 0.1)]
    L = np.array([brentq(force, a, b) for a, b in brackets])
    omega = L**2 / 2 + (1 - mu) / np.abs(L + mu) + mu / np.abs(L - 1 + mu)
    return L, omega


def neutron_star(central, stiffness):
    """Hydrostatic equilibrium in general relativity to the surface, which is an event."""

    def eos(p):
        return (np.maximum(p, 1e-12) / stiffness) ** 0.5 + np.maximum(p, 1e-12)

    def tov(r, y):
        p, m = y
        e = eos(p)
        return [-(e + p) * (m + 4 * np.pi * r**3 * p) / (r * (r - 2 * m)), 4 * np.pi * r**2 * e]

    def surface(r, y):
        return y[0] - 1e-8

    surface.terminal = True
    r0 = 1e-3
    y0 = [central, 4 / 3 * np.pi * r0**3 * eos(central)]
    sol = solve_ivp(tov, (r0, 30), y0, events=surface, rtol=1e-8, atol=1e-12)
    return sol.t_events[0][0], sol.y_events[0][0, 1]


def dust(temp, beta):
    """A modified black body, sampled and fitted again; its peak."""
    nu = np.array([0.3, 0.6, 1.0, 1.5, 2.0, 3.0])
    model = lambda x, A, T, b: A * x ** (3 + b) / np.expm1(4.8 * x * 10 / T)
    flux = model(nu, 2.0, temp, beta) * (1 + 0.02 * (-1.0) ** np.arange(6))
    popt, pcov = curve_fit(model, nu, flux, p0=(1.0, 18.0, 1.5), sigma=0.1 * flux)
    peak = opt.minimize_scalar(lambda x: -model(x, *popt), bounds=(0.2, 6), method="bounded").x
    return popt, peak


# Machines and materials.


def nozzle(area_ratio, gamma_):
    """Mach numbers of both branches, thrust, and a normal shock behind."""
    g = gamma_

    def area(M):
        return (2 / (g + 1) * (1 + (g - 1) / 2 * M**2)) ** ((g + 1) / (2 * (g - 1))) / M

    sub = brentq(lambda M: area(M) - area_ratio, 0.01, 1)
    sup = brentq(lambda M: area(M) - area_ratio, 1, 10)
    after = np.sqrt((1 + (g - 1) / 2 * sup**2) / (g * sup**2 - (g - 1) / 2))
    nu = np.sqrt((g + 1) / (g - 1)) * np.arctan(np.sqrt((g - 1) / (g + 1) * (sup**2 - 1)))
    nu -= np.arctan(np.sqrt(sup**2 - 1))
    beta = opt.newton(
        lambda b: (
            np.tan(0.15)
            - 2 / np.tan(b) * ((sup * np.sin(b)) ** 2 - 1) / (sup**2 * (g + np.cos(2 * b)) + 2)
        ),
        0.6,
    )
    return sub, sup, after, nu, beta


def stages(isp, payload):
    """The smallest rocket of three stages for a given speed."""
    ve = isp * const.g
    eps = np.array([0.10, 0.12, 0.14])
    need = 9000.0

    def mass(n):
        ratio = n * (1 - eps) / (1 - n * eps)
        return np.log(ratio).sum() + np.log(payload)

    con = {"type": "eq", "fun": lambda n: (ve * np.log(n)).sum() / need - 1}
    res = minimize(mass, [2.8, 2.8, 2.8], method="SLSQP", bounds=[(1.1, 6)] * 3, constraints=[con])
    return res.x, res.fun


@dataclass
class Exchanger:
    """Effectiveness and transfer units of a counterflow heat exchanger."""

    UA: float
    C: np.ndarray = field(default_factory=lambda: np.array([1.2, 2.0]))

    @property
    def ntu(self):
        return self.UA / self.C.min()

    def effectiveness(self):
        r = self.C.min() / self.C.max()
        e = np.exp(-self.ntu * (1 - r))
        return (1 - e) / (1 - r * e)

    def outlets(self, hot, cold):
        q = self.effectiveness() * self.C.min() * (hot - cold)
        return np.array([hot, cold]) + np.array([-q, q]) / self.C


def exchanger(UA, hot):
    ex = Exchanger(UA)
    out = ex.outlets(hot, 20.0)

    def lmtd(unknown):
        th, tc = unknown
        d1, d2 = hot - tc, th - 20.0
        q = UA * (d1 - d2) / np.log(d1 / d2)
        return [1.2 * (hot - th) - q, 2.0 * (tc - 20.0) - q]

    th, tc = fsolve(lmtd, [hot - 20, 35])
    return out, th, tc


def overstressed_column(load, eccentricity):
    """The secant formula: stress, and the load at which a column yields."""
    A, r, c, L, E, sy = 2e-3, 0.03, 0.05, 2.5, 200e9, 250e6

    def stress(P):
        return P / A * (1 + eccentricity * c / r**2 / np.cos(L / (2 * r) * np.sqrt(P / (E * A))))

    limit = opt.toms748(lambda P: stress(P) / sy - 1, 1e3, 4.0e5)
    return stress(load), limit


def rubber(mu, exponent):
    """A hyperelastic law with two terms, fitted to a uniaxial test by least squares."""
    stretch = np.linspace(1.1, 4, 8)
    P = lambda l, m, a: m * (l ** (a - 1) - l ** (-a / 2 - 1))
    data = P(stretch, mu, exponent) + 0.02 * P(stretch, 0.05, -2.0) * np.sin(5 * stretch)

    def res(p):
        return P(stretch, p[0], p[1]) + P(stretch, p[2], -2.0) - data

    fit = least_squares(res, [0.5, 2.0, 0.01], x_scale="jac")
    return fit.x, fit.cost


def elastoplastic(strain, hardening):
    """A power law of hardening, inverted; the energy of a loop; a notch by Neuber's rule."""
    steel = Material(E=200.0, K=1.1, n=hardening)
    s = steel.stress(strain)
    notch = opt.brentq(lambda q: q * steel.strain(q) - (2.5 * 0.2) ** 2 / steel.E, 1e-4, 2.0)
    life = fsolve(
        lambda N: np.log(0.004 * np.exp(-0.09 * N) + 0.6 * np.exp(-0.6 * N)) - np.log(strain), 8.0
    )
    return s, notch, (1 - hardening) / (1 + hardening) * s * (strain - s / steel.E), life[0]


def relaxing_polymer(tau, exponent):
    """Creep by a convolution with a stretched exponential, and its mean time."""
    G = lambda t: 0.2 + 0.8 * np.exp(-((t / tau) ** exponent))
    strain_rate = lambda t: np.cos(t)
    stress = [quad(lambda s: G(t - s) * strain_rate(s), 0, t)[0] for t in (0.5, 1.5, 3.0)]
    return np.array(stress), tau / exponent * gamma(1 / exponent)


def crystallised(k, n):
    """Growth of a phase, half time, and its constants by a line through logarithms."""
    t = np.linspace(0.5, 4, 8)
    x = -np.expm1(-k * t**n)
    slope, intercept = np.polyfit(np.log(t), np.log(-np.log1p(-x)), 1)
    half = (np.log(2) / k) ** (1 / n)
    rate = cumulative_trapezoid(x, t, initial=0)
    return slope, np.exp(intercept), half, rate[-1]


def compressed_mineral(bulk, bulk_prime):
    """An equation of state: the volume at a pressure, the energy there, both fitted back."""
    V0 = 40.0

    def pressure(V):
        x = (V0 / V) ** (1 / 3)
        return 1.5 * bulk * (x**7 - x**5) * (1 + 0.75 * (bulk_prime - 4) * (x**2 - 1))

    V = np.array([opt.bisect(lambda v, p=p: pressure(v) - p, 20, 41) for p in (1.0, 10.0, 50.0)])
    energy = -quad(pressure, V0, V[-1])[0]
    return V, energy


def reactor_kinetics(reactivity, lifetime):
    """Point kinetics with two groups of delayed neutrons, a stiff system."""
    beta = np.array([0.002, 0.0045])
    lam = np.array([0.05, 0.4])

    def rhs(t, y):
        n, c = y[0], y[1:]
        dn = (reactivity - beta.sum()) / lifetime * n + lam @ c
        return np.concatenate([[dn], beta / lifetime * n - lam * c])

    y0 = np.concatenate([[1.0], beta / (lam * lifetime)])
    sol = solve_ivp(rhs, (0, 2), y0, method="BDF", rtol=1e-6, atol=1e-8, t_eval=[0.5, 1, 2])
    return sol.y[0]


def coating(n1, d1):
    """Reflectance of a stack of films by products of matrices."""
    lam = np.linspace(0.45, 0.7, 6)
    n = [n1, 1.46]
    d = [d1, 0.09]
    R = np.empty_like(lam)
    for k, l in enumerate(lam):
        M = np.eye(2, dtype=complex)
        for nj, dj in zip(n, d):
            ph = 2 * np.pi * nj * dj / l
            M = M @ np.array([[cos(ph), 1j * sin(ph) / nj], [1j * nj * sin(ph), cos(ph)]])
        B, C = M @ np.array([1.0, 1.52])
        R[k] = abs((B - C) / (B + C)) ** 2
    return R


def firing_rate(current, noise):
    """A neuron's rate by the integral of a scaled complementary error function."""
    tau, theta, reset = 0.02, 1.0, 0.0
    lo, hi = (reset - current) / noise, (theta - current) / noise
    val, _ = integrate.quad(lambda u: erfcx(-u), lo, hi)
    return 1 / (0.002 + tau * np.sqrt(np.pi) * val)


def action_potential(current, gna):
    """The four equations of a squid's axon."""

    def rhs(t, y):
        V, m, h, n = y
        am = 0.1 * (V + 40) / (1 - np.exp(-(V + 40) / 10))
        bm = 4 * np.exp(-(V + 65) / 18)
        ah = 0.07 * np.exp(-(V + 65) / 20)
        bh = 1 / (1 + np.exp(-(V + 35) / 10))
        an = 0.01 * (V + 55) / (1 - np.exp(-(V + 55) / 10))
        bn = 0.125 * np.exp(-(V + 65) / 80)
        I = gna * m**3 * h * (V - 50) + 36 * n**4 * (V + 77) + 0.3 * (V + 54.4)
        return [current - I, am * (1 - m) - bm * m, ah * (1 - h) - bh * h, an * (1 - n) - bn * n]

    sol = solve_ivp(rhs, [0, 8], [-65, 0.053, 0.596, 0.318], method="RK45", rtol=1e-6, atol=1e-8)
    return sol.y[:, -1]


def leaky_tank(k, area):
    """A hand-written step of order four, and a pump that is switched by the level."""
    rhs = lambda t, h: (0.4 * (1 + np.tanh(5 * (1.0 - h))) - k * np.sqrt(h)) / area
    h = rk4(rhs, 0.5, 0.0, 4.0, 40)
    return h, horner([0.1, -0.2, 0.5], h)


SELDOM = [
    (structure_growth, (0.3, -0.95)),
    (halo_counts, (0.8, -1.8)),
    (dispersion_of_stars, (10.0, 0.2)),
    (lagrange_points, (0.1,)),
    (neutron_star, (1e-3, 90.0)),
    (dust, (22.0, 1.7)),
    (nozzle, (2.5, 1.35)),
    (stages, (330.0, 1.4)),
    (exchanger, (1.5, 90.0)),
    (overstressed_column, (1.5e5, 0.01)),
    (rubber, (0.6, 1.9)),
    (elastoplastic, (0.012, 0.15)),
    (relaxing_polymer, (1.3, 0.7)),
    (crystallised, (0.3, 1.8)),
    (compressed_mineral, (160.0, 4.4)),
    (reactor_kinetics, (0.002, 0.01)),
    (coating, (2.1, 0.06)),
    (firing_rate, (0.8, 0.5)),
    (action_potential, (10.0, 120.0)),
    (leaky_tank, (0.5, 1.2)),
]
