"""What all transformations share: checks of arguments on the way in, of results on the way out."""

from __future__ import annotations

import functools
import inspect
import math
import types
from collections.abc import Callable, Sequence
from dataclasses import is_dataclass
from typing import Any, NoReturn, cast

import numpy as np
from numpy import ndarray

from ..core.array import Array, peel, snapshot
from ..core.during import Within
from ..core.errors import (
    ArgumentError,
    ArgumentTypeError,
    DtypeError,
    EscapedError,
    ShapeError,
    kind_of,
    name_of,
)
from ..core.layout import WRITEABLE, duplicate
from ..core.locked import locked_as, locked_copy
from ..core.messages import brief, describe
from ..core.node import COPIED_ARGUMENT, Kept
from ..core.reach.instrument import Context
from ..core.reach.walk import OURS
from ..core.spec import DOUBLE, Spec, hardened, is_inexact, spec_of
from ..core.storage import current
from ..core.trace import CONSTANT, Trace
from ..core.tree import flatten, is_static, paths, unflatten
from ..core.usage import USAGE
from .conversions import named, users_class, way_to_array, way_to_numbers

PACKAGE = __name__.partition(".")[0] + "."


class Transformation:
    """A transformed function. It shows the function that it transforms as `.fun`."""

    verb = "transformation"

    def __init_subclass__(cls) -> None:
        if cls.__module__.startswith(PACKAGE):
            OURS.add(cls)

    def __init__(self, fun: Callable[..., Any]) -> None:
        check_function(fun, self.verb)
        self.fun = self.__wrapped__ = fun
        self.__name__ = getattr(fun, "__name__", type(fun).__name__)
        self.__qualname__ = f"{self.verb}({name_of(fun)})"
        self.__doc__ = getattr(fun, "__doc__", None)
        self.__module__ = getattr(fun, "__module__", __name__)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(cast(Any, self), instance)

    def __repr__(self) -> str:
        return f"<{self.__qualname__}>"


class Decorating(Within, metaclass=Context):
    """A context manager without arguments that also decorates functions."""

    def __call__(self, fun: Callable[..., Any]) -> Callable[..., Any]:
        context = type(self)
        check_function(fun, context.__name__)

        @functools.wraps(fun)
        def call(*args: Any, **kwargs: Any) -> Any:
            with context():
                return fun(*args, **kwargs)

        return call


PROMPT = frozenset({np.ufunc, type(np.sum), types.BuiltinFunctionType})  # whose body runs at once
# What turns a function into an attribute of a class.
DESCRIPTORS = (staticmethod, classmethod, property, functools.cached_property)
DEFERRING = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_GENERATOR


def check_function(fun: Any, verb: str) -> None:
    if isinstance(fun, DESCRIPTORS):
        name = type(fun).__name__
        raise ArgumentTypeError(
            f"`{verb}` takes a function, but got {kind_of(fun)}, which must be applied last.\n"
            f"  Write `@{name}` above `@pullback.{verb}`."
        )
    if not callable(fun):
        raise ArgumentTypeError(
            f"`{verb}` takes a function, but got {kind_of(fun)}.\n"
            f"  Write `{USAGE.get(verb, f'{verb}(f)(x)')}`, with the function itself and not its"
            " result."
        )
    if type(fun) is types.FunctionType:
        if not fun.__code__.co_flags & DEFERRING:
            return
    elif type(fun) in PROMPT or isinstance(fun, Transformation):
        return
    for kind, test in (
        ("a coroutine function", inspect.iscoroutinefunction),
        ("an asynchronous generator", inspect.isasyncgenfunction),
        ("a generator function", inspect.isgeneratorfunction),
    ):
        if test(fun) or test(getattr(fun, "__call__", None)):  # noqa: B004  # the method itself
            raise ArgumentTypeError(
                f"`{verb}` was given `{name_of(fun)}`, {kind}, whose body runs after the"
                f" transformation has ended.\n  {instead_of_waiting(kind, verb, fun)}"
            )


