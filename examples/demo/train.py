"""Train a classifier of handwritten digits with minibatches and Adam."""

import time
from dataclasses import dataclass, field

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tqdm import tqdm

import pullback as pb

from . import models


@dataclass
class Digits:
    """Images as rows of 64 pixels between 0 and 1, with labels, in two parts."""

    x: np.ndarray
    y: np.ndarray
    x_held_out: np.ndarray
    y_held_out: np.ndarray


@dataclass
class Training:
    """What a training run leaves behind: the parameters, and one entry per epoch."""

    params: dict
    losses: list[float] = field(default_factory=list)
    accuracies: list[float] = field(default_factory=list)
    n_steps: int = 0
    seconds: float = 0.0


class Adam:
    """Kingma & Ba 2015, algorithm 1, for a dictionary of arrays."""

    def __init__(self, params, decay_mean=0.9, decay_square=0.999, epsilon=1e-8):
        self.decay_mean, self.decay_square, self.epsilon = decay_mean, decay_square, epsilon
        self.mean = {name: np.zeros_like(p) for name, p in params.items()}
        self.square = {name: np.zeros_like(p) for name, p in params.items()}
        self.n_steps = 0

    def step(self, params, gradient, rate):
        """Return the parameters after one step against the gradient."""
        self.n_steps += 1
        updated = {}
        for name, g in gradient.items():
            self.mean[name] += (1 - self.decay_mean) * (g - self.mean[name])
            self.square[name] += (1 - self.decay_square) * (g**2 - self.square[name])
            mean = self.mean[name] / (1 - self.decay_mean**self.n_steps)
            square = self.square[name] / (1 - self.decay_square**self.n_steps)
            updated[name] = params[name] - rate * mean / (np.sqrt(square) + self.epsilon)
        return updated


def load(seed=0):
    """Load the 1,797 digits that come with scikit-learn and hold a quarter of them out."""
    images, labels = load_digits(return_X_y=True)
    x, x_held_out, y, y_held_out = train_test_split(
        images / 16, labels, test_size=0.25, stratify=labels, random_state=seed
    )
    return Digits(x, y, x_held_out, y_held_out)


def shift(x, rng):
    """Move each 8x8 image by at most one pixel in each direction, so that no two epochs agree."""
    n = len(x)
    padded = np.pad(x.reshape(n, 8, 8), ((0, 0), (1, 1), (1, 1)))
    top, left = rng.choice(3, p=[0.2, 0.6, 0.2], size=(2, n))
    rows = top[:, None, None] + np.arange(8)[:, None]
    columns = left[:, None, None] + np.arange(8)
    return padded[np.arange(n)[:, None, None], rows, columns].reshape(n, 64)


def accuracy(params, x, y):
    """Return the fraction of images whose most probable class is the right one."""
    return float(np.mean(np.argmax(models.logits(params, x), axis=1) == y))


def train(digits, n_hidden=256, n_epochs=60, batch_size=64, peak_rate=0.01, seed=0, quiet=False):
    """Minimise `models.classifier_loss`; the learning rate falls along half a cosine."""
    rng = np.random.default_rng(seed)
    run = Training(models.initial_params(64, n_hidden, 10, rng))
    adam = Adam(run.params)
    loss_and_gradient = pb.value_and_grad(models.classifier_loss)
    started = time.perf_counter()
    epochs = tqdm(range(n_epochs), desc="digits", unit="epoch", disable=quiet)
    for epoch in epochs:
        rate = peak_rate * (1 + np.cos(np.pi * epoch / n_epochs)) / 2
        batches = np.array_split(rng.permutation(len(digits.y)), len(digits.y) // batch_size)
        losses = []
        for batch in batches:
            x, y = shift(digits.x[batch], rng), digits.y[batch]
            loss, gradient = loss_and_gradient(run.params, x, y)
            run.params = adam.step(run.params, gradient, rate)
            losses.append(loss)
        run.losses.append(float(np.mean(losses)))
        run.accuracies.append(accuracy(run.params, digits.x_held_out, digits.y_held_out))
        epochs.set_postfix_str(
            f"loss {run.losses[-1]:.4f}, held out {run.accuracies[-1]:.1%}", refresh=False
        )
    run.n_steps, run.seconds = adam.n_steps, time.perf_counter() - started
    return run


def step_times(params, x, y, n_turns=20):
    """Return the median seconds of the loss alone, and of the loss with its gradient."""
    return [
        float(np.median([seconds(f, params, x, y) for _ in range(n_turns)]))
        for f in (models.classifier_loss, pb.value_and_grad(models.classifier_loss))
    ]


def seconds(f, *args):
    """Return the time that f(*args) takes."""
    started = time.perf_counter()
    f(*args)
    return time.perf_counter() - started
