"""What a function stores into containers of its own is no store that outlives its call."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import pullback
from pullback.scipy.solving import repeated_stores
from pullback.scipy.solving.own_containers import roots_of_stores
from pullback.scipy.solving.repeated_stores import same_bits
from pullback.scipy.solving.storable_objects import StorableObjects

SHARED, LOG, FLAG = np.zeros(3), [1.0], [True]


class Pool:
    """Has a method named as NumPy's."""

    def zeros(self, n: int) -> Any:
        return SHARED


POOL = Pool()


def filled(t: int, y: Any) -> Any:
    out = np.empty(2)
    out[0] = y[1]
    out[t] += 3
    out[:2] = 3
    return out


def displays() -> Any:
    found = [1, 2]
    found.append(3)
    table: dict[str, int] = {}
    table["x"] = 1
    table.setdefault("a", 1)
    return found, table


class Point:
    """Its attributes are stored as it is made."""

    def __init__(self, x: float) -> None:
        super().__init__()
        self.x = x


class Several:
    """Its attributes are stored in all ways."""

    def __init__(self, x: float, y: float) -> None:
        self.x = self.y = x
        self.x, self.y = y, x
        self.z = [x, y]
        self.x += y


def attributes_of_its_own(x: Any, i: int) -> Any:
    out = np.zeros_like(x, dtype=float)
    out[i] = x
    out[0] = x
    out[i + 1, ...] = x
    out[i:] = x
    out += x
    out[0] -= x * np.sin(x)
    out[:i] *= x
    total = 0
    total += x
    out.fill(x)
    return out, total


def by_choice() -> None:
    x = SHARED if FLAG else np.empty(2)
    x[0] = 1


def by_either() -> None:
    x = (FLAG and SHARED) or []
    x[0] = 1


def inner() -> None:
    x = [SHARED]
    x[0][0] = 1


def bound_again() -> None:
    x = np.zeros(2)
    x = SHARED
    x[0] = 1


def of_a_pool() -> None:
    x = POOL.zeros(2)
    x[0] = 1


def given(x: Any) -> None:
    x[0] = 1


def given_all(*xs: Any) -> None:
    xs[0].append(1)


def in_loop() -> None:
    for x in [SHARED]:
        x[0] = 1


def unpacked() -> None:
    x = np.zeros(2)
    x, _ = SHARED, 1
    x[0] = 1


def walrus() -> None:
    if (x := SHARED) is None:
        x = np.zeros(1)
    x[0] = 3


def parenthesised() -> None:
    x = np.zeros(2)
    (x if FLAG else SHARED)[0] = 1


def matched() -> None:
    match [SHARED]:
        case [x]:
            x[0] = 1


def of_a_part() -> None:
    x = SHARED[:].real
    x[0] = 1


def in_brackets(x: Any) -> None:
    y = SHARED
    (y.real)[0] = x


def another_first(x: Any) -> None:
    z = x
    x += 1
    z[0] = 0


def in_place_by_another_name(x: Any) -> None:
    z = 1
    y = x
    y += z


def in_a_cell(x: Any) -> Any:
    y = x
    y += 1
    return lambda: y


def of_another(self: Any, x: Any) -> None:
    z = [x]
    self.x = z


def part_of_another(x: Any) -> None:
    y = [x]
    y[0].a = y


def chosen_place(x: Any) -> None:
    y = [1]
    (y if FLAG else x)[0] = y


def logged() -> None:
    LOG.append(1.0)


OWN = [filled, displays, attributes_of_its_own, Point.__init__, Several.__init__]
OTHERS = [
    in_brackets, another_first, in_place_by_another_name, in_a_cell, of_another, part_of_another,
    chosen_place, by_choice, by_either, inner, bound_again, of_a_pool, given, given_all, in_loop,
    unpacked, walrus, parenthesised, matched, of_a_part, logged,
]  # fmt: skip


@pytest.mark.parametrize("f", OTHERS)
def test_what_may_be_anothers_is_no_own_container(f: Callable[..., Any]) -> None:
    assert roots_of_stores(f.__code__, f.__globals__) != frozenset()


