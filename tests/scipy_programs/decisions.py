"""Decisions: portfolios, plans, assignments, calibrations, equilibria of games and of chemistry."""

import numpy as np
import scipy.optimize as opt
from scipy import linalg, optimize, special
from scipy.optimize import (
    Bounds,
    LinearConstraint,
    NonlinearConstraint,
    curve_fit,
    elementwise,
    fsolve,
    least_squares,
    linear_sum_assignment,
    linprog,
    lsq_linear,
    milp,
    minimize,
    minimize_scalar,
    nnls,
    root,
    root_scalar,
)
from scipy.stats import norm

MEAN = np.array([0.06, 0.1, 0.08, 0.03])
COV = np.array(
    [[0.04, 0.01, 0.0, 0.0], [0.01, 0.09, 0.02, 0.0], [0, 0.02, 0.06, 0.01], [0, 0, 0.01, 0.02]]
)
T = np.linspace(0.2, 4.0, 12)
SIGNAL = 2.0 * np.exp(-0.7 * T) + 0.4 + 0.03 * np.sin(17 * T)
STRIKES = np.array([0.8, 0.9, 1.0, 1.1, 1.2])
IMPLIED = np.array([0.31, 0.26, 0.22, 0.21, 0.23])


def long_only(risk):
    """Weights that sum to one and are not negative."""
    res = minimize(
        lambda w: 0.5 * risk * w @ COV @ w - MEAN @ w,
        np.full(4, 0.25),
        jac=lambda w: risk * COV @ w - MEAN,
        method="SLSQP",
        bounds=[(0, None)] * 4,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        options={"ftol": 1e-15, "maxiter": 200},
    )
    return res.x, res.fun


def limited_variance(limit):
    """The best mean for a variance, by the interior method."""
    res = minimize(
        lambda w: -MEAN @ w,
        np.full(4, 0.25),
        method="trust-constr",
        jac=lambda w: -MEAN,
        hess=lambda w: np.zeros((4, 4)),
        bounds=Bounds(np.zeros(4), np.ones(4)),
        constraints=[
            LinearConstraint(np.ones((1, 4)), 1, 1),
            NonlinearConstraint(lambda w: w @ COV @ w, -np.inf, limit, jac=lambda w: 2 * COV @ w),
        ],
        options={"gtol": 1e-11, "xtol": 1e-13, "maxiter": 2000, "barrier_tol": 1e-12},
    )
    return -res.fun


def risk_parity(budget):
    """Spinu's form, by a Newton method."""
    res = minimize(
        lambda w: 0.5 * w @ COV @ w - budget @ np.log(w),
        np.ones(4),
        jac=lambda w: COV @ w - budget / w,
        hess=lambda w: COV + np.diag(budget / w**2),
        method="Newton-CG",
        options={"xtol": 1e-12},
    )
    return res.x / res.x.sum()


def blend(price, need):
    """A blend whose prices and needs change."""
    res = linprog(
        price,
        A_ub=[[-2.0, -1.0, -3.0], [-1.0, -3.0, -1.0]],
        b_ub=-need,
        A_eq=[[1.0, 1.0, 1.0]],
        b_eq=[4.0],
        bounds=[(0, 3), (0, None), (0, 2.5)],
        method="highs-ds",
    )
    return res.fun, res.x, res.slack, res.eqlin.marginals, res.upper.marginals


def lot_sizes(price):
    """Whole lots: the plan is fixed, its cost is linear."""
    res = milp(
        c=price,
        constraints=LinearConstraint([[3, 2, 4], [1, 2, 1]], lb=[10, 5]),
        integrality=np.ones(3),
        bounds=Bounds(0, 5),
    )
    return res.fun


def matched(speed):
    a, b = np.sin(np.arange(8.0) * speed).reshape(4, 2), np.cos(np.arange(8.0)).reshape(4, 2)
    cost = np.linalg.norm(a[:, None] - b[None], axis=-1)
    i, j = linear_sum_assignment(cost, maximize=False)
    return cost[i, j].sum()


