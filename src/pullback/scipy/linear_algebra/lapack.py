"""scipy.linalg.lapack: its routines, described by the functions of `scipy.linalg`.

Results that only LAPACK can read, such as reflections and factors in packed form, have no
derivative here: they can be passed on to LAPACK, and raise an error if they're differentiated.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...primitives.arguments import everywhere
from ...primitives.elementwise import stopped
from ...primitives.spectra import adjoint, computed
from .factors import cholesky, cholesky_banded, lu_factor
from .routines import routine
from .spectra import aligned, eigh, eigvals, order_p, svd
from .systems import (
    cho_solve,
    cho_solve_banded,
    lu_solve,
    solve,
    solve_banded,
    solve_sylvester,
    solve_triangular,
    solveh_banded,
    triangle,
)


def beside_triangle(inside: Any, a: Any, lower: Any) -> Any:
    """The computed triangle, with the rest as it was."""
    return np.where(triangle(np.ones(a.shape[-2:], bool), bool(lower)), inside, a)


def identity(a: Any) -> Any:
    return np.eye(a.shape[-1], dtype=computed(a))


# Positive definite matrices.


def factor(a: Any, lower: Any, clean: Any = 0) -> Any:
    found = cholesky(a, lower=bool(lower))
    return found if clean else beside_triangle(found, a, lower)


@routine("potrf", "a")
def potrf(a: Any, lower: Any = 0, clean: Any = 1) -> Any:
    return {"c": factor(a, lower, clean)}


@routine("potrs", "c b")
def potrs(c: Any, b: Any, lower: Any = 0) -> Any:
    return {"x": cho_solve((c, bool(lower)), b)}


@routine("potri", "c")
def potri(c: Any, lower: Any = 0) -> Any:
    return {"inv_a": beside_triangle(cho_solve((c, bool(lower)), identity(c)), c, lower)}


@routine("posv", "a b")
def posv(a: Any, b: Any, lower: Any = 0) -> Any:
    return {"c": factor(a, lower), "x": solve(a, b, assume_a="pos", lower=bool(lower))}


@routine("slauum:s dlauum:d", "c")
def lauum(c: Any, lower: Any = 0) -> Any:
    half = triangle(c, bool(lower))
    return {"a": beside_triangle(half.T @ half if lower else half @ half.T, c, lower)}


# Others.


@routine("getrf", "a")
def getrf(a: Any) -> Any:
    return {"lu": lu_factor(a)[0]}


@routine("getrs", "lu piv b")
def getrs(lu: Any, piv: Any, b: Any, trans: Any = 0) -> Any:
    return {"x": lu_solve((lu, piv), b, trans)}


@routine("getri", "lu piv")
def getri(lu: Any, piv: Any, **_: Any) -> Any:
    return {"inv_a": lu_solve((lu, piv), identity(lu))}


@routine("gecon", "a anorm")
def gecon(a: Any, anorm: Any, found: Any, norm: Any = "1") -> Any:
    """The reciprocal condition number, which LAPACK estimates, mostly to all digits.

    Where it does not, the estimate has no derivative. The order of the rows, which `a` has lost,
    does not count in either norm.
    """
    inverse = lu_solve((a, np.arange(a.shape[-1])), identity(a))
    sums = np.sum(np.abs(inverse), axis=-1 if as_letter(norm) in "Ii" else -2)
    rcond = 1 / (anorm * np.max(sums, axis=-1))
    close = everywhere(np.abs(stopped(rcond) - stopped(found["rcond"])) <= 1e-9 * stopped(rcond))
    return {"rcond": rcond} if close else {}


@routine("gesv", "a b")
def gesv(a: Any, b: Any) -> Any:
    return {"lu": lu_factor(a)[0], "x": solve(a, b)}


@routine("sysv", "a b")
def sysv(a: Any, b: Any, lower: Any = 0, **_: Any) -> Any:
    return {"x": solve(a, b, assume_a="sym", lower=bool(lower))}


@routine("hesv", "a b")
def hesv(a: Any, b: Any, lower: Any = 0, **_: Any) -> Any:
    return {"x": solve(a, b, assume_a="her", lower=bool(lower))}


@routine("trtrs", "a b")
def trtrs(a: Any, b: Any, lower: Any = 0, trans: Any = 0, unitdiag: Any = 0, **_: Any) -> Any:
    return {"x": solve_triangular(a, b, trans, lower, unitdiag)}


@routine("trtri", "c")
def trtri(c: Any, lower: Any = 0, unitdiag: Any = 0) -> Any:
    inverse = solve_triangular(c, identity(c), 0, lower, unitdiag)
    kept = beside_triangle(inverse, c, lower)
    if unitdiag:
        kept = np.where(np.eye(c.shape[-1], dtype=bool), c, kept)
    return {"inv_c": kept}


@routine("trsyl", "a b c")
def trsyl(a: Any, b: Any, c: Any, trana: Any = "N", tranb: Any = "N", isgn: Any = 1) -> Any:
    """Solve a Sylvester equation; SciPy's scale is 1 unless the solution would overflow."""
    flip = {"N": lambda x: x, "T": lambda x: np.swapaxes(x, -1, -2), "C": lambda x: np.conj(x).T}
    first, second = flip[as_letter(trana)](a), flip[as_letter(tranb)](b)
    x = solve_sylvester(first, isgn * second, c)
    return {"x": x, "scale": 1 + 0 * np.real(x[0, 0])}


