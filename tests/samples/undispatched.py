"""What NumPy does not dispatch, as rebinding and `pullback.numpy` serve it."""

from collections import namedtuple

import numpy as np

import pullback.numpy.polynomial  # noqa: F401  # enters what it has
from pullback.testing import Sample
from tests.samples import served

random = np.random.default_rng(35)
Pair = namedtuple("Pair", "first second")


def real(*shape):
    return random.uniform(0.5, 1.5, shape)


def use(original, program, *args):
    """A sample of a program that is given what stands for an object of NumPy."""
    return Sample(served(original, program), args)


def written_later(convert, x):
    """What is made of an array without a copy sees what is written into it later."""
    a = x * 1
    b = convert(a)
    a[0] = 5 * x[1]
    return b * 2


def evaluated(make, c, x):
    p = make(c)
    return (p * p.deriv() + 2.0)(x), (p.integ(k=1) ** 2).coeffs


def elements(broadcast, x, y):
    pairs = broadcast(x, y)
    total = 0
    for a, b in pairs:
        total = total + a / b
    return total * pairs.size


Series = np.polynomial.Polynomial
PLACES = np.array([-1.0, 0.2, 0.6, 1.3, 2.0])


def series(make, c, d, x):
    p, q = make(c, symbol="t"), make(d, symbol="t")
    quotient, rest = divmod(2 * p**2 - x, q + x)
    values = [p.integ(2, k=[x], lbnd=x), p.deriv() * q, quotient, rest // 2.0, (p % q).trim()]
    return sum(value(x) for value in values) / (p / x)(0.5), (x * p + q).coef


SAMPLES = [
    use(np.array, lambda array, x: array([[x[0], 1.0], [0.0, x[1]]]), real(2)),
    use(np.array, lambda array, x: array(x, dtype="f4", ndmin=2), real(2)),
    use(np.array, lambda array, x: array([Pair(x[0], 1.0), Pair(2, x[1])]), real(2)),
    *[
        use(function, lambda convert, x: convert([x[0], x[1] * 2, 3]), real(2))
        for function in (np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray)
    ],
    use(np.require, lambda require, x: require(x, np.float32), real(2)),
    use(np.full, lambda full, x: full((2, 2), x), 0.5),
    use(np.arange, lambda arange, x: arange(3) * x, 0.5),
    use(np.r_, lambda r, x: r[x, 1.0, 0:3, x[0]], real(2)),
    use(np.c_, lambda c, x: c[x, x * x], real(2)),
    use(np.mgrid, lambda grid, x: grid[x[0] : 3 : 2j, 0 : x[1] : 3j], real(2)),
    use(np.ogrid, lambda grid, x: grid[x[0] : 3 : 2j, 0 : x[1] : 3j], real(2)),
    use(np.broadcast, elements, real(2), real(3, 1)),
    use(np.frompyfunc, lambda make, x: make(lambda a: a * a, 1, 1)(x).astype(float), real(2)),
    use(np.from_dlpack, lambda convert, x: convert(x) * 2, real(2)),
    use(np.from_dlpack, written_later, real(3)),
    use(np.poly1d, evaluated, real(3), 0.7),
    use(Series, lambda make, x: make([1, 2, 3], [0, 2])(x), real(2)),
    use(Series, lambda make, c: make(c)(0.5), real(3)),
    use(Series, series, real(3), real(2), 0.7),
    use(Series, lambda make, c: make(c, [-2, 1]).roots(), np.array([2.0, -3.0, 0.5])),
    use(Series, lambda make, r: make.fromroots(r, [0, 2]).coef, real(3)),
    use(Series, lambda make, r: make.fromroots(r, None)(0.5), np.array([0.5, -0.7, 1.5])),
    use(Series, lambda make, x, y: make.fit(x, y, 2)(0.5), PLACES, real(5)),
    use(Series, lambda make, x, y: make.fit(x, y, [0, 1], w=y).convert().coef, PLACES, real(5)),
    use(Series, lambda make, y: make.fit(np.zeros(3), y, 0, full=True)[0].coef, real(3)),
    use(Series, lambda make, c: make(c).linspace(3)[1], real(3)),
    use(Series, lambda make, c: (make(c) - 1).truncate(2).coef, real(3)),
]
