"""Initial value problems whose right-hand sides jump or have kinks, and smooth ones.

Each is f(p, **how) for a vector p; `how` holds the tolerances.
"""

import math

import numpy as np
from scipy import integrate, interpolate


def last(fun, p, y0=(0.0,), t1=2.0, args=(), method="RK45", t0=0.0, weights=None, **how):
    """A weighted sum of the last state of solve_ivp."""
    y0 = np.stack([x + 0.0 * p[0] for x in y0])
    how = {"method": method, **how}
    y = integrate.solve_ivp(fun, (t0, t1), y0, args=args, **how).y[:, -1]
    return np.sum(y * np.arange(1, y.shape[0] + 1)) if weights is None else np.sum(y * weights)


def by_odeint(fun, p, y0=(0.0,), t1=2.0, **how):
    y0 = np.stack([x + 0.0 * p[0] for x in y0])
    return integrate.odeint(fun, y0, np.array([0.0, t1 / 3, t1]), **how)[:, 0].sum()


def by_ode(fun, p, y0=(0.0,), t1=2.0, kind="dopri5", **how):
    solver = integrate.ode(fun).set_integrator(kind, nsteps=100000, **how)
    solver.set_initial_value(np.stack([x + 0.0 * p[0] for x in y0]), 0.0)
    solver.integrate(0.6 * t1)
    return np.sum(solver.integrate(t1))


def branch(c, a, b):
    return a if c else b


def looped(t, y, p):
    """Several doses, one after the other."""
    total = -0.5 * y
    for k in range(3):
        if p[0] + 0.5 * k < t < p[0] + 0.5 * k + p[1]:
            total = total + 2.0
    return total


def dose_list(t, y, p):
    times = np.array([0.2, 0.9, 1.4]) * p[0]
    amounts = np.array([1.0, 2.0, 3.0]) * p[1]
    active = (t >= times) & (t < times + 0.25)
    return -y + np.sum(np.where(active, amounts, 0.0))


class Heater:
    def __init__(self, power, level):
        self.power, self.level = power, level

    def __call__(self, t, y):
        return -y + (self.power if y[0] < self.level else 0.8 * self.power)


def table_step(t, y, p):
    heights = np.array([0.0, 1.0, 3.0, -1.0])
    edges = np.array([0.5, 1.1, 1.6]) * p[0]
    return heights[np.searchsorted(edges, t)] - p[1] * y


def spring(t, y, p):
    """A spring that is stiffer on one side, with a gap."""
    x, v = y
    force = np.where(x > p[0], -9.0 * (x - p[0]) - 0.5, np.where(x < -p[0], -4.0 * x, 0.0))
    return np.stack([v, force - p[1] * v])


def measured(t, y, p):
    """A loop of Newton's inside the right-hand side, which is smooth."""
    z = 1.0 + 0.0 * y[0]
    for _ in range(50):
        step = (z * z - (2.0 + t * p[0] + y[0] ** 2)) / (2 * z)
        z = z - step
        if abs(step) < 1e-12:
            break
    return np.stack([-p[1] * z])


P = np.array

