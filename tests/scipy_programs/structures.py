"""Structures, fields and graphs: sparse matrices assembled, solved, and their spectra."""

import numpy as np
import scipy.sparse as sp
from scipy import sparse
from scipy.sparse import csgraph, diags, linalg
from scipy.sparse.linalg import eigs, eigsh, spsolve

NODES = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.5, 0.9], [1.5, 0.9]])
BARS = [(0, 1), (1, 2), (0, 3), (1, 3), (1, 4), (2, 4), (3, 4)]
FREE = [2, 3, 6, 7, 8, 9, 4]  # node 0 is held, node 2 rolls


def truss_deflection(areas, load):
    """The deflection of a truss, its stiffness assembled bar by bar."""
    K = sp.lil_matrix((10, 10))
    for area, (i, j) in zip(areas, BARS, strict=True):
        d = NODES[j] - NODES[i]
        length = np.sqrt(d @ d)
        c = d / length
        k = area / length * np.outer(c, c)
        for a, p in enumerate((2 * i, 2 * i + 1)):
            for b, q in enumerate((2 * i, 2 * i + 1)):
                K[p, q] += k[a, b]
        for a, p in enumerate((2 * j, 2 * j + 1)):
            for b, q in enumerate((2 * j, 2 * j + 1)):
                K[p, q] += k[a, b]
        for a, p in enumerate((2 * i, 2 * i + 1)):
            for b, q in enumerate((2 * j, 2 * j + 1)):
                K[p, q] -= k[a, b]
                K[q, p] -= k[a, b]
    forces = np.zeros(10)
    forces[7] = -1.0
    u = spsolve(K.tocsr()[FREE][:, FREE].tocsc(), forces[FREE] * load)
    return u @ forces[FREE]


def laplacian(n):
    T = sp.diags_array([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1])
    return (sp.kron(T, sp.eye_array(n)) + sp.kron(sp.eye_array(n), T)).tocsc()


def poisson(source):
    """The field of a source on a square."""
    return np.sum(spsolve(laplacian(4), source) ** 2)


def diffusion(k):
    """Stationary heat through layers of different conductivity."""
    A = diags([-k[1:-1], k[:-1] + k[1:], -k[1:-1]], [-1, 0, 1], format="csc")
    return spsolve(A, np.ones(len(k) - 1))[2]


def heat_steps(u, rate):
    """Implicit steps in time with factors that are kept."""
    lu = linalg.splu((sp.eye_array(16) + 0.1 * laplacian(4)).tocsc())
    for _ in range(5):
        u = lu.solve(u + rate)
    return u


def pagerank(weights):
    """The stationary distribution of a walk, as the eigenvector of the eigenvalue one."""
    rows, cols = np.array([0, 0, 1, 2, 2, 3, 3, 4]), np.array([1, 2, 2, 0, 3, 4, 0, 0])
    W = sp.csr_array((weights, (rows, cols)), shape=(5, 5))
    P = sp.diags_array(1.0 / W.sum(axis=1)) @ W
    G = 0.85 * P.toarray().T + 0.15 / 5
    _, v = eigs(sp.csc_array(G), k=1, v0=np.ones(5))
    rank = np.real(v[:, 0])
    return rank / rank.sum()


def graph_smoothing(signal, strength, w):
    """A signal on a graph, smoothed by its Laplacian."""
    ring = np.arange(6)
    W = sp.coo_array((w, (ring, (ring + 1) % 6)), shape=(6, 6))
    L = csgraph.laplacian((W + W.T).tocsr())
    return linalg.spsolve((sp.eye_array(6) + strength * L).tocsc(), signal)


def buckling(stiffness):
    """The lowest frequencies of a chain of springs."""
    n = len(stiffness) - 1
    K = diags([-stiffness[1:-1], stiffness[:-1] + stiffness[1:], -stiffness[1:-1]], [-1, 0, 1])
    w = eigsh(K.tocsc(), k=2, sigma=0, which="LM", return_eigenvectors=False, v0=np.ones(n))
    return np.sqrt(np.sort(w))


def route(lengths):
    """The length of the shortest ways from one town."""
    rows, cols = np.array([0, 0, 1, 1, 2, 3]), np.array([1, 2, 2, 3, 4, 4])
    roads = sp.csr_array((lengths, (rows, cols)), shape=(5, 5))
    return csgraph.dijkstra(roads, directed=False, indices=0)


def kernel_regression(values, strength):
    """Conjugate gradients on a sparse normal matrix."""
    A = sparse.csr_matrix(np.eye(7) + np.diag(0.4 * np.ones(6), 1))
    x, info = linalg.cg(A.T @ A + strength * sparse.identity(7), A.T @ values, rtol=1e-12)
    return x if info == 0 else x * np.nan


def markov(rates, t):
    """Occupations of a chain in continuous time."""
    Q = sp.diags_array([rates, -np.append(rates, 0.0)], offsets=[-1, 0]).tocsr()
    start = np.zeros(len(rates) + 1)
    start[0] = 1.0
    return linalg.expm_multiply(Q * t, start)


class Network:
    """Resistors between nodes; node 0 is grounded."""

    def __init__(self, edges):
        self.rows, self.cols = np.array(edges).T

    def potentials(self, conductance, current):
        n = self.cols.max() + 1
        e = np.arange(len(conductance))
        ones = np.ones(len(e))
        B = sp.csr_matrix(
            (np.r_[ones, -ones], (np.r_[e, e], np.r_[self.rows, self.cols])), (len(e), n)
        )
        G = B.T @ sp.diags(conductance) @ B
        return spsolve(G.tocsc()[1:, 1:], current)


def resistors(conductance, current):
    return Network([(0, 1), (1, 2), (0, 2), (2, 3), (1, 3)]).potentials(conductance, current)


PROGRAMS = [
    (truss_deflection, (np.array([1.0, 1.2, 0.8, 0.9, 1.1, 1.3, 0.7]), 2.0)),
    (poisson, (np.sin(np.arange(16.0)),)),
    (diffusion, (np.array([1.0, 2.0, 1.5, 0.7, 1.1, 0.9]),)),
    (heat_steps, (np.cos(np.arange(16.0)), 0.3)),
    (pagerank, (np.array([1.0, 0.5, 2.0, 1.5, 0.7, 1.0, 0.4, 1.2]),)),
    (graph_smoothing, (np.sin(np.arange(6.0)), 0.8, np.array([1.0, 0.5, 0.8, 1.2, 0.9, 1.1]))),
    (buckling, (np.array([1.0, 1.3, 0.8, 1.1, 0.9, 1.2, 0.7]),)),
    (route, (np.array([1.0, 2.5, 1.1, 3.3, 0.7, 1.2]),)),
    (kernel_regression, (np.cos(np.arange(7.0)), 0.3)),
    (markov, (np.array([0.5, 0.8, 0.3]), 1.2)),
    (resistors, (np.array([1.0, 0.5, 2.0, 1.5, 0.7]), np.array([1.0, 0.0, -0.5]))),
]
