"""An aerodrome's numbers: wings, engines, radio, navigation, loads, schedules and noise."""
# ruff: noqa: B905, E501, RUF059  # names and lines as they are often written

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import constants, fft, interpolate, linalg, optimize, signal, special
from scipy.integrate import cubature, dblquad, nsum, quad, quad_vec, solve_ivp, tanhsinh
from scipy.interpolate import CloughTocher2DInterpolator, PPoly, RectSphereBivariateSpline
from scipy.optimize import LbfgsInvHessProduct, fsolve, least_squares, leastsq
from scipy.signal import windows

# Wings.


def lifting_line(twist, aspect):
    """Prandtl's lifting line by sines at stations: lift, induced drag and efficiency."""
    n = len(twist)
    theta = (np.arange(n) + 0.5) * np.pi / (2 * n)
    k = 2 * np.arange(n) + 1
    mu = np.pi / (2 * aspect) * (1 - 0.4 * np.cos(theta))
    A = np.sin(np.outer(theta, k)) * (np.outer(mu, k) + np.sin(theta)[:, None])
    lu = linalg.lu_factor(A)
    a = linalg.lu_solve(lu, mu * np.sin(theta) * twist, check_finite=False)
    delta = np.sum(k[1:] * (a[1:] / a[0]) ** 2)
    return np.pi * aspect * a[0], 1 / (1 + delta), np.linalg.cond(A, 1)


def aerofoil(thickness, camber):
    """A thin aerofoil's coefficients by integrals with weights of their own."""

    def slope(t):
        x = 0.5 * (1 - np.cos(t))
        return camber * (1 - 2 * x) + thickness * x**2

    a0 = quad(slope, 0.0, np.pi)[0] / np.pi
    a1 = 2 / np.pi * quad(slope, 0.0, np.pi, weight="cos", wvar=1.0, maxp1=60)[0]
    edge = quad(lambda x: np.exp(-camber * x), 0.0, 1.0, weight="alg", wvar=(-0.5, thickness))[0]
    return np.pi * (a1 - 2 * a0), a0, edge


def flutter(mass, stiffness):
    """Frequencies and dampings of two modes by a state matrix put into blocks, and the worst one."""
    M = np.array([[1.0, mass], [mass, 0.6]])
    K = np.diag([stiffness, 2.3 * stiffness]) + np.array([[0.0, 0.8], [-0.5, 0.0]])
    C = 0.05 * K + 0.02 * M
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-linalg.solve(M, K), -linalg.solve(M, C)]])
    w = linalg.eigvals(A)
    w = w[np.argsort(w.imag)][2:]
    balanced, scale = linalg.matrix_balance(A, permute=False)
    return np.abs(w), -w.real / np.abs(w), np.abs(balanced).sum()


@dataclass(frozen=True)
class Spar:
    """A tapered beam: bending by a differential equation with its slope at the tip."""

    root: float
    taper: float

    def inertia(self, x):
        return self.root * (1 - self.taper * x) ** 3

    def bend(self, load):
        return solve_ivp(
            lambda x, y: [y[1], load * (1 - x) ** 2 / 2 / self.inertia(x)],
            (0.0, 1.0), [0.0, 0.0], method="DOP853", rtol=1e-11, atol=1e-12, dense_output=True,
        )  # fmt: skip


def spar(root, taper, load):
    """Deflection at four places and the strain energy."""
    beam = Spar(root, taper)
    sol = beam.bend(load).sol
    energy = quad(lambda x: (load * (1 - x) ** 2) ** 2 / 8 / beam.inertia(x), 0, 1)[0]
    return sol(np.array([0.25, 0.5, 1.0]))[0], energy


def fuel_slosh(depth, radius):
    """Natural frequencies in a tank by zeros of a Bessel function's slope, and a pressure."""
    k = special.jnp_zeros(1, 3) / radius
    omega = np.sqrt(9.81 * k * np.tanh(k * depth))
    pressure = special.jv(1, k * radius / 2) * np.cosh(k * depth / 2) / np.cosh(k * depth)
    return omega, pressure, special.h2vp(0, radius).real


def gust(length, speed):
    """Von Karman's spectrum over a beam: variance by double-exponential quadrature, and its log."""
    f = lambda w: (
        (1 + 8 / 3 * (1.339 * length * w / speed) ** 2)
        / (1 + (1.339 * length * w / speed) ** 2) ** (11 / 6)
    )
    r = tanhsinh(f, 0.0, 40.0, atol=1e-14, rtol=1e-13)
    logs = tanhsinh(lambda w: np.log(f(w)) - w, 0.0, 3.0, log=True, rtol=math.log(1e-12))
    return r.integral * length / speed, logs.integral.real


# Engines.


