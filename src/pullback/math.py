"""The names of `math`, for programs that are differentiated.

>>> import pullback.math as math
>>> from pullback import grad
>>> grad(lambda x: math.sin(x) + math.erf(0.0) * x)(0.0)
np.float64(1.0)

With plain numbers every function is the one of `math`. With an Array that carries a derivative the
value is that of `math`, which rounds otherwise than NumPy does, and the rules are those of NumPy's
ufunc; what raises ValueError or OverflowError still does. Batches and recordings compute by the
ufunc.
`floor`, `ceil` and `trunc` give integers, which are locally constant.
"""

from __future__ import annotations

import functools
import math as real
import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .core.array import Array, class_of_number, is_number, peel, without_axes
from .core.errors import ConversionError, MissingExtraError
from .core.instances import Instance, inside
from .core.kinds import Elementwise
from .core.operands import holds_live
from .core.primitive import Primitive
from .core.reach.namespaces import rest_of
from .core.registry import UFUNCS as NUMPYS
from .core.rules import ONE, ZERO
from .core.scalars import MANY_EXAMPLES, has_values, with_value
from .core.spec import Spec
from .core.trace import is_live
from .primitives.arguments import as_whole
from .primitives.exact import exact
from .primitives.exact_sums import SUMMARIES

__all__ = [name for name in dir(real) if not name.startswith("_")]


DOUBLES = frozenset({float, np.float64})


def number(x: Any) -> Any:
    """A number as `math` takes it, of which it makes a double: without axes; others are refused."""
    if type(x) is not Array:
        given = isinstance(x, (np.generic, np.ndarray)) and x.dtype != np.float64
        return float(x) if given else x
    if type(x.payload) in DOUBLES:
        return x
    x = without_axes(x)
    if x.dtype.kind == "c" and not is_complex(x):
        x = np.real(x)  # which is all that `math` takes of one of NumPy's
    return x if x.dtype == np.float64 or x.dtype.kind == "c" else np.astype(x, np.dtype(float))


def instead(*xs: Any) -> Any:
    """Arguments that do not convert, with the Arrays of Instances in their places."""
    if Instance not in map(type, xs):
        raise  # where it is caught
    return inside(xs)


def heed(function: Callable[..., Any], *xs: Any) -> bool:
    """Raise what `math` raises for these values, else return True; False, unchecked, if mapped."""
    values = [peel(x) for x in xs]
    if any(np.ndim(value) for value in values):
        return False
    try:
        function(*values)
    except Exception as error:
        for x in xs:
            if type(x) is Array:
                x.within.failed(x, f"`math.{function.__name__}` raised {type(error).__name__}")
        raise
    return True


def mapped(plain: Callable[..., Any], ufunc: Callable[..., Any], *xs: Any) -> Any:
    """A function of mapped Arrays. Where `math` raises for some of the values, none is right."""
    with np.errstate(all="ignore"):
        out = ufunc(*xs)
    *values, result = np.broadcast_arrays(
        *map(peel, xs), peel(out[0] if type(out) is tuple else out)
    )
    doubtful = ~np.isfinite(result)  # `math` gives such a number, or raises
    for each in zip(*[x[doubtful].tolist() for x in values], strict=True):
        try:
            plain(*each)
        except Exception:
            raise ConversionError(
                f"`math.{plain.__name__}` was asked of mapped values and raises for some of the"
                " examples, so that there is no result for all of them.\n"
                "  Choose with `np.where(condition, a, b)`, and compute with NumPy's functions."
            ) from None
    return out


def with_values_of(plain: Callable[..., Any], ufunc: Any) -> Callable[..., Any]:
    """A ufunc with the values of Python's function, which rounds otherwise."""
    primitive = NUMPYS.get(ufunc)
    if primitive is None:
        return ufunc

    def value(*xs: Any) -> Any:
        if Array in map(type, xs):
            return call(*xs)
        if any(map(np.ndim, xs)):
            return one_by_one(plain, primitive.value(*xs), *xs)
        return np.asarray(plain(*xs))[()]

    def call(*xs: Any) -> Any:
        return own(*xs) if all(map(has_values, xs)) else ufunc(*xs)

    own = with_value(primitive, value)
    return call


