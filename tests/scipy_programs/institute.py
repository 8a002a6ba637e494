"""An institute: molecules, quanta, nuclei, cells, vessels, air, earth and light."""
# ruff: noqa: E501, RUF059  # names and lines as they are often written

import math
from dataclasses import dataclass
from functools import reduce

import numpy as np
import scipy as scipy_
import scipy.constants as const
import scipy.special as sc
from numpy.linalg import norm
from scipy import fft, interpolate, linalg, ndimage, optimize, signal, stats
from scipy.integrate import dblquad, odeint, quad, solve_bvp, solve_ivp
from scipy.interpolate import RegularGridInterpolator
from scipy.linalg import eigh, eigvals, expm, null_space, solve_continuous_lyapunov
from scipy.optimize import (
    brentq,
    curve_fit,
    fsolve,
    least_squares,
    linprog,
    minimize,
    minimize_scalar,
    root_scalar,
)  # fmt: skip
from scipy.sparse.linalg import LinearOperator, gmres, lsqr
from scipy.spatial.transform import Rotation
from scipy.stats import chi2, poisson

# Molecules and matter.


def colloid(hamaker, screening):
    """Two spheres that attract and repel: the barrier between them, and how it slows them."""
    v = lambda h: -hamaker / (12 * h) + 8.0 * np.log1p(np.exp(-screening * h))
    top = minimize_scalar(lambda h: -v(h), bounds=(0.05, 3.0), method="bounded",
                          options={"xatol": 1e-11})  # fmt: skip
    ratio, _ = quad(lambda h: np.exp(v(h)) / (2 + h) ** 2, 0.02, np.inf, limit=200)
    return top.x, -top.fun, np.log(2 * ratio)


def demixing(chi, length):
    """Flory and Huggins: both phases of a polymer's solution by equal potentials."""
    mu1 = lambda p: np.log(1 - p) + (1 - 1 / length) * p + chi * p**2
    mu2 = lambda p: np.log(p) + (1 - length) * (1 - p) + chi * length * (1 - p) ** 2

    def equal(u):
        a, b = sc.expit(u)
        return mu1(a) - mu1(b), mu2(a) - mu2(b)

    u, info, ier, mesg = fsolve(equal, [-6.0, 0.2], full_output=True, xtol=1e-13)
    spinodal = np.roots([2 * chi * length, length - 1 - 2 * chi * length, 1.0])
    return sc.expit(u), np.sort(spinodal.real)


def double_layer(potential, kappa):
    """Poisson and Boltzmann between two plates, and Gouy and Chapman's far from one."""
    x = np.linspace(0, 1, 21)
    fun = lambda x, y: np.vstack([y[1], kappa**2 * np.sinh(y[0])])
    bc = lambda ya, yb: np.array([ya[0] - potential, yb[1]])
    sol = solve_bvp(fun, bc, x, np.zeros((2, 21)), tol=1e-8)
    g = np.tanh(potential / 4)
    return sol.sol(np.array([0.2, 1.0]))[0], 4 * np.arctanh(g * np.exp(-kappa)), sol.y[1, 0]


def relaxation(t1, t2):
    """A spin that was turned over, by Bloch's equations; its rate fitted as on a console."""

    def bloch(t, m, w):
        return [w * m[1] - m[0] / t2, -w * m[0] - m[1] / t2, (1 - m[2]) / t1]

    t = np.linspace(0.05, 3.0, 15)
    m = solve_ivp(bloch, (0, 3), [0.3, 0.0, -1.0], t_eval=t, args=(6.0,), rtol=1e-9, atol=1e-9).y
    popt, _ = curve_fit(lambda t, a, b, r: a - b * np.exp(-t * r), t, m[2], p0=(1, 2, 1), xtol=1e-13,
                        ftol=1e-13)  # fmt: skip
    return popt, np.hypot(m[0], m[1])[::5]


