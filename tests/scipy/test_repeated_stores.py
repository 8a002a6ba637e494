"""What functions store that a solver is given, where a rule calls them more often than SciPy.

Each program stores in one of several ways while a solver calls it, and computes its result with
what is stored afterwards. Under a derivative it is the plain program's, or is refused: counts are
right, and numbers that would have lost their derivative raise.
"""

import itertools
import random
from array import array
from collections import deque
from functools import partial
from io import StringIO

import numpy as np
import pytest
from scipy import integrate, ndimage, optimize, sparse, stats
from scipy.optimize import elementwise

import pullback as pb
from tests.budgets import asked

COUNT = 0


class Counted:
    """Counts its calls, on the object and on its class."""

    calls = 0

    def __init__(self, g):
        self.g, self.n = g, 0

    def __call__(self, *x):
        self.n += 1
        Counted.calls += 1
        return self.g(*x)

    def method(self, *x):
        return self.helper(x)

    def helper(self, x):
        self.n += 1
        return self.g(*x)


class Slotted:
    __slots__ = ("n",)


# Ways to store counts: (g, solve) -> the solver's result, and the number of calls.


def in_a_list(g, solve):
    n = [0]

    def counted(*x):
        n[0] += 1
        return g(*x)

    return solve(counted), n[0]


def in_a_variable(g, solve):
    n = 0

    def counted(*x):
        nonlocal n
        n += 1
        return g(*x)

    return solve(counted), n


def in_a_global(g, solve):
    global COUNT
    COUNT = 0

    def counted(*x):
        global COUNT
        COUNT += 1
        return g(*x)

    return solve(counted), COUNT


def by_length(g, solve):
    seen = []

    def counted(*x):
        y = g(*x)
        seen.append((x, y))
        return y

    return solve(counted), len(seen)


def in_a_dict(g, solve):
    seen = {}

    def counted(*x):
        seen[len(seen)] = x
        return g(*x)

    return solve(counted), len(seen)


def in_an_array(g, solve):
    n = np.zeros(2)

    def counted(*x):
        n[1] += 1
        return g(*x)

    return solve(counted), n[1]


def in_slots(g, solve):
    at = Slotted()
    at.n = 0

    def counted(*x):
        at.n += 1
        return g(*x)

    return solve(counted), at.n


def on_an_object(g, solve):
    at = Counted(g)
    return solve(lambda *x: at(*x)), at.n


def by_a_method(g, solve):
    at = Counted(g)
    return solve(at.method), at.n


def on_a_class(g, solve):
    Counted.calls = 0
    return solve(Counted(g).__call__), Counted.calls


def by_default(g, solve):
    def counted(*x, n=[0]):  # noqa: B006  # which is what it stores in
        n[0] += 1
        counted.n = n[0]
        return g(*x)

    return solve(lambda *x: counted(*x)), counted.n


def by_draws(g, solve):
    rng = np.random.default_rng(3)

    def counted(*x):
        rng.random()
        return g(*x)

    return solve(counted), rng.random()


def by_pythons_draws(g, solve):
    rng = random.Random(3)
    random.seed(4)

    def counted(*x):
        rng.gauss()
        random.random()
        return g(*x)

    return solve(counted), rng.random() + random.random()


def by_lines_read(g, solve):
    lines = StringIO("line\n" * 5000)

    def counted(*x):
        lines.readline()
        return g(*x)

    return solve(counted), lines.tell()


def in_place(g, solve):
    n = np.zeros(1)

    def counted(*x, buffer=n):
        alias = buffer
        alias += 1
        return g(*x)

    return solve(counted), n[0]


def into_out(g, solve):
    n = np.zeros(1)

    def counted(*x):
        np.add(n, 1, out=n)
        return g(*x)

    return solve(counted), n[0]


def in_bytes(g, solve):
    n = bytearray(8)

    def counted(*x):
        n[0] = (n[0] + 1) % 250
        memoryview(n)[1] = n[0]
        n.append(0)
        return g(*x)

    return solve(counted), n[1] * len(n)


def in_numbers(g, solve):
    n = array("d", [0.0])

    def counted(*x):
        n[0] += 1
        n.fromlist([1.0])
        return g(*x)

    return solve(counted), n[0] * len(n)