def compressor(ratio, efficiency):
    """A Brayton cycle: temperatures by heat capacities that are polynomials, solved one by one."""
    cp = np.polynomial.Polynomial([1.0, 0.05, 0.08])
    h = cp.integ()
    entropy = lambda t: np.log(t) + 0.05 * (t - 1) + 0.04 * (t**2 - 1) - 0.286 * np.log(ratio)
    t2s = fsolve(entropy, [1.5], xtol=1e-13, factor=0.5, diag=[1.0])[0]
    h2 = h(1.0) + (h(t2s) - h(1.0)) / efficiency
    t2 = fsolve(lambda t: h(t) - h2, t2s, fprime=lambda t: [cp(t)], xtol=1e-13)[0]
    work = (h(4.0) - h(4.0 * ratio**-0.25)) * efficiency - (h2 - h(1.0))
    return t2, work, work / (h(4.0) - h2)


def nozzle(area, gamma):
    """Mach numbers on both sides of a throat by a bracketed and a secant search."""
    g = gamma

    def ratio(m):
        return (2 / (g + 1) * (1 + (g - 1) / 2 * m * m)) ** ((g + 1) / (2 * (g - 1))) / m

    slow = optimize.brenth(lambda m: ratio(m) - area, 0.05, 0.99, rtol=1e-14, xtol=1e-14)
    fast, r = optimize.newton(lambda m: ratio(m) - area, 1.8, x1=2.2, tol=1e-14, full_output=True)
    return slow, fast, (1 + (g - 1) / 2 * fast**2) ** (-g / (g - 1))


def turbine_map(flow, speed):
    """A map by scattered points: a smoothing surface and a triangulated one, at a line of use."""
    rng = np.random.default_rng(4)
    x, y = rng.uniform(0, 1, (2, 40))
    z = np.sin(2 * x + flow.mean()) * np.cos(y * speed)
    surface = interpolate.SmoothBivariateSpline(x, y, z, kx=2, ky=2, s=0.0008)
    pieces = CloughTocher2DInterpolator(np.c_[x, y], z, tol=1e-12, maxiter=2000)
    return surface.ev(flow, np.full(3, 0.52)), pieces(np.c_[flow, np.full(3, 0.47)])


def combustor(rate, heat):
    """A reactor at rest in three zones that feed each other, by linear mixing of iterates."""

    def residual(t):
        left = np.concatenate([[1.0], t[:-1]])
        return left + heat * rate * np.exp(-1 / t) / (1 + rate * np.exp(-1 / t)) - t

    t = optimize.linearmixing(
        residual, np.full(3, 1.2), alpha=0.8, f_tol=1e-13, maxiter=500, line_search=None
    )
    u = optimize.diagbroyden(
        residual, np.full(3, 1.2), alpha=0.9, f_tol=1e-12, maxiter=500, line_search=None
    )
    return t, u[-1] ** 2


def bearings(speed, wear):
    """Loss of three bearings, tuned by a truncated Newton method with its own scaling."""
    c = np.array([1.0, 0.6, 0.8]) * wear

    def loss(x):
        r = x - np.array([0.3, 0.5, 0.2]) * speed
        return np.sum(c * r**2) + 0.05 * np.sum(r**4), 2 * c * r + 0.2 * r**3

    x, n, rc = optimize.fmin_tnc(
        loss, np.full(3, 0.4), bounds=[(0, 4)] * 3, scale=np.ones(3), rescale=-1.0, ftol=1e-15, xtol=1e-12, pgtol=1e-12, messages=0
    )  # fmt: skip
    return x, loss(x + 0.1)[0]


# Radio and radar.


def glide_slope(offset, q):
    """A receiver: an analogue prototype moved to a band, its states, and its answer."""
    z, p, k = signal.cheb1ap(3, 0.5)
    b, a = signal.zpk2tf(z, p, k)
    b, a = signal.lp2hp(*signal.lp2lp(b, a, wo=1.0 + offset), wo=0.8 * q)
    w, h = signal.freqs(b, a, worN=np.array([0.3, 0.9, 2.0]))
    zz, pp, kk = signal.lp2bs_zpk(z, p, k, wo=1.0 + offset, bw=0.4 / q)
    return np.abs(h), np.angle(h), np.abs(pp[:3]), kk


def beacon(tones, damping):
    """A beacon's tones weighed by rare windows, and the energy in a band of the spectrum."""
    n = 48
    t = np.arange(n) / 16.0
    x = sum(a * np.exp(-damping * t) * np.sin(2 * np.pi * f * t) for a, f in zip(tones, (1.3, 2.9)))
    out = []
    for w in (windows.parzen(n), windows.bohman(n), windows.nuttall(n), windows.lanczos(n)):
        X = fft.rfft(x * w)
        out.append(np.sum(np.abs(X[4:12]) ** 2) / np.sum(w**2))
    return np.array(out), fft.ihfft(x[:24])[3].imag