def couplings(kappa, mean):
    """Karplus' coupling over an angle that swings by von Mises, in closed form and by a sum."""
    a, b, c = 7.0, -1.4, 1.1
    i1, i2 = sc.ive([1, 2], kappa) / sc.i0e(kappa)
    closed = a * (1 + i2 * np.cos(2 * mean)) / 2 + b * i1 * np.cos(mean) + c
    law = stats.vonmises(kappa, loc=mean)
    th = np.linspace(mean - np.pi, mean + np.pi, 200, endpoint=False)
    summed = np.mean((a * np.cos(th) ** 2 + b * np.cos(th) + c) * law.pdf(th)) * 2 * np.pi
    return closed, summed, law.entropy()


def boys(x):
    x = np.maximum(x, 1e-12)
    return sc.gammainc(0.5, x) * math.sqrt(math.pi) / (2 * np.sqrt(x))


def hydrogen_molecule(distance, exponent):
    """Two electrons in two Gaussians by Hartree and Fock, with a loop until it is consistent."""
    R = np.array([0.0, distance])
    a = exponent
    r2 = (R[:, None] - R) ** 2
    S = np.exp(-a / 2 * r2)
    P = (R[:, None] + R) / 2
    T = a / 2 * (3 - a * r2) * S
    V = -sum(
        2 * np.pi / (2 * a) * (2 * a / np.pi) ** 1.5 * S * boys(2 * a * (P - c) ** 2) for c in R
    )
    pq = (P[:, :, None, None] - P) ** 2
    G = 2 * np.sqrt(a / np.pi) * S[:, :, None, None] * S * boys(a * pq)
    D = np.zeros((2, 2))
    for _ in range(12):
        F = T + V + np.einsum("kl,ijkl->ij", D, G) - 0.5 * np.einsum("kl,ikjl->ij", D, G)
        e, C = eigh(F, S)
        D = 2 * np.outer(C[:, 0], C[:, 0])
    return 0.5 * np.sum(D * (T + V + F)) + 1 / distance, e


def second_virial(epsilon, sigma):
    """The second virial coefficient of a gas, and the temperature where it is nothing."""

    def b2(t):
        mayer = lambda r: (
            np.expm1(-4 * epsilon / t * ((sigma / r) ** 12 - (sigma / r) ** 6)) * r * r
        )
        core, _ = quad(mayer, 1e-3, sigma)
        rest, _ = quad(mayer, sigma, np.inf)
        return -2 * np.pi * (core + rest)

    boyle = root_scalar(b2, bracket=[2.0 * epsilon, 6.0 * epsilon], method="toms748", xtol=1e-11)
    return b2(1.3), boyle.root


def rock_salt(split, spacing):
    """Madelung's constant by Ewald's two sums, for a cell of eight ions."""
    g = np.array(np.meshgrid(*[[0, 1]] * 3, indexing="ij")).reshape(3, -1).T
    q = (-1.0) ** g.sum(axis=1)
    pos, box = g * spacing, 2 * spacing
    n = np.array(np.meshgrid(*[np.arange(-2, 3)] * 3, indexing="ij")).reshape(3, -1).T
    d = norm(pos[:, None, None] - pos[None, :, None] + box * n, axis=-1)
    apart = d > 1e-9
    safe = np.where(apart, d, 1.0)
    real = 0.5 * np.sum(
        q[:, None, None] * q[:, None] * np.where(apart, sc.erfc(split * safe) / safe, 0)
    )
    k = 2 * np.pi * n[norm(n, axis=1) > 0] / box
    k2 = np.sum(k * k, axis=1)
    structure = np.abs(np.exp(1j * k @ pos.T) @ q) ** 2
    far = 2 * np.pi / box**3 * np.sum(np.exp(-k2 / (4 * split**2)) / k2 * structure)
    return (real + far - split / np.sqrt(np.pi) * np.sum(q**2)) / 4 * spacing


def ising_strip(coupling, field):
    """A strip of three spins by its transfer matrix: free energy, and how far it remembers."""
    s = np.array([[1 - 2 * (i >> k & 1) for k in range(3)] for i in range(8)])
    inside = coupling * np.sum(s * np.roll(s, 1, axis=1), axis=1) + field * s.sum(axis=1)
    M = np.exp(coupling * s @ s.T + 0.5 * (inside[:, None] + inside))
    w, v = linalg.eigh(M, subset_by_index=[5, 7])
    return np.log(w[-1]) / 3, 1 / np.log(w[-1] / w[-2]), v[:, -1] ** 2 @ s.sum(axis=1) / 3


