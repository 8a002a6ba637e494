"""Classes: what an object's class tells about it, and what its instances may hold."""

from __future__ import annotations

import builtins
import operator
import re
import sys
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterator, Mapping, Set
from typing import Any, NamedTuple

import numpy as np

from ...core.primitive import Primitive
from ...core.reach.class_members import HEAP
from ...core.reach.namespaces import apart
from .places import of

ATOMS = (bool, int, str, bytes, type(None), type(Ellipsis), type(NotImplemented), range)
KNOWN_BY_IDENTITY = (
    type, types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType,
    types.GetSetDescriptorType, types.MemberDescriptorType, types.MethodWrapperType,
    types.ClassMethodDescriptorType, np.ufunc, np.dtype, Primitive, re.Pattern,
)  # fmt: skip
FIXED = {"numpy", "pullback", "scipy", "math", "cmath"}  # their content stays as it is
SCOPES = [vars(module) for module in (np, np.linalg, np.fft)]
OWN: list[Any] = []  # what they held when nothing of it was anybody else's
# What Python keeps in a class and code may ask for; other names of this form are methods that
# Python calls.
TOLD_BY_CLASSES = frozenset(
    {
        "__module__", "__doc__", "__qualname__", "__annotations__", "__slots__",
        "__abstractmethods__", "__parameters__", "__orig_bases__", "__dataclass_params__",
        "__dataclass_fields__", "__static_attributes__", "__firstlineno__",
    }
)  # fmt: skip
KEPT_BY_CLASSES = TOLD_BY_CLASSES | {
    "__dict__", "__weakref__", "__annotate__", "__annotate_func__", "__annotations_cache__",
    "__classcell__", "_abc_impl",  # what is registered with it is an ambient fact
}  # fmt: skip
# Of these, what code of Python's own library asks classes for that it is given, and what `enum`
# keeps in them. `dataclasses` has two of the names in variables.
ASKED_BY_LIBRARIES = frozenset(
    {
        "__annotations__", "__slots__", "__abstractmethods__", "__parameters__", "__orig_bases__",
        "__dataclass_params__", "__dataclass_fields__", "_member_map_", "_member_names_",
        "_value2member_map_",
    }
)  # fmt: skip
IN_VARIABLES = {"_FIELDS": "__dataclass_fields__", "_PARAMS": "__dataclass_params__"}
# Classes of the standard library whose instances hold nothing but what is read here.
TRANSPARENT = frozenset(
    {
        object, dict, list, tuple, set, frozenset, deque, OrderedDict, defaultdict, Counter, int,
        np.ndarray, float, complex, str, bytes, types.SimpleNamespace,
    }
)  # fmt: skip
POINTER = 8  # bytes
FOREIGN_FUNCTIONS = {"cython_function_or_method", "fused_cython_function", "nb_func", "nb_method"}
ATTRIBUTES_ALONE = {
    "_weakrefset", "argparse", "collections", "configparser", "fractions", "weakref",
}  # fmt: skip
ABSTRACT = {"abc", "collections.abc", "_collections_abc", "typing", "contextlib", "enum", "numbers"}


class Unprovable(Exception):
    """Something that code reads cannot be proved to be the same in the next call."""


def slots_of(cls: type) -> Iterator[types.MemberDescriptorType]:
    """The slots that an instance of a class has, but for those of classes of ours."""
    for base in cls.__mro__:
        if of_python(base) and not base.__module__.startswith("pullback."):
            yield from [y for y in vars(base).values() if type(y) is types.MemberDescriptorType]


def unit_of(x: np.generic) -> tuple[Any, ...]:
    """The properties of a scalar that its bytes don't show: its unit, or its fields."""
    if x.dtype.hasobject:
        raise Unprovable("a scalar of Python objects")
    return (x.dtype,) if x.dtype.kind in "mMV" else ()


class Instances(NamedTuple):
    """What all instances of a class hold, so that it is asked once in a reading.

    ours: whether the class is of this package, and says what its instances read.
    whole: whether all attributes are read.
    """

    ours: bool
    whole: bool
    error: bool
    array: bool
    containers: list[type]

    @classmethod
    def of(cls, kind: type, ours: bool, whole: bool) -> Instances:
        bases = dict, list, tuple, set, frozenset, deque
        error, array = issubclass(kind, BaseException), issubclass(kind, np.ndarray)
        return cls(ours, whole, error, array, [base for base in bases if issubclass(kind, base)])


def of_library(cls: type) -> bool:
    """Whether a class is a library's; a file of the user's may have the name of a standard one.

    A class that was made where globals have no name says that it is of `builtins`.
    """
    if not apart({"__name__": cls.__module__}):
        return False
    if cls.__flags__ & HEAP and cls.__module__ == "builtins":
        return vars(builtins).get(cls.__name__) is cls
    home = sys.modules.get(cls.__module__)
    if home is None and of_python(cls):  # made by a module that nobody can import
        return False
    return type(home) is not types.ModuleType or bool(apart(vars(home)))


