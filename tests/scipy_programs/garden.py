"""A garden's numbers: growth, soil, insects, ponds, weather, light, seeds, maps and pictures of leaves."""
# ruff: noqa: E501, RUF059  # names and lines as they are often written

import functools
from collections import namedtuple
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
from scipy import constants as const
from scipy import (
    fft,
    integrate,
    interpolate,
    ndimage,
    optimize,
    signal,
    sparse,
    spatial,
    special,
    stats,
)
from scipy.integrate import dblquad, odeint, quad, solve_ivp
from scipy.interpolate import Rbf, barycentric_interpolate, make_smoothing_spline, make_splprep
from scipy.linalg import (
    eig_banded,
    expm,
    fractional_matrix_power,
    solve_continuous_lyapunov,
    sqrtm,
    subspace_angles,
)
from scipy.optimize import curve_fit, differential_evolution, least_squares, minimize, root_scalar
from scipy.spatial import HalfspaceIntersection, SphericalVoronoi, Voronoi, cKDTree
from scipy.spatial.distance import cdist, directed_hausdorff, pdist, squareform
from scipy.spatial.transform import Rotation

# Growth.


@dataclass
class Stem:
    """A stem's height by days of warmth, a generalised logistic whose rate is a bump of temperature."""

    best: float
    breadth: float

    def rate(self, temperature):
        z = (temperature - self.best) / self.breadth
        return 0.3 * np.exp(-(z**2)) * special.log_ndtr(2.0 - z) ** 2 + 0.05

    def height(self, days, temperatures):
        warmth = integrate.cumulative_simpson(self.rate(temperatures), x=days, initial=0.0)
        return special.expit(warmth - 1.0) * 2.0


def sunflower(best, temperatures):
    """Heights on some days, and the day when half is reached by a spline's root."""
    days = np.linspace(0.0, 30.0, 9)
    h = Stem(best, 8.0).height(days, temperatures)
    curve = interpolate.CubicSpline(days, h - 1.0, bc_type="natural")
    return h[::3], curve.roots(extrapolate=False)[0], curve.integrate(0, 20.0)


def leaf_angles(mean, spread):
    """Light through a canopy whose leaves have a beta law of angles: an integral of a ratio of elliptic kind."""
    t = mean * (1 - mean) / spread - 1
    a, b = mean * t, (1 - mean) * t

    def extinction(sun):
        def part(u):
            angle = u * np.pi / 2
            return stats.beta.pdf(u, a, b) * np.sqrt(1 - np.sin(sun) ** 2 * np.cos(angle) ** 2)

        return quad(part, 0, 1, epsabs=1e-12, epsrel=1e-12)[0]

    return [np.exp(-2 * extinction(s)) for s in (0.3, 0.9)], special.ellipeinc(mean, spread * 4)


def grafts(rates, until):
    """States of grafts by a generator's exponential, time in each, and a root of its matrix."""
    Q = np.array([[0.0, rates[0], rates[1]], [rates[2], 0.0, 0.2], [0.0, 0.0, 0.0]])
    Q = Q - np.diag(Q.sum(axis=1))
    P = expm(Q * until)
    half = fractional_matrix_power(P + np.eye(3), 0.4)
    time = integrate.quad_vec(lambda s: expm(Q * s)[0], 0, until)[0]
    return P[0], np.real(half[0]), time, np.real(sqrtm(P)).trace()


