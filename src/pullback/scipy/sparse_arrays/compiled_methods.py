"""SciPy's iterative methods in machine code.

Enters: a function of SciPy that solves A x = b in one Python loop, its options, a pattern.
Leaves: a compiled function of the numbers of A, of b and of the initial guess. It is SciPy's own
code, recorded like any other: the loop becomes a `While` (see `compiler.record.while_loops`), and
products with A are machine code (`products`). `gmres`, which has loops within loops, is written in
`restarted`.

They are compiled for calls that a compiled program replays, and for systems that are solved many
times. Other nested loops, and loops whose tests are counted in Python, run as SciPy's own code.
"""

from __future__ import annotations

import dis
import inspect
from collections import OrderedDict
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from scipy.sparse import linalg as ssl

from ...compiler.call.compiled import Compiled
from ...compiler.record.loop_tests import tests_in
from ...core.silence import without_warnings
from ..solving.serving import traced
from .products import product
from .restarted import gmres

KEPT = 32
MADE: OrderedDict[Any, tuple[Any, CompiledMethod]] = OrderedDict()
WRITTEN: dict[Any, Callable[..., Any]] = {ssl.gmres: gmres}  # of real numbers
PLAIN = (int, float, str, bool, type(None), np.generic)


class CompiledMethod(Compiled):
    """A compiled method; where it falls back to Python, SciPy is called instead."""

    def refuse(self, why: str, cure: str | None = None) -> Any:
        with without_warnings():  # SciPy's method serves as well
            return super().refuse(why, cure)


class TracedOperator(ssl.LinearOperator):
    """Products with an array of constant pattern, as operations."""

    def __init__(self, data: Any, outer: Any, inner: Any, fmt: str, shape: Any) -> None:
        super().__init__(data.dtype, shape)
        other = "csr" if fmt == "csc" else "csc"
        self.matvec = partial(times, data, outer, inner, fmt, shape)
        self.rmatvec = partial(times, np.conj(data), outer, inner, other, shape)

    def _matvec(self, x: Any) -> Any:
        return self.matvec(x)

    def _rmatvec(self, x: Any) -> Any:
        return self.rmatvec(x)


def times(data: Any, outer: Any, inner: Any, fmt: str, shape: Any, x: Any) -> Any:
    return product(data, x, outer, inner, fmt=fmt, shape=shape)


class Unconditioned(ssl.LinearOperator):
    """The preconditioner of methods that are called without one."""

    def __init__(self, A: Any) -> None:
        super().__init__(A.dtype, A.shape)
        self.matvec = self.rmatvec = same

    def _matvec(self, x: Any) -> Any:
        return x


def same(x: Any) -> Any:
    return x


@cache
def is_one_loop(original: Callable[..., Any]) -> bool:
    """Whether a function has only one loop, and a test of values ends it."""
    code = inspect.unwrap(original).__code__
    loops = [x for x in dis.get_instructions(code) if x.opname == "FOR_ITER"]
    return len(loops) == 1 and any(test.counter for test in tests_in(code).values())


def compiled_method(
    original: Callable[..., Any],
    options: dict[str, Any],
    pattern: Any,
    shape: Any,
    dtype: Any = np.float64,
) -> CompiledMethod | None:
    """(data, b, x0) -> x, what SciPy says of it, how far A x is from b, and the size of b.

    None where SciPy itself is called.
    """
    written = original in WRITTEN and np.dtype(dtype).kind == "f"
    if not (written or is_one_loop(original)):
        return None
    options = {key: x for key, x in options.items() if key != "x0"}
    outer, inner, fmt = pattern
    key = original, id(outer), id(inner), fmt, shape, *options.items()
    if not all(isinstance(x, PLAIN) for x in options.values()):
        return None
    if key not in MADE:
        method = CompiledMethod(program(original, options, pattern, shape), (), ())
        MADE[key] = pattern, method
        while len(MADE) > KEPT:
            MADE.popitem(last=False)
    _, method = MADE[key]
    return method


def program(
    original: Callable[..., Any], options: dict[str, Any], pattern: Any, shape: Any
) -> Callable[..., Any]:
    """What is compiled."""
    of_scipy = WRITTEN.get(original) or traced(inspect.unwrap(original))
    outer, inner, fmt = pattern
    conditioned = "M" in options

    def solved(data: Any, b: Any, x0: Any) -> Any:
        A = TracedOperator(data, outer, inner, fmt, shape)
        more = {"M": Unconditioned(A)} if conditioned else {}
        x, info = of_scipy(A, b, x0, **{**options, **more})
        return x, info, np.linalg.norm(A.matvec(x) - b), np.linalg.norm(b)

    return solved
