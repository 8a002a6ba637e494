"""Rolling: loops of Python's become one equation each, and give what they gave before."""

import re
import warnings

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.call.compiled import compile
from pullback.compiler.graph.optimise import optimised
from pullback.compiler.loops import roll
from pullback.compiler.loops.roll import looped, packed, refusals, rolled
from pullback.compiler.program import Program
from pullback.testing import staged
from tests import fuzz_rolling
from tests.budgets import LONG
from tests.laws.test_compiled import check_graph
from tests.loops import ONE, ROWS, SCALARS, A, W, X, integers, invariant
from tests.together import together


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Short loops are rolled as well."""
    monkeypatch.setattr(roll, "EQUATIONS", 24)


def scans(graph):
    return [e.primitive for e in graph.equations if e.primitive.name == "scan"]


def lengths(graph):
    return [scan.length for scan in scans(graph)]


def graph_of(f, *args):
    return staged(f, args)[0]


@pytest.mark.parametrize("loop", ONE, ids=lambda f: f.__name__)
class TestOneLoop:
    """Each way to write a loop becomes one equation, whatever the number of steps."""

    def test_it_rolls(self, loop):
        counts = []
        for n in (20, 40):
            f, args = loop(n)
            graph = looped(graph_of(f, *args))
            assert len(scans(graph)) == 1
            assert n - 2 <= scans(graph)[0].length <= n
            counts.append(len(graph.equations) + len(scans(graph)[0].body.equations))
        assert counts[0] == counts[1]

    def test_values_are_the_same(self, loop):
        f, args = loop(20)
        graph = graph_of(f, *args)
        for x, y in zip(looped(graph).evaluate(*args), graph.evaluate(*args), strict=True):
            assert (x.shape, x.dtype) == (y.shape, y.dtype)
            np.testing.assert_array_equal(x, y)

    def test_machine_code(self, loop):
        f, args = loop(20)
        check_graph(graph_of(f, *args), args, loop.__name__)

    def test_compiled(self, loop):
        f, args = loop(20)
        fast = compile(f)
        for _ in range(3):
            assert_close(fast(*args), f(*args))


@pytest.mark.parametrize("loop", [f for f in ONE if f is not integers], ids=lambda f: f.__name__)
def test_gradient(loop):
    """The loop is rolled first, and its backward pass is a loop then."""
    f, args = loop(20)

    def total(*xs):
        out = f(*xs)
        return sum([np.sum(np.cos(y)) for y in (out if isinstance(out, tuple) else (out,))])

    gradient = pb.grad(total, tuple(range(len(args))))
    fast = compile(gradient)
    right = gradient(*args)
    tolerance = 1e-3 if args[0].dtype == "f4" else 1e-9
    for _ in range(3):
        assert_close(fast(*args), right, tolerance)
    assert_looped(fast, 20)


def assert_looped(fast, n):
    """The last program has a loop of n steps, or one less, and few equations beside."""
    (entry,) = fast.entries.values()
    graph = entry.paths[0].program.run.graph
    assert {n, n - 1} & set(lengths(graph))
    assert len(graph.equations) < 100


def assert_close(actual, expected, tolerance=1e-9):
    if not isinstance(expected, tuple):
        actual, expected = (actual,), (expected,)
    for x, y in zip(actual, expected, strict=True):
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)


class TestSeveralLoops:
    def check(self, f, args, expected):
        graph = graph_of(f, *args)
        result = looped(graph)
        assert lengths(result) == expected
        for x, y in zip(result.evaluate(*args), graph.evaluate(*args), strict=True):
            np.testing.assert_array_equal(x, y)
        check_graph(graph, args, f.__name__)
        return result

    def test_one_after_the_other(self):
        def f(x, a):
            for _ in range(30):
                x = np.tanh(a @ x)
            y = x
            for _ in range(35):
                y = np.sin(y) + x
            return y * x

        self.check(f, (X, A), [30, 35])

    def test_nested(self):
        def f(x, rows):
            for i in range(12):
                y = x
                for j in range(15):
                    y = np.sin(y) * 0.9 + 0.1 * rows[j]
                x = y + rows[i]
            return x

        (outer,) = scans(self.check(f, (X, ROWS), [12]))
        assert lengths(outer.body) == [15]

    def test_three_deep(self):
        def f(x):
            for _ in range(9):
                for _ in range(10):
                    for _ in range(11):
                        x = np.sin(x) * 0.9 + 0.1
                    x = np.cos(x)
                x = x * 1.1
            return x

        (outer,) = scans(self.check(f, (X,), [9]))
        (middle,) = scans(outer.body)
        assert (lengths(outer.body), lengths(middle.body)) == ([10], [11])

    def test_matrix_by_elements(self):
        def f(m, v):
            w = v
            for i in range(12):
                s = v[i]
                for j in range(12):
                    s = s + np.sin(m[i, j]) * w[j]
                w = w + s * 0.1
            return w

        args = np.outer(SCALARS[:12], SCALARS[:12]), SCALARS[:12]
        (outer,) = scans(self.check(f, args, [12]))
        assert lengths(outer.body) == [12]

    def test_gradient_of_nested_loops(self):
        def f(x, rows):
            for i in range(10):
                for j in range(12):
                    x = np.sin(x) + 0.1 * rows[j]
                x = x * rows[i]
            return np.sum(x)

        fast = compile(pb.grad(f, (0, 1)))
        for _ in range(3):
            assert_close(fast(X, ROWS), pb.grad(f, (0, 1))(X, ROWS))
        assert_looped(fast, 10)

    def test_what_a_loop_left_is_read_backward(self):
        def f(x):
            kept = []
            for _ in range(20):
                x = np.sin(x) + 0.1
                kept.append(x)
            for y in reversed(kept):
                x = x * np.cos(y) + 0.3
            return x

        result = looped(graph_of(f, X))
        assert len(scans(result)) == 2
        check_graph(graph_of(f, X), (X,), "backward")

    def test_record_of_a_gradient(self):
        """The backward stretch is a loop that reads what the forward one left, in reverse."""

        def f(x, w):
            for _ in range(30):
                x = np.tanh(x * w) + 0.5 * np.sin(x)
            return np.sum(x)

        graph = graph_of(pb.grad(f, (0, 1)), X, W)
        result = looped(graph)
        assert len(scans(result)) == 2
        assert len(result.equations) < 40
        check_graph(graph, (X, W), "gradient")

    def test_vmap_and_jvp(self):
        def f(x, w):
            for _ in range(20):
                x = np.tanh(x * w) + 0.5 * np.sin(x)
            return np.sum(x)

        for g, args in [
            (pb.vmap(pb.grad(f)), (ROWS[:4], ROWS[4:8])),
            (lambda x, w: pb.jvp(f, (x, w), (w, x))[1], (X, W)),
            (pb.hessian(f), (X, W)),
            (pb.jacobian(pb.grad(f, 1)), (X, W)),
            (lambda x, w: x - 0.1 * pb.grad(f)(x, w), (X, W)),
        ]:
            fast = compile(g)
            for _ in range(3):
                assert_close(fast(*args), g(*args))
            assert_looped(fast, 20)


class TestGuards:
    def test_answers_of_all_steps_lie_together(self):
        @compile
        def f(x):
            for _ in range(30):
                x = np.sin(x) * 1.5 if x[0] > -5 else x
            return x

        for _ in range(3):
            assert_close(f(X), f.fun(X))
        (path,) = next(iter(f.entries.values())).paths
        assert len(path.guards) == 30
        assert len(path.program.run.graph.outputs) == 2
        assert f.cache_info().hits == 2

    def test_early_exit(self):
        def f(x):
            n = 0
            while np.sum(x * x) > 0.05 and n < 200:
                x = x - 0.1 * np.sin(x)
                n += 1
            return x * n

        fast = compile(f)
        starts = [X, X * 0.5, X * 2, X, X * 0.5, X * 2]
        for x in starts:
            assert_close(fast(x), f(x))
        assert fast.cache_info().misses == 3
        assert fast.cache_info().hits == 3
        for path in next(iter(fast.entries.values())).paths:
            assert len(path.program.run.graph.equations) < 40

    def test_gradient_with_a_branch(self):
        def f(x):
            for _ in range(40):
                x = np.sin(x) * 1.5 if x[0] > 0.9 else np.cos(x) * 1.2
            return np.sum(x)

        fast = compile(pb.grad(f))
        for x in [X, X + 1, X - 1, X, X + 1]:
            assert_close(fast(x), pb.grad(f)(x))
        assert fast.cache_info().hits >= 2

    def test_a_number_as_an_index(self):
        def f(x, k):
            for _ in range(30):
                k = (k * 5 + 3) % 7
                x = x + np.sin(x[int(k) % 3])
            return x

        fast = compile(f)
        for k in (1, 2, 1, 2):
            assert_close(fast(X, np.array(k)), f(X, np.array(k)))

    def test_a_lost_derivative_is_refused(self):
        fast = compile(pb.grad(lambda x: x * np.sin(x).__float__()))
        with pytest.raises(pb.ConversionError, match="grad"):
            fast(np.array(1.0))

    def test_what_is_written_into_an_argument_arrives(self):
        def f(x):
            for t in range(3):
                x[t] = np.sin(x[t]) * 2
            return np.sum(x * x)

        x, y = X.copy(), X.copy()
        assert_close(compile(lambda x: pb.grad(f)(x * 1.0))(x), pb.grad(f)(y))

    def test_rows_that_are_missing_stay_apart(self):
        def f(x):
            ys = []
            for _ in range(30):
                x = np.sin(x)
                ys.append(x[0])
            return x, *ys[:10]

        graph, places = packed(rolled(graph_of(f, X)), 1)
        assert all(row is None for _, row in places)
        assert len(graph.outputs) == 11


class TestNearMisses:
    """What is no loop stays as it is, or becomes two."""

    def test_a_constant_of_another_kind(self):
        def f(x):
            for t in range(20):
                x = np.sin(x) + (np.float64(0.1) if t == 10 else 0.1)
            return x

        graph = graph_of(f, X.astype("f4"))
        with pytest.raises(AssertionError):
            assert lengths(rolled(graph)) == [20]

    def test_a_step_that_differs(self):
        def f(x):
            for t in range(60):
                x = np.sin(x) + 0.1 * x
                if t == 30:
                    x = np.cos(x)
            return x

        result = rolled(graph_of(f, X))
        assert sorted(lengths(result)) == [29, 31]

    def test_a_step_that_reads_something_else(self):
        def f(x, y):
            for t in range(60):
                x = np.sin(y if t == 30 else x) + x * 0.1
            return x

        result = rolled(graph_of(f, X, W))
        assert sorted(lengths(result)) == [30, 30]
        check_graph(graph_of(f, X, W), (X, W), "reset")

    def test_exponents_that_differ(self):
        def f(x):
            total = x
            for t in range(20):
                total = total + np.sin(x) ** t
            return total

        graph = graph_of(f, np.abs(X))
        check_graph(graph, (np.abs(X),), "powers")

    def test_few_steps(self):
        def f(x):
            for _ in range(7):
                x = np.sin(x) * np.cos(x) + np.tanh(x) * 0.5 + 0.1
            return x

        graph = graph_of(f, X)
        assert rolled(graph) is graph

    def test_few_equations(self, monkeypatch):
        monkeypatch.setattr(roll, "EQUATIONS", 400)
        graph = graph_of(invariant(20)[0], X, A)
        assert rolled(graph) is graph

    def test_no_loop(self):
        ops = [np.sin, np.cos, np.tanh, np.exp, np.negative, np.arctan, np.sinh]
        picks = np.random.default_rng(0).integers(len(ops), size=300)

        def f(x):
            for k in picks:
                x = ops[k](np.tanh(x))
            return x

        graph = graph_of(f, X)
        assert lengths(rolled(graph)) == []

    def test_a_triangle(self):
        def f(x):
            for i in range(12):
                for _ in range(i):
                    x = np.sin(x) * 0.9 + 0.1
                x = np.cos(x)
            return x

        graph = graph_of(f, X)
        check_graph(graph, (X,), "triangle")

    def test_an_array_that_is_read_elsewhere(self):
        def f(x):
            out = np.zeros((20, 3))
            for t in range(20):
                out[t] = x
                x = np.sin(x) + np.sum(out)
            return out

        check_graph(graph_of(f, X), (X,), "read whole")
        assert_close(compile(f)(X), f(X))


def growing(x):
    return sum([np.sum(x[: k + 1]) ** 2 for k in range(len(x))])


def in_turns(x):
    for k in range(30):
        x = np.reshape(np.sin(x), (2, -1) if k % 7 in (0, 1, 4) else (-1, 2))
    return x


def turned(x):
    for k in range(30):
        x = np.roll(x, k) * 2.0
    return x


def mixed(x):
    for k in np.random.default_rng(0).integers(6, size=60):
        x = [np.sin, np.cos, np.tanh, np.arctan, np.negative, np.abs][k](x)
    return x


def scattered(x):
    rows = [x]
    for k in np.random.default_rng(0).random(60):
        rows.append(np.sin(rows[int(k * len(rows))]) * rows[-1])
    return rows[-1]


STAY = {
    growing: "20 steps of 3 equations, .* `getitem` gives float64.1. in one step and float64.2. in",
    in_turns: "30 steps of 2 equations, .* in one step and .* in the next",
    turned: "`roll` has another operand or parameter in the next step",
    mixed: "No operations come again in the same order 8 times",
    scattered: "operands follow no pattern",
    lambda x: np.sin(np.cos(x)): "It has 2 operations in all, and loops begin at 24",
}


@together(STAY.items(), [f.__name__ for f in STAY])
def test_what_stays_as_it_is_has_a_reason(f, reason):
    graph = graph_of(f, np.linspace(0.1, 0.9, 20))
    assert rolled(graph) is graph
    assert re.search(reason, "\n".join(refusals(graph)))


def around(x):
    for _ in range(30):
        for _ in range(10):
            x = np.sin(x) * 1.01
        x = np.cos(x)
    return x


def apart(x):
    for n in (8, 11, 9):
        x = np.cos(x).sum() + x
        for _ in range(n):
            x = np.sin(x) * 1.01
    return x


def test_what_is_rolled_within_a_larger_loop_is_no_refusal():
    assert refusals(graph_of(around, X)) == []


def test_stretches_that_are_too_short_have_one_reason_together():
    (reason,) = refusals(graph_of(apart, X))
    assert reason.startswith("11 steps of 2 equations, from a `sin` on: these are fewer than ")
    assert reason.endswith(" operations, and so are 2 shorter stretches.")


def test_optimised_graphs_roll_as_well():
    graph = optimised(graph_of(invariant(30)[0], X, A))
    assert lengths(rolled(graph)) == [30]


def test_program_says_how_many_steps():
    program = Program(graph_of(invariant(30)[0], X, A), 0)
    assert "30 steps:" in program.listing


EACH = 50 if LONG else 5
COUNT = 2000 if LONG else 30


@pytest.mark.share(3)
@pytest.mark.parametrize("start", range(0, COUNT, EACH))
def test_random_loops(start):
    rolls = 0
    for seed in range(start, start + EACH):
        loss, args = fuzz_rolling.program(seed)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # NumPy's, of odd numbers
            value = pb.value_and_grad(loss, (0, 1, 2))
            right, gradient = value(*args)
            fast, plain = compile(value), compile(loss)
            for _ in range(4):
                got, found = fast(*args)
                for x, y in zip((got, *found), (right, *gradient), strict=True):
                    np.testing.assert_allclose(x, y, rtol=1e-8, atol=1e-9, err_msg=str(seed))
                np.testing.assert_allclose(plain(*args), right, rtol=1e-9, err_msg=str(seed))
        (entry,) = plain.entries.values()
        assert len(entry.paths) == 1, f"{seed} was recorded again: {plain.last_miss}"
        rolls += bool(lengths(entry.paths[0].program.run.graph))
    assert rolls > 2
