"""A harbour's offices: traders, planners, surveyors, and those who clean signals and pictures."""
# ruff: noqa: RUF059  # names as they are often written

from collections import namedtuple
from dataclasses import dataclass
from functools import cache

import numpy as np
import scipy
import scipy.integrate as spi
import scipy.linalg as la
import scipy.optimize as spo
import scipy.special as sc
import scipy.stats as ss
from scipy import interpolate, linalg, ndimage, optimize, signal, sparse
from scipy.cluster.vq import whiten
from scipy.integrate import simpson, solve_bvp, solve_ivp
from scipy.interpolate import CubicSpline, PchipInterpolator, RBFInterpolator
from scipy.linalg import block_diag, solve_discrete_are, solve_discrete_lyapunov, toeplitz
from scipy.optimize import brentq, least_squares, minimize, minimize_scalar, root
from scipy.sparse.linalg import spsolve
from scipy.spatial import cKDTree
from scipy.spatial.distance import pdist, squareform
from scipy.spatial.transform import Rotation as R
from scipy.stats import lognorm, norm, qmc

# Markets.


@dataclass
class Market:
    mu: np.ndarray
    cov: np.ndarray
    rf: float = 0.01

    def stats(self, w):
        return w @ self.mu, np.sqrt(w @ self.cov @ w)


class Optimiser:
    """The usual class: weights by SLSQP with a budget, bounds and a target."""

    def __init__(self, market, bounds=(0.0, 1.0)):
        self.market = market
        self.bounds = [bounds] * len(market.mu)
        self.budget = {"type": "eq", "fun": lambda w: np.sum(w) - 1.0}

    def _solve(self, objective, *extra):
        n = len(self.market.mu)
        res = minimize(
            objective,
            np.full(n, 1.0 / n),
            method="SLSQP",
            bounds=self.bounds,
            constraints=[self.budget, *extra],
            options={"ftol": 1e-14, "maxiter": 300},
        )
        if not res.success:
            raise ValueError(res.message)
        return res.x

    def efficient(self, target):
        reach = {"type": "eq", "fun": lambda w: w @ self.market.mu - target}
        return self._solve(lambda w: w @ self.market.cov @ w, reach)

    def max_sharpe(self):
        def minus_sharpe(w):
            r, s = self.market.stats(w)
            return -(r - self.market.rf) / s

        return self._solve(minus_sharpe)


def two_portfolios(mu, corr):
    sd = np.array([0.12, 0.2, 0.15])
    C = np.outer(sd, sd) * (np.eye(3) * (1 - corr) + corr)
    opt = Optimiser(Market(mu, C))
    w = opt.efficient(0.085)
    v = opt.max_sharpe()
    return w, np.sqrt(w @ C @ w), opt.market.stats(v)[0]


def strip_of_vols(spot, rate):
    """Implied volatilities of a strip by a bracket for each strike, and a skew."""

    def bs(k, v, t=0.5):
        d1 = (np.log(spot / k) + (rate + v * v / 2) * t) / (v * np.sqrt(t))
        return spot * norm.cdf(d1) - k * np.exp(-rate * t) * norm.cdf(d1 - v * np.sqrt(t))

    strikes = [90.0, 100.0, 110.0]
    quotes = [14.1, 7.6, 3.6]
    vols = np.array(
        [
            brentq(lambda v, k=k, q=q: bs(k, v) - q, 1e-3, 3.0, xtol=1e-14)
            for k, q in zip(strikes, quotes, strict=True)
        ]
    )
    slope = np.polyfit(np.log(np.array(strikes) / 100), vols, 1)[0]
    return vols, slope


