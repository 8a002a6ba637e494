"""CloughTocher2DInterpolator: cubics in the three parts of each triangle, with slopes at points.

The slopes minimise the bending of the curves along the edges of the triangulation: with e the edge
to a neighbour, of length L, and f and g the values and slopes at its ends,

    sum over the neighbours of (4 e (e g) + 2 e (e g') - 6 e (f' - f)) / L^3 = 0

at each point, which is a linear system. SciPy solves it by iteration. The triangle that contains a
point, and the part of it, are locally constant.

Alfeld, A trivariate Clough-Tocher scheme for tetrahedral data (1984); Nielson, A method for
interpolating scattered data based upon a minimum norm network (1983).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate

from ...core.in_place import InPlaceOf
from ...core.operands import as_array
from ...core.reach.compiled_code import foreign
from ...core.reach.namespaces import BEHIND, STANDS
from ...core.reach.resolve import WAYS
from ..solving.following import Chosen, Following
from ..solving.leaves import is_live, take
from ..sparse_arrays.patterns import fixed
from ..sparse_arrays.products import summed
from ..sparse_arrays.systems import Factors, sparse_solve
from .grids import coordinates
from .scattered import simplex_of, tolerant

CUBIC = interpolate.CloughTocher2DInterpolator


def edges_of(tri: Any) -> tuple[Any, Any]:
    """Each edge in both directions: start and end."""
    pointers, ends = tri.vertex_neighbor_vertices
    return np.repeat(np.arange(len(pointers) - 1), np.diff(pointers)), ends


def slopes(points: Any, values: Any, tri: Any) -> Any:
    """The slopes [n, 2, m] of m surfaces at n points."""
    start, end = edges_of(tri)
    n = points.shape[0]
    edge = take(points, end, axis=0) - take(points, start, axis=0)
    weight = np.sum(edge**2, axis=1) ** -1.5
    square = edge[:, :, None] * edge[:, None, :] * weight[:, None, None]
    two = np.arange(2)
    rows = np.broadcast_to((2 * start)[:, None, None] + two[:, None], square.shape)
    own = np.broadcast_to((2 * start)[:, None, None] + two, square.shape)
    theirs = np.broadcast_to((2 * end)[:, None, None] + two, square.shape)
    places = np.stack([np.concatenate([rows, rows]).ravel(), np.concatenate([own, theirs]).ravel()])
    keys, where = np.unique(places[1] * 2 * n + places[0], return_inverse=True)
    numbers = np.concatenate([4 * square, 2 * square]).reshape(-1)
    data = summed(numbers, where.ravel(), len(keys))
    outer = np.searchsorted(keys // (2 * n), np.arange(2 * n + 1))
    rise = take(values, end, axis=0) - take(values, start, axis=0)
    terms = 6 * edge[:, :, None] * (rise * weight[:, None])[:, None, :]
    m = values.shape[1]
    right = np.stack([summed(terms[:, i // m, i % m], start, n) for i in range(2 * m)], axis=1)
    out = sparse_solve(
        data, right.reshape(n, 2, m).reshape(2 * n, m), outer, keys % (2 * n), fmt="csc",
        by=Factors(),
    )  # fmt: skip
    return out.reshape(n, 2, m)


def part_of(points: Any, at: Any, *, tri: Any, tolerance: float) -> Any:
    """Each point's triangle, and the corner opposite to its part; -1 for none."""
    at = np.ascontiguousarray(at)
    simplex = simplex_of(tri, at, tolerance)
    map_of = tri.transform[simplex]
    first = np.einsum("nij,nj->ni", map_of[:, :2], at - map_of[:, 2])
    weights = np.concatenate([first, 1.0 - first.sum(axis=1, keepdims=True)], axis=1)
    return np.stack([simplex, np.argmin(weights, axis=1)], axis=1)


parts = Chosen("parts of triangles", part_of, lambda points, at, **_: (at.shape[0], 2))


def weights_in(corners: Any, at: Any) -> Any:
    """Barycentric coordinates."""
    sides = np.swapaxes(corners[:, :2] - corners[:, 2:], 1, 2)
    first = np.linalg.solve(sides, (at - corners[:, 2])[..., None])[..., 0]
    return np.concatenate([first, 1.0 - np.sum(first, axis=1, keepdims=True)], axis=1)


def leans(points: Any, tri: Any, simplex: Any, corners: Any) -> Any:
    """How the direction across the side opposite to each corner leans, for slopes to fit there."""
    out = []
    for k in range(3):
        other = take(tri.neighbors[:, k], simplex)
        beyond = take(tri.simplices, np.maximum(other, 0), axis=0)
        middle = np.mean(take(points, beyond, axis=0), axis=1)
        inside = np.where((other < 0)[:, None], corners[:, k], middle)
        weights = weights_in(corners, inside)
        a, b = weights[:, (k + 1) % 3], weights[:, (k + 2) % 3]
        lean = (2 * b + a - 1) / (2 - 3 * b - 3 * a)
        out.append(np.where(other < 0, -0.5, lean))
    return out


def scaled(native: Any, points: Any, x: Any) -> Any:
    """x in the interpolator's coordinates: with rescale=True, points are scaled to a cube."""
    if native.scale is None:
        return x
    size = np.max(points, axis=0) - np.min(points, axis=0)
    return (x - np.mean(points, axis=0)) / np.where(size > 0, size, 1.0)


def found(points: Any, values: Any, at: Any, *, native: Any, make: Any, tolerance: float) -> Any:
    out = make(values)(at, **tolerant(tolerance))
    return np.reshape(out, (at.shape[0], values.shape[1]))