def one_by_one(plain: Callable[..., Any], out: Any, *xs: Any) -> Any:
    """What a function of numbers gives for each example; `out`, a ufunc's, where it raises."""
    if out.size > MANY_EXAMPLES or out.dtype != float:
        return out
    columns = [x.ravel().tolist() for x in np.broadcast_arrays(*xs)]
    try:
        values = list(map(plain, *columns))
    except (ArithmeticError, ValueError):
        columns.append(out.ravel().tolist())
        values = [value_or(plain, *each) for each in zip(*columns, strict=True)]
    return np.array(values, float).reshape(out.shape)


def value_or(plain: Callable[..., Any], *xs: Any) -> Any:
    """What a function of numbers gives, or the last number where it raises."""
    try:
        return plain(*xs[:-1])
    except (ArithmeticError, ValueError):
        return xs[-1]


def is_known(x: Any) -> bool:
    """Whether x is a number, neither mapped nor recorded, whatever derivatives it carries."""
    while type(x) is Array:
        if not x.within.leaves_values:
            return False
        x = x.payload
    return True


def numeric(name: str, ufunc: Callable[..., Any]) -> None:
    """A function of numbers that NumPy has as well."""
    plain = getattr(real, name, None)
    if plain is None:  # of a later Python
        return
    own = with_values_of(plain, ufunc)

    @functools.wraps(plain)
    def call(*xs: Any) -> Any:
        for x in xs:
            if is_live(x):
                break
        else:
            try:
                return plain(*xs)
            except ConversionError:
                return call(*instead(*xs))
        exact = 1 if name == "ldexp" else len(xs)  # whose exponent is an integer
        for x in xs:
            if type(x) is Array and is_complex(x):
                plain(*[0j] * len(xs))  # which is a TypeError
        xs = (*[number(x) for x in xs[:exact]], *xs[exact:])
        sure = heed(plain, *xs)
        # Complex numbers that `math` takes count with their real parts.
        xs = tuple([np.real(x) if type(x) is Array and x.dtype.kind == "c" else x for x in xs])
        return pythons(own(*xs) if sure else mapped(plain, own, *xs))

    enter(name, call)


def is_complex(x: Array) -> bool:
    """Whether x is a complex number of Python's, or mapped: of those the class is not sure.

    `z / y` is Python's for a complex z of Python's and a float64 y, which vmap counts as NumPy's.
    """
    if not is_number(x) or x.dtype.kind != "c":
        return False
    return class_of_number(x) is complex or np.ndim(peel(x)) > 0


def pythons(out: Any) -> Any:
    """Results of `math`, which are Python's numbers."""
    if type(out) is tuple:
        return tuple(map(pythons, out))
    return out.within.number(out) if type(out) is Array else out


def enter(name: str, call: Any) -> None:
    call.__module__ = __name__
    globals()[name] = call


# Special functions that NumPy has not.


def special(
    plain: Callable[..., float],
    *partials: Callable[..., Any],
    reads: str | tuple[str, ...] = "",
    lower: str | None = None,
) -> Any:
    """An elementwise primitive of a function of `math`."""
    each = np.frompyfunc(plain, len(partials), 1)
    return Elementwise(
        lambda *xs: np.asarray(each(*xs), dtype=float)[()],
        *partials,
        reads=reads,
        name=plain.__name__,
        lower=lower,
    )


def bell(out: Any, x: Any) -> Any:
    return 2 / real.sqrt(real.pi) * np.exp(-x * x)


