# functions in loops are called in the same round, as programs have it
"""Differential equations: stiff and not, with events, boundary values, inside of fits."""

import numpy as np
import scipy.integrate
from scipy import integrate, optimize
from scipy.integrate import (
    RK45,
    cumulative_simpson,
    ode,
    odeint,
    romb,
    simpson,
    solve_bvp,
    solve_ivp,
    trapezoid,
)

TIGHT = {"rtol": 1e-9, "atol": 1e-11}


def robertson(t, y, k1, k2, k3):
    a, b, c = y
    return [-k1 * a + k3 * b * c, k1 * a - k3 * b * c - k2 * b**2, k2 * b**2]


def chemistry_by(method):
    def chemistry(k):
        found = solve_ivp(
            robertson,
            [0, 5.0],
            [1.0, 0.0, 0.0],
            method=method,
            args=tuple(k),
            rtol=1e-8,
            atol=1e-11,
        )
        return found.y[:, -1] * np.array([1.0, 1e4, 1.0])

    chemistry.__name__ = f"chemistry_by_{method.lower()}"
    return chemistry


def van_der_pol(mu):
    rhs = lambda t, y: np.array([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]])
    return solve_ivp(
        rhs,
        (0, 4),
        np.array([2.0, 0.0]),
        method="Radau",
        t_eval=[1.0, 2.5, 4.0],
        rtol=1e-8,
        atol=1e-10,
    ).y[0]


def infusion(ka, ke, volume):
    """Doses at fixed times: the integration starts again at each, and the area is taken."""
    t_all, c_all, state = [], [], np.zeros(2)
    for start in (0.0, 8.0, 16.0):
        state = state + np.array([5.0, 0.0])
        found = solve_ivp(
            lambda t, y: [-ka * y[0], ka * y[0] - ke * y[1]],
            (start, start + 8.0),
            state,
            t_eval=np.linspace(start, start + 8, 9),
            **TIGHT,
        )
        state = found.y[:, -1]
        t_all.append(found.t)
        c_all.append(found.y[1] / volume)
    t, c = np.hstack(t_all), np.hstack(c_all)
    return trapezoid(c, t), c.max()


class TwoCompartments:
    def __init__(self, cl, v1, q, v2):
        self.cl, self.v1, self.q, self.v2 = cl, v1, q, v2

    def __call__(self, t, y):
        c1, c2 = y[0] / self.v1, y[1] / self.v2
        flow = self.q * (c1 - c2)
        return np.array([-self.cl * c1 - flow, flow])

    def below(self, t, y):
        return y[0] / self.v1 - 0.5

    below.terminal = True


def time_below_threshold(cl, v1):
    model = TwoCompartments(cl, v1, 0.6, 3.0)
    event = lambda t, y: model.below(t, y)
    event.terminal = True
    found = solve_ivp(model, (0, 40), [10.0, 0.0], events=[event], method="DOP853", **TIGHT)
    return found.t_events[0][0], found.y_events[0][0]


def fitted_decay(data):
    """Rates by least squares through an integration, then a prediction."""
    t = np.linspace(0, 3, 6)

    def predicted(p):
        return odeint(
            lambda y, t: [
                -p[0] * y[0] + p[1],
            ],
            [2.0],
            t,
            rtol=1e-10,
            atol=1e-11,
        )[:, 0]

    p = optimize.least_squares(
        lambda p: predicted(p) - data, [0.6, 0.3], xtol=1e-14, ftol=1e-14, gtol=1e-14
    ).x
    return p, -p[0] * 1.1 + p[1]


def lorenz(params):
    s, r, b = params

    def f(state, t):
        x, y, z = state
        return s * (y - x), x * (r - z) - y, x * y - b * z

    return odeint(f, (1.0, 1.0, 1.0), np.linspace(0, 0.6, 4), rtol=1e-10, atol=1e-10)[-1]


def stepped_by_hand(k):
    """The object interface, one step after another."""
    solver = RK45(lambda t, y: -k * y, 0.0, np.array([1.0, 2.0]), 1.0, rtol=1e-8, atol=1e-10)
    while solver.status == "running":
        solver.step()
    return solver.y


def with_ode(k, y0):
    solver = ode(lambda t, y: [-k * y[0] * y[1], k * y[0] - y[1]]).set_integrator(
        "dopri5", rtol=1e-9, atol=1e-11
    )
    solver.set_initial_value(y0, 0.0)
    out = []
    while solver.successful() and solver.t < 1.5:
        out.append(solver.integrate(solver.t + 0.5))
    return np.array(out)


def dense(omega, zeta):
    f = lambda t, y: [y[1], -2 * zeta * omega * y[1] - omega**2 * y[0]]
    sol = solve_ivp(f, (0, 3), [1.0, 0.0], dense_output=True, **TIGHT).sol
    return sol(np.array([0.4, 1.7]))[0], sol(2.2)


def crossing_times(omega):
    f = lambda t, y: np.array([y[1], -(omega**2) * np.sin(y[0])])

    def zero(t, y):
        return y[0]

    zero.direction = -1
    found = solve_ivp(f, (0, 8), [1.0, 0.0], events=zero, **TIGHT)
    return np.diff(found.t_events[0])


def conduction(k):
    """The method of lines for a rod, with a matrix for the right-hand side."""
    n = 8
    L = (np.diag(-2 * np.ones(n)) + np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)) * (
        n + 1
    ) ** 2
    u0 = np.sin(np.pi * np.arange(1, n + 1) / (n + 1))
    return solve_ivp(lambda t, u: k * L @ u, (0, 0.1), u0, method="BDF", rtol=1e-8, atol=1e-10).y[
        :, -1
    ]


