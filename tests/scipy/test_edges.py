"""Kinks and jumps that no comparison shows: roots at 0, branch cuts, poles, in ways to write them.

    y' = k(t, p) (1 + t), y(0) = 0.5, or an integrand of t, on [0, 2]

They are integrated exactly between the kinks, which lie at times in proportion to p or to 1 / p.
"""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, special

import pullback as pb
from pullback.core.registry import UFUNCS
from pullback.scipy.integration import switching

P = 0.8037
AT_P, HALVES, THIRDS = (1.0,), np.arange(1, 8) / 2, np.arange(1, 4) / 3

# What is computed, and where it has kinks or jumps: multiples of p, or of pi / p.
KINKS = {
    "sqrt": (lambda t, p: np.sqrt((t - p) ** 2), AT_P, ()),
    "power": (lambda t, p: ((t - p) ** 2) ** 0.5, AT_P, ()),
    "math": (lambda t, p: math.sqrt((t - p) ** 2), AT_P, ()),
    "norm": (lambda t, p: np.linalg.norm(np.stack([t - p])), AT_P, ()),
    "hypot": (lambda t, p: np.hypot(t - p, 0), AT_P, ()),
    "log": (lambda t, p: np.exp(0.5 * np.log((t - p) ** 2)), AT_P, ()),
    "std": (lambda t, p: np.std(np.stack([t, p])), AT_P, ()),
    "complex": (lambda t, p: np.abs((t - p) * (1 + 1j)), AT_P, ()),
    "arccosh": (lambda t, p: np.arccosh(np.cosh(t - p)), AT_P, ()),
    "arcsin": (lambda t, p: np.arcsin(np.sin(p * t)), (), HALVES),
    "jv": (lambda t, p: special.jv(0.5, (t - p) ** 2), AT_P, ()),
    "boxcox": (lambda t, p: special.boxcox((t - p) ** 2, 0.5), AT_P, ()),
    "agm": (lambda t, p: special.agm((t - p) ** 2, 1.0), AT_P, ()),
}
JUMPS = {
    "quotient": (lambda t, p: (t - p) / np.sqrt((t - p) ** 2), AT_P, ()),
    "over abs": (lambda t, p: (t - p) / np.abs(t - p), AT_P, ()),
    "over norm": (lambda t, p: (t - p) / np.linalg.norm(np.stack([t - p])), AT_P, ()),
    "arctan": (lambda t, p: np.arctan(1 / (t - p)), AT_P, ()),
    "reciprocal": (lambda t, p: np.tanh(np.reciprocal(t - p)), AT_P, ()),
    "odd power": (lambda t, p: np.arctan((t - p) ** -3), AT_P, ()),
    "tan": (lambda t, p: np.arctan(np.tan(p * t)), (), HALVES),
    "arctan2": (lambda t, p: np.arctan2(np.sin(3 * p * t), np.cos(3 * p * t)), (), THIRDS),
    "angle": (lambda t, p: np.angle(np.exp(3j * p * t)), (), THIRDS),
    "zetac": (lambda t, p: np.arctan(special.zetac(1 + t - p)), AT_P, ()),
    "through 0": (lambda t, p: np.arctan2(t - p, 0.0), AT_P, ()),
}
STEEP = {  # slopes are infinite
    "cbrt": (lambda t, p: np.cbrt(t - p), AT_P, ()),
    "third": (lambda t, p: ((t - p) ** 2) ** (1 / 3), AT_P, ()),
    "root of abs": (lambda t, p: np.sqrt(np.abs(t - p)), AT_P, ()),
    "root ahead": (lambda t, p: np.sqrt(np.maximum(t - p, 0)), AT_P, ()),
}
REMOVABLE = {  # 0 / 0 at p, and smooth
    "over expm1": (lambda t, p: (t - p) / np.expm1(t - p), (), ()),
    "rate": (lambda t, p: 0.1 * (t - p) / (1 - np.exp(-(t - p) / 0.3)), (), ()),
    "sine": (lambda t, p: np.sin(3 * (t - p)) / (t - p), (), ()),
    "log1p": (lambda t, p: np.log1p(t - p) / (t - p), (), ()),
    "of squares": (lambda t, p: (t**2 - p**2) / (t - p), (), ()),
    "difference": (lambda t, p: (np.exp(t) - np.exp(p)) / (t - p), (), ()),
    "inverted": (lambda t, p: 1 / (np.tanh(t - p) / np.arctan(t - p)), (), ()),
}
EVERY = {**KINKS, **JUMPS, **STEEP}
WITH_REMOVABLE = {**EVERY, **REMOVABLE}
WAYS = ("RK45", "DOP853", "LSODA", "Radau", "odeint", "ode")


