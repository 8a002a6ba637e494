"""Special functions with vectors for arguments, in the formulas that call for them."""

import numpy as np
import scipy.special as sc
from scipy import integrate, optimize, special
from scipy.special import (
    airy,
    betainc,
    betaln,
    digamma,
    ellipe,
    ellipj,
    ellipk,
    erf,
    erfc,
    erfcx,
    erfinv,
    eval_legendre,
    exp1,
    expi,
    factorial,
    fresnel,
    gamma,
    gammainc,
    hyp1f1,
    hyp2f1,
    i0e,
    i1e,
    iv,
    ive,
    j0,
    j1,
    jv,
    kn,
    kv,
    kve,
    lambertw,
    loggamma,
    ndtri,
    polygamma,
    sici,
    spherical_jn,
    wofz,
    yv,
    zeta,
)

X = np.array([0.3, 1.1, 2.6, 4.2])


def diffraction(radius, wavelength):
    """Airy's disc."""
    u = np.pi * radius * X / wavelength
    return (2 * j1(u) / u) ** 2


def fresnel_edge(distance):
    s, c = fresnel(X * np.sqrt(2 / distance))
    return ((0.5 + s) ** 2 + (0.5 + c) ** 2) / 2


def drum(a):
    return jv(2, a * X) + jv(0.5, a * X) * yv(1.5, a * X + 1)


def loop_field(radius, z):
    """The field of a ring of current off its axis: complete elliptic integrals."""
    rho = 0.4
    q = (radius + rho) ** 2 + z**2
    m = 4 * radius * rho / q
    return (ellipk(m) + ellipe(m) * (radius**2 - rho**2 - z**2) / (q - 4 * radius * rho)) / np.sqrt(
        q
    )


def nonlinear_pendulum(m):
    sn, cn, dn, ph = ellipj(X, m)
    return sn * dn, cn, ph


def von_mises(kappa, mu):
    return np.sum(kappa * np.cos(X - mu) - kappa - np.log(2 * np.pi * i0e(kappa))), i1e(
        kappa
    ) / i0e(kappa)


def rice(nu, sigma):
    return np.log(X / sigma**2) - (X - nu) ** 2 / (2 * sigma**2) + np.log(i0e(X * nu / sigma**2))


def matern_kernel(nu, length):
    u = np.sqrt(2 * nu) * X / length
    return 2 ** (1 - nu) / gamma(nu) * u**nu * kv(nu, u), kve(nu, u)


def theis(transmissivity, storage):
    """The drawdown of a well."""
    u = 0.5 * storage / (4 * transmissivity * X)
    return exp1(u) / (4 * np.pi * transmissivity)


def voigt(sigma, width):
    z = ((X - 2.0) + 1j * width) / (sigma * np.sqrt(2))
    return wofz(z).real / (sigma * np.sqrt(2 * np.pi)), sc.voigt_profile(X - 2.0, sigma, width)


def planck(temperature):
    return polygamma(3, temperature * X) + zeta(1.5 + temperature, 1.0)


def debye(theta):
    return 3 / theta**3 * integrate.quad(lambda t: t**3 / np.expm1(t), 0, theta)[0] - sc.spence(
        1 + theta
    )


def diode(current, resistance):
    """The current of a diode in series, by Lambert's function."""
    return np.real(lambertw(current * resistance * np.exp(X))) / resistance


def random_walk(p):
    return hyp2f1(0.5, 1.0, 1.5, 4 * p * (1 - p) * X / 6) + hyp1f1(p, 1.5, -X)


def confluent(a, b):
    return sc.hyperu(a, b, X), sc.hyp0f1(b, X)


def legendre_series(c):
    x = np.linspace(-0.9, 0.9, 5)
    return sum(ck * eval_legendre(k, x) for k, ck in enumerate(c))


def orthogonal(alpha, x):
    return (
        sc.eval_genlaguerre(3, alpha, x),
        sc.eval_gegenbauer(2, alpha, x / 5),
        sc.eval_jacobi(2, alpha, 0.5, x / 5),
        sc.eval_hermite(4, x),
        sc.eval_chebyt(5, x / 5),
    )


def oscillator(x):
    n = np.arange(4)[:, None]
    return sc.eval_hermite(n, x) * np.exp(-(x**2) / 2) / np.sqrt(2.0**n * factorial(n))


def airy_beam(a):
    ai, aip, bi, bip = airy(a * X - 2)
    return ai * bip - aip * bi + ai


def scattering(k):
    return spherical_jn(1, k * X) + spherical_jn(2, k * X, derivative=True), sc.spherical_kn(
        1, k * X
    )


def waves(x):
    si, ci = sici(x)
    shi, chi = sc.shichi(x / 2)
    return si, ci, shi, chi, expi(x)


def heat_from_wall(alpha, h):
    """A half-space with convection: erfc beside a large exponential, written with erfcx."""
    s = X / (2 * np.sqrt(alpha))
    return erfc(s) - np.exp(-(s**2)) * erfcx(s + h * np.sqrt(alpha))


