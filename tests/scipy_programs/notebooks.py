"""Notebooks of a course and of its exercises: one question each, answered with SciPy."""
# ruff: noqa: RUF059  # names and branches as they are often written

import numpy as np
import scipy.linalg as la
import scipy.special as sc
import scipy.stats as st
from scipy import integrate, optimize
from scipy.integrate import quad, solve_ivp
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq, fsolve, minimize, minimize_scalar, root_scalar

# Estimation.


def adaptive_kalman(q, r):
    """A local linear trend by Joseph's form, gated by a chi-square test, and its likelihood."""
    y = np.array([1.1, 1.7, 2.2, 3.1, 3.4, 4.4, 4.7])
    F, H = np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([[1.0, 0.0]])
    Q = q * np.array([[1 / 3, 1 / 2], [1 / 2, 1.0]])
    R = np.array([[r]])
    x, P = np.zeros(2), np.diag([10.0, 10.0])
    gate = st.chi2.ppf(0.999, df=1)
    ll = 0.0
    for z in y:
        x = F @ x
        P = F @ P @ F.T + Q
        S = H @ P @ H.T + R
        nu = z - H @ x
        d2 = float((nu @ np.linalg.inv(S) @ nu).item())
        if d2 > gate:
            continue
        K = P @ H.T @ la.inv(S)
        x = x + K @ nu
        I_KH = np.eye(2) - K @ H
        P = I_KH @ P @ I_KH.T + K @ R @ K.T
        ll += st.multivariate_normal.logpdf(nu, mean=np.zeros(1), cov=S)
    return ll, x, np.trace(P)


class GPRegressor:
    """A Gaussian process as many packages have it: jitter is added until the factor exists."""

    def __init__(self, length_scale, amplitude, noise):
        self.length_scale, self.amplitude, self.noise = length_scale, amplitude, noise

    def kernel(self, A, B):
        d2 = ((A[:, None] - B[None, :]) / self.length_scale) ** 2
        return self.amplitude**2 * (1 + d2 / (2 * 1.5)) ** -1.5

    def fit(self, X, y):
        K = self.kernel(X, X) + self.noise**2 * np.eye(len(X))
        jitter = 1e-10
        for _ in range(6):
            try:
                self.L = np.linalg.cholesky(K + jitter * np.eye(len(X)))
                break
            except np.linalg.LinAlgError:
                jitter *= 10
        else:
            raise np.linalg.LinAlgError("the kernel is not positive definite")
        self.alpha = la.cho_solve((self.L, True), y)
        self.X, self.y = X, y
        return self

    def log_marginal_likelihood(self):
        return (
            -0.5 * self.y @ self.alpha
            - np.log(np.diag(self.L)).sum()
            - 0.5 * len(self.y) * np.log(2 * np.pi)
        )

    def predict(self, Xs):
        Ks = self.kernel(Xs, self.X)
        v = la.solve_triangular(self.L, Ks.T, lower=True)
        return Ks @ self.alpha, self.amplitude**2 - np.sum(v**2, axis=0)


def rational_quadratic(length_scale, amplitude, noise):
    X = np.linspace(0, 5, 8)
    gp = GPRegressor(length_scale, amplitude, noise).fit(X, np.sin(X))
    mean, var = gp.predict(np.array([0.7, 2.2, 4.9]))
    return gp.log_marginal_likelihood(), mean, np.sqrt(var)


def kaplan_meets_weibull(shape, scale):
    """Survival with right censoring: likelihood, median, mean residual life, a log-rank score."""
    t = np.array([2.0, 3.5, 4.1, 5.0, 7.2, 8.8, 9.0, 12.0])
    event = np.array([1, 1, 0, 1, 1, 0, 1, 0], bool)
    dist = st.weibull_min(shape, scale=scale)
    ll = dist.logpdf(t[event]).sum() + dist.logsf(t[~event]).sum()
    mrl = quad(dist.sf, 5.0, np.inf)[0] / dist.sf(5.0)
    cumulative = -dist.logsf(t)
    martingale = event - cumulative
    return ll, dist.median(), mrl, martingale


