"""Functions of scipy.linalg in machine code: SciPy's values, and its errors and warnings."""

import warnings

import numpy as np
import pytest
from scipy import linalg

import pullback as pb

RANDOM = np.random.default_rng(0)
M, B = RANDOM.standard_normal((4, 4)), RANDOM.standard_normal(4)
A = M @ M.T + np.eye(4)
NEARLY = np.vander(np.arange(1.0, 5.0)) @ np.diag([1e-20, 1, 1, 1])


def changed(x, place, value):
    out = x.copy()
    out[place] = value
    return out


PAIRS = {
    "as recorded": (A, B),
    "NaN": (changed(A, (1, 2), np.nan), B),
    "infinite": (changed(A, (1, 2), np.inf), B),
    "infinite diagonal": (np.diag([1.0, np.inf, 1.0, 1.0]), B),
    "NaN on the right": (A, changed(B, 1, np.nan)),
    "singular": (np.ones((4, 4)), B),
    "zero": (np.zeros((4, 4)), B),
    "negative": (-A, B),
    "nearly singular": (NEARLY, B),
}
PROGRAMS = {
    "lower": lambda a, b: linalg.solve_triangular(a, b, lower=True),
    "turned, unit": lambda a, b: linalg.solve_triangular(a, b, trans="T", unit_diagonal=True),
    "turned, lower": lambda a, b: linalg.solve_triangular(a, b, trans=2, lower=True),
    "upper factor": lambda a, b: linalg.cho_solve(linalg.cho_factor(a), b),
    "lower factor": lambda a, b: linalg.cho_solve(linalg.cho_factor(a, lower=True), b),
    "solve": lambda a, b: linalg.solve(a, b),
    "solve, positive": lambda a, b: linalg.solve(a, b, assume_a="pos", lower=True),
    "solve, symmetric": lambda a, b: linalg.solve(a, b, assume_a="sym"),
    "solve, turned": lambda a, b: linalg.solve(a, np.stack([b, 2 * b], 1), transposed=True),
    "solve, unchecked": lambda a, b: linalg.solve(a, b, check_finite=False),
    "solve, general": lambda a, b: linalg.solve(a, b, assume_a="gen"),
    "inv": lambda a, b: linalg.inv(a),
    "det": lambda a, b: linalg.det(a),
    "cholesky": lambda a, b: linalg.cholesky(a),
    "cho_factor": lambda a, b: linalg.cho_factor(a, lower=True)[0],
}


def outcome(f, *args):
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            out = f(*args)
        except Exception as error:
            return repr(error), None
    return [str(x.message) for x in given], out


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_errors_and_warnings_are_those_of_scipy(name):
    f = PROGRAMS[name]
    fast = pb.compile(f, wait=True)
    fast(A, B)
    alike = name.partition(",")[0] not in ("solve", "inv") or "general" in name
    assert ("in doubt" in str(fast.graph(A, B))) is alike  # whether by a shortcut
    for what, (a, b) in PAIRS.items():
        (told, right), (told_fast, out) = outcome(f, a, b), outcome(fast, a, b)
        assert told_fast == told, what
        if right is not None:
            np.testing.assert_allclose(out, right, rtol=1e-9, atol=1e-12, err_msg=what)


@pytest.mark.parametrize("name", ["lower", "upper factor", "solve", "solve, general", "inv", "det"])
def test_gradients(name):
    total = lambda a, b: np.sum(PROGRAMS[name](a, b) ** 2)
    expected = pb.grad(total, (0, 1))(A, B)
    for found, right in zip(
        pb.compile(pb.grad(total, (0, 1)), wait=True)(A, B), expected, strict=True
    ):
        np.testing.assert_allclose(found, right, rtol=1e-9, atol=1e-12)
