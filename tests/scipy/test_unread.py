"""What solvers return whose length differs from call to call counts where it is read."""

import warnings

import numpy as np
import pytest
from scipy import integrate, interpolate, stats
from scipy.integrate import solve_ivp

import pullback as pb
from tests.budgets import asked

PRECISE = {"rtol": 1e-8, "atol": 1e-10}
FALLS = [0.4, 0.41, 0.45, 3.0, 1.7, 0.3]  # each takes another number of steps


def oscillation(k, **options):
    rhs = lambda t, y: [y[1], -y[0] * (1 + y[0] ** 2) - k * y[1]]
    return solve_ivp(rhs, (0, 4), [1.5, 0.0], **PRECISE, **options)


def paths_and_errors(f, points):
    """How many recordings f has in the end, and the largest difference from Python's results."""
    fast = pb.compile(f, wait=True)
    worst = 0.0
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*falls back to Python")
        for x in points:
            here = np.max(np.abs(np.asarray(fast(x)) - np.asarray(f(x))))
            worst = max(worst, here)
    return fast.cache_info().paths, worst


# Of any number of steps.
ANY = {
    "last": lambda s: s.y[:, -1],
    "last of a row": lambda s: s.y[0][-1] * s.t[-1],
    "turned": lambda s: s.y.T[-1] + s.y.T[0],
    "unpacked": lambda s: (lambda x, v: x[-1] + v[-3:].sum())(*s.y),
    "largest": lambda s: s.y[0].max() - np.min(s.y[1]),
    "mean": lambda s: s.y.mean(axis=1),
    "area": lambda s: np.trapezoid(s.y[0] ** 2, s.t),
    "steps": lambda s: np.sum(np.diff(s.t) * s.y[1, 1:]),
    "dense": lambda s: s.sol(np.array([0.5, 1.5])).ravel(),
    "tuple": lambda s: (lambda rows: rows[0][-1] * rows[1][-1])(list(s.y)),
    "length of rows": lambda s: s.y[0, -1] / len(s.y),
    "norm": lambda s: np.sqrt(np.sum(s.y**2, axis=0)).max(),
    "kind": lambda s: s.y[0, -1] * (s.y.ndim + isinstance(s.t, np.ndarray)),
}
# Of one number of steps.
ONE = {
    "count": lambda s: s.y[0, -1] / len(s.t),
    "shape": lambda s: s.y[0, -1] * s.y.shape[1],
    "crossing": lambda s: s.t[np.argmax(s.y[0] < 0.5)],
    "loop": lambda s: sum(s.y[0, i] for i in range(s.t.size)),
    "elements": lambda s: sum(x * x for x in s.y[0]),
    "middle": lambda s: s.y[0, s.t.size // 2],
    "zip": lambda s: sum(t * x for t, x in zip(s.t, s.y[1], strict=True)),
    "copied": lambda s: np.array(s.y)[0] @ np.linspace(0, 1, len(s.t)),
    "assigned": lambda s: (lambda y: (y.__setitem__(0, 2.0 * y[1]), y.sum())[1])(s.y[0]),
    "listed": lambda s: np.sum(np.array([s.t, s.y[0]])),
}


@pytest.mark.share(2)
@pytest.mark.parametrize("name", asked({**ANY, **ONE}, 3, "unread"))
def test_reads(name):
    """Right for each number of steps, and by few recordings where it isn't asked for."""
    read = {**ANY, **ONE}[name]
    paths, error = paths_and_errors(lambda k: read(oscillation(k, dense_output=True)), FALLS)
    assert error < 1e-12
    assert (paths <= 2) == (name in ANY), paths


@pytest.mark.share(8)
@pytest.mark.parametrize("name", ["last", "largest", "area", "dense", "shape"])
def test_derivatives(name):
    read = {**ANY, **ONE}[name]
    grad = pb.grad(lambda k: np.sum(read(oscillation(k, dense_output=name == "dense"))))
    paths, error = paths_and_errors(grad, FALLS[:4])
    assert error < 1e-11
    assert (paths <= 2) == (name in ANY)


@pytest.mark.share(2)
def test_ends_by_events():
    """The end of a phase that an event stops, from which the next begins."""

    def fall(k):
        low = lambda t, y: y[0] - 0.3
        low.terminal = True
        first = oscillation(k, events=low)
        again = solve_ivp(lambda t, y: -k * y, (0, 1), first.y[:, -1], **PRECISE)
        return first.t[-1] + again.y[1, -1] * first.t_events[0][0]

    for f in (fall, pb.grad(fall)):
        paths, error = paths_and_errors(f, FALLS[:4])
        assert error < 1e-11
        assert paths <= 3  # one of them with room for more steps in the derivative of the second
    np.testing.assert_allclose(pb.vmap(fall)(np.array(FALLS)), list(map(fall, FALLS)), rtol=1e-12)
    slopes = pb.vmap(pb.grad(fall))(np.array(FALLS))
    np.testing.assert_allclose(slopes, list(map(pb.grad(fall), FALLS)), rtol=1e-9)


def test_meshes():
    """A boundary value problem whose mesh differs, under `vmap`; read as a whole it is refused."""

    def pellet(k):
        return integrate.solve_bvp(
            lambda x, y: np.vstack((y[1], k * y[0] ** 2)),
            lambda a, b: np.array([a[1], b[0] - 1]),
            np.linspace(0, 1, 5),
            np.ones((2, 5)),
            tol=1e-7,
        )

    many = np.array([0.1, 1.0, 20.0])
    for read in (lambda s: s.sol(0.3)[0] + s.y[0, 0], lambda s: s.y[1, -1] * len(s.y)):
        f = lambda k, read=read: read(pellet(k))
        np.testing.assert_allclose(pb.vmap(f)(many), list(map(f, many)), rtol=1e-12)
        slopes = list(map(pb.grad(f), many))
        np.testing.assert_allclose(pb.vmap(pb.grad(f))(many), slopes, rtol=1e-9)
    with pytest.raises(pb.ConversionError, match="differ in shape"):
        pb.vmap(lambda k: pellet(k).y[0] * 2)(many)


AROUND = {
    "forward": lambda f: lambda k: pb.jvp(f, (k,), (1.0,))[1],
    "second": lambda f: pb.grad(pb.grad(f)),
    "mapped": lambda f: lambda k: pb.vmap(f)(k * np.array([1.0, 1.2])),
}


@pytest.mark.share(12)
@pytest.mark.parametrize(
    ("name", "around"),
    [
        ("last", "mapped"),  # examples of different lengths have no other read in common
        *((n, a) for n in ("last", "largest", "count") for a in ("forward", "second")),
    ],
)
def test_transformed(name, around):
    """Where derivatives are taken around the recording, parts carry them as well."""
    read = {**ANY, **ONE}[name]
    g = AROUND[around](lambda k: np.sum(read(oscillation(k))) * k)
    assert paths_and_errors(g, FALLS[:3])[1] < 1e-9


@pytest.mark.parametrize("way", ["event", "dense"])
def test_second_derivatives_at_times_that_move(way):
    """y' = -y, z' = y z is at t = k where y is e^-k: z = exp(1 - e^-k)."""

    def fall(k):
        low = lambda t, y: y[0] - np.exp(-k)
        low.terminal = way == "event"
        s = solve_ivp(
            lambda t, y: [-y[0], y[0] * y[1]], (0, 3), [1.0, 1.0],
            events=low, dense_output=True, rtol=1e-8, atol=1e-10,
        )  # fmt: skip
        return s.y[1, -1] if way == "event" else s.sol(k)[1]

    for k in (0.7, 1.3):
        a = np.exp(-k)
        expected = np.exp(1 - a) * (a * a - a)
        for second in (pb.grad(pb.grad(fall))(k), pb.jvp(pb.grad(fall), (k,), (1.0,))[1]):
            np.testing.assert_allclose(second, expected, rtol=1e-8)


def test_draws_nothing():
    """The normal distribution of two variables has a formula; of three, SciPy draws numbers."""
    frozen = lambda r: stats.multivariate_normal(cov=np.array([[1.0, r], [r, 1.0]])).cdf(
        [0.3, -0.2]
    )
    named = lambda r: stats.multivariate_normal.cdf([0.3, r], [0.0, 0.1], [[1, r], [r, 1]])
    points = [0.1, 0.2, 0.3, 0.4]
    for f in (frozen, named):
        for g in (f, pb.grad(f)):
            paths, error = paths_and_errors(g, points)
            assert 1 <= paths <= 2
            assert error < 1e-12
    three = lambda r: stats.multivariate_normal.cdf(np.ones(3) * r, np.zeros(3), np.eye(3) + 0.2)
    fast = pb.compile(three, wait=True)
    with pytest.warns(RuntimeWarning, match="falls back to Python: it calls"):
        fast(0.1)


def test_attributes_of_objects_for_each_example():
    x = np.linspace(0, 4, 12)
    f = lambda a, s: interpolate.make_splrep(x, np.sin(x) + a * np.cos(7 * x), s=s)(2.2)
    many, rough = np.array([0.05, 0.06]), np.array([0.01, 0.011])
    np.testing.assert_allclose(pb.vmap(f)(many, rough), list(map(f, many, rough)), rtol=1e-12)


def test_rules_of_gauss_have_their_bits():
    for rule in (np.polynomial.legendre.leggauss, np.polynomial.hermite_e.hermegauss):
        found = pb.vjp(lambda k, rule=rule: np.stack(rule(9)) + 0 * k, 1.0)[0]
        np.testing.assert_array_equal(found, np.stack(rule(9)))


def pellet(phi):
    """A boundary value problem whose mesh SciPy refines to another length for each phi."""
    x = np.linspace(0, 1, 11)
    return integrate.solve_bvp(
        lambda x, y: np.vstack((y[1], phi**2 * y[0] ** 1.5)),
        lambda a, b: np.array([a[1], b[0] - 1]),
        x,
        np.ones((2, x.size)),
        tol=1e-6,
    )


@pytest.mark.share(2)
@pytest.mark.parametrize(
    "read", [lambda s: s.y[1, -1], lambda s: s.sol(1.0)[1] * s.sol(0.3)[0]], ids=["y", "sol"]
)
def test_meshes_of_any_length_are_one_path(read):
    f = lambda phi: read(pellet(phi))
    points = [1.3, 1.6, 2.0, 2.6]
    assert len({pellet(phi).x.size for phi in points}) > 2
    for g in (f, pb.grad(f)):
        paths, error = paths_and_errors(g, points)
        assert paths <= 2
        assert error < 1e-10


def test_nodes_that_depend_on_others_are_a_path_for_each_mesh():
    """Their mean is no function of a node, so that other meshes aren't asked about in parts."""

    def f(k):
        x = np.linspace(0, 1, 11)
        found = integrate.solve_bvp(
            lambda x, y: np.vstack((y[1], k * y[0] * (1 + 0.01 * y[0].mean()))),
            lambda a, b: np.array([a[1], b[0] - 1]),
            x,
            np.ones((2, x.size)),
            tol=1e-6,
        )
        return found.y[1, -1]

    assert paths_and_errors(f, [1.3, 1.9, 2.5])[1] < 1e-10


def beam(k, length, bend):
    """A problem whose interval and nodes move."""
    part = np.linspace(0, 1, 9)
    x = 0.1 + (length - 0.1) * part + bend * np.sin(np.pi * part)
    return integrate.solve_bvp(
        lambda x, y: np.vstack((y[1], k * y[0] ** 1.25 + 0.1 * x)),
        lambda a, b: np.array([a[0] - 1, b[1] + 0.3 * b[0]]),
        x,
        np.ones((2, 9)),
        tol=1e-9,
    )


@pytest.mark.parametrize(
    "read", [lambda s: s.y[1, 0] * s.x[-1], lambda s: s.sol(0.5 * s.x[-1])[0]], ids=["y", "sol"]
)
def test_ends_of_a_mesh_move(read):
    """SciPy's nodes move with those that it was given; their motion was lost in silence."""
    f, at, h = lambda *args: read(beam(*args)), np.array([1.8, 1.2, 0.02]), 1e-3
    slopes = pb.grad(f, (0, 1, 2))(*at)
    for slope, e in zip(slopes, np.eye(3), strict=True):
        near, far = [(f(*at + n * h * e) - f(*at - n * h * e)) / (2 * n * h) for n in (1, 2)]
        np.testing.assert_allclose(slope, (4 * near - far) / 3, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(pb.jvp(f, tuple(at), (0.0, 1.0, 0.0))[1], slopes[1], rtol=1e-10)