def pulse_compression(width, doppler):
    """A chirp against its shifted echo by an overlap method: the peak and its first neighbours."""
    t = np.linspace(0, 1, 64)
    s = np.exp(1j * np.pi * width * (t - 0.5) ** 2) * windows.barthann(64)
    echo = s * np.exp(2j * np.pi * doppler * t)
    r = np.abs(signal.oaconvolve(echo, np.conj(s[::-1]), mode="same"))
    return r[30:35], np.sum(r**4) / np.sum(r**2) ** 2


def antenna_array(spacing, steer):
    """Gain of a line of dipoles over the sphere by a cubature of vectors."""
    n = np.arange(4)

    def power(x):
        psi = 2 * np.pi * spacing * np.cos(x[:, :1]) + steer
        af = np.abs(np.sum(np.exp(1j * psi * n), axis=1)) ** 2
        return af * np.sin(x[:, 0]) ** 3 * (1 + 0.1 * np.cos(x[:, 1]))

    r = cubature(
        power, [0.0, 0.0], [np.pi, 2 * np.pi], rule="gk21", rtol=1e-11, points=[[1.5, 3.0]]
    )
    return r.estimate, 16.0 / r.estimate


def digital_filter(cut, ripple):
    """A control law made discrete: zeros and poles to states and back to sections."""
    z, p, k = signal.ellipap(2, ripple, 30.0)
    z, p, k = signal.lp2lp_zpk(z, p, k, wo=cut)
    A, B, C, D = signal.zpk2ss(z, p, k)
    Ad, Bd, Cd, Dd, dt = signal.cont2discrete((A, B, C, D), 0.2, method="bilinear")
    w, h = signal.dfreqresp((Ad, Bd, Cd, Dd, dt), w=np.array([0.2, 0.6]))
    return np.abs(h), linalg.det(Ad), Dd.ravel()


def squelch(audio, level):
    """A voice switch: an image-like spline of the level, sections from a transfer function."""
    b = np.array([1.0, level, 0.3])
    a = np.array([1.0, -0.5 * level, 0.2])
    sos = signal.tf2sos(np.convolve(b, [1.0, 0.4]), np.convolve(a, [1.0, -0.3]))
    y = signal.sosfilt(sos, audio)
    zi, pi, ki = signal.sos2zpk(sos)
    c = signal.cspline2d(np.outer(y, audio), 0.0)
    return y[-3:], c[0], np.sum(pi).real * ki


# Navigation and traffic.


def geoid(heights, where):
    """Heights over a sphere by a grid of latitudes and longitudes, at three fields."""
    lat = np.linspace(0.3, np.pi - 0.3, 6)
    lon = np.linspace(0.1, 6.0, 7)
    z = heights[:, None] * np.cos(lon) + np.sin(lat)[:, None] * np.sin(lon) + 0.1 * heights[0]
    lut = RectSphereBivariateSpline(lat, lon, z)
    return lut.ev(np.array([0.8, 1.4, 2.1]), np.array([1.0, 2.0, 4.0]) + where)


def great_circles(lat, lon):
    """Distances along a route over an ellipsoid by an elliptic integral and by haversines."""
    a, e2 = 6378.137, 0.00669438
    hav = lambda x: np.sin(x / 2) ** 2
    legs = [
        2 * a * np.arcsin(np.sqrt(hav(q - p) + np.cos(p) * np.cos(q) * hav(m - l)))
        for (p, l), (q, m) in pairwise(zip(lat, lon))
    ]
    north = a * (special.ellipeinc(lat[-1], e2) - special.ellipeinc(lat[0], e2))
    return np.array(legs), north, sum(legs) / constants.nautical_mile * 1e3


def wind_triangle(headings, drift):
    """Wind by three groundspeeds: least squares with a user's derivatives by columns."""
    tas = 60.0
    seen = np.array([68.0, 55.5, 61.0]) + drift

    def residual(w):
        u = tas * np.array([np.cos(headings), np.sin(headings)]) + w[:, None]
        return np.hypot(u[0], u[1]) - seen

    def slopes(w):
        u = tas * np.array([np.cos(headings), np.sin(headings)]) + w[:, None]
        return u / np.hypot(u[0], u[1])

    w, flag = leastsq(
        residual,
        np.array([1.0, 1.0]),
        Dfun=slopes,
        col_deriv=True,
        xtol=1e-13,
        ftol=1e-13,
        gtol=1e-13,
    )
    r = least_squares(
        residual, [1.0, 1.0], diff_step=1e-6, method="dogbox", xtol=1e-13, ftol=1e-13, gtol=1e-13
    )
    return w, r.cost


