"""Sequences that are neither lists nor tuples: NumPy makes arrays of them, and so does pullback."""

import math
from collections import UserList, deque
from collections.abc import Sequence

import numpy as np

import pullback as pb


class Window(Sequence):
    """The last numbers of a signal, which someone keeps in a class of their own."""

    def __init__(self, numbers):
        self.numbers = list(numbers)

    def __len__(self):
        return len(self.numbers)

    def __getitem__(self, i):
        return self.numbers[i]


def assigned(x):
    out = np.zeros(3)
    out[:2] = x
    return out


FUNCTIONS = {
    "array": np.array,
    "asarray": np.asarray,
    "nested": lambda x: np.array([x, x]),
    "assigned": assigned,
    "full": lambda x: np.full(2, x),
    "where": lambda x: np.where([True, False], x, 0.5),
    "concatenate": lambda x: np.concatenate([x, [1.0]]),
    "vstack": lambda x: np.vstack([x, x]),
    "stack": np.stack,
    "r_": lambda x: np.r_[x, 1.0],
    "fsum": math.fsum,
    "sqrt": np.sqrt,
    "mean": np.mean,
    "median": np.median,
    "std": np.std,
    "cumsum": np.cumsum,
    "dot": lambda x: np.dot(x, x),
    "einsum": lambda x: np.einsum("i,i->", x, x),
    "norm": np.linalg.norm,
    "polyval": lambda x: np.polyval(x, 2.0),
    "interp": lambda x: np.interp(0.3, [0.0, 1.0], x),
}


def test_they_are_taken_where_a_list_is():
    x = np.array([0.3, 0.7])
    failures = []
    for name, f in FUNCTIONS.items():
        of_list = lambda x, f=f: np.sum(f([2 * x[0], x[1]]))
        expected = pb.value_and_grad(of_list)(x)
        for kind in (deque, UserList, Window):
            of_kind = lambda x, f=f, kind=kind: np.sum(f(kind([2 * x[0], x[1]])))
            try:
                found = pb.value_and_grad(of_kind)(x)
            except pb.PullbackError as error:
                failures.append((name, kind.__name__, str(error)))
                continue
            if not all(map(np.array_equal, found, expected)):
                failures.append((name, kind.__name__, found, expected))
    assert not failures


def test_a_delay_line():
    """Sample by sample, compiled as well."""

    def filtered(taps, signal):
        line = deque([0.0] * len(taps), maxlen=len(taps))
        out = []
        for x in signal:
            line.appendleft(x)
            out.append(taps @ np.array(line))
        return np.sum(np.array(out) ** 2)

    taps, signal = np.array([0.5, 0.3, 0.2]), np.sin(np.arange(12.0))
    whole = lambda taps, signal: np.sum(np.convolve(signal, taps)[:12] ** 2)
    for i in (0, 1):
        gradient = pb.grad(filtered, i)
        np.testing.assert_allclose(gradient(taps, signal), pb.grad(whole, i)(taps, signal))
        compiled = pb.compile(gradient)
        for _ in range(3):
            np.testing.assert_allclose(compiled(taps, signal), gradient(taps, signal), 1e-12)
