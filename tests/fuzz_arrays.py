"""Random loops of Python's that read and write arrays at moving places, nested and triangular."""

import numpy as np

SIZE = 40


def program(seed):
    """A scalar function of (u, m, w), written as ordinary loops, and arguments."""
    random = np.random.default_rng(seed)

    def below(n):
        return int(random.integers(n))

    form = below(5)  # one loop, backward, nested, a triangle, sweeps
    statements = [
        (below(8), below(3), below(3), float(random.normal()), below(4))
        for _ in range(1 + below(3))
    ]
    alone, shift, step = below(3) == 0, below(3), 1 + below(2)
    listed = below(3) == 0

    def body(u, m, w, i, j):
        """A few statements; i and j may be the same."""
        for kind, a, b, c, way in statements:
            x = [u[i + a], u[j + b], m[i % 6, j % 7], w[j % 3] + c][way]
            if kind == 0:
                u[i + b] = np.sin(x) + 0.3 * u[i + a]
            elif kind == 1:
                u[j] = u[j] * 0.5 + np.tanh(x) * c
            elif kind == 2:
                u[i : i + 3] += 0.1 * w * x
            elif kind == 3:
                p, q = np.minimum(u[j], u[j + 1]), np.maximum(u[j], u[j + 1])
                u[j], u[j + 1] = p, q
            elif kind == 4:
                m[(i + a) % 6] = np.cos(m[i % 6]) + x
            elif kind == 5:
                m[i % 6, j % 7] = np.minimum(m[(i + 1) % 6, j % 7], m[i % 6, (j + b) % 7]) + 0.2 * x
            elif kind == 6:
                m[:, j % 7] -= 0.1 * x * m[:, (j + 1 + a) % 7]
            else:
                u[j + 1 : j + 4] = np.exp(-(u[j : j + 3] ** 2)) + x * 0.1

    def loss(u, m, w):
        if not alone:
            u, m = np.array(u), np.array(m)
        else:
            u, m = u * 1.0, m * 1.0
        seen = []
        if form == 0:
            for t in range(0, 15 * step, step):
                body(u, m, w, t, t + shift)
                if listed:
                    seen.append(u[t])
        elif form == 1:
            for t in range(18, 0, -1):
                body(u, m, w, t, t)
        elif form == 2:
            for i in range(9):
                for j in range(10):
                    body(u, m, w, i + shift, j)
                if shift:
                    u[i] = np.cos(u[i]) * (0.1 * i)
        elif form == 3:
            for i in range(9):
                for j in range(i):
                    body(u, m, w, i, j)
        else:
            for _ in range(10):
                for i in range(1, 12):
                    body(u, m, w, i, i - 1)
        total = np.sum(np.cos(u)) + np.sum(m * np.arange(7.0))
        return total + sum([np.sin(x) for x in seen]) if seen else total

    args = random.normal(size=SIZE), random.normal(size=(6, 7)), random.normal(size=3)
    return loss, args
