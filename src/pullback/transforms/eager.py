"""The eager style: `array`, `.backward()`, `.grad`, `no_grad`.

Outside of transformations there's one eager trace for the whole process. Each running
transformation has its own, created when it's needed, so it's younger than the transformation. That
makes `.backward()` inside `grad(f)` right.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from sys import getrefcount
from typing import Any, Never, NoReturn

import numpy as np

from ..core.array import Array, is_number, snapshot
from ..core.errors import (
    ArgumentError,
    ArgumentTypeError,
    DtypeError,
    NonScalarOutputError,
    PullbackError,
    ShapeError,
)
from ..core.messages import brief, check_flag
from ..core.node import constant_node
from ..core.operands import as_array, holds_arrays
from ..core.primitive import Primitive
from ..core.reach.namespaces import library
from ..core.spec import Spec, is_inexact, spec_of
from ..core.storage import current, lend, root_storage
from ..core.temporary import during
from ..core.trace import CONSTANT, STARTS, Trace, bind, running, youngest
from ..core.usage import refuse_keywords, usage
from .arguments import refuse_ended
from .backward import backward, harvest
from .conversions import way_to_array
from .retained import Leaf, Retained, follow, note_parentless
from .returned import fresh
from .reverse import ReverseTrace
from .seeds import conform
from .transformation import Decorating


class EagerState:
    """What an eager trace keeps: a lock for backward passes, and which Arrays retain a gradient."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.retained: dict[int, Retained] = {}  # by the id of the Array, as long as that lives


class EagerTrace(ReverseTrace):
    """A reverse trace whose leaves keep their gradients, and which `no_grad` suspends.

    While `no_grad` is in force somewhere, eager traces are of the class `GuardedTrace`, which asks
    in each operation whether it is here; at other times no operation pays for that.
    """

    __slots__ = ()
    eager = True
    shares_copies = False  # it lives as long as the process

    def suspended(self) -> bool:
        return bool(SUSPENDED.anywhere) and SUSPENDED.here()

    def peels(self, x: Array) -> bool:
        return True

    def put(self, primitive: Any, x: Array, key: Any, v: Any) -> bool:
        if SUSPENDED.anywhere or type(x.node) is Leaf:
            return False
        return ReverseTrace.put(self, primitive, x, key, v)

    def unrecorded(self, primitive: Any, xs: tuple[Any, ...], static: dict[str, Any]) -> Any:
        """The result as a constant."""
        if youngest(xs) is not self:  # a view of what was assigned something younger
            return bind(primitive, xs, static)
        values = [
            x.payload if type(x) is Array and (x.within is self or x.within is CONSTANT) else x
            for x in xs
        ]
        out = primitive(*values, **static)
        if type(out) is tuple:
            return tuple([constant(part) for part in out])
        return constant(out)


class GuardedTrace(EagerTrace):
    """An eager trace while `no_grad` is in force somewhere."""

    __slots__ = ()
    writes_nodes = False

    def unary(self, primitive: Any, x: Array) -> Any:
        if SUSPENDED.here():
            return self.unrecorded(primitive, (x,), {})
        return ReverseTrace.unary(self, primitive, x)

    def binary(self, primitive: Any, x: Any, y: Any) -> Any:
        if SUSPENDED.here():
            return self.unrecorded(primitive, (x, y), {})
        return ReverseTrace.binary(self, primitive, x, y)

    beside, pair = Trace.beside, Trace.pair

    def item(self, primitive: Any, x: Array, key: Any) -> Any:
        if SUSPENDED.here():
            return Trace.item(self, primitive, x, key)
        return ReverseTrace.item(self, primitive, x, key)

    def gather(
        self, primitive: Any, x: Array, key: Any, arrays: Any, reorders: bool = False
    ) -> Any:
        if SUSPENDED.here():
            return Trace.gather(self, primitive, x, key, arrays)
        return ReverseTrace.gather(self, primitive, x, key, arrays, reorders)

    single = Trace.single

    def process(self, primitive: Primitive, xs: tuple[Any, ...], static: dict[str, Any]) -> Any:
        if SUSPENDED.here():
            return self.unrecorded(primitive, xs, static)
        return ReverseTrace.process(self, primitive, xs, static)


