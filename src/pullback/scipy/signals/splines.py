"""Splines of signals: the recursive filters that find coefficients, and the splines themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.signal import _spline, _spline_filters

from ...core.errors import MissingRuleError
from ...core.spec import Spec
from ...primitives.arguments import as_array
from ...primitives.exact import exact
from ..solving.leaves import leaf
from ..solving.motion import Described
from ..solving.plain import is_live, solve
from .correlation import slide_p

__all__ = []


# Where recursive filters begin on signals that are mirrored at their ends: linear in the signal.


def starts(original: Any) -> None:
    name = original.__name__

    def of_rows(signal: Any, *parameters: Any) -> Any:
        n = signal.shape[-1]
        return signal @ original(np.eye(n, dtype=np.float64), *parameters)

    start_p = Described(
        name,
        lambda signal, parameters: original(signal, *parameters),
        lambda signal, parameters: of_rows(signal, *parameters),
        lambda signal, parameters: Spec(
            (signal.shape[0], 1 if name == "symiirorder1_ic" else 2), signal.dtype
        ),
        linear=(0,),
    )

    @leaf(original)
    def start(signal, *parameters):
        if any(map(is_live, parameters)):
            raise MissingRuleError(
                f"`scipy.signal.{name.partition('_')[0]}` has a derivative with respect to the"
                " signal, and none with respect to the parameters of the filter.\n"
                "  Use `scipy.signal.lfilter` or `scipy.signal.sosfilt` forwards and backwards."
            )
        return start_p(as_array(signal), parameters=tuple([float(p) for p in parameters]))


for original in (_spline.symiirorder1_ic, _spline.symiirorder2_ic_fwd, _spline.symiirorder2_ic_bwd):
    starts(original)


def mirrored(x: Any, row: Any, column: Any) -> Any:
    """Both filters are centred, over an image that is repeated backwards beyond its edges."""
    edge = [(n // 2, n // 2) for n in (column.shape[0], row.shape[0])]
    around = np.pad(x, edge, mode="symmetric")
    return slide_p(slide_p(around, np.flip(row)[None, :]), np.flip(column)[:, None])


sepfir2d_p = Described(
    "sepfir2d", _spline.sepfir2d, mirrored, lambda x, row, column: x, linear=(0,)
)


@leaf(_spline.sepfir2d)
def sepfir2d(x, row, column):
    return sepfir2d_p(*map(as_array, (x, row, column)))


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
