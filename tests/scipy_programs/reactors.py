"""Equations of motion and of reaction: stiff, with events, with boundaries; rules of quadrature."""

import numpy as np
import scipy.integrate as si
from scipy import integrate, optimize
from scipy.integrate import (
    DOP853,
    LSODA,
    Radau,
    cumulative_simpson,
    cumulative_trapezoid,
    ode,
    odeint,
    quad,
    quad_vec,
    simpson,
    solve_bvp,
    solve_ivp,
    trapezoid,
)
from scipy.interpolate import CubicSpline
from scipy.special import roots_hermite, roots_jacobi, roots_legendre

from .helpers import TIGHT, Dose

MU = 398600.4418


def kepler(t, s):
    r = s[:3]
    return np.concatenate((s[3:], -MU * r / np.linalg.norm(r) ** 3))


def orbit_determination(r0, v0):
    """Ranges to a station, of an orbit by DOP853."""
    times = np.array([120.0, 300.0, 600.0])
    sol = solve_ivp(
        kepler, (0, 600), np.r_[r0, v0], method="DOP853", t_eval=times, rtol=1e-10, atol=1e-8
    )
    station = np.array([6378.0, 0, 0])
    return np.linalg.norm(sol.y[:3].T - station, axis=1)


def apogee(speed):
    """When an orbit climbs no more."""

    def radial(t, s):
        return s[:2] @ s[2:]

    radial.direction = -1

    def fun(t, s):
        return np.r_[s[2:], -s[:2] / np.hypot(*s[:2]) ** 3]

    sol = solve_ivp(
        fun, [0, 12], np.array([1.0, 0, 0.01, speed]), events=[radial], dense_output=True, **TIGHT
    )
    t = sol.t_events[0][0]
    return t, sol.sol(t), sol.y_events[0][0]


def oregonator(f, q):
    def rhs(t, y):
        x, z = y
        return [(x * (1 - x) - f * z * (x - q) / (x + q)) / 0.04, x - z]

    def jac(t, y):
        x, z = y
        return [
            [(1 - 2 * x - f * z * 2 * q / (x + q) ** 2) / 0.04, -f * (x - q) / (x + q) / 0.04],
            [1.0, -1.0],
        ]

    sol = solve_ivp(rhs, (0, 2), [0.2, 0.1], method="BDF", jac=jac, rtol=1e-9, atol=1e-11)
    return sol.y[:, -1]


def robertson_with_conservation(k1, k2):
    """The algebraic equation solved inside of the slope."""

    def rhs(t, y):
        a, b = y
        c = 1 - a - b
        return [-k1 * a + 1e4 * b * c, k1 * a - 1e4 * b * c - k2 * b * b]

    return solve_ivp(rhs, (0, 40), [1.0, 0.0], method="Radau", rtol=1e-8, atol=1e-12).y[0, -1]


def diode_rectifier(resistance, capacity):
    """A circuit whose current is solved at each step."""

    def current(v):
        return optimize.brentq(
            lambda i: i * resistance + 0.05 * np.log1p(i / 1e-3) - v, 0, 50, xtol=1e-14
        )

    def rhs(t, v):
        drive = np.abs(np.sin(t))
        gap = drive - v[0]
        return [(current(gap) if gap > 0 else 0.0) / capacity - v[0]]

    return solve_ivp(rhs, (0, 1.2), [0.0], max_step=0.05, **TIGHT).y[0, -1]


class TwoCompartments:
    """Infusion into the first of two compartments."""

    def __init__(self, cl, v1, q, v2):
        self.k = np.array([[-(cl + q) / v1, q / v2], [q / v1, -q / v2]])
        self.v1 = v1

    def rhs(self, t, a, rate, stop):
        return self.k @ a + np.array([rate if t < stop else 0.0, 0.0])

    def exposure(self, rate):
        on = solve_ivp(self.rhs, (0, 2), [0, 0], args=(rate, 9.0), method="LSODA", **TIGHT)
        off = solve_ivp(
            self.rhs, (2, 8), on.y[:, -1], args=(rate, 1.0), t_eval=np.linspace(2, 8, 9), **TIGHT
        )
        conc = off.y[0] / self.v1
        return simpson(conc, x=off.t), conc[-1]