class Polygamma(Primitive):
    """The n-th derivative of digamma, the derivative of lgamma."""

    reads = "x0"

    def value(self, x, *, n):
        try:
            from scipy import special
        except ImportError:
            raise MissingExtraError(
                "The derivatives of `math.gamma` and `math.lgamma` need SciPy.\n"
                "  Install it with `pip install 'pullback[scipy]'`."
            ) from None
        return special.polygamma(n, x)[()]

    def spec(self, x, *, n):
        return Spec(x.shape, np.dtype(float))

    def jvp(self, out, xs, x_dots, *, n):
        return x_dots[0] * self(xs[0], n=n + 1)

    def vjp(self, out_bar, residual, wanted):
        (x,) = residual.xs
        return (out_bar * self(x, n=residual.static["n"] + 1),)

    def batch(self, xs, mapped, size, *, n):
        return self(xs[0], n=n)


polygamma_p = Polygamma()
erf_p = special(real.erf, bell, reads="x0", lower="erf")
erfc_p = special(real.erfc, lambda out, x: -bell(out, x), reads="x0", lower="erfc")
lgamma_p = special(real.lgamma, lambda out, x: polygamma_p(x, n=0), reads="x0")
ulp_p = special(real.ulp, ZERO)
gamma_p = special(real.gamma, lambda out, x: out * polygamma_p(x, n=0), reads="x0 out")


# Functions of one or two numbers, as ufuncs.


def nearest_remainder(x: Any, y: Any) -> Any:
    """x - n * y for the whole number n nearest to x / y, the even one of two: no step rounds."""
    sign, size = np.copysign(1.0, x), np.absolute(y)
    rest = sign * np.fmod(x, size + size)  # from 0 to 2 * size
    second = rest - size
    far = np.where(second < size - second, second, second - size)
    return sign * np.where(rest <= size - rest, rest, far)


# fmt: off
UFUNCS: dict[str, Callable[..., Any]] = {
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh,
    "atan": np.arctan, "atan2": np.arctan2, "atanh": np.arctanh, "cbrt": np.cbrt,
    "copysign": np.copysign, "cos": np.cos, "cosh": np.cosh, "degrees": np.degrees,
    "erf": erf_p, "erfc": erfc_p, "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1,
    "fabs": np.absolute, "fmod": np.fmod, "gamma": gamma_p, "ldexp": np.ldexp, "lgamma": lgamma_p,
    "log10": np.log10, "log1p": np.log1p, "log2": np.log2, "modf": np.modf,
    "nextafter": np.nextafter, "pow": np.power, "radians": np.radians, "sin": np.sin,
    "sinh": np.sinh, "sqrt": np.sqrt, "tan": np.tan, "tanh": np.tanh,
    "log": np.log,
    "remainder": nearest_remainder, "ulp": ulp_p,
}
# fmt: on
if hasattr(real, "fma"):  # since 3.13: product and sum are rounded once
    UFUNCS["fma"] = special(
        real.fma,
        lambda out, x, y, z: y,
        lambda out, x, y, z: x,
        ONE,
        reads=("x1", "x0", ""),
    )

for name, ufunc in UFUNCS.items():
    numeric(name, ufunc)


def with_base(plain: Any, natural: Any, as_number: Callable[[Any], Any]) -> Any:
    """`log`, to any base, by that to the base e."""

    @functools.wraps(plain)
    def log(x: Any, *base: Any) -> Any:
        if len(base) != 1 or not (is_live(x) or is_live(base[0])):
            return natural(x, *base)
        heed(plain, *map(as_number, (x, *base)))
        return natural(x) / natural(*base)  # each of them finite: a base of 0 is refused

    return log


log = with_base(real.log, globals()["log"], number)
enter("log", log)


# Functions that answer with an integer or a truth value.


def answering(name: str, ufunc: Callable[..., Any], kind: type) -> None:
    plain = getattr(real, name)

    @functools.wraps(plain)
    def call(x: Any, /) -> Any:
        if type(x) is Instance:
            (x,) = instead(x)
        if not is_live(x):  # a constant has no `__trunc__`, as an array has none
            return plain(float(x) if type(x) is Array and is_number(x) else x)
        x = number(x)
        heed(plain, x)
        return answered(ufunc(x), kind)

    enter(name, call)


def answered(out: Any, kind: type) -> Any:
    """A number of Python's; of a mapped value one for each example."""
    try:
        return kind(out)
    except ConversionError:
        return pythons(as_whole(out) if kind is int else out)


