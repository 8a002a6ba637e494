"""Samples of scipy.special: one for each ufunc at ordinary arguments, and of its Python functions.

An int among the arguments is a count or an order, which is not differentiated.
"""

import numpy as np
import scipy.special as sp
from scipy.special import _ufuncs

import pullback as pb
import pullback.scipy.special  # says what serves functions that are objects
from pullback.core.errors import MissingRuleError
from pullback.testing import ErrorSample, Sample
from tests.samples import served, traced

# ufunc -> ordinary arguments
ORDINARY = {
    # gamma
    "gamma": (2.5,), "gammaln": (2.5,), "loggamma": (2.5,), "rgamma": (2.5,), "digamma": (2.5,), "gammasgn": (2.5,),
    "zetac": (2.5,), "poch": (2.5, 1.5), "beta": (2.5, 1.5), "betaln": (2.5, 1.5), "binom": (5.5, 2.2),
    "gammainc": (2.5, 1.2), "gammaincc": (2.5, 1.2), "gammaincinv": (2.5, 0.3), "gammainccinv": (2.5, 0.3),
    # errors
    "erf": (0.4,), "erfc": (0.4,), "erfcx": (0.4,), "erfi": (0.4,), "dawsn": (0.4,), "erfinv": (0.4,), "erfcinv": (0.4,),
    "ndtr": (0.4,), "log_ndtr": (-1.4,), "ndtri": (0.4,), "ndtri_exp": (-1.4,), "owens_t": (0.5, 0.8),
    "voigt_profile": (0.5, 1.0, 0.7), "nrdtrimn": (0.4, 1.2, 0.9), "nrdtrisd": (0.4, 0.7, 1.9),
    # convenience
    "cbrt": (2.5,), "exp2": (0.5,), "exp10": (0.5,), "expm1": (0.5,), "log1p": (0.5,), "exprel": (0.5,), "cosm1": (0.5,),
    "sindg": (30.0,), "cosdg": (30.0,), "tandg": (30.0,), "cotdg": (30.0,), "radian": (30.0, 20.0, 10.0), "round": (2.3,),
    "expit": (0.5,), "log_expit": (0.5,), "logit": (0.3,), "wrightomega": (0.5,), "agm": (0.5, 0.8), "powm1": (0.5, 0.8),
    "xlogy": (0.5, 0.8), "xlog1py": (0.5, 0.8), "entr": (0.5,), "rel_entr": (0.5, 0.8), "kl_div": (0.5, 0.8),
    "huber": (0.5, 0.8), "pseudo_huber": (0.5, 0.8), "boxcox": (1.5, 0.8), "boxcox1p": (0.5, 0.8),
    "inv_boxcox": (0.5, 0.8), "inv_boxcox1p": (0.5, 0.8), "tklmbda": (0.3, 0.6),
    # integrals
    "exp1": (0.5,), "expi": (0.5,), "expn": (2, 0.5), "spence": (0.5,), "sici": (0.5,), "shichi": (0.5,), "fresnel": (0.5,),
    "modfresnelp": (0.5,), "modfresnelm": (0.5,),
    # Bessel
    **dict.fromkeys(("j0", "j1", "y0", "y1", "i0", "i1", "k0", "k1", "i0e", "i1e", "k0e", "k1e"), (1.5,)),
    **dict.fromkeys(("jv", "yv", "iv", "kv", "jve", "yve", "ive", "kve", "hankel1", "hankel2", "hankel1e", "hankel2e"), (1.5, 2.0)),
    "yn": (2, 1.5), "kn": (2, 1.5),
    **dict.fromkeys(("ber", "bei", "ker", "kei", "berp", "beip", "kerp", "keip", "kelvin"), (1.5,)),
    **dict.fromkeys(("itj0y0", "iti0k0", "it2j0y0", "it2i0k0", "itstruve0", "it2struve0", "itmodstruve0", "itairy", "airy", "airye"), (1.5,)),
    "besselpoly": (0.5, 0.7, 1.0), "struve": (0.5, 1.5), "modstruve": (0.5, 1.5),
    "wright_bessel": (0.5, 1.0, 2.0), "log_wright_bessel": (0.5, 1.0, 2.0),
    # elliptic
    "ellipk": (0.5,), "ellipkm1": (0.5,), "ellipe": (0.5,), "ellipkinc": (0.7, 0.5), "ellipeinc": (0.7, 0.5), "ellipj": (0.7, 0.5),
    "elliprc": (0.5, 0.3), "elliprf": (0.5, 0.3, 1.0), "elliprg": (0.5, 0.3, 1.0), "elliprd": (0.5, 0.3, 1.0), "elliprj": (0.5, 0.3, 1.0, 0.7),
    # hypergeometric
    "hyp0f1": (1.5, 0.7), "hyp1f1": (1.5, 2.5, 0.7), "hyp2f1": (1.5, 2.5, 3.2, 0.3), "hyperu": (1.5, 2.5, 0.7),
    "pbdv": (1.3, 0.7), "pbvv": (1.3, 0.7), "pbwa": (0.3, 0.7),
    # polynomials
    **{f"eval_{name}": (3, 0.4) for name in ("chebyt", "chebyu", "chebyc", "chebys", "legendre", "sh_chebyt", "sh_chebyu", "sh_legendre", "laguerre", "hermite", "hermitenorm")},
    "eval_genlaguerre": (3, 0.6, 0.4), "eval_gegenbauer": (3, 0.6, 0.4), "eval_jacobi": (3, 0.6, 0.8, 0.4), "eval_sh_jacobi": (3, 2.6, 1.8, 0.4),
    "lpmv": (1, 2.5, 0.3),
    # distributions
    "betainc": (2.5, 1.5, 0.4), "betaincc": (2.5, 1.5, 0.4), "betaincinv": (2.5, 1.5, 0.4), "betainccinv": (2.5, 1.5, 0.4),
    "btdtria": (0.3, 1.5, 0.6), "btdtrib": (1.5, 0.3, 0.3), "gdtr": (0.5, 2.0, 3.0), "gdtrc": (0.5, 2.0, 3.0), "gdtria": (0.4, 2.0, 3.0),
    "gdtrib": (0.5, 0.4, 3.0), "gdtrix": (0.5, 2.0, 0.4), "chdtr": (3.0, 2.0), "chdtrc": (3.0, 2.0), "chdtri": (3.0, 0.4), "chdtriv": (0.4, 3.0),
    "pdtr": (3, 2.0), "pdtrc": (3, 2.0), "pdtri": (3, 0.3), "pdtrik": (0.3, 4.0), "bdtr": (3, 8, 0.3), "bdtrc": (3, 8, 0.3), "bdtri": (3, 8, 0.3),
    "bdtrik": (0.3, 10.0, 0.4), "bdtrin": (3.0, 0.3, 0.4), "nbdtr": (3, 8, 0.6), "nbdtrc": (3, 8, 0.6), "nbdtri": (3, 8, 0.3),
    "nbdtrik": (0.3, 10.0, 0.4), "nbdtrin": (5.0, 0.3, 0.4), "fdtr": (3.0, 5.0, 1.2), "fdtrc": (3.0, 5.0, 1.2), "fdtri": (3.0, 5.0, 0.6),
    "fdtridfd": (3.0, 0.6, 1.2), "stdtr": (3.0, 1.2), "stdtrit": (3.0, 0.8), "stdtridf": (0.8, 0.95),
    "chndtr": (3.0, 2.5, 1.5), "chndtrix": (0.4, 2.5, 1.5), "chndtridf": (3.0, 0.4, 1.5), "chndtrinc": (3.0, 2.5, 0.4),
    "ncfdtr": (3.0, 5.0, 1.5, 1.2), "ncfdtri": (3.0, 5.0, 1.5, 0.4), "ncfdtridfd": (3.0, 0.4, 1.5, 1.2), "ncfdtridfn": (0.8, 20.0, 0.5, 2.0), "ncfdtrinc": (3.0, 5.0, 0.4, 1.2),
    "nctdtr": (3.0, 0.5, 1.2), "nctdtrit": (3.0, 0.5, 0.6), "nctdtridf": (0.6, 0.5, 1.2), "nctdtrinc": (3.0, 0.6, 1.2),
    "kolmogorov": (0.8,), "kolmogi": (0.4,), "smirnov": (5, 0.3), "smirnovi": (5, 0.4),
    # waves
    "mathieu_a": (2, 1.5), "mathieu_b": (2, 1.5), "mathieu_cem": (2, 1.5, 30.0), "mathieu_sem": (2, 1.5, 30.0),
    **{f"mathieu_mod{name}": (2, 1.5, 0.7) for name in ("cem1", "cem2", "sem1", "sem2")},
    "pro_cv": (1, 2, 0.7), "obl_cv": (1, 2, 0.7),
    "pro_ang1": (1, 2, 0.7, 0.3), "pro_rad1": (1, 2, 0.7, 1.3),
    "obl_ang1": (1, 2, 0.7, 0.3), "obl_rad1": (1, 2, 0.7, 0.8),
    # behind the Python functions and scipy.stats
    "_zeta": (2.5, 1.5), "_riemann_zeta": (2.5,), "_igam_fac": (2.5, 1.2), "_lgam1p": (0.3,), "_scaled_exp1": (0.5,),
    "_beta_pdf": (0.4, 2.5, 1.5), "_beta_ppf": (0.4, 2.5, 1.5), "_kolmogp": (0.8,), "_kolmogc": (0.8,), "_kolmogci": (0.4,),
    "_smirnovp": (5, 0.3), "_smirnovc": (5, 0.3), "_smirnovci": (5, 0.4),
    "_binom_pmf": (3, 8, 0.3), "_binom_cdf": (3, 8, 0.3), "_binom_sf": (3, 8, 0.3), "_binom_ppf": (0.4, 8, 0.3), "_binom_isf": (0.4, 8, 0.3),
    "_nbinom_pmf": (3, 4.5, 0.4), "_nbinom_cdf": (3, 4.5, 0.4), "_nbinom_sf": (3, 4.5, 0.4), "_nbinom_ppf": (0.4, 4.5, 0.4), "_nbinom_isf": (0.4, 4.5, 0.4),
    **{f"_nbinom_{name}": (4.5, 0.4) for name in ("mean", "variance", "skewness", "kurtosis_excess")},
    "_ncf_pdf": (1.2, 3.0, 5.0, 1.5), "_ncf_sf": (1.2, 3.0, 5.0, 1.5), "_ncf_isf": (0.4, 3.0, 5.0, 1.5),
    **{f"_ncf_{name}": (3.0, 12.5, 1.5) for name in ("mean", "variance", "skewness", "kurtosis_excess")},
    "_nct_pdf": (1.2, 3.0, 0.5), "_nct_sf": (1.2, 3.0, 0.5), "_nct_isf": (0.4, 3.0, 0.5),
    **{f"_nct_{name}": (7.5, 0.5) for name in ("mean", "variance", "skewness", "kurtosis_excess")},
    "_ncx2_pdf": (3.0, 2.5, 1.5), "_ncx2_sf": (3.0, 2.5, 1.5), "_ncx2_isf": (0.4, 2.5, 1.5),
    "_skewnorm_cdf": (0.4, 0.1, 1.2, 1.5), "_skewnorm_ppf": (0.4, 0.1, 1.2, 1.5), "_skewnorm_isf": (0.4, 0.1, 1.2, 1.5),
    **{f"_landau_{name}": (0.4, 0.1, 1.2) for name in ("pdf", "cdf", "sf", "ppf", "isf")},
    "_cauchy_ppf": (0.4, 0.1, 1.2), "_cauchy_isf": (0.4, 0.1, 1.2), "_invgauss_ppf": (0.4, 0.9, 1.2), "_invgauss_isf": (0.4, 0.9, 1.2),
    "_cosine_cdf": (0.4,), "_cosine_invcdf": (0.4,), "_log1mexp": (-0.4,), "_log1pmx": (0.4,), "_sinpi": (0.4,), "_cospi": (0.4,),
    "_iv_ratio": (1.5, 2.0), "_iv_ratio_c": (1.5, 2.0), "_gen_harmonic": (5, 1.5), "_normalized_gen_harmonic": (1, 3, 5, 1.5),
    "_spherical_jn": (2, 1.5), "_spherical_yn": (2, 1.5), "_spherical_in": (2, 1.5), "_spherical_kn": (2, 1.5),
    "_spherical_jn_d": (2, 1.5), "_spherical_yn_d": (2, 1.5), "_spherical_in_d": (2, 1.5), "_spherical_kn_d": (2, 1.5),
}  # fmt: skip
# SciPy's values of these are right to seven digits or fewer, and slow: differences say nothing.
ROUGH = {"itairy", "ncfdtridfd", "ncfdtridfn", "ncfdtrinc"}


