"""Functions of matrices in every precision: values under a derivative have SciPy's dtypes."""

import warnings

import numpy as np
import pytest
from scipy import linalg as sl

import pullback as pb

V = np.array([0.3, -0.7, 1.1])
OF_ONE = (
    "expm logm sqrtm cosm sinm tanm coshm sinhm tanhm signm norm inv det pinv cholesky lu qr svd"
    " svdvals eigh eigvalsh eig eigvals schur hessenberg polar ldl null_space orth rq circulant"
    " toeplitz hankel block_diag lu_factor cho_factor"
)
FUNCTIONS = {
    **{name: getattr(sl, name) for name in OF_ONE.split()},
    "a root": lambda a: sl.fractional_matrix_power(a, 0.5),
    "the 1-norm": lambda a: sl.norm(a, 1),
    "solve": lambda a: sl.solve(a, V.astype(a.dtype)),
    "solve_sylvester": lambda a: sl.solve_sylvester(a, a, a),
    "solve_circulant": lambda a: sl.solve_circulant(a[0], a[1]),
    "solve_toeplitz": lambda a: sl.solve_toeplitz(a[0], a[1]),
    "cossin": lambda a: sl.cossin(sl.qr(np.kron(a, a)[:4, :4])[0], 2, 2),
    "subspace_angles": lambda a: sl.subspace_angles(a[:, :1], a[:, 1:]),
}


def dtypes(out):
    if isinstance(out, (tuple, list)):
        return [dtype for part in out for dtype in dtypes(part)]
    return [np.asarray(out).dtype]


@pytest.mark.parametrize("code", "efgFDG")
def test_dtypes_are_scipys(code):
    rng, wrong, asked = np.random.default_rng(0), [], 0
    a = 2 * np.eye(3) + 0.3 * rng.standard_normal((3, 3))
    for matrix in (a.astype(code), (a @ a.T).astype(code)):
        for name, function in FUNCTIONS.items():
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")  # SciPy's, of precisions that lose digits
                try:
                    right = dtypes(function(matrix))
                    found = dtypes(pb.vjp(function, matrix)[0])
                except Exception:  # a precision that it refuses, or without a rule
                    continue
            asked += 1
            if found != right:
                wrong.append((name, found, right))
    assert not wrong
    assert asked > 20
