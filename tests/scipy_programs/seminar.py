"""A seminar: statistics of studies, of genes and of prices, learning machines, people's choices."""
# ruff: noqa: RUF059  # names as they are often written

import numpy as np
import scipy
from scipy import linalg, stats
from scipy.integrate import quad
from scipy.linalg import cho_factor, cho_solve, eigh, expm, ordqz, solve_triangular
from scipy.optimize import brentq, linprog, minimize, minimize_scalar, root
from scipy.special import (
    betaln,
    digamma,
    gammaln,
    logsumexp,
    ndtri,
    polygamma,
    softmax,
    xlogy,
    zeta,
)
from scipy.stats import chi2, f, gamma, lognorm, nct, norm, poisson, t

# Studies.


def meta_analysis(effects, variances):
    """Random effects by moments and by restricted likelihood, heterogeneity, a prediction."""
    w = 1 / variances
    k = len(effects)
    fixed = np.sum(w * effects) / np.sum(w)
    Q = np.sum(w * (effects - fixed) ** 2)
    tau2 = max(0.0, (Q - (k - 1)) / (w.sum() - (w**2).sum() / w.sum()))
    ws = 1 / (variances + tau2)
    mu = np.sum(ws * effects) / np.sum(ws)
    se = np.sqrt(1 / ws.sum())

    def reml(tau2):
        v = 1 / (variances + tau2)
        m = np.average(effects, weights=v)
        return 0.5 * (-np.log(v).sum() + np.log(v.sum()) + (v * (effects - m) ** 2).sum())

    best = minimize_scalar(reml, bounds=(0, 2), method="bounded").x
    half = t.ppf(0.975, k - 2) * np.sqrt(tau2 + se**2)
    return mu, se, best, mu - half, mu + half, chi2.sf(Q, k - 1), 2 * norm.sf(abs(mu) / se)


def hotelling(x, shift):
    """Two samples of vectors compared, with the power at an effect."""
    y = x[::-1] * 0.8 + shift
    n, m, p = len(x), len(y), x.shape[1]
    S = ((n - 1) * np.cov(x, rowvar=False) + (m - 1) * np.cov(y.T)) / (n + m - 2)
    d = x.mean(0) - y.mean(0)
    T2 = n * m / (n + m) * d @ linalg.solve(S, d, assume_a="pos")
    F = (n + m - p - 1) / (p * (n + m - 2)) * T2
    return T2, f.sf(F, p, n + m - p - 1), stats.ncf.sf(f.isf(0.05, p, 9), p, 9, T2)


def binormal_roc(separation, ratio):
    """A curve of hits and false alarms, its area, and the best criterion."""
    fpr = np.linspace(0.02, 0.98, 13)
    tpr = norm.cdf((separation + norm.ppf(fpr)) / ratio)
    auc = norm.cdf(separation / np.sqrt(1 + ratio**2))
    best = minimize_scalar(lambda c: norm.cdf(c, separation, ratio) - norm.cdf(c))
    dprime = ndtri(tpr[6]) - ndtri(fpr[6])
    return scipy.integrate.trapezoid(tpr, fpr), auc, best.x, dprime


def needed_per_group(delta, sd):
    """The number that gives a power of 80 percent, by the noncentral t."""

    def power(n):
        df = 2 * n - 2
        nc = delta / sd * np.sqrt(n / 2)
        tc = t.ppf(0.975, df)
        return nct.sf(tc, df, nc) + nct.cdf(-tc, df, nc)

    n = brentq(lambda n: power(n) - 0.8, 2, 500)
    return n, power(20.0)


