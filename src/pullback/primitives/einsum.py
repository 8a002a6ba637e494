"""einsum, sums of products by labels: one primitive, and all the ways to write subscripts."""

from __future__ import annotations

from functools import lru_cache
from math import prod

import numpy as np

from ..core.cotangent import dense, masked
from ..core.dispatch import cast
from ..core.errors import ArgumentError, ShapeError
from ..core.layout import layout
from ..core.out import into_out
from ..core.plain_numpy import past
from ..core.primitive import align
from ..core.registry import refuse, replaces
from ..core.spec import Spec
from .arguments import as_array, order_of
from .partly import Contraction
from .strided import diagonal_of

try:
    # What `numpy.einsum(..., optimize=True)` does for two operands, the last one first. To look
    # for a path, of which there is one, takes ten times as long.
    from numpy._core.einsumfunc import bmm_einsum as of_pair
except ImportError:  # a NumPy that does it in another way
    of_pair = None


class Einsum(Contraction):
    """A sum of products by labels: `ins` has one letter for each axis of each operand.

    A label that occurs twice in an operand takes its diagonal; axes of length 1 are broadcast.
    """

    lower = "einsum"

    def value(self, *xs, ins, result, optimize):
        plain = {*map(type, xs)} == {np.ndarray}
        if optimize and plain and len(xs) == 2 and of_pair is not None:
            return of_pair(f"{ins[1]},{ins[0]}->{result}", xs[1], xs[0])
        compute = past(np.einsum) if plain else np.einsum
        return compute(",".join(ins) + "->" + result, *xs, optimize=optimize)

    def spec(self, *xs, ins, result, optimize):
        sizes = sizes_of(ins, [x.shape for x in xs])
        return Spec([sizes[label] for label in result], np.result_type(*[x.dtype for x in xs]))

    def transpose(self, i, xs, out_bar, *, ins, result, optimize):
        kept, spread, small = plan(i, ins, result, tuple([x.shape for x in xs]))
        others = [x for j, x in enumerate(xs) if j != i]
        optimize = optimize and not small  # looking for a path would take longer than the sums
        term = ins[i]
        if others or kept != result:
            ins = (result, *ins[:i], *ins[i + 1 :])
            out_bar = self(out_bar, *others, ins=ins, result=kept, optimize=optimize)
        x_bar = out_bar
        if out_bar.shape != xs[i].shape:
            x_bar = np.broadcast_to(np.reshape(out_bar, spread), xs[i].shape)
        return x_bar if len(set(term)) == len(term) else masked(x_bar, diagonal(term, xs[i].shape))

    def read_for(self, i, mask, xs, static):
        """By labels: the others are as if of length 1, but where this operand is repeated."""
        ins = static["ins"]
        sizes = sizes_of(ins, [x.shape for x in xs])
        own = dict(zip(ins[i], xs[i].shape, strict=True))
        ones = [
            x if j == i else np.ones([sizes[at] if own.get(at) == 1 else 1 for at in term])
            for j, (x, term) in enumerate(zip(xs, ins, strict=True))
        ]
        return dense(self.transpose(i, ones, mask.astype(float), **static)) > 0.5

    def batch(self, xs, mapped, size, *, ins, result, optimize):
        used = set().union(*ins)
        label = next((letter for letter in LETTERS if letter not in used), None)
        if label is None:
            raise ArgumentError("`numpy.einsum` has no letter left for the axis that `vmap` adds.")
        ins = tuple([label + term if m else term for term, m in zip(ins, mapped, strict=True)])
        return self(*xs, ins=ins, result=label + result, optimize=optimize)


# As numbers stand for them, and sorted.
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def sizes_of(ins, shapes):
    sizes = {}
    for term, shape in zip(ins, shapes, strict=True):
        for label, n in zip(term, shape, strict=True):
            if sizes.get(label, 1) == 1:
                sizes[label] = n
    return sizes


