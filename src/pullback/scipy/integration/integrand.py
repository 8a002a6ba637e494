"""A recorded integrand, and its integral for plain values or batches of them.

The interval is divided where the integrand branches (`if x > k`) or may jump, so that on both sides
it is smooth.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...transforms.batch import vmap
from ..solving.branches import BranchingFunction
from .level_changes import Batches, breaks
from .subdivision import Range, adaptive, between, ends_of, finite_beside, gauss
from .surfaces import ProgramSurfaces

LOOKED = 60  # points between marks at which branches are looked for


class Integrand:
    """A function of x alone, which may have branches and jumps."""

    def __init__(
        self, program: BranchingFunction, theta: Any, surfaces: ProgramSurfaces | None = None
    ) -> None:
        self.program, self.theta, self.surfaces = program, theta, surfaces

    def __call__(self, x: Any) -> Any:
        return self.program([x], self.theta)

    def look(self, domain: Range, marks: Any) -> None:
        """Find the branches; the limits are plain."""
        for side in range(len(domain.points(0.5))):
            self.program.which([domain.points(looked_at(marks))[side][0]], self.theta)

    @property
    def is_smooth(self) -> bool:
        return not (self.program.chooses or self.surfaces)

    def levels(self, x: Any) -> Any:
        """What is constant between jumps, and the surfaces: two rows."""
        found = [np.zeros((2, 0))]
        if self.surfaces:
            found.append(self.surfaces.both(x, self.theta))
        if self.program.chooses:
            number = np.reshape(self.program.number([x], self.theta) * 1.0, 1)
            found.append(np.stack([number, number * np.nan]))
        return np.concatenate(found, axis=1)

    def breaks(self, domain: Range, marks: Any) -> Any:
        """Where in [0, 1] it may jump, and the marks."""

        def levels(u: Any) -> Any:
            both = [self.levels(x) for x, _ in domain.points(u, plain=False)]
            return np.concatenate(both, axis=1)

        return breaks(levels, Batches([*self.theta, domain.a, domain.b]), marks)


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

    marks, many = marks_of(domain, points), vmap(at)
    evaluate = lambda us: finite_beside(many(us), domain.gaps(us))
    if fun.is_smooth:
        return adaptive(evaluate, marks)
    return between(evaluate, fun.breaks(domain, marks))


def marks_of(domain: Range, points: Any) -> Any:
    return () if points is None else domain.unit(points)
