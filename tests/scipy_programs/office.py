"""The other half of the office: woods, signals, samples, shapes, grids and plans."""
# ruff: noqa: RUF059  # names as they are often written

from math import gamma, hypot

import numpy as np
import scipy.linalg as sla
import scipy.signal as sig
import scipy.sparse as sps
import scipy.stats as st
from scipy import interpolate, ndimage, optimize, spatial, special, stats
from scipy.integrate import RK23, quad, solve_ivp
from scipy.interpolate import BSpline, RegularGridInterpolator, krogh_interpolate, make_splrep
from scipy.optimize import minimize, root
from scipy.sparse.csgraph import floyd_warshall, shortest_path
from scipy.sparse.linalg import LaplacianNd, cg, splu
from scipy.spatial.transform import Rotation, Slerp
from scipy.special import gdtr, inv_boxcox1p, pdtr, stirling2

TIGHT = {"rtol": 1e-9, "atol": 1e-11}


# Ecology.


def spreading_front(d, r):
    """Fisher's equation on a line with a sparse Laplacian, by BDF."""
    n = 20
    lap = sps.diags_array(
        [np.ones(n - 1), -2 * np.ones(n), np.ones(n - 1)], offsets=[-1, 0, 1]
    ).tocsr()
    u0 = np.exp(-np.linspace(0, 4, n))
    rhs = lambda t, u: d * (lap @ u) + r * u * (1 - u)
    sol = solve_ivp(rhs, (0, 1.5), u0, method="BDF", **TIGHT)
    u = sol.y[:, -1]
    return u[5], u.sum()


def stage_structured(fecundity, survive, harvest=0.1):
    """Dominant eigenvalue, elasticities, and the damping ratio."""
    a = np.array([[0, 0, fecundity], [survive, 0.2, 0], [0, 0.4, 0.85 - harvest]])
    w, left, right = sla.eig(a, left=True, right=True)
    i = w.real.argmax()
    v, u = np.abs(left[:, i]), np.abs(right[:, i])
    sens = np.outer(v, u) / (v @ u)
    others = np.sort(np.abs(np.delete(w, i)))
    return w[i].real, (sens * a / w[i].real)[2], w[i].real / others[-1]


def removal_estimate(p, caught):
    """Numbers left after three passes, by maximum likelihood over a continuous size."""
    x = np.array([caught, 0.55 * caught, 0.3 * caught])
    total = x.sum()

    def nll(n):
        q = (1 - p) ** np.arange(3) * p
        return -(
            special.gammaln(n + 1)
            - special.gammaln(n - total + 1)
            + np.sum(x * np.log(q))
            + (n - total) * 3 * np.log(1 - p)
        )

    best = optimize.minimize_scalar(
        nll, bounds=(total + 0.1, 6 * total), method="bounded", options={"xatol": 1e-10}
    )
    return best.x, best.x - total


def diversity_profile(counts, q):
    """Hill numbers, Pielou's evenness, and a rarefied richness."""
    p = counts / counts.sum()
    hill = np.sum(p**q) ** (1 / (1 - q))
    shannon = stats.entropy(p)
    rare = np.sum(1 - special.binom(counts.sum() - counts, 5) / special.binom(counts.sum(), 5))
    return hill, shannon / np.log(len(p)), rare


def two_patches(m, k):
    """A metapopulation's equilibrium by root's broyden1, its slowest return rate."""
    rate = np.array([0.8, 0.5])

    def flow(n):
        return rate * n * (1 - n / np.array([k, 2.0])) + m * (n[::-1] - n)

    sol = root(flow, np.array([0.9, 1.8]), method="krylov", options={"fatol": 1e-12})
    n = sol.x
    jac = np.diag(rate * (1 - 2 * n / np.array([k, 2.0])) - m) + m * np.eye(2)[::-1]
    return n, sla.eigvalsh(jac)[-1]


# Signal processing.


def matched_bandpass(center, q):
    """An analog prototype moved to a band, made digital, and its response."""
    z, p, k = sig.buttap(3)
    z, p, k = sig.lp2bp_zpk(z, p, k, wo=center, bw=center / q)
    z, p, k = sig.bilinear_zpk(z, p, k, fs=2.0)
    w = np.array([0.3, 0.8, 1.4])
    _, h = sig.freqz_zpk(z, p, k, worN=w)
    return 20 * np.log10(np.abs(h))


