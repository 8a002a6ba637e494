"""custom_vjp and custom_jvp: functions whose derivatives are written by the user."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, NoReturn

import numpy as np

from ..core.array import Array
from ..core.cotangent import added, fit
from ..core.errors import (
    ArgumentError,
    MissingRuleError,
    UnknownNameError,
    check_callable,
    check_parameters,
    kind_of,
    name_of,
)
from ..core.graph import Graph, Variable
from ..core.reach.calls import call_inside
from ..core.spec import Spec, spec_of
from ..core.trace import is_live
from ..core.tree import flatten, is_static, unflatten
from ..core.usage import listing, usage
from .call import (
    FunctionCall,
    Operands,
    as_numpy,
    filled,
    floating,
    guarded,
    placed,
    pull_through,
    refuse_imaginary,
    transposed,
)
from .forward import jvp
from .memory import EnteredArguments
from .stage import capture
from .transformation import Transformation


class Custom(Transformation):
    """A composed function with rules of the user's."""

    def __init__(self, fun: Any, nondiff_argnums: int | Sequence[int]) -> None:
        super().__init__(fun)
        single = isinstance(nondiff_argnums, (int, np.integer))
        numbers: Any = (nondiff_argnums,) if single else nondiff_argnums
        self.nondiff: tuple[int, ...] = tuple(numbers)
        self.rule: Any = None
        self.signature: inspect.Signature | None = None
        if not isinstance(fun, np.ufunc):  # which would be given `out` and others as well
            with suppress(TypeError, ValueError):
                self.signature = inspect.signature(fun)

    def reads(self) -> dict[str, Any]:
        """What a function that calls this one reads of it; the signature is that of `fun`."""
        return {name: x for name, x in vars(self).items() if name != "signature"}

    def arrange(self, args: Any, kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Positional arguments with defaults, wherever they were given; and keyword-only ones."""
        if self.signature is not None:
            bound = self.signature.bind(*args, **kwargs)
            bound.apply_defaults()
            args, kwargs = bound.args, bound.kwargs
        for name, value in kwargs.items():
            for x in flatten(value)[0]:
                if is_live(x):
                    raise ArgumentError(
                        f"`{name_of(self.fun)}` has a rule of its own, and was given an Array"
                        f" {spec_of(x)} of `{x.within.name}` as `{name}`, which is keyword-only: to"
                        " such arguments the rule gives no derivative.\n"
                        "  Let the function take it by position."
                    )
        return args, kwargs

    def separate(self, args: Sequence[Any]) -> list[int]:
        """The positions of differentiated arguments."""
        fixed = set()
        for i in self.nondiff:
            if not -len(args) <= i < len(args):
                raise ArgumentError(
                    f"`{name_of(self.fun)}` has nondiff_argnums={self.nondiff}, but was called with"
                    f" {len(args)} argument{'s' if len(args) != 1 else ''}."
                )
            fixed.add(i % len(args))
        for i in sorted(fixed):
            for x in flatten(args[i])[0]:
                if is_live(x):
                    raise ArgumentError(
                        f"`{name_of(self.fun)}` has argument {i} in nondiff_argnums, but was given"
                        f" an Array {spec_of(x)} of `{x.within.name}` there.\n"
                        "  Pass `pullback.stop_gradient(x)`, or take it out of nondiff_argnums and"
                        " let the rule return None for it."
                    )
        return [i for i in range(len(args)) if i not in fixed]

    def directly(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """A call without Arrays among the arguments."""
        out = self.fun(*args, **kwargs)
        leaves, structure = flatten(out)
        arrays = [x for x in flatten([args, kwargs])[0] if isinstance(x, np.ndarray)]
        copied = False
        for i, x in enumerate(leaves):
            if is_live(x):
                self.refuse_captured(x)
            if isinstance(x, np.ndarray):
                if any(np.may_share_memory(x, y) for y in arrays):
                    leaves[i], copied = x.copy("K"), True  # as it is where the rule is used
                arrays.append(leaves[i])
        return unflatten(structure, leaves) if copied else out

    def recorded(
        self, fun: Any, args: Sequence[Any], positions: list[int], operands: Operands, kwargs: Any
    ) -> tuple[Any, Graph, list[Any]]:
        """Run a function of the user's under a capture that must note nothing."""

        def lift(enter: Any) -> Any:
            whole = list(args)
            for i, x in zip(positions, operands.lift(enter), strict=True):
                whole[i] = x
            return whole

        entered = EnteredArguments()
        structure, graph, captured, values = capture(fun, kwargs, self.verb, lift, memory=entered)
        if captured:
            self.refuse_captured(captured[0])
        if entered.changed():
            raise ArgumentError(
                f"`{name_of(self.fun)}` has a rule of its own and writes into an argument;"
                " the rule doesn't describe the write.\n"
                "  Write into a copy, and return it."
            )
        return structure, graph, values

    def refuse_captured(self, x: Array) -> None:
        raise ArgumentError(
            f"`{name_of(self.fun)}` has a rule of its own, and closes over an Array {spec_of(x)} of"
            f" `{x.within.name}`, to which the rule gives no derivative.\n"
            "  Pass it as an argument."
        )

    def needs(self, what: str) -> None:
        if self.rule is None:
            raise MissingRuleError(
                f"`{name_of(self.fun)}` was declared with `{self.verb}` and has no rule yet.\n"
                f"  Supply it with `{name_of(self.fun)}.{what}`."
            )


def parts(tree: Any, structure: Any, what: str) -> list[Any]:
    """What stands in a tree at the leaves of a structure; None is zero."""
    if structure is None:
        if isinstance(tree, (list, tuple, dict)):
            raise ArgumentError(
                f"{what}: a {type(tree).__name__} for one array.\n  Return one array there."
            )
        return [tree]
    try:
        return structure.flatten_up_to(tree)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{what}: {error}") from None


def as_array(x: Any, spec: Spec, what: str) -> Any:
    """What a rule returned for one array, on memory that is nobody else's."""
    return fit(x if type(x) is Array else np.array(as_numpy(x))[()], spec, what)


# The functions whose forward rule is running.
FORWARD: ContextVar[tuple[Any, ...]] = ContextVar("forward", default=())


class Pair:
    """What a forward rule returned, (out, residual), as its recording has it.

    The results of its program are those leaves of out, and then of the residual, that are computed.
    """

    def __init__(self, name: str, structure: Any, graph: Graph, values: list[Any]) -> None:
        pair = unflatten(structure, list(range(len(values))))
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise ArgumentError(
                f"The forward rule of `{name}` returns a pair (out, residual).\n"
                "  Write `return out, residual`."
            )
        self.values = values
        self.out, self.out_structure = flatten(pair[0])
        self.rest, self.rest_structure = flatten(pair[1])
        self.out_at = [i for i in self.out if not is_static(values[i])]
        self.kept_at = [i for i in self.rest if isinstance(graph.outputs[i], Variable)]
        self.n = len(self.out_at)
        at = (*self.out_at, *self.kept_at)
        self.program = Graph(graph.inputs, graph.equations, [graph.outputs[i] for i in at])

    def run(self, *xs: Any) -> tuple[Any, ...]:
        return tuple([as_numpy(x) for x in self.program.evaluate(*xs)])

    def results(self) -> list[Any]:
        return [as_numpy(self.values[i]) for i in (*self.out_at, *self.kept_at)]

    def constants(self) -> list[Any]:
        """What the rule keeps and did not compute."""
        return [self.values[i] for i in self.rest if i not in self.kept_at]

    def returned(self, outs: Any) -> Any:
        """The tree that the function returns, from results of the program."""
        found = dict(zip(self.out_at, outs[: self.n], strict=True))
        return unflatten(self.out_structure, [found.get(i, self.values[i]) for i in self.out])

    def residual(self, outs: Any) -> Any:
        whole = dict(enumerate(self.values))
        whole.update(zip(self.kept_at, map(guarded, outs[self.n :]), strict=True))
        return unflatten(self.rest_structure, [whole[i] for i in self.rest])

    def bar(self, out_bars: Any, outs: Any) -> Any:
        """The cotangent of the tree that the function returns; None where there can be none."""
        n = self.n
        bars = map(guarded, filled(out_bars[:n], outs[:n]))
        found = dict(zip(self.out_at, bars, strict=True))
        return unflatten(self.out_structure, [found.get(i) for i in self.out])


class OtherRule:
    """The name of a rule that functions of another declaration have: asking for it says so."""

    def __init__(self, own: str, other: str) -> None:
        self.own, self.other = own, other

    def __set_name__(self, owner: Any, name: str) -> None:
        self.name = name

    def __get__(self, function: Any, owner: Any = None) -> NoReturn:
        called = name_of(function.fun if function is not None else owner)
        raise UnknownNameError(
            f"`{called}.{self.name}` was asked for, but `{called}` was declared with"
            f" `{owner.verb}`, which takes another rule.\n"
            f"  Write `{called}.{self.own}`, or declare it with `pullback.{self.other}`."
        )


class CustomVjp(Custom):
    verb = "custom_vjp"
    __dir__ = listing("fun", "defvjp")
    defjvp = OtherRule("defvjp(forward, backward)", "custom_jvp")

    @usage("{}.defvjp(forward, backward)")
    def defvjp(self, forward: Callable[..., Any], backward: Callable[..., Any]) -> None:
        """forward(*args) -> (out, residual); backward(*nondiff, residual, out_bar) -> x_bars."""
        given = [f"nondiff{i}" for i in range(len(self.nondiff))]
        verb = f"{name_of(self.fun)}.defvjp"
        check_callable(forward, verb, "*args")
        check_parameters(backward, verb, *given, "residual", "out_bar")
        self.rule = (forward, backward)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        args, kwargs = self.arrange(args, kwargs)
        positions = self.separate(args)
        operands = Operands([args[i] for i in positions])
        if not operands.xs:
            return self.directly(args, kwargs)
        self.needs("defvjp(forward, backward)")
        if self in FORWARD.get():
            return self.within_forward(args, positions, operands, kwargs)
        forward, backward = self.rule
        structure, graph, values = self.in_forward(
            self.recorded, forward, args, positions, operands, kwargs
        )
        pair = Pair(name_of(self.fun), structure, graph, values)
        program, run, n = pair.program, pair.run, pair.n
        fixed_args = [args[i] for i in range(len(args)) if i not in positions]

        def pull(xs: Any, outs: Any, out_bars: Any) -> list[Any]:
            residual, bar = pair.residual(outs), pair.bar(out_bars, outs)
            given = call_inside(backward, (*fixed_args, residual, bar), {})
            x_bars = self.cotangents(given, operands, xs, outs[:n])
            if any(b is not None for b in out_bars[n:]):
                # Second order: what the rule kept depends on x as well.
                more = pull_through(lambda *xs: run(*xs)[n:], xs, out_bars[n:])
                x_bars = [added(a, b) for a, b in zip(x_bars, more, strict=True)]
            return x_bars

        def push(xs: Any, outs: Any, x_dots: Any) -> tuple[Any, ...]:
            # The transpose of the pullback; what the rule kept moves as the program says.
            outs, out_dots = jvp(run, xs, x_dots)
            nothing = [None] * (len(outs) - n)
            back = lambda out_bars: pull(xs, outs, [*out_bars, *nothing])
            dots = transposed_pull(outs[:n], back, xs, x_dots, self.backward_rule, backward)
            kept_dots = [
                dot if out.dtype.kind in "fc" else None
                for dot, out in zip(out_dots[n:], outs[n:], strict=True)
            ]
            return (*dots, *kept_dots)

        results = pair.results()
        call = FunctionCall(
            name_of(self.fun), run, push, pull, operands.xs, results, reads="out xs"
        )
        call.told([pair.values[i] for i in pair.out_at])
        call.identify(
            program,
            *(self, forward, backward, structure, n, fixed_args),
            *(pair.constants(), operands.known()),
        )
        return pair.returned(call(*operands.xs))

    def in_forward(self, call: Callable[..., Any], *args: Any) -> Any:
        """call(*args), which runs the forward rule."""
        before = FORWARD.get()
        try:
            FORWARD.set((*before, self))
            return call(*args)
        finally:
            FORWARD.set(before)

    def within_forward(
        self, args: Sequence[Any], positions: list[int], operands: Operands, kwargs: dict[str, Any]
    ) -> Any:
        """The function in its own forward rule: its value, and the rule again for higher orders.

        The rule runs on the operands as they come. They are of fewer traces each time, and without
        any the function itself is called; so this ends.
        """
        structure, graph, values = self.recorded(self.fun, args, positions, operands, kwargs)
        forward, backward = self.rule
        fixed_args = [args[i] for i in range(len(args)) if i not in positions]
        at = [i for i, x in enumerate(values) if not is_static(x)]

        def apply(fun: Any, xs: Any) -> Any:
            whole = list(args)
            for i, x in zip(positions, operands.args(xs), strict=True):
                whole[i] = x
            return fun(*whole, **kwargs)

        def run(*xs: Any) -> tuple[Any, ...]:
            leaves = flatten(apply(self.fun, xs))[0]
            return tuple([as_numpy(leaves[i]) for i in at])

        def again(xs: Any) -> tuple[list[Any], Any]:
            out, residual = self.in_forward(apply, forward, xs)
            leaves = flatten(out)[0]
            outs = [as_numpy(leaves[i]) for i in at]

            def pull(out_bars: Any) -> list[Any]:
                bars = dict(zip(at, map(guarded, filled(out_bars, outs)), strict=True))
                bar = unflatten(structure, [bars.get(i) for i in range(len(values))])
                given = call_inside(backward, (*fixed_args, residual, bar), {})
                return self.cotangents(given, operands, xs, outs)

            return outs, pull

        def push(xs: Any, outs: Any, x_dots: Any) -> tuple[Any, ...]:
            return transposed_pull(*again(xs), xs, x_dots, self.backward_rule, backward)

        def pull(xs: Any, outs: Any, out_bars: Any) -> list[Any]:
            return again(xs)[1](out_bars)

        results = [as_numpy(values[i]) for i in at]
        call = FunctionCall(name_of(self.fun), run, push, pull, operands.xs, results)
        call.told([values[i] for i in at])
        call.parts = [graph, self, forward, backward, structure, fixed_args, operands.known()]
        for i, out in zip(at, call(*operands.xs), strict=True):
            values[i] = out
        return unflatten(structure, values)

    @property
    def backward_rule(self) -> str:
        return f"The backward rule of `{name_of(self.fun)}`"

    def cotangents(self, x_bars: Any, operands: Operands, xs: Any, outs: Any) -> list[Any]:
        """From what a backward rule returned to one cotangent for each operand, None for zero."""
        what, real = self.backward_rule, all(spec_of(out).dtype.kind != "c" for out in outs)
        args = unflatten(operands.structure, list(range(len(operands.leaves))))
        if len(args) == 1 and x_bars is not None and not isinstance(x_bars, tuple):
            x_bars = (x_bars,)
        if not isinstance(x_bars, tuple) or len(x_bars) != len(args):
            got = f"{len(x_bars)}" if isinstance(x_bars, tuple) else kind_of(x_bars)
            raise ArgumentError(
                f"{what} must return a tuple of {len(args)} cotangents, one for each differentiated"
                f" argument and None for zero, but returned {got}.\n"
                f"  Write `return ({''.join(f'x{i}_bar, ' for i in range(len(args))).strip()})`."
            )
        bars: dict[int, Any] = {}
        for arg, bar in zip(args, x_bars, strict=True):
            places, structure = flatten(arg)
            if bar is not None:
                other = f"{what} returned a cotangent that is another tree than its argument"
                bars.update(zip(places, parts(bar, structure, other), strict=True))
        out = []
        for i, x in zip(operands.positions, xs, strict=True):
            spec, bar = spec_of(x), bars.get(i)
            wanted = bar is not None and spec.dtype.kind in "fc"
            if wanted and real:  # of a complex result it is the real part
                refuse_imaginary(bar, spec, what)
            out.append(as_array(bar, spec, what) if wanted else None)
        return out


def transposed_pull(
    outs: Any, pull: Any, xs: Any, x_dots: Any, what: str, rule: Any
) -> tuple[Any, ...]:
    """The tangents of outs, from a pull of their cotangents to those of xs."""
    x_at, at = floating(xs), floating(outs)

    def back(*bars: Any) -> Any:
        x_bars = pull(placed(bars, at, len(outs)))
        return filled([x_bars[i] for i in x_at], [xs[i] for i in x_at])

    directions = filled([x_dots[i] for i in x_at], [xs[i] for i in x_at])
    found = transposed(back, [outs[i] for i in at], directions, what, rule)
    return tuple(placed(found, at, len(outs)))


class CustomJvp(Custom):
    verb = "custom_jvp"
    __dir__ = listing("fun", "defjvp")
    defvjp = OtherRule("defjvp(rule)", "custom_vjp")
    defjvps = OtherRule("defjvp(rule)", "primitive")

    @usage("{}.defjvp(rule)")
    def defjvp(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """rule(*nondiff, primals, tangents) -> (out, out_dot)."""
        given = [f"nondiff{i}" for i in range(len(self.nondiff))]
        check_parameters(rule, f"{name_of(self.fun)}.defjvp", *given, "primals", "tangents")
        self.rule = rule
        return rule

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        args, kwargs = self.arrange(args, kwargs)
        positions = self.separate(args)
        operands = Operands([args[i] for i in positions])
        if not operands.xs:
            return self.directly(args, kwargs)
        self.needs("defjvp(rule)")
        structure, graph, values = self.recorded(self.fun, args, positions, operands, kwargs)
        fixed_args = [args[i] for i in range(len(args)) if i not in positions]
        at = [i for i, x in enumerate(values) if not is_static(x)]
        specs = [spec_of(as_numpy(values[i])) for i in at]
        program = Graph(graph.inputs, graph.equations, [graph.outputs[i] for i in at])
        rule, what = self.rule, f"The jvp rule of `{name_of(self.fun)}`"

        def run(*xs: Any) -> Any:
            return tuple([as_numpy(x) for x in program.evaluate(*xs)])

        def push(xs: Any, outs: Any, x_dots: Any) -> tuple[Any, ...]:
            primals = tuple(operands.args([guarded(x) for x in xs]))
            tangents = tuple(operands.tangents(xs, [guarded(dot) for dot in x_dots]))
            pair = call_inside(rule, (*fixed_args, primals, tangents), kwargs)
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise ArgumentError(
                    f"{what} returns a pair (out, out_dot).\n  Write `return out, out_dot`."
                )
            other = f"{what} returned a tangent that is another tree than the output"
            dots = parts(pair[1], structure, other)
            for i, spec in zip(at, specs, strict=True):
                refuse_imaginary(dots[i], spec, what)
            return tuple(
                [
                    None
                    if dots[i] is None or spec.dtype.kind not in "fc"
                    else as_array(dots[i], spec, what)
                    for i, spec in zip(at, specs, strict=True)
                ]
            )

        def pull(xs: Any, outs: Any, out_bars: Any) -> list[Any]:
            x_at, out_at = floating(xs), floating(outs)

            def forth(*moving: Any) -> Any:
                dots = push(xs, outs, placed(moving, x_at, len(xs)))
                return filled([dots[i] for i in out_at], [outs[i] for i in out_at])

            bars = filled([out_bars[i] for i in out_at], [outs[i] for i in out_at])
            found = transposed(forth, [xs[i] for i in x_at], bars, what, rule)
            return placed(found, x_at, len(xs))

        results = [as_numpy(values[i]) for i in at]
        call = FunctionCall(
            name_of(self.fun), run, push, pull, operands.xs, results, reads="out xs"
        )
        call.told([values[i] for i in at])
        settings = [*kwargs, *kwargs.values()]
        call.identify(program, self, rule, structure, fixed_args, settings, operands.known())
        for i, out in zip(at, call(*operands.xs), strict=True):
            values[i] = out
        return unflatten(structure, values)


@usage("custom_vjp(f)")
def custom_vjp(fun: Any = None, *, nondiff_argnums: int | Sequence[int] = ()) -> Any:
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
    forward mode the transpose of backward is used. Rules see one form of call: all arguments with
    their defaults, by position where they have one. What is keyword-only is given to forward alone.

    Args:
        nondiff_argnums: positions of arguments that are passed through as they are, and first to
            backward; functions and other settings.

    Raises:
        ArgumentError: the function closes over an Array that carries a derivative.
    """
    if fun is None:
        return lambda fun: CustomVjp(fun, nondiff_argnums)
    return CustomVjp(fun, nondiff_argnums)


@usage("custom_jvp(f)")
def custom_jvp(fun: Any = None, *, nondiff_argnums: int | Sequence[int] = ()) -> Any:
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

    `fun.defjvp(rule)`: rule(*nondiff, primals, tangents, **keyword_only) returns (out, out_dot);
    out_dot is a tree like out, linear in the tangents, None for zero. Tangents of numbers that do
    not move are zeros, those of what is not a number None. All arguments with a position are among
    primals, with their defaults.

    Args:
        nondiff_argnums: positions of arguments that are passed through as they are.

    Raises:
        ArgumentError: the function closes over an Array that carries a derivative.
    """
    if fun is None:
        return lambda fun: CustomJvp(fun, nondiff_argnums)
    return CustomJvp(fun, nondiff_argnums)
