"""An office of engineers and analysts: plants, patients, markets, skies, woods, signals, shapes."""

from collections import deque
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import accumulate
from math import comb, gamma, hypot, pi, sqrt
from types import SimpleNamespace

import numpy as np
import scipy.linalg as sla
import scipy.signal as sig
import scipy.sparse as sps
import scipy.stats as st
from scipy import fft, integrate, interpolate, ndimage, optimize, spatial, special, stats
from scipy.integrate import OdeSolution, RK23, quad, simpson, solve_bvp, solve_ivp
from scipy.interpolate import BSpline, RegularGridInterpolator, krogh_interpolate, make_splrep
from scipy.optimize import fminbound, fsolve, leastsq, minimize, newton, root, root_scalar
from scipy.sparse.csgraph import floyd_warshall, shortest_path
from scipy.sparse.linalg import LaplacianNd, bicgstab, cg, splu, tfqmr
from scipy.spatial.transform import Rotation, Slerp
from scipy.special import fdtri, gdtr, inv_boxcox1p, pdtr, stirling2

TIGHT = {"rtol": 1e-9, "atol": 1e-11}


# Chemical engineering.


def stirred_tank(heat, flow):
    """A cooled reactor to its steady state: how hot it gets, and when it is hottest."""

    def balance(t, s):
        c, temp = s
        rate = 0.9 * np.exp(4 * (1 - 1 / temp)) * c
        return [flow * (1 - c) - rate, flow * (1 - temp) + heat * rate - 0.3 * (temp - 0.9)]

    hottest = lambda t, s: balance(t, s)[1]
    hottest.direction = -1
    sol = solve_ivp(balance, [0, 12], [1.0, 0.8], method="DOP853", events=hottest, **TIGHT)
    assert sol.success, sol.message
    c, temp = sol.y
    return c[-1], temp[-1], sol.t_events[0][0], sol.y_events[0][0][1]


def distillation(alpha, reflux, feed=0.5):
    """McCabe and Thiele: a few stages down from the top, then what is left."""
    x, y = [], 0.95
    for _ in range(6):
        x.append(y / (alpha - (alpha - 1) * y))
        y = reflux / (reflux + 1) * x[-1] + 0.95 / (reflux + 1)
    fewest = np.log(0.95 / 0.05 * 0.95 / 0.05) / np.log(alpha)
    theta = root_scalar(
        lambda th: alpha * feed / (alpha - th) + (1 - feed) / (1 - th) - 0.2, bracket=[1.01, alpha - 0.01]
    ).root
    return np.array(x), fewest, theta


def peng_robinson(temp, pressure):
    """The vapour's compressibility and fugacity by the cubic's largest root."""
    tr = temp / 304.2
    kappa = 0.37464 + 1.54226 * 0.225 - 0.26992 * 0.225**2
    a = 0.45724 * (1 + kappa * (1 - np.sqrt(tr))) ** 2 * pressure / 73.8 / tr**2
    b = 0.0778 * pressure / 73.8 / tr
    z = np.roots([1, b - 1, a - 3 * b**2 - 2 * b, -(a * b - b**2 - b**3)])
    z = max(z[abs(z.imag) < 1e-9].real)
    lnphi = z - 1 - np.log(z - b) - a / (2 * sqrt(2) * b) * np.log(
        (z + (1 + sqrt(2)) * b) / (z + (1 - sqrt(2)) * b)
    )
    return z, np.exp(lnphi)


def tubular_dispersion(peclet, damkohler):
    """Danckwerts' conditions by solve_bvp, conversion at the outlet."""
    x = np.linspace(0, 1, 11)

    def rhs(x, s):
        return np.array([s[1], peclet * (s[1] + damkohler * s[0] ** 2)])

    def ends(a, b):
        return np.array([a[0] - a[1] / peclet - 1, b[1]])

    sol = solve_bvp(rhs, ends, x, np.vstack([np.ones(11), np.zeros(11)]), tol=1e-9, max_nodes=20000)
    if sol.status != 0:
        raise RuntimeError(sol.message)
    return 1 - sol.y[0, -1], sol.sol(0.5)[0], sol.y[1, 0]


