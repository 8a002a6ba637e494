"""NumPy's functions that pullback refuses, and why: each reason completes an error message."""

from __future__ import annotations

import numpy as np

from ..core.registry import REFUSED

FILE = (
    "would write numbers without their derivative",
    "Write the plain values, `x.numpy()`",
)
BITS = (
    "works on bits, which have no derivative",
    "Use integers that are not traced",
)
DATES = (
    "is about dates and times, which have no derivative",
    "Compute with numbers",
)
MEMORY = (
    "hands out memory or places in it, without the derivative",
    "Index the Array, or use functions of whole arrays",
)
for why, names in {
    FILE: "save savez savez_compressed savetxt",
    BITS: "packbits unpackbits",
    DATES: "busday_count busday_offset is_busday datetime_as_string datetime_data isnat",
    MEMORY: "nested_iters",
}.items():
    for name in names.split():
        REFUSED[getattr(np, name)] = why
