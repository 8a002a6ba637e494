"""Fields and laboratories: drums, rivers, spectra, herds, tides, and instruments that look at them."""
# ruff: noqa: E501, RUF059  # names and lines as they are often written

import functools
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import scipy.special as sp
from scipy import constants, integrate, linalg, ndimage, optimize, signal, stats
from scipy.integrate import LSODA, complex_ode, cumulative_simpson, nsum, ode, odeint, quad, romb
from scipy.interpolate import AAA, BPoly, LSQUnivariateSpline, make_splrep, pade
from scipy.optimize import fixed_point, fsolve, leastsq, newton, root
from scipy.spatial import KDTree
from scipy.special import jnjnp_zeros, lambertw, spherical_kn, spherical_yn

# Sound and waves.


def kettledrum(tension, radius, air):
    """The first tones of a membrane, whose air adds mass to those that are round."""
    z0, order, _, kind = jnjnp_zeros(12)
    zeros = np.array([z for z, k in zip(z0, kind, strict=True) if k == 0])
    orders = order[kind == 0]
    c = np.sqrt(tension / 0.262)
    load = 1 + air * np.where(orders == 0, 0.85, 0.6) * radius / 0.262
    freq = zeros * c / (2 * np.pi * radius) / np.sqrt(load)
    return freq[:5], freq[1] / freq[0]


def coaxial_cutoff(inner, outer):
    """The cutoff of the first higher mode of a coaxial line: a root of Bessel functions."""

    def characteristic(k, m=1):
        return sp.jvp(m, k * inner) * sp.yvp(m, k * outer) - sp.jvp(m, k * outer) * sp.yvp(
            m, k * inner
        )

    guess = 2.0 / (inner + outer)
    k = newton(characteristic, guess, x1=1.02 * guess, tol=1e-13)
    return k * constants.c / (2 * np.pi)


def pulsating_sphere(radius, frequency):
    """The radiation impedance of spheres that breathe or wobble, by spherical Hankel functions."""
    ka = 2 * np.pi * frequency / 343.0 * radius
    out = []
    for n in (0, 1, 2):
        h = sp.spherical_jn(n, ka) - 1j * spherical_yn(n, ka)
        dh = sp.spherical_jn(n, ka, derivative=True) - 1j * spherical_yn(n, ka, derivative=True)
        z = -1j * h / dh
        out.extend([z.real, z.imag])
    return np.array(out)


def screened_shell(kappa, radii):
    """Potentials of charged shells in salt water, and the force on them."""
    u = [sp.spherical_in(n, kappa * radii[0]) * spherical_kn(n, kappa * radii[1]) for n in range(3)]
    du = [
        kappa
        * sp.spherical_in(n, kappa * radii[0])
        * spherical_kn(n, kappa * radii[1], derivative=True)
        for n in range(3)
    ]
    return np.stack(u), np.sum(du)


def horn(flare, length):
    """Webster's equation with the slope of its own right-hand side, by odeint and its Jacobian."""

    def rhs(y, x, k):
        return [y[1], -2 * flare / (1 + flare * x) * y[1] - k**2 * y[0]]

    def jac(y, x, k):
        return [[0.0, 1.0], [-(k**2), -2 * flare / (1 + flare * x)]]

    x = np.linspace(0, length, 7)
    y = odeint(
        rhs, [1.0, 0.0], x, args=(3.0,), Dfun=jac, h0=1e-3, rtol=1e-9, atol=1e-10, mxstep=2000
    )
    return y[-1, 0], y[3]


def echo_sounder(delay, speed):
    """A chirp that comes back, by its envelope and where this is highest between samples."""
    t = np.linspace(0, 0.02, 400)
    ping = lambda u: signal.gausspulse(u, fc=2000.0, bw=0.4)
    received = 0.7 * ping(t - delay) + 0.05 * np.sin(600 * t)
    env = np.abs(signal.hilbert(received))
    k = int(np.argmax(env))
    a, b, c = np.polyfit(np.arange(-2, 3), np.log(env[k - 2 : k + 3]), 2)
    peak = t[k] - b / (2 * a) * (t[1] - t[0])
    return speed * peak / 2, np.exp(c)


# Water, air and earth.


