"""Orthogonal polynomials of SciPy's as objects, differentiated in their parameters."""

import numpy as np
import pytest
from scipy import special
from scipy.special import gegenbauer, genlaguerre, jacobi

import pullback as pb

# fmt: off
OBJECTS = {
    "value": lambda v: jacobi(3, v[0], v[1])(0.3),
    "values": lambda v: np.sum(jacobi(3, v[0], v[1])(np.array([0.1, 0.2]))),
    "coefficients": lambda v: np.sum(np.sin(jacobi(3, v[0], v[1]).coeffs)),
    "monic": lambda v: jacobi(3, v[0], v[1], monic=True)(0.3),
    "laguerre": lambda v: genlaguerre(3, v[0])(v[1]) + genlaguerre(0, v[0])(v[1]),
    "gegenbauer": lambda v: gegenbauer(3, v[0])(v[1]) + gegenbauer(2, v[1]).coef[0],
    "shifted": lambda v: special.sh_jacobi(3, v[0] + 2, v[1])(0.3),
    "slope": lambda v: jacobi(3, v[0], v[1]).deriv()(0.3) + genlaguerre(3, v[0]).integ()(v[1]),
    "nodes": lambda v: np.sum(jacobi(3, v[0], v[1]).weights[:, 1] * v[0]),
    "norm": lambda v: jacobi(3, v[0], v[1]).normcoef,
    "roots": lambda v: np.sum(np.abs(jacobi(3, v[0], v[1]).r) ** 2),
}
# fmt: on


@pytest.mark.parametrize("name", OBJECTS)
def test_parameters(name):
    f, v = OBJECTS[name], np.array([0.4, 0.9])
    value, slope = pb.value_and_grad(f)(v)
    assert value == f(v)
    along = lambda e: (f(v + 1e-5 * e) - f(v - 1e-5 * e)) / 2e-5
    np.testing.assert_allclose(slope, list(map(along, np.eye(2))), atol=1e-7)
    np.testing.assert_allclose(pb.jacobian(f, mode="forward")(v), slope, atol=1e-11)
    second = pb.hessian(f)(v)
    np.testing.assert_allclose(second, second.T, atol=1e-10)
    both = np.stack([v, 1.1 * v])
    np.testing.assert_allclose(pb.vmap(pb.grad(f))(both)[0], slope, atol=1e-11)
