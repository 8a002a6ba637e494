"""Linear filters along an axis, differentiable in coefficients, signals and states.

A filter with feedback solves a triangular system, so its transpose runs from the end:

    y[n] = u[n] - a[1] y[n-1] - a[2] y[n-2] ...     with     u[n] = sum_k b[k] x[n-k]
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.signal import _sigtools, _sosfilt

from ...core.kinds import Multilinear
from ...core.primitive import Primitive, one_by_one
from ...core.spec import Spec
from ...primitives.arguments import as_array
from ..solving.leaves import leaf, store
from ..solving.motion import Described


def backwards(x: Any) -> Any:
    return x[..., ::-1]


class FiniteFilter(Multilinear):
    """The sum of b[k] x[..., n - k] over k, as long as x."""

    def value(self, b, x):
        dtype = np.result_type(b, x)
        return _sigtools._linear_filter(b.astype(dtype), np.ones(1, dtype), x.astype(dtype), -1)

    def spec(self, b, x):
        return Spec(x.shape, np.result_type(b.dtype, x.dtype))

    def transpose(self, i, xs, out_bar):
        b, x = xs
        if i == 1:
            return backwards(self(b, backwards(out_bar)))
        n = x.shape[-1]
        return np.stack(
            [
                np.sum(out_bar[..., k:] * x[..., : n - k]) if k < n else np.zeros((), x.dtype)
                for k in range(b.shape[0])
            ]
        )

    def batch(self, xs, mapped, size):
        if not mapped[0]:
            return self(*xs)
        return one_by_one(self, xs, mapped, size, {})


class Feedback(Primitive):
    """y of y[..., n] = u[..., n] - the sum of a[k] y[..., n - k] over k > 0. a[0] is not read."""

    reads = "out x0"

    def value(self, a, u):
        dtype = np.result_type(a, u)
        a = np.concatenate([np.ones(1, dtype), a[1:]]).astype(dtype)
        return _sigtools._linear_filter(np.ones(1, dtype), a, u.astype(dtype), -1)

    def spec(self, a, u):
        return Spec(u.shape, np.result_type(a.dtype, u.dtype))

    def jvp(self, out, xs, x_dots):
        a_dot, right = x_dots
        if a_dot is not None:
            moved = fir_p(without_first(a_dot), out)
            right = -moved if right is None else right - moved
        return self(xs[0], right)

    def vjp(self, out_bar, residual, wanted):
        a, out = residual.xs[0], residual.out
        u_bar = backwards(self(a, backwards(out_bar)))
        a_bar = without_first(-fir_p.transpose(0, (a, out), u_bar)) if wanted[0] else None
        return a_bar, u_bar

    def batch(self, xs, mapped, size):
        if not mapped[0]:
            return self(*xs)
        return one_by_one(self, xs, mapped, size, {})


def without_first(a: Any) -> Any:
    return np.concatenate([np.zeros_like(a[:1]), a[1:]])


fir_p, feedback_p = FiniteFilter("finite_filter"), Feedback("feedback")


def filtered(b: Any, a: Any, x: Any, state: Any) -> Any:
    """The filtered signals and the filter's final states.

    The state is what the filter would still add if zeros came in; x is filtered with as many zeros
    behind it, with the feedback of what came before alone.
    """
    size, n = max(b.shape[0], a.shape[0]) - 1, x.shape[-1]
    b, a = b / a[0], a / a[0]
    edge = [(0, 0)] * (x.ndim - 1)
    come = fir_p(b, np.pad(x, [*edge, (0, size)]))
    if state is not None:
        come = come + np.pad(state, [*edge, (0, n)])
    y = feedback_p(a, come[..., :n])
    back = fir_p(without_first(a), np.pad(y, [*edge, (0, size)]))
    return y, come[..., n:] - back[..., n:]


def of_scipy(b: Any, a: Any, x: Any, *state: Any, axis: int) -> Any:
    return _sigtools._linear_filter(b, a, x, axis, *state)


def program(b: Any, a: Any, x: Any, *state: Any, axis: int) -> Any:
    before = np.moveaxis(state[0], axis, -1) if state else None
    y, after = filtered(b, a, np.moveaxis(x, axis, -1), before)
    y = np.moveaxis(y, -1, axis)
    return (y, np.moveaxis(after, -1, axis)) if state else y


def shape(b: Any, a: Any, x: Any, *state: Any, axis: int) -> Any:
    dtype = np.result_type(*[s.dtype for s in (b, a, x, *state)], np.float32)
    if not state:
        return Spec(x.shape, dtype)
    sizes = list(x.shape)
    sizes[axis] = max(b.shape[0], a.shape[0]) - 1
    return Spec(x.shape, dtype), Spec(tuple(sizes), dtype)


class Filter(Primitive):
    """SciPy's filter along lines, starting at rest; its transpose runs it backwards."""

    reads = "out xs"

    def value(self, b, a, x, *, axis):
        return _sigtools._linear_filter(*[np.asarray(z, order="C") for z in (b, a, x)], axis)

    def spec(self, b, a, x, *, axis):
        return shape(b, a, x, axis=axis)

    def jvp(self, out, xs, x_dots, *, axis):
        (b, a, x), (b_dot, a_dot, x_dot) = xs, x_dots
        come = None if x_dot is None else self(b, a, x_dot, axis=axis)
        for dot, line, sign in ((b_dot, x, 1.0), (a_dot, out, -1.0)):
            if dot is not None:
                moved = self(sign * dot, a, line, axis=axis)
                come = moved if come is None else come + moved
        return come

    def vjp(self, out_bar, residual, wanted):
        (b, a, x), axis = residual.xs, residual.static["axis"]
        back = np.flip(out_bar, axis)
        b_bar = a_bar = x_bar = None
        if wanted[2]:
            x_bar = np.flip(self(b, a, back, axis=axis), axis)
        if wanted[0] or wanted[1]:
            pushed = np.moveaxis(
                np.flip(self(np.ones_like(a[:1]), a, back, axis=axis), axis), axis, -1
            )
            if wanted[0]:
                b_bar = fir_p.transpose(0, (b, np.moveaxis(x, axis, -1)), pushed)
            if wanted[1]:
                a_bar = -fir_p.transpose(0, (a, np.moveaxis(residual.out, axis, -1)), pushed)
        bars = zip((b_bar, a_bar, x_bar), (b, a, x), strict=True)
        return [None if bar is None else as_kind(bar, z) for bar, z in bars]

    def read_for(self, i, mask, xs, static):
        return np.any(mask, axis=static["axis"], keepdims=True) if i == 2 else np.any(mask)

    def batch(self, xs, mapped, size, *, axis):
        if list(mapped) == [False, False, True]:
            return self(*xs, axis=axis + 1)
        return one_by_one(self, xs, mapped, size, {"axis": axis})


