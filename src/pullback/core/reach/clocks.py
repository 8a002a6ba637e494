"""Clocks in transformed programs: while a call is recorded, the recording answers for them."""

from __future__ import annotations

import functools
import time
from typing import Any

from .namespaces import STANDS
from .session import ANSWERS

KINDS = ("time", "perf_counter", "monotonic", "process_time", "thread_time")


def answering(clock: Any) -> Any:
    """A clock, for which a recording may answer."""
    return functools.wraps(clock)(lambda: ANSWERS[-1].clock(clock) if ANSWERS else clock())


for name in KINDS:
    for clock in (vars(time)[name], vars(time)[f"{name}_ns"]):
        STANDS[id(clock)] = answering(clock)
