"""Integrands and right-hand sides that choose: each sequence of answers is a branch.

What they give is compared with the same function written with `np.where`, which chooses for all
values at once.
"""

import numpy as np
import pytest
from scipy import integrate, optimize

import pullback as pb
from tests.budgets import asked

quad, quad_vec = integrate.quad, integrate.quad_vec
LEVELS = np.array([0.2, 0.5, 0.9])


def stepped(x, a):
    """Rates of a tax: nested choices."""
    if x < 0.2:
        return a * x
    if x < 0.7:
        return 0.2 * a + np.sin(a * (x - 0.2)) if x > 0.5 else a * a * (x - 0.2)
    return np.exp(-a * x)


def stepped_where(x, a):
    middle = np.where(x > 0.5, 0.2 * a + np.sin(a * (x - 0.2)), a * a * (x - 0.2))
    return np.where(x < 0.2, a * x, np.where(x < 0.7, middle, np.exp(-a * x)))


def narrow(x, a):
    """A branch where few points of a rule fall."""
    return a * a * 40 if 0.512 < x < 0.513 else a * x


def by_table(x, a):
    return a * x ** int(np.searchsorted(LEVELS, x))


def by_table_where(x, a):
    n = np.where(x > 0.2, 1, 0) + np.where(x > 0.5, 1, 0) + np.where(x > 0.9, 1, 0)
    return a * np.where(n == 0, 1.0, np.where(n == 1, x, np.where(n == 2, x * x, x**3)))


def price(x, a):
    return max(x - a, 0.0) * np.exp(-x)


def root_of_gap(x, a):
    """The branch that is not taken is not finite."""
    return np.sqrt(x - a) if x > a else np.sqrt(a - x)


def root_where(x, a):
    return np.where(x > a, np.sqrt(np.abs(x - a)), np.sqrt(np.abs(a - x)))


# Each as it chooses, and as it is written for all values at once.
INTEGRALS = {
    "one": (
        lambda a: quad(lambda x: a * x if x > 0.3 else np.exp(-a * x), 0, 1)[0],
        lambda a: quad(lambda x: np.where(x > 0.3, a * x, np.exp(-a * x)), 0, 1)[0],
    ),
    "nested": (
        lambda a: quad(stepped, 0, 1, args=(a,), points=[0.2, 0.5, 0.7])[0],
        lambda a: quad(stepped_where, 0, 1, args=(a,), points=[0.2, 0.5, 0.7])[0],
    ),
    "where an argument is": (
        lambda a: quad(lambda x: (x - a) ** 2 if x > a else (a - x) * a, 0, 2, points=[0.6])[0],
        lambda a: quad(lambda x: np.where(x > a, (x - a) ** 2, (a - x) * a), 0, 2, points=[0.6])[0],
    ),
    "of its own value": (
        lambda a: quad(lambda x: y if (y := np.sin(4 * a * x)) > 0 else 0.0, 0, 2)[0],
        lambda a: quad(lambda x: np.maximum(np.sin(4 * a * x), 0.0), 0, 2)[0],
    ),
    "narrow": (
        lambda a: quad(narrow, 0, 1, args=(a,), points=[0.512, 0.513])[0],
        lambda a: a * a * 0.04 + a * 0.4994875,
    ),
    "whole numbers": (
        lambda a: quad(by_table, 0, 1, args=(a,), points=[0.2, 0.5, 0.9])[0],
        lambda a: quad(by_table_where, 0, 1, args=(a,), points=[0.2, 0.5, 0.9])[0],
    ),
    "Python's max, to infinity": (
        lambda a: quad(price, 0, np.inf, args=(a,))[0],
        lambda a: np.exp(-a),
    ),
    "both ways to infinity": (
        lambda a: quad(lambda x: np.exp(-a * x) if x > 0 else np.exp(x), -np.inf, np.inf)[0],
        lambda a: 1 + 1 / a,
    ),
    "not finite elsewhere": (
        lambda a: quad(root_of_gap, 0, 1, args=(a,), points=[0.6])[0],
        lambda a: ((1 - a) ** 1.5 + a**1.5) / 1.5,
    ),
    "limits that move": (
        lambda a: quad(lambda x: x * x if x > 0.3 else a * x, 0, a)[0],
        lambda a: a * 0.045 + (a**3 - 0.027) / 3,
    ),
    "vectors": (
        lambda a: quad_vec(
            lambda x: a * np.array([x, 1.0]) if x > 0.3 else np.array([0.0, x * a]), 0, 1
        )[0].sum(),
        lambda a: a * (0.91 / 2 + 0.7 + 0.045),
    ),
    "a weight": (
        lambda a: quad(lambda x: a * x if x > 0.3 else 0.3 * a, 0, 1, weight="cos", wvar=2.0)[0],
        lambda a: quad(lambda x: np.where(x > 0.3, a * x, 0.3 * a), 0, 1, weight="cos", wvar=2.0)[
            0
        ],
    ),
    "of an integral": (
        lambda a: quad(lambda x: quad(lambda y: x * y if y > 0.5 else a * x, 0, 1)[0], 0, a)[0],
        lambda a: (0.375 + 0.5 * a) * a * a / 2,
    ),
}
AT = [np.float64(x) for x in (0.6, 0.65, 0.55, 0.7)]


