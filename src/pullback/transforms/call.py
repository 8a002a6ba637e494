"""Functions that count as one operation: FunctionCall, checkpoint, stop_gradient.

Such a function runs once, without derivatives, under a trace that records and captures; the result
enters the traces around it as one operation, a `FunctionCall`. What it closed over becomes an
operand.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Never
from weakref import WeakSet

import numpy as np

from ..core.array import Array, is_number
from ..core.errors import ArgumentError, DtypeError
from ..core.graph import Graph, Variable
from ..core.node import Residual
from ..core.primitive import Primitive
from ..core.rows import refuse_haste
from ..core.spec import Spec, dtype_of, is_inexact, spec_of
from ..core.storage import current
from ..core.trace import CONSTANT, Trace, bind, peel, running, youngest
from ..core.tree import flatten, is_static, tree_map, unflatten
from ..core.usage import refuse_keywords, usage
from .batch import vmap
from .forward import jvp
from .mapped_numbers import kind_of_python
from .memory import SharedMemory
from .reverse import vjp
from .stage import capture
from .transformation import Transformation


def stop_gradient(tree: Any, **unknown: Never) -> Any:
    """The same values without derivatives, for a tree of arrays of any shapes.

    >>> import numpy as np
    >>> from pullback import grad
    >>> grad(lambda x: x * stop_gradient(x))(3.0)
    np.float64(3.0)
    """
    if unknown:
        refuse_keywords(stop_gradient, unknown)
    return tree_map(lambda x: x.detach() if type(x) is Array else x, tree)


def as_numpy(x: Any) -> Any:
    """A number as a NumPy scalar, a constant as what it holds."""
    if type(x) is Array:
        if current(x).within is not CONSTANT:
            return x
        x = x.payload
    return x if hasattr(x, "dtype") else np.asarray(x)[()]


def plain_outside(x: Any) -> Any:
    """A constant as NumPy has it: a scalar, or a copy of an array."""
    if type(x) is not Array or x.within.live:
        return x
    return x.numpy()[()] if is_number(x) else x.numpy()


def guarded(x: Any) -> Any:
    """What a user's rule gets: an ndarray is what others read as well, so it is read-only."""
    if type(x) in (tuple, list):
        return type(x)([guarded(part) for part in x])
    if type(x) is np.ndarray:
        x = x.view()
        x.flags.writeable = False
    return x


# What compiled code says that takes memory only if it may write there, as Cython's `double[:] x`.
INSISTS = re.compile(
    r"buffer source array is read-only|not writ(e)?able|\bWRITEABLE\b|read-only (memory|buffer)"
)


def lent(run: Callable[..., Any], what: str, *xs: Any) -> Any:
    """run(*xs) of arrays that are read-only, or of copies if compiled code takes no others.

    A function that writes into a copy would write nowhere, so that raises.
    """
    try:
        return run(*map(guarded, xs))
    except (ValueError, TypeError, BufferError, ctypes.ArgumentError) as error:
        if not INSISTS.search(str(error)):
            raise
    copies = unlocked(xs)
    out = run(*copies)
    if not unchanged(xs, copies):
        raise ArgumentError(
            f"{what} wrote into an array that it was given, which was a copy.\n"
            f"  Return what it computes: wrap it in a function that makes that array,"
            " `out = np.empty_like(x)`, and returns it."
        )
    return out


def unlocked(x: Any) -> Any:
    """Copies of the arrays in x, which nobody else reads."""
    if type(x) in (tuple, list):
        return type(x)([unlocked(part) for part in x])
    return x.copy(order="K") if type(x) is np.ndarray else x


def unchanged(x: Any, y: Any) -> bool:
    """Whether arrays and their copies still hold the same bytes."""
    if type(x) in (tuple, list):
        return all(map(unchanged, x, y))
    return type(x) is not np.ndarray or x.tobytes() == y.tobytes()


def floating(xs: Sequence[Any]) -> list[int]:
    """The positions of what can carry a derivative."""
    return [i for i, x in enumerate(xs) if is_inexact(dtype_of(x))]


def along(run: Callable[..., Any], xs: Any, at: list[int]) -> Callable[..., Any]:
    """A function of arrays as one of those at some places."""

    def of_moving(*moving: Any) -> Any:
        whole = list(xs)
        for i, x in zip(at, moving, strict=True):
            whole[i] = x
        return run(*whole)

    of_moving.__qualname__ = getattr(run, "__qualname__", of_moving.__qualname__)
    return of_moving


