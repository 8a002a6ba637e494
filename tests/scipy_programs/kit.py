"""What the programs of `ward`, `registry` and `forecast` share: imported by their authors."""

from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import numpy as np
from scipy import stats
from scipy.integrate import odeint, solve_ivp
from scipy.linalg import cho_factor, cho_solve, solve_discrete_are
from scipy.optimize import brentq

PRECISE = {"rtol": 1e-9, "atol": 1e-11}


def matern32(r, ell):
    s = np.sqrt(3.0) * r / ell
    return (1 + s) * np.exp(-s)


def squared(r, ell):
    return np.exp(-0.5 * (r / ell) ** 2)


KERNELS = {"matern": matern32, "squared": squared}


@dataclass
class GP:
    kernel: str
    ell: float
    noise: float
    X: np.ndarray = field(default_factory=lambda: np.linspace(0, 3, 10))

    def gram(self, a, b):
        return KERNELS[self.kernel](np.abs(a[:, None] - b[None, :]), self.ell)

    def fit(self, y):
        K = self.gram(self.X, self.X)
        K[np.diag_indices_from(K)] += self.noise
        self.factor = cho_factor(K, lower=True)
        self.alpha = cho_solve(self.factor, y)
        self.y = y
        return self

    def predict(self, x):
        k = self.gram(np.atleast_1d(x), self.X)
        v = cho_solve(self.factor, k.T)
        return k @ self.alpha, 1.0 - np.einsum("ij,ji->i", k, v)

    @property
    def evidence(self):
        half = np.log(np.diag(self.factor[0])).sum()
        return -0.5 * self.y @ self.alpha - half - 0.5 * len(self.y) * np.log(2 * np.pi)


class Linear:
    """x' = A x + B u, sampled."""

    def __init__(self, A, B):
        self.A, self.B = np.asarray(A), np.asarray(B)

    def gain(self, Q, R):
        P = solve_discrete_are(self.A, self.B, Q, R)
        return np.linalg.solve(R + self.B.T @ P @ self.B, self.B.T @ P @ self.A), P

    def run(self, K, x, n):
        cost = 0.0
        for _ in range(n):
            u = -K @ x
            cost = cost + x @ x + 0.1 * u @ u
            x = self.A @ x + self.B @ u
        return cost, x


def rates(t, z, a, b, c, d):
    x, y = z
    return [a * x - b * x * y, -c * y + d * x * y]


def trajectory(pars, t, z0=(1.0, 0.6), method="RK45"):
    sol = solve_ivp(rates, (t[0], t[-1]), z0, t_eval=t, args=tuple(pars), method=method, **PRECISE)
    assert sol.success, sol.message
    return sol.y


def by_odeint(pars, t, z0=(1.0, 0.6)):
    return odeint(rates, z0, t, args=tuple(pars), tfirst=True, **PRECISE).T


root_between = partial(brentq, xtol=1e-14, rtol=1e-14)


class Prior:
    """Independent priors by name."""

    LAWS: ClassVar = {"normal": stats.norm, "gamma": stats.gamma, "half": stats.halfnorm}

    def __init__(self, **laws):
        self.laws = {name: self.LAWS[kind](*args) for name, (kind, *args) in laws.items()}

    def __call__(self, **values):
        return sum(self.laws[name].logpdf(value) for name, value in values.items())
