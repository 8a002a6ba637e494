"""Functions of `math` in compiled functions, at special numbers of every type, against `math`."""

import math
import random
import warnings

import numpy as np

import pullback as pb

VALUES = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -4.0, 3.0, 7.25, 2.5, 1e17, 1e300, -1e300, 5e-324,
          1e-310, math.inf, -math.inf, math.nan, 2.0**62]  # fmt: skip
TYPES = {
    "float": float,
    "float64": np.float64,
    "float32": np.float32,
    "int": int,
    "int64": lambda v: np.int64(int(v)),
    "integer array": lambda v: np.array(int(v)),
    "array": np.array,
}
INTEGERS = {"perm", "comb", "factorial", "gcd", "lcm", "isqrt", "ldexp"}
SEVERAL = {"prod", "fsum", "sumprod", "dist", "fma"}


def attempt(f, args):
    try:
        return f(*args)
    except Exception as error:
        return type(error)


def arities():
    """(name, number of arguments) of what takes one or two numbers."""
    for name, function in sorted(vars(math).items()):
        if callable(function) and name not in INTEGERS | SEVERAL and not name.startswith("_"):
            for n in (1, 2):
                if attempt(function, (1.5, 2.5)[:n]) is not TypeError:
                    yield name, n


def converted(kind):
    for v in VALUES:
        try:
            with np.errstate(over="ignore"):
                x = TYPES[kind](v)
            yield x
        except (OverflowError, ValueError):
            continue


def same(found, right):
    if isinstance(right, (tuple, type)) or isinstance(found, (tuple, type)):
        if type(right) is tuple and type(found) is tuple:
            return all(map(same, found, right))
        return found is right
    if found != found or right != right:
        return found != found and right != right
    if found == right:
        return math.copysign(1, found) == math.copysign(1, right)
    return isinstance(right, float) and abs(found - right) <= 4 * np.spacing(abs(right))


def check_math(name, n, kind, most):
    """Recorded at ordinary numbers, then asked at special ones; the number of calls compared."""
    scope = {"math": math}
    exec(f"def f(x, y):\n    return math.{name}({'x, y'[: 1 if n == 1 else None]})", scope)
    function = scope["f"]
    fast, values = pb.compile(function), list(converted(kind))
    pairs = [(a, b) for a in values for b in (values if n == 2 else values[:1])]
    if len(pairs) > most:
        pairs = random.Random(f"{name}{kind}").sample(pairs, most)
    one = TYPES[kind](1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some fall back to Python
        for _ in range(3):
            attempt(fast, (one, one))
        for pair in pairs:
            found, right = attempt(fast, pair), attempt(function, pair)
            assert same(found, right), f"math.{name}{pair[:n]} gives {found!r}, not {right!r}"
    return len(pairs)
