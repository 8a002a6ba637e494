"""Optimisation: descent, Newton, constraints."""

import numpy as np


def rosenbrock_descent(start, rate):
    x = start.copy()
    for _ in range(15):
        gradient = np.zeros(2)
        gradient[0] = -2 * (1 - x[0]) - 40 * x[0] * (x[1] - x[0] ** 2)
        gradient[1] = 20 * (x[1] - x[0] ** 2)
        x -= rate * gradient
    return x


def newton_minimum(shift):
    """Newton's method in the plane, with the Hessian written down."""
    x, y = 0.5, 0.5
    for _ in range(12):
        gradient = np.array([4 * x**3 + y - shift[0], 2 * y + x - shift[1]])
        hessian = np.array([[12 * x**2, 1.0], [1.0, 2.0]])
        step = np.linalg.solve(hessian, gradient)
        x, y = x - step[0], y - step[1]
    return np.array([x, y])


def backtracking(x, scale):
    def cost(z):
        return np.sum(np.cosh(z)) + scale * z[0] * z[1]

    for _ in range(3):
        direction = -np.sinh(x) - scale * x[::-1]
        step = 1.0
        while cost(x + step * direction) > cost(x) - 0.1 * step * np.dot(direction, direction):
            step *= 0.5
        x = x + step * direction
    return x


class Momentum:
    def __init__(self, rate, decay=0.9):
        self.rate, self.decay = rate, decay
        self.velocity = 0.0

    def step(self, x, gradient):
        self.velocity = self.decay * self.velocity - self.rate * gradient
        return x + self.velocity


def heavy_ball(x, rate):
    optimiser = Momentum(rate, decay=0.8)
    for _ in range(10):
        x = optimiser.step(x, np.array([3.0, 1.0]) * np.sin(x))
    return x


def box_descent(x, target):
    lower, upper = np.zeros(3), np.ones(3)
    for _ in range(5):
        x = np.clip(x - 0.3 * (x - target) * np.arange(1, 4), lower, upper)
    return x


def soft(z, t):
    if z > t:
        return z - t
    elif z < -t:
        return z + t
    return 0.0


def lasso(a, y, penalty):
    """Coordinate descent."""
    w = np.zeros(a.shape[1])
    for _ in range(4):
        for j in range(len(w)):
            rest = y - a @ w + a[:, j] * w[j]
            w[j] = soft(a[:, j] @ rest, penalty) / (a[:, j] ** 2).sum()
    return w


def bfgs(x):
    def gradient(z):
        return np.array([2 * z[0] + z[1] + np.exp(z[0]), z[0] + 4 * z[1] - 1.0])

    h = np.eye(2) * 0.3
    g = gradient(x)
    for _ in range(4):
        s = -h @ g
        x = x + s
        g, old = gradient(x), g
        y = g - old
        rho = 1 / np.dot(y, s)
        left = np.eye(2) - rho * np.outer(s, y)
        h = left @ h @ left.T + rho * np.outer(s, s)
    return x


def gauss_newton(params, data):
    t = np.arange(len(data)) * 0.5
    a, k = params
    for _ in range(3):
        model = a * np.exp(-k * t)
        jac = np.c_[np.exp(-k * t), -t * model]
        da, dk = np.linalg.lstsq(jac, data - model, rcond=None)[0]
        a += da
        k += dk
    return np.array([a, k])


def barrier_path(c):
    x, mu = np.array([0.3, 0.3]), 1.0
    while mu > 0.2:
        for _ in range(5):
            slack = 1 - x.sum()
            gradient = c - mu / x + mu / slack
            hessian = np.diag(mu / x**2) + mu / slack**2
            x = x - np.linalg.solve(hessian, gradient)
        mu /= 2
    return x


A = np.array([[0.3, 1.0, -0.2], [1.2, 0.1, 0.5], [-0.7, 0.4, 1.5], [0.9, -1.1, 0.2]])

PROGRAMS = [
    (rosenbrock_descent, (np.array([-0.4, 0.7]), 0.01)),
    (newton_minimum, (np.array([3.0, 1.0]),)),
    (backtracking, (np.array([1.2, -0.7]), 0.3)),
    (heavy_ball, (np.array([1.0, -0.6]), 0.1)),
    (box_descent, (np.array([0.2, 0.4, 0.9]), np.array([0.5, 1.6, -0.8]))),
    (lasso, (A, np.array([1.0, 2.0, -0.5, 0.3]), 0.2)),
    (bfgs, (np.array([0.5, -0.2]),)),
    (gauss_newton, (np.array([1.8, 0.5]), np.array([2.0, 1.5, 1.3, 0.8, 0.7]))),
    (barrier_path, (np.array([1.0, 0.6]),)),
]
