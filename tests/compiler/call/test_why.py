"""`why` always says why: after each call, and of calls with the same arguments.

Functions that are recorded, refused, recorded anew a few times before that, or never recorded.
"""

import warnings
from collections import deque
from contextlib import suppress
from functools import cache, lru_cache
from types import SimpleNamespace

import numpy as np
import pytest

import pullback as pb

X = np.array([0.5, 1.5])
COUNTER, LOG, TABLE = SimpleNamespace(n=0), deque(maxlen=2), {}


class Kept:
    """An object whose method keeps its results."""

    def __init__(self, x):
        self.x = x

    @lru_cache(maxsize=4)  # noqa: B019  # as programs have it
    def doubled(self, n):
        return 2 * self.x * n

    @cache  # noqa: B019  # as programs have it
    def squared(self):
        return self.x**2


def calls_itself(x):
    return x * 2 if x.sum() > 8 else compiled_self(x * 2)


compiled_self = pb.compile(calls_itself, wait=True)


def raises(x):
    raise ValueError("no")


def counts(x):
    COUNTER.n += 1
    return x * COUNTER.n


def logs(x):
    LOG.append(float(x[0]))
    return x * len(LOG)


def enters(x):
    TABLE[len(TABLE)] = x
    return x * 2


def imports(x):
    import colorsys

    return x * len(colorsys.__name__)


def catches(x):
    try:
        return np.linalg.inv(np.outer(x, x) * 0)
    except np.linalg.LinAlgError:
        return x


FUNCTIONS = {
    "plain": lambda x: np.sin(x) * x,
    "branch": lambda x: x if x[0] > 0.4 else -x,
    "method": lambda x: Kept(x).doubled(3) + Kept(x).doubled(2),
    "cached": lambda x: Kept(x).squared(),
    "calls_itself": calls_itself,
    "raises": raises,
    "counts": counts,
    "logs": logs,
    "enters": enters,
    "imports": imports,
    "catches": catches,
    "changes": lambda x: np.add(x, 1.0, out=x),
    "returns_it": lambda x: x,
    "random": lambda x: x + np.random.random(2),
    "settings": lambda x: x * len(np.geterr()),
    "text": lambda x: f"{x[0]}",
    "number": lambda x: float(x[0]) * 2,
    "generator": lambda x: (y for y in x),
    "prints": lambda x: print(end="") or x * 2,
    "inner": lambda x: pb.grad(lambda y: (Kept(y).squared()).sum())(x),
    "hashed": lambda x: x * (hash(str(x.shape)) % 3),
    "warns": lambda x: np.log(-x),
    "identity": lambda x: x * 2 if x is X else x * 3,
}
WAYS = {
    "plain": lambda f: f(X.copy()),
    "once": lambda f: f(X),
    "vjp": lambda f: pb.vjp(f, X.copy()),
    "jvp": lambda f: pb.jvp(f, (X.copy(),), (X,)),
    "vmap": lambda f: pb.vmap(f)(np.stack([X, 2 * X])),
    "array": lambda f: f(pb.array(X)),
    "raising": lambda f: np.errstate(all="raise")(f)(X.copy()),
    "object": lambda f: f(np.array([0.5, 1.5], object)),
}


@pytest.mark.parametrize("wait", [True, False])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_call_has_a_reason(name, wait):
    """A sentence that isn't of before the call, and speaks of a replay if and only if it was."""
    for way, call in WAYS.items():
        is_it = name == "calls_itself" and wait
        f = compiled_self if is_it else pb.compile(FUNCTIONS[name], wait=wait)
        for i in range(7):
            hits = f.cache_info().hits
            with warnings.catch_warnings(), np.errstate(all="ignore"), suppress(Exception):
                warnings.simplefilter("ignore")  # functions that fall back warn
                call(f)
            replayed = f.cache_info().hits > hits
            about = f"{way}, call {i}: {f.why()!r}"
            assert f.why().endswith("."), about
            assert "has not been called" not in f.why(), about
            assert replayed or not f.why().startswith("Machine code replayed"), about
            assert f.why(X.copy()).endswith("."), about
            assert "has not been called" not in f.why(), about


def test_why_a_recording_is_not_kept():
    """What is in the cache of a method grows with each call."""
    f = pb.compile(FUNCTIONS["method"], wait=True)
    for _ in range(3):
        f(X)
        for why in (f.why(), f.why(X)):
            assert "it changes what it reads" in why