@lru_cache(maxsize=1024)
def plan(i, ins, result, shapes):
    """How the cotangent of operand i comes from the product of out_bar with the other operands.

    Returns the labels that this product keeps, the shape from which it is then broadcast, and
    whether its terms are few.
    A label is kept if the operand has its whole length and so has something in the product; if only
    the operand had it, it was summed, and the cotangent is the same along it.
    """
    sizes = sizes_of(ins, shapes)
    whole = set(result)
    for j, (term, shape) in enumerate(zip(ins, shapes, strict=True)):
        if j != i:
            whole |= {label for label, n in zip(term, shape, strict=True) if n == sizes[label]}
    term, shape = ins[i], shapes[i]
    kept, spread = "", []
    for label, n in zip(term, shape, strict=True):
        if label not in kept and n == sizes[label] and label in whole:
            kept += label
            spread.append(n)
        else:
            spread.append(1)
    return kept, tuple(spread), prod(sizes.values()) <= FEW_TERMS


FEW_TERMS = 4096


def diagonal(term, shape):
    """A mask of the elements whose indices agree wherever labels do."""
    mask = np.ones((), bool)
    for axis, label in enumerate(term):
        first, n = term.index(label), shape[axis]
        if first < axis:
            same = np.eye(n, dtype=bool)
            mask = mask & same.reshape([n if a in (first, axis) else 1 for a in range(len(term))])
    return np.broadcast_to(mask, shape)


class DotOfVectors(Einsum):
    """Products of the last axes, added in the order of `numpy.vecdot`, which isn't `einsum`'s."""

    def value(self, x, y, *, ins, result, optimize):
        return np.vecdot(np.conjugate(x) if x.dtype.kind == "c" else x, y)  # which conjugates x

    def composed(self, x, y, **static):
        return einsum_p(x, y, **static)

    def transpose(self, i, xs, out_bar, **static):
        return einsum_p.transpose(i, xs, out_bar, **static)

    def batch(self, xs, mapped, size, **static):
        return of_vectors(*align(xs, mapped))


def of_vectors(x, y):
    """The products of the last axes of x, which is conjugate already, and y."""
    ins, result = parse("...a,...a->...", (x.ndim, y.ndim))
    return dot_of_vectors_p(x, y, ins=ins, result=result, optimize=False)


einsum_p = Einsum("einsum")
dot_of_vectors_p = DotOfVectors("vecdot")


# NumPy's functions.


@replaces(np.einsum)
@into_out(adds=True, broadcasts=True)
def einsum(*operands, out=None, optimize=False, dtype=None, order="K", casting="safe"):
    order = order if order == "K" else order_of(order, "K")
    refuse("numpy.einsum", out=out)
    subscripts, xs = subscripts_of(operands)
    xs = [as_array(x) for x in xs]
    if dtype is not None:
        several, dtype = len(xs) > 1, np.dtype(dtype)  # of one operand, the result is no view
        xs = [x if several and x.dtype == dtype else cast(x, dtype, casting, np.einsum) for x in xs]
    ins, result = parse(subscripts, tuple([x.ndim for x in xs]))
    if len(xs) == 1 and dtype is None and sorted(result) == sorted(set(ins[0])):
        return rearranged(xs[0], ins[0], result)  # a view, whatever the order
    out = contracted(xs, ins, result, optimize)
    if order == "K" or out.ndim < 2:
        return out
    if order == "A":
        order = "F" if all(layout(x).flags.f_contiguous for x in xs) else "C"
    return np.copy(out, order=order)


def contracted(xs, ins, result, optimize):
    """The sum of products; of more than two operands, in the order that `optimize` asks for."""
    shapes = tuple([x.shape for x in xs])
    if optimize and not isinstance(optimize, (bool, str)):
        optimize = tuple(optimize)
        steps(ins, result, shapes, optimize)  # raises as NumPy does for what is no path
    if not optimize or len(xs) < 3:
        return einsum_p(*xs, ins=ins, result=result, optimize=bool(optimize))
    for step, labels, kept in steps(ins, result, shapes, optimize):
        part = [xs[i] for i in step]
        xs = [x for i, x in enumerate(xs) if i not in step]
        xs.append(einsum_p(*part, ins=labels, result=kept, optimize=len(part) == 2))
    return xs[0]