# Quanta and particles.


def driven_qubit(rabi, decay):
    """A qubit with losses: its steady state from a null space, and its way there."""
    sx, sz = np.array([[0, 1], [1, 0.0]]), np.diag([1.0, -1.0])
    low = np.array([[0, 1], [0, 0.0]])
    H = 0.5 * rabi * sx + 0.2 * sz
    I = np.eye(2)
    comm = -1j * (np.kron(I, H) - np.kron(H.T, I))
    n = low.T @ low
    diss = np.kron(low, low) - 0.5 * np.kron(I, n) - 0.5 * np.kron(n.T, I)
    L = comm + decay * diss
    rho = null_space(L, rcond=1e-10)[:, 0].reshape(2, 2, order="F")
    rho = rho / np.trace(rho)
    later = (expm(1.5 * L) @ np.array([1, 0, 0, 0])).reshape(2, 2, order="F")
    return rho.real, later[0, 0].real, np.sort(eigvals(L).real)[:2]


def pulse(detuning, strength):
    """Pulses that turn a spin over, found by a search; what they reach off resonance."""
    sx, sy, sz = np.array([[0, 1], [1, 0]]), np.array([[0, -1j], [1j, 0]]), np.diag([1.0, -1.0])

    def fidelity(u, d):
        steps = [expm(-0.25j * (strength * (a * sx + b * sy) + d * sz)) for a, b in u.reshape(3, 2)]
        U = reduce(lambda x, y: y @ x, steps)
        return np.abs(U[1, 0]) ** 2

    start = np.array([1.0, 0.1, 1.2, -0.2, 0.9, 0.1])
    cost = lambda u: -fidelity(u, 0.0) - fidelity(u, detuning) + 0.05 * u @ u
    res = minimize(cost, start, method="BFGS", options={"gtol": 1e-9, "maxiter": 100})
    return res.fun, fidelity(start, detuning)


def oscillating_neutrinos(theta, density):
    """Three flavours through matter: Hermitian matrices, their phases, what arrives."""
    th13, th23, delta = 0.15, 0.8, 1.2
    c, s = np.cos(theta), np.sin(theta)
    r12 = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1.0]])
    e = np.sin(th13) * np.exp(-1j * delta)
    r13 = np.array([[np.cos(th13), 0, e], [0, 1, 0], [-np.conj(e), 0, np.cos(th13)]])
    r23 = np.array([[1, 0, 0], [0, np.cos(th23), np.sin(th23)], [0, -np.sin(th23), np.cos(th23)]])
    U = r23 @ r13 @ r12
    H = U @ np.diag([0, 7.5e-2, 2.5]) @ U.conj().T / 2.0 + density * np.diag([1.0, 0, 0])
    w, V = np.linalg.eigh(H)
    amplitude = V @ np.diag(np.exp(-1j * w * 3.1)) @ V.conj().T
    return np.abs(amplitude[:, 1]) ** 2, w[1] - w[0]


def strong_coupling(alpha, mass):
    """A coupling that runs, with a threshold at a mass; where it is a half."""

    def run(t, a):
        flavours = np.where(t > 2 * np.log(mass), 5.0, 4.0)
        b0 = (33 - 2 * flavours) / (12 * np.pi)
        b1 = (153 - 19 * flavours) / (24 * np.pi**2)
        return -b0 * a**2 - b1 * a**3

    sol = solve_ivp(run, (2 * np.log(91.2), 2 * np.log(1.5)), [alpha], rtol=1e-9, atol=1e-11,
                    dense_output=True)  # fmt: skip
    t = brentq(lambda t: sol.sol(t)[0] - 0.25, 2 * np.log(1.5), 2 * np.log(10), xtol=1e-11)
    return sol.sol(2 * np.log(10.0)), np.exp(t / 2)


def upper_limit(background, efficiency):
    """Limits on a signal from few events: by CLs, by a profile of the likelihood, by chi-squared."""
    n = 4

    def cls(s):
        return poisson.cdf(n, efficiency * s + background) / poisson.cdf(n, background) - 0.05

    nll = lambda s: efficiency * s + background - n * np.log(efficiency * s + background)
    best = minimize_scalar(nll, bounds=(0.0, 20), method="bounded", options={"xatol": 1e-11})
    up = brentq(lambda s: 2 * (nll(s) - best.fun) - chi2.ppf(0.9, 1), best.x, 60)
    exact = 0.5 * chi2.isf(0.05, 2 * (n + 1)) - background
    return brentq(cls, 0.1, 60, xtol=1e-12), up, exact / efficiency


