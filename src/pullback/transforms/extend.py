"""`primitive`: turn a user's function into one operation, with rules that the user adds."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from ..core.array import Array
from ..core.cotangent import fit
from ..core.errors import (
    ArgumentError,
    ArgumentTypeError,
    MissingRuleError,
    check_callable,
    check_parameters,
    kind_of,
    name_of,
)
from ..core.node import residual_of
from ..core.primitive import Primitive
from ..core.reach.calls import call_inside
from ..core.reach.session import call_outside
from ..core.rows import refuse_haste
from ..core.spec import spec_of
from ..core.usage import listing, usage
from .call import as_numpy, filled, floating, lent, placed, refuse_imaginary, transposed

READABLE = re.compile(r"out|xs|x\d+")  # what `reads` may name


class UserPrimitive(Primitive):
    """A primitive whose value is a function of the user's; rules are added to it."""

    made_of = ("name", "fun", "rules", "n_out", "nondiff", "reads")
    __dir__ = listing("fun", "name", "defvjp", "defjvp", "defbatch", "defspec", "deflower")

    def __init__(self, fun: Callable[..., Any], n_out: int | None, nondiff: Sequence[int]) -> None:
        # Not entered among the primitives: a user may make and drop many.
        self.name, self.n_out, self.nondiff = name_of(fun), n_out, tuple(nondiff)
        self.fun = self.__wrapped__ = fun
        self.__name__ = self.__qualname__ = self.name
        self.__doc__ = getattr(fun, "__doc__", None)
        self.__module__ = getattr(fun, "__module__", __name__)
        self.rules: dict[str, Any] = {}

    @usage("{}.defvjp(rule)")
    def defvjp(self, rule: Callable[..., Any], reads: str = "out xs") -> Callable[..., Any]:
        """rule(out_bar, residual, wanted) -> one cotangent for each operand, None for zero.

        residual has `.xs`, `.out` and `.static`; reads names what of it the rule uses ("x0 out"),
        and the rest is not kept. With n_out, out_bar and `.out` are tuples, and a cotangent that is
        zero is None.
        """
        check_parameters(rule, f"{self.name}.defvjp", "out_bar", "residual", "wanted")
        if wrong := [name for name in reads.split() if not READABLE.fullmatch(name)]:
            raise ArgumentError(
                f"`{self.name}.defvjp` was given reads={reads!r}, but a residual has no"
                f" {wrong[0]!r}.\n"
                '  Name operands by their place, and the result: `reads="x0 out"`.'
            )
        self.rules["vjp"], self.reads, self.packers = rule, reads, {}
        self.recorders.clear()
        return rule

    @usage("{}.defjvp(rule)")
    def defjvp(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """rule(out, xs, x_dots, **static) -> the tangent of out; an x_dot that is zero is None."""
        check_parameters(rule, f"{self.name}.defjvp", "out", "xs", "x_dots", keywords=True)
        self.rules["jvp"] = rule
        return rule

    @usage("{}.defbatch(rule)")
    def defbatch(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """rule(xs, mapped, size, **static) -> the result with the batch axis first."""
        check_parameters(rule, f"{self.name}.defbatch", "xs", "mapped", "size", keywords=True)
        self.batch, self.by_elements = rule, False
        return rule

    @usage("{}.defspec(rule)")
    def defspec(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """rule(*specs, **static) -> the spec of the result."""
        check_callable(rule, f"{self.name}.defspec", "*specs, **static")
        self.spec = rule
        return rule

    @usage("{}.deflower(rule)")
    def deflower(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """rule(emit, *xs, **static): how compiled code computes it."""
        check_callable(rule, f"{self.name}.deflower", "emit, *xs, **static")
        self.lower = rule
        return rule

    def value(self, *xs: Any, **static: Any) -> Any:
        out = lent(lambda *xs: call_outside(self.fun, xs, static), f"`{self.name}`", *xs)
        if self.n_out is None and not isinstance(out, (tuple, list)):
            return self.result(out)
        if self.n_out is None or not isinstance(out, (tuple, list)) or len(out) != self.n_out:
            got = len(out) if isinstance(out, (tuple, list)) else 1
            raise ArgumentError(
                f"`{self.name}` was declared with n_out={self.n_out}, but returned"
                f" {got} result{'s' if got != 1 else ''}.\n"
                "  Give their number to `pullback.primitive(n_out=...)`; None is one array."
            )
        return tuple([self.result(part) for part in out])

    def result(self, out: Any) -> Any:
        out = as_numpy(out)
        if type(out) is Array:
            raise ArgumentError(
                f"`{self.name}` is a primitive, and closes over an Array {spec_of(out)} of"
                f" `{out.within.name}`, to which its rules give no derivative.\n"
                "  Pass it as an argument."
            )
        return out if out.flags.writeable or out.ndim == 0 else out.copy()  # a view of an operand

    def rule_serving(self, mode: str) -> str | None:
        """Which rule gives the derivatives of a mode, "vjp" or "jvp"; None without rules."""
        return mode if mode in self.rules else next(iter(self.rules), None)

    def needs(self, mode: str) -> None:
        if not self.rules:
            raise MissingRuleError(
                f"`{self.name}` has no rule for derivatives; it was reached in {mode} mode.\n"
                f"  Supply one with `{self.name}.defvjp` or `{self.name}.defjvp`; one suffices."
            )

    def jvp(self, out, xs, x_dots, **static):
        self.needs("forward")
        if "jvp" in self.rules:
            return self.dots(self.pushed(out, xs, x_dots, static))
        moving = [i for i, dot in enumerate(x_dots) if dot is not None]
        wanted = [dot is not None for dot in x_dots]
        residual = residual_of(self, out, xs, static)
        outs = (out,) if self.n_out is None else out
        at = floating(outs)

        def back(*bars):
            whole = placed(bars, at, len(outs))
            x_bars = self.bars(whole[0] if self.n_out is None else tuple(whole), residual, wanted)
            x_bars = filled([x_bars[i] for i in moving], [xs[i] for i in moving])
            what = f"The vjp rule of `{self.name}`"
            return tuple(
                [fit(b, spec_of(xs[i]), what) for i, b in zip(moving, x_bars, strict=True)]
            )

        directions = tuple([x_dots[i] for i in moving])
        rule, what = self.rules["vjp"], f"The vjp rule of `{self.name}`"
        dots = transposed(back, [outs[i] for i in at], directions, what, rule)
        out_dots = placed(dots, at, len(outs))
        return out_dots[0] if self.n_out is None else tuple(out_dots)

    def pushed(self, out, xs, x_dots, static):
        rule = self.rules["jvp"]
        what = f"The jvp rule of `{self.name}`"
        out_dot = lent(lambda *given: call_inside(rule, given, static), what, out, xs, x_dots)
        whole = isinstance(out_dot, (tuple, list)) and self.n_out is not None
        outs, dots = (out, out_dot) if whole else ([out], [out_dot])
        for x, dot in zip(outs, dots, strict=False):  # their number is checked elsewhere
            refuse_imaginary(dot, spec_of(x), f"The jvp rule of `{self.name}`")
        return out_dot

    def dots(self, out_dot):
        """What a jvp rule returned, as arrays."""
        if self.n_out is None:
            return as_array(out_dot)
        if not isinstance(out_dot, (tuple, list)) or len(out_dot) != self.n_out:
            raise ArgumentError(
                f"The jvp rule of `{self.name}` must return a tuple of {self.n_out} tangents, one"
                " for each result, None for zero.\n  Write `return out1_dot, out2_dot` for two."
            )
        return tuple([as_array(dot) for dot in out_dot])

    def bars(self, out_bar, residual, wanted):
        """What the vjp rule gives, as arrays."""
        refuse_haste(out_bar)
        out, xs, rule = residual.out, residual.xs, self.rules["vjp"]

        def pull(out_bar, out, xs):
            given = residual_of(self, out, xs, residual.static)
            return call_inside(rule, (out_bar, given, wanted), {})

        x_bars = lent(pull, f"The vjp rule of `{self.name}`", out_bar, out, xs)
        if not isinstance(x_bars, (tuple, list)) or len(x_bars) != len(wanted):
            raise ArgumentError(
                f"The vjp rule of `{self.name}` must return a tuple of {len(wanted)} cotangents,"
                " one for each operand; write `return (x_bar,)` for one."
            )
        if all(spec_of(x).dtype.kind != "c" for x in ([out] if self.n_out is None else out)):
            for x, x_bar in zip(xs, x_bars, strict=True):  # of a complex result it's the real part
                refuse_imaginary(x_bar, spec_of(x), f"The vjp rule of `{self.name}`")
        return [as_array(x) for x in x_bars]

    def vjp(self, out_bar, residual, wanted):
        self.needs("reverse")
        if "vjp" in self.rules:
            return self.bars(out_bar, residual, wanted)
        moving = [i for i, want in enumerate(wanted) if want]
        xs, out = residual.xs, residual.out
        outs = (out,) if self.n_out is None else out
        out_bars = (out_bar,) if self.n_out is None else out_bar
        at = floating(outs)

        def push(*dots):
            x_dots = placed(dots, moving, len(xs))
            out_dots = self.dots(self.pushed(out, xs, x_dots, residual.static))
            out_dots = (out_dots,) if self.n_out is None else out_dots
            what = f"the jvp rule of `{self.name}`"
            some = filled([out_dots[i] for i in at], [outs[i] for i in at])
            return tuple(
                [fit(dot, spec_of(outs[i]), what) for i, dot in zip(at, some, strict=True)]
            )

        bars = filled([out_bars[i] for i in at], [outs[i] for i in at])
        what = f"The jvp rule of `{self.name}`"
        rule = self.rules["jvp"]
        x_bars = iter(transposed(push, [xs[i] for i in moving], bars, what, rule))
        return [next(x_bars) if want else None for want in wanted]


def as_array(x: Any) -> Any:
    """A tangent or cotangent of a rule's, as an array that is nobody else's."""
    if x is None or type(x) is Array:
        return x
    return as_numpy(x).copy()


@usage("primitive(f)")
def primitive(fun: Any = None, *, n_out: int | None = None, nondiff: Sequence[int] = ()) -> Any:
    """Make a primitive of a function: NumPy computes its value, its rules its derivatives.

    >>> import numpy as np
    >>> from pullback import grad
    >>> @primitive
    ... def logsumexp(x):
    ...     return np.log(np.sum(np.exp(x)))
    >>> rule = logsumexp.defvjp(
    ...     lambda out_bar, residual, wanted: (out_bar * np.exp(residual.xs[0] - residual.out),))
    >>> grad(logsumexp)(np.zeros(2))
    array([0.5, 0.5])

    fun gets plain arrays and may do anything with them but write to them; nor do rules write to
    what they get. Arrays are positional, keywords are static.
    Of `defvjp` and `defjvp` one suffices: the other mode is its transpose. Without `defbatch`,
    `vmap` calls it for each example.

    Args:
        fun: a function of plain arrays.
        n_out: how many arrays it returns, as a tuple; None for one.
        nondiff: operands that are never differentiated.

    Raises:
        MissingRuleError: a derivative is asked for and there is no rule.
    """
    if fun is None:
        return lambda fun: primitive(fun, n_out=n_out, nondiff=nondiff)
    if not callable(fun):
        raise ArgumentTypeError(
            f"`primitive` takes a function, but got {kind_of(fun)}.\n"
            "  Write `@pullback.primitive` above the function, or `primitive(f)`."
        )
    if n_out is not None and (type(n_out) is not int or n_out < 1):
        raise ArgumentTypeError(
            f"`primitive` takes a number of results as n_out, but got {n_out!r}.\n"
            "  Write `n_out=2` for a function that returns two arrays; None is one array."
        )
    listed = isinstance(nondiff, (tuple, list, range))
    if not (listed and all(type(n) is int and n >= 0 for n in nondiff)):
        raise ArgumentTypeError(
            f"`primitive` takes a tuple of ints as nondiff, but got {nondiff!r}.\n"
            "  Operands are counted from 0: write `nondiff=(0,)` for the first."
        )
    return UserPrimitive(fun, n_out, nondiff)
