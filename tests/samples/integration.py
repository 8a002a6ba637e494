"""scipy.integrate: integrals, and solutions of differential equations."""

import numpy as np
from scipy import integrate

import pullback.scipy.integrate  # noqa: F401  # enters the rules
from pullback.testing import Sample
from tests.samples import served

W = np.array([1.3, 0.7])
TIMES = np.linspace(0.0, 2.0, 4)
FINE = {"rtol": 1e-6, "atol": 1e-8}


def wave(x, w):
    return np.exp(-w[0] * x**2) * np.cos(w[1] * x)


def hunt(t, y, w):
    return [w[0] * y[0] - y[0] * y[1], w[1] * y[0] * y[1] - y[1]]


def gap(t, y):
    return y[0] - 2.0


gap.terminal = True

SAMPLES = [
    Sample(served(integrate.quad, lambda f, w: np.sum(f(lambda x: wave(x, w), 0, 2)[0])), W, name="quad"),
    Sample(served(integrate.quad, lambda f, w: np.sum(f(wave, -w[1], w[0], args=(w,))[0])), W, name="quad(limits)"),
    Sample(served(integrate.quad, lambda f, w: np.sum(f(wave, -np.inf, np.inf, args=(w,))[0])), W, name="quad(infinite)"),
    Sample(served(integrate.quad, lambda f, w: np.sum(f(lambda x: x ** (-w[1] / 2) * np.log(x) * w[0], 0, 1)[0])), W, name="quad(singular)"),
    Sample(served(integrate.quad, lambda f, w: np.sum(f(lambda x: np.exp(-w[0] * x), 0, w[1], weight="cos", wvar=3.0)[0])), W, name="quad(weight)"),
    Sample(served(integrate.quad_vec, lambda f, w: np.sum(f(lambda x: np.sin(w * x), 0, w[0])[0])), W, name="quad_vec"),
    Sample(served(integrate.dblquad, lambda f, w: np.sum(f(lambda y, x: w[0] * x * y**2 * np.exp(w[1] * x), 0, w[0], 0, lambda x: w[1] * x)[0])), W, smooth=False, name="dblquad"),
    Sample(served(integrate.nquad, lambda f, w: np.sum(f(lambda x, y: w[0] * x * y**2 * np.exp(w[1] * x), [[0, w[0]], [0, w[1]]])[0])), W, smooth=False, name="nquad"),
    Sample(served(integrate.solve_ivp, lambda f, w: f(hunt, (0, 2), [1.0, w[1]], args=(w,), t_eval=TIMES, **FINE).y), W, smooth=False, name="solve_ivp"),
    Sample(served(integrate.solve_ivp, lambda f, w: f(lambda t, y: np.stack(hunt(t, y, w)), (0, 2), [1.0, w[1]], method="DOP853", t_eval=TIMES, **FINE).y), W, smooth=False, name="solve_ivp(DOP853)"),
    Sample(served(integrate.solve_ivp, lambda f, w: f(lambda t, y: np.stack(hunt(t, y, w)), (0, 2), [1.0, w[1]], method="LSODA", t_eval=TIMES, **FINE).y[:, -1]), W, smooth=False, name="solve_ivp(LSODA)"),
    Sample(served(integrate.solve_ivp, lambda f, w: f(lambda t, y: np.stack(hunt(t, y, w)), (0, 5), [1.0, w[1]], events=gap, t_eval=[0.1], **FINE).t_events[0]), W, smooth=False, name="solve_ivp(events)"),
    Sample(served(integrate.odeint, lambda f, w: f(lambda y, t: hunt(t, y, w), [1.0, w[1]], TIMES, rtol=1e-6, atol=1e-8)), W, smooth=False, name="odeint"),
    Sample(served(integrate.solve_bvp, lambda f, w: f(lambda x, y: np.stack([y[1], -w[0] * np.exp(y[0])]), lambda a, b: np.stack([a[0] - w[1], b[0]]), np.linspace(0, 1, 15), np.zeros((2, 15))).y[1]), W, smooth=False, name="solve_bvp"),
]  # fmt: skip
