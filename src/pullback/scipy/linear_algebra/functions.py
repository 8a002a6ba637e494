"""Functions of matrices. If f is analytic, its derivative in a direction e is a block of f:

    f([[a, e], [0, a]]) = [[f(a), e's], [0, f(a)]]

Higham, Functions of Matrices, 2008, eq. 3.16; and its transpose is that of the transpose of a.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy import linalg as sl

from ...core.spec import Spec, zeros
from ...primitives.arguments import plainly_everywhere, somewhere
from ...primitives.elementwise import stopped
from ...primitives.exact import exact
from ...primitives.spectra import computed, row
from ..solving.plain import solve
from .kinds import (
    Moving,
    OfMatrices,
    WithoutDerivative,
    answers,
    in_double,
    in_lapack,
    in_single,
    square,
)
from .systems import sylvester_p
from .unchecked import exponential, square_root


def angle(a: Any) -> Any:
    """The angle to turn the plane clockwise by, so that no eigenvalue lies on the logarithm's cut.

    The cut is the negative real axis. Eigenvalues below it do not cross it. Mostly none lies on the
    cut, and the angle is 0.
    """
    w = np.linalg.eigvals(a)
    on = (np.real(w) < 0) & (np.abs(np.imag(w)) <= 1e-7 * np.abs(w))
    if not on.any():
        return 0.0
    below = np.angle(w[~on & (np.imag(w) < 0)]) + np.pi
    return np.min(below, initial=1.0) / 2


angle_p = WithoutDerivative("angle", angle, lambda a: Spec((), float))


def block(a: Any, e: Any) -> Any:
    """[[a, e], [0, a]]."""
    stack = np.broadcast_shapes(a.shape[:-2], e.shape[:-2])
    a, e = [np.broadcast_to(x, (*stack, *x.shape[-2:])) for x in (a, e)]
    top = np.concatenate([a, e], axis=-1)
    nothing = zeros(Spec(a.shape, a.dtype))
    return np.concatenate([top, np.concatenate([nothing, a], axis=-1)], axis=-2)


class Entire(OfMatrices):
    """f(a) by a power series that holds everywhere."""

    reads = "x0"

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.function, self.shape = function, square
        super().__init__(name)

    def found(self, a):
        return np.asarray(self.function(a)).astype(computed(a), copy=False)

    def jvp(self, out, xs, x_dots):
        return self.corner(xs[0], x_dots[0])

    def vjp(self, out_bar, residual, wanted):
        return (self.corner(np.swapaxes(residual.xs[0], -1, -2), out_bar),)

    def corner(self, a, e):
        """The derivative of f at a in the direction e."""
        n = a.shape[-1]
        return self(block(a, e))[..., :n, n:]


@cache
def complex_like(dtype: Any) -> Any:
    return np.result_type(dtype, np.complex64)


class MatrixFunction(OfMatrices):
    """f(a) of a function that leaves the reals, and whether SciPy returns it as real.

    It has a cut along the negative numbers. Of matrices with eigenvalues there, the block is that
    of the plane turned by an angle.
    """

    n_out = 2
    reads = "x0"

    def __init__(
        self, name: str, function: Callable[..., Any], turned_back: Callable[..., Any]
    ) -> None:
        self.function, self.turned_back = function, turned_back
        super().__init__(name)

    def found(self, a, *others, **static):
        out = np.asarray(self.function(a, *[x.item() for x in others], **static))
        real = out.dtype.kind == "f"
        return out.astype(self.dtype(a), copy=False), np.bool_(real)

    def dtype(self, a):
        return complex_like(computed(a))

    def shape(self, a, *others, **static):
        return Spec(a.shape, self.dtype(a)), Spec((), np.bool_)

    def jvp(self, out, xs, x_dots, **static):
        return self.corner(xs[0], x_dots[0], static), None

    def vjp(self, bars, residual, wanted):
        a = np.swapaxes(residual.xs[0], -1, -2)
        return (None if bars[0] is None else self.corner(a, bars[0], residual.static),)

    def corner(self, a, e, static, *others):
        """The derivative of f at a in the direction e."""
        n, back = a.shape[-1], 1.0
        turn = angle_p(a)
        if somewhere(turn != 0):
            unit = np.exp(-1j * turn)[..., None, None]
            a, e, back = a * unit, e * unit, self.turned_back(turn, *others)[..., None, None]
        return back * self(block(a, e), *others, **static)[0][..., :n, n:]


def as_found(out: Any, real: Any, a: Any) -> Any:
    """A complex result as real where SciPy returns it so."""
    if out.dtype.kind != "c" or a.dtype.kind == "c" or somewhere(np.logical_not(real)):
        return out
    return np.copy(np.real(out), order="K")


class SquareRoot(MatrixFunction):
    """r with r r = a, which moves as r r' + r' r = a' says."""

    reads = "out"

    def jvp(self, out, xs, x_dots, **static):
        return self.moved(
            np.real(out[0]) if plainly_everywhere(out[1]) else out[0], x_dots[0]
        ), None

    def vjp(self, bars, residual, wanted):
        if bars[0] is None:
            return (None,)
        root, real = residual.out
        root, bar = np.swapaxes(root, -1, -2), bars[0]
        if plainly_everywhere(real) and residual.xs[0].dtype.kind != "c":
            root, bar = np.real(root), np.real(bar)
        return (self.moved(root, bar),)

    def moved(self, root, e):
        stack = np.broadcast_shapes(root.shape[:-2], e.shape[:-2])
        root, e = [np.broadcast_to(x, (*stack, *x.shape[-2:])) for x in (root, e)]
        return sylvester_p(root, root, e)


