"""Compiled functions in which SciPy solves, with other numbers in each call.

SciPy's call is one operation of the recording, so one recording stands for all of them.
"""

import sys
from functools import partial

import numpy as np
import pytest
from scipy import integrate, optimize, stats

import pullback as pb
from tests.budgets import asked

TIMES = np.linspace(0.0, 1.0, 4)
AT = np.linspace(0.1, 2.0, 8)
SEEN = 2.0 * np.exp(-0.7 * AT)
START = np.array([1.0, 0.5])
SLOPE = 3.0  # a global that functions read


def cube(x, a):
    return x**3 + x - a


def pair(x, a):
    return np.array([x[0] ** 2 + x[1] - a, x[0] - np.cos(x[1])])


def decay(p, a):
    return p[0] * np.exp(-p[1] * AT) - a * SEEN


def bowl(x, a):
    return np.sum((x - a) ** 2) + np.sum(np.cos(x))


def line(a):
    return [{"type": "eq", "fun": lambda x: x[0] + 2 * x[1] - a}]


def volatility(price):
    gap = lambda s: 100 * (stats.norm.cdf(s / 2) - stats.norm.cdf(-s / 2)) - price
    return optimize.brentq(gap, 0.01, 3.0)


def nested(a):
    inner = lambda b: integrate.quad(lambda x: np.exp(-b * x), 0, 1)[0]
    return optimize.brentq(lambda b: inner(b) - 1 / (1 + a), 0.01, 50.0)


def calibrated(a):
    found = optimize.least_squares(lambda p: decay(p, a), START)
    return np.sum((found.x - 1) ** 2) * a + found.cost


TIGHT = partial(optimize.brentq, xtol=1e-13)
INTEGRALS = {"quad": integrate.quad}


def by_default(a, integral=INTEGRALS["quad"]):
    return integral(lambda x: np.exp(-a * x * x), 0, 1)[0]


def in_a_box(a):
    box = optimize.Bounds([0.0, 0.0], [0.4, 5.0])
    line = optimize.LinearConstraint(np.ones((1, 2)), a, a)
    return optimize.minimize(
        lambda x: np.sum((x - a) ** 2), START, bounds=box, constraints=line, method="SLSQP"
    ).x


PROGRAMS = {
    "over a box": lambda a: (
        integrate.cubature(
            lambda x: np.cos(a * x[:, 0]) * np.exp(-x[:, 1]), [0, 0], [1, 2], rtol=1e-9
        ).estimate
    ),
    "on a sphere": lambda a: (
        integrate.lebedev_rule(5)[1] @ np.exp(a * integrate.lebedev_rule(5)[0][0])
    ),
    "partial": lambda a: TIGHT(cube, 0.0, 2 * a, args=(a,)),
    "by key": lambda a: INTEGRALS["quad"](lambda x: np.exp(-a * x * x), 0, 1)[0],
    "by default": by_default,
    "in a box": lambda a: in_a_box(a) @ [1.0, 2.0],
    "brentq": lambda a: optimize.brentq(cube, 0.0, 2 * a, args=(a,), xtol=1e-13),
    "its result": lambda a: optimize.brentq(cube, 0.0, 9.0, (a,), full_output=True)[1].root,
    "root_scalar": lambda a: optimize.root_scalar(cube, args=(a,), bracket=(0.0, 9.0)).root,
    "newton": lambda a: optimize.newton(lambda x: cube(x, a * AT), np.ones(8)).sum(),
    "root": lambda a: optimize.root(pair, START, args=(a,)).x.sum(),
    "fsolve": lambda a: np.sum(optimize.fsolve(lambda x: pair(x, a), START)),
    "minimize": lambda a: optimize.minimize(lambda x: bowl(x, a), np.zeros(2)).fun,
    "constraints": lambda a: optimize.minimize(bowl, START, (a,), constraints=line(a)).x[0],
    "minimize_scalar": lambda a: optimize.minimize_scalar(bowl, args=(a,)).x,
    "curve_fit": lambda a: optimize.curve_fit(
        lambda x, p, q: p * np.exp(-q * x), AT, a * SEEN, p0=START
    )[0].sum(),
    "nnls": lambda a: optimize.nnls(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([a, 2.0]))[1],
    "linprog": lambda a: optimize.linprog([-1.0, -2.0], [[1.0, 3.0]], np.stack([a])).fun,
    "quad": lambda a: integrate.quad(lambda x: np.exp(-a * x * x), 0, a)[0],
    "to infinity": lambda a: integrate.quad(lambda x, b: np.exp(-b * x), 0, np.inf, (a,))[0],
    "nquad": lambda a: integrate.nquad(lambda x, y: x * y + a, [(0, 1), (0, a)])[0],
    "odeint": lambda a: integrate.odeint(lambda y, t: -a * y, START, TIMES)[-1].sum(),
    "BDF": lambda a: integrate.solve_ivp(
        lambda t, y: -a * y, (0.0, 1.0), START, method="BDF", t_eval=TIMES
    ).y[0, -1],
    "quantiles": lambda a: stats.gamma.ppf(np.array([0.3, 0.6]), a).sum(),
    "volatility": lambda a: volatility(9 + a),
    "nested": nested,
    "calibrated": calibrated,
}
TRANSFORMED = {
    "mapped": lambda f: pb.vmap(f),
    "of each": lambda f: pb.vmap(pb.grad(f)),
    "of all": lambda f: pb.grad(lambda x: np.sum(pb.vmap(f)(x) * x)),
    "forward": lambda f: lambda x: pb.jvp(lambda x: f(x[0]) * x[1], (x,), (np.ones(3),))[1],
    "second": lambda f: lambda x: pb.grad(pb.grad(f))(x[0]),
}


