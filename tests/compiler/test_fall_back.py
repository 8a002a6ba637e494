"""What cannot be compiled goes on in Python, with one warning: a call never raises for that."""

import warnings

import numpy as np
import pytest

import pullback as pb
from pullback.compiler import fall_back, program


def f(x):
    while np.sum(x) < 100:
        x = np.sin(x) * 0.1 + x * 1.5
    return np.sum(x * x)


def long(x):
    """A loop in Python that is done in machine code while it is recorded."""
    _, rows = pb.scan(lambda c, row: (c * 0.9 + row, c), x[0] * 0, np.ones(3000) * x[1])
    return np.sum(rows)


def counting(x):
    def step(c):
        return c[0] + 1.0, c[1] * 0.999

    return pb.while_loop(lambda c: c[0] < 3000.0, step, (x[0], x))[1]


def plain(g):
    return lambda x: pb.grad(lambda x: np.sum(g(x)))(x)


CALLS = {
    "value": (f, lambda: pb.compile(f, wait=True)),
    "value, in time": (f, lambda: pb.compile(f)),
    "gradient": (pb.grad(f), lambda: pb.compile(pb.grad(f), wait=True)),
    "of compiled": (pb.grad(f), lambda: pb.grad(pb.compile(f, wait=True))),
    "a long loop": (long, lambda: pb.compile(long, wait=True)),
    "a loop of unknown length": (counting, lambda: pb.compile(counting, wait=True)),
    "the way back": (plain(counting), lambda: pb.compile(plain(counting), wait=True)),
}


@pytest.mark.parametrize("name", CALLS)
def test_an_error_while_machine_code_is_made(name, monkeypatch):
    def failing(*args):
        raise KeyError("injected")

    monkeypatch.setattr(program, "Lowered", failing)
    slow, make = CALLS[name]
    monkeypatch.setattr(fall_back, "SAID", set())
    fast, x = make(), np.array([20.0, 31.0, 12.0])
    right = slow(x)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        for _ in range(40 if name == "value, in time" else 4):
            np.testing.assert_allclose(fast(x), right, rtol=1e-12)
    texts = [str(w.message) for w in heard]
    assert texts or name == "value, in time", "nothing was said"
    assert all("falls back to Python" in x and "KeyError: 'injected'" in x for x in texts), texts
    assert len(texts) == len(set(texts)) <= 3, texts
    assert all(w.filename == __file__ for w in heard)