def river_rating(stage, exponent):
    """Discharge from gauged stages, by leastsq with its Jacobian by columns."""
    q = 4.2 * np.maximum(stage - 0.3, 0.0) ** exponent + 0.05 * np.sin(5 * stage)

    def residuals(p, h, q):
        a, h0, m = p
        return a * (h - h0) ** m - q

    def slopes(p, h, q):
        a, h0, m = p
        d = h - h0
        return np.array([d**m, -a * m * d ** (m - 1), a * d**m * np.log(d)])

    best, flag = leastsq(
        residuals,
        [4.0, 0.25, 1.5],
        args=(stage, q),
        Dfun=slopes,
        col_deriv=True,
        ftol=1e-14,
        xtol=1e-14,
    )
    return best


def manning_depth(slope, roughness):
    """Normal and critical depths of a trapezoidal channel, both at once, by fsolve with fprime."""
    Q, b, z, g = 12.0, 3.0, 1.5, 9.81
    area = lambda y: y * (b + z * y)
    wet = lambda y: b + 2 * y * np.sqrt(1 + z**2)
    top = lambda y: b + 2 * z * y

    def f(y):
        return [
            np.sqrt(slope) / roughness * area(y[0]) ** (5 / 3) - Q * wet(y[0]) ** (2 / 3),
            area(y[1]) ** 3 - Q**2 / g * top(y[1]),
        ]

    def df(y):
        d0 = np.sqrt(slope) / roughness * 5 / 3 * area(y[0]) ** (2 / 3) * top(y[0])
        d0 -= Q * 2 / 3 * wet(y[0]) ** (-1 / 3) * 2 * np.sqrt(1 + z**2)
        d1 = 3 * area(y[1]) ** 2 * top(y[1]) - Q**2 / g * 2 * z
        return [[d0, 0.0], [0.0, d1]]

    y, info, ier, msg = fsolve(f, [1.5, 1.0], fprime=df, full_output=True, xtol=1e-12)
    if ier != 1:
        raise RuntimeError(msg)
    return y, y[0] / y[1]


def colebrook(reynolds, rough):
    """Friction in pipes by iterating without acceleration, beside Lambert's function."""
    g = lambda x: -2 * np.log10(rough / 3.7 + 2.51 * x / reynolds)
    x = fixed_point(g, np.full(3, 7.0), method="iteration", xtol=1e-14, maxiter=200)
    smooth = 2 / np.log(10) * lambertw(np.log(10) / 2 * reynolds / 2.51, tol=1e-12).real
    return x**-2, smooth**-2


def wind_rose(speeds, bearings):
    """Where the wind comes from: circular means of rows, with a range of degrees of their own."""
    mean = stats.circmean(bearings, high=180, low=-180, axis=1)
    spread = stats.circstd(bearings, high=180, low=-180, axis=1)
    u = np.stack([np.cos(np.radians(bearings)), np.sin(np.radians(bearings))], -1)
    d = stats.directional_stats(u.reshape(-1, 2), normalize=False)
    energy = stats.pmean(speeds, 3, axis=1, weights=np.array([1.0, 2.0, 1.0, 1.0]))
    return mean, spread, d.mean_resultant_length, energy


def tide_gauge(amplitudes, period):
    """Harmonics from hourly heights with a hole, robust to it by NaN, and the highest water."""
    t = np.arange(0.0, 30.0)
    w = 2 * np.pi / period
    h = amplitudes[0] * np.cos(w * t) + amplitudes[1] * np.sin(2 * w * t)
    holed = np.where((t > 11) & (t < 14), np.nan, h)
    keep = ~np.isnan(holed)
    X = np.column_stack(
        [np.ones(keep.sum()), np.cos(w * t[keep]), np.sin(2 * w * t[keep]), t[keep]]
    )
    fit, res, rank, sv = linalg.lstsq(
        X, holed[keep] + 0.01 * t[keep] ** 1.5, lapack_driver="gelsy", overwrite_a=True
    )
    skewed = stats.skew(holed, nan_policy="omit")
    return (
        fit,
        skewed,
        stats.tmax(h, upperlimit=1.2),
        stats.tvar(h, limits=(-0.5, 0.9), inclusive=(False, True)),
    )