# Jumps: the right-hand side itself jumps where p moves.
JUMPS = {
    "pulse ends": (
        lambda p, **h: last(lambda t, y: np.where(t < p[0], 1.0, 0.0) - y, p, **h),
        P([0.8]),
    ),
    "pulse ends, if": (
        lambda p, **h: last(lambda t, y: (1.0 if t < p[0] else 0.0) - y, p, **h),
        P([0.8]),
    ),
    "pulse of a height": (
        lambda p, **h: last(lambda t, y: p[1] * (t >= p[0]) - y, p, **h),
        P([0.8, 2.0]),
    ),
    "pulse between": (
        lambda p, **h: last(
            lambda t, y: np.where((t > p[0]) & (t < p[0] + p[1]), 2.0, 0.0) - p[2] * y, p, **h
        ),
        P([0.3, 0.6, 1.3]),
    ),
    "heaviside": (
        lambda p, **h: last(lambda t, y: np.heaviside(t - p[0], 0.5) - y, p, **h),
        P([1.1]),
    ),
    "sign of time": (
        lambda p, **h: last(lambda t, y: np.sign(np.sin(p[0] * t)) - y, p, t1=3.0, **h),
        P([3.0]),
    ),
    "square wave": (
        lambda p, **h: last(lambda t, y: np.floor(p[0] * t) % 2 - 0.3 * y, p, t1=3.0, **h),
        P([1.7]),
    ),
    "sawtooth": (lambda p, **h: last(lambda t, y: t % p[0] - y, p, t1=2.0, **h), P([0.7])),
    "stairs": (lambda p, **h: last(lambda t, y: np.floor(t / p[0]) - y, p, **h), P([0.45])),
    "int of time": (
        lambda p, **h: last(lambda t, y: P([1.0, 4.0, 2.0, 0.0, 1.0])[int(t / p[0])] - y, p, **h),
        P([0.55]),
    ),
    "searchsorted": (lambda p, **h: last(lambda t, y: table_step(t, y, p), p, **h), P([1.1, 0.7])),
    "doses in a loop": (lambda p, **h: last(lambda t, y: looped(t, y, p), p, **h), P([0.3, 0.2])),
    "doses in arrays": (
        lambda p, **h: last(lambda t, y: dose_list(t, y, p), p, **h),
        P([1.05, 1.5]),
    ),
    "args": (
        lambda p, **h: last(
            lambda t, y, a, b: np.where(t < a, b, 0.0) - y, p, args=(p[0], p[1]), **h
        ),
        P([0.8, 1.5]),
    ),
    "tfinal inside": (
        lambda p, **h: last(lambda t, y: np.where(t < p[0], 1.0, 0.0) - y, p, t1=2 * p[0], **h),
        P([0.8]),
    ),
    "RK23": (
        lambda p, **h: last(
            lambda t, y: np.where(t < p[0], 1.0, -1.0) * y, p, (1.0,), method="RK23", **h
        ),
        P([0.8]),
    ),
    "DOP853": (
        lambda p, **h: last(
            lambda t, y: np.where(t < p[0], 1.0, -1.0) * y, p, (1.0,), method="DOP853", **h
        ),
        P([0.8]),
    ),
    "Radau": (
        lambda p, **h: last(
            lambda t, y: np.where(t < p[0], 1.0, -1.0) * y, p, (1.0,), method="Radau", **h
        ),
        P([0.8]),
    ),
    "BDF": (
        lambda p, **h: last(
            lambda t, y: np.where(t < p[0], 1.0, -1.0) * y, p, (1.0,), method="BDF", **h
        ),
        P([0.8]),
    ),
    "LSODA": (
        lambda p, **h: last(
            lambda t, y: np.where(t < p[0], 1.0, -1.0) * y, p, (1.0,), method="LSODA", **h
        ),
        P([0.8]),
    ),
    "odeint": (
        lambda p, **h: by_odeint(lambda y, t: np.where(t < p[0], 1.0, -1.0) - y, p, **h),
        P([0.8]),
    ),
    "odeint, state": (
        lambda p, **h: by_odeint(
            lambda y, t: np.where(y < p[0], 2.0, 1.5), p, **{**h, "mxstep": 5000}
        ),
        P([0.8]),
    ),
    "ode, dopri5": (
        lambda p, **h: by_ode(lambda t, y: np.where(t < p[0], 1.0, 0.0) - y, p, **h),
        P([0.8]),
    ),
    "ode, vode": (
        lambda p, **h: by_ode(lambda t, y: np.where(t < p[0], 1.0, 0.0) - y, p, kind="vode", **h),
        P([1.5]),
    ),
    "state, if": (
        lambda p, **h: last(lambda t, y: [branch(y[0] < p[0], 2.0, 0.5) + 0.0 * y[0]], p, **h),
        P([0.7]),
    ),
    "state, where": (
        lambda p, **h: last(lambda t, y: np.where(y < p[0], p[1], 0.5 * y), p, (0.1,), **h),
        P([0.7, 1.2]),
    ),
    "state, of y0": (
        lambda p, **h: last(lambda t, y: np.where(y < 1.0, 2.0, 0.5), p, (p[0],), **h),
        P([0.3]),
    ),
    "class": (lambda p, **h: last(Heater(p[0], p[1]), p, t1=1.5, **h), P([1.5, 0.6])),
    "friction, not stopping": (
        lambda p, **h: last(
            lambda t, y: np.stack([y[1], 3.0 * np.cos(3 * t) - y[0] - p[0] * np.sign(y[1])]),
            p,
            (0.0, 1.0),
            **h,
        ),
        P([0.3]),
    ),
    "relay": (
        lambda p, **h: last(
            lambda t, y: np.stack([y[1], -p[0] * np.sign(y[0])]), p, (1.0, 0.0), t1=4.0, **h
        ),
        P([1.3]),
    ),
    "gap": (
        lambda p, **h: last(lambda t, y: spring(t, y, p), p, (1.0, 0.0), t1=3.0, **h),
        P([0.2, 0.1]),
    ),
    "two levels": (
        lambda p, **h: last(
            lambda t, y: np.stack(
                [y[1], -np.where(y[0] > p[0], 3.0, 1.0) * y[0] - np.where(y[1] > p[1], 0.5, 0.0)]
            ),
            p,
            (1.0, 0.0),
            t1=4.0,
            **h,
        ),
        P([0.4, 0.2]),
    ),
    "mixed time and state": (
        lambda p, **h: last(lambda t, y: np.where(y > p[0] * t, -1.0, 1.0), p, (0.5,), t1=0.6, **h),
        P([1.4]),
    ),
    "argmax": (
        lambda p, **h: last(
            lambda t, y: P([1.0, -0.5])[np.argmax(np.stack([p[0] - t, t - p[0]]))] * y,
            p,
            (1.0,),
            **h,
        ),
        P([0.9]),
    ),
    "round": (lambda p, **h: last(lambda t, y: np.round(p[0] * t) - y, p, **h), P([1.3])),
    "clip and jump": (
        lambda p, **h: last(
            lambda t, y: np.clip(y, 0.2, 0.8) * np.where(t > p[0], 2.0, 1.0), p, (0.1,), **h
        ),
        P([0.6]),
    ),
    "select": (
        lambda p, **h: last(
            lambda t, y: np.select([t < p[0], t < 2 * p[0]], [1.0 + 0 * y, 3.0 + 0 * y], -y), p, **h
        ),
        P([0.6]),
    ),
    "piecewise": (
        lambda p, **h: last(
            lambda t, y: np.piecewise(t, [t < p[0], t >= p[0]], [lambda t: t, lambda t: 2.0]) - y,
            p,
            **h,
        ),
        P([0.7]),
    ),
    "math.floor": (lambda p, **h: last(lambda t, y: math.floor(t / p[0]) - y, p, **h), P([0.45])),
    "copysign": (
        lambda p, **h: last(lambda t, y: np.copysign(1.0, t - p[0]) - y, p, **h),
        P([0.9]),
    ),
    "two species": (
        lambda p, **h: last(
            lambda t, y: np.stack([-y[0] + (y[1] > p[0]) * 1.0, y[0] - 0.2 * y[1] + (t < p[1])]),
            p,
            (0.2, 0.1),
            **h,
        ),
        P([0.5, 0.9]),
    ),
    "t_eval": (
        lambda p, **h: np.sum(
            integrate.solve_ivp(
                lambda t, y: np.where(t < p[0], 1.0, 0.0) - y,
                (0, 2),
                [0.0],
                t_eval=[0.5, 1.0, 2.0],
                **h,
            ).y
        ),
        P([0.8]),
    ),
    "dense": (
        lambda p, **h: np.sum(
            integrate.solve_ivp(
                lambda t, y: np.where(y < p[0], 2.0, 0.3), (0, 2), [0.0], dense_output=True, **h
            ).sol(1.3)
        ),
        P([0.8]),
    ),
    "event beyond": (
        lambda p, **h: integrate.solve_ivp(
            lambda t, y: [1.0 + (t > p[0]) * 2.0 - 0.1 * y[0]],
            (0, 3),
            [0.0],
            events=lambda t, y: y[0] - 2.0,
            **h,
        ).t_events[0][0],
        P([0.8]),
    ),
    "backwards": (
        lambda p, **h: last(lambda t, y: np.where(t < p[0], 1.0, 0.0) - y, p, t0=2.0, t1=0.0, **h),
        P([0.8]),
    ),
    "no args, times list": (
        lambda p, **h: last(
            lambda t, y: sum(1.0 * (t > p[0] * k) for k in (0.4, 0.9, 1.3)) - 0.5 * y, p, **h
        ),
        P([1.1]),
    ),
}