def posterior_by_grid(heads, tails, a, b):
    """Bayes' rule on a grid, its mean, its shortest interval by brentq, and the predictive."""
    theta = np.linspace(0.0005, 0.9995, 400)
    log_post = st.beta.logpdf(theta, a, b) + heads * np.log(theta) + tails * np.log1p(-theta)
    post = np.exp(log_post - log_post.max())
    post /= integrate.trapezoid(post, theta)
    mean = integrate.trapezoid(theta * post, theta)
    exact = st.beta(a + heads, b + tails)
    lower = brentq(lambda x: exact.cdf(x) - 0.025, 0, 1)
    return (
        mean,
        lower,
        exact.interval(0.5)[1],
        sc.betaln(a + heads + 1, b + tails) - sc.betaln(a + heads, b + tails),
    )


def bayesian_linear_evidence(alpha, beta):
    """Bishop's evidence function of a polynomial, and its effective number of parameters."""
    x = np.linspace(-1, 1, 9)
    t = np.array([-0.8, -0.5, -0.1, 0.2, 0.1, 0.5, 0.4, 0.9, 1.3])
    Phi = np.vander(x, 4, increasing=True)
    A = alpha * np.eye(4) + beta * Phi.T @ Phi
    m = beta * la.solve(A, Phi.T @ t, assume_a="pos")
    E = beta / 2 * np.sum((t - Phi @ m) ** 2) + alpha / 2 * m @ m
    sign, logdet = np.linalg.slogdet(A)
    ev = 2 * np.log(alpha) + 4.5 * np.log(beta) - E - 0.5 * logdet - 4.5 * np.log(2 * np.pi)
    lam = la.eigvalsh(beta * Phi.T @ Phi)
    return ev, np.sum(lam / (lam + alpha)), m


def four_fits(scale, spread):
    """Maximum likelihood by scipy's `fit`, and Akaike's weights of the laws."""
    x = scale * np.array([0.4, 0.9, 1.3, 1.9, 2.2, 3.1, 4.4]) ** spread
    aic = []
    for law in (st.gamma, st.lognorm, st.weibull_min):
        params = law.fit(x, floc=0)
        aic.append(2 * 2 - 2 * law.logpdf(x, *params).sum())
    loc, s = st.norm.fit(np.log(x))
    aic = np.array(aic)
    w = np.exp(-0.5 * (aic - aic.min()))
    return w / w.sum(), loc, s


def probit_by_bfgs(shift, weight):
    """A probit regression, standard errors from the expected information."""
    X = np.column_stack([np.ones(8), np.array([-1.2, -0.7, -0.3, 0.1, 0.4, 0.9, 1.4, 1.8]) + shift])
    y = np.array([0, 0, 1, 0, 1, 0, 1, 1])
    w = np.ones(8)
    w[3] = weight

    def nll(b):
        q = 2 * y - 1
        return -np.sum(w * st.norm.logcdf(q * (X @ b)))

    res = minimize(nll, np.zeros(2), method="BFGS", options={"gtol": 1e-9})
    eta = X @ res.x
    h = st.norm.pdf(eta) ** 2 / (st.norm.cdf(eta) * st.norm.sf(eta))
    info = X.T @ (X * (w * h)[:, None])
    return res.x, np.sqrt(np.diag(la.inv(info))), res.fun


def negative_binomial_regression(b0, b1, alpha):
    """NB2 as statsmodels writes it: likelihood, a Pearson statistic and its p-value."""
    x = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 2.5])
    y = np.array([1, 0, 3, 2, 6, 9])
    mu = np.exp(b0 + b1 * x)
    size = 1 / alpha
    prob = size / (size + mu)
    ll = (
        sc.gammaln(size + y)
        - sc.gammaln(y + 1)
        - sc.gammaln(size)
        + size * np.log(prob)
        + y * np.log(1 - prob)
    )
    pearson = np.sum((y - mu) ** 2 / (mu + alpha * mu**2))
    return ll.sum(), pearson, st.chi2.sf(pearson, 3), st.nbinom.pmf(y, size, prob)


# Control and dynamics.


