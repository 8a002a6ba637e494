"""Calls of SciPy's under `vmap` that decide by values: made for each example, or refused."""

import heapq
import operator
import sys
from collections import deque
from functools import partial

import numpy as np
import pytest
from scipy import cluster, integrate, interpolate, ndimage, optimize, signal, sparse, spatial, stats
from scipy.sparse import linalg
from scipy.spatial import distance

import pullback as pb
from pullback.core.errors import ConversionError
from pullback.scipy.solving.by_example import again, apart
from pullback.scipy.solving.storing import stores

RNG = np.random.default_rng(3)
POINTS, HEIGHTS = RNG.uniform(size=(12, 2)), RNG.normal(size=12)
PLACES = RNG.uniform(0.35, 0.65, size=(3, 2))
PATTERN = (sparse.random(6, 6, 0.4, random_state=1) + 4 * sparse.eye(6)).tocsc()
NUMBERS, RIGHT = PATTERN.data, RNG.normal(size=6)


def array(numbers):
    return sparse.csc_array((numbers, PATTERN.indices, PATTERN.indptr), shape=(6, 6))


def surface(points, heights, places):
    """Points that move in each example, and heights that are the same for all."""
    return np.sum(interpolate.LinearNDInterpolator(points, heights)(places) ** 2)


def preconditioned(numbers, right):
    """An object for each example, whose method is given to another object."""
    A = array(numbers)
    M = linalg.LinearOperator((6, 6), linalg.spilu(A).solve)
    return np.sum(linalg.gmres(A, right, M=M, rtol=1e-12)[0] ** 3)


def scaled(factor, right):
    """A function that closes over what is differentiated, within an object."""
    A = linalg.LinearOperator((6, 6), lambda x: factor * (PATTERN @ x), dtype=float)
    M = linalg.LinearOperator((6, 6), linalg.spilu(array(NUMBERS * factor[0])).solve)
    return np.sum(linalg.gmres(A, right, M=M, rtol=1e-12)[0] ** 2)


def delay(numbers):
    """The delay of a filter that is singular at some frequencies, where SciPy writes zeros."""
    zeros = np.array([1.0, 0.0, -1.0])
    return np.sum(signal.group_delay((zeros, np.concatenate([[1.0], numbers])), 8)[1][1:-1] ** 2)


def close_points(points):
    """Lists and sets of indices, as many in each example."""
    tree = spatial.KDTree(points)
    near = [np.sum(np.sin(points[i])) for i in tree.query_ball_point(PLACES, 0.42)]
    pairs = [np.sum((points[i] - points[j]) ** 2) for i, j in tree.query_pairs(0.2)]
    return np.sum(near) * len(pairs) + np.sum(pairs)


def powers(points, p):
    """One power in each example."""
    far = distance.cdist(points, PLACES, "minkowski", p=p) * np.sum(
        distance.pdist(points, "minkowski", p=1.5)
    )
    return np.sum(far) + distance.minkowski(points[0], points[1], p, [1.0, 2.0])


def by_spans(places, knots):
    """A sparse array and a spline for each example, which have numbers in other places."""
    t = np.concatenate([np.zeros(4), knots, np.ones(4)])
    rows = interpolate.BSpline.design_matrix(places, t, 3)
    finer = interpolate.BSpline(t, HEIGHTS[:6], 3).insert_knot(places[1])
    return np.sum((rows @ HEIGHTS[:6]) ** 2) + np.sum(finer.c**3) + rows.toarray()[1, 2]


def tapers(width):
    """Signs of tapers, and the length of a response, are asked of numbers."""
    response = signal.dlti([1.0, 0.3], [1.0, -width / 5], dt=0.25).step(n=6)[1][0]
    return np.sum(signal.windows.dpss(24, width, 4, return_ratios=True)[1]) + np.sum(response**2)


def on_a_sphere(points):
    unit = np.stack([points[:, 0] - 0.5, points[:, 1] - 0.5, np.cos(9 * points[:, 0])], axis=1)
    unit = unit / np.linalg.norm(unit, axis=1, keepdims=True)
    return np.sum(spatial.SphericalVoronoi(unit).calculate_areas() ** 2)


