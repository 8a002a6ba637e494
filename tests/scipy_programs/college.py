"""A college of science: physics, chemistry, the earth and the air."""
# ruff: noqa: F841, RUF059  # names as they are often written

import numpy as np
import scipy.constants as const
import scipy.integrate as spint
import scipy.linalg as sl
import scipy.optimize as opt
from numpy import cos, exp, log, pi, sin, sqrt
from scipy import integrate, linalg, special
from scipy.integrate import odeint, quad, simpson, solve_bvp, solve_ivp
from scipy.optimize import brentq, curve_fit, fixed_point, fsolve
from scipy.special import ellipk, erf, gamma, kei, ker, lambertw

# Physics.


def gap_equation(coupling, temperature):
    """The gap of a superconductor, whose equation is an integral, and the condensation energy."""

    def missing(delta):
        def f(e):
            root = np.hypot(e, delta)
            return np.tanh(root / (2 * temperature)) / root

        return coupling * quad(f, 0, 1.0)[0] - 1

    delta = brentq(missing, 1e-6, 2.0)
    energy, err = quad(lambda e: e - np.sqrt(e * e + delta**2), 0, 1)
    return delta, energy + delta**2 / (2 * coupling)


class IsingSquare:
    """Onsager's solution of the square lattice."""

    def __init__(self, J):
        self.J = J

    def energy(self, T):
        K = self.J / T
        k = 2 * np.sinh(2 * K) / np.cosh(2 * K) ** 2
        kpp = 2 * np.tanh(2 * K) ** 2 - 1
        return -self.J / np.tanh(2 * K) * (1 + 2 / np.pi * kpp * ellipk(k * k))

    def magnetisation(self, T):
        s = np.sinh(2 * self.J / T)
        return np.where(s > 1, (1 - np.minimum(s, 1e6) ** -4.0) ** 0.125, 0.0)


def square_lattice(J, temps):
    model = IsingSquare(J)
    u = model.energy(temps)
    return u, model.magnetisation(temps), np.gradient(u, temps)


def mean_field_magnet(field, zJ):
    """Self-consistent magnetisation by fixed-point iteration and its susceptibility."""
    m = fixed_point(lambda m: np.tanh(zJ * m + field), 0.8)
    chi = (1 - m**2) / (1 - zJ * (1 - m**2))
    return m, chi


def light_bending(mass, impact):
    """Deflection by a compact mass: the closest approach is a root, the angle an integral."""
    r0 = brentq(lambda r: r**3 - impact**2 * (r - 2 * mass), impact / 2, impact)

    def integrand(w):
        u = (1 - w * w) / r0
        under = 2 - w * w - 2 * mass / r0 * (1 + (1 - w * w) + (1 - w * w) ** 2) / 1
        return 2 / np.sqrt(under)

    angle = 2 * quad(integrand, 0, 1)[0] - np.pi
    return r0, angle


def precession(semi_major, e):
    """The advance of a perihelion with the relativistic term, by an event of an orbit."""
    GM, c2 = 1.0, 2000.0
    p = semi_major * (1 - e**2)

    def rhs(phi, y):
        u, du = y
        return [du, GM / p - u + 3 * GM * u**2 / c2]

    def apsis(phi, y):
        return y[1]

    apsis.direction = -1
    sol = solve_ivp(
        rhs,
        (0.1, 8.0),
        [(1 + e * cos(0.1)) / p, -e * sin(0.1) / p],
        events=apsis,
        rtol=1e-9,
        atol=1e-11,
    )
    return sol.t_events[0][0] - 2 * pi


def tunnelling(height, width):
    """A barrier by the semiclassical exponent, between turning points that are roots."""
    V = lambda x: height * np.exp(-((x / width) ** 2))
    E = 0.4
    a = brentq(lambda x: V(x) - E, -5 * width, 0)
    b = brentq(lambda x: V(x) - E, 0, 5 * width)
    action, _ = quad(lambda x: sqrt(np.maximum(V(x) - E, 0)), a, b)
    return exp(-2 * action)


def franck_condon(shift, ratio):
    """Overlaps of two oscillators with Hermite functions on a grid, normalised."""
    x = np.linspace(-9, 9, 361)

    def psi(n, x, w=1.0):
        norm = (w / np.pi) ** 0.25 / np.sqrt(2.0**n * gamma(n + 1))
        return norm * special.eval_hermite(n, np.sqrt(w) * x) * np.exp(-w * x**2 / 2)

    overlaps = np.array([simpson(psi(0, x) * psi(n, x - shift, ratio), x=x) for n in range(5)])
    return overlaps**2 / np.sum(overlaps**2)


