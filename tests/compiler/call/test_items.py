"""Python's numbers that arrays of any dtype give (`x.item()`, `x.tolist()`, `complex(x[0])`) have
the class, the dtype and the value that they have without `compile`, as has what is made of them.
"""

import math
import warnings
from itertools import product

import numpy as np
import pytest

import pullback as pb
from tests.budgets import asked

MADE = {
    "itself": lambda v: v, "v * 2": lambda v: v * 2, "v + v": lambda v: v + v, "-v": lambda v: -v,
    "v / 3": lambda v: v / 3, "v ** 2": lambda v: v**2, "v + 300": lambda v: v + 300,
    "v << 9": lambda v: v << 9, "~v": lambda v: ~v, "v == 1": lambda v: v == 1, "abs": abs,
    "twice abs": lambda v: abs(v) * 2, "real": lambda v: v.real, "imag": lambda v: v.imag,
    "conjugate": lambda v: v.conjugate(), "np.abs": np.abs, "np.sqrt": np.sqrt, "np.exp": np.exp,
    "np.square": np.square, "parts": lambda v: np.real(v) ** 2 + np.imag(v) ** 2,
    "int16": lambda v: v + np.ones(2, np.int16), 
    "complex64": lambda v: v * np.ones(2, "F"),
    "float32": lambda v: v * np.float32(2), "to float32": lambda v: np.float32(2) - v,
    "read again": lambda v: (v.real / 3 * np.float32(2)).item(),
    "of float32s": lambda v: (v.real + np.ones(2, "f4")).tolist(),
    "root": lambda v: np.sqrt(abs(v - 5)),
    "decay": lambda v: np.exp(-abs(v)), "both signs": lambda v: np.array([-v, v]),
    "bounded": lambda v: np.maximum(-v.real, -100),
    "abs + abs": lambda v: abs(v) + abs(v.real), "first of two": lambda v: (v, v + 1)[0],
}  # fmt: skip
NUMBERS = {
    "item": lambda x: x[0].item(),
    "tolist": lambda x: x.tolist()[1],
    "float or complex": lambda x: (complex if x.dtype.kind == "c" else float)(x[1]),
    "sum": lambda x: x.sum().item(),
    "double": lambda x: (x[0] * 2).item(),
    "math": lambda x: math.sqrt(abs(x[0])),
    "number of NumPy's": lambda x: x[0],
}


def close(x, y):
    """Values may differ by last digits, as those of functions such as `exp` do."""
    x, y = np.asarray(x), np.asarray(y)
    inexact = x.dtype.kind in "fc"
    rtol = 8 * float(np.finfo(x.dtype).eps) if inexact else 0
    return x.dtype == y.dtype and np.allclose(x, y, rtol=rtol, atol=0, equal_nan=inexact)


@pytest.mark.parametrize("dtype", "?bBhHiIlLefdgFDG")
def test_numbers_of_arrays(dtype):
    rows = np.array([[1.7, 200.0], [100.0, 1.3]]) * (1 + 0.5j if dtype in "FDG" else 1)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of casts and domains
        rows = rows.astype(dtype)
        for name, given in asked([*product(MADE, NUMBERS)], 60, dtype):
            make, number = MADE[name], NUMBERS[given]
            f = lambda x, make=make, number=number: make(number(x))
            try:
                expected = [f(row) for row in rows]
            except (TypeError, AttributeError, OverflowError):
                continue
            compiled = pb.compile(f, wait=True)
            for _ in range(3):
                found = [compiled(row) for row in rows]
            assert [*map(type, found)] == [*map(type, expected)], (name, given)
            assert all(map(close, found, expected)), (name, given)
