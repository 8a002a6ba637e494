# ruff: noqa: E501  # programs are text
"""A number of any kind beside arrays of another: dtype, type and bits are those of plain NumPy.

A Python number adapts where NumPy asks for nothing but its operands' dtypes, and is a float64 where
NumPy makes an array of it first; which of both holds is for each function to say.
"""

import math

import numpy as np
import pytest

import pullback as pb
from pullback.core.tree import flatten

A = np.array([0.7, 1.4, 2.2], np.float32)
D, C = A.astype(np.float64), np.array([1 + 1j, 2.0, 3.0], np.complex64)
M, S = np.ones((3, 3), np.float32) * np.float32(0.3) + np.eye(3, dtype=np.float32), np.float32(0.5)
NAMES = {"np": np, "math": math, "A": A, "C": C, "D": D, "M": M, "S": S}
PROGRAMS = """
np.clip(x, S, None); np.clip(x, None, S); np.clip(x, 0, 1); np.clip(A, x, None); np.clip(A, x, 9)
A.clip(x); A.clip(max=x); np.clip(S, x, 9)
np.where(A > 1, x, A); np.where(A > 1, x, S); np.where(A > 1, x, 1); np.where(A > 1, C, x)
np.select([A > 1], [x], S); np.select([A > 1, A > 2], [A, x], 0); np.choose([0, 1, 0], [A, x])
np.piecewise(A, [A > 1], [lambda t: t * x, lambda t: t + x]); np.piecewise(A, [A > 1], [x, 0])
np.concatenate([A, [x]]); np.concatenate([[x], A]); np.stack([S, x]); np.hstack([A, x]); np.block([x, A])
np.append(A, x); np.append(x, A); np.insert(A, 1, x); np.r_[x, A]; np.r_[A, x]; np.c_[A, A * x]
np.full_like(A, x); np.full(3, x); np.full(3, x, dtype=np.float32); np.array([x, S]); np.asarray([x], np.float32)
np.dot(A, x); np.inner(x, A); np.outer(x, A); np.kron(x, A); np.multiply.outer(x, A); np.tensordot(x, A, 0)
np.einsum(",i", x, A); np.convolve([x, 1.0], A); np.polyval(A, x); np.polyval([x, 1.0], A); np.interp(x, A, D)
np.maximum(A, x); np.fmin(x, A); np.copysign(A, x); np.heaviside(A, x); np.hypot(x, A); np.arctan2(A, x)
np.logaddexp(A, x); np.power(A, x); x ** A; A ** x; A + x; x - A; A / x; x // A; A % x; C * x; C ** x; S * x; x / S
np.linspace(S, x, 3); np.linspace(A, x, 3); np.linspace(x, 1, 3, dtype=np.float32); np.geomspace(S, x, 3)
np.pad(A, 1, constant_values=x); np.trapezoid(A, dx=x); np.gradient(A, x); np.diff(A, prepend=x)
np.ediff1d(A, to_end=x); np.nan_to_num(A, nan=x); np.average(A, weights=[x, 1.0, 2.0]); np.unwrap(A, period=x)
np.sum(A, initial=x); np.prod(A, initial=x); np.max(A, initial=x); np.sum([x, S]); np.cumsum([x, S]); np.sort([x, S])
x * np.arange(3); x * np.int8(1); x * np.bool_(True); x + np.uint8(3); np.add(x, S); np.add(A, x, dtype=np.float64)
np.meshgrid(x, A); np.broadcast_arrays(x, A); np.repeat(x, 3); np.resize(x, 3); np.atleast_1d(x); np.ravel(x)
np.linalg.solve(M, A * x); np.cov(A, A * x); np.fft.fft(A * x); np.roll(A * x, 1); np.vander(A * x, 2)
max(x, S); min(S, x); sum([x, S]); sum([S, x], 0.0); math.hypot(x, S); math.fsum([x, S])
""".replace("\n", ";").split(";")
KINDS = {
    "float": 0.8, "float64": np.float64(0.8), "float32": np.float32(0.8),
    "array of float32": np.array(0.8, np.float32),
}  # fmt: skip


def differs(plain, out):
    """How a result differs; a Python number, and an array without axes, come as scalars."""
    for a, b in zip(flatten(plain)[0], flatten(out)[0], strict=True):
        if type(a) is float:
            a = np.float64(a)
        if type(a) is not type(b) and np.ndim(a):
            return f"{type(a).__name__} became {type(b).__name__}"
        a, b = np.asarray(a), np.asarray(b)
        if a.dtype != b.dtype or a.shape != b.shape or a.tobytes() != b.tobytes():
            return f"{a!r} became {b!r}"
    return None


@pytest.mark.parametrize("kind", KINDS)
def test_beside_arrays_of_another_dtype(kind):
    x, wrong = KINDS[kind], {}
    for text in filter(None, map(str.strip, PROGRAMS)):
        f = eval(f"lambda x: {text}", NAMES)
        why = differs(f(x), pb.vjp(f, x)[0])
        if why is not None:
            wrong[text] = why
    assert not wrong
