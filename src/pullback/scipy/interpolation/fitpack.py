"""splrep, splev and the classes over FITPACK: fits with given knots, values, integrals, roots."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate
from scipy.interpolate import _fitpack_repro

from ...core.errors import MissingRuleError
from ...core.reach.call_tables import CALLS
from ...core.reach.session import call_outside
from ...primitives.arguments import as_array
from ...primitives.exact import exact, like
from ..solving.following import Following, in_doubles
from ..solving.serving import serves, serves_method, traced
from ..sparse_arrays.patterns import fixed, is_live
from .basis import antiderivative, bspline, reaching, tensor
from .native_fitpack import CURFIT, derivative, integral, native, regrid_smth, rule_of
from .smoothing import Smoothing, around, data_at, smoothing
from .splines import fitted
from .surfaces import Axis, SmoothSurface

# Values.


def value_found(t: Any, c: Any, x: Any, *, k: int, nu: int, ext: int) -> Any:
    if nu == 0:
        return native.splev(t, c, k, x, ext)[0]
    return derivative(t, c, k, x, nu, ext)[0]


def value_program(t: Any, c: Any, x: Any, *, k: int, nu: int, ext: int) -> Any:
    low, high = t[k], t[-k - 1]
    at = np.minimum(np.maximum(x, low), high) if ext == 3 and not nu else x  # as FITPACK has it
    out = bspline(t, c[: t.shape[0] - k - 1], k, at, nu)
    return np.where((x < low) | (x > high), 0.0, out) if ext == 1 else out


def of_no_order(*xs: Any, nu: int = 0, nux: int = 0, nuy: int = 0, **_: Any) -> bool:
    """Whether the bits agree: FITPACK differentiates coefficients, the program basis functions."""
    return not (nu or nux or nuy) and in_doubles(*xs)


spline_value = Following(
    "splev", value_found, value_program, lambda t, c, x, **_: x.shape, same_bits=of_no_order
)


def as_arrays(*xs: Any) -> list[Any]:
    return [x if hasattr(x, "dtype") else np.asarray(x, float) for x in xs]


@rule_of("splev")
def splev(t, c, k, x, ext=0):
    t, c, x = as_arrays(t, c, x)
    k, ext = int(k), int(ext)
    ier = native.splev(fixed(t), fixed(c), k, fixed(x), ext)[1] if ext == 2 else 0
    return spline_value(t, c, x, k=k, nu=0, ext=ext), ier


@rule_of("splder")
def splder(t, c, k, x, nu, ext=0):
    t, c, x = as_arrays(t, c, x)
    return spline_value(t, c, x, k=int(k), nu=int(nu), ext=int(ext)), 0


def derivatives_found(t: Any, c: Any, x: Any, *, k1: int) -> Any:
    return native.spalde(t, c, k1, x)[0]


def derivatives_program(t: Any, c: Any, x: Any, *, k1: int) -> Any:
    at = np.reshape(x, (1,))
    return np.stack([value_program(t, c, at, k=k1 - 1, nu=nu, ext=0)[0] for nu in range(k1)])


all_derivatives = Following("spalde", derivatives_found, derivatives_program, lambda *_, k1: (k1,))


@rule_of("spalde")
def spalde(t, c, k1, x):
    t, c, x = as_arrays(t, c, x)
    return all_derivatives(t, c, x, k1=int(k1)), 0


# Integrals.


def integral_found(t: Any, c: Any, a: Any, b: Any, *, k: int) -> Any:
    return integral(t, c, k, a, b)


def integral_program(t: Any, c: Any, a: Any, b: Any, *, k: int) -> Any:
    """The integral; the spline is zero outside its knots."""
    ends = np.minimum(np.maximum(np.stack([a, b]), t[k]), t[-k - 1])
    values = bspline(*antiderivative(t, c[: t.shape[0] - k - 1], k), ends)
    return values[1] - values[0]


spline_integral = Following("splint", integral_found, integral_program, lambda *_, **static: ())


@rule_of("splint")
def splint(t, c, k, a, b):
    t, c, a, b = as_arrays(t, c, a, b)
    return like(0.0, spline_integral(t, c, a, b, k=int(k))), np.zeros(t.shape[0])


# Roots.


@rule_of("sproot")
def sproot(t, c, mest=10):
    found, m, ier = native.sproot(fixed(t), fixed(c), mest)
    roots = moved = found[:m]
    for _ in range(2):  # two steps of Newton's method have the derivative of a root
        gap, slope = [bspline(t, c[: t.shape[0] - 4], 3, moved, nu) for nu in (0, 1)]
        moved = moved - gap / slope
    return exact(roots, moved), m, ier


# Fits.


def refuse_fit(name: str) -> None:
    raise MissingRuleError(
        f"`{name}` has no derivative where FITPACK gives up: the spline that it returned does not"
        " fit as it was asked to.\n"
        "  Pass a larger s, give the knots (`LSQUnivariateSpline`, `make_lsq_spline`), or use"
        " `make_smoothing_spline(x, y, lam=...)`."
    )


CLOSED = "Use `make_interp_spline(x, y, bc_type='periodic')` for a closed curve."
ANEW = "Fit anew, with `task=0`."


def refuse_option(name: str, *options: str, instead: str = CLOSED) -> None:
    given = " and ".join([f"`{option}`" for option in options])
    raise MissingRuleError(f"`{name}` has no derivative with {given}.\n  {instead}")


def knots_of(x: Any, low: Any, high: Any, k: int) -> Any:
    """The knots that FITPACK uses for interpolation."""
    half = (k + 1) // 2
    m = x.shape[0]
    inner = x[half : m - half]
    if k % 2 == 0:
        inner = (x[half + 1 : m - half] + x[half : m - half - 1]) / 2
    return with_ends(inner, low, high, k)


def with_ends(inner: Any, low: Any, high: Any, k: int) -> Any:
    ends = [np.broadcast_to(end, (k + 1,)) for end in (low, high)]
    return np.concatenate([ends[0], inner, ends[1]])


INTERPOLATES, SMOOTHS = -1, 0  # what FITPACK says of a fit; POLYNOMIAL -2 has no inner knots
GIVEN = -1  # what it is told where knots are given
AGAIN = 1  # there was no room for more knots


class Fit:
    """FITPACK's input: y at x with weights w, between low and high, and a smoothing s."""

    def __init__(
        self, name: str, x: Any, y: Any, w: Any, ends: tuple[Any, Any], k: int, s: Any
    ) -> None:
        self.name, self.x, self.y, self.w, self.k, self.s = name, x, y, w, k, s
        self.low, self.high = [
            x[i] if end is None else end for i, end in zip((0, -1), ends, strict=True)
        ]

    def knots(self, found: Any, ier: int, given: Any = None) -> Any:
        """The knots that were given, or those that FITPACK chose, by the data that they are."""
        x, k = self.x, self.k
        if given is not None:
            t = with_ends(given, self.low, self.high, k)
        elif ier == INTERPOLATES:
            t = knots_of(x, self.low, self.high, k)
        else:
            inner = data_at(x, found[k + 1 : -k - 1])
            if inner is None or ier > SMOOTHS:
                refuse_fit(self.name)
            t = with_ends(inner, self.low, self.high, k)
        if t.shape != found.shape or not np.allclose(fixed(t), found, rtol=1e-9, atol=1e-12):
            refuse_fit(self.name)
        return t

    def spline(self, found_t: Any, found_c: Any, fp: Any, ier: int, given: Any = None) -> Any:
        """FITPACK's knots and coefficients with the derivative of the fit."""
        t, k = self.knots(found_t, ier, given), self.k
        n = t.shape[0] - k - 1
        if given is None and ier == SMOOTHS and n > k + 1:
            c = self.smoothed(t, found_c[:n], float(fixed(fp)))
        else:
            c = fitted(self.x, self.y, self.w, t, k)
        if n < found_c.shape[0]:
            c = np.concatenate([c, np.zeros(found_c.shape[0] - n)])
        return exact(found_t, t), exact(found_c, c)

    def closed(self, found_t: Any, found_c: Any, fp: Any, ier: int) -> Any:
        """The same of a closed curve, of which the last datum is taken as the first."""
        if ier != INTERPOLATES:
            t, c = self.closed_smoothly(found_t, found_c, float(fixed(fp)), ier)
        elif self.k == 1:  # the line through the points, with knots that go around
            x, period = self.x, self.x[-1:] - self.x[:1]
            t = np.concatenate([x[-2:-1] - period, x, x[1:2] + period])
            c = np.concatenate([self.y[:-1], self.y[:1]])
        else:
            y = np.concatenate([self.y[:-1], self.y[:1]])
            spline = CALLS[interpolate.make_interp_spline](self.x, y, self.k, bc_type="periodic")
            t, c = spline.t, spline.c
        n = c.shape[0]
        near = t.shape == found_t.shape and np.allclose(fixed(t), found_t, rtol=1e-9, atol=1e-12)
        if not near or not np.allclose(fixed(c), found_c[:n], rtol=1e-6, atol=1e-8):
            refuse_fit(self.name)
        rest = np.zeros_like(found_c[n:])
        return exact(found_t, t), exact(found_c, np.concatenate([c, rest]))

    def closed_smoothly(self, found_t: Any, found_c: Any, fp: float, ier: int) -> Any:
        """Knots and coefficients of a closed curve that need not meet the data."""
        x, k = self.x, self.k
        inner = data_at(x, found_t[k + 1 : -k - 1])
        if inner is None or ier > SMOOTHS:
            refuse_fit(self.name)
        t, spread = around(np.concatenate([x[:1], inner, x[-1:]]), k)
        w = None if self.w is None else self.w[:-1]
        equations = smoothing(x[:-1], self.y[:-1], w, t, k, spread)
        n, pieces = spread.shape
        c = self.weighed(equations, found_c[:pieces], fp)
        return t, np.reshape(spread @ c, (n, *found_c.shape[1:]))

    def smoothed(self, t: Any, found: Any, fp: float) -> Any:
        equations = smoothing(self.x, self.y, self.w, t, self.k)
        return np.reshape(self.weighed(equations, found, fp), found.shape)

    def weighed(self, equations: Smoothing, found: Any, fp: float) -> Any:
        """The coefficients with the weight that FITPACK gave their jumps."""
        u = equations.weight_of(found if found.ndim == 2 else found[:, None], fp)
        if u is None:
            refuse_fit(self.name)
        if not u:
            return equations.coefficients(0.0)
        distance = fp * (self.s / fixed(self.s)) if is_live(self.s) else fp
        return equations.solved(u, distance)

    def misfit(self, pair: Any, found: Any) -> Any:
        """FITPACK's sum of squares, of weighted distances."""
        t, c = pair
        gap = self.y - bspline(t, c[: t.shape[0] - self.k - 1], self.k, self.x)
        weighted = gap if self.w is None else np.swapaxes(self.w * np.swapaxes(gap, 0, -1), 0, -1)
        return exact(found, np.sum(weighted**2))


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
    if task == 1:
        refuse_option("splrep", "task=1", instead=ANEW)
    if per and t is not None:
        refuse_option("splrep", "per", "t")
    plain = {key: fixed(value) for key, value in given.items()}
    plain |= {"k": k, "task": task, "full_output": 1, "per": per}
    found, *rest = call_outside(splrep_of_scipy, (copied(x), copied(y)), plain)
    w = None if w is None else as_arrays(w)[0]
    fit = Fit("splrep", x, y, w, (xb, xe), k, s)
    if per:
        pair = fit.closed(found[0], found[1], rest[0], rest[1])
    else:
        pair = fit.spline(found[0], found[1], rest[0], rest[1], t)
    if not full_output:
        return (*pair, k)
    return (*pair, k), fit.misfit(pair, rest[0]), *rest[1:]


