"""A handbook of functions: Bessel, Airy, elliptic, hypergeometric, orthogonal, zeta, extremes."""

import numpy as np
import scipy.special
import scipy.special as sp
from scipy import special
from scipy.constants import c, h, k
from scipy.special import (
    ellipe,
    ellipeinc,
    ellipj,
    ellipk,
    ellipkinc,
    ellipkm1,
    elliprd,
    elliprf,
    erfcx,
    erfi,
    exp1,
    expi,
    expn,
    factorial,
    hyp1f1,
    hyp2f1,
    kv,
    kve,
    lambertw,
    lpmv,
    mathieu_a,
    mathieu_cem,
    obl_ang1,
    pro_ang1,
    pro_cv,
    pro_rad1,
    roots_genlaguerre,
    roots_sh_legendre,
    shichi,
    sici,
    spence,
    sph_harm_y,
    spherical_jn,
    spherical_kn,
    struve,
    wofz,
    wright_bessel,
    wrightomega,
    zeta,
)

R = np.linspace(0.3, 3.0, 6)


class Fibre:
    """Guided waves in a step of refractive index."""

    def __init__(self, v, order=0):
        self.v, self.order = v, order

    def mismatch(self, u):
        w = np.sqrt(self.v**2 - u**2)
        n = self.order
        return u * sp.jv(n + 1, u) / sp.jv(n, u) - w * kv(n + 1, w) / kv(n, w)

    def mode(self):
        from scipy.optimize import brentq

        return brentq(self.mismatch, 0.1, min(self.v, 2.4) - 1e-3, xtol=1e-14)


def fibre(v):
    u = Fibre(v).mode()
    return u, 1 - (u / v) ** 2


def matern(nu, length):
    """With a smoothness that is estimated."""
    z = np.sqrt(2 * nu) * R / length
    return 2 ** (1 - nu) / sp.gamma(nu) * z**nu * kv(nu, z), kve(nu, z) * np.exp(-z)


def airy_tunnel(field):
    z = -(field ** (1 / 3)) * (1 - R / field)
    ai, aip, bi, bip = sp.airy(z)
    eai = special.airye(np.abs(z))[0]
    return ai * bip - aip * bi, np.log(ai**2 + bi**2), eai, special.itairy(field)[0]


def pendulum(amplitude, length):
    m = np.sin(amplitude / 2) ** 2
    period = 4 * np.sqrt(length / 9.81) * ellipk(m)
    sn, _cn, _dn, ph = ellipj(0.8 * np.sqrt(9.81 / length), m)
    return period, ph, sn, 2 * np.arcsin(np.sqrt(m) * sn), ellipkm1(1 - m)


def ellipse_arc(a, b, phi):
    m = 1 - (b / a) ** 2
    return (
        a * ellipeinc(phi, m),
        4 * a * ellipe(m),
        ellipkinc(phi, m),
        elliprf(a, b, phi),
        elliprd(a, b, 1 + phi),
    )


def ellipsoid(a, b, c):
    """Its surface and its depolarisation by Carlson's forms."""
    nz = a * b * c / 3 * sp.elliprd(a * a, b * b, c * c)
    return nz, sp.elliprg(a * a, b * b, c * c), sp.elliprj(a, b, c, 0.5 + a), sp.elliprc(a, b)


def black_body(T):
    lam = np.array([4e-7, 6e-7, 1e-6])
    x = h * c / (lam * k * T)
    share = sum(
        np.exp(-n * x) * (x**3 / n + 3 * x**2 / n**2 + 6 * x / n**3 + 6 / n**4) for n in range(1, 8)
    )
    return share * 15 / np.pi**4, x**3 / np.expm1(x), zeta(4.0) + 0 * T


def bose_gas(z):
    return spence(1 - z), zeta(1.5 + z), zeta(2.5, z), sp.zetac(3 + z), sp.bernoulli(6)[-1] * z


def well(u, w):
    """Theis and Hantush; both of the exponential integrals."""
    return (
        exp1(u),
        expi(-u),
        expn(2, u),
        sp.exprel(-u),
        *shichi(u),
        *sici(w),
        expn(3, w) * np.exp(w),
    )


