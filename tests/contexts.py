"""Where an Array may be met: run(body, x) calls body on an Array with the value x."""

import numpy as np
import pytest

import pullback as pb

# `type(x)` in code that is transformed gives what NumPy would have there; this does not.
exact_type = pb.rebinding(False)(type)


def under_grad(body, x):
    """Run body on an Array of `grad` with the value x."""

    def f(x):
        body(x)
        return np.sum(x)

    pb.grad(f)(x)


def under_vmap(body, x):
    """The same for a mapped one, of which x is the first example."""

    def f(x):
        body(x)
        return x

    pb.vmap(f)(np.stack([x, x + 1.0]))


def nested(body, x):
    """An Array of an outer jvp, used inside an inner grad."""

    def outer(x):
        pb.grad(lambda y: body(x) or y)(1.0)
        return x

    pb.jvp(outer, (x,), (np.ones_like(x),))


UNMAPPED = {
    "grad": under_grad,
    "value_and_grad": lambda body, x: pb.value_and_grad(lambda x: body(x) or np.sum(x))(x),
    "vjp": lambda body, x: pb.vjp(lambda x: body(x) or x, x),
    "jvp": lambda body, x: pb.jvp(lambda x: body(x) or x, (x,), (np.ones_like(x),)),
    "linearize": lambda body, x: pb.linearize(lambda x: body(x) or x, x),
    "nested": nested,
    "eager leaf": lambda body, x: body(pb.array(x, requires_grad=True)),
    "eager result": lambda body, x: body(pb.array(x, requires_grad=True) * 1.0),
}


LIVE = {**UNMAPPED, "vmap": under_vmap}


CONSTANT = {
    "ground": lambda body, x: body(pb.array(x)),
    "result of constants": lambda body, x: body(pb.array(x) * 1.0),
    "inside grad": lambda body, x: under_grad(lambda _: body(pb.array(x)), 1.0),
    "inside jvp": lambda body, x: UNMAPPED["jvp"](lambda _: body(pb.array(x)), np.float64(1.0)),
    "inside vmap": lambda body, x: under_vmap(lambda _: body(pb.array(x)), np.float64(1.0)),
    "detached in grad": lambda body, x: under_grad(lambda x: body(x.detach()), x),
    "detached in jvp": lambda body, x: UNMAPPED["jvp"](lambda x: body(x.detach()), x),
    "detached eager": lambda body, x: body(pb.array(x, requires_grad=True).detach()),
    "stopped in grad": lambda body, x: under_grad(lambda x: body(pb.stop_gradient(x)), x),
    "stopped in nested": lambda body, x: nested(lambda x: body(pb.stop_gradient(x)), x),
    "without grad": lambda body, x: pb.no_grad()(
        lambda: body(pb.array(x, requires_grad=True) * 1.0)
    )(),
}


for_live = pytest.mark.parametrize("within", LIVE.values(), ids=list(LIVE))


for_unmapped = pytest.mark.parametrize("within", UNMAPPED.values(), ids=list(UNMAPPED))


for_constants = pytest.mark.parametrize("within", CONSTANT.values(), ids=list(CONSTANT))


EVERYWHERE = {**{f"live {k}": v for k, v in LIVE.items()}, **CONSTANT}


SINGLE = {**UNMAPPED, **CONSTANT}  # of which there is one value
for_single = pytest.mark.parametrize("within", SINGLE.values(), ids=list(SINGLE))
everywhere = pytest.mark.parametrize("within", EVERYWHERE.values(), ids=list(EVERYWHERE))


NUMBER = np.float64(3.0)


VECTOR = np.array([3.0, 1.0, 2.0])