def two_compartments(cl, v1, rate):
    return TwoCompartments(cl, v1, 0.6, 12.0).exposure(rate)


def repeated_doses(ka, ke, every):
    level, out = 0.0, []
    for _ in range(3):
        dose = Dose(10.0 + level, ka, ke)
        sol = dose.run(4.0)
        level = sol.sol(every)[1]
        out.append(level)
    return np.array(out)


def adaptive_by_hand(k):
    """The stepping class, driven by the user's own loop."""
    solver = DOP853(
        lambda t, y: -k * y * (1 + 0.1 * np.sin(t)), 0.0, np.array([1.0]), 2.0, rtol=1e-9
    )
    area, before = 0.0, solver.y
    while solver.status == "running":
        solver.step()
        area = area + 0.5 * (solver.t - solver.t_old) * (solver.y[0] + before[0])
        before = solver.y
    return solver.y[0], area


def implicit_by_hand(k):
    solver = Radau(
        lambda t, y: [-k * y[0] + y[1], -y[1]], 0.0, [1.0, 0.5], 1.0, rtol=1e-8, atol=1e-10
    )
    while solver.status == "running":
        solver.step()
    return solver.dense_output()(solver.t)


def old_interface(k):
    r = ode(lambda t, y, a: [y[1], -a * y[0]]).set_integrator("dopri5", rtol=1e-10, atol=1e-12)
    r.set_initial_value([1.0, 0.0], 0.0).set_f_params(k)
    out = []
    while r.successful() and r.t < 1.4:
        out.append(r.integrate(r.t + 0.5))
    return np.array(out)


def vode_with_jacobian(k):
    r = ode(lambda t, y: -k * y**2, lambda t, y: [[-2 * k * y[0]]])
    r.set_integrator("vode", method="bdf", with_jacobian=True, rtol=1e-10, atol=1e-12)
    r.set_initial_value([1.0])
    return r.integrate(1.5)


def transferred(beta, gamma):
    t = np.linspace(0, 6, 13)
    y, info = odeint(
        lambda t, y, b, g: (-b * y[0] * y[1], b * y[0] * y[1] - g * y[1]),
        [0.99, 0.01],
        t,
        args=(beta, gamma),
        tfirst=True,
        full_output=True,
        rtol=1e-10,
        atol=1e-12,
    )
    return y[-1], cumulative_trapezoid(y[:, 1], t, initial=0)[-1], info["nst"].max() * 0.0


def lsoda_fit(k):
    solver = LSODA(lambda t, y: -k * y + np.cos(t), 0, np.array([0.5]), 1.5, rtol=1e-10, atol=1e-12)
    while solver.status == "running":
        solver.step()
    return solver.y


def beam(load, stiffness):
    """A clamped beam on a bed of springs."""

    def fun(x, y):
        return np.vstack((y[1], y[2], y[3], load - stiffness * y[0]))

    def bc(a, b):
        return np.array([a[0], a[1], b[2], b[3]])

    x = np.linspace(0, 1, 11)
    sol = solve_bvp(fun, bc, x, np.zeros((4, 11)), tol=1e-8)
    return sol.sol(1.0)[0], sol.y[2, 0], np.max(np.abs(sol.y[0]))


def eigen_bvp(width):
    """The lowest mode of a string with a soft end, the frequency as a parameter."""

    def fun(x, y, p):
        return np.vstack((y[1], -(p[0] ** 2) * y[0]))

    def bc(a, b, p):
        return np.array([a[0], a[1] - p[0], b[0] + width * b[1]])

    x = np.linspace(0, 1, 9)
    y = np.vstack((np.sin(2 * x), 2 * np.cos(2 * x)))
    sol = solve_bvp(fun, bc, x, y, p=[2.2], tol=1e-9)
    return sol.p[0], sol.sol(0.5)[0]