def wrong_ones(transformed, tolerance=1e-8, names=tuple(INTEGRALS)):
    """Programs whose results differ from those of the same program without questions."""
    wrong = {}
    for name in names:
        chooses, plain = INTEGRALS[name]
        for a in AT[:2]:
            found, expected = transformed(chooses)(a), transformed(plain)(a)
            if not np.allclose(found, expected, tolerance, tolerance):
                wrong[name, a] = found, expected
    return wrong


@pytest.mark.filterwarnings("ignore::scipy.integrate.IntegrationWarning")
class TestIntegrals:
    @pytest.mark.share(2)
    def test_gradients(self):
        assert not wrong_ones(pb.value_and_grad)

    @pytest.mark.share(2)
    def test_forward(self):
        assert not wrong_ones(lambda f: lambda a: pb.jvp(f, (a,), (1.5,)))

    def test_second_order(self):
        names = "where an argument is", "limits that move"  # at which the slope does not jump
        assert not wrong_ones(lambda f: pb.grad(pb.grad(f)), 1e-6, names)
        assert np.isclose(pb.hessian(INTEGRALS["limits that move"][0])(0.6), 1.2, 1e-8)

    @pytest.mark.share(2)
    def test_examples(self):
        """Under vmap each example has choices of its own."""
        wrong, at = {}, np.array([0.55, 0.6, 0.7])
        for name in ("one", "nested", "vectors", "both ways to infinity", "limits that move"):
            f = INTEGRALS[name][0]
            for of in (f, pb.grad(f)):
                found, expected = pb.vmap(of)(at), [of(a) for a in at]
                if not np.allclose(found, expected, 1e-8):
                    wrong[name] = found, expected
        assert not wrong

    @pytest.mark.share(2)
    def test_compiled(self):
        wrong = {}
        for name, (f, _) in asked(INTEGRALS, 4).items():
            both = pb.value_and_grad(f)
            fast = pb.compile(both, wait=True)
            for a in AT:
                found, expected = fast(a), both(a)
                if not np.allclose(found, expected, 1e-8, 1e-10):
                    wrong[name, a] = found, expected
            if not fast.why().startswith("Machine code"):
                wrong[name] = fast.why()
        assert not wrong

    def test_answers_that_were_never_met(self):
        """A later number leads to a branch that no earlier one had."""

        def g(a):
            rest = lambda x: np.where(x < 1.3, x * x - 1 + a, 1.69 - 1 + a)
            return quad(lambda x: np.where(x < 1.0, a * x, rest(x)), 0, a)[0]

        def f(a):
            rest = lambda x: x * x - 1 + a if x < 1.3 else 1.69 - 1 + a
            return quad(lambda x: a * x if x < 1.0 else rest(x), 0, a)[0]

        both = pb.value_and_grad(f)
        fast = pb.compile(both, wait=True)
        for a in (0.5, 0.6, 0.9, 1.2, 1.1, 0.7, 1.4, 1.5):
            assert np.allclose(fast(np.float64(a)), both(np.float64(a)), 1e-8), a
            assert np.allclose(both(a), pb.value_and_grad(g)(a), 1e-8), a

    def test_a_number_outside_decides(self):
        """What the function closes over is asked beside its argument."""

        def f(a, b):
            g = (lambda x: x * a if a > b else x * b) if b > 0 else (lambda x: a)
            return quad(lambda x: g(x) if x > 0.3 else a * b * x, 0, 1)[0]

        both = pb.value_and_grad(f, argnums=(0, 1))
        fast = pb.compile(both, wait=True)
        for a, b in ((1.0, 0.5), (1.0, 2.0), (1.0, -1.0), (1.1, 0.4), (1.2, 2.2), (1.3, -0.5)):
            a, b = np.float64(a), np.float64(b)
            low, high = 0.045 * a * b, (a if a > b else b) * 0.455 if b > 0 else 0.7 * a
            assert np.isclose(f(a, b), low + high, 1e-9)
            assert np.isclose(fast(a, b)[0], low + high, 1e-9)
            slopes = 0.045 * b, 0.045 * a
            if b <= 0:
                slopes = slopes[0] + 0.7, slopes[1]
            else:
                slopes = slopes[0] + 0.455 * (a > b), slopes[1] + 0.455 * (a <= b)
            assert np.allclose(both(a, b)[1], slopes, 1e-8)
            assert np.allclose(fast(a, b)[1], slopes, 1e-8)

    def test_many_branches(self):
        """A series that ends by its terms has more sequences of answers than are kept."""

        def series(x, a):
            term, total, n = 1.0, 1.0, 1
            while abs(term) > 1e-14:
                term = term * x * a / n
                total, n = total + term, n + 1
            return total

        f = lambda a: quad(series, 0, 3, args=(a,))[0]
        assert np.isclose(f(0.5), 2 * (np.exp(1.5) - 1), 1e-9)
        assert np.isclose(pb.grad(f)(0.5), 6 * np.exp(1.5) - 4 * (np.exp(1.5) - 1), 1e-7)


