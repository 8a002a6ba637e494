"""Objects of classes that derive from ndarray or float, with an Array instead of their memory.

    class Length(np.ndarray):
        def __new__(cls, data, unit):
            self = np.asarray(data).view(cls)      # data is an Array: self is an Instance
            self.unit = unit
            return self

The memory of such an object belongs to C and holds plain numbers. So an object that carries a
derivative is an `Instance`: it reports the user's class as its own, has that class's methods and
properties and its own attributes, and keeps an Array. `super()` finds the methods of ndarray, which
the Array has.

Which class a result has, and with which attributes, NumPy is asked: the same is done to an
`example`, an object of the class with plain numbers. Where the class changes the numbers as well,
which the Array would not hear of, that is refused.
"""

from __future__ import annotations

import math
import sys
from types import FunctionType, MemberDescriptorType, MethodType
from typing import Any

import numpy as np

from .array import Array, peel
from .errors import ConversionError, MissingRuleError
from .foreign import MEMORY, whose
from .leftover import HOLDS
from .operands import CLASSES, DEFERS, HOLDERS
from .operators import COMPARISONS, INFIX, MIRRORED
from .reach.call_tables import CALLS
from .reach.class_members import BORING
from .reach.code_tables import instruction, is_operator
from .reach.matching import STANDING
from .reach.session import active
from .reach.walk import MAKERS, reach_class
from .storage import current
from .trace import CONSTANT
from .written_numbers import TEXTS, warn_read_in

ROOTS = (np.ndarray, float)
NUMBERS = (np.ndarray, np.generic, int, float, complex)
MISSING = object()
Slot = MemberDescriptorType
REPLACED = (np.memmap, np.recarray)


def is_in_python(cls: type) -> bool:
    """Whether a class is one of NumPy's written in Python, or derives from it: these take part."""
    masked = sys.modules.get("numpy.ma")  # which takes long to import
    return issubclass(cls, np.matrix) or (
        masked is not None and issubclass(cls, masked.MaskedArray)
    )


def derives(cls: Any, root: Any = ROOTS) -> bool:
    """Whether a class is a user's that derives from ndarray or float."""
    return (
        isinstance(cls, type)
        and issubclass(cls, root)
        and cls not in ROOTS
        and not issubclass(cls, (*REPLACED, np.generic))
        and (not is_in_python(cls) or active())
    )


class Instance:
    """An object of `kind`: an Array `inner` for its memory, `names` for its attributes."""

    __slots__ = ("__weakref__", "inner", "kind", "names")

    def __hash__(self) -> int:
        """By the class's own way, of constants; a number with a derivative has none."""
        kind = KIND.__get__(self)
        if INNER.__get__(self).within.live or type(in_classes(kind.__mro__, "__hash__")) is not (
            FunctionType
        ):
            raise TypeError(f"unhashable type: '{kind.__name__}'")
        return hash(example(self))

    def __init__(self, kind: Any, inner: Any, names: Any) -> None:
        KIND.__set__(self, kind)
        INNER.__set__(self, inner)
        NAMES.__set__(self, names)
        reach_class(kind)

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":
            return KIND.__get__(self)
        if name == "__dict__":
            return NAMES.__get__(self)
        if name == "__array_interface__" and compares_memory(sys._getframe(1)):
            return peel(INNER.__get__(self)).__array_interface__
        return attribute(self, name, KIND.__get__(self).__mro__)

    def __setattr__(self, name: str, value: Any) -> None:
        kind = KIND.__get__(self)
        own = in_classes(kind.__mro__, "__setattr__")
        if own is not MISSING:
            return CALLS[MethodType(own, self)](name, value)
        set_attribute(self, name, value)

    def __delattr__(self, name: str) -> None:
        try:
            del NAMES.__get__(self)[name]
        except KeyError:
            raise AttributeError(name) from None

    def __array_ufunc__(self, ufunc: Any, method: str, *xs: Any, **options: Any) -> Any:
        if len(xs) == 2 and xs[1] is self and not options and ufunc in REFLECTED:
            own = in_classes(KIND.__get__(self).__mro__, REFLECTED[ufunc])
            if type(own) is FunctionType and is_operator(sys._getframe(1)):
                return CALLS[MethodType(own, self)](xs[0])
        outs = options.get("out") or ()
        own = overriding((*xs, *(outs if isinstance(outs, tuple) else (outs,))), "__array_ufunc__")
        if not own:
            return of_ufunc(ufunc, method, xs, options)
        return first_answer(own, ufunc, method, *xs, **options)

    def __array_function__(self, function: Any, types: Any, xs: Any, options: Any) -> Any:
        found = [x for x in arguments((xs, list(options.values()))) if type(x) is Instance]
        own = overriding(found, "__array_function__")
        if not own:
            return of_function(function, xs, options)
        kinds = {KIND.__get__(x) for x in found} | {*types} - {Instance}
        named = tuple([np.ndarray if kind is Array else kind for kind in kinds])
        out = first_answer(own, function, named, xs, options)
        beside = np.ndarray in named and all(issubclass(kind, np.ndarray) for kind in named)
        return of_function(function, xs, options) if out is NotImplemented and beside else out

    def __iter__(self) -> Any:
        own = in_classes(KIND.__get__(self).__mro__, "__iter__")
        if own is not MISSING:
            return CALLS[MethodType(own, self)]()
        return iter([self.__getitem__(i) for i in range(self.__len__())])


