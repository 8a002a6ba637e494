"""Constants of a program are told apart by their identity, also those that planning made."""

import numpy as np
from scipy import signal

import pullback as pb
from pullback.compiler.graph.optimise import optimised
from pullback.compiler.loops.roll import looped
from pullback.compiler.lower.plan import Plan


def test_constants_are_kept_while_they_are_known_by_identity():
    """A number that was freed would hand its place on to the next one in its memory."""

    def f(x):
        return np.sum(x[np.array([0, 2])] ** 2) + np.sum(x[np.array([1, 2])] ** 3)

    graph, _ = pb.testing.staged(pb.grad(f), (np.linspace(-1, 1, 5),))
    plan = Plan(looped(optimised(graph)))
    assert plan.constant_views
    assert plan.constant_views.keys() <= set(map(id, plan.held))


def test_a_filter_and_its_signal():
    """The gradient by a filter's edge was off: a zero that was scattered to was read as 2."""
    x, weights = np.sin(np.arange(12.0)), np.cos(np.arange(12.0))

    def f(x, edge):
        sos = signal.butter(3, [0.5 * edge, edge], btype="band", output="sos")
        return signal.sosfilt(sos, x) @ weights

    gradient = pb.grad(f, (0, 1))
    compiled = pb.compile(gradient, wait=True)
    for _ in range(3):
        for found, expected in zip(compiled(x, 0.3), gradient(x, 0.3), strict=True):
            np.testing.assert_allclose(found, expected, 1e-9, 1e-12)