def phase_delay(a1, a2):
    """Group delay of an all-pole section and the energy of its impulse response."""
    w, gd = sig.group_delay(([1.0], [1.0, a1, a2]), w=np.array([0.4, 1.1]))
    pulse = sig.unit_impulse(40)
    h = sig.lfilter([1.0], [1.0, a1, a2], pulse)
    return gd, np.sum(h**2), h.argmax() * 0.0 + h.max()


def smoothed_slope(y, lam):
    """Whittaker's smoother by solveh_banded, then Savitzky and Golay's slope."""
    n = len(y)
    d = np.diff(np.eye(n), 2, axis=0)
    a = np.eye(n) + lam * d.T @ d
    ab = np.zeros((3, n))
    for i in range(3):
        ab[i, : n - i] = np.diagonal(a, -i)
    z = sla.solveh_banded(ab, y, lower=True)
    return z[[0, 5, -1]], sig.savgol_filter(z, 5, 2, deriv=1, delta=0.5)[3:6]


def chirp_correlation(rate, start):
    """Pulse compression: the peak of a chirp's correlation with a window."""
    t = np.linspace(0, 1, 64)
    s = sig.chirp(t, f0=start, f1=start + rate, t1=1.0) * sig.windows.tukey(64, 0.4)
    c = sig.correlate(s, s[::-1], mode="same", method="fft")
    return np.sqrt(np.sum(c**2)), np.abs(sig.hilbert(s))[20:24]


def partial_fractions(a, b):
    """Residues of a response, and its value in time from them."""
    r, p, k = sig.residue([1.0, a], np.polymul([1.0, 1.0], np.polymul([1.0, b], [1.0, 4.0])))
    order = np.argsort(p.real)
    r, p = r[order], p[order]
    return (r * np.exp(p * 0.7)).sum().real, r.real


def zoomed_spectrum(f, damping):
    """A chirp z-transform about a line, and an interpolated peak."""
    n = np.arange(64)
    x = np.cos(2 * np.pi * f * n) * np.exp(-damping * n)
    z = np.abs(sig.zoom_fft(x, [0.15, 0.25], m=9, fs=1.0))
    i = int(np.argmax(z))
    a, b, c = np.log(z[i - 1]), np.log(z[i]), np.log(z[i + 1])
    return z[[0, -1]], i + 0.5 * (a - c) / (a - 2 * b + c)


# Statistics.


def beta_binomial(mu, phi):
    """An overdispersed log likelihood, and the tail of its posterior predictive."""
    k, n = np.array([3, 5, 2, 7]), 10
    a, b = mu / phi, (1 - mu) / phi
    ll = st.betabinom.logpmf(k, n, a, b).sum()
    return ll, st.betabinom(n, a, b).sf(6), st.betabinom.mean(n, a, b)


def power_of_f(effect, alpha):
    """Power of an analysis of variance by the noncentral F, its critical value by fdtri."""
    crit = special.fdtri(3.0, 36.0, 1 - alpha)
    lam = effect**2 * 40
    return 1 - special.ncfdtr(3.0, 36.0, lam, crit), st.ncf.mean(3.0, 36.0, lam)


def gompertz_lives(c, scale):
    """A law of lives: mean residual life, median and a joint survivor."""
    law = st.gompertz(c, scale=scale)
    mrl = quad(law.sf, 2.0, np.inf)[0] / law.sf(2.0)
    return mrl, law.ppf(0.5), law.sf(3.0) * st.gompertz.sf(3.0, c + 0.1, scale=scale), law.var()


def rank_weighted(x, y):
    """Concordance, a trimmed mean, an L-moment ratio and a somewhat robust slope."""
    slope = st.siegelslopes(y, x)
    trimmed = st.trim_mean(y, 0.15)
    return slope.slope, slope.intercept, trimmed, st.mstats.winsorize(y, limits=0.1).std()


def brown_forsythe(a, b):
    """Statistics of three groups whose spread differs."""
    c = a * 0.7 + 0.1
    return (
        st.levene(a, b, c, center="mean").statistic,
        st.bartlett(a, b, c).statistic,
        st.alexandergovern(a, b, c).pvalue,
        st.f_oneway(a, b, c).pvalue,
    )


def yeo_johnson_mle(x):
    """The best power, the transformed data's skewness and the profile at two powers."""
    z, lam = st.yeojohnson(x)
    return lam, st.skew(z), st.yeojohnson_llf(0.4, x)


