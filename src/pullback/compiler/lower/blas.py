"""Matrix products: by `gemm`, or by BLAS through what SciPy offers to compiled code."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from math import prod
from types import ModuleType
from typing import Any

import numpy as np

from ...core.spec import Spec
from ..llvm.binding import SCALAR, add_symbol
from ..llvm.pen import Routine
from .geometry import Strided

LARGE = 1 << 27  # from so many multiplications on, BLAS (which may use threads) computes a product

LETTERS: dict[np.dtype, tuple[str, str]] = {
    np.dtype(np.float64): ("d", "double"),
    np.dtype(np.float32): ("s", "float"),
}


def cython_blas() -> ModuleType:
    """Import SciPy's BLAS alone: importing all of `scipy.linalg` takes ten times as long.

    It is removed from `sys.modules` again, so a later import gets the whole package.
    """
    if "scipy.linalg" not in sys.modules:
        import scipy

        folders = [os.path.join(folder, "linalg") for folder in scipy.__path__]
        found = PathFinder.find_spec("scipy.linalg.cython_blas", folders)
        if found is not None and found.loader is not None:
            module = module_from_spec(found)
            found.loader.exec_module(module)
            if "scipy.linalg" not in sys.modules:  # or another thread is importing it
                sys.modules.pop(found.name, None)
            return module
    from scipy.linalg import cython_blas

    return cython_blas


@cache
def available() -> bool:
    """Whether SciPy is installed; if so, give LLVM the addresses of its functions."""
    try:
        functions = cython_blas().__pyx_capi__
    except ImportError:
        return False
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = (
        ctypes.c_char_p,
        [ctypes.py_object],
    )
    api.PyCapsule_GetPointer.restype, api.PyCapsule_GetPointer.argtypes = (
        ctypes.c_void_p,
        [ctypes.py_object, ctypes.c_char_p],
    )
    for letter in "ds":
        for name in ("gemm", "gemv", "dot"):
            capsule = functions[letter + name]
            address = api.PyCapsule_GetPointer(capsule, api.PyCapsule_GetName(capsule))
            add_symbol(f"pullback_{letter}{name}", address)
    return True


def operand(x: Strided) -> tuple[bool, int] | None:
    """(transposed, stride between rows) as BLAS takes a matrix; None if it can't take this one."""
    if len(x.shape) == 1:
        return (False, x.strides[0]) if x.strides[0] > 0 or x.shape[0] == 1 else None
    (m, n), (s, t) = x.shape, x.strides
    if (t == 1 or n == 1) and (s >= n or m == 1):
        return False, max(s, n) if m > 1 else n
    if (s == 1 or m == 1) and (t >= m or n == 1):
        return True, max(t, m) if n > 1 else m
    return None


# Functions of BLAS take pointers to numbers: what each gets, pointers as they are and the rest by
# type. Matrices by rows are transposed for it, so that operands change places.
HELPERS = {
    "gemm": (
        "ptr %a, ptr %b, ptr %c, i8 %ta, i8 %tb, i32 %m, i32 %n, i32 %k, i32 %lda, i32 %ldb",
        "i8 %tb, i8 %ta, i32 %n, i32 %m, i32 %k, one, ptr %b, i32 %ldb, ptr %a, i32 %lda, zero,"
        " ptr %c, i32 %n",
    ),
    "gemv": (
        "ptr %a, ptr %x, ptr %y, i8 %ta, i32 %m, i32 %n, i32 %lda, i32 %incx",
        "i8 %ta, i32 %m, i32 %n, one, ptr %a, i32 %lda, ptr %x, i32 %incx, zero, ptr %y, i32 1",
    ),
    "dot": (
        "ptr %x, ptr %y, ptr %out, i32 %n, i32 %incx, i32 %incy",
        "i32 %n, ptr %x, i32 %incx, ptr %y, i32 %incy",
    ),
}


def helpers(dtype: np.dtype) -> str:
    """Functions that store numbers where BLAS expects them."""
    letter, t = LETTERS[dtype]
    text = ""
    for name, (takes, gets) in HELPERS.items():
        pen = Routine(f"define internal void @{letter}{name}({takes}) noinline")
        pointers = []
        for operand in gets.split(", "):
            operand = {"one": f"{t} 1.0", "zero": f"{t} 0.0"}.get(operand, operand)
            kind, x = operand.split()
            if kind != "ptr":
                place = pen.room(kind)
                pen.store(kind, x, place)
                x = place
            pointers.append(f"ptr {x}")
        function, result = f"@pullback_{letter}{name}", "void"
        if name == "dot":
            result = t
            pen.store(t, pen.ask(t, function, *pointers), "%out")
        else:
            pen.do(function, *pointers)
        pen.ret()
        text += f"declare {result} {function}({', '.join(['ptr'] * len(pointers))})\n{pen.text()}"
    return text


def flag(transposed: bool) -> int:
    """The transpose flag: BLAS is column-major, so a row-major matrix needs none."""
    return ord("T") if transposed else ord("N")


def by_blas(x: Spec, y: Spec) -> bool:
    """Whether BLAS computes a product; our code has one thread and is slow for vectors."""
    if len(x.shape) > 2 or len(y.shape) > 2:
        return False
    if SCALAR.get():
        return False
    large = len(x.shape) < 2 or len(y.shape) < 2 or prod(x.shape) * y.shape[-1] > LARGE
    return large and available()


def call(x: Strided, y: Strided, out: str, pointers: Any) -> list[str]:
    """Code that has BLAS store x @ y at `out`; pointers(view) names the address of a view."""
    letter = LETTERS[x.dtype][0]
    first, second = operand(x), operand(y)
    assert first is not None
    assert second is not None
    (tx, sx), (ty, sy) = first, second
    px, py = pointers(x), pointers(y)
    match len(x.shape), len(y.shape):
        case 2, 2:
            m, k, n = *x.shape, y.shape[1]
            return [
                f"  call void @{letter}gemm(ptr {px}, ptr {py}, ptr {out}, i8 {flag(tx)},"
                f" i8 {flag(ty)}, i32 {m}, i32 {n}, i32 {k}, i32 {sx}, i32 {sy})"
            ]
        case 1, 1:
            return [
                f"  call void @{letter}dot(ptr {px}, ptr {py}, ptr {out}, i32 {x.shape[0]},"
                f" i32 {max(sx, 1)}, i32 {max(sy, 1)})"
            ]
    if len(x.shape) == 2:
        matrix, rows, columns, distance, step = px, *x.shape, sx, max(sy, 1)
        other, transposed = py, not tx
    else:  # x @ y is y.T @ x
        matrix, columns, rows, distance, step = py, *y.shape, sy, max(sx, 1)
        other, transposed = px, ty
    m, n = (columns, rows) if transposed else (rows, columns)
    size = rows * x.dtype.itemsize
    return [
        f"  call void @llvm.memset.p0.i64(ptr {out}, i8 0, i64 {size}, i1 false)",
        f"  call void @{letter}gemv(ptr {matrix}, ptr {other}, ptr {out}, i8 {flag(transposed)},"
        f" i32 {m}, i32 {n}, i32 {distance}, i32 {step})",
    ]