expm_p = Entire("expm", exponential)
sqrtm_p = SquareRoot("sqrtm", square_root, lambda turn: np.exp(0.5j * turn))
logm_p = MatrixFunction("logm", sl.logm, lambda turn: np.ones_like(turn))


@answers(sl.expm, "A")
def expm(A):
    return expm_p(in_single(A if A.ndim > 1 else np.reshape(A, (1, 1))))


@answers(sl.sqrtm, "A")
def sqrtm(A, **options):
    return without_error(sl.sqrtm, sqrtm_p, in_lapack(A), options)


@answers(sl.logm, "A")
def logm(A, **options):
    return without_error(sl.logm, logm_p, in_double(A), options)


def without_error(original: Any, function: Any, a: Any, options: Any) -> Any:
    """The function's value; with `disp=False`, SciPy also returns an error estimate."""
    out, real = function(a)
    out = as_found(out, real, a)
    if not options.get("disp", True):
        errors = WithoutDerivative(
            "error", lambda a: original(a, disp=False)[1], lambda a: Spec((), float)
        )
        return out, errors(a)
    return out


class Power(MatrixFunction):
    """a^t, which moves with t as log(a) a^t."""

    cores = (2, 0)
    reads = "out xs"

    def jvp(self, out, xs, x_dots, **static):
        a, t = xs
        terms = []
        if x_dots[0] is not None:
            terms.append(self.corner(a, x_dots[0], {}, t))
        if x_dots[1] is not None:
            terms.append(x_dots[1][..., None, None] * (logm_p(a)[0] @ out[0]))
        return sum(terms[1:], terms[0]), None

    def vjp(self, bars, residual, wanted):
        (a, t), bar = residual.xs, bars[0]
        if bar is None:
            return None, None
        a_bar = self.corner(np.swapaxes(a, -1, -2), bar, {}, t) if wanted[0] else None
        if not wanted[1]:
            return a_bar, None
        return a_bar, np.real(np.sum(bar * (logm_p(a)[0] @ residual.out[0]), axis=(-2, -1)))


