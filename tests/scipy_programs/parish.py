"""A parish of scientists: what they run on a weekday, as they wrote it."""
# ruff: noqa: RUF059  # names as they are often written

import math
from dataclasses import dataclass
from functools import partial, reduce

import numpy as np
import scipy.interpolate as spi
import scipy.linalg as sla
import scipy.optimize as so
import scipy.sparse as sp
import scipy.stats as st
from numpy.linalg import slogdet
from scipy import integrate, ndimage, signal, special
from scipy.constants import Boltzmann, c, h
from scipy.integrate import quad, solve_ivp, trapezoid
from scipy.optimize import Bounds, curve_fit, fsolve, minimize, newton, root
from scipy.sparse.linalg import LinearOperator, cg, expm_multiply
from scipy.spatial import Delaunay
from scipy.spatial.transform import Rotation
from scipy.special import erfcinv, expit, gammaln, logit, logsumexp, xlog1py
from scipy.stats import gamma, invgamma, multivariate_normal, norm, t

# Inference.


class LinearGaussian:
    """Conjugate regression with a normal and inverse gamma prior."""

    def __init__(self, tau=1.0, a0=2.0, b0=1.0):
        self.tau, self.a0, self.b0 = tau, a0, b0

    def fit(self, X, y):
        n, p = X.shape
        prec = X.T @ X + np.eye(p) / self.tau
        self.chol = sla.cho_factor(prec)
        self.mean = sla.cho_solve(self.chol, X.T @ y)
        self.a = self.a0 + n / 2
        self.b = self.b0 + 0.5 * (y @ y - self.mean @ prec @ self.mean)
        self.evidence = (
            self.a0 * np.log(self.b0)
            - self.a * np.log(self.b)
            + gammaln(self.a)
            - gammaln(self.a0)
            - 0.5 * slogdet(prec)[1]
            - p / 2 * np.log(self.tau)
        )
        return self

    def predictive(self, x):
        scale = np.sqrt(self.b / self.a * (1 + x @ sla.cho_solve(self.chol, x)))
        return t(df=2 * self.a, loc=x @ self.mean, scale=scale)


def conjugate_forecast(tau, y):
    X = np.vander(np.linspace(-1, 1, len(y)), 3, increasing=True)
    model = LinearGaussian(tau=tau).fit(X, y)
    law = model.predictive(np.array([1.0, 1.2, 1.44]))
    return model.evidence, law.mean(), law.ppf(0.9), invgamma(model.a, scale=model.b).mean()


@dataclass
class GammaMixture:
    weights: np.ndarray
    shapes: np.ndarray
    scales: np.ndarray

    def logpdf(self, x):
        parts = gamma.logpdf(x[:, None], self.shapes, scale=self.scales)
        return logsumexp(parts, axis=1, b=self.weights)

    def em(self, x):
        r = self.weights * gamma.pdf(x[:, None], self.shapes, scale=self.scales)
        r = r / r.sum(axis=1, keepdims=True)
        w = r.mean(axis=0)
        means = (r * x[:, None]).sum(axis=0) / r.sum(axis=0)
        return GammaMixture(w, self.shapes, means / self.shapes)


def waiting_mixture(shape, x):
    """Three steps of expectation and maximisation, then the likelihood."""
    mix = GammaMixture(np.array([0.5, 0.5]), np.array([1.0, 1.0]) * shape, np.array([0.5, 2.0]))
    for _ in range(3):
        mix = mix.em(x)
    return mix.logpdf(x).sum(), mix.weights, mix.scales


def probit_by_newton(beta0, prior_sd):
    """The posterior's mode by Newton steps with a fixed number, and Laplace's evidence."""
    X = np.array([[1.0, 0.2], [1.0, -1.1], [1.0, 0.7], [1.0, 1.9], [1.0, -0.4]])
    s = np.array([1, -1, 1, 1, -1])
    beta = np.array([beta0, 0.0])
    for _ in range(12):
        z = s * (X @ beta)
        ratio = np.exp(norm.logpdf(z) - norm.logcdf(z))
        g = X.T @ (s * ratio) - beta / prior_sd**2
        H = X.T @ ((ratio * (z + ratio))[:, None] * X) + np.eye(2) / prior_sd**2
        beta = beta + sla.solve(H, g, assume_a="pos")
    prior = multivariate_normal(np.zeros(2), prior_sd**2 * np.eye(2))
    ev = norm.logcdf(s * (X @ beta)).sum() + prior.logpdf(beta)
    return beta, ev - 0.5 * np.log(sla.det(H)) + np.log(2 * np.pi)


