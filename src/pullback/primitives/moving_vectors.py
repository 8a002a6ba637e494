"""How eigenvectors and singular vectors move: quotients by gaps between values, and by values.

A vector moves toward each of the others by a quotient by the gap between their values, and singular
vectors toward all that the others leave by one by their value. Such a quotient is NaN where gap or
value is zero to rounding, and is looked at only where a vector is used.

A matrix of low rank leaves open which vectors its singular values of zero have. The first
derivative of the other vectors is a sum over these, whichever they are; in second order each of
them would move by leaps, so that the sum is written without them (`WithoutZeros`). So do equal
eigenvalues of a Hermitian matrix for the vectors of the other ones (`WithoutEqual`).
"""

from __future__ import annotations

import numpy as np

from ..core.array import Array
from ..core.errors import MissingRuleError
from ..core.primitive import Primitive
from ..core.spec import Spec, full, spec_of
from .arguments import somewhere
from .elementwise import stopped
from .spectra import adjoint, col, levels_p, row, same_label, separate


def is_regular(s):
    """Whether singular values are known to be simple and above zero, as they mostly are."""
    return type(s) is np.ndarray and separate(s, "svd")


def pole(s, regular):
    """1 / s, and NaN for singular values that are zero to rounding."""
    if regular:
        return 1 / s
    zero = np.logical_or(levels_p(s, kind="svd") < 0, s == 0)
    return np.where(zero, np.nan, 1 / np.where(zero, 1, s))


def gaps(w, kind):
    """1 / (w_j - w_i), 0 on the diagonal, NaN elsewhere where they are equal to rounding.

    A difference of the size of rounding errors is noise, and dividing by it would give a number
    that only looks meaningful.
    """
    if type(w) is np.ndarray and kind != "eig" and separate(w, kind):
        itself = np.eye(w.shape[-1], dtype=bool)
        return np.where(itself, 0, 1 / np.where(itself, 1, row(w) - col(w)))
    equal = same_label(levels_p(w, kind=kind))
    between = 1 / np.where(equal, 1, row(w) - col(w))
    return np.where(np.eye(w.shape[-1], dtype=bool), 0, np.where(equal, np.nan, between))


def used(v_bar):
    """The columns whose cotangent is not zero everywhere: only these can meet a NaN."""
    return np.any(v_bar != 0, axis=-2)


def used_vectors(v_bar, s, regular):
    """The same for singular vectors; those of zeros count if what they give is no rounding error.

    Where a function weighs them by their values, as `u * s**2` does, a zero to rounding leaves a
    cotangent that is smaller than that of `u * s`.
    """
    if regular:
        return used(v_bar)
    size = np.max(np.abs(v_bar), axis=-2, initial=0)
    most = np.max(size, axis=-1, keepdims=True, initial=0)
    small = s.dtype.type(np.finfo(s.dtype).eps ** 0.5)
    least = small * s * most / np.where(s[..., :1] == 0, 1, s[..., :1])
    return np.logical_and(used(v_bar), np.logical_or(levels_p(s, kind="svd") >= 0, size > least))


def vague(a, s):
    """Which singular values are zeros whose vectors a leaves open by more than their signs."""
    zero = levels_p(s, kind="svd") < 0
    wide = spec_of(a).shape[-1] != spec_of(a).shape[-2]
    return zero if wide else np.logical_and(zero, np.sum(zero, axis=-1, keepdims=True) > 1)


class Settled(Primitive):
    """Singular vectors; those that the matrix leaves open have no derivative, which is NaN."""

    nondiff = (1,)
    reads = "x1"

    def value(self, vectors, opened):
        return vectors

    composed = value

    def spec(self, vectors, opened):
        return vectors

    def jvp(self, out, xs, x_dots):
        dot = x_dots[0]
        return np.where(np.logical_and(row(xs[1]), dot != 0), np.nan, dot)

    def vjp(self, out_bar, residual, wanted):
        opened = row(residual.xs[1])
        return np.where(np.logical_and(opened, out_bar != 0), np.nan, out_bar), None

    def batch(self, xs, mapped, size):
        return xs[0] if mapped[0] else np.broadcast_to(xs[0], (size, *xs[0].shape))


settled_p = Settled("settled_vectors")


def leans(a, s, u):
    """Whether a rule that is itself differentiated meets vectors that a leaves open."""
    return type(u) is Array and somewhere(vague(a, s))


def either(columns):
    return np.logical_or(col(columns), row(columns))


