"""ConvexHull, Delaunay, Voronoi, HalfspaceIntersection: coordinates have derivatives.

The corners of each simplex, the points around each vertex of a Voronoi diagram, and the halfspaces
that meet in each corner are locally constant.
"""

from __future__ import annotations

from functools import partial
from math import factorial
from typing import Any

import numpy as np
from scipy import spatial
from scipy.linalg import qr

from ...core.array import snapshot
from ...core.errors import MissingRuleError
from ...core.in_place import InPlaceOf
from ...core.operands import as_array
from ...core.reach.compiled_code import foreign
from ...core.reach.namespaces import BEHIND, BOUND, STANDS
from ...primitives.exact import exact
from ..solving.leaves import chosen, is_live
from ..solving.serving import refuses
from ..sparse_arrays.patterns import fixed
from .distances import root


class OfPoints(InPlaceOf):
    """What SciPy made of plain points, where these move."""

    moving: tuple[str, ...] = ()  # attributes that move and are not computed here

    def __init__(self, points: Any, *args: Any, **options: Any) -> None:
        args, options = tuple(map(fixed, args)), {key: fixed(x) for key, x in options.items()}
        self.points, self.native = points, self.kind(np.array(fixed(points)), *args, **options)
        self.found_of = snapshot(points)  # into which nobody assigns

    @property
    def max_bound(self) -> Any:
        return np.max(self.points, axis=0)

    @property
    def min_bound(self) -> Any:
        return np.min(self.points, axis=0)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # which Python asks of a copy before it holds anything
            raise AttributeError(name)
        if name in self.moving:
            raise MissingRuleError(
                f"`{self.kind.__name__}.{name}` has no derivative.\n"
                "  Compute it from `points` at the indices in `simplices`."
            )
        return getattr(self.native, name)


class Hull(OfPoints):
    kind = spatial.ConvexHull
    moving = ("good",)

    @property
    def equations(self) -> Any:
        """The normal of each facet, outwards and of length one, and its offset."""
        plain, corners = self.native.equations, self.found_of[self.native.simplices]
        edges, d = corners[:, 1:] - corners[:, :1], self.points.shape[1]
        others = [[j for j in range(d) if j != i] for i in range(d)]
        minors = [(-1) ** i * np.linalg.det(edges[..., rest]) for i, rest in enumerate(others)]
        normals = np.stack(minors, axis=-1)
        normals = normals / root(np.sum(normals**2, axis=-1))[:, None]
        turned = np.sum(fixed(normals) * plain[:, :-1], axis=1) < 0
        normals = np.where(turned[:, None], -normals, normals)
        offsets = -np.sum(normals * corners[:, 0], axis=1)
        return exact(plain, np.concatenate([normals, offsets[:, None]], axis=1))

    @property
    def volume(self) -> Any:
        """The sum of the simplices between a point inside and each facet."""
        corners = self.found_of[self.native.simplices]
        d = self.points.shape[1]
        middle = np.mean(self.found_of, axis=0)
        signed = np.linalg.det(corners - middle)
        return exact(self.native.volume, np.sum(np.abs(signed)) / factorial(d))

    @property
    def area(self) -> Any:
        corners = self.found_of[self.native.simplices]
        edges = corners[:, 1:] - corners[:, :1]
        squares = np.linalg.det(edges @ np.swapaxes(edges, -1, -2))
        size = np.sum(root(squares)) / factorial(self.points.shape[1] - 1)
        return exact(self.native.area, size)


class Triangulation(OfPoints):
    kind = spatial.Delaunay
    moving = ("equations",)

    @property
    def transform(self) -> Any:
        """What gives barycentric coordinates: an inverse, and the last corner."""
        corners = self.found_of[self.native.simplices]
        edges = np.swapaxes(corners[:, :-1] - corners[:, -1:], 1, 2)
        inverse = np.linalg.inv(edges)
        return exact(self.native.transform, np.concatenate([inverse, corners[:, -1:]], axis=1))

    def find_simplex(self, xi: Any, *args: Any, **options: Any) -> Any:
        return around(self.native, xi, *args, **options)


def around(triangles: Any, xi: Any, *args: Any, **options: Any) -> Any:
    """In which of some plain triangles points lie, which may move and be mapped."""
    return chosen(partial(triangles.find_simplex, **options))(as_array(xi), *args)


def of_triangles(method: Any) -> Any:
    """A compiled method of a plain triangulation, as it is called under a transformation."""
    if method.__name__ != "find_simplex":
        return foreign(method)
    return lambda xi, *args, **options: around(method.__self__, xi, *args, **options)


BOUND[spatial.Delaunay] = of_triangles


def independent(vectors: Any, members: list[int], count: int) -> Any:
    """Of the members so many whose vectors span the space best."""
    order = qr(vectors[members].T, mode="r", pivoting=True)[1]
    return np.asarray(members)[order[:count]]


class Diagram(OfPoints):
    kind = spatial.Voronoi

    @property
    def vertices(self) -> Any:
        """The points that have the same distance from those around them."""
        native, plain = self.native, fixed(self.found_of)
        around: list[list[int]] = [[] for _ in native.vertices]
        for point, region in enumerate(native.point_region):
            for vertex in native.regions[region]:
                if vertex >= 0:
                    around[vertex].append(point)
        d = plain.shape[1]
        chosen = [
            np.append(first, independent(plain - plain[first], rest, d)) for first, *rest in around
        ]
        corners = self.found_of[np.stack(chosen)]
        edges = corners[:, 1:] - corners[:, :1]
        right = np.sum(edges * (corners[:, 1:] + corners[:, :1]), axis=-1) / 2
        return exact(native.vertices, np.linalg.solve(edges, right[..., None])[..., 0])


class Corners(OfPoints):
    """Of halfspaces, which are its `points`: rows of a normal and an offset."""

    kind = spatial.HalfspaceIntersection
    moving = ("dual_points", "dual_equations", "dual_area", "dual_volume")

    @property
    def halfspaces(self) -> Any:
        return self.points

    @property
    def intersections(self) -> Any:
        native, plain = self.native, fixed(self.found_of)
        if not np.isfinite(native.intersections).all():
            raise MissingRuleError(
                "An unbounded `HalfspaceIntersection` has corners without a derivative.\n"
                "  Add halfspaces that bound it."
            )
        d = plain.shape[1] - 1
        chosen = [independent(plain[:, :-1], list(each), d) for each in native.dual_facets]
        rows = self.found_of[np.stack(chosen)]
        corners = np.linalg.solve(rows[..., :-1], -rows[..., -1:])[..., 0]
        return exact(native.intersections, corners)


def made(cls: type[OfPoints]) -> None:
    kind = cls.kind

    def make(points: Any, *args: Any, **options: Any) -> Any:
        points = as_array(points)
        if is_live(points):
            return cls(points, *args, **options)
        args, options = tuple(map(fixed, args)), {key: fixed(x) for key, x in options.items()}
        return kind(fixed(points), *args, **options)

    STANDS[id(kind)] = make
    BEHIND[id(make)] = kind


made(Hull)
made(Triangulation)
made(Diagram)
made(Corners)

refuses("finds triangles in compiled code", "Use `Delaunay.find_simplex`", spatial.tsearch)
