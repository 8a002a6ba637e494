"""Interpolation of scattered points: by triangles, and by radial functions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate
from scipy.interpolate import _rbfinterp_pythran

from ...core.in_place import InPlaceOf
from ...core.operands import as_array
from ...core.reach.compiled_code import foreign
from ...core.reach.namespaces import BEHIND, STANDS
from ...core.reach.resolve import WAYS
from ...core.reach.session import call_outside
from ...primitives.exact import exact
from ..solving.following import Chosen, Following
from ..solving.leaves import leaf, take
from ..solving.serving import serves_method, traced
from ..sparse_arrays.patterns import fixed, is_live, is_mapped
from .grids import coordinates

# Triangles.


def simplex_of(tri: Any, at: Any, tolerance: float) -> Any:
    """Number of the triangle in which each point lies, or almost lies; -1 where there is none.

    The tolerance is in units of the usual one, of 100 roundings.
    """
    usual = 100 * np.finfo(float).eps
    tol = None if tolerance == 1.0 else usual * tolerance
    return tri.find_simplex(np.ascontiguousarray(at), tol=tol)


def tolerant(tolerance: float) -> dict[str, float]:
    """An option that interpolators have since SciPy 1.18, where it is used."""
    return {} if tolerance == 1.0 else {"simplex_tolerance": tolerance}


def triangle_of(points: Any, at: Any, *, tri: Any, tolerance: float) -> Any:
    """The corners of the triangle in which each point lies; -1 where there is none."""
    simplex = simplex_of(tri, at, tolerance)
    return np.where((simplex < 0)[:, None], -1, tri.simplices[simplex])


triangles = Chosen(
    "corners of triangles",
    triangle_of,
    lambda points, at, **_: (at.shape[0], at.shape[1] + 1),
)


def linear_found(
    points: Any, values: Any, at: Any, *, tri: Any, fill: Any, tolerance: float
) -> Any:
    found = interpolate.LinearNDInterpolator(tri, values, fill_value=fill)
    return found(at, **tolerant(tolerance))


def linear_program(
    points: Any, values: Any, at: Any, *, tri: Any, fill: Any, tolerance: float
) -> Any:
    """The mean of the values at the corners, weighted by barycentric coordinates."""
    corners = triangles(points, at, tri=tri, tolerance=tolerance)
    outside = corners[:, :1] < 0
    corners = np.where(outside, np.arange(corners.shape[1]) * 0 + tri.simplices[0], corners)
    near = take(points, corners, axis=0)
    edges = np.swapaxes(near[:, 1:] - near[:, :1], -1, -2)
    parts = np.linalg.solve(edges, (at - near[:, 0])[..., None])[..., 0]
    weights = np.concatenate([1.0 - np.sum(parts, axis=1, keepdims=True), parts], axis=1)
    held = take(values, corners, axis=0)
    out = np.sum(weights.reshape(*weights.shape, *[1] * (held.ndim - 2)) * held, axis=1)
    return np.where(outside.reshape(-1, *[1] * (out.ndim - 1)), fill, out)


linear_value = Following(
    "LinearNDInterpolator",
    linear_found,
    linear_program,
    lambda points, values, at, **_: (at.shape[0], *values.shape[1:]),
)
LINEAR = interpolate.LinearNDInterpolator


def framed(native: Any, x: Any) -> Any:
    """x where the interpolator has it, whose frame stays: weights in a triangle have none."""
    return x if native.scale is None else (x - native.offset) / native.scale


class MovingLinear(InPlaceOf):
    """A LinearNDInterpolator of points or values that move."""

    kind = LINEAR

    def __init__(
        self, points: Any, values: Any, fill_value: Any = np.nan, rescale: bool = False
    ) -> None:
        if hasattr(points, "simplices"):
            plain = getattr(points, "native", points)
            self.native = LINEAR(plain, np.zeros(len(plain.points)), fill_value, rescale)
            points = points.points
        else:
            points = coordinates(points)
            self.native = LINEAR(fixed(points), np.zeros(points.shape[0]), fill_value, rescale)
        self.points, self.values, self.fill_value = points, as_array(values), fill_value
        self.tri = self.native.tri

    def __call__(self, *args: Any, simplex_tolerance: float = 1.0) -> Any:
        at = coordinates(args if len(args) > 1 else args[0], ndim=self.points.shape[1])
        flat = np.reshape(at, (-1, at.shape[-1]))
        points, flat = framed(self.native, self.points), framed(self.native, flat)
        fill = float(fixed(self.fill_value))
        out = linear_value(
            points, self.values, flat, tri=self.tri, fill=fill, tolerance=simplex_tolerance
        )
        return np.reshape(out, at.shape[:-1] + self.values.shape[1:])


def make_linear(*args: Any, **options: Any) -> Any:
    moving = any(is_live(x) or isinstance(x, InPlaceOf) for x in (*args, *options.values()))
    return MovingLinear(*args, **options) if moving else LINEAR(*args, **options)


def of_linear(native: Any) -> Any:
    """A native interpolator that is called under a transformation."""

    def call(*args: Any, simplex_tolerance: float = 1.0) -> Any:
        if not any(is_live(as_array(x)) for x in args):
            return foreign(native)(*args, **tolerant(simplex_tolerance))
        shape = tuple(native.values_shape)
        values = np.reshape(np.asarray(native.values), (len(native.points), *shape))
        fill = float(native.fill_value)
        at = coordinates(args if len(args) > 1 else args[0], ndim=native.points.shape[1])
        flat = framed(native, np.reshape(at, (-1, at.shape[-1])))
        points, tri = np.asarray(native.tri.points), native.tri
        out = linear_value(points, values, flat, tri=tri, fill=fill, tolerance=simplex_tolerance)
        return np.reshape(out, at.shape[:-1] + shape)

    return call


STANDS[id(LINEAR)] = make_linear
BEHIND[id(make_linear)] = LINEAR
WAYS[LINEAR] = of_linear


def place_of(at: Any, *, native: Any, options: Any) -> Any:
    """The number of the nearest point; that of no point where there is none in reach."""
    return native.tree.query(native._scale_x(np.ascontiguousarray(at)), **dict(options))[1]


nearest_point = Chosen("nearest point", place_of, lambda at, **_: at.shape[:1])
NEAREST = interpolate.NearestNDInterpolator
nearest_of_scipy = traced(NEAREST.__call__)


def nearest_values(native: Any, values: Any, args: Any, options: Any) -> Any:
    at = coordinates(args if len(args) > 1 else args[0], ndim=native.points.shape[1])
    flat = np.reshape(at, (-1, at.shape[-1]))
    places = nearest_point(flat, native=native, options=tuple(options.items()))
    found = take(values, np.minimum(places, values.shape[0] - 1), axis=0)
    inside = (places < values.shape[0]).reshape(-1, *[1] * (found.ndim - 1))
    return np.reshape(np.where(inside, found, np.nan), (*at.shape[:-1], *values.shape[1:]))


@serves_method(NEAREST.__call__)
def nearest_call(self: Any, *args: Any, **options: Any) -> Any:
    if not any(is_live(as_array(x)) for x in args):
        return nearest_of_scipy(self, *args, **options)
    return nearest_values(self, np.asarray(self.values), args, options)


class Nearest(InPlaceOf):
    """A NearestNDInterpolator of points or values that move."""

    kind = NEAREST

    def __init__(self, x: Any, y: Any, rescale: bool = False, tree_options: Any = None) -> None:
        self.points, self.values = coordinates(x), as_array(y)
        if self.values.dtype.kind != "c":
            self.values = self.values.astype(float, copy=False)
        if self.values.shape[:1] != self.points.shape[:1]:
            raise ValueError("different number of values and points")
        zeros = np.zeros(self.points.shape[0])
        make, options = NEAREST, {"rescale": rescale, "tree_options": tree_options}
        self.native = call_outside(make, (fixed(self.points), zeros), options)

    def __call__(self, *args: Any, **options: Any) -> Any:
        return nearest_values(self.native, self.values, args, options)


def make_nearest(x: Any, y: Any, *args: Any, **options: Any) -> Any:
    moving = is_live(as_array(y)) or any(is_live(as_array(p)) for p in (x,))
    return (
        Nearest(x, y, *args, **options) if moving else call_outside(NEAREST, (x, y, *args), options)
    )


STANDS[id(NEAREST)] = make_nearest
BEHIND[id(make_nearest)] = NEAREST


# Radial functions, of the squares of distances: they are smooth where a distance is zero.


def root(s: Any) -> Any:
    inside = s > 0
    return np.where(inside, np.sqrt(np.where(inside, s, 1.0)), 0.0)


def logarithm(s: Any) -> Any:
    return 0.5 * np.log(np.where(s > 0, s, 1.0))


KERNELS = {
    "linear": lambda s: -root(s),
    "thin_plate_spline": lambda s: s * logarithm(s),
    "cubic": lambda s: s * root(s),
    "quintic": lambda s: -(s**2) * root(s),
    "multiquadric": lambda s: -np.sqrt(s + 1),
    "inverse_multiquadric": lambda s: 1 / np.sqrt(s + 1),
    "inverse_quadratic": lambda s: 1 / (s + 1),
    "gaussian": lambda s: np.exp(-s),
}


def kernel_matrix(x: Any, y: Any, kernel: str, epsilon: Any) -> Any:
    gap = (x * epsilon)[:, None, :] - (y * epsilon)[None, :, :]
    return KERNELS[kernel](np.sum(gap**2, axis=-1))


def monomials(x: Any, powers: Any) -> Any:
    out = np.ones((x.shape[0], powers.shape[0]))
    for d in range(powers.shape[1]):
        out = (
            out * np.stack([x[:, d] ** int(p) for p in powers[:, d]], axis=1)
            if len(powers)
            else out
        )
    return out


def build_system(y, d, smoothing, kernel, epsilon, powers):
    powers = fixed(powers)
    r, (high, low) = len(powers), (np.max(y, axis=0), np.min(y, axis=0))
    shift, scale = (high + low) / 2, (high - low) / 2
    scale = np.where(scale == 0, 1.0, scale)
    sides = monomials((y - shift) / scale, powers)
    square = kernel_matrix(y, y, kernel, epsilon) + np.diag(smoothing)
    upper = np.concatenate([square, sides], axis=1)
    lower = np.concatenate([np.swapaxes(sides, 0, 1), np.zeros((r, r))], axis=1)
    right = np.concatenate([d, np.zeros((r, d.shape[1]))])
    return np.concatenate([upper, lower]), right, shift, scale


def build_coefficients(x, y, kernel, epsilon, powers, shift, scale):
    sides = monomials((x - shift) / scale, fixed(powers))
    return np.concatenate([kernel_matrix(x, y, kernel, epsilon), sides], axis=1)


def radial(native: Any, program: Any) -> None:
    """SciPy's matrices, bit for bit where they are not mapped."""

    @leaf(native, solves=True)
    def matrices(*args: Any) -> Any:
        out = program(*args)
        if any(map(is_mapped, args)):
            return out
        found = native(*[fixed(x) for x in args])
        if type(out) is not tuple:
            return exact(found, out)
        return tuple([exact(x, y) for x, y in zip(found, out, strict=True)])


radial(_rbfinterp_pythran._build_system, build_system)
radial(_rbfinterp_pythran._build_evaluation_coefficients, build_coefficients)
# Of which the message is, if the system is singular.
radial(_rbfinterp_pythran._polynomial_matrix, monomials)


@serves_method(interpolate.Rbf._h_thin_plate)
def thin_plate(self: Any, r: Any) -> Any:
    """r^2 log r, whose slope at its own centre is 0."""
    apart = r > 0
    return np.where(apart, r**2 * np.log(np.where(apart, r, 1.0)), 0.0)
