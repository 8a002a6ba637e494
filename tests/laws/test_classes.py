"""Results are of NumPy's classes inside too: a number where NumPy has one, otherwise an array."""

import numpy as np

import pullback as pb
from pullback.testing import Problem
from tests.laws.common import OTHERS, for_all_samples
from tests.samples import collect

# Which of the two NumPy's einsum gives without axes hangs on the path that it takes.
PATHS = {str(s) for family, s in collect("SAMPLES") if family == "einsum" and "optimize" in str(s)}
UNMAPPED = {str(s) for what in ("UNMAPPED", "BY_EXAMPLE") for _, s in collect(what)}


def classes(results):
    """What `isinstance` sees of results; a Python int and float count as NumPy's."""
    return [
        np.asarray(x)[()].__class__ if type(x) in (int, float) else x.__class__ for x in results
    ]


def check_classes(sample):
    """Type checks of a result go under every transformation as they go without one."""
    problem = Problem(sample)
    xs = [x if np.ndim(x) else x[()] for x in problem.xs]
    dots = [np.zeros_like(x)[()] for x in xs]
    expected = classes(problem.results(*xs))

    def seen(*xs):
        found.append(classes(problem.results(*xs)))
        return xs

    found = []
    pb.vjp(seen, *xs)
    pb.jvp(seen, xs, dots)
    pb.vjp(lambda *xs: pb.jvp(seen, xs, dots), *xs)
    if xs and str(sample) not in UNMAPPED | PATHS:
        pb.vmap(seen)(*[np.stack([x, x]) for x in xs])
    assert all(kinds == expected for kinds in found), (found, expected)


test_classes = for_all_samples(check_classes, functions=4, shares=OTHERS)
