"""References for the derivatives of programs that call solvers.

Differences of such a program see where its solver stops: an optimum is known to the solver's own
tolerance, the next one to another part of it. Here the same program is asked with the default
tolerances of SciPy's solvers tightened, which takes that away; what remains, the last bits of
sums, is averaged over many points. What a program says to its solver itself stays as it is, but
for initial value problems, whose steps are otherwise seen in derivatives.
"""

import inspect
import sys
import types
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate
from scipy.integrate._ivp import common
from scipy.integrate._ivp.rk import RungeKutta
from scipy.optimize import _optimize

# Names under which SciPy's solvers take a tolerance at which they stop.
TOLERANCES = {
    "tol", "ftol", "xtol", "gtol", "rtol", "atol", "xatol", "fatol", "epsabs", "epsrel",
    "avextol", "catol", "barrier_tol", "f_min",
}  # fmt: skip
TIGHT = 1e-12
WHERE = ("scipy.optimize.", "scipy.integrate.")
WIDTHS = (3e-2, 1e-2, 3e-3, 1e-3)
N_NODES, DEGREE = 24, 11
NODES = np.cos(np.pi * (np.arange(N_NODES) + 0.5) / N_NODES)
BASIS = np.polynomial.chebyshev.chebvander(NODES, DEGREE)
# Times values at the nodes: the derivative at 0 of the polynomial.
ENDS = np.polynomial.chebyshev.chebder(np.eye(DEGREE + 1), axis=0)
ROW = np.polynomial.chebyshev.chebval(0.0, ENDS) @ np.linalg.pinv(BASIS)
WORST = 1e-4  # standard error above which differences tell nothing, beside the derivative
# How far the derivatives at a program's own tolerances and at tight ones may be apart, of their
# scale, and how much more of the change of the value.
LOOSE, LEFT = 1e-3, 100.0


def solvers():
    """Functions of SciPy's solvers, methods of their classes included."""
    found = {integrate.odeint}
    for name, module in list(sys.modules.items()):
        if name.startswith(WHERE):
            for x in vars(module).values():
                members = vars(x).values() if isinstance(x, type) else [x]
                found |= {inspect.unwrap(f) for f in members if type(f) is types.FunctionType}
    return [f for f in found if str(f.__module__).startswith(("scipy.optimize", "scipy.integrate"))]


def tighter(f):
    """The defaults of a function, by position and by keyword, with tolerances that are tight."""
    tight = {}
    for name, parameter in inspect.signature(f, follow_wrapped=False).parameters.items():
        x = parameter.default
        is_default = x is None and f is integrate.odeint  # which has its tolerances in C
        if name in TOLERANCES and (is_default or (type(x) is float and x > TIGHT)):
            tight[name] = TIGHT
        if name == "jac" and x == "2-point":
            tight[name] = "3-point"
    code, defaults = f.__code__, f.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
    positional = tuple([tight.get(n, x) for n, x in zip(names, defaults, strict=True)])
    keywords = {n: tight.get(n, x) for n, x in (f.__kwdefaults__ or {}).items()}
    return positional or None, keywords or None


STEPPERS = ("rk", "bdf", "radau", "lsoda")


def validate_tighter(rtol, atol, n):
    """What the steps of `solve_ivp` are held to, also where a program says so itself."""
    rtol, atol = common.validate_tol(rtol, atol, n)
    stricter = max(rtol * 1e-4, TIGHT)
    return min(rtol, stricter), atol * min(stricter / rtol, 1.0)


PREPARE, PREPARED = "_prepare_scalar_function", _optimize._prepare_scalar_function


def prepared_by_three_points(fun, x0, jac=None, *args, **options):
    """A minimum that SciPy searches by differences of its own, by ones of a higher order."""
    return PREPARED(fun, x0, "3-point" if jac is None else jac, *args, **options)


