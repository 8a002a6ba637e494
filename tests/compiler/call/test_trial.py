"""compile: what the clock decides: when a call is recorded, and which way of a path is faster."""

import itertools
import math
import pickle
import sys
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest

import pullback as pb
from pullback.compiler import first_call
from pullback.compiler.call import call_kind, choose_path, reasons, trial
from pullback.compiler.call.call_kind import CallKind
from pullback.compiler.call.trial import Trial
from pullback.compiler.llvm import binding
from pullback.compiler.llvm.binding import WORKER
from tests.background import idle
from tests.compiler.call.test_compile import equal

pytestmark = [pytest.mark.trials, pytest.mark.usefixtures("soon")]
X = np.array([0.3, -1.0, 2.0])


def settle(fast, *args, calls=60, **kwargs):
    """Call a function until its best machine code is there and trials are over."""
    for _ in range(2):
        for _ in range(calls):
            out = fast(*args, **kwargs)
        idle()
    return out


@contextmanager
def at_work():
    """Another thread is in LLVM."""
    begun, over = threading.Event(), threading.Event()

    def work():
        with binding.LOCK:
            begun.set()
            over.wait(60)

    other = threading.Thread(target=work)
    other.start()
    begun.wait(60)
    try:
        yield
    finally:
        over.set()
        other.join()


def in_time(call):
    """What a call returns, and whether it waited for the others, who go on for a minute."""
    out = []
    caller = threading.Thread(target=lambda: out.append(call()), daemon=True)
    caller.start()
    caller.join(20)
    return (None, True) if caller.is_alive() else (out[0], False)


def paths_of(fast):
    return [path for entry in fast.entries.values() for path in entry.paths]


@pytest.fixture
def quick(monkeypatch):
    """Machine code always loses."""
    monkeypatch.setattr(trial, "RATIO", 0.0)
    monkeypatch.setattr(trial, "SLACK", 0.0)


class TestStopwatch:
    @pytest.mark.parametrize(
        ("clock", "processor", "fine", "passed"),
        [
            (0.05, 2e-4, True, 2e-4),  # another process was given the processor meanwhile
            (2e-4, 8e-4, True, 2e-4),  # four threads worked on it
            (2e-4, 0.0, False, 2e-4),  # the processor's time is told in steps of 16 ms
        ],
    )
    def test_what_counts(self, monkeypatch, clock, processor, fine, passed):
        monkeypatch.setattr(trial.Stopwatch, "FINE", fine)
        monkeypatch.setattr(trial, "perf_counter", iter((0.0, clock)).__next__)
        told = iter((0.0, processor)) if fine else iter((processor,))
        monkeypatch.setattr(trial, "process_time", told.__next__)
        assert trial.Stopwatch().passed() == passed


class TestTrial:
    def test_takes_turns_and_then_decides(self):
        t = Trial(0.0)
        order = []
        while not t.is_over:
            order.append(t.is_plain_next)
            (t.plain if t.is_plain_next else t.compiled).append(1e-4 if t.is_plain_next else 2e-4)
        assert order == [False, True] * trial.TURNS
        assert t.is_slower

    def test_what_took_long_when_it_was_recorded_is_not_tried(self):
        t = Trial(0.5)
        assert not t.is_over
        assert not t.is_plain_next
        t.compiled.append(1e-4)
        assert t.is_over
        assert not t.is_slower
        t = Trial(0.05)  # not long enough to tell by one call
        t.compiled.append(1e-4)
        assert not t.is_over

    def test_what_a_call_of_the_function_costs_is_no_reason(self):
        t = Trial(0.0)
        t.plain, t.compiled = [1e-6] * 5, [1.3e-6] * 5
        assert not t.is_slower
        t.compiled = [1.4e-6] * 5
        assert t.is_slower

    def test_without_machine_code_a_path_has_to_be_clearly_faster(self):
        for bare in True, False:
            t = Trial(0.0, bare)
            t.plain, t.compiled = [1e-4] * 5, [0.9e-4] * 5
            assert t.is_slower == bare
            t.compiled = [0.8e-4] * 5
            assert not t.is_slower

    def test_a_path_is_tried_as_what_it_is(self, quick):
        for dtype, bare in (np.float16, True), (float, False):
            fast = pb.compile(lambda x: x.sum())
            settle(fast, X.astype(dtype))
            (path,) = paths_of(fast)
            assert path.trial.bare == bare