def hueckel(beta, alpha_n):
    """A ring with one other atom: orbitals, the energy of the electrons and bond orders."""
    n = 6
    H = sl.circulant([0.0, 1, 0, 0, 0, 1]) * beta
    H[0, 0] += alpha_n
    e, c = linalg.eigh(H)
    occ = np.array([2, 2, 2, 0, 0, 0])
    P = (c * occ) @ c.T
    return (occ * e).sum(), np.diag(P), P[0, 1], e[3] - e[2]


def marcus_rate(reorganisation, huang):
    """Electron transfer with one quantised mode, the sum over its levels."""
    lam, S, dG, kT, hw = reorganisation, huang, -0.5, 0.0257, 0.18
    v = np.arange(12)
    weights = np.exp(-S + v * np.log(S) - special.gammaln(v + 1))
    gauss = np.exp(-((lam + dG + v * hw) ** 2) / (4 * lam * kT)) / np.sqrt(4 * pi * lam * kT)
    return np.log(np.dot(weights, gauss))


def magnet_curve(moment, saturation, H):
    """Langevin's law with a Weiss field, solved at each field."""
    L = lambda a: 1 / np.tanh(a) - 1 / a
    out = []
    for h in H:
        m = opt.brentq(lambda m: m - L(moment * (h + 0.5 * m)), 1e-3, 1.0, xtol=1e-14)
        out.append(saturation * m)
    return np.array(out)


def synchronised(coupling, spread):
    """Oscillators with natural frequencies on quantiles of a Cauchy law; the order parameter."""
    n = 8
    omega = spread * np.tan(np.pi * (np.arange(1, n + 1) / (n + 1) - 0.5))

    def rhs(t, theta):
        z = np.mean(np.exp(1j * theta))
        return omega + coupling * np.abs(z) * np.sin(np.angle(z) - theta)

    sol = integrate.solve_ivp(rhs, [0, 6], np.linspace(0, 2, n), rtol=1e-8, atol=1e-8)
    return np.abs(np.exp(1j * sol.y).mean(axis=0))[-1]


def chaotic_galaxy(energy_x, vy):
    """Motion in a potential of a galaxy, by a method of order eight; the energy drifts little."""

    def f(t, s):
        x, y, px, py = s
        return px, py, -x - 2 * x * y, -y - x**2 + y**2

    res = solve_ivp(f, (0, 12), [energy_x, 0.1, 0.0, vy], method="DOP853", rtol=1e-10, atol=1e-10)
    return res.y[:2, -1]


def boundary_layer(m):
    """A wedge flow's profile as a boundary value problem; the shear at the wall."""
    eta = np.linspace(0, 6, 25)

    def ode(x, y):
        f, g, h = y
        return np.vstack((g, h, -0.5 * (m + 1) * f * h - m * (1 - g**2)))

    def bc(ya, yb):
        return np.array([ya[0], ya[1], yb[1] - 1])

    guess = np.vstack((eta - 1 + np.exp(-eta), 1 - np.exp(-eta), np.exp(-eta)))
    sol = solve_bvp(ode, bc, eta, guess, tol=1e-6)
    displacement = np.trapezoid(1 - sol.sol(eta)[1], eta)
    return sol.y[2, 0], displacement


def blasius_shoot(viscosity):
    """A flat plate by shooting with odeint."""
    eta = np.linspace(0, 8, 41)

    def rhs(F, x):
        return [F[1], F[2], -F[0] * F[2] / (2 * viscosity)]

    def edge(s):
        return odeint(rhs, [0, 0, s], eta)[-1, 1] - 1

    s = brentq(edge, 0.1, 1.0)
    return s


def hoop(speed, damping):
    """A bead on a rotating hoop: where it comes to rest, and how it gets there."""
    rest = fsolve(lambda th: sin(th) * (speed**2 * cos(th) - 9.81), 1.0)[0]
    t = np.linspace(0, 3, 31)
    y = odeint(
        lambda y, t: [y[1], sin(y[0]) * (speed**2 * cos(y[0]) - 9.81) - damping * y[1]], [0.3, 0], t
    )
    return rest, y[-1], simpson((y[:, 0] - rest) ** 2, x=t)


