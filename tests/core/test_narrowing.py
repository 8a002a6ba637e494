"""Searches whose result has another path to the argument warn; what narrows rightly is quiet."""

import numpy as np
import pytest

import pullback as pb
from tests.budgets import asked
from tests.core.narrowing_programs import KEPT, LOST, F, halved
from tests.core.test_lost_searches import warned

MODES = {
    "grad": lambda f, x: pb.grad(f)(x),
    "vjp": lambda f, x: pb.vjp(f, x)[1](1.0),
    "jvp": lambda f, x: pb.jvp(f, (x,), (x * 0 + 1.0,)),
    "linearize": lambda f, x: pb.linearize(f, x),
    "second": lambda f, x: pb.grad(lambda x: np.sum(pb.grad(lambda y: f(y))(x)))(x),
    "compiled": lambda f, x: pb.compile(pb.grad(f), wait=True)(x),
    "inside": lambda f, x: pb.grad(pb.compile(f, wait=True))(x),
}


@pytest.mark.parametrize("mode", MODES)
def test_a_search_with_another_path_warns(mode):
    silent = []
    for name, (f, x) in asked(LOST.items(), 3):
        messages = warned(lambda f=f, x=x: MODES[mode](f, x))[1]
        if not any("is incomplete" in text for text, _ in messages):
            silent.append(name)
    assert not silent


@pytest.mark.share(2)
@pytest.mark.parametrize("mode", MODES)
def test_what_narrows_rightly_is_quiet(mode):
    loud = [
        name
        for name, (f, x) in asked(KEPT.items(), 3)
        if warned(lambda f=f, x=x: MODES[mode](f, x))[1]
    ]
    assert not loud


def test_the_warning_names_the_comparison():
    with pytest.warns(pb.LostDerivativeWarning, match=r"programs\.py:\d+: if f\(middle\) < 0\.0"):
        pb.grad(lambda x: halved(lambda y: F(y, x), 0.0, 5.0) * x)(3.0)


def test_mapped_searches_warn():
    """A search by `np.where` of all examples at once, within `vmap` and around it."""
    f, x = LOST["where, ends scale"]
    xs = np.stack([x, 1.1 * x])
    for call in (
        lambda: pb.vmap(pb.grad(f))(xs),
        lambda: pb.grad(lambda z: pb.vmap(f)(z).sum())(xs),
    ):
        assert "is incomplete" in warned(call)[1][0][0]


def test_a_repeated_search_of_machine_code_warns_again():
    f, x = LOST["times x"]
    fast = pb.compile(f, wait=True)
    for _ in range(3):
        assert "is incomplete" in warned(lambda: pb.grad(fast)(x))[1][0][0]


def test_an_iteration_is_looked_at_no_more_once_it_is_known(monkeypatch):
    """Its lines are settled after a few calls, so that a gradient costs what it did."""
    from pullback.core.narrowing import Approach

    looks = []
    look = Approach.look
    monkeypatch.setattr(
        Approach, "look", lambda self, *args: (looks.append(1), look(self, *args))[1]
    )
    f, x = KEPT["newton from afar"]
    for _ in range(12):
        pb.grad(f)(x)
    known = len(looks)
    pb.grad(f)(x)
    assert len(looks) == known
