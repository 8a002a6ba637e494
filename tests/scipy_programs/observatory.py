"""An observatory's scripts: stars, light, earth and sea, instruments and their calibration."""

import numpy as np
import scipy
import scipy.integrate
import scipy.linalg as sl
import scipy.optimize as so
import scipy.special as sp
import scipy.stats as st
from scipy.constants import physical_constants
from scipy.integrate import cumulative_simpson, fixed_quad, quad, quad_vec, romb, solve_ivp, tplquad
from scipy.optimize import bisect, fmin_bfgs, newton_krylov, root
from scipy.special import eval_laguerre, fresnel, gammainc, hyp1f1, i1, j1, kelvin, sph_harm_y

from .toolbox import LAWS, Orbit, chebyshev_points, integrate_tight, score, solve_tight

ALPHA = physical_constants["fine-structure constant"][0]
gen = np.random.default_rng(2024)
COUNTS = gen.poisson(6.0, 14)
BINS = np.linspace(0.5, 7.5, 14)
FLUX = 2.0 + np.sin(BINS) + 0.05 * gen.normal(size=14)
SIGMA = 0.05 + 0.01 * np.arange(14)
SEEING = np.abs(gen.normal(1.1, 0.2, 12))
TIDES = np.cos(0.7 * np.arange(24.0)) + 0.3 * np.sin(1.4 * np.arange(24.0))


def luminosity_distance(om, w):
    """A flat universe with dark energy of constant w; the look-back time of a galaxy as well."""
    E = lambda z: np.sqrt(om * (1 + z) ** 3 + (1 - om) * (1 + z) ** (3 * (1 + w)))
    d = integrate_tight(lambda z: 1 / E(z), 0, 1.1)[0]
    age = scipy.integrate.quad(lambda z: 1 / ((1 + z) * E(z)), 1.1, np.inf)[0]
    return 2.1 * d, 5 * np.log10(2.1 * d), age


def radial_velocities(a, e):
    o = Orbit(a, e)
    return np.array([o.radial_velocity(t) for t in (0.2, 1.0, 2.5)])


def sersic_profile(n, r):
    """The half-light constant by a root of the incomplete gamma function."""
    b = solve_tight(lambda b: sp.gammainc(2 * n, b) - 0.5, 0.1, 30)
    light = gammainc(2 * n, b * r ** (1 / n))
    return b, light, np.exp(-b * (r ** (1 / n) - 1))


def schechter(alpha, m):
    """Counts brighter than a limit, the exponent negative."""
    upper = quad(lambda x: x**alpha * np.exp(-x), m, np.inf)[0]
    return upper, sp.gammaincc(alpha + 2, m) * sp.gamma(alpha + 2), sp.exp1(m)


def lane_emden(n):
    """A polytrope's first zero and the slope there, by an event."""
    f = lambda x, y: [y[1], -(np.abs(y[0]) ** n) - 2 * y[1] / x]
    surface = lambda x, y: y[0]
    surface.terminal = True
    x0 = 1e-3
    s = solve_ivp(f, (x0, 20), [1 - x0**2 / 6, -x0 / 3], events=surface, rtol=1e-9, atol=1e-11,
                  method="DOP853")  # fmt: skip
    return s.t_events[0][0], s.y_events[0][0, 1]


def airy_disc(x, obscured):
    """A telescope with a central obstruction; encircled energy by quadrature."""
    amp = lambda u: 2 * sp.j1(u) / u - obscured**2 * 2 * j1(obscured * u) / (obscured * u)
    psf = lambda u: (amp(u) / (1 - obscured**2)) ** 2
    inside = quad(lambda u: psf(u) * u / 2, 1e-9, x)[0]
    return psf(x), inside


def zernike_wavefront(c):
    """Strehl's ratio of a wavefront from Jacobi polynomials, by Gauss on a disc."""
    r, w = sp.roots_sh_jacobi(8, 2, 2)
    modes = np.stack([np.sqrt(3) * (2 * r - 1), np.sqrt(5) * sp.eval_jacobi(2, 0, 0, 2 * r - 1)])
    phase = c @ modes
    w = w / w.sum()
    return np.abs(w @ np.exp(1j * phase)) ** 2, w @ phase**2


