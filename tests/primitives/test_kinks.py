"""Second derivatives at kinks are right, or a warning says that they are a convention's.

Smooth functions written with functions that have kinks: an even function of a length, a symmetric
one of the larger and the smaller of two numbers. Their second derivatives exist at the kink, and
rules that take the chosen first derivative for a constant give others.
"""

import math
import warnings

import numpy as np
import pytest
from scipy import linalg
from scipy.spatial import distance

import pullback as pb
from tests.budgets import LONG, in_turn

# Even functions: of a length, and of its square.
EVEN = {
    "u**2": (lambda u: u**2, lambda q: q),
    "u * u": (lambda u: u * u, lambda q: q),
    "square": (np.square, lambda q: q),
    "u**4": (lambda u: u**4, lambda q: q**2),
    "log1p": (lambda u: np.log(1 + u**2), np.log1p),
    "gaussian": (lambda u: np.exp(-(u**2)), lambda q: np.exp(-q)),
    "sqrt": (lambda u: np.sqrt(1 + u * u), lambda q: np.sqrt(1 + q)),
    "rational": (lambda u: u**2 / (1 + u**4), lambda q: q / (1 + q * q)),
}
square = lambda x: x @ x
ORIGIN = np.zeros(2)
# Lengths, and their squares, of vectors of two numbers.
LENGTHS = {
    "abs": (lambda x: np.abs(x[0]), lambda x: x[0] ** 2),
    "fabs": (lambda x: np.fabs(x)[1], lambda x: x[1] ** 2),
    "python's abs": (lambda x: abs(x[0] + x[1]), lambda x: (x[0] + x[1]) ** 2),
    "math.fabs": (lambda x: math.fabs(x[0]), lambda x: x[0] ** 2),
    "copysign": (lambda x: np.copysign(x[0], 1.0), lambda x: x[0] ** 2),
    "abs of complex": (lambda x: np.abs(x[0] + 1j * x[1]), square),
    "norm": (np.linalg.norm, square),
    "norm of a row": (lambda x: np.linalg.norm(x[None], axis=1)[0], square),
    "norm of a matrix": (lambda x: np.linalg.norm(np.reshape(x, (2, 1))), square),
    "norm of order 1": (lambda x: np.linalg.norm(x[:1], 1), lambda x: x[0] ** 2),
    "norm of order inf": (lambda x: np.linalg.norm(x[:1], np.inf), lambda x: x[0] ** 2),
    "spectral norm": (lambda x: np.linalg.norm(np.reshape(x, (2, 1)), 2), square),
    "vector_norm": (np.linalg.vector_norm, square),
    "scipy's norm": (linalg.norm, square),
    "hypot": (lambda x: np.hypot(x[0], x[1]), square),
    "math.hypot": (lambda x: math.hypot(x[0], x[1]), square),
    "math.dist": (lambda x: math.dist(x, [0.0, 0.0]), square),
    "std": (np.std, np.var),
    "method std": (lambda x: x.std(ddof=1), lambda x: np.var(x, ddof=1)),
    "nanstd": (np.nanstd, np.var),
    "range": (np.ptp, lambda x: (x[0] - x[1]) ** 2),
    "gap": (lambda x: np.maximum(x[0], x[1]) - np.minimum(x[0], x[1]), lambda x: 4 * np.var(x)),
    "sign": (lambda x: np.sign(x[0]) * x[0], lambda x: x[0] ** 2),
    "heaviside": (lambda x: (2 * np.heaviside(x[0], 0.5) - 1) * x[0], lambda x: x[0] ** 2),
    "larger sign": (lambda x: np.maximum(x[0], -x[0]), lambda x: x[0] ** 2),
    "euclidean": (lambda x: distance.euclidean(x, ORIGIN), square),
    "cdist": (lambda x: distance.cdist(x[None], ORIGIN[None])[0, 0], square),
    "pdist": (lambda x: distance.pdist(np.stack([x, ORIGIN]))[0], square),
    "cityblock": (lambda x: distance.cityblock(x[:1], [0.0]), lambda x: x[0] ** 2),
    "chebyshev": (lambda x: distance.chebyshev(x[:1], [0.0]), lambda x: x[0] ** 2),
}
SYMMETRIC = {
    "product": lambda a, b: a * b,
    "cubes": lambda a, b: a**3 + b**3,
    "square of the gap": lambda a, b: (a - b) ** 2,
    "exponentials": lambda a, b: np.exp(a) + np.exp(b),
    "ratio": lambda a, b: a / b + b / a,
}
extremes = lambda high, low: lambda x: (high(x), low(x))
PAIRS = {
    "maximum": lambda x: (np.maximum(x[0], x[1]), np.minimum(x[0], x[1])),
    "fmax": lambda x: (np.fmax(x[0], x[1]), np.fmin(x[0], x[1])),
    "max": extremes(np.max, np.min),
    "method max": lambda x: (x.max(), x.min()),
    "nanmax": extremes(np.nanmax, np.nanmin),
    "max of a row": lambda x: (np.max(x[None], axis=1)[0], np.min(x[None], axis=1)[0]),
    "reduce": extremes(np.maximum.reduce, np.minimum.reduce),
    "accumulate": lambda x: (np.maximum.accumulate(x)[1], np.minimum.accumulate(x)[1]),
    "sort": lambda x: tuple(np.sort(x)),
    "partition": lambda x: tuple(np.partition(x, 1)),
    "quantile": lambda x: (np.quantile(x, 0.0), np.quantile(x, 1.0)),
}
# Python's own, which compare numbers, and so are refused under `vmap`.
COMPARING = {
    "python's max": extremes(max, min),
    "python's max of two": lambda x: (max(x[0], x[1]), min(x[0], x[1])),
    "python's max of what is generated": extremes(
        lambda x: max(v for v in x), lambda x: min(iter(x))
    ),
    "sorted": sorted,
}
# Squares of the parts of a number on each side of 0, which add up to its square.
PARTS = {
    "maximum": lambda x: (np.maximum(x, 0), np.minimum(x, 0)),
    "clip": lambda x: (np.clip(x, 0, 9), np.clip(x, -9, 0)),
    "clip on one side": lambda x: (np.clip(x, 0, None), np.clip(x, None, 0)),
    "relu": lambda x: (pb.nn.relu(x), pb.nn.relu(-x)),
    "heaviside": lambda x: (x * np.heaviside(x, 1.0), x * np.heaviside(-x, 0.0)),
    "initial": lambda x: (np.max(x, initial=0.0), np.min(x, initial=0.0)),
}


