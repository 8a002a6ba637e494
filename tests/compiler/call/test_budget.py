"""compile: recording that does not pay ends, whatever the arguments; threads record once."""

import gc
import threading
import time
import warnings

import numpy as np
import pytest
from scipy.optimize import brentq

import pullback as pb
from pullback.compiler.call.compiled import ENTRIES
from pullback.compiler.facts import foreseen
from tests.compiler.call.test_compile import equal


def calls(kind):
    """Arguments of which no two are of one kind, or hold for one record."""
    for k in range(150):
        match kind:
            case "shapes":
                yield np.ones(k + 1), 2
            case "integers":
                yield np.ones(3), k
            case "single precision":
                yield np.ones(3), np.float32(k)
            case "text":
                yield np.ones(3), str(k)
            case _:
                yield np.ones(3), [1.0] * k


@pytest.mark.parametrize("kind", ["shapes", "integers", "single precision", "text", "lists"])
def test_calls_that_never_come_again(kind):
    def f(x, k):
        return np.sum(x) * (len(k) if isinstance(k, (str, list)) else k)

    fast = pb.compile(f)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for args in calls(kind):
            equal(fast(*args), f(*args))
    assert len(told) == 1
    assert "recordings took" in str(told[0].message) or "it has taken" in str(told[0].message)
    assert fast.cache_info().misses < 110


def test_kinds_that_come_again_stay_compiled():
    fast = pb.compile(lambda x: np.sum(x * 2))
    for _ in range(3):
        for n in range(1, 41):
            equal(fast(np.ones(n)), np.float64(2.0 * n))
    assert fast.refusal is None
    assert fast.cache_info().misses == 40


@pytest.mark.trials
def test_kinds_that_are_never_recorded():
    """Calls of each run in Python first; where all are new, the function does so for good."""
    fast = pb.compile(lambda x: np.sum(x * 2))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for n in range(1, 400):
            equal(fast(np.ones(n)), np.float64(2.0 * n))
    assert ["193 kinds of arguments came" in str(x.message) for x in told] == [True]
    assert fast.refusal in fast.why()


@pytest.mark.trials
@pytest.mark.parametrize("turn", [1, 2, 5])
def test_one_kind_that_comes_again_among_many(turn):
    """It may come too seldom, and be too short, to be recorded yet."""
    fast = pb.compile(lambda x: np.sum(x * 2))
    x = np.ones(500)
    for n in range(1, 400):
        equal(fast(np.ones(n)), np.float64(2.0 * n))
        if n % turn == 0:
            equal(fast(x), np.float64(1000.0))
    assert fast.refusal is None


def test_objects_that_the_program_keeps_are_counted_once(monkeypatch):
    """Python counts them one by one, which would take longer than a recording."""
    count, asked = gc.get_freeze_count, []
    monkeypatch.setattr(foreseen, "KEPT", [False])
    monkeypatch.setattr(gc, "get_freeze_count", lambda: asked.append(1) or count())
    gc.freeze()  # as all of them are in these tests
    fast = pb.compile(lambda x: np.sum(x * 2), wait=True)
    for n in range(1, 9):
        fast(np.ones(n))
    assert fast.cache_info().misses == 8
    assert len(asked) == 1


def test_recordings_that_cost_more_than_they_save():
    fast = pb.compile(lambda x: np.sum(x * 2))
    fast.budget.recordings, fast.budget.spent = 100, 5.0
    with pytest.warns(RuntimeWarning, match="101 recordings took 5 s, and 0 replays"):
        fast(np.ones(3))
    equal(fast(np.ones(4)), np.float64(8.0))
    assert fast.cache_info().misses == 1
    fast.cache_clear()
    for _ in range(4):
        fast(np.ones(3))
    assert fast.cache_info().hits == 3


def test_threads_that_make_the_first_call_at_once_record_once():
    ran = []

    def f(x):
        y = x
        for _ in range(300):
            y = np.sin(y) * 1.1
        ran.append(1)
        return np.sum(y)

    fast, begin, outs = pb.compile(f), threading.Barrier(6), []

    def call():
        begin.wait()
        outs.append(fast(np.ones(3)))

    threads = [threading.Thread(target=call) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ran) == 6
    assert len({float(out) for out in outs}) <= 2
    assert fast.cache_info().misses <= 2


@pytest.mark.parametrize("depth", [2000, 20_000])
def test_deep_and_cyclic_arguments(depth):
    deep = [np.ones(3)]
    for _ in range(depth):
        deep = [deep]
    cyclic = [np.ones(3)]
    cyclic.append(cyclic)
    fast = pb.compile(lambda x: 2.0 * len(x))
    for x in (deep, cyclic, deep, [np.ones(3)]):
        assert fast(x) == 2.0 * len(x)


def test_a_few_that_take_seconds_and_are_never_repeated():
    """Each call another path, as of loops over ragged data: what that costs is bounded in time."""
    fast = pb.compile(lambda x: np.sum(x * 2))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for n in range(1, 10):
            fast.budget.row_spent += 1.5  # as if each recording took so long
            equal(fast(np.ones(n)), np.float64(2.0 * n))
    assert len(told) == 1
    assert fast.cache_info().misses <= 6


def test_long_recordings_that_are_repeated_pay():
    fast = pb.compile(lambda x: np.sum(x * 2))
    for n in range(1, 10):
        fast.budget.row_spent += 1.5
        for _ in range(2):
            equal(fast(np.ones(n)), np.float64(2.0 * n))
    assert fast.refusal is None


@pytest.mark.trials
def test_what_others_compute_meanwhile_does_not_count():
    done = threading.Event()

    def spin():
        while not done.is_set():
            sum(range(1000))

    others = [threading.Thread(target=spin) for _ in range(2)]
    for other in others:
        other.start()
    try:
        fast, begun = pb.compile(lambda x: np.sum(np.sin(x) * x)), time.thread_time()
        fast(np.ones(3))
        assert fast.budget.plain + fast.budget.spent <= time.thread_time() - begun
    finally:
        done.set()
        for other in others:
            other.join()


def test_records_for_certain_floats_end_soon():
    """A solver of a function that asks for numbers works on these, which hardly come again."""
    asked = lambda t: min(len(str(t)), 8)
    root = pb.grad(lambda x: brentq(lambda t: t**3 + x * t - 1 if asked(t) < 9 else t, 0, 2))
    fast = pb.compile(root, wait=True)
    with pytest.warns(RuntimeWarning, match=r"has taken 4 paths.*\n.*call compiled functions"):
        found = [fast(x) for x in np.linspace(1, 2, 12)]
    assert found == [root(x) for x in np.linspace(1, 2, 12)]
    assert fast.cache_info().paths == 4
    again = pb.compile(root, wait=True)
    for x in [1.0, 2.0, 1.5] * 20:  # a few that do come again are compiled
        assert again(x) == root(x)
    assert again.why().startswith("Machine code")


def test_machine_code_repeats_every_kind_of_arguments_that_is_kept():
    """A call of any of them goes there without Python of the compiler's."""
    fast = pb.compile(lambda x: np.sum(x * 0.5), wait=True)
    kinds = [np.ones(n) for n in range(1, ENTRIES + 1)]
    for _ in range(3):
        for x in kinds:
            fast(x)
    before = fast.hits
    assert [fast(x) for x in kinds] == [0.5 * len(x) for x in kinds]
    assert fast.hits == before  # these are counted where Python is asked
