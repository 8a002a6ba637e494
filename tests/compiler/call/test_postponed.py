"""Gradients whose recording is finished in the background after the call."""

import copy
import os
import re
import threading
import warnings

import numpy as np
import pytest

import pullback as pb
from pullback.compiler import first_call
from pullback.compiler.call import postponed, record_call
from pullback.compiler.llvm.binding import WORKER
from pullback.core.tree import flatten
from tests.background import idle
from tests.budgets import asked
from tests.test_programs import PROGRAMS

pytestmark = [pytest.mark.trials, pytest.mark.usefixtures("soon")]
X = np.array([0.3, 1.0, 2.0])
WEIGHTS = np.array([1.0, 2.0, 3.0])


@pytest.fixture
def held(monkeypatch):
    """The background thread is at work on something else until `release` is called."""
    release = threading.Event()
    WORKER.do(release.wait, urgent=True)
    yield release
    release.set()
    idle()


def awaited(fast):
    return [entry.early.awaited for entry in fast.entries.values() if entry.early.awaited]


def second_call(fast, *args):
    for _ in range(2):
        out = fast(*copy.deepcopy(args))
    return out


def equal(a, b):
    pairs = list(zip(flatten(a)[0], flatten(b)[0], strict=True))
    return all(type(x) is type(y) and np.array_equal(x, y, equal_nan=True) for x, y in pairs)


def chain(x):
    for _ in range(20):
        x = np.sin(x) * WEIGHTS + 0.1
    return np.sum(x)


def listing(make, args):
    """Paths, refusal and program of a function after its first recording, and a result."""
    fast = pb.compile(make())
    second_call(fast, *args)
    finished = [x.entry.postpones for x in awaited(fast) for _ in [x.run()]]
    try:
        text = re.sub(r" at \S+:\d+", "", fast.graph(*copy.deepcopy(args)))
    except pb.ArgumentError:
        text = "none"
    idle()
    return (fast.refusal, fast.cache_info().paths, text), fast(*copy.deepcopy(args)), finished


@pytest.mark.share(2)
def test_a_postponed_recording_is_the_one_made_in_its_call(monkeypatch):
    """Of gradients of ordinary programs, and few are made in one piece."""
    bad, kept, compared = [], 0, 0
    for name, (fun, args) in asked(PROGRAMS, 12, "postponed").items():
        for transform in (pb.grad, pb.value_and_grad):

            def make(transform=transform, fun=fun):
                return transform(lambda *xs: np.sum(fun(*xs)))

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # some fall back to Python
                try:
                    make()(*copy.deepcopy(args))
                except pb.PullbackError:
                    continue
                facts, out, finished = listing(make, args)
                with monkeypatch.context() as patched:
                    patched.setattr(record_call, "may_postpone", lambda *_: False)
                    facts_at_once, out_at_once, none = listing(make, args)
            assert not none
            kept, compared = kept + (finished == [True]), compared + 1
            if facts != facts_at_once or not equal(out, out_at_once):
                bad.append((name, transform.__name__))
    assert not bad
    assert kept > compared / 4


