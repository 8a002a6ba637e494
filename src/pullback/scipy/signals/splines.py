"""Splines of signals: the recursive filters that compute coefficients, and the spline values."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.signal import _spline, _spline_filters

from ...core.spec import Spec
from ...primitives.arguments import as_array
from ...primitives.exact import exact
from ..solving.following import Chosen
from ..solving.leaves import leaf
from ..solving.motion import Described
from ..solving.plain import solve
from ..sparse_arrays.patterns import fixed
from .correlation import slide_p

# Where recursive filters begin on signals that are mirrored at their ends: sums of the signal with
# weights, which are the filter's responses k numbers after an impulse.


def after_one(k: Any, z: Any) -> Any:
    return np.where(k == 0, 1.0, 0.0) + z ** (k + 1.0)


def once(k: Any, r: Any, omega: Any) -> Any:
    """The response of 1 / ((1 - r exp(i omega) z) (1 - r exp(-i omega) z)), of sum 1."""
    gain = 1 - 2 * r * np.cos(omega) + r**2
    return gain * r**k * np.sin(omega * (k + 1)) / np.sin(omega)


def twice(k: Any, r: Any, omega: Any) -> Any:
    """The response of the same filter forwards and then backwards."""
    k, square = np.abs(k), r**2
    gain = (1 - 2 * r * np.cos(omega) + square) ** 2
    scale = (1 + square) / (1 - square) / (1 - 2 * square * np.cos(2 * omega) + square**2)
    slope = (1 - square) / (1 + square) / np.tan(omega)
    return gain * scale * r**k * (np.cos(omega * k) + slope * np.sin(omega * k))


def forwards(k: Any, *parameters: Any) -> Any:
    none, one = once(0.0, *parameters), once(1.0, *parameters)
    first = once(k + 1, *parameters) + np.where(k == 0, none, 0.0)
    second = once(k + 2, *parameters) + np.where(k == 0, one, np.where(k == 1, none, 0.0))
    return np.stack([first, second], axis=1)


def backwards(k: Any, *parameters: Any) -> Any:
    k = k[::-1]
    first = twice(k, *parameters) + twice(k + 1, *parameters)
    return np.stack([first, twice(k - 1, *parameters) + twice(k + 2, *parameters)], axis=1)


def starts(original: Any, weights: Any, n_out: int) -> None:
    def found(*parameters: Any, n: int, precision: float) -> Any:
        """Which weights SciPy keeps: it drops small ones."""
        return original(np.eye(n), *map(float, parameters), precision) != 0

    kept_p = Chosen(original.__name__, found, lambda *_, n, **static: (n, n_out))

    def program(signal: Any, *parameters: Any, precision: float) -> Any:
        n = signal.shape[-1]
        kept = kept_p(*parameters, n=n, precision=precision)
        return signal @ np.where(kept, weights(np.arange(float(n)), *parameters), 0.0)

    start_p = Described(
        original.__name__,
        lambda signal, *parameters, precision: original(signal, *map(float, parameters), precision),
        program,
        lambda signal, *_, **static: Spec((signal.shape[0], n_out), signal.dtype),
        linear=(0,),
    )

    @leaf(original)
    def start(*operands):
        *moving, precision = map(as_array, operands)
        return start_p(*moving, precision=float(fixed(precision)))


starts(_spline.symiirorder1_ic, lambda k, z: after_one(k, z)[:, None], 1)
starts(_spline.symiirorder2_ic_fwd, forwards, 2)
starts(_spline.symiirorder2_ic_bwd, backwards, 2)


def mirrored(x: Any, row: Any, column: Any) -> Any:
    """Apply both centred filters to an image that is mirrored at its edges."""
    edge = [(n // 2, n // 2) for n in (column.shape[0], row.shape[0])]
    around = np.pad(x, edge, mode="symmetric")
    return slide_p(slide_p(around, np.flip(row)[None, :]), np.flip(column)[:, None])


sepfir2d_p = Described(
    "sepfir2d", _spline.sepfir2d, mirrored, lambda x, row, column: x, linear=(0,)
)


@leaf(_spline.sepfir2d)
def sepfir2d(x, row, column):
    x, row, column = map(as_array, (x, row, column))
    for size, weights in zip(x.shape, (column, row), strict=True):
        if size < 2 * (weights.size // 2):
            raise ValueError(
                f"`scipy.signal.sepfir2d` with {weights.size} weights for {size} pixels reads and"
                " writes beyond its memory.\n  Extend the image (`np.pad`), or take fewer weights."
            )
    return sepfir2d_p(x, row, column)


# The basis of splines of second and third degree.


def basis(original: Any, program: Any) -> None:
    @leaf(original)
    def values(x):
        found = solve(lambda values: original(values.tree(x)))
        return exact(found.of(np.asarray), program(np.abs(as_array(x))))


def cubic(x: Any) -> Any:
    inner, outer = 2 / 3 - x**2 + x**3 / 2, (2 - x) ** 3 / 6
    return np.where(x < 1, inner, np.where(x < 2, outer, 0.0))


def quadratic(x: Any) -> Any:
    inner, outer = 0.75 - x**2, (1.5 - x) ** 2 / 2
    return np.where(x < 0.5, inner, np.where(x < 1.5, outer, 0.0))


basis(_spline_filters._cubic, cubic)
basis(_spline_filters._quadratic, quadratic)
