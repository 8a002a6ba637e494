"""Algorithms as textbooks have them: searches, sweeps, factorisations, graphs, dynamic programs."""

import heapq
import math

import numpy as np

EDGES = np.array([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]])


def bisection_and_newton(a):
    lo, hi = 0.0, 4.0
    f = lambda x: x**3 - a
    for _ in range(200):
        mid = 0.5 * (lo + hi)
        if f(mid) > 0:
            hi = mid
        else:
            lo = mid
        if hi - lo < 1e-3:
            break
    x = mid
    for _ in range(4):
        x = x - f(x) / (3 * x * x)
    return x


def secant(a, b):
    f = lambda x: np.cos(x) * a - b * x
    x0, x1 = 0.0, 1.0
    f0, f1 = f(x0), f(x1)
    n = 0
    while abs(f1) > 1e-13 and n < 50:
        x0, x1 = x1, x1 - f1 * (x1 - x0) / (f1 - f0)
        f0, f1 = f1, f(x1)
        n += 1
    return x1


def runge_kutta_tableau(y, k):
    a = np.array([[0, 0, 0, 0], [0.5, 0, 0, 0], [0, 0.75, 0, 0], [2 / 9, 1 / 3, 4 / 9, 0]])
    b = np.array([2 / 9, 1 / 3, 4 / 9, 0])
    c = a.sum(axis=1)
    h, t = 0.1, 0.0
    y = np.asarray(y, dtype=float)
    stages = np.empty((4, y.size))
    for _ in range(5):
        for i in range(4):
            yi = y + h * stages[:i].T @ a[i, :i] if i else y
            stages[i] = -k * yi + np.sin(t + c[i] * h)
        y = y + h * b @ stages
        t += h
    return y


def gauss_seidel(b, omega):
    n = len(b)
    A = np.diag(np.full(n, 4.0)) + np.diag(-np.ones(n - 1), 1) + np.diag(-np.ones(n - 1), -1)
    x = np.zeros_like(b)
    for _ in range(25):
        for i in range(n):
            s = A[i, :i] @ x[:i] + A[i, i + 1 :] @ x[i + 1 :]
            x[i] += omega * ((b[i] - s) / A[i, i] - x[i])
    return x