def knife_edge(v, tilt):
    S, C = fresnel(v)
    field = 0.5 * ((0.5 - C) ** 2 + (0.5 - S) ** 2)
    s2, c2 = sp.modfresnelm(tilt)
    return -10 * np.log10(field), np.abs(s2), np.real(c2)


def curve_of_growth(tau):
    """Equivalent widths of a Voigt line, by `fixed_quad` on pieces."""
    voigt = lambda x: sp.voigt_profile(x, 1.0, 0.1)
    width = lambda t: sum(
        fixed_quad(lambda x, t=t: -np.expm1(-t * voigt(x)), lo, hi, n=12)[0]
        for lo, hi in ((-8, -2), (-2, 2), (2, 8))
    )
    return np.array([width(t) for t in tau])


def background_and_source(s, b):
    """Li and Ma's significance, Cash's statistic and a posterior of the source's rate."""
    model = b + s * st.norm.pdf(BINS, 4.0, 0.7)
    cash = 2 * np.sum(model - COUNTS + sp.xlogy(COUNTS, COUNTS / model))
    on, off = s * 6 + b, b * 5
    li_ma = np.sqrt(2 * (sp.xlogy(on, 6 * on / (on + off)) + sp.xlogy(off, 1.2 * off / (on + off))))
    return cash, li_ma, st.poisson.sf(9, b), st.gamma.ppf(0.84, s + 1)


def seeing_model(kind, scale):
    return score("rayleigh", SEEING, scale=scale) + score("nakagami", SEEING, kind, scale=scale), (
        LAWS["invgamma"].sf(1.3, kind + 2, scale=scale)
    )


def lomb(freqs):
    """A normalised periodogram written with `lstsq` for each frequency."""
    out = []
    for f in freqs:
        X = np.column_stack([np.ones(14), np.cos(f * BINS), np.sin(f * BINS)])
        beta, _res, _rank, _sv = sl.lstsq(X / SIGMA[:, None], FLUX / SIGMA, lapack_driver="gelsy")
        out.append(beta @ beta)
    return np.array(out)


def limb_darkening(u, k):
    """A transit's depth in the small-planet limit, and the disc's mean by `romb`."""
    mu = np.linspace(0, 1, 33)
    disc = 1 - u[0] * (1 - mu) - u[1] * (1 - mu) ** 2
    mean = 2 * romb(disc * mu, dx=1 / 32)
    return k**2 * disc[20] / mean, cumulative_simpson(disc, x=mu)[-1]


def geoid(c, theta):
    """Spherical harmonics of a few degrees, real parts, and a Legendre series."""
    phi = 0.4
    y = [np.real(sph_harm_y(l, m, theta, phi)) for l, m in ((2, 0), (2, 1), (3, 2))]
    zonal = np.polynomial.legendre.legval(np.cos(theta), np.r_[0.0, c[:2]])
    return sum(k * v for k, v in zip(c, y, strict=True)), zonal


def normal_gravity(f, lat):
    """An ellipsoid's meridian arc by elliptic integrals, and its inverse by `bisect`."""
    e2 = f * (2 - f)
    arc = lambda b: sp.ellipeinc(b, e2)
    half = arc(np.pi / 2)
    beta = bisect(lambda b: arc(b) - half * lat, 0.0, np.pi / 2, xtol=1e-14)
    return half, beta, sp.ellipkm1(1 - e2), sp.ellipkinc(lat, e2)


def tide_constituents(w):
    """Harmonic analysis by normal equations with a Toeplitz covariance."""
    t = np.arange(24.0)
    X = np.column_stack([np.cos(w * t), np.sin(w * t), np.cos(2 * w * t), np.sin(2 * w * t)])
    c = 0.5 ** np.arange(24)
    b = sl.solve(X.T @ sl.solve_toeplitz(c, X), X.T @ sl.solve_toeplitz(c, TIDES))
    return b, np.hypot(b[0], b[1])


