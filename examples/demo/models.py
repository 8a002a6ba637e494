"""The programs that the demo differentiates: ordinary NumPy, which knows of no derivatives."""

import numpy as np


def initial_params(n_inputs, n_hidden, n_classes, rng):
    """Draw the parameters of a network with one hidden layer."""
    return {
        "w1": rng.normal(size=(n_inputs, n_hidden)) * np.sqrt(2 / n_inputs),
        "b1": np.zeros(n_hidden),
        "w2": rng.normal(size=(n_hidden, n_classes)) * np.sqrt(2 / n_hidden),
        "b2": np.zeros(n_classes),
    }


def logits(params, x):
    """Score each class, for images given as rows of x."""
    z = x @ params["w1"] + params["b1"]
    hidden = z / (1 + np.exp(-z))
    return hidden @ params["w2"] + params["b2"]


def log_softmax(z):
    """Turn rows of scores into logarithms of probabilities."""
    z = z - np.max(z, axis=1, keepdims=True)
    return z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))


def classifier_loss(params, x, y, decay=1e-5):
    """Mean negative log-likelihood of the labels y, with weight decay."""
    log_p = log_softmax(logits(params, x))
    fit = -np.mean(log_p[np.arange(len(y)), y])
    return fit + decay * (np.sum(params["w1"] ** 2) + np.sum(params["w2"] ** 2))


def logistic_loss(w, x, sign, ridge=1.0):
    """Negative log-likelihood; the labels are -1 and 1."""
    margin = sign * (x @ w)
    fit = np.sum(np.logaddexp(0, -margin))
    return fit + ridge / 2 * np.sum(w**2)