def differences(fast, plain, arguments):
    """Where results differ, and why the last call was not compiled, if it was not."""
    found = []
    for x in arguments:
        pairs = zip(fast(x), plain(x), strict=True)
        found += [(x, y, z) for y, z in pairs if not np.allclose(y, z, 1e-8, 1e-10)]
        found += [(x, type(y)) for y, z in pairs if type(y) is not type(z)]
    if not fast.why().startswith("Machine code"):
        found.append(fast.why())
    return found


@pytest.mark.share(3)
def test_programs():
    """Values and gradients of one recording for all numbers."""
    arguments = [np.float64(x) for x in (1.0, 1.1, 0.9, 1.2)]
    wrong = {}
    for name, f in asked(PROGRAMS, 3).items():
        plain = pb.value_and_grad(f)
        fast = pb.compile(plain, wait=True)
        found = differences(fast, plain, arguments)
        if found or fast.cache_info().paths > 2:  # the first is for its number alone
            wrong[name] = found, fast.cache_info()
    assert not wrong


@pytest.mark.share(3)
def test_transformed():
    arguments = [np.array([1.0, 1.1, 0.9]) * x for x in (1.0, 1.1, 0.9)]
    wrong = {}
    for name in ("brentq", "minimize", "quad", "quantiles", "its result"):
        for what, transformed in asked(TRANSFORMED, 2).items():
            plain = transformed(PROGRAMS[name])
            fast = pb.compile(plain, wait=True)
            one = lambda x, fast=fast: (fast(x),)
            one.why = fast.why
            found = differences(one, lambda x, plain=plain: (plain(x),), arguments)
            if found:
                wrong[name, what] = found
    assert not wrong


def test_no_code_of_the_user_runs():
    """The function that a solver calls is a program of its own."""
    ran = []

    def watched(frame, event, arg):
        if event == "call" and frame.f_code is cube.__code__:
            ran.append(frame)

    fast = pb.compile(pb.value_and_grad(PROGRAMS["brentq"]), wait=True)
    for x in (1.0, 1.1):
        fast(np.float64(x))
    sys.setprofile(watched)
    try:
        fast(np.float64(1.2))
    finally:
        sys.setprofile(None)
    assert not ran


COUNTED = []


def counting(x, a):
    COUNTED.append(x)
    return cube(x, a)


def rates(t, y, a):
    return -a * y if y[0] > 0.5 else -0.5 * a * y


