"""Programs with much state: it's read seldom for a recording, and too much ends with a reason."""

import time
import warnings

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.facts import allowance, state


class Item:
    def __init__(self, k):
        self.weight, self.info = k + 0.5, {"k": k, "more": [k]}

    def scaled(self, x):
        return first(x) * self.weight


ITEMS = {k: Item(k) for k in range(700)}
TABLE = dict.fromkeys(range(allowance.MOST), 1.5)


def first(x):
    return second(x)


def second(x):
    return third(x)


def third(x):
    return np.sin(x) * ITEMS[3].info["more"][0]


def of_items(x):
    return np.sum(ITEMS[5].scaled(x))


def of_table(x):
    return np.sum(x) * TABLE[3]


def test_code_is_found_before_objects_are_read_again(monkeypatch):
    """However deep functions call functions, the state is read a few times."""
    counts, visit = [], state.State.visit

    def noted(self, reader):
        out = visit(self, reader)
        counts.append(reader.count)
        return out

    monkeypatch.setattr(state.State, "visit", noted)
    fast, x = pb.compile(of_items, wait=True), np.ones(3)
    assert fast(x) == of_items(x)
    assert fast(x) == of_items(x)
    assert fast.cache_info().hits == 1
    assert sum([n > 2_000 for n in counts]) <= 5


def test_too_much_is_named():
    fast, x = pb.compile(of_table, wait=True), np.ones(3)
    with pytest.warns(
        RuntimeWarning, match=r"objects and elements in `TABLE`.*\n.*look up what it needs"
    ):
        assert fast(x) == 4.5
    assert "it reads too much" in fast.why()


@pytest.mark.trials
@pytest.mark.parametrize("seconds", [-1.0, 1e3])
def test_time_bounds_reading_where_the_clock_may_decide(monkeypatch, seconds):
    monkeypatch.setattr(allowance, "SECONDS", seconds)
    fast, x = pb.compile(of_items), np.ones(100_000)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        end = time.monotonic() + 100
        while fast.refusal is None and not fast.cache_info().misses and time.monotonic() < end:
            assert fast(x) == of_items(x)
    assert len(told) == (seconds < 0)
    assert (fast.refusal or "").startswith("it reads too much") == (seconds < 0)