def rings(widths, age):
    """Widths of rings detrended by a smoothing spline with a penalty, and their persistence."""
    years = np.arange(len(widths)) * 1.0 + age
    trend = make_smoothing_spline(years, widths, lam=2.0)
    index = widths / trend(years)
    c = np.correlate(index - index.mean(), index - index.mean(), mode="same")
    return index[[0, 5]], c[c.size // 2 + 1] / c.max(), trend.derivative()(years[3])


def grazing(appetite, growth):
    """Grass and rabbits by an old integrator with a Jacobian, and how much is eaten in all."""

    def f(y, t, a, g):
        eaten = a * y[0] * y[1] / (1 + y[0])
        return [g * y[0] * (1 - y[0] / 3) - eaten, 0.5 * eaten - 0.2 * y[1], eaten]

    y = odeint(
        f,
        [2.0, 0.5, 0.0],
        np.linspace(0, 6, 7),
        args=(appetite, growth),
        rtol=1e-9,
        atol=1e-10,
        mxstep=5000,
    )
    return y[-1], y[::3, 1]


def dispersal_kernel(scale, tail):
    """Seeds that fall by a kernel of two dimensions: the share within a plot, and a far quantile."""

    def kernel(y, x):
        return (tail - 1) / (np.pi * scale**2) * (1 + (x * x + y * y) / scale**2) ** -tail

    inside, _ = dblquad(kernel, -1, 1, lambda x: -0.5, lambda x: 0.5 + 0.1 * x, epsabs=1e-10)
    far = root_scalar(
        lambda r: 1 - (1 + (r / scale) ** 2) ** (1 - tail) - 0.95,
        bracket=[0.01, 80.0],
        method="ridder",
        xtol=1e-13,
    )
    return inside, far.root


def rooting_depth(observed, deepest):
    """Roots by depth: two fits, with a robust loss and with errors and bounds."""
    z = np.linspace(0.1, 1.5, len(observed))

    def model(z, b, d):
        return (1 - b**z) / (1 - b**deepest) + 0.05 * np.sin(d * z)

    p, cov = curve_fit(
        model,
        z,
        observed,
        p0=[0.2, 1.0],
        sigma=0.1 + 0.05 * z,
        absolute_sigma=True,
        bounds=([0.01, 0.1], [0.9, 3.0]),
        xtol=1e-14,
        ftol=1e-14,
        gtol=1e-14,
    )
    r = least_squares(
        lambda q: model(z, *q) - observed,
        p,
        loss="cauchy",
        f_scale=0.2,
        xtol=1e-15,
        ftol=1e-15,
        gtol=1e-15,
    )
    return p, np.diag(cov), r.x, r.cost


# Soil and ponds.


def soil_curve(alpha, n):
    """Water in soil: van Genuchten's curve through an incomplete beta function, and its capacity."""
    m = 1 - 1 / n
    h = np.array([0.5, 2.0, 8.0])
    S = (1 + (alpha * h) ** n) ** -m
    K = np.sqrt(S) * special.betainc(m + 1, 1 / n, S ** (1 / m)) ** 2
    diffusivity = special.hyp2f1(m, 1.0, 2.0, -alpha * h) * K
    return S, K, diffusivity


def compost(heat, leak):
    """Temperature in a heap by the method of lines with a banded Jacobian, and its steady state."""
    n = 8

    def f(t, u):
        lap = np.concatenate(
            [[u[1] - u[0]], u[2:] - 2 * u[1:-1] + u[:-2], [u[-2] - (1 + leak) * u[-1]]]
        )
        return 6.0 * lap + heat * np.exp(-u) * u**0

    sol = solve_ivp(
        f, (0, 0.5), np.full(n, 0.1), method="LSODA", lband=1, uband=1, rtol=1e-9, atol=1e-10
    )
    steady = optimize.fsolve(lambda u: f(0.0, u), sol.y[:, -1], band=(1, 1), xtol=1e-13)
    return sol.y[::3, -1], steady[[0, -1]]


def pond(volume, inflow):
    """Oxygen of a pond: a root by Brent's method on a bracket, its sensitivity to temperature."""
    s = SimpleNamespace(volume=volume, inflow=inflow)

    @functools.lru_cache
    def saturation(T):
        return 14.6 * np.exp(-0.024 * T)

    def balance(T, x):
        return s.inflow * (saturation(T) - x) - s.volume * 0.3 * x**1.3

    xs = [
        root_scalar(
            functools.partial(balance, T),
            bracket=(0.01, 14.0),
            method="brenth",
            xtol=1e-13,
            rtol=1e-14,
        ).root
        for T in (8, 20)
    ]
    return xs, xs[0] / xs[1], const.gas_constant * np.log(xs[0])


def drip(emitters, pressure):
    """Pressures along a pipe by a banded eigenproblem, and a Lyapunov function of the flow."""
    n = len(emitters)
    band = np.vstack([np.append(-pressure * np.ones(n - 1), 0.0), emitters + 2 * pressure])
    w = eig_banded(band[::-1], eigvals_only=True, select="i", select_range=(0, 2))
    v = eig_banded(band, lower=False, select="v", select_range=(-5.0, 50.0))[0] if n < 2 else w
    A = -np.diag(emitters) + np.diag(np.full(n - 1, 0.3), 1)
    X = solve_continuous_lyapunov(A, -np.eye(n) * pressure)
    return v, np.trace(X), subspace_angles(X[:, :2], A[:, :2])


def ripples(k, depth):
    """Waves from a stone: an integral of Bessel functions, and modes of a round pond."""
    zeros = special.jn_zeros(1, 3)
    w = np.sqrt(9.81 * k * zeros * np.tanh(k * zeros * depth))
    shape = special.jv(1, zeros * k / 5) / special.jvp(1, zeros) + special.yn(2, 1 + k)
    total, _ = quad(lambda q: np.exp(-q) * special.j0(k * q) * np.cos(depth * q), 0, np.inf)
    return w, shape, total


# Insects, birds, and where things are.


def hive(flowers, bees):
    """Territories of flowers by Voronoi's diagram and distances to the nearest by trees."""
    vor = Voronoi(flowers)
    inner = [v for v in vor.regions if v and -1 not in v]
    areas = [spatial.ConvexHull(vor.vertices[v]).volume for v in inner]
    d, i = cKDTree(flowers).query(bees, k=2, p=1)
    return np.sum(areas), d[:, 1] - d[:, 0], vor.vertices.mean(axis=0)


def flight(there, height):
    """A bird's attitude on its way: rotations composed, interpolated and applied; how far two tracks are apart."""
    turns = Rotation.from_euler("zyx", there)
    path = spatial.transform.RotationSpline(np.arange(len(there)) * 1.0, turns)
    at = path([0.5, 1.7]).apply([1.0, 0.0, height])
    d, i, j = directed_hausdorff(at, at + np.array([0.1, 0.2, 0.05 * height]))
    return at, d, path(0.5, 1), turns.mean(weights=[1.0, 2.0, 1.0]).magnitude()


def beetles(marks, traps):
    """Spatial recapture: detections by distance, the density by which the sightings are likeliest."""
    d = cdist(marks, traps, metric="sqeuclidean")

    def nll(theta):
        sigma, g0 = np.exp(theta[0]), special.expit(theta[1])
        p = g0 * np.exp(-d / (2 * sigma**2))
        return -np.sum(special.xlogy(0.4, p) + special.xlog1py(0.6, -p)) + 0.1 * theta @ theta

    r = minimize(
        nll,
        [0.1, 0.0],
        method="Nelder-Mead",
        options={"xatol": 1e-10, "fatol": 1e-13, "maxiter": 2000},
    )
    return r.x, r.fun


def shaded(corner, slope):
    """What a bed and a hedge leave in the sun: an intersection of half spaces and its area."""
    halves = np.array([[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [1.0, slope, -2.0], [0.2, 1.0, -1.5]])
    region = HalfspaceIntersection(halves, corner)
    pts = region.intersections
    hull = spatial.ConvexHull(pts)
    return hull.volume, hull.area, pts.mean(axis=0)


def neighbours(plants, reach):
    """Competition by a kernel of distances: squareform, a matrix of links, its components' sums."""
    D = squareform(pdist(plants, "minkowski", p=1.5))
    C = np.exp(-D / reach) - np.eye(len(plants))
    G = sparse.csr_array(C * (D < 1.5))
    n, labels = sparse.csgraph.connected_components(G, directed=False)
    return (
        ndimage.sum_labels(C.sum(axis=1), labels, range(n)),
        G.sum(),
        spatial.minkowski_distance(plants[0], plants[1:], 3),
    )


def pollen(seed_points, radius):
    """Grains of pollen on a sphere: areas by a spherical diagram and a spline over the sphere."""
    p = seed_points / np.linalg.norm(seed_points, axis=1, keepdims=True)
    sv = SphericalVoronoi(p * radius, radius=radius)
    areas = sv.calculate_areas()
    return np.sort(areas)[:3], areas.sum()


# Weather and light.


def frost(temperature, dew):
    """When frost comes: a cooling curve by an inverse error function, and a spline through three nights."""
    t = np.array([0.0, 2.0, 4.0, 7.0, 9.0])
    fall = temperature - 4.0 * special.erf(np.sqrt(t / 6)) - 0.1 * t
    f = interpolate.PchipInterpolator(t, fall)
    at = f.solve(dew, extrapolate=False)[0]
    return (
        at,
        barycentric_interpolate(t, fall, 5.5),
        special.erfcinv(0.3 + dew / 40),
        f.antiderivative()(6.0),
    )


def rain_gauges(rain, smooth):
    """Rain between gauges by radial functions of an old and a new interface, and the area's mean."""
    x, y = np.array([0.1, 0.9, 0.5, 0.2, 0.8]), np.array([0.2, 0.1, 0.5, 0.9, 0.7])
    old = Rbf(x, y, rain, function="gaussian", epsilon=0.8, smooth=smooth)
    new = interpolate.RBFInterpolator(
        np.stack([x, y], 1), rain, kernel="inverse_multiquadric", epsilon=2.0, smoothing=smooth
    )
    where = np.array([[0.3, 0.4], [0.6, 0.6]])
    return old(where[:, 0], where[:, 1]), new(where)


def degree_days(low, high):
    """Warmth above a threshold in a day: a sine's part above it, by arcs and by an integral."""
    Day = namedtuple("Day", "low high")
    total = []
    for day in map(Day, low, high):
        m, a = (day.high + day.low) / 2, (day.high - day.low) / 2
        theta = np.arcsin((10.0 - m) / a)
        arc = ((m - 10.0) * (np.pi / 2 - theta) + a * np.cos(theta)) / np.pi
        by_quad = quad(lambda u: (m + a * np.sin(u) - 10.0) / np.pi, theta, np.pi / 2)[0]
        total.append(arc + by_quad)
    return np.array(total), np.hypot(*total[:2])


def glasshouse(angle, index):
    """Light through panes: Fresnel's formulas, Planck's law with constants, a mean by Gauss and Jacobi."""
    x, w = special.roots_jacobi(8, 0.5, 0.0)
    lam = (1.1 + 0.7 * x) * const.micro
    B = (
        2
        * const.h
        * const.c**2
        / lam**5
        / np.expm1(const.h * const.c / (lam * const.k * 5778.0))
        / 1e13
    )
    n = index + 0.01 / (lam * 1e6) ** 2
    inside = np.arcsin(np.sin(angle) / n)
    rs = (np.sin(angle - inside) / np.sin(angle + inside)) ** 2
    rp = (np.tan(angle - inside) / np.tan(angle + inside)) ** 2
    return w @ (B * (1 - (rs + rp) / 2)) / (w @ B), rs[0], const.lambda2nu(lam[0]) / 1e14


def fountain(nozzle, drag):
    """The best angle of a jet, found by evolution with a seed and polished; how far it carries."""

    def carries(x):
        angle, speed = x
        return nozzle * speed**2 * np.sin(2 * angle) * np.exp(-drag * speed) - 0.02 * speed**2

    r = differential_evolution(
        lambda x: -carries(x),
        [(0.2, 1.4), (1.0, 9.0)],
        seed=5,
        tol=1e-8,
        popsize=8,
        strategy="rand1bin",
        updating="deferred",
    )
    return r.x[1], r.fun


# Pictures of leaves.


def venation(picture, scale):
    """Veins by the eigenvalues of a Hessian of a blurred picture, and their largest along rows."""
    Hxx, Hxy, Hyy = (
        ndimage.gaussian_filter(picture, 0.8 + scale, order=o, mode="nearest")
        for o in ([0, 2], [1, 1], [2, 0])
    )
    root = np.sqrt((Hxx - Hyy) ** 2 / 4 + Hxy**2)
    ridge = (Hxx + Hyy) / 2 - root
    rows = ndimage.generic_filter1d(
        ridge,
        lambda a, out: np.copyto(out, a[1:-1] - 0.5 * (a[:-2] + a[2:])),
        3,
        axis=1,
        mode="wrap",
    )
    return ridge[2:4, 2:4], rows[3], ndimage.minimum_filter1d(ridge, 3, axis=0, mode="mirror").sum()


def spots(picture, level):
    """Spots on a leaf: a soft mask, labels of a hard one, and their moments; a distance by brute force."""
    soft = special.expit((picture - level) * 8)
    mask = ndimage.binary_closing(picture > 0.55, structure=np.ones((2, 2)))
    labels, n = ndimage.label(mask)
    centres = ndimage.center_of_mass(soft, labels, range(1, n + 1))
    far = ndimage.distance_transform_bf(mask, metric="chessboard", sampling=None)
    return (
        np.array(centres).ravel(),
        (far * soft).sum(),
        ndimage.standard_deviation(soft, labels, index=1),
    )


def texture(picture, cut):
    """A leaf's texture: a real transform of two axes and a taper, its cosines in two axes, and a spline's filter."""
    F = fft.rfftn(picture - picture.mean(), axes=(0, 1), norm="ortho")
    ky, kx = fft.fftfreq(picture.shape[0])[:, None], fft.rfftfreq(picture.shape[1])
    kept = fft.irfftn(F * np.exp(-(kx**2 + ky**2) / cut**2), s=picture.shape, norm="ortho")
    D = fft.idstn(fft.dctn(picture, type=2, norm="ortho"), type=3, norm="ortho")
    smooth = signal.symiirorder1(np.tile(picture[0], 8), 1.0, 0.3)
    return kept[1:3, 1:3], D[0], smooth[:3], np.abs(F).max()


def outline(points, stiffness):
    """A leaf's outline by a closed smoothing spline in a parameter: its length and area."""
    x, y = points
    spl, u = make_splprep([x, y], s=0.0, k=3)
    t = np.linspace(0, 1, 60)
    d = spl(t, nu=1)
    c = spl(t)
    length = integrate.trapezoid(np.hypot(d[0], d[1]), t)
    return length, integrate.simpson(c[0] * d[1] - c[1] * d[0], x=t) / 2, u[2] * stiffness


XS = np.array([1.2, 2.9, 0.8, 3.3, 2.1, 4.6, 1.7, 2.4])
LEAF = 0.5 + 0.3 * np.sin(np.arange(48.0).reshape(6, 8) ** 1.3) + 0.2 * np.cos(np.arange(8.0) * 0.9)
SELDOM = [
    (sunflower, (22.0, 18.0 + 6 * np.sin(np.arange(9.0)))),
    (leaf_angles, (0.6, 0.05)),
    (grafts, (np.array([0.7, 0.3, 0.4]), 1.2)),
    (rings, (XS + 1.0, 4.0)),
    (grazing, (0.9, 1.1)),
    (dispersal_kernel, (0.7, 2.3)),
    (rooting_depth, (np.array([0.1, 0.42, 0.58, 0.7, 0.86, 0.9, 1.01, 0.97]), 1.5)),
    (soil_curve, (0.6, 1.8)),
    (compost, (1.3, 0.6)),
    (pond, (1.4, 0.9)),
    (drip, (np.array([0.8, 1.1, 0.6, 0.9]), 0.7)),
    (ripples, (1.3, 0.4)),
    (hive, (np.array([[0.1, 0.2], [0.9, 0.15], [0.52, 0.47], [0.2, 0.93], [0.8, 0.74]]), np.array([[0.3, 0.32], [0.61, 0.7]]))),
    (flight, (np.array([[0.1, 0.3, -0.2], [0.8, -0.1, 0.4], [1.3, 0.5, 0.1]]), 0.6)),
    (beetles, (np.array([[0.3, 0.4], [1.1, 0.2], [0.7, 1.3]]), np.array([[0.0, 0.0], [1.0, 1.0], [1.5, 0.1]]))),
    (shaded, (np.array([0.4, 0.5]), 0.3)),
    (neighbours, (np.array([[0.1, 0.2], [0.9, 0.15], [0.5, 0.6], [4.2, 3.9], [3.8, 4.7]]), 0.8)),
    (pollen, (np.array([[1.0, 0.1, 0.2], [-0.9, 0.3, 0.1], [0.1, 1.1, -0.3], [0.2, -0.8, 0.4], [0.1, 0.3, 1.2], [0.3, -0.1, -1.0]]), 1.3)),
    (frost, (3.1, 0.4)),
    (rain_gauges, (np.array([2.0, 3.5, 1.2, 4.1, 2.7]), 0.1)),
    (degree_days, (np.array([4.0, 6.5]), np.array([15.0, 19.0]))),
    (glasshouse, (0.7, 1.5)),
    (fountain, (0.8, 0.35)),
    (venation, (LEAF, 0.3)),
    (spots, (LEAF, 0.5)),
    (texture, (LEAF, 0.3)),
    (outline, (np.stack([np.cos(np.linspace(0, 6, 9)) * 2, np.sin(np.linspace(0, 6, 9)) * (1 + np.arange(9.0) / 20)]), 0.7)),
]  # fmt: skip
