"""Compiled functions of which the result depends on how their arguments lie in memory."""

import numpy as np
import pytest

import pullback as pb
from tests.budgets import LONG
from tests.layouts import memory_of


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
    assert fast.replay[1]


@pytest.mark.parametrize("name", ["view by reshape", "ravel", "order K"])
def test_in_a_transformation(name):
    f, x = FUNCTIONS[name], np.arange(6.0).reshape(2, 3)
    fast = pb.compile(f)
    total = lambda g: lambda x: np.sum(np.exp(np.concatenate(g(x), None)))
    for way in ["C"] * 30 + ["F", "spread"] * 3:
        expected = pb.grad(total(f))(WAYS[way](x))
        np.testing.assert_allclose(pb.grad(total(fast))(WAYS[way](x)), expected)


REARRANGED = {
    "transposed": lambda x: x.T,
    "swapaxes": lambda x: np.swapaxes(x, 0, -1),
    "moveaxis": lambda x: np.moveaxis(x[None], 0, -1)[..., 0],
    "reshaped in Fortran's order": lambda x: x.reshape(x.shape[::-1], order="F"),
    "raveled in Fortran's order": lambda x: x.ravel(order="F"),
    "raveled as it lies": lambda x: x.ravel(order="K"),
    "copied in Fortran's order": lambda x: np.array(x, order="F"),
    "einsum": lambda x: np.einsum("ij->ji", x),
    "einsum, in Fortran's order": lambda x: np.einsum("ij,kj->ik", x, x, order="F"),
    "apply_along_axis": lambda x: np.apply_along_axis(lambda row: row * row.sum(), 0, x),
    "rot90": np.rot90,
    "matmul": lambda x: x.T @ x,
    "tensordot": lambda x: np.tensordot(x, x, axes=([1], [1])),
    "column": lambda x: x[:, 1],
    "delete": lambda x: np.delete(x, 0, axis=1),
    "delete a slice": lambda x: np.delete(x, slice(0, 2), axis=1),
    "delete some": lambda x: np.delete(x, [0, 2], axis=1),
    "vectorize": lambda x: np.vectorize(lambda v: v * v)(x),
    "vectorize of two": lambda x: np.vectorize(lambda u, v: u * v)(x, np.arange(3.0)),
    "roll": lambda x: np.roll(x, 1, axis=1),
    "sort": lambda x: np.sort(x, axis=0),
    "take": lambda x: np.take(x, [1, 0], axis=0),
    "broadcast": lambda x: np.broadcast_to(x[:1], x.shape) * 1.0,
    "multiply": lambda x: np.multiply(x, x, order="C"),
}


def test_gradients_and_values_lie_alike():
    """Eager, traced and compiled, of an argument that lies in C's order, in Fortran's, or apart."""
    wrong, n = [], 0
    for name, f in REARRANGED.items():
        gradient = pb.grad(lambda x, f=f: np.sum(np.sin(f(x))))
        for way in WAYS if LONG else ("C", "F"):
            x = np.arange(6.0).reshape(2, 3) / 7
            plain = f(WAYS[way](x))
            traced = pb.vjp(f, WAYS[way](x))[0]
            if memory_of(traced) != memory_of(plain):
                wrong.append((name, way, "traced"))
            functions = (f, gradient) if LONG or way == "C" else (f,)
            for function in functions:
                fast, n = pb.compile(function, wait=True), n + 1
                fast(WAYS[way](x))
                expected, found = function(WAYS[way](x)), fast(WAYS[way](x))
                if memory_of(found) != memory_of(expected):
                    wrong.append((name, way, "value" if function is f else "gradient"))
    assert not wrong
    assert n == len(REARRANGED) * (6 if LONG else 3)


def misaligned(x):
    """The elements of x in Fortran's order, at an address that no double may have."""
    room = np.empty(x.nbytes + 1, np.uint8)[1:].view(x.dtype)
    out = room.reshape(x.shape[::-1]).T
    out[...] = x
    return out


CUBE = np.arange(24.0).reshape(2, 3, 4) / 7
LYING = {
    "C": np.array,
    "F": np.asfortranarray,
    "middle first": lambda x: np.array(x.transpose(1, 0, 2)).transpose(1, 0, 2),
    "last first": lambda x: np.array(x.transpose(2, 0, 1)).transpose(1, 2, 0),
    "every second": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "backwards": lambda x: np.array(x[::-1])[::-1],
    "misaligned": misaligned,
}
ORDERED = {
    "as it lies": lambda x: x * 2.0,
    "two orders": lambda x: (np.sin(x.T), x + 1.0, x.transpose(1, 0, 2) * x.transpose(1, 0, 2)),
    "a view of a result": lambda x: (a := x.T * 2.0, a[0] + 1.0, a.sum()),
    "a copy in another order": lambda x: (a := x.T * 2.0, a.copy(order="C"), np.array(a)),
    "beside a row": lambda x: (x.T + np.arange(2.0)) * x.T,
    "joined": lambda x: np.concatenate([x.T, x.T * 2.0]),
    "by NumPy": lambda x: (np.linalg.pinv(x).T, np.linalg.svd(x)[1].T),
    "sums": lambda x: (x.sum(axis=0), x.max(axis=(1, 2)), (x * x).sum()),
    "product": lambda x: x.reshape(6, 4) @ x[0].T,
    "asked": lambda x: x.T * 2.0 if x.sum() > 0 else x,
    "a constant": lambda x: (np.ones((4, 3, 2)).T * 2.0, x * 1.0),
    "a length of one": lambda x: x[:, :1].T * 3.0,
    "float32": lambda x: x.astype(np.float32).T * np.float32(2.0),
    "complex": lambda x: (x + 1j).transpose(2, 0, 1) * 2.0,
    "index": lambda x: x.T[[1, 0]] * 2.0,
}


