"""Private functions of NumPy's that packages call: in Python, and the ufuncs of `numpy.linalg`."""

import numpy as np
from numpy._core import _methods, fromnumeric, numeric
from numpy.lib import _arraypad_impl, _function_base_impl, _nanfunctions_impl
from numpy.linalg import _linalg, _umath_linalg

from tests.agreement import has_slopes
from tests.together import try_all

A = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, -0.2], [0.1, -0.2, 1.1]])
X = np.array([0.5, 1.5, 2.5])


def solved(a, b):
    """As array-API packages write `solve` anew."""
    a, _ = _linalg._makearray(a)
    b, wrap = _linalg._makearray(b)
    solve = _umath_linalg.solve if b.ndim > 1 else _umath_linalg.solve1
    return wrap(solve(a, b, signature="dd->d").astype(float, copy=False))


PROGRAMS = {
    "solve": lambda x: solved(A * x[0], np.outer(x, x)).sum() + solved(A, x)[0],
    "inverse": lambda x: _umath_linalg.inv(A * x[0])[0, 0] + _umath_linalg.det(A * x[1]),
    "spectra": lambda x: (
        _umath_linalg.eigvalsh_lo(A * x[0])[0] + _umath_linalg.eigh_lo(A * x[1])[0][1]
    ),
    "factor": lambda x: _umath_linalg.cholesky_lo(A * x[0])[1, 0],
    "products": lambda x: _linalg._multi_dot_three(np.outer(x, x), A, A)[0, 0],
    "median": lambda x: _function_base_impl._median(x),
    "axes": lambda x: (
        x[numeric.normalize_axis_tuple(-1, 1)[0]] * numeric.moveaxis(A * x, 0, 1)[2, 0]
    ),
    "wrapped": lambda x: fromnumeric._wrapfunc(x, "sum"),
    "methods": lambda x: _methods._mean(x) + _methods._std(x) + _methods._clip(x, 1.0, 2.0).sum(),
    "padded": lambda x: _arraypad_impl._pad_simple(x, ((1, 1),), 0)[0][1:-1].sum(),
    "holes": lambda x: _nanfunctions_impl._replace_nan(x, 0)[0].sum(),
}


def test_private_functions():
    try_all(has_slopes, [(name, (f, X)) for name, f in PROGRAMS.items()])
