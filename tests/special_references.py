# ruff: noqa: E501  # one function a line
"""References of scipy.special in arbitrary precision: by mpmath's function or by the definition.

name -> (function of mpmath numbers, points). Points are ordinary, extreme and degenerate ones:
tails, places near poles, large orders and parameters. An operand of a point that is an int is a
count or an order that is not differentiated.
"""

import mpmath as mp

inf = mp.inf
SQRT2 = mp.sqrt(2)


def gammainc(a, x):
    return mp.gammainc(a, 0, x, regularized=True)


def gammaincc(a, x):
    return mp.gammainc(a, x, inf, regularized=True)


def betainc(a, b, x):
    return mp.betainc(a, b, 0, x, regularized=True)


def betaincc(a, b, x):
    return mp.betainc(b, a, 0, 1 - x, regularized=True)


def ndtr(x):
    return mp.erfc(-x / SQRT2) / 2


def log_ndtr(x):
    return mp.log1p(-mp.erfc(x / SQRT2) / 2) if mp.re(x) > 0 else mp.log(ndtr(x))


def stdtr(df, t):
    tail = mp.betainc(df / 2, mp.mpf(1) / 2, 0, df / (df + t * t), regularized=True) / 2
    return tail if t < 0 else 1 - tail


def many_degrees(df, t):
    """stdtr as an integral: betainc is out of breath at large df."""
    scale = mp.exp(mp.loggamma((df + 1) / 2) - mp.loggamma(df / 2)) / mp.sqrt(mp.pi * df)
    density = lambda s: scale * mp.exp(-(df + 1) / 2 * mp.log1p(s * s / df))
    return mp.quad(density, mp.linspace(t - 14, t, 8)) if t < 0 else 1 - many_degrees(df, -t)


def solved(f, i, start):
    """The operand i of f(*xs) that gives the value in its place."""
    return lambda *xs: mp.findroot(lambda y: f(*xs[:i], y, *xs[i + 1 :]) - xs[i], start(*xs))


def elliprd(x, y, z):
    return mp.elliprd(x, y, z)


def kelvin(kind, k):
    f = {"ber": mp.ber, "bei": mp.bei, "ker": mp.ker, "kei": mp.kei}[kind]
    return lambda x: f(0, x) if k == 0 else mp.diff(lambda t: f(0, t), x)


def spherical(bessel, factor=1):
    return lambda n, x: bessel(n + mp.mpf(1) / 2, x) * mp.sqrt(mp.pi / 2 / x) * factor


def scaled(f, power):
    return lambda v, x: f(v, x) * mp.exp(power * x)


def poch(a, m):
    return mp.gamma(a + m) / mp.gamma(a)


def agm(a, b):
    return mp.agm(a, b)


def struve0(x):
    return mp.struveh(0, x)


class Integral:
    """The integral of f from 0, of which the derivatives are those of f."""

    def __init__(self, f):
        self.derivative = f

    def __call__(self, x):
        return mp.quad(self.derivative, [0, x])


def wright(a, b, x):
    return mp.nsum(lambda k: x**k / mp.factorial(k) * mp.rgamma(a * k + b), [0, inf])


def owens(h, a):
    return mp.quad(lambda t: mp.exp(-h * h * (1 + t * t) / 2) / (1 + t * t), [0, a]) / (2 * mp.pi)


def voigt(x, s, g):
    w = lambda z: mp.exp(-z * z) * mp.erfc(-1j * z)
    part = lambda x, s, g: w((x + 1j * g) / (s * SQRT2)) / (s * mp.sqrt(2 * mp.pi))
    return (part(x, s, g) + w((-x + 1j * g) / (s * SQRT2)) / (s * mp.sqrt(2 * mp.pi))) / 2


def pcf(v, x):
    return mp.pcfd(v, x)


def boxcox(x, l):
    return (x**l - 1) / l if l else mp.log(x)


def inv_boxcox(y, l):
    return mp.exp(mp.log1p(l * y) / l) if l else mp.exp(y)


def kolmogorov(x):
    return 2 * mp.nsum(lambda k: (-1) ** (int(k) - 1) * mp.exp(-2 * k * k * x * x), [1, inf])


def chndtr(x, df, nc):
    return mp.nsum(
        lambda k: mp.exp(-nc / 2) * (nc / 2) ** k / mp.factorial(k) * gammainc(df / 2 + k, x / 2),
        [0, inf],
    )


