"""Reverse mode: the trace that writes nodes, and vjp, grad, value_and_grad.

The function runs on Arrays whose node is an operation: its parents, its rule, and what the rule
reads. When it has returned, `backward` goes from the output's node to those of the arguments.

`ReverseTrace` has a short way for each usual form of an operation: one operand (`unary`, `single`),
two (`pair`), one beside a number or a plain array (`beside`). What none of them takes goes through
`process`, which is right for all. Each short way does what `process` would do, only sooner.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import partial
from typing import Any

import numpy as np
from numpy import float64, ndarray

from ..core.array import Array, bottom
from ..core.errors import ArgumentTypeError, kind_of, name_of
from ..core.heap import keep_freed_memory
from ..core.messages import check_flag
from ..core.node import COPIED_BESIDE, Kept, Node, constant_node, copied, new, node_of, noted, slots
from ..core.primitive import Primitive
from ..core.rules import folds
from ..core.spec import DOUBLE, NUMBERS, PYTHON, hardened, spec_of
from ..core.storage import current, touch
from ..core.trace import CONSTANT, Trace, bind, run
from ..core.tree import flatten, is_static, unflatten
from ..core.usage import listing, usage
from .arguments import LEAVES, Selection, needs_arguments
from .backward import backward
from .lifted import any_reached, cotangents, lift, primals_of
from .meeting import applied, is_double, meet, mixed, moves, widened, writes_number
from .returned import check_output, check_scalar, holds_numbers, settle, settle_tree, split_aux
from .searched import judge, steepness
from .seeds import branches, conform
from .transformation import OfOneCall, Transformation, check_function

TAKEN = 1000  # elements from which `take` is faster than an index
ONE = float64(1)
ONLY = 0, 1  # operand 0 of 1
PLAIN = frozenset({ndarray, float64})

keep_freed_memory()


class ReverseTrace(Trace):
    """Computes values, and notes for each operation a node from which to go back."""

    differentiates = True
    leaves_values = writes_back = writes_nodes = shares_copies = True
    __slots__ = ()

    def slope(self, seeds: Any) -> float:
        return steepness(seeds)

    def unary(self, primitive: Any, x: Array) -> Any:
        storage = x.storage
        if storage is not None and (storage.root is None or storage.root.storage is not None):
            touch(x)
            if x.within is not self:  # a view of what was assigned something younger
                return bind(primitive, (x,), {})
        a = x.payload
        out = primitive.value(a) if type(a) is not Array else a.within.unary(primitive, a)
        if primitive.decides and self.decided(primitive, x):
            return out
        return primitive.note(out, self, (x.node,), a)

    def binary(self, primitive: Any, x: Any, y: Any) -> Any:
        """The short ways: two operands of one dtype, or one beside a number."""
        if type(x) is not Array:
            return ReverseTrace.beside(self, primitive, 1, y, x)
        if type(y) is not Array:
            return ReverseTrace.beside(self, primitive, 0, x, y)
        if x.within is self is y.within:
            return ReverseTrace.pair(self, primitive, x, y)
        if y.within is CONSTANT and y.storage is None:
            return ReverseTrace.beside(self, primitive, 0, x, y.payload)
        if x.within is CONSTANT and x.storage is None:
            return ReverseTrace.beside(self, primitive, 1, y, x.payload)
        return bind(primitive, (x, y), {})

    def pair(self, primitive: Any, x: Array, y: Array) -> Any:
        """Two operands of this trace."""
        if x.storage is not None or y.storage is not None:
            if x.storage is not None:
                touch(x)
            if y.storage is not None:
                touch(y)
            if x.within is not self or y.within is not self:
                return bind(primitive, (x, y), {})
        a, b = p, q = x.payload, y.payload
        if type(a) in PLAIN and type(b) in PLAIN:
            out = primitive.value(a, b) if a.dtype is b.dtype else None
        else:
            p = bottom(a) if type(a) is Array else a
            q = bottom(b) if type(b) is Array else b
            same = type(p) is ndarray is type(q) and p.dtype is q.dtype
            if not same and not meet(p, q):
                out = None
            elif type(a) is Array is type(b) and a.within is b.within:
                out = a.within.binary(primitive, a, b)
            else:
                out = applied(primitive, a, b)
        if out is None:
            return self.process(primitive, (x, y), {})
        if primitive.decides and self.decided(primitive, x, y):
            return out
        return self.met(primitive, x, y, p, q, out)

    def met(self, primitive: Any, x: Array, y: Array, p: Any, q: Any, out: Any) -> Any:
        """The result of two operands with a node; p and q say of which shapes they are."""
        a, b, parents = x.payload, y.payload, (x.node, y.node)
        first, second = () if type(p) is float else p.shape, () if type(q) is float else q.shape
        if first == second:
            return primitive.note(out, self, parents, a, b)
        held = primitive.pack(out, a, b), *folds(first, second)
        return noted(out, self, parents, primitive.folding, held)

    def joined(self, primitive: Any, x: Array, y: Array, out: Any) -> Any:
        """`pair` where an outer trace has computed out."""
        p, q = bottom(x.payload), bottom(y.payload)
        if meet(p, q):
            return self.met(primitive, x, y, p, q, out)
        return self.recorded(primitive, out, [x.payload, y.payload], [x.node, y.node], 7, {})

    def beside(self, primitive: Any, i: int, x: Array, plain: Any) -> Any:
        """x as operand i beside a number, or beside a plain array of its dtype.

        If the rule reads a small plain array, a copy is kept; large ones are watched.
        """
        storage = x.storage
        if storage is not None and (storage.root is None or storage.root.storage is not None):
            touch(x)
            if x.within is not self:
                return bind(primitive, (plain, x) if i else (x, plain), {})
        a, kind = x.payload, type(plain)
        if kind is ndarray:
            large = plain.nbytes > COPIED_BESIDE and primitive.reads_other[i]
            if type(a) is not ndarray or a.dtype is not plain.dtype or large:
                return self.beside_array(primitive, i, x, plain)
            out = primitive.value(plain, a) if i else primitive.value(a, plain)
            if primitive.decides and self.decided(primitive, *((plain, x) if i else (x, plain))):
                return out
            kept = copied(plain, self) if primitive.reads_other[i] else None
            if a.shape != plain.shape:
                return self.broadcast(primitive, i, x, a, out, kept, plain.shape)
        else:
            if kind is not float and kind is not int and not (kind is float64 and is_double(a)):
                return self.process(primitive, (plain, x) if i else (x, plain), {})
            if type(a) is ndarray and a.dtype is DOUBLE and primitive.converts:
                plain = NUMBERS[plain]  # which NumPy and the rule take in half of the time
            if type(a) is Array:
                out = a.within.beside(primitive, i, a, plain)
            else:
                out = primitive.value(plain, a) if i else primitive.value(a, plain)
            if primitive.decides:
                if primitive.constant and not i:  # a comparison, which has its line already
                    self.decisions += 1
                    if self.decisions >= self.awaited:
                        self.watch(primitive, x, plain)
                    return out
                if self.decided(primitive, *((plain, x) if i else (x, plain))):
                    return out
            kept = plain
        if i:
            return primitive.notes[1](out, self, (x.node,), kept, a)
        return primitive.notes[0](out, self, (x.node,), a, kept)

    def beside_array(self, primitive: Any, i: int, x: Array, plain: np.ndarray) -> Any:
        """`beside` a large array, one of another dtype, or one beside a value in flight."""
        a = x.payload
        p = bottom(a) if type(a) is Array else a
        large = plain.nbytes > COPIED_BESIDE and primitive.reads_other[i]
        if large or type(p) in PYTHON:
            return self.process(primitive, (plain, x) if i else (x, plain), {})
        given = plain
        if p.dtype is not plain.dtype:
            wide = widened(primitive, p, plain) if type(a) is ndarray else None
            if wide is None:
                return self.process(primitive, (plain, x) if i else (x, plain), {})
            plain = wide
        apply = primitive.value if type(a) is not Array else partial(a.within.binary, primitive)
        out = apply(plain, a) if i else apply(a, plain)
        if primitive.decides and self.decided(primitive, *((plain, x) if i else (x, plain))):
            return out
        kept = None
        if primitive.reads_other[i]:
            kept = copied(plain, self) if plain is given else plain
        if p.shape != plain.shape:
            return self.broadcast(primitive, i, x, a, out, kept, plain.shape)
        return primitive.notes[i](out, self, (x.node,), *((kept, a) if i else (a, kept)))

    def broadcast(
        self, primitive: Any, i: int, x: Array, a: Any, out: Any, kept: Any, shape: Any
    ) -> Array:
        """The result for x, of value a, beside a plain array of another shape."""
        pack = primitive.packs[i]
        held = pack(out, kept, a) if i else pack(out, a, kept)
        held = held, folds(bottom(a).shape if type(a) is Array else a.shape, shape)[0]
        return noted(out, self, (x.node,), primitive.foldings[i], held)

    def item(self, primitive: Any, x: Array, key: Any) -> Any:
        storage = x.storage
        written = storage is not None and (storage.root is None or storage.root.storage is not None)
        if written and current(x).within is not self:
            return x.within.item(primitive, x, key)
        a = x.payload
        if type(a) in PYTHON:
            return Trace.item(self, primitive, x, key)
        held = key, a.shape, a.dtype
        return noted(a[key], self, (x.node,), primitive.item_rule, held)

    def gather(
        self, primitive: Any, x: Array, key: Any, arrays: Any, reorders: bool = False
    ) -> Any:
        a = x.payload
        if x.storage is not None or type(a) is not ndarray:
            return Trace.gather(self, primitive, x, key, arrays)
        held = (key, arrays), a.shape, a.dtype
        if len(key) > 1:
            out = primitive.value(a, *arrays, key=key)
        else:
            out = a.take(arrays[0]) if a.ndim == 1 and a.size >= TAKEN else a[arrays[0]]
        rule = primitive.reorder_rule if reorders else primitive.gather_rule
        return noted(out, self, (x.node,), rule, held)

    def put(self, primitive: Any, x: Array, key: Any, v: Any) -> bool:
        a, node = x.payload, None
        if type(v) is Array:
            if v.within is not self or v.storage is not None:
                return False
            v, node = v.payload, v.node
        if not writes_number(a, key, v):
            return False
        a[key] = v
        x.node = node_of((x.node, node), primitive.put_rule, key)
        return True

    def process(self, primitive: Primitive, xs: tuple[Any, ...], static: dict[str, Any]) -> Any:
        if len(xs) == 1:
            return ReverseTrace.single(self, primitive, xs[0], static)
        if primitive.mixes and (out := mixed(self, primitive, *xs)) is not None:
            return out
        primals: list[Any] = []
        parents: list[Any] = []
        plain = primitive.direct
        pattern = 1  # and then one bit for each operand: whether it is a parent
        for x in xs:
            pattern += pattern
            if type(x) is not Array:
                primals.append(x)
                parents.append(None)
                continue
            parent = None
            if x.within is self:
                pattern += 1
                parent, x = x.node, x.payload
            elif x.within is CONSTANT:
                x = x.payload
            if type(x) is Array:
                plain = False
            elif type(x) in PYTHON and not primitive.takes_python:
                x = hardened(x)
            primals.append(x)
            parents.append(parent)
        out = primitive.value(*primals, **static) if plain else primitive(*primals, **static)
        if primitive.decides and self.decided(primitive, *xs[:2]):
            return out
        return self.recorded(primitive, out, primals, parents, pattern, static)

    def recorded(
        self, primitive: Primitive, out: Any, primals: Any, parents: Any, pattern: int, static: Any
    ) -> Any:
        """The result of an operation, with a node if it has a derivative."""
        n = len(parents)
        for i in primitive.nondiff:
            if parents[i] is not None:
                parents[i] = None
                pattern -= 1 << (n - 1 - i)
        one = primitive.n_out is None
        kind = type(out)
        double = kind is float64 or (kind is ndarray and out.dtype is DOUBLE)
        if one and not double and not moves(out, primals):
            return out
        if pattern == 1 << n:
            node = constant_node()
            return Array(out, self, node) if one else slots(out, self, node)
        pack = primitive.packers.get(pattern) or primitive.packer(pattern, n)
        held = pack(primitive, out, primals, static)
        if one:
            return noted(out, self, tuple(parents), primitive.pull, held)
        return slots(out, self, node_of(tuple(parents), primitive.pull, held))

    def single(self, primitive: Primitive, x: Array, static: dict[str, Any]) -> Any:
        storage = x.storage
        if storage is not None and (storage.root is None or storage.root.storage is not None):
            touch(x)
            if x.within is not self:
                return bind(primitive, (x,), static)
        a, rule = x.payload, primitive.lone
        if rule is not None and type(a) is ndarray:  # `linear`, without a call for it
            out = primitive.value(a, **static)
            kind = type(out)
            if (kind is ndarray and out.dtype is DOUBLE) or kind is float64 or moves(out, (a,)):
                node = Node()
                node.parents, node.rule = (x.node,), rule
                node.residual, node.seen = (a.shape, a.dtype, static), None
                x = new(Array)
                x.payload, x.within, x.node = out, self, node
                x.storage = None
                return x
            return out
        if type(a) in PYTHON and not primitive.takes_python:
            a = hardened(a)
        if rule is not None:
            return self.linear(primitive, x, a, static, rule)
        if type(a) is ndarray and primitive.direct:
            out = primitive.value(a, **static)
        else:
            out = primitive.of(a, static) if primitive.direct else primitive(a, **static)
        if primitive.decides and self.decided(primitive, x):
            return out
        one, kind = primitive.n_out is None, type(out)
        double = kind is float64 or (kind is ndarray and out.dtype is DOUBLE)
        if one and not double and not moves(out, (a,)):
            return out
        if primitive.nondiff:
            node = constant_node()
            return Array(out, self, node) if one else slots(out, self, node)
        pack = primitive.packers.get(3) or primitive.packer(3, 1)
        held = pack(primitive, out, (a,), static)
        if one:
            rule = primitive.alone[ONLY] if primitive.usual_pull else primitive.pull
            return noted(out, self, (x.node,), rule, held)
        return slots(out, self, node_of((x.node,), primitive.pull, held))

    def linear(self, primitive: Primitive, x: Array, a: Any, static: Any, rule: Any) -> Any:
        """`single` for a primitive with a rule for one operand, of which nothing is read."""
        if type(a) is Array:
            outer = a.within
            is_single = primitive.is_single
            out = outer.single(primitive, a, static) if is_single else primitive.of(a, static)
            known = type(out) is Array and outer.writes_nodes and out.within is outer
            if known and out.node.rule is rule:
                # The outer trace has noted it by this rule: what that keeps holds here, too.
                return noted(out, self, (x.node,), rule, out.node.residual)
        else:
            out = primitive.value(a, **static)
        kind = type(out)
        if (kind is ndarray and out.dtype is DOUBLE) or kind is float64 or moves(out, (a,)):
            return noted(out, self, (x.node,), rule, (a.shape, a.dtype, static))
        return out


# Where a compiler is at work: from a function to what is differentiated in its place.
STAGED: ContextVar[Callable[..., Any] | None] = ContextVar("staged", default=None)


def run_staged(trace: Trace, args: Any, kwargs: dict[str, Any]) -> Any:
    """Call the function of a trace, or what a compiler has for it."""
    stage, fun = STAGED.get(), trace.fun
    return run(trace, fun if stage is None else stage(trace.verb, fun), args, kwargs)


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
        fun, selection = self.fun, self.selection
        if selection.needs == 1 and args and type(args[0]) in LEAVES:  # as it mostly is
            positions: Sequence[int] = selection.numbers
        else:
            positions = selection.positions(fun, args, kwargs)
        watched: list[Kept] = []
        trace = ReverseTrace(self.verb, fun)
        args, lifted = lift(trace, args, positions, watched)
        try:
            stage, aux = STAGED.get(), None
            out = run(trace, fun if stage is None else stage(self.verb, fun), args, kwargs)
            if self.has_aux:
                out, aux = split_aux(out, fun, self.verb, trace)
                aux = settle_tree(aux, trace)
            if type(out) is not Array or out.within is not trace or out.storage is not None:
                out = settle(out, trace)
            mine = type(out) is Array and out.within is trace
            value = out.payload if mine else out
            part = value.payload if type(value) is Array else value
            double = type(part) is float64 or type(bottom(value)) is float64
            if not double:
                check_scalar(out, self.verb, fun)
            if mine:
                seed, plain = ONE if double else out.dtype.type(1), type(value) is not Array
                backward([(out.node, seed)], True, fun=fun, plain=plain)
            reached = True
            if trace.comparison is not None or trace.decisions or trace.written:
                reached = mine and any_reached(lifted)
                trace.led((out,), reached)
            for kept in watched:
                kept.opened()
            gradients = cotangents(lifted, set(), trace)
            if trace.decisions and reached:
                many = trace.many_decisions(True)
                zero = many and trace.led_beside((), primals_of(lifted), flatten(gradients)[0])
                if not zero and trace.narrowing is not None and trace.narrowing.narrows:
                    judge(trace, trace.narrowing, lifted, gradients)
        finally:
            trace.end()
        if type(value) is not Array and type(value) is not float64:
            value = np.asarray(value)[()]
        return value, aux, gradients[0] if selection.single else tuple(gradients)


class Grad(ValueAndGrad):
    verb = "grad"

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        _, aux, gradient = self.compute(args, kwargs)
        return (gradient, aux) if self.has_aux else gradient


@usage("grad(f)(x)")
def grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
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
    check_flag(has_aux, "has_aux", "grad")
    return Grad(fun, argnums, has_aux)


@usage("value_and_grad(f)(x)")
def value_and_grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
) -> Callable[..., Any]:
    """Return a function that computes the value of a scalar function and its gradient.

    >>> import numpy as np
    >>> value_and_grad(np.sin)(0.0)
    (np.float64(0.0), np.float64(1.0))

    The value has the shape of a number; the gradient is that of `grad`.

    Args:
        fun, argnums: as in `grad`.
        has_aux: fun returns (number, aux); the result is ((number, aux), gradient).

    Raises:
        NonScalarOutputError: fun returned something else than one number; the others of `grad`.
    """
    check_flag(has_aux, "has_aux", "value_and_grad")
    return ValueAndGrad(fun, argnums, has_aux)


class Pullback(OfOneCall):
    """out_bar -> a tuple of cotangents, one for each primal. It may be called again and again."""

    __dir__ = listing("fun")

    def __init__(self, trace: Trace, out: Any, lifted: Any) -> None:
        self.fun, self.trace = trace.fun, trace
        self.lifted = lifted
        outs, self.structure = flatten(out)
        self.nodes = [x.node if type(x) is Array and x.within is trace else None for x in outs]
        self.specs = [spec_of(x) if holds_numbers(x) else None for x in outs]
        self.objects = [kind_of(x) for x in outs if not (holds_numbers(x) or is_static(x))]
        self.plain = not any(type(x) is Array and type(x.payload) is Array for x in outs)
        self.lock = threading.RLock()
        narrowing = trace.narrowing
        self.narrowing = narrowing if narrowing is not None and narrowing.narrows else None

    def __call__(self, *out_bar: Any) -> tuple[Any, ...]:
        """Args: out_bar: one tree like the output, with arrays of its shapes.

        Raises:
            ShapeError: a cotangent has another shape than the output; nothing is broadcast.
            ArgumentError: the tree is another one.
        """
        asker = lambda: f"The pullback of `{name_of(self.fun)}`"
        if len(out_bar) != 1:
            one = "np.ones_like(out)" if self.structure is None else "(v, w)"
            raise ArgumentTypeError(
                f"{asker()} takes one argument, a cotangent like the output, but got"
                f" {len(out_bar)}.\n  Write `pullback({one})`."
            )
        bars = branches(out_bar[0], self.structure, "a cotangent", asker)
        seeds, taken = [], set()
        for node, spec, bar in zip(self.nodes, self.specs, bars, strict=True):
            if spec is None:
                if bar is not None and self.objects:
                    raise ArgumentTypeError(
                        f"{asker()} takes no cotangent for {self.objects[0]}, which isn't a tree"
                        " of numbers.\n  Return its parts, or register its class with"
                        " `pullback.register_tree`."
                    )
            else:
                bar = conform(bar, spec, "a cotangent", asker)
                taken.add(id(bar))
            if node is not None:
                seeds.append((node, bar))
        plain = self.plain and Array not in map(type, bars)
        with self.lock:
            backward(seeds, retain=True, fun=self.fun, plain=plain)
            found = tuple(cotangents(self.lifted, taken))
        narrowing, zero = self.narrowing, False
        if seeds and self.trace.many_decisions(True):
            zero = self.trace.led_beside(bars, primals_of(self.lifted), flatten(found)[0])
        if seeds and narrowing is not None and not zero:
            self.narrowing = None
            with self.lock:
                judge(self.trace, narrowing, self.lifted, found)
        return found

    def __repr__(self) -> str:
        return f"<pullback of {name_of(self.fun)}>"


@usage("vjp(f, x)")
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
        fun: a function of arrays, numbers, or trees of them; the shape of its output is any.
        primals: arrays, numbers or trees of them.
        has_aux: fun returns (output, aux); the result is (output, pullback, aux).

    Raises:
        DtypeError: a primal is an integer array.
    """
    check_function(fun, "vjp")
    if not primals and needs_arguments(fun):
        raise ArgumentTypeError(
            f"`vjp` was given `{name_of(fun)}` without arguments.\n"
            "  They come in the same call: `out, pullback = vjp(f, x)`."
        )
    return pulled_back(fun, primals, "vjp", has_aux)


def pulled_back(fun: Any, primals: Sequence[Any], verb: str, has_aux: bool = False) -> Any:
    """vjp, for messages of `verb`."""
    trace = ReverseTrace(verb, fun)
    args, lifted = lift(trace, primals, range(len(primals)))
    try:
        out, aux = run_staged(trace, args, {}), None
        if has_aux:
            out, aux = split_aux(out, fun, verb, trace)
            aux = settle_tree(aux, trace)
        outs, structure = flatten(out)
        check_output(out, outs, verb, fun)
        out = unflatten(structure, [settle(x, trace) for x in outs])
        trace.led(outs, any(type(x) is Array and x.within is trace for x in outs))
        pullback = Pullback(trace, out, lifted)
        out = settle_tree(out, trace)
    finally:
        trace.end()
    return (out, pullback, aux) if has_aux else (out, pullback)
