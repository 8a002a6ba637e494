"""A kitchen, a stadium, a concert hall, a painter's room, and those who dig and read."""
# ruff: noqa: E501, RUF059  # names and lines as they are often written

from dataclasses import dataclass, field

import numpy as np
import scipy.optimize as so
import scipy.special as sc
import scipy.stats as st
from scipy import integrate, interpolate, optimize, signal, stats
from scipy.integrate import cumulative_trapezoid, dblquad, odeint, quad, solve_ivp, trapezoid
from scipy.optimize import (
    brentq,
    curve_fit,
    least_squares,
    minimize,
    minimize_scalar,
    nnls,
    root_scalar,
)
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist

# Food.


def sterilised_can(diffusivity, retort):
    """Minutes at 121 degrees that the middle of a can has seen, and how long it has to stay."""
    beta = np.pi * (np.arange(1, 9) - 0.5)
    coefficient = 2 * (-1) ** np.arange(8) / beta

    def centre(t):
        decay = np.exp(-(beta**2) * diffusivity * np.atleast_1d(t)[:, None])
        return retort - (retort - 25.0) * decay @ coefficient

    def lethality(end):
        t = np.linspace(0.05, end, 201)
        return trapezoid(10 ** ((centre(t) - 121.1) / 10.0), t)

    return lethality(60.0), brentq(lambda end: lethality(end) - 6.0, 5.0, 200.0, xtol=1e-11)


def baked_loaf(conductivity, oven):
    """Layers of dough that heat up, by a stiff method; the crust sees the oven."""
    n, dx = 8, 0.5

    def rhs(t, T, k, hot):
        flux = k * np.diff(T) / dx
        surface = 0.8 * (hot - T[-1])
        return (np.concatenate([flux, [surface]]) - np.concatenate([[0.0], flux])) / dx

    sol = solve_ivp(
        rhs, (0, 30), np.full(n, 25.0), method="BDF", t_eval=[10.0, 30.0],
        args=(conductivity, oven), rtol=1e-8, atol=1e-8,
    )  # fmt: skip
    return sol.y[0], sol.y[-1, -1]


def coffee(fast, slow):
    """What a cup takes out of its grounds: two rates, as the data of a course have them."""
    t = np.array([10.0, 20, 40, 60, 90, 120, 180, 240])
    model = lambda t, a, k1, k2: a * (1 - 0.6 * np.exp(-k1 * t) - 0.4 * np.exp(-k2 * t))
    data = model(t, 21.0, fast, slow) + 0.1 * np.cos(t / 9)
    popt, pcov = curve_fit(model, t, data, p0=[20.0, 0.08, 0.01], xtol=1e-13, ftol=1e-13)
    return popt, np.sqrt(np.diag(pcov))


@dataclass
class Yeast:
    mu_max: float
    half: float = 12.0
    yield_: float = 0.11
    toxic: float = 95.0

    def __call__(self, t, y):
        x, s, p = y
        mu = self.mu_max * s / (self.half + s) * (1 - p / self.toxic)
        return [mu * x, -mu * x / self.yield_, 0.45 * mu * x / self.yield_]


def fermentation(mu_max, sugar):
    """Must that ferments until it is dry: a right-hand side that is an object, and an event."""
    dry = lambda t, y: y[1] - 4.0
    dry.terminal = True
    dry.direction = -1
    sol = solve_ivp(Yeast(mu_max), [0, 400], [0.2, sugar, 0.0], events=[dry], rtol=1e-8, atol=1e-9)
    return sol.t[-1], sol.y[2, -1]


def bitterness(additions, boil):
    """Isomerised acids of hops while the kettle cools, by Arrhenius' law under an integral."""
    temperature = lambda t, cool: 20 + 80 * np.exp(-cool * np.maximum(t - 60.0, 0.0))
    rate = lambda t, cool: 7.9e11 * np.exp(-11858.0 / (273.15 + temperature(t, cool)))
    out = []
    for a, start in zip(additions, (0.0, 45.0, 58.0), strict=True):
        total = quad(rate, start, 60, args=(boil,))[0] + quad(rate, 60, 90, args=(boil,))[0]
        out.append(a * -np.expm1(-total))
    return np.array(out)