def singular_bvp(phi):
    """Diffusion and reaction in a ball, with the singular term at its centre."""

    def fun(x, y):
        return np.vstack((y[1], phi**2 * y[0] ** 2))

    S = np.array([[0.0, 0.0], [0.0, -2.0]])
    x = np.linspace(0, 1, 7)
    sol = solve_bvp(fun, lambda a, b: np.array([a[1], b[0] - 1]), x, np.ones((2, 7)), S=S, tol=1e-7)
    return 3 * sol.y[1, -1] / phi**2


def effort(a, b):
    """Kinds of integrals that a textbook of mechanics asks for."""
    one = quad(lambda x: np.exp(-a * x) * x**b, 0, np.inf)[0]
    weighted = quad(lambda x: 1 / (1 + a * x), 0, 1, weight="alg", wvar=(-0.5, 0.2))[0]
    wave = quad(lambda x: np.exp(-a * x), 0, np.inf, weight="cos", wvar=b)[0]
    principal = quad(lambda x: np.cos(a * x), -1, 1, weight="cauchy", wvar=0.3)[0]
    kinked = quad(lambda x: np.abs(x - 0.4) ** b, 0, a, points=[0.4])[0]
    return one, weighted, wave, principal, kinked


def over_a_region(r, k):
    area = integrate.dblquad(
        lambda y, x: np.exp(-k * (x * x + y * y)), 0, r, 0, lambda x: np.sqrt(r * r - x * x)
    )
    box = integrate.nquad(
        lambda x, y, c: np.sin(c * x * y),
        [lambda y, c: (0, y + 1), (0, r)],
        args=(k,),
        opts={"epsabs": 1e-10},
    )
    return area[0], box[0]


def vector_of_moments(s):
    n = np.arange(4)
    y, _err = quad_vec(lambda x: x**n * np.exp(-s * x * x), 0, 2, epsabs=1e-12, norm="max")
    res = integrate.tanhsinh(lambda x: np.log(x + s) * np.sqrt(x), 0.0, 1.0, rtol=1e-11)
    return y, res.integral


def gauss_rules(alpha, beta):
    x, w = roots_jacobi(6, alpha, beta)
    h, v = roots_hermite(8)
    g = si.fixed_quad(lambda t: np.exp(-alpha * t * t), -1, beta, n=7)[0]
    return np.sum(w * np.cos(x)), np.sum(v * np.exp(alpha * h)), g


def newton_cotes_rule(k):
    w, _ = si.newton_cotes(6, equal=1)
    x = np.linspace(0, k, 7)
    romb = si.romb(np.sin(np.linspace(0, k, 9)), dx=k / 8)
    return k / 6 * np.sum(w * np.exp(-x)), romb, trapezoid(np.cos(x), x=x, axis=0)


def work_along_path(a):
    t = np.sort(np.r_[0, 1, np.linspace(0.1, 0.9, 7) ** a])
    force = np.exp(-t)[None] * np.array([[1.0], [a]])
    return cumulative_simpson(force, x=t, axis=-1, initial=0.0)[:, -1], simpson(force, x=t)


def discounted_utility(rho, c0):
    """A spline of consumption inside an integral inside a root."""
    s = CubicSpline([0, 1, 2, 4], [c0, 1.2, 1.1, 1.6], bc_type="natural")

    def total(x):
        return quad(lambda t: np.exp(-rho * t) * np.log(x * s(t)), 0, 4)[0] - 1.0

    return optimize.root_scalar(total, x0=1.5, x1=1.8, method="secant", xtol=1e-13).root


