"""Bodies of loops that are no functions: under a transformation they raise, or are right.

Each body reads a number that changes from call to call (STATES) in some way (USES), in each kind of
loop, in each mode. What a loop gives under a transformation is compared with a `for` loop of
Python's, or it raises.
"""

from __future__ import annotations

import collections
import itertools
import random as python_random

import numpy as np
import pytest

import pullback as pb
from pullback.core.errors import ArgumentError

W, N = np.array([0.7, 0.9, 1.3, 0.4, 1.1, 0.6, 0.8, 1.2]), 4


class Holder:
    n = 0


def nonlocal_count():
    n = 0

    def count():
        nonlocal n
        n += 1
        return n

    return count


def list_item():
    k = [0]

    def count():
        k[0] += 1
        return k[0]

    return count


def list_length():
    k = []
    return lambda: k.append(1) or len(k)


def popped():
    k = list(range(30, 0, -1))
    return lambda: k.pop()


def dict_value():
    d = collections.defaultdict(int)

    def count():
        d["n"] += 1
        return d["n"]

    return count


def attribute():
    holder = Holder()

    def count():
        holder.n += 1
        return holder.n

    return count


def array_item():
    k = np.zeros(1, int)

    def count():
        k[0] += 1
        return int(k[0])

    return count


def rotated():
    d = collections.deque(range(1, 20))

    def count():
        d.rotate(-1)
        return d[-1]

    return count


def iterator():
    numbers = iter(range(1, 50))
    return lambda: next(numbers)


def counter():
    numbers = itertools.count(1)
    return lambda: next(numbers)


def generator():
    numbers = (n for n in range(1, 50))
    return lambda: next(numbers)


def default():
    def count(k=[0]):  # noqa: B006  # that is the subject
        k[0] += 1
        return k[0]

    return count


def drawn():
    random = np.random.default_rng(0)
    return lambda: int(random.integers(1, 10**6))


def shuffled():
    random = python_random.Random(1)
    return lambda: random.randrange(1, 10**6)


STATES = [
    nonlocal_count, list_item, list_length, popped, dict_value, attribute, array_item, rotated,
    iterator, counter, generator, default, drawn, shuffled,
]  # fmt: skip


@pb.custom_jvp
def scaled(x, n):
    return x * n


scaled.defjvp(lambda primals, tangents: (primals[0] * primals[1], tangents[0] * primals[1]))

USES = {
    "index": lambda c, w, k: c + w[k % 8],
    "slice": lambda c, w, k: c + w[k % 8 :].sum(),
    "roll": lambda c, w, k: c + (np.roll(w, k) * W).sum(),
    "constant": lambda c, w, k: c * (1.0 + 0.1 * (k % 7)),
    "array": lambda c, w, k: c + (w * np.arange(k, k + 8)).sum(),
    "power": lambda c, w, k: (c / 2) ** (1 + k % 3),
    "shape": lambda c, w, k: c + w[: k % 8 + 1].mean(),
    "axis": lambda c, w, k: c + (np.outer(w, w * W).cumsum(axis=k % 2) * W).sum(),
    "branch": lambda c, w, k: c * w[0] if k % 2 else c + w[1],
    "operation": lambda c, w, k: (np.sin if k % 2 else np.cos)(c),
    "order": lambda c, w, k: np.sort(w)[k % 8] * c,
    "inner loop": lambda c, w, k: pb.fori_loop(0, 1 + k % 3, lambda i, d: d * 0.9, c),
    "inner body": lambda c, w, k: pb.fori_loop(0, 2, lambda i, d: d * w[k % 8], c),
    "checkpoint": lambda c, w, k: pb.checkpoint(lambda c: c * w[k % 8])(c),
    "custom rule": lambda c, w, k: scaled(c, 1.0 + 0.1 * (k % 7)),
    "primitive": lambda c, w, k: pb.Elementwise(
        lambda x: x * (k % 7), lambda out, x: float(k % 7), name="mine"
    )(c),
    "mapped": lambda c, w, k: pb.vmap(lambda x: x * (k % 8))(w).sum() * c,
    "derivative": lambda c, w, k: pb.grad(lambda c: c * w[k % 8] * c)(c),
    "asked": lambda c, w, k: c * w[k % 8] if c > 0 else c + k,
    "threshold": lambda c, w, k: c * w[0] if k < 6 else c - w[1],
    "dtype": lambda c, w, k: c * np.sum(w.astype([np.float32, np.float64][k % 2])),
}


