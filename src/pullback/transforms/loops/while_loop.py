"""while_loop: a loop whose number of steps depends on values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.cotangent import kept
from ...core.errors import ArgumentTypeError, ShapeError, check_parameters, name_of
from ...core.graph import Equation, Graph, Variable
from ...core.messages import describe
from ...core.spec import Spec, spec_of
from ...core.trace import is_live, running
from ...core.tree import unflatten
from ...core.usage import usage
from ...primitives.shapes import astype_p
from ..transformation import check_function
from .body import Unstaged, example, functional
from .loop_function import Enter, LoopFunction, is_number
from .memory import memory_of
from .scan import Loop, spec_now, with_dtype
from .while_primitive import While


@usage("while_loop(cond, body, init)")
def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    init: Any,
    checkpoint: bool | int = False,
) -> Any:
    """Run carry = body(carry) as long as cond(carry); return the last carry.

    >>> while_loop(lambda x: x < 100.0, lambda x: 2.0 * x, 3.0)
    np.float64(192.0)

    Under a transformation the loop is one operation, which is differentiated in both modes. Under
    `vmap` each example has its own number of steps; body runs on those that are done as well, and
    what it makes of them is left.

    Args:
        cond: a function of the carry that returns one truth value.
        body: a function of the carry that returns a carry of the same shapes.
        init: the carry to begin with, a tree of arrays and numbers.
        checkpoint: as in `scan`.

    Raises:
        ArgumentError: cond gives no truth value, or body another tree than init.
    """
    for fun in (cond, body):
        check_function(fun, "while_loop")
        check_parameters(fun, "while_loop", "carry")
    return WhileLoop(cond, body, init, checkpoint).finish()


class WhileLoop(Loop):
    def __init__(self, cond: Any, body: Any, init: Any, keep: Any) -> None:
        super().__init__(body, init, None, 1, False, keep, "while_loop")
        self.cond = cond
        self.condition = LoopFunction(cond, "while_loop", self.structure, None, 0)

    def goes_on(self, carry: list[Any]) -> bool:
        return bool(self.truth(self.cond(*self.condition.arguments(carry, []))))

    def truth(self, flag: Any) -> Any:
        """The answer of cond, which is one truth value."""
        if not isinstance(flag, (bool, np.generic)) and not hasattr(flag, "dtype"):
            raise ArgumentTypeError(
                f"`while_loop` asks `{name_of(self.cond)}` whether to go on, but it returned"
                f" {describe(flag)}.\n  Return one truth value, such as `x > 0`."
            )
        if getattr(flag, "shape", ()):
            raise ShapeError(
                f"`while_loop` asks `{name_of(self.cond)}` whether to go on, but it returned"
                f" {describe(flag)}.\n  Return one truth value, as `np.any` and `np.all` give it."
            )
        return flag

    def finish(self) -> Any:
        inside = running() is not None
        if inside or any(map(is_live, self.carry)):
            return self.counted(inside)
        return self.stepwise(False)

    def counted(self, inside: bool) -> Any:
        try:
            return self.as_loop()
        except Unstaged:
            self.compare_steps()
            return self.stepwise(True)

    def compare_all(self, lifted: list[Any], first: Any) -> None:
        """The number of steps is not known, and so a body that remembers something is refused."""
        self.function.refuse("it")

    def stepwise(self, inside: bool) -> Any:
        """A loop of Python's, on plain values or on Arrays."""
        carry = list(map(kept, self.carry))
        specs = [spec_now(x) for x in carry]
        first = True
        while self.goes_on(carry):
            carry, _, _ = self.function.split(self.fun(*self.function.arguments(carry, [])))
            if first and not inside and any(map(is_live, carry)):
                return self.counted(True)  # it closes over eager arrays
            new = [spec_now(x) for x in carry]
            for before, after in zip(specs, new, strict=True):
                if before is not None and before.weak is None:
                    self.function.check(before, after)
            specs, first = new, False
        return unflatten(self.structure, [with_dtype(x) if is_number(x) else x for x in carry])

    def as_loop(self) -> Any:
        """As one operation, whatever the number of steps."""
        scan, operands, _ = self.staged()
        consts, carry, _ = scan.parts(operands)
        entered, before = [Enter(x) for x in carry], memory_of(self.cond)
        structure, graph, captured = self.condition.written(entered, [])
        structure_again, again, captured_again = self.condition.written(entered, [])
        self.condition.compare(
            (graph, captured, structure), (again, captured_again, structure_again)
        )
        if memory_of(self.cond) != before:
            self.condition.refuse("it")
        self.truth(unflatten(structure, [blank(x) for x in graph.outputs]))
        n, m = len(carry), len(consts)
        examples = [*map(example, captured), *scan.examples]
        inputs = [*graph.inputs[n:], *like(consts), *graph.inputs[:n]]
        cond, body = Graph(inputs, graph.equations, graph.outputs), scan.body
        body = Graph([*like(captured), *body.inputs], body.equations, body.outputs)
        loop = While(functional(truth(cond)), body, len(captured) + m, examples, self.keep)
        outs = loop(*captured, *operands)
        return unflatten(self.structure, list(outs[:n]))


def blank(x: Any) -> Any:
    """A value like an output of a graph."""
    return np.ones(x.spec.shape, x.spec.dtype)[()] if isinstance(x, Variable) else x


def like(xs: Sequence[Any]) -> list[Variable]:
    """Inputs for operands that a graph does not read."""
    return [Variable(spec_of(x)) for x in xs]


def truth(cond: Graph) -> Graph:
    """The graph with an output that is a truth value."""
    (x,) = cond.outputs
    if not isinstance(x, Variable):
        return Graph(cond.inputs, cond.equations, [np.bool_(x)])
    if x.spec.dtype == bool:
        return cond
    flag = Variable(Spec((), np.dtype(bool)))
    cast = Equation(astype_p, (x,), (flag,), {"dtype": flag.spec.dtype})
    return Graph(cond.inputs, [*cond.equations, cast], [flag])
