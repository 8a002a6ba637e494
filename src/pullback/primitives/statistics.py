"""Moments: var, std, average, cov, corrcoef."""

from __future__ import annotations

import math

import numpy as np

from ..core.array import Array
from ..core.errors import ArgumentError, ArgumentTypeError, DtypeError, ShapeError
from ..core.kinds import Elementwise
from ..core.out import into_out
from ..core.primitive import Primitive
from ..core.registry import refuse, replaces
from ..core.spec import DOUBLE, Spec, is_inexact
from .arguments import (
    as_array,
    axes_of,
    cast,
    given,
    in_any_example,
    kept,
    strict_axes,
    surely,
)
from .elementwise import stopped
from .kinks import at_kink
from .reductions import counted, counted_by, mean, mean_p, reduced, spread, sum, warn_if

none = np._NoValue


def half_inverse(out, x):
    """The partial of a root whose derivative at zero is chosen to be zero."""
    zero = out == 0
    if type(out) is Array:
        at_kink("root", "its argument, a variance or a squared distance, is 0", zero, out)
    return 0.5 / (out + zero) * np.logical_not(zero)


root = Elementwise(np.sqrt, half_inverse, reads="out", name="root", lower="sqrt").declare(
    edge=lambda x: x
)


class Var(Primitive):
    """The variance over some axes: |x - mean|^2 added up, over n - correction."""

    reads = "x0"
    lines = "axis"

    def value(self, x, *, axis, keepdims, correction):
        n = math.prod([x.shape[i] for i in axis])
        double = type(x) is np.ndarray and x.dtype is DOUBLE
        if double and type(correction) is int and n > correction >= 0:
            # What np.var does, in half of its time.
            away = x - np.add.reduce(x, axis, None, None, True) / float(n)
            return np.add.reduce(np.square(away), axis, None, None, keepdims) / (n - correction)
        return np.var(x, axis=axis, keepdims=keepdims, ddof=correction)

    def spec(self, x, *, axis, keepdims, correction):
        dtype = np.empty(0, x.dtype).real.dtype if is_inexact(x.dtype) else np.float64
        return Spec(reduced(x.shape, axis, keepdims), dtype)

    def partial(self, x, axis, correction):
        """d(out)/d(x). The derivative of the mean adds nothing, for deviations add up to zero.

        They do so after what rounding left is taken off as well: the deviations of equal numbers
        may all be 1e-17, and so may be the standard deviation, by which they are divided.
        """
        n = math.prod([x.shape[i] for i in axis]) - correction
        away = x - mean_p(x, axis=axis, dtype=None, keepdims=True)
        away = away - mean_p(away, axis=axis, dtype=None, keepdims=True)
        away = np.conj(away) if x.dtype.kind == "c" else away
        return away * (2 / n if n > 0 else math.nan)

    def jvp(self, out, xs, x_dots, *, axis, keepdims, correction):
        if not xs[0].size:
            return np.zeros_like(out)
        moved = np.real(self.partial(xs[0], axis, correction) * x_dots[0])
        return np.sum(moved, axis=axis, keepdims=keepdims)

    def vjp(self, out_bar, residual, wanted):
        (x,), static = residual.xs, residual.static
        axis = static["axis"]
        if not x.size:
            return (np.zeros_like(x),)
        out_bar = spread(out_bar, x.shape, axis, static["keepdims"])
        return (out_bar * self.partial(x, axis, static["correction"]),)

    def batch(self, xs, mapped, size, *, axis, keepdims, correction):
        axis = tuple([i + 1 for i in axis])
        return self(xs[0], axis=axis, keepdims=keepdims, correction=correction)


var_p = Var("var")


AT_ONCE = 8192  # elements that NumPy casts at once, so that sums are added up in the same order


