"""Wrap NumPy's functions for this namespace.

NumPy's protocols see an Array only if it's an argument by itself. They miss one in a list
(`np.sum([x[0], 1.0])`), in a keyword argument (`where=`, `initial=`) or among indices, and NumPy
would try to convert it. So a function here looks for Arrays first, and passes NumPy's function an
argument that the protocols see, or calls our implementation if there's no such argument. If there
are no Arrays, it calls NumPy's function.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, update_wrapper
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
from numpy import ndarray

from ..core.array import Array
from ..core.dispatch import (
    after_error,
    array_function,
    by_elements,
    general_ufunc,
    parameters_of,
    unknown,
)
from ..core.instances import BY_METHOD
from ..core.operands import (
    ARRAYS,
    CLASSES,
    HELD,
    HOLDERS,
    SEQUENCES,
    as_array,
    binary,
    check_class,
    holds_arrays,
    leaves,
    peeled,
)
from ..core.reach.namespaces import UNWATCHED, takes_part
from ..core.reach.twins import with_given_arrays
from ..core.refusals import answered
from ..core.registry import FUNCTIONS, REFUSED, UFUNCS
from ..core.scalars import OF_NUMPY, as_called, of_numpy
from ..core.spec import ObjectArrayError
from ..core.templates import from_template
from ..core.trace import CONSTANT, youngest
from ..primitives.infix import shortcut
from .fresh import made, made_by
from .taking_part import taking_part

# Classes of arguments that are no Array and hold none.
PLAIN = frozenset(
    {float, int, complex, bool, str, type(None), type(Ellipsis), slice, type, np.ndarray,
     np.float64, np.float32, np.int64, np.complex128, np.bool,
     *[type(np.dtype(char)) for char in np.typecodes["All"]]}
)  # fmt: skip

FLAT = PLAIN | {Array}
NEST = frozenset({list, tuple})

# NumPy's object -> what stands for it here: itself, if it takes part as the program does.
OWN: dict[Any, Any] = {np.asmatrix: np.asmatrix, np.bmat: np.bmat}
BY_CLASS = {np.nanmin, np.nanmax}  # they tell lists from arrays, and have other results for them
FRESH: set[Any] = set()  # functions that NumPy dispatches and that make arrays


def answers_for(*originals: Any) -> Callable[[Any], Any]:
    """Let a function or class of ours stand for NumPy's, under its name and signature."""

    def enter(function: Any) -> Any:
        if not isinstance(function, type):
            named_as(originals[0], function)
        for original in originals:
            OWN[original] = function
        return function

    return enter


def named_as(original: Any, function: Any) -> Any:
    """Give a function the name, signature and docstring of NumPy's, and this module."""
    update_wrapper(function, original)
    function.__module__ = "pullback.numpy"
    return function


class StandIn(type):
    """The type of a class that stands for NumPy's, `real`: equal to it, with the same instances.

    A user's class that derives from it is a class like others.
    """

    real: type

    def stands(cls) -> bool:
        return "real" in cls.__dict__

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, cls.real) if cls.stands() else super().__instancecheck__(x)

    def __subclasscheck__(cls, other: Any) -> bool:
        return issubclass(other, cls.real) if cls.stands() else super().__subclasscheck__(other)

    def __eq__(cls, other: object) -> bool:
        return other is cls or (cls.stands() and other is cls.real)

    def __hash__(cls) -> int:
        return hash(cls.real) if cls.stands() else super().__hash__()

    def __repr__(cls) -> str:
        return repr(cls.real) if cls.stands() else super().__repr__()


# Functions.


