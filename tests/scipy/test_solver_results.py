"""Whatever is floating in the result of a solver has a derivative, or refuses to be differentiated.

Each part of each result is compared with differences: none may be a constant while it moves.
"""

import numpy as np
import pytest
from scipy import integrate, optimize

import pullback as pb
from pullback.scipy.solving.implicit import extremes, singular
from tests.scipy.references import slope

H = np.array([[3.0, 0.4], [0.4, 2.0]])
T = np.linspace(0, 2, 9)
DATA = 1.3 * np.exp(-0.7 * T) + 0.02 * np.cos(9 * T)
ORIGIN = np.zeros(2)


def bowl(k):
    return lambda x: 0.5 * x @ H @ x - k * np.sum(x) + 0.1 * np.sum(x**4)


def valley(k):
    return lambda x: np.cosh(x - k) + x**2


def system(k):
    return lambda x: np.array([np.cos(x[0]) - k * x[1], x[0] * k - x[1]])


def decay(k):
    return lambda p: p[0] * np.exp(-p[1] * T * k) - DATA


def curve(k):
    return lambda t, a, b: a * np.exp(-b * t * k)


def area(k):
    """SciPy writes the first `last` elements of the lists of intervals, and no others."""
    value, error, found = integrate.quad(lambda x: np.exp(-k * x), 0, 1, full_output=1)
    lists = ("alist", "blist", "rlist", "elist")
    return value, error, {key: found[key][: found["last"]] for key in lists}


RESULTS = {
    "minimize, BFGS": lambda k: optimize.minimize(bowl(k), ORIGIN),
    "minimize, SLSQP": lambda k: optimize.minimize(
        bowl(k), ORIGIN, constraints={"type": "ineq", "fun": lambda x: 0.2 - np.sum(x)}
    ),
    "minimize, trust-constr": lambda k: optimize.minimize(
        bowl(k),
        ORIGIN,
        method="trust-constr",
        constraints=optimize.LinearConstraint(np.ones((1, 2)), -np.inf, 0.2),
    ),
    "shgo": lambda k: optimize.shgo(bowl(k), [(-1, 1)] * 2),
    "basinhopping": lambda k: optimize.basinhopping(bowl(k), ORIGIN, niter=1, seed=1),
    "brute": lambda k: optimize.brute(bowl(k), [(-1, 1)] * 2, Ns=5, full_output=True),
    "fmin_bfgs": lambda k: optimize.fmin_bfgs(bowl(k), ORIGIN, full_output=True, disp=0),
    "brent": lambda k: optimize.brent(valley(k), full_output=True),
    "root": lambda k: optimize.root(system(k), [0.5, 0.4]),
    "root, lm": lambda k: optimize.root(system(k), [0.5, 0.4], method="lm"),
    "fsolve": lambda k: optimize.fsolve(system(k), [0.5, 0.4], full_output=True),
    "leastsq": lambda k: optimize.leastsq(decay(k), [1.0, 1.0], full_output=True),
    "curve_fit": lambda k: optimize.curve_fit(curve(k), T, DATA, full_output=True),
    "least_squares": lambda k: optimize.least_squares(decay(k), [1.0, 1.0], loss="soft_l1"),
    "lsq_linear": lambda k: optimize.lsq_linear(np.vander(T, 3), DATA * k, bounds=(-1, 0.9)),
    "linprog": lambda k: optimize.linprog(
        [-1.0, -k], A_ub=[[1.0, 1.0], [1.0, 3.0]], b_ub=[4.0, 7.0 * k], bounds=(0, 3)
    ),
    "quad": area,
}
# What says how the solver worked: the sizes of its steps, its clock, and what is near 0.
OF_THE_WORK = {"execution_time", "tr_radius", "optimality", "constr_violation", "grad", "jac"}
OF_THE_WORK |= {"cg_stop_cond", "barrier_parameter", "barrier_tolerance", "qtf", "fvec"}


def floating(result, way=()):
    """(way, value) of each floating number or array in a result."""
    if isinstance(result, dict):
        parts = result.items()
    elif isinstance(result, (list, tuple)):
        parts = enumerate(result)
    else:
        parts = ()
        kind = np.asarray(result).dtype.kind
        if way and kind == "f" and np.size(result):
            yield way, result
    for key, part in parts:
        if key not in OF_THE_WORK:
            yield from floating(part, (*way, key))


