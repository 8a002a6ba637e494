"""Arrays in a result whose length the solver chooses, such as `y` of `solve_ivp`.

A recording depends on what the program reads of them, and not on how long they are:

    sol.y[:, -1], sol.y[0].max()    a result of the operation, for any number of steps
    sol.y @ w, len(sol.t)           this number of steps; with others the recording isn't valid

Enters: such an array, as the operation's recording found it. Leaves: an Array of which nothing is
in the recording yet. What is done with it alone is put off; as soon as it meets other Arrays or is
asked for its shape, what was put off becomes a result of the solver's operation, or is checked in
each replay.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...compiler.record.own_code import is_ours
from ...core.array import Array
from ...core.graph import Variable
from ...core.primitive import Primitive
from ...core.spec import spec_of
from ...core.storage import adopt, root_storage
from ...core.trace import CONSTANT, Trace, bind, youngest
from ...primitives.indexing import getitem_p
from ...transforms.stage import StageTrace
from .plain import shallow
from .programs import Changed
from .results import LeafOfResult, checked


class PutOff:
    """What is computed from arrays of a result alone."""

    def __init__(self, primitive: Primitive, xs: tuple[Any, ...], static: dict[str, Any]) -> None:
        self.primitive, self.xs, self.static = primitive, xs, static

    def of(self, leaves: Mapping[LeafOfResult, Any]) -> Any:
        """Its value for the arrays of a result."""
        xs = [computed(x, leaves) for x in self.xs]
        if self.primitive is getitem_p and len(xs) == 1:  # what isn't an array may have parts
            return xs[0][self.static["key"]]
        return self.primitive(*map(whole, xs), **self.static)


def computed(x: Any, leaves: Mapping[LeafOfResult, Any]) -> Any:
    """The value of what is put off, of an array of the result, or of a constant."""
    if type(x) is LeafOfResult:
        return leaves[x]
    return x.of(leaves) if type(x) is PutOff else x


ASK: dict[str, Any] = {"shape": np.shape, "length": len}


class PartsRead:
    """What is read of the arrays that vary in a call's result.

    The operation is told of each; where derivatives are taken around the recording it can't be, and
    the part is an operation by itself.
    """

    def __init__(self, solver: Any) -> None:
        self.solver, self.alone = solver, False
        self.found: dict[LeafOfResult, Any] = {}
        self.read: list[tuple[Any, LeafOfResult]] = []
        self.lengths: list[tuple[Any, Any, Any]] = []  # what is asked of what, and the answer
        self.call: Any = None
        self.trace: Any = None  # that has the operation

    def __getstate__(self) -> dict[str, Any]:
        """For an artifact on disk, to which nothing is added."""
        return {**vars(self), "found": {}, "call": None, "trace": None}

    def begin(self, call: Any, xs: Any) -> None:
        """Note the operation on xs, if the youngest trace of these is what records it."""
        trace = youngest(xs)
        if isinstance(trace, StageTrace) and self.call is None:
            self.call, self.trace = call, trace

    def arrays(self, leaves: Any) -> dict[LeafOfResult, Array]:
        """Arrays that stand for those that vary."""
        self.found = {leaf: x for leaf, x in leaves if leaf.varies}
        trace = UnreadTrace("compile", None, self)
        return {leaf: trace.array(x, leaf) for leaf, x in self.found.items()}

    def depends(self, node: Any, ask: str, answer: Any) -> None:
        """Let the recording be valid only where the answer is the same."""
        self.lengths.append((node, ask, answer))

    def found_in(self, leaves: Any) -> list[Any]:
        """What was read, of another result.

        Raises:
            Changed: the program would have gone on in another way.
        """
        found = {leaf: x for leaf, x in leaves if leaf.varies}
        with np.errstate(all="ignore"):
            if any(
                ASK[ask](whole(computed(x, found))) != answer for x, ask, answer in self.lengths
            ):
                raise Changed("a result of another shape")
            return checked([(leaf, whole(computed(x, found))) for x, leaf in self.read])

    def fixed(self) -> set[str]:
        """What has the same length in each call for which the recording is valid."""
        asked = [x for x, ask, _ in self.lengths if ask == "shape"] + [x for x, _ in self.read]
        return {x.varies for x in asked if type(x) is LeafOfResult and x.varies}

    def part(self, node: Any, value: Any) -> Array:
        """A result of the operation."""
        leaf = LeafOfResult(value)
        if (equation := self.equation()) is None:
            return self.apart(node, leaf, value)
        self.read.append((node, leaf))
        variable = Variable(spec_of(value))
        equation.outputs += (variable,)
        self.call.n_out += 1
        self.call.specs += (spec_of(value),)
        return Array(value, self.trace, variable)

    def equation(self) -> Any:
        """The operation in its recording; None if it can't have more results."""
        if self.trace is None or self.trace.ended:
            return None
        equations = reversed(self.trace.state.equations)
        return next((e for e in equations if e.primitive is self.call), None)

    def apart(self, node: Any, leaf: LeafOfResult, value: Any) -> Array:
        """A result of an operation that makes the same call."""
        solver = shallow(self.solver)
        solver.parts = parts = PartsRead(solver)
        parts.alone, parts.read, parts.found = True, [(node, leaf)], self.found
        (out,) = solver.operation([value])
        return out


