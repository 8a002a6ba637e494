"""A recorded integrand, and its integral for plain values or batches of them.

If the integrand branches (`if x > k`), the interval is divided where the branch changes, so that on
both sides the integrand is as smooth as its branches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...transforms.batch import vmap
from ..solving.branches import BranchingFunction, changes
from .subdivision import Range, adaptive, between, ends_of, gauss

LOOKED = 60  # points between marks at which branches are looked for


class Integrand:
    """A function of x alone, which may have branches."""

    def __init__(self, program: BranchingFunction, theta: Any) -> None:
        self.program, self.theta = program, theta

    def __call__(self, x: Any) -> Any:
        return self.program([x], self.theta)

    def which(self, domain: Range) -> Callable[[np.ndarray], np.ndarray]:
        """The branches at points of [0, 1]; the limits are plain."""

        def at(us: np.ndarray) -> np.ndarray:
            found: Any = 0
            for x, _ in domain.points(us):
                found = found * 100 + self.program.which([x], self.theta)
            return found

        return at

    def look(self, domain: Range, marks: Any) -> None:
        """Find the branches."""
        self.which(domain)(looked_at(marks))

    def breaks(self, domain: Range, marks: Any) -> np.ndarray:
        """Where in [0, 1] the branch changes, and the marks that are elsewhere."""
        found = changes(self.which(domain), looked_at(marks))
        marks = [x for x in np.ravel(marks) if np.all(abs(found - x) > 1e-14)]
        return np.concatenate([marks, found])


def looked_at(marks: Any) -> np.ndarray:
    """Points between marks, at which branches are looked for."""
    x, _ = gauss(LOOKED)
    ends = ends_of(marks)
    return np.sort(np.ravel(ends[:, :1] + (ends[:, 1:] - ends[:, :1]) * x))


def accurate(fun: Integrand, a: Any, b: Any, points: Any) -> Any:
    """The integral of a recorded function, on plain values or those of batches."""
    domain = Range(a, b)

    def at(u: Any) -> Any:
        return sum(slope * fun(x) for x, slope in domain.points(u, plain=False))

    marks = marks_of(domain, points)
    if not fun.program.chooses:
        return adaptive(vmap(at), marks)
    return between(vmap(at), fun.breaks(domain, marks))


def marks_of(domain: Range, points: Any) -> Any:
    return () if points is None else domain.unit(points)
