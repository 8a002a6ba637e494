"""Compiled functions of which the result depends on how their arguments lie in memory."""

import numpy as np
import pytest

import pullback as pb


def written(a, view):
    """An array after an assignment to what may be a view of it, and that."""
    view[..., 0] = 9.0
    return a * 1, view * 1


FUNCTIONS = {
    "reshape": lambda x: written(x * 1, (x * 1).reshape(-1)),
    "view by reshape": lambda x: written(a := x * 1, a.reshape(-1)),
    "view in Fortran's order": lambda x: written(a := x * 1, a.reshape(-1, order="F")),
    "ravel": lambda x: written(a := np.sin(x), np.ravel(a)),
    "copy": lambda x: written(a := x.copy(order="K"), a.T.ravel()),
    "like": lambda x: written(a := np.zeros_like(x), a.ravel()),
    "argument": lambda x: written(x, x.reshape(-1)),
    "in place": lambda x: add_to(a := x * 2, a.ravel()),
    "order K": lambda x: x.ravel(order="K") * 1,
    "order A": lambda x: (x * 2).ravel(order="A") * 1,
    "order F": lambda x: (x * 2).ravel(order="F") * 1,
    "array": lambda x: np.array(x, order="K").ravel(order="K"),
    "transposed": lambda x: written(a := x.T * 1, a.reshape(-1)),
}


def add_to(a, view):
    view += 1
    return a * 1, view * 1


def numbers(x):
    return [np.asarray(y).tolist() for y in (x if type(x) is tuple else (x,))]


def spread(x):
    out = np.zeros((x.shape[0], 2 * x.shape[1]))[:, ::2]
    out[...] = x
    return out


WAYS = {"C": np.array, "F": lambda x: np.array(x, order="F"), "spread": spread}


@pytest.mark.parametrize("first", WAYS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_record_stands_for_arguments_that_lie_alike(name, first):
    f, x = FUNCTIONS[name], np.arange(6.0).reshape(2, 3)
    fast = pb.compile(f)
    calls = [first] * 3 + [way for way in WAYS for _ in range(3)] + [first, *WAYS]
    for way in calls:
        one, two = WAYS[way](x), WAYS[way](x)
        out, expected = numbers(fast(one)), numbers(f(two))
        np.testing.assert_allclose(np.concatenate(out, None), np.concatenate(expected, None))
        np.testing.assert_array_equal(one, two)
    assert fast.cache_info().hits > len(WAYS)


def test_nothing_is_lost_where_memory_decides_nothing():
    """One record stands for all, and machine code repeats it by itself."""
    fast = pb.compile(lambda x: np.sum(np.reshape(np.sin(x), -1)))
    x = np.arange(6.0).reshape(2, 3)
    for way in [*WAYS] * 3:
        fast(WAYS[way](x))
    assert fast.cache_info().misses == 1
    assert fast.repeat[1]


@pytest.mark.parametrize("name", ["view by reshape", "ravel", "order K"])
def test_in_a_transformation(name):
    f, x = FUNCTIONS[name], np.arange(6.0).reshape(2, 3)
    fast = pb.compile(f)
    total = lambda g: lambda x: np.sum(np.exp(np.concatenate(g(x), None)))
    for way in ["C"] * 30 + ["F", "spread"] * 3:
        expected = pb.grad(total(f))(WAYS[way](x))
        np.testing.assert_allclose(pb.grad(total(fast))(WAYS[way](x)), expected)