def ice_cream(sucrose, overrun):
    """The share of water that is frozen at a temperature, by Newton's method with its slope."""
    T = np.array([-3.0, -6.0, -12.0])
    f = lambda w, temp: 1.86 * sucrose / w - 0.2 * (sucrose / w) ** 2 * 0.01 + temp
    df = lambda w, temp: -1.86 * sucrose / w**2 + 0.004 * sucrose**2 / w**3
    frozen = []
    for temp in T:
        sol = root_scalar(f, x0=0.05, fprime=df, args=(temp,), method="newton", xtol=1e-14)
        frozen.append(1 - sol.root)
    frozen = np.asarray(frozen)
    hardness = interpolate.PchipInterpolator(T[::-1], frozen[::-1])(-8.0)
    return frozen, hardness / (1 + overrun)


def lactation(a, b, c):
    """Wood's curve of a cow's milk, robust, within bounds; its peak and the yield of a season."""
    week = np.arange(1.0, 44.0, 4)
    milk = a * week**b * np.exp(-c * week) + 0.2 * np.sin(3 * week)
    fun = lambda p: p[0] * week ** p[1] * np.exp(-p[2] * week) - milk
    res = least_squares(
        fun, [15.0, 0.2, 0.03], bounds=([1, 0, 0], [60, 1, 0.2]), x_scale=[10, 0.1, 0.01],
        jac="3-point", xtol=1e-14, ftol=1e-14, gtol=1e-14,
    )  # fmt: skip
    A, B, C = res.x
    total = A * C ** (-B - 1) * sc.gamma(B + 1) * sc.gammainc(B + 1, C * 44)
    return B / C, total


def triangle_test(noise, share):
    """How well tasters tell the odd cup, and the difference that a panel's share stands for."""

    def correct(d):
        kernel = lambda z: 2 * st.norm.pdf(z) * (
            st.norm.cdf(-z * np.sqrt(3) + d / noise * np.sqrt(2 / 3))
            + st.norm.cdf(-z * np.sqrt(3) - d / noise * np.sqrt(2 / 3))
        )  # fmt: skip
        return quad(kernel, 0, np.inf, epsabs=1e-12)[0]

    d_prime = brentq(lambda d: correct(d) - share, 1e-6, 12.0, xtol=1e-12)
    return d_prime, st.binom.sf(14, 30, correct(1.0))


# Sport.


def critical_power(cp, reserve):
    """Power that is held for long, by a line through inverse times and by a curve."""
    t = np.array([120.0, 240, 480, 900, 1500])
    p = cp + reserve / t * (1 + 0.02 * np.cos(t / 100))
    line = stats.linregress(1 / t, p)
    three = lambda t, c, w, pmax: w / (t - w / (c - pmax)) + c
    popt, _ = optimize.curve_fit(three, t, p, p0=(250, 20000.0, 900.0), maxfev=4000, xtol=1e-12)
    return line.slope / 1e3, line.intercept, line.rvalue, popt[0]


def oxygen(tau, amplitude):
    """Uptake after a step of load, as a response that is convolved with what was asked."""
    t = np.arange(0, 300.0, 5)
    load = np.where((t > 30) & (t < 200), 1.0, 0.0)
    h = np.exp(-t / tau) / tau * 5
    vo2 = 0.4 + amplitude * signal.fftconvolve(load, h)[: len(t)]
    deficit = np.sum((0.4 + amplitude - vo2)[(t > 30) & (t < 200)]) * 5
    return vo2.max(), deficit


def time_trial(power, drag):
    """A rider over hills: the speed on each slope is a root, and effort is shifted among them."""
    slope = np.array([0.0, 0.04, -0.02, 0.06])
    length = np.array([5e3, 3e3, 4e3, 2e3])

    def speed(p, s):
        return brentq(lambda v: (drag * v**2 + 75 * 9.81 * (s + 0.004)) * v - p, 0.5, 40.0)

    even = sum(L / speed(power, s) for L, s in zip(length, slope, strict=True))

    def seconds(k):
        each = power * (1 + k * slope)
        return sum(L / speed(p, s) for L, s, p in zip(length, slope, each, strict=True))

    return even, seconds(4.0)