def lapse(ground, rate):
    """Pressure over height, integrated three ways by sums along an axis of samples."""
    z = np.linspace(0, 8000, 65)
    T = ground[:, None] - rate * z
    dz = z[1] - z[0]
    integrand = 1.0 / T
    a = romb(integrand, dx=dz, axis=1)
    b = integrate.simpson(integrand, x=z, axis=-1)
    c = cumulative_simpson(integrand, dx=dz, axis=1, initial=0.0)[:, 40]
    return 1013.25 * np.exp(-9.80665 * 0.0289644 / constants.R * np.stack([a, b, c]))


def groundwater(transmissivity, storage):
    """Drawdown at wells by Theis, added up over image wells; the radius that feels 5 cm."""
    Q, t = 0.02, 86400.0 * np.array([1.0, 10.0])
    u = lambda r: r**2 * storage / (4 * transmissivity * t)
    drawdown = lambda r: (
        Q / (4 * np.pi * transmissivity) * (sp.exp1(u(r)) + sp.expn(1, u(r + 60.0)))
    )
    r = [
        optimize.toms748(
            lambda r, i=i: drawdown(r)[i] - 0.05, 1.0, 5e4, k=2, xtol=1e-11, rtol=1e-14
        )
        for i in range(2)
    ]
    return drawdown(25.0), np.array(r)


def thin_ice(flux, snow):
    """Ice that thickens day by day, by an ode object with vode's BDF and its own Jacobian."""

    def f(t, y, F, s):
        return [F / (y[0] + s) - 0.02 * y[0], 0.1 * (y[0] - y[1])]

    def jac(t, y, F, s):
        return [[-F / (y[0] + s) ** 2 - 0.02, 0.0], [0.1, -0.1]]

    solver = ode(f, jac).set_integrator(
        "vode", method="bdf", with_jacobian=True, rtol=1e-9, atol=1e-11
    )
    solver.set_initial_value([0.1, 0.0], 0.0).set_f_params(flux, snow).set_jac_params(flux, snow)
    rows = []
    while solver.successful() and solver.t < 19.9:
        rows.append(solver.integrate(solver.t + 5.0))
    return np.array(rows)


# Light, atoms and molecules.


def rabi(drive, detuning):
    """Two levels under a pulse, with complex amplitudes."""
    H = lambda t: np.array(
        [
            [0.0, drive / 2 * np.exp(-((t - 2) ** 2))],
            [drive / 2 * np.exp(-((t - 2) ** 2)), detuning],
        ]
    )
    solver = complex_ode(lambda t, c: -1j * H(t) @ c)
    solver.set_integrator("dopri5", rtol=1e-9, atol=1e-10)
    solver.set_initial_value([1.0 + 0j, 0.0], 0.0)
    c = solver.integrate(4.0)
    return np.abs(c) ** 2, np.angle(c[0])


def paul_trap(a, q):
    """The secular frequency of an ion in a trap: between two of Mathieu's characteristic values."""
    beta_low = np.sqrt(a + q**2 / 2)
    bands = np.array([sp.mathieu_a(0, q), sp.mathieu_b(1, q)])
    coefs = sp.mathieu_even_coef(2, q)[:3]
    return beta_low, (a - bands[0]) / (bands[1] - bands[0]), coefs


def blackbody_band(T, low, high):
    """The share of a star's light in a band, as a sum that SciPy extrapolates, and Wien's shift."""
    c2 = constants.h * constants.c / constants.k * 1e6

    def fraction(wl):
        x = c2 / (wl * T)
        term = lambda n: np.exp(-n * x) * (x**3 / n + 3 * x**2 / n**2 + 6 * x / n**3 + 6 / n**4)
        return 15 / np.pi**4 * nsum(term, 1, np.inf).sum

    return fraction(high) - fraction(low), constants.Wien / T * 1e9


def morse(depth, width):
    """Levels of a diatomic molecule by a sine grid, and its spectrum within an interval."""
    n, L = 40, 6.0
    x = np.linspace(-1.2, L, n)
    h = x[1] - x[0]
    V = depth * (1 - np.exp(-width * x)) ** 2
    i = np.arange(n)
    D = i[:, None] - i
    T = np.where(D == 0, np.pi**2 / 3, 2.0 * (-1.0) ** D / np.where(D == 0, 1, D) ** 2) / (2 * h**2)
    E = linalg.eigvalsh(T + np.diag(V), subset_by_value=[0.0, 6.5], check_finite=False)
    return E[:3], E[1] - E[0]


