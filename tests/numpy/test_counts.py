"""Counts and axes that NumPy takes as floats or as arrays of no dimension, a traced call takes."""

import warnings
from copy import copy

import numpy as np

import pullback as pb
from pullback.core.tree import flatten
from tests.samples import collect, plainly


def variants(sample):
    """Its arguments with one Python int in another form."""
    for other in (float, np.array):
        for place, x in [*enumerate(sample.args), *sample.kwargs.items()]:
            if type(x) is int:
                args, kwargs = list(sample.args), dict(sample.kwargs)
                (args if type(place) is int else kwargs)[place] = other(x)
                yield args, kwargs


def values(sample, args, kwargs):
    kept = [copy(x) if np.shape(x) == () else x for x in args]  # np.rollaxis writes into them
    return [np.array(pb.stop_gradient(x)) for x in flatten(sample.fun(*kept, **kwargs))[0]]


def traced(sample, args, kwargs, place):
    found = []

    def f(x):
        found[:] = values(sample, [*args[:place], x, *args[place + 1 :]], kwargs)
        return np.sum(x)

    pb.grad(f)(args[place])
    return found


def test_counts_in_other_forms():
    tried, faults = 0, []
    for family, sample in collect("SAMPLES"):
        kinds = [str(getattr(x, "dtype", "")) for x in sample.args]
        if "float64" not in kinds:
            continue
        for args, kwargs in variants(sample):
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # NumPy's, of odd numbers
                try:
                    with plainly():
                        wanted = values(sample, args, kwargs)
                except Exception:  # NumPy does not take it
                    continue
                tried += 1
                try:
                    found = traced(sample, args, kwargs, kinds.index("float64"))
                    np.testing.assert_equal(len(found), len(wanted))
                    for x, y in zip(found, wanted, strict=True):
                        np.testing.assert_allclose(x, y, rtol=1e-9)
                except Exception as error:
                    faults.append(f"{family}: {sample}: {args} {kwargs}: {error}"[-300:])
    assert tried > 300
    assert not faults, "\n".join(faults)
