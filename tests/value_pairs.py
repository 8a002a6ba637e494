"""Every operation with machine code on every pair of dtypes and special values, against NumPy.

`check_pair` compiles one program that applies all ufuncs to a pair of dtypes, in four forms: whole
arrays (vectors of elements and what is left of them), rows against columns (one side repeated),
single numbers, and Python's numbers as the second operand. `check_reductions` does the same for
what takes an array to one number. Results are equal bit for bit, the sign of zero included, where
the operation's machine code is exact, and within its declared ulp elsewhere.
"""

import functools
import itertools
import warnings

import numpy as np

from pullback.compiler.lower.complex_numbers import ComplexEmit
from pullback.compiler.lower.emit import Emit
from pullback.compiler.lower.role import is_exact
from pullback.compiler.program import Program
from pullback.core.registry import UFUNCS
from pullback.testing import staged

DTYPES = [np.dtype(c) for c in "?bBhHiIlLefdFD"]
PAIRS = list(itertools.product(DTYPES, DTYPES))
LOWERED = [(f, p) for f, p in UFUNCS.items() if p is not None and p.lower is not None]
UNARY = [(f, p) for f, p in LOWERED if f.nin == 1]
BINARY = [(f, p) for f, p in LOWERED if f.nin == 2]
# Of two zeros of different signs NumPy gives the one or the other, by the width of its vectors.
EITHER_ZERO = {np.fmax, np.fmin}
PYTHONS = [True, 0, 1, 2, 3, -1, -2, 7, 0.0, -0.0, 0.5, -1.0, 2.0, 1e300, float("inf"), 1j]