def multigrid(f):
    def relax(u, f, h, n):
        for _ in range(n):
            u[1:-1] = 0.5 * (u[:-2] + u[2:] + h * h * f[1:-1])
        return u

    def cycle(u, f, h):
        if len(u) <= 3:
            return relax(u, f, h, 3)
        u = relax(u, f, h, 2)
        r = np.zeros(len(u))
        r[1:-1] = f[1:-1] + (u[:-2] - 2 * u[1:-1] + u[2:]) / h**2
        coarse = np.zeros((len(u) + 1) // 2)
        rc = r[::2]
        e = cycle(coarse, rc, 2 * h)
        fine = np.zeros(len(u))
        fine[::2] = e
        fine[1::2] = 0.5 * (e[:-1] + e[1:])
        u += fine
        return relax(u, f, h, 2)

    return cycle(np.zeros(len(f)), f, 1.0 / (len(f) - 1))


def pivoted_solve(a, b):
    a = np.array(a, dtype=float)
    b = np.array(b, dtype=float)
    n = a.shape[0]
    perm = np.arange(n)
    for k in range(n - 1):
        p = k + np.argmax(np.abs(a[k:, k]))
        if p != k:
            a[[k, p]] = a[[p, k]]
            perm[[k, p]] = perm[[p, k]]
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    y = b[perm]
    for i in range(1, n):
        y[i] -= a[i, :i] @ y[:i]
    for i in reversed(range(n)):
        y[i] = (y[i] - a[i, i + 1 :] @ y[i + 1 :]) / a[i, i]
    return y


def householder(a):
    r = a.copy()
    m, n = r.shape
    q = np.eye(m)
    for j in range(n):
        x = r[j:, j].copy()
        x[0] += np.copysign(np.linalg.norm(x), x[0])
        v = x / np.linalg.norm(x)
        r[j:, j:] -= 2 * np.outer(v, v @ r[j:, j:])
        q[:, j:] -= 2 * np.outer(q[:, j:] @ v, v)
    return np.abs(np.diag(r)).sum() + q[0, 1]


def jacobi_eigenvalues(a):
    a = (a + a.T) / 2
    n = len(a)
    for _ in range(6):
        for p in range(n - 1):
            for q in range(p + 1, n):
                if abs(a[p, q]) < 1e-14:
                    continue
                theta = 0.5 * math.atan2(2 * a[p, q], a[q, q] - a[p, p])
                c, s = math.cos(theta), math.sin(theta)
                turn = np.eye(n)
                turn[[p, q], [p, q]] = c
                turn[p, q], turn[q, p] = s, -s
                a = turn.T @ a @ turn
    return np.sort(np.diag(a))


def graph_laplacian(weights):
    n = EDGES.max() + 1
    table = np.zeros((n, n))
    for (i, j), w in zip(EDGES, weights, strict=True):
        table[i, i] += w
        table[j, j] += w
        table[i, j] -= w
        table[j, i] -= w
    return np.sort(np.linalg.eigvalsh(table))[1:]


def floyd_warshall(weights):
    n = 4
    d = np.full((n, n), np.inf)
    np.fill_diagonal(d, 0)
    d[EDGES[:, 0], EDGES[:, 1]] = weights
    for k in range(n):
        d = np.minimum(d, d[:, [k]] + d[[k], :])
    return d[0, 1:].sum()


def dijkstra(weights):
    graph = {}
    for (i, j), w in zip(EDGES.tolist(), weights, strict=True):
        graph.setdefault(i, []).append((j, w))
    dist = {0: 0.0}
    heap = [(0.0, 0)]
    while heap:
        d, u = heapq.heappop(heap)
        for v, w in graph.get(u, []):
            if v not in dist or d + w < dist[v]:
                dist[v] = d + w
                heapq.heappush(heap, (dist[v], v))
    return sum(dist.values())


def pagerank(weights, damping):
    n = 4
    P = np.zeros((n, n))
    np.add.at(P, (EDGES[:, 0], EDGES[:, 1]), np.exp(weights))
    P /= P.sum(axis=1, keepdims=True)
    r = np.full(n, 1 / n)
    for _ in range(30):
        new = (1 - damping) / n + damping * r @ P
        if np.abs(new - r).max() < 1e-12:
            break
        r = new
    return r


def biquad(x, f0, q):
    w = 2 * np.pi * f0
    alpha = np.sin(w) / (2 * q)
    b = np.array([(1 - np.cos(w)) / 2, 1 - np.cos(w), (1 - np.cos(w)) / 2])
    a = np.array([1 + alpha, -2 * np.cos(w), 1 - alpha])
    b, a = b / a[0], a / a[0]
    y = np.zeros_like(x)
    xp = np.r_[0, 0, x]
    for n in range(len(x)):
        y[n] = b @ xp[n : n + 3][::-1]
        if n >= 1:
            y[n] -= a[1] * y[n - 1]
        if n >= 2:
            y[n] -= a[2] * y[n - 2]
    return y


def recursive_fft(x):
    def go(x):
        n = len(x)
        if n == 1:
            return x
        even, odd = go(x[::2]), go(x[1::2])
        t = np.exp(-2j * np.pi * np.arange(n // 2) / n) * odd
        return np.concatenate([even + t, even - t])

    return np.angle(go(x.astype(complex))[1:3])


def isotonic(y):
    blocks = [[v, 1] for v in y]
    i = 0
    while i < len(blocks) - 1:
        if blocks[i][0] > blocks[i + 1][0]:
            a, b = blocks[i], blocks.pop(i + 1)
            a[0] = (a[0] * a[1] + b[0] * b[1]) / (a[1] + b[1])
            a[1] += b[1]
            i = max(i - 1, 0)
        else:
            i += 1
    return np.concatenate([np.repeat(v, n) for v, n in blocks])


def levinson(r):
    n = len(r) - 1
    a = np.zeros(n + 1)
    a[0] = 1.0
    e = r[0]
    for i in range(1, n + 1):
        k = -np.dot(a[:i], r[i:0:-1]) / e
        a_prev = a.copy()
        a[1:i] += k * a_prev[i - 1 : 0 : -1]
        a[i] = k
        e *= 1 - k * k
    return a[1:]


def quicksort(x):
    if len(x) <= 1:
        return x
    pivot, rest = x[0], x[1:]
    return np.hstack([quicksort(rest[rest < pivot]), pivot, quicksort(rest[rest >= pivot])])


def edit_distance(a, b):
    D = np.zeros((len(a) + 1, len(b) + 1))
    D[:, 0] = np.arange(len(a) + 1)
    D[0, :] = np.arange(len(b) + 1)
    for i, j in np.ndindex(len(a), len(b)):
        cost = (a[i] - b[j]) ** 2
        D[i + 1, j + 1] = min(D[i, j + 1] + 1, D[i + 1, j] + 1, D[i, j] + cost)
    return D[-1, -1]


def viterbi(logp, trans):
    T, S = logp.shape
    v = logp[0].copy()
    back = np.zeros((T, S), dtype=int)
    for t in range(1, T):
        scores = v[:, None] + trans
        back[t] = scores.argmax(axis=0)
        v = scores.max(axis=0) + logp[t]
    path = [int(np.argmax(v))]
    for t in range(T - 1, 0, -1):
        path.append(back[t, path[-1]])
    path.reverse()
    return logp[np.arange(T), path].sum() + v.max()


def huffman(p):
    h = [(w, i) for i, w in enumerate(np.abs(p))]
    heapq.heapify(h)
    n = len(h)
    cost = 0.0
    while len(h) > 1:
        (a, _), (b, _) = heapq.heappop(h), heapq.heappop(h)
        cost += a + b
        n += 1
        heapq.heappush(h, (a + b, n))
    return cost


M = np.array([[4.0, 1.2, -0.5], [0.8, 5.0, 0.3], [-0.2, 0.6, 3.0]])
S = np.array([[0.3, 1.4, 0.2], [2.2, -0.5, 1.1], [0.7, 0.9, -1.6]])
X = np.array([0.5, -1.1, 0.8, 1.7, 0.2])
Y = np.array([0.3, 1.2, -0.7, 2.2, 0.9, -1.4, 0.6, 1.8])
W = np.array([1.0, 2.0, 0.7, 1.3, 0.5])

PROGRAMS = [
    (bisection_and_newton, (2.7,)),
    (secant, (1.3, 0.8)),
    (runge_kutta_tableau, (np.array([1.0, 0.4]), 0.7)),
    (gauss_seidel, (X, 1.1)),
    (multigrid, (np.sin(np.arange(9.0) + 0.3),)),
    (pivoted_solve, (M, X[:3])),
    (householder, (M,)),
    (jacobi_eigenvalues, (M,)),
    (graph_laplacian, (W,)),
    (floyd_warshall, (W,)),
    (dijkstra, (W,)),
    (pagerank, (np.array([0.1, 0.2, -0.7, 1.3, 0.5]), 0.85)),
    (biquad, (Y, 0.1, 0.8)),
    (recursive_fft, (Y,)),
    (isotonic, (Y,)),
    (levinson, (np.array([3.0, 1.2, 0.4, -0.3]),)),
    (quicksort, (Y,)),
    (edit_distance, (Y[:4], Y[4:7])),
    (viterbi, (S, S.T * 0.3)),
    (huffman, (Y[:5],)),
]
