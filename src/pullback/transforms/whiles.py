"""while_loop: a loop whose number of steps depends on values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.array import Array
from ..core.errors import ArgumentTypeError, ShapeError, name_of
from ..core.graph import Graph, Variable
from ..core.primitive import Primitive
from ..core.spec import Spec
from ..core.trace import running
from ..core.tree import unflatten
from .batch import BatchTrace, vmap
from .bodies import Steps, Unstaged, example, functional, recorded
from .common import check_function, describe
from .loops import Enter, Loop, is_live, is_number, own, plain, segmented, spec_now
from .scans import Scan

__all__ = ["while_loop"]


def while_loop(
    cond: Callable[..., Any], body: Callable[..., Any], init: Any, checkpoint: bool | int = False
) -> Any:
    """Run carry = body(carry) as long as cond(carry); return the last carry.

    >>> while_loop(lambda x: x < 100.0, lambda x: 2.0 * x, 3.0)
    np.float64(192.0)

    Under a transformation the steps are counted first, and a loop of that many is differentiated,
    in reverse mode too. Under `vmap` each example has its own number of steps; body runs on those
    that are done as well, and what it makes of them is left.
    """
    check_function(cond, "while_loop")
    check_function(body, "while_loop")
    return While(cond, body, init, checkpoint).finish()


class While(Loop):
    def __init__(self, cond: Any, body: Any, init: Any, keep: Any) -> None:
        super().__init__(body, init, None, 1, False, keep, "while_loop")
        self.cond = cond

    def arguments(self, carry: list[Any], row: list[Any]) -> Any:
        return (unflatten(self.structure, carry),)

    def goes_on(self, carry: list[Any]) -> bool:
        return bool(self.truth(self.cond(*self.arguments(carry, []))))

    def truth(self, flag: Any) -> Any:
        """The answer of cond, which is one truth value."""
        if not isinstance(flag, (bool, np.generic)) and not hasattr(flag, "dtype"):
            raise ArgumentTypeError(
                f"`while_loop` asks `{name_of(self.cond)}` whether to go on, but it returned"
                f" {describe(flag)}.\n  Return one truth value."
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
            return self.stepwise(True)

    def stepwise(self, inside: bool) -> Any:
        """A loop of Python's, on plain values or on Arrays."""
        carry = list(map(own, self.carry))
        specs = [spec_now(x) for x in carry]
        first = True
        while self.goes_on(carry):
            carry, _, _ = self.split(self.fun(*self.arguments(carry, [])))
            if first and not inside and any(map(is_live, carry)):
                return self.counted(True)  # it closes over eager arrays
            new = [spec_now(x) for x in carry]
            for before, after in zip(specs, new, strict=True):
                if before is not None and before.weak is None:
                    self.check(before, after)
            specs, first = new, False
        return unflatten(self.structure, [plain(x) if is_number(x) else x for x in carry])

    def as_loop(self) -> Any:
        """Count the steps, then do them as one operation."""
        loop, operands, _ = self.staged()
        _, carry, _ = loop.parts(operands)
        structure, graph, captured = self.written(self.cond, [Enter(x) for x in carry], [])
        self.truth(unflatten(structure, [blank(x) for x in graph.outputs]))
        n = len(carry)
        cond = Graph([*graph.inputs[n:], *graph.inputs[:n]], graph.equations, graph.outputs)
        examples = [*map(example, captured), *loop.examples]
        trips = Trips(functional(cond), loop.body, (len(captured), loop.n_consts), examples)
        steps, mapped = largest(trips(*captured, *operands))
        if not mapped:
            loop.length = steps
            outs = segmented(loop, operands, self.keep)
        else:
            body = recorded(trips.masked, examples)
            n_consts = len(captured) + loop.n_consts
            loop = Scan(body, n_consts, n, steps, False, examples)
            outs = segmented(loop, [*captured, *operands], self.keep)
        return unflatten(self.structure, list(outs))


