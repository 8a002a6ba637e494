"""Solvers written by hand that only decide: their derivative is missing, and they say so.

Each finds the root of `F(y, x) = y**3 + y - x`, by decisions of one kind, and hands it on in one of
several ways. All derivatives are zero, whatever the mode, and each warns with a line of the search.
Iterations that carry the derivative, and functions with kinks, are quiet.
"""

import math
import warnings

import numpy as np
import pytest

import pullback as pb


def F(y, x):
    return y**3 + y - x


def halves(step):
    """A search by halves: `step(F, d)` says how far to go, of the value of F."""

    def search(x):
        y, d = 2.5, 1.25
        for _ in range(48):
            y, d = y + step(F(y, x), d), d / 2
        return y

    return search


def branching(less):
    def search(x):
        lo, hi = 0.0, 5.0
        for _ in range(50):
            middle = (lo + hi) / 2
            if less(F(middle, x), F(lo, x)):
                lo = middle
            else:
                hi = middle
        return lo

    return search


def narrowing(choose):
    """Of the values of F squared at two points within, which part is kept."""

    def search(x):
        a, b = 0.0, 5.0
        for _ in range(70):
            c, d = a + (b - a) / 3, b - (b - a) / 3
            a, b = choose(F(c, x) ** 2, F(d, x) ** 2, (a, d), (c, b))
        return (a + b) / 2

    return search


def refined(x):
    a, b = 0.0, 5.0
    for _ in range(14):
        t = np.linspace(a, b, 11)
        i = int(np.argmin(abs(F(t, x))))
        a, b = t[max(i - 1, 0)], t[min(i + 1, 10)]
    return (a + b) / 2


def digits(x):
    y = 0.0
    for k in range(10):
        while F(y + 10.0**-k, x) <= 0:
            y += 10.0**-k
    return y


