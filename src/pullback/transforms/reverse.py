"""Reverse mode: the trace, the backward pass, and vjp, grad, value_and_grad."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from ..core.array import Array, current, is_number, touch
from ..core.cotangent import Cotangent, dense, fit
from ..core.errors import (
    ArgumentError,
    DtypeError,
    MissingRuleError,
    NonScalarOutputError,
    PullbackError,
    name_of,
    reached,
)
from ..core.node import COPIED, Kept, Node, constant_node, rebuild, slots
from ..core.primitive import Primitive
from ..core.spec import Spec, carries, spec_of, zeros
from ..core.trace import CONSTANT, Trace, bind, run
from ..core.tree import flatten, unflatten
from .common import (
    Lifted,
    Selection,
    Transformation,
    branches,
    check_function,
    conform,
    describe,
    fresh,
    settle,
    settle_tree,
)

__all__ = ["ReverseTrace", "backward", "grad", "value_and_grad", "vjp", "writes_number"]

float64, ndarray, DOUBLE = np.float64, np.ndarray, np.dtype(float)
LARGE = 1 << 18  # bytes from which a cotangent's buffer is worth using again


class ReverseTrace(Trace):
    """Computes values, and notes for each operation a node from which to go back."""

    __slots__ = ()

    def unary(self, primitive: Any, x: Array) -> Any:
        if x.storage is not None:
            touch(x)
            if x.within is not self:  # a view of what was assigned something younger
                return bind(primitive, (x,), {})
        a = x.value
        out = primitive.value(a)
        if primitive.constant:
            return out
        return Array(out, self, Node((x.node,), primitive.rule, primitive.pack(out, a)))

    def binary(self, primitive: Any, x: Any, y: Any) -> Any:
        """The short ways: two operands of one shape and dtype, or one beside a Python number.

        One of the two may be a small plain array, of which a copy is kept if the rule reads it.
        """
        if type(x) is Array:
            if x.storage is not None:
                touch(x)
                if x.within is not self:
                    return bind(primitive, (x, y), {})
            if x.within is self:
                a = x.value
                if type(y) is float or type(y) is int:
                    out = primitive.value(a, y)
                    if primitive.constant:
                        return out
                    node = Node((x.node,), primitive.rules[0], primitive.packs[0](out, a, y))
                    return Array(out, self, node)
                if type(y) is ndarray:
                    if y.nbytes <= COPIED and alike(a, y):
                        return self.beside(primitive, 0, x, y)
                    return self.process(primitive, (x, y), {})
            if type(y) is Array:
                if y.storage is not None:
                    touch(y)
                    if y.within is not self:
                        return bind(primitive, (x, y), {})
                if x.within is y.within is self:
                    a, b = x.value, y.value
                    kind = type(a)
                    if kind is type(b) and (kind is float64 or alike(a, b)):
                        out = primitive.value(a, b)
                        if primitive.constant:
                            return out
                        node = Node((x.node, y.node), primitive.rule, primitive.pack(out, a, b))
                        return Array(out, self, node)
            return self.process(primitive, (x, y), {})
        if y.storage is not None:
            touch(y)
            if y.within is not self:
                return bind(primitive, (x, y), {})
        if type(x) is float or type(x) is int:
            b = y.value
            out = primitive.value(x, b)
            if primitive.constant:
                return out
            node = Node((y.node,), primitive.rules[1], primitive.packs[1](out, x, b))
            return Array(out, self, node)
        if type(x) is ndarray and x.nbytes <= COPIED and alike(x, y.value):
            return self.beside(primitive, 1, y, x)
        return self.process(primitive, (x, y), {})

    def beside(self, primitive: Any, i: int, x: Array, plain: np.ndarray) -> Any:
        """x as operand i beside a small plain array of its shape and dtype."""
        a = x.value
        out = primitive.value(a, plain) if i == 0 else primitive.value(plain, a)
        if primitive.constant:
            return out
        kept = plain.copy() if primitive.reads_other[i] else None
        pack = primitive.packs[i]
        residual = pack(out, a, kept) if i == 0 else pack(out, kept, a)
        return Array(out, self, Node((x.node,), primitive.rules[i], residual))

    def item(self, primitive: Any, x: Array, key: Any) -> Any:
        if x.storage is not None and current(x).within is not self:
            return x.within.item(primitive, x, key)
        a = x.value
        node = Node((x.node,), primitive.item_rule, (key, a.shape, a.dtype))
        return Array(a[key], self, node)

    def put(self, primitive: Any, x: Array, key: Any, v: Any) -> bool:
        a, node = x.value, None
        if type(v) is Array:
            if v.within is not self or v.storage is not None:
                return False
            v, node = v.value, v.node
        if not writes_number(a, key, v):
            return False
        a[key] = v
        x.node = Node((x.node, node), primitive.put_rule, key)
        return True

    def process(self, primitive: Primitive, xs: tuple[Any, ...], static: dict[str, Any]) -> Any:
        primals, parents = [], []
        for x in xs:
            mine = type(x) is Array and x.within is self
            if type(x) is Array and (mine or x.within is CONSTANT):
                primals.append(x.value)
            else:
                primals.append(x)
            parents.append(x.node if mine else None)
        out = primitive(*primals, **static)
        if primitive.constant:
            return out
        for i in primitive.nondiff:
            parents[i] = None
        if primitive.n_out is None and not carries(out.dtype):
            return out
        if not any(parents):
            node = constant_node()
        else:
            residual = primitive.residual(out, primals, parents, static)
            node = Node(tuple(parents), primitive.pull, residual)
        return Array(out, self, node) if primitive.n_out is None else slots(out, self, node)


def writes_number(a: Any, key: Any, v: Any) -> bool:
    """Whether a[key] = v is one number put into a plain array of float64."""
    if type(a) is not ndarray or a.dtype is not DOUBLE:
        return False
    if type(v) is not float64 and type(v) is not float and type(v) is not int:
        return False
    if type(key) is int:
        return a.ndim == 1
    return len(key) == a.ndim and all(type(k) is int for k in key)


def alike(a: Any, b: Any) -> bool:
    """Whether neither is broadcast or cast when the two meet."""
    return a.shape == b.shape and a.dtype is b.dtype


class Pass:
    """A backward pass under way: what marks the nodes that it has seen."""

    __slots__ = ("active",)

    def __init__(self) -> None:
        self.active = True


def spent(out_bar: Any, residual: Any, wanted: Any) -> Any:
    raise PullbackError(
        "A backward pass went through this graph before, and its values have been freed.\n"
        "  Write `.backward(retain_graph=True)` in the first call, or compute the output again."
    )


def backward(
    seeds: Sequence[tuple[Node, Any]],
    retain: bool = False,
    record: Trace | None = None,
    fun: Any = None,
) -> list[Node]:
    """Carry cotangents back from the seeds; return the leaves, each with its cotangent in `bar`.

    One walk counts the uses of each node; then a node is applied once all its uses have arrived.
    Linear in edges, without recursion. Unless `retain`, values are freed on the way.
    With `record`, the rules work on Arrays of that trace, so that the result has derivatives again.
    `fun` is what is differentiated, for messages.
    """
    mark = Pass()
    try:
        with np.errstate(all="ignore"):  # the forward pass has warned, as NumPy does
            return walk(mark, seeds, retain, record)
    except MissingRuleError as error:
        if fun is not None:
            reached(error, fun)
        raise
    finally:
        mark.active = False


def walk(mark: Pass, seeds: Any, retain: bool, record: Trace | None) -> list[Node]:
    leaves, stack = [], []
    for node, bar in seeds:
        if node.seen is mark:
            node.bar = node.bar + bar
            continue
        if node.seen is not None and node.seen.active:
            raise_reentered()
        node.seen, node.pending, node.bar = mark, 0, bar
        stack.append(node)
        if not node.parents:
            leaves.append(node)
    ready = list(stack)
    while stack:
        for parent in stack.pop().parents:
            if parent is None:
                continue
            seen = parent.seen
            if seen is mark:
                parent.pending += 1
                continue
            if seen is not None and seen.active:
                raise_reentered()
            parent.seen = mark
            parent.pending = 1
            parent.bar = None
            if parent.parents:
                stack.append(parent)
            else:
                leaves.append(parent)
    ready = [node for node in ready if not node.pending]
    owned: set[Node] = set()  # nodes whose cotangent is in a buffer that this pass made for it
    while ready:
        node = ready.pop()
        parents = node.parents
        if not parents:
            continue
        bar, node.bar = node.bar, None
        if bar is None:
            bars: Any = (None,) * len(parents)
        elif record is not None:
            bars = node.rule(bar, rebuild(node.rule, node.residual, node, record), parents)
        elif type(bar) is ndarray and bar.nbytes > LARGE:
            bars = apply_large(node, bar, owned)
        else:
            bars = node.rule(bar, node.residual, parents)
        if not retain:
            node.rule, node.residual = spent, None
        for parent, bar in zip(parents, bars):  # noqa: B905  # hot; rules are checked elsewhere
            if parent is None:
                continue
            if bar is not None:
                if parent.bar is None:
                    parent.bar = bar
                elif type(bar) is float64:
                    parent.bar = parent.bar + bar
                elif parent not in owned:
                    owned.add(parent)
                    parent.bar = parent.bar + bar
                elif isinstance(parent.bar, Cotangent) or (
                    type(parent.bar) is ndarray and type(bar) is ndarray
                ):
                    parent.bar += bar
                else:
                    parent.bar = parent.bar + bar
            parent.pending -= 1
            if not parent.pending:
                ready.append(parent)
    return leaves


def apply_large(node: Node, bar: np.ndarray, owned: set[Node]) -> Any:
    """Apply a rule to a large cotangent, whose cost is memory traffic.

    A product with a partial is made in place where the buffer is the pass's own. What is made here
    belongs to the parent, unless something else has arrived there before.
    """
    partial = getattr(node.rule, "partial", None)
    if partial is None:
        return node.rule(bar, node.residual, node.parents)
    factor = partial(node.residual)
    like_bar = type(factor) is ndarray and factor.shape == bar.shape and factor.dtype == bar.dtype
    if node in owned and (like_bar or type(factor) in (float, int)):
        bar = np.multiply(bar, factor, out=bar)
    else:
        bar = bar * factor
    (parent,) = node.parents
    if parent.bar is None:
        owned.add(parent)
    return (bar,)


def raise_reentered() -> None:
    raise PullbackError(
        "A backward pass was started inside a rule that another backward pass of the same graph"
        " is running.\n  Compute what the rule needs with operations of its own."
    )


def harvest(leaf: Node, primal: Any, taken: set[int], trace: Trace | None = None) -> Any:
    """The cotangent that a leaf received: of its primal's shape, dtype and kind, fresh, writable.

    taken: the ids of arrays that are somebody's already; they are copied.
    trace: the trace that has been gone through. A rule that closes over an Array of it gives a
    cotangent of it, which is taken off: the trace ends, or has been asked for a plain gradient.
    """
    bar, leaf.bar = getattr(leaf, "bar", None), None
    if type(bar) is float64 and type(primal) is float64:
        return bar  # numbers cannot be written to
    spec = spec_of(primal)
    if bar is None:
        bar = zeros(spec)
    bar = fit(dense(bar), spec)
    while type(bar) is Array and (bar.within is trace or bar.within is CONSTANT):
        bar = bar.value
    if type(bar) is Array:
        bar = fresh(bar)
        number = is_number(primal) if type(primal) is Array else type(primal) is not np.ndarray
        return bar[()] if number and not (spec.shape or is_number(bar)) else bar
    if type(primal) is np.ndarray or spec.shape:
        bar = np.asarray(bar)
        if not (bar.flags.owndata and bar.flags.writeable) or id(bar) in taken:
            bar = bar.copy()
        taken.add(id(bar))
        return bar
    return bar[()]


def lift(
    fun: Any, verb: str, args: Any, positions: Sequence[int], watched: list[Kept] | None = None
) -> tuple[Trace, Any, Any, Any]:
    """A new trace, the arguments of f on it, and for each position its primals and leaves."""
    trace = ReverseTrace(verb, fun)
    lifted: list[Lifted] = []
    leaves: list[list[Node]] = []
    args = list(args)

    def enter(primal: Any) -> Array:
        node = constant_node()
        leaves[-1].append(node)
        return Array(primal, trace, node)

    for position in positions:
        arg = Lifted(args[position], verb, fun, position, watched)
        leaves.append([])
        lifted.append(arg)
        args[position] = arg.map(enter)
    return trace, args, lifted, leaves


def cotangents(lifted: Any, leaves: Any, taken: set[int], trace: Trace | None = None) -> list[Any]:
    """For each differentiated argument a tree like it."""
    trees = []
    for arg, nodes in zip(lifted, leaves, strict=True):
        remaining = iter(nodes)
        trees.append(arg.map(lambda x: harvest(next(remaining), x, taken, trace), static="none"))  # noqa: B023
    return trees


# Where a compiler is at work: from a function to what is differentiated in its place.
STAGED: ContextVar[Callable[..., Any] | None] = ContextVar("staged", default=None)


def staged(trace: Trace, fun: Any) -> Any:
    stage = STAGED.get()
    return fun if stage is None else stage(trace.verb, fun)


class ValueAndGrad(Transformation):
    verb = "value_and_grad"

    def __init__(self, fun: Any, argnums: int | Sequence[int], has_aux: bool) -> None:
        super().__init__(fun)
        self.selection = Selection(argnums, self.verb)
        self.has_aux = has_aux

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        value, aux, gradient = self.compute(args, kwargs)
        return ((value, aux), gradient) if self.has_aux else (value, gradient)

    def compute(self, args: Any, kwargs: dict[str, Any]) -> tuple[Any, Any, Any]:
        fun = self.fun
        positions = self.selection.positions(fun, args, kwargs)
        watched: list[Kept] = []
        trace, args, lifted, leaves = lift(fun, self.verb, args, positions, watched)
        try:
            out, aux = run(trace, staged(trace, fun), args, kwargs), None
            if self.has_aux:
                out, aux = split_aux(out, fun, self.verb)
                aux = settle_tree(aux, trace)
            out = settle(out, trace)
            mine = type(out) is Array and out.within is trace
            check_scalar(out, self.verb, fun)
            if mine:
                backward([(out.node, out.dtype.type(1))], fun=fun)
                value = out.value
            else:
                value = out
            for kept in watched:
                kept.opened()
            gradients = cotangents(lifted, leaves, set(), trace)
        finally:
            trace.end()
        if type(value) is not Array:
            value = np.asarray(value)[()]
        return value, aux, self.selection.pick(gradients)


class Grad(ValueAndGrad):
    verb = "grad"

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        _, aux, gradient = self.compute(args, kwargs)
        return (gradient, aux) if self.has_aux else gradient


def split_aux(out: Any, fun: Any, verb: str) -> tuple[Any, Any]:
    if not isinstance(out, tuple) or len(out) != 2:
        raise ArgumentError(
            f"`{verb}` with has_aux=True needs a function that returns a pair (output, aux), but"
            f" `{name_of(fun)}` returned {describe(out)}.\n  Write `return output, aux`."
        )
    return out


def check_scalar(out: Any, verb: str, fun: Any) -> None:
    """Raise unless out is one real number."""
    name = name_of(fun)
    call = "f" if "<" in name or "(" in name else name
    if type(out) is not Array and not isinstance(
        out, (np.ndarray, np.generic, int, float, complex)
    ):
        raise NonScalarOutputError(
            f"`{verb}` needs a scalar output, but `{name}` returned {describe(out)}.\n"
            f"  Return one number; other results go through `has_aux=True`, and `jacobian({call})`"
            " takes trees."
        )
    spec = spec_of(out)
    if spec.shape:
        raise NonScalarOutputError(
            f"`{verb}` needs a scalar output, but `{name}` returned {spec}.\n"
            f"  A gradient is defined for one number. Sum it (`{verb}(lambda x: {call}(x).sum())`),"
            f" or use `jacobian({call})`."
        )
    if spec.dtype.kind == "c":
        raise DtypeError(
            f"`{verb}` needs a real output, but `{name}` returned {spec}.\n"
            "  Take its `.real`, `.imag` or `abs`, or use `jacobian(..., holomorphic=True)`."
        )


def grad(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the gradient of a scalar function.

    >>> import numpy as np
    >>> grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    array([2., 4.])

    The gradient has the shape, dtype and tree of the argument, is writable and shares memory with
    nothing. For complex x it is df/dx - i df/dy, as in autograd and JAX.

    Args:
        fun: a function of arrays, numbers, or trees of them, that returns one real number.
        argnums: which positional argument to differentiate, or a tuple of them; negative numbers
            count from the end. A tuple gives a tuple of gradients.
        has_aux: fun returns (number, aux); the result is (gradient, aux).

    Raises:
        NonScalarOutputError: fun returned something else than one number.
        DtypeError: a selected argument is an integer array, or the output is complex.
        ArgumentError: argnums does not fit the call.
    """
    return Grad(fun, argnums, has_aux)