def basket_by_sobol(vol, rho, strike=100.0):
    """A basket call with a thousand quasi-random points, variates by a control."""
    sampler = qmc.Sobol(d=2, scramble=True, seed=7)
    z = norm.ppf(sampler.random_base2(m=8))
    L = np.linalg.cholesky(np.array([[1.0, rho], [rho, 1.0]]))
    s = 100 * np.exp(-(vol**2) / 2 + vol * z @ L.T)
    pay = np.maximum(s.mean(axis=1) - strike, 0.0)
    geo = np.maximum(np.sqrt(s[:, 0] * s[:, 1]) - strike, 0.0)
    sg = vol * np.sqrt((1 + rho) / 2)
    mg = -(vol**2) / 2 + sg**2 / 2
    d = (mg + sg**2 / 2) / sg
    exact = 100 * np.exp(mg) * norm.cdf(d + sg / 2) - strike * norm.cdf(d - sg / 2)
    b = np.cov(pay, geo)[0, 1] / np.var(geo, ddof=1)
    return pay.mean() - b * (geo.mean() - exact), b


def par_curve(quotes):
    """A curve bootstrapped by root, splined in logs, and an annuity by quad."""
    T = np.array([1.0, 2.0, 3.0, 5.0])

    def curve(z):
        return CubicSpline(np.r_[0.0, T], np.r_[0.0, -z * T], bc_type="natural")

    def mispriced(z):
        df = lambda t: np.exp(curve(z)(t))
        return [
            q * np.sum(df(np.arange(1.0, t + 0.5))) + df(t) - 1.0
            for q, t in zip(quotes, T, strict=True)
        ]

    sol = root(mispriced, quotes, tol=1e-14)
    assert sol.success
    final = curve(sol.x)
    annuity = spi.quad(lambda t: np.exp(final(t)), 0.0, 4.0, limit=100)[0]
    return sol.x, annuity, -final(2.5, 1)


def tail_losses(skew, df):
    """Value at risk and shortfall of a skewed normal and a scaled t."""
    law = ss.skewnorm(skew, loc=0.1, scale=1.3)
    t = ss.t(df, scale=np.sqrt((df - 2) / df))
    out = []
    for frozen in (law, t):
        q = frozen.ppf(0.05)
        es = spi.quad(lambda x, f=frozen: x * f.pdf(x), -np.inf, q)[0] / 0.05
        out += [q, es]
    return np.array(out), law.stats("mvs")[2]


def collateral_game(cost, elasticity):
    """Three firms' quantities by a damped fixed point, their mark-ups and welfare."""
    c = cost * np.array([1.0, 1.1, 1.3])

    def reply(q):
        total = q.sum()
        price = total ** (-1 / elasticity)
        return 0.5 * q + 0.5 * np.clip(elasticity * total * (1 - c / price), 1e-6, None)

    q = spo.fixed_point(reply, np.array([0.3, 0.25, 0.2]), xtol=1e-13, maxiter=2000)
    price = q.sum() ** (-1 / elasticity)
    return q, price, (price - c) / price


# Planning.


def newsvendor_network(mean, cv):
    """Orders of two goods with lognormal demand under a shared budget."""
    s = np.sqrt(np.log1p(cv**2))
    laws = [lognorm(s, scale=m * np.exp(-(s**2) / 2)) for m in mean]
    price, cost = np.array([10.0, 7.0]), np.array([4.0, 3.0])

    def order(lam):
        return np.array(
            [law.ppf((p - c * (1 + lam)) / p) for law, p, c in zip(laws, price, cost, strict=True)]
        )

    lam = brentq(lambda v: cost @ order(v) - 420.0, 0.0, 0.9, xtol=1e-13)
    q = order(lam)
    sold = [law.expect(lb=0, ub=k) + k * law.sf(k) for law, k in zip(laws, q, strict=True)]
    return lam, q, np.array(sold)


def berths(arrivals, service, k=3):
    """Ships at k berths: a rate matrix, its stationary law by lstsq and a mean wait."""
    n = 9
    Q = np.diag(np.full(n - 1, arrivals), 1)
    Q += np.diag([min(i, k) * service for i in range(1, n)], -1)
    Q -= np.diag(Q.sum(axis=1))
    A = np.vstack([Q.T, np.ones(n)])
    b = np.zeros(n + 1)
    b[-1] = 1
    pi, *_ = la.lstsq(A, b)
    waiting = np.maximum(np.arange(n) - k, 0) @ pi
    return pi[:3], waiting / (arrivals * (1 - pi[-1])), -sc.xlogy(pi, pi).sum()