def polymer_moments(k, r):
    """Method of moments by BDF without times asked for; polydispersity at the end."""

    def rhs(t, m):
        a, m0, m1, m2 = m
        return np.array([-k * a * m0, -r * m0 * m0 / 2, k * a * m0, k * a * (m0 + 2 * m1) + r * m1 * m1])

    sol = solve_ivp(rhs, (0, 3), np.array([1.0, 0.1, 0.1, 0.1]), method="BDF", **TIGHT)
    m = sol.y[:, -1]
    return m[2] / m[1], m[3] * m[1] / m[2] ** 2


def flash_drum(k_values, z):
    """Rachford and Rice by newton with both derivatives."""
    f = lambda v: np.sum(z * (k_values - 1) / (1 + v * (k_values - 1)))
    fp = lambda v: -np.sum(z * (k_values - 1) ** 2 / (1 + v * (k_values - 1)) ** 2)
    fpp = lambda v: 2 * np.sum(z * (k_values - 1) ** 3 / (1 + v * (k_values - 1)) ** 3)
    v = newton(f, 0.4, fprime=fp, fprime2=fpp, tol=1e-13)
    liquid = z / (1 + v * (k_values - 1))
    return v, liquid, k_values * liquid


def pipe_friction(re, rough):
    """Colebrook by fsolve, and closed by lambertw."""
    cole = lambda f: 1 / np.sqrt(f) + 2 * np.log10(rough / 3.7 + 2.51 / (re * np.sqrt(f)))
    (f,) = fsolve(cole, 0.02, xtol=1e-13)
    c = np.log(10) / 2
    w = special.lambertw(c * re / 2.51 * 10 ** (rough * re / (3.7 * 2.51) / 2)).real
    return f, w


# Pharmacology.


@dataclass
class Regimen:
    every: float
    dose: float

    def simulate(self, ka, ke, n=4):
        gut, blood, highs = 0.0, 0.0, []
        for _ in range(n):
            sol = solve_ivp(
                lambda t, q: (-ka * q[0], ka * q[0] - ke * q[1]),
                (0, self.every),
                (gut + self.dose, blood),
                **TIGHT,
            )
            gut, blood = sol.y[0][-1], sol.y[1][-1]
            highs.append(blood)
        return highs


def accumulation(ka, ke):
    """Troughs of a repeated dose; the ratio of the last to the first."""
    highs = Regimen(6.0, 2.0).simulate(ka, ke)
    return np.array(highs), highs[-1] / highs[0]


def time_above(mic, ke):
    """How long a level stays above a threshold, between two events."""
    level = lambda t, y: y[1] - mic
    sol = solve_ivp(
        lambda t, y: [-1.5 * y[0], 1.5 * y[0] - ke * y[1]], (0, 24), [3.0, 0.0], events=(level,), **TIGHT
    )
    up, down = sol.t_events[0]
    return down - up


def auc_by_simpson(cl, v):
    """A thin simulation and Simpson's rule on its own times."""
    sol = solve_ivp(lambda t, y: -cl / v * y / (1 + y), (0, 10), [4.0], t_eval=np.linspace(0, 10, 41), **TIGHT)
    moment = simpson(sol.t * sol.y[0], x=sol.t)
    return simpson(sol.y[0], x=sol.t), moment


def peak_of_two(a, b):
    """The highest of all steps, and the area under them, whatever steps the method takes."""
    sol = solve_ivp(lambda t, y: [-a * y[0], a * y[0] - b * y[1]], (0.0, 9.0), [1.0, 0.1], **TIGHT)
    return np.trapezoid(sol.y[1], sol.t), sol.y[1, -1] / sol.y[0, 0]