def svi_calibration(noise):
    """A smile's five parameters by a dogleg in a box."""
    k = np.log(STRIKES)

    def residual(p):
        a, b, rho, m, s = p
        return a + b * (rho * (k - m) + np.sqrt((k - m) ** 2 + s * s)) - (IMPLIED + noise) ** 2

    fit = least_squares(
        residual,
        [0.03, 0.1, -0.3, 0.0, 0.2],
        bounds=([-1, 0, -0.99, -1, 0.05], [1, 2, 0.99, 1, 1]),
        method="dogbox",
        xtol=1e-15,
        ftol=1e-15,
        gtol=1e-15,
    )
    return fit.cost, residual(fit.x)


def decay(noise):
    """A curve with errors of its points, and its covariance."""
    popt, pcov, info, _, _ = curve_fit(
        lambda t, a, k, c: a * np.exp(-k * t) + c,
        T,
        SIGNAL + noise,
        p0=(1.5, 0.5, 0.2),
        sigma=0.1 + 0.02 * T,
        absolute_sigma=False,
        full_output=True,
        xtol=1e-13,
        ftol=1e-13,
    )
    return popt, np.sqrt(np.diag(pcov)), np.sum(info["fvec"] ** 2)


def decay_in_box(scale):
    popt, pcov = curve_fit(
        lambda t, a, k: a * np.exp(-k * t),
        T,
        SIGNAL * scale,
        bounds=([0, 0], [10, 0.6]),
        jac=lambda t, a, k: np.c_[np.exp(-k * t), -a * t * np.exp(-k * t)],
        xtol=1e-14,
        ftol=1e-14,
    )
    return popt[0], pcov[0, 0]


def unmixing(shift):
    """Shares of spectra that are not negative."""
    A = np.exp(-((T[:, None] - np.array([0.8, 1.6, 2.9])) ** 2))
    x, misfit = nnls(A, SIGNAL + shift)
    res = lsq_linear(A, SIGNAL + shift, bounds=(0.1, 1.5), method="bvls", tol=1e-14)
    return x, misfit, res.x, res.cost


def operating_point(supply, gain):
    """Ebers and Moll: an amplifier's direct currents."""

    def nodes(v):
        vb, ve, vc = v
        ic = 1e-12 * np.expm1((vb - ve) / 0.026)
        return [
            (supply - vb) / 100e3 - vb / 22e3 - ic / gain,
            ve / 1e3 - ic * (1 + 1 / gain),
            (supply - vc) / 4.7e3 - ic,
        ]

    x, _info, _ok, _ = fsolve(nodes, [1.6, 1.0, 6.0], full_output=True, xtol=1e-13)
    return x, (supply - x[2]) / 4.7e3


def ionic_equilibrium(ka, total):
    """The pH of an acid and of its buffer."""

    def charge(ph):
        h = 10.0**-ph
        return h - 1e-14 / h - total * ka / (ka + h)

    bracket = root_scalar(charge, bracket=[0, 14], method="brentq", xtol=1e-13)
    ridder = root_scalar(charge, bracket=[0, 14], method="ridder", xtol=1e-13)
    return bracket.root, ridder.root


def gibbs(temperature, pressure):
    """Composition of least free energy with the balance of elements."""
    mu = np.array([-1.0, -0.3, -0.6]) / temperature
    A = np.array([[1.0, 2.0, 0.0], [1.0, 0.0, 1.0]])

    def equations(z):
        n, lam = np.exp(z[:3]), z[3:]
        return np.r_[mu + np.log(n / n.sum() * pressure) - A.T @ lam, A @ n - np.array([2.0, 1.0])]

    sol = root(equations, np.r_[np.log([0.5, 0.7, 0.5]), -1.0, -1.0], method="hybr", tol=1e-13)
    return np.exp(sol.x[:3])


def levenberg(c):
    sol = root(
        lambda x: [x[0] + 0.5 * x[1] ** 2 - c, np.sin(x[0]) - x[1] + 0.2],
        [0.5, 0.5],
        method="lm",
        tol=1e-14,
    )
    other = root(lambda x: np.cos(x) * c - x, np.full(3, 0.5), method="krylov", tol=1e-11)
    return sol.x, other.x[0]