def importance_weights(shift, scale):
    """Self-normalised importance sampling with seeded draws; effective sample size."""
    rng = np.random.default_rng(42)
    z = rng.standard_normal(60)
    x = shift + scale * z
    logw = t.logpdf(x, 4) - norm.logpdf(x, shift, scale)
    w = np.exp(logw - logsumexp(logw))
    return w @ x, w @ x**2, 1 / np.sum(w**2)


def reversible_drift(rate, power):
    """A Box and Cox transform of counts, autocorrelation and an effective length."""
    k = np.arange(1.0, 13.0)
    x = special.boxcox(rate * k + np.sin(k) + 1, power)
    x = (x - x.mean()) / x.std(ddof=1)
    acf = np.correlate(x, x, mode="full")[len(x) - 1 :] / (x @ x)
    tau = 1 + 2 * np.sum(acf[1:4])
    return acf[1:4], tau, st.kurtosis(x), st.jarque_bera(x).statistic


def mean_of_truncated(mu, sigma):
    """Truncated normals: moments by SciPy and by hazard ratios, a mixture's quantile."""
    a, b = (0.0 - mu) / sigma, (2.5 - mu) / sigma
    law = st.truncnorm(a, b, loc=mu, scale=sigma)
    z = norm.cdf(b) - norm.cdf(a)
    by_hand = mu + sigma * (norm.pdf(a) - norm.pdf(b)) / z
    q = so.brentq(lambda x: 0.5 * law.cdf(x) + 0.5 * norm.cdf(x) - 0.7, -5, 5, xtol=1e-13)
    return law.mean(), by_hand, law.var(), q, law.entropy()


def rating_of_players(skill, home):
    """Ratings by penalised likelihood with the Jacobian given, and a forecast."""
    games = [(0, 1, 1), (1, 2, 1), (2, 0, 0), (0, 2, 1), (1, 0, 0), (2, 1, 1)]
    i, j, won = (np.array(part) for part in zip(*games, strict=True))

    def nlp(r):
        d = r[i] - r[j] + home
        return (
            -np.sum(xlog1py(1.0, np.expm1(-np.logaddexp(0, -d))) * won)
            + np.sum(np.logaddexp(0, d) * (1 - won))
            + 0.5 * np.sum((r - skill) ** 2)
        )

    def slope(r):
        d = r[i] - r[j] + home
        g = expit(d) - won
        out = np.zeros(3)
        np.add.at(out, i, g)
        np.subtract.at(out, j, g)
        return out + r - skill

    res = minimize(nlp, np.zeros(3), jac=slope, method="BFGS", options={"gtol": 1e-11})
    return res.x, expit(res.x[0] - res.x[2])


def ordered_scores(cuts, latent):
    """Log likelihood of a graded response model, and its information."""
    edges = np.concatenate([[-np.inf], np.cumsum(np.exp(cuts)), [np.inf]])
    upper = expit(edges[1:, None] - latent)
    lower = expit(edges[:-1, None] - latent)
    p = upper - lower
    seen = np.array([0, 2, 1, 3])
    ll = np.log(p[seen, np.arange(4)]).sum()
    info = np.sum((upper * (1 - upper) - lower * (1 - lower)) ** 2 / p)
    return ll, info, logit(upper[:-1].mean())


def dropout_times(hazards, effect):
    """A piecewise hazard's survival and its inverse on a table, restricted means of two arms."""
    cuts = np.array([0.0, 1.0, 2.5, 4.0])

    def cumulative(t, hr=1.0):
        spent = np.clip(np.subtract.outer(t, cuts[:-1]), 0.0, np.diff(cuts))
        return hr * spent @ hazards

    grid = np.linspace(0, 4, 81)
    s0, s1 = (np.exp(-cumulative(grid, hr)) for hr in (1.0, np.exp(effect)))
    median = np.interp(0.5, s0[::-1], grid[::-1])
    return trapezoid(s0, grid), trapezoid(s1 - s0, grid), median