BRANCHES = {
    "root": lambda a: optimize.brentq(lambda x: cube(x, a) if x < 5.0 else x, 0.0, 9.0),
    "at the root": lambda a: optimize.brentq(lambda x: x - a if x < 1.0 else (x - a) * x, 0.0, 9.0),
    "system": lambda a: np.sum(
        optimize.root(lambda x: pair(x, a) if x[0] > 0 else 2.0 * x - 5.0, START).x
    ),
    "minimum": lambda a: optimize.minimize(
        lambda x: (x[0] - a) ** 2 if x[0] > 0 else 2 * x[0] ** 2 - a * x[0], START[:1]
    ).x[0],
    "integral": lambda a: integrate.quad(lambda x: a * x if x > 0.3 else np.exp(-a * x), 0, 1)[0],
    "flow": lambda a: integrate.solve_ivp(
        rates, (0.0, 2.0), START, t_eval=TIMES, args=(a,), method="LSODA"
    ).y[0, -1],
}


def reading(x, a):
    return cube(x, a) - SLOPE


def raising(a):
    return optimize.brentq(cube, 0.0, 3.0, args=(a,))


@pytest.mark.filterwarnings("ignore:.*falls back to Python")
def test_functions_that_do_more():
    """What changes something is done as without `compile`."""
    plain = lambda a: optimize.brentq(counting, 0.0, 9.0, args=(a,))
    fast, counts = pb.compile(plain, wait=True), []
    for x in np.linspace(1.0, 2.0, 7):
        COUNTED.clear()
        expected = plain(x), len(COUNTED)
        COUNTED.clear()
        counts.append(((fast(x), len(COUNTED)), expected))
    assert all(found == expected for found, expected in counts)
    with pytest.warns(RuntimeWarning, match="changes something in a function that SciPy calls"):
        pb.compile(lambda a: optimize.brentq(counting, 0.0, 9.0, args=(a,)), wait=True)(
            np.float64(1.0)
        )


def test_a_changed_global(monkeypatch):
    plain = lambda a: optimize.brentq(reading, 0.0, 9.0, args=(a,))
    fast = pb.compile(plain, wait=True)
    for slope in (3.0, 4.0, 3.0):
        monkeypatch.setitem(globals(), "SLOPE", slope)
        for x in np.linspace(1.0, 2.0, 3):
            assert np.isclose(fast(x), plain(x), 1e-12)


def test_errors():
    """Where SciPy raises, a compiled function does, and is compiled for what follows."""
    fast = pb.compile(pb.value_and_grad(raising), wait=True)
    for x in (2.0, 3.0, 50.0, 4.0, 60.0, 5.0):
        if x < 10:
            assert np.allclose(fast(np.float64(x)), pb.value_and_grad(raising)(x), 1e-9)
        else:
            with pytest.raises(ValueError, match="different signs"):
                fast(np.float64(x))
    assert fast.why().startswith("Machine code")


def test_numbers_of_python():
    """SciPy passes Python's numbers: where NumPy's would do otherwise, Python runs."""

    def f(a):
        return optimize.brentq(lambda x: 1 / x - 2 + (a - a), a - 0.5, 3.0) * volatility(9 + a)

    def g(a):
        return optimize.brentq(lambda x: 2 - x**0.5 + (a - a), a - 0.5, 9.0) * volatility(9 + a)

    for of, at in ((f, 0.5), (g, 0.4)):
        fast = pb.compile(of, wait=True)
        for x in (0.6, 0.7, 0.8):
            assert np.isclose(fast(x), of(x), 1e-12)
        assert fast.why().startswith("Machine code")
        with pytest.raises((ZeroDivisionError, TypeError, ValueError)) as python:
            of(at)
        with pytest.raises(python.type):
            fast(at)


def test_messages_and_objects():
    """What is of one call alone, such as `message`, is not kept from the recorded one."""

    def f(a):
        found = optimize.minimize(lambda x: bowl(x, a), np.zeros(2), method="L-BFGS-B")
        return found.x[0] * len(found.message)

    fast = pb.compile(f, wait=True)
    found = [fast(x) for x in np.linspace(1.0, 2.0, 3)]
    assert found == [f(x) for x in np.linspace(1.0, 2.0, 3)]


