"""Door 5: a neural network from scratch, with operations of one's own.

A network needs three things of an engine: operations that may be added, a rule for each that goes
back, and the knowledge of what needs a gradient and what does not. Here an operation is a function
with a decorator, its rule is another function, and `requires_grad` says the rest.

Run it with `python -m examples.doors.network`. It learns to read the small digits that come with
scikit-learn; with `--data FOLDER` it learns from MNIST's original files, such as
`t10k-images-idx3-ubyte.gz`, and with `--page FILE` it writes a page in which one steps through the
forward and the backward pass of a small network.
"""

import argparse
import gc
import sys
import time
import tracemalloc
from itertools import pairwise
from pathlib import Path

import numpy as np

import pullback as pb
from pullback import nn

try:
    from tqdm import tqdm
except ImportError:  # a bar is a nicety: the epochs are then told line by line
    tqdm = None

if __package__:
    from . import mnist
else:  # run as a plain file
    import mnist


# The value is computed with NumPy, from plain arrays.
@pb.primitive
def affine(x, w, b):
    """A layer before its activation: x has one example in each row."""
    return x @ w + b


# The rule is given the cotangent of the result, what the operation kept, and which of the operands
# want a cotangent. The images of a first layer want none, and the product for them would be the
# most expensive of all: `out_bar @ w.T` has as many entries as there are pixels.
def pull_affine(out_bar, residual, wanted):
    x, w, _ = residual.xs
    return (
        out_bar @ w.T if wanted[0] else None,
        x.T @ out_bar if wanted[1] else None,
        np.sum(out_bar, axis=0) if wanted[2] else None,
    )


# `reads` is what is kept for the rule. The bias and the result are not, and their memory is free.
affine.defvjp(pull_affine, reads="x0 x1")


def scores(layers, x, layer=affine):
    """Score the classes for each row of x: layers of `affine`, with `relu` between them."""
    *hidden, last = layers
    for w, b in hidden:
        x = nn.relu(layer(x, w, b))
    return layer(x, *last)


def loss(layers, x, y, layer=affine):
    """The mean over the examples. `softmax_cross_entropy` gives one loss for each."""
    return np.mean(nn.softmax_cross_entropy(scores(layers, x, layer), y))


class Network:
    """The parameters of layers, as Arrays that gather their gradients."""

    def __init__(self, sizes, rng, layer=affine):
        self.layer = layer
        self.layers = [
            (parameter(rng.normal(size=(m, n)) * np.sqrt(2 / m)), parameter(np.zeros(n)))
            for m, n in pairwise(sizes)
        ]
        self.parameters = [p for layer in self.layers for p in layer]

    def __call__(self, x):
        return scores(self.layers, x, self.layer)

    def loss(self, x, y):
        return loss(self.layers, x, y, self.layer)


def parameter(values):
    # Half the memory of float64, and precise enough: a gradient of a few examples is a rough guess.
    return pb.array(values, dtype=np.float32, requires_grad=True)


class Momentum:
    """Gradient descent that keeps going: velocity = momentum * velocity - rate * gradient."""

    def __init__(self, parameters, momentum=0.9):
        self.parameters, self.momentum = parameters, momentum
        self.velocities = [np.zeros_like(p.data) for p in parameters]

    def step(self, rate):
        for p, velocity in zip(self.parameters, self.velocities, strict=True):
            velocity *= self.momentum
            velocity -= rate * p.grad
            p.data += velocity
            p.zero_grad()


def accuracy(network, x, y):
    """The share of examples whose highest score is that of the right class."""
    with pb.no_grad():  # nothing goes back from here, and so nothing is kept
        return float(np.mean(np.argmax(network(x), axis=1) == y))


def train(images, rng, n_hidden=128, n_epochs=10, batch_size=50, rate=0.05, quiet=False):
    """Return a trained network and its accuracy on the images held out after each epoch."""
    network = Network([images.x.shape[1], n_hidden, 10], rng)
    optimizer, accuracies = Momentum(network.parameters), []
    epochs = range(n_epochs)
    if tqdm:
        epochs = tqdm(epochs, desc=images.name, unit="epoch", disable=quiet)
    for epoch in epochs:
        rate_now = rate * (1 + np.cos(np.pi * epoch / n_epochs)) / 2
        order = rng.permutation(len(images.y))
        for start in range(0, len(order), batch_size):
            batch = order[start : start + batch_size]
            network.loss(images.x[batch], images.y[batch]).backward()
            optimizer.step(rate_now)
        accuracies.append(accuracy(network, images.x_held_out, images.y_held_out))
        recent = f"held out {accuracies[-1]:.1%}"
        if tqdm:
            epochs.set_postfix_str(recent, refresh=False)
        elif not quiet:
            print(f"epoch {epoch + 1} of {n_epochs}: {recent}", file=sys.stderr)
    return network, accuracies