def kolmogorov_like(scale, x):
    """Distances of a sample from a law: Cramer and von Mises, and a p-value of the other."""
    res = st.cramervonmises(x, st.expon(scale=scale).cdf)
    y = np.sort(x)
    n = len(y)
    ad = -n - np.mean(
        (2 * np.arange(1, n + 1) - 1)
        * (st.expon.logcdf(y, scale=scale) + st.expon.logsf(y[::-1], scale=scale))
    )
    return res.statistic, ad, st.kstest(x, "expon", args=(0, scale)).statistic


# Dynamics.


class Chemostat:
    def __init__(self, mu_max, ks, dilution=0.3, feed=5.0):
        self.p = {"mu": mu_max, "ks": ks, "d": dilution, "s0": feed}

    def __call__(self, t, y):
        p = self.p
        s, x = y
        growth = p["mu"] * s / (p["ks"] + s)
        return [p["d"] * (p["s0"] - s) - growth * x / 0.5, (growth - p["d"]) * x]

    def steady(self):
        sol = root(lambda y: self(0.0, y), [1.0, 1.5], method="hybr", options={"xtol": 1e-13})
        return sol.x


def washout_margin(mu_max, ks):
    reactor = Chemostat(mu_max, ks)
    sol = solve_ivp(reactor, (0, 8), [5.0, 0.1], method="BDF", rtol=1e-8, atol=1e-10)
    s, x = reactor.steady()
    eps = 1e-6
    return sol.y[:, -1], s, x, s * (1 + eps) - s


def pulses_of_drug(ka, ke):
    """Doses at times: integrated from dose to dose, what was above a level by Simpson."""
    times = [0.0, 6.0, 12.0, 18.0]
    y, t_all, c_all = np.zeros(2), [], []
    for start, stop in zip(times, [*times[1:], 24.0], strict=True):
        y = y + np.array([10.0, 0.0])
        grid = np.linspace(start, stop, 13)
        sol = solve_ivp(
            lambda t, y: [-ka * y[0], ka * y[0] - ke * y[1]],
            (start, stop),
            y,
            t_eval=grid,
            rtol=1e-9,
            atol=1e-11,
        )
        y = sol.y[:, -1]
        t_all.append(grid[:-1])
        c_all.append(sol.y[1, :-1])
    c = np.concatenate(c_all)
    return integrate.simpson(c, x=np.concatenate(t_all)), c.max(), c[-1]


def jumping_skier(slope, drag):
    """A flight that ends where it meets a hill, its landing's angle by events."""

    def fly(t, s):
        v = np.hypot(s[2], s[3])
        return [s[2], s[3], -drag * v * s[2], -9.81 - drag * v * s[3]]

    def land(t, s):
        return s[1] + slope * s[0]

    land.terminal, land.direction = True, -1
    sol = solve_ivp(fly, (0.0, 20.0), [0.0, 3.0, 25.0, 1.0], events=[land], rtol=1e-9, atol=1e-9)
    x, z, u, w = sol.y_events[0][0]
    return sol.t_events[0][0], np.hypot(x, z), np.arctan2(w, u)


def coupled_oscillators(coupling, spread):
    """Kuramoto's order parameter at the end of a run with a vectorised right-hand side."""
    omega = spread * np.linspace(-1, 1, 5)
    theta0 = np.linspace(0, 2, 5)

    def rhs(t, th):
        return omega + coupling / 5 * np.sin(th[None, :] - th[:, None]).sum(axis=1)

    sol = solve_ivp(rhs, [0, 3], theta0, method="RK45", rtol=1e-9, atol=1e-10)
    z = np.exp(1j * sol.y[:, -1]).mean()
    return np.abs(z), np.angle(z)


