"""Real and imaginary parts, conjugates, sign and angle: linear over the reals, or not holomorphic.

A cotangent is paired without conjugation, <out_bar, out_dot> = Re(sum(out_bar * out_dot)).
"""

from __future__ import annotations

import math

import numpy as np

from ..core.array import PYTHONS, Array, arrayed, class_of_number, is_number, snapshot
from ..core.cotangent import unbroadcast
from ..core.kinds import Elementwise, Linear
from ..core.operands import unary
from ..core.primitive import Primitive, align
from ..core.registry import replaces
from ..core.rules import ZERO
from ..core.spec import Spec
from .elementwise import is_complex, itself, squared, stopped
from .kinks import at_zero
from .shapes import laid


class Part(Linear):
    """The real or the imaginary part of complex numbers: Re(x / unit)."""

    rearranges = True  # a mask stays where it is
    views = True

    def __init__(self, name, unit):
        self.unit, self.sign = unit, 1 if unit == 1 else -1
        self.lower = "real_part" if unit == 1 else "imaginary_part"
        super().__init__(name)

    def value(self, x):
        return x.real if self.unit == 1 else x.imag

    def spec(self, x):
        return Spec(x.shape, x.dtype.type(0).real.dtype)

    def transpose(self, i, xs, out_bar):
        if out_bar.dtype == bool or self.unit == 1:
            return out_bar if out_bar.dtype == xs[0].dtype else out_bar.astype(xs[0].dtype)
        return out_bar / self.unit

    def moved(self, mask):
        return mask

    def batch(self, xs, mapped, size):
        return self(xs[0])


real_p, imag_p = Part("real", 1), Part("imag", 1j)


class Conjugate(Linear):
    """The complex conjugate."""

    rearranges = True
    lower = "conjugate"

    def value(self, x):
        return np.conjugate(x)

    def spec(self, x):
        return x

    def transpose(self, i, xs, out_bar):
        return np.conjugate(out_bar) if is_complex(out_bar) else out_bar

    def moved(self, mask):
        return mask

    def batch(self, xs, mapped, size):
        return self(xs[0])


conjugate_p = Conjugate()


class OfParts(Linear):
    """x + iy, exactly: `x + 1j * y` loses signs of zeros, which decide at branch cuts."""

    lower = "joined"
    structured = False

    def value(self, x, y):
        out = np.empty(np.broadcast_shapes(np.shape(x), np.shape(y)), complex)
        out.real, out.imag = x, y
        return out[()]

    def spec(self, x, y):
        return Spec(np.broadcast_shapes(x.shape, y.shape), np.dtype(complex))

    def transpose(self, i, xs, out_bar):
        return unbroadcast(out_bar.real if i == 0 else -out_bar.imag, xs[i])

    def batch(self, xs, mapped, size):
        return self(*align(xs, mapped))


of_parts_p = OfParts("complex")


@replaces(np.real)
def real(val):
    return part_of(val, real_p(val)) if is_complex(val) else val


@replaces(np.imag)
def imag(val):
    if is_complex(val):
        return part_of(val, imag_p(val))
    if of_python(val):
        return 0.0 if class_of_number(val) is float else 0
    out = np.zeros_like(val)
    if out.ndim:
        return np.broadcast_to(out, out.shape)  # NumPy's is read-only
    return out[()]


def part_of(x, part):
    """A part of one of Python's numbers is one as well: beside arrays it takes their dtype."""
    return part.within.number(part) if of_python(x) and type(part) is Array else part


def of_python(x):
    """Whether an Array stands for one of Python's numbers."""
    return type(x) is Array and is_number(x) and class_of_number(x) in PYTHONS.values()


@replaces(np.conjugate)
def conjugate(x):
    if is_complex(x):
        return conjugate_p(x)
    return np.positive(x if x.dtype.kind != "b" else np.astype(x, np.dtype(np.int8)))


class Sign(Primitive):
    """x / |x| for complex x, and 0 at 0: its tangent is the part of x_dot / |x| across x."""

    reads = "out x0"
    lower = "sign"

    def value(self, x):
        return np.sign(x)

    def spec(self, x):
        return x

    def jvp(self, out, xs, x_dots):
        across = np.imag(np.conjugate(out) * x_dots[0])
        return 1j * out * (across / nonzero(np.abs(xs[0])))

    def vjp(self, out_bar, residual, wanted):
        out, x = residual.out, residual.xs[0]
        across = np.imag(out_bar * out)
        return (-1j * np.conjugate(out) * (-across / nonzero(np.abs(x))),)

    def batch(self, xs, mapped, size):
        return self(xs[0])


sign_p = Sign().declare(edge=squared)
sign_real = Elementwise(np.sign, ZERO, lower="sign").declare(
    bent_at_zero="numpy.sign", steps=True, surface=itself
)


@replaces(np.sign)
def sign(x):
    if is_complex(x):
        return sign_p(x)
    at_zero(sign_real, x)
    return unary(sign_real, x)


def nonzero(size):
    return np.where(size == 0, 1, size)


@replaces(np.angle)
def angle(z, deg=False):
    if not is_complex(z):
        y, x = 0, stopped(z)  # 0 or pi
    elif type(z) is Array and not of_python(z):
        # Nobody else sees the parts, which so need not be views.
        y, x = z.within.single(imag_p, z, {}), z.within.single(real_p, z, {})
    else:
        y, x = z.imag, z.real
    out = np.arctan2(y, x)
    return out * (180 / math.pi) if deg else out


@replaces(np.real_if_close)
def real_if_close(a, tol=100):
    out = a
    if is_complex(a):
        if tol > 1:
            tol = float(np.finfo(a.dtype).eps * tol)
        out = np.real(a) if np.all(np.abs(np.imag(a)) < tol) else a
    number = type(out) is Array and is_number(out)
    return arrayed(snapshot(out)) if number else out  # an array also of a number


@replaces(np.isrealobj)
def isrealobj(x):
    return not is_complex(x)


@replaces(np.iscomplexobj)
def iscomplexobj(x):
    return is_complex(x)


@replaces(np.isreal)
def isreal(x):
    return np.equal(np.imag(x), 0)


@replaces(np.iscomplex)
def iscomplex(x):
    out = np.not_equal(np.imag(x), 0)
    if np.iscomplexobj(x):
        return out
    return laid(out, "C") if type(out) is Array else np.array(out, order="C", copy=None)[()]
