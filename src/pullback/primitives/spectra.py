"""Derivatives of functions of eigenvalues or singular values alone, degenerate or not.

When the matrix a moves, its values move by w_dot = diag(left^H a_dot right), whichever vectors were
chosen for equal values. For kind "svd", left and right are the singular vectors; for "eigh" both
are the eigenvectors v; for "eig" they are v^-H and v. `Motion` is that map, and `Spectral` is its
transpose, y -> left diag(y) right^H.

In second order both depend on a through their vectors, by divided differences
(y_i - y_j) / (w_i - w_j). At equal values that is 0/0 for a symmetric function, and the limit is a
second derivative of that function: for sum(f(w)) it is f''(w_i). L'Hôpital's rule gives it from
how y moves when w does, as the slope of y_dot over w_dot. Therefore

- vectors of equal values are kept in general position (`generic`), where no direction's w_dot looks
  like that of a multiple of the identity;
- in forward mode, `Spectral` sees a_dot and y_dot together, and adds the missing part
  (`steepened`);
- in reverse mode, y_bar travels through the user's function to the node of the decomposition, and
  the direction that caused it has to travel along. `token` serves for this: a result of each
  decomposition whose value nobody reads and whose cotangent is that direction.

In forward over forward mode, the limit can't be computed at any single place: for m equal values
the function receives m numbers for each of two directions, and these don't determine the product of
the m by m matrices. But if the vectors of equal values diagonalize one of the two matrices, the sum
of the products of these numbers is the trace of the product of the matrices, and the function's own
second derivative is all that's needed. So there the vectors are rotated to face a direction
(`facing`).

A function that isn't symmetric in equal values has a kink there, and gets the linear part of its
derivative. A token holds one direction: several second-order reverse passes through one node at
once, with different functions, find a common slope.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..core.cotangent import masked, unbroadcast
from ..core.kinds import Linear
from ..core.primitive import Primitive
from ..core.spec import DOUBLE, Spec, promoted
from .selecting import where_p

EPSILON = float(np.finfo(float).eps)


def conj(x):
    return np.conj(x) if x.dtype.kind == "c" else x


def adjoint(x):
    return conj(x.swapaxes(-1, -2))


def hermitian(x):
    """The Hermitian part: what a function of Hermitian matrices sees of a direction."""
    return (x + adjoint(x)) / 2


def from_triangle(a, upper=False):
    """The Hermitian matrix that NumPy sees: it reads one triangle, and the diagonal's real part.

    So a change of the other triangle changes nothing, and its derivative is zero.
    """
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        return a  # NumPy raises
    if a.dtype.kind == "f":
        return mirrored_p(a, upper=bool(upper))
    mirrored = where_p(triangle(a.shape[-1], upper), a, adjoint(a))
    if a.dtype.kind != "c":
        return mirrored
    return np.where(np.eye(a.shape[-1], dtype=bool), np.real(a), mirrored)


@lru_cache(maxsize=256)
def triangle(n, upper):
    """Where the elements of a triangle are."""
    out = np.tri(n, dtype=bool).T if upper else np.tri(n, dtype=bool)
    out.flags.writeable = False
    return out


class Mirrored(Linear):
    """Real symmetric matrices, of which one triangle is given. The other has no derivative."""

    def value(self, a, *, upper):
        return np.where(triangle(a.shape[-1], upper), a, np.swapaxes(a, -1, -2))

    def composed(self, a, *, upper):
        return where_p(triangle(a.shape[-1], upper), a, adjoint(a))

    def spec(self, a, *, upper):
        return a

    def transpose(self, i, xs, out_bar, *, upper):
        n, dtype = out_bar.shape[-1], out_bar.dtype
        once = (out_bar + np.swapaxes(out_bar, -1, -2)) * half_diagonal(n, dtype)
        given = triangle(n, upper)
        if len(out_bar.shape) > 2:
            given = np.broadcast_to(given, out_bar.shape)
        return masked(once, given)

    def batch(self, xs, mapped, size, *, upper):
        return self(xs[0], upper=upper)


mirrored_p = Mirrored("mirrored")


@lru_cache(maxsize=256)
def half_diagonal(n, dtype):
    """Ones, but on the diagonal halves."""
    out = np.ones((n, n), dtype)
    np.fill_diagonal(out, 0.5)
    out.flags.writeable = False
    return out


def col(y):
    return y[..., :, None]


def row(y):
    return y[..., None, :]


def diag(x):
    return np.diagonal(x, axis1=-2, axis2=-1)


def computed(*specs):
    """The dtype in which numpy.linalg computes: integers count as double."""
    if len(specs) == 1 and specs[0].dtype.kind in "fc":
        return specs[0].dtype
    return np.result_type(*[x.dtype if x.dtype.kind in "fc" else np.float64 for x in specs])


def real_of(dtype):
    return np.zeros((), dtype).real.dtype


def refuse_rows(xs, mapped):
    """Raise what NumPy raises where an example is no matrix, since the batch may look like one."""
    for x, m in zip(xs, mapped, strict=True):
        if x.ndim - m < 2:
            raise np.linalg.LinAlgError(
                f"{x.ndim - m}-dimensional array given. Array must be at least two-dimensional"
            )


def stacked(xs, mapped, cores):
    """Pad ranks after the batch axis so that stacks broadcast; cores: the ranks of one element."""
    ranks = [x.ndim - core - m for x, core, m in zip(xs, cores, mapped, strict=True)]
    for core, rank in zip(cores, ranks, strict=True):
        if rank < 0:
            raise ValueError(
                f"An operand of a function of matrices has {core + rank} dimensions in each"
                f" example, but {core} are needed.\n  Write `a[..., None, :]` for a row."
            )
    return [
        np.reshape(x, x.shape[:1] + (1,) * (max(ranks) - rank) + x.shape[1:])
        if m and rank < max(ranks)
        else x
        for x, m, rank in zip(xs, mapped, ranks, strict=True)
    ]


# Which values count as equal.


class Levels(Primitive):
    """For each value the place of the first that equals it to rounding; -1 for zeros of "svd"."""

    constant = True

    def value(self, w, *, kind):
        if not w.shape[-1]:
            return np.zeros(w.shape, np.intp)
        with np.errstate(invalid="ignore"):
            tolerance = 64 * np.finfo(w.dtype).eps * np.max(np.abs(w), axis=-1, keepdims=True)
            labels = np.argmax(np.abs(col(w) - row(w)) <= col(tolerance), axis=-1)
            return np.where(w <= tolerance, -1, labels) if kind == "svd" else labels

    composed = value

    def spec(self, w, *, kind):
        return Spec(w.shape, np.intp)

    def batch(self, xs, mapped, size, *, kind):
        return self(xs[0], kind=kind)


levels_p = Levels("levels")


def same_label(labels):
    return col(labels) == row(labels)


def simple(w, kind):
    """Whether no values of a matrix are equal, and none is a singular value of zero."""
    labels = levels_p(w, kind=kind)
    multiple = np.sum(same_label(labels), axis=-1) > 1
    return np.logical_not(np.any(np.logical_or(multiple, labels < 0), axis=-1))[..., None, None]


def apart(labels):
    """Whether no two values of a matrix are equal: at most one singular value is zero then."""
    return np.logical_not(np.any(np.sum(same_label(labels), axis=-1) > 1, axis=-1))[..., None, None]


def with_one_zero(vectors, labels):
    """Singular vectors; that of a value of zero, which has no equal, leans on none of the rest.

    It points as the one that is shown does, so that the value moves with the signs of both.
    """
    zero = row(labels < 0)
    some = scatter(vectors.shape[-2], 1, vectors.dtype)
    rest = np.where(zero, 0, vectors)
    some = some - rest @ (adjoint(rest) @ some)
    size = np.sqrt(np.sum(np.real(conj(some) * some), axis=-2, keepdims=True))
    some = some / np.where(size == 0, 1, size)
    same = np.sum(conj(some) * vectors, axis=-2, keepdims=True)
    size = np.abs(same)
    some = some * np.where(size == 0, 1, same / np.where(size == 0, 1, size))
    return np.where(zero, some, vectors)


def separate(w, kind):
    """Whether all values of a stack are simple, told quickly from their being in order."""
    if not w.size:
        return True
    if w.ndim == 1 and type(w) is np.ndarray and w.dtype is DOUBLE:
        first, last = float(w[0]), float(w[-1])
        tolerance = 64 * EPSILON * max(abs(first), abs(last))
        if kind == "svd" and not last > tolerance:
            return False
        return w.size == 1 or bool(np.abs(w[1:] - w[:-1]).min() > tolerance)
    tolerance = 64 * np.finfo(w.dtype).eps * np.maximum(np.abs(w[..., :1]), np.abs(w[..., -1:]))
    apart = np.all(np.abs(w[..., 1:] - w[..., :-1]) > tolerance)
    return bool(apart and (kind != "svd" or np.all(w[..., -1:] > tolerance)))


def generic(w, left, right, kind, faced=None):
    """The vectors, those of equal values turned among themselves into general position.

    Runs on plain arrays. A singular value of zero leaves left and right vectors independent of each
    other, within all that the others leave.
    faced: a direction of a for which they are to be those of `facing`.
    """
    if kind != "eig" and separate(w, kind):
        return left, right
    plain = simple(w, kind)[..., 0, 0]
    if np.all(plain):
        return left, right
    both = left is not right
    labels = levels_p.value(w, kind=kind)
    if faced is None and kind == "svd" and np.all(apart(labels)):
        return with_one_zero(left, labels), with_one_zero(right, labels)
    left, right = left.copy(), right.copy() if both else None
    for index in np.ndindex(plain.shape):
        if plain[index]:
            continue
        for label in np.unique(labels[index]):
            group = labels[index] == label
            n = np.count_nonzero(group)
            if faced is not None:
                pair = left[index], right[index] if both else left[index]
                real = kind == "eig" and faced.dtype.kind != "c" and not np.imag(w[index]).any()
                turned = facing(*pair, group, faced[index], label, kind, real)
                for vectors, new in zip(pair, turned, strict=True):
                    vectors[:, group] = new
                continue
            for vectors in (left[index], right[index]) if both else (left[index],):
                if label < 0 and n == 1:
                    vectors[...] = with_one_zero(vectors, labels[index])
                elif label < 0:
                    rest = vectors[:, ~group]
                    some = scatter(len(vectors), n, left.dtype)
                    some = some - rest @ (adjoint(rest) @ some)
                    vectors[:, group] = np.linalg.qr(some)[0]
                elif n > 1:
                    vectors[:, group] = vectors[:, group] @ turn(n, left.dtype)
    return left, right if both else left


def facing(left, right, group, x, label, kind, real):
    """The vectors of equal values that diagonalize a direction x among themselves.

    NaN where there are none: for a direction that is not known, or of kind "eig" one that is not
    diagonalizable; if `real`, in real numbers, since that is what becomes of the values.
    """
    l, r = left[:, group], right[:, group]
    if not np.isfinite(x).all():
        return np.full_like(l, np.nan), np.full_like(r, np.nan)
    if label < 0:  # of all that the others leave
        if group.sum() == 1 and left.shape == right.shape == (len(left), len(left)):
            return l, r  # there is no other but for its sign, with which the value moves
        l, r = rest_of(left[:, ~group]), rest_of(right[:, ~group])
        u, _, vh = np.linalg.svd(adjoint(l) @ x @ r)
        n = np.count_nonzero(group)
        return l @ u[:, :n], r @ adjoint(vh)[:, :n]
    block = adjoint(l) @ x @ r
    if kind != "eig":
        axes = np.linalg.eigh(hermitian(block))[1]
        return l @ axes, r @ axes
    moves, axes = np.linalg.eig(block)
    small = np.finfo(axes.dtype).eps ** 0.5
    turning = real and np.abs(np.imag(moves)).max() > small * np.abs(moves).max()
    if turning or np.linalg.cond(axes) * small > 1:
        return np.full_like(l, np.nan), np.full_like(r, np.nan)
    return l @ adjoint(np.linalg.inv(axes)), r @ axes


def rest_of(vectors):
    """An orthonormal basis of what orthonormal vectors leave."""
    return np.linalg.qr(vectors, mode="complete")[0][:, vectors.shape[1] :]


@lru_cache(maxsize=256)
def scatter(m, n, dtype):
    """Numbers without a pattern, the same each time."""
    out = np.random.default_rng(n).standard_normal((m, n)).astype(dtype)
    out.flags.writeable = False
    return out


@lru_cache(maxsize=256)
def turn(n, dtype):
    """A rotation without a pattern, the same each time."""
    out = np.linalg.qr(scatter(n, n, dtype))[0]
    out.flags.writeable = False
    return out


# The parts of second derivatives. x and a_dot are directions; y is real except for kind "eig".


def project(x, kind):
    return hermitian(x) if kind == "eigh" else x


def inverse(x, singular):
    return np.where(singular, 0, 1 / np.where(singular, 1, x))


def blocks(w, left, right, x, kind):
    """left^H x right; its part that pairs with differences of values; whose values are equal."""
    m = adjoint(left) @ x @ right
    labels = levels_p(w, kind=kind)
    return m, hermitian(m) if kind == "svd" else m, labels


def differences(w, labels):
    """1 / (w_i - w_j), and 0 where they are equal."""
    return inverse(col(w) - row(w), same_label(labels))


def sums(w, labels):
    """1 / (w_i + w_j) of singular values, and 0 where both are zero; and 1 / w_i."""
    zero = labels < 0
    return inverse(col(w) + row(w), np.logical_and(col(zero), row(zero))), inverse(w, zero)


def stretched(w, left, right, y, x, kind):
    """The derivative of left diag(y) right^H in the direction x of a, for fixed y.

    Of a quadratic form in x, so that it is its own transpose. For kind "svd" differences of values
    go with the Hermitian part of left^H x right and sums with the other, because the values come
    with both signs; what lies outside the vectors meets values of zero.
    """
    m, h, labels = blocks(w, left, right, x, kind)
    t = conj(differences(w, labels)) * (col(y) - row(y)) * adjoint(h)
    if kind != "svd":
        return left @ t @ adjoint(right)
    over_sums, over = sums(w, labels)
    t = t + over_sums * (col(y) + row(y)) * (m - h)
    out = left @ t @ adjoint(right)
    if x.shape[-2] > w.shape[-1]:
        out = out + ((x @ right - left @ m) * row(y * over)) @ adjoint(right)
    if x.shape[-1] > w.shape[-1]:
        out = out + (left * row(y * over)) @ (adjoint(left) @ x - m @ adjoint(right))
    return out


def bent(w, left, right, x, z, kind):
    """The second derivative of the values along x and z: <y, bent> = <x, stretched z>."""
    mx, hx, labels = blocks(w, left, right, x, kind)
    mz, hz, _ = blocks(w, left, right, z, kind)
    over = differences(w, labels)
    out = np.sum(over * (hx * np.swapaxes(hz, -1, -2) + np.swapaxes(hx, -1, -2) * hz), axis=-1)
    if kind == "eig":
        return out
    out = np.real(out)
    if kind == "eigh":
        return out
    over_sums, over = sums(w, labels)
    out = out + 2 * np.sum(over_sums * np.real(conj(mx - hx) * (mz - hz)), axis=-1)
    if x.shape[-2] > w.shape[-1]:
        outside = np.sum(np.real(conj(x @ right) * (z @ right - left @ mz)), axis=-2)
        out = out + over * outside
    if x.shape[-1] > w.shape[-1]:
        outside = np.real(conj(adjoint(left) @ x) * (adjoint(left) @ z - mz @ adjoint(right)))
        out = out + over * np.sum(outside, axis=-1)
    return out


def deviations(y, labels, kind):
    """y less its mean over equal values; and how to sum over these."""
    same = same_label(labels)

    def total(v):
        return np.sum(np.where(same, row(v), 0), axis=-1)

    mean = total(y) / np.sum(same, axis=-1)
    if kind == "svd":  # near zero a smooth function of singular values is even: y is odd
        mean = np.where(labels < 0, 0, mean)
    return y - mean, total


def symmetric(y, w, kind):
    """Whether y is one number for equal values: for each matrix of a stack."""
    off, _ = deviations(y, levels_p(w, kind=kind), kind)
    size = np.max(np.abs(y), axis=-1, keepdims=True, initial=0)
    return np.all(np.abs(off) <= np.finfo(y.dtype).eps ** 0.5 * size, axis=-1)[..., None, None]


def steepened(w, left, right, x, y_dot, kind):
    """What `stretched` leaves out at equal values: the slope of y_dot over w_dot, times x there."""
    _, h, labels = blocks(w, left, right, x, kind)
    w_dot = diag(h) if kind == "eig" else np.real(diag(h))
    off, total = deviations(w_dot, labels, kind)
    power = total(np.real(conj(off) * off))
    slope = total(off * deviations(y_dot, labels, kind)[0]) * inverse(power, power == 0)
    zero = labels < 0
    same = np.logical_and(same_label(labels), np.logical_not(np.eye(w.shape[-1], dtype=bool)))
    if kind != "svd":
        return left @ (np.where(same, col(slope), 0) * adjoint(h)) @ adjoint(right)
    same = np.logical_and(same, np.logical_not(col(zero)))
    out = left @ (np.where(same, col(slope), 0) * h) @ adjoint(right)
    # Zero singular values: all that the other vectors leave of x.
    l, r = left * row(np.logical_not(zero)), right * row(np.logical_not(zero))
    x = x - l @ (adjoint(l) @ x)
    x = x - (x @ r) @ adjoint(r) - (left * row(np.where(zero, w_dot, 0))) @ adjoint(right)
    count = np.sum(zero, axis=-1)
    slope = np.sum(np.where(zero, slope, 0), axis=-1) / np.where(count == 0, 1, count)
    return out + slope[..., None, None] * x


# The primitives.


class SpectralOperands(Primitive):
    """What Motion and Spectral share: their operands, and what they let travel with the token.

    a is differentiated, the values and vectors of its decomposition are taken as they are.
    Cotangents y are conjugated before and after, so that formulas read as for gradients.
    """

    nondiff = (3, 4, 5)
    reads = "xs"

    def batch(self, xs, mapped, size, *, kind):
        return self(*stacked(xs, mapped, self.cores), kind=kind)

    def curved(self, xs, y, x, wanted, kind):
        """The cotangents of a and of the token, from y and a direction x."""
        a, token, _, w, left, right = xs
        a_bar = token_bar = None
        if wanted[0]:
            bent_back = project(stretched(w, left, right, y, x, kind), kind)
            a_bar = unbroadcast(conj(bent_back), a)
        if wanted[1]:
            token_bar = unbroadcast(conj(np.where(symmetric(y, w, kind), x, 0)), token)
        return a_bar, token_bar


class Spectral(SpectralOperands):
    """left diag(y) right^H: the gradient of a function of values, whose gradient there is y."""

    cores = (2, 2, 1, 1, 2, 2)

    def value(self, a, token, y, w, left, right, *, kind):
        return (left * row(y)) @ adjoint(right)

    composed = value

    def spec(self, a, token, y, w, left, right, *, kind):
        stack = np.broadcast_shapes(y.shape[:-1], left.shape[:-2])
        return Spec((*stack, left.shape[-2], right.shape[-2]), promoted(left, y))

    def jvp(self, out, xs, x_dots, *, kind):
        a, token, y, w, left, right = xs
        a_dot, _, y_dot, *_ = x_dots
        terms = []
        if a_dot is not None:
            a_dot = project(a_dot, kind)
            terms.append(stretched(w, left, right, y, a_dot, kind))
        if y_dot is not None:
            terms.append(self(a, token, y_dot, w, left, right, kind=kind))
        if len(terms) == 2:
            steep = steepened(w, left, right, a_dot, y_dot, kind)
            terms.append(np.where(symmetric(y, w, kind), steep, 0))
        return np.broadcast_to(sum(terms[1:], terms[0]), out.shape) if terms else None

    def vjp(self, out_bar, residual, wanted):
        a, token, y, w, left, right = xs = residual.xs
        kind = residual.static["kind"]
        x = project(conj(out_bar), kind)
        y_bar = conj(motion_p(a, token, x, w, left, right, kind=kind)) if wanted[2] else None
        a_bar, token_bar = self.curved(xs, y, x, [wanted[0], wanted[1] and wanted[2]], kind)
        y_bar = None if y_bar is None else unbroadcast(y_bar, y)
        return a_bar, token_bar, y_bar, None, None, None


spectral_p = Spectral("spectral")


class Motion(SpectralOperands):
    """diag(left^H x right): how values move in the direction x."""

    cores = (2, 2, 2, 1, 2, 2)

    def value(self, a, token, x, w, left, right, *, kind):
        out = np.sum(conj(left) * (x @ right), axis=-2)
        return out if kind == "eig" else np.real(out)

    composed = value

    def spec(self, a, token, x, w, left, right, *, kind):
        stack = np.broadcast_shapes(x.shape[:-2], left.shape[:-2])
        dtype = promoted(left, x)
        return Spec((*stack, left.shape[-1]), dtype if kind == "eig" else real_of(dtype))

    def jvp(self, out, xs, x_dots, *, kind):
        a, token, x, w, left, right = xs
        a_dot, _, x_dot, *_ = x_dots
        terms = []
        if a_dot is not None:
            terms.append(bent(w, left, right, x, project(a_dot, kind), kind))
        if x_dot is not None:
            terms.append(self(a, token, x_dot, w, left, right, kind=kind))
        return np.broadcast_to(sum(terms[1:], terms[0]), out.shape) if terms else None

    def vjp(self, out_bar, residual, wanted):
        a, token, x, w, left, right = xs = residual.xs
        kind = residual.static["kind"]
        y = conj(out_bar)
        a_bar, token_bar = self.curved(xs, y, x, wanted, kind)
        x_bar = None
        if wanted[2]:
            x_bar = unbroadcast(conj(spectral_p(a, token, y, w, left, right, kind=kind)), x)
        return a_bar, token_bar, x_bar, None, None, None


motion_p = Motion("motion")


def pull_values(a, token, w, left, right, w_bar, token_bar, kind):
    """The cotangent of a from that of its values: what the vjp of a decomposition does with it."""
    y = conj(w_bar)
    out = spectral_p(a, token, y, w, left, right, kind=kind)
    if token_bar is not None:
        x = project(conj(token_bar), kind)
        out = out + steepened(w, left, right, x, y, kind)
    return conj(out)
