"""Loops as one operation."""

import numpy as np

import pullback as pb
from pullback.testing import ErrorSample, Sample

random = np.random.default_rng(61)


def real(*shape, dtype=float):
    return random.uniform(0.5, 1.5, shape).astype(dtype)


def affine(carry, x):
    carry = np.tanh(carry * x + 0.1)
    return carry, carry * x


def running_mean(carry, x):
    total, count = carry
    total, count = total + x, count + 1
    return (total, count), {"mean": total / count, "count": count}


def recurrent(w, init, xs, **how):
    """A loop that closes over w."""
    return pb.scan(lambda h, x: (np.tanh(w @ h + x), h.sum()), init, xs, **how)


def nested(a, xs):
    def outer(carry, row):
        total, _ = pb.scan(lambda c, x: (c * 0.5 + np.sin(a * x), None), carry, row)
        return total, total * a

    return pb.scan(outer, a, xs)


def written(xs):
    """A body that assigns into its carry."""

    def step(carry, x):
        carry = carry.copy()
        carry[0] = carry[1] * x
        carry[1:] *= 1.1
        return carry, carry[0] ** 2

    return pb.scan(step, xs[:3], xs)


def power(x, n):
    return pb.fori_loop(0, n, lambda i, c: c * x + i, x)


def picked(table, x):
    """A loop whose counter is an index."""
    return pb.fori_loop(0, 4, lambda i, c: np.sin(c * table[i]), x)


def square_root(a):
    return pb.while_loop(lambda x: abs(x * x - a) > 1e-6, lambda x: (x + a / x) / 2, a)


def halved(x):
    return pb.while_loop(lambda c: c[0].sum() > 0.7, lambda c: (c[0] / 2, c[1] * c[0]), (x, x + 1))


def counted(x, n):
    """A counter decides; the carry is made anew from what the loop closes over."""
    step = lambda c: (c[0] + 1, np.sin(c[1] * x) + c[2], c[1] * 0.5)
    return pb.while_loop(lambda c: c[0] < n, step, (0, x, x * x))[1:]


def forgetful(x):
    return pb.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, np.floor(c[1])), (0, x))[1] * x


def loops_in_loops(a, xs):
    """Each step has a loop with a number of steps of its own, and that one has a scan."""

    def shrink(c):
        c, _ = pb.scan(lambda c, x: (c * np.cos(a * x) * 0.9, None), c, xs)
        return c

    def outer(c, x):
        c = pb.while_loop(lambda c: abs(c) > 0.4, shrink, c + 2 * x)
        return c, c * a

    return pb.scan(outer, a, xs)


def branching(carry, x):
    carry = carry * x if carry > 1 else carry + x
    return carry, carry