def in_text(g, solve):
    n = StringIO()

    def counted(*x):
        n.write("x")
        return g(*x)

    return solve(counted), len(n.getvalue())


COUNTS = [
    in_a_list, in_a_variable, in_a_global, by_length, in_a_dict, in_an_array, in_slots,
    on_an_object, by_a_method, on_a_class, by_default, by_draws, by_pythons_draws, by_lines_read,
    in_place, into_out, in_bytes, in_numbers, in_text,
]  # fmt: skip


# Iterators that a function takes an item from in each call, which nobody can put back.


def counting():
    n = 0
    while True:
        n += (yield n) or 1


def items_of(make):
    def by_items(g, solve):
        items = make()

        def counted(*x):
            next(items)
            return g(*x)

        return solve(counted), np.size(next(items)) + float(np.ravel(next(items))[-1])

    return by_items


MANY = range(10**6)
ITERATORS = [
    lambda: itertools.count(1), counting, lambda: iter(list(range(20000))), lambda: iter(MANY),
    lambda: map(float, MANY), lambda: zip(MANY, strict=True), lambda: enumerate(MANY),
    lambda: filter(None, itertools.count()), lambda: itertools.accumulate(MANY),
    lambda: itertools.islice(MANY, 2, None), lambda: itertools.chain(MANY, MANY),
    lambda: itertools.cycle([1, 2, 3, 4, 5, 6, 7]), lambda: reversed(MANY),
    lambda: iter(dict.fromkeys(range(20000))), lambda: iter(np.arange(20000.0)),
    lambda: (n for n in MANY), lambda: np.nditer(np.arange(20000.0)), lambda: np.arange(2e4).flat,
    lambda: iter(deque(range(20000))), lambda: iter(counting().__next__, -1),
    lambda: itertools.starmap(abs, zip(MANY, strict=True)), lambda: itertools.pairwise(MANY),
]  # fmt: skip
ITEMS = list(map(items_of, ITERATORS))


# Ways to store numbers that have a derivative: (g, solve) -> the result, and what was stored.


def last_point(g, solve):
    seen = []

    def noted(*x):
        seen.append(x[-1])
        return g(*x)

    return solve(noted), np.sum(seen[-1])


def largest_value(g, solve):
    seen = [np.float64(-1e9)]

    def noted(*x):
        y = g(*x)
        seen[0] = max(seen[0], np.max(y))
        return y

    return solve(noted), seen[0]


def on_attributes(g, solve):
    at = Counted(g)

    def noted(*x):
        at.last = {"x": x, "y": g(*x)}
        return at.last["y"]

    return solve(noted), np.sum(at.last["y"]) + np.sum(at.last["x"][-1])


NUMBERS = [last_point, largest_value, on_attributes]

LINE = np.linspace(0.0, 1.0, 5)


def by_hand(solver):
    while solver.status == "running":
        solver.step()
    return solver.y[0]


