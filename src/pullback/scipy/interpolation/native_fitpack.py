"""FITPACK as SciPy compiles it: from Fortran until 1.17, written in C since 1.18.

Some functions of the C have their parts in another order, or a function of SciPy's around them.
Here they have one form, that of 1.17, and rules are written for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scipy.interpolate import _fitpack2

from ..releases import private
from ..solving.leaves import leaf
from ..solving.serving import serves_method

__all__ = ["CURFIT", "native", "regrid_smth", "rule_of", "splder", "splint"]

native = private("scipy.interpolate._dfitpack", "scipy.interpolate._fitpack")
# Since 1.18, for `fpcurf0`, `fpcurf1` and `fpcurfm1`.
CURFIT: Any = getattr(_fitpack2, "_curfit", None)
IN_C = CURFIT is not None

regrid_smth = _fitpack2._regrid_smth if IN_C else native.regrid_smth


def splder(t: Any, c: Any, k: int, x: Any, nu: int, ext: int) -> Any:
    return native.splder(t, c, k, nu, x, ext) if IN_C else native.splder(t, c, k, x, nu, ext)


def splint(t: Any, c: Any, k: int, a: Any, b: Any) -> Any:
    out = native.splint(t, c, k, a, b)
    return out if IN_C else out[0]


def rule_of(name: str) -> Callable[[Any], Any]:
    """Enter a rule, which takes and returns what SciPy 1.17 does, for a function of FITPACK."""

    def enter(rule: Any) -> Any:
        if not IN_C:
            leaf(getattr(native, name))(rule)
        elif name == "regrid_smth":
            serves_method(regrid_smth)(rule)
        elif name == "splder":
            leaf(native.splder)(lambda t, c, k, nu, x, ext=0: rule(t, c, k, x, nu, ext))
        elif name == "splint":
            leaf(native.splint)(lambda *args: rule(*args)[0])
        else:
            leaf(getattr(native, name))(rule)
        return rule

    return enter
