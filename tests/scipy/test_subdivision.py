"""Integrals that the library computes itself, of functions that jump where nothing says so."""

import random

import numpy as np
import pytest

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
