"""scipy.optimize: what solvers find, by the function that finds it."""

import numpy as np
from scipy import optimize

import pullback.scipy.optimize  # noqa: F401  # enters the rules
from pullback import grad
from pullback.core.errors import SolverError
from pullback.testing import ErrorSample, Sample
from tests.samples import served, traced

random = np.random.default_rng(17)
T = np.linspace(0.0, 2.0, 7)
DATA = 1.3 * np.exp(-0.7 * T) + 0.05 * np.cos(7 * T)
A, B = random.normal(size=(6, 3)), random.normal(size=6)
W = np.array([1.2, 0.7])
COST, ROWS, ROOM = np.array([-1.0, -2.0]), np.array([[1.0, 1.0], [1.0, 3.0]]), np.array([4.0, 6.0])


def cubic(x, a):
    return x**3 + x - a


def system(x, w):
    return [x[0] + 0.5 * (x[0] - x[1]) ** 3 - w[0], 0.5 * (x[1] - x[0]) ** 3 + x[1] * w[1]]


def valley(x, w):
    return (w[0] - x[0]) ** 2 + 10 * w[1] * (x[1] - x[0] ** 2) ** 2


def decay(t, a, b):
    return a * np.exp(-b * t)


def misfit(p, y):
    return decay(T, *p) - y


bracketed = lambda f, a: np.sum(f(lambda x: cubic(x, a), 0.0, 3.0))
by_args = lambda f, a: np.sum(f(cubic, 0.0, 3.0, args=(a,), full_output=True)[0])
fixed = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15}