def stopped_proton(energy, ionisation):
    """The range of a proton by Bethe's loss, and the energy for a given depth."""

    def loss(e):
        g = 1 + e / 938.27
        b2 = 1 - 1 / g**2
        return 0.17 / b2 * (np.log(1.022e6 * b2 * g**2 / ionisation) - b2)

    reach = lambda e: quad(lambda x: 1 / loss(x), 1.0, e)[0]
    need = brentq(lambda e: reach(e) - 10.0, 20, 300, xtol=1e-10)
    depth = np.linspace(0, 0.9, 4) * reach(energy)
    left = odeint(lambda e, z: -loss(e), energy, depth, rtol=1e-10, atol=1e-10)[:, 0]
    return reach(energy), need, left


def shield(mu, spread):
    """What a wall lets through from all sides, and how thick it is for a hundredth."""
    x = np.array([0.5, 1.0, 3.0])
    through = sc.expn(2, mu * x) + spread * mu * x * sc.exp1(mu * x)
    thick = brentq(lambda d: sc.expn(2, mu * d) - 0.01, 0.01, 60, xtol=1e-13)
    return through, thick, sc.expi(-mu) + sc.expn(3, mu)


def percolation(mean, tail):
    """The giant part of a network by generating functions: a root, and sums over degrees."""
    k = np.arange(1, 60)
    p = k**-tail * np.exp(-k / mean)
    p = p / p.sum()
    g0 = lambda u: p @ u**k
    g1 = lambda u: (p * k) @ u ** (k - 1) / (p @ k)
    t = 0.7
    u = brentq(lambda u: 1 - t + t * g1(u) - u, 0.0, 0.999)
    return 1 - g0(u), (p @ k) / (p @ (k * (k - 1.0)))


# Cells and vessels.


def pulsatile(radius, stiffness):
    """Womersley's flow in an artery: complex Bessel functions, profile and rate by harmonics."""
    rho, mu = 1.05, 0.04
    n = np.array([1.0, 2.0, 3.0])
    drive = np.array([1.0 + 0.2j, 0.5 - 0.1j, 0.2j])
    alpha = radius * np.sqrt(n * 2 * np.pi * rho / mu)
    z = 1j**1.5 * alpha
    F = 1 - 2 * sc.jv(1, z) / (z * sc.jv(0, z))
    flow = drive * np.pi * radius**2 / (1j * n * 2 * np.pi * rho) * F
    r = np.array([0.0, 0.5, 0.9])
    profile = (
        drive[:, None] / (1j * n[:, None]) * (1 - sc.jv(0, z[:, None] * r) / sc.jv(0, z)[:, None])
    ).sum(0)
    return np.abs(flow), profile.real, np.angle(flow[0]) + np.sqrt(stiffness / rho)


def windkessel(resistance, compliance):
    """Pressure in an aorta with an inflow from a table, and its decay fitted again."""
    t = np.linspace(0, 0.8, 33)
    table = np.where(t < 0.3, 400 * np.sin(np.pi * t / 0.3), 0.0)

    def dp(p, s, R, C):
        return (np.interp(s, t, table) - p / R) / C

    p = odeint(dp, 80.0, t, args=(resistance, compliance), hmax=0.02, rtol=1e-8, atol=1e-8)[:, 0]
    late = t > 0.4
    res = least_squares(lambda v: v[0] * np.exp(-(t[late] - 0.4) / v[1]) - p[late], [90.0, 1.0],
                        x_scale="jac", xtol=1e-14, ftol=1e-14, gtol=1e-14)  # fmt: skip
    return p.max(), res.x


