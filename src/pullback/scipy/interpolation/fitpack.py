"""splrep, splev and the classes over FITPACK: fits with given knots, values, integrals, roots."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate

from ...core.errors import MissingRuleError
from ...core.reach import call_outside
from ..solving.exact import exact
from ..solving.following import Following
from ..solving.leaves import leaf
from ..solving.serving import serves, traced
from ..sparse_arrays.patterns import fixed, is_live
from .basis import antiderivative, bspline
from .splines import fitted

from scipy.interpolate import _dfitpack as native  # isort: skip

__all__ = []


# Values.


def value_found(t: Any, c: Any, x: Any, *, k: int, nu: int, ext: int) -> Any:
    if nu == 0:
        return native.splev(t, c, k, x, ext)[0]
    return native.splder(t, c, k, x, nu, ext)[0]


def value_program(t: Any, c: Any, x: Any, *, k: int, nu: int, ext: int) -> Any:
    low, high = t[k], t[-k - 1]
    at = np.minimum(np.maximum(x, low), high) if ext == 3 else x
    out = bspline(t, c[: t.shape[0] - k - 1], k, at, nu)
    return np.where((x >= low) & (x <= high), out, 0.0) if ext == 1 else out


spline_value = Following("splev", value_found, value_program, lambda t, c, x, **_: x.shape)


def as_arrays(*xs: Any) -> list[Any]:
    return [x if hasattr(x, "dtype") else np.asarray(x, float) for x in xs]


@leaf(native.splev)
def splev(t, c, k, x, ext=0):
    t, c, x = as_arrays(t, c, x)
    k, ext = int(k), int(ext)
    ier = native.splev(fixed(t), fixed(c), k, fixed(x), ext)[1] if ext == 2 else 0
    return spline_value(t, c, x, k=k, nu=0, ext=ext), ier


@leaf(native.splder)
def splder(t, c, k, x, nu, ext=0):
    t, c, x = as_arrays(t, c, x)
    return spline_value(t, c, x, k=int(k), nu=int(nu), ext=int(ext)), 0


@leaf(native.spalde)
def spalde(t, c, k1, x):
    t, c, x = as_arrays(t, c, np.reshape(x, (1,)))
    parts = [spline_value(t, c, x, k=k1 - 1, nu=nu, ext=0)[0] for nu in range(k1)]
    return np.stack(parts), 0


# Integrals.


def integral_found(t: Any, c: Any, a: Any, b: Any, *, k: int) -> Any:
    return native.splint(t, c, k, a, b)[0]


def integral_program(t: Any, c: Any, a: Any, b: Any, *, k: int) -> Any:
    """The spline is zero outside its knots."""
    ends = np.minimum(np.maximum(np.stack([a, b]), t[k]), t[-k - 1])
    values = bspline(*antiderivative(t, c[: t.shape[0] - k - 1], k), ends)
    return values[1] - values[0]


spline_integral = Following("splint", integral_found, integral_program, lambda *_, **static: ())


@leaf(native.splint)
def splint(t, c, k, a, b):
    t, c, a, b = as_arrays(t, c, a, b)
    return spline_integral(t, c, a, b, k=int(k)), np.zeros(t.shape[0])


# Roots.


@leaf(native.sproot)
def sproot(t, c, mest=10):
    found, m, ier = native.sproot(fixed(t), fixed(c), mest)
    roots = moved = found[:m]
    for _ in range(2):  # two steps of Newton's method have the derivative of a root
        gap, slope = [bspline(t, c[: t.shape[0] - 4], 3, moved, nu) for nu in (0, 1)]
        moved = moved - gap / slope
    return exact(roots, moved), m, ier


# Fits.


def refuse_smoothing(name: str) -> None:
    raise MissingRuleError(
        f"`{name}` has a derivative where it interpolates (s=0), its knots are given, or one"
        " polynomial is smooth enough; here FITPACK chooses knots, and how smooth the spline is.\n"
        "  Pass s=0, give the knots (`LSQUnivariateSpline`, `make_lsq_spline`), or use"
        " `make_smoothing_spline(x, y, lam=...)`."
    )


def knots_of(x: Any, low: Any, high: Any, k: int) -> Any:
    """FITPACK's knots of a spline that interpolates."""
    half = (k + 1) // 2
    m = x.shape[0]
    inner = x[half : m - half]
    if k % 2 == 0:
        inner = (x[half + 1 : m - half] + x[half : m - half - 1]) / 2
    return with_ends(inner, low, high, k)


def with_ends(inner: Any, low: Any, high: Any, k: int) -> Any:
    ends = [np.broadcast_to(end, (k + 1,)) for end in (low, high)]
    return np.concatenate([ends[0], inner, ends[1]])


INTERPOLATES, POLYNOMIAL = -1, -2  # what FITPACK says of a fit