def entropy_of_gamma(k):
    return k + sc.gammaln(k) + (1 - k) * digamma(k), loggamma(k + 2.0), sc.rgamma(k - 3)


def beta_entropy(a, b):
    return betaln(a, b) - (a - 1) * digamma(a) - (b - 1) * digamma(b) + (a + b - 2) * digamma(a + b)


def incomplete(a, b):
    x = X / 5
    return betainc(a, b, x), gammainc(a, X), sc.betaincinv(a, b, 0.3), sc.gammaincinv(a, 0.6)


def probit_scale(p):
    return ndtri(p), erfinv(2 * p - 1), sc.ndtri_exp(np.log(p)), sc.logit(p)


def sharp(a, b):
    return (
        sc.expit(a * X - b),
        sc.log_expit(b - a * X),
        sc.xlogy(X, a),
        sc.xlog1py(X, b),
        sc.entr(X * a),
        sc.rel_entr(X, a),
        sc.kl_div(b, X),
    )


def losses(delta):
    return (
        sc.huber(delta, X - 2),
        sc.pseudo_huber(delta, X - 2),
        sc.boxcox(X, delta),
        sc.inv_boxcox(X, delta),
        sc.boxcox1p(X, delta),
    )


def careful(x):
    return (
        sc.log1p(x),
        sc.expm1(x),
        sc.exprel(x),
        sc.cosm1(x),
        sc.exp2(x),
        sc.exp10(x / 3),
        sc.cbrt(x),
        sc.logsumexp(x),
        np.sinc(x),
    )


def skewed_density(alpha):
    return 2 * np.exp(-(X**2) / 2) * sc.ndtr(alpha * X), sc.owens_t(X, alpha)


def signed_root(k):
    """A zero of a Bessel function as it moves with its order."""
    return optimize.brentq(lambda x: jv(k, x), 2.0, 4.5, xtol=1e-14)


def rotating(a):
    return np.real(np.exp(1j * a) * special.hankel1(0, X) + sc.wofz(X + 1j * a)), sc.erf(
        X * np.exp(1j * a)
    ).imag


def lattice(a, b):
    return (
        sc.elliprf(a, b, X),
        sc.elliprc(X, a),
        sc.ellipkinc(0.7, a / 4),
        sc.ellipeinc(X / 4, a / 4),
        sc.agm(a, b),
    )


def counting(n):
    k = np.arange(4)
    return sc.binom(n, k), sc.comb(n, k), sc.poch(n, k), sc.beta(n, 2.0 + k), sc.multigammaln(n, 2)


def tails(x):
    return (
        sc.log_ndtr(x),
        sc.ndtr(x),
        erf(x / 3),
        sc.dawsn(x),
        sc.chdtrc(3.0, x**2),
        sc.stdtr(4.5, x),
    )


def scaled_bessels(x):
    return (
        ive(0.7, x),
        kn(2, x),
        iv(1.5, x),
        j0(x),
        sc.k0e(x),
        sc.k1(x),
        sc.i0(x),
        sc.y0(x),
        sc.struve(0.5, x),
        sc.kelvin(x)[0].real,
    )


PROGRAMS = [
    (diffraction, (0.8, 1.3)),
    (fresnel_edge, (1.7,)),
    (drum, (0.9,)),
    (loop_field, (1.1, 0.6)),
    (nonlinear_pendulum, (0.4,)),
    (von_mises, (2.3, 0.7)),
    (rice, (1.4, 0.8)),
    (matern_kernel, (1.3, 0.9)),
    (theis, (0.8, 0.3)),
    (voigt, (0.7, 0.4)),
    (planck, (0.9,)),
    (debye, (1.6,)),
    (diode, (0.3, 0.8)),
    (random_walk, (0.35,)),
    (confluent, (0.7, 1.6)),
    (legendre_series, (np.array([0.5, -0.3, 0.8, 0.1]),)),
    (orthogonal, (0.6, X)),
    (oscillator, (X / 2,)),
    (airy_beam, (0.8,)),
    (scattering, (0.9,)),
    (waves, (X,)),
    (heat_from_wall, (0.6, 1.4)),
    (entropy_of_gamma, (np.array([0.7, 2.2, 9.0]),)),
    (beta_entropy, (1.4, 2.7)),
    (incomplete, (1.4, 2.7)),
    (probit_scale, (np.array([0.06, 0.4, 0.92]),)),
    (sharp, (1.2, 0.7)),
    (losses, (0.7,)),
    (careful, (X / 2,)),
    (skewed_density, (0.8,)),
    (signed_root, (0.6,)),
    (rotating, (0.5,)),
    (lattice, (0.9, 1.7)),
    (counting, (5.4,)),
    (tails, (np.array([-2.5, 0.3, 3.4]),)),
    (scaled_bessels, (X,)),
]  # fmt: skip