def assigned_cranes(places, ships):
    """Cranes to ships by the cheapest assignment, and the slack of the second best."""
    cost = np.abs(places[:, None] - ships[None, :]) ** 1.5
    rows, cols = spo.linear_sum_assignment(cost)
    best = cost[rows, cols].sum()
    worst = cost[spo.linear_sum_assignment(cost, maximize=True)].sum()
    return best, worst - best, cost[rows, cols].max()


def dispatch_with_losses(demand, loss):
    """Generators under a nonlinear balance: trust-constr, with the multipliers' price."""
    a, b = np.array([0.05, 0.08, 0.03]), np.array([2.0, 1.5, 3.0])
    cost = lambda p: np.sum(a * p**2 + b * p)
    balance = spo.NonlinearConstraint(lambda p: p.sum() - loss * p @ p - demand, 0.0, 0.0)
    res = minimize(
        cost,
        np.full(3, demand / 3),
        method="trust-constr",
        jac=lambda p: 2 * a * p + b,
        hess=lambda p: np.diag(2 * a),
        constraints=balance,
        options={"gtol": 1e-11, "xtol": 1e-13, "maxiter": 500},
    )
    return res.x, res.fun


def blending(prices, limit):
    """A blend by linear programming; the price of its sulphur."""
    res = spo.linprog(
        prices,
        A_ub=[[0.5, 1.5, 0.9]],
        b_ub=[limit],
        A_eq=[[1.0, 1.0, 1.0]],
        b_eq=[1.0],
        bounds=[(0, 0.7)] * 3,
    )
    return res.x, res.fun, res.ineqlin.marginals[0]


def isotonic_dose(y):
    """A monotone dose curve, and the dose at which half respond."""
    fit = spo.isotonic_regression(y, weights=np.array([1.0, 2, 2, 1, 3, 1])).x
    dose = np.arange(6.0)
    return fit, np.interp(0.5, fit + 1e-9 * dose, dose)


def global_fit(depth):
    """A landscape with many valleys by differential evolution, polished."""

    def f(x):
        return np.sum((x - depth) ** 2) - 0.5 * np.cos(6 * x[0]) - 0.3 * np.cos(5 * x[1])

    res = spo.differential_evolution(f, [(-3, 3), (-3, 3)], seed=3, tol=1e-10, polish=True)
    return res.x, res.fun


def kinematic_chain(target, lengths):
    """A robot's joints for a place to reach, with limits; the Jacobian's least stretch."""

    def hand(q):
        a = np.cumsum(q)
        return np.array([lengths @ np.cos(a), lengths @ np.sin(a)])

    def residual(q):
        return np.r_[hand(q) - target, 1e-2 * q]

    sol = least_squares(
        residual, [0.5, 0.4, 0.3], bounds=([-2.0] * 3, [2.0] * 3), xtol=1e-15, ftol=1e-15
    )
    a = np.cumsum(sol.x)
    J = np.array(
        [
            [-(lengths[i:] @ np.sin(a[i:])) for i in range(3)],
            [lengths[i:] @ np.cos(a[i:]) for i in range(3)],
        ]
    )
    return sol.x, la.svdvals(J)[-1], sol.cost


# Control, heat and matrices.


Plant = namedtuple("Plant", "A B Q R")


@cache
def horizon(n):
    return np.arange(n)


def cruise_control(mass, drag, weight):
    """A discretised car, its regulator, the cost to come, and a run of ten steps."""
    Ad, Bd, *_ = signal.cont2discrete(
        (np.array([[0.0, 1.0], [0.0, -drag / mass]]), np.array([[0.0], [1 / mass]]), np.eye(2), 0),
        dt=0.5,
    )
    p = Plant(Ad, Bd, np.diag([1.0, 0.1]), np.array([[weight]]))
    X = solve_discrete_are(p.A, p.B, p.Q, p.R)
    K = la.solve(p.R + p.B.T @ X @ p.B, p.B.T @ X @ p.A)
    closed = p.A - p.B @ K
    P = solve_discrete_lyapunov(closed.T, p.Q + K.T @ p.R @ K)
    x, xs = np.array([1.0, 0.0]), []
    for _ in horizon(10):
        x = closed @ x
        xs.append(x)
    return K[0], np.trace(P), np.max(np.abs(la.eigvals(closed))), np.array(xs)[-1]