EagerTrace.guarded = GuardedTrace  # type: ignore[attr-defined]  # for `debug_nans`


def constant(x: Any) -> Any:
    return x if type(x) is Array else Array(x, CONSTANT, None)


TRACES: weakref.WeakSet[EagerTrace] = weakref.WeakSet()  # that are not at their end
GROUND = EagerTrace("eager", state=EagerState())
TRACES.add(GROUND)


def eager_trace() -> EagerTrace:
    """The eager trace of the innermost running transformation, or of the ground."""
    outer = running()
    if outer is None:
        return GROUND
    if outer.inner is None:
        with GROUND.state.lock:  # threads of one transformation share the trace
            if outer.inner is None:
                with SUSPENDED.lock:
                    cls = GuardedTrace if SUSPENDED.anywhere else EagerTrace
                    inner = cls(f"eager inside {outer.name}", state=EagerState())
                    TRACES.add(inner)
                if STARTS.get() is not None:
                    STARTS.get()(inner)
                outer.inner = inner
    return outer.inner  # type: ignore[return-value]  # made above


class Suspended:
    """Whether `no_grad` is in force: somewhere in the process (cheap to ask), and here."""

    def __init__(self) -> None:
        self.anywhere = 0
        self.lock = threading.Lock()
        self.depth: ContextVar[int] = ContextVar("no_grad", default=0)

    def here(self) -> bool:
        return self.depth.get() > 0

    def change(self, by: int) -> None:
        with self.lock:
            self.anywhere += by
            if self.anywhere in (0, by):  # the last to leave, or the first to come
                was, now = EagerTrace, GuardedTrace
                if not self.anywhere:
                    was, now = now, was
                for trace in TRACES:
                    if type(trace) is was:
                        trace.__class__ = now

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """Suspend it once more."""
        self.change(1)
        try:
            with during(self.depth, self.depth.get() + 1):
                yield
        finally:
            self.change(-1)

    @contextmanager
    def lifted(self, wanted: bool) -> Iterator[None]:
        """Record although `no_grad` is in force, if so wanted."""
        with during(self.depth, 0 if wanted else self.depth.get()):
            yield


SUSPENDED = Suspended()


class no_grad(Decorating):  # a context manager, named as the field names it
    """Leave out recording for eager Arrays; a context manager and a decorator.

    >>> x = array(2.0, requires_grad=True)
    >>> with no_grad():
    ...     y = x * x
    >>> y.requires_grad
    False

    It touches eager Arrays only: `grad`, `jvp` and `vmap` go on inside.
    """

    def __new__(cls, fun: Any = None) -> Any:
        """A decorator with and without parentheses."""
        self = super().__new__(cls)
        return self if fun is None else self(fun)

    def block(self) -> AbstractContextManager[None]:
        return SUSPENDED.deeper()


def way_to_numbers_of(data: Any) -> str:
    """What to write for what NumPy makes no array of numbers of."""
    if isinstance(data, dict):
        return "Make one of each value: `{name: array(x) for name, x in d.items()}`."
    way = None if isinstance(data, (list, tuple, np.ndarray)) else way_to_array(data)
    if way is None or way in ("dict(x)", "vars(x)"):  # trees, which are no arrays either
        return "Give numbers, or nested lists of one shape."
    return f"Write `pullback.array({way})`."


