"""Emit: the interface that `lower` rules call.

`lower="sin"` names a method here; a function `lower(emit, *xs)` calls such methods. A rule is
written once for single numbers and vectors: a Value is one number, or as many as a register holds.

Arithmetic follows IEEE 754, operation by operation, without contraction or reordering, so that the
results are NumPy's. For vectors, functions come from `exp_log` or libmvec (within 4 ulp); for
numbers, from the C library.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..llvm.binding import SCALAR, known, prefixes
from ..llvm.cpu import is_x86
from ..llvm.dtypes import TYPES, part_of
from ..llvm.pen import Pen
from . import exp_log, infinities, powers, quotients, special
from .elements import BOOL, ComplexValue, Value, literal

DOUBLE = np.dtype(np.float64)


class Refused(Exception):
    """There's no machine code for this operation; NumPy computes it."""


def takes(kinds: str, ulp: int = 0, cancels: bool = False) -> Callable[[Any], Any]:
    """Declare which kinds of dtype a method handles, and how far its results may be from NumPy's.

    ulp: units in the last place of the result; 0 is bit for bit.
    cancels: the result may be a small difference of large terms; units are of the largest of
        operands and result.
    """

    def mark(method: Any) -> Any:
        method.kinds, method.ulp, method.cancels = kinds, ulp, cancels
        return method

    return mark


class Lines:
    """Write code for `width` elements at once, or for one number (width 1)."""

    def __init__(self, width: int, pen: Pen, declared: set[str]) -> None:
        self.width, self.pen, self.declared = width, pen, declared
        self.lines, self.line, self.fresh = pen.lines, pen.line, pen.fresh

    def type(self, dtype: np.dtype) -> str:
        text = TYPES[dtype]
        return text if self.width == 1 else f"<{self.width} x {text}>"

    def op(self, form: str, *xs: Value, dtype: np.dtype | None = None) -> Value:
        text = form.format(*[x.name for x in xs], t=self.type(xs[0].dtype))
        return Value(self.line(text), dtype or xs[0].dtype)

    def constant(self, x: Any, dtype: Any) -> Value:
        dtype = np.dtype(dtype)
        if dtype.kind == "c":
            x, part = dtype.type(x), part_of(dtype)
            return ComplexValue(self.constant(x.real, part), self.constant(x.imag, part))
        text = literal(x, dtype)
        if self.width > 1:
            text = "<" + ", ".join([f"{TYPES[dtype]} {text}"] * self.width) + ">"
        return Value(text, dtype)

    def intrinsic(self, name: str, *xs: Value) -> Value:
        t = self.type(xs[0].dtype)
        short = f"f{8 * xs[0].dtype.itemsize}"
        suffix = short if self.width == 1 else f"v{self.width}{short}"
        return self.call(f"llvm.{name}.{suffix}", t, xs)

    def call(self, symbol: str, t: str, xs: Any) -> Value:
        self.declared.add(f"declare {t} @{symbol}({', '.join([t] * len(xs))})")
        given = ", ".join([f"{t} {x.name}" for x in xs])
        return Value(self.line(f"call {t} @{symbol}({given})"), xs[0].dtype)

    def library(self, symbol: str, *xs: Value) -> Value:
        """Call a function of the C library: its vector version if it has one, else per element."""
        dtype = xs[0].dtype
        symbol += "f" if dtype.itemsize == 4 else ""
        if self.width > 1 and not SCALAR.get():
            prefix = prefixes().get(8 * dtype.itemsize * self.width)
            vector = f"{prefix}N{self.width}{'v' * len(xs)}_{symbol}"
            if prefix and known(vector):
                return self.call(vector, self.type(dtype), xs)
        if not known(symbol):
            raise Refused(symbol)
        return self.lanes(symbol, *xs)

    def lanes(self, symbol: str, *xs: Value) -> Value:
        """Apply a scalar function to each element of vectors."""
        dtype, scalar = xs[0].dtype, TYPES[xs[0].dtype]
        if self.width == 1:
            return self.call(symbol, scalar, xs)
        t, out = self.type(dtype), "poison"
        for i in range(self.width):
            parts = [Value(self.line(f"extractelement {t} {x.name}, i32 {i}"), dtype) for x in xs]
            part = self.call(symbol, scalar, parts)
            out = self.line(f"insertelement {t} {out}, {scalar} {part.name}, i32 {i}")
        return Value(out, dtype)


