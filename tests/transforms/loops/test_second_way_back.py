"""A gradient around the gradient of a loop that waits: one path for every number of steps."""

import numpy as np
import pytest

import pullback as pb
from pullback.transforms.loops.second_way_back import is_symmetric
from pullback.transforms.loops.while_primitive import While, WhilePull

pytestmark = pytest.mark.filterwarnings("ignore::pullback.LostDerivativeWarning")

W = np.array([[0.3, -0.2], [0.1, 0.4]])


def root(a, x):
    """Newton's method: what is wanted in the end is not what the inner gradient is taken of."""
    return pb.while_loop(lambda y: abs(y * y - a * x) > 1e-13, lambda y: (y + a * x / y) / 2, a + x)


def equilibrium(a, x):
    """Vectors, and a carry that the test alone reads."""
    v = x * np.array([1.0, 0.4]) * x

    def step(c):
        z = np.tanh(W @ c[0] * a + v)
        return z, np.max(np.abs(z - c[0]))

    z, _ = pb.while_loop(lambda c: c[1] > 1e-12, step, (v, np.float64(1.0)))
    return np.sum(z * v)


def bounded(a, x):
    """Kinks, choices, and a carry that does not move."""
    body = lambda c: (
        np.where(c[0] > 0.4, c[0] * a * 0.6, np.maximum(c[0], 0.1 * x) * x),
        c[1] + c[0] * c[2] * x,
        c[2] * 0.9,
    )
    y, s, _ = pb.while_loop(lambda c: c[2] > 0.2, body, (x, a * x, np.float64(1.0)))
    return y * y + np.sin(s)


def nested(a, x):
    """A loop in each step."""

    def inner(y):
        step = lambda z: z - (z**3 - y * a) / (3 * z * z)
        return pb.while_loop(lambda z: abs(z**3 - y * a) > 1e-12, step, y + 1.0)

    return pb.while_loop(lambda y: y < 3.0, lambda y: y + 0.2 * inner(y) * x, 1.0 + 0.1 * x)


PROGRAMS = [root, equilibrium, bounded, nested]


def slope_squared(f):
    return lambda a, x: pb.grad(f, 1)(a, x) ** 2 * a


TWICE = {
    "what else it reads": lambda f: pb.grad(slope_squared(f)),
    "the same": lambda f: pb.grad(lambda x, a: slope_squared(f)(a, x)),
    "both": lambda f: pb.grad(lambda p: slope_squared(f)(p[0], p[1]) * p[0]),
    "mixed": lambda f: pb.grad(lambda a, x: pb.grad(f)(a, x) + pb.grad(f, 1)(a, x), (0, 1)),
}


@pytest.mark.share(12)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("what", TWICE)
def test_it_is_the_derivative_for_every_number_of_steps(f, what):
    plain = TWICE[what](f)
    fast = pb.compile(plain, wait=True)
    for k in range(6):
        a, x = np.float64(1.0 + 0.17 * k), np.float64(0.7 + 0.05 * k)
        given = (a, x)
        if what == "both":
            given = (np.array([a, x]),)
        got, want = fast(*given), plain(*given)
        for g, w in zip(np.atleast_1d(got), np.atleast_1d(want), strict=True):
            np.testing.assert_allclose(g, w, rtol=1e-7, atol=1e-9)
    assert fast.refusal is None


@pytest.mark.share(4)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_no_number_of_steps_is_asked_for(f):
    fast = pb.compile(pb.grad(slope_squared(f), (0, 1)), wait=True)
    calls = [(np.float64(1.0 + 0.3 * k), np.float64(0.5 + 0.1 * k)) for k in range(8)]
    for call in calls:
        fast(*call)
    paths = [path for entry in fast.entries.values() for path in entry.paths]
    assert not [guard for path in paths for guard in path.guards if guard.asked == "int(x)"]
    assert fast.cache_info().misses <= 2


def test_rules_of_the_users_own_are_not_taken_to_be_symmetric():
    """A rule that is no derivative keeps what it says: the steps are counted."""

    @pb.custom_vjp
    def through(y, a):
        return np.round(y * 8) / 8 + 0.0 * a

    through.defvjp(
        lambda y, a: (through(y, a), (y, a)), lambda kept, bar: (bar * kept[1] ** 2, 0 * bar)
    )

    def f(a, x):
        return pb.while_loop(lambda y: y < 3.0, lambda y: through(y, a) * 1.2 + 0.2 * x, x)

    plain = pb.grad(slope_squared(f), (0, 1))
    fast = pb.compile(plain, wait=True)
    for k in range(4):
        given = np.float64(0.9 + 0.03 * k), np.float64(0.7 + 0.2 * k)
        np.testing.assert_allclose(fast(*given), plain(*given), rtol=1e-9)


def test_what_is_symmetric():
    spec = np.float64(0.3)
    loops = []

    def f(x):
        graph, _ = pb.testing.staged(lambda x: root(x, x), [x])
        loops.extend(e.primitive for e in graph.equations)
        return x

    f(spec)
    (loop,) = [p for p in loops if isinstance(p, While)]
    assert is_symmetric(loop.body)
    _, back = loop.way_back([True] * (loop.n_consts + loop.n_carry))
    assert isinstance(back, WhilePull)
    assert back.moving is not None