def filled(dots: Any, likes: Any) -> tuple[Any, ...]:
    """Zeros where a tangent or cotangent is None."""
    return tuple(
        [np.zeros_like(x) if dot is None else dot for dot, x in zip(dots, likes, strict=True)]
    )


def placed(parts: Sequence[Any], at: Sequence[int], n: int) -> list[Any]:
    """A list of n with the parts at their places, and None elsewhere."""
    whole = [None] * n
    for i, part in zip(at, parts, strict=True):
        whole[i] = part
    return whole


# Rules that were found to be linear near zero, each asked once. Two of the same code may differ in
# what they close over.
LINEAR: WeakSet[Any] = WeakSet()


def transposed(
    linear: Callable[..., Any], inputs: Sequence[Any], bars: Any, what: str, rule: Any
) -> tuple[Any, ...]:
    """Apply the transpose of a linear function of arrays like `inputs` to cotangents.

    what: whose rule it is. A rule that forgets the tangent, as in `return out, 2 * x`, isn't linear
    in it, and its transpose would be zero in silence; so would that of `x_dot ** 2`.
    """
    outs, pullback = vjp(linear, *[np.zeros_like(x) for x in inputs])
    if any([np.any(np.abs(peel(out)) > 0) for out in outs]):  # noqa: C419  # NaN is a pole's
        raise not_linear(what, "where what it is given is zero, it returned other numbers")
    if not is_known_linear(rule):
        if not scales(linear, inputs):
            raise not_linear(what, "given -2 times as much, it did not return -2 times as much")
        with suppress(TypeError):
            LINEAR.add(rule)
    return pullback(bars)


def is_known_linear(rule: Any) -> bool:
    try:
        return rule in LINEAR
    except TypeError:  # an object that can't be hashed, or has no weak references
        return False


def not_linear(what: str, why: str) -> ArgumentError:
    return ArgumentError(
        f"{what} isn't linear: {why}.\n"
        "  Multiply by the tangent, `out_dot = slope * x_dot`, or by the cotangent,"
        " `x_bar = out_bar * slope`."
    )


def scales(linear: Callable[..., Any], inputs: Sequence[Any]) -> bool:
    """Whether -2 times some small numbers give -2 times as much; larger ones may be clipped."""
    small = [
        np.zeros_like(x) + np.reshape(np.cos(np.arange(x.size)), x.shape).astype(x.dtype) / 1024
        for x in inputs
    ]
    once, twice = linear(*small), linear(*[x * -2 for x in small])
    for a, b in zip(once, twice, strict=True):
        a, b = np.asarray(peel(a)), np.asarray(peel(b))
        if np.any(np.abs(b + 2 * a) > 0.01 * np.max(np.abs(b), initial=0)):  # NaN is a pole's
            return False
    return True


def refuse_imaginary(x: Any, spec: Spec, what: str) -> None:
    """Raise if a rule gives a real operand or result a complex number that is not real."""
    if x is None or spec.dtype.kind == "c" or (type(x) is np.ndarray and x.dtype.kind != "c"):
        return
    if not np.iscomplexobj(peel(x)):
        return
    value = np.asarray(peel(x))
    noise = np.finfo(value.dtype).eps ** 0.5 * np.max(np.abs(value), initial=0)
    if np.any(np.abs(value.imag) > noise):
        raise DtypeError(
            f"{what} returned complex numbers for an array of {spec.dtype}; their imaginary part"
            " would be lost.\n"
            "  Return the real part, `np.real(...)`, if that is the derivative."
        )


def pull_through(run: Callable[..., Any], xs: Sequence[Any], out_bars: Sequence[Any]) -> list[Any]:
    """The cotangents of xs under run, which is done again; None for integers among them."""
    at, some = floating(xs), [i for i, bar in enumerate(out_bars) if bar is not None]

    def wanted(*xs: Any) -> list[Any]:
        outs = run(*xs)
        return [outs[i] for i in some]

    wanted.__qualname__ = getattr(run, "__qualname__", wanted.__qualname__)
    pullback = vjp(along(wanted, xs, at), *[xs[i] for i in at])[1]
    return placed(pullback([out_bars[i] for i in some]), at, len(xs))


PLAIN = (int, float, complex)  # equal if they are written alike: 0.0 is not -0.0