SEARCHES = {
    "copysign": halves(lambda f, d: math.copysign(d, -f)),
    "np.copysign": halves(lambda f, d: np.copysign(d, -f)),
    "np.sign": halves(lambda f, d: -d * np.sign(f)),
    "heaviside": halves(lambda f, d: d * (1 - 2 * np.heaviside(f, 0.5))),
    "a truth value": halves(lambda f, d: d * (1 - 2 * (f > 0))),
    "int": halves(lambda f, d: -d if int(f // 1) >= 0 else d),
    "floor": halves(lambda f, d: -d if np.floor(f) >= 0 else d),
    "a branch": halves(lambda f, d: d if f < 0 else -d),
    "where": halves(lambda f, d: np.where(f < 0, d, -d)),
    "signbit": branching(lambda f, g: np.signbit(f)),
    "signs": branching(lambda f, g: np.sign(f) == np.sign(g)),
    "a product": branching(lambda f, g: f * g > 0),
    "max": branching(lambda f, g: max(f, 0.0) == 0.0),
    "thirds": narrowing(lambda f, g, left, right: left if f < g else right),
    "min of pairs": narrowing(lambda f, g, left, right: min((f, left), (g, right))[1]),
    "argmin": narrowing(lambda f, g, left, right: (left, right)[np.argmin(np.array([f, g]))]),
    "tables": refined,
    "digits": digits,
}
HANDED_ON = {
    "alone": lambda y, x: y,
    "scaled": lambda y, x: 2.0 * y + 1.0,
    "and x times zero": lambda y, x: y + 0.0 * x,
    "times the sign": lambda y, x: y * np.sign(x),
    "in an array": lambda y, x: np.array([y, 0.0 * x]).sum(),
    "filled": lambda y, x: np.zeros_like(x) + y,
}
MODES = {
    "grad": lambda f: pb.grad(f)(3.0),
    "jvp": lambda f: pb.jvp(f, (3.0,), (1.0,))[1],
    "vjp": lambda f: pb.vjp(f, 3.0)[1](1.0)[0],
    "value_and_grad": lambda f: pb.value_and_grad(f)(np.float64(3.0))[1],
}


def warned(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        out = call()
    assert {each.category for each in caught} <= {pb.LostDerivativeWarning}
    return out, [(str(each.message), each.filename) for each in caught]


@pytest.mark.parametrize("mode", MODES)
def test_what_decides_warns(mode):
    """In each of 108 ways once, and with a line of this file."""
    silent = []
    for name, search in SEARCHES.items():
        assert search(3.0) == pytest.approx(newton(3.0), abs=1e-7), name
        for way, hand_on in HANDED_ON.items():
            out, messages = warned(lambda s=search, h=hand_on: MODES[mode](lambda x: h(s(x), x)))
            assert out == 0.0
            if [file for _, file in messages] != [__file__]:
                silent.append((name, way, messages))
    assert not silent, (len(silent), silent[:5])


def newton(x):
    y = 1.5
    while True:
        step = F(y, x) / (3 * y * y + 1)
        y = y - step
        if abs(step) < 1e-12:
            return y


def backtracking(x):
    y = 2.0
    for _ in range(200):
        slope, t = F(y, x) * (3 * y * y + 1), 1.0
        while F(y - t * slope, x) ** 2 > F(y, x) ** 2 and t > 1e-9:
            t /= 2
        y = y - t * slope
    return y


def adaptive(x):
    """A step that fits, by halves and doubles."""
    t, y, h = 0.0, x, 0.5
    while t < 1.0:
        h = min(h, 1.0 - t)
        one, two = y * (1 - h), y * (1 - h / 2) ** 2
        if abs(one - two) > 1e-3:
            h /= 2
            continue
        t, y, h = t + h, two, h * 1.5
    return y


QUIET = {
    "newton": (newton, 2.0), "backtracking": (backtracking, 2.0), "adaptive": (adaptive, 2.0),
    "a kink": (lambda x: 0.0 * x if x > 0 else x, 2.0), "floor": (np.floor, 2.5),
    "a minimum": (lambda x: sum(v * v if v > 0 else -v * v for v in x), np.zeros(40)),
    "kinks": (lambda x: sum(abs(v) if v > 0 else 2 * v for v in x), np.linspace(-1, 1, 40)),
    "sorted": (lambda x: sum(k * v for k, v in enumerate(sorted(x))), np.linspace(1, -1, 40)),
    "day": (lambda t: t - sum(int(t / k) * k for k in (365.25, 30.6, 7.0)), 1234.5),
    "a fraction": (lambda x: x - int(x), 2.5), "an index": (lambda x: [1.0, 2.0][int(x)] * x, 1.5),
    "nearby": (lambda x: x[np.rint(x).astype(int)].sum(), np.array([1.0, 0.0])),
    "a table": (lambda x: np.arange(9.0)[np.searchsorted(np.arange(9.0), x)], 2.5),
}  # fmt: skip


@pytest.mark.filterwarnings("error")
def test_what_carries_the_derivative_is_quiet():
    for f, x in QUIET.values():
        pb.grad(f)(x)
        pb.jvp(f, (x,), (x * 0 + 1.0,))
        pb.vjp(f, x)[1](1.0)
        pb.grad(lambda x, f=f: pb.grad(lambda y: np.sum(y * y) / 2 + f(y))(x).sum())(x)


def test_newton_and_backtracking_are_right():
    for f in (newton, backtracking):
        assert pb.grad(f)(2.0) == pytest.approx(0.25, rel=1e-6)


number = np.float64(2.0)
FOUND = {
    "number < x": lambda x: number < x,
    "number == x": lambda x: number == x,
    "numbers < x": lambda x: (np.array([1.0, 2.0]) < x).any(),
    "list.index": lambda x: [number].index(x),
    "in": lambda x: x in (number,),
    "dicts": lambda x: (lambda known: known == {"u": x})({"u": number}),
}


@pytest.mark.parametrize("way", FOUND)
def test_comparisons_of_numpys_numbers_on_the_left(way):
    """NumPy's numbers ask by a ufunc: a cache or a search that compares so is noticed as well."""
    with pytest.warns(pb.LostDerivativeWarning, match="was compared"):
        assert pb.grad(lambda x: (FOUND[way](x), 3.0)[1])(2.0) == 0.0
