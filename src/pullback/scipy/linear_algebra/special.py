"""Matrices made of numbers, norms, and tests of properties of a matrix."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from scipy import linalg as sl

from ...core.spec import Spec
from ...primitives.arguments import somewhere
from ...primitives.exact import exact, like
from ...primitives.keys import mapped
from ...primitives.spectra import computed, conj, real_of
from .kinds import WithoutDerivative, answers


@answers(sl.toeplitz, "c r")
def toeplitz(c, r=None):
    """The Toeplitz matrix; the last axes are the vectors', the others are stacks."""
    c = np.atleast_1d(c)
    r = conj(c) if r is None else np.atleast_1d(r)
    n, m = c.shape[-1], r.shape[-1]
    stack = np.broadcast_shapes(c.shape[:-1], r.shape[:-1])
    both = np.concatenate(
        [np.broadcast_to(r[..., :0:-1], (*stack, m - 1)), np.broadcast_to(c, (*stack, n))], axis=-1
    )
    return both[..., np.arange(n)[:, None] - np.arange(m) + m - 1]


@answers(sl.circulant, "c")
def circulant(c):
    c = np.atleast_1d(c)
    n = c.shape[-1]
    around = np.concatenate([c[..., ::-1], c[..., :0:-1]], axis=-1)
    return around[..., np.arange(n) - np.arange(n)[:, None] + n - 1]


@answers(sl.hankel, "c r")
def hankel(c, r=None):
    c = np.ravel(c)
    r = np.zeros_like(c) if r is None else np.ravel(r)
    both = np.concatenate([c, r[1:]])
    return both[np.arange(c.shape[0])[:, None] + np.arange(r.shape[0])]


@answers(sl.companion)
def companion(a):
    a = np.atleast_1d(a)
    n = a.shape[-1]
    if n < 2:
        raise ValueError("The length of `a` along the last axis must be at least 2.")
    if somewhere(a[..., 0] == 0):
        raise ValueError("The first coefficient(s) of `a` must not be zero.")
    first = -a[..., None, 1:] / (1.0 * a[..., None, 0:1])
    rest = np.broadcast_to(np.eye(n - 2, n - 1, dtype=first.dtype), (*a.shape[:-1], n - 2, n - 1))
    return np.concatenate([first, rest], axis=-2)


@answers(sl.convolution_matrix)
def convolution_matrix(a, n, mode="full"):
    if n <= 0:
        raise ValueError("n must be a positive integer.")
    if mode not in ("full", "valid", "same"):
        raise ValueError("'mode' argument must be one of ('full', 'valid', 'same')")
    edge = [(0, 0)] * (a.ndim - 1) + [(0, n - 1)]
    column, row = np.pad(a, edge), np.pad(a[..., ::-1], edge)
    size = column.shape[-1]
    cut = {"full": 0, "same": min(n, a.shape[-1]) - 1, "valid": 2 * (min(n, a.shape[-1]) - 1)}[mode]
    first, last = cut // 2, cut - cut // 2
    return toeplitz(column[..., first : size - last], row[..., size - n - first : size - first])


# SciPy takes norms of one vector or matrix from BLAS and LAPACK, and others from NumPy.
norm_values = {
    ndim: WithoutDerivative(
        "norm",
        lambda a, **options: sl.norm(a, **options),
        lambda a, **_: Spec((), real_of(computed(a))),
        (ndim,),
    )
    for ndim in (1, 2)
}


@answers(sl.norm)
def norm(a, ord=None, axis=None, keepdims=False, check_finite=True):
    if check_finite:
        checked(a)
    out = np.linalg.norm(a, ord=ord, axis=axis, keepdims=keepdims)
    if axis is None and not keepdims and a.ndim in norm_values:
        out = exact(norm_values[a.ndim](a, ord=ord, check_finite=check_finite), out)
        dtype = float if a.dtype.char in "fdFD" else a.dtype  # of which there are no routines
        return like(norm_of_ones(tuple([min(n, 2) for n in a.shape]), ord, dtype), out)
    return out


@cache
def norm_of_ones(shape: tuple[int, ...], ord: Any, dtype: Any = float) -> Any:
    """A norm as SciPy returns it; from BLAS and LAPACK it's a Python number."""
    return sl.norm(np.ones(shape, dtype), ord=ord)


def checked(a: Any) -> None:
    if somewhere(np.logical_not(np.isfinite(a))):
        raise ValueError("array must not contain infs or NaNs")


# Questions about a matrix.


class Question(WithoutDerivative):
    constant = True


bandwidth_p = Question(
    "bandwidth", sl.bandwidth, lambda a: (Spec((), np.intp), Spec((), np.intp)), n_out=2
)
answers_p = {
    f.__name__: Question(f.__name__, f, lambda a, **_: Spec((), np.bool_))
    for f in (sl.ishermitian, sl.issymmetric)
}


@answers(sl.bandwidth)
def bandwidth(a):
    return tuple([int(x) if x.ndim == 0 else x for x in bandwidth_p(a)])


def answered(name: str, a: Any, options: Any) -> Any:
    """Python's True or False for one matrix; one answer for each of a stack or a batch."""
    answer = answers_p[name](a, **options)
    if answer.ndim:
        return answer
    return answer.within.number(answer) if mapped(answer) else bool(answer)


@answers(sl.ishermitian)
def ishermitian(a, **options):
    return answered("ishermitian", a, options)


@answers(sl.issymmetric)
def issymmetric(a, **options):
    return answered("issymmetric", a, options)