def inverted_pendulum(mass, friction):
    """LQR by a Riccati equation, closed poles, and the cost of a simulated fall."""
    A = np.array([[0.0, 1.0], [9.81, -friction / mass]])
    B = np.array([[0.0], [1.0 / mass]])
    Q, R = np.diag([10.0, 1.0]), np.array([[0.1]])
    P = la.solve_continuous_are(A, B, Q, R)
    K = np.linalg.solve(R, B.T @ P)
    closed = A - B @ K
    sol = solve_ivp(
        lambda t, x: closed @ x, (0, 4), [0.1, 0.0], t_eval=np.linspace(0, 4, 21), rtol=1e-8
    )
    u = -(K @ sol.y)[0]
    cost = integrate.simpson(10 * sol.y[0] ** 2 + sol.y[1] ** 2 + 0.1 * u**2, x=sol.t)
    return K.ravel(), np.sort(la.eigvals(closed).real), cost


def deadbeat(period, gain):
    """A sampled double integrator: expm of a block, controllability, poles after feedback."""
    A = np.array([[0.0, 1.0], [0.0, 0.0]])
    B = np.array([[0.0], [gain]])
    M = la.expm(period * np.block([[A, B], [np.zeros((1, 3))]]))
    Ad, Bd = M[:2, :2], M[:2, 2:]
    C = np.hstack([Bd, Ad @ Bd])
    if np.linalg.matrix_rank(C) < 2:
        raise ValueError("not controllable")
    K = np.array([[0.0, 1.0]]) @ np.linalg.inv(C) @ Ad @ Ad
    W = la.solve_discrete_lyapunov(0.5 * Ad, np.eye(2))
    return K, np.trace(W), la.norm(Ad - Bd @ K)


def observed_oscillator(omega, zeta):
    """A discrete Kalman gain by duality, and the settling of the error."""
    A = la.expm(0.1 * np.array([[0.0, 1.0], [-(omega**2), -2 * zeta * omega]]))
    C = np.array([[1.0, 0.0]])
    W, V = 0.01 * np.eye(2), np.array([[0.1]])
    P = la.solve_discrete_are(A.T, C.T, W, V)
    L = A @ P @ C.T @ la.inv(C @ P @ C.T + V)
    e = np.array([1.0, 0.0])
    path = []
    for _ in range(12):
        e = (A - L @ C) @ e
        path.append(la.norm(e))
    return L.ravel(), np.array(path)


def compartments(ka, cl, vd):
    """Oral doses each eight hours: the closed form summed, tmax, AUC and time above a level."""
    ke = cl / vd
    t = np.linspace(0, 24, 97)
    conc = np.zeros_like(t)
    for k in range(3):
        s = np.clip(t - 8.0 * k, 0, None)
        conc = conc + 5 * ka / (vd * (ka - ke)) * (np.exp(-ke * s) - np.exp(-ka * s))
    tmax = np.log(ka / ke) / (ka - ke)
    auc = integrate.trapezoid(conc, t)
    spline = CubicSpline(t, conc)
    crossing = brentq(lambda u: spline(u) - 0.5 * conc[8], 4.0, 8.0)
    return auc, tmax, crossing, conc[-1]


def michaelis_menten_elimination(vmax, km, dose):
    """Saturable elimination by LSODA against the closed form with Lambert's W."""
    sol = solve_ivp(
        lambda t, c: -vmax * c / (km + c),
        (0, 10),
        [dose],
        method="LSODA",
        t_eval=[1.0, 4.0, 10.0],
        rtol=1e-9,
        atol=1e-11,
    )
    t = np.array([1.0, 4.0, 10.0])
    exact = km * sc.lambertw(dose / km * np.exp((dose - vmax * t) / km)).real
    np.testing.assert_allclose(sol.y[0], exact, rtol=1e-5)
    return sol.y[0], exact