def rational(heights):
    x = np.linspace(0.0, 1.0, 12)
    return np.sum(interpolate.FloaterHormannInterpolator(x, heights, d=2)(PLACES[0]) ** 2)


CASES = {
    "tapers": (tapers, (2.5,)),
    "on a sphere": (on_a_sphere, (POINTS,)),
    "rational": (rational, (HEIGHTS,)),
    "spans": (by_spans, (np.array([0.2, 0.397, 0.7]), np.array([0.4, 0.6]))),
    "close points": (close_points, (POINTS,)),
    "powers": (powers, (POINTS, 2.5)),
    "delay": (delay, (np.array([0.4, 0.3]),)),
    "surface": (surface, (POINTS, HEIGHTS, PLACES)),
    "preconditioned": (preconditioned, (NUMBERS, RIGHT)),
    "scaled": (scaled, (np.full(1, 1.3), RIGHT)),
}


@pytest.mark.share(2)
@pytest.mark.filterwarnings("ignore:The .* singular")
@pytest.mark.parametrize("name", CASES)
def test_as_a_loop(name):
    """Whatever is mapped: gradients of all arguments, and their products with a direction."""
    fun, xs = CASES[name]
    grad = pb.grad(fun, tuple(range(len(xs))))
    twice = lambda *xs: pb.jvp(grad, xs, xs)[1]
    wrong = []
    for mapped in range(1, 2 ** len(xs)):
        axes = tuple([0 if mapped >> i & 1 else None for i in range(len(xs))])
        given = [np.stack([x, 1.01 * x]) if a == 0 else x for a, x in zip(axes, xs, strict=True)]
        for law in (grad, twice):
            batch = pb.vmap(law, in_axes=axes)(*given)
            for k, factor in enumerate((1.0, 1.01)):
                one = law(*[x if a is None else factor * x for a, x in zip(axes, xs, strict=True)])
                near = [
                    np.allclose(b[k], x, rtol=1e-6, atol=1e-8)
                    for b, x in zip(batch, one, strict=True)
                ]
                if not all(near):
                    wrong.append((axes, law, k, near))
    assert not wrong


def test_nested():
    """A batch of batches, each of which decides."""
    points = POINTS + 0.01 * RNG.normal(size=(2, 3, 12, 2))
    out = pb.vmap(pb.vmap(pb.grad(lambda p: surface(p, HEIGHTS, PLACES))))(points)
    for i in np.ndindex(2, 3):
        one = pb.grad(lambda p: surface(p, HEIGHTS, PLACES))(points[i])
        assert np.allclose(out[i], one, rtol=1e-12)


def test_results_of_different_shapes():
    """They are no batch, but what has one shape for all can be read."""
    crossings = lambda c: interpolate.PPoly(c, [0.0, 1.0]).roots(extrapolate=False)
    many = np.array([[[1.0], [-0.5]], [[1.0], [0.5]]])
    np.testing.assert_array_equal(pb.vmap(lambda c: np.sum(crossings(c)))(many), [0.5, 0.0])
    slopes = pb.vmap(pb.grad(lambda c: np.sum(crossings(c))))(many)
    np.testing.assert_allclose(slopes[:, :, 0], [[-0.5, -1.0], [0.0, 0.0]])
    for read in (crossings, lambda c: 2 * crossings(c), lambda c: np.exp(crossings(c))):
        with pytest.raises(pb.ConversionError, match="differ in shape"):
            pb.vmap(read)(many)


def test_written_arguments():
    """What SciPy writes for one example would be written over by the next."""
    image = RNG.normal(size=(5, 6))

    def into(sigma):
        out = np.zeros((5, 6))
        ndimage.gaussian_filter1d(image, sigma, output=out)
        return np.sum(out)

    with pytest.raises(pb.ConversionError, match="writes into an array"):
        pb.vmap(into)(np.array([0.7, 0.9]))


def modes(start, k):
    """LOBPCG begins at its argument, and leaves something else there."""
    matrix = sparse.diags_array(
        [[-1.0] * 4, [2.0, 2.5, 3.0, 3.7, 4.0], [-1.0] * 4], offsets=[-1, 0, 1]
    )
    x = start(k)
    values, vectors = linalg.lobpcg((matrix * k).tocsr(), x, largest=False, tol=1e-9, maxiter=60)
    return np.concatenate([values, np.abs(vectors[0]), np.ravel(x * x)])