def flux_balance(uptake, yield_):
    """A small metabolism that grows as fast as it can: a linear program, with shadow prices."""
    S = np.array(
        [[1, -1, -1, 0, 0], [0, 2.0, 0, -1, 0], [0, 0, 1, 0, -1.0], [0, 0, 0, yield_, -0.5]]
    )
    S[3, 4] = -1.0
    res = linprog([0, 0, 0, -1.0, -0.4], A_eq=S[:3], b_eq=np.zeros(3), A_ub=S[3:], b_ub=[2.0],
                  bounds=[(0, uptake)] + [(0, None)] * 4)  # fmt: skip
    return res.x, res.fun, res.eqlin.marginals


def toggle_switch(rate, steep):
    """Two genes that repress each other: its states, and their noise by Lyapunov's equation."""
    f = lambda y: np.array([rate / (1 + y[1] ** steep) - y[0], rate / (1 + y[0] ** steep) - y[1]])
    y = optimize.root(f, [rate, 0.1], tol=1e-13).x
    J = np.array([
        [-1.0, -rate * steep * y[1] ** (steep - 1) / (1 + y[1] ** steep) ** 2],
        [-rate * steep * y[0] ** (steep - 1) / (1 + y[0] ** steep) ** 2, -1.0],
    ])  # fmt: skip
    C = solve_continuous_lyapunov(J, -np.diag(2 * y))
    return y, C / np.sqrt(np.outer(np.diag(C), np.diag(C)))


def morphogen(diffusion, decay):
    """A gradient in an embryo with a decay that saturates; where a gene is switched."""
    x = np.linspace(0, 1, 15)
    fun = lambda x, y: np.array([y[1], decay * y[0] / (1 + y[0]) / diffusion])
    bc = lambda a, b: np.array([a[1] * diffusion + 0.5, b[1]])
    sol = solve_bvp(fun, bc, x, np.array([np.exp(-3 * x), -3 * np.exp(-3 * x)]), tol=1e-8)
    assert sol.success, sol.message
    c = interpolate.CubicHermiteSpline(sol.x, sol.y[0], sol.y[1])
    return brentq(lambda s: c(s) - 0.4, 0.0, 1.0, xtol=1e-13), c(0.5), c.integrate(0, 1)


def stripes(d, b):
    """Turing's waves: the wave number that grows fastest, by eigenvalues of each."""
    J = np.array([[b - 1, 0.81], [-b, -0.81]])
    grow = lambda k2: np.max(np.linalg.eigvals(J - k2 * np.diag([1.0, d])).real)
    fast = minimize_scalar(lambda k2: -grow(k2), bounds=(0.01, 1.5), method="bounded",
                           options={"xatol": 1e-11})  # fmt: skip
    return fast.x, -fast.fun, np.array([grow(k) for k in (0.05, 0.3, 0.9)])


def growth_chart(skew, spread):
    """Centiles of children's height by Cole's method, and a child's score with Box and Cox."""
    age = np.array([2.0, 5, 9, 13, 18])
    M = interpolate.Akima1DInterpolator(age, [86.0, 109, 133, 156, 176])
    z = stats.norm.ppf([0.03, 0.5, 0.97])
    m = M(11.0)
    centiles = m * (1 + skew * spread * z) ** (1 / skew)
    score = sc.boxcox(150.0 / m, skew) / spread
    sample = m * (1 + skew * spread * np.linspace(-1.5, 1.7, 15)) ** (1 / skew)
    return centiles, score, stats.boxcox_llf(0.4, sample)


# Air, earth and light.


def smokestack(wind, emission):
    """A plume with a wind's spread: where the ground has most of it, and what a town breathes."""
    sy = lambda x: 0.08 * x / np.sqrt(1 + 1e-4 * x)
    sz = lambda x: 0.06 * x / np.sqrt(1 + 1.5e-3 * x)
    h = 40 + 60.0 / wind
    c = lambda x, y: (
        emission / (np.pi * wind * sy(x) * sz(x)) * np.exp(-(y**2) / (2 * sy(x) ** 2) - h**2 / (2 * sz(x) ** 2))
    )  # fmt: skip
    worst = minimize_scalar(lambda u: -np.log(c(np.exp(u), 0.0)), bracket=(6.0, 8.0), tol=1e-12)
    town, _ = dblquad(lambda y, x: c(x, y), 1500, 2500, -200, 300, epsabs=1e-9)
    return np.exp(worst.x), np.exp(-worst.fun), town