def at(result, way):
    for key in way:
        result = result[key]
    return np.sum(result * np.cos(np.arange(np.size(result))).reshape(np.shape(result)))


def test_no_part_of_a_result_is_constant_while_it_moves():
    k, h, wrong = 1.3, 5e-3, []
    for name, call in RESULTS.items():
        low, high = call(k - h), call(k + h)
        for way, value in floating(call(k)):
            slope = (at(high, way) - at(low, way)) / (2 * h)
            if not abs(slope) < 1e3:
                continue  # memory that was never written
            try:
                found = pb.grad(lambda k, call=call, way=way: at(call(k), way))(k)
            except pb.MissingRuleError:
                continue
            if not np.isclose(found, slope, rtol=0.03, atol=2e-3 * (1 + np.abs(value).max())):
                wrong.append((name, way, found, slope))
    assert not wrong


@pytest.mark.parametrize("loss", ["linear", "soft_l1", "huber", "cauchy", "arctan"])
def test_the_covariance_of_a_fit_with_a_loss(loss):
    """SciPy weighs the Jacobian by the loss's curvature, and its cost is that of the loss."""

    def spread(k):
        tight = {"jac": "3-point", "ftol": 1e-15, "xtol": 1e-15, "gtol": 1e-15}
        given = {"method": "trf", "loss": loss, "f_scale": 0.05, **tight}
        data = DATA + 0.05 * k * np.sin(3 * T)
        return 1e4 * optimize.curve_fit(curve(k), T, data, p0=[1.0, 0.7], **given)[1].sum()

    change, error = slope(lambda t: spread(1.1 + t))
    for found in (pb.grad(spread)(1.1), pb.jvp(spread, (1.1,), (1.0,))[1]):
        assert found == pytest.approx(change, rel=1e-5, abs=3 * error)


COUNTS = {
    "fmin": lambda k: optimize.fmin(bowl(k), ORIGIN, full_output=True, disp=False)[2:4],
    "fmin_cg": lambda k: optimize.fmin_cg(bowl(k), ORIGIN, full_output=True, disp=False)[2:4],
    "fmin_l_bfgs_b": lambda k: (
        optimize.fmin_l_bfgs_b(bowl(k), ORIGIN, approx_grad=True)[2]["funcalls"],
    ),
    "fmin_tnc": lambda k: optimize.fmin_tnc(bowl(k), ORIGIN, approx_grad=True, disp=0)[1:],
    "brent": lambda k: optimize.brent(valley(k**3), full_output=True)[2:],
    "fsolve": lambda k: (
        optimize.fsolve(system(k), ORIGIN, full_output=True)[1]["nfev"],
    ),
    "curve_fit": lambda k: (
        optimize.curve_fit(curve(k), T, DATA, full_output=True)[2]["nfev"],
    ),
    "odeint": lambda k: [
        integrate.odeint(lambda y, t: -k * y + np.sin(k * t), 1.0, T, full_output=True)[1][key]
        for key in ("hu", "nst", "nfe")
    ],
    "quad": lambda k: (
        integrate.quad(lambda x: np.sin(k**3 * x), 0, 9, full_output=1)[2]["neval"],
    ),
    "quad_vec": lambda k: (
        integrate.quad_vec(lambda x: np.sin(k**3 * x), 0, 9, full_output=True)[2].neval,
    ),
    "nquad": lambda k: (
        integrate.nquad(
            lambda x, y: np.sin(k**2 * x * y), [(0, 1), (0, 4)], full_output=True
        )[2]["neval"],
    ),
}  # fmt: skip


@pytest.mark.share(4)
@pytest.mark.parametrize("name", COUNTS)
def test_under_vmap_counts_are_those_of_each_example(name):
    ks = np.array([0.8, 1.7, 2.6])
    found = pb.vmap(lambda k: [1.0 * x for x in COUNTS[name](k)])(ks)
    for column, values in zip(found, zip(*map(COUNTS[name], ks), strict=True), strict=True):
        np.testing.assert_allclose(column, values, rtol=1e-5)


