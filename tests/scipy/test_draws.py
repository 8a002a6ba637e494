"""Solvers that draw random numbers: under `vmap` each example draws what a call of its own does."""

import numpy as np
import pytest
from scipy import cluster, optimize, sparse, stats
from scipy.sparse import linalg

import pullback as pb

X = np.array([1.2, 2.9, 0.8, 3.3, 2.1, 4.6, 1.7, 2.4])
EXAMPLES = np.stack([X, X * 1.05, X + 0.03 * np.cos(X)])
OTHER = X[::-1] * 0.7 + np.sin(X)


def table(x):
    return np.outer(x, x) + np.sin(np.outer(x, x) * 3)


def wavy(x):
    return lambda z: np.sum((z - x[:2]) ** 2) + np.cos(5 * z[0])


BOX = [(-4.0, 4.0)] * 2
PROGRAMS = {
    "assignment": lambda x, rng: optimize.quadratic_assignment(
        table(x), np.abs(table(x[::-1])), method="2opt", options={"rng": rng}
    ).fun,
    "start": lambda x, rng: optimize.quadratic_assignment(
        table(x), np.abs(table(x[::-1])), options={"rng": rng, "P0": "randomized"}
    ).fun,
    "evolution": lambda x, rng: optimize.differential_evolution(
        wavy(x), BOX, rng=rng, tol=0.5, popsize=3, polish=False
    ).fun,
    "annealing": lambda x, rng: optimize.dual_annealing(wavy(x), BOX, rng=rng, maxiter=4).fun,
    "basins": lambda x, rng: optimize.basinhopping(wavy(x), [1.0, 1.0], rng=rng, niter=2).fun,
    "means": lambda x, rng: cluster.vq.kmeans(np.stack([x, OTHER], 1), 2, rng=rng)[0],
    "centres": lambda x, rng: cluster.vq.kmeans2(
        np.stack([x, OTHER], 1), 2, minit="++", rng=rng
    )[0],
    "box": lambda x, rng: stats.multivariate_normal.cdf(x[:4], cov=np.eye(4) + 0.2, rng=rng),
    "box of t": lambda x, rng: stats.multivariate_t.cdf(
        x[:3], shape=np.eye(3) + 0.2, df=4, random_state=rng
    ),
    "pairs": lambda x, rng: linalg.eigsh(sparse.csr_array(np.diag(x) + 0.1), k=2, rng=rng)[0],
    "resampled": lambda x, rng: stats.pearsonr(x, OTHER).confidence_interval(
        method=stats.BootstrapMethod(n_resamples=9, rng=rng)
    ).low,
}  # fmt: skip


@pytest.mark.share(4)
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_example_draws_alike(name):
    """A generator that the program has made gives each example the same numbers."""
    f = lambda x: PROGRAMS[name](x, np.random.default_rng(2))
    total = lambda x: np.sum(f(x))
    np.testing.assert_array_equal(pb.vjp(f, X)[0], f(X))
    np.testing.assert_allclose(pb.vmap(f)(EXAMPLES), [f(x) for x in EXAMPLES], rtol=1e-12)
    slopes = [pb.grad(total)(x) for x in EXAMPLES]
    np.testing.assert_allclose(pb.vmap(pb.grad(total))(EXAMPLES), slopes, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_what_is_drawn_afterwards(make):
    """It's the same as in a loop, or an error where examples drew a different number of times."""

    def equally(x):
        rng = make(2)
        return stats.multivariate_normal.cdf(x[:4], cov=np.eye(4), rng=rng) + rng.normal(x[0])

    def unequally(x):
        rng = make(2)
        given = {"seed" if make is np.random.RandomState else "rng": rng}
        first = optimize.differential_evolution(wavy(x), BOX, tol=0.1, popsize=3, **given).fun
        return first + rng.normal(x[0])

    found = pb.vmap(equally)(EXAMPLES)
    np.testing.assert_allclose(found, [equally(x) for x in EXAMPLES], rtol=1e-12)
    with pytest.raises(pb.ArgumentError, match="more random numbers for one example"):
        pb.vmap(unequally)(np.stack([X, X[::-1], -X]))


UNSEEDED = {
    "evolution": lambda x: (
        optimize.differential_evolution(wavy(x), BOX, tol=0.5, popsize=3, polish=False).fun
    ),
    "annealing": lambda x: optimize.dual_annealing(wavy(x), BOX, maxiter=4).fun,
    "basins": lambda x: optimize.basinhopping(wavy(x), [1.0, 1.0], niter=2).fun,
    "means": lambda x: cluster.vq.kmeans(np.stack([x, OTHER], 1), 2)[0].sum(),
    "centres": lambda x: cluster.vq.kmeans2(np.stack([x, OTHER], 1), 2)[0].sum(),
}


@pytest.mark.filterwarnings("ignore:The NumPy global RNG was seeded")
@pytest.mark.share(2)
@pytest.mark.parametrize("name", UNSEEDED)
def test_draws_from_the_global_generator(name):
    """Without a seed SciPy draws from it: for each example what `np.random.seed` has fixed."""
    f = UNSEEDED[name]
    examples = np.stack([X, X])  # which draw as often
    np.random.seed(3)
    expected, state = f(X), np.random.get_state()[1:3]
    np.random.seed(3)
    found = pb.vmap(f)(examples)
    np.testing.assert_allclose(found, [expected, expected], rtol=1e-12)
    np.testing.assert_array_equal(np.random.get_state()[1], state[0])
    assert np.random.get_state()[2] == state[1]


@pytest.mark.filterwarnings("ignore:The NumPy global RNG was seeded")
def test_the_global_generator_is_used_afterwards():
    f = lambda x: optimize.differential_evolution(wavy(x), BOX, tol=0.1, popsize=3).fun
    np.random.seed(3)
    with pytest.raises(pb.ArgumentError, match="more random numbers for one example"):
        pb.vmap(f)(np.stack([X, X[::-1], -X]))