def reference(name, p):
    k, of_p, of_pi = WITH_REMOVABLE[name]
    inside = [c * p for c in of_p] + [c * math.pi / p for c in of_pi]
    ends = np.array(sorted({0.0, 2.0} | {c for c in inside if 0 < c < 2}))
    x, w = np.polynomial.legendre.leggauss(40)
    x, w, total = (x + 1) / 2, w / 2, 0.0
    for a, b in pairwise(ends):
        for end, middle in ((a, (a + b) / 2), (b, (a + b) / 2)):
            t = end + (middle - end) * x**3
            values = np.array([k(s, p) * (1 + s) for s in t])
            total += np.sum(w * 3 * x**2 * values) * abs(middle - end)
    return total


def slopes(name, p=P, by=1e-3):
    """The first two derivatives, by differences."""
    at = np.array([reference(name, p + n * by) for n in range(-2, 3)])
    first = (at[0] - 8 * at[1] + 8 * at[3] - at[4]) / (12 * by)
    return first, (-at[0] + 16 * at[1] - 30 * at[2] + 16 * at[3] - at[4]) / (12 * by**2)


def solved(name, way, **how):
    k = WITH_REMOVABLE[name][0]

    def end(p):
        fun = lambda t, y: np.stack([k(t, p) * (1 + t) + 0.0 * y[0]])
        if way == "odeint":
            return integrate.odeint(lambda y, t: fun(t, y), [0.5], [0.0, 2.0], mxstep=5000)[-1, 0]
        if way == "ode":
            solver = integrate.ode(fun).set_integrator("dopri5", nsteps=5000)
            return solver.set_initial_value([0.5], 0.0).integrate(2.0)[0]
        return integrate.solve_ivp(fun, (0, 2), [0.5], method=way, **how).y[0, -1]

    return end


@pytest.mark.share(64)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", EVERY)
def test_initial_value_problems(name, way):
    if name == "math" and way != "RK45":
        pytest.skip("asked of one method, as the others take the same right-hand side")
    end, near = (
        solved(name, way),
        pytest.approx(slopes(name)[0], rel=2e-4 if way == "Radau" else 5e-5),
    )
    assert pb.grad(end)(P) == near
    assert pb.jvp(end, (P,), (1.0,))[1] == near


@pytest.mark.share(12)
@pytest.mark.parametrize("name", EVERY)
def test_second_derivatives_of_initial_value_problems(name):
    """Right, or a pole or NaN that is loud."""
    end = solved(name, "RK45", rtol=1e-6, atol=1e-8)
    found = pb.grad(pb.grad(end))(P)
    assert np.isnan(found) or found == pytest.approx(slopes(name)[1], rel=2e-4)


@pytest.mark.share(36)
@pytest.mark.parametrize("name", WITH_REMOVABLE)
def test_integrals(name):
    """Both derivatives, or a refusal, as where those of the integrand can't be integrated."""
    k, (first, second) = WITH_REMOVABLE[name][0], slopes(name)
    f = lambda p: integrate.quad(lambda t: k(t, p) * (1 + t), 0, 2)[0]
    for g, expected in ((pb.grad(f), first), (pb.grad(pb.grad(f)), second)):
        try:
            found = g(P)
        except (pb.SolverError, pb.MissingRuleError):
            continue
        assert not np.isfinite(found) or found == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("way", ["RK45", "LSODA"])
def test_of_states(way):
    """y' = 0.4 + |y - p| from y(0) = 0.1 on, which has a closed form."""
    end = lambda p: integrate.solve_ivp(
        lambda t, y: np.sqrt((y - p) ** 2) + 0.4, (0, 2), [0.1], method=way
    ).y[0, -1]
    exact = lambda p: p - 0.4 + 0.4 * np.exp(2.0 - np.log((p + 0.3) / 0.4))
    by = 1e-5
    assert pb.grad(end)(P) == pytest.approx((exact(P + by) - exact(P - by)) / (2 * by), rel=1e-5)


def test_what_only_comes_near_to_an_edge_is_smooth():
    def end(p, rtol=1e-8):
        slope = lambda t, y: np.sqrt(0.01 + (t - p) ** 2) / (1 + p * t)
        return integrate.solve_ivp(slope, (0, 2), [0.5], rtol=rtol, atol=1e-12).y[0, -1]

    differences = (end(P + 1e-4, 1e-11) - end(P - 1e-4, 1e-11)) / 2e-4
    assert pb.grad(end)(P) == pytest.approx(differences, rel=1e-6)


STARTS = {  # slopes that are infinite where the solution begins
    "root": lambda t, p: np.sqrt(p * t),
    "third": lambda t, p: (2 * p * t) ** (1 / 3),
    "of two": lambda t, p: np.sqrt(t * (1 + p * t)),
}