@usage("array(x, requires_grad=True)")
def array(data: Any, dtype: Any = None, requires_grad: bool = False) -> Array:
    """Make an Array: a constant, or with `requires_grad` one that collects a gradient.

    >>> x = array(3.0, requires_grad=True)
    >>> (x * x).backward()
    >>> x.grad
    np.float64(6.0)

    Args:
        data: a number, an array, or nested lists of numbers and Arrays; the derivative of Arrays
            in a list is kept. The values are copied.
        dtype: of the result; by default as `numpy.array` has it.
        requires_grad: make a leaf, whose `.grad` `.backward()` fills.

    Raises:
        DtypeError: `requires_grad` of integers or truth values.
    """
    if requires_grad is not False:
        check_flag(requires_grad, "requires_grad", "array")
    if holds_arrays(data):
        made = as_array(data)
        if dtype is not None:
            made = made.astype(dtype)
    else:
        if type(data) is Array:
            refuse_ended(data, "`array` was given")
            made = np.copy(data) if dtype is None else data.astype(dtype)
        else:
            made = read(data, dtype)
            if not isinstance(made, (np.ndarray, np.generic)) or made.dtype.kind not in "biufc":
                raise ArgumentTypeError(
                    f"`array` makes arrays of numbers, but got {type(data).__name__} that NumPy"
                    f" reads as {made.dtype if isinstance(made, np.ndarray) else 'object'}.\n"
                    f"  {way_to_numbers_of(data)}"
                )
    if not requires_grad:
        return made if type(made) is Array else Array(made, CONSTANT, None)
    if type(made) is Array and made.within is CONSTANT:
        made = made.payload
    trace = eager_trace()
    if type(made) is Array and made.within.birth >= trace.birth:
        raise ArgumentError(
            "`array(..., requires_grad=True)` makes a leaf, but its data depend on other Arrays"
            f" of `{made.within.name}`.\n"
            "  Leave `requires_grad` out to keep the derivative, or write `x.detach()` to cut it."
        )
    return leaf_of(made, trace)


def read(data: Any, dtype: Any) -> Any:
    """Data as NumPy reads them."""
    try:
        made = np.array(data, dtype=dtype)
        return made if made.ndim else made[()]
    except (TypeError, ValueError) as error:
        if isinstance(dtype, (int, float, complex, list, np.ndarray)):
            raise ArgumentTypeError(
                f"`array` takes the numbers as one argument and then a dtype, but got"
                f" {brief(dtype)} as dtype.\n  Write `array([x, y])`, with a list."
            ) from None
        if "inhomogeneous" in str(error):
            raise ShapeError(
                "`array` makes arrays, but got lists of different lengths, which have no shape.\n"
                "  Make one of each: `[array(row) for row in rows]`."
            ) from None
        raise


def leaf_of(value: Any, trace: EagerTrace) -> Array:
    if not is_inexact(value.dtype):
        raise DtypeError(
            f"`requires_grad` was asked of {spec_of(value)}; a gradient needs real or complex"
            " floating numbers.\n  Write `array(2.0, requires_grad=True)` or give `dtype=float`."
        )
    return Array(value, trace, Leaf(value))


# The methods and attributes of the eager door on Array.


