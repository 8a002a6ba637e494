"""The registry, NumPy function -> implementation, and the NumPy protocols that look functions up.

`UFUNCS` holds elementwise primitives; `FUNCTIONS` holds all other functions.
Both are filled where a primitive is declared (`register`, `replaces`) and nowhere else.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from numbers import Rational
from typing import Any

import numpy as np
from numpy import ndarray

from .array import Array, peel, rank, snapshot
from .cotangent import Cotangent
from .errors import (
    ArgumentError,
    ArgumentTypeError,
    MissingRuleError,
    ShapeError,
    UnsupportedKeywordError,
    check_functions,
    public_module,
)
from .layout import layout
from .named import named_out
from .operators import COMPARISONS, OPERATIONS
from .out import METHODS_COMPUTED_IN_OUT, as_wide, computed_in, into_out_of
from .overlaps import refuse_overlap
from .primitive import Elementwise
from .reach.private_arrays import in_place
from .reach.session import active
from .reach.twins import array_of, gives_array
from .scalars import OF_NUMPY, as_called, of_numpy, rounding
from .spec import PYTHON, ObjectArrayError, spec_of
from .trace import CONSTANT, is_live, youngest
from .usage import usage

CLASSES: dict[str, Any] = {}  # what is done beside objects of users' classes: `core.instances`
HOLDERS: set[type] = {Array}  # types of ours that are, or hold, an Array
# Types of other packages whose objects may hold an Array, and what gives it, or None.
HELD: dict[type, Any] = {}
DEFERS: set[type] = set()  # types whose own operators and functions take over from an Array's
LOADERS: list[Callable[[], None]] = []  # import what has not been needed so far


class Registry(dict[Any, Any]):
    """A dict that imports the remaining families before it answers that a key is missing."""

    def __missing__(self, key: Any) -> Any:
        for load in LOADERS:
            load()
        return self.setdefault(key, None)


UFUNCS: dict[Any, Any] = Registry()  # ufunc -> primitive of one or two operands
FUNCTIONS: dict[Any, Any] = Registry()  # function, or ufunc of another form -> implementation
CREATION: dict[Any, Any] = Registry()  # function -> implementation(x, *args) for `like=x`
METHODS: dict[str, Any] = Registry()  # "reduce", "outer"... -> implementation(ufunc, *args)
REFUSED: dict[Any, tuple[str, str]] = {}  # function -> why it has no rule, and what to do instead


def register(primitive: Elementwise) -> Elementwise:
    """Enter an elementwise primitive under its ufunc."""
    UFUNCS[primitive.ufunc] = primitive
    primitive.value = primitive.fast  # type: ignore[method-assign]  # the ufunc itself
    primitive.converts = not primitive.by_number and takes_floats(primitive.ufunc)
    primitive.arrays = frozenset({ndarray}) if primitive.by_number else OF_NUMPY
    primitive.of_numbers = rounding(primitive)
    return primitive


def takes_floats(ufunc: Any) -> bool:
    """Whether a number beside a float is one as well: no loop is for an integer beside a float."""
    kinds = [{*loop.partition("->")[0]} for loop in ufunc.types]
    return {"d"} in kinds and not any("d" in kind and kind & {*"ilqp"} for kind in kinds)


@usage("replaces(np.sin)")
def replaces(*functions: Any) -> Callable[[Any], Any]:
    """Let a function answer for NumPy functions whenever an Array is among their arguments.

    >>> replaces()(abs) is abs
    True

    It has the signature of the original: it brings lists, axes and defaults into the form of a
    primitive, or composes other functions. What it does not handle it hands to `refuse`.
    Raises:
        ArgumentTypeError: what is no function.
    """
    check_functions(functions, "replaces")

    def enter(implementation: Any) -> Any:
        FUNCTIONS.update(dict.fromkeys(functions, implementation))
        return implementation

    return enter


def creates(*functions: Any) -> Callable[[Any], Any]:
    """Let a function answer for NumPy functions that ask an Array only through `like=x`.

    NumPy takes `like` out of the arguments; the implementation has x for its first parameter.
    """

    def enter(implementation: Any) -> Any:
        for function in functions:
            CREATION[function] = implementation
        return implementation

    return enter


def refuse(name: str, **keywords: Any) -> None:
    """Raise for each keyword that was given: not None, and not NumPy's <no value>.

    Implementations on the short way ask for `out` themselves before they call this.
    """
    for keyword, value in keywords.items():
        if value is None or value is np._NoValue:
            continue
        if keyword == "out":
            raise UnsupportedKeywordError(
                f"`{name}` was given `out=`, and writing a traced result into an existing array is"
                f" not supported here.\n  Write `a = {name}(...)` instead."
            )
        raise UnsupportedKeywordError(
            f"`{name}` does not support the keyword `{keyword}={value!r}` on traced Arrays.\n"
            "  Leave it out, or compute the same with other functions."
        )


def unary(primitive: Elementwise, x: Any) -> Any:
    return x.within.unary(primitive, x) if type(x) is Array else primitive.value(x)


def binary(primitive: Elementwise, x: Any, y: Any) -> Any:
    """Apply a primitive of two operands; the younger trace interprets."""
    if type(x) is Array:
        trace = x.within
        if type(y) is Array:
            if y.within.birth > trace.birth:
                trace = y.within
        elif type(y) not in PLAIN:
            y = beside_array(y)
    elif type(y) is Array:
        trace = y.within
        if type(x) not in PLAIN:
            x = beside_array(x)
    else:
        return primitive.value(x, y)
    if x is NotImplemented or y is NotImplemented:
        return NotImplemented
    return trace.binary(primitive, x, y)


PLAIN = frozenset({float, int, complex, bool, np.ndarray, np.float64, np.float32})


def check_class(cls: type, *values: Any) -> bool:
    """Whether a class derives from ndarray and answers for itself.

    Others, whose operations mean something else, are refused; so are masked arrays and matrices
    where no transformation runs. A masked array in which nothing is masked counts as its data.
    """
    if issubclass(cls, ndarray) and cls not in (ndarray, np.memmap):
        if CLASSES["derives"](cls):
            return True
        if issubclass(cls, np.ma.MaskedArray) and values and not masks(values):
            return False
        instead = (
            "Pass the data and the mask apart, and select with `np.where(mask, x, 0)`."
            if issubclass(cls, np.ma.MaskedArray)
            else "Write `np.asarray(...)` around it."
        )
        raise ArgumentTypeError(
            f"An operation on an Array met a {cls.__name__}, which pullback does not trace.\n"
            f"  {instead}"
        )
    return False


def masks(x: Any) -> bool:
    """Whether x holds a masked array of which something is masked."""
    if isinstance(x, (list, tuple)):
        return any(map(masks, x))
    return isinstance(x, np.ma.MaskedArray) and bool(np.ma.is_masked(x))


def operand(x: Any) -> Any:
    """A plain operand as NumPy would take it; NotImplemented leaves the operation to x."""
    if type(x) in DEFERS:
        return NotImplemented
    if isinstance(x, ndarray):
        return NotImplemented if check_class(type(x), x) else np.asarray(x)
    if isinstance(x, np.generic):
        return x
    if isinstance(x, Cotangent) or getattr(type(x), "__array_ufunc__", False) is None:
        return NotImplemented
    if isinstance(x, (list, tuple)):
        return as_array(x)
    if type(x) in (float, int, complex, bool):
        return x
    if isinstance(x, Rational) and not isinstance(x, int):
        return float(x)
    if np.isscalar(x):
        return x
    if isinstance(x, np.poly1d):  # which may hold an Array
        return x.coeffs
    return as_array(x) if hasattr(x, "__array__") else NotImplemented


def beside_array(x: Any) -> Any:
    """A plain operand of an operator or ufunc, which NumPy leaves to a class that has its own."""
    return NotImplemented if answers_ufuncs(x) else operand(x)


def answers_ufuncs(x: Any) -> bool:
    """Whether an object that is no array has its own way of computing ufuncs, and takes part."""
    own = getattr(type(x), "__array_ufunc__", None) is not None
    return own and not isinstance(x, (ndarray, np.generic)) and active()


def as_array(x: Any) -> Any:
    """An argument that may be a list or a number, as an array; nested lists may hold Arrays."""
    if type(x) is ndarray:
        return x
    if type(x) is Array:
        value = x.payload
        return of_numpy(x) if type(value) in PYTHON or type(value) is Array else x
    if holds_arrays(x):
        items = [as_array(item) for item in x]
        try:
            return FUNCTIONS[np.stack](items)
        except ValueError:
            np.array([np.empty(item.shape) for item in items])  # says what NumPy says of shapes
            raise
    if type(x) in HOLDERS:
        return CLASSES["array"](x)
    return as_array(array_of(x)) if gives_array(x) else np.asarray(x)


class Sequences(dict[type, bool]):
    """class -> whether NumPy makes an array of what its objects hold: lists, tuples, deques..."""

    of_one_kind = str, bytes, bytearray, memoryview, range, array  # they hold no Array
    limit = 1000

    def __missing__(self, kind: type) -> bool:
        if len(self) == self.limit:  # of programs that make classes again and again
            self.clear()
        self[kind] = issubclass(kind, Sequence) and not issubclass(kind, self.of_one_kind)
        return self[kind]


SEQUENCES = Sequences()


def holds_arrays(x: Any) -> bool:
    """Whether x is a list, a tuple or their like in which, however deep, an Array stands."""
    if not (isinstance(x, (list, tuple)) or SEQUENCES[type(x)]):
        return False
    kinds = set(map(type, x))
    if not HOLDERS.isdisjoint(kinds):
        return True
    for kind in kinds:
        if SEQUENCES[kind]:
            return any(map(holds_arrays, x))
    return False


def array_ufunc(self: Array, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
    if method == "__call__" and not keywords:
        try:
            primitive = UFUNCS.get(ufunc)
            if primitive is not None:
                if len(inputs) == 1:
                    x = inputs[0]
                    if type(x.payload) not in OF_NUMPY or x.within.weighs:
                        x = of_numpy(x)
                    return x.within.unary(primitive, x)
                if type(inputs[0]) is ndarray and inputs[1] is self:  # the usual `array * x`
                    if primitive.reflected is not None:
                        return primitive.reflected(self, inputs[0])
                    if primitive.comparison and self.within.comparison is None:
                        self.within.notice()
                    return self.within.beside(primitive, 1, self, inputs[0])
                # The operators of NumPy's numbers come here as well.
                if primitive.comparison and self.within.comparison is None:
                    self.within.notice()
                if type(inputs[0]) is Array or not isinstance(inputs[0], np.generic):
                    for x in inputs:
                        if type(x) is Array and (
                            type(x.payload) not in primitive.arrays or x.within.weighs
                        ):
                            primitive, inputs = as_called(primitive, inputs)
                            break
                out = binary(primitive, *inputs)
                return out if out is not NotImplemented else beside(ufunc, method, inputs, keywords)
            if ARRAYS.issuperset(map(type, inputs)):
                implementation = FUNCTIONS[ufunc]
                if implementation is not None:  # `matmul`, `sign`
                    return getattr(implementation, "plain", implementation)(*inputs)
        except ObjectArrayError:
            return by_elements(ufunc, *inputs)
    return general_ufunc(ufunc, method, inputs, keywords)


def by_elements(ufunc: Any, *xs: Any) -> Any:
    """A ufunc of Arrays and arrays of objects: of the objects, as NumPy has it."""
    return ufunc(*[CLASSES["objects"](x) if type(x) is Array else x for x in xs])


def beside(ufunc: Any, method: str, inputs: Any, keywords: dict[str, Any]) -> Any:
    """A ufunc of an Array and of what may be objects of users' classes."""
    out = CLASSES["ufunc"](ufunc, method, inputs, keywords)
    return by_operator(ufunc, method, inputs, keywords) if out is NotImplemented else out


