import copy
import warnings

import numpy as np

from pullback.compiler.compiled import compile
from pullback.core.tree import flatten
from pullback.testing import close, precision
from tests.laws.common import for_all_samples


def check_compiled_calls(sample):
    """A compiled function gives what the function gives: when it is recorded, and repeated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = call(sample.fun, sample)
        fast = compile(sample.fun)
        for _ in range(3):
            actual = call(fast, sample)
            assert len(actual) == len(expected)
            for x, y in zip(actual, expected, strict=True):
                if isinstance(y, np.ndarray | np.generic) and y.dtype.kind in "fc":
                    assert (x.dtype, x.shape) == (y.dtype, y.shape)
                    close(x, y, 500 * precision([y]), "compiled against plain")
                elif isinstance(y, type):
                    assert x is y
                else:
                    np.testing.assert_array_equal(x, y)


def call(f, sample):
    try:
        return flatten([f(*copy.deepcopy(sample.args), **sample.kwargs)])[0]
    except TypeError as error:  # a Python float has no x[()]
        return [type(error)]


test_compiled_calls = for_all_samples(check_compiled_calls)