class WithoutZeros:
    """How the vectors of a low-rank matrix's nonzero singular values move, in higher orders too.

    The sums over the other vectors are written without them: u_i' and v_i', the parts of the
    tangents beside the images of these vectors, solve s_i u_i' = n a_dot v_i + r v_i' and
    s_i v_i' = m a_dot^H u_i + r^H u_i', where n and m project beside the images, and r is what the
    vectors leave of a. It is zero, but has derivatives: p steps serve those up to order p.
    """

    steps = 4

    def __init__(self, a, u, s, v):
        self.a, self.u, self.s, self.v = a, u, s, v
        labels = levels_p(s, kind="svd")
        self.zero = labels < 0
        self.known = np.logical_not(row(self.zero))
        self.left, self.right = np.where(self.known, u, 0), np.where(self.known, v, 0)
        self.over = row(np.where(self.zero, 0, 1 / np.where(self.zero, 1, s)))
        both = np.logical_and(col(labels) >= 0, row(labels) >= 0)
        self.between = np.where(both, gaps(s, "svd") * inverse_sums(s), 0)
        self.rest = a - (self.left * row(s)) @ adjoint(self.right)

    def settled(self):
        """The vectors for the derivatives of those of zeros, which have no more of their own."""
        opened = vague(self.a, self.s)
        return settled_p(self.u, opened), settled_p(self.v, opened)

    def of_zeros(self, bar):
        return None if bar is None else np.where(self.known, 0, bar)

    def beside(self, x, y):
        """Of x and y, which belong to u and v, what the images leave; and the solution for them."""
        x, y = x - self.left @ (adjoint(self.left) @ x), y - self.right @ (adjoint(self.right) @ y)
        p, q = x * self.over, y * self.over
        for _ in range(self.steps):
            p, q = (x + self.rest @ q) * self.over, (y + adjoint(self.rest) @ p) * self.over
        return p, q

    def turned(self, m):
        """The imaginary diagonal of m, by which the phases of complex vectors move."""
        return np.where(np.eye(self.s.shape[-1], dtype=bool), 1j * np.imag(m), 0)

    def push(self, a_dot, u_dot, v_dot):
        """The tangents of all vectors, from those that the vectors of zeros have."""
        m = adjoint(self.left) @ a_dot @ self.right
        turn_u = self.between * (m * row(self.s) + col(self.s) * adjoint(m))
        turn_v = self.between * (col(self.s) * m + adjoint(m) * row(self.s))
        if m.dtype.kind == "c":
            turn_u = turn_u + self.turned(m) * self.over
        p, q = self.beside(a_dot @ self.right, adjoint(a_dot) @ self.left)
        u_dot = np.where(self.known, self.left @ turn_u + p, u_dot)
        return u_dot, np.where(self.known, self.right @ turn_v + q, v_dot)

    def pull(self, gu, gv):
        """The gradient of a from those of u and v, of which one may be None."""
        nothing = np.zeros_like(self.u if gu is None else self.v)
        gu = nothing if gu is None else np.where(self.known, gu, 0)
        gv = nothing if gv is None else np.where(self.known, gv, 0)
        j, m = self.between * (adjoint(self.left) @ gu), adjoint(self.left) @ gu
        t = (j + adjoint(j)) * row(self.s)
        if m.dtype.kind == "c":
            t = t + self.turned(m) * self.over
        j = self.between * (adjoint(self.right) @ gv)
        t = t + col(self.s) * (j + adjoint(j))
        p, q = self.beside(gu, gv)
        return (self.left @ t + p) @ adjoint(self.right) + self.left @ adjoint(q)


