"""Users' rules, stop_gradient, checkpoint: functions that count as one operation.

Such a function runs once, without derivatives, under a trace that records and captures; the result
enters the traces around it as one operation, `Call`. What it closed over becomes an operand.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.array import Array, stop
from ..core.errors import ArgumentError, ArgumentTypeError, MissingRuleError, name_of
from ..core.node import Residual
from ..core.primitive import Primitive
from ..core.spec import is_inexact, spec_of
from ..core.trace import CONSTANT
from ..core.tree import flatten, is_static, tree_map, unflatten
from .batch import vmap
from .common import Transformation
from .forward import jvp
from .reverse import vjp
from .stage import capture

__all__ = ["checkpoint", "custom_jvp", "custom_vjp", "primitive", "stop_gradient"]


def stop_gradient(tree: Any) -> Any:
    """The same values without derivatives.

    >>> import numpy as np
    >>> from pullback import grad
    >>> grad(lambda x: x * stop_gradient(x))(3.0)
    np.float64(3.0)
    """

    def stopped(x: Any) -> Any:
        if type(x) is not Array:
            return x
        value = stop(x)
        return value if type(value) is Array else Array(value, CONSTANT, None)

    return tree_map(stopped, tree)


def transposed(linear: Callable[..., Any], inputs: Sequence[Any], bars: Any) -> tuple[Any, ...]:
    """Apply the transpose of a linear function of arrays like `inputs` to cotangents."""
    _, pullback = vjp(linear, *[np.zeros_like(x) for x in inputs])
    return pullback(bars)


def filled(dots: Any, likes: Any) -> tuple[Any, ...]:
    """Zeros where a tangent or cotangent is None."""
    return tuple(
        [np.zeros_like(x) if dot is None else dot for dot, x in zip(dots, likes, strict=True)]
    )


class Call(Primitive):
    """A call of a function that counts as one operation: leaves in, leaves out.

    run(*xs) computes the results; push(xs, x_dots) their tangents; pull(xs, outs, out_bars) the
    cotangents of xs. `results` holds the results of the run that has been made already; they are
    used once.
    """

    def __init__(
        self, name: str, run: Any, push: Any, pull: Any, results: Sequence[Any], reads: str = "xs"
    ) -> None:
        # An instance for each call: not entered among the primitives, and without cycles.
        self.name, self.run, self.pushed, self.pulled = name, run, push, pull
        self.results: Any = tuple(results)
        self.n_out = len(results)
        self.specs = tuple([spec_of(x) for x in results])
        self.reads = reads

    def value(self, *xs: Any) -> tuple[Any, ...]:
        results, self.results = self.results, None
        return self.run(*xs) if results is None else results

    def spec(self, *xs: Any) -> Any:
        return self.specs

    def jvp(self, out: Any, xs: Any, x_dots: Any) -> Any:
        return self.pushed(xs, filled(x_dots, xs))

    def vjp(self, out_bar: Any, residual: Residual, wanted: Any) -> Any:
        return self.pulled(residual.xs, residual.out, out_bar)

    def batch(self, xs: Any, mapped: Any, size: int) -> Any:
        results = [x.value if type(x) is Array else spread(x, size) for x in self.results or ()]
        axes = tuple([0 if m else None for m in mapped])

        def run(*xs: Any) -> Any:
            return vmap(self.run, in_axes=axes)(*xs)

        def push(xs: Any, x_dots: Any) -> Any:
            return vmap(self.pushed, in_axes=(axes, axes))(xs, x_dots)

        def pull(xs: Any, outs: Any, out_bars: Any) -> Any:
            bars_axes = tuple([None if bar is None else 0 for bar in out_bars])
            outs_axes = None if outs is None else 0
            x_bars = vmap(self.pulled, in_axes=(axes, outs_axes, bars_axes))(xs, outs, out_bars)
            return tuple(
                [bar if m else np.sum(bar, axis=0) for bar, m in zip(x_bars, mapped, strict=True)]
            )

        call = Call(self.name, run, push, pull, results, self.reads)
        call.n_out = self.n_out
        if self.results is None:
            call.results = None
        return call(*xs)


def spread(x: Any, size: int) -> Any:
    x = np.asarray(x)
    return np.broadcast_to(x, (size, *x.shape))


def moving(leaf: Any) -> bool:
    """Whether a leaf of an argument is an operand: a floating number or array."""
    if is_static(leaf) or isinstance(leaf, int):
        return False
    return isinstance(leaf, (float, complex)) or (hasattr(leaf, "dtype") and is_inexact(leaf.dtype))


class Operands:
    """The floating leaves of a call's arguments, and how to put the arguments together again."""

    def __init__(self, args: Any) -> None:
        self.leaves, self.structure = flatten(args)
        self.positions = [i for i, leaf in enumerate(self.leaves) if moving(leaf)]
        self.xs = [self.leaves[i] for i in self.positions]

    def args(self, xs: Sequence[Any]) -> Any:
        leaves = list(self.leaves)
        for i, x in zip(self.positions, xs, strict=True):
            leaves[i] = x
        return unflatten(self.structure, leaves)

    def lift(self, enter: Callable[[Any], Any]) -> Any:
        return self.args([enter(as_numpy(x)) for x in self.xs])


