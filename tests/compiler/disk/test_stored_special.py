"""Functions of scipy.special on disk: a later process finds them by the ufuncs they stand for."""

import numpy as np
import pytest
from scipy import special

import pullback as pb
from pullback.compiler.disk import records
from tests.background import idle

pytestmark = pytest.mark.disk
PROGRAMS = {
    "by elements": lambda x: special.gammaln(x) + special.expit(x) * special.xlogy(x, 2.0),
    "gradient": pb.grad(lambda x: np.sum(special.ndtr(x) * special.jv(1.5, x))),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_later_process_repeats_it(name, monkeypatch):
    f, x = PROGRAMS[name], np.array([0.4, 1.3])
    first = pb.compile(f)
    for _ in range(3):
        first(x)
    idle()
    assert first.cache_info().misses == 1
    monkeypatch.setattr(records, "WRITTEN", set())
    second = pb.compile(f)
    np.testing.assert_array_equal(second(x), first(x))
    assert second.cache_info().misses == 0
