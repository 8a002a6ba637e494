"""Linear algebra as in the text-books, and as NumPy has it."""

import numpy as np
from numpy.linalg import eigh, inv, norm, qr, solve, svd


def cholesky_by_hand(a):
    n = len(a)
    lower = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j] - np.dot(lower[i, :j], lower[j, :j])
            lower[i, j] = np.sqrt(s) if i == j else s / lower[j, j]
    return lower


def gram_schmidt(a):
    basis = []
    for v in a.T:
        for q in basis:
            v = v - np.dot(q, v) * q
        basis.append(v / norm(v))
    return np.stack(basis, axis=1)


def gauss(a, b):
    """Elimination in place, with pivoting."""
    a, b = a.copy(), b.copy()
    n = len(b)
    for k in range(n):
        p = k + np.argmax(np.abs(a[k:, k]))
        if p != k:
            a[[k, p]] = a[[p, k]]
            b[[k, p]] = b[[p, k]]
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            a[i, k:] -= factor * a[k, k:]
            b[i] -= factor * b[k]
    x = np.zeros(n)
    for i in reversed(range(n)):
        x[i] = (b[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return x


def thomas(lower, diagonal, upper, rhs):
    n = len(diagonal)
    c, d = np.empty(n - 1), np.empty(n)
    c[0], d[0] = upper[0] / diagonal[0], rhs[0] / diagonal[0]
    for i in range(1, n):
        pivot = diagonal[i] - lower[i - 1] * c[i - 1]
        if i < n - 1:
            c[i] = upper[i] / pivot
        d[i] = (rhs[i] - lower[i - 1] * d[i - 1]) / pivot
    for i in range(n - 2, -1, -1):
        d[i] -= c[i] * d[i + 1]
    return d


def power_iteration(a):
    v = np.ones(len(a))
    for _ in range(60):
        w = a @ v
        v = w / norm(w)
    return v @ a @ v


def matrix_exponential(a):
    term = total = np.eye(len(a))
    k = 1
    while np.max(np.abs(term)) > 1e-14:
        term = term @ a / k
        total = total + term
        k += 1
    return total


def determinant(a):
    if a.shape == (1, 1):
        return a[0, 0]
    result = 0
    for j in range(len(a)):
        minor = np.delete(a[1:], j, axis=1)
        result += (-1) ** j * a[0, j] * determinant(minor)
    return result


def conjugate_gradients(a, b):
    x = np.zeros_like(b)
    r = b - a @ x
    p = r.copy()
    rs = r @ r
    for _ in range(len(b)):
        ap = a @ p
        alpha = rs / (p @ ap)
        x += alpha * p
        r -= alpha * ap
        rs, old = r @ r, rs
        p = r + rs / old * p
    return x


def low_rank_error(a):
    u, s, vt = svd(a, full_matrices=False)
    s[2:] = 0
    return norm(a - u @ np.diag(s) @ vt)


def principal_axis(table):
    centred = table - table.mean(axis=0)
    _, vectors = eigh(centred.T @ centred / len(table))
    axis = vectors[:, -1]
    if axis[0] < 0:
        axis = -axis
    return centred @ axis


def ridge(a, y, strength):
    q, r = qr(a)
    plain = solve(r, q.T @ y)
    shrunk = inv(a.T @ a + strength * np.identity(a.shape[1])) @ a.T @ y
    return np.vstack([plain, shrunk])


A = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, -0.4], [0.5, -0.4, 2.0]])
B = np.array([[0.2, 1.0, 0.5], [1.7, 0.3, -0.4], [0.5, -0.9, 2.0]])
TALL = np.array([[0.3, 1.0, -0.2], [1.2, 0.1, 0.5], [-0.7, 0.4, 1.5], [0.9, -1.1, 0.2]])
RHS = np.array([1.0, -0.5, 0.7])

PROGRAMS = [
    (cholesky_by_hand, (A,)),
    (gram_schmidt, (TALL,)),
    (gauss, (B, RHS)),
    (thomas, (np.array([0.3, -0.2]), np.array([2.0, 1.5, 1.8]), np.array([0.4, 0.1]), RHS)),
    (power_iteration, (A,)),
    (matrix_exponential, (B,)),
    (determinant, (B,)),
    (conjugate_gradients, (A, RHS)),
    (low_rank_error, (TALL,)),
    (principal_axis, (TALL,)),
    (ridge, (TALL, np.array([0.3, 1.0, -0.5, 0.8]), 0.3)),
]