def function(symbol: str, doc: str = "") -> Any:
    """A method that calls a function of the mathematical libraries."""

    def method(self: Emit, *xs: Value) -> Value:
        return self.library(symbol, *xs)

    return takes("f", ulp=4)(method)


def of_doubles(rule: Callable[..., Value]) -> Any:
    """A method for double precision alone; SciPy computes others in other ways."""

    def method(self: Emit, *xs: Value) -> Value:
        if xs[0].dtype != DOUBLE:
            raise Refused("another precision")
        return rule(self, *xs)

    return takes("f", ulp=4)(method)


def exact(name: str) -> Any:
    def method(self: Emit, *xs: Value) -> Value:
        return self.intrinsic(name, *xs)

    return takes("f")(method)


def comparison(ordered: str, integer: str) -> Any:
    def method(self: Emit, x: Value, y: Value) -> Value:
        if x.dtype.kind == "f":
            return self.op(f"fcmp {ordered} {{t}} {{0}}, {{1}}", x, y, dtype=BOOL)
        signed = [x.dtype.kind == "i", y.dtype.kind == "i"]
        sign = "" if integer in ("eq", "ne") else "s" if all(signed) else "u"
        found = self.op(f"icmp {sign}{integer} {{t}} {{0}}, {{1}}", x, y, dtype=BOOL)
        if signed[0] == signed[1]:
            return found
        # NumPy compares int64 with uint64 by value: a negative number is smaller than any other.
        one = x if signed[0] else y
        negative = self.less(one, self.constant(0, one.dtype))
        if integer == "ne" or (integer[0] == ("l" if signed[0] else "g")):
            return self.bitwise_or(negative, found)
        return self.bitwise_and(self.logical_not(negative), found)

    return takes("fiub")(method)


def bitwise(name: str) -> Any:
    def method(self: Emit, x: Value, y: Value) -> Value:
        return self.op(f"{name} {{t}} {{0}}, {{1}}", x, y)

    return takes("iub")(method)


def logical(name: str) -> Any:
    def method(self: Emit, x: Value, y: Value) -> Value:
        return self.op(f"{name} {{t}} {{0}}, {{1}}", self.truth(x), self.truth(y))

    return takes("fiub")(method)