def instead_of_waiting(kind: str, verb: str, fun: Any) -> str:
    """What to write for a function whose body runs later."""
    call = "f" if "<" in name_of(fun) else name_of(fun)
    if kind == "a generator function":
        return f"Add up what it yields, `{verb}(lambda x: sum({call}(x)))`, or return a list of it."
    if kind == "a coroutine function":
        return (
            f"Wait for its result, `{verb}(lambda x: asyncio.run({call}(x)))`, or write it as an"
            " ordinary function, which coroutines may call."
        )
    return "Write it as an ordinary function, which coroutines may call."


def meant_by(argnums: Any, verb: str) -> str:
    """What to write where argnums is no position."""
    if verb == "jacobian" and isinstance(argnums, str) and argnums in ("forward", "reverse"):
        return f"Write `{verb}(f, mode={argnums!r})`."
    if argnums is None or isinstance(argnums, (str, tuple, list)):
        return f"Arguments are counted from 0: write `{verb}(f, argnums=0)` for the first."
    if isinstance(argnums, float) and argnums.is_integer():
        return f"Write `{verb}(f, argnums={int(argnums)})`."
    return f"The arguments come in a call of their own: `{USAGE[verb]}`."


class Selection:
    """The arguments that `argnums` selects, checked once when the transformation is made."""

    def __init__(self, argnums: int | Sequence[int], verb: str) -> None:
        self.verb = verb
        several = tuple(argnums) if isinstance(argnums, (tuple, list, range)) else None
        self.single = several is None
        numbers: tuple[Any, ...] = (argnums,) if several is None else several
        if not all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in numbers):
            raise ArgumentTypeError(
                f"`{verb}` takes an int or a tuple of ints as argnums, but got {brief(argnums)}.\n"
                f"  {meant_by(argnums, verb)}"
            )
        self.numbers, self.argnums = numbers, argnums
        # How many arguments there must be for the numbers to be positions as they are.
        plain = all(n >= 0 for n in numbers) and len(set(numbers)) == len(numbers)
        self.needs = max(numbers, default=-1) + 1 if plain else None

    def positions(self, fun: Any, args: Any, kwargs: dict[str, Any]) -> Sequence[int]:
        """Where the selected arguments stand in args."""
        n = len(args)
        if self.needs is not None and n >= self.needs:
            for position in self.numbers:
                if type(args[position]) not in LEAVES:
                    break
            else:
                return self.numbers
        positions = [i + n if i < 0 else i for i in self.numbers]
        for number, position in zip(self.numbers, positions, strict=True):
            if not 0 <= position < n:
                self.absent(fun, number, n, kwargs)
        if len(set(positions)) != len(positions):
            raise ArgumentError(
                f"`{self.verb}({name_of(fun)})` was given argnums={self.argnums}, which selects an"
                " argument twice.\n  Name each argument once:"
                f" `argnums={tuple(dict.fromkeys(positions))}`."
            )
        for position in positions:
            arg = args[position]
            another = arg is None and could_be_meant(args)
            if another or (type(arg) is not ndarray and is_static(arg)):
                raise ArgumentTypeError(
                    f"`{self.verb}({name_of(fun)})` differentiates argument {position}, which is"
                    f" {kind_of(arg)}; only numbers, arrays and trees of them can be"
                    f" differentiated.\n  {self.suggested(arg, args)}"
                )
        return positions

    def suggested(self, arg: Any, args: Any) -> str:
        """What to write for an argument that cannot be differentiated."""
        if others := could_be_meant(args):
            return f"Select another argument with `argnums={others[0]}`."
        way = None if arg is None else way_to_array(arg)
        return f"Pass `{way}`." if way else "Pass a number or an array."

    def absent(self, fun: Any, number: int, n: int, kwargs: dict[str, Any]) -> None:
        names = parameters(fun)
        name = names[number] if -len(names) <= number < len(names) else None
        if name in kwargs:
            raise ArgumentTypeError(
                f"`{self.verb}({name_of(fun)})` differentiates argument {number}, `{name}`, which"
                f" was passed by keyword.\n  Pass it by position: `{self.verb}(f)({name})`."
            )
        raise ArgumentTypeError(
            f"`{self.verb}({name_of(fun)})` differentiates argument {number}, but was called with"
            f" {n} positional argument{'s' if n != 1 else ''}.\n"
            f"  Pass it by position, or change argnums={self.argnums}"
            + (f": the last argument has `argnums={n - 1}`." if n else ".")
        )

    def pick(self, results: Sequence[Any]) -> Any:
        """One result for an int, a tuple for a tuple."""
        return results[0] if self.single else tuple(results)


