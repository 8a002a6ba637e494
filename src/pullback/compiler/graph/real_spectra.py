"""A pass: in filters of real arrays, replace complex Fourier transforms by real ones.

Half of the terms of a transform of real numbers are the conjugates of the other half. This stays
true if the transform is multiplied, divided or added term by term with an operand of the same
symmetry: another such transform, a real number, a constant filter. If only the real part of the
inverse transform is read in the end, one half is enough, and each transform takes half the time.

    f = fft(x)              f = rfft(x)
    g = f * filter     ->   g = f * (half of the filter)
    y = real(ifft(g))       y = irfft(g)

With several axes the last one is halved. The unpaired terms, 0 and n / 2 along that axis, are
computed as before, and only the real part of their contribution is read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.graph import Equation, Graph, Variable
from ...primitives.elementwise import add, divide, multiply, negative, subtract
from ...primitives.fft import fft_p, irfft_p, rfft_p, swapped
from ...primitives.parts import conjugate_p, real_p
from ...primitives.selecting import where_p
from ...primitives.shapes import astype_p
from .rewriting import NewEquations, opened, rewritten, spec_in

TERM_BY_TERM = {add, subtract, multiply, divide, negative, conjugate_p, where_p}
SHORT = 8  # numbers of which a transform costs little
LARGE = 1 << 22  # numbers of a filter up to which it is looked at
NEARLY = 8  # units in the last place by which its halves may differ

Axes = tuple[int, ...]
Signs = set[int]


def with_real_spectra(graph: Graph) -> Graph:
    """The graph with real parts of transforms of paired terms done by real transforms."""
    if not any(e.primitive is real_p for e in graph.equations):
        return graph
    paired = Paired(graph)
    return Halving(paired).done(graph) if paired.ends else graph


class Paired:
    """Which variables have terms in conjugate pairs, along which axes, and where that ends.

    signs: x[-k] is conj(x[k]), or -conj(x[k]) as after a product with 1j or with k; both of zeros.
    ends: the transforms of which the real parts alone are read, and all that leads to them is read
    by nobody else.
    """

    def __init__(self, graph: Graph) -> None:
        self.axes: dict[Variable, Axes] = {}
        self.signs: dict[Variable, Signs] = {}
        self.reals: dict[Variable, Any] = {}  # complex copies of real numbers
        self.readers: dict[Variable, list[Equation | None]] = {}
        ends = []
        for e in graph.equations:
            for x in e.inputs:
                if isinstance(x, Variable):
                    self.readers.setdefault(x, []).append(e)
            ends += [e] if self.note(e) else []
        for x in graph.outputs:
            if isinstance(x, Variable):
                self.readers.setdefault(x, []).append(None)
        self.ends = {e.outputs[0] for e in ends if self.is_read_as_real(e.outputs[0])}
        self.makers = {e.outputs[0]: e for e in graph.equations if len(e.outputs) == 1}
        self.settle(graph)

    def note(self, e: Equation) -> bool:
        """Note what an equation makes of pairs; whether it is a transform of them."""
        if e.primitive is astype_p and spec_in(e.inputs[0]).dtype.kind == "f":
            self.reals[e.outputs[0]] = e.inputs[0]
        elif e.primitive is fft_p and e.static["axes"]:
            x, axes = e.inputs[0], e.static["axes"]
            if isinstance(x, Variable) and self.axes.get(x) == axes and 1 in self.signs[x]:
                return True
            real = self.reals.get(x, x) if isinstance(x, Variable) else x
            exact = np.result_type(spec_in(real).dtype, 1j) == e.outputs[0].spec.dtype
            long = spec_in(x).shape[axes[-1]] >= SHORT
            if isinstance(real, Variable) and real.spec.dtype.kind == "f" and exact and long:
                self.axes[e.outputs[0]], self.signs[e.outputs[0]] = axes, {1}
        elif e.primitive in TERM_BY_TERM:
            known = [x for x in e.inputs if isinstance(x, Variable) and x in self.axes]
            axes = self.axes[known[0]] if known else ()
            out = e.outputs[0].spec
            found = [self.signs_of(x, out.shape, axes) for x in e.inputs] if axes else []
            if found and all(found) and (signs := after(e.primitive, found)):
                self.axes[e.outputs[0]], self.signs[e.outputs[0]] = axes, signs
        return False

    def signs_of(self, x: Any, shape: tuple[int, ...], axes: Axes) -> Signs:
        """With which signs the terms of an operand are in pairs; none where they are not."""
        if not isinstance(x, Variable):
            return signs_in(np.asarray(opened(x)), shape, axes)
        if x in self.axes:
            alike = self.axes[x] == axes and x.spec.shape == shape
            return self.signs[x] if alike else set()
        inner = [axis - len(shape) + x.spec.ndim for axis in axes]
        alone = all(axis < 0 or x.spec.shape[axis] == 1 for axis in inner)
        return {1} if alone and x.spec.dtype.kind in "fiub" else set()

    def is_read_as_real(self, x: Variable) -> bool:
        return all(e is not None and e.primitive is real_p for e in self.readers.get(x, [None]))

    def settle(self, graph: Graph) -> None:
        """Keep the ends to which nothing leads that somebody else reads.

        replaced: the variables of pairs that everybody who reads them will read half of.
        """
        while True:
            self.replaced: set[Variable] = set()
            for e in reversed(graph.equations):
                x = e.outputs[0]
                if x in self.axes and all(map(self.reads_half, self.readers.get(x, [None]))):
                    self.replaced.add(x)
            leading: set[Variable] = set()  # those that are made of such alone
            for e in graph.equations:
                made_of = [y for y in e.inputs if isinstance(y, Variable) and y in self.axes]
                alone = e.primitive is fft_p or leading.issuperset(made_of)
                if alone and e.outputs[0] in self.replaced:
                    leading.add(e.outputs[0])
            kept = {x for x in self.ends if self.makers[x].inputs[0] in leading}
            if kept == self.ends:
                return
            self.ends = kept

    def reads_half(self, e: Equation | None) -> bool:
        """Whether a reader of pairs will read their half."""
        if e is None:
            return False
        out = e.outputs[0]
        return out in self.ends or (out in self.replaced and e.primitive is not fft_p)


def after(primitive: Any, found: list[Signs]) -> Signs:
    """The signs of what an operation makes of operands with these."""
    if primitive is where_p:
        found = found if 1 in found[0] else [set()]
        return set.intersection(*found[1:]) if len(found) > 1 else set()
    if primitive is multiply or primitive is divide:
        return {a * b for a in found[0] for b in found[1]}
    return set.intersection(*found)


def signs_in(c: np.ndarray, shape: tuple[int, ...], axes: Axes) -> Signs:
    """With which signs a constant has conjugate terms in pairs, k and -k for 0 < k < n / 2."""
    if c.dtype.kind in "iu":
        c = c.astype(np.result_type(c.dtype, 1.0))  # integers have no sum that is sure to fit
    inner = [axis - len(shape) + c.ndim for axis in axes]
    if all(axis < 0 or c.shape[axis] == 1 for axis in inner):
        one = c
        other = np.conj(c)
    elif np.prod(shape) > LARGE:
        return set()
    else:
        c = np.broadcast_to(c, shape)
        middle = (slice(None),) * axes[-1] + (slice(1, (shape[axes[-1]] + 1) // 2),)
        one, other = c[middle], np.conj(np.roll(np.flip(c, axes), 1, axes)[middle])
    if c.dtype.kind not in "fbc" or not np.isfinite(one).all():
        return set()
    if c.dtype.kind == "b":
        return {1} if np.array_equal(one, other) else set()
    least = NEARLY * np.finfo(np.result_type(c.dtype, 1.0)).eps * np.abs(one)
    return {sign for sign in (1, -1) if not np.any(np.abs(one - sign * other) > least)}


class Halving:
    """The graph written anew, with halves in place of pairs."""

    def __init__(self, paired: Paired) -> None:
        self.paired = paired
        self.replaced = paired.replaced
        self.halves: dict[Variable, Any] = {}
        self.reals: dict[Variable, Any] = {}  # complex copies of real numbers, as they are now
        self.results: dict[Variable, Any] = {}  # real parts of ends

    def done(self, graph: Graph) -> Graph:
        return rewritten(graph, self.rule).pruned()

    def rule(self, e: Equation) -> Any:
        if len(e.outputs) != 1:
            return e
        (out,), steps = e.outputs, NewEquations()
        if e.primitive is astype_p and spec_in(e.inputs[0]).dtype.kind == "f":
            self.reals[out] = e.inputs[0]
        if e.primitive is real_p and isinstance(e.inputs[0], Variable):
            result = self.results.get(e.inputs[0])
            return e if result is None else (result,)
        if out in self.paired.ends:
            self.results[out] = self.end(steps.apply, e)
        elif out in self.replaced:
            made = self.begun if e.primitive is fft_p else self.kept
            self.halves[out] = made(steps.apply, e)
        else:
            return e
        return steps.equations

    def begun(self, apply: Callable[..., Any], e: Equation) -> Any:
        """The half of a transform of real numbers."""
        x = self.reals.get(e.inputs[0], e.inputs[0])
        *others, last = e.static["axes"]
        norm, inverse = e.static["norm"], e.static["inverse"]
        if inverse:
            half = apply(conjugate_p, apply(rfft_p, x, axis=last, norm=swapped(norm)))
        else:
            half = apply(rfft_p, x, axis=last, norm=norm)
        return self.others(apply, half, others, e)

    def end(self, apply: Callable[..., Any], e: Equation) -> Any:
        """The real part of a transform of pairs, from their half."""
        *others, last = e.static["axes"]
        half = self.others(apply, self.halves[e.inputs[0]], others, e)
        n, norm = e.outputs[0].spec.shape[last], e.static["norm"]
        if not e.static["inverse"]:
            half, norm = apply(conjugate_p, half), swapped(norm)
        return apply(irfft_p, half, n=n, axis=last, norm=norm)

    def others(self, apply: Callable[..., Any], half: Any, axes: list[int], e: Equation) -> Any:
        """The same transform along the other axes."""
        return half if not axes else apply(fft_p, half, **{**e.static, "axes": tuple(axes)})

    def kept(self, apply: Callable[..., Any], e: Equation) -> Any:
        """The half of what is done term by term."""
        shape, last = e.outputs[0].spec.shape, self.paired.axes[e.outputs[0]][-1]

        def half(x: Any) -> Any:
            if isinstance(x, Variable):
                return self.halves.get(x, x)
            axis = last - len(shape) + np.ndim(opened(x))
            if axis < 0 or np.shape(opened(x))[axis] == 1:
                return x
            return np.asarray(opened(x))[(slice(None),) * axis + (slice(shape[last] // 2 + 1),)]

        return apply(e.primitive, *map(half, e.inputs), **e.static)
