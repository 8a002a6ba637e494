"""Values without derivatives inside functions that are written down as one operation.

`stop_gradient` and `detach` leave what is mapped mapped, and what is recorded recorded. Inside a
function with a rule of its own, inside `checkpoint` and inside compiled functions that value is
made by the function, which doesn't close over it.
"""

import numpy as np
import pytest

import pullback as pb
from tests.budgets import asked

X = np.arange(1.0, 7.0).reshape(2, 3) / 4


def with_jvp(f):
    declared = pb.custom_jvp(lambda x: f(x))
    declared.defjvp(lambda primals, tangents: pb.jvp(f, primals, tangents))
    return declared


def with_vjp(f):
    declared = pb.custom_vjp(lambda x: f(x))
    declared.defvjp(lambda x: (f(x), x), lambda x, bar: (pb.vjp(f, x)[1](bar)[0],))
    return declared


def detached(x):
    return x.detach() if hasattr(x, "detach") else x


WRAPPED = {"jvp": with_jvp, "vjp": with_vjp, "checkpoint": pb.checkpoint,
           "both": lambda f: pb.checkpoint(with_vjp(f))}  # fmt: skip
STOPPING = {
    "alone": lambda x: pb.stop_gradient(x) * 1.0,
    "a sum": lambda x: pb.stop_gradient(np.sin(x)) + x,
    "a product": lambda x: pb.stop_gradient(np.sin(x)) * x,
    "detached": lambda x: detached(x * 2) * x,
    "in a checkpoint": lambda x: pb.checkpoint(lambda y: pb.stop_gradient(y) * y)(x),
    "of a gradient": lambda x: pb.stop_gradient(pb.grad(lambda y: np.sum(y**3))(x)) * x,
    "of each": lambda x: pb.vmap(lambda y: pb.stop_gradient(y) * y)(x),
}
ASKED = {
    "value": lambda f: f(X[0]),
    "vmap": lambda f: pb.vmap(f)(X),
    "vmap of columns": lambda f: pb.vmap(f, in_axes=1, out_axes=1)(X),
    "grad": lambda f: pb.grad(lambda x: np.sum(f(x)))(X[0]),
    "vmap of grad": lambda f: pb.vmap(pb.grad(lambda x: np.sum(f(x))))(X),
    "grad of vmap": lambda f: pb.grad(lambda x: np.sum(pb.vmap(f)(x)))(X),
    "jvp": lambda f: pb.jvp(f, (X[0],), (X[1],))[1],
    "vmap of jvp": lambda f: pb.vmap(lambda x: pb.jvp(f, (x,), (x,))[1])(X),
    "hessian": lambda f: pb.hessian(lambda x: np.sum(f(x) ** 2))(X[0]),
    "jacobian": lambda f: pb.jacobian(f)(X[0]),
    "vmap of vmap": lambda f: pb.vmap(pb.vmap(f))(np.stack([X, 2 * X])),
    "scan": lambda f: pb.grad(lambda x: pb.scan(lambda c, _: (f(c), None), x, X)[0].sum())(X[0]),
    "compiled": lambda f: compiled(f, X[0]),
    "compiled vmap": lambda f: compiled(pb.vmap(f), X),
    "compiled gradient": lambda f: compiled(pb.grad(lambda x: np.sum(f(x))), X[0]),
}


def compiled(f, x):
    fast = pb.compile(f, wait=True)
    fast(x)
    assert fast.refusal is None
    return fast(x)


@pytest.mark.parametrize("wrapped", list(WRAPPED))
def test_stopped_inside(wrapped):
    """With a wrapper as without it, in every mode."""
    cases = [(f, how) for f in STOPPING for how in ASKED]
    for name, how in asked(cases, 3):
        f, ask = STOPPING[name], ASKED[how]
        out = ask(WRAPPED[wrapped](f))
        np.testing.assert_allclose(out, ask(f), rtol=1e-13, err_msg=f"{name}, {how}")