# A solver, and what it is given: (a, *arguments of the function) -> the function's value.
cube = lambda a, x: x**3 + x - a
bowl = lambda a, x: np.sum((x - a) ** 2 + x**4)
decay = lambda a, t, y: -a * y
bell = lambda a, x: np.exp(-a * x**2)
SOLVERS = {
    "quad": (lambda g: integrate.quad(g, 0, 1)[0], bell),
    "quad_vec": (lambda g: integrate.quad_vec(g, 0, 1)[0], bell),
    "dblquad": (lambda g: integrate.dblquad(g, 0, 1, 0, 1)[0], lambda a, x, y: a * x + y),
    "nquad": (lambda g: integrate.nquad(g, [(0, 1)])[0], bell),
    "tanhsinh": (lambda g: integrate.tanhsinh(g, 0.0, 1.0).integral, bell),
    "cubature": (
        lambda g: integrate.cubature(g, [0.0], [1.0]).estimate,
        lambda a, x: np.exp(-a * x[:, 0]),
    ),
    "fixed_quad": (lambda g: integrate.fixed_quad(g, 0, 1)[0], bell),
    "brentq": (lambda g: optimize.brentq(g, 0, 9), cube),
    "bisect": (lambda g: optimize.bisect(g, 0, 9), cube),
    "newton": (lambda g: optimize.newton(g, 1.0), cube),
    "fsolve": (lambda g: optimize.fsolve(g, [1.0])[0], cube),
    "root": (lambda g: optimize.root(g, [1.0]).x[0], cube),
    "root_scalar": (lambda g: optimize.root_scalar(g, bracket=(0, 9)).root, cube),
    "fixed_point": (lambda g: optimize.fixed_point(g, 1.0), lambda a, x: np.cos(a * x) / 2),
    "find_root": (lambda g: elementwise.find_root(g, (0.0, 9.0)).x, cube),
    "minimize": (lambda g: optimize.minimize(g, [1.0]).x[0], bowl),
    "Nelder-Mead": (lambda g: optimize.minimize(g, [1.0], method="Nelder-Mead").x[0], bowl),
    "a constraint": (
        lambda g: optimize.minimize(
            lambda x: x[0] ** 2, [2.0], constraints={"type": "ineq", "fun": g}
        ).x[0],
        lambda a, x: x[0] - a,
    ),
    "a callback": (
        lambda g: optimize.minimize(lambda x: np.sum((x - g.a) ** 4), [1.0], callback=g).x[0],
        lambda a, x: None,
    ),
    "a jacobian": (
        lambda g: optimize.minimize(lambda x: bowl(g.a, x), [1.0], jac=g).x[0],
        lambda a, x: 2 * (x - a) + 4 * x**3,
    ),
    "minimize_scalar": (lambda g: optimize.minimize_scalar(g).x, lambda a, x: (x - a) ** 2 + x**4),
    "least_squares": (lambda g: optimize.least_squares(g, [1.0]).x[0], cube),
    "leastsq": (lambda g: optimize.leastsq(g, [1.0])[0][0], cube),
    "curve_fit": (
        lambda g: optimize.curve_fit(g, LINE, 2 * LINE + 1, [1.0, 1.0])[0][0],
        lambda a, t, p, q: a * p * t + q,
    ),
    "solve_ivp": (lambda g: integrate.solve_ivp(g, (0, 1), [1.0]).y[0, -1], decay),
    "an event": (
        lambda g: integrate.solve_ivp(lambda t, y: -y, (0, 1), [1.0], events=g).t_events[0][0],
        lambda a, t, y: y[0] - a / 3,
    ),
    "BDF": (
        lambda g: integrate.solve_ivp(g, (0, 1), [1.0], method="BDF", t_eval=[1.0]).y[0, 0],
        decay,
    ),
    "odeint": (
        lambda g: integrate.odeint(g, [1.0], [0, 1])[-1, 0],
        lambda a, y, t: -a * np.array(y),
    ),
    "RK45": (lambda g: by_hand(integrate.RK45(g, 0.0, [1.0], 1.0)), decay),
    "ode": (
        lambda g: integrate.ode(g).set_initial_value([1.0], 0.0).integrate(1.0)[0],
        lambda a, t, y: [-a * y[0]],
    ),
    "solve_bvp": (
        lambda g: integrate.solve_bvp(
            g, lambda u, v: np.stack([u[0], v[0] - 1.0]), LINE, np.zeros((2, 5))
        ).y[1, 0],
        lambda a, x, y: np.stack([y[1], -a * y[0]]),
    ),
    "expect": (lambda g: stats.norm.expect(g), lambda a, x: a * x**2),
    "cg": (
        lambda g: sparse.linalg.cg(
            sparse.linalg.LinearOperator((2, 2), matvec=g, dtype=float), np.ones(2)
        )[0][0],
        lambda a, x: np.stack([a * x[0], 2.0 * x[1]]),
    ),
    "generic_filter": (
        lambda g: ndimage.generic_filter(LINE, g, size=3)[1],
        lambda a, x: a * np.sum(x),
    ),
}


class Given:
    """A function with the parameter that the solver may need."""

    def __init__(self, law, a):
        self.law, self.a = law, a

    def __call__(self, *x):
        return self.law(self.a, *x)


def program(way, name, a):
    solve, law = SOLVERS[name]

    def solved(g):
        if name in UNREPEATED:
            outer = partial(g)
            outer.a = a
            return solve(outer)
        return solve(g)

    out, stored = way(lambda *x: law(a, *x), solved)
    return out * stored


