"""Sums that Python computes exactly, or with what it rounded away, keep their values."""

import math
import random
import statistics

import numpy as np
import pytest

import pullback as pb

WEIGHTS = [1.0, 2.0, 0.5, 3.0]


def summed(values):
    return sum(values)


def summed_from_one(values):
    return sum(values, start=1)


def summed_with_integers(values):
    return sum([3, *values[:2], 7, *values[2:]])


def about(name):
    function = getattr(statistics, name)
    return lambda values: function(values, values[0])


SUMS = [summed, summed_from_one, summed_with_integers, math.fsum, statistics.mean]
SUMS += [statistics.variance, statistics.pvariance, statistics.stdev, statistics.pstdev]
SUMS += [about(name) for name in ("variance", "pvariance", "stdev", "pstdev")]
POSITIVE = [
    statistics.harmonic_mean,
    lambda values: statistics.harmonic_mean(values, WEIGHTS),
    lambda values: statistics.harmonic_mean(WEIGHTS, values),
]
ASKING = [  # `NormalDist` compares its standard deviation with zero, which `vmap` refuses
    lambda values: statistics.NormalDist(*values[:2]).inv_cdf(0.2),
    lambda values: statistics.NormalDist.from_samples(values).stdev,
]
if hasattr(math, "sumprod"):
    SUMS.append(lambda values: math.sumprod(values, [2.0, *values[1:]]))


def lists(seed, positive):
    """Four numbers, of which large ones cancel nearly or exactly."""
    draw = random.Random(seed)
    values = [draw.gauss(0, 1) * 10.0 ** draw.randint(-6, 12) for _ in range(4)]
    values[draw.randrange(1, 4)] = -values[0] * draw.choice([1.0, 1.0 + 1e-15])
    return [abs(x) for x in values] if positive else values


def ways(f):
    """f of Python floats, as transformations compute it."""
    yield "grad", lambda xs: pb.value_and_grad(f)(xs)[0]
    yield "jvp", lambda xs: pb.jvp(f, (xs,), ([1.0] * len(xs),))[0]
    yield "hessian", lambda xs: pb.jvp(lambda z: pb.value_and_grad(f)(z)[0], (xs,), (xs,))[0]
    if f not in ASKING:
        of_floats = lambda xs: f([float(x) for x in xs])
        yield "vmap", lambda xs: pb.vmap(of_floats)([np.array([x, 1.0]) for x in xs])[0]
    compiled = pb.compile(pb.value_and_grad(f), wait=True)
    yield "compiled", lambda xs: [compiled(xs)[0] for _ in range(3)][-1]


@pytest.mark.share(2)
@pytest.mark.parametrize("positive", [False, True])
def test_values_are_python_s(positive):
    different = []
    for i, f in enumerate(POSITIVE + ASKING if positive else SUMS):
        for way, run in ways(f):
            for seed in range(6):
                xs = lists(seed, positive)
                if f(xs) != float(run(xs)):
                    different.append((i, way, seed, f(xs), float(run(xs))))
    assert not different


def test_derivatives_are_those_of_the_formulas():
    xs = [0.7, 1.9, 1.2, 0.4]
    for f in SUMS + POSITIVE + ASKING:
        pb.testing.check_grads(lambda x, f=f: np.float64(1.0) * f(list(x)), (np.array(xs),))
    assert pb.grad(statistics.stdev)([2.0, 2.0]) == [0.0, 0.0]  # as `np.std` has it


def test_errors_are_python_s():
    for f, xs in [
        (statistics.variance, [1.0]),
        (statistics.harmonic_mean, [1.0, -2.0]),
        (statistics.mean, []),
    ]:
        with pytest.raises(statistics.StatisticsError):
            pb.grad(lambda y, f=f, xs=xs: f([*xs[1:], y]))(xs[0]) if xs else pb.grad(f)(xs)


def test_numpys_numbers_stay_numpys():
    x = np.array([1.0, 2.5], dtype=np.float32)
    seen = []
    pb.grad(lambda x: seen.append(statistics.mean(x)) or seen[-1])(x)
    assert seen[0].dtype == np.asarray(statistics.mean(x)).dtype
