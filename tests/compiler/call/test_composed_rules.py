"""Rules of users inside compiled functions, inside transformations: each runs as often as eagerly.

A row of `RULED` is a function with one rule of the user's, which has one of `EFFECTS`.
"""

import time
import warnings

import numpy as np
import pytest

import pullback as pb

LOG = []


def primitive(effect, **rules):
    made = pb.primitive(lambda x: 2.0 * x)
    for name, rule in rules.items():
        rule, reads = rule(effect), {"reads": ""} if name == "defvjp" else {}
        getattr(made, name)(rule, **reads)
    return made


def of_value(effect):
    made = pb.primitive(lambda x: (effect(), 2.0 * x)[1])
    made.defvjp(VJP(int), reads="")
    made.defjvp(JVP(int))
    return made


def with_vjp(effect):
    f = pb.custom_vjp(lambda x: (effect(), 2.0 * x)[1])
    forward = lambda x: (effect(), (2.0 * x, x))[1]
    f.defvjp(forward, lambda x, bar: (effect(), (2.0 * bar,))[1])
    return f


def with_jvp(effect):
    f = pb.custom_jvp(lambda x: 2.0 * x)
    f.defjvp(lambda xs, dots: (effect(), (2.0 * xs[0], 2.0 * dots[0]))[1])
    return f


def caught(effect):
    """A rule that goes on, whatever its effect raises."""

    def rule(out_bar, residual, wanted):
        try:
            effect()
        except BaseException:
            LOG.append("caught")
        return (2.0 * out_bar,)

    return rule


VJP = lambda effect: lambda bar, residual, wanted: (effect(), (2.0 * bar,))[1]
JVP = lambda effect: lambda out, xs, dots: (effect(), 2.0 * dots[0])[1]
BATCH = lambda effect: lambda xs, mapped, size: (effect(), 2.0 * xs[0])[1]
RULED = {
    "vjp": lambda effect: primitive(effect, defvjp=VJP),
    "vjp that catches": lambda effect: primitive(effect, defvjp=caught),
    "jvp": lambda effect: primitive(effect, defvjp=lambda _: VJP(int), defjvp=JVP),
    "batch": lambda effect: primitive(effect, defvjp=lambda _: VJP(int), defbatch=BATCH),
    "value": of_value,
    "custom vjp": with_vjp,
    "custom jvp": with_jvp,
}
EFFECTS = {
    "print": lambda: LOG.append(print(end="")),
    "clock": lambda: LOG.append(time.time() > 0),
    "random": lambda: LOG.append(np.random.rand() < 1),
    "file": lambda: LOG.append(open("/dev/null").close()),
    "append": lambda: LOG.append(1),
}
ONES = np.ones(2)
TRANSFORMS = {
    "grad": (pb.grad, ONES),
    "hessian": (pb.hessian, ONES),
    "hvp": (lambda f: lambda x: pb.hvp(f)(x, x), ONES),
    "jvp": (lambda f: lambda x: pb.jvp(f, (x,), (x,))[1], ONES),
    "vmap of grad": (lambda f: pb.vmap(pb.grad(f)), np.ones((2, 2))),
    "grad of vmap": (lambda f: pb.grad(lambda x: np.sum(pb.vmap(f)(x))), np.ones((2, 2))),
}


def calls(transform, f, x, n):
    """Each result, or the error, and how often the effect was seen."""
    for k in range(n):
        LOG.clear()
        try:
            result = np.asarray(transform(f)(x + k)).tolist()
        except pb.PullbackError as error:
            result = type(error)
        yield result, list(LOG)


@pytest.mark.share(2)
@pytest.mark.parametrize("rule", RULED)
@pytest.mark.parametrize("effect", EFFECTS)
def test_rules_run_as_often_as_without_compile(rule, effect):
    wrong = []
    for name, (transform, x) in TRANSFORMS.items():
        ruled = RULED[rule](EFFECTS[effect])
        f = lambda x, ruled=ruled: np.sum(ruled(x) ** 2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some fall back to Python
            list(calls(transform, f, x, 1))  # where a rule is asked whether it is linear
            fast = list(calls(transform, pb.compile(f, wait=True), x, 4))
        if fast != list(calls(transform, f, x, 4)):
            wrong.append((name, fast))
    assert not wrong