REAL = {
    # gamma
    "gamma": (mp.gamma, [(0.5,), (5.5,), (1e-8,), (-0.7,), (-30.3,), (150.5,), (1 + 1e-9,)]),
    "gammaln": (lambda x: mp.re(mp.loggamma(x)), [(0.5,), (2.7,), (1e-300,), (-3.3,), (1e8,), (1e200,), (1.0,), (2.0,)]),
    "loggamma": (mp.loggamma, [(0.5,), (3.3,), (1e-9,), (1e10,)]),
    "rgamma": (mp.rgamma, [(0.5,), (0.0,), (-3.0,), (-3.0 + 1e-9,), (-7.5,), (20.5,), (160.2,), (-20.0,)]),
    "digamma": (mp.digamma, [(0.5,), (1e-6,), (-0.4,), (-12.7,), (1e6,), (1.4616321449683622,)]),
    "zetac": (lambda x: mp.zeta(x) - 1, [(1.5,), (3.3,), (-2.5,), (20.0,), (0.5,)]),
    "poch": (poch, [(2.5, 1.5), (0.3, 12.2), (1e8, 1.0), (1e4, 0.25), (3.0, 1e-8), (50.5, -3.3)]),
    "beta": (mp.beta, [(2.5, 1.5), (0.1, 20.0), (1e-6, 3.0), (30.0, 40.0), (200.0, 0.5)]),
    "betaln": (lambda a, b: mp.log(mp.beta(a, b)), [(2.5, 1.5), (0.1, 20.0), (1e8, 0.5), (1e-9, 1e-9), (1e6, 2e6), (3.0, 1e10)]),
    "binom": (mp.binomial, [(5.5, 2.5), (10.0, 3.0), (50.2, 20.7), (0.5, 3.2), (100.0, 0.5)]),
    "gammainc": (gammainc, [(2.5, 1.0), (0.5, 0.1), (1e-3, 2.0), (2.0, 40.0), (50.0, 20.0), (50.0, 80.0), (1e3, 1010.0), (1e-6, 1e-3), (3.0, 1e-10), (10.0, 1e-3), (1e5, 1e5 + 300)]),
    "gammaincc": (gammaincc, [(2.5, 1.0), (0.5, 0.1), (2.0, 40.0), (50.0, 20.0), (50.0, 80.0), (1e3, 1010.0), (0.3, 200.0)]),
    "gammaincinv": (solved(gammainc, 1, lambda a, y: a), [(2.5, 0.3), (0.5, 0.9), (30.0, 0.01), (5.0, 0.999)]),
    "gammainccinv": (solved(gammaincc, 1, lambda a, y: a), [(2.5, 0.3), (0.5, 0.1), (30.0, 0.01), (5.0, 0.999)]),
    # errors
    "erf": (mp.erf, [(0.3,), (-2.5,), (5.0,), (0.0,)]),
    "erfc": (mp.erfc, [(0.3,), (-2.5,), (5.0,), (0.0,), (25.0,)]),
    "erfcx": (lambda x: mp.exp(x * x) * mp.erfc(x), [(0.3,), (-2.5,), (5.0,), (9.9,), (10.1,), (1e3,), (1e8,), (-20.0,)]),
    "erfi": (mp.erfi, [(0.3,), (-2.5,), (0.0,), (20.0,)]),
    "dawsn": (lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x), [(0.3,), (-2.5,), (0.0,), (9.9,), (10.1,), (1e4,), (-30.0,)]),
    "erfinv": (mp.erfinv, [(0.3,), (-0.9,), (0.0,), (0.999999,)]),
    "erfcinv": (lambda y: mp.findroot(lambda x: mp.erfc(x) / y - 1, 0.5 if 0.1 < y < 1.5 else -0.8 if y > 1 else 4.57), [(0.3,), (1.7,), (1e-10,)]),
    "ndtr": (ndtr, [(0.3,), (-2.5,), (0.0,), (-30.0,), (8.0,)]),
    "log_ndtr": (log_ndtr, [(0.3,), (-2.5,), (0.0,), (-40.0,), (-1e4,), (8.0,), (25.0,)]),
    "ndtri": (solved(ndtr, 0, lambda p: 0.1 if p > 0.01 else -5), [(0.3,), (0.9,), (1e-9,)]),
    "ndtri_exp": (lambda y: mp.findroot(lambda x: mp.log(ndtr(x)) - y, -mp.sqrt(-2 * y)), [(-0.5,), (-10.0,), (-1000.0,)]),
    "owens_t": (owens, [(0.5, 0.8), (3.0, 0.2), (-1.0, 2.5), (0.0, 0.5)]),
    "voigt_profile": (voigt, [(0.5, 1.0, 0.7), (3.0, 0.2, 1.5), (-1.0, 2.5, 0.1), (30.0, 1.0, 1.0)]),
    # convenience
    "cbrt": (lambda x: mp.cbrt(x), [(2.0,), (1e-12,)]),
    "exp2": (lambda x: mp.mpf(2) ** x, [(2.5,), (-60.0,)]),
    "exp10": (lambda x: mp.mpf(10) ** x, [(2.5,), (-60.0,)]),
    "expm1": (mp.expm1, [(2.5,), (1e-12,), (-40.0,)]),
    "log1p": (mp.log1p, [(2.5,), (1e-12,), (-0.999,)]),
    "exprel": (lambda x: mp.expm1(x) / x, [(2.5,), (1e-8,), (0.69,), (0.71,), (-0.5,), (-30.0,), (100.0,)]),
    "cosm1": (lambda x: mp.cos(x) - 1, [(2.5,), (1e-8,)]),
    "sindg": (lambda x: mp.sin(x * mp.pi / 180), [(30.0,), (170.0,)]),
    "cosdg": (lambda x: mp.cos(x * mp.pi / 180), [(30.0,), (170.0,)]),
    "tandg": (lambda x: mp.tan(x * mp.pi / 180), [(30.0,), (170.0,)]),
    "cotdg": (lambda x: mp.cot(x * mp.pi / 180), [(30.0,), (170.0,)]),
    "radian": (lambda d, m, s: (d + m / 60 + s / 3600) * mp.pi / 180, [(30.0, 20.0, 10.0)]),
    "expit": (lambda x: 1 / (1 + mp.exp(-x)), [(0.5,), (-3.0,), (40.0,), (-700.0,)]),
    "log_expit": (lambda x: -mp.log1p(mp.exp(-x)), [(0.5,), (-3.0,), (40.0,), (-700.0,)]),
    "logit": (lambda x: mp.log(x / (1 - x)), [(0.3,), (0.01,), (1e-200,), (0.999,)]),
    "wrightomega": (lambda x: mp.lambertw(mp.exp(x)), [(0.5,), (-30.0,), (200.0,)]),
    "agm": (agm, [(0.5, 0.8), (1.0, 1.0), (1e-6, 3.0), (20.0, 21.0)]),
    "powm1": (lambda x, y: x**y - 1, [(0.5, 0.8), (1.00001, 3.0), (7.0, -2.2)]),
    "xlogy": (lambda x, y: x * mp.log(y), [(0.5, 0.8), (3.0, 1e-300), (-2.0, 5.0)]),
    "xlog1py": (lambda x, y: x * mp.log1p(y), [(0.5, 0.8), (3.0, -0.99), (-2.0, 1e-20)]),
    "entr": (lambda x: -x * mp.log(x), [(0.5,), (1e-30,), (40.0,)]),
    "rel_entr": (lambda x, y: x * mp.log(x / y), [(0.5, 0.8), (3.0, 1e-5)]),
    "kl_div": (lambda x, y: x * mp.log(x / y) - x + y, [(0.5, 0.8), (3.0, 1e-5)]),
    "pseudo_huber": (lambda d, r: d * d * (mp.sqrt(1 + (r / d) ** 2) - 1), [(0.5, 0.8), (3.0, 1e-5), (1e-3, 50.0), (2.0, -1.0)]),
    "boxcox": (boxcox, [(0.5, 0.8), (3.0, -1.5), (3.0, 1e-9), (20.0, 0.2), (0.01, 0.4)]),
    "boxcox1p": (lambda x, l: boxcox(1 + x, l), [(0.5, 0.8), (3.0, -1.5), (3.0, 1e-9), (20.0, 0.2)]),
    "inv_boxcox": (inv_boxcox, [(0.5, 0.8), (0.3, -1.5), (3.0, 1e-9), (20.0, 0.2)]),
    "inv_boxcox1p": (lambda y, l: inv_boxcox(y, l) - 1, [(0.5, 0.8), (0.3, -1.5), (3.0, 1e-9), (20.0, 0.2)]),
    "tklmbda": (lambda x, l: mp.findroot(lambda p: (p**l - (1 - p) ** l) / l - x, 0.5), [(0.5, 0.8), (0.3, -0.5), (-0.6, 0.2)]),
    # integrals
    "exp1": (mp.e1, [(0.5,), (1e-5,), (30.0,)]),
    "expi": (mp.ei, [(0.5,), (-2.0,), (1e-5,), (30.0,)]),
    "expn": (mp.expint, [(2, 0.5), (0, 1.5), (1, 3.0), (7, 20.0)]),
    "spence": (lambda x: mp.polylog(2, 1 - x), [(1e-12,), (0.5,), (1.0001,), (1.0,), (0.01,), (1.21,), (30.0,)]),
    # bessel
    "j0": (lambda x: mp.besselj(0, x), [(0.5,), (1e-9,), (30.0,), (-3.0,)]),
    "j1": (lambda x: mp.besselj(1, x), [(0.5,), (1e-9,), (30.0,), (-3.0,)]),
    "y0": (lambda x: mp.bessely(0, x), [(0.5,), (1e-9,), (30.0,)]),
    "y1": (lambda x: mp.bessely(1, x), [(0.5,), (1e-9,), (30.0,)]),
    "i0": (lambda x: mp.besseli(0, x), [(0.5,), (1e-9,), (30.0,), (-3.0,)]),
    "i1": (lambda x: mp.besseli(1, x), [(0.5,), (1e-9,), (30.0,), (-3.0,)]),
    "k0": (lambda x: mp.besselk(0, x), [(0.5,), (1e-9,), (30.0,)]),
    "k1": (lambda x: mp.besselk(1, x), [(0.5,), (1e-9,), (30.0,)]),
    "i0e": (lambda x: mp.besseli(0, x) * mp.exp(-abs(x)), [(0.5,), (39.0,), (41.0,), (1e5,), (-3.0,)]),
    "i1e": (lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), [(0.5,), (39.0,), (41.0,), (1e5,), (-3.0,), (1e-9,)]),
    "k0e": (lambda x: mp.besselk(0, x) * mp.exp(x), [(0.5,), (39.0,), (1e3,)]),
    "k1e": (lambda x: mp.besselk(1, x) * mp.exp(x), [(0.5,), (39.0,), (1e3,)]),
    "jv": (mp.besselj, [(0.0, 1.0), (2.5, 1.0), (1.0, 50.0), (100.0, 90.0), (0.5, 1e-3), (3.0, 1e3), (-1.5, 2.0)]),
    "yv": (mp.bessely, [(0.0, 1.0), (2.5, 1.0), (1.0, 50.0), (100.0, 90.0), (0.5, 1e-3), (3.0, 1e3)]),
    "iv": (mp.besseli, [(0.1, 1.0), (2.5, 1.0), (1.0, 50.0), (100.0, 90.0), (0.5, 1e-3), (3.0, 300.0), (0.0, 20.0)]),
    "kv": (mp.besselk, [(0.1, 1.0), (2.5, 1.0), (1.0, 50.0), (100.0, 90.0), (0.5, 1e-3), (3.0, 300.0)]),
    "jve": (mp.besselj, [(2.5, 1.0), (1.0, 50.0)]),
    "yve": (mp.bessely, [(2.5, 1.0), (1.0, 50.0)]),
    "ive": (scaled(mp.besseli, -1), [(1, 1e8), (7.3, 1e4), (0.1, 1.0), (2.5, 1.0), (1.0, 50.0), (30.0, 400.0)]),
    "kve": (scaled(mp.besselk, 1), [(1, 1e8), (7.3, 1e4), (0.1, 1.0), (2.5, 1.0), (1.0, 50.0), (30.0, 400.0)]),
    "yn": (mp.bessely, [(0, 1.0), (3, 20.0), (12, 0.5)]),
    "kn": (mp.besselk, [(0, 1.0), (3, 20.0), (12, 0.5)]),
    "hankel1": (mp.hankel1, [(0.5, 1.0), (3.3, 20.0), (0.0, 2.0)]),
    "hankel2": (mp.hankel2, [(0.5, 1.0), (3.3, 20.0), (0.0, 2.0)]),
    "hankel1e": (lambda v, x: mp.hankel1(v, x) * mp.exp(-1j * x), [(0.5, 1.0), (3.3, 20.0)]),
    "hankel2e": (lambda v, x: mp.hankel2(v, x) * mp.exp(1j * x), [(0.5, 1.0), (3.3, 20.0)]),
    "ber": (kelvin("ber", 0), [(0.5,), (8.0,)]),
    "bei": (kelvin("bei", 0), [(0.5,), (8.0,)]),
    "ker": (kelvin("ker", 0), [(0.5,), (8.0,)]),
    "kei": (kelvin("kei", 0), [(0.5,), (8.0,)]),
    "berp": (kelvin("ber", 1), [(0.5,), (8.0,)]),
    "beip": (kelvin("bei", 1), [(0.5,), (8.0,)]),
    "kerp": (kelvin("ker", 1), [(0.5,), (8.0,)]),
    "keip": (kelvin("kei", 1), [(0.5,), (8.0,)]),
    "itstruve0": (Integral(struve0), [(0.5,), (8.0,)]),
    "it2struve0": (lambda x: mp.pi / 2 - mp.quad(lambda t: struve0(t) / t, [0, x]), [(0.5,), (8.0,)]),
    "itmodstruve0": (Integral(lambda t: mp.struvel(0, t)), [(0.5,), (8.0,)]),
    "besselpoly": (lambda a, l, v: mp.quad(lambda t: t**l * mp.besselj(v, 2 * a * t), [0, 1]), [(0.5, 0.7, 1.0), (3.0, 2.0, 0.5)]),
    "struve": (mp.struveh, [(0.5, 1.0), (2.2, 12.0), (0.0, 3.0), (5.0, 0.1)]),
    "modstruve": (mp.struvel, [(0.5, 1.0), (2.2, 12.0), (0.0, 3.0), (5.0, 0.1)]),
    "wright_bessel": (wright, [(0.5, 1.0, 2.0), (1.5, 0.3, 5.0), (2.0, 3.0, 0.5)]),
    "log_wright_bessel": (lambda a, b, x: mp.log(wright(a, b, x)), [(0.5, 1.0, 2.0), (1.5, 0.3, 5.0), (2.0, 3.0, 0.5)]),
    # elliptic
    "ellipk": (mp.ellipk, [(0.5,), (0.0,), (1e-9,), (-30.0,), (0.999999,)]),
    "ellipkm1": (lambda p: mp.ellipk(1 - p), [(0.5,), (1e-9,), (3.0,)]),
    "ellipe": (mp.ellipe, [(0.5,), (0.0,), (1e-9,), (-30.0,), (0.999999,)]),
    "ellipkinc": (mp.ellipf, [(0.5, 0.3), (1.5, 0.9), (4.0, 0.3), (-0.7, -3.0), (0.5, 0.0), (1e-5, 0.5)]),
    "ellipeinc": (mp.ellipe, [(0.5, 0.3), (1.5, 0.9), (4.0, 0.3), (-0.7, -3.0), (0.5, 0.0), (1e-5, 0.5)]),
    "elliprc": (mp.elliprc, [(0.5, -0.3), (2.0, -30.0), (0.5, 0.3), (1e-3, 20.0), (2.0, 2.1)]),
    "elliprf": (mp.elliprf, [(0.5, 0.3, 1.0), (1e-3, 20.0, 3.0), (2.0, 2.0, 2.1)]),
    "elliprg": (mp.elliprg, [(0.5, 0.3, 1.0), (1e-3, 20.0, 3.0), (2.0, 2.0, 2.1)]),
    "elliprd": (mp.elliprd, [(0.5, 0.3, 1.0), (1e-3, 20.0, 3.0), (2.0, 2.0, 2.1)]),
    "elliprj": (mp.elliprj, [(0.5, 0.3, 1.0, 0.7), (2.0, 2.0, 2.1, 5.0)]),
    # hypergeometric
    "hyp0f1": (mp.hyp0f1, [(1.5, 0.7), (0.3, -5.0), (20.0, 30.0)]),
    "hyp1f1": (mp.hyp1f1, [(1.5, 2.5, 0.7), (0.3, 1.2, -5.0), (5.0, 0.5, 20.0), (-1.5, 3.5, 2.0)]),
    "hyp2f1": (mp.hyp2f1, [(1.5, 2.5, 3.2, 0.7), (0.3, 1.2, 0.9, -5.0), (0.5, 0.5, 1.5, 0.2)]),
    "hyperu": (mp.hyperu, [(1.5, 2.5, 0.7), (0.3, 1.2, 5.0), (2.0, 0.5, 20.0)]),
    # polynomials
    "eval_chebyt": (mp.chebyt, [(3, 0.5), (7, 1.0), (0, 0.3), (2.5, 0.3), (12, 1.5)]),
    "eval_chebyu": (mp.chebyu, [(3, 0.5), (7, 1.0), (0, 0.3), (2.5, 0.3), (12, 1.5)]),
    "eval_chebyc": (lambda n, x: 2 * mp.chebyt(n, x / 2), [(3, 0.5), (7, 1.0), (0, 0.3), (2.5, 0.3)]),
    "eval_chebys": (lambda n, x: mp.chebyu(n, x / 2), [(3, 0.5), (7, 1.0), (0, 0.3), (2.5, 0.3)]),
    "eval_legendre": (mp.legendre, [(3, 0.5), (7, 1.0), (0, 0.3), (2.5, 0.3), (12, 1.5)]),
    "eval_sh_chebyt": (lambda n, x: mp.chebyt(n, 2 * x - 1), [(3, 0.5), (7, 1.0), (0, 0.3), (2.5, 0.3)]),
    "eval_sh_chebyu": (lambda n, x: mp.chebyu(n, 2 * x - 1), [(3, 0.5), (7, 1.0), (0, 0.3), (2.5, 0.3)]),
    "eval_sh_legendre": (lambda n, x: mp.legendre(n, 2 * x - 1), [(3, 0.5), (7, 1.0), (0, 0.3), (2.5, 0.3)]),
    "eval_laguerre": (lambda n, x: mp.laguerre(n, 0, x), [(3, 0.5), (7, 10.0), (0, 0.3), (2.5, 0.3)]),
    "eval_genlaguerre": (mp.laguerre, [(3, 0.5, 0.5), (7, 1.2, 10.0), (0, 1.0, 0.3), (2.5, 0.5, 0.3)]),
    "eval_gegenbauer": (mp.gegenbauer, [(3, 0.7, 0.5), (7, 1.2, 0.9), (0, 1.0, 0.3), (2.5, 0.7, 0.3)]),
    "eval_jacobi": (mp.jacobi, [(3, 0.7, 0.5, 0.2), (7, 1.2, 0.9, 0.8), (0, 1.0, 0.3, 0.5), (2.5, 0.7, 0.3, 0.1)]),
    "eval_sh_jacobi": (lambda n, p, q, x: mp.jacobi(n, p - q, q - 1, 2 * x - 1) / mp.binomial(2 * n + p - 1, n), [(3, 2.7, 1.5, 0.2), (7, 3.2, 1.9, 0.8), (0, 2.0, 1.3, 0.5)]),
    "eval_hermite": (mp.hermite, [(3, 0.5), (7, 1.0), (0, 0.3), (1, 0.3)]),
    "eval_hermitenorm": (lambda n, x: mp.mpf(2) ** (-mp.mpf(n) / 2) * mp.hermite(n, x / SQRT2), [(3, 0.5), (7, 1.0), (0, 0.3), (1, 0.3)]),
    "lpmv": (lambda m, v, x: mp.re(mp.legenp(v, m, x)), [(0, 2.5, 0.3), (1, 3.2, -0.6), (2, 4.0, 0.5)]),
    # distributions
    "betainc": (betainc, [(2.5, 1.5, 0.3), (0.5, 0.1, 0.9), (50.0, 20.0, 0.7), (2.0, 3.0, 1e-6), (1e-2, 20.0, 0.9), (300.0, 400.0, 0.4)]),
    "betaincc": (betaincc, [(2.5, 1.5, 0.3), (0.5, 0.1, 0.9), (50.0, 20.0, 0.7), (2.0, 3.0, 0.9999)]),
    "betaincinv": (solved(betainc, 2, lambda a, b, p: a / (a + b)), [(2.5, 1.5, 0.3), (5.0, 3.0, 0.9), (8.0, 4.0, 0.1)]),
    "betainccinv": (solved(betaincc, 2, lambda a, b, p: a / (a + b)), [(2.5, 1.5, 0.3), (5.0, 3.0, 0.9)]),
    "btdtria": (solved(betainc, 0, lambda p, b, x: 2), [(0.3, 1.5, 0.6), (0.9, 3.0, 0.9)]),
    "btdtrib": (solved(betainc, 1, lambda a, p, x: 2), [(1.5, 0.3, 0.3), (3.0, 0.9, 0.5)]),
    "gdtr": (lambda a, b, x: gammainc(b, a * x), [(0.5, 2.0, 3.0), (3.0, 0.2, 0.1), (1.0, 20.0, 5.0)]),
    "gdtrc": (lambda a, b, x: gammaincc(b, a * x), [(0.5, 2.0, 3.0), (3.0, 0.2, 5.0)]),
    "gdtria": (solved(lambda a, b, x: gammainc(b, a * x), 0, lambda p, b, x: b / x), [(0.4, 2.0, 3.0), (0.9, 5.0, 2.0)]),
    "gdtrib": (solved(lambda a, b, x: gammainc(b, a * x), 1, lambda a, p, x: a * x), [(0.5, 0.4, 3.0), (2.0, 0.9, 2.0)]),
    "gdtrix": (solved(lambda a, b, x: gammainc(b, a * x), 2, lambda a, b, p: b / a), [(0.5, 2.0, 0.4), (2.0, 5.0, 0.9)]),
    "chdtr": (lambda v, x: gammainc(v / 2, x / 2), [(3.0, 2.0), (0.5, 1e-3), (100.0, 130.0)]),
    "chdtrc": (lambda v, x: gammaincc(v / 2, x / 2), [(3.0, 2.0), (1.0, 60.0), (100.0, 130.0)]),
    "chdtri": (solved(lambda v, x: gammaincc(v / 2, x / 2), 1, lambda v, p: v), [(3.0, 0.4), (100.0, 0.01)]),
    "chdtriv": (solved(lambda v, x: gammainc(v / 2, x / 2), 0, lambda p, x: x), [(0.4, 3.0), (0.1, 40.0)]),
    "pdtr": (lambda k, m: gammaincc(k + 1, m), [(3, 2.0), (30, 20.0), (0, 1e-3)]),
    "pdtrc": (lambda k, m: gammainc(k + 1, m), [(3, 2.0), (30, 20.0), (0, 1e-3)]),
    "pdtri": (solved(lambda k, m: gammaincc(k + 1, m), 1, lambda k, y: k + 1), [(3, 0.3), (20, 0.9)]),
    "pdtrik": (solved(lambda k, m: gammaincc(k + 1, m), 0, lambda p, m: m), [(0.3, 4.0), (0.9, 30.0)]),
    "bdtr": (lambda k, n, p: betainc(n - k, k + 1, 1 - p), [(3, 8, 0.3), (20, 50, 0.5)]),
    "bdtrc": (lambda k, n, p: betainc(k + 1, n - k, p), [(3, 8, 0.3), (20, 50, 0.5)]),
    "bdtri": (solved(lambda k, n, p: betainc(n - k, k + 1, 1 - p), 2, lambda k, n, y: (k + 0.7) / n), [(3, 8, 0.3), (20, 50, 0.5)]),
    "bdtrik": (solved(lambda k, n, p: betainc(n - k, k + 1, 1 - p), 0, lambda y, n, p: n * p), [(0.3, 10.0, 0.4), (0.8, 50.0, 0.5)]),
    "bdtrin": (solved(lambda k, n, p: betainc(n - k, k + 1, 1 - p), 1, lambda k, y, p: k / p), [(3.0, 0.3, 0.4), (20.0, 0.8, 0.5)]),
    "nbdtr": (lambda k, n, p: betainc(n, k + 1, p), [(3, 8, 0.6), (20, 50, 0.6)]),
    "nbdtrc": (lambda k, n, p: betaincc(n, k + 1, p), [(3, 8, 0.6), (20, 50, 0.6)]),
    "nbdtri": (solved(lambda k, n, p: betainc(n, k + 1, p), 2, lambda k, n, y: 0.6), [(3, 8, 0.3), (20, 50, 0.5)]),
    "nbdtrik": (solved(lambda k, n, p: betainc(n, k + 1, p), 0, lambda y, n, p: n * (1 - p) / p), [(0.3, 10.0, 0.4), (0.8, 20.0, 0.5)]),
    "nbdtrin": (solved(lambda k, n, p: betainc(n, k + 1, p), 1, lambda k, y, p: k * p / (1 - p)), [(5.0, 0.3, 0.4), (20.0, 0.8, 0.5)]),
    "fdtr": (lambda n, d, x: betainc(n / 2, d / 2, n * x / (n * x + d)), [(3.0, 5.0, 1.2), (1.0, 200.0, 0.3), (20.0, 2.0, 3.0)]),
    "fdtrc": (lambda n, d, x: betaincc(n / 2, d / 2, n * x / (n * x + d)), [(3.0, 5.0, 1.2), (1.0, 200.0, 10.0), (20.0, 2.0, 3.0)]),
    "fdtri": (solved(lambda n, d, x: betainc(n / 2, d / 2, n * x / (n * x + d)), 2, lambda n, d, p: 1), [(3.0, 5.0, 0.6), (10.0, 20.0, 0.9)]),
    "fdtridfd": (solved(lambda n, d, x: betainc(n / 2, d / 2, n * x / (n * x + d)), 1, lambda n, p, x: 5), [(3.0, 0.6, 1.2)]),
    "stdtr": (stdtr, [(3.0, 1.2), (0.5, -3.0), (30.0, -20.0), (5.0, 8.0), (150.0, 1.0), (2.0, -1e3)]),
    "stdtrit": (solved(stdtr, 1, lambda df, p: mp.mpf(p - 0.5) * 3), [(3.0, 0.8), (20.0, 0.1), (5.0, 0.6)]),
    "stdtridf": (solved(stdtr, 0, lambda p, t: 3), [(0.8, 0.95)]),
    "chndtr": (chndtr, [(3.0, 2.5, 1.5), (10.0, 4.0, 0.5), (1.0, 8.0, 2.0)]),
    "kolmogorov": (kolmogorov, [(0.8,), (1.5,), (0.4,), (3.0,)]),
    "kolmogi": (solved(kolmogorov, 0, lambda p: 0.9), [(0.4,), (0.8,)]),
}  # fmt: skip

