"""Sparse systems: meshes, circuits, chains, splitting, preconditioners."""

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from scipy.sparse import coo_matrix, csr_matrix, diags, eye, kron, lil_matrix
from scipy.sparse.linalg import (
    LinearOperator,
    cg,
    eigsh,
    expm_multiply,
    gmres,
    lsmr,
    minres,
    spilu,
    splu,
    spsolve,
)


class Mesh:
    """Triangles on the unit square."""

    def __init__(self, n=4):
        g = np.linspace(0, 1, n)
        self.points = np.array([(x, y) for y in g for x in g])
        self.triangles = np.array(
            [
                t
                for j in range(n - 1)
                for i in range(n - 1)
                for t in (
                    (j * n + i, j * n + i + 1, (j + 1) * n + i),
                    (j * n + i + 1, (j + 1) * n + i + 1, (j + 1) * n + i),
                )
            ]
        )
        self.boundary = np.flatnonzero((self.points == 0).any(1) | (self.points == 1).any(1))
        self.free = np.setdiff1d(np.arange(n * n), self.boundary)

    def stiffness(self, conductivity):
        rows, cols, vals = [], [], []
        for tri, k in zip(self.triangles, conductivity, strict=False):
            p = self.points[tri]
            J = np.array([p[1] - p[0], p[2] - p[0]]).T
            G = np.linalg.solve(J.T, np.array([[-1.0, 1, 0], [-1, 0, 1]]))
            local = k * abs(np.linalg.det(J)) / 2 * (G.T @ G)
            for a in range(3):
                for b in range(3):
                    rows.append(tri[a])
                    cols.append(tri[b])
                    vals.append(local[a, b])
        n = len(self.points)
        return coo_matrix((vals, (rows, cols)), shape=(n, n)).tocsr()


def heated(conductivity):
    mesh = Mesh()
    K = mesh.stiffness(conductivity)
    f = mesh.free
    u = np.zeros(16)
    u[f] = spsolve(K[f][:, f].tocsc(), np.ones(len(f)) / 16)
    return u[f], u @ (K @ u)


def circuit(R, C, frequency):
    """Nodal analysis of a ladder at one frequency."""
    w = 2j * np.pi * frequency
    n = len(R)
    Y = lil_matrix((n, n), dtype=complex)
    for i in range(n):
        Y[i, i] += 1 / R[i] + w * C[i]
        if i + 1 < n:
            g = 1 / R[i + 1]
            Y[i, i] += g
            Y[i, i + 1] -= g
            Y[i + 1, i] -= g
    b = np.zeros(n, complex)
    b[0] = 1 / R[0]
    v = spsolve(Y.tocsc(), b)
    return np.abs(v), np.angle(v[-1])


def admm_tv(y, lam, rho=1.5):
    n = len(y)
    D = sp.diags_array([-np.ones(n - 1), np.ones(n - 1)], offsets=[0, 1], shape=(n - 1, n)).tocsr()
    lu = splu((sp.eye_array(n) + rho * D.T @ D).tocsc())
    x, z, u = y, np.zeros(n - 1), np.zeros(n - 1)
    for _ in range(8):
        x = lu.solve(y + rho * D.T @ (z - u))
        v = D @ x + u
        z = np.sign(v) * np.maximum(np.abs(v) - lam / rho, 0)
        u = v - z
    return x


def matrix_free(stiffness, load):
    n = len(load)

    def apply(v):
        v = np.ravel(v)
        p = np.concatenate([[0.0], v, [0.0]])
        flux = stiffness * np.diff(p)
        return -np.diff(flux)

    A = LinearOperator((n, n), matvec=apply, dtype=float)
    x, info = cg(A, load, rtol=1e-13, atol=0)
    assert info == 0
    return x


def hitting_times(rates):
    """Mean times to the last state of a birth and death process."""
    n = len(rates)
    up, down = rates, 0.4 * rates[1:]
    Q = diags([down, -(up + np.r_[0.0, down]), up[:-1]], [-1, 0, 1], format="csc")
    return -spsolve(Q, np.ones(n))


def modes_of_a_string(mass, tension):
    K = sp.diags(
        [-tension[1:-1], tension[:-1] + tension[1:], -tension[1:-1]], [-1, 0, 1], format="csc"
    )
    w2, v = eigsh(K, k=3, M=sp.diags(mass, format="csc"), sigma=0.0)
    return np.sqrt(w2), v[2, 0] ** 2