answering("floor", np.floor, int)
answering("ceil", np.ceil, int)
answering("trunc", np.trunc, int)
answering("isnan", np.isnan, bool)
answering("isinf", np.isinf, bool)
answering("isfinite", np.isfinite, bool)


def isclose(a: Any, b: Any, *, rel_tol: float = 1e-09, abs_tol: float = 0.0) -> Any:
    if not (is_live(a) or is_live(b)):
        return real.isclose(a, b, rel_tol=rel_tol, abs_tol=abs_tol)
    a, b = number(a), number(b)
    bound = np.maximum(rel_tol * np.maximum(np.abs(a), np.abs(b)), abs_tol)
    finite = np.isfinite(a) & np.isfinite(b)
    return answered((a == b) | (np.abs(a - b) <= bound) & finite, bool)


def frexp(x: Any, /) -> tuple[Any, Any]:
    if not is_live(x):
        return real.frexp(x)
    mantissa, exponent = np.frexp(number(x))
    return pythons(mantissa), pythons(exponent) if type(exponent) is Array else int(exponent)


# Functions of several numbers.


def hypot(*coordinates: Any) -> Any:
    if Instance in map(type, coordinates):
        coordinates = instead(*coordinates)
    if not any(map(is_live, coordinates)):
        return real.hypot(*coordinates)
    xs = [number(x) for x in coordinates]
    out = functools.reduce(np.hypot, xs, 0.0)
    return pythons(exact(real.hypot(*map(peel, xs)), out) if all(map(is_known, xs)) else out)


def dist(p: Iterable[Any], q: Iterable[Any], /) -> Any:
    p, q = list(p), list(q)
    if not any(map(is_live, p + q)):
        return real.dist(p, q)
    if len(p) != len(q):
        raise ValueError("both points must have the same number of dimensions")
    return hypot(*map(operator.sub, map(number, p), map(number, q)))


# Sums that Python computes exactly. See `pullback.primitives.exact_sums`.


def column(data: Any) -> Any:
    """The numbers of a list, of an array with one axis, or of what gives them one by one."""
    is_vector = type(data) is Array and data.ndim == 1
    return data if is_vector or isinstance(data, (list, tuple)) else list(data)


def operand(x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return np.stack([number(each) if is_live(each) else np.float64(each) for each in x])
    return x if np.ndim(x) else number(x) if is_live(x) else np.float64(x)


def classes_in(x: Any) -> set[type]:
    xs = x if isinstance(x, (list, tuple)) else [x[0]]
    return {class_of_number(each) if type(each) is Array else type(each) for each in xs}


def summarize(python: Callable[..., Any], *xs: Any) -> Any:
    """A function of columns of numbers, or of a column and a number, of which some are live."""
    if not any(map(holds_live, xs)):
        return python(*xs)
    operands = [operand(x) for x in xs]
    try:
        out = SUMMARIES[python.__name__, len(xs)](*operands)
    except Exception as error:
        for x in filter(is_live, operands):
            x.within.failed(x, f"`{python.__name__}` raised {type(error).__name__}")
        raise
    classes = {kind for kind in classes_in(xs[0]) if issubclass(kind, np.generic)}
    if python.__name__ in FLOATS or not classes:
        return pythons(out)
    return np.astype(out, classes.pop()) if len(classes) == 1 else out


FLOATS = {"fsum", "sumprod", "stdev", "pstdev"}  # they give Python's floats, whatever they get


def fsum(seq: Iterable[Any], /) -> Any:
    return summarize(real.fsum, column(seq))


def sumprod(p: Iterable[Any], q: Iterable[Any], /) -> Any:
    return summarize(real.sumprod, column(p), column(q))  # type: ignore[attr-defined]  # since 3.12


def prod(iterable: Iterable[Any], /, *, start: Any = 1) -> Any:
    return functools.reduce(operator.mul, iterable, start)


# What has to do with integers, and the constants, are those of `math`.
__getattr__, __dir__ = rest_of(real, __all__, __name__)