def smooth_forms():
    """(name, a function with kinks, the same function without, a point at a kink)."""
    for inner, (length, its_square) in LENGTHS.items():
        for outer, (of_length, of_square) in EVEN.items():
            f = lambda x, a=length, b=of_length: b(a(x))
            yield f"{outer} of {inner}", f, lambda x, a=its_square, b=of_square: b(a(x)), ORIGIN
    for inner, pair in (PAIRS | COMPARING).items():
        for outer, g in SYMMETRIC.items():
            f = lambda x, pair=pair, g=g: g(*pair(x))
            yield f"{outer} of {inner}", f, lambda x, g=g: g(x[0], x[1]), np.full(2, 1.5)
    for inner, parts in PARTS.items():
        f = lambda x, parts=parts: sum(np.sum(part**2) for part in parts(x[:1]))
        yield f"parts by {inner}", f, lambda x: x[0] ** 2, ORIGIN


def is_taken(mode, name):
    """Whether a mode takes a function: `vmap` none that compares.

    The eager door is given no functions of `math` and SciPy. It asks rules only, and those of
    jumps and of `relu` are not asked or keep too little: it has one trace, which does not know
    while it runs that two derivatives will be taken.
    """
    if "mapped" in mode:
        return not name.endswith(tuple(COMPARING))
    unasked = (*COMPARING, "sign", "heaviside", "relu", *BY_CALL_SITES)
    return mode != "eager" or not name.endswith(unasked)


BY_CALL_SITES = (
    "math.fabs", "math.hypot", "math.dist", "scipy's norm", "euclidean", "cdist", "pdist",
    "cityblock", "chebyshev",
)  # fmt: skip


