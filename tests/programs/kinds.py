"""Programs that ask what kind of thing they were given: a number, or an array."""

import functools
import numbers

import numpy as np


def times_a_hundred_unless_float(a):
    return a if isinstance(a, float) else 100 * a


def array_or_number(x):
    if isinstance(x, np.ndarray):
        return np.sum(x**2)
    return x**3


def real_number(x, y):
    return x**2 * y if isinstance(x, numbers.Real) and isinstance(y, numbers.Number) else x - y


def no_integer(x):
    if isinstance(x, (int, np.integer, numbers.Integral)):
        return 0.0 * x
    if isinstance(x, (complex, np.complexfloating)) and not isinstance(x, float):
        return x + 5.0
    return np.sin(x)


def tuple_of_types(x):
    if isinstance(x, (list, tuple, np.ndarray)):
        return sum([v * v for v in x])
    if isinstance(x, str | float):
        return 3 * x
    raise TypeError(f"a number or a sequence is needed, not {x!r}")


def widths(x, width):
    """As SciPy and others have it: one number for all, or one for each."""
    if isinstance(width, (numbers.Number, np.number)):
        width = width * np.ones(len(x))
    return np.exp(-((x / width) ** 2)).sum()


def numpy_scalar(x):
    if isinstance(x, (float, np.floating)):
        return np.exp(x)
    return np.array([np.exp(v) for v in x])


def made_an_array(x):
    if not isinstance(x, np.ndarray):
        x = np.asarray(x)
    return 2.0 * x**2 if x.ndim == 0 else x * x.shape[0]


def unpacked_if_single(x):
    """Give back what was passed: an array for an array, a number for a number."""
    single = not isinstance(x, np.ndarray)
    x = np.atleast_1d(x)
    out = np.cumsum(np.sqrt(x))
    return out[0] if single else out


def by_ndim(x):
    if np.ndim(x) == 0:
        return 3 * x
    return x * np.arange(len(x)) if np.ndim(x) == 1 else x.T @ x


def by_isscalar(x):
    return x * x if np.isscalar(x) else np.prod(x)


def by_class(x):
    rules = {float: lambda v: 2 * v, np.ndarray: lambda v: np.sum(v)}
    for cls, rule in rules.items():
        if isinstance(x, cls):
            return rule(x)
    return 0.0 * x


def by_mro(x):
    """The way a dispatcher of one's own goes."""
    names = [cls.__name__ for cls in x.__class__.__mro__]
    return 2 * x if "float" in names or "floating" in names else np.dot(x, x)


def by_subclass(x):
    return x**3 if issubclass(x.__class__, (float, np.floating)) else x**2


@functools.singledispatch
def size(x):
    raise TypeError("neither a number nor an array")


@size.register
def size_of_number(x: float):
    return x**2 + 1.0


@size.register(np.ndarray)
def size_of_array(x):
    return np.sqrt(np.sum(x**2))


@size.register
def size_of_list(x: list):
    return sum(size(v) for v in x)


def dispatched(x):
    return size(x)


def dispatched_on_parts(x):
    return size(list(x)) + size(x)


@functools.singledispatch
def doubled(x):
    return 200 * x


@doubled.register(numbers.Real)
def doubled_number(x):
    return 2 * x


def dispatched_on_an_abc(x):
    return doubled(x)


class Scale:
    def __init__(self, factor):
        self.factor = factor

    @functools.singledispatchmethod
    def of(self, x):
        return x / self.factor

    @of.register
    def of_number(self, x: float):
        return x * self.factor


def dispatched_method(x, factor):
    return Scale(factor).of(x)


def matched(x):
    match x:
        case bool() | int():
            return 0.0 * x
        case float():
            return x**2
        case np.ndarray(shape=(_,)):
            return np.sum(x**3)
        case np.ndarray():
            return np.trace(x)
    raise TypeError("nothing fits")


def matched_and_bound(x):
    match x:
        case np.ndarray():
            return np.max(x)
        case float(value) if value > 0:
            return value * 3
        case float(value):
            return -value * 4


def matched_in_a_tuple(x, y):
    match (x, y):
        case (float(), np.ndarray()):
            return x * y
        case (np.ndarray(), float()):
            return x / y
        case (float(a), float(b)):
            return a**2 - b
        case _:
            return np.dot(x, y)


def parts(x):
    """Elements of an array are numbers, and arrays without axes are arrays."""
    total = 0.0
    for v in (x[0], x[:1], x[0, ...], np.sum(x), np.array(x[1]), x[1] * 2.0):
        if isinstance(v, float):
            total = total + v
        elif v.ndim:
            total = total + 10 * v[0]
        else:
            total = total + 100 * v
    return total


def results(x):
    """What functions return is asked too."""
    total = 0.0
    for v in (np.sin(x), x.mean(), np.linalg.norm(x), np.where(x[0] > 0, x[0], 0.0), x.max()):
        total = total + (v if isinstance(v, np.floating) else 10 * np.sum(v))
    return total


def flattened(tree):
    """Nested lists, flattened by asking each part."""
    if isinstance(tree, (list, tuple)):
        return [leaf for part in tree for leaf in flattened(part)]
    return [float_or_sum(tree)]


def float_or_sum(x):
    return x if isinstance(x, float) else x.sum()


def nested(x, y):
    return np.prod(np.array(flattened([x, [y, (x * y,)], [[y[0]]]])))


def newton(f, x):
    if not isinstance(x, (float, np.ndarray)):
        raise TypeError("x must be a float or an array")
    for _ in range(6):
        x = x - f(x) / (2 * x)
    return x


def root(a):
    return newton(lambda x: x * x - a, 1.0 + a / 2)


X = np.array([0.7, 1.2, 0.4])
M = np.array([[0.5, 1.2], [1.1, 0.2]])


def of_an_array(fun, ndim):
    """The same program under another name, for it has another path."""

    def call(x):
        return fun(x)

    call.__name__ = f"{fun.__name__}_{ndim}d"
    return call


ARRAYS = [
    (times_a_hundred_unless_float, X),
    (array_or_number, X),
    (tuple_of_types, X),
    (numpy_scalar, X),
    (made_an_array, X),
    (unpacked_if_single, X),
    (by_ndim, X),
    (by_isscalar, X),
    (by_class, X),
    (by_mro, X),
    (by_subclass, X),
    (dispatched, X),
    (dispatched_on_an_abc, X),
    (matched, X),
    (matched, M),
    (matched_and_bound, X),
    (root, X),
]
PROGRAMS = [
    (times_a_hundred_unless_float, (1.3,)),
    (array_or_number, (1.3,)),
    (real_number, (1.3, 0.4)),
    (no_integer, (1.3,)),
    (tuple_of_types, (1.3,)),
    (widths, (X, 1.7)),
    (numpy_scalar, (1.3,)),
    (made_an_array, (1.3,)),
    (unpacked_if_single, (1.3,)),
    (by_ndim, (1.3,)),
    (by_isscalar, (1.3,)),
    (by_class, (1.3,)),
    (by_mro, (1.3,)),
    (by_subclass, (1.3,)),
    (dispatched, (1.3,)),
    (dispatched_on_parts, (X,)),
    (dispatched_on_an_abc, (1.3,)),
    (dispatched_method, (1.3, 0.4)),
    (matched, (1.3,)),
    (matched_and_bound, (1.3,)),
    (matched_in_a_tuple, (1.3, 0.4)),
    (parts, (X,)),
    (results, (X,)),
    (nested, (1.3, X)),
    (root, (1.3,)),
    *[(of_an_array(fun, x.ndim), (x,)) for fun, x in ARRAYS],
]
