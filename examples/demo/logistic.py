"""Fit a logistic regression with SciPy, with and without exact derivatives."""

import time
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import pullback as pb

from . import models


@dataclass
class Fit:
    """One way to minimise the loss, and what it took."""

    name: str
    w: np.ndarray
    gradient_norms: list[float]  # at the start and after each iteration
    n_values: int
    n_gradients: int
    n_products: int
    seconds: float


def load(seed=0):
    """Return x, sign, x_held_out, sign_held_out of the breast-cancer data, features scaled."""
    features, labels = load_breast_cancer(return_X_y=True)
    x, x_held_out, y, y_held_out = train_test_split(
        features, labels, test_size=0.25, stratify=labels, random_state=seed
    )
    scaler = StandardScaler().fit(x)
    x, x_held_out = (with_ones(scaler.transform(part)) for part in (x, x_held_out))
    return x, 2 * y - 1, x_held_out, 2 * y_held_out - 1


def with_ones(x):
    """Append a column of ones, whose weight is the intercept."""
    return np.hstack([x, np.ones((len(x), 1))])


def fit_all(x, sign):
    """Minimise the same loss three times: with two derivatives, with one, and with none."""
    loss = partial(models.logistic_loss, x=x, sign=sign)
    return [
        fit("trust-ncg with grad and hvp", loss, "trust-ncg", pb.grad(loss), pb.hvp(loss)),
        fit("BFGS with grad", loss, "BFGS", pb.grad(loss)),
        fit("BFGS without derivatives", loss, "BFGS"),
    ]


def fit(name, loss, method, gradient=None, hessian_product=None):
    """Run `scipy.optimize.minimize` from zero; a missing gradient is SciPy's to approximate."""
    w = np.zeros(loss.keywords["x"].shape[1])
    path = [w]
    started = time.perf_counter()
    result = minimize(
        loss,
        w,
        method=method,
        jac=gradient,
        hessp=hessian_product,
        callback=lambda w: path.append(w.copy()),
        options={"gtol": 1e-8},
    )
    seconds = time.perf_counter() - started
    exact = pb.grad(loss)
    return Fit(
        name=name,
        w=result.x,
        gradient_norms=[float(np.linalg.norm(exact(w))) for w in path],
        n_values=result.nfev,
        n_gradients=result.njev if gradient else 0,
        n_products=result.get("nhev", 0),
        seconds=seconds,
    )


def accuracy(w, x, sign):
    """Return the fraction of patients on the right side of the plane w."""
    return float(np.mean(np.sign(x @ w) == sign))