def franck_condon(shift, ratio):
    """Overlaps of the states of two wells, by Hermite functions and their nodes."""
    x, w, total = sp.roots_hermite(40, mu=True)
    psi = lambda n, y: sp.eval_hermite(n, y) / np.sqrt(2.0**n * sp.factorial(n) * np.sqrt(np.pi))
    y = ratio * (x + shift)
    env = np.exp(x**2 / 2 - y**2 / 2) * np.sqrt(ratio)
    return (
        np.array([np.sum(w * env * psi(0, x) * psi(n, y)) ** 2 for n in range(4)])
        * total
        / np.sqrt(np.pi)
    )


def voigt_lines(centres, widths):
    """Two lines that overlap, fitted with bounds and a scale for each parameter."""
    nu = np.linspace(-4, 4, 60)
    shape = lambda nu, c1, c2, s, g: (
        sp.voigt_profile(nu - c1, s, g) + 0.5 * sp.voigt_profile(nu - c2, s, g)
    )
    data = shape(nu, *centres, *widths) + 0.002 * np.cos(7 * nu)
    popt, pcov, info, msg, ok = optimize.curve_fit(
        shape, nu, data, p0=[-0.8, 1.0, 0.5, 0.3], bounds=([-3, -3, 0.05, 0.05], 3), x_scale=[1, 1, 0.3, 0.3],
        method="dogbox", full_output=True, ftol=1e-14, xtol=1e-14, gtol=1e-14,
    )  # fmt: skip
    return popt, np.sqrt(np.diag(pcov))[:2]


def grating(pitch, slits):
    """What a grating sends into angles: the Dirichlet kernel with a slit's own."""
    theta = np.linspace(-0.02, 0.02, 9)
    delta = 2 * np.pi * pitch * np.sin(theta) / 5e-7
    envelope = np.sinc(slits * np.sin(theta) / 5e-7) ** 2
    return sp.diric(delta, 7) ** 2 * envelope


def dose_curve(coefs, at):
    """A Padé approximant of a series that diverges, and how far it is from AAA's."""
    p, q = pade(coefs, 2, n=2)
    z = np.linspace(0.0, 1.0, 12)
    f = AAA(z, p(z) / q(z), max_terms=6)
    return p(at) / q(at), f(at)


# Creatures.


def vole_cohorts(survival, fertility):
    """A herd by ages with a companion of Leslie's matrix: growth, stable shares, values of a birth."""
    L = linalg.leslie(fertility, survival)
    w, vl, vr = linalg.eig(L, left=True, right=True)
    i = np.argmax(w.real)
    shares = np.abs(vr[:, i]) / np.sum(np.abs(vr[:, i]))
    value = np.abs(vl[:, i]) / np.abs(vl[0, i])
    return w[i].real, shares, value


def quadrats(counts, size):
    """Counts of beetles, clumped: dispersion by the moments of rows and a likelihood's slope."""
    m, v = stats.describe(counts, axis=1, ddof=0)[2:4]
    k = m**2 / (v - m)
    loglik = stats.nbinom.logpmf(np.array([0, 3, 1, 7, 2]), size, size / (size + np.mean(m)))
    return k, loglik.sum(), stats.variation(counts, axis=1, ddof=1)


@dataclass(frozen=True)
class Patch:
    gain: float
    handling: float

    def rate(self, t):
        return self.gain * t / (self.handling + t)


def marginal_value(travel, gain, handling):
    """When a bee leaves a flower, by golden sections over what it has by the hour."""
    patch = Patch(gain, handling)
    best, value, calls = optimize.golden(
        lambda t: -patch.rate(t) / (t + travel),
        brack=(0.01, 1.0, 30.0),
        tol=1e-10,
        full_output=True,
    )
    return best, -value


def herd_immunity(r0, leak):
    """Sizes of outbreaks in three groups, by root with Krylov's directions."""
    mix = np.array([[0.6, 0.3, 0.1], [0.3, 0.4, 0.3], [0.1, 0.3, 0.6]])

    def f(z):
        return z - 1 + leak * np.exp(-r0 * mix @ z)

    sol = root(
        f,
        np.full(3, 0.7),
        method="krylov",
        options={"fatol": 1e-13, "jac_options": {"method": "gmres"}},
    )
    assert sol.success
    return sol.x


