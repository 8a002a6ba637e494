"""Random loops of Python's: carries, rows that are read, rows that are written, guards."""

import numpy as np

from tests.fuzz_loops import OPERATIONS


def program(seed):
    """A scalar function of (w, start, rows), written as an ordinary loop, and arguments."""
    random = np.random.default_rng(seed)

    def below(n):
        return int(random.integers(n))

    steps = 10 + below(14)
    n_carries, inner = 1 + below(3), below(4) == 0
    plan = [(below(len(OPERATIONS)), below(1 << 20), below(1 << 20)) for _ in range(2 + below(4))]
    reads = [
        lambda xs, t: xs[t],
        lambda xs, t: xs[steps - 1 - t],
        lambda xs, t: xs[2 * t + 1],
        lambda xs, t: xs[t : t + 1].sum(axis=0),
        lambda xs, t: xs.T[:, t],
        lambda xs, t: xs[t] * (0.1 * t),
        lambda xs, t: xs[(7 * t) % steps],
        lambda xs, t: xs[-1],
    ]
    read = [reads[below(len(reads))] for _ in range(1 + below(2))]
    written, listed, delayed, asked = below(2), below(2), below(3) == 0, below(3)
    odd = below(steps) if below(4) == 0 else -1  # a step that differs
    kept = [below(1 << 20) for _ in range(5)]

    def loss(w, start, xs):
        carries = [start * (i + 1.0) for i in range(n_carries)]
        old = start
        out = np.zeros((steps + 1, 3))
        out[0] = start
        ys = []
        for t in range(steps):
            values = [*carries, w, *[f(xs, t) for f in read]]
            if written and below_half(kept[4]):
                values.append(out[t])
            if delayed:
                values.append(old)
                old = carries[0]
            for operation, i, j in plan:
                a, b = values[i % len(values)], values[j % len(values)]
                values.append(OPERATIONS[operation](a, b))
            if inner:
                z = values[-1]
                for _ in range(9):
                    z = np.sin(z) + 0.1 * w
                values.append(z)
            if t == odd:
                values.append(np.cos(values[-1]))
            if asked == 1 and values[-1][0] > 1e6:
                break
            if asked == 2 and np.sum(values[-1]) > values[0][1]:
                values.append(values[-1] * 0.5)
            carries = [np.tanh(values[-1 - k % 3]) for k in kept[:n_carries]]
            if written:
                out[t + 1] = values[kept[3] % len(values)]
            if listed:
                ys.append(values[kept[4] % len(values)])
        total = sum([np.sum(c * np.array([1.0, 2.0, 3.0])) for c in carries])
        if listed:
            total = total + np.sum(np.sin(np.stack(ys)))
        return total + np.sum(np.cos(out)) * 0.1

    args = random.normal(size=3), random.normal(size=3), random.normal(size=(2 * steps, 3))
    return loss, args


def below_half(n):
    return n % 2 == 0
