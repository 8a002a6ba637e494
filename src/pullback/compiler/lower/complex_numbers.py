"""Complex numbers: the methods that `lower` rules call, as arithmetic on real and imaginary parts.

Everything here gives the same bits as NumPy, including infinities, NaN and the signs of zeros,
unless it mentions `ulp`: units in the last place of the modulus. If the processor can, NumPy
multiplies complex arrays with one rounding less than single numbers; `fused` tells which applies.
"""

from __future__ import annotations

import platform
import sys
from functools import cache
from typing import Any

import numpy as np

from ..llvm.binding import known
from ..llvm.dtypes import TYPES
from . import complex_exp_log
from .elements import ComplexValue, Value
from .emit import Emit, Refused, takes
from .infinities import HUGE, SPARE

LOG2E, LOG10E, LN2 = np.log2(np.e), np.log10(np.e), np.log(2.0)
POWERS = 100  # NumPy multiplies for whole exponents below


@cache
def fuses(dtype: np.dtype) -> bool:
    """Whether NumPy fuses the multiplication of two parts with the addition that follows."""
    x = np.full(16, dtype.type(complex(1 + 3 * np.finfo(dtype).eps, 1 / 3)))
    return bool(np.any(np.multiply(x, np.conjugate(x)).imag != 0))


@cache
def calls_library() -> bool:
    """Whether the C library passes complex numbers in two registers, as this code does."""
    return sys.platform != "win32" and platform.machine() in ("x86_64", "AMD64", "aarch64", "arm64")


def function(symbol: str) -> Any:
    def method(self: ComplexEmit, x: ComplexValue) -> ComplexValue:
        return self.library(symbol, x)

    return takes("c")(method)


def by_parts(name: str) -> Any:
    """A method that applies the same operation to both parts."""

    def method(self: ComplexEmit, *xs: ComplexValue) -> ComplexValue:
        do = getattr(self.real, name)
        return ComplexValue(do(*[x.re for x in xs]), do(*[x.im for x in xs]))

    return takes("c")(method)


def over(emit: Emit, *dtypes: np.dtype, fused: bool = False) -> Any:
    """The emit with the arithmetic for some dtypes: this one, or the one for complex numbers."""
    return ComplexEmit(emit, fused) if any(d.kind == "c" for d in dtypes) else emit