def river_oxygen(load, aeration):
    """Streeter and Phelps: where a river has least oxygen, and until where it is too little."""
    kd = 0.35
    deficit = lambda t: (
        kd * load / (aeration - kd) * (np.exp(-kd * t) - np.exp(-aeration * t))
        + 1.2 * np.exp(-aeration * t)
    )
    worst = optimize.fminbound(lambda t: -deficit(t), 0.1, 10, xtol=1e-10)
    again = brentq(lambda t: deficit(t) - 2.0, worst, 30)
    return worst, deficit(worst), again


def magma_chamber(depth, volume):
    """Mogi's source found from how the ground rose, with a soft loss."""
    r = np.array([0.5, 1.0, 2.0, 3.5, 5.0, 7.0])
    rise = lambda d, v, r: 0.75 / np.pi * v * d / (d * d + r * r) ** 1.5
    seen = rise(depth, volume, r) + 1e-3 * np.array([1, -1, 2, 0.5, -2, 1])
    res = least_squares(lambda p: (rise(*p, r) - seen) / 1e-3, [2.0, 1.0], loss="soft_l1", f_scale=0.8,
                        method="trf", xtol=1e-14, ftol=1e-14, gtol=1e-14)  # fmt: skip
    return res.x, res.cost


def drifting_plates(rate, azimuth):
    """A rotation of plates found again from places before and after, and a pole from two."""
    places = np.array([[1.0, 0.2, 0.1], [0.3, 0.9, 0.2], [0.5, 0.4, 0.8], [0.1, -0.7, 0.7]])
    places = places / norm(places, axis=1, keepdims=True)
    pole = np.array([np.cos(azimuth), np.sin(azimuth), 1.0])
    moved = Rotation.from_rotvec(rate * pole / norm(pole)).apply(places)
    moved = moved + 0.002 * np.sin(np.arange(12.0)).reshape(4, 3)
    R, rssd = Rotation.align_vectors(moved, places, weights=[1.0, 2.0, 1.0, 0.5])
    half = R**0.5
    return R.as_rotvec(), rssd, half.apply([0.0, 0.0, 1.0]), R.magnitude()


def old_field(kappa, tilt):
    """Directions in old lava: Fisher's density, his cone, and a test of two sites."""
    mu = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    d = np.array([[0.1, 0.2, 0.97], [0.3, -0.1, 0.95], [0.25, 0.1, 0.96], [0.0, 0.05, 1.0]])
    d = d / np.linalg.norm(d, axis=1)[:, None]
    ll = stats.vonmises_fisher(mu, kappa).logpdf(d).sum()
    by_hand = np.sum(
        kappa * d @ mu + np.log(kappa / (2 * np.pi)) - np.log(-np.expm1(-2 * kappa)) - kappa
    )
    R = norm(d.sum(axis=0) + 0.01 * mu)
    cone = np.arccos(1 - (4 - R) / R * (20 ** (1 / 3) - 1))
    return ll, by_hand, np.degrees(cone), kappa / np.tanh(kappa) - 1


def transit(ratio, limb):
    """A planet before its star: light that is covered, integrated over rings."""

    def covered(d):
        def ring(r):
            c = (r**2 + d**2 - ratio**2) / (2 * r * d)
            return 2 * np.arccos(np.clip(c, -1, 1)) * r * (1 - limb * (1 - np.sqrt(1 - r**2)))

        lo, hi = np.maximum(d - ratio, 1e-9), np.minimum(d + ratio, 1.0)
        return quad(ring, lo, hi, limit=100)[0] / (np.pi * (1 - limb / 3))

    t = np.array([0.3, 0.7])
    return np.array([covered(d) for d in t])


def einstein_lens(mass, offset):
    """A galaxy as a lens with a point in it: its images by roots, and how bright they are."""
    core = 0.1
    alpha = lambda x: mass * x / (x * x + core) + 0.05 / x
    f = lambda x: x - alpha(x) - offset
    images = [brentq(f, lo, hi, xtol=1e-13) for lo, hi in ((0.3, 4.0), (-4.0, -0.25))]
    x = np.array(images)
    da = mass * (core - x * x) / (x * x + core) ** 2 - 0.05 / x**2
    return x, 1 / np.abs((1 - alpha(x) / x) * (1 - da))


