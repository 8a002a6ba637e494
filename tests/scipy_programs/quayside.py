"""A market quay's numbers: prices, catches, stalls, queues, maps, photographs, networks and tides."""
# ruff: noqa: B905, E501, RUF059  # names and lines as they are often written

import warnings
from collections import defaultdict
from contextlib import suppress
from operator import itemgetter

import numpy as np
import numpy.linalg as la
import scipy.sparse as sp
from scipy import fft, integrate, interpolate, ndimage, optimize, signal, spatial, special, stats
from scipy.optimize import NonlinearConstraint, differential_evolution, minimize
from scipy.sparse import csgraph
from scipy.sparse import linalg as sla

# Prices and catches.


def cobweb(supply, demand):
    """Prices that follow last year's supply until they settle, and the welfare at rest."""
    price = 1.0
    path = []
    for _ in range(12):
        quantity = supply[0] + supply[1] * price**0.7
        price = ((demand[0] - quantity) / demand[1]) ** 0.5
        path.append(price)
    rest = optimize.fixed_point(
        lambda p: ((demand[0] - supply[0] - supply[1] * p**0.7) / demand[1]) ** 0.5, 1.0, xtol=1e-13
    )
    return (
        np.array(path[-4:]),
        rest,
        integrate.quad(lambda p: supply[1] * p**0.7, 0, rest, full_output=1)[0],
    )


def stock(growth, harvest):
    """A fish stock by ages: eigenvalue of a Leslie matrix, reproductive values, and a sensitivity."""
    L = np.diag(growth[1:], -1)
    L[0] = growth * 0.8
    w, left, right = la_eig(L * (1 - harvest))
    v = np.abs(left[:, 0].real)
    u = np.abs(right[:, 0].real)
    return w[0].real, v @ u / (la.norm(v) * la.norm(u)), np.outer(v, u)[0] / (v @ u)


def la_eig(A):
    from scipy.linalg import eig

    w, vl, vr = eig(A, left=True, right=True)
    order = np.argsort(-w.real)
    return w[order], vl[:, order], vr[:, order]


def auction(values, spread):
    """Bids in a first-price auction: a differential equation for the bid, valued at each bidder."""
    law = stats.truncnorm(-1.5, 1.5, loc=1.0, scale=spread)
    n = 4

    def slope(v, b):
        return (n - 1) * law.pdf(v) / law.cdf(v) * (v - b)

    start = 1.0 - 1.2 * spread
    r = integrate.solve_ivp(
        slope, (start, 1.0 + 1.4 * spread), [start - 0.05], rtol=1e-11, atol=1e-12, vectorized=True, dense_output=True
    )  # fmt: skip
    return r.sol(1.0 + spread * np.tanh(values))[0]


def demand_system(prices, taste):
    """An almost ideal demand system: shares, then elasticities by a pseudo-inverse with a cut-off."""
    gamma = np.array([[0.1, -0.06, -0.04], [-0.06, 0.14, -0.08], [-0.04, -0.08, 0.12]])
    logp = np.log(prices)
    index = taste @ logp + logp @ gamma @ logp / 2
    shares = taste + gamma @ logp + np.array([0.05, -0.02, -0.03]) * (1.0 - index)
    elasticity = gamma / shares[:, None] - np.eye(3)
    return shares, la.pinv(elasticity, rcond=1e-10)[0], np.trace(elasticity, offset=1)


def spoilage(temps, energy):
    """A shelf life over days of changing temperature by Arrhenius's law, summed by the midpoint rule."""
    with np.errstate(under="ignore"), suppress(KeyError):
        rate = np.exp(-energy * 1e3 / 8.314 * (1 / (temps + 273.15) - 1 / 277.15))
    used = np.add.accumulate(rate * 0.125)
    half = np.interp(0.5, used, np.arange(len(temps)) * 1.0)
    return used[-1], half, np.trapezoid(rate, dx=0.125), np.percentile(rate, 37.5, method="weibull")