def plasma(x, y):
    w = wofz(x + 1j * y)
    return (
        w.real,
        w.imag,
        sp.dawsn(x),
        erfi(x),
        erfcx(y),
        sp.voigt_profile(x, 0.5, y),
        sp.erf(x + 1j * y).real,
    )


def diode_by_lambert(v, n):
    vt = 0.0259 * n
    i = vt * lambertw(1e-9 * 5.0 / vt * np.exp((v + 5e-9) / vt)).real / 5.0 - 1e-9
    return i, lambertw(-0.2 * v, k=-1).real, wrightomega(v), wrightomega(v + 0.5j).real


def kummer(a, b, x):
    return (
        hyp1f1(a, b, x),
        hyp1f1(a, b, -30 * x),
        sp.hyperu(a, b, x),
        hyp2f1(a, b, 2.2, 0.3 * x),
        hyp2f1(a, b, 2.2, -x * 4),
        sp.hyp0f1(b, x),
    )


def polynomials(x, a):
    n = np.arange(4)
    return (
        sp.eval_jacobi(n, a, 0.5, x),
        sp.eval_gegenbauer(3, a, x),
        sp.eval_genlaguerre(n, a, x),
        sp.eval_hermitenorm(n, x),
        sp.eval_chebyt(2.5, x),
        sp.jacobi(3, 0.5, 0.2)(x),
        sp.eval_legendre(1.7, x),
        sp.eval_sh_legendre(3, x),
    )


def harmonics(theta, phi):
    y = sph_harm_y(3, 2, theta, phi)
    pm = lpmv(2, 3, np.cos(theta))
    tab = sp.sph_harm_y_all(2, 1, theta, phi)
    return y.real, np.abs(y) ** 2, pm, tab.imag.sum(), sp.assoc_legendre_p(3, 1, np.cos(theta))[0]


def scattering(x):
    """A hard sphere: phases of partial waves."""
    n = np.arange(3)
    j, y = spherical_jn(n, x), sp.spherical_yn(n, x)
    h1 = j + 1j * y
    return (
        np.abs(j / h1) ** 2,
        spherical_jn(2, x, derivative=True),
        spherical_kn(1, x),
        sp.spherical_in(1, x),
    )


def waveguide(q, x):
    a = mathieu_a(2, q)
    y, _yp = mathieu_cem(2, q, x)
    return a, sp.mathieu_b(1, q), y * np.pi / 180, sp.mathieu_sem(1, q, x)[0]


def spheroid(cc, x):
    return (
        pro_cv(0, 1, cc),
        pro_ang1(0, 1, cc, x)[0],
        pro_rad1(0, 1, cc, 1.5)[0],
        obl_ang1(1, 2, cc, x)[0],
    )


def kelvin_functions(x):
    return (
        sp.ber(x),
        sp.bei(x),
        sp.ker(x),
        sp.keip(x),
        struve(0.5, x),
        sp.modstruve(1, x),
        sp.itstruve0(x),
    )


def hankel_waves(nu, x):
    h1 = sp.hankel1(nu, x)
    return (
        h1.real,
        np.angle(h1),
        sp.hankel2e(nu, x).imag,
        sp.h1vp(1.5, x).real,
        sp.ivp(2, x),
        sp.kvp(nu, x, 2),
    )


def gamma_family(x, y):
    return (
        sp.gammaln(x) - sp.loggamma(y),
        sp.rgamma(x),
        sp.poch(x, y),
        sp.beta(x, y),
        sp.binom(5 + x, y),
        sp.polygamma(2, x),
        sp.multigammaln(x + 2, 3),
        sp.psi(x + 1j * y).real,
        sp.loggamma(x + 1j * y).imag,
        factorial(x, exact=False),
    )


def incomplete(a, x):
    return (
        sp.gammainc(a, x),
        sp.gammaincinv(a, 0.3),
        sp.gammainccinv(a, x / 20),
        sp.betainc(a, x, 0.4),
        sp.betaincinv(a, x, 0.2),
        sp.betaincc(a, x, 0.7),
        sp.bdtr(2, 7, 0.1 * x),
        sp.fdtrc(a, x, 1.4),
        sp.nbdtr(3, 4, 0.2 * x),
        sp.pdtrc(2, x),
    )


