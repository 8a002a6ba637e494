"""Loops in machine code while a function is recorded: its first call need not wait for Python."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from ..core.graph import Equation, Graph, Variable
from ..core.rebind import OFF, SESSION, learn
from ..core.spec import Spec
from ..primitives import load
from ..transforms.reverse import STAGED
from ..transforms.scans import FASTER, Scan
from .program import Program
from .rolling import structure

__all__ = ["Faster", "faster"]

LONG = 2000  # equations done in a loop from which machine code pays


@contextmanager
def faster(loops: Faster) -> Iterator[None]:
    """Run long loops in machine code, and import before what a recording needs."""
    load(everything=False)
    if SESSION.get() is not OFF:
        learn()
    token = FASTER.set(loops)
    try:
        yield
    finally:
        FASTER.reset(token)


class Faster:
    """What a `Scan` asks for while a function is recorded, and then runs: the same loops twice."""

    def __init__(self) -> None:
        self.programs: dict[Any, tuple[Scan, Any]] = {}  # each with a loop that has its key

    def run(self, scan: Scan, xs: Sequence[Any]) -> Any:
        """The results of a loop on plain operands."""
        if scan.length * work(scan.body) < LONG:
            return scan.looped(xs, scan.length)
        return scan.derive("program", lambda: self.program(scan))(*xs)

    def program(self, scan: Scan) -> Any:
        key: Any = scan
        with suppress(TypeError):  # a parameter that is no key of a dict
            counts = scan.length, scan.reverse, scan.n_consts, scan.n_carry
            key = (*counts, *structure(scan.body))
        if key not in self.programs:
            self.programs[key] = scan, program(scan)
        return self.programs[key][1]

    def make(self, make: Callable[[], Any]) -> Any:
        """What is made here runs no code of the user's, which would have to be watched."""
        before, token = sys.getprofile(), STAGED.set(None)
        sys.setprofile(None)
        try:
            return make()
        finally:
            STAGED.reset(token)
            sys.setprofile(before)


def work(body: Graph) -> int:
    """How many equations a step does."""
    return sum(
        [
            e.primitive.length * work(e.primitive.body) if isinstance(e.primitive, Scan) else 1
            for e in body.equations
        ]
    )


def program(scan: Scan) -> Any:
    inputs = [Variable(x.spec) for x in scan.body.inputs]
    first = scan.n_consts + scan.n_carry
    rows = [Spec((scan.length, *x.spec.shape), x.spec.dtype) for x in inputs[first:]]
    inputs[first:] = map(Variable, rows)
    outputs = tuple([Variable(spec) for spec in scan.spec()])
    graph = Graph(inputs, [Equation(scan, tuple(inputs), outputs, {})], outputs)
    return Program(graph, 0, native=False)  # it is run once or twice
