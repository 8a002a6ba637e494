"""Ordinary programs compiled: the values and gradients that they have uncompiled."""

import copy
import warnings

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.call.compiled import compile
from tests.test_programs import PROGRAMS

# Rounding may differ where a number is computed by the other of two ways, in the last digits.
CLOSE = {"rtol": 1e-12, "atol": 1e-14}


def run(f, calls):
    outs = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some fall back to Python
        for args in calls:
            try:
                outs.append(f(*copy.deepcopy(args)))
            except Exception as error:
                outs.append(type(error))
    return outs


def same(actual, expected):
    assert len(actual) == len(expected)
    for a, b in zip(actual, expected, strict=True):
        if isinstance(b, type):
            assert a is b
            continue
        xs, ys = [pb.core.tree.flatten(x)[0] for x in (a, b)]
        for x, y in zip(xs, ys, strict=True):
            assert type(x) is type(y)
            assert np.shape(x) == np.shape(y)
            assert np.asarray(x).dtype == np.asarray(y).dtype
            np.testing.assert_allclose(x, y, **CLOSE)


def moved(args, t):
    return tuple([x * (1 + t) if np.asarray(x).dtype.kind == "f" else x for x in args])


@pytest.mark.share(4)
@pytest.mark.parametrize("name", PROGRAMS)
def test_value(name):
    fun, args = PROGRAMS[name]
    calls = [args, args, moved(args, 1e-3), moved(args, -0.2), args, moved(args, 1e-3)]
    same(run(compile(fun), calls), run(fun, calls))


@pytest.mark.share(4)
@pytest.mark.parametrize("name", PROGRAMS)
def test_gradient(name):
    fun, args = PROGRAMS[name]
    gradient = pb.grad(lambda *args: np.sum(fun(*args)), tuple(range(len(args))))
    calls = [args, args, moved(args, 1e-3), args]
    same(run(compile(gradient), calls), run(gradient, calls))
