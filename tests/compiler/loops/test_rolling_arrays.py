"""Rolling of loops that read and write an array at moving places, which is then a carry."""

import warnings

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.call.compiled import compile
from pullback.compiler.loops import roll
from pullback.compiler.loops.roll import looped
from pullback.compiler.lower.scan import Rolled
from pullback.core.graph import Equation
from pullback.testing import staged
from tests import fuzz_arrays
from tests.budgets import LONG
from tests.compiler.loops.test_rolling_composed import (
    AROUND,
    assert_close,
    batch,
    forward,
    gradient,
    mixed,
    reverse_twice,
    total,
)
from tests.laws.test_compiled import check_graph

random = np.random.default_rng(5)
X = random.normal(size=200)
W = random.normal(size=3)
TABLE = random.uniform(size=(60, 9))
POINTS = random.normal(size=(60, 3))


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Short loops are rolled as well."""
    monkeypatch.setattr(roll, "EQUATIONS", 24)


def bubble(n):
    def f(x):
        a = np.array(x)
        for i in range(n):
            for j in range(n - 1 - i):
                a[j], a[j + 1] = np.minimum(a[j], a[j + 1]), np.maximum(a[j], a[j + 1])
        return a

    return f, (X[: 2 * n],)


def prefix_sums(n):
    def f(x):
        x = np.array(x)
        for i in range(n - 1):
            x[i + 1] += np.sin(x[i])
        return x

    return f, (X[:n],)


def several_writes(n):
    def f(k):
        x = np.zeros((n, 2))
        x[0] = 1.0
        for i in range(n - 1):
            x[i + 1, 0] = x[i, 0] + 0.1 * x[i, 1]
            x[i + 1, 1] = x[i, 1] - 0.1 * k * x[i, 0]
        return x

    return f, (np.array(1.5),)


def windows_written(n):
    def f(x, w):
        u = np.zeros(n + 2)
        for i in range(n):
            u[i : i + 3] += x[i] * w
        return u

    return f, (X[:n], W)


def windows_of_columns(n):
    def f(x, table):
        u = np.array(table.T)
        for i in range(n):
            u[:, i + 1 : i + 3] = u[:, i : i + 2] * 0.5 + x[i] * u[:, i + 2 : i + 3]
        return u

    return f, (X[:n], TABLE)


def sweeps(n):
    def f(b):
        u = np.zeros(n + 2)
        for _ in range(10):
            for i in range(1, n + 1):
                u[i] = 0.5 * (u[i - 1] + u[i + 1] - 0.1 * b[i - 1])
        return u

    return f, (X[:n],)


def sweeps_back(n):
    def f(b):
        u = np.zeros(n + 2)
        for _ in range(10):
            for i in range(n, 0, -1):
                u[i] = np.tanh(0.5 * (u[i - 1] + u[i + 1] - 0.1 * b[i - 1]))
        return u

    return f, (X[:n],)


def table(n):
    def f(c):
        d = np.zeros((n, 9))
        d[0] = np.cumsum(c[0])
        for i in range(1, n):
            d[i, 0] = d[i - 1, 0] + c[i, 0]
            for j in range(1, 9):
                d[i, j] = np.minimum(d[i - 1, j], d[i, j - 1]) + c[i, j]
        return d

    return f, (TABLE,)


def table_at_once(n):
    """A table in one loop over its elements, its ends beyond the others."""

    def f(c):
        d = np.ones((n + 1, 10))
        for i in range(1, n + 1):
            for j in range(1, 10):
                d[i, j] = np.minimum(d[i - 1, j], d[i, j - 1]) + c[i - 1, j - 1] * d[i - 1, j - 1]
        return d

    return f, (TABLE,)


def rows_of_a_matrix(n):
    """Rows taken from one another, as in orthogonalisation."""

    def f(points):
        a = np.array(points)
        for i in range(1, n):
            a[i] = a[i] - 0.5 * np.sum(a[i] * a[i - 1]) * a[i - 1]
            a[i] = a[i] / np.sqrt(np.sum(a[i] ** 2))
        return a

    return f, (POINTS,)


def pairs(n):
    def f(x):
        e = np.zeros(3)
        for i in range(n):
            for j in range(i):
                d = x[i] - x[j]
                e = e + d / (np.sum(d * d) + 0.1)
        return e

    return f, (POINTS,)


def pairs_of_forces(n):
    def f(x):
        force = np.zeros((60, 3))
        for i in range(n):
            for j in range(i):
                d = x[i] - x[j]
                g = d / (np.sum(d * d) + 0.1)
                force[i] += g
                force[j] -= g
        return force

    return f, (POINTS,)


def heat(n):
    def f(u, c):
        u = np.array(u)
        for _ in range(n):
            u[1:-1] += c * (u[2:] - 2 * u[1:-1] + u[:-2])
        return u

    return f, (X[:20], np.array(0.1))


def read_after_it_is_written(n):
    def f(x):
        u = np.array(x)
        for i in range(n):
            u[i + 1] = np.sin(u[i])
            u[i + 2] = u[i + 1] * u[i] + u[0]
            u[0] = u[i + 2] * 0.5
        return u

    return f, (X[: 4 * n],)


def constants_of_the_outer_loop(n):
    def f(x, rows):
        for i in range(n):
            for j in range(10):
                x = np.sin(x) * (0.02 * i) + rows[j] * (0.1 * j) + np.float64(0.02) * i
            x = np.cos(x) * (0.05 * i)
        return x

    return f, (X[:3], POINTS)


def places_of_the_outer_loop(n):
    def f(x, rows):
        u = np.array(x)
        for i in range(n):
            for j in range(10):
                u[i] = u[i] * 0.5 + np.sin(rows[i, j % 3]) * u[i + 1]
                u[i + 2 : i + 4] -= 0.1 * u[i]
            u[i] = np.tanh(u[i]) + i
        return u

    return f, (X[:80], POINTS)


def single_precision(n):
    def f(x):
        for i in range(n):
            for j in range(10):
                x = np.sin(x) * (0.1 * i) + j
            x = np.cos(x) / (1 + i)
        return x

    return f, (X[:3].astype("f4"),)


FORMS = [
    constants_of_the_outer_loop, places_of_the_outer_loop, single_precision,
    bubble, prefix_sums, several_writes, windows_written, windows_of_columns, sweeps, sweeps_back,
    table, table_at_once, rows_of_a_matrix, pairs, pairs_of_forces, heat, read_after_it_is_written,
]  # fmt: skip


def graph_of(f, *args):
    return staged(f, args)[0]


def equations(graph):
    """How many there are, in loops as well."""
    bodies = [e.primitive.body for e in graph.equations if hasattr(e.primitive, "body")]
    return len(graph.equations) + sum(map(equations, bodies))


@pytest.mark.parametrize("form", FORMS, ids=lambda f: f.__name__)
class TestForms:
    @pytest.mark.share(2)
    def test_it_rolls(self, form):
        counts = []
        for n in (20, 40):
            f, args = form(n)
            counts.append(equations(looped(graph_of(f, *args))))
        assert counts[1] <= counts[0] < 200

    def test_values_are_the_same(self, form):
        f, args = form(20)
        graph = graph_of(f, *args)
        for x, y in zip(looped(graph).evaluate(*args), graph.evaluate(*args), strict=True):
            np.testing.assert_array_equal(x, y)
        check_graph(graph, args, form.__name__)

    def test_compiled(self, form):
        f, args = form(20)
        fast = compile(f)
        for _ in range(3):
            assert_close(fast(*args), f(*args), 1e-5 if args[0].dtype == "f4" else 1e-9)

    @pytest.mark.share(6)
    @pytest.mark.parametrize("around", AROUND, ids=lambda f: f.__name__)
    def test_derivatives(self, form, around):
        """Compiled as a whole and within, in the long tests both; otherwise in turns."""
        f, args = form(20 if LONG else 14)
        right = around(total(f))(*args)
        ways = [lambda: compile(around(total(f))), lambda: around(compile(total(f)))]
        if not LONG:
            ways = [ways[(FORMS.index(form) + AROUND.index(around)) % 2]]
        tolerance = 1e-3 if args[0].dtype == "f4" else 1e-9
        for way in ways:
            call = way()
            for _ in range(3):
                assert_close(call(*args), right, tolerance)


def program_of(fast):
    (entry,) = fast.entries.values()
    return entry.paths[0].program


def bodies(graph):
    for e in graph.equations:
        if type(e.primitive) is Rolled:
            yield e.primitive
            yield from bodies(e.primitive.body)


class TestMachineCode:
    """An array that a loop changes is not copied in each step, forward and backward."""

    @pytest.mark.parametrize("form", [bubble, windows_written, pairs_of_forces, sweeps])
    def test_it_lies_where_it_is(self, form):
        f, args = form(40)
        fast = compile(pb.grad(total(f)))
        for _ in range(2):
            fast(*args)
        program = program_of(fast)
        by_numpy = [step.primitive for step in program.run.steps if isinstance(step, Equation)]
        assert Rolled not in map(type, by_numpy)
        kept = [body.kept for body in bodies(program.run.graph)]
        assert len(kept) > 1
        assert all(kept)

    def test_elements_are_kept_for_the_way_back(self):
        """Not the array as it was before each step."""
        f, args = bubble(40)
        fast = compile(pb.grad(total(f)))
        for _ in range(2):
            fast(*args)
        for e in program_of(fast).run.graph.equations:
            for x in e.outputs:
                assert x.spec.size <= 40 * 39

    def test_indices_are_checked_once(self):
        """Rows of integers that are an argument are looked at before the loop."""

        def f(x, places):
            def step(u, i):
                u = u.copy()
                u[i] = u[i] * 0.5 + 1.0
                return u, u[i + 1]

            return pb.scan(step, x, places)

        fast = compile(f)
        good, far = np.arange(30) % 7, np.where(np.arange(30) == 20, 39, 3)
        for _ in range(3):
            assert_close(fast(X[:40], good), f(X[:40], good))
            assert_close(fast(X[:40], good - 40), f(X[:40], good - 40))
            with pytest.raises(IndexError):
                fast(X[:40], far)
        assert program_of(fast).simple


class TestMasks:
    """What was overwritten has no derivative, and zeros stay exact."""

    def test_what_is_overwritten(self):
        def f(x):
            u = np.sqrt(x)
            for i in range(30):
                u[i] = np.sin(u[i + 1]) * 2.0
                u[i + 1] = u[i] * u[i]
            return np.sum(u[:20])

        x = np.abs(X[:40])
        x[0] = 0.0  # where the square root has no derivative, and is not needed
        for around in (gradient, reverse_twice, mixed):
            fast = compile(around(f))
            for _ in range(3):
                assert_close(fast(x), around(f)(x))

    def test_places_that_meet(self):
        """Reading and writing at two rows of integers, which are equal now and then."""
        a, b = np.arange(40) * 7 % 11, np.arange(40) * 3 % 13

        def f(x):
            u = np.array(x)
            for i, j in zip(a.tolist(), b.tolist(), strict=True):
                u[i] = u[i] * 0.5 + np.sin(u[j])
                u[j] = u[i] * u[j]
            return np.sum(u)

        for around in (forward, gradient, mixed, reverse_twice, batch):
            fast = compile(around(f))
            for _ in range(3):
                assert_close(fast(X[:60]), around(f)(X[:60]))


@pb.custom_vjp
def clipped(x, limit):
    return np.minimum(x, limit)


clipped.defvjp(
    lambda x, limit: (np.minimum(x, limit), (x, limit)),
    lambda residual, out_bar: (out_bar * np.exp(-residual[0]), np.sum(out_bar) * residual[1]),
)


@pb.custom_jvp
def softened(x):
    return np.abs(x)


@softened.defjvp
def _(primals, tangents):
    (x,), (x_dot,) = primals, tangents
    return np.abs(x), np.tanh(5 * x) * x_dot


def backward_rules(n):
    def f(x):
        for _ in range(n):
            x = np.sin(clipped(x, 1.0) * 1.2) + 0.1
        return x

    return f, (X[:3],)


def forward_rules(n):
    def f(x):
        for _ in range(n):
            x = np.sin(softened(x) * 1.2) - 0.1
        return x

    return f, (X[:3],)


def checkpoints(n):
    def f(x, w):
        def step(x):
            return np.sin(x * w) * np.cos(x) + 0.1

        for _ in range(n):
            x = pb.checkpoint(step)(x) + 0.01
        return x

    return f, (X[:3], W)


class TestRules:
    """Functions with rules of their own in the body: equal calls are one line of a loop."""

    @pytest.mark.share(2)
    @pytest.mark.parametrize("around", AROUND, ids=lambda f: f.__name__)
    @pytest.mark.parametrize("form", [backward_rules, forward_rules, checkpoints])
    def test_derivatives(self, form, around):
        f, args = form(20)
        right = around(total(f))(*args)
        fast, composed = compile(around(total(f))), around(compile(total(f)))
        for _ in range(3):
            assert_close(fast(*args), right)
            assert_close(composed(*args), right)

    @pytest.mark.parametrize("form", [backward_rules, forward_rules, checkpoints])
    def test_machine_code(self, form):
        f, args = form(20)
        for fast in (compile(f), compile(pb.grad(total(f)))):
            for _ in range(2):
                fast(*args)
            run = program_of(fast).run
            assert not any(isinstance(step, Equation) for step in run.steps)
            assert len(run.graph.equations) < 40
            assert {e.primitive.length for e in run.graph.equations if type(e.primitive) is Rolled}

    def test_what_differs_from_step_to_step(self):
        def f(x):
            for t in range(24):
                x = np.sin(clipped(x, 1.0 if t < 12 else 0.5)) + 0.3
                x = pb.checkpoint(lambda x, t=t: np.cos(x) * (0.1 * (t % 3)))(x)
            return np.sum(x)

        for around in AROUND:
            fast = compile(around(f))
            for _ in range(3):
                assert_close(fast(X[:3]), around(f)(X[:3]))

    def test_rules_that_were_given_anew(self):
        def rule(factor):
            @pb.custom_vjp
            def double(x):
                return x * 2.0

            double.defvjp(lambda x: (x * 2.0, None), lambda _, bar: (bar * factor,))
            return double

        rules = [rule(1.0 + 0.01 * t) for t in range(24)]

        def f(x):
            for double in rules:
                x = np.sin(double(x)) + 0.1
            return np.sum(x)

        fast = compile(pb.grad(f))
        for _ in range(3):
            assert_close(fast(X[:3]), pb.grad(f)(X[:3]))

    def test_residuals_that_are_constants(self):
        def f(x):
            for t in range(24):

                @pb.custom_vjp
                def same(x):
                    return x * 1.0

                same.defvjp(
                    lambda x, t=t: (x * 1.0, 0.1 * t), lambda factor, bar: (bar * factor + bar,)
                )
                x = np.sin(same(x)) + 0.1
            return np.sum(x)

        fast = compile(pb.grad(f))
        for _ in range(3):
            assert_close(fast(X[:3]), pb.grad(f)(X[:3]))


EACH = 5
COUNT = 2000 if LONG else 10


@pytest.mark.share(4)
@pytest.mark.parametrize("start", range(0, COUNT, EACH))
def test_random_loops(start):
    for seed in range(start, start + EACH):
        loss, args = fuzz_arrays.program(seed)
        around = AROUND[seed % 5]
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # NumPy's, of odd numbers
            value, right = loss(*args), around(loss)(*args)
            plain, fast, composed = compile(loss), compile(around(loss)), around(compile(loss))
            for _ in range(3):
                assert_close(plain(*args), value, 1e-8)
                assert_close(fast(*args), right, 1e-7)
                assert_close(composed(*args), right, 1e-7)
