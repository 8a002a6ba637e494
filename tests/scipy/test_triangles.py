"""What reads one triangle of a symmetric matrix has the derivative by that triangle.

The others are differentiated by both: each element is moved alone, and so are the differences.
"""

import numpy as np
import pytest
import scipy.linalg as sl
import scipy.spatial.distance
import scipy.stats as st

import pullback as pb
from tests.transforms.test_eager import numeric

RNG = np.random.default_rng(0)
P, M, X = (
    0.5 * RNG.standard_normal(3),
    0.1 * RNG.standard_normal(3),
    RNG.standard_normal((3, 3)) / 2,
)
C = np.eye(3) * 1.5 + 0.2
ZERO = np.zeros((3, 3))
NORMAL, STUDENT, MATRIX = st.multivariate_normal, st.multivariate_t, st.matrix_normal
drawing = np.random.default_rng
EXACT = {"abseps": 1e-10, "releps": 1e-10, "maxpts": 10**5}


def whole_of_two(a):
    """A function of two variables only, for which SciPy has a formula."""
    return NORMAL.cdf(P[:2], M[:2], a[:2, :2])


# fmt: off
OF_COVARIANCES = {
    "normal": lambda a: NORMAL.logpdf(P, M, a),
    "density": lambda a: NORMAL.pdf(np.stack([P, M]), M, a).sum(),
    "singular ones allowed": lambda a: NORMAL.logpdf(P, M, a, allow_singular=True),
    "frozen": lambda a: NORMAL(M, a).logpdf(P),
    "entropy": lambda a: NORMAL.entropy(M, a),
    "frozen entropy": lambda a: NORMAL(M, a).entropy(),
    "probability of two": whole_of_two,
    "probability": lambda a: NORMAL.cdf(P, M, a, rng=np.random.default_rng(1), **EXACT),
    "t": lambda a: STUDENT.logpdf(P, M, a, 5.0),
    "frozen t": lambda a: STUDENT(M, a, 5.0).logpdf(P),
    "entropy of t": lambda a: STUDENT.entropy(M, a, 5.0),
    "rows": lambda a: MATRIX.logpdf(X, ZERO, a, C),
    "columns": lambda a: MATRIX.logpdf(X, ZERO, C, a),
    "frozen rows": lambda a: MATRIX(ZERO, a, C).logpdf(X),
    "entropy of rows": lambda a: MATRIX.entropy(a, C),
    "wishart": lambda a: st.wishart.logpdf(C, 5, a),
    "matrix of wishart": lambda a: st.wishart.logpdf(a, 5, C),
    "inverse wishart": lambda a: st.invwishart.logpdf(C, 5, a),
    "matrix of inverse wishart": lambda a: st.invwishart.logpdf(a, 5, C),
    "entropy of wishart": lambda a: st.wishart.entropy(5, a),
    "entropy of inverse wishart": lambda a: st.invwishart.entropy(5, a),
    "eigendecomposition":
        lambda a: NORMAL(M, st.Covariance.from_eigendecomposition(np.linalg.eigh(a))).logpdf(P),
    "precision": lambda a: NORMAL(M, st.Covariance.from_precision(a)).logpdf(P),
    "precision and covariance": lambda a: NORMAL(M, st.Covariance.from_precision(a, C)).logpdf(P),
    "cholesky":
        lambda a: NORMAL(M, st.Covariance.from_cholesky(np.linalg.cholesky(a))).logpdf(P),
    "draws": lambda a: (NORMAL.rvs(M, a, size=2, random_state=3) * X[:2]).sum(),
    "draws of a frozen one": lambda a: NORMAL(M, a).rvs(random_state=drawing(3)) @ P,
    "draws of t": lambda a: STUDENT.rvs(M, a, 5.0, random_state=3) @ P,
    "draws by u": lambda a: drawing(3).multivariate_normal(M, a) @ P,
    "draws by v": lambda a: np.random.RandomState(3).multivariate_normal(M, a) @ P,
    "draws by vectors": lambda a: drawing(3).multivariate_normal(M, a, method="eigh") @ P,
    "draws by cholesky": lambda a: drawing(3).multivariate_normal(M, a, method="cholesky") @ P,
    "eigh": lambda a: sl.eigh(a, eigvals_only=True)[0],
    "eigh, upper": lambda a: sl.eigh(a, lower=False)[0][0],
    "eigh, a subset": lambda a: sl.eigh(a, eigvals_only=True, subset_by_index=[0, 0])[0],
    "eigh of a pair": lambda a: sl.eigh(C, a)[0][0],
    "scipy's cholesky": lambda a: sl.cholesky(a).sum() + sl.cholesky(a, lower=True)[1, 0],
    "cho_solve": lambda a: sl.cho_solve(sl.cho_factor(a), P).sum(),
    "solve, symmetric": lambda a: sl.solve(a, P, assume_a="sym").sum(),
    "solve, definite": lambda a: sl.solve(a, P, assume_a="pos", lower=True).sum(),
    "inv, definite": lambda a: sl.inv(a, assume_a="pos").sum(),
    "ldl": lambda a: sl.ldl(a)[1].sum(),
    "pinvh": lambda a: sl.pinvh(a).sum(),
    "sqrtm": lambda a: sl.sqrtm(a).sum(),
    "mahalanobis": lambda a: scipy.spatial.distance.mahalanobis(P, M, a),
}
# fmt: on


def slopes(f, a):
    """Forward, one element at a time."""
    out = np.zeros_like(a)
    for i in np.ndindex(a.shape):
        direction = np.zeros_like(a)
        direction[i] = 1.0
        out[i] = pb.jvp(f, (a,), (direction,))[1]
    return out


@pytest.mark.share(4)
@pytest.mark.filterwarnings("ignore:covariance is not symmetric")  # as draws say when one moves
@pytest.mark.parametrize("name", OF_COVARIANCES)
def test_each_element_moves_what_it_moves_in_scipy(name):
    f = OF_COVARIANCES[name]
    b = np.random.default_rng(3).standard_normal((3, 3))
    a = b @ b.T + 3 * np.eye(3)
    expected, tolerance = numeric(f, a, 1e-5), 1e-3 if "probability" in name else 1e-6
    for derive in (lambda a: pb.grad(f)(a), lambda a: slopes(f, a)):
        np.testing.assert_allclose(
            derive(a), expected, atol=tolerance * (1 + np.abs(expected).max())
        )