def by_operator(ufunc: Any, method: str, inputs: Any, keywords: dict[str, Any]) -> Any:
    """A ufunc beside an object that is no number: what the operator does with each element."""
    operation = OPERATIONS.get(ufunc)
    own = any(hasattr(type(x), "__array_ufunc__") for x in inputs if type(x) is not Array)
    if operation is None or own or keywords or method != "__call__":
        return NotImplemented
    first, second = inputs
    if type(second) is Array and rank(second):  # Python would ask the object about all of it
        found = [operation(first, x) for x in np.ravel(second)]
        if found and all(type(x) is Array for x in found):
            return np.reshape(as_array(found), second.shape)
        out = np.empty(second.shape, bool if ufunc in COMPARISONS.values() else object)
        for i, x in zip(np.ndindex(second.shape), found, strict=True):
            out[i] = x
        return out
    out = operation(first, second)
    return np.bool_(out) if type(out) is bool else out


ARRAYS = frozenset({Array, np.ndarray})


def general_ufunc(ufunc: Any, method: str, inputs: Any, keywords: dict[str, Any]) -> Any:
    """A ufunc with keywords, one of another form than elementwise, or one of its methods."""
    keywords.pop("subok", None)  # an Array has no subclasses
    if any(isinstance(x, Cotangent) for x in inputs):
        return NotImplemented
    if "order" in keywords and method in ("__call__", "outer"):
        return in_order(ufunc, method, inputs, keywords)
    if any(check_class(type(x), x) or type(x) in DEFERS for x in inputs):
        return beside(ufunc, method, inputs, keywords)
    out = keywords.pop("out", None)
    outs = out if isinstance(out, tuple) else (out,)
    if any(o is not None for o in outs):
        if not all(type(o) is Array for o in outs if o is not None):
            if holds_live((inputs, list(keywords.values()))):
                mine = in_place(ufunc, method, inputs, outs)
                return general_ufunc(ufunc, method, (mine, *inputs[1:]), keywords | {"out": mine})
            return of_constants(getattr(ufunc, method), inputs, keywords | {"out": out})
        casting, where = keywords.get("casting", "same_kind"), True
        if method == "__call__":
            where = keywords.pop("where", True)
        if where is True:
            keywords = computed_in(method, inputs, keywords, outs[0])
            result = general_ufunc(ufunc, method, inputs, keywords)
        else:  # what is not asked for is computed all the same, without warnings
            with np.errstate(all="ignore"):
                result = general_ufunc(ufunc, method, inputs, keywords)
        if method in METHODS_COMPUTED_IN_OUT:
            check_shape(f"numpy.{ufunc.__name__}.{method}", outs[0], result)
        return written(f"numpy.{ufunc.__name__}", outs, result, casting, where)
    if method != "__call__":
        if method == "at" and type(inputs[0]) is ndarray and not holds_live(inputs):
            return of_constants(ufunc.at, inputs, keywords)
        if METHODS[method] is None:
            raise MissingRuleError(f"`numpy.{ufunc.__name__}.{method}` has no rule on Arrays.")
        return METHODS[method](ufunc, *inputs, **keywords)
    implementation, primitive = FUNCTIONS[ufunc], UFUNCS[ufunc]
    if implementation is None and primitive is None:
        return unknown(ufunc, inputs, keywords)
    if ufunc.signature is not None:  # works on whole arrays, and has keywords for their axes
        if any(type(x) is not Array and answers_ufuncs(x) for x in inputs):
            return NotImplemented
        return implementation(*inputs, **keywords)
    inputs = [x if type(x) is Array else beside_array(x) for x in inputs]
    if any(x is NotImplemented for x in inputs):
        return NotImplemented
    where = keywords.pop("where", True)
    if where is not True:
        return under_mask(ufunc, where, inputs, keywords)
    inputs = loop_operands(ufunc, inputs, keywords)
    if implementation is not None:
        return implementation(*inputs)
    primitive, inputs = as_called(primitive, inputs)
    return unary(primitive, *inputs) if len(inputs) == 1 else binary(primitive, *inputs)


