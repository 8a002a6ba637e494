"""Batching: vmap, and its trace, whose Arrays look like one example and hold all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from ..core.array import PYTHONS, Array
from ..core.errors import (
    ArgumentError,
    ArgumentTypeError,
    ConversionError,
    ShapeError,
    kind_of,
    name_of,
)
from ..core.layout import duplicate
from ..core.locked import locked_as
from ..core.mapped_text import MAPPING
from ..core.messages import brief, describe
from ..core.primitive import Primitive, of_no_examples, one_by_one
from ..core.spec import Spec, spec_of
from ..core.trace import CONSTANT, Trace, run
from ..core.tree import broadcast_prefix, flatten, is_static, unflatten
from ..core.usage import USAGE, usage
from .arguments import refuse_ended
from .mapped_numbers import kind_of_python, operands_beside, refuse_unlike, stored
from .returned import fresh, settle
from .seeds import shown
from .transformation import Transformation


class BatchTrace(Trace):
    """The value of an Array has the batch axis at 0; `state` is the size of the batch.

    The node of an Array that stands for one of Python's numbers is the class of that number.
    """

    __slots__ = ()
    maps = weighs = True

    def process(self, primitive: Primitive, xs: tuple[Any, ...], static: dict[str, Any]) -> Any:
        values, mapped = [], []
        for x in xs:
            mine = type(x) is Array and x.within is self
            if mine and x.node is not None:
                return self.of_numbers(primitive, xs, static)
            mapped.append(mine)
            values.append(x.payload if mine or (type(x) is Array and x.within is CONSTANT) else x)
        if primitive.batch is None:
            if not self.state:
                raise ArgumentError(
                    f"`{primitive.name}` has no batch rule, and `vmap` was given an empty batch.\n"
                    f"  Supply one with `{primitive.name}.defbatch`."
                )
            out = one_by_one(primitive, values, mapped, self.state, static)
        else:
            try:
                out = primitive.batch(tuple(values), tuple(mapped), self.state, **static)
            except Exception as error:
                error.add_note(f"in the batch rule of `{primitive.name}`")
                raise
        if type(out) is tuple:
            return tuple([Array(o, self, None) for o in out])
        return Array(out, self, None)

    def beside(self, primitive: Any, i: int, x: Array, plain: Any) -> Any:
        """x beside a number, or an array with fewer axes than its own: NumPy aligns these."""
        a, plainly = x.payload, type(plain) is not ndarray or plain.ndim < x.payload.ndim
        if not primitive.by_elements or (primitive.by_number and a.ndim == 1):
            plainly = False
        if plainly and type(a) is ndarray and x.storage is None is x.node:
            out = primitive.value(plain, a) if i else primitive.value(a, plain)
            return Array(out, self, None)
        return Trace.beside(self, primitive, i, x, plain)

    def of_numbers(self, primitive: Primitive, xs: Any, static: dict[str, Any]) -> Any:
        """An operation of which some operands are Python's numbers, which are mapped."""
        kinds = list(map(kind_of_python, xs))
        hard = [Array(x.payload, self, None) if self.holds(x) else x for x in xs]
        if None in kinds or not (primitive.arithmetic or primitive.comparison):
            return self.process(primitive, operands_beside(primitive, hard, kinds), static)
        if primitive.arithmetic and not (primitive.keeps_truth and set(kinds) == {bool}):
            hard = [stored(x, int) if k is bool else x for x, k in zip(hard, kinds, strict=True)]
        with np.errstate(all="ignore"):  # Python does not warn
            compute = lambda xs: self.process(primitive, tuple(xs), static)
            refuse_unlike(primitive, hard, kinds, compute)
            return self.number(compute(hard))

    def holds(self, x: Any) -> bool:
        return type(x) is Array and x.within is self

    def number(self, x: Array) -> Array:
        kind = PYTHONS.get(x.dtype.kind)
        if x.dtype.kind in "mM":
            python = kind_of(np.zeros((), x.dtype).item())
            raise ConversionError(
                f"`x.item()` of an Array {self.spec(x)} that is mapped by `{self.name}` is {python}"
                " of Python's for each example, and no one stands for them all.\n"
                "  Write `x` itself, or `x.astype(int)`, which counts its units."
            )
        if kind is None or x.dtype.char in "gG":  # whose `item()` are NumPy's
            return x
        return Array(stored(x.payload, kind), self, kind)

    def python_class(self, x: Array) -> type | None:
        return x.node

    def of_numpy(self, x: Array) -> Array:
        return Array(x.payload, self, None)

    def spec(self, x: Array) -> Spec:
        spec = spec_of(x.payload)
        return Spec(spec.shape[1:], spec.dtype)

    def shape(self, x: Array) -> tuple[int, ...]:
        return x.payload.shape[1:]

    def detached(self, x: Array) -> Any:
        value = super().detached(x)
        return Array(value, self, x.node)

    def refusal(self, x: Array, asked: str) -> str:
        return (
            f"`{asked}` was asked of an Array {self.spec(x)} that is mapped by `{self.name}`: it"
            f" holds {self.state} values, and the result would have lost which is whose.\n"
            "  Compute with NumPy's functions and operators instead, and write"
            " `pullback.array(a)[x]` for `a[x]`; `x.numpy()` shows the values of all examples."
        )

    def shared(self, x: Array) -> Any:
        try:
            return None if self.shape(x) else self.concrete(x, "float(x)")
        except ConversionError:
            return None

    def concrete(self, x: Array, asked: str) -> Any:
        """The answer of all examples, if they agree: each would take this path if it came alone."""
        differ = "may answer"
        is_one = x.payload.ndim == 1 or asked == "bool(x)"
        whole = asked == "int(x)" and x.payload.dtype.kind == "f"
        if (whole or x.payload.dtype.kind in "biu") and is_one and self.state:
            answers, differ = np.trunc(x.payload) if whole else x.payload, "answer"
            if bool(np.all(answers == answers[0])):
                return answers[0]
        raise ConversionError(
            f"`{asked}` was asked of an Array {self.spec(x)} that is mapped by `{self.name}`: it"
            f" holds {self.state} values, which {differ} differently.\n"
            f"  {self.instead(x, asked)}"
        )

    def instead(self, x: Array, asked: str) -> str:
        if asked == "int(x)" and x.payload.dtype.kind in "biu":
            asked = "int(x) of an integer"
        return INSTEAD.get(asked, MAPS)