def shooting_beam(load, tension):
    """A deflected cable by shooting: fsolve about an integration."""

    def end(p):
        sol = solve_ivp(
            lambda x, y: [y[1], load / tension * np.sqrt(1 + y[1] ** 2)],
            (0.0, 1.0),
            [0.0, p[0]],
            rtol=1e-9,
            atol=1e-11,
        )
        return sol.y[0, -1] - 0.1

    (slope,) = fsolve(end, [-0.2], xtol=1e-12)
    return slope, tension * math.sqrt(1.0) * np.sqrt(1 + slope**2)


def annealed_defects(energy, temps):
    """An Arrhenius law along a temperature history by a spline and quad."""
    hist = spi.make_interp_spline(np.linspace(0, 1, len(temps)), temps, k=3)
    rate = lambda s: 1e3 * np.exp(-energy / (8.617e-5 * hist(s)))
    dose, err = quad(rate, 0, 1, epsabs=1e-12, epsrel=1e-12)
    return np.exp(-dose), hist.derivative()(0.5), hist.integrate(0, 1)


# Physics and fits.


def blackbody_colour(temp, shift):
    """Planck's law through two filters in units of SciPy's constants, a colour, Wien's place."""

    def planck(lam, T):
        return 2 * h * c**2 / lam**5 / np.expm1(h * c / (lam * Boltzmann * T))

    def band(lo, hi):
        lam = np.linspace(lo, hi, 41) * 1e-9
        return trapezoid(planck(lam / (1 + shift), temp), lam)

    colour = -2.5 * np.log10(band(400, 500) / band(500, 600))
    x = newton(lambda x: x - 5 * (1 - np.exp(-x)), 4.9, tol=1e-13)
    return colour, h * c / (x * Boltzmann * temp) * (1 + shift) * 1e6


def lifetimes_of_decay(counts, offset):
    """Two exponentials by curve_fit with bounds and weights; a ratio with its error."""
    t_ = np.linspace(0.0, 5.0, 11)
    model = lambda t, a, k1, b, k2: a * np.exp(-k1 * t) + b * np.exp(-k2 * t)
    popt, pcov = curve_fit(
        model,
        t_,
        counts - offset,
        p0=[6.0, 2.0, 3.0, 0.3],
        sigma=np.sqrt(counts),
        bounds=(0, np.inf),
        xtol=1e-15,
        ftol=1e-15,
        gtol=1e-15,
    )
    grad = np.array([1 / popt[2], 0.0, -popt[0] / popt[2] ** 2, 0.0])
    return popt, np.sqrt(grad @ pcov @ grad)


def rotating_top(rates, inertia):
    """Free rotation by Euler's equations, the attitude composed on the way."""
    w, att, dt = rates, Rotation.identity(), 0.05
    euler = lambda w: -np.cross(w, inertia * w) / inertia
    for _ in range(8):
        k1 = euler(w)
        k2 = euler(w + dt / 2 * k1)
        att = att * Rotation.from_rotvec(dt * (w + dt / 2 * k1))
        w = w + dt * k2
    return att.as_matrix() @ (inertia * w), att.magnitude(), 0.5 * w @ (inertia * w)


def bound_states(depth, width):
    """Energies of a well by a matrix of differences, and a tunnelling integral."""
    x = np.linspace(-4, 4, 61)
    dx = x[1] - x[0]
    V = -depth * np.exp(-((x / width) ** 2))
    E, psi = sla.eigh_tridiagonal(
        1 / dx**2 + V, np.full(60, -0.5 / dx**2), select="i", select_range=(0, 1)
    )
    density = psi[:, 0] ** 2
    return E, np.sqrt(density @ x**2), sp.linalg.norm(sp.diags(V)) / 10


def diffracted(radius, distance):
    """Fraunhofer's pattern of a ring, the energy inside the first dark ring."""
    amp = lambda q: 2 * special.j1(q) / q - 0.3**2 * 2 * special.j1(0.3 * q) / (0.3 * q)
    q = 2 * np.pi * radius * np.array([0.2, 0.7, 1.3]) / distance
    first = so.root_scalar(amp, bracket=[2.0, 4.5], method="brentq", xtol=1e-14).root
    inside = quad(lambda u: amp(u) ** 2 * u, 0, first * radius)[0]
    return amp(q) ** 2, first * distance / radius, inside