def as_numpy(x: Any) -> Any:
    return x if hasattr(x, "dtype") else np.asarray(x)[()]


class Checkpoint(Transformation):
    verb = "checkpoint"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        operands = Operands(args)
        structure, graph, captured, values = capture(self.fun, (), kwargs, self.verb, operands.lift)

        def push(xs: Any, x_dots: Any) -> Any:
            return jvp(graph.evaluate, xs, x_dots)[1]

        def pull(xs: Any, outs: Any, out_bars: Any) -> Any:
            outs, pullback = vjp(graph.evaluate, *xs)
            return pullback(filled(out_bars, outs))

        call = Call(self.__qualname__, graph.evaluate, push, pull, values)
        return unflatten(structure, call(*[as_numpy(x) for x in operands.xs], *captured))


def checkpoint(fun: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that does the same and keeps only its arguments for the backward pass.

    >>> import numpy as np
    >>> from pullback import grad
    >>> grad(checkpoint(lambda x: np.sin(np.sin(x))))(0.0)
    np.float64(1.0)

    What happens inside is written down without values, and done again when derivatives are needed:
    less memory for more time. Arrays that fun closes over take part; random numbers and decisions
    are those of the first run.
    """
    return Checkpoint(fun)


class Custom(Transformation):
    """A composed function with rules of the user's."""

    def __init__(self, fun: Any, nondiff_argnums: Sequence[int]) -> None:
        super().__init__(fun)
        self.nondiff = tuple(nondiff_argnums)
        self.rule: Any = None

    def arrange(self, args: Any, kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Arguments given by keyword at their positions; keyword-only ones stay."""
        if not kwargs:
            return list(args), kwargs
        bound = inspect.signature(self.fun).bind(*args, **kwargs)
        bound.apply_defaults()
        return list(bound.args), bound.kwargs

    def separate(self, args: list[Any]) -> tuple[list[int], list[Any]]:
        """The positions of differentiated arguments, and these."""
        fixed = {i % len(args) for i in self.nondiff}
        for i in sorted(fixed):
            if any(type(x) is Array and x.within.live for x in flatten(args[i])[0]):
                raise ArgumentError(
                    f"`{name_of(self.fun)}` has argument {i} in nondiff_argnums, but was given an"
                    " Array that carries a derivative there.\n"
                    "  Pass `pullback.stop_gradient(x)`, or take it out of nondiff_argnums."
                )
        positions = [i for i in range(len(args)) if i not in fixed]
        return positions, [args[i] for i in positions]

    def recorded(
        self, fun: Any, args: list[Any], positions: list[int], operands: Operands, kwargs: Any
    ) -> Any:
        """Run a function of the user's under a capture that must note nothing."""

        def lift(enter: Any) -> Any:
            return place(args, positions, operands.lift(enter))

        structure, graph, captured, values = capture(fun, (), kwargs, self.verb, lift)
        if captured:
            raise ArgumentError(
                f"`{name_of(self.fun)}` has a rule of its own, and closes over an Array"
                f" {spec_of(captured[0])} of `{captured[0].within.name}`, to which the rule gives"
                " no derivative.\n  Pass it as an argument."
            )
        return structure, graph, values

    def needs(self, what: str) -> None:
        if self.rule is None:
            raise MissingRuleError(
                f"`{name_of(self.fun)}` was declared with `{self.verb}` and has no rule yet.\n"
                f"  Supply it with `{name_of(self.fun)}.{what}`."
            )


def place(args: list[Any], positions: list[int], selected: Any) -> list[Any]:
    whole = list(args)
    for i, x in zip(positions, selected, strict=True):
        whole[i] = x
    return whole


class CustomVjp(Custom):
    verb = "custom_vjp"

    def defvjp(self, forward: Callable[..., Any], backward: Callable[..., Any]) -> None:
        """forward(*args) -> (out, residual); backward(*nondiff, residual, out_bar) -> x_bars."""
        self.rule = (forward, backward)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        args, kwargs = self.arrange(args, kwargs)  # type: ignore[assignment]
        positions, selected = self.separate(args)  # type: ignore[arg-type]
        operands = Operands(selected)
        if not any(type(x) is Array for x in flatten([args, list(kwargs.values())])[0]):
            return self.fun(*args, **kwargs)
        self.needs("defvjp(forward, backward)")
        forward, backward = self.rule
        structure, graph, values = self.recorded(forward, args, positions, operands, kwargs)  # type: ignore[arg-type]
        pair = unflatten(structure, list(range(len(values))))
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise ArgumentError(
                f"The forward rule of `{name_of(self.fun)}` returns a pair (out, residual)."
            )
        out_at, out_structure = flatten(pair[0])
        residual_at, residual_structure = flatten(pair[1])
        n = len(out_at)
        moving_at = [i for i in residual_at if moving(values[i])]
        fixed_args = [args[i] for i in range(len(args)) if i not in positions]
        everything = operands_structure(operands)

        def run(*xs: Any) -> Any:
            outs = graph.evaluate(*xs)
            return tuple([outs[i] for i in (*out_at, *moving_at)])

        def pull(xs: Any, outs: Any, out_bars: Any) -> Any:
            residual = [values[i] for i in residual_at]
            for i, x in zip(moving_at, outs[n:], strict=True):
                residual[residual_at.index(i)] = x
            bar = unflatten(out_structure, list(filled(out_bars[:n], outs[:n])))
            x_bars = backward(*fixed_args, unflatten(residual_structure, residual), bar)
            x_bars = everything(x_bars, len(positions), self.fun, xs)
            if any(b is not None for b in out_bars[n:]):
                # Second order: what the rule kept depends on x as well.
                _, pullback = vjp(lambda *xs: run(*xs)[n:], *xs)
                more = pullback(filled(out_bars[n:], outs[n:]))
                x_bars = [a + b for a, b in zip(x_bars, more, strict=True)]
            return tuple(x_bars)

        def push(xs: Any, x_dots: Any) -> Any:
            # The transpose of the pullback; what the rule kept moves as the program says.
            kept, kept_dots = jvp(lambda *xs: run(*xs), xs, x_dots)
            outs = kept

            def back(*bars: Any) -> Any:
                return pull(xs, outs, (*bars, *[None] * len(moving_at)))

            out_dots = transposed(back, outs[:n], x_dots)
            return (*out_dots, *kept_dots[n:])

        results = [values[i] for i in (*out_at, *moving_at)]
        results = [as_numpy(x) for x in results]
        call = Call(name_of(self.fun), run, push, pull, results, reads="out xs")
        outs = call(*[as_numpy(x) for x in operands.xs])
        return unflatten(out_structure, list(outs[:n]))


def operands_structure(operands: Operands) -> Callable[..., list[Any]]:
    """From what a backward rule returned to one cotangent for each operand."""

    def flat(x_bars: Any, n_args: int, fun: Any, xs: Any) -> list[Any]:
        if n_args == 1 and not isinstance(x_bars, tuple):
            x_bars = (x_bars,)
        if not isinstance(x_bars, tuple) or len(x_bars) != n_args:
            got = len(x_bars) if isinstance(x_bars, tuple) else type(x_bars).__name__
            raise ArgumentError(
                f"The backward rule of `{name_of(fun)}` returns a tuple of {n_args} cotangents, one"
                f" for each differentiated argument, but returned {got}."
            )
        args = unflatten(operands.structure, list(range(len(operands.leaves))))
        bars: dict[int, Any] = {}
        for arg, bar in zip(args, x_bars, strict=True):
            places, structure = flatten(arg)
            if bar is None:
                continue
            bar_leaves, bar_structure = flatten(bar)
            if len(bar_leaves) != len(places):
                raise ArgumentError(
                    f"The backward rule of `{name_of(fun)}` returned a cotangent that is another"
                    f" tree than its argument: {bar_structure} for {structure}."
                )
            bars.update(zip(places, bar_leaves, strict=True))
        out = []
        for i, x in zip(operands.positions, xs, strict=True):
            bar = bars.get(i)
            if bar is None:
                out.append(np.zeros_like(x))
            else:
                out.append(bar if type(bar) is Array else np.array(bar)[()])
        return out

    return flat


class CustomJvp(Custom):
    verb = "custom_jvp"

    def defjvp(self, rule: Callable[..., Any]) -> None:
        """rule(*nondiff, primals, tangents) -> (out, out_dot)."""
        self.rule = rule

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        args, kwargs = self.arrange(args, kwargs)  # type: ignore[assignment]
        positions, selected = self.separate(args)  # type: ignore[arg-type]
        operands = Operands(selected)
        if not any(type(x) is Array for x in flatten([args, list(kwargs.values())])[0]):
            return self.fun(*args, **kwargs)
        self.needs("defjvp(rule)")
        structure, graph, values = self.recorded(self.fun, args, positions, operands, kwargs)  # type: ignore[arg-type]
        fixed_args = [args[i] for i in range(len(args)) if i not in positions]
        rule = self.rule

        def push(xs: Any, x_dots: Any) -> Any:
            dots = Operands(selected).args(x_dots)
            _, out_dot = rule(*fixed_args, tuple(operands.args(xs)), tuple(dots), **kwargs)
            dots, _ = flatten(out_dot)
            return tuple([as_numpy(dot) for dot in dots])

        def pull(xs: Any, outs: Any, out_bars: Any) -> Any:
            return transposed(lambda *dots: push(xs, dots), xs, filled(out_bars, outs))

        call = Call(
            name_of(self.fun), graph.evaluate, push, pull, [as_numpy(x) for x in values], "out xs"
        )
        return unflatten(structure, list(call(*[as_numpy(x) for x in operands.xs])))


def custom_vjp(fun: Any = None, *, nondiff_argnums: Sequence[int] = ()) -> Any:
    """Give a composed function a reverse rule of its own.

    >>> import numpy as np
    >>> from pullback import grad
    >>> @custom_vjp
    ... def clipped(x):
    ...     return x
    >>> clipped.defvjp(lambda x: (x, None), lambda residual, out_bar: (np.clip(out_bar, -1, 1),))
    >>> grad(lambda x: 100.0 * clipped(x))(2.0)
    np.float64(1.0)

    `fun.defvjp(forward, backward)`: forward(*args) returns (out, residual), both trees;
    backward(*nondiff, residual, out_bar) returns a tuple of cotangents, one for each differentiated
    argument, None for zero. Both are NumPy programs, so that higher orders and `vmap` work; in
    forward mode the transpose of backward is used.

    Raises:
        ArgumentError: the function closes over an Array that carries a derivative.
    """
    if fun is None:
        return lambda fun: CustomVjp(fun, nondiff_argnums)
    return CustomVjp(fun, nondiff_argnums)


def custom_jvp(fun: Any = None, *, nondiff_argnums: Sequence[int] = ()) -> Any:
    """Give a composed function a forward rule of its own; reverse mode transposes it.

    >>> import numpy as np
    >>> from pullback import grad
    >>> @custom_jvp
    ... def logistic(x):
    ...     return 1 / (1 + np.exp(-x))
    >>> @logistic.defjvp
    ... def rule(primals, tangents):
    ...     (x,), (x_dot,) = primals, tangents
    ...     out = logistic(x)
    ...     return out, out * (1 - out) * x_dot
    >>> grad(logistic)(0.0)
    np.float64(0.25)

    `fun.defjvp(rule)`: rule(*nondiff, primals, tangents) returns (out, out_dot); out_dot is linear
    in the tangents.
    """
    if fun is None:
        return lambda fun: CustomJvp(fun, nondiff_argnums)
    return CustomJvp(fun, nondiff_argnums)


class UserPrimitive(Primitive):
    """A primitive whose value is a function of the user's; rules are added to it."""

    def __init__(self, fun: Callable[..., Any], n_out: int | None, nondiff: Sequence[int]) -> None:
        self.name, self.n_out, self.nondiff = name_of(fun), n_out, tuple(nondiff)
        self.value = fun  # type: ignore[method-assign]
        self.fun = self.__wrapped__ = fun
        self.__name__ = self.__qualname__ = self.name
        self.__doc__ = fun.__doc__
        self.__module__ = fun.__module__
        self.rules: dict[str, Any] = {}

    def defvjp(self, rule: Callable[..., Any], reads: str = "out xs") -> Callable[..., Any]:
        """rule(out_bar, residual, wanted) -> one cotangent for each operand, None for zero."""
        self.rules["vjp"], self.reads = rule, reads
        return rule

    def defjvp(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """rule(out, xs, x_dots, **static) -> the tangent of out; an x_dot that is zero is None."""
        self.rules["jvp"] = rule
        return rule

    def defbatch(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """rule(xs, mapped, size, **static) -> the result with the batch axis first."""
        self.batch = rule
        return rule

    def defspec(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """rule(*specs, **static) -> the spec of the result."""
        self.spec = rule
        return rule

    def deflower(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """rule(emit, *xs, **static): how compiled code computes it."""
        self.lower = rule
        return rule

    def needs(self, mode: str) -> None:
        if not self.rules:
            raise MissingRuleError(
                f"`{self.name}` has no rule for derivatives; it was reached in {mode} mode.\n"
                f"  Supply one with `{self.name}.defvjp` or `{self.name}.defjvp`; one suffices."
            )

    def jvp(self, out, xs, x_dots, **static):
        self.needs("forward")
        if "jvp" in self.rules:
            return self.rules["jvp"](out, xs, x_dots, **static)
        moving = [i for i, dot in enumerate(x_dots) if dot is not None]
        wanted = [dot is not None for dot in x_dots]
        residual = Residual(self, out, xs, static)
        outs = (out,) if self.n_out is None else out

        def back(*bars):
            x_bars = self.rules["vjp"](bars[0] if self.n_out is None else bars, residual, wanted)
            return filled([x_bars[i] for i in moving], [xs[i] for i in moving])

        out_dots = transposed(back, outs, tuple([x_dots[i] for i in moving]))
        return out_dots[0] if self.n_out is None else out_dots

    def vjp(self, out_bar, residual, wanted):
        self.needs("reverse")
        if "vjp" in self.rules:
            x_bars = self.rules["vjp"](out_bar, residual, wanted)
            if not isinstance(x_bars, (tuple, list)) or len(x_bars) != len(wanted):
                raise ArgumentError(
                    f"The vjp rule of `{self.name}` returns a tuple of {len(wanted)} cotangents,"
                    " one for each operand; write `return (x_bar,)` for one."
                )
            # A rule may hand out an array that it keeps; a cotangent is nobody else's.
            return [as_cotangent(x) for x in x_bars]
        moving = [i for i, want in enumerate(wanted) if want]
        xs, outs = residual.xs, residual.out

        def push(*dots):
            x_dots = [None] * len(xs)
            for i, dot in zip(moving, dots, strict=True):
                x_dots[i] = dot
            return self.rules["jvp"](outs, xs, x_dots, **residual.static)

        bars = out_bar if self.n_out is None else filled(out_bar, outs)
        x_bars = iter(transposed(push, [xs[i] for i in moving], bars))
        return [next(x_bars) if want else None for want in wanted]


def as_cotangent(x: Any) -> Any:
    return x if x is None or type(x) is Array else np.array(x)[()]


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

    fun gets plain arrays and may do anything with them. Arrays are positional, keywords are static.
    Of `defvjp` and `defjvp` one suffices: the other mode is its transpose. Without `defbatch`,
    `vmap` calls it for each example.

    Args:
        n_out: how many arrays it returns, as a tuple; None for one.
        nondiff: operands that are never differentiated.
    """
    if fun is None:
        return lambda fun: primitive(fun, n_out=n_out, nondiff=nondiff)
    if not callable(fun):
        raise ArgumentTypeError(f"`primitive` takes a function, but got {type(fun).__name__}.")
    return UserPrimitive(fun, n_out, nondiff)