# Kinks: the right-hand side is continuous; the first derivative is what the steps give.
KINKS = {
    "ramp": (lambda p, **h: last(lambda t, y: np.maximum(t - p[0], 0.0) - y, p, **h), P([0.8])),
    "abs of state": (
        lambda p, **h: last(
            lambda t, y: np.stack([y[1], -np.abs(y[0]) * y[0] - p[0] * np.abs(y[1])]),
            p,
            (1.0, 0.0),
            t1=3.0,
            **h,
        ),
        P([0.4]),
    ),
    "minimum": (
        lambda p, **h: last(lambda t, y: np.minimum(y, p[0]) + 0.5, p, (0.1,), **h),
        P([0.8]),
    ),
    "clip": (
        lambda p, **h: last(lambda t, y: np.clip(p[0] * y, 0.3, 1.0), p, (0.1,), **h),
        P([0.9]),
    ),
    "if, kink": (
        lambda p, **h: last(
            lambda t, y: [y[0] if y[0] < p[0] else 2 * y[0] - p[0]], p, (0.3,), **h
        ),
        P([0.9]),
    ),
    "where, kink": (
        lambda p, **h: last(lambda t, y: np.where(t < p[0], t, p[0]) - 0.5 * y, p, **h),
        P([0.9]),
    ),
    "relu": (
        lambda p, **h: last(lambda t, y: -np.where(y > p[0], y - p[0], 0.0), p, (2.0,), **h),
        P([0.6]),
    ),
    "two that cancel": (
        lambda p, **h: last(
            lambda t, y: np.maximum(t - p[0], 0) - np.maximum(t - 0.8, 0) - y, p, **h
        ),
        P([0.8]),
    ),
    "triangle wave": (
        lambda p, **h: last(lambda t, y: np.abs((t / p[0]) % 1.0 - 0.5) - y, p, **h),
        P([0.75]),
    ),
}