def value_and_grad(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the value of a scalar function and its gradient.

    >>> import numpy as np
    >>> value_and_grad(np.sin)(0.0)
    (np.float64(0.0), np.float64(1.0))

    Args and errors are those of `grad`; with has_aux the result is ((value, aux), gradient).
    """
    return ValueAndGrad(fun, argnums, has_aux)


class Pullback:
    """out_bar -> a tuple of cotangents, one for each primal. It may be called again and again."""

    def __init__(self, trace: Trace, out: Any, lifted: Any, leaves: Any) -> None:
        self.fun, self.name = trace.fun, name_of(trace.fun)
        self.lifted, self.leaves = lifted, leaves
        outs, self.structure = flatten(out)
        self.nodes = [x.node if type(x) is Array and x.within is trace else None for x in outs]
        self.specs: list[Spec] = [spec_of(x) if hasattr(x, "dtype") else None for x in outs]  # type: ignore[misc]
        self.lock = threading.RLock()

    def __call__(self, out_bar: Any) -> tuple[Any, ...]:
        """Args: out_bar: a tree like the output, with arrays of its shapes.

        Raises:
            ShapeError: a cotangent has another shape than the output; nothing is broadcast.
            ArgumentError: the tree is another one.
        """
        asker = f"The pullback of `{self.name}`"
        bars = branches(out_bar, self.structure, "a cotangent", asker)
        seeds, taken = [], set()
        for node, spec, bar in zip(self.nodes, self.specs, bars, strict=True):
            if spec is not None:
                bar = conform(bar, spec, "a cotangent", asker)
                taken.add(id(bar))
            if node is not None:
                seeds.append((node, bar))
        with self.lock:
            backward(seeds, retain=True, fun=self.fun)
            return tuple(cotangents(self.lifted, self.leaves, taken))

    def __repr__(self) -> str:
        return f"<pullback of {self.name}>"


def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Return fun(*primals) and the pullback of fun there; with has_aux, aux as well.

    >>> import numpy as np
    >>> out, pullback = vjp(np.sin, np.zeros(2))
    >>> pullback(np.array([1.0, 3.0]))
    (array([1., 3.]),)

    The pullback maps a cotangent of the output to those of all inputs, x_bar = J(x)^T out_bar,
    without conjugation for complex x. It may be called again and again, and keeps the nodes alive
    as long as it lives.

    Args:
        primals: arrays, numbers or trees of them.

    Raises:
        DtypeError: a primal is an integer array.
    """
    check_function(fun, "vjp")
    trace, args, lifted, leaves = lift(fun, "vjp", primals, range(len(primals)))
    try:
        out, aux = run(trace, staged(trace, fun), args, {}), None
        if has_aux:
            out, aux = split_aux(out, fun, "vjp")
            aux = settle_tree(aux, trace)
        outs, structure = flatten(out)
        out = unflatten(structure, [settle(x, trace) for x in outs])
        pullback = Pullback(trace, out, lifted, leaves)
        out = settle_tree(out, trace)
    finally:
        trace.end()
    return (out, pullback, aux) if has_aux else (out, pullback)