def ours(function: Any, fresh: bool = False) -> Any:
    """A function that NumPy dispatches. One that is `fresh` makes arrays, which become Arrays."""
    kinds: list[str | None] | None = None
    sure: set[Any] = set()  # types of arguments by position with which it is called at once
    inert: frozenset[str] = frozenset()  # keywords at which NumPy looks for no arrays
    joins: list[bool] = []  # holds True if the first argument is a list of arrays

    def call(*args: Any, **kwargs: Any) -> Any:
        at_once = tuple(map(type, args)) in sure or (joins and is_listed(*args))
        if not at_once or (kwargs and not inert.issuperset(kwargs)):
            return sought(args, kwargs)
        try:
            return FUNCTIONS[function](*args, **kwargs)
        except Exception as error:
            return after_error(function, args, kwargs, error)

    def sought(args: Any, kwargs: Any) -> Any:
        """The same where there may be Arrays anywhere."""
        nonlocal kinds, inert
        found = within = False  # Arrays among the arguments, and in lists
        for x in (*args, *kwargs.values()) if kwargs else args:
            kind = type(x)
            if kind is Array:
                found = True
            elif kind not in PLAIN:
                if kind not in NEST or not is_shallow(x):
                    return anywhere(function, args, kwargs, fresh)
                within = within or Array in map(type, x)
        if not found and not within:
            return made_by(function, args, kwargs) if fresh else function(*args, **kwargs)
        if kinds is None:
            names, kinds, rest = places(function)
            kinds = kinds + [rest] * 9
            if FUNCTIONS[function] is not None:
                # `out` has its own way, and NumPy before 2.1 doesn't look for arrays there.
                inert = frozenset(
                    [name for name, place in names.items() if place is None and name != "out"]
                )
                joins[:] = [True] if kinds[0] == "arrays" else []
        x = dispatching(args, kinds, found, within)
        if x is None:
            return anywhere(function, args, kwargs, fresh)
        if FUNCTIONS[function] and inert.issuperset(kwargs) and is_sure(args, kinds):
            sure.add(tuple(map(type, args)))
        return array_function(x, function, (), args, kwargs)  # past NumPy, which would find it

    def counted(n: int) -> Any:
        """The same for calls with n arguments, all by position."""
        names = ", ".join([f"x{i}" for i in range(n)])
        types = ", ".join([f"type(x{i})" for i in range(n)])
        scope = {
            "FUNCTIONS": FUNCTIONS, "after_error": after_error,
            "function": function, "sure": sure, "call": call, "joins": joins,
            "is_listed": is_listed, "made_by": made_by, "PLAIN": PLAIN,
        }  # fmt: skip
        plain = "PLAIN.issuperset(kinds)" if fresh else "False"
        return from_template(COUNTED, scope, names=names, types=types, plain=plain)

    call.counted = counted  # type: ignore[attr-defined]  # what a call site calls
    call.direct = not fresh  # type: ignore[attr-defined]  # of plain arguments, it is NumPy's
    return named_as(function, call)


COUNTED = """
def counted({names}):
    kinds = ({types},)
    if kinds in sure or (joins and is_listed({names})):
        try:
            return FUNCTIONS[function]({names})
        except Exception as error:
            return after_error(function, ({names},), {{}}, error)
    if {plain}:
        return made_by(function, ({names},), {{}})
    return call({names})
"""


def is_shallow(x: Any) -> bool:
    """Whether a list holds Arrays and what is plain, or lists that hold no Array, however deep."""
    kinds = {*map(type, x)}
    return kinds <= FLAT or (kinds <= FLAT | NEST and all(map(is_plain, nested(x))))


def is_plain(x: Any) -> bool:
    """Whether a list holds what is plain, or lists of it, however deep."""
    kinds = {*map(type, x)}
    return kinds <= PLAIN or (kinds <= PLAIN | NEST and all(map(is_plain, nested(x))))


def nested(x: Any) -> list[Any]:
    return [y for y in x if type(y) in NEST]


def is_sure(args: Any, kinds: Any) -> bool:
    """Whether the types alone tell that NumPy would hand such arguments over as they are."""
    for x, place in zip(args, kinds, strict=False):
        kind = type(x)
        if kind is not Array and kind not in PLAIN and (place is not None or kind not in NEST):
            return False
    return True


def is_listed(xs: Any = None, *others: Any) -> bool:
    """Whether a list of arrays and numbers comes first, an Array among them, and then none."""
    if type(xs) not in NEST or not PLAIN.issuperset(map(type, others)):
        return False
    kinds = {*map(type, xs)}
    return Array in kinds and kinds <= FLAT


def dispatching(args: Any, kinds: list[str | None], found: bool, within: bool) -> Array | None:
    """The Array by which NumPy would dispatch: an argument, or one in a list of arrays.

    Args:
        kinds: what NumPy looks for at each argument.
        found: whether an argument is an Array.
        within: whether one is in a list or tuple.
    """
    for x, place in zip(args, kinds, strict=False):
        if type(x) is Array:
            if place == "array" and not within:
                return x
        elif place == "arrays" and within and not found and seen(x, place):
            return next(item for item in x if type(item) is Array)
    return None