def refuse_ended(x: Array, asked: str) -> None:
    """Raise for an Array that outlived its transformation."""
    if current(x).within.ended:
        raise EscapedError(
            f"{asked} an Array of `{x.within.name}`, which has ended.\n"
            "  Use `x.numpy()` for its value."
        )


def as_primal(
    leaf: Any,
    verb: str,
    fun: Any,
    position: int,
    watched: list[Kept] | None,
    within: tuple[Any, int] | None = None,
) -> Any:
    """A leaf of a differentiated argument as a value that nobody else writes to.

    A Python number counts as a float; an ndarray is copied, or if it is large and there is a
    list for that, watched: the caller checks at the end that it has not changed.
    within: of a leaf of a tree, that and its number there.
    """
    kind = type(leaf)
    if kind is float or kind is complex:
        return leaf  # as long as Python's operators alone touch it, it is as without pullback
    if kind is ndarray and leaf.dtype.kind in "fc":
        if watched is None or leaf.nbytes <= COPIED_ARGUMENT:
            copy = duplicate(leaf)
            return copy if leaf.flags.num & WRITEABLE else locked_copy(copy, leaf)
        watched.append(Kept(leaf))
        return leaf
    if kind is Array:
        trace = (leaf if leaf.storage is None else current(leaf)).within
        if trace.ended:
            refuse_ended(leaf, f"`{verb}({name_of(fun)})` was given")
        value = leaf.payload
        if (type(value) is ndarray and value.dtype is DOUBLE) or is_inexact(leaf.dtype):
            leaf = locked_as(leaf, snapshot(leaf))
            if leaf.within is not CONSTANT:
                return leaf
            value = leaf.payload
            return value if leaf.storage is None else locked_copy(value.copy(), value)
    if isinstance(leaf, np.generic) and leaf.dtype.kind in "fc":
        return leaf
    if isinstance(leaf, (float, complex)):
        return np.asarray(leaf)[()]
    if kind is int and within is None:
        return float(leaf)
    if kind is np.memmap and leaf.dtype.kind in "fc":
        return duplicate(np.asarray(leaf))
    refuse_leaf(leaf, f"`{verb}({name_of(fun)})`", fun, position, within)