def blank(x: Any) -> Any:
    """A value like an output of a graph."""
    return np.ones(x.spec.shape, x.spec.dtype)[()] if isinstance(x, Variable) else x


def largest(n: Any) -> tuple[int, bool]:
    """The largest number of steps, and whether examples of a batch differ in it."""
    mapped = False
    while type(n) is Array and isinstance(n.within, BatchTrace):
        n, mapped = n.value, True
    if n.ndim:
        n = np.max(n) if n.size else 0
    return int(n), mapped


class Trips(Primitive):
    """How often the body runs, from (*consts of cond, *consts of body, *carry)."""

    name = "trips"
    constant = True

    def __init__(self, cond: Graph, body: Graph, counts: tuple[int, int], examples: Any) -> None:
        # An instance for each loop, as `Scan`.
        self.cond, self.body, self.examples = cond, body, list(examples)
        self.n_cond, self.n_body = counts
        (flag,) = cond.outputs
        self.shape = flag.spec.shape if isinstance(flag, Variable) else np.shape(flag)

    def operands(self, xs: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        a, b = self.n_cond, self.n_cond + self.n_body
        return list(xs[:a]), list(xs[a:b]), list(xs[b:])

    def value(self, *xs: Any) -> Any:
        of_cond, of_body, carry = self.operands(xs)
        cond, body = Steps(self.cond), Steps(self.body)
        for_cond, for_body = cond.opened(), body.opened()
        count: Any = np.zeros(self.shape, np.int64)
        active: Any = np.ones(self.shape, bool)
        with np.errstate(all="ignore"):  # the loop itself will warn
            while True:
                active = active & cond(of_cond + carry, for_cond)[0]
                if not active.any():
                    return count[()]
                count = count + active
                new = body(of_body + carry, for_body)
                carry = [chosen(active, x, y) for x, y in zip(new, carry, strict=True)]

    def spec(self, *xs: Any) -> Spec:
        return Spec(self.shape, np.int64)

    def masked(self, *xs: Any) -> tuple[Any, ...]:
        """One step of the examples that go on."""
        of_cond, of_body, carry = self.operands(xs)
        (flag,) = self.cond.evaluate(*of_cond, *carry)
        new = self.body.evaluate(*of_body, *carry)
        return tuple([np.where(flag, x, y) for x, y in zip(new, carry, strict=True)])

    def batch(self, xs: Any, mapped: Any, size: int) -> Any:
        were = mapped
        of_cond, of_body, _ = self.operands(mapped)
        n = len(self.examples) - len(of_cond) - len(of_body)
        mapped = (*of_cond, *of_body, *(True,) * n)  # a carry may become mapped
        xs = [
            np.broadcast_to(x, (size, *np.shape(x))) if m and not was else x
            for x, m, was in zip(xs, mapped, were, strict=True)
        ]
        return self.batched(mapped, size)(*xs)

    def batched(self, mapped: tuple[bool, ...], size: int) -> Trips:
        examples = [
            np.broadcast_to(x, (size, *np.shape(x))) if m else x
            for x, m in zip(self.examples, mapped, strict=True)
        ]
        of_cond, of_body, carry = self.operands(mapped)
        plain_cond, plain_body, values = self.operands(examples)

        def axes(flags: Sequence[bool]) -> tuple[int | None, ...]:
            return tuple([0 if m else None for m in flags])

        cond = recorded(
            vmap(self.cond.evaluate, in_axes=axes([*of_cond, *carry])), [*plain_cond, *values]
        )
        body = recorded(
            vmap(self.body.evaluate, in_axes=axes([*of_body, *carry])), [*plain_body, *values]
        )
        return Trips(cond, body, (self.n_cond, self.n_body), examples)


def chosen(active: Any, new: Any, old: Any) -> Any:
    """New values of the examples that are active."""
    if not active.ndim:
        return new
    new = np.asarray(new)
    return np.where(np.reshape(active, active.shape + (1,) * (new.ndim - active.ndim)), new, old)