def under_mask(ufunc: Any, where: Any, inputs: Any, keywords: dict[str, Any]) -> Any:
    """A ufunc with `where=` alone: NumPy leaves other elements undefined, and here they are NaN."""
    with np.errstate(all="ignore"):
        results = general_ufunc(ufunc, "__call__", inputs, keywords)
    parts = results if isinstance(results, tuple) else (results,)
    if not all(x.dtype.kind in "fc" for x in parts):
        if np.all(where):
            return results
        name = f"numpy.{ufunc.__name__}"
        raise UnsupportedKeywordError(
            f"`{name}` was given `where=`, which without `out=` leaves the elements outside the"
            " mask undefined; of integers and truth values none can say so."
            f"\n  Write `numpy.where(mask, {name}(...), other)` instead."
        )
    return of_each(results, lambda x: np.where(where, x, np.nan))


def of_each(results: Any, change: Callable[[Any], Any]) -> Any:
    """A result that is changed, or each of several."""
    return tuple(map(change, results)) if isinstance(results, tuple) else change(results)


def in_order(ufunc: Any, method: str, inputs: Any, keywords: dict[str, Any]) -> Any:
    """The results of a ufunc in the memory order that `order=` names; `out=` keeps its own."""
    order: Any = str(keywords.pop("order")).upper()
    out = keywords.get("out")
    results = general_ufunc(ufunc, method, inputs, keywords)
    if order == "K" or out is not None or results is NotImplemented:
        return results
    if order == "A":
        plain = [layout(x) if type(x) is Array else np.asarray(x) for x in inputs]
        order = "F" if all(x.flags.f_contiguous for x in plain) else "C"
    return of_each(results, lambda x: np.copy(x, order=order) if np.ndim(x) > 1 else x)


