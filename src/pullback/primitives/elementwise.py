"""The ufuncs: one row each. Each d(out)/d(x) is stated once, for both modes and all orders.

Functions that select are in `selecting`, real and imaginary parts in `parts`.

In a partial, an `out` that overflowed is replaced by `finite(out)`, so that a computed zero times
it is zero. Where the order of the factors decides what overflows, the row uses `Scaling`.
"""

from __future__ import annotations

import cmath
import math
import operator
from functools import lru_cache

import numpy as np

from ..core.array import Array
from ..core.errors import ArgumentTypeError
from ..core.kinds import TERMS, Elementwise
from ..core.operands import binary
from ..core.plain_numpy import count_nonzero
from ..core.registry import register, replaces
from ..core.rows import hastily
from ..core.rule_forms import beside_doubles, in_flight
from ..core.rules import FIRST, MINUS_ONE, ONE, SECOND, ZERO
from ..core.scalars import MANY_EXAMPLES, has_values, is_python, of_numpy, with_value
from ..core.spec import spec_of
from ..core.trace import youngest
from .arguments import surely
from .kinks import at_kink, is_zero

float64, is_finite = np.float64, math.isfinite


class Scaling(Elementwise):
    """Stated by how a tangent or cotangent is scaled: scale(bar, out, *xs), instead of partials.

    `bar / y` is one operation less than `bar * (1 / y)`, and (bar / y) * out is in range where
    out / y is not: in the second derivative of log(1 + exp(x)) the latter underflows at x = 400.
    """

    def scaled(self, i, bar, out, xs):
        return self.partials[i](bar, out, *xs)

    def term(self, i, arguments, held, alone):
        rule = self.plain_form(i)
        if held != "held":
            rule = f"(moving{i} if type({held}) is Array else {rule})"
        return TERMS.get(self.partials[i]) or f"{rule}(bar, {arguments})"

    def factor(self, i, held):
        scale = self.partials[i]
        if scale is ONE or scale is ZERO:
            return super().factor(i, held)
        if len(held) > 1:
            return lambda bar, residual: scale(bar, *residual)
        return {
            (1, 0): lambda bar, out: scale(bar, out, None),
            (1, 1): lambda bar, x: scale(bar, None, x),
            (2, 2): lambda bar, y: scale(bar, None, None, y),
        }[len(self.partials), held[0]]


def forms(partial):
    return in_flight(partial), beside_doubles(partial)


def row(
    ufunc, *partials, kind=Elementwise, reads="", lower=None, value=None, constant=False, **traits
):
    """Declare the primitive of a ufunc; the results of `constant` ones are booleans or integers."""
    primitive = kind(ufunc, *partials, reads=reads, lower=lower, value=value, forms=forms)
    primitive.constant = constant
    primitive.decides = primitive.decides or constant
    return register(primitive.declare(**traits))


def compares(ufunc, value, level=None):
    lower = ufunc.__name__
    return row(
        ufunc, value=value, lower=lower, constant=True, comparison=True, surface=operator.sub,
        level=level,
    )  # fmt: skip


def order(x, y):
    """Which of two is larger. Whether they are equal is the same on both sides of a crossing.

    So it is with a number and a bound that it is clipped to, below the bound and above it.
    """
    if type(x) is float64 and type(y) is float64:
        return float64((x >= y) + 2.0 * (x <= y))
    if np.iscomplexobj(x) or np.iscomplexobj(y):
        return x == y
    return (x >= y) * 1.0 + (x <= y) * 2.0


def function_row(function, *partials, name, lower=None):
    """A function of ours as a primitive: the function, which now takes Arrays as well."""

    def value(*xs):
        if len(xs) == 1:
            (x,) = xs
            return x.within.unary(primitive, x) if type(x) is Array else function(x)
        trace = youngest(xs)
        return function(*xs) if trace is None else trace.binary(primitive, *xs)

    primitive = Elementwise(value, *partials, name=name, lower=lower, value=function)
    value.primitive = primitive
    primitive.declare(total=True)
    return value