def logistic_potency(doses, slope):
    """ED50 by leastsq on counts, its covariance from the Jacobian."""
    x = np.log(np.array([0.5, 1.0, 2.0, 4.0, 8.0]))

    def gap(p):
        return special.expit(p[1] * (x - p[0])) - doses

    p, cov, info, _, ok = leastsq(gap, [0.5, slope], full_output=True, xtol=1e-14, ftol=1e-14)
    return np.exp(p[0]), p[1]


# Finance.


def compound_option(strike, vol):
    """Geske: a call on a call, by the bivariate normal's cdf."""
    s, k2, r, t1, t2 = 100.0, 100.0, 0.03, 0.5, 1.2

    def call(x):
        d = (np.log(x / k2) + (r + vol**2 / 2) * (t2 - t1)) / (vol * np.sqrt(t2 - t1))
        return x * special.ndtr(d) - k2 * np.exp(-r * (t2 - t1)) * special.ndtr(d - vol * np.sqrt(t2 - t1))

    critical = optimize.brentq(lambda x: call(x) - strike, 20.0, 300.0, xtol=1e-12)
    a = (np.log(s / critical) + (r - vol**2 / 2) * t1) / (vol * np.sqrt(t1))
    b = (np.log(s / k2) + (r - vol**2 / 2) * t2) / (vol * np.sqrt(t2))
    rho = np.sqrt(t1 / t2)
    both = stats.multivariate_normal([0, 0], [[1, rho], [rho, 1]])
    up = both.cdf([a + vol * np.sqrt(t1), b + vol * np.sqrt(t2)])
    return s * up - k2 * np.exp(-r * t2) * both.cdf([a, b]) - strike * np.exp(-r * t1) * special.ndtr(a)


def bermudan_by_tree(vol, strike):
    """A binomial tree, rolled back with early exercise at each node."""
    n, r, t = 12, 0.05, 1.0
    dt = t / n
    u = np.exp(vol * np.sqrt(dt))
    p = (np.exp(r * dt) - 1 / u) / (u - 1 / u)
    prices = 100 * u ** (2 * np.arange(n + 1) - n)
    value = np.maximum(strike - prices, 0)
    for i in range(n - 1, -1, -1):
        prices = prices[1:] / u
        value = np.maximum(np.exp(-r * dt) * (p * value[1:] + (1 - p) * value[:-1]), strike - prices)
    return value[0]


def nelson_siegel(yields, tau):
    """A curve's factors by lstsq, discount factors at other times."""
    at = np.array([0.5, 1.0, 2.0, 5.0, 10.0, 30.0])

    def loadings(m):
        f = -np.expm1(-m / tau) / (m / tau)
        return np.column_stack([np.ones_like(m), f, f - np.exp(-m / tau)])

    beta, res, rank, sv = sla.lstsq(loadings(at), yields)
    new = np.array([3.0, 7.0])
    return np.exp(-new * (loadings(new) @ beta)), beta[0]


def carr_madan(sigma, nu):
    """Variance gamma calls by a real FFT of the characteristic function."""
    n, eta, alpha = 128, 0.25, 1.5
    v = eta * np.arange(n)
    u = v - 1j * (alpha + 1)
    omega = np.log(1 + 0.1 * nu - sigma**2 * nu / 2) / nu
    phi = np.exp(1j * u * omega) * (1 + 0.1j * nu * u + sigma**2 * nu * u**2 / 2) ** (-1 / nu)
    psi = phi / (alpha**2 + alpha - v**2 + 1j * (2 * alpha + 1) * v)
    weight = eta / 3 * (3 + (-1) ** np.arange(1, n + 1) - (np.arange(n) == 0))
    lam = 2 * np.pi / (n * eta)
    k = -n * lam / 2 + lam * np.arange(n)
    calls = np.exp(-alpha * k) / np.pi * np.real(fft.fft(np.exp(1j * n * lam / 2 * v) * psi * weight))
    return np.interp([-0.05, 0.0, 0.08], k, calls)