def errors_in_both(y, ratio):
    """Deming's line, its error by leaving one out."""
    x = np.array([0.9, 2.1, 2.9, 4.2, 5.0, 6.1])

    def slope(x, y):
        c = np.cov(x, y)
        d = c[1, 1] - ratio * c[0, 0]
        return (d + np.sqrt(d**2 + 4 * ratio * c[0, 1] ** 2)) / (2 * c[0, 1])

    b = slope(x, y)
    rest = np.array([slope(np.delete(x, i), np.delete(y, i)) for i in range(len(x))])
    se = np.sqrt((len(x) - 1) * rest.var())
    return b, y.mean() - b * x.mean(), se, b + stats.t(len(x) - 1).ppf([0.025, 0.975]) * se


def stratified_tables(a, b):
    """Mantel and Haenszel's odds ratio of strata with counts, its interval and a test."""
    c, d = b[::-1] + 1.0, a[::-1] + 2.0
    n = a + b + c + d
    R, S = a * d / n, b * c / n
    OR = R.sum() / S.sum()
    P, Q = (a + d) / n, (b + c) / n
    var = (P * R).sum() / (2 * R.sum() ** 2) + (P * S + Q * R).sum() / (2 * R.sum() * S.sum())
    var += (Q * S).sum() / (2 * S.sum() ** 2)
    lo, hi = np.exp(np.log(OR) + np.array([-1, 1]) * norm.ppf(0.975) * np.sqrt(var))
    E = (a + b) * (a + c) / n
    V = (a + b) * (c + d) * (a + c) * (b + d) / (n**2 * (n - 1))
    return OR, lo, hi, chi2.logsf((np.abs((a - E).sum()) - 0.5) ** 2 / V.sum(), 1)


def quantile_lines(y, tau):
    """Quantile regression as a linear program."""
    x = np.array([0.0, 1, 2, 3, 4, 5, 6])
    n = len(y)
    X = np.column_stack([np.ones(n), x])
    c = np.concatenate([np.zeros(2), tau * np.ones(n), (1 - tau) * np.ones(n)])
    A = np.hstack([X, np.eye(n), -np.eye(n)])
    res = linprog(c, A_eq=A, b_eq=y, bounds=[(None, None)] * 2 + [(0, None)] * (2 * n))
    return res.x[:2], res.fun


def lasso_split(lam, y):
    """A lasso by positive and negative parts with bounds; which are zero stays zero."""
    X = np.array(
        [[1.0, 0.3, -0.2], [0.5, -1.0, 0.4], [-0.7, 0.8, 1.0], [0.2, 0.9, -0.5], [-1, 0.1, 0.3]]
    )

    def obj(w):
        b = w[:3] - w[3:]
        r = y - X @ b
        return 0.5 * r @ r + lam * w.sum(), np.concatenate([-X.T @ r + lam, X.T @ r + lam])

    res = minimize(obj, np.full(6, 0.1), jac=True, method="L-BFGS-B", bounds=[(0, None)] * 6)
    return res.x[:3] - res.x[3:]


def ridge_by_gcv(noise, y):
    """The penalty by generalised cross-validation, on the singular values."""
    x = np.linspace(0, 1, len(y))
    X = np.vander(x, 5)
    U, s, Vt = linalg.svd(X, full_matrices=False)
    z = U.T @ y

    def gcv(loglam):
        d = s**2 / (s**2 + np.exp(loglam))
        return len(y) * (np.sum((y - U @ (d * z)) ** 2) + noise) / (len(y) - d.sum()) ** 2

    res = minimize_scalar(gcv, bracket=(-12, -6, 0))
    d = s / (s**2 + np.exp(res.x))
    return res.x, Vt.T @ (d * z)


# Laws of counts and of extremes.


def power_law(alpha, xmin):
    """A discrete power law: its likelihood by Hurwitz's zeta, the exponent fitted."""
    x = np.array([1, 1, 2, 1, 3, 1, 5, 2, 1, 8, 1, 2]) + 0.0
    nll = lambda a: a * np.log(x + xmin - 1).sum() + len(x) * np.log(zeta(a, xmin))
    res = minimize_scalar(nll, bounds=(1.1, 4), method="bounded", options={"xatol": 1e-8})
    tail = zeta(alpha, 10.0) / zeta(alpha, xmin)
    return nll(alpha), res.x, tail, stats.zipf.logpmf(3, alpha)


