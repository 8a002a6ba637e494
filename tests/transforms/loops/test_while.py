"""while_loop: one record and one program for every number of steps, and what comes back."""

import signal
import threading
import time
import tracemalloc

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.program import build
from pullback.testing import staged
from pullback.transforms.loops.checkpoints import History, back, stride_of
from tests import fuzz_loops
from tests.budgets import LONG

# Of random programs many a derivative is zero.
pytestmark = pytest.mark.filterwarnings("ignore::pullback.LostDerivativeWarning")

CAPACITY = 256  # of a loop of numbers


def forward(f):
    return pb.jacobian(f, mode="forward")


def root(a):
    return pb.while_loop(lambda x: abs(x * x - a) > 1e-13 * a, lambda x: (x + a / x) / 2, a)


def kepler(mean, eccentricity):
    """The eccentric anomaly: x - e sin x = m."""

    def newton(x):
        return x - (x - eccentricity * np.sin(x) - mean) / (1 - eccentricity * np.cos(x))

    def far(x):
        return abs(x - eccentricity * np.sin(x) - mean) > 1e-13

    return pb.while_loop(far, newton, mean)


def repeated(n, x):
    """n times a step, by a counter."""
    step = lambda c: (c[0] + 1, c[1] * 0.999 + 1e-3 * np.sin(c[1]) + 1e-3)
    return pb.while_loop(lambda c: c[0] < n, step, (0, x))[1]


def written_out(n, x):
    """The same by a loop of Python's, with its derivative."""
    dot = 1.0
    for _ in range(n):
        x, dot = x * 0.999 + 1e-3 * np.sin(x) + 1e-3, dot * (0.999 + 1e-3 * np.cos(x))
    return x, dot


def one_path(fast, calls):
    """Nearly all calls were hits: after one for certain floats, one for all."""
    info = fast.cache_info()
    return info.misses <= 2 and info.hits == calls - info.misses and fast.refusal is None


