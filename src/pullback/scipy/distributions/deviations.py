"""Deviations of samples, which are finite where all values are equal.

SciPy takes the root of a variance, as a user's program could. There the root has a pole, but the
deviation, like a norm, has an ordinary kink, and its derivative is taken to be zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from ...core.trace import is_live
from ..solving.serving import serves, traced


def with_kink(original: Any, at_rest: float) -> None:
    own = traced(original)

    @serves(original)
    def deviation(*args: Any, **kwargs: Any) -> Any:
        out = own(*args, **kwargs)
        return np.where(out == at_rest, at_rest, out)[()] if is_live(out) else out


with_kink(stats.tstd, 0.0)
with_kink(stats.tsem, 0.0)
with_kink(stats.circstd, 0.0)
with_kink(stats.gstd, 1.0)