def seeking(function: Any) -> Any:
    """A function that NumPy does not dispatch: with Arrays the implementation answers."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if not (holds_arrays(args) or (kwargs and holds_arrays([*kwargs.values()]))):
            return function(*args, **kwargs)
        implementation = FUNCTIONS[function]
        if implementation is None:
            return unknown(function, args, kwargs)
        return answered(implementation, function, args, kwargs)

    return named_as(function, call)


def anywhere(function: Any, args: Any, kwargs: dict[str, Any], fresh: bool) -> Any:
    """Call a function with Arrays at any place."""
    if HELD and function not in BY_METHOD:
        args, kwargs = given_up(args), {name: given_up(x) for name, x in kwargs.items()}
    arrays = [x for x in leaves((args, list(kwargs.values()))) if type(x) is Array]
    if not arrays:
        return with_given_arrays(made_by if fresh else None, function, args, kwargs)
    if function in BY_CLASS:
        return FUNCTIONS[function](*args, **kwargs)
    names, kinds, rest = places(function)
    kinds = [*kinds, *[rest] * len(args)][: len(args)]
    args = [listed(x, kind) for x, kind in zip(args, kinds, strict=True)]
    kwargs = {key: listed(x, names.get(key)) for key, x in kwargs.items()}
    pairs = [*zip(args, kinds, strict=True), *((x, names.get(key)) for key, x in kwargs.items())]
    if any(seen(x, kind) for x, kind in pairs):
        return function(*args, **kwargs)  # NumPy dispatches
    implementation = FUNCTIONS[function]
    if all(x.within is CONSTANT for x in arrays) or implementation is None:
        return made(function(*map(values, args), **{key: values(x) for key, x in kwargs.items()}))
    if any(kind == "array" and check_class(type(x), x) for x, kind in pairs):
        return CLASSES["function"](function, args, kwargs)
    args = [as_operand(x, kind) for x, kind in zip(args, kinds, strict=True)]
    kwargs = {key: as_operand(x, names.get(key)) for key, x in kwargs.items()}
    return answered(implementation, function, args, kwargs)


def given_up(x: Any) -> Any:
    """An argument with the Arrays that objects of other packages hold, in lists as well."""
    kind = type(x)
    if kind in HELD:
        inner = HELD[kind](x)
        return x if inner is None else inner
    return kind([given_up(y) for y in x]) if kind in NEST else x


def listed(x: Any, kind: str | None) -> Any:
    """An argument with its lists of Arrays as Arrays, where NumPy looks for arrays."""
    if kind == "array" and holds_arrays(x):
        return as_array(x)
    if kind == "arrays" and SEQUENCES[type(x)]:
        items = [as_array(item) if holds_arrays(item) else item for item in x]
        return tuple(items) if type(x) is tuple else items
    return x


def seen(x: Any, kind: str | None) -> bool:
    """Whether NumPy finds an Array in an argument, or what holds one."""
    if kind == "nested":
        return holds_arrays(x) or type(x) in HOLDERS
    if kind == "arrays" and type(x) in (list, tuple):
        return not HOLDERS.isdisjoint(map(type, x))
    return kind is not None and type(x) in HOLDERS


def as_operand(x: Any, kind: str | None) -> Any:
    return as_array(x) if kind == "array" and type(x) not in (Array, str, type(None)) else x


def values(x: Any) -> Any:
    """An argument with constants as plain arrays; others stay, for NumPy's function to meet."""
    trace = youngest([leaf for leaf in leaves(x) if type(leaf) is Array])
    return peeled(x) if trace is CONSTANT else x