def inspiral(chirp, time):
    """Two stars that fall together: a wave in noise, and how well a template finds it."""
    n = 256
    t = np.arange(n) / n
    tau = np.maximum(time - t, 0.02)
    h = tau**-0.25 * np.cos(-2 * (tau / chirp) ** 0.625 * 12)
    h = h * signal.windows.tukey(n, 0.2)
    rng = np.random.RandomState(2)
    noise = signal.lfilter([1.0], [1.0, -0.6], rng.standard_normal(n))
    f, psd = signal.welch(noise, fs=n, nperseg=64)
    s = np.interp(fft.rfftfreq(n, 1 / n), f, psd)
    H, D = fft.rfft(h), fft.rfft(noise + 0.5 * h)
    snr = fft.irfft(D * H.conj() / s, n)
    return np.max(snr) / np.sqrt(np.sum(np.abs(H) ** 2 / s)), snr[:3]


def doublet(dispersion, gap):
    """A glass by Sellmeier, fitted, and the two lenses that bring two colours together."""
    lam = np.linspace(0.4, 0.8, 9)
    n2 = lambda l, b, c: 1 + b * l**2 / (l**2 - c)
    crown = np.sqrt(n2(lam, 1.27, dispersion))
    (b, c), _ = curve_fit(lambda l, b, c: np.sqrt(n2(l, b, c)), lam, crown + 1e-5 * np.cos(20 * lam),
                          p0=(1.2, 0.01), xtol=1e-14, ftol=1e-14)  # fmt: skip
    n = lambda l: np.sqrt(n2(l, b, c))
    flint = lambda l: 1.6 + 0.01 / l**2
    M = np.array(
        [[n(0.486) - n(0.656), flint(0.486) - flint(0.656)], [n(0.588) - 1, flint(0.588) - 1]]
    )
    k = linalg.solve(M, [0.0, 1.0])
    f = 1 / (k[0] + k[1] - gap * k[0] * k[1])
    return b, k, f


@dataclass
class Receiver:
    """Where a receiver is, from ranges to satellites, by Gauss and Newton as in its firmware."""

    sats: np.ndarray
    steps: int = 6

    def fix(self, ranges):
        state = np.zeros(4)
        for _ in range(self.steps):
            d = self.sats - state[:3]
            r = np.sqrt(np.sum(d**2, axis=1))
            J = np.column_stack([-d / r[:, None], np.ones(len(r))])
            state = state + scipy_.linalg.lstsq(J, ranges - r - state[3])[0]
        return state, np.sqrt(np.trace(np.linalg.inv(J.T @ J)))


def satellites(errors, delay):
    sats = np.array([[15.0, 5, 20], [-12, 8, 18], [3, -16, 19], [-5, -9, 22], [10, 14, 15]])
    at = np.array([1.0, 2.0, 3.0])
    ranges = norm(sats - at, axis=1) + delay * np.array([1.0, 1.2, 0.9, 1.0, 1.1]) + errors
    (state, dop) = Receiver(sats).fix(ranges)
    check = least_squares(lambda s: norm(sats - s[:3], axis=1) + s[3] - ranges, np.zeros(4),
                          method="lm", xtol=1e-14, ftol=1e-14)  # fmt: skip
    return state, dop, check.x[3]


def meridian(flattening, distance):
    """The latitude at a distance from the equator on an ellipsoid, and the area south of it."""
    a = 6.378
    e2 = flattening * (2 - flattening)
    arc = lambda beta: a * (sc.ellipeinc(np.pi / 2, e2) - sc.ellipeinc(np.pi / 2 - beta, e2))
    beta = brentq(lambda b: arc(b) - distance, 0, np.pi / 2, xtol=1e-14)
    lat = np.arctan(np.tan(beta) / (1 - flattening))
    zone, _ = quad(lambda p: np.cos(p) * (1 - e2) / (1 - e2 * np.sin(p) ** 2) ** 2, 0, lat)
    return np.degrees(lat), zone, sc.elliprg(0.0, 1 - e2, 1.0)