SAMPLES = [
    *[Sample(served(f, bracketed), 5.0, name=f.__name__) for f in (optimize.brentq, optimize.brenth, optimize.ridder, optimize.bisect, optimize.toms748)],
    *[Sample(served(f, by_args), 5.0, name=f"{f.__name__}(args)") for f in (optimize.brentq, optimize.toms748)],
    Sample(served(optimize.root_scalar, lambda f, a: np.sum(f(lambda x: cubic(x, a), bracket=(0, 3)).root)), 5.0, name="root_scalar"),
    Sample(served(optimize.root_scalar, lambda f, a: f(lambda x: (cubic(x, a), 3 * x**2 + 1), x0=1.0, fprime=True, xtol=1e-12).root), 5.0, name="root_scalar(fprime=True)"),
    Sample(served(optimize.newton, lambda f, a: f(cubic, 1.0, args=(a,), tol=1e-13)), 5.0, name="newton"),
    Sample(served(optimize.newton, lambda f, a: f(lambda x: cubic(x, a), np.ones(3), tol=1e-13)), np.array([2.0, 3.0, 5.0]), name="newton of arrays"),
    Sample(served(optimize.fixed_point, lambda f, a: f(lambda x: np.cos(a * x), 0.7, xtol=1e-13)), 0.9, name="fixed_point"),
    Sample(served(optimize.fsolve, lambda f, w: f(system, [0.5, 0.5], args=(w,), xtol=1e-10)), W, name="fsolve"),
    Sample(served(optimize.root, lambda f, w: f(lambda x: np.stack(system(x, w)), [0.5, 0.5], tol=1e-10).x), W, name="root"),
    Sample(served(optimize.root, lambda f, w: f(lambda x: np.stack(system(x, w)), [0.5, 0.5], method="lm", tol=1e-13).x), W, name="root(lm)"),
    Sample(served(optimize.broyden1, lambda f, w: f(lambda x: np.stack(system(x, w)), [0.5, 0.5], f_tol=1e-12)), W, name="broyden1"),
    Sample(served(optimize.newton_krylov, lambda f, w: f(lambda x: np.stack(system(x, w)), [0.5, 0.5], f_tol=1e-12)), W, name="newton_krylov"),
    Sample(served(optimize.minimize, lambda f, w: f(valley, [0.5, 0.4], args=(w,)).x), W, smooth=False, name="minimize"),
    Sample(served(optimize.minimize, lambda f, w: f(valley, [0.5, 0.4], args=(w,), method="L-BFGS-B", bounds=[(None, 0.5 * w[1]), (0, 1)], tol=1e-14).x), W, smooth=False, name="minimize(bounds)"),
    Sample(served(optimize.minimize, lambda f, w: f(lambda x: valley(x, w), [0.5, 0.4], method="SLSQP", constraints={"type": "ineq", "fun": lambda x: w[1] - x @ x}, tol=1e-14).fun), W, smooth=False, name="minimize(constraints).fun"),
    Sample(served(optimize.minimize_scalar, lambda f, a: f(lambda x: (x - a) ** 4 + x * x).x), 1.3, smooth=False, name="minimize_scalar"),
    Sample(served(optimize.minimize_scalar, lambda f, a: f(lambda x: (x - a) ** 2, bounds=(0, a / 2), method="bounded", options={"xatol": 1e-12}).fun), 1.3, smooth=False, name="minimize_scalar(bounded)"),
    Sample(served(optimize.fminbound, lambda f, a: f(lambda x: (x - a) ** 4 + x * x, 0, 2, xtol=1e-12)), 1.3, smooth=False, name="fminbound"),
    *[Sample(served(f, lambda f, a: f(lambda x: (x - a) ** 4 + x * x)), 1.3, smooth=False, name=f.__name__) for f in (optimize.brent, optimize.golden)],
    *[Sample(served(f, lambda f, w: f(valley, [0.5, 0.4], args=(w,), disp=0)), W, smooth=False, name=f.__name__) for f in (optimize.fmin, optimize.fmin_powell, optimize.fmin_cg, optimize.fmin_bfgs)],
    Sample(served(optimize.fmin_ncg, lambda f, w: f(valley, [0.5, 0.4], lambda x, w: np.stack([-2 * (w[0] - x[0]) - 40 * w[1] * x[0] * (x[1] - x[0] ** 2), 20 * w[1] * (x[1] - x[0] ** 2)]), args=(w,), disp=0)), W, smooth=False, name="fmin_ncg"),
    Sample(served(optimize.fmin_l_bfgs_b, lambda f, w: f(valley, [0.5, 0.4], args=(w,), approx_grad=True, bounds=[(None, w[1]), (None, None)])[0]), W, smooth=False, name="fmin_l_bfgs_b"),
    Sample(served(optimize.fmin_tnc, lambda f, w: f(valley, [0.5, 0.4], args=(w,), approx_grad=True, disp=0)[0]), W, smooth=False, name="fmin_tnc"),
    Sample(served(optimize.fmin_slsqp, lambda f, w: f(valley, [0.5, 0.4], args=(w,), f_ieqcons=lambda x, w: np.stack([w[0] / 2 - x[0]]), iprint=0)), W, smooth=False, name="fmin_slsqp"),
    Sample(served(optimize.fmin_cobyla, lambda f, w: 1.0 * f(valley, [0.5, 0.4], lambda x: w[1] / 2 - x[0], args=(w,), consargs=(), rhoend=1e-6)), W, smooth=False, name="fmin_cobyla"),
    Sample(served(optimize.differential_evolution, lambda f, w: f(valley, [(0, 2), (0, 2)], args=(w,), seed=1, popsize=4, tol=0.5).x), W, smooth=False, name="differential_evolution"),
    Sample(served(optimize.dual_annealing, lambda f, w: f(valley, [(0, 2), (0, 2)], args=(w,), seed=1, maxiter=5).x), W, smooth=False, name="dual_annealing"),
    Sample(served(optimize.basinhopping, lambda f, w: f(lambda x: valley(x, w), [0.5, 0.4], niter=2, seed=1).x), W, smooth=False, name="basinhopping"),
    Sample(served(optimize.shgo, lambda f, w: f(valley, [(0, 2), (0, 2)], args=(w,)).x), W, smooth=False, name="shgo"),
    Sample(served(optimize.brute, lambda f, w: f(valley, [(0, 2), (0, 2)], args=(w,), Ns=5)), W, smooth=False, name="brute"),
    Sample(served(optimize.least_squares, lambda f, y: f(misfit, [1.0, 1.0], args=(y,), **fixed).x), DATA, smooth=False, name="least_squares"),
    Sample(served(optimize.least_squares, lambda f, y: f(misfit, [1.0, 0.5], args=(y,), bounds=([0, 0], [2, y[0] / 2]), **fixed).cost), DATA, smooth=False, name="least_squares(bounds).cost"),
    *[Sample(served(optimize.least_squares, lambda f, y, loss=loss: f(misfit, [1.0, 1.0], args=(y,), loss=loss, f_scale=0.03, **fixed).x), DATA, smooth=False, name=f"least_squares({loss})") for loss in ("huber", "soft_l1", "cauchy", "arctan")],
    Sample(served(optimize.leastsq, lambda f, y: f(misfit, [1.0, 1.0], args=(y,))[0]), DATA, smooth=False, name="leastsq"),
    Sample(served(optimize.curve_fit, lambda f, y: f(decay, T, y)), DATA, smooth=False, name="curve_fit"),
    Sample(served(optimize.curve_fit, lambda f, y, s: f(decay, T, y, sigma=s, absolute_sigma=True)[0]), (DATA, 0.1 + 0.1 * T), smooth=False, name="curve_fit(sigma)"),
    Sample(served(optimize.lsq_linear, lambda f, a, b: f(a, b, bounds=(-0.1, 0.1)).x), (A, B), name="lsq_linear"),
    Sample(served(optimize.nnls, lambda f, a, b: f(a, b)[0]), (A, B), name="nnls"),
    Sample(served(optimize.isotonic_regression, lambda f, y: f(y).x), np.array([1.0, 3, 2, 4, 3.5, 3.9]), name="isotonic_regression"),
    Sample(served(optimize.linprog, lambda f, c, a, b: f(c, a, b).x * f(c, a, b).fun), (COST, ROWS, ROOM), name="linprog"),
    Sample(served(optimize.linprog, lambda f, u: f([-2.0, -1.0], [[1.0, 3.0]], [6.3], bounds=[np.stack([0 * u[0], u[0]]), np.array([0.0, 9.0])]).x), np.array([2.7]), name="linprog(bounds)"),
    Sample(served(optimize.milp, lambda f, c, a, b: f(c, constraints=(a, -np.inf, b)).x * f(c, constraints=(a, -np.inf, b)).fun), (COST, ROWS, ROOM), name="milp"),
    Sample(served(optimize.milp, lambda f, c, b: f(c, constraints=([[2.0, 1.0]], -np.inf, b), integrality=[1, 0], bounds=(0, 3)).x * f(c, constraints=([[2.0, 1.0]], -np.inf, b), integrality=[1, 0], bounds=(0, 3)).fun), (np.array([-1.4, -1.0]), np.array([4.3])), name="milp(integrality)"),
    Sample(served(optimize.linprog, lambda f, b: f([-1.4, -1.0], [[2.0, 1.0]], b, integrality=[1, 0], bounds=(0, 3)).x), (np.array([4.3]),), name="linprog(integrality)"),
    Sample(served(optimize.quadratic_assignment, lambda f, a, b: f(a, b, options={"rng": np.random.default_rng(0)}).fun), (random.normal(size=(4, 4)), random.normal(size=(4, 4))), name="quadratic_assignment"),
    Sample(served(optimize.linear_sum_assignment, lambda f, c: c[f(c)].sum()), random.normal(size=(4, 4)), name="linear_sum_assignment"),
    *[Sample(traced(f, lambda f, x: f(x)), np.array([1.2, 0.7, 0.4]), name=f.__name__) for f in (optimize.rosen, optimize.rosen_der, optimize.rosen_hess)],
    Sample(traced(optimize.rosen_hess_prod, lambda f, x, p: f(x, p)), (np.array([1.2, 0.7]), W), name="rosen_hess_prod"),
    Sample(traced(optimize.approx_fprime, lambda f, x, c: f(x, lambda x: np.sum(c * x**3), 0.25)), (W, 1.3), name="approx_fprime"),
]  # fmt: skip

ERRORS = [
    ErrorSample(served(optimize.milp, lambda f, c: grad(lambda c: f(c, integrality=2, bounds=(0.5, 3)).fun)(c)), (np.array([-1.0, 2.0]),), {}, SolverError, "`scipy.optimize.milp` has no derivative with semi-continuous"),
]  # fmt: skip
