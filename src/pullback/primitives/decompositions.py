"""Spectral decompositions: eigh, eig, svd, and the eigenvalues and singular values alone.

If NumPy assumes that a matrix is Hermitian, it reads only one triangle (`from_triangle`), and so do
the derivatives: primitives receive the complete Hermitian matrix, with Hermitian tangents.

Eigenvectors and singular vectors have derivatives where their values are simple. If columns that
belong to equal values are used, their derivative is NaN in both modes; functions of the values
alone have correct derivatives there, too (see `spectra`). Complex vectors are determined only up to
a phase: results that don't depend on the phase have correct derivatives.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..core.array import Array, peel, stop
from ..core.cotangent import added, dense
from ..core.primitive import Primitive
from ..core.registry import replaces
from ..core.spec import Spec
from ..core.trace import CONSTANT
from . import lapack
from .arguments import as_array, settled, somewhere
from .inner_loops import LOOPS, Assumed, doubled, loops
from .linalg import inverse_p
from .moving_vectors import (
    WithoutZeros,
    completed,
    either,
    gaps,
    inverse_sums,
    is_regular,
    leans,
    of_frame,
    pole,
    pull_hermitian,
    push_hermitian,
    used,
    used_vectors,
    vague,
)
from .rounding import rounded
from .shapes import laid
from .spectra import (
    adjoint,
    apart,
    col,
    computed,
    conj,
    from_triangle,
    generic,
    hermitian,
    levels_p,
    motion_p,
    pull_values,
    real_of,
    refuse_rows,
    row,
    simple,
    with_one_zero,
)

EighResult = type(np.linalg.eigh(np.eye(1)))
EigResult = type(np.linalg.eig(np.eye(1)))
SVDResult = type(np.linalg.svd(np.eye(1)))


def like(x, a):
    """A result in the precision of the matrix, as NumPy gives it."""
    dtype = computed(a)
    return x.astype(dtype if x.dtype.kind == "c" else real_of(dtype), copy=False)


class Decomposition(Primitive):
    """Of a stack of matrices, whatever its operands."""

    reads = "out x0"
    cores: tuple[int, ...] = (2,)

    def framed(self, a, *factors):
        """All results from the factors, as in `composed`."""
        return self.results(a, *factors)

    def batch(self, xs, mapped, size, **static):
        refuse_rows(xs[:1], mapped[:1])
        stacks = [
            x if m else np.broadcast_to(x, (size, *x.shape))
            for x, m in zip(xs, mapped, strict=True)
        ]
        return self(*stacks, **static)


class Spectrum(Decomposition):
    """Its last results are for rules alone: vectors in general position, and the token.

    results(a, *factors) are all of them, from the factors of a.
    A second operand is a direction that the vectors of equal values are to face, see `spectra`.
    values, kind: which result the values are, and whose; cores: the ranks of the other operands.
    shown(a) gives the first `n_shown` results alone, on which a direction has no influence.
    """

    n_shown: int | None = None

    # How the shown ones, and the values alone, are made by loops; see `inner_loops`.
    shown_composed: Any = None
    composed_values: Any = None
    alone = False  # whether a function that gives the values alone was called

    def facing(self, xs, x_dots):
        """The operands, and their tangents, for vectors that face the direction of the first."""
        if len(xs) > len(self.cores) or x_dots[0] is None:
            return xs, x_dots
        return (*xs, stop(dense(x_dots[0]))), (*x_dots, None)

    def degenerate(self, out):
        """Whether some values are equal, so that each direction needs vectors of its own."""
        return not np.all(settled(simple(out[self.values], self.kind)))


def generic_left(w, left, right, *faced, kind):
    return generic(w, left, right, kind, *faced)[0]


def generic_right(w, left, right, *faced, kind):
    return generic(w, left, right, kind, *faced)[1]


# Frames of vectors are mostly the vectors themselves: where no values are equal. One singular value
# of zero, as that of centred data, has vectors of its own.
FRAMES = {
    kind: [Assumed(f"{side.__name__} of {kind}", partial(side, kind=kind)) for side in sides]
    for kind, sides in (
        ("eigh", (generic_left,)),
        ("eig", (generic_left, generic_right)),
        ("svd", (generic_left, generic_right)),
    )
}


class Eigh(Spectrum):
    """a = v diag(w) v^H of Hermitian a."""

    n_out = 4
    n_shown: int | None = 2
    values, kind = 0, "eigh"

    def shown(self, a, *, UPLO):
        return np.linalg.eigh(a, UPLO)

    def shown_composed(self, a, *, UPLO):
        name = "eigh_lo" if UPLO.upper() == "L" else "eigh_up"
        if not loops(name):
            return NotImplemented
        w, v = LOOPS[name](doubled(a))
        return like(w, a), like(v, a)

    def composed_values(self, a, *, UPLO):
        name = "eigvalsh_lo" if UPLO.upper() == "L" else "eigvalsh_up"
        return like(LOOPS[name](doubled(a)), a) if loops(name) else NotImplemented

    def composed(self, a, *faced, UPLO):
        found = self.shown_composed(a, UPLO=UPLO)
        return NotImplemented if faced or found is NotImplemented else self.framed(a, *found)

    def framed(self, a, w, v):
        return w, v, FRAMES["eigh"][0](np.all(simple(w, "eigh")), v, w, v, v), v

    def value(self, a, *faced, UPLO):
        return self.results(a, *lapack.eigh(a, UPLO), faced=faced)

    def results(self, a, w, v, *, faced=()):
        return w, v, generic(w, v, v, "eigh", *faced)[0], v

    def spec(self, a, *faced, UPLO):
        v = Spec(a.shape, computed(a))
        return Spec(a.shape[:-1], real_of(v.dtype)), v, v, v

    def jvp(self, out, xs, x_dots, *, UPLO):
        w, v, frame, token = out
        a_dot = hermitian(x_dots[0])
        w_dot = motion_p(xs[0], token, a_dot, w, frame, frame, kind="eigh")
        v_dot = push_hermitian(xs[0], w, v, a_dot)
        return w_dot, v_dot, np.where(simple(w, "eigh"), v_dot, np.nan), None

    def vjp(self, bars, residual, wanted):
        w_bar, v_bar, frame_bar, token_bar = bars
        a = residual.xs[0]
        w, v, frame, token = residual.out
        a_bar = None
        if w_bar is not None:
            a_bar = pull_values(a, token, w, frame, frame, w_bar, token_bar, "eigh")
        if frame_bar is not None:
            v_bar = added(v_bar, np.where(simple(w, "eigh"), frame_bar, np.nan))
        if v_bar is not None:
            a_bar = added(a_bar, conj(pull_hermitian(a, w, v, conj(v_bar))))
        return (a_bar, *[None] * (len(wanted) - 1))


class Eigvalsh(Eigh):
    """Its vectors are there for derivatives alone; its values are those that NumPy finds alone."""

    alone = True

    def value(self, a, *faced, UPLO):
        _, v = lapack.eigh(a, UPLO)
        return self.results(a, lapack.eigvalsh(a, UPLO), v, faced=faced)

    def composed(self, a, *faced, UPLO):
        found, w = self.shown_composed(a, UPLO=UPLO), self.composed_values(a, UPLO=UPLO)
        if faced or found is NotImplemented or w is NotImplemented:
            return NotImplemented
        return self.framed(a, w, found[1])


eigh_p, eigvalsh_p = Eigh("eigh"), Eigvalsh("eigvalsh")


@replaces(np.linalg.eigh)
def eigh(a, UPLO="L"):
    return EighResult(*eigh_p(triangle_of(a, UPLO), UPLO=UPLO)[:2])


@replaces(np.linalg.eigvalsh)
def eigvalsh(a, UPLO="L"):
    a = as_array(a)
    if type(a) is Array and a.within is CONSTANT:  # of which no derivative needs vectors
        return Array(np.linalg.eigvalsh(peel(a), UPLO), CONSTANT)
    return eigvalsh_p(triangle_of(a, UPLO), UPLO=UPLO)[0]


def triangle_of(a, UPLO):
    return from_triangle(as_array(a), upper=str(UPLO).upper() == "U")


def as_complex(w, v):
    dtype = np.result_type(v, np.complex64)
    return w.astype(dtype), v.astype(dtype)


class Eig(Spectrum):
    """a = v diag(w) v^-1 of general a, as complex numbers.

    Columns of v have norm 1 and a real largest entry, as LAPACK makes them. Where a has no basis of
    eigenvectors, to rounding, derivatives are NaN.
    """

    n_out = 5
    n_shown: int | None = 2
    values, kind = 0, "eig"

    def shown(self, a):
        return as_complex(*np.linalg.eig(a))

    def value(self, a, *faced):
        return self.results(a, *np.linalg.eig(a), faced=faced)

    def results(self, a, w, v, *, faced=()):
        w, v = as_complex(w, v)
        left = adjoint(inverse_p(v, singular="near"))
        return w, v, *generic(w, left, v, "eig", *faced), v

    def framed(self, a, w, v):
        w, v = as_complex(w, v)
        left, known = adjoint(inverse_p(v, singular="near")), np.all(simple(w, "eig"))
        frames = [
            frame(known, x, w, left, v) for frame, x in zip(FRAMES["eig"], (left, v), strict=True)
        ]
        return w, v, *frames, v

    def spec(self, a, *faced):
        v = Spec(a.shape, np.result_type(computed(a), np.complex64))
        return Spec(a.shape[:-1], v.dtype), v, v, v, v

    def jvp(self, out, xs, x_dots):
        w, v, left, right, token = out
        a_dot = x_dots[0]
        w_dot = motion_p(xs[0], token, a_dot, w, left, right, kind="eig")
        inv = inverse_p(v, singular="near")
        z = v @ (gaps(w, "eig") * (inv @ a_dot @ v))
        top, at_top = largest(v)
        turn = np.imag(np.sum(np.where(top, z, 0), axis=-2, keepdims=True) / at_top)
        v_dot = z - v * (np.sum(np.real(conj(v) * z), axis=-2, keepdims=True) + 1j * turn)
        plain = simple(w, "eig")
        left_dot = -adjoint(inv @ v_dot @ inv)
        return (
            w_dot,
            v_dot,
            np.where(plain, left_dot, np.nan),
            np.where(plain, v_dot, np.nan),
            None,
        )

    def vjp(self, bars, residual, wanted):
        w_bar, v_bar, left_bar, right_bar, token_bar = bars
        a = residual.xs[0]
        w, v, left, right, token = residual.out
        a_bar = None
        if w_bar is not None:
            a_bar = pull_values(a, token, w, left, right, w_bar, token_bar, "eig")
        inv = inverse_p(v, singular="near")
        plain = simple(w, "eig")
        if left_bar is not None:
            left_bar = np.where(plain, left_bar, np.nan)
            v_bar = added(v_bar, -conj(adjoint(inv @ conj(left_bar) @ inv)))
        if right_bar is not None:
            v_bar = added(v_bar, np.where(plain, right_bar, np.nan))
        if v_bar is not None:
            g = conj(v_bar)
            columns = row(used(g))
            top, at_top = largest(v)
            along = np.sum(conj(v) * g, axis=-2, keepdims=True)
            g = g - v * np.real(along) - np.where(top, 1j * np.imag(along) / conj(at_top), 0)
            t = np.where(columns, conj(gaps(w, "eig")) * (adjoint(v) @ g), 0)
            a_bar = added(a_bar, conj(adjoint(inv) @ t @ adjoint(v)))
        return (a_bar, *[None] * (len(wanted) - 1))


def largest(v):
    """Where in its column the entry of largest magnitude is, and that entry."""
    if not v.shape[-1]:
        return v != 0, np.sum(v, axis=-2, keepdims=True)
    top = np.arange(v.shape[-2])[:, None] == row(np.argmax(np.abs(v), axis=-2))
    return top, np.sum(np.where(top, v, 0), axis=-2, keepdims=True)


eig_p = Eig("eig")


REAL_IF_POSSIBLE = np.lib.NumpyVersion(np.__version__) < "2.5.0"


@replaces(np.linalg.eig)
def eig(a):
    """`numpy.linalg.eig`; before NumPy 2.5, real for a real matrix with real eigenvalues."""
    a = as_array(a)
    w, v, *_ = eig_p(a)
    if REAL_IF_POSSIBLE and a.dtype.kind != "c" and not somewhere(np.imag(w) != 0):
        w, v = np.real(w), np.real(v)
        if w.dtype == np.float32:  # rounded from double precision, and so no views
            w, v = laid(w, "C"), laid(v, "C")
    return EigResult(w, v)


@replaces(np.linalg.eigvals)
def eigvals(a):
    return eig(a)[0]


def thin(u, s, vh):
    """The factors that belong to singular values, and what completes u and vh."""
    k = s.shape[-1]
    return u[..., :k], s, vh[..., :k, :], u[..., k:], vh[..., k:, :]


class SVD(Spectrum):
    """a = u diag(s) vh, thin; with `full` also what completes u and vh to bases."""

    n_out = 8
    n_shown: int | None = 5
    values, kind = 1, "svd"

    def shown(self, a, *, full):
        return thin(*np.linalg.svd(a, full_matrices=full))

    def factors(self, a, full):
        name = "svd_f" if full else "svd_s"
        return [like(x, a) for x in LOOPS[name](doubled(a))] if loops(name) else None

    def shown_composed(self, a, *, full):
        found = self.factors(a, full)
        return NotImplemented if found is None else thin(*found)

    def composed_values(self, a, *, full):
        return like(LOOPS["svd"](doubled(a)), a) if loops("svd") else NotImplemented

    def composed(self, a, *faced, full):
        found = self.factors(a, full)
        return NotImplemented if faced or found is None else self.framed(a, *found)

    def framed(self, a, u, s, vh):
        found = u, s, vh, *_ = thin(u, s, vh)
        labels, v = levels_p(s, kind="svd"), adjoint(vh)
        known = np.all(apart(labels))
        left, right = [
            frame(known, with_one_zero(vectors, labels), s, u, v)
            for frame, vectors in zip(FRAMES["svd"], (u, v), strict=True)
        ]
        return *found, left, right, a.astype(u.dtype, copy=False)

    def value(self, a, *faced, full):
        return self.results(a, *lapack.svd(a, full), faced=faced)

    def results(self, a, u, s, vh, *, faced=()):
        parts = u, s, vh, *_ = thin(u, s, vh)
        frames = generic(s, u, adjoint(vh), "svd", *faced)
        return *parts, *frames, a.astype(u.dtype, copy=False)

    def spec(self, a, *faced, full):
        (*stack, m, n), dtype = a.shape, computed(a)
        k = min(m, n)
        u, vh = Spec((*stack, m, k), dtype), Spec((*stack, k, n), dtype)
        rest = [
            Spec((*stack, m, m - k if full else 0), dtype),
            Spec((*stack, n - k if full else 0, n), dtype),
        ]
        s = Spec((*stack, k), real_of(dtype))
        return u, s, vh, *rest, u, Spec((*stack, n, k), dtype), Spec(a.shape, dtype)

    def jvp(self, out, xs, x_dots, *, full):
        u, s, vh, u_rest, vh_rest, left, right, token = out
        a_dot = x_dots[0]
        s_dot = motion_p(xs[0], token, a_dot, s, left, right, kind="svd")
        v, alone, regular = adjoint(vh), None, is_regular(s)
        over = pole(s, regular)
        if not regular and leans(xs[0], s, u):
            alone = WithoutZeros(xs[0], u, s, v)
            u, v = alone.settled()
        m = adjoint(u) @ a_dot @ v
        between = gaps(s, "svd") * inverse_sums(s)
        turn_u = between * (m * row(s) + col(s) * adjoint(m))
        turn_v = between * (col(s) * m + adjoint(m) * row(s))
        if m.dtype.kind == "c":
            turn_u = turn_u + np.where(
                np.eye(s.shape[-1], dtype=bool), 1j * np.imag(m) * row(over), 0
            )
        u_dot, v_dot = u @ turn_u, v @ turn_v
        if u.shape[-2] > s.shape[-1]:
            u_dot = u_dot + (a_dot @ v - u @ m) * row(over)
        if v.shape[-2] > s.shape[-1]:
            v_dot = v_dot + (adjoint(a_dot) @ u - v @ adjoint(m)) * row(over)
        if alone is not None:
            u_dot, v_dot = alone.push(a_dot, u_dot, v_dot)
        plain = simple(s, "svd")
        v_rest_dot = completed(v, v_dot, adjoint(vh_rest))
        rests = completed(u, u_dot, u_rest), None if v_rest_dot is None else adjoint(v_rest_dot)
        frames = [np.where(plain, dot, np.nan) for dot in (u_dot, v_dot)]
        return u_dot, s_dot, adjoint(v_dot), *rests, *frames, None

    def vjp(self, bars, residual, wanted):
        u_bar, s_bar, vh_bar, u_rest_bar, vh_rest_bar, left_bar, right_bar, token_bar = bars
        a = residual.xs[0]
        u, s, vh, u_rest, vh_rest, left, right, token = residual.out
        v = adjoint(vh)
        how = {"what": "numpy.linalg.svd", "instead": "full_matrices=False"}
        if u_rest_bar is not None:
            u_bar = added(u_bar, of_frame(u, u_rest, u_rest_bar, **how))
        if vh_rest_bar is not None:
            v_bar = of_frame(v, adjoint(vh_rest), adjoint(vh_rest_bar), **how)
            vh_bar = added(vh_bar, None if v_bar is None else adjoint(v_bar))
        a_bar = None
        if s_bar is not None:
            a_bar = pull_values(a, token, s, left, right, s_bar, token_bar, "svd")
        gu = None if u_bar is None else conj(u_bar)
        gv = None if vh_bar is None else np.swapaxes(vh_bar, -1, -2)
        framed = left_bar is not None or right_bar is not None
        plain = simple(s, "svd") if framed else None
        if left_bar is not None:
            gu = added(gu, np.where(plain, conj(left_bar), np.nan))
        if right_bar is not None:
            gv = added(gv, np.where(plain, conj(right_bar), np.nan))
        if gu is not None or gv is not None:
            regular = is_regular(s)
            if s_bar is not None and not regular:  # of `(u * s) @ vh`, of which u and vh are parts
                most = np.max(np.abs(s_bar), axis=-1, keepdims=True, initial=0)
                least = s.dtype.type(np.finfo(s.dtype).eps ** 0.5) * most
                opened = np.logical_and(vague(a, s), np.abs(s_bar) > least)
                a_bar = np.where(np.any(opened, axis=-1)[..., None, None], np.nan, a_bar)
            columns = [used_vectors(g, s, regular) for g in (gu, gv) if g is not None]
            columns = columns[0] if len(columns) == 1 else np.logical_or(*columns)
            if not regular and leans(a, s, u):
                alone = WithoutZeros(a, u, s, v)
                a_bar = added(a_bar, conj(alone.pull(gu, gv)))
                (u, v), gu, gv = alone.settled(), alone.of_zeros(gu), alone.of_zeros(gv)
                columns = np.logical_and(columns, alone.zero)
                if not somewhere(columns):
                    return (a_bar, *[None] * (len(wanted) - 1))
            over = np.where(columns, pole(s, regular), 0)
            a_bar = added(a_bar, conj(self.pull_vectors(u, s, v, gu, gv, columns, over)))
        return (a_bar, *[None] * (len(wanted) - 1))

    def pull_vectors(self, u, s, v, gu, gv, columns, over):
        """The gradient of a from those of u and v, of which one may be None.

        columns: which vectors are used; over: 1 / s there.
        """
        between = np.where(either(columns), gaps(s, "svd") * inverse_sums(s), 0)
        t, outside = 0, []
        if gu is not None:
            m = adjoint(u) @ gu
            j = between * m
            t = t + (j + adjoint(j)) * row(s)
            if m.dtype.kind == "c":
                t = t + np.where(np.eye(s.shape[-1], dtype=bool), 1j * np.imag(m) * row(over), 0)
            if u.shape[-2] > s.shape[-1]:
                outside.append(((gu - u @ m) * row(over)) @ adjoint(v))
        if gv is not None:
            m = adjoint(v) @ gv
            j = between * m
            t = t + col(s) * (j + adjoint(j))
            if v.shape[-2] > s.shape[-1]:
                outside.append((u * row(over)) @ adjoint(gv - v @ m))
        return sum(outside, u @ t @ adjoint(v))


class Svdvals(SVD):
    """Its vectors are there for derivatives alone; its values are those that NumPy finds alone."""

    alone = True

    def value(self, a, *faced, full):
        u, _, vh = lapack.svd(a, full)
        return self.results(a, u, lapack.singular_values(a), vh, faced=faced)

    def composed(self, a, *faced, full):
        found, s = self.factors(a, full), self.composed_values(a, full=full)
        if faced or found is None or s is NotImplemented:
            return NotImplemented
        return self.framed(a, found[0], s, found[2])


svd_p, svdvals_p = SVD("svd"), Svdvals("svdvals")


@replaces(np.linalg.svd)
def svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    """`numpy.linalg.svd`. With full_matrices=True the first min(m, n) vectors have derivatives."""
    a = as_array(a)
    if hermitian:
        return svd_of_hermitian(a, compute_uv)
    if not compute_uv:
        return svdvals_p(a, full=False)[1]
    everything = full_matrices and a.ndim > 1 and a.shape[-1] != a.shape[-2]
    u, s, vh, u_rest, vh_rest, *_ = svd_p(a, full=bool(everything))
    if everything and a.shape[-2] > a.shape[-1]:
        u = np.concatenate([u, u_rest], axis=-1)
    elif everything:
        vh = np.concatenate([vh, vh_rest], axis=-2)
    return SVDResult(u, s, vh)


def svd_of_hermitian(a, compute_uv):
    """By the eigenvalues, as NumPy does it."""
    w, u = eigh(a)
    s = np.where(np.signbit(w), -w, w)  # without the kink of the absolute value
    if not compute_uv:
        return rounded(np.sort(s)[..., ::-1], np.linalg.svd, a, compute_uv=False, hermitian=True)
    order = np.argsort(s, axis=-1)[..., ::-1]
    s = np.take_along_axis(s, order, axis=-1)
    u = np.take_along_axis(u, row(order), axis=-1)
    signs = np.take_along_axis(np.sign(w), order, axis=-1)
    return SVDResult(u, s, adjoint(u * row(signs)))


@replaces(np.linalg.svdvals)
def svdvals(x, /):
    return svd(x, compute_uv=False)