def stalls(rents, footfall):
    """Stalls to merchants at the largest sum of what they'd earn, and the rent's share."""
    worth = np.log1p(np.outer(rents, footfall)) + np.cos(np.arange(12.0).reshape(3, 4) * 1.7) * 0.2
    rows, cols = optimize.linear_sum_assignment(worth, maximize=True)
    by_stall = defaultdict(float)
    for r, c in zip(rows.tolist(), cols.tolist()):
        by_stall[c] += worth[r, c] / footfall[c]
    best = max(by_stall.items(), key=itemgetter(1))
    return worth[rows, cols].sum(), best[1], np.array(list(by_stall.values()))


def nets(mesh, sizes):
    """Selectivity of nets by a logistic curve of length: a fit by slices with equations as limits."""
    share = special.expit((sizes - mesh) * 1.3)

    def loss(x):
        return (
            np.sum((special.expit((sizes - x[0]) * x[1]) - share) ** 2)
            + 0.01 * x[1] ** 2
            + 0.1 * (x[2] - 1) ** 2
        )

    def slopes(x):  # SLSQP's own differences would amplify the last bits of `loss`
        p = special.expit((sizes - x[0]) * x[1])
        r = 2.0 * (p - share) * p * (1.0 - p)
        return np.array([-np.sum(r) * x[1], r @ (sizes - x[0]) + 0.02 * x[1], 0.2 * (x[2] - 1.0)])

    x = optimize.fmin_slsqp(
        loss, [1.0, 1.0, 0.5], fprime=slopes, f_eqcons=lambda x: np.array([x[0] - x[2] * 2.0]), f_ieqcons=lambda x: np.array([3.0 - x[1]]), acc=1e-15, iprint=0
    )  # fmt: skip
    return x


# Not asked: it ends at SciPy's own tolerance, which differences see, and SciPy warns.
def quota(limits, price):
    """Two species and a quota: an evolution of bounded catches with a start that's given."""

    def cost(x):
        return (x[0] - 1.2) ** 2 + 0.7 * (x[1] - price) ** 2 + 0.3 * x[0] * x[1]

    r = differential_evolution(
        cost, [(0.0, 3.0), (0.0, 3.0)], x0=[0.5, 0.5], init="halton", mutation=(0.4, 0.9), rng=3, tol=1e-10, maxiter=300,
        constraints=NonlinearConstraint(lambda x: x[0] + limits * x[1], -np.inf, 1.3),
    )  # fmt: skip
    return r.fun, r.x


# Queues and risks.


def ferries(arrivals, capacity):
    """A batch queue's states at rest: a stochastic matrix, its left vector, and the wait."""
    n = 9
    k = np.arange(n)
    p = stats.poisson.pmf(k, arrivals)
    P = np.zeros((n, n))
    for i in range(n):
        left = max(i - 3, 0)
        P[i, left:] = p[: n - left]
        P[i, -1] += stats.poisson.sf(n - left - 1, arrivals)
    A = np.vstack([P.T - np.eye(n), np.ones(n)])
    pi = la.lstsq(A, np.append(np.zeros(n), 1.0), rcond=None)[0]
    length = pi @ k
    return pi[:3], length / arrivals, la.matrix_power(P, 5)[0, :3] * capacity


def ruin(premium, claims):
    """The chance of ruin of an insurer of boats: Lundberg's exponent and an integral equation."""
    p = claims / claims.sum()
    sizes = np.array([0.5, 1.0, 2.5])
    mgf = lambda r: p @ np.exp(r * sizes) - 1.0 - premium * (p @ sizes) * r
    R = optimize.toms748(mgf, 0.05, 2.0, xtol=1e-14, rtol=1e-14, k=2)
    u = np.linspace(0, 4, 41)
    tail = 1 - (p[:, None] * (u > sizes[:, None])).sum(axis=0)
    K = np.tril(np.array([np.roll(tail, i) for i in range(41)]).T) * 0.1 / (premium * (p @ sizes))
    phi = la.solve(np.eye(41) - K + np.diag(np.diag(K)) / 2, np.full(41, 1 - 1 / premium))
    return R, 1 - phi[[0, 20, 40]]


def storm_surges(levels, shape):
    """Return levels by a law of excesses, a profile likelihood and a band by the delta method."""
    excess = levels[levels > 0.5] - 0.5
    loglik = stats.genpareto.logpdf(excess, shape, scale=excess.mean() * (1 - shape)).sum()
    level = stats.genpareto.isf(0.01, shape, loc=0.5, scale=excess.mean() * (1 - shape))
    hess = special.polygamma(1, 1 + shape) * len(excess)
    return level, loglik, level - 1.96 * np.sqrt(1 / hess)