def skin_effect(q):
    """Kelvin's functions for a wire's resistance."""
    be, ke, bep, _kep = kelvin(q)
    ratio = q / 2 * (be * 1j / bep)
    return np.real(ratio), np.abs(ke), sp.berp(q), sp.kei(q)


def dispersion_relation(h, period):
    """Water waves: the wave number by `newton_krylov`, speeds of phase and group."""
    w2 = (2 * np.pi / period) ** 2
    k = newton_krylov(lambda k: 9.81 * k * np.tanh(k * h) - w2, np.array([w2 / 9.81 + 0.05]),
                      f_tol=1e-12)[0]  # fmt: skip
    n = 0.5 * (1 + 2 * k * h / np.sinh(2 * k * h))
    return k, n * np.sqrt(w2) / k


def rogue_waves(hs, xi):
    """Crests: Weibull and Rayleigh with a shift, and Tayfun's correction."""
    crest = st.rayleigh(scale=hs / 4).isf(1e-3)
    wb = st.weibull_min(2 - xi, scale=0.35 * hs)
    return crest + 0.5 * xi * crest**2, wb.isf(1e-3), *wb.stats(moments="mvs")


def seismic_arrivals(v, depth):
    """A hypocentre by `root` with method lm, then a bootstrap-free covariance."""
    sites = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 12.0], [9.0, 9.0]])
    t = np.array([1.2, 1.5, 1.7, 1.4])

    def g(u):
        x, y, t0 = u
        pred = t0 + np.sqrt((sites[:, 0] - x) ** 2 + (sites[:, 1] - y) ** 2 + depth**2) / v
        r = pred - t
        J = np.column_stack([
            (x - sites[:, 0]) / (v**2 * (pred - t0)), (y - sites[:, 1]) / (v**2 * (pred - t0)),
            np.ones(4),
        ])  # fmt: skip
        return J.T @ r

    sol = root(g, [4.0, 4.0, 0.1], method="lm", options={"xtol": 1e-14})
    return sol.x


def gutenberg_richter(b, m_max):
    """Magnitudes from a truncated exponential, and a probability of exceedance."""
    d = st.truncexpon((m_max - 4.0) * b, loc=4.0, scale=1 / b)
    rate = 3.0 * d.sf(6.0)
    return d.logpdf([4.3, 5.1, 6.2]).sum(), -np.expm1(-50 * rate), d.mean()


def ray_through_layers(p):
    """Travel time and distance of a ray, with the ray parameter solved for."""
    speeds, thick = np.array([2.0, 3.0, 4.5]) * p, np.array([1.0, 2.0, 1.5])
    dist = lambda q: np.sum(thick * q * speeds / np.sqrt(1 - (q * speeds) ** 2))
    q = so.root_scalar(lambda q: dist(q) - 5.0, bracket=[1e-4, 0.999 / speeds.max()],
                       method="ridder", xtol=1e-14).root  # fmt: skip
    return q, np.sum(thick / (speeds * np.sqrt(1 - (q * speeds) ** 2)))


def gamma_ray_pulse(tau1, tau2):
    """A pulse of two exponentials: its peak, and its area by a Bessel function."""
    f = lambda t: np.exp(-tau1 / t - t / tau2)
    area = 2 * np.sqrt(tau1 * tau2) * sp.k1(2 * np.sqrt(tau1 / tau2))
    return area - quad(f, 0, np.inf)[0] + area, np.sqrt(tau1 * tau2), i1(tau1), sp.k1e(tau2)


def ionised_layer(chi):
    """Chapman's function with a confluent function, and an integral over a box by `tplquad`."""
    layer = lambda z: np.exp(1 - z - np.exp(-z) / np.cos(chi))
    column = quad(layer, -4, 20)[0]
    box = tplquad(lambda z, y, x: np.exp(-chi * (x + y * z)), 0, 1, 0, 1, 0, lambda x, y: 1 - x)[0]
    return column, hyp1f1(0.5, 1.5, -chi), box