def by_hand(f):
    """By the eager door, a row at a time."""

    def second(x):
        a = pb.array(x, requires_grad=True)
        pb.grad(f)(x)  # which has the function's call sites followed
        f(a).backward(create_graph=True)
        slope, rows = a.grad, []
        for i in range(len(x)):
            a.zero_grad()
            slope[i].backward(retain_graph=True)
            rows.append(np.asarray(a.grad))
        return np.stack(rows)

    return second


def mapped(f):
    return lambda x: pb.vmap(pb.hessian(f))(np.stack([x + np.array([0.25, 0.5]), x]))[1]


MODES = {
    "hessian": pb.hessian,
    "hvp": lambda f: lambda x: np.stack([pb.hvp(f)(x, v) for v in np.eye(2)]),
    "reverse over reverse": lambda f: pb.jacobian(pb.grad(f), mode="reverse"),
    "forward over forward": lambda f: pb.jacobian(pb.jacobian(f, mode="forward"), mode="forward"),
    "reverse over forward": lambda f: pb.jacobian(pb.jacobian(f, mode="forward"), mode="reverse"),
    "mapped": mapped,
}


def silently_wrong(modes, every=1, shares=1):
    wrong, count = [], 0
    for number, (name, f, smooth, x) in enumerate(smooth_forms()):
        if number % every or not in_turn(number, shares):
            continue
        right = pb.hessian(smooth)(x)
        for mode, derive in modes.items():
            if not is_taken(mode, name):
                continue
            count += 1
            with warnings.catch_warnings(record=True) as met:
                warnings.simplefilter("always")
                found = derive(f)(x)
            warned = any(issubclass(w.category, pb.LostDerivativeWarning) for w in met)
            if not warned and not np.allclose(found, right, rtol=1e-8, atol=1e-10):
                wrong.append((name, mode, found.tolist(), right.tolist()))
    return wrong, count


@pytest.mark.share(4)
def test_smooth_functions_of_kinks():
    """321 functions in six modes; the eager door has those that it can be given."""
    wrong, count = silently_wrong(MODES)
    assert not wrong
    assert count == 1906
    eager, _ = silently_wrong({"eager": by_hand}, every=1) if LONG else ([], 0)
    assert not eager


def repeated(f, derive=pb.hessian):
    """f compiled, and recorded beside its kinks, in derivatives."""
    fast = pb.compile(f, wait=True)
    for scale in (1.0, 2.0):
        derive(fast)(scale * np.array([1.25, 2.5]))
    return fast


@pytest.mark.share(2)
def test_compiled():
    """A compiled second derivative asks in each call whether it is at a kink, and then warns."""
    wrong, _ = silently_wrong(
        {
            "compiled": lambda f: pb.compile(pb.hessian(f), wait=True),
            "of a compiled one": lambda f: pb.hessian(repeated(f)),
            "of a compiled one, mapped": lambda f: mapped(repeated(f)),
            "of a compiled gradient": lambda f: pb.jacobian(repeated(pb.grad(f), pb.jacobian)),
            "compiled and mapped": lambda f: pb.compile(mapped(f), wait=True),
        },
        every=1 if LONG else 16,
        shares=2,
    )
    assert not wrong


@pytest.mark.parametrize("derive", [pb.hessian, mapped])
def test_a_compiled_one_that_comes_to_a_kink(derive):
    f = pb.compile(derive(lambda x: np.linalg.norm(x) ** 2 + np.std(x) ** 2), wait=True)
    for _ in range(3):
        f(np.array([1.0, 2.0]))
    with pytest.warns(pb.LostDerivativeWarning, match="has a kink where"):
        f(np.zeros(2))


def test_no_warning_beside_a_kink():
    """Nor where only a first derivative is asked for, in any mode."""
    wrong = []
    for name, f, smooth, x in smooth_forms():
        pb.grad(f)(x)
        pb.jacobian(f, mode="forward")(x)
        if is_taken("mapped", name):
            pb.vmap(pb.grad(f))(np.stack([x, x]))
        beside = x + np.array([0.25, 0.75])
        if not np.allclose(pb.hessian(f)(beside), pb.hessian(smooth)(beside), rtol=1e-7):
            wrong.append(name)
    assert not wrong


