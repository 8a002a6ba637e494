"""Names, views and copies, arrays without axes, and the standard library in between."""

import concurrent.futures
import itertools
import math
from collections import deque

import numpy as np


def memo_dict(x):
    memo = {}

    def fib(n):
        if n in memo:
            return memo[n]
        memo[n] = x if n < 2 else fib(n - 1) + 0.5 * fib(n - 2) * x
        return memo[n]

    return fib(8)


def pipeline(x):
    def source():
        yield from x

    def smooth(it, a):
        s = None
        for v in it:
            s = v if s is None else a * v + (1 - a) * s
            yield s

    def pairs(it):
        a, b = itertools.tee(it)
        next(b, None)
        return zip(a, b, strict=False)

    return np.array([q - p for p, q in pairs(smooth(source(), 0.3))])


def running_mean(x):
    def averager():
        total, n, mean = 0.0, 0, 0.0
        while True:
            v = yield mean
            total += v
            n += 1
            mean = total / n

    gen = averager()
    next(gen)
    out = [gen.send(v) for v in x]
    gen.close()
    return np.array(out)


def last_three(x):
    d = deque(maxlen=3)
    out = np.empty(len(x))
    for i, v in enumerate(x):
        d.append(v)
        out[i] = sum(d) / len(d)
    return out


def make_filter(taps):
    state = np.zeros(len(taps))

    def push(v):
        nonlocal state
        state = np.roll(state, 1)
        state[0] = v
        return state @ taps

    return push


def filtered(x, taps):
    f = make_filter(taps)
    return np.array([f(v) for v in x])


def logging(x):
    loss = 0.0
    for i in range(len(x)):
        loss = loss + x[i] ** 2
        lines = [f"iter {i:3d} loss {loss:.4f}", "loss " + format(loss, ".2e") + str(x)]
    return loss * all(lines)


def roots_or_not(x):
    out = []
    for v in x:
        try:
            if v < 0:
                raise ValueError(f"negative {v}")
            out.append(math.sqrt(v))
        except ValueError as e:
            out.append(-v * ("negative" in str(e)))
    return np.array(out)


def function_attributes(x):
    def f(v):
        f.calls += 1
        f.last = v
        return v**2

    f.calls = 0
    out = sum(f(v) for v in x)
    return out * f.last * f.calls


def ellipses(x):
    t = np.zeros((2, 3, 4))
    t[..., 0] = x[:3]
    t[0, ...] += x[3]
    t[:, 1:, ::-2] *= x[4]
    t[1, [0, 2], [1, 3]] = x[:2]
    return np.moveaxis(t, -1, 0).sum(axis=(1, 2))


def results_into_parts(x):
    out = np.empty((2, 5))
    np.sin(x, out=out[0])
    np.add(x, out[0], out=out[1])
    np.cumsum(out[1], out=out[0])
    np.matmul(np.ones((1, 2)), out, out=(buf := np.empty((1, 5))))
    return buf[0]


def rows_in_place(a):
    m = a * 1.0
    for row in m:
        row *= row[0]
        row -= row.mean()
    return m


def chained_indices(a):
    m = np.zeros((3, 3))
    m[0][1] = a[0, 0]
    m[1][:] += a[1]
    m[a > 1][0] = 100.0
    m.T[2][0] = a[2, 2]
    m.ravel()[4] *= a[0, 1]
    m.reshape(-1)[8] = a[1, 1]
    m.T.ravel()[0] = 55.0
    np.fill_diagonal(m[1:, :2], a[2, 0])
    return m


def thread_pool(x):
    def work(v):
        t = np.zeros(2)
        t[0] = v
        t[1] = math.sin(v)
        return t.prod()

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return sum(pool.map(work, x))


def evaluated(a, b):
    return eval("np.sin(a) * b + f(a)", {"np": np, "a": a, "b": b, "f": math.exp})


def divided_where(a, b):
    x = np.array([a, 0.0, b])
    return np.divide(1.0, x, out=np.zeros_like(x), where=x != 0)


def views_after_sorting(x):
    a = x.copy()
    b = a[::2]
    b *= 2
    c = a.reshape(2, -1)
    c[0] += c[1]
    a.sort()
    return a * b.sum()


def two_names(a, b):
    z = np.array(a)
    y = z
    y *= 3
    y += b
    return z * 2 + a


def kept_in_a_list(a, b):
    total = np.asarray(a)
    keep = [total]
    for k in range(3):
        total += b**k
    return keep[0] * b


def empty_key(a, b):
    z = np.array(a)
    z += b
    z[()] = z * 2
    z[...] += 1
    return z * a


def chosen_twice(a, b):
    best = np.where(a > b, a, b)
    other = best
    best -= a * b
    return other + a


def copy_of_a_number(a, b):
    s = np.array([a, b])[0]
    t = s.copy()
    u = t
    t += 1
    return s + u * t


def elements_as_views(a, b):
    x = np.array([a, b])
    v = x[0, ...]
    v *= 3
    w = x[1, ...].copy()
    q = w
    w += 5
    return x * q


def full_of_one(a, b):
    z = np.full((), a)
    y = z
    y += b
    c = np.copy(z)
    d = c
    c *= b
    return z + d


def clock(a, b):
    state = {"t": np.array(a)}

    def advance(t):
        t += b

    for _ in range(3):
        advance(state["t"])
    return state["t"] * a


X = np.array([0.3, 1.2, -0.7, 2.2, 0.9])
Y = np.array([0.3, 1.21, -0.65, 2.23, 0.86, -1.29, 0.62, 1.97])
M = np.array([[0.3, 1.4, 0.2], [2.2, -0.5, 1.1], [0.7, 0.9, -1.6]])

PROGRAMS = [
    (memo_dict, (0.8,)),
    (pipeline, (X,)),
    (running_mean, (X,)),
    (last_three, (X,)),
    (filtered, (X, np.array([0.5, 0.3, 0.2]))),
    (logging, (X,)),
    (roots_or_not, (X,)),
    (function_attributes, (X,)),
    (ellipses, (X,)),
    (results_into_parts, (X,)),
    (rows_in_place, (M,)),
    (chained_indices, (M,)),
    (thread_pool, (X,)),
    (evaluated, (1.3, 2.1)),
    (divided_where, (1.3, 2.1)),
    (views_after_sorting, (Y,)),
    (two_names, (1.3, 2.1)),
    (kept_in_a_list, (1.3, 2.1)),
    (empty_key, (1.3, 2.1)),
    (chosen_twice, (1.3, 2.1)),
    (copy_of_a_number, (1.3, 2.1)),
    (elements_as_views, (1.3, 2.1)),
    (full_of_one, (1.3, 2.1)),
    (clock, (1.3, 2.1)),
]
