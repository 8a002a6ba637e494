"""FITPACK as SciPy compiles it: from Fortran until 1.17, written in C since 1.18.

Some of the C functions take or return their parts in another order, or are wrapped by a function of
SciPy. Here they all have the form of 1.17, and the rules are written for that.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, update_wrapper
from types import FunctionType
from typing import Any

from scipy.interpolate import _fitpack2

from ...core.array import Array
from ..releases import private
from ..solving.leaves import leaf
from ..solving.serving import serves_method

native = private("scipy.interpolate._dfitpack", "scipy.interpolate._fitpack")
# What fits curves since 1.18.
CURFIT: Any = getattr(_fitpack2, "_curfit", None)
IN_C = CURFIT is not None


def compiled(name: str) -> Any:
    """A function of FITPACK: of SciPy's around the C, where there is one."""
    return getattr(_fitpack2, f"_{name}", None) or getattr(native, name)


regrid_smth = compiled("regrid_smth")
spherfit_smth = compiled("spherfit_smth")
regrid_smth_spher = compiled("regrid_smth_spher")


def derivative(t: Any, c: Any, k: int, x: Any, nu: int, ext: int) -> Any:
    return native.splder(t, c, k, nu, x, ext) if IN_C else native.splder(t, c, k, x, nu, ext)


def integral(t: Any, c: Any, k: int, a: Any, b: Any) -> Any:
    out = native.splint(t, c, k, a, b)
    return out if IN_C else out[0]


def spherfit_lsq(theta: Any, phi: Any, r: Any, tt: Any, tp: Any, *w_eps: Any) -> Any:
    sizes = [(len(t), t) for t in (tt, tp)]
    knots = (*sizes[0], *sizes[1]) if IN_C else (tt, tp)
    return compiled("spherfit_lsq")(theta, phi, r, *knots, *w_eps)


def surfit_smth(
    x: Any, y: Any, z: Any, w: Any, xb: Any, xe: Any, yb: Any, ye: Any, kx: int, ky: int,
    s: Any = None, eps: float = 1e-16, **more: Any,
) -> Any:  # fmt: skip
    given = {"w": w, "xb": xb, "xe": xe, "yb": yb, "ye": ye, "kx": kx, "ky": ky, "s": s, "eps": eps}
    if IN_C:
        *found, ier = compiled("surfit_smth")(x, y, z, **given)
        return *found, None, ier
    plain = {key: value for key, value in given.items() if value is not None}
    return native.surfit_smth(x, y, z, **plain, **more)


def surfit_lsq(*points_and_knots: Any, **options: Any) -> Any:
    if not IN_C:
        options = {key: value for key, value in options.items() if value is not None}
    return compiled("surfit_lsq")(*points_and_knots, **options)


def without_work(found: Any) -> Any:
    *outs, _, ier = found
    return *outs, ier


CURVE_FITS = frozenset({"fpcurf0", "fpcurf1", "fpcurfm1"})  # until 1.17
# What the functions in C take and give, of rules that do what those of 1.17 did.
FORMS: dict[str, Callable[[Any], Any]] = {
    "splder": lambda rule: lambda t, c, k, nu, x, ext=0: rule(t, c, k, x, nu, ext),
    "splint": lambda rule: lambda *args: rule(*args)[0],
    "surfit_smth": lambda rule: lambda *args: without_work(rule(*args[:11], eps=args[11])),
    "spherfit_lsq": lambda rule: lambda x, y, r, n, t, m, p, w, eps: rule(x, y, r, t, p, w, eps),
}


def with_integers(rule: Any) -> Any:
    """A rule with degrees and orders as compiled code takes them; a recording asks for them."""

    def integer(x: Any) -> Any:
        return int(x) if type(x) is Array and x.ndim == 0 and x.dtype.kind == "i" else x

    def call(*args: Any, **options: Any) -> Any:
        return rule(*map(integer, args), **{key: integer(x) for key, x in options.items()})

    return update_wrapper(call, rule)


def rule_of(name: str) -> Callable[[Any], Any]:
    """Enter a rule, which takes and returns what SciPy 1.17 does, for a function of FITPACK.

    What fits curves is one function in C, which has a rule of its own.
    """

    def enter(rule: Any) -> Any:
        if IN_C and name in CURVE_FITS:
            return rule
        original = compiled(name)
        is_python = isinstance(original, FunctionType)
        enters = serves_method if is_python else partial(leaf, solves=True)
        taking = with_integers(rule)
        enters(original)(FORMS[name](taking) if IN_C and name in FORMS else taking)
        return rule

    return enter