def empirical_bayes(obs):
    """Shrinkage by a gamma mixture, hyperparameters by minimize with bounds."""
    t = np.array([10.0, 20.0, 15.0, 8.0])

    def nll(p):
        a, b = np.exp(p)
        logs = special.loggamma(a + obs) - special.loggamma(a) + a * np.log(b)
        by_a = special.digamma(a + obs) - special.digamma(a) + np.log(b) - np.log(b + t)
        by_b = a / b - (a + obs) / (b + t)
        slopes = -np.array([a * np.sum(by_a), b * np.sum(by_b)])
        return -np.sum(logs - (a + obs) * np.log(b + t)), slopes

    stop = {"ftol": 1e-15, "gtol": 1e-11}
    bounds = [(-2, 4), (-2, 4)]
    best = minimize(nll, [0.5, 0.5], jac=True, method="L-BFGS-B", bounds=bounds, options=stop)
    a, b = np.exp(best.x)
    return (a + obs) / (b + t), st.nbinom.sf(3, a, b / (b + 5.0))


def wishart_evidence(scale, nu):
    """The evidence of a covariance, by the multivariate gamma function."""
    s = np.array([[2.0, 0.3], [0.3, 1.0]]) * scale
    lw = st.wishart.logpdf(s, df=nu, scale=np.eye(2))
    liw = st.invwishart(nu, np.eye(2)).logpdf(s)
    return lw, liw, special.multigammaln(nu / 2, 2)


def semicircle_free(r, t):
    """Moments of a semicircle law and of an arcsine one, and a Kolmogorov tail."""
    law = st.semicircular(scale=r)
    return (
        law.expect(lambda x: np.exp(t * x)),
        law.cdf(0.3),
        special.iv(1, t * r),
        st.kstwobign.sf(r),
    )


# Geometry and pictures.


def slerped_path(angles):
    """A camera between three poses: a place seen, the angle travelled."""
    turns = Rotation.from_euler("xyz", [[0, 0, 0], angles, 2 * angles], degrees=False)
    path = Slerp([0.0, 1.0, 2.0], turns)
    at = path(np.array([0.4, 1.3]))
    return at.apply([1.0, 0.5, -0.2]), (at[0].inv() * at[1]).magnitude()


def procrustes_fit(points):
    """A shape laid upon another, the disparity, and the best turn."""
    target = np.array([[0.0, 0.0], [1.0, 0.1], [0.9, 1.2], [-0.1, 1.0]])
    a, b, disparity = spatial.procrustes(target, points)
    turn, scale = sla.orthogonal_procrustes(points - points.mean(0), target - target.mean(0))
    return disparity, b[1], turn[0], scale


def tangled_lengths(points):
    """Shortest ways along a ring with chords whose weights are distances."""
    d = spatial.distance_matrix(points, points)
    keep = np.zeros((5, 5))
    for i in range(5):
        keep[i, (i + 1) % 5] = keep[(i + 1) % 5, i] = 1.0
    ways = floyd_warshall(d * keep, directed=False)
    return ways[0, 2], ways.sum(), shortest_path(d * keep, method="D", indices=3)[0]


def halfspace_room(offset):
    """The largest ball in a polygon by linear programming, its area by the hull of corners."""
    a = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -0.5], [0.3, -1.0]])
    b = np.array([1.0, 1.2, 0.8, 0.9]) + offset
    norms = np.linalg.norm(a, axis=1)
    ball = optimize.linprog(
        [0, 0, -1],
        A_ub=np.column_stack([a, norms]),
        b_ub=b,
        bounds=[(None, None)] * 2 + [(0, None)],
    )
    corners = np.array(
        [np.linalg.solve(a[[i, j]], b[[i, j]]) for i, j in ((0, 1), (1, 2), (2, 3), (3, 0))]
    )
    return ball.x, spatial.ConvexHull(corners).volume


def vignetted(strength, shift):
    """A picture dimmed at its rim, moved, filtered: sharpness and centre of mass."""
    y, x = np.mgrid[-1:1:16j, -1:1:16j]
    picture = np.exp(-4 * ((x - 0.1) ** 2 + (y + 0.2) ** 2)) * (1 - strength * (x**2 + y**2))
    moved = ndimage.shift(picture, [shift, -shift], order=3, mode="nearest")
    edges = ndimage.gaussian_laplace(moved, 1.2)
    return np.sum(edges**2), np.array(ndimage.center_of_mass(moved))