def looped(verb, body, c):
    """body(c) N times."""
    if verb == "scan":
        return pb.scan(lambda c, _: (body(c), None), c, length=N)[0]
    if verb == "fori_loop":
        return pb.fori_loop(0, N, lambda i, c: body(c), c)
    if verb == "while_loop":
        step = lambda pair: (body(pair[0]), pair[1] + 1)
        return pb.while_loop(lambda pair: pair[1] < N, step, (c, 0))[0]
    for _ in range(N):
        c = body(c)
    return c


def program(state, use, verb):
    """A function of w that makes its state anew in each call."""

    def loss(w):
        count = state()
        return looped(verb, lambda c: USES[use](c, w, count()), 1.5 * w[2])

    return loss


MODES = {
    "grad": lambda f: pb.grad(f)(W),
    "jvp": lambda f: pb.jvp(f, (W,), (W[::-1].copy(),))[1],
    "linearize": lambda f: pb.linearize(f, W)[1](W[::-1].copy()),
    "vmap": lambda f: pb.vmap(f)(np.stack([W, W + 0.1])),
    "second": lambda f: pb.grad(lambda w: pb.grad(f)(w) @ W)(W),
}


def eager(f):
    w = pb.array(W, requires_grad=True)
    f(w).backward()
    return w.grad


MODES["eager"] = eager


@pytest.mark.share(4)
@pytest.mark.parametrize("verb", ["scan", "fori_loop", "while_loop"])
@pytest.mark.parametrize("use", USES)
def test_state_that_changes_is_seen(use, verb):
    """5,292 programs and modes for all three loops together: right or an error."""
    silent = []
    for state, mode in itertools.product(STATES, MODES):
        if (use, mode) == ("asked", "vmap"):
            continue  # refused, as everywhere
        right = MODES[mode](program(state, use, "for"))
        try:
            got = MODES[mode](program(state, use, verb))
        except ArgumentError as error:
            got = right if "counts its calls" in str(error) else str(error)
        if isinstance(got, str) or not np.allclose(got, right, rtol=1e-5):
            silent.append((state.__name__, mode, got, right))
    assert not silent


PURE = {
    "index": lambda c, w: c + w[3],
    "slice": lambda c, w: c + w[2:].sum(),
    "computed outside": lambda c, w: c * np.sin(w).sum() + np.linalg.norm(w[1:]),
    "function": lambda c, w: pb.checkpoint(lambda c: c * w[1])(c),
    "primitive": lambda c, w: (
        pb.Elementwise(lambda x: x * 2, lambda out, x: 2.0, name="mine")(c) * w[0]
    ),
    "inner loop": lambda c, w: pb.fori_loop(0, 2, lambda i, d: d * w[i], c),
    "custom rule": lambda c, w: scaled(c, 0.5),
    "mapped": lambda c, w: pb.vmap(lambda x: x * c)(w).sum(),
    "derivative": lambda c, w: pb.grad(lambda c: c * w[1] * c)(c),
    "asked": lambda c, w: c * w[1] if c > 0.5 else c + w[0],
}


@pytest.mark.parametrize("verb", ["scan", "fori_loop", "while_loop"])
@pytest.mark.parametrize("name", PURE)
def test_functions_are_not_taken_for_others(name, verb):
    """Bodies that are functions run in every mode, whatever they close over and make anew."""
    for mode in MODES:
        if (name, mode) == ("asked", "vmap"):
            continue  # refused, as everywhere
        got, right = [
            MODES[mode](lambda w, v=v: looped(v, lambda c: PURE[name](c, w), 1.5 * w[2]))
            for v in (verb, "for")
        ]
        np.testing.assert_allclose(got, right, rtol=1e-10, err_msg=mode)