def test_arrays_that_are_written_later():
    """A solver read what an array held when it was called."""

    def f(a):
        start = np.zeros(2)
        start[0] = 1.0
        found = optimize.fixed_point(lambda x, b: np.cos(x + b * start) * a / 5, 0.5, (start,))
        start[1] = 9.0
        return np.sum(found) + start[1] * a

    plain = pb.value_and_grad(f)
    fast = pb.compile(plain, wait=True)
    for x in np.linspace(1.0, 2.0, 4):
        assert np.allclose(fast(np.float64(x)), plain(np.float64(x)), 1e-9)
    assert fast.why().startswith("Machine code")


@pytest.mark.share(2)
def test_functions_that_choose():
    """A function that asks for its argument is several programs, and a value chooses."""
    wrong = {}
    for name, f in asked(BRANCHES, 3).items():
        both = lambda a, f=f: pb.value_and_grad(f)(a)
        fast = pb.compile(both, wait=True)
        found = differences(fast, both, 1.0 + 0.2 * np.sin(np.arange(8.0)))
        if found:
            wrong[name] = found
    assert not wrong


@pytest.mark.share(2)
def test_short_functions():
    """Without a trial the function runs where SciPy's call is all that it does, and is short."""
    found = {}
    for name in (
        "brentq",
        "root",
        "quad",
        "odeint",
        "quantiles",
        "curve_fit",
        "nested",
        "volatility",
    ):
        fast = pb.compile(PROGRAMS[name], wait=True)
        for x in (1.0, 1.1, 1.2, 1.3):
            assert np.isclose(fast(np.float64(x)), PROGRAMS[name](np.float64(x)), 1e-9)
        found[name] = fast.why().partition(":")[0]
    runs = "Running the function is faster, and so it runs"
    assert found.pop("volatility") == "Machine code replayed it", found  # SciPy's Python is in it
    assert set(found.values()) == {runs}, found


CHOICES = {
    "quad": lambda a: integrate.quad(lambda x, b: np.exp(-a * x) / (x + b), 0, 1, args=(2.0,))[0],
    "weight": lambda a: integrate.quad(lambda x: np.exp(-a * x), 0, 2, weight="cos", wvar=3.0)[0],
    "infinite": lambda a: integrate.quad(lambda x: np.exp(-a * x * x), -np.inf, np.inf)[0],
    "points": lambda a: integrate.quad(lambda x: np.abs(x - 0.3) ** a, 0, 1, points=[0.3])[0],
    "tplquad": lambda a: integrate.tplquad(
        lambda x, y, z, b: np.sin(a * x) * y + z * b, 0, 1, 0, 1, 0, 1, args=(2.0,)
    )[0],
    "array": lambda a: integrate.quad(lambda x, w: np.sum(np.sin(a * x * w)), 0, 1, args=(AT,))[0],
    "Python's numbers": lambda a: integrate.quad(lambda x: (x - a + 1.0) ** 0.5, 1, 2)[0],
}


@pytest.mark.share(2)
def test_integrands_as_functions_of_c():
    """QUADPACK calls machine code with the numbers that Python's function would get."""
    wrong = {}
    for name, f in CHOICES.items():
        pair = lambda a, f=f: (f(a), volatility(9 + a))
        fast = pb.compile(pair, wait=True)
        found = differences(fast, pair, [np.float64(x) for x in (1.0, 1.1, 0.9, 1.2)])
        if found:
            wrong[name] = found
    assert not wrong


@pytest.mark.share(2)
@pytest.mark.parametrize("method", ["RK45", "LSODA"])
def test_a_solution_is_evaluated(method):
    """`sol(t)` of a dense output, at times that are numbers, arrays, or move."""

    def read(k):
        right = lambda t, y: -k * y * (1 + 0.1 * np.sin(t))
        options = {"t_eval": [1.0, 2.0], "rtol": 1e-8, "atol": 1e-10, "method": method}
        found = integrate.solve_ivp(right, (0, 2), [1.0], dense_output=True, **options)
        return np.sum(found.sol(np.array([0.3, 1.9]))) + found.sol(k)[0] * found.y[0, -1]

    for f in (read, pb.grad(read)):
        fast = pb.compile(lambda k, f=f: f(k), wait=True)
        for k in (0.7, 0.71, 0.73):
            np.testing.assert_allclose(fast(k), f(k), rtol=1e-12)
        assert fast.refusal is None
        assert fast.cache_info().misses <= 2
