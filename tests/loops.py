"""Loops of n steps, as they are written in Python: each makes (f, args)."""

import numpy as np

random = np.random.default_rng(3)
X, W = random.normal(size=3), random.normal(size=3)
A = random.normal(size=(3, 3)) / 3
ROWS = random.normal(size=(100, 3))
SCALARS = random.normal(size=100)


def invariant(n):
    def f(x, a):
        for _ in range(n):
            x = np.tanh(a @ x) + 0.1 * np.sin(x)
        return x

    return f, (X, A)


def once_before(n):
    def f(x, w):
        for _ in range(n):
            x = np.sin(x) * np.exp(-w) + np.exp(-w)
        return x

    return f, (X, W)


def floats(n):
    def f(x):
        for t in range(n):
            x = np.sin(x) * (0.1 * t) + x * 1.5
        return x

    return f, (X,)


def whole_numbers(n):
    def f(x):
        for t in range(n):
            x = np.sin(x) * t * 0.01 + x
        return x

    return f, (X,)


def single(n):
    def f(x):
        for t in range(n):
            x = np.sin(x) * (0.1 * t) + x
        return x

    return f, (X.astype("f4"),)


def integers(n):
    def f(k):
        for _ in range(n):
            k = (k * 5 + 3) % 17
        return k

    return f, (np.array([1, 2, 3]),)


def masks(n):
    def f(x):
        seen = x > 10
        for _ in range(n):
            x = np.cos(x)
            seen = np.logical_or(seen, x > 0.9)
        return np.where(seen, x, 0.0), seen

    return f, (X,)


def rows_forward(n):
    def f(x, rows):
        for t in range(n):
            x = np.sin(x) * rows[t] + 0.5 * x
        return x

    return f, (X, ROWS)


def rows_backward(n):
    def f(x, rows):
        for t in range(n - 1, -1, -1):
            x = np.sin(x) * rows[t] + 0.5 * x
        return x

    return f, (X, ROWS)


def rows_even(n):
    def f(x, rows):
        for t in range(n):
            x = np.sin(x) * rows[2 * t + 1] + 0.5 * x
        return x

    return f, (X, ROWS)


def columns(n):
    def f(x, table):
        for t in range(n):
            x = np.sin(x) * table[:, t] + 0.5 * x
        return x

    return f, (X, np.ascontiguousarray(ROWS.T))


def slices(n):
    def f(x, rows):
        for t in range(n):
            x = np.sin(x) + rows[t : t + 1].sum(axis=0)
        return x

    return f, (X, ROWS)


def windows(n):
    def f(x, rows):
        for t in range(n):
            x = np.sin(x) + rows[t : t + 3].sum(axis=0)
        return x

    return f, (X, ROWS)


def out_of_order(n):
    def f(x, rows):
        for t in range(n):
            x = np.sin(x) * rows[(t * t + 3 * t) % 11] + 0.5 * x
        return x

    return f, (X, ROWS)


def pairs(n):
    def f(x, rows):
        for t in range(n):
            x = np.sin(x) * (rows[t] - rows[t + 1]) + 0.5 * x
        return x

    return f, (X, ROWS)


def from_a_list(n):
    def f(x, *parts):
        for part in parts:
            x = np.tanh(part @ x) + x
        return x

    return f, (X, *[A * (i % 3) for i in range(n)])


def constants_of_arrays(n):
    table = ROWS.copy()

    def f(x):
        for t in range(n):
            x = np.sin(x) * table[t] + x
        return x

    return f, (X,)


def two_carries(n):
    def f(x, y):
        for _ in range(n):
            x, y = np.sin(y), np.cos(x) * 0.3 + y
        return x + y

    return f, (X, W)


def two_steps_back(n):
    def f(x):
        h = [x, x + 1]
        for t in range(2, n + 2):
            h.append(np.sin(h[t - 1]) + 0.5 * h[t - 2])
        return h[-1] - h[-2]

    return f, (X,)


def stacked(n):
    def f(x):
        ys = []
        for _ in range(n):
            x = np.sin(x) * 1.1
            ys.append(x + 1)
        return np.stack(ys), np.array(x)

    return f, (X,)


def filled(n):
    def f(x, rows):
        out = np.zeros((n, 3))
        for t in range(n):
            x = np.sin(x) + rows[t]
            out[t] = x
        return out

    return f, (X, ROWS)


def filled_and_read(n):
    def f(x, rows):
        out = np.zeros((n + 1, 3))
        out[0] = x
        for t in range(n):
            out[t + 1] = np.sin(out[t]) * 0.9 + rows[t]
        return out

    return f, (X, ROWS)


def filled_elements(n):
    def f(xs):
        out = np.zeros(n + 1)
        out[0] = xs[0]
        for t in range(n):
            out[t + 1] = np.sin(out[t]) * 0.9 + xs[t]
        return out

    return f, (SCALARS,)


def filled_columns(n):
    def f(x):
        out = np.ones((3, n, 2))
        for t in range(n):
            x = np.sin(x) + 0.1
            out[:, t, 1] = x
        return out

    return f, (X,)


def several_results(n):
    def f(x):
        for _ in range(n):
            q, r = np.divmod(x, 0.3)
            x = np.sin(q) + r
        return x

    return f, (X,)


def by_numpy(n):
    def f(x):
        for t in range(n):
            x = np.sort(np.sin(x) + 0.1 * t) + x
        return x

    return f, (X,)


ONE = [
    invariant, once_before, floats, whole_numbers, single, integers, masks, rows_forward,
    rows_backward, rows_even, columns, slices, windows, out_of_order, pairs, from_a_list,
    constants_of_arrays, two_carries, two_steps_back, stacked, filled, filled_and_read,
    filled_elements, filled_columns, several_results, by_numpy,
]  # fmt: skip
