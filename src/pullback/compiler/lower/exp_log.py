"""Exponentials and logarithms in line, for vectors of 512 bits of double precision.

A call of libmvec costs more than the computation itself: it may overwrite all vector registers, so
their contents must be saved and loaded again. Here an exponential takes 22 instructions, a
logarithm 31; both are within 2 ulp.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..llvm.binding import features

if TYPE_CHECKING:
    from .elements import Value
    from .emit import Emit

DOUBLE = np.dtype(np.float64)
LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 0.6931471805598903, 5.497923018708371e-14  # 42 bits, and the rest

# (exp(r) - 1 - r) / r**2 for |r| <= log(2) / 2, and (log(1 + r) - r + r**2 / 2) / r**3 for r from
# -1/4 to 1/2: interpolated at Chebyshev's points, with errors of 2**-58 and 2**-56 of the function.
EXP = [
    0.5000000000000001,
    0.16666666666666669,
    0.04166666666662399,
    0.008333333333330051,
    0.0013888888917281794,
    0.00019841269863105968,
    2.480152119021773e-05,
    2.7557268378684192e-06,
    2.7620138719733994e-07,
    2.5100424157005067e-08,
]  # fmt: skip
LOG = [
    0.3333333333333333,
    -0.2500000000000012,
    0.20000000000006446,
    -0.16666666666612973,
    0.14285714283917966,
    -0.12500000005196965,
    0.1111111130502271,
    -0.09999999988554727,
    0.09090898941311967,
    -0.08333314413516141,
    0.07692576563792179,
    -0.07143823250565558,
    0.06663616319091227,
    -0.06229918605089811,
    0.05877208843657847,
    -0.05726870422372697,
    0.056506715461657336,
    -0.04871829358553052,
    0.028841788472501472,
    -0.008123694741306916,
]  # fmt: skip


def served(emit: Emit, x: Value) -> bool:
    """Whether the processor has instructions for vectors of this width."""
    return x.dtype == DOUBLE and emit.width == 8 and "avx512f" in features()


def exp(emit: Emit, x: Value) -> Value:
    """2**n * exp(r), n whole, |r| <= log(2) / 2."""

    def c(value: float) -> Value:
        return emit.constant(value, DOUBLE)

    # Outside this range, the result is 0 or inf; NaN stays NaN.
    x = emit.where(emit.greater(x, c(1000.0)), c(1000.0), x)
    x = emit.where(emit.less(x, c(-1000.0)), c(-1000.0), x)
    n = emit.rint(emit.mul(x, c(LOG2_E)))
    r = emit.intrinsic("fma", n, c(-LN2_HIGH), x)
    r = emit.intrinsic("fma", n, c(-LN2_LOW), r)
    rest = emit.intrinsic("fma", emit.mul(r, r), polynomial(emit, r, EXP), r)
    return instruction(emit, "scalef", emit.add(rest, c(1.0)), n)


def log(emit: Emit, x: Value) -> Value:
    """n * log(2) + log(1 + r), x = 2**n * (1 + r), r from -1/4 to 1/2."""

    def c(value: float) -> Value:
        return emit.constant(value, DOUBLE)

    m = instruction(emit, "getmant", x, number=0b1011)  # from 3/4 to 3/2; NaN below 0
    n = emit.sub(instruction(emit, "getexp", x), instruction(emit, "getexp", m))
    r = emit.sub(m, c(1.0))
    square = emit.mul(r, r)
    cubic = emit.mul(emit.mul(square, r), polynomial(emit, r, LOG))
    rest = emit.intrinsic("fma", square, c(-0.5), cubic)
    rest = emit.intrinsic("fma", n, c(LN2_LOW), rest)
    return emit.intrinsic("fma", n, c(LN2_HIGH), emit.add(r, rest))


def polynomial(emit: Emit, x: Value, coefficients: list[float]) -> Value:
    """Evaluate a polynomial by Estrin's scheme, which has shorter dependencies than Horner's."""
    terms = [emit.constant(value, x.dtype) for value in coefficients]
    while len(terms) > 1:
        pairs = zip(terms[::2], terms[1::2], strict=False)
        odd = terms[-1:] if len(terms) % 2 else []
        terms = [emit.intrinsic("fma", high, x, low) for low, high in pairs] + odd
        x = emit.mul(x, x) if len(terms) > 1 else x
    return terms[0]


def instruction(emit: Emit, name: str, *xs: Value, number: int | None = None) -> Value:
    """An AVX-512 instruction on whole vectors."""
    t = emit.type(DOUBLE)
    given = [(t, x.name) for x in xs]
    given += [] if number is None else [("i32", str(number))]
    given += [(t, "zeroinitializer"), ("i8", "-1"), ("i32", "4")]  # all lanes, rounded as usual
    symbol = f"llvm.x86.avx512.mask.{name}.pd.512"
    emit.declared.add(f"declare {t} @{symbol}({', '.join([kind for kind, _ in given])})")
    line = emit.line(f"call {t} @{symbol}({', '.join([' '.join(pair) for pair in given])})")
    return type(xs[0])(line, DOUBLE)