def epidemic_wave(beta, gamma):
    """SIR: the peak from dense output, the final size by a root, the doubling time."""

    def sir(t, y):
        s, i, r = y
        return [-beta * s * i, beta * s * i - gamma * i, gamma * i]

    sol = solve_ivp(sir, (0, 60), [0.99, 0.01, 0.0], dense_output=True, rtol=1e-8, atol=1e-10)
    peak = minimize_scalar(
        lambda t: -sol.sol(t)[1], bounds=(1, 50), method="bounded", options={"xatol": 1e-9}
    )
    R0 = beta / gamma
    z = root_scalar(lambda z: 1 - z - 0.99 * np.exp(-R0 * z), bracket=(1e-6, 1.0)).root
    return -peak.fun, z, np.log(2) / (beta - gamma), sol.y[2, -1]


def seir_with_age(beta, contact):
    """Two age classes: the spectral radius of the next generation, then odeint."""
    C = np.array([[contact, 0.4], [0.4, 1.0]])
    sigma, gamma = 0.3, 0.2
    F = np.zeros((4, 4))
    F[:2, 2:] = beta * C
    V = np.block([[sigma * np.eye(2), np.zeros((2, 2))], [-sigma * np.eye(2), gamma * np.eye(2)]])
    R0 = np.max(np.abs(la.eigvals(F @ la.inv(V))))

    def rhs(y, t):
        s, e, i = y[:2], y[2:4], y[4:6]
        force = beta * C @ i
        return np.concatenate([-force * s, force * s - sigma * e, sigma * e - gamma * i])

    y0 = np.array([0.5, 0.48, 0.0, 0.0, 0.01, 0.01])
    y = integrate.odeint(rhs, y0, np.linspace(0, 20, 6), rtol=1e-9, atol=1e-11)
    return R0, y[-1], y[:, 4:].sum(axis=1)


def predator_with_saturation(a, h):
    """An equilibrium by fsolve, its Jacobian's trace, and a cycle's amplitude."""

    def field(t, z):
        x, y = z
        eat = a * x * y / (1 + a * h * x)
        return np.array([x * (1 - x / 4) - eat, 0.6 * eat - 0.3 * y])

    star = fsolve(lambda z: field(0, z), [1.0, 1.0], xtol=1e-12)
    eps = 1e-6
    J = np.column_stack(
        [(field(0, star + eps * e) - field(0, star - eps * e)) / (2 * eps) for e in np.eye(2)]
    )
    sol = solve_ivp(field, (0, 15), star * 1.1, t_eval=np.linspace(0, 15, 31), rtol=1e-8)
    return star, np.trace(J), np.ptp(sol.y[0])


def damped_swing(length, drag):
    """A pendulum with quadratic drag until its first crossing, and its small-angle period."""

    def bottom(t, y):
        return y[0]

    bottom.terminal = True
    bottom.direction = -1

    def rhs(t, y):
        return [y[1], -9.81 / length * np.sin(y[0]) - drag * y[1] * np.abs(y[1])]

    sol = solve_ivp(rhs, [0, 10], [1.2, 0.0], events=bottom, rtol=1e-9, atol=1e-11)
    if sol.status != 1:
        raise RuntimeError("it never came down")
    period = 4 * np.sqrt(length / 9.81) * sc.ellipk(np.sin(0.6) ** 2)
    return sol.t_events[0][0], sol.y_events[0][0][1], period


# Physics and chemistry.


def debye_solid(theta, temperature):
    """Heat capacity and energy of a Debye solid, its zero-point part, and Dulong and Petit."""
    x_d = theta / temperature
    cv = 9 * (1 / x_d) ** 3 * quad(lambda x: x**4 * np.exp(x) / np.expm1(x) ** 2, 0, x_d)[0]
    u = 9 * temperature * (1 / x_d) ** 3 * quad(lambda x: x**3 / np.expm1(x), 0, x_d)[0]
    return cv, u + 9 / 8 * theta, cv / 3


def acetate_buffer(ca, cb, pka):
    """The pH of a buffer by its charge balance, and the buffer's capacity."""
    ka, kw = 10**-pka, 1e-14

    def charge(pH):
        h = 10.0**-pH
        return cb + h - kw / h - ca * ka / (ka + h)

    pH = brentq(charge, 1, 13, xtol=1e-13)
    h = 10.0**-pH
    capacity = np.log(10) * (h + kw / h + ca * ka * h / (ka + h) ** 2)
    return pH, capacity


