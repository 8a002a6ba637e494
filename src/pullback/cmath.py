"""The names of `cmath`, for programs that are differentiated.

>>> import pullback.cmath as cmath
>>> from pullback import grad
>>> grad(lambda x: cmath.exp(1j * x).imag)(0.0)
np.float64(1.0)

With plain numbers every function is the one of `cmath`. With an Array that carries a derivative it
is NumPy's ufunc of a complex number, after `cmath` has had its say.
"""

from __future__ import annotations

import cmath as real
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .core.trace import is_live
from .math import heed, mapped, number, operand, pythons
from .primitives.parts import of_parts_p

__all__ = [name for name in dir(real) if not name.startswith("_")]

# fmt: off
UFUNCS: dict[str, Callable[..., Any]] = {
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh,
    "atan": np.arctan, "atanh": np.arctanh, "cos": np.cos, "cosh": np.cosh, "exp": np.exp,
    "log10": np.log10, "sin": np.sin, "sinh": np.sinh, "sqrt": np.sqrt, "tan": np.tan,
    "tanh": np.tanh,
    "log": lambda z, base=None: np.log(z) if base is None else np.log(z) / np.log(base),
}
# fmt: on


def as_complex(z: Any) -> Any:
    return z if z.dtype.kind == "c" else np.astype(z, np.dtype(complex))


def numeric(name: str, ufunc: Callable[..., Any]) -> None:
    plain = getattr(real, name)

    @functools.wraps(plain)
    def call(*zs: Any) -> Any:
        if not any(map(is_live, zs)):
            return plain(*zs)
        zs = tuple([as_complex(number(z)) if is_live(z) else complex(z) for z in zs])
        return pythons(ufunc(*zs) if heed(plain, *zs) else mapped(plain, ufunc, *zs))

    call.__module__ = __name__
    globals()[name] = call


for name, ufunc in UFUNCS.items():
    numeric(name, ufunc)


def phase(z: Any, /) -> Any:
    return pythons(np.angle(number(z))) if is_live(z) else real.phase(z)


def polar(z: Any, /) -> tuple[Any, Any]:
    return (abs(number(z)), phase(z)) if is_live(z) else real.polar(z)


def rect(r: Any, phi: Any, /) -> Any:
    if not (is_live(r) or is_live(phi)):
        return real.rect(r, phi)
    r, phi = operand(r), operand(phi)
    heed(real.rect, r, phi)
    return pythons(of_parts_p(r * np.cos(phi), r * np.sin(phi)))


def __getattr__(name: str) -> Any:
    """The rest is that of `cmath`."""
    if name in __all__:
        return getattr(real, name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