def first_answer(methods: Any, *args: Any, **options: Any) -> Any:
    """What the first method says that does not decline."""
    outs = (CALLS[f](*args, **options) for f in methods)
    return next((out for out in outs if out is not NotImplemented), NotImplemented)


def set_attribute(x: Instance, name: str, value: Any) -> None:
    """`object.__setattr__(x, name, value)`."""
    kind = KIND.__get__(x)
    known = in_classes(kind.__mro__, name)
    if is_asked(known, "__set__"):
        known.__set__(x, value)
    elif known is MISSING and issubclass(kind, np.ndarray) and name in vars(np.ndarray):
        setattr(INNER.__get__(x), name, inside(value))
    else:
        NAMES.__get__(x)[name] = value


STANDING.add(Instance)

# NumPy leaves `a * x` to the class of x, if that derives from the class of a. An Instance does not.
REFLECTED = {ufunc: f"__r{name}__" for name, ufunc in {**INFIX, "matmul": np.matmul}.items()}
REFLECTED |= {ufunc: f"__{MIRRORED[name]}__" for name, ufunc in COMPARISONS.items()}


def compares_memory(frame: Any) -> bool:
    """Whether numpy.ma asks where an array lies; NumPy in C would read what lies there."""
    return frame.f_globals["__name__"] == "numpy.ma.core" and instruction(frame) == "LOAD_ATTR"


KIND: Any = vars(Instance)["kind"]
INNER: Any = vars(Instance)["inner"]
NAMES: Any = vars(Instance)["names"]
BORING.add(Instance)
DEFERS.add(Instance)


# Attributes.


def in_classes(mro: Any, name: str) -> Any:
    """What the user's classes have by a name, before that of ndarray or float does."""
    for base in mro:
        if base in ROOTS:
            if name in vars(base):
                return MISSING
        elif base is not object and name in vars(base):
            return vars(base)[name]
    return MISSING


def is_asked(x: Any, method: str) -> bool:
    """Whether what a class has by a name is asked by a method; slots lie among the attributes."""
    return x is not MISSING and type(x) is not Slot and hasattr(type(x), method)


def attributes(x: Any) -> dict[str, Any]:
    """The attributes of a plain object, those in slots included."""
    names = dict(getattr(x, "__dict__", {}))
    for base in type(x).__mro__:
        for name, slot in vars(base).items():
            if type(slot) is Slot and base not in ROOTS and hasattr(x, name):
                names[name] = slot.__get__(x)
    return names