def loop_operands(ufunc: Any, inputs: list[Any], keywords: dict[str, Any]) -> list[Any]:
    """The operands as `dtype=`, `signature=` and `casting=` have them; others are refused."""
    name = f"numpy.{ufunc.__name__}"
    dtype, casting = keywords.pop("dtype", None), keywords.pop("casting", None)
    signature = keywords.pop("signature", keywords.pop("sig", None))
    refuse(name, **keywords)
    if dtype is None and signature is None and casting is None:
        return inputs
    if dtype is not None:
        signature = (None,) * ufunc.nin + (np.dtype(dtype),) * ufunc.nout
    elif isinstance(signature, str):
        signature = tuple([np.dtype(c) for c in signature.replace("->", "")])
    given = [type(x) if type(x) in (int, float, complex) else spec_of(x).dtype for x in inputs]
    dtypes = ufunc.resolve_dtypes(
        (*given, *(None,) * ufunc.nout),
        signature=signature or (None,) * ufunc.nargs,
        casting=casting or "same_kind",
    )
    return [
        x
        if kind is type(x) or kind == dtype
        else dtype.type(x)
        if type(x) is not Array and np.isscalar(x)
        else x.astype(dtype)
        for x, kind, dtype in zip(inputs, given, dtypes, strict=False)
    ]