def grey_granules(scale):
    """Morphology in grey: a top hat's mean, a gradient's norm, a percentile."""
    y, x = np.mgrid[0:12, 0:12]
    picture = np.sin(0.9 * x * scale) * np.cos(0.7 * y) + 0.05 * x
    hat = ndimage.white_tophat(picture, size=3)
    grad = ndimage.morphological_gradient(picture, size=(3, 3))
    return (
        hat.mean(),
        np.sqrt((grad**2).sum()),
        ndimage.percentile_filter(picture, 70, size=3)[4, 5],
    )


def bezier_length(control):
    """A Bezier curve as a BSpline: length, curvature in the middle, the point nearest to one."""
    curve = BSpline(np.repeat([0.0, 1.0], 4), control, 3)
    speed = lambda t: np.sqrt(np.sum(curve(t, 1) ** 2, axis=-1))
    length = quad(speed, 0, 1, epsabs=1e-12)[0]
    d, dd = curve(0.5, 1), curve(0.5, 2)
    near = optimize.minimize_scalar(
        lambda t: np.sum((curve(t) - np.array([1.0, 0.2])) ** 2),
        bounds=(0, 1),
        method="bounded",
        options={"xatol": 1e-11},
    )
    return length, (d[0] * dd[1] - d[1] * dd[0]) / hypot(*d) ** 3, near.fun


# Grids, matrices and optimisation.


def heated_plate(k, source):
    """A plate's steady heat by conjugate gradients on a Laplacian, and by a factor."""
    n = 6
    lap = LaplacianNd((n, n), boundary_conditions="dirichlet", dtype=float).tosparse()
    a = sps.csc_array(-k * lap + 0.1 * sps.eye_array(n * n))
    b = np.zeros(n * n)
    b[14] = 1.0
    u, info = cg(a, source * b, rtol=1e-12)
    v = splu(a).solve(b)
    return u[[0, 14]], v[20], info * 1.0


def lyapunov_design(zeta, gain):
    """A loop's quadratic cost by a Lyapunov equation, its margin by the resolvent."""
    a = np.array([[0.0, 1.0], [-gain, -2 * zeta * np.sqrt(gain)]])
    p = sla.solve_continuous_lyapunov(a.T, -np.diag([1.0, 0.2]))
    g = np.array([[1.0, 0.0]]) @ np.linalg.solve(
        1j * 0.8 * np.eye(2) - a, np.array([[0.0], [gain]])
    )
    k = sla.expm_frechet(a, np.eye(2) * 0.1, compute_expm=False)
    return np.trace(p), abs(g.item()), k[0, 1]


def table_lookup(values, at):
    """A performance map by quintic and slinear grids, and its total by a spline's integral."""
    grid = (np.linspace(0, 1, 6), np.linspace(0, 2, 6))
    table = values[:, None] * np.cos(grid[1]) + values[::-1, None] * 0.2 * grid[1]
    fine = RegularGridInterpolator(grid, table, method="quintic")
    rough = interpolate.interpn(grid, table, at, method="slinear")
    spline = interpolate.RectBivariateSpline(*grid, table, kx=3, ky=3)
    return fine(at)[0], rough[0], spline.integral(0.1, 0.8, 0.2, 1.5)


def smoothing_choice(noise, s):
    """A smoothing spline of given roughness: its value, slope and number at the end."""
    x = np.linspace(0, 4, 12)
    y = np.sin(x) + noise * np.cos(7 * x)
    spline = make_splrep(x, y, s=s)
    return spline(2.2), spline.derivative()(1.1), krogh_interpolate(x[:4], y[:4], 0.3, der=1)


def assignment_price(costs):
    """Lagrangian prices of a small transport problem, from the solver's marginals."""
    a_eq = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0]], float)
    plan = optimize.linprog(
        costs, A_eq=a_eq, b_eq=[3.0, 2.0, 2.5], bounds=(0, None), method="highs"
    )
    return plan.fun, plan.eqlin.marginals


def trajectory_by_slsqp(g, height):
    """A ball thrown over a wall with the least speed: constraints as dictionaries."""
    wall = {
        "type": "ineq",
        "fun": lambda v: v[1] * (2.0 / v[0]) - g / 2 * (2.0 / v[0]) ** 2 - height,
    }
    land = {"type": "eq", "fun": lambda v: 2 * v[0] * v[1] / g - 5.0}
    best = minimize(
        lambda v: v @ v, [4.0, 6.0], method="SLSQP", constraints=[wall, land], tol=1e-12
    )
    return best.x, np.degrees(np.arctan2(best.x[1], best.x[0]))