class TestSlower:
    def test_the_function_runs_as_it_is_and_why_says_so(self, quick):
        runs = []
        fast = pb.compile(lambda x: np.sort(x) * 2.0)
        plain, fast.fun = fast.fun, lambda x: runs.append(1) or plain(x)
        np.testing.assert_array_equal(settle(fast, X), np.sort(X) * 2)
        (path,) = paths_of(fast)
        assert path.slow
        before, n = len(runs), fast.cache_info().hits
        np.testing.assert_array_equal(fast(X * 2), np.sort(X) * 4)
        assert len(runs) == before + 1
        assert fast.cache_info().hits == n + 1
        assert "Running the function is faster" in fast.why()
        assert fast.why() == fast.why(X)
        assert fast.refusal is None

    def test_other_arguments_are_compiled_for_themselves(self, quick):
        fast = pb.compile(lambda x: np.sort(x) * 2.0)
        settle(fast, X)
        y = np.arange(5.0)
        for why in (reasons.EARLY, choose_path.NEW):
            np.testing.assert_array_equal(fast(y), y * 2)
            assert fast.why() == why
        np.testing.assert_array_equal(settle(fast, y, calls=2), y * 2)
        fast(y)
        assert "Machine code replayed it" in fast.why()
        assert len(paths_of(fast)) == 2

    def test_names_and_numbers_arrive(self, quick):
        def f(x, factor=1.0, *, shift):
            return np.sort(x) * factor + shift

        fast = pb.compile(f)
        for factor in (2.0, 3.0):
            out = settle(fast, X, factor=factor, shift=1.5)
            np.testing.assert_array_equal(out, f(X, factor, shift=1.5))

    def test_what_it_reads_is_read_anew(self, quick):
        scale = 2.0
        fast = pb.compile(lambda x: np.sort(x) * scale)
        settle(fast, X)
        scale = 3.0
        np.testing.assert_array_equal(settle(fast, X), np.sort(X) * 3.0)

    def test_what_it_raises_arrives(self, quick):
        def f(a):
            return np.linalg.inv(a)

        fast = pb.compile(f)
        settle(fast, np.eye(2))
        with pytest.raises(np.linalg.LinAlgError):
            fast(np.ones((2, 2)))
        np.testing.assert_array_equal(fast(np.eye(2)), np.eye(2))

    def test_derivatives_are_those_of_its_rules(self, quick):
        fast = pb.compile(lambda x: np.sum(np.sort(x) ** 2))
        settle(fast, X)
        np.testing.assert_allclose(pb.grad(fast)(X), 2 * X)
        np.testing.assert_allclose(pb.vmap(fast)(np.stack([X, X])), [np.sum(X**2)] * 2)

    def test_what_writes_into_its_arguments_does_so_once_a_call(self, quick):
        def f(x):
            x += 1.0
            return x.sum()

        fast, x = pb.compile(f), X.copy()
        for _ in range(80):
            fast(x)
        np.testing.assert_array_equal(x, X + 80)


def test_a_call_that_waited_for_machine_code_does_not_end_the_trials(monkeypatch):
    """A way passes one call in sixteen to Python; what happens to that call may decide nothing."""
    fast = pb.compile(lambda x: np.sin(x) * 2)
    settle(fast, X)
    (path,) = next(iter(fast.entries.values())).paths
    for in_vain in (1, 2):
        path.trial = None
        fast.replay[1][0].pass_after(1)
        with monkeypatch.context() as patch:
            patch.setattr(type(path), "is_awaited", lambda self: True)
            for _ in range(in_vain):
                fast(X)
                assert fast.why() == reasons.AWAITED
        for _ in range(40):
            fast(X)
        assert path.trial is not None
        assert path.trial.is_over


