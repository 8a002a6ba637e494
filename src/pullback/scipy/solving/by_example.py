"""Calls under `vmap` that decide by values: which triangle, how many steps, which entries to drop.

The call is made for each example, and the results are stacked. If a call returns an object, such as
a triangulation, there's one object for each example, and its methods are called on each.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterator
from functools import partial
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    MethodType,
    ModuleType,
)
from typing import Any, NoReturn

import numpy as np

from ...core.array import Array
from ...core.errors import ArgumentTypeError, ConversionError
from ...core.in_place import SHOWN
from ...core.reach.class_members import BORING, contents, dict_of
from ...core.reach.session import Begun, Session
from ...core.reach.walk import OURS
from ...core.temporary import during
from ...core.tree import flatten, is_static, unflatten
from ...numpy.taking_part import called
from ...transforms.examples import examples, is_inside, is_mapped_by, mapping, together
from .draws import DRAWS_GLOBALLY, RepeatedDraws, draws_globally
from .repeated_stores import solved, stored_once
from .storable_objects import StorableObjects
from .storing import stores
from .written_arguments import Written

FUNCTIONS = FunctionType, BuiltinFunctionType, partial
NUMBERS = Array, np.ndarray, np.generic, int, float, complex
WHOLE = BuiltinFunctionType, ModuleType, type, np.ndarray, np.generic


class PerExample:
    """An object for each example of a batch."""

    def __init__(self, objects: Any, trace: Any) -> None:
        vars(self).update(objects=objects, trace=trace)

    def __setattr__(self, name: str, value: Any) -> None:
        for_each(setattr, (self, name, value), {}, self.trace)

    @property  # type: ignore[misc]  # for `isinstance`
    def __class__(self) -> Any:
        return self.objects[0].__class__

    def __call__(self, *args: Any, **options: Any) -> Any:
        return for_each(called, (self, *args), options, self.trace)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # which Python asks of a copy before it holds anything
            raise AttributeError(name)
        return stacked([getattr(x, name) for x in self.objects], self.trace)

    def __getitem__(self, key: Any) -> Any:
        return for_each(operator.getitem, (self, key), {}, self.trace)

    def __matmul__(self, other: Any) -> Any:
        return for_each(operator.matmul, (self, other), {}, self.trace)

    def __len__(self) -> int:
        lengths = {len(x) for x in self.objects}
        if len(lengths) > 1:
            self.refuse("length")
        return lengths.pop()

    def __iter__(self) -> Any:
        if len(self):
            yield from [stacked(list(xs), self.trace) for xs in zip(*self.objects, strict=True)]

    def __array__(self, *_: Any, **__: Any) -> Any:
        self.refuse("array")

    # Words differ between examples, too: `if result.message == "..."` asks those of each.

    def __eq__(self, other: Any) -> Any:
        return for_each(operator.eq, (self, other), {}, self.trace)

    def __ne__(self, other: Any) -> Any:
        return for_each(operator.ne, (self, other), {}, self.trace)

    def __contains__(self, item: Any) -> bool:
        return bool(for_each(operator.contains, (self, item), {}, self.trace))

    def __hash__(self) -> int:
        if is_static(self.objects[0]):
            self.refuse("key")
        return id(self)

    def refuse(self, asked: str) -> NoReturn:
        kind = self.__class__.__name__
        raise ConversionError(
            f"Each example that is mapped by `{self.trace.name}` has a `{kind}` of its own here,"
            f" and there is no one {asked} of all.\n"
            "  Loop over the examples, or compute what has the same shape in each: a mask, a sum."
        )


class ArrayPerExample(PerExample):
    """An array for each example, of which there is no batch, since they differ in shape.

    Parts that have one shape for all can be read, such as `x[-1]`, and methods called on each.
    """

    def refuse(self, *_: Any) -> NoReturn:
        shapes = sorted({np.shape(x) for x in self.objects})
        raise ConversionError(
            f"SciPy's results for the examples that are mapped by `{self.trace.name}` differ in"
            f" shape: {shapes[0]} and {shapes[1]}.\n"
            "  Compute in the function what has one shape for all, or loop over the examples."
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __pow__ = __rpow__ = refuse
    __truediv__ = __rtruediv__ = __matmul__ = __rmatmul__ = __neg__ = __abs__ = refuse
    __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __float__ = refuse


APART = {PerExample, ArrayPerExample}


def changed(x: Any, one: Callable[[Any], Any], seen: dict[int, Any]) -> Any:
    """x with `one` of each Array that it holds, and of each object per example; x if all stay."""
    kind = type(x)
    if kind is Array or kind in APART:
        return one(x)
    if (kind in BORING and kind is not FunctionType) or isinstance(x, WHOLE):
        return x
    if id(x) in seen:
        return seen[id(x)][1]
    seen[id(x)] = x, x
    if kind is MethodType:
        owner = changed(x.__self__, one, seen)
        out = x if owner is x.__self__ else MethodType(x.__func__, owner)
    elif kind is partial:
        given = x.func, x.args, x.keywords
        new = changed(given, one, seen)
        kept = changed_attributes(x, one, seen)
        same = new is given and kept is x.__dict__
        out = x if same else with_attributes(partial(new[0], *new[1], **new[2]), kept)
    elif kind is FunctionType:
        out = changed_function(x, one, seen)
    else:
        leaves, structure = flatten(x)
        if structure is not None:
            new = [changed(leaf, one, seen) for leaf in leaves]
            same = all(a is b for a, b in zip(new, leaves, strict=True))
            out = x if same else unflatten(structure, new)
        else:
            out = changed_object(x, one, seen)
    seen[id(x)] = x, out  # kept, so that nothing else has its id
    return out


def changed_function(f: Any, one: Callable[[Any], Any], seen: dict[int, Any]) -> Any:
    """A function with what it closes over, its defaults and its attributes."""
    cells = []
    for cell in f.__closure__ or ():
        held = contents((cell,))
        new = [changed(x, one, seen) for x in held]
        cells.append(cell if not held or new[0] is held[0] else CellType(new[0]))
    given = f.__defaults__, f.__kwdefaults__
    defaults, named = changed(given, one, seen)
    kept = changed_attributes(f, one, seen)
    same = all(a is b for a, b in zip(cells, f.__closure__ or (), strict=True))
    if same and defaults is given[0] and named is given[1] and kept is f.__dict__:
        return f
    out = FunctionType(f.__code__, f.__globals__, f.__name__, defaults, tuple(cells))
    out.__kwdefaults__ = named
    return with_attributes(out, kept)


def changed_attributes(f: Any, one: Callable[[Any], Any], seen: dict[int, Any]) -> Any:
    """What SciPy may read of a function, as `terminal` of an event; the same dict if all stay."""
    new = {name: changed(x, one, seen) for name, x in f.__dict__.items()}
    return f.__dict__ if all(new[name] is x for name, x in f.__dict__.items()) else new


def with_attributes(f: Any, attributes: dict[str, Any]) -> Any:
    f.__dict__.update(attributes)
    return f


def changed_object(x: Any, one: Callable[[Any], Any], seen: dict[int, Any]) -> Any:
    slots = [y for cls in type(x).__mro__ for y in cls.__dict__.get("__slots__", ())]
    held = {name: getattr(x, name) for name in slots if hasattr(x, name)}
    held |= getattr(x, "__dict__", {})
    new = {name: changed(y, one, seen) for name, y in held.items()}
    if all(new[name] is y for name, y in held.items()):
        return x
    out = object.__new__(type(x))
    for name, y in new.items():
        object.__setattr__(out, name, y)
    return out


def trace_of(given: Any) -> Any:
    """The youngest trace that maps one of the arguments; None if none does."""
    found = []

    def look(x: Any) -> Any:
        trace = x.trace if type(x) in APART else mapping(x)
        if trace is not None and not trace.ended:
            found.append(trace)
        return x

    changed(given, look, {})
    return max(found, key=lambda trace: trace.birth, default=None)


def for_each(
    f: Any, args: Any, options: Any, trace: Any, draws: RepeatedDraws | None = None
) -> Any:
    """f of what each example has, stacked.

    draws: the generators among the arguments, if f may have drawn from them already.
    """
    whole: dict[int, Any] = {}
    written = Written((*args, *options.values()), trace, draws is not None)

    def example(i: int, x: Any) -> Any:
        if type(x) in APART:
            return x.objects[i] if x.trace is trace else x
        if not is_inside(x, trace):
            return written.same(x)
        if id(x) not in whole:
            whole[id(x)] = x, examples(x, trace=trace)
        return written.lend(x, whole[id(x)][1][i])

    outs, copies = [], []
    draws = RepeatedDraws().look(args, options) if draws is None else draws
    for i in range(trace.state):
        draws.rewind()
        seen: dict[int, Any] = {}
        xs, named = changed((args, options), partial(example, i), seen)
        if trace_of((xs, named)) is trace:
            raise ConversionError(
                f"A function of SciPy's decides by values that are mapped by `{trace.name}`, which"
                " an object holds in a way that is not known.\n"
                "  Pass these as arguments, or call it in a loop over the examples."
            )
        copies += [(x, held, dict(held)) for x, held in copied(seen)]
        outs.append(again(f, *xs, **named))
        draws.ended()
    draws.settle()
    for x, held, before in copies:
        store_back(x, held, before)
    written.settle(trace.state)
    return stacked(outs, trace)


def copied(seen: dict[int, Any]) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Objects, and the attributes of their copies for one example."""
    for x, out in seen.values():
        held = None if x is out or type(x) in (FunctionType, partial) else dict_of(out)
        if held is not None:
            yield x, held


