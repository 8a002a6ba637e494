"""Integrals that the library computes itself, of functions that jump where nothing says so."""

import random
from contextlib import nullcontext, suppress

import numpy as np
import pytest
from scipy import integrate

import pullback as pb
from pullback.scipy.integration.subdivision import adaptive

from ..budgets import TURN


@pytest.mark.share(2)
@pytest.mark.parametrize("parts", [1, 3])
def test_no_jump_is_missed(parts):
    """Also one between the last point of an interval and its end, which no sum of points sees."""
    draw = random.Random(TURN)
    for _ in range(60):
        places = sorted(draw.uniform(0.004, 0.996) for _ in range(parts))
        ends = [0.0, *places, 1.0]

        def steps(u, places=places):
            k = np.searchsorted(places, u)
            return np.stack([np.cos(k + u), u * 0.0], axis=-1)

        exact = sum(np.sin(k + ends[k + 1]) - np.sin(k + ends[k]) for k in range(parts + 1))
        found = adaptive(steps)
        assert found == pytest.approx([exact, 0.0], abs=1e-9), places


RINGS = {
    "angle": lambda r, d, p: (
        2 * r * np.arccos(np.clip((r * r + d * d - p * p) / (2 * r * d), -1, 1))
    ),
    "chord": lambda r, d, p: 2 * np.sqrt(np.maximum(p * p - (r - d) ** 2, 0.0)),
}


@pytest.mark.share(3)
@pytest.mark.parametrize("name", RINGS)
def test_slopes_that_are_infinite_at_limits(name):
    """A disc by its rings or chords: next to the limits, an argument may be rounded to 1 or 0."""
    draw, f = random.Random(TURN), RINGS[name]

    def area(p, d):
        return integrate.quad(lambda r: f(r, d, p), d - p, d + p)[0]

    drawn = [(d, d * draw.uniform(0.05, 0.9)) for d in [draw.uniform(0.3, 2.0) for _ in range(6)]]
    for k, (d, p) in enumerate([(0.5, 0.06638940957447788), (0.5, 0.056396691809428794), *drawn]):
        exact = pytest.approx(2 * np.pi * p, rel=1e-6)
        with suppress(pb.MissingRuleError) if k > 1 else nullcontext():  # it may be told as a jump
            assert pb.grad(area)(p, d) == exact, (d, p)
        if k in (0, 2):
            with suppress(pb.MissingRuleError):
                found = pb.vmap(pb.grad(area), (0, None))(np.array([p, 0.8 * p]), d)
                assert found[0] == exact, (d, p)
                assert found[1] == pytest.approx(1.6 * np.pi * p, rel=1e-6), (d, p)
