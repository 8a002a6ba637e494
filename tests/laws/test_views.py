import re

import numpy as np
import pytest

import pullback as pb
from pullback.core.array import Array
from pullback.core.storage import root_of
from pullback.core.tree import flatten, tree_map
from tests.budgets import asked
from tests.laws.common import for_all_samples

# How an array lies: `make` makes an Array, or an array, of what it is a view of.
LAYOUTS = {
    "whole": lambda x, make: make(x),
    "reversed": lambda x, make: make(x[..., ::-1])[..., ::-1],
    "columns": lambda x, make: make(np.stack([x, x], -1))[..., 0],
    "transposed": lambda x, make: make(x.T).T,
}


def check_views(sample):
    """A result is a view of an argument, for assignment, where NumPy's shares memory with it.

    It is the argument itself where NumPy's is, so that its shape may be set.
    Where NumPy refuses an argument for how it lies, as without a copy, ours does.
    """
    if hasattr(sample.fun, "serves"):
        return
    for layout in ("whole", *asked(list(LAYOUTS)[1:], 3, str(sample))):
        check_views_of(sample, LAYOUTS[layout])


def check_views_of(sample, layout):
    xs = tree_map(lambda x: plain(x, layout), sample.args)
    ys = tree_map(lambda x: traced(x, layout), sample.args)
    try:
        outs = leaves(sample.fun(*xs, **sample.kwargs))
    except ValueError as error:
        with pytest.raises(ValueError, match=re.escape(str(error))):
            sample.fun(*ys, **sample.kwargs)
        return
    mine = leaves(sample.fun(*ys, **sample.kwargs))
    for a, b in zip(outs, mine, strict=True):
        for x, y in zip(leaves(xs), leaves(ys), strict=True):
            if type(y) is Array and type(a) is np.ndarray and a.size:
                viewed = type(b) is Array and root_of(b) is root_of(y)
                assert viewed == np.shares_memory(a, x)
                assert type(b) is not Array or (b is y) == (a is x)


def plain(x, layout):
    """An array on memory of its own, a float as a scalar."""
    if type(x) is np.ndarray:
        return layout(x, np.array) if x.ndim else np.array(x)
    return np.float64(x) if type(x) is float else x


def traced(x, layout):
    if type(x) is not np.ndarray or not x.size:
        return plain(x, layout)
    return layout(x, pb.numpy.array) if x.ndim else pb.numpy.array(x)


def leaves(tree):
    return flatten(tuple(tree) if isinstance(tree, list) else tree)[0]


test_views = for_all_samples(check_views)
