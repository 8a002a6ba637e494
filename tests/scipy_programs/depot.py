"""A depot and a chamber of commerce: trains, ships, traffic, wind, buildings, customers, votes."""
# ruff: noqa: C408, E501, RUF059  # names and lines as they are often written

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy import fft, integrate, interpolate, linalg, optimize, signal, sparse, special, stats
from scipy.integrate import quad, simpson, solve_bvp, solve_ivp
from scipy.linalg import solve_banded
from scipy.optimize import (
    Bounds,
    LinearConstraint,
    brentq,
    curve_fit,
    fsolve,
    linprog,
    lsq_linear,
    minimize,
    minimize_scalar,
    root,
)  # fmt: skip
from scipy.sparse.linalg import spsolve
from scipy.spatial import distance
from scipy.stats import norm

# Tracks, roads, wings and ships.


def transition_curve(angle, length):
    """A clothoid between a straight and an arc, and the one that meets a given offset."""
    s = np.linspace(0.1, 1.0, 5)
    a = length * np.sqrt(np.pi / (2 * angle))
    S, C = special.fresnel(s * length / a)
    x, y = a * C, a * S

    def offset(L):
        scale = L * np.sqrt(np.pi / (2 * angle))
        return scale * special.fresnel(L / scale)[0] - 1.5

    return x, y[-1], optimize.ridder(offset, 1.0, 300.0, xtol=1e-12)


class Train(NamedTuple):
    mass: float
    power: float
    davis: tuple = (2.0, 0.03, 0.0006)

    def resistance(self, v):
        a, b, c = self.davis
        return a + b * v + c * v * v

    def run(self, t, y):
        force = np.minimum(60.0, self.power / np.maximum(y[1], 1.0))
        return np.array([y[1], (force - self.resistance(y[1])) / self.mass])


def timetable(mass, power):
    """A run between stations: up to the line's speed, then coasting, then the brake."""
    train = Train(mass, power)
    fast = lambda t, y: y[1] - 25.0
    fast.terminal = True
    up = solve_ivp(train.run, (0, 600), [0.0, 0.0], events=fast, rtol=1e-9, atol=1e-9)
    coast = lambda t, y: [y[1], -train.resistance(y[1]) / mass]
    slow = lambda t, y: y[1] - 20.0
    slow.terminal = True
    down = solve_ivp(coast, (up.t[-1], 3000), up.y[:, -1], events=slow, rtol=1e-9, atol=1e-9)
    return up.t[-1], down.t[-1], down.y[0, -1] + 20.0**2 / (2 * 0.7)


def signal_timing(flow, lost):
    """The cycle of a crossing with least delay by Webster, with what he gave as a rule."""
    y = np.array([0.35, 0.25])
    q = flow * y

    def delay(cycle):
        green = (cycle - lost) * y / y.sum()
        lam = green / cycle
        x = np.clip(q / (lam * 1.0) / flow * 1.05, 0, 0.999)
        return np.sum(q * (cycle * (1 - lam) ** 2 / (2 * (1 - lam * x)) + x**2 / (2 * q * (1 - x))))

    res = minimize_scalar(delay, bounds=(30, 140), method="bounded", options=dict(xatol=1e-9))
    return res.x, res.fun, (1.5 * lost + 5) / (1 - y.sum())


def traffic_wave(vmax, jam):
    """A queue behind a light, by Godunov's scheme with supply and demand."""
    n, dx, dt = 24, 50.0, 1.0
    critical = jam / 2
    flow = lambda r: vmax * r * (1 - r / jam)
    rho = np.where(np.arange(n) < 12, 0.35 * jam, 0.9 * jam)
    for _ in range(20):
        send = flow(np.minimum(rho, critical))
        take = flow(np.maximum(rho, critical))
        f = np.minimum(send[:-1], take[1:])
        rho[1:-1] = rho[1:-1] - dt / dx * (f[1:] - f[:-1])
    return rho, simpson(rho, dx=dx)