def species(total, kinds):
    """Fisher's series of abundances, Ewens' parameter, and how many more would be found."""
    alpha = brentq(lambda a: a * np.log1p(total / a) - kinds, 0.1, 100)
    theta = brentq(lambda th: th * (digamma(th + total) - digamma(th)) - kinds, 0.1, 100)
    x = total / (total + alpha)
    n = np.arange(1, 6)
    info = polygamma(1, theta) - polygamma(1, theta + total)
    return alpha, theta, alpha * x**n / n, alpha * np.log1p(2 * total / alpha) - kinds, info


def floods_by_moments(data):
    """A generalised extreme value law from moments of order statistics; levels of return."""
    x = np.sort(data)
    n = len(x)
    i = np.arange(n)
    b0, b1 = x.mean(), np.mean(i / (n - 1) * x)
    b2 = np.mean(i * (i - 1) / ((n - 1) * (n - 2)) * x)
    l1, l2, t3 = b0, 2 * b1 - b0, (6 * b2 - 6 * b1 + b0) / (2 * b1 - b0)
    g = lambda k: 2 * (1 - 3**-k) / (1 - 2**-k) - 3 - t3
    k = brentq(g, 0.01, 0.9) if t3 < 0.1699 else brentq(g, -0.9, -0.001)
    scale = l2 * k / ((1 - 2**-k) * scipy.special.gamma(1 + k))
    loc = l1 - scale * (1 - scipy.special.gamma(1 + k)) / k
    law = stats.genextreme(k, loc, scale)
    return k, loc, scale, law.isf(1 / np.array([10, 100])), law.logpdf(x).sum()


def change_of_rate(shape, rate):
    """Where a rate of accidents changed: the posterior over years, and both rates."""
    y = np.array([4, 5, 4, 1, 0, 4, 3, 1, 0, 0, 2, 1])
    n = np.arange(1, len(y))
    s = np.cumsum(y)[:-1]
    r = y.sum() - s
    m = len(y) - n
    lp = gammaln(shape + s) - (shape + s) * np.log(rate + n)
    lp = lp + gammaln(shape + r) - (shape + r) * np.log(rate + m)
    post = softmax(lp)
    early = post @ ((shape + s) / (rate + n))
    later = post @ ((shape + r) / (rate + m))
    return post, early, later, logsumexp(lp), -np.sum(xlogy(post, post))


def football(attack, home):
    """Goals of two teams as dependent counts; odds of a win, a draw, a score."""
    lam, mu, rho = np.exp(attack + home), np.exp(0.2 - attack), -0.1
    g = np.arange(8)
    P = np.outer(poisson.pmf(g, lam), poisson.pmf(g, mu))
    P[0, 0] *= 1 - lam * mu * rho
    P[0, 1] *= 1 + lam * rho
    P[1, 0] *= 1 + mu * rho
    P[1, 1] *= 1 - rho
    P /= P.sum()
    return np.tril(P, -1).sum(), np.trace(P), np.triu(P, 1).sum(), stats.skellam.pmf(0, lam, mu)


# Genes.


def fixation(selection, dominance):
    """The chance that a gene takes over, by Kimura's integrals, and how long it takes."""
    N = 50
    psi = lambda y: np.exp(-2 * N * selection * ((2 * dominance - 1) * y * (1 - y) + y))
    total, _ = quad(psi, 0, 1)
    u = lambda p: quad(psi, 0, p)[0] / total
    return u(1 / (2 * N)), u(0.5)


