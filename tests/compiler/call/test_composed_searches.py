"""What machine code repeats inside a transformation warns of lost derivatives as the function does.

The function is recorded where its derivative is not missed, so that only repetitions can say it.
"""

import itertools
import os

import numpy as np
import pytest

import pullback as pb
from tests.core.test_lost_searches import HANDED_ON, MODES, QUIET, SEARCHES, warned

FILES = "test_lost_searches.py", "test_composed_searches.py"  # the branch, or the call of a loop


def recorded(f, x):
    """f compiled, and recorded inside `grad`, in a product that has a derivative."""
    fast = pb.compile(f, wait=True)
    warned(lambda: pb.grad(lambda x: np.sum(fast(x) * x))(x))
    return fast


def test_a_repeated_search_warns():
    silent = []
    for (name, search), (way, hand_on) in zip(
        SEARCHES.items(), itertools.cycle(HANDED_ON.items()), strict=False
    ):
        fast = recorded(lambda x, s=search, h=hand_on: h(s(x), x), 3.0)
        hits = fast.cache_info().hits
        for mode, ask in MODES.items():
            out, messages = warned(lambda ask=ask, f=fast: ask(f))
            assert out == 0.0
            if len(messages) != 1 or os.path.basename(messages[0][1]) not in FILES:
                silent.append((name, way, mode, messages))
        # `int` of a Python float raises where it is not finite, and is left to Python.
        in_python = fast.refusal is not None or any(e.python for e in fast.entries.values())
        assert fast.cache_info().hits > hits or in_python, name
    assert not silent, (len(silent), silent[:5])


@pytest.mark.share(2)
@pytest.mark.parametrize("name", QUIET)
def test_what_carries_the_derivative_is_quiet(name):
    f, x = QUIET[name]
    fast = recorded(f, x)
    for ask in (pb.grad(fast), lambda x: pb.jvp(fast, (x,), (x * 0 + 1.0,))):
        assert warned(lambda ask=ask: ask(x))[1] == []