def cournot(costs):
    """Quantities at which no firm wants another."""

    def best(q):
        rest = q.sum() - q
        return np.maximum((10 - rest - costs) / 2, 0)

    return opt.fixed_point(lambda q: 0.5 * q + 0.5 * best(q), np.ones(3), xtol=1e-13, maxiter=900)


def sequence_of_roots(nu):
    """Roots of many equations at once."""
    x = opt.newton(
        lambda x, n: special.jv(n, x),
        np.array([2.4, 5.5, 8.7]),
        fprime=lambda x, n: special.jvp(n, x),
        args=(nu,),
        tol=1e-13,
    )
    many = elementwise.find_root(
        lambda x, c: x**3 + x - c, (0.0, 3.0), args=(nu + np.arange(1.0, 4.0),)
    )
    return x, many.x


def halley(a):
    return opt.newton(
        lambda x: x**3 - a, 1.0, fprime=lambda x: 3 * x * x, fprime2=lambda x: 6 * x, tol=1e-14
    )


def spending(price, income):
    """A consumer's choice by COBYQA-free means: the multiplier is a root."""

    def demand(lam):
        return (0.3 / (lam * price)) ** 1.5

    lam = opt.brenth(lambda s: price @ demand(np.exp(s)) - income, -8, 4, xtol=1e-14)
    return demand(np.exp(lam)), np.exp(lam)


def golden(a):
    one = minimize_scalar(
        lambda x: (x - a) ** 2 + 0.3 * np.cos(3 * x), bracket=(0, 1, 2), method="golden", tol=1e-10
    )
    two = minimize_scalar(lambda x: x**4 - a * x, method="brent", options={"xtol": 1e-10})
    three = minimize_scalar(
        lambda x: np.exp(x) - a * x, bounds=(-1, 3), method="bounded", options={"xatol": 1e-10}
    )
    return one.fun, two.fun, three.fun, two.x


def bundle(shift):
    """Each minimiser that a project tries in turn."""

    def loss(x, s):
        return np.sum((x - s) ** 4) + np.sum((x[1:] - x[:-1]) ** 2) + 0.5 * np.sum(x**2)

    out = []
    for method, options in {
        "BFGS": {"gtol": 1e-10},
        "CG": {"gtol": 1e-9},
        "L-BFGS-B": {"ftol": 1e-16, "gtol": 1e-10},
        "TNC": {"gtol": 1e-10, "ftol": 1e-15, "xtol": 1e-12},
        "Powell": {"xtol": 1e-9, "ftol": 1e-12},
        "Nelder-Mead": {"xatol": 1e-8, "fatol": 1e-14, "maxiter": 2000},
    }.items():
        res = minimize(loss, np.zeros(2), args=(shift,), method=method, options=options)
        out.append(res.fun)
    return np.array(out)


class Estimator:
    """Probit with a ridge, fitted; what a test set then says."""

    def __init__(self, ridge):
        self.ridge = ridge

    def fit(self, X, y):
        self.res_ = minimize(
            self.loss, np.zeros(X.shape[1]), (X, y), "BFGS", jac=self.slope, tol=1e-10
        )
        self.coef_ = self.res_.x
        return self

    def loss(self, b, X, y):
        return -norm.logcdf((2 * y - 1) * (X @ b)).sum() + 0.5 * self.ridge * b @ b

    def slope(self, b, X, y):
        q = 2 * y - 1
        z = q * (X @ b)
        return -X.T @ (q * np.exp(norm.logpdf(z) - norm.logcdf(z))) + self.ridge * b

    def predict_proba(self, X):
        return norm.cdf(X @ self.coef_)


def held_out(ridge, mix):
    X = np.c_[np.ones(12), np.sin(np.arange(12.0)) + mix * np.cos(3 * np.arange(12.0))]
    y = (np.arange(12) % 3 == 0).astype(float)
    return Estimator(ridge).fit(X, y).predict_proba(X[:4])


