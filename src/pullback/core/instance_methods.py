"""Operators and methods of objects whose class derives from ndarray or float."""

from __future__ import annotations

import builtins
import functools
import operator
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from .array import Array, peel
from .errors import MissingRuleError
from .instances import (
    BY_UFUNC,
    INNER,
    KIND,
    MISSING,
    NAMES,
    OWN_WAY,
    Instance,
    attribute,
    example,
    in_classes,
    inside,
    nearly_equal,
    of_function,
    of_root,
    of_ufunc,
    root_of,
    set_attribute,
    shown,
    viewed,
)
from .leftover import SETTLING
from .operators import COMPARISONS, INFIX, PREFIX
from .reach.call_tables import CALLS
from .reach.namespaces import STANDS
from .trace import CONSTANT

# What ndarray's own way would not do.


def view(self: Instance, dtype: Any = None, type: Any = None) -> Any:
    inner, kind = INNER.__get__(self), KIND.__get__(self)
    if isinstance(dtype, builtins.type) and issubclass(dtype, np.ndarray):
        dtype, type = None, dtype
    x = inner.view() if dtype is None else inner.view(dtype)
    return x if type is np.ndarray else viewed(x, kind if type is None else type, self)


def finalize(self: Instance, source: Any) -> None:
    """`ndarray.__array_finalize__` does nothing."""


def wrap(self: Instance, x: Any, context: Any = None, return_scalar: bool = False) -> Any:
    if type(x) is Instance:
        return x
    kind = KIND.__get__(self)
    return viewed(x, kind, self) if type(x) is Array else np.asarray(x).view(kind)


def ufunc_of(self: Instance, ufunc: Any, method: str, *xs: Any, **options: Any) -> Any:
    return of_ufunc(ufunc, method, xs, options)


def function_of(self: Instance, function: Any, types: Any, xs: Any, options: Any) -> Any:
    return of_function(function, xs, options)


def get_attribute(self: Instance, name: str) -> Any:
    return attribute(self, name, KIND.__get__(self).__mro__)


def delete_attribute(self: Instance, name: str) -> None:
    Instance.__delattr__(self, name)


OWN_WAY |= {
    "__setattr__": set_attribute, "__getattribute__": get_attribute,
    "__delattr__": delete_attribute, "view": view, "__array_finalize__": finalize,
    "__array_wrap__": wrap, "__array_ufunc__": ufunc_of, "__array_function__": function_of,
}  # fmt: skip


def reducing(ufunc: Any) -> Any:
    def call(self: Instance, axis: Any = None, *args: Any, **options: Any) -> Any:
        return ufunc.reduce(self, axis, *args, **options)

    return call


BY_UFUNC |= {
    "sum": reducing(np.add), "prod": reducing(np.multiply), "max": reducing(np.maximum),
    "min": reducing(np.minimum), "all": reducing(np.logical_and), "any": reducing(np.logical_or),
}  # fmt: skip


# Operators.


def implicit(name: str, default: Any) -> Any:
    """A method that Python calls by itself: the class's own, or what ndarray or float has."""

    def call(self: Instance, *args: Any) -> Any:
        own = in_classes(KIND.__get__(self).__mro__, name)
        if type(own) is not FunctionType:
            return default(self, *args)
        out = CALLS[MethodType(own, self)](*args)
        left = out is NotImplemented and root_of(KIND.__get__(self)) is float
        return default(self, *args) if left else out

    call.__name__ = call.__qualname__ = name
    return call


def infix(ufunc: Any, operation: Any, reflected: bool, strict: bool) -> Any:
    """strict: for `super()`, where a float leaves operations with arrays to these."""

    def call(self: Instance, other: Any, modulo: Any = None) -> Any:
        if root_of(KIND.__get__(self)) is float:
            if (strict or type(other) is Instance) and isinstance(other, np.ndarray):
                return NotImplemented
            x, y = INNER.__get__(self), inside(other)
            return operation(y, x) if reflected else operation(x, y)
        if getattr(type(other), "__array_ufunc__", MISSING) is None:
            return NotImplemented
        return ufunc(other, self) if reflected else ufunc(self, other)

    return call