def special(dtype):
    """Values at which operations of a dtype go wrong: bounds, signs, zeros, NaN."""
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        close = [limits.min, limits.min + 1, limits.max - 1, limits.max, limits.max // 2 + 1]
        return np.array(
            [*close, 0, 1, 2, 3, 7, *([-1, -2, -7] if dtype.kind == "i" else [])], dtype
        )
    if dtype.kind == "c":
        parts = np.array([0.0, -0.0, 1.5, -np.inf, np.nan])
        out = np.empty(25, dtype)
        out.real, out.imag = np.repeat(parts, 5), np.tile(parts, 5)
        return out
    limits = np.finfo(dtype)
    some = [0.0, 1.0, 0.5, 2.5, 3.0, 7.25, limits.tiny, limits.smallest_subnormal, limits.max]
    return np.array([s * x for x in (*some, np.inf) for s in (1, -1)] + [np.nan], dtype)


def computed(functions, xs):
    """The functions that NumPy has for xs."""
    out = []
    for f, p in functions:
        try:
            p.fast(*xs)
        except (TypeError, ValueError, ArithmeticError):
            continue
        out.append((f, p))
    return out


def differ(found, right, primitive, f, xs=()):
    """Where two results of f(*xs) differ: a mask, or text."""
    # Of a NumPy number and a Python one the result may be either's.
    found, right = [x if hasattr(x, "dtype") else np.asarray(x)[()] for x in (found, right)]
    kinds = isinstance(found, np.ndarray), isinstance(right, np.ndarray)
    if kinds[0] != kinds[1] or found.dtype != right.dtype or found.shape != right.shape:
        return f"{type(found).__name__} {found.dtype} {found.shape}"
    found, right = np.asarray(found), np.asarray(right)
    if right.dtype.kind not in "fc":
        return found != right
    ulp, cancels = 0, False
    if not is_exact(primitive, right.dtype):
        kind = ComplexEmit if right.dtype.kind == "c" else Emit
        method = getattr(kind, primitive.lower, None)
        ulp, cancels = getattr(method, "ulp", 0), getattr(method, "cancels", False)
    if right.dtype.kind == "f":
        with np.errstate(all="ignore"):  # what is too large for the dtype is infinite
            terms = [np.asarray(x).astype(right.dtype) for x in xs] if cancels else []
        return far(found, right, functools.reduce(np.fmax, map(np.abs, [right, *terms])), ulp, f)
    with np.errstate(all="ignore"):
        size = np.abs(right)  # of complex numbers units are of the modulus
    return far(found.real, right.real, size, ulp, f) | far(found.imag, right.imag, size, ulp, f)


def far(found, right, size, ulp, f):
    """Where real parts are neither equal, signs of zero included, nor within units of the size."""
    same = (found == right) | (np.isnan(found) & np.isnan(right))
    signs = (np.signbit(found) == np.signbit(right)) | np.isnan(right)
    if f not in EITHER_ZERO:
        same &= signs
    if ulp:
        with np.errstate(all="ignore"):
            unit = np.spacing(np.where(np.isfinite(size), size, 0))
            close = np.abs(found - right) <= ulp * unit
        same |= close & (signs | (right != 0))
    return ~same


def check(functions, xs, where, level=0):
    """One program of all these functions at xs; the number of results compared."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # NumPy's, of odd numbers
        functions = computed(functions, xs)
        arrays = [x for x in xs if hasattr(x, "dtype")]

        def program(*given):
            rest = iter(given)
            operands = [next(rest) if hasattr(x, "dtype") else x for x in xs]
            return tuple([p.fast(*operands) for _, p in functions])  # x + y, np.sin(x)

        graph, _ = staged(program, arrays)
        expected = program(*arrays)
        outs = Program(graph, level)(*arrays)
        again = graph.evaluate(*arrays)
    wrong = []
    for (f, p), found, right, eager in zip(functions, outs, expected, again, strict=True):
        for what, value in (("compiled", found), ("evaluated", eager)):
            bad = differ(value, right, p, f, xs)
            if np.any(bad) if not isinstance(bad, str) else True:
                wrong.append(f"{f.__name__} {where} {what}: {shown(bad, xs, value, right)}")
    assert not wrong, "\n".join(wrong)
    return sum(map(np.size, expected))


def shown(bad, xs, found, right):
    if isinstance(bad, str):
        return f"{bad}, not {type(right).__name__} {right.dtype} {right.shape}"
    at = tuple([i[0] for i in np.nonzero(np.atleast_1d(bad))])
    given = [np.broadcast_to(x, np.shape(bad) or (1,))[at] for x in xs]
    some = [np.atleast_1d(x)[at] for x in (found, right)]
    return f"{given} gives {some[0]!r}, not {some[1]!r} ({np.sum(bad)} of {np.size(bad)})"


def check_pair(a, b):
    """All ufuncs of two operands on two dtypes; the number of results compared."""
    x, y = special(a), special(b)
    n = check(BINARY, (np.repeat(x, len(y)), np.tile(y, len(x))), f"{a} {b}")
    n += check(BINARY, (x[:, None], y), f"{a} {b} by rows")
    for i, j in ((0, -1), (len(x) // 2, 0), (-1, len(y) // 2)):
        n += check(BINARY, (x[i], y[j]), f"{a} {b} numbers")
    return n


def check_alone(a):
    """All ufuncs of one operand, and of a Python number beside an array or a number."""
    x = special(a)
    n = check(UNARY, (x,), f"{a}") + check(UNARY, (x[1],), f"{a} number")
    n += check(UNARY, (np.concatenate([x, x, x]),), f"{a}")
    for number in PYTHONS:
        for xs in ((x, number), (number, x), (x[-1], number), (number, x[1])):
            n += check(BINARY, xs, f"{a} with {number!r}")
    return n


def of_arrays(dtype):
    """Functions of one array that are no ufuncs: (function, whether its sums are reordered)."""
    number = dtype.type(1)
    exact = [
        np.max, np.min, np.any, np.all, np.count_nonzero, np.argmax, np.argmin, np.ptp,
        np.diff, np.ravel, np.copy, np.real, np.imag, np.conj, np.cumsum, np.cumprod,
        lambda x: np.clip(x, 0, 1), lambda x: np.clip(x, x, number),
        lambda x: np.where(x, x, x * x),
        lambda x: np.max(x[:, None], axis=1), lambda x: np.min(x[None], axis=0),
        lambda x: np.sum(x[:, None], axis=1), lambda x: np.prod(x[None], axis=0),
        lambda x: np.max(np.stack([x, x[::-1]]), axis=0), lambda x: np.outer(x, x),
        lambda x: np.sum(x[:1]), lambda x: np.prod(x[:1]), lambda x: np.mean(x[:1]),
        lambda x: np.dot(x[:1], x[:1]), lambda x: x[-1:] @ x[-1:], lambda x: np.vdot(x[:1], x[:1]),
        lambda x: x[:1, None] @ x[None, :1], lambda x: np.sum(x[:2]), lambda x: np.prod(x[-2:]),
        lambda x: np.einsum("i,i", x[:1], x[:1]), lambda x: x.astype(complex),
        lambda x: np.maximum(x, x[::-1]), lambda x: np.copysign(x.real, -1.0),
        lambda x: x * number,
        lambda x: x / number, lambda x: x - dtype.type(0), lambda x: x + dtype.type(0),
        lambda x: x**number, lambda x: -np.negative(x), lambda x: x + -0.0 * number,
        lambda x: x * 1 * True,
        lambda x: np.complex128(1) * x, lambda x: x * np.complex64(1), lambda x: 0j + x,
        lambda x: x - 0j, lambda x: (x + 1j) / (1 + 0j), lambda x: np.sign(x), np.abs, np.square,
        lambda x: np.concatenate([x, x[:0]]), np.round,
    ]  # fmt: skip
    rounded = [
        np.sum, np.prod, np.mean, np.var, np.std, np.linalg.norm, lambda x: np.convolve(x, x),
        lambda x: np.dot(x, x), lambda x: np.einsum("i,i", x, x),
        lambda x: np.trace(np.outer(x, x)),
    ]  # fmt: skip
    return exact, rounded


def check_arrays(dtype, n, seed):
    """Functions of arrays of n special values; the number of results compared."""
    random = np.random.default_rng(seed)
    x = random.choice(special(dtype), n)
    total = 0
    for some, exact in zip(of_arrays(dtype), (True, False), strict=True):
        if not exact and dtype.kind in "fc":
            x = np.where(np.isfinite(x) & (np.abs(x) < 9), x, 1)
        for f in some:
            total += check_function(f, x, exact, f"{dtype}[{n}] seed {seed}")
    return total


def check_function(f, x, exact, where):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # NumPy's, of odd numbers
        try:
            right = f(x)
        except (TypeError, ValueError, ArithmeticError):
            return 0
        graph, _ = staged(lambda x: (f(x),), [x])
        (found,), (eager,) = Program(graph, 0)(x), graph.evaluate(x)
    name = getattr(f, "__name__", "") + str(f.__code__.co_firstlineno if "lambda" in str(f) else "")
    for what, value in (("compiled", found), ("evaluated", eager)):
        if exact or right.dtype.kind not in "fc":
            bad = differ(value, right, Moved, np.fmax if open_zero(f, x) else f)
            wrong = isinstance(bad, str) or np.any(bad)
            assert not wrong, f"{name} of {where} {what}: {x!r} gives {value!r}, not {right!r}"
        else:
            assert (type(value), value.dtype) == (type(right), right.dtype), f"{name} of {where}"
            # Sums of large integers are rounded, and cancel, in the one order or the other.
            atol = 1e-4 + np.finfo(float).eps * np.sum(np.abs(x.astype(complex)))
            np.testing.assert_allclose(value, right, 1e-4, atol, err_msg=f"{name} {where}")
    return np.size(right)


class Moved:
    """In place of a primitive: what is bit for bit as it was."""

    lower = None


def open_zero(f, x):
    """Whether zeros of both signs meet in a maximum or minimum of more than two."""
    zeros = np.signbit(x[x == 0]) if x.dtype.kind == "f" else np.zeros(0)
    return f in (np.max, np.min, np.ptp) and 0 < np.sum(zeros) < len(zeros)
