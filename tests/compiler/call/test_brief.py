"""Inner gradients of functions with few operations, in a recording."""

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.facts.call_monitor import Watch
from pullback.compiler.record import stage_inner
from pullback.compiler.record.compile_trace import CompileTrace
from pullback.compiler.record.gated import gated
from pullback.compiler.record.guards import Questions
from pullback.core.array import Array
from pullback.core.graph import Graph, Variable
from pullback.core.spec import spec_of
from pullback.core.trace import run

X = np.linspace(0.2, 1.0, 4)
OTHER = 1.001 * X  # for which Python asks and is answered alike


def steps(inner):
    """Six steps along a function of the place."""

    def f(x):
        y = x
        for _ in range(6):
            y = y - 0.1 * inner(y)
        return np.sum(y * y)

    return f


def into(z):
    out = np.zeros(4)
    for i in range(2):
        out[i] = z[i] ** 2
    return np.sum(out)


def iterated(k):
    def f(z):
        for _ in range(k):
            z = np.sin(z)
        return np.sum(z)

    return f


grad = pb.grad
BRIEF = {
    "sum": steps(lambda y: grad(lambda z: np.sum(np.sin(z) * z))(y)),
    "captured": steps(lambda y: grad(lambda z: np.sum(np.sin(z) * y))(y)),
    "value": steps(lambda y: np.multiply(*pb.value_and_grad(lambda z: np.sum(z * z))(y))),
    "stopped": steps(lambda y: grad(lambda z: np.sum(pb.stop_gradient(z) * z))(y)),
    "number": lambda x: sum(grad(lambda t: t * t / (1 + t))(x[i]) for i in range(4)),
    "mapped": steps(lambda y: pb.vmap(grad(lambda t: np.sin(t) * t))(y)),
    "along": steps(lambda y: pb.jvp(grad(lambda z: np.sum(z**3)), (y,), (y,))[1]),
    "hessian": steps(lambda y: pb.hessian(lambda z: np.sum(z**3))(y) @ y),
    "kink": steps(lambda y: grad(lambda z: np.sum(np.maximum(z, 0.517)))(y)),
    "norm": steps(lambda y: grad(np.linalg.norm)(y)),
}
OTHERS = {
    "twice": steps(lambda y: grad(lambda z: np.sum(grad(lambda w: np.sum(w**3))(z) * z))(y)),
    "written": steps(lambda y: grad(into)(y)),
    "branch": steps(lambda y: grad(lambda z: np.sum(z * z) if z[0] > 0.1 else np.sum(z))(y)),
    "longer": lambda x: sum([np.sum(grad(iterated(k))(x)) for k in (1, 3, 40, 2)]),
}


@pytest.fixture
def staged_calls(monkeypatch):
    """The functions that are recorded before they are differentiated."""
    calls, made = [], stage_inner.InnerCall.__init__

    def counted(call, verb, fun, base):
        calls.append(stage_inner.code_of(fun))
        made(call, verb, fun, base)

    monkeypatch.setattr(stage_inner.InnerCall, "__init__", counted)
    return calls


def graph_of(f):
    watch, variable = Watch(), Variable(spec_of(X))
    trace = CompileTrace("compile", f, Questions(watch))
    try:
        with stage_inner.staging(), watch:
            out = run(trace, f, (Array(X, trace, variable),), {})
        return Graph([variable], gated(trace.state), [out.node]).pruned()
    finally:
        trace.end()


def test_what_is_recorded_is_what_the_function_does(staged_calls):
    """Each piece of code is recorded by itself once, and that changes no result."""
    wrong, often = [], []
    for name, f in (BRIEF | OTHERS).items():
        for order in (0, 1):
            g = grad(f) if order else f
            staged_calls.clear()
            (out,) = graph_of(g).evaluate(OTHER)
            if not np.allclose(out, g(OTHER), rtol=1e-12, atol=0):
                wrong.append((name, order))
            codes = [code for code in staged_calls if code is not None]
            if name in BRIEF and not order and len(codes) > len(set(codes)):
                often.append(name)
    assert not wrong
    assert not often


def test_code_that_may_be_longer_another_time_is_rolled():
    """A loop, code that calls other code, and code in other code."""

    def long(k):
        def f(z):
            for _ in range(k):
                z = np.sin(z) * z + 0.1 * np.cos(z)
            return np.sum(z)

        return f

    def calling(k):
        g = long(k)
        return lambda z: g(z)

    for make in (long, calling):
        graph = graph_of(lambda x, make=make: sum([np.sum(grad(make(k))(x)) for k in (1, 99)]))
        assert "scan" in {e.primitive.name for e in graph.equations}, make
