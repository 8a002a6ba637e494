"""Chemistry and biology: kinetics, molecules, populations."""

import math

import numpy as np

GAS = 8.314


def arrhenius(energy, factor):
    temperatures = np.arange(300, 400, 20)
    rates = factor * np.exp(-energy / (GAS * temperatures))
    slope, intercept = np.polyfit(1000 / temperatures, np.log(rates), 1)
    return rates.sum() + slope + intercept


def titration(acid, constant):
    """The pH, from the charge balance by Newton's method."""
    h = 1e-3
    for _ in range(40):
        f = h + 0.01 - constant * acid / (h + constant) - 1e-14 / h
        slope = 1 + constant * acid / (h + constant) ** 2 + 1e-14 / h**2
        change = f / slope
        while h - change <= 0:
            change = change / 2
        h = h - change
    return -math.log10(h)


def lennard_jones(coordinates):
    n = len(coordinates)
    i, j = np.triu_indices(n, k=1)
    r2 = np.sum((coordinates[i] - coordinates[j]) ** 2, axis=1)
    s6 = 1 / r2**3
    return np.sum(4 * (s6**2 - s6))


def reactions(start, constants):
    stoichiometry = np.array([[-1, 1, 0], [0, -2, 1], [1, 0, -1]])
    c = start * 1.0
    for _ in range(20):
        speed = np.array([constants[0] * c[0], constants[1] * c[1] ** 2, constants[2] * c[2]])
        c += 0.05 * speed @ stoichiometry
    return c


def huckel(alpha, beta):
    """Occupied levels of a ring with one changed site."""
    n = 6
    h = np.zeros((n, n))
    for k in range(n):
        h[k, k] = alpha if k else 1.3 * alpha
        h[k, (k + 1) % n] = h[(k + 1) % n, k] = beta
    levels = np.sort(np.linalg.eigvalsh(h))
    return 2 * sum(levels[: n // 2])


def michaelis_menten(vmax, km, inhibitor):
    substrate = np.array([0.5, 1.0, 2.0, 5.0])
    speeds = {}
    for ki in (0.5, 2.0):
        speeds[ki] = vmax * substrate / (km * (1 + inhibitor / ki) + substrate)
    return np.vstack(list(speeds.values()))


def leslie(births, survival):
    n = len(births)
    matrix = np.zeros((n, n))
    matrix[0] = births
    matrix[np.arange(1, n), np.arange(n - 1)] = survival
    population = np.ones(n)
    for _ in range(5):
        population = matrix @ population
    return population / population.sum()


def epidemic(infection, recovery):
    s, i, r = 0.99, 0.01, 0.0
    peak = 0.0
    for _ in range(60):
        new, healed = 0.5 * infection * s * i, 0.5 * recovery * i
        s, i, r = s - new, i + new - healed, r + healed
        peak = max(peak, i)
    return np.array([s, r, peak])


def gate(v, shift):
    return 1 / (1 + math.exp(-(v - shift) / 10))


def neuron(current):
    """Spikes of a leaky neuron with a slow gate."""
    v, w = -65.0, 0.1
    trace = np.zeros(40)
    for t in range(40):
        w += 0.1 * (gate(v, -40.0) - w)
        v += 0.5 * (-(v + 65) * 0.2 - 30 * w + current)
        if v > -45:
            v = v - 20
        trace[t] = v
    return trace[::8]


def evolutionary_distance(rates):
    """Expected matches of two sequences under a substitution model."""
    q = np.zeros((4, 4))
    q[np.triu_indices(4, 1)] = rates
    q = q + q.T
    np.fill_diagonal(q, -q.sum(axis=1))
    values, vectors = np.linalg.eigh(q)
    p = vectors @ np.diag(np.exp(0.5 * values)) @ vectors.T
    counts = {("A", "A"): 7, ("A", "G"): 2, ("C", "T"): 1, ("G", "G"): 4}
    index = {base: k for k, base in enumerate("ACGT")}
    return sum(n * np.log(p[index[a], index[b]]) for (a, b), n in counts.items())


PROGRAMS = [
    (arrhenius, (2500.0, 0.8)),
    (titration, (0.1, 1e-3)),
    (lennard_jones, (np.array([[0.0, 0.1, 0.0], [1.2, 0.0, 0.2], [0.3, 1.1, 0.1]]),)),
    (reactions, (np.array([1.0, 0.2, 0.1]), np.array([0.8, 0.5, 0.3]))),
    (huckel, (-1.0, -0.7)),
    (michaelis_menten, (2.0, 0.8, 0.4)),
    (leslie, (np.array([0.2, 1.3, 0.9]), np.array([0.7, 0.5]))),
    (epidemic, (0.9, 0.3)),
    (neuron, (8.0,)),
    (evolutionary_distance, (np.array([0.3, 0.5, 0.2, 0.4, 0.6, 0.1]),)),
]