def spin_chain(field, coupling, time):
    sx, sz = csr_matrix([[0, 1.0], [1, 0]]), csr_matrix([[1.0, 0], [0, -1]])
    n = 4

    def site(op, k):
        return kron(kron(eye(2**k), op), eye(2 ** (n - k - 1)), format="csr")

    H = sum(-field * site(sx, k) for k in range(n)) + sum(
        -coupling * site(sz, k) @ site(sz, k + 1) for k in range(n - 1)
    )
    psi = np.zeros(2**n, complex)
    psi[0] = 1
    psi = expm_multiply(-1j * time * H, psi)
    return [np.real(psi.conj() @ (site(sz, k) @ psi)) for k in range(n)]


def gauss_newton(offsets):
    """One step of a bundle adjustment with a block Jacobian."""
    blocks = [[None] * 4 for _ in range(6)]
    r = []
    for m in range(6):
        a, b = m % 4, (m + 1 + m // 4) % 4
        d = offsets[b] - offsets[a]
        n = np.linalg.norm(d)
        blocks[m][a] = csr_matrix(-(d / n)[None])
        blocks[m][b] = csr_matrix((d / n)[None])
        r.append(n - 1.0)
    J = sp.bmat(blocks, format="csr")
    step = lsmr(J, np.array(r), damp=0.1, atol=1e-14, btol=1e-14)[0]
    return step.reshape(4, 2)


def preconditioned(a, b):
    n = len(b)
    A = diags([-a[:-1], 2.5 + a, -0.5 * a[1:]], [-1, 0, 1], format="csc")
    base = diags([-1.0, 3.5, -0.5], [-1, 0, 1], shape=(n, n), format="csc")
    ilu = spilu(base, drop_tol=1e-2)
    M = LinearOperator((n, n), matvec=ilu.solve)
    x, _ = gmres(A, b, M=M, rtol=1e-12, atol=0)
    y, _ = minres(A + A.T, b, rtol=1e-12)
    return x, y


class TwoGrid:
    def __init__(self, A):
        n = A.shape[0]
        m = n // 2
        rows = np.concatenate([2 * np.arange(m), 2 * np.arange(m) + 1, 2 * np.arange(m) + 2])
        P = csr_matrix(
            (np.tile([0.5, 1.0, 0.5], (m, 1)).T.ravel(), (rows, np.tile(np.arange(m), 3))),
            shape=(n, m),
        )
        self.A, self.P, self.R = A, P, 0.5 * P.T
        self.coarse = (self.R @ A @ P).tocsc()
        self.inv_diag = 1 / A.diagonal()

    def cycle(self, x, b):
        for _ in range(2):
            x = x + 0.66 * self.inv_diag * (b - self.A @ x)
        x = x + self.P @ spla.spsolve(self.coarse, self.R @ (b - self.A @ x))
        return x + 0.66 * self.inv_diag * (b - self.A @ x)


def multigrid(k):
    n = len(k) - 1
    A = diags([-k[1:-1], k[:-1] + k[1:], -k[1:-1]], [-1, 0, 1], format="csr")
    grid, x = TwoGrid(A), np.zeros(n)
    for _ in range(3):
        x = grid.cycle(x, np.ones(n))
    return x


def message_passing(edge_logits, features):
    s, d = np.array([0, 1, 2, 3, 0, 2]), np.array([1, 2, 3, 0, 2, 1])
    A = sp.coo_array((np.exp(edge_logits), (d, s)), shape=(4, 4)).tocsr()
    deg = A.sum(axis=1)
    norm = sp.diags_array(1 / np.sqrt(deg))
    h = features
    for _ in range(2):
        h = np.tanh((norm @ A @ norm) @ h)
    return h


rng = np.random.default_rng(4)


PROGRAMS = [
    (heated, (rng.uniform(0.5, 2, 18),)),
    (circuit, (rng.uniform(1, 2, 4), rng.uniform(0.1, 0.3, 4), 0.7)),
    (admm_tv, (np.r_[np.zeros(5), np.ones(5)] + 0.1 * rng.normal(size=10), 0.2)),
    (matrix_free, (rng.uniform(1, 2, 7), rng.normal(size=6))),
    (hitting_times, (rng.uniform(0.5, 1.5, 6),)),
    (modes_of_a_string, (rng.uniform(1, 2, 12), rng.uniform(1, 2, 13))),
    (spin_chain, (0.7, 1.0, 0.6)),
    (gauss_newton, (rng.normal(size=(4, 2)),)),
    (preconditioned, (rng.uniform(0.5, 1, 6), rng.normal(size=6))),
    (multigrid, (rng.uniform(1, 2, 8),)),
    (message_passing, (rng.normal(size=6), rng.normal(size=(4, 3)))),
]