def store_back(x: Any, held: dict[str, Any], before: dict[str, Any]) -> None:
    """What was stored in attributes of the copy of an object is in the object."""
    for name, y in held.items():
        if before.get(name, before) is not y:
            object.__setattr__(x, name, y)


def stacked(outs: list[Any], trace: Any) -> Any:
    """The results for all examples as one; objects stay apart, and so do masked elements."""
    outs = [np.ma.getdata(x) if is_masked(x) and not has_masked(x) else x for x in outs]
    if any(map(is_masked, outs)):
        return PerExample(outs, trace)
    split = [flatten(out) for out in outs]
    structure = split[0][1]
    if structure is None:
        return stacked_leaf(outs, trace)
    if any(other != structure for _, other in split):
        return PerExample(outs, trace)
    columns = zip(*[leaves for leaves, _ in split], strict=True)
    return unflatten(structure, [stacked_leaf(list(column), trace) for column in columns])


def stacked_leaf(outs: list[Any], trace: Any) -> Any:
    first = outs[0]
    if all(out is first for out in outs) or (is_static(first) and outs.count(first) == len(outs)):
        return first
    if type(first) in (int, float, np.float64) and len({(type(x), repr(x)) for x in outs}) == 1:
        return first  # such as the time that an integrator has reached
    if not all(
        isinstance(out, (Array, np.ndarray, np.generic, int, float, complex)) for out in outs
    ):
        return PerExample(outs, trace)
    shapes = list(map(np.shape, outs))
    if shapes.count(shapes[0]) == len(shapes) and any(x.dtype == object for x in arrays(outs)):
        return stacked_objects(outs, trace)
    if shapes.count(shapes[0]) < len(shapes):
        return ArrayPerExample(outs, trace)
    if any(is_mapped_by(out, trace) for out in outs):
        raise ConversionError(
            f"A function of SciPy's decides by values that are mapped by `{trace.name}`, and by"
            " others that a function among its arguments reads.\n"
            "  Pass these as arguments, or call it in a loop over the examples."
        )
    return together(np.stack(outs), trace=trace)