splprep_of_scipy = interpolate.splprep


@serves(interpolate.splprep)
def splprep(
    x: Any, w: Any = None, u: Any = None, ub: Any = None, ue: Any = None, k: int = 3,
    task: int = 0, s: Any = None, t: Any = None, full_output: int = 0, nest: Any = None,
    per: int = 0, quiet: int = 1,
) -> Any:  # fmt: skip
    y = np.stack([as_array(column) for column in x], axis=1)
    given = {"w": w, "u": u, "ub": ub, "ue": ue, "s": s, "t": t}
    if task == 1:
        refuse_option("splprep", "task=1", instead=ANEW)
    if per and t is not None:
        refuse_option("splprep", "per", "t")
    plain = {key: fixed(value) for key, value in given.items()}
    plain |= {"k": k, "task": task, "nest": nest, "full_output": 1, "per": per}
    (tck, found_u), fp, ier, text = call_outside(splprep_of_scipy, (list(copied(y).T),), plain)
    if per:
        y = np.concatenate([y[:-1], y[:1]])
    if u is None:
        steps = np.sqrt(np.sum(np.diff(y, axis=0) ** 2, axis=1))
        u = np.concatenate([np.zeros(1), np.cumsum(steps)]) / np.sum(steps)
    inner = None if t is None else as_array(t)[k + 1 : -k - 1]
    w = None if w is None else as_array(w)
    u = exact(found_u, as_array(u))
    fit = Fit("splprep", u, y, w, (ub, ue), k, s)
    columns = np.stack(tck[1], axis=1)
    pair = (
        fit.closed(tck[0], columns, fp, ier) if per else fit.spline(tck[0], columns, fp, ier, inner)
    )
    out = [pair[0], [pair[1][:, i] for i in range(y.shape[1])], k], u
    return (out, fit.misfit(pair, fp), ier, text) if full_output else out