def test_where_a_kink_is_in_a_part_that_was_not_picked():
    f = lambda x: np.sum(np.where(x > 0, np.abs(x) ** 3, x**2))
    assert np.array_equal(pb.hessian(f)(np.array([1.0, 2.0])), np.diag([6.0, 12.0]))


# Kinks at 0 in a branch that is not picked there, or in elements that no index picks.
UNREACHED = {
    "a clamped exponential": lambda x: np.sum(np.where(x >= 0, x + 1, np.exp(np.minimum(x, 0)))),
    "minimum": lambda x: np.sum(np.where(x >= 0, x**2, np.minimum(x, 0) ** 3)),
    "clip": lambda x: np.sum(np.where(x >= 0, x**2, np.clip(x, -2, 0))),
    "fmin": lambda x: np.sum(np.where(x >= 0, x**2, np.fmin(x, 0))),
    "a part": lambda x: np.maximum(x, 0.0)[1] ** 2 + np.minimum(x, 0.0)[2] ** 2,
}
REVERSE = {
    "hessian": pb.hessian,
    "reverse over reverse": lambda f: pb.jacobian(pb.grad(f), mode="reverse"),
    "compiled": lambda f: pb.compile(pb.hessian(f), wait=True),
}


def test_kinks_that_nothing_reaches():
    """They add nothing to the result, and no warning is given."""
    x, faults = np.array([0.0, 1.0, -1.0]), {}
    for name, f in UNREACHED.items():
        beside = pb.hessian(f)(x + 1e-7 * np.array([1.0, 0.0, 0.0]))
        for mode, derive in REVERSE.items():
            with warnings.catch_warnings(record=True) as given:
                warnings.simplefilter("always")
                second = derive(f)(x)
            if given or not np.allclose(second, beside, atol=1e-5):
                faults[name, mode] = second, [str(w.message) for w in given]
    assert faults == {}


def test_linearize_warns_of_coefficients_that_are_left_out():
    """A polynomial leaves out zeros with a derivative: `jacobian` says so as `grad` does."""
    f = lambda c: np.sum(np.poly1d(c)(2.0))
    for derive in (pb.grad, pb.jacobian, lambda f: pb.jacobian(f, mode="forward")):
        with pytest.warns(pb.LostDerivativeWarning, match="left out coefficients"):
            derive(f)(np.zeros(2))


def table(x, beginning):
    """The numbers x behind others, which are constants, as in tables of dynamic programming."""
    rows = np.full((2, 3), beginning)
    rows[1, 1:] = x
    return rows


# What compares those constants; the infinite ones are left out of the result.
COMPARED = {
    "max": lambda rows: np.max(rows, axis=1),
    "min": lambda rows: np.min(rows, axis=0, keepdims=True),
    "maximum": lambda rows: np.maximum(rows[:, :-1], rows[:, 1:]),
    "fmin": lambda rows: np.fmin(rows[:, 0], rows[:, 1]),
    "python's max": lambda rows: np.array(max(rows[0])),
    "python's min": lambda rows: np.array(min(*rows[0])),
    "sorted": lambda rows: np.array(sorted(rows[0])),
}


@pytest.mark.parametrize("beginning", [np.inf, -np.inf])
@pytest.mark.parametrize("name", COMPARED)
def test_equal_constants_that_are_infinite(name, beginning):
    def f(x):
        out = COMPARED[name](table(x, beginning))
        return np.sum(np.where(np.isfinite(out), out, 0.0) ** 3) + np.sum(x**3)

    x = np.array([1.0, 2.0])
    expected = (pb.grad(f)(x + 1e-5) - pb.grad(f)(x - 1e-5)) / 2e-5
    for derive in (pb.hessian, mapped, lambda f: pb.compile(pb.hessian(f), wait=True)):
        np.testing.assert_allclose(np.sum(derive(f)(x), axis=0), expected, rtol=1e-6)
