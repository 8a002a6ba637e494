"""Routines of BLAS that programs call by name, and what they overwrite, against BLAS."""

import numpy as np
import pytest
from scipy.linalg import blas, get_blas_funcs

import pullback as pb

A, B, C = (np.sin(k + np.arange(9.0)).reshape(3, 3) + 3.0 * np.eye(3) for k in (0.0, 1.0, 2.0))
X, Y = np.array([0.3, -0.5, 0.8]), np.array([1.0, 2.0, -1.0])
CALLS = {
    "gemm": [
        lambda r, s: r(s, A, B), lambda r, s: r(1.5, s * A, B, 0.5, C, trans_a=1),
        lambda r, s: r(1.5, A, s * B, beta=s, c=C, trans_b=2), lambda r, s: over(r, s, 1.0, A, B),
    ],
    "symm": [lambda r, s: r(s, A, B), lambda r, s: r(2.0, A, s * B, s, C, side=1, lower=1)],
    "syrk": [lambda r, s: r(2.0, s * A), lambda r, s: r(s, A, 0.5, C, trans=1, lower=1)],
    "trmm": [lambda r, s: r(s, A, B), lambda r, s: r(1.0, s * A, B, side=1, lower=1, diag=1),
             lambda r, s: r(1.0, A, s * B, trans_a=1)],
    "trsm": [lambda r, s: r(s, A, B), lambda r, s: r(1.0, s * A, B, side=1, lower=1),
             lambda r, s: r(1.0, A, s * B, trans_a=2, diag=1)],
    "gemv": [lambda r, s: r(s, A, X), lambda r, s: r(1.0, A, s * X, 0.5, Y, trans=1)],
    "ger": [lambda r, s: r(s, X, Y), lambda r, s: r(1.0, s * X, Y, a=C)],
    "dot": [lambda r, s: r(s * X, Y), lambda r, s: r(X, [s, s, s])],
    "axpy": [lambda r, s: r(s * X, np.array(Y), a=2.0), lambda r, s: r(X, s * Y, a=s)],
    "scal": [lambda r, s: r(s, np.array(X))],
    "nrm2": [lambda r, s: r(s * X)],
}  # fmt: skip


def over(routine, s, alpha, a, b):
    """What a routine overwrites, by a name of its own."""
    c = np.zeros((3, 3), order="F")
    routine(alpha, s * a, b, c=c, overwrite_c=True)
    return c


def test_routines():
    faults = {}
    for name, calls in CALLS.items():
        for i, call in enumerate(calls):
            routine = getattr(blas, "d" + name)
            weights = np.cos(np.arange(np.size(call(routine, 1.3)))).reshape(
                np.shape(call(routine, 1.3))
            )

            def f(s, call=call, routine=routine, weights=weights):
                return np.sum(weights * call(routine, s))

            expected = (f(1.3 + 1e-5) - f(1.3 - 1e-5)) / 2e-5
            value, gradient = pb.value_and_grad(f)(1.3)
            if not np.isclose(value, f(1.3), rtol=1e-12) or not np.isclose(gradient, expected):
                faults[name, i] = value, f(1.3), gradient, expected
    assert faults == {}


def test_complex_and_by_kind():
    def f(s):
        gemm, gerc, nrm2 = get_blas_funcs(("gemm", "gerc", "nrm2"), dtype=complex)
        product = gemm(1.0, s * A + 1j * B, C, trans_a=2)
        return np.abs(product).sum() + np.imag(gerc(1j, s * X + 1j, Y)).sum() + nrm2(s * X + 1j)

    expected = (f(1.3 + 1e-5) - f(1.3 - 1e-5)) / 2e-5
    value, gradient = pb.value_and_grad(f)(1.3)
    assert value == pytest.approx(f(1.3), rel=1e-12)
    assert gradient == pytest.approx(expected, rel=1e-6)