def run_backward(
    self: Array,
    gradient: Any = None,
    create_graph: bool = False,
    retain_graph: bool | None = None,
    **unknown: Never,
) -> None:
    """Add the gradient of this number to `.grad` of all leaves that it depends on.

    Args:
        gradient: the cotangent of this Array, of its shape; needed unless it is one real number.
        create_graph: make `.grad` an Array that can be differentiated again.
        retain_graph: keep the graph for another pass; by default as create_graph.

    Raises:
        NonScalarOutputError: the Array is not one number and no `gradient` is given.
        DtypeError: it is a complex number and no `gradient` is given.
        PullbackError: the graph is spent; or the Array belongs to a transformation.
    """
    if unknown:
        refuse_keywords(run_backward, unknown, "x.backward")
    if create_graph is not False:
        check_flag(create_graph, "create_graph", "backward")
    if retain_graph is not None:
        check_flag(retain_graph, "retain_graph", "backward")
    trace = current(self).within
    if not trace.eager:
        refuse(self, "backward")
    spec = spec_of(self)
    if gradient is None:
        if spec.shape or spec.dtype.kind == "c":
            refuse_without_gradient(spec)
        gradient = spec.dtype.type(1)
    else:
        gradient = conform(gradient, spec, "a gradient", lambda: "`backward`")
        if not create_graph and type(gradient) is Array and gradient.within is trace:
            gradient = gradient.payload
    retain = create_graph if retain_graph is None else retain_graph
    with trace.state.lock, SUSPENDED.lifted(create_graph):
        if trace.state.retained:
            follow(trace)
        record = trace if create_graph else None
        plain = type(self.payload) is not Array is not type(gradient)
        leaves = backward([(self.node, gradient)], retain or create_graph, record, plain=plain)
        taken = {id(gradient)}
        for leaf in leaves:
            if type(leaf) is not Leaf:
                note_parentless(leaf, trace)
                continue
            bar = harvest(leaf, leaf.primal, taken, None if create_graph else trace)
            if create_graph and not (type(bar) is Array and bar.within is trace):
                bar = Array(bar, trace, constant_node())
            leaf.grad = bar if leaf.grad is None else leaf.grad + bar
            taken.add(id(leaf.grad))


def refuse_without_gradient(spec: Spec) -> NoReturn:
    """Raise for an Array whose `backward` needs a gradient."""
    if spec.shape:
        raise NonScalarOutputError(
            f"`backward` needs one real number, but this Array is {spec}.\n"
            "  Sum it (`x.sum().backward()`), or give its cotangent:"
            " `x.backward(gradient=np.ones_like(x))`."
        )
    raise DtypeError(
        f"`backward` needs a real number, but this Array is {spec}.\n"
        "  Take its `.real`, `.imag` or `abs`, or give its cotangent:"
        " `x.backward(gradient=1.0)`."
    )


def refuse(x: Array, asked: str) -> None:
    """Raise for an Array that is not eager."""
    if x.within is CONSTANT:
        raise PullbackError(
            f"`{asked}` was called on an Array {spec_of(x)} that depends on nothing that requires"
            " a gradient.\n  Make its inputs with `array(..., requires_grad=True)`, outside"
            " `no_grad`."
        )
    if x.within.ended:
        x.within.concrete(x, f"x.{asked}()")
    raise PullbackError(
        f"`{asked}` was called on an Array {x.within.spec(x)} of `{x.within.name}`, which computes"
        " derivatives itself.\n"
        f"  Return the number from the function, or call `{asked}` on eager Arrays only."
    )


def retain_grad(self: Array) -> None:
    """Let `.backward()` fill `.grad` of this Array, which is computed from others."""
    trace = current(self).within
    if not trace.eager:
        refuse(self, "retain_grad")
    if type(self.node) is not Leaf and id(self) not in trace.state.retained:
        trace.state.retained[id(self)] = Retained(self, trace.state)
        trace.state.retained[id(self)].follow(trace)


def deep_copy(self: Array, memo: Any) -> Array:
    """A copy of a leaf is a leaf with a gradient of its own; others keep their derivative."""
    if type(current(self).node) is not Leaf:
        return self.copy("K")
    copied = leaf_of(fresh(self.payload), self.within)
    copied.node.grad = fresh(self.node.grad)
    return copied


def get_grad(self: Array) -> Any:
    node = current(self).node
    if type(node) is Leaf:
        return node.grad
    held = self.within.state.retained.get(id(self)) if self.within.eager else None
    return None if held is None else held.grad


def set_grad(self: Array, value: Any) -> None:
    if type(self.node) is not Leaf:
        raise ArgumentError(
            "`.grad` can be set on a leaf only, made with `array(..., requires_grad=True)`."
        )
    if value is not None:
        value = conform(value, spec_of(self), "a gradient", lambda: "`x.grad`")
    self.node.grad = value