class TestWhileItIsAwaited:
    def test_calls_run_in_python_and_say_so(self, held):
        fast = pb.compile(pb.grad(chain))
        out = second_call(fast, X)
        assert awaited(fast)
        assert not fast.cache_info().paths
        for _ in range(50):
            assert equal(fast(X), out)
        assert fast.cache_info().misses == 1
        assert "machine code is made in the background" in fast.why()
        held.set()
        idle()
        assert fast.cache_info().paths == 1

    def test_who_asks_for_the_program_has_it_finished(self, held):
        fast = pb.compile(pb.grad(chain))
        second_call(fast, X)
        assert "sin" in fast.graph(X)
        assert not awaited(fast)

    def test_arguments_and_results_may_be_written_into(self, held):
        fast, x = pb.compile(pb.grad(chain)), X.copy()
        fast(x)
        out = fast(x)
        x[:], out[:] = 7.0, 8.0
        held.set()
        idle()
        assert fast.cache_info().paths == 1
        assert np.allclose(fast(X), pb.grad(chain)(X), rtol=1e-10, atol=0)

    def test_warnings_are_those_of_the_calls(self, held):
        """Of a second derivative at a kink."""
        fast = pb.compile(pb.hessian(lambda x: np.sum(np.abs(x) ** 2)))
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            second_call(fast, X - X[0])
            n = len(given)
            assert awaited(fast)
            held.set()
            idle()
        assert len(given) == n > 0

    @pytest.mark.parametrize("back", [False, True])
    def test_what_is_read_may_change(self, held, back):
        """The constants of the program are those of its call."""
        rate = [2.0]
        weights = np.array([1.0, 2.0, 3.0])

        def f(x):
            return np.sum(np.minimum(x * weights, rate[0]) ** 2)

        fast = pb.compile(pb.grad(f))
        second_call(fast, X)
        assert awaited(fast)
        rate[0], weights[0] = 4.0, 5.0
        expected = pb.grad(f)(X)
        held.set()
        idle()
        for _ in range(5):
            assert equal(fast(X), expected)
        if back:
            rate[0], weights[0] = 2.0, 1.0
            idle()
            expected = pb.grad(f)(X)
            for _ in range(5):
                assert equal(fast(X), expected)
                idle()

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
    def test_a_process_that_is_forked_finishes_it_itself(self, held):
        fast = pb.compile(pb.grad(chain))
        second_call(fast, X)
        read, write = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if not child:
            for _ in range(3 * first_call.AGAIN):
                fast(X)
            idle()
            os.write(write, str(fast.cache_info().paths).encode())
            os._exit(0)
        os.waitpid(child, 0)
        assert os.read(read, 9) == b"1"


def test_others_need_not_wait(monkeypatch):
    """While a recording is finished, calls that would be recorded run in Python."""
    begun, over = threading.Event(), threading.Event()

    def slow(*args):
        begun.set()
        over.wait(60)

    monkeypatch.setattr(postponed, "verdict", slow)
    first, other = pb.compile(pb.grad(chain)), pb.compile(lambda x: np.sin(x) * 2.0)
    second_call(first, X)
    assert begun.wait(60)
    second_call(other, X)
    assert "another function is recorded" in other.why()
    assert other.cache_info().misses == 0
    over.set()
    idle()
    assert equal(other(X), np.sin(X) * 2.0)
    assert other.cache_info().paths == 1


class TestMadeInOnePiece:
    """What the second half could not tell, or what runs the user's code, is not postponed."""

    def stored(self):
        kept = {}

        def f(x):
            kept["last"] = np.sum(x)
            return np.sum(x * x)

        return f

    def with_a_rule(self):
        @pb.custom_vjp
        def square(x):
            return x * x

        square.defvjp(lambda x: (x * x, x), lambda x, bar: (2.0 * x * bar,))
        return lambda x: np.sum(square(x))

    def asking(self):
        return lambda x: np.sum(x * x) if x.flags.c_contiguous else np.sum(x)

    def ordered(self):
        return lambda x: np.sum(x.reshape(3, 1).ravel(order="K") ** 2)

    @pytest.mark.parametrize("make", ["stored", "with_a_rule", "asking", "ordered"])
    def test_it_is_recorded_in_its_call(self, make, held):
        f = getattr(self, make)()
        fast = pb.compile(pb.grad(f))
        out = second_call(fast, X)
        assert not awaited(fast)
        assert equal(out, pb.grad(f)(X))

    def test_with_wait(self, held):
        fast = pb.compile(pb.grad(chain), wait=True)
        fast(X)
        assert not awaited(fast)
        assert fast.cache_info().paths == 1


def test_a_second_half_that_fails_is_made_in_one_piece(monkeypatch):
    def fails(*args):
        raise RuntimeError

    monkeypatch.setattr(postponed, "verdict", fails)
    fast = pb.compile(pb.grad(chain))
    second_call(fast, X)
    idle()
    assert not fast.cache_info().paths
    second_call(fast, X)
    idle()
    assert fast.cache_info().paths == 1
    assert fast.refusal is None
