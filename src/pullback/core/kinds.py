"""Kinds of primitives: a mathematical property, and the rules that follow from it.

    Elementwise   out[i] depends on x[i], y[i] only     you write one partial for each operand
    Linear        linear in its arrays together         value, spec, transpose, batch
    Multilinear   linear in each array                  value, spec, transpose, batch

Given the property, most rules are theorems, written here once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy import ndarray

from .array import Array, is_number
from .cotangent import DENSE, Cotangent, Masked, dense, masked, unbroadcast
from .declared import check_elementwise, missing, refuse_derivative, refuse_operands
from .errors import name_of
from .node import MISSED, Residual
from .plain_numpy import whole_mask
from .primitive import DIRECT, Primitive, align, without_constants
from .rows import present_part
from .rules import (
    FIRST,
    MINUS_ONE,
    ONE,
    SECOND,
    ZERO,
    folding,
    lone,
    match,
    note_rule,
    noting,
    product,
    resolve,
    together,
)
from .scalars import has_values
from .spec import Spec, promoted
from .storage import touch, view_of
from .trace import bind, youngest
from .usage import usage


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
    dense_transpose = False  # of a cotangent that is an array, its vjp is its transpose
    views = False
    sign = 0  # of a view of a part of complex numbers: 1, or -1 for the imaginary part

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        cls = type(self)
        self.is_single = cls.of is Linear.of and not self.views
        self.always_shares = cls.shares is Linear.shares  # where x is not a number
        self.own_jvp = cls.jvp is Linear.jvp and not self.nondiff and self.n_out is None
        by_transpose = cls.vjp is Linear.vjp and cls.pull is Primitive.pull and self.n_out is None
        self.by_transpose = by_transpose
        if by_transpose:
            self.pull = self.pull_dense  # type: ignore[method-assign]  # bound once
        reads = self.nondiff or self.reads_for([True])
        if self.direct and self.n_out is None and not (reads or self.decides):
            transposes = by_transpose or self.dense_transpose
            self.lone = lone(self, self.transpose if transposes else None)

    def __call__(self, *xs: Any, **static: Any) -> Any:
        if len(xs) == 1:
            return self.of(xs[0], static)
        record = self.recorders[tuple(map(type, xs))]
        if record is not None:
            out = record(self, static, *xs)
            if out is not MISSED:
                return out
            if (plain := without_constants(xs)) is not None:
                return self(*plain, **static)
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


DIRECT.add(Linear.__call__)


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
    of_examples: Any = None  # the same, of batches of numbers rounded as the operator does

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
        self.forms = forms
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

    @cached_property
    def both_forms(self):
        """The partials' forms for Arrays, and for a cotangent that is a plain array of float64."""
        return tuple(zip(*map(self.forms, self.partials), strict=True)) or ((), ())

    @cached_property
    def in_flight(self):
        return self.both_forms[0]

    @cached_property
    def beside_doubles(self):
        return self.both_forms[1]

    def value(self, *xs):
        trace = youngest(xs)
        if trace is not None:  # an outer one; the function need not be a NumPy program
            return trace.process(self, xs, {})
        out = self.fast(*xs)
        return out if hasattr(out, "dtype") else np.asarray(out)[()]

    def __call__(self, *xs, **static):
        n = len(self.partials)
        if n > 2 or len(xs) != n:
            if n and len(xs) != n:
                refuse_operands(self.name, n, xs, static)
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
        reads = self.partial_reads or refuse_derivative(self.name)
        return frozenset().union(*[r for r, want in zip(reads, wanted, strict=True) if want])

    def jvp(self, out, xs, x_dots):
        out_dot, xs = None, self.together(xs)
        partials = self.partials or refuse_derivative(self.name)
        for i, (x_dot, partial) in enumerate(zip(x_dots, partials, strict=True)):
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
        if self.of_examples is not None and are_numbers(xs, mapped):
            return self.of_examples(*xs)
        return self(*align(xs, mapped)) if len(xs) > 1 else self(xs[0])


def are_numbers(xs, mapped):
    """Whether each example has nothing but numbers, which are computed now."""
    for x, is_mapped in zip(xs, mapped, strict=True):
        if getattr(x, "ndim", 0) != is_mapped or not has_values(x):
            return False
    return True


TERMS = {
    ONE: "bar", MINUS_ONE: "-bar", ZERO: "None",
    FIRST: "(times(x0, bar) if type(x0) is Array else bar * x0)",
    SECOND: "(times(x1, bar) if type(x1) is Array else bar * x1)",
}  # fmt: skip
