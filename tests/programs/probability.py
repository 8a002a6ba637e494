"""Probabilistic models."""

import math
from functools import lru_cache

import numpy as np


def logsumexp(x, axis=None):
    top = np.max(x, axis=axis, keepdims=True)
    return np.squeeze(top, axis=axis) + np.log(np.sum(np.exp(x - top), axis=axis))


def hidden_markov(logits):
    """The log likelihood of an observed sequence, by the forward algorithm."""
    transition = logits[:, :2] - logsumexp(logits[:, :2], axis=1)[:, None]
    emission = logits[:, 2:] - logsumexp(logits[:, 2:], axis=1)[:, None]
    observed = [0, 1, 1, 2, 0]
    alpha = np.log(0.5) + emission[:, observed[0]]
    for symbol in observed[1:]:
        alpha = logsumexp(alpha[:, None] + transition, axis=0) + emission[:, symbol]
    return logsumexp(alpha)


def mixture_step(means, x):
    """One step of expectation and maximisation."""
    density = np.exp(-0.5 * (x[:, None] - means) ** 2)
    responsibility = density / density.sum(axis=1, keepdims=True)
    weights = responsibility.mean(axis=0)
    centres = (responsibility * x[:, None]).sum(axis=0) / responsibility.sum(axis=0)
    return np.r_[weights, centres]


def stationary(p):
    p = p / p.sum(axis=1, keepdims=True)
    n = len(p)
    a = np.vstack([p.T - np.eye(n), np.ones((1, n))])
    b = np.zeros(n + 1)
    b[-1] = 1
    return np.linalg.lstsq(a, b, rcond=None)[0]


def beta_binomial(a, b):
    def log_beta(x, y):
        return math.lgamma(x) + math.lgamma(y) - math.lgamma(x + y)

    total = 0.0
    for k, n in [(3, 10), (5, 9), (0, 4)]:
        total += math.log(math.comb(n, k)) + log_beta(k + a, n - k + b) - log_beta(a, b)
    return total


def diagnosis(prior, sensitivity, specificity):
    belief = {"ill": prior, "well": 1 - prior}
    likelihood = {
        "+": {"ill": sensitivity, "well": 1 - specificity},
        "-": {"ill": 1 - sensitivity, "well": specificity},
    }
    for outcome in "+-++":
        belief = {k: p * likelihood[outcome][k] for k, p in belief.items()}
        norm = sum(belief.values())
        belief = {k: p / norm for k, p in belief.items()}
    return belief["ill"]


def divergences(p, q):
    p, q = p / p.sum(), q / q.sum()
    middle = (p + q) / 2

    def kl(a, b):
        return np.sum(a * np.log(a / b))

    return np.array([kl(p, q), kl(q, p), 0.5 * kl(p, middle) + 0.5 * kl(q, middle)])


def ruin(p):
    """The chance that a gambler is broke before a number of games is over."""

    @lru_cache(maxsize=1000)
    def chance(capital, games):
        if capital == 0:
            return 1.0
        if games == 0 or capital == 4:
            return 0.0
        return p * chance(capital + 1, games - 1) + (1 - p) * chance(capital - 1, games - 1)

    return chance(2, 7)


def metropolis(centre, width):
    rng = np.random.RandomState(5)
    x, chain = 0.2, []
    log_density = lambda z: -0.5 * ((z - centre) / width) ** 2
    for _ in range(15):
        proposal = x + width * rng.normal()
        if math.log(rng.uniform()) < log_density(proposal) - log_density(x):
            x = proposal
        chain.append(x)
    return np.mean(chain)


def soft_alignment(costs, gamma):
    """Dynamic time warping with a smooth minimum."""
    n, m = costs.shape
    r = np.full((n + 1, m + 1), 1e6)
    r[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            before = np.array([r[i - 1, j], r[i, j - 1], r[i - 1, j - 1]])
            low = before.min()
            soft = low - gamma * np.log(np.exp((low - before) / gamma).sum())
            r[i, j] = costs[i - 1, j - 1] + soft
    return r[n, m]


def evidence_bound(mean, log_std):
    rng = np.random.default_rng(11)
    noise = rng.standard_normal((6, len(mean)))
    samples = mean + np.exp(log_std) * noise
    log_joint = -0.5 * np.sum(samples**2, axis=1) - np.sum((samples - 1.0) ** 4, axis=1)
    entropy = np.sum(log_std) + 0.5 * len(mean) * np.log(2 * np.pi * np.e)
    return log_joint.mean() + entropy


P = np.array([[0.6, 0.3, 0.2], [0.2, 0.9, 0.4], [0.3, 0.1, 0.7]])

PROGRAMS = [
    (hidden_markov, (np.sin(np.arange(10.0)).reshape(2, 5),)),
    (mixture_step, (np.array([-0.8, 1.1]), np.array([-1.0, -0.3, 0.4, 1.2, 1.9]))),
    (stationary, (P,)),
    (beta_binomial, (1.7, 2.4)),
    (diagnosis, (0.01, 0.9, 0.95)),
    (divergences, (P[0], P[1])),
    (ruin, (0.45,)),
    (metropolis, (0.5, 1.3)),
    (soft_alignment, (np.abs(np.subtract.outer([0.1, 0.9, 0.4], [0.2, 0.5, 1.1, 0.3])), 0.2)),
    (evidence_bound, (np.array([0.3, -0.2]), np.array([-0.5, 0.1]))),
]