def attribute(self: Instance, name: str, mro: Any) -> Any:
    """What `self.name` is, for a lookup that starts at some place in the order of classes."""
    kind, names = KIND.__get__(self), NAMES.__get__(self)
    x = in_classes(mro, name)
    if is_asked(x, "__set__") and hasattr(type(x), "__get__"):
        return x.__get__(self, kind)
    if mro is kind.__mro__ and name in names:
        return names[name]
    if x is not MISSING and type(x) is not Slot:
        return x.__get__(self, kind) if hasattr(type(x), "__get__") else x
    root = root_of(kind)
    if name in vars(root):
        return of_root(self, root, name)
    if name in vars(object):
        own = OWN_WAY.get(name)
        return getattr(object, name).__get__(self) if own is None else MethodType(own, self)
    otherwise = in_classes(kind.__mro__, "__getattr__")
    if otherwise is not MISSING:
        return CALLS[MethodType(otherwise, self)](name)
    raise AttributeError(f"'{kind.__name__}' object has no attribute '{name}'")


def root_of(kind: Any) -> Any:
    return np.ndarray if issubclass(kind, np.ndarray) else float


def of_root(self: Instance, root: Any, name: str) -> Any:
    """An attribute or a method that the class has from ndarray or float."""
    own = OWN_WAY.get(name)
    if own is not None:
        return MethodType(own, self)
    theirs = vars(root)[name]
    if not callable(theirs):  # `shape`, `T`
        live = getattr(INNER.__get__(self), name)
        return like(theirs.__get__(example(self)), live) if type(live) is Array else live
    if name in BY_UFUNC and overriding((self,), "__array_ufunc__"):
        return MethodType(BY_UFUNC[name], self)

    def call(*args: Any, **options: Any) -> Any:
        live = getattr(INNER.__get__(self), name)(*inside(args), **inside(options))
        if live is NotImplemented or live is None:
            return live
        with np.errstate(all="ignore"):
            plain = theirs(example(self), *shown(args), **shown(options))
        return like(plain, live)

    return call


# `core.instance_methods` fills these in: what the root has in another way, or through a ufunc.
OWN_WAY: dict[str, Any] = {}
BY_UFUNC: dict[str, Any] = {}


# `super()`.


class Above:
    """What `super()` gives in a method of an Instance."""

    __slots__ = ("mro", "self")

    def __init__(self, cls: type, x: Instance) -> None:
        mro = KIND.__get__(x).__mro__
        object.__setattr__(self, "mro", mro[mro.index(cls) + 1 :])
        object.__setattr__(self, "self", x)

    def __getattribute__(self, name: str) -> Any:
        mro, x = (object.__getattribute__(self, each) for each in ("mro", "self"))
        return attribute(x, name, mro)

    def __setattr__(self, name: str, value: Any) -> None:
        x = object.__getattribute__(self, "self")
        found = in_classes(object.__getattribute__(self, "mro"), name)
        if is_asked(found, "__set__"):
            found.__set__(x, value)
        else:
            NAMES.__get__(x)[name] = value


def above(*args: Any) -> Any:
    """`super`, called as `super()` by the frame below the caller, or with a class and an object."""
    if not args:
        frame = sys._getframe(2)
        local = frame.f_locals
        args = local["__class__"], local[frame.f_code.co_varnames[0]]
    return Above(*args) if len(args) == 2 and type(args[1]) is Instance else super(*args)


# Examples, and results like theirs.


