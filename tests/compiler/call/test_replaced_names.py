"""compile: a package has put a function of its own in the place of one of NumPy's.

pullback itself then calls it too, so it is read before the call that is recorded, though no code
of the program names it.
"""

import subprocess
import sys

import numpy as np
import pytest

import pullback as pb
from tests.compiler.call.test_promises import compiled


class Kept:
    """An array of a package's own, with what it has made so far."""

    made: list = []  # noqa: RUF012  # programs share it

    def __init__(self, value):
        self.value = value


def taking(function):
    """The function, for objects of the package as well."""

    def call(x, *args, **kwargs):
        return function(x.value if isinstance(x, Kept) else x, *args, **kwargs)

    return call


class Model:
    def __init__(self, scale):
        self.scale = scale

    def __call__(self, x):
        padded = np.pad(self.scale * x, [[1, 2]], constant_values=0.5)
        moved = np.transpose(padded.reshape(1, -1)) @ np.array([[1.0, 2.0]])
        moved = np.array(moved, dtype=float, order="C")
        return np.sum(moved**2) + np.sum(np.broadcast_to(x[::2], (3, 2)))


@pytest.fixture(autouse=True)
def known():
    """pullback knows NumPy's own functions before they are replaced."""
    pb.grad(np.sum)(1.0)


@pytest.mark.parametrize("name", ["asarray", "broadcast_to", "array", "zeros", "multiply"])
def test_what_stands_in_a_place_of_numpys_is_read_before_it_runs(monkeypatch, name):
    def f(x):
        return Model(2.0)(x)

    x = np.array([0.2, 0.6, 0.9])
    with monkeypatch.context() as replaced:
        replaced.setattr(np, name, taking(getattr(np, name)))
        fast = compiled(pb.grad(f))
        found = [fast(x) for _ in range(3)]
    for gradient in found:
        np.testing.assert_allclose(gradient, pb.grad(f)(x))


@pytest.mark.parametrize("name", ["minimum", "exp", "sum", "asarray", "concatenate", "array"])
def test_a_program_that_calls_it_runs_it(monkeypatch, name):
    plain, called = getattr(np, name), []

    def replacement(x, *args, **kwargs):
        called.append(name)
        return plain(x, *args, **kwargs) * 2.0

    def f(x):
        given = [[x, x]] if name == "concatenate" else [x, 0.5] if name == "minimum" else [x]
        return np.cos(getattr(np, name)(*given)).sum()

    x = np.array([0.2, 0.6, 0.9])
    with monkeypatch.context() as replaced:
        replaced.setattr(np, name, replacement)
        value, gradient = pb.value_and_grad(f)(x)
        assert called
        assert value == f(x)
        moved = [(f(x + d) - f(x - d)) / 2e-6 for d in 1e-6 * np.eye(3)]
        np.testing.assert_allclose(gradient, moved, rtol=1e-6, atol=1e-8)


def test_numpys_own_takes_part_where_it_was_replaced_before():
    """As py_wake has it: it keeps what NumPy's module held, and then puts its own there."""
    code = (
        "import numpy as np\n"
        "own = np.asarray\n"
        "np.asarray = lambda x, *args, **options: own(x, *args, **options)\n"
        "import pullback as pb\n"
        "print(pb.grad(lambda x: (own(x) ** 2).sum())(np.array([1.0, 2.0])))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert done.stdout == "[2. 4.]\n", done.stderr