def collocated(k):
    """Collocation in Legendre's points, by hand."""
    x, w = roots_legendre(5)
    t = 0.5 * (x + 1)
    V = np.vander(t, 6, increasing=True)
    D = np.hstack([np.zeros((5, 1)), V[:, :-1] * np.arange(1, 6)])
    A = np.vstack([np.eye(6)[0], D + k * V * (1 + t)[:, None]])
    c = np.linalg.solve(A, np.r_[1.0, np.zeros(5)])
    return c.sum(), 0.5 * w @ (V @ c) ** 2


def thrown_with_drag(drag, angle):
    """The range of a shot, and the angle at which it meets a wall."""

    def rhs(t, s):
        v = np.hypot(s[2], s[3])
        return s[2], s[3], -drag * v * s[2], -9.81 - drag * v * s[3]

    def ground(t, s):
        return s[1]

    def wall(t, s):
        return s[0] - 5.0

    ground.terminal, ground.direction = True, -1
    start = (0, 0.5, 12 * np.cos(angle), 12 * np.sin(angle))
    sol = solve_ivp(rhs, (0, 10), start, events=(ground, wall), **TIGHT)
    return sol.t[-1], sol.y[0, -1], sol.y_events[1][0][1]


def lorentz(delay):
    """A delay by the method of steps."""
    history, t0, out = (lambda t: np.array([1.0 + 0.0 * t])), 0.0, []
    for _ in range(2):
        past = history
        sol = solve_ivp(
            lambda t, y, past=past: -1.5 * past(t - delay) + 0.1 * y,
            (t0, t0 + delay),
            past(t0) if t0 else [1.0],
            dense_output=True,
            **TIGHT,
        )
        history, t0 = sol.sol, t0 + delay
        out.append(sol.y[0, -1])
    return out


def pipeline(friction, head):
    """A network of pipes with a pump, stiff in its surge tank."""

    def rhs(t, y):
        flow, level = y
        return [
            head - level - friction * flow * abs(flow),
            30.0 * (flow - np.sqrt(abs(level) + 1e-6)),
        ]

    sol = solve_ivp(
        rhs, (0, 1), [0.5, 0.2], method="Radau", t_eval=[0.2, 0.6, 1.0], rtol=1e-8, atol=1e-10
    )
    return sol.y


def reactor_cascade(rate, feed):
    """Three stirred tanks, banded."""
    n = 3

    def rhs(t, c):
        inflow = np.concatenate([[feed], c[:-1]])
        return inflow - c - rate * c**2

    sol = solve_ivp(rhs, (0, 3), np.zeros(n), method="BDF", rtol=1e-9, atol=1e-11)
    return sol.y[:, -1]


MORE = [
    (orbit_determination, (np.array([7000.0, 100.0, 50.0]), np.array([-0.1, 7.5, 0.4]))),
    (apogee, (1.15,)),
    (two_compartments, (1.2, 8.0, 5.0)),
    (adaptive_by_hand, (0.8,)),
    (old_interface, (1.7,)),
    (vode_with_jacobian, (1.3,)),
    (transferred, (1.6, 0.5)),
    (singular_bvp, (1.2,)),
    (effort, (1.3, 0.7)),
    (over_a_region, (1.1, 0.8)),
    (vector_of_moments, (0.9,)),
    (gauss_rules, (0.3, 0.7)),
    (newton_cotes_rule, (1.3,)),
    (work_along_path, (1.2,)),
    (collocated, (0.8,)),
    (thrown_with_drag, (0.05, 0.7)),
    (lorentz, (0.6,)),
    (pipeline, (0.8, 1.5)),
]
SELDOM = [
    (oregonator, (1.1, 0.02)),
    (robertson_with_conservation, (0.04, 3e7)),
    (diode_rectifier, (0.4, 0.8)),
    (repeated_doses, (1.1, 0.3, 3.0)),
    (implicit_by_hand, (2.0,)),
    (lsoda_fit, (1.4,)),
    (beam, (1.5, 4.0)),
    (eigen_bvp, (0.3,)),
    (discounted_utility, (0.1, 1.0)),
    (reactor_cascade, (0.7, 1.2)),
]
