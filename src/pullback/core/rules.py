"""The rules of nodes, resolved when a primitive is declared: elementwise ones, and linear ones.

What enters is a primitive with its partials, and which of its operands are parents; what leaves is
the node's rule, and the function that packs what the rule reads. Both hold for operands that meet
without a cast: of one shape (`resolve`), or of shapes that broadcast (`folding`). Of an operation
that is linear in its one operand, a node keeps the spec of that and nothing else (`lone`).
A rule shows its `primitive` and `operands`, `unpack` (residual -> [out, *xs], None where nothing is
kept) and `rebuild`, which has Arrays for values, so that the work of the rule is recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy import float64, ndarray

from .array import Array, bottom, snapshot
from .cotangent import DENSE, Buffer, Masked, Scattered, fit, masked, unbroadcast
from .node import NODE, Node, Residual, new, residual_of
from .spec import DOUBLE, DOUBLES, ONES, Spec, known_spec, promoted, spec_of
from .sums import stack_of, sums
from .templates import from_template, later


# Partials that need no arithmetic.
def ZERO(out, *xs):
    return 0.0


def ONE(out, *xs):
    return 1.0


def MINUS_ONE(out, *xs):
    return -1.0


def FIRST(out, x, y):
    return x


def SECOND(out, x, y):
    return y


def note_rule(error: Exception, primitive: Any, mode: str) -> None:
    """Note in which rule an error was raised; a user's one rule serves both modes."""
    serving = getattr(primitive, "rule_serving", None)
    rule = mode if serving is None else serving(mode)
    if rule is not None:
        error.add_note(f"in the {rule} rule of `{primitive.name}`")


def resolve(primitive: Any, operands: tuple[int, ...]) -> tuple[Any, Any]:
    """The rule of a node with these operands for parents, and the function that packs its residual.

    For operands of one shape and dtype, or beside Python numbers: nothing to unbroadcast. What is
    kept is one value where one is read, else a tuple (out, *xs) with None for what is not read.
    """
    n = len(primitive.partials)
    names = ["out", "x0", "x1"][: n + 1]
    reads = frozenset().union(*[primitive.partial_reads[i] for i in operands])
    held = [i for i, name in enumerate(names) if name in reads]
    pack = PACKS[n, tuple(held)]
    one, nothing = len(held) == 1, [None] * (n + 1)

    def unpack(residual):
        if not one:
            return residual or nothing
        whole = list(nothing)
        whole[held[0]] = residual
        return whole

    pull = written(RULE, primitive, operands)
    if len(operands) == 2:  # in forward mode each operand has a tangent of its own
        primitive.pairs = written(PAIRS, primitive, operands)

    def rebuild(residual, node, trace):
        """The residual with Arrays for values, so that the rule's own work is recorded."""
        out, *xs = unpack(residual)
        if out is not None:
            out = Array(out, trace, node)
        for i, parent in zip(operands, node.parents, strict=True):
            if xs[i] is not None:
                xs[i] = Array(xs[i], trace, parent)
        whole = (out, *xs)
        return whole[held[0]] if one else whole

    rule: Any = pull
    rule.primitive, rule.operands, rule.unpack, rule.rebuild = primitive, operands, unpack, rebuild
    partial = primitive.partials[operands[0]]
    if len(operands) == 1 and primitive.multiplies and partial not in (ZERO, ONE, MINUS_ONE):
        # What out_bar is multiplied by: a backward pass may do it in a buffer of its own.
        rule.partial = lambda residual: partial(*unpack(residual))
    return rule, pack


# The rule of a node with some operands for parents; and one for operands that were broadcast, whose
# residual is (that of the other, how the cotangent folds to each parent).
RULE = """
def pull(bar, {held}, wanted):
    {opened}
    return {terms},
"""
FOLDING = """
def pull(bar, residual, wanted):
    {held}, {folds}, = residual
    {opened}
    {bars}, = {terms},
    return {folded},
"""

PAIRS = """
def pairs(bar, other, {held}):
    {opened}
    first = {first}
    bar = other
    return first, {last}
"""