@pytest.mark.parametrize("f", OWN)
def test_own_containers_are_known(f: Callable[..., Any]) -> None:
    assert roots_of_stores(f.__code__, f.__globals__) == frozenset()


def test_functions_that_fill_their_own_arrays_need_no_snapshot() -> None:
    assert not StorableObjects((filled,)).may_store
    assert StorableObjects((logged,)).may_store


@pytest.mark.parametrize("code", ["i8", "f8", "f4", "c16", "?", "i1", "O", "U3"])
def test_arrays_are_compared_by_their_bits(code: str) -> None:
    whole = np.zeros((3, 4, 5)).astype(code)
    for x in (whole, whole.T, whole[::-1], whole[..., ::2], whole[1:], whole[0, 0, :1]):
        held = x.copy(order="K")
        assert same_bits(held, x)
        first = (0,) * x.ndim
        old = x[first]
        x[first] = 1
        assert not same_bits(held, x)
        x[first] = old


def test_signs_of_zero_and_nan_are_bits() -> None:
    assert not same_bits(np.array([0.0]), np.array([-0.0]))
    assert same_bits(np.array([np.nan]), np.array([np.nan]))


class Counted(list[float]):
    """A list that counts what is appended."""

    count = 0

    def append(self, x: Any) -> None:
        super().append(x)
        self.count += 1


def test_attributes_of_containers_and_bound_methods_are_stores() -> None:
    def stored(solve: Callable[..., Any]) -> tuple[int, int, int]:
        counted, log = Counted(), list[float]()
        push = log.append

        def f(x: Any, a: Any) -> Any:
            counted.append(1.0)
            push(1.0)
            return x**3 + x - a

        solve(lambda a: brentq(f, -9, 9, args=(a,)))
        return len(counted), counted.count, len(log)

    assert stored(lambda f: pullback.grad(f)(2.0)) == stored(lambda f: f(2.0))


def by_name(x: float) -> float:
    global TURN
    TURN += 1
    LOG.append(x)
    POINTS["last"] = x
    POINTS["all"].append(x)
    return x


def by_another_name(x: float) -> float:
    log = LOG
    log.append(x)
    return x


def by_a_call(x: float) -> float:
    list.append(LOG, x)
    return x


def put(x: Any, y: Any) -> None:
    x.append(y)


def by_a_function_so_named(x: float) -> float:
    put(LOG, x)
    return x


def itself(x: Any) -> Any:
    return x


def of_a_result(x: float) -> float:
    itself(LOG).append(x)
    return x


POINTS: dict[str, Any] = {"all": []}
READ, TURN = ([1.0, 2.0], [3.0]), 0


def test_stores_that_begin_with_a_name() -> None:
    found = roots_of_stores(by_name.__code__, by_name.__globals__)
    loads = {("LOAD_GLOBAL", "LOG"), ("LOAD_GLOBAL", "POINTS")}
    assert found == {("STORE_GLOBAL", "TURN"), *loads}
    for f in by_another_name, by_a_call, by_a_function_so_named, of_a_result:
        objects = StorableObjects((f,))
        assert objects.may_store
        assert objects.stored is None


def test_what_is_only_read_is_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    """A snapshot holds what stores can reach by the names from which they begin."""
    copied = []
    monkeypatch.setattr(repeated_stores, "contents_of", lambda x: copied.append(x) or list(x))
    calls, shared = [0], [0.5]

    def f(x: Any, a: Any) -> Any:
        calls[0] += 1
        return x**3 + x - a * READ[1][0] + 0 * shared[0]

    assert pullback.grad(lambda a: brentq(f, -9, 9, args=(a,)))(2.0) > 0
    assert copied
    assert all(x is calls for x in copied)


def test_what_was_there_before_stays_as_it_is() -> None:
    """Also where a function stores it, so that it lies where its stores begin."""
    log, shared = list[Any](), [0.5, 1.5]

    def f(x: Any, a: Any) -> Any:
        log.append((shared, x))
        return x**3 + x - a

    def program(a: Any) -> Any:
        out = brentq(f, -9, 9, args=(a,))
        return out * shared[0] + len(log)

    pullback.grad(program)(2.0)
    assert [type(x) for x in shared] == [float, float]
    assert {id(pair[0]) for pair in log} == {id(shared)}