def golf_drive(speed, spin):
    """A ball with drag and lift until it is down; how far, how high, when."""

    def flight(t, s, lift):  # fmt: skip
        x, z, vx, vz = s
        v = np.sqrt(vx**2 + vz**2)
        d, l = 0.0065 * v, lift * 1e-4 * np.exp(-t / 20) * v
        return [vx, vz, -d * vx - l * vz, -9.81 - d * vz + l * vx]

    def lands(t, s, lift):
        return s[1]

    def top(t, s, lift):
        return s[3]

    lands.terminal, lands.direction = True, -1
    a = np.radians(12.0)
    y0 = np.array([0.0, 0.0, speed * np.cos(a), speed * np.sin(a)])
    out = solve_ivp(flight, (0, 15), y0, events=(lands, top), args=(spin,), rtol=1e-8, atol=1e-8)
    return out.y_events[0][0][0], out.y_events[1][0][1], out.t_events[0][0]


def season(advantage, spread):
    """Strengths of clubs by maximum likelihood with a penalty, by BFGS with a gradient of its own."""
    home = np.array([0, 1, 2, 3, 0, 2, 1, 3])
    away = np.array([1, 2, 3, 0, 2, 1, 3, 1])
    goals = np.array([1.0, 0, 1, 1, 0, 1, 1, 0])

    def loss(r):
        z = r[home] - r[away] + advantage
        return np.sum(np.logaddexp(0, z) - goals * z) + r @ r / (2 * spread**2)

    def slope(r):
        d = sc.expit(r[home] - r[away] + advantage) - goals
        g = np.bincount(home, d, minlength=4) - np.bincount(away, d, minlength=4)
        return g + r / spread**2

    res = minimize(loss, np.zeros(4), jac=slope, method="BFGS", options={"gtol": 1e-11})
    return res.x, sc.expit(res.x[0] - res.x[3])


def darts(sigma, offset):
    """The mean score of throws that spread about an aim, by rings of Rice's law and by sectors."""
    rings = np.array([6.35, 15.9, 99.0, 107.0, 162.0, 170.0])
    inside = st.rice.cdf(rings, offset / sigma, scale=sigma)
    bull = 50 * inside[0] + 25 * (inside[1] - inside[0])
    weight = np.array([1.0, 3.0, 1.0, 2.0])
    sector = integrate.dblquad(
        lambda y, x: st.norm.pdf(x, 0, sigma) * st.norm.pdf(y, offset, sigma),
        -20, 20, lambda x: 15.9, lambda x: 162.0, epsabs=1e-8,
    )[0]  # fmt: skip
    return bull + weight @ np.diff(inside[1:]) * 10.5, sector


def tennis(p, q):
    """A game, a tie-break and a set from the chances on serve, with binomial coefficients."""
    k = np.arange(3)
    game = lambda p: (
        p**4 * np.sum(sc.comb(3 + k, k) * (1 - p) ** k)
        + sc.comb(6, 3) * (p * (1 - p)) ** 3 * p**2 / (p**2 + (1 - p) ** 2)
    )
    a, b = game(p), 1 - game(q)
    mean = (a + b) / 2
    won = st.nbinom(6, mean).cdf(4)
    needed = so.bisect(lambda x: game(x) - 0.8, 0.5, 0.99, xtol=1e-13)
    return game(p), won, needed


# Music.


def dissonance(stretch, decay):
    """Where an interval of two tones is smoothest: Plomp and Levelt's curve between partials."""
    n = np.arange(1, 7)
    partial, loud = n ** (stretch / 1.0), decay ** (n - 1)

    def rough(ratio):
        f = 250 * np.concatenate([partial, ratio * partial])
        a = np.concatenate([loud, loud])
        i, j = np.triu_indices(12, 1)
        low, apart = np.minimum(f[i], f[j]), np.abs(f[i] - f[j])
        s = 0.24 / (0.021 * low + 19)
        return np.sum(a[i] * a[j] * (np.exp(-3.5 * s * apart) - np.exp(-5.75 * s * apart)))

    fifth = minimize_scalar(rough, bounds=(1.4, 1.6), method="bounded", options={"xatol": 1e-11})
    return rough(1.26), rough(1.47), fifth.fun