def hydrogen_like(z):
    """A radial orbital's mean radius with Laguerre's polynomials, and its fine structure."""
    psi = lambda r: np.exp(-z * r / 2) * eval_laguerre(1, z * r)
    norm = quad(lambda r: r**2 * psi(r) ** 2, 0, np.inf)[0]
    mean = quad_vec(lambda r: np.array([r, r**2, 1 / r]) * r**2 * psi(r) ** 2, 0, np.inf)[0]
    return mean / norm, z**4 * ALPHA**2 * 1e4


def plasma_echo(x, m):
    """A Mathieu function's value, parabolic cylinders and a spheroidal characteristic value."""
    ce, dce = sp.mathieu_cem(2, m, x)
    d, dp = sp.pbdv(1.5, x / 50)
    return ce, dce, d, dp


def maximum_entropy_image(lam):
    """An image of eight pixels by `fmin_bfgs`, its gradient given."""
    K = sl.toeplitz(0.4 ** np.arange(8))
    data = K @ np.array([1.0, 1, 2, 5, 3, 1, 1, 1])

    def q(u):
        f = np.exp(u)
        return 0.5 * np.sum((K @ f - data) ** 2) + lam * np.sum(f * u - f)

    def dq(u):
        f = np.exp(u)
        return f * (K.T @ (K @ f - data)) + lam * f * u

    u = fmin_bfgs(q, np.zeros(8), fprime=dq, gtol=1e-10, disp=False)
    return np.exp(u)


def fringe_visibility(baseline, ld):
    x, w = chebyshev_points(9)
    disc = (w * (1 - ld * (1 - np.sqrt(1 - x**2)))) @ np.cos(baseline * x)
    return disc / np.sum(w * (1 - ld * (1 - np.sqrt(1 - x**2)))), sp.jv(1.5, baseline)


def weighted_mean(sig):
    """Discrepant measurements: the scatter that makes chi-square what it should be."""
    x = np.array([4.1, 4.5, 3.9, 4.8, 4.2])

    def gap(s2):
        w = 1 / (sig**2 + s2)
        m = np.sum(w * x) / np.sum(w)
        return np.sum(w * (x - m) ** 2) - 4

    s2 = so.brenth(gap, 0.0, 5.0, xtol=1e-15)
    w = 1 / (sig**2 + s2)
    return s2, np.sum(w * x) / w.sum(), st.chi2.sf(np.sum(x**2 / sig**2) / 100, 5)


PROGRAMS = [
    (background_and_source, (9.0, 4.5)),
    (geoid, (np.array([0.4, -0.3, 0.2]), 1.1)),
    (skin_effect, (1.7,)),
    (rogue_waves, (6.0, 0.05)),
    (fringe_visibility, (3.2, 0.4)),
    (weighted_mean, (np.array([0.2, 0.15, 0.2, 0.25, 0.1]),)),
]

# Asked with a large budget.
SELDOM = [
    (luminosity_distance, (0.31, -0.95)),
    (radial_velocities, (1.2, 0.35)),
    (sersic_profile, (2.3, 0.8)),
    (schechter, (-0.6, 0.3)),
    (lane_emden, (1.5,)),
    (airy_disc, (2.7, 0.3)),
    (zernike_wavefront, (np.array([0.3, -0.2]),)),
    (knife_edge, (0.6, 0.8)),
    (curve_of_growth, (np.array([0.5, 4.0, 30.0]),)),
    (seeing_model, (1.6, 1.1)),
    (lomb, (np.array([0.8, 1.1]),)),
    (limb_darkening, (np.array([0.4, 0.25]), 0.1)),
    (normal_gravity, (0.0034, 0.45)),
    (tide_constituents, (0.68,)),
    (dispersion_relation, (12.0, 8.0)),
    (seismic_arrivals, (5.5, 4.0)),
    (gutenberg_richter, (2.2, 7.8)),
    (ray_through_layers, (1.0,)),
    (gamma_ray_pulse, (0.7, 1.4)),
    (ionised_layer, (0.6,)),
    (hydrogen_like, (1.3,)),
    (plasma_echo, (40.0, 0.8)),
    (maximum_entropy_image, (0.05,)),
]
