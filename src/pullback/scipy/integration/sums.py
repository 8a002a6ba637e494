"""An integrand that asks for values: the sum over a fine subdivision, which has derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import MissingRuleError, SolverError
from ...core.operands import as_array
from ...transforms.call import stop_gradient
from ..solving.plain import PlainValues
from .integrand import marks_of
from .jumps import Decisions
from .subdivision import Range, gauss, pieces

# How narrow intervals are at jumps and kinks.
JUMP, KINK = 1e-12, 1e-6


def summed(fun: Any, a: Any, b: Any, value: Any, error: Any, name: str, points: Any) -> Any:
    """value, with the derivative of the sum over intervals of [0, 1], which [a, b] is mapped on."""
    domain, values = Range(a, b), PlainValues({})

    def evaluate(us: np.ndarray) -> np.ndarray:
        return np.stack(
            [
                sum(slope * np.asarray(values.tree(fun(x))) for x, slope in domain.points(u))
                for u in us
            ]
        )

    inside = marks_of(domain, points)
    x, w = gauss(21)
    total: Any = 0.0
    intervals = pieces(evaluate, inside)
    with Decisions() as decisions:
        for left, right in intervals:
            for u, weight in zip(left + (right - left) * x, (right - left) * w, strict=True):
                for point, slope in domain.points_between(left, right, u):
                    total = total + weight * slope * as_array(fun(point))
    if decisions.made and moving_ends(evaluate, intervals, inside, decisions.twice):
        raise MissingRuleError(
            f"`{name}`: an integrand asks for values, and what it does by them jumps, or has a kink"
            " of which two derivatives are taken, at places that may move.\n"
            "  Choose with `np.where(condition, a, b)` instead of `if`, name the places,"
            " `points=[k]`, or split the range there."
        )
    plain = stop_gradient(total)
    gap = np.abs(np.asarray(plain) - value).max()
    if not gap <= max(1e-6 * np.abs(value).max(), 100 * error, 1e-12):
        raise SolverError(
            f"`{name}`: the integrand asks for values, and the sum over intervals differs from the"
            " integral.\n  Choose with `np.where(condition, a, b)` instead of `if`, or give"
            " `points`."
        )
    return value + (total - plain)


def moving_ends(evaluate: Any, intervals: np.ndarray, marks: Any, twice: bool) -> bool:
    """Whether intervals are narrow where the integrand jumps; twice: or has a kink, elsewhere."""
    left, right = np.sort(intervals, axis=0).T
    fixed = np.concatenate([[0.0, 1.0], np.ravel(marks)])
    inside = np.min(np.abs((left + right)[:, None] / 2 - fixed), axis=1) > 1e-5
    ends = left[inside & (right - left < (KINK if twice else JUMP))]
    if twice or not len(ends):
        return len(ends) > 0
    with np.errstate(all="ignore"):
        size = np.max(np.abs(evaluate(left + 0.3 * (right - left))), initial=0)
        gaps = np.abs(evaluate(ends + 10 * JUMP) - evaluate(ends - 10 * JUMP))
    return bool(np.max(gaps) > 1e-8 * size)
