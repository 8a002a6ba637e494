"""compile: whatever is thrown at the entry gives eager's own result or error."""

import copy
import random
import warnings

import numpy as np
import pytest

from pullback.compiler.call.compiled import compile
from tests.budgets import LONG

EACH = 50
COUNT = 20_000 if LONG else 500


class Odd:
    """Answers nothing as others do."""

    def __getattribute__(self, name):
        raise RuntimeError(name)


class Sub(np.ndarray):
    pass


class Tagged(float):
    pass


DTYPES = "?bhilqBHILQefdgFDG"
LEAVES = [
    lambda r: r.uniform(-3, 3),
    lambda r: r.randrange(-3, 4),
    lambda r: r.choice([None, True, False, Ellipsis, NotImplemented, ..., slice(1)]),
    lambda r: r.choice(["", "text", b"bytes", "1.5", bytearray(b"ab"), memoryview(b"abc")]),
    lambda r: r.choice([float("nan"), float("inf"), -0.0, 1e308, 10**30, -(2**63), 2**64]),
    lambda r: r.choice([1j, complex("nan"), 2 + 0j, Tagged(2.0), np.bool_(True)]),
    lambda r: np.dtype(r.choice(DTYPES)).type(r.randrange(3)),
    lambda r: np.ones(r.choice([(), (0,), (1,), (3,), (2, 3), (3, 0), (1, 3)]), r.choice(DTYPES)),
    lambda r: np.arange(6.0).reshape(2, 3).T[:: r.choice([1, -1, 2])],
    lambda r: np.array([1, None, "a"], object),
    lambda r: np.array(["2020-01-01", "NaT"], "M8[D]"),
    lambda r: np.timedelta64(3, "s"),
    lambda r: np.array(["a", "bc"]),
    lambda r: np.ones(3).view(Sub),
    lambda r: np.matrix([[1.0, 2.0]]),
    lambda r: np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]),
    lambda r: np.rec.array([(1.0, 2)], dtype=[("a", float), ("b", int)]),
    lambda r: np.array([1.0, 2.0, 3.0], ">f8"),
    lambda r: r.choice([{1.0, 2.0}, frozenset(), range(3), iter([1.0, 2.0]), (v for v in "ab")]),
    lambda r: r.choice([Odd(), Odd, object(), np, np.sin, print, lambda v: v, int, np.float64]),
]
FUNCTIONS = [
    lambda x: x * 2,
    lambda x, y=1.0: x + y,
    lambda x, *rest, k=2.0: [x, k, *rest],
    lambda x: np.sum(x, axis=0),
    lambda x: x[0],
    lambda x: sorted(x.items()) if isinstance(x, dict) else len(x),
    lambda x, y: np.where(x > 0, x, y),
    lambda **options: {name: np.exp(x) for name, x in options.items()},
    lambda x: (x, x is None, str(x) if isinstance(x, (int, str)) else 0),
    lambda x: x,
]


def thing(r, depth=0):
    kind = r.random()
    if depth < 3 and kind < 0.25:
        held = [thing(r, depth + 1) for _ in range(r.randrange(4))]
        return r.choice([list, tuple, lambda xs: dict(zip("abcd", xs, strict=False))])(held)
    return r.choice(LEAVES)(r)


def call(seed):
    """A function and arguments, the same for the same seed."""
    r = random.Random(seed)
    args = [thing(r) for _ in range(r.choice([0, 1, 1, 1, 2, 2, 3]))]
    options = {name: thing(r) for name in r.sample(["x", "y", "k", "z"], r.choice([0, 0, 0, 1]))}
    if args and r.random() < 0.1:
        args.append(args[0])
    return args, options


def outcome(f, seed):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # some fall back to Python
        args, options = call(seed)
        try:
            return f(*args, **options), args
        except Exception as error:
            return type(error), str(error)[:40], args


def shown(x):
    """What can be compared of anything."""
    if isinstance(type(x), type) and type(x) is Odd:
        return "odd"
    if isinstance(x, (list, tuple)):
        return [type(x).__name__, *map(shown, x)]
    if isinstance(x, dict):
        return [type(x).__name__, *[(k, shown(y)) for k, y in x.items()]]
    if isinstance(x, np.ndarray):
        return type(x).__name__, x.dtype.str, x.shape, text(x)
    if isinstance(x, (int, float, complex, str, bytes, np.generic, type(None))):
        return type(x).__name__, repr(x)
    return type(x).__name__


def text(x):
    """What an array holds; objects are shown as others are, without their addresses."""
    if x.dtype == object and type(x) is np.ndarray:
        return [shown(y) for y in x.ravel()]
    return repr(copy.copy(x))


@pytest.mark.share(2)
@pytest.mark.parametrize("start", range(0, COUNT, EACH))
def test_anything(start):
    fast = [compile(f) for f in FUNCTIONS]
    for seed in range(start, start + EACH):
        for f, g in zip(FUNCTIONS, fast, strict=True):
            for _ in range(3):  # recorded, repeated, and as machine code
                expected, actual = outcome(f, seed), outcome(g, seed)
                assert shown(actual) == shown(expected), (seed, FUNCTIONS.index(f))


@pytest.mark.filterwarnings("ignore:.*compile:RuntimeWarning")
def test_types_of_one_size():
    """`long long` is another type than `long`, with equal dtypes, and its results stay that."""
    chars = [c for c in DTYPES if c in "lqLQ"]
    wrong = []
    for k, f in enumerate([FUNCTIONS[i] for i in (0, 2, 3, 4, 9)]):
        for begin in chars:
            fast = compile(f, wait=True)
            for char in [begin, begin, *chars, *chars[::-1], begin]:
                for x in (np.arange(3).astype(char), [np.ones(2, char)]):
                    expected, got = f(x), fast(x)
                    same = isinstance(got, list) or got.dtype.char == expected.dtype.char
                    if not same or shown(got) != shown(expected):
                        wrong.append((k, begin, char))
    for begin in chars:  # numbers beside arrays, and those that the function has
        held = [np.ones(2, begin)]
        fast = compile(lambda x, y, held=held: [x + y, np.where(x > 0, x, y), x + held[0]])
        for char in [*[begin] * 4, *chars, *chars[::-1]]:
            x, y = np.ones(2, "b"), np.dtype(char).type(2)
            expected = [x + y, np.where(x > 0, x, y), x + held[0]]
            got = [fast(x, y), fast(x, y)]
            if any([z.dtype.char for z in zs] != [z.dtype.char for z in expected] for zs in got):
                wrong.append((begin, char))
    assert not wrong
