"""Primitive and its kinds: everything known about an operation stands in one block of text.

A kind is a mathematical property. Given the property, most rules are theorems, written here once.

    Elementwise   out[i] depends on x[i], y[i] only     you write one partial for each operand
    Linear        linear in its arrays together         value, spec, transpose, batch
    Multilinear   linear in each array                  value, spec, transpose, batch
    Primitive     nothing                               value, spec, jvp, vjp, batch

Rules are pure functions in a dialect of NumPy: no `bool` of a value, no assignment, arrays created
from specs or operands only. So they can themselves be differentiated, batched and staged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy import ndarray

from .array import Array, is_number, touch, view_of
from .cotangent import DENSE, Cotangent, Masked, dense, masked, unbroadcast
from .declared import check_elementwise, check_name, missing
from .errors import name_of
from .lines import ReadApart, present_part
from .node import MISSED, Recorders, Residual, keep, packing
from .past import whole_mask
from .rules import (
    FIRST,
    MINUS_ONE,
    ONE,
    SECOND,
    SPECIFIED,
    ZERO,
    RulesForOne,
    folding,
    lone,
    match,
    note_rule,
    noting,
    product,
    resolve,
    together,
)
from .spec import Spec, promoted, spec_of, zeros
from .trace import bind, youngest
from .traits import Traits
from .usage import usage

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
    takes_python = False  # Python numbers that move: they come as they are, or as NumPy's

    # What a forward mode within another gives instead of operands and tangents: `Spectrum`.
    facing: Callable[..., Any] | None = None
    own_jvp: bool = False
    ours: bool = False  # its rules call no functions of the user's
    usual_pull: bool = False  # `pull` is that of Primitive, and the instance stays
    by_transpose: bool = False  # its cotangents are its transposes, and nothing else
    by_elements: bool = False  # a batch is computed by `value`, with axes aligned
    direct: bool = False  # of plain arrays, `value` is all that a call computes
    lone: Any = None  # the rule of a node with one operand, of which nothing is read
    packers: Mapping[int, Any] = MappingProxyType({})  # see `packer`

    def __init__(self, name: str | None = None) -> None:
        check_name(self, name)
        self.name = name or self.name or type(self).__name__.lower()
        self.usual_pull = type(self).pull is Primitive.pull
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
            given, out_bar = out_bar, tuple([dense(out_bar.bars.get(i)) for i in range(self.n_out)])
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
    assert primitive.spec is not None
    of_one = [Spec(x.shape[m:], x.dtype) for x, m in zip(xs, mapped, strict=True)]
    specs = primitive.spec(*of_one, **static)
    if primitive.n_out is None:
        return zeros(Spec((0, *specs.shape), specs.dtype))
    return tuple([zeros(Spec((0, *s.shape), s.dtype)) for s in specs])


def align(xs: Any, mapped: Any) -> list[Any]:
    """Pad ranks after the batch axis, so that mapped and unmapped operands broadcast together."""
    ndim = max(getattr(x, "ndim", 0) - is_mapped for x, is_mapped in zip(xs, mapped, strict=True))
    return [
        np.reshape(x, (x.shape[0],) + (1,) * (ndim + 1 - x.ndim) + x.shape[1:])
        if is_mapped and x.ndim <= ndim
        else x
        for x, is_mapped in zip(xs, mapped, strict=True)
    ]


def untransposed(self: Any, *args: Any, **static: Any) -> Any:
    raise missing(self, "transpose")


class Linear(Primitive):
    """Linear in its arrays together: its jvp is itself, its vjp is its transpose.

    The other operands (indices, masks) are named in `nondiff`.
    `transpose(i, xs, out_bar, **static)` has specs in place of the arrays it is linear in.
    One that `rearranges` has out elements that are each one element of x: a masked cotangent stays
    masked, since its mask takes the same way.
    One that `views` gives an Array on the memory of x, as NumPy does: assignment writes to both.
    """

    reads = ""
    structured = True
    rearranges = False
    own_jvp = False  # its jvp of one operand is itself
    views = False
    sign = 0  # of a view of a part of complex numbers: 1, or -1 for the imaginary part

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        cls = type(self)
        self.always_shares = cls.shares is Linear.shares  # where x is not a number
        self.own_jvp = cls.jvp is Linear.jvp and not self.nondiff and self.n_out is None
        by_transpose = cls.vjp is Linear.vjp and cls.pull is Primitive.pull and self.n_out is None
        self.by_transpose = by_transpose
        if by_transpose:
            self.pull = self.pull_dense  # type: ignore[method-assign]  # bound once
        reads = self.nondiff or self.reads_for([True])
        if self.direct and self.n_out is None and not (reads or self.decides):
            self.lone = lone(self, self.transpose if by_transpose else None)

    def __call__(self, *xs: Any, **static: Any) -> Any:
        if len(xs) == 1:
            return self.of(xs[0], static)
        record = self.recorders[tuple(map(type, xs))]
        if record is not None:
            out = record(self, static, *xs)
            if out is not MISSED:
                return out
        trace = None
        for x in xs:  # as `youngest` does
            if type(x) is Array:
                if x.storage is not None:
                    touch(x)
                if trace is None or x.within.birth > trace.birth:
                    trace = x.within
        out = self.value(*xs, **static) if trace is None else trace.process(self, xs, static)
        if self.views and type(out) is Array and self.shares(xs[0], out, static):
            out.storage = view_of(xs[0], self, (self, static))
        return out

    def of(self, x: Any, static: dict[str, Any]) -> Any:
        """self(x, **static), the short way for one operand."""
        if type(x) is not Array:
            return self.value(x, **static)
        out = x.within.single(self, x, static)
        if self.views and type(out) is Array:
            plain = self.always_shares and type(x.payload) is ndarray and not x.within.maps
            if plain or self.shares(x, out, static):
                out.storage = view_of(x, self, (self, static))
        return out

    def shares(self, x: Any, out: Any, static: dict[str, Any]) -> bool:
        """Whether NumPy gives a view here."""
        return type(x) is Array and not is_number(x)

    def mapped_static(self, size: int, static: dict[str, Any]) -> dict[str, Any]:
        """The static parameters of the same view of an array with a batch axis in front."""
        return static

    transpose: Callable[..., Any] = untransposed

    def jvp(self, out, xs, x_dots, **static):
        dots = [
            x if i in self.nondiff else np.zeros_like(x) if x_dot is None else x_dot
            for i, (x, x_dot) in enumerate(zip(xs, x_dots, strict=True))
        ]
        if self.rearranges and any(isinstance(dot, Masked) for dot in dots):
            parts = [masked(dot, True) for dot in dots]
            masks = [whole_mask(part) for part in parts]
            values = [part.value for part in parts]
            return Masked(self.moved(*masks, **static), self(*values, **static))
        return self(*dots, **static)

    def moved(self, *masks: Any, **static: Any) -> Any:
        """The masks of what it rearranges."""
        return self(*masks, **static)

    def vjp(self, out_bar, residual, wanted):
        part = issubclass(type(out_bar), Cotangent)
        pull = self.pull_part if part else self.pull_whole
        return pull(out_bar, residual.xs, wanted, residual.static)

    def pull_part(self, out_bar, xs, wanted, static):
        """The cotangents of the operands, for one that is present in part."""
        if self.rearranges:
            return self.pull_mask(masked(out_bar, True), xs, wanted, static)
        bars = self.pull_whole(out_bar.dense(), xs, wanted, static)
        constant = not (self.nondiff or self.reads_for(wanted))
        return present_part(self, out_bar, bars, xs, static, clean=constant)

    def pull_whole(self, out_bar, xs, wanted, static):
        return [
            self.transpose(i, xs, out_bar, **static) if want else None
            for i, want in enumerate(wanted)
        ]

    def pull_dense(self, out_bar: Any, residual: Residual, wanted: Any) -> Any:
        """`pull` of a cotangent that is an array: the transposes, and nothing between."""
        if type(out_bar) not in DENSE:
            return Primitive.pull(self, out_bar, residual, wanted)
        if type(residual) is not Residual:
            residual = residual.opened()
        xs, static, x_bars = residual.xs, residual.static, []
        for i, want in enumerate(wanted):
            x_bars.append(None if want is None else self.transposed(xs[i], out_bar, static, i, xs))
        return x_bars

    def transposed(
        self, x: Any, out_bar: Any, static: dict[str, Any], i: int = 0, xs: Any = None
    ) -> Any:
        """The cotangent of x, operand i of xs, for one of the result that is an array."""
        try:
            x_bar = self.transpose(i, xs or (x,), out_bar, **static)
            if x_bar is not None and (x_bar.dtype is not x.dtype or x_bar.shape != x.shape):
                x_bar = match(x_bar, x, "vjp", self.name)
        except Exception as error:
            note_rule(error, self, "vjp")
            raise
        return x_bar

    def pull_mask(self, out_bar, xs, wanted, static):
        return [
            Masked(
                self.transpose(i, [Spec(x.shape, bool) for x in xs], out_bar.mask, **static),
                self.transpose(i, xs, out_bar.value, **static),
            )
            if want
            else None
            for i, want in enumerate(wanted)
        ]


class Multilinear(Linear):
    """Linear in each array: its jvp is a sum of itself. Transposes read the other operands."""

    def reads_for(self, wanted):
        n = len(wanted)
        return [f"x{j}" for j in range(n) if any(wanted[i] for i in range(n) if i != j)]

    def jvp(self, out, xs, x_dots, **static):
        out_dot = None
        for i, x_dot in enumerate(x_dots):
            if x_dot is not None:
                term = self(*xs[:i], x_dot, *xs[i + 1 :], **static)
                out_dot = term if out_dot is None else out_dot + term
        return out_dot


DIRECT = {Primitive.__call__, Linear.__call__}


class Elementwise(Primitive):
    """out[i] depends on the operands' [i] only; one partial(out, *xs) for each operand.

    >>> import numpy as np
    >>> softsign = Elementwise(
    ...     lambda x: x / (1 + abs(x)), lambda out, x: (1 - abs(out)) ** 2, reads="out",
    ...     name="softsign")
    >>> softsign(1.0)
    np.float64(0.5)

    Each d(out)/d(x) is stated once, for both modes and all orders.
    `reads` names what the partial uses of "out", "x0", "x1"; one string for each partial.
    The function gets plain arrays and may do anything with them. A ufunc that `register` enters
    into the registry is called directly; `value` may then be a faster way to compute it.
    """

    structured = takes_python = takes_masks = True
    without_axes = "scalar"
    made_of = ("ufunc", "partials", "partial_reads")
    reflected: Any = None  # the operator's method for a plain operand on the left: `__radd__`
    converts = False  # beside an array, a Python number may come as an array without axes
    arrays: frozenset[type]  # values that the ufunc of a registered one takes as they are
    of_numbers: Any = None  # the same, of numbers rounded as the ufunc does, not the operator

    @usage("Elementwise(f, lambda out, x0: ..., reads='x0')")
    def __init__(
        self,
        ufunc: Callable[..., Any],
        *partials: Callable[..., Any],
        reads: str | tuple[str, ...] = "",
        lower: str | None = None,
        value: Callable[..., Any] | None = None,
        name: str | None = None,
        forms: Callable[[Any], tuple[Any, Any]] = lambda partial: (partial, partial),
    ) -> None:
        check_elementwise(ufunc, partials, reads)
        super().__init__(name or name_of(ufunc))
        self.ufunc = ufunc
        # Their forms for Arrays, and for a cotangent that is a plain array of float64.
        self.in_flight = tuple([forms(partial)[0] for partial in partials])
        self.beside_doubles = tuple([forms(partial)[1] for partial in partials])
        self.fast = value or ufunc  # what `register` makes the value: NumPy brings Arrays to us
        self.partials = partials
        self.decides = self.decides or ZERO in partials
        every = " ".join([f"x{i}" for i in range(len(partials))])
        self.partial_reads = [
            frozenset(r.replace("xs", every).split())
            for r in ((reads,) * len(partials) if isinstance(reads, str) else reads)
        ]
        self.lower = lower
        self.by_elements = type(self).batch is Elementwise.batch
        kind = type(self)  # whether a cotangent is multiplied by the partial, and nothing else
        self.multiplies = kind.factor is Elementwise.factor and kind.scaled is Elementwise.scaled
        # Resolved here, once: a node's rule and what it keeps, for each choice of wanted operands.
        if len(partials) == 1:
            self.rule, self.pack = resolve(self, (0,))
            self.note = noting(self, (0,), self.rule)
        elif len(partials) == 2:
            self.rule, self.pack = resolve(self, (0, 1))
            self.reads_other = ("x1" in self.partial_reads[0], "x0" in self.partial_reads[1])
            self.rules, self.packs = zip(resolve(self, (0,)), resolve(self, (1,)), strict=True)
            self.folding = folding(self.rule)
            self.foldings = tuple(map(folding, self.rules))
            self.note = noting(self, (0, 1), self.rule)
            self.notes = tuple([noting(self, (i,), self.rules[i]) for i in (0, 1)])

    def value(self, *xs):
        trace = youngest(xs)
        if trace is not None:  # an outer one; the function need not be a NumPy program
            return trace.process(self, xs, {})
        out = self.fast(*xs)
        return out if hasattr(out, "dtype") else np.asarray(out)[()]

    def __call__(self, *xs, **static):
        n = len(self.partials)
        if n > 2 or len(xs) != n:
            return bind(self, xs, static)
        trace = youngest(xs)
        if trace is None:
            return self.value(*xs)
        return trace.unary(self, xs[0]) if n == 1 else trace.binary(self, *xs)

    def spec(self, *xs, **static):
        shape = np.broadcast_shapes(*[x.shape for x in xs])
        if isinstance(self.ufunc, np.ufunc):
            *_, dtype = self.ufunc.resolve_dtypes((*[x.weak or x.dtype for x in xs], None))
        else:
            dtype = promoted(*xs)
        return Spec(shape, dtype)

    def reads_for(self, wanted):
        return frozenset().union(
            *[r for r, want in zip(self.partial_reads, wanted, strict=True) if want]
        )

    def jvp(self, out, xs, x_dots):
        out_dot, xs = None, self.together(xs)
        for i, (x_dot, partial) in enumerate(zip(x_dots, self.partials, strict=True)):
            if x_dot is None or partial is ZERO:
                continue
            term = x_dot if partial is ONE else self.scaled(i, x_dot, out, xs)
            out_dot = term if out_dot is None else out_dot + term
        if out_dot is not None and type(out) is not float:
            shape = getattr(out, "shape", ())
            if out_dot.shape != shape:
                out_dot = np.broadcast_to(dense(out_dot), shape)
        return out_dot

    def vjp(self, out_bar, residual, wanted):
        out, xs = residual.out, self.together(residual.xs)
        return [
            unbroadcast(out_bar if partial is ONE else self.scaled(i, out_bar, out, xs), x)
            if want and partial is not ZERO
            else None
            for i, (partial, x, want) in enumerate(
                zip(self.partials, residual.xs, wanted, strict=True)
            )
        ]

    def together(self, xs):
        """The operands as the partials take them."""
        return together(xs)

    def scaled(self, i, bar, out, xs):
        """A tangent or cotangent times partial i."""
        return bar * self.partials[i](out, *xs)

    def term(self, i, arguments, held, alone):
        """`scaled` as the text of an expression, for rules that are written out (`rules.written`).

        arguments: the text of what a partial is called with; held: of what a node has kept; alone:
        whether it is kept for one of two operands, so that the other may be a Python number.
        """
        if not self.multiplies:
            return f"factor{i}(bar, {held})"
        if not alone and self.partials[i] in TERMS:
            return TERMS[self.partials[i]]
        # Where the partial is an Array and the cotangent is not, its own operator is called.
        rule = self.plain_form(i)
        if held == "held" or not held:
            return f"product(bar, {rule}({arguments}))"
        plain, moving = f"bar * {rule}({arguments})", f"times(moving{i}({arguments}), bar)"
        return f"({moving} if type({held}) is Array else {plain})"

    def plain_form(self, i):
        """The text of a partial: for plain arrays of float64 of another form, if it has one."""
        if self.beside_doubles[i] is self.partials[i]:
            return f"partial{i}"
        return f"(double{i} if type(bar) is ndarray and bar.dtype is DOUBLE else partial{i})"

    def factor(self, i, held):
        """`scaled` for a node: a function of out_bar and of what `resolve` keeps (`held`)."""
        partial, nothing = self.partials[i], [None] * (len(self.partials) + 1)
        if partial is ONE:
            return lambda out_bar, residual: out_bar
        if partial is MINUS_ONE:
            return lambda out_bar, residual: -out_bar
        if partial is ZERO:
            return lambda out_bar, residual: None
        if not held:
            return lambda out_bar, residual: product(out_bar, partial(*nothing))
        if len(held) > 1:
            return lambda out_bar, residual: product(out_bar, partial(*residual))
        return {
            (1, 0): lambda out_bar, residual: product(out_bar, partial(residual, None)),
            (1, 1): lambda out_bar, residual: product(out_bar, partial(None, residual)),
            (2, 0): lambda out_bar, residual: product(out_bar, partial(residual, None, None)),
            (2, 1): lambda out_bar, residual: product(out_bar, partial(None, residual, None)),
            (2, 2): lambda out_bar, residual: product(out_bar, partial(None, None, residual)),
        }[len(self.partials), held[0]]

    def batch(self, xs, mapped, size):
        return self(*align(xs, mapped)) if len(xs) > 1 else self(xs[0])


TERMS = {
    ONE: "bar", MINUS_ONE: "-bar", ZERO: "None",
    FIRST: "(times(x0, bar) if type(x0) is Array else x0 * bar)",
    SECOND: "(times(x1, bar) if type(x1) is Array else x1 * bar)",
}  # fmt: skip