# Results of functions with several: name -> one reference for each.
SEVERAL = {
    "sici": ([Integral(mp.sinc), mp.ci], [(0.5,), (8.0,), (1e-6,)]),
    "shichi": ([mp.shi, mp.chi], [(0.5,), (8.0,), (1e-6,)]),
    "fresnel": ([mp.fresnels, mp.fresnelc], [(0.5,), (3.0,), (-1.0,), (1000.1,)]),
    "modfresnelp": ([lambda x: mp.quad(lambda t: mp.exp(1j * (x + t * mp.sqrt(1j)) ** 2) * mp.sqrt(1j), [0, 1, 4, 12])], [(0.5,), (2.0,)]),
    "airy": ([mp.airyai, lambda x: mp.airyai(x, derivative=1), mp.airybi, lambda x: mp.airybi(x, derivative=1)], [(0.5,), (-8.0,), (5.0,), (0.0,)]),
    "airye": ([lambda x: mp.airyai(x) * mp.exp(2 * x**1.5 / 3), lambda x: mp.airyai(x, derivative=1) * mp.exp(2 * x**1.5 / 3), lambda x: mp.airybi(x) * mp.exp(-2 * x**1.5 / 3), lambda x: mp.airybi(x, derivative=1) * mp.exp(-2 * x**1.5 / 3)], [(0.5,), (5.0,), (30.0,)]),
    "itairy": ([Integral(mp.airyai), Integral(mp.airybi), Integral(lambda t: mp.airyai(-t)), Integral(lambda t: mp.airybi(-t))], [(0.5,), (3.0,)]),
    "itj0y0": ([Integral(lambda t: mp.besselj(0, t)), Integral(lambda t: mp.bessely(0, t))], [(0.5,), (8.0,)]),
    "iti0k0": ([Integral(lambda t: mp.besseli(0, t)), Integral(lambda t: mp.besselk(0, t))], [(0.5,), (8.0,)]),
    "it2j0y0": ([Integral(lambda t: (1 - mp.besselj(0, t)) / t)], [(1e-5,), (0.5,), (8.0,)]),
    "it2i0k0": ([Integral(lambda t: (mp.besseli(0, t) - 1) / t)], [(1e-5,), (0.5,), (8.0,)]),
    "ellipj": ([lambda u, m: mp.ellipfun("sn", u, m), lambda u, m: mp.ellipfun("cn", u, m), lambda u, m: mp.ellipfun("dn", u, m)], [(0.5, 0.3), (3.0, 0.8), (-1.0, 0.01)]),
    "pbdv": ([mp.pcfd, lambda v, x: mp.diff(lambda t: mp.pcfd(v, t), x)], [(0.5, 0.7), (2.3, 3.0), (-1.5, 1.0)]),
    "pbvv": ([mp.pcfv and (lambda v, x: mp.pcfv(-v - mp.mpf(1) / 2, x))], [(0.5, 0.7), (2.3, 2.0)]),
    "pbwa": ([mp.pcfw], [(0.5, 0.7), (1.3, 2.0)]),
}  # fmt: skip

