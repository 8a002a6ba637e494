"""Random programs compiled and not, with the same calls and the same changes of state between."""

import contextlib
import warnings

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.call.compiled import compile
from tests.budgets import LONG
from tests.fuzz_compile import changes, write

# Of random programs many a derivative is zero.
pytestmark = pytest.mark.filterwarnings("ignore::pullback.LostDerivativeWarning")

EACH = 25
COUNT = 20_000 if LONG else 100

ORDERS = {
    0: lambda f: f,
    1: lambda f: pb.value_and_grad(f, argnums=(0, 1)),
    2: lambda f: pb.hessian(f),
}


def load(seed, order):
    """A fresh copy of the program, and what its state is."""
    scope = {"__name__": "program"}
    exec(compile_text(seed), scope)
    return ORDERS[order](scope["program"]), scope


TEXTS = {}


def compile_text(seed):
    if seed not in TEXTS:
        TEXTS.clear()
        TEXTS[seed] = __builtins__["compile"](write(seed), f"<program {seed}>", "exec")
    return TEXTS[seed]


def outcome(f, scope, step):
    some, x, a = step
    m = scope["model"]
    for change in some:
        with contextlib.suppress(IndexError):
            exec(change, {"m": m, "scope": scope})
    try:
        return f(np.array(x), a), m.count
    except Exception as error:
        return type(error), m.count


def same(actual, expected):
    actual, expected = [pb.core.tree.flatten(list(x))[0] for x in (actual, expected)]
    assert len(actual) == len(expected)
    for a, b in zip(actual, expected, strict=True):
        assert type(a) is type(b)
        if isinstance(a, (float, np.ndarray)):
            np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12)
        else:
            assert a == b


def agree(plain, scope, other, twin, step, told):
    """One step of a program and of its compiled twin, each with a state of its own."""
    expected = outcome(plain, scope, step)
    actual = outcome(other, twin, step)
    try:
        same(actual, expected)
    except AssertionError as error:
        error.add_note(told)
        raise


def check(seed):
    order = (0, 0, 1, 1, 2)[seed % 5]
    plain, scope = load(seed, order)
    other, twin = load(seed, order)
    fast = compile(other)
    for k, step in enumerate(changes(seed, 8)):
        told = f"seed {seed}, order {order}, call {k}: {step}\n{write(seed)}"
        agree(plain, scope, fast, twin, step, told)
    return fast.cache_info().hits


@pytest.fixture(autouse=True)
def early(monkeypatch):
    """Better machine code comes after few runs."""
    monkeypatch.setattr("pullback.compiler.path.SECOND", 3)


@pytest.mark.share(6)
@pytest.mark.parametrize("start", range(0, COUNT, EACH))
def test_random_programs(start):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some fall back to Python
        hits = sum([check(seed) for seed in range(start, start + EACH)])
    assert hits > EACH  # most of them are repeated, and not run as they are