# Overflow rounds: in a partial, infinity counts as a power of two near the largest finite number.
# A power of two so that its reciprocal is exact, and not the largest, so that a tangent of 3 times
# it does not overflow again.
HUGE = {
    np.dtype(t): np.ldexp(t(1), np.finfo(t).maxexp * 15 // 16)
    for t in (np.float16, np.float32, np.float64, np.longdouble)
}
HUGE64 = HUGE[np.dtype(float64)]


def finite(x):
    """x with infinity rounded to a large finite number; as a function of x it has derivative 1."""
    if type(x) is float64 or type(x) is float:
        return x if is_finite(x) or x != x else math.copysign(1, x) * HUGE64
    return finite_p(x) if type(x) is Array else round_infinity(x)


def round_infinity(x, to=HUGE):
    infinite = np.isinf(x)
    if not count_nonzero(infinite):
        return x
    x = np.asarray(x)
    if x.dtype.kind == "c":
        out = np.empty(x.shape, x.dtype)
        out.real, out.imag = round_infinity(x.real, to), round_infinity(x.imag, to)
        return out[()]
    return np.where(infinite, np.copysign(to[x.dtype.newbyteorder("=")], x), x)[()]


finite_p = function_row(round_infinity, ONE, name="finite", lower="finite")


def factor(x):
    """`finite` of what multiplies a cotangent: a hasty pass finds at the leaves what overflowed."""
    return x if type(x) is np.ndarray and hastily() else finite(x)


def round_off_pole(slope, at):
    if type(slope) is float64 or type(slope) is float:
        return finite(slope) if 0 < abs(at) < 1 else slope
    if not count_nonzero(np.isinf(slope)):
        return slope
    return np.where((at != 0) & (np.abs(at) < 1), finite(slope), slope)[()]


# The slope of a power with infinity rounded where the power has overflowed as well: where the
# second operand is between 0 and 1. At 0 is a pole; beyond 1 only the slope overflows, and is so.
off_pole = function_row(round_off_pole, ONE, ZERO, name="finite_off_pole", lower="finite_off_pole")

# The slope of x**2 where x is infinite: a tangent that has overflowed once does not overflow again
# by a few of them, so that `1 / (1 + exp(x)**2)` has a derivative in both modes.
SPARE = {t: np.ldexp(t.type(1), int(np.finfo(t.type).maxexp) // 128) for t in HUGE}
SPARE64 = SPARE[np.dtype(float64)]


def doubled(x):
    """x + x with infinity rounded: the slope of x**2."""
    y = x + x
    if type(y) is float64 or type(y) is float:
        return y if is_finite(y) or y != y else math.copysign(SPARE64, y)
    if type(y) is Array:
        return spared_p(y)
    return y if hastily() else round_to_spare(y)


def round_to_spare(x):
    return round_infinity(x, SPARE)


spared_p = function_row(round_to_spare, ONE, name="spared", lower="spared")


def steep(slope, x):
    """The slope of another power with infinity rounded: less where x is infinite itself."""
    if type(slope) is Array:
        return steep_p(slope, x)
    return slope if type(slope) is np.ndarray and hastily() else round_steep(slope, x)


def round_steep(slope, x):
    if type(slope) is float64 or type(slope) is float:
        if is_finite(slope) or slope != slope:
            return slope
        return math.copysign(SPARE64 if math.isinf(x) else HUGE64, slope)
    if not count_nonzero(np.isinf(slope)):
        return slope
    if is_complex(slope):
        return round_infinity(slope)
    return np.where(np.isinf(x), round_to_spare(slope), round_infinity(slope))[()]


steep_p = function_row(round_steep, ONE, ZERO, name="steep", lower="steep")

# The values of x as a constant.
stopped = function_row(lambda x: np.array(x)[()], ZERO, name="stopped", lower="same")
stopped.primitive.declare(gives_back=True)


# Where operations jump, as numbers that are 0 there: see `Traits.surface`.


def off_integer(x):
    return x - np.rint(x)


def off_half(x):
    return x - np.floor(x) - 0.5


def quotient_off_integer(x, y):
    return off_integer(x / y)


def itself(x):
    return x


def second(x, y):
    return y


def off_cut(y, x):
    """Of an angle: its cut is where y is 0; where x is, its level changes without a jump."""
    return np.where((np.abs(x) < np.abs(y)) & (x != 0), x, y)


def edge_of_power(x, y):
    """Integers from 1 on have no edge."""
    if type(y) is not Array and np.all((y == np.rint(y)) & (y > 0)):
        return None
    return x


def squared(*xs):
    """0 where all real and imaginary parts are."""
    return sum(np.real(x) * np.real(x) + np.imag(x) * np.imag(x) for x in xs)


def within_one(x):
    return (1 - x) * (1 + x)


def across_real(beyond, at=0):
    """The surface and level of a cut along the part of the real axis for which `beyond` holds.

    at: the number of the operand that crosses it.
    """
    return (
        lambda *xs: np.imag(xs[at]),
        lambda *xs: (np.imag(xs[at]) < 0) & beyond(np.real(xs[at])),
    )


def across_imaginary(z):
    """The level of cuts along the imaginary axis, from i and from -i on."""
    return (np.real(z) < 0) & (np.abs(np.imag(z)) > 1)


NUMBERS = frozenset({int, float, float64})  # plain: a rule may ask what they are


def is_complex(x):
    return x.dtype.kind == "c" if hasattr(x, "dtype") else type(x) is complex


# Partials, and for the kind Scaling what they do with `bar`, that do not fit on a line.

MAY_BE_PYTHON = frozenset({float, complex, Array})


def base_of(x, y):
    """A base of Python's as NumPy's: there x ** -0.5 at 0 is an error, and complex at -1."""
    if type(x) is float and x >= 0:
        return float64(x)
    if not is_python(x):
        return x
    real = is_python(y) and not (is_complex(x) or is_complex(y))
    return of_numpy(x + 0j if real and surely((x < 0) & (y % 1 != 0)) else x)


def power_x(out, x, y):
    if type(x) in MAY_BE_PYTHON:
        x = base_of(x, y)
    if type(y) in NUMBERS:
        if y == 2:
            return doubled(x)
        if y == 1:
            return 1.0
        if y == 0:
            return 0.0
        if y == 3:
            return steep(3.0 * (x * x), x)
        if y - y != 0:
            y = math.copysign(HUGE64, y)  # 0.5**inf stays 0
        if y > 1:
            return steep(y * x ** (y - 1), x)
        if y == 0.5:
            return 0.5 / np.sqrt(x)
        slope, edge = y * x ** (y - 1), edge_of(y, getattr(x, "dtype", FLOAT))
        return slope if edge is None else off_pole(slope, x * edge)
    singular = np.logical_and(x == 0, y == 0)
    overflowed = np.logical_and(np.isinf(x**y), x != 0)
    return off_pole(y * x ** np.where(singular, 0, y - 1), np.where(overflowed, 0.5, 0.0))


FLOAT = np.dtype(float)


@lru_cache(maxsize=256)
def edge_of(y, dtype):
    """1 / |x| for the x below which x**y overflows; None if there is hardly any such x."""
    most = np.finfo(dtype).maxexp
    if y >= 0 or -y * (most - 1) <= most:
        return None
    return np.finfo(dtype).dtype.type(2.0) ** np.finfo(dtype).dtype.type(most / -y)


def power_y(out, x, y):
    """Where x > 0, and for complex x != 0; elsewhere x**y is not a smooth function of y."""
    if type(x) in NUMBERS:
        log = math.log(x) if x > 0 else cmath.log(x) if x and is_complex(out) else 0.0
        return finite(out) * log if log else 0.0
    if is_complex(out) and not is_complex(x):
        x = of_numpy(x + 0j)  # a power of Python's numbers
    inside = x != 0 if is_complex(x) else x > 0
    return np.where(inside, finite(out) * np.log(np.where(inside, x, 1)), 0)


def remainder_y(out, x, y):
    return -np.floor_divide(x, y)


def fmod_y(out, x, y):
    return np.rint((out - x) / y)


def abs_x(out, x):
    """For complex x, abs takes the real part of this times a tangent."""
    if type(x) is Array:
        at_kink("abs", "its argument is 0", is_zero(x), x)
    return np.conj(np.sign(finite(x))) if is_complex(x) else np.sign(x)


def copysign_x(out, x, y):
    if type(x) is Array:
        at_kink("numpy.copysign", "its first argument is 0", is_zero(x), x)
    return np.sign(x) * np.copysign(1, y)


def hypot_x(out, x, y):
    """x / out, and 0 where out is 0."""
    if type(out) is float64:
        return finite(x) / finite(out) if out != 0 else 0.0
    origin = out == 0
    if type(x) is Array or type(out) is Array:
        at_kink("numpy.hypot", "both arguments are 0", origin, x, out)
    return np.where(origin, 0, finite(x) / np.where(origin, 1, finite(out)))


def hypot_y(out, x, y):
    return hypot_x(out, y, x)


def weight(exponential, x, y):
    """exp(x) / (exp(x) + exp(y)), a half where both are the same infinity.

    Where it's differentiated again, by an exponential that vanishes and never overflows: far
    apart, slopes of x and y may be large.
    """
    gap = np.where(np.logical_and(x == y, np.isinf(x)), 0, y - x)
    if type(gap) is not Array:
        return 1.0 / (1.0 + exponential(gap))
    above = gap > 0
    small = exponential(np.where(above, -gap, gap))
    return np.where(above, small, 1.0) / (1.0 + small)


def arctan2_y(bar, out, y, x):
    h = np.hypot(x, y)
    return bar / h * (x / h)


def arctan2_x(bar, out, y, x):
    h = np.hypot(x, y)
    return -(bar / h * (y / h))


# On a branch cut the sign of a zero says which side is meant. `x - 1` and `x - (-1)` keep it, and
# `1 - x` and `x + 1` do not.


def arcsin_x(bar, out, x):
    if is_complex(x):
        return bar / (np.sqrt(-(x - 1)) * np.sqrt(x - (-1)))
    return bar / np.sqrt((UNIT - x) * (UNIT + x))


def arccos_x(bar, out, x):
    return -arcsin_x(bar, out, x)


def arcsinh_x(bar, out, x):
    if is_complex(x):
        return bar / (np.sqrt(-(1j * x - 1)) * np.sqrt(I_BELOW * x - (-1)))
    return bar / np.hypot(1, x)


def arccosh_x(bar, out, x):
    return bar / (np.sqrt(x - 1) * np.sqrt(x - (-1)))


def arctanh_x(bar, out, x):
    return bar / ((UNIT - x) * (UNIT + x))


I_BELOW = complex(-0.0, 1.0)  # times x above the cut of `arcsinh`, it keeps the zero's sign
LN2, LN10, DEGREE, REVOLVED = math.log(2), math.log(10), math.pi / 180, 180 / math.pi
UNIT, THREE = 1.0, 3.0  # numbers by name have a shorter way; see `core.rule_forms`

# fmt: off
add         = row(np.add,        ONE, ONE,       value=operator.add, lower="add",
                  arithmetic=True, mixes=True, neutral=(-0.0, -0.0))
subtract    = row(np.subtract,   ONE, MINUS_ONE, value=operator.sub, lower="sub",
                  arithmetic=True, mixes=True, neutral=(None, 0.0))
multiply    = row(np.multiply,   SECOND, FIRST,
                  reads=("x1", "x0"), value=operator.mul, lower="mul",
                  arithmetic=True, mixes=True, neutral=(1, 1))
divide      = row(np.divide,     lambda bar, out, x, y: bar / y,
                  lambda bar, out, x, y: -(bar / y * out), arithmetic=True, divides=True,
                  reads=("x1", "out x1"), kind=Scaling, value=operator.truediv, lower="div",
                  from_first=lambda x_bar, out, x, y: -(x_bar * out), neutral=(None, 1), mixes=True)
power       = row(np.power,      power_x, power_y, reads=("x0 x1", "out x0"), value=operator.pow,
                  lower="power", arithmetic=True, neutral=(None, 1), raises_for="iu",
                  by_number=True)
negative    = row(np.negative,   MINUS_ONE, value=operator.neg, lower="neg", arithmetic=True,
                  involution=True)
positive    = row(np.positive,   ONE, value=operator.pos, lower="same", arithmetic=True,
                  gives_back=True)
remainder   = row(np.remainder,  ONE, remainder_y, reads="x0 x1", value=operator.mod,
                  lower="remainder", arithmetic=True, divides=True,
                  surface=quotient_off_integer, level=lambda x, y: np.floor_divide(x, y))
fmod        = row(np.fmod,       ONE, fmod_y,      reads="out x0 x1", lower="fmod",
                  surface=quotient_off_integer, level=lambda x, y: np.trunc(x / y))
nextafter   = row(np.nextafter,  ONE, ZERO)
copysign    = row(np.copysign,   copysign_x, ZERO, reads="x0 x1", lower="copysign",
                  surface=second, level=lambda x, y: np.signbit(y) & (x != 0))
hypot       = row(np.hypot,      hypot_x, hypot_y, reads=("x0 out", "x1 out"), lower="hypot",
                  python_differs=True)
absolute    = row(np.absolute,   abs_x, reads="x0", value=abs, lower="absolute",
                  arithmetic=True)
fabs        = row(np.fabs,       abs_x, reads="x0", lower="absolute")
square      = row(np.square,     lambda out, x: doubled(x), reads="x0", lower="square")
reciprocal  = row(np.reciprocal, lambda bar, out, x: -(bar * out * out), reads="out", kind=Scaling,
                  lower="reciprocal")
sqrt        = row(np.sqrt,       lambda bar, out, x: bar / (out + out),  reads="out", kind=Scaling,
                  lower="sqrt")
cbrt        = row(np.cbrt,       lambda bar, out, x: bar / (THREE * (out * out)), reads="out",
                  kind=Scaling, lower="cbrt")

exp         = row(np.exp,        lambda out, x: factor(out),       reads="out", lower="exp")
exp2        = row(np.exp2,       lambda out, x: factor(out) * LN2, reads="out", lower="exp2")
expm1       = row(np.expm1,      lambda out, x: factor(np.exp(x)), reads="x0", lower="expm1")
log         = row(np.log,   lambda bar, out, x: bar / finite(x),          reads="x0", kind=Scaling,
                  lower="log")
log2        = row(np.log2,  lambda bar, out, x: bar / (finite(x) * LN2),  reads="x0", kind=Scaling,
                  lower="log2")
log10       = row(np.log10, lambda bar, out, x: bar / (finite(x) * LN10), reads="x0", kind=Scaling,
                  lower="log10")
log1p       = row(np.log1p, lambda bar, out, x: bar / (UNIT + finite(x)),  reads="x0", kind=Scaling,
                  lower="log1p")
logaddexp   = row(np.logaddexp,  lambda out, x, y: weight(np.exp, x, y),
                                 lambda out, x, y: weight(np.exp, y, x),  reads="x0 x1",
                  lower="logaddexp")
logaddexp2  = row(np.logaddexp2, lambda out, x, y: weight(np.exp2, x, y),
                                 lambda out, x, y: weight(np.exp2, y, x), reads="x0 x1",
                  lower="logaddexp2")

sin         = row(np.sin,        lambda out, x: np.cos(x),     reads="x0", lower="sin")
cos         = row(np.cos,        lambda out, x: -np.sin(x),    reads="x0", lower="cos")
tan         = row(np.tan,        lambda out, x: UNIT + out * out, reads="out", lower="tan")
arcsin      = row(np.arcsin,     arcsin_x,             reads="x0",    kind=Scaling, lower="asin")
arccos      = row(np.arccos,     arccos_x,             reads="x0",    kind=Scaling, lower="acos")
arctan      = row(np.arctan,     lambda bar, out, x: bar / (UNIT + x * x), reads="x0", kind=Scaling,
                  lower="atan")
arctan2     = row(np.arctan2,    arctan2_y, arctan2_x, reads="x0 x1", kind=Scaling, lower="atan2",
                  surface=off_cut, level=lambda y, x: (y < 0) & (x <= 0))
sinh        = row(np.sinh,       lambda out, x: factor(np.cosh(x)), reads="x0", lower="sinh")
cosh        = row(np.cosh,       lambda out, x: factor(np.sinh(x)), reads="x0", lower="cosh")
tanh        = row(np.tanh,       lambda out, x: UNIT - out * out, reads="out", lower="tanh")
arcsinh     = row(np.arcsinh,    arcsinh_x,            reads="x0",    kind=Scaling, lower="asinh")
arccosh     = row(np.arccosh,    arccosh_x,            reads="x0",    kind=Scaling, lower="acosh")
arctanh     = row(np.arctanh,    arctanh_x,            reads="x0",    kind=Scaling, lower="atanh")
deg2rad     = row(np.deg2rad,    lambda out, x: DEGREE, lower="radians")
radians     = row(np.radians,    lambda out, x: DEGREE, lower="radians")
rad2deg     = row(np.rad2deg,    lambda out, x: REVOLVED, lower="degrees")
degrees     = row(np.degrees,    lambda out, x: REVOLVED, lower="degrees")

floor       = row(np.floor,      ZERO, lower="floor", steps=True, surface=off_integer)
ceil        = row(np.ceil,       ZERO, lower="ceil",  steps=True, surface=off_integer)
trunc       = row(np.trunc,      ZERO, lower="trunc", steps=True, surface=off_integer)
rint        = row(np.rint,       ZERO, lower="rint",  steps=True, surface=off_half)
spacing     = row(np.spacing,    ZERO, steps=True)
floor_divide = row(np.floor_divide, ZERO, ZERO, value=operator.floordiv, lower="floor_divide",
                   arithmetic=True, divides=True, steps=True, surface=quotient_off_integer)

equal         = compares(np.equal,          operator.eq, order)
not_equal     = compares(np.not_equal,      operator.ne, order)
less          = compares(np.less,           operator.lt)
less_equal    = compares(np.less_equal,     operator.le)
greater       = compares(np.greater,        operator.gt)
greater_equal = compares(np.greater_equal,  operator.ge)
logical_and   = row(np.logical_and,   constant=True, lower="logical_and")
logical_or    = row(np.logical_or,    constant=True, lower="logical_or")
logical_xor   = row(np.logical_xor,   constant=True, lower="logical_xor")
logical_not   = row(np.logical_not,   constant=True, lower="logical_not", involution=True)
isnan         = row(np.isnan,         constant=True, lower="isnan")
isinf         = row(np.isinf,         constant=True, lower="isinf")
isfinite      = row(np.isfinite,      constant=True, lower="isfinite")
signbit       = row(np.signbit,       constant=True, lower="signbit", surface=itself)
bitwise_and   = row(np.bitwise_and,   constant=True, value=operator.and_, lower="bitwise_and",
                    arithmetic=True, keeps_truth=True)
bitwise_or    = row(np.bitwise_or,    constant=True, value=operator.or_, lower="bitwise_or",
                    arithmetic=True, keeps_truth=True)
bitwise_xor   = row(np.bitwise_xor,   constant=True, value=operator.xor, lower="bitwise_xor",
                    arithmetic=True, keeps_truth=True)
invert        = row(np.invert,        constant=True, lower="invert", arithmetic=True)
left_shift    = row(np.left_shift,    constant=True, value=operator.lshift, arithmetic=True)
right_shift   = row(np.right_shift,   constant=True, value=operator.rshift, arithmetic=True)
gcd           = row(np.gcd,           constant=True)
lcm           = row(np.lcm,           constant=True)
bitwise_count = row(np.bitwise_count, constant=True)
# fmt: on

EDGES = [  # of primitives that have one, see `Traits.edge`
    (itself, (sqrt, cbrt, log, log2, log10)),
    (lambda x: 1 + x, (log1p,)),
    (lambda x: x - 1, (arccosh,)),
    (within_one, (arcsin, arccos, arctanh)),
    (edge_of_power, (power,)),
    (squared, (hypot, arctan2)),
    (lambda z: squared(z) if is_complex(z) else None, (absolute,)),
]
POLES = [(second, (divide,)), (itself, (reciprocal,)), (np.cos, (tan,)), (edge_of_power, (power,))]
for edge, primitives in EDGES:
    for primitive in primitives:
        primitive.declare(edge=edge)
for pole, primitives in POLES:
    for primitive in primitives:
        primitive.declare(pole=pole)

CUTS = [  # the primitives with a branch cut, by where it is
    (across_real(lambda x: x < 0), (sqrt, log, log2, log10, power)),
    (across_real(lambda x: x < -1), (log1p,)),
    (across_real(lambda x: x < 1), (arccosh,)),
    (across_real(lambda x: np.abs(x) > 1), (arcsin, arccos, arctanh)),
    ((np.real, across_imaginary), (arctan, arcsinh)),
]
for cut, primitives in CUTS:
    for primitive in primitives:
        primitive.declare(cut=cut)


def powers(x, y):
    """Powers of one number after another: `x ** y` of arrays rounds otherwise, by wide vectors."""
    if max(np.size(x), np.size(y)) > MANY_EXAMPLES:
        return x**y
    chars = {x.dtype.char if hasattr(x, "dtype") else "?" for x in (x, y)}
    return np.float_power(x, y) if "d" in chars and chars.isdisjoint("gFDGO") else x**y


power.of_examples, in_doubles = [with_value(power, value) for value in (powers, np.float_power)]


@replaces(np.float_power)
def float_power(x, y):
    """Power in double precision or better, whatever the operands are."""
    xs = double(x), double(y)
    return binary(in_doubles, *xs) if all(map(has_values, xs)) else np.power(*xs)


def double(x):
    if is_complex(x):
        return complex(x) if type(x) is complex else x.astype(np.result_type(x.dtype, complex))
    if spec_of(x).dtype.kind == "O":
        raise ArgumentTypeError("`numpy.float_power` takes numbers, but got an array of objects.")
    return x.astype(np.result_type(x.dtype, float)) if hasattr(x, "dtype") else float(x)