def stiff_string(tension, stiffness):
    """Partials of a piano's string, and where the octave without beats lies."""
    n = np.arange(1, 9)
    f = 110 * np.sqrt(tension) * n * np.sqrt(1 + stiffness * n**2)
    cents = 1200 * np.log2(f / (n * f[0]))
    (B, c), *_ = np.linalg.lstsq(np.column_stack([n**2, np.ones(8)]), (f / n) ** 2)
    octave = brentq(lambda x: 2 * x * np.sqrt(1 + stiffness) - f[3] / 1.0, 100, 1000) / f[0]
    return cents, B / c, octave


def struck_bar(width, length):
    """A free bar's frequencies by roots of its equation, tuned by an undercut."""
    lambdas = np.array([brentq(lambda x: np.cos(x) * np.cosh(x) - 1, a, a + 2) for a in (4, 7, 10)])
    f = lambdas**2 / (2 * np.pi * length**2) * np.sqrt(width**2 / 12) * 5000
    bend = lambda x, k: np.cosh(k * x) / np.cosh(k / 2) - np.cos(k * x) / np.cos(k / 2)
    cut = [quad(lambda x, k=k: bend(x, k) ** 2, -0.2, 10 * width)[0] for k in lambdas]
    return f * (1 - 0.1 * np.asarray(cut))


def reverberant(absorption, volume):
    """Decay of a hall in octaves by Eyring, and by a filtered noise's backward sum."""
    alpha = absorption * np.array([0.6, 0.8, 1.0, 1.1])
    rt = 0.161 * volume / (-400 * np.log1p(-alpha))
    t = np.arange(400) / 400
    rng = np.random.default_rng(3)
    tail = rng.standard_normal(400) * np.exp(-6.9 * t / rt[2])
    b, a = signal.butter(2, [0.2, 0.6], btype="bandpass")
    energy = np.cumsum(signal.lfilter(b, a, tail)[::-1] ** 2)[::-1]
    level = 10 * np.log10(energy / energy[0])
    fit = np.polyfit(t[20:200], level[20:200], 1)
    return rt, -60 / fit[0]


def lines_of_wires(sag, temperature):
    """A conductor between pylons: its tension by a cubic, and how a span's sag grows with heat."""
    w, L, EA, a = 15.0, 300.0, 25e6, 1.9e-5
    h0 = w * L**2 / (8 * sag)
    c2 = EA * (w**2 * L**2 / (24 * h0**2) + a * (temperature - 15)) - h0
    roots = np.roots(
        np.array([1.0, c2, 0.0, -EA * w**2 * L**2 / 24]) / np.array([1, 1e3, 1e6, 1e9])
    )
    h = 1e3 * np.max(roots.real)
    return h, w * L**2 / (8 * h), 2 * h / w * np.sinh(w * L / (2 * h))


# Paint and light.


def paints(thickness, share):
    """Kubelka and Munk's layers of two pigments, and a mixture found from its colour."""
    K = np.array([[0.1, 0.4, 1.1, 2.0], [1.5, 0.3, 0.2, 0.1], [0.05, 0.05, 0.05, 0.06]]).T
    S = np.array([1.0, 0.8, 1.2])
    mix = np.array([share, 0.6 - share, 0.4])
    ks = K @ mix / (S @ mix)
    a = 1 + ks
    b = np.sqrt(a * a - 1)
    R = 1 / (a + b / np.tanh(b * (S @ mix) * thickness))
    again = (1 - R) ** 2 / (2 * R)
    w, miss = nnls(K / S, again * 0.98)
    return R, w, miss


def rough_surface(roughness, angle):
    """Light from rough metal: a density of facets over a half sphere, and what it reflects."""
    D = lambda c: roughness**2 / (np.pi * (c * c * (roughness**2 - 1) + 1) ** 2)
    whole, _ = dblquad(
        lambda th, ph: D(np.cos(th)) * np.cos(th) * np.sin(th), 0, 2 * np.pi, 0, np.pi / 2
    )
    shadow = 2 / (1 + np.sqrt(1 + roughness**2 * np.tan(angle) ** 2))
    seen = quad(lambda th: D(np.cos(th)) * np.sin(th) * np.cos(th - angle) ** 2, 0, np.pi / 2)[0]
    return whole, shadow, seen


# Words, sherds and choices.


