"""Real operands beside complex ones, in reverse mode: each gets a cotangent of its own kind."""

import itertools

import numpy as np
import pytest

import pullback as pb
from pullback.testing import check_grads

X, SMALL = np.linspace(0.5, 1.5, 6).reshape(2, 3), np.array([0.7, 1.1, 1.9])
Z = X[::-1] * np.exp(1j * X)
OPERATIONS = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}
# What stands beside a real argument, and beside a complex one.
REAL = {"array": X + 0.2, "row": SMALL, "column": X[:, :1], "number": np.float64(0.3), "float": 0.3}
COMPLEX = {"array": Z, "row": SMALL * 1j, "column": Z[:, :1], "number": Z[0, 0], "complex": 0.3j}


def energy(y):
    """A real function of complex numbers whose slopes differ."""
    return np.sum(np.abs(y) ** 2 + 0.3 * np.real(y * y) + np.imag(y) ** 3)


def expected(f, x):
    """df/dx - i df/dy by central differences."""
    out, h = np.zeros(np.shape(x), np.asarray(x).dtype), 1e-6
    for place in np.ndindex(np.shape(x)):
        step = np.zeros(np.shape(x))
        step[place] = h
        out[place] = (f(x + step) - f(x - step)) / (2 * h)
        if np.iscomplexobj(x):
            out[place] -= 1j * (f(x + 1j * step) - f(x - 1j * step)) / (2 * h)
    return out


CASES = [
    (sign, turned, x, name)
    for sign, turned, (x, others) in itertools.product(
        OPERATIONS, (False, True), [(X, COMPLEX), (SMALL, COMPLEX), (Z, REAL), (Z[0], REAL)]
    )
    for name in others
]


@pytest.mark.parametrize(("sign", "turned", "x", "name"), CASES)
def test_beside_what_is_constant(sign, turned, x, name):
    other = (REAL if np.iscomplexobj(x) else COMPLEX)[name]
    operation = OPERATIONS[sign]
    f = lambda x: energy(operation(other, x) if turned else operation(x, other))
    found = pb.grad(f)(x)
    assert found.dtype == x.dtype
    assert found.flags.owndata
    np.testing.assert_allclose(found, expected(f, x), 1e-6, 1e-6)


@pytest.mark.parametrize("sign", OPERATIONS)
@pytest.mark.parametrize("shapes", ["alike", "row", "column", "number"])
def test_both_are_differentiated(sign, shapes):
    z = Z
    x = {"alike": X, "row": SMALL, "column": X[:, :1], "number": np.float64(0.8)}[shapes]
    operation = OPERATIONS[sign]
    for f in (
        lambda x, z: energy(operation(x, z)),
        lambda x, z: energy(operation(z, x)),
        lambda x, z: energy(operation(operation(x, z), x)),
    ):
        of_x, of_z = pb.grad(f, argnums=(0, 1))(x, z)
        assert of_x.dtype == float
        assert of_z.dtype == complex
        np.testing.assert_allclose(of_x, expected(lambda x: f(x, z), x), 1e-6, 1e-6)
        np.testing.assert_allclose(of_z, expected(lambda z: f(x, z), z), 1e-6, 1e-6)


@pytest.mark.parametrize("sign", OPERATIONS)
def test_second_derivatives(sign):
    operation = OPERATIONS[sign]
    check_grads(lambda x: energy(operation(x, Z)), (SMALL,), order=2)
    check_grads(lambda x: energy(operation(operation(1j, x), np.exp(x))), (SMALL,), order=2)
    hessian = pb.hessian(lambda x: energy(operation(x, 1j * x * SMALL)))(SMALL)
    forward = pb.jacobian(pb.jacobian(lambda x: energy(operation(x, 1j * x * SMALL))))(SMALL)
    np.testing.assert_allclose(hessian, forward, 1e-10, 1e-10)


def test_what_is_kept_is_not_what_is_written_later():
    other = Z.copy()

    def f(x):
        y = x * other
        other[...] = 0
        return energy(y)

    found = pb.grad(f)(X)
    np.testing.assert_allclose(found, pb.grad(lambda x: energy(x * Z))(X))
