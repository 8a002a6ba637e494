"""Random piecewise integrands, of one and of two variables, beside differences of exact integrals.

The exact integral is taken piece by piece, between the places where the surface is one of the
levels at which an integrand jumps or bends.
"""

import random
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate

import pullback as pb

from ..budgets import TURN, asked

TABLE = np.array([2.0, -1.0, 0.5])
HALVES = np.arange(-6, 7) / 2
# What is made of the surface s, for smooth a and b; and the levels of s where it jumps or bends.
KINDS = {
    "where": (lambda s, a, b: np.where(s < 0, a, b), [0.0]),
    "product": (lambda s, a, b: (s > 0.1) * a + b, [0.1]),
    "sign": (lambda s, a, b: np.sign(s) * a, [0.0]),
    "heaviside": (lambda s, a, b: np.heaviside(s, 0.5) * a + b, [0.0]),
    "floor": (lambda s, a, b: np.floor(2 * s) * a, HALVES),
    "round": (lambda s, a, b: np.round(2 * s) * a, HALVES + 0.25),
    "remainder": (lambda s, a, b: (s % 0.5) * a, HALVES),
    "select": (lambda s, a, b: np.select([s < -0.2, s < 0.2], [a, b], 0.3), [-0.2, 0.2]),
    "both": (lambda s, a, b: np.where((s > -0.3) & (s < 0.1), a, b), [-0.3, 0.1]),
    "nested": (lambda s, a, b: np.where(s < 0, a, np.where(s < 0.25, b, 0.1)), [0.0, 0.25]),
    "searchsorted": (
        lambda s, a, b: TABLE[np.searchsorted(np.array([-0.2, 0.3]), s)] * a,
        [-0.2, 0.3],
    ),
    "loop": (lambda s, a, b: sum(np.where(s < 0.2 * i, a, 0.0) for i in range(3)), [0.0, 0.2, 0.4]),
    "abs": (lambda s, a, b: np.abs(s) * a, [0.0]),
    "quotient": (lambda s, a, b: s / np.sqrt(s * s) * a + b, [0.0]),
    "arctan": (lambda s, a, b: np.arctan(1 / s) * a, [0.0]),
    "maximum": (lambda s, a, b: np.maximum(s, 0.1) * a, [0.1]),
    "clip": (lambda s, a, b: np.clip(s, -0.2, 0.2) * a, [-0.2, 0.2]),
    "if": (lambda s, a, b: a if s < 0 else b, [0.0]),
    "int": (lambda s, a, b: int(4.0 + 2 * s) * a, HALVES),
    "argmax": (lambda s, a, b: TABLE[np.argmax(np.stack([s, 0.0]))] * a, [0.0]),
}
SCALAR = ("if", "int", "argmax")
# No comparison shows where these jump. It's found for `quad`; `tanhsinh` sums over its own points,
# and second derivatives of an integral of integrals may be refused.
UNSAID = ("quotient", "arctan")
# The surface, and where it is at a level: at which x, or for which y at each x and at the limits.
LINES = {
    "x - k": (lambda x, k: x - k, lambda s, k: s + k),
    "k*k - x": (lambda x, k: k * k - x, lambda s, k: k * k - s),
    "k x": (lambda x, k: k * x - 0.4, lambda s, k: (s + 0.4) / k),
}
FORMS = {
    "quad": lambda f, k: integrate.quad(f, 0.0, 1.7, (k,), limit=200)[0],
    "quad_vec": lambda f, k: (
        integrate.quad_vec(lambda x: np.stack([f(x, k), 2 * f(x, k)]), 0.0, 1.7)[0].sum() / 3
    ),
    "limit": lambda f, k: integrate.quad(f, 0.0, 1.0 + k, (k,), limit=200)[0],
    "tanhsinh": lambda f, k: integrate.tanhsinh(f, 0.0, 1.7, args=(k,)).integral,
}
PLANES = {
    "y - k": (lambda x, y, k: y - k, lambda s, y, k: [], lambda s, k: [s + k]),
    "x - k": (lambda x, y, k: x - k, lambda s, y, k: [s + k], lambda s, k: []),
    "x + y - k": (
        lambda x, y, k: x + y - k,
        lambda s, y, k: [s + k - y],
        lambda s, k: [s + k, s + k - 1],
    ),
    "y - k x": (
        lambda x, y, k: y - k * x,
        lambda s, y, k: [(y - s) / k],
        lambda s, k: [s, s + k],
    ),
}
X, W = np.polynomial.legendre.leggauss(16)


def gauss(f, a, b, breaks):
    ends = [a, *sorted(x for x in breaks if a < x < b), b]
    pairs = pairwise(ends)
    return sum(
        (v - u) / 2 * w * f((u + v) / 2 + (v - u) / 2 * x)
        for u, v in pairs
        for x, w in zip(X, W, strict=True)
    )


def differences(total, k):
    """The first and second derivative of a smooth function."""
    h = 4e-3
    weights = {1: (3 / 4, 3 / 2), 2: (-3 / 20, -3 / 20), 3: (1 / 60, 1 / 90)}
    up, down = [{i: total(k + sign * i * h) for i in weights} for sign in (1, -1)]
    first = sum(w * (up[i] - down[i]) for i, (w, _) in weights.items()) / h
    second = sum(v * (up[i] + down[i]) for i, (_, v) in weights.items())
    return first, (second - 49 / 18 * total(k)) / h**2


