"""Primitive: an operation with all its rules, in one block of text.

Rules are pure functions in a dialect of NumPy: no `bool` of a value, no assignment, arrays created
from specs or operands only. So they can themselves be differentiated, batched and staged.
A primitive with a mathematical property derives most of its rules from it: see `kinds`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy import ndarray

from .array import Array
from .cotangent import DENSE, Masked, dense
from .declared import check_name, missing
from .node import MISSED, Recorders, Residual, keep, packing
from .rows import ReadApart, present_part
from .rules import SPECIFIED, RulesForOne, match, note_rule
from .spec import Spec, spec_of, zeros
from .trace import CONSTANT, youngest
from .traits import Traits

PACKAGE = __name__.partition(".")[0] + "."


class Primitive(Traits, ReadApart):
    """An indivisible operation and its rules. Calling it applies it, to Arrays and plain arrays.

    Everything that can be an array is a positional operand; static parameters are keyword-only.

        value(*xs, **static)                    the result, from plain arrays, with NumPy
        spec(*specs, **static)                  its spec, or a tuple of specs
        jvp(out, xs, x_dots, **static)          tangent of out; an x_dot that is zero is None
        vjp(out_bar, residual, wanted)          one cotangent for each operand, or None
        batch(xs, mapped, size, **static)       the result with the batch axis at 0
        lower(emit, *xs, **static)              machine code; without it `value` is called

    A rule that is absent raises MissingRuleError when, and only when, it is needed; without batch,
    `vmap` takes the examples one by one. `pullback.primitive` derives jvp and vjp from each other.
    """

    name: str = ""
    reads: str = "out xs"  # what vjp reads: "out", "x0", "x1", "xs"; else residual holds specs
    nondiff: tuple[int, ...] = ()  # operands that are never differentiated; kept for vjp
    constant = False  # the result is an index, a count, a truth value: plain under grad and jvp
    inert = False  # the result is floating, but its derivative is zero in every operand
    of_passes = False  # passes of the compiler alone apply it, to what has been differentiated
    decides = False  # constant or inert, or one of its partials is zero: constant between jumps
    structured = False  # vjp takes masked and scattered cotangents as they are
    rearranges = views = False  # see Linear
    takes_masks = False  # jvp takes masked tangents as they are, and may give one
    n_out: int | None = None  # how many results, where there are several
    everything: ClassVar[list[Primitive]] = []  # in order of declaration
    # Of a class with an instance for each use, the attributes by which these are told apart.
    made_of: tuple[str, ...] = ()

    spec: Callable[..., Any] | None = None
    jvp: Callable[..., Any] | None = None
    vjp: Callable[..., Any] | None = None
    batch: Callable[..., Any] | None = None
    lower: Any = None

    # What a forward mode within another gives instead of operands and tangents: `Spectrum`.
    facing: Callable[..., Any] | None = None
    own_jvp: bool = False
    ours: bool = False  # its rules call no functions of the user's
    usual_pull: bool = False  # `pull` is that of Primitive, and the instance stays
    by_transpose: bool = False  # its cotangents are its transposes, and nothing else
    by_elements: bool = False  # a batch is computed by `value`, with axes aligned
    is_single: bool = False  # `of` of an Array is its trace's `single`, and nothing more
    direct: bool = False  # of plain arrays, `value` is all that a call computes
    lone: Any = None  # the rule of a node with one operand, of which nothing is read
    packers: Mapping[int, Any] = MappingProxyType({})  # see `packer`

    def __init__(self, name: str | None = None) -> None:
        check_name(self, name)
        self.name = name or self.name or type(self).__name__.lower()
        self.usual_pull = type(self).pull is Primitive.pull
        self.is_single = type(self).of is Primitive.of
        # One bound method, made once: the rule of this primitive's nodes.
        self.pull: Any = self.pull  # type: ignore[method-assign]  # bound once
        self.direct = type(self).__call__ in DIRECT
        self.decides = self.constant or self.inert
        self.ours = type(self).__module__.startswith(PACKAGE)
        Primitive.everything.append(self)

    def __call__(self, *xs: Any, **static: Any) -> Any:
        if len(xs) == 1:
            (x,) = xs
            return x.within.single(self, x, static) if type(x) is Array else self.value(x, **static)
        record = self.recorders[tuple(map(type, xs))]
        if record is not None:
            out = record(self, static, *xs)
            if out is not MISSED:
                return out
            if (plain := without_constants(xs)) is not None:
                return self(*plain, **static)
        trace = youngest(xs)
        return self.value(*xs, **static) if trace is None else trace.process(self, xs, static)

    def of(self, x: Any, static: dict[str, Any]) -> Any:
        """self(x, **static), the short way for one operand."""
        return x.within.single(self, x, static) if type(x) is Array else self.value(x, **static)

    def __repr__(self) -> str:
        return self.name

    @cached_property
    def recorders(self) -> Recorders:
        return Recorders(self)

    @cached_property
    def alone(self) -> RulesForOne:
        """The rules of nodes with one parent: operand i of n, by (i, n)."""
        return RulesForOne(self)

    def value(self, *xs: Any, **static: Any) -> Any:
        raise missing(self, "value")

    # What traces call. The rules above are what authors write.

    def push(
        self, out: Any, xs: Any, x_dots: Any, static: dict[str, Any], structured: bool = False
    ) -> Any:
        """The tangent of out, of its shape and dtype; if structured, it may be masked."""
        if self.jvp is None:
            raise missing(self, "jvp")
        x_dots = x_dots if self.takes_masks or self.rearranges else [*map(dense, x_dots)]
        try:
            out_dot = self.jvp(out, xs, x_dots, **static)
        except Exception as error:
            note_rule(error, self, "jvp")
            raise
        if self.n_out is None:
            return match(out_dot if structured else dense(out_dot), out, "jvp", self.name)
        return tuple([match(dot, o, "jvp", self.name) for dot, o in zip(out_dot, out, strict=True)])

    def packer(self, pattern: int, n: int) -> Any:
        """pack(primitive, out, xs, static) -> Residual: what vjp will read, specs of the rest.

        Resolved once for each choice of wanted operands: the last n bits of `pattern`, after a 1.
        Plain arrays are kept safe from changes.
        """
        found = packing(*self.ways(pattern, n))
        self.packers = {**self.packers, pattern: found}
        return found

    def ways(self, pattern: int, n: int) -> tuple[bool, tuple[Any, ...]]:
        """Whether vjp reads the result, and how it has each operand; see `packing`."""
        wanted = [True if pattern >> (n - 1 - i) & 1 else None for i in range(n)]
        reads = self.reads_for(wanted)
        ways: list[Any] = []
        for i, want in enumerate(wanted):
            read = "xs" in reads or i in self.nondiff or f"x{i}" in reads
            ways.append(None if read and want else keep if read else spec_of)
        return "out" in reads, tuple(ways)

    def reads_for(self, wanted: Any) -> Any:
        return names_in(self.reads)

    def pull(self, out_bar: Any, residual: Residual, wanted: Any) -> Any:
        """One cotangent for each operand, of its shape and dtype; None is zero."""
        if self.vjp is None:
            raise missing(self, "vjp")
        given = None  # a cotangent that may be present in part
        if self.n_out is not None:
            given, slots = out_bar, out_bar.bars
            out_bar = tuple([dense(slots[i]) if i in slots else None for i in range(self.n_out)])
        elif type(out_bar) not in DENSE:
            if not self.structured:
                given, out_bar = out_bar, dense(out_bar)
            elif getattr(out_bar, "lazy", False):
                out_bar = out_bar.present()
        if type(residual) is not Residual:
            residual = residual.opened()
        try:
            x_bars = self.vjp(out_bar, residual, wanted)
        except Exception as error:
            note_rule(error, self, "vjp")
            raise
        xs, bars = residual.xs, [*x_bars]
        if len(bars) != len(xs):
            raise ValueError(f"`{self.name}` gave {len(bars)} cotangents for {len(xs)} operands")
        for i, x_bar in enumerate(bars):
            if x_bar is None or wanted[i] is None:
                bars[i] = None
                continue
            x, part = xs[i], x_bar.value if type(x_bar) is Masked else x_bar
            plain = type(part) is ndarray and type(x) in SPECIFIED
            if not plain or part.dtype is not x.dtype or part.shape != x.shape:
                bars[i] = match(x_bar, x, "vjp", self.name)
        return bars if given is None else present_part(self, given, bars, xs, residual.static)


@cache
def names_in(reads: str) -> frozenset[str]:
    return frozenset(reads.split())


def without_constants(xs: Any) -> list[Any] | None:
    """Operands of reverse traces with plain arrays for constants, which go the shorter way.

    None where no constant stands beside what moves, or where more must be asked.
    """
    found = moves = False
    for x in xs:
        if type(x) is Array:
            if x.within is not CONSTANT:
                if not x.within.writes_nodes:
                    return None
                moves = True
            elif x.storage is not None or type(x.payload) is not ndarray:
                return None
            else:
                found = True
    if not (found and moves):
        return None
    return [x.payload if type(x) is Array and x.within is CONSTANT else x for x in xs]


def one_by_one(
    primitive: Primitive, xs: Any, mapped: Any, size: int, static: Mapping[str, Any]
) -> Any:
    """The batch of a primitive, example by example; of no examples, as `spec` says."""
    outs = [
        primitive(*[x[i] if m else x for x, m in zip(xs, mapped, strict=True)], **static)
        for i in range(size)
    ]
    if outs:
        several = primitive.n_out is not None
        return tuple(map(np.stack, zip(*outs, strict=True))) if several else np.stack(outs)
    of_one = [Spec(x.shape[m:], x.dtype) for x, m in zip(xs, mapped, strict=True)]
    return of_no_examples(primitive, of_one, static)


def of_no_examples(primitive: Primitive, specs: Any, static: Mapping[str, Any]) -> Any:
    """The results for an empty batch of operands that have these specs in each example."""
    assert primitive.spec is not None
    found = primitive.spec(*specs, **static)
    if primitive.n_out is None:
        return zeros(Spec((0, *found.shape), found.dtype))
    return tuple([zeros(Spec((0, *s.shape), s.dtype)) for s in found])


def align(xs: Any, mapped: Any) -> list[Any]:
    """Pad ranks after the batch axis, so that mapped and unmapped operands broadcast together."""
    ndim = max(getattr(x, "ndim", 0) - is_mapped for x, is_mapped in zip(xs, mapped, strict=True))
    return [
        np.reshape(x, (x.shape[0],) + (1,) * (ndim + 1 - x.ndim) + x.shape[1:])
        if is_mapped and x.ndim <= ndim
        else x
        for x, is_mapped in zip(xs, mapped, strict=True)
    ]


DIRECT: set[Any] = {Primitive.__call__}  # of plain arrays they compute `value`, and nothing else
