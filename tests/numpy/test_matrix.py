"""`np.matrix` takes part: it is a class derived from ndarray, which NumPy writes in Python."""

import numpy as np
import pytest

from tests.agreement import has_slopes
from tests.together import try_all

A = np.arange(9.0).reshape(3, 3) + 5.0 * np.eye(3)
X = np.array([0.5, 1.5, 2.5])


def row(x):
    return np.asmatrix(x)


def outer(x):
    return np.asmatrix(np.outer(x, x))


def written(x):
    m = np.asmatrix(np.zeros((3, 3)))
    m[0, :] = x
    m[1, 1] = x[0] * x[1]
    return m.sum()


def square(x):
    return np.asmatrix(A * x[0] + np.eye(3))


PROGRAMS = {
    "product": lambda x: (row(A) * row(x).T).sum(),
    "class": lambda x: (np.matrix(x) * A * np.matrix(x).T)[0, 0],
    "number": lambda x: (np.matrix(x[0] * 2.0) * np.matrix(x[1]))[0, 0],
    "array on the left": lambda x: (A * row(x).T)[1, 0],
    "vector on the left": lambda x: (X * row(x).T)[0, 0],
    "ufunc": lambda x: np.multiply(A, row(x)).sum(),
    "text": lambda x: (np.matrix("1 2; 3 4") * row(x[:2]).T).sum(),
    "power": lambda x: (square(x) ** 2).trace()[0, 0],
    "inverse": lambda x: (square(x).I * row(x).T)[0, 0] + np.linalg.inv(square(x))[0, 1],
    "solve": lambda x: np.linalg.solve(row(A), row(x).T).sum(),
    "as arrays": lambda x: (row(x).A1 ** 2).sum() + row(x).A.sum() + np.asarray(row(x)).ravel() @ x,
    "adjoint": lambda x: (row(x * 1j).H * row(x)).imag.sum(),
    "sums": lambda x: outer(x).sum(axis=0)[0, 1] + outer(x).mean(1)[1, 0] + outer(x).prod(1)[0, 0],
    "choices": lambda x: row(x).std() + row(x).max() + row(x).argmax(),
    "index": lambda x: (outer(x)[0] * row(x).T)[0, 0] + (outer(x)[0, :] * row(x).T).sum(),
    "written": written,
    "numbers": lambda x: (2 * row(x) * 3.0 / x[0]).sum(),
    "sums of both": lambda x: (row(x) + x).sum() - np.sum(x - row(x)),
    "blocks": lambda x: np.bmat([[outer(x), A], [A, A]])[0, 1] + np.bmat([row(x), row(x)])[0, 4],
    "joined": lambda x: np.vstack([row(x), 2 * row(x)]).sum() + np.dot(row(x), A)[0, 0],
    "lists": lambda x: row(x).tolist()[0][1] * row(x).ravel()[0, 1] * outer(x).flatten()[0, 1],
    "norm": lambda x: np.linalg.norm(row(x)) + np.diag(outer(x)).sum() + (row(A) @ x)[0, 1],
    "eigenvalues": lambda x: np.linalg.eigvalsh(outer(x) + A + A.T)[0],
    "what it is": lambda x: x[0] * isinstance(row(x), np.matrix) * row(x).ndim,
}


@pytest.mark.share(4)
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.filterwarnings("ignore:.*falls back:RuntimeWarning")
def test_matrix():
    try_all(has_slopes, [(name, (f, X)) for name, f in PROGRAMS.items()])