def commuters(demand, toll):
    """Two roads and a bypass in equilibrium by Beckmann's potential, under a sum."""
    free, cap = np.array([10.0, 14.0, 9.0]), np.array([30.0, 50.0, 20.0])

    def potential(x):
        t = free * x * (1 + 0.15 / 5 * (x / cap) ** 4)
        return t.sum() + toll * x[2]

    res = minimize(
        potential, np.full(3, demand / 3), method="trust-constr",
        jac=lambda x: free * (1 + 0.15 * (x / cap) ** 4) + toll * np.array([0, 0, 1.0]),
        hess=lambda x: np.diag(free * 0.6 * x**3 / cap**4),
        constraints=LinearConstraint(np.ones((1, 3)), demand, demand), bounds=Bounds(0, 200),
        options={"gtol": 1e-11, "xtol": 1e-13, "maxiter": 2000},
    )  # fmt: skip
    return res.x, free * (1 + 0.15 * (res.x / cap) ** 4)


def gaps(rate, shape):
    """How many cars a minor road lets in, with Erlang's headways; and the wait of the first."""
    critical, follow = 4.5, 2.5
    k = np.arange(8)
    sf = special.gammaincc(shape, shape * rate * (critical + k * follow))
    capacity = rate * np.sum(sf)
    accept = stats.gamma(shape, scale=1 / (shape * rate)).sf(critical)
    short = quad(lambda t: t * stats.gamma.pdf(t, shape, scale=1 / (shape * rate)), 0, critical)[0]
    return capacity, short / accept


def cruise(weight, thrust_burn):
    """Range at the best height, with the air's density by height and fuel as a state."""
    S, cd0, k = 120.0, 0.02, 0.045

    def air(h):
        return 1.225 * (1 - 2.25577e-5 * h) ** 4.2559

    def rate(x, w, h, v):
        q = 0.5 * air(h) * v**2 * S
        return -thrust_burn * (q * cd0 + k * w**2 / q) / v

    def burnt(h):
        return (
            weight
            - integrate.odeint(
                rate, weight, [0.0, 2e6], args=(h, 230.0), tfirst=True, rtol=1e-10, atol=1e-6
            )[-1, 0]
        )

    best = minimize_scalar(burnt, bracket=(8e3, 10e3), tol=1e-9)
    return best.x / 1e3, best.fun / 1e4


def takeoff(thrust, wing):
    """The ground roll as an integral over speed, up to the speed that lifts."""
    m, rho, mu = 5000.0, 1.225, 0.03
    lift_off = 1.1 * np.sqrt(2 * m * 9.81 / (rho * wing * 1.6))
    accel = lambda v: (
        thrust * (1 - v / 300) - 0.5 * rho * v**2 * wing * 0.05
        - mu * (m * 9.81 - 0.5 * rho * v**2 * wing * 0.5)
    ) / m  # fmt: skip
    roll, err = quad(lambda v: v / accel(v), 0, lift_off)
    t = quad(lambda v: 1 / accel(v), 0.0, lift_off)[0]
    return roll, t, brentq(accel, 50, 299)


def righting(height, beam):
    """Stability of a hull from its cross curves: where it vanishes, and the work up to there."""
    heel = np.radians(np.arange(0, 91, 15.0))
    kn = np.array([0, 1.1, 2.15, 3.05, 3.6, 3.75, 3.6]) * beam / 8
    curve = interpolate.make_interp_spline(heel, kn, k=3)
    gz = lambda a: curve(a) - height * np.sin(a)
    vanish = brentq(gz, 0.9, 1.57, xtol=1e-14)
    work = curve.integrate(0, vanish) - height * (1 - np.cos(vanish))
    top = minimize_scalar(lambda a: -gz(a), bounds=(0.3, 1.2), method="bounded",
                          options={"xatol": 1e-10})  # fmt: skip
    return vanish, work, -top.fun, curve.derivative()(0.0) - height


def mooring(weight, stiffness):
    """A line from the bottom that stretches: tension at its end from where the ship is."""
    L, x, z = 120.0, 98.0, 60.0

    def ends(f):
        H, V = f
        on = np.maximum(L - V / weight, 0.0)
        top = np.arcsinh(V / H)
        fx = on + H / weight * top + H * L / stiffness - x
        fz = H / weight * (np.sqrt(1 + (V / H) ** 2) - 1) + V**2 / (2 * stiffness * weight) - z
        return [fx, fz]

    sol = fsolve(ends, [40.0, 90.0], xtol=1e-13)
    return sol, np.linalg.norm(sol)