def as_letter(letter: Any) -> str:
    return letter.decode() if isinstance(letter, bytes) else letter


# Bands.


@routine("gtsv", "dl d du b")
def gtsv(dl: Any, d: Any, du: Any, b: Any) -> Any:
    bands = np.stack([np.pad(du, (1, 0)), d, np.pad(dl, (0, 1))])
    return {"x": solve_banded((1, 1), bands, b)}


@routine("ptsv", "d e b")
def ptsv(d: Any, e: Any, b: Any) -> Any:
    return {"x": solveh_banded(np.stack([d + 0 * d[:1], np.pad(e, (0, 1))]), b, lower=True)}


@routine("gbsv", "ab b")
def gbsv(ab: Any, b: Any, kl: Any, ku: Any) -> Any:
    return {"x": solve_banded((kl, ku), ab[int(kl) :], b)}


@routine("pbtrf", "ab")
def pbtrf(ab: Any, lower: Any = 0, **_: Any) -> Any:
    return {"c": cholesky_banded(ab, lower=bool(lower))}


@routine("pbtrs", "ab b")
def pbtrs(ab: Any, b: Any, lower: Any = 0, **_: Any) -> Any:
    return {"x": cho_solve_banded((ab, bool(lower)), b)}


@routine("pbsv", "ab b")
def pbsv(ab: Any, b: Any, lower: Any = 0, **_: Any) -> Any:
    found = cholesky_banded(ab, lower=bool(lower))
    return {"c": found, "x": solveh_banded(ab, b, lower=bool(lower))}


# Spectra.


@routine("syev syevd syevr heev heevd heevr", "a")
def syev(a: Any, found: Any, compute_v: Any = 1, lower: Any = 0, **options: Any) -> Any:
    if as_letter(options.get("range", "A")) != "A":
        return {}
    if not compute_v:
        return {"w": eigh(a, lower=bool(lower), eigvals_only=True)}
    vectors = "v" if "v" in found else "z"
    w, v = eigh(a, lower=bool(lower))
    return {"w": w, vectors: aligned(v, found[vectors])}


@routine("sygv sygvd hegv hegvd", "a b")
def sygv(a: Any, b: Any, itype: Any = 1, uplo: Any = "L", **_: Any) -> Any:
    lower = as_letter(uplo) == "L"
    return {"w": eigh(a, b, lower=lower, eigvals_only=True, type=int(itype))}


@routine("gesdd gesvd", "a")
def gesdd(a: Any, found: Any, compute_uv: Any = 1, full_matrices: Any = 1, **_: Any) -> Any:
    """The SVD; with full matrices, the bases of null spaces aren't determined."""
    if not compute_uv or (full_matrices and a.shape[-2] != a.shape[-1]):
        return {"s": svd(a, compute_uv=False)}
    u, s, vt = svd(a, full_matrices=False)
    return {
        "u": aligned(u, found["u"]),
        "s": s,
        "vt": adjoint(aligned(adjoint(vt), adjoint(found["vt"]))),
    }


@routine("geev", "a")
def geev(a: Any, found: Any, **_: Any) -> Any:
    """Eigenvalues, whose order depends on whether vectors are requested."""
    w = eigvals(a)
    there = found["w"] if "w" in found else found["wr"] + 1j * found["wi"]
    w = np.take_along_axis(w, order_p(stopped(w), there), axis=-1)
    return {"w": w} if "w" in found else {"wr": np.real(w), "wi": np.imag(w)}