class Emit(Lines):
    """Writes straight-line code, with a method for each elementwise operation."""

    # Conversion.

    def cast(self, x: Value, dtype: Any) -> Value:
        """Convert x to another dtype, as NumPy does."""
        dtype, old = np.dtype(dtype), x.dtype
        if dtype == old:
            return x
        if dtype.kind == "b":
            return self.truth(x)
        if isinstance(x, ComplexValue):
            if dtype.kind != "c":
                raise Refused("a cast that drops imaginary parts, of which NumPy warns")
            part = part_of(dtype)
            return ComplexValue(self.cast(x.re, part), self.cast(x.im, part))
        if dtype.kind == "c":
            part = part_of(dtype)
            return ComplexValue(self.cast(x, part), self.constant(0, part))
        if old.kind == "f":
            if dtype.kind != "f":
                return self.whole_part(x, dtype)
            how = "fptrunc" if dtype.itemsize < old.itemsize else "fpext"
        elif dtype.kind == "f":
            how = "sitofp" if old.kind == "i" else "uitofp"
        elif old.kind != "b" and dtype.itemsize <= old.itemsize:
            how = "trunc" if dtype.itemsize < old.itemsize else "bitcast"
        else:
            how = "sext" if old.kind == "i" else "zext"
        return self.op(f"{how} {{t}} {{0}} to {self.type(dtype)}", x, dtype=dtype)

    def whole_part(self, x: Value, dtype: np.dtype) -> Value:
        """x without its fraction; what the processor returns if that doesn't fit the dtype."""
        if dtype not in (np.int64, np.int32) or not is_x86():
            raise Refused("a cast of floats to integers")
        bits = 8 * dtype.itemsize
        size = self.absolute(self.trunc(x))
        inside = self.less(size, self.constant(2.0 ** (bits - 1), x.dtype))
        x = self.where(inside, x, self.constant(0, x.dtype))
        whole = self.op(f"fptosi {{t}} {{0}} to {self.type(dtype)}", x, dtype=dtype)
        return self.where(inside, whole, self.constant(np.iinfo(dtype).min, dtype))

    def truth(self, x: Value) -> Value:
        """x != 0."""
        if isinstance(x, ComplexValue):
            return self.bitwise_or(self.truth(x.re), self.truth(x.im))
        return x if x.dtype.kind == "b" else self.not_equal(x, self.constant(0, x.dtype))

    # Arithmetic.

    def arithmetic(self, name: str, x: Value, y: Value) -> Value:
        return self.op(f"{'f' if x.dtype.kind == 'f' else ''}{name} {{t}} {{0}}, {{1}}", x, y)

    @takes("fiub")
    def add(self, x: Value, y: Value) -> Value:
        return self.bitwise_or(x, y) if x.dtype.kind == "b" else self.arithmetic("add", x, y)

    @takes("fiu")
    def sub(self, x: Value, y: Value) -> Value:
        return self.arithmetic("sub", x, y)

    @takes("fiub")
    def mul(self, x: Value, y: Value) -> Value:
        return self.bitwise_and(x, y) if x.dtype.kind == "b" else self.arithmetic("mul", x, y)

    @takes("f")
    def div(self, x: Value, y: Value) -> Value:
        return self.arithmetic("div", x, y)

    @takes("fiu")
    def neg(self, x: Value) -> Value:
        if x.dtype.kind == "f":
            return self.op("fneg {t} {0}", x)
        return self.sub(self.constant(0, x.dtype), x)

    @takes("fiub")
    def same(self, x: Value) -> Value:
        return x

    @takes("fiub")
    def absolute(self, x: Value) -> Value:
        if x.dtype.kind == "f":
            return self.intrinsic("fabs", x)
        if x.dtype.kind != "i":
            return x
        return self.where(self.less(x, self.constant(0, x.dtype)), self.neg(x), x)

    @takes("fiu")
    def square(self, x: Value) -> Value:
        return self.mul(x, x)

    @takes("f")
    def reciprocal(self, x: Value) -> Value:
        return self.div(self.constant(1, x.dtype), x)

    @takes("f")
    def fmod(self, x: Value, y: Value) -> Value:
        symbol = "fmodf" if x.dtype.itemsize == 4 else "fmod"
        if not known(symbol):
            raise Refused(symbol)
        return self.lanes(symbol, x, y)

    floor_divide = takes("f")(quotients.floor_divide)
    remainder = takes("f")(quotients.remainder)

    @takes("f", ulp=4)
    def power(self, x: Value, y: Value) -> Value:
        return self.library("pow", x, y)

    power_of = powers.power_of

    @takes("fiub")
    def sign(self, x: Value) -> Value:
        if x.dtype.kind == "b":
            raise Refused("the sign of truth values")
        zero, one = self.constant(0, x.dtype), self.constant(1, x.dtype)
        if x.dtype.kind == "u":
            return self.where(self.equal(x, zero), zero, one)
        down = self.where(self.less(x, zero), self.constant(-1, x.dtype), x)
        down = self.where(self.equal(x, zero), zero, down)
        return self.where(self.greater(x, zero), one, down)

    sqrt = exact("sqrt")
    floor = exact("floor")
    ceil = exact("ceil")
    trunc = exact("trunc")
    rint = exact("rint")
    copysign = exact("copysign")

    # Functions.

    @takes("f", ulp=4)
    def exp(self, x: Value) -> Value:
        return exp_log.exp(self, x) if exp_log.served(self, x) else self.library("exp", x)

    @takes("f", ulp=4)
    def log(self, x: Value) -> Value:
        return exp_log.log(self, x) if exp_log.served(self, x) else self.library("log", x)

    exp2, expm1 = function("exp2"), function("expm1")
    log2, log10, log1p = function("log2"), function("log10"), function("log1p")
    sin, cos, tan = function("sin"), function("cos"), function("tan")
    asin, acos, atan = function("asin"), function("acos"), function("atan")
    sinh, cosh, tanh = function("sinh"), function("cosh"), function("tanh")
    asinh, acosh, atanh = function("asinh"), function("acosh"), function("atanh")
    atan2, hypot, cbrt = function("atan2"), function("hypot"), function("cbrt")
    erf, exp10 = function("erf"), function("exp10")
    erfc, ndtr = of_doubles(special.erfc), of_doubles(special.ndtr)
    entr, kl_div = of_doubles(special.entr), of_doubles(special.kl_div)
    expit, log_expit = of_doubles(special.expit), of_doubles(special.log_expit)
    logit, xlogy = of_doubles(special.logit), of_doubles(special.xlogy)
    xlog1py = of_doubles(special.xlog1py)

    def scale(self, x: Value, factor: float) -> Value:
        return self.mul(x, self.constant(x.dtype.type(factor), x.dtype))

    @takes("f")
    def radians(self, x: Value) -> Value:
        return self.scale(x, x.dtype.type(np.pi) / x.dtype.type(180))

    @takes("f")
    def degrees(self, x: Value) -> Value:
        return self.scale(x, x.dtype.type(180) / x.dtype.type(np.pi))

    logaddexp = takes("f", ulp=4, cancels=True)(special.logaddexp)
    logaddexp2 = takes("f", ulp=4, cancels=True)(special.logaddexp2)

    @takes("f", ulp=4)
    def sigmoid(self, x: Value) -> Value:
        one = self.constant(1, x.dtype)
        small = self.exp(self.neg(self.absolute(x)))
        top = self.where(self.greater_equal(x, self.constant(0, x.dtype)), one, small)
        return self.div(top, self.add(one, small))

    @takes("f", ulp=4)
    def softplus(self, x: Value) -> Value:
        small = self.log1p(self.exp(self.neg(self.absolute(x))))
        return self.add(self.maximum(x, self.constant(0, x.dtype)), small)

    @takes("f")
    def relu(self, x: Value) -> Value:
        return self.maximum(x, self.constant(0, x.dtype))

    # Choices.

    @takes("fiub")
    def where(self, condition: Value, x: Value, y: Value) -> Value:
        condition, t = self.truth(condition), self.type(x.dtype)
        if isinstance(x, ComplexValue) and isinstance(y, ComplexValue):
            return ComplexValue(
                self.where(condition, x.re, y.re), self.where(condition, x.im, y.im)
            )
        text = f"select {self.type(BOOL)} {condition.name}, {t} {x.name}, {t} {y.name}"
        return Value(self.line(text), x.dtype)

    def extremum(self, beyond: Callable[..., Value], x: Value, y: Value) -> Value:
        """The larger or smaller of two; NaN wins, and of two zeros NumPy keeps the second."""
        first = beyond(x, y)
        if x.dtype.kind == "f":
            first = self.bitwise_or(first, self.isnan(x))
        return self.where(first, x, y)

    @takes("fiub")
    def maximum(self, x: Value, y: Value) -> Value:
        return self.extremum(self.greater, x, y)

    @takes("fiub")
    def minimum(self, x: Value, y: Value) -> Value:
        return self.extremum(self.less, x, y)

    finite = takes("f")(infinities.finite)
    spared = takes("f")(infinities.spared)
    finite_off_pole = takes("f")(infinities.finite_off_pole)
    steep = takes("f")(infinities.steep)

    @takes("f")
    def step(self, x: Value) -> Value:
        """1 for positive x, 0 for other numbers, NaN for NaN."""
        zero, one = self.constant(0, x.dtype), self.constant(1, x.dtype)
        out = self.where(self.less_equal(x, zero), zero, x)
        return self.where(self.greater(x, zero), one, out)

    # Questions.

    equal, not_equal = comparison("oeq", "eq"), comparison("une", "ne")
    less, less_equal = comparison("olt", "lt"), comparison("ole", "le")
    greater, greater_equal = comparison("ogt", "gt"), comparison("oge", "ge")
    bitwise_and, bitwise_or, bitwise_xor = bitwise("and"), bitwise("or"), bitwise("xor")
    logical_and, logical_or, logical_xor = logical("and"), logical("or"), logical("xor")

    @takes("fiub")
    def logical_not(self, x: Value) -> Value:
        return self.bitwise_xor(self.truth(x), self.constant(True, BOOL))

    @takes("iub")
    def invert(self, x: Value) -> Value:
        ones = True if x.dtype.kind == "b" else -1
        return self.bitwise_xor(x, self.constant(ones, x.dtype))

    @takes("fiub")
    def isnan(self, x: Value) -> Value:
        if x.dtype.kind != "f":
            return self.constant(False, BOOL)
        return self.op("fcmp uno {t} {0}, {0}", x, dtype=BOOL)

    @takes("fiub")
    def isinf(self, x: Value) -> Value:
        if x.dtype.kind != "f":
            return self.constant(False, BOOL)
        return self.equal(self.absolute(x), self.constant(np.inf, x.dtype))

    @takes("fiub")
    def isfinite(self, x: Value) -> Value:
        if x.dtype.kind != "f":
            return self.constant(True, BOOL)
        return self.less(self.absolute(x), self.constant(np.inf, x.dtype))

    @takes("f")
    def signbit(self, x: Value) -> Value:
        integer = np.dtype(f"i{x.dtype.itemsize}")
        raw = self.op(f"bitcast {{t}} {{0}} to {self.type(integer)}", x, dtype=integer)
        return self.less(raw, self.constant(0, integer))