def glider(a, b, c):
    """Speeds between thermals by MacCready's tangent to a polar that was measured."""
    v = np.array([20.0, 25, 30, 35, 40, 45, 50])
    sink = a + b * (v - 25) ** 2 + c * (v - 25) ** 3 + 0.005 * np.cos(v)
    polar = interpolate.UnivariateSpline(v, sink, k=3, s=0)
    out = []
    for climb in (0.0, 1.0, 3.0):
        slow = lambda u, m=climb: (polar(u) + m) / u
        out.append(
            minimize_scalar(slow, bounds=(21, 49), method="bounded", options={"xatol": 1e-10}).x
        )
    return np.hstack(out), polar.derivatives(30.0)[:2]


# Power and buildings.


def wind_park(scale, shape):
    """Three turbines in a row with Jensen's wakes, under a Weibull law of the wind."""
    ct, k = 0.8, 0.06
    deficit = lambda d: (1 - np.sqrt(1 - ct)) / (1 + k * d / 40.0) ** 2
    first, second = deficit(400.0), np.hypot(deficit(400.0), deficit(800.0))
    power = lambda u: np.interp(u, [3.0, 6.0, 9.0, 12.0], [0.0, 0.3, 1.2, 2.0])
    law = stats.weibull_min(shape, scale=scale)
    mean = [law.expect(lambda u, f=f: power(u * (1 - f)), lb=0, ub=24) for f in (0, first, second)]
    return np.array(mean), law.ppf(0.9)


def panel(tilt, latitude):
    """Light on a panel through a day, from where the sun rises to where it sets."""
    dec = np.radians(23.45 * np.sin(2 * np.pi * (284 + 140) / 365))
    phi, b = np.radians(latitude), np.radians(tilt)
    up = lambda w: np.sin(phi) * np.sin(dec) + np.cos(phi) * np.cos(dec) * np.cos(w)
    on = lambda w: np.sin(phi - b) * np.sin(dec) + np.cos(phi - b) * np.cos(dec) * np.cos(w)
    rise = brentq(up, -np.pi, 0)
    beam = lambda w: 900 * np.exp(-0.2 / (up(w) + 0.05)) * np.maximum(on(w), 0)
    day, _ = quad(beam, rise, -rise, limit=100)
    best = minimize_scalar(
        lambda t: -quad(lambda w: np.exp(-0.2 / (up(w) + 0.05)) * np.cos(w) * np.cos(t - phi), rise, -rise)[0],
        bounds=(0, 1.2), method="bounded", options={"xatol": 1e-9},
    )  # fmt: skip
    return day * 12 / np.pi, rise, best.fun


def storage(prices, efficiency):
    """A battery that is charged when power is cheap: a linear program, and what more of it earns."""
    n = len(prices)
    c = np.concatenate([prices, -prices * efficiency])
    L = np.tril(np.ones((n, n)))
    A = np.vstack([np.hstack([efficiency * L, -L]), np.hstack([-efficiency * L, L])])
    b = np.concatenate([np.full(n, 4.0), np.zeros(n)])
    res = linprog(c, A_ub=A, b_ub=b, bounds=[(0, 1.5)] * (2 * n), method="highs")
    return res.fun, res.ineqlin.marginals[:n].sum()


def heat_network(demand, roughness):
    """Flows in a loop of pipes by Newton's method on heads, with sparse Jacobians."""
    pipes = np.array([[0, 1], [0, 2], [1, 3], [2, 3], [1, 2], [3, 4]])
    n, m = 5, len(pipes)
    inc = sp.csr_matrix(
        (np.tile([1.0, -1.0], m), (np.repeat(np.arange(m), 2), pipes.ravel())), (m, n)
    )
    free = inc[:, 1:]
    r = roughness * np.array([1.0, 1.5, 2.0, 1.2, 3.0, 0.8])
    h = np.linspace(9.0, 6.0, 4)
    for _ in range(14):
        dh = free @ h + np.asarray(inc[:, [0]].todense()).ravel() * 10.0
        q = np.sign(dh) * np.abs(dh / r) ** (1 / 1.852)
        g = np.abs(q / dh) / 1.852
        J = (free.T @ sp.diags(g) @ free).tocsc()
        h = h - spsolve(J, free.T @ q + demand)
    return h, q


