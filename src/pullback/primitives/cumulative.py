"""Along an axis: cumsum, cumprod, diff and functions of differences; linear recurrences."""

from __future__ import annotations

import numpy as np
from numpy import float64, ndarray

from ..core.array import Array
from ..core.errors import ArgumentError, ShapeError
from ..core.kinds import Linear
from ..core.out import into_out
from ..core.primitive import Primitive
from ..core.quiet import SILENT, STATE
from ..core.registry import refuse, replaces
from ..core.spec import Spec, is_inexact
from .arguments import (
    as_array,
    axes_of,
    axis_of,
    cast,
    common_dtype,
    dtype_of,
    multiplied_in,
    one_axis,
)
from .keys import WHOLE
from .rounding import rounded
from .shapes import laid, lies

none = np._NoValue


def along(axis, start, stop=None, step=None):
    """The key that slices one axis."""
    return (*[slice(None)] * axis, slice(start, stop, step))


def shifted(x, axis, fill=0):
    """x one place later along an axis: its first place is filled, its last is lost."""
    if type(x) is ndarray:
        out = np.empty(x.shape, x.dtype)
        out[along(axis, 0, 1)], out[along(axis, 1)] = fill, x[along(axis, 0, -1)]
        return out
    first = np.full_like(x[along(axis, 0, 1)], fill)
    return np.concatenate([first, x[along(axis, 0, -1)]], axis=axis) if x.size else x


class Cumsum(Linear):
    """Sums of the first elements along an axis."""

    lower = "cumulate"
    lines = "axis"

    def value(self, x, *, axis, dtype):
        plain = type(x) is ndarray
        return np.add.accumulate(x, axis, dtype) if plain else np.cumsum(x, axis, dtype)

    def spec(self, x, *, axis, dtype):
        return Spec(x.shape, dtype or np.empty(0, x.dtype).cumsum().dtype)

    def transpose(self, i, xs, out_bar, *, axis, dtype):
        if type(out_bar) is ndarray:
            back = along(axis, None, None, -1)
            return np.add.accumulate(out_bar[back], axis)[back]
        return np.flip(np.cumsum(np.flip(out_bar, axis), axis=axis), axis)

    def batch(self, xs, mapped, size, *, axis, dtype):
        return self(xs[0], axis=axis + 1, dtype=dtype)


cumsum_p = Cumsum("cumsum")


class Cumprod(Primitive):
    """Products of the first elements along an axis. Its derivative never divides by x."""

    reads = "out x0"
    lower = "cumulate"
    lines = "axis"
    total = True

    def value(self, x, *, axis, dtype):
        plain = type(x) is ndarray
        return np.multiply.accumulate(x, axis, dtype) if plain else np.cumprod(x, axis, dtype)

    def spec(self, x, *, axis, dtype):
        return Spec(x.shape, dtype or np.empty(0, x.dtype).cumprod().dtype)

    def jvp(self, out, xs, x_dots, *, axis, dtype):
        # out[k] = x[k] out[k-1], and its derivative along x_dot.
        x, x_dot = multiplied_in(dtype, xs[0]), multiplied_in(dtype, x_dots[0])
        return recurrence_p(x, shifted(out, axis, 1) * x_dot, axis=axis, reverse=False)

    def vjp(self, out_bar, residual, wanted):
        (x,), out, axis = residual.xs, residual.out, residual.static["axis"]
        factors = multiplied_in(residual.static["dtype"], x)
        out_bar = recurrence_p(factors, out_bar, axis=axis, reverse=True)
        x_bar = shifted(out, axis, 1) * out_bar
        return (multiplied_in(x.dtype, x_bar),)

    def batch(self, xs, mapped, size, *, axis, dtype):
        return self(xs[0], axis=axis + 1, dtype=dtype)


cumprod_p = Cumprod("cumprod")


