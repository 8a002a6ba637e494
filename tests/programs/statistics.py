"""Statistics: estimates, tests, resampling."""

import numpy as np


def weighted_variance(x, weights):
    total, mean, square = 0.0, 0.0, 0.0
    for value, weight in zip(x, weights, strict=True):
        total += weight
        step = value - mean
        mean += weight / total * step
        square += weight * step * (value - mean)
    return square / total


def standardised(table):
    table = table.copy()
    table -= table.mean(axis=0)
    table /= table.std(axis=0, ddof=1)
    return table


def correlation_with_rest(table):
    c = np.corrcoef(table, rowvar=False)
    upper = np.triu_indices(len(c), k=1)
    return np.arctanh(c[upper])


def huber_loss(residuals, width):
    small = np.abs(residuals) <= width
    losses = np.where(small, 0.5 * residuals**2, width * (np.abs(residuals) - 0.5 * width))
    return losses.sum()


def trimmed_mean(x, scale):
    ordered = np.sort(x * scale)
    cut = int(0.2 * len(x))
    kept = ordered[cut:-cut]
    return np.mean(kept) + 0.1 * np.median(x) * (ordered[-1] - ordered[0])


def kernel_density(samples, bandwidth):
    grid = np.linspace(-2, 2, 9)
    u = (grid[:, None] - samples[None, :]) / bandwidth
    return np.exp(-0.5 * u**2).sum(axis=1) / (len(samples) * bandwidth * np.sqrt(2 * np.pi))


def regression_report(y, x):
    """Least squares by hand: coefficients and R squared in one dictionary."""
    design = np.column_stack([np.ones(len(x)), x, x**2])
    beta, *_ = np.linalg.lstsq(design, y, rcond=None)
    fitted = design @ beta
    report = {"beta": beta, "rss": np.sum((y - fitted) ** 2)}
    report["r2"] = 1 - report["rss"] / np.sum((y - y.mean()) ** 2)
    return np.append(report["beta"], report["r2"])


def bootstrap_errors(x):
    rng = np.random.default_rng(3)
    means = np.zeros(12)
    for k in range(12):
        picked = x[rng.integers(0, len(x), len(x))]
        means[k] = picked.mean()
    return np.std(means, ddof=1)


def f_statistic(x):
    groups = {"a": x[:3], "b": x[3:7], "c": x[7:]}
    grand = np.mean(x)
    between = sum(len(g) * (g.mean() - grand) ** 2 for g in groups.values())
    within = sum(((g - g.mean()) ** 2).sum() for g in groups.values())
    return (between / (len(groups) - 1)) / (within / (len(x) - len(groups)))


def smoothed(x, alpha):
    out = [x[0]]
    for value in x[1:]:
        out.append(alpha * value + (1 - alpha) * out[-1])
    return np.array(out)


X = np.array([0.3, -1.2, 0.8, 1.9, -0.4, 0.15, 2.2, -0.7, 1.1, 0.55])
TABLE = np.array([[0.3, 1.0, -0.2], [1.2, 0.1, 0.5], [-0.7, 0.4, 1.5], [0.9, -1.1, 0.2]])

PROGRAMS = [
    (weighted_variance, (X, np.linspace(0.5, 1.5, 10))),
    (standardised, (TABLE,)),
    (correlation_with_rest, (TABLE,)),
    (huber_loss, (X, 1.0)),
    (trimmed_mean, (X, 1.5)),
    (kernel_density, (X, 0.5)),
    (regression_report, (np.cos(X), X)),
    (bootstrap_errors, (X,)),
    (f_statistic, (X,)),
    (smoothed, (X, 0.3)),
]
