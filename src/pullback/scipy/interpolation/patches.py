"""FITPACK's surfaces through scattered points: bisplrep, LSQBivariateSpline, SmoothBivariateSpline.

With B[i, (a, b)] the product of the a-th B-spline in x and the b-th in y at the i-th point, the
coefficients c minimise

    |w (z - B c)|^2

if the knots are given, or there are no inner knots. Inner knots that FITPACK chooses are means of
the points, weighted by the residuals of an earlier fit. They move with the data in a way that only
FITPACK knows, so such fits are refused.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from scipy import interpolate

from ...core.errors import MissingRuleError
from ...core.reach.session import call_outside
from ...primitives.exact import exact
from ..solving.serving import serves, traced
from ..sparse_arrays.patterns import fixed, is_live
from . import native_fitpack
from .basis import bspline
from .fitpack import ANEW, as_arrays, copied, refuse_option, with_ends
from .native_fitpack import rule_of

WITHOUT_MORE_KNOTS = (1, 4, 5)  # FITPACK's codes: the least squares of the knots that it has


class Patch:
    """A fit to z[i] with weights w[i] at x[i], y[i], with its knots along both axes."""

    instead = (
        "Give the knots (`LSQBivariateSpline`, or `bisplrep` with `task=-1`), or use"
        " `RBFInterpolator` or `CloughTocher2DInterpolator`."
    )

    def __init__(self, name: str, points: Any, w: Any, degrees: Any) -> None:
        self.name, self.degrees = name, degrees
        self.x, self.y, self.z = points
        self.w = w

    def knots(self, axis: int, ends: Any, given: Any, found: Any) -> Any:
        """Those that were given, or none inside."""
        x, k = (self.x, self.y)[axis], self.degrees[axis]
        low = np.min(x) if ends[0] is None else ends[0]
        high = np.max(x) if ends[1] is None else ends[1]
        t = with_ends(np.zeros(0) if given is None else given, low, high, k)
        if t.shape != found.shape:
            self.refuse("with inner knots that FITPACK chooses: they move with the data")
        return exact(found, t)

    def refuse(self, what: str) -> NoReturn:
        raise MissingRuleError(f"`{self.name}` has no derivative {what}.\n  {self.instead}")

    def equations(self, tx: Any, ty: Any, spread: Any = None) -> tuple[Any, Any]:
        """A matrix of the coefficients, and what it should give.

        spread: the coefficients of all B-splines from those that are free; None if all are.
        """
        rows = [
            bspline(t, np.eye(t.shape[0] - k - 1), k, x)
            for t, k, x in zip((tx, ty), self.degrees, (self.x, self.y), strict=True)
        ]
        basis = (rows[0][:, :, None] * rows[1][:, None, :]).reshape(self.z.shape[0], -1)
        if spread is not None:
            basis = basis @ spread
        if self.w is None:
            return basis, self.z
        return self.w[:, None] * basis, self.w * self.z

    def solved(self, tx: Any, ty: Any, found: Any, ier: int, spread: Any = None) -> tuple[Any, Any]:
        """The coefficients, and the sum of squares that is left over."""
        if not -2 <= ier <= 0 and ier not in WITHOUT_MORE_KNOTS:
            self.refuse("where its points do not determine the surface")
        basis, wanted = self.equations(tx, ty, spread)
        free = np.linalg.lstsq(basis, wanted, rcond=None)[0]
        c = free if spread is None else spread @ free
        n = c.shape[0]
        if not np.allclose(fixed(c), found[:n], rtol=1e-6, atol=1e-6 * np.max(np.abs(found[:n]))):
            self.refuse("where its points hardly determine the surface")
        left = np.sum((wanted - basis @ free) ** 2)
        return exact(found, np.concatenate([c, np.zeros(len(found) - n)])), left


def padded(t: Any, found: Any) -> Any:
    """Knots in an array as long as FITPACK's."""
    return exact(found, np.concatenate([t, np.zeros(len(found) - t.shape[0])]))


def weights(w: Any) -> Any:
    return None if w is None else as_arrays(w)[0]


of_scipy = interpolate.bisplrep