def as_kind(bar: Any, x: Any) -> Any:
    """Make a cotangent real if x is."""
    return (bar if x.dtype.kind == "c" else np.real(bar)).astype(x.dtype)


lfilter_p = Filter("lfilter")
lfilter_with_state_p = Described(
    "lfilter(state)", of_scipy, program, shape, n_out=2, linear=(2, 3), rows=(2, 3)
)


@leaf(_sigtools._linear_filter)
def linear_filter(b, a, x, axis=-1, state=None):
    b, a, x = as_array(b), as_array(a), as_array(x)
    axis = int(axis) % x.ndim
    if state is None:
        return lfilter_p(b, a, x, axis=axis)
    return lfilter_with_state_p(b, a, x, as_array(state), axis=axis)


# Sections of second order, one after the other.


def sections_of_scipy(sos: Any, x: Any, state: Any) -> Any:
    x, state = np.array(x), np.array(state)
    _sosfilt._sosfilt(sos, x, state)
    return x, state


def sections(sos: Any, x: Any, state: Any) -> Any:
    states = []
    for i in range(sos.shape[0]):
        x, left = filtered(sos[i, :3], sos[i, 3:], x, state[:, i])
        states.append(left)
    return x, np.stack(states, axis=1)


sosfilt_p = Described(
    "sosfilt",
    sections_of_scipy,
    sections,
    lambda sos, x, state: (x, state),
    n_out=2,
    linear=(1, 2),
)


@leaf(_sosfilt._sosfilt)
def sosfilt(sos, x, state):
    out, left = sosfilt_p(as_array(sos), as_array(x), as_array(state))
    store(x, out)
    store(state, left)