def cast(x: Any, dtype: Any, casting: Any, ufunc: Any) -> Any:
    """An operand of a generalised ufunc that was given `dtype=`."""
    dtype = np.dtype(dtype)
    if type(x) in (float, int, complex, bool):
        return dtype.type(x)
    if not np.can_cast(x.dtype, dtype, casting):
        raise ArgumentTypeError(
            f"`numpy.{ufunc.__name__}` cannot cast {x.dtype} to {dtype} with casting='{casting}'."
        )
    return x.astype(dtype)


def written(
    name: str, outs: Any, result: Any, casting: str = "same_kind", where: Any = True
) -> Any:
    """Results written into Arrays, as `out=` asks."""
    results = result if type(result) is tuple else (result,)
    given = []
    for o, r in zip(outs, results, strict=True):
        if o is not None:
            if np.ndim(r) > o.ndim:  # leading axes of length 1 are dropped by `copyto` alone
                check_shape(name, o, r)
            FUNCTIONS[np.copyto](o, r, casting, where)
        given.append(as_wide(r, outs) if o is None else o)
    return tuple(given) if type(result) is tuple else given[0]


def check_shape(name: str, out: Array, result: Any) -> None:
    if out.shape != np.shape(result):
        raise ShapeError(
            f"`{name}` was asked to write its result of shape {np.shape(result)} into an `out` of"
            f" shape {out.shape}.\n  Give it an `out` of that shape."
        )


