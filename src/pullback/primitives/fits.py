"""Fits of polynomials: numpy.polyfit, numpy.polynomial.polynomial.polyfit."""

from __future__ import annotations

import warnings

import numpy as np

from ..core.registry import replaces
from .arguments import as_array, surely
from .polynomial import polyvander


def data(x, y, w, weights_are_wrong, weights_are_many):
    """Points, values and weights of a fit, or NumPy's errors."""
    x, y = as_array(x) + 0.0, as_array(y) + 0.0
    w = None if w is None else as_array(w) + 0.0
    for wrong, message in [
        (x.ndim != 1, "expected 1D vector for x"),
        (x.size == 0, "expected non-empty vector for x"),
        (y.ndim not in (1, 2), "expected 1D or 2D array for y"),
        (x.shape[:1] != y.shape[:1], "expected x and y to have same length"),
        (w is not None and w.ndim != 1, weights_are_wrong),
        (w is not None and w.shape[:1] != x.shape[:1], weights_are_many),
    ]:
        if wrong:
            raise TypeError(message)
    return x, y, w


def weighted(a, w):
    """Rows of a, or its elements, times weights."""
    return a if w is None else a * (w[:, None] if a.ndim == 2 else w)


def solved(matrix, y, scale, rcond, full, message):
    """Least squares by a matrix whose columns are brought to length one."""
    c, residuals, rank, s = np.linalg.lstsq(matrix / scale, y, rcond)
    if not full and surely(rank != matrix.shape[1]):
        warnings.warn(message, np.exceptions.RankWarning, stacklevel=4)
    return np.transpose(np.transpose(c) / scale), residuals, rank, s


@replaces(np.polynomial.polynomial.polyfit)
def polyfit_rising(x, y, deg, rcond=None, full=False, w=None):
    """`numpy.polynomial.polynomial.polyfit`: the lowest power first; deg may list the powers."""
    degrees = np.asarray(deg)
    if degrees.ndim > 1 or degrees.dtype.kind not in "iu" or degrees.size == 0:
        raise TypeError("deg must be an int or non-empty 1-D array of int")
    if degrees.min() < 0:
        raise ValueError("expected deg >= 0")
    x, y, w = data(x, y, w, "expected 1D vector for w", "expected x and w to have same length")
    rcond = len(x) * np.finfo(x.dtype).eps if rcond is None else rcond
    top = int(degrees.max())
    matrix = polyvander(x, top)
    if degrees.ndim:
        degrees = np.sort(degrees)
        matrix = matrix[:, degrees]
    matrix = weighted(matrix, w)
    if matrix.dtype.kind == "c":
        square = np.square(np.real(matrix)) + np.square(np.imag(matrix))
    else:
        square = np.square(matrix)
    scale = np.sqrt(np.sum(square, axis=0))
    scale = np.where(scale == 0, np.ones_like(scale), scale)
    message = "The fit may be poorly conditioned"
    c, *rest = solved(matrix, weighted(y, w), scale, rcond, full, message)
    if degrees.ndim:  # powers that were left out have the coefficient zero
        source = np.full(top + 1, len(degrees))
        source[degrees] = np.arange(len(degrees))
        c = np.concatenate([c, np.zeros_like(c[:1])])[source]
    return (c, [*rest, rcond]) if full else c


@replaces(np.polyfit)
def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    """`numpy.polyfit`: the highest power first."""
    order = int(deg) + 1
    if deg < 0:
        raise ValueError("expected deg >= 0")
    x, y, w = data(
        x, y, w, "expected a 1-d array for weights", "expected w and y to have the same length"
    )
    rcond = len(x) * np.finfo(x.dtype).eps if rcond is None else rcond
    matrix = weighted(np.vander(x, order), w)
    scale = np.sqrt(np.sum(matrix * matrix, axis=0))
    message = "Polyfit may be poorly conditioned"
    c, residuals, rank, s = solved(matrix, weighted(y, w), scale, rcond, full, message)
    if full:
        return c, residuals, rank, s, rcond
    if not cov:
        return c
    scaled = matrix / scale
    base = np.linalg.inv(np.transpose(scaled) @ scaled) / np.multiply.outer(scale, scale)
    if cov != "unscaled":
        if len(x) <= order:
            raise ValueError(
                "the number of data points must exceed order to scale the covariance matrix"
            )
        residuals = residuals / (len(x) - order)
    else:
        residuals = 1
    return c, (base if y.ndim == 1 else base[:, :, None]) * residuals