STARTS = {
    "same": lambda k: np.cos(np.arange(5.0))[:, None] + np.eye(5, 1),
    "mapped": lambda k: np.cos(np.arange(5.0))[:, None] * k,
    "view": lambda k: np.outer(np.cos(np.arange(5.0)), np.ones(3))[:, 1:2],
}


@pytest.mark.parametrize("name", STARTS)
def test_an_argument_holds_what_each_call_has_written(name):
    f = lambda k: modes(STARTS[name], k)
    slope = lambda k: pb.jvp(f, (k,), (1.0,))[1]
    back = lambda k: pb.grad(lambda k: np.sum(f(k) ** 2))(k)
    ks = np.array([1.0, 2.3])
    for g in (f, slope, back):
        np.testing.assert_allclose(pb.vmap(g)(ks), [g(k) for k in ks], rtol=1e-12, atol=1e-14)


def test_arguments_that_share_what_is_written():
    """Each of the calls would have two copies of what is one array."""

    def twice(k):
        x = k * np.ones(3)
        apart(np.add, x, 1.0, x)
        return x

    with pytest.raises(ConversionError, match="writes into an array"):
        pb.vmap(twice)(np.array([0.7, 0.9]))


def test_functions_that_store_are_not_called_again():
    """What they store would be stored twice."""
    calls, seen = [], {}

    def asks(x, of_user):
        calls.append(of_user)
        return x if x > 0 else -x

    def stores(x):
        seen[0] = x

    def inside(x):
        return lambda: seen.update(x=x)

    for of_user in (stores, inside, lambda x: calls.append(x), [stores], {"f": stores}):
        calls.clear()
        with pytest.raises(pb.ConversionError):
            pb.vmap(lambda x: again(asks, x, of_user))(np.array([1.0, -1.0]))  # at once
        assert len(calls) == 1
    for of_user in (None, lambda x: x + 1, np.sin):
        out = pb.vmap(lambda x: again(asks, x, of_user))(np.array([1.0, -1.0]))  # at once
        assert out.tolist() == [1.0, 1.0]


LOG, COUNTS, QUEUE, SCRATCH = [], {}, deque(), np.zeros(3)
PUSH = LOG.append


class Kept:
    def __init__(self):
        self.xs = []

    def keep(self, x):
        self.xs.append(x)

    def next(self, x):
        return x + 1


KEPT = Kept()


def helper(x):
    LOG.append(x)


STORING = [
    helper,
    lambda x: helper(x),
    lambda x: PUSH(x),
    lambda x: QUEUE.appendleft(x),
    lambda x: COUNTS.setdefault(x, 1),
    lambda x: operator.setitem(COUNTS, 1, x),
    lambda x: heapq.heappush(LOG, x),
    lambda x: SCRATCH.fill(x),
    lambda x: KEPT.keep(x),
    lambda x: setattr(KEPT, "xs", x),
    lambda x: sys.stdout.write("x"),
    lambda x: [LOG.append(y) for y in (x,)],
    lambda x: print(x),
]
COMPUTING = [
    lambda x: np.append(np.insert(np.add(x, 1), 0, 2.0), x),
    lambda x: operator.add(x, SCRATCH.sum()) + len(LOG),
    lambda x: COUNTS.get(x, LOG.count(x)),
    lambda x: KEPT.next(x),
    lambda x: integrate.quad(lambda y: y * x, 0, 1)[0],
]


def test_what_stores_is_known_by_its_object():
    """`np.append` makes an array, `log.append` fills a list, under whatever name."""
    assert [f.__code__.co_names for f in STORING if not stores(f)] == []
    assert [f.__code__.co_names for f in COMPUTING if stores(f)] == []


def of_steps(a):
    solver = integrate.ode(lambda t, y: -a * y).set_integrator("dopri5", rtol=1e-9)
    return solver.set_initial_value(np.array([1.0]), 0).integrate(1.0)[0]