def written(template: str, primitive: Any, operands: tuple[int, ...]) -> Any:
    """A rule with the terms of a primitive for these operands, written out when it is called."""
    return later(template, partial(write, template, primitive, operands))


def write(template: str, primitive: Any, operands: tuple[int, ...], space: dict[str, Any]) -> Any:
    names = ["out", "x0", "x1"][: len(primitive.partials) + 1]
    reads = frozenset().union(*[primitive.partial_reads[i] for i in operands])
    held = min(reads) if len(reads) == 1 else "held"
    arguments = ", ".join([name if name in reads else "None" for name in names])
    alone = len(operands) == 1 and len(reads) > 1
    terms = [primitive.term(i, arguments, held, alone) for i in operands]
    opened = f"{', '.join(names)} = held" if len(reads) > 1 else ""
    both = template is not PAIRS and len(operands) == 2
    if both and primitive.from_first is not None:
        opened += f"\n    first = {terms[0]}"
        terms = ["first", f"from_first(first, {arguments})"]
    if both and "bar" in terms:
        # Both may receive it as it is, and it has one holder.
        opened += "\n    bar = bar.present() if type(bar) is Buffer else bar"
    indices = [i for i, name in enumerate(names) if name in reads]
    scope = {
        "Array": Array, "Buffer": Buffer, "DOUBLE": DOUBLE, "folded": folded, "ndarray": ndarray,
        "product": product, "times": times, "from_first": primitive.from_first,
        **{f"partial{i}": primitive.partials[i] for i in operands},
        **{f"moving{i}": primitive.in_flight[i] for i in operands},
        **{f"double{i}": primitive.beside_doubles[i] for i in operands},
        **{f"factor{i}": primitive.factor(i, indices) for i in operands},
    }  # fmt: skip
    return from_template(
        template, scope, space, held=held, opened=opened, terms=", ".join(terms),
        first=terms[0], last=terms[-1],
        bars=", ".join([f"bar{i}" for i in operands]),
        folds=", ".join([f"fold{i}" for i in operands]),
        folded=", ".join(
            [f"(bar{i} if fold{i} is None else folded(bar{i}, fold{i}))" for i in operands]
        ),
    )  # fmt: skip


def product(out_bar: Any, partial: Any) -> Any:
    """Their product, by the operator of an Array, if one is: NumPy's would have to ask for it."""
    return times(partial, out_bar) if type(partial) is Array else out_bar * partial


def times(partial: Array, bar: Any) -> Any:
    """A product with an Array: itself if the cotangent is one of `ONES` and it lies as they do.

    The cotangent is the first factor, as it is of plain arrays: products of complex numbers whose
    factors are exchanged differ in their last bit.
    """
    if type(bar) is ndarray and bar is ONES.get(bar.shape):
        x = partial.payload
        if type(x) is not ndarray or partial.within.maps:
            x = bottom(partial)
        alike = type(x) is ndarray and x.dtype is DOUBLE and x.shape == bar.shape
        if alike and x.flags.c_contiguous:
            return snapshot(partial)
    if type(bar) is Array:
        return bar * partial
    out = partial.__rmul__(bar)
    return partial * bar if out is NotImplemented else out  # a cotangent that is present in part


def together(xs: Any) -> Any:
    """Two operands in the dtype that NumPy computes in, for a partial: it is as precise as `out`.

    Else the derivative of x ** y by a float64 y would have the logarithm of a float32 x.
    """
    if len(xs) == 1:
        return xs
    dtypes = {getattr(x, "dtype", None) for x in xs}
    if len(dtypes) == 1 or None in dtypes:  # Python's numbers have none
        return xs
    specs = [spec_of(x) for x in xs]
    if any(spec.weak is not None for spec in specs):
        return xs
    dtype = promoted(*specs)
    return [x if x.dtype == dtype or type(x) is Spec else x.astype(dtype) for x in xs]


# The result of an operation with its node: `noted(out, trace, parents, rule, pack(out, x))`.
NOTE = """
def note(out, trace, parents, {names}):
    {node}
"""