def test_one_number_again_and_again():
    """Where code beside that which runs asks what kind a number is, it is recorded for that number
    first; then for all, and repeated."""

    def rounded(x):
        return round(x)

    fast = pb.compile(lambda x: rounded(x) if len(X) < 3 else np.sum(X * x))
    settle(fast, 1.2)
    settle(fast, 1.2)
    assert fast.cache_info().paths == 2
    assert len(fast.replay[1]) == 1


class TestWhy:
    def test_tells_of_numbers_and_of_what_is_read(self):
        rate = [2.0]
        fast = pb.compile(lambda x: float(np.sum(X * x)) * rate[0], wait=True)
        fast(1.0)
        fast(2.0)
        assert fast.why() == choose_path.OTHERS
        rate[0] = 3.0
        fast(2.0)
        assert fast.why().startswith("Something that the function reads")

    def test_tells_of_calls_that_were_repeated(self):
        fast = pb.compile(lambda x: np.sin(x) * 2 if x.sum() > 0 else x)
        assert "not been called" in fast.why()
        fast(X)
        assert fast.why() == fast.why(X) == reasons.EARLY
        assert "no recording for arguments of this kind" in fast.why(X[:2])
        with WORKER.held():
            fast(X)
            assert fast.why() == choose_path.NEW
            fast(X)
            assert fast.why() == reasons.AWAITED
        settle(fast, X, calls=2)
        assert fast.why().startswith("Machine code replayed it")
        fast(-X)
        assert fast.why() == reasons.EARLY
        fast(-X)
        assert "gave an answer that no recording has" in fast.why()


