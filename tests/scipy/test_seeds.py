"""Random numbers of SciPy's, compiled: constants where the call itself gives the seed."""

import warnings

import numpy as np
import pytest
from scipy import optimize, stats

import pullback as pb

AT = np.array([0.1, 0.5, 0.7, 0.9])
VALUES = (0.7, 0.71, 0.71, 0.5, 0.5)
SHARED = [None]


def searched(x, **options):
    """After one generation, which shows which numbers were drawn."""
    bumps = lambda z: (z[0] - x) ** 2 + np.cos(5 * z[0])
    options |= {"maxiter": 1, "popsize": 3, "polish": False}
    return optimize.differential_evolution(bumps, [(-3, 3)], **options).x[0]


def shared_within(x):
    """A function with a seed calls one of the user's, which draws from elsewhere."""
    noise = lambda z: (z[0] - x) ** 2 + stats.norm.rvs(random_state=SHARED[0])
    return optimize.basinhopping(noise, [0.3], niter=1, rng=1).fun


def twice(x, sampler):
    """Points of an object, and those that follow them."""
    return x * np.sum(sampler.random(3) * stats.qmc.scale(sampler.random(3), -x, [1.0, 2.0]))


GIVEN = {
    "number": lambda x: searched(x, rng=1),
    "number, by its older name": lambda x: searched(x, seed=1),
    "annealing": lambda x: optimize.dual_annealing(
        lambda z: (z[0] - x) ** 2, [(-3, 3)], rng=1, maxiter=5
    ).x[0],
    "draws of a law": lambda x: stats.norm.rvs(x, size=3, random_state=0).sum(),
    "of a frozen one": lambda x: stats.norm(x).rvs(3, np.random.default_rng(2)).sum(),
    "of vectors": lambda x: stats.multivariate_normal.rvs([x, 0.0], np.eye(2), 3, 1).sum(),
    "of a kernel density": lambda x: x * stats.gaussian_kde(AT).resample(4, seed=1).sum(),
    "Sobol's points": lambda x: x * stats.qmc.Sobol(2, seed=7).random_base2(3).sum(),
    "points twice of one": lambda x: twice(x, stats.qmc.LatinHypercube(2, rng=3)),
    "Halton's points": lambda x: (
        x * stats.qmc.Halton(2, rng=np.random.default_rng(5)).random(4).sum()
    ),
    "normal points": lambda x: x * stats.qmc.MultivariateNormalQMC([0.0], rng=2).random(4).sum(),
    "bootstrap": lambda x: (
        stats.bootstrap(
            (AT * x,), np.mean, n_resamples=9, rng=np.random.default_rng(4)
        ).standard_error
    ),
}
OTHERS = {
    "points of the program's generator": lambda x: (
        x * stats.qmc.Halton(2, rng=SHARED[0]).random(4).sum()
    ),
    "generator of the program's": lambda x: searched(x, rng=SHARED[0]),
    "generator of the call's, which a solver takes": lambda x: searched(
        x, rng=np.random.default_rng(3)
    ),
    "draws from outside": lambda x: stats.norm.rvs(x, size=3, random_state=SHARED[0]).sum(),
    "draws from NumPy's state": lambda x: stats.norm.rvs(x, size=3).sum(),
    "bootstrap from outside": lambda x: (
        stats.bootstrap((AT * x,), np.mean, n_resamples=9, rng=SHARED[0]).standard_error
    ),
    "within another": shared_within,
}


def results(f):
    """Those of several calls, from the same state of all generators."""
    SHARED[0] = np.random.default_rng(3)
    np.random.seed(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return [f(x) for x in VALUES]


@pytest.mark.share(4)
@pytest.mark.parametrize("name", [*GIVEN, *OTHERS])
def test_the_numbers_are_those_of_plain_calls(name):
    f = GIVEN.get(name) or OTHERS[name]
    converges = name in GIVEN and not name.startswith("number")
    for g in (f, pb.grad(f)) if converges else (f,):
        fast = pb.compile(lambda x, g=g: g(x), wait=True)
        np.testing.assert_allclose(results(fast), results(g), rtol=1e-12)
        assert (fast.refusal is None) == (name in GIVEN)
