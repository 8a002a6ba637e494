"""Helpers for rules that packages import from autograd."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.cotangent import unbroadcast as sum_to
from ...core.spec import spec_of

__all__ = ["unbroadcast", "unbroadcast_f"]


def unbroadcast(x: Any, target_meta: Any) -> Any:
    """Sum a cotangent over the axes along which its primal was broadcast.

    target_meta: what `metadata(primal)` gave.
    """
    return sum_to(x, target_meta)


def metadata(primal: Any) -> Any:
    return spec_of(primal if hasattr(primal, "dtype") else np.asarray(primal)[()])


def unbroadcast_f(target: Any, f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """f with its result summed to the shape of the target."""
    spec = metadata(target)
    return lambda g: unbroadcast(f(g), spec)