def rearranged(x, term, result):
    """Where nothing is summed, NumPy gives a view: other axes, or a diagonal."""
    if len(result) == len(term):
        return np.transpose(x, [term.index(label) for label in result])
    groups = [[axis for axis, letter in enumerate(term) if letter == label] for label in result]
    if any(len({x.shape[axis] for axis in group}) > 1 for group in groups):
        return einsum_p(x, ins=(term,), result=result, optimize=False)
    return diagonal_of(x, tuple(map(tuple, groups)))


@lru_cache(maxsize=1024)
def steps(ins, result, shapes, optimize):
    """The contractions of few operands that NumPy's path consists of, as (which, ins, result).

    Each is an operation of its own, so that the backward pass shares the intermediate results.
    """
    specs = [np.broadcast_to(0.0, shape) for shape in shapes]
    optimize = list(optimize) if isinstance(optimize, tuple) else optimize
    path, _ = np.einsum_path(",".join(ins) + "->" + result, *specs, optimize=optimize)
    found, terms = [], list(ins)
    for step in path[1:]:
        labels = tuple([terms[i] for i in step])
        terms = [term for i, term in enumerate(terms) if i not in step]
        needed = set(result).union(*terms)
        kept = "".join([label for label in dict.fromkeys("".join(labels)) if label in needed])
        terms.append(kept if terms else result)
        found.append((step, labels, terms[-1]))
    return found


@replaces(np.einsum_path)
def einsum_path(*operands, optimize="greedy", einsum_call=False):
    subscripts, xs = subscripts_of(operands)
    shapes = [np.broadcast_to(0.0, np.shape(x)) for x in xs]
    return np.einsum_path(subscripts, *shapes, optimize=optimize, einsum_call=einsum_call)


def subscripts_of(operands):
    """The subscripts as a string, from either of the forms that einsum takes, and the arrays."""
    if isinstance(operands[0], str):
        return operands[0], operands[1:]
    xs, lists = operands[: len(operands) // 2 * 2 : 2], operands[1::2]
    text = ",".join([letters_of(part) for part in lists])
    if len(operands) % 2:
        text += "->" + letters_of(operands[-1])
    return text, xs


def letters_of(sublist):
    return "".join(["..." if i is Ellipsis else LETTERS[i] for i in sublist])


@lru_cache(maxsize=1024)
def parse(subscripts, ndims):
    """The labels of each operand and of the result, an ellipsis spelt out in letters."""
    left, arrow, right = subscripts.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(ndims):
        raise ArgumentError(
            f"`numpy.einsum` was given subscripts {subscripts!r} for {len(terms)} operands, but"
            f" {len(ndims)} operands."
        )
    spare = [letter for letter in LETTERS if letter not in subscripts]
    counts = [ndim - len(term.replace("...", "")) for term, ndim in zip(terms, ndims, strict=True)]
    for term, count, ndim in zip(terms, counts, ndims, strict=True):
        if count < 0 or (count and "..." not in term):
            raise ShapeError(
                f"`numpy.einsum` was given subscripts {term!r} for an operand with {ndim} axes."
            )
    dots = "".join(spare[: max(counts)])
    ins = tuple(
        [
            term.replace("...", dots[len(dots) - count :])
            for term, count in zip(terms, counts, strict=True)
        ]
    )
    if not arrow:
        plain = left.replace("...", "").replace(",", "")
        return ins, dots + "".join(sorted(label for label in plain if plain.count(label) == 1))
    if dots and "..." not in right:
        raise ArgumentError(
            f"`numpy.einsum` was given subscripts {subscripts!r}, whose ellipsis stands for axes"
            " that the output lacks.\n  Write `...` on the right as well."
        )
    return ins, right.replace("...", dots)