def brusselator(a, b):
    f = lambda t, y: np.array([a + y[0] ** 2 * y[1] - (b + 1) * y[0], b * y[0] - y[0] ** 2 * y[1]])
    return solve_ivp(f, (0, 3), [1.0, 1.0], method="LSODA", rtol=1e-9, atol=1e-11).y[:, -1]


def bratu(lam):
    f = lambda x, y: np.vstack((y[1], -lam * np.exp(y[0])))
    ends = lambda a, b: np.array([a[0], b[0]])
    x = np.linspace(0, 1, 9)
    return solve_bvp(f, ends, x, np.zeros((2, 9)), tol=1e-9).sol(0.5)[0]


def eigenvalue_problem(stiffness):
    """A boundary problem with an unknown parameter."""

    def f(x, y, p):
        return np.vstack((y[1], -(p[0] ** 2) * (1 + stiffness * x) * y[0]))

    def ends(a, b, p):
        return np.array([a[0], b[0], a[1] - p[0]])

    x = np.linspace(0, 1, 21)
    y = np.vstack([np.sin(np.pi * x), np.pi * np.cos(np.pi * x)])
    return solve_bvp(f, ends, x, y, p=[3.0], tol=1e-7).p


def shooting(g):
    """The angle that hits a target, by a root around an integration."""

    def miss(angle):
        f = lambda t, y: [y[2], y[3], -0.05 * y[2], -g - 0.05 * y[3]]
        start = [0.0, 0.0, 10 * np.cos(angle), 10 * np.sin(angle)]
        return solve_ivp(f, (0, 1.0), start, **TIGHT).y[1, -1] - 1.0

    return optimize.brentq(miss, 0.2, 1.2, xtol=1e-13)


def averages(y):
    x = np.linspace(0, 2, 9)
    return (
        trapezoid(y, x),
        simpson(y, x=x),
        romb(y, dx=0.25),
        cumulative_simpson(y, x=x)[[2, 7]],
        integrate.fixed_quad(lambda s: np.interp(s, x, y) * s, 0, 0.25, n=4)[0],
    )


def moment_of_inertia(a, b):
    return scipy.integrate.dblquad(
        lambda y, x: x**2 + y**2,
        -a,
        a,
        lambda x: -b * np.sqrt(1 - x**2 / a**2),
        lambda x: b * np.sqrt(1 - x**2 / a**2),
    )[0]


def oscillating(omega, tau):
    f = lambda t: np.exp(-t / tau)
    return (
        integrate.quad(f, 0, np.inf, weight="cos", wvar=2.0)[0]
        + integrate.quad(lambda t: f(t) * np.cos(omega * t), 0, 3)[0]
    )


def vector_integral(k):
    return integrate.quad_vec(lambda x: np.exp(-k * x) / (1 + x), 0, 2)[0]


def triple(a):
    return integrate.nquad(lambda x, y, z: np.exp(-a * (x * y + z)), [(0, 1), (0, a), (0, 1)])[0]


def adjoint_of_control(u):
    """A cost along a trajectory, with a control constant on pieces."""
    cost, y = 0.0, np.array([1.0, 0.0])
    for k in range(len(u)):
        found = solve_ivp(lambda t, y: [y[1], -y[0] + u[k]], (0, 0.5), y, **TIGHT)
        y = found.y[:, -1]
        cost += y @ y + 0.1 * u[k] ** 2
    return cost


def master_equation(birth, death):
    n = np.arange(6)
    Q = np.diag(birth * np.ones(5), -1) + np.diag(death * n[1:] * 1.0, 1)
    Q = Q - np.diag(Q.sum(axis=0))
    p0 = np.zeros(6)
    p0[0] = 1.0
    return solve_ivp(lambda t, p: Q @ p, (0, 2.0), p0, **TIGHT).y[:, -1] @ n


def relativistic(mass):
    """An implicit midpoint rule written by hand, with a fixed point in each step."""
    q, p, h = 1.0, 0.0, 0.1
    for _ in range(4):

        def midpoint(z):
            qm, pm = (q + z[0]) / 2, (p + z[1]) / 2
            return np.array([q + h * pm / np.sqrt(mass**2 + pm**2), p - h * qm])

        q, p = optimize.fixed_point(midpoint, np.array([1.0, 0.0]), xtol=1e-13)
    return q, p


PROGRAMS = [
    (chemistry_by("BDF"), (np.array([0.04, 3e2, 1e2]),)),
    (chemistry_by("Radau"), (np.array([0.04, 3e2, 1e2]),)),
    (chemistry_by("LSODA"), (np.array([0.04, 3e2, 1e2]),)),
    (van_der_pol, (5.0,)),
    (infusion, (1.1, 0.25, 8.0)),
    (time_below_threshold, (1.3, 2.0)),
    (fitted_decay, (np.array([2.0, 1.5, 1.1, 0.9, 0.8, 0.7]),)),
    (lorenz, (np.array([10.0, 28.0, 8 / 3]),)),
    (stepped_by_hand, (0.8,)),
    (with_ode, (0.7, np.array([1.0, 0.5]))),
    (dense, (2.0, 0.2)),
    (crossing_times, (1.4,)),
    (conduction, (0.5,)),
    (brusselator, (1.0, 2.2)),
    (bratu, (1.2,)),
    (eigenvalue_problem, (0.4,)),
    (shooting, (9.81,)),
    (averages, (np.cos(np.linspace(0, 2, 9)),)),
    (moment_of_inertia, (1.3, 0.7)),
    (oscillating, (2.5, 0.8)),
    (vector_integral, (np.array([0.3, 1.2]),)),
    (triple, (0.9,)),
    (adjoint_of_control, (np.array([0.3, -0.2, 0.4]),)),
    (master_equation, (0.9, 0.4)),
    (relativistic, (1.3,)),
]  # fmt: skip