def extremes(x):
    big = 200 * x
    return (
        sp.log_ndtr(-big),
        sp.log_expit(-big),
        sp.logit(1e-12 * x),
        sp.erfinv(1 - 1e-10 * x),
        sp.ndtri(1e-200 * x),
        sp.ndtri_exp(-big),
        sp.gammaln(1e8 * x),
        sp.betaln(1e-8 * x, big),
        sp.jv(50.0, 60 * x),
        sp.ive(2.5, big),
        sp.gammaincc(300 * x, 350.0),
        sp.cosm1(1e-4 * x),
        sp.log1p(1e-12 * x),
        sp.xlog1py(x, -0.5),
    )


def information(p, q):
    return (
        sp.entr(p),
        sp.rel_entr(p, q),
        sp.kl_div(p, q),
        sp.huber(0.3, p - q),
        sp.pseudo_huber(0.3, p),
        sp.log_softmax(p),
        sp.softmax(np.outer(p, q), axis=1)[0],
        sp.logsumexp(p, b=q, return_sign=True)[0],
        sp.xlogy(p, q),
        sp.boxcox(p, 0.3),
        sp.inv_boxcox(p, 0.3),
        sp.exp10(p),
        sp.agm(p, q),
    )


def quadrature_of_gauss(alpha):
    x, w = roots_genlaguerre(4, alpha)
    y, v, total = roots_sh_legendre(3, mu=True)
    return w @ np.cos(x), x, v @ np.exp(-alpha * y), total * alpha


def fractional_calculus(a, x):
    """Mainardi's function and a relaxation by Wright's."""
    return wright_bessel(a, 1.5, x), sp.log_wright_bessel(a, 1.2, x), wright_bessel(0.0, 1.2, x)


def waveguides_cutoffs(x):
    zeros = sp.jn_zeros(1, 3)
    ynz = sp.ynp_zeros(0, 1)
    return np.exp(-zeros * x), sp.jnyn_zeros(1, 1)[0] * x, sp.ai_zeros(2)[0] * x, ynz * x


def fresnel_edge(x):
    s, co = sp.fresnel(x)
    zs = special.modfresnelp(x)[0]
    return (
        0.5 * ((0.5 + co) ** 2 + (0.5 + s) ** 2),
        np.abs(zs),
        scipy.special.it2j0y0(x)[0],
        sp.itj0y0(x)[1],
    )


def studentised(q, df):
    return (
        sp.stdtr(df, q),
        sp.stdtrit(df, 0.9),
        sp.chdtrc(df, q * 3),
        sp.chdtri(df, 0.05),
        sp.kolmogorov(0.5 + 0.1 * q),
        sp.smirnov(9, 0.2 + 0.01 * q),
        sp.owens_t(q, df),
        sp.nctdtr(df, 0.5, q),
        sp.chndtr(q, df, 1.5),
        sp.tklmbda(0.2 * q, 0.3),
    )


MORE = [
    (fibre, (3.2,)),
    (matern, (1.3, 0.8)),
    (airy_tunnel, (1.4,)),
    (pendulum, (1.1, 0.9)),
    (ellipse_arc, (1.4, 0.9, 0.7)),
    (ellipsoid, (1.2, 0.9, 0.7)),
    (black_body, (5800.0,)),
    (bose_gas, (0.6,)),
    (well, (0.3, 1.4)),
    (plasma, (0.7, 0.4)),
    (diode_by_lambert, (0.6, 1.3)),
    (kummer, (0.7, 1.4, 0.8)),
    (polynomials, (0.35, 0.7)),
    (harmonics, (0.8, 0.5)),
    (scattering, (1.7,)),
    (waveguide, (1.6, 40.0)),
    (spheroid, (1.3, 0.4)),
    (kelvin_functions, (1.4,)),
    (hankel_waves, (0.8, 2.1)),
    (gamma_family, (1.7, 0.6)),
    (incomplete, (2.3, 1.9)),
    (extremes, (1.1,)),
    (information, (np.array([0.2, 0.5, 0.3]), np.array([0.4, 0.25, 0.35]))),
    (quadrature_of_gauss, (0.6,)),
    (fractional_calculus, (0.6, 0.8)),
    (waveguides_cutoffs, (0.3,)),
    (fresnel_edge, (0.8,)),
    (studentised, (1.2, 4.5)),
]