@pytest.mark.parametrize("way", ["RK45", "DOP853", "LSODA", "odeint"])
@pytest.mark.parametrize("name", STARTS)
def test_slopes_that_are_infinite_at_the_beginning(name, way):
    """They came as 0 * inf from the first stage of the first step."""
    k = STARTS[name]

    def end(p):
        fun = lambda t, y: np.stack([k(t, p) + 0.0 * y[0]])
        if way == "odeint":
            return integrate.odeint(lambda y, t: fun(t, y), [0.5], [0.0, 2.0], rtol=1e-9)[-1, 0]
        return integrate.solve_ivp(fun, (0, 2), [0.5], method=way, rtol=1e-8, atol=1e-9).y[0, -1]

    whole = lambda p: integrate.quad(lambda x: 4 * x**3 * k(x**4, p), 0, 2**0.25, epsabs=1e-13)[0]
    expected = (whole(P + 1e-4) - whole(P - 1e-4)) / 2e-4
    assert pb.grad(end)(P) == pytest.approx(expected, rel=2e-6)
    assert pb.jvp(end, (P,), (1.0,))[1] == pytest.approx(expected, rel=2e-6)
    second = (whole(P + 4e-3) - 2 * whole(P) + whole(P - 4e-3)) / 1.6e-5
    assert pb.grad(pb.grad(end))(P) == pytest.approx(second, rel=1e-4)
    assert pb.jvp(pb.grad(end), (P,), (1.0,))[1] == pytest.approx(second, rel=1e-4)


@pytest.mark.parametrize("name", REMOVABLE)
def test_no_piece_ends_where_0_over_0_is_removable(name, monkeypatch):
    """Such a place is no kink, though rounding breaks slopes beside it: the steps are held."""
    pieces = []
    monkeypatch.setattr(switching.Pieces, "take", lambda self, *_: pieces.append(self))
    end = solved(name, "RK45", rtol=1e-8, atol=1e-10)
    assert pb.grad(end)(P) == pytest.approx(slopes(name)[0], rel=1e-6)
    assert not pieces


@pytest.mark.parametrize("name", REMOVABLE)
def test_second_derivatives_where_0_over_0_is_removable(name):
    end = solved(name, "RK45", rtol=1e-9, atol=1e-11)
    assert pb.grad(pb.grad(end))(P) == pytest.approx(slopes(name)[1], rel=1e-4, abs=1e-6)


# A law: NumPy's functions of real numbers that have kinks or poles say where.


def bends(f, xs):
    """Whether the slope of a function jumps between two of these places, where it is finite."""
    y = f(xs)
    for i in np.argsort(-np.nan_to_num(np.abs(np.diff(y, 2)), posinf=0.0))[:6]:
        a, b, change = xs[i], xs[i + 2], 0.0
        for _ in range(5):
            at = np.linspace(a, b, 41)
            change = np.abs(np.diff(f(at), 2)) / (at[1] - at[0])
            if not np.all(np.isfinite(change)):
                return False
            j = int(np.argmax(change))
            a, b, change = at[j], at[j + 2], change[j]
        if change > 0.02:
            return True
    return False


def has_pole(f, xs):
    """Whether a function changes its sign through infinity."""
    y = f(xs)
    for i in np.nonzero((np.sign(y[1:]) != np.sign(y[:-1])) & (np.abs(np.diff(y)) > 5))[0][:8]:
        a, b = xs[i], xs[i + 1]
        for _ in range(45):
            middle = (a + b) / 2
            a, b = (middle, b) if np.sign(f(middle)) == np.sign(f(a)) else (a, middle)
        if min(abs(f(a)), abs(f(b))) > 1e6:
            return True
    return False


DECIDED = {np.maximum, np.minimum, np.fmax, np.fmin, np.absolute, np.fabs}  # their rules compare


def test_functions_say_where_they_have_kinks_and_poles():
    xs, silent = np.linspace(-4.61, 4.63, 1301), []
    for ufunc, p in UFUNCS.items():
        if vars(np).get(ufunc.__name__) is not ufunc or p is None or ufunc.nout > 1:
            continue
        if p.level is not None or p.steps or p.constant or ufunc in DECIDED:
            continue
        for k in range(ufunc.nin):
            for other in (-1.0, 0.0, 0.4, 2.5):
                f = lambda x, k=k, other=other, u=ufunc: u(
                    *[other] * k, x, *[other] * (u.nin - 1 - k)
                )
                with np.errstate(all="ignore"):
                    if f(xs[:1]).dtype.kind != "f":
                        continue
                    if p.pole is None and has_pole(f, xs):
                        silent.append((ufunc.__name__, k, "pole"))
                    elif p.pole is None and p.edge is None and bends(f, xs):
                        silent.append((ufunc.__name__, k, "kink"))
    assert not silent