def refuse_leaf(
    leaf: Any, what: str, fun: Any, position: int, within: tuple[Any, int] | None
) -> NoReturn:
    """Say why a leaf of an argument cannot be differentiated; what: the transformation."""
    if within is not None and is_dataclass(within[0]) and hasattr(within[0], "__array__"):
        leaf, within = within[0], None
    kind = type(leaf)
    if isinstance(leaf, np.ma.MaskedArray):
        raise ArgumentTypeError(
            f"{what} was given a masked array for argument {position}.\n"
            "  Pass the data and the mask separately, and select with `np.where(mask, x, 0)`."
        )
    where = f"argument {position}"
    if within is not None:
        where = f"`{path_of(*within, fun, position)}`, a leaf of argument {position}"
    leave = "leave it out of argnums" if within is None else "pass it as an argument of its own"
    if isinstance(leaf, (int, ndarray, np.generic)) and np.asarray(leaf).dtype.kind not in "fc":
        write = "x.astype(float)`, `float(n)"
        if within is not None and isinstance(within[0], (list, tuple)):
            write = way_to_array(within[0]) or write
        if isinstance(leaf, ndarray) and leaf.dtype.kind in "OVSU":
            write = way_to_numbers(leaf) or write
        raise DtypeError(
            f"{what} differentiates {where}, which is {spec_of(leaf)};"
            " a derivative needs real or complex floating numbers.\n"
            f"  Write `{write}`, or {leave}."
        )
    if isinstance(leaf, ndarray) and kind not in (Array, ndarray, np.memmap):
        raise ArgumentTypeError(
            f"{what} was given {kind_of(leaf)} for argument {position}, whose"
            " operations differ from an ndarray's.\n"
            "  Pass `np.asarray(x)`."
        )
    if hasattr(leaf, "tocsr") and kind.__module__.startswith("scipy."):
        raise ArgumentTypeError(
            f"{what} was given {kind_of(leaf)} for argument {position}, which stores its numbers in"
            " lists or a dict.\n  Pass `A.tocsr()`, whose gradient is a sparse array, too."
        )
    way = way_to_array(leaf)
    if way is None and users_class(leaf) and parameters(fun)[: position + 1] == ["self"]:
        verb, owner = what.strip("`").partition("(")[0], type(leaf).__name__
        raise ArgumentTypeError(
            f"{what} differentiates argument 0, which is `self`, {named(leaf)}.\n"
            f"  Write `pullback.{verb}(model.{getattr(fun, '__name__', 'loss')})(x)` without the"
            f" decorator, or make `{owner}` a tree:"
            f" `pullback.register_tree({owner}, flatten, unflatten)`."
        )
    if way is None and users_class(leaf):
        way = f"pullback.register_tree({type(leaf).__name__}, flatten, unflatten)"
    raise ArgumentTypeError(
        f"{what} differentiates {where}, which is {named(leaf)};"
        " only numbers, NumPy arrays and trees of them can be differentiated.\n"
        + (f"  Write `{way}`, or {leave}." if way else f"  {leave[0].upper() + leave[1:]}.")
    )


def path_of(arg: Any, number: int, fun: Any, position: int) -> str:
    """A leaf of an argument as a program would write it: `params["w"][0]`."""
    names = parameters(fun)
    return paths(arg, names[position] if position < len(names) else f"args[{position}]")[number]


def parameters(fun: Any) -> list[str]:
    """The names of a function's parameters; none where it does not tell."""
    try:
        return list(inspect.signature(fun).parameters)
    except (TypeError, ValueError):
        return []


def needs_arguments(fun: Any) -> bool:
    """Whether a function cannot be called with nothing."""
    try:
        inspect.signature(fun).bind()
    except TypeError:
        return True
    except ValueError:  # it does not tell
        return False
    return False


LEAF_STATIC = (False,)
LEAVES = frozenset({Array, np.ndarray, np.float64, np.float32, float})  # told at a glance


class Lifted:
    """A differentiated argument: its leaves as values, and how to put a tree together again."""

    static: Sequence[bool]

    def __init__(
        self, arg: Any, verb: str, fun: Any, position: int, watched: list[Kept] | None = None
    ) -> None:
        self.leaf = type(arg) in LEAVES
        if self.leaf:
            self.structure, self.static = None, LEAF_STATIC
            self.primals = [as_primal(arg, verb, fun, position, watched)]
            return
        leaves, self.structure = flatten(arg)
        alone = self.structure is None
        if alone and not is_static(arg):
            self.static = [False]
            self.primals = [as_primal(arg, verb, fun, position, watched)]
        else:
            alone = len(leaves) == 1 and leaves[0] is arg
            self.static = [is_static(leaf) for leaf in leaves]
            self.primals = [
                leaf
                if static
                else as_primal(leaf, verb, fun, position, watched, None if alone else (arg, i))
                for i, (leaf, static) in enumerate(zip(leaves, self.static, strict=True))
            ]

    def map(self, f: Callable[[Any], Any], static: Any = None) -> Any:
        """The tree with f(primal) for each leaf; static leaves stay, or are None if so asked."""
        if self.leaf:
            return f(self.primals[0])
        return unflatten(
            self.structure,
            [
                (None if static == "none" else x) if is_static else f(x)
                for x, is_static in zip(self.primals, self.static, strict=True)
            ],
        )

    @property
    def differentiated(self) -> list[Any]:
        return [x for x, static in zip(self.primals, self.static, strict=True) if not static]