def copied(x: Any) -> Any:
    """A plain copy, since FITPACK writes into its arguments."""
    x = fixed(x)
    return x.copy() if isinstance(x, np.ndarray) else x


def completed(found: Any, x: Any, y: Any, w: Any, ends: Any, s: Any, t: Any = None) -> Any:
    """FITPACK's plain (x, y, w, xb, xe, k, s, n, t, c, fp, fpint, nrdata, ier) with derivatives."""
    found = list(found)
    s = found[6] if s is None else s
    fit = Fit("UnivariateSpline", x, y, w, ends, found[5], s)
    found[:5] = x, y, found[2] if w is None else w, fit.low, fit.high
    found[6] = s
    if found[-1] == AGAIN and t is None:
        return tuple(found)
    n = found[7]
    inner = None if t is None else t[fit.k + 1 : -fit.k - 1]
    pair = fit.spline(found[8][:n], found[9][:n], found[10], found[-1], inner)
    found[10] = fit.misfit(pair, found[10])
    for i, part in zip((8, 9), pair, strict=True):
        found[i] = np.concatenate([part, np.zeros(len(found[i]) - n)])
    return tuple(found)


# Fits of curves are three functions until SciPy 1.17, and one since.


@rule_of("fpcurf0")
def fpcurf0(x, y, k, w=None, xb=None, xe=None, s=None):
    given = {"w": w, "xb": xb, "xe": xe, "s": s}
    plain = {key: copied(value) for key, value in given.items() if value is not None}
    found = native.fpcurf0(copied(x), copied(y), k, **plain)
    return completed(found, as_array(x), as_array(y), w, (xb, xe), s)