def of_mapped_start(a):
    """An integrator is asked for its time, which is the same for all examples."""
    solver = integrate.ode(lambda t, y: [y[1], -y[0]]).set_integrator("dopri5", rtol=1e-10)
    solver.set_initial_value([a, a * a])
    while solver.successful() and solver.t < 1.0:
        solver.integrate(solver.t + 0.25)
    return solver.y @ np.array([1.0, 0.5])


def of_mapped_complex_start(a):
    solver = integrate.complex_ode(lambda t, y: 1j * y).set_integrator("dopri5", rtol=1e-10)
    solver.set_initial_value([a + 1j, 1.0])
    return abs(solver.integrate(0.5)[0] + solver.y[1]) ** 2


# Functions of the user's that decide by values which differ between the examples.
DECIDING = {
    "quad": lambda a: integrate.quad(lambda x: x * a if x < a else a * a, 0, 2)[0],
    "a limit": lambda a: integrate.quad(lambda x: x * a if x < 1 else a * a, 0, a + 0.4)[0],
    "arguments": lambda a: integrate.quad(lambda x, a: max(x - a, 0.0) * a, 0, 2, (a,))[0],
    "defaults": lambda a: integrate.quad(lambda x, a=a: x * a if x < a else a, 0, 2)[0],
    "brentq": lambda a: optimize.brentq(lambda x: x**3 - a if a > 0.7 else x - a, 0, 3),
    "minimize": lambda a: optimize.minimize(
        lambda x: (x[0] - (a if a > 0.7 else 2 * a)) ** 2, [0.1], tol=1e-10
    ).x[0],
    "solve_ivp": lambda a: integrate.solve_ivp(
        lambda t, y: -a * y if a < 0.7 else -a * a * y, (0, 1), [1.0], t_eval=[1.0]
    ).y[0, 0],
    "nsum": lambda a: integrate.nsum(lambda k: 1 / k ** (2 + a), 1, np.inf).sum,
    "ode": of_steps,
    "initial values": of_mapped_start,
    "complex initial values": of_mapped_complex_start,
}


@pytest.mark.share(2)
@pytest.mark.parametrize("name", DECIDING)
def test_functions_of_the_users_that_decide(name):
    f, a = DECIDING[name], np.array([0.5, 0.8, 1.3])
    for law in (f, pb.grad(f)):
        np.testing.assert_allclose(pb.vmap(law)(a), [law(x) for x in a], rtol=1e-7)


Y = np.random.default_rng(3).normal(size=9)
BY_RANK = {
    "kendalltau": lambda x: stats.kendalltau(x, Y).pvalue,
    "somersd": lambda x: stats.somersd(x, Y).statistic,
    "wilcoxon": lambda x: stats.wilcoxon(x).pvalue,
    "ansari": lambda x: stats.ansari(x, Y).statistic,
    "fligner": lambda x: stats.fligner(x, Y).statistic,
    "ks_2samp": lambda x: stats.ks_2samp(x, Y).pvalue,
    "page": lambda x: stats.page_trend_test(np.reshape(x, (3, 3))).statistic,
    "binned": lambda x: stats.binned_statistic(x, Y * x, bins=3).statistic[1],
    "boxcox": lambda x: stats.boxcox(np.abs(x))[0][1],
    "boxcox_normmax": lambda x: stats.boxcox_normmax(np.abs(x), method="all")[0],
    "entropy": lambda x: stats.poisson.entropy(np.exp(x[0])),
    "expect": lambda x: stats.poisson(np.exp(x[0])).expect(lambda k: k**1.5 + x[1]),
    "poisson_means_test": lambda x: stats.poisson_means_test(7, np.exp(x[0]), 5, 2.0).pvalue,
    "quantile": lambda x: stats.quantile(x, 0.3 + 0.1 * np.tanh(x[0])),
    "trim1": lambda x: np.sum(stats.trim1(x, 0.2) ** 2),
    "weightedtau": lambda x: stats.weightedtau(x, Y).statistic,
}


@pytest.mark.parametrize("name", BY_RANK)
def test_statistics_that_count(name):
    f, x = BY_RANK[name], np.random.default_rng(4).normal(size=(3, 9))
    np.testing.assert_allclose(pb.vmap(f)(x), [f(row) for row in x], rtol=1e-13)