def chosen_knots(x: Any, low: Any, high: Any, k: int, ier: int, name: str) -> Any:
    """FITPACK's knots, where they are no trial's: its values jump where trials end otherwise."""
    if ier == POLYNOMIAL:
        return with_ends(np.zeros(0), low, high, k)
    if ier != INTERPOLATES:
        refuse_smoothing(name)
    return knots_of(x, low, high, k)


def spline_of(x: Any, y: Any, w: Any, t: Any, k: int, found_t: Any, found_c: Any, name: str) -> Any:
    """FITPACK's knots and coefficients with the derivative of the fit with the knots t."""
    if t.shape != found_t.shape or not np.allclose(fixed(t), found_t, rtol=1e-9, atol=1e-12):
        refuse_smoothing(name)
    c = fitted(x, y, w, t, k)
    if c.shape[0] < found_c.shape[0]:
        c = np.concatenate([c, np.zeros(found_c.shape[0] - c.shape[0])])
    return exact(found_t, t), exact(found_c, c)


def misfit(x: Any, y: Any, w: Any, pair: Any, k: int, found: Any) -> Any:
    """FITPACK's sum of squares, of weighted distances."""
    t, c = pair
    gap = y - bspline(t, c[: t.shape[0] - k - 1], k, x)
    return exact(np.float64(found), np.sum((gap if w is None else w * gap) ** 2))


splrep_of_scipy = interpolate.splrep


@serves(interpolate.splrep)
def splrep(
    x: Any, y: Any, w: Any = None, xb: Any = None, xe: Any = None, k: int = 3, task: int = 0,
    s: Any = None, t: Any = None, full_output: int = 0, per: int = 0, quiet: int = 1,
) -> Any:  # fmt: skip
    given = {"w": w, "xb": xb, "xe": xe, "s": s, "t": t}
    if not any(map(is_live, (x, y, *given.values()))):
        rest = {"k": k, "task": task, "full_output": full_output, "per": per, "quiet": quiet}
        return traced(splrep_of_scipy)(x, y, **given, **rest)
    x, y = as_arrays(x, y)
    if per or task == 1:
        refuse_smoothing("splrep")
    plain = {key: fixed(value) for key, value in given.items()}
    found, *rest = call_outside(
        splrep_of_scipy, (fixed(x), fixed(y)), {**plain, "k": k, "task": task, "full_output": 1}
    )
    low, high = x[0] if xb is None else xb, x[-1] if xe is None else xe
    if t is None:
        knots = chosen_knots(x, low, high, k, rest[1], "splrep")
    else:
        knots = with_ends(t, low, high, k)
    pair = spline_of(x, y, w, knots, k, found[0], found[1], "splrep")
    if not full_output:
        return (*pair, k)
    return (*pair, k), misfit(x, y, w, pair, k, rest[0]), *rest[1:]


def data_of(name: str, knots: Any) -> Any:
    """A rule for a fit that returns (x, y, w, xb, xe, k, s, n, t, c, fp, fpint, nrdata, ier)."""
    function = getattr(native, name)

    @leaf(function)
    def fit(x, y, k, *args, w=None, xb=None, xe=None, s=None, **options):
        x, y = as_arrays(x, y)
        plain = {"w": w, "xb": xb, "xe": xe, "s": s, **options}
        plain = {key: fixed(value) for key, value in plain.items() if value is not None}
        found = list(function(fixed(x), fixed(y), k, *map(fixed, args), **plain))
        n = found[7] if len(found) > 12 else len(found[8])
        low, high = x[0] if xb is None else xb, x[-1] if xe is None else xe
        of_scipy = found[8][:n], found[9][:n]
        t = knots(x, low, high, k, args, found[-1])
        pair = spline_of(x, y, w, t, k, *of_scipy, "UnivariateSpline")
        found[10] = misfit(x, y, w, pair, k, found[10])
        rest = [np.zeros(len(found[i]) - n) for i in (8, 9)]
        found[8], found[9] = [
            np.concatenate([part, more]) for part, more in zip(pair, rest, strict=True)
        ]
        return tuple(found)

    return fit


def interpolating(x: Any, low: Any, high: Any, k: int, args: Any, ier: int) -> Any:
    return chosen_knots(x, low, high, k, ier, "UnivariateSpline")


def with_knots(x: Any, low: Any, high: Any, k: int, args: Any, ier: int) -> Any:
    return args[0]


@leaf(native.fpchec)
def fpchec(*args):
    return native.fpchec(*map(fixed, args))


data_of("fpcurf0", interpolating)
data_of("fpcurfm1", with_knots)


# Two variables.


def within(tx: Any, ty: Any, c: Any, x: Any, y: Any, kx: int, ky: int) -> Any:
    """The coefficients as a table, and the points; FITPACK moves those outside to the border."""
    x = np.minimum(np.maximum(x, tx[kx]), tx[-kx - 1])
    y = np.minimum(np.maximum(y, ty[ky]), ty[-ky - 1])
    return np.reshape(c, (tx.shape[0] - kx - 1, ty.shape[0] - ky - 1)), x, y