@rule_of("fpcurf1")
def fpcurf1(x, y, w, xb, xe, k, s, *rest):
    found = native.fpcurf1(*[copied(value) for value in (x, y, w, xb, xe, k, s, *rest)])
    return completed(found, as_array(x), as_array(y), as_array(w), (xb, xe), s)


@rule_of("fpcurfm1")
def fpcurfm1(x, y, k, t, w=None, xb=None, xe=None):
    given = {"w": w, "xb": xb, "xe": xe}
    plain = {key: copied(value) for key, value in given.items() if value is not None}
    found = native.fpcurfm1(copied(x), copied(y), k, copied(t), **plain)
    return completed(found, as_array(x), as_array(y), w, (xb, xe), None, as_array(t))


def curve_fit_in_c(x, y, k, w=None, xb=None, xe=None, s=None, nest=None, iopt=0, t=None, **more):
    given = {"w": w, "xb": xb, "xe": xe, "s": s, "nest": nest, "iopt": iopt, "t": t, **more}
    plain = {key: copied(value) for key, value in given.items()}
    found = CURFIT(copied(x), copied(y), k, **plain)
    t = as_array(t) if iopt == GIVEN else None
    return completed(found, as_array(x), as_array(y), w, (xb, xe), s, t)


if CURFIT is not None:
    serves_method(CURFIT)(curve_fit_in_c)