@pytest.mark.share(2)
def test_arguments_and_results_lie_as_they_do_without_compiling():
    """Whatever the order of the first call, each call has its values and its order of memory."""
    wrong = []
    for name, f in ORDERED.items():
        for first in LYING:
            fast = pb.compile(f, wait=True)
            for way in [first] * 3 + [*LYING, first]:
                x = LYING[way](CUBE)
                expected, found = f(x), fast(x)
                both = (expected, found) if type(found) is tuple else ((expected,), (found,))
                for one, other in zip(*both, strict=True):
                    same = np.allclose(one, other, rtol=1e-14) and type(one) is type(other)
                    if not same or memory_of(one) != memory_of(other):
                        wrong.append((name, first, way))
            if fast.refusal or not fast.replay[1]:
                wrong.append((name, first, fast.refusal))
    assert not wrong


def test_memory_of_a_result_is_its_own():
    fast = pb.compile(lambda x: x.T * 2.0, wait=True)
    x = np.arange(6.0).reshape(2, 3)
    for _ in range(30):
        out = fast(x)
    assert out.flags.owndata
    assert out.flags.f_contiguous
    assert not out.flags.c_contiguous
    out[...] = 0.0
    np.testing.assert_array_equal(fast(x), 2.0 * x.T)


ASKING = {
    "flags": lambda x: x.sum() * (2 if x.flags.c_contiguous else 3),
    "a flag by its name": lambda x: x.sum() * (2 if x.flags["F_CONTIGUOUS"] else 3),
    "writeable": lambda x: x.sum() * (2 if x.flags.writeable else 3),
    "strides": lambda x: x.sum() * x.strides[0],
    "strides of a view": lambda x: x.sum() * x[::1].strides[1],
    "base": lambda x: x.sum() * (2 if x.base is None else 3),
    "base of a view": lambda x: x.sum() * (2 if x.reshape(-1).base is x else 3),
    "isfortran": lambda x: x.sum() * (2 if np.isfortran(x) else 3),
    "isfortran by its name": lambda x: x.sum() * (2 if getattr(np, "is" + "fortran")(x) else 3),
    "require": lambda x: np.require(x, requirements=["F"]).ravel(order="K") @ np.arange(6.0),
    "flags by their name": lambda x: x.sum() * (2 if getattr(x, "fl" + "ags").forc else 3),
    "flags of what is transposed": lambda x: x.sum() * (2 if x.T.flags.c_contiguous else 3),
}


@pytest.mark.filterwarnings("ignore:.*falls back to Python")
def test_programs_that_ask_how_an_argument_lies():
    """By whatever names they ask."""
    a = np.arange(6.0).reshape(2, 3) + 1
    fixed = a.copy()
    fixed.flags.writeable = False
    variants = [a, np.asfortranarray(a), np.tile(a, (2, 2))[::2, ::2], a[::-1], fixed, a.copy()]
    variants += [a[:], misaligned(a)]
    wrong = []
    for name, f in ASKING.items():
        fast = pb.compile(f, wait=True)
        for x in (*variants, *variants):
            found, right = [fast(x) for _ in range(2)], f(x)
            if found != [right] * 2:
                wrong.append((name, x.strides, found, right))
        if not (fast.replay[1] or fast.refusal):
            wrong.append((name, "machine code does not take the calls"))
    assert not wrong


def test_names_of_other_attributes_cost_nothing():
    """An attribute that is called as one of an array's does not ask how an argument lies."""

    class Model:
        data, base, flags, strides = 2.0, 3.0, {"ctypes": 1.0}, 1.0

    def f(x, m=Model()):  # noqa: B008  # such a default is what is tested
        return np.sum(x) * m.data * m.base * m.flags["ctypes"] * m.strides

    def assigned(x):
        out = np.zeros(3)
        out[np.array([0, 2])] = x[:2]
        return out

    for g in (f, assigned):
        fast = pb.compile(g, wait=True)
        [fast(np.ones(3)) for _ in range(8)]
        assert fast.replay[1]  # machine code takes the call
        assert fast.entries.popitem()[1].paths[0].recording.layouts is None
