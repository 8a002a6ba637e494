"""Keywords that NumPy refuses are refused under a derivative; others give NumPy's values."""

import warnings

import numpy as np
import pytest

import pullback as pb
from pullback.core.array import Array
from pullback.core.errors import PullbackError
from pullback.core.tree import flatten, unflatten
from pullback.testing import differentiable
from tests.budgets import in_turn
from tests.laws.common import groups
from tests.samples import plainly

KEYWORDS = {
    "axis": [
        99, -99, "a", 1.0, True, np.int64(0), np.array(0), np.array([0, 1]), [0], (0, 0), (0,), (),
        (True,), None,
    ],
    "keepdims": [True, 1, 0, 2, "x", None, np.True_, np.array(True)],
    "where": [True, None],
    "initial": [0.0, None, "a", 1],
    "order": ["F", "f", "Q", 3, None],
    "decimals": [1, 1.5],
    "ddof": [0, 1, 5, 0.5],
}  # fmt: skip
FAMILIES = {
    "reductions", "statistics", "nanfunctions", "cumulative", "joining", "sorting", "queries",
    "quantiles", "elementwise", "parts", "special", "linalg",
}  # fmt: skip
# What NumPy does with keywords that it passes on by chance.
OTHERWISE = {
    ("linspace", "axis"), ("logspace", "axis"), ("cov", "ddof"), ("corrcoef", "ddof"),
    ("prod", "initial"), ("sinc", "order"), ("pinv", "axis"),
}  # fmt: skip


def call_of(sample, keyword, value):
    """The call as a function of its floating arguments, and these."""
    leaves, structure = flatten(list(sample.args))
    at = [i for i, x in enumerate(leaves) if differentiable(x)]

    def call(*xs):
        given = list(leaves)
        for i, x in zip(at, xs, strict=True):
            given[i] = x
        options = {**sample.kwargs, keyword: value}
        return flatten(sample.fun(*unflatten(structure, given), **options))[0]

    return call, [np.array(leaves[i])[()] for i in at]


def outcome(f):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # NumPy's, of odd numbers
        try:
            return f()
        except Exception as error:
            return error


def traced(call, xs):
    found = []
    pb.vjp(lambda *xs: found.append(call(*xs)) or xs[0], *xs)
    return [x.numpy() if type(x) is Array else x for x in found[0]]


def alike(a, b):
    """Whether results are equal; of other last bits `test_bits` asks."""
    a, b = np.asarray(a), np.asarray(b)
    if (a.shape, a.dtype) != (b.shape, b.dtype):
        return False
    if a.dtype.kind not in "fc":
        return np.array_equal(a, b)
    tolerance = 1e3 * np.finfo(a.dtype).eps
    return np.allclose(a, b, tolerance, tolerance, equal_nan=True)


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_keywords(keyword):
    answered, wrong, asked = [], [], 0
    for name, pairs in groups().items():
        family, sample = pairs[0]
        function = name.partition("-")[2]
        if family not in FAMILIES or (function, keyword) in OTHERWISE or sample.name:
            continue
        if keyword == "where" and family in ("elementwise", "parts", "special"):
            continue  # what is left out is undefined
        for value in KEYWORDS[keyword]:
            case = f"{name} {keyword}={value!r}"
            if not in_turn(case, 8 if keyword == "axis" else 3):
                continue
            call, xs = call_of(sample, keyword, value)
            if not xs:
                continue
            with plainly():
                right = outcome(lambda call=call, xs=xs: call(*xs))
            found = outcome(lambda call=call, xs=xs: traced(call, xs))
            asked += 1
            if isinstance(right, Exception):
                answered += [] if isinstance(found, Exception) else [case]
            elif isinstance(found, Exception):
                wrong += [] if isinstance(found, (PullbackError, TypeError, ValueError)) else [case]
            elif len(found) != len(right) or not all(map(alike, found, right)):
                wrong.append(case)
    assert not answered
    assert not wrong
    assert asked > 50