MAPS = "Map by a loop instead: `np.stack([f(x) for x in xs])`."
INSTEAD = {  # of a plain answer, by what was asked
    "bool(x)": (
        "Choose with `np.where(condition, a, b)` instead of `if`; `&`, `|` and `~` stand for `and`,"
        " `or` and `not`, `np.sort(x)` for `sorted(x)`, and"
        " `pullback.while_loop(go_on, step, x)` for `while`."
    ),
    "int(x)": "Write `np.trunc(x)`; a shape or a number of steps is one for all examples.",
    "int(x) of an integer": (
        "Leave out `int`, and select with `np.take(a, x, axis=0)`; a shape or a number of steps is"
        " one for all examples."
    ),
    "x as an index": (
        "Select with `np.take(a, x, axis=0)`; a shape or a number of steps is one for all examples:"
        " give it None in in_axes."
    ),
}


class NoExamples(BatchTrace):
    """The trace of an empty batch: results have no values, and their specs are known.

    Batch rules may look at the first example; here there is none.
    """

    __slots__ = ()

    def process(self, primitive: Primitive, xs: tuple[Any, ...], static: dict[str, Any]) -> Any:
        if (
            not primitive.ours
            or primitive.spec is None
            or any(self.holds(x) and x.node is not None for x in xs)
        ):
            return BatchTrace.process(self, primitive, xs, static)
        specs = [self.spec(x) if self.holds(x) else spec_of(x) for x in xs]
        out = of_no_examples(primitive, specs, static)
        if type(out) is tuple:
            return tuple([Array(o, self, None) for o in out])
        return Array(out, self, None)


def batch_trace(fun: Callable[..., Any] | None, size: int) -> BatchTrace:
    return (BatchTrace if size else NoExamples)("vmap", fun, size)


def over_rows(fun: Callable[[Any], Any], rows: np.ndarray, ours: bool) -> Any:
    """fun of each row of an array, all at once: its result with the batch first in each leaf.

    fun gives arrays that are fresh; `ours` is that of `run`.
    """
    trace = batch_trace(fun, len(rows))
    try:
        outs, structure = flatten(run(trace, fun, (Array(rows, trace, None),), {}, ours))
        results = []
        for out in outs:
            x = settle(out, trace)
            if type(x) is Array and x.within is trace:
                x = x.payload
            elif not is_static(x):
                x = np.broadcast_to(x, (len(rows), *np.shape(x)))
            results.append(x)
    finally:
        trace.end()
    return unflatten(structure, results)