SAMPLES = [
    Sample(lambda c, xs: pb.scan(affine, c, xs), (1.5, real(4)), name="scan of numbers"),
    Sample(lambda c, xs: pb.scan(affine, c, xs), (real(2), real(4, 2)), name="scan of arrays"),
    Sample(lambda c, xs: pb.scan(affine, c, xs, reverse=True), (real(2), real(4, 2)), name="scan(reverse=True)"),
    Sample(lambda c, xs: pb.scan(affine, c, xs), (real(2, dtype=np.float32), real(4, 2, dtype=np.float32)), name="scan of float32"),
    Sample(lambda xs: pb.scan(affine, 0.0, xs), real(3, dtype=np.float32), name="scan from a Python number"),
    Sample(lambda c, xs: pb.scan(affine, c, xs), (1.5 + 1j, real(3) + 0.5j), name="scan of complex numbers"),
    Sample(lambda xs: pb.scan(running_mean, (0.0, 0), xs), real(5), name="scan of trees"),
    Sample(lambda xs: pb.scan(running_mean, (0.0, 0), xs), real(0), name="scan of nothing"),
    Sample(lambda c: pb.scan(lambda c, _: (np.sin(c), None), c, length=3)[0], real(2), name="scan(length)"),
    Sample(recurrent, (real(2, 2), real(2), real(5, 2)), name="scan over a closure"),
    Sample(recurrent, (real(2, 2), real(2), real(5, 2)), {"checkpoint": True, "reverse": True}, name="scan(checkpoint=True)"),
    Sample(recurrent, (real(2, 2), real(2), real(7, 2)), {"checkpoint": 3}, name="scan(checkpoint=3)"),
    Sample(nested, (0.5, real(3, 2)), name="scan of scan"),
    Sample(written, real(5), name="scan with assignment"),
    Sample(lambda c, xs: pb.scan(lambda c, x: (c, x.sum()), c, xs), (real(2), real(3, 2)), name="scan that keeps its carry"),
    Sample(lambda c, xs: pb.scan(lambda c, x: (np.zeros(2), 1.0), c, xs)[1] + xs, (real(2), real(3)), name="scan that forgets"),
    Sample(lambda xs: pb.scan(lambda c, x: (c + x, np.where(x > 1, np.log(c + x), 0.0)), xs[0], xs)[1], real(5), smooth=False, name="scan with where"),
    Sample(power, (0.7, 3), name="fori_loop"),
    Sample(picked, (real(4), real(2)), name="fori_loop with an index"),
    Sample(square_root, 2.0, name="while_loop"),
    Sample(halved, (real(3),), name="while_loop of trees"),
    Sample(halved, (real(3, dtype=np.float32),), name="while_loop of float32"),
    Sample(counted, (real(3), 5), name="while_loop with a counter"),
    Sample(counted, (real(3), 0), name="while_loop of no steps"),
    Sample(counted, (0.5 + 0.7j, 3), name="while_loop of complex numbers"),
    Sample(forgetful, (real(3),), name="while_loop that forgets"),
    Sample(loops_in_loops, (0.5, real(3)), name="while_loop between scans"),
]  # fmt: skip

SAMPLES += [  # a branch is a question to the values, which all examples are to answer alike
    Sample(lambda c, xs: pb.scan(branching, c, xs), (0.7, real(4)), name="scan of a branch"),
]

ERRORS = [
    ErrorSample(lambda c, xs: pb.scan(lambda c, x: (np.stack([c, x]), x), c, xs), (0.5, real(3)), {}, pb.ShapeError, r"begin with `np.zeros\(\(2,\)\)`"),
    ErrorSample(lambda xs: pb.scan(lambda c, x: (c + x, x), np.float32(0), xs), (real(3),), {}, pb.DtypeError, "carry float32, but its function returned float64"),
    ErrorSample(lambda c, xs: pb.scan(lambda c, x: c + x, c, xs), (0.5, real(3)), {}, pb.ArgumentError, r"needs a function that returns a pair"),
    ErrorSample(lambda c, xs: pb.scan(lambda c, x: ((c, c), x), c, xs), (0.5, real(3)), {}, pb.ArgumentError, "the same tree as init"),
    ErrorSample(lambda c, xs: pb.scan(affine, c, xs, length=4), (0.5, real(3)), {}, pb.ShapeError, "4 steps by length, but a leaf of xs has 3 rows"),
    ErrorSample(lambda c: pb.scan(affine, c), (0.5,), {}, pb.ArgumentError, "length=n"),
    ErrorSample(lambda c: pb.scan(affine, c, [c, c]), (0.5,), {}, pb.ArgumentError, "iterates over the rows of xs"),
    ErrorSample(lambda c, xs: pb.scan(lambda c, x: (c, "y"), c, xs), (0.5, real(3)), {}, pb.ArgumentError, "a leaf of y is a str"),
    ErrorSample(lambda c, xs: pb.scan(affine, c, xs, checkpoint=0), (0.5, real(3)), {}, pb.ArgumentError, "checkpoint=0"),
    ErrorSample(lambda c: pb.fori_loop(0, 2.5, affine, c), (0.5,), {}, pb.ArgumentError, r"`int\(upper\)`"),
    ErrorSample(lambda c: pb.while_loop(lambda c: c, np.sin, c), (real(2),), {}, pb.ShapeError, "`np.any` and `np.all`"),
]  # fmt: skip
