"""Physics: particles, fields, optics, circuits."""

import math

import numpy as np

G = 9.81


def pendulum_energy(theta, length):
    omega, dt = 0.0, 0.01
    for _ in range(40):
        omega -= dt * G / length * math.sin(theta)
        theta += dt * omega
    return 0.5 * (length * omega) ** 2 - G * length * math.cos(theta)


def projectile_range(speed, angle):
    """Flight with air drag; ends where the path crosses the ground."""
    x, y = 0.0, 0.0
    vx, vy = speed * np.cos(angle), speed * np.sin(angle)
    dt, drag = 0.02, 0.05
    while True:
        v = np.sqrt(vx**2 + vy**2)
        x_new, y_new = x + dt * vx, y + dt * vy
        if y_new < 0:
            return x + (x_new - x) * y / (y - y_new)
        vx -= dt * drag * v * vx
        vy -= dt * (G + drag * v * vy)
        x, y = x_new, y_new


def coulomb_energy(positions, charges):
    energy = 0.0
    for i in range(len(positions)):
        for j in range(i):
            r = np.linalg.norm(positions[i] - positions[j])
            energy += charges[i] * charges[j] / r
    return energy


def accelerations(positions, masses):
    acc = np.zeros((len(masses), 2))
    for i in range(len(masses)):
        for j in range(len(masses)):
            if i != j:
                d = positions[j] - positions[i]
                acc[i] += masses[j] * d / (np.dot(d, d) + 0.01) ** 1.5
    return acc


def planets(positions, masses):
    """Leapfrog integration of a few bodies."""
    positions = positions.copy()
    velocities = np.zeros_like(positions)
    dt = 0.05
    acc = accelerations(positions, masses)
    for _ in range(4):
        velocities += 0.5 * dt * acc
        positions += dt * velocities
        acc = accelerations(positions, masses)
        velocities += 0.5 * dt * acc
    return positions


def heat_rod(u, conductivity):
    u = u.copy()
    for _ in range(10):
        u[1:-1] += conductivity * (u[2:] - 2 * u[1:-1] + u[:-2])
        u[0] = u[1]
        u[-1] = 0.0
    return u


def vibrating_string(shape):
    now = np.array(shape)
    before = now.copy()
    for _ in range(6):
        after = np.empty(len(now))
        after[0] = after[-1] = 0
        for i in range(1, len(now) - 1):
            after[i] = 2 * now[i] - before[i] + 0.5 * (now[i + 1] - 2 * now[i] + now[i - 1])
        before, now = now, after
    return now


def lens(f):
    return np.array([[1.0, 0.0], [-1.0 / f, 1.0]])


def telescope(f1, f2, distance):
    """The ray transfer matrix of two lenses."""
    gap = np.array([[1, distance], [0, 1]])
    system = lens(f2) @ gap @ lens(f1)
    ray = system.dot(np.array([0.1, 0.02]))
    return ray[0] / ray[1]


def oscillator_levels(stiffness, bump):
    """The lowest levels of a particle in a well, on a grid."""
    x = np.linspace(-3, 3, 15)
    h = x[1] - x[0]
    potential = 0.5 * stiffness * x**2 + bump * np.exp(-(x**2))
    hamiltonian = np.diag(potential + 1 / h**2)
    off = np.full(len(x) - 1, -0.5 / h**2)
    hamiltonian += np.diag(off, k=1) + np.diag(off, k=-1)
    return np.linalg.eigvalsh(hamiltonian)[:3]


def mean_field_magnet(temperature, field):
    m, previous = 0.9, 0.0
    while abs(m - previous) > 1e-13:
        previous = m
        m = math.tanh((m + field) / temperature)
    return m


def filter_gain(resistance, inductance, capacity):
    gains = []
    for omega in np.logspace(-1, 1, 5):
        z = resistance + 1j * omega * inductance + 1 / (1j * omega * capacity)
        gains.append(np.abs(resistance / z) ** 2)
    return np.array(gains)


PROGRAMS = [
    (pendulum_energy, (0.7, 1.3)),
    (projectile_range, (9.0, 0.8)),
    (coulomb_energy, (np.array([[0.0, 1.0], [2.0, 0.3], [1.0, -1.5]]), np.array([1.0, -2.0, 0.5]))),
    (planets, (np.array([[0.0, 1.0], [2.0, 0.3], [1.0, -1.5]]), np.array([1.0, 2.0, 0.5]))),
    (heat_rod, (np.array([0.3, 1.0, 2.5, 0.2, -1.0, 0.4]), 0.2)),
    (vibrating_string, (np.array([0.0, 0.5, 1.0, 0.3, 0.1, 0.0]),)),
    (telescope, (2.0, 0.7, 3.1)),
    (oscillator_levels, (1.1, 0.4)),
    (mean_field_magnet, (0.7, 0.1)),
    (filter_gain, (1.0, 0.5, 2.0)),
]