class Vmap(Transformation):
    verb = "vmap"

    def __init__(self, fun: Any, in_axes: Any, out_axes: Any) -> None:
        super().__init__(fun)
        for name, axes in (("in_axes", in_axes), ("out_axes", out_axes)):
            if any(isinstance(axis, (np.ndarray, Array, float)) for axis in flatten(axes)[0]):
                raise ArgumentTypeError(
                    f"`vmap` takes an int, None or a tuple of them as {name}, but got"
                    f" {brief(axes)}.\n"
                    f"  The arguments come in a call of their own: `{USAGE['vmap']}`."
                )
        self.in_axes, self.out_axes = in_axes, out_axes

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        flat = [flatten(arg) for arg in args]
        in_axes = self.axes_of(args)
        axes = [
            prefix(axis, arg, leaves, "in_axes", self.fun)
            for axis, arg, (leaves, _) in zip(in_axes, args, flat, strict=True)
        ]
        size = self.size(flat, axes)
        trace = batch_trace(self.fun, size)
        mapped = [
            unflatten(
                structure,
                [
                    leaf
                    if axis is None
                    else locked_as(leaf, Array(to_front(leaf, axis, self.fun), trace, None))
                    for leaf, axis in zip(leaves, leaf_axes, strict=True)
                ],
            )
            for (leaves, structure), leaf_axes in zip(flat, axes, strict=True)
        ]
        MAPPING[0] += 1
        try:
            out = run(trace, self.fun, mapped, kwargs)
            outs, structure = flatten(out)
            # NumPy's truth values are stacked, as its numbers are; Python's are static.
            outs = [np.asarray(x) if type(x) is np.bool_ else x for x in outs]
            out_axes = prefix(self.out_axes, out, outs, "out_axes", self.fun)
            results = [
                self.result(settle(x, trace), axis, size, trace)
                for x, axis in zip(outs, out_axes, strict=True)
            ]
        finally:
            MAPPING[0] -= 1
            trace.end()
        return unflatten(structure, results)

    def axes_of(self, args: Any) -> Any:
        if isinstance(self.in_axes, (tuple, list)):
            if len(self.in_axes) != len(args):
                raise ArgumentError(
                    f"`vmap({name_of(self.fun)})` has in_axes={self.in_axes!r}, of length"
                    f" {len(self.in_axes)}, but the call has {len(args)} by position.\n"
                    f"  Give one entry for each positional argument, `in_axes={(0,) * len(args)}`,"
                    " or a single one for all."
                )
            return self.in_axes
        return (self.in_axes,) * len(args)

    def size(self, flat: Any, axes: Any) -> int:
        name = name_of(self.fun)
        sizes: dict[int, str] = {}
        for position, ((leaves, structure), leaf_axes) in enumerate(zip(flat, axes, strict=True)):
            for leaf, axis in zip(leaves, leaf_axes, strict=True):
                if axis is None:
                    continue
                shape = np.shape(leaf) if type(leaf) is not Array else leaf.shape
                if not -len(shape) <= axis < len(shape):
                    entries = [axes[0] if axes else None for axes in axes]
                    entries[position] = None
                    cures = [f"Give None for what is not mapped: `in_axes={tuple(entries)}`."]
                    if len(flat) == 1 and shape:
                        cures = [f"Axes are counted from 0: write `in_axes={len(shape) - 1}`."]
                    elif len(flat) == 1:
                        cures = [f"Pass a batch that has this axis, or call `{name}` itself."]
                    if structure is not None:
                        cures.append("A list of numbers is mapped as one array: `np.array(x)`.")
                    raise ShapeError(
                        f"`vmap({name})` maps axis {axis} of"
                        f"{' a leaf of' if structure is not None else ''} argument {position},"
                        f" whose shape is {shape}.\n  {' '.join(cures)}"
                    )
                sizes.setdefault(shape[axis], f"argument {position}")
        if not sizes:
            raise ArgumentError(
                f"`vmap({name})` has nothing to map: every entry of in_axes is None.\n"
                f"  Call `{name}` itself, or map at least one argument."
            )
        if len(sizes) > 1:
            text = ", ".join(f"{size} in {where}" for size, where in sizes.items())
            raise ShapeError(
                f"`vmap({name})` was given batches of different sizes: {text}.\n"
                "  Mapped axes have one length; give None in in_axes for what is not mapped."
            )
        return next(iter(sizes))

    def result(self, x: Any, axis: int | None, size: int, trace: Trace) -> Any:
        if is_static(x):
            return x
        if type(x) is Array and x.within is trace:
            if axis is None:
                raise ArgumentError(
                    f"`vmap({name_of(self.fun)})` has out_axes=None for an output that is mapped."
                    "\n  Give the axis at which the batch shall stand."
                )
            return self.placed(x.payload, axis)
        if axis is None:
            return x
        if type(x) is not Array:
            kind, x = kind_of(x), np.asarray(x)
            if x.dtype.hasobject:
                raise ArgumentTypeError(
                    f"`vmap({name_of(self.fun)})` stacks numbers, arrays and trees of them, but"
                    f" `{name_of(self.fun)}` returned {kind}.\n"
                    "  Return its parts, or register its class with `pullback.register_tree`."
                )
        return self.placed(np.broadcast_to(x, (size, *x.shape)), axis)

    def placed(self, x: Any, axis: int) -> Any:
        """A result with its batch axis where it shall stand."""
        if not -x.ndim <= axis < x.ndim:
            raise ShapeError(
                f"`vmap({name_of(self.fun)})` has out_axes={self.out_axes!r}, and axis {axis} is"
                f" not there in an output of shape {x.shape[1:]} and its batch.\n"
                f"  Write `out_axes=0`; the last one is {x.ndim - 1}."
            )
        return fresh(np.moveaxis(x, 0, axis) if axis else x)


