import numpy as np

import pullback as pb
from pullback.core.array import Array, root_of
from pullback.core.tree import flatten, tree_map
from tests.laws.common import for_all_samples


def check_views(sample):
    """A result is a view of an argument, for assignment, where NumPy's shares memory with it."""
    if hasattr(sample.fun, "serves"):
        return
    xs = tree_map(plain, sample.args)
    ys = tree_map(traced, xs)
    outs, mine = [leaves(sample.fun(*args, **sample.kwargs)) for args in (xs, ys)]
    for a, b in zip(outs, mine, strict=True):
        for x, y in zip(leaves(xs), leaves(ys), strict=True):
            if type(y) is Array and type(a) is np.ndarray and a.size:
                viewed = type(b) is Array and root_of(b) is root_of(y)
                assert viewed == np.shares_memory(a, x)


def plain(x):
    """An array on memory of its own, a float as a scalar."""
    return np.array(x) if type(x) is np.ndarray else np.float64(x) if type(x) is float else x


def traced(x):
    return pb.numpy.array(x) if type(x) is np.ndarray and x.size else x


def leaves(tree):
    return flatten(tuple(tree) if isinstance(tree, list) else tree)[0]


test_views = for_all_samples(check_views)