def copula(returns, theta):
    """Two prices tied by Frank's copula: pseudo-observations by ranks and a likelihood by their margins."""
    mu, sd = returns.mean(axis=1, keepdims=True), returns.std(axis=1, ddof=1, keepdims=True)
    u, v = stats.norm.cdf((returns - mu) / sd)
    a = -np.expm1(-theta)
    density = (
        theta
        * a
        * np.exp(-theta * (u + v))
        / (a - np.expm1(-theta * u) * np.expm1(-theta * v)) ** 2
    )
    debye = integrate.quad(lambda t: 1 / special.exprel(t), 0.0, theta)[0] / theta
    return np.log(density).sum(), 1 + 4 * (debye - 1) / theta, np.corrcoef(u, v)[0, 1]


def seasons(catches, smooth):
    """A penalised spline through catches: the basis by a design matrix, a trace, and a forecast."""
    x = np.linspace(0, 1, len(catches))
    knots = np.r_[[0] * 3, np.linspace(0, 1, 5), [1] * 3].astype(float)
    B = interpolate.BSpline.design_matrix(x, knots, 3).toarray()
    D = np.diff(np.eye(B.shape[1]), n=2, axis=0)
    H = B @ la.solve(B.T @ B + smooth * D.T @ D, B.T)
    fit = H @ catches
    gcv = len(x) * np.sum((catches - fit) ** 2) / (len(x) - np.trace(H)) ** 2
    return fit[-2:], gcv, np.trace(H)


# Maps and pictures.


def sonar_image(picture, gain):
    """A picture in places: a mask that grows, the smallest place inside, and a filter in windows."""
    soft = ndimage.gaussian_filter1d(picture * gain, 0.8, axis=1, mode="wrap")
    mask = ndimage.binary_dilation(soft > 0.9, iterations=1)
    filled = ndimage.binary_fill_holes(mask)
    low = ndimage.minimum_position(soft, filled.astype(int), 1)
    rms = ndimage.vectorized_filter(
        soft, lambda x, axis: np.sqrt(np.mean(x * x, axis=axis)), size=(2, 3)
    )
    return soft[low], rms.mean(axis=0), soft[ndimage.binary_erosion(filled)].sum() * gain


def hull_paint(picture, sharp):
    """A paint's texture: separable splines, ringing removed, and half a plane's transform."""
    y = signal.sepfir2d(picture, np.array([0.25, 0.5, 0.25]), np.array([0.2, 0.6, 0.2]))
    z = picture + sharp * (picture - y)
    F = fft.ihfft2(z)
    back = fft.hfftn(F[:, :3], s=(4, 4))
    return (
        np.abs(F[1]),
        back.sum(axis=0),
        ndimage.generic_gradient_magnitude(z, ndimage.sobel).max(),
    )


def berths(centres, tide):
    """Boxes of berths: distances from a rectangle, by Minkowski's metric, and triangles' places."""
    box = spatial.Rectangle([1.0 + tide, 1.2], [0.0, tide])
    far = np.array([box.max_distance_point(c) for c in centres])
    m = spatial.minkowski_distance_p(centres[:-1], centres[1:], p=3)
    tri = spatial.Delaunay(centres)
    inside = tri.find_simplex(np.array([centres.mean(axis=0)]))
    return far, m, centres[tri.simplices[inside[0]]].mean(axis=0)


def shoals(depths, scale):
    """A chart by scattered soundings: natural scales by radial functions of rare kernels and degrees."""
    rng = np.random.default_rng(11)
    where = rng.uniform(0, 2, (len(depths), 2))
    f = interpolate.RBFInterpolator(
        where, depths, kernel="inverse_multiquadric", epsilon=scale, degree=1
    )
    g = interpolate.RBFInterpolator(where, depths, kernel="cubic", neighbors=7, smoothing=0.01)
    q = np.array([[0.5, 0.6], [1.3, 1.1]])
    return f(q), g(q) * scale