def stepping_by_hand(k, rate):
    """An integrator stepped in a loop until it is through, its dense output read on the way."""
    solver = RK23(
        lambda t, y: [-k * y[0] + rate * np.sin(t)],
        0.0,
        np.array([1.0]),
        t_bound=2.0,
        rtol=1e-7,
        atol=1e-9,
    )
    seen = None
    while solver.status == "running":
        solver.step()
        if seen is None and solver.t > 1.0:
            seen = solver.dense_output()(1.0)
    return solver.y[0], seen[0]


def counts_in_boxes(lam, n_boxes=6):
    """Poisson numbers in boxes: all boxes hit, by Stirling numbers, and an inverse Box and Cox."""
    k = np.arange(0, 15)
    pk = st.poisson.pmf(k, lam)
    hit = np.array([stirling2(int(i), n_boxes) * gamma(n_boxes + 1) / n_boxes ** int(i) for i in k])
    return np.sum(pk * hit), pdtr(4, lam), gdtr(1.0, 3.0, lam), inv_boxcox1p(lam / 10, 0.3)


SELDOM = [
    (spreading_front, (0.8, 1.3)),
    (stage_structured, (2.2, 0.45)),
    (removal_estimate, (0.45, 40.0)),
    (diversity_profile, (np.array([12.0, 7.0, 3.0, 9.0]), 2.3)),
    (two_patches, (0.15, 1.1)),
    (matched_bandpass, (0.9, 2.0)),
    (phase_delay, (-1.1, 0.5)),
    (smoothed_slope, (np.array([0.1, 0.4, 0.7, 1.1, 1.0, 1.4, 1.3, 1.8, 2.1]), 1.5)),
    (chirp_correlation, (9.0, 3.0)),
    (partial_fractions, (0.4, 2.1)),
    (zoomed_spectrum, (0.203, 0.02)),
    (beta_binomial, (0.4, 0.15)),
    (power_of_f, (0.45, 0.05)),
    (gompertz_lives, (0.3, 2.2)),
    (
        rank_weighted,
        (
            np.array([0.1, 0.9, 2.2, 2.8, 4.1, 5.3, 6.2]),
            np.array([1.2, 1.9, 2.4, 3.9, 4.4, 5.2, 6.9]),
        ),
    ),
    (brown_forsythe, (np.array([1.1, 2.3, 1.9, 3.4]), np.array([2.0, 2.9, 4.4, 3.1, 5.0]))),
    (yeo_johnson_mle, (np.array([0.3, 1.2, 2.9, 0.7, 4.4, 1.8]),)),
    (empirical_bayes, (np.array([2.0, 16.0, 4.0, 6.0]),)),
    (wishart_evidence, (1.2, 4.5)),
    (semicircle_free, (1.1, 0.6)),
    (slerped_path, (np.array([0.4, -0.3, 0.6]),)),
    (procrustes_fit, (np.array([[0.1, 0.0], [1.2, 0.2], [0.8, 1.1], [0.0, 0.9]]),)),
    (tangled_lengths, (np.array([[0.0, 0.1], [1.1, 0.0], [1.7, 1.0], [0.7, 1.9], [-0.6, 1.1]]),)),
    (halfspace_room, (np.array([0.1, -0.05, 0.0, 0.12]),)),
    (vignetted, (0.3, 0.4)),
    (grey_granules, (1.05,)),
    (bezier_length, (np.array([[0.0, 0.0], [0.4, 1.0], [1.3, 1.1], [1.8, 0.1]]),)),
    (heated_plate, (1.3, 2.0)),
    (lyapunov_design, (0.4, 2.2)),
    (table_lookup, (np.array([0.3, 0.6, 1.1, 1.2, 0.9, 0.7]), np.array([0.43, 1.27]))),
    (smoothing_choice, (0.05, 0.01)),
    (assignment_price, (np.array([2.0, 3.1, 1.2, 2.9]),)),
    (trajectory_by_slsqp, (9.8, 1.6)),
    (stepping_by_hand, (0.8, 0.5)),
    (counts_in_boxes, (7.5,)),
]
