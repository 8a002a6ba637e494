"""Text-book numerics: integrals, roots, interpolation."""

import math

import numpy as np


def trapezoid_rule(upper, k):
    x = np.linspace(0, upper, 21)
    y = np.exp(-k * x) * np.sin(x)
    return np.sum((y[1:] + y[:-1]) / 2 * np.diff(x))


def simpson(f, a, b, n=10):
    h = (b - a) / n
    total = f(a) + f(b)
    for i in range(1, n):
        total += (4 if i % 2 else 2) * f(a + i * h)
    return total * h / 3


def pendulum_period(amplitude):
    k = math.sin(amplitude / 2)
    return 4 * simpson(lambda t: 1 / math.sqrt(1 - k**2 * math.sin(t) ** 2), 0.0, math.pi / 2)


def kepler(mean_anomaly, eccentricity):
    e = mean_anomaly
    for _ in range(50):
        step = (e - eccentricity * math.sin(e) - mean_anomaly) / (1 - eccentricity * math.cos(e))
        e -= step
        if abs(step) < 1e-15:
            break
    return np.array([math.cos(e) - eccentricity, math.sqrt(1 - eccentricity**2) * math.sin(e)])


def lagrange(ys, at):
    xs = [0.0, 1.0, 2.5, 4.0]
    result = 0.0
    for i, xi in enumerate(xs):
        term = ys[i]
        for j, xj in enumerate(xs):
            if j != i:
                term = term * (at - xj) / (xi - xj)
        result += term
    return result


def divided_differences(x, y):
    c = np.array(y)
    for k in range(1, len(x)):
        c[k:] = (c[k:] - c[k - 1 : -1]) / (x[k:] - x[:-k])
    return c


def romberg(b):
    f = lambda x: np.exp(np.sin(x))
    r = np.zeros((4, 4))
    r[0, 0] = b * (f(0.0) + f(b)) / 2
    for i in range(1, 4):
        h = b / 2**i
        r[i, 0] = r[i - 1, 0] / 2 + h * sum(f((2 * k - 1) * h) for k in range(1, 2 ** (i - 1) + 1))
        for j in range(1, i + 1):
            r[i, j] = (4**j * r[i, j - 1] - r[i - 1, j - 1]) / (4**j - 1)
    return r[3, 3]


def cubic_spline(y, at):
    """A natural spline through equally spaced points."""
    n = len(y)
    a = 4 * np.eye(n - 2) + np.eye(n - 2, k=1) + np.eye(n - 2, k=-1)
    m = np.zeros(n)
    m[1:-1] = np.linalg.solve(a, 6 * (y[2:] - 2 * y[1:-1] + y[:-2]))
    i = int(at)
    u, v = at - i, i + 1 - at
    return (
        (m[i] * v**3 + m[i + 1] * u**3) / 6 + (y[i] - m[i] / 6) * v + (y[i + 1] - m[i + 1] / 6) * u
    )


def continued_fraction(x, depth=8):
    def level(k):
        if k == depth:
            return 2 * k + 1
        return 2 * k + 1 - x**2 / level(k + 1)

    return x / level(0)


@np.vectorize
def step_response(t):
    if t < 1:
        return t**2
    elif t < 2:
        return 2 * t - 1
    return math.log(t) + 3 - math.log(2)


def response_area(scale):
    t = np.linspace(0.1, 3, 7)
    return step_response(scale * t).sum() + step_response(scale)


def fit_and_integrate(y):
    x = np.arange(len(y)) - 2.0
    coefficients = np.polyfit(x, y, 2)
    antiderivative = np.polyint(coefficients)
    return np.polyval(antiderivative, 2.0) - np.polyval(antiderivative, -1.0)


def gauss_legendre(a, b, k):
    nodes, weights = np.polynomial.legendre.leggauss(5)
    x = 0.5 * (b - a) * nodes + 0.5 * (a + b)
    values = np.select([x < 0.5, x >= 0.5], [np.cos(k * x), np.cos(0.5 * k) * np.exp(0.5 - x)])
    return 0.5 * (b - a) * np.sum(weights * values)


Y = np.array([0.2, 1.4, -0.3, 0.8, 0.5])

PROGRAMS = [
    (trapezoid_rule, (2.0, 0.7)),
    (pendulum_period, (1.2,)),
    (kepler, (1.1, 0.3)),
    (lagrange, (Y[:4], 1.7)),
    (divided_differences, (np.array([0.0, 0.7, 1.5, 2.4]), Y[:4])),
    (romberg, (1.5,)),
    (cubic_spline, (Y, 1.6)),
    (continued_fraction, (0.8,)),
    (response_area, (0.9,)),
    (fit_and_integrate, (Y,)),
    (gauss_legendre, (-0.3, 1.4, 1.2)),
]