def to_front(leaf: Any, axis: int, fun: Any) -> Any:
    """A leaf with its mapped axis first, on memory that nobody else writes to."""
    if type(leaf) is Array and leaf.within is CONSTANT:
        leaf = leaf.payload
    if type(leaf) is Array:
        refuse_ended(leaf, f"`vmap({name_of(fun)})` was given")
        array: Any = leaf
        return np.moveaxis(array, axis, 0) if axis else fresh(leaf)
    plain = np.asarray(leaf)
    if plain.dtype.kind in OF_OTHERS:
        raise ArgumentTypeError(
            f"`vmap({name_of(fun)})` was given an array of {OF_OTHERS[plain.dtype.kind]} to map,"
            f" {spec_of(plain)}: an element that stands for those of all examples has no class.\n"
            "  Map arrays of numbers, texts or dates, such as the fields one by one, or loop over"
            " the examples: `np.stack([f(x) for x in xs])`."
        )
    return duplicate(np.moveaxis(plain, axis, 0))


OF_OTHERS = {"O": "objects", "V": "fields"}  # by the kind of its dtype


def prefix(axes: Any, tree: Any, leaves: list[Any], what: str, fun: Any) -> list[Any]:
    """One axis for each of the leaves of a tree, from a tree that ends earlier or with it."""
    flat = [axes] * len(leaves) if is_axis(axes) else spread_axes(axes, tree, what, fun)
    for axis in flat:
        if not is_axis(axis):
            raise ArgumentTypeError(
                f"`vmap({name_of(fun)})` takes ints, None, or a prefix of the tree as {what}, but"
                f" got {brief(axes)}.\n  Write `{what}=0` for the first axis."
            )
    return [None if is_static(leaf) else axis for axis, leaf in zip(flat, leaves, strict=True)]


def is_axis(axis: Any) -> bool:
    return axis is None or (isinstance(axis, (int, np.integer)) and not isinstance(axis, bool))


def spread_axes(axes: Any, tree: Any, what: str, fun: Any) -> list[Any]:
    try:
        return broadcast_prefix(axes, tree)
    except ValueError:
        leaves, structure = flatten(tree)
        of_each = [0 if what == "out_axes" or np.ndim(x) else None for x in leaves]
        raise ArgumentError(
            f"`vmap({name_of(fun)})` was given {what}={axes!r}, which does not fit"
            f" {describe(tree) if structure is None else shown(structure)}.\n"
            "  Give "
            + (
                f"one axis: `{what}=0`."
                if structure is None
                else "one axis for all of it, or the same containers and keys, with an axis or"
                f" None in place of each star: `{unflatten(structure, of_each)}`."
            )
        ) from None


@usage("vmap(f)(xs)")
def vmap(fun: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0) -> Callable[..., Any]:
    """Return a function that applies fun to every example of a batch at once.

    >>> import numpy as np
    >>> vmap(np.dot)(np.ones((3, 2)), np.ones((3, 2)))
    array([2., 2., 2.])

    fun is written for one example; its Arrays have no batch axis, and NumPy does the work for all.
    Random numbers that it draws are the same for all examples: pass others as an argument.

    Args:
        in_axes: the axis of each argument that is mapped, None for an argument that is the same
            for all; an int, or a tuple with an int, None or a tree of them for each argument.
        out_axes: where the batch stands in each output.

    Raises:
        ShapeError: the mapped axes differ in length.
        ConversionError: fun asks for `bool` or `int` of a value that is mapped.
    """
    return Vmap(fun, in_axes, out_axes)
