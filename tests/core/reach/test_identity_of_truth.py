"""`x is True` and `case True` ask what `if x` asks: right in every transformation, or refused.

Every way to have a truth value, of Python's and of NumPy's, is asked in every way; a compiled
function is called with the same answer twice, and then with the other.
"""

import itertools
import warnings

import numpy as np
import pytest

import pullback as pb
from pullback.core.errors import ConversionError

TRUTHS = [
    "float(x) > 0", "x.item() > 0", "not float(x) < 0", "math.isinf(1e300 * 1e10 * float(x))",
    "math.isclose(x, 0.5)", "float(x).is_integer()", "bool(x > 0)", "np.allclose(x, 0.5)",
    "np.array_equal(x, 0.5)", "0 < float(x) < 1", "x > 0", "np.any(x > 0)", "np.isfinite(x)",
    "np.all(x != 0.5)", "np.logical_not(x > 0)", "x.any()", "(x > 0) & (x < 1)",
]  # fmt: skip
ASKS = [
    "{} is True", "{} is False", "{} is not True", "{} is not False", "{} is np.True_",
    "{} is not np.False_", "{} is True_", "{} is None", "{} is yes", "yes is not {}",
    "{} is (float(x) > -1)", "{} is (x > -1)", "{} is (None if x < 9 else None)",
    "operator.is_({}, True)", "operator.is_not({}, np.True_)", "equal(yes, {})",
    "any(map(operator.is_, [{}], [np.True_]))", "list(filter(partial(equal, True), [{}]))",
    "id({}) == id(True)",
]  # fmt: skip
HEAD = """
import math
import operator
from functools import partial
import numpy as np
from numpy import True_
yes, equal = True, operator.is_


"""
MATCHING = "def f(x):\n    match {}:\n        case True: return 2.0 * x\n        case False: return 3.0 * x\n    return 5.0 * x\n"  # noqa: E501  # program text
CHOOSING = "def f(x):\n    return 2.0 * x if {} else 3.0 * x\n"
SOURCES = [MATCHING.format(truth) for truth in TRUTHS] + [
    CHOOSING.format(ask.format(f"({truth})")) for truth, ask in itertools.product(TRUTHS, ASKS)
]
XS = np.array([0.5, -1.5, 2.0])


def program(source):
    scope = {}
    exec(HEAD + source, scope)
    return scope["f"]


def loud(call):
    try:
        return call()
    except ConversionError:
        return None


@pytest.mark.parametrize("source", SOURCES)
def test_mapped_or_refused(source):
    f = program(source)
    for g in (f, pb.grad(f)):
        out = loud(lambda g=g: pb.vmap(g)(XS))
        assert out is None or out.tolist() == [g(x) for x in XS], source


@pytest.mark.share(4)
@pytest.mark.parametrize("source", SOURCES)
def test_compiled(source):
    f = program(source)
    fast = pb.compile(f, wait=True)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*falls back to Python")
        for x in (-1.5, -1.5, 0.5, -1.5, 2.0):
            x = np.float64(x)
            assert fast(x) == f(x), source
