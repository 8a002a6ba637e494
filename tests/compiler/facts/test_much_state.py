"""Programs with much state: it's read seldom for a recording, and too much ends with a reason."""

import sys
import time
import types
import warnings
from collections import Counter

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.call import record_call
from pullback.compiler.facts import allowance, bytecode, reading, state
from pullback.compiler.facts.call_monitor import Watch
from pullback.compiler.facts.snapshot import foresee
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
            reader.allowance.seconds = reader.allowance.until = -1.0
        left[0] -= 1
        return visit(self, reader)

    monkeypatch.setattr(state.State, "visit", timed)
    monkeypatch.setattr(record_call, "granted", lambda *_: allowance.granted(True, 1e3))
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
        recorded = lambda: seconds > 0 and fast.cache_info().misses
        while fast.refusal is None and not recorded() and time.monotonic() < end:
            assert fast(x) == of_items(x)
    assert len(told) == (seconds < 0)
    assert (fast.refusal or "").startswith("it reads too much") == (seconds < 0)


def written(text, n):
    """Many functions by one text, and `f`, which calls the first."""
    scope = {"np": np}
    exec("\n".join(text.format(i=i, k=i + 1) for i in range(n)), scope)
    exec("def f(x): return np.sum(f0(x))", scope)
    return scope


def held(x):
    return lambda y: np.sin(y) * len(x)


def by_closures(n):
    functions = [held([k]) for k in range(n)]
    return lambda x: functions[3](x)


def by_modules(n):
    modules = [types.ModuleType(f"m{k}") for k in range(n // 50)]
    for k, module in enumerate(modules):
        vars(module).update(
            written("def f{i}(x): return np.sin(x) * c{i}", 50), next=modules[k - 1]
        )
    return lambda x: modules[0].next.f(x)


def by_class(n):
    made = {f"m{k}": lambda self, x: np.sin(x) for k in range(n)}
    kind = type("Kind", (), {**made, "table": {k: [k] for k in range(n)}})
    return lambda x: kind().m3(x) * kind.table[0][0]


def by_classes(n):
    kinds = [type(f"Kind{k}", (), {"go": held([k])}) for k in range(n)]
    return lambda x: kinds[0].go(x)


def by_methods(n):
    methods = [Item(k).scaled for k in range(n)]
    return lambda x: methods[0](x)


def by_code(n):
    lines = [f"    x = x + a{k}.b{k}.c{k}(x) * d{k}" for k in range(n // 40)]
    scope = written("def f0(x):\n" + "\n".join(lines) + "\n    return x", 1)
    return scope["f"]


def by_calls(n):
    return written("def f{i}(x): return f{k}(x) + np.sin(x)", n)["f"]


def by_table(n):
    scope = written("def f{i}(x): return x.a{i}.b{i}(c{i}.d{i})", n)
    exec("def f(x): return table[0](x)", scope)
    return types.FunctionType(scope["f"].__code__, {"table": list(scope.values())})


WAYS = [by_closures, by_modules, by_class, by_classes, by_methods, by_code, by_calls, by_table]
STEPS = 50_000  # calls of Python functions, which stand for time


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_by_whatever_way_much_is_reached_reading_ends_in_time(monkeypatch, way):
    calls, f = [0], way(4_000)

    def called(frame, event, arg):
        calls[0] += 1

    monkeypatch.setattr(allowance, "thread_time", lambda: calls[0])
    granted, before = allowance.Allowance(STEPS), sys.getprofile()
    sys.setprofile(called)
    try:
        with allowance.bounded(granted), granted.running():
            foresee(f, [])
    except allowance.TooMuch:
        pass
    finally:
        sys.setprofile(before)
    assert calls[0] < 2 * STEPS


@pytest.mark.share(4)
def test_instructions_are_read_once(monkeypatch):
    """However many functions can be reached."""
    counts, make = Counter(), bytecode.Code.__init__

    def counted(self, code):
        counts[id(code)] += 1
        make(self, code)

    monkeypatch.setattr(bytecode.Code, "__init__", counted)
    foresee(by_calls(4_200), [])
    assert set(counts.values()) == {1}
    assert len(counts) > 4_200
