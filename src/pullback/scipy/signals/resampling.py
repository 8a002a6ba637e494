"""A filter between sampling rates: zeros are put between the numbers, and some results are kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.signal import _upfirdn_apply
from scipy.signal._upfirdn import _upfirdn_modes as MODES

from ...core.spec import Spec
from ...primitives.arguments import as_array
from ..solving.leaves import leaf, store
from ..solving.motion import Described
from .recursive import fir_p

__all__ = []


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
    """The filter, from SciPy's order: the reversed coefficients of each phase."""
    return np.ravel(np.swapaxes(np.reshape(phases, (up, -1))[:, ::-1], 0, 1))


def program(
    x: Any, phases: Any, count: int, up: int, down: int, axis: int, mode: str, fill: float
) -> Any:
    h = straight(phases, up)
    more = phases.shape[0] // up
    x = extended(np.moveaxis(x, axis, -1), more, mode, fill)
    apart = np.stack([x, *[np.zeros_like(x)] * (up - 1)], axis=-1)
    apart = np.reshape(apart, (*x.shape[:-1], x.shape[-1] * up))
    out = fir_p(h, apart)[..., more * up :: down]
    return np.moveaxis(out[..., :count], -1, axis)


def found(
    x: Any, phases: Any, count: int, up: int, down: int, axis: int, mode: str, fill: float
) -> Any:
    out = np.zeros((*x.shape[:axis], count, *x.shape[axis + 1 :]), x.dtype)
    number = _upfirdn_apply.mode_enum(mode)
    _upfirdn_apply._apply(x, phases, out, up, down, axis, number, fill)
    return out


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
    static = {"up": up, "down": down, "axis": axis, "mode": NAMES[mode], "fill": fill}
    store(out, upfirdn_p(as_array(x), as_array(phases), count=out.shape[axis], **static))