def two_trees(kappa, length):
    """Likelihood of four sequences on a tree by matrix exponentials and pruning."""
    pi = np.array([0.3, 0.2, 0.2, 0.3])
    Q = np.ones((4, 4))
    for i, j in [(0, 2), (2, 0), (1, 3), (3, 1)]:
        Q[i, j] = kappa
    Q = Q * pi
    Q[np.diag_indices(4)] = 0
    Q -= np.diag(Q.sum(axis=1))
    Q /= -(pi @ np.diag(Q))
    P, half = expm(Q * length), expm(Q * length / 2)
    ll = 0.0
    for a, b, c, d in [(0, 0, 0, 1), (2, 2, 2, 2), (1, 3, 1, 1), (0, 2, 2, 2)]:
        left, right = P[:, a] * P[:, b], P[:, c] * P[:, d]
        ll += np.log(pi @ ((half @ left) * (half @ right)))
    return ll, P[0, 2] / P[0, 1]


class Selection:
    """Response of several traits to selection, and the direction of least resistance."""

    def __init__(self, G, P):
        self.G, self.P = G, P

    def response(self, s):
        return self.G @ cho_solve(cho_factor(self.P), s)

    def axes(self):
        return eigh(self.G, self.P, eigvals_only=True)


def breeding(s, h2):
    P = np.array([[1.0, 0.4, 0.1], [0.4, 1.5, 0.3], [0.1, 0.3, 0.8]])
    d = np.sqrt(np.diag(P)) * np.sqrt(h2)
    G = 0.9 * np.outer(d, d) * (0.3 + 0.7 * np.eye(3))
    model = Selection(G, P)
    return model.response(s), model.axes(), stats.truncnorm(1.28, np.inf).mean() * h2


def born_rate(survival, fertility):
    """The intrinsic rate by Lotka's equation, the time of a generation, entropy of life."""
    age = np.arange(1, 8)
    lx = np.cumprod(survival)
    phi = lx * fertility
    r = brentq(lambda r: np.dot(phi, np.exp(-r * age)) - 1, -2, 3, xtol=1e-12)
    T = np.dot(age * phi, np.exp(-r * age))
    return r, T, -np.sum(lx * np.log(lx)) / lx.sum(), gamma.cdf(T, 3.0, scale=1.5)


# Prices and choices.


def reservation_wage(benefit, sigma):
    """Search for work among lognormal offers: the wage that is just taken."""
    law = lognorm(s=sigma, scale=1.0)

    def gap(w):
        gain, _ = quad(lambda x: (x - w) * law.pdf(x), w, 20)
        return w - benefit - 4.0 * gain

    w = brentq(gap, 0.1, 6)
    return w, law.sf(w), law.expect(lambda x: x, lb=w, conditional=True)


def sealed_bids(a, b):
    """What bidders bid in a first-price auction with beta values, and the seller's revenue."""
    law = stats.beta(a, b)
    n = 3

    def bid(v):
        shade, _ = quad(lambda x: law.cdf(x) ** (n - 1), 0, v)
        return v - shade / law.cdf(v) ** (n - 1)

    bids = [bid(v) for v in (0.3, 0.6, 0.9)]
    revenue = quad(lambda p: law.ppf(p) * n * (n - 1) * p ** (n - 2) * (1 - p), 0, 1)[0]
    return np.array(bids), revenue


def rational_expectations(beta, persistence):
    """A linear model solved by ordering a pencil: the stable policy."""
    A = np.array([[1.0, 0.0, 0.0], [0.2, 1.0, 0.1], [0.0, 0.3, 1.0]])
    A[1, 1] = beta
    B = np.array([[persistence, 0.0, 0.0], [0.0, 1.0, 0.4], [0.1, 0.0, 1.3]])
    AA, BB, alpha, be, Q, Z = ordqz(B, A, sort="iuc")
    stable = np.sum(np.abs(alpha) < np.abs(be))
    Z11, Z21 = Z[:stable, :stable], Z[stable:, :stable]
    return linalg.solve(Z11.T, Z21.T).T, np.sort(np.abs(alpha / be))