def is_masked(x: Any) -> bool:
    masked = sys.modules.get("numpy.ma")  # which takes long to import
    return masked is not None and isinstance(x, masked.MaskedArray)


def has_masked(x: Any) -> bool:
    """Whether elements of a masked array are masked."""
    return bool(np.any(np.ma.getmask(x)))


def arrays(xs: Any) -> Any:
    return [x for x in xs if isinstance(x, (Array, np.ndarray, np.generic))]


def stacked_objects(outs: Any, trace: Any) -> Any:
    """Arrays of objects, such as the lists of `query_ball_point`: each object for all examples."""
    found = np.empty(np.shape(outs[0]), object)
    for i in np.ndindex(found.shape):
        found[i] = stacked([out[i] for out in outs], trace)
    return found


def only_compute(given: Any) -> bool:
    """Whether none of the user's functions among the arguments stores anything, or draws."""
    seen: dict[int, Any] = {}
    changed(given, lambda x: x, seen)
    functions = [x for x, _ in seen.values() if type(x) is FunctionType]
    return not (any(map(stores, functions)) or StorableObjects(functions).draws)


def again(f: Any, /, *args: Any, **options: Any) -> Any:
    """Call f, and if it refuses mapped arguments, call it again for each example.

    Not if it is given functions of the user's that store something: it would be stored twice.
    """
    if not DRAWS_GLOBALLY.get() and draws_globally(f, options):
        with during(DRAWS_GLOBALLY, True):
            return again(f, *args, **options)
    draws = RepeatedDraws().look(args, options)
    try:
        return f(*args, **options)
    except (ConversionError, ArgumentTypeError):  # the latter from a key of a dict
        if not only_compute((args, options)):
            raise
        trace = trace_of((args, options))
        if trace is None or not trace.state:
            raise
    with stored_once(getattr(f, "__name__", "SciPy's function"), (args, options)):
        out = for_each(f, args, options, trace, draws)
        solved(trace.state, draws.bits)
    return out


def apart(f: Any, /, *args: Any, **options: Any) -> Any:
    """Call f, for each example if an argument is mapped."""
    trace = trace_of((args, options))
    if trace is None or not trace.state:
        return f(*args, **options)
    return for_each(f, args, options, trace)


OURS.update(APART)
SHOWN.update(APART)
BORING.update(APART | {Session, Begun})  # the latter note what the user's code stores
