"""Whatever is floating in the result of a solver has a derivative, or refuses to be differentiated.

Each part of each result is compared with differences: none may be a constant while it moves.
"""

import numpy as np
from scipy import integrate, optimize

import pullback as pb

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
    "quad": lambda k: integrate.quad(lambda x: np.exp(-k * x), 0, 1, full_output=1),
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


def test_marginals_are_prices_that_move():
    A, b, c = np.array([[1.0, 1.0], [1.0, 3.0]]), np.array([4.0, 7.0]), np.array([-1.0, -2.0])

    def prices(c, A):
        found = optimize.linprog(c, A_ub=A, b_ub=b, bounds=[(0, 1.7), (-1, None)])
        return np.concatenate([found.ineqlin.marginals, found.upper.marginals])

    pb.testing.check_grads(prices, (c, A), order=1)
    assert np.array_equal(pb.jvp(prices, (c, A), (c, A))[0], prices(c, A))


def test_parts_of_a_batch_of_results_are_those_of_each_example():
    f = lambda k: optimize.fsolve(system(k), [0.5, 0.4], full_output=True)[1]["fjac"]
    ks = np.array([1.1, 1.3])
    assert np.array_equal(pb.vmap(f)(ks), np.stack([f(k) for k in ks]))
