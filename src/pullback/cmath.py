"""The names of `cmath`, for programs that are differentiated.

>>> import pullback.cmath as cmath
>>> from pullback import grad
>>> grad(lambda x: cmath.exp(1j * x).imag)(0.0)
np.float64(1.0)

With plain numbers every function is the one of `cmath`. With an Array that carries a derivative the
value is that of `cmath`, and the rules are those of NumPy's ufunc of a complex number.
"""

from __future__ import annotations

import cmath as real
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .core.array import Array, peel, without_axes
from .core.reach.namespaces import rest_of
from .core.trace import is_live
from .math import heed, is_known, mapped, operand, pythons, with_base, with_values_of
from .primitives.exact import exact
from .primitives.parts import of_parts_p

__all__ = [name for name in dir(real) if not name.startswith("_")]

# fmt: off
UFUNCS: dict[str, Callable[..., Any]] = {
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh,
    "atan": np.arctan, "atanh": np.arctanh, "cos": np.cos, "cosh": np.cosh, "exp": np.exp,
    "log10": np.log10, "sin": np.sin, "sinh": np.sinh, "sqrt": np.sqrt, "tan": np.tan,
    "tanh": np.tanh,
    "log": np.log,
}
# fmt: on


def as_complex(z: Any) -> Any:
    """A number as `cmath` takes it, of which it makes a complex one: without axes."""
    if type(z) is not Array:
        return complex(z)
    z = without_axes(z)
    return z if z.dtype == np.complex128 else np.astype(z, np.dtype(complex))


def numeric(name: str, ufunc: Callable[..., Any]) -> None:
    plain = getattr(real, name)
    own = with_values_of(plain, ufunc)

    @functools.wraps(plain)
    def call(*zs: Any) -> Any:
        if not any(map(is_live, zs)):
            return plain(*zs)
        zs = tuple(map(as_complex, zs))
        return pythons(own(*zs) if heed(plain, *zs) else mapped(plain, ufunc, *zs))

    call.__module__ = __name__
    globals()[name] = call


for name, ufunc in UFUNCS.items():
    numeric(name, ufunc)


log = with_base(real.log, globals()["log"], as_complex)


def phase(z: Any, /) -> Any:
    if not is_live(z):
        return real.phase(z)
    z = as_complex(z)
    sure, out = heed(real.phase, z), np.angle(z)
    return pythons(exact(real.phase(peel(z)), out) if sure and is_known(z) else out)


def polar(z: Any, /) -> tuple[Any, Any]:
    return (pythons(abs(as_complex(z))), phase(z)) if is_live(z) else real.polar(z)


def rect(r: Any, phi: Any, /) -> Any:
    if not (is_live(r) or is_live(phi)):
        return real.rect(r, phi)
    r, phi = operand(r), operand(phi)
    heed(real.rect, r, phi)
    return pythons(of_parts_p(r * np.cos(phi), r * np.sin(phi)))


__getattr__, __dir__ = rest_of(real, __all__, __name__)