@contextmanager
def tightened():
    """SciPy's solvers stop at tight tolerances where a program doesn't say another.

    Those of initial value problems are tightened in any case, and slopes by differences are exact
    to more digits: by two points they leave a minimum with the half of its digits.
    """
    callers = [vars(m) for n, m in list(sys.modules.items()) if n.startswith(WHERE)]
    callers = [m for m in callers if PREPARE in m]
    before = [(f, f.__defaults__, f.__kwdefaults__) for f in solvers()]
    steppers = [vars(sys.modules[f"scipy.integrate._ivp.{name}"]) for name in STEPPERS]
    try:
        for f, _, _ in before:
            f.__defaults__, f.__kwdefaults__ = tighter(f)
        for scope in steppers:
            scope["validate_tol"] = validate_tighter
        for scope in callers:
            scope[PREPARE] = prepared_by_three_points
        yield
    finally:
        for scope in callers:
            scope[PREPARE] = PREPARED
        for scope in steppers:
            scope["validate_tol"] = common.validate_tol
        for f, defaults, keywords in before:
            f.__defaults__, f.__kwdefaults__ = defaults, keywords


def with_steps_held(along):
    """A program along a line whose explicit methods take the steps that they take at its middle.

    Derivatives hold the steps, and so have to differences of a program that reads where they end.
    Otherwise there are other steps beside it, even another number of them.
    """
    sizes, own = [], RungeKutta._step_impl

    def noting(self):
        start = self.t
        found = own(self)
        sizes.append(abs(self.t - start))
        return found

    def at(t):
        left = iter(sizes)

        def repeating(self):
            self.h_abs, self.rtol = next(left), np.inf  # any error is small enough
            return own(self)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(RungeKutta, "_step_impl", repeating)
            out = along(t)
        assert not list(left), "fewer steps than at the middle"
        return out

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RungeKutta, "_step_impl", noting)
        along(0.0)
    assert sizes, "no explicit method was stepped"
    return at


def extrapolated(f, steps):
    """The derivative of f at 0 by Richardson's extrapolation of central differences."""
    row = [(f(h) - f(-h)) / (2 * h) for h in steps]
    for k in range(1, len(steps)):
        row = [b + (b - a) / (4**k - 1) for a, b in pairwise(row)]
    return row[0]


def slope(f, widths=WIDTHS):
    """The derivative of f at 0, and the standard error of this.

    A polynomial through many points averages the noise of f. What it leaves, noise and higher
    powers alike, is the error; of several widths the one with the least error is taken. Where f
    itself raises, or isn't finite, there is none for this width.
    """
    found = [estimate for width in widths if (estimate := fitted(f, width)) is not None]
    error, value = min(found, default=(np.inf, np.nan))
    return value, error


def fitted(f, width):
    """(standard error, derivative) of f at 0 by its values within a width; None: it has none."""
    try:
        with np.errstate(all="ignore"):
            ys = np.array([f(width * x) for x in NODES])
    except (ArithmeticError, ValueError, RuntimeError):
        return None
    if not np.all(np.isfinite(ys)):
        return None
    rest = ys - BASIS @ np.linalg.lstsq(BASIS, ys)[0]
    error = np.linalg.norm(ROW) * np.sqrt(rest @ rest / (N_NODES - DEGREE - 1))
    return error / width, ROW @ ys / width


def disagreement(value, along, tight=None, scale=1.0, tolerance=3e-6, size=1.0):
    """None if the derivative is that of a program along a line, or how far it is off, as text.

    It has to agree within the tolerance and three standard errors of the differences. If it
    doesn't, the solvers have stopped too soon to tell: then it's asked with tight tolerances.

    Args:
        value: the derivative by pullback
        along: the program along the line
        tight: a function that gives the derivative by pullback again, with tight tolerances
        scale: of the derivative
        size: of the arguments, if it is more than 1
    """
    slack, widths = tolerance * scale, tuple([width * size for width in WIDTHS])
    change, error = slope(along, widths)
    if error <= WORST * scale and abs(value - change) <= slack + 3 * error:
        return None
    first = f"{abs(value - change) / scale:.1e} (+- {error / scale:.0e})"
    if tight is None:
        return first
    with tightened():
        inner, (change, error), there = tight(), slope(along, widths), along(0.0)
    if not (error <= WORST * scale and abs(inner - change) <= slack + 3 * error):
        return f"{first}, tightened {abs(inner - change) / scale:.1e} (+- {error / scale:.0e})"
    # A solver's tolerance leaves more of a derivative than of the value, but not without bound.
    moved = abs(along(0.0) - there) / max(abs(there), 1e-3)
    if not abs(value - inner) <= (LOOSE + LEFT * moved) * scale:  # NaN is none of both
        return f"{first}, {abs(value - inner) / scale:.1e} from tightened, the value {moved:.1e}"
    return None
