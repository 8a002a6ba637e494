"""A `while` of Python's is one loop in the record where its state says so, and exact elsewhere."""

import faulthandler
import itertools
import signal

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.record import while_loops
from tests.budgets import LONG, asked
from tests.compiler.call.while_programs import differences, differences_of


def newton(a):
    x = a
    while abs(x * x - a) > 1e-12:
        x = (x + a / x) / 2
    return x


def decay(x, tol):
    y = np.ones(3) * x
    while np.sum(y * y) > tol:
        y = y - 0.1 * y * x
    return y.sum()


def started_with_constants(a):
    x, step = np.array([1.0, 1.0]), 1.0
    while np.sum(x) < 40 + a:
        x = x + step * a
        step = 0.5 + 0.1 * x[0] / a
    return np.sum(x) * step


def nested(a):
    total = a * 0
    while total < 10:
        x = a
        while x > 0.1:
            x = x * 0.5
        total = total + 1 + x
    return total


def inner_gradient(a):
    def f(x):
        return np.sum((x - a) ** 2 + np.cos(x))

    slope = pb.grad(f)
    x = np.zeros(2)
    g = slope(x)
    while np.sum(g * g) > 1e-12:
        x = x - 0.3 * g
        g = slope(x)
    return np.sum(x * x)


def handed_on(a):
    """Values that began alike go from local to local."""
    f3 = f2 = f1 = a * 1.0
    x = a
    while x < 20:
        new = 0.1 * x + 1
        x = x + f3
        f3, f2, f1 = f2, f1, new
    return x


def swapped(a):
    x, y = a, a + 1
    while x + y < 30:
        x, y = y, x + 1
    return x - 2 * y


def counted(a):
    x, n = a, 0
    while x < 100:
        x, n = x * 1.5, n + 1
    return x + n


def branching(a):
    x = a
    while x < 100:
        x = x * 2 if x < 20 else x + 7
    return x


def remembered(a):
    x, seen = a, []
    while x < 100:
        x = x * 1.5
        seen.append(x)
    return sum(seen)


def from_an_iterator(a):
    x, numbers = a, itertools.cycle([1.0, 2.0, 3.0])
    while x < 30:
        x = x + next(numbers)
    return x


def under_an_iterator(a):
    x = a
    for _ in itertools.repeat(None, 3):
        while x > 1:
            x = x - 1
        x = x + 2.5
    return x


def left_early(a):
    x, n = a, 0
    while x < 100:
        x = x * 1.5
        n += 1
        if n == 6:
            break
    return x


def with_an_object(a):
    class Counter:
        n = 0

    counter, x = Counter(), a
    while x < 100:
        counter.n += 1
        x = x * 1.3
    return x * counter.n


def with_a_closure(a):
    n = 0

    def count():
        nonlocal n
        n += 1

    x = a
    while x < 100:
        count()
        x = x * 1.3
    return x * n


def kept_elsewhere(a):
    box, x = {"x": a}, a
    while x < 100:
        x = x * 1.3
        box["x"] = x * 2
    return box["x"]


def assigned_in_place(a):
    x = np.zeros(3) + a
    while np.sum(x) < 50:
        x[1:] = x[:-1] + 0.5
        x[0] += 1.0
    return x[2] * x[1]


SCALARS = [0.3, 0.9, 1.7, 2.5, 4.0, 6.5, 9.0, 11.0]
ONE_PATH = [newton, nested, swapped, started_with_constants, kept_elsewhere]
EXACT = [
    handed_on, counted, branching, remembered, from_an_iterator, under_an_iterator, left_early,
    with_an_object, with_a_closure, assigned_in_place, inner_gradient,
]  # fmt: skip


def transformed(f):
    yield "value", f
    yield "gradient", pb.grad(f)
    yield "forward", lambda a: pb.jvp(f, (a,), (1.0,))[1]