COMPLEX = {
    "gamma": (mp.gamma, [(0.5 + 0.7j,), (-2.3 + 0.1j,), (5 - 3j,)]),
    "loggamma": (mp.loggamma, [(0.5 + 0.7j,), (-2.3 + 0.1j,), (50 - 30j,)]),
    "rgamma": (mp.rgamma, [(0.5 + 0.7j,), (-2.3 + 0.1j,), (5 - 3j,)]),
    "digamma": (mp.digamma, [(0.5 + 0.7j,), (-2.3 + 0.1j,), (50 - 30j,)]),
    "erf": (mp.erf, [(0.5 + 0.7j,), (-2.3 + 0.1j,)]),
    "erfc": (mp.erfc, [(0.5 + 0.7j,), (-2.3 + 0.1j,)]),
    "erfcx": (lambda z: mp.exp(z * z) * mp.erfc(z), [(0.5 + 0.7j,), (-2.3 + 0.1j,), (30 + 3j,), (5 - 6j,)]),
    "erfi": (mp.erfi, [(0.5 + 0.7j,), (-2.3 + 0.1j,)]),
    "dawsn": (lambda z: mp.sqrt(mp.pi) / 2 * mp.exp(-z * z) * mp.erfi(z), [(0.5 + 0.7j,), (-2.3 + 0.1j,), (20 + 1j,)]),
    "wofz": (lambda z: mp.exp(-z * z) * mp.erfc(-1j * z), [(0.5 + 0.7j,), (-2.3 + 0.1j,), (1 + 40j,)]),
    "ndtr": (ndtr, [(0.5 + 0.7j,), (-2.3 + 0.1j,)]),
    "log_ndtr": (lambda z: mp.log(ndtr(z)), [(0.5 + 0.7j,), (-2.3 + 0.1j,)]),
    "log1p": (mp.log1p, [(0.5 + 0.7j,)]),
    "expm1": (mp.expm1, [(0.5 + 0.7j,)]),
    "exp1": (mp.e1, [(0.5 + 0.7j,), (3 - 4j,)]),
    "expi": (mp.ei, [(0.5 + 0.7j,), (3 - 4j,)]),
    "spence": (lambda z: mp.polylog(2, 1 - z), [(0.5 + 0.7j,), (3 - 4j,), (1.1 + 0.05j,)]),
    "xlogy": (lambda x, y: x * mp.log(y), [(0.5 + 0.1j, 0.8 - 2j)]),
    "xlog1py": (lambda x, y: x * mp.log1p(y), [(0.5 + 0.1j, 0.8 - 2j)]),
    "wrightomega": (lambda z: mp.lambertw(mp.exp(z)), [(0.5 + 0.7j,), (3 - 1j,)]),
    "jv": (mp.besselj, [(0.5, 1 + 2j), (3.3, 20 - 1j)]),
    "yv": (mp.bessely, [(0.5, 1 + 2j), (3.3, 20 - 1j)]),
    "iv": (mp.besseli, [(0.5, 1 + 2j), (3.3, 20 - 1j)]),
    "kv": (mp.besselk, [(0.5, 1 + 2j), (3.3, 20 - 1j)]),
    "kve": (scaled(mp.besselk, 1), [(0.5, 1 + 2j), (3.3, 20 - 1j)]),
    "hankel1": (mp.hankel1, [(0.5, 1 + 2j)]),
    "hyp0f1": (mp.hyp0f1, [(1.5, 0.7 + 1j)]),
    "hyp1f1": (mp.hyp1f1, [(1.5, 2.5, 0.7 + 1j)]),
    "hyp2f1": (mp.hyp2f1, [(1.5, 2.5, 3.2, 0.3 + 0.4j)]),
    "elliprf": (mp.elliprf, [(0.5 + 0.1j, 0.3 + 0j, 1.0 - 0.2j)]),
    "elliprd": (mp.elliprd, [(0.5 + 0.1j, 0.3 + 0j, 1.0 - 0.2j)]),
    "eval_legendre": (mp.legendre, [(2.5, 0.3 + 0.2j)]),
}  # fmt: skip

# What SciPy computes less precisely at neighbouring parameters than at the point: times FIRST.
LOOSE = {"hyperu": 100}