class Recurrence(Primitive):
    """out[k] = a[k] out[k-1] + b[k] along an axis; reverse: out[k] = a[k+1] out[k+1] + b[k].

    Computed by halving, in as many steps as the length has binary digits. Each direction is the
    transpose of the other as far as b is concerned.
    """

    reads = "out x0"
    lower = "recur"
    lines = "axis"

    def value(self, a, b, *, axis, reverse):
        if a.shape != b.shape:
            a, b = np.broadcast_arrays(a, b)
        if axis:
            a, b = np.moveaxis(a, axis, 0), np.moveaxis(b, axis, 0)
        before = STATE.get()
        try:
            STATE.set(SILENT)
            if reverse:
                a = np.concatenate([a[:1], a[:0:-1]])
                out = np.ascontiguousarray(solve_recurrence(a, b[::-1])[::-1])
            else:
                out = solve_recurrence(a, b)
        finally:
            STATE.set(before)
        return np.moveaxis(out, 0, axis) if axis else out

    def spec(self, a, b, *, axis, reverse):
        return Spec(np.broadcast_shapes(a.shape, b.shape), np.result_type(a.dtype, b.dtype))

    def jvp(self, out, xs, x_dots, *, axis, reverse):
        a_dot, b_dot = x_dots
        if a_dot is not None:
            if reverse:
                moved = np.flip(shifted(np.flip(a_dot * out, axis), axis), axis)
            else:
                moved = a_dot * shifted(out, axis)
            b_dot = moved if b_dot is None else b_dot + moved
        return self(xs[0], b_dot, axis=axis, reverse=reverse)

    def vjp(self, out_bar, residual, wanted):
        a, out, static = residual.xs[0], residual.out, residual.static
        axis, reverse = static["axis"], static["reverse"]
        b_bar = self(a, out_bar, axis=axis, reverse=not reverse)
        if not wanted[0]:
            return None, b_bar
        a_bar = shifted(b_bar, axis) * out if reverse else b_bar * shifted(out, axis)
        return a_bar, b_bar

    def batch(self, xs, mapped, size, *, axis, reverse):
        a, b = [
            x if m else np.broadcast_to(x, (size, *x.shape))
            for x, m in zip(xs, mapped, strict=True)
        ]
        return self(a, b, axis=axis + 1, reverse=reverse)


recurrence_p = Recurrence("recurrence")


def solve_recurrence(a, b):
    """Two steps are one step of the same kind, so that every other place is a shorter recurrence:

    out[k+1] = a[k+1] a[k] out[k-1] + (a[k+1] b[k] + b[k+1])
    """
    n = len(b)
    if n < 2:
        return b.copy()
    out = np.empty(b.shape, b.dtype if a.dtype is b.dtype else np.result_type(a, b))
    odd, even = slice(1, n, 2), slice(0, n - 1, 2)
    out[odd] = solve_recurrence(a[odd] * a[even], a[odd] * b[even] + b[odd])
    out[0] = b[0]
    out[2::2] = a[2::2] * out[1 : n - 1 : 2] + b[2::2]
    return out


def cumulate(primitive, a, axis, dtype, out):
    if out is not None:
        refuse(f"numpy.{primitive.name}", out=out)
    a = as_array(a)
    axis = one_axis(axis, a.ndim)
    if axis is None:
        a, axis = a if a.ndim == 1 else a.reshape(-1), 0
    return primitive(a, axis=axis, dtype=dtype_of(dtype))


@replaces(np.cumsum)
@into_out(adds=True)
def cumsum(a, axis=None, dtype=None, out=None):
    return cumulate(cumsum_p, a, axis, dtype, out)


@replaces(np.cumprod)
@into_out(adds=True)
def cumprod(a, axis=None, dtype=None, out=None):
    return cumulate(cumprod_p, a, axis, dtype, out)