def zipf_mandelbrot(s, q):
    """Ranks of words: Mandelbrot's law by Hurwitz's zeta, and its fit by Nelder and Mead."""
    r = np.arange(1, 31)
    p = (r + q) ** -s / (sc.zeta(s, 1 + q))
    counts = 1000 * p

    def nll(theta):
        s_, q_ = theta
        return np.sum(counts * s_ * np.log(r + q_)) + counts.sum() * np.log(sc.zeta(s_, 1 + q_))

    res = minimize(nll, [1.8, 2.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-9})
    return p[:3], -np.sum(p * np.log(p)), res.fun / 1000


def new_words(alpha, discount):
    """A text's vocabulary as it grows by Pitman and Yor, with gamma functions."""
    n = np.array([10.0, 100.0, 1000.0])
    rising = np.exp(
        sc.gammaln(alpha + discount + n) - sc.gammaln(alpha + n)
        + sc.gammaln(alpha + 1) - sc.gammaln(alpha + discount)
    )  # fmt: skip
    types = rising / discount - alpha / discount
    size = brentq(lambda m: sc.poch(alpha + discount, m) / sc.poch(alpha + 1, m - 1) / discount
                  - alpha / discount - 20.0, 2, 120)  # fmt: skip
    return types, size


@dataclass
class Calibration:
    """A curve of carbon's ages, kept with the spline through it."""

    years: np.ndarray
    ages: np.ndarray
    spline: interpolate.CubicSpline = field(init=False)

    def __post_init__(self):
        self.spline = interpolate.CubicSpline(self.years, self.ages)

    def density(self, t, age, sd):
        return st.norm.pdf(age, loc=self.spline(t), scale=sd)


def radiocarbon(age, sd):
    """The posterior of a date, normalised, with its median by a root of the integral."""
    x = np.linspace(2000, 3200, 13)
    curve = Calibration(x, 0.95 * x + 60 * np.sin(x / 110))
    total = quad(curve.density, 2400, 2900, args=(age, sd))[0]
    below = lambda t: quad(curve.density, 2400, t, args=(age, sd))[0] / total
    median = brentq(lambda t: below(t) - 0.5, 2500, 2800, xtol=1e-9)
    return np.log(total), median


def stratigraphy(dates, tightness):
    """Layers that lie in order: the nearest ages that respect it, by SLSQP."""
    order = np.array([[1.0, -1, 0, 0], [0, 1, -1, 0], [0, 0, 1, -1]])
    res = minimize(
        lambda t: tightness * np.sum((t - dates) ** 2) + 0.01 * np.sum(np.diff(t) ** 2),
        np.array([4.0, 3.0, 2.0, 1.0]), method="SLSQP", options={"ftol": 1e-14, "maxiter": 200},
        constraints=[{"type": "ineq", "fun": lambda t, i=i: order[i] @ t - 0.1} for i in range(3)],
    )  # fmt: skip
    return res.x, res.fun


def glow_curve(energy, log_s):
    """Thermoluminescence of first order: its peak, and the light up to there."""
    k = 8.617e-5
    p = lambda T: np.exp(log_s - energy / (k * T))
    T = np.linspace(300, 600, 301)
    escaped = cumulative_trapezoid(p(T) / 5.0, T, initial=0)
    light = p(T) * np.exp(-escaped)
    peak = brentq(lambda t: 5.0 * energy / (k * t**2) - p(t), 350, 590, xtol=1e-11)
    return np.log(light.max()), peak, 1 - np.exp(-np.interp(peak, T, escaped))


def lotteries(alpha, gamma_, loss):
    """Prospect theory's certain equivalents, and the probability at which one is indifferent."""
    w = lambda p: p**gamma_ / (p**gamma_ + (1 - p) ** gamma_) ** (1 / gamma_)
    v = lambda x: np.where(x >= 0, np.abs(x) ** alpha, -loss * np.abs(x) ** alpha)
    ce = lambda p, x: (w(p) * v(x)) ** (1 / alpha)
    even = brentq(lambda p: w(p) * v(100.0) + w(1 - p) * v(-60.0), 0.05, 0.95, xtol=1e-13)
    return ce(np.array([0.1, 0.5, 0.9]), 50.0), even