class TestValues:
    """QUADPACK calls all branches as one function of C, and each number takes its own."""

    def test_bits_and_branches(self):
        def f(a):
            part = lambda x: max(np.exp(0.2 * x) * a - 1.2, 0.0) * np.exp(-x * x / 2)
            inner = lambda x: 1 / (x - 9.0) if x > 1 else part(x) if x > -1 else a
            return quad(inner, -8, 8, points=[-1, 1], limit=200)[0]

        fast = pb.compile(f, wait=True)
        for a in (1.0, 1.1, 1.2, 1.05):
            assert np.isclose(fast(np.float64(a)), f(np.float64(a)), 1e-11)
        assert fast.why().startswith("Machine code replayed it")

    def test_a_branch_that_was_never_met(self):
        """Machine code says that it knows none, and Python runs."""

        def f(a):
            part = lambda x: np.exp(-a * x) * np.sin(9 * x) if x < 1.5 else np.cos(x * a) + 1 - x
            return quad(lambda x: part(x) if x > 0.3 else np.exp(a * x), 0, a, limit=99)[0]

        fast = pb.compile(f, wait=True)
        for a in (1.0, 1.1, 1.2, 2.0, 1.3, 2.5, 2.6, 2.7):
            assert np.isclose(fast(np.float64(a)), f(np.float64(a)), 1e-11), a

    def test_numbers_of_python(self):
        """What Python's numbers refuse in the branch that is taken is refused; elsewhere not."""
        part = lambda x, a: 1 / (x - 3.0) if x > a else 1 / (x + 1) * np.exp(-x) ** 3
        f = lambda a: quad(part, 0, 4 if a > 5 else 2, args=(a,), points=[0.5], limit=99)[0]
        fast = pb.compile(f, wait=True)
        for a in (0.5, 0.6, 0.7):
            assert np.isclose(fast(np.float64(a)), f(np.float64(a)), 1e-10)

    @pytest.mark.share(2)
    def test_roots_and_flows(self):
        """Of solvers that call from Python, one program answers as well."""

        def f(a):
            tax = lambda x: a * x if x < 1 else a + (x - 1) * 1.5 * a if x < 2 else x * x * a / 1.6
            found = optimize.brentq(lambda x: tax(x) - 6, 0, 20)
            drag = lambda t, y: (
                np.array([y[1], -9.81 - a * y[1] * abs(y[1])])
                if y[1] > 0
                else (np.array([y[1], -9.81 + a * y[1] ** 2]))
            )
            path = integrate.solve_ivp(drag, (0, 1), np.array([0.0, 5.0]), t_eval=[0.5, 1.0])
            return found * path.y.sum()

        both = pb.value_and_grad(f)
        fast = pb.compile(both, wait=True)
        for a in (1.0, 1.1, 1.2, 1.05):
            assert np.allclose(fast(np.float64(a)), both(np.float64(a)), 1e-8)
        assert fast.why().startswith("Machine code replayed it")