def example(x: Instance) -> Any:
    """An object of the class itself, with plain numbers."""
    kind, inner = KIND.__get__(x), INNER.__get__(x)
    value = peel(inner)
    if np.shape(value) != inner.shape:
        raise MissingRuleError(
            f"An object of `{kind.__name__}`, a class that derives from `{root_of(kind).__name__}`,"
            " was made under `vmap`, which it cannot follow.\n"
            "  Let the class keep `self.value = x`, or map by a loop."
        )
    out = (
        plain_object(kind, np.array(value))
        if root_of(kind) is np.ndarray
        else float.__new__(kind, value)
    )
    for name, held in NAMES.__get__(x).items():
        slot = in_classes(kind.__mro__, name)
        if type(slot) is Slot:
            slot.__set__(out, held)
        else:
            vars(out)[name] = held
    return out


def plain_object(kind: Any, x: Any) -> Any:
    """An object of a class that derives from ndarray, with the numbers of an array."""
    try:
        return x.view(kind)
    except AttributeError:  # its `__array_finalize__` knows none that is made of an array
        return np.ndarray.__new__(kind, x.shape, x.dtype, x, 0, x.strides)


def over(x: Any, f: Any) -> Any:
    """f of an argument, and of what containers there hold."""
    kind = type(x)
    if kind in (list, tuple):
        return kind([over(y, f) for y in x])
    if kind is dict:
        return {name: over(y, f) for name, y in x.items()}
    return f(x)


def inside(x: Any) -> Any:
    """An argument with the Arrays of Instances in their places."""
    return over(x, lambda y: INNER.__get__(y) if type(y) is Instance else bare(y))


def is_plain(x: Any) -> bool:
    """Whether x is an object of a class that derives from ndarray, with numbers of its own."""
    return isinstance(x, np.ndarray) and derives(type(x))


def numbers_of(x: Any) -> Any:
    """What `a += x` adds to an array: the numbers, unless the class of x computes as it will."""
    own = type(x) is Instance or is_plain(x)
    return x if not own or answers((x,), "__array_ufunc__") else inside(x)


def bare(x: Any) -> Any:
    return x.view(np.ndarray) if is_plain(x) else x


def shown(x: Any) -> Any:
    """An argument as plain code is given it."""
    return over(x, shown_alone)


def shown_alone(x: Any) -> Any:
    if type(x) is Instance:
        return example(x)
    return peel(x) if type(x) is Array else x


def arguments(x: Any) -> list[Any]:
    found: list[Any] = []
    over(x, found.append)
    return found


def like(plain: Any, live: Any) -> Any:
    """A live result, of the class and with the attributes of the plain one."""
    if isinstance(plain, (list, tuple)) and isinstance(live, (list, tuple)):
        parts = [like(a, b) for a, b in zip(plain, live, strict=True)]
        return type(plain)(*parts) if hasattr(plain, "_fields") else type(plain)(parts)
    plain = shown_alone(plain)  # the class may have computed with Arrays as well
    if type(live) is not Array:
        if isinstance(live, np.ndarray) and any(type(x) is Array for x in live.flat):
            return live if type(live) is type(plain) else live.view(type(plain))
        return plain if derives(type(plain)) or isinstance(live, NUMBERS) else live
    kind = type(plain)
    if kind is Array:  # that an array of objects held
        return live
    shape = np.shape(bare(plain))  # the class may have its own `np.shape`
    if live.shape != shape and live.size == math.prod(shape) and derives(kind):
        live = live.reshape(shape)  # as `__array_finalize__` does
    value = peel(live)
    if np.shape(value) != shape or not nearly_equal(np.asarray(plain), np.asarray(value)):
        raise MissingRuleError(
            f"A `{kind.__name__}` got its numbers from a method that NumPy calls, such as"
            " `__array_wrap__`, and their derivative would be lost.\n"
            "  Let the class compute in `__array_ufunc__`, or keep `self.value = x`."
        )
    if not derives(kind):
        return live
    return Instance(kind, live, attributes(plain))