def esterification(K, feed):
    """An equilibrium of two reactions by `root`, with conversions as unknowns."""

    def balances(x):
        a, b = x
        ester, water = a - b, a
        acid, alcohol, ether = feed - a, 1.0 - a - b, b
        return [ester * water - K * acid * alcohol, ether * water - 0.1 * K * ester * alcohol]

    sol = optimize.root(balances, [0.4, 0.05], method="hybr", tol=1e-12)
    if not sol.success:
        raise RuntimeError(sol.message)
    return sol.x, sol.x[0] / feed


def morse_levels(depth, width):
    """Levels of a Morse well on a grid by eigh_tridiagonal, against the closed form."""
    x = np.linspace(-1.5, 6, 160)
    h = x[1] - x[0]
    V = depth * (1 - np.exp(-width * x)) ** 2
    E = la.eigh_tridiagonal(
        1 / h**2 + V,
        -0.5 / h**2 * np.ones(159),
        eigvals_only=True,
        select="i",
        select_range=(0, 2),
    )
    n = np.arange(3)
    omega = width * np.sqrt(2 * depth)
    return E, omega * (n + 0.5) - (omega * (n + 0.5)) ** 2 / (4 * depth)


def hydrogen_expectation(n_eff, charge):
    """Radial integrals of a hydrogen-like orbital with Laguerre polynomials."""

    def radial(r):
        rho = 2 * charge * r / 2
        return np.exp(-rho / 2) * rho * sc.eval_genlaguerre(0, 3, rho)

    norm = quad(lambda r: radial(r) ** 2 * r**2, 0, np.inf)[0]
    mean = quad(lambda r: radial(r) ** 2 * r**3, 0, np.inf)[0] / norm
    screened = quad(lambda r: radial(r) ** 2 * r * np.exp(-n_eff * r), 0, np.inf)[0] / norm
    return mean, screened


def planetary_transfer(r1, r2):
    """Hohmann's transfer and the phase by Kepler's equation with Newton's method."""
    mu = 1.0
    a = 0.5 * (r1 + r2)
    dv = np.sqrt(mu / r1) * (np.sqrt(2 * r2 / (r1 + r2)) - 1)
    e = (r2 - r1) / (r1 + r2)
    M = np.pi / 3
    E = optimize.newton(
        lambda E: E - e * np.sin(E) - M, M, fprime=lambda E: 1 - e * np.cos(E), tol=1e-13
    )
    nu = 2 * np.arctan2(np.sqrt(1 + e) * np.sin(E / 2), np.sqrt(1 - e) * np.cos(E / 2))
    return dv, np.pi * np.sqrt(a**3 / mu), nu, a * (1 - e * np.cos(E))


MORE = [
    (adaptive_kalman, (0.2, 0.5)),
    (rational_quadratic, (1.3, 0.9, 0.1)),
    (kaplan_meets_weibull, (1.4, 9.0)),
    (posterior_by_grid, (7.0, 5.0, 1.5, 2.0)),
    (bayesian_linear_evidence, (0.6, 8.0)),
    (four_fits, (1.2, 0.9)),
    (probit_by_bfgs, (0.1, 1.3)),
    (negative_binomial_regression, (0.1, 0.8, 0.4)),
    (inverted_pendulum, (0.7, 0.3)),
    (deadbeat, (0.4, 1.5)),
    (observed_oscillator, (2.0, 0.2)),
    (compartments, (1.1, 2.0, 12.0)),
    (michaelis_menten_elimination, (0.9, 1.3, 5.0)),
    (seir_with_age, (0.6, 1.7)),
    (predator_with_saturation, (1.1, 0.5)),
    (damped_swing, (0.8, 0.15)),
    (debye_solid, (3.4, 1.7)),
    (acetate_buffer, (0.1, 0.06, 4.76)),
    (esterification, (3.9, 1.2)),
    (morse_levels, (9.0, 0.8)),
    (hydrogen_expectation, (0.4, 1.2)),
    (planetary_transfer, (1.0, 1.6)),
]

SELDOM = [
    (epidemic_wave, (0.5, 0.2)),
]