# The earth and the air.


def plate_flexure(thickness, load):
    """Deflection of a plate under a seamount, by Kelvin functions."""
    E, nu, g, drho = 70e9, 0.25, 9.8, 700.0
    D = E * thickness**3 / (12 * (1 - nu**2))
    l = (D / (drho * g)) ** 0.25
    r = np.array([5e3, 2e4, 5e4, 9e4])
    w = -load * l**2 / (2 * np.pi * D) * kei(r / l)
    return w, np.gradient(w, r), ker(2e4 / l)


def cooling_ocean_floor(kappa, age):
    """A cooling half space: temperature, heat flow, depth, and how deep an isotherm lies."""
    T = lambda z, t: 1300 * erf(z / (2 * np.sqrt(kappa * t)))
    z = np.linspace(0, 120, 13)
    flow = 3.1 * 1300 / np.sqrt(np.pi * kappa * age)
    subsided, _ = quad(lambda z: 1300 - T(z, age), 0, 400, limit=200)
    iso = special.erfinv(1100 / 1300) * 2 * np.sqrt(kappa * age)
    return T(z, age), flow, subsided, iso


def infiltration(conductivity, suction):
    """Green and Ampt: cumulative infiltration is implicit in time."""
    dtheta = 0.3
    times = [0.5, 1.0, 2.0]

    def F_at(t):
        g = lambda F: F - suction * dtheta * log(1 + F / (suction * dtheta)) - conductivity * t
        return brentq(g, 1e-6, 100)

    F = np.array([F_at(t) for t in times])
    W = (
        -suction
        * dtheta
        * (1 + lambertw(-exp(-1 - conductivity * 1.0 / (suction * dtheta)), -1).real)
    )
    return F, conductivity * (1 + suction * dtheta / F), W


def backwater(discharge, slope):
    """Normal and critical depth of a channel and the surface between, by an equation of steps."""
    n, b, g = 0.025, 4.0, 9.81
    A = lambda h: b * h
    R = lambda h: b * h / (b + 2 * h)
    normal = brentq(lambda h: A(h) * R(h) ** (2 / 3) * np.sqrt(slope) / n - discharge, 0.05, 10)
    critical = (discharge**2 / (g * b**2)) ** (1 / 3)

    def dhdx(x, h):
        Sf = (n * discharge / (A(h) * R(h) ** (2 / 3))) ** 2
        return (slope - Sf) / (1 - discharge**2 * b / (g * A(h) ** 3))

    sol = solve_ivp(dhdx, (0, -800), [1.4 * normal], t_eval=[0, -200, -400, -800])
    return normal, critical, sol.y[0]


def soil_water(alpha, n):
    """A retention curve, its conductivity, and both recovered by a fit."""
    h = np.logspace(0, 3, 9)

    def theta(h, a, n):
        return 0.05 + 0.38 * (1 + (a * h) ** n) ** -(1 - 1 / n)

    wobble = 1 + 0.01 * np.cos(3 * np.arange(9.0))
    popt, pcov = curve_fit(theta, h, theta(h, alpha, n) * wobble, p0=[0.05, 1.6])
    Se = (theta(h, *popt) - 0.05) / 0.38
    m = 1 - 1 / popt[1]
    K = np.sqrt(Se) * (1 - (1 - Se ** (1 / m)) ** m) ** 2
    return popt, np.sqrt(np.diag(pcov)), np.log(K[::2])


def glacier(accumulation, softness):
    """A profile of ice by the law of its flow, volume, and where it is as thick as it was."""

    def dh(x, h):
        q = accumulation * x
        return -((5 * q / (2 * softness * h**5)) ** (1 / 3))

    hit = lambda x, h: h[0] - 0.6
    hit.terminal = True
    sol = solve_ivp(dh, (0, 5), [1.5], events=hit, dense_output=True, max_step=0.1)
    end = sol.t_events[0][0]
    xs = np.linspace(0, 1, 21) * end
    return end, simpson(sol.sol(xs)[0], x=xs)


