"""A toolbox that other modules import: distributions, solvers, links and tables by name."""

from dataclasses import dataclass, field
from functools import cache, partial

import numpy as np
import scipy.special as sc
import scipy.stats
from scipy import integrate as _integrate
from scipy.optimize import brentq as _brentq

LAWS = {
    "rayleigh": scipy.stats.rayleigh,
    "nakagami": scipy.stats.nakagami,
    "invgamma": scipy.stats.invgamma,
    "johnsonsu": scipy.stats.johnsonsu,
    "fatigue": scipy.stats.fatiguelife,
    "exponpow": scipy.stats.exponpow,
    "burr": scipy.stats.burr12,
}

LINKS = {
    "logit": (sc.logit, sc.expit),
    "probit": (sc.ndtri, sc.ndtr),
    "cloglog": (lambda p: np.log(-np.log1p(-p)), lambda z: -np.expm1(-np.exp(z))),
    "loglog": (lambda p: -np.log(-np.log(p)), lambda z: np.exp(-np.exp(-z))),
}

solve_tight = partial(_brentq, xtol=1e-14, rtol=1e-14)
integrate_tight = partial(_integrate.quad, epsabs=1e-12, epsrel=1e-12, limit=120)


def score(law, data, *shape, loc=0.0, scale=1.0, _laws=LAWS):
    return -_laws[law].logpdf(data, *shape, loc=loc, scale=scale).sum()


@cache
def chebyshev_points(n):
    x, w = sc.roots_chebyt(n)
    return x, w


def lagged(x, lags):
    return np.stack([x[k : len(x) - max(lags) + k] for k in lags])


@dataclass
class Orbit:
    """An orbit around a star, from its elements."""

    a: float
    e: float
    omega: float = 0.3
    mu: float = 1.0
    kept: dict = field(default_factory=dict, repr=False)

    @property
    def n(self):
        return np.sqrt(self.mu / self.a**3)

    def eccentric(self, M):
        f = lambda E, m: E - self.e * np.sin(E) - m
        return _brentq(f, M - 1.5, M + 1.5, args=(M,), xtol=1e-14)

    def radial_velocity(self, t):
        E = self.eccentric(self.n * t)
        nu = 2 * np.arctan2(
            np.sqrt(1 + self.e) * np.sin(E / 2), np.sqrt(1 - self.e) * np.cos(E / 2)
        )
        k = self.n * self.a / np.sqrt(1 - self.e**2)
        return k * (np.cos(nu + self.omega) + self.e * np.cos(self.omega))


class Link:
    def __init__(self, name):
        self.name = name
        self.forward, self.back = LINKS[name]

    def __call__(self, p):
        return self.forward(p)

    def inverse(self, z):
        return self.back(z)