def deck(tension, stiffness):
    """A suspended deck under a load in its middle: a beam that is also held by its cable."""

    def fun(x, y):
        load = 1 + 2 * np.exp(-(((x - 0.4) / 0.1) ** 2))
        return np.vstack((y[1], y[2], y[3], (load + tension * y[2]) / stiffness))

    bc = lambda a, b: np.array([a[0], a[2], b[0], b[2]])
    x = np.linspace(0, 1, 17)
    sol = solve_bvp(fun, bc, x, np.zeros((4, x.size)), tol=1e-7, max_nodes=4000)
    return sol.sol([0.25, 0.4, 0.5])[0] * 100, sol.sol(0.4)[2]


def concrete_column(strength, axial):
    """What moment a section bears at a given force: the neutral axis is a root of an integral."""
    h, b = 0.4, 0.3
    steel = np.array([0.05, 0.35])

    def stress(e):
        e = np.clip(e, 0.0, 0.0035)
        return strength * np.where(e < 0.002, 2 * e / 0.002 - (e / 0.002) ** 2, 1.0)

    bars = lambda e: np.clip(200e3 * e, -435.0, 435.0)
    strain = lambda y, c: 0.0035 * (c - y) / c

    def force(c):
        concrete = quad(lambda y: stress(strain(y, c)), 0, np.minimum(c, h), points=[3 * c / 7])[0]
        return b * concrete + np.sum(1e-3 * bars(strain(steel, c))) - axial

    c = brentq(force, 0.06, 0.39, xtol=1e-12)
    m = quad(lambda y: stress(strain(y, c)) * (h / 2 - y), 0, c, points=[3 * c / 7])[0]
    return c, b * m + np.sum(1e-3 * bars(strain(steel, c)) * (h / 2 - steel))


def pile(bending, soil):
    """A pile pushed at its head: five bands of differences, with a soil that stiffens with depth."""
    n, dx = 30, 0.4
    z = np.arange(n) * dx
    ab = np.zeros((5, n))
    ab[0], ab[4] = bending / dx**4, bending / dx**4
    ab[1], ab[3] = -4 * bending / dx**4, -4 * bending / dx**4
    ab[2] = 6 * bending / dx**4 + soil * (1 + z)
    ab[2, 0], ab[2, -1] = ab[2, 0] - 4 * bending / dx**4, ab[2, -1] + bending / dx**4
    load = np.zeros(n)
    load[0] = 50.0 / dx
    y = solve_banded((2, 2), ab, load)
    return 1e3 * y[:6], np.max(np.abs(np.gradient(np.gradient(y, dx), dx))) * bending


# Customers, goods and votes.


def new_product(p, q):
    """Bass' diffusion fitted to half of a record; its peak, and what is sold after it."""
    t = np.arange(1, 13.0)
    F = lambda t, p, q: -np.expm1(-(p + q) * t) / (1 + q / p * np.exp(-(p + q) * t))
    seen = 100 * F(t, p, q) + 0.2 * np.sin(2 * t)
    (m, p_, q_), cov = curve_fit(
        lambda t, m, p, q: m * F(t, p, q), t, seen, p0=(90, 0.03, 0.4), xtol=1e-13, ftol=1e-13,
        maxfev=5000,
    )  # fmt: skip
    peak = np.log(q_ / p_) / (p_ + q_)
    return peak, m * (1 - F(peak, p_, q_)), np.sqrt(cov[0, 0])


def lasting_customers(r, alpha):
    """Buyers that may have left, by Fader's model: likelihood, fit of two, and what is expected."""
    x, tx, T = np.array([2.0, 1, 0, 5, 3]), np.array([30.4, 1.7, 0, 29, 20]), np.full(5, 38.9)
    a, b = 0.8, 2.5

    def loglik(r, alpha):
        A1 = special.gammaln(r + x) - special.gammaln(r) + r * np.log(alpha)
        A2 = special.betaln(a, b + x) - special.betaln(a, b)
        A3 = -(r + x) * np.log(alpha + T)
        A4 = np.where(
            x > 0,
            np.log(a) - np.log(b + np.maximum(x, 1) - 1) - (r + x) * np.log(alpha + tx),
            -np.inf,
        )
        return np.sum(A1 + A2 + np.logaddexp(A3, A4))

    res = minimize(
        lambda v: -loglik(*np.exp(v)) + 0.5 * np.sum((v - np.log([r, alpha])) ** 2),
        np.zeros(2), method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-9},
    )  # fmt: skip
    t = 26.0
    later = (a + b - 1) / (a - 1) * (
        1 - (alpha / (alpha + t)) ** r * special.hyp2f1(r, b, a + b - 1, t / (alpha + t))
    )  # fmt: skip
    return loglik(r, alpha), np.exp(res.x), later