def sediment_settling(diameter, density):
    """A particle's speed with a drag law of many pieces, by a fixed point and by brentq."""

    def drag(re):
        return np.where(re < 1, 24 / re, 24 / re * (1 + 0.15 * re**0.687))

    def step(v):
        re = np.maximum(diameter * v / 1e-6, 1e-9)
        return np.sqrt(4 / 3 * 9.81 * diameter * (density - 1) / drag(re))

    v = so.fixed_point(step, 0.01, xtol=1e-12, maxiter=5000)
    w = so.brentq(lambda u: u - float(step(u)), 1e-6, 1.0, xtol=1e-15)
    return v, w / v


def laser_cavity(gain, loss):
    """Beam matrices, a stable mode and its threshold, by reduce over the elements."""
    free = lambda d: np.array([[1.0, d], [0.0, 1.0]])
    lens = lambda f: np.array([[1.0, 0.0], [-1 / f, 1.0]])
    trip = reduce(np.matmul, [lens(2.0), free(0.5 + loss), lens(1.5), free(0.7)])
    half = (trip[0, 0] + trip[1, 1]) / 2
    waist = np.sqrt(np.abs(trip[0, 1]) / np.sqrt(1 - half**2))
    w = special.lambertw(-gain * np.exp(-gain)).real
    return waist, np.arccos(half), 1 + w / gain


def radio_link(snr_db, bits):
    """Error rates of modulations, the margin for one in a million by an inverse."""
    snr = 10 ** (snr_db / 10)
    q = lambda x: 0.5 * special.erfc(x / np.sqrt(2))
    m = 2.0**bits
    ser = 2 * (1 - 1 / m) * q(np.sqrt(6 * snr / (m**2 - 1)))
    need = erfcinv(2e-6) ** 2
    fading = quad(lambda g: q(np.sqrt(2 * g)) * np.exp(-g / snr) / snr, 0, np.inf)[0]
    return ser, 10 * np.log10(need / snr), fading - 0.5 * (1 - np.sqrt(snr / (1 + snr)))


# Matrices, grids and signals.


def graph_diffusion(weights, time):
    """Heat on a graph by expm_multiply, its Laplacian's smallest eigenvalues."""
    i, j = np.array([0, 1, 2, 3, 4, 0]), np.array([1, 2, 3, 4, 0, 2])
    W = sp.coo_matrix((weights, (i, j)), shape=(5, 5)).tocsr()
    W = W + W.T
    deg = np.asarray(W.sum(axis=1)).ravel()
    L = sp.diags(deg) - W
    heat = expm_multiply(-time * L, np.eye(5)[0])
    return heat, np.sort(np.linalg.eigvalsh(L.toarray()))[1]