def noting(primitive: Any, operands: tuple[int, ...], rule: Any) -> Any:
    """note(out, trace, parents, *xs): what `resolve` found, written out."""

    def make(space: dict[str, Any]) -> Any:
        names = ", ".join([f"x{i}" for i in range(len(primitive.partials))])
        scope = {"Array": Array, "Node": Node, "new": new, "rule": rule}
        node = NODE.format(parents="parents", rule="rule", held=held_by(primitive, operands))
        return from_template(NOTE, scope, space, names=names, node=node)

    return later(NOTE, make)


def held_by(primitive: Any, operands: tuple[int, ...]) -> str:
    """What a node with these operands for parents keeps, as text: what `resolve` packs."""
    names = ["out", "x0", "x1"][: len(primitive.partials) + 1]
    reads = frozenset().union(*[primitive.partial_reads[i] for i in operands])
    if len(reads) < 2:
        return min(reads, default="None")
    return f"({', '.join([name if name in reads else 'None' for name in names])})"


# By the number of operands and which of (out, x0, x1) are held.
PACKS: dict[tuple[int, tuple[int, ...]], Callable[..., Any]] = {
    (1, ()): lambda out, x: None,
    (1, (0,)): lambda out, x: out,
    (1, (1,)): lambda out, x: x,
    (1, (0, 1)): lambda out, x: (out, x),
    (2, ()): lambda out, x, y: None,
    (2, (0,)): lambda out, x, y: out,
    (2, (1,)): lambda out, x, y: x,
    (2, (2,)): lambda out, x, y: y,
    (2, (0, 1)): lambda out, x, y: (out, x, None),
    (2, (0, 2)): lambda out, x, y: (out, None, y),
    (2, (1, 2)): lambda out, x, y: (None, x, y),
    (2, (0, 1, 2)): lambda out, x, y: (out, x, y),
}


# Operands of one dtype whose shapes broadcast: what is summed of a cotangent is known beforehand.

# Axes to sum, None for all; the shape that is left; how a product with ones sums them (`stack_of`);
# whether the operand is real beside a complex one.
Fold = tuple[Any, tuple[int, ...], Any, bool]


