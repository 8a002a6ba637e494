"""The cosine-sine decomposition of an orthogonal or unitary matrix in four blocks.

    (u1, u2), theta, (v1h, v2h) = cossin(x, p, q, separate=True)

The blocks have singular value decompositions with these factors: x11 with the cosines of theta, and
x21 with the sines. If all blocks are square, the factors are determined, except for the phases of
complex ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg as sl

from ...core.operands import as_array
from ...core.spec import Spec
from ...primitives.exact import exact
from ...primitives.spectra import adjoint, computed, real_of
from ..solving.undetermined import undetermined
from .kinds import WithoutDerivative, answers, in_single, of_elements
from .spectra import aligned, svd


def found_parts(x: Any, p: int, q: int, swap_sign: bool) -> Any:
    (u1, u2), theta, (v1h, v2h) = sl.cossin(x, p, q, separate=True, swap_sign=swap_sign)
    return theta, u1, u2, v1h, v2h


def shapes(x: Any, p: int, q: int, **_: Any) -> Any:
    m, dtype = x.shape[0], computed(x)
    theta = Spec((min(p, m - p, q, m - q),), real_of(dtype))
    return theta, *[Spec((k, k), dtype) for k in (p, m - p, q, m - q)]


parts_p = WithoutDerivative("parts of cossin", found_parts, shapes, n_out=5)


def moving_parts(x: Any, p: int, q: int, swap_sign: bool) -> Any:
    """theta, u1, u2, v1h, v2h as SciPy gives them, with derivatives."""
    theta, *factors = parts_p(x, p=p, q=q, swap_sign=swap_sign)
    m, r = x.shape[0], theta.shape[0]
    x11, x21, x22 = x[:p, :q], x[p:, :q], x[p:, q:]
    cosines = svd(x11, compute_uv=False)[min(p, q) - r :]
    sines = svd(x21, compute_uv=False)[min(m - p, q) - r :]
    theta = exact(theta, np.arctan2(sines[::-1], cosines))
    if 2 * p == 2 * q == m and x.dtype.kind != "c":
        u1, _, v1h = svd(x11)
        u2, _, v2h = svd(x22)
        moved = u1, u2, adjoint(v1h), adjoint(v2h)
        found = *factors[:2], *map(adjoint, factors[2:])
        parts = [exact(x, aligned(y, x)) for x, y in zip(found, moved, strict=True)]
        return theta, *parts[:2], *map(adjoint, parts[2:])
    names = ("u1", "u2", "v1h", "v2h")
    named = zip(factors, names, strict=True)
    return theta, *[undetermined(x, (theta,), name, "scipy.linalg.cossin") for x, name in named]


def whole(X: Any, p: Any, q: Any) -> Any:
    """Assemble the matrix, or the stack, from four blocks; also return the first block's size."""
    if p or q:
        return as_array(X), 1 if p is None else int(p), 1 if q is None else int(q)
    blocks = [np.atleast_2d(as_array(x)) for x in X]
    stack = np.broadcast_shapes(*[x.shape[:-2] for x in blocks])
    blocks = [np.broadcast_to(x, stack + x.shape[-2:]) for x in blocks] if stack else blocks
    rows = [np.concatenate(blocks[i : i + 2], axis=-1) for i in (0, 2)]
    return np.concatenate(rows, axis=-2), *blocks[0].shape[-2:]


def middle(theta: Any, m: int, p: int, q: int, swap_sign: bool) -> Any:
    """The matrix between the factors, with ones for angles of 0 or pi/2."""
    r, eye = theta.shape[0], np.eye(m, dtype=theta.dtype)
    c, s = np.cos(theta), np.sin(theta) if swap_sign else -np.sin(theta)
    n11, n12 = min(p, q) - r, min(p, m - q) - r
    n21, n22 = min(m - p, q) - r, min(m - p, m - q) - r
    one, right = np.ones(m) if swap_sign else -np.ones(m), n11 + r + n21 + n22
    places = [
        (0, 0, np.ones(n11)),
        (n11, n11, c),
        (n11, right, s),
        (n11 + r, right + r, one[:n12]),
        (p, q, np.ones(n22)),
        (p + n22, n11, -s),
        (p + n22, right, c),
        (p + n22 + r, n11 + r, -one[:n21]),
    ]
    diagonals = [(eye[:, i : i + x.shape[0]] * x) @ eye[j : j + x.shape[0]] for i, j, x in places]
    return sum(diagonals[1:], diagonals[0])


def beside(x: Any, y: Any) -> Any:
    """The block-diagonal matrix of two matrices."""
    above, below = [np.zeros((a.shape[0], b.shape[1]), x.dtype) for a, b in ((x, y), (y, x))]
    top, bottom = np.concatenate([x, above], axis=1), np.concatenate([below, y], axis=1)
    return np.concatenate([top, bottom], axis=0)


@answers(sl.cossin, "")
def cossin(
    X: Any, p: Any = None, q: Any = None, separate: bool = False, swap_sign: bool = False,
    compute_u: bool = True, compute_vh: bool = True,
) -> Any:  # fmt: skip
    x, p, q = whole(X, p, q)
    given = {
        "x": in_single(x), "p": p, "q": q, "separate": separate, "swap_sign": bool(swap_sign),
        "compute_u": compute_u, "compute_vh": compute_vh,
    }  # fmt: skip
    if x.ndim == 2:
        return of_matrix(**given)
    return list(of_elements(of_one_of_stack, given, {"x": 2}, x.shape[:-2]))


def of_one_of_stack(**given: Any) -> list[Any]:
    """As `of_matrix`, with each pair of factors in one array, as SciPy returns those of stacks."""
    return [np.stack(x) if type(x) is tuple else x for x in of_matrix(**given)]


def of_matrix(
    x: Any, p: int, q: int, separate: bool, swap_sign: bool, compute_u: bool, compute_vh: bool
) -> Any:
    theta, u1, u2, v1h, v2h = moving_parts(x, p, q, swap_sign)
    nothing = np.empty((0, 0), x.dtype)
    if not compute_u:
        u1, u2 = nothing, nothing
    if not compute_vh:
        v1h, v2h = nothing, nothing
    if separate:
        return (u1, u2), theta, (v1h, v2h)
    signs = middle(theta, x.shape[0], p, q, swap_sign)
    return beside(u1, u2), signs.astype(theta.dtype, copy=False), beside(v1h, v2h)