def test_marginals_are_prices_that_move():
    A, b, c = np.array([[1.0, 1.0], [1.0, 3.0]]), np.array([4.0, 7.0]), np.array([-1.0, -2.0])

    def prices(c, A):
        found = optimize.linprog(c, A_ub=A, b_ub=b, bounds=[(0, 1.7), (-1, None)])
        return np.concatenate([found.ineqlin.marginals, found.upper.marginals])

    pb.testing.check_grads(prices, (c, A), order=1)
    assert np.array_equal(pb.jvp(prices, (c, A), (c, A))[0], prices(c, A))


class TestConstraintsThatFollowFromOthers:
    """They meet at the solution, and are left out where no parameter moves them."""

    A = np.vstack([np.kron(np.eye(3), np.ones(3)), np.kron(np.ones(3), np.eye(3))])
    supply = np.array([3.0, 4, 5, 4, 6, 2])
    cost = np.array([4.0, 2.1, 3.0, 2.0, 3.2, 1.1, 3.3, 1.0, 2.2])

    def plan(self, cost, supply):
        return optimize.linprog(cost, A_eq=self.A, b_eq=supply, bounds=(0, None))

    def test_a_plan_of_transport(self):
        """What is sent equals what arrives: of six equalities five are independent."""
        x = self.plan(self.cost, self.supply).x
        assert np.array_equal(pb.grad(lambda c: self.plan(c, self.supply).fun)(self.cost), x)
        price = lambda c: self.plan(c, self.supply).eqlin.marginals
        assert np.all(np.isnan(pb.jvp(price, (self.cost,), (self.cost,))[1]))

    def test_a_supply_alone_cannot_move(self):
        with pytest.raises(pb.SolverError, match="singular"):
            pb.grad(lambda supply: self.plan(self.cost, supply).fun)(self.supply)

    @pytest.mark.parametrize("whole", [(1, 1, 1), (1, 1, 0), (1, 0, 0)])
    def test_whole_numbers_at_their_limits(self, whole):
        """The rows that hold the others follow from the whole numbers, or hold the last number."""

        def plan(price):
            rows = optimize.LinearConstraint([[3, 2, 4], [1, 2, 1]], lb=[11, 5])
            return optimize.milp(
                price, constraints=rows, integrality=whole, bounds=optimize.Bounds(0, 5)
            )

        price = np.array([1.0, 1.3, 2.1])
        assert np.allclose(pb.grad(lambda price: plan(price).fun)(price), plan(price).x)
        assert not pb.jacobian(lambda price: plan(price).x)(price).any()

    def test_the_same_constraint_twice(self):
        def nearest(w):
            twice = optimize.LinearConstraint([[1.0, 1, 1], [2, 2, 2], [3, 3, 3]], 1, [1, 2, 3])
            twice.lb = np.array([1.0, 2, 3])
            return optimize.minimize(
                lambda x: np.sum((x - w) ** 2),
                np.ones(3),
                method="trust-constr",
                constraints=[twice],
                options={"gtol": 1e-10, "factorization_method": "SVDFactorization"},
            ).x

        J = pb.jacobian(nearest)(np.array([0.5, 0.3, -0.8]))
        np.testing.assert_allclose(J, np.eye(3) - 1 / 3, atol=1e-7)


def own_loss(z):
    return np.array([np.log1p(z), 1 / (1 + z), -1 / (1 + z) ** 2])


@pytest.mark.parametrize("loss", ["linear", "huber", "soft_l1", "cauchy", "arctan", own_loss])
def test_slopes_of_least_squares(loss):
    """Jacobian and gradient are those of the cost with its loss, whose scale may move."""
    t = np.linspace(0.2, 4.0, 12)
    y = 2.0 * np.exp(-0.7 * t) + 0.4 + 0.2 * np.sin(17 * t)

    def parts(s):
        found = optimize.least_squares(
            lambda p: p[0] * np.exp(-p[1] * t) - s * y,
            [1.5, 0.4],
            jac=lambda p: np.c_[np.exp(-p[1] * t), -p[0] * t * np.exp(-p[1] * t)],
            loss=loss,
            f_scale=0.25 * s**2,
            xtol=1e-15,
            ftol=1e-15,
            gtol=1e-15,
        )
        return np.concatenate([found.jac.ravel(), found.fun, [found.cost], found.grad])

    _, pushed = pb.jvp(parts, (1.1,), (1.0,))
    slope = (parts(1.101) - parts(1.099)) / 0.002
    np.testing.assert_allclose(pushed[:-2], slope[:-2], atol=1e-4)
    assert np.all(np.abs(pushed[-2:]) < 1e-12)
    weights = np.cos(np.arange(len(slope)))
    np.testing.assert_allclose(pb.grad(lambda s: weights @ parts(s))(1.1), weights @ pushed)