def variance(name, a, axis, dtype, out, ddof, keepdims, where, mean_, correction):
    if out is not None:
        refuse(name, out=out)
    if correction is not none:
        if ddof != 0:
            raise ArgumentError(f"`{name}` takes `ddof=` or `correction=`, but got both.")
        ddof = correction
    a = as_array(a)
    if dtype is not None and np.dtype(dtype).kind == "c":  # which the result has as well
        inner = np.dtype(dtype) if a.dtype.kind == "c" else np.empty(0, dtype).real.dtype
        a = cast(a, inner)
        out = variance(name, a, axis, None, None, ddof, keepdims, where, mean_, none)
        return cast(out, np.dtype(dtype))
    if not is_inexact(a.dtype):
        a = cast(a, np.dtype(dtype or np.float64))
    within = None if dtype is None or np.dtype(dtype) == a.dtype else np.dtype(dtype)
    axes, keepdims = strict_axes(axis, a.ndim), kept(keepdims)
    if within is not None and a.size <= AT_ONCE and np.result_type(a.dtype, within) == within:
        a, within = cast(a, within), None  # as sums cast it, in blocks
    if where is none and not given(mean_) and within is None:
        return var_p(a, axis=axes, keepdims=keepdims, correction=ddof)
    where = True if where is none else counted_by(where, a)
    center = as_array(mean_) if given(mean_) else middle(a, where, axes, within)
    freedom = np.maximum(counted(where, a.shape, axes, keepdims) - ddof, 0)
    warn_if(freedom == 0, "Degrees of freedom <= 0 for slice")
    return about(a, center, where, axes, keepdims, freedom, within)


def middle(a, where, axes, dtype):
    """The mean about which a variance is taken: that of float16 is added up in float16."""
    total = sum(a, axes, dtype, keepdims=True, where=none if where is True else where)
    return cast(total / counted(where, a.shape, axes, True), total.dtype)


def about(a, center, where, axes, keepdims, freedom, dtype=None):
    """|a - center|^2 added up where the mask holds, over the degrees of freedom.

    Sums are of `dtype`, differences of what it and the dtype of a promote to, as NumPy has them.
    """
    away = a - center
    if away.dtype.kind == "c":
        square = np.square(np.real(away)) + np.square(np.imag(away))
    else:
        square = np.square(away)
    total = sum(square, axes, dtype, keepdims=keepdims, where=none if where is True else where)
    return cast(total / freedom, total.dtype)


def deviation(original, finish):
    """A function like `var`: `finish` makes the result of the variance."""
    name = f"numpy.{original.__name__}"

    @replaces(original)
    @into_out(halves=True)
    def var(
        a, axis=None, dtype=None, out=None, ddof=0, keepdims=none, *, where=none, mean=none,
        correction=none,
    ):  # fmt: skip
        found = variance(name, a, axis, dtype, out, ddof, keepdims, where, mean, correction)
        return finish(found)

    return var


def root_of(found):
    """The standard deviation; with an integer `dtype=` NumPy has it of all elements alone."""
    if is_inexact(found.dtype):
        return root(found)
    if np.ndim(found):
        raise DtypeError(
            f"`numpy.std(x, axis, dtype={found.dtype})` cannot have roots in {found.dtype}.\n"
            "  Leave `dtype` out, or convert the result."
        )
    return cast(np.sqrt(found), found.dtype)


var, std = deviation(np.var, lambda found: found), deviation(np.std, root_of)


@replaces(np.average)
def average(a, axis=None, weights=None, returned=False, *, keepdims=none):
    a = as_array(a)
    axes, keepdims = axes_of(axis, a.ndim), kept(keepdims)
    if weights is None:
        out = mean(a, axes, keepdims=keepdims)
        weight = np.full_like(out, math.prod([a.shape[i] for i in axes]))
        return (out, weight) if returned else out
    weights = weights_of(weights, a, axis, "numpy.average")
    dtype = np.result_type(a.dtype, weights.dtype, *[] if is_inexact(a.dtype) else [np.float64])
    weight = sum(weights, axes, dtype, keepdims=keepdims)
    if in_any_example(weight == 0):
        raise ZeroDivisionError("The weights of `numpy.average` add up to zero.")
    out = sum(cast(a, dtype) * cast(weights, dtype), axes, keepdims=keepdims) / weight
    if not returned:
        return out
    if weight.shape != out.shape:
        weight = np.copy(np.broadcast_to(weight, out.shape), order="C")
    return out, weight