def holding(rate, service):
    """Aircraft that wait: an infinite sum over states by steps of two, and a mean delay."""
    rho = rate / service
    odd = nsum(lambda k: k * rho**k, 1.0, np.inf, step=2.0, tolerances={"rtol": 1e-12})
    series = nsum(lambda k: 1 / (k + rate) ** 2.5, 1.0, np.inf, tolerances={"rtol": 1e-11})
    return odd.sum, series.sum, rho / (service - rate)


def runway(load, modulus):
    """A slab: the mean of its reaction over a disc by a double integral with tight limits."""
    stiff = modulus ** (1 / 3)
    r, err = dblquad(
        lambda y, x: load * np.exp(-stiff * (x * x + y * y)), 0.0, 1.0, 0.0, lambda x: math.sqrt(1 - x * x), epsrel=1e-11, epsabs=1e-13
    )  # fmt: skip
    ring = quad_vec(
        lambda t: np.array([np.cos(load * t), t**modulus]),
        0.0,
        1.0,
        points=(0.4,),
        epsabs=1e-12,
        norm="max",
    )[0]
    return r, ring


def noise_contour(sources, decay):
    """Where the noise of three runways is a limit: a radius for each bearing by one system."""
    angles = np.array([0.2, 1.1, 2.3])

    def level(r):
        x, y = r * np.cos(angles), r * np.sin(angles)
        d = np.hypot(x[:, None] - np.array([0.0, 0.5, -0.4]), y[:, None] - 0.1)
        return np.log(np.sum(sources * np.exp(-decay * d), axis=1)) + 1.0

    r, info, ok, message = fsolve(level, np.full(3, 1.0), full_output=True, xtol=1e-13, band=None)
    return r, np.sum(r**2) / 2


def landing(weights, flap):
    """Wear of a tyre: pieces of a cubic from a spline, its roots, where it passes a level, a series."""
    x = np.linspace(0.0, 3.0, len(weights))
    s = interpolate.CubicSpline(x, weights, bc_type=((1, flap), (2, 0.0)))
    p = PPoly.from_spline(interpolate.splrep(x, weights, s=0))
    taylor = interpolate.approximate_taylor_polynomial(lambda t: np.exp(-flap * t), 1.0, 3, 0.3)
    return s.solve(weights.mean(), extrapolate=False), p.integrate(0.2, 2.7), taylor(0.1)


def quasi_newton(points, shift):
    """A step by an inverse Hessian of few vectors, kept from two steps before, for a trajectory."""
    s = np.diff(points, axis=0)
    y = s * np.array([2.0, 1.0, 0.5]) + shift * s**3
    H = LbfgsInvHessProduct(s, y)
    g = points[-1] * np.array([2.0, 1.0, 0.5])
    return -(H @ g), H.todense().diagonal()


SERIES = np.sin(1.3 * np.arange(24.0)) * 0.7 + 0.2 * np.cos(0.31 * np.arange(24.0))

SELDOM = [
    (lifting_line, (np.array([0.12, 0.11, 0.09, 0.07, 0.04]), 7.0)),
    (aerofoil, (0.3, 0.12)),
    (flutter, (0.2, 1.7)),
    (spar, (1.3, 0.4, 0.8)),
    (fuel_slosh, (0.8, 1.4)),
    (gust, (1.2, 2.3)),
    (compressor, (6.0, 0.87)),
    (nozzle, (1.9, 1.38)),
    (turbine_map, (np.array([0.31, 0.52, 0.68]), 1.2)),
    (combustor, (1.5, 0.6)),
    (bearings, (1.3, 0.9)),
    (glide_slope, (0.15, 1.3)),
    (beacon, (np.array([1.0, 0.6]), 0.4)),
    (pulse_compression, (9.0, 0.3)),
    (antenna_array, (0.42, 0.5)),
    (digital_filter, (1.1, 0.8)),
    (squelch, (SERIES, 0.6)),
    (geoid, (np.array([0.4, 1.1, 0.8, -0.3, 0.6, 0.2]), 0.15)),
    (great_circles, (np.array([0.61, 0.72, 0.89]), np.array([-0.2, 0.1, 0.35]))),
    (wind_triangle, (np.array([0.3, 2.2, 4.4]), 0.7)),
    (holding, (0.7, 1.1)),
    (runway, (1.2, 2.1)),
    (noise_contour, (np.array([1.2, 0.8, 1.5]), 1.6)),
    (landing, (np.array([0.4, 1.7, 0.9, 2.1, 0.6]), 0.5)),
    (quasi_newton, (np.array([[1.0, 0.4, -0.6], [0.7, 0.5, -0.2], [0.5, 0.2, 0.3]]), 0.2)),
]  # fmt: skip