def of_python(cls: type) -> bool:
    """Whether an instance of a class holds no more than attributes and slots beside its base's."""
    if not cls.__flags__ & HEAP or cls.__base__ is None:
        return False
    held = vars(cls)
    room = len({"__dict__", "__weakref__"} & held.keys())
    if "__slots__" in held:
        room += len([y for y in held.values() if type(y) is types.MemberDescriptorType])
    return cls.__basicsize__ - cls.__base__.__basicsize__ <= POINTER * room


def foreign_function(x: Any) -> bool:
    """Whether x is a function of an extension module of a type unknown to Python."""
    kind = type(x)
    return callable(x) and hasattr(kind, "__qualname__") and kind.__name__ in FOREIGN_FUNCTIONS


def tells(kind: type) -> bool:
    """Whether a class of ours says what its instances read."""
    return str(getattr(getattr(kind, "reads", None), "__module__", "")).startswith("pullback.")


def among(names: Set[str], scope: Mapping[str, Any]) -> set[str]:
    """The names that a namespace has; of the two, the shorter one is gone through."""
    if len(names) < len(scope):
        return {name for name in names if name in scope}
    return {name for name in scope if name in names}


def parts_of_library(x: types.ModuleType, names: Set[str]) -> list[Any]:
    """What is inside a library's module; what is imported when it's first asked for is asked for.

    Only a package has modules inside: others may warn of the names that they are asked for.
    """
    scope = vars(x)
    found = among(names, scope)
    if "__getattr__" in scope and hasattr(x, "__path__"):
        found |= {name for name in scope.get("__all__", ()) if name in names}
    return [scope[name] if name in scope else getattr(x, name, None) for name in sorted(found)]


def plain(cls: type) -> bool:
    """Whether a class of the standard library keeps all that it has in attributes and slots."""
    return (cls.__module__ in ATTRIBUTES_ALONE or cls is np.vectorize) and of_python(cls)


# Compiled classes of SciPy's of which nothing can be changed, and the arrays that they refer to.
SEALED = {
    ("builtins", "SuperLU"): (),
    ("scipy.spatial._ckdtree", "cKDTree"): ("data",),
}


def open_object(cls: type) -> tuple[str, ...] | None:
    """The arrays that an instance of a class of SciPy's or NumPy's holds beside attributes and
    slots.

    None: the class is none of theirs, or its instances may hold what cannot be seen.
    """
    arrays: list[str] = []
    known = cls.__module__.startswith(("numpy.", "scipy.")) or cls is np.matrix or cls is np.poly1d
    if not (known or (cls.__module__, cls.__name__) in SEALED):
        return None
    for base in cls.__mro__:
        sealed = SEALED.get((base.__module__, base.__name__))
        if sealed is not None:
            arrays += sealed
        elif not (base in TRANSPARENT or base.__module__ in ABSTRACT or of_python(base)):
            return None
    return tuple(arrays)


def is_open(cls: type) -> bool:
    """Whether all that decides about an instance of SciPy's or NumPy's is read."""
    sealed = any((base.__module__, base.__name__) in SEALED for base in cls.__mro__)
    return not sealed and open_object(cls) is not None


def derived_arrays(cls: type) -> tuple[str, ...] | None:
    """The same of a class of the user's that derives from theirs; None: it derives from none.

    Raises:
        Unprovable: it derives from a class of a library whose instances may hold more.
    """
    bases = foreign_bases(cls)
    for base in bases:
        if open_object(base) is None:
            raise Unprovable(f"an object derived from `{base.__module__}.{base.__name__}`")
    return open_object(bases[0]) if bases else None


def theirs(x: Any) -> bool:
    """Whether it is a function of the user's."""
    return of(x, types.FunctionType) and not apart(x.__globals__)


def in_places_of_numpys() -> list[Any]:
    """What packages have put in the places of NumPy's functions: pullback's own code calls it."""
    values = [x for scope in SCOPES for x in scope.values()]
    if len(values) == len(OWN) and all(map(operator.is_, values, OWN)):
        return []
    found = [x for x in values if theirs(x) or not of_library(type(x))]
    if not found:
        OWN[:] = values
    return found


def transparent(cls: type) -> bool:
    """Whether all that an instance of a class of a library holds is read."""
    return cls in TRANSPARENT or cls.__module__ in ABSTRACT or issubclass(cls, BaseException)


def foreign_bases(cls: type) -> list[type]:
    """The classes of libraries that a class derives from whose code may call what it defines."""
    bases = [base for base in cls.__mro__ if of_library(base) or not of_python(base)]
    return [base for base in bases if not transparent(base) and not plain(base)]


MAKERS = {"__new__", "__init__", "__setattr__"}  # methods of a tuple with attributes
ERRORS = {"TypeError": TypeError, "AttributeError": AttributeError}


def is_tuple(scope: dict[str, Any]) -> bool:
    """Whether code was made by `namedtuple`, or SciPy's `_make_tuple_bunch`: it makes a tuple.

    What it reads beside its arguments are Python's own errors.
    """
    if scope.get("_tuple_new") is not tuple.__new__:
        return False
    methods = scope.keys() - {"_tuple_new", "__builtins__", "__name__"}
    return (
        methods <= MAKERS
        and scope.get("__builtins__") in ({}, ERRORS)
        and all(getattr(scope[name], "__globals__", None) is scope for name in methods)
    )