def weights_of(weights, a, axis, name):
    """Weights for the elements along some axes, in a shape that broadcasts against a."""
    weights = as_array(weights)
    if weights.shape == a.shape:
        return weights
    if axis is None:
        raise ArgumentTypeError(
            f"`{name}` was given weights of shape {weights.shape} for an array of shape {a.shape};"
            " name the axis that they belong to."
        )
    axes = axes_of(axis, a.ndim)
    if weights.shape != tuple([a.shape[i] for i in axes]):
        raise ShapeError(
            f"`{name}` was given weights of shape {weights.shape} for axis {axis} of an array of"
            f" shape {a.shape}."
        )
    weights = np.transpose(weights, tuple(np.argsort(axes).tolist()))
    return weights.reshape([n if i in axes else 1 for i, n in enumerate(a.shape)])


@replaces(np.cov)
def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    if ddof is not None and ddof != int(ddof):
        raise ArgumentError(f"`numpy.cov` takes an integer ddof, but got {ddof!r}.")
    ddof = int(bias == 0) if ddof is None else ddof
    if dtype is not None and np.dtype(dtype).kind not in "fcO":
        raise TypeError(f"`numpy.cov` subtracts means, which {np.dtype(dtype)} cannot hold.")
    m = as_array(m)
    y = None if y is None else as_array(y)
    if dtype is None:
        dtype = np.result_type(m.dtype, np.float64, *[] if y is None else [y.dtype])
    x = observations(m, bool(rowvar) or m.ndim == 1, dtype)
    if x.shape[0] == 0:
        return x.reshape((0, 0))
    if y is not None:
        flat = y.ndim < 2 or y.shape[0] == 1
        x = np.concatenate([x, observations(y, rowvar or flat, dtype)], axis=0)
    n = x.shape[1]
    weights = None
    if fweights is not None:
        weights = fweights = frequencies(as_array(fweights), n, "fweights").astype(np.float64)
        if in_any_example(fweights != np.around(fweights)):
            raise ArgumentTypeError("`numpy.cov` takes whole numbers as fweights.")
    if aweights is not None:
        aweights = frequencies(as_array(aweights), n, "aweights").astype(np.float64)
        weights = aweights if weights is None else weights * aweights
    if weights is None:
        freedom, center = n - ddof, mean(x, 1, keepdims=True)
    else:
        center, total = average(x, axis=1, weights=weights, returned=True)
        freedom, center = total[0], center[:, None]
        if ddof and aweights is None:
            freedom = freedom - ddof
        elif ddof:
            freedom = freedom - ddof * np.sum(weights * aweights) / freedom
    if surely(freedom <= 0):
        warn_if(True, "Degrees of freedom <= 0 for slice")
        freedom = 0.0
    x = x - center
    other = np.transpose(x if weights is None else x * weights)
    c = np.matmul(x, np.conj(other) if x.dtype.kind == "c" else other)
    c = cast(c * np.true_divide(1, freedom), c.dtype)
    return c if 1 not in c.shape else c.reshape([k for k in c.shape if k != 1])


def observations(x, rowvar, dtype):
    """Two dimensions: a row for each variable."""
    if x.ndim > 2:
        raise ShapeError(f"`numpy.cov` takes arrays of at most 2 dimensions, but got {x.ndim}.")
    x = cast(x, np.dtype(dtype))
    if x.ndim < 2:
        x = x.reshape((1,) * (2 - x.ndim) + x.shape)
    return x if rowvar else np.transpose(x)


def frequencies(weights, n, name):
    if weights.shape != (n,):
        raise ShapeError(
            f"`numpy.cov` takes {name} of shape ({n},), one for each sample, but got"
            f" {weights.shape}."
        )
    if in_any_example(weights < 0):
        raise ArgumentError(f"`numpy.cov` takes {name} that are not negative.")
    return weights


@replaces(np.corrcoef)
def corrcoef(x, y=None, rowvar=True, *, dtype=None):
    c = cov(x, y, rowvar, dtype=dtype)
    if not c.ndim:
        return c / c
    spread_ = np.sqrt(np.real(np.diagonal(c)))
    c = c / spread_[:, None] / spread_[None, :]
    if c.dtype.kind == "c":
        return within_one(np.real(c)) + 1j * within_one(np.imag(c))
    return within_one(c)


def within_one(c):
    """c without what rounding has put beyond 1, which is no bound that a derivative knows of."""
    return c + stopped(np.clip(stopped(c), -1, 1) - c)
