"""Densities and distribution functions of scipy.stats against a table of mpmath's.

At ordinary, extreme and degenerate places, by the argument and by every shape. A derivative may be
wrong by 1e-9 of itself, or by ten times what SciPy's own value is wrong by at that place.
"""

from collections import Counter

import numpy as np
import pytest
from scipy import stats

import pullback as pb
from tests.conftest import LONG
from tests.distribution_derivatives import places_by_name, slopes


def missed(name, places):
    """[(shapes, x, method, operand, derivative, as it should be)], and how many were refused."""
    wrong, refused, count = [], 0, 0
    dist = getattr(stats, name)
    for shapes, x, rows in places:
        for method, (own, derivatives) in slopes(name, shapes, x, rows).items():
            at = [i for i, v in enumerate(derivatives) if v is not None]
            if not np.isfinite(own) or own >= 1:  # SciPy's value has no digits
                continue
            try:
                found = pb.grad(getattr(dist, method), tuple(at))(x, *shapes)
            except pb.PullbackError:
                refused += len(at)
                continue
            for i, value in zip(at, found, strict=True):
                right, count = derivatives[i], count + 1
                limit = max(1e-9, 10 * own) * abs(right) + 1e-290
                if not abs(value - right) <= limit:
                    wrong.append((shapes, x, method, i, float(value), float(right)))
    return wrong, refused, count


@pytest.mark.filterwarnings("ignore::pullback.LostDerivativeWarning")
def test_derivatives_are_those_of_mpmath():
    """Of every sixth place; `make test-long` takes all."""
    refused, total, failures = Counter(), 0, {}
    with np.errstate(all="ignore"):
        for name, places in places_by_name().items():
            wrong, refused[name], count = missed(name, places if LONG else places[::6])
            total += count
            if wrong:
                failures[name] = wrong
    assert not failures
    assert not +refused
    assert total > (15_000 if LONG else 2_200)