def ufunc_of(name):
    return getattr(sp, name, None) or getattr(_ufuncs, name, None)


def with_counts(ufunc, args):
    """The ufunc of its floating operands, with its counts as they are."""
    counts = [type(x) is int for x in args]
    if not any(counts):
        return ufunc

    def function(*floats):
        rest = iter(floats)
        return ufunc(
            *[x if is_count else next(rest) for x, is_count in zip(args, counts, strict=True)]
        )

    function.about = ufunc
    function.__name__ = ufunc.__name__
    return function


SAMPLES = []
for name, args in ORDINARY.items():
    ufunc = ufunc_of(name)
    if ufunc is None:  # of another version of SciPy
        continue
    floats = [x for x in args if type(x) is not int]
    spread = np.array([1.0] if name in ROUGH else [1.0, 1.02, 0.97])
    arrays = [
        x * (spread if i == 0 else spread[:1] if i == 1 else 1.0) for i, x in enumerate(floats)
    ]
    SAMPLES.append(
        Sample(
            with_counts(ufunc, args),
            tuple(map(np.asarray, arrays)),
            name=f"special.{name}",
            smooth=name not in ROUGH,
        )
    )


def given_cv(name):
    """A spheroidal function to which its characteristic value is given, of x."""
    ufunc = getattr(sp, f"{name}_cv")
    cv = (sp.pro_cv if name.startswith("pro") else sp.obl_cv)(1, 2, 0.7)
    function = lambda x: ufunc(1, 2, 0.7, cv, x)
    function.about = ufunc
    return function


