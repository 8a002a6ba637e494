"""Rules for operations without formulas: differentiate an equivalent NumPy program instead.

The program has the same derivatives as the operation at these values: for a random draw, the number
drawn as a function of the distribution's parameters. `pushed` gives the tangent of the operation's
result, `pulled` the cotangents of its operands.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .call import along, filled, floating, placed
from .forward import jvp
from .reverse import vjp


def pushed(program: Callable[..., Any], xs: Any, x_dots: Any, n_out: int | None = None) -> Any:
    """The tangent of program(*xs); a tangent of xs that is None is zero.

    n_out: how many results the operation has, if several; the program may give the first ones
    only, and the others have no tangent.
    """
    at = [i for i, dot in enumerate(x_dots) if dot is not None]
    dots = jvp(along(program, xs, at), [xs[i] for i in at], [x_dots[i] for i in at])[1]
    return dots if n_out is None else (*dots, *[None] * (n_out - len(dots)))


def pulled(program: Callable[..., Any], xs: Any, wanted: Any, out_bar: Any) -> list[Any]:
    """The cotangents of the xs that are wanted; the program gives one array or a tuple."""
    at = [i for i in floating(xs) if wanted[i]]
    outs, pullback = vjp(along(program, xs, at), *[xs[i] for i in at])
    if type(outs) is tuple:
        out_bar = filled(out_bar, outs)
    elif out_bar.dtype != outs.dtype:
        out_bar = out_bar.astype(outs.dtype) if outs.dtype.kind == "c" else np.real(out_bar)
    return placed(pullback(out_bar), at, len(xs))