def general_equilibrium(endowment, elasticity):
    """Two households and three goods with constant elasticities; prices that clear."""
    share = np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])
    own = np.stack([endowment, endowment[::-1]])

    def excess(logp):
        p = np.exp(np.append(logp, 0.0))
        income = own @ p
        d = share * p**-elasticity
        d = d * (income / (share * p ** (1 - elasticity)).sum(axis=1))[:, None]
        return (d - own).sum(axis=0)[:-1]

    sol = root(excess, [0.0, 0.0])
    return np.exp(sol.x)


def transported(cost, eps):
    """Entropic transport by iterations in logarithms."""
    a, b = np.array([0.2, 0.5, 0.3]), np.array([0.4, 0.35, 0.25])
    u, v = np.zeros(3), np.zeros(3)
    for _ in range(60):
        u = eps * (np.log(a) - logsumexp((v[None, :] - cost) / eps, axis=1))
        v = eps * (np.log(b) - logsumexp((u[:, None] - cost) / eps, axis=0))
    plan = np.exp((u[:, None] + v[None, :] - cost) / eps)
    return plan, np.sum(plan * cost), scipy.stats.entropy(plan.ravel())


# Learning.


def softmax_regression(X, penalty):
    """Three classes by BFGS with a gradient given, probabilities of a new case."""
    y = np.array([0, 1, 2, 0, 1, 2])
    Y = np.eye(3)[y]

    def loss(w):
        W = w.reshape(2, 3)
        Z = X @ W
        return (logsumexp(Z, axis=1) - (Z * Y).sum(1)).sum() + penalty / 2 * (W**2).sum()

    def grad(w):
        W = w.reshape(2, 3)
        return (X.T @ (softmax(X @ W, axis=1) - Y) + penalty * W).ravel()

    res = minimize(loss, np.zeros(6), jac=grad, method="BFGS")
    return softmax(np.array([0.3, -0.2]) @ res.x.reshape(2, 3)), res.fun


def support_vectors(C, width):
    """The dual of a classifier with a kernel, by SLSQP; its margin."""
    x = np.array([[0.0, 0.2], [1.0, 0.1], [0.3, 1.1], [2.0, 1.8], [1.4, 2.2], [2.5, 1.0]])
    y = np.array([-1, -1, -1, 1, 1, 1.0])
    K = np.exp(-scipy.spatial.distance.cdist(x, x, "sqeuclidean") / (2 * width**2))
    H = np.outer(y, y) * K + np.eye(6) / C
    res = minimize(
        lambda a: 0.5 * a @ H @ a - a.sum(),
        np.full(6, 0.1),
        method="SLSQP",
        bounds=[(0, None)] * 6,
        constraints={"type": "eq", "fun": lambda a: a @ y},
    )
    return res.x, -res.fun


def gp_classifier(scale, labels):
    """Laplace's approximation of a classifier by a Gaussian process, by Newton steps."""
    x = np.array([-2.0, -1.1, -0.3, 0.4, 1.2, 2.1])
    K = scale * np.exp(-0.5 * (x[:, None] - x) ** 2) + 1e-6 * np.eye(6)
    fm = np.zeros(6)
    for _ in range(15):
        z = labels * fm
        r = np.exp(norm.logpdf(fm) - norm.logcdf(z))
        W = r**2 + z * r
        sW = np.sqrt(W)
        L = linalg.cholesky(np.eye(6) + sW[:, None] * K * sW, lower=True)
        b = W * fm + labels * r
        v = solve_triangular(L, sW * (K @ b), lower=True)
        a = b - sW * solve_triangular(L.T, v)
        fm = K @ a
    return -0.5 * a @ fm + norm.logcdf(labels * fm).sum() - np.log(np.diag(L)).sum()


def classical_scaling(D):
    """A map from distances: the points' mutual products, stress and an explained share."""
    d = D + D.T
    n = len(d)
    J = np.eye(n) - 1 / n
    B = -0.5 * J @ d**2 @ J
    lam, V = linalg.eigh(B, subset_by_index=[n - 2, n - 1])
    X = V * np.sqrt(lam)
    fitted = scipy.spatial.distance.pdist(X)
    return fitted, lam.sum() / np.abs(linalg.eigvalsh(B)).sum()