def trust_region(offset):
    """The subproblem of a trust region by the secular equation."""
    H = np.array([[1.0, 0.4], [0.4, -0.5]])
    g = np.array([1.0, offset])
    w, v = linalg.eigh(H)
    gv = v.T @ g
    lam = root_scalar(
        lambda s: np.sum((gv / (w + s)) ** 2) - 1.0, bracket=[0.02 - w[0], 20.0], method="toms748"
    ).root
    return -v @ (gv / (w + lam)), lam


def water_filling(power, noise):
    level = optimize.bisect(lambda m: np.maximum(m - noise, 0).sum() - power, 0.0, 20.0, xtol=1e-14)
    return np.sum(np.log2(1 + np.maximum(level - noise, 0) / noise))


def entropy_of_most(mean):
    """The distribution of largest entropy with a given mean, by its dual."""
    x = np.arange(1.0, 7.0)

    def dual(t):
        return special.logsumexp(t * x) - t[0] * mean, special.softmax(t * x) @ x - mean

    res = minimize(dual, [0.0], jac=True, method="BFGS", options={"gtol": 1e-11})
    return special.softmax(res.x * x), res.fun


def global_minimum(tilt):
    """Found by evolution, polished; the value is what is asked for."""
    res = optimize.differential_evolution(
        lambda x: (x[0] ** 2 - 1) ** 2 + tilt * x[0], [(-2, 2)], seed=3, tol=1e-10
    )
    hop = optimize.basinhopping(lambda x: (x[0] ** 2 - 1) ** 2 + tilt * x[0], 0.5, niter=3, rng=1)
    return res.fun, hop.fun


def slopes(x):
    """What old code differences by hand."""
    f = lambda z: np.sum(np.sin(z) * z)
    rosen = (
        optimize.rosen(x),
        optimize.rosen_der(x),
        optimize.rosen_hess(x),
        optimize.rosen_hess_prod(x, x),
    )
    return f(x), *rosen


def derivative_by_scipy(x):
    d = optimize.elementwise.bracket_root(lambda z: z**3 - x, 0.0, 1.0)
    return optimize.elementwise.find_root(lambda z: z**3 - x, d.bracket).x


def transport(cost):
    """Shipments between three works and three towns."""
    A = np.vstack([np.kron(np.eye(3), np.ones(3)), np.kron(np.ones(3), np.eye(3))[:-1]])
    res = linprog(cost.ravel(), A_eq=A, b_eq=[3, 4, 5, 4, 6], bounds=(0, None), method="highs-ipm")
    return res.fun, res.x.reshape(3, 3)[0]


MORE = [
    (risk_parity, (np.array([0.3, 0.2, 0.3, 0.2]),)),
    (blend, (np.array([2.0, 3.0, 4.5]), np.array([7.2, 6.0]))),
    (lot_sizes, (np.array([1.0, 1.3, 2.1]),)),
    (matched, (0.5,)),
    (svi_calibration, (np.array([0.0, 0.002, -0.001, 0.001, 0.0]),)),
    (decay, (0.01 * np.cos(T),)),
    (decay_in_box, (1.1,)),
    (unmixing, (0.1,)),
    (operating_point, (12.0, 150.0)),
    (ionic_equilibrium, (1.8e-5, 0.1)),
    (gibbs, (1.1, 2.0)),
    (levenberg, (0.8,)),
    (cournot, (np.array([1.0, 1.5, 2.0]),)),
    (sequence_of_roots, (0.2,)),
    (halley, (5.0,)),
    (spending, (np.array([1.0, 2.0, 0.7]), 10.0)),
    (golden, (1.3,)),
    (held_out, (0.5, 0.3)),
    (trust_region, (0.4,)),
    (water_filling, (3.0, np.array([0.5, 1.0, 4.0, 0.8]))),
    (entropy_of_most, (4.2,)),
    (global_minimum, (0.3,)),
    (slopes, (np.array([0.8, 1.2, 0.9]),)),
    (derivative_by_scipy, (4.0,)),
    (transport, (np.array([[4.0, 2.1, 3.0], [2.0, 3.2, 1.1], [3.3, 1.0, 2.2]]),)),
]
SELDOM = [
    (long_only, (3.0,)),
    (limited_variance, (0.04,)),
    (bundle, (np.array([0.8, -0.5]),)),
]