def rhs(name, a, b):
    return SMOOTH_SIDES[name](a, b)


SMOOTH_SIDES = {
    "decay": lambda a, b: (lambda t, y: -a * y, (1.0,)),
    "logistic": lambda a, b: (lambda t, y: a * y * (1 - y / b), (0.2,)),
    "pendulum": lambda a, b: (
        lambda t, y: np.stack([y[1], -a * np.sin(y[0]) - 0.1 * b * y[1]]),
        (0.8, 0.0),
    ),
    "lotka": lambda a, b: (
        lambda t, y: np.stack([a * y[0] - y[0] * y[1], y[0] * y[1] - b * y[1]]),
        (1.0, 0.6),
    ),
    "forced": lambda a, b: (lambda t, y: np.cos(a * t) - b * y, (0.0,)),
    "van der pol": lambda a, b: (
        lambda t, y: np.stack([y[1], a * (1 - y[0] ** 2) * y[1] - b * y[0]]),
        (1.0, 0.0),
    ),
    "pulse, smooth": lambda a, b: (lambda t, y: np.exp(-(((t - a) / 0.3) ** 2)) - b * y, (0.0,)),
    "tanh switch": lambda a, b: (lambda t, y: np.tanh(5 * (t - a)) - b * y, (0.0,)),
    "loop inside": lambda a, b: (lambda t, y: measured(t, y, [a, b]), (0.5,)),
    "fixed jump": lambda a, b: (lambda t, y: np.where(t < 0.5, a, b) - y, (0.0,)),
    "interpolated": lambda a, b: (
        lambda t, y: (
            interpolate.CubicSpline([0.0, 1.0, 2.0, 3.0], np.stack([a, b, 1.0, 0.5]))(t) - y
        ),
        (0.0,),
    ),
    "three": lambda a, b: (
        lambda t, y: np.stack([a * (y[1] - y[0]), y[0] * (b - y[2]) - y[1], y[0] * y[1] - y[2]]),
        (1.0, 1.0, 1.0),
    ),
}


def smooth(name, how):
    def f(p, **options):
        fun, y0 = rhs(name, p[0], p[1])
        if how == "odeint":
            return by_odeint(lambda y, t: fun(t, y), p, y0, **options)
        return last(fun, p, y0, method=how, **options)

    return f


SMOOTH = {
    f"{name}, {how}": (smooth(name, how), P([1.1, 0.8]))
    for name in SMOOTH_SIDES
    for how in ("RK45", "LSODA", "odeint")
}


# Narrow shapes of (x - k) / w: kinks that lie close together. Each with the integral of x times it
# over [0, 1], its derivatives by k and w, and widths at which `quad` finds it.
RAMP = (
    lambda k, w: (1 - (k + w) ** 2) / 2 + k * w / 2 + w * w / 3,
    lambda k, w: [-k - w / 2, -k / 2 - w / 3],
    (0.3, 1e-4),
)
HAT = (lambda k, w: k * w, lambda k, w: [w, k], (0.05, 1e-4))
BOX = (lambda k, w: 2 * k * w, lambda k, w: [2 * w, 2 * k], (0.05, 2e-3))
SHAPES = {
    "clip": (lambda u: np.clip(u, 0.0, 1.0), RAMP),
    "clip to arrays": (lambda u: np.clip(u * np.ones(2), np.zeros(2), np.ones(2))[1], RAMP),
    "minimum": (lambda u: np.minimum(np.maximum(u, 0.0), 1.0), RAMP),
    "nested clips": (lambda u: np.clip(np.clip(u + 0.5, 0.0, 2.0) - 0.5, 0.0, 1.0), RAMP),
    "equal": (lambda u: np.where(np.clip(u, 0.0, 1.0) == u, u, 1.0 * (u > 0)), RAMP),
    "if": (lambda u: 0.0 if u < 0 else u if u < 1 else 1.0, RAMP),
    "hat": (lambda u: np.maximum(1 - np.abs(u), 0.0), HAT),
    "hat of clips": (lambda u: np.clip(1 - np.abs(u), 0.0, 1.0), HAT),
    "hat of ramps": (lambda u: np.dot([1, -2, 1], np.maximum(u + np.arange(-1, 2), 0)), HAT),
    "box of abs": (lambda u: np.where(np.abs(u) < 1, 1.0, 0.0), BOX),
    "box of squares": (lambda u: np.where(u * u < 1, 1.0, 0.0), BOX),
}
