"""A `for` that a test leaves is one loop in the record, whichever step it is left in."""

import itertools

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.record.loop_tests import tests_in as questions_in


def left_by_break(x, a):
    total = 0.0
    for _ in range(200):
        x = 0.8 * x
        total = total + np.sum(x)
        if np.linalg.norm(x) < a:
            break
    return x, total


def first_step_apart(x, a, most=200):
    p = None
    for step in range(most):
        if np.sqrt(np.dot(x, x)) < a:
            return x, 0
        p = 0.5 * p + x if step > 0 else x.copy()
        x -= 0.3 * p
    return x, most


def several_ways_out(x, a):
    y = x * 0.5
    for k in range(100):
        if np.max(np.abs(x)) < a:
            return x, y
        y = 0.9 * y
        if k != 0:
            y = y + 0.01 * x
        if np.sum(y * y) < a:
            x = 2.0 * x
            return x, y
        x = 0.7 * x
    else:
        x = x * 0.0
    return x, y


def condition_of_each_step(x, a):
    """What leads back into the loop is no way out."""
    for _ in range(30):
        if np.sum(x) < a:
            x = x + 0.75
        x = 0.9 * x
        if x[0] > 4.0 * a:
            break
    return x


def counted(x, a):
    """The number of the step is read elsewhere."""
    for k in range(40):
        x = (0.9 - 0.001 * k) * x
        if np.sum(x * x) < a:
            break
    return x, k


def limit_changed(x, a):
    n = 40
    for _ in range(n):
        n = n - 1
        x = 0.9 * x
        if np.sum(x * x) < a:
            break
    return x * n


def within_a_while(x, a):
    while np.sum(x) > 3.0:
        for _ in range(50):
            x = 0.95 * x
            if np.sum(x) < 3.5:
                break
        x = x - 0.1
    return x


def from_a_view(x, a):
    part = x[1:]
    for _ in range(60):
        part = part * 0.9
        x = x + 0.01 * part[0]
        if np.sum(part) < a:
            break
    return x, part


PROGRAMS = [
    left_by_break, first_step_apart, several_ways_out, condition_of_each_step, counted,
    limit_changed, within_a_while, from_a_view,
]  # fmt: skip
FOLDED = {left_by_break: 1, first_step_apart: 1, several_ways_out: 2, from_a_view: 1}


def cases():
    rng = np.random.default_rng(5)
    sizes = itertools.product([1.0, 4.0, 30.0], [0.2, 1.0, 0.01])
    return [(size * (0.5 + rng.random(3)), np.float64(a)) for size, a in sizes]


def same(a, b):
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and np.allclose(a, b, rtol=1e-13, atol=1e-300)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_steps_are_those_of_python(program):
    """Inputs that leave the loop in other steps and by other tests."""
    fast = pb.compile(program, wait=True)
    for x, a in [*cases(), *cases()[::-1]]:
        assert same(program(x.copy(), a), fast(x.copy(), a)), (x, a)
    if program in FOLDED:
        long = [fast(x.copy(), a) for x, a in cases() if a < 1 and x[0] > 2]
        assert long
        assert fast.refusal is None
        paths = [path for entry in fast.entries.values() for path in entry.paths]
        assert min(len(path.recording.graph.equations) for path in paths) < 60


def test_recordings_stand_for_every_number_of_steps():
    fast = pb.compile(first_step_apart, wait=True)
    for size in np.linspace(20.0, 80.0, 25):
        x = np.array([1.0, -2.0, 3.0]) * size
        assert same(first_step_apart(x.copy(), np.float64(1e-6)), fast(x.copy(), np.float64(1e-6)))
    assert fast.cache_info().paths == 1


def test_the_end_of_a_range_is_a_path_of_its_own():
    fast = pb.compile(lambda x, a: first_step_apart(x, a, 12), wait=True)
    for size in (1e3, 20.0, 1e9, 3.0, 1e9, 20.0):
        x = np.array([1.0, -2.0, 3.0]) * size
        a = np.float64(0.5)
        assert same(first_step_apart(x.copy(), a, 12), fast(x.copy(), a)), size


def test_gradients_go_through():
    slope = pb.grad(lambda x, a: np.sum(left_by_break(x, a)[0] ** 2))
    fast = pb.compile(slope, wait=True)
    for x, a in cases():
        np.testing.assert_allclose(fast(x, a), slope(x, a), rtol=1e-12)


def test_which_questions_leave_a_loop():
    assert questions_in(condition_of_each_step.__code__)  # the second one
    assert not [t for t in questions_in(counted.__code__).values() if t.counter]
    assert not [t for t in questions_in(limit_changed.__code__).values() if t.counter]