def tide_gauge(heights, lag):
    """Constituents by complex demodulation: a filter by windows, a zoom, and places of a contour."""
    n = len(heights)
    t = np.arange(n) * 1.0
    slow = signal.lfilter(
        signal.firwin(9, 0.2, window=("kaiser", 6.0)), 1.0, heights * np.cos(lag * t)
    )
    points = signal.czt_points(4, w=np.exp(-0.1j), a=np.exp(0.3j))
    z = np.array([np.sum(heights * p ** (-t)) for p in points])
    r, p, k = signal.residuez([1.0, 0.4], [1.0, -0.7, 0.1])
    b, a = signal.invres(r * lag, p, k)
    return slow[-2:], np.abs(z), b.real


# Networks.


def channels(depths, cost):
    """Channels of a delta as a graph: a walk in depth, a matching, and the cheapest way for each."""
    W = np.array([[0, 1.0, 2.0, 0], [0, 0, 0.5, 1.6], [0, 0, 0, 0.9], [0, 0, 0, 0]])
    W = W * (cost + 1 / depths)
    g = csgraph.csgraph_from_dense(W)
    order, before = csgraph.depth_first_order(g, 0)
    d = csgraph.dijkstra(g, indices=0, min_only=True)
    back = csgraph.csgraph_to_dense(g)
    return d[1:], back[before[order[1:]], order[1:]].sum()


