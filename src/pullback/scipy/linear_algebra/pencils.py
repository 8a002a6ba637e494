"""The generalized Schur form of two matrices: a = q s z^H, b = q t z^H.

The factors move so that s and t stay triangular. Blocks of two on the diagonal stay as LAPACK makes
them, with t diagonal there. The phases of complex columns aren't determined.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg as sl

from ...core.spec import Spec
from ...primitives.arguments import somewhere
from ...primitives.elementwise import stopped
from ...primitives.exact import exact
from ...primitives.spectra import adjoint, computed
from .kinds import Moving, WithoutDerivative, answers
from .spectra import diagonal


def pencil_motion(out: Any, at: Any, a: Any, b: Any, **_: Any) -> Any:
    """q^H a_dot z = p s - s w + s_dot, and the same for t, with p = q^H q_dot and w = z^H z_dot.

    Both are skew. What s_dot and t_dot may not have gives one equation for each of their entries.
    """
    s, t, q, z = out
    n = s.shape[-1]
    x, y = adjoint(q) @ a @ z, adjoint(q) @ b @ z
    rows, columns = np.tril_indices(n, -1)
    places = rows * n + columns
    # In a block of two, t has no entry above the diagonal either, and s has one below.
    paired = np.logical_and(stopped(s)[..., rows, columns] != 0, rows == columns + 1)
    others = np.where(paired, columns * n + rows, places)
    units = np.zeros((len(places), n, n), s.dtype)
    units[np.arange(len(places)), rows, columns] = 1
    if s.dtype.kind != "c":
        units = units - np.swapaxes(units, -1, -2)
    by_s, by_t = [flat(turning(units, x[..., None, :, :])) for x in (s, t)]
    second = np.where(paired[..., None, :], at_places(by_t, others), by_s[..., places])
    matrix = np.swapaxes(np.concatenate([by_t[..., places], second], axis=-1), -1, -2)
    wanted = np.where(paired, at_places(flat(y), others), flat(x)[..., places])
    wanted = np.concatenate([flat(y)[..., places], wanted], axis=-1)
    turns = np.linalg.solve(matrix, wanted[..., None])
    p, w = [np.sum(part[..., None] * units, axis=-3) for part in np.split(turns, 2, axis=-2)]
    if s.dtype.kind == "c":
        p, w = p - adjoint(p), w - adjoint(w)
        # The diagonal of t stays real.
        rest = np.imag(diagonal(y - p @ t + t @ w)) / np.real(diagonal(t))
        p = p + 1j * rest[..., None] * np.eye(n)
    s_dot, t_dot = x - p @ s + s @ w, y - p @ t + t @ w
    return np.where(s != 0, s_dot, 0), np.where(t != 0, t_dot, 0), q @ p, z @ w


def turning(units: Any, x: Any) -> Any:
    """What p x - x w is for each unit of p, then for each of w."""
    return np.concatenate([units @ x, -(x @ units)], axis=-3)


def flat(x: Any) -> Any:
    return np.reshape(x, (*x.shape[:-2], x.shape[-2] * x.shape[-1]))


def at_places(x: Any, places: Any) -> Any:
    """The entries of the last axis at these places, which may differ between matrices."""
    if x.ndim > places.ndim:
        places = np.broadcast_to(places[..., None, :], (*x.shape[:-1], places.shape[-1]))
    return np.take_along_axis(x, places, axis=-1)


def pencil_shape(a: Any, b: Any, output: str, **_: Any) -> Any:
    dtype = computed(a, b)
    if output in ("complex", "c"):
        dtype = np.result_type(dtype, np.complex64)
    return (Spec(a.shape, dtype),) * 4


qz_p = Moving(
    "qz", lambda a, b, **o: sl.qz(a, b, **o), pencil_motion, pencil_shape, cores=(2, 2), n_out=4
)


@answers(sl.qz, "A B")
def qz(A, B, output="real", lwork=None, sort=None, check_finite=True):
    return qz_p(A, B, output=output, sort=sort, check_finite=check_finite)


def ratios_shape(a: Any, b: Any, output: str, **_: Any) -> Any:
    dtype = pencil_shape(a, b, output)[0].dtype
    return Spec(a.shape[:1], np.result_type(dtype, np.complex64)), Spec(a.shape[:1], dtype)


def ordered(a: Any, b: Any, **options: Any) -> Any:
    s, t, _, _, q, z = sl.ordqz(a, b, **options)
    return s, t, q, z


def ratios_found(a: Any, b: Any, **options: Any) -> Any:
    _, _, alpha, beta, _, _ = sl.ordqz(a, b, **options)
    return np.asarray(alpha, np.result_type(alpha, np.complex64)), beta


ordqz_p = Moving("ordqz", ordered, pencil_motion, pencil_shape, cores=(2, 2), n_out=4)
ratios = WithoutDerivative("ratios of ordqz", ratios_found, ratios_shape, (2, 2), 2)


@answers(sl.ordqz, "A B")
def ordqz(A, B, sort="lhp", output="real", check_finite=True):
    options = {"sort": sort, "output": output, "check_finite": check_finite}
    s, t, q, z = ordqz_p(A, B, **options)
    alpha, beta = ratios(A, B, **options)
    if s.dtype.kind != "c" and somewhere(diagonal(s, -1) != 0):
        values, scales = of_blocks(s, t)
    else:
        values, scales = diagonal(s), diagonal(t)
    return s, t, exact(alpha, values.astype(alpha.dtype)), exact(beta, scales), q, z


def of_blocks(s: Any, t: Any) -> tuple[Any, Any]:
    """alpha and beta of real s and t, those of a block of two as LAPACK's dlag2 scales them.

    With r = |t| / |s|, the largest entry over the largest sum of a column, an eigenvalue x has

        beta = r / min(1, max((|Re x| + |Im x|) r, min(1, r)) / 2)
    """
    a, d, b, c = diagonal(s)[..., :-1], diagonal(s)[..., 1:], diagonal(s, 1), diagonal(s, -1)
    p, q = diagonal(t)[..., :-1], diagonal(t)[..., 1:]
    paired = stopped(c) != 0
    middle = (a / p + d / q) / 2
    turning_by = np.sqrt(np.where(paired, (a * d - b * c) / (p * q) - middle**2, 1))
    columns = np.maximum(np.abs(a) + np.abs(c), np.where(paired, np.abs(b) + np.abs(d), 1))
    r = np.maximum(np.abs(p), np.abs(q)) / columns
    size = np.maximum((np.abs(middle) + turning_by) * r, np.minimum(1, r))
    beta = r / np.minimum(1, size / 2)
    first, second = beside(paired)
    above, below = [(middle + sign * turning_by) * beta for sign in (1j, -1j)]
    alphas = np.where(second, beside(below)[1], diagonal(s) + 0j)
    betas = np.where(second, beside(beta)[1], diagonal(t))
    return np.where(first, beside(above)[0], alphas), np.where(first, beside(beta)[0], betas)


def beside(x: Any) -> tuple[Any, Any]:
    """What belongs to pairs of neighbours, at the first of each pair and at the second."""
    nothing = np.zeros((*x.shape[:-1], 1), x.dtype)
    return np.concatenate([x, nothing], axis=-1), np.concatenate([nothing, x], axis=-1)
