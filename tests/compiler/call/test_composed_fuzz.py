"""Random programs, compiled and not, inside transformations; the state changes between calls."""

import warnings

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.call.compiled import compile
from tests.budgets import LONG
from tests.compiler.call.test_fuzz import agree, compile_text
from tests.fuzz_compile import changes, write

# Of random programs many a derivative is zero.
pytestmark = pytest.mark.filterwarnings("ignore::pullback.LostDerivativeWarning")

EACH = 25
COUNT = 10_000 if LONG else 75


def eager(f):
    def gradients(x, a):
        x, a = pb.array(x, requires_grad=True), pb.array(a, requires_grad=True)
        f(x, a).backward()
        return x.grad, a.grad

    # Inside a transformation creation functions are rebound, for all of it.
    return lambda x, a: pb.jvp(gradients, (x, a), (None, None))[0]


both = (0, 1)
AROUND = [
    lambda f: pb.value_and_grad(f, argnums=both),
    lambda f: lambda x, a: pb.jvp(f, (x, a), (x * 0.5, 1.0)),
    lambda f: pb.hessian(f),
    lambda f: pb.grad(pb.checkpoint(f), argnums=both),
    lambda f: compile(pb.grad(f, argnums=both)),
    lambda f: pb.vmap(pb.grad(f), in_axes=(None, 0)),
    lambda f: lambda x, a: pb.vmap(pb.grad(f))(np.stack([x, x + 1]), np.array([a, a])),
    lambda f: pb.jacobian(pb.grad(f), mode="forward"),
    lambda f: lambda x, a: pb.vjp(pb.grad(f, argnums=both), x, a)[1]((x, 1.0)),
    eager,
    lambda f: pb.grad(lambda x, a: f(np.sqrt(np.abs(x)), a) * f(x, x[0] * a), argnums=both),
]


def load(seed):
    scope = {"__name__": "program"}
    exec(compile_text(seed), scope)
    return scope


def check(seed):
    scope, twin = load(seed), load(seed)
    fast = compile(twin["program"])
    around = AROUND[seed % len(AROUND)]
    plain, other = around(scope["program"]), around(fast)
    for k, (some, x, a) in enumerate(changes(seed, 7)):
        step = some, x, np.array([a, -a]) if around is AROUND[5] else a
        agree(plain, scope, other, twin, step, f"seed {seed}, call {k}: {step}\n{write(seed)}")
    return fast.cache_info().hits


@pytest.fixture(autouse=True)
def early(monkeypatch):
    """Better machine code comes after few runs."""
    monkeypatch.setattr("pullback.compiler.path.SECOND", 3)
    monkeypatch.setattr("pullback.compiler.call.compound.SECOND", 3)


@pytest.mark.share(3)
@pytest.mark.parametrize("start", range(0, COUNT, EACH))
def test_random_programs(start):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some fall back to Python
        hits = sum([check(seed) for seed in range(start, start + EACH)])
    assert hits > EACH  # most of them are repeated, and not run as they are