def wet_bulb(temperature, humidity):
    """Dew point in closed form, wet bulb by a root, lifted condensation level by another."""
    es = lambda T: 6.112 * np.exp(17.67 * T / (T + 243.5))
    e = humidity * es(temperature)
    x = np.log(e / 6.112)
    dew = 243.5 * x / (17.67 - x)
    wet = opt.root_scalar(
        lambda Tw: es(Tw) - 6.6e-4 * 1000 * (temperature - Tw) - e,
        bracket=[-30, 50],
        method="brentq",
    ).root
    lcl = opt.newton(
        lambda p: es((temperature + 273.15) * (p / 1000) ** 0.286 - 273.15) - e * p / 1000, 850.0
    )
    return dew, wet, lcl


def surface_layer(wind, heat):
    """Friction velocity and the length of stability by iteration."""
    z, z0, k, g = 10.0, 0.03, 0.4, 9.81
    ustar = k * wind / np.log(z / z0)
    for _ in range(30):
        L = -(ustar**3) * 300 / (k * g * heat)
        x = (1 - 16 * z / L) ** 0.25
        psi = 2 * np.log((1 + x) / 2) + np.log((1 + x**2) / 2) - 2 * np.arctan(x) + np.pi / 2
        ustar = k * wind / (np.log(z / z0) - psi)
    return ustar, L


def ekman(depth, stress):
    """A wind-driven current in finite depth, a complex boundary value problem by matrices."""
    n, f = 30, 1e-4
    z = np.linspace(0, 1, n)
    nu = 1e-2
    dz = depth / (n - 1)
    A = np.zeros((n, n), dtype=complex)
    b = np.zeros(n, dtype=complex)
    for i in range(1, n - 1):
        A[i, i - 1] = A[i, i + 1] = nu / dz**2
        A[i, i] = -2 * nu / dz**2 - 1j * f
    A[0, 0] = 1
    A[-1, -1], A[-1, -2] = 1 / dz, -1 / dz
    b[-1] = stress / nu
    w = sl.solve(A, b)
    return w.real[::7], w.imag[::7], np.abs(w[-1])


def ice_albedo(solar, emissivity):
    """A climate of one temperature with ice: the warm and the cold state."""
    sigma = const.Stefan_Boltzmann
    albedo = lambda T: 0.5 - 0.2 * np.tanh((T - 265) / 10)
    balance = lambda T: solar / 4 * (1 - albedo(T)) - emissivity * sigma * T**4
    warm = opt.root(balance, 290.0)
    cold = opt.root(balance, 235.0)
    assert warm.success
    return warm.x[0], cold.x[0]


def overturning(freshwater, k):
    """Two boxes of an ocean: temperature and salinity relax, the flow is their difference."""

    def rhs(t, y):
        T, S = y
        q = k * (T - S)
        return [1 - T * (1 + np.sqrt(q * q + 1e-4)), freshwater - S * (0.2 + np.sqrt(q * q + 1e-4))]

    sol = spint.solve_ivp(rhs, (0, 20), [0.5, 0.5], method="LSODA", rtol=1e-8, atol=1e-10)
    T, S = sol.y[:, -1]
    return T, S, k * (T - S)


SELDOM = [
    (gap_equation, (1.1, 0.1)),
    (square_lattice, (1.0, np.array([1.5, 1.9, 2.1, 2.6, 3.2]))),
    (mean_field_magnet, (0.1, 1.2)),
    (light_bending, (1.0, 20.0)),
    (precession, (1.2, 0.4)),
    (tunnelling, (1.0, 1.3)),
    (franck_condon, (1.2, 0.8)),
    (hueckel, (-1.0, -0.4)),
    (marcus_rate, (0.7, 0.9)),
    (magnet_curve, (4.0, 1.5, np.array([0.3, 0.8, 1.6]))),
    (synchronised, (1.8, 0.4)),
    (chaotic_galaxy, (0.2, 0.35)),
    (boundary_layer, (0.2,)),
    (blasius_shoot, (1.0,)),
    (hoop, (4.0, 0.5)),
    (plate_flexure, (2.0e4, 1.0e16)),
    (cooling_ocean_floor, (31.5, 60.0)),
    (infiltration, (1.1, 9.0)),
    (backwater, (12.0, 0.001)),
    (soil_water, (0.04, 1.8)),
    (glacier, (0.3, 2.0)),
    (wet_bulb, (25.0, 0.55)),
    (surface_layer, (6.0, 0.08)),
    (ekman, (40.0, 1e-4)),
    (ice_albedo, (1361.0, 0.61)),
    (overturning, (0.3, 1.1)),
]
