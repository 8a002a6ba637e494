"""Errors that a program catches: a recording asks whether an operation raises the same error again.

    try:
        L = np.linalg.cholesky(K)
    except np.linalg.LinAlgError:
        L = np.linalg.cholesky(K + 1e-6 * np.eye(len(K)))

The operation that raised isn't part of the recording. `raises_p` takes its place: a flag that is
true if the operation raises as it did then. It is computed on each replay and guarded, as the
condition of an `if` is, so matrices that need no repair, or another one, have paths of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.array import Array
from ...core.kinds import Elementwise
from ...core.primitive import Primitive, one_by_one
from ...core.spec import Spec
from ..graph.optimise import declared
from .own_code import is_ours

OURS = "pullback.scipy."
FLAG = Spec((), np.dtype(bool))


class Raises(Primitive):
    """Whether an operation raises a given error, on the operands and options that it takes."""

    constant = total = True

    def value(self, *xs: Any, operation: Primitive, options: Any, error: str) -> Any:
        try:
            operation.value(*xs, **dict(options))
        except Exception as raised:
            return np.bool_(described(raised) == error)
        return np.bool_(False)

    def spec(self, *xs: Spec, **static: Any) -> Spec:
        return FLAG

    def batch(self, xs: Any, mapped: Any, size: int, **static: Any) -> Any:
        return one_by_one(self, xs, mapped, size, static)


raises_p = Raises("raises")


def described(error: Exception) -> str:
    """All that a handler usually asks of an error: its class and its message."""
    return f"{type(error).__module__}.{type(error).__qualname__}: {error}"


def question(primitive: Primitive, static: dict[str, Any], error: Exception) -> dict[str, Any]:
    """What `raises_p` is asked: whether an operation raises an error like this one."""
    options = tuple(static.items())
    return {"operation": primitive, "options": options, "error": described(error)}


def can_be_asked(primitive: Primitive, values: Any) -> bool:
    """Whether an operation can be tried again: it runs none of the user's code, on plain values."""
    ours = is_ours(primitive) or (
        declared(primitive)
        and type(primitive).__module__.startswith(OURS)
        and not isinstance(primitive, Elementwise)
    )
    return ours and Array not in map(type, values)