def whole(x: Any) -> Any:
    """An array of a result; one of which only single steps are known may know all of them."""
    return x.whole() if hasattr(x, "whole") else x


class UnreadTrace(Trace):
    """Has the arrays that vary in a result; the node of an Array is the leaf or what is PutOff.

    state: the PartsRead
    """

    __slots__ = ()
    unread = True

    def array(self, value: Any, node: Any) -> Array:
        x = Array(Array(value, CONSTANT, None), self, node)
        x.storage = root_storage()  # an array and no number
        return x

    def process(self, primitive: Primitive, xs: tuple[Any, ...], static: dict[str, Any]) -> Any:
        alone = all(type(x) is not Array or x.within in (self, CONSTANT) for x in xs)
        if not alone or primitive.n_out is not None or not is_ours(primitive):
            return bind(primitive, tuple([read(x) for x in xs]), static)
        nodes = tuple([self.node_of(x) for x in xs])
        node = PutOff(primitive, nodes, static)
        try:
            value = node.of(self.state.found)
        except Exception:
            for x in xs:
                self.shape(x)  # others may not raise
            raise
        return self.array(value, node) if np.ndim(value) else self.state.part(node, value)

    def node_of(self, x: Any) -> Any:
        if type(x) is not Array:
            return x.copy() if type(x) is np.ndarray else x
        return x.node if x.within is self else x.payload

    def read(self, x: Array) -> Array:
        """Let x be a result of the recording."""
        adopt(x, self.state.part(x.node, x.payload.payload))
        return x

    def shape(self, x: Array) -> tuple[int, ...]:
        shape = x.payload.payload.shape
        self.state.depends(x.node, "shape", shape)
        return shape

    def length(self, x: Array) -> int:
        n = len(x.payload.payload)
        self.state.depends(x.node, "length", n)
        return n


def read(x: Any) -> Any:
    """x, which is a result of the recording from now on if it was not."""
    return x.within.read(x) if type(x) is Array and x.within.unread else x


def reading(name: str) -> Any:
    """A method of a trace for the Array that x becomes."""

    def ask(self: UnreadTrace, x: Array, *args: Any) -> Any:
        return getattr(self.read(x).within, name)(x, *args)

    return ask


for name in (
    "takes", "primal", "detached", "refusal", "concrete", "told", "number", "python_class",
    "asked", "failed", "converts", "peels", "spec",
):  # fmt: skip
    setattr(UnreadTrace, name, reading(name))
