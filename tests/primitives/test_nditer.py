"""`np.nditer` over Arrays goes where NumPy's iterator goes, and keeps derivatives."""

import itertools

import numpy as np
import pytest

import pullback as pb

BASE = np.arange(1.0, 25.0).reshape(2, 3, 4)
VIEWS = {
    "C": lambda a: a * 1.0,
    "transposed": lambda a: (a * 1.0).T,
    "swapped": lambda a: np.swapaxes(a * 1.0, 0, 1),
    "reversed": lambda a: (a * 1.0)[:, ::-1],
    "sliced": lambda a: (a * 1.0)[:, ::2, 1:],
    "broadcast": lambda a: np.broadcast_to(a[0, 0] * 1.0, (3, 4)),
    "row": lambda a: (a * 1.0)[1, 0],
    "number": lambda a: (a * 1.0)[1, 0, 0],
    "Fortran": lambda a: np.asfortranarray(a[0] * 1.0),
}


def weighted(x, order, others=()):
    """A sum that tells in which order and beside what the elements came."""
    total = 0.0
    it = np.nditer([x, *others] if others else x, flags=["multi_index"], order=order)
    for n, items in enumerate(it):
        value = items[0] * items[1] if others else items
        total = total + (n + 1) * value**2 + sum(it.multi_index) * value
    return total


@pytest.mark.parametrize("order", "KCFA")
@pytest.mark.parametrize("view", VIEWS)
class TestOrders:
    def test_values_and_derivatives(self, view, order):
        f = lambda a: weighted(VIEWS[view](a), order)
        with pb.rebinding(False):
            expected = f(BASE)
        value, g = pb.value_and_grad(f)(BASE)
        assert value == expected
        step = 1e-6 * np.cos(BASE)
        slope = (f(BASE + step) - f(BASE - step)) / 2e-6
        np.testing.assert_allclose(np.sum(g * np.cos(BASE)), slope, rtol=1e-6)
        np.testing.assert_allclose(pb.jvp(f, (BASE,), (np.cos(BASE),))[1], slope, rtol=1e-6)
        np.testing.assert_allclose(pb.vmap(f)(np.stack([BASE, 2 * BASE]))[1], f(2 * BASE))

    def test_several_operands(self, view, order):
        other = np.array([0.5]) if view == "number" else np.arange(1.0, 5.0)[::-1][:1]
        f = lambda a: weighted(VIEWS[view](a), order, (other,))
        assert pb.value_and_grad(f)(BASE)[0] == f(BASE)

    def test_written_elements(self, view, order):
        def f(a):
            x = VIEWS[view](a)
            x = x * 1.0 if view == "broadcast" else x  # NumPy refuses to write to what is repeated
            x = np.array(x) if view == "number" else x
            n = itertools.count(1)
            with np.nditer(x, op_flags=["readwrite"], order=order) as it:
                for v in it:
                    v[...] = v * next(n)
            return x

        expected = f(BASE)
        np.testing.assert_array_equal(pb.jvp(f, (BASE,), (BASE,))[0], expected)
        np.testing.assert_array_equal(pb.jvp(f, (BASE,), (BASE,))[1], expected)  # it is linear


def test_by_hand():
    def f(x):
        it = np.nditer(x, flags=["c_index"])
        total = 0.0
        while not it.finished:
            total = total + it.index * it[0] ** 2
            it.iternext()
        return total

    np.testing.assert_array_equal(pb.grad(f)(BASE[0]), 2 * np.arange(12).reshape(3, 4) * BASE[0])


def test_an_operand_that_is_allocated():
    def f(x):
        it = np.nditer([x, None], flags=["buffered"], op_flags=[["readonly"], ["writeonly"]])
        for a, b in it:
            b[...] = a**2
        return it.operands[1]

    np.testing.assert_array_equal(pb.jvp(f, (BASE,), (np.ones_like(BASE),))[1], 2 * BASE)


def test_what_is_read_only_is_not_written():
    def f(x):
        for v in np.nditer(x * 1.0):
            v[...] = 1.0
        return x

    with pytest.raises(ValueError, match="read-only"):
        pb.grad(f)(BASE)


@pytest.mark.parametrize("keywords", [{"flags": ["external_loop"]}, {"op_dtypes": ["float32"]}])
def test_several_elements_at_once_are_refused(keywords):
    with pytest.raises(pb.UnsupportedKeywordError, match="element by element only"):
        pb.grad(lambda x: np.nditer(x, **keywords))(BASE)


def test_an_index_that_is_not_tracked():
    with pytest.raises(ValueError, match="multi-index"):
        pb.grad(lambda x: np.nditer(x).multi_index)(BASE)
