"""Programs with much state: it's read seldom for a recording, and too much ends with a reason."""

import time
import warnings

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.call import record_call
from pullback.compiler.facts import allowance, reading, state
from pullback.compiler.facts.call_monitor import Watch
from pullback.numpy.wrapping import places


class Item:
    def __init__(self, k):
        self.weight, self.info = k + 0.5, {"k": k, "more": [k]}

    def scaled(self, x):
        return first(x) * self.weight


ITEMS = {k: Item(k) for k in range(1_100)}
TABLE = dict.fromkeys(range(4_000), 1.5)


def first(x):
    return second(x)


def second(x):
    return third(x)


def third(x):
    return np.sin(x) * ITEMS[3].info["more"][0]


def of_items(x):
    return np.sum(ITEMS[5].scaled(x))


def storing(x):
    ITEMS[7].last = of_items(x)
    return ITEMS[7].last


def of_table(x):
    return np.sum(x) * TABLE[3]


def test_code_is_found_before_objects_are_read_again(monkeypatch):
    """However deep functions call functions: for the code, for what it reads, and for the token."""
    counts, visit = [], state.State.visit

    def noted(self, reader):
        out = visit(self, reader)
        counts.append(len(reader.met))
        return out

    monkeypatch.setattr(state.State, "visit", noted)
    fast, x = pb.compile(of_items, wait=True), np.ones(3)
    assert fast(x) == of_items(x)
    assert fast(x) == of_items(x)
    assert fast.cache_info().hits == 1
    assert sum(n > 1_000 for n in counts) == 3


@pytest.mark.parametrize(
    ("limit", "f", "why"),
    [
        ("ELEMENTS", of_table, "over 1 objects, most often of type `dict`, with 4,000 elements"),
        ("OBJECTS", of_items, "over 1,... objects, most often of type `(dict|Item)`, with .* ele"),
    ],
)
def test_too_much_is_named(monkeypatch, limit, f, why):
    monkeypatch.setattr(reading, limit, 1_000)
    fast, x = pb.compile(f, wait=True), np.ones(3)
    with pytest.warns(RuntimeWarning, match=rf"{why}.* in `(TABLE|ITEMS)`.*\n.*look up what it"):
        assert fast(x) == f(x)
    assert "it reads too much" in fast.why()


OTHERS = {
    "sign": ([1.0, 0.0], [1.0, -0.0]),
    "kind": ([1.0, 2.0], [1.0, 2]),
    "bool": ([1, 2], [True, 2]),
    "order": ([1, 2], [2, 1]),
    "length": ([1, 2], [1]),
    "nan": ([np.nan, 1.0], [-np.nan, 1.0]),
    "large": ([2**70, 1], [2**71, 1]),
}


@pytest.mark.parametrize("name", OTHERS)
def test_numbers_in_containers_are_all_compared(name):
    before, after = OTHERS[name]
    items, values, box = [*before], dict(enumerate(before)), [(*before,)]
    for x in (items, values, box):
        known = state.State([x], ())
        was = known.token()
        assert known.token() == was
        items[:], box[0] = after, (*after,)
        values.clear()
        values.update(enumerate(after))
        assert known.token() != was
        items[:], box[0] = before, (*before,)
        values.clear()
        values.update(enumerate(before))
        assert known.token() == was


def test_what_pullback_asks_of_numpys_functions_is_not_the_programs():
    with Watch(names=frozenset()) as watch:
        places.__wrapped__(np.sum)
    assert not watch.asked


@pytest.mark.parametrize("k", [1, 7, 8, 9])
def test_whichever_reading_takes_too_long_the_call_is_made(monkeypatch, k):
    """What a rehearsal has done is undone all the same, and the reason is told."""
    left, visit = [k], state.State.visit

    def timed(self, reader):
        if left[0] == 0 and reader.allowance.seconds < np.inf:
            reader.allowance.seconds = -1.0
        left[0] -= 1
        return visit(self, reader)

    monkeypatch.setattr(state.State, "visit", timed)
    monkeypatch.setattr(record_call, "allowance", lambda *_: allowance.allowance(True, 1e3))
    fast, x = pb.compile(storing, wait=True), np.ones(3)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert [fast(x), fast(x)] == [storing(x)] * 2
    assert ITEMS[7].last == storing(x)
    assert len(told) == (fast.refusal is not None) == ("too much" in str(fast.refusal))


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