@rule_of("fpchec")
def fpchec(*args):
    return native.fpchec(*map(fixed, args))


# The same fits in Python, and knots that are added.

make_of_scipy = _fitpack_repro._make_splrep_impl


@serves_method(make_of_scipy)
def make_splrep(x, y, w, xb, xe, k, s, t, nest, periodic, xp=np):
    given = x, y, w, xb, xe, k, s, t, nest, periodic
    found = call_outside(make_of_scipy, tuple(map(copied, given)), {"xp": np})
    if not any(map(is_live, given)):
        return found
    if is_live(t):
        refuse_option("make_splrep", "t", instead="Pass `t` as plain numbers.")
    if periodic:
        refuse_option("make_splrep", "bc_type='periodic'")
    x, y, w = as_arrays(x, y, w)
    gap = fixed(w)[:, None] * (fixed(y) - found(fixed(x)))
    fit = Fit("make_splrep", x, y, w, (xb, xe), k, s)
    knots, c = fit.spline(found.t, found.c, np.sum(gap**2), SMOOTHS)
    return CALLS[interpolate.BSpline.construct_fast](knots, c, k)


insert_of_scipy = interpolate.insert


@serves(interpolate.insert)
def insert(x: Any, tck: Any, m: int = 1, per: bool = False) -> Any:
    spline = isinstance(tck, interpolate.BSpline)
    t, c, k = tck.tck if spline else tck
    if not any(map(is_live, (x, t, c, *c))):
        return traced(insert_of_scipy)(x, tck, m, per)
    if per:
        refuse_option("insert", "per")
    if spline:
        return CALLS[interpolate.BSpline](*insert(x, (t, c, k), m))
    if np.ndim(c[0]):
        parts = [insert(x, (t, part, k), m) for part in c]
        return parts[0][0], [part[1] for part in parts], k
    n = len(t) - k - 1
    found = call_outside(insert_of_scipy, (fixed(x), tuple(map(copied, tck)), m), {})
    spline = CALLS[CALLS[interpolate.BSpline](t, as_array(c)[:n], k).insert_knot](x, m)
    rest = np.zeros(len(found[1]) - spline.c.shape[0])
    return exact(found[0], spline.t), exact(found[1], np.concatenate([spline.c, rest])), k


# Two variables.


def within(tx: Any, ty: Any, c: Any, x: Any, y: Any, kx: int, ky: int) -> Any:
    """The coefficients as a table, and the points; FITPACK clips outer points to the border."""
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
    return tensor(c, [reaching(tx, kx, x, nux), reaching(ty, ky, y, nuy)])


def points_found(tx: Any, ty: Any, c: Any, x: Any, y: Any, *, kx: int, ky: int, nux: int, nuy: int):
    if nux == nuy == 0:
        return native.bispeu(tx, ty, c, kx, ky, x, y)[0]
    return native.pardeu(tx, ty, c, kx, ky, nux, nuy, x, y)[0]


on_grid = Following(
    "bispev", surface_found, surface, lambda tx, ty, c, x, y, **_: (x.shape[0], y.shape[0])
)
at_points = Following(
    "bispeu",
    points_found,
    points_of,
    lambda tx, ty, c, x, y, **_: x.shape,
    same_bits=of_no_order,
)


def two_variables(name: str, primitive: Any, orders: bool) -> None:
    @rule_of(name)
    def rule(tx, ty, c, kx, ky, *args):
        (nux, nuy), (x, y) = (args[:2], args[2:4]) if orders else ((0, 0), args[:2])
        tx, ty, c, x, y = as_arrays(tx, ty, c, np.atleast_1d(x), np.atleast_1d(y))
        return primitive(tx, ty, c, x, y, kx=kx, ky=ky, nux=nux, nuy=nuy), 0


two_variables("bispev", on_grid, False)
two_variables("parder", on_grid, True)
two_variables("bispeu", at_points, False)
two_variables("pardeu", at_points, True)