def cds_bootstrap(spreads):
    """Hazards one after the other, each by brentq given those before."""
    hazards, t = [], [1.0, 3.0, 5.0]

    def survival(s, hs):
        ends = [0.0, *t]
        total = 0.0
        for h, a, b in zip(hs, ends, ends[1:], strict=False):
            total = total + h * (min(s, b) - min(s, a))
        return np.exp(-total)

    for end, spread in zip(t, spreads, strict=True):
        quarters = np.arange(0.5, end + 0.25, 0.5)

        def gap(h, quarters=quarters, spread=spread):
            q = np.array([survival(s, [*hazards, h]) for s in quarters])
            before = np.concatenate([[1.0], q[:-1]])
            d = np.exp(-0.02 * quarters)
            return 0.6 * np.sum(d * (before - q)) - spread * 0.5 * np.sum(d * q)

        hazards.append(optimize.brentq(gap, 1e-5, 0.5, xtol=1e-14))
    return np.array(hazards)


def utility_of_mix(wealth, risk):
    """The best share by fminbound, then its certainty equivalent by Gauss' rule."""
    x, w = np.polynomial.hermite_e.hermegauss(12)
    w = w / w.sum()

    def cost(share):
        return -np.sum(w * (wealth * (1.02 + share * (0.04 + risk * x))) ** (-2)) * -1

    share = fminbound(cost, 0.05, 0.95, xtol=1e-10)
    return share, cost(share) ** (-1 / 2)


# Astronomy.


def true_anomaly(e, mean):
    """Kepler by Halley's root_scalar, then the place in the sky by a rotation."""
    f = lambda E: (E - e * np.sin(E) - mean, 1 - e * np.cos(E), e * np.sin(E))
    E = root_scalar(f, x0=mean, fprime=True, fprime2=True, method="halley").root
    nu = 2 * np.arctan2(np.sqrt(1 + e) * np.sin(E / 2), np.sqrt(1 - e) * np.cos(E / 2))
    r = 1 - e * np.cos(E)
    turn = Rotation.from_euler("zxz", [0.3, 0.4, 1.1])
    return turn.apply(np.array([r * np.cos(nu), r * np.sin(nu), 0.0]))


def restricted_three_body(mu, x0):
    """An orbit about the moon until it crosses the axis again."""

    def rhs(t, s):
        x, y, u, v = s
        a, b = hypot_cubed(x + mu, y), hypot_cubed(x - 1 + mu, y)
        return [
            u,
            v,
            x + 2 * v - (1 - mu) * (x + mu) / a - mu * (x - 1 + mu) / b,
            y - 2 * u - (1 - mu) * y / a - mu * y / b,
        ]

    crossing = lambda t, s: s[1]
    crossing.terminal, crossing.direction = True, -1
    sol = solve_ivp(rhs, (0, 10), [x0, 0, 0, 0.55], events=crossing, max_step=0.2, **TIGHT)
    return sol.t[-1], sol.y[0, -1], sol.y[3, -1]


def hypot_cubed(x, y):
    return (x * x + y * y) ** 1.5


def lane_emden(n):
    """The first zero of a polytrope, from a series near the centre."""
    eps = 1e-3
    start = [1 - eps**2 / 6 + n * eps**4 / 120, -eps / 3 + n * eps**3 / 30]
    edge = lambda x, s: s[0]
    edge.terminal = True
    sol = solve_ivp(
        lambda x, s: [s[1], -2 / x * s[1] - np.maximum(s[0], 0) ** n], (eps, 12), start, events=edge, **TIGHT
    )
    xi = sol.t_events[0][0]
    slope = sol.y_events[0][0, 1]
    return xi, -(xi**2) * slope