def synapse(release, recovery):
    """A lsoda object stepped by hand from spike to spike; the state is set back at each."""
    x, t, seen = np.array([1.0, 0.0]), 0.0, []
    for spike in (0.5, 0.8, 1.6):
        solver = LSODA(
            lambda t, y: np.array([(1 - y[0]) / recovery, -y[1] * 4.0]),
            t,
            x,
            spike,
            rtol=1e-9,
            atol=1e-10,
        )
        while solver.status == "running":
            solver.step()
        used = release * solver.y[0]
        x, t = np.array([solver.y[0] - used, solver.y[1] + used]), spike
        seen.append(x[1])
    return np.array(seen)


# Maps and pictures.


def geoid_harmonics(colat, lon):
    """A sphere's harmonics of low degree with their slopes, as a field of real numbers."""
    y, grad = sp.sph_harm_y(2, 1, colat, lon, diff_n=1)
    z = sp.sph_harm_y(3, 2, colat, lon)
    return np.real(y), np.imag(z), np.real(grad)


def torus_neighbours(points, spread):
    """Distances within a box whose sides meet, and a kernel sum over three neighbours."""
    tree = KDTree(np.mod(points, 1.0), boxsize=1.0)
    d, i = tree.query(np.mod(points + 0.03, 1.0), k=3)
    return d[:, 0], np.sum(np.exp(-((d / spread) ** 2)), axis=1)


def nuclei(image, threshold):
    """Cells in a picture: labels of what is bright, each one's brightness, middle and extremes."""
    smooth = ndimage.gaussian_filter(image, sigma=threshold, truncate=2.5, mode="wrap")
    labels, n = ndimage.label(smooth > 0.4, structure=np.ones((3, 3)))
    index = np.arange(1, n + 1)
    total = ndimage.sum(smooth, labels, index)
    centre = ndimage.center_of_mass(smooth, labels, index)
    top = ndimage.maximum(smooth, labels, index)
    low, high = ndimage.extrema(smooth, labels, 1)[:2]
    return total, np.array(centre), top, ndimage.median(smooth, labels, index), high - low


def hillshade(terrain, azimuth):
    """Slopes of a terrain by Prewitt's operator with edges that wrap, and a sun's shade."""
    dx = ndimage.prewitt(terrain, axis=1, mode="nearest") / 6
    dy = ndimage.prewitt(terrain, axis=0, mode="nearest") / 6
    slope, aspect = np.arctan(np.hypot(dx, dy)), np.arctan2(-dx, dy)
    shade = np.cos(0.8) * np.cos(slope) + np.sin(0.8) * np.sin(slope) * np.cos(azimuth - aspect)
    return ndimage.generic_filter(shade, np.median, footprint=np.ones((2, 2)), mode="mirror")


def well_log(depth, values):
    """A smooth log through noisy ones: knots of one's own with weights, and with a penalty."""
    w = 1 / (0.1 + np.abs(values))
    lsq = LSQUnivariateSpline(depth, values, t=[2.0, 4.5], w=w, k=3)
    spl = make_splrep(depth, values, w=w, s=0.05, k=3)
    return lsq(3.3), lsq.integral(1.0, 5.0), spl(3.3), lsq.get_residual()


def ship_track(fixes, turns):
    """A way through fixes with given headings, by a polynomial of Bernstein."""
    t = np.array([0.0, 1.0, 2.5])
    path = BPoly.from_derivatives(t, np.stack([fixes, turns], axis=1), orders=[3, 3])
    d = path.derivative()
    length = quad(lambda u: np.linalg.norm(d(u)), 0.0, 2.5, points=[1.0], epsabs=1e-10)[0]
    return path(1.7), length


Reading = namedtuple("Reading", "level drift")


@functools.cache
def window(n):
    return signal.get_window(("kaiser", 4.0), n, fftbins=False)


def seismometer(trace, rate):
    """A drift taken out in pieces, the spectrum's middle, and what a notch leaves."""
    flat = signal.detrend(trace, type="linear", bp=[16])
    f, p = signal.periodogram(
        flat, fs=rate, window=window(len(trace)), detrend=False, scaling="spectrum"
    )
    b, a = signal.iirnotch(0.2 * rate, 12.0, fs=rate)
    quiet = signal.filtfilt(b, a, flat, method="gust")
    out = Reading(np.sum(f * p) / np.sum(p), quiet[4:8])
    return out.level, out.drift


