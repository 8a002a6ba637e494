"""Law: arrays that a function makes are taken wherever NumPy takes those from outside."""

import numpy as np

import pullback as pb
from pullback.core.reach.calls import call_inside
from pullback.core.tree import flatten, unflatten
from pullback.testing import Problem
from tests.laws.common import for_all_samples


def made(x):
    """What is not differentiated of an argument as constants: arrays, and lists of numbers."""
    if type(x) is np.ndarray and x.dtype.kind in "biufc":
        return pb.array(x)
    if type(x) is list and x and {*map(type, x)} <= {bool, int, float}:
        return pb.array(np.array(x))
    return type(x)(map(made, x)) if type(x) in (list, tuple) else x


def results(problem, xs, change):
    """The results of a sample in forward mode, as plain arrays."""
    found = []

    def f(*xs):
        leaves = list(problem.leaves)
        for i, x in zip(problem.positions, xs, strict=True):
            leaves[i] = x
        args = [change(arg) for arg in unflatten(problem.structure, leaves)]
        kwargs = {key: change(x) for key, x in problem.sample.kwargs.items()}
        outs = flatten(call_inside(problem.sample.fun, args, kwargs))[0]
        found.extend([x.numpy() if type(x) is pb.Array else x for x in outs])
        return xs[0] * 1.0

    pb.jvp(f, tuple(xs), tuple([np.ones_like(x) for x in xs]))
    return found


def law(sample):
    problem = Problem(sample)
    if not problem.xs:
        return
    outs = [results(problem, problem.xs, change) for change in (made, lambda x: x)]
    for out, expected in zip(*outs, strict=True):
        assert np.asarray(out).dtype == np.asarray(expected).dtype
        np.testing.assert_array_equal(out, expected)


test_made_inside = for_all_samples(law, functions=8, shares=4)
