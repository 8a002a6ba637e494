"""`primitive` and the rules that autograd's programs declare for it.

A rule of autograd is a maker: maker(ans, *args, **kwargs) gives the function from the cotangent of
`ans` to that of one argument. Here the makers of a primitive become the vjp rule of a
`pullback.primitive` over the arrays in flight among the arguments; everything else is passed as it
is. One of vjp and jvp suffices: the other mode is its transpose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count
from types import MethodType
from typing import Any

import numpy as np

from ..core.errors import MissingRuleError, name_of
from ..core.reach.calls import call_inside
from ..core.tree import flatten, is_static, unflatten
from ..transforms.extend import UserPrimitive
from .boxes import NO_COTANGENT, SPACES, boxed, stands, token_of
from .util import getval, isbox, subval

__all__ = [
    "OpaqueFunction",
    "def_linear",
    "defjvp",
    "defjvp_argnum",
    "defjvp_argnums",
    "defstatic",
    "defvjp",
    "defvjp_argnum",
    "defvjp_argnums",
    "notrace_primitive",
    "primitive",
]


class OpaqueFunction:
    """A function that pullback does not look into; its rules are added by `defvjp` and `defjvp`.

    vjps(argnums, ans, args, kwargs) gives a function from the cotangent of ans to those of the
    arguments with these numbers; jvps(argnums, dots, ans, args, kwargs) gives the tangent of ans.
    """

    def __init__(self, fun: Callable[..., Any]) -> None:
        self.fun = self.__wrapped__ = fun
        self.__name__ = getattr(fun, "__name__", type(fun).__name__)
        self.__doc__ = getattr(fun, "__doc__", None)
        self.__module__ = getattr(fun, "__module__", __name__)
        self.vjps: Callable[..., Any] | None = None
        self.jvps: Callable[..., Any] | None = None
        self.by_itself = False  # the jvp calls the primitive, and cannot be transposed

    def __repr__(self) -> str:
        return f"<primitive {self.__name__}>"

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        call = CallOfPrimitive(self, args, kwargs)
        if not call.at:
            return self.fun(*args, **kwargs)
        return call.run(None)


class ReturnedTree(Exception):
    """The function returned a tree of arrays."""


class CallOfPrimitive:
    """One call: which leaves of the arguments are in flight, and how to put them back."""

    def __init__(self, of: OpaqueFunction, args: Any, kwargs: dict[str, Any]) -> None:
        self.of, self.kwargs = of, kwargs
        self.parts = [flatten(arg) for arg in args]
        places = [(i, j) for i, (leaves, _) in enumerate(self.parts) for j in range(len(leaves))]
        self.at = [(i, j) for i, j in places if in_flight(self.parts[i][0][j])]
        self.argnums = tuple(dict.fromkeys([i for i, _ in self.at]))
        self.structure: Any = None  # of the result
        self.object: Any = None  # the result, if it is one with a vector space of its own
        self.box: Any = None  # what stands for that

    def args(self, xs: Iterable[Any]) -> list[Any]:
        """The arguments with these values for what is in flight."""
        leaves = [list(part) for part, _ in self.parts]
        for (i, j), x in zip(self.at, xs, strict=True):
            box = leaves[i][j]
            leaves[i][j] = box._value if stands(box) else x
        return [unflatten(s, part) for part, (_, s) in zip(leaves, self.parts, strict=True)]

    def run(self, n_out: int | None) -> Any:
        xs = [token_of(self.parts[i][0][j]) for i, j in self.at]
        op = UserPrimitive(self.function(n_out), n_out, ())
        op.name = self.of.__name__
        if self.of.vjps is not None or self.of.jvps is None or self.of.by_itself:
            op.defvjp(self.pull)
        if self.of.jvps is not None:
            op.defjvp(self.push)
        try:
            out = op(*xs)
        except ReturnedTree as several:
            return self.run(several.args[0])
        if self.object is not None:
            self.box = boxed(self.object, out)
            return self.box
        return out if n_out is None else unflatten(self.structure, list(out))

    def function(self, n_out: int | None) -> Callable[..., Any]:
        def value(*xs: Any) -> Any:
            found = self.of.fun(*self.args(xs), **self.kwargs)
            if type(found) in SPACES:
                self.object = found
                return 0.0
            leaves, self.structure = flatten(found)
            if self.structure is not None and n_out is None:
                raise ReturnedTree(len(leaves))
            return leaves[0] if n_out is None else tuple(leaves)

        value.__name__ = value.__qualname__ = self.of.__name__
        return value

    def joined(self, out: Any) -> Any:
        if self.object is not None:
            return self.object
        return out if self.structure is None else unflatten(self.structure, list(out))

    def pull(self, out_bar: Any, residual: Any, wanted: Any) -> Any:
        if self.of.vjps is None:
            raise MissingRuleError(
                f"`{self.of.__name__}` has no vjp, and no jvp that could be transposed.\n"
                f"  Declare one with `defvjp({self.of.__name__}, maker)`."
            )
        if isinstance(out_bar, tuple):
            out_bar = tuple(
                [
                    np.zeros_like(o) if b is None else b
                    for b, o in zip(out_bar, residual.out, strict=True)
                ]
            )
        args, out = self.args(residual.xs), self.joined(residual.out)
        back = call_inside(self.of.vjps, (self.argnums, out, args, self.kwargs), {})
        weight = self.joined(out_bar) if self.box is None else self.box.total()
        bars_of = call_inside(back, (weight,), {})
        bars = dict(zip(self.argnums, bars_of, strict=True))
        return tuple([self.part(bars[i], i, j) for i, j in self.at])

    def part(self, bar: Any, i: int, j: int) -> Any:
        """The cotangent of leaf j of argument i, of that of the argument."""
        leaves, structure = self.parts[i]
        if stands(leaves[j]):
            leaves[j].add(bar)
            return NO_COTANGENT
        if bar is None:
            return None
        return bar if structure is None else structure.flatten_up_to(bar)[j]

    def push(self, out: Any, xs: Any, x_dots: Any) -> Any:
        if self.box is not None or any(stands(self.parts[i][0][j]) for i, j in self.at):
            raise MissingRuleError(
                f"A tangent of `{self.of.__name__}` with respect to an object was asked for.\n"
                "  Objects with a vector space of their own have reverse mode alone."
            )
        dots = dict(zip(self.at, x_dots, strict=True))
        values = dict(zip(self.at, xs, strict=True))
        tangents = []
        for i in self.argnums:
            leaves, structure = self.parts[i]
            parts = [
                still(values.get((i, j), x)) if dots.get((i, j)) is None else dots[i, j]
                for j, x in enumerate(leaves)
            ]
            tangents.append(unflatten(structure, parts))
        assert self.of.jvps is not None
        given = (self.argnums, tangents, self.joined(out), self.args(xs), self.kwargs)
        dot = call_inside(self.of.jvps, given, {})
        return dot if self.structure is None else tuple(flatten(dot)[0])


def in_flight(x: Any) -> bool:
    return isbox(x) or stands(x)


def still(x: Any) -> Any:
    return x if is_static(x) else np.zeros_like(x)


def primitive(fun: Callable[..., Any]) -> OpaqueFunction:
    """Make a primitive of a function: NumPy computes its value, declared rules its derivatives.

    >>> import numpy as np
    >>> from pullback.autograd import grad
    >>> @primitive
    ... def cube(x):
    ...     return x**3
    >>> defvjp(cube, lambda ans, x: lambda g: g * 3 * x**2)
    >>> grad(cube)(2.0)
    np.float64(12.0)
    """
    return OpaqueFunction(fun)


def notrace_primitive(fun: Callable[..., Any]) -> Callable[..., Any]:
    """A function that carries no derivative: it gets plain values."""

    def plain(*args: Any, **kwargs: Any) -> Any:
        return fun(*map(getval, args), **{name: getval(x) for name, x in kwargs.items()})

    plain.__name__ = name_of(fun)
    return plain


def missing(fun: OpaqueFunction, rule: str, argnum: int) -> MissingRuleError:
    return MissingRuleError(
        f"`{fun.__name__}` has no {rule} for argument {argnum}.\n"
        f"  Declare it with `def{rule}({fun.__name__}, maker, argnums=({argnum},))`; None is zero."
    )


def defvjp_argnums(fun: OpaqueFunction, maker: Callable[..., Any]) -> None:
    """maker(argnums, ans, args, kwargs) -> g -> the cotangents of the arguments `argnums`."""
    fun.vjps = maker


def defvjp_argnum(fun: OpaqueFunction, maker: Callable[..., Any]) -> None:
    """maker(argnum, ans, args, kwargs) -> g -> the cotangent of argument `argnum`."""

    def vjps(argnums: Any, ans: Any, args: Any, kwargs: Any) -> Any:
        backs = [call_inside(maker, (argnum, ans, args, kwargs), {}) for argnum in argnums]
        return lambda g: [call_inside(back, (g,), {}) for back in backs]

    fun.vjps = vjps


def defvjp(fun: OpaqueFunction, *makers: Any, argnums: Iterable[int] | None = None) -> None:
    """Each maker(ans, *args, **kwargs) -> g -> the cotangent of one argument; None is zero.

    argnums: the arguments that the makers are for, else the first ones.
    """
    by_number = dict(zip(count() if argnums is None else argnums, makers, strict=False))

    def vjps(argnums: Any, ans: Any, args: Any, kwargs: Any) -> Any:
        backs = []
        for argnum in argnums:
            if argnum not in by_number:
                raise missing(fun, "vjp", argnum)
            maker = by_number[argnum]
            backs.append(None if maker is None else call_inside(maker, (ans, *args), kwargs))
        return lambda g: [None if back is None else call_inside(back, (g,), {}) for back in backs]

    fun.vjps = vjps


def defjvp_argnums(fun: OpaqueFunction, maker: Callable[..., Any]) -> None:
    """maker(argnums, dots, ans, args, kwargs) -> the tangent of ans."""
    fun.jvps = maker


def defjvp_argnum(fun: OpaqueFunction, maker: Callable[..., Any]) -> None:
    """maker(argnum, dot, ans, args, kwargs) -> what argument `argnum` adds to the tangent."""

    def jvps(argnums: Any, dots: Any, ans: Any, args: Any, kwargs: Any) -> Any:
        pairs = zip(argnums, dots, strict=True)
        return total([call_inside(maker, (n, dot, ans, args, kwargs), {}) for n, dot in pairs])

    fun.jvps = jvps


def defjvp(fun: OpaqueFunction, *makers: Any, argnums: Iterable[int] | None = None) -> None:
    """Each maker(dot, ans, *args, **kwargs) -> what one argument adds to the tangent.

    None is zero; "same" says that fun is linear in the argument.
    """
    by_number = dict(zip(count() if argnums is None else argnums, makers, strict=False))
    fun.by_itself = "same" in [maker for maker in makers if isinstance(maker, str)]

    def add(argnum: int, dot: Any, ans: Any, args: Any, kwargs: Any) -> Any:
        if argnum not in by_number:
            raise missing(fun, "jvp", argnum)
        maker = by_number[argnum]
        if maker is None:
            return None
        if maker == "same":
            return fun(*subval(args, argnum, dot), **kwargs)
        return call_inside(maker, (dot, ans, *args), kwargs)

    defjvp_argnum(fun, add)


def def_linear(fun: OpaqueFunction) -> None:
    """Declare that fun is linear in each argument by itself, for forward mode."""
    fun.by_itself = True

    def add(argnum: int, dot: Any, ans: Any, args: Any, kwargs: Any) -> Any:
        return fun(*subval(args, argnum, dot), **kwargs)

    defjvp_argnum(fun, add)


def defstatic(fun: OpaqueFunction) -> None:
    """Declare that the derivative of fun is zero."""
    fun.vjps = lambda argnums, ans, args, kwargs: lambda g: [None] * len(argnums)


def total(dots: list[Any]) -> Any:
    out = None
    for dot in dots:
        if dot is not None:
            out = dot if out is None else out + dot
    return out
