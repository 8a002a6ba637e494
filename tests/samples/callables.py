"""Functions that take a function."""

import numpy as np

from pullback.numpy.wrapping import member
from pullback.testing import ErrorSample, Sample
from tests.samples import served

random = np.random.default_rng(34)


def real(*shape, dtype=float):
    return random.uniform(0.5, 1.5, shape).astype(dtype)


class vectorized:
    """The call of a vectorized function, made from arrays and numbers; it serves np.vectorize."""

    serves = np.vectorize
    __name__ = "vectorize"

    def __init__(self, *args, **how):
        self.args, self.how = args, how

    def __call__(self, *xs, **kwargs):
        return member(self.serves)(*self.args, **self.how)(*xs, **kwargs)


def branching(x, y):
    return x * y if x > 1 else x - y


def both(x):
    return x * x, 1 / x


def closing_over(x):
    return vectorized(lambda i: x * i)(np.arange(3.0))


pairs, walk = served(np.ndenumerate), served(np.nditer)


def elements(x):
    out = 0
    for (i, j), value in pairs(x):
        out = out + value ** (i + 2 * j)
    return out


def walked(x):
    out = 0
    for n, (a, b) in enumerate(walk([x, x[0]])):
        out = out + a**n * b
    return out


SAMPLES = [
    Sample(np.apply_along_axis, (np.cumprod, 0, real(3, 2))),
    Sample(np.apply_along_axis, (lambda x: np.outer(x, x), 1, real(2, 3, 2)), name="apply_along_axis(outer)"),
    Sample(np.apply_along_axis, (lambda x, k, power: x[k] ** power, -1, real(2, 3), 1), {"power": 2}),
    Sample(np.apply_along_axis, (np.sum, 0, real(3))),
    Sample(np.apply_along_axis, (lambda x: x.max(), 1, real(2, 3, dtype=np.float32))),
    Sample(lambda x: np.apply_along_axis(lambda row: 2.0, 0, x) * x[0], real(2, 3), name="apply_along_axis(constant)"),
    Sample(np.apply_over_axes, (np.sum, real(2, 3, 2), [0, -1])),
    Sample(np.apply_over_axes, (np.cumsum, real(2, 3), 1)),
    Sample(np.apply_over_axes, (lambda x, axis: np.mean(x, axis, keepdims=True), real(2, 3), (0, 1))),
    Sample(vectorized(both), real(2, 2), name="vectorize"),
    Sample(vectorized(np.square), 1.5, name="vectorize of a number"),
    Sample(vectorized(lambda x, y=2.0: x**y), (real(2), real(3, 1)), name="vectorize, broadcast"),
    Sample(lambda x: vectorized(lambda x, y=2.0: x**y)(x, y=x[0]), real(2), name="vectorize with a keyword"),
    Sample(lambda x: vectorized(lambda p, x: p[0] * x, excluded={0})(x, x), real(2), name="vectorize, excluded"),
    Sample(lambda x: vectorized(lambda x, p: p[0] * x, excluded=["p"])(x, p=x), real(2), name="vectorize, excluded name"),
    Sample(vectorized(np.exp, otypes="f"), real(2), name="vectorize(otypes)"),
    Sample(vectorized(np.exp, otypes=[np.float32]), real(0), name="vectorize of nothing"),
    Sample(vectorized(np.dot, signature="(n),(n)->()"), (real(2, 3), real(3)), name="vectorize(signature)"),
    Sample(vectorized(lambda x: (x[:2], x.sum()), signature="(n)->(k),()"), real(2, 3), name="vectorize(signature with new dimensions)"),
    Sample(closing_over, 0.5, name="vectorize over a closure"),
    Sample(elements, real(2, 2), name="ndenumerate"),
    Sample(walked, real(2, 2), name="nditer"),
    Sample(lambda x: np.fromfunction(lambda i, j: x[0] * i + x[1] ** j, (2, 3)), real(2), name="fromfunction"),
]  # fmt: skip

SAMPLES += [  # a branch is a question to the values, which all examples are to answer alike
    Sample(vectorized(branching), (np.array([0.7, 1.6]), real(2)), name="vectorize a branch"),
    Sample(vectorized(lambda x: 0 if x < 1 else x), np.array([0.5, 1.5]), smooth=False, name="vectorize, integers first"),
]  # fmt: skip

ERRORS = [
    ErrorSample(np.apply_along_axis, (np.sum, 1, real(0, 3)), {}, ValueError, "iteration dim"),
    ErrorSample(
        np.apply_over_axes, (lambda x, axis: x.ravel()[0], real(2, 3), 0), {}, ValueError, "shape"
    ),
    ErrorSample(vectorized(np.exp), (real(0),), {}, ValueError, "size 0"),
    ErrorSample(
        vectorized(np.dot, signature="(n),(n)->()"), (real(2),), {}, TypeError, "expected 2"
    ),
    ErrorSample(
        vectorized(np.dot, signature="(n),(n)->()"), (real(2), real(3)), {}, ValueError, "'n'"
    ),
    ErrorSample(vectorized(np.sum, signature="(n)->()"), (0.5,), {}, ValueError, "enough"),
    ErrorSample(vectorized(both, signature="()->()"), (0.5,), {}, ValueError, "number of outputs"),
]
