"""Rotations and rigid motions.

SciPy has their formulas twice: compiled for NumPy, and in Python for other kinds of arrays. In a
transformation the Python code is used.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg as sl
from scipy.spatial import transform

from ...core.reach.call_tables import CALLS
from ...core.reach.session import active
from ...primitives.arguments import as_array
from ...primitives.exact import exact
from ...transforms.call import stop_gradient
from ..solving import namespace as namespace
from ..solving.leaves import is_live
from ..solving.serving import serves_method, traced


def in_python(module: Any) -> None:
    original = module.select_backend

    @serves_method(original)
    def select_backend(xp: Any, cython_compatible: bool) -> Any:
        return module.xp_backend if active() else original(xp, cython_compatible)


def of_matrices(backend: Any) -> None:
    of_scipy = traced(backend.from_matrix)

    @serves_method(backend.from_matrix)
    def from_matrix(matrix: Any, assume_valid: bool = False) -> Any:
        if is_live(matrix) and not assume_valid:
            matrix = CALLS[sl.polar](matrix)[0]
        return of_scipy(matrix, assume_valid)


def of_vectors(backend: Any) -> None:
    """The angle has a kink where nothing is turned; of its square the quaternion is smooth."""
    of_scipy = traced(backend.from_rotvec)

    @serves_method(backend.from_rotvec)
    def from_rotvec(rotvec: Any, degrees: bool = False) -> Any:
        found = of_scipy(stop_gradient(rotvec), degrees)
        if not is_live(rotvec):
            return found
        v = np.deg2rad(rotvec) if degrees else rotvec
        square = np.sum(v * v, axis=-1, keepdims=True)
        small = square < 1e-4
        half = np.sqrt(np.where(small, 1.0, square)) / 2
        scale = 0.5 - square / 48 + square**2 / 3840 - square**3 / 645120
        turn = 1.0 - square / 8 + square**2 / 384 - square**3 / 46080
        scale = np.where(small, scale, np.sin(half) / (2 * half))
        turn = np.where(small, turn, np.cos(half))
        return exact(found, np.concatenate([v * scale, turn], axis=-1))


def of_reductions(backend: Any) -> None:
    """Of a side without a group it is the identity; SciPy's Python takes another quaternion."""
    of_scipy = traced(backend.reduce)

    @serves_method(backend.reduce)
    def reduce(quat: Any, left: Any = None, right: Any = None) -> Any:
        if left is None and right is None:
            return of_scipy(quat)
        sides = [np.eye(4)[3:] if side is None else side for side in (left, right)]
        return of_scipy(quat, *sides)


def of_products(backend: Any) -> None:
    """SciPy's compiled code sums in the order of `einsum`, or of `dot` for one rotation."""
    of_scipy, matrix = traced(backend.apply), traced(backend.as_matrix)

    @serves_method(backend.apply)
    def apply(quat: Any, points: Any, inverse: bool = False) -> Any:
        if quat.ndim > 2 or np.ndim(points) > 2:
            return of_scipy(quat, points, inverse)
        mat, points = matrix(quat), as_array(points)
        if mat.ndim < 3:
            return np.dot(points, mat if inverse else mat.T)
        columns = np.atleast_2d(points)
        if len({len(mat), len(columns)} - {1}) > 1:
            return of_scipy(quat, points, inverse)  # which says that they don't fit
        if len(mat) == 1:
            return np.dot(columns, mat[0] if inverse else mat[0].T)
        return np.einsum("ikj,ik->ij" if inverse else "ijk,ik->ij", mat, columns)


def of_means(backend: Any) -> None:
    """The mean is an eigenvector, whatever the other eigenvalues are: they may be equal."""
    of_scipy = traced(backend.mean)

    @serves_method(backend.mean)
    def mean(quat: Any, weights: Any = None, axis: Any = None) -> Any:
        found = stop_gradient(of_scipy(quat, weights, axis))
        if quat.ndim == 2 and axis is None:  # the bits of SciPy's compiled code
            scaled = quat.T if weights is None else as_array(weights) * quat.T
            found = stop_gradient(np.linalg.eigh(np.dot(scaled, quat))[1][:, -1])
        products = quat[..., :, None] * quat[..., None, :]
        if weights is not None:
            products = products * as_array(weights)[..., None, None]
        axes = tuple(range(quat.ndim - 1)) if axis is None else np.atleast_1d(axis)
        places = tuple([int(i) % (quat.ndim - 1) for i in axes])
        return exact(found, eigenvector(np.mean(products, axis=places), found))


def eigenvector(K: Any, v: Any) -> Any:
    """The eigenvector next to v; two steps of Newton's method have its first three derivatives."""
    for _ in range(2):
        Kv = (K @ v[..., None])[..., 0]
        size = np.sum(v * Kv, axis=-1, keepdims=True)
        top = np.concatenate([K - size[..., None] * np.eye(4), -v[..., None]], axis=-1)
        row = np.concatenate([v, np.zeros_like(size)], axis=-1)[..., None, :]
        gap = np.concatenate([size * v - Kv, 0.5 - 0.5 * np.sum(v * v, -1, keepdims=True)], axis=-1)
        step = np.linalg.solve(np.concatenate([top, row], axis=-2), gap[..., None])
        v = v + step[..., :4, 0]
    return v


for name in ("_rotation", "_rigid_transform"):
    in_python(getattr(transform, name))
of_matrices(transform._rotation.xp_backend)
of_vectors(transform._rotation.xp_backend)
of_reductions(transform._rotation.xp_backend)
of_means(transform._rotation.xp_backend)
of_products(transform._rotation.xp_backend)