def nearly_equal(a: Any, b: Any) -> bool:
    if a.dtype == object and a.shape:
        pairs = zip(a.flat, b.flat, strict=True)
        return all(nearly_equal(np.asarray(peel(x)), np.asarray(peel(y))) for x, y in pairs)
    if a.dtype.kind not in "fc":
        return bool(np.array_equal(a, b))
    close = 1e-9 if a.dtype.itemsize >= 8 else 1e-3
    with np.errstate(all="ignore"):
        return bool(np.allclose(a, b, rtol=close, atol=close * np.max(np.abs(a), initial=0.0),
                                equal_nan=True))  # fmt: skip


# Operations.


def overriding(xs: Any, name: str) -> list[Any]:
    """Methods of Instances by which their classes answer a protocol, derived classes first."""
    found: dict[Any, Any] = {}
    for x in xs:
        if type(x) is Instance:
            f = in_classes(KIND.__get__(x).__mro__, name)
            if f is not MISSING:
                found.setdefault(KIND.__get__(x), MethodType(f, x))
    kinds = sorted(found, key=lambda kind: -sum(issubclass(kind, other) for other in found))
    return [found[kind] for kind in kinds]


def of_ufunc(ufunc: Any, method: str, xs: Any, options: dict[str, Any]) -> Any:
    """A ufunc as ndarray does it, unless the class of an operand has another way."""
    if overriding(xs, "__array_ufunc__"):
        return NotImplemented
    outs = options.get("out") or ()
    if any(x is not None for x in outs):
        return of_ufunc_into(outs, ufunc, method, xs, options)
    live = getattr(ufunc, method)(*inside(xs), **inside(options))
    if live is None or Instance not in map(type, xs):
        return live
    with np.errstate(all="ignore"):
        plain = getattr(ufunc, method)(*shown(xs), **shown(options))
    return like(plain, live)


def of_ufunc_into(outs: Any, ufunc: Any, method: str, xs: Any, options: dict[str, Any]) -> Any:
    """A ufunc that is given `out`, of which classes finish what is theirs, such as masks."""
    examples = [np.array(y, subok=True) if (y := shown(x)) is not None else None for x in outs]
    places = {id(x): i for i, x in enumerate(outs)}
    given = [examples[places[id(x)]] if id(x) in places else shown(x) for x in xs]
    rest = {name: shown(x) for name, x in options.items() if name != "out"}
    with np.errstate(all="ignore"):
        plain = getattr(ufunc, method)(*given, **rest, out=tuple(examples))
    live = getattr(ufunc, method)(*inside(xs), **inside(options))
    several = isinstance(plain, tuple)
    parts = (plain, live) if several else ((plain,), (live,))
    results = []
    for out, of_class, numbers in zip(outs, *parts, strict=True):
        if type(out) is Instance:
            NAMES.__get__(out).update(NAMES.__get__(like(of_class, INNER.__get__(out))))
        results.append(like(of_class, numbers) if out is None else out)
    return tuple(results) if several else results[0]


def of_function(function: Any, xs: Any, options: dict[str, Any]) -> Any:
    """A function of NumPy's: by the method of that name, where NumPy does it so."""
    if function in BY_METHOD and xs and type(xs[0]) is Instance:
        return function._implementation(*xs, **options)
    if function is np.empty_like:
        function = np.zeros_like
    live = function(*inside(xs), **inside(options))
    if live is None:
        return live
    with np.errstate(all="ignore"):  # the class is not asked again: it may be who asks
        plain = getattr(function, "_implementation", function)(*shown(xs), **shown(options))
    return like(plain, live)


def lifted(x: Any) -> Any:
    """A plain object of such a class as an Instance: it can be assigned into."""
    if not is_plain(x):
        return x
    names, own = attributes(x), getattr(x, "__dict__", {})
    names = own if names.keys() == own.keys() else names
    return Instance(type(x), Array(x.view(np.ndarray), CONSTANT, None), names)


def answers(xs: Any, protocol: str) -> bool:
    """Whether the class of a plain object answers a protocol of NumPy's in its own way."""
    for x in xs:
        kind = x.__class__
        reach_class(kind)
        if in_classes(kind.__mro__, protocol) is not MISSING:
            return True
    return False