def media_mix(carry, half):
    """Sales from advertising that lingers and saturates: weights that are not negative."""
    t = np.arange(40)
    spend = np.stack([1 + np.cos(t / 3), (t % 8 == 0) * 4.0, 0.5 + 0.5 * np.sin(t / 5)])
    lingering = signal.lfilter([1.0], [1.0, -carry], spend, axis=1)
    X = (lingering**1.4 / (lingering**1.4 + half**1.4)).T
    sales = X @ np.array([2.0, 0.7, 0.0]) + 5 + 0.1 * np.cos(1.7 * t)
    res = lsq_linear(np.c_[X, np.ones(40)], sales, bounds=([0, 0, 0, -np.inf], np.inf), tol=1e-14)
    return res.x, res.cost


def reorder(demand, hold):
    """A lot and a level at which to order again, by a fixed point of two rules."""
    sigma, lead, fixed, short = 8.0, 0.25, 40.0, 6.0

    def step(q):
        z = norm.isf(q * hold / (short * demand))
        lost = sigma * (norm.pdf(z) - z * norm.sf(z))
        return np.sqrt(2 * demand * (fixed + short * lost) / hold)

    q = optimize.fixed_point(step, np.sqrt(2 * demand * fixed / hold), xtol=1e-13)
    z = norm.isf(q * hold / (short * demand))
    return q, demand * lead + z * sigma


def depots(weights, power):
    """Where a depot stands best, by Powell's search, and beside it Weiszfeld's iteration."""
    towns = np.array([[0.0, 0.0], [4.0, 0.5], [1.0, 3.0], [3.5, 2.8], [2.0, 1.2]])
    cost = lambda p: np.sum(weights * distance.cdist(p[None], towns)[0] ** power)
    res = minimize(cost, [1.0, 1.0], method="Powell", options={"xtol": 1e-9, "ftol": 1e-14})
    p = np.array([1.5, 1.0])
    for _ in range(25):
        w = weights / distance.cdist(p.reshape(1, -1), towns).ravel()
        p = w @ towns / w.sum()
    return res.x, res.fun, p


def bets(edge, spread):
    """Kelly's share of a purse for a coin and for a normal return that is cut."""
    coin = minimize_scalar(
        lambda f: -((0.5 + edge) * np.log1p(f) + (0.5 - edge) * np.log1p(-f)),
        bounds=(0, 0.9), method="bounded", options={"xatol": 1e-12},
    )  # fmt: skip
    x, w = np.polynomial.hermite_e.hermegauss(15)
    w = w / np.sqrt(2 * np.pi)
    growth = lambda f: w @ np.log1p(f * np.expm1(edge + spread * x))
    fprime = lambda f: w @ (np.expm1(edge + spread * x) / (1 + f * np.expm1(edge + spread * x)))
    f = brentq(fprime, 0.0, 0.99)
    return coin.x, f, growth(f)


def incomes(sigma, tail):
    """Gini, Theil and Atkinson of two laws, with a poverty line that moves with the median."""
    law = stats.lognorm(sigma)
    gini = 2 * norm.cdf(sigma / np.sqrt(2)) - 1
    share = lambda p: stats.norm.cdf(norm.ppf(p) - sigma)
    by_curve = 1 - 2 * quad(share, 0, 1)[0]
    poor = law.cdf(0.6 * law.median())
    top = stats.pareto(tail)
    mean_top = quad(lambda x: x * top.pdf(x), top.ppf(0.99), np.inf)[0] / top.mean()
    atkinson = 1 - np.exp(law.expect(np.log)) / law.mean()
    return gini, by_curve, poor, mean_top, atkinson