def distance_modulus(om, w):
    """Luminosity distances by quad for each redshift; a supernova's misfit."""
    z = np.array([0.1, 0.4, 0.9])
    e = lambda x: np.sqrt(om * (1 + x) ** 3 + (1 - om) * (1 + x) ** (3 * (1 + w)))
    d = np.array([quad(lambda x: 1 / e(x), 0, zi, epsabs=1e-12)[0] for zi in z])
    mu = 5 * np.log10((1 + z) * d) + 43.1
    return mu, np.sum((mu - np.array([38.2, 41.6, 43.9])) ** 2)


def sersic_light(n, re):
    """The exact b_n by gammaincinv, light within two apertures and their concentration."""
    b = special.gammaincinv(2 * n, 0.5)
    within = lambda r: special.gammainc(2 * n, b * (r / re) ** (1 / n))
    return b, within(1.0), within(3.0), 5 * np.log10(within(3.0) / within(1.0))


def planck_band(temp, width):
    """Radiance in a band, and the color as a ratio of two bands by fixed_quad."""
    b = lambda x: 1 / (x**5 * np.expm1(1.44 / (x * temp)))
    blue, _ = integrate.fixed_quad(b, 0.4, 0.4 + width, n=9)
    red, _ = integrate.fixed_quad(b, 0.6, 0.6 + width, n=9)
    peak = special.lambertw(-5 * np.exp(-5)).real + 5
    return blue, red / blue, 1.44 / (peak * temp)


# Ecology.


def spreading_front(d, r):
    """Fisher's equation on a line with a sparse Laplacian, by BDF."""
    n = 20
    lap = sps.diags_array([np.ones(n - 1), -2 * np.ones(n), np.ones(n - 1)], offsets=[-1, 0, 1]).tocsr()
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

    best = optimize.minimize_scalar(nll, bounds=(total + 0.1, 6 * total), method="bounded", options={"xatol": 1e-10})
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
        return -np.sum(special.loggamma(a + obs) - special.loggamma(a) + a * np.log(b) - (a + obs) * np.log(b + t))

    best = minimize(nll, [0.5, 0.5], method="L-BFGS-B", bounds=[(-2, 4), (-2, 4)], options={"ftol": 1e-15, "gtol": 1e-10})
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
    return law.expect(lambda x: np.exp(t * x)), law.cdf(0.3), special.iv(1, t * r), st.kstwobign.sf(r)


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
    ball = optimize.linprog([0, 0, -1], A_ub=np.column_stack([a, norms]), b_ub=b, bounds=[(None, None)] * 2 + [(0, None)])
    corners = np.array([np.linalg.solve(a[[i, j]], b[[i, j]]) for i, j in ((0, 1), (1, 2), (2, 3), (3, 0))])
    return ball.x, spatial.ConvexHull(corners).volume


def vignetted(strength, shift):
    """A picture dimmed at its rim, moved, filtered: sharpness and centre of mass."""
    y, x = np.mgrid[-1:1:16j, -1:1:16j]
    picture = np.exp(-4 * ((x - 0.1) ** 2 + (y + 0.2) ** 2)) * (1 - strength * (x**2 + y**2))
    moved = ndimage.shift(picture, [shift, -shift], order=3, mode="nearest")
    edges = ndimage.gaussian_laplace(moved, 1.2)
    return np.sum(edges**2), ndimage.center_of_mass(moved)


def grey_granules(scale):
    """Morphology in grey: a top hat's mean, a gradient's norm, a percentile."""
    y, x = np.mgrid[0:12, 0:12]
    picture = np.sin(0.9 * x * scale) * np.cos(0.7 * y) + 0.05 * x
    hat = ndimage.white_tophat(picture, size=3)
    grad = ndimage.morphological_gradient(picture, size=(3, 3))
    return hat.mean(), np.sqrt((grad**2).sum()), ndimage.percentile_filter(picture, 70, size=3)[4, 5]


