"""Compiled functions inside transformations: choose the path for a call with Arrays.

The values of the operands choose the path, as in a plain call. If no path matches, the function
runs in Python.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import partial
from time import thread_time
from typing import Any

import numpy as np

from ...core.array import Array, is_number, peel
from ...core.reach.calls import call_inside
from ...core.scalars import is_python
from ...core.spec import NUMERIC
from ...core.trace import CONSTANT, STARTS, derivatives_of
from ...core.tree import flatten, unflatten
from ...transforms.eager import EagerTrace
from ...transforms.forward import ForwardTrace
from ...transforms.linearize import LinearizeTrace
from ...transforms.reverse import ReverseTrace
from ..entry.object_layout import error_handling
from ..facts.call_monitor import WATCHING
from ..path import Call, Path
from ..record.recording import share_memory
from ..record.verify import example
from . import reasons
from .arguments import raising
from .budget import is_timed
from .choose_path import NEW, match
from .compound import batched
from .path_node import PathNode, is_nested
from .record_call import record_call


def composed(compiled: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Call a compiled function on Arrays, or inside a transformation."""
    quick = compiled.quick_node
    if quick is not None and not kwargs:
        fitting = quick.fits(args)
        if fitting is not None and not (quick.nested and quick.node.kinks.met(args)):
            compiled.hits += 1
            return quick.node.alone(args, fitting)
    begun = thread_time()
    if WATCHING.get():  # a function that calls this one is recorded, which must store nothing
        return call_inside(compiled.fun, args, kwargs)
    refused = compiled.refusal is not None or raising() or compiled.carried
    compiled.counter[1], compiled.last_way = 0, reasons.HEARD if refused else reasons.KIND
    try:
        call = None if refused else arranged(compiled, args, kwargs)
    except RecursionError:  # a list that holds itself, or one in many others
        call = None
    if call is None:
        return call_inside(compiled.fun, args, kwargs)
    entry, timed = compiled.entry(call.key), is_timed(compiled)
    if timed and entry.paths and entry.paths[0].is_awaited():
        compiled.last_way = reasons.AWAITED
        return call_inside(compiled.fun, args, kwargs)
    found = (
        match(compiled, entry, call.arrays, call.numbers)
        if entry.paths and not entry.python
        else None
    )
    if found is not None:
        path, values = found
        if path.node is None:
            path.node = PathNode(path, compiled.__name__)
        xs = [*[call.leaves[i] for i in call.inputs], *call.numbers]
        if path.node.stands_for(xs):
            compiled.hits, compiled.last_way = compiled.hits + 1, f"{reasons.REPLAYED}."
            compiled.quick_node = QuickNode.of(path, args, kwargs, xs)
            if not any(map(batched, xs)):
                return path.node(xs, values)
            try:
                return path.node(xs, values)
            except Exception:  # for another example than the first: the function may catch it
                compiled.last_way = reasons.RAISED_OTHER
        return call_inside(compiled.fun, args, kwargs)
    if entry.python or compiled.refusal is not None:
        return call_inside(compiled.fun, args, kwargs)
    if timed and not entry.early.is_over:
        compiled.last_way = reasons.EARLY
        return entry.early.run(call_inside, (compiled.fun, args, kwargs), {}, begun)
    compiled.misses += 1
    if not entry.paths:
        compiled.last_miss = NEW
    if share_memory(call.arrays):
        compiled.last_way = reasons.SHARED
        return call_inside(compiled.fun, args, kwargs)
    out = record_call(compiled, entry, call, args, kwargs)
    for x in call.leaves:
        if type(x) is Array and x.within.narrowing is not None:
            x.within.narrowing.recorded += (partial(stay_in_python, compiled, entry),)
    return out


def stay_in_python(compiled: Any, entry: Any) -> None:
    """Of a search, which machine code would not tell of again."""
    entry.python, compiled.quick_node = True, None


def arranged(compiled: Any, args: Any, kwargs: dict[str, Any]) -> Call | None:
    """The arguments as for a plain call, Arrays by their values; None if there are no Arrays.

    The leaves are the Arrays. What is live, what is constant and what is only mapped are calls of
    other kinds: what may be converted differs, and what rules ask at kinks.
    """
    leaves, structure = flatten([list(args), kwargs])
    plain, marks, values = list(leaves), [], {}
    for i, x in enumerate(leaves):
        if type(x) is Array:
            value = example(x)
            if value is None or value.dtype.char not in NUMERIC:
                return None
            number = is_number(x), is_python(x)
            marks.append((i, *number, x.within is CONSTANT, min(derivatives_of(x), 2)))
            values[i] = value
            plain[i] = np.asarray(value)
    if not marks:
        return None
    plain_args, plain_kwargs = unflatten(structure, plain)
    call = compiled.arrange(plain_args, plain_kwargs)
    if call is None:
        return None
    return call._replace(
        leaves=leaves,
        key=(call.key, tuple(marks)),
        arrays=[values.get(i, leaves[i]) for i in call.inputs],
    )


class QuickNode:
    """The path of a call whose arguments are Arrays of values alone, as they were in the last."""

    __slots__ = ("nested", "node", "path", "specs", "strict")

    def __init__(self, path: Path, xs: Sequence[Any]) -> None:
        self.path, self.node = path, path.node
        values = [example(x) for x in xs]  # NumPy's numbers for Python's
        self.specs = [
            (type(peel(y)), type(x), x.dtype, x.shape, depth_of(y))
            for x, y in zip(values, xs, strict=True)
        ]
        self.nested = any(map(is_nested, xs))
        self.strict = error_handling()

    @classmethod
    def of(cls, path: Path, args: Any, kwargs: Any, xs: Sequence[Any]) -> QuickNode | None:
        alone = not kwargs and len(xs) == len(args) and all(map(operator.is_, args, xs))
        ready = path.improving and path.program.simple and path.numbers is None
        ready = ready and path.recording.orders is None
        return cls(path, xs) if alone and ready and all(map(followed, xs)) else None

    def fits(self, args: Any) -> Any:
        """The results for the values of the arguments; None if this path may be the wrong one."""
        if len(args) != len(self.specs):
            return None
        values = []
        for x, (kind, numpy_kind, dtype, shape, depth) in zip(args, self.specs):  # noqa: B905  # hot
            if type(x) is not Array:
                return None
            while type(x) is Array:
                depth -= 1
                if x.storage is not None or type(x.within) not in FOLLOWED:
                    return None
                x = x.payload
            if depth or type(x) is not kind:
                return None
            if kind is not numpy_kind:
                x = numpy_kind(x)
            elif x.dtype is not dtype or x.shape != shape:
                return None
            values.append(x)
        path = self.path
        if WATCHING.get() or STARTS.get() is not None or error_handling() != self.strict:
            return None
        if not path.state.holds(path.token):
            return None
        try:
            outs, answers = path.computed(values)
            return outs if answers == path.answers else None
        except Exception:  # the program itself says what it does about it
            return None


FOLLOWED = (ReverseTrace, ForwardTrace, LinearizeTrace, EagerTrace)


def depth_of(x: Any) -> int:
    """How many traces have x."""
    depth = 0
    while type(x) is Array:
        x, depth = x.payload, depth + 1
    return depth


def followed(x: Any) -> bool:
    """Whether x is an Array with a value, which no assignment has changed."""
    if type(x) is not Array:
        return False
    while type(x) is Array:
        if x.storage is not None or type(x.within) not in FOLLOWED:
            return False
        x = x.payload
    return True
