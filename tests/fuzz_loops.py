"""Random loop bodies: programs of vectors of three numbers, for scan against a loop of Python's."""

import numpy as np

import pullback as pb


def put(a, b):
    z = np.array(b)
    z[1] = a[0] * b[2]
    return z


OPERATIONS = [
    lambda a, b: np.sin(a) * b,
    lambda a, b: a + 0.5 * b,
    lambda a, b: np.tanh(a @ b) * a,
    lambda a, b: np.where(a > b, a, b * 0.3),
    lambda a, b: np.concatenate([a[1:], b[:1]]),
    lambda a, b: np.cumsum(a) * 0.3 + b,
    lambda a, b: np.sort(a) * 0.5 + b,
    lambda a, b: a[::-1] / (1 + b * b),
    lambda a, b: np.stack([a[0] * b[1], b[0], a[2]]),
    lambda a, b: np.exp(-a * a) + np.max(b),
    lambda a, b: np.outer(a, b).sum(0) * 0.2,
    lambda a, b: np.maximum(a, 0.1 * b),
    lambda a, b: np.sqrt(a * a + b * b + 0.1),
    lambda a, b: a - np.mean(b),
    lambda a, b: np.linalg.norm(a) * b * 0.3,
    lambda a, b: np.abs(a) ** 1.5 * 0.3 + b,
    put,
    lambda a, b: np.logaddexp(a, b) * 0.4,
    lambda a, b: np.clip(a, -0.5, 0.5) + b * 0.1,
    lambda a, b: a[[2, 0, 0]] * b,
]


def python_scan(fun, carry, xs, reverse=False, checkpoint=False):
    ys = [None] * len(xs)
    for t in reversed(range(len(xs))) if reverse else range(len(xs)):
        carry, ys[t] = fun(carry, xs[t])
    return carry, np.stack(ys)


def program(seed):
    """A loss of (w, carry, xs) for each kind of loop, and arguments."""
    random = np.random.default_rng(seed)

    def below(n):
        return int(random.integers(n))

    plan = [(below(len(OPERATIONS)), below(3 + i), below(3 + i)) for i in range(2 + below(4))]
    carried, shown = 3 + below(len(plan)), below(3 + len(plan))
    n = 1 + below(5)
    how = {"reverse": below(2) == 1, "checkpoint": [False, True, 2][below(3)]}

    def loss_with(scan):
        def loss(w, carry, xs):
            def step(carry, x):
                values = [carry, x, w]
                for operation, i, j in plan:
                    values.append(OPERATIONS[operation](values[i], values[j]))
                return values[carried], values[shown]

            carry, ys = scan(step, carry, xs, **how)
            return np.sum(carry * np.array([1.0, 2.0, 3.0])) + np.sum(np.sin(ys))

        return loss

    return loss_with, (random.normal(size=3), random.normal(size=3), random.normal(size=(n, 3)))


def derivatives(loss, args, dots):
    """Value and derivatives in several modes, as a dict."""
    batch = [np.stack([x, x * 0.5]) for x in args]
    some = args[0], batch[1], args[2]
    return {
        "value": (loss(*args),),
        "gradient": pb.grad(loss, (0, 1, 2))(*args),
        "jvp": pb.jvp(loss, args, dots),
        "batch": pb.vmap(pb.grad(loss, (0, 1, 2)))(*batch),
        "part of a batch": pb.vmap(pb.grad(loss, (0, 2)), in_axes=(None, 0, None))(*some),
        "forward over reverse": pb.jvp(pb.grad(loss, (0, 1, 2)), args, dots)[1],
        "reverse over forward": pb.grad(lambda *xs: pb.jvp(loss, xs, dots)[1], (0, 1, 2))(*args),
        "reverse over reverse": (
            pb.grad(lambda w: np.sum(pb.grad(loss)(w, *args[1:]) * dots[0]))(args[0]),
        ),
    }