@lru_cache(maxsize=1024)
def folds(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[Fold | None, Fold | None]:
    """How the cotangent of a result folds to each of two shapes that were broadcast."""
    shape = np.broadcast_shapes(first, second)
    return fold_to(shape, first), fold_to(shape, second)


def fold_to(shape: tuple[int, ...], own: tuple[int, ...]) -> Fold | None:
    if own == shape:
        return None
    lead = len(shape) - len(own)
    axes = [i for i, n in enumerate(shape) if i < lead or (own[i - lead] == 1 and n != 1)]
    if len(axes) == len(shape):
        return None, own, None, False
    return axes[0] if len(axes) == 1 else tuple(axes), own, stack_of(shape, tuple(axes)), False


@lru_cache(maxsize=1024)
def mixed_folds(first: tuple[int, ...], second: tuple[int, ...], i: int) -> Any:
    """`folds` where operand i is real and the other one complex."""
    found: list[Fold | None] = [*folds(first, second)]
    own = (first, second)[i]
    axis, _, stack, _ = found[i] or ((), own, None, False)
    found[i] = axis, own, stack, True
    return tuple(found)


def folded(bar: Any, fold: Fold) -> Any:
    axis, shape, stack, is_real = fold
    if type(bar) is ndarray:
        if is_real:
            bar = bar.real.copy()
            if axis == ():
                return bar
        if stack is not None and bar.dtype is DOUBLE and bar.flags.c_contiguous:
            bar = sums(bar, stack)
        else:
            bar = np.add.reduce(bar, axis)
        return bar if bar.shape == shape else bar.reshape(shape)
    return None if bar is None else unbroadcast(bar, Spec(shape, DOUBLE if is_real else bar.dtype))


def folding(inner: Any) -> Any:
    """A rule for operands that were broadcast; its residual is (residual of `inner`, *folds)."""
    rule: Any = written(FOLDING, inner.primitive, inner.operands)
    rule.primitive, rule.operands = inner.primitive, inner.operands
    rule.unpack = lambda residual: inner.unpack(residual[0])
    rule.rebuild = lambda residual, node, trace: (
        inner.rebuild(residual[0], node, trace),
        *residual[1:],
    )
    return rule


# Operations that are linear in their one operand, of which they read nothing.

BOOL = np.dtype(bool)
PRESENT = frozenset({Masked, Scattered})


def lone(primitive: Any, transpose: Any) -> Any:
    """A rule whose residual is (shape, dtype, static): of the operand, and of the operation.

    transpose(0, (x,), out_bar, **static) gives the cotangent of x, of which the spec is known, for
    a cotangent that is an array; None for a primitive with a `vjp` of its own.
    """
    name = primitive.name

    def pull(out_bar, residual, wanted):
        shape, dtype, static = residual
        x = DOUBLES[shape] if dtype is DOUBLE else known_spec(shape, dtype)
        if transpose is None:
            return primitive.pull(out_bar, residual_of(primitive, None, (x,), static), wanted)
        mask = None
        if type(out_bar) not in DENSE:
            if not primitive.rearranges or type(out_bar) not in PRESENT:
                return primitive.pull(out_bar, residual_of(primitive, None, (x,), static), wanted)
            bar = masked(out_bar, True)
            out_bar, mask = bar.value, bar.mask
        try:
            x_bar = transpose(0, (x,), out_bar, **static)
            if mask is not None:
                mask = transpose(0, (known_spec(shape, BOOL),), mask, **static)
                x_bar = Masked(mask, x_bar)
        except Exception as error:
            note_rule(error, primitive, "vjp")
            raise
        if type(x_bar) is ndarray and x_bar.dtype is dtype and x_bar.shape == shape:
            return (x_bar,)
        return (match(x_bar, x, "vjp", name),)

    rule: Any = pull
    rule.primitive, rule.operands = primitive, (0,)
    rule.unpack = lambda residual: [None, known_spec(*residual[:2])]
    rule.rebuild = lambda residual, node, trace: residual
    return rule


# Operations of which one operand is differentiated.

SPECIFIED = frozenset({ndarray, float64, Spec})


class RulesForOne(dict[tuple[int, int], Any]):
    """The rules of a primitive's nodes with one parent: operand i of n, by (i, n)."""

    def __init__(self, primitive: Any) -> None:
        self.primitive = primitive

    def __missing__(self, place: tuple[int, int]) -> Any:
        rule = self[place] = alone(self.primitive, *place)
        return rule


def alone(primitive: Any, i: int, n: int) -> Any:
    """`primitive.pull` for a node whose one parent is operand i of n.

    It shows how its parent stands among the operands (`spread`).
    """
    wanted = tuple([True if j == i else None for j in range(n)])
    spread = lambda parent: (None,) * i + (parent,) + (None,) * (n - 1 - i)
    usual = primitive.ours and primitive.usual_pull and primitive.vjp is not None
    name, by_transpose = primitive.name, primitive.by_transpose

    def general(out_bar, residual, parents):
        return (primitive.pull(out_bar, residual, wanted)[i],)

    def pull(out_bar, residual, parents):
        if type(out_bar) not in DENSE or type(residual) is not Residual:
            return general(out_bar, residual, parents)
        xs = residual.xs
        try:
            if by_transpose:
                x_bar = primitive.transpose(i, xs, out_bar, **residual.static)
            else:
                x_bar = primitive.vjp(out_bar, residual, wanted)[i]
        except Exception as error:
            note_rule(error, primitive, "vjp")
            raise
        x = xs[i]
        plain = type(x_bar) is ndarray and type(x) in SPECIFIED
        if plain and x_bar.dtype is x.dtype and x_bar.shape == x.shape:
            return (x_bar,)
        return (match(x_bar, x, "vjp", name),)

    rule: Any = pull if usual else general
    rule.spread = spread
    return rule


def match(x: Any, like: Any, rule: str, name: str) -> Any:
    """What a rule returned, of the shape and dtype of what it belongs to."""
    if x is None:
        return None
    if type(like) is float or type(like) is complex:
        if type(x) is float64 and type(like) is float:
            return x
    elif type(x) is Masked:
        if x.value.dtype is like.dtype and x.value.shape == like.shape:
            return x
    elif x.dtype is like.dtype and x.shape == like.shape:
        return x
    return fit(x, spec_of(like), f"The {rule} rule of `{name}`")
