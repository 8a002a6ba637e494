"""Estimation and control: Kalman filters, regulators, stability, model reduction."""

import numpy as np
import scipy.linalg
import scipy.linalg as la
from scipy import linalg
from scipy.linalg import block_diag, cho_factor, cho_solve, expm, solve, solve_triangular

STEPS = np.array([0.3, 0.9, 1.6, 2.1, 3.2, 3.9, 5.1])


def constant_velocity(dt):
    return np.array([[1.0, dt], [0.0, 1.0]])


def kalman_likelihood(q, r):
    """The likelihood of positions under a model of constant velocity."""
    F, H = constant_velocity(0.5), np.array([[1.0, 0.0]])
    Q = q * np.array([[0.125 / 3, 0.125], [0.125, 0.5]])
    x, P, total = np.zeros(2), np.eye(2), 0.0
    for z in STEPS:
        x, P = F @ x, F @ P @ F.T + Q
        S = H @ P @ H.T + r
        innovation = z - H @ x
        K = solve(S, H @ P, assume_a="pos").T
        x, P = x + K @ innovation, P - K @ H @ P
        total = total + np.log(linalg.det(S)) + innovation @ solve(S, innovation)
    return total


class SquareRootFilter:
    """The covariance is kept as a triangular factor."""

    def __init__(self, noise):
        self.root = la.cholesky(np.eye(2), lower=True)
        self.noise = la.cholesky(noise * np.array([[2.0, 0.3], [0.3, 1.0]]), lower=True)
        self.x = np.zeros(2)

    def predict(self, F):
        self.x = F @ self.x
        stacked = np.hstack([F @ self.root, self.noise])
        (r,) = la.qr(stacked.T, mode="r")
        self.root = r[:2].T

    def update(self, z, sigma):
        h = self.root[0]
        variance = h @ h + sigma**2
        gain = self.root @ h / variance
        self.x = self.x + gain * (z - self.x[0])
        P = self.root @ self.root.T - np.outer(gain, gain) * variance
        self.root = la.cholesky(P, lower=True)


def square_root_filter(noise, sigma):
    kf = SquareRootFilter(noise)
    for z in STEPS:
        kf.predict(constant_velocity(0.5))
        kf.update(z, sigma)
    return kf.x @ kf.x + np.log(np.abs(kf.root[0, 0]))


def smoother(q, r):
    """Rauch, Tung and Striebel."""
    F = constant_velocity(0.5)
    xs, Ps, priors = [], [], []
    x, P = np.zeros(2), np.eye(2)
    for z in STEPS:
        x, P = F @ x, F @ P @ F.T + q * np.eye(2)
        priors.append((x, P))
        K = P[:, 0] / (P[0, 0] + r)
        x, P = x + K * (z - x[0]), P - np.outer(K, P[0])
        xs.append(x)
        Ps.append(P)
    for k in range(len(STEPS) - 2, -1, -1):
        prior, Pp = priors[k + 1]
        G = cho_solve(cho_factor(Pp), F @ Ps[k]).T
        xs[k] = xs[k] + G @ (xs[k + 1] - prior)
    return np.sum(np.array(xs) ** 2)


def steady_gain(q, r):
    """The gain of the stationary filter."""
    A, C = constant_velocity(0.1), np.array([[1.0, 0.0]])
    P = la.solve_discrete_are(A.T, C.T, q * np.eye(2), np.atleast_2d(r))
    return P @ C.T @ la.inv(C @ P @ C.T + r)


def lqr(A, B, Q, R):
    P = scipy.linalg.solve_continuous_are(A, B, Q, R)
    return np.linalg.solve(R, B.T @ P), P


def pendulum_regulator(mass, length):
    """Feedback gains of a pendulum on a cart."""
    A = np.array([[0.0, 1.0], [9.81 / length, -0.1 / (mass * length**2)]])
    B = np.array([[0.0], [1 / (mass * length**2)]])
    K, _ = lqr(A, B, np.diag([10.0, 1.0]), np.eye(1))
    return K


def cost_of_regulation(weight, start):
    A, B = np.array([[0.0, 1.0], [-1.0, -0.2]]), np.array([[0.0], [1.0]])
    _, P = lqr(A, B, np.diag([weight, 1.0]), np.eye(1))
    return start @ P @ start


def discretised(A, dt):
    """State and input together, by one exponential."""
    n = 2
    B = np.array([[0.0], [1.0]])
    M = np.zeros((3, 3))
    M[:n, :n] = A * dt
    M[:n, n:] = B * dt
    E = expm(M)
    return E[:n, :n], E[:n, n:]


def response(A, dt):
    F, G = discretised(A, dt)
    x = np.zeros(2)
    for u in (1.0, 1.0, 0.5, 0.0):
        x = F @ x + G[:, 0] * u
    return x


def van_loan(A, q):
    """The covariance of process noise, by one exponential of twice the size."""
    n = len(A)
    L = np.array([[0.0], [1.0]])
    M = np.block([[-A, L @ L.T * q], [np.zeros((n, n)), A.T]])
    E = scipy.linalg.expm(M * 0.2)
    F = E[n:, n:].T
    return F @ E[:n, n:]


def gramian(A, B):
    """How well inputs reach the states."""
    W = la.solve_continuous_lyapunov(A, -B @ B.T)
    return np.log(la.det(W)), la.norm(W, "nuc")


def hankel_values(A, B):
    """What balanced truncation looks at."""
    C = np.array([[1.0, 0.5]])
    P = la.solve_continuous_lyapunov(A, -B @ B.T)
    Q = la.solve_continuous_lyapunov(A.T, -C.T @ C)
    return np.sqrt(np.sort(la.eigvals(P @ Q).real))


def spectral_abscissa(A):
    return np.max(la.eigvals(A).real)


def h2_norm(a, b):
    A = np.array([[a, 1.0], [0.0, -2.0]])
    B, C = np.array([[0.0], [b]]), np.array([[1.0, 0.0]])
    P = linalg.solve_lyapunov(A, -B @ B.T)
    return np.sqrt((C @ P @ C.T)[0, 0])


def stationary_variance(phi, sigma):
    """Of an autoregression of second order, in companion form."""
    A = la.companion(np.concatenate([[1.0], -phi]))
    Q = block_diag(sigma**2, 0.0)
    return la.solve_discrete_lyapunov(A, Q)[0, 0]


def whitening(x, ridge):
    """Samples whose covariance is the identity."""
    centred = x - x.mean(axis=0)
    L = linalg.cholesky(centred.T @ centred / len(x) + ridge * np.eye(2), lower=True)
    return solve_triangular(L, centred.T, lower=True).T


A0 = np.array([[-1.0, 0.4], [-0.3, -0.7]])
B0 = np.array([[0.5], [1.0]])

PROGRAMS = [
    (kalman_likelihood, (0.4, 0.3)),
    (square_root_filter, (0.2, 0.5)),
    (smoother, (0.2, 0.4)),
    (steady_gain, (0.1, 0.6)),
    (pendulum_regulator, (0.8, 1.2)),
    (cost_of_regulation, (3.0, np.array([1.0, -0.5]))),
    (response, (A0, 0.2)),
    (van_loan, (A0, 0.7)),
    (gramian, (A0, B0)),
    (hankel_values, (A0, B0)),
    (spectral_abscissa, (A0,)),
    (h2_norm, (-0.8, 1.3)),
    (stationary_variance, (np.array([0.5, -0.3]), 0.7)),
    (whitening, (np.array([[1.0, 0.2], [0.3, -1.0], [-0.7, 0.6], [0.1, 0.9]]), 0.1)),
]