DEFERRED = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)


def settle(x: Any, trace: Trace) -> Any:
    """Check a result of f at the end of a trace: of it, of an older live one, or plain."""
    if type(x) is Array:
        if x.storage is None and x.within is trace:
            return x
    else:
        if isinstance(x, DEFERRED):
            raise ArgumentTypeError(
                f"`{name_of(trace.fun)}` returned {kind_of(x)} to `{trace.verb}`; its body"
                " would run after the transformation has ended.\n"
                + (
                    "  Return the awaited result: `return asyncio.run(coroutine)`."
                    if isinstance(x, types.CoroutineType)
                    else "  Return its sum, `return sum(values)`, or its values, `list(values)`."
                )
            )
        return x
    other = current(x).within
    if other.unread:
        return settle(other.read(x), trace)
    if other is trace:
        return x
    if other.ended:
        raise EscapedError(
            f"`{name_of(trace.fun)}` returned to `{trace.name}` an Array of `{other.name}`, which"
            f" has ended.\n  Return it from `{other.verb}` as a result, not through a variable;"
            " `grad`, `value_and_grad` and `vjp` also take `has_aux=True`."
        )
    if other.birth > trace.birth:
        raise EscapedError(
            f"`{name_of(trace.fun)}` returned an Array of `{other.name}`, which began inside"
            f" `{trace.name}` and cannot outlive it.\n"
            "  Return `x.detach()`, or its `.grad`, instead."
        )
    return fresh(x.payload) if other is CONSTANT else x


def fresh(x: Any) -> Any:
    """x on memory of its own, and an Array as an object of its own."""
    if type(x) is Array:
        return snapshot(x)
    return x.copy("K") if type(x) is ndarray else hardened(x)


def settle_tree(tree: Any, trace: Trace) -> Any:
    """aux and other outputs, without this trace: fresh, and plain if no other trace runs."""
    leaves, structure = flatten(tree)
    out = []
    for leaf in leaves:
        leaf = settle(leaf, trace)
        if type(leaf) is Array and leaf.within is trace:
            leaf = fresh(trace.primal(leaf))
        out.append(leaf)
    return unflatten(structure, out)


def check_output(out: Any, leaves: list[Any], verb: str, fun: Any) -> None:
    """Raise for an output that holds no number: None, a truth value, text, an object.

    Among numbers in a tree such a leaf may stand.
    """
    if type(out) is Array and out.dtype.kind in "biufc":
        return
    alone = len(leaves) == 1 and leaves[0] is out and not isinstance(out, DEFERRED)
    if out is None or (
        alone and (is_static(out) or not holds_numbers(out) or kind_in(out) not in "biufc")
    ):
        raise ArgumentTypeError(
            f"`{verb}({name_of(fun)})` needs a number, an array or a tree of them as output, but"
            f" `{name_of(fun)}` returned {describe(out)}.\n"
            + (
                f"  End `{name_of(fun)}` with what you want to differentiate: `return value`."
                if out is None
                else "  Return its numbers, or register its class with `pullback.register_tree`."
            )
        )


def kind_in(out: Any) -> str:
    """The kind of dtype of an array or a NumPy scalar; "f" for all else."""
    known = type(out) is Array or isinstance(out, (ndarray, np.generic))
    return out.dtype.kind if known else "f"