def zero_grad(self: Array) -> None:
    """Set `.grad` to None."""
    if type(self.node) is Leaf:
        self.node.grad = None
    elif self.within.eager and id(self) in self.within.state.retained:
        self.within.state.retained[id(self)].grad = None


def get_requires_grad(self: Array) -> bool:
    return current(self).within.eager


def set_requires_grad(self: Array, value: bool) -> None:
    if value == current(self).within.eager:
        return
    if value and self.within is CONSTANT:
        leaf = leaf_of(self.payload, eager_trace())
        self.within, self.node = leaf.within, leaf.node
    elif not value and type(self.node) is Leaf:
        inner = self.payload  # an Array of the transformation around, or plain
        made = snapshot(inner) if type(inner) is Array else Array(inner, CONSTANT, None)
        self.payload, self.within, self.node = made.payload, made.within, made.node
    else:
        raise ArgumentError(
            f"`requires_grad` cannot be changed on an Array of `{self.within.name}` that is"
            " computed from others.\n  Write `x.detach()` for its values without derivative."
        )


def get_data(self: Array) -> Any:
    """The values of a constant or an eager Array, on memory of their own.

    Libraries look for `.data` to compute with it: what is computed from leaves refuses them.
    """
    ours = type(current(self).node) is Leaf or self.within is CONSTANT
    if self.within is CONSTANT and running() is not None:
        lend(self, out := fresh(self.payload), "x.data")
        return out
    if ours or (self.within.eager and not library(sys._getframe(1).f_globals)):
        return fresh(self.payload)
    out = np.array(self.converted("x.data"))
    lend(self, out, "x.data")
    return out[()]


def is_held(x: Array, others: int) -> bool:
    """Whether somebody else may hold the value of x: views do, and graphs not gone through yet.

    A leaf that took part in views at any time would pay for it in each operation.
    """
    value = x.payload
    if getrefcount(value) > others:
        return not is_number(x)
    return type(value) is np.ndarray and value.base is not None


ALONE = 0  # of a leaf that has its value to itself, how many are counted in `is_held`
while is_held(leaf_of(np.zeros(1), GROUND), ALONE):
    ALONE += 1


def set_data(self: Array, value: Any) -> None:
    if not (self.within is CONSTANT or type(self.node) is Leaf):
        raise ArgumentError(
            f"`.data` can be assigned on a leaf only, but this Array of `{self.within.name}` is"
            " computed from others."
        )
    value = conform(value, spec_of(self), "data", lambda: "`x.data`")
    trace = self.within
    if type(value) is Array and value.within is trace:
        value = value.payload  # a step along a gradient that has a graph of its own
    if type(value) is Array and (trace is CONSTANT or value.within.birth > trace.birth):
        raise ArgumentError(
            f"`.data` of an Array of `{trace.name}` was assigned an Array of `{value.within.name}`,"
            " whose derivative would be lost.\n"
            "  Give a name to the new Array (`x = y`), or assign `y.detach()`."
        )
    storage = self.storage
    if storage is not None and storage.root is not None:
        self[...] = value  # a view: what it is a view of changes, too
        return
    if storage is not None:
        current(self)
        storage.version += 1  # its views are read again
    elif is_held(self, ALONE if type(self.node) is Leaf else ALONE - 1):
        self.storage = root_storage()
        self.storage.version = 1
    self.payload = fresh(value)
    if type(self.node) is Leaf:
        self.node.primal = self.payload


# `core` knows nothing of eager mode: what it adds to Array is put there here.
for name, member in {
    "backward": run_backward,
    "retain_grad": retain_grad,
    "zero_grad": zero_grad,
    "__deepcopy__": deep_copy,
    "grad": property(get_grad, set_grad),
    "requires_grad": property(get_requires_grad, set_requires_grad),
    "data": property(get_data, set_data),
}.items():
    setattr(Array, name, member)