power_p = Power(
    "fractional_matrix_power", sl.fractional_matrix_power, lambda turn, t: np.exp(1j * turn * t)
)


@answers(sl.fractional_matrix_power, "A t")
def fractional_matrix_power(A, t):
    t = t if t.dtype.kind in "fc" else t.astype(float)
    A = A if A.dtype.char in "gG" else in_double(A)
    out, real = power_p(A, t)
    return as_found(out, real, A)


frechet_values = WithoutDerivative(
    "expm_frechet",
    lambda a, e, **options: sl.expm_frechet(a, e, **options),
    lambda a, e, **_: (Spec(a.shape, computed(a, e)),) * 2,
    (2, 2),
    n_out=2,
)


@answers(sl.expm_frechet, "A E")
def expm_frechet(A, E, method=None, compute_expm=True, check_finite=True):
    found, slope = frechet_values(A, E, method=method, check_finite=check_finite)
    A = A.astype(A.dtype.newbyteorder("="), copy=False)  # `expm` requires native byte order
    slope = exact(slope, expm_p.corner(A, E))
    return (exact(found, expm_p(A)), slope) if compute_expm else slope


# Functions of matrices that are not power series around each matrix.


def sign_motion(out: Any, at: Any, a: Any) -> Any:
    """s^2 = 1 and n = s a: n s_dot + s_dot n = a_dot - s a_dot s. Higham, section 5.3."""
    (matrix,) = at
    size = out @ matrix
    return sylvester_p(size, size, a - out @ a @ out)


signm_p = Moving("signm", sl.signm, sign_motion)


@answers(sl.signm, "A")
def signm(A, **options):
    """With `disp=False` SciPy gives an estimate of the error as well, but not of a small one."""
    out = as_found(signm_p(A), True, A)
    if options.get("disp", True) is not False:
        return out
    found = solve(lambda values: sl.signm(values.tree(A), disp=False))
    if type(found.first) is not tuple:
        return out
    return out, found.of(lambda result: result[1] if type(result) is tuple else np.nan)


@answers(sl.funm, "A")
def funm(A, func, disp=True):
    """By the eigenvalues: func is differentiated as the user's code is, if they are distinct.

    Where two are equal, the derivative is NaN.
    """
    found = solve(lambda values: sl.funm(*values.tree((A, func)), disp=disp))
    w, v = np.linalg.eig(A.astype(np.result_type(A.dtype, np.complex64)))
    out = (v * row(func(w))) @ np.linalg.inv(v)
    equal = np.equal(w[..., :, None], w[..., None, :]).sum((-2, -1)) > A.shape[-1]
    out = np.where(equal[..., None, None], np.nan * out, out)  # in all orders, and of func
    values = found.of(lambda result: result if disp else result[0])
    out = exact(values, out)
    return out if disp else (out, found.of(lambda result: np.asarray(result[1])))


balance_values = WithoutDerivative(
    "matrix_balance",
    lambda a, **options: flat(sl.matrix_balance(a, **options)),
    lambda a, separate, **_: (
        Spec(a.shape, computed(a)),
        Spec(a.shape[:1] if separate else a.shape, float),
        Spec(a.shape[:1] if separate else (0,), np.intp),
    ),
    n_out=3,
)


def flat(out: Any) -> Any:
    balanced, how = out
    return (balanced, *how) if type(how) is tuple else (balanced, how, np.zeros(0, np.intp))


@answers(sl.matrix_balance, "A")
def matrix_balance(A, permute=True, scale=True, separate=False):
    """Balance by permutations and powers of two, which are locally constant."""
    options = {"permute": bool(permute), "scale": bool(scale)}
    found, how, rows = balance_values(A, separate=bool(separate), **options)
    _, change, _ = balance_values(A, separate=False, **options)
    change = stopped(change)
    out = exact(found, np.linalg.solve(change, A @ change))
    return out, ((how, rows) if separate else how)