def in_place(ufunc: Any) -> Any:
    def call(self: Instance, other: Any) -> Any:
        is_float = root_of(KIND.__get__(self)) is float
        return NotImplemented if is_float else ufunc(self, other, out=(self,))

    return call


def by_name(name: str) -> Any:
    """What the root has by a name, called."""
    return lambda self, *args: of_root(self, root_of(KIND.__get__(self)), name)(*args)


def prefix(ufunc: Any, operation: Any) -> Any:
    def call(self: Instance) -> Any:
        is_float = root_of(KIND.__get__(self)) is float
        return operation(INNER.__get__(self)) if is_float else ufunc(self)

    return call


def of_inner(operation: Any) -> Any:
    return lambda self, *args: operation(INNER.__get__(self), *inside(args))


def set_item(self: Instance, index: Any, value: Any) -> None:
    kind = KIND.__get__(self)
    parts = index if type(index) is tuple else (index,)
    by_item = in_classes(kind.__mro__, "__getitem__") is not MISSING and any(
        not isinstance(part, int) for part in parts
    )
    inner = INNER.__get__(self)
    plain = example(self) if by_item else None
    inner[inside(index)] = inside(value)
    if plain is None:
        return
    plain[shown(index)] = shown(value)
    if not nearly_equal(np.asarray(plain), np.asarray(peel(inner))):
        raise MissingRuleError(
            f"`a[index] = x` on a `{kind.__name__}` calls the class's own `__getitem__`, which"
            " returned a copy.\n  Write into `a.view(np.ndarray)`."
        )


def operators(strict: bool) -> dict[str, Any]:
    methods: dict[str, Any] = {}
    for name, ufunc in {**INFIX, "pow": np.power, "matmul": np.matmul}.items():
        operation = getattr(operator, f"__{name}__")
        methods[f"__{name}__"] = infix(ufunc, operation, reflected=False, strict=strict)
        methods[f"__r{name}__"] = infix(ufunc, operation, reflected=True, strict=strict)
        methods[f"__i{name}__"] = in_place(ufunc)
    for name, ufunc in COMPARISONS.items():
        methods[f"__{name}__"] = infix(ufunc, getattr(operator, name), False, strict)
    for name, ufunc in PREFIX.items():
        methods[f"__{name}__"] = prefix(ufunc, getattr(operator, name))
    of = {"repr": repr, "str": str, "format": format, "float": float, "int": int, "bool": bool,
          "complex": complex, "index": operator.index, "len": len, "round": round,
          "contains": operator.contains, "divmod": divmod}  # fmt: skip
    methods |= {f"__{name}__": of_inner(operation) for name, operation in of.items()}
    methods["__setitem__"] = set_item
    methods["__array__"] = plain_array
    return methods


def plain_array(self: Instance, *args: Any, **options: Any) -> Any:
    """`__array__`, as NumPy calls it."""
    return INNER.__get__(self).__array__(*args, **options)


def own_array(self: Instance, *args: Any, **options: Any) -> Any:
    """`x.__array__()`, as a program writes it: the array itself."""
    return CALLS[np.asarray](INNER.__get__(self), *args, **options)


STANDS[id(plain_array)] = own_array


def install() -> None:
    OWN_WAY.update(operators(strict=True))
    methods = operators(strict=False)
    methods |= {name: by_name(name) for name in ("__getitem__", "__copy__", "__deepcopy__")}
    for name, default in methods.items():
        setattr(Instance, name, implicit(name, default))


install()


# Attributes by the ways of `object`, and what is left behind.


def of_object(f: Any) -> Any:
    """What `object` has for attributes, called by its name."""

    def call(*args: Any) -> Any:
        if args and type(args[0]) is Instance:
            return OWN_WAY[f.__name__](*args)
        return f(*args)

    return functools.update_wrapper(call, f)


STANDS.update({id(f): of_object(f) for f in (object.__getattribute__, object.__delattr__)})


def settled(x: Instance, exchanged: Any) -> Any:
    """What an Instance that is left behind becomes, once its trace has ended."""
    exchanged(NAMES.__get__(x))
    value = exchanged(INNER.__get__(x))
    INNER.__set__(x, value if type(value) is Array else Array(value, CONSTANT, None))
    return x if type(value) is Array else example(x)


SETTLING[Instance] = settled
