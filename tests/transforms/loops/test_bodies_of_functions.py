"""Bodies of loops that call compiled functions, and functions with rules of their own.

A compiled function is recorded by its first call, and is one operation from then on: the body that
is run twice is another program the second time. A rule that a body declares is made anew each time.
"""

import numpy as np
import pytest

import pullback as pb
from tests.budgets import asked

X = np.array([0.3, 0.5, 0.7])


def ruled(f):
    declared = pb.custom_vjp(lambda x: f(x))
    declared.defvjp(lambda x: (f(x), x), lambda x, bar: (pb.vjp(f, x)[1](bar)[0],))
    return declared


def forward_ruled(f):
    declared = pb.custom_jvp(lambda x: f(x))
    declared.defjvp(lambda xs, dots: pb.jvp(f, xs, dots))
    return declared


WRAPPED = {
    "compiled": lambda f: pb.compile(f, wait=True),
    "compiled later": pb.compile,
    "a rule": ruled,
    "a forward rule": forward_ruled,
    "checkpoint": pb.checkpoint,
}
LOOPS = {
    "scan": lambda f, x: pb.scan(lambda c, t: (f(c) * t, c), x, np.ones(4))[0],
    "of numbers": lambda f, x: x * pb.scan(lambda c, t: (f(c) * t, c), 0.5, np.ones(4))[0],
    "fori": lambda f, x: pb.fori_loop(0, 3, lambda i, c: f(c), x),
    "while": lambda f, x: pb.while_loop(lambda c: np.sum(c) > 0.1, lambda c: 0.4 * f(c), x),
}
BODIES = {
    "kept": lambda wrap, loop, h: (lambda f: lambda x: np.sum(loop(f, x)))(wrap(h)),
    "made inside": lambda wrap, loop, h: lambda x: np.sum(loop(lambda y: wrap(h)(y), x)),
    "of what is around": lambda wrap, loop, h: (
        lambda x: np.sum(loop(lambda y: y * wrap(lambda z: np.where(z > 0.4, z, h(z)))(x), x))
    ),
}
ASKED = {
    "value": lambda f: f(X),
    "grad": lambda f: pb.grad(f)(X),
    "hessian": lambda f: pb.hessian(f)(X),
    "vmap": lambda f: pb.vmap(f)(np.stack([X, X])),
    "vmap of grad": lambda f: pb.vmap(pb.grad(f))(np.stack([X, X])),
    "jvp": lambda f: pb.jvp(f, (X,), (X,))[1],
    "compiled": lambda f: again(pb.compile(f, wait=True)),
    "compiled gradient": lambda f: again(pb.compile(pb.grad(f), wait=True)),
    "gradient of compiled": lambda f: again(pb.grad(pb.compile(f, wait=True))),
}


def again(f):
    f(X)
    return f(X)


def tame(x):
    return np.sin(x) * 1.1


SHAPES_DIFFER = ("of numbers", "of what is around")  # of the carry and of what a step returns
CASES = [
    (wrapped, loop, body, how)
    for wrapped in WRAPPED
    for loop in LOOPS
    for body in BODIES
    for how in ASKED
    if (loop, body) != SHAPES_DIFFER
]


@pytest.mark.parametrize("part", range(4))
def test_bodies_that_call_functions(part):
    """With a wrapper as without it, from the first call on."""
    for wrapped, loop, body, how in asked(CASES[part::4], 12, str(part)):
        f = BODIES[body](WRAPPED[wrapped], LOOPS[loop], tame)
        plain = BODIES[body](lambda h: h, LOOPS[loop], tame)
        out, right = ASKED[how](f), ASKED[how](plain)
        message = f"{wrapped}, {loop}, {body}, {how}"
        np.testing.assert_allclose(out, right, rtol=1e-11, atol=1e-13, err_msg=message)