def thermometers(celsius, offset):
    """Readings in three scales, brought to one, their trimmed mean and its standard error."""
    kelvin = constants.convert_temperature(celsius + offset, "Celsius", "Kelvin")
    back = constants.convert_temperature(kelvin, "K", "F")
    return (
        stats.tmean(back, limits=(40.0, 90.0)),
        stats.tsem(back, limits=(40.0, 90.0), ddof=1),
        np.sum(kelvin**-1),
    )


X = np.linspace(0.0, 5.0, 14)
PROGRAMS = [
    (coaxial_cutoff, (0.0012, 0.0041)),
    (pulsating_sphere, (0.11, 410.0)),
    (horn, (0.8, 1.9)),
    (manning_depth, (0.0018, 0.027)),
    (colebrook, (np.array([2e4, 1.1e5, 3e6]), np.array([1e-3, 2e-4, 5e-5]))),
    (lapse, (np.array([288.15, 279.3]), 0.0065)),
    (thin_ice, (0.05, 0.08)),
    (paul_trap, (0.02, 0.31)),
    (geoid_harmonics, (0.83, 1.9)),
    (torus_neighbours, (np.array([[0.1, 0.9], [0.32, 0.41], [0.95, 0.08], [0.55, 0.6], [0.8, 0.71]]), 0.25)),
    (seismometer, (np.sin(0.9 * np.arange(40.0)) + 0.02 * np.arange(40.0), 50.0)),
]  # fmt: skip
SELDOM = [
    (kettledrum, (3990.0, 0.328, 0.31)),
    (screened_shell, (1.3, np.array([0.7, 1.6]))),
    (echo_sounder, (0.0081, 1480.0)),
    (river_rating, (np.linspace(0.6, 3.0, 9), 1.62)),
    (wind_rose, (np.array([[3.0, 5.5, 4.1, 6.0], [8.2, 7.4, 9.0, 5.1]]), np.array([[10.0, 35.0, -20.0, 50.0], [170.0, -175.0, 160.0, -150.0]]))),
    (tide_gauge, (np.array([1.1, 0.35]), 12.42)),
    (groundwater, (0.0031, 0.0004)),
    (rabi, (2.4, 0.7)),
    (blackbody_band, (5772.0, 0.4, 0.7)),
    (morse, (8.0, 0.9)),
    (franck_condon, (0.8, 1.1)),
    (voigt_lines, (np.array([-0.7, 1.1]), np.array([0.4, 0.35]))),
    (grating, (2.1e-5, 6e-6)),
    (dose_curve, (np.array([1.0, -1.0, 2.0, -6.0, 24.0]), 0.37)),
    (vole_cohorts, (np.array([0.6, 0.45]), np.array([0.2, 1.3, 1.9]))),
    (quadrats, (np.array([[0.0, 3.0, 9.0, 1.0, 4.0], [2.0, 2.5, 8.0, 0.5, 1.0]]), 1.4)),
    (marginal_value, (2.2, 3.0, 0.8)),
    (herd_immunity, (2.3, 0.9)),
    (synapse, (0.45, 0.62)),
    (nuclei, (np.exp(-((np.arange(12)[:, None] - 3.2) ** 2 + (np.arange(14) - 4.1) ** 2) / 3.0) + 1.3 * np.exp(-((np.arange(12)[:, None] - 8.6) ** 2 + (np.arange(14) - 10.3) ** 2) / 4.0), 0.8)),
    (hillshade, (np.sin(np.arange(30.0).reshape(5, 6) * 0.37) + 0.1 * np.arange(6), 0.9)),
    (ship_track, (np.array([[0.0, 0.0], [1.0, 0.7], [2.2, 0.1]]), np.array([[1.0, 0.5], [0.9, 0.1], [1.1, -0.7]]))),
    (thermometers, (np.array([11.0, 18.5, 24.0, 39.0, 15.2]), 0.3)),
]  # fmt: skip
# SciPy's search for its roughness stops early, which differences see.
UNDIFFERENCED = [
    (well_log, (X + 0.02 * np.sin(9 * X), np.sin(1.1 * X) + 0.06 * np.cos(11 * X) + 1.5)),
]  # fmt: skip