class TestOnePath:
    STARTS = 10.0 ** np.random.default_rng(0).uniform(-8, 8, 300 if LONG else 100)

    @pytest.mark.share(2)
    @pytest.mark.parametrize("of", [lambda f: f, pb.grad, pb.value_and_grad, forward, pb.hessian])
    def test_a_square_root(self, of):
        fast, plain = pb.compile(of(root)), of(root)
        for a in self.STARTS:
            np.testing.assert_allclose(fast(a), plain(a), rtol=1e-9)
        assert one_path(fast, len(self.STARTS))

    def test_keplers_equation(self):
        random = np.random.default_rng(1)
        fast = pb.compile(pb.value_and_grad(kepler, (0, 1)))
        for mean, e in zip(random.uniform(0, 3, 200), random.uniform(0, 0.9, 200), strict=True):
            x, (by_mean, by_e) = fast(mean, e)
            assert x - e * np.sin(x) == pytest.approx(mean, rel=1e-12)
            assert by_mean == pytest.approx(1 / (1 - e * np.cos(x)), rel=1e-9)
            assert by_e == pytest.approx(np.sin(x) / (1 - e * np.cos(x)), rel=1e-9)
        assert one_path(fast, 200)

    @pytest.mark.share(2)
    @pytest.mark.parametrize(
        "of",
        [
            pb.vmap,
            lambda f: pb.vmap(pb.grad(f)),
            lambda f: pb.vmap(pb.hessian(f)),
            lambda f: pb.grad(lambda a: np.sum(pb.vmap(f)(a))),
            lambda f: lambda a: pb.vmap(pb.vmap(f))(np.stack([a, 3 * a])),
        ],
    )
    def test_batches(self, of):
        fast, plain = pb.compile(of(root)), of(root)
        for i in range(0, 100, 10):
            a = self.STARTS[i : i + 10]
            np.testing.assert_allclose(fast(a), plain(a), rtol=1e-9)
        assert one_path(fast, 10)

    @pytest.mark.share(4)
    def test_in_a_scan_and_in_another(self):
        def chain(a):
            step = lambda c, x: (root(c + x * a), root(c))
            return np.sum(pb.scan(step, a, np.arange(1.0, 4.0))[1])

        def outer(a):
            return pb.while_loop(lambda c: c > 1.1, root, a + 1)

        for f in (chain, outer):
            for of in (lambda f: f, pb.grad, forward, pb.hessian):
                fast, plain = pb.compile(of(f)), of(f)
                for a in self.STARTS[:20]:
                    np.testing.assert_allclose(fast(a), plain(a), rtol=1e-8)
                assert one_path(fast, 20)

    def test_not_differentiated(self):
        """The steps of a loop whose result is stopped do not matter to what is around it."""

        def f(a):
            x = pb.stop_gradient(root(a))
            return x - (x * x - a) / (2 * pb.stop_gradient(x))  # one step of Newton's

        fast = pb.compile(pb.grad(f))
        for a in self.STARTS[:50]:
            assert fast(a) == pytest.approx(0.5 / np.sqrt(a), rel=1e-12)
        assert one_path(fast, 50)
        assert "while " in fast.graph(np.float64(2.0))
        assert "while_pull" not in fast.graph(np.float64(2.0))

    def test_of_a_custom_rule(self):
        @pb.custom_vjp
        def implicit(a):
            return root(a)

        implicit.defvjp(lambda a: (root(a), root(a)), lambda x, bar: (bar / (2 * x),))
        fast = pb.compile(pb.grad(lambda a: implicit(a) ** 3))
        for a in self.STARTS[:50]:
            assert fast(a) == pytest.approx(1.5 * np.sqrt(a), rel=1e-12)
        assert one_path(fast, 50)

    def test_a_batch_whose_number_of_steps_is_the_same_for_all(self):
        """What is asked in each step does not read what is mapped; integers are NumPy's work."""

        def collatz(x, n):
            def body(c):
                k, total = c
                return np.where(k % 2 == 0, k // 2, 3 * k + 1), total + x / k

            return np.sum(pb.while_loop(lambda c: c[0] != 1, body, (n, 0 * x))[1] * x)

        for of in (pb.hessian, lambda f: pb.vmap(f, in_axes=(0, None))):
            fast, plain = of(pb.compile(collatz)), of(collatz)
            for n in (1, 7, 27, 1, 7):
                x = np.array([1.7, 0.4, n])
                np.testing.assert_allclose(fast(x, np.array(n)), plain(x, np.array(n)), rtol=1e-12)

    def test_a_compiled_function_inside_transformations(self):
        fast = pb.compile(root)
        for of, n in (
            (pb.grad, 1),
            (forward, 1),
            (pb.hessian, 2),
            (lambda f: pb.grad(pb.grad(f)), 2),
        ):
            for a in self.STARTS[:10]:
                right = 0.5 / np.sqrt(a) if n == 1 else -0.25 * a**-1.5
                assert of(fast)(a) == pytest.approx(right, rel=1e-6)
        a = self.STARTS[:10]
        np.testing.assert_allclose(pb.vmap(pb.grad(fast))(a), 0.5 / np.sqrt(a), rtol=1e-9)
        assert fast.cache_info().paths <= 2

    def test_a_second_backward_pass(self):
        """A third one has a path for each number of steps."""
        twice = pb.grad(pb.grad(root))
        fast = pb.compile(twice)
        for a in (2.0, 3.0, 1e4, 2.0, 3.5):
            assert fast(a) == pytest.approx(-0.25 * a**-1.5, rel=1e-6)
        third = pb.compile(pb.grad(pb.grad(pb.grad(root))))
        assert third(2.0) == third(2.0) == pytest.approx(0.375 * 2**-2.5, rel=1e-5)

    def test_machine_code(self):
        fast = pb.compile(pb.value_and_grad(root))
        for a in (2.0, 3.0, 9.0):
            assert fast(np.float64(a)) == pytest.approx((np.sqrt(a), 0.5 / np.sqrt(a)))
        program = fast.path((np.float64(2.0),), {}).program
        assert program.native
        assert "while_pull" in program.listing

    def test_what_is_not_needed_is_left_out(self):
        def f(x):
            step = lambda c: (c[0] + 1.0, np.sin(c[1]), np.cos(c[2]) * c[1])
            return pb.while_loop(lambda c: c[0] < 5, step, (x, x, x))[1]

        graph, _ = staged(f, [np.float64(0.3)])
        assert "cos" not in build(graph).ir
        (got,) = build(graph)(np.float64(0.3))
        assert got == pytest.approx(f(0.3), rel=1e-15)


class TestNumbersOfSteps:
    COUNTS = (0, 1, 2, CAPACITY - 1, CAPACITY, CAPACITY + 1, 2 * CAPACITY, 10 * CAPACITY + 3)

    def test_gradients(self):
        fast = pb.compile(pb.value_and_grad(repeated, 1))
        for n in self.COUNTS:
            value, slope = fast(np.array(n), np.float64(0.3))
            right, dot = written_out(n, 0.3)
            assert value == pytest.approx(right, rel=1e-12)
            assert slope == pytest.approx(dot, rel=1e-2 if n > 1 else 1e-12)
            assert slope == pytest.approx(pb.grad(repeated, 1)(n, 0.3), rel=1e-11)
        assert one_path(fast, len(self.COUNTS))

    def test_many_in_little_memory(self):
        fast = pb.compile(pb.value_and_grad(repeated, 1))
        x = np.float64(0.3)
        for n in (3, 4, 5):
            fast(np.array(n), x)
        tracemalloc.start()
        value, slope = fast(np.array(1_000_000), x)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 1e6
        fixed = value
        for _ in range(20):  # where it comes to rest
            fixed = fixed - (1e-3 * np.sin(fixed) + 1e-3 - 1e-3 * fixed) / (
                1e-3 * np.cos(fixed) - 1e-3
            )
        assert value == pytest.approx(fixed, rel=1e-12)
        assert 0 <= slope < 1e-300

    def test_python_does_the_same(self):
        """Where there is no machine code, and in a recording."""
        count = 0

        def forward(carry):
            nonlocal count
            count += 1
            return [carry[0] + 1]

        for capacity in (2, 4, 16):
            for n in (0, 1, capacity, capacity + 1, 5 * capacity + 3, capacity**3 + 1):
                history = History([pb.core.spec.Spec((), np.dtype(int))], capacity)
                for step in range(n):
                    history.see(step, [step])
                stride = stride_of(n, capacity)
                kept = list(range(0, n, stride))
                assert history.rows[0][: len(kept)].tolist() == kept
                count = 0
                pull = lambda bars, carry: [*bars, carry[0]]
                seen = back(n, capacity, history.rows, [], forward, pull)
                assert seen == list(range(n))[::-1]
                assert capacity < 16 or count <= 6 * n

    def test_conditions_that_are_nan(self):
        f = lambda x: pb.while_loop(lambda c: c[0] < 10.0, lambda c: (c[0] * c[1], c[1]), (x, x))[0]
        fast = pb.compile(pb.value_and_grad(f))
        for x in (1.5, 2.0, np.nan, np.inf, 20.0, 3.0):
            np.testing.assert_array_equal(fast(x), pb.value_and_grad(f)(x))

    def test_a_number_as_a_truth_value(self):
        def f(x):
            step = lambda c: (c[0] + 1, c[1] * x)
            return pb.while_loop(lambda c: c[0] - 3.0, step, (x, x))[1]

        for x in map(np.float64, (1.0, -2.0, 3.0, 0.0)):
            for of in (lambda f: f, pb.grad):
                fast = pb.compile(of(f))
                assert fast(x) == fast(x) == of(f)(x)


def by_waiting(pick):
    """A scan as a loop that waits."""

    def scan(fun, carry, xs, reverse=False, checkpoint=False):
        n, rows = len(xs), np.arange(len(xs))

        def body(c):
            i, carry, ys = c
            t = n - 1 - i if reverse else i
            carry, y = fun(carry, pick(xs, t, rows))
            here = np.reshape(rows == t, (n,) + (1,) * np.ndim(y))
            return i + 1, carry, np.where(here, y, ys)

        ys = np.zeros((n, *np.shape(fun(carry, xs[0])[1])))
        first = carry * 1.0
        _, carry, ys = pb.while_loop(lambda c: c[0] < n, body, (0, first, ys))
        return carry, ys

    return scan


PICKS = {
    "by an index": lambda xs, t, rows: pb.array(xs)[t],
    "by a mask": lambda xs, t, rows: np.sum(np.where((rows == t)[:, None], xs, 0.0), 0),
}


@pytest.mark.share(4)
@pytest.mark.parametrize("pick", PICKS)
@pytest.mark.parametrize("seed", range(12))
def test_random_bodies(seed, pick):
    loss_with, args = fuzz_loops.program(seed)
    random = np.random.default_rng(seed)
    dots = tuple([random.normal(size=x.shape) for x in args])
    loss = loss_with(by_waiting(PICKS[pick]))
    right = fuzz_loops.derivatives(loss_with(fuzz_loops.python_scan), args, dots)
    for name, got in fuzz_loops.derivatives(loss, args, dots).items():
        for x, y in zip(got, right[name], strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-8, atol=1e-10, err_msg=name)
    fast = pb.compile(pb.grad(loss, (0, 1, 2)))
    pushed = pb.compile(lambda *xs: pb.jvp(pb.grad(loss, (0, 1, 2)), xs, dots)[1])
    for _ in range(2):
        for x, y in zip(fast(*args), right["gradient"], strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-8, atol=1e-10)
        for x, y in zip(pushed(*args), right["forward over reverse"], strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-8, atol=1e-10)


class TestOperation:
    """Under a transformation the loop is one equation."""

    def test_staged_once(self):
        graph, _ = staged(root, [np.float64(2.0)])
        assert [e.primitive.name for e in graph.equations] == ["multiply", "while"]

    def test_in_the_body_of_a_scan(self):
        """It is no reason to run the scan step by step."""
        f = lambda a: pb.scan(lambda c, x: (root(c + x), None), a, np.ones(30))[0]
        graph, _ = staged(f, [np.float64(2.0)])
        assert [e.primitive.name for e in graph.equations] == ["scan"]

    def test_runs_once_without_a_way_back(self):
        calls = 0

        @pb.primitive
        def step(x):
            nonlocal calls
            calls += 1
            return x / 2

        step.defjvp(lambda out, xs, x_dots: x_dots[0] / 2)
        step.defbatch(lambda xs, mapped, size: step(*xs))
        f = lambda x: pb.while_loop(lambda x: x > 1.0, step, x)
        pb.vmap(f)(np.array([1e3, 10.0]))
        assert calls < 16

    def test_a_rule_that_asks_for_values(self):
        @pb.primitive
        def steep(x):
            return np.abs(x) / 2

        def rule(out_bar, residual, wanted):
            return (out_bar / 2 if residual.xs[0] > 0 else -out_bar / 2,)

        steep.defvjp(rule, reads="x0")
        f = lambda x: pb.while_loop(lambda x: abs(x) > 1.0, steep, x)
        for of in (pb.grad, lambda f: pb.compile(pb.grad(f))):
            assert of(f)(-6.0) == -0.125

    def test_a_condition_that_asks_for_values(self):
        f = lambda x: pb.while_loop(lambda x: x > 1.0 and x < 50.0, lambda x: x / 2, x)
        for of in (pb.grad, lambda f: pb.compile(pb.grad(f))):
            assert (of(f)(6.0), of(f)(60.0)) == (0.125, 1.0)

    def test_eager_arrays_that_are_closed_over(self):
        a = pb.array(3.0, requires_grad=True)
        x = pb.while_loop(lambda x: abs(x * x - a) > 1e-12, lambda x: (x + a / x) / 2, 1.0)
        (x * x).backward()
        assert a.grad == pytest.approx(1.0)


ENDLESS = {
    "numbers": lambda n, x: repeated(n, x),
    "gradient": lambda n, x: pb.grad(repeated, 1)(n, x),
    "arrays": lambda n, x: repeated(n, x * np.ones(500)).sum(),
    "in a loop": lambda n, x: pb.while_loop(
        lambda c: c[0] < 3, lambda c: (c[0] + 1, repeated(n, c[1])), (0, x)
    )[1],
    "beside NumPy": lambda n, x: repeated(n, np.linalg.inv(np.eye(2) + x)[0, 0]),
}


class Interrupted(BaseException):  # as KeyboardInterrupt
    pass


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="it needs a timer")
class TestNeverEnding:
    """A loop that does not end is interrupted as one of Python's is, and leaves nothing broken."""

    @pytest.fixture(autouse=True)
    def alarm(self):
        def ring(*_):
            raise Interrupted

        before = signal.signal(signal.SIGALRM, ring)
        yield
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

    @pytest.mark.share(2)
    @pytest.mark.parametrize("name", ENDLESS)
    @pytest.mark.parametrize("warm", [0, 1, 50])
    def test_interrupted(self, name, warm):
        fast = pb.compile(ENDLESS[name])
        x = np.float64(0.3)
        for i in range(warm):
            fast(np.array(i % 5), x + i / 100)
        right = [ENDLESS[name](n, x) for n in (3, 700)]
        ticks = 0

        def tick():
            nonlocal ticks
            while not done.is_set():
                time.sleep(0.01)
                ticks += 1

        done = threading.Event()
        other = threading.Thread(target=tick)
        other.start()
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.15)
            with pytest.raises(Interrupted):  # which would take weeks to end
                fast(np.array(10**15), x)
        finally:
            done.set()
            other.join()
        assert ticks  # others run meanwhile
        for _ in range(3):
            for n, expected in zip((3, 700), right, strict=True):
                assert fast(np.array(n), x) == pytest.approx(expected, rel=1e-11)