def slope_of(t: Any, c: Any, k: int, nu: int) -> Any:
    """The coefficients of the nu-th derivative, along the first axis."""
    for order in range(nu):
        degree, knots = k - order, t[order : t.shape[0] - order]
        width = knots[degree + 1 : -1] - knots[1 : -degree - 1]
        c = degree * (c[1:] - c[:-1]) / width[:, None]
    return c


def slopes_found(tx: Any, ty: Any, c: Any, *, kx: int, ky: int, nux: int, nuy: int) -> Any:
    return native.pardtc(tx, ty, c, kx, ky, nux, nuy)[0]


def slopes(tx: Any, ty: Any, c: Any, *, kx: int, ky: int, nux: int, nuy: int) -> Any:
    """The coefficients of a derivative; the rest of the array isn't read."""
    table = np.reshape(c, (tx.shape[0] - kx - 1, ty.shape[0] - ky - 1))
    rows = slope_of(tx, table, kx, nux)
    flat = np.swapaxes(slope_of(ty, np.swapaxes(rows, 0, 1), ky, nuy), 0, 1).reshape(-1)
    return np.concatenate([flat, np.zeros(c.shape[0] - flat.shape[0])])


partial_derivative = Following("pardtc", slopes_found, slopes, lambda tx, ty, c, **_: c.shape)


@rule_of("pardtc")
def pardtc(tx, ty, c, kx, ky, nux, nuy):
    """SciPy has looked at the orders."""
    tx, ty, c = as_arrays(tx, ty, c)
    orders = {"kx": int(kx), "ky": int(ky), "nux": int(nux), "nuy": int(nuy)}
    return partial_derivative(tx, ty, c, **orders), 0


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


@rule_of("dblint")
def dblint(tx, ty, c, kx, ky, *ends):
    tx, ty, c = as_arrays(tx, ty, c)
    return like(0.0, double_integral(tx, ty, c, np.stack(as_arrays(*ends)), kx=kx, ky=ky))


def border_knots(x: Any, low: Any, high: Any, k: int, found: Any, ier: int) -> Any:
    """The knots along one axis, by the data that FITPACK chose."""
    low, high = x[0] if low is None else low, x[-1] if high is None else high
    if ier == INTERPOLATES:
        return knots_of(x, low, high, k)
    inner = data_at(x, found[k + 1 : -k - 1])
    if inner is None or ier > SMOOTHS:
        refuse_fit("RectBivariateSpline")
    return with_ends(inner, low, high, k)


@rule_of("regrid_smth")
def surface_fit(x, y, z, xb, xe, yb, ye, kx, ky, s, *args):
    x, y, z = as_arrays(x, y, z)
    plain = [fixed(v) for v in (x, y, z, xb, xe, yb, ye, kx, ky, s, *args)]
    nx, found_tx, ny, found_ty, found_c, fp, ier = regrid_smth(*plain)
    ends = [(x, xb, xe, kx, found_tx[:nx]), (y, yb, ye, ky, found_ty[:ny])]
    tx, ty = [border_knots(*end, ier) for end in ends]
    z = np.reshape(z, (x.shape[0], y.shape[0]))
    if ier == SMOOTHS and max(nx - 2 * kx, ny - 2 * ky) > 2:
        surface = SmoothSurface(Axis(x, tx, kx), Axis(y, ty, ky), z)
        u: Any = surface.weight_of(
            found_c[: (nx - kx - 1) * (ny - ky - 1)].reshape(nx - kx - 1, -1)
        )
        if u is None:
            refuse_fit("RectBivariateSpline")
        c = surface.solved(u, fixed(fp) * (s / plain[9]) if is_live(s) else fixed(fp))
    else:
        rows = fitted(x, z, None, tx, kx)
        c = np.swapaxes(fitted(y, np.swapaxes(rows, 0, 1), None, ty, ky), 0, 1)
    rest = [np.zeros(len(f) - n) for f, n in ((found_tx, nx), (found_ty, ny))]
    tx = exact(found_tx, np.concatenate([tx, rest[0]]))
    ty = exact(found_ty, np.concatenate([ty, rest[1]]))
    c = c.reshape(-1)
    c = np.concatenate([c, np.zeros(len(found_c) - c.shape[0])])
    return nx, tx, ny, ty, exact(found_c, c), fp, ier