class ComplexEmit:
    """The counterpart of Emit for complex numbers; `real` writes the lines for the parts."""

    def __init__(self, real: Emit, fused: bool = False) -> None:
        self.real, self.fused = real, fused

    # Arithmetic.

    add, sub, neg = by_parts("add"), by_parts("sub"), by_parts("neg")

    @takes("c")
    def same(self, x: ComplexValue) -> ComplexValue:
        return x

    @takes("c")
    def conjugate(self, x: ComplexValue) -> ComplexValue:
        return ComplexValue(x.re, self.real.neg(x.im))

    @takes("c")
    def real_part(self, x: ComplexValue) -> Value:
        return x.re

    @takes("c")
    def imaginary_part(self, x: ComplexValue) -> Value:
        return x.im

    @takes("fc")
    def joined(self, re: Value, im: Value) -> ComplexValue:
        return ComplexValue(re, im)

    def plus_product(self, x: Value, y: Value, z: Value) -> Value:
        """x * y + z."""
        if self.fused and fuses(np.result_type(x.dtype, np.complex64)):
            return self.real.intrinsic("fma", x, y, z)
        return self.real.add(self.real.mul(x, y), z)

    @takes("c")
    def mul(self, x: ComplexValue, y: ComplexValue) -> ComplexValue:
        real = self.real
        re = self.plus_product(x.re, y.re, real.neg(real.mul(x.im, y.im)))
        return ComplexValue(re, self.plus_product(x.re, y.im, real.mul(x.im, y.re)))

    @takes("c")
    def square(self, x: ComplexValue) -> ComplexValue:
        return self.mul(x, x)

    @takes("c")
    def div(self, x: ComplexValue, y: ComplexValue) -> ComplexValue:
        """Smith's method, with the larger part of the divisor as the scale."""
        real = self.real
        size, other = real.absolute(y.re), real.absolute(y.im)
        first = real.greater_equal(size, other)

        def choose(a: Value, b: Value) -> Value:
            return real.where(first, a, b)

        big, small = choose(y.re, y.im), choose(y.im, y.re)
        ratio = real.div(small, big)
        scale = real.reciprocal(real.add(big, real.mul(small, ratio)))
        u, v = choose(x.re, x.im), choose(x.im, x.re)
        re = real.mul(real.add(u, real.mul(v, ratio)), scale)
        left, right = choose(x.im, real.mul(x.im, ratio)), choose(real.mul(x.re, ratio), x.re)
        im = real.mul(real.sub(left, right), scale)
        zero = real.constant(0, size.dtype)
        at_zero = real.bitwise_and(real.equal(size, zero), real.equal(other, zero))
        return ComplexValue(
            real.where(at_zero, real.div(x.re, size), re),
            real.where(at_zero, real.div(x.im, size), im),
        )

    @takes("c")
    def reciprocal(self, x: ComplexValue) -> ComplexValue:
        real = self.real
        first = real.less_equal(real.absolute(x.im), real.absolute(x.re))
        big, small = real.where(first, x.re, x.im), real.where(first, x.im, x.re)
        ratio = real.div(small, big)
        scale = real.add(big, real.mul(small, ratio))
        one = real.constant(1, ratio.dtype)
        re = real.div(real.where(first, one, ratio), scale)
        return ComplexValue(re, real.div(real.neg(real.where(first, ratio, one)), scale))

    @takes("c", ulp=4)
    def power(self, x: ComplexValue, y: ComplexValue) -> ComplexValue:
        raise Refused("a power of complex numbers")

    def power_of(self, x: ComplexValue, n: Any) -> Value | None:
        """x to a constant power, with NumPy's shortcuts for arrays and some Python numbers."""
        if n == 0:
            return self.real.constant(1, x.dtype)
        short = {(int, 2): self.square, (int, -1): self.reciprocal, (float, 0.5): self.sqrt}
        if self.fused and (type(n), n) in short:
            return short[type(n), n](x)
        if n.imag or n.real % 1 or not 0 < n.real < POWERS:
            return None
        zero = self.real.constant(0, x.dtype)
        product = ComplexEmit(self.real).multiplied(x, int(n.real))
        return self.real.where(self.equal(x, zero), zero, product)

    def multiplied(self, x: ComplexValue, n: int) -> Any:
        """x to a whole power, in NumPy's order."""
        if n < 4:
            return x if n == 1 else self.mul(x, x if n == 2 else self.mul(x, x))
        out, bit = self.real.constant(1, x.dtype), 1
        while True:
            if n & bit:
                out = self.mul(out, x)
            bit <<= 1
            if n < bit:
                return out
            x = self.mul(x, x)

    # Sizes and directions.

    @takes("c", ulp=4)
    def absolute(self, x: ComplexValue) -> Value:
        real = self.real
        if not self.fused:
            return real.hypot(x.re, x.im)
        big, small, infinite = self.sizes(x)
        ratio = real.div(small, big)
        one = real.constant(1, big.dtype)
        size = real.mul(big, real.sqrt(self.plus_product(ratio, ratio, one)))
        zero = real.constant(0, big.dtype)
        nothing = real.logical_not(real.truth(x))
        size = real.where(nothing, zero, size)
        return real.where(infinite, real.constant(np.inf, big.dtype), size)

    @takes("c", ulp=4)
    def sign(self, x: ComplexValue) -> ComplexValue:
        """x over its modulus, 0 at 0; where one part is infinite, the direction of that part."""
        real = self.real
        size = real.hypot(x.re, x.im)
        zero = real.constant(0, size.dtype)
        infinite = real.isinf(size)

        def part(along: Value, across: Value) -> Value:
            far = real.where(
                real.isinf(along), real.copysign(real.constant(1, size.dtype), along), zero
            )
            far = real.where(real.isinf(across), real.where(real.isinf(along), nan, zero), far)
            out = real.where(infinite, far, real.div(along, size))
            return real.where(real.equal(size, zero), zero, out)

        nan = real.constant(np.nan, size.dtype)
        return ComplexValue(part(x.re, x.im), part(x.im, x.re))

    # Functions.

    def library(self, symbol: str, x: ComplexValue) -> ComplexValue:
        """Call a function of the C library for each element."""
        real, dtype = self.real, x.re.dtype
        symbol += "f" if dtype.itemsize == 4 else ""
        if not known(symbol) or not calls_library():
            raise Refused(symbol)
        if real.width == 1:
            return self.called(symbol, x)
        t, scalar = real.type(dtype), TYPES[dtype]
        out = ["poison", "poison"]
        for i in range(real.width):
            re, im = [
                Value(real.line(f"extractelement {t} {part.name}, i32 {i}"), dtype)
                for part in (x.re, x.im)
            ]
            found = self.called(symbol, ComplexValue(re, im))
            for k, part in enumerate((found.re, found.im)):
                out[k] = real.line(f"insertelement {t} {out[k]}, {scalar} {part.name}, i32 {i}")
        return ComplexValue(*[Value(name, dtype) for name in out])

    def called(self, symbol: str, x: ComplexValue) -> ComplexValue:
        """One call. On x86-64, both parts of a float32 number are passed in one register."""
        real, dtype = self.real, x.re.dtype
        t = TYPES[dtype]
        if dtype.itemsize == 4 and platform.machine() in ("x86_64", "AMD64"):
            real.declared.add(f"declare <2 x {t}> @{symbol}(<2 x {t}>)")
            packed = real.line(f"insertelement <2 x {t}> poison, {t} {x.re.name}, i32 0")
            packed = real.line(f"insertelement <2 x {t}> {packed}, {t} {x.im.name}, i32 1")
            out = real.line(f"call <2 x {t}> @{symbol}(<2 x {t}> {packed})")
            names = [real.line(f"extractelement <2 x {t}> {out}, i32 {k}") for k in (0, 1)]
        else:
            both = f"{{{t}, {t}}}"
            real.declared.add(f"declare {both} @{symbol}({t}, {t})")
            out = real.line(f"call {both} @{symbol}({t} {x.re.name}, {t} {x.im.name})")
            names = [real.line(f"extractvalue {both} {out}, {k}") for k in (0, 1)]
        return ComplexValue(*[Value(name, dtype) for name in names])

    sin, cos, tan = function("csin"), function("ccos"), function("ctan")
    asin, acos, atan = function("casin"), function("cacos"), function("catan")
    sinh, cosh, tanh = function("csinh"), function("ccosh"), function("ctanh")
    asinh, acosh, atanh = function("casinh"), function("cacosh"), function("catanh")

    @takes("c", ulp=8)
    def exp(self, x: ComplexValue) -> ComplexValue:
        return self.library("cexp", x) if self.real.width == 1 else complex_exp_log.exp(self, x)

    @takes("c", ulp=8)
    def log(self, x: ComplexValue) -> ComplexValue:
        return self.library("clog", x) if self.real.width == 1 else complex_exp_log.log(self, x)

    @takes("c", ulp=8)
    def sqrt(self, x: ComplexValue) -> ComplexValue:
        return self.library("csqrt", x) if self.real.width == 1 else complex_exp_log.sqrt(self, x)

    def sizes(self, x: ComplexValue) -> tuple[Value, Value, Value]:
        """The larger and the smaller size of the parts, and whether one is infinite."""
        real = self.real
        re, im = real.absolute(x.re), real.absolute(x.im)
        first = real.greater(re, im)
        infinite = real.bitwise_or(real.isinf(re), real.isinf(im))
        return real.where(first, re, im), real.where(first, im, re), infinite

    def scaled(self, x: ComplexValue, factor: Any) -> ComplexValue:
        return ComplexValue(self.real.scale(x.re, factor), self.real.scale(x.im, factor))

    @takes("c", ulp=8)
    def exp2(self, x: ComplexValue) -> ComplexValue:
        return self.exp(self.scaled(x, LN2))

    @takes("c", ulp=8)
    def log2(self, x: ComplexValue) -> ComplexValue:
        return self.scaled(self.log(x), LOG2E)

    @takes("c", ulp=8)
    def log10(self, x: ComplexValue) -> ComplexValue:
        return self.scaled(self.log(x), LOG10E)

    # Overflow rounds.

    @takes("c")
    def finite(self, x: ComplexValue, to: Any = HUGE) -> ComplexValue:
        return ComplexValue(self.real.finite(x.re, to), self.real.finite(x.im, to))

    @takes("c")
    def spared(self, x: ComplexValue) -> ComplexValue:
        return self.finite(x, SPARE)

    @takes("c")
    def steep(self, slope: ComplexValue, x: ComplexValue) -> ComplexValue:
        return self.finite(slope)

    # Questions.

    @takes("cb")
    def where(self, condition: Value, x: ComplexValue, y: ComplexValue) -> Value:
        return self.real.where(condition, x, y)

    @takes("cb")
    def equal(self, x: ComplexValue, y: ComplexValue) -> Value:
        real = self.real
        return real.bitwise_and(real.equal(x.re, y.re), real.equal(x.im, y.im))

    @takes("cb")
    def not_equal(self, x: ComplexValue, y: ComplexValue) -> Value:
        return self.real.logical_not(self.equal(x, y))

    @takes("cb")
    def isnan(self, x: ComplexValue) -> Value:
        return self.real.bitwise_or(self.real.isnan(x.re), self.real.isnan(x.im))

    @takes("cb")
    def isinf(self, x: ComplexValue) -> Value:
        return self.real.bitwise_or(self.real.isinf(x.re), self.real.isinf(x.im))

    @takes("cb")
    def isfinite(self, x: ComplexValue) -> Value:
        return self.real.bitwise_and(self.real.isfinite(x.re), self.real.isfinite(x.im))

    def logical(self, name: str, *xs: Value) -> Value:
        return getattr(self.real, name)(*[self.real.truth(x) for x in xs])

    @takes("cfiub")
    def logical_and(self, x: Value, y: Value) -> Value:
        return self.logical("logical_and", x, y)

    @takes("cfiub")
    def logical_or(self, x: Value, y: Value) -> Value:
        return self.logical("logical_or", x, y)

    @takes("cfiub")
    def logical_xor(self, x: Value, y: Value) -> Value:
        return self.logical("logical_xor", x, y)

    @takes("cb")
    def logical_not(self, x: Value) -> Value:
        return self.logical("logical_not", x)