def crank_nicolson_put(vol, rate):
    """A European put on a grid with solve_banded, its delta and gamma."""
    n, m, strike = 60, 30, 100.0
    s = np.linspace(0, 300, n + 1)
    dt = 1.0 / m
    j = np.arange(1, n)
    a = 0.25 * dt * (vol**2 * j**2 - rate * j)
    b = -0.5 * dt * (vol**2 * j**2 + rate)
    c = 0.25 * dt * (vol**2 * j**2 + rate * j)
    ab = np.zeros((3, n - 1))
    ab[0, 1:], ab[1], ab[2, :-1] = -c[:-1], 1 - b, -a[1:]
    v = np.maximum(strike - s, 0.0)
    for step in range(m):
        rhs = a * v[:-2] + (1 + b) * v[1:-1] + c * v[2:]
        low = strike * np.exp(-rate * (step + 1) * dt)
        rhs[0] += a[0] * low
        v[1:-1] = la.solve_banded((1, 1), ab, rhs)
        v[0], v[-1] = low, 0.0
    return v[20], (v[21] - v[19]) / 10, (v[21] - 2 * v[20] + v[19]) / 25


def fin_with_unknown_tip(biot, length):
    """A fin's temperature by solve_bvp, with the heat at its foot."""

    def rhs(x, y):
        return np.vstack((y[1], biot * y[0] ** 1.25))

    def ends(ya, yb):
        return np.array([ya[0] - 1.0, yb[1] + 0.3 * yb[0]])

    x = np.linspace(0, 1, 11) * length
    sol = solve_bvp(rhs, ends, x, np.ones((2, x.size)), tol=1e-9, max_nodes=20000)
    return sol.sol(length / 2)[0], -sol.y[1, 0], sol.y[0, -1]


def warming_soil(k, flux):
    """A soil column by the method of lines, Radau with a sparse Jacobian's pattern."""
    n = 12
    dz = 1.0 / n
    pattern = sparse.diags([1.0, 1.0, 1.0], [-1, 0, 1], shape=(n, n)).toarray()

    def rhs(t, T):
        top = flux * np.sin(t) - 0.5 * T[0]
        q = np.empty(n + 1)
        q[0], q[-1] = top, 0.0
        q[1:-1] = -k * (1 + 0.1 * T[1:]) * np.diff(T) / dz
        return -np.diff(q) / dz

    sol = solve_ivp(
        rhs, (0, 2), np.zeros(n), method="Radau", jac_sparsity=pattern, rtol=1e-8, atol=1e-10
    )
    return sol.y[[0, 5, 11], -1]


