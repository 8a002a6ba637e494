"""Loops in machine code while a function is recorded: its first call need not wait for Python."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..core.graph import Equation, Graph, Variable
from ..core.namespaces import LOADED, scan
from ..core.rebind import OFF, SESSION
from ..core.spec import Spec, spec_of
from ..primitives import load
from ..transforms.dynamic import While, WhilePull
from ..transforms.reverse import STAGED
from ..transforms.scans import FASTER, Scan
from .program import build

__all__ = ["faster"]

LONG = 2000  # equations done in a loop from which machine code pays


@contextmanager
def faster() -> Iterator[None]:
    """Run long loops in machine code, and import before what a recording needs."""
    load()
    if SESSION.get() is not OFF and len(sys.modules) != LOADED[0]:
        scan()
    token = FASTER.set(Faster())
    try:
        yield
    finally:
        FASTER.reset(token)


class Faster:
    """What a `Scan` asks for while a function is recorded."""

    def run(self, scan: Scan, xs: Sequence[Any]) -> Any:
        """The results of a loop on plain operands."""
        if scan.length * work(scan.body) < LONG:
            return scan.looped(xs, scan.length)
        return scan.derive("program", lambda: program(scan))(*xs)

    def wait(self, loop: While, xs: Sequence[Any]) -> Any:
        """The results of a loop that may turn out to be long."""
        found = loop.looped(xs, LONG // max(1, work(loop.cond) + work(loop.body)))
        return found or loop.derive("program", lambda: program_of(loop, loop.body.inputs))(*xs)

    def back(self, loop: WhilePull, xs: Sequence[Any]) -> Any:
        """The results of a way back."""
        if int(loop.parts(xs)[2]) * work(loop.pull_graph) < LONG:
            return loop.looped(xs)
        inputs = [Variable(spec_of(x)) for x in xs]
        return loop.step.derive("back program", lambda: program_of(loop, inputs))(*xs)

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
    return program_of(scan, inputs)


def program_of(loop: Any, inputs: Sequence[Variable]) -> Any:
    """One loop as a program."""
    outputs = tuple([Variable(spec) for spec in loop.spec()])
    return build(Graph(inputs, [Equation(loop, tuple(inputs), outputs, {})], outputs), 0)
