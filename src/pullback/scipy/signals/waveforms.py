"""Waveforms that SciPy assigns piece by piece, written as one formula that works under vmap."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal

from ...primitives.arguments import as_array
from ..releases import SINCE_1_18
from ..solving.serving import serves


@serves(signal.sawtooth)
def sawtooth(t: Any, width: Any = 1) -> Any:
    """Rise from -1 to 1 during a fraction `width` of the period 2 pi, then fall back."""
    dtype = computed_in(t, width)
    t, w = as_array(t).astype(dtype), as_array(width).astype(dtype)
    phase = t % (2 * np.pi)
    rising = phase < w * 2 * np.pi
    rise, fall = np.where(rising, w, 1.0), np.where(rising, 0.0, w)
    up, down = phase / (np.pi * rise) - 1, (np.pi * (fall + 1) - phase) / (np.pi * (1 - fall))
    wave = np.where((w > 1) | (w < 0), np.nan, np.where(rising, up, down))
    return wave if SINCE_1_18 else wave.astype(float)


def computed_in(t: Any, width: Any) -> Any:
    """The result's dtype; since SciPy 1.18 a Python number takes the other operand's."""
    weak = (int, float) if SINCE_1_18 else ()
    dtype = np.result_type(*[x if type(x) in weak else as_array(x).dtype for x in (t, width)])
    return dtype if dtype.kind == "f" else np.dtype(float)