def array_function(self: Array, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    if len(types) > 1 and not ARRAYS.issuperset(types):
        if not DEFERS.isdisjoint(types):
            return NotImplemented
        if any(check_class(cls, *args, *kwargs.values()) for cls in types):
            return CLASSES["function"](function, args, kwargs)
        if not all(cls is Array or issubclass(cls, ndarray) for cls in types):
            return NotImplemented  # a class that takes over
    if type(kwargs.get("out")) is Array:
        out, answers = kwargs.pop("out"), FUNCTIONS[function]
        if into_out_of(answers).reads_on:
            refuse_overlap(function, args, kwargs, out)
        result = function(*args, **computed_in(answers, args, kwargs, out))
        if not into_out_of(answers).broadcasts:
            check_shape(f"numpy.{function.__name__}", out, result)
        result = snapshot(result) if type(result) is Array else result
        return written(f"numpy.{function.__name__}", (out,), result)
    implementation = FUNCTIONS[function]
    if implementation is None:
        creation = CREATION[function]
        if creation is not None:
            return creation(self, *args, **kwargs)
        return unknown(function, args, kwargs)
    try:
        return implementation(*args, **kwargs)
    except REFUSALS:
        return into_plain(function, args, kwargs)


REFUSALS = ArgumentError, UnsupportedKeywordError


def into_plain(function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """What was just refused: done with `out` by its name, or of constants, into a plain array."""
    named = named_out(function, args)
    if named:
        return function(*args[: -len(named)], **kwargs, **named)
    target = kwargs.get("out", args[0] if args else None)
    if type(target) is not ndarray or holds_live((args, list(kwargs.values()))):
        raise  # where it is caught
    return of_constants(function, args, kwargs)


def unknown(function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """A function without a rule: computed for constants, refused for what carries a derivative."""
    arrays = [x for x in leaves((args, list(kwargs.values()))) if type(x) is Array]
    trace = youngest(arrays)
    if trace is not None and trace.live:
        name = function.__name__
        module = getattr(function, "__module__", None)
        if module is None and getattr(np, name, None) is function:
            module = "numpy"
        name = f"{public_module(module, name)}.{name}" if module else name
        spec = trace.spec(next(x for x in arrays if x.within is trace))
        why, instead = REFUSED.get(function) or (
            "has no derivative rule",
            "Compute the same with other functions, give it a rule with `pullback.primitive`",
        )
        raise MissingRuleError(
            f"`{name}` {why}; it was called with an Array {spec} of `{trace.name}`.\n"
            f"  {instead}, or detach its argument with `pullback.stop_gradient(x)`."
        )
    return of_constants(function, args, kwargs)


def holds_live(x: Any) -> bool:
    """Whether an Array in x carries a derivative."""
    return any(map(is_live, leaves(x)))


def of_constants(function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """What NumPy computes of Arrays that are constants."""
    out = function(*[peeled(x) for x in args], **{key: peeled(x) for key, x in kwargs.items()})
    written_to = any(out is x for x in (*args, *leaves([kwargs.get("out")])))
    if written_to or not isinstance(out, (ndarray, np.generic)):
        return out
    return Array(out, CONSTANT, None) if out.dtype.kind in "fcbiu" else out


def leaves(x: Any) -> Iterable[Any]:
    """What lists, tuples (named ones too) and their like hold, however deep."""
    kind = type(x)
    if (kind is list or kind is tuple) and LEAVES.issuperset(map(type, x)):
        return x  # as most are
    # An Array is asked for its class.
    if kind not in ARRAYS and (isinstance(x, (list, tuple)) or SEQUENCES[kind]):
        return chain.from_iterable(map(leaves, x))
    return (x,)


LEAVES = PLAIN | {Array, str, type(None)}


def peeled(x: Any) -> Any:
    if type(x) is not tuple and SEQUENCES[type(x)]:
        return [peeled(item) for item in x]
    return tuple(map(peeled, x)) if type(x) is tuple else peel(x)


for function in (array_ufunc, array_function):
    setattr(Array, f"__{function.__name__}__", function)