def trade(distance_, border):
    """Gravity between four countries by a Poisson regression, in a trust region."""
    d = np.array([[1, 2.0, 5, 7], [2, 1, 4, 6], [5, 4, 1, 3], [7, 6, 3, 1.0]])
    gdp = np.array([3.0, 1.0, 2.0, 0.5])
    y = np.outer(gdp, gdp) * d**-distance_ * np.exp(border * np.eye(4)) + 0.01
    X = np.stack(
        [np.ones(16), np.log(np.outer(gdp, gdp)).ravel(), np.log(d).ravel(), np.eye(4).ravel()], 1
    )
    y = y.ravel()

    nll = lambda b: np.sum(np.exp(X @ b)) - y @ X @ b
    jac = lambda b: X.T @ (np.exp(X @ b) - y)
    hess = lambda b: X.T @ (np.exp(X @ b)[:, None] * X)
    res = minimize(
        nll, np.zeros(4), jac=jac, hess=hess, method="trust-exact", options={"gtol": 1e-10}
    )
    return res.x, linalg.inv(hess(res.x))[2, 2]


def council(probabilities):
    """Whether a motion passes: votes that differ in chance, by a Fourier transform of their sum."""
    n = len(probabilities)
    w = np.exp(2j * np.pi * np.arange(n + 1) / (n + 1))
    phi = np.prod(1 - probabilities[:, None] + probabilities[:, None] * w, axis=0)
    pmf = fft.fft(phi).real / (n + 1)
    decisive = np.array([
        np.convolve(np.convolve([1 - probabilities[0], probabilities[0]], [1 - p, p]), [0.5, 0.5])[1]
        for p in probabilities[1:]
    ])  # fmt: skip
    return pmf, pmf[n // 2 + 1 :].sum(), decisive


def poll(shares, rho):
    """Three parties: seats by a Dirichlet draw with a seed, and both of two above a bar."""
    draw = stats.dirichlet(400 * shares).rvs(size=20, random_state=5)
    both = stats.multivariate_normal([0.1, 0.2], [[1.0, rho], [rho, 1.0]]).cdf([0.5, 0.3])
    return draw.mean(axis=0), np.var(draw[:, 0], ddof=1) * 1e4, both


@dataclass
class Clock:
    """A clock with white and with walking noise; what is asked often is kept."""

    white: float
    walk: float
    link: Callable = np.sqrt

    def __hash__(self):
        return id(self)

    @lru_cache(maxsize=8)  # noqa: B019  # as programs have it
    def phase(self, n):
        rng = np.random.default_rng(11)
        step = self.white * rng.normal(size=n) + self.walk * np.cumsum(rng.normal(size=n))
        return np.cumsum(step)

    def allan(self, m):
        x = self.phase(200)
        d = x[2 * m :] - 2 * x[m:-m] + x[: -2 * m]
        return self.link(np.mean(d**2) / (2 * m**2))


def clocks(white, walk):
    """Allan's deviation by averaging time, a slope of it, and the spectrum of its frequency."""
    clock = Clock(white, walk)
    m = np.array([1, 2, 4, 8, 16])
    adev = np.stack([clock.allan(int(k)) for k in m])
    f, p = signal.welch(np.diff(clock.phase(200)), nperseg=64, window="hann")
    return adev, stats.theilslopes(np.log(adev), np.log(m)).slope, np.log(p[1:4])


def households(kernel, noise):
    """Loads of a day as a process: a kernel with a period, its evidence, and a fit of one scale."""
    t = np.arange(0, 24, 2.0)
    y = np.sin(2 * np.pi * t / 24) + 0.3 * np.cos(2 * np.pi * t / 12)

    def evidence(scale, amp):
        K = amp * np.exp(
            -2
            * np.sin(np.pi * distance.squareform(distance.pdist(t[:, None])) / 24) ** 2
            / scale**2
        )
        L = linalg.cholesky(K + noise**2 * np.eye(12), lower=True)
        a = linalg.solve_triangular(L, y, lower=True)
        return 0.5 * a @ a + np.log(np.diag(L)).sum()

    best = optimize.minimize_scalar(partial(evidence, amp=kernel), bounds=(0.3, 6), method="bounded",
                                    options={"xatol": 1e-9})  # fmt: skip
    return evidence(1.0, kernel), best.x, best.fun


def evacuation(width, crowd):
    """Doors that jam: flows that depend on density, as a root of three balances by Levenberg."""

    def balance(r):
        v = 1.34 * (1 - np.exp(-1.913 * (1 / r - 1 / 5.4)))
        q = r * v * width * np.array([1.0, 0.8, 1.3])
        return [q[0] - crowd, q[1] - 0.6 * q[0], q[2] - q[1] - 0.5]

    sol = root(balance, [0.5, 0.4, 0.3], method="lm", options={"xtol": 1e-14, "ftol": 1e-14})
    return sol.x, sol.fun @ sol.fun, 300 / sol.x[0]


def smoke(growth, vent):
    """A layer of smoke in a hall, from a fire that grows until its fuel ends, in two equations."""

    def zones(t, y, alpha, vent):
        z, T = y
        q = alpha * np.minimum(t, 120.0) ** 2
        plume = 0.071 * q ** (1 / 3) * (3.5 - z) ** (5 / 3) + 1e-3
        return np.array([plume / 60 - vent * z, (q / 100 - plume * (T - 293) / 20) / 10])

    out = integrate.solve_ivp(
        zones, (1, 200), (0.01, 293.0), method="LSODA", args=(growth, vent), dense_output=True,
        rtol=1e-8, atol=1e-8,
    )  # fmt: skip
    return out.sol(60.0), out.sol(180.0)


def graph_of_firms(link, shock):
    """Defaults that spread over a network of debts: Eisenberg and Noe's clearing payments."""
    A = sparse.coo_array(
        ([2.0, 1.0, 1.5, 0.5, 1.0], ([0, 0, 1, 2, 3], [1, 2, 3, 3, 0])), (4, 4)
    ).tocsr()
    owed = A.sum(axis=1)
    share = (A.T * (link / owed)).tocsr()
    cash = np.array([1.0, 0.8, 0.3, 0.9]) - shock
    p = owed
    for _ in range(30):
        p = np.minimum(owed, np.maximum(share @ p + cash, 0.0))
    return p, sparse.linalg.spsolve(sparse.eye_array(4).tocsc() - 0.5 * share.tocsc(), cash)


SELDOM = [
    (transition_curve, (0.4, 80.0)),
    (timetable, (45.0, 500.0)),
    (signal_timing, (0.5, 12.0)),
    (traffic_wave, (13.0, 0.14)),
    (commuters, (90.0, 2.0)),
    (gaps, (0.15, 2.3)),
    (cruise, (6e5, 1.6e-4)),
    (takeoff, (14000.0, 28.0)),
    (righting, (3.9, 8.3)),
    (mooring, (1.6, 5e4)),
    (glider, (0.6, 0.0015, 2e-5)),
    (wind_park, (8.2, 2.1)),
    (panel, (35.0, 48.0)),
    (storage, (np.array([30.0, 22.0, 18.0, 41.0, 60.0, 52.0]), 0.9)),
    (heat_network, (np.array([0.3, 0.4, 0.2, 0.5]), 2.0)),
    (deck, (6.0, 0.4)),
    (concrete_column, (25.0, 1.1)),
    (pile, (4e4, 9e3)),
    (new_product, (0.02, 0.45)),
    (lasting_customers, (0.25, 4.4)),
    (media_mix, (0.5, 1.8)),
    (reorder, (400.0, 2.0)),
    (depots, (np.array([1.0, 2.0, 1.5, 1.2, 0.7]), 1.3)),
    (bets, (0.08, 0.7)),
    (incomes, (0.7, 2.4)),
    (trade, (0.9, 0.6)),
    (council, (np.array([0.6, 0.45, 0.7, 0.52, 0.35]),)),
    (clocks, (1.0, 0.05)),
    (households, (1.5, 0.2)),
    (evacuation, (1.4, 1.2)),
    (smoke, (0.012, 0.004)),
    (graph_of_firms, (0.9, 0.2)),
]

# Differences of draws by rejection don't converge.
UNDIFFERENCED = [
    (poll, (np.array([0.45, 0.35, 0.2]), 0.4)),
]
