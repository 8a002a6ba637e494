"""A pass: turn `einsum` and stacks of matrix products into operations that have machine code.

A label that an operand repeats takes its diagonal. An axis that only one operand has is summed
first. Products without a sum are broadcast; if one operand has all axes of a sum, the sum runs in
the loop of its product. The rest is a product of stacked matrices: an `einsum` of two operands,
whose layout the plan chooses. A product of few terms and long rows, read by a single elementwise
operation, is computed in the loop of that operation.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from ...core.graph import Equation, Graph, Variable
from ...core.kinds import Elementwise
from ...core.spec import Spec
from ...core.traits import Traits
from ...primitives.einsum import LETTERS, einsum_p, sizes_of, steps
from ...primitives.elementwise import add, multiply
from ...primitives.indexing import getitem_p
from ...primitives.matmul import matmul_p
from ...primitives.reductions import sum_p
from ...primitives.shapes import astype_p, reshape_p, transpose_p
from ...primitives.strided import strided_p
from ..llvm.binding import features
from ..llvm.cpu import is_x86
from ..llvm.dtypes import TYPES
from .complex_parts import product_by_parts
from .rewriting import NewEquations, has, rewritten, spec_in

FEW, LONG = 4, 32  # products that are summed for a number, and numbers of a row


def contracted(graph: Graph) -> Graph:
    """The graph with einsum and stacks of matrix products taken apart."""
    if not has(graph, einsum_p, matmul_p):
        return graph
    fused = read_by_loops(graph)

    def rule(e: Equation) -> Any:
        if e.primitive is not einsum_p and e.primitive is not matmul_p:
            return e
        if e.primitive is matmul_p and e.outputs[0] in fused and is_narrow(e):
            return term_by_term(e)
        return Parts(e).written(*labels(e)) if known(e) and not is_product(e) else e

    return rewritten(graph, rule)


def read_by_loops(graph: Graph) -> set[Any]:
    """Variables with a single reader: an elementwise operation of the same shape."""
    uses = Counter([x for e in graph.equations for x in e.inputs if isinstance(x, Variable)])
    uses.update([x for x in graph.outputs if isinstance(x, Variable)])
    return {
        x
        for e in graph.equations
        if isinstance(e.primitive, Elementwise) and e.primitive.lower is not None
        for x in e.inputs
        if isinstance(x, Variable) and uses[x] == 1 and x.spec.shape == e.outputs[0].spec.shape
    }


class MultiplyAdd(Traits):
    """x * y + z, with one rounding where the processor does that."""

    n_out = None
    without_axes = "scalar"
    total = True

    def __repr__(self) -> str:
        return "multiply_add"

    def spec(self, x: Spec, y: Spec, z: Spec) -> Spec:
        return Spec(np.broadcast_shapes(x.shape, y.shape, z.shape), x.dtype)

    def __call__(self, x: Any, y: Any, z: Any) -> Any:
        return x * y + z

    @staticmethod
    def lower(emit: Any, x: Any, y: Any, z: Any) -> Any:
        fused = "fma" in features() or not is_x86()
        return emit.intrinsic("fma", x, y, z) if fused else emit.add(emit.mul(x, y), z)


multiply_add_p = MultiplyAdd()


def is_narrow(e: Equation) -> bool:
    """Whether a product of floating matrices sums few terms over long rows."""
    dtype, (x, y) = e.outputs[0].spec.dtype, [spec_in(x) for x in e.inputs]
    if dtype.kind != "f" or dtype not in TYPES or x.dtype != dtype or y.dtype != dtype:
        return False
    matrices = min(x.ndim, y.ndim) > 1 and x.size > 0
    return matrices and x.shape[-1] <= FEW and y.shape[-1] >= LONG


def term_by_term(e: Equation) -> list[Equation]:
    """A product of matrices as columns times rows, added to 0.0 one after the other."""
    (x, y), steps, total = e.inputs, NewEquations(), e.outputs[0].spec.dtype.type(0)
    all_but_last, before = [(slice(None),) * (spec_in(z).ndim - k) for z, k in ((x, 1), (y, 2))]
    for k in range(spec_in(x).shape[-1]):
        column = steps.apply(getitem_p, x, key=(*all_but_last, slice(k, k + 1, None)))
        row = steps.apply(getitem_p, y, key=(*before, slice(k, k + 1, None), slice(None)))
        total = steps.apply(multiply_add_p, column, row, total)
    return steps.ending(e)


def labels(e: Equation) -> tuple[tuple[str, ...], str]:
    """The labels of the operands and of the result."""
    if e.primitive is einsum_p:
        return e.static["ins"], e.static["result"]
    x, y = [spec_in(x).ndim for x in e.inputs]
    stack = LETTERS[3 : 1 + max(x, y, 2)]
    left = "C" if x == 1 else stack[len(stack) - x + 2 :] + "AC"
    right = "C" if y == 1 else stack[len(stack) - y + 2 :] + "CB"
    return (left, right), stack + "A" * (x > 1) + "B" * (y > 1)


def known(e: Equation) -> bool:
    """Whether a sum of products is taken apart: of real numbers, repeated labels of one length."""
    spec, specs = e.outputs[0].spec, [spec_in(x) for x in e.inputs]
    if spec.dtype not in TYPES or spec.dtype.kind == "b" or any(not s.size for s in specs):
        return False
    if e.primitive is matmul_p:  # those without a stack stay what they are
        return spec.dtype.kind != "f" or any(s.ndim > 2 for s in specs)
    pairs = zip(labels(e)[0], specs, strict=True)
    return all(len({*zip(term, s.shape, strict=True)}) == len(set(term)) for term, s in pairs)


def is_product(e: Equation) -> bool:
    """Whether a sum of products is one of matrices in stacks, of floating numbers of one dtype."""
    ins, result = labels(e)
    dtype, specs = e.outputs[0].spec.dtype, [spec_in(x) for x in e.inputs]
    if len(ins) != 2 or dtype.kind != "f" or any(s.dtype != dtype for s in specs):
        return False
    if any(len(set(term)) < len(term) for term in ins):
        return False
    x, y = [
        {label for label, n in zip(term, s.shape, strict=True) if n > 1}
        for term, s in zip(ins, specs, strict=True)
    ]
    alone = (x ^ y) - set(result)
    return bool(not alone and (x & y) - set(result) and x - y and y - x)


class Parts(NewEquations):
    """The equations that take the place of a sum of products."""

    def __init__(self, e: Equation) -> None:
        super().__init__()
        self.e, self.spec = e, e.outputs[0].spec
        self.sums = False

    def written(self, ins: Any, result: str) -> Any:
        """The equations; the last of them has the result of the old one."""
        pairs = zip(self.e.inputs, ins, strict=True)
        operands, ins = zip(*[self.diagonal(x, term) for x, term in pairs], strict=True)
        shapes = [spec_in(x).shape for x in operands]
        sizes = sizes_of(ins, shapes)
        xs = []
        for x, term, shape in zip(operands, ins, shapes, strict=True):
            if spec_in(x).dtype != self.spec.dtype:
                x = self.apply(astype_p, x, dtype=self.spec.dtype)
            # Axes of length 1 are broadcast: they have no part in what is summed.
            long = tuple([n for n in shape if n != 1])
            if long != shape:
                x = self.apply(reshape_p, x, shape=long)
            kept = [label for label, n in zip(term, shape, strict=True) if n != 1]
            xs.append((x, "".join(kept)))
        wanted = "".join([label for label in result if sizes[label] != 1])
        if len(xs) == 1:
            if len(ins[0]) == len(result):
                return self.e  # NumPy gives a view
            x, term = self.summed(*xs[0], wanted)
        else:
            x, term = self.pairs(xs, wanted)
        if not self.sums:  # NumPy adds to 0.0, so that -0.0 becomes 0.0
            x = self.apply(add, x, self.spec.dtype.type(0))
        if term != wanted:
            x = self.apply(transpose_p, x, axes=tuple([term.index(label) for label in wanted]))
        array = not self.spec.shape and self.is_array()
        if array:
            x = self.apply(reshape_p, x, shape=(1,))
        if array or x.spec.shape != self.spec.shape:
            x = self.apply(reshape_p, x, shape=self.spec.shape)
        last = self.equations[-1]
        if last.outputs[0] is not x or x.spec != self.spec:
            return self.e
        return self.ending(self.e)

    def diagonal(self, x: Any, term: str) -> tuple[Any, str]:
        """x with one axis for each of its labels."""
        once = "".join(dict.fromkeys(term))
        if once == term:
            return x, term
        groups = [tuple([i for i, at in enumerate(term) if at == label]) for label in once]
        shape = tuple([spec_in(x).shape[group[0]] for group in groups])
        static = {"start": (0,) * len(term), "axes": tuple(groups), "shape": shape}
        return self.apply(strided_p, x, **static), once

    def is_array(self) -> bool:
        """Whether NumPy gives an array without axes: by some ways of `optimize=` it does."""
        if not self.e.static.get("optimize"):
            return False
        zeros = [np.zeros(spec_in(x).shape, spec_in(x).dtype) for x in self.e.inputs]
        return type(self.e.primitive(*zeros, **self.e.static)) is np.ndarray

    def summed(self, x: Any, term: str, kept: str) -> tuple[Any, str]:
        """x without the labels that nobody else has."""
        axes = tuple([i for i, label in enumerate(term) if label not in kept])
        if not axes:
            return x, term
        self.sums = True
        x = self.apply(sum_p, x, axis=axes, dtype=self.spec.dtype, keepdims=False)
        return x, "".join([label for label in term if label in kept])

    def pairs(self, xs: list[tuple[Any, str]], wanted: str) -> tuple[Any, str]:
        """Two operands at a time; where there are sums, in an order of few multiplications."""
        ins = tuple([term for _, term in xs])
        order = [tuple(range(len(xs)))]
        if len(xs) > 2 and set("".join(ins)) - set(wanted):
            shapes = tuple([spec_in(x).shape for x, _ in xs])
            order = [step for step, _, _ in steps(ins, wanted, shapes, "greedy")]
        for step in order:
            rest = [x for i, x in enumerate(xs) if i not in step]
            needed = wanted + "".join([term for _, term in rest])
            x, term = xs[step[0]]
            for n, i in enumerate(step[1:], 2):
                others = needed + "".join([xs[j][1] for j in step[n:]])
                final = not rest and n == len(step)
                x, term = self.pair((x, term), xs[i], wanted if final else others)
            xs = [*rest, (x, term)]
        return xs[0]

    def pair(self, first: Any, second: Any, needed: str) -> tuple[Any, str]:
        """The product of two operands, summed over the labels that are needed no more."""
        (x, xt), (y, yt) = first, second
        x, xt = self.summed(x, xt, needed + yt)
        y, yt = self.summed(y, yt, needed + xt)
        every = "".join(dict.fromkeys(xt + yt))
        away = [label for label in every if label not in needed]
        own = [set(xt) - set(yt), set(yt) - set(xt)]
        kept = [label for label in dict.fromkeys(needed) if label in every]
        if not away:
            return self.times(x, xt, y, yt, "".join(kept)), "".join(kept)
        self.sums = True
        if all(own) and self.spec.dtype.kind in "fc":
            static = {"ins": (xt, yt), "result": "".join(kept), "optimize": False}
            out = product_by_parts(self, einsum_p, x, y, **static)
            return out, "".join(kept)
        if len(every) == 2 and self.spec.dtype.kind in "fc" and any(own):
            # A matrix and a vector.
            (x, xt), (y, yt) = sorted([(x, xt), (y, yt)], key=lambda pair: -len(pair[1]))
            x, y = (x, y) if xt[1] == yt else (y, x)
            out = product_by_parts(self, matmul_p, x, y)
            return out, "".join(kept)
        # The order of the operand that is all of it, so that it may be computed in the same loop.
        if own[0] and own[1]:
            order = [label for label in xt if label in own[0] or label not in away]
            order += away + [label for label in yt if label not in xt]
        else:
            order = list(yt if own[1] else xt)
        z = self.times(x, xt, y, yt, "".join(order))
        return self.summed(z, "".join(order), "".join(kept))

    def times(self, x: Any, xt: str, y: Any, yt: str, order: str) -> Any:
        """The broadcast product, with its axes in some order."""
        return self.apply(multiply, self.spread(x, xt, order), self.spread(y, yt, order))

    def spread(self, x: Any, term: str, order: str) -> Any:
        """x with an axis for each label of an order, of length 1 where it has none."""
        sizes = dict(zip(term, spec_in(x).shape, strict=True))
        axes = tuple([term.index(label) for label in order if label in term])
        if axes != tuple(range(len(term))):
            x = self.apply(transpose_p, x, axes=axes)
        shape = tuple([sizes.get(label, 1) for label in order])
        first = next((i for i, label in enumerate(order) if label in term), len(order))
        shape = shape[first:]  # broadcasting adds what is missing in front
        return x if spec_in(x).shape == shape else self.apply(reshape_p, x, shape=shape)
