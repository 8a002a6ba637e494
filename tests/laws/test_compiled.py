"""What is compiled gives what is not: graphs of every sample and its gradient, and its calls.

Machine code is made at the lowest level here, and for a quarter of the calls at the best one; in
the long tests for all of them.
"""

import zlib
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import pytest

from pullback import vjp
from pullback.compiler import path
from pullback.compiler.graph.optimise import optimised
from pullback.compiler.llvm.binding import BEST
from pullback.compiler.lower.role import is_exact
from pullback.compiler.program import Program
from pullback.core.differences import precision
from pullback.core.graph import Graph
from pullback.core.spec import is_inexact
from pullback.core.storage import TALLY
from pullback.primitives.rounding import Rounded
from pullback.testing import Problem, check_compiled, staged
from pullback.transforms.loops.body import Repeated
from tests.budgets import LONG
from tests.laws.common import OTHERS, for_all_samples, unreadable_names

LEVEL = 0


def compare(out, right, exact, tolerance, what):
    assert type(out) is type(right), f"{what}: {type(out)}, not {type(right)}"
    if not isinstance(right, (np.ndarray, np.generic)):
        assert out == right or (out != out and right != right), what
        return
    assert (out.shape, out.dtype) == (right.shape, right.dtype), what
    if exact or not is_inexact(right.dtype):
        np.testing.assert_array_equal(out, right, err_msg=what)
        if right.dtype.kind == "f":
            number = ~np.isnan(right)
            signs = np.signbit(out) == np.signbit(right)
            assert np.all(signs | ~number), f"{what}: the sign of a zero"
        return
    finite = np.abs(right[np.isfinite(right)]) if right.ndim else np.abs(right)
    scale = max(1.0, float(np.max(finite, initial=0.0, where=np.isfinite(finite))))
    np.testing.assert_allclose(out, right, rtol=tolerance, atol=tolerance * scale, err_msg=what)


def equations_of(graph):
    """The equations of a graph, and those of the bodies of its loops."""
    for e in graph.equations:
        yield e
        if isinstance(e.primitive, Repeated):
            yield from equations_of(optimised(e.primitive.body))


def is_complex(e):
    return any(x.spec.dtype.kind == "c" for x in e.outputs)


def promises_bits(graph):
    """Whether machine code is to give the very bits that NumPy gives."""
    # A product of complex matrices is rounded in its own way, whatever becomes of it.
    products = [e for e in graph.equations if is_complex(e)]
    composed = any(isinstance(e.primitive, Rounded) for e in equations_of(graph))
    return not composed and all(
        is_exact(e.primitive, np.result_type(*[x.spec.dtype for x in e.outputs]))
        for e in [*products, *equations_of(optimised(graph))]
    )


def equal_bits(out, right):
    """Whether there is nothing to tell them apart by."""
    if type(out) is not type(right) or not isinstance(right, (np.ndarray, np.generic)):
        return False
    kind = (out.shape, out.dtype) == (right.shape, right.dtype)
    return kind and out.tobytes() == right.tobytes()


def check_graph(graph, xs, *names, start=None):
    """A program gives what its graph gives; outputs from number `start` on have a second name."""
    expected = graph.evaluate(*xs)
    before = [np.array(x) for x in xs]
    program = Program(graph, level=LEVEL)
    outs = program(*xs)
    again = program(*xs)
    assert len(outs) == len(expected)
    for what, part in zip(names, (slice(start), slice(start, None)), strict=False):
        pairs = zip(outs[part], expected[part], strict=True)
        differing = [pair for pair in pairs if not equal_bits(*pair)]
        if not differing:
            continue
        needed = Graph(graph.inputs, graph.equations, graph.outputs[part]).pruned()
        tolerance = 50 * precision([x.spec for e in needed.equations for x in e.outputs], xs)
        exact = promises_bits(needed)
        for out, right in differing:
            compare(out, right, exact, tolerance, what)
    for out, second in zip(outs, again, strict=True):
        if isinstance(out, np.ndarray):
            assert out.flags.writeable, names
            others = [*[x for x in outs if x is not out], *xs, second]
            assert not any(np.may_share_memory(out, x) for x in others), f"{names}: shared memory"
    for x, old in zip(xs, before, strict=True):
        np.testing.assert_array_equal(x, old, err_msg=f"{names}: an argument was changed")


def check_graphs(sample):
    """One program of a function's values and gradient gives what its graph gives."""
    problem = Problem(sample)
    xs, values = problem.xs, problem.results(*problem.xs)
    bars = tuple([problem.like(out) for out in problem(*xs)])
    with layout_unasked(sample):
        graph, _ = staged(lambda *xs: [*problem.results(*xs), *vjp(problem, *xs)[1](bars)], xs)
    check_graph(graph, xs, "value", "gradient", start=len(values))


@contextmanager
def layout_unasked(sample):
    """What rules ask of an array's memory is not the program's question: that slows its calls."""
    asked = TALLY.asked
    TALLY.recordings += 1
    try:
        yield
    finally:
        TALLY.recordings -= 1
    flags = str(sample) == "isfortran" or "W" in (sample.kwargs.get("requirements") or ())
    assert TALLY.asked == asked or flags


def level_of(sample):
    """The level of the machine code that calls of a sample are repeated by."""
    return BEST if LONG or zlib.crc32(str(sample).encode()) % 4 == 0 else LEVEL


def check_calls(sample):
    """A compiled function gives what the function gives: when it is recorded, and repeated."""
    with patch.object(path, "BEST", level_of(sample)):
        try:
            check_compiled(sample)
        except TypeError:  # a Python float has no x[()]
            with pytest.raises(TypeError):
                sample.fun(*sample.args, **sample.kwargs)


def check_both(sample):
    """Graphs are computed as they are without machine code, and calls as without `compile`."""
    check_graphs(sample)
    check_calls(sample)


@pytest.fixture(autouse=True, scope="module")
def names():
    """Renaming an operation changes nothing."""
    with unreadable_names():
        yield


test_compiled = for_all_samples(check_both, functions=4, shares=OTHERS)