def bezier_length(control):
    """A Bezier curve as a BSpline: length, curvature in the middle, the point nearest to one."""
    curve = BSpline(np.repeat([0.0, 1.0], 4), control, 3)
    speed = lambda t: np.sqrt(np.sum(curve(t, 1) ** 2, axis=-1))
    length = quad(speed, 0, 1, epsabs=1e-12)[0]
    d, dd = curve(0.5, 1), curve(0.5, 2)
    near = optimize.minimize_scalar(lambda t: np.sum((curve(t) - np.array([1.0, 0.2])) ** 2), bounds=(0, 1), method="bounded", options={"xatol": 1e-11})
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
    g = np.array([[1.0, 0.0]]) @ np.linalg.solve(1j * 0.8 * np.eye(2) - a, np.array([[0.0], [gain]]))
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
    plan = optimize.linprog(costs, A_eq=a_eq, b_eq=[3.0, 2.0, 2.5], bounds=(0, None), method="highs")
    return plan.fun, plan.eqlin.marginals


def trajectory_by_slsqp(g, height):
    """A ball thrown over a wall with the least speed: constraints as dictionaries."""
    wall = {"type": "ineq", "fun": lambda v: v[1] * (2.0 / v[0]) - g / 2 * (2.0 / v[0]) ** 2 - height}
    land = {"type": "eq", "fun": lambda v: 2 * v[0] * v[1] / g - 5.0}
    best = minimize(lambda v: v @ v, [4.0, 6.0], method="SLSQP", constraints=[wall, land], tol=1e-12)
    return best.x, np.degrees(np.arctan2(best.x[1], best.x[0]))


def stepping_by_hand(k, rate):
    """An integrator stepped in a loop until it is through, its dense output read on the way."""
    solver = RK23(lambda t, y: [-k * y[0] + rate * np.sin(t)], 0.0, np.array([1.0]), t_bound=2.0, rtol=1e-7, atol=1e-9)
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
    (stirred_tank, (0.35, 0.6)),
    (distillation, (2.4, 1.8)),
    (peng_robinson, (330.0, 20.0)),
    (tubular_dispersion, (3.0, 1.2)),
    (polymer_moments, (1.4, 0.6)),
    (flash_drum, (np.array([2.3, 1.1, 0.4]), np.array([0.4, 0.3, 0.3]))),
    (pipe_friction, (5.0, 0.002)),
    (accumulation, (0.9, 0.2)),
    (time_above, (0.8, 0.15)),
    (auc_by_simpson, (1.1, 3.0)),
    (peak_of_two, (1.2, 0.4)),
    (logistic_potency, (np.array([0.12, 0.27, 0.52, 0.74, 0.9]), 1.1)),
    (compound_option, (6.0, 0.25)),
    (bermudan_by_tree, (0.3, 104.0)),
    (nelson_siegel, (np.array([0.021, 0.024, 0.027, 0.031, 0.034, 0.036]), 1.7)),
    (carr_madan, (0.25, 0.4)),
    (cds_bootstrap, (np.array([0.01, 0.014, 0.017]),)),
    (utility_of_mix, (1.3, 0.18)),
    (true_anomaly, (0.3, 1.1)),
    (restricted_three_body, (0.1, 0.7)),
    (lane_emden, (1.5,)),
    (distance_modulus, (0.3, -0.9)),
    (sersic_light, (2.3, 1.4)),
    (planck_band, (0.55, 0.12)),
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
    (rank_weighted, (np.array([0.1, 0.9, 2.2, 2.8, 4.1, 5.3, 6.2]), np.array([1.2, 1.9, 2.4, 3.9, 4.4, 5.2, 6.9]))),
    (brown_forsythe, (np.array([1.1, 2.3, 1.9, 3.4]), np.array([2.0, 2.9, 4.4, 3.1, 5.0]))),
    (yeo_johnson_mle, (np.array([0.3, 1.2, 2.9, 0.7, 4.4, 1.8]),)),
    (empirical_bayes, (np.array([4.0, 11.0, 5.0, 2.0]),)),
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
