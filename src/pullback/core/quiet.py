"""No warnings from rules: the forward pass has already warned as NumPy does.

`numpy.errstate(all="ignore")` takes as long as an operation on a small array, because it creates a
new state each time it's entered. NumPy keeps that state in a ContextVar, which is looked up here
once; setting it turns warnings off.

    token = STATE.set(SILENT)
    try:
        ...
    finally:
        STATE.reset(token)
"""

from __future__ import annotations

from contextvars import copy_context
from typing import Any

import numpy as np


class Entered:
    """The same by `numpy.errstate` itself, for a NumPy that keeps its state elsewhere."""

    def set(self, value: Any) -> Any:
        state = np.errstate(all="ignore")
        state.__enter__()
        return state

    def reset(self, state: Any) -> None:
        state.__exit__()


def state_of_numpy() -> tuple[Any, Any]:
    """The ContextVar that `numpy.errstate` sets, and the value that stands for silence."""
    before = copy_context()
    np.errstate(all="ignore").__enter__()
    changed = [(var, x) for var, x in copy_context().items() if before.get(var) is not x]
    return changed[0] if len(changed) == 1 else (Entered(), None)


STATE, SILENT = copy_context().run(state_of_numpy)
