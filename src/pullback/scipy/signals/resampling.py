"""Filters between sampling rates: insert zeros between the samples, and keep every n-th result."""

from __future__ import annotations

from math import gcd
from typing import Any

import numpy as np
from scipy.signal import _upfirdn_apply
from scipy.signal._upfirdn import _upfirdn_modes as MODES

from ...core.kinds import Multilinear
from ...core.primitive import one_by_one
from ...core.spec import Spec
from ...primitives.arguments import as_array
from ..solving.leaves import leaf, store
from ..solving.motion import Described

NAMES = {_upfirdn_apply.mode_enum(mode): mode for mode in MODES}
NUMPY_MODES = ("wrap", "edge", "symmetric", "reflect", "antireflect")


def extended(x: Any, size: int, mode: Any, fill: float) -> Any:
    """x with `size` more numbers at both ends of the last axis."""
    n, edge = x.shape[-1], [*[(0, 0)] * (x.ndim - 1), (size, size)]
    if mode == "constant":
        return np.pad(x, edge, constant_values=fill)
    if mode == "antireflect":
        return np.pad(x, edge, mode="reflect", reflect_type="odd")
    if mode in NUMPY_MODES:
        return np.pad(x, edge, mode=mode)
    if mode == "antisymmetric":
        places = np.arange(-size, n + size) % (2 * n)
        signs = np.where(places < n, 1.0, -1.0)
        return x[..., np.minimum(places, 2 * n - 1 - places)] * signs
    first, last = x[..., :1], x[..., -1:]
    if mode == "smooth":
        left, right = x[..., 1:2] - first, last - x[..., -2:-1]
    else:  # the line through the first and the last
        left = right = (last - first) / max(n - 1, 1)
    steps = np.arange(1.0, size + 1.0)
    return np.concatenate([first - steps[::-1] * left, x, last + steps * right], axis=-1)


def straight(phases: Any, up: int) -> Any:
    """The filter from SciPy's form, which has the reversed coefficients of each phase."""
    return np.ravel(np.swapaxes(np.reshape(phases, (up, -1))[:, ::-1], 0, 1))


def phases_of(h: Any, up: int) -> Any:
    """Bring a plain filter into SciPy's form."""
    h = np.concatenate([h, np.zeros(-len(h) % up, h.dtype)])
    return np.ravel(np.reshape(h, (-1, up)).T[:, ::-1])


def found(
    x: Any, phases: Any, count: int, up: int, down: int, axis: int, mode: str, fill: float
) -> Any:
    out = np.zeros((*x.shape[:axis], count, *x.shape[axis + 1 :]), x.dtype)
    number = _upfirdn_apply.mode_enum(mode)
    _upfirdn_apply._apply(x, phases, out, up, down, axis, number, fill)
    return out


class Resample(Multilinear):
    """The sum of h[offset + j down - i up] x[i] over i, for each j below `count`, along an axis.

    The transpose in x is the same with h reversed and `up` and `down` swapped.
    """

    def value(self, h, x, *, up, down, offset, count, axis):
        dtype = np.result_type(h, x)
        # SciPy begins at offset 0: zeros before h move it, and results before it are left out.
        before = max(-offset, -offset % down)
        skipped = (offset + before) // down
        h = np.concatenate([np.zeros(before, dtype), h])
        x = np.asarray(x, dtype, order="C")
        out = found(x, phases_of(h, up), skipped + count, up, down, axis, "constant", 0.0)
        return np.moveaxis(np.moveaxis(out, axis, 0)[skipped:], 0, axis)

    def spec(self, h, x, *, count, axis, **_):
        shape = (*x.shape[:axis], count, *x.shape[axis + 1 :])
        return Spec(shape, np.result_type(h.dtype, x.dtype))

    def transpose(self, i, xs, out_bar, *, up, down, offset, count, axis):
        h, x = xs
        n, size = x.shape[axis], h.shape[0]
        if i == 1:
            static = {"offset": size - 1 - offset, "count": n, "axis": axis}
            return self(h[::-1], out_bar, up=down, down=up, **static)
        x, out_bar = np.moveaxis(x, axis, -1), np.moveaxis(out_bar, axis, -1)
        return np.stack([meeting(k - offset, x, out_bar, up, down) for k in range(size)])

    def batch(self, xs, mapped, size, **static):
        if not mapped[0]:
            return self(*xs, **{**static, "axis": static["axis"] + 1})
        return one_by_one(self, xs, mapped, size, static)


def meeting(k: int, x: Any, out_bar: Any, up: int, down: int) -> Any:
    """The sum of x[i] out_bar[j] where j down - i up is k."""
    common = gcd(up, down)
    first = [j for j in range(up // common) if (j * down - k) % up == 0]
    if not first:
        return np.zeros((), out_bar.dtype)
    step_i, step_j = down // common, up // common
    i = (first[0] * down - k) // up
    before = max(0, -(i // step_i))  # steps until i is a valid index
    i, j = i + before * step_i, first[0] + before * step_j
    x, out_bar = x[..., i::step_i], out_bar[..., j::step_j]
    n = min(x.shape[-1], out_bar.shape[-1])
    return np.sum(x[..., :n] * out_bar[..., :n])


resample_p = Resample("resample")


def program(
    x: Any, phases: Any, count: int, up: int, down: int, axis: int, mode: str, fill: float
) -> Any:
    more = phases.shape[0] // up
    x = extended(np.moveaxis(x, axis, -1), more, mode, fill)
    static = {"up": up, "down": down, "offset": more * up, "count": count, "axis": x.ndim - 1}
    return np.moveaxis(resample_p(straight(phases, up), x, **static), -1, axis)


upfirdn_p = Described(
    "upfirdn",
    found,
    program,
    lambda x, phases, count, axis, **_: Spec(
        (*x.shape[:axis], count, *x.shape[axis + 1 :]), x.dtype
    ),
    rows=(0,),
)


@leaf(_upfirdn_apply._apply)
def apply(x, phases, out, up, down, axis, mode, fill):
    x, phases = as_array(x), as_array(phases)
    static = {"up": up, "down": down, "count": out.shape[axis], "axis": axis}
    if NAMES[mode] == "constant" and fill == 0:
        store(out, resample_p(straight(phases, up), x, offset=0, **static))
    else:
        store(out, upfirdn_p(x, phases, mode=NAMES[mode], fill=fill, **static))
