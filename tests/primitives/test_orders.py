"""Orders of memory are those of NumPy, in the forms in which NumPy takes them."""

import numpy as np
import pytest

import pullback as pb

FUNCTIONS = {
    "ravel": lambda x, order: np.ravel(x, order),
    "x.ravel": lambda x, order: x.ravel(order),
    "x.flatten": lambda x, order: x.flatten(order),
    "copy": lambda x, order: np.copy(x, order),
    "x.copy": lambda x, order: x.copy(order),
    "reshape": lambda x, order: np.reshape(x, -1, order=order),
    "x.reshape": lambda x, order: x.reshape(-1, order=order),
    "x.astype": lambda x, order: x.astype(np.float32, order=order),
    "zeros_like": lambda x, order: x + np.zeros_like(x, order=order),
    "full_like": lambda x, order: x * np.full_like(x, 2.0, order=order),
    "add": lambda x, order: np.add(x, 1.0, order=order),
    "array": lambda x, order: np.array(x, order=order),
    "array of a list": lambda x, order: np.array([x, x], order=order),
    "array of a dtype": lambda x, order: np.array(x, np.float32, order=order),
    "array, no copy": lambda x, order: np.array(x, copy=None, order=order),
    "array like": lambda x, order: np.array([1.0, 2.0], order=order, like=x)[0] + x,
    "array of objects": lambda x, order: np.array([x, x], object).astype(float, order=order),
    "asarray": lambda x, order: np.asarray(x, order=order),
    "asarray of a list": lambda x, order: np.asarray([x, x], order=order),
    "asanyarray": lambda x, order: np.asanyarray(x, order=order),
    "asarray_chkfinite": lambda x, order: np.asarray_chkfinite(x, order=order),
    "require": lambda x, order: np.require(x, requirements=order),
    "full": lambda x, order: np.full((2, 3), x.ravel()[0], order=order),
    "full like": lambda x, order: np.full((2, 3), 2.0, order=order, like=x) + x,
    "zeros like": lambda x, order: np.zeros(x.shape, order=order, like=x) + x,
    "ones_like of a shape": lambda x, order: np.ones_like(x, order=order, shape=(2, 3)),
    "empty": lambda x, order: x + np.empty(x.shape, order=order).ndim,
    "einsum": lambda x, order: np.einsum("...,...->...", x, x, order=order),
    "einsum of one": lambda x, order: np.einsum("...->...", x, order=order),
    "ravel_multi_index": lambda x, order: x * np.ravel_multi_index((1, 1), (2, 3), order=order),
}
ORDERS = [None, *"CFAKcfakX", "", "CC", np.str_("F"), b"C", b"f", 0, True, (0,), b"", 1, False, []]
ROWS = np.arange(6.0).reshape(2, 3)
OPERANDS = [ROWS, np.asfortranarray(ROWS), ROWS[0], np.array(2.0)]


def outcome(f, x, order):
    """The elements and how they lie, or the error."""
    lies = []

    def g(x):
        out = f(x, order)
        lies.append((out.flags.c_contiguous, out.flags.f_contiguous))
        return out

    try:
        out = g(x) if type(x) is np.ndarray else pb.vjp(g, x[0])[0]
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        return type(error)
    return np.asarray(out).tolist(), lies[0]


@pytest.mark.parametrize("order", ORDERS, ids=repr)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_orders_are_taken_and_refused_as_in_numpy(name, order):
    """None stands for the usual order, letters may be small, and others raise NumPy's errors."""
    f = FUNCTIONS[name]
    for x in OPERANDS:
        plain, ours = outcome(f, x, order), outcome(f, [x], order)
        if isinstance(plain, type):
            assert isinstance(ours, type)
            assert issubclass(ours, plain)
        else:
            assert ours == plain


@pytest.mark.parametrize("place", [0, -1, np.int64(1), np.array(1), (1,)], ids=repr)
def test_items_are_found_by_integers(place):
    x = ROWS[0] + 1.0
    slope = pb.grad(lambda x: x.item(place) ** 2)(x)
    expected = np.zeros(3)
    expected[place] = 2 * x[place]
    np.testing.assert_array_equal(slope, expected)
    assert pb.grad(lambda x: x.item(np.argmax(x)))(x)[2] == 1.0


@pytest.mark.parametrize("place", [None, True, [0], np.array([0, 1]), "a", 1.0], ids=repr)
def test_items_are_found_by_nothing_else(place):
    """A list gave an array, and None the whole one."""
    with pytest.raises(TypeError):
        ROWS[0].item(place)
    with pytest.raises(TypeError):
        pb.grad(lambda x: np.sum(x.item(place)))(ROWS[0])