class FunctionCall(Primitive):
    """A call of a function that counts as one operation: Arrays in, arrays out.

    run(*xs) computes the results; push(xs, outs, x_dots) their tangents; pull(xs, outs, out_bars)
    the cotangents of xs. A tangent or cotangent that is None is zero; those of integers are None.
    `results` holds the results of the run that has been made already; they are used once.
    `solves` says that a repetition may raise, since what it gives has another shape than before;
    `prepare(level)` makes the machine code that it calls, if it calls some;
    `costs` are nanoseconds that the recorded function took for it, and that a repetition takes,
    beside what both do; None where that is not known.
    `program` is what run does, and `like` equal for calls that are the same if their programs are;
    it is made from `parts`, which a rule reads beside.
    """

    solves = False
    prepare: Callable[[int], None] | None = None
    costs: tuple[float, float] | None = None
    program: Graph | None = None
    like: Any = None
    parts: Sequence[Any] = ()
    made_of = ("name", "program", "parts")

    def __init__(
        self,
        name: str,
        run: Any,
        push: Any,
        pull: Any,
        xs: Sequence[Any],
        results: Sequence[Any],
        reads: str = "xs",
    ) -> None:
        # An instance for each call: not entered among the primitives, and without cycles.
        self.name, self.run, self.pushed, self.pulled = name, run, push, pull
        self.results: Any = tuple(results)
        self.n_out = len(results)
        self.specs = tuple([spec_of(x) for x in results])
        self.told(results)
        self.reads = reads
        moving = floating(xs)
        self.nondiff = tuple([i for i in range(len(xs)) if i not in moving])
        self.trace: Trace | None = None  # the one that interprets the call at this moment

    def __call__(self, *xs: Any) -> Any:
        self.trace = youngest(xs)
        outs = bind(self, xs, {})
        if not self.numbers:
            return outs
        return tuple([as_python(x) if i in self.numbers else x for i, x in enumerate(outs)])

    def told(self, results: Sequence[Any]) -> None:
        """Hear which results are numbers of Python's, that rules have as NumPy's."""
        self.numbers = [i for i, x in enumerate(results) if kind_of_python(x) is not None]

    def value(self, *xs: Any) -> tuple[Any, ...]:
        results, self.results = self.results, None
        return self.run(*xs) if results is None else results

    def spec(self, *xs: Any) -> Any:
        return self.specs

    def jvp(self, out: Any, xs: Any, x_dots: Any) -> Any:
        return self.pushed(xs, out, x_dots)

    def vjp(self, out_bar: Any, residual: Residual, wanted: Any) -> Any:
        refuse_haste(out_bar)
        return self.pulled(residual.xs, residual.out, out_bar)

    def batch(self, xs: Any, mapped: Any, size: int) -> Any:
        axes = tuple([0 if m else None for m in mapped])

        def run(*xs: Any) -> Any:
            return vmap(one, in_axes=axes)(*xs)

        def one(*xs: Any) -> Any:
            # A truth value as a scalar would pass through `vmap` as a static leaf.
            return tuple([np.asarray(x) if type(x) is np.bool_ else x for x in self.run(*xs)])

        def push(xs: Any, outs: Any, x_dots: Any) -> Any:
            dot_axes = tuple(
                [None if dot is None else a for dot, a in zip(x_dots, axes, strict=True)]
            )
            pushed = vmap(self.pushed, in_axes=(axes, 0, dot_axes))
            dots, moving = pushed(tuple(xs), tuple(outs), tuple(x_dots)), floating(outs)
            return tuple([dot if i in moving else None for i, dot in enumerate(dots)])

        def pull(xs: Any, outs: Any, out_bars: Any) -> Any:
            bars_axes = tuple([None if bar is None else 0 for bar in out_bars])
            outs_axes = None if outs is None else 0
            x_bars = vmap(self.pulled, in_axes=(axes, outs_axes, bars_axes))(
                tuple(xs), outs, tuple(out_bars)
            )
            return [
                bar if m or bar is None else np.sum(bar, axis=0)
                for bar, m in zip(x_bars, mapped, strict=True)
            ]

        results, self.results = self.results, None
        # What does not depend on the mapped operands is of an older trace, or plain.
        batched = [
            x.payload if type(x) is Array and x.within is self.trace else spread(x, size)
            for x in results or ()
        ]
        xs = [as_numpy(x) for x in xs]
        call = type(self)(self.name, run, push, pull, xs, batched, self.reads)
        call.parts = [self.program, *self.parts, axes]
        self.tell_batch(call, axes)
        if results is None:
            call.results, call.n_out = None, self.n_out
        return call(*xs)

    def tell_batch(self, call: Any, axes: Any) -> None:
        """Tell a batch of this call what a subclass knows of it."""

    def identify(self, program: Graph, *parts: Any) -> None:
        """Say what makes this call what it is."""
        self.program, self.parts, self.like = program, parts, likeness(*parts)


def as_python(x: Any) -> Any:
    """A number as one of Python's."""
    if type(x) is Array:
        return x.within.number(x)
    return x.item() if isinstance(x, np.generic) else x