class TestEarly:
    """Calls run as they are until recording pays; then one is recorded."""

    def test_the_function_runs_once_in_each(self, monkeypatch):
        monkeypatch.setattr(first_call, "FEW", 9)
        fast, runs = pb.compile(lambda x: runs.append(1) or x * 2), []
        for k in range(5):
            np.testing.assert_array_equal(fast(X + k), 2 * (X + k))
        assert len(runs) == 5
        assert fast.cache_info()[:2] == (0, 0)
        assert fast.cache_info().paths == 0

    def test_calls_that_took_long_enough_together_or_one_that_is_long(self, monkeypatch):
        monkeypatch.undo()
        few, enough = first_call.FEW, first_call.ENOUGH
        cases = [(3, enough / 4, 4), (3, enough, 3), (few, enough / 3, few), (few, 0.04, 3)]
        cases += [(few, 0.2, 1), (few, 0.0, first_call.OFTEN)]
        for number, seconds, n in cases:
            monkeypatch.setattr(first_call, "FEW", number)
            # So many calls alone take that long on a busy machine.
            monkeypatch.setattr(first_call, "ENOUGH", enough if seconds else float("inf"))
            early = first_call.Early()
            for k in range(n):
                assert not early.is_over
                early.run(abs, (k,), {}, time.thread_time() - seconds)
            assert early.is_over

    def test_none_is_recorded_until_what_recording_needs_is_there(self, monkeypatch):
        """It is asked for once, as soon as a call would be recorded, and again after a fork."""
        monkeypatch.undo()
        jobs, early = [], first_call.Early()
        monkeypatch.setattr(first_call.WORKER, "do", lambda job, **how: jobs.append(job))
        ready = first_call.Preparation()
        monkeypatch.setattr(first_call, "PREPARATION", ready)
        monkeypatch.setattr(first_call, "thread_time", lambda: 0.0)  # calls take no time
        for _ in range(first_call.OFTEN):
            assert not early.is_over
            assert ready.make not in jobs
            early.run(abs, (1,), {}, 0.0)
        assert not early.is_over
        assert not early.is_over
        assert jobs.count(ready.make) == 1  # machine code of other tests leaves jobs as well
        ready.make()
        assert early.is_over
        ready.done = False
        ready.forked()
        assert not early.is_over
        assert jobs.count(ready.make) == 2

    def test_one_call_that_was_held_up_does_not_count_for_many(self, monkeypatch):
        monkeypatch.undo()
        early, now = first_call.Early(), [0.0]
        monkeypatch.setattr(first_call, "thread_time", lambda: now[0])

        def call(seconds):
            now[0] += seconds

        for _ in range(first_call.FEW + first_call.SAMPLED - 1):
            early.run(call, (1e-6,), {})
        early.run(call, (2e-3,), {})  # the one that is timed for all
        assert 2e-3 <= early.seconds < 3e-3

    def test_of_many_calls_some_are_timed_for_all(self, monkeypatch):
        monkeypatch.undo()
        early, clock = first_call.Early(), itertools.count()
        monkeypatch.setattr(first_call, "thread_time", lambda: 1e-5 * next(clock))
        n = first_call.FEW + 6 * first_call.SAMPLED
        for k in range(n):
            early.run(abs, (k,), {})
        assert early.seconds == pytest.approx(1e-5 * n, rel=0.15)
        assert next(clock) < n

    def test_calls_of_each_kind_are_counted_apart_whatever_came_before(self, monkeypatch):
        """A call like the one before is told without arranging its arguments."""
        monkeypatch.setattr(first_call, "FEW", 1000)
        monkeypatch.setattr(first_call, "thread_time", lambda: 0.0)  # calls take no time
        for name in ("SHORT", "BRIEF"):
            monkeypatch.setattr(first_call, name, -math.inf)  # but each is looked at

        def f(x, y=1.0):
            return None if isinstance(x, (list, dict)) else x * y

        fast, seen = pb.compile(f), {}
        half, held = X.astype(np.float32), [X]
        kinds = {
            "array": lambda: fast(X), "another": lambda: fast(X + 1),
            "shorter": lambda: fast(X[:2]), "float32": lambda: fast(half),
            "float": lambda: fast(2.0), "both": lambda: fast(X, 2.0),
            "keyword": lambda: fast(X, y=2.0), "integer": lambda: fast(2),
            "another integer": lambda: fast(3), "truth": lambda: fast(True),
            "other class": lambda: fast(np.float64(2.0)), "column": lambda: fast(X[:, None]),
            "list": lambda: fast([X, X]), "tuple": lambda: fast([(X, X)]),
            "dict": lambda: fast({"a": X, "b": 1.0}), "order": lambda: fast({"b": 1.0, "a": X}),
            "list twice": lambda: fast([held, held]), "lists": lambda: fast([[X], [X]]),
        }  # fmt: skip
        random = np.random.default_rng(0)
        for name in random.choice(list(kinds), 300):
            ignored = bool(random.integers(2))
            with np.errstate(all="ignore" if ignored else "warn"):
                for _ in range(random.integers(1, 4)):
                    kinds[name]()
                    key = "array" if name == "another" else name, ignored
                    if name != "list twice":  # it has no entry
                        seen[key] = seen.get(key, 0) + 1
                        assert fast.why() == reasons.EARLY
        counts = [entry.early.calls for entry in fast.entries.values()]
        assert sorted(counts) == sorted(seen.values())
        with np.errstate(all="raise"):
            fast(X)
        assert sum(entry.early.calls for entry in fast.entries.values()) == sum(counts)
        fast.cache_clear()
        fast(X)
        assert [entry.early.calls for entry in fast.entries.values()] == [1]

    def test_first_calls_that_are_short_are_not_looked_at(self, monkeypatch):
        """They count for the kind of the first call that is, whatever theirs was."""
        monkeypatch.setattr(first_call, "FEW", 10)
        monkeypatch.setattr(first_call, "thread_time", lambda: 0.0)  # calls take no time
        monkeypatch.setattr(call_kind, "perf_counter", lambda: 0.0)
        fast = pb.compile(lambda x: x if np.ndim(x) else x * 2)
        for k, x in enumerate([1.0, X, 2.0, 3, X[:2], 5.0, 1.0, 2.0, X]):
            np.testing.assert_array_equal(fast(x), fast.fun(x))
            assert fast.why() == reasons.EARLY
            assert pb.grad(fast)(1.5) == 2.0  # these are calls of their own
            assert (k < 5) <= (fast.early is not None)
        fast(4.0)
        (entry,) = [entry for entry in fast.entries.values() if entry.paths] or [fast.first.entry]
        assert entry.early.calls == 10
        assert fast.early is None

    @pytest.mark.parametrize("long", [False, True])
    def test_a_first_call_that_is_not_short_counts_for_its_kind_alone(self, monkeypatch, long):
        monkeypatch.setattr(first_call, "FEW", 10)
        monkeypatch.setattr(first_call, "BRIEF", 0.0)
        monkeypatch.setattr(first_call, "MUCH", 1e-12 if long else math.inf)
        fast = pb.compile(lambda x, y: x[0] * y)
        fast([X], 1.5)
        assert fast.early is not None
        fast([X[:2]], 1.5)
        assert [entry.early.calls for entry in fast.entries.values()] == [1]
        assert fast.cache_info().misses == 0
        fast([X], 2.5)
        assert fast.early is None
        assert fast.cache_info().misses == long

    def test_first_calls_within_the_first_call(self):
        fast = pb.compile(lambda n, x: x if n == 0 else x * fast(n - 1, x))
        for _ in range(4):
            np.testing.assert_array_equal(fast(5, X), fast.fun(5, X))

    def test_a_first_call_within_a_transformation_or_under_errors(self):
        fast = pb.compile(lambda x: 1.0 / x)
        assert pb.grad(fast)(2.0) == -0.25
        assert fast.early.calls == 0
        with np.errstate(all="raise"), pytest.raises(FloatingPointError):
            fast(np.float64(0.0))
        with np.errstate(all="ignore"):
            assert fast(np.float64(0.0)) == np.inf

    def test_first_calls_are_told_of(self, monkeypatch):
        """To ask about a call changes nothing, before, between and after calls not looked at."""
        monkeypatch.setattr(first_call, "FEW", 8)
        monkeypatch.setattr(first_call, "OFTEN", 100)
        monkeypatch.setattr(first_call, "ENOUGH", math.inf)
        monkeypatch.setattr(first_call, "SHORT", math.inf)
        fast, new = pb.compile(lambda x: x * 2), choose_path.NEW
        assert fast.why(X) == fast.why(X[:2]) == new
        assert fast.why() == "The function has not been called."
        assert fast.cache_info()[2:4] == (0, 0)
        fast(X)
        for _ in range(9):
            assert fast.why(X) == fast.why() == reasons.EARLY
            fast(X)
        assert fast.why(X) == fast.why() == reasons.EARLY
        fast.cache_clear()
        assert fast.why(X) == new

    @pytest.mark.parametrize("calls", [0, 1, 5, 20])
    def test_what_is_recorded_on_request_is_replayed(self, monkeypatch, calls):
        """By the next call, however many more would not have been looked at."""
        monkeypatch.setattr(first_call, "FEW", 10)
        monkeypatch.setattr(first_call, "OFTEN", 100)
        monkeypatch.setattr(first_call, "ENOUGH", math.inf)
        monkeypatch.setattr(first_call, "SHORT", math.inf)
        fast = pb.compile(lambda x: x * 2)
        for _ in range(calls):
            fast(X)
        fast.ir(X)
        assert fast.cache_info().hits == 0
        for k in range(3):
            np.testing.assert_array_equal(fast(X), X * 2)
            assert fast.cache_info()[:4] == (k + 1, 1, 1, 1)

    def test_threads_that_make_the_first_calls(self):
        """Of several kinds, some of them looked at, which one thread may do for another."""
        found, before = [], sys.getswitchinterval()

        def work(fast):
            try:
                found.extend([fast(X[: k % 3]).size == k % 3 for k in range(14)])
            except Exception as e:
                found.append(e)

        try:
            sys.setswitchinterval(1e-6)
            for _ in range(20):
                fast = pb.compile(lambda x: x * 2)
                threads = [threading.Thread(target=work, args=(fast,)) for _ in range(4)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
        finally:
            sys.setswitchinterval(before)
        assert found == [True] * (20 * 4 * 14)

    def test_what_it_raises_arrives_and_counts(self):
        fast = pb.compile(np.linalg.inv)
        for _ in range(3):
            with pytest.raises(np.linalg.LinAlgError):
                fast(np.ones((2, 2)))
        assert next(iter(fast.entries.values())).early.calls >= 1

    def test_a_function_that_cannot_be_repeated_warns_when_it_is_recorded(self):
        drawn = []
        fast = pb.compile(lambda x: drawn.append(float(np.random.normal())) or x)
        fast(1.0)
        with pytest.warns(RuntimeWarning, match="falls back to Python"):
            fast(1.0)
        assert len(drawn) == 2

    def test_floats_are_inputs_of_the_first_record(self):
        fast = pb.compile(lambda x, t: np.sin(x) * t)
        for k in range(4):
            np.testing.assert_array_equal(fast(X, 0.5 * k), np.sin(X) * (0.5 * k))
        assert fast.cache_info().misses == 1
        (path,) = paths_of(fast)
        assert path.numbers is None

    def test_floats_that_cannot_be_inputs_are_none(self):
        fast = pb.compile(lambda x, t: (x * t, math.fsum([t, 1.0]), t))
        for k in range(8):
            equal(fast(X, 0.5 * k), fast.fun(X, 0.5 * k))
        assert fast.refusal is None

    def test_graph_and_ir_record_a_call(self):
        """Whether there were calls in Python before, or none."""
        for calls in (0, 1):
            fast, other = (pb.compile(lambda x: np.sin(x) * 2) for _ in range(2))
            for _ in range(calls):
                fast(X), other(X)
            assert "sin" in fast.graph(X)
            assert fast.cache_info().misses == 1
            assert "define" in other.ir(X)

    def test_a_call_in_a_transformation_is_early_as_well(self):
        fast = pb.compile(lambda x: np.sum(np.sin(x)))
        for _ in range(4):
            np.testing.assert_allclose(pb.grad(fast)(X), np.cos(X), rtol=1e-15)
            idle()
        assert fast.cache_info()[:2] == (2, 1)

    @pytest.mark.parametrize("at", range(7))
    def test_what_it_reads_and_stores_is_seen_in_each_call(self, at):
        """Another value comes before call `at`: early, recorded, waiting, or machine code."""

        class Model:
            rate, steps, last = 2.0, 3, None

            def __call__(self, x):
                for _ in range(self.steps):
                    x = x + self.rate * table["b"]
                self.last = x
                log.append(np.sum(x))
                return x if x.sum() > limit else x * scale[0]

        model, table, limit, scale, log = Model(), {"b": 0.5}, 4.0, np.ones(2), []
        fast = pb.compile(model)
        for k in range(8):
            if k == at:
                model.rate, model.steps, table["b"], limit = 3.0, 2, -1.0, 0.0
                scale[0] = 7.0
            n = len(log)
            ours, last, noted = fast(X), model.last, log[n:]
            plain = model(X)
            np.testing.assert_array_equal(ours, plain)
            np.testing.assert_array_equal(last, model.last)
            assert noted == log[n + 1 :]
            assert len(noted) == 1
            if k > 3:
                idle()


class TestBehind:
    """Machine code is made in the background; until it is there the function runs."""

    def test_no_call_waits_for_it_and_results_are_the_same(self):
        def f(x, y):
            y += 1.0
            return x * 2 if x.sum() > 0 else x - 1, (y[0] * x[0], 2.5)

        fast = pb.compile(f)
        with WORKER.held():
            for k, x in enumerate([X, X, X, -X, -X, X]):
                given, mine = np.arange(3.0) + k, np.arange(3.0) + k
                equal(fast(x, mine), f(x, given))
                np.testing.assert_array_equal(mine, given)
            assert fast.cache_info()[:2] == (0, 1)
            assert all(path.program is None for path in paths_of(fast))
        settle(fast, X, X.copy(), calls=1)
        for _ in range(2):
            fast(-X, X.copy())
        assert fast.cache_info().paths == 2
        settle(fast, X, X.copy())
        assert {path.program.level for path in paths_of(fast)} <= {0, 3}

    def test_no_call_waits_while_llvm_is_at_work_for_others(self):
        """The first repetition, where a call tells machine code how its arguments lie, as well."""
        settle(pb.compile(np.cos), X)  # what all functions share is there
        fast = pb.compile(lambda x: np.sin(x) * 3)
        with WORKER.held():
            for _ in range(3):
                fast(X)
        idle()
        with at_work():
            out, waited = in_time(lambda: [fast(X) for _ in range(6)])
        assert not waited
        assert fast.cache_info().hits == 6
        for x in out:
            equal(x, np.sin(X) * 3)

    def test_records_on_disk_are_looked_for_when_llvm_is_at_leisure(self, monkeypatch):
        settle(pb.compile(np.cos), X)
        found = []
        monkeypatch.setattr("pullback.compiler.disk.records.find", lambda *args: found.append(1))
        monkeypatch.setattr("pullback.compiler.disk.records.is_likely", lambda fast: True)
        fast = pb.compile(lambda x: np.sin(x) * 4)
        with at_work():
            out, waited = in_time(lambda: [fast(X) for _ in range(6)])
            assert not waited
            assert not found
            assert fast.cache_info().misses == 0
            assert fast.why() == reasons.EARLY
        fast(X)
        assert found
        assert fast.cache_info().misses == 1
        for x in out:
            equal(x, np.sin(X) * 4)

    def test_threads_take_short_turns_meanwhile(self):
        idle()  # of other tests
        before = sys.getswitchinterval()
        try:
            for seconds in (before, 0.0073, 0.0001):  # a shorter one stays
                sys.setswitchinterval(seconds)
                usual, fast = sys.getswitchinterval(), pb.compile(np.tanh)
                with WORKER.held():
                    for _ in range(3):
                        fast(X)
                    assert sys.getswitchinterval() == min(usual, binding.TURN)
                settle(fast, X)
                assert sys.getswitchinterval() == usual
        finally:
            sys.setswitchinterval(before)

    @pytest.mark.parametrize("took", [1e-9, 10.0])
    def test_early_machine_code_runs_unless_the_function_was_faster(self, took):
        def f(x):
            return (x * (2.0 + took)).sum(), x[:0]  # calls are arranged in Python

        fast = pb.compile(f)
        for _ in range(3):
            fast(X.copy())
        idle()
        (path,) = paths_of(fast)
        assert path.program.level == 0
        path.took, said = took, []
        with WORKER.held():
            for _ in range(6):
                np.testing.assert_allclose(fast(X.copy())[0], f(X.copy())[0], rtol=1e-14)
                said.append(fast.why() == reasons.AWAITED)
        assert said == ([False] * 3 + [True] * 3 if took < 1 else [False] * 6)
        y = np.zeros(3)
        settle(fast, y, calls=30)
        assert path.program.level == 3
        assert path.trial.is_over

    def test_results_are_nobody_elses(self):
        constant, fast = np.arange(3.0), pb.compile(lambda x: (x * 1.0, np.cos(x).T, constant * 2))
        with WORKER.held():
            for _ in range(3):
                for out in fast(X):
                    out[...] = 7.0
            for ours, plain in zip(fast(X), fast.fun(X), strict=True):
                np.testing.assert_array_equal(ours, plain)

    def test_what_cannot_be_made_is_heard_of(self, monkeypatch):
        def build(*args, **kwargs):
            raise RuntimeError("no machine code")

        fast = pb.compile(np.sin)
        monkeypatch.setattr("pullback.compiler.path.build", build)
        for _ in range(2):
            fast(X)
        idle()
        with pytest.warns(RuntimeWarning, match="could not be made .RuntimeError: no machine code"):
            np.testing.assert_array_equal(fast(X), np.sin(X))


class TestWait:
    def test_calls_wait_for_the_best_machine_code_and_nothing_is_tried(self, quick):
        fast = pb.compile(lambda x: np.sort(x) * 2, wait=True)
        for _ in range(60):
            fast(X)
        (path,) = paths_of(fast)
        assert WORKER.thread is None
        assert path.program.level == 3
        assert path.trial is None
        assert not path.slow

    def test_the_way_of_each_call_is_the_same_each_time(self):
        def f(x):
            return np.exp(x).sum() / np.sum(x)

        def ways():
            fast, found = pb.compile(f, wait=True), []
            for k in range(50):
                out = fast(np.cos(np.arange(30.0) + k))
                path = (paths_of(fast) or [None])[0]
                level = path.program.level if path and path.program else None
                found.append((out.tobytes(), fast.why(), level))
            return found

        assert ways() == ways()

    def test_the_clock_does_not_end_recording(self):
        fast = pb.compile(lambda x: np.sum(x * 2), wait=True)
        fast.budget.recordings, fast.budget.spent = 100, 5.0
        fast(np.ones(3))
        assert fast.refusal is None

    def test_the_environment_says_it_for_all(self, monkeypatch):
        monkeypatch.setenv("PULLBACK_WAIT", "1")
        assert pb.compile(np.sum).wait
        assert not pb.compile(np.sum, wait=False).wait
        monkeypatch.setenv("PULLBACK_WAIT", "yes")
        with pytest.raises(pb.PullbackError, match="PULLBACK_WAIT is `yes`"):
            pb.compile(np.sum)

    def test_is_kept_by_pickle(self):
        assert pickle.loads(pickle.dumps(pb.compile(np.sum, wait=True))).wait


SMALL, MATRIX = np.eye(3), np.random.default_rng(0).standard_normal((200, 200))


@pytest.mark.parametrize(
    ("f", "runs_itself"),
    [
        (lambda x: MATRIX @ x, True),
        (lambda x: MATRIX[3] * x, True),
        (lambda x: np.linalg.inv(MATRIX) @ x, False),  # which is computed once
        (lambda x: MATRIX[:10, :10] @ x[:10] + np.tanh(MATRIX @ np.tanh(MATRIX @ x))[:10], False),
        (lambda x: SMALL @ x[:3], False),
        (pb.grad(lambda x: np.sum(MATRIX @ x)), False),
    ],
    ids=["product", "row", "inverse", "more work", "small", "gradient"],
)
def test_arrays_that_are_only_compared(f, runs_itself):
    """With `wait=True` the clock decides nothing, but what must lose is not repeated."""
    fast, x = pb.compile(f, wait=True), np.linspace(0.0, 1.0, 200)
    for _ in range(5):
        np.testing.assert_allclose(fast(x), f(x), rtol=1e-9)
    assert ("to compare the arrays that it reads takes longer" in fast.why()) is runs_itself
    MATRIX[0, 0] += 1.0  # it is heard of
    np.testing.assert_allclose(fast(x), f(x), rtol=1e-9)


@pytest.mark.parametrize("wait", [False, True])
def test_what_no_longer_fits_is_told_anew(wait, monkeypatch):
    """A module that is passed on whole gets a name, as by an import: nothing of it has changed."""
    fast = pb.compile(lambda x: by_module(np, x), wait=wait)
    settle(fast, X)
    repeated = fast.why()
    assert "arguments, what it reads" in repeated
    for k in range(4):
        fast.replay[1][0].pass_after(0)  # as when its best machine code has come
        monkeypatch.setattr(np, f"name_{k}", k, raising=False)
        for _ in range(3):
            np.testing.assert_allclose(fast(X), by_module(np, X), rtol=1e-15)
        assert fast.why() == repeated


def by_module(library, x):
    return library.sum(library.sin(x) * x + library.cos(x))


def test_short_calls_are_not_looked_at_one_by_one(monkeypatch):
    """Until one is recorded; others meanwhile get what they ask for."""
    looked, run = [], CallKind.run

    def noted(self, compiled, args, kwargs):
        looked.append(args)
        return run(self, compiled, args, kwargs)

    monkeypatch.setattr(CallKind, "run", noted)
    monkeypatch.setattr(first_call, "OFTEN", 400)
    monkeypatch.setattr(first_call, "ENOUGH", math.inf)
    monkeypatch.setattr(first_call, "SHORT", math.inf)
    fast, n = pb.compile(lambda x: x * x), 0
    while not fast.cache_info().misses and n < 1_000:
        assert fast(1.5) == 2.25
        n += 1
        assert n != 9 or len(looked) == 1
        if n in (100, 101):
            assert pb.grad(fast)(1.5) == 3.0
            np.testing.assert_array_equal(fast(X), X * X)
    assert 300 < n < 500
    assert len(looked) < n / 4