def variational_beta(a, b):
    """Divergence between beta laws, a bound of the evidence of tosses, a mode by root finding."""
    kl = betaln(2.0, 3.0) - betaln(a, b) + (a - 2) * digamma(a) + (b - 3) * digamma(b)
    kl = kl + (5 - a - b) * digamma(a + b)
    law = stats.beta(a, b)
    bound = 4 * law.expect(np.log) + 2 * law.expect(lambda p: np.log1p(-p)) - kl
    return kl, bound, law.entropy(), *law.interval(0.9)


SELDOM = [
    (meta_analysis, (np.array([0.3, 0.9, -0.1, 0.6, 1.1]), np.array([0.05, 0.1, 0.04, 0.08, 0.2]))),
    (
        hotelling,
        (
            np.array([[1.0, 2.1], [0.4, 1.7], [1.6, 3.0], [0.9, 2.9], [1.2, 1.8], [0.1, 1.2]]),
            np.array([0.3, -0.4]),
        ),
    ),
    (binormal_roc, (1.4, 1.2)),
    (needed_per_group, (0.6, 1.1)),
    (errors_in_both, (np.array([1.2, 1.9, 3.4, 3.9, 5.4, 5.8]), 1.3)),
    (stratified_tables, (np.array([10.0, 14.0, 8.0]), np.array([20.0, 17.0, 25.0]))),
    (quantile_lines, (np.array([1.0, 1.4, 2.9, 2.7, 4.4, 4.2, 6.1]), 0.4)),
    (lasso_split, (0.3, np.array([1.0, -0.4, -1.1, 0.5, -0.9]))),
    (ridge_by_gcv, (0.02, np.array([0.1, 0.5, 0.4, 0.9, 0.6, 0.2, 0.3, -0.2]))),
    (power_law, (2.3, 1.0)),
    (species, (200.0, 25.0)),
    (floods_by_moments, (np.array([3.1, 4.4, 2.2, 7.9, 5.0, 3.6, 4.1, 6.3]),)),
    (change_of_rate, (2.0, 1.0)),
    (football, (0.3, 0.25)),
    (fixation, (0.01, 0.3)),
    (two_trees, (2.5, 0.2)),
    (breeding, (np.array([0.5, -0.2, 0.3]), 0.35)),
    (
        born_rate,
        (np.array([0.5, 0.8, 0.9, 0.9, 0.8, 0.6, 0.4]), np.array([0, 0.8, 1.6, 2, 1.2, 0.5, 0.1])),
    ),
    (reservation_wage, (0.4, 0.5)),
    (sealed_bids, (2.0, 3.0)),
    (rational_expectations, (0.96, 0.8)),
    (general_equilibrium, (np.array([1.0, 2.0, 0.5]), 1.6)),
    (transported, (np.array([[0.1, 0.9, 0.5], [0.7, 0.2, 0.6], [0.4, 0.8, 0.3]]), 0.2)),
    (
        softmax_regression,
        (
            np.array([[1.0, 0.1], [0.2, 0.9], [-0.8, -0.6], [0.7, -0.2], [0.1, 1.2], [-0.5, -1.1]]),
            0.5,
        ),
    ),
    (support_vectors, (5.0, 1.2)),
    (gp_classifier, (2.0, np.array([-1.0, -1.0, 1.0, -1.0, 1.0, 1.0]))),
    (
        classical_scaling,
        (
            np.array(
                [
                    [0, 1.0, 1.9, 2.2, 1.2],
                    [0, 0, 1.1, 1.9, 1.5],
                    [0, 0, 0, 1.2, 2.0],
                    [0, 0, 0, 0, 1.1],
                    [0, 0, 0, 0, 0],
                ]
            ),
        ),
    ),
    (variational_beta, (2.5, 3.5)),
]