def of(kind, surface):
    """A part of it is computed of the parameter alone, and of the outer variable alone."""
    make, _ = KINDS[kind]
    a = lambda *xs: np.exp(-xs[0] - xs[-1] * xs[-1]) * (1 + xs[-2] * xs[-2]) * 2.0
    return lambda *xs: make(surface(*xs), a(*xs), 2.0 + np.sin(sum(xs)))


WAYS = {
    "reverse": (0, lambda f: pb.grad(f)),
    "forward": (0, lambda f: lambda k: pb.jvp(f, (k,), (1.0,))[1]),
    "compiled": (0, lambda f: pb.compile(pb.grad(f), wait=True)),
    "batch": (0, lambda f: lambda k: pb.vmap(pb.grad(f))(np.stack([k, 1.03 * k]))[0]),
    "second": (1, lambda f: pb.grad(pb.grad(f))),
    "mixed": (1, lambda f: lambda k: pb.jvp(pb.grad(f), (k,), (1.0,))[1]),
}
QUIETLY = pytest.mark.filterwarnings(
    "ignore:.*falls back:RuntimeWarning",
    "ignore::pullback.LostDerivativeWarning",
    "ignore::scipy.integrate.IntegrationWarning",
)


def drawn(name, *tables):
    """A generator of random numbers, and an entry of each table, by the turn and a name."""
    draw = random.Random(f"{TURN} {name}")
    return draw, *[draw.choice(sorted(table)) for table in tables]


def place_between(draw, places, high):
    """A parameter near which no jump comes in at a limit."""
    inside = lambda k: [0 < x < high(k) for x in places(k)]  # one may come in as another leaves
    while True:
        k = draw.uniform(0.55, 0.85)
        if inside(k - 0.02) == inside(k + 0.02):
            return k


@pytest.mark.share(2)
@QUIETLY
@pytest.mark.parametrize("kind", asked(KINDS, 4, "integrands"))
def test_integrands_of_one_variable(kind):
    draw, line, way, form = drawn(kind, LINES, WAYS, FORMS)
    if form == "tanhsinh" and (kind in SCALAR + UNSAID or WAYS[way][0] == 0):
        form = "quad"  # a first derivative at a kink is that of a sum, which converges slowly
    f = of(kind, LINES[line][0])
    places = lambda k: [LINES[line][1](s, k) for s in KINDS[kind][1]]
    high = lambda k: 1.0 + k if form == "limit" else 1.7
    k = place_between(draw, places, high)

    def total(k):
        return gauss(lambda x: float(f(x, k)), 0.0, high(k), places(k))

    order, take = WAYS[way]
    found = take(lambda k: FORMS[form](f, k))(k)
    near = pytest.approx(differences(total, k)[order], rel=1e-5, abs=1e-5)
    assert found == near, (kind, line, way, form, k)


@pytest.mark.share(6)
@QUIETLY
@pytest.mark.parametrize("kind", asked(KINDS, 9, "two variables"))
def test_integrands_of_two_variables(kind):
    ways = {name: way for name, way in WAYS.items() if kind not in UNSAID or way[0] == 0}
    draw, plane, way = drawn(kind, PLANES, ways)
    surface, inner, outer = PLANES[plane]
    f, levels = of(kind, surface), KINDS[kind][1]
    of_y = lambda k: [y for s in levels for y in outer(s, k)]
    across = lambda k: [x for s in levels for x in (*inner(s, 1.2, k), *inner(s, 0.0, k))]
    k = place_between(draw, of_y, lambda k: 1.2)
    while len({tuple(0 < x < 1 for x in across(k + by)) for by in (-0.02, 0.02)}) > 1:
        k = place_between(draw, of_y, lambda k: 1.2)

    def total(k):
        def one(y):
            breaks = [x for s in levels for x in inner(s, y, k)]
            return gauss(lambda x: float(f(x, y, k)), 0.0, 1.0, breaks)

        return gauss(one, 0.0, 1.2, of_y(k))

    order, take = WAYS[way]
    coarse = {"epsabs": 0.1, "epsrel": 0.1}  # of the value alone
    of_scipy = lambda k: integrate.dblquad(f, 0.0, 1.2, 0.0, 1.0, args=(k,), **coarse)[0]
    found = take(of_scipy)(k)
    near = pytest.approx(differences(total, k)[order], rel=1e-4, abs=1e-4)
    assert found == near, (kind, plane, way, k)


PLACE = 0.7432366822863377  # of a jump where a point of a subdivision is, for one of the examples


@QUIETLY
@pytest.mark.parametrize("kind", UNSAID)
def test_a_point_at_a_jump_of_one_example(kind):
    """The integrand is no number there: that example is integrated anew, and the others go on."""
    f = of(kind, PLANES["x + y - k"][0])
    total = lambda y: pb.grad(lambda k: integrate.quad(f, 0.0, 1.0, (y, k))[0])(PLACE)
    ys = np.array([0.3, 0.4033333333333333, 1.1])
    np.testing.assert_allclose(pb.vmap(total)(ys), [total(y) for y in ys], rtol=1e-9)