def holds_numbers(x: Any) -> bool:
    """Whether a leaf of a result is a number or an array, of any library.

    A `LinearOperator`, for one, has a shape and a dtype, and is no array.
    """
    return isinstance(x, (ndarray, np.generic, int, float, complex)) or (
        hasattr(x, "dtype") and hasattr(x, "__array_function__")
    )


def branches(tree: Any, structure: Any, what: str, asker: Callable[[], str]) -> list[Any]:
    """What stands in a tree of tangents or cotangents at the leaves of a structure.

    asker: for messages, who takes it.
    """
    if structure is None:
        return [tree]
    try:
        return structure.flatten_up_to(tree)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"{asker()} takes {what} with the tree {shown(structure)}, but got"
            f" {shown(flatten(tree)[1]) or describe(tree)}.\n"
            "  Give the same containers and keys, with a number or an array in place of each star."
        ) from None


def shown(structure: Any) -> str:
    """A tree in messages, with a star for each leaf: `[*, {'a': *}]`."""
    text = "" if structure is None else str(structure)
    return text.removeprefix("PyTreeSpec(").removesuffix(")").split(", namespace=")[0]


def could_be_meant(args: Any) -> list[int]:
    """The places of arguments with numbers to differentiate by."""
    return [i for i, arg in enumerate(args) if not (arg is None or is_static(arg))]


def unwrapped(tree: Any, spec: Spec) -> str:
    """What to write for a tangent or cotangent that is no array."""
    if isinstance(tree, (tuple, list)) and len(tree) == 1 and np.shape(tree[0]) == spec.shape:
        return f"  Write what is in the {type(tree).__name__}, `v[0]`."
    return "  Write `np.asarray(v)` around it if it holds numbers."


def of_shape(given: tuple[int, ...], shape: tuple[int, ...]) -> str:
    """What to write for a tangent or cotangent of another shape."""
    if math.prod(given) == math.prod(shape):
        way = "v.item()" if shape == () else f"np.reshape(v, {shape})"
        return f"Write `{way}` if these are its numbers."
    if shape == ():
        return "Give one number, such as `1.0`."
    try:
        fits = np.broadcast_shapes(given, shape) == shape
    except ValueError:
        fits = False
    if fits:
        return f"Nothing is broadcast here; write `np.broadcast_to(v, {shape})` if you want that."
    return f"Give one number for each of its elements, such as `np.ones({shape})`."


def conform(leaf: Any, spec: Spec, what: str, asker: Callable[[], str]) -> Any:
    """A tangent or cotangent as the caller gave it: of the right shape, cast to the right dtype."""
    if type(leaf) is Array:
        if current(leaf).within.ended:
            refuse_ended(leaf, f"{asker()} was given {what} that is")
        leaf = peel(leaf) if leaf.within is CONSTANT else snapshot(leaf)
    if type(leaf) is not Array and not isinstance(leaf, (ndarray, np.generic)):
        if not isinstance(leaf, (int, float, complex)):
            raise ArgumentTypeError(
                f"{asker()} takes {what} of {spec}, but got {describe(leaf)}.\n"
                + unwrapped(leaf, spec)
            )
        leaf = np.asarray(leaf)[()]
    if leaf.shape != spec.shape:
        raise ShapeError(
            f"{asker()} takes {what} of shape {spec.shape}, but got {leaf.shape}.\n"
            f"  {of_shape(leaf.shape, spec.shape)}"
        )
    if leaf.dtype != spec.dtype:
        if leaf.dtype.kind not in "fciu" or (leaf.dtype.kind == "c" and spec.dtype.kind != "c"):
            how = "v.real" if leaf.dtype.kind == "c" else f"v.astype({spec.dtype})"
            raise DtypeError(
                f"{asker()} takes {what} of {spec}, but got {spec_of(leaf)}.\n"
                f"  Write `{how}` if that's what you want."
            )
        leaf = leaf.astype(spec.dtype)
    return leaf
