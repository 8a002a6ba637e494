"""LAPACK for real matrices, without the checks that NumPy's functions make of arguments.

For small matrices these checks take longer than LAPACK: 4 of 7 us of `numpy.linalg.solve`. So real
matrices and stacks go straight to NumPy's inner function, which returns NaN if there is no result.
In that case, and for all other operands, NumPy's own function is called and raises its own errors.
Single precision is computed in double precision, as NumPy does it.
"""

from __future__ import annotations

import numpy as np
from numpy import ndarray

from ..core.quiet import SILENT, STATE
from ..core.spec import DOUBLE, SINGLE

try:
    from numpy.linalg import _umath_linalg as inner
except ImportError:  # a NumPy that keeps them elsewhere
    inner = None


def direct(function, name, part=None, place=(0, 0)):
    """A function of matrices that calls NumPy's inner function of this name where it can.

    part, place: where NaN tells that there is no result: which of several results, and its element
    for a single matrix; place None says that NaN is a result as well.
    """
    call = getattr(inner, name, None)
    loop = "" if call is None else "d" * call.nin + "->" + "d" * call.nout

    def compute(x, *more):
        dtype = x.dtype if type(x) is ndarray else None
        if (dtype is not DOUBLE and dtype is not SINGLE) or x.ndim < 2 or not x.size:
            return function(x, *more)
        for y in more:
            if type(y) is not ndarray or y.dtype is not dtype or y.ndim != x.ndim or not y.size:
                return function(x, *more)
        before = STATE.get()
        try:
            STATE.set(SILENT)
            out = call(x, *more) if dtype is DOUBLE else as_single(call(x, *more, signature=loop))
        except ValueError:  # shapes that do not fit, of which NumPy's function has more to say
            return function(x, *more)
        finally:
            STATE.set(before)
        if place is None:
            return out
        telling = out if part is None else out[part]
        if x.ndim == 2:
            first = telling[place]
            return out if first == first else function(x, *more)
        firsts = telling[(..., *place)]
        return out if (firsts == firsts).all() else function(x, *more)

    return function if call is None else compute


def as_single(out):
    """Results of a function in single precision."""
    return tuple([x.astype(SINGLE) for x in out]) if type(out) is tuple else out.astype(SINGLE)


def product(x, y):
    """x @ y; `dot` is the quicker way to BLAS for plain matrices."""
    plain = type(x) is type(y) is np.ndarray and x.ndim == y.ndim == 2
    return x.dot(y) if plain else x @ y


lower_factor = direct(np.linalg.cholesky, "cholesky_lo")
solve = direct(np.linalg.solve, "solve")
inv = direct(np.linalg.inv, "inv")
inverse_or_nan = direct(np.linalg.inv, "inv", place=None)  # NaN if there is none, or an error
det = direct(np.linalg.det, "det", place=())
eigh_of_lower = direct(np.linalg.eigh, "eigh_lo", 0, (0,))
eigh_of_upper = direct(lambda a: np.linalg.eigh(a, "U"), "eigh_up", 0, (0,))
thin_svd = direct(lambda a: np.linalg.svd(a, False), "svd_s", 1, (0,))
# The values alone are found in another way, with other last bits.
values_of_lower = direct(np.linalg.eigvalsh, "eigvalsh_lo", None, (0,))
values_of_upper = direct(lambda a: np.linalg.eigvalsh(a, "U"), "eigvalsh_up", None, (0,))
singular_values = direct(np.linalg.svdvals, "svd", None, (0,))


def cholesky(a, upper):
    """The Cholesky factor of a: the upper one if `upper`, else the lower one."""
    return np.linalg.cholesky(a, upper=True) if upper else lower_factor(a)


def eigh(a, UPLO):
    """The eigenvalues and vectors of Hermitian a, of which one triangle is read."""
    if UPLO == "L":
        return eigh_of_lower(a)
    return eigh_of_upper(a) if UPLO == "U" else np.linalg.eigh(a, UPLO)


def eigvalsh(a, UPLO):
    """The eigenvalues alone."""
    if UPLO == "L":
        return values_of_lower(a)
    return values_of_upper(a) if UPLO == "U" else np.linalg.eigvalsh(a, UPLO)


def svd(a, full):
    """The singular values and vectors of a, all of these if `full`."""
    return np.linalg.svd(a) if full else thin_svd(a)