# Decisions that examples of one size have in common, and others don't.
BY_SIZE = {
    "anderson_ksamp": lambda x: stats.anderson_ksamp([x, Y, Y[::-1] ** 2], variant="midrank")[0],
    "brunnermunzel": lambda x: stats.brunnermunzel(x + 4, Y).pvalue,
    "cramervonmises": lambda x: stats.cramervonmises(x, "norm").pvalue,
    "quantile_test": lambda x: stats.quantile_test(x, q=0.3).pvalue,
    "siegelslopes": lambda x: stats.siegelslopes(Y, x).slope,
    "tmax": lambda x: stats.tmax(x, 0.3),
    "tmin": lambda x: stats.tmin(x, x[0] - 0.1),
    "yeojohnson": lambda x: stats.yeojohnson(x)[0],
    "yeojohnson_normmax": lambda x: stats.yeojohnson_normmax(x),
}


@pytest.mark.parametrize("name", BY_SIZE)
@pytest.mark.filterwarnings("ignore:p-value", "ignore::RuntimeWarning")  # as SciPy says
def test_statistics_of_examples_that_differ_in_size(name):
    f, x = BY_SIZE[name], np.random.default_rng(0).normal(size=(6, 9))
    x = x * np.array([[0.1], [0.5], [1], [3], [10], [40]]) + np.array(
        [[0], [1], [0], [-3], [5], [0]]
    )
    np.testing.assert_allclose(pb.vmap(f)(x), [f(row) for row in x], rtol=1e-10)


def test_an_infinite_power_in_one_example():
    far = lambda p: distance.minkowski(np.array([1.0, 4.0]), np.zeros(2), p, [1.0, 0.5])
    p = np.array([2.0, np.inf, 3.5])
    np.testing.assert_allclose(pb.vmap(far)(p), [far(x) for x in p])
    np.testing.assert_allclose(pb.vmap(pb.grad(far))(p), [pb.grad(far)(x) for x in p])


def test_lists_of_different_lengths():
    """They are refused where they are read."""

    def near(points):
        return np.sum(points[spatial.KDTree(points).query_ball_point([0.5, 0.5], 0.4)])

    with pytest.raises(pb.ConversionError, match="has a `list` of its own here"):
        pb.vmap(near)(np.stack([POINTS, 0.2 * POINTS]))


def test_a_number_as_a_seed_is_no_effect():
    fast = pb.compile(lambda x: distance.directed_hausdorff(x, PLACES)[0], wait=True)
    for x in (POINTS, POINTS**2, POINTS + 1):
        assert fast(x) == distance.directed_hausdorff(x, PLACES)[0]
    assert fast.refusal is None


def ended_by(kind, k):
    """A motion until an event that says so by attributes, given as functions of many kinds."""

    def slope(t, y, rate=k):
        flow = rate * y[0] / (0.4 + y[0])
        return [-flow, flow - 3 * y[1] / (0.2 + y[1])]

    def grows(t, y, of=slope):
        return of(t, y)[1]

    class Growth:
        def __init__(self):
            self.rate, self.terminal, self.direction = k, True, -1

        def __call__(self, t, y):
            return slope(t, y, self.rate)[1]

    event = {
        "def": lambda: grows,
        "lambda": lambda: lambda t, y: slope(t, y)[1],
        "partial": lambda: partial(grows, of=partial(slope, rate=k)),
        "object": Growth,
    }[kind]()
    event.terminal, event.direction = True, -1
    out = integrate.solve_ivp(slope, (0, 8), [2.0, 0.0], "Radau", events=event)
    return out.y[1, -1], out.t_events[0][0]


def falls(side, speed):
    """When a ball that is thrown from one side of a plane comes back to it."""

    def meets(t, y):
        return y[0]

    meets.terminal, meets.direction = np.abs(side) > 0, -np.sign(side)
    slope = lambda t, y: np.stack([y[1], -9.81 * side + 0.0 * y[0]])
    start = np.stack([0.5 * side, speed * side])
    return integrate.solve_ivp(slope, (0, 9), start, events=meets, rtol=1e-8).t_events[0][0]