def cumulative(primitive, fill, x, axis, dtype, out, include_initial):
    name = f"numpy.cumulative_{primitive.name[3:]}"
    refuse(name, out=out)
    x = as_array(x)
    axis = one_axis(axis, x.ndim)
    if axis is None:
        if x.ndim > 1:
            raise ArgumentError(f"`{name}` needs `axis=` for an array of {x.ndim} dimensions.")
        x, axis = (x if x.ndim else x.reshape(1)), 0
    out = cumulate(primitive, x, axis, dtype, None)
    if include_initial:
        shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
        out = np.concatenate([np.full_like(out, fill, shape=shape), out], axis=axis)
    return out


if hasattr(np, "cumulative_sum"):  # NumPy 2.1

    @replaces(np.cumulative_sum)
    @into_out(adds=True)
    def cumulative_sum(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
        return cumulative(cumsum_p, 0, x, axis, dtype, out, include_initial)

    @replaces(np.cumulative_prod)
    @into_out(adds=True)
    def cumulative_prod(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
        return cumulative(cumprod_p, 1, x, axis, dtype, out, include_initial)


class Diff(Linear):
    """Differences of neighbours along an axis."""

    lines = "axis"

    def value(self, x, *, axis):
        if type(x) is ndarray and x.dtype.kind in "fc":
            return x[along(axis, 1)] - x[along(axis, None, -1)]
        return np.diff(x, axis=axis)

    def spec(self, x, *, axis):
        shape = list(x.shape)
        shape[axis] = max(shape[axis] - 1, 0)
        return Spec(shape, x.dtype)

    def transpose(self, i, xs, out_bar, *, axis):
        shape = xs[0].shape
        if type(out_bar) is ndarray:
            out = np.zeros(shape, out_bar.dtype)
            out[along(axis, 1)] = out_bar
            out[along(axis, None, -1)] -= out_bar
            return out
        if shape[axis] < 2:
            return np.zeros_like(out_bar, shape=shape)
        edge = np.zeros_like(out_bar, shape=(*shape[:axis], 1, *shape[axis + 1 :]))
        return -np.diff(np.concatenate([edge, out_bar, edge], axis=axis), axis=axis)

    def batch(self, xs, mapped, size, *, axis):
        return self(xs[0], axis=axis + 1)


diff_p = Diff("diff")


@replaces(np.diff)
def diff(a, n=1, axis=-1, prepend=none, append=none):
    if n == 0:
        return a
    if n < 0:
        raise ArgumentError(f"`numpy.diff` takes a number of times n >= 0, but got {n}.")
    a = as_array(a)
    if not a.ndim:
        raise ShapeError("`numpy.diff` needs an array of at least one dimension.")
    axis = axis_of(axis, a.ndim)
    if prepend is not none or append is not none:
        one = (*a.shape[:axis], 1, *a.shape[axis + 1 :])
        ends = [x if x is none else as_array(x) for x in (prepend, append)]
        ends = [x if x is none or x.ndim else np.broadcast_to(x, one) for x in ends]
        parts = [x for x in (ends[0], a, ends[1]) if x is not none]
        a = np.concatenate(parts, axis=axis)
    for _ in range(n):
        a = diff_p(a, axis=axis)
    return a


@replaces(np.ediff1d)
def ediff1d(ary, to_end=None, to_begin=None):
    ary = as_array(ary).reshape(-1)
    np.subtract.resolve_dtypes((ary.dtype, ary.dtype, None))  # raises for truth values

    def beside(x):
        x = as_array(x)
        if not np.can_cast(x.dtype, ary.dtype, "same_kind"):
            raise TypeError(
                f"`numpy.ediff1d` cannot put {x.dtype} beside differences of {ary.dtype}."
            )
        return cast(x.reshape(-1), ary.dtype)

    start = [] if to_begin is None else [beside(to_begin)]
    end = [] if to_end is None else [beside(to_end)]
    differences = diff_p(ary, axis=0)
    if not start and not end:
        return differences
    return laid(np.concatenate([*start, differences, *end]), "K", ary, swapped=True)


class Gradient(Linear):
    """The slope along an axis of samples at a distance h: of parabolas; at the ends, of lines."""

    lines = "axis"

    def value(self, x, *, axis, h):
        if type(x) is not ndarray:
            return self.composed(x, axis=axis, h=h)
        out = np.empty_like(x)
        for key, part in zip(inside_and_ends(axis), differences(x, axis, h), strict=True):
            out[key] = part
        return out

    def composed(self, x, *, axis, h):
        inside, first, last = differences(x, axis, h)
        return np.concatenate([first, inside, last], axis=axis)

    def spec(self, x, *, axis, h):
        return x

    def transpose(self, i, xs, out_bar, *, axis, h):
        inside, first, last = [out_bar[key] for key in inside_and_ends(axis)]
        inside, first, last = inside / (2.0 * h), first / h, last / h
        n = xs[0].shape[axis]
        if type(out_bar) is not ndarray:
            moved = lambda part, before: surrounded(part, axis, before, n)
            ends = moved(first, 1) - moved(first, 0) + moved(last, n - 1) - moved(last, n - 2)
            return moved(inside, 2) - moved(inside, 0) + ends
        x_bar = np.zeros(out_bar.shape, out_bar.dtype)
        x_bar[along(axis, 2)] = inside
        x_bar[along(axis, 0, -2)] -= inside
        x_bar[along(axis, 1, 2)] += first
        x_bar[along(axis, 0, 1)] -= first
        x_bar[along(axis, -1)] += last
        x_bar[along(axis, -2, -1)] -= last
        return x_bar

    def batch(self, xs, mapped, size, *, axis, h):
        return self(xs[0], axis=axis + 1, h=h)


def inside_and_ends(axis):
    return along(axis, 1, -1), along(axis, 0, 1), along(axis, -1)


def differences(x, axis, h):
    """Of places inside, of the first and of the last, with the neighbours that there are."""
    return (
        (x[along(axis, 2)] - x[along(axis, 0, -2)]) / (2.0 * h),
        (x[along(axis, 1, 2)] - x[along(axis, 0, 1)]) / h,
        (x[along(axis, -1)] - x[along(axis, -2, -1)]) / h,
    )


def surrounded(part, axis, before, n):
    """A part of n places along an axis, with zeros in the others."""
    zeros = lambda k: np.zeros_like(part, shape=(*part.shape[:axis], k, *part.shape[axis + 1 :]))
    return np.concatenate([zeros(before), part, zeros(n - before - part.shape[axis])], axis=axis)


gradient_p = Gradient("gradient")


@replaces(np.gradient)
@lies("K", swapped=True)
def gradient(f, *varargs, axis=None, edge_order=1):
    f = as_array(f)
    np.subtract.resolve_dtypes((f.dtype, f.dtype, None))  # raises for truth values
    axes = axes_of(axis, f.ndim)
    spacings = [float(x) if type(x) is int else x for x in varargs] or [1.0]
    spacings = [x if type(x) is float else as_array(x) for x in spacings]
    if len(spacings) == 1 and not np.ndim(spacings[0]):
        spacings = spacings * len(axes)
    if len(spacings) != len(axes):
        raise TypeError(
            f"`numpy.gradient` was given {len(varargs)} spacings for {len(axes)} axes.\n"
            "  Give none, one number, or one number or array for each axis."
        )
    if edge_order not in (1, 2):
        raise ArgumentError(f"`numpy.gradient` takes edge_order 1 or 2, but got {edge_order}.")
    if not is_inexact(f.dtype):
        f = f.astype(float64)
    outs = [slope(f, h, i, edge_order) for i, h in zip(axes, spacings, strict=True)]
    return outs[0] if len(axes) == 1 else tuple(outs)


def slope(f, h, axis, edge_order):
    """The derivative of samples along one axis: parabolas inside, edge_order at the ends.

    h: the distance of the samples, or their places.
    """
    n = f.shape[axis]
    if n < edge_order + 1:
        raise ArgumentError(
            f"`numpy.gradient` needs {edge_order + 1} samples along an axis with"
            f" edge_order={edge_order}, but axis {axis} has {n}."
        )
    if type(h) is float and edge_order == 1:
        return gradient_p.of(f, {"axis": axis, "h": h})
    given = h
    if np.ndim(h):
        if h.shape != (n,):
            raise ArgumentError(
                f"`numpy.gradient` was given places of shape {h.shape} for axis {axis}, whose"
                f" length is {n}."
            )
        h = np.diff(h if is_inexact(h.dtype) else h.astype(float64))
        if type(h) is not Array and (h == h[0]).all():
            h = h[0]
    f_at = lambda start, stop=None: f[along(axis, start, stop)]
    fan = lambda x: x.reshape((-1, *[1] * (f.ndim - axis - 1)))
    first, last = (h[:1], h[-1:]) if np.ndim(h) else (h, h)
    if np.ndim(h):
        before, after = fan(h[:-1]), fan(h[1:])
        first, last = fan(first), fan(last)
        inside = (
            -after / (before * (before + after)) * f_at(0, -2)
            + (after - before) / (before * after) * f_at(1, -1)
            + before / (after * (before + after)) * f_at(2)
        )
    else:
        before = after = h
        inside = (f_at(2) - f_at(0, -2)) / (2.0 * h)
    if edge_order == 1:
        start = (f_at(1, 2) - f_at(0, 1)) / first
        end = (f_at(-1) - f_at(-2, -1)) / last
    else:
        start = parabola_end(
            first, after[along(0, 0, 1)] if np.ndim(h) else h, f_at(0, 1), f_at(1, 2), f_at(2, 3)
        )
        end = -parabola_end(
            last, before[along(0, -1)] if np.ndim(h) else h, f_at(-1), f_at(-2, -1), f_at(-3, -2)
        )
    out = cast(np.concatenate([start, inside, end], axis=axis), f.dtype)
    return rounded(out, np.gradient, f, given, axis=axis, edge_order=edge_order)


def parabola_end(near, far, f0, f1, f2):
    """The slope at f0 of the parabola through f0, f1 and f2, which are near and far apart."""
    both = near + far
    return -(near + both) / (near * both) * f0 + both / (near * far) * f1 - near / (far * both) * f2


@replaces(np.trapezoid, *[np.trapz] if hasattr(np, "trapz") else [])
def trapezoid(y, x=None, dx=1.0, axis=-1):
    y = as_array(y)
    place = axis_of(axis, y.ndim)
    if x is None:
        d = dx
    else:
        x = as_array(x)
        if x.ndim == 1:
            d = np.diff(x)[(WHOLE, *[None] * (y.ndim - place - 1))]
        else:
            d = np.diff(x, axis=axis)
    return np.sum(d * (y[along(place, 1)] + y[along(place, 0, -1)]) / 2.0, axis=axis)


@replaces(np.unwrap)
@lies("K")
def unwrap(p, discont=None, axis=-1, *, period=2 * np.pi):
    p = as_array(p)
    axis = axis_of(axis, p.ndim)
    step = np.diff(p, axis=axis)
    dtype = common_dtype((step, period))
    if discont is None:
        discont = period / 2
    if np.issubdtype(dtype, np.integer):
        high, odd = divmod(period, 2)
        ambiguous = odd == 0
    else:
        high, ambiguous = period / 2, True
    wrapped = np.mod(step + high, period) - high
    if ambiguous:
        wrapped = np.where(np.logical_and(wrapped == -high, step > 0), high, wrapped)
    correction = np.where(np.abs(step) < discont, step.dtype.type(0), wrapped - step)
    up = p[along(axis, 1)] + np.cumsum(correction, axis=axis)
    return cast(np.concatenate([p[along(axis, 0, 1)], up], axis=axis), dtype)