UNREPEATED = "a callback", "a jacobian"  # rules never call these
IN_FLOATS = in_an_array, in_place, into_out  # where a count may as well be an iterate

MODES = {
    "grad": lambda f, a: pb.value_and_grad(f)(a)[0],
    "jvp": lambda f, a: pb.jvp(f, (a,), (1.0,))[0],
    "vmap": lambda f, a: pb.vmap(f)(np.array([a - 0.3, a]))[1],
    "vmap of grad": lambda f, a: pb.vmap(pb.value_and_grad(f))(np.array([a, a + 0.4]))[0][0],
}


@pytest.mark.share(12)
@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.filterwarnings("ignore")  # SciPy's, and that lists hold the steps of all
def test_counts_are_those_of_the_plain_program(name):
    wrong, refused = [], []
    for way in COUNTS:
        f = partial(program, way, name)
        plain = f(1.5)
        for mode, run in MODES.items():
            try:
                if not np.isclose(run(f, 1.5), plain, rtol=1e-5):
                    wrong.append((way.__name__, mode, run(f, 1.5), plain))
            except pb.PullbackError as error:
                if not (mode.startswith("vmap") or (name in UNREPEATED and way in IN_FLOATS)):
                    refused.append((way.__name__, mode, str(error)[:90]))
    assert (wrong, refused) == ([], [])


@pytest.mark.share(12)
@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.filterwarnings("ignore")  # SciPy's, and that lists hold the steps of all
def test_items_are_those_of_the_plain_program_or_raise(name):
    wrong = []
    for i, way in asked([*enumerate(ITEMS)], 4):
        f = partial(program, way, name)
        plain = f(1.5)
        for mode, run in MODES.items():
            try:
                if not np.isclose(run(f, 1.5), plain, rtol=1e-5):
                    wrong.append((i, mode, run(f, 1.5), plain))
            except pb.PullbackError:
                continue
    assert wrong == []


@pytest.mark.share(12)
@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.filterwarnings("ignore")  # SciPy's, and that lists hold the steps of all
def test_stored_numbers_keep_their_derivative_or_raise(name):
    wrong = []
    few = name in ("dblquad", "a callback")  # which takes seconds each; and which gives no number
    for way in NUMBERS[:1] if few else NUMBERS:
        f = partial(program, way, name)
        if name == "odeint" and way is not largest_value:
            continue  # the points that SciPy passes are in memory that it frees
        plain, step = f(1.5), 1e-4
        slope = (f(1.5 + step) - f(1.5 - step)) / (2 * step)
        for mode, run in MODES.items():
            try:
                if not np.isclose(run(f, 1.5), plain, rtol=1e-5):
                    wrong.append((way.__name__, mode, "value"))
            except (pb.PullbackError, TypeError):
                continue
        try:
            if not np.isclose(pb.grad(f)(1.5), slope, rtol=0.01):
                wrong.append((way.__name__, "slope", pb.grad(f)(1.5), slope))
        except (pb.PullbackError, TypeError):
            continue
    assert wrong == []


class Remembering:
    """Computes value and slope together, once for each point."""

    x = None

    def __init__(self, a):
        self.a = a

    def at(self, x):
        if self.x is None or not np.array_equal(x, self.x):
            self.x, self.value = np.array(x), bowl(self.a, x)
            self.slope = 2 * (x - self.a) + 4 * x**3
        return self

    def fun(self, x):
        return self.at(x).value

    def jac(self, x):
        return self.at(x).slope


REMEMBERING = {
    "minimize": lambda m: optimize.minimize(m.fun, [0.0], jac=m.jac).x[0],
    "root": lambda m: optimize.root(m.jac, [1.0]).x[0],
    "brentq": lambda m: optimize.brentq(m.jac, -3, 5),
}


@pytest.mark.parametrize("name", REMEMBERING)
def test_objects_that_remember_the_last_point(name):
    """The rule's calls don't find a plain value that SciPy's last call has left."""
    f = lambda a: REMEMBERING[name](Remembering(a))
    x = f(1.5)
    slope = 2 / (2 + 12 * x**2)
    np.testing.assert_allclose(pb.grad(f)(1.5), slope, rtol=1e-5)
    np.testing.assert_allclose(pb.vmap(pb.grad(f))(np.array([1.5, 1.7]))[0], slope, rtol=1e-5)