def surface(
    tx: Any, ty: Any, c: Any, x: Any, y: Any, *, kx: int, ky: int, nux: int, nuy: int
) -> Any:
    """Values on the grid of x and y."""
    c, x, y = within(tx, ty, c, x, y, kx, ky)
    rows = bspline(tx, c, kx, x, nux)
    return np.swapaxes(bspline(ty, np.swapaxes(rows, 0, 1), ky, y, nuy), 0, 1)


def surface_found(
    tx: Any, ty: Any, c: Any, x: Any, y: Any, *, kx: int, ky: int, nux: int, nuy: int
):
    if nux == nuy == 0:
        return native.bispev(tx, ty, c, kx, ky, x, y)[0]
    return native.parder(tx, ty, c, kx, ky, nux, nuy, x, y)[0]


def points_of(
    tx: Any, ty: Any, c: Any, x: Any, y: Any, *, kx: int, ky: int, nux: int, nuy: int
) -> Any:
    c, x, y = within(tx, ty, c, x, y, kx, ky)
    return bspline(ty, bspline(tx, c, kx, x, nux), ky, y, nuy, own=True)


def points_found(tx: Any, ty: Any, c: Any, x: Any, y: Any, *, kx: int, ky: int, nux: int, nuy: int):
    if nux == nuy == 0:
        return native.bispeu(tx, ty, c, kx, ky, x, y)[0]
    return native.pardeu(tx, ty, c, kx, ky, nux, nuy, x, y)[0]


on_grid = Following(
    "bispev", surface_found, surface, lambda tx, ty, c, x, y, **_: (x.shape[0], y.shape[0])
)
at_points = Following("bispeu", points_found, points_of, lambda tx, ty, c, x, y, **_: x.shape)


def two_variables(name: str, primitive: Any, orders: bool) -> None:
    @leaf(getattr(native, name))
    def rule(tx, ty, c, kx, ky, *args):
        (nux, nuy), (x, y) = (args[:2], args[2:4]) if orders else ((0, 0), args[:2])
        tx, ty, c, x, y = as_arrays(tx, ty, c, np.atleast_1d(x), np.atleast_1d(y))
        return primitive(tx, ty, c, x, y, kx=kx, ky=ky, nux=nux, nuy=nuy), 0


two_variables("bispev", on_grid, False)
two_variables("parder", on_grid, True)
two_variables("bispeu", at_points, False)
two_variables("pardeu", at_points, True)


def volume_found(tx: Any, ty: Any, c: Any, ends: Any, *, kx: int, ky: int) -> Any:
    return native.dblint(tx, ty, c, kx, ky, *ends)


def volume(tx: Any, ty: Any, c: Any, ends: Any, *, kx: int, ky: int) -> Any:
    c = np.reshape(c, (tx.shape[0] - kx - 1, ty.shape[0] - ky - 1))
    x = np.minimum(np.maximum(ends[:2], tx[kx]), tx[-kx - 1])
    y = np.minimum(np.maximum(ends[2:], ty[ky]), ty[-ky - 1])
    rows = bspline(*antiderivative(tx, c, kx), x)
    values = bspline(*antiderivative(ty, rows[1] - rows[0], ky), y)
    return values[1] - values[0]


double_integral = Following("dblint", volume_found, volume, lambda *_, **static: ())


@leaf(native.dblint)
def dblint(tx, ty, c, kx, ky, *ends):
    tx, ty, c = as_arrays(tx, ty, c)
    return double_integral(tx, ty, c, np.stack(as_arrays(*ends)), kx=kx, ky=ky)


@leaf(native.regrid_smth)
def regrid_smth(x, y, z, xb, xe, yb, ye, kx, ky, s, *args):
    x, y, z = as_arrays(x, y, z)
    plain = [fixed(v) for v in (x, y, z, xb, xe, yb, ye, kx, ky, s, *args)]
    nx, found_tx, ny, found_ty, found_c, fp, ier = native.regrid_smth(*plain)
    if plain[9]:
        raise MissingRuleError(
            "`RectBivariateSpline` has a derivative where it interpolates (s=0).\n"
            "  Leave `s` out, or fit with `make_lsq_spline` along each axis."
        )
    tx = knots_of(x, x[0] if xb is None else xb, x[-1] if xe is None else xe, kx)
    ty = knots_of(y, y[0] if yb is None else yb, y[-1] if ye is None else ye, ky)
    z = np.reshape(z, (x.shape[0], y.shape[0]))
    rows = fitted(x, z, None, tx, kx)
    c = np.swapaxes(fitted(y, np.swapaxes(rows, 0, 1), None, ty, ky), 0, 1)
    rest = [np.zeros(len(f) - n) for f, n in ((found_tx, nx), (found_ty, ny))]
    tx = exact(found_tx, np.concatenate([tx, rest[0]]))
    ty = exact(found_ty, np.concatenate([ty, rest[1]]))
    c = c.reshape(-1)
    c = np.concatenate([c, np.zeros(len(found_c) - c.shape[0])])
    return nx, tx, ny, ty, exact(found_c, c), fp, ier