@pytest.mark.share(4)
@pytest.mark.parametrize("f", [*ONE_PATH, *EXACT], ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore:.*falls back to Python")
def test_compiled_loops_are_those_of_python(f):
    """Whatever is recorded of a loop, other numbers of steps give Python's result."""
    wrong = []
    for what, g in transformed(f):
        fast = pb.compile(g, wait=True)
        for a in SCALARS:
            out, right = fast(np.float64(a)), g(np.float64(a))
            if not np.allclose(out, right, rtol=1e-12, atol=1e-12):
                wrong.append(f"{what} at {a}: {out}, not {right}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("f", ONE_PATH, ids=lambda f: f.__name__)
def test_one_record_stands_for_every_number_of_steps(f):
    """After a call with several steps, calls with as many or more or fewer record nothing."""
    for what, g in (("value", f), ("gradient", pb.grad(f))):
        fast = pb.compile(g, wait=True)
        for a in (3.3, 3.0, 2.2, 5.1, 7.3, 8.8):
            fast(np.float64(a))
        assert fast.cache_info().misses <= 2, what  # a second time for what is known by then


def test_two_arguments():
    fast = pb.compile(pb.grad(decay), wait=True)
    for x, tol in ((0.5, 1e-3), (0.8, 1e-4), (0.2, 1e-2), (1.5, 1e-6)):
        np.testing.assert_allclose(fast(x, tol), pb.grad(decay)(x, tol), rtol=1e-12)
    assert fast.cache_info().misses <= 2


@pytest.mark.share(2)
@pytest.mark.filterwarnings("ignore:.*falls back to Python")
def test_state_that_is_kept_in_any_way():
    """Programs put together at random, each compiled in one way more than as it is."""
    wrong = []
    for seed in asked(range(400 if LONG else 30), 3):
        wrong += differences(seed, None if LONG else [seed % 6], wait=seed % 5 > 0)
    assert not wrong, "\n".join(wrong)


# What is not random: each was wrong once. The lines before the loop, a step, and the result.
KEPT = {
    "the value of a constant array is that of the test": ("y = np.zeros(3)", "y[:] = x", "x + y"),
    "two locals become the same": ("y = x * 2", "y = x", "y"),
    "a value of before the loop": ("c = x * 3; y = x * 2", "y = c", "y"),
    "values that are swapped": ("a = x * 2; b = x * 3", "a, b = b, a", "a + x"),
    "a float without a step": ("y = 1.0", "y = y * x[0]", "y"),
    "the argument without a step": ("", "pass", "x"),
    "bound to a list": ("q = []; f = q.append; n = q.__len__; del q", "f(1)", "x * n()"),
    "bound to an object": ("o = Plain(0); f = o.bump; n = o.count; del o", "f()", "x * n()"),
    "partial": ("q = []; f = functools.partial(q.append, 1)", "f()", "x * len(q)"),
    "the key of a dict": ("d = {Key(): 0}", "for k in d: k.n += 1", "x * [k.n for k in d][0]"),
    "a list outside, empty again": (
        "q = OUTSIDE.q",
        "OUTSIDE.q.append(1)",
        "x * len(q), q.clear()",
    ),
    "one object, for a step": (
        "y = x * 1.0; p = y; s = 0.0",
        "y[0] += 1; s = s + p[0]; p = y * 1; y = y * 0.9",
        "y + s + p",
    ),
    "one object, without a step": ("x = x * 1.0; y = x", "pass", "x.__setitem__(0, 5.0), x, y"),
    "asked whether it is one": ("x = x * 1.0; y = x", "pass", "x + (1.0 if y is x else 2.0)"),
    "a large array": ("y = np.zeros(2000)", "y[7] += 1.0", "x + y[7]"),
    "a way back with elements": ("y = 1", "y = y * x[0]", "np.sum(x * y)"),
}


@pytest.mark.share(4)
@pytest.mark.filterwarnings("ignore:.*falls back to Python")
def test_state_that_was_missed():
    wrong = []
    for name, (before, step, result) in KEPT.items():
        text = f"def f(x):\n    {before}\n    while np.sum(x) < 100:\n        {step}\n"
        text += f"        x = x * 1.5\n    return {result}\n"
        wrong += [f"{name}: {x}" for x in differences_of(text, [0, 2], True, 1)]
    assert not wrong, "\n".join(wrong)


def test_an_argument_is_returned_as_it_is():
    def f(x):
        while np.sum(x) < 100:
            x = x * 1.5
        return x

    fast = pb.compile(f, wait=True)
    for scale in (3.0, 60.0, 200.0, 250.0):
        x = np.ones(3) * scale
        assert (fast(x) is x) == (f(x) is x), scale


@pytest.mark.parametrize("transform", [lambda f: f, pb.grad])
@pytest.mark.timeout(60)
def test_a_loop_makes_no_step_where_an_earlier_answer_differs(transform):
    """It would never end: the root of a negative number is looked for."""

    def f(a):
        if a < 0:
            return a * 2
        x = a
        while abs(x * x - a) > 1e-12 * a:
            x = (x + a / x) / 2
        return x

    def g(a):
        if a < 0:
            return a * 3
        return pb.while_loop(
            lambda x: abs(x * x - a) > 1e-12 * a, lambda x: (x + a / x) / 2, a * 1.0
        )

    for h in map(transform, (f, g)):
        fast = pb.compile(h, wait=True)
        for a in (3.0, 5.0, -2.0, 7.0, -3.0, 2.5):
            np.testing.assert_allclose(fast(np.float64(a)), h(np.float64(a)), rtol=1e-12)


def shifted(x):
    """What comes out of a row of ten is what went in ten steps before."""
    row = [x * 1.0] * 10
    while row[0] < 1000.0:
        row = [row[0] * 1.01 + 0.1, *row[:-1]]
    return row[9] * x


def descended(x):
    """Each step has a gradient, and the loop is differentiated."""

    def inner(y):
        while np.sum(y * y) > 1e-3:
            y = y - 0.002 * pb.grad(lambda v: np.sum(np.cosh(v)))(y)
        return np.sum(y)

    return pb.grad(inner)(x * 2.0)


def in_place(x):
    y, n = x * 1.0, x * 0.0
    while np.sum(y) > 1e-2:
        y *= 0.99
        n = n + y
    return n


@pytest.mark.share(2)
@pytest.mark.parametrize("wait", [True, False])
def test_a_loop_of_many_steps_is_done_without_python(monkeypatch, wait):
    """Some steps of each loop are recorded, however many follow, and what they give is exact."""
    looked = []
    first = while_loops.Visit
    monkeypatch.setattr(while_loops, "Visit", lambda *xs: looked.append(1) or first(*xs))
    for f, x in ((shifted, np.float64(0.5)), (descended, np.ones(2)), (decay_slowly, np.ones(2))):
        fast, expected = pb.compile(f, wait=wait), f(x)
        looked.clear()
        for scale in (1.0, 1.0, 3.0, 0.2, 1.5):
            np.testing.assert_allclose(fast(x * scale), f(x * scale), rtol=1e-9)
        fast.graph(x)
        np.testing.assert_allclose(fast(x), expected, rtol=1e-9)
        assert fast.refusal is None, f
        assert 0 < len(looked) < 150, f
    fast = pb.compile(in_place, wait=wait)
    for scale in (1.0, 2.0, 1.0, 0.5):
        np.testing.assert_allclose(fast(np.ones(2) * scale), in_place(np.ones(2) * scale))


def decay_slowly(x):
    y, total = x * 1.0, np.sum(x) * 0.0
    while np.sum(y * y) > 1e-4:
        y = y * 0.999
        total = total + np.sum(y)
    return total * y


def settled(x, least):
    while np.sum(x * x) > least:
        x = 0.5 * x + 0.1
    return np.sum(x)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="timers of POSIX")
@pytest.mark.parametrize("of", [lambda f: f, pb.grad], ids=["value", "gradient"])
def test_a_loop_that_never_ends_can_be_interrupted(of):
    fast = pb.compile(of(settled), wait=True)
    x, least = np.array([1.0, 2.0]), np.float64(0.1)
    for size in (1.0, 2.0, 8.0):
        fast(size * x, least)
    assert fast.cache_info().hits > 0

    def interrupt(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    faulthandler.dump_traceback_later(60, exit=True)  # else it would go on for ever
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            fast(x, np.float64(-1.0))
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.signal(signal.SIGALRM, before)
    np.testing.assert_allclose(fast(x, least), of(settled)(x, least))