def sluices(gates, head):
    """Pressures in a net of basins: a sparse matrix by diagonals, of which a solver keeps its factors."""
    A = sp.dia_matrix(
        (np.array([-np.roll(gates, -1), gates + np.roll(gates, -1) + 1.0, -gates]), [-1, 0, 1]),
        shape=(5, 5),
    ).tocsc()
    low, high = sla.spbandwidth(A)
    lu = sla.splu(A, permc_spec="NATURAL", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    x = lu.solve(np.full(5, head) * np.arange(1, 6))
    return x, lu.U.diagonal().prod() * (low + high), lu.solve(np.ones(5), trans="T")[0]


def diffusion_net(weights, time):
    """Heat on a graph: a function of a sparse Laplacian times a vector by a Krylov space."""
    G = np.abs(np.add.outer(weights, weights)) * (
        np.abs(np.subtract.outer(np.arange(6), np.arange(6))) <= 2
    )
    L = csgraph.laplacian(G - np.diag(np.diag(G)))
    y = sla.funm_multiply_krylov(
        lambda M: special_expm(-time * M),
        L,
        np.arange(6.0) - 1.0,
        assume_a="hermitian",
        atol=1e-13,
        rtol=1e-12,
    )
    return y, la.eigvalsh(L)[1]


def special_expm(M):
    from scipy.linalg import expm

    return expm(M)


def blocks(stiffness, load):
    """A jetty of blocks: a block matrix and a dictionary of keys added, solved, and its residual."""
    B = sp.bsr_matrix((np.stack([np.eye(2) * 3 * s for s in stiffness]), [0, 1, 2], [0, 1, 2, 3]))
    D = sp.dok_matrix((6, 6))
    for i in range(4):
        D[i, i + 2] = D[i + 2, i] = -0.5
    A = (B + D).tocsc()
    x = sla.spsolve(A, np.linspace(1, 2, 6) * load)
    return x, x @ (A @ x), sla.norm(A, 1)


def heaters(flow, loss):
    """Hot water along a quay: unknown temperatures by Newton and Krylov with a preconditioner."""
    n = 6

    def residual(T):
        left = np.concatenate([[4.0], T[:-1]])
        return flow * (T - left) + loss * np.abs(T) ** 1.25

    r = optimize.root(
        residual, np.full(n, 2.0), method="krylov", options={"fatol": 1e-12, "maxiter": 200, "jac_options": {"method": "gmres", "inner_maxiter": 30}}
    )  # fmt: skip
    return r.x, flow * (4.0 - r.x[-1])


def watchmen(rounds, alert):
    """Two watchmen's rounds: relaxed phases by a descent with an own Hessian times a vector."""
    K = np.array([[2.0, -0.4, 0.1], [-0.4, 1.5, -0.3], [0.1, -0.3, 1.1]]) * alert

    r = minimize(
        lambda x: x @ K @ x / 2 - rounds @ x + np.sum(np.log(np.cosh(x))),
        np.zeros(3), jac=lambda x: K @ x - rounds + np.tanh(x),
        hessp=lambda x, p: K @ p + p / np.cosh(x) ** 2, method="trust-krylov", options={"gtol": 1e-9, "inexact": False},
    )  # fmt: skip
    return r.x, r.fun


def fish_market(bids, friction):
    """A matching of two sides with frictions: surplus shared by scaling rows and columns in turn."""
    K = np.exp(np.multiply.outer(bids, np.array([0.4, 0.9, 1.3])) / friction)
    a = np.ones(len(bids))
    for _ in range(60):
        b = 1.0 / (K.T @ a)
        a = (3.0 / len(bids)) / (K @ b)
    P = a[:, None] * K * b
    return (
        P.sum(axis=1),
        np.sum(P * np.log(P)),
        stats.entropy(P.ravel() / P.sum(), np.full(P.size, 1 / P.size)),
    )


# Not asked, since `generate_knots` is refused.
def warnings_at_night(levels, factor):
    """Alarms by a running quantile and peaks of a level, the rest counted with a warning."""
    smooth = signal.savgol_filter(levels, 5, 2, deriv=1, delta=0.5, mode="nearest")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a peak of no width
        peaks, info = signal.find_peaks(levels * factor, height=0.2, prominence=0.1, width=0.5)
    knots = interpolate.generate_knots(np.arange(len(levels)) * 1.0, levels, s=0.5)
    first = list(knots)[-1]
    spl = interpolate.make_lsq_spline(np.arange(len(levels)) * 1.0, levels, first)
    return info["prominences"], info["width_heights"], smooth[2:4], spl(2.5)


PICTURE = (
    np.cos(np.arange(24.0).reshape(4, 6) * 1.37)
    + 0.3 * np.sin(np.arange(24.0).reshape(4, 6) * 0.61)
    + 0.6
)
LEVELS = np.array([0.1, 0.9, 0.4, 1.6, 0.7, 0.2, 1.1, 0.35, 0.6, 1.9, 0.8, 0.25])

SELDOM = [
    (cobweb, (np.array([0.4, 0.6]), np.array([3.0, 1.4]))),
    (stock, (np.array([0.3, 0.8, 0.7, 0.6]), 0.15)),
    (auction, (np.array([0.2, 0.7, -0.4]), 0.5)),
    (demand_system, (np.array([1.2, 0.8, 1.5]), np.array([0.5, 0.3, 0.2]))),
    (spoilage, (np.array([4.0, 5.2, 8.1, 6.3, 3.7, 4.9, 7.3]), 60.0)),
    (stalls, (np.array([1.1, 0.7, 1.6]), np.array([2.0, 1.2, 3.1, 0.9]))),
    (nets, (1.5, np.array([0.5, 1.1, 1.7, 2.4, 2.9]))),
    (ferries, (1.7, 0.6)),
    (ruin, (1.4, np.array([0.5, 0.3, 0.2]))),
    (storm_surges, (LEVELS, 0.12)),
    (copula, (np.array([[0.2, -0.5, 0.9, 0.1, -0.7], [0.4, -0.2, 0.5, -0.3, -0.6]]), 2.3)),
    (seasons, (LEVELS, 0.3)),
    (sonar_image, (PICTURE, 0.9)),
    (hull_paint, (PICTURE, 0.4)),
    (berths, (np.array([[0.2, 0.1], [1.6, 0.4], [0.9, 1.7], [2.2, 1.3], [0.8, 0.9]]), 0.3)),
    (shoals, (np.concatenate([LEVELS, LEVELS[::-1] * 1.1 + 0.2]), 1.1)),
    (tide_gauge, (LEVELS, 0.4)),
    (channels, (np.array([1.2, 2.1, 0.8, 1.6]), 0.3)),
    (sluices, (np.array([0.8, 1.3, 0.6, 1.1, 0.9]), 1.2)),
    (diffusion_net, (np.array([0.4, 1.1, 0.7, 0.9, 1.3, 0.5]), 0.3)),
    (blocks, (np.array([1.0, 1.4, 0.8]), 0.7)),
    (heaters, (1.4, 0.3)),
    (watchmen, (np.array([0.4, -0.3, 0.9]), 1.2)),
    (fish_market, (np.array([0.5, 1.2, 0.9, 1.7]), 0.8)),
]  # fmt: skip