# What needs no gradient costs none.


def counted_pulls(frozen=()):
    """What the rules of three layers are asked for, when some of the layers do not learn.

    Returns one entry for each call of the rule, from the last layer to the first: the names of the
    operands for which it had to compute a cotangent.
    """
    calls = []
    noted = pb.primitive(affine.__wrapped__)

    @noted.defvjp
    def pull(out_bar, residual, wanted):
        asked = zip("xwb", wanted, strict=True)
        calls.append("".join(name for name, want in asked if want))
        return pull_affine(out_bar, residual, wanted)

    rng = np.random.default_rng(0)
    network = Network([4, 3, 3, 2], rng, layer=noted)
    for i in frozen:
        for p in network.layers[i]:
            p.requires_grad = False
    network.loss(rng.normal(size=(5, 4)), np.array([0, 1, 1, 0, 1])).backward()
    return calls


# Three pains of an engine that one writes for oneself.


def operators(x):
    """Each operator is there, on either side, and so are NumPy's functions and methods."""
    y = (1 - 2 * x @ x.T / 3) ** 2 + abs(x[::-1]) // 1 - (-x).clip(-3, None) % 5
    return np.where(x > 2, np.tril(y), y.mean(axis=0)).sum()


def broadcasting():
    """What was copied along an axis receives the sum of what its copies receive."""
    column = pb.array(np.ones((3, 1)), requires_grad=True)
    row = pb.array(np.ones(4), requires_grad=True)
    number = pb.array(2.0, requires_grad=True)
    np.sum(number * column * row).backward()
    return column.grad, row.grad, number.grad


def memory(n_steps=30):
    """Bytes that are held after the first step of a training and after the last.

    The backward pass frees what the forward pass kept as it goes, and there are no cycles of
    references: memory comes back at once, here with the garbage collector turned off.
    """
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(500, 100)).astype(np.float32), rng.integers(10, size=500)
    network = Network([100, 100, 10], rng)
    optimizer, held = Momentum(network.parameters), []
    collecting = gc.isenabled()
    gc.disable()
    tracemalloc.start()
    try:
        for _ in range(n_steps):
            network.loss(x, y).backward()
            optimizer.step(0.01)
            held.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
        if collecting:
            gc.enable()
    return held[0], held[-1]


def window():
    """One loss of a small network and its backward pass, to be watched node by node.

    What holds for `.backward()` holds for a function of the parameters: these are the same two
    functions, called with arrays.
    """
    rng = np.random.default_rng(0)
    layers = [(rng.normal(size=(4, 5)), np.zeros(5)), (rng.normal(size=(5, 3)), np.zeros(3))]
    x, y = rng.normal(size=(6, 4)), rng.integers(3, size=6)
    return pb.explain(loss, argnums=0)(layers, x, y)


def show_pulls():
    print("cotangents that the rules of three layers compute, from the last to the first")
    for frozen in ((), (0,), (0, 1), (2,)):
        name = f"{', '.join(str(i + 1) for i in frozen)} frozen" if frozen else "all learn"
        print(f"  {name:<12}", " ".join(f"{call:<3}" for call in counted_pulls(frozen)).rstrip())


def show_pains():
    x = pb.array([[1.5, 2.2], [3.3, 4.4]], requires_grad=True)
    operators(x).backward()
    print("operators     d/dx =", np.round(x.grad, 3).tolist())
    column, row, number = broadcasting()
    print(f"broadcasting  (3, 1) {column.ravel()}  (4,) {row}  () {number}")
    first, last = memory()
    print(f"memory        {last - first:+,} bytes between the first step and the thirtieth")


def positive(text):
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 on")
    return int(text)


def main(argv=None):
    parser = argparse.ArgumentParser(description="Train a network on handwritten digits.")
    parser.add_argument("--data", metavar="FOLDER", help="a folder of MNIST's IDX files")
    parser.add_argument("--epochs", type=positive, default=10, help="passes over the images")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write a page to step through")
    parser.add_argument("--quiet", action="store_true", help="show no progress bar")
    options = parser.parse_args(argv)
    rng = np.random.default_rng(0)
    try:
        images = mnist.load_mnist(options.data, rng) if options.data else mnist.load_digits(rng)
    except mnist.DataError as error:
        print(error, file=sys.stderr)
        return 1
    show_pulls()
    print()
    show_pains()
    print()
    started = time.perf_counter()
    _, accuracies = train(images, rng, n_epochs=options.epochs, quiet=options.quiet)
    print(
        f"{images.name}: {len(images.y):,} images learned in {time.perf_counter() - started:.1f} s,"
        f" {accuracies[-1]:.1%} of {len(images.y_held_out):,} others read"
    )
    if options.page:
        options.page.parent.mkdir(parents=True, exist_ok=True)
        window().save(options.page)
        print(f"the page of a small network is {options.page}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
