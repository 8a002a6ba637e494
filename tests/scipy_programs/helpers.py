"""What the other modules import: models of a kind that a project keeps in a file of its own."""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

TIGHT = {"rtol": 1e-9, "atol": 1e-10}


def lotka_volterra(t, y, a, b, c, d):
    prey, hunters = y
    return [a * prey - b * prey * hunters, c * prey * hunters - d * hunters]


def simulate(rates, times, start=(2.0, 1.0)):
    sol = solve_ivp(lotka_volterra, (0, times[-1]), start, t_eval=times, args=tuple(rates), **TIGHT)
    return sol.y


def implied(price, f, low=1e-3, high=3.0):
    """Where f is the price."""
    return brentq(lambda v: f(v) - price, low, high, xtol=1e-13)


class Dose:
    """A dose into the gut, absorbed with a rate ka and eliminated with a rate ke."""

    def __init__(self, amount, ka, ke):
        self.amount, self.ka, self.ke = amount, ka, ke

    def slope(self, t, y):
        return np.array([-self.ka * y[0], self.ka * y[0] - self.ke * y[1]])

    def run(self, end, events=None):
        return solve_ivp(
            self.slope, (0.0, end), [self.amount, 0.0], events=events, dense_output=True, **TIGHT
        )