def matrix_free_smoother(y, lam):
    """Conjugate gradients with a LinearOperator of a penalty, and the residual's norm."""
    n = len(y)

    def apply(v):
        d = np.diff(v, 2)
        out = v.copy()
        out[:-2] += lam * d
        out[1:-1] -= 2 * lam * d
        out[2:] += lam * d
        return out

    z, info = cg(LinearOperator((n, n), matvec=apply, dtype=float), y, rtol=1e-12)
    if info != 0:
        raise RuntimeError("no convergence")
    return z[[0, n // 2]], np.linalg.norm(y - z)


def hankel_model(impulse):
    """Ho and Kalman: a state space from an impulse response by a Hankel matrix's svd."""
    H = sla.hankel(impulse[:4], impulse[3:7])
    U, s, Vt = sla.svd(H[:3, :3])
    r = 2
    obs = U[:, :r] * np.sqrt(s[:r])
    C = np.sqrt(s[:r])[:, None] * Vt[:r]
    A = sla.pinv(obs[:-1]) @ obs[1:]
    return s, np.sort(np.abs(sla.eigvals(A))), obs[0] @ C[:, 0]


def stable_gain(k, tau):
    """A loop's margins from its frequency response, and its poles by a companion matrix."""
    num, den = [k], np.polymul([tau, 1.0], [0.5, 1.2, 1.0])
    w, H = signal.freqs(num, den, worN=np.array([0.5, 1.0, 2.0]))
    closed = np.polyadd(den, num)
    poles = sla.eigvals(sla.companion(closed))
    sys = signal.StateSpace(*signal.tf2ss(num, closed))
    t_, y = signal.step(sys, T=np.linspace(0, 6, 25))
    return np.abs(H), np.angle(H), np.max(poles.real), y[-1]


def tracked_line(freqs, sigma):
    """A ridge of a spectrogram: windows, an FFT, weighted means, a median filter."""
    n = np.arange(192)
    x = np.cos(np.cumsum(np.interp(n, [0, 96, 191], freqs)))
    win = signal.windows.gaussian(48, sigma)
    f, tt, S = signal.spectrogram(x, window=win, noverlap=24, mode="psd")
    ridge = (f[:, None] * S).sum(axis=0) / S.sum(axis=0)
    return signal.medfilt(ridge, 3), 10 * np.log10(S.max())


def filtered_gait(cutoff, gain):
    """An accelerometer's signal forward and back, its envelope, zero crossings refined."""
    t_ = np.linspace(0, 4, 161)
    x = gain * np.sin(2 * np.pi * 1.3 * t_) + 0.2 * np.sin(2 * np.pi * 9 * t_)
    b, a = signal.butter(2, cutoff / 20.0)
    y = signal.filtfilt(b, a, x)
    k = np.flatnonzero(np.diff(np.signbit(y)))
    at = t_[k] - y[k] * (t_[k + 1] - t_[k]) / (y[k + 1] - y[k])
    return np.diff(at).mean(), np.abs(signal.hilbert(y))[80], np.ptp(y)


def terrain_slope(heights, at):
    """A surface over scattered places in triangles, and a spline's gradient on a grid."""
    xy = np.array([[0, 0], [1, 0], [0, 1], [1, 1], [0.5, 0.4], [0.2, 0.7]], dtype=float)
    flat = spi.LinearNDInterpolator(Delaunay(xy), heights)
    grid = np.linspace(0, 1, 5)
    z = np.outer(np.sin(grid + heights[0]), np.cos(grid * heights[1]))
    surf = spi.RectBivariateSpline(grid, grid, z)
    gx, gy = surf(at[0], at[1], dx=1)[0, 0], surf.ev(at[0], at[1], dy=1)
    return flat(at[None, :])[0], np.arctan(np.hypot(gx, gy)), spi.griddata(xy, heights, at)[0]


def bounded_recipe(target, price):
    """A recipe by L-BFGS-B within Bounds: which bound holds, and the cost."""
    A = np.array([[0.9, 0.2, 0.4], [0.3, 0.8, 0.1], [0.2, 0.1, 0.7], [0.5, 0.4, 0.3]])

    def loss(x):
        r = A @ x - target
        return r @ r + price * np.sum(x) + 0.01 * x @ x

    res = minimize(
        loss,
        np.full(3, 0.5),
        method="L-BFGS-B",
        bounds=Bounds(0.0, 0.8),
        options={"ftol": 1e-15, "gtol": 1e-10},
    )
    lin = so.lsq_linear(A, target, bounds=(0.0, 0.8), tol=1e-13)
    return res.x, res.fun, lin.x, so.nnls(A, target)[1]


def warped_photo(angle, zoom):
    """An affine warp about the centre, blurred and compared; moments of the result."""
    y, x = np.mgrid[0:15, 0:15]
    img = np.exp(-((x - 7) ** 2 / 12 + (y - 6) ** 2 / 5))
    R = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) / zoom
    mid = np.array([7.0, 7.0])
    out = ndimage.affine_transform(img, R, offset=mid - R @ mid, order=3)
    soft = ndimage.uniform_filter(out, 3)
    m = np.array(ndimage.center_of_mass(soft))
    return np.sum((out - img) ** 2), m, ndimage.sum_labels(out, np.asarray(x > 7), index=True)


def annual_budget(growth, vol):
    """Compounded chances: a lognormal's partial expectations, and a fair premium by secant."""
    laws = [st.lognorm(vol * math.sqrt(k), scale=np.exp(growth * k)) for k in (1, 2, 3)]
    short = [1.0 - law.expect(lambda x: np.minimum(x, 1.0), epsabs=1e-12) for law in laws]
    fair = so.root_scalar(
        lambda p: sum(s / (1 + p) ** k for k, s in enumerate(short, 1)) - 10 * p, x0=0.01, x1=0.02
    ).root
    return np.array(short), fair, st.gmean([law.mean() for law in laws])


def pension_path(mortality, rate):
    """An annuity's value by partials of a Gompertz law, deferred and joint lives."""
    alive = partial(st.gompertz.sf, c=mortality, scale=10.0)
    v = lambda s: np.exp(-rate * s)
    single = quad(lambda s: v(s) * alive(s), 0, 40)[0]
    joint = quad(lambda s: v(s) * alive(s) * alive(s * 1.1), 0, 40)[0]
    e = st.gompertz.expect(lambda s: v(s * 1.0), args=(mortality,), scale=10.0)
    return single, 2 * single - joint, e


SELDOM = [
    (conjugate_forecast, (1.3, np.array([0.3, 0.1, 0.4, 0.9, 1.5, 2.6]))),
    (waiting_mixture, (1.6, np.array([0.3, 0.7, 1.9, 2.8, 4.1, 0.5]))),
    (probit_by_newton, (0.1, 1.4)),
    (importance_weights, (0.3, 1.4)),
    (reversible_drift, (0.8, 0.4)),
    (mean_of_truncated, (0.6, 1.2)),
    (rating_of_players, (np.array([0.2, -0.1, 0.1]), 0.3)),
    (ordered_scores, (np.array([-0.6, 0.1, -0.2]), np.array([0.3, 0.9, 1.8, 2.6]))),
    (dropout_times, (np.array([0.3, 0.5, 0.2]), -0.4)),
    (kolmogorov_like, (1.4, np.array([0.3, 2.1, 0.9, 1.3, 3.9]))),
    (washout_margin, (1.1, 0.7)),
    (pulses_of_drug, (0.9, 0.25)),
    (jumping_skier, (0.6, 0.004)),
    (coupled_oscillators, (1.2, 0.5)),
    (shooting_beam, (0.6, 1.7)),
    (annealed_defects, (0.4, np.array([500.0, 620.0, 700.0, 650.0, 520.0]))),
    (blackbody_colour, (5800.0, 0.05)),
    (
        lifetimes_of_decay,
        (np.array([9.3, 4.6, 3.4, 2.4, 2.3, 1.8, 1.7, 1.4, 1.2, 1.1, 1.0]), 0.1),
    ),
    (rotating_top, (np.array([0.9, 0.3, -0.6]), np.array([1.0, 1.6, 2.3]))),
    (bound_states, (6.0, 1.1)),
    (diffracted, (0.6, 1.9)),
    (sediment_settling, (6e-4, 2.6)),
    (laser_cavity, (1.7, 0.1)),
    (radio_link, (6.0, 2.0)),
    (graph_diffusion, (np.array([1.0, 0.6, 0.8, 1.2, 0.5, 0.3]), 0.7)),
    (matrix_free_smoother, (np.sin(np.arange(9.0)), 1.8)),
    (hankel_model, (np.array([1.0, 0.7, 0.4, 0.28, 0.1, 0.03, -0.02]),)),
    (stable_gain, (1.4, 0.8)),
    (tracked_line, (np.array([0.5, 0.9, 0.7]), 9.0)),
    (filtered_gait, (4.0, 1.1)),
    (terrain_slope, (np.array([0.2, 0.9, 0.5, 1.4, 0.8, 0.6]), np.array([0.43, 0.31]))),
    (bounded_recipe, (np.array([0.9, 0.75, 0.2, 0.6]), 0.05)),
    (warped_photo, (0.3, 1.1)),
    (annual_budget, (0.03, 0.2)),
    (pension_path, (0.4, 0.03)),
]