def test_parts_of_a_batch_of_results_are_those_of_each_example():
    f = lambda k: optimize.fsolve(system(k), [0.5, 0.4], full_output=True)[1]["fjac"]
    ks = np.array([1.1, 1.3])
    assert np.array_equal(pb.vmap(f)(ks), np.stack([f(k) for k in ks]))


def test_what_nobody_knows_is_refused_by_name():
    """In reverse mode; in forward mode it is NaN, for all results are pushed at once."""
    f = lambda k: optimize.root(system(k), [0.5, 0.4]).fjac[0, 0]
    with pytest.raises(pb.MissingRuleError, match="`fjac` of the result of `root`"):
        pb.grad(f)(1.3)
    value, slope = pb.jvp(f, (1.3,), (1.0,))
    assert value == f(1.3)
    assert np.isnan(slope)


class TestBoundaryProblems:
    """The Jacobian of the collocation takes a direction for each component, not each unknown."""

    @staticmethod
    def string(width, tol, fun=lambda x, y, p: np.vstack((y[1], -(p[0] ** 2) * y[0]))):
        bc = lambda a, b, p: np.array([a[0], a[1] - p[0], b[0] + width * b[1]])
        x = np.linspace(0, 1, 9)
        return integrate.solve_bvp(
            fun, bc, x, np.vstack((np.sin(2 * x), 2 * np.cos(2 * x))), p=[2.2], tol=tol
        )

    def test_a_fine_mesh(self):
        """tan(p) = -width p, with some thousand unknowns."""
        p = self.string(0.3, 1e-8).p[0]
        slope = -p / (0.3 + 1 / np.cos(p) ** 2)
        found = pb.grad(lambda width: self.string(width, 1e-8).p[0])(0.3)
        np.testing.assert_allclose(found, slope, rtol=1e-7)

    def test_nodes_of_their_own(self):
        """What reads other nodes has another Jacobian, and is refused."""

        def shared(x, y, p):
            return np.vstack((y[1], -(p[0] ** 2) * y[0] + 1e-3 * np.mean(y[0])))

        with pytest.raises(pb.SolverError, match="at other nodes"):
            pb.grad(lambda width: self.string(width, 1e-3, shared).p[0])(0.3)


@pytest.mark.parametrize("dtype", [float, complex])
def test_large_systems_that_are_singular(dtype):
    """Their least singular value is estimated, and not computed with all others."""
    u = np.linalg.qr(np.sin(np.arange(300 * 300.0) ** 2).reshape(300, 300).astype(dtype))[0]
    v = np.linalg.qr(np.cos(np.arange(300 * 300.0) ** 2).reshape(300, 300) + 0j * u)[0]
    sizes = np.linspace(1.0, 2.0, 300)
    for least, is_singular in ((1e-3, False), (1e-11, False), (0.0, True)):
        sizes[-1] = least
        matrix = (u * sizes) @ v
        found = extremes(matrix)
        np.testing.assert_allclose(found, [2.0, least], rtol=0.1, atol=1e-15)
        assert singular(matrix) == is_singular


def test_flags_of_a_batch_answer_where_all_agree():
    """`assert found.success` is fine under vmap; the flags themselves are one for each example."""

    def cube_root(a):
        found = optimize.root_scalar(lambda x: x**3 - a, bracket=[0, 9])
        assert found.converged
        return found.root, found.converged

    def started(a):
        found = optimize.root(lambda x: x**2 + a, [1.0])
        return 1.0 if found.success else 2.0

    roots, flags = pb.vmap(cube_root)(np.array([1.0, 8.0]))
    np.testing.assert_allclose(roots, [1, 2])
    assert flags.tolist() == [True, True]
    with pytest.raises(pb.ConversionError, match="answer differently"):
        pb.vmap(started)(np.array([-1.0, 1.0]))