def radar(snr, clutter):
    """Detection of what fades and of what does not: Marcum's function by a chi-squared law."""
    false = 1e-4
    level = stats.chi2.isf(false, 2)
    steady = stats.ncx2.sf(level, 2, 2 * snr)
    swerling = false ** (1 / (1 + snr))
    cfar = stats.f.isf(false, 2, 16) * clutter
    need = brentq(lambda s: stats.ncx2.sf(level, 2, 2 * s) - 0.9, 1.0, 40)
    return steady, swerling, stats.f(2, 16, scale=1 + snr).sf(cfar), need


def tomogram(slowness, damping):
    """Rays through a block of cells with a solver that only multiplies, and one that is damped."""
    nodes = np.linspace(0, 1, 5)
    grid = RegularGridInterpolator((nodes, nodes), slowness.reshape(5, 5), method="linear")
    s = np.linspace(0, 1, 21)
    ends = [(0.1, 0.9), (0.5, 0.5), (0.9, 0.3), (0.2, 0.2)]
    times = np.array([grid(np.stack([s, a + (b - a) * s], 1)).mean() for a, b in ends])
    G = np.stack([np.histogram(a + (b - a) * s, bins=3, range=(0, 1))[0] / 21 for a, b in ends])
    x = lsqr(G, times, damp=damping, atol=1e-13, btol=1e-13)[0]
    A = LinearOperator((3, 3), matvec=lambda v: G.T @ (G @ v) + damping**2 * v)
    y, info = gmres(A, G.T @ times, rtol=1e-12)
    return x, y, ndimage.gaussian_filter1d(times, 0.8)


def paschen(gas, secondary):
    """The voltage at which a gap breaks down, least over its width; and by heat of a filament."""
    A, B = 15.0 * gas, 365.0
    v = lambda pd: B * pd / (np.log(A * pd) - np.log(np.log1p(1 / secondary)))
    res = minimize(lambda u: v(np.exp(u[0])), x0=[0.0], method="SLSQP", bounds=[(-1.0, 3.0)],
                   options={"ftol": 1e-14})  # fmt: skip
    T = np.array([1800.0, 2200.0])
    richardson = 1.2e6 * T**2 * np.exp(-4.5 * gas * const.e / (const.k * T))
    return np.exp(res.x), res.fun, np.log(richardson)


SELDOM = [
    (colloid, (0.9, 1.3)),
    (demixing, (0.8, 20.0)),
    (double_layer, (2.5, 2.0)),
    (relaxation, (1.1, 0.6)),
    (couplings, (3.0, 1.1)),
    (hydrogen_molecule, (1.4, 0.42)),
    (second_virial, (1.1, 1.05)),
    (rock_salt, (0.9, 1.0)),
    (ising_strip, (0.35, 0.12)),
    (driven_qubit, (1.2, 0.4)),
    (pulse, (0.4, 1.3)),
    (oscillating_neutrinos, (0.58, 0.3)),
    (strong_coupling, (0.118, 4.2)),
    (upper_limit, (1.6, 0.7)),
    (stopped_proton, (150.0, 75.0)),
    (shield, (0.8, 0.6)),
    (percolation, (9.0, 1.6)),
    (pulsatile, (0.4, 90.0)),
    (windkessel, (1.1, 1.4)),
    (flux_balance, (10.0, 0.7)),
    (toggle_switch, (3.0, 2.2)),
    (morphogen, (0.08, 1.3)),
    (stripes, (18.0, 1.6)),
    (growth_chart, (0.7, 0.05)),
    (smokestack, (4.0, 100.0)),
    (river_oxygen, (14.0, 0.7)),
    (magma_chamber, (2.8, 1.4)),
    (drifting_plates, (0.3, 0.6)),
    (old_field, (40.0, 0.2)),
    (transit, (0.11, 0.5)),
    (einstein_lens, (0.9, 0.2)),
    (inspiral, (1.3, 1.1)),
    (doublet, (0.0105, 0.02)),
    (satellites, (np.array([0.01, -0.02, 0.015, 0.0, -0.01]), 0.3)),
    (meridian, (0.00335, 5.2)),
    (radar, (9.0, 1.4)),
    (tomogram, (1 + 0.1 * np.cos(np.arange(25.0)), 0.1)),
    (paschen, (1.0, 0.02)),
]