def of_order(name):
    """A Bessel function of a real order and complex arguments."""
    ufunc = getattr(sp, name)
    return lambda v, z: ufunc(v, z)


Z = np.array([0.3 + 0.4j, 1.5 - 0.2j])
F32 = np.array([0.3, 0.6, 0.8], np.float32)
# fmt: off
HOLOMORPHIC = [
    *["gamma", "loggamma", "rgamma", "digamma", "erf", "erfc", "erfcx", "erfi", "dawsn", "wofz", "ndtr", "log_ndtr"],
    *["exp1", "expi", "spence", "expm1", "log1p", "wrightomega", "airy", "sici", "shichi", "fresnel"],
]
OF_ORDER = ["jv", "yv", "iv", "kv", "kve", "hankel1", "hankel2", "hankel1e"]
SINGLE = ["gammaln", "digamma", "ndtr", "log_ndtr", "ndtri", "expit", "logit", "erf", "j0"]
SINGLE_PAIRS = ["xlogy", "betaln", "gammainc", "jv", "stdtr", "poch"]
PLACES = {"pro_ang1": 0.3, "pro_rad1": 1.3, "obl_ang1": 0.3, "obl_rad1": 0.8}
SAMPLES += [Sample(given_cv(name), (np.array([x, x + 0.1]),), name=f"special.{name}_cv") for name, x in PLACES.items()]
SAMPLES += [Sample(getattr(sp, name), (Z,), name=f"special.{name} complex") for name in HOLOMORPHIC]
SAMPLES += [Sample(of_order(name), (np.float64(1.5), Z), name=f"special.{name} complex") for name in OF_ORDER]
OUT, WIDE = np.array([2.0, 0.3, -2.0]), np.array([0.8, 0.4, 0.9])  # some outside of the support
EDGES = [("powm1", lambda y: sp.powm1(0.0, y)), ("pseudo_huber", lambda r: sp.pseudo_huber(0.0, r)), ("boxcox", lambda l: sp.boxcox(0.0, l)), ("tklmbda", lambda x: sp.tklmbda(x, WIDE)), ("tklmbda by shape", lambda l: sp.tklmbda(OUT, l))]
SAMPLES += [Sample(f, (OUT if name == "tklmbda" else WIDE,), name=f"special.{name} at an edge") for name, f in EDGES]
SAMPLES += [Sample(getattr(sp, name), (F32,), name=f"special.{name} float32") for name in SINGLE]
SAMPLES += [Sample(getattr(sp, name), (F32 + 1, F32), name=f"special.{name} float32") for name in SINGLE_PAIRS]
# fmt: on

