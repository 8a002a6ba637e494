"""No warnings from rules: the forward pass has already warned as NumPy does.

`numpy.errstate(all="ignore")` takes as long as an operation on a small array, because it creates a
new state each time it's entered. NumPy keeps that state in a ContextVar, which is looked up here
once; setting it turns warnings off. So are all variables of a context set, and set back: between
`token = STATE.set(SILENT)` and `try:` an exception such as KeyboardInterrupt would leave it set.

    before = STATE.get()
    try:
        STATE.set(SILENT)
        ...
    finally:
        STATE.set(before)

`ForwardTrace` does it for each operation, and by tokens, which takes a tenth less.
"""

from __future__ import annotations

from contextvars import copy_context
from typing import Any

import numpy as np

SILENCE = dict.fromkeys(("divide", "over", "under", "invalid"), "ignore")


class Entered:
    """The same by `numpy.seterr` itself, for a NumPy that keeps its state elsewhere."""

    def get(self) -> Any:
        return np.geterr()

    def set(self, state: Any) -> Any:
        return np.seterr(**state)

    reset = set


def state_of_numpy() -> tuple[Any, Any]:
    """The ContextVar that `numpy.errstate` sets, and the value that stands for silence."""
    before = copy_context()
    np.errstate(all="ignore").__enter__()
    changed = [(var, x) for var, x in copy_context().items() if before.get(var) is not x]
    return changed[0] if len(changed) == 1 else (Entered(), SILENCE)


STATE, SILENT = copy_context().run(state_of_numpy)
