"""Dynamical systems: solvers, maps, control."""

import math

import numpy as np


def rk4(f, y, t, dt):
    k1 = f(t, y)
    k2 = f(t + dt / 2, y + dt / 2 * k1)
    k3 = f(t + dt / 2, y + dt / 2 * k2)
    k4 = f(t + dt, y + dt * k3)
    return y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def lorenz(state, rho):
    def rhs(t, y):
        a, b, c = y
        return np.array([10 * (b - a), a * (rho - c) - b, a * b - 8 / 3 * c])

    path = [state]
    for i in range(6):
        path.append(rk4(rhs, path[-1], 0.02 * i, 0.02))
    return np.array(path)


def predators(state, rates):
    birth, eaten, gain, death = rates
    history = np.zeros((8, 2))
    history[0] = state
    for i in range(1, 8):
        prey, hunters = history[i - 1]
        history[i, 0] = prey + 0.1 * (birth * prey - eaten * prey * hunters)
        history[i, 1] = hunters + 0.1 * (gain * prey * hunters - death * hunters)
    return history


class VanDerPol:
    def __init__(self, mu):
        self.mu = mu

    def __call__(self, t, y):
        return np.array([y[1], self.mu * (1 - y[0] ** 2) * y[1] - y[0]])


def limit_cycle(y, mu):
    system = VanDerPol(mu)
    for i in range(5):
        y = rk4(system, y, i * 0.1, 0.1)
    return y


def logistic_map(r, x):
    orbit = np.empty(6)
    for i in range(orbit.size):
        x = r * x * (1 - x)
        orbit[i] = x
    return orbit


def adaptive_euler(rate, y):
    """Step size control by comparing one step with two."""
    t, dt = 0.0, 0.2
    while t < 1.0:
        dt = min(dt, 1.0 - t)
        full = y + dt * (-rate * y + math.sin(t))
        half = y + dt / 2 * (-rate * y + math.sin(t))
        half = half + dt / 2 * (-rate * half + math.sin(t + dt / 2))
        if abs(full - half) < 0.01:
            t += dt
            y = 2 * half - full
            dt *= 1.3
        else:
            dt /= 2
    return y


def bouncing_ball(height, restitution):
    y, v, dt = height, 0.0, 0.05
    ys = []
    for _ in range(30):
        v -= 9.81 * dt
        y += v * dt
        if y < 0:
            y = -restitution * y
            v = -restitution * v
        ys.append(y)
    return np.asarray(ys)[[5, 12, 20, 29]]


def kalman(measurements, noise):
    x, p = np.zeros(2), np.eye(2)
    f, h = np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([[1.0, 0.0]])
    estimates = []
    for z in measurements:
        x, p = f @ x, f @ p @ f.T + 0.1 * np.eye(2)
        s = h @ p @ h.T + noise
        gain = p @ h.T @ np.linalg.inv(s)
        x = x + (gain * (z - h @ x)).ravel()
        p = (np.eye(2) - gain @ h) @ p
        estimates.append(x[0])
    return np.array(estimates)


def coupled_maps(x, coupling):
    f = lambda z: 1 - 1.4 * z**2
    for _ in range(4):
        x = (1 - coupling) * f(x) + coupling / 2 * (f(np.roll(x, 1)) + f(np.roll(x, -1)))
    return x


def lyapunov(a, b):
    """The larger exponent of the Henon map, by carrying a vector along."""
    x, y = 0.1, 0.2
    v = np.array([1.0, 0.0])
    total = 0.0
    for _ in range(5):
        jac = np.array([[-2 * a * x, 1.0], [b, 0.0]])
        x, y = 1 - a * x**2 + y, b * x
        v = jac @ v
        length = np.linalg.norm(v)
        total += np.log(length)
        v /= length
    return total / 5


PROGRAMS = [
    (lorenz, (np.array([1.0, 0.5, 20.0]), 28.0)),
    (predators, (np.array([2.0, 1.0]), np.array([1.1, 0.4, 0.2, 0.6]))),
    (limit_cycle, (np.array([0.5, 0.7]), 1.4)),
    (logistic_map, (3.1, 0.3)),
    (adaptive_euler, (2.0, 1.5)),
    (bouncing_ball, (1.0, 0.8)),
    (kalman, (np.array([0.9, 2.2, 2.8, 4.1]), 0.5)),
    (coupled_maps, (np.array([0.1, 0.5, -0.3, 0.8]), 0.2)),
    (lyapunov, (1.2, 0.25)),
]