MATRIX = np.array([[0.3, -1.2, 2.0], [1.5, 0.4, -0.7]])
SPREAD = np.array([0.5, 1.2, 2.2])
SAMPLES += [
    Sample(served(sp.logsumexp), (MATRIX,)),
    Sample(served(sp.logsumexp), (MATRIX,), {"axis": 1}),
    Sample(served(sp.logsumexp), (MATRIX,), {"axis": 0, "keepdims": True}),
    Sample(served(sp.logsumexp), (MATRIX,), {"axis": (0, 1)}),
    Sample(served(sp.logsumexp), (MATRIX + 1e3,), name="logsumexp of large numbers"),
    Sample(served(sp.logsumexp), (np.float64(0.3),)),
    Sample(served(sp.logsumexp), (np.array([-np.inf, 0.3, 1.0]),), smooth=False, name="logsumexp with -inf"),
    Sample(served(sp.logsumexp, lambda f, a, b: f(a, b=b)), (MATRIX, np.array([0.5, 2.0, 1.5])), name="logsumexp with weights"),
    Sample(served(sp.logsumexp, lambda f, a, b: f(a, b=b, axis=1, return_sign=True)[0]), (MATRIX, np.array([0.5, -0.2, 1.5])), name="logsumexp with signs"),
    Sample(served(sp.logsumexp, lambda f, a, b: f(a, b=b, axis=1, return_sign=True)[1] * a[:, 0]), (MATRIX, np.array([0.5, -20.2, 1.5])), name="logsumexp, the signs"),
    Sample(served(sp.softmax), (MATRIX,)),
    Sample(served(sp.softmax), (MATRIX,), {"axis": 1}),
    Sample(served(sp.softmax), (MATRIX * 6,), {"axis": -1}, name="softmax far out", smooth=False),
    Sample(served(sp.log_softmax), (MATRIX,)),
    Sample(served(sp.log_softmax), (MATRIX,), {"axis": 0}),
    Sample(served(sp.multigammaln, lambda f, a: f(a, 3)), (np.float64(4.5),), name="multigammaln"),
    Sample(served(sp.multigammaln, lambda f, a: f(a, 2)), (SPREAD + 2,), name="multigammaln of an array"),
    Sample(served(sp.polygamma, lambda f, x: f(0, x)), (SPREAD,), name="polygamma 0"),
    Sample(served(sp.polygamma, lambda f, x: f(2, x)), (SPREAD,), name="polygamma 2"),
    Sample(served(sp.polygamma, lambda f, x: f(np.array([0, 1, 3]), x)), (SPREAD,), name="polygamma of several orders"),
    Sample(served(sp.zeta), (SPREAD + 1.5,)),
    Sample(served(sp.zeta), (SPREAD + 1.5, SPREAD)),
    Sample(served(sp.comb), (SPREAD + 4, SPREAD)),
    Sample(served(sp.comb), (SPREAD + 4, SPREAD), {"repetition": True}),
    Sample(served(sp.perm), (SPREAD + 4, SPREAD)),
    Sample(served(sp.factorial), (SPREAD,)),
    Sample(served(sp.factorial), (SPREAD,), {"extend": "complex"}),
    Sample(served(sp.diric, lambda f, x: f(x, 4)), (SPREAD,), name="diric"),
    Sample(served(sp.diric, lambda f, x: f(x, 3)), (np.array([0.0, 2 * np.pi]),), name="diric at its limits", smooth=1),
    Sample(served(sp.lambertw), (SPREAD,)),
    Sample(served(sp.lambertw, lambda f, z: f(z, -1)), (np.array([-0.2, -0.1]),), name="lambertw, another branch"),
    Sample(served(sp.lambertw), (Z,)),
    Sample(served(sp.assoc_laguerre, lambda f, x, k: f(x, 3, k)), (SPREAD, np.float64(0.4)), name="assoc_laguerre"),
    Sample(served(sp.sph_harm_y, lambda f, t, p: f(3, 2, t, p)), (SPREAD, SPREAD[:1]), name="sph_harm_y"),
    Sample(served(sp.sph_harm_y, lambda f, t, p: f(2, -1, t, p)), (np.array([0.0, np.pi]), np.float64(0.4)), name="sph_harm_y at the poles", smooth=False),
    Sample(served(sp.sph_harm_y, lambda f, t, p: f(2, -1, t, p)), (np.array([-0.4, 4.0]), np.float64(0.4)), name="sph_harm_y beyond the poles"),
    Sample(served(sp.sph_legendre_p, lambda f, t: f(3, 2, t)), (SPREAD,), name="sph_legendre_p"),
    Sample(served(sp.legendre_p, lambda f, z: f(3, z)), (SPREAD / 3,), name="legendre_p"),
    Sample(served(sp.assoc_legendre_p, lambda f, z: f(3, 1, z)), (SPREAD / 3,), name="assoc_legendre_p"),
    Sample(served(sp.legendre_p_all, lambda f, z: f(4, z)), (SPREAD / 3,), name="legendre_p_all"),
    Sample(served(sp.assoc_legendre_p_all, lambda f, z: f(3, 2, z)), (SPREAD / 3,), name="assoc_legendre_p_all"),
    Sample(served(sp.sph_legendre_p_all, lambda f, t: f(3, 4, t)), (SPREAD + 0.1,), name="sph_legendre_p_all"),
    Sample(served(sp.sph_harm_y_all, lambda f, t, p: f(2, 3, t, p)), (SPREAD + 0.1, 0.4), name="sph_harm_y_all"),
]  # fmt: skip
if hasattr(sp, "softplus"):
    SAMPLES.append(Sample(served(sp.softplus), (MATRIX,)))
