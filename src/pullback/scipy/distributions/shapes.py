"""Continuous distributions in their shape parameters: where there is no formula."""

from __future__ import annotations

from typing import Any

from scipy import stats

from ...core.errors import MissingRuleError
from ...primitives.arguments import somewhere
from ..solving.plain import is_live
from ..solving.serving import serves_method

__all__ = []

# Values of a shape at which SciPy takes a formula in which it does not occur, so that a derivative
# by it would be zero.
LIMITS = {
    "genextreme": {"c": 0.0},
    "genpareto": {"c": 0.0},
    "kappa4": {"h": 0.0, "k": 0.0},
    "pearson3": {"skew": 0.0},
    "skewnorm": {"a": 0.0},
}


def refuse_at(name: str, limits: dict[str, float]) -> None:
    original = type(getattr(stats, name))._argcheck

    @serves_method(original)
    def argcheck(self: Any, *shapes: Any) -> Any:
        for (shape, value), x in zip(limits.items(), shapes, strict=True):
            if is_live(x) and somewhere(x == value):
                raise MissingRuleError(
                    f"`scipy.stats.{name}` has no derivative by its shape `{shape}` at {value:g}"
                    " exactly, where SciPy computes with the limiting distribution.\n"
                    f"  Take a value nearby, such as {value + 1e-4:g}, or detach it with"
                    " `pullback.stop_gradient(x)`."
                )
        return original(self, *shapes)


for distribution, limits in LIMITS.items():
    refuse_at(distribution, limits)