def program(points: Any, values: Any, at: Any, *, native: Any, make: Any, tolerance: float) -> Any:
    """Evaluate the cubic at a point from its triangle's control net."""
    tri = native.tri
    points, at = scaled(native, points, points), scaled(native, points, at)
    place = parts(points, at, tri=tri, tolerance=tolerance)
    outside = place[:, 0] < 0
    simplex, far = np.maximum(place[:, 0], 0), place[:, 1]
    numbers = take(tri.simplices, simplex, axis=0)
    corners = take(points, numbers, axis=0)
    inside = np.where(outside[:, None], np.mean(corners, axis=1), at)
    f = take(values, numbers, axis=0)
    slope = take(slopes(points, values, tri), numbers, axis=0)

    def near(i: int, j: int) -> Any:
        """The control point next to corner i, on the side towards corner j."""
        edge = corners[:, j] - corners[:, i]
        return f[:, i] + np.sum(edge[:, :, None] * slope[:, i], axis=1) / 3

    middles = [(f[:, i] + near(i, (i + 1) % 3) + near(i, (i + 2) % 3)) / 3 for i in range(3)]
    across = []  # the control points of the parts, one opposite to each corner
    for k, lean in enumerate(leans(points, tri, simplex, corners)):
        i, j = (k + 1) % 3, (k + 2) % 3
        ends = f[:, i], near(i, j), near(j, i), f[:, j]
        third = -ends[0] + 3 * ends[1] - 3 * ends[2] + ends[3]
        rest = -ends[0] + 2 * ends[1] - ends[2] + middles[i] + middles[j]
        across.append((lean[:, None] * third + rest) / 2)
    inner = [(across[(i + 1) % 3] + across[(i + 2) % 3] + middles[i]) / 3 for i in range(3)]
    centre = (inner[0] + inner[1] + inner[2]) / 3
    weights = weights_in(corners, inside)
    outs = []
    for k in range(3):  # the part beside the side that is opposite to corner k
        i, j = (k + 1) % 3, (k + 2) % 3
        b = 3 * weights[:, k : k + 1]
        p, q = [weights[:, x : x + 1] - weights[:, k : k + 1] for x in (i, j)]
        outs.append(
            p**3 * f[:, i] + q**3 * f[:, j] + 3 * p * q * (p * near(i, j) + q * near(j, i))
            + 3 * b * (p**2 * middles[i] + q**2 * middles[j] + 2 * p * q * across[k])
            + 3 * b**2 * (p * inner[i] + q * inner[j]) + b**3 * centre
        )  # fmt: skip
    out = np.where((far == 0)[:, None], outs[0], np.where((far == 1)[:, None], outs[1], outs[2]))
    return np.where(outside[:, None], native.fill_value, out)


cubic_value = Following(
    "CloughTocher2DInterpolator", found, program,
    lambda points, values, at, **_: (at.shape[0], values.shape[1]),
)  # fmt: skip


class MovingCubic(InPlaceOf):
    """A CloughTocher2DInterpolator of traced points or values."""

    kind = CUBIC

    def __init__(
        self, points: Any, values: Any, fill_value: Any = np.nan, tol: float = 1e-6,
        maxiter: int = 400, rescale: bool = False,
    ) -> None:  # fmt: skip
        made = hasattr(points, "simplices")
        self.points = as_array(points.points) if made else coordinates(points)
        self.values = as_array(values)
        plain = getattr(points, "native", points) if made else fixed(self.points)
        options = {"fill_value": fixed(fill_value), "tol": tol, "maxiter": maxiter}
        self.make = lambda z: CUBIC(plain, np.ascontiguousarray(z), rescale=rescale, **options)
        self.native = CUBIC(plain, np.zeros(len(fixed(self.points))), rescale=rescale, **options)

    def __call__(self, *args: Any, simplex_tolerance: float = 1.0) -> Any:
        at = coordinates(args if len(args) > 1 else args[0], ndim=2)
        flat, more = np.reshape(at, (-1, 2)), self.values.shape[1:]
        columns = np.reshape(self.values, (self.values.shape[0], -1))
        out = cubic_value(
            self.points, columns, flat,
            native=self.native, make=self.make, tolerance=simplex_tolerance,
        )  # fmt: skip
        return np.reshape(out, at.shape[:-1] + more)


def make_cubic(*args: Any, **options: Any) -> Any:
    given = [x for x in (*args[:2], *options.values()) if x is not None]
    moving = any(isinstance(x, InPlaceOf) or is_live(as_array(x)) for x in given)
    return MovingCubic(*args, **options) if moving else CUBIC(*args, **options)


def of_cubic(native: Any) -> Any:
    """A native interpolator that is called under a transformation."""

    def call(*args: Any, simplex_tolerance: float = 1.0) -> Any:
        if not any(is_live(as_array(x)) for x in args):
            return foreign(native)(*args, **tolerant(simplex_tolerance))
        out = object.__new__(MovingCubic)
        out.points = np.asarray(native.points)
        if native.scale is not None:
            out.points = out.points * native.scale + native.offset
        shape = len(out.points), *native.values_shape
        out.values, out.native = np.reshape(np.asarray(native.values), shape), native
        out.make = lambda z: native
        return out(*args, simplex_tolerance=simplex_tolerance)

    return call


STANDS[id(CUBIC)] = make_cubic
BEHIND[id(make_cubic)] = CUBIC
WAYS[CUBIC] = of_cubic
