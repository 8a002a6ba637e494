"""What the programs of a college share: a material, a step of order four, a polynomial."""

from dataclasses import dataclass

from scipy.optimize import brentq


@dataclass(frozen=True)
class Material:
    E: float
    K: float
    n: float

    def strain(self, stress):
        return stress / self.E + (stress / self.K) ** (1 / self.n)

    def stress(self, strain):
        return brentq(lambda s: self.strain(s) - strain, 1e-8, self.E * 1.0)


def rk4(f, y, t0, t1, n):
    h = (t1 - t0) / n
    t = t0
    for _ in range(n):
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h / 2 * k1)
        k3 = f(t + h / 2, y + h / 2 * k2)
        k4 = f(t + h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += h
    return y


def horner(coefficients, x):
    out = 0.0
    for c in coefficients:
        out = out * x + c
    return out
