"""What a recording keeps of plain arrays lies in memory as they do: last bits go by that."""

import numpy as np
import pytest
from scipy import optimize

import pullback as pb
from pullback.testing import staged

RNG = np.random.default_rng(5)
A = RNG.standard_normal((8, 5))
LAYOUTS = {
    "rows": A.copy(),
    "columns": np.asfortranarray(A),
    "transposed": np.ascontiguousarray(A.T).T,
    "three axes": np.asfortranarray(RNG.standard_normal((8, 5, 3)))[..., 0],
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_products_have_the_bits_of_numpy(name):
    matrix = LAYOUTS[name]
    graph, _ = staged(lambda x: matrix @ x, (np.ones(5),))
    for x in RNG.standard_normal((20, 5)):
        (out,) = graph.evaluate(x)
        np.testing.assert_array_equal(out, matrix @ x)


def test_a_search_ends_where_it_ended():
    """A minimum found by comparisons moves far if its function moves by a last bit."""
    matrix, y = np.asfortranarray(A), RNG.standard_normal(8)

    def lowest(noise):
        def score(x):
            return np.sum((y - matrix @ (x * np.arange(1.0, 6.0))) ** 2) + noise * np.cosh(x)

        return optimize.minimize_scalar(score).x

    fast = pb.compile(lowest, wait=True)
    for noise in (0.02, 0.03, 0.05):
        assert fast(noise) == lowest(noise)
    assert fast.cache_info().hits
