"""Where SciPy gives one of Python's numbers, a program that is differentiated has one as well.

Else a compiled program would return a number of another class, and falls back.
"""

import numpy as np
import pytest
from scipy import integrate, interpolate, linalg, optimize, spatial, stats

import pullback as pb

X = np.array([0.3, 0.7, 1.1, 0.2])
AT = np.arange(4.0)


def cubic(x):
    return lambda t: t**3 + t * np.exp(x[0]) - 2 + x[1]


def bowl(x):
    return lambda t: (t - x[0]) ** 2 * (1 + t * t * x[1])


PROGRAMS = {
    "brentq": lambda x: optimize.brentq(cubic(x), -5, 5),
    "brenth": lambda x: optimize.brenth(cubic(x), -5, 5),
    "ridder": lambda x: optimize.ridder(cubic(x), -5, 5),
    "bisect": lambda x: optimize.bisect(cubic(x), -5, 5),
    "toms748": lambda x: optimize.toms748(cubic(x), -5, 5),
    "newton": lambda x: optimize.newton(cubic(x), 1.0),
    "root_scalar": lambda x: optimize.root_scalar(cubic(x), bracket=[-5, 5]).root,
    "secant": lambda x: optimize.root_scalar(cubic(x), x0=1.0, x1=2.0).root,
    "minimize_scalar": lambda x: optimize.minimize_scalar(bowl(x)).fun,
    "minimize": lambda x: optimize.minimize(lambda t: np.sum(bowl(x)(t)), [0.1]).fun,
    "nnls": lambda x: optimize.nnls(np.vander(x, 3), x)[1],
    "linprog": lambda x: optimize.linprog(x[:2], bounds=[(1, 2), (1, 2)]).fun,
    "quad": lambda x: integrate.quad(lambda t: x[0] * t, 0, 1)[0],
    "error of quad": lambda x: integrate.quad(lambda t: x[0] * t, 0, 1)[1],
    "error of quad of a law": lambda x: integrate.quad(stats.norm(x[0], 1.0).pdf, 0, 1)[1],
    "dblquad": lambda x: integrate.dblquad(lambda a, b: a * b * x[0], 0, 1, 0, 1)[0],
    "quad_vec": lambda x: integrate.quad_vec(lambda t: x[0] * t, 0, 1)[0],
    "norm": linalg.norm,
    "norm of a matrix": lambda x: linalg.norm(x.reshape(2, 2)),
    "largest column": lambda x: linalg.norm(x.reshape(2, 2), 1),
    "euclidean": lambda x: spatial.distance.euclidean(x[:2], x[2:]),
    "cityblock": lambda x: spatial.distance.cityblock(x[:2], x[2:]),
    "volume": lambda x: spatial.ConvexHull(np.array([[0, 0], [1, 0], [0, 1]]) * x[0]).volume,
    "splint": lambda x: interpolate.splint(0, 2, interpolate.splrep(AT, x)),
    "integral": lambda x: interpolate.UnivariateSpline(AT, x, s=0).integral(0, 2),
    "residual": lambda x: interpolate.UnivariateSpline(AT, x, s=0).get_residual(),
    "double integral": lambda x: interpolate.RectBivariateSpline(AT, AT, np.outer(x, x)).integral(
        0, 2, 0, 2
    ),
}


ROUNDED = {"euclidean"}  # a norm, whose last bit is that of the compiled sum


def test_classes():
    wrong = {}
    for name, f in PROGRAMS.items():
        seen = []

        def program(x, f=f, seen=seen):
            out = f(x)
            seen.append(type(out))
            return out * 1.0

        pb.grad(program)(X)
        if seen[-1] is not type(f(X)):
            wrong[name] = seen[-1]
    assert not wrong


@pytest.mark.share(4)
@pytest.mark.filterwarnings("ignore:.*kink")
def test_compiled():
    wrong = {}
    # A solver whose function calls SciPy's is repeated; alone, most of these would run as they are.
    beside = lambda x: optimize.brentq(lambda t: stats.norm.cdf(t * x[0]) - 0.4, -5, 5)
    for name, f in PROGRAMS.items():
        fast = pb.compile(lambda x, f=f: (f(x), beside(x)), wait=True)
        found = [fast(X)[0] for _ in range(3)]
        right = f(X)
        by = np.spacing(right) if name in ROUNDED else 0.0
        if any(type(x) is not type(right) or not abs(x - right) <= by for x in found):
            wrong[name] = found
        if not fast.why().startswith("Machine code"):
            wrong[name] = fast.why()
    assert not wrong