def test_the_direction_of_an_event_may_depend_on_what_is_differentiated_or_mapped():
    """It was refused, since SciPy asks for its value."""
    at = lambda side, v: (v + np.sqrt(v * v + 2 * 9.81 * side * side * 0.5 / side**2)) / 9.81
    slope = pb.grad(falls, 1)
    sides, speeds = np.array([1.0, -1.0, 1.2]), np.array([2.0, 2.5, 3.0])
    expected = [pb.grad(at, 1)(*xs) for xs in zip(sides, speeds, strict=True)]
    fast = pb.compile(slope)
    for xs, x in zip(zip(sides, speeds, strict=True), expected, strict=True):
        assert slope(*xs) == pytest.approx(x, rel=1e-6)
        assert fast(*xs) == pytest.approx(x, rel=1e-6)
        assert pb.grad(falls)(*xs) == pytest.approx(0.0, abs=1e-6)
    np.testing.assert_allclose(pb.vmap(slope)(sides, speeds), expected, rtol=1e-6)


@pytest.mark.parametrize("kind", ["def", "lambda", "partial", "object"])
def test_functions_keep_their_attributes(kind):
    """An event whose `terminal` was lost let the motion go on to its end, without a word."""
    ks = np.array([1.2, 1.1])
    found = pb.vmap(partial(ended_by, kind))(ks)
    np.testing.assert_allclose(found, np.transpose([ended_by(kind, k) for k in ks]), rtol=1e-12)


DATA = np.array([1.2, 2.9, 0.8, 3.3, 2.1, 4.6, 1.7, 2.4])
OF_MASKED = {
    "hdquantiles": lambda x: stats.mstats.hdquantiles(x, prob=[0.25, 0.6]).sum(),
    "trimmed mean": lambda x: stats.mstats.trimmed_mean(x, (0.1, 0.2)),
    "interval": lambda x: np.sum(stats.mstats.trimmed_mean_ci(x, limits=(0.1, 0.1))),
    "winsorized": lambda x: np.sum(stats.mstats.winsorize(x, limits=0.2) ** 2),
    "masked": lambda x: stats.mstats.trimboth(x, 0.2).mean() * x[0],
    "filled": lambda x: stats.mstats.trimboth(x, 0.2).filled(0.0).sum(),
    "test": lambda x: stats.mstats.ttest_ind(x, DATA[::-1] ** 1.1).pvalue,
    "groups": lambda x: cut(x),
    "discrepancy": lambda x: stats.qmc.geometric_discrepancy(x.reshape(4, 2) / 5, method="mst"),
}  # fmt: skip


def cut(x):
    """The spread of two groups that a tree is cut into."""
    tree = cluster.hierarchy.centroid(x[:, None])
    group = cluster.hierarchy.cut_tree(tree, n_clusters=2).ravel()
    return tree[-1, 2] * np.sum(x[group == 0] ** 2)


@pytest.mark.share(3)
@pytest.mark.parametrize("name", OF_MASKED)
def test_masked_arrays_and_trees(name):
    """Each example has its own: other elements are masked, or other branches cut."""
    f, many = OF_MASKED[name], np.stack([DATA, DATA[::-1] * 1.05])
    for g in (f, pb.grad(f)):
        np.testing.assert_allclose(pb.vmap(g)(many), [g(x) for x in many], rtol=1e-10)


def flag_of(read, k):
    """A word that says otherwise in each example, compared in the ways that Python has."""
    flag = optimize.root_scalar(lambda x: x**3 - k, x0=1.0, x1=1.2, method="secant", maxiter=6).flag
    return k * (1.0 if read(flag) else 100.0)


READS = {
    "==": lambda flag: flag == "converged",
    "!=": lambda flag: flag != "converged",
    "in a list": lambda flag: flag in ["converged"],
    "part of it": lambda flag: "converged" in flag,
    "method": lambda flag: flag.startswith("converged"),
    "key": lambda flag: {"converged": True}.get(flag, False),
}


@pytest.mark.parametrize("name", READS)
def test_words_of_each_example(name):
    """Compared with a word, the words of all examples were unequal, whatever they said."""
    f = lambda k: flag_of(READS[name], k)
    same, other = np.array([1.3, 1.4]), np.array([1.3, 3e5])
    np.testing.assert_allclose(pb.vmap(f)(same), [f(k) for k in same])
    with pytest.raises(ConversionError, match=r"answer differently|one key of all"):
        pb.vmap(f)(other)