@serves(interpolate.bisplrep)
def bisplrep(
    x: Any, y: Any, z: Any, w: Any = None, xb: Any = None, xe: Any = None, yb: Any = None,
    ye: Any = None, kx: int = 3, ky: int = 3, task: int = 0, s: Any = None, eps: float = 1e-16,
    tx: Any = None, ty: Any = None, full_output: int = 0, nxest: Any = None, nyest: Any = None,
    quiet: int = 1,
) -> Any:  # fmt: skip
    given = {"w": w, "xb": xb, "xe": xe, "yb": yb, "ye": ye, "s": s, "tx": tx, "ty": ty}
    rest = {"kx": kx, "ky": ky, "task": task, "eps": eps, "nxest": nxest, "nyest": nyest}
    if not any(map(is_live, (x, y, z, *given.values()))):
        return traced(of_scipy)(x, y, z, **given, **rest, full_output=full_output, quiet=quiet)
    if task == 1:
        refuse_option("bisplrep", "task=1", instead=ANEW)
    points = [np.ravel(part) for part in as_arrays(x, y, z)]
    plain = {key: copied(value) for key, value in given.items()}
    (found_tx, found_ty, found_c, *_), fp, *said = call_outside(
        of_scipy, tuple(map(copied, points)), {**plain, **rest, "full_output": 1}
    )
    patch = Patch("bisplrep", points, weights(w), (kx, ky))
    inner = [None, None]
    if task == -1:
        inner = [as_arrays(t)[0][k + 1 : -k - 1] for t, k in ((tx, kx), (ty, ky))]
    tx = patch.knots(0, (xb, xe), inner[0], found_tx)
    ty = patch.knots(1, (yb, ye), inner[1], found_ty)
    c, left = patch.solved(tx, ty, found_c, said[0])
    tck = [tx, ty, c, kx, ky]
    return (tck, exact(np.float64(fp), left), *said) if full_output else tck


@rule_of("surfit_smth")
def surfit_smth(x, y, z, w=None, xb=None, xe=None, yb=None, ye=None, kx=3, ky=3, s=None, **more):
    given = {"w": w, "xb": xb, "xe": xe, "yb": yb, "ye": ye, "kx": kx, "ky": ky, "s": s, **more}
    plain = {key: copied(value) for key, value in given.items()}
    found = native_fitpack.surfit_smth(*map(copied, (x, y, z)), **plain)
    nx, found_tx, ny, found_ty, found_c, fp, work, ier = found
    if ier > 10:  # SciPy calls again, with more room
        return found
    patch = Patch("SmoothBivariateSpline", as_arrays(x, y, z), weights(w), (kx, ky))
    tx = patch.knots(0, (xb, xe), None, found_tx[:nx])
    ty = patch.knots(1, (yb, ye), None, found_ty[:ny])
    c, left = patch.solved(tx, ty, found_c, ier)
    fp = exact(np.float64(fp), left)
    return nx, padded(tx, found_tx), ny, padded(ty, found_ty), c, fp, work, ier


def ends_of(x: Any, t: Any) -> tuple[Any, Any]:
    """SciPy's ends where none are given; t has zeros around the inner knots."""
    low, high, first, last = np.min(x), np.max(x), np.min(t), np.max(t)
    if fixed(first) <= fixed(low):
        low = first - (last - first) / t.shape[0]
    if fixed(last) >= fixed(high):
        high = last + (first - last) / t.shape[0]
    return low, high


@rule_of("surfit_lsq")
def surfit_lsq(
    x, y, z, nx, tx, ny, ty, w=None, xb=None, xe=None, yb=None, ye=None, kx=3, ky=3, eps=None,
    **more,
):  # fmt: skip
    given = {"w": w, "xb": xb, "xe": xe, "yb": yb, "ye": ye, "kx": kx, "ky": ky, "eps": eps}
    plain = {key: copied(value) for key, value in given.items()}
    found = native_fitpack.surfit_lsq(*map(copied, (x, y, z, nx, tx, ny, ty)), **plain, **more)
    if found[-1] > 10:  # SciPy calls again, with more room
        return found
    patch = Patch("LSQBivariateSpline", as_arrays(x, y, z), weights(w), (kx, ky))
    knots = []
    for axis, (n, t, ends) in enumerate(((nx, tx, (xb, xe)), (ny, ty, (yb, ye)))):
        k, usual = patch.degrees[axis], ends_of((x, y)[axis], t[:n])
        both = [a if end is None else end for end, a in zip(ends, usual, strict=True)]
        knots.append(patch.knots(axis, both, t[k + 1 : n - k - 1], found[axis][:n]))
    c, left = patch.solved(knots[0], knots[1], found[2], found[-1])
    fp = exact(np.float64(found[3]), left)
    return padded(knots[0], found[0]), padded(knots[1], found[1]), c, fp, found[-1]