def left_to_classes(ufunc: Any, method: str, xs: Any, options: dict[str, Any]) -> Any:
    """A ufunc of an Array and plain objects of such classes, of which NumPy has told the Array."""
    others = list(filter(is_plain, xs))
    if not others or any(type(x) is Instance for x in xs):
        return NotImplemented
    return getattr(ufunc, method)(*map(lifted, xs), **options)


def function_of_classes(function: Any, xs: Any, options: dict[str, Any]) -> Any:
    """The same of a function such as `np.concatenate`."""
    return function(*over(xs, lifted), **over(options, lifted))


HOLDERS.add(Instance)
CLASSES.update(
    array=INNER.__get__, derives=derives, ufunc=left_to_classes, function=function_of_classes
)


# Functions that call the method of their name.
BY_METHOD = frozenset(
    getattr(np, name)
    for name in (
        "all", "any", "argmax", "argmin", "argpartition", "argsort", "choose", "clip", "compress",
        "cumprod", "cumsum", "max", "mean", "min", "nonzero", "prod", "repeat", "reshape", "round",
        "searchsorted", "squeeze", "std", "sum", "swapaxes", "take", "transpose", "var",
    )
)  # fmt: skip


# Making.


def viewed(x: Any, kind: Any, source: Any) -> Any:
    """`x.view(kind)` of an Array: NumPy lets the class finish what it is given."""
    out = Instance(kind, x, {})
    del x  # so that its class may assign a shape without a search for views of it
    finish = in_classes(kind.__mro__, "__array_finalize__")
    if finish is not MISSING and finish is not None:
        CALLS[MethodType(finish, out)](source)
    return out


def making(cls: Any) -> Any:
    """What is called for such a class: Python does not call `__init__` for an Instance."""

    def make(*args: Any, **options: Any) -> Any:
        new = cls.__new__
        out = CALLS[new](cls, *args, **options)
        if type(out) is not Instance and not isinstance(out, cls):
            return out
        begin = in_classes(cls.__mro__, "__init__")
        if begin is not MISSING:
            CALLS[MethodType(begin, out)](*args, **options)
        return out

    make.__name__, make.__qualname__ = cls.__name__, cls.__qualname__
    return make


def new_float(cls: Any, *args: Any) -> Any:
    """`float.__new__(cls, x)`."""
    x = args[0] if args else None
    if type(x) is Instance:
        x = INNER.__get__(x)
    if type(x) is Array and not current(x).within.peels(x) and x.dtype.kind != "c":
        number = CALLS[float](x)
        if cls is float or type(number) is not Array:
            return number if cls is float else float.__new__(cls, number)
        if derives(cls):
            return Instance(cls, number, {})
    if TEXTS:
        warn_read_in(x, "float.__new__(cls, text)")
    return float.__new__(cls, *args)


MAKERS.append(lambda cls: making(cls) if derives(cls) else None)


def new_array(
    cls: Any, shape: Any, dtype: Any = float, buffer: Any = None, *more: Any, **options: Any
) -> Any:
    """`ndarray.__new__(cls, shape, dtype, buffer)`, where the buffer is an Array."""
    if type(buffer) is not Array:
        return np.ndarray.__new__(cls, shape, dtype, buffer, *more, **options)
    same = tuple(np.atleast_1d(shape)) == buffer.shape
    laid = options.keys() == {"order"} and (same or options["order"] == "C")
    if more or (options and not laid) or not derives(cls) or buffer.dtype != np.dtype(dtype):
        raise ConversionError(
            f"`numpy.ndarray.__new__` was given an Array {whose(buffer)} for the memory of a"
            f" `{cls.__name__}`.\n  {MEMORY}"
        )
    shape = shape if type(shape) is tuple else (shape,)
    if buffer.shape != shape:
        buffer = buffer.reshape(-1)[: math.prod(shape)].reshape(shape)
    return viewed(buffer[...], cls, None)


HOLDS.add(Instance)
