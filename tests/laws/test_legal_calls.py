"""Calls that NumPy answers, in spellings that are seldom used.

By names of operands, with an axis in a tuple, with truth values of other types.
"""

import inspect

import numpy as np
import pytest

import pullback as pb

A, B = np.array([[0.2, 0.5, 0.9], [0.4, 0.3, 0.1]]), np.array([[0.2, 0.6, 0.9], [0.4, 0.1, 0.1]])
PAIRS = [np.isclose, np.allclose, np.array_equal, np.array_equiv]
POSITIONS = [np.argmax, np.argmin, np.nanargmax, np.nanargmin]
UFUNCS = [x for x in vars(np).values() if isinstance(x, np.ufunc) and (x.nin, x.nout) == (2, 1)]


@pytest.mark.parametrize("f", PAIRS, ids=lambda f: f.__name__)
def test_operands_have_numpys_names(f):
    first, second = list(inspect.signature(f).parameters)[:2]
    for a, b in [(A, B), (A, A), (A, 0.2)]:
        right = f(a, b)
        live = pb.array(a)
        np.testing.assert_array_equal(np.asarray(f(live, **{second: b})), right)
        np.testing.assert_array_equal(np.asarray(f(**{first: live, second: b})), right)
    with pytest.raises(TypeError):
        f(pb.array(A))


@pytest.mark.parametrize("f", POSITIONS, ids=lambda f: f.__name__)
def test_positions_keep_dimensions_for_any_truth_value(f):
    for kept in (np.True_, np.False_, 1, 0, 1.0, None):
        for axis in (None, 0):
            right = f(A, axis=axis, keepdims=kept)
            found = np.asarray(f(pb.array(A), axis=axis, keepdims=kept))
            np.testing.assert_array_equal(found, right)
            assert found.shape == np.shape(right)


def test_accumulations_take_an_axis_in_a_tuple():
    asked = 0
    for ufunc in UFUNCS:
        for axis in ((0,), (1,), (-1,)):
            try:
                right = ufunc.accumulate(A, axis=axis)
            except (TypeError, ValueError, RuntimeError):
                continue
            found = np.asarray(ufunc.accumulate(pb.array(A), axis=axis))
            np.testing.assert_allclose(found, right, rtol=1e-14)
            asked += 1
    assert asked > 30