TABLES = {
    "riccati_jn": (3,),
    "riccati_yn": (3,),
    "lqn": (3,),
    "lqmn": (2, 3),
    "lmbda": (2.5,),
    "pbdv_seq": (2.3,),
    "pbvv_seq": (0.4,),
}
for name, given in TABLES.items():
    SAMPLES.append(
        Sample(
            served(getattr(sp, name), lambda f, x, given=given: f(*given, x)),
            (np.float64(0.7),),
            name=name,
        )
    )
for name in ("spherical_jn", "spherical_yn", "spherical_in", "spherical_kn"):
    for derivative in (False, True):
        SAMPLES.append(
            Sample(
                served(getattr(sp, name), lambda f, x, d=derivative: f(2, x, d)),
                (SPREAD,),
                name=f"{name}, derivative={derivative}",
            )
        )
for name in ("jvp", "yvp", "kvp", "ivp", "h1vp", "h2vp"):
    SAMPLES.append(
        Sample(
            served(getattr(sp, name), lambda f, v, x: f(v, x, 2)),
            (np.float64(1.5), SPREAD),
            name=name,
        )
    )
SAMPLES.append(
    Sample(
        served(sp.spherical_jn, lambda f, x: f(np.array([0, 1, 5]), x)),
        (SPREAD,),
        name="spherical_jn of several orders",
    )
)
for function, n, parameters in (
    (sp.roots_genlaguerre, 4, (np.float64(0.6),)),
    (sp.roots_jacobi, 4, (np.float64(0.6), np.float64(-0.3))),
    (sp.roots_jacobi, 2, (np.float64(0.0), np.float64(0.0))),
    (sp.roots_jacobi, 1, (np.float64(0.2), np.float64(0.4))),
    (sp.roots_gegenbauer, 5, (np.float64(0.8),)),
    (sp.roots_sh_jacobi, 3, (np.float64(2.6), np.float64(1.2))),
):
    SAMPLES.append(
        Sample(
            served(function, lambda f, *xs, n=n: f(n, *xs, mu=n > 2)),
            parameters,
            name=f"{function.__name__} of {n} at {parameters[0]}",
        )
    )

