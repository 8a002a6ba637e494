"""A second derivative warns of a kink that a step of a loop meets, whichever step and loop it is.

Loops of all kinds add up smooth functions that are written with kinks: where a step comes to one,
the second derivative is right or a warning is given; elsewhere there is none. First derivatives
never warn.
"""

import warnings

import numpy as np
import pytest

import pullback as pb
from tests.budgets import LONG, in_turn
from tests.primitives.test_kinks import MODES

# Squares of a number, written with kinks at 0.
SQUARES = {
    "abs": lambda u: np.abs(u) ** 2,
    "norm": lambda u: np.linalg.norm(np.stack([u, 0 * u])) ** 2,
    "parts": lambda u: np.maximum(u, 0.0) ** 2 + np.clip(u, -999.0, 0.0) ** 2,
    "product": lambda u: np.maximum(u, -u) ** 2,
    "sign": lambda u: (np.sign(u) * u) ** 2,
    "heaviside": lambda u: ((2 * np.heaviside(u, 0.5) - 1) * u) ** 2,
    "relu": lambda u: pb.nn.relu(u) ** 2 + pb.nn.relu(-u) ** 2,
}
STEPS = 20


def python_while(x, g):
    y, s, t = x[0] * 1.0, 0.0 * x[0], x[1] * 1.0
    while t > 0:
        y, s, t = y - 1.0, s + g(y), t - 1.0
    return s


def python_for(x, g, steps=120):
    y, s = x[0] * 1.0, 0.0 * x[0]
    for _ in range(steps):
        y, s = y - 1.0, s + g(y)
    return s


def while_loop(x, g):
    step = lambda c: (c[0] - 1.0, c[1] + g(c[0]), c[2] - 1.0)
    return pb.while_loop(lambda c: c[2] > 0, step, (x[0] * 1.0, 0.0 * x[0], x[1] * 1.0))[1]


def fori_loop(x, g):
    step = lambda i, c: (c[0] - 1.0, c[1] + g(c[0]))
    return pb.fori_loop(0, STEPS, step, (x[0] * 1.0, 0.0 * x[0]))[1]


def rows(x, g, reverse=False):
    step = lambda s, row: (s + 0.0, g(x[0] - row))
    _, ys = pb.scan(step, 0.0, np.arange(float(STEPS)), reverse=reverse)
    return np.sum(ys)


def nested(x, g):
    inner = lambda c, row: ((c[0] - 1.0, c[1] + g(c[0])), None)
    outer = lambda c, row: (pb.scan(inner, c, np.zeros(4))[0], None)
    return pb.scan(outer, (x[0] * 1.0, 0.0 * x[0]), np.zeros(STEPS // 4))[0][1]


LOOPS = {
    "while": (python_while, STEPS),
    "for": (python_for, 120),
    "while_loop": (while_loop, STEPS),
    "fori_loop": (fori_loop, STEPS),
    "rows": (rows, STEPS),
    "rows from the last": (lambda x, g: rows(x, g, reverse=True), STEPS),
    "nested": (nested, STEPS),
}
BESIDE, LENGTH = 3.25, STEPS - 0.5


def at(number):
    return np.array([number, LENGTH])


def mapped(derive):
    return lambda f: lambda x: pb.vmap(derive(f))(np.stack([x + np.array([0.25, 0.0]), x]))[1]


def called_twice(fast):
    """Here what falls back to Python says so, as a step under `vmap` does that asks for a value."""
    given_by(fast, at(BESIDE)), given_by(fast, at(BESIDE + 1))


def compiled(derive):
    def made(f):
        fast = pb.compile(derive(f), wait=True)
        called_twice(fast)
        return fast

    return made


def of_compiled(derive):
    def made(f):
        fast = pb.compile(f, wait=True)
        called_twice(derive(fast))
        return derive(fast)

    return made


WAYS = {"eager": lambda derive: derive, "compiled": compiled, "of a compiled one": of_compiled}


def given_by(f, x):
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        found = f(x)
    return found, [w for w in met if issubclass(w.category, pb.LostDerivativeWarning)]


def forms():
    """(a name, a loop in a mode, how many steps it has)."""
    derivatives = {name: MODES[name] for name in MODES if name != "mapped"}
    derivatives["mapped"] = mapped(pb.hessian)
    number = 0
    for loop, (run, steps) in LOOPS.items():
        for square, g in SQUARES.items():
            for mode, derive in derivatives.items():
                if mode == "mapped" and loop == "while":
                    continue  # the examples may end at different steps
                for way, made in WAYS.items():
                    number += 1
                    if LONG or (number % 37 == 0 and in_turn(number, 3)):
                        f = made(derive)(lambda x, run=run, g=g: run(x, g))
                        yield (loop, square, mode, way), f, steps


@pytest.mark.share(4)
def test_kinks_of_steps():
    faults = {}
    for name, f, steps in forms():
        right = np.diag([2.0 * steps, 0.0])
        for place in ("first", "later", "last"):
            x = at({"first": 0.0, "later": 3.0, "last": steps - 1.0}[place])
            found, met = given_by(f, x)
            if not met and not np.allclose(found, right):
                faults[(*name, place)] = found.tolist()
        found, met = given_by(f, at(BESIDE + 2))
        if met or not np.allclose(found, right):
            faults[(*name, "beside")] = found.tolist(), [str(w.message) for w in met]
    assert faults == {}


@pytest.mark.share(4)
@pytest.mark.parametrize("name", LOOPS)
def test_no_warning_where_no_second_derivative_meets_one(name):
    """Nor of a first derivative, nor where the kink is in a branch that is not picked."""
    run, steps = LOOPS[name]
    picks = lambda u: np.where(u >= 0, u**2, np.minimum(u, 0) ** 3 + u**2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for way in WAYS.values():
            for derive in (pb.grad, lambda f: pb.jacobian(f, mode="forward")):
                slope = way(derive)(lambda x: run(x, SQUARES["abs"]))(at(3.0))
                assert np.isclose(slope[0], 2 * sum(3.0 - k for k in range(steps)))
        second = pb.hessian(lambda x: run(x, picks))(at(3.0))[0, 0]
    cubes = sum(6 * (3.0 - k) for k in range(4, steps))
    assert np.isclose(second, 2 * steps + cubes)


def test_mapped_examples_with_loops_of_different_lengths():
    f = lambda x: while_loop(x, SQUARES["abs"])
    xs = np.array([[3.25, 5.5], [3.0, 9.5], [9.0, 2.5]])
    found, met = given_by(pb.vmap(pb.hessian(f)), xs)
    assert met
    assert found[:, 0, 0].tolist() == [12.0, 18.0, 6.0]
    found, met = given_by(pb.vmap(pb.hessian(f)), xs[[0, 2]])
    assert not met
    assert found[:, 0, 0].tolist() == [12.0, 6.0]
