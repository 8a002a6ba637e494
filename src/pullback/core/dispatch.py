"""The NumPy protocols: a function of NumPy's that meets an Array finds its implementation here.

`array_ufunc` and `array_function` are the methods of Array that NumPy calls, `__array_ufunc__` and
`__array_function__`. They look the function up in the registry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from inspect import Parameter, signature
from typing import Any

import numpy as np
from numpy import ndarray

from .array import Array, rank, snapshot
from .cotangent import Cotangent
from .errors import (
    ArgumentError,
    ArgumentTypeError,
    MissingRuleError,
    ShapeError,
    UnsupportedKeywordError,
    public_module,
)
from .layout import layout
from .operands import (
    ARRAYS,
    CLASSES,
    DEFERS,
    answers_ufuncs,
    as_array,
    as_mask,
    beside_array,
    binary,
    check_class,
    holds_live,
    leaves,
    peeled,
    unary,
)
from .operators import COMPARISONS, OPERATIONS
from .out import METHODS_COMPUTED_IN_OUT, as_wide, computed_in, into_out_of
from .overlaps import refuse_overlap
from .reach.private_arrays import in_place
from .refusals import answered, refuse_as_numpy
from .registry import CREATION, FUNCTIONS, METHODS, REFUSED, UFUNCS, refuse
from .scalars import OF_NUMPY, as_called, of_numpy
from .spec import ObjectArrayError, spec_of
from .trace import CONSTANT, youngest


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
    try:
        return checked_ufunc(ufunc, method, inputs, {**keywords})
    except Exception as error:
        called = ufunc if method == "__call__" else getattr(ufunc, method)
        refuse_as_numpy(called, inputs, keywords, error)
        raise


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


USUAL = frozenset({"out", "dtype", "where"})  # keywords that are looked at where they are used


def check_keywords(ufunc: Any, inputs: Any, keywords: dict[str, Any]) -> None:
    """Raise as NumPy does for keywords, whatever the values: it's asked with arrays of none."""
    whole = ufunc.signature is not None
    keywords = keywords | {"out": (None,) * ufunc.nout}
    if "where" in keywords:
        keywords["where"] = of_none(as_mask(keywords["where"]))
    xs = [x if type(x) in (float, int, complex) else of_none(x, whole) for x in inputs]
    ufunc(*xs, **keywords)


def is_mask(x: Any) -> bool:
    return type(x) in ARRAYS and x.dtype.kind == "b"


def of_none(x: Any, numbers: bool = False) -> Any:
    """An array without elements, of the dtype of x and with as many axes.

    numbers: whether a number stays one; otherwise it becomes an array, too.
    """
    spec = spec_of(x if type(x) in ARRAYS else as_array(x))
    axes = len(spec.shape) if numbers else max(len(spec.shape), 1)
    return np.empty((0,) * axes, spec.dtype)


def checked_ufunc(ufunc: Any, method: str, inputs: Any, keywords: dict[str, Any]) -> Any:
    """`general_ufunc`, whose keywords NumPy takes."""
    if method == "__call__":
        mask = keywords.get("where", True)
        if not (USUAL.issuperset(keywords) and (mask is True or is_mask(mask))):
            check_keywords(ufunc, inputs, keywords)
    return general_ufunc(ufunc, method, inputs, keywords)


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
            where = where if where is True else as_mask(where)
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
        where = as_mask(where)
        return under_mask(ufunc, where, inputs, keywords)
    if not {"dtype", "signature", "sig"}.isdisjoint(keywords):
        out = CLASSES["loop of objects"](ufunc, inputs, **keywords)
        if out is not NotImplemented:
            return out
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
    order: Any = keywords.pop("order")
    order = "K" if order is None else order.upper()
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
        return answered(partial(into, function), function, args, kwargs)
    implementation = FUNCTIONS[function]
    if implementation is None:
        creation = CREATION[function]
        if creation is not None:
            return creation(self, *args, **kwargs)
        return unknown(function, args, kwargs)
    try:
        return implementation(*args, **kwargs)
    except Exception as error:
        return after_error(function, args, kwargs, error)


def into(function: Any, *args: Any, out: Array, **kwargs: Any) -> Any:
    """A function with its result written into an Array."""
    answers = FUNCTIONS[function]
    if into_out_of(answers).reads_on:
        refuse_overlap(function, args, kwargs, out)
    result = function(*args, **computed_in(answers, args, kwargs, out))
    if not into_out_of(answers).broadcasts:
        check_shape(f"numpy.{function.__name__}", out, result)
    result = snapshot(result) if type(result) is Array else result
    return written(f"numpy.{function.__name__}", (out,), result)


REFUSALS = ArgumentError, UnsupportedKeywordError


def after_error(function: Any, args: Any, kwargs: dict[str, Any], error: Exception) -> Any:
    """What was just refused: done with `out` by its name, or of constants, into a plain array.

    What NumPy refuses as well raises an error of the kind that NumPy's is.
    """
    if isinstance(error, REFUSALS):
        named = named_out(function, args)
        if named:
            return function(*args[: -len(named)], **kwargs, **named)
        target = kwargs.get("out", args[0] if args else None)
        if type(target) is ndarray and not holds_live((args, list(kwargs.values()))):
            return of_constants(function, args, kwargs)
    refuse_as_numpy(function, args, kwargs, error)
    raise  # where it is caught


BY_PLACE = Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD


def parameters_of(function: Any) -> Mapping[str, Parameter]:
    """The parameters of a NumPy function, empty if they are not known."""
    try:
        return signature(function).parameters
    except ValueError:  # before NumPy 2.4 functions in C do not tell; an implementation does
        return {} if FUNCTIONS[function] is None else signature(FUNCTIONS[function]).parameters


def named_out(function: Any, args: Any) -> dict[str, Any]:
    """Positional arguments from `out` on, by the names that NumPy's function has for them."""
    parameters = parameters_of(function)
    names = [name for name, parameter in parameters.items() if parameter.kind in BY_PLACE]
    place = names.index("out") if "out" in names else len(args)
    if all(x is None or x is np._NoValue for x in args[place : place + 1]):
        return {}
    return dict(zip(names[place:], args[place:], strict=False))


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


def of_constants(function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """What NumPy computes of Arrays that are constants."""
    out = function(*[peeled(x) for x in args], **{key: peeled(x) for key, x in kwargs.items()})
    written_to = any(out is x for x in (*args, *leaves([kwargs.get("out")])))
    if written_to or not isinstance(out, (ndarray, np.generic)):
        return out
    return Array(out, CONSTANT, None) if out.dtype.kind in "fcbiu" else out


for function in (array_ufunc, array_function):
    setattr(Array, f"__{function.__name__}__", function)
