"""ConvexHull and Delaunay: which points are corners of which simplex is constant."""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np
from scipy import spatial

from ...core.dispatch import as_array
from ...core.errors import MissingRuleError
from ...core.namespaces import BEHIND, STANDS
from ..solving.exact import exact
from ..solving.leaves import is_live
from ..sparse_arrays.patterns import fixed
from .distances import root

__all__ = []


class OfPoints:
    """What SciPy made of plain points, where these move."""

    kind: Any
    moving: tuple[str, ...] = ()  # attributes that move and are not computed here

    def __init__(self, points: Any, *args: Any, **options: Any) -> None:
        self.points, self.native = points, self.kind(np.array(fixed(points)), *args, **options)

    def __getattr__(self, name: str) -> Any:
        if name in self.moving:
            raise MissingRuleError(
                f"`{self.kind.__name__}.{name}` has no derivative.\n"
                "  Compute it from `points` at the indices in `simplices`."
            )
        return getattr(self.native, name)


class Hull(OfPoints):
    kind = spatial.ConvexHull
    moving = ("equations", "max_bound", "min_bound", "good")

    @property
    def volume(self) -> Any:
        """The sum of the simplices between a point inside and each facet."""
        corners = self.points[self.native.simplices]
        d = self.points.shape[1]
        middle = np.mean(self.points, axis=0)
        signed = np.linalg.det(corners - middle)
        return exact(np.float64(self.native.volume), np.sum(np.abs(signed)) / factorial(d))

    @property
    def area(self) -> Any:
        corners = self.points[self.native.simplices]
        edges = corners[:, 1:] - corners[:, :1]
        squares = np.linalg.det(edges @ np.swapaxes(edges, -1, -2))
        size = np.sum(root(squares)) / factorial(self.points.shape[1] - 1)
        return exact(np.float64(self.native.area), size)


class Triangulation(OfPoints):
    kind = spatial.Delaunay
    moving = ("transform", "equations", "max_bound", "min_bound")

    def find_simplex(self, xi: Any, *args: Any, **options: Any) -> Any:
        return self.native.find_simplex(fixed(xi), *args, **options)


def made(cls: type[OfPoints]) -> None:
    kind = cls.kind

    def make(points: Any, *args: Any, **options: Any) -> Any:
        points = as_array(points)
        if is_live(points):
            return cls(points, *args, **options)
        return kind(fixed(points), *args, **options)

    STANDS[id(kind)] = make
    BEHIND[id(make)] = kind


made(Hull)
made(Triangulation)


def refused(kind: Any) -> None:
    def make(points: Any, *args: Any, **options: Any) -> Any:
        if is_live(as_array(points)):
            raise MissingRuleError(
                f"`{kind.__name__}` of points that move has no derivative.\n"
                "  Its vertices are the centres of the circles through the corners of Delaunay's"
                " simplices: compute them from `points[Delaunay(points).simplices]`."
            )
        return kind(fixed(points), *args, **options)

    STANDS[id(kind)] = make
    BEHIND[id(make)] = kind


refused(spatial.Voronoi)
refused(spatial.HalfspaceIntersection)