for function, parameters in (
    (sp.jacobi, (np.float64(0.6), np.float64(-0.3))),
    (sp.genlaguerre, (np.float64(0.6),)),
    (sp.gegenbauer, (np.float64(0.8),)),
    (sp.sh_jacobi, (np.float64(2.6), np.float64(1.2))),
):
    for way, ask in (
        ("at a point", lambda f, *xs: f(3, *xs)(0.4)),
        ("monic, coefficients", lambda f, *xs: f(2, *xs, monic=True).coeffs),
    ):
        name = f"{function.__name__} {way}"
        SAMPLES.append(Sample(traced(function, ask), parameters, name=name))


def differentiated(f):
    """The derivative of f, which is what is refused."""
    return lambda x: pb.jvp(f, (x,), (np.ones_like(x),))


ERRORS = [
    *[ErrorSample(differentiated(lambda x, f=f: f(1, 2, 0.7, x)[0]), (np.array([1.3]),), raises=MissingRuleError, match="not right enough", name=f.__name__) for f in (sp.pro_rad2, sp.obl_rad2)],
    *[ErrorSample(differentiated(lambda x, f=f: f(1, 2, 0.7, 6.0, x)[0]), (np.array([1.3]),), raises=MissingRuleError, match="not right enough", name=f.__name__) for f in (sp.pro_rad2_cv, sp.obl_rad2_cv)],
    ErrorSample(differentiated(lambda cv: sp.pro_ang1_cv(1, 2, 0.7, cv, 0.3)[0]), (np.array([6.0]),), raises=MissingRuleError, match="goes with the other parameters", name="pro_ang1_cv by cv"),
    ErrorSample(differentiated(lambda n: sp.yn(n, 0.5)), (np.array([2.0]),), raises=MissingRuleError, match="no derivative with respect to its argument `n`", name="the order of yn"),
    ErrorSample(differentiated(lambda n: sp.expn(n, 0.5)), (np.array([2.0]),), raises=MissingRuleError, match="no derivative with respect to its argument `n`", name="the order of expn"),
    ErrorSample(differentiated(lambda z: sp.jve(1.5, z)), (Z,), raises=MissingRuleError, match="without its scaling", name="jve of complex numbers"),
    ErrorSample(differentiated(sp.airye), (Z,), raises=MissingRuleError, match="scipy.special.airy", name="airye of complex numbers"),
    ErrorSample(served(sp.comb), (SPREAD, SPREAD), {"exact": True}, raises=TypeError, match="exact=True"),
    ErrorSample(served(sp.legendre_p, lambda f, z: f(3, z, diff_n=3)), (SPREAD / 3,), raises=NotImplementedError, match="0, 1 or 2", name="legendre_p with third derivatives"),
    ErrorSample(differentiated(lambda m: served(sp.mathieu_even_coef)(m, 0.5)), (np.float64(2.5),), raises=ValueError, match="takes integers", name="mathieu_even_coef by its order"),
    ErrorSample(served(sp.legendre), (np.float64(3.0),), raises=MissingRuleError, match="polynomial object", name="legendre"),
    ErrorSample(served(sp.pbdn_seq, lambda f, x: f(3, x)), (np.float64(0.5),), raises=MissingRuleError, match="recurrence", name="pbdn_seq"),
    ErrorSample(served(sp.pbdv_seq, lambda f, x: f(-2.3, x)), (np.float64(0.5),), raises=MissingRuleError, match="orders from 0 on", name="pbdv_seq of a negative order"),
    ErrorSample(served(sp.lqn, lambda f, x: f(3, x)), (np.complex128(0.5),), raises=MissingRuleError, match="one real number", name="lqn of a complex number"),
    ErrorSample(served(sp.sph_legendre_p_all, lambda f, z: f(3, -1, z)), (SPREAD,), raises=ValueError, match="`m` is a count", name="sph_legendre_p_all of negative orders"),
]  # fmt: skip
S = np.array([0.4, 1.3, 2.2])
HARMONICS = [
    ("legendre_p", lambda f, x: f(4, x / 3, diff_n=2)),
    ("assoc_legendre_p", lambda f, x: f(4, -2, x / 3, diff_n=2, norm=True)),
    ("assoc_legendre_p", lambda f, x: f(3, 1, x + 1, diff_n=1, branch_cut=3)),
    ("sph_legendre_p", lambda f, x: f(4, 2, x, diff_n=2)),
    ("sph_harm_y", lambda f, x: f(3, 2, x, 2 * x, diff_n=2)[2]),
    ("sph_harm_y_all", lambda f, x: f(2, 1, x, 0.4, diff_n=1)[1]),
    ("assoc_legendre_p_all", lambda f, x: f(2, 1, x / 3, diff_n=1)),
]
for name, call in HARMONICS:
    SAMPLES.append(Sample(served(getattr(sp, name), call), (S,), name=f"{name}, diff_n"))
ENDS = np.array([-1.0, 1.0])
SAMPLES.append(
    Sample(
        served(sp.assoc_legendre_p, lambda f, z: f(3, 0, z, diff_n=2)),
        (ENDS,),
        name="assoc_legendre_p at its ends",
        smooth=False,
    )
)
SEQUENCES = [
    ("mathieu_even_coef", (2,)), ("mathieu_even_coef", (3,)), ("mathieu_odd_coef", (2,)),
    ("mathieu_odd_coef", (1,)), ("pro_cv_seq", (1, 4)), ("obl_cv_seq", (0, 3)),
]  # fmt: skip
for name, given in SEQUENCES:
    SAMPLES.append(
        Sample(
            served(getattr(sp, name), lambda f, x, given=given: f(*given, x)),
            (np.float64(0.6),),
            name=f"{name} of order {given[0]}",
        )
    )
for order in (0, 1, 2, 1.5):
    SAMPLES.append(
        Sample(
            served(sp.lmbda, lambda f, x, order=order: f(order, x)[0][:1]),
            (np.float64(0.0),),
            name=f"lmbda of order {order} at 0",
        )
    )