class WithoutEqual:
    """How the eigenvectors of a Hermitian matrix's simple eigenvalues move, in higher orders too.

    Where other eigenvalues are equal, the sums over their vectors are written without them: x_i,
    the part of a tangent beside the vectors of simple values, solves (w_i - a) x_i = p a_dot v_i,
    where p projects beside these. What solves it here and now, by vectors held constant, improves
    x_i by an order of derivatives in each step.
    """

    steps = 4

    def __init__(self, a, w, v):
        self.a, self.w = a, w
        self.known = np.logical_not(equal_to_others(w))
        self.own = np.where(row(self.known), v, 0)
        self.others = stopped(np.where(row(self.known), 0, v))
        both = np.logical_and(col(self.known), row(self.known))
        self.between = np.where(both, gaps(w, "eigh"), 0)
        apart = np.logical_and(col(np.logical_not(self.known)), row(self.known))
        still = stopped(w)
        self.over = np.where(apart, 1 / np.where(apart, row(still) - col(still), 1), 0)

    def beside(self, y):
        """What the vectors of simple values leave of y."""
        return y - self.own @ (adjoint(self.own) @ y)

    def solved(self, y):
        x, y = np.zeros_like(y), self.beside(y)
        for _ in range(self.steps):
            left = y - self.beside(x * row(self.w) - self.a @ x)
            x = x + self.beside(self.others @ (self.over * (adjoint(self.others) @ left)))
        return x

    def push(self, a_dot):
        """The tangents of the vectors; NaN for those of equal values, with NaN for derivatives."""
        y = a_dot @ self.own
        moved = self.own @ (self.between * (adjoint(self.own) @ y)) + self.solved(y)
        return np.where(row(self.known), moved, np.nan * moved)

    def pull(self, g):
        """The gradient of a from that of the vectors."""
        unknown = np.any(np.logical_and(used(g), np.logical_not(self.known)), axis=-1)
        g = np.where(row(self.known), g, 0)
        t = adjoint(self.own) @ g
        part = self.own @ (self.between * ((t - adjoint(t)) / 2)) @ adjoint(self.own)
        rest = self.solved(g) @ adjoint(self.own)
        found = part + (rest + adjoint(rest)) / 2
        return np.where(unknown[..., None, None], np.nan * found, found)  # so in higher orders


def equal_to_others(w):
    """Which eigenvalues of a Hermitian matrix are equal to another one, to rounding."""
    return np.sum(same_label(levels_p(w, kind="eigh")), axis=-1) > 1


def has_equal(w, v):
    """Whether a rule that is itself differentiated meets vectors of equal eigenvalues."""
    if type(v) is not Array or (type(w) is np.ndarray and separate(w, "eigh")):
        return False
    return somewhere(equal_to_others(w))


def push_hermitian(a, w, v, a_dot):
    """The tangents of the eigenvectors v of a."""
    if has_equal(w, v):
        return WithoutEqual(a, w, v).push(a_dot)
    return v @ (gaps(w, "eigh") * (adjoint(v) @ a_dot @ v))


def pull_hermitian(a, w, v, g):
    """The gradient of a from that of its eigenvectors v."""
    if has_equal(w, v):
        return WithoutEqual(a, w, v).pull(g)
    t = adjoint(v) @ g
    t = np.where(either(used(g)), gaps(w, "eigh") * ((t - adjoint(t)) / 2), 0)
    return v @ t @ adjoint(v)


def inverse_sums(s):
    """1 / (s_i + s_j) off the diagonal; where it is infinite, so is 1 / (s_i - s_j)."""
    total = col(s) + row(s)
    return 1 / np.where(total == 0, 1, total)


# What completes vectors to a basis.


def full_nan(x):
    return full(spec_of(x), np.nan)


class Undetermined(Primitive):
    """Raise if vectors that the matrix doesn't determine have a cotangent that isn't zero."""

    constant = True

    def value(self, bar, *, what, instead):
        if np.any(bar):
            raise MissingRuleError(
                f"`{what}` was asked for the derivative of the vectors that complete a basis; the"
                " matrix leaves open which they are.\n"
                f"  Use `{instead}`, or only the first min(m, n) vectors."
            )
        return np.zeros(bar.shape, bool)

    def spec(self, bar, *, what, instead):
        return Spec(bar.shape, bool)

    def batch(self, xs, mapped, size, *, what, instead):
        return self(xs[0], what=what, instead=instead)


undetermined_p = Undetermined("undetermined")


def one_is_left(rest):
    """Whether one real vector completes a basis: then the matrix leaves open its sign alone."""
    spec = spec_of(rest)
    return spec.shape[-1] == 1 and spec.dtype.kind == "f"


def completed(vectors, dot, rest):
    """The tangent of what completes vectors to a basis; NaN where it is not determined."""
    if not spec_of(rest).size:
        return None
    return -vectors @ adjoint(adjoint(rest) @ dot) if one_is_left(rest) else full_nan(rest)


def of_frame(vectors, rest, rest_bar, what, instead):
    """The cotangent of vectors from that of what completes them to a basis."""
    if one_is_left(rest):
        return -rest @ (adjoint(rest_bar) @ vectors)
    undetermined_p(rest_bar, what=what, instead=instead)
    return None