def patience(k, beta):
    """Discount rates from choices with errors in days, weighted, and their covariance."""
    days = np.array([1.0, 7, 30, 90, 365])
    seen = beta / (1 + k * days) + 0.01 * np.sin(days)
    f = lambda d, k_, b: b / (1 + k_ * d)
    popt, pcov = curve_fit(
        f, days, seen, p0=(0.02, 0.9), sigma=0.01 + 0.0001 * days, absolute_sigma=True,
        bounds=(0, [1.0, 2.0]), xtol=1e-14, ftol=1e-14, gtol=1e-14,
    )  # fmt: skip
    return popt, pcov[0, 1] / pcov[0, 0]


def rhythm(period, phase):
    """Times of sleep by Borbely's two processes, awake and asleep in turn by their crossings."""
    C = lambda t: 0.1 * np.sin(2 * np.pi * (t - phase) / period)
    up = lambda t, s, t0: 1 - (1 - s) * np.exp(-(t - t0) / 18.2)
    down = lambda t, s, t0: s * np.exp(-(t - t0) / 4.2)
    t, s, out = 7.0, 0.2, []
    for _ in range(2):
        bed = brentq(lambda x, t=t, s=s: up(x, s, t) - 0.75 - C(x), t + 6, t + 24)
        s = up(bed, s, t)
        wake = brentq(lambda x, b=bed, s=s: down(x, s, b) - 0.2 - C(x), bed + 2, bed + 16)
        t, s = wake, down(wake, s, bed)
        out += [bed, wake]
    return np.array(out)


def settlement(scale, reach):
    """Sherds around hearths: a density by neighbours and a kernel, and the nearest of them."""
    g = np.arange(12.0)
    sherds = np.column_stack([scale * np.cos(g) * (1 + 0.1 * g), np.sin(1.3 * g) * (1 + 0.1 * g)])
    near, idx = KDTree(sherds).query(np.array([[0.1, 0.2], [1.0, -0.5]]), k=3)
    K = np.exp(-cdist(sherds, sherds, "sqeuclidean") / (2 * reach**2))
    clark = KDTree(sherds).query(sherds, k=2)[0][:, 1].mean() * 2 * np.sqrt(12 / 9.0)
    return near, K.mean(), clark


def memory_traces(decay, noise):
    """Activation of what was seen before, and the odds of recall with their information."""
    ages = np.array([2.0, 5.0, 30.0, 80.0])
    a = sc.logsumexp(-decay * np.log(ages))
    p = sc.expit((a + 0.8) / noise)
    y = odeint(lambda m, t, d: [-d * m[0] / (1 + t)], [1.0], [0.0, 1.0, 4.0], args=(decay,))
    return p, sc.entr(p) + sc.entr(1 - p), y[:, 0]


SELDOM = [
    (sterilised_can, (0.02, 125.0)),
    (coffee, (0.06, 0.012)),
    (fermentation, (0.21, 180.0)),
    (bitterness, (np.array([30.0, 15.0, 20.0]), 0.12)),
    (ice_cream, (0.7, 0.9)),
    (lactation, (18.0, 0.25, 0.04)),
    (triangle_test, (1.1, 0.55)),
    (oxygen, (28.0, 2.1)),
    (time_trial, (280.0, 0.2)),
    (golf_drive, (68.0, 42.0)),
    (season, (0.35, 0.8)),
    (darts, (30.0, 20.0)),
    (tennis, (0.66, 0.61)),
    (stiff_string, (1.3, 6e-4)),
    (struck_bar, (0.02, 0.4)),
    (reverberant, (0.25, 900.0)),
    (lines_of_wires, (6.0, 60.0)),
    (paints, (0.9, 0.25)),
    (rough_surface, (0.4, 0.6)),
    (zipf_mandelbrot, (1.9, 2.5)),
    (new_words, (3.0, 0.4)),
    (radiocarbon, (2450.0, 35.0)),
    (stratigraphy, (np.array([4.1, 2.2, 2.6, 1.1]), 1.3)),
    (glow_curve, (1.1, 25.0)),
    (lotteries, (0.85, 0.65, 2.1)),
    (patience, (0.015, 0.95)),
    (rhythm, (24.2, 9.3)),
    (settlement, (1.2, 0.7)),
    (memory_traces, (0.5, 0.4)),
]

# Modes 3e-7 apart by a stiff method; a fit without a minimum.
UNDIFFERENCED = [
    (baked_loaf, (0.35, 210.0)),
    (critical_power, (260.0, 21000.0)),
]
# A minimum at a kink.
REFUSED = [(dissonance, (1.02, 0.88))]
