"""`pullback.numexpr`, by a stand-in for numexpr, which computes plain numbers with NumPy."""

import sys
import types

import numpy as np
import pytest

import pullback as pb
from pullback.core.reach import namespaces

A = np.array([0.5, 1.5, 2.5])


def evaluate(ex, local_dict=None, global_dict=None, out=None, **options):
    frame = sys._getframe(1)
    scope = {**frame.f_globals, **frame.f_locals} if local_dict is None else {**local_dict}
    names = {name: getattr(np, name) for name in ("exp", "where", "sum", "sqrt", "arctan2")}
    for x in scope.values():
        if type(x).__name__ == "Array":
            raise TypeError("numexpr takes plain arrays")
    result = np.asarray(eval(ex, {**names, **scope}))
    if out is not None:
        out[...] = result
    return result if out is None else out


@pytest.fixture
def ne(monkeypatch):
    module = types.ModuleType("numexpr")
    module.evaluate = evaluate
    module.re_evaluate = lambda: None
    monkeypatch.setitem(sys.modules, "numexpr", module)
    module.evaluate.__module__ = "numexpr.necompiler"
    yield module
    namespaces.SCANNED.pop("numexpr", None)
    namespaces.LOADED[0] = 0


def programs(ne):
    def into(x):
        out = np.zeros(3)
        ne.evaluate("x * A", out=out)
        return out.sum()

    def again(x):
        out = ne.evaluate("x * 2.0")
        x = x + 1.0
        return (out + ne.re_evaluate()).sum()

    return {
        "locals and globals": lambda x: ne.evaluate("exp(-x) + A * x").sum(),
        "operators": lambda x: ne.evaluate("-x ** 2 / 3 + 1.5 * x % 2").sum(),
        "a choice": lambda x: ne.evaluate("where((x > 1) & (A < 2), x * x, arctan2(x, A))").sum(),
        "a reduction": lambda x: ne.evaluate("sum(sqrt(x))")[()],
        "a dictionary": lambda x: ne.evaluate("b * c", local_dict={"b": x, "c": x + A}).sum(),
        "parts": lambda x: ne.evaluate("(x * (1.0 + 2j)).imag").sum(),
        "out": into,
        "again": again,
        "constants": lambda x: x[0] * ne.evaluate("A + b", {"A": np.ones(3), "b": A})[1],
    }


@pytest.mark.filterwarnings("ignore:.*falls back:RuntimeWarning")
def test_evaluate(ne):
    faults = {}
    x = np.array([0.4, 1.3, 2.2])
    ne.re_evaluate = lambda: evaluate("x * 2.0", sys._getframe(1).f_locals)
    for name, f in programs(ne).items():
        expected = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
        try:
            value, gradient = pb.value_and_grad(f)(x)
            compiled = pb.compile(pb.grad(f))
            results = [gradient, *[compiled(x) for _ in range(3)]]
        except Exception as error:
            faults[name] = repr(error)[:300]
            continue
        if not np.isclose(value, f(x), rtol=1e-12) or not np.allclose(results, expected, 1e-6):
            faults[name] = value, results, expected
    assert faults == {}


@pytest.mark.filterwarnings("ignore:.*falls back:RuntimeWarning")
def test_a_name_of_the_module_is_not_stale(ne):
    compiled = pb.compile(pb.grad(lambda x: ne.evaluate("x * SCALE").sum()))
    results = []
    for scale in (1.0, 2.0, 3.0, 4.0, 5.0):
        globals()["SCALE"] = scale
        results.append(compiled(A)[0])
    assert results == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_is_compiled(ne):
    compiled = pb.compile(
        pb.grad(lambda x: ne.evaluate("x * exp(b * x)", {"x": x, "b": 2.0}).sum())
    )
    slopes = [compiled(A) for _ in range(40)]
    np.testing.assert_allclose(slopes, [np.exp(2 * A) * (1 + 2 * A)] * 40)
    assert compiled.refusal is None


SCALE = 1.0