def sparse_well(rate, transmissivity):
    """Steady flow to a well on a grid of two dimensions by spsolve."""
    n = 7
    one = sparse.eye(n)
    d = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n))
    A = transmissivity * (sparse.kron(d, one) + sparse.kron(one, d)) + 0.05 * sparse.eye(n * n)
    b = np.zeros(n * n)
    b[n * n // 2] = -rate
    h = spsolve(A.tocsc(), b).reshape(n, n)
    return h[3, 3], h[1, 2], ndimage.laplace(h)[3, 4]


def canonical_pairs(x, y):
    """Canonical correlations by inverse square roots of matrices and singular values."""
    X, Y = x - x.mean(0), y - y.mean(0)
    n = len(X)
    Sx, Sy = X.T @ X / n + 0.1 * np.eye(2), Y.T @ Y / n + 0.1 * np.eye(2)
    half = la.inv(la.sqrtm(Sx)) @ (X.T @ Y / n) @ la.inv(la.sqrtm(Sy))
    u, s, vh = la.svd(half)
    return s, np.abs(u[:, 0]), -np.log(1 - s**2).sum()


def gaussian_divergences(scale, turn):
    """Between two normals: Kullback and Leibler, Bhattacharyya, and the way of logarithms."""
    c, s = np.cos(turn), np.sin(turn)
    Q = np.array([[c, -s], [s, c]])
    A = np.array([[1.0, 0.3], [0.3, 0.8]])
    B = Q @ np.diag([scale, 1.5]) @ Q.T
    kl = 0.5 * (np.trace(la.solve(B, A)) - 2 + np.log(la.det(B) / la.det(A)))
    bh = 0.5 * np.log(la.det((A + B) / 2) / np.sqrt(la.det(A) * la.det(B)))
    L = la.logm(la.solve(A, B))
    middle = A @ la.expm(0.5 * L)
    return kl, bh, middle[0], la.norm(L, "fro")


def autoregressive_state_space(phi, sigma):
    """Blocks of a state space for two series, unconditional covariance and likelihood."""
    A = block_diag(toeplitz([phi, 0.2], [phi, 0.1]), [[0.5]])
    P = solve_discrete_lyapunov(A, sigma**2 * np.eye(3))
    y = np.array([0.4, -0.2, 0.3])
    m, ll = np.zeros(3), 0.0
    for t in range(4):
        S = P + 0.3 * np.eye(3)
        L = la.cholesky(S, lower=True)
        e = la.solve_triangular(L, y * np.cos(t) - m, lower=True)
        ll += -0.5 * e @ e - np.log(np.diagonal(L)).sum()
        K = la.solve(S, P, assume_a="pos").T
        m = A @ (m + K @ (y * np.cos(t) - m))
        P = A @ (P - K @ P) @ A.T + sigma**2 * np.eye(3)
    return ll, m, np.trace(P)


def constrained_plane(points, weight):
    """A plane by total least squares, then a fit on the null space of a constraint."""
    M = np.column_stack([points, np.ones(len(points))])
    C = np.array([[0.0, 0.0, 1.0, weight]])
    N = la.null_space(C)
    target = np.array([0.2, 0.5, 0.1, 0.9, 0.4])
    z, res, rank, sv = la.lstsq(M @ N, target)
    x = N @ z
    q, r = la.qr(M, mode="economic")
    return x, sv, np.abs(np.prod(np.diag(r)))


# Signals, pictures and places.


def band_power(freq, width):
    """A digital band of second-order sections, Welch's density, power in the band."""
    fs = 100.0
    t = np.arange(200) / fs
    x = np.sin(2 * np.pi * freq * t) + 0.3 * np.cos(2 * np.pi * 31 * t)
    sos = signal.butter(3, [freq - width, freq + width], btype="bandpass", fs=fs, output="sos")
    y = signal.sosfilt(sos, x)
    f, p = signal.welch(y, fs=fs, nperseg=100)
    band = (f >= 8) & (f <= 16)
    return simpson(p[band], x=f[band]), np.sqrt(np.mean(y**2))


def beats_of_heart(rate, jitter):
    """Peaks of a pulse and the spread of their distances, refined by parabolas."""
    t = np.linspace(0, 6, 301)
    x = np.exp(6 * (np.cos(2 * np.pi * rate * t + jitter * np.sin(t)) - 1))
    peaks, props = signal.find_peaks(x, height=0.5, distance=10)
    a, b, c = x[peaks - 1], x[peaks], x[peaks + 1]
    at = t[peaks] + 0.5 * (a - c) / (a - 2 * b + c) * (t[1] - t[0])
    rr = np.diff(at)
    return 60 / rr.mean(), np.sqrt(np.mean(np.diff(rr) ** 2)), props["peak_heights"].mean()


def sharpened(blur, gain):
    """An unsharp mask, its contrast and a line profile read between pixels."""
    y, x = np.mgrid[-2:2:20j, -2:2:20j]
    img = 1 / (1 + np.exp(-4 * (x + 0.3 * y))) + 0.1 * np.sin(5 * y)
    soft = ndimage.gaussian_filter(img, sigma=blur)
    out = img + gain * (img - soft)
    line = ndimage.map_coordinates(out, [np.linspace(3, 15, 5), np.linspace(2, 17, 5)], order=1)
    return np.std(out), line, ndimage.sobel(out, axis=1)[10, 10]


def drifting_attitude(rates, bias):
    """A gyroscope summed as rotations, a mean attitude, and the angle to the truth."""
    att = R.identity()
    seen = []
    for k in range(5):
        att = att * R.from_rotvec((rates - bias) * 0.1 * (1 + 0.2 * k))
        seen.append(att.as_quat())
    mean = R.from_quat(np.array(seen)).mean()
    truth = R.from_euler("zyx", [5, -3, 2], degrees=True)
    return att.as_euler("xyz"), mean.as_matrix()[0], (truth.inv() * mean).magnitude()


def depth_between(depths, at):
    """Depths of a survey by inverse distances, by a thin plate, and where it's shallow."""
    xy = np.array([[0.0, 0.0], [1.0, 0.1], [0.2, 1.1], [1.2, 0.9], [0.6, 0.5], [1.7, 0.3]])
    tree = cKDTree(xy)
    d, idx = tree.query(at, k=3)
    w = 1 / d**2
    idw = np.sum(w * depths[idx]) / np.sum(w)
    rbf = RBFInterpolator(xy, depths, kernel="thin_plate_spline", smoothing=0.01)
    return idw, rbf(at[None, :])[0], whiten(xy * depths[:, None]).std()


def tide_gauge(amplitudes, phase):
    """Harmonics smoothed by a spline of given weights; high water and its time."""
    t = np.linspace(0, 12, 25)
    h = amplitudes[0] * np.cos(2 * np.pi * t / 12.42 - phase) + amplitudes[1] * np.cos(
        2 * np.pi * t / 12 - 0.3
    )
    tck = interpolate.splrep(t, h, s=0)
    spline = interpolate.BSpline(*tck)
    high = minimize_scalar(lambda x: -interpolate.splev(x, tck), bounds=(0, 4), method="bounded").x
    return interpolate.splint(0.0, 6.0, tck), spline(high), interpolate.splev(7.3, tck, der=1)


def airfoil_polar(camber, alpha):
    """A cambered section: a spline of measured points, its slope, and the best glide."""
    a = np.array([-4.0, 0.0, 4.0, 8.0, 12.0, 16.0])
    cl = CubicSpline(a, np.array([-0.1, 0.3, 0.72, 1.1, 1.35, 1.2]) + camber)
    cd = PchipInterpolator(a, np.array([0.011, 0.008, 0.009, 0.013, 0.022, 0.05]) + camber**2)
    best = minimize_scalar(
        lambda x: -cl(x) / cd(x), bounds=(0, 12), method="bounded", options={"xatol": 1e-9}
    )
    stall = cl.derivative().roots(extrapolate=False)
    return cl(alpha) / cd(alpha), -best.fun, stall[-1], cl.integrate(0.0, alpha)


def scaled_points(points, power):
    """Multidimensional scaling, classical: distances, a centred matrix and two eigenvectors."""
    D = squareform(pdist(points)) ** power
    n = len(D)
    J = np.eye(n) - np.ones((n, n)) / n
    B = -0.5 * J @ (D**2) @ J
    w, v = linalg.eigh(B, subset_by_index=[n - 2, n - 1])
    Y = v * np.sqrt(w)
    stress = np.sqrt(((pdist(Y) - pdist(points)) ** 2).sum() / (pdist(points) ** 2).sum())
    return w, stress, np.abs(Y[0])


def calibrated_sensor(readings):
    """A thermistor by least squares in logs with a robust loss, then turned over."""
    temps = np.array([273.15, 283.15, 298.15, 313.15, 333.15])
    logs = np.log(readings)

    def residuals(p):
        return (p[0] + p[1] * logs + p[2] * logs**3) * 1e3 - 1e3 / temps * 1.0

    fit = least_squares(residuals, [1.0, 0.2, 0.0], loss="soft_l1", x_scale="jac", xtol=1e-15)
    t = 1 / (fit.x[0] + fit.x[1] * np.log(2.0) + fit.x[2] * np.log(2.0) ** 3)
    return fit.x, t, fit.cost


def version_branch(x):
    """Code that asks which SciPy it has, and integrates by what there is."""
    y = np.sin(x) * np.exp(-x / 3)
    major, minor = (int(v) for v in scipy.__version__.split(".")[:2])
    rule = scipy.integrate.simpson if (major, minor) >= (1, 6) else None
    total = rule(y, x=x)
    return total, optimize.root_scalar(lambda c: c * total - 0.3, x0=1.0, x1=2.0).root


SELDOM = [
    (two_portfolios, (np.array([0.06, 0.11, 0.09]), 0.25)),
    (strip_of_vols, (101.0, 0.02)),
    (basket_by_sobol, (0.25, 0.4)),
    (par_curve, (np.array([0.021, 0.024, 0.026, 0.029]),)),
    (tail_losses, (-1.4, 5.0)),
    (collateral_game, (0.6, 1.4)),
    (newsvendor_network, (np.array([60.0, 80.0]), 0.35)),
    (berths, (1.7, 0.8)),
    (assigned_cranes, (np.array([0.3, 1.7, 3.9]), np.array([0.9, 2.6, 3.1]))),
    (dispatch_with_losses, (40.0, 0.002)),
    (blending, (np.array([5.0, 2.2, 3.4]), 0.95)),
    (isotonic_dose, (np.array([0.05, 0.2, 0.15, 0.45, 0.7, 0.65]),)),
    (global_fit, (np.array([0.4, -0.7]),)),
    (kinematic_chain, (np.array([1.1, 1.3]), np.array([1.0, 0.8, 0.4]))),
    (cruise_control, (1.4, 0.3, 0.7)),
    (crank_nicolson_put, (0.3, 0.04)),
    (fin_with_unknown_tip, (1.8, 1.2)),
    (warming_soil, (0.4, 1.2)),
    (sparse_well, (2.0, 0.7)),
    (
        canonical_pairs,
        (
            np.array([[0.1, 1.0], [0.9, -0.2], [1.7, 0.6], [2.2, 1.9], [3.5, 0.3]]),
            np.array([[1.1, 0.2], [0.3, 0.9], [2.0, 1.4], [2.9, 0.8], [2.4, 2.6]]),
        ),
    ),
    (gaussian_divergences, (0.6, 0.5)),
    (autoregressive_state_space, (0.45, 0.8)),
    (
        constrained_plane,
        (
            np.array(
                [
                    [0.1, 1.0, 0.3],
                    [0.9, -0.2, 1.1],
                    [1.7, 0.6, 0.2],
                    [2.2, 1.9, 0.8],
                    [0.5, 0.3, 1.9],
                ]
            ),
            0.7,
        ),
    ),
    (band_power, (12.0, 3.0)),
    (beats_of_heart, (1.1, 0.3)),
    (sharpened, (1.3, 0.8)),
    (drifting_attitude, (np.array([0.4, -0.2, 0.9]), np.array([0.01, 0.02, -0.03]))),
    (depth_between, (np.array([3.0, 4.1, 2.7, 5.5, 3.3, 4.8]), np.array([0.7, 0.62]))),
    (tide_gauge, (np.array([1.3, 0.4]), 0.8)),
    (airfoil_polar, (0.05, 5.3)),
    (
        scaled_points,
        (np.array([[0.0, 0.1], [1.0, 0.3], [0.7, 1.2], [-0.5, 0.8], [0, -0.9]]), 1.1),
    ),
    (calibrated_sensor, (np.array([9.6, 5.9, 3.1, 1.75, 0.83]),)),
    (version_branch, (np.linspace(0.0, 4.0, 9) ** 1.1,)),
]
