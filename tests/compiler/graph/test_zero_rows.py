"""Jacobians are computed by their rows that are not zero, and nothing else changes by that."""

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.graph.zero_rows import without_zero_rows
from pullback.compiler.loops.roll import looped
from pullback.testing import staged

ANGLES = np.linspace(0.1, 1.3, 12)
POINTS = np.random.default_rng(0).standard_normal((3, 1200))
WEIGHTS = np.random.default_rng(1).standard_normal((12, 1200))


def turn(a):
    c, s, o = np.cos(a), np.sin(a), 0 * a
    return np.stack([np.stack([c, -s, o]), np.stack([s, c, o]), np.stack([o, o, o + 1])])


def chains(angles, points, weights):
    """Points that are moved by three chains of four joints."""
    moved = 0.0
    for k in range(0, 12, 4):
        pose = np.eye(3)
        for i in range(k, k + 4):
            pose = pose @ turn(angles[i])
            moved = moved + (pose @ points) * weights[i]
    return moved


def waves(angles, points, weights):
    """Of each angle its own part, joined."""
    parts = [np.sin(angles[i]) * weights[i] - points[0] * angles[i] for i in range(12)]
    return np.concatenate([np.stack(parts[:6], axis=0), np.stack(parts[6:], axis=0)])


def pairs(angles, points, weights):
    """Products of neighbours, of each sign."""
    out = 0.0
    for i in range(11):
        out = out - (angles[i] * angles[i + 1] + 1.0) * (weights[i] * points - points)
    return out.T


def choices(angles, points, weights):
    """Quotients, which are NaN where the weights are zero, sums and choices."""
    first = [angles[i] * points / weights[i] for i in range(6)]
    last = [np.where(points > angles[i], angles[i + 6] * points, first[i]) for i in range(6)]
    return np.stack([x - x.sum(axis=1)[:, None] for x in last])


def maxima(angles, points, weights):
    """Ends in an operation that does not go by rows."""
    return np.stack([np.sort(angles[i] * points) * angles[i] for i in range(6)])


PROGRAMS = {f.__name__: f for f in (chains, waves, pairs, choices, maxima)}
BY_ROWS = {"chains", "waves", "pairs", "choices"}
ARGUMENTS = {
    "finite": (ANGLES, POINTS, WEIGHTS),
    "infinite points": (ANGLES, np.where(POINTS > 2, np.inf, POINTS), WEIGHTS),
    "a weight that is NaN": (ANGLES, POINTS, np.where(WEIGHTS > 3, np.nan, WEIGHTS)),
    "an infinite angle": (np.where(ANGLES > 1.2, np.inf, ANGLES), POINTS, WEIGHTS),
    "zeros": (0 * ANGLES, POINTS, -0.0 * WEIGHTS),
}


def graph_of(f, *args):
    return looped(staged(f, list(args))[0])


def bits(x):
    """With the signs of zeros; one NaN is as good as another."""
    return np.where(np.isnan(x), np.nan, x), np.signbit(np.where(np.isnan(x), 0.0, x))


@pytest.mark.share(2)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", PROGRAMS)
def test_jacobians_are_those_of_eager(name):
    """Zeros with their signs, and NaN where a zero met what is not finite."""
    jacobian = pb.jacobian(PROGRAMS[name], mode="forward")
    assert without_zero_rows(graph_of(jacobian, *ARGUMENTS["finite"]))[1] is (name in BY_ROWS)
    fast = pb.compile(jacobian, wait=True)
    for kind, args in [*ARGUMENTS.items()] * 2:
        expected, found = jacobian(*args), fast(*args)
        for one, other in zip(bits(expected), bits(found), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13, err_msg=kind)
    assert fast.refusal is None


@pytest.mark.share(6)
def test_second_derivatives():
    def nested(angles):
        few = POINTS[:, :40], WEIGHTS[:, :40]
        return pb.jacobian(lambda a: chains(a, *few), mode="forward")(angles)

    second = pb.jacobian(nested, mode="forward")
    fast = pb.compile(second, wait=True)
    for _ in range(2):
        np.testing.assert_allclose(fast(ANGLES), second(ANGLES), atol=1e-13)


def test_zeros_of_other_programs_keep_their_signs():
    """What is multiplied by rows of zeros has the sign of the product, so it stays as it was."""
    rows = np.eye(16)[:, 3]

    def f(x):
        return (rows[:, None] * x) * 2.0 - 0.0

    x = -np.abs(np.random.default_rng(0).standard_normal((16, 10_000)))
    graph, changed = without_zero_rows(graph_of(f, x))
    assert not changed
    assert np.signbit(graph.evaluate(x)[0]).all()
    fast = pb.compile(f, wait=True)
    for _ in range(3):
        assert np.signbit(fast(x)).all()


def test_short_programs_stay_as_they_are():
    """What saves little is not worth more code."""
    jacobian = pb.jacobian(lambda a: chains(a, POINTS[:, :5], WEIGHTS[:, :5]), mode="forward")
    assert not without_zero_rows(graph_of(jacobian, ANGLES))[1]