def likeness(*parts: Any) -> Any:
    """Things that a rule reads, equal for those that are the same; None if that cannot be said."""
    try:
        found = tuple(
            [
                (type(x), repr(x)) if type(x) in PLAIN or isinstance(x, np.generic) else x
                for part in parts
                for x in (part if type(part) is list else [part])
            ]
        )
        hash(found)
    except TypeError:  # an array
        return None
    return None if Array in map(type, found) else found


def spread(x: Any, size: int) -> Any:
    return np.broadcast_to(x, (size, *np.shape(x)))


class Operands:
    """The Arrays among a call's arguments, and how to put the arguments together again."""

    def __init__(self, args: Any) -> None:
        self.leaves, self.structure = flatten(args)
        self.positions = [
            i
            for i, leaf in enumerate(self.leaves)
            if type(leaf) is Array and leaf.within is not CONSTANT
        ]
        self.xs = [self.leaves[i] for i in self.positions]

    def known(self) -> list[Any]:
        """What is the same in other calls with the same program."""
        at = set(self.positions)
        leaves = [x for i, x in enumerate(self.leaves) if i not in at]
        return [self.structure, tuple(self.positions), *leaves]

    def args(self, xs: Sequence[Any]) -> Any:
        leaves = list(self.leaves)
        for i, x in zip(self.positions, xs, strict=True):
            leaves[i] = x
        return unflatten(self.structure, leaves)

    def tangents(self, xs: Sequence[Any], x_dots: Sequence[Any]) -> Any:
        """A tree like the arguments: zeros for numbers that do not move, None for no numbers."""
        moving = dict(zip(self.positions, zip(xs, x_dots, strict=True), strict=True))
        dots = []
        for i, leaf in enumerate(self.leaves):
            x, dot = moving.get(i, (leaf, None))
            dots.append(still(x) if dot is None else dot)
        return unflatten(self.structure, dots)

    def lift(self, enter: Callable[[Any], Any]) -> Any:
        return self.args([enter(x) for x in self.xs])


def still(x: Any) -> Any:
    """The tangent of what does not move."""
    if is_static(x) or not hasattr(x, "dtype"):
        return 0.0 if isinstance(x, (int, float, complex)) and not is_static(x) else None
    return np.zeros_like(x) if is_inexact(x.dtype) else np.zeros_like(x, dtype=float)


class Checkpoint(Transformation):
    verb = "checkpoint"

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        operands, memory = Operands(args), SharedMemory()
        inside: dict[int, Any] = {}  # an Array that is passed twice is one

        def lift(enter: Any) -> Any:
            return operands.lift(lambda x: inside.setdefault(id(x), enter(x)))

        structure, graph, captured, values = capture(
            self.fun, kwargs, self.verb, lift, memory=memory
        )
        at = [i for i, out in enumerate(graph.outputs) if isinstance(out, Variable)]
        if running() is None and not any(type(x) is Array for x in operands.leaves):
            # Constants that the function made are plain outside.
            values = [plain_outside(x) for x in values]
        if not at:
            return unflatten(structure, memory.returned(values))
        graph = Graph(graph.inputs, graph.equations, [graph.outputs[i] for i in at])

        def run(*xs: Any) -> Any:
            return graph.evaluate(*xs)

        def push(xs: Any, outs: Any, x_dots: Any) -> Any:
            return jvp(run, xs, x_dots)[1]

        def pull(xs: Any, outs: Any, out_bars: Any) -> Any:
            return pull_through(run, xs, out_bars)

        run.__qualname__ = self.__qualname__
        xs = [*operands.xs, *captured]
        call = FunctionCall(self.__qualname__, run, push, pull, xs, [values[i] for i in at])
        call.identify(graph, "checkpoint", self.__qualname__)
        call.takes_python = True  # Python's numbers are done with again as what they are
        for i, out in zip(at, call(*xs), strict=True):
            values[i] = out
        return unflatten(structure, memory.returned(values))


@usage("checkpoint(f)(x)")
def checkpoint(fun: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that does the same and keeps only its arguments for the backward pass.

    >>> import numpy as np
    >>> from pullback import grad
    >>> grad(checkpoint(lambda x: np.sin(np.sin(x))))(0.0)
    np.float64(1.0)

    What happens inside is written down without values, and done again when derivatives are needed:
    less memory for more time. Arrays that fun closes over take part; random numbers and decisions
    are those of the first run.

    Args:
        fun: a function of arrays, numbers, or trees of them.

    Raises:
        ArgumentTypeError: fun is no function.
    """
    return Checkpoint(fun)