@cache
def places(function: Any) -> tuple[dict[str, str | None], list[str | None], str | None]:
    """Where a function looks for arrays, by its own word: "array", "arrays" for several, or None.

    It is called with an object of another class for each parameter, which also is a sequence of
    two, as the bins of two axes are; the protocol tells us the classes that it dispatches on. The
    answers come by name, by position, and for what is passed beyond the named positions.
    """
    with UNWATCHED[-1]():  # the program asks for none of this
        parameters = parameters_of(function)
    if not parameters:
        return {}, [], "array"
    probes = {name: probe(f"array {name}", probe(f"arrays {name}")) for name in parameters}
    by_position = [
        name
        for name, p in parameters.items()
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    rest = [name for name, p in parameters.items() if p.kind is p.VAR_POSITIONAL]
    by_name = [name for name, p in parameters.items() if p.kind is p.KEYWORD_ONLY]
    try:
        found = function(
            *[probes[name] for name in by_position + rest],
            **{name: probes[name] for name in by_name},
        )
    except TypeError:  # an implementation that does not tell either
        return {}, [], "array"
    answers: dict[str, str | None] = dict.fromkeys(parameters)
    for cls in found:
        kind, name = cls.__name__.split()
        answers[name] = "nested" if function is np.block else kind
    return answers, [answers[name] for name in by_position], answers[rest[0]] if rest else None


def probe(name: str, item: Any = None) -> Any:
    """An object that answers every function with the classes that NumPy dispatched on."""
    body: dict[str, Any] = {"__array_function__": lambda self, function, types, args, kwargs: types}
    if item is not None:
        body["__len__"] = lambda self: 2
        body["__iter__"] = lambda self: iter([item, item])
        body["__getitem__"] = lambda self, i: [item, item][i]
    return type(name, (), body)()


# Ufuncs.


NOTHING = object()


class Ufunc:
    """A ufunc that takes lists of Arrays, and goes to the primitive by the shortest way.

    `isinstance(np.sin, np.ufunc)` is true of it, and it has all that NumPy's ufunc has.
    """

    __slots__ = ("__weakref__", "nin", "primitive", "short", "ufunc")
    __class__: Any = np.ufunc

    def __init__(self, ufunc: np.ufunc) -> None:
        self.ufunc, self.nin = ufunc, ufunc.nin
        self.primitive = UFUNCS.get(ufunc)
        # What a call site calls: a function, which Python calls without asking a class.
        self.short = SHORT.get(ufunc.nin, listing)(self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.short(*args, **kwargs)

    def counted(self, n: int) -> Any:
        """What a call site calls that gives n arguments, all by position."""
        forms = {1: just_one, 2: just_two}
        takes = self.primitive is not None and n == self.nin and n in forms
        return shortcut(self.primitive, forms[n](self), n) if takes else self.short

    def general(self, args: Any, kwargs: dict[str, Any]) -> Any:
        """With keywords, or lists of Arrays."""
        n = self.nin
        args = (*[listed(x, "array") for x in args[:n]], *args[n:])
        return with_given_arrays(None, self.ufunc, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.ufunc, name)

    def __repr__(self) -> str:
        return repr(self.ufunc)

    def __eq__(self, other: object) -> bool:
        return self.ufunc is (other.ufunc if isinstance(other, Ufunc) else other)

    def __hash__(self) -> int:
        return hash(self.ufunc)

    def __reduce__(self) -> Any:
        return member, (self.ufunc,)


def listing(own: Ufunc) -> Any:
    return lambda *args, **kwargs: own.general(args, kwargs)


def gives_python(primitive: Any) -> bool:
    """Whether Python's operator for a ufunc gives a number of Python's of such numbers."""
    return primitive is not None and (primitive.arithmetic or primitive.comparison)


def of_one(own: Ufunc) -> Any:
    """The short way of a ufunc of one operand."""
    ufunc, primitive = own.ufunc, own.primitive
    pythons = gives_python(primitive)

    def call(x: Any = NOTHING, /, *args: Any, **kwargs: Any) -> Any:
        if not args and not kwargs:
            kind = type(x)
            if kind is Array:
                if primitive is not None:
                    if type(x.payload) not in OF_NUMPY or (pythons and x.within.weighs):
                        x = of_numpy(x)
                    return x.within.unary(primitive, x)
            elif kind in PLAIN:
                return ufunc(x)
        return own.general(() if x is NOTHING else (x, *args), kwargs)

    return call


def just_one(own: Ufunc) -> Any:
    """`of_one` for calls without keywords."""
    primitive, short = own.primitive, own.short
    pythons = gives_python(primitive)

    def call(x: Any) -> Any:
        if type(x) is Array:
            if type(x.payload) not in OF_NUMPY or (pythons and x.within.weighs):
                x = of_numpy(x)
            return x.within.unary(primitive, x)
        return short(x)

    return call


def just_two(own: Ufunc) -> Any:
    """`of_two` for calls without keywords, for arrays and Arrays that hold them."""
    primitive, short = own.primitive, own.short
    pythons, arrays = gives_python(primitive), getattr(primitive, "arrays", OF_NUMPY)

    def call(x: Any, y: Any) -> Any:
        if type(x) is Array and type(x.payload) in arrays and not (pythons and x.within.weighs):
            kind = type(y)
            if kind is Array and type(y.payload) in arrays and not (pythons and y.within.weighs):
                trace = x.within
                if y.within.birth > trace.birth:
                    trace = y.within
                return trace.binary(primitive, x, y)
            if kind is float or kind is int or kind is ndarray:
                try:
                    return x.within.beside(primitive, 0, x, y)
                except ObjectArrayError:
                    return by_elements(own.ufunc, x, y)
        return short(x, y)

    return call


def of_two(own: Ufunc) -> Any:
    """The short way of a ufunc of two operands."""
    ufunc, primitive = own.ufunc, own.primitive
    whole = None if ufunc.signature is None else FUNCTIONS[ufunc]
    pythons, arrays = gives_python(primitive), getattr(primitive, "arrays", OF_NUMPY)
    whole = getattr(whole, "plain", whole)

    def call(x: Any = NOTHING, y: Any = NOTHING, /, *args: Any, **kwargs: Any) -> Any:
        if not args and not kwargs:
            one, other = type(x), type(y)
            if one is Array or other is Array:
                if primitive is not None and y is not NOTHING:
                    applied = primitive
                    if (
                        one is Array
                        and (type(x.payload) not in arrays or (pythons and x.within.weighs))
                    ) or (
                        other is Array
                        and (type(y.payload) not in arrays or (pythons and y.within.weighs))
                    ):
                        applied, (x, y) = as_called(primitive, (x, y))
                    try:
                        out = binary(applied, x, y)
                    except ObjectArrayError:
                        return by_elements(ufunc, x, y)
                    if out is not NotImplemented:
                        return out
                elif whole is not None and one in ARRAYS and other in ARRAYS:
                    return whole(x, y)
            elif one in PLAIN and other in PLAIN:
                return ufunc(x, y)
        return own.general([*[z for z in (x, y) if z is not NOTHING], *args], kwargs)

    return call


SHORT: dict[int, Any] = {1: of_one, 2: of_two}  # by the number of operands


def ufunc_method(name: str) -> Any:
    def call(self: Ufunc, *args: Any, **kwargs: Any) -> Any:
        key = args[1] if name == "at" and len(args) > 1 else None
        # A tuple of indices is one index.
        args = tuple([x if x is key and type(x) is tuple else listed(x, "array") for x in args])
        others = [x for x in (*args[1:], *kwargs.values()) if type(x) is Array and x.within.live]
        if others and type(args[0]) is not Array and name.startswith(("reduce", "accumulate")):
            return general_ufunc(self.ufunc, name, (as_array(args[0]), *args[1:]), kwargs)
        return getattr(self.ufunc, name)(*args, **kwargs)

    call.__name__ = name
    call.__doc__ = getattr(np.ufunc, name).__doc__
    return call


for name in ("reduce", "accumulate", "reduceat", "outer", "at"):
    setattr(Ufunc, name, ufunc_method(name))
Ufunc.__doc__ = property(lambda self: self.ufunc.__doc__)  # type: ignore[assignment]  # of each its own


DISPATCHED, FUNCTION_TYPES = type(np.sum), (FunctionType, type(np.zeros))


def mirror(scope: dict[str, Any], real: ModuleType, traced: bool = False) -> tuple[Any, Any]:
    """`__getattr__` and `__dir__` of a module that stands for one of NumPy's.

    traced: a Python function or class without a rule takes part as the user's code does.
    """

    def get(name: str) -> Any:
        """The name as NumPy has it; it is looked up once."""
        if name.startswith("_"):
            raise AttributeError(f"module '{scope['__name__']}' has no attribute '{name}'")
        original = getattr(real, name)
        own = taking_part(original) if traced and not has_rule(original) else None
        scope[name] = member(original) if own is None else own
        return scope[name]

    return get, lambda: sorted(scope["__all__"])


def has_rule(function: Any) -> bool:
    """Whether anything is known of a function: a rule, or why there is none."""
    return function in OWN or function in REFUSED or FUNCTIONS[function] is not None


def is_refused(x: Any) -> bool:
    """Whether it is a function that is refused, perhaps of Cython's, and no class."""
    return not isinstance(x, type) and x in REFUSED


def member(original: Any) -> Any:
    """What stands here for an object of NumPy's: itself, unless it has to do with Arrays."""
    try:
        return OWN[original]
    except KeyError:
        pass
    except TypeError:  # not hashable, so no function
        return original
    python = type(original) is FunctionType and takes_part(original.__globals__)
    if python and not has_rule(original):
        return original  # a package has put it in the place of NumPy's
    if type(original) is np.ufunc:
        own: Any = Ufunc(original)
    elif type(original) is DISPATCHED:
        own = ours(original, original in FRESH)
    elif type(original) in FUNCTION_TYPES or is_refused(original):
        own = seeking(original)
    else:
        return original
    return OWN.setdefault(original, own)
